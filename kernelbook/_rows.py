"""Rows of a Gram matrix: of one that came, or made when they are asked for.

A solver that needs few rows of K asks for the block between some examples, or
for a sum of some rows, and never sees the whole.  Rows that a kernel has made
are kept while there is room; when there is none, those that were longest not
asked for make room.

The frame.  Where Σ_n v_n = 0, inner products may be taken from any origin in
feature space; from the example r they are K_nm - K_rm - K_nr + K_rr.  The
first difference, of nearly equal numbers, is exact.  The phantom, if there is
one, comes after the examples; its inner products are 0 until the origin is
moved.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook._expansion import chosen, gram
from kernelbook._gram import Prepared, number_of
from kernelbook.kernels import Kernel

Numbers = NDArray[np.intp]

MEMORY = 2e8  # bytes that rows may take, if nobody says otherwise
AT_ONCE = 65536  # entries of rows made or copied at a time: near the core
FEW = 512  # so many examples have all their rows made, half of each twice


class Rows(ABC):
    """The rows of a symmetric matrix: N examples, and perhaps a phantom."""

    base: FloatArray
    """Row of the example at the origin, before that was moved."""

    def __init__(self, N: int, memory: float = math.inf) -> None:
        self.N, self.memory = N, memory
        self.origin: int | None = None

    @property
    def whole_fits(self) -> bool:
        """Whether there is room for the whole matrix."""
        return self.memory >= 8 * self.N**2

    @property
    def widest(self) -> float:
        """Of how many rows a block, and two copies, fit into memory."""
        return math.sqrt(self.memory / 24)

    @abstractmethod
    def examples(self, n: Numbers) -> FloatArray:
        """K between the examples n, as it came."""

    @abstractmethod
    def part(self, n: Numbers) -> "Rows":
        """The matrix of the examples n, not framed."""

    @abstractmethod
    def frame(self, phantom: bool, origin: int | None) -> None:
        """Add a phantom, and move the origin."""

    @abstractmethod
    def block(self, n: Numbers) -> FloatArray:
        """The matrix between the rows n, in an array of its own."""

    @abstractmethod
    def times(self, n: Numbers, x: FloatArray) -> FloatArray:
        """Σ_i x_i (row n_i)."""

    @abstractmethod
    def sizes(self, n: Numbers, x: FloatArray) -> FloatArray:
        """Σ_i |x_i| |row n_i|, what the rounding of the sum is relative to."""


class Given(Rows):
    """The rows of a matrix that is there."""

    def __init__(self, K: FloatArray) -> None:
        super().__init__(len(K))
        self.K = self.seen = K

    def examples(self, n: Numbers) -> FloatArray:
        """K between the examples n, as it came."""
        K: FloatArray = self.K[np.ix_(n, n)]
        return K

    def part(self, n: Numbers) -> "Given":
        """The matrix of the examples n, not framed."""
        return Given(self.examples(n))

    def frame(self, phantom: bool, origin: int | None) -> None:
        """Add a phantom, and move the origin."""
        if phantom:
            self.seen = np.pad(self.K, (0, 1))
        if origin is not None:
            self.origin, self.base = origin, self.K[origin]
            moved = self.seen - self.seen[origin]
            moved -= moved[:, [origin]]
            self.seen = (moved + moved.T) / 2

    def block(self, n: Numbers) -> FloatArray:
        """The matrix between the rows n, in an array of its own."""
        K: FloatArray = self.seen[np.ix_(n, n)]
        return K

    def times(self, n: Numbers, x: FloatArray) -> FloatArray:
        """Σ_i x_i (row n_i)."""
        return combined(self.seen, n, x)

    def sizes(self, n: Numbers, x: FloatArray) -> FloatArray:
        """Σ_i |x_i| |row n_i|, what the rounding of the sum is relative to."""
        total: FloatArray = np.abs(x) @ np.abs(self.seen[n])
        return total


class Made(Rows):
    """Rows that a kernel makes, kept in so many bytes.

    ``slot`` says where in the ``store`` a row is, or -1; ``owner`` which row
    is in a slot, and ``asked`` when that was asked for last.
    """

    def __init__(self, k: Kernel, X: Any, memory: float = MEMORY) -> None:
        P = k.prepare(X)
        super().__init__(number_of(P), memory)
        self.k, self.X, self.P = k, X, P
        self.frame(phantom=False, origin=None)

    def examples(self, n: Numbers) -> FloatArray:
        """K between the examples n, as it came."""
        return gram(self.k, chosen(self.X, n))

    def part(self, n: Numbers) -> Rows:
        """The matrix of the examples n, not framed."""
        return rows_of(self.k, chosen(self.X, n), self.memory / 4)

    def frame(self, phantom: bool, origin: int | None) -> None:
        """Add a phantom, and move the origin."""
        self.size = self.N + phantom
        self.origin = None
        if origin is not None:
            self.base = self._new(np.array([origin]))[0]
        self.origin = origin
        self.store = np.empty((0, 0))  # the old one goes before the new comes
        room = int(self.memory / (8 * self.size))
        self.store = np.empty((max(1, min(room, self.size)), self.size))
        self.slot = np.full(self.size, -1)
        self.owner = np.full(len(self.store), -1)
        self.asked = np.zeros(len(self.store), int)
        self.clock = 0

    def block(self, n: Numbers) -> FloatArray:
        """The matrix between the rows n, in an array of its own."""
        if len(n) > len(self.store):
            return np.vstack([self._new(part)[:, n] for part in self._few(n)])
        self._keep(n)
        K: FloatArray = self.store[np.ix_(self.slot[n], n)]
        return K

    def times(self, n: Numbers, x: FloatArray) -> FloatArray:
        """Σ_i x_i (row n_i); rows for which there is no room are not kept."""
        free = int((self.owner < 0).sum())
        missing = np.flatnonzero(self.slot[n] < 0)
        self._keep(n[missing[:free]])
        total = self._from_store(n, x)
        for few in self._few(missing[free:]):
            total += x[few] @ self._new(n[few])
        return total

    def sizes(self, n: Numbers, x: FloatArray) -> FloatArray:
        """Σ_i |x_i| |row n_i|, what the rounding of the sum is relative to."""
        total = np.zeros(self.size)
        for few in self._few(np.arange(len(n))):
            total += np.abs(x[few]) @ np.abs(self._new(n[few]))
        return total

    def _from_store(self, n: Numbers, x: FloatArray) -> FloatArray:
        """What the rows that are kept add to the sum."""
        kept = self.slot[n] >= 0
        slots = self.slot[n[kept]]
        self._touch(slots)
        return combined(self.store, slots, x[kept])

    def _keep(self, n: Numbers) -> None:
        """Make the rows n, if they are not there; not more than the store."""
        there = self.slot[n]
        self._touch(there[there >= 0])
        missing = n[there < 0]
        slots = self._room(len(missing))
        for few in self._few(np.arange(len(missing))):
            self.store[slots[few]] = self._new(missing[few])
        self.slot[missing], self.owner[slots] = slots, missing
        self._touch(slots)

    def _room(self, count: int) -> Numbers:
        """Slots for so many rows: the free ones first, from the front."""
        slots = np.argsort(self.asked, kind="stable")[:count]
        old = self.owner[slots]
        self.slot[old[old >= 0]] = -1
        return slots

    def _touch(self, slots: Numbers) -> None:
        self.clock += 1
        self.asked[slots] = self.clock

    def _few(self, n: Numbers) -> list[Numbers]:
        """The numbers, few enough at a time."""
        at_once = max(1, AT_ONCE // self.size)
        return [n[i : i + at_once] for i in range(0, len(n), at_once)]

    def _new(self, n: Numbers) -> FloatArray:
        """The rows n, made now."""
        K = np.zeros((len(n), self.size))
        inside = n < self.N
        K[inside, : self.N] = self._values(_picked(self.P, n[inside]))
        if self.origin is not None:
            K -= self.base
            K -= K[:, [self.origin]]
        return K

    def _values(self, P: Any) -> FloatArray:
        """Kernel values between some prepared inputs and all."""
        if isinstance(self.X, np.ndarray):
            all_of = slice(0, number_of(P)), slice(0, self.N)
            K = self.k.tiles(P, self.P)(*all_of)
        else:
            K = self.k.evaluate(P, self.P)  # objects, or sparse
        return _checks.matrix(K, f"k(X) of {self.k}")


def rows_of(k: Kernel, X: Any, memory: float = MEMORY) -> Rows:
    """The rows of k(X): all at once if they are few."""
    if number_of(X) <= FEW:
        return Given(gram(k, X))
    return Made(k, X, memory)


def combined(K: FloatArray, n: Numbers, x: FloatArray) -> FloatArray:
    """Σ_i x_i (row n_i of K); many rows are read where they are."""
    if len(n) * K.shape[1] <= AT_ONCE:
        few: FloatArray = x @ K[n]
        return few
    row = csr_array((x, n, np.array([0, len(n)])), (1, len(K)))
    total: FloatArray = (row @ K)[0]
    return total


def _picked(P: Any, n: Numbers) -> Any:
    """Some of the inputs, or of what was prepared from them, by number."""
    if isinstance(P, Prepared):
        return Prepared(_picked(one, n) for one in P)
    return chosen(P, n)
