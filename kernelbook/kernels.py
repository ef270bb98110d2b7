"""Kernels, as callables: ``k(X, Z)`` is the (N, N*) array of all k(x_n, z_m).

``k(X)`` is the Gram matrix ``k(X, X)``, exactly symmetric.  Because a kernel
is a plain callable, it also runs inside other libraries' estimators, such as
``SVC(kernel=k)`` and ``KernelRidge(kernel=k)``.

New kernels are built from old ones by the eight rules of chapter 6 and by
nothing else, so that whatever can be written down is a kernel:

=====  =============================  ===============================
rule   kernel                         Python
=====  =============================  ===============================
1      xᵀx'                           ``Linear()``
2      c k₁(x, x'), c >= 0            ``c * k1``
3      k₁(x, x') + k₂(x, x')          ``k1 + k2``
4      k₁(x, x') k₂(x, x')            ``k1 * k2``
5      q(k₁(x, x')), q >= 0           ``k1.polynomial(coefficients)``
6      f(x) k₁(x, x') f(x')           ``k1.conjugate(f)``
7      exp(k₁(x, x'))                 ``exp(k1)``
8      xᵀAx', A = Aᵀ ⪰ 0              ``QuadraticForm(A)``
=====  =============================  ===============================
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook._gram import (
    SquaredDistances,
    Tile,
    by_tiles,
    squared_distances,
)

# How tightly the outermost operation of a repr binds.
_SUM, _PRODUCT, _ATOM = 1, 2, 3


class Kernel(ABC):
    """A symmetric function k(x, x') with positive semi-definite Grams."""

    _binding: ClassVar[int] = _ATOM
    __array_ufunc__ = None  # np.float64(2) * k is k's business, not NumPy's

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """All kernel values between the rows of X and the rows of Z.

        Parameters
        ----------
        X : (N, D) inputs as rows
        Z : (N*, D) more inputs; X itself if left out

        Returns
        -------
        K : (N, N*) with K[n, m] = k(X[n], Z[m]); for two arrays of shape
            (D,), two single inputs, K is one number
        """
        A, B = self._inputs(X, Z)
        if not isinstance(A, np.ndarray):
            return self._evaluate(A, B)
        K = by_tiles(self._tile(A, B), len(A), len(B), symmetric=B is A)
        return K.reshape(()) if np.ndim(X) == 1 else K

    def diagonal(self, X: Any) -> FloatArray:
        """The N values k(x_n, x_n), without the N × N Gram matrix.

        Parameters
        ----------
        X : (N, D) inputs as rows

        Returns
        -------
        d : (N,)

        Examples
        --------
        >>> Linear().diagonal([[1.0, 2.0], [0.0, 3.0]])
        array([5., 9.])
        """
        A, _ = self._inputs(X, None)
        return self._diagonal(A)

    def polynomial(self, coefficients: ArrayLike) -> "PolynomialOf":
        """Rule 5: c₀ + c₁ k + c₂ k² + ..., with all c_j >= 0.

        Examples
        --------
        >>> Linear().polynomial([1.0, 0.0, 2.0])
        Linear().polynomial([1.0, 0.0, 2.0])
        """
        return PolynomialOf(self, coefficients)

    def conjugate(self, f: Callable[[Any], Any]) -> "Conjugate":
        """Rule 6: f(x) k(x, x') f(x'), for any real function f.

        ``f`` gets all inputs at once, (N, D), and returns (N,) numbers.

        Examples
        --------
        >>> def first(X):
        ...     return X[:, 0]
        >>> Constant(1.0).conjugate(first)
        Constant(c=1.0).conjugate(first)
        """
        return Conjugate(self, f)

    def __add__(self, other: Any) -> "Sum":
        if isinstance(other, Kernel):
            return Sum(self, other)
        if isinstance(other, Real):
            raise TypeError(
                "rule 3 adds kernels, and a number is none: "
                f"write Constant({other}) for the constant kernel"
            )
        return NotImplemented

    __radd__ = __add__

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

    def _inputs(self, X: Any, Z: Any) -> tuple[Any, Any]:
        """Both inputs, checked; the same object twice if Z is X or None."""
        if getattr(X, "ndim", 0) == 1 and getattr(Z, "ndim", 0) == 1:
            X, Z = X[None], Z[None]
        A = _checks.matrix(X, "X")
        B = A if Z is None or Z is X else _checks.matrix(Z, "Z")
        _checks.same_columns(A, B)
        return A, B

    @abstractmethod
    def _evaluate(self, X: Any, Z: Any) -> FloatArray:
        """The values for checked inputs, in a new array."""

    def _tile(self, X: FloatArray, Z: FloatArray) -> Tile:
        """The function that makes the values of some rows and columns."""
        return lambda rows, columns: self._evaluate(X[rows], Z[columns])

    def _diagonal(self, X: Any) -> FloatArray:
        """The values k(x_n, x_n) for checked inputs, in a new array."""
        rows = (X[n : n + 1] for n in range(len(X)))
        return np.array([self._evaluate(x, x)[0, 0] for x in rows])


# ------------------------------------------------------------ basic kernels


@dataclass(frozen=True)
class Linear(Kernel):
    """Linear kernel (rule 1), k(x, x') = xᵀx'.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return X @ Z.T

    def _diagonal(self, X: FloatArray) -> FloatArray:
        d: FloatArray = np.einsum("nd,nd->n", X, X)
        return d


@dataclass(frozen=True)
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

    A: Any

    def __post_init__(self) -> None:
        A = _checks.matrix(self.A, "A of rule 8")
        if A.shape[0] != A.shape[1]:
            raise ValueError(
                f"A of rule 8 must be square, got shape {A.shape}"
            )
        A = _checks.gram(A, "A of rule 8")
        lowest = np.linalg.eigvalsh(A)[0]
        if lowest < -_checks.SYMMETRY_TOLERANCE * np.abs(A).max():
            raise ValueError(
                "A of rule 8 must be positive semi-definite, "
                f"got smallest eigenvalue {lowest:.3g}"
            )
        _fix(self, A=tuple(tuple(row) for row in A.tolist()))

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        XR = self._times_root(X)
        ZR = XR if Z is X else self._times_root(Z)
        return XR @ ZR.T

    def _diagonal(self, X: FloatArray) -> FloatArray:
        return Linear()._diagonal(self._times_root(X))

    def _times_root(self, X: FloatArray) -> FloatArray:
        A = np.array(self.A)
        if X.shape[1] != len(A):
            raise ValueError(
                f"X must have {len(A)} columns, one for each row of A, "
                f"got shape {X.shape}"
            )
        mu, V = np.linalg.eigh(A)
        XR: FloatArray = X @ (V * np.sqrt(np.maximum(mu, 0.0)))
        return XR


@dataclass(frozen=True)
class Constant(Kernel):
    """Constant kernel, k(x, x') = c with c >= 0: the one feature √c.

    Examples
    --------
    >>> Constant(2.0)([[1.0]], [[3.0], [4.0]])
    array([[2., 2.]])
    """

    c: float

    def __post_init__(self) -> None:
        _fix(self, c=_checks.non_negative(self.c, "c"))

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return np.full((len(X), len(Z)), self.c)

    def _diagonal(self, X: FloatArray) -> FloatArray:
        return np.full(len(X), self.c)


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
        _fix(
            self,
            degree=_checks.count(self.degree, "degree"),
            c=_checks.non_negative(self.c, "c"),
        )

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        S = X @ Z.T
        S += self.c
        return _to_the_power(S, self.degree)

    def _diagonal(self, X: FloatArray) -> FloatArray:
        return _to_the_power(Linear()._diagonal(X) + self.c, self.degree)


class Stationary(Kernel):
    """A kernel of the difference x - x' only, with k(x, x) = 1."""

    def _diagonal(self, X: FloatArray) -> FloatArray:
        return np.ones(len(X))


@dataclass(frozen=True)
class Gaussian(Stationary):
    """Gaussian kernel, k(x, x') = exp(-gamma ‖x - x'‖²), notes (12).

    ``gamma`` = 1 / (2 σ²) for a kernel of width σ.

    Examples
    --------
    >>> Gaussian(gamma=0.5)([[0.0]], [[0.0], [1.0]]).round(3)
    array([[1.   , 0.607]])
    """

    gamma: float

    def __post_init__(self) -> None:
        _fix(self, gamma=_checks.positive(self.gamma, "gamma"))

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        K = squared_distances(X, Z, -self.gamma)
        return np.exp(K, out=K)

    def _tile(self, X: FloatArray, Z: FloatArray) -> Tile:
        exponent = SquaredDistances(X, Z, -self.gamma)

        def tile(rows: slice, columns: slice) -> FloatArray:
            K = exponent(rows, columns)
            return np.exp(K, out=K)

        return tile


@dataclass(frozen=True)
class Matern(Stationary):
    """Matérn kernel for nu = 1/2, 3/2 or 5/2, with s = √(2 nu) r / length.

    k = e⁻ˢ,  (1 + s) e⁻ˢ  or  (1 + s + s²/3) e⁻ˢ, where r = ‖x - x'‖ is the
    Euclidean distance: with the sum of absolute differences in its place,
    3/2 and 5/2 are no kernels in two dimensions.

    Examples
    --------
    >>> Matern(nu=0.5, length=2.0)([[0.0]], [[0.0], [2.0]]).round(3)
    array([[1.   , 0.368]])
    """

    nu: float
    length: float = 1.0

    def __post_init__(self) -> None:
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5, got {self.nu}")
        length = _checks.positive(self.length, "length")
        _fix(self, nu=float(self.nu), length=length)

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        S: FloatArray = cdist(X, Z, "euclidean")
        S *= np.sqrt(2 * self.nu) / self.length
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


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """Rational quadratic, k(x, x') = {1 + ‖x - x'‖²/(2 alpha length²)}^-alpha.

    A mixture of Gaussian kernels of all widths; alpha → ∞ gives back one
    Gaussian kernel of width ``length``.

    Examples
    --------
    >>> RationalQuadratic(alpha=1.0, length=1.0)([[0.0]], [[0.0], [2.0]])
    array([[1.        , 0.33333333]])
    """

    alpha: float
    length: float = 1.0

    def __post_init__(self) -> None:
        _fix(
            self,
            alpha=_checks.positive(self.alpha, "alpha"),
            length=_checks.positive(self.length, "length"),
        )

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        K = squared_distances(X, Z, 1 / (2 * self.alpha * self.length**2))
        np.log1p(K, out=K)
        K *= -self.alpha
        return np.exp(K, out=K)


@dataclass(frozen=True)
class Periodic(Stationary):
    """Periodic kernel, exp(-2 Σ_d sin²(π (x_d - x'_d)/period) / length²).

    The sum over coordinates matters: with the Euclidean distance inside the
    sine it is a kernel for D = 1 only.

    Examples
    --------
    >>> Periodic(period=1.0)([[0.0]], [[0.5], [3.0]]).round(3)
    array([[0.135, 1.   ]])
    """

    period: float
    length: float = 1.0

    def __post_init__(self) -> None:
        _fix(
            self,
            period=_checks.positive(self.period, "period"),
            length=_checks.positive(self.length, "length"),
        )

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        K = np.zeros((len(X), len(Z)))
        for x, z in zip(X.T, Z.T, strict=True):
            S = np.subtract.outer(x, z)
            S *= np.pi / self.period
            np.sin(S, out=S)
            S *= S
            K += S
        K *= -2 / self.length**2
        return np.exp(K, out=K)


# -------------------------------------------- kernels made of other kernels


class _Composite(Kernel):
    """What kernels made of kernels share: every part checks the inputs."""

    def _inputs(self, X: Any, Z: Any) -> tuple[Any, Any]:
        for part in vars(self).values():
            if isinstance(part, Kernel):
                X, Z = part._inputs(X, Z)
        return X, Z


@dataclass(frozen=True)
class Scaled(_Composite):
    """Rule 2: k(x, x') = c k₁(x, x') with c >= 0, written ``c * k1``.

    Examples
    --------
    >>> 3.0 * Linear()
    3.0 * Linear()
    """

    _binding = _PRODUCT
    c: float
    k1: Kernel

    def __post_init__(self) -> None:
        _fix(self, c=_checks.non_negative(self.c, "the scale c of rule 2"))

    def __repr__(self) -> str:
        return f"{self.c!r} * {_shown(self.k1, _ATOM)}"

    def _evaluate(self, X: Any, Z: Any) -> FloatArray:
        K = self.k1._evaluate(X, Z)
        K *= self.c
        return K

    def _diagonal(self, X: Any) -> FloatArray:
        return self.c * self.k1._diagonal(X)


@dataclass(frozen=True)
class Sum(_Composite):
    """Rule 3: k(x, x') = k₁(x, x') + k₂(x, x'), written ``k1 + k2``.

    Examples
    --------
    >>> Gaussian(gamma=0.5) + 2.0 * Linear()
    Gaussian(gamma=0.5) + 2.0 * Linear()
    """

    _binding = _SUM
    k1: Kernel
    k2: Kernel

    def __repr__(self) -> str:
        return f"{_shown(self.k1, _SUM)} + {_shown(self.k2, _PRODUCT)}"

    def _evaluate(self, X: Any, Z: Any) -> FloatArray:
        K = self.k1._evaluate(X, Z)
        K += self.k2._evaluate(X, Z)
        return K

    def _diagonal(self, X: Any) -> FloatArray:
        return self.k1._diagonal(X) + self.k2._diagonal(X)


@dataclass(frozen=True)
class Product(_Composite):
    """Rule 4: k(x, x') = k₁(x, x') k₂(x, x'), written ``k1 * k2``.

    Examples
    --------
    >>> (Linear() + Constant(1.0)) * Gaussian(gamma=0.5)
    (Linear() + Constant(c=1.0)) * Gaussian(gamma=0.5)
    """

    _binding = _PRODUCT
    k1: Kernel
    k2: Kernel

    def __repr__(self) -> str:
        return f"{_shown(self.k1, _PRODUCT)} * {_shown(self.k2, _ATOM)}"

    def _evaluate(self, X: Any, Z: Any) -> FloatArray:
        K = self.k1._evaluate(X, Z)
        K *= self.k2._evaluate(X, Z)
        return K

    def _diagonal(self, X: Any) -> FloatArray:
        return self.k1._diagonal(X) * self.k2._diagonal(X)


@dataclass(frozen=True)
class PolynomialOf(_Composite):
    """Rule 5: k = c₀ + c₁ k₁ + c₂ k₁² + ..., with all c_j >= 0.

    Written ``k1.polynomial([c0, c1, c2])``.

    Examples
    --------
    >>> k = Linear().polynomial([1.0, 0.0, 2.0])
    >>> k([[1.0]], [[3.0]])
    array([[19.]])
    """

    k1: Kernel
    coefficients: Any

    def __post_init__(self) -> None:
        name = "the coefficients of rule 5"
        coefficients = _checks.vector(self.coefficients, name)
        for c in coefficients:
            _checks.non_negative(c, name)
        _fix(self, coefficients=tuple(coefficients.tolist()))

    def __repr__(self) -> str:
        coefficients = list(self.coefficients)
        return f"{_shown(self.k1, _ATOM)}.polynomial({coefficients})"

    def _evaluate(self, X: Any, Z: Any) -> FloatArray:
        return self._horner(self.k1._evaluate(X, Z))

    def _diagonal(self, X: Any) -> FloatArray:
        return self._horner(self.k1._diagonal(X))

    def _horner(self, K1: FloatArray) -> FloatArray:
        *lower, highest = self.coefficients
        K = np.full_like(K1, highest)
        for c in reversed(lower):
            K *= K1
            K += c
        return K


@dataclass(frozen=True)
class Conjugate(_Composite):
    """Rule 6: k(x, x') = f(x) k₁(x, x') f(x'), for any real function f.

    Written ``k1.conjugate(f)``; f maps (N, D) inputs to (N,) numbers.

    Examples
    --------
    >>> def first(X):
    ...     return X[:, 0]
    >>> Constant(1.0).conjugate(first)([[2.0, 5.0]], [[3.0, 7.0]])
    array([[6.]])
    """

    k1: Kernel
    f: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise ValueError(f"f of rule 6 must be a function, got {self.f!r}")

    def __repr__(self) -> str:
        name = getattr(self.f, "__name__", repr(self.f))
        return f"{_shown(self.k1, _ATOM)}.conjugate({name})"

    def _evaluate(self, X: Any, Z: Any) -> FloatArray:
        K = self.k1._evaluate(X, Z)
        f_X = self._values(X)
        f_Z = f_X if Z is X else self._values(Z)
        # f(x) f(x') first: (K f) f' and (K f') f may differ by a rounding.
        for row, f_n in zip(K, f_X, strict=True):
            row *= f_n * f_Z
        return K

    def _diagonal(self, X: Any) -> FloatArray:
        return self.k1._diagonal(X) * self._values(X) ** 2

    def _values(self, X: Any) -> FloatArray:
        return _checks.vector(self.f(X), "f(X) of rule 6", len(X))


@dataclass(frozen=True)
class Exponential(_Composite):
    """Rule 7: k(x, x') = exp(k₁(x, x')), written ``exp(k1)``.

    Examples
    --------
    >>> exp(Linear())([[1.0]], [[0.0], [1.0]]).round(3)
    array([[1.   , 2.718]])
    """

    k1: Kernel

    def __repr__(self) -> str:
        return f"exp({self.k1!r})"

    def _evaluate(self, X: Any, Z: Any) -> FloatArray:
        K = self.k1._evaluate(X, Z)
        return np.exp(K, out=K)

    def _diagonal(self, X: Any) -> FloatArray:
        d: FloatArray = np.exp(self.k1._diagonal(X))
        return d


def exp(k: Kernel) -> Exponential:
    """Rule 7: the kernel exp(k(x, x')).

    Examples
    --------
    >>> exp(2.0 * Linear())
    exp(2.0 * Linear())
    """
    if not isinstance(k, Kernel):
        raise TypeError(f"rule 7 takes a kernel, got {type(k).__name__}")
    return Exponential(k)


def quadratic_form(A: ArrayLike) -> QuadraticForm:
    """Rule 8: the kernel xᵀAx' with A = Aᵀ ⪰ 0.

    Examples
    --------
    >>> quadratic_form([[2.0]])
    QuadraticForm(A=((2.0,),))
    """
    return QuadraticForm(A)


def _shown(k: Kernel, least: int) -> str:
    """repr(k), in brackets if its outermost operation binds too loosely."""
    return repr(k) if k._binding >= least else f"({k!r})"


def _fix(kernel: Kernel, **values: Any) -> None:
    """Store checked values in a frozen kernel while it is being made."""
    for name, value in values.items():
        object.__setattr__(kernel, name, value)


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
