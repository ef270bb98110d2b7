"""What a cell claims, and whether a claim could be false.

A claim is an ``assert`` or a call of ``assert_…``.  It compares what is
computed with what is computed in another way: two sides that read the same
once the cell's own names are written out, or that name nothing at all, claim
nothing; nor does a claim that holds whatever its names stand for.
"""

import ast
import copy
import itertools
import re
import warnings
from itertools import chain, pairwise
from zlib import crc32

import numpy as np
from numpy import testing

# What returns its first argument, or nearly: it makes no other route.
SAME = re.compile(
    "array|asarray|copy|float|int|list|tuple|round|tolist|abs|squeeze"
)
# What nearly everything fulfils: alone they make no check.
VAGUE = {"len", "isfinite", "isinstance", "hasattr", "callable"}
DEFAULT = {"rtol": (1e-7, 1e-5), "atol": (0, 1e-8)}  # asserted, else
PAIRS = {"isclose", "allclose", "array_equal"}


def claims(source):
    """The assertions of a cell, in order."""
    return [n for n in ast.walk(ast.parse(source)) if is_claim(n)]


def is_claim(node):
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    name = called_name(node.value) if called else ""
    return isinstance(node, ast.Assert) or name.startswith("assert_")


def called_name(call):
    return ast.unparse(call.func).rpartition(".")[2]


def lost(old, new):
    """Which cells claim less than they did; all together, if cells moved."""
    before, now = ([claims(s) for s in each] for each in (old, new))
    if len(before) != len(now):
        before, now = ([[*chain(*each)]] for each in (before, now))
    return [
        f"cell {i}: {said}"
        for i, (b, n) in enumerate(zip(before, now, strict=True))
        for said in less(b, n)
    ]


def less(old, new):
    """Which claims are gone, and which allow more than they did."""
    if len(new) < len(old):
        yield f"{len(old)} assertions were recorded, there are {len(new)}"
    known = dict(map(leeway, old))
    for node in new:
        words, allowed = leeway(node)
        for one, other in zip(known.get(words, ()), allowed, strict=False):
            if other > one:
                yield f"{ast.unparse(node)}: more is allowed than was recorded"
                break


def leeway(node):
    """A claim without the numbers of its tolerance or bound, and these.

    Of a <= 3 it is 3, of a >= 3 it is -3.
    """
    node, found = copy.deepcopy(tested(node)), []
    for part in ast.walk(node):
        match part:
            case ast.Compare(ops=[op], comparators=[right]) if numeric(right):
                if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                    sign = 1 if isinstance(op, ast.Lt | ast.LtE) else -1
                    found.append(sign * eval(ast.unparse(right)))
                    part.comparators = [ast.Constant("bound")]
            case ast.Call(keywords=words):
                given = {w.arg: w.value for w in words if w.arg in DEFAULT}
                part.keywords = [w for w in words if w.arg not in DEFAULT]
                asserted = called_name(part) == "assert_allclose"
                for name, (least, elsewhere) in DEFAULT.items():
                    usual = ast.Constant(least if asserted else elsewhere)
                    value = given.get(name, usual)
                    if numeric(value) and (
                        asserted or called_name(part) in PAIRS
                    ):
                        found.append(eval(ast.unparse(value)))
    return ast.unparse(node), found


def numeric(node):
    """Whether it is made of numbers alone: 1e-9, 3 / 4."""
    parts = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    whole = all(isinstance(n, parts) for n in ast.walk(node))
    return whole and not isinstance(getattr(node, "value", 0), str)


def empty(source):
    """The claims of a cell that could not be false: line, reason."""
    tree = ast.parse(source)
    written_out = Inline(tree)
    for node in claims(source):
        for reason in reasons(tested(node), written_out):
            yield node.lineno, f"{ast.unparse(node)}: {reason}"


def checks(source):
    """Whether it compares anything with something else."""
    written_out = Inline(ast.parse(source))
    return any(
        is_strong(test, written_out)
        for node in claims(source)
        for test in tests(tested(node))
    )


def tested(node):
    """What a claim says is true: an expression."""
    return node.test if isinstance(node, ast.Assert) else node.value


def tests(test):
    """The comparisons that an expression is made of."""
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from tests(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from tests(operand)
        case ast.Call(args=[inner]) if called_name(test) in ("all", "any"):
            yield from tests(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="all" | "any")):
            yield from tests(inner)
        case ast.GeneratorExp(elt=inner) | ast.ListComp(elt=inner):
            yield from tests(inner)
        case _:
            yield test


def sides(test):
    """What is compared; one thing alone if it is just said to be true."""
    match test:
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.Call(args=[left, right, *_]) if called_name(
            test
        ) in PAIRS or "assert_" in called_name(test):
            return [left, right]
        case _:
            return [test]


def reasons(whole, written_out):
    match whole:
        case ast.BoolOp(op=ast.Or(), values=v) if not all(map(names, v)):
            yield "one of its alternatives is a constant"
    for test in tests(whole):
        found = [written_out(side) for side in sides(test)]
        if not any(map(names, found)):
            yield "it compares constants only"
        for one, other in pairwise(found):
            if names(one) and ast.dump(bare(one)) == ast.dump(bare(other)):
                yield "both sides are the same expression"
        for word in getattr(test, "keywords", []):
            loose = getattr(word.value, "value", 0)
            if word.arg == "rtol" and loose >= 0.5:
                yield "with this tolerance nothing fails"
    if holds_anyway(whole):
        yield "it holds whatever its names stand for"


