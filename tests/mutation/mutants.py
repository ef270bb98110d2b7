"""Mutants of a function: one small change of its syntax tree each.

What is changed is mathematics and control flow: operators, comparisons,
numbers, transposes, function names, conditions, statements.  Texts,
annotations, default values, what ``raise`` says, and numbers below a millionth
(tolerances) are left alone; so is ``strict=True``, which only asserts that
what is zipped is equally long, and the -1 of ``reshape``, for which any
negative number would do.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import CodeType

LIBRARY = Path(__file__).parents[2] / "kernelbook"

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OTHER_NAME = {
    "max": "min",
    "min": "max",
    "maximum": "minimum",
    "minimum": "maximum",
    "argmax": "argmin",
    "argmin": "argmax",
    "any": "all",
    "all": "any",
    "sum": "prod",
    "prod": "sum",
    "zeros": "ones",
    "ones": "zeros",
    "triu": "tril",
    "tril": "triu",
    "floor": "ceil",
    "ceil": "floor",
}
CAN_BE_DROPPED = {"sqrt", "abs", "exp", "log", "log1p", "sign", "square"}
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, and what it makes of the line."""

    module: str
    function: str
    line: int
    before: str
    after: str
    code: CodeType

    @property
    def name(self) -> str:
        """How a survivor is looked up: independent of line numbers."""
        return f"{self.module}.{self.function}: {self.before} -> {self.after}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of every function of a file."""
    tree = ast.parse(path.read_text("utf-8"))
    for qualname, function, outermost in functions(tree):
        module = ast.Module([outermost], [])
        body = [lines_of(statement) for statement in function.body]
        for place, node, put in places(function):
            for new in replacements(node):
                put(ast.fix_missing_locations(ast.copy_location(new, node)))
                lines = lines_of(function.body[place])
                code = code_of(compile(module, str(path), "exec"), qualname)
                put(node)
                before, after = difference(body[place], lines)
                yield Mutant(
                    path.stem, qualname, node.lineno, before, after, code
                )


def control(path: Path, mutant: Mutant) -> Mutant:
    """The mutant's function as it was: every test must let it live."""
    code = compile(path.read_text("utf-8"), str(path), "exec")
    original = code_of(code, mutant.function)
    return replace(mutant, after=mutant.before, code=original)


def code_of(code, qualname):
    """The code of a function, found inside that of its module."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if const.co_qualname == qualname:
                return const
            if qualname.startswith(const.co_qualname + "."):
                return code_of(const, qualname)
    raise LookupError(qualname)


def lines_of(statement):
    return ast.unparse(statement).splitlines()


def difference(before, after):
    """The lines in which two versions of a statement differ."""
    same = 0
    while before[same : same + 1] == after[same : same + 1] != []:
        same += 1
    old, new = before[same:], after[same:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return tuple(" ".join(line.strip() for line in v) for v in (old, new))


def functions(tree, inside="", outermost=None):
    """Functions and methods, by qualified name; inner ones go along.

    With each comes the statement of the module that holds it.
    """
    for node in tree.body:
        outer = outermost or node
        if isinstance(node, ast.FunctionDef):
            yield inside + node.name, node, outer
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{inside}{node.name}.", outer)


def places(function):
    """What may be mutated, in which statement, and how to put another."""
    for number, statement in enumerate(function.body):
        if number == 0 and ast.get_docstring(function) is not None:
            continue
        todo = [*children_in(function, "body", [statement])]
        while todo:
            node, put = todo.pop(0)
            yield number, node, put
            todo[:0] = children(node)


def children(node):
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "args"} and isinstance(
            node, ast.AnnAssign | ast.FunctionDef | ast.Lambda
        ):
            continue
        if name == "args" and ast.unparse(node.func).endswith(".reshape"):
            value = [size for size in value if ast.unparse(size) != "-1"]
        yield from children_in(node, name, value)


def children_in(parent, name, value):
    if isinstance(value, list):
        slots = getattr(parent, name)
        for child in value:
            if isinstance(child, ast.AST):
                yield child, partial(slots.__setitem__, slots.index(child))
    elif isinstance(value, ast.AST):
        yield value, partial(setattr, parent, name)


def replacements(node):
    match node:
        case ast.BinOp() | ast.AugAssign() if type(node.op) in OPERATORS:
            yield changed(node, op=OPERATORS[type(node.op)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand
        case ast.Compare(ops=[only]):
            for other in COMPARISONS[type(only)]:
                yield changed(node, ops=[other()])
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield changed(node, op=other)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)) if abs(value) >= TOLERANCE:
            yield ast.Constant(2 * value)
        case ast.Attribute(attr="T"):
            yield node.value
        case ast.Call(func=ast.Attribute() | ast.Name() as func):
            yield from other_calls(node, func)
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.If() | ast.IfExp() | ast.While():
            yield changed(node, test=ast.Constant(False))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def other_calls(call, func):
    name = func.attr if isinstance(func, ast.Attribute) else func.id
    if name in OTHER_NAME:
        field = "attr" if isinstance(func, ast.Attribute) else "id"
        yield changed(call, func=changed(func, **{field: OTHER_NAME[name]}))
    dropped = name in CAN_BE_DROPPED and len(call.args) == 1
    if dropped or (call.args and ast.unparse(func).startswith("_checks.")):
        yield call.args[0]


def changed(node, **fields):
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new
