"""One style for every figure of the book.

Figures are SVG with a transparent background: they scale on a phone and print
sharply, and the page inverts them in dark mode.  Colours are those of Okabe
and Ito, which colour-blind readers can tell apart.
"""

from typing import Any

import matplotlib.pyplot as plt
from cycler import cycler

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, SKY, GREY = "#CC79A7", "#56B4E9", "#595959"

STYLE: dict[str, Any] = {
    "figure.figsize": (6.4, 3.4),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, PURPLE, SKY, GREY]),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelsize": 11,
    "axes.titlesize": 11,
    "font.size": 10,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "svg.hashsalt": "kernelbook",  # the same figure gives the same file
}


def use_style() -> None:
    """Use the book's style, and SVG in notebooks."""
    plt.style.use(STYLE)
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # outside notebooks there is nothing to set
        return
    set_matplotlib_formats("svg", metadata={"Date": None})
