"""Discriminant functions: one score per class, and the largest wins.

The equations are those of chapter 13.  K is the number of classes, not a Gram
matrix, and the classes are the whole numbers 0, ..., K-1.  The weights of all
classes stand in one array W of shape (D+1, K): row 0 holds the biases, column
k belongs to class k.  Two classes with labels -1 and +1 share one score, with
weights of shape (D+1,).
"""

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks, _hyperplanes
from kernelbook._checks import FloatArray, IntArray
from kernelbook.features import with_bias


def scores(W: ArrayLike, X: ArrayLike) -> FloatArray:
    """Linear scores, f_k(x) = w_kᵀx + b_k.

    Parameters
    ----------
    W : (D+1, K) weights, biases in row 0; or (D+1,) for a single score
    X : (N, D) inputs

    Returns
    -------
    F : (N, K), or (N,) for a single score

    Examples
    --------
    >>> scores([[0.5, 0.0], [1.0, -1.0]], [[2.0], [-3.0]])
    array([[ 2.5, -2. ],
           [-2.5,  3. ]])
    """
    X = _checks.matrix(X, "X")
    W = _weights(W, X)
    F: FloatArray = with_bias(X) @ W
    return F


def classify(F: ArrayLike) -> IntArray:
    """The class of the largest score, c(x) = argmax_k f_k(x).

    Of classes that tie, the first wins: here the smallest number.

    Parameters
    ----------
    F : (N, K) scores

    Returns
    -------
    labels : (N,) classes, 0 to K-1

    Examples
    --------
    >>> classify([[2.5, -2.0, 0.0], [-2.5, 3.0, 3.0]])
    array([0, 1])
    """
    F = _checks.matrix(F, "F")
    labels: IntArray = np.argmax(F, axis=1)
    return labels


def sign_rule(f: ArrayLike) -> FloatArray:
    """The class of a single score: +1 if f(x) >= 0, else -1.

    Parameters
    ----------
    f : (N,) scores

    Returns
    -------
    labels : (N,) of -1 and +1

    Examples
    --------
    >>> sign_rule([-0.1, 0.0, 7.0])
    array([-1.,  1.,  1.])
    """
    return np.where(_checks.vector(f, "f") >= 0, 1.0, -1.0)


def signed_distance(w: ArrayLike, b: float, X: ArrayLike) -> FloatArray:
    """Distance to the hyperplane wᵀx + b = 0, negative on its far side.

    r_n = (wᵀx_n + b) / ‖w‖; the side to which w points is positive.

    Parameters
    ----------
    w : (D,) weights, not all zero
    b : bias
    X : (N, D) points

    Returns
    -------
    distances : (N,)

    Examples
    --------
    >>> signed_distance([3.0, 4.0], -5.0, [[0.0, 0.0], [3.0, 4.0]])
    array([-1.,  4.])
    """
    X = _checks.matrix(X, "X")
    w, b = _hyperplanes.scaled(w, b, X)
    distances: FloatArray = (X @ w + b) / np.linalg.norm(w)
    return distances


def foot(w: ArrayLike, b: float, X: ArrayLike) -> FloatArray:
    """The point of the hyperplane nearest to each x: its projection.

    p_n = x_n - r_n w / ‖w‖, with the signed distance r_n = (wᵀx_n + b) / ‖w‖.

    Parameters
    ----------
    w : (D,) weights, not all zero
    b : bias
    X : (N, D) points

    Returns
    -------
    feet : (N, D)

    Examples
    --------
    >>> foot([3.0, 4.0], -5.0, [[3.0, 4.0]]).round(6)
    array([[0.6, 0.8]])
    """
    X = _checks.matrix(X, "X")
    w, b = _hyperplanes.scaled(w, b, X)
    norm = np.linalg.norm(w)
    feet: FloatArray = X - np.outer((X @ w + b) / norm, w / norm)
    return feet


