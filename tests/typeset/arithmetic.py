r"""Whether two expressions are one, by the rules of arithmetic alone.

$\frac12 ab$ and $ba/2$ are: they name the same things, and are the same number
whatever number each name, sum or function of a name stands for.  Bold factors
keep their order.  $4h^2 - h^2 = 3h^2$ has been calculated: two expressions.
"""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from math import isclose, nan
from zlib import crc32

import numpy as np

from .nodes import MARKS, Node


@lru_cache(4096)
def same(one: Node, other: Node) -> bool:
    return leaves(one) == leaves(other) and isclose(worth(one), worth(other))


def leaves(node: Node) -> Counter[str]:
    r"""The names and numbers of an expression, but the 1 of \frac1n."""
    if not node.parts:
        return Counter([node.text])
    one = node.kind == "frac" and node.parts[0].text == "1"
    parts = filter(None, node.parts[1:] if one else node.parts)
    return sum(map(leaves, parts), Counter())


def stand_in(*said: object) -> float:
    """A number at random, the same for the same words."""
    rng = np.random.default_rng(crc32(repr(said).encode()))
    return float(rng.lognormal())


def worth(node: Node) -> float:
    try:
        return visit(node, node.words, node.parts)
    except ArithmeticError:
        return nan


def visit(
    node: Node, words: tuple[str, ...], parts: tuple[Node, ...]
) -> float:
    match node.kind, words:
        case "number", _:
            return float(node.text)
        case "infix", ("+" | "-" as sign, *_):
            right = worth(parts[1])
            return worth(parts[0]) + (right if sign == "+" else -right)
        case "prefix", ("-",):
            return -worth(parts[0])
        case "frac", _:
            return worth(parts[0]) / worth(parts[1])
        case "group", ("(" | "{" | r"\{" | "[", *_) if len(parts) == 1:
            return worth(parts[0])
        case "product", _:
            return multiplied(node)
        case "script", _ if parts[2] and parts[2].text not in MARKS:
            power, base = parts[2], worth(node.unraised)
            return float(base ** worth(power)) if base > 0 else nan
    return stand_in(node.kind, words, *(below(node) or [node.text]))


def below(node: Node) -> list[float | str]:
    """What the parts of a node are worth, or its name."""
    parts = [rounded(worth(part)) for part in node.parts if part]
    return [*parts] or [node.text]


def rounded(value: float) -> float:
    return float(f"{value:.9g}")


def multiplied(node: Node) -> float:
    """Of numbers in any order, of vectors and matrices in theirs."""
    value, bold = 1.0, list[float]()
    for head, of in applied(node.parts):
        over, factor = head.kind == "over", head
        if head.kind in ("over", "times"):
            (factor,) = head.parts
        one = worth(factor)
        if of:
            one = stand_in("of", rounded(one), of.words, *below(of))
        one = 1 / one if over else one
        if r"\mathbf" in factor.text or r"\boldsymbol" in factor.text:
            bold.append(rounded(one))
        else:
            value *= one
    return value * (stand_in(*bold) if bold[1:] else sum(bold) or 1.0)


def applied(
    items: tuple[Node, ...],
) -> Iterator[tuple[Node, Node | None]]:
    """The factors, and what stands in brackets behind a name."""
    rest = [*items]
    while rest:
        head = rest.pop(0)
        named = head.kind in ("symbol", "script")
        function = named and head.text.startswith(("\\exp", "\\ln", "\\log"))
        if rest and named and (rest[0].kind == "group" or function):
            yield head, rest.pop(0)
        else:
            yield head, None
