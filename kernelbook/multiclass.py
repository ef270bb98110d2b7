"""Many classes from two: one against the rest, and one against one.

The equations are those of chapter 13.  K is the number of classes, not a Gram
matrix, and the classes are the whole numbers 0, ..., K-1.

A binary method is any function ``fit(X, t)`` of inputs (N, D) and labels -1
and +1 that returns a score function: ``f = fit(X, t)``, and ``f(Z)`` is (N*,)
with the sign of the predicted label.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks
from kernelbook._checks import FloatArray, IntArray

BoolArray = NDArray[np.bool_]
Score = Callable[[FloatArray], ArrayLike]
Fit = Callable[[FloatArray, FloatArray], Score]


@dataclass(frozen=True, eq=False)
class LinearScore:
    """A score function f(x) = wᵀx + b, made by :func:`linear_score`."""

    w: FloatArray
    """(D,) weights."""
    b: float
    """Bias."""

    def __call__(self, X: ArrayLike) -> FloatArray:
        """(N,) scores of the inputs X (N, D)."""
        X = _checks.columns(X, "X", len(self.w))
        return np.asarray(X @ self.w + self.b)


def linear_score(w: ArrayLike, b: float) -> LinearScore:
    """The score function f(x) = wᵀx + b, as `Fit` functions return it.

    Parameters
    ----------
    w : (D,) weights
    b : bias

    Examples
    --------
    >>> f = linear_score([2.0], -1.0)
    >>> f(np.array([[0.0], [1.0]]))
    array([-1.,  1.])
    """
    w, b = _checks.vector(w, "w"), _checks.real(b, "b")
    return LinearScore(w.copy(), b)


@dataclass(frozen=True, eq=False)
class OneVsRest:
    """K scores, each of one class against all others."""

    members: tuple[Score, ...] = field(repr=False)
    """K score functions, f_k(x) > 0 for class k."""

    def scores(self, X: ArrayLike) -> FloatArray:
        """(N, K) scores f_k(x_n); the largest of a row wins."""
        X = _checks.matrix(X, "X")
        return np.column_stack([_values(f, X) for f in self.members])


@dataclass(frozen=True, eq=False)
class OneVsOne:
    """K(K-1)/2 scores, each of one class against one other."""

    K: int
    """Number of classes."""
    members: tuple[Score, ...] = field(repr=False)
    """Score functions in the order of `pairs`, f_kj(x) > 0 for class k."""

    def scores(self, X: ArrayLike) -> FloatArray:
        """(N, P) scores f_kj(x_n) of the P = K(K-1)/2 ``pairs(K)``."""
        X = _checks.matrix(X, "X")
        return np.column_stack([_values(f, X) for f in self.members])


def pairs(K: int) -> list[tuple[int, int]]:
    """All K(K-1)/2 pairs of classes k < j.

    Examples
    --------
    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(_checks.count(K, "K", least=2)), 2))


def one_vs_rest(fit: Fit, X: ArrayLike, t: ArrayLike, K: int) -> OneVsRest:
    """Train K binary classifiers, class k (+1) against all others (-1).

    Classify with ``discriminant.classify(model.scores(X))``.

    Parameters
    ----------
    fit : a binary method, see the top of this module
    X : (N, D) inputs
    t : (N,) classes, 0 to K-1, each of them present
    K : number of classes, at least 2

    Examples
    --------
    >>> def to_the_mean(X, t):
    ...     return linear_score(X[t > 0].mean(axis=0), 0.0)
    >>> model = one_vs_rest(to_the_mean, [[-1.0], [0.0], [1.0]], [0, 1, 2], 3)
    >>> model.scores([[2.0]])
    array([[-2.,  0.,  2.]])
    """
    X = _checks.matrix(X, "X")
    K = _checks.count(K, "K", least=2)
    t = _checks.every_class(t, "t", len(X), K)
    members = [fit(X, np.where(t == k, 1.0, -1.0)) for k in range(K)]
    return OneVsRest(tuple(members))


