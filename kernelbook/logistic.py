"""Logistic regression with labels -1 and +1, from inputs X, with a bias.

The equations are those of chapter 15.  The bias is the first weight, and it
is never penalised.  λ is the strength of the regulariser, as everywhere in the
book: λ = 1/C for a library that multiplies the losses by C.  For a design
matrix or a Gram matrix, without a bias, see `kernel_logistic`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from kernelbook import _checks, _likelihood
from kernelbook._checks import FloatArray
from kernelbook._progress import CONVERGED, Progress, warn_unless_converged
from kernelbook.features import with_bias


@dataclass(frozen=True)
class Fit:
    """What a fit found, and the way there."""

    w: FloatArray
    """(D+1,) weights, the bias first; (D+1, K) for K classes."""
    path: FloatArray
    """(iterations + 1, ...) the weights at the start and after each step."""
    objectives: FloatArray
    """(iterations + 1,) values of ½ λ‖w‖² - L(w, b) along the path."""
    gradient_norm: float
    """Length of the gradient of that objective at the end."""
    status: str
    """"converged", or "max_iterations" if the tolerance was not reached."""

    @property
    def iterations(self) -> int:
        """Number of Newton steps taken."""
        return len(self.objectives) - 1

    @property
    def converged(self) -> bool:
        """Whether the last step promised less than the tolerance."""
        return self.status == CONVERGED


class Separation(NamedTuple):
    """A hyperplane with nobody on the wrong side, and how many strictly."""

    w: FloatArray
    """(D+1,) weights, the bias first; (D+1, K) for K classes."""
    strict: int
    """Number of examples strictly on their own side."""


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


def output(w: ArrayLike, X: ArrayLike) -> FloatArray:
    """Log-odds of the label +1, y_n = wᵀx_n + b.

    Parameters
    ----------
    w : (D+1,) bias and weights, the bias first
    X : (N, D) inputs

    Returns
    -------
    y : (N,)

    Examples
    --------
    >>> output([1.0, 2.0], [[-0.5], [0.5]])
    array([0., 2.])
    """
    X_1 = with_bias(X)
    w = _checks.vector(w, "w", X_1.shape[1])
    return _likelihood.product(X_1, w, "w and X")


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
    return sigmoid(output(w, X))


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
    return -loss(output(w, X), t)


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
    y = output(w, X)
    t = _checks.signs(t, "t", len(y))
    missing = sigmoid(-t * y)  # 1 - P(t_n | x_n)
    return _likelihood.product(with_bias(X).T, t * missing, "the rows of X")


def information(w: ArrayLike, X: ArrayLike) -> FloatArray:
    """Minus the Hessian of the log-likelihood.

    H = X̃ᵀSX̃ with X̃ = [1 X] and a diagonal S, S_nn = p_n (1 - p_n).  The
    labels do not enter.

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
    y = output(w, X)
    root = np.sqrt(sigmoid(y) * sigmoid(-y))[:, None] * with_bias(X)
    return _likelihood.product(root.T, root, "the columns of X")


def standard_errors(w: ArrayLike, X: ArrayLike) -> FloatArray:
    """Standard errors of the fitted weights, from the information.

    s_j = √[(X̃ᵀSX̃)⁻¹]_jj: how far the maximum-likelihood weight j strays,
    from one set of labels to the next, if the model is right and N is large.

    Parameters
    ----------
    w : (D+1,) bias and weights where the likelihood is largest, bias first
    X : (N, D) inputs

    Returns
    -------
    s : (D+1,)

    Raises
    ------
    ValueError
        If the columns of X and a constant are linearly dependent, or all
        probabilities are 0 or 1.

    Examples
    --------
    >>> standard_errors([0.0, 0.0], [[1.0], [-1.0]]).round(3)
    array([1.414, 1.414])
    """
    X = _checks.matrix(X, "X")
    H = information(w, X)
    rank = _likelihood.rank_with_bias(X)
    if rank < len(H):
        raise ValueError(
            "X must have columns that are linearly independent, also of a "
            f"constant, got rank {rank} of {len(H)}"
        )
    s: FloatArray = np.sqrt(_likelihood.inverse_diagonal(H))
    return s


