"""Support vector regression: a tube of width 2ε that costs nothing.

The equations are those of chapter 20.  The dual is that of a support vector
machine with each example twice, and so is the solver, ``_svm_solver``; what
comes out of it is judged here, by :func:`gap_terms`.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks, _progress, _svm_solver
from kernelbook._checks import FloatArray
from kernelbook._expansion import Expansion, chosen, gram, own_inputs
from kernelbook.kernels import Kernel


@dataclass(frozen=True, eq=False)
class SVR:
    """A support vector regression, with the certificate of its optimality."""

    a: FloatArray = field(repr=False)
    """(N,) coefficients α_n - α̂_n, exactly 0 or ±C when at a bound."""
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
    """The word "converged", or why the solver stopped before that.

    One of "max_iterations", "max_seconds", "interrupted", "stalled".
    """
    t: FloatArray = field(repr=False)
    """(N,) targets, as given, in an array of their own."""
    C: float
    """Price of a unit outside the tube, as given."""
    epsilon: float
    """Half the width of the tube, as given."""

    @property
    def alpha(self) -> FloatArray:
        """(N,) multipliers of the targets above the tube."""
        return np.maximum(self.a, 0.0)

    @property
    def alpha_hat(self) -> FloatArray:
        """(N,) multipliers of the targets below the tube."""
        return np.maximum(-self.a, 0.0)

    @property
    def relative_gap(self) -> float:
        """gap / primal, between 0 and 1; 0 if nothing has to be paid."""
        return self.gap / self.primal if self.gap > 0 else 0.0

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices with a_n != 0, on the edge of the tube or outside it."""
        return np.flatnonzero(self.a)

    @property
    def free(self) -> NDArray[np.intp]:
        """Indices with 0 < abs(a_n) < C, on the edge of the tube."""
        return np.flatnonzero((self.a != 0) & (np.abs(self.a) < self.C))

    @property
    def bounded(self) -> NDArray[np.intp]:
        """Indices with abs(a_n) = C, outside the tube or on its edge."""
        return np.flatnonzero(np.abs(self.a) >= self.C)


def insensitive_loss(y: ArrayLike, t: ArrayLike, epsilon: float) -> FloatArray:
    """How far each target is outside the tube around its output.

    ξ_n = max(0, abs(t_n - y_n) - ε).

    Parameters
    ----------
    y : (N,) outputs
    t : (N,) targets
    epsilon : >= 0

    Returns
    -------
    loss : (N,)

    Examples
    --------
    >>> insensitive_loss(y=[0.0, 0.0, 0.0], t=[1.0, 0.25, -2.0], epsilon=0.5)
    array([0.5, 0. , 1.5])
    """
    y = _checks.vector(y, "y")
    t = _checks.vector(t, "t", len(y))
    epsilon = _checks.non_negative(epsilon, "epsilon")
    return np.maximum(0.0, np.abs(t - y) - epsilon)


def primal_objective(
    w: ArrayLike,
    b: float,
    Phi: ArrayLike,
    t: ArrayLike,
    C: float,
    epsilon: float,
) -> float:
    """Objective of support vector regression, slacks at their smallest.

    J(w, b) = ½ ‖w‖² + C Σ_n max(0, abs(t_n - wᵀφ(x_n) - b) - ε).

    Parameters
    ----------
    w : (M,) weights
    b : bias
    Phi : (N, M) design matrix, row n is φ(x_n)ᵀ
    t : (N,) targets
    C : > 0
    epsilon : >= 0

    Examples
    --------
    >>> primal_objective([1.0], 0.0, [[0.5], [2.0]], [1, 2], 10.0, 0.25)
    3.0
    """
    Phi = _checks.matrix(Phi, "Phi")
    w = _checks.vector(w, "w", Phi.shape[1])
    b, C = _checks.real(b, "b"), _checks.positive(C, "C")
    losses = insensitive_loss(Phi @ w + b, t, epsilon)
    return float(w @ w) / 2 + C * float(losses.sum())


def dual_objective(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, epsilon: float
) -> float:
    """Dual objective of support vector regression, in a = α - α̂.

    Σ_n a_n t_n - ε Σ_n abs(a_n) - ½ Σ_n Σ_m a_n a_m k(x_n, x_m).

    Parameters
    ----------
    a : (N,) coefficients
    K : (N, N) Gram matrix
    t : (N,) targets
    epsilon : >= 0

    Examples
    --------
    >>> dual_objective([1.0, -1.0], [[1, 0], [0, 1]], [2.0, 0.0], 0.25)
    0.5
    """
    K = _checks.gram(K)
    a = _checks.vector(a, "a", len(K))
    t = _checks.vector(t, "t", len(K))
    epsilon = _checks.non_negative(epsilon, "epsilon")
    return float(a @ t - epsilon * np.abs(a).sum() - a @ K @ a / 2)


