"""What a kernel is, and how to write one of your own.

A kernel is a class with one method, ``evaluate``::

    import numpy as np

    from kernelbook.kernels import Kernel, positive, squared_distances

    class Cauchy(Kernel):
        '''k(x, x') = 1 / (1 + ‖x - x'‖² / width²).'''

        width: float = positive()

        def evaluate(self, X, Z):
            return 1 / (1 + squared_distances(X, Z) / self.width**2)

That is all it takes for ``Cauchy(2.0)`` to be checked, printed, compared,
added and multiplied, and to be used and learned wherever a kernel is.  What
you promise is that k is symmetric and positive semi-definite;
``validity.find_counterexample`` looks for a broken promise.

``evaluate`` gets two matrices of checked inputs as rows, leaves them alone and
returns a new array, one row for each row of X and one column for each row of
Z.  Every number of the kernel is a field with an annotation, as above; there
is no ``__init__`` to write.  A field made with ``positive``,
``non_negative`` or ``hyperparameter`` is a number that
``learning.learn`` may change; one made with ``setting`` is checked and
stays.  A class made from ``Kernel`` is a frozen dataclass of its fields
without being told: do not decorate it.

What more a kernel may say, each method for a reason:

========================= =====================================================
``evaluate_diagonal(X)``  k(x_n, x_n), where that is cheaper than one by one
``differentiate(X, Z)``   values and derivatives, else by central differences
``check(X, name)``        other inputs than the rows of a matrix
``prepare(X)``            what is needed of X alone, once for all pairs
``tiles(X, Z)``           pieces of a Gram matrix, where they share work
========================= =====================================================
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook._gram import Tile, by_tiles, cut, number_of

Derivatives = tuple[FloatArray, dict[str, FloatArray]]  # K, {p: ∂K/∂ln p}

STEP = float(np.finfo(float).eps) ** (1 / 3)  # best for central differences


# ------------------------------------------------------- fields of a kernel


def hyperparameter(
    check: Callable[[Any, str], Any],
    default: Any = MISSING,
    called: str | None = None,
) -> Any:
    """A field that holds a number that can be learned, or a tuple of them.

    Parameters
    ----------
    check : gets what was given and its name; returns what is kept, a float
        or a tuple of floats, or raises a ValueError
    default : value, if the field may be left out
    called : name for error messages, if not that of the field
    """
    return _field(check, default, called, learned=True)


def setting(
    check: Callable[[Any, str], Any],
    default: Any = MISSING,
    called: str | None = None,
) -> Any:
    """A field that is checked like a hyperparameter, but never learned."""
    return _field(check, default, called, learned=False)


def positive(default: Any = MISSING, called: str | None = None) -> Any:
    """A hyperparameter p > 0.

    Examples
    --------
    >>> from kernelbook.kernels import Kernel
    >>> class Constantly(Kernel):
    ...     value: float = positive()
    ...
    ...     def evaluate(self, X, Z):
    ...         return np.full((len(X), len(Z)), self.value)
    >>> Constantly(2)
    Constantly(value=2.0)
    >>> Constantly(-1)
    Traceback (most recent call last):
    ValueError: value must be > 0, got -1
    """
    return hyperparameter(_checks.positive, default, called)


def non_negative(default: Any = MISSING, called: str | None = None) -> Any:
    """A hyperparameter p >= 0; at 0 it is switched off, and not learned."""
    return hyperparameter(_checks.non_negative, default, called)


def _field(
    check: Callable[[Any, str], Any],
    default: Any,
    called: str | None,
    learned: bool,
) -> Any:
    return field(
        default=default,
        metadata={"check": check, "called": called, "learned": learned},
    )


# ------------------------------------------------------------------ kernels


@dataclass_transform(
    frozen_default=True,
    field_specifiers=(hyperparameter, setting, positive, non_negative),
)
class KernelFunction(ABC):
    """A symmetric function k(x, x') with positive semi-definite Grams.

    ``k(X, Z)`` holds all values between the rows of X and those of Z.  The
    rules that make new kernels of it come with :class:`Kernel`.
    """

    checks: ClassVar[dict[str, tuple[Callable[[Any, str], Any], str]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(frozen=True)(cls)
        cls.checks = {
            one.name: (
                one.metadata.get("check", partial(_a_kernel, cls)),
                one.metadata.get("called") or one.name,
            )
            for one in fields(cls)  # type: ignore[arg-type]
        }

    def __post_init__(self) -> None:
        for name, (check, called) in self.checks.items():
            value = check(getattr(self, name), called)
            object.__setattr__(self, name, value)

    # What a kernel says of itself.

    @abstractmethod
    def evaluate(self, X: Any, Z: Any) -> FloatArray:
        """The (N, N*) values for checked inputs, in a new array."""

    def evaluate_diagonal(self, X: Any) -> FloatArray:
        """The (N,) values k(x_n, x_n) for checked inputs, in a new array."""
        rows = (cut(X, slice(n, n + 1)) for n in range(number_of(X)))
        return np.array([self.evaluate(x, x)[0, 0] for x in rows])

    def differentiate(self, X: Any, Z: Any) -> Derivatives:
        """Values for checked inputs, and derivatives p ∂k/∂p by name of p.

        Here by central differences in ln p, good to about ten digits and two
        evaluations for each p.  A kernel that knows better says so.
        """
        dK = {}
        for name, p in self.parameters().items():
            up = self.with_parameters({name: p * np.exp(STEP)})
            down = self.with_parameters({name: p * np.exp(-STEP)})
            dK[name] = up.evaluate(X, Z) - down.evaluate(X, Z)
            dK[name] /= 2 * STEP
        return self.evaluate(X, Z), dK

    def check(self, X: Any, name: str) -> Any:
        """The inputs, if they are such as this kernel takes, or an error.

        Here a finite matrix with one row per input.
        """
        return _checks.matrix(X, name)

    def prepare(self, X: Any) -> Any:
        """What the other methods get for checked inputs X: here X itself.

        It must not depend on the hyperparameters, and slices of it must
        belong to slices of the inputs.
        """
        return X

    def tiles(self, X: Any, Z: Any) -> Tile:
        """A function of two slices, rows and columns, that gives the values.

        For what is worth computing once for a whole Gram matrix.
        """

        def tile(rows: slice, columns: slice) -> FloatArray:
            K = self.evaluate(cut(X, rows), cut(Z, columns))
            wanted = rows.stop - rows.start, columns.stop - columns.start
            if K.shape != wanted:
                raise ValueError(
                    f"evaluate of {self} must give one value for each pair, "
                    f"shape {wanted}, got {K.shape}"
                )
            return K

        return tile

    # What everyone can ask of a kernel.

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
        if _single(X) and _single(Z):
            K = self(np.asarray(X)[None], np.asarray(Z)[None])
            return K.reshape(())
        A, B = self.inputs(X, Z)
        P = self.prepare(A)
        Q = P if B is A else self.prepare(B)
        if not (isinstance(A, np.ndarray) and isinstance(B, np.ndarray)):
            return self.evaluate(P, Q)  # objects, or sparse
        return by_tiles(self.tiles(P, Q), len(A), len(B), symmetric=B is A)

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
        >>> from kernelbook.kernels import Linear
        >>> Linear().diagonal([[1.0, 2.0], [0.0, 3.0]])
        array([5., 9.])
        """
        return self.evaluate_diagonal(self.prepare(self.check(X, "X")))

    def inputs(self, X: Any, Z: Any = None) -> tuple[Any, Any]:
        """Both inputs, checked; the same object twice if Z is X or None."""
        A = self.check(X, "X")
        B = A if Z is None or Z is X else self.check(Z, "Z")
        if hasattr(A, "shape"):
            _checks.same_columns(A, B)
        return A, B

    def parameters(self) -> dict[str, float]:
        """The positive hyperparameters, by name.

        A name is what one types to read the number: ``k1.gamma`` is
        ``k.k1.gamma``, and ``theta[2]`` is ``k.theta[2]``.  One that is zero
        is switched off and stays off.

        Examples
        --------
        >>> from kernelbook.kernels import Constant, Gaussian
        >>> k = 2.0 * Gaussian(gamma=0.5) + Constant(3.0)
        >>> k.parameters()
        {'k1.c': 2.0, 'k1.k1.gamma': 0.5, 'k2.c': 3.0}
        """
        return {name: p for name, p in self._numbers() if p > 0}

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        """The same kernel with other hyperparameters.

        Parameters
        ----------
        values : name → new value; what is not named stays as it is

        Raises
        ------
        ValueError
            If the kernel has no hyperparameter of that name.

        Examples
        --------
        >>> from kernelbook.kernels import Constant, Gaussian
        >>> k = 2.0 * Gaussian(gamma=0.5) + Constant(3.0)
        >>> k.with_parameters({"k1.k1.gamma": 8.0})
        2.0 * Gaussian(gamma=8.0) + Constant(c=3.0)
        """
        known = dict(self._numbers())
        for name in values:
            if name not in known:
                raise ValueError(
                    f"values must name hyperparameters of {self}, which are "
                    f"{', '.join(known) or 'none'}; got {name!r}"
                )
        return self._rebuilt(values, "")

    def derivatives(self, X: Any, Z: Any = None) -> Derivatives:
        """Values and their derivatives by ln p, for every hyperparameter p.

        ∂k/∂ln p = p ∂k/∂p, which has the units of k whatever those of p.

        Parameters
        ----------
        X, Z : (N, D) and (N*, D) inputs; Z is X if left out

        Returns
        -------
        K, dK : (N, N*) values, and name → (N, N*) derivatives

        Examples
        --------
        >>> from kernelbook.kernels import Gaussian
        >>> K, dK = (2.0 * Gaussian(0.5)).derivatives([[0.0]], [[1.0]])
        >>> K.round(3), {name: d.round(3) for name, d in dK.items()}
        (array([[1.213]]), {'c': array([[1.213]]), 'k1.gamma': array([[-0.607]])})
        """  # noqa: E501
        A, B = self.inputs(X, Z)
        P = self.prepare(A)
        K, dK = self.differentiate(P, P if B is A else self.prepare(B))
        return K, {name: dK[name] for name in self.parameters()}

    # Hyperparameters, also of the kernels inside.

    def _numbers(self, path: str = "") -> Iterator[tuple[str, float]]:
        """Every hyperparameter with its name, zeros too."""
        for one in fields(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            if isinstance(value, KernelFunction):
                yield from value._numbers(f"{path}{one.name}.")
            elif not one.metadata.get("learned"):
                continue
            elif isinstance(value, tuple):
                for i, entry in enumerate(value):
                    yield f"{path}{one.name}[{i}]", entry
            else:
                yield f"{path}{one.name}", value

    def _rebuilt(self, values: Mapping[str, float], path: str) -> Self:
        """The kernel with the numbers below ``path`` replaced."""
        changes: dict[str, Any] = {}
        for one in fields(self):  # type: ignore[arg-type]
            value, here = getattr(self, one.name), f"{path}{one.name}"
            if isinstance(value, KernelFunction):
                value = value._rebuilt(values, f"{here}.")
            elif isinstance(value, tuple):
                value = tuple(
                    values.get(f"{here}[{i}]", v) for i, v in enumerate(value)
                )
            changes[one.name] = values.get(here, value)
        return type(self)(**changes)


def each_non_negative(values: Any, name: str) -> tuple[float, ...]:
    """Numbers >= 0 as a tuple: the check of a hyperparameter that is many."""
    numbers = _checks.vector(values, name)
    for i, value in enumerate(numbers):
        _checks.non_negative(float(value), f"{name}[{i}]")
    return tuple(numbers.tolist())


def _a_kernel(kind: type, value: Any, name: str) -> KernelFunction:
    """The check of a field that says nothing of itself: a part of a rule."""
    if not isinstance(value, KernelFunction):
        raise TypeError(
            f"{name} of {kind.__name__} must be a kernel or be declared as "
            "what it is: positive(), non_negative(), hyperparameter(check) "
            "or setting(check)"
        )
    return value


def _single(x: Any) -> bool:
    """Whether x is one input: an array of numbers with one dimension."""
    return getattr(x, "ndim", 0) == 1 and np.asarray(x).dtype.kind in "biuf"
