"""Mutants of the library: one small change of its syntax tree each.

What is changed is mathematics and control flow: operators, comparisons, parts
of conditions, numbers, transposes, function names, statements; default values
of arguments; numbers that a module or a class gives a name.  Tolerances, below
a millionth, become a thousand times larger, and smaller.  Left alone are
texts, annotations, what ``raise`` says, and tuples as defaults; constants that
are read while a module loads; ``strict=True``, which only asserts that what is
zipped is equally long; and the -1 of ``reshape``, for which any negative
number would do.
"""

import ast
import copy
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

LIBRARY = Path(__file__).parents[2] / "kernelbook"
CONSTANTS = "(constants)"  # the report's entry for those of a module

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
SMALL = 1e-6  # smaller numbers are tolerances
ARITHMETIC = (ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator)


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, and what it makes of the line.

    The value is new code for the function, or a new value of its target: of
    an argument, of an attribute of a class, or of a constant of the module.
    """

    module: str
    function: str  # or the class, or nothing, that has the constant
    line: int
    before: str
    after: str
    value: Any
    target: str = ""
    constant: bool = False

    @property
    def name(self) -> str:
        """How a survivor is looked up: independent of line numbers."""
        place = ".".join(filter(None, (self.module, self.function)))
        return f"{place}: {self.before} -> {self.after}"

    @property
    def entry(self) -> tuple[str, str]:
        """Where the report counts it."""
        return self.module, CONSTANTS if self.constant else self.function


@dataclass(frozen=True)
class Library:
    """A package: its modules' files and trees, by name within it."""

    path: Path = LIBRARY

    def files(self) -> dict[str, Path]:
        """The files, as ridge, kernels.stationary, kernels, __init__."""
        found = {}
        for path in sorted(self.path.rglob("*.py")):
            parts = path.relative_to(self.path).with_suffix("").parts
            if parts[-1] == "__init__" and len(parts) > 1:
                parts = parts[:-1]
            found[".".join(parts)] = path
        return found

    def trees(self) -> dict[str, ast.Module]:
        """The syntax trees, without docstrings."""
        files = self.files().items()
        return {m: without_docstrings(path) for m, path in files}

    def read_while_loading(self) -> set[str]:
        """Names, imported ones too, whose value is copied by then."""
        return {name for t in self.trees().values() for name in read_early(t)}

    def not_mutated(self) -> list[str]:
        """Constants that are read while a module loads."""
        early = self.read_while_loading()
        return [
            f"{module}.{name}"
            for module, tree in self.trees().items()
            for inside, name, _ in constants(tree)
            if not inside and name in early
        ]

    def mutants(self) -> Iterator[Mutant]:
        """Every mutant of every function, default value and constant."""
        early = self.read_while_loading()
        for module, tree in self.trees().items():
            file = str(self.files()[module])
            for qualname, function, outermost in functions(tree):
                here = partial(Mutant, module, qualname)
                for name, value in defaults(function):
                    yield from numbers(here, name, "=", value)
                yield from bodies(here, file, function, outermost)
            for inside, name, value in constants(tree):
                if inside or name not in early:
                    here = partial(Mutant, module, inside, constant=True)
                    yield from numbers(here, name, " = ", value)

    def digests(self, made: list[Mutant]) -> dict[tuple[str, str], str]:
        """For each function, and for a module's constants: what it was."""
        text = defaultdict(list)
        for module, tree in self.trees().items():
            for qualname, function, _ in functions(tree):
                text[module, qualname].append(ast.dump(function))
            for inside, name, value in constants(tree):
                text[module, CONSTANTS] += [inside, name, ast.dump(value)]
        for mutant in made:
            text[mutant.entry].append(mutant.name)
        return {
            entry: f"{zlib.crc32(repr(of).encode()):08x}"
            for entry, of in text.items()
        }


def control(library: Library, mutant: Mutant) -> Mutant:
    """The mutant's function as it was: every test must let it live."""
    path = library.files()[mutant.module]
    code = compile(path.read_text("utf-8"), str(path), "exec")
    original = code_of(code, mutant.function)
    return replace(mutant, after=mutant.before, value=original, target="")


