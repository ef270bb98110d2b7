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
    from 0 on.

    Examples
    --------
    >>> code = coding(["ham", "spam", "ham"])
    >>> code.signs(["spam", "ham"]), code.from_signs([1.0, -1.0]).tolist()
    (array([ 1., -1.]), ['spam', 'ham'])
    >>> code.classes(["spam", "ham"]), code.from_classes([1, 0]).tolist()
    (array([1, 0]), ['spam', 'ham'])
    """

    names: NDArray[Any]

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.names)

    def classes(self, y: ArrayLike) -> IntArray:
        """(N,) labels as whole numbers from 0 to K-1."""
        y = _one_per_example(y)
        t = np.searchsorted(self.names, y).clip(max=self.K - 1)
        unknown = y[self.names[t] != y]
        if unknown.size:
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
    y : (N,) labels: words, numbers or truth values, of two classes at least

    Raises
    ------
    ValueError
        If y is empty, has one class only, or holds NaN.

    Examples
    --------
    >>> coding([7, 3, 3, 9]).names
    array([3, 7, 9])
    """
    y = _one_per_example(y)
    try:
        names = np.unique(y)
    except TypeError:
        raise ValueError(
            "y must hold labels that can be sorted, got a mixture of types"
        ) from None
    if len(names) < 2:
        raise ValueError(f"y must hold two classes at least, got {names!r}")
    if names.dtype.kind in "fc" and not np.isfinite(names).all():
        raise ValueError("y must be finite or no numbers, got NaN or inf")
    return Coding(names)


def _one_per_example(y: ArrayLike) -> NDArray[Any]:
    y = np.asarray(y)
    if y.ndim != 1 or y.size == 0:
        raise ValueError(
            "y must hold one label per example, in one dimension and not "
            f"empty, got shape {y.shape}"
        )
    return y
