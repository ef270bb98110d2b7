r"""How the engine holds numbers, calculates with them and compares them.

Whatever is numeric is an array with four axes: batches, draws, rows, columns.
A number has one row and one column, a vector one column, so that
``\mathbf w^\top \mathbf x`` is a number and ``\mathbf x \mathbf x^\top`` a
matrix, and shapes that do not fit are errors, never broadcast.  What is not
random has one batch of one draw.  ``\mathbb E`` takes the mean over the draws
and leaves one estimate per batch; the batches disagree with each other as much
as chance makes them, and that is the tolerance.
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .bindings import Sample, Value

BATCHES = 40  # of draws, from whose scatter the standard error comes
STANDARD_ERRORS = 5


class Single(np.ndarray[Any, Any]):
    """A vector of one entry, which is not handed out as a number."""


def inward(value: Value) -> Value:
    """A bound value as the engine holds it; only numbers change."""
    if isinstance(value, Sample):
        draws = value.draws[: len(value.draws) // BATCHES * BATCHES]
        return draws.reshape((BATCHES, -1, *draws.shape[1:], 1, 1)[:4])
    if isinstance(value, bool | np.bool_):
        return bool(value)
    numeric = isinstance(value, np.ndarray | np.number | int | float)
    if not numeric or np.ndim(value) > 2:
        return value
    held = np.asarray(value, float).reshape((1, 1, *np.shape(value), 1, 1)[:4])
    return held.view(Single) if held.size == 1 and np.ndim(value) else held


def outward(value: Value) -> Value:
    """A value as a bound function receives it: 7, 0.5, 1-D vectors."""
    if not is_numeric(value):
        return value
    random = is_random(value)
    value = value.reshape(-1, *value.shape[2:]) if random else value[0, 0]
    least = 1 if isinstance(value, Single) else int(random)
    while value.ndim > least and value.shape[-1] == 1:
        value = value[..., 0]
    if value.ndim:
        return np.asarray(value)
    number = value.item()
    return int(number) if number.is_integer() else number


def call(function: Any, values: Sequence[Value], **given: Value) -> Value:
    """Call a bound function; a random argument gives a random result."""
    if is_native(function):
        return inward(function(*values))
    result = function(*map(outward, values), **given)
    random = next((v for v in values if is_random(v)), None)
    if random is None or isinstance(result, Sample):
        return inward(result)
    shape = (*random.shape[:2], *np.shape(result)[1:], 1, 1)[:4]
    return np.reshape(result, shape)


def is_native(function: Any) -> bool:
    """Whether it takes what the engine holds: all draws, or a truth."""
    return any(function is native for native in (mean, covariance, float))


def is_numeric(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 4


def is_random(value: Value) -> bool:
    return is_numeric(value) and value.shape[:2] != (1, 1)


def is_number(value: Value) -> bool:
    return is_numeric(value) and value.shape[2:] == (1, 1)


def is_column(a: Value, b: Value) -> bool:
    """Whether the first is one and the second a row of as many."""
    numeric = is_numeric(a) and is_numeric(b)
    return numeric and a.shape[3] == 1 and a.shape[2:] == b.shape[:1:-1]


def is_zero(value: Value) -> bool:
    return is_number(value) and value.size == 1 and not value.any()


def whole(value: Value) -> int:
    number = outward(value)
    if not isinstance(number, int):
        raise ValueError(f"{number} must be a whole number")
    return number


def said(value: Value) -> str:
    return "×".join(map(str, value.shape[2:]))


def shown(value: Value) -> str:
    if not is_numeric(value):
        return str(value)
    value = np.asarray(outward(value.mean(axis=(0, 1), keepdims=True)))
    written = np.array2string(value, precision=6, threshold=8)
    return written.replace("\n", "")


# Arithmetic -----------------------------------------------------------------


def check_numeric(*values: Value) -> None:
    for value in values:
        if not is_numeric(value):
            what = "a function" if callable(value) else type(value).__name__
            raise ValueError(f"a number or array is needed, not {what}")


def plus(*terms: Value) -> Value:
    check_numeric(*terms)
    if len({term.shape[2:] for term in terms}) > 1:
        raise ValueError(f"cannot add {' and '.join(map(said, terms))}")
    return sum(terms)


def times(a: Value, b: Value) -> Value:
    check_numeric(a, b)
    if is_number(a) or is_number(b):
        return np.asarray(a * b)
    if a.shape[3] != b.shape[2]:
        raise ValueError(f"cannot multiply {said(a)} by {said(b)}")
    return a @ b


def divide(a: Value, b: Value) -> Value:
    if not is_number(b):
        raise ValueError(f"divided by {said(b)}")
    return times(a, power(b, -1))


def power(base: Value, exponent: Value) -> Value:
    """Of a number, a matrix that NumPy finds square, or a set of numbers."""
    if is_number(base):
        with np.errstate(divide="raise", invalid="raise"):
            return base**exponent
    if not is_numeric(base):
        return base ** whole(exponent)
    if exponent == 0.5:
        values, vectors = np.linalg.eigh(base)
        return vectors * np.sqrt(values)[..., None, :] @ transpose(vectors)
    return np.linalg.matrix_power(base, whole(exponent))


def root(degree: Value, value: Value) -> Value:
    """An odd root of a negative number is negative."""
    sign = np.sign(value) if whole(degree) % 2 else 1
    return sign * power(sign * value, 1 / degree)


def transpose(value: Value) -> Value:
    check_numeric(value)
    return np.swapaxes(value, 2, 3)


def size(value: Value) -> Value:
    """Between bars: how many, how far from 0, or the determinant."""
    if not is_numeric(value):
        return inward(len(value))
    det = np.linalg.det
    return abs(value) if is_number(value) else det(value)[..., None, None]


def stacked(blocks: list[list[Value]]) -> Value:
    """One matrix of many; a zero takes the size its row and column need."""
    columns = zip(*blocks, strict=True)
    widths = [max(block.shape[3] for block in column) for column in columns]
    for row in blocks:
        height = max(block.shape[2] for block in row)
        for i, block in enumerate(row):
            if is_zero(block):
                row[i] = np.zeros((1, 1, height, widths[i]))
    return np.block(blocks)


def mean(value: Value) -> Value:
    return value.mean(axis=1, keepdims=True)


def covariance(a: Value, b: Value = None) -> Value:
    b = a if b is None else b
    return mean((a - mean(a)) @ transpose(b - mean(b)))


OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": plus,
    r"\pm": plus,
    "-": lambda *terms: plus(*terms[:-1], times(inward(-1), terms[-1])),
    r"\cap": operator.and_,
    "frac": divide,
    "sqrt": lambda value: power(value, 0.5),
    "root": root,
    "norm": lambda v: np.linalg.norm(v, axis=(2, 3), keepdims=True),
    "bars": size,
    "factorial": lambda n: inward(math.factorial(whole(n))),
    "binom": lambda n, k: inward(math.comb(whole(n), whole(k))),
}

# Agreement ------------------------------------------------------------------


SAID = {*"=<>", r"\le", r"\ge", r"\ne", r"\subset", r"\subseteq", r"\sim"}
SAID |= {r"\approx", r"\equiv", r"\leftarrow", r"\to", r"\succ", r"\succeq"}
SAID |= {r"\propto"}


def agree(
    op: str, a: Value, b: Value, tolerance: float, of_zero: bool = False
) -> bool:
    """Whether a = b, a ≤ b, … up to rounding, or up to chance."""
    if op in (r"\in", r"\notin"):
        return (outward(a) in b) is (op == r"\in")
    if op not in SAID:
        raise ValueError(f"{op} is not evaluated")
    if not (is_numeric(a) and is_numeric(b)):
        sets = {
            r"\ne": operator.ne,
            r"\subset": operator.lt,
            r"\subseteq": operator.le,
        }
        return bool(sets.get(op, operator.eq)(a, b))
    if a.shape[2:] != b.shape[2:] and not (is_zero(a) or is_zero(b)):
        raise ValueError(f"{said(a)} against {said(b)}")
    if op == r"\propto":  # one is the other, times a positive number
        if is_number(a):
            raise ValueError("two numbers are always proportional")
        a, b = (v / np.linalg.norm(v) for v in (a, b))
    difference = a - b
    scale = max(np.abs(v).max(initial=0) for v in (a, b))
    if of_zero or not (a.any() and b.any()):
        scale = max(scale, 1.0)  # nothing is small relative to 0
    slack = tolerance * scale
    if op in (r"\succ", r"\succeq"):  # for matrices: by all eigenvalues
        least = np.linalg.eigvalsh(difference).min()
        return bool(least > slack if op == r"\succ" else least >= -slack)
    batches, draws, *_ = difference.shape
    if batches > 1 == draws:
        error = difference.std(axis=0, ddof=1) / np.sqrt(batches)
        slack = slack + STANDARD_ERRORS * error
        difference = difference.mean(axis=0)
    holds = {
        r"\ne": np.abs(difference) > slack,
        r"\le": difference <= slack,
        r"\ge": difference >= -slack,
        "<": difference < 0,
        ">": difference > 0,
    }.get(op, np.abs(difference) <= slack)
    return bool(np.all(holds & np.isfinite(difference)))
