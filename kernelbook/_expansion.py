"""A function that is a sum of kernels, with the inputs it is a sum over.

y(x) = Σ_n a_n k(x_n, x) + b.  What `fit(k, X, t, …)` returns, in whatever
module, is one of these: it is asked for new inputs alone, so that there is no
cross-Gram to be turned round.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook._gram import number_of
from kernelbook.kernels import Kernel

BLOCK = 128  # new inputs at a time: memory N × 128, not N × N*


@dataclass(frozen=True, eq=False)
class Expansion:
    """y(x) = Σ_n a_n k(x_n, x) + b."""

    k: Kernel
    """The kernel."""
    X: Any = field(repr=False)
    """The inputs x_n, copied."""
    a: FloatArray = field(repr=False)
    """(N,) coefficients, or (N, Q) for Q outputs."""
    b: float = 0.0
    """Bias."""

    def output(self, Z: Any) -> FloatArray:
        """The real numbers y(z) at new inputs, (N*,) or (N*, Q)."""
        Z = self.k.inputs(self.X, Z)[1]
        starts = range(0, number_of(Z), BLOCK)
        blocks = [self.k(Z[s : s + BLOCK], self.X) @ self.a for s in starts]
        y: FloatArray = np.concatenate(blocks) + self.b
        return y


def own_inputs(k: Kernel, X: Any) -> Any:
    """Inputs that the kernel k takes, in a copy of one's own."""
    if not isinstance(k, Kernel):
        raise ValueError(f"k must be a Kernel, got {type(k).__name__}")
    X = k.check(X, "X")
    return X if isinstance(X, tuple) else X.copy()


def gram(k: Kernel, X: Any) -> FloatArray:
    """The Gram matrix of checked inputs, refused if it is not finite."""
    return _checks.matrix(k(X), f"k(X) of {k}")


def chosen(X: Any, numbers: NDArray[np.intp]) -> Any:
    """Some of the inputs, by their numbers, in a copy."""
    if isinstance(X, tuple):
        return tuple(X[n] for n in numbers)
    return X[numbers]
