"""What a symbol, an index or a row of dots stands for in a world."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from . import arrays
from .arrays import Misfit
from .bindings import From, Of, Value, several
from .nodes import FormulaError, Node, number, script, varied
from .notation import Notation, expression


def families(name: str) -> list[str]:
    """Under which keys a family may be bound, the first that is counts."""
    space = "" if name.startswith("\\") else " "
    bold = [rf"\mathbf{space}{name}", rf"\boldsymbol{space}{name}"]
    fonts = (r"\mathbf", r"\boldsymbol", r"\mathcal")
    return [name + "_", name, *([] if name.startswith(fonts) else bold)]


class Names:
    """Looks names up, and hands each kind of node to its visitor."""

    def __init__(self, world: Mapping[str, Value], notation: Notation) -> None:
        self.notation = notation
        self.world = notation.keyed(world)

    def __call__(self, node: Node) -> Value:
        """The value of a node: what it is bound to, or made of."""
        try:
            if node.text in self.world and node.kind != "group":
                return self.bound(node.text)
            visit = getattr(self, "visit_" + node.kind, self.visit_other)
            return visit(node, *node.parts)
        except Misfit as error:
            raise FormulaError(f"{error} in {node}", node.column) from None

    def find(self, key: str) -> Value:
        value = self.world.get(key)
        if isinstance(value, Of):
            trees = (expression(self.notation, name) for name in value.names)
            return value.function(*(arrays.outward(self(t)) for t in trees))
        return value

    def bound(self, key: str) -> Value:
        value = self.find(key)
        if several(value):
            raise Misfit("there is no single value")
        return arrays.inward(value)

    def within(
        self, scope: dict[str, Value], do: Callable[[Node], Value], node: Node
    ) -> Value:
        """Do something where the scope's bindings hold."""
        outer, self.world = self.world, self.world | scope
        try:
            return do(node)
        finally:
            self.world = outer

    # single names

    def visit_number(self, node: Node) -> Value:
        return float(node.text) if "." in node.text else int(node.text)

    def visit_symbol(self, node: Node) -> Value:
        if node.text not in self.notation.meanings:
            raise FormulaError(f"{node} is not bound", node.column)
        return self.notation.meanings[node.text]

    def visit_other(self, node: Node, *parts: Node) -> Value:
        raise FormulaError(f"{node} has no value here", node.column)

    def is_function(self, node: Node) -> bool:
        r"""Whether it is applied without brackets, as in ``\ln x``."""
        name = (node.parts[0] if node.kind == "script" else node).text
        known = self.notation.meanings.get(name)
        function = callable(known) and name not in self.world
        return function or name.startswith(r"\operatorname")

    # scripts

    def visit_script(self, node: Node, *parts: Any) -> Value:
        base, sub, sup = parts
        if base.kind == "symbol" and sup:
            layered = base.text + ("_^" if sub else "^")
            if sup.words[:1] == ("(",) and layered in self.world:
                layers = tuple(arrays.whole(self(part)) for part in sup.parts)
                return self.member(layered, self.indices(sub) + layers)
            marked = script(base, None, sup).text
            if sub and sup.is_mark and self.family(marked):
                return self.member(marked, self.indices(sub))
        named = script(base, sub, None)
        if named.text in self.world:
            value = self.bound(named.text)
        elif base.kind == "symbol" and sub and not self.is_function(base):
            value = self.member(base.text, self.indices(sub))
        else:  # E_q says over what, and is still the mean
            entry = None if base.kind == "symbol" else sub
            value = self.scripted(self(base), entry, None)
        return self.scripted(value, None, sup)

    def scripted(self, value: Value, sub: Any, sup: Any) -> Value:
        """What scripts do to a value: pick an entry, raise to a power."""
        if sub:
            value = self.entry(value, self.indices(sub))
        if sup is None:
            return value
        if callable(value):
            return lambda *arguments: arrays.outward(
                self.scripted(arrays.inward(value(*arguments)), None, sup)
            )
        if sup.text in (r"\top", r"-\top"):
            power = value if sup.text == r"\top" else arrays.power(value, -1)
            return arrays.transpose(power)
        if sup.text == "+":
            return value if np.ndim(value) == 0 else np.linalg.pinv(value)
        if sup.is_mark:
            raise Misfit(f"^{sup} is not bound")
        return arrays.power(value, self(sup))

    # families

    def indices(self, sub: Node | None) -> tuple[Value, ...]:
        """``nm`` are two indices, ``n-1`` and ``N+1`` one."""
        if sub is None:
            return ()
        single = {"symbol", "number", "script"}
        factors = sub.each("product")
        apart = {part.kind for part in factors} <= single
        return tuple(map(self.index, factors if apart else sub.each("list")))

    def index(self, node: Node) -> Value:
        value = self(node)
        whole = arrays.is_number(value) and value == int(value)
        return int(value) if whole else arrays.outward(value)

    def family(self, name: str) -> str | None:
        keys = [name] if name.endswith("^") else families(name)
        known = (k for k in keys if k in self.world)
        return next((k for k in known if not several(self.find(k))), None)

    def member(self, name: str, indices: tuple[Value, ...]) -> Value:
        key = self.family(name)
        constant = self.notation.meanings.get(name + "_")
        if key is None and constant is None:
            raise Misfit(f"{name} is not bound")
        members = constant if key is None else self.find(key)
        if callable(members) and (key or "_").endswith(("_", "^")):
            return arrays.inward(members(*indices))
        return self.entry(members, indices)

    def entry(self, members: Any, indices: tuple[Value, ...]) -> Value:
        """One of many; indices count from 1 unless it says ``From``."""
        start = 1
        if isinstance(members, From):
            start, members = members.start, members.members
        if callable(members):
            return lambda *arguments: self.entry(
                From(start, members(*arguments)), indices
            )
        if isinstance(members, dict):
            index = indices[0] if len(indices) == 1 else indices
            if index not in members:
                raise Misfit(f"there is no {index}")
            return arrays.inward(members[index])
        if isinstance(members, list | tuple):
            place = self.place(indices[0], start, len(members))
            return arrays.inward(members[place])
        if isinstance(members, np.ndarray) and members.shape[1:] == (1,):
            members = members[:, 0]
        shape = getattr(members, "shape", ())
        if len(indices) > len(shape):
            raise Misfit(f"{len(indices)} indices, but {len(shape)} axes")
        pairs = zip(indices, shape, strict=False)
        places = tuple(self.place(i, start, size) for i, size in pairs)
        return arrays.inward(members[places])

    def place(self, index: Any, start: int, size: int) -> int:
        place = arrays.whole(index) - start
        if "@wrap" in self.world:  # a mutant's index runs round
            place %= size
        if not 0 <= place < size:
            ends = f"{start}..{start + size - 1}"
            raise Misfit(f"index {index} is outside {ends}")
        return place

    # dots

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
            raise Misfit(f"{first} … {last}: what runs?")
        low, high = (arrays.whole(self(end)) for end in pairs.pop())
        for i in range(low + 1, high):
            yield varied(first, last, lambda *_, i=i: number(i))

    def cells(self, rows: Sequence[Node]) -> list[Sequence[Node]]:
        r"""A table with its rows and columns of dots written out."""
        wide = [self.expanded(row.parts) for row in rows]
        out: list[Sequence[Node]] = []
        for i, row in enumerate(wide):
            both = zip(wide[i - 1], wide[(i + 1) % len(wide)], strict=False)
            columns = (
                repeat(a) if a == b else self.between(a, b) for a, b in both
            )
            out += [row] if row else zip(*columns, strict=False)
        return out
