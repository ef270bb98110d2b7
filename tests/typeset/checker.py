"""Whether an equation on a page holds in a world, statement by statement."""

import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import arrays
from .arithmetic import same
from .arrays import inward
from .bindings import Value, World, several
from .evaluate import Evaluator
from .nodes import Disagreement, FormulaError, Node
from .notation import STANDARD, Notation

EXACT = 1e-9  # relative
NUMERICAL = 1e-6  # relative, where a derivative, limit or integral is taken
APPROXIMATE = {r"\partial", r"\nabla", r"\lim", r"\int"}
IMPLIES = {r"\Longrightarrow", r"\Rightarrow", r"\implies", r"\iff"}
IMPLIES |= {r"\Longleftrightarrow", r"\Leftrightarrow", "if"}
SUBJECT_TO = {"subject to", "such that", "s.t."}
PRINTED = re.compile(  # 0.37 or 3.7 \cdot 10^{-5}
    r"-?\d+(?:\.(\d+))?(?: \\(?:cdot|times) 10\^\{?(-?\d+)\}?)?"
)
CLAIMED = Node("symbol", ("claimed",))


@dataclass(frozen=True)
class Equation:
    """The LaTeX of an equation, and the page and line on which it starts."""

    latex: str
    label: str = "equation"
    path: str = "page"
    line: int = 1
    notation: Notation = STANDARD

    @cached_property
    def tree(self) -> Node:
        with self.located():
            return self.notation.parse(self.latex)

    @property
    def implies(self) -> bool:
        """Whether it says that something follows."""
        return bool(IMPLIES & {*" ".join(self.tree.words).split()})

    def check(self, world: World, tree: Node | None = None) -> None:
        """Raise unless the equation, or a mutant's tree, holds."""
        tree = tree or self.tree
        with self.located(), np.errstate(all="ignore"):
            Checker(self.notation.keyed(world), self.notation).check(tree)

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors say file, line and label."""
        try:
            yield
        except (FormulaError, Disagreement) as error:
            where = f"{self.path}:{self.line}: {self.label}"
            raise type(error)(f"{where}: {error}") from error.__cause__


class Checker(Evaluator):
    """Evaluates formulas in a world, and says when one does not hold."""

    def check(self, formula: Node) -> None:
        """Raise unless every statement holds and says something."""
        words = [*formula.words, "subject to"]
        place = next(i for i, w in enumerate(words, 1) if w in SUBJECT_TO)
        statements = [part.unwrapped for part in formula.parts]
        for statement in statements:
            pairs = itertools.combinations(statement.parts, 2)
            if statement.kind == "relation" and any(
                str(one) == str(other) or same(one, other)
                for one, other in pairs
            ):
                reason = f"{statement} says nothing: one side is the other"
                raise FormulaError(reason)
        if self.find("@fails"):
            return self.check_link(formula.words, statements)
        conditions = {"@subject to": statements[place:]}
        for statement in statements[:place]:
            self.where(conditions).check_all(statement)

    def check_link(
        self, words: Sequence[str], statements: Sequence[Node]
    ) -> None:
        """Of A ⟹ B in a world where A fails: B fails there, too."""
        arrows = [bool(IMPLIES & {*word.split()}) for word in words]
        if True not in arrows:  # it is a world for another formula
            return
        arrow = arrows.index(True) + 1
        for part in (statements[:arrow], statements[arrow:]):
            if all(map(self.visit_relation, part)):
                said = ", ".join(map(str, part))
                raise Disagreement(f"{said} holds, where it must not")

    def visit_relation(self, node: Node, *sides: Node) -> bool:
        try:
            self.check_all(node)
        except Disagreement:
            return False
        return True

    def check_all(self, statement: Node) -> None:
        """For every value of the free symbols that have several."""
        names = sorted(statement.free)
        free = [name for name in names if several(self.world.get(name))]
        for values in itertools.product(*(self.world[name] for name in free)):
            scope = dict(zip(free, values, strict=True))
            try:
                self.where(scope).check_signs(statement)
            except Disagreement as error:
                where = ", ".join(f"{n} = {v}" for n, v in scope.items())
                where = f" (at {where})" if where else ""
                raise Disagreement(f"{error}{where}") from None

    def check_signs(self, statement: Node) -> None:
        r"""``\pm`` must hold with one sign, the same throughout."""
        try:
            self.check_once(statement)
        except Disagreement:
            if r"\pm" not in statement.text:
                raise
            self.where({r"\pm": "-"}).check_once(statement)

    def check_once(self, node: Node) -> None:
        """Each side against the next; what an arrow points to is new."""
        if node.kind != "relation" and "=" in self.world:
            self.compare("=", self(node), self.bound("="), node, CLAIMED)
        elif node.kind != "relation":
            if self(node) is not True and node.kind != "symbol":
                raise FormulaError(f'{node} claims nothing: bind "="')
        elif node.text in self.world:
            if not self.find(node.text):
                raise Disagreement(f"{node} is bound to be false")
        else:
            ops, sides = self.links(node)
            new = self.find(ops[0]) if ops[0] == r"\leftarrow" else {}
            new = new if isinstance(new, dict) else {sides[0].text: new}
            there = self.where(self.notation.keyed(new))
            values = [there(sides[0]), *map(self, sides[1:])]
            of_zero = {"@of zero": any(map(arrays.is_zero, values))}
            for i, op in enumerate(ops):
                if op != r"\to" or op in self.world:
                    self.where(of_zero).compare(
                        op, *values[i : i + 2], *sides[i : i + 2]
                    )

    def links(self, node: Node) -> tuple[list[str], list[Node]]:
        r"""Of ``a_1 \ge \dots \ge a_N`` all; dots before a number are none."""
        ops, sides = [*node.words], [*node.parts]
        for i in [i for i, s in enumerate(sides) if s.kind == "dots"][:1]:
            try:
                inner = [*self.between(*sides[i - 1 : i + 2 : 2])]
            except (TypeError, ValueError):
                inner = []
            more = len(ops[i - 1 : i + 1]) - 1 + len(inner)
            ops[i - 1 : i + 1] = [ops[i - 1]] * more
            sides[i : i + 1] = inner
        return ops, sides

    def compare(
        self, op: str, a: Value, b: Value, left: Node, right: Node
    ) -> None:
        if op == r"\sim":
            self.compare("=", arrays.mean(a), inward(b.mean), left, right)
            a, b = arrays.covariance(a), inward(b.covariance)
        if self.find("@tight") and op in (r"\le", r"\ge"):
            op = "="
        tolerance = max(map(self.tolerance, (left, right)))
        statement = f"{left} {op} {right}"
        if not right.free and arrays.is_column(a, b):
            b = arrays.transpose(b)  # w = (2, 1) says nothing of columns
        digits = PRINTED.fullmatch(right.text) if op == r"\approx" else None
        if digits and arrays.is_number(a):  # as far as it is printed
            unit = 10.0 ** (int(digits[2] or 0) - len(digits[1] or ""))
            tolerance = 0.5001 * unit / max(abs(a).max(), abs(b).max())
        try:
            of_zero = self.world.get("@of zero", False)
            holds = arrays.agree(op, a, b, tolerance, of_zero)
        except ValueError as error:
            raise FormulaError(f"{statement}: {error}") from None
        if not holds:
            shown = f"{arrays.shown(a)} and {arrays.shown(b)}"
            raise Disagreement(f"{statement}: {shown}")

    def tolerance(self, node: Node) -> float:
        """As exact as the world; differences and quadrature are less so."""
        exact: float = self.world.get("@tolerance") or EXACT
        if node.text in self.world:
            return exact
        least = NUMERICAL if APPROXIMATE & {*node.words} else exact
        parts = filter(None, node.parts)
        return max([exact, least, *map(self.tolerance, parts)])
