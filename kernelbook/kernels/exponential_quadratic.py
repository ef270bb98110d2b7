"""The kernel of the notes' equation (24), with its four hyperparameters."""

from functools import cached_property
from typing import Any

import numpy as np

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook.kernels.base import Derivatives, hyperparameter
from kernelbook.kernels.inner_product import squares
from kernelbook.kernels.rules import Kernel
from kernelbook.kernels.stationary import Gaussian


def _four_thetas(theta: Any, name: str) -> tuple[float, ...]:
    numbers = _checks.vector(theta, name, 4)
    for i, value in enumerate(numbers):
        check = _checks.positive if i == 1 else _checks.non_negative
        check(float(value), f"{name}[{i}]")
    return tuple(numbers.tolist())


class ExponentialQuadratic(Kernel):
    """Exponential of a quadratic, plus constant, plus linear term (24).

    k(x, x') = θ₀ exp{-½ θ₁ ‖x - x'‖²} + θ₂ + θ₃ xᵀx'.

    Parameters
    ----------
    theta : (θ₀, θ₁, θ₂, θ₃), with θ₁ > 0 and the others >= 0

    Examples
    --------
    >>> k = ExponentialQuadratic(theta=(1.0, 4.0, 0.0, 5.0))
    >>> k([[1.0]], [[1.0], [2.0]]).round(3)
    array([[ 6.   , 10.135]])
    """

    theta: tuple[float, float, float, float] = hyperparameter(_four_thetas)

    @cached_property
    def bump(self) -> Gaussian:
        """The first term without its height."""
        return Gaussian(self.theta[1] / 2)

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The three terms of (24), added up."""
        K = self.theta[0] * self.bump.evaluate(X, Z)
        K += self.theta[2]
        if self.theta[3] > 0:
            K += self.theta[3] * (X @ Z.T)
        return K

    def evaluate_diagonal(self, X: FloatArray) -> FloatArray:
        """θ₀ + θ₂ + θ₃ ‖x_n‖²."""
        variances = np.full(len(X), self.theta[0] + self.theta[2])
        if self.theta[3] > 0:
            variances += self.theta[3] * squares(X)
        return variances

    def differentiate(self, X: FloatArray, Z: FloatArray) -> Derivatives:
        """By θ₀, θ₂, θ₃ the terms of (24); by θ₁ the first times -½θ₁ r²."""
        E, dE = self.bump.differentiate(X, Z)
        E *= self.theta[0]
        by_theta1 = dE["gamma"]
        by_theta1 *= self.theta[0]
        constant = np.full_like(E, self.theta[2])
        line = (self.theta[3] * X) @ Z.T
        terms = [E, by_theta1, constant, line]
        K = E + line
        K += constant
        return K, {f"theta[{i}]": term for i, term in enumerate(terms)}
