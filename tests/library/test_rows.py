"""Rows that are made on demand are those of the Gram matrix, in any frame."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelbook import _rows, kernels, svm
from kernelbook.kernels import Kernel

N = 60
X = np.random.default_rng(0).standard_normal((N, 3))
k = kernels.Gaussian(0.3) + 2.0 * kernels.Linear()
FRAMES = [(False, None), (True, None), (False, 7), (True, 7)]


def framed(K, phantom, origin):
    """The same matrix by hand: features moved, a phantom at their zero."""
    K = np.pad(K, (0, int(phantom)))
    if origin is None:
        return K
    r = K[origin]
    return K - r - r[:, None] + r[origin]


def both(memory=1e9):
    return _rows.Given(k(X)), _rows.Made(k, X, memory)


@pytest.mark.parametrize("at_once", [0, 14, 15, 10**6])
def test_many_rows_are_added_where_they_are(at_once, monkeypatch):
    monkeypatch.setattr(_rows, "AT_ONCE", at_once)
    K, x = np.arange(20.0).reshape(4, 5) ** 2, np.array([0.5, 3.0, -2.0])
    made = []
    monkeypatch.setattr(
        _rows,
        "csr_array",
        lambda *a, new=_rows.csr_array: made.append(a) or new(*a),
    )
    for n in [[3, 0, 1], [1, 2, 3]]:
        by_hand = sum(a * K[i] for a, i in zip(x, n, strict=True))
        assert_allclose(_rows.combined(K, np.array(n), x), by_hand)
    assert len(made) == (2 if at_once < 15 else 0)


@pytest.mark.parametrize("room", [1, 2, 10, N])
@pytest.mark.parametrize(("phantom", "origin"), FRAMES)
def test_rows_are_those_of_the_gram_matrix(phantom, origin, room):
    K = framed(k(X), phantom, origin)
    rng = np.random.default_rng(1)
    for rows in both(8 * len(K) * room):
        rows.frame(phantom, origin)
        for count in [0, 1, 3, 25, len(K)]:
            n = rng.permutation(len(K))[:count]
            x = rng.standard_normal(count)
            assert_allclose(rows.block(n), K[np.ix_(n, n)], atol=1e-13)
            assert_allclose(rows.times(n, x), x @ K[n], atol=1e-12)
            size = np.abs(x) @ np.abs(K[n])
            assert_allclose(rows.sizes(n, x), size, atol=1e-12)


def test_given_matrix_is_left_alone():
    K = k(X)
    before = K.copy()
    rows = _rows.Given(K)
    rows.frame(True, 3)
    rows.block(np.arange(5))[:] = 7.0
    assert_array_equal(K, before)
    assert_array_equal(rows.base, before[3])
    assert_array_equal(rows.seen, rows.seen.T)


def test_part_is_the_matrix_of_some_examples():
    n = np.array([3, 8, 20])
    for rows in both():
        rows.frame(True, 7)
        part = rows.part(n)
        part.frame(False, None)
        assert_allclose(part.block(np.arange(3)), k(X)[np.ix_(n, n)])
        assert_allclose(rows.examples(n), k(X)[np.ix_(n, n)])


class Counting(Kernel):
    """The linear kernel, with a count of the rows that were made."""

    made = []  # noqa: RUF012

    def evaluate(self, X, Z):
        if len(Z) > 3:
            self.made.extend(X[:, 0].tolist())
        return X @ Z.T


def made(rows, what, n):
    Counting.made.clear()
    n = np.array(n)
    if what == "times":
        rows.times(n, np.ones(len(n)))
    else:
        rows.block(n)
    return Counting.made.copy()


def test_what_was_longest_not_asked_for_makes_room():
    A = np.arange(8.0)[:, None] + 1.0
    rows = _rows.Made(Counting(), A, 8 * 8 * 3)
    assert made(rows, "block", [0, 1]) == [1, 2]
    assert made(rows, "block", [0]) == []
    assert made(rows, "block", [2]) == [3]
    assert made(rows, "block", [3]) == [4]  # in the place of 1
    assert made(rows, "times", [0, 2, 3]) == []
    assert made(rows, "block", [1]) == [2]  # in the place of 0, the first
    assert made(rows, "block", [2, 3, 1]) == []
    # A sum drives nobody out.
    assert made(rows, "times", [1, 5, 6]) == [6, 7]
    assert made(rows, "times", [1, 5, 6]) == [6, 7]
    assert made(rows, "block", [2, 3, 1]) == []
    assert made(rows, "block", [0]) == [1]


def test_sum_keeps_rows_while_there_is_room():
    A = np.arange(8.0)[:, None] + 1.0
    rows = _rows.Made(Counting(), A, 8 * 8 * 3)
    made(rows, "block", [0])
    assert made(rows, "times", [1, 2, 3]) == [2, 3, 4]
    assert made(rows, "times", [0, 1, 2]) == []


def test_who_is_asked_for_stays():
    A = np.arange(8.0)[:, None] + 1.0
    rows = _rows.Made(Counting(), A, 8 * 8 * 3)
    for n in [0, 1, 2]:
        made(rows, "block", [n])
    assert made(rows, "block", [0, 1, 5]) == [6]  # in the place of 2
    assert made(rows, "block", [0, 1, 5]) == []
    for n in [0, 1, 5]:
        made(rows, "block", [n])
    made(rows, "times", [0])
    assert made(rows, "block", [6]) == [7]  # in the place of 1
    assert made(rows, "block", [0]) == []


@pytest.mark.parametrize(("entries", "most"), [(4, 1), (16, 2), (24, 3)])
def test_rows_are_made_few_at_a_time(entries, most, monkeypatch):
    monkeypatch.setattr(_rows, "AT_ONCE", entries)
    rows = _rows.Made(Counting(), np.ones((8, 1)))
    few = rows._few(np.arange(7))
    assert [len(n) for n in few[:-1]] == [most] * (6 // most)
    assert_array_equal(np.concatenate(few), np.arange(7))


def test_room_is_counted_in_bytes(monkeypatch):
    rows = _rows.Made(k, X, 8 * N**2)
    assert rows.whole_fits
    assert not _rows.Made(k, X, 8 * N**2 - 1).whole_fits
    assert len(_rows.Made(k, X, 1.0).store) == 1
    assert _rows.Made(k, X, 2400.0).widest == 10
    assert isinstance(rows.part(np.arange(3)), _rows.Given)
    monkeypatch.setattr(_rows, "FEW", 3)
    assert isinstance(rows.part(np.arange(3)), _rows.Given)
    part = rows.part(np.arange(4))
    assert isinstance(part, _rows.Made)
    assert part.memory == 2 * N**2


def test_memory_is_bounded():
    A = np.random.default_rng(0).standard_normal((3000, 2))
    t = np.where(A[:, 0] + A[:, 1] ** 2 > 0.5, 1.0, -1.0)
    peaks = []
    for memory in [4e6, 64e6]:
        tracemalloc.start()
        svm.fit(kernels.Gaussian(1.0), A, t, 10.0, memory=memory)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < 4e6 + 6e6  # the whole matrix is 72 MB
    assert peaks[1] < 64e6 + 8e6


class Broken(Kernel):
    """Not a number where both inputs are large."""

    def evaluate(self, X, Z):
        return np.where((X > 1.999) & (Z > 1.999).T, np.nan, X @ Z.T)


def test_kernel_that_is_not_finite_is_named():
    rows = _rows.Made(Broken(), np.linspace(-2, 2, 20)[:, None])
    rows.block(np.arange(19))
    with pytest.raises(ValueError, match=r"k\(X\) of Broken\(\)"):
        rows.block(np.arange(20))


class Short(Kernel):
    """Forgets its columns."""

    def evaluate(self, X, Z):
        return (X @ Z.T)[:, :1]


def test_kernel_of_the_wrong_shape_is_named():
    A = np.linspace(-2, 2, 2000)[:, None]
    t = np.where(A[:, 0] > 0, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"evaluate of Short\(\) must give"):
        svm.fit(Short(), A, t, 1.0)
