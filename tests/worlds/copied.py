"""Worlds that bind one side of an equation to the other's own formula.

They would prove nothing.  Python and LaTeX are not compared to the letter, but
a copy has the same numbers and functions, and as many names.
"""

import ast
import inspect
import textwrap
from collections import Counter
from collections.abc import Iterator

from claims import Inline
from typeset import STANDARD, Equation
from typeset.nodes import Node

from . import load

FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos", "tanh", "max", "min")
PLAIN = {*["infix", "prefix", "frac", "product", "group", "over", "times"]}
LEAST = 3  # names and numbers: for 1 / C there is no other form


def copies(equation: Equation, label: str) -> Iterator[str]:
    """The sides that a world binds to the formula of another side."""
    typed = expressions(label)
    for statement in (part.unwrapped for part in equation.tree.parts):
        sides = statement.parts if statement.kind == "relation" else ()
        for one in sides:
            name, *more = one.each("product")
            applied = not more or [m.kind for m in more] == ["group"]
            family = f"{name.parts[0]}_" if name.kind == "script" else ""
            forms = typed.get(name.text, typed.get(family)) or ()
            for form in forms if applied else ():
                mine = of_python(form) or Counter[str]()
                if mine.total() >= LEAST and mine in [*map(of_latex, sides)]:
                    yield f"{one} is bound to {ast.unparse(form)}"


def expressions(label: str) -> dict[str, tuple[ast.AST, ...]]:
    """What a world's function binds, by symbol; and its names written out."""
    source = textwrap.dedent(inspect.getsource(load()[label].__wrapped__))
    tree = ast.parse(source)
    returned = {
        node.name: node.body[-1].value
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and isinstance(node.body[-1], ast.Return)
    }
    (tree,) = (
        tree.body if isinstance(tree.body[0], ast.FunctionDef) else [tree]
    )
    functions = (n for n in tree.body if isinstance(n, ast.FunctionDef))
    written_out = Inline(next(functions, tree))  # a table has no function
    plain = {k: v for k, v in written_out.known.items() if of_python(v)}
    written_out.known = plain
    found = {}
    for node in ast.walk(tree):
        for key, value in zip(*pairs(node), strict=True):
            value = returned.get(getattr(value, "id", ""), value)
            body = value.body if isinstance(value, ast.Lambda) else value
            found[key.value] = body, written_out(body)
    return STANDARD.keyed(found)


def pairs(node: ast.AST) -> tuple[list[ast.expr], list[ast.expr]]:
    """The symbols of a dictionary and what they are bound to."""
    if not isinstance(node, ast.Dict):
        return [], []
    both = zip(node.keys, node.values, strict=True)
    named = [(k, v) for k, v in both if type(getattr(k, "value", 0)) is str]
    return [k for k, _ in named], [v for _, v in named]


def of_python(node: ast.AST) -> Counter[str] | None:
    """The numbers, functions and names of a plain expression."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return Counter([str(float(value))])
        case ast.Name():
            return Counter(["name"])
        case ast.Attribute(value=value) | ast.Subscript(value=value):
            return of_python(value)
        case ast.UnaryOp(operand=one):
            return of_python(one)
        case ast.BinOp(left=left, right=right):
            return total(of_python(left), of_python(right))
        case ast.Call(func=function, args=args):
            name = ast.unparse(function).rpartition(".")[2]
            if name in FUNCTIONS or name == "inv":  # X^{-1} has a 1
                own = "1.0" if name == "inv" else name
                return total(Counter([own]), *map(of_python, args))
    return None


def of_latex(node: Node) -> Counter[str] | None:
    if node.kind == "number":
        return Counter([str(float(node.text))])
    if node.kind == "symbol":
        name = node.text.lstrip("\\").replace("ln", "log")
        return Counter([name if name in FUNCTIONS else "name"])
    if node.kind == "script":
        base, _, above = node.parts
        named = above is None or above.text in (r"\top", "*", "+", "'")
        return (
            of_latex(base) if named else total(*map(of_latex, [base, above]))
        )
    if node.kind == "sqrt":
        return total(Counter(["sqrt"]), *map(of_latex, node.parts))
    return total(*map(of_latex, node.parts)) if node.kind in PLAIN else None


def total(*counts: Counter[str] | None) -> Counter[str] | None:
    known = [count for count in counts if count is not None]
    return sum(known, Counter()) if len(known) == len(counts) else None
