"""Kernels on objects that are not vectors: sets, strings, graphs.

Each takes an object apart and counts the parts; the kernel is the inner
product of the counts, k(a, b) = Σ_p count_p(a) count_p(b).  They are called
like the kernels on vectors, ``k(A, B)`` on two sequences of objects, and obey
the same algebra: ``kernels.exp(SetIntersection())`` is a kernel on sets.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook.kernels.base import setting
from kernelbook.kernels.rules import Kernel


class CountingKernel(Kernel):
    """k(a, b) = Σ_p n_p(a) n_p(b), with n_p(a) how often a has the part p."""

    kind: ClassVar[type]

    @abstractmethod
    def parts(self, objects: Sequence[Any]) -> list[Counter[Any]]:
        """For every object, how often each of its parts occurs."""

    def check(self, X: Any, name: str) -> tuple[Any, ...]:
        """A sequence of objects of the kernel's kind."""
        return _sequence(X, name, self.kind)

    def evaluate(self, X: Any, Z: Any) -> FloatArray:
        """Inner products of the rows of counts."""
        Phi = _count_matrix(self.parts(X if Z is X else (*X, *Z)))
        left, right = Phi[: len(X)], Phi[-len(Z) :]
        K: FloatArray = (left @ right.T).toarray()
        return K

    def evaluate_diagonal(self, X: Any) -> FloatArray:
        """Sums of the squared counts."""
        squares = (sum(n * n for n in p.values()) for p in self.parts(X))
        return np.array([float(square) for square in squares])


class SetIntersection(CountingKernel):
    """Size of the intersection, k(A, B) = ``|A ∩ B|``: parts are elements.

    Examples
    --------
    >>> SetIntersection()([{"tea", "milk"}], [{"milk", "honey"}, {"rum"}])
    array([[1., 0.]])
    """

    kind = Set

    def parts(self, objects: Sequence[Any]) -> list[Counter[Any]]:
        """The elements of each set, once each."""
        return [Counter(members) for members in objects]


class Spectrum(CountingKernel):
    """Spectrum kernel on strings: the parts are substrings of one length.

    k(s, s') = Σ_u n_u(s) n_u(s'), over all strings u of that length, with
    n_u(s) how often u stands in s.

    Examples
    --------
    >>> Spectrum(length=2)(["banana"], ["bandana", "cat"])
    array([[7., 0.]])
    """

    kind = str
    length: int = setting(_checks.count)

    def parts(self, objects: Sequence[Any]) -> list[Counter[Any]]:
        """The substrings of each string, overlaps included."""
        return [
            Counter(s[i : i + self.length] for i in _starts(s, self.length))
            for s in objects
        ]


def _count_from_zero(value: Any, name: str) -> int:
    return _checks.count(value, name, least=0)


@dataclass(frozen=True)
class Graph:
    """An undirected graph: a label for every node, and pairs of nodes.

    Examples
    --------
    >>> Graph(labels="CCO", edges=[(0, 1), (1, 2)]).neighbours()
    [[1], [0, 2], [1]]
    """

    labels: Sequence[Hashable]
    edges: Sequence[tuple[int, int]]

    def __post_init__(self) -> None:
        nodes = range(len(self.labels))
        for edge in self.edges:
            ends = _checks.vector(edge, "edges", 2)
            if not set(ends) <= set(nodes) or ends[0] == ends[1]:
                raise ValueError(
                    "edges must join two different nodes out of "
                    f"{len(nodes)}, got {tuple(edge)}"
                )
        edges = tuple((int(i), int(j)) for i, j in self.edges)
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "edges", edges)

    def neighbours(self) -> list[list[int]]:
        """For every node, the nodes that share an edge with it."""
        lists: list[list[int]] = [[] for _ in self.labels]
        for i, j in self.edges:
            lists[i].append(j)
            lists[j].append(i)
        return lists


class WeisfeilerLehman(CountingKernel):
    """Weisfeiler–Lehman subtree kernel on graphs: the parts are labels.

    In each iteration a node's new label stands for its old label together
    with the old labels of its neighbours.  The kernel counts the labels of
    all iterations, those given at the start included.

    Examples
    --------
    >>> path = Graph("CCC", [(0, 1), (1, 2)])
    >>> triangle = Graph("CCC", [(0, 1), (1, 2), (2, 0)])
    >>> WeisfeilerLehman(iterations=1)([path], [path, triangle])
    array([[14., 12.]])
    """

    kind = Graph
    iterations: int = setting(_count_from_zero)

    def parts(self, objects: Sequence[Any]) -> list[Counter[Any]]:
        """The labels of each graph, numbered as they are first seen."""
        names: dict[Hashable, int] = {}
        return [self._labels(graph, names) for graph in objects]

    def _labels(
        self, graph: Graph, names: dict[Hashable, int]
    ) -> Counter[Any]:
        def name(description: Hashable) -> int:
            return names.setdefault(description, len(names))

        neighbours = graph.neighbours()
        now = [name((None, label)) for label in graph.labels]
        counts = Counter(now)
        for _ in range(self.iterations):
            around = [sorted(now[j] for j in near) for near in neighbours]
            now = [
                name((own, *others))
                for own, others in zip(now, around, strict=True)
            ]
            counts.update(now)
        return counts


def _starts(s: str, length: int) -> range:
    return range(len(s) - length + 1)


def _sequence(objects: Any, name: str, kind: type) -> tuple[Any, ...]:
    """A non-empty sequence of objects of one kind."""
    if isinstance(objects, str) or not isinstance(
        objects, Sequence | np.ndarray
    ):
        raise ValueError(
            f"{name} must be a sequence of {kind.__name__} objects, "
            f"got {type(objects).__name__}"
        )
    if len(objects) == 0:
        raise ValueError(f"{name} must not be empty")
    for item in objects:
        if not isinstance(item, kind):
            raise ValueError(
                f"{name} must contain {kind.__name__} objects only, "
                f"got {type(item).__name__}"
            )
    return tuple(objects)


def _count_matrix(bags: list[Counter[Any]]) -> Any:
    """One sparse row of counts per bag, one column per part."""
    columns: dict[Any, int] = {}
    indices, counts, ends = [], [], [0]
    for bag in bags:
        for part, count in bag.items():
            indices.append(columns.setdefault(part, len(columns)))
            counts.append(float(count))
        ends.append(len(indices))
    shape = (len(bags), len(columns))
    return csr_array((counts, indices, ends), shape=shape)