def irls_step(
    w: ArrayLike, X: ArrayLike, t: ArrayLike, lam: float = 0.0
) -> FloatArray:
    """Newton's step for the penalised log-likelihood L(w, b) - ½ λ‖w‖².

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
    penalty = np.full(len(w), _checks.non_negative(lam, "lam"))
    penalty[0] = 0.0
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
    progress: bool = True,
) -> Fit:
    """Maximise L(w, b) - ½ λ‖w‖² by Newton's method (IRLS).

    Starts at zero, halves a step while it would lower the likelihood, and
    stops after a step d whose promised gain, ½ dᵀ∇, is below the tolerance.
    The steps are those of `irls_step`, taken in units in which every column
    of X is between -1 and 1, where rounding does least.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) labels, -1 and +1, both present
    lam : λ >= 0; the bias is not penalised
    tolerance : on the promised gain, in nats
    max_iterations : number of Newton steps to try; look at ``status``
    progress : whether to report on stderr, every ten seconds of computing

    Raises
    ------
    ValueError
        If λ = 0 and the likelihood has no maximiser because a hyperplane
        separates the classes (see `separation`), or more than one because
        the columns of X and a constant are linearly dependent.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.

    Examples
    --------
    >>> fit([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]).w.round(3)
    array([-1.362,  0.908])
    """
    X = _checks.matrix(X, "X")
    t = _checks.both_signs(t, "t", len(X))
    lam = _checks.non_negative(lam, "lam")
    stopping = _likelihood.Stopping(tolerance, max_iterations).checked()

    def quadratic(v: FloatArray, Z: FloatArray) -> _likelihood.Quadratic:
        slope = likelihood_gradient(v, Z, t)
        return -log_likelihood(v, Z, t), -slope, information(v, Z)

    likelihood = _likelihood.Likelihood(
        quadratic,
        outputs=output,
        strict=lambda: separation(X, t).strict,
    )
    report = Progress("logistic.fit", progress)
    found = _likelihood.maximise(likelihood, X, lam, 1, stopping, report)
    advice = found.advice(stopping)
    warn_unless_converged(found.status, "logistic.fit", advice)
    path = found.path[:, :, 0]
    return Fit(
        path[-1].copy(), path, found.values, found.gradient_norm, found.status
    )


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
    units = _likelihood.units(X)
    sides = t[:, None] * with_bias(units.inputs(X))
    v, ahead = _likelihood.strictly_positive(sides)
    return Separation(units.weights(v), int(ahead.sum()))


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
    return _checks.matrix(path, "the path, of this eta and X,")


def stochastic_ascent(
    X: ArrayLike,
    t: ArrayLike,
    eta: float,
    epochs: int,
    rng: int | np.random.Generator,
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
    rng : seed or generator, for the random order

    Returns
    -------
    path : (N epochs + 1, D+1) bias and weights, from zero on

    Examples
    --------
    >>> stochastic_ascent([[1.0]], [1], eta=0.5, epochs=2, rng=0).round(3)
    array([[0.   , 0.   ],
           [0.25 , 0.25 ],
           [0.344, 0.344]])
    """
    X_1 = with_bias(X)
    N = len(X_1)
    signed = _checks.signs(t, "t", N)[:, None] * X_1
    eta = _checks.positive(eta, "eta")
    epochs = _checks.count(epochs, "epochs")
    rng = _checks.generator(rng)
    order = np.concatenate([rng.permutation(N) for _ in range(epochs)])
    path = np.zeros((len(order) + 1, signed.shape[1]))
    for m, n in enumerate(order):
        missing = sigmoid(-(signed[n] @ path[m]))  # 1 - P(t_n | x_n)
        path[m + 1] = path[m] + eta / (1 + m / N) * missing * signed[n]
    return _checks.matrix(path, "the path, of this eta and X,")
