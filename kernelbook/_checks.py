"""Input checks: say the argument, what was expected, and what came."""

from collections.abc import Sequence
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# What Python or NumPy would turn into a float, though it is none.
NOT_REAL = (str, bytes, complex, np.complexfloating, np.datetime64,
            np.timedelta64, date, time, timedelta)  # fmt: skip
FEW = 4096  # so many numbers are looked at one by one
SYMMETRY_TOLERANCE = 1e-10  # relative to the largest entry; float32: 1e-5


def matrix(values: ArrayLike, name: str) -> FloatArray:
    """A finite, non-empty float array of shape (rows, columns)."""
    array = _finite(values, name)
    if array.ndim == 1:
        raise ValueError(
            f"{name} must be two-dimensional, got shape {array.shape}; "
            f"write {name}[:, None] for one feature per example"
        )
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"{name} must be two-dimensional and not empty, "
            f"got shape {array.shape}"
        )
    return array


def matrix_or_sparse(values: Any, name: str) -> Any:
    """A finite matrix; one that is sparse stays so, in rows (CSR)."""
    if not issparse(values):
        return matrix(values, name)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(
            f"{name} must be two-dimensional and not empty, "
            f"got shape {values.shape}"
        )
    rows = csr_array(values)
    if rows.nnz:
        rows.data = _finite(rows.data, name)
    return rows


def vector(
    values: ArrayLike, name: str, length: int | None = None
) -> FloatArray:
    """A finite float array of shape (length,)."""
    array = _finite(values, name)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be one-dimensional and not empty, "
            f"got shape {array.shape}"
        )
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have length {length}, got {len(array)}")
    return array


def one_or_more_columns(
    values: ArrayLike, name: str, length: int
) -> FloatArray:
    """A finite array of shape (length,), or (length, Q) for Q outputs."""
    if np.ndim(values) < 2:
        return vector(values, name, length)
    array = matrix(values, name)
    if len(array) != length:
        raise ValueError(
            f"{name} must have one row per example, shape ({length}, Q), "
            f"got {array.shape}"
        )
    return array


def gram(K: ArrayLike, name: str = "K") -> FloatArray:
    """A square, symmetric, finite matrix."""
    array = matrix(K, name)
    if array.shape[0] != array.shape[1]:
        raise ValueError(
            f"{name} must be a square Gram matrix k(X), got shape "
            f"{array.shape}; a cross-Gram k(X, Z) belongs to prediction"
        )
    gap = _asymmetry(array)
    tolerance = max(SYMMETRY_TOLERANCE, 100 * precision(K))
    if gap > 0 and gap > tolerance * np.abs(array).max():
        raise ValueError(
            f"{name} must be symmetric, got entries that differ from "
            f"their mirror image by {gap:.2g}"
        )
    return array


def precision(values: Any) -> float:
    """The machine precision of the numbers that came in: float32's is 1e-7.

    Rounding errors are judged by it, though all is computed in float64.
    """
    dtype = np.dtype(getattr(values, "dtype", np.float64))
    narrow = dtype.kind == "f" and dtype.itemsize < 8
    return float(np.finfo(dtype if narrow else np.float64).eps)


def cross_gram(k: ArrayLike, N: int, name: str) -> FloatArray:
    """A matrix k(X, Z) with one row per training example."""
    array = matrix(k, name)
    if len(array) != N:
        raise ValueError(
            f"{name} must have one row per training example, "
            f"shape ({N}, N*), got {array.shape}"
        )
    return array


def same_columns(X: FloatArray, Z: FloatArray) -> None:
    """Both sets of inputs have the same dimension D."""
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            "X and Z must have the same number of columns, "
            f"got {X.shape} and {Z.shape}"
        )


