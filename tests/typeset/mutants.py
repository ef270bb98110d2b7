r"""Spoil a formula in the ways formulas are misprinted.

Each mutant is the tree with one node changed, and a name that says what was
done.  ``\frac{1}{2}`` loses its half, ``+`` becomes ``-``, ``^\top`` and
``^{-1}`` vanish, an index moves on, an exponent grows, a scalar factor is
forgotten, and a symbol is taken for another of the same shape.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml
from typeset.book import SEEDS
from typeset.evaluate import keyed
from typeset.latex import Node, product, text
from typeset.trees import families, is_mark
from typeset.values import (
    Disagreement,
    From,
    Of,
    Sample,
    inward,
    shape_of,
)

ONE = Node("number", ("1",))
DATA = Path(__file__).with_name("survivors")


@dataclass(frozen=True)
class Verdict:
    """What became of the mutants of one equation."""

    by_value: tuple
    by_shape: tuple
    survivors: tuple


@cache
def judged(equation):
    """Try every mutant until a world rejects it.

    An index that was moved on first runs round at the end, so that it is
    rejected for its value if it can be; at last it may fall off the end.
    """
    worlds = [w for seed in SEEDS for w in equation.worlds(seed)]
    found = {"value": [], "shape": [], "survived": []}
    for name, tree in mutants(equation.tree, keyed(worlds[0])):
        found[_fate(equation, tree, worlds)].append(name)
    return Verdict(*map(tuple, found.values()))


def _fate(equation, tree, worlds):
    for wrap in (True, False):
        for world in worlds:
            try:
                equation.check_in(world, tree=tree, wrap=wrap)
            except Disagreement:
                return "value"
            except Exception:  # shapes, domains, a function of other arity
                return "shape"
    return "survived"


def explained():
    """Why a mutant survives, by label and mutant.

    ``equivalent`` if it says the same thing in other words, ``weak`` if it
    is another formula and this check cannot tell.
    """
    reasons = {}
    for path in sorted(DATA.glob("*.yml")):
        reasons |= yaml.safe_load(path.read_text("utf-8")) or {}
    return reasons


def mutants(tree, world):
    """Pairs of a name and a spoilt tree, each once."""
    seen, names = {text(tree)}, Counter()
    for name, spoilt in _everywhere(tree, _Kinds(tree, world)):
        written = text(spoilt)
        if written not in seen:
            seen.add(written)
            names[name] += 1
            again = f" ({names[name]})" if names[name] > 1 else ""
            yield name + again, spoilt


def _everywhere(node, kinds):
    """Mutants of a node and of everything below it."""
    for kind, changed in kinds.of(node):
        yield f"{kind}: {text(node)} → {text(changed)}", changed
    for i, part in enumerate(node.parts):
        for name, changed in _inside(part, kinds, node, i):
            parts = (*node.parts[:i], changed, *node.parts[i + 1 :])
            yield name, Node(node.kind, parts, node.column)


def _inside(part, kinds, parent, i):
    if isinstance(part, Node):
        if not kinds.fixed(parent, i):
            yield from _everywhere(part, kinds)
    elif isinstance(part, tuple):
        for j, inner in enumerate(part):
            for name, changed in _inside(inner, kinds, parent, i):
                yield name, (*part[:j], changed, *part[j + 1 :])


class _Kinds:
    """Which changes apply to one node."""

    def __init__(self, tree, world):
        self.shapes = shapes_of(world)
        for node in _walk(tree):
            base = node.parts[0] if node.kind == "script" else None
            if node.kind == "script" and node.parts[1] is not None:
                self.add_family(base)
        self.symbols = sorted(
            text(n)
            for n in set(_walk(tree))
            if n.kind in ("symbol", "script") and text(n) in self.shapes
        )

    def add_family(self, base):
        """The a of a_n, where only the vector is bound."""
        name = text(base)
        if base.kind == "symbol" and name not in self.shapes:
            key = next((k for k in families(name) if k in self.shapes), None)
            if key is not None:
                self.shapes[name] = "entries of", self.shapes[key]

    def fixed(self, parent, i):
        """What is not spoilt: the x of dx, and parts of a bound name."""
        if parent.kind == "script" and i < 2:
            return self.is_bound_name(parent)
        return parent.kind == "integral" and i == 3

    def is_bound_name(self, node):
        base, sub, _ = node.parts
        if sub is None:
            return False
        return text(Node("script", (base, sub, None))) in self.shapes

    def of(self, node):
        for make in (
            self.sign,
            self.half,
            self.script,
            self.bounds,
            self.scalar,
            self.swap,
        ):
            yield from make(node)

    def sign(self, node):
        flip = {"add": "sub", "sub": "add"}
        if node.kind in flip:
            yield "sign", Node(flip[node.kind], node.parts, node.column)
        if node.kind == "neg":
            yield "sign", node.parts[0]

    def half(self, node):
        """Drop the 2 below, or the 2 in front."""
        if node.kind == "frac" and node.parts[1] == Node("number", ("2",)):
            yield "half", node.parts[0]
        elif node.kind == "product":
            for i, factor in enumerate(node.parts):
                if factor.kind == "number":
                    rest = (*node.parts[:i], *node.parts[i + 1 :])
                    yield "half", product(rest, node.column)

    def script(self, node):
        if node.kind != "script":
            return
        base, sub, sup = node.parts
        if sup is not None:
            bare = base if sub is None else Node("script", (base, sub, None))
            mark = text(sup)
            if mark == r"\top":
                yield "transpose", bare
            elif mark in ("-1", r"-\top"):
                yield "inverse", bare
            elif not is_mark(sup) and text(node) not in self.shapes:
                yield (
                    "exponent",
                    Node("script", (base, sub, _more(sup)), node.column),
                )
        named = text(base) == r"\mathbb E"  # says over what, not which
        if sub is not None and not named and not self.is_bound_name(node):
            indices = sub.parts if sub.kind in ("product", "list") else (sub,)
            for i, index in enumerate(indices):
                if index.kind in ("symbol", "number"):
                    moved = (*indices[:i], _more(index), *indices[i + 1 :])
                    changed = (
                        Node("list", moved) if len(moved) > 1 else moved[0]
                    )
                    yield (
                        "index",
                        Node("script", (base, changed, sup), node.column),
                    )

    def bounds(self, node):
        """A sum that starts one late or ends one early."""
        if node.kind != "big" or node.parts[2] is None:
            return
        name, sub, sup, body = node.parts
        if sub.kind == "relation":
            ops, (variable, low) = sub.parts
            late = Node("relation", (ops, (variable, _more(low))))
            yield "index", Node("big", (name, late, sup, body), node.column)
        if text(sup) != r"\infty":
            early = Node("sub", (sup, ONE))
            yield "index", Node("big", (name, sub, early, body), node.column)

    def scalar(self, node):
        """Forget a scalar factor: λ, β, C, 1/N."""
        if node.kind == "frac":
            above, below = node.parts
            if self.is_scalar(below):
                yield "factor", above
            if self.is_scalar(above):
                yield "factor", Node("frac", (ONE, below), node.column)
        if node.kind != "product":
            return
        for i, factor in enumerate(node.parts):
            if self.is_scalar(factor):
                rest = (*node.parts[:i], *node.parts[i + 1 :])
                yield "factor", product(rest, node.column)

    def is_scalar(self, node):
        if node.kind == "script" and text(node) not in self.shapes:
            base, sub, _ = node.parts
            if sub is not None:
                node = Node("script", (base, sub, None))
                shape = self.shapes.get(text(base), " ")
                if shape[0] == "entries of" and len(shape[1]) == 2:
                    return shape[1][1] == 1
            else:
                node = base
        return self.shapes.get(text(node)) in ("number", "whole")

    def swap(self, node):
        """Take a symbol for the next one of its shape."""
        name = text(node)
        if name not in self.symbols or node.kind not in ("symbol", "script"):
            return
        shape = self.shapes[name]
        alike = [s for s in self.symbols if self.shapes[s] == shape]
        other = alike[(alike.index(name) + 1) % len(alike)]
        if other != name:
            yield "symbol", Node("symbol", (other,), node.column)


def _more(node):
    if node.kind == "number" and node.parts[0].isdigit():
        return Node("number", (str(int(node.parts[0]) + 1),), node.column)
    return Node("add", (node, ONE), node.column)


def _walk(node):
    yield node
    for part in node.parts:
        for inner in part if isinstance(part, tuple) else (part,):
            if isinstance(inner, Node):
                yield from _walk(inner)


def shapes_of(world):
    """What kind of thing each key is bound to."""
    return {key: _shape(value) for key, value in world.items()}


def _shape(value):
    if isinstance(value, range | From | Of | dict | list):
        return type(value).__name__ + str(id(value))
    if isinstance(value, Sample):
        return "sample", value.draws.shape
    if isinstance(value, Callable):
        return "function"
    if isinstance(value, int):
        return "whole"
    if isinstance(value, float | np.number | np.ndarray):
        shape = shape_of(inward(np.asarray(value)))
        return "number" if shape == (1, 1) else shape
    return type(value).__name__
