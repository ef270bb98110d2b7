"""The book's equations, and for each a world in which it is evaluated.

One file per chapter; ../typeset/README.md says how to bind.  What stands in
``_toc.yml`` is the book: the worlds of other chapters are not loaded.
"""

import importlib.util
from functools import cache, wraps
from pathlib import Path

import numpy as np
import yaml
from typeset import Equation

from press.ledger import not_executed as not_executed
from press.reader import chapters

SURVIVORS = Path(__file__).parent / "survivors"
SEEDS = (1, 2, 3)
WORLDS = {}  # of all files that were imported, by label


@cache
def equations():
    """Every labelled equation of the book, in order."""
    return [
        Equation(math.latex, math.label, f"{chapter.name}.md", math.at)
        for chapter in chapters()
        for math in chapter.equations
    ]


@cache
def explained():
    """Why a mutant survives, by label and mutant.

    ``equivalent`` if it says the same thing in other words, ``weak`` if it
    is another formula and this check cannot tell.
    """
    found = {}
    for chapter in chapters():
        path = SURVIVORS / f"chapter_{chapter.number}.yml"
        if path.exists():
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


@cache
def load():
    """The worlds of the book, by label."""
    modules = [f"{__name__}.chapter_{c.number}" for c in chapters()]
    for module in modules:
        if importlib.util.find_spec(module):
            importlib.import_module(module)
    return {k: w for k, w in WORLDS.items() if w.__module__ in modules}