def without_docstrings(path):
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if named and ast.get_docstring(node) is not None:
            node.body[0] = ast.copy_location(ast.Pass(), node.body[0])
    return tree


def bodies(here, file, function, outermost):
    """The mutants of what a function does."""
    module = ast.Module([outermost], [])
    body = [lines_of(statement) for statement in function.body]
    for place, node, put in places(function):
        for new in replacements(node):
            put(ast.fix_missing_locations(ast.copy_location(new, node)))
            lines = lines_of(function.body[place])
            code = code_of(compile(module, file, "exec"), here.args[1])
            put(node)
            before, after = difference(body[place], lines)
            if "super()" in before and "super()" not in after:
                continue  # a function without super() cannot take its place
            yield here(node.lineno, before, after, code)


def numbers(here, name, equals, value):
    """The mutants of a number, or of several, that has a name."""
    before = name + equals + ast.unparse(value)
    holder = ast.Expression(value)
    for node, put in walk(children(holder)):
        for new in replacements(node):
            put(ast.fix_missing_locations(ast.copy_location(new, node)))
            after = name + equals + ast.unparse(holder)
            number = eval(compile(holder, before, "eval"))
            put(node)
            yield here(value.lineno, before, after, number, name)


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


def defaults(function):
    """Arguments whose default value is a number, and that value."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    given = [
        *zip(positional[::-1], args.defaults[::-1], strict=False),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    for argument, value in given:
        if value is not None and is_number(value):
            yield argument.arg, value


def constants(tree, inside=""):
    """Numbers, and tuples of them, that a module or a class gives a name."""
    for node in tree.body:
        match node:
            case ast.ClassDef():
                within = f"{inside}.{node.name}" if inside else node.name
                yield from constants(node, within)
            case ast.Assign(
                targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)
            ):
                pairs = zip(names, values, strict=True)
                yield from (
                    (inside, n.id, v) for n, v in pairs if is_number(v)
                )
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ) if value is not None and (
                is_number(value)
                or (isinstance(value, ast.Tuple) and all_numbers(value.elts))
            ):
                yield inside, name, value


def all_numbers(values):
    return bool(values) and all(map(is_number, values))


def is_number(value):
    """Whether an expression is arithmetic with numbers, such as -10**8."""
    return all(
        isinstance(node, ARITHMETIC)
        or (
            isinstance(node, ast.Constant)
            and isinstance(node.value, int | float)
        )
        for node in ast.walk(value)
    )


def read_early(node):
    """Names that are read while a module loads, not when it is used."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    later = node.body if isinstance(node, ast.FunctionDef | ast.Lambda) else []
    later = later if isinstance(later, list) else [later]
    for child in ast.iter_child_nodes(node):
        if child not in later:
            yield from read_early(child)


def places(function):
    """What may be mutated, in which statement, and how to put another."""
    for number, statement in enumerate(function.body):
        for node, put in walk(children_in(function, "body", [statement])):
            yield number, node, put


def walk(todo):
    todo = [*todo]
    while todo:
        node, put = todo.pop(0)
        yield node, put
        todo[:0] = children(node)


def children(node):
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns"}:
            continue
        if name == "body" and is_guard(node):
            continue  # without its raise it is as with a false condition
        if name == "args" and is_call_of(node, "reshape"):
            value = [size for size in value if ast.unparse(size) != "-1"]
        yield from children_in(node, name, value)


def is_call_of(node, name):
    func = getattr(node, "func", None)
    return isinstance(func, ast.Attribute) and func.attr == name


def is_guard(node):
    return isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise)


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
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield changed(node, ops=[*ops[:i], other(), *ops[i + 1 :]])
        case ast.BoolOp(values=values):
            for i in range(len(values)):
                rest = values[:i] + values[i + 1 :]
                yield changed(node, values=rest) if rest[1:] else rest[0]
        case ast.Constant(value=int() | float() as value):
            yield from map(ast.Constant, other_numbers(value))
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


def other_numbers(value):
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int) or value == 0:
        yield value + 1
    elif abs(value) < SMALL:
        yield from (float(f"{value * by:.12g}") for by in (1e3, 1e-3))
    else:
        yield 2 * value


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
