"""Lines and letters in figures stand out, on the light page and the dark.

In the dark the page turns a figure's colours around with the filter in
``_static/kernelbook.css``; what comes out is computed here.
"""

import re

import numpy as np
import pytest
from reading import ROOT

from kernelbook import figures

PAPER, NIGHT = "#ffffff", "#121212"  # the grounds of the theme's pages
LINES = ["BLUE", "ORANGE", "GREEN", "PURPLE", "SKY", "GREY"]
STYLE = (ROOT / "_static" / "kernelbook.css").read_text("utf-8")
FILTER = re.compile(r"filter: invert\(([\d.]+)\) hue-rotate\((\d+)deg\)")


def rgb(code):
    return np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def contrast(one, other):
    """WCAG's ratio of two colours, from 1 to 21."""

    def luminance(colour):
        low = colour <= 0.04045
        light = np.where(
            low, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4
        )
        return light @ [0.2126, 0.7152, 0.0722]

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def in_the_dark(colour):
    """What the page's filter makes of a colour (Filter Effects, level 1)."""
    ((amount, degrees),) = set(FILTER.findall(STYLE))
    turned = float(amount) + colour * (1 - 2 * float(amount))
    angle = np.deg2rad(float(degrees))
    grey = np.array([0.213, 0.715, 0.072])
    across = np.array(
        [
            [-0.213, -0.715, 0.928],
            [0.143, 0.140, -0.283],
            [-0.787, 0.715, 0.072],
        ]
    )
    rotation = (
        np.tile(grey, (3, 1))
        + np.cos(angle) * (np.eye(3) - grey)
        + np.sin(angle) * across
    )
    return np.clip(rotation @ turned, 0, 1)


def test_contrast_is_that_of_the_standard():
    assert contrast(rgb("#000000"), rgb("#ffffff")) == pytest.approx(21)
    assert contrast(rgb("#777777"), rgb("#ffffff")) == pytest.approx(
        4.48, 1e-3
    )


@pytest.mark.parametrize("name", LINES)
def test_lines_stand_out_three_to_one(name):
    colour = rgb(getattr(figures, name))
    assert contrast(colour, rgb(PAPER)) >= 3
    assert contrast(in_the_dark(colour), rgb(NIGHT)) >= 3


@pytest.mark.parametrize("code", ["#000000", figures.GREY])
def test_letters_stand_out_four_and_a_half_to_one(code):
    """Matplotlib writes in black, the book now and then in grey."""
    assert contrast(rgb(code), rgb(PAPER)) >= 4.5
    assert contrast(in_the_dark(rgb(code)), rgb(NIGHT)) >= 4.5


def test_every_colour_of_the_cycle_is_one_of_these():
    cycle = figures.STYLE["axes.prop_cycle"].by_key()["color"]
    assert cycle == [getattr(figures, name) for name in LINES]
