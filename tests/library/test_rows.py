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
    assert made(rows, "block", [1]) == [
        2
    ]  # all were asked for at once: 0 goes
    assert made(rows, "block", [2, 3, 1]) == []
    # A sum drives nobody out.
    assert made(rows, "times", [1, 5, 6]) == [6, 7]
    assert made(rows, "times", [1, 5, 6]) == [6, 7]
    assert made(rows, "block", [2, 3, 1]) == []


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
    A = np.linspace(-2, 2, 2000)[:, None]
    t = np.where(A[:, 0] > 0, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"k\(X\) of Broken\(\)"):
        svm.fit(Broken(), A, t, 1.0)


class Short(Kernel):
    """Forgets its columns."""

    def evaluate(self, X, Z):
        return (X @ Z.T)[:, :1]


def test_kernel_of_the_wrong_shape_is_named():
    A = np.linspace(-2, 2, 2000)[:, None]
    t = np.where(A[:, 0] > 0, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"evaluate of Short\(\) must give"):
        svm.fit(Short(), A, t, 1.0)
