"""Whether an equation on a page holds in a world, statement by statement."""

import itertools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import arrays
from .arithmetic import Arithmetic
from .bindings import Value, several
from .calculus import Calculus
from .nodes import Disagreement, FormulaError, Node, apart
from .notation import STANDARD, Notation

EXACT = 1e-9  # relative
NUMERICAL = 1e-6  # relative, where a derivative, limit or integral is taken
APPROXIMATE = {r"\partial", r"\nabla", r"\lim", r"\int"}
SUBJECT_TO = {"subject to", "such that", "s.t."}
SETS = {r"\subseteq": operator.le, r"\ne": operator.ne}


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
        try:
            return self.notation.parse(self.latex)
        except FormulaError as error:
            raise self.located(error) from None

    def located(self, error: FormulaError) -> FormulaError:
        """The same error, with file, line, label and column."""
        before = self.latex[: (error.column or 1) - 1].split("\n")
        where = f"{self.path}:{self.line + len(before) - 1}: {self.label}"
        column = f", column {len(before[-1]) + 1}" if error.column else ""
        return FormulaError(f"{where}{column}: {error.reason}")

    def check(
        self, world: Mapping[str, Value], tree: Node | None = None
    ) -> None:
        """Raise unless the equation, or a mutant's tree, holds."""
        tree = tree or self.tree
        try:
            with np.errstate(all="ignore"):
                Checker(world, self.notation).check(tree)
        except FormulaError as error:
            raise self.located(error) from None
        except Disagreement as error:
            where = f"{self.path}:{self.line}: {self.label}"
            raise Disagreement(f"{where}: {error}") from None


class Checker(Arithmetic, Calculus):
    """Evaluates formulas in a world, and says when one does not hold."""

    def check(self, formula: Node) -> None:
        """Raise unless every statement holds and says something."""
        links = [i for i, w in enumerate(formula.words) if w in SUBJECT_TO]
        place = links[0] + 1 if links else len(formula.parts)
        statements, domains = apart(formula.parts[:place])
        conditions, further = apart(formula.parts[place:])
        for statement in map(unwrapped, [*statements, *conditions]):
            same = len({*map(str, statement.parts)}) < len(statement.parts)
            if statement.kind == "relation" and same:
                reason = f"{statement} says nothing: one side is the other"
                raise FormulaError(reason, statement.column)
        for domain in domains + further:
            self.check_domain(*domain)
        for statement in statements:
            subject_to = {"@subject to": conditions}
            self.within(subject_to, self.check_all, statement)

    def visit_relation(self, node: Node, *sides: Node) -> bool:
        try:
            self.check_all(node)
        except Disagreement:
            return False
        return True

    def check_all(self, statement: Node) -> None:
        """For every value of the free symbols that have several."""
        names = sorted(statement.free())
        free = [name for name in names if several(self.world.get(name))]
        for values in itertools.product(*(self.world[name] for name in free)):
            scope = dict(zip(free, values, strict=True))
            try:
                self.within(scope, self.check_signs, statement)
            except Disagreement as error:
                where = ", ".join(f"{n} = {v}" for n, v in scope.items())
                where = f" (at {where})" if where else ""
                raise Disagreement(f"{error}{where}") from None

    def check_signs(self, statement: Node) -> None:
        r"""``\pm`` must hold with one sign, the same throughout."""
        try:
            self.check_once(unwrapped(statement))
        except Disagreement:
            signs = (word for node in statement.walk() for word in node.words)
            if r"\pm" not in signs or self.world.get(r"\pm") == "-":
                raise
            self.within({r"\pm": "-"}, self.check_signs, statement)

    def check_once(self, statement: Node) -> None:
        if statement.kind != "relation":
            return self.check_claim(statement)
        if statement.text in self.world:
            if not self.find(statement.text):
                raise Disagreement(f"{statement} is bound to be false")
            return None
        ops, sides = statement.words, statement.parts
        before = self.side(sides[0], ops[0])
        for op, left, right in zip(ops, sides, sides[1:], strict=False):
            after = self.side(right, op)
            if op != r"\to" or op in self.world:
                self.compare(op, before, after, [left, right])
            before = after
        return None

    def check_claim(self, node: Node) -> None:
        """What stands alone is claimed to be what "=" is bound to."""
        if several(self.world.get(node.text)):
            return
        value = self(node)
        if "=" in self.world:
            claimed = arrays.inward(self.find("="))
            self.compare("=", value, claimed, [node])
        elif value is not True and node.kind != "symbol":
            raise FormulaError(f'{node} claims nothing: bind "="', node.column)

    def side(self, node: Node, op: str) -> Value:
        r"""A side's value; what ``\leftarrow`` assigns to has the new one."""
        new = self.find(op) if op == r"\leftarrow" else None
        if new is None or node.kind != "symbol":
            return self(node)
        if isinstance(new, dict):
            new = self.notation.keyed(new).get(node.text, self(node))
        return arrays.inward(new)

    def compare(
        self, op: str, a: Value, b: Value, sides: Sequence[Node]
    ) -> None:
        what = f"{sides[0]} {op} {sides[1] if sides[1:] else 'claimed'}"
        if op == r"\sim":
            self.compare("=", arrays.mean(a), arrays.fit(b.mean, a), sides)
            a, b, op = arrays.covariance(a), b.covariance, "="
            b = arrays.fit(b, a)
        if op == r"\in":
            holds = arrays.outward(a) in b
        elif not (arrays.is_numeric(a) and arrays.is_numeric(b)):
            holds = SETS.get(op, operator.eq)(a, b)
        elif arrays.shape_of(a) != arrays.shape_of(b) and not (
            arrays.is_zero(a) or arrays.is_zero(b)
        ):
            shapes = f"{arrays.said(a)} against {arrays.said(b)}"
            raise FormulaError(f"{what}: {shapes}", sides[0].column)
        else:
            tight = self.find("@tight") and op in (r"\le", r"\ge")
            tolerance = max(map(self.tolerance, sides))
            holds = arrays.agrees("=" if tight else op, a, b, tolerance)
        if not holds:
            shown = f"{arrays.shown(a)} and {arrays.shown(b)}"
            raise Disagreement(f"{what}: {shown}")

    def tolerance(self, node: Node) -> float:
        """As exact as the world; differences and quadrature are less so."""
        exact: float = self.world.get("@tolerance") or EXACT
        if node.text in self.world:
            return exact
        least = NUMERICAL if APPROXIMATE & {*node.words} else exact
        return max(
            [exact, least, *map(self.tolerance, filter(None, node.parts))]
        )


def unwrapped(statement: Node) -> Node:
    """A statement without the parentheses round it."""
    if statement.kind == "group" and len(statement.parts) == 1:
        return unwrapped(statement.parts[0])
    return statement
