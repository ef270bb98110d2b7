r"""Spoil a formula in the ways formulas are misprinted.

Each mutant is the tree with one node changed, and a name that says what was
done.  ``\frac{1}{2}`` loses its half, ``+`` becomes ``-``, ``^\top`` and
``^{-1}`` vanish, an index moves on, an exponent grows, a scalar factor is
forgotten, and a symbol is taken for another of the same shape.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .arrays import inward, shape_of
from .bindings import From, Of, Sample, Value
from .checker import Equation
from .names import families
from .nodes import Disagreement, Node, number, product, script
from .notation import STANDARD, Notation

Mutants = Iterator[tuple[str, Node]]  # what was done, and the spoilt tree
FLIPPED = {"+": "-", "-": "+"}
DROPPED = {r"\top": "transpose", "-1": "inverse", r"-\top": "inverse"}


def judged(
    equation: Equation, worlds: Sequence[Mapping[str, Value]]
) -> dict[str, str]:
    """Whether "value" or "shape" gave each mutant away, or it "survived"."""
    found = mutants(equation.tree, worlds[0], equation.notation)
    return {name: _fate(equation, tree, worlds) for name, tree in found}


def _fate(equation: Equation, tree: Node, worlds: Sequence[Any]) -> str:
    """An index that was moved on first runs round at the end.

    So it is rejected for its value if it can be; at last it may fall off.
    """
    wrapped = [{**world, "@wrap": True} for world in worlds]
    for world in (*wrapped, *worlds):
        try:
            equation.check(world, tree)
        except Disagreement:
            return "value"
        except Exception:  # shapes, domains, a function of other arity
            return "shape"
    return "survived"


def mutants(
    tree: Node, world: Mapping[str, Value], notation: Notation = STANDARD
) -> Mutants:
    """Pairs of a name and a spoilt tree, each once."""
    seen, names = {tree.text}, Counter[str]()
    for name, spoilt in Spoiler(tree, notation.keyed(world)).everywhere(tree):
        if spoilt.text not in seen:
            seen.add(spoilt.text)
            names[name] += 1
            again = f" ({names[name]})" if names[name] > 1 else ""
            yield name + again, spoilt


class Spoiler:
    """Which changes apply to one node, in the light of what is bound."""

    def __init__(self, tree: Node, world: Mapping[str, Value]) -> None:
        self.shapes = {key: shape(value) for key, value in world.items()}
        nodes = [n for n in tree.walk() if n.kind in ("symbol", "script")]
        for node in nodes:
            if node.kind == "script" and node.parts[1]:
                self.add_family(node.parts[0].text)
        self.symbols = sorted({n.text for n in nodes} & {*self.shapes})

    def add_family(self, name: str) -> None:
        """The a of a_n, where only the vector is bound."""
        for key in families(name):
            if name not in self.shapes and key in self.shapes:
                self.shapes[name] = "entries of", self.shapes[key]

    def everywhere(self, node: Node) -> Mutants:
        """Mutants of a node and of everything below it."""
        for kind, changed in self.changes(node):
            yield f"{kind}: {node} → {changed}", changed
        for i, part in enumerate(node.parts):
            if part and not self.is_fixed(node, i):
                for name, changed in self.everywhere(part):
                    yield name, node.but(i, changed)

    def is_fixed(self, parent: Node, i: int) -> bool:
        """What is not spoilt: the x of dx, and parts of a bound name."""
        if parent.kind == "script" and i < 2:
            return self.is_bound_name(parent)
        return parent.kind == "integral" and i == 3

    def is_bound_name(self, node: Node) -> bool:
        base, sub, _ = node.parts
        return bool(sub) and script(base, sub, None).text in self.shapes

    def is_scalar(self, node: Node) -> bool:
        if node.kind == "script" and node.text not in self.shapes:
            base, sub, _ = node.parts
            match self.shapes.get(base.text):
                case "entries of", (_, columns) if sub:
                    return bool(columns == 1)
            node = script(base, sub, None)
        return self.shapes.get(node.text) in ("number", "whole")

    def changes(self, node: Node) -> Mutants:
        match node.kind, node.parts:
            case "infix", (a, b) if node.words[0] in FLIPPED:
                yield "sign", Node("infix", (a, FLIPPED[node.words[0]], b))
            case "prefix", (a,) if node.words == ("-",):
                yield "sign", a
            case "frac", (above, below):
                if below == number(2):
                    yield "half", above
                if self.is_scalar(below):
                    yield "factor", above
                if self.is_scalar(above):
                    yield "factor", node.but(0, number(1))
            case "product", factors:
                for i, factor in enumerate(factors):
                    rest = product([*factors[:i], *factors[i + 1 :]])
                    if factor.kind == "number":
                        yield "half", rest
                    if self.is_scalar(factor):
                        yield "factor", rest
            case "script", (base, sub, sup):
                yield from self.other_scripts(node, base, sub, sup)
            case "big", (sub, sup, _) if sup:  # starts late or ends early
                if sub.kind == "relation":
                    yield "index", node.but(0, sub.but(1, more(sub.parts[1])))
                if sup.text != r"\infty":
                    early = Node("infix", (sup, "-", number(1)))
                    yield "index", node.but(1, early)
        if node.kind in ("symbol", "script") and node.text in self.symbols:
            yield from self.swap(node)

    def other_scripts(
        self, node: Node, base: Node, sub: Node | None, sup: Node | None
    ) -> Mutants:
        if sup and sup.text in DROPPED:
            yield DROPPED[sup.text], script(base, sub, None)
        elif sup and not sup.is_mark and node.text not in self.shapes:
            yield "exponent", node.but(2, more(sup))
        named = base.text == r"\mathbb E"  # says over what, not which
        if sub and not named and not self.is_bound_name(node):
            pair = sub.kind == "product"
            indices = sub.each("product" if pair else "list")
            for i, index in enumerate(indices):
                if index.kind in ("symbol", "number"):
                    moved = [*indices[:i], more(index), *indices[i + 1 :]]
                    yield "index", node.but(1, comma_separated(moved))

    def swap(self, node: Node) -> Mutants:
        """Take a symbol for the next one of its shape."""
        shape = self.shapes[node.text]
        alike = [s for s in self.symbols if self.shapes[s] == shape]
        other = alike[(alike.index(node.text) + 1) % len(alike)]
        if other != node.text:
            yield "symbol", Node("symbol", (other,), node.column)


def comma_separated(items: Sequence[Node]) -> Node:
    first, *rest = items
    pairs = [part for item in rest for part in (",", item)]
    return Node("list", (first, *pairs)) if rest else first


def more(node: Node) -> Node:
    if node.kind == "number" and node.text.isdigit():
        return number(int(node.text) + 1)
    return Node("infix", (node, "+", number(1)), node.column)


def shape(value: Value) -> Any:
    """What kind of thing a key is bound to."""
    if isinstance(value, range | From | Of | dict | list):
        return type(value).__name__ + str(id(value))
    if isinstance(value, Sample):
        return "sample", value.draws.shape
    if callable(value):
        return "function"
    if isinstance(value, int):
        return "whole"
    if isinstance(value, float | np.number | np.ndarray):
        rows, columns = shape_of(inward(np.asarray(value)))
        return (rows, columns) if rows * columns > 1 else "number"
    return type(value).__name__
