"""Kernel logistic regression: labels -1 and +1, primal w and dual a, no bias.

The equations are those of chapter 3.  λ is the strength of the regulariser, as
everywhere in the book: λ = 1/λ₀² for a prior of standard deviation λ₀, and
λ = 1/C for a library that multiplies the losses by C.

There is no separate bias: give the features a constant, or add a constant to
the kernel.  For inputs and a bias that is not penalised see `logistic`.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray
from kernelbook._expansion import Expansion, gram, own_inputs
from kernelbook._likelihood import ROUNDING, Stopping, product
from kernelbook._progress import CONVERGED, Progress, warn_unless_converged
from kernelbook.discriminant import sign_rule
from kernelbook.kernels import Kernel
from kernelbook.logistic import loss, sigmoid


def objective(w: ArrayLike, Phi: ArrayLike, t: ArrayLike, lam: float) -> float:
    """Negative log posterior of the weights, up to a constant.

    J(w) = Σ_n ln(1 + exp(-t_n wᵀφ(x_n))) + ½ λ wᵀw.

    Parameters
    ----------
    w : (M,) weights
    Phi : (N, M) design matrix, row n is φ(x_n)ᵀ
    t : (N,) labels, -1 or +1
    lam : λ >= 0

    Examples
    --------
    >>> round(objective([1.0], [[1.0], [-2.0]], [1, -1], lam=2.0), 4)
    1.4402
    """
    Phi, t = _problem(Phi, t)
    w = _checks.vector(w, "w", Phi.shape[1])
    lam = _checks.non_negative(lam, "lam")
    y = product(Phi, w, "w and Phi")
    return loss(y, t) + lam * float(w @ w) / 2


def gradient(
    w: ArrayLike, Phi: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """Gradient of the objective.

    ∇J(w) = -Σ_n t_n {1 - P(t_n | x_n, w)} φ(x_n) + λw.

    Parameters
    ----------
    w : (M,) weights
    Phi : (N, M) design matrix
    t : (N,) labels, -1 or +1
    lam : λ >= 0

    Returns
    -------
    grad : (M,)

    Examples
    --------
    >>> gradient([0.0], [[1.0], [-2.0]], [1, -1], lam=2.0)
    array([-1.5])
    """
    Phi, t = _problem(Phi, t)
    w = _checks.vector(w, "w", Phi.shape[1])
    lam = _checks.non_negative(lam, "lam")
    y = product(Phi, w, "w and Phi")
    return lam * w - Phi.T @ (t * sigmoid(-t * y))


def residual_coefficients(
    w: ArrayLike, Phi: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """Dual coefficients of given weights: probability missing, over λ.

    a_n = t_n {1 - P(t_n | x_n, w)} / λ.

    Parameters
    ----------
    w : (M,) weights
    Phi : (N, M) design matrix
    t : (N,) labels, -1 or +1
    lam : λ > 0

    Returns
    -------
    a : (N,), between -1/λ and 1/λ, with the signs of t

    Examples
    --------
    >>> residual_coefficients([0.0], [[1.0], [-2.0]], [1, -1], lam=2.0)
    array([ 0.25, -0.25])
    """
    Phi, t = _problem(Phi, t)
    w = _checks.vector(w, "w", Phi.shape[1])
    lam = _checks.positive(lam, "lam")
    y = product(Phi, w, "w and Phi")
    return t * sigmoid(-t * y) / lam


def dual_objective(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, lam: float
) -> float:
    """The objective in terms of the Gram matrix: J at w = Φᵀa.

    J(a) = Σ_n ln(1 + exp(-t_n y_n)) + ½ λ aᵀKa, with y = Ka.

    Parameters
    ----------
    a : (N,) dual coefficients
    K : (N, N) Gram matrix
    t : (N,) labels, -1 or +1
    lam : λ >= 0

    Examples
    --------
    >>> K = [[1.0, -2.0], [-2.0, 4.0]]
    >>> round(dual_objective([1.0, 0.0], K, [1, -1], lam=2.0), 4)
    1.4402
    """
    K, t = _dual_problem(K, t)
    a = _checks.vector(a, "a", len(K))
    lam = _checks.non_negative(lam, "lam")
    y = product(K, a, "a and K")
    return loss(y, t) + lam * float(a @ y) / 2


def dual_residual(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """How far a is from the implicit equation of the solution.

    r_n = λ a_n - t_n {1 - P(t_n | x_n)}, with P = σ(t_n y_n) and y = Ka.

    The gradients are ∇J(a) = Kr, and ∇J(w) = Φᵀr at w = Φᵀa.

    Parameters
    ----------
    a : (N,) dual coefficients
    K : (N, N) Gram matrix
    t : (N,) labels, -1 or +1
    lam : λ >= 0

    Returns
    -------
    r : (N,)

    Examples
    --------
    >>> dual_residual([0.0, 0.0], [[1, 0], [0, 1]], [1, -1], lam=2.0)
    array([-0.5,  0.5])
    """
    K, t = _dual_problem(K, t)
    a = _checks.vector(a, "a", len(K))
    lam = _checks.non_negative(lam, "lam")
    y = product(K, a, "a and K")
    return lam * a - t * sigmoid(-t * y)


def newton_step(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """Newton's step for the residual r, from one Cholesky factorisation.

    d = -(λI + WK)⁻¹ r = -{r - W^½ B⁻¹ W^½ K r} / λ, where
    B = W^½ K W^½ + λI and W is diagonal, W_nn = P_n (1 - P_n).

    Parameters
    ----------
    a : (N,) dual coefficients
    K : (N, N) Gram matrix
    t : (N,) labels, -1 or +1
    lam : λ > 0

    Returns
    -------
    d : (N,), the next iterate is a + d

    Examples
    --------
    >>> newton_step([0.0, 0.0], [[1, 0], [0, 1]], [1, -1], lam=2.0).round(3)
    array([ 0.222, -0.222])
    """
    r = dual_residual(a, K, t, lam)
    lam = _checks.positive(lam, "lam")
    K = np.asarray(K, dtype=np.float64)
    return _newton_direction(K, K @ np.asarray(a), r, lam)


def _newton_direction(
    K: FloatArray, y: FloatArray, r: FloatArray, lam: float
) -> FloatArray:
    """The step -{r - W^½ B⁻¹ W^½ K r} / λ, with B = W^½ K W^½ + λI."""
    root_W = np.sqrt(sigmoid(y) * sigmoid(-y))
    B = K * root_W
    B *= root_W[:, None]
    B.flat[:: len(B) + 1] += lam
    factor = _linalg.factor(B, "W^½ K W^½ + λI", overwrite=True)
    inner = factor.solve(root_W * (K @ r))
    return (root_W * inner - r) / lam


@dataclass(frozen=True)
class DualFit:
    """What `fit_dual` found, and how well it solves the equation."""

    a: FloatArray
    """(N,) dual coefficients."""
    objectives: FloatArray
    """(iterations + 1,) J at the start and after each iteration."""
    residual: float
    """Largest size of an entry of r, which is 0 at the solution."""
    gradient_norm: float
    """‖∇J(w)‖ at w = Φᵀa, which is (rᵀKr)^½."""
    status: str
    """"converged", or "max_iterations" if the tolerance was not reached."""

    @property
    def iterations(self) -> int:
        """Number of Newton steps taken."""
        return len(self.objectives) - 1

    @property
    def objective(self) -> float:
        """J(a) at the solution."""
        return float(self.objectives[-1])

    @property
    def converged(self) -> bool:
        """Whether the residual is within the tolerance."""
        return self.status == CONVERGED


def fit_dual(
    K: ArrayLike,
    t: ArrayLike,
    lam: float,
    tolerance: float = 1e-8,
    max_iterations: int = 50,
    progress: bool = True,
) -> DualFit:
    """Kernel logistic regression by Newton's method in the dual.

    Starts at a = 0, takes Newton steps, halves a step while it would raise
    the objective, and stops when no entry of r exceeds the tolerance in size.

    Parameters
    ----------
    K : (N, N) Gram matrix
    t : (N,) labels, -1 and +1, both present
    lam : λ > 0
    tolerance : on the residual r, whose terms λa_n are between -1 and 1
    max_iterations : number of Newton steps to try; look at ``status``
    progress : whether to report on stderr, every ten seconds of computing

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.

    Examples
    --------
    >>> found = fit_dual([[1, -1], [-1, 1]], [1, -1], lam=1.0)
    >>> found.a.round(4), found.iterations, found.status
    (array([ 0.3374, -0.3374]), 3, 'converged')
    """
    K = _checks.gram(K)
    t = _checks.both_signs(t, "t", len(K))
    lam = _checks.positive(lam, "lam")
    stopping = Stopping(tolerance, max_iterations).checked()
    report = Progress("kernel_logistic.fit_dual", progress)
    found = _solve(K, t, lam, stopping, report)
    advice = _advice(found, stopping)
    warn_unless_converged(found.status, "kernel_logistic.fit_dual", advice)
    return found


def output(a: ArrayLike, k: ArrayLike) -> FloatArray:
    """Log-odds of the label +1 at new inputs, y(x) = Σ_n a_n k(x_n, x).

    Parameters
    ----------
    a : (N,) dual coefficients
    k : (N, N*) cross-Gram, column m holds k(x_n, x) for the m-th new input

    Returns
    -------
    y : (N*,)

    Examples
    --------
    >>> output([0.5, -0.5], [[1.0, 0.0], [1.0, 2.0]])
    array([ 0., -1.])
    """
    a = _checks.vector(a, "a")
    k = _checks.cross_gram(k, len(a), "k")
    return product(k.T, a, "a and k")


def probability(a: ArrayLike, k: ArrayLike) -> FloatArray:
    """Probability of the label +1 at new inputs.

    P(t = +1 | x) = σ(Σ_n a_n k(x_n, x)).

    Parameters
    ----------
    a : (N,) dual coefficients
    k : (N, N*) cross-Gram, column m holds k(x_n, x) for the m-th new input

    Returns
    -------
    P : (N*,)

    Examples
    --------
    >>> probability([0.5, -0.5], [[1.0, 0.0], [1.0, 2.0]]).round(3)
    array([0.5  , 0.269])
    """
    return sigmoid(output(a, k))


@dataclass(frozen=True, eq=False)
class KernelLogistic(Expansion):
    """A kernel, its training inputs and their coefficients; made by `fit`.

    It takes new inputs alone, so there is no cross-Gram to turn round; its
    output is the log-odds of the label +1.
    """

    dual: DualFit = field(kw_only=True, repr=False)
    """The coefficients, and how well they solve the equation."""

    @property
    def status(self) -> str:
        """ "converged", or "max_iterations"."""
        return self.dual.status

    @property
    def converged(self) -> bool:
        """Whether the residual is within the tolerance."""
        return self.dual.converged

    def probability(self, Z: Any) -> FloatArray:
        """(N*,) probability of the label +1 at new inputs Z."""
        return sigmoid(self.output(Z))

    def predict(self, Z: Any) -> FloatArray:
        """(N*,) the more probable label at new inputs Z, -1 or +1."""
        return sign_rule(self.output(Z))


def fit(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    lam: float,
    tolerance: float = 1e-8,
    max_iterations: int = 50,
    progress: bool = True,
) -> KernelLogistic:
    """Kernel logistic regression from inputs: `fit_dual` with K = k(X).

    Parameters
    ----------
    k : kernel
    X : (N, D) training inputs as rows
    t : (N,) labels, -1 and +1, both present
    lam, tolerance, max_iterations, progress : as in `fit_dual`

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> model = fit(Gaussian(1.0), [[0.0], [1.0]], [-1, 1], lam=0.1)
    >>> model.probability([[0.0], [0.5], [1.0]]).round(3)
    array([0.21, 0.5 , 0.79])
    >>> model.predict([[0.0], [0.9]])
    array([-1.,  1.])
    """
    X = own_inputs(k, X)
    K = gram(k, X)
    t = _checks.both_signs(t, "t", len(K))
    lam = _checks.positive(lam, "lam")
    stopping = Stopping(tolerance, max_iterations).checked()
    report = Progress("kernel_logistic.fit", progress)
    found = _solve(K, t, lam, stopping, report)
    advice = _advice(found, stopping)
    warn_unless_converged(found.status, "kernel_logistic.fit", advice)
    return KernelLogistic(k, X, found.a, dual=found)


def _solve(
    K: FloatArray,
    t: FloatArray,
    lam: float,
    stopping: Stopping,
    report: Progress,
) -> DualFit:
    """Newton's method from a = 0, with y = Ka and r kept beside a."""
    a = y = np.zeros(len(K))
    r, status = -t / 2, "max_iterations"
    objectives = [loss(y, t)]
    for i in range(stopping.max_iterations):
        step = _newton_direction(K, y, r, lam)
        a, y, value = _descend(a, y, step, K @ step, t, lam)
        r = lam * a - t * sigmoid(-t * y)
        objectives.append(value)
        residual = float(np.abs(r).max())
        if residual <= stopping.tolerance:
            status = CONVERGED
            break
        report(f"step {i + 1}, objective {value:.6g}, residual {residual:.1e}")
    norm = float(np.sqrt(max(float(r @ K @ r), 0)))
    return DualFit(a, np.array(objectives), residual, norm, status)


def _advice(found: DualFit, stopping: Stopping) -> str:
    return (
        f"step {found.iterations} left a residual of {found.residual:.1e}, "
        f"not the tolerance {stopping.tolerance:.1e}; raise lam, the "
        "tolerance or max_iterations, or rescale the kernel"
    )


def _descend(
    a: FloatArray,
    y: FloatArray,
    step: FloatArray,
    K_step: FloatArray,
    t: FloatArray,
    lam: float,
) -> tuple[FloatArray, FloatArray, float]:
    """Take the step, halved until the objective does not rise."""
    before = loss(y, t) + lam * float(a @ y) / 2
    ceiling = before * (1 + ROUNDING)
    size = 1.0
    while True:
        new_a, new_y = a + size * step, y + size * K_step
        value = loss(new_y, t) + lam * float(new_a @ new_y) / 2
        if value <= ceiling:
            return new_a, new_y, value
        size /= 2


def _problem(Phi: ArrayLike, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
    Phi = _checks.matrix(Phi, "Phi")
    return Phi, _checks.signs(t, "t", len(Phi))


def _dual_problem(K: ArrayLike, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
    K = _checks.gram(K)
    return K, _checks.signs(t, "t", len(K))
