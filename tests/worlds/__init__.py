"""The book's equations, and for each a world in which it is evaluated.

One file per chapter; ../typeset/README.md says how to bind.  What stands in
``_toc.yml`` is the book: the worlds of other chapters are not loaded.
"""

import importlib
from functools import cache, wraps
from pathlib import Path

import numpy as np
import yaml
from typeset import Each as Each
from typeset import Equation

from press.ledger import not_executed as not_executed
from press.reader import chapters

HERE = Path(__file__).parent
SEEDS = (1, 2, 3)
WORLDS = {}  # of all files that were imported, by label


def equations_of(page):
    return [
        Equation(math.latex, math.label, f"{page.name}.md", math.at)
        for math in page.equations
    ]


@cache
def equations():
    """Every labelled equation of the book, in order."""
    return [e for chapter in chapters() for e in equations_of(chapter)]


@cache
def explained():
    """Why a mutant survives, by label and mutant.

    ``equivalent`` if it says the same thing in other words, ``weak`` if it
    is another formula and this check cannot tell.
    """
    found = {}
    for path in files(HERE / "survivors", ".yml"):
        found |= yaml.safe_load(path.read_text("utf-8")) or {}
    return found


def world(*labels, tolerance=None):
    """Register a function of ``rng`` that binds the equations' symbols.

    Some equations want more than one world: a list of bindings.
    """

    def register(build):
        @wraps(build)
        def made(seed):
            made = build(np.random.default_rng(seed))
            worlds = made if isinstance(made, list) else [made]
            return [world | {"@tolerance": tolerance} for world in worlds]

        for label in labels:
            if label in WORLDS:
                raise ValueError(f"{label} has two worlds")
            WORLDS[label] = made
        return build

    return register


def files(folder, suffix):
    """Those that belong to the chapters of the book: chapter_NN, by number."""
    names = [f"chapter_{c.number}{suffix}" for c in chapters()]
    return [folder / name for name in names if (folder / name).exists()]


@cache
def load():
    """The worlds of the book, by label."""
    modules = [f"{__name__}.{path.stem}" for path in files(HERE, ".py")]
    for module in modules:
        importlib.import_module(module)
    return {
        label: world
        for label, world in WORLDS.items()
        if world.__module__ in modules
    }
