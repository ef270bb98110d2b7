"""Live figures: what a slider shows was drawn by the library."""

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook import _live, figures

GRID = np.linspace(0, 1, 40)


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context():
        plt.rcParams["backend"] = "svg"
        figures.use_style()
        yield
    plt.close("all")


def make(draw=None, start=None, **sliders):
    """A figure with a slope, unless told otherwise."""
    fig, ax = plt.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 9))

    def line(slope):
        ax.plot(GRID, slope * GRID, gid="line", label="a line")
        ax.set_title(f"slope {slope}")
        ax.legend(loc="upper left")

    sliders = sliders or {"slope": [1, 2, 5]}
    moved = line if draw is None else lambda **at: draw(ax, **at)
    return figures.live(fig, moved, start, **sliders)


def record(shown):
    """The frames, as the page's script reads them."""
    text = re.search(r'class="live-frames">(.*?)</script>', shown.html, re.S)
    return json.loads(text[1])


def frame(shown, group, index):
    """What the script puts into a group."""
    (moving,) = [m for m in record(shown)["moving"] if m["group"] == group]
    drawn = moving["drawn"][moving["which"][index]]
    return moving["before"] + drawn + moving["after"]


def numbers(markup):
    """The points of a path of relative steps."""
    d = re.search(r' d="([^"]*)"', markup)[1]
    assert d.count("M") == 1
    found = re.findall(r"-?(?:\d+\.?\d*|\.\d+)", d)
    return np.cumsum(np.array(found, dtype=float).reshape(-1, 2), axis=0)


def in_data(points, html):
    """Points of the page, read off the axes it records."""
    back = []
    for axis, places in zip("xy", points.T, strict=True):
        scale, *four = re.search(rf'data-{axis}="([^"]*)"', html)[1].split()
        assert scale == "linear"
        low, high, first, last = map(float, four)
        back.append(low + (places - first) / (last - first) * (high - low))
    return np.array(back)


def test_each_frame_holds_the_curve_of_its_value():
    shown = make()
    for index, slope in enumerate([1, 2, 5]):
        x, y = in_data(numbers(frame(shown, "line", index)), shown.html)
        assert x.min() < 0.01 and x.max() > 0.99
        assert_allclose(y, slope * x, atol=0.02)


def test_the_start_is_what_stands_in_the_page_before_any_script():
    shown = make(start={"slope": 5})
    drawing = shown.html[: shown.html.index("</svg>")]
    before = record(shown)
    assert frame(shown, "line", 2) in drawing
    assert frame(shown, "line", 0) not in drawing
    assert before["sliders"] == [{"name": "slope", "values": ["1", "2", "5"]}]
    assert 'value="2" aria-valuetext="slope = 5"' in shown.html


def test_without_a_start_the_middle_value_is_shown():
    assert 'aria-valuetext="slope = 2"' in make().html


def test_of_two_sliders_the_last_runs_fastest_and_equal_frames_are_one():
    def draw(ax, height, width):
        ax.plot([0, 1], [height, height], gid="level")
        ax.plot([width, width], [0, 9], gid="wall")

    shown = make(draw, height=[1, 2, 3], width=[0.2, 0.8])
    moving = {m["group"]: m for m in record(shown)["moving"]}
    assert moving["level"]["which"] == [0, 0, 1, 1, 2, 2]
    assert moving["wall"]["which"] == [0, 1, 0, 1, 0, 1]
    assert len(moving["level"]["drawn"]) == 3


def test_titles_move_legends_and_axes_are_there_once():
    shown = make()
    groups = [m["group"] for m in record(shown)["moving"]]
    assert len(groups) == 2 and "line" in groups
    assert "a line" in shown.svg


def test_titles_stay_in_their_place():
    def draw(ax, word):
        ax.set_title(word)

    shown = make(draw, word=["one", "two"], start={"word": "one"})
    places = [re.search(r"translate\(\S+ (\S+)\)", frame(shown, "0", i))[1]
              for i in (0, 1)]  # fmt: skip
    drawing = shown.html[: shown.html.index("</svg>")]
    assert places[0] == places[1]
    assert frame(shown, "0", 0) in drawing


