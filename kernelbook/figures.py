"""One style for every figure of the book.

Figures are SVG with a transparent background: they scale on a phone and print
sharply, and the page inverts them in dark mode.  Colours are those of Okabe
and Ito, which colour-blind readers can tell apart; only their sky blue is
darker here, for thin lines on white.

`live` makes a figure follow sliders.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.figure import Figure

from kernelbook import _live
from kernelbook._film import Film

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, SKY, GREY = "#CC79A7", "#3A9BD2", "#595959"

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


HEAVIEST = 300_000  # bytes of HTML: what a live figure may weigh
SYMBOLS = {
    "lam": "λ",
    "gamma": "γ",
    "mu": "μ",
    "epsilon": "ε",
    "theta0": "θ₀",
    "theta1": "θ₁",
    "theta2": "θ₂",
    "theta3": "θ₃",
}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class LiveFigure:
    """A figure with sliders, as notebooks and pages show it.

    ``html`` is the figure with all its frames, ``svg`` its first picture for
    places where no script runs, ``text`` what there is to move and, for
    review, some of the numbers drawn.
    """

    html: str
    svg: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {
            "text/html": self.html,
            "image/svg+xml": self.svg,
            "text/plain": self.text,
        }


def live(
    fig: Figure,
    draw: Callable[..., Any],
    start: Mapping[str, Any] | None = None,
    **sliders: Iterable[Any],
) -> LiveFigure:
    """Make ``fig`` follow sliders, one for each named list of values.

    What stays is drawn before; ``draw(lam=...)`` adds what moves: lines,
    bands, contours, markers, texts, titles, a legend.  It is called for every
    value (for several sliders: every combination), always draws the same
    artists in the same order, and leaves the axes' limits alone.  The page
    then only chooses among these frames: it computes nothing.

    Parameters
    ----------
    fig : the figure; it is closed afterwards
    draw : called with one value of each slider, by name
    start : values shown first; the middle one if not given
    sliders : name = values, numbers or words, in the order of the slider

    Raises
    ------
    ValueError
        without sliders; for a slider with fewer than two values; for a start
        that is no value; if artists or limits change from frame to frame, or
        nothing does; if the figure is heavier than 300 kB

    Examples
    --------
    >>> fig, ax = plt.subplots()
    >>> _ = ax.set(xlim=(0, 1), ylim=(0, 9))
    >>> def draw(slope):
    ...     ax.plot([0, 1], [0, slope], gid="line")
    >>> live(fig, draw, slope=[1, 2, 5])
    live figure: slope = 1 … 5 (3 values)
    line at slope = 1: 0 1
    line at slope = 2: 0 2
    line at slope = 5: 0 5
    """
    grid = {name: list(values) for name, values in sliders.items()}
    begin = _check_sliders(grid, start or {})
    frames = [
        dict(zip(grid, at, strict=True)) for at in product(*grid.values())
    ]
    first = frames.index(begin)
    try:
        film = Film(fig, draw, begin)
        scenes = [film.shoot(frame) for frame in frames]
    finally:
        plt.close(fig)
    shown = [
        _live.Slider(
            SYMBOLS.get(name, name.replace("_", " ")),
            [_spoken(value) for value in values],
            values.index(begin[name]),
        )
        for name, values in grid.items()
    ]
    html = _live.page(film.whole, scenes, shown)
    if len(html.encode()) > HEAVIEST:
        raise ValueError(
            f"a live figure must weigh at most {HEAVIEST // 1000} kB, got "
            f"{len(html.encode()) // 1000} kB: fewer values, or fewer points"
        )
    some = dict.fromkeys([0, first, len(frames) - 1])
    said = [_live.summary(shown)]
    for index in some:
        at = _live.place(shown, index)
        for name, numbers in scenes[index].numbers.items():
            said.append(f"{name} at {at}: {numbers}")
    return LiveFigure(html, film.svg, "\n".join(said))


def _check_sliders(
    grid: Mapping[str, list[Any]], start: Mapping[str, Any]
) -> dict[str, Any]:
    """Where every slider starts."""
    if not grid:
        raise ValueError("live needs a slider such as lam=[...], got none")
    for name in start:
        if name not in grid:
            raise ValueError(f"start must name sliders, got {name!r}")
    begin = {}
    for name, values in grid.items():
        if len(values) < 2:
            raise ValueError(
                f"{name} must have at least two values, got {len(values)}"
            )
        begin[name] = start.get(name, values[len(values) // 2])
        if begin[name] not in values:
            raise ValueError(
                f"start must be one of the values of {name}, "
                f"got {begin[name]!r}"
            )
    return begin


def _spoken(value: Any) -> str:
    """A value as a reader wants it: 0.3, 1200, 3·10⁻⁵, or the word itself."""
    if isinstance(value, str):
        return value
    mantissa, exponent = f"{value:.2e}".split("e")
    if -3 <= int(exponent) < 5:
        return f"{float(f'{value:.3g}'):g}".replace("-", "−")
    power = f"10{str(int(exponent)).translate(RAISED)}"
    factor = f"{float(mantissa):g}".replace("-", "−")
    return power if factor == "1" else f"{factor}·{power}"
