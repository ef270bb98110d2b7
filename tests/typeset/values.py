"""What a world binds, how the evaluator holds it, and when values agree."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special, stats
from typeset.latex import FormulaError, canonical, text

BATCHES = 40  # of samples, from whose scatter the standard error comes
STANDARD_ERRORS = 5
EXACT = 1e-9  # relative
NUMERICAL = 1e-6  # relative, where a derivative, limit or integral is taken


class Disagreement(AssertionError):  # noqa: N818
    """The formula was evaluated and does not hold."""


# What a world may bind besides numbers, arrays and functions ---------------


class Each(list):
    """Values that a free symbol takes one after the other."""


@dataclass
class Sample:
    """Draws of a random quantity along the first axis."""

    draws: np.ndarray

    def __getitem__(self, index):
        return Sample(self.draws[:, *np.atleast_1d(index)])


@dataclass
class From:
    """A family whose first member has the index ``start``, not 1."""

    start: int
    members: object


@dataclass
class Of:
    """A value that depends on other symbols: ``Of("p", lambda p: C(p))``."""

    names: tuple
    function: object

    def __init__(self, *names_and_function):
        *names, self.function = names_and_function
        self.names = tuple(canonical(name) for name in names)


@dataclass
class Law:
    """A function that wants to know what is given.

    p(x | t = k) calls ``function(x, given=(Event("t", k),))``.
    """

    function: object

    def __call__(self, *of, given=()):
        return self.function(*of, given=given)


@dataclass(frozen=True)
class Event:
    """The argument ``t = k`` of a probability."""

    name: str
    value: object


@dataclass
class Normal:
    """The distribution N(mean, covariance), as what follows a ~."""

    mean: object
    covariance: object


class Reals:
    """The set of real numbers."""

    def __contains__(self, value):
        return bool(np.all(np.isfinite(value)))


def normal(*arguments):
    """N(x | mean, covariance) is a density, N(mean, covariance) a law."""
    if len(arguments) == 2:
        return Normal(*arguments)
    x, mean, covariance = arguments
    x = np.atleast_1d(x)
    covariance = np.reshape(covariance, (len(x), len(x)))
    mean = np.broadcast_to(mean, x.shape)
    return stats.multivariate_normal(mean, covariance).pdf(x)


DEFAULTS = {
    r"\pi": math.pi,
    "e": math.e,
    r"\infty": math.inf,
    r"\mathcal N": normal,
    r"\Gamma": special.gamma,
    r"\mathbb R": Reals(),
    r"\mathbf 0": 0.0,
    r"\mathbf I_": lambda n: np.eye(int(n)),
    r"\mathbf 1_": lambda n: np.ones(int(n)),
    r"\delta_": lambda n, m: float(n == m),
}


# Arrays ---------------------------------------------------------------------


def inward(value):
    """A bound value as the evaluator holds it."""
    if isinstance(value, Sample):
        draws = np.asarray(value.draws, float)
        draws = draws[: len(draws) // BATCHES * BATCHES]
        shape = (*draws.shape[1:], 1, 1)[:2]
        return draws.reshape(BATCHES, -1, *shape)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.number):
        return value.item() if isinstance(value, np.number) else value
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return value.item()
        return value[:, None] if value.ndim == 1 else value
    return value


def outward(value):
    """A value as a bound function receives it: vectors are 1-D again."""
    if not isinstance(value, np.ndarray):
        return value
    if is_random(value):
        value = value.reshape(-1, *value.shape[2:])
        if value.shape[1:] == (1, 1):
            return value[:, 0, 0]
        return value[:, :, 0] if value.shape[2] == 1 else value
    return value[:, 0] if value.shape[1] == 1 else value


def is_random(value):
    return isinstance(value, np.ndarray) and value.ndim == 4


def is_number(value):
    if isinstance(value, np.ndarray):
        return value.shape[-2:] == (1, 1)
    return isinstance(value, int | float) and not isinstance(value, bool)


def shape_of(value):
    if isinstance(value, np.ndarray):
        return value.shape[-2:]
    return (1, 1)


def said(value):
    """The shape of a value, in words."""
    rows, columns = shape_of(value)
    if (rows, columns) == (1, 1):
        return "a number"
    if columns == 1:
        return f"a vector of {rows}"
    if rows == 1:
        return f"a row of {columns}"
    return f"a {rows}×{columns} matrix"


def plain(value):
    """A 1×1 matrix that is not random is a number."""
    if isinstance(value, np.ndarray) and value.shape == (1, 1):
        return value.item()
    return value


def times(a, b, node):
    check_numeric(a, node)
    check_numeric(b, node)
    if is_number(a) or is_number(b):
        return plain(np.asarray(a) * b) if _arrays(a, b) else a * b
    if a.shape[-1] != b.shape[-2]:
        raise FormulaError(
            f"cannot multiply {said(a)} by {said(b)} in {text(node)}",
            node.column,
        )
    return plain(a @ b)


def _arrays(a, b):
    return isinstance(a, np.ndarray) or isinstance(b, np.ndarray)


def check_numeric(value, node):
    if is_number(value) or isinstance(value, np.ndarray):
        return
    what = "a function" if callable(value) else type(value).__name__
    raise FormulaError(
        f"{text(node)}: a number or array is needed, not {what}", node.column
    )


def plus(a, b, sign, node):
    check_numeric(a, node)
    check_numeric(b, node)
    if shape_of(a) != shape_of(b):
        word = "add" if sign > 0 else "subtract"
        raise FormulaError(
            f"cannot {word} {said(a)} and {said(b)} in {text(node)}",
            node.column,
        )
    return a + sign * b


def transpose(value):
    if isinstance(value, np.ndarray):
        return np.swapaxes(value, -1, -2)
    return value


def power(base, exponent, node):
    check_numeric(base, node)
    if is_number(base):
        if not is_random(base) and base < 0 and exponent != int(exponent):
            raise FormulaError(
                f"root of a negative number in {text(node)}", node.column
            )
        if not is_random(base) and base == 0 and exponent < 0:
            raise FormulaError(f"1/0 in {text(node)}", node.column)
        return base**exponent
    rows, columns = shape_of(base)
    if rows != columns:
        raise FormulaError(
            f"{said(base)} has no power in {text(node)}", node.column
        )
    if exponent == 0.5:
        values, vectors = np.linalg.eigh(base)
        return (vectors * np.sqrt(values)) @ vectors.T
    if exponent == int(exponent):
        return np.linalg.matrix_power(base, int(exponent))
    raise FormulaError(f"matrix power in {text(node)}", node.column)


# Functions with a name of their own -----------------------------------------


def elementwise(function):
    def apply(value):
        return plain(function(value))

    return apply


def mean(value):
    if not is_random(value):
        return value
    return value.mean(axis=1, keepdims=True)


def covariance(a, b=None):
    b = a if b is None else b
    a, b = a - mean(a), b - mean(b)
    return mean(a @ transpose(b) if is_random(a) else a * b)


def largest(*values):
    return plain(np.maximum.reduce(np.broadcast_arrays(*values)))


def smallest(*values):
    return plain(np.minimum.reduce(np.broadcast_arrays(*values)))


def determinant(value):
    return plain(np.linalg.det(value)[..., None, None])


FUNCTIONS = {
    r"\exp": elementwise(np.exp),
    r"\ln": elementwise(np.log),
    r"\log": elementwise(np.log),
    r"\sin": elementwise(np.sin),
    r"\cos": elementwise(np.cos),
    r"\tan": elementwise(np.tan),
    r"\tanh": elementwise(np.tanh),
    r"\sinh": elementwise(np.sinh),
    r"\cosh": elementwise(np.cosh),
    r"\arcsin": elementwise(np.arcsin),
    r"\arccos": elementwise(np.arccos),
    r"\arctan": elementwise(np.arctan),
    r"\max": largest,
    r"\min": smallest,
    r"\det": determinant,
    r"\operatorname{tr}": lambda a: float(np.trace(a)),
    r"\operatorname{rank}": lambda a: int(np.linalg.matrix_rank(a)),
    r"\operatorname{diag}": lambda a: np.diag(np.ravel(a)),
    r"\operatorname{sign}": elementwise(np.sign),
    r"\operatorname{sgn}": elementwise(np.sign),
    r"\operatorname{cov}": covariance,
    r"\operatorname{var}": covariance,
    r"\mathbb E": mean,
    r"\mathbb P": mean,
    r"\mathbb 1": float,
}


# Agreement ---


def agrees(op, a, b, tolerance):
    """Whether a = b, a ≤ b, … up to rounding, or up to chance."""
    difference = np.asarray(a, float) - np.asarray(b, float)
    scale = max(np.abs(a).max(), np.abs(b).max()) if _sized(a, b) else 0
    if not (np.any(a) and np.any(b)):
        scale = max(scale, 1.0)  # nothing is small relative to 0
    slack = tolerance * scale
    if difference.ndim == 4 and difference.shape[1] == 1:
        error = difference.std(axis=0, ddof=1) / math.sqrt(len(difference))
        slack = slack + STANDARD_ERRORS * error
        difference = difference.mean(axis=0)
    if not np.all(np.isfinite(difference)):
        return False
    return bool(
        np.all(
            {
                "=": np.abs(difference) <= slack,
                r"\equiv": np.abs(difference) <= slack,
                r"\approx": np.abs(difference) <= slack,
                r"\leftarrow": np.abs(difference) <= slack,
                r"\to": np.abs(difference) <= slack,
                r"\ne": np.abs(difference) > slack,
                r"\neq": np.abs(difference) > slack,
                r"\le": difference <= slack,
                "<": difference < 0,
                r"\ge": difference >= -slack,
                ">": difference > 0,
            }[op]
        )
    )


def _sized(a, b):
    return np.size(a) and np.size(b)


def numeric(value):
    return isinstance(value, np.ndarray) or is_number(value)


def shown(value):
    if is_random(value):
        value = value.mean(axis=(0, 1))
    return np.array2string(
        np.squeeze(np.asarray(value)), precision=6, threshold=8
    ).replace("\n", "")


def call(function, values, **given):
    """Call a bound function; a random argument gives a random result."""
    random = next((v for v in values if is_random(v)), None)
    result = function(*[outward(v) for v in values], **given)
    if random is None or isinstance(result, Sample):
        return inward(result)
    result = np.asarray(result, float)
    shape = (*result.shape[1:], 1, 1)[:2]
    return result.reshape(*random.shape[:2], *shape)


def derivative(function, at):
    """Five-point differences, entry by entry."""
    at = np.asarray(at, float)
    slopes = []
    for place in np.ndindex(at.shape):
        step = 1e-3 * max(1.0, abs(at[place]))

        def value(k, place=place, step=step):
            moved = at.copy()
            moved[place] += k * step
            return function(moved if at.ndim else moved.item())

        slopes.append(
            (8 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12 * step)
        )
    return np.reshape(slopes, at.shape) if at.ndim else slopes[0]


def fitted(block, height, width):
    """A zero grows to the size its row and column need."""
    if is_number(block) and not is_random(block):
        if block == 0 and (height, width) != (1, 1):
            return np.zeros((height, width))
        return np.full((1, 1), block, float)
    return block
