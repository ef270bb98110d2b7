"""Maximum margin: the widest street between two classes.

The equations are those of chapter 18.  The solver works on the dual picture:
the two closest points of the convex hulls of the classes.  Every direction w
gives a lower bound on the optimal margin, every pair of points in the hulls
an upper bound; the solver returns when the two meet, and says how closely.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from kernelbook import _checks, _hulls, _hyperplanes
from kernelbook._checks import FloatArray
from kernelbook._progress import CONVERGED, warn_unless_converged

TOUCH = 1e-12  # hulls this close, relative to the spread of X, touch
CLOSED = 1e-10  # relative gap at which the bounds have met
MAX_PAIRS = 10_000  # steps of the search; a hundred are many
TINY = float(np.finfo(float).tiny)  # below it floats lose digits


@dataclass(frozen=True, eq=False)
class ClosestPoints:
    """The closest points of two convex hulls, with bounds on the distance."""

    p: FloatArray
    """(D,) point of the hull of class +1."""
    q: FloatArray
    """(D,) point of the hull of class -1."""
    u: FloatArray = field(repr=False)
    """(N,) convex weights; p = Σ_{t_n = 1} u_n x_n, and q of class -1."""
    direction: FloatArray = field(repr=False)
    """(D,) p - q divided by its length, with the digits that p - q loses."""
    upper: float
    """‖p - q‖; no street between the classes is wider."""
    lower: float
    """Width of the street across p - q; not positive if there is none."""
    apart: bool
    """Whether the street is wider than rounding."""
    status: str
    """"converged" if the bounds met; else "max_iterations" or "stalled"."""

    @property
    def gap(self) -> float:
        """upper - lower, which bounds the error of both."""
        return self.upper - self.lower


@dataclass(frozen=True, eq=False)
class HardMargin:
    """The hyperplane of maximum margin, with its certificate."""

    w: FloatArray
    """(D,) weights, scaled so that min_n t_n(wᵀx_n + b) = 1."""
    b: float
    """Bias."""
    alpha: FloatArray = field(repr=False)
    """(N,) multipliers, exactly 0 off the support vectors found."""
    margin: float
    """2/‖w‖, the width of the street."""
    gap: float
    """Bound on how much wider a street could be, upper - margin."""
    status: str = field(repr=False)
    """That of the search for the closest points."""


class LeaveOneOut(NamedTuple):
    """Errors on examples left out, and two bounds on their number."""

    errors: int
    """Examples that the hyperplane of the others puts on the wrong side."""
    support_vectors: int
    """Examples with α_n > 0; no other can be an error."""
    margin_bound: float
    """4 Δ²/ρ², with Δ the longest distance between the classes' examples."""


def distance(w: ArrayLike, b: float, X: ArrayLike) -> FloatArray:
    """Distance of each point to the hyperplane wᵀx + b = 0.

    r_n = abs(wᵀx_n + b) / ‖w‖.

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
    w, b = _hyperplanes.scaled(w, b, X)
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
    w, b = _hyperplanes.scaled(w, b, X)
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
        If the hyperplane does not separate the classes, or an example is so
        close to it that 1 / (its distance) overflows.

    Examples
    --------
    >>> canonical([1.0], -1.0, [[5.0], [-1.0]], [1, -1])
    (array([0.5]), -0.5)
    """
    X = _checks.matrix(X, "X")
    t = _checks.signs(t, "t", len(X))
    w, b = _hyperplanes.scaled(w, b, X)
    products = t * (X @ w + b)
    smallest = float(products.min())
    if smallest < TINY:
        r = smallest / float(np.linalg.norm(w))
        raise ValueError(
            "w and b must separate the classes, got example "
            f"{products.argmin()} at the signed distance t_n r_n = {r:.3g}"
        )
    return w / smallest, b / smallest


