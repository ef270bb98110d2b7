"""The convex hulls of two classes: coordinates, mixtures of pairs, bounds.

Coordinates.  Distances between points do not change if all are moved, so the
points are first moved to their centre c and divided by a power of two s:
x = c + s z with every ‖z‖ <= 1.  Any c near the data will do, it need not be
the mean.  Where the data are far from the origin compared with their spread,
x and c agree in their leading digits and x - c is exact (Sterbenz); elsewhere
it is rounded to eps times the spread.  So a rounding error is always eps
relative to the spread of the points, never to their distance from the origin.

Mixtures.  The differences of points p - q, one of each hull, are the convex
mixtures of the differences z_i - z_j of pairs of examples, one of each class.
The shortest mixture of given pairs is a problem of non-negative least squares:
minimise ‖Δᵀv‖² + (1 - Σv)² over v >= 0 only, with the differences as rows of
Δ.  If v is s times convex weights and d the length of their mixture, the best
s leaves d²/(1 + d²), which rises with d: the same convex weights, and v
divided by its sum.

Bounds.  The length of a mixture m is an upper bound on the distance of the
hulls.  The least (z_i - z_j)ᵀn over all pairs is the width of the street
across a unit vector n, a lower bound; min over i and max over j find it in
one pass.

Direction.  n = m/‖m‖ would do if m had all its digits.  But m is a sum of
terms of size 1 with an error of eps, so n has one of eps/‖m‖, and across a
narrow street the lower bound would be wrong by that much.  The shortest m is
at right angles to the differences of the pairs that it mixes.  Subtracting
from m what is left along these makes it so to eps, however short m is ("twice
is enough", Kahan and Parlett); then the error of both bounds is about eps.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from kernelbook._checks import FloatArray

Pair = tuple[int, int]
FLAT = 1e-8  # relative; a difference this small has no direction worth having


class Coordinates(NamedTuple):
    """Points as x = centre + unit z, with every ‖z‖ <= 1."""

    Z: FloatArray
    """(N, D) points about their centre."""
    centre: FloatArray
    """(D,) half way between the least and the largest of each feature."""
    unit: float
    """A power of two."""
    spread: float
    """The largest ‖z‖, between ½ and 1; or 0 if all points are one."""


class Bounds(NamedTuple):
    """What a mixture of pairs says of the distance of the hulls."""

    u: FloatArray
    """(N,) convex weights of the examples, of each class."""
    direction: FloatArray
    """(D,) the mixture divided by its length; or zero."""
    upper: float
    """Length of the mixture."""
    lower: float
    """Width of the street across it."""
    pair: Pair
    """The pair that reaches least far along the mixture."""

    @property
    def gap(self) -> float:
        """upper - lower, which bounds the error of both."""
        return self.upper - self.lower


def coordinates(X: FloatArray) -> Coordinates:
    """The points about their centre, in a unit as large as their spread."""
    centre = X.min(axis=0) / 2 + X.max(axis=0) / 2
    Z = X - centre
    exponent = int(np.frexp(np.abs(Z).max())[1])
    Z = np.ldexp(Z, -exponent)  # so that no square overflows or vanishes
    spread, more = np.frexp(np.linalg.norm(Z, axis=1).max())
    unit = float(np.ldexp(1.0, exponent + int(more)))
    return Coordinates(np.ldexp(Z, -more), centre, unit, float(spread))


def shortest_mixture(Z: FloatArray, pairs: list[Pair]) -> FloatArray:
    """Convex weights v of pairs whose mixture is shortest.

    A pair costs a few iterations.  If 50 for each are used up, rounding has
    sent the solver round in circles: then the weights are all equal, which
    are as convex, and no progress.
    """
    differences = np.array([Z[i] - Z[j] for i, j in pairs])
    size = float(np.linalg.norm(differences, axis=1).max()) or 1.0
    A = np.vstack([differences.T / size, np.ones(len(pairs))])
    goal = np.append(np.zeros(Z.shape[1]), 1.0)
    try:
        v: FloatArray = nnls(A, goal, maxiter=50 * len(pairs))[0]
    except RuntimeError:
        v = np.ones(len(pairs))
    return v / float(v.sum())


def bounds(
    Z: FloatArray, t: FloatArray, v: FloatArray, pairs: list[Pair]
) -> Bounds:
    """Both bounds from the mixture of pairs with weights v."""
    u = np.zeros(len(Z))
    np.add.at(u, np.array(pairs), v[:, None])
    differences = np.array([Z[i] - Z[j] for i, j in pairs])
    m = differences.T @ v
    n = _direction(m, differences[v > 0])
    i = int(np.where(t == 1, Z @ n, np.inf).argmin())
    j = int(np.where(t == -1, Z @ n, -np.inf).argmax())
    lower = float((Z[i] - Z[j]) @ n)
    return Bounds(u, n, float(np.linalg.norm(m)), lower, (i, j))


def _direction(m: FloatArray, mixed: FloatArray) -> FloatArray:
    """m of length one, at right angles to the differences of what it mixes."""
    faces = np.linalg.svd(mixed[1:] - mixed[0], full_matrices=False)
    least = FLAT * faces.S.max(initial=0.0)
    Q = faces.Vh[least < faces.S]
    n: FloatArray = m - (Q @ m) @ Q
    norm = float(np.linalg.norm(n))
    return n / norm if norm > 0 else n
