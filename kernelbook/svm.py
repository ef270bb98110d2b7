"""Support vector machines: a dual solver that certifies its answer.

The equations are those of chapter 16.  Inside the solver the unknown is
v = α∘t, with v_n between 0 and C t_n.  In it the dual reads: minimise
½ vᵀKv - tᵀv subject to Σ_n v_n = 0, and all one needs to know of a point v
is v itself and e = t - Kv, the targets minus the outputs without bias.
"""

import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, eigvalsh
from scipy.linalg.lapack import dpotrf, dpotrs

from kernelbook import _checks
from kernelbook._checks import FloatArray

BoolArray = NDArray[np.bool_]
_Step = tuple[FloatArray, float, FloatArray, FloatArray]
_Solve = Callable[[FloatArray], FloatArray]

EPS = float(np.finfo(float).eps)
PROBE = 256  # a block of K this large is tested for definiteness up front
EXTRA = 100  # violators given to the first interior-point solve
NEWTON_TRIES = 12
DROPS = 25  # bounds met in one descent: each costs a factorisation
LOW_RANK = 1e-6  # error of an output, in units of √N, that GGᵀ may cause
FEW, ROUNDS = 5, 40  # of pair steps and descent before interior point


@dataclass(frozen=True, eq=False)
class SVM:
    """A support vector machine, with the certificate of its optimality."""

    alpha: FloatArray = field(repr=False)
    """(N,) multipliers, exactly 0 or C when at a bound."""
    b: float
    """Bias, the middle of ``b_interval``."""
    b_interval: tuple[float, float] = field(repr=False)
    """All biases that minimise the primal for these weights."""
    primal: float
    """Primal objective, an upper bound on the optimum."""
    dual: float
    """Dual objective, a lower bound on the optimum."""
    gap: float
    """primal - dual, summed without cancellation."""
    iterations: int
    """Pair steps plus factorisations."""
    status: str
    """The word "optimal", or why the solver stopped before that.

    One of "max_iterations", "max_seconds", "interrupted", "stalled".
    """
    t: FloatArray = field(repr=False)
    """(N,) labels, as given."""
    C: float
    """Upper end of the box, as given."""

    @property
    def coefficients(self) -> FloatArray:
        """(N,) signed coefficients α_n t_n of the kernels."""
        return self.alpha * self.t

    @property
    def relative_gap(self) -> float:
        """gap / primal, between 0 and 1."""
        return self.gap / self.primal

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices with α_n > 0."""
        return np.flatnonzero(self.alpha > 0)

    @property
    def free(self) -> NDArray[np.intp]:
        """Indices with 0 < α_n < C, on the margin."""
        return np.flatnonzero((self.alpha > 0) & (self.alpha < self.C))

    @property
    def bounded(self) -> NDArray[np.intp]:
        """Indices with α_n = C, inside the margin or on the wrong side."""
        return np.flatnonzero(self.alpha >= self.C)


def slack(y: ArrayLike, t: ArrayLike) -> FloatArray:
    """Smallest slack of each example, the hinge loss of its output.

    ξ_n = max(0, 1 - t_n y_n).

    Parameters
    ----------
    y : (N,) outputs
    t : (N,) labels, -1 or +1

    Returns
    -------
    xi : (N,)

    Examples
    --------
    >>> slack(y=[2.0, 0.5, 0.5], t=[1, 1, -1])
    array([0. , 0.5, 1.5])
    """
    y = _checks.vector(y, "y")
    t = _checks.signs(t, "t", len(y))
    return np.maximum(0.0, 1 - t * y)


def primal_objective(
    w: ArrayLike, b: float, Phi: ArrayLike, t: ArrayLike, C: float
) -> float:
    """Soft-margin objective with the slacks at their smallest.

    ½ ‖w‖² + C Σ_n max(0, 1 - t_n {wᵀφ(x_n) + b}).

    Parameters
    ----------
    w : (M,) weights
    b : bias
    Phi : (N, M) design matrix, row n is φ(x_n)ᵀ
    t : (N,) labels, -1 or +1
    C : > 0

    Examples
    --------
    >>> primal_objective([1.0], 0.0, [[0.5], [-2.0]], [1, -1], C=10.0)
    5.5
    """
    Phi = _checks.matrix(Phi, "Phi")
    w = _checks.vector(w, "w", Phi.shape[1])
    b, C = _checks.real(b, "b"), _checks.positive(C, "C")
    return float(w @ w) / 2 + C * float(slack(Phi @ w + b, t).sum())


def lagrangian(
    w: ArrayLike,
    b: float,
    xi: ArrayLike,
    alpha: ArrayLike,
    mu: ArrayLike,
    Phi: ArrayLike,
    t: ArrayLike,
    C: float,
) -> float:
    """The Lagrangian of the soft-margin problem.

    L = ½ ‖w‖² + C Σ_n ξ_n - Σ_n α_n [t_n {wᵀφ(x_n) + b} - 1 + ξ_n]
    - Σ_n μ_n ξ_n.

    Parameters
    ----------
    w, b : (M,) weights and bias
    xi : (N,) slacks
    alpha, mu : (N,) multipliers of the margin constraints and of ξ_n >= 0
    Phi : (N, M) design matrix
    t : (N,) labels, -1 or +1
    C : > 0

    Examples
    --------
    >>> lagrangian([1.0], 0.0, [0.5], [2.0], [8.0], [[0.5]], [1], C=10.0)
    1.5
    """
    Phi = _checks.matrix(Phi, "Phi")
    N, M = Phi.shape
    w, t = _checks.vector(w, "w", M), _checks.signs(t, "t", N)
    xi, mu = _checks.vector(xi, "xi", N), _checks.vector(mu, "mu", N)
    alpha = _checks.vector(alpha, "alpha", N)
    b, C = _checks.real(b, "b"), _checks.positive(C, "C")
    surplus = t * (Phi @ w + b) - 1 + xi
    return float(w @ w / 2 + C * xi.sum() - alpha @ surplus - mu @ xi)


def dual_objective(alpha: ArrayLike, K: ArrayLike, t: ArrayLike) -> float:
    """Dual objective of the support vector machine.

    Σ_n α_n - ½ Σ_n Σ_m α_n α_m t_n t_m k(x_n, x_m).

    Parameters
    ----------
    alpha : (N,) multipliers
    K : (N, N) Gram matrix
    t : (N,) labels, -1 or +1

    Examples
    --------
    >>> dual_objective([0.5, 0.5], [[1, -1], [-1, 1]], [1, -1])
    0.5
    """
    K = _checks.gram(K)
    t = _checks.signs(t, "t", len(K))
    alpha = _checks.vector(alpha, "alpha", len(K))
    v = alpha * t
    return float(alpha.sum() - v @ K @ v / 2)


def gap_terms(
    alpha: ArrayLike, y: ArrayLike, t: ArrayLike, C: float
) -> FloatArray:
    """What each example adds to primal minus dual; none is negative.

    (C - α_n) max(0, 1 - t_n y_n) + α_n max(0, t_n y_n - 1).

    Parameters
    ----------
    alpha : (N,) multipliers, 0 <= α_n <= C and Σ_n α_n t_n = 0
    y : (N,) outputs y_n = Σ_m α_m t_m k(x_m, x_n) + b
    t : (N,) labels, -1 or +1
    C : > 0

    Returns
    -------
    terms : (N,)

    Examples
    --------
    >>> gap_terms([0.5, 0.0, 2.0], [2.0, 2.0, 0.5], [1, 1, 1], C=2.0)
    array([0.5, 0. , 0. ])
    """
    alpha = _checks.vector(alpha, "alpha")
    shortfall = 1 - _checks.signs(t, "t", len(alpha)) * _checks.vector(
        y, "y", len(alpha)
    )
    C = _checks.positive(C, "C")
    return np.where(shortfall > 0, (C - alpha) * shortfall, -alpha * shortfall)


def bias_interval(e: ArrayLike, t: ArrayLike) -> tuple[float, float]:
    """All biases that minimise the primal for given weights.

    With N₊ positive labels, the interval from the N₊-th to the (N₊ + 1)-th
    smallest of the numbers e_n = t_n - wᵀφ(x_n).

    Parameters
    ----------
    e : (N,) targets minus outputs without bias, t - Kv
    t : (N,) labels, -1 and +1

    Returns
    -------
    low, high : the ends of the interval

    Examples
    --------
    >>> bias_interval(e=[1.0, -0.5, 0.25, -1.0], t=[1, 1, -1, -1])
    (-0.5, 0.25)
    """
    e = _checks.vector(e, "e")
    t = _checks.both_signs(t, "t", len(e))
    N_plus = int((t > 0).sum())
    ordered = np.partition(e, [N_plus - 1, N_plus])
    return float(ordered[N_plus - 1]), float(ordered[N_plus])


def decision_function(svm: SVM, k: ArrayLike) -> FloatArray:
    """Output at new inputs; its sign is the predicted class.

    y(x) = Σ_n α_n t_n k(x_n, x) + b.

    Parameters
    ----------
    svm : SVM
    k : (N, N*) cross-Gram, column m holds k(x_n, x) for the m-th new input

    Returns
    -------
    y : (N*,)

    Examples
    --------
    >>> svm = svm_dual(K=[[1, -1], [-1, 1]], t=[1, -1], C=10.0)
    >>> decision_function(svm, [[3.0], [-3.0]])
    array([3.])
    """
    k = _checks.cross_gram(k, len(svm.alpha), "k")
    return k.T @ svm.coefficients + svm.b


def svm_dual(
    K: ArrayLike,
    t: ArrayLike,
    C: float,
    *,
    bias: bool = True,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    progress: bool = True,
) -> SVM:
    """Maximise the dual of the support vector machine, with a certificate.

    Σ_n α_n - ½ Σ_n Σ_m α_n α_m t_n t_m k(x_n, x_m), 0 <= α_n <= C,
    Σ_n α_n t_n = 0; without bias the last constraint is dropped.

    Pair steps find the active bounds roughly and Newton's method on the free
    coefficients finishes; where that fails, an interior-point solve with a
    low-rank matrix does, or rounds of both, or interior-point solves on
    growing subsets.  Ctrl-C, ``max_iterations`` and ``max_seconds`` stop it
    with the best point so far.

    Parameters
    ----------
    K : (N, N) Gram matrix, positive semi-definite
    t : (N,) labels, -1 and +1, both present
    C : > 0
    bias : whether the machine has a bias b
    tolerance : on the relative gap, (primal - dual) / primal
    max_iterations, max_seconds : limits, none if left out
    progress : report to stderr when a solve takes longer than 5 seconds

    Returns
    -------
    svm : SVM

    Raises
    ------
    ValueError
        If K is not square, symmetric and positive semi-definite.  Up to 256
        examples that is proved.  Beyond, such a block is, and every block
        and pair the solver meets.

    Examples
    --------
    >>> svm = svm_dual(K=[[1, -1], [-1, 1]], t=[1, -1], C=10.0)
    >>> svm.alpha, svm.dual, svm.status
    (array([0.5, 0.5]), 0.5, 'optimal')
    """
    p = _problem(K, t, C, bias)
    tolerance = _checks.positive(tolerance, "tolerance")
    watch = _Watch(max_iterations, max_seconds, progress)
    best, status = None, "stalled"
    try:
        for point, polished in _improving_points(p, tolerance, watch):
            svm = _certify(p, point)
            if polished and svm.relative_gap <= tolerance:
                return _finish(svm, watch, "optimal")
            if best is None or svm.relative_gap < best.relative_gap:
                best = svm
            watch.look(best)
    except _Stop as stop:
        status = str(stop)
    except KeyboardInterrupt:
        status = "interrupted"
    best = best or _certify(p, _at(p, np.zeros(len(p.t))))
    return _finish(best, watch, status)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Minimise ½ vᵀKv - tᵀv subject to Σv = 0 and low <= v <= high."""

    K: FloatArray
    t: FloatArray
    low: FloatArray
    high: FloatArray
    C: float
    labels: FloatArray
    bias: bool

    @cached_property
    def scale(self) -> float:
        """Mean of the diagonal of K."""
        return float(self.K.diagonal().mean()) or 1.0

    @property
    def quarter(self) -> int:
        """A quarter of the number of examples, 20 at least."""
        return max(len(self.t) // 4, 20)


def _problem(K: ArrayLike, t: ArrayLike, C: float, bias: bool) -> _Problem:
    """Check the input; write a machine without bias as one with.

    A phantom example with k(x, ·) = 0, t = 0 and v unbounded takes up
    whatever Σv is not zero, and forces b = 0.
    """
    K = _checks.gram(K)
    t = _checks.both_signs(t, "t", len(K))
    C = _checks.positive(C, "C")
    _probe(K)
    low, high = np.minimum(0.0, C * t), np.maximum(0.0, C * t)
    if bias:
        return _Problem(K, t, low, high, C, t, bias)
    never = 2 * C * len(t)  # Σ|v| is at most half of this
    return _Problem(
        np.pad(K, (0, 1)),
        np.append(t, 0.0),
        np.append(low, -never),
        np.append(high, never),
        C,
        t,
        bias,
    )


@dataclass(frozen=True, eq=False)
class _Point:
    """A feasible v, with e = t - Kv and the interval of best biases."""

    v: FloatArray
    e: FloatArray
    ends: tuple[float, float]

    @classmethod
    def at(cls, p: _Problem, v: FloatArray, e: FloatArray) -> "_Point":
        """The point v, whose e is known."""
        return cls(v, e, bias_interval(e, p.t) if p.bias else (0.0, 0.0))

    @property
    def b(self) -> float:
        return (self.ends[0] + self.ends[1]) / 2


def _at(p: _Problem, v: FloatArray) -> _Point:
    return _Point.at(p, v, p.t - _times(p.K, v))


def _moved(
    p: _Problem, v: FloatArray, e: FloatArray, to: FloatArray
) -> _Point:
    """The point ``to``, from v and its e: few v change, few rows are read."""
    return _Point.at(p, to, e - _times(p.K, to - v))


def _times(K: FloatArray, v: FloatArray) -> FloatArray:
    """Kv, from the rows where v is not zero if they are few."""
    rows = np.flatnonzero(v)
    if 4 * len(rows) > len(v):
        return K @ v
    return v[rows] @ K[rows]


def _certify(p: _Problem, point: _Point) -> SVM:
    """Primal, dual and gap of a feasible point."""
    v, e, labels = point.v, point.e, p.labels
    dual = float(p.t @ v + e @ v) / 2
    alpha = labels * v[: len(labels)] + 0.0  # no -0.0
    y = labels - e[: len(labels)] + point.b
    gap = float(gap_terms(alpha, y, labels, p.C).sum())
    return SVM(
        alpha=alpha,
        b=point.b,
        b_interval=point.ends,
        primal=dual + gap,
        dual=dual,
        gap=gap,
        iterations=0,
        status="",
        t=labels,
        C=p.C,
    )


def _improving_points(
    p: _Problem, tolerance: float, watch: "_Watch"
) -> Iterator[tuple[_Point, bool]]:
    """Feasible points, and whether they are final if their gap is small.

    Pair steps, then Newton; where that fails, interior point with a matrix
    of low rank, or many rounds of pair steps and descent on the free set;
    and where those do not end, interior point on ever more examples.  Its
    zeros are not exact: what makes them so, if it succeeds, comes first.
    """
    point = _at(p, np.zeros(len(p.t)))
    point = _pair_steps(p, point, watch.spend(p.quarter))
    yield point, False
    if _guess(p, point)[0].sum() <= p.quarter:
        point = yield from _rounds(p, point, tolerance, watch, FEW)
    inner = _low_rank_step(p, point, watch)
    yield inner, False
    exact = _newton(p, inner, watch)
    point = _clamp(p, inner) if exact is inner else exact
    yield point, True
    point = yield from _rounds(p, point, tolerance, watch, ROUNDS)
    extra = EXTRA
    while extra < 8 * max(len(p.t), EXTRA):
        point = _interior_point_step(p, point, extra, watch)
        exact = _newton(p, point, watch)
        yield (_clamp(p, point) if exact is point else exact), True
        yield point, True
        point = _pair_steps(p, point, watch.spend(p.quarter))
        extra *= 2


def _rounds(
    p: _Problem, point: _Point, tolerance: float, watch: "_Watch", most: int
) -> Generator[tuple[_Point, bool], None, _Point]:
    """Newton, and while that fails, free-set descent and pair steps."""
    for _ in range(most):
        exact = _newton(p, point, watch)
        if exact is not point:
            yield exact, True
        elif _certify(p, point).relative_gap <= tolerance:
            yield _exactly(p, point), True
        point = _subspace_steps(p, point, watch)
        yield point, False
        point = _pair_steps(p, point, watch.spend(max(len(p.t) // 10, 10)))
    return point


def _pair_steps(p: _Problem, point: _Point, steps: int) -> _Point:
    """Raise one v_i and lower one v_j, the best pair each time (SMO).

    i has the largest e among those that can rise; with it, j promises the
    largest decrease (e_i - e_j)² / 2(K_ii + K_jj - 2K_ij).
    """
    K, v, e = p.K, point.v.tolist(), point.e.copy()
    low, high = p.low.tolist(), p.high.tolist()
    half = K.diagonal() / 2
    flat = EPS * (float(half.max()) or 1.0)
    rise = np.where(point.v < p.high, 0.0, -np.inf)
    fall = np.where(point.v > p.low, 0.0, -np.inf)
    slope, curvature = np.empty((2, len(v)))
    for _ in range(steps):
        i = int(np.add(e, rise, out=slope).argmax())
        np.subtract(e[i], e, out=slope)
        slope += fall
        np.maximum(slope, 0.0, out=slope)
        np.subtract(half, K[i], out=curvature)
        curvature += half[i]
        j = int((slope * slope / np.maximum(curvature, flat)).argmax())
        slope_j, curvature_j = float(slope[j]), 2 * float(curvature[j])
        if slope_j <= 0:
            break
        if curvature_j < -1e3 * flat:
            _refuse_indefinite(K)
        room_up, room_down = high[i] - v[i], v[j] - low[j]
        step = min(slope_j / max(curvature_j, flat), room_up, room_down)
        v[i] = high[i] if step == room_up else v[i] + step
        v[j] = low[j] if step == room_down else v[j] - step
        e -= step * (K[i] - K[j])
        rise[i] = -np.inf if step == room_up else 0.0
        fall[j] = -np.inf if step == room_down else 0.0
        fall[i] = rise[j] = 0.0
    return _Point.at(p, np.array(v), e)


def _subspace_steps(p: _Problem, point: _Point, watch: "_Watch") -> _Point:
    """Minimise over the free v, one bound at a time.

    Goes towards the solution on the free set as far as the box allows; what
    meets a bound stays there, the others go on.  The objective never rises.
    """
    F = np.flatnonzero((point.v > p.low) & (point.v < p.high))
    rows = p.K[F]
    block, v, e = rows[:, F], point.v[F], point.e[F]
    free = np.arange(len(F))
    for _ in range(DROPS):
        if len(free) < 2:
            break
        watch.spend(1)
        solve = _free_solver(p, block[np.ix_(free, free)])
        if solve is None:
            break
        step = solve(e[free], 0.0)
        goal = np.where(step > 0, p.high[F[free]], p.low[F[free]])
        room = (goal - v[free]) / np.where(step == 0, EPS, step)
        a = min(1.0, float(np.abs(room).min()))
        v[free] += a * step
        e -= (a * step) @ block[free]
        met = np.abs(room) <= a
        v[free[met]] = goal[met]
        free = free[~met]
        if a == 1.0:
            break
    change = v - point.v[F]
    new = point.v.copy()
    new[F] = v
    return _Point.at(p, new, point.e - change @ rows)


def _newton(p: _Problem, point: _Point, watch: "_Watch") -> _Point:
    """Guess which v are at a bound, solve for the others, mend the guess.

    First guess: where one gradient step would end.  Then a v that leaves its
    box is put on the bound it crossed, and one at a bound whose e - b has
    the wrong sign is freed.  No change: optimal.  If the number of changes
    does not halve each time, give up and return the old point.
    """
    free, at_high = _guess(p, point)
    changes = int(free.sum())
    for _ in range(NEWTON_TRIES):
        watch.spend(1)
        fixed = np.where(free, 0.0, np.where(at_high, p.high, p.low))
        solution = _solve_free(p, point, fixed, free) if free.any() else None
        if solution is None:
            break
        v, e, b = solution
        fuzz, blur = 1e-10 * np.abs(v).max(), 1e-10 * np.abs(e).max()
        below, above = v < p.low - fuzz, v > p.high + fuzz
        wrong = ~free & np.where(at_high, e - b < -blur, e - b > blur)
        before, changes = changes, int((below | above | wrong).sum())
        if changes == 0:
            return _moved(p, v, e, to=_project(p, v))
        if changes > before / 2:
            break
        free = (free & ~below & ~above) | wrong
        at_high = (at_high & ~free) | above
    return point


def _guess(p: _Problem, point: _Point) -> tuple[BoolArray, BoolArray]:
    """Which v are free and which at their upper bound, a gradient step on."""
    aim = point.v + (point.e - point.b) / p.scale
    return (aim > p.low) & (aim < p.high), aim >= p.high


def _exactly(p: _Problem, point: _Point) -> _Point:
    """The same point without what many small steps have left of rounding."""
    return _at(p, _project(p, point.v))


def _clamp(p: _Problem, point: _Point) -> _Point:
    """Put those v on their bounds that seem to belong there."""
    free, at_high = _guess(p, point)
    v = np.where(free, point.v, np.where(at_high, p.high, p.low))
    return _at(p, _project(p, v))


def _solve_free(
    p: _Problem, point: _Point, fixed: FloatArray, free: BoolArray
) -> tuple[FloatArray, FloatArray, float] | None:
    """v, e and b with e_n = b on the free set and Σv = 0.

    One step of refinement takes back the jitter.
    """
    F = np.flatnonzero(free)
    rows = p.K[F]
    solve = _free_solver(p, rows[:, F])
    if solve is None:
        return None
    v, e = fixed.copy(), _moved(p, point.v, point.e, to=fixed).e
    for _ in range(2):
        step = solve(e[F], -float(v.sum()))
        v[F] += step
        e -= step @ rows
    return v, e, float(e[F].mean())


def _free_solver(
    p: _Problem, block: FloatArray
) -> Callable[[FloatArray, float], FloatArray] | None:
    """Factorise once; solve for steps with block · step = e - b and a sum.

    Adding s to every entry of the block changes nothing but b, because the
    sum is known, and keeps a block of low rank positive definite.
    """
    A = block + p.scale
    A.flat[:: len(A) + 1] += 10 * EPS * np.trace(A)
    try:
        solve = _cholesky(A)
    except LinAlgError:
        _refuse_indefinite(p.K)
        return None
    ones = solve(np.ones(len(A)))

    def step(e: FloatArray, total: float) -> FloatArray:
        step = solve(e)
        step -= (step.sum() - total) / ones.sum() * ones
        return step

    return step


def _interior_point_step(
    p: _Problem, point: _Point, extra: int, watch: "_Watch"
) -> _Point:
    """Optimise the free v and the worst violators, the others held."""
    v, e = point.v, point.e
    free = (v > p.low) & (v < p.high)
    excess = p.t * (e - point.b)  # 1 - t_n y_n, and 0 for the phantom
    violation = np.where(excess > 0, p.C - p.t * v, -p.t * v) * excess
    violation[free] = np.inf
    count = min(int(free.sum()) + extra, len(v))
    W = np.argsort(-violation, kind="stable")[:count]
    Q = _Dense(p.K[np.ix_(W, W)])
    box = _Box(p.low[W], p.high[W], total=float(v[W].sum()))
    goal = 1e-12 * _certify(p, point).dual
    x = _interior_point(Q, e[W] + Q.times(v[W]), box, v[W], goal, watch)
    if x is None:
        _refuse_indefinite(p.K)
        return point
    new = v.copy()
    new[W] = x
    return _at(p, _project(p, new))


def _low_rank_step(p: _Problem, point: _Point, watch: "_Watch") -> _Point:
    """Optimise all v with K replaced by GGᵀ, if a narrow G will do.

    An error of δ in K moves an output by at most δ Σ|v|.  The diagonal
    bounds that error because it bounds every entry of a Gram matrix.
    """
    if max(p.K.max(), -p.K.min()) > (1 + 1e-9) * p.K.diagonal().max():
        _refuse_indefinite(p.K)
    G = _pivoted_cholesky(p.K, LOW_RANK / max(p.C, 1 / p.scale))
    if G is None:
        return point
    box = _Box(p.low, p.high, total=0.0)
    goal = 1e-9 * _certify(p, point).dual
    x = _interior_point(_LowRank(G), p.t, box, point.v, goal, watch)
    return point if x is None else _at(p, _project(p, x))


def _pivoted_cholesky(K: FloatArray, largest: float) -> FloatArray | None:
    """G with 0 <= diag(K - GGᵀ) <= largest, or None if it gets wide.

    Always the example that the columns so far explain worst comes next.
    """
    rest = K.diagonal().copy()
    most = max(len(K) // 3, min(len(K), 200))
    columns = np.empty((most, len(K)))
    for r, g in enumerate(columns):
        i = int(rest.argmax())
        if rest[i] <= largest:
            return columns[:r].T
        np.subtract(K[i], columns[:r, i] @ columns[:r], out=g)
        g /= np.sqrt(rest[i])
        rest -= g * g
    return None


class _Dense(NamedTuple):
    """A matrix Q as the interior-point method needs it."""

    Q: FloatArray

    def times(self, x: FloatArray) -> FloatArray:
        """Qx."""
        return self.Q @ x

    def plus(self, d: FloatArray) -> _Solve:
        """Factorise Q + diag(d) once; the result solves with it."""
        A = self.Q.copy()
        A.flat[:: len(d) + 1] += d + 10 * EPS * np.trace(A)
        return _cholesky(A)


class _LowRank(NamedTuple):
    """The same for Q = GGᵀ: only matrices as wide as G are factorised."""

    G: FloatArray

    def times(self, x: FloatArray) -> FloatArray:
        """Qx."""
        return self.G @ (x @ self.G)

    def plus(self, d: FloatArray) -> _Solve:
        """(GGᵀ + D)⁻¹ = D⁻¹ - D⁻¹G(I + GᵀD⁻¹G)⁻¹GᵀD⁻¹."""
        H = self.G / np.sqrt(d)[:, None]
        A = H.T @ H
        A.flat[:: len(A) + 1] += 1.0
        solve = _cholesky(A)
        return lambda b: (b - self.G @ solve((b / d) @ self.G)) / d


def _cholesky(A: FloatArray) -> _Solve:
    """Factorise a symmetric A in place; the result solves with it."""
    U, failed = dpotrf(A.T, clean=0, overwrite_a=1)
    if failed:
        raise LinAlgError(f"pivot {failed} is not positive")
    return lambda b: dpotrs(U, b)[0]


class _Box(NamedTuple):
    """low <= x <= high and Σx = total."""

    low: FloatArray
    high: FloatArray
    total: float


def _interior_point(
    Q: _Dense | _LowRank,
    q: FloatArray,
    box: _Box,
    x: FloatArray,
    goal: float,
    watch: "_Watch",
) -> FloatArray | None:
    """Minimise ½ xᵀQx - qᵀx in the box, by Mehrotra's method.

    Starts at x, drawn a fifth of the way to the middle of the box.

    y, z and Z are the multipliers of the sum and of the two bounds.  Stops
    when the sum of the products z(x - low) + Z(high - x) is below ``goal``.
    """
    x = 0.8 * x + 0.1 * (box.low + box.high)
    slope = q - Q.times(x)
    y = float(np.median(slope))
    slope -= y
    z, Z = (np.maximum(s, 0.0) + _spread(slope) for s in (-slope, slope))
    for round_ in range(60):
        down, up = x - box.low, box.high - x
        products = float(z @ down + Z @ up)
        if products <= goal or min(down.min(), up.min()) <= 0:
            break  # there, or as close to a bound as floats allow
        watch.spend(1)
        system = _newton_system(Q, q, box, x, y, z, Z)
        if system is None:  # at once: Q is at fault; later: rounding is
            return x if round_ else None
        dx, _, dz, dZ = system(-z * down, -Z * up)
        a = _longest((down, dx), (up, -dx), (z, dz), (Z, dZ))
        after = (down + a * dx) @ (z + a * dz) + (up - a * dx) @ (Z + a * dZ)
        aim = (float(after) / products) ** 3 * products / (2 * len(x))
        dx, dy, dz, dZ = system(
            aim - z * down - dx * dz, aim - Z * up + dx * dZ
        )
        a = 0.995 * _longest((down, dx), (up, -dx), (z, dz), (Z, dZ))
        x, y, z, Z = x + a * dx, y + a * dy, z + a * dz, Z + a * dZ
    return x


def _spread(slope: FloatArray) -> float:
    """A fifth of the mean size: how far multipliers start from zero."""
    return 0.2 * float(np.abs(slope).mean()) + EPS


def _newton_system(
    Q: _Dense | _LowRank,
    q: FloatArray,
    box: _Box,
    x: FloatArray,
    y: float,
    z: FloatArray,
    Z: FloatArray,
) -> Callable[[FloatArray, FloatArray], _Step] | None:
    """Factorise once; the result solves for changes c of z·down, d of Z·up."""
    down, up = x - box.low, box.high - x
    stationarity = Q.times(x) - q + y - z + Z
    surplus = float(x.sum()) - box.total
    try:
        solve = Q.plus(z / down + Z / up)
    except LinAlgError:
        return None
    ones = solve(np.ones(len(x)))

    def step(c: FloatArray, d: FloatArray) -> _Step:
        dx = solve(c / down - d / up - stationarity)
        dy = (float(dx.sum()) + surplus) / float(ones.sum())
        dx -= dy * ones
        return dx, dy, (c - z * dx) / down, (d + Z * dx) / up

    return step


def _longest(*pairs: tuple[FloatArray, FloatArray]) -> float:
    """The largest a <= 1 with value + a·change >= 0 in every pair."""
    fastest = [float((change / value).min()) for value, change in pairs]
    return 1 / max(1.0, -min(fastest))


def _project(p: _Problem, v: FloatArray) -> FloatArray:
    """Back into the box, with Σv = 0 restored on those inside it."""
    v = v.clip(p.low, p.high)
    for _ in range(50):
        total = float(v.sum())
        inside = (v > p.low) & (v < p.high)
        if abs(total) <= EPS * np.abs(v).sum() or not inside.any():
            break
        v[inside] -= total / inside.sum()
        v = v.clip(p.low, p.high)
    return v


def _probe(K: FloatArray) -> None:
    """Try Cholesky on a block: all of K, or 256 evenly spaced examples."""
    N = len(K)
    rows = np.linspace(0, N - 1, min(N, PROBE)).astype(int)
    block = K[np.ix_(rows, rows)]
    block.flat[:: len(rows) + 1] += 10 * EPS * np.trace(K)
    try:
        _cholesky(block)
    except LinAlgError:
        _refuse_indefinite(K)


def _refuse_indefinite(K: FloatArray) -> None:
    """Raise if K has an eigenvalue that is negative beyond rounding."""
    lowest = float(eigvalsh(K, subset_by_index=[0, 0])[0])
    if lowest < -10 * EPS * np.trace(K):
        raise ValueError(
            "K must be positive semi-definite, got smallest eigenvalue "
            f"{lowest:.3g}: the dual is not concave"
        )


class _Stop(Exception):  # noqa: N818
    """A limit was reached; the message is the status."""


class _Watch:
    """Counts iterations, keeps the limits, reports on long solves."""

    def __init__(
        self,
        max_iterations: int | None,
        max_seconds: float | None,
        progress: bool,
    ) -> None:
        self.iterations = 0
        self.most = (
            sys.maxsize
            if max_iterations is None
            else _checks.count(max_iterations, "max_iterations")
        )
        self.start = time.monotonic()
        self.deadline = self.start + (
            np.inf
            if max_seconds is None
            else _checks.positive(max_seconds, "max_seconds")
        )
        self.next_report = self.start + 5 if progress else np.inf

    def spend(self, wanted: int) -> int:
        """Iterations granted, at most ``wanted``; none left: stop."""
        granted = min(wanted, self.most - self.iterations)
        if granted <= 0:
            raise _Stop("max_iterations")
        if time.monotonic() > self.deadline:
            raise _Stop("max_seconds")
        self.iterations += granted
        return granted

    def look(self, best: SVM) -> None:
        """Say how far we are, every five seconds."""
        now = time.monotonic()
        if now >= self.next_report:
            self.next_report = now + 5
            print(
                f"svm_dual: {now - self.start:.0f} s, {self.iterations} "
                f"iterations, relative gap {best.relative_gap:.1e}",
                file=sys.stderr,
            )


def _finish(svm: SVM, watch: _Watch, status: str) -> SVM:
    return replace(svm, iterations=watch.iterations, status=status)