def one_vs_one(fit: Fit, X: ArrayLike, t: ArrayLike, K: int) -> OneVsOne:
    """Train K(K-1)/2 binary classifiers, class k (+1) against class j (-1).

    Each sees only the examples of its two classes.  Classify with
    ``classify_votes(model.scores(X), K)``.

    Parameters
    ----------
    fit : a binary method, see the top of this module
    X : (N, D) inputs
    t : (N,) classes, 0 to K-1, each of them present
    K : number of classes, at least 2

    Examples
    --------
    >>> def to_the_mean(X, t):
    ...     return linear_score(X[t > 0].mean(axis=0), 0.0)
    >>> model = one_vs_one(to_the_mean, [[-1.0], [0.0], [1.0]], [0, 1, 2], 3)
    >>> model.scores([[2.0]])
    array([[-2., -2.,  0.]])
    """
    X = _checks.matrix(X, "X")
    K = _checks.count(K, "K", least=2)
    t = _checks.every_class(t, "t", len(X), K)
    members = []
    for k, j in pairs(K):
        two = (t == k) | (t == j)
        members.append(fit(X[two], np.where(t[two] == k, 1.0, -1.0)))
    return OneVsOne(K, tuple(members))


def votes(F: ArrayLike, K: int) -> IntArray:
    """Votes for each class, v_k(x) = Σ_{j≠k} 1[f_kj(x) > 0].

    Here f_jk(x) = -f_kj(x).  A pair whose score is exactly zero votes for
    neither of its classes.

    Parameters
    ----------
    F : (N, K(K-1)/2) pairwise scores, in the order of `pairs`
    K : number of classes

    Returns
    -------
    v : (N, K), rows that add up to at most K(K-1)/2

    Examples
    --------
    >>> votes([[1.0, 2.0, -0.5], [1.0, -2.0, 0.5]], K=3)
    array([[2, 0, 1],
           [1, 1, 1]])
    """
    K = _checks.count(K, "K", least=2)
    F = _pair_scores(F, K)
    v = np.zeros((len(F), K), dtype=np.int64)
    for f, (k, j) in zip(F.T, pairs(K), strict=True):
        v[:, k] += f > 0
        v[:, j] += f < 0
    return v


def winners(v: ArrayLike) -> BoolArray:
    """Which classes have the most votes: more than one True in a row is a tie.

    Parameters
    ----------
    v : (N, K) votes

    Returns
    -------
    tops : (N, K) booleans

    Examples
    --------
    >>> winners([[2, 0, 1], [1, 1, 1]])
    array([[ True, False, False],
           [ True,  True,  True]])
    """
    v = _checks.matrix(v, "v")
    tops: BoolArray = v == v.max(axis=1, keepdims=True)
    return tops


def total_scores(F: ArrayLike, K: int) -> FloatArray:
    """Sum of a class's pairwise scores, s_k(x) = Σ_{j≠k} f_kj(x).

    Parameters
    ----------
    F : (N, K(K-1)/2) pairwise scores, in the order of `pairs`
    K : number of classes

    Returns
    -------
    s : (N, K), rows that add up to zero

    Examples
    --------
    >>> total_scores([[1.0, -2.0, 0.5]], K=3)
    array([[-1. , -0.5,  1.5]])
    """
    K = _checks.count(K, "K", least=2)
    F = _pair_scores(F, K)
    s = np.zeros((len(F), K))
    for f, (k, j) in zip(F.T, pairs(K), strict=True):
        s[:, k] += f
        s[:, j] -= f
    return s


def classify_votes(F: ArrayLike, K: int) -> IntArray:
    """The class with the most votes; ties go to the largest total score.

    argmax of s_k(x) among the classes with the most votes v_k(x), as in
    scikit-learn.  Where there are ties, `winners` says.

    Parameters
    ----------
    F : (N, K(K-1)/2) pairwise scores, in the order of `pairs`
    K : number of classes

    Returns
    -------
    labels : (N,) classes, 0 to K-1

    Examples
    --------
    >>> classify_votes([[1.0, 2.0, -0.5], [1.0, -2.0, 0.5]], K=3)
    array([0, 2])
    """
    top = winners(votes(F, K))
    s = np.where(top, total_scores(F, K), -np.inf)
    labels: IntArray = np.argmax(s, axis=1)
    return labels


def _values(f: Score, X: FloatArray) -> FloatArray:
    """The values of a score function, one per input."""
    return _checks.vector(f(X), "values of a score function", len(X))


def _pair_scores(F: ArrayLike, K: int) -> FloatArray:
    F = _checks.matrix(F, "F")
    P = len(pairs(K))
    if F.shape[1] != P:
        raise ValueError(
            f"F must have K(K-1)/2 = {P} columns for K = {K}, "
            f"got shape {F.shape}"
        )
    return F