def gap_terms(
    a: ArrayLike, y: ArrayLike, t: ArrayLike, C: float, epsilon: float
) -> FloatArray:
    """What each example adds to primal minus dual; none is negative.

    With r_n = t_n - y_n, α_n = max(0, a_n) and α̂_n = max(0, -a_n),
    g_n = (C - α_n) max(0, r_n - ε) + α_n max(0, ε - r_n)
    + (C - α̂_n) max(0, -r_n - ε) + α̂_n max(0, ε + r_n).

    Parameters
    ----------
    a : (N,) coefficients, abs(a_n) <= C and Σ_n a_n = 0
    y : (N,) outputs y_n = Σ_m a_m k(x_m, x_n) + b
    t : (N,) targets
    C : > 0
    epsilon : >= 0

    Returns
    -------
    terms : (N,)

    Examples
    --------
    >>> gap_terms([1.0, 0.0, -2.0], [0, 0, 0], [1.0, 0.25, -3.0], 2.0, 0.5)
    array([0.5, 0. , 0. ])
    """
    a = _checks.vector(a, "a")
    t = _checks.vector(t, "t", len(a))
    r = t - _checks.vector(y, "y", len(a))
    C = _checks.positive(C, "C")
    epsilon = _checks.non_negative(epsilon, "epsilon")

    def half(alpha: FloatArray, outside: FloatArray) -> FloatArray:
        return np.where(outside > 0, C - alpha, -alpha) * outside

    up, down = np.maximum(a, 0.0), np.maximum(-a, 0.0)
    return half(up, r - epsilon) + half(down, -r - epsilon)


def bias_interval(e: ArrayLike, epsilon: float) -> tuple[float, float]:
    """All biases that minimise the primal for given weights.

    With e_n = t_n - wᵀφ(x_n), the interval from the i-th to the j-th smallest
    of the 2N numbers e_n - ε and e_n + ε, where i = N and j = i + 1.

    Parameters
    ----------
    e : (N,) targets minus outputs without bias, t - Ka
    epsilon : >= 0

    Returns
    -------
    low, high : the ends of the interval

    Examples
    --------
    >>> bias_interval(e=[0.0, 1.0, 5.0], epsilon=0.5)
    (0.5, 1.5)
    """
    e = _checks.vector(e, "e")
    epsilon = _checks.non_negative(epsilon, "epsilon")
    N = len(e)
    ordered = np.partition(np.append(e - epsilon, e + epsilon), [N - 1, N])
    return float(ordered[N - 1]), float(ordered[N])


def predict(svr: SVR, k: ArrayLike) -> FloatArray:
    """Predicted targets at new inputs.

    y(x) = Σ_n a_n k(x_n, x) + b.

    Parameters
    ----------
    svr : SVR
    k : (N, N*) cross-Gram, column m holds k(x_n, x) for the m-th new input

    Returns
    -------
    y : (N*,)

    Examples
    --------
    >>> svr = fit_dual([[1, -1], [-1, 1]], [2.0, -2.0], C=10.0, epsilon=0.5)
    >>> predict(svr, [[3.0], [-3.0]])
    array([4.5])
    """
    k = _checks.cross_gram(k, len(svr.a), "k")
    return k.T @ svr.a + svr.b


def fit_dual(
    K: ArrayLike,
    t: ArrayLike,
    C: float,
    epsilon: float,
    *,
    bias: bool = True,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    progress: bool = True,
) -> SVR:
    """Maximise the dual of support vector regression, with a certificate.

    Σ_n a_n t_n - ε Σ_n abs(a_n) - ½ Σ_n Σ_m a_n a_m k(x_n, x_m),
    -C <= a_n <= C, Σ_n a_n = 0; without bias the last constraint is dropped.

    Ctrl-C, ``max_iterations`` and ``max_seconds`` stop it with the best
    point so far.  If that is not within the tolerance, ``status`` says why
    and a ConvergenceWarning says so.

    Parameters
    ----------
    K : (N, N) Gram matrix, positive semi-definite
    t : (N,) targets
    C : > 0
    epsilon : >= 0, half the width of the tube
    bias : whether there is a bias b
    tolerance : on the relative gap, (primal - dual) / primal
    max_iterations, max_seconds : limits, none if left out
    progress : report to stderr when a solve takes longer than ten seconds

    Returns
    -------
    svr : SVR

    Raises
    ------
    ValueError
        If K is not square, symmetric and positive semi-definite, judged as
        in :func:`kernelbook.svm.fit_dual`.

    Examples
    --------
    >>> svr = fit_dual([[1, -1], [-1, 1]], [2.0, -2.0], C=10.0, epsilon=0.5)
    >>> svr.a, svr.dual, svr.status
    (array([ 0.75, -0.75]), 1.125, 'converged')
    """
    report = _progress.Progress("svr.fit_dual", progress)
    watch = _svm_solver.limits(max_iterations, max_seconds)
    svr = _solved(K, t, C, epsilon, bias, tolerance, watch, report)
    advice = _svm_solver.advice(svr.status, svr.relative_gap)
    _progress.warn_unless_converged(svr.status, report.name, advice)
    return svr


