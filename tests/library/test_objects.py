"""Kernels on sets, strings and graphs: counted slowly, and by their laws."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kernelbook import kernels, ridge
from kernelbook.kernels import (
    Graph,
    SetIntersection,
    Spectrum,
    WeisfeilerLehman,
)

sets = st.frozensets(st.integers(0, 6))
strings = st.text("abc", max_size=8)


@st.composite
def graphs(draw):
    N = draw(st.integers(0, 5))
    labels = draw(st.text("CO", min_size=N, max_size=N))
    pairs = list(itertools.combinations(range(N), 2))
    edges = [pair for pair in pairs if draw(st.booleans())]
    return Graph(labels, edges)


def slow_intersection(a, b):
    return sum(1 for x in a for y in b if x == y)


def slow_spectrum(s, t):
    return sum(
        s[i : i + 2] == t[j : j + 2]
        for i in range(len(s) - 1)
        for j in range(len(t) - 1)
    )


def slow_labels(graph, iterations):
    """Labels as nested tuples, nothing numbered."""
    near = {i: [] for i in range(len(graph.labels))}
    for i, j in graph.edges:
        near[i].append(j)
        near[j].append(i)
    now = [("start", label) for label in graph.labels]
    seen = list(now)
    for _ in range(iterations):
        now = [
            ("next", now[i], *sorted((now[j] for j in near[i]), key=repr))
            for i in near
        ]
        seen += now
    return Counter(seen)


def slow_weisfeiler_lehman(g, h):
    left, right = slow_labels(g, 2), slow_labels(h, 2)
    return sum(count * right[label] for label, count in left.items())


KINDS = [
    (SetIntersection(), sets, slow_intersection),
    (Spectrum(length=2), strings, slow_spectrum),
    (WeisfeilerLehman(iterations=2), graphs(), slow_weisfeiler_lehman),
]
every_kind = pytest.mark.parametrize(
    ("k", "objects", "slow"), KINDS, ids=lambda k: repr(k)[:20]
)


@every_kind
@given(data=st.data())
def test_object_kernels_keep_the_contract(k, objects, slow, data):
    A = data.draw(st.lists(objects, min_size=1, max_size=5))
    B = data.draw(st.lists(objects, min_size=1, max_size=5))
    assert_allclose(k(A, B), [[slow(a, b) for b in B] for a in A])
    K = k(A)
    assert np.array_equal(K, K.T)
    assert np.array_equal(K, k(A, list(A)))
    assert np.array_equal(k.diagonal(A), np.diag(K))
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * (1 + K.max())
    assert eval(repr(k)) == k


@given(st.lists(sets, min_size=1, max_size=6))
def test_set_kernel_of_the_handout_is_rule_7_on_intersections(A):
    k = kernels.exp(SetIntersection())
    loop = [[math.exp(len(a & b)) for b in A] for a in A]
    assert_allclose(k(A), loop)
    assert_allclose(k.diagonal(A), np.diag(loop))
    assert np.linalg.eigvalsh(k(A)).min() >= -1e-9 * np.max(loop)


def test_object_kernels_obey_the_algebra():
    words = ["abab", "bab", "c"]
    both = 2.0 * Spectrum(1) + Spectrum(2) * Spectrum(1)
    K1, K2 = Spectrum(1)(words), Spectrum(2)(words)
    assert np.array_equal(both(words), 2 * K1 + K2 * K1)
    assert (
        repr(both)
        == "2.0 * Spectrum(length=1) + Spectrum(length=2) * Spectrum(length=1)"
    )


@given(graphs(), st.randoms())
def test_weisfeiler_lehman_ignores_the_order_of_nodes_and_edges(graph, random):
    order = list(range(len(graph.labels)))
    random.shuffle(order)
    labels = [graph.labels[i] for i in order]
    place = {old: new for new, old in enumerate(order)}
    edges = [(place[j], place[i]) for i, j in graph.edges]
    random.shuffle(edges)
    k = WeisfeilerLehman(3)
    K = k([graph, Graph(labels, edges)])
    assert K[0, 0] == K[0, 1] == K[1, 1]


def test_a_whole_number_may_come_as_a_float():
    words, graph = ["abab"], Graph("CCO", [(0, 1), (1, 2)])
    assert repr(Spectrum(2.0)) == repr(Spectrum(2))
    assert repr(WeisfeilerLehman(1.0)) == repr(WeisfeilerLehman(1))
    assert Spectrum(2.0)(words) == Spectrum(2)(words)
    assert WeisfeilerLehman(1.0)([graph]) == WeisfeilerLehman(1)([graph])


def test_weisfeiler_lehman_without_iterations_counts_labels():
    g = Graph("CCO", [(0, 1), (1, 2)])
    assert WeisfeilerLehman(0)([g])[0, 0] == 2**2 + 1


def test_a_label_is_never_taken_for_a_neighbourhood():
    odd = Graph([(0,)], [])
    plain = Graph(["C"], [])
    assert WeisfeilerLehman(1)([plain], [odd])[0, 0] == 0


def test_six_ring_and_two_triangles_look_alike():
    ring = Graph("C" * 6, [(i, (i + 1) % 6) for i in range(6)])
    triangles = Graph(
        "C" * 6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    )
    K = WeisfeilerLehman(4)([ring, triangles])
    assert np.ptp(K) == 0


def test_graphs_are_values():
    assert Graph(["C", "O"], [[0, 1]]) == Graph("CO", ((0, 1),))
    assert len({Graph("C", []), Graph("C", ())}) == 1


def test_dual_ridge_does_not_ask_what_the_objects_are():
    A = [frozenset(s) for s in ("", "a", "b", "ab", "abc")]
    t = np.array([len(a) % 2 for a in A], dtype=float)
    k = kernels.exp(SetIntersection())
    a = ridge.fit_dual(k(A), t, lam=1e-6)
    assert_allclose(ridge.predict(a, k(A, A)), t, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Spectrum(2)("banana"),
            "X must be a sequence of str objects, got str",
        ),
        (
            lambda: Spectrum(2)(["banana"], [3]),
            "Z must contain str objects only, got int",
        ),
        (lambda: SetIntersection()([]), "X must not be empty"),
        (
            lambda: SetIntersection()({1, 2}),
            "X must be a sequence of Set objects, got set",
        ),
        (
            lambda: WeisfeilerLehman(1)([{1}]),
            "X must contain Graph objects only, got set",
        ),
        (lambda: Spectrum(0), "length must be a whole number >= 1, got 0"),
        (
            lambda: WeisfeilerLehman(-1),
            "iterations must be a whole number >= 0, got -1",
        ),
        (
            lambda: Graph("CC", [(0, 2)]),
            r"edges must join two different nodes out of 2, got \(0, 2\)",
        ),
        (lambda: Graph("CCC", [(0, 1, 2)]), "edges must have length 2, got 3"),
        (
            lambda: Graph("CC", [(1, 1)]),
            r"edges must join two different nodes out of 2, got \(1, 1\)",
        ),
        (
            lambda: (SetIntersection() + kernels.Linear())([{1}]),
            "X must be an array of numbers, got tuple",
        ),
        (
            lambda: (kernels.Linear() + SetIntersection())([[1.0]]),
            "X must contain Set objects only, got ndarray",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
