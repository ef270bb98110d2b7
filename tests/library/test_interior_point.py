"""Mehrotra's method in a box, against its conditions of optimality."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgError

from kernelbook import _interior_point as interior
from kernelbook import kernels, toydata


class Counter:
    """Counts factorisations."""

    def __init__(self):
        self.total = 0

    def __call__(self, more):
        self.total += more


def program(seed=0, N=30):
    rng = np.random.default_rng(seed)
    G, q = rng.standard_normal((N, 9)), rng.standard_normal(N)
    low = -rng.uniform(0.1, 2, N)
    return G, 3 * q, interior.Box(low, rng.uniform(0.1, 2, N), total=0.7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["dense", "low rank"])
def test_solution_meets_the_conditions_of_optimality(seed, kind):
    G, q, box = program(seed)
    low_rank = kind == "low rank"
    Q = interior.LowRank(G) if low_rank else interior.Dense(G @ G.T)
    count = Counter()
    x = interior.minimise(Q, q, box, np.zeros(30), 1e-10, count)
    assert 5 <= count.total <= 11
    assert np.all((x > box.low) & (x < box.high))
    assert_allclose(x.sum(), 0.7)
    slope = q - G @ (G.T @ x)
    inside = np.minimum(x - box.low, box.high - x) > 1e-6
    y = slope[inside].mean()
    assert inside.any() and not inside.all()
    assert_allclose(slope[inside], y, atol=1e-7)
    assert np.all((slope[~inside] > y) == (x[~inside] > 0))
    # The goal bounds how far the objective is from its lowest value.
    duality = np.maximum(slope - y, 0) @ (box.high - x)
    duality += np.maximum(y - slope, 0) @ (x - box.low)
    assert duality < 1e-9


def test_a_common_shift_is_left_to_the_multiplier_of_the_sum():
    G, q, box = program()
    Q, found = interior.LowRank(G), []
    for shift in [0.0, 1e3]:
        count = Counter()
        start = np.zeros(30)
        found += [interior.minimise(Q, q + shift, box, start, 1e-10, count)]
        assert count.total == 9
    assert_allclose(*found, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_gap_is_the_primal_less_the_dual_of_any_multipliers(seed):
    """Lagrange's bound: min over x in the box of ½xᵀQx - qᵀx + y(Σx - c),
    with a tangent at s.x in place of the parabola, which lies below it."""
    G, q, box = program(seed)
    rng = np.random.default_rng(seed)
    s = interior.first_state(interior.LowRank(G), q, box, np.zeros(30))
    x = s.x + (box.total - s.x.sum()) / len(q)
    s = interior.State(x, s.y, *rng.uniform(0.1, 2, (2, 30)))
    at_low, at_high = s.at_low, s.at_high
    rest = G @ (G.T @ x) - q + s.y - at_low + at_high
    slope = G @ (G.T @ x) - q + s.y
    primal = (G.T @ x) @ (G.T @ x) / 2 - q @ x
    bound = -(G.T @ x) @ (G.T @ x) / 2 - s.y * box.total
    bound += (at_low + rest.clip(min=0)) @ box.low
    bound -= (at_high + (-rest).clip(min=0)) @ box.high
    gap = interior.duality_gap(interior.LowRank(G), q, box, s)
    assert_allclose(gap, primal - bound)
    best = slope @ x - np.where(slope > 0, box.low, box.high) @ slope
    assert gap >= best  # the best multipliers for this y


@pytest.mark.parametrize(("goal", "looks"), [(1e-10, 6), (2.0, 3)])
def test_the_point_before_rounding_took_over_is_returned(
    monkeypatch, goal, looks
):
    """The gap may rise a little; ten times its lowest is the end."""
    G, q, box = program()
    gaps, seen = iter([8.0, 4.0, 2.0, 2.0, 20.0, 20.1, 1.0]), []

    def next_gap(Q, q, box, state):
        seen.append(state)
        return next(gaps)

    monkeypatch.setattr(interior, "duality_gap", next_gap)
    Q, start = interior.LowRank(G), np.zeros(30)
    x = interior.minimise(Q, q, box, start, goal, Counter())
    assert len(seen) == looks and x is seen[2].x


def test_rounding_does_not_spoil_a_solution_at_a_huge_bound():
    """Beyond its best point the method lost all digits again."""
    X, t = toydata.two_moons(400, noise=0.3, rng=0)
    K = kernels.Gaussian(1.0)(X)
    G = interior.pivoted_cholesky(K, 1e-12)
    box = interior.Box(np.minimum(0, 1e6 * t), np.maximum(0, 1e6 * t), 0.0)
    Q = interior.LowRank(G)
    x = interior.minimise(Q, t, box, np.zeros(400), 0.0, Counter())
    slope = t - K @ x
    y = np.median(slope)
    gap = np.maximum(slope - y, 0) @ (box.high - x)
    gap += np.maximum(y - slope, 0) @ (x - box.low)
    assert gap < 1e-6 * (t @ x - x @ K @ x / 2)


def test_first_state_is_a_fifth_of_the_way_to_the_middle():
    G, q, box = program()
    x = 0.9 * box.high
    s = interior.first_state(interior.LowRank(G), q, box, x)
    assert_allclose(s.x, 0.8 * x + 0.1 * (box.low + box.high))
    # Multipliers balance the slope, and none is nearer to 0 than a fifth of
    # its mean size.
    slope = q - G @ (G.T @ s.x)
    assert s.y == np.median(slope)
    assert_allclose(s.at_high - s.at_low, slope - s.y)
    away = np.abs(slope - s.y).mean() / 5
    assert_allclose(np.minimum(s.at_low, s.at_high), away)
    flat = interior.first_state(interior.Dense(0 * G @ G.T), 0 * q, box, x)
    assert flat.at_low.min() > 0
    assert flat.at_high.min() > 0


@pytest.mark.parametrize("outside", [-3.0, 3.0])
def test_it_ends_where_a_bound_is_reached(outside):
    G, q, box = program()
    x, count = np.zeros(30), Counter()
    x[4] = outside
    new = interior.minimise(interior.LowRank(G), q, box, x, 1e-10, count)
    assert_allclose(new, 0.8 * x + 0.1 * (box.low + box.high))
    assert count.total == 0


def test_it_keeps_what_it_has_when_rounding_ends_it(monkeypatch):
    G, q, box = program()
    full = interior.newton_system
    for rounds in [0, 1, 4]:
        left = iter(range(rounds))

        def spoilt(*args, left=left):
            if next(left, None) is None:
                raise LinAlgError
            return full(*args)

        monkeypatch.setattr(interior, "newton_system", spoilt)
        x = interior.minimise(
            interior.LowRank(G), q, box, np.zeros(30), 1e-10, Counter()
        )
        if rounds == 0:
            assert x is None
        else:
            assert np.all((x > box.low) & (x < box.high))


def test_it_gives_up_after_the_most_rounds(monkeypatch):
    G, q, box = program()
    monkeypatch.setattr(interior, "MOST_ROUNDS", 3)
    count = Counter()
    Q = interior.LowRank(G)
    assert interior.minimise(Q, q, box, np.zeros(30), 0.0, count) is not None
    assert count.total == 3


def a_state(seed=1):
    rng = np.random.default_rng(seed)
    x, at_low, at_high = rng.uniform(0.05, 0.09, (3, 30))
    return interior.State(x, 0.4, at_low, at_high)


def test_newton_system_solves_the_linearised_conditions():
    G, q, box = program()
    s = a_state()
    c, d = np.random.default_rng(2).uniform(0.05, 0.09, (2, 30))
    step = interior.newton_system(interior.LowRank(G), q, box, s)(c, d)
    new = interior.moved(s, step, 1.0)
    stationarity = G @ (G.T @ new.x) - q + new.y - new.at_low + new.at_high
    assert_allclose(stationarity, 0, atol=1e-9)
    assert_allclose(new.x.sum(), box.total)
    assert_allclose(s.at_low * step.x + (s.x - box.low) * step.at_low, c)
    assert_allclose(-s.at_high * step.x + (box.high - s.x) * step.at_high, d)


def test_step_goes_towards_the_cube_of_what_was_promised():
    G, q, box = program()
    s, Q = a_state(), interior.LowRank(G)
    newton = interior.newton_system(Q, q, box, s)
    down, up = s.x - box.low, box.high - s.x
    look = newton(-s.at_low * down, -s.at_high * up)
    there = interior.moved(s, look, interior.longest(box, s, look))
    before = s.at_low @ down + s.at_high @ up
    after = there.at_low @ (there.x - box.low)
    after += there.at_high @ (box.high - there.x)
    mu = (after / before) ** 3 * before / 60
    step = newton(
        mu - s.at_low * down - look.x * look.at_low,
        mu - s.at_high * up + look.x * look.at_high,
    )
    new = interior.mehrotra_step(Q, q, box, s)
    a = 0.995 * interior.longest(box, s, step)
    assert_allclose(new.x, s.x + a * step.x, atol=1e-12)
    assert_allclose(new.at_low, s.at_low + a * step.at_low, atol=1e-10)
    assert_allclose(new.at_high, s.at_high + a * step.at_high, atol=1e-10)
    assert_allclose(new.y, s.y + a * step.y, atol=1e-10)


def test_longest_step_leaves_nothing_negative():
    one = np.ones(2)
    box = interior.Box(0 * one, 4 * one, 0.0)
    s = interior.State(np.array([1.0, 3.0]), 0.0, one, 2 * one)
    zero = np.zeros(2)
    for change, longest in [
        ((np.array([-4.0, 0.0]), zero, zero), 0.25),  # down to low
        ((np.array([0.0, 2.0]), zero, zero), 0.5),  # up to high
        ((zero, np.array([-5.0, 9.0]), zero), 0.2),
        ((zero, zero, np.array([9.0, -16.0])), 0.125),
        ((np.array([-0.5, 0.5]), -0.5 * one, one), 1.0),
    ]:
        dx, dl, dh = change
        step = interior.State(dx, -1e3, dl, dh)
        assert interior.longest(box, s, step) == longest


def test_both_kinds_of_matrix_solve_alike():
    rng = np.random.default_rng(0)
    G, d = rng.standard_normal((40, 7)), rng.uniform(0.1, 10, 40)
    b = rng.standard_normal(40)
    dense, low = interior.Dense(G @ G.T), interior.LowRank(G)
    assert_allclose(low.times(b), dense.times(b), atol=1e-12)
    assert_allclose(low.plus(d)(b), dense.plus(d)(b), atol=1e-9)
    assert_allclose((G @ G.T + np.diag(d)) @ low.plus(d)(b), b, atol=1e-9)


def test_refinement_finds_the_digits_that_cancel():
    # b is in the range of G: what is left of it after the first solve is
    # its rounding, divided by d.  The narrowest column needs no refinement.
    rng = np.random.default_rng(0)
    G = rng.standard_normal((40, 3)) * [1, 1e-3, 1e-6]
    d, b = np.full(40, 1e-10), G @ rng.standard_normal(3)
    x = interior.LowRank(G).plus(d)(b)
    assert_allclose(G @ (G.T @ x) + d * x, b, rtol=0, atol=1e-6)
    assert (G.T @ G / 1e-10).max() > interior.CANCELS


def test_jitter_carries_a_singular_matrix_over():
    Q = interior.Dense(np.full((5, 5), 2.0**30))
    assert np.isfinite(Q.plus(np.zeros(5))(np.ones(5))).all()
    with pytest.raises(LinAlgError, match="pivot 2 is not positive"):
        interior.cholesky(np.full((5, 5), 2.0**30))


def test_jitter_is_relative_to_each_entry_of_the_diagonal():
    A = np.diag([1.0, 1e6, 0.0]) + 0.5
    before = A.copy()
    interior.with_jitter(A, 1e-3)
    d = before.diagonal()
    assert_allclose(A.diagonal(), d * (1 + 10 * 3 * 1e-3))
    assert_allclose(A - np.diag(A.diagonal()), before - np.diag(d))


def test_pivoted_cholesky_explains_every_diagonal_entry():
    X, _ = toydata.two_blobs(300, 2.0, 0)
    K = kernels.Gaussian(0.5)(X)
    G = interior.pivoted_cholesky(K, 1e-5)
    rest = np.diag(K - G @ G.T)
    assert G.shape[1] < 150
    assert rest.min() > -1e-12
    assert 1e-7 < rest.max() <= 1e-5  # no more columns than needed
    # The rest is positive semi-definite: its diagonal bounds all of it.
    assert_allclose(G @ G.T, K, rtol=0, atol=1e-5)
    assert interior.pivoted_cholesky(np.eye(300), 1e-5) is None


def test_pivoted_cholesky_of_next_to_nothing_has_no_columns_and_is_none():
    assert interior.pivoted_cholesky(np.full((3, 3), 1e-9), 1e-8) is None
