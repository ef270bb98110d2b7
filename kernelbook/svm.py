"""Support vector machines: the dual, solved with a certificate.

The equations are those of chapter 19.  How the dual is solved is written in
``_svm_solver``; what comes out of it is judged here, by :func:`gap_terms`.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks, _progress, _rows, _svm_large, _svm_solver
from kernelbook._checks import FloatArray
from kernelbook._expansion import Expansion, chosen, gram, own_inputs
from kernelbook._gram import number_of
from kernelbook.kernels import Kernel

WHOLE = 2000  # so many inputs have their whole Gram matrix made


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
    """The word "converged", or why the solver stopped before that.

    One of "max_iterations", "max_seconds", "memory", "interrupted", "stalled".
    """
    t: FloatArray = field(repr=False)
    """(N,) labels, as given, in an array of their own."""
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
    def nu(self) -> float:
        """Share of the multipliers that is in use, Σ_n α_n / (N C)."""
        return float(self.alpha.sum()) / (len(self.alpha) * self.C)

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

    J(w, b) = ½ ‖w‖² + C Σ_n max(0, 1 - t_n {wᵀφ(x_n) + b}).

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

    g_n = (C - α_n) max(0, 1 - t_n y_n) + α_n max(0, t_n y_n - 1).

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

    The interval from the i-th to the j-th smallest of the numbers
    e_n = t_n - wᵀφ(x_n), where i = N₊, the number of positive labels, and
    j = i + 1.

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


def pair_step(
    alpha: ArrayLike, K: ArrayLike, t: ArrayLike, C: float
) -> FloatArray:
    """One step of sequential minimal optimisation: the best pair moves.

    With v_n = α_n t_n and e = t - Kv, v_i rises and v_j falls by
    s = (e_i - e_j) / (K_ii + K_jj - 2K_ij), or as far as the box allows.
    i has the largest e among those that can rise; with it, j promises the
    largest decrease (e_i - e_j)² / (2(K_ii + K_jj - 2K_ij)).

    Parameters
    ----------
    alpha : (N,) multipliers, 0 <= α_n <= C
    K : (N, N) Gram matrix, positive semi-definite
    t : (N,) labels, -1 or +1
    C : > 0

    Returns
    -------
    alpha : (N,) with a dual that is no lower

    Examples
    --------
    >>> pair_step([0.0, 0.0], [[1, -1], [-1, 1]], [1, -1], C=10.0)
    array([0.5, 0.5])
    """
    K, C = _checks.gram(K), _checks.positive(C, "C")
    t = _checks.signs(t, "t", len(K))
    v = t * _checks.vector(alpha, "alpha", len(K))
    e, diagonal = t - K @ v, K.diagonal()
    low, high = np.minimum(0.0, C * t), np.maximum(0.0, C * t)
    i = int(np.where(v < high, e, -np.inf).argmax())
    slope = np.where(v > low, np.maximum(e[i] - e, 0.0), 0.0)
    flat = np.finfo(float).eps * (diagonal.max() or 1.0)
    curvature = np.maximum(K[i, i] + diagonal - 2 * K[i], flat)
    j = int((slope**2 / curvature).argmax())
    step = min(slope[j] / curvature[j], high[i] - v[i], v[j] - low[j])
    v[i], v[j] = v[i] + step, v[j] - step
    return t * np.clip(v, low, high) + 0.0  # no -0.0


def output(svm: SVM, k: ArrayLike) -> FloatArray:
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
    >>> svm = fit_dual(K=[[1, -1], [-1, 1]], t=[1, -1], C=10.0)
    >>> output(svm, [[3.0], [-3.0]])
    array([3.])
    """
    k = _checks.cross_gram(k, len(svm.alpha), "k")
    return k.T @ svm.coefficients + svm.b


def predict(svm: SVM, k: ArrayLike) -> FloatArray:
    """Class of new inputs: +1 where y(x) >= 0, else -1.

    Parameters
    ----------
    svm : SVM
    k : (N, N*) cross-Gram, column m holds k(x_n, x) for the m-th new input

    Returns
    -------
    t : (N*,) labels, -1 or +1

    Examples
    --------
    >>> svm = fit_dual(K=[[1, -1], [-1, 1]], t=[1, -1], C=10.0)
    >>> predict(svm, [[3.0, -2.0], [-3.0, 2.0]])
    array([ 1., -1.])
    """
    return _signs(output(svm, k))


