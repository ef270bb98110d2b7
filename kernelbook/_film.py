"""The frames of a live figure, drawn by Matplotlib.

The first drawing has everything.  For the frames all that stays is hidden:
a frame then costs milliseconds, and the page has what stays only once.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from math import floor, log10
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from kernelbook._live import Marks, Scene, read


class Film:
    """A figure, what moves in it, and the drawing that has everything."""

    def __init__(
        self,
        fig: Figure,
        draw: Callable[..., Any],
        begin: Mapping[str, Any],
    ) -> None:
        self.fig, self.draw = fig, draw
        self.still = _artists(fig)
        with self._drawn(begin) as moving:
            self.cast = _cast(moving)
            marks = _mark(moving)
            fig.draw_without_rendering()  # lays out, once and for all
            fig.set_layout_engine("none")
            self.limits = _limits(fig)
            for i, ax in enumerate(fig.axes):
                ax.set_gid(f"axes-{i}")
                marks[f"axes-{i}"] = _scales(fig, ax)
            self.svg = _svg(fig)
            self.whole = Scene(*read(self.svg, marks), {})

    def shoot(self, frame: Mapping[str, Any]) -> Scene:
        """What moves, at the values of one frame."""
        with self._drawn(frame) as moving:
            self._compare(frame, moving)
            numbers = _numbers(moving)
            marks = _mark(moving)
            with _hidden(self._staying()):
                return Scene(*read(_svg(self.fig), marks), numbers)

    @contextmanager
    def _drawn(self, frame: Mapping[str, Any]) -> Iterator[list[Artist]]:
        """The artists that draw adds, and the titles; taken away after."""
        for ax in self.fig.axes:
            ax.set_prop_cycle(None)
        self.draw(**frame)
        added = [a for a in _artists(self.fig) if a not in self.still]
        titles = [ax.title for ax in self.fig.axes if ax.get_title()]
        try:
            yield [*added, *titles]
        finally:
            for artist in added:
                artist.remove()
            for title in titles:
                title.set_gid(None)

    def _staying(self) -> list[Artist]:
        """What was there before, and legends, which must not change."""
        legends = [a for a in _artists(self.fig) if isinstance(a, Legend)]
        return [*self.still, *legends]

    def _compare(self, frame: Mapping[str, Any], moving: list[Artist]) -> None:
        for old, new in zip_longest(self.cast, _cast(moving)):
            if old != new:
                raise ValueError(
                    "draw must draw the same artists in every frame: at "
                    f"{dict(frame)} expected {old or 'no more'}, "
                    f"got {new or 'no more'}"
                )
        if not np.allclose(_limits(self.fig), self.limits):
            raise ValueError(
                "the axes must stay, set xlim and ylim before: their limits "
                f"change at {dict(frame)}"
            )


def _artists(fig: Figure) -> list[Artist]:
    """Everything drawn in a figure but its axes and their titles."""
    mine = [a for a in fig.get_children() if not isinstance(a, Axes)]
    for ax in fig.axes:
        # The titles at the sides are empty; hidden, they would move the other.
        titles = [ax.title, ax._left_title, ax._right_title]  # type: ignore
        mine += [a for a in ax.get_children() if a not in titles]
    return mine


def _cast(moving: Iterable[Artist]) -> list[str]:
    """Who plays: kind and name of each artist, for a legend its words."""
    cast = []
    for artist in moving:
        name = artist.get_gid() or ""
        if isinstance(artist, Legend):
            name = " | ".join(text.get_text() for text in artist.texts)
        cast.append(f"{type(artist).__name__} {name}".strip())
    return cast


def _mark(moving: Iterable[Artist]) -> Marks:
    """Make the artists' groups findable: by their gid, or by number."""
    marks: Marks = {}
    for i, artist in enumerate(moving):
        if isinstance(artist, Legend):
            continue
        name = str(artist.get_gid() or i)
        if f"moves-{name}" in marks:
            raise ValueError(f"a gid must be used once, got {name!r} twice")
        artist.set_gid(f"moves-{name}")
        marks[f"moves-{name}"] = {"data-moves": name}
    return marks


@contextmanager
def _hidden(artists: Iterable[Artist]) -> Iterator[None]:
    visible = [artist for artist in artists if artist.get_visible()]
    for artist in visible:
        artist.set_visible(False)
    try:
        yield
    finally:
        for artist in visible:
            artist.set_visible(True)


def _limits(fig: Figure) -> list[tuple[float, float]]:
    return [lim for ax in fig.axes for lim in (ax.get_xlim(), ax.get_ylim())]


def _scales(fig: Figure, ax: Axes) -> dict[str, str]:
    """How to read numbers off the drawing: scale, limits, their places."""
    left, bottom, width, height = ax.get_position().bounds
    w, h = 72 * fig.get_size_inches()
    places = {
        "x": (ax.get_xscale(), ax.get_xlim(), w * left, w * (left + width)),
        "y": (
            ax.get_yscale(),
            ax.get_ylim(),
            h * (1 - bottom),
            h * (1 - bottom - height),
        ),
    }
    return {
        f"data-{axis}": f"{scale} {low:.6g} {high:.6g} {one:.2f} {two:.2f}"
        for axis, (scale, (low, high), one, two) in places.items()
    }


def _svg(fig: Figure) -> str:
    """As savefig writes it, which would draw it twice."""
    file = io.StringIO()
    canvas: Any = FigureCanvasSVG(fig)
    canvas.print_svg(file, metadata={"Date": None})
    return file.getvalue()


def _numbers(moving: Iterable[Artist]) -> dict[str, str]:
    """Five values of every line with a gid, to about 1/100 of the axis."""
    found = {}
    for line in moving:
        if not (isinstance(line, Line2D) and line.get_gid()):
            continue
        assert isinstance(line.axes, Axes)
        y = np.asarray(line.get_ydata(), dtype=float)
        low, high = line.axes.get_ylim()
        digits = 2 - floor(log10(abs(high - low)))
        some = y[np.unique(np.linspace(0, len(y) - 1, 5).astype(int))]
        if line.axes.get_yscale() == "log":
            shown = [f"{value:.1e}" for value in some]
        else:
            shown = [f"{value:g}" for value in np.round(some, digits) + 0.0]
        found[str(line.get_gid())] = " ".join(shown)
    return found
