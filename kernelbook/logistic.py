"""Logistic regression with labels -1 and +1, primal w and dual a.

The equations are those of chapter 3.  λ is the strength of the regulariser,
as everywhere in the book: λ = 1/λ₀² for a prior of standard deviation λ₀,
and λ = 1/C for a library that multiplies the losses by C.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray

ROUNDING = 1e-9  # relative rise of the objective that rounding can cause


def sigmoid(z: ArrayLike) -> FloatArray:
    """Logistic function, σ(z) = 1 / (1 + exp(-z)), without overflow.

    Since 1 - σ(z) = σ(-z), write ``sigmoid(-z)`` for the small tail: the
    difference would lose its digits.

    Examples
    --------
    >>> sigmoid([-1000.0, 0.0, 1000.0])
    array([0. , 0.5, 1. ])
    """
    values: FloatArray = expit(np.asarray(z, dtype=np.float64))
    return values


def loss(y: ArrayLike, t: ArrayLike) -> float:
    """Negative log-likelihood of the labels, Σ_n ln(1 + exp(-t_n y_n)).

    Parameters
    ----------
    y : (N,) outputs wᵀφ(x_n)
    t : (N,) labels, -1 or +1

    Examples
    --------
    >>> round(loss(y=[0.0, 1000.0], t=[1, -1]), 4)
    1000.6931
    """
    y = _checks.vector(y, "y")
    t = _checks.labels(t, "t", len(y))
    return float(np.logaddexp(0, -t * y).sum())


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
    return loss(Phi @ w, t) + lam * float(w @ w) / 2


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
    return lam * w - Phi.T @ (t * sigmoid(-t * (Phi @ w)))


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
    return t * sigmoid(-t * (Phi @ w)) / lam


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
    y = K @ a
    return loss(y, t) + lam * float(a @ y) / 2


def dual_residual(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """How far a is from the implicit equation of the solution.

    r_n = λ a_n - t_n {1 - P(t_n | x_n)}, with P = σ(t_n y_n) and y = Ka.

    Kr is the gradient of J(a), and Φᵀr that of J(w) at w = Φᵀa.

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
    return lam * a - t * sigmoid(-t * (K @ a))


def newton_step(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """Newton's step for the residual r, from one Cholesky factorisation.

    d = -(λI + WK)⁻¹ r = -{r - W^½ B⁻¹ W^½ K r} / λ, where
    B = W^½ K W^½ + λI and W = diag P_n (1 - P_n).

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
    K = _checks.gram(K)
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
class DualSolution:
    """What `dual_newton` found, and how well it solves the equation."""

    a: FloatArray
    """(N,) dual coefficients."""
    objectives: FloatArray
    """(iterations + 1,) J at the start and after each iteration."""
    gradient_norm: float
    """‖∇J(w)‖ at w = Φᵀa, which is (rᵀKr)^½."""

    @property
    def iterations(self) -> int:
        """Number of Newton steps taken."""
        return len(self.objectives) - 1

    @property
    def objective(self) -> float:
        """J(a) at the solution."""
        return float(self.objectives[-1])


def dual_newton(
    K: ArrayLike,
    t: ArrayLike,
    lam: float,
    tolerance: float = 1e-8,
    max_iterations: int = 50,
) -> DualSolution:
    """Kernel logistic regression by Newton's method in the dual.

    Starts at a = 0, takes Newton steps, halves a step while it would raise
    the objective, and stops when no entry of r exceeds the tolerance in size.

    Parameters
    ----------
    K : (N, N) Gram matrix
    t : (N,) labels, -1 and +1, both present
    lam : λ > 0
    tolerance : on the residual r, whose terms λa_n are between -1 and 1
    max_iterations : number of Newton steps to try

    Raises
    ------
    RuntimeError
        If the tolerance is not reached.

    Examples
    --------
    >>> solution = dual_newton([[1, -1], [-1, 1]], [1, -1], lam=1.0)
    >>> solution.a.round(4), solution.iterations
    (array([ 0.3374, -0.3374]), 3)
    """
    K = _checks.gram(K)
    t = _checks.two_classes(t, "t", len(K))
    lam = _checks.positive(lam, "lam")
    tolerance = _checks.positive(tolerance, "tolerance")
    a = y = np.zeros(len(K))
    r = -t / 2
    objectives = [loss(y, t)]
    for _ in range(_checks.count(max_iterations, "max_iterations")):
        step = _newton_direction(K, y, r, lam)
        a, y, value = _descend(a, y, step, K @ step, t, lam)
        r = lam * a - t * sigmoid(-t * y)
        objectives.append(value)
        if np.abs(r).max() <= tolerance:
            gradient_norm = float(np.sqrt(max(float(r @ K @ r), 0)))
            return DualSolution(a, np.array(objectives), gradient_norm)
    raise RuntimeError(
        f"dual_newton reached residual {np.abs(r).max():.1e} in "
        f"{max_iterations} iterations, not the tolerance {tolerance:.1e}; "
        "raise lam or the tolerance, or rescale the kernel"
    )


def predict_probability(a: ArrayLike, k: ArrayLike) -> FloatArray:
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
    >>> predict_probability([0.5, -0.5], [[1.0, 0.0], [1.0, 2.0]]).round(3)
    array([0.5  , 0.269])
    """
    a = _checks.vector(a, "a")
    k = _checks.cross_gram(k, len(a), "k")
    return sigmoid(k.T @ a)


def _descend(
    a: FloatArray,
    y: FloatArray,
    step: FloatArray,
    K_step: FloatArray,
    t: FloatArray,
    lam: float,
) -> tuple[FloatArray, FloatArray, float]:
    """Take the step, halved until the objective does not rise."""
    ceiling = (loss(y, t) + lam * float(a @ y) / 2) * (1 + ROUNDING)
    size = 1.0
    while True:
        new_a, new_y = a + size * step, y + size * K_step
        value = loss(new_y, t) + lam * float(new_a @ new_y) / 2
        if value <= ceiling:
            return new_a, new_y, value
        size /= 2


def _problem(Phi: ArrayLike, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
    Phi = _checks.matrix(Phi, "Phi")
    return Phi, _checks.labels(t, "t", len(Phi))


def _dual_problem(K: ArrayLike, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
    K = _checks.gram(K)
    return K, _checks.labels(t, "t", len(K))
