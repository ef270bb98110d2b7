"""Maximum likelihood for logistic models: what two classes and many share.

Minimised is J(v) = ½ Σ_j λ_j v_j² - L(v), with L the log-likelihood of labels
under outputs X̃v, which is convex and >= 0.  `logistic.fit` and `softmax.fit`
supply L; here is how its minimiser is searched for, and how it is noticed that
there is none.

Units.  Newton's method does not care about the units of the inputs, rounding
and overflow do.  So one searches with z = (x - middle) / half, each column
between -1 and 1, and weights v = half w, v₀ = b + middleᵀw.  The outputs, the
likelihood and the steps are the same; the penalty of v_j is λ / half_j².

Newton's method.  The step d = -H⁻¹g from the gradient g and the Hessian H
promises a gain of -½ gᵀd.  It is halved while it would raise J by more than
rounding.  The search ends after a step that promised less than a tolerance.

Separable classes.  Without a penalty J has no minimiser if some v ≠ 0 puts no
example on the wrong side of its hyperplane and at least one strictly on its
own: J then falls along v for ever.  A linear program decides it: maximise Σ s
subject to Av >= s and 0 <= s <= 1, where row n of A is t_n x̃_nᵀ.  It is dear,
so it is asked once, when an output has grown beyond what a search that
stops in time would show (`doubt`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import norm
from scipy.optimize import linprog
from scipy.sparse import eye_array, hstack

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray
from kernelbook._progress import CONVERGED, Progress
from kernelbook.features import with_bias

ROUNDING = 1e-9  # relative rise of the objective that rounding can cause

Quadratic = tuple[float, FloatArray, FloatArray]  # value, gradient, Hessian


class Likelihood(NamedTuple):
    """A logistic model of the labels; v is flat, Z are inputs without bias."""

    quadratic: Callable[[FloatArray, FloatArray], Quadratic]
    """-L(v) for the inputs Z, its gradient and its Hessian."""
    outputs: Callable[[FloatArray, FloatArray], FloatArray]
    """(N,) numbers, of which one tends to ±∞ if there is no maximiser."""
    strict: Callable[[], int]
    """How many examples can be strictly on their own side, none wrong."""


class Stopping(NamedTuple):
    """When a search has done enough."""

    tolerance: float
    """On what it makes small: a promised gain, a residual."""
    max_iterations: int
    """Number of steps to try."""

    def checked(self) -> "Stopping":
        """Itself, of a tolerance > 0 and a number of steps >= 1."""
        return Stopping(
            _checks.positive(self.tolerance, "tolerance"),
            _checks.count(self.max_iterations, "max_iterations"),
        )


class Descent(NamedTuple):
    """Where a search went, and how it ended."""

    path: FloatArray
    """(steps + 1, ...) the start, and the point after each step."""
    values: FloatArray
    """(steps + 1,) J at these points."""
    slope: FloatArray
    """Gradient of J at the last one."""
    status: str
    """"converged" or "max_iterations"."""
    gain: float
    """What the last step promised."""

    @property
    def gradient_norm(self) -> float:
        """Length of the slope; SciPy's norm does not overflow."""
        return float(norm(self.slope.ravel()))

    def advice(self, stopping: Stopping) -> str:
        """What to say to somebody whose search ended too early."""
        return (
            f"step {len(self.values) - 1} promised {self.gain:.1e}, not the "
            f"tolerance {stopping.tolerance:.1e}; raise lam, the tolerance or "
            "max_iterations"
        )


def maximise(
    likelihood: Likelihood,
    X: FloatArray,
    lam: float,
    columns: int,
    stopping: Stopping,
    report: Progress,
) -> Descent:
    """The (D+1, columns) weights that maximise L minus ½ λ‖w‖²."""
    if lam == 0:
        refuse_dependent_columns(X)
    scale = units(X, lam)
    Z, penalty = scale.inputs(X), np.repeat(scale.penalty(lam), columns)
    doubts = Doubts(likelihood, Z, doubt(stopping.tolerance), asked=lam > 0)

    def penalised(v: FloatArray) -> Quadratic:
        value, slope, H = likelihood.quadratic(v, Z)
        value += float(penalty @ v**2) / 2
        return value, slope + penalty * v, H + np.diag(penalty)

    start = np.zeros(len(penalty))
    found = newton(penalised, start, stopping, doubts, report)
    shape = X.shape[1] + 1, columns
    path = [scale.weights(v.reshape(shape)) for v in found.path]
    slope = scale.gradient(found.slope.reshape(shape))
    return found._replace(path=np.array(path), slope=slope)


def newton(
    quadratic: Callable[[FloatArray], Quadratic],
    start: FloatArray,
    stopping: Stopping,
    watch: Callable[[FloatArray], None],
    report: Progress,
) -> Descent:
    """Newton's method with halving for a convex function J >= 0.

    ``watch`` sees every new point, and may raise.
    """
    v, status = start, "max_iterations"
    value, slope, H = quadratic(v)
    path, values = [v], [value]
    for i in range(stopping.max_iterations):
        step = -scaled_solve(H, slope)
        gain = -float(slope @ step) / 2
        ceiling = value * (1 + ROUNDING)
        value, slope, H = quadratic(v + step)
        while value > ceiling:
            step = step / 2
            value, slope, H = quadratic(v + step)
        v = v + step
        path.append(v)
        values.append(value)
        watch(v)
        if gain <= stopping.tolerance:
            status = CONVERGED
            break
        report(f"step {i + 1}, objective {value:.6g}, promised {gain:.1e}")
    return Descent(np.array(path), np.array(values), slope, status, gain)


