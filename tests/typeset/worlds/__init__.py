"""For every labelled equation, a world in which it is evaluated.

One file per chapter.  README.md, one directory up, says how to bind.
"""

import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from typeset.values import Each, Event, From, Law, Of, Sample

__all__ = ["Each", "Event", "From", "Law", "Of", "Sample", "load", "world"]

WORLDS = {}


@dataclass(frozen=True)
class World:
    build: object
    tolerance: float | None

    def __call__(self, rng):
        return self.build(rng)

    @property
    def home(self):
        code = self.build.__code__
        return code.co_filename, code.co_firstlineno


def world(*labels, tolerance=None):
    """Register a function of ``rng`` that binds the equations' symbols."""

    def register(build):
        made = World(build, tolerance)
        for label in labels:
            if label in WORLDS and WORLDS[label].home != made.home:
                raise ValueError(f"{label} has two worlds")
            WORLDS[label] = made
        return build

    return register


@cache
def load():
    """All worlds, by label."""
    for path in sorted(Path(__file__).parent.glob("chapter_*.py")):
        importlib.import_module(f"{__name__}.{path.stem}")
    return WORLDS
