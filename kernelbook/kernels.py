"""Kernels, as callables: ``k(X, Z)`` is the (N, N*) array of all k(x_n, z_m).

``k(X)`` is the Gram matrix ``k(X, X)``, exactly symmetric.  Because a kernel
is a plain callable, it also runs inside other libraries' estimators, such as
``SVC(kernel=k)``.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from kernelbook import _checks
from kernelbook._checks import FloatArray


class Kernel(ABC):
    """A symmetric function k(x, x') with positive semi-definite Grams."""

    def __call__(self, X: ArrayLike, Z: ArrayLike | None = None) -> FloatArray:
        """All kernel values between the rows of X and the rows of Z.

        Parameters
        ----------
        X : (N, D) inputs as rows
        Z : (N*, D) more inputs; X itself if left out

        Returns
        -------
        K : (N, N*) with K[n, m] = k(X[n], Z[m])
        """
        X = _checks.matrix(X, "X")
        Z = X if Z is None else _checks.matrix(Z, "Z")
        _checks.same_columns(X, Z)
        return self._evaluate(X, Z)

    @abstractmethod
    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The kernel values, for inputs that have been checked."""


@dataclass(frozen=True)
class Linear(Kernel):
    """Linear kernel, k(x, x') = xᵀx'.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return X @ Z.T


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel, k(x, x') = (xᵀx' + c)^degree, with c >= 0.

    Examples
    --------
    >>> Polynomial(degree=2, c=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int
    c: float = 0.0

    def __post_init__(self) -> None:
        _checks.count(self.degree, "degree")
        _checks.non_negative(self.c, "c")

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        S = X @ Z.T
        S += self.c
        K: FloatArray = S**self.degree
        return K


@dataclass(frozen=True)
class Gaussian(Kernel):
    """Gaussian kernel, k(x, x') = exp(-gamma ‖x - x'‖²), notes (12).

    ``gamma`` = 1 / (2 σ²) for a kernel of width σ.

    Examples
    --------
    >>> Gaussian(gamma=0.5)([[0.0]], [[0.0], [1.0]]).round(3)
    array([[1.   , 0.607]])
    """

    gamma: float

    def __post_init__(self) -> None:
        _checks.positive(self.gamma, "gamma")

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        # Differences first: ‖x‖² - 2xᵀz + ‖z‖² cancels far from the origin.
        K: FloatArray = cdist(X, Z, "sqeuclidean")
        K *= -self.gamma
        return np.exp(K, out=K)
