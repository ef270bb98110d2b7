"""Kernels that networks with random weights tend to as they get wide.

A hidden unit computes φ(wᵀx + b), with independent weights w_d ~ N(0,
``weight``) and a bias b ~ N(0, ``bias``); see chapter 11.
"""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook.kernels.base import (
    Derivatives,
    non_negative,
    positive,
    setting,
)
from kernelbook.kernels.inner_product import squares
from kernelbook.kernels.rules import Kernel


def _zero_or_one(degree: Any, name: str) -> int:
    number = _checks.count(degree, name, least=0)
    if number > 1:
        raise ValueError(f"{name} must be 0 or 1, got {degree}")
    return number


class ArcCosine(Kernel):
    """Covariance of a wide network of steps (degree 0) or ReLUs (degree 1).

    k₀ = (π - θ) / π,  k₁ = ‖u‖ ‖u'‖ {sin θ + (π - θ) cos θ} / π,

    where θ is the angle between u and u', and u is x, scaled by √weight and
    with √bias appended.  k = 2 E[φ(wᵀx + b) φ(wᵀx' + b)] over weights.

    Parameters
    ----------
    degree : 0 or 1
    weight : variance of the weights, > 0
    bias : variance of the bias, >= 0

    Examples
    --------
    >>> ArcCosine(degree=1)([[1.0, 0.0]], [[2.0, 0.0], [0.0, 1.0]]).round(3)
    array([[2.   , 0.318]])
    """

    degree: int = setting(_zero_or_one, 1)
    weight: float = positive(1.0)
    bias: float = non_negative(0.0)

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The formula of its degree, with the angle between u and u'."""
        r, U = self._length_and_direction(X)
        s, V = (r, U) if Z is X else self._length_and_direction(Z)
        theta = _angles(U, V)
        if self.degree == 0:
            r, s = np.sign(r), np.sign(s)  # ‖u‖⁰, but Θ(0) = 0 for u = 0
            J = np.pi - theta
        else:
            J = np.sin(theta) + (np.pi - theta) * np.cos(theta)
        K: FloatArray = np.outer(r, s) * (J / np.pi)
        return K

    def evaluate_diagonal(self, X: FloatArray) -> FloatArray:
        """‖u‖² at the angle 0, or 1."""
        r, _ = self._length_and_direction(X)
        return (r > 0).astype(float) if self.degree == 0 else r * r

    def _length_and_direction(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        U = with_variances(X, self.weight, self.bias)
        r: FloatArray = np.linalg.norm(U, axis=1)
        return r, U / np.where(r > 0, r, 1.0)[:, None]


class ArcSine(Kernel):
    """Covariance of a wide network of units φ(z) = erf(z).

    k = (2/π) arcsin{2S / √((1 + 2A)(1 + 2B))},  S = weight xᵀx' + bias,

    where A and B are S for the pairs x, x and x', x'.

    Parameters
    ----------
    weight : variance of the weights, > 0
    bias : variance of the bias, >= 0

    Examples
    --------
    >>> ArcSine(weight=10.0)([[1.0]], [[1.0], [-1.0]]).round(3)
    array([[ 0.803, -0.803]])
    """

    weight: float = positive(1.0)
    bias: float = non_negative(0.0)

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The arcsine as an angle: no quotient that rounding lifts above 1."""
        S, rest, _, _ = self._sides(X, Z)
        K: FloatArray = 2 / np.pi * np.arctan2(2 * S, np.sqrt(rest))
        return K

    def evaluate_diagonal(self, X: FloatArray) -> FloatArray:
        """The same with S = A = B."""
        A = self._of_itself(X)
        d: FloatArray = 2 / np.pi * np.arctan2(2 * A, np.sqrt(1 + 4 * A))
        return d

    def differentiate(self, X: FloatArray, Z: FloatArray) -> Derivatives:
        """By p, with S', A', B' the derivatives of S, A, B by ln p:

        ∂k = (4/π) {S' - S A'/(1 + 2A) - S B'/(1 + 2B)}
        / √((1 + 2A)(1 + 2B) - 4S²).
        """
        S, rest, A, B = self._sides(X, Z)
        K = 2 / np.pi * np.arctan2(2 * S, np.sqrt(rest))

        def by(dS: Any, dA: Any, dB: Any) -> FloatArray:
            tilt = np.add.outer(dA / (1 + 2 * A), dB / (1 + 2 * B))
            d: FloatArray = 4 / np.pi * (dS - S * tilt) / np.sqrt(rest)
            return d

        bias = self.bias
        by_weight = by(S - bias, A - bias, B - bias)
        return K, {"weight": by_weight, "bias": by(bias, bias, bias)}

    def _sides(
        self, X: FloatArray, Z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """S, (1 + 2A)(1 + 2B) - 4S², A and B."""
        S = self.weight * (X @ Z.T) + self.bias
        A = self._of_itself(X)
        B = A if Z is X else self._of_itself(Z)
        gap = (np.outer(A, B) - S * S).clip(min=0)
        return S, 1 + 2 * np.add.outer(A, B) + 4 * gap, A, B

    def _of_itself(self, X: FloatArray) -> FloatArray:
        return self.weight * squares(X) + self.bias


def with_variances(X: FloatArray, weight: float, bias: float) -> FloatArray:
    """Rows (√weight x, √bias): standard normal weights make wᵀx + b of it.

    Examples
    --------
    >>> with_variances(np.array([[3.0]]), weight=4.0, bias=9.0)
    array([[6., 3.]])
    """
    last = np.full((len(X), 1), np.sqrt(bias))
    return np.hstack([np.sqrt(weight) * X, last])


def _angles(U: FloatArray, V: FloatArray) -> FloatArray:
    """Angles between unit vectors, also small ones to all their digits.

    arccos(UVᵀ) would lose half of them.
    """
    theta: FloatArray = 2 * np.arctan2(cdist(U, V), cdist(U, -V))
    return theta