def test_every_reference_of_every_frame_is_defined_in_the_page():
    def draw(ax, count):
        some = np.linspace(0.1, 0.9, count)
        ax.fill_between(some, 1, 1 + count * some)
        ax.plot(some, 9 * some, "o")
        ax.contour(*np.meshgrid(GRID, GRID), np.outer(GRID, GRID), [count / 9])
        ax.set_title(f"{count} points")

    shown = make(draw, count=[2, 5, 8])
    drawing = shown.html[: shown.html.index("<script>")]
    groups = [m["group"] for m in record(shown)["moving"]]
    frames = [frame(shown, g, i) for g in groups for i in range(3)]
    used = re.findall(r'(?:href="|url\()#([\w-]+)', drawing + "".join(frames))
    defined = re.findall(r' id="([\w-]+)"', drawing)
    assert len(groups) == 4
    assert set(used) <= set(defined)
    assert len(defined) == len(set(defined))


def test_the_same_figure_gives_the_same_page_and_another_has_other_ids():
    again, other = make().html, make(slope=[1, 2, 6]).html
    assert make().html == again
    ids = [set(re.findall(r' id="([\w-]+)"', text)) for text in (again, other)]
    assert not ids[0] & ids[1]


def test_text_tells_sliders_and_some_numbers_for_review():
    def draw(ax, lam):
        ax.plot(GRID, 9 * lam * GRID, gid="fit")

    shown = make(draw, lam=[2e-5, 0.5, 1.0], start={"lam": 0.5})
    assert repr(shown).splitlines() == [
        "live figure: λ = 2·10⁻⁵ … 1 (3 values)",
        "fit at λ = 2·10⁻⁵: 0 0 0 0 0",
        "fit at λ = 0.5: 0 1.04 2.19 3.35 4.5",
        "fit at λ = 1: 0 2.08 4.38 6.69 9",
    ]


def test_notebooks_get_the_page_the_image_and_the_text():
    bundle = make()._repr_mimebundle_()
    assert bundle["text/html"].startswith('<div class="live-figure">')
    assert bundle["image/svg+xml"].startswith("<?xml")
    assert bundle["text/plain"].startswith("live figure: slope = 1 … 5")


def test_nothing_in_the_page_is_asked_of_another_host():
    assert "http" not in make().html


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (0.3, "0.3"), (-2.5, "−2.5"), (20_000.0, "20000"),
     (1e-5, "10⁻⁵"), (3e-5, "3·10⁻⁵"), (2.5e6, "2.5·10⁶"), ("far", "far")],
)  # fmt: skip
def test_values_are_shown_as_a_reader_writes_them(value, shown):
    assert figures._spoken(value) == shown


def test_rounding_of_a_path_does_not_add_up():
    steps = " ".join(f"L {0.26 * n} 0" for n in range(1, 101))
    markup = f'<path d="{_live.shorten("M 0 0 " + steps)}"/>'
    assert_allclose(numbers(markup)[-1], [26, 0], atol=0.05)


def more_artists(ax, n):
    for _ in range(n):
        ax.plot(GRID, n * GRID)


def other_legend(ax, n):
    ax.plot(GRID, GRID, label=f"{n}")
    ax.legend()


def other_limits(ax, n):
    ax.plot(GRID, n * GRID)
    ax.set_ylim(0, n)


def one_gid_twice(ax, n):
    ax.plot(GRID, n * GRID, gid="line")
    ax.plot(GRID, -n * GRID, gid="line")


def noise(ax, n):
    t = np.random.default_rng(n).uniform(0, 9, 900)
    ax.plot(np.linspace(0, 1, 900), t)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: figures.live(plt.figure(), print), "needs a slider .* none"),
        (lambda: make(slope=[1]), "slope must have at least two values, got"),
        (lambda: make(start={"slope": 3}), "one of the values of slope, got"),
        (lambda: make(start={"slop": 1}), "start must name sliders, got 's"),
        (
            lambda: make(more_artists, n=[1, 2, 3], start={"n": 2}),
            r"same artists in every frame: at \{'n': 1\} expected Line2D, "
            "got no more",
        ),
        (lambda: make(other_legend, n=[1, 2]), r"at \{'n': 1\} expected Leg"),
        (lambda: make(other_limits, n=[1, 2]), r"change at \{'n': 1\}"),
        (lambda: make(one_gid_twice, n=[1, 2]), "a gid .* once, got 'line'"),
        (
            lambda: make(lambda ax, n: ax.plot(GRID, GRID), n=[1, 2]),
            "draw must depend on its sliders, but nothing moves",
        ),
        (
            lambda: make(noise, n=range(80)),
            "must weigh at most 300 kB, got .* fewer values, or fewer points",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_frame(call, message):
    with pytest.raises(ValueError, match=message):
        call()
