"""Gram matrices by tiles, and squared distances by a product or without."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from kernelbook import _gram


def cloud(N, D, seed):
    return np.random.default_rng(seed).standard_normal((N, D))


@pytest.mark.parametrize("N", [1, _gram.TILE, 2 * _gram.TILE + 3])
def test_a_symmetric_matrix_is_made_of_what_stands_above_its_diagonal(N):
    values = cloud(N, N, seed=N)
    made = []

    def tile(rows, columns):
        made.append((rows.start, columns.start))
        return values[rows, columns]

    K = _gram.by_tiles(tile, N, N, symmetric=True)
    assert np.array_equal(K, np.triu(values) + np.triu(values, 1).T)
    assert made == [(n, m) for n, m in made if n <= m]
    assert np.array_equal(_gram.by_tiles(tile, N, N, symmetric=False), values)


@pytest.mark.parametrize("scale", [0.3, 1.5, -0.3, -1.5])
@pytest.mark.parametrize("D", [1, 8, 9, 40])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_squared_distances_are_scipys_and_keep_their_sign(scale, D, shift):
    X, Z = shift + cloud(30, D, seed=0), shift + cloud(20, D, seed=1)
    Z[:9] = X[5:14]  # a distance of zero, and what is left of it by rounding
    for A, B in [(X, Z), (Z, X), (X, X), (X, X.copy())]:
        S = _gram.squared_distances(A, B, scale)
        exact = scale * cdist(A, B, "sqeuclidean")
        assert_allclose(S, exact, rtol=1e-13, atol=1e-13)
        assert (S * scale >= 0).all()
    S = _gram.squared_distances(X, X, scale)
    assert not S.diagonal().any()


def test_the_product_is_for_many_columns():
    for D, product in [(8, False), (9, True)]:
        X = cloud(5, D, seed=2)
        assert _gram.SquaredDistances(X, X, 0.1).product == product


@pytest.mark.parametrize("scale", [1.0, 4.0, -4.0])
@pytest.mark.parametrize("seen", ["X", "Z", "both"])
def test_the_product_is_for_points_that_are_all_near_the_mean(scale, seen):
    """Their scaled squared distance from it is at most ``SPREAD``."""
    near, edge = np.zeros((4, 9)), np.zeros((4, 9))
    edge[:2, :2] = [[4.0, 4.0], [-4.0, -4.0]]  # around zero; ‖x‖² = 32
    edge /= abs(scale) ** 0.5
    assert _gram.SPREAD == 32.0
    for factor, product in [(1.0, True), (1.0 + 1e-9, False)]:
        far = edge * factor
        X = near if seen == "Z" else far
        Z = near if seen == "X" else far
        assert _gram.SquaredDistances(X, Z, scale).product == product


def test_only_tiles_on_the_diagonal_have_a_diagonal_of_zeros():
    X = cloud(10, 9, seed=3)
    tiles = _gram.SquaredDistances(X, X, 0.1)
    exact = 0.1 * cdist(X, X, "sqeuclidean")
    assert tiles.product
    for rows, columns in [(0, 0), (0, 5), (5, 0), (5, 5)]:
        place = slice(rows, rows + 5), slice(columns, columns + 5)
        assert_allclose(tiles(*place), exact[place], atol=1e-13)


def test_what_was_prepared_of_the_same_inputs_is_counted_and_cut_together():
    X, names = cloud(5, 2, seed=4), list("abcde")
    both = _gram.Prepared([X, _gram.Prepared([names])])
    some = _gram.cut(both, slice(1, 3))
    assert isinstance(some, _gram.Prepared)
    assert np.array_equal(some[0], X[1:3])
    assert some[1] == _gram.Prepared([["b", "c"]])
    alone = _gram.Prepared([names])
    assert [_gram.number_of(one) for one in (both, alone, X)] == [5, 5, 5]


def test_squared_distances_are_not_scaled_unless_told():
    X = cloud(4, 3, seed=5)
    exact = cdist(X, X, "sqeuclidean")
    assert_allclose(_gram.squared_distances(X, X), exact)
