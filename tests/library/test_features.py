"""Explicit monomials against kernels, counts against enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.preprocessing import PolynomialFeatures

from kernelbook import features, kernels, toydata

dimensions = st.integers(1, 5)
degrees = st.integers(1, 5)
seeds = st.integers(0, 10**6)


def two_clouds(D, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((4, D)), rng.standard_normal((3, D))


def tanh_kernel(X, Z):
    return np.tanh(X @ Z.T)


def ones(X, Z):
    return np.ones((len(X), len(Z)))


def test_powers_and_bumps_are_their_formulas():
    x, centres, width = [0.0, -2.0, 3.0], [1.0, -0.5], 0.7
    loop = [[x_n**j for j in range(4)] for x_n in x]
    assert_allclose(features.powers(x, 3), loop)
    assert_allclose(features.powers(x, 0), np.ones((3, 1)))
    loop = [
        [math.exp(-(((x_n - c) / width) ** 2) / 2) for c in centres]
        for x_n in x
    ]
    assert_allclose(features.bumps(x, centres, width), loop)


@given(dimensions, degrees, seeds)
def test_products_of_monomials_are_the_homogeneous_kernel(D, degree, seed):
    X, Z = two_clouds(D, seed)
    K = features.monomials(X, degree) @ features.monomials(Z, degree).T
    loop = [[math.fsum(x * z) ** degree for z in Z] for x in X]
    assert_allclose(K, loop, atol=1e-10)


@given(dimensions, degrees, seeds, st.floats(0, 3))
def test_a_constant_coordinate_makes_the_inhomogeneous_kernel(
    D, degree, seed, c
):
    X, Z = two_clouds(D, seed)
    Phi, Psi = (
        features.monomials(features.append_constant(A, c), degree)
        for A in (X, Z)
    )
    k = kernels.Polynomial(degree, c)
    assert_allclose(Phi @ Psi.T, k(X, Z), rtol=1e-9, atol=1e-9)


@given(st.integers(1, 6), st.integers(0, 6))
def test_exponents_are_all_vectors_with_that_sum(D, degree):
    rows = features.exponents(D, degree).tolist()
    everything = itertools.product(range(degree + 1), repeat=D)
    assert len(rows) == features.count_monomials(D, degree)
    assert sorted(map(tuple, rows)) == [
        q for q in everything if sum(q) == degree
    ]


@pytest.mark.parametrize(("D", "degree"), [(1, 4), (2, 2), (3, 3), (4, 2)])
def test_count_is_the_rank_of_the_gram_matrix(D, degree):
    X = np.random.default_rng(D).standard_normal((60, D))
    K = kernels.Polynomial(degree)(X)
    assert np.linalg.matrix_rank(K) == features.count_monomials(D, degree)


def test_monomials_without_weights_are_scikit_learns():
    X = np.random.default_rng(1).standard_normal((5, 3))
    theirs = PolynomialFeatures((3, 3), include_bias=False).fit_transform(X)
    ways = features.monomials(np.ones((1, 3)), 3)
    assert_allclose(features.monomials(X, 3) / ways, theirs)


def test_counts_beyond_64_bits_are_exact():
    by_product = 1
    for j in range(40):
        by_product = by_product * (10**6 + j) // (j + 1)
    assert features.count_monomials(10**6, 40) == by_product > 2**64
    assert features.count_monomials(2**60 + 1, 1) == 2**60 + 1


@given(dimensions, degrees, seeds)
def test_kernel_distances_are_distances_of_features(D, degree, seed):
    X, Z = two_clouds(D, seed)
    Phi, Psi = features.monomials(X, degree), features.monomials(Z, degree)
    k = kernels.Polynomial(degree)
    direct = [[((f - g) ** 2).sum() for g in Psi] for f in Phi]
    scale = 1e-12 * (1 + np.abs(direct).max())
    assert_allclose(
        features.kernel_distances(k, X, Z), direct, rtol=1e-7, atol=scale
    )
    to_mean = ((Psi - Phi.mean(axis=0)) ** 2).sum(axis=1)
    assert_allclose(
        features.kernel_mean_distances(k, X, Z),
        to_mean,
        rtol=1e-7,
        atol=1e-12 * (1 + (Phi**2).sum() + (Psi**2).sum()),
    )


def test_distances_of_many_points_are_those_of_each():
    X = np.random.default_rng(2).standard_normal((150, 2))
    direct = ((X[:, None] - X) ** 2).sum(axis=2)
    S = features.kernel_distances(kernels.Linear(), X, X)
    assert_allclose(S, direct, atol=1e-12)


def test_points_without_features_are_at_distance_zero():
    k, origin = kernels.Linear(), np.zeros((2, 3))
    assert not features.kernel_distances(k, origin, origin).any()


def test_distances_lost_in_rounding_are_zero_not_negative():
    X = np.random.default_rng(0).standard_normal((30, 3)) * 1e4
    k = kernels.Polynomial(3, 1.0)
    raw = np.diag(k(X))[:, None] + np.diag(k(X)) - 2 * k(X, X.copy())
    S = features.kernel_distances(k, X, X + 1e-9)
    assert S.min() == 0.0
    assert np.all(np.diag(S) <= 1e-11 * np.diag(k(X)))
    assert np.all(np.abs(S - raw) <= 1e-11 * k(X).max())


def test_the_twelfth_digit_decides_what_is_rounding():
    def beyond(gap):
        return lambda X, Z: np.where(X == Z.T, 1.0, 1.0 + gap)

    ours = features.kernel_distances(beyond(1e-12), [[1.0]], [[2.0]])
    assert np.array_equal(ours, [[0.0]])
    with pytest.raises(ValueError, match="squared distance -2e-11"):
        features.kernel_distances(beyond(1e-11), [[1.0]], [[2.0]])


def test_a_negative_square_is_reported_not_hidden():
    for distances in (
        features.kernel_distances,
        features.kernel_mean_distances,
    ):
        with pytest.raises(ValueError, match=r"kernel, got the .* -0\.167"):
            distances(tanh_kernel, [[1.0]], [[2.0], [1.0]])


def test_the_largest_affordable_array_is_made(monkeypatch):
    monkeypatch.setattr(features, "MOST_ENTRIES", 6)
    assert features.monomials(np.ones((2, 2)), 2).size == 6
    with pytest.raises(ValueError, match=r"3 monomials .* for N = 3; use"):
        features.monomials(np.ones((3, 2)), 2)


def test_inputs_are_left_alone():
    X, Z = two_clouds(2, 0)
    before = X.copy(), Z.copy()
    features.monomials(X, 3)
    features.append_constant(X, 1.0)
    features.kernel_distances(kernels.Gaussian(1.0), X, Z)
    features.kernel_mean_distances(kernels.Gaussian(1.0), X, Z)
    assert np.array_equal(X, before[0])
    assert np.array_equal(Z, before[1])


def test_rings_have_their_radii_and_alternate():
    X, t = toydata.two_rings(4000, noise=0.1, rng=3)
    radius = np.hypot(X[:, 0], X[:, 1])
    assert np.array_equal(t[:4], [-1, 1, -1, 1])
    for label, mean in [(-1, 1.0), (1, 2.0)]:
        assert_allclose(radius[t == label].mean(), mean, rtol=0.01)
        assert_allclose(radius[t == label].std(), 0.1, rtol=0.1)
    assert_allclose(X.mean(axis=0), 0, atol=0.1)


def test_the_first_weight_of_inputs_with_a_bias_is_added_to_each_output():
    X, w, b = np.arange(6.0).reshape(3, 2), np.array([2.0, -1.0]), 0.5
    assert_allclose(features.with_bias(X) @ [b, *w], [x @ w + b for x in X])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: features.monomials([[1.0]], 0),
            "degree must be a whole number >= 1, got 0",
        ),
        (
            lambda: features.monomials([1.0], 2),
            "X must be two-dimensional",
        ),
        (
            lambda: features.monomials(np.ones((1, 1000)), 10),
            "at most 1e\\+08 entries, got 288216356245328994082600 monomials",
        ),
        (
            lambda: features.exponents(1000, 3),
            "got 167167000 monomials of degree 3 in D = 1000; use kernels",
        ),
        (
            lambda: features.count_monomials(0, 2),
            "D must be a whole number >= 1, got 0",
        ),
        (
            lambda: features.count_monomials(2, -1),
            "degree must be a whole number >= 0, got -1",
        ),
        (
            lambda: features.append_constant([[1.0]], -1.0),
            "c must be >= 0, got -1.0",
        ),
        (
            lambda: features.append_constant([1.0], 1.0),
            "X must be two-dimensional",
        ),
        (
            lambda: features.with_bias([1.0, 2.0]),
            r"X must be two-dimensional, got shape \(2,\)",
        ),
        (
            lambda: features.kernel_distances(ones, [[1.0]], [[1.0, 2.0]]),
            "same number of columns",
        ),
        (
            lambda: features.kernel_mean_distances(
                ones, [[1.0]], [[1.0, 2.0]]
            ),
            "same number of columns",
        ),
        (lambda: features.powers([[1.0]], 2), "x must be one-dimensional"),
        (
            lambda: features.powers([1.0], -1),
            "degree must be a whole number >= 0, got -1",
        ),
        (
            lambda: features.bumps([[1.0]], [0.0], 1.0),
            "x must be one-dimensional",
        ),
        (
            lambda: features.bumps([1.0], [np.nan], 1.0),
            "centres must be finite",
        ),
        (
            lambda: features.bumps([1.0], [0.0], 0.0),
            "width must be > 0, got 0",
        ),
        (
            lambda: toydata.two_rings(0, 0.1, 0),
            "N must be a whole number >= 1, got 0",
        ),
        (
            lambda: toydata.two_rings(2, -0.1, 0),
            "noise must be >= 0, got -0.1",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("N", "M"), [(1, 1), (3, 2), (5, 2), (5, 3), (4, 6)])
def test_dichotomies_are_counted_by_linear_programs(N, M):
    """Points in general position; a labelling is feasible or it is not."""
    points = np.random.default_rng(N + M).standard_normal((N, M))
    separated = 0
    for t in itertools.product([-1.0, 1.0], repeat=N):
        rows = -np.array(t)[:, None] * points
        found = linprog(
            np.zeros(M), A_ub=rows, b_ub=-np.ones(N), bounds=(None, None)
        )
        separated += found.status == 0
    assert features.count_dichotomies(N, M) == separated


def test_dichotomies_refuse_nothing_to_count():
    for N, M, name in [(0, 1, "N"), (1, 0, "M")]:
        with pytest.raises(ValueError, match=f"{name} must be"):
            features.count_dichotomies(N, M)