def closest_points(X: ArrayLike, t: ArrayLike) -> ClosestPoints:
    """The closest points of the convex hulls of the two classes.

    Minimise ‖Σ_n u_n t_n x_n‖ subject to u_n >= 0 and Σ_{t_n = k} u_n = 1 for
    both labels k.  Starts from one pair of examples, one of each class.  Each
    step adds the pair that reaches least far along p - q and solves for the
    best mixture of pairs.  Stops when the bounds meet or the hulls touch, and
    warns (ConvergenceWarning) if it ends before.

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
    points = _hulls.coordinates(X)
    touching = TOUCH * points.spread
    pairs = [(int(t.argmax()), int(t.argmin()))]
    best, status = None, "max_iterations"
    for _ in range(MAX_PAIRS):
        v = _hulls.shortest_mixture(points.Z, pairs)
        new = _hulls.bounds(points.Z, t, v, pairs)
        if best is not None and new.upper >= best.upper:
            status = "stalled"  # rounding allows no further progress
            break
        best = new
        if best.upper <= touching or best.gap <= CLOSED * best.upper:
            status = CONVERGED
            break
        pairs = [pairs[k] for k in np.flatnonzero(v)] + [new.pair]
    assert best is not None
    return _in_data_coordinates(points, t, best, status)


def separable(X: ArrayLike, t: ArrayLike) -> bool:
    """Whether a hyperplane has all of class +1 on one side, -1 on the other.

    The answer True comes with a street of positive width, found and
    measured.  Hulls that touch, up to rounding relative to the spread of the
    points, are not separable.

    The points are taken as they came.  Where they lie does not matter, but
    points moved far away are no longer the same: 1e13 from the origin a float
    has a resolution of 0.002, and the answer is for the rounded points.

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
    return closest_points(X, t).apart


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
        met one, the message says how close the hulls came.  If the street is
        so wide or narrow that α overflows, or so far from the origin that
        rounding b moves the hyperplane out of it.

    Examples
    --------
    >>> hard_margin([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], [1, -1, -1])
    HardMargin(w=array([1., 0.]), b=0.0, margin=2.0, gap=0.0)
    """
    points = closest_points(X, t)
    X, t = np.asarray(X, dtype=float), np.asarray(t, dtype=float)
    _require_street(points, X)
    Z, centre, unit, _ = _hulls.coordinates(X)
    z = points.direction
    b = 0.0 - float((Z[t == 1] @ z).min() + (Z[t == -1] @ z).max()) / 2
    w, b = canonical(z, b, Z, t)
    width = unit * 2 / float(np.linalg.norm(w))
    w = w / unit
    b = b - float(w @ centre)
    _require_separated(w, b, X, t)
    alpha = 2 * points.u / points.upper**2
    gap = max(points.upper - width, 0.0)
    return HardMargin(w, b, alpha, width, gap, points.status)


def leave_one_out(X: ArrayLike, t: ArrayLike) -> LeaveOneOut:
    """Leave out one example, find the widest street, classify it; for all.

    Without an example whose α_n is 0 the street stays where it is, so only
    the support vectors need a new fit.  An example on the new hyperplane is
    an error.

    Parameters
    ----------
    X : (N, D) points
    t : (N,) labels, -1 and +1, each twice or more

    Raises
    ------
    ValueError
        If no hyperplane separates the classes, or a class has one example.

    Examples
    --------
    >>> leave_one_out([[0.0], [1.0], [4.0], [9.0]], [-1, -1, 1, 1])
    LeaveOneOut(errors=1, support_vectors=2, margin_bound=36.0)
    """
    whole = hard_margin(X, t)
    X, t = np.asarray(X, dtype=float), np.asarray(t, dtype=float)
    if min((t == 1).sum(), (t == -1).sum()) < 2:
        raise ValueError("t must have each label twice or more, got one alone")
    support = np.flatnonzero(whole.alpha)
    errors = 0
    for n in support:
        others = hard_margin(np.delete(X, n, axis=0), np.delete(t, n))
        errors += int(t[n] * (X[n] @ others.w + others.b) <= 0)
    widest = float(cdist(X[t == 1], X[t == -1]).max())
    return LeaveOneOut(errors, len(support), 4 * (widest / whole.margin) ** 2)


def _in_data_coordinates(
    points: _hulls.Coordinates, t: FloatArray, best: _hulls.Bounds, status: str
) -> ClosestPoints:
    """What the search found, where the data are; a warning if too little."""
    Z, centre, unit, spread = points
    if best.gap <= TOUCH * spread:  # the bounds have met, up to rounding
        status = CONVERGED
    upper, lower = unit * best.upper, unit * best.lower
    warn_unless_converged(
        status,
        "closest_points",
        f"the distance of the hulls is {lower:.3g} to {upper:.3g}",
        stacklevel=4,
    )
    p, q = (
        centre + unit * (best.u[t == sign] @ Z[t == sign]) for sign in (1, -1)
    )
    apart = best.lower > 0 and best.upper > TOUCH * spread
    return ClosestPoints(
        p, q, best.u, best.direction, upper, lower, apart, status
    )


def _require_street(points: ClosestPoints, X: FloatArray) -> None:
    """Raise unless the hulls are apart, by a distance whose square is one."""
    if not points.apart and points.status != CONVERGED:
        raise ValueError(
            "X must be separable by a hyperplane, and none was found: the "
            f"convex hulls come within {points.upper:.2g} of each other"
        )
    if not points.apart:
        raise ValueError(
            "X must be separable by a hyperplane, got classes whose convex "
            f"hulls share the point {_show(points.p, X)}"
        )
    if not 2e-154 < points.upper < 1e153:
        raise ValueError(
            "X must have a street whose square is a float, from 2e-154 to "
            f"1e153 wide, got {points.upper:.2g}; multiply X by a constant"
        )


def _require_separated(
    w: FloatArray, b: float, X: FloatArray, t: FloatArray
) -> None:
    """Raise if rounding b has moved the hyperplane out of the street."""
    if (t * (X @ w + b)).min() <= 0:
        raise ValueError(
            "X must be nearer to the origin, got a street that is narrower "
            f"than the rounding error of b = {b:.3g}; subtract a point of X "
            "from all"
        )


def _show(p: FloatArray, X: FloatArray) -> str:
    """Four digits, and 0 for what is rounding error."""
    noise = 1e-9 * np.ptp(X, axis=0).max()
    return np.array2string(np.where(np.abs(p) > noise, p, 0.0), precision=4)
