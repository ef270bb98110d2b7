"""The book's equations, and for each a world in which it is evaluated.

One file per chapter; ../typeset/README.md says how to bind.  What stands in
``_toc.yml`` is the book: the worlds of other chapters are not loaded.
"""

import importlib
from functools import cache, wraps
from pathlib import Path

import numpy as np
import yaml
from reading import CHAPTERS, LABELLED_MATH, ROOT, chapters
from typeset import Equation

HERE = Path(__file__).parent
SEEDS = (1, 2, 3)
WORLDS = {}  # of all files that were imported, by label


def displayed(path):
    """Path, line, label and LaTeX of every labelled equation of a page."""
    page = path.read_text("utf-8")
    for match in LABELLED_MATH.finditer(page):
        latex = match["latex"].strip()
        start = page.index(latex, match.start("latex"))
        yield path, page.count("\n", 0, start) + 1, match["label"], latex


def equations_of(path):
    return [
        Equation(latex, label, page.relative_to(ROOT).as_posix(), line)
        for page, line, label, latex in displayed(path)
    ]


@cache
def equations():
    """Every labelled equation of the book, in order."""
    return [e for chapter in chapters() for e in equations_of(chapter.path)]


def records(paths):
    """What files in YAML say, taken together."""
    found = {}
    for path in filter(Path.exists, paths):
        found |= yaml.safe_load(path.read_text("utf-8")) or {}
    return found


def not_executed():
    """Why some equations are not executed, by label."""
    return records([CHAPTERS / "not_executed.yml"])


@cache
def explained():
    """Why a mutant survives, by label and mutant.

    ``equivalent`` if it says the same thing in other words, ``weak`` if it
    is another formula and this check cannot tell.
    """
    return records(files(HERE / "survivors", ".yml"))


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
    names = [f"chapter_{c.path.name[:2]}{suffix}" for c in chapters()]
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
