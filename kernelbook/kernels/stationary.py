"""Kernels of the difference x - x' only.

Numbers beyond what floats hold are met on the way, not at the end: far away
every derivative is 0 like its kernel, and a scale that would be infinite is
the largest float, so that 0 times it is 0.
"""

import sys

import numpy as np
from scipy.spatial.distance import cdist

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook._gram import SquaredDistances, Tile, squared_distances
from kernelbook.kernels.base import (
    Derivatives,
    each_non_negative,
    hyperparameter,
    positive,
    setting,
)
from kernelbook.kernels.rules import Kernel

FAR = 750.0  # exp(-FAR) is 0 in floats, and FAR squared is harmless


class Stationary(Kernel):
    """A kernel of the difference x - x' only, with k(x, x) = 1."""

    def evaluate_diagonal(self, X: FloatArray) -> FloatArray:
        """1, everywhere."""
        return np.ones(len(X))


class Gaussian(Stationary):
    """Gaussian kernel, k(x, x') = exp(-gamma ‖x - x'‖²), notes (12).

    For a kernel of width σ, gamma = 1 / (2 σ²).

    Examples
    --------
    >>> Gaussian(gamma=0.5)([[0.0]], [[0.0], [1.0]]).round(3)
    array([[1.   , 0.607]])
    """

    gamma: float = positive()

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """exp(-gamma r²)."""
        K = squared_distances(X, Z, -self.gamma)
        return np.exp(K, out=K)

    def differentiate(self, X: FloatArray, Z: FloatArray) -> Derivatives:
        """By gamma: ∂k = -gamma r² k = k ln k."""
        log_K = squared_distances(X, Z, -self.gamma)
        np.maximum(log_K, -FAR, out=log_K)
        K = np.exp(log_K)
        log_K *= K
        return K, {"gamma": log_K}

    def tiles(self, X: FloatArray, Z: FloatArray) -> Tile:
        """The same, with the squared lengths of the inputs made once."""
        exponent = SquaredDistances(X, Z, -self.gamma)

        def tile(rows: slice, columns: slice) -> FloatArray:
            K = exponent(rows, columns)
            return np.exp(K, out=K)

        return tile


class ARDGaussian(Stationary):
    """Gaussian kernel with a width of its own for every input dimension.

    k(x, x') = exp{-Σ_d gamma_d (x_d - x'_d)²}; gamma_d = 0 ignores input d.

    Parameters
    ----------
    gamma : (γ₁, ..., γ_D), all >= 0

    Examples
    --------
    >>> k = ARDGaussian(gamma=(0.5, 0.0))
    >>> k([[0.0, 0.0]], [[1.0, 0.0], [0.0, 9.0]]).round(3)
    array([[0.607, 1.   ]])
    """

    gamma: tuple[float, ...] = hyperparameter(each_non_negative)

    def check(self, X: FloatArray, name: str) -> FloatArray:
        """A matrix with one column for each gamma."""
        return _checks.columns(X, name, len(self.gamma))

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """exp(-r²) of inputs scaled by the roots of the gammas."""
        root = np.sqrt(self.gamma)
        K = squared_distances(X * root, Z * root, -1.0)
        return np.exp(K, out=K)

    def differentiate(self, X: FloatArray, Z: FloatArray) -> Derivatives:
        """By gamma_d: ∂k = -gamma_d (x_d - x'_d)² k."""
        K = self.evaluate(X, Z)
        dK = {}
        for d, gamma in enumerate(self.gamma):
            squares = np.subtract.outer(X[:, d], Z[:, d]) ** 2
            dK[f"gamma[{d}]"] = -np.minimum(gamma * squares, FAR) * K
        return K, dK


def _half_integer(nu: float, name: str) -> float:
    number = _checks.real(nu, name)
    if number not in (0.5, 1.5, 2.5):
        raise ValueError(f"{name} must be 0.5, 1.5 or 2.5, got {nu}")
    return number


