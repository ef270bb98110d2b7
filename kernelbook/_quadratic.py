"""The lowest point of a quadratic function ½ wᵀPw + cᵀw, if it has one.

It has one if P has no negative eigenvalue and c no slope along the directions
in which P is flat, its null space; then Pw = -c.  Which eigenvalue is zero,
and which slope, has to be decided in floating point.

Units.  The eigenvalues of P depend on the units of w.  So P is first divided
by s_i s_j with powers of two s_i near √P_ii, which rounds nothing: for
diag(1e10, 1) it becomes about the identity.  If P_ii is below the rounding
error of the eigenvalues, s_i is made from that instead: of a smaller
one no entry in its row may be trusted to be smaller still.  Curvatures may so
be 1e20 apart, if it is a matter of units.

Eigenvalues.  LAPACK's are those of P + E with ‖E‖ <= M eps ‖P‖, for M rows
and up to a small factor; and the entries of P, themselves sums, are off by a
few eps.  So ‖E‖ <= (M + ENTRIES) eps ‖P‖ is allowed for.  By Weyl each
eigenvalue is off by at most ‖E‖: one below cannot be told from zero; all above
are positive.  Whether P
has a negative one is asked before the change of units: who computes P, a Gram
matrix for example, makes errors relative to ‖P‖.

Slopes.  v_i are the eigenvectors, λ_i the eigenvalues.  The slope v_iᵀc along
a flat v_i has three errors.  c is itself a sum; (number of its terms) eps
(size of its terms) bounds its error.  The scalar product adds M eps ‖c‖.  And
v_i is turned, by E, towards each v_j that is not flat by v_jᵀE v_i / λ_j,
which adds at most ‖E‖ (Σ_j (v_jᵀc / λ_j)²)^½ = ‖E‖ ‖w‖.  A slope within the
sum of the three counts as zero.  In other words, Pw = -c is solved if it is
solved for matrices and vectors that round to P and c.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, eigvalsh

from kernelbook._checks import FloatArray

EPS = float(np.finfo(float).eps)
ENTRIES = 10  # eps by which the entries of P may be off


@dataclass(frozen=True, eq=False)
class Curvature:
    """A symmetric P, (M, M), and what its eigenvalues say; made once."""

    P: FloatArray

    @cached_property
    def _extremes(self) -> FloatArray:
        """The smallest eigenvalue of P and the largest."""
        return np.asarray(eigvalsh(self.P)[[0, -1]])

    @property
    def lowest(self) -> float:
        """The smallest eigenvalue of P."""
        return float(self._extremes[0])

    @property
    def rounding(self) -> float:
        """‖E‖, the error of its eigenvalues, unless P is indefinite."""
        return (len(self.P) + ENTRIES) * EPS * float(self._extremes[1])

    @cached_property
    def scale(self) -> FloatArray:
        """The (M,) powers of two s_i, near √P_ii."""
        floor = self.rounding or 1.0
        sizes = np.sqrt(np.maximum(self.P.diagonal(), floor))
        return np.asarray(np.ldexp(1.0, np.frexp(sizes)[1]))

    @cached_property
    def modes(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues and vectors of P_ij / (s_i s_j)."""
        values, vectors = eigh(self.P / self.scale / self.scale[:, None])
        return values, vectors

    @property
    def error(self) -> float:
        """The same of the eigenvalues in the new units."""
        return (len(self.P) + ENTRIES) * EPS * float(self.modes[0][-1])

    @property
    def indefinite(self) -> bool:
        """Whether P has a negative eigenvalue, beyond rounding."""
        return self.lowest < -self.rounding

    @property
    def definite(self) -> bool:
        """Whether all eigenvalues of P are positive, beyond rounding."""
        return not self.indefinite and bool(self.modes[0][0] > self.error)

    def largest_response(self, rows: FloatArray) -> float:
        """The largest eigenvalue of R P⁻¹ Rᵀ for rows R, if P is definite."""
        values, vectors = self.modes
        bent = rows / self.scale @ vectors / np.sqrt(values)
        return float(np.linalg.norm(bent, 2)) ** 2

    def lowest_point(
        self, c: FloatArray, size: FloatArray, terms: int
    ) -> FloatArray | None:
        """The shortest w that minimises ½ wᵀPw + cᵀw; None if there is none.

        ``size`` (M,) is the sum of the absolute values of the terms of which
        each entry of c is the sum, ``terms`` their number.
        """
        if self.indefinite:
            return None
        values, vectors = self.modes
        flat = values <= self.error
        exponent = np.frexp(np.max(size / self.scale))[1]  # w is linear in c
        slopes = vectors.T @ np.ldexp(c / self.scale, -exponent)
        w = -slopes[~flat] / values[~flat]
        largest = np.linalg.norm(np.ldexp(size / self.scale, -exponent))
        noise = (len(c) + terms) * EPS * largest
        noise += self.error * np.linalg.norm(w)
        if np.abs(slopes[flat]).max(initial=0.0) > noise:
            return None
        w = self._shortest(vectors[:, ~flat] @ w, vectors[:, flat])
        with np.errstate(over="ignore"):
            w = np.ldexp(w, exponent)
        return w if np.isfinite(w).all() else None

    def _shortest(self, w: FloatArray, flat: FloatArray) -> FloatArray:
        """w in the units of P, without what lies along flat directions."""
        w, flat = w / self.scale, flat / self.scale[:, None]
        if flat.size:
            w = w - flat @ np.linalg.lstsq(flat, w, rcond=None)[0]
        return w
