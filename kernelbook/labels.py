"""Class labels: from those of your data to those of the book, and back.

The book has one coding for two classes, the signs -1 and +1, and one for many,
the whole numbers 0, ..., K-1.  A :class:`Coding` translates from whatever the
data use, words for example, into either, and back.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks
from kernelbook._checks import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Coding:
    """The names of K classes, in order; made by :func:`coding`.

    The first of two classes is -1, the second +1.  The k-th of many is k,
    from 0 on.  The names are copied, and cannot be written to.

    Raises
    ------
    ValueError
        If the names are not in increasing order.

    Examples
    --------
    >>> code = coding(["ham", "spam", "ham"])
    >>> code.signs(["spam", "ham"]), code.from_signs([1.0, -1.0]).tolist()
    (array([ 1., -1.]), ['spam', 'ham'])
    >>> code.classes(["spam", "ham"]), code.from_classes([1, 0]).tolist()
    (array([1, 0]), ['spam', 'ham'])
    """

    names: NDArray[Any]

    def __post_init__(self) -> None:
        names = np.array(self.names)
        if not np.all(names[:-1] < names[1:]):
            raise ValueError(
                "names must be in increasing order, each once, got "
                f"{names.tolist()}; write coding(y)"
            )
        names.setflags(write=False)
        object.__setattr__(self, "names", names)

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.names)

    def classes(self, y: ArrayLike) -> IntArray:
        """(N,) labels as whole numbers from 0 to K-1."""
        y = _one_per_example(y)
        try:
            t = np.searchsorted(self.names, y).clip(max=self.K - 1)
            unknown = y[self.names[t] != y].tolist()
        except TypeError:  # types that have no order, such as words and None
            unknown = [v for v in y.tolist() if v not in self.names.tolist()]
        if unknown:
            raise ValueError(
                f"y must hold the {self.K} labels of the coding, "
                f"got {unknown[0]!r}"
            )
        return t.astype(np.int64)

    def signs(self, y: ArrayLike) -> FloatArray:
        """(N,) labels of two classes as -1 and +1."""
        self._require_two()
        return np.where(self.classes(y) == 1, 1.0, -1.0)

    def from_classes(self, t: ArrayLike) -> NDArray[Any]:
        """The labels of the data, from whole numbers 0 to K-1."""
        names: NDArray[Any] = self.names[_checks.classes(t, "t", self.K)]
        return names

    def from_signs(self, t: ArrayLike) -> NDArray[Any]:
        """The labels of the data, from -1 and +1."""
        self._require_two()
        t = _checks.signs(t, "t", np.size(t))
        names: NDArray[Any] = self.names[(t > 0).astype(np.intp)]
        return names

    def _require_two(self) -> None:
        if self.K != 2:
            raise ValueError(
                f"y must have two classes to be signs, got {self.K}; "
                "write classes, or see kernelbook.multiclass"
            )


def coding(y: ArrayLike) -> Coding:
    """The coding of the labels that occur in y, in sorted order.

    Parameters
    ----------
    y : (N,) labels: words, numbers or truth values, of two classes at least;
        a list, an array, or a column of a table

    Raises
    ------
    ValueError
        If y is empty, has one class only, misses a label (NaN, None, a mask),
        or mixes types that have no common order, words and numbers.

    Examples
    --------
    >>> coding([7, 3, 3, 9]).names
    array([3, 7, 9])
    """
    y = _one_per_example(y)
    try:
        names = np.unique(y)
    except TypeError:
        raise ValueError(_mixture(y)) from None
    if len(names) < 2:
        raise ValueError(
            f"y must hold two classes at least, got only {names.tolist()[0]!r}"
        )
    if names.dtype.kind in "fc" and not np.isfinite(names).all():
        raise ValueError("y must be finite or no numbers, got inf")
    return Coding(names)


def _one_per_example(y: Any) -> NDArray[Any]:
    """Labels as an array, refused if one is missing."""
    if isinstance(y, np.ma.MaskedArray):
        raise ValueError(
            "y must have no mask, got a masked array; drop or fill what is "
            "masked"
        )
    try:
        array = np.asarray(y)
    except ValueError:
        raise ValueError(_mixture(list(y))) from None
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            "y must hold one label per example, in one dimension and not "
            f"empty, got shape {array.shape}"
        )
    if array.dtype.kind in "US" and array is not y:
        _require_words(list(y))
    if array.dtype.kind == "T":  # NumPy's words of any length, half a type yet
        array = array.astype(object)
    _require_none_missing(array)
    return array


def _require_none_missing(y: NDArray[Any]) -> None:
    if y.dtype.kind in "fcmMO":  # words, whole numbers and bools cannot miss
        missing = [v for v in y.tolist() if _is_missing(v)]
        if missing:
            raise ValueError(f"y must miss no label, got {missing[0]!r}")


def _require_words(y: list[Any]) -> None:
    """NumPy makes words of the numbers in a list that has both."""
    if not all(isinstance(v, str | bytes) for v in y):
        raise ValueError(_mixture(y))


def _is_missing(label: Any) -> bool:
    """None, or what is not equal to itself: NaN, and pandas' NaT and NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # NA != NA is NA, neither true nor false
        return True


def _mixture(y: Any) -> str:
    types = sorted({type(v).__name__ for v in y})
    return (
        "y must hold labels that can be sorted, got a mixture of types: "
        f"{', '.join(types)}"
    )
