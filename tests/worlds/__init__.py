"""The book's equations, and for each a world in which it is evaluated.

One file per chapter; ../typeset/README.md says how to bind.  What stands in
``_toc.yml`` is the book: the worlds of other chapters are not loaded.
"""

import importlib.util
from functools import cache, wraps
from pathlib import Path

import numpy as np
import yaml
from typeset import STANDARD, Equation, FormulaError

from press.ledger import not_executed as not_executed
from press.reader import Math, chapters

SURVIVORS = Path(__file__).parent / "survivors"
SEEDS = (1, 2, 3)
WORLDS = {}  # of all files that were imported, by label


@cache
def equations():
    """Every displayed equation of the book, in order.

    Those without a label are known by their chapter and their own text:
    ``02: a = b``.
    """
    found = {}
    for chapter in chapters():
        for math in chapter.of(Math):
            if not math.display:
                continue
            label = math.label or known_as(f"{chapter.number}: {math.latex}")
            where = f"{chapter.name}.md", math.at
            found.setdefault(label, Equation(math.latex, label, *where))
    return [*found.values()]


def unlabelled(chapter):
    return [m for m in chapter.of(Math) if m.display and not m.label]


def known_as(label):
    """A label; of an equation without one, its canonical text."""
    number, _, latex = label.partition(": ")
    if not number.isdigit():
        return label
    try:
        return f"{number}: {STANDARD.parse(latex)}"
    except FormulaError:
        return f"{number}: {' '.join(latex.split())}"


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

    Some equations want more than one world: a list of bindings.  A label
    ``inline: …`` is the name of a world for relations in sentences.
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
    """The worlds of the book, by label.

    Which world an equation without a label has, the chapter's list says.
    """
    from . import relations

    modules = [f"{__name__}.chapter_{c.number}" for c in chapters()]
    for module in modules:
        if importlib.util.find_spec(module):
            importlib.import_module(module)
    found = {k: w for k, w in WORLDS.items() if w.__module__ in modules}
    for chapter in chapters():
        for math in unlabelled(chapter):
            label = known_as(f"{chapter.number}: {math.latex}")
            text = " ".join(math.latex.split())
            if said := relations.verdicts(chapter).get(text):
                found[label] = found[said.more]
    return found


@cache
def made(label):
    """The worlds of a label, for all seeds."""
    return [bindings for seed in SEEDS for bindings in load()[label](seed)]
