"""Linear algebra: one Cholesky factorisation, used for every solve."""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import LinAlgError, eigh, eigvalsh
from scipy.linalg.lapack import dpotrf, dpotri, dtrtrs

from kernelbook._checks import FloatArray
from kernelbook.exceptions import JitterWarning

BLOCK = 64  # columns cleared at once
UPPER = np.triu(np.ones((BLOCK, BLOCK)))  # what stays of a square of U
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Factor:
    """C + jitter I = UᵀU, with U upper triangular.

    U is the top left corner of ``store``, whose further columns wait for
    :meth:`append`.  Factors that grew from one another share it; ``taken``
    says which of its columns have an owner.
    """

    store: FloatArray
    N: int
    jitter: float
    taken: dict[int, object] = field(default_factory=dict, repr=False)

    @property
    def U(self) -> FloatArray:
        """The factor, (N, N)."""
        return self.store[: self.N, : self.N]

    def whiten(self, B: FloatArray, overwrite: bool = False) -> FloatArray:
        """U⁻ᵀB, one triangular solve; BᵀC⁻¹B is its square."""
        columns = self.store[:, : self.N]
        V: FloatArray = dtrtrs(columns, B, trans=1, overwrite_b=overwrite)[0]
        return V

    def backsolve(self, B: FloatArray) -> FloatArray:
        """U⁻¹B, the other triangular solve."""
        X: FloatArray = dtrtrs(self.store[:, : self.N], B)[0]
        return X

    def solve(self, B: FloatArray) -> FloatArray:
        """C⁻¹B = U⁻¹(U⁻ᵀB)."""
        return self.backsolve(self.whiten(B))

    def into_inverse(self) -> FloatArray:
        """C⁻¹ below the diagonal, in the memory of U: the factor is gone."""
        # LAPACK fills the upper triangle by columns: the lower one by rows.
        C_inverse: FloatArray = dpotri(self.U, overwrite_c=1)[0].T
        return C_inverse

    def log_determinant(self) -> float:
        """ln|C| = 2 Σ_n ln U_nn; the determinant itself would underflow."""
        return float(2 * np.log(self.U.diagonal()).sum())

    def append(self, c: FloatArray, corner: float) -> "Factor":
        """Factor of C with one more column (c, corner), in N² operations.

        Raises LinAlgError if rounding leaves nothing of the new pivot.
        """
        u = self.whiten(c)
        pivot = corner + self.jitter - u @ u
        if pivot <= 0:
            raise LinAlgError(f"pivot {self.N + 1} is {pivot:.2g}")
        grown = self._with_room()
        grown.store[: self.N, self.N] = u
        grown.store[self.N, self.N] = np.sqrt(pivot)
        return replace(grown, N=self.N + 1)

    def _with_room(self) -> "Factor":
        """A factor whose column N is its own: this one, or a larger copy."""
        N, ticket = self.N, object()
        # Of two threads that ask for a column at once, setdefault serves one.
        if len(self.store) > N and self.taken.setdefault(N, ticket) is ticket:
            return self
        larger = np.zeros((N + N // 8 + 16,) * 2, order="F")
        larger[:N, :N] = self.U
        return Factor(larger, N, self.jitter, {N: ticket})


def factor(
    C: FloatArray,
    name: str,
    overwrite: bool = False,
    eps: float = EPS,
    report: bool = True,
) -> Factor:
    """Cholesky of a symmetric positive definite C.

    C is left alone, unless ``overwrite`` hands its memory over to U.

    If rounding alone makes C indefinite, a diagonal shift a little above the
    rounding error, 10 N eps mean(diag C), is added and reported by a
    JitterWarning.  A C that is indefinite beyond rounding raises.  ``eps`` is
    the precision to which the entries of C are known; with ``report`` off the
    jitter stands in the factor only.
    """
    # LAPACK wants columns; the rows of a symmetric C are its columns.
    A = (C if overwrite else C.copy()).T
    diagonal = A.diagonal().copy()
    U, failed = dpotrf(A, clean=0, overwrite_a=True)
    if not failed:
        return Factor(_upper(U), len(U), jitter=0.0)
    pivot = U[failed - 1, failed - 1]
    jitter = float(10 * eps * np.abs(diagonal).sum())
    _restore(U, diagonal + jitter)
    U, failed_again = dpotrf(U, clean=0, overwrite_a=True)
    if failed_again:
        _restore(U, diagonal)
        lowest = eigvalsh(U, subset_by_index=[0, 0])[0]
        raise ValueError(
            f"{name} must be positive definite, got smallest eigenvalue "
            f"{lowest:.3g} (pivot {failed} of {len(U)} is {pivot:.2g}); it "
            f"would take {-lowest:.2g} on the diagonal, and rounding "
            f"explains {jitter:.1e}"
        )
    if report:
        warnings.warn(
            f"{name} is positive definite only up to rounding: "
            f"added {jitter:.1e} to its diagonal",
            JitterWarning,
            stacklevel=3,
        )
    return Factor(_upper(U), len(U), jitter)


def symmetric_root(C: FloatArray) -> FloatArray:
    """The positive semi-definite S with S S = C, for C of any rank.

    Eigenvalues that rounding has made negative count as zero.
    """
    values, vectors = eigh(C)
    root: FloatArray = vectors * np.sqrt(values.clip(min=0)) @ vectors.T
    return root


def add_to_diagonal(
    K: FloatArray, value: float, overwrite: bool = False
) -> FloatArray:
    """K + value I, in a new array unless K may be overwritten."""
    C = K if overwrite else K.copy()
    C.flat[:: len(C) + 1] += value
    return C


def _upper(U: FloatArray) -> FloatArray:
    """U with zeros below its diagonal, in place."""
    for n in range(0, len(U), BLOCK):
        square = U[n : n + BLOCK, n : n + BLOCK]
        square *= UPPER[: len(square), : len(square)]
        U[n + BLOCK :, n : n + BLOCK] = 0.0
    return U


def _restore(U: FloatArray, diagonal: FloatArray) -> None:
    """Undo a factorisation: LAPACK leaves the lower triangle alone."""
    for n in range(len(U)):
        U[n, n + 1 :] = U[n + 1 :, n]
        U[n, n] = diagonal[n]