def fit_dual(
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

    Ctrl-C, ``max_iterations`` and ``max_seconds`` stop it with the best
    point so far.  If that is not within the tolerance, ``status`` says why
    and a ConvergenceWarning says so.

    Parameters
    ----------
    K : (N, N) Gram matrix, positive semi-definite
    t : (N,) labels, -1 and +1, both present
    C : > 0
    bias : whether the machine has a bias b
    tolerance : on the relative gap, (primal - dual) / primal
    max_iterations, max_seconds : limits, none if left out
    progress : report to stderr when a solve takes longer than ten seconds

    Returns
    -------
    svm : SVM

    Raises
    ------
    ValueError
        If K is not square, symmetric and positive semi-definite, up to the
        rounding of the precision in which it came.  Up to 256 examples that
        is proved.  Beyond, such a block is, and every block and pair the
        solver meets.

    Examples
    --------
    >>> svm = fit_dual(K=[[1, -1], [-1, 1]], t=[1, -1], C=10.0)
    >>> svm.alpha, svm.dual, svm.status
    (array([0.5, 0.5]), 0.5, 'converged')
    """
    report = _progress.Progress("svm.fit_dual", progress)
    watch = _svm_solver.limits(max_iterations, max_seconds)
    eps = _checks.precision(K)
    K = _checks.gram(K)
    svm = _solved(K, t, C, bias, tolerance, watch, report, eps)
    advice = _svm_solver.advice(svm.status, svm.relative_gap)
    _progress.warn_unless_converged(svm.status, report.name, advice)
    return svm


def left_out(
    K: ArrayLike, t: ArrayLike, C: float, fold: ArrayLike, bias: bool = True
) -> FloatArray:
    """Outputs at each example of a machine trained without its fold.

    y_n = Σ_m α_m t_m k(x_m, x_n) + b, with the machine of the examples m that
    are not in the fold of n.

    Parameters
    ----------
    K : (N, N) Gram matrix, positive semi-definite
    t : (N,) labels, -1 and +1, both present outside each fold
    C : > 0
    fold : (N,) numbers, the fold of each example
    bias : whether the machines have a bias b

    Returns
    -------
    y : (N,)

    Raises
    ------
    ValueError
        If there is only one fold, or one without which a class is missing.

    Examples
    --------
    >>> K = [[1, 2, -1, -2], [2, 4, -2, -4], [-1, -2, 1, 2], [-2, -4, 2, 4]]
    >>> left_out(K, [1, 1, -1, -1], C=10.0, fold=[0, 1, 0, 1])
    array([ 0.5,  2. , -0.5, -2. ])
    """
    K = _checks.gram(K)
    N = len(K)
    t, fold = _checks.signs(t, "t", N), _checks.vector(fold, "fold", N)
    numbers = np.unique(fold)
    if len(numbers) < 2:
        raise ValueError("fold must name two folds or more, got one")
    y = np.empty(N)
    for number in numbers:
        own = fold == number
        rest = ~own
        machine = fit_dual(K[np.ix_(rest, rest)], t[rest], C, bias=bias)
        y[own] = output(machine, K[np.ix_(rest, own)])
    return y


@dataclass(frozen=True, eq=False)
class KernelMachine(Expansion):
    """A support vector machine with its kernel and its support vectors.

    It takes new inputs alone, and so no cross-Gram can be turned round.  The
    inputs it keeps are those with α_n > 0, its coefficients their α_n t_n.
    """

    svm: SVM = field(kw_only=True)
    """The solution of the dual, with its certificate, for all N inputs."""

    @property
    def status(self) -> str:
        """The word "converged", or why the solver stopped before that."""
        return self.svm.status

    def predict(self, Z: Any) -> FloatArray:
        """(N*,) labels: +1 where y(z) >= 0, else -1."""
        return _signs(self.output(Z))


def fit(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    C: float,
    *,
    bias: bool = True,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    max_seconds: float | None = None,
    progress: bool = True,
    memory: float = _rows.MEMORY,
) -> KernelMachine:
    """A support vector machine from a kernel and inputs.

    The solution of :func:`fit_dual` for K = k(X), which keeps the support
    vectors and the kernel: y(x) = Σ_n α_n t_n k(x_n, x) + b.  For more than
    2000 inputs only rows of the matrix are made, as they are met, unless these
    turn out to be many and the whole fits into ``memory``.

    Parameters
    ----------
    k : Kernel
    X : (N, D) inputs as rows, or whatever else the kernel takes
    t : (N,) labels, -1 and +1, both present
    C : > 0
    bias, tolerance, max_iterations, max_seconds, progress :
        as for :func:`fit_dual`
    memory : bytes that rows of K may take; 200 MB if left out

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
    >>> machine = fit(Linear(), X=[[1.0], [-1.0], [5.0]], t=[1, -1, 1], C=9.0)
    >>> machine.X.tolist(), machine.a, machine.output([[3.0], [-2.0]])
    ([[1.0], [-1.0]], array([ 0.5, -0.5]), array([ 3., -2.]))
    """
    report = _progress.Progress("svm.fit", progress)
    watch = _svm_solver.limits(max_iterations, max_seconds)
    X = own_inputs(k, X)
    memory = _checks.positive(memory, "memory")
    svm = None
    if number_of(X) > WHOLE:
        rows = _rows.rows_of(k, X, memory)
        svm = _solved_by_rows(rows, t, C, bias, tolerance, watch, report)
        del rows  # they make room
    if svm is None or svm.status == "stalled":
        K = gram(k, X)
        if not isinstance(X, np.ndarray):  # else half of it is a mirror image
            K = _checks.gram(K)
        svm = _solved(K, t, C, bias, tolerance, watch, report)
    advice = _svm_solver.advice(svm.status, svm.relative_gap)
    _progress.warn_unless_converged(svm.status, report.name, advice)
    # A machine that was stopped at once has no support vector, and keeps one.
    kept = svm.support if len(svm.support) else np.array([0])
    a = svm.coefficients[kept]
    return KernelMachine(k, chosen(X, kept), a, svm.b, svm=svm)


def _signs(y: FloatArray) -> FloatArray:
    return np.where(y >= 0, 1.0, -1.0)


def _solved(
    K: FloatArray,
    t: ArrayLike,
    C: float,
    bias: bool,
    tolerance: float,
    watch: _svm_solver.Watch,
    report: _progress.Progress,
    eps: float = _svm_solver.EPS,
) -> SVM:
    """Check what came, solve, and certify what was found."""
    t = _checks.both_signs(t, "t", len(K)).copy()
    C = _checks.positive(C, "C")
    tolerance = _checks.positive(tolerance, "tolerance")
    p = _svm_solver.problem(K, t, C, bias, eps)
    point, status = _svm_solver.solve(p, tolerance, watch, report)
    v, e = _svm_solver.as_given(p, point)
    ends = bias_interval(e, t) if bias else (0.0, 0.0)
    return _certified(v, e, ends, t, C, watch.iterations, status)


def _solved_by_rows(
    K: _rows.Rows,
    t: ArrayLike,
    C: float,
    bias: bool,
    tolerance: float,
    watch: _svm_solver.Watch,
    report: _progress.Progress,
) -> SVM:
    """The same, with rows of K made as they are met."""
    t = _checks.both_signs(t, "t", K.N).copy()
    C = _checks.positive(C, "C")
    tolerance = _checks.positive(tolerance, "tolerance")
    p = _svm_large.problem(K, t, C, bias)
    point, status = _svm_large.solve(p, tolerance, watch, report)
    v, e = _svm_large.as_given(p, point)
    ends = bias_interval(e, t) if bias else (0.0, 0.0)
    return _certified(v, e, ends, t, C, watch.iterations, status)


def _certified(
    v: FloatArray,
    e: FloatArray,
    ends: tuple[float, float],
    t: FloatArray,
    C: float,
    iterations: int,
    status: str,
) -> SVM:
    """Primal, dual and gap of v = α∘t, from e = t - Kv."""
    alpha, b = t * v + 0.0, (ends[0] + ends[1]) / 2  # no -0.0
    dual = float(t @ v + e @ v) / 2
    gap = float(gap_terms(alpha, t - e + b, t, C).sum())
    return SVM(
        alpha=alpha,
        b=b,
        b_interval=ends,
        primal=dual + gap,
        dual=dual,
        gap=gap,
        iterations=iterations,
        status=status,
        t=t,
        C=C,
    )
