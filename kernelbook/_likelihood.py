"""Maximum likelihood for logistic models: Newton's method, and its refusals.

What two classes (`logistic`) and many (`softmax`) have in common.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import eye_array, hstack

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray
from kernelbook.discriminant import with_bias

ROUNDING = 1e-9  # relative rise of the objective that rounding can cause

Quadratic = tuple[float, FloatArray, FloatArray]  # value, gradient, Hessian


@dataclass(frozen=True)
class Fit:
    """What a fit found, and the way there."""

    w: FloatArray
    """(D+1,) weights, the bias first; (D+1, K) for K classes."""
    path: FloatArray
    """(iterations + 1, ...) the weights at the start and after each step."""
    objectives: FloatArray
    """(iterations + 1,) ½ λ‖w‖² minus the log-likelihood along the path."""
    gradient_norm: float
    """Length of the gradient of that objective at the end."""

    @property
    def iterations(self) -> int:
        """Number of Newton steps taken."""
        return len(self.objectives) - 1


class Separation(NamedTuple):
    """A hyperplane with nobody on the wrong side, and how many strictly."""

    w: FloatArray
    """(D+1,) weights, the bias first; (D+1, K) for K classes."""
    strict: int
    """Number of examples strictly on their own side."""


@dataclass(frozen=True)
class Search:
    """How `newton` is run, and whom it asks when outputs grow large."""

    name: str
    tolerance: float
    max_iterations: int
    doubtful: Callable[[FloatArray], bool]
    check: Callable[[], None]


def newton(
    quadratic: Callable[[FloatArray], Quadratic],
    start: FloatArray,
    search: Search,
) -> Fit:
    """Newton's method with halving for a convex function >= 0."""
    v, asked = start, False
    value, slope, H = quadratic(v)
    path, objectives = [v], [value]
    for _ in range(_checks.count(search.max_iterations, "max_iterations")):
        step = -scaled_solve(H, slope)
        gain = -float(slope @ step) / 2
        ceiling = value * (1 + ROUNDING)
        value, slope, H = quadratic(v + step)
        while value > ceiling:
            step = step / 2
            value, slope, H = quadratic(v + step)
        v = v + step
        path.append(v)
        objectives.append(value)
        if not asked and search.doubtful(v):
            search.check()
            asked = True
        if gain <= search.tolerance:
            norm = float(np.linalg.norm(slope))
            return Fit(v, np.array(path), np.array(objectives), norm)
    raise RuntimeError(
        f"{search.name} promised itself {gain:.1e} more in "
        f"{search.max_iterations} iterations, not the tolerance "
        f"{search.tolerance:.1e}; raise lam, the tolerance or max_iterations"
    )


def doubt(tolerance: float) -> float:
    """Outputs beyond this size may be on their way to infinity.

    If an example can be put on its own side for good, its output y grows by
    about one a step, and each step promises a gain of at least ½ exp(-y).
    The search cannot stop before that is below the tolerance.
    """
    return -float(np.log(2 * _checks.positive(tolerance, "tolerance")))


def scaled_solve(H: FloatArray, slope: FloatArray) -> FloatArray:
    """H⁻¹ slope, after a rescaling that makes the diagonal of H one.

    Should the factorisation need a jitter, it is small for every feature,
    whatever its unit.
    """
    scale = 1 / np.sqrt(H.diagonal())
    C = scale[:, None] * H * scale
    return scale * _linalg.factor(C, "the Hessian").solve(scale * slope)


def strictly_positive(A: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """A v with Av >= 0 and as many entries of Av > 0 as possible.

    Maximise Σ s subject to Av >= s, 0 <= s <= 1.  Since v may be scaled up,
    every s that can be positive at all is 1 at the optimum.
    """
    rows, columns = A.shape
    found = linprog(
        np.append(np.zeros(columns), -np.ones(rows)),
        A_ub=hstack([-A, eye_array(rows)], format="csc"),
        b_ub=np.zeros(rows),
        bounds=[(None, None)] * columns + [(0, 1)] * rows,
    )
    if not found.success:
        raise RuntimeError(
            f"the search for a separating hyperplane failed: {found.message}"
        )
    return found.x[:columns], found.x[columns:] > 0.5


def to_unit_range(
    X: FloatArray,
) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
    """X with columns moved and scaled to [-1, 1], and the way back for w."""
    middle = (X.max(axis=0) + X.min(axis=0)) / 2
    half = np.ptp(X, axis=0) / 2
    half[half == 0] = 1.0

    def restore(v: FloatArray) -> FloatArray:
        w = v.copy()
        w[1:] = (w[1:].T / half).T
        w[0] = w[0] - middle @ w[1:]
        return w

    return (X - middle) / half, restore


def refuse_separable(found: Separation, N: int) -> None:
    if not found.strict:
        return
    raise ValueError(
        "lam must be > 0 when a hyperplane separates the classes, got 0: "
        f"{found.strict} of {N} examples can be strictly on their own side "
        "and none on the wrong one, so the likelihood has no maximiser"
    )


def refuse_dependent_columns(X: FloatArray) -> None:
    centred, _ = to_unit_range(X)
    rank = int(np.linalg.matrix_rank(with_bias(centred)))
    if rank == X.shape[1] + 1:
        return
    constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
    where = f": column {constant[0]} is constant" if constant.size else ""
    raise ValueError(
        "lam must be > 0 when the columns of X and a constant are linearly "
        f"dependent, got 0 and rank {rank} of {X.shape[1] + 1}{where}"
    )


def penalty(length: int, lam: float) -> FloatArray:
    """Diagonal of λE: nothing on the bias, λ on every other weight."""
    penalty = np.full(length, _checks.non_negative(lam, "lam"))
    penalty[0] = 0.0
    return penalty
