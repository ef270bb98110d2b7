"""The book's labelled equations, where they stand, and whether they hold."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import yaml
from reading import CHAPTERS, LABELLED_MATH, ROOT, chapters
from typeset.evaluate import Evaluator
from typeset.latex import FormulaError, parse
from typeset.values import EXACT, Disagreement
from typeset.worlds import load

NOT_EXECUTED = CHAPTERS / "not_executed.yml"
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Equation:
    """A labelled equation and the line on which its LaTeX starts."""

    path: Path
    line: int
    label: str
    latex: str

    @cached_property
    def tree(self):
        try:
            return parse(self.latex)
        except FormulaError as error:
            raise self.located(error) from None

    def located(self, error):
        """The same error, with file, line, label and column."""
        line, column = self.line, None
        if error.column is not None:
            before = self.latex[: error.column - 1]
            line += before.count("\n")
            column = error.column - 1 - (before.rfind("\n") + 1) + 1
        where = f"{self.path.relative_to(ROOT)}:{line}"
        at = "" if column is None else f", column {column}"
        return FormulaError(f"{where}: {self.label}{at}: {error.reason}")

    def worlds(self, seed):
        """The bindings to try; some equations want more than one world."""
        made = load()[self.label](np.random.default_rng(seed))
        return made if isinstance(made, list) else [made]

    def check(self, seed):
        """Raise unless the equation holds."""
        for bindings in self.worlds(seed):
            self.check_in(bindings)

    def check_in(self, bindings, tree=None, wrap=False):
        """The same in one world, perhaps for a mutant."""
        world = load().get(self.label)
        tolerance = (world and world.tolerance) or EXACT
        evaluator = Evaluator(bindings, tolerance=tolerance, wrap=wrap)
        tree = self.tree if tree is None else tree
        try:
            with np.errstate(all="ignore"):
                evaluator.check(tree)
        except FormulaError as error:
            raise self.located(error) from None
        except Disagreement as error:
            where = f"{self.path.relative_to(ROOT)}:{self.line}"
            raise Disagreement(f"{where}: {self.label}: {error}") from None


def equations_of(chapter):
    text = chapter.text
    found = []
    for match in LABELLED_MATH.finditer(text):
        latex = match["latex"]
        start = match.start("latex") + len(latex) - len(latex.lstrip())
        line = text.count("\n", 0, start) + 1
        found.append(
            Equation(chapter.path, line, match["label"], latex.strip())
        )
    return found


def equations():
    """Every labelled equation of the book, in order."""
    return [e for chapter in chapters() for e in equations_of(chapter)]


def not_executed():
    """Why some equations are not executed, by label."""
    if not NOT_EXECUTED.exists():
        return {}
    return yaml.safe_load(NOT_EXECUTED.read_text("utf-8")) or {}
