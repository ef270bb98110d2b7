"""Logistic regression with labels -1 and +1, primal w and dual a.

The equations of the dual are those of chapter 3, those of the likelihood with
a bias those of chapter 13.  λ is the strength of the regulariser, as
everywhere in the book: λ = 1/λ₀² for a prior of standard deviation λ₀, and
λ = 1/C for a library that multiplies the losses by C.

Functions that take inputs X instead of a design matrix have a bias.  It is
the first weight, and it is never penalised.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from kernelbook import _checks, _likelihood, _linalg
from kernelbook._checks import FloatArray
from kernelbook._likelihood import Fit, Separation
from kernelbook.discriminant import with_bias

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
    t = _checks.signs(t, "t", len(y))
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
    t = _checks.both_signs(t, "t", len(K))
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


def probability(w: ArrayLike, X: ArrayLike) -> FloatArray:
    """Probability of the label +1, p_n = σ(wᵀx_n + b).

    Parameters
    ----------
    w : (D+1,) bias and weights, the bias first
    X : (N, D) inputs

    Returns
    -------
    p : (N,)

    Examples
    --------
    >>> probability([1.0, 2.0], [[-0.5], [0.5]]).round(3)
    array([0.5  , 0.881])
    """
    X_1 = with_bias(X)
    return sigmoid(X_1 @ _checks.vector(w, "w", X_1.shape[1]))


def log_likelihood(w: ArrayLike, X: ArrayLike, t: ArrayLike) -> float:
    """Log-likelihood of the labels, with a bias.

    L(w, b) = Σ_n [u_n ln p_n + (1 - u_n) ln(1 - p_n)] with u_n = (1 + t_n)/2
    and p_n = σ(wᵀx_n + b), which is -Σ_n ln(1 + exp(-t_n {wᵀx_n + b})).

    Parameters
    ----------
    w : (D+1,) bias and weights, the bias first
    X : (N, D) inputs
    t : (N,) labels, -1 or +1

    Examples
    --------
    >>> round(log_likelihood([0.0, 1.0], [[1.0], [-2.0]], [1, -1]), 4)
    -0.4402
    """
    return -objective(w, with_bias(X), t, lam=0.0)


def likelihood_gradient(
    w: ArrayLike, X: ArrayLike, t: ArrayLike
) -> FloatArray:
    """Gradient of the log-likelihood, the bias's part first.

    ∂L/∂b = Σ_n (u_n - p_n),  ∇_w L = Σ_n (u_n - p_n) x_n.

    Parameters
    ----------
    w : (D+1,) bias and weights, the bias first
    X : (N, D) inputs
    t : (N,) labels, -1 or +1

    Returns
    -------
    grad : (D+1,)

    Examples
    --------
    >>> likelihood_gradient([0.0, 0.0], [[1.0], [-2.0]], [1, 1])
    array([ 1. , -0.5])
    """
    return -gradient(w, with_bias(X), t, lam=0.0)


def information(w: ArrayLike, X: ArrayLike) -> FloatArray:
    """Minus the Hessian of the log-likelihood: X̃ᵀSX̃.

    X̃ = [1 X] and S = diag p_n (1 - p_n).  The labels do not enter.

    Parameters
    ----------
    w : (D+1,) bias and weights, the bias first
    X : (N, D) inputs

    Returns
    -------
    H : (D+1, D+1)

    Examples
    --------
    >>> information([0.0, 0.0], [[1.0], [-2.0]])
    array([[ 0.5 , -0.25],
           [-0.25,  1.25]])
    """
    X_1 = with_bias(X)
    y = X_1 @ _checks.vector(w, "w", X_1.shape[1])
    root = np.sqrt(sigmoid(y) * sigmoid(-y))[:, None] * X_1
    return root.T @ root


def irls_step(
    w: ArrayLike, X: ArrayLike, t: ArrayLike, lam: float = 0.0
) -> FloatArray:
    """Newton's step for the log-likelihood minus ½ λ‖w‖².

    d = (X̃ᵀSX̃ + λE)⁻¹ {X̃ᵀ(u - p) - λE w̃}, where E is the identity without
    its first entry: the bias is not penalised.

    Parameters
    ----------
    w : (D+1,) bias and weights, the bias first
    X : (N, D) inputs
    t : (N,) labels, -1 or +1
    lam : λ >= 0

    Returns
    -------
    d : (D+1,), the next iterate is w + d

    Examples
    --------
    >>> irls_step([0.0, 0.0], [[1.0], [-2.0]], [1, -1]).round(3)
    array([0.667, 1.333])
    """
    w = _checks.vector(w, "w")
    penalty = _likelihood.penalty(len(w), lam)
    slope = likelihood_gradient(w, X, t) - penalty * w
    return _likelihood.scaled_solve(
        information(w, X) + np.diag(penalty), slope
    )


def fit(
    X: ArrayLike,
    t: ArrayLike,
    lam: float = 0.0,
    tolerance: float = 1e-9,
    max_iterations: int = 50,
) -> Fit:
    """Maximise the log-likelihood minus ½ λ‖w‖² by Newton's method (IRLS).

    Starts at zero, halves a step while it would lower the likelihood, and
    stops after a step d whose promised gain, ½ dᵀ∇, is below the tolerance.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) labels, -1 and +1, both present
    lam : λ >= 0; the bias is not penalised
    tolerance : on the promised gain, in nats
    max_iterations : number of Newton steps to try

    Raises
    ------
    ValueError
        If λ = 0 and the likelihood has no maximiser because a hyperplane
        separates the classes (see `separation`), or more than one because
        the columns of X and a constant are linearly dependent.
    RuntimeError
        If the tolerance is not reached.

    Examples
    --------
    >>> fit([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]).w.round(3)
    array([-1.362,  0.908])
    """
    X = _checks.matrix(X, "X")
    t = _checks.both_signs(t, "t", len(X))
    penalty = _likelihood.penalty(X.shape[1] + 1, lam)
    if lam == 0:
        _likelihood.refuse_dependent_columns(X)

    limit = _likelihood.doubt(tolerance)

    def quadratic(w: FloatArray) -> _likelihood.Quadratic:
        value = float(penalty @ w**2) / 2 - log_likelihood(w, X, t)
        slope = penalty * w - likelihood_gradient(w, X, t)
        return value, slope, information(w, X) + np.diag(penalty)

    def doubtful(w: FloatArray) -> bool:
        return lam == 0 and bool(np.abs(with_bias(X) @ w).max() > limit)

    def check() -> None:
        _likelihood.refuse_separable(separation(X, t), len(X))

    start = np.zeros(X.shape[1] + 1)
    search = _likelihood.Search(
        "fit", tolerance, max_iterations, doubtful, check
    )
    return _likelihood.newton(quadratic, start, search)


def separation(X: ArrayLike, t: ArrayLike) -> Separation:
    """The hyperplane that has most examples strictly on their own side.

    It maximises the number of n with t_n (wᵀx_n + b) > 0 among all (w, b)
    with t_n (wᵀx_n + b) >= 0 for every n.  The likelihood has a maximiser if
    and only if that number is 0.  If it is N, the classes are separable.
    Overlaps below 1e-7 of a feature's range are not seen.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) labels, -1 and +1, both present

    Examples
    --------
    >>> separation([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]).strict
    0
    >>> separation([[0.0], [1.0], [1.0], [3.0]], [-1, 1, -1, 1]).strict
    2
    """
    X = _checks.matrix(X, "X")
    t = _checks.both_signs(t, "t", len(X))
    centred, restore = _likelihood.to_unit_range(X)
    v, ahead = _likelihood.strictly_positive(t[:, None] * with_bias(centred))
    return Separation(restore(v), int(ahead.sum()))


def gradient_ascent(
    X: ArrayLike, t: ArrayLike, eta: float, steps: int
) -> FloatArray:
    """Climb the log-likelihood along its gradient: w ← w + η ∇L(w).

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) labels, -1 or +1
    eta : step size η > 0; below 2 over the largest eigenvalue of ¼ X̃ᵀX̃ the
        likelihood rises at every step
    steps : number of steps

    Returns
    -------
    path : (steps + 1, D+1) bias and weights, from zero on

    Examples
    --------
    >>> gradient_ascent([[1.0], [-2.0]], [1, -1], eta=0.1, steps=1)
    array([[0.  , 0.  ],
           [0.  , 0.15]])
    """
    X = _checks.matrix(X, "X")
    eta = _checks.positive(eta, "eta")
    path = np.zeros((_checks.count(steps, "steps") + 1, X.shape[1] + 1))
    for i in range(len(path) - 1):
        path[i + 1] = path[i] + eta * likelihood_gradient(path[i], X, t)
    return path


def stochastic_ascent(
    X: ArrayLike, t: ArrayLike, eta: float, epochs: int, seed: int
) -> FloatArray:
    """Climb along the gradient of one example at a time.

    w ← w + η_m (u_n - p_n) x̃_n with η_m = η / (1 + m/N) at the m-th update,
    m = 0, 1, ...; every epoch visits all examples in a new random order.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) labels, -1 or +1
    eta : first step size η > 0
    epochs : number of passes through the examples
    seed : of the random order

    Returns
    -------
    path : (N epochs + 1, D+1) bias and weights, from zero on

    Examples
    --------
    >>> stochastic_ascent([[1.0]], [1], eta=0.5, epochs=2, seed=0).round(3)
    array([[0.   , 0.   ],
           [0.25 , 0.25 ],
           [0.344, 0.344]])
    """
    X_1 = with_bias(X)
    N = len(X_1)
    signed = _checks.signs(t, "t", N)[:, None] * X_1
    eta = _checks.positive(eta, "eta")
    epochs = _checks.count(epochs, "epochs")
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(N) for _ in range(epochs)])
    path = np.zeros((len(order) + 1, signed.shape[1]))
    for m, n in enumerate(order):
        missing = sigmoid(-(signed[n] @ path[m]))  # 1 - P(t_n | x_n)
        path[m + 1] = path[m] + eta / (1 + m / N) * missing * signed[n]
    return path


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
    return Phi, _checks.signs(t, "t", len(Phi))


def _dual_problem(K: ArrayLike, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
    K = _checks.gram(K)
    return K, _checks.signs(t, "t", len(K))
