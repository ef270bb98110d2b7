r"""Spoil a formula in the ways formulas are misprinted.

Each mutant is the tree with one node changed, and a name that says what was
done.  ``\frac{1}{2}`` loses its half, ``+`` becomes ``-``, ``^\top`` and
``^{-1}`` vanish, an index moves on, an exponent grows, a scalar factor is
forgotten, and a symbol is taken for another of the same shape; a number or a
bound is one off, a term or a condition is left out, ``\le`` becomes ``\ge``
and ``\sum`` becomes ``\prod``.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .arrays import inward, is_numeric
from .bindings import From, Law, Normal, Of, Sample, Value, World
from .checker import SUBJECT_TO, Equation
from .evaluate import families
from .nodes import MARKS, Disagreement, Node, number, product
from .notation import STANDARD, Notation

Mutants = Iterator[tuple[str, Node]]  # what was done, and the spoilt tree
FLIPPED = {"+": "-", "-": "+"}
TURNED = {r"\le": r"\ge", "<": ">", r"\sum": r"\prod"}
TURNED |= {new: old for old, new in TURNED.items()} | {r"\ne": "="}
DROPPED = {r"\top": "transpose", "-1": "inverse", r"-\top": "inverse"}


def judged(equation: Equation, worlds: Sequence[World]) -> dict[str, str]:
    """Whether "value" or "shape" gave each mutant away, or it "survived".

    It is "unbound" if the world does not know what it says.
    An index that was moved on first runs round at the end, so that it is
    rejected for its value if it can be; at last it may fall off.
    """
    wrapped = [{**world, "@wrap": True} for world in worlds]

    def fate(tree: Node) -> str:
        for world in (*wrapped, *worlds):
            try:
                equation.check(world, tree)
            except Disagreement:
                return "value"
            except Exception as error:  # shapes, domains, another arity
                return "unbound" if "not bound" in str(error) else "shape"
        return "survived"

    about = equation.tree, worlds[0], equation.notation
    found = [*mutants(*about)] or [*mutants(*about, wide=True)]
    return {name: fate(tree) for name, tree in found}


def ignored(equation: Equation, worlds: Sequence[World]) -> list[str]:
    """Arguments on which nothing depends that a bound function returns."""
    used: dict[str, bool] = {}

    def spied(key: str, function: Any) -> Any:
        def spy(*arguments: Value) -> Value:
            value = function(*arguments)
            for place in range(len(arguments)):
                name = f"argument: {key}, number {place + 1}"
                if not used.get(name):
                    used[name] = matters(function, arguments, place, value)
            return value

        return spy

    for world in worlds:
        plain = {
            key: spied(key, value)
            for key, value in world.items()
            if callable(value) and not isinstance(value, Law | Sample | Normal)
        }
        equation.check({**world, **plain})
    return [name for name, matter in used.items() if not matter]


def matters(
    function: Any, arguments: tuple[Value, ...], place: int, value: Value
) -> bool:
    """Whether some other argument gives another value, or is refused."""
    if not (
        is_numeric(inward(value)) and is_numeric(inward(arguments[place]))
    ):
        return True
    for step in (1, -0.37, 2.9, -4):
        moved = [*arguments]
        moved[place] = moved[place] + step
        try:
            if not np.array_equal(function(*moved), value):
                return True
        except Exception:
            return True
    return False


def mutants(
    tree: Node, world: World, notation: Notation = STANDARD, wide: bool = False
) -> Mutants:
    """Pairs of a name and a spoilt tree, each once.

    A symbol is taken for another of the formula, and scalar factors are lost;
    ``wide``, for another of the world, and any factors are.
    """
    seen, names = {tree.text}, Counter[str]()
    spoiler = Spoiler(tree, notation.keyed(world), wide)
    for name, spoilt in spoiler.everywhere(tree):
        if spoilt.text not in seen:
            seen.add(spoilt.text)
            names[name] += 1
            again = f" ({names[name]})" if names[name] > 1 else ""
            yield name + again, spoilt


class Spoiler:
    """Which changes apply to one node, in the light of what is bound."""

    def __init__(self, tree: Node, world: World, wide: bool = False) -> None:
        self.wide = wide
        self.shapes = {key: shape(value) for key, value in world.items()}
        nodes = [n for n in tree.walk() if n.kind in ("symbol", "script")]
        for node in nodes:  # the a of a_n, where only the vector is bound
            name = node.parts[0].text if any(node.parts[1:2]) else ""
            for key in families(name):
                if name not in self.shapes and key in self.shapes:
                    self.shapes[name] = "entries of", self.shapes[key]
        self.symbols = sorted({n.text for n in nodes} & {*self.shapes})
        others = {k for k in self.shapes if k[-1] not in "_^" and k[0] != "@"}
        self.others = sorted(
            {*self.symbols} | others if wide else {*self.symbols}
        )

    def everywhere(self, node: Node) -> Mutants:
        """Mutants of a node and of everything below it.

        What is not spoilt: the x of dx, and parts of a bound name.
        """
        for kind, changed in self.changes(node):
            yield f"{kind}: {node} → {changed}", changed
        named = node.kind == "script" and self.is_bound_name(node)
        fixed = (0, 1) if named else (3,) if node.kind == "integral" else ()
        for i, part in enumerate(node.parts):
            if part and i not in fixed:
                for name, changed in self.everywhere(part):
                    yield name, node.but(i, changed)

    def is_bound_name(self, node: Node) -> bool:
        return bool(node.parts[1]) and node.unraised.text in self.shapes

    def is_scalar(self, node: Node) -> bool:
        if node.kind == "script" and node.text not in self.shapes:
            base, sub, _ = node.parts
            match self.shapes.get(base.text):
                case "entries of", (1, 1, _, columns) if sub:
                    return bool(columns == 1)
            node = node.unraised
        return self.shapes.get(node.text) in ("number", "whole")

    def changes(self, node: Node) -> Mutants:
        match node.kind, node.parts:
            case "infix", (a, b) if node.words[0] in FLIPPED:
                other = FLIPPED[sign := node.words[0]]
                yield "sign", Node("infix", (a, other, b))
                yield "term", a
                yield "term", b if sign == "+" else Node("prefix", ("-", b))
            case "prefix", (a,) if node.words == ("-",):
                yield "sign", a
            case "number", _:
                yield from (("constant", n) for n in near(node))
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
                    if self.is_scalar(factor) or self.wide:
                        yield "factor", rest
            case "script", (base, sub, sup):
                if sup and sup.text in DROPPED:
                    yield DROPPED[sup.text], node.unraised
                elif sup and not (
                    sup.text in MARKS or node.text in self.shapes
                ):
                    yield "exponent", node.but(2, more(sup))
                named = base.text == r"\mathbb E"  # says over what, not which
                if sub and not named and not self.is_bound_name(node):
                    yield from moved(node, sub)
            case "big", (sub, sup, _) if sup:  # starts late or ends early
                if sub.kind == "relation":
                    yield "index", node.but(0, sub.but(1, more(sub.parts[1])))
                if sup.text != r"\infty":
                    early = Node("infix", (sup, "-", number(1)))
                    yield "index", node.but(1, early)
                    yield "bound", node.but(1, more(sup))
        if node.kind in ("relation", "big"):
            for i, word in enumerate(node.items):
                if word in TURNED:
                    yield "turned", replaced(node, i, TURNED[word])
        if node.kind in ("formula", "group", "list"):
            yield from (("condition", less) for less in without(node))
        if node.kind in ("symbol", "script") and node.text in self.symbols:
            # it is taken for the next one of its shape
            shape = self.shapes[node.text]
            alike = [s for s in self.others if self.shapes[s] == shape]
            other = alike[(alike.index(node.text) + 1) % len(alike)]
            if other != node.text:
                yield "symbol", Node("symbol", (other,))


def moved(node: Node, sub: Node) -> Mutants:
    """A script with one of its indices moved on."""
    indices = sub.each("product" if sub.kind == "product" else "list")
    for i, index in enumerate(indices):
        if index.kind in ("symbol", "number"):
            new = [*indices[:i], more(index), *indices[i + 1 :]]
            items = [item for n in new for item in (",", n)][1:]
            one = new[0] if len(new) == 1 else Node("list", tuple(items))
            yield "index", node.but(1, one)


def without(node: Node) -> Iterator[Node]:
    """One condition less: of a sum, a set, or of what is subject to it."""
    words = {"list": "", "group": ":"}.get(node.kind, SUBJECT_TO)
    first = 0 if node.kind == "list" else len(node.items)
    for i, item in enumerate(node.items):
        if isinstance(item, str) and item in words:
            first = min(first, i)
        elif i > first and isinstance(item, Node) and item.kind == "relation":
            yield Node(node.kind, node.items[: i - 1] + node.items[i + 1 :])


def replaced(node: Node, place: int, word: str) -> Node:
    items = (*node.items[:place], word, *node.items[place + 1 :])
    return Node(node.kind, items)


def near(node: Node) -> Iterator[Node]:
    """One more, and for whole numbers one less."""
    value = float(node.text)
    yield Node("number", (f"{value + 1:g}",))
    if value.is_integer() and value > 0:
        yield number(int(value) - 1)


def more(node: Node) -> Node:
    if node.kind == "number" and node.text.isdigit():
        return number(int(node.text) + 1)
    return Node("infix", (node, "+", number(1)))


def shape(value: Value) -> Any:
    """What kind of thing a key is bound to; families are all different."""
    if isinstance(value, range | From | Of | dict | list):
        return id(value)
    if isinstance(value, int) or callable(value):
        return "whole" if isinstance(value, int) else "function"
    held = inward(value)
    if not is_numeric(held):
        return type(value)
    return "number" if held.size == 1 else held.shape
