"""Count multiplications by running an algorithm on numbers that count.

Timings depend on the machine; counts do not.  ``Tally.numbers`` turns an array
into an array of numbers that report every multiplication and division to their
tally.  Whatever is then computed with them, by ``@`` or by loops, is counted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks

ObjectArray = NDArray[np.object_]


class Tally:
    """How many multiplications and divisions its numbers took part in.

    Examples
    --------
    >>> tally = Tally()
    >>> x = tally.numbers([1.0, 2.0, 3.0])
    >>> float(x @ x), tally.multiplications
    (14.0, 3)
    >>> float(x[0] / x[1]), tally.multiplications, tally.divisions
    (0.5, 4, 1)
    """

    def __init__(self) -> None:
        self.multiplications = 0  # and divisions
        self.divisions = 0  # of these

    def numbers(self, values: ArrayLike) -> ObjectArray:
        """An array of the same shape whose entries count."""
        flat = _checks.vector(np.ravel(values), "values")
        entries = np.empty(len(flat), dtype=object)
        entries[:] = [Number(value, self) for value in flat]
        return entries.reshape(np.shape(values))


class Number:
    """A float that reports its multiplications and divisions."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Tally) -> None:
        self.value = float(value)
        self.tally = tally

    def __float__(self) -> float:
        return self.value

    def __add__(self, other: Any) -> Number:
        return Number(self.value + float(other), self.tally)

    def __sub__(self, other: Any) -> Number:
        return Number(self.value - float(other), self.tally)

    def __mul__(self, other: Any) -> Number:
        self.tally.multiplications += 1
        return Number(self.value * float(other), self.tally)

    def __truediv__(self, other: Any) -> Number:
        self.tally.multiplications += 1
        self.tally.divisions += 1
        return Number(self.value / float(other), self.tally)

    def __pow__(self, power: int) -> Number:
        """By repeated multiplication, as on paper."""
        product = self
        for _ in range(power - 1):
            product = product * self
        return product

    def sqrt(self) -> Number:
        """The square root, not counted; ``np.sqrt`` calls it."""
        return Number(math.sqrt(self.value), self.tally)

    __radd__ = __add__
    __rmul__ = __mul__


def cholesky_solve(A: ObjectArray, b: ObjectArray) -> ObjectArray:
    """Solve Ax = b for a positive definite A, as the textbooks write it.

    For an n × n system this takes m = (n³ + 9n² + 2n)/6 multiplications and
    divisions: about n³/6 for A = LLᵀ, the rest for two triangular solves.
    Of these d = n(n + 3)/2 are divisions.

    Examples
    --------
    >>> tally = Tally()
    >>> A, b = tally.numbers([[4.0, 2.0], [2.0, 5.0]]), tally.numbers([8, 8])
    >>> [float(x) for x in cholesky_solve(A, b)]
    [1.5, 1.0]
    """
    n = len(b)
    L, x = A.copy(), b.copy()
    for j in range(n):
        for i in range(j, n):
            for k in range(j):
                L[i, j] = L[i, j] - L[i, k] * L[j, k]
            L[i, j] = np.sqrt(L[j, j]) if i == j else L[i, j] / L[j, j]
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i, k] * x[k]
        x[i] = x[i] / L[i, i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k, i] * x[k]
        x[i] = x[i] / L[i, i]
    return x
