"""Fisher's discriminants: directions along which classes stand apart.

The equations are those of chapter 13 (two classes, labels -1 and +1) and
chapter 14 (many classes 0, ..., K-1, and with a kernel).

Two scatter matrices say how the inputs lie: S_W adds up the deviations from
the class means, S_B those of the class means from the mean of all.  With the
Cholesky factor of Σ = S_W/N + λI = UᵀU, the directions v = U⁻¹p that make
ρ = vᵀS_B v / (vᵀNΣv) largest are found from the singular vectors p of the
whitened class means U⁻ᵀ(m_k - m)√(N_k/N): S_B itself is not formed, so that
nothing is squared on the way.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from kernelbook import _checks, _linalg
from kernelbook import _class_statistics as stats
from kernelbook._checks import FloatArray, IntArray

EPS = float(np.finfo(float).eps)


class Scatter(NamedTuple):
    """How inputs scatter within their classes, and the classes' means."""

    within: FloatArray
    """(D, D) S_W."""
    between: FloatArray
    """(D, D) S_B."""


class Discriminants(NamedTuple):
    """The directions that separate classes best, the best one first."""

    V: FloatArray
    """(D, q) directions v_j as columns; or (N, q) dual coefficients."""
    ratios: FloatArray
    """(q,) scatter between the classes over that within, along each."""


def direction(X: ArrayLike, t: ArrayLike, lam: float = 0.0) -> FloatArray:
    """The direction along which two classes are best apart.

    w = Σ⁻¹(m₊ - m₋) with Σ = S_W/N + λI and the scatter S_W of both classes
    about their means.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) labels, -1 and +1, both present
    lam : number >= 0 that is added to every variance

    Returns
    -------
    w : (D,)

    Raises
    ------
    ValueError
        If Σ is singular.

    Examples
    --------
    >>> X = [[0.0, 0.0], [2.0, 1.0], [4.0, 0.0], [6.0, 1.0]]
    >>> direction(X, [-1, -1, 1, 1], lam=1.0).round(3)
    array([ 2.222, -0.889])
    """
    X = _checks.matrix(X, "X")
    t = _checks.both_signs(t, "t", len(X))
    lam = _checks.non_negative(lam, "lam")
    mu, Sigma = _within(X, (t > 0).astype(np.int64), lam)
    w: FloatArray = _linalg.factor(Sigma, "Sigma").solve(mu[1] - mu[0])
    return w


def scatter(X: ArrayLike, t: ArrayLike) -> Scatter:
    """Scatter within and between classes; they add up to that of all inputs.

    S_W = Σ_n (x_n - m_{t_n})(x_n - m_{t_n})ᵀ,
    S_B = Σ_k N_k (m_k - m)(m_k - m)ᵀ.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) classes 0, ..., K - 1

    Examples
    --------
    >>> S = scatter([[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    >>> S.within, S.between
    (array([[4.]]), array([[25.]]))
    """
    X = _checks.matrix(X, "X")
    t = _checks.every_class(t, "t", len(X))
    mu = stats.class_means(X, t)
    inner = stats.deviations(X, mu[t])
    outer = stats.deviations(mu[t], X.mean(axis=0))  # m_k, N_k times
    return Scatter(inner.T @ inner, outer.T @ outer)


def criterion(w: ArrayLike, X: ArrayLike, t: ArrayLike) -> float:
    """Fisher's criterion, J(w) = wᵀS_B w / (wᵀS_W w).

    Parameters
    ----------
    w : (D,) a direction; its length does not matter
    X : (N, D) inputs
    t : (N,) classes 0, ..., K - 1

    Raises
    ------
    ValueError
        If no class varies along w.

    Examples
    --------
    >>> criterion([3.0], [[0.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    6.25
    """
    X = _checks.matrix(X, "X")
    w = _checks.vector(w, "w", X.shape[1])
    S = scatter(X, t)
    within = float(w @ S.within @ w)
    if within <= 0:
        raise ValueError(
            "w must be a direction in which the classes vary, got "
            f"wᵀS_W w = {within:g}"
        )
    return float(w @ S.between @ w) / within


