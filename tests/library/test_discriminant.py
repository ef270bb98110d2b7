"""Scores, hyperplanes, least squares for classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression

from kernelbook import discriminant, margin, toydata

seeds = st.integers(0, 10**6)
CENTRES = [[0.0, 0.0], [3.0, 1.0], [0.0, 4.0], [-3.0, 1.0]]


def problem(seed, N=40, D=3, K=4):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(K), rng.integers(0, K, N - K)])
    return rng.standard_normal((N, D)), labels


@given(seeds)
def test_scores_are_the_double_loop_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    w, b, X = (rng.standard_normal(s) for s in ((3, 2), 3, (5, 2)))
    W = np.vstack([b, w.T])
    slow = [[w[k] @ x + b[k] for k in range(3)] for x in X]
    assert_allclose(discriminant.scores(W, X), slow)
    assert_allclose(discriminant.scores(W[:, 1], X), np.array(slow)[:, 1])


@given(seeds)
def test_every_class_region_is_convex(seed):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((3, 4))
    p, q = rng.standard_normal((2, 50, 2)) * 3
    s = rng.uniform(size=(50, 1))

    def classes(X):
        return discriminant.classify(discriminant.scores(W, X))

    same = classes(p) == classes(q)
    between = classes(s * p + (1 - s) * q)
    assert np.array_equal(between[same], classes(p)[same])


def test_largest_score_wins_and_the_first_of_equals():
    F = [[1.0, 3.0, 2.0], [5.0, 5.0, 5.0], [0.0, 7.0, 7.0]]
    assert np.array_equal(discriminant.classify(F), [1, 0, 1])


def test_two_scores_and_argmax_are_one_score_and_its_sign():
    rng = np.random.default_rng(2)
    W, X = rng.standard_normal((3, 2)), rng.standard_normal((99, 2))
    w, b = discriminant.boundary(W, 0, 1)
    sign = discriminant.sign_rule(X @ w + b)
    labels = discriminant.classify(discriminant.scores(W, X))
    assert np.array_equal(sign, np.where(labels == 0, 1.0, -1.0))


def test_sign_rule_gives_ties_to_the_positive_class():
    assert np.array_equal(
        discriminant.sign_rule([0.0, -0.0, -1e-300]), [1.0, 1.0, -1.0]
    )


@given(seeds)
def test_foot_is_on_the_hyperplane_and_its_distance_is_the_score(seed):
    rng = np.random.default_rng(seed)
    w, b, X = rng.standard_normal(3), 0.7, rng.standard_normal((4, 3))
    feet = discriminant.foot(w, b, X)
    r = discriminant.signed_distance(w, b, X)
    assert_allclose(feet @ w + b, 0, atol=1e-9)
    assert_allclose(np.linalg.norm(X - feet, axis=1), np.abs(r), atol=1e-9)
    assert_allclose(np.abs(r), margin.distance(w, b, X))
    assert np.array_equal(np.sign(r), np.sign(X @ w + b))


def test_foot_is_what_an_optimiser_finds():
    w, b, x = np.array([1.0, -2.0]), 0.5, np.array([3.0, 1.5])
    on_plane = {"type": "eq", "fun": lambda z: w @ z + b}
    found = minimize(
        lambda z: (z - x) @ (z - x), np.zeros(2), constraints=on_plane
    ).x
    assert_allclose(discriminant.foot(w, b, [x])[0], found, atol=1e-6)


def test_foot_on_a_plane_along_an_axis_changes_one_coordinate():
    assert_allclose(discriminant.foot([2.0, 0.0], -4.0, [[5, 7]]), [[2, 7]])


def test_boundary_is_where_two_scores_are_equal():
    rng = np.random.default_rng(7)
    W = rng.standard_normal((4, 3))
    for k, j in [(0, 1), (2, 0), (1, 2)]:
        w, b = discriminant.boundary(W, k, j)
        feet = discriminant.foot(w, b, rng.standard_normal((9, 3)))
        F = discriminant.scores(W, feet)
        assert_allclose(F[:, k], F[:, j], atol=1e-12)
        F = discriminant.scores(W, feet + w)
        assert np.all(F[:, k] > F[:, j])


@pytest.mark.parametrize("c", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
def test_a_hyperplane_is_the_same_at_every_scale(c):
    rng = np.random.default_rng(3)
    w, b, X = rng.standard_normal(3), 0.7, rng.standard_normal((4, 3))
    for f in (discriminant.signed_distance, discriminant.foot):
        assert np.array_equal(f(c * w, c * b, X), f(w, b, X))


def test_feet_of_far_points_are_on_the_hyperplane():
    feet = discriminant.foot([1e200, 0.0], 0.0, [[1e300, 7.0]])
    assert np.array_equal(feet, [[0.0, 7.0]])
    assert_allclose(
        discriminant.foot([3.0, 4.0], 0.0, [[1e300, 1e300]]),
        [[0.16e300, -0.12e300]],
    )


def test_one_hot_rows_are_unit_vectors():
    T = discriminant.one_hot([2, 0, 1, 2], K=4)
    assert np.array_equal(T, np.eye(4)[[2, 0, 1, 2]])


def test_number_of_classes_may_be_a_whole_float():
    T = discriminant.one_hot([1, 0], K=2.0)
    assert np.array_equal(T, [[0, 1], [1, 0]])
    X, labels = problem(1)
    assert np.array_equal(
        discriminant.least_squares(X, labels, K=4.0),
        discriminant.least_squares(X, labels, K=4),
    )


def test_one_hot_needs_no_square_of_the_number_of_classes():
    assert discriminant.one_hot([99_999], K=100_000).sum() == 1


@given(seeds)
def test_squared_error_is_the_double_sum(seed):
    X, labels = problem(seed)
    T = discriminant.one_hot(labels, 4)
    W = np.random.default_rng(seed).standard_normal((4, 4))
    total = 0.0
    for n in range(len(X)):
        for k in range(4):
            total += (T[n, k] - W[1:, k] @ X[n] - W[0, k]) ** 2
    assert_allclose(discriminant.squared_error(W, X, T), total)


@given(seeds)
def test_least_squares_weights_are_scikit_learns(seed):
    X, labels = problem(seed)
    W = discriminant.least_squares(X, labels, K=4)
    theirs = LinearRegression().fit(X, np.eye(4)[labels])
    assert_allclose(W[1:].T, theirs.coef_, atol=1e-10)
    assert_allclose(W[0], theirs.intercept_, atol=1e-10)


@given(seeds)
def test_least_squares_solves_the_normal_equations(seed):
    X, labels = problem(seed)
    T = discriminant.one_hot(labels, 4)
    W = discriminant.least_squares_weights(X, T)
    Xb = np.column_stack([np.ones(len(X)), X])
    assert_allclose(Xb.T @ (T - Xb @ W), 0, atol=1e-10)


@given(seeds)
def test_one_hot_scores_add_up_to_one(seed):
    X, labels = problem(seed)
    W = discriminant.least_squares(X, labels, K=4)
    Z = 10 * np.random.default_rng(seed).standard_normal((9, 3))
    assert_allclose(discriminant.scores(W, Z).sum(axis=1), 1)


def test_two_classes_one_hot_and_plus_minus_one_agree():
    X, t = toydata.two_blobs(31, distance=1.0, rng=3)
    W = discriminant.least_squares(X, t > 0, K=2)
    w = discriminant.least_squares_weights(X, t)
    assert_allclose(W[:, 1] - W[:, 0], w)


@pytest.mark.parametrize("column", ["copy", "constant"])
def test_rank_deficient_inputs_get_the_shortest_minimiser(column):
    X, t = toydata.two_blobs(30, distance=2.0, rng=1)
    extra = X[:, 0] if column == "copy" else np.full(30, 2.0)
    X = np.column_stack([X, extra])
    Xb = np.column_stack([np.ones(30), X])
    assert np.linalg.matrix_rank(Xb) == 3
    w = discriminant.least_squares_weights(X, t)
    assert_allclose(w, np.linalg.pinv(Xb) @ t, atol=1e-12)
    assert_allclose(Xb.T @ (t - Xb @ w), 0, atol=1e-10)
    theirs = LinearRegression().fit(X, t)  # centres first: another minimiser
    assert_allclose(Xb @ w, theirs.predict(X), atol=1e-10)


def test_more_features_than_examples_fits_every_target():
    rng = np.random.default_rng(5)
    X, labels = rng.standard_normal((6, 9)), [0, 1, 2, 0, 1, 2]
    W = discriminant.least_squares(X, labels, K=3)
    assert_allclose(discriminant.scores(W, X), np.eye(3)[labels], atol=1e-10)


def test_blobs_lie_at_their_centres_and_take_turns():
    X, labels = toydata.blobs(CENTRES, N=8001, spread=0.5, rng=4)
    assert np.array_equal(labels[:6], [0, 1, 2, 3, 0, 1])
    for k, centre in enumerate(CENTRES):
        cloud = X[labels == k]
        assert_allclose(cloud.mean(axis=0), centre, atol=0.05)
        assert_allclose(cloud.std(axis=0), 0.5, atol=0.03)


def test_inputs_are_left_alone():
    X, labels = problem(1)
    before = X.copy(), labels.copy()
    W = discriminant.least_squares(X, labels, 4)
    discriminant.foot(W[1:, 0], W[0, 0], X)
    assert np.array_equal(X, before[0])
    assert np.array_equal(labels, before[1])


X2 = np.eye(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: discriminant.least_squares(X2, [1, 1], K=2),
            "t must contain every class from 0 to 1, got none of class 0",
        ),
        (
            lambda: discriminant.least_squares(X2, [0, 0], K=1),
            "K must be a whole number >= 2, got 1",
        ),
        (
            lambda: discriminant.least_squares(X2, [1, 2], K=2),
            "t must be whole numbers from 0 to 1, got 2",
        ),
        (
            lambda: discriminant.least_squares(X2, [-1, 1], K=2),
            "t must be whole numbers from 0 to 1, got -1",
        ),
        (
            lambda: discriminant.one_hot([0, 1], K=2.5),
            "K must be a whole number >= 2, got 2.5",
        ),
        (
            lambda: discriminant.one_hot([0.5, 1.0], K=2),
            "t must be whole numbers from 0 to 1, got 0.5",
        ),
        (
            lambda: discriminant.least_squares(X2, [0, 1, 1], K=2),
            "t must have length 2, got 3",
        ),
        (
            lambda: discriminant.least_squares([[np.nan], [1]], [0, 1], K=2),
            "X must be finite, got 1 NaN or inf",
        ),
        (
            lambda: discriminant.least_squares([1.0, 2.0], [0, 1], K=2),
            r"X must be two-dimensional, got shape \(2,\)",
        ),
        (
            lambda: discriminant.least_squares_weights(X2, [1.0]),
            r"T must have 2 rows, got shape \(1,\)",
        ),
        (
            lambda: discriminant.scores(np.ones((2, 3)), X2),
            r"W must have D \+ 1 = 3 rows, .* got shape \(2, 3\)",
        ),
        (
            lambda: discriminant.least_squares(1.0, [0, 1], K=2),
            r"X must be two-dimensional and not empty, got shape \(\)",
        ),
        (
            lambda: discriminant.squared_error(np.ones(3), X2, X2 * np.nan),
            "T must be finite",
        ),
        (
            lambda: discriminant.scores([0.0, 1.0, np.inf], X2),
            "W must be finite",
        ),
        (
            lambda: discriminant.scores(np.ones((3, 2)) * np.nan, X2),
            "W must be finite",
        ),
        (
            lambda: discriminant.classify([1.0, 2.0]),
            "F must be two-dimensional",
        ),
        (
            lambda: discriminant.classify([[np.nan, 2.0]]),
            "F must be finite",
        ),
        (
            lambda: discriminant.signed_distance([0.0, 0.0], 1.0, X2),
            "w must not be zero",
        ),
        (
            lambda: discriminant.signed_distance([1.0, 1.0], np.nan, X2),
            "b must be finite, got nan",
        ),
        (
            lambda: discriminant.foot([1.0], 1.0, X2),
            "w must have length 2, got 1",
        ),
        (
            lambda: discriminant.foot([1.0, 1.0], np.inf, X2),
            "b must be finite, got inf",
        ),
        (
            lambda: discriminant.boundary(X2, -1, 1),
            "k must be a whole number >= 0, got -1",
        ),
        (
            lambda: discriminant.boundary(X2, 1, 0.5),
            "j must be a whole number >= 0, got 0.5",
        ),
        (
            lambda: discriminant.boundary(X2, 0, 2),
            "k and j must be two classes below 2, got 0 and 2",
        ),
        (
            lambda: discriminant.boundary(X2, 1, 1),
            "k and j must be two classes below 2, got 1 and 1",
        ),
        (
            lambda: toydata.blobs(CENTRES, N=3, spread=1.0, rng=0),
            "N must be a whole number >= 4, got 3",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
