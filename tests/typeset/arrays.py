r"""How the engine holds values, calculates with them and compares them.

Numbers are floats, vectors columns and matrices two-dimensional, so that
``\mathbf w^\top \mathbf x`` is a number and ``\mathbf x \mathbf x^\top`` a
matrix, and shapes that do not fit are errors, never broadcast.  A random
quantity carries two axes in front, (batches, samples); ``\mathbb E`` takes
the mean over the samples and leaves one estimate per batch.  The batches
disagree with each other as much as chance makes them, and that is the
tolerance.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .bindings import Reals, Sample, Value

BATCHES = 40  # of samples, from whose scatter the standard error comes
STANDARD_ERRORS = 5


class Misfit(ValueError):  # noqa: N818
    """Values that cannot be put together; whoever evaluates says where."""


def inward(value: Value) -> Value:
    """A bound value as the engine holds it."""
    if isinstance(value, Sample):
        draws = np.asarray(value.draws, float)
        draws = draws[: len(draws) // BATCHES * BATCHES]
        return draws.reshape(BATCHES, -1, *(*value.shape, 1, 1)[:2])
    if isinstance(value, np.ndarray) and value.ndim:
        return value[:, None] if value.ndim == 1 else value
    single = isinstance(value, np.ndarray | np.generic)
    return value.item() if single else value


def outward(value: Value) -> Value:
    """A value as a bound function receives it: vectors are 1-D again."""
    if not isinstance(value, np.ndarray):
        return value
    if is_random(value):
        value = value.reshape(-1, *value.shape[2:])
        value = value[:, 0] if value.shape[1:] == (1, 1) else value
    return value[..., 0] if value.shape[-1] == 1 else value


def call(function: Any, values: Sequence[Value], **given: Value) -> Value:
    """Call a bound function; a random argument gives a random result."""
    if is_native(function):
        return function(*values)
    random = next((v for v in values if is_random(v)), None)
    result = function(*map(outward, values), **given)
    if random is None or isinstance(result, Sample):
        return inward(result)
    shape = (*np.shape(result)[1:], 1, 1)[:2]
    return np.reshape(result, (*random.shape[:2], *shape))


def is_native(function: Any) -> bool:
    """Whether it takes what the engine holds: all samples, or a truth."""
    return any(function is native for native in (mean, covariance, float))


def is_random(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 4


def is_number(value: Value) -> bool:
    if isinstance(value, np.ndarray):
        return shape_of(value) == (1, 1)
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_numeric(value: Value) -> bool:
    return isinstance(value, np.ndarray) or is_number(value)


def is_zero(value: Value) -> bool:
    return is_number(value) and not is_random(value) and bool(value == 0)


def shape_of(value: Value) -> tuple[int, ...]:
    return value.shape[-2:] if isinstance(value, np.ndarray) else (1, 1)


def said(value: Value) -> str:
    """The shape of a value, in words."""
    rows, columns = shape_of(value)
    if rows > 1 < columns:
        return f"a {rows}×{columns} matrix"
    kind = "vector" if columns == 1 else "row"
    return f"a {kind} of {rows * columns}" if rows != columns else "a number"


def shown(value: Value) -> str:
    if not is_numeric(value):
        return str(value)
    value = value.mean(axis=(0, 1)) if is_random(value) else np.array(value)
    written = np.array2string(value.squeeze(), precision=6, threshold=8)
    return written.replace("\n", "")


# Arithmetic -----------------------------------------------------------------


def check_numeric(*values: Value) -> None:
    for value in values:
        if not is_numeric(value):
            what = "a function" if callable(value) else type(value).__name__
            raise Misfit(f"a number or array is needed, not {what}")


def plain(value: Value) -> Value:
    """A 1×1 matrix that is not random is a number."""
    return value.item() if getattr(value, "shape", ()) == (1, 1) else value


def whole(value: Value) -> int:
    if not is_number(value) or value != int(value):
        raise Misfit(f"{value} must be a whole number")
    return int(value)


def plus(a: Value, b: Value) -> Value:
    check_numeric(a, b)
    if shape_of(a) != shape_of(b):
        raise Misfit(f"cannot add {said(a)} and {said(b)}")
    return a + b


def times(a: Value, b: Value) -> Value:
    check_numeric(a, b)
    if is_number(a) or is_number(b):
        return plain(a * b)
    if a.shape[-1] != b.shape[-2]:
        raise Misfit(f"cannot multiply {said(a)} by {said(b)}")
    return plain(a @ b)


def divide(a: Value, b: Value) -> Value:
    check_numeric(b)
    if not is_number(b) or is_zero(b):
        raise Misfit(f"divided by {0 if is_zero(b) else said(b)}")
    return times(a, 1 / b)


def power(base: Value, exponent: Value) -> Value:
    if isinstance(base, Reals):
        return Reals(whole(exponent))
    check_numeric(base, exponent)
    if is_number(base):
        if not is_random(base) and base < 0 and exponent != int(exponent):
            raise Misfit("root of a negative number")
        if is_zero(base) and exponent < 0:
            raise Misfit("divided by 0")
        return base**exponent
    if len({*shape_of(base)}) > 1:
        raise Misfit(f"{said(base)} has no power")
    if exponent == 0.5:
        values, vectors = np.linalg.eigh(base)
        return (vectors * np.sqrt(values)) @ vectors.T
    return np.linalg.matrix_power(base, whole(exponent))


def root(degree: Value, value: Value) -> Value:
    odd = whole(degree) % 2 and is_number(value) and not is_random(value)
    sign = -1 if odd and value < 0 else 1
    return sign * power(sign * value, 1 / degree)


def transpose(value: Value) -> Value:
    return np.swapaxes(value, -1, -2) if np.ndim(value) else value


def norm(value: Value) -> Value:
    check_numeric(value)
    value = np.atleast_2d(value)
    return plain(np.linalg.norm(value, axis=(-2, -1), keepdims=True))


def size(value: Value) -> Value:
    """Between bars: how many, how far from 0, or the determinant."""
    if isinstance(value, frozenset | set | list | tuple):
        return len(value)
    check_numeric(value)
    if is_number(value):
        return abs(value)
    if len({*shape_of(value)}) > 1:
        raise Misfit(rf"|…| of {said(value)} (write \lVert for a norm)")
    return plain(np.linalg.det(value)[..., None, None])


def stacked(blocks: list[list[Value]]) -> Value:
    """One matrix of many; a zero takes the size its row and column need."""
    every = [block for row in blocks for block in row]
    check_numeric(*every)
    draws = next((b.shape[:2] for b in every if is_random(b)), ())
    try:
        columns = zip(*blocks, strict=True)
        widths = [max(shape_of(b)[1] for b in column) for column in columns]
        for row in blocks:
            height = max(shape_of(block)[0] for block in row)
            for i, block in enumerate(row):
                shape = shape_of(block)
                if is_zero(block):
                    shape = (height, widths[i])
                row[i] = np.broadcast_to(block, (*draws, *shape))
        return np.block(blocks)
    except ValueError:
        raise Misfit("the blocks do not fit") from None


def mean(value: Value) -> Value:
    return value.mean(axis=1, keepdims=True) if is_random(value) else value


def covariance(a: Value, b: Value = None) -> Value:
    b = a if b is None else b
    a, b = a - mean(a), b - mean(b)
    return mean(a @ transpose(b) if is_random(a) else a * b)


# Agreement ------------------------------------------------------------------

RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda difference, slack: np.abs(difference) <= slack,
    r"\ne": lambda difference, slack: np.abs(difference) > slack,
    r"\le": lambda difference, slack: difference <= slack,
    r"\ge": lambda difference, slack: difference >= -slack,
    "<": lambda difference, slack: difference < 0,
    ">": lambda difference, slack: difference > 0,
}


def agrees(op: str, a: Value, b: Value, tolerance: float) -> bool:
    """Whether a = b, a ≤ b, … up to rounding, or up to chance."""
    difference = np.asarray(a, float) - np.asarray(b, float)
    scale = max(np.abs(v).max(initial=0) for v in (a, b))
    if not (np.any(a) and np.any(b)):
        scale = max(scale, 1.0)  # nothing is small relative to 0
    slack = tolerance * scale
    if difference.ndim == 4 and difference.shape[1] == 1:
        error = difference.std(axis=0, ddof=1) / np.sqrt(len(difference))
        slack = slack + STANDARD_ERRORS * error
        difference = difference.mean(axis=0)
    holds = RELATIONS.get(op, RELATIONS["="])(difference, slack)
    return bool(np.all(holds) and np.all(np.isfinite(difference)))


def fit(value: Value, like: Value) -> Value:
    """A number may stand for a vector of equal numbers."""
    value = inward(np.asarray(value, float))
    return value if np.ndim(value) else np.full(shape_of(like), value)