def discriminants(
    X: ArrayLike, t: ArrayLike, number: int | None = None, lam: float = 0.0
) -> Discriminants:
    """The directions with the largest criterion, each new to the former.

    S_B v = ρ NΣ v with Σ = S_W/N + λI, scaled to vᵀΣv = 1.  At most K-1 and
    at most D of them have ρ > 0.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) classes 0, ..., K - 1
    number : how many, at most min(K-1, D); all if left out
    lam : number >= 0 that is added to every variance

    Returns
    -------
    V, ratios : (D, q) directions, in each column the largest entry positive,
        and (q,) the values ρ, the largest first

    Raises
    ------
    ValueError
        If Σ is singular.

    Examples
    --------
    >>> X = [[0.0, 0.0], [2.0, 1.0], [4.0, 0.0], [6.0, 1.0]]
    >>> V, ratios = discriminants(X, [0, 0, 1, 1], lam=1.0)
    >>> V.round(3), ratios.round(3)
    (array([[ 0.745],
           [-0.298]]), array([2.222]))
    """
    X = _checks.matrix(X, "X")
    t = _checks.every_class(t, "t", len(X))
    lam = _checks.non_negative(lam, "lam")
    mu, Sigma = _within(X, t, lam)
    number = _number(number, min(len(mu) - 1, X.shape[1]))
    factor = _linalg.factor(Sigma, "Sigma")
    share = np.bincount(t) / len(t)
    apart = stats.deviations(mu, share @ mu) * np.sqrt(share)[:, None]
    P, s, _ = scipy.linalg.svd(factor.whiten(apart.T), full_matrices=False)
    V = factor.backsolve(P[:, :number])
    largest = V[np.argmax(np.abs(V), axis=0), np.arange(number)]
    return Discriminants(V * np.sign(largest), s[:number] ** 2)


def fit_dual(
    K: ArrayLike, t: ArrayLike, lam: float, number: int | None = None
) -> Discriminants:
    """Fisher's discriminants in feature space, from kernel values alone.

    v_j = Σ_n A_nj φ(x_n), where the φ(x_n) may be any vectors with the Gram
    matrix K: here the rows of Q√Λ, from the eigenvectors of K = QΛQᵀ.  A new
    input has the coordinates Σ_n A_nj k(x_n, x), ``ridge.predict(A, k)``.

    Parameters
    ----------
    K : (N, N) Gram matrix
    t : (N,) classes 0, ..., their number is written C here
    lam : number > 0 that is added to the variance in every direction
    number : how many, at most min(C-1, rank of K); all if left out

    Returns
    -------
    V, ratios : (N, q) dual coefficients A, and (q,) the values ρ

    Examples
    --------
    >>> K = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]]  # of 1, 2, 3
    >>> A, ratios = fit_dual(K, [0, 0, 1], lam=1.0)
    >>> (np.array(K) @ A).ravel().round(3), ratios.round(3)
    (array([0.926, 1.852, 2.777]), array([0.429]))
    """
    K = _checks.gram(K)
    lam = _checks.positive(lam, "lam")
    values, Q = scipy.linalg.eigh(K)
    kept = values > len(K) * EPS * values.max()
    if not kept.any():
        raise ValueError("K must have a positive eigenvalue, got none")
    root = np.sqrt(values[kept])
    Y = Q[:, kept] * root
    V, ratios = discriminants(Y, t, number, lam)
    A = Q[:, kept] / root @ V
    largest = A[np.argmax(np.abs(A), axis=0), np.arange(A.shape[1])]
    return Discriminants(A * np.sign(largest), ratios)


def _within(
    X: FloatArray, t: IntArray, lam: float
) -> tuple[FloatArray, FloatArray]:
    """Class means, and the covariance S_W/N + λI, refused if singular."""
    mu = stats.class_means(X, t)
    Sigma = stats.covariance(stats.deviations(X, mu[t]), lam)
    stats.require_definite(Sigma, len(X) - len(mu), "")
    return mu, Sigma


def _number(number: int | None, most: int) -> int:
    number = most if number is None else _checks.count(number, "number")
    if number > most:
        raise ValueError(
            f"number must be <= {most}, as there are no more directions "
            f"between the class means, got {number}"
        )
    return number