def scaled_factor(H: FloatArray) -> tuple[FloatArray, _linalg.Factor]:
    """Scales d, and the factor of diag(d) H diag(d), whose diagonal is one.

    Should the factorisation need a jitter, it is small for every feature,
    whatever its unit.
    """
    diagonal = H.diagonal()
    if not np.isfinite(H).all() or diagonal.min() <= 0:
        raise ValueError(
            "X must be scaled so that its squares neither overflow nor "
            "vanish, and w so that not all probabilities are 0 or 1, got a "
            f"Hessian with diagonal {diagonal.min():.2g} to "
            f"{diagonal.max():.2g}"
        )
    scale = 1 / np.sqrt(diagonal)
    return scale, _linalg.factor(scale[:, None] * H * scale, "the Hessian")


def scaled_solve(H: FloatArray, slope: FloatArray) -> FloatArray:
    """H⁻¹ slope, by the scaled factor."""
    scale, factor = scaled_factor(H)
    return scale * factor.solve(scale * slope)


def inverse_diagonal(H: FloatArray) -> FloatArray:
    """The diagonal of H⁻¹: squared lengths of the columns of U⁻ᵀ, scaled."""
    scale, factor = scaled_factor(H)
    columns = factor.whiten(np.eye(len(H)))
    squares: FloatArray = scale**2 * (columns**2).sum(axis=0)
    return squares


def product(A: FloatArray, B: FloatArray, names: str) -> FloatArray:
    """AB, unless it overflows: inf - inf would be a silent NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        AB: FloatArray = A @ B
    if not np.isfinite(AB).all():
        raise ValueError(
            f"{names} must be small enough that their products are finite, "
            "got an overflow"
        )
    return AB


@dataclass(frozen=True)
class Units:
    """Columns moved and scaled, z = (x - middle) / half."""

    middle: FloatArray
    """(D,)"""
    half: FloatArray
    """(D,), half the range of each column or more, > 0."""

    def inputs(self, X: FloatArray) -> FloatArray:
        """(N, D) the inputs in these units."""
        # By halves: the range of a column may be too large for a float.
        return 2 * ((X / 2 - self.middle / 2) / self.half)

    def penalty(self, lam: float) -> FloatArray:
        """(D+1,) λ / half² for each weight, and nothing for the bias."""
        return np.append(0.0, (np.sqrt(lam) / self.half) ** 2)

    def weights(self, v: FloatArray) -> FloatArray:
        """w from v, both with the bias first; any number of columns."""
        with np.errstate(over="ignore", invalid="ignore"):
            w = np.concatenate([v[:1], (v[1:].T / self.half).T])
            w[0] -= self.middle @ w[1:]
        if not np.isfinite(w).all():
            raise ValueError(
                "X must have columns whose weights are finite, got a range "
                f"of {2 * self.half.min():.2g}; rescale it"
            )
        return w

    def gradient(self, g: FloatArray) -> FloatArray:
        """The gradient by w from that by v, columns as in `weights`."""
        moved = np.multiply.outer(self.middle, g[0])
        return np.concatenate([g[:1], (g[1:].T * self.half).T + moved])


def units(X: FloatArray, lam: float = 0.0) -> Units:
    """The units in which X is between -1 and 1 and no penalty exceeds 1."""
    largest, smallest = X.max(axis=0) / 2, X.min(axis=0) / 2
    half = np.maximum(largest - smallest, np.sqrt(lam))
    half[half == 0] = 1.0  # a constant column
    return Units(largest + smallest, half)


def doubt(tolerance: float) -> float:
    """Outputs beyond this size may be on their way to infinity.

    If an example can be put on its own side for good, its output y grows by
    about one a step, and each step promises a gain of at least ½ exp(-y).
    The search cannot stop before that is below the tolerance.
    """
    return -float(np.log(2 * tolerance))


@dataclass
class Doubts:
    """Asks once whether there is a maximiser: when an output grows large."""

    likelihood: Likelihood
    Z: FloatArray
    limit: float
    asked: bool

    def __call__(self, v: FloatArray) -> None:
        """Look at the outputs under v; raise if there is no maximiser."""
        if self.asked:
            return
        y = self.likelihood.outputs(v, self.Z)
        if np.abs(y).max() <= self.limit:
            return
        self.asked = True
        if strict := self.likelihood.strict():
            raise ValueError(
                "lam must be > 0 when a hyperplane separates the classes, "
                f"got 0: {strict} of {len(y)} examples can be strictly on "
                "their own side and none on the wrong one, so the likelihood "
                "has no maximiser"
            )


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


def rank_with_bias(X: FloatArray) -> int:
    """Rank of X̃ = [1 X], in units in which its columns are alike."""
    return int(np.linalg.matrix_rank(with_bias(units(X).inputs(X))))


def refuse_dependent_columns(X: FloatArray) -> None:
    """Raise if more than one w would have the same outputs."""
    rank = rank_with_bias(X)
    if rank == X.shape[1] + 1:
        return
    constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
    where = f": column {constant[0]} is constant" if constant.size else ""
    raise ValueError(
        "lam must be > 0 when the columns of X and a constant are linearly "
        f"dependent, got 0 and rank {rank} of {X.shape[1] + 1}{where}"
    )