@dataclass(frozen=True, eq=False)
class KernelMachine(Expansion):
    """A support vector regression with its kernel and its support vectors.

    It takes new inputs alone, and so no cross-Gram can be turned round.  The
    inputs it keeps are those with a_n != 0.
    """

    svr: SVR = field(kw_only=True)
    """The solution of the dual, with its certificate, for all N inputs."""

    @property
    def status(self) -> str:
        """The word "converged", or why the solver stopped before that."""
        return self.svr.status

    def predict(self, Z: Any) -> FloatArray:
        """(N*,) predicted targets y(z)."""
        return self.output(Z)


def fit(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    C: float,
    epsilon: float,
    *,
    bias: bool = True,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    progress: bool = True,
) -> KernelMachine:
    """Support vector regression from a kernel and inputs.

    The solution of :func:`fit_dual` for K = k(X), which keeps the support
    vectors and the kernel: y(x) = Σ_n a_n k(x_n, x) + b.

    Parameters
    ----------
    k : Kernel
    X : (N, D) inputs as rows, or whatever else the kernel takes
    t : (N,) targets
    C : > 0
    epsilon : >= 0, half the width of the tube
    bias, tolerance, max_iterations, max_seconds, progress :
        as for :func:`fit_dual`

    Returns
    -------
    machine : KernelMachine

    Raises
    ------
    ValueError
        If the kernel refuses X, or t does not fit it.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> X, t = [[1.0], [0.0], [-1.0]], [2.0, 0.25, -2.0]
    >>> machine = fit(Linear(), X, t, C=10.0, epsilon=0.5)
    >>> machine.X.tolist(), machine.a, machine.predict([[3.0], [-2.0]])
    ([[1.0], [-1.0]], array([ 0.75, -0.75]), array([ 4.5, -3. ]))
    """
    report = _progress.Progress("svr.fit", progress)
    watch = _svm_solver.limits(max_iterations, max_seconds)
    X = own_inputs(k, X)
    K = gram(k, X)
    svr = _solved(K, t, C, epsilon, bias, tolerance, watch, report)
    advice = _svm_solver.advice(svr.status, svr.relative_gap)
    _progress.warn_unless_converged(svr.status, report.name, advice)
    # A flat function has no support vector, and keeps an input all the same.
    kept = svr.support if len(svr.support) else np.array([0])
    return KernelMachine(k, chosen(X, kept), svr.a[kept], svr.b, svr=svr)


def _solved(
    K: ArrayLike,
    t: ArrayLike,
    C: float,
    epsilon: float,
    bias: bool,
    tolerance: float,
    watch: _svm_solver.Watch,
    report: _progress.Progress,
) -> SVR:
    """Check what came, solve, and certify what was found."""
    eps = _checks.precision(K)
    K = _checks.gram(K)
    t = _checks.vector(t, "t", len(K)).copy()
    C = _checks.positive(C, "C")
    epsilon = _checks.non_negative(epsilon, "epsilon")
    tolerance = _checks.positive(tolerance, "tolerance")
    # The bias takes up what the targets share, and rounding is that of the
    # rest: Σ_n a_n = 0 makes the dual blind to it.
    level = float(t.min() + t.max()) / 2 if bias else 0.0
    rest = t - level
    a, e, status = np.zeros(len(t)), rest, _progress.CONVERGED
    # The solver's outputs are of the size of 1; a power of two is exact.
    largest = float(np.abs(rest).max())
    unit = 2.0 ** math.frexp(largest)[1]
    p = _svm_solver.tube_problem(
        K, rest / unit, C / unit, epsilon / unit, bias, eps
    )
    if largest > epsilon:  # else a flat function has all in its tube
        point, status = _svm_solver.solve(p, tolerance, watch, report)
        v, both = _svm_solver.as_given(p, point)
        a = unit * (v[: len(t)] + v[len(t) :])
        e = unit * both[: len(t)] + epsilon
    low, high = bias_interval(e, epsilon) if bias else (0.0, 0.0)
    b = (low + high) / 2
    y = rest - e  # without bias
    gap = float(gap_terms(a, y + b, rest, C, epsilon).sum())
    dual = float(a @ rest - epsilon * np.abs(a).sum() - a @ y / 2)
    return SVR(
        a=a,
        b=b + level,
        b_interval=(low + level, high + level),
        primal=dual + gap,
        dual=dual,
        gap=gap,
        iterations=watch.iterations,
        status=status,
        t=t,
        C=C,
        epsilon=epsilon,
    )
