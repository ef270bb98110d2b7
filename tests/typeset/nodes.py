"""A formula as a tree, and the one canonical way of writing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

MARKS = {"*", "+", "-", r"\star", r"\dagger", r"\parallel", r"\perp"}
OPTIMUM = re.compile(r"(\\arg)?\\(min|max|inf|sup)$")
NEEDLESS = re.compile(  # the spaces after ( and ^, before ) and _, in f (x), …
    r"(?<=[({\[_^/])\s|\s(?=\\?\}|[{)\],!_^])|(?<=[\w}'])\s(?=[(\[])"
    r"|(?<=[({]-)\s|(?<=^-)\s"
)


class FormulaError(Exception):
    """A formula that does not parse or cannot be evaluated, and where."""

    def __init__(self, reason: str, column: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.column = reason, column


class Disagreement(AssertionError):  # noqa: N818
    """The formula was evaluated and does not hold."""


@dataclass(frozen=True)
class Node:
    """What it is, and in written order the words and nodes it is made of.

    A script or limit that is not there is None among the nodes.
    """

    kind: str
    items: tuple[Any, ...]
    column: int | None = field(default=None, compare=False)

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

    @property
    def is_mark(self) -> bool:
        """Whether a superscript belongs to the name, as in p^*."""
        return self.kind == "symbol" and self.text in MARKS

    @property
    def is_optimum(self) -> bool:
        return self.kind == "big" and bool(OPTIMUM.match(self.words[0]))

    @property
    def heading(self) -> str:
        """What stands before the body of a sum or minimum."""
        return self.text.removesuffix(self.parts[2].text).strip()

    @property
    def bracket(self) -> tuple[Any, ...] | None:
        """A bracket to apply a function to, and the scripts on it."""
        if self.kind == "script" and self.parts[0].kind == "group":
            return self.parts
        return (self, None, None) if self.kind == "group" else None

    def each(self, kind: str) -> tuple[Node, ...]:
        """The factors of a "product", the clauses of a "list", or itself."""
        return self.parts if self.kind == kind else (self,)

    def bound(self) -> list[str]:
        r"""The symbols it binds, if it stands below a sum or minimum.

        ``m \ne n`` binds m, ``1 \le i < j \le N`` i and j, ``t_n = 1`` n.
        """
        names = []
        for clause in self.each("list"):
            sides = clause.parts if clause.kind == "relation" else (clause,)
            for side in sides[1:-1] or sides[:1]:
                if side.kind == "script":
                    side = side.parts[1] or side.parts[0]
                if side.kind == "symbol":
                    names.append(side.text)
        return names

    def free(self) -> set[str]:
        """Names of symbols that no sum, minimum or integral binds."""
        parts, bound = self.parts, []
        if self.kind == "big" and parts[0]:
            bound = parts[0].bound()
        elif self.kind == "integral":
            bound = [parts[-1].text]
        elif self.kind == "group" and ":" in self.words:
            parts = parts[:1]  # of {w : g_i(w) ≤ 0}, which is for every i
        found = {self.text} if self.kind in ("symbol", "script") else set()
        return found.union(*(p.free() for p in parts if p)) - {*bound}


def number(value: int) -> Node:
    return Node("number", (str(value),))


def product(items: Sequence[Node]) -> Node:
    if len(items) == 1:
        return items[0]
    return Node("product", tuple(items), items[0].column)


def scripts(sub: Node | None, sup: Node | None) -> tuple[Any, ...]:
    below = ("_", "{", sub, "}") if sub else (None,)
    return (*below, "^", "{", sup, "}") if sup else (*below, None)


def script(base: Node, sub: Node | None, sup: Node | None) -> Node:
    if sub is sup is None:
        return base
    return Node("script", (base, *scripts(sub, sup)), base.column)


def varied(a: Node, b: Node, change: Callable[[Node, Node], Node]) -> Node:
    """The first tree, changed at the places where it differs from the other.

    ``change`` is called with both nodes, as deep in the trees as can be.
    """
    if a == b:
        return a
    shapes = [(n.kind, n.words, len(n.parts)) for n in (a, b)]
    if not a.parts or shapes[0] != shapes[1]:
        return change(a, b)
    both = zip(a.parts, b.parts, strict=True)
    return a.made_of([x and varied(x, y, change) for x, y in both])


def apart(items: Sequence[Node]) -> tuple[list[Node], list[list[Node]]]:
    r"""Conditions, and the ``i = 1, \dots, I`` that say for which i.

    Of these the symbol and its values, the dots among them.
    """
    kept: list[Node] = []
    domains: list[list[Node]] = []
    for item in items:
        inside = apart(item.parts) if item.kind == "group" else ([item], [])
        if not inside[0]:  # the same in parentheses
            domains += inside[1]
            continue
        kept.append(item)
        starts = [i for i, k in enumerate(kept) if k.words == ("=",)]
        if starts and [i.kind for i in kept[-2:-1]] == ["dots"]:
            place = starts[-1]
            domains.append([*kept[place].parts, *kept[place + 1 :]])
            del kept[place:]
    return kept, domains
