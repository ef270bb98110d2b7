"""What a formula is worth in a world: its names, brackets, sums, slopes."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Self

import numpy as np
from scipy import integrate

from . import arrays
from .arrays import inward, outward, whole
from .bindings import Event, From, Law, Of, Value, several
from .nodes import (
    MARKS,
    Disagreement,
    FormulaError,
    Node,
    number,
    product,
    script,
    varied,
)
from .notation import Notation, expression

Scopes = list[dict[str, Value]]
RAISED: dict[str, Callable[[Value], Value]] = {
    r"\top": arrays.transpose,
    r"-\top": lambda value: arrays.transpose(arrays.power(value, -1)),
    "+": np.linalg.pinv,
}
UNFIT = ArithmeticError, AttributeError, LookupError, TypeError, ValueError
SLOT = object()  # the place of an argument that is still to come


def families(name: str) -> list[str]:
    """Under which keys a family may be bound, the first that is counts."""
    space = "" if name.startswith("\\") else " "
    bold = [rf"\mathbf{space}{name}", rf"\boldsymbol{space}{name}"]
    fonts = (r"\mathbf", r"\boldsymbol", r"\mathcal")
    return [name + "_", name, *([] if name.startswith(fonts) else bold)]


@dataclass
class Evaluator:
    """Looks names up, and hands each kind of node to its visitor."""

    world: dict[str, Value]  # under canonical keys
    notation: Notation

    def __call__(self, node: Node) -> Value:
        """The value of a node: what it is bound to, or made of."""
        try:
            if node.text in self.world and node.kind != "group":
                return self.bound(node.text)
            visit = getattr(self, "visit_" + node.kind, self.visit_other)
            return visit(node, *node.parts)
        except UNFIT as error:
            raise FormulaError(f"{node}: {error}") from error

    def where(self, scope: dict[str, Value]) -> Self:
        """The same, where the scope's bindings hold too."""
        return replace(self, world=self.world | scope)

    def find(self, key: str) -> Value:
        value = self.world.get(key, self.notation.meanings.get(key))
        if isinstance(value, Of):
            trees = (expression(self.notation, name) for name in value.names)
            return value.function(*(outward(self(tree)) for tree in trees))
        return value

    def bound(self, key: str) -> Value:
        value = self.find(key)
        if value is None or several(value):
            raise ValueError("it has several values" if value else "not bound")
        return inward(value)

    def visit_other(self, node: Node, *parts: Node) -> Value:
        r"""What is made of values; the checker may bind ``\pm`` to "-"."""
        if node.kind == "symbol":
            return self.bound(node.text)
        if node.kind == "number":
            return inward(float(node.text))
        signed = node.kind in ("infix", "prefix")
        name = node.words[0] if signed else node.kind
        operation = arrays.OPERATIONS.get(self.world.get(name, name))
        if operation is None:
            raise ValueError("it has no value here")
        return operation(*map(self, parts))

    # scripts and families

    def visit_script(
        self, node: Node, base: Node, sub: Any, sup: Any
    ) -> Value:
        if sup and base.kind == "symbol":
            layered = base.text + ("_^" if sub else "^")
            if sup.words[:1] == ("(",) and layered in self.world:
                return self.member(layered, sub, sup)
            marked = script(base, None, sup).text
            if sub and sup.text in MARKS and self.family(marked):
                return self.member(marked, sub)
        if sup or base.kind != "symbol":
            within = self(node.unraised if sup else base)
            return self.scripted(within, None if sup else sub, sup)
        if self.is_function(base):  # E_q says over what, and is still the mean
            return self(base)
        return self.member(base.text, sub)

    def scripted(
        self, value: Value, sub: Any = None, sup: Any = None
    ) -> Value:
        """An entry of a value, or a power; a function has them later."""
        if sub:
            value = self.entry(outward(value), self.indices(sub))
        if sup is None:
            return value
        if callable(value):
            later = partial(self.scripted, sup=sup)
            return lambda *of: outward(later(inward(value(*of))))
        if sup.text in RAISED:
            return RAISED[sup.text](value)
        if sup.text in MARKS:
            raise ValueError(f"^{sup} is not bound")
        return arrays.power(value, self(sup))

    def indices(self, *scripts: Node | None) -> tuple[Value, ...]:
        """``nm`` are two indices, ``n-1`` and ``N+1`` one."""
        found: list[Node] = []
        for sub in filter(None, scripts):
            factors = sub.each("product")
            kinds = {part.kind for part in factors}
            apart = kinds <= {"symbol", "number", "script"}
            listed = sub.each("group" if sub.kind == "group" else "list")
            found += factors if apart else listed
        return tuple(outward(self(part)) for part in found)

    def family(self, name: str) -> str | None:
        keys = [name] if name.endswith("^") else families(name)
        known = (key for key in keys if key in self.world)
        return next((k for k in known if not several(self.world[k])), None)

    def member(self, name: str, *scripts: Node | None) -> Value:
        key, indices = self.family(name) or name + "_", self.indices(*scripts)
        members = self.find(key)
        if members is None:
            raise ValueError("not bound")
        if callable(members) and key.endswith(("_", "^")):
            return inward(members(*indices))
        return self.entry(members, indices)

    def entry(self, members: Any, indices: tuple[Value, ...]) -> Value:
        """One of many; indices count from 1 unless it says ``From``."""
        start, members = members if isinstance(members, From) else (1, members)
        if callable(members):
            return lambda *of: self.entry(From(start, members(*of)), indices)
        if isinstance(members, dict):
            key = indices if indices[1:] else indices[0]
            return inward(members[key])
        for index in indices:
            place, size = whole(index) - start, len(members)
            if "@wrap" in self.world:  # a mutant's index runs round
                place %= size
            if not 0 <= place < size:
                ends = f"{start}..{start + size - 1}"
                raise ValueError(f"index {index} is outside {ends}")
            members = members[place]
        return inward(members)

    # brackets, and dots in them

    def expanded(self, items: Sequence[Node]) -> list[Node]:
        r"""Write out ``a_1, \dots, a_N``; nothing but dots is nothing yet."""
        out: list[Node] = []
        if {item.kind for item in items} == {"dots"}:
            return out
        for i, item in enumerate(items):
            dots = item.kind == "dots"
            out += self.between(*items[i - 1 : i + 2 : 2]) if dots else [item]
        return out

    def between(self, first: Node, last: Node) -> Iterator[Node]:
        """The nodes strictly between two that differ in one index."""
        pairs: set[tuple[Node, Node]] = set()
        varied(first, last, lambda a, b: pairs.add((a, b)) or a)  # type: ignore[func-returns-value]
        if len(pairs) != 1:
            raise ValueError(f"{first} … {last}: what runs?")
        low, high = (whole(self(end)) for end in pairs.pop())
        for i in range(low + 1, high):
            yield varied(first, last, lambda *_, i=i: number(i))

    def visit_matrix(self, node: Node, *rows: Node) -> Value:
        wide = [self.expanded(row.parts) for row in rows]
        cells: list[Sequence[Node]] = []
        for i, row in enumerate(wide):  # one of dots is several
            both = zip(wide[i - 1], wide[(i + 1) % len(wide)], strict=False)
            columns = (
                itertools.repeat(a) if a == b else self.between(a, b)
                for a, b in both
            )
            cells += [row] if row else zip(*columns, strict=False)
        return arrays.stacked([[self(cell) for cell in row] for row in cells])

    def visit_group(self, node: Node, *items: Node) -> Value:
        if ":" in node.words:
            raise ValueError("a set, where a value is needed")
        values = [self(item) for item in self.expanded(items)]
        if node.words[0] == r"\langle":
            return arrays.call(self.find(r"\langle \rangle"), values)
        if len(values) == 1 and items[0].kind != "relation":
            return values[0]
        if node.words[0] == "(" and all(map(arrays.is_numeric, values)):
            return arrays.stacked([values])
        return frozenset(map(outward, values))

    def visit_cases(self, node: Node, *rows: Node) -> Value:
        for row in rows:
            value, *conditions = row.parts
            if all(c.kind == "otherwise" or self(c) for c in conditions):
                return self(value)
        raise ValueError("no case applies")

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
        group, *scripts = rest[0].each("script") if rest else (item,)
        if rest and group.kind != "group" and self.is_function(item):
            return self.prefixed(item, rest)
        if rest and item.text + group.text in self.world:
            value = self.bound(item.text + group.text)
            return self.scripted(value, *scripts), 1
        value, used = self(item), 0
        while callable(value) and rest[used:]:
            group, *scripts = rest[used].each("script")
            if group.kind != "group":
                break
            value = self.scripted(self.apply(value, group), *scripts)
            used += 1
        return value, used

    def is_function(self, node: Node) -> bool:
        r"""Whether it is applied without brackets, as in ``\ln x``."""
        name = node.each("script")[0].text
        known = callable(self.notation.meanings.get(name))
        standard = known and name not in self.world
        return standard or name.startswith(r"\operatorname")

    def prefixed(self, item: Node, rest: Sequence[Node]) -> tuple[Value, int]:
        r"""``\ln x``, ``\sin \theta``: one thing, or write parentheses."""
        value, used = self.primary(rest[0], rest[1:])
        alone = not used and rest[0].kind in ("symbol", "number", "script")
        if alone and rest[1:] and not self.is_function(rest[1]):
            raise ValueError(f"how far does {item} reach? Write parentheses")
        return arrays.call(self(item), [value]), used + 1

    def apply(self, function: Any, group: Node) -> Value:
        bar = (*group.words, r"\mid").index(r"\mid")
        native = arrays.is_native(function)
        read = self if native else self.argument
        of = [read(item) for item in self.expanded(group.parts[:bar])]
        given = [read(item) for item in self.expanded(group.parts[bar:])]
        if isinstance(function, Law):
            known = tuple(map(outward, given))
            return arrays.call(function, of, given=known)
        if native and given:  # the mean of t, a function of what is given
            of = [arrays.call(v, given) if callable(v) else v for v in of]
            return arrays.call(function, of)
        values = [*of, *given]
        if not any(value is SLOT for value in values):
            return arrays.call(function, values)

        def waiting(*filling: Value) -> Value:  # as k(\cdot, x) is
            left = map(inward, filling)
            full = [next(left) if v is SLOT else v for v in values]
            return outward(arrays.call(function, full))

        return waiting

    def argument(self, item: Node) -> Value:
        """The value of an argument; of ``t = k``, the event."""
        if item.kind == "slot":
            return SLOT
        if item.kind == "relation" and item.words == ("=",):
            name, value = item.parts
            return Event(name.text, outward(self(value)))
        return self(item)

    # sums, optima, limits, integrals

    def values(self, scopes: Scopes, body: Node) -> list[Value]:
        return [self.where(scope)(body) for scope in scopes]

    def visit_big(self, node: Node, sub: Any, sup: Any, body: Node) -> Value:
        if sub is None:
            raise ValueError("over what?")
        if node.is_optimum:
            return self.optimum(node, sub, body)
        if node.words[0] == r"\lim":
            return self.limit(body, *sub.parts)
        key = "" if sub.kind == "symbol" else sub.text
        values = self.values(self.runs(sub, sup, key), body)
        if node.words[0] == r"\sum":
            return arrays.plus(*values) if values else inward(0)
        return reduce(arrays.times, values, inward(1))

    def runs(self, sub: Node, sup: Node | None, key: str) -> Scopes:
        """The assignments over which a sum, product or minimum runs."""
        conditions = sub.each("list")
        if key in self.world:
            bound = map(self.notation.keyed, self.find(key))
            return self.admitted([*bound], conditions)
        if sup is not None or sub.words == (r"\in",):
            variable, first = sub.parts
            members = outward(self(first))
            if sup is not None:
                members = range(whole(members), whole(self(sup)) + 1)
            return [{variable.text: member} for member in members]
        every = itertools.product(*map(self.domain, sub.bound))
        scopes = [dict(zip(sub.bound, one, strict=True)) for one in every]
        return self.admitted(scopes, conditions)

    def domain(self, name: str) -> Any:
        domain = self.find(name)
        if not several(domain):
            raise ValueError(f"bind {name} to the values it runs over")
        return domain

    def admitted(self, scopes: Scopes, conditions: Sequence[Node]) -> Scopes:
        for condition in conditions:
            if condition.kind in ("relation", "domain"):
                scopes = [s for s in scopes if self.where(s)(condition)]
        return scopes

    def visit_domain(self, node: Node, first: Node, *items: Node) -> bool:
        r"""``j = 0, 1, \dots, M-1``: the symbol runs over just these."""
        variable, start = first.parts
        domain = [*self.domain(variable.text)]
        wanted = [outward(self(i)) for i in self.expanded([start, *items])]
        if domain != wanted:
            raise Disagreement(f"{variable} runs over {domain}, not {wanted}")
        return True

    def optimum(self, node: Node, sub: Node, body: Node) -> Value:
        r"""The best among candidates: ``\min_{w}`` is bound to a list."""
        conditions = self.world.get("@subject to", [])
        if body.kind == "group" and ":" in body.words:
            body, *inside = body.parts
            conditions = [*conditions, *inside]
        scopes = self.admitted(self.runs(sub, None, node.heading), conditions)
        if not scopes:
            raise Disagreement(f"no candidate satisfies {node.heading}")
        # an optimum inside this one is subject to none of them
        values = self.where({"@subject to": []}).values(scopes, body)
        lowest = re.search("min|inf", node.words[0])
        best = int(np.argmin(values) if lowest else np.argmax(values))
        if not node.words[0].startswith(r"\arg"):
            return values[best]
        (found,) = scopes[best].values()
        return inward(found)

    def limit(self, body: Node, variable: Node, target: Node) -> Value:
        """Extrapolated from three small steps."""
        goal = 0.0 if target.text == "0^+" else self(target)
        steps = (1e-4, 5e-5, 2.5e-5)
        places = [1 / h if goal == np.inf else goal + h for h in steps]
        a, b, c = self.values([{variable.text: at} for at in places], body)
        return (8 * c - 6 * b + a) / 3

    def visit_integral(
        self, node: Node, low: Any, high: Any, body: Node, variable: Node
    ) -> Value:
        def value(x: Value) -> Value:
            return self.where({variable.text: x})(body)

        rule = self.find(f"d{variable}")
        if rule is not None:
            if low is not None and high is not None:
                self.check_limits(*rule, *map(self, (low, high)))
            return sum(w * value(x) for x, w in zip(*rule, strict=True))
        if low is None or high is None:
            raise ValueError(f"d{variable} is not bound to (nodes, weights)")
        ends = outward(self(low)), outward(self(high))
        fine = {"limit": 200, "epsabs": 1e-9, "epsrel": 1e-9}
        area, _ = integrate.quad(lambda x: outward(value(x)), *ends, **fine)
        return inward(area)

    def check_limits(
        self, nodes: Value, weights: Value, low: Value, high: Value
    ) -> None:
        """The rule that a world gives is one for the printed limits."""
        low, high = outward(low), outward(high)
        length, total = high - low, sum(weights)
        inside = low <= min(nodes) and max(nodes) <= high
        both = length < np.inf or low == 0 or min(nodes) < 0 < max(nodes)
        whole = length == np.inf or abs(total - length) < 0.01 * length
        if not (inside and both and whole):
            raise ValueError(f"the nodes do not fill {low} to {high}")

    # derivatives

    def visit_derivative(self, node: Node, body: Node, below: Node) -> Value:
        """∂ body / ∂ variable, or with respect to its logarithm."""
        *logarithm, variable = below.each("product")
        if logarithm and logarithm[0].text not in (r"\ln", r"\log"):
            raise ValueError("with respect to what?")
        slope = self.slope(body, variable)
        return arrays.times(self(variable), slope) if logarithm else slope

    def visit_operator(self, node: Node, below: Node, body: Node) -> Value:
        return self.visit_derivative(node, body, below)

    def visit_gradient(self, node: Node, variable: Any, *body: Node) -> Value:
        r"""``\nabla J(\mathbf w)``, or of J itself with respect to w."""
        arguments = self.expanded(body[1].parts) if body[1:] else []
        if variable is None and len(arguments) == 1:
            (variable,) = arguments
        if variable is None or (arguments and variable not in arguments):
            raise ValueError(f"with respect to {variable or 'what'}?")
        return self.slope(product(body), variable)

    def slope(self, node: Node, variable: Node) -> Value:
        """Five-point differences, while the variable's entries move."""
        at, slopes = self(variable), []
        for place in np.ndindex(at.shape):
            step = np.zeros_like(at)
            step[place] = 1e-3 * max(1.0, abs(at[place]))
            points = [at + k * step for k in (-2, -1, 1, 2)]
            moved = [self.moved(variable, point) for point in points]
            a, b, c, d = self.values(moved, node)
            slopes.append((8 * (c - b) - (d - a)) / (12 * step[place]))
        one = arrays.is_number(at)
        return slopes[0] if one else np.reshape(slopes, at.shape)

    def moved(self, variable: Node, value: Value) -> dict[str, Value]:
        """The scope in which a symbol, or one entry of it, has a new value."""
        base, *sub = variable.each("script")[:2]
        key = self.family(base.text)
        if not sub or variable.text in self.world or key is None:
            return {variable.text: outward(value)}
        whole = np.array(self.find(key), float)
        whole[tuple(i - 1 for i in self.indices(*sub))] = outward(value)
        return {key: whole}

    def visit_at(self, node: Node, body: Node, where: Node) -> Value:
        r"""The value of ``body`` where ``\mathbf u = \mathbf 0``."""
        symbol, value = where.parts
        shape = np.shape(self.find(symbol.text))
        there = np.broadcast_to(outward(self(value)), shape)
        return self.where({symbol.text: there})(body)
