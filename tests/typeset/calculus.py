"""What runs over many values: sums, optima, limits, integrals, derivatives."""

import itertools
import re
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy import integrate

from . import arrays
from .arrays import Misfit, whole
from .bindings import Value, several
from .names import Names, families
from .nodes import Disagreement, FormulaError, Node, apart, product

Scopes = list[dict[str, Value]]


class Calculus(Names):
    """Visits what must be evaluated again and again."""

    def values(self, scopes: Scopes, body: Node) -> list[Value]:
        return [self.within(scope, self, body) for scope in scopes]

    # sums and products

    def visit_big(self, node: Node, *parts: Any) -> Value:
        sub, sup, body = parts
        if sub is None:
            raise Misfit("over what?")
        if node.is_optimum:
            return self.optimum(node, sub, body)
        if node.words[0] == r"\lim":
            return self.limit(sub, body)
        key = "" if sub.kind == "symbol" else sub.text
        values = self.values(self.runs(sub, sup, key), body)
        if node.words[0] == r"\sum":
            return reduce(arrays.plus, values) if values else 0
        return reduce(arrays.times, values, 1)

    def runs(self, sub: Node, sup: Node | None, key: str) -> Scopes:
        """The assignments over which a sum, product or minimum runs."""
        if key in self.world:
            bound = map(self.notation.keyed, self.find(key))
            return self.admitted([*bound], sub.each("list"))
        if sup is not None:
            variable, low = sub.parts
            domain = range(whole(self(low)), whole(self(sup)) + 1)
            return [{variable.text: i} for i in domain]
        if sub.words == (r"\in",):
            variable, members = sub.parts
            return [{variable.text: member} for member in self(members)]
        names = sub.bound()
        choices = itertools.product(*(self.domain(n, sub) for n in names))
        scopes = [dict(zip(names, values, strict=True)) for values in choices]
        return self.admitted(scopes, sub.each("list"))

    def domain(self, name: str, node: Node) -> Any:
        domain = self.find(name)
        if not several(domain):
            reason = f"bind {name} to the values it runs over"
            raise FormulaError(reason, node.column)
        return domain

    def admitted(self, scopes: Scopes, conditions: Sequence[Node]) -> Scopes:
        for condition in conditions:
            if condition.kind == "relation":
                holds = self.values(scopes, condition)
                scopes = [s for s, h in zip(scopes, holds, strict=True) if h]
        return scopes

    def check_domain(self, variable: Node, *items: Node) -> None:
        r"""``j = 0, 1, \dots, M-1``: the symbol runs over just these."""
        domain = list(self.domain(variable.text, variable))
        wanted = [self(item) for item in self.expanded(items)]
        if domain != wanted:
            raise Disagreement(f"{variable} runs over {domain}, not {wanted}")

    # optima and limits

    def optimum(self, node: Node, sub: Node, body: Node) -> Value:
        r"""The best among candidates: ``\min_{w}`` is bound to a list."""
        head, conditions = node.heading, self.world.get("@subject to", [])
        scopes = self.runs(sub, None, head)
        if body.kind == "group" and ":" in body.words:
            inside, domains = apart(body.parts[1:])
            for domain in domains:
                self.check_domain(*domain)
            body, conditions = body.parts[0], [*conditions, *inside]
        scopes = self.admitted(scopes, conditions)
        if not scopes:
            raise Disagreement(f"no candidate satisfies {head}")
        free: dict[str, Value] = {
            "@subject to": []
        }  # an optimum inside is under none of them
        values = self.values([scope | free for scope in scopes], body)
        lowest = re.search("min|inf", node.words[0])
        best = int(np.argmin(values) if lowest else np.argmax(values))
        if not node.words[0].startswith(r"\arg"):
            return values[best]
        (found,) = scopes[best].values()
        return arrays.inward(found)

    def limit(self, sub: Node, body: Node) -> Value:
        """Extrapolated from three small steps."""
        variable, target = sub.parts
        goal = 0.0 if target.text == "0^+" else self(target)
        steps = (1e-4, 5e-5, 2.5e-5)
        places = [1 / h if goal == np.inf else goal + h for h in steps]
        a, b, c = self.values([{variable.text: at} for at in places], body)
        first, second = 2 * b - a, 2 * c - b
        return (4 * second - first) / 3

    def visit_integral(self, node: Node, *parts: Any) -> Value:
        low, high, body, variable = parts

        def value(x: Value) -> Value:
            return self.within({variable.text: x}, self, body)

        rule = self.find(f"d{variable}")
        if rule is not None:
            return sum(w * value(x) for x, w in zip(*rule, strict=True))
        if low is None or high is None:
            raise Misfit(f"d{variable} is not bound to (nodes, weights)")
        accuracy = {"limit": 200, "epsabs": 1e-9, "epsrel": 1e-9}
        return integrate.quad(value, self(low), self(high), **accuracy)[0]

    # derivatives

    def visit_derivative(self, node: Node, body: Node, below: Node) -> Value:
        """∂ body / ∂ variable, or with respect to its logarithm."""
        *logarithm, variable = below.each("product")
        if logarithm and logarithm[0].text not in (r"\ln", r"\log"):
            raise Misfit("with respect to what?")
        slope = self.slope(body, variable)
        return arrays.times(self(variable), slope) if logarithm else slope

    def visit_operator(self, node: Node, below: Node, body: Node) -> Value:
        return self.visit_derivative(node, body, below)

    def visit_gradient(self, node: Node, *parts: Any) -> Value:
        r"""``\nabla J(\mathbf w)``, or of J itself with respect to w."""
        variable, _, *body = parts
        arguments = self.expanded(body[1].parts) if body[1:] else []
        if variable is None and len(arguments) == 1:
            (variable,) = arguments
        if variable is None or (arguments and variable not in arguments):
            raise Misfit(f"with respect to {variable or 'what'}?")
        return self.slope(product(body), variable)

    def slope(self, node: Node, variable: Node) -> Value:
        """How a value changes when the world's ``variable`` is moved."""

        def at(moved: Value) -> Value:
            value = self.within(self.moved(variable, moved), self, node)
            arrays.check_numeric(value)
            return value

        return derivative(at, self(variable))

    def moved(self, variable: Node, value: Value) -> dict[str, Value]:
        """The scope in which a symbol, or one entry of it, has a new value."""
        if variable.kind == "script" and variable.text not in self.world:
            base, sub, _ = variable.parts
            for key in families(base.text):
                if key in self.world:
                    whole = np.array(self.find(key), float)
                    whole[tuple(i - 1 for i in self.indices(sub))] = value
                    return {key: whole}
        return {variable.text: arrays.outward(value)}

    def visit_at(self, node: Node, body: Node, where: Node) -> Value:
        r"""The value of ``body`` where ``\mathbf u = \mathbf 0``."""
        symbol, value = where.parts[0].parts
        shape = np.shape(self.find(symbol.text))
        there = np.broadcast_to(arrays.outward(self(value)), shape)
        return self.within({symbol.text: there}, self, body)


def derivative(function: Callable[[Value], Value], at: Value) -> Value:
    """Five-point differences, entry by entry."""
    at = np.asarray(at, float)
    slopes = []
    for place in np.ndindex(at.shape):
        step = 1e-3 * max(1.0, abs(at[place]))
        values = []
        for k in (-2, -1, 1, 2):
            moved = at.copy()
            moved[place] += k * step
            values.append(function(moved if at.ndim else moved.item()))
        a, b, c, d = values
        slopes.append((8 * (c - b) - (d - a)) / (12 * step))
    return np.reshape(slopes, at.shape) if at.ndim else slopes[0]
