"""Input checks: say the argument, what was expected, and what came."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

SYMMETRY_TOLERANCE = 1e-10  # relative to the largest entry


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


def gram(K: ArrayLike, name: str = "K") -> FloatArray:
    """A square, symmetric, finite matrix."""
    array = matrix(K, name)
    if array.shape[0] != array.shape[1]:
        raise ValueError(
            f"{name} must be a square Gram matrix k(X), got shape "
            f"{array.shape}; a cross-Gram k(X, Z) belongs to prediction"
        )
    gap = _asymmetry(array)
    if gap > 0 and gap > SYMMETRY_TOLERANCE * np.abs(array).max():
        raise ValueError(
            f"{name} must be symmetric, got entries that differ from "
            f"their mirror image by {gap:.2g}"
        )
    return array


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


def real(value: float, name: str) -> float:
    """A finite number, not an array of them."""
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
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be an array of numbers, got {type(values).__name__}"
        ) from None
    # A finite sum proves finite entries without an N × N array of booleans.
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()
    if not np.isfinite(total) and not np.isfinite(array).all():
        bad = int(array.size - np.isfinite(array).sum())
        raise ValueError(f"{name} must be finite, got {bad} NaN or inf")
    return array


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


def labels(values: ArrayLike, name: str, length: int) -> FloatArray:
    """Class labels, each -1 or +1."""
    array = vector(values, name, length)
    wrong = array[np.abs(array) != 1]
    if wrong.size:
        raise ValueError(f"{name} must be -1 or +1, got {wrong[0]:g}")
    return array


def two_classes(values: ArrayLike, name: str, length: int) -> FloatArray:
    """Class labels -1 and +1, both of them present."""
    array = labels(values, name, length)
    if abs(array.sum()) == length:
        raise ValueError(
            f"{name} must contain both -1 and +1, got only {array[0]:+g}"
        )
    return array


def classes(
    values: ArrayLike, name: str, K: int, length: int | None = None
) -> NDArray[np.int64]:
    """Class labels, each one of the whole numbers 0, ..., K-1."""
    array = vector(values, name, length)
    K = count(K, "K", least=2)
    wrong = array[(array != np.floor(array)) | (array < 0) | (array >= K)]
    if wrong.size:
        raise ValueError(
            f"{name} must be whole numbers from 0 to {K - 1}, got {wrong[0]:g}"
        )
    return array.astype(np.int64)


def all_classes(
    values: ArrayLike, name: str, K: int, length: int | None = None
) -> NDArray[np.int64]:
    """Class labels 0, ..., K-1, all of them present."""
    array = classes(values, name, K, length)
    absent = np.setdiff1d(np.arange(K), array)
    if absent.size:
        raise ValueError(
            f"{name} must contain every class from 0 to {K - 1}, "
            f"got none of class {absent[0]}"
        )
    return array


def class_labels(
    values: ArrayLike, name: str, length: int
) -> NDArray[np.intp]:
    """Class labels 0, 1, ..., K - 1, two classes at least, none empty."""
    array = vector(values, name, length)
    wrong = array[(array < 0) | (array != np.floor(array))]
    if wrong.size:
        hint = f"; write ({name} + 1) / 2" if set(array) == {-1, 1} else ""
        raise ValueError(
            f"{name} must hold class labels 0, 1, ..., K - 1, "
            f"got {wrong[0]:g}{hint}"
        )
    present = np.unique(array)
    if len(present) < 2:
        raise ValueError(
            f"{name} must contain at least two classes, got only {array[0]:g}"
        )
    if present[-1] >= len(present):
        missing = int(np.argmax(present != np.arange(len(present))))
        raise ValueError(
            f"{name} must use every class label from 0 to K - 1, got "
            f"{present[-1]:g} but no {missing}"
        )
    return array.astype(np.intp)


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