def boundary(W: ArrayLike, k: int, j: int) -> tuple[FloatArray, float]:
    """Hyperplane between classes k and j, where f_k(x) = f_j(x).

    (w_k - w_j)ᵀx + (b_k - b_j) = 0, positive on the side of class k.

    Parameters
    ----------
    W : (D+1, K) weights, biases in row 0
    k, j : two classes

    Returns
    -------
    w, b : (D,) weights and bias of the boundary

    Examples
    --------
    >>> boundary([[0.5, 0.0], [1.0, -1.0]], 0, 1)
    (array([2.]), 0.5)
    """
    W = _checks.matrix(W, "W")
    k = _checks.count(k, "k", least=0)
    j = _checks.count(j, "j", least=0)
    if max(k, j) >= W.shape[1] or k == j:
        raise ValueError(
            f"k and j must be two classes below {W.shape[1]}, got {k} and {j}"
        )
    difference = W[:, k] - W[:, j]
    return difference[1:], float(difference[0])


def one_hot(t: ArrayLike, K: int) -> FloatArray:
    """One column per class: T_nk is 1 if example n is of class k, else 0.

    Parameters
    ----------
    t : (N,) classes, 0 to K-1
    K : number of classes, at least 2

    Returns
    -------
    T : (N, K)

    Examples
    --------
    >>> one_hot([2, 0], K=3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    K = _checks.count(K, "K", least=2)
    t = _checks.classes(t, "t", K)
    T = np.zeros((len(t), K))
    T[np.arange(len(t)), t] = 1.0
    return T


def squared_error(W: ArrayLike, X: ArrayLike, T: ArrayLike) -> float:
    """Sum of squared errors, J(W) = Σ_n Σ_k (T_nk - f_k(x_n))².

    Parameters
    ----------
    W : (D+1, K) weights, biases in row 0; or (D+1,) for a single score
    X : (N, D) inputs
    T : (N, K) targets, or (N,)

    Examples
    --------
    >>> squared_error([0.5, 1.0], [[1.0], [-1.0]], [1, -1])
    0.5
    """
    X = _checks.matrix(X, "X")
    W = _weights(W, X)
    error = _targets(T, len(X)) - scores(W, X)
    return float(np.sum(error**2))


def least_squares_weights(X: ArrayLike, T: ArrayLike) -> FloatArray:
    """Weights and bias with the least sum of squared errors, W = X̃⁺T.

    X̃⁺ is the pseudo-inverse of X̃ = [1 X]: of all minimisers this is the one
    with the smallest sum of squared entries.  If X̃ has rank D+1 it is the
    only one, W = (X̃ᵀX̃)⁻¹X̃ᵀT; that product is never formed here.

    Parameters
    ----------
    X : (N, D) inputs
    T : (N, K) targets, or (N,) for a single score

    Returns
    -------
    W : (D+1, K), biases in row 0; or (D+1,)

    Examples
    --------
    >>> least_squares_weights([[1.0], [2.0], [3.0]], [-1, 1, 3]).round(6)
    array([-3.,  2.])
    """
    X_1 = with_bias(X)
    T = _targets(T, len(X_1))
    return np.asarray(np.linalg.lstsq(X_1, T, rcond=None)[0])


def least_squares(X: ArrayLike, t: ArrayLike, K: int) -> FloatArray:
    """Least-squares classifier for K classes: regress on the one-hot targets.

    W = X̃⁺T with T = `one_hot` (t).  Classify with
    ``classify(scores(W, X))``.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) classes, 0 to K-1, each of them present
    K : number of classes, at least 2

    Returns
    -------
    W : (D+1, K) weights, biases in row 0

    Examples
    --------
    >>> W = least_squares([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], K=2)
    >>> classify(scores(W, [[0.9], [1.6]]))
    array([0, 1])
    """
    X = _checks.matrix(X, "X")
    t = _checks.every_class(t, "t", len(X), K)
    return least_squares_weights(X, one_hot(t, K))


def _weights(W: ArrayLike, X: FloatArray) -> FloatArray:
    """Weights with one row per feature, and one in front for the biases."""
    array = np.asarray(W)
    W = _checks.vector(W, "W") if array.ndim == 1 else _checks.matrix(W, "W")
    if len(W) != X.shape[1] + 1:
        raise ValueError(
            f"W must have D + 1 = {X.shape[1] + 1} rows, the biases in row 0, "
            f"got shape {W.shape}"
        )
    return W


def _targets(T: ArrayLike, N: int) -> FloatArray:
    """Targets with one row per example."""
    array = np.asarray(T)
    T = _checks.vector(T, "T") if array.ndim == 1 else _checks.matrix(T, "T")
    if len(T) != N:
        raise ValueError(f"T must have {N} rows, got shape {T.shape}")
    return T
