"""Linear algebra: one Cholesky factorisation, used for every solve."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigvalsh, solve_triangular

from kernelbook._checks import FloatArray


class JitterWarning(UserWarning):
    """A matrix was positive definite on paper but not in floating point."""


@dataclass(frozen=True)
class Factor:
    """C + jitter I = UᵀU, with U upper triangular."""

    U: FloatArray
    jitter: float

    def solve(self, B: FloatArray) -> FloatArray:
        """C⁻¹B, by two triangular solves."""
        half = solve_triangular(self.U, B, trans="T", check_finite=False)
        solution: FloatArray = solve_triangular(
            self.U, half, check_finite=False, overwrite_b=True
        )
        return solution


def factor(C: FloatArray, name: str) -> Factor:
    """Cholesky of a positive definite C; C is left alone.

    If rounding alone makes C indefinite, a diagonal shift a little above the
    rounding error, 10 N eps mean(diag C), is added and reported by a
    JitterWarning.  A C that is indefinite beyond rounding raises.
    """
    try:
        return Factor(cholesky(C, check_finite=False), jitter=0.0)
    except LinAlgError:
        pass
    N = len(C)
    jitter = float(10 * N * np.finfo(float).eps * np.trace(C) / N)
    try:
        shifted = add_to_diagonal(C, jitter)
        U = cholesky(shifted, overwrite_a=True, check_finite=False)
    except LinAlgError:
        lowest = eigvalsh(C, subset_by_index=[0, 0])[0]
        raise ValueError(
            f"{name} must be positive definite, "
            f"got smallest eigenvalue {lowest:.3g}"
        ) from None
    warnings.warn(
        f"{name} is positive definite only up to rounding: "
        f"added {jitter:.1e} to its diagonal",
        JitterWarning,
        stacklevel=3,
    )
    return Factor(U, jitter)


def add_to_diagonal(K: FloatArray, value: float) -> FloatArray:
    """A new array K + value I."""
    C = K.copy()
    C.flat[:: len(C) + 1] += value
    return C
