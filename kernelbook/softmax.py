"""Softmax: logistic regression with K classes.

The equations are those of chapter 13.  K is the number of classes, not a Gram
matrix, and the classes are the whole numbers 0, ..., K-1.  The weights of all
classes stand in one array W of shape (D+1, K): row 0 holds the biases, which
are never penalised, and column k belongs to class k.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from kernelbook import _checks, _likelihood
from kernelbook._checks import FloatArray
from kernelbook._likelihood import Fit, Separation
from kernelbook.discriminant import one_hot, with_bias

IntArray = NDArray[np.int64]


def softmax(F: ArrayLike) -> FloatArray:
    """Scores to probabilities, without overflow.

    p_k = exp(f_k) / Σ_j exp(f_j), after the largest score is subtracted from
    all of them, which changes nothing else.

    Parameters
    ----------
    F : (N, K) scores, one column per class

    Returns
    -------
    P : (N, K), rows that sum to one

    Examples
    --------
    >>> softmax([[1000.0, 999.0, 0.0]]).round(3)
    array([[0.731, 0.269, 0.   ]])
    """
    F = _checks.matrix(F, "F")
    E = np.exp(F - F.max(axis=1, keepdims=True))
    P: FloatArray = E / E.sum(axis=1, keepdims=True)
    return P


def log_likelihood(W: ArrayLike, X: ArrayLike, t: ArrayLike) -> float:
    """Log-likelihood of the classes, Σ_n ln p_{n, t_n}.

    Parameters
    ----------
    W : (D+1, K) weights, biases in row 0, one column per class
    X : (N, D) inputs
    t : (N,) classes, whole numbers from 0 to K-1

    Examples
    --------
    >>> W = [[0.0, 0.0, 0.0], [1.0, 0.0, -1.0]]
    >>> round(log_likelihood(W, [[1.0], [-2.0]], [0, 2]), 4)
    -0.5505
    """
    X_1, W, t = _problem(W, X, t)
    F = X_1 @ W
    own = F[np.arange(len(t)), t]
    return float((own - logsumexp(F, axis=1)).sum())


def gradient(W: ArrayLike, X: ArrayLike, t: ArrayLike) -> FloatArray:
    """Gradient of the softmax log-likelihood, X̃ᵀ(T - P).

    T has a one in row n, column t_n, and zeros elsewhere (one-hot).

    Parameters
    ----------
    W : (D+1, K) weights, biases in row 0, one column per class
    X : (N, D) inputs
    t : (N,) classes, whole numbers from 0 to K-1

    Returns
    -------
    G : (D+1, K), whose K columns add up to the zero vector

    Examples
    --------
    >>> gradient(np.zeros((2, 2)), [[1.0], [-2.0]], [0, 1])
    array([[ 0. ,  0. ],
           [ 1.5, -1.5]])
    """
    X_1, W, t = _problem(W, X, t)
    return X_1.T @ (one_hot(t, W.shape[1]) - softmax(X_1 @ W))


def fit(
    X: ArrayLike,
    t: ArrayLike,
    lam: float = 0.0,
    tolerance: float = 1e-9,
    max_iterations: int = 50,
) -> Fit:
    """Maximise the softmax log-likelihood minus ½ λ Σ_k ‖w_k‖² by Newton.

    A common vector added to all columns of W changes no probability, so the
    Hessian is singular.  The one representative whose columns sum to zero is
    returned.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) classes 0, ..., K-1, every one of them present
    lam : λ >= 0; the biases are not penalised
    tolerance : on the promised gain ½ dᵀ∇ of the last step, in nats
    max_iterations : number of Newton steps to try

    Raises
    ------
    ValueError, RuntimeError
        As `logistic.fit` does.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [1.5], [2.5]]
    >>> fit(X, [0, 1, 0, 2, 2, 1]).w.round(2)
    array([[ 1.33,  0.1 , -1.43],
           [-0.85,  0.04,  0.8 ]])
    """
    X, t, K = _examples(X, t)
    X_1 = with_bias(X)
    penalty = np.repeat(_likelihood.penalty(X_1.shape[1], lam), K)
    gauge = np.kron(X_1.T @ X_1 / (4 * K), np.ones((K, K)))
    if lam == 0:
        _likelihood.refuse_dependent_columns(X)

    limit = _likelihood.doubt(tolerance)

    def quadratic(v: FloatArray) -> _likelihood.Quadratic:
        W = v.reshape(-1, K)
        value = float(penalty @ v**2) / 2 - log_likelihood(W, X, t)
        slope = penalty * v - gradient(W, X, t).ravel()
        H = _information(softmax(X_1 @ W), X_1)
        return value, slope, H + np.diag(penalty) + gauge

    def doubtful(v: FloatArray) -> bool:
        return lam == 0 and bool(np.ptp(X_1 @ v.reshape(-1, K)) > limit)

    def check() -> None:
        _likelihood.refuse_separable(separation(X, t), len(X))

    start = np.zeros(X_1.shape[1] * K)
    search = _likelihood.Search(
        "softmax.fit", tolerance, max_iterations, doubtful, check
    )
    found = _likelihood.newton(quadratic, start, search)
    path = found.path.reshape(len(found.path), -1, K)
    return Fit(path[-1], path, found.objectives, found.gradient_norm)


def separation(X: ArrayLike, t: ArrayLike) -> Separation:
    """As `logistic.separation`, for K classes.

    Among all W under which no example has a larger score in another class
    than in its own, one with the most examples that beat some other class.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) classes 0, ..., K-1, every one of them present

    Examples
    --------
    >>> separation([[0.0], [1.0], [2.0]], [0, 1, 2]).strict
    3
    """
    X, t, K = _examples(X, t)
    centred, restore = _likelihood.to_unit_range(X)
    example, rival = np.nonzero(np.arange(K) != t[:, None])
    versus = np.eye(K)[t[example]] - np.eye(K)[rival]
    rows = np.einsum("id,ik->idk", with_bias(centred)[example], versus)
    v, ahead = _likelihood.strictly_positive(rows.reshape(len(rows), -1))
    strict = len(np.unique(example[ahead]))
    return Separation(restore(v.reshape(-1, K)), strict)


def _information(P: FloatArray, X_1: FloatArray) -> FloatArray:
    """Minus the Hessian of the softmax log-likelihood, in W.ravel()."""
    M, K = X_1.shape[1], P.shape[1]
    H = np.empty((M, K, M, K))
    for k in range(K):
        for j in range(K):
            s = P[:, k] * ((k == j) - P[:, j])
            H[:, k, :, j] = X_1.T @ (s[:, None] * X_1)
    return H.reshape(M * K, M * K)


def _problem(
    W: ArrayLike, X: ArrayLike, t: ArrayLike
) -> tuple[FloatArray, FloatArray, IntArray]:
    X_1, W = with_bias(X), _checks.matrix(W, "W")
    if len(W) != X_1.shape[1]:
        raise ValueError(
            f"W must have a row for the bias and one per feature, "
            f"{X_1.shape[1]} rows, got {len(W)}"
        )
    return X_1, W, _checks.classes(t, "t", W.shape[1], len(X_1))


def _examples(X: ArrayLike, t: ArrayLike) -> tuple[FloatArray, IntArray, int]:
    """Checked inputs and classes, and the number of classes."""
    X = _checks.matrix(X, "X")
    t = _checks.every_class(t, "t", len(X))
    return X, t, int(t.max()) + 1
