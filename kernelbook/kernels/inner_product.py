"""Kernels of the inner product xᵀx'."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook.kernels.base import Derivatives, non_negative, setting
from kernelbook.kernels.rules import Kernel


class InnerProduct(Kernel):
    """A kernel that needs of two inputs no more than their inner product.

    The inputs may be sparse.
    """

    def check(self, X: Any, name: str) -> Any:
        """A finite matrix, dense or sparse."""
        return _checks.matrix_or_sparse(X, name)


class Linear(InnerProduct):
    """Linear kernel (rule 1), k(x, x') = xᵀx'.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def evaluate(self, X: Any, Z: Any) -> FloatArray:
        """K = XZᵀ."""
        return products(X, Z)

    def evaluate_diagonal(self, X: Any) -> FloatArray:
        """‖x_n‖²."""
        return squares(X)


class QuadraticForm(Kernel):
    """Quadratic form (rule 8), k(x, x') = xᵀAx' with A = Aᵀ ⪰ 0.

    With A = RRᵀ it is the linear kernel of the vectors Rᵀx.

    Raises
    ------
    ValueError
        If A is not square and symmetric, or has a negative eigenvalue.

    Examples
    --------
    >>> k = QuadraticForm([[2.0, 0.0], [0.0, 3.0]])
    >>> k([[1.0, 1.0]], [[1.0, 10.0]]).round(9)
    array([[32.]])
    """

    A: Any = setting(lambda A, name: semi_definite(A, "A of rule 8"))

    @cached_property
    def R(self) -> FloatArray:
        """The root of A, with A = RRᵀ, made once from its eigenvectors."""
        mu, V = np.linalg.eigh(np.array(self.A))
        R: FloatArray = V * np.sqrt(np.maximum(mu, 0.0))
        return R

    def check(self, X: Any, name: str) -> Any:
        """A matrix with one column for each row of A."""
        return _checks.columns(X, name, len(self.A))

    def prepare(self, X: FloatArray) -> FloatArray:
        """XR, whose rows are the vectors Rᵀx."""
        return X @ self.R

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Their inner products, (XR)(ZR)ᵀ = XAZᵀ."""
        return X @ Z.T

    def evaluate_diagonal(self, X: FloatArray) -> FloatArray:
        """‖Rᵀx_n‖²."""
        return squares(X)


def quadratic_form(A: ArrayLike) -> QuadraticForm:
    """Rule 8: k(x, x') = xᵀAx' with A = Aᵀ ⪰ 0.

    Examples
    --------
    >>> quadratic_form([[2.0]])
    QuadraticForm(A=((2.0,),))
    """
    return QuadraticForm(A)


class Constant(InnerProduct):
    """Constant kernel, k(x, x') = c with c >= 0: the one feature √c.

    Examples
    --------
    >>> Constant(2.0)([[1.0]], [[3.0], [4.0]])
    array([[2., 2.]])
    """

    c: float = non_negative()

    def evaluate(self, X: Any, Z: Any) -> FloatArray:
        """c, everywhere."""
        return np.full((X.shape[0], Z.shape[0]), self.c)

    def evaluate_diagonal(self, X: Any) -> FloatArray:
        """c, everywhere."""
        return np.full(X.shape[0], self.c)

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """By c: c itself, everywhere."""
        K = self.evaluate(X, Z)
        return K, {"c": K}


class Polynomial(InnerProduct):
    """Polynomial kernel, k(x, x') = (xᵀx' + c)^degree, with c >= 0.

    Examples
    --------
    >>> Polynomial(degree=2, c=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int = setting(_checks.count)
    c: float = non_negative(0.0)

    def evaluate(self, X: Any, Z: Any) -> FloatArray:
        """k = (xᵀx' + c)^degree, for all pairs."""
        S = products(X, Z)
        S += self.c
        return _to_the_power(S, self.degree)

    def evaluate_diagonal(self, X: Any) -> FloatArray:
        """‖x_n‖² + c, to the power of the degree."""
        return _to_the_power(squares(X) + self.c, self.degree)

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """By c: ∂k = c degree (xᵀx' + c)^(degree - 1)."""
        S = products(X, Z) + self.c
        by_c = self.c * self.degree * S ** (self.degree - 1)
        return S**self.degree, {"c": by_c}


def products(X: Any, Z: Any) -> FloatArray:
    """All inner products XZᵀ, dense also if the inputs are sparse."""
    S = X @ Z.T
    return S.toarray() if issparse(S) else S  # type: ignore[no-any-return]


def squares(X: Any) -> FloatArray:
    """‖x_n‖² of every row."""
    if issparse(X):
        total: FloatArray = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        return total
    total = np.einsum("nd,nd->n", X, X)
    return total


def semi_definite(A: ArrayLike, name: str) -> tuple[tuple[float, ...], ...]:
    """A symmetric matrix without negative eigenvalues, as rows of numbers."""
    A = _checks.matrix(A, name)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"{name} must be square, got shape {A.shape}")
    A = _checks.gram(A, name)
    lowest = np.linalg.eigvalsh(A)[0]
    if lowest < -_checks.SYMMETRY_TOLERANCE * np.abs(A).max():
        raise ValueError(
            f"{name} must be positive semi-definite, "
            f"got smallest eigenvalue {lowest:.3g}"
        )
    return tuple(tuple(row) for row in A.tolist())


def _to_the_power(S: FloatArray, power: int) -> FloatArray:
    """S^power entry by entry, by repeated squaring; S is overwritten."""
    odd = None
    while power > 1:
        if power % 2:
            odd = S.copy() if odd is None else np.multiply(odd, S, out=odd)
        S *= S
        power //= 2
    if odd is not None:
        S *= odd
    return S
