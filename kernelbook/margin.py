"""Maximum margin: the widest street between two classes.

The equations are those of chapter 15.  The solver works on the dual picture:
the two closest points of the convex hulls of the classes.  Every direction w
gives a lower bound on the optimal margin, every pair of points in the hulls
an upper bound; the solver returns when the two meet, and says how closely.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from kernelbook import _checks
from kernelbook._checks import FloatArray

TOUCH = 1e-12  # hulls this close, relative to the data, count as touching
CLOSED = 1e-10  # relative gap at which the bounds have met
MAX_PAIRS = 10_000


@dataclass(frozen=True, eq=False)
class ClosestPoints:
    """The closest points of two convex hulls, with bounds on the distance."""

    p: FloatArray
    """(D,) point of the hull of class +1."""
    q: FloatArray
    """(D,) point of the hull of class -1."""
    u: FloatArray = field(repr=False)
    """(N,) convex weights; p = Σ u_n x_n over class +1, q over class -1."""
    upper: float
    """‖p - q‖; no street between the classes is wider."""
    lower: float
    """Width of the street across p - q; not positive if there is none."""

    @property
    def gap(self) -> float:
        """upper - lower, which bounds the error of both."""
        return self.upper - self.lower


@dataclass(frozen=True, eq=False)
class HardMargin:
    """The hyperplane of maximum margin, with its certificate."""

    w: FloatArray
    """(D,) weights, scaled so that the smallest t_n(wᵀx_n + b) is 1."""
    b: float
    """Bias."""
    alpha: FloatArray = field(repr=False)
    """(N,) multipliers, exactly 0 off the support vectors found."""
    margin: float
    """2/‖w‖, the width of the street."""
    gap: float
    """Bound on how much wider a street could be, upper - margin."""


def distance(w: ArrayLike, b: float, X: ArrayLike) -> FloatArray:
    """Distance of each point to the hyperplane wᵀx + b = 0.

    abs(wᵀx_n + b) / ‖w‖.

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
    >>> distance([3.0, 4.0], -5.0, [[0.0, 0.0], [3.0, 4.0]])
    array([1., 4.])
    """
    X = _checks.matrix(X, "X")
    w, b = _normal(w, X), _checks.real(b, "b")
    distances: FloatArray = np.abs(X @ w + b) / np.linalg.norm(w)
    return distances


def margin(w: ArrayLike, b: float, X: ArrayLike, t: ArrayLike) -> float:
    """Width of the street around a hyperplane that no example enters.

    2 min_n t_n(wᵀx_n + b) / ‖w‖, negative if an example is misclassified.

    Parameters
    ----------
    w : (D,) weights, not all zero; their length does not matter
    b : bias
    X : (N, D) points
    t : (N,) labels, -1 or +1

    Examples
    --------
    >>> margin([1.0, 0.0], 0.0, [[2.0, 5.0], [-1.0, 0.0]], [1, -1])
    2.0
    """
    X = _checks.matrix(X, "X")
    t = _checks.signs(t, "t", len(X))
    w, b = _normal(w, X), _checks.real(b, "b")
    return 2 * float((t * (X @ w + b)).min() / np.linalg.norm(w))


def canonical(
    w: ArrayLike, b: float, X: ArrayLike, t: ArrayLike
) -> tuple[FloatArray, float]:
    """The same hyperplane, scaled so that min_n t_n(wᵀx_n + b) = 1.

    Parameters
    ----------
    w, b : (D,) weights and bias of a hyperplane that separates the classes
    X : (N, D) points
    t : (N,) labels, -1 or +1

    Raises
    ------
    ValueError
        If the hyperplane does not separate the classes.

    Examples
    --------
    >>> canonical([1.0], -1.0, [[5.0], [-1.0]], [1, -1])
    (array([0.5]), -0.5)
    """
    X = _checks.matrix(X, "X")
    t = _checks.signs(t, "t", len(X))
    w, b = _normal(w, X), _checks.real(b, "b")
    smallest = float((t * (X @ w + b)).min())
    if smallest <= 0:
        raise ValueError(
            "w and b must separate the classes, got an example with "
            f"t_n(wᵀx_n + b) = {smallest:.3g}"
        )
    return w / smallest, b / smallest


def closest_points(X: ArrayLike, t: ArrayLike) -> ClosestPoints:
    """The closest points of the convex hulls of the two classes.

    Minimise ‖Σ_n u_n t_n x_n‖ subject to u_n >= 0 and Σ u_n = 1 in each
    class.  Starts from one pair of examples, one of each class.  Each step
    adds the pair that reaches least far along p - q and solves for the best
    mixture of pairs.  Stops when the bounds meet or the hulls touch.

    Parameters
    ----------
    X : (N, D) points
    t : (N,) labels, -1 and +1, both present

    Examples
    --------
    >>> points = closest_points([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]],
    ...                         [1, -1, -1])
    >>> points.upper, points.lower
    (2.0, 2.0)
    """
    X = _checks.matrix(X, "X")
    t = _checks.both_signs(t, "t", len(X))
    touching = TOUCH * float(np.linalg.norm(X, axis=1).max())
    pairs = [(int(t.argmax()), int(t.argmin()))]
    best: ClosestPoints | None = None
    for _ in range(MAX_PAIRS):
        v = _shortest_mixture(np.array([X[i] - X[j] for i, j in pairs]))
        new, pair = _bounds(X, t, v, pairs)
        if best is not None and new.upper >= best.upper:
            break  # rounding allows no further progress
        best = new
        if best.upper <= touching or best.gap <= CLOSED * best.upper:
            break
        pairs = [pairs[k] for k in np.flatnonzero(v)] + [pair]
    assert best is not None
    return best


def separable(X: ArrayLike, t: ArrayLike) -> bool:
    """Whether a hyperplane has all of class +1 on one side, -1 on the other.

    The answer True comes with a street of positive width, found and
    measured.  Hulls that touch, up to rounding, are not separable.

    Parameters
    ----------
    X : (N, D) points
    t : (N,) labels, -1 and +1, both present

    Examples
    --------
    >>> separable([[0.0], [1.0], [2.0]], [-1, -1, 1])
    True
    >>> separable([[0.0], [1.0], [2.0]], [-1, 1, -1])
    False
    """
    return _apart(closest_points(X, t), X)


def hard_margin(X: ArrayLike, t: ArrayLike) -> HardMargin:
    """The hyperplane with the widest street between the classes.

    Minimise ½ ‖w‖² subject to t_n(wᵀx_n + b) >= 1 for all n.  With the
    closest points p and q of the convex hulls, w points along p - q, and
    α_n = 2 u_n / ‖p - q‖².

    Parameters
    ----------
    X : (N, D) points
    t : (N,) labels, -1 and +1, both present

    Raises
    ------
    ValueError
        If no hyperplane separates the classes; the message names a point
        that lies in the convex hulls of both.  If the search ended before it
        met one, the message says how close the hulls came.

    Examples
    --------
    >>> hard_margin([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], [1, -1, -1])
    HardMargin(w=array([1., 0.]), b=0.0, margin=2.0, gap=0.0)
    """
    points = closest_points(X, t)
    X, t = np.asarray(X, dtype=float), np.asarray(t, dtype=float)
    if not _apart(points, X):
        if points.upper > CLOSED * np.abs(X).max():
            raise ValueError(
                "X must be separable by a hyperplane, and none was found: the "
                f"convex hulls come within {points.upper:.2g} of each other"
            )
        raise ValueError(
            "X must be separable by a hyperplane, got classes whose convex "
            f"hulls share the point {_show(points.p, X)}"
        )
    z = (points.u * t) @ (X - X.mean(axis=0))  # p - q, without cancellation
    b = 0.0 - float((X[t == 1] @ z).min() + (X[t == -1] @ z).max()) / 2
    w, b = canonical(z, b, X, t)
    width = 2 / float(np.linalg.norm(w))
    alpha = 2 * points.u / points.upper**2
    return HardMargin(w, b, alpha, width, max(points.upper - width, 0.0))


def _normal(w: ArrayLike, X: FloatArray) -> FloatArray:
    """A vector across a hyperplane: as long as x, and not zero."""
    w = _checks.vector(w, "w", X.shape[1])
    if not w.any():
        raise ValueError("w must not be zero: wᵀx + b = 0 is no hyperplane")
    return w


def _apart(points: ClosestPoints, X: ArrayLike) -> bool:
    """Whether a street was found that is more than rounding."""
    size = float(np.linalg.norm(np.asarray(X, dtype=float), axis=1).max())
    return points.lower > 0 and points.upper > TOUCH * size


def _show(p: FloatArray, X: FloatArray) -> str:
    """Four digits, and 0 for what is rounding error."""
    noise = 1e-9 * np.abs(X).max()
    return np.array2string(np.where(np.abs(p) > noise, p, 0.0), precision=4)


def _shortest_mixture(Z: FloatArray) -> FloatArray:
    """Convex weights v of the rows of Z that make ‖Zᵀv‖ smallest.

    Minimise ‖Zᵀv‖² + (1 - Σv)² over v >= 0 only.  With v = s·(convex
    weights) and length d of their mixture, the best s leaves d²/(1 + d²),
    which rises with d: the same convex weights, divided by their sum.
    """
    size = float(np.linalg.norm(Z, axis=1).max()) or 1.0
    A = np.vstack([Z.T / size, np.ones(len(Z))])
    goal = np.append(np.zeros(Z.shape[1]), 1.0)
    v: FloatArray = nnls(A, goal, maxiter=50 * len(Z))[0]
    return v / float(v.sum())


def _bounds(
    X: FloatArray, t: FloatArray, v: FloatArray, pairs: list[tuple[int, int]]
) -> tuple[ClosestPoints, tuple[int, int]]:
    """A mixture of pairs as two points, and the pair least far along p - q."""
    u = np.zeros(len(X))
    np.add.at(u, np.array(pairs), v[:, None])
    z = np.array([X[i] - X[j] for i, j in pairs]).T @ v
    upper = float(np.linalg.norm(z))
    plus, minus = t == 1, t == -1
    i = int(np.where(plus, X @ z, np.inf).argmin())
    j = int(np.where(minus, X @ z, -np.inf).argmax())
    lower = float((X[i] - X[j]) @ z) / upper if upper > 0 else 0.0
    p, q = u[plus] @ X[plus], u[minus] @ X[minus]
    return ClosestPoints(p, q, u, upper, lower), (i, j)
