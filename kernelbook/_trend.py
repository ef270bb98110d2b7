"""A linear trend under a Gaussian process, with its weights integrated out.

The model is t = Hw + f + noise, row n of H being the features φ(x_n)ᵀ of the
trend, with a flat prior on the weights w.  With C = K + β⁻¹I = UᵀU it is
Rasmussen & Williams' section 2.7 in the limit of a vague prior:

    V = U⁻ᵀH,  A = HᵀC⁻¹H = VᵀV = RᵀR            two Cholesky factors
    w = A⁻¹HᵀC⁻¹t                                 generalised least squares
    P = C⁻¹ - GGᵀ,  G = C⁻¹HR⁻¹ = U⁻¹VR⁻¹         in the place of C⁻¹
    a = Pt = C⁻¹(t - Hw)

so that every formula of chapter 9 holds with P for C⁻¹, the mean gains φ(x)ᵀw
and the variance gains rᵀA⁻¹r with r = φ(x) - HᵀC⁻¹k(x): what is not known of
the weights.
"""

from dataclasses import dataclass, field

import numpy as np

from kernelbook import _linalg
from kernelbook._checks import FloatArray


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of a trend, and what it takes to be unsure of them."""

    w: FloatArray
    """(M,) weights, or (M, Q) for Q outputs."""
    V: FloatArray = field(repr=False)
    """(N, M) features of the training inputs, whitened."""
    factor: _linalg.Factor = field(repr=False)
    """Of A = VᵀV."""

    @classmethod
    def estimate(
        cls, C: _linalg.Factor, H: FloatArray, t: FloatArray
    ) -> "Weights":
        """Generalised least squares, from the factor of C."""
        V = C.whiten(H)
        A = V.T @ V
        rank = int(np.linalg.matrix_rank(H))
        if rank < H.shape[1]:
            raise ValueError(
                "the features of the trend must be linearly independent on "
                f"X, got rank {rank} of {H.shape[1]}"
            )
        factor = _linalg.factor(A, "HᵀC⁻¹H of the trend", overwrite=True)
        return cls(factor.solve(V.T @ C.whiten(t)), V, factor)

    def spread(self, H: FloatArray, v: FloatArray) -> FloatArray:
        """R⁻ᵀr for the new inputs with features H (N*, M) and v = U⁻ᵀk."""
        return self.factor.whiten(H.T - self.V.T @ v)

    def correction(self, C: _linalg.Factor) -> FloatArray:
        """G with P = C⁻¹ - GGᵀ, (N, M)."""
        return C.backsolve(self.factor.whiten(self.V.T).T)
