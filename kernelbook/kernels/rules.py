"""New kernels from old: the rules of chapter 6, each a kernel itself.

Whatever they make is a kernel again, whatever it is made of.  The operators
and methods of :class:`Kernel` are their short names.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import fields
from numbers import Real
from typing import Any, ClassVar, NoReturn

import numpy as np

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook._gram import Prepared, Tile, cut, number_of
from kernelbook.kernels.base import (
    Derivatives,
    KernelFunction,
    each_non_negative,
    hyperparameter,
    non_negative,
    setting,
)

SUM, PRODUCT, ATOM = 1, 2, 3  # how tightly the outermost operation binds
ROW_BY_ROW = 1e-6  # what the company of other rows may change in f(x)


class Kernel(KernelFunction):
    """A symmetric function k(x, x') with positive semi-definite Grams.

    ``k(X, Z)`` holds all values between the rows of X and those of Z, and
    rules make new kernels of it.
    """

    binding: ClassVar[int] = ATOM
    __array_ufunc__ = None  # np.float64(2) * k is k's business, not NumPy's

    def polynomial(self, coefficients: Any) -> "PolynomialOf":
        """Rule 5: Σ_j c_j k(x, x')ʲ, with all c_j >= 0.

        Examples
        --------
        >>> from kernelbook.kernels import Linear
        >>> Linear().polynomial([1.0, 0.0, 2.0])
        Linear().polynomial([1.0, 0.0, 2.0])
        """
        return PolynomialOf(self, coefficients)

    def conjugate(self, f: Callable[[Any], Any]) -> "Conjugate":
        """Rule 6: f(x) k(x, x') f(x'), for any real function f.

        ``f`` gets all inputs at once, (N, D), and returns (N,) numbers, each
        made from its own row: one that looks at other rows is refused.

        Examples
        --------
        >>> from kernelbook.kernels import Constant
        >>> def first(X):
        ...     return X[:, 0]
        >>> Constant(1.0).conjugate(first)
        Constant(c=1.0).conjugate(first)
        """
        return Conjugate(self, f)

    def on(self, columns: Any) -> "On":
        """The same kernel on some columns of the inputs only.

        ``Gaussian(1.0).on(0) * Gaussian(9.0).on([1, 2])`` has a width for
        the first column and one for the next two.

        Examples
        --------
        >>> from kernelbook.kernels import Linear
        >>> Linear().on(1)([[5.0, 2.0]], [[7.0, 3.0]])
        array([[6.]])
        """
        return On(self, columns)

    def __add__(self, other: Any) -> "Sum":
        if isinstance(other, Kernel):
            return Sum(self, other)
        if isinstance(other, Real):
            raise TypeError(
                "rule 3 adds kernels, and a number is none: "
                f"write Constant({other}) for the constant kernel"
            )
        return NotImplemented

    def __radd__(self, other: Any) -> Any:
        # sum([k1, k2]) starts with the number 0, the empty sum.
        if isinstance(other, int) and other == 0:
            return self
        return self + other

    def __mul__(self, other: Any) -> "Product | Scaled":
        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, Real):
            return Scaled(float(other), self)
        return NotImplemented

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> NoReturn:
        raise TypeError(
            "a difference of kernels need not be a kernel: rule 3 only adds"
        )

    __rsub__ = __sub__

    def __neg__(self) -> NoReturn:
        raise TypeError(
            "-k is not a kernel unless k = 0: rule 2 scales by c >= 0"
        )

    def __truediv__(self, other: Any) -> NoReturn:
        raise TypeError(
            "no rule divides; to scale, write (1 / c) * k (rule 2)"
        )

    __rtruediv__ = __truediv__

    def __pow__(self, power: Any) -> NoReturn:
        raise TypeError(
            "rule 5 takes whole powers only: write k.polynomial([0, 0, 1])"
        )


class Composite(Kernel):
    """A kernel made of others, entry by entry.

    A rule says how the values of its parts combine, and how their
    derivatives do; every part checks and prepares the inputs.
    """

    @abstractmethod
    def combine(self, *Ks: FloatArray) -> FloatArray:
        """The value from those of the parts, which may be overwritten."""

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels it is made of."""
        values = (getattr(self, f.name) for f in fields(self))
        return tuple(v for v in values if isinstance(v, Kernel))

    def check(self, X: Any, name: str) -> Any:
        """Inputs that every part takes."""
        for part in self.parts:
            X = part.check(X, name)
        return X

    def prepare(self, X: Any) -> Any:
        """What each part prepares."""
        return Prepared(part.prepare(X) for part in self.parts)

    def evaluate(self, X: Any, Z: Any) -> FloatArray:
        """The values of the parts, combined."""
        pairs = zip(self.parts, X, Z, strict=True)
        return self.combine(*(part.evaluate(x, z) for part, x, z in pairs))

    def evaluate_diagonal(self, X: Any) -> FloatArray:
        """The same on the diagonal."""
        pairs = zip(self.parts, X, strict=True)
        return self.combine(*(part.evaluate_diagonal(x) for part, x in pairs))

    def tiles(self, X: Any, Z: Any) -> Tile:
        """The same tile by tile."""
        pairs = zip(self.parts, X, Z, strict=True)
        tiles = [part.tiles(x, z) for part, x, z in pairs]
        return lambda rows, columns: self.combine(
            *(tile(rows, columns) for tile in tiles)
        )


class Scaled(Composite):
    """Rule 2: k(x, x') = c k₁(x, x') with c >= 0, written ``c * k1``.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> 3.0 * Linear()
    3.0 * Linear()
    """

    binding = PRODUCT
    c: float = non_negative(called="the scale c of rule 2")
    k1: Kernel

    def __repr__(self) -> str:
        return f"{self.c!r} * {_shown(self.k1, ATOM)}"

    def combine(self, *Ks: FloatArray) -> FloatArray:
        """K = c K₁."""
        (K,) = Ks
        K *= self.c
        return K

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """By c: ∂k = k = c k₁ itself; by p in k₁: ∂k = c ∂k₁."""
        K1, dK1 = self.k1.differentiate(X[0], Z[0])
        K = self.c * K1
        return K, {"c": K} | _inside("k1", dK1, np.array(self.c))


class Sum(Composite):
    """Rule 3: k(x, x') = k₁(x, x') + k₂(x, x'), written ``k1 + k2``.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian, Linear
    >>> Gaussian(gamma=0.5) + 2.0 * Linear()
    Gaussian(gamma=0.5) + 2.0 * Linear()
    """

    binding = SUM
    k1: Kernel
    k2: Kernel

    def __repr__(self) -> str:
        return f"{_shown(self.k1, SUM)} + {_shown(self.k2, PRODUCT)}"

    def combine(self, *Ks: FloatArray) -> FloatArray:
        """K = K₁ + K₂."""
        K1, K2 = Ks
        K1 += K2
        return K1

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """The sum rule: ∂k = ∂k₁ or ∂k = ∂k₂, wherever p is."""
        K1, dK1 = self.k1.differentiate(X[0], Z[0])
        K2, dK2 = self.k2.differentiate(X[1], Z[1])
        return K1 + K2, _inside("k1", dK1) | _inside("k2", dK2)

    def terms(self) -> tuple[Kernel, ...]:
        """What is added, however the sum was bracketed."""
        return sum((terms(part) for part in self.parts), ())


class Product(Composite):
    """Rule 4: k(x, x') = k₁(x, x') k₂(x, x'), written ``k1 * k2``.

    Examples
    --------
    >>> from kernelbook.kernels import Constant, Gaussian, Linear
    >>> (Linear() + Constant(1.0)) * Gaussian(gamma=0.5)
    (Linear() + Constant(c=1.0)) * Gaussian(gamma=0.5)
    """

    binding = PRODUCT
    k1: Kernel
    k2: Kernel

    def __repr__(self) -> str:
        return f"{_shown(self.k1, PRODUCT)} * {_shown(self.k2, ATOM)}"

    def combine(self, *Ks: FloatArray) -> FloatArray:
        """k = k₁ k₂, entry by entry."""
        K1, K2 = Ks
        K1 *= K2
        return K1

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """The product rule: ∂k = ∂k₁ k₂ or ∂k = k₁ ∂k₂, wherever p is."""
        K1, dK1 = self.k1.differentiate(X[0], Z[0])
        K2, dK2 = self.k2.differentiate(X[1], Z[1])
        return K1 * K2, _inside("k1", dK1, K2) | _inside("k2", dK2, K1)


class PolynomialOf(Composite):
    """Rule 5: k(x, x') = Σ_j c_j k₁(x, x')ʲ, with all c_j >= 0.

    Written ``k1.polynomial([c0, c1, c2])``.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> k = Linear().polynomial([1.0, 0.0, 2.0])
    >>> k([[1.0]], [[3.0]])
    array([[19.]])
    """

    k1: Kernel
    coefficients: tuple[float, ...] = hyperparameter(
        each_non_negative, called="the coefficients of rule 5"
    )

    def __repr__(self) -> str:
        coefficients = list(self.coefficients)
        return f"{_shown(self.k1, ATOM)}.polynomial({coefficients})"

    def combine(self, *Ks: FloatArray) -> FloatArray:
        """Σ_j c_j K₁ʲ, entry by entry, Horner's way."""
        (K1,) = Ks
        *lower, highest = self.coefficients
        K = np.full_like(K1, highest)
        for c in reversed(lower):
            K *= K1
            K += c
        return K

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """By c_j: ∂k = c_j k₁ʲ; by p in k₁: ∂k = Σ_j j c_j k₁^(j-1) ∂k₁."""
        K1, dK1 = self.k1.differentiate(X[0], Z[0])
        terms = [c * K1**j for j, c in enumerate(self.coefficients)]
        slope = np.zeros_like(K1)
        for j, c in enumerate(self.coefficients[1:], start=1):
            slope += j * c * K1 ** (j - 1)
        by_c = {f"coefficients[{j}]": term for j, term in enumerate(terms)}
        K: FloatArray = np.sum(terms, axis=0)
        return K, by_c | _inside("k1", dK1, slope)


def _a_function(f: Any, name: str) -> Callable[[Any], Any]:
    if not callable(f):
        raise ValueError(f"{name} must be a function, got {f!r}")
    return f  # type: ignore[no-any-return]


class Conjugate(Composite):
    """Rule 6: k(x, x') = f(x) k₁(x, x') f(x'), for any real function f.

    Written ``k1.conjugate(f)``; f maps (N, D) inputs to (N,) numbers.

    Examples
    --------
    >>> from kernelbook.kernels import Constant
    >>> def first(X):
    ...     return X[:, 0]
    >>> Constant(1.0).conjugate(first)([[2.0, 5.0]], [[3.0, 7.0]])
    array([[6.]])
    """

    k1: Kernel
    f: Callable[[Any], Any] = setting(_a_function, called="f of rule 6")

    def __repr__(self) -> str:
        name = getattr(self.f, "__name__", repr(self.f))
        return f"{_shown(self.k1, ATOM)}.conjugate({name})"

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """k₁ and the kernel f(x) f(x')."""
        return self.k1, _OneFeature(self.f)

    def combine(self, *Ks: FloatArray) -> FloatArray:
        """k = f(x) k₁ f(x'), entry by entry."""
        K1, ff = Ks
        K1 *= ff
        return K1

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """The factors stay outside: ∂k = f(x) ∂k₁ f(x')."""
        K1, dK1 = self.k1.differentiate(X[0], Z[0])
        ff = np.outer(X[1], Z[1])
        return K1 * ff, _inside("k1", dK1, ff)


class _OneFeature(Kernel):
    """k(x, x') = f(x) f(x'), the factor of rule 6."""

    f: Callable[[Any], Any] = setting(_a_function)

    def check(self, X: Any, name: str) -> Any:
        """Whatever f takes."""
        return X

    def prepare(self, X: Any) -> FloatArray:
        """f of all inputs at once, and of the last one alone to compare."""
        N, name = number_of(X), "f(X) of rule 6"
        values = _checks.vector(self.f(X), name, N)
        (alone,) = _checks.vector(self.f(cut(X, slice(N - 1, N))), name, 1)
        if abs(alone - values[-1]) > ROW_BY_ROW * np.abs(values).max():
            raise ValueError(
                "f of rule 6 must act row by row, but gives the last input "
                f"{values[-1]:.4g} among {N} and {alone:.4g} alone"
            )
        return values

    def evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Every product f(x) f(x')."""
        return np.multiply.outer(X, Z)

    def evaluate_diagonal(self, X: FloatArray) -> FloatArray:
        """f(x)²."""
        return X * X


class Exponential(Composite):
    """Rule 7: k(x, x') = exp(k₁(x, x')), written ``exp(k1)``.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> exp(Linear())([[1.0]], [[0.0], [1.0]]).round(3)
    array([[1.   , 2.718]])
    """

    k1: Kernel

    def __repr__(self) -> str:
        return f"exp({self.k1!r})"

    def combine(self, *Ks: FloatArray) -> FloatArray:
        """k = exp(k₁), entry by entry."""
        (K,) = Ks
        return np.exp(K, out=K)

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """The chain rule: ∂k = exp(k₁) ∂k₁."""
        K1, dK1 = self.k1.differentiate(X[0], Z[0])
        K = np.exp(K1)
        return K, _inside("k1", dK1, K)


def exp(k: Kernel) -> Exponential:
    """Rule 7: the kernel q(x, x') = exp(k(x, x')).

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> exp(2.0 * Linear())
    exp(2.0 * Linear())
    """
    if not isinstance(k, Kernel):
        raise TypeError(f"rule 7 takes a kernel, got {type(k).__name__}")
    return Exponential(k)


def _column_numbers(columns: Any, name: str) -> tuple[int, ...]:
    numbers = _checks.vector(np.atleast_1d(columns), name)
    whole = [_checks.count(n, name, least=0) for n in numbers.tolist()]
    if len(set(whole)) < len(whole):
        raise ValueError(f"{name} must be distinct, got {whole}")
    return tuple(whole)


class On(Composite):
    """A kernel that looks at some columns only, written ``k1.on(columns)``.

    k(x, x') = k₁(x_S, x'_S), with S the chosen columns: a kernel because k₁
    is one and x ↦ x_S is a function.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> Gaussian(2.0).on([0, 3])
    Gaussian(gamma=2.0).on([0, 3])
    """

    k1: Kernel
    columns: tuple[int, ...] = setting(_column_numbers)

    def __repr__(self) -> str:
        return f"{_shown(self.k1, ATOM)}.on({list(self.columns)})"

    def check(self, X: Any, name: str) -> Any:
        """Inputs that have those columns."""
        X = _checks.matrix_or_sparse(X, name)
        if X.shape[1] <= max(self.columns):
            raise ValueError(
                f"{name} must have a column {max(self.columns)} for {self}, "
                f"got shape {X.shape}"
            )
        self.k1.check(self._chosen(X), name)
        return X

    def prepare(self, X: Any) -> Any:
        """What k₁ prepares from those columns."""
        return Prepared([self.k1.prepare(self._chosen(X))])

    def combine(self, *Ks: FloatArray) -> FloatArray:
        """K₁ itself."""
        (K,) = Ks
        return K

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """Those of k₁."""
        K, dK1 = self.k1.differentiate(X[0], Z[0])
        return K, _inside("k1", dK1)

    def _chosen(self, X: Any) -> Any:
        return X[:, list(self.columns)]


def terms(k: Kernel) -> tuple[Kernel, ...]:
    """What a sum of kernels adds; k alone if it is no sum.

    Examples
    --------
    >>> from kernelbook.kernels import Constant, Linear
    >>> terms(Constant(1.0) + (Linear() + Constant(2.0)))
    (Constant(c=1.0), Linear(), Constant(c=2.0))
    """
    return k.terms() if isinstance(k, Sum) else (k,)


def _inside(
    part: str, dK: dict[str, FloatArray], factor: FloatArray | None = None
) -> dict[str, FloatArray]:
    """Derivatives inside a part of a kernel, times what stands outside it."""
    if factor is not None:
        dK = {name: factor * d for name, d in dK.items()}
    return {f"{part}.{name}": d for name, d in dK.items()}


def _shown(k: Kernel, least: int) -> str:
    """repr(k), in brackets if its outermost operation binds too loosely."""
    return repr(k) if k.binding >= least else f"({k!r})"
