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
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

LIBRARY = Path(__file__).parents[2] / "kernelbook"
CONSTANTS = "(constants)"  # the report's entry for those of a module

# Kinds of nodes, and names of functions: each takes the other's place.
SWAPPED = """
    Add/Sub Mult/Div Eq/NotEq Is/IsNot In/NotIn Lt/LtE Gt/GtE Lt/Gt LtE/GtE
    Break/Continue max/min maximum/minimum argmax/argmin any/all sum/prod
    zeros/ones triu/tril floor/ceil
"""
INSTEAD = defaultdict(list, Pow=["Mult"], FloorDiv=["Mult"], Mod=["Mult"])
for one, other in (pair.split("/") for pair in SWAPPED.split()):
    INSTEAD[one].append(other)
    INSTEAD[other].append(one)
CAN_BE_DROPPED = {"sqrt", "abs", "exp", "log", "log1p", "sign", "square"}
SMALL = 1e-6  # smaller numbers are tolerances
ARITHMETIC = (ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator)


class Mutant(NamedTuple):
    """One change: where it is, and how to make it in the module's tree."""

    module: str
    function: str  # or the class, or nothing, that has the constant
    constant: str
    name: str  # with what becomes of the line: how a survivor is looked up
    line: int
    change: Callable[[], None]


def modules(library):
    """Files and trees of ridge, kernels.stationary, kernels, __init__."""
    found = {}
    for path in sorted(library.rglob("*.py")):
        name = ".".join(path.relative_to(library).with_suffix("").parts)
        tree = ast.parse(path.read_text("utf-8"))
        found[name.removesuffix(".__init__")] = path, tree
        for node in ast.walk(tree):
            named = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if named and ast.get_docstring(node) is not None:
                node.body[0] = ast.copy_location(ast.Pass(), node.body[0])
    return found


def parts(found):
    """Digest and mutants of each function, and of each module's constants."""
    early = read_early(ast.Module([tree for _, tree in found.values()]))
    texts, made = defaultdict(list), defaultdict(list)
    for module, (_, tree) in found.items():
        for inside, node in statements(tree):
            if isinstance(node, ast.FunctionDef):
                place = module, f"{inside}.{node.name}".lstrip(".")
                texts[place].append(ast.dump(node))
                for home in homes(node):
                    made[place] += mutants(*place, "", *home)
            for name, *home in constants(node):
                place, value = (module, CONSTANTS), home[0][home[1]]
                texts[place] += [inside, name, ast.dump(value)]
                if inside or name not in early:
                    here = module, inside, name, f"{name} = "
                    made[place] += mutants(*here, *home)
    for place, text in texts.items():
        text += [mutant.name for mutant in made[place]]
        made[place] = f"{crc32(repr(text).encode()):08x}", made[place]
    return made


def statements(tree, inside=""):
    """Those of a module, and of its classes with their names."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from statements(node, f"{inside}.{node.name}".lstrip("."))
        else:
            yield inside, node


def homes(function):
    """Where a function has defaults that are numbers, and statements."""
    args, body = function.args, function.body
    last = [*args.posonlyargs, *args.args][-len(args.defaults) :]
    given = [(last[k], args.defaults, k) for k in range(len(args.defaults))]
    named = [(a, args.kw_defaults, k) for k, a in enumerate(args.kwonlyargs)]
    for argument, holder, key in given[::-1] + named:
        if holder[key] and is_number(holder[key]):
            yield f"{argument.arg}=", holder, key
    yield from (("", body, key) for key in range(len(body)))


def constants(node):
    """Numbers, and tuples of them, to which a statement gives a name."""
    match node:
        case ast.Assign(
            targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)
        ):
            for key, name in enumerate(names):
                if is_number(values[key]):
                    yield name.id, values, key
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ) if value and is_number(value, ast.Tuple, ast.Load):
            yield name, vars(node), "value"


def is_number(value, *more):
    """Whether an expression is arithmetic with numbers, such as -10**8."""
    nodes = [*ast.walk(value)]
    values = [getattr(node, "value", None) for node in nodes]
    numbers = [isinstance(value, int | float) for value in values]
    others = [isinstance(n, (*ARITHMETIC, *more)) for n in nodes]
    return any(numbers) and all(map(max, numbers, others))


def read_early(node):
    """Names that are read while a module loads, not when it is used."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return {name}
        case ast.FunctionDef() | ast.Lambda():
            node = changed(node, body=[])
    return set().union(*map(read_early, ast.iter_child_nodes(node)))


def mutants(module, function, constant, label, home, key):
    """The mutants of what stands in home[key], and is named by the label."""

    def lines():
        text = label + ast.unparse(home[key])
        return [line.strip() for line in text.splitlines()]

    place, before = f"{module}.{function}".rstrip("."), lines()
    for holder, at in places(home, [key]):
        node = holder[at]
        for new in replacements(node):
            ast.fix_missing_locations(ast.copy_location(new, node))
            change = partial(holder.__setitem__, at, new)
            change()
            pairs = zip(before, lines(), strict=False)
            holder[at] = node
            old, now = next(pair for pair in pairs if pair[0] != pair[1])
            if "super()" in old and "super()" not in now:
                continue  # a function without super() cannot take its place
            name = f"{place}: {old} -> {now}"
            yield Mutant(module, function, constant, name, node.lineno, change)


def places(holder, keys, alone=()):
    """What may be mutated, each in the list or the fields that hold it."""
    for key in keys:
        node = holder[key]
        if isinstance(node, list):
            yield from places(node, range(len(node)), alone)
        elif isinstance(node, ast.AST) and node not in alone:
            yield holder, key
            yield from places(vars(node), node._fields, left_alone(node))


def left_alone(node):
    """What a node holds that is not mutated."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.keyword(arg="strict"):
            return list(ast.iter_child_nodes(node))
        case ast.If(body=[ast.Raise(), *_]):
            return node.body  # without it, as with a false condition
        case ast.Call(func=ast.Attribute(attr="reshape")):
            return [size for size in node.args if ast.unparse(size) == "-1"]
    return [getattr(node, kind, None) for kind in ("annotation", "returns")]


def replacements(node):
    """What is put in the place of a node, one at a time."""
    match node:
        case ast.BinOp() | ast.AugAssign():
            for op in instead(node.op):
                yield changed(node, op=op)
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in instead(op):
                    yield changed(node, ops=[*ops[:i], other, *ops[i + 1 :]])
        case ast.BoolOp(values=values):
            for i in range(len(values)):
                rest = values[:i] + values[i + 1 :]
                yield changed(node, values=rest) if rest[1:] else rest[0]
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | 0.0 as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float() as value):
            for by in (1e3, 1e-3) if abs(value) < SMALL else (2,):
                yield ast.Constant(float(f"{value * by:.12g}"))
        case ast.Attribute(attr="T"):
            yield node.value
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            for other in INSTEAD[name]:
                func = changed(node.func, attr=other, id=other)
                yield changed(node, func=func)
            dropped = name in CAN_BE_DROPPED and len(node.args) == 1
            checked = ast.unparse(node.func).startswith("_checks.")
            if dropped or (checked and node.args):
                yield node.args[0]
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.If() | ast.IfExp() | ast.While():
            yield changed(node, test=ast.Constant(False))
        case ast.Break() | ast.Continue():
            yield from instead(node)


def instead(node):
    return [getattr(ast, name)() for name in INSTEAD[type(node).__name__]]


def changed(node, **fields):
    new = copy.copy(node)
    vars(new).update(fields)
    return new
