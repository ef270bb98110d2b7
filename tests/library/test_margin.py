"""Maximum margin: distances, the widest street, and its certificate."""

import warnings

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import linprog, minimize
from sklearn.svm import SVC

from kernelbook import _hulls, margin, svm, toydata
from kernelbook.exceptions import ConvergenceWarning

seeds = st.integers(0, 10**6)


def clouds(seed, N=30, D=3, street=0.3):
    """Random points, labelled by a random plane, pushed off it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    normal = rng.standard_normal(D)
    normal /= np.linalg.norm(normal)
    t = np.where(X @ normal > 0, 1.0, -1.0)
    X += street / 2 * t[:, None] * normal
    t[:2] = 1, -1
    X[0], X[1] = 3 * normal, -3 * normal
    return X, t


def feasible(X, t):
    """Can a linear programme satisfy all constraints?  (HiGHS)"""
    rows = -t[:, None] * np.column_stack([X, np.ones(len(X))])
    return (
        linprog(
            np.zeros(X.shape[1] + 1),
            A_ub=rows,
            b_ub=-np.ones(len(X)),
            bounds=(None, None),
        ).status
        == 0
    )


def qp_by_clarabel(X, t):
    N, D = X.shape
    P = sparse.diags_array([1.0] * D + [0.0]).tocsc()
    A = sparse.csc_array(-t[:, None] * np.column_stack([X, np.ones(N)]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(P),
        np.zeros(D + 1),
        sparse.csc_matrix(A),
        -np.ones(N),
        [clarabel.NonnegativeConeT(N)],
        settings,
    ).solve()
    return np.array(solution.x), np.array(solution.z)


@given(seeds)
def test_distance_is_that_to_the_nearest_point_of_the_hyperplane(seed):
    rng = np.random.default_rng(seed)
    w, b, x = rng.standard_normal(3), rng.standard_normal(), rng.normal(size=3)
    # the hyperplane as a point of it plus a basis of its directions
    origin = -b * w / (w @ w)
    basis = np.linalg.svd(w[None])[2][1:].T
    nearest = origin + basis @ np.linalg.lstsq(basis, x - origin)[0]
    assert_allclose(w @ nearest + b, 0, atol=1e-12)
    assert_allclose(
        margin.distance(w, b, [x])[0], np.linalg.norm(x - nearest), atol=1e-12
    )


@given(seeds, st.floats(1e-3, 1e3))
def test_margin_is_twice_the_smallest_signed_distance(seed, c):
    rng = np.random.default_rng(seed)
    X, t = clouds(seed)
    w, b = rng.standard_normal(3), rng.standard_normal()
    signed = [t[n] * (w @ X[n] + b) / np.sqrt(w @ w) for n in range(len(t))]
    assert_allclose(margin.margin(c * w, c * b, X, t), 2 * min(signed))


@given(seeds, st.floats(1e-3, 1e3))
def test_canonical_scaling_does_not_depend_on_the_scale_given(seed, c):
    X, t = clouds(seed)
    found = margin.hard_margin(X, t)
    w, b = margin.canonical(c * found.w, c * found.b, X, t)
    assert_allclose(w, found.w, rtol=1e-9)
    assert_allclose(min(t * (X @ w + b)), 1)
    assert_allclose(2 / np.linalg.norm(w), margin.margin(w, b, X, t))


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(1, 12), st.floats(1e-3, 1e3), st.floats(-9, 9))
def test_kkt_conditions_and_gap(seed, D, scale, shift):
    X, t = clouds(seed, D=D)
    X = scale * (X + shift)
    found = margin.hard_margin(X, t)
    surplus = t * (X @ found.w + found.b) - 1
    size = np.linalg.norm(found.w)
    assert surplus.min() > -1e-8
    assert found.alpha.min() >= 0
    assert abs(found.alpha @ t) <= 1e-10 * found.alpha.sum()
    assert_allclose(X.T @ (found.alpha * t), found.w, atol=1e-6 * size)
    assert np.abs(found.alpha * surplus).max() <= 1e-6 * found.alpha.max()
    assert 0 <= found.gap <= 1e-6 * found.margin
    assert_allclose(found.alpha.sum(), size**2, rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_plane_is_that_of_clarabel_and_libsvm(seed):
    X, t = clouds(seed, N=60, D=4, street=0.6)
    found = margin.hard_margin(X, t)
    x, z = qp_by_clarabel(X, t)
    assert_allclose(found.w, x[:-1], rtol=1e-5, atol=1e-5)
    assert_allclose(found.b, x[-1], rtol=1e-5, atol=1e-5)
    assert_allclose(found.alpha, z, atol=1e-4 * z.max())
    theirs = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X, t)
    assert_allclose(found.w, theirs.coef_[0], rtol=1e-4, atol=1e-5)
    assert_allclose(found.b, theirs.intercept_[0], rtol=1e-4, atol=1e-5)
    assert set(np.flatnonzero(found.alpha)) == set(theirs.support_)


def test_plane_is_that_of_slsqp_and_of_the_soft_margin_with_large_c():
    X, t = clouds(3, N=20, D=2)
    found = margin.hard_margin(X, t)
    w_b = minimize(
        lambda v: v[:2] @ v[:2] / 2,
        np.append(2 * found.w, 2 * found.b) + 0.1,
        jac=lambda v: np.append(v[:2], 0.0),
        constraints={
            "type": "ineq",
            "fun": lambda v: t * (X @ v[:2] + v[2]) - 1,
        },
        method="SLSQP",
        options={"ftol": 1e-14},
    ).x
    assert_allclose(np.append(found.w, found.b), w_b, rtol=1e-5, atol=1e-7)
    soft = svm.fit_dual(X @ X.T, t, C=10 * found.alpha.max())
    assert_allclose(soft.alpha, found.alpha, rtol=1e-5, atol=1e-7)
    assert_allclose(soft.b, found.b, rtol=1e-5)


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(4, 20), st.integers(1, 5))
def test_separable_agrees_with_a_linear_programme(seed, N, D):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (N, D)).astype(float)
    t = np.where(np.arange(N) < N // 2, 1.0, -1.0)
    assert margin.separable(X, t) == feasible(X, t)


@settings(deadline=None)
@given(seeds)
def test_refusal_names_a_point_of_both_hulls(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 2))
    t = rng.permutation(np.repeat([1.0, -1.0], 20))
    if margin.separable(X, t):
        return
    points = margin.closest_points(X, t)
    for label, end in ((1, points.p), (-1, points.q)):
        u = points.u[t == label]
        assert u.min() >= 0
        assert_allclose(u.sum(), 1)
        assert_allclose(u @ X[t == label], end, atol=1e-12)
    assert_allclose(points.p, points.q, atol=1e-10)
    with pytest.raises(ValueError, match="hulls share the point"):
        margin.hard_margin(X, t)


@given(seeds)
def test_every_direction_is_below_and_every_pair_above_the_margin(seed):
    rng = np.random.default_rng(seed)
    X, t = clouds(seed, N=12)
    best = margin.hard_margin(X, t).margin
    for _ in range(20):
        z = rng.standard_normal(3)
        z /= np.linalg.norm(z)
        assert min(X[t > 0] @ z) - max(X[t < 0] @ z) <= best * (1 + 1e-9)
        p = rng.dirichlet(np.ones((t > 0).sum())) @ X[t > 0]
        q = rng.dirichlet(np.ones((t < 0).sum())) @ X[t < 0]
        assert np.linalg.norm(p - q) >= best * (1 - 1e-9)


def test_heights_on_a_line_are_split_half_way():
    X = np.array([[158.0], [163.0], [166.0], [172.0], [178.0], [185.0]])
    t = np.array([-1.0, -1, -1, 1, 1, 1])
    found = margin.hard_margin(X, t)
    assert_allclose(found.margin, 6)
    assert_allclose(-found.b / found.w[0], 169)
    assert_allclose(found.alpha, [0, 0, 1 / 18, 1 / 18, 0, 0])


def test_duplicates_and_collinear_points_do_no_harm():
    X, t = clouds(4, N=15, D=2)
    once = margin.hard_margin(X, t)
    twice = margin.hard_margin(np.repeat(X, 3, axis=0), np.repeat(t, 3))
    assert_allclose(twice.w, once.w, rtol=1e-9)
    flat = margin.hard_margin(np.column_stack([X, np.zeros(15)]), t)
    assert_allclose(flat.w, [*once.w, 0], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_street_is_as_wide_as_the_data(scale):
    X, t = clouds(5)
    one, other = margin.hard_margin(X, t), margin.hard_margin(scale * X, t)
    assert_allclose(other.margin, scale * one.margin)
    assert_allclose(other.w, one.w / scale)
    assert_allclose(other.b, one.b)


def test_far_from_the_origin_the_direction_keeps_its_digits():
    X, t = clouds(6, N=32)
    X = np.round(1024 * X) / 1024  # so that X + 2**30 is exact
    near, far = margin.hard_margin(X, t), margin.hard_margin(X + 2.0**30, t)
    directions = [w / np.linalg.norm(w) for w in (near.w, far.w)]
    assert_allclose(*directions, rtol=1e-12)


def thin_street(width, seed=0):
    """Points along both sides of a very narrow street."""
    rng = np.random.default_rng(seed)
    t = np.repeat([1.0, -1.0], 15)
    along, across = np.array([-0.8, 0.6]), np.array([0.6, 0.8])
    X = np.outer(rng.uniform(-1, 1, 30), along)
    return X + np.outer(t * width / 2, across), t


@pytest.fixture
def steps(monkeypatch):
    """How often the search has solved for the best mixture."""
    taken = []
    solve = _hulls.shortest_mixture
    monkeypatch.setattr(
        _hulls,
        "shortest_mixture",
        lambda Z, pairs: taken.append(len(pairs)) or solve(Z, pairs),
    )
    return taken


def test_search_ends_when_the_bounds_meet(steps):
    margin.closest_points([[3.0, 4.0], [0.0, 0.0]], [1, -1])
    assert steps == [1]


def test_search_ends_when_the_hulls_touch(steps):
    margin.closest_points([[3.0], [0.1 * 3], [0.3]], [-1, 1, -1])
    assert steps == [1, 2]


def test_search_ends_when_rounding_keeps_the_bounds_apart(steps):
    points = margin.closest_points(*thin_street(1e-9))
    assert_allclose(points.upper, 1e-9, rtol=1e-6)
    assert points.gap > 100 * margin.CLOSED * points.upper
    assert points.status == "converged"  # as far as rounding allows
    assert len(steps) < 10


@pytest.mark.parametrize("width", [1e-2, 1e-6, 1e-9, 3e-12])
@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_street_is_found_and_measured(width, seed):
    X, t = thin_street(width, seed)
    assert margin.separable(X, t)
    found = margin.hard_margin(X, t)
    # rounding moves each point by 1e-16, and so either edge of the street
    assert_allclose(found.margin, width, rtol=1e-15 / width + 1e-12)
    across = found.w / np.linalg.norm(found.w)
    assert_allclose(across, [0.6, 0.8], atol=1e-14)
    assert found.gap <= 1e-14


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_a_street_of_rounding_is_none(scale):
    X = scale * np.array([[0.0], [0.3], [0.1 * 3], [1.0]])
    points = margin.closest_points(X, [-1, -1, 1, 1])
    assert 0 < points.lower < 1e-15 * scale
    assert not margin.separable(X, [-1, -1, 1, 1])


@pytest.mark.parametrize(("width", "apart"), [(5e-13, False), (2e-12, True)])
def test_hulls_within_1e_12_of_the_spread_touch(width, apart):
    X, t = [[-1.0], [0.0], [width], [1.0]], [-1, -1, 1, 1]
    assert margin.separable(X, t) == apart


@pytest.mark.parametrize("width", [2.1e-154, 0.9e153])
def test_a_street_whose_square_is_a_float_is_found(width):
    found = margin.hard_margin([[0.0], [width]], [-1, 1])
    assert_allclose(found.margin, width)
    assert_allclose(found.alpha * width * width, [2.0, 2.0])


@pytest.mark.parametrize("width", [1.9e-154, 3e153])
def test_a_street_whose_square_is_none_is_refused(width):
    with pytest.raises(ValueError, match="a street whose square is a float"):
        margin.hard_margin([[0.0], [width]], [-1, 1])


@pytest.mark.parametrize(
    "moved",
    [
        lambda X: 1e6 * X,
        lambda X: 1e-6 * X,
        lambda X: X - 100,
        lambda X: np.column_stack([X, np.zeros(len(X))]),
    ],
)
def test_refusal_names_the_point_at_every_scale_and_place(moved):
    rng = np.random.default_rng(0)
    X = moved(rng.standard_normal((40, 2)))
    with pytest.raises(ValueError, match="hulls share the point"):
        margin.hard_margin(X, np.repeat([1.0, -1.0], 20))


def test_a_point_is_shown_with_four_digits_and_no_rounding_error():
    X = np.array([[-3.0, 0.0], [-1.0, -2.0]])
    shown = margin._show(np.array([2e-9, -0.123456]), X)
    assert shown == "[ 0.     -0.1235]"
    X[:, 1] = 1e6  # the other feature does not vary
    shown = margin._show(np.array([2.1e-9, -0.123456]), X)
    assert shown == "[ 2.1000e-09 -1.2346e-01]"  # as large as the spread says
    shown = margin._show(np.array([1.9e-9, -0.123456]), X)
    assert shown == "[ 0.     -0.1235]"  # and no smaller


@pytest.mark.parametrize("shared", [0.0, 0.3, 1e6])
def test_one_point_in_both_classes_is_refused(shared):
    X = np.array([[shared, shared], [shared, shared], [shared + 1, shared]])
    with pytest.raises(ValueError, match="separable"):
        margin.hard_margin(X, [1, -1, 1])


def test_xor_is_refused_and_the_point_is_its_centre():
    X, t = toydata.xor()
    assert not margin.separable(X, t)
    points = margin.closest_points(X, t)
    assert_allclose(points.p, X.mean(axis=0), atol=1e-12)


def test_inputs_are_left_alone():
    X, t = clouds(1)
    before = X.copy(), t.copy()
    margin.hard_margin(X, t)
    assert np.array_equal(X, before[0]) and np.array_equal(t, before[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin.distance([0, 0], 1, [[1, 2]]), "w must not be zero"),
        (lambda: margin.distance([1], 1, [[1, 2]]), "w must have length 2"),
        (lambda: margin.distance([1], np.nan, [[1]]), "b must be finite"),
        (lambda: margin.margin([1], 0, [[1]], [2]), "t must be -1 or [+]1"),
        (lambda: margin.margin([1], 0, [1, 2], [1, 1]), "two-dimensional"),
        (lambda: margin.canonical([1], 0, [[1]], [2]), "t must be -1 or [+]1"),
        (
            lambda: margin.canonical([4], 0, [[2], [3], [5]], [1, -1, 1]),
            "must separate .* example 1 at the signed distance .* = -3",
        ),
        (lambda: margin.canonical([1], 0, [[0]], [1]), "must separate .* = 0"),
        (
            lambda: margin.canonical([1], 0, [[1e-310]], [1]),
            "must separate .* = 1e-310",
        ),
        (
            lambda: margin.distance([1e-200], 1e200, [[1]]),
            r"b must give .* got 1e\+200 with weights up to 1e-200",
        ),
        (
            lambda: margin.hard_margin([[0.0], [1e160]], [-1, 1]),
            r"street .* from 2e-154 to 1e153 wide, got 1e\+160; multiply X",
        ),
        (
            lambda: margin.hard_margin([[0.0], [1e-160]], [-1, 1]),
            "street .* from 2e-154 to 1e153 wide, got 1e-160; multiply X",
        ),
        (
            lambda: margin.hard_margin([[1e16], [1e16 + 2]], [-1, 1]),
            r"X must be nearer to the origin.* b = [+-]1e\+16; subtract",
        ),
        (lambda: margin.hard_margin([1, 2], [1, -1]), "two-dimensional"),
        (lambda: margin.hard_margin([[1], [2]], [1, 1]), "both -1 and"),
        (lambda: margin.separable([[1], [np.inf]], [1, -1]), "X must be fin"),
        (lambda: margin.closest_points([[1], [2]], [1]), "t must have length"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("X", "t", "apart"),
    [
        ([[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, -1, -1], 2),
        ([[1, 0], [0, 1], [0, 0]], [1, 1, -1], 1),  # (0, 1) not yet seen
    ],
)
def test_a_search_cut_short_claims_no_common_point(monkeypatch, X, t, apart):
    monkeypatch.setattr(margin, "MAX_PAIRS", 1)
    message = f"none was found: the convex hulls come within {apart} of each"
    with (
        pytest.warns(ConvergenceWarning, match="max_iterations"),
        pytest.raises(ValueError, match=message),
    ):
        margin.hard_margin(X, t)


def test_a_search_cut_short_warns_and_says_so(monkeypatch):
    X, t = clouds(2)
    complete = margin.closest_points(X, t)
    assert complete.status == margin.hard_margin(X, t).status == "converged"
    monkeypatch.setattr(margin, "MAX_PAIRS", 2)
    message = r"closest_points ended .* \(max_iterations\): the distance of"
    with pytest.warns(ConvergenceWarning, match=message) as seen:
        points = margin.closest_points(X, t)
    assert seen[0].filename == __file__  # it points at the caller
    assert points.status == "max_iterations"
    assert points.gap == points.upper - points.lower > 0
    assert points.lower <= complete.lower <= complete.upper <= points.upper


def test_a_street_is_good_though_the_search_was_cut_short(monkeypatch):
    X, t = clouds(2, street=3.0)
    complete = margin.hard_margin(X, t)
    monkeypatch.setattr(margin, "MAX_PAIRS", 3)
    with pytest.warns(ConvergenceWarning, match="max_iterations"):
        found = margin.hard_margin(X, t)
    assert found.status == "max_iterations"
    assert_allclose((t * (X @ found.w + found.b)).min(), 1.0)
    assert 0 < found.margin < complete.margin <= found.margin + found.gap


def test_a_solver_that_goes_round_in_circles_is_stalled(monkeypatch):
    def circles(A, b, maxiter):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr(_hulls, "nnls", circles)
    with pytest.warns(ConvergenceWarning, match="stalled"):
        points = margin.closest_points(*clouds(2))
    assert points.status == "stalled"
    assert_allclose(points.u.sum(), 2)  # still convex weights of both


def test_ten_thousand_pairs_are_more_than_a_large_problem_takes(steps):
    X, t = clouds(3, N=2000, D=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        margin.hard_margin(X, t)
    assert 10 < len(steps) < margin.MAX_PAIRS / 50


# Wherever the data are, and however large


@pytest.mark.parametrize("shift", [1e6, 1e13, -1e15])
def test_separable_does_not_depend_on_the_place(shift):
    """Whole numbers: moved, they are still exactly themselves."""
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(40):
        X = rng.integers(-4, 5, (7, 2)).astype(float)
        t = np.where(np.arange(7) < 3, 1.0, -1.0)
        here = margin.separable(X, t)
        assert margin.separable(X + shift, t) == here == feasible(X, t)
        seen.add(here)
    assert seen == {True, False}


def test_neighbouring_floats_are_separable_anywhere():
    for x in (1.0, 1e16, 1e300, -1e-300, 5e-324):
        assert margin.separable([[x], [np.nextafter(x, np.inf)]], [-1, 1])
        assert not margin.separable([[x], [x]], [-1, 1])


@pytest.mark.parametrize("shift", [2.0**20, 2.0**40])
def test_the_street_moves_with_the_data(shift):
    X, t = clouds(6, N=32)
    X = np.round(1024 * X) / 1024  # so that X + shift is exact
    near, far = margin.hard_margin(X, t), margin.hard_margin(X + shift, t)
    assert_allclose(far.w, near.w, rtol=1e-12)
    assert_allclose(far.margin, near.margin, rtol=1e-12)
    assert_allclose(far.alpha, near.alpha, rtol=1e-9, atol=1e-12)
    # b has the digits that floats have at this distance
    error = np.finfo(float).eps * shift * np.abs(near.w).sum()
    assert abs(far.b - (near.b - shift * near.w.sum())) <= 4 * error


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-500, 2.0**500, 2.0**1000])
def test_the_hulls_are_as_far_apart_as_the_unit_says(scale):
    X, t = clouds(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = (margin.closest_points(s * X, t) for s in (1.0, scale))
    assert other.apart
    assert_allclose(other.upper, scale * one.upper, rtol=1e-12)
    assert_allclose(other.lower, scale * one.lower, rtol=1e-12)
    assert_allclose(other.p, scale * one.p, rtol=1e-12)
    assert_allclose(other.q, scale * one.q, rtol=1e-12)
    assert_allclose(other.direction, one.direction, rtol=1e-12)


def test_direction_is_that_of_the_bridge():
    points = margin.closest_points(*clouds(7))
    bridge = points.p - points.q
    assert_allclose(points.direction, bridge / points.upper, rtol=1e-9)


@pytest.mark.parametrize("scale", [2.0**-500, 2.0**-30, 2.0**500])
def test_the_shortest_mixture_does_not_depend_on_the_scale(scale):
    X, t = clouds(3)
    left, right = np.flatnonzero(t == 1), np.flatnonzero(t == -1)
    pairs = list(zip(left[:4].tolist(), right[:4].tolist(), strict=True))
    one, other = (_hulls.shortest_mixture(s * X, pairs) for s in (1.0, scale))
    assert_allclose(other, one, atol=1e-12)
    # of one point and itself any weights will do, if they are convex
    assert _hulls.shortest_mixture(0 * X, pairs).sum() == 1


@pytest.mark.parametrize("c", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
def test_a_hyperplane_is_the_same_at_every_scale(c):
    X, t = clouds(1)
    w, b = np.array([3.0, -4.0, 12.0]), 0.5
    assert np.array_equal(
        margin.distance(c * w, c * b, X), margin.distance(w, b, X)
    )
    assert margin.margin(c * w, c * b, X, t) == margin.margin(w, b, X, t)
    t = np.where(X @ w + b > 0, 1.0, -1.0)
    for scaled, plain in zip(
        margin.canonical(c * w, c * b, X, t),
        margin.canonical(w, b, X, t),
        strict=True,
    ):
        assert np.array_equal(scaled, plain)


def test_distance_with_huge_weights_and_points():
    assert margin.distance([1e200, 0], 0.0, [[3.0, 9.0]])[0] == 3.0
    assert margin.distance([-1e200, 0.5], 0.0, [[3.0, 9.0]])[0] == 3.0
    far = margin.distance([3e200, 4e200], 0.0, [[1e307, 1e307]])
    assert_allclose(far, [1.4e307])
    assert_allclose(
        margin.distance(np.ones(100), 0.0, [[1.7e307] * 100]), [1.7e308]
    )
    w, b = margin.canonical([1e200], 0.0, [[1e200], [-2e200]], [1, -1])
    assert_allclose(w, [1e-200])
    assert b == 0


def test_results_share_no_memory_with_the_arguments():
    X, t = clouds(1)
    w, b = np.array([1.0, 2.0, 3.0]), 0.0
    points, found = margin.closest_points(X, t), margin.hard_margin(X, t)
    side = np.where(X @ w > 0, 1.0, -1.0)
    for part in (
        points.p,
        points.q,
        points.u,
        found.w,
        found.alpha,
        margin.canonical(w, b, X, side)[0],
    ):
        assert not any(np.shares_memory(part, given) for given in (X, t, w))


@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(1, 8))
def test_leave_one_out_counts_what_refitting_all_with_libsvm_counts(seed, D):
    X, t = clouds(seed, N=16, D=D)
    t[2:4], X[2:4] = (1, -1), X[:2] * 1.1  # each class twice or more
    found = margin.leave_one_out(X, t)
    outputs = []
    for n in range(len(t)):
        kept = np.arange(len(t)) != n
        machine = SVC(kernel="linear", C=1e9, tol=1e-9).fit(X[kept], t[kept])
        outputs.append(t[n] * machine.decision_function(X[[n]])[0])
    if np.abs(outputs).min() > 1e-3:  # LIBSVM decides no closer calls
        assert found.errors == np.sum(np.array(outputs) < 0)
    whole = margin.hard_margin(X, t)
    assert found.support_vectors == np.sum(whole.alpha > 0)
    apart = [
        np.linalg.norm(a - b) for a in X[t > 0] for b in X[t < 0]
    ]  # slowly
    bound = 4 * max(apart) ** 2 / whole.margin**2
    assert_allclose(found.margin_bound, bound)
    assert found.errors <= min(found.support_vectors, found.margin_bound)


@pytest.mark.parametrize("m", [2, 3, 5])
def test_all_corners_of_a_simplex_are_errors_within_twice_the_bound(m):
    found = margin.leave_one_out(np.eye(2 * m), np.repeat([1, -1], m))
    assert found.errors == found.support_vectors == 2 * m
    assert_allclose(found.margin_bound, 4 * m)


def test_an_example_on_the_new_hyperplane_is_an_error():
    # without 2 the threshold is (1 + 3) / 2, which is where it lies
    found = margin.leave_one_out([[0.0], [1], [2], [3]], [-1, -1, 1, 1])
    assert (found.errors, found.support_vectors) == (2, 2)


def test_leave_one_out_refuses_a_class_of_one():
    for t in ([1, -1, -1], [-1, 1, 1]):
        with pytest.raises(ValueError, match="each label twice or more"):
            margin.leave_one_out([[0.0], [2.0], [3.0]], t)
    found = margin.leave_one_out([[0.0], [1.0], [3.0], [4.0]], [1, 1, -1, -1])
    assert found.errors == 0
