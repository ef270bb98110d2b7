"""Sums, products, brackets and the application of functions."""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import arrays
from .arrays import Misfit, whole
from .bindings import Event, Law, Value
from .names import Names
from .nodes import FormulaError, Node, product

SLOT = object()  # the place of an argument that is still to come
INFIX: dict[str, Callable[[Any, Any], Any]] = {
    "+": arrays.plus,
    "-": lambda a, b: arrays.plus(a, arrays.times(-1, b)),
    r"\cup": operator.or_,
    r"\cap": operator.and_,
    r"\setminus": operator.sub,
}
OF_VALUES: dict[str, Callable[..., Any]] = {
    "frac": arrays.divide,
    "sqrt": lambda a: arrays.power(a, 0.5),
    "root": arrays.root,
    "norm": arrays.norm,
    "bars": arrays.size,
    "floor": math.floor,
    "factorial": lambda n: math.factorial(whole(n)),
    "binom": lambda n, k: math.comb(whole(n), whole(k)),
}


class Arithmetic(Names):
    """Visits what is made of values by calculating with them."""

    def visit_value(self, node: Node, *parts: Node) -> Value:
        return OF_VALUES[node.kind](*map(self, parts))

    visit_frac = visit_sqrt = visit_root = visit_norm = visit_value
    visit_bars = visit_floor = visit_factorial = visit_binom = visit_value

    def visit_infix(self, node: Node, a: Node, b: Node) -> Value:
        return INFIX[self.sign(node)](self(a), self(b))

    def visit_prefix(self, node: Node, a: Node) -> Value:
        return arrays.times(-1 if self.sign(node) == "-" else 1, self(a))

    def sign(self, node: Node) -> str:
        (sign,) = node.words
        return self.world.get(sign, "+") if sign == r"\pm" else sign

    # brackets

    def visit_group(self, node: Node, *items: Node) -> Value:
        if ":" in node.words:
            raise Misfit("a set, where a value is needed,")
        values = [self(item) for item in self.expanded(items)]
        if node.words[0] == r"\langle":
            inner = self.find(r"\langle \rangle") or np.vdot
            return arrays.inward(inner(*map(arrays.outward, values)))
        if len(values) == 1 and items[0].kind != "relation":
            return values[0]
        if node.words[0] == "(" and all(map(arrays.is_number, values)):
            return np.array([values], float)
        return frozenset(map(arrays.outward, values))

    def visit_matrix(self, node: Node, *rows: Node) -> Value:
        cells = self.cells(rows)
        return arrays.stacked([[self(cell) for cell in row] for row in cells])

    def visit_cases(self, node: Node, *rows: Node) -> Value:
        for row in rows:
            value, *condition = row.parts
            always = not condition or condition[0].kind == "otherwise"
            if always or self(condition[0]):
                return self(value)
        raise Misfit("no case applies")

    # products and applications

    def visit_product(self, node: Node, *items: Node) -> Value:
        value, rest = None, list(items)
        while rest:
            head, *rest = rest
            over = head.kind == "over"
            if head.kind in ("over", "times"):
                (head,) = head.parts
            factor, used = self.primary(head, rest)
            factor = arrays.power(factor, -1) if over else factor
            value = factor if value is None else arrays.times(value, factor)
            rest = rest[used:]
        return value

    def primary(self, item: Node, rest: Sequence[Node]) -> tuple[Value, int]:
        """The value that starts here, and how much of the rest it takes."""
        found = rest[0].bracket if rest else None
        if rest and not found and self.is_function(item):
            return self.prefixed(item, rest)
        applied = product([item, found[0]]) if found else item
        if found and applied.text in self.world:
            return self.scripted(self.bound(applied.text), *found[1:]), 1
        value, used = self(item), 0
        while callable(value) and found:
            value = self.scripted(self.apply(value, found[0]), *found[1:])
            used += 1
            found = rest[used].bracket if rest[used:] else None
        return value, used

    def prefixed(self, item: Node, rest: Sequence[Node]) -> tuple[Value, int]:
        r"""``\ln x``, ``\sin \theta``: one thing, or write parentheses."""
        value, used = self.primary(rest[0], rest[1:])
        alone = not used and rest[0].kind in ("symbol", "number", "script")
        if alone and rest[1:] and not self.is_function(rest[1]):
            reason = f"how far does {item} reach? Write parentheses"
            raise FormulaError(reason, item.column)
        return arrays.call(self(item), [value]), used + 1

    def apply(self, function: Any, group: Node) -> Value:
        bar = (*group.words, r"\mid").index(r"\mid")
        native = arrays.is_native(function)
        read = self if native else self.argument
        of = [read(item) for item in self.expanded(group.parts[:bar])]
        given = [read(item) for item in self.expanded(group.parts[bar:])]
        if isinstance(function, Law):
            known = tuple(map(arrays.outward, given))
            return arrays.call(function, of, given=known)
        if native and given:  # the mean of t, a function of what is given
            of = [arrays.call(v, given) if callable(v) else v for v in of]
            return arrays.call(function, of)
        if any(value is SLOT for value in of):
            return waiting(function, [*of, *given])
        return arrays.call(function, [*of, *given])

    def visit_slot(self, node: Node) -> Value:
        return SLOT

    def argument(self, item: Node) -> Value:
        """The value of an argument; of ``t = k``, the event."""
        if item.kind == "relation" and item.words == ("=",):
            name, value = item.parts
            return Event(name.text, arrays.outward(self(value)))
        return self(item)


def waiting(function: Any, values: Sequence[Value]) -> Callable[..., Value]:
    r"""``k(\cdot, x)`` is a function of what is still to come."""

    def filled(*filling: Value) -> Value:
        left = map(arrays.inward, filling)
        given = [next(left) if value is SLOT else value for value in values]
        return arrays.call(function, given)

    return filled