def is_strong(test, written_out):
    found = sides(test)
    if len(found) > 1 and all(map(names, found)):
        return True
    called = {
        called_name(n)
        for side in found
        for n in ast.walk(written_out(side))
        if isinstance(n, ast.Call)
    }
    return bool(called - VAGUE)


# What is really computed with stand-ins; all else is one.
REAL = {"abs", "float", "int", "list", "max", "min", "round", "sum", "tuple"}
KNOWS = re.compile(r"[=<>]=? \(|len\(|!= '|^(?!.*stand_in)", re.S)
METHODS = re.compile(r"(?!__)(all|any|copy|max|mean|min|shape|std|sum|T|var)")


def holds_anyway(whole):
    """Whether a claim holds for any numbers, of this size and of that.

    That something is true, or is there, or is called so, only a cell knows.
    """
    if isinstance(whole, ast.BoolOp) and isinstance(whole.op, ast.Or):
        return False
    for test in tests(whole):
        code = ast.unparse(StandIns().visit(copy.deepcopy(test)))
        if len(sides(test)) > 1 and not KNOWS.search(code):
            tries = itertools.product(range(30), [(), (4, 4)])
            fates = itertools.takewhile(
                lambda held: held is not False,
                (fate(code, *each) for each in tries),
            )
            seen = [*fates]
            if len(seen) == 60 and any(seen):
                return True
    return False


def fate(code, seed, size):
    """True, false, or nothing if it cannot be told."""

    def stand_in(text):
        rng = np.random.default_rng([seed, crc32(text.encode())])
        if not seed:
            return np.ones(size)[()]
        return 10.0 ** rng.uniform(-4, 4) * rng.standard_normal(size)[()]

    known = {"np": np, "stand_in": stand_in, **vars(testing)}
    try:
        with warnings.catch_warnings(action="ignore"):
            found = eval(code, known)
            return found is None or bool(np.all(found))
    except AssertionError:
        return False
    except Exception:
        return None


class StandIns(ast.NodeTransformer):
    """A number at random for each thing, the same where it reads the same."""

    def visit(self, node):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                real = name in REAL or "assert_" in name
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                numpy = ast.unparse(value) in ("np", "np.testing", "np.linalg")
                real = numpy or bool(METHODS.fullmatch(name))
            case ast.Attribute(attr=name):
                real = bool(METHODS.fullmatch(name))
            case ast.Subscript(slice=index):
                real = not {*ast.unparse(index)} - {*":, ()"}
            case ast.Name():
                real = False
            case _:
                return self.generic_visit(node)
        if not real:
            text = repr(ast.unparse(node))
            return ast.parse(f"stand_in({text})", mode="eval").body
        if isinstance(node, ast.Subscript):
            return self.visit(node.value)
        for part in ("args", "keywords"):
            found = getattr(node, part, [])
            setattr(node, part, [self.visit(n) for n in found])
        owner = node.func if isinstance(node, ast.Call) else node
        if isinstance(owner, ast.Attribute) and not (
            ast.unparse(owner.value).startswith("np")
        ):
            owner.value = self.visit(owner.value)
        return node


def names(node):
    return [n for n in ast.walk(node) if isinstance(n, ast.Name)]


class Inline(ast.NodeTransformer):
    """Writes out the names that a cell gives to expressions, once each."""

    def __init__(self, tree):
        stored = [n.id for n in names(tree) if isinstance(n.ctx, ast.Store)]
        for node in ast.walk(tree):  # x[0] = 1 is another x
            match node:
                case ast.Subscript(ctx=ast.Store(), value=value):
                    stored += [n.id for n in names(value)]
        self.known = {
            node.targets[0].id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and stored.count(node.targets[0].id) == 1
            and (names(node.value) or isinstance(node.value, ast.Constant))
        }

    def __call__(self, node):
        return self.visit(copy.deepcopy(node))

    def visit_Name(self, node):
        if node.id not in self.known:
            return node
        value = self.known.pop(node.id)  # else it could go round in circles
        found = self(value)
        self.known[node.id] = value
        return found


def bare(node):
    """Without what changes nothing: copies, roundings, + 0, times 1."""

    class Bare(ast.NodeTransformer):
        def visit_Call(self, node):
            node = self.generic_visit(node)
            if not SAME.fullmatch(called_name(node)):
                return node
            owner = getattr(node.func, "value", None)
            if owner is not None and ast.unparse(owner) != "np":
                return owner
            return node.args[0] if node.args else node

        def visit_BinOp(self, node):
            node = self.generic_visit(node)
            neutral = 0 if isinstance(node.op, ast.Add | ast.Sub) else 1
            right = getattr(node.right, "value", None)
            scalar = isinstance(node.right, ast.Constant) and right == neutral
            return node.left if scalar else node

    return Bare().visit(copy.deepcopy(node))
