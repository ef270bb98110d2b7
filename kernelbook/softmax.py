"""Softmax: logistic regression with K classes.

The equations are those of chapter 15.  K is the number of classes, not a Gram
matrix, and the classes are the whole numbers 0, ..., K-1.  The weights of all
classes stand in one array W of shape (D+1, K): row 0 holds the biases, which
are never penalised, and column k belongs to class k.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import helmert
from scipy.special import logsumexp

from kernelbook import _checks, _likelihood
from kernelbook._checks import FloatArray, IntArray
from kernelbook._progress import Progress, warn_unless_converged
from kernelbook.discriminant import one_hot
from kernelbook.features import with_bias
from kernelbook.logistic import Fit, Separation


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
    """Log-likelihood of the classes, L(W) = Σ_n ln p_{n, t_n}.

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
    F, t = _scores(W, X, t)
    own = F[np.arange(len(t)), t]
    return float((own - logsumexp(F, axis=1)).sum())


def gradient(W: ArrayLike, X: ArrayLike, t: ArrayLike) -> FloatArray:
    """Gradient of the softmax log-likelihood, ∇L(W) = X̃ᵀ(T - P).

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
    F, t = _scores(W, X, t)
    return with_bias(X).T @ (one_hot(t, F.shape[1]) - softmax(F))


def information(W: ArrayLike, X: ArrayLike) -> FloatArray:
    """Minus the Hessian of the softmax log-likelihood.

    Classes j and k have the block H_jk = Σ_n P_nj (δ_jk - P_nk) x̃_n x̃_nᵀ.  The
    labels do not enter.  The matrix is positive semi-definite and never
    definite: one vector added to the weights of all classes changes nothing.

    Parameters
    ----------
    W : (D+1, K) weights, biases in row 0, one column per class
    X : (N, D) inputs

    Returns
    -------
    H : (D+1, K, D+1, K), whose block of classes j and k is H[:, j, :, k]

    Examples
    --------
    >>> H = information(np.zeros((2, 2)), [[1.0], [-3.0]])
    >>> H[:, 0, :, 0]
    array([[ 0.5, -0.5],
           [-0.5,  2.5]])
    >>> bool((H[:, 0, :, 1] == -H[:, 0, :, 0]).all())
    True
    """
    W = _weights(W, X)
    M, K = W.shape
    return _hessian(W, X, np.eye(K)).reshape(M, K, M, K)


def fit(
    X: ArrayLike,
    t: ArrayLike,
    lam: float = 0.0,
    tolerance: float = 1e-9,
    max_iterations: int = 50,
    progress: bool = True,
) -> Fit:
    """Maximise the penalised softmax log-likelihood by Newton's method.

    It is L(W) - ½ λ Σ_k ‖w_k‖², without the biases.

    A common vector added to all columns of W changes no probability.  The one
    representative whose columns sum to zero is searched for, W = V Uᵀ, where
    the K-1 columns of U are an orthonormal basis of such rows.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) classes 0, ..., K-1, every one of them present
    lam : λ >= 0; the biases are not penalised
    tolerance : on the promised gain ½ dᵀ∇ of the last step, in nats
    max_iterations : number of Newton steps to try; look at ``status``
    progress : whether to report on stderr, every ten seconds of computing

    Raises
    ------
    ValueError
        As `logistic.fit` does.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [1.5], [2.5]]
    >>> fit(X, [0, 1, 0, 2, 2, 1]).w.round(2)
    array([[ 1.33,  0.1 , -1.43],
           [-0.85,  0.04,  0.8 ]])
    """
    X, t, K = _examples(X, t)
    lam = _checks.non_negative(lam, "lam")
    stopping = _likelihood.Stopping(tolerance, max_iterations).checked()
    U = helmert(K).T
    likelihood = _likelihood_of(t, U, lambda: separation(X, t).strict)
    report = Progress("softmax.fit", progress)
    found = _likelihood.maximise(likelihood, X, lam, K - 1, stopping, report)
    advice = found.advice(stopping)
    warn_unless_converged(found.status, "softmax.fit", advice)
    path = found.path @ U.T
    return Fit(
        path[-1].copy(), path, found.values, found.gradient_norm, found.status
    )


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
    units = _likelihood.units(X)
    example, rival = np.nonzero(np.arange(K) != t[:, None])
    versus = np.eye(K)[t[example]] - np.eye(K)[rival]
    rows = np.einsum("id,ik->idk", with_bias(units.inputs(X))[example], versus)
    v, ahead = _likelihood.strictly_positive(rows.reshape(len(rows), -1))
    strict = len(np.unique(example[ahead]))
    return Separation(units.weights(v.reshape(-1, K)), strict)


def _likelihood_of(
    t: IntArray, U: FloatArray, strict: Callable[[], int]
) -> _likelihood.Likelihood:
    """The likelihood as a function of V.ravel(), where W = V Uᵀ."""

    def weights(v: FloatArray) -> FloatArray:
        W: FloatArray = v.reshape(-1, U.shape[1]) @ U.T
        return W

    def quadratic(v: FloatArray, Z: FloatArray) -> _likelihood.Quadratic:
        W = weights(v)
        slope = (gradient(W, Z, t) @ U).ravel()
        return -log_likelihood(W, Z, t), -slope, _hessian(W, Z, U)

    def leads(v: FloatArray, Z: FloatArray) -> FloatArray:
        """By how much the best score of each example beats the worst."""
        spread: FloatArray = np.ptp(with_bias(Z) @ weights(v), axis=1)
        return spread

    return _likelihood.Likelihood(quadratic, leads, strict)


def _hessian(W: FloatArray, X: ArrayLike, U: FloatArray) -> FloatArray:
    """Minus the Hessian of the log-likelihood, by V.ravel().

    Σ_n (x̃_n x̃_nᵀ) ⊗ Uᵀ(diag p_n - p_n p_nᵀ)U, one block for each pair of
    columns of V.
    """
    X_1 = with_bias(X)
    P = softmax(_likelihood.product(X_1, W, "W and X"))
    M, J = X_1.shape[1], U.shape[1]
    H = np.empty((M, J, M, J))
    for i in range(J):
        for j in range(J):
            s = P @ (U[:, i] * U[:, j]) - (P @ U[:, i]) * (P @ U[:, j])
            H[:, i, :, j] = _likelihood.product(
                X_1.T, s[:, None] * X_1, "the columns of X"
            )
    return H.reshape(M * J, M * J)


def _scores(
    W: ArrayLike, X: ArrayLike, t: ArrayLike
) -> tuple[FloatArray, IntArray]:
    """(N, K) scores X̃W, all finite, and the classes."""
    W, X_1 = _weights(W, X), with_bias(X)
    t = _checks.classes(t, "t", W.shape[1], len(X_1))
    return _likelihood.product(X_1, W, "W and X"), t


def _weights(W: ArrayLike, X: ArrayLike) -> FloatArray:
    """Checked weights, one row for the bias and one per feature of X."""
    X, W = _checks.matrix(X, "X"), _checks.matrix(W, "W")
    if len(W) != X.shape[1] + 1:
        raise ValueError(
            f"W must have a row for the bias and one per feature, "
            f"{X.shape[1] + 1} rows, got {len(W)}"
        )
    return W


def _examples(X: ArrayLike, t: ArrayLike) -> tuple[FloatArray, IntArray, int]:
    """Checked inputs and classes, and the number of classes."""
    X = _checks.matrix(X, "X")
    t = _checks.every_class(t, "t", len(X))
    return X, t, int(t.max()) + 1
