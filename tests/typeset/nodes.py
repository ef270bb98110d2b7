"""A formula as a tree, and the one canonical way of writing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

# Superscripts that belong to the name, as in p^*.
MARKS = {"*", "+", "-", r"\star", r"\dagger", r"\parallel", r"\perp"}
OPTIMUM = re.compile(r"(\\arg)?\\(min|max|inf|sup)$")
NEEDLESS = re.compile(  # the spaces after ( and ^, before ) and _, in f (x), …
    r"(?<=[({\[_^/])\s|\s(?=\\?\}|[{)\],!_^])|(?<=[\w}'])\s(?=[(\[])"
    r"|(?<=[({]-)\s|(?<=^-)\s"
)


class FormulaError(Exception):
    """A formula that does not parse or cannot be evaluated."""


class Disagreement(AssertionError):  # noqa: N818
    """The formula was evaluated and does not hold."""


@dataclass(frozen=True)
class Node:
    """What it is, and in written order the words and nodes it is made of.

    A script or limit that is not there is None among the nodes.
    """

    kind: str
    items: tuple[Any, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(item for item in self.items if isinstance(item, str))

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        return tuple(item for item in self.items if not isinstance(item, str))

    @cached_property
    def text(self) -> str:
        """The canonical LaTeX: the name of a symbol, and for messages."""
        written = " ".join(str(item) for item in self.items if item)
        tight = NEEDLESS.sub("", written)
        return re.sub(r"([_^])\{(\w|\\top|[*+])\}", r"\1\2", tight)

    def __str__(self) -> str:
        return self.text

    def walk(self) -> Iterator[Node]:
        yield self
        for part in filter(None, self.parts):
            yield from part.walk()

    def made_of(self, parts: Sequence[Node | None]) -> Node:
        """The same words round other parts."""
        left = iter(parts)
        items = (i if isinstance(i, str) else next(left) for i in self.items)
        return replace(self, items=tuple(items))

    def but(self, place: int, part: Node) -> Node:
        parts = (*self.parts[:place], part, *self.parts[place + 1 :])
        return self.made_of(parts)

    def each(self, kind: str) -> tuple[Node, ...]:
        """The factors of a "product", the clauses of a "list", or itself."""
        return self.parts if self.kind == kind else (self,)

    @cached_property
    def unraised(self) -> Node:
        """The same without its superscript."""
        base, sub, *_ = *self.each("script"), None
        return script(base, sub, None)

    @property
    def unwrapped(self) -> Node:
        """The same without parentheses round it."""
        alone = self.kind == "group" and len(self.parts) == 1
        return self.parts[0].unwrapped if alone else self

    @property
    def is_optimum(self) -> bool:
        return self.kind == "big" and bool(OPTIMUM.match(self.words[0]))

    @property
    def heading(self) -> str:
        """What stands before the body of a sum or minimum."""
        return self.text.removesuffix(self.parts[2].text).strip()

    @cached_property
    def bound(self) -> list[str]:
        r"""The symbols it binds, if it stands below a sum or minimum.

        ``m \ne n`` binds m, ``1 \le i < j \le N`` i and j, ``t_n = 1`` n.
        """
        names = []
        for clause in self.each("list"):
            sides = clause.each("relation")
            for side in sides[1:-1] or sides[:1]:
                *_, last = filter(None, side.each("script")[:2])
                names += [last.text] if last.kind == "symbol" else []
        return names

    @cached_property
    def free(self) -> set[str]:
        """Names of symbols that no sum or minimum binds."""
        parts, bound = self.parts, []
        if (self.kind == "big" and parts[0]) or self.kind == "domain":
            bound = parts[0].bound
        elif self.kind == "group" and ":" in self.words:
            parts = parts[:1]  # of {w : g_i(w) ≤ 0}, which is for every i
        found = {self.text} if self.kind in ("symbol", "script") else set()
        return found.union(*(p.free for p in parts if p)) - {*bound}


def number(value: int) -> Node:
    return Node("number", (str(value),))


def product(items: Sequence[Node]) -> Node:
    return items[0] if len(items) == 1 else Node("product", (*items,))


def script(base: Node, sub: Node | None, sup: Node | None) -> Node:
    below = ("_", "{", sub, "}") if sub else (None,)
    above = ("^", "{", sup, "}") if sup else (None,)
    bare = sub is sup is None
    return base if bare else Node("script", (base, *below, *above))


def varied(a: Node, b: Node, change: Callable[[Node, Node], Node]) -> Node:
    """The first tree, changed at the places where it differs from the other.

    ``change`` is called with both nodes, as deep in the trees as can be.
    """
    if a == b:
        return a
    one, other = ((n.kind, n.words, len(n.parts)) for n in (a, b))
    if not a.parts or one != other:
        return change(a, b)
    both = zip(a.parts, b.parts, strict=True)
    return a.made_of([x and varied(x, y, change) for x, y in both])