def positive(value: float, name: str) -> float:
    """A finite number > 0."""
    number = real(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be > 0, got {value}")
    return number


def non_negative(value: float, name: str) -> float:
    """A finite number >= 0."""
    number = real(value, name)
    if number < 0:
        raise ValueError(f"{name} must be >= 0, got {value}")
    return number


def share(value: float, name: str) -> float:
    """A number from 0 to 1."""
    number = real(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value}")
    return number


def real(value: float, name: str) -> float:
    """A finite number, not an array of them."""
    if np.ndim(value) > 0:
        raise ValueError(
            f"{name} must be a number, got an array of shape {np.shape(value)}"
        )
    if isinstance(value, (*NOT_REAL, np.ma.MaskedArray)):
        raise ValueError(f"{name} must be a real number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {value!r}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value}")
    return number


def count(value: int, name: str, least: int = 1) -> int:
    """A whole number, at least ``least``."""
    number = real(value, name)
    if number != int(number) or number < least:
        raise ValueError(
            f"{name} must be a whole number >= {least}, got {value}"
        )
    return int(number)


def _finite(values: ArrayLike, name: str) -> FloatArray:
    array = _real_numbers(values, name)
    if not _is_finite(array):
        bad = int(array.size - np.isfinite(array).sum())
        raise ValueError(f"{name} must be finite, got {bad} NaN or inf")
    return array


def _is_finite(array: FloatArray) -> bool:
    if array.size > FEW:
        # A finite sum proves it without an N × N array of booleans.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(array.sum()):
                return True
    return bool(np.isfinite(array).all())


def _real_numbers(values: Any, name: str) -> FloatArray:
    """A float array; what only looks like numbers is refused by its name."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} must have no mask, got a masked array; drop or fill what "
            "is masked"
        )
    if issparse(values):
        raise ValueError(
            f"{name} must be dense here, got a sparse {type(values).__name__}"
            f"; write {name}.toarray()"
        )
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            _refuse_entries(array, name)
        elif array.dtype.kind not in "biuf":
            raise ValueError(_not_real(name, str(array.dtype)))
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        if str(error).startswith(name):
            raise
        raise ValueError(
            f"{name} must be an array of numbers, got {type(values).__name__}"
        ) from None


def _refuse_entries(array: NDArray[Any], name: str) -> None:
    """Objects may convert themselves to floats; these would do so wrongly."""
    for entry in array.ravel():
        if isinstance(entry, NOT_REAL):
            raise ValueError(_not_real(name, type(entry).__name__))


def _not_real(name: str, what: str) -> str:
    return f"{name} must hold real numbers, got {what}"


def _asymmetry(K: FloatArray) -> float:
    """Largest |K - Kᵀ|, tile against mirrored tile, above the diagonal."""
    size = 256  # two tiles fit in a core's own cache
    starts = range(0, len(K), size)
    pairs = (
        (K[i : i + size, j : j + size], K[j : j + size, i : i + size].T)
        for i in starts
        for j in starts[i // size :]
    )
    return max(
        0.0 if np.array_equal(tile, mirrored)  # three times as fast
        else float(np.abs(tile - mirrored).max())
        for tile, mirrored in pairs
    )  # fmt: skip


def signs(values: ArrayLike, name: str, length: int) -> FloatArray:
    """Labels of two classes, each -1 or +1."""
    array = vector(_coded(values, name, "signs"), name, length)
    wrong = array[np.abs(array) != 1]
    if wrong.size:
        raise ValueError(
            f"{name} must be -1 or +1, got {wrong[0]:g}; "
            f"labels.coding({name}).signs({name}) makes it so"
        )
    return array


def both_signs(values: ArrayLike, name: str, length: int) -> FloatArray:
    """Labels -1 and +1, both of them present."""
    array = signs(values, name, length)
    if abs(array.sum()) == length:
        raise ValueError(
            f"{name} must contain both -1 and +1, got only {array[0]:+g}"
        )
    return array


def classes(
    values: ArrayLike, name: str, K: int, length: int | None = None
) -> IntArray:
    """Labels of K classes, each one of the whole numbers 0, ..., K-1."""
    array = vector(_coded(values, name, "classes"), name, length)
    K = count(K, "K", least=2)
    wrong = array[(array != np.floor(array)) | (array < 0) | (array >= K)]
    if wrong.size:
        raise ValueError(
            f"{name} must be whole numbers from 0 to {K - 1}, got "
            f"{wrong[0]:g}; labels.coding({name}).classes({name}) makes it so"
        )
    return array.astype(np.int64)


def every_class(
    values: ArrayLike, name: str, length: int, K: int | None = None
) -> IntArray:
    """Labels 0, ..., K-1 with none missing; K >= 2 is found if left out."""
    numbers = vector(_coded(values, name, "classes"), name, length)
    if K is None:
        K = max(len(np.unique(numbers)), 2)
    labels = classes(numbers, name, K)
    absent = np.setdiff1d(np.arange(K), labels)
    if absent.size:
        raise ValueError(
            f"{name} must contain every class from 0 to {K - 1}, "
            f"got none of class {absent[0]}"
        )
    return labels


def _coded(values: Any, name: str, coding: str) -> Any:
    """Values, unless they are names of classes and not their numbers."""
    array = np.asarray(values)
    kind = array.dtype.kind
    if kind in "US" or (
        kind == "O" and any(isinstance(v, str) for v in array.ravel())
    ):
        raise ValueError(
            f"{name} must be numbers, got {str(array.flat[0])!r}; "
            f"labels.coding({name}).{coding}({name}) makes it so"
        )
    return values


def generator(
    rng: int | np.random.Generator | None, name: str = "rng"
) -> np.random.Generator:
    """A NumPy generator: the one given, or a new one with that seed."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a seed, a whole number >= 0, or a NumPy "
            f"Generator, got {rng!r}"
        ) from None


def counts(values: ArrayLike, name: str) -> FloatArray:
    """Whole numbers >= 0 in rows, whose total a float still holds exactly."""
    array = matrix(values, name)
    wrong = array[(array < 0) | (array != np.floor(array))]
    if wrong.size:
        raise ValueError(
            f"{name} must hold counts, whole numbers >= 0, got {wrong[0]:g}"
        )
    if array.sum() > 2**53:
        raise ValueError(
            f"{name} must add up to at most 2**53, beyond which floats skip "
            f"whole numbers, got {array.sum():.3g}"
        )
    return array


def columns(values: ArrayLike, name: str, D: int) -> FloatArray:
    """A finite matrix with one column for each of D features."""
    array = matrix(values, name)
    if array.shape[1] != D:
        raise ValueError(
            f"{name} must have one column per feature, shape (N, {D}), "
            f"got {array.shape}"
        )
    return array


def indices(values: Sequence[int], name: str, D: int) -> NDArray[np.intp]:
    """Distinct whole numbers from 0 to D - 1, in the order given."""
    numbers = vector(values, name)
    whole = numbers.astype(np.intp)
    inside = (whole == numbers) & (whole >= 0) & (whole < D)
    if not inside.all() or len(np.unique(whole)) < len(whole):
        raise ValueError(
            f"{name} must hold distinct whole numbers from 0 to {D - 1}, "
            f"got {list(values)}"
        )
    return whole