class Matern(Stationary):
    """Matérn kernel for nu = 1/2, 3/2 or 5/2, with s = √(2 nu) r / length.

    In turn k = e⁻ˢ,  k = (1 + s) e⁻ˢ  or  k = (1 + s + s²/3) e⁻ˢ, where
    r = ‖x - x'‖ is the Euclidean distance: with the sum of absolute
    differences in its place, 3/2 and 5/2 are no kernels in two dimensions.

    Examples
    --------
    >>> Matern(nu=0.5, length=2.0)([[0.0]], [[0.0], [2.0]]).round(3)
    array([[1.   , 0.368]])
    """

    nu: float = setting(_half_integer)
    length: float = positive(1.0)

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The polynomial in s, times e⁻ˢ."""
        S = self._scaled_distances(X, Z)
        K = np.negative(S)
        np.exp(K, out=K)
        if self.nu == 1.5:
            S += 1.0
            K *= S
        elif self.nu == 2.5:
            P = S / 3
            P += 1.0
            P *= S
            P += 1.0
            K *= P
        return K

    def differentiate(self, X: FloatArray, Z: FloatArray) -> Derivatives:
        """By length: ∂k = s e⁻ˢ, ∂k = s² e⁻ˢ or ∂k = s² (1 + s) e⁻ˢ / 3."""
        s = self._scaled_distances(X, Z)
        factor = {0.5: s, 1.5: s**2, 2.5: s**2 * (1 + s) / 3}[self.nu]
        return self.evaluate(X, Z), {"length": factor * np.exp(-s)}

    def _scaled_distances(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """s, or FAR where it is larger."""
        S: FloatArray = cdist(X, Z, "euclidean")
        S *= _finite(np.sqrt(2 * self.nu) / self.length)
        return np.minimum(S, FAR, out=S)


class RationalQuadratic(Stationary):
    """Rational quadratic, k(x, x') = {1 + ‖x - x'‖²/(2 alpha length²)}^-alpha.

    A mixture of Gaussian kernels of all widths; alpha → ∞ gives back one
    Gaussian kernel of width ``length``.

    Examples
    --------
    >>> RationalQuadratic(alpha=1.0, length=1.0)([[0.0]], [[0.0], [2.0]])
    array([[1.        , 0.33333333]])
    """

    alpha: float = positive()
    length: float = positive(1.0)

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """k = (1 + u)^-alpha, with u = r² / (2 alpha length²)."""
        K = self._u(X, Z)
        np.log1p(K, out=K)
        K *= -self.alpha
        return np.exp(K, out=K)

    def differentiate(self, X: FloatArray, Z: FloatArray) -> Derivatives:
        """By alpha: ∂k = alpha {u/(1 + u) - ln(1 + u)} k.

        By length: ∂k = 2 alpha u/(1 + u) k.
        """
        u = np.minimum(self._u(X, Z), sys.float_info.max)
        log, part = np.log1p(u), u / (1 + u)
        K = np.exp(-self.alpha * log)
        by_alpha = self.alpha * (part - log) * K
        return K, {"alpha": by_alpha, "length": 2 * self.alpha * part * K}

    def _u(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        scale = 1 / (2 * self.alpha) / self.length / self.length
        return squared_distances(X, Z, _finite(scale))


class Periodic(Stationary):
    """Periodic kernel.

    k(x, x') = exp(-2 Σ_d sin²(π (x_d - x'_d)/period) / length²).

    The sum over coordinates matters: with the Euclidean distance inside the
    sine it is a kernel for D = 1 only.

    Examples
    --------
    >>> Periodic(period=1.0)([[0.0]], [[0.5], [3.0]]).round(3)
    array([[0.135, 1.   ]])
    """

    period: float = positive()
    length: float = positive(1.0)

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """exp of the sum over the coordinates."""
        K = np.zeros((len(X), len(Z)))
        for x, z in zip(X.T, Z.T, strict=True):
            S = np.subtract.outer(x, z)
            S *= _finite(np.pi / self.period)
            np.sin(S, out=S)
            S *= S
            K += S
        K *= _finite(2 / self.length / self.length)
        np.negative(K, out=K)
        return np.exp(K, out=K)

    def differentiate(self, X: FloatArray, Z: FloatArray) -> Derivatives:
        """With s_d = 2π(x_d - x'_d)/period, ln k = Σ_d (cos s_d - 1)/length²:

        by period: ∂k = Σ_d s_d sin(s_d) k / length²;
        by length: ∂k = -2 k ln k.
        """
        log_K, turn = np.zeros((2, len(X), len(Z)))
        scale = _finite(1 / self.length / self.length)
        for x, z in zip(X.T, Z.T, strict=True):
            s = _finite(2 * np.pi / self.period) * np.subtract.outer(x, z)
            log_K += (np.cos(s) - 1) * scale
            turn += s * np.sin(s) * scale
        np.maximum(log_K, -FAR, out=log_K)
        K = np.exp(log_K)
        return K, {"period": turn * K, "length": -2 * K * log_K}


def _finite(scale: float) -> float:
    """A scale, or the largest float: 0 times it must be 0."""
    return float(min(scale, sys.float_info.max))
