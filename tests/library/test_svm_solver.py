"""Each step of the SVM solver by itself, where no later step can mend it."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelbook import _interior_point as interior
from kernelbook import _progress, kernels, svm, toydata
from kernelbook import _svm_solver as solver
from kernelbook.exceptions import ConvergenceWarning


def problem_of(K, t, C, bias=True):
    return solver.problem(np.array(K), np.array(t, float), C, bias)


def problem(N=40, C=1.0, seed=0, bias=True, scale=1.0):
    X, t = toydata.two_blobs(N, 1.5, seed)
    return problem_of(scale * kernels.Gaussian(0.7)(X), t, C, bias)


def start(p, steps=0):
    zero = solver.point_at(p, np.zeros(len(p.t)))
    return solver.pair_steps(p, zero, steps, free_watch()) if steps else zero


def free_watch():
    return solver.Watch(None, None)


def search_for(p, tolerance=1e-6):
    silent = _progress.Progress("test", wanted=False)
    return solver.Search(p, tolerance, free_watch(), silent)


def somewhere(p, seed=0):
    """A feasible point with v at both bounds and between them."""
    rng = np.random.default_rng(seed)
    alpha = p.C * np.clip(rng.uniform(-0.5, 1.5, len(p.t)), 0, 1)
    plus, minus = alpha[p.t > 0].sum(), alpha[p.t < 0].sum()
    alpha[p.t > 0] *= min(1, minus / plus)
    alpha[p.t < 0] *= min(1, plus / minus)
    return solver.point_at(p, alpha * p.t)


def middle_bias(p, v):
    """Middle of the biases that minimise Σ max(0, 1 - t y)."""
    e = np.sort(p.t - p.K @ v)
    count = int((p.t > 0).sum())
    return (e[count - 1] + e[count]) / 2


def on_free(p, v, free):
    """v with the free ones chosen so that e is constant on them."""
    size = free.sum()
    A = np.ones((size + 1, size + 1))
    A[:size, :size] = p.K[np.ix_(free, free)]
    A[size, size] = 0
    held = np.where(free, 0.0, v)
    right = np.append((p.t - p.K @ held)[free], -held.sum())
    solution = np.linalg.solve(A, right)
    new = held.copy()
    new[free] = solution[:size]
    return new, solution[size]


def pair_step_by_hand(p, v):
    """Where the best pair leads; all of them if several i are best."""
    e = p.t - p.K @ v
    can_rise = np.flatnonzero(v < p.high)
    for i in can_rise[np.isclose(e[can_rise], e[can_rise].max(), rtol=1e-12)]:
        below = [j for j in np.flatnonzero(v > p.low) if e[j] < e[i]]
        curvature = p.K[i, i] + p.K.diagonal() - 2 * p.K[i]
        j = max(below, key=lambda n: (e[i] - e[n]) ** 2 / curvature[n])
        step = (e[i] - e[j]) / curvature[j]
        step = min(step, p.high[i] - v[i], v[j] - p.low[j])
        new = v.copy()
        new[i], new[j] = v[i] + step, v[j] - step
        yield new


@pytest.mark.parametrize("C", [0.3, 2.0, 50.0])
def test_pair_steps_are_those_of_a_slow_loop(C):
    K = problem(40).K * np.outer(*2 * [np.linspace(0.5, 2, 40)])
    p = problem_of(K, problem(40).t, C, bias=True)
    point = start(p)
    for _ in range(40):
        options = list(pair_step_by_hand(p, point.v))
        point = solver.pair_steps(p, point, 1, free_watch())
        off = [np.abs(point.v - v).max() for v in options]
        assert min(off) < 1e-12 * C
        assert_allclose(point.e, p.t - p.K @ point.v, atol=1e-11)
        assert_allclose(point.b, middle_bias(p, point.v), atol=1e-11)
    assert_array_equal(start(p, 40).v, point.v)


def test_pair_steps_reach_the_bounds_exactly_and_end_where_no_pair_helps():
    K, t = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0])
    p = problem_of(K, t, 0.1, bias=True)
    point = start(p, 10**12)
    assert_array_equal(point.v, [0.1, -0.1])
    p = problem(12, 3.0)
    point = start(p, 10**5)
    assert point.relative_gap < 1e-12


def test_pair_steps_end_where_it_is_enough_and_count_those_taken():
    p, watch = problem(40, 0.3), free_watch()
    zero = solver.point_at(p, np.zeros(40))
    for enough in [1.0, 0.1, 0.01]:
        watch.iterations = 0
        point = solver.pair_steps(p, zero, 1000, watch, enough)
        taken = watch.iterations
        assert 1 < taken < 1000
        for steps in [taken, taken - 1]:
            e, v = point.e, point.v
            left = e[v < p.high].max() - e[v > p.low].min()
            assert (left <= enough) == (steps == taken)
            point = solver.pair_steps(p, zero, steps - 1, watch)


def test_enough_is_judged_by_the_largest_difference_and_may_be_reached():
    K = np.array([[1.0, 0.999, 0.0], [0.999, 1.0, 0.0], [0.0, 0.0, 1.0]])
    p = problem_of(K, [1, -1, -1], 1.0)
    e = np.array([1.0, 0.5, -1.0])  # the best partner is the nearer one
    start = solver.Point(np.zeros(3), e, (0.0, 0.0), dual=0.0, gap=1.0)
    for enough, steps in [(1.0, 1), (2.0, 0)]:
        watch = free_watch()
        point = solver.pair_steps(p, start, 1, watch, enough)
        assert watch.iterations == steps
        assert point.v[1] == -steps
    q, watch = problem_of(np.eye(2), [1, -1], 1.0), free_watch()
    zero = solver.point_at(q, np.zeros(2))
    assert not solver.pair_steps(q, zero, 1, watch, 2.0).v.any()


def test_few_rounds_go_on_while_each_takes_a_tenth_off_the_gap(monkeypatch):
    p = problem(40)
    search, gaps = search_for(p), iter([0.5, 0.45, 0.4051, 0.3])
    seen = []

    def rounds(p, point, search, most):
        assert most == 1
        seen.append(next(gaps))
        return replace(point, dual=1 - seen[-1], gap=seen[-1])

    monkeypatch.setattr(solver, "rounds", rounds)
    few = solver.Guess(np.arange(40) < 20, np.zeros(40, bool))
    monkeypatch.setattr(solver, "guess", lambda *_: few)
    solver.few_rounds(p, search.best, search)
    assert seen == [0.5, 0.45, 0.4051]
    search.done = True
    solver.few_rounds(p, search.best, search)
    assert len(seen) == 3


def test_sketch_ends_early_in_units_of_the_targets(monkeypatch):
    asked = []

    def pair_steps(p, point, steps, watch, enough):
        asked.append((steps, enough))
        return point

    monkeypatch.setattr(solver, "pair_steps", pair_steps)
    K, t = np.eye(100), np.linspace(-3.0, 1.0, 100)
    p = solver.tube_problem(K, t, 1.0, 0.5, bias=True)
    search = search_for(p)
    solver.sketch(p, search.best, search)
    assert asked == [(50, 0.005 * 5.0)]  # of t - ε and t + ε


def test_a_descent_that_is_exact_needs_no_pair_steps(monkeypatch):
    p = problem_of(np.eye(2), [1, -1], 2.0)
    search, best = search_for(p), solver.point_at(p, np.array([1.0, -1.0]))
    monkeypatch.setattr(solver, "newton", lambda *_: None)
    monkeypatch.setattr(solver, "subspace_steps", lambda *_: best)
    monkeypatch.setattr(solver, "pair_steps", stop)
    assert solver.rounds(p, search.best, search, 1) is best


@pytest.mark.parametrize("value", [0.0, 1.0, 1e-6])
def test_pairs_without_curvature_go_as_far_as_the_box(value):
    K, t = np.full((3, 3), value), np.array([1.0, -1.0, -1.0])
    p = problem_of(K, t, 5.0, bias=True)
    assert_array_equal(start(p, 1).v, [5.0, -5.0, 0.0])


def test_pair_steps_scale_with_the_kernel():
    p = problem(40, 2.0, bias=False)
    tiny = 2.0**-60
    q = problem_of(tiny * p.K[:40, :40], p.t[:40], 2.0 / tiny, bias=False)
    assert_array_equal(tiny * start(q, 40).v, start(p, 40).v)


def test_pair_steps_end_on_the_bounds_whatever_the_rounding():
    C, v = 1 + solver.EPS, solver.EPS / 2
    assert v + (C - v) != C
    p = problem_of(np.zeros((2, 2)), [1, -1], C, bias=True)
    start = solver.point_at(p, np.array([v, -v]))
    point = solver.pair_steps(p, start, 1, free_watch())
    assert_array_equal(point.v, [C, -C])


def by_hand(K, C=1.0):
    """A problem of two examples whose K nobody has looked at."""
    t, zero = np.array([1.0, -1.0]), np.zeros(2)
    low, high = np.minimum(zero, C * t), np.maximum(zero, C * t)
    K = np.array(K)
    return solver.Problem(K, t, low, high, C, True, K, solver.EPS, None)


INDEFINITE = [
    [[1.0, 1.5], [1.5, 1.0]],
    [[1.0, -1.5], [-1.5, 1.0]],
]


@pytest.mark.parametrize("K", INDEFINITE)
def test_steps_that_meet_an_indefinite_block_refuse_it(K, monkeypatch):
    p, watch = by_hand(K), free_watch()
    point = solver.point_at(p, np.zeros(2))
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5"):
        solver.low_rank_step(p, point, watch)
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5"):
        solver.free_solver(p, p.K - 2 * np.eye(2))
    monkeypatch.setattr(interior, "minimise", lambda *_: None)
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5"):
        solver.subset_step(p, point, 2, watch)


def test_low_rank_step_looks_only_where_an_entry_exceeds_the_diagonal(
    monkeypatch,
):
    looked, largest = [], []
    monkeypatch.setattr(
        solver, "refuse_indefinite", lambda *K: looked.append(K)
    )
    monkeypatch.setattr(
        interior, "pivoted_cholesky", lambda _, limit: largest.append(limit)
    )
    for K, C in [
        ([[4.0, -4.0], [-4.0, 4.0]], 2.0),
        ([[0.25, 0.1], [0.1, 0.25]], 2.0),
        ([[0.5, 0.7], [0.7, 3.5]], 0.1),
    ]:
        p = by_hand(K, C)
        point = solver.point_at(p, np.zeros(2))
        assert solver.low_rank_step(p, point, free_watch()) is point
    assert not looked
    assert_allclose(largest, [1e-4 / 2, 1e-4 / 4, 2e-4])


def test_G_need_not_explain_ten_roundings(monkeypatch):
    largest = []
    monkeypatch.setattr(
        interior, "pivoted_cholesky", lambda _, limit: largest.append(limit)
    )
    p = by_hand(1e12 * np.eye(2))
    solver.low_rank_step(p, solver.point_at(p, np.zeros(2)), free_watch())
    assert_allclose(largest, [1e13 * solver.EPS])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_thousand_roundings_are_none_too_many(sign, monkeypatch):
    looked = []
    monkeypatch.setattr(
        solver, "refuse_indefinite", lambda *K: looked.append(K)
    )
    monkeypatch.setattr(interior, "pivoted_cholesky", lambda *_: None)
    seen = []
    for roundings in [1000, 1001]:
        off = sign * (1 + roundings * solver.EPS)
        p = by_hand([[1.0, off], [off, 1.0]])
        solver.low_rank_step(p, solver.point_at(p, np.zeros(2)), free_watch())
        seen += [len(looked)]
    assert seen == [0, 1]


def test_curvature_below_a_thousand_roundings_makes_the_solver_look(
    monkeypatch,
):
    looked = []
    monkeypatch.setattr(
        solver, "refuse_indefinite", lambda *K: looked.append(K)
    )
    seen = []
    for roundings in [500, 501]:  # K_ii + K_jj - 2K_ij is minus twice that
        off = 1 + roundings * solver.EPS
        start(by_hand([[1.0, off], [off, 1.0]]), 1)
        seen += [len(looked)]
    assert seen == [0, 1]


def test_rounding_is_that_of_the_largest_entry():
    assert by_hand(np.diag([1.0, 4.0])).flat == 4 * solver.EPS


def test_interior_point_gets_goals_relative_to_the_dual_and_a_box(
    monkeypatch,
):
    asked = []
    monkeypatch.setattr(interior, "minimise", lambda *all_: asked.append(all_))
    # The primal is 0.01, and so no v exceeds 0.02.
    K = np.diag([100.0, 100.0, 0.0, 0.0])
    p = problem_of(K, [1, -1, 1, -1], 5.0)
    v, e = np.array([0.01, -0.01, 0.0, 0.0]), np.zeros(4)
    point = solver.Point(v, e, (0.0, 0.0), dual=0.007, gap=0.003)
    solver.low_rank_step(p, point, free_watch())
    solver.subset_step(p, point, 1, free_watch())
    assert_allclose([goal for *_, goal, _ in asked], [7e-12, 7e-15])
    (_, _, low_rank, start_, *_), (_, _, subset, *_) = asked
    assert_allclose(low_rank.high, [0.02, 0, 0.02, 0])
    assert_allclose(low_rank.low, [0, -0.02, 0, -0.02])
    assert_allclose(start_, v)
    assert_allclose(subset.high, [5, 0, 5])


def test_steps_give_up_where_interior_point_does(monkeypatch):
    monkeypatch.setattr(interior, "minimise", lambda *_: None)
    p, watch = problem(20), free_watch()
    point = somewhere(p)
    assert solver.subset_step(p, point, 5, watch) is point
    p = by_hand(np.ones((2, 2)))
    point = solver.point_at(p, np.zeros(2))
    assert interior.pivoted_cholesky(p.K, 1e-6) is not None
    assert solver.low_rank_step(p, point, watch) is point


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_low_rank_step_comes_close_at_any_scale(scale, monkeypatch):
    monkeypatch.setattr(solver, "LOW_RANK", 1e-6)
    p = problem(60, 2.0 / scale, scale=scale)
    inner = solver.low_rank_step(p, start(p, 20), free_watch())
    assert inner.relative_gap < 1e-7


def test_block_that_rounding_spoils_is_left_to_others(monkeypatch):
    def fail(_):
        raise solver.LinAlgError

    monkeypatch.setattr(interior, "cholesky", fail)
    p = problem(20)
    assert solver.free_solver(p, p.K) is None


def test_jitter_carries_a_singular_matrix_over():
    Q = interior.Dense(np.full((5, 5), 2.0**30))
    assert np.isfinite(Q.plus(np.zeros(5))(np.ones(5))).all()
    p = by_hand(np.full((2, 2), 2.0**29))
    step = solver.free_solver(p, np.full((5, 5), 2.0**29))(np.ones(5), 3.0)
    assert_allclose(step.sum(), 3.0)


@pytest.mark.parametrize("power", [-60, 60])
def test_newton_scales_with_the_kernel(power):
    p, s = problem(30, 2.0), 2.0**power
    q = problem_of(s * p.K, p.t, 2.0 / s, bias=True)
    found = [
        solver.newton(r, start(r, 30), r.stride, free_watch()) for r in (p, q)
    ]
    assert solver.point_at(p, found[0]).relative_gap < 1e-12
    assert_array_equal(s * found[1], found[0])


def test_pair_of_negative_curvature_makes_the_solver_look(monkeypatch):
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5"):
        start(by_hand(INDEFINITE[0]), 1)
    looked = []
    monkeypatch.setattr(
        solver, "refuse_indefinite", lambda *K: looked.append(K)
    )
    start(problem(20), 20)
    start(by_hand(np.ones((2, 2))), 1)
    assert not looked


def descent_by_hand(p, v, drops):
    """Towards the solution on the free set, a bound at a time."""
    v = v.copy()
    free = (v > p.low) & (v < p.high)
    for solves in range(drops):
        if free.sum() < 2:
            return v, solves
        step = on_free(p, v, free)[0] - v
        rooms = [
            ((p.high if step[n] > 0 else p.low)[n] - v[n]) / step[n]
            for n in np.flatnonzero(free)
        ]
        v = v + min(1, *rooms) * step
        if min(rooms) >= 1:
            return v, solves + 1
        met = np.flatnonzero(free)[int(np.argmin(rooms))]
        v[met] = p.high[met] if step[met] > 0 else p.low[met]
        free[met] = False
    return v, drops


@pytest.mark.parametrize("drops", [1, 3, 25])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("C", [2.0, 5.0, 20.0])
def test_descent_on_the_free_set_is_that_of_a_slow_loop(
    C, seed, drops, monkeypatch
):
    monkeypatch.setattr(solver, "DROPS", drops)
    p, watch = problem(24, C, seed), free_watch()
    old = somewhere(p, seed)
    v, solves = descent_by_hand(p, old.v, drops)
    assert (
        (v > p.low) & (v < p.high)
    ).sum() > 1  # else two could meet at once
    new = solver.subspace_steps(p, old, watch)
    assert_allclose(new.v, v, atol=1e-10 * C)
    assert_array_equal(new.v == p.high, v == p.high)
    assert_array_equal(new.v == p.low, v == p.low)
    assert_allclose(new.e, p.t - p.K @ v, atol=1e-9)
    assert watch.iterations == solves


def test_descent_needs_two_free_coefficients_and_stays_at_the_optimum():
    t = np.array([1.0, 1.0, -1.0, -1.0])
    p, watch = problem_of(np.eye(4), t, 2.0, bias=True), free_watch()
    best = solver.subspace_steps(p, solver.point_at(p, t), watch)
    assert_array_equal(best.v, t)
    assert watch.iterations == 1
    two = solver.point_at(p, np.array([2.0, 0.5, 0.0, -2.0]) - [0, 0, 0.5, 0])
    new = solver.subspace_steps(p, two, watch)
    assert_allclose(new.v, [2.0, 1.0, -1.0, -2.0])
    one = solver.point_at(p, np.array([2.0, 0.0, -2.0, 0.0]))
    assert solver.subspace_steps(p, one, watch).v.tolist() == one.v.tolist()
    assert watch.iterations == 2


@pytest.mark.parametrize(
    ("room", "step", "part", "met"),
    [
        ([1.5, 4.0], [1.0, 2.0], 1.0, [False, False]),
        ([1.5, -0.5], [1.0, -2.0], 0.25, [False, True]),
        ([0.5, -1.0], [1.0, -2.0], 0.5, [True, True]),
        ([1.0, 4.0], [1.0, 2.0], 1.0, [True, False]),
        ([-2.0, 3.0], [0.0, 1.0], 1.0, [False, False]),  # no step at all
    ],
)
def test_step_ends_at_the_nearest_bound(room, step, part, met):
    new, there = solver.within(np.array(room), np.array(step))
    assert_array_equal(new, part * np.array(step))
    assert_array_equal(there, met)


def test_one_free_coefficient_takes_up_the_sum():
    p = problem_of(np.diag([1.0, 2.0, 3.0]), [1, 1, -1], 0.5)
    now = solver.Guess(np.arange(3) == 2, np.arange(3) == 0)
    zero = solver.point_at(p, np.zeros(3))
    v, e, b = solver.solve_free(p, zero, now)
    assert_allclose(v, [0.5, 0.0, -0.5])
    assert_allclose(e, [0.5, 1.0, 0.5])
    assert_allclose(b, 0.5)


def test_steps_give_up_where_the_free_block_is_not_factorised(monkeypatch):
    monkeypatch.setattr(solver, "free_solver", lambda *_: None)
    p, watch = problem(20, 2.0), free_watch()
    old = somewhere(p)
    assert_array_equal(solver.subspace_steps(p, old, watch).v, old.v)
    assert watch.iterations == 1
    assert solver.newton(p, old, p.stride, watch) is None
    assert watch.iterations == 2


def test_a_round_begins_with_newton_and_its_point_is_final():
    p = problem(30, 0.3)
    search = search_for(p)
    point = solver.rounds(p, start(p, 25), search, 1)
    assert search.done
    assert search.best.relative_gap < 1e-12
    assert_allclose(point.v, search.best.v, atol=1e-12)


def newton_by_hand(p, v, tries):
    """v at the solution, None where it gives up; and how many solves."""
    e, b = p.t - p.K @ v, middle_bias(p, v)
    aim = v + (e - b) / p.K.diagonal().mean()
    state = np.where(aim <= p.low, -1, np.where(aim >= p.high, 1, 0))
    wrong_before = (state == 0).sum()
    for solves in range(1, tries + 1):
        held = np.where(state > 0, p.high, p.low)
        if not (state == 0).any():
            return None, solves
        v, b = on_free(p, held, state == 0)
        e = p.t - p.K @ v
        mended = state.copy()
        for n in range(len(v)):
            if state[n] == 0 and not p.low[n] <= v[n] <= p.high[n]:
                mended[n] = 1 if v[n] > p.high[n] else -1
            elif state[n] != 0 and state[n] * (e[n] - b) < 0:
                mended[n] = 0
        wrong = (mended != state).sum()
        if wrong == 0:
            return v, solves
        if 2 * wrong > wrong_before:
            return None, solves
        wrong_before, state = wrong, mended
    return None, tries


@pytest.mark.parametrize("steps", [0, 6, 12, 25])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("C", [0.05, 0.3, 2.0, 20.0])
@pytest.mark.parametrize("tries", [2, 12])
def test_newton_is_that_of_a_slow_loop(C, seed, steps, tries, monkeypatch):
    monkeypatch.setattr(solver, "NEWTON_TRIES", tries)
    p, watch = problem(30, C, seed, scale=3.0), free_watch()
    old = start(p, steps)
    v, solves = newton_by_hand(p, old.v, tries)
    new = solver.newton(p, old, p.stride, watch)
    assert watch.iterations == solves
    if v is None:
        assert new is None
    else:
        assert_allclose(new, v, atol=1e-9 * C)
        assert solver.point_at(p, new).relative_gap < 1e-12


def test_newton_leaves_at_its_bound_what_is_on_the_margin_too():
    K, t = np.diag([1.0, 1.0, 2.0, 2.0, 0.5, 0.5]), np.array(3 * [1.0, -1.0])
    p, watch = problem_of(K, t, 1.0, bias=True), free_watch()
    best = solver.point_at(p, np.array([1.0, -1.0, 0.5, -0.5, 1.0, -1.0]))
    assert_array_equal(best.e, [0, 0, 0, 0, 0.5, -0.5])
    assert_allclose(solver.newton(p, best, p.stride, watch), best.v)
    assert watch.iterations == 1


LOW, FREE, HIGH = -1, 0, 1
OF_V, OF_E = solver.SURE * 4.0, solver.SURE * 2.0


def test_guess_is_mended_where_it_is_wrong_beyond_rounding():
    # The longest v is 4 and the largest e - b 2: rounding is 1e-10 of these.
    table = [
        (1, -4.0, 0.0, FREE, LOW),
        (1, 0.0, -2.0, LOW, LOW),
        (1, -3.5e-10, 0.0, FREE, FREE),
        (1, -OF_V, 0.0, FREE, FREE),
        (1, -4.5e-10, 0.0, FREE, LOW),
        (1, 3.5e-10, 0.0, FREE, FREE),
        (-1, 3.5e-10, 0.0, FREE, FREE),
        (-1, OF_V, 0.0, FREE, FREE),
        (-1, 4.5e-10, 0.0, FREE, HIGH),
        (-1, -3.5e-10, 0.0, FREE, FREE),
        (1, 0.0, 1.5e-10, LOW, LOW),
        (1, 0.0, OF_E, LOW, LOW),
        (1, 0.0, 2.5e-10, LOW, FREE),
        (1, 0.0, -1.5e-10, LOW, LOW),
        (1, 3.0, -1.5e-10, HIGH, HIGH),
        (1, 3.0, -OF_E, HIGH, HIGH),
        (1, 3.0, -2.5e-10, HIGH, FREE),
        (1, 3.0, 1.5e-10, HIGH, HIGH),
        (1, 1.0, 0.5, FREE, FREE),
    ]
    t, v, excess, before, after = np.array(table).T
    p = problem_of(np.eye(len(t)), t, 3.0)
    now = solver.Guess(before == FREE, before == HIGH)
    found = solver.mended(p, now, v, excess)
    assert_array_equal(found, [after == FREE, after == HIGH])


def test_guess_is_where_a_gradient_step_ends():
    # v and e - b on and off both bounds, a mean diagonal of 2.
    p = problem_of(np.diag([1.0, 3.0, 2.0, 2.0]), [1, 1, -1, -1], 4.0, True)
    assert p.scale == 2
    assert problem_of(np.zeros((2, 2)), [1, -1], 1.0, True).scale > 0
    v = np.array([1.0, 2.0, -4.0, 0.0])
    for change, free, at_high in [
        ([0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]),
        ([-2, 4, 8, -8], [0, 0, 0, 0], [0, 1, 1, 0]),
        ([6, -4, 2, -2], [0, 0, 1, 1], [1, 0, 0, 0]),
        ([5.9, -3.9, 7.9, -7.9], [1, 1, 1, 1], [0, 0, 0, 0]),
    ]:
        e = np.array(change) + 3.0
        point = solver.Point(v, e, (2.0, 4.0), dual=1.0, gap=1.0)
        found = solver.guess(p, point, p.stride)
        assert_array_equal(found, np.array([free, at_high], bool))


def test_few_rows_of_K_are_read_where_few_coefficients_change():
    K = np.full((20, 20), np.nan)
    v = np.zeros(20)
    v[[1, 5, 7, 16, 18]] = 1, 2, 3, 4, 5
    rng = np.random.default_rng(0)
    K[v != 0] = rng.standard_normal((5, 20))
    assert_allclose(solver.times(K, v), v[v != 0] @ K[v != 0])
    one = np.where(v == 3, v, 0.0)
    assert_allclose(solver.times(K, one), 3 * K[7])
    K = rng.standard_normal((20, 20))
    K += K.T
    for w in [v, K[0], np.zeros(20)]:
        assert_allclose(solver.times(K, w), K @ w, atol=1e-12)


@pytest.mark.parametrize("C", [0.3, 20.0])
def test_clamping_puts_on_their_bounds_those_that_belong_there(C):
    p = problem(30, C)
    best = svm.fit_dual(p.K, p.t, C)
    rng = np.random.default_rng(0)
    inward = best.coefficients * (1 - 1e-6)
    near = solver.point_at(p, inward + 1e-9 * rng.uniform(size=30) * p.t)
    clamped = solver.clamp(p, near, p.stride)
    assert_array_equal(clamped == 0, best.alpha == 0)
    assert_array_equal(np.abs(clamped) == C, best.alpha == C)
    assert abs(clamped.sum()) < 1e-12 * C
    held = best.bounded
    assert_array_equal(clamped[held], best.coefficients[held])


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 2.0**40])
def test_projection_ends_in_the_box_with_sum_zero(unit):
    p = problem(30, 2.0 * unit)
    rng = np.random.default_rng(0)
    for scale in [0.1, 1.0, 3.0]:
        v = unit * (p.t + scale * rng.standard_normal(30))
        before = v.copy()
        new = solver.project(p, v)
        assert_array_equal(v, before)
        assert np.all((new >= p.low) & (new <= p.high))
        assert abs(new.sum()) <= 1e-14 * np.abs(new).sum()
    # Already feasible: untouched.  Inside: all by the same amount.
    v = somewhere(p).v
    assert_allclose(solver.project(p, v), v, rtol=0, atol=1e-14 * unit)
    v = unit * p.t
    v[3] += 0.3 * unit
    moved = v - v.sum() / 30
    assert_allclose(solver.project(p, v), moved, rtol=0, atol=1e-14 * unit)
    corner = np.where(p.t > 0, p.high, 0.0)  # nothing inside could move
    assert_array_equal(solver.project(p, corner), corner)


def test_interior_point_needs_few_rounds():
    for C, most in [(0.1, 7), (1.0, 10), (10.0, 11), (1e3, 13)]:
        p, watch = problem(60, C), free_watch()
        box = interior.Box(p.low, p.high, 0.0)
        x = interior.minimise(
            interior.Dense(p.K), p.t, box, np.zeros(60), 1e-9 * C, watch.spend
        )
        point = solver.point_at(p, solver.project(p, x))
        assert point.relative_gap < 1e-7
        assert watch.iterations <= most


@pytest.mark.parametrize(("N", "most"), [(100, 100), (300, 200), (606, 202)])
def test_pivoted_cholesky_stops_when_G_gets_wide(N, most):
    n = np.arange(N)
    for rank in [most - 1, most]:
        K = 4.0 * (n[:, None] % rank == n % rank)
        G = interior.pivoted_cholesky(K, 1e-9)
        if rank == most:
            assert G is None
        else:
            assert G.shape == (N, rank)
            assert_allclose(G @ G.T, K)
    assert interior.pivoted_cholesky(np.ones((3, 3)), 0.0).shape == (3, 1)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("extra", [0, 1, 3, 6, 100])
def test_subset_step_optimises_free_and_worst_violators(extra, seed, scale):
    p = problem(40, 2.0 / scale, seed, scale=scale)
    old, watch = somewhere(p, seed), free_watch()
    new = solver.subset_step(p, old, extra, watch)
    free = (old.v > p.low) & (old.v < p.high)
    y = p.K @ old.v + old.b
    terms = svm.gap_terms(old.v * p.t, y, p.t, p.C)
    others = sorted(np.flatnonzero(~free), key=lambda n: -terms[n])
    held = np.array(others[extra:], int)
    assert 0 < free.sum() < 37
    assert_array_equal(new.v[held], old.v[held])
    chosen = np.setdiff1d(np.arange(40), held)
    worst = np.array(others[: min(extra, 1)], int)
    assert np.all(new.v[worst] != old.v[worst])
    inside = chosen[(new.v - p.low)[chosen] > 1e-5 * p.C]
    inside = inside[(p.high - new.v)[inside] > 1e-5 * p.C]
    b = new.e[inside].mean()
    assert_allclose(new.e[inside], b, atol=1e-6)
    at = np.setdiff1d(chosen, inside)
    assert_array_equal(new.e[at] > b, new.v[at] > (p.low + p.high)[at] / 2)
    if extra == 100:
        assert new.relative_gap < 1e-9


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("bias", [True, False])
def test_certificate_of_any_point_is_that_of_the_lesson(bias, far):
    K, t = problem(20).K + far, problem(20).t
    p = problem_of(K, t, 2.0, bias)
    assert (p.origin is None) == (far == 0)
    v = somewhere(problem(20, 2.0)).v
    if not bias:
        v = np.append(v * np.linspace(1 - 1e-6, 1, 20), 0.0)
        v[-1] = -math.fsum(v)
    point = solver.point_at(p, v)
    v, e = solver.as_given(p, point)
    assert_allclose(e, t - K @ v, atol=1e-12 * (1 + 1e2 * far))
    ends = svm.bias_interval(e, t) if bias else (0.0, 0.0)
    shift = point.e[0] - e[0]
    assert_allclose(np.array(point.biases) - shift, ends, atol=1e-9)
    y = t - e + np.mean(ends)
    gap = svm.gap_terms(v * t, y, t, 2.0).sum()
    assert_allclose(point.gap, gap, rtol=1e-8)
    dual = svm.dual_objective(v * t, K, t)
    assert_allclose(point.dual, dual, rtol=1e-6)
    assert_allclose(point.relative_gap, gap / (gap + dual), rtol=1e-6)


def test_a_point_that_rounding_has_spoilt_has_the_largest_relative_gap():
    spoilt = solver.Point(np.zeros(2), np.zeros(2), (0.0, 0.0), -1.0, 1.5)
    assert spoilt.relative_gap == 1
    assert replace(spoilt, dual=0.0, gap=0.0).relative_gap == 1
    assert replace(spoilt, dual=3.0, gap=1.0).relative_gap == 0.25


def test_phantom_takes_up_the_sum_without_bounds():
    K = problem(20, 2.0).K
    t = np.ones(20)
    t[0] = -1.0
    p = problem_of(K, t, 2.0, bias=False)
    assert_array_equal(p.K, np.pad(K, (0, 1)))
    assert_array_equal(p.t, [*t, 0])
    assert p.low[-1] <= -2.0 * 20
    assert p.high[-1] >= 2.0 * 20
    assert p.high[-1] == -p.low[-1]
    assert_array_equal(p.low[:-1], np.where(t > 0, 0, -2))
    assert_array_equal(p.high[:-1], np.where(t > 0, 2, 0))


def clock(monkeypatch):
    now = SimpleNamespace(seconds=100.0)
    for name in ("monotonic", "process_time"):
        monkeypatch.setattr(solver.time, name, lambda: now.seconds)
    return now


def test_watch_grants_what_is_left_and_then_stops(monkeypatch):
    now = clock(monkeypatch)
    watch = solver.Watch(5, 7.0)
    assert [watch.spend(3), watch.spend(3)] == [3, 2]
    assert watch.iterations == 5
    with pytest.raises(solver.Stop, match="max_iterations"):
        watch.spend(1)
    watch = solver.Watch(None, 7.0)
    now.seconds = 107.0
    assert watch.spend(10**9) == 10**9
    now.seconds = 107.1
    with pytest.raises(solver.Stop, match="max_seconds"):
        watch.spend(1)


def test_search_reports_its_best_gap_every_ten_seconds(monkeypatch, capsys):
    now = clock(monkeypatch)
    p = problem(20)
    report = _progress.Progress("svm.fit_dual")
    search = solver.Search(p, 1e-6, free_watch(), report)
    search.watch.spend(12)
    for seconds in [109.9, 110.0, 113.0]:
        now.seconds = seconds
        search.note(search.best)
    said = capsys.readouterr().err
    expected = "svm.fit_dual: 10 s, 12 iterations, relative gap 1.0e+00\n"
    assert said == expected


@pytest.mark.parametrize("size", [2, 10])
@pytest.mark.parametrize("eps", [solver.EPS, 1e-7])
def test_definiteness_is_judged_beyond_rounding(size, eps):
    def refuse(K):
        solver.refuse_indefinite(K, eps)

    def probe(K):
        solver.probe(K, K.copy(), eps)

    d = np.full(size, 3.0)
    for lowest, good in [(-5, True), (-15, False)]:
        d[0] = lowest * eps * 3.0 * (size - 1)
        for judge in [refuse, probe]:
            if good:
                judge(np.diag(d))
            else:
                with pytest.raises(ValueError, match="eigenvalue -"):
                    judge(np.diag(d))
    for judge in [refuse, probe]:
        with pytest.raises(ValueError, match="eigenvalue -1"):
            judge(np.diag([1.0, -1.0]))


def test_probe_leaves_singular_matrices_in_peace(monkeypatch):
    looked = []
    monkeypatch.setattr(
        solver, "refuse_indefinite", lambda *K: looked.append(K)
    )
    for K in [np.full((50, 50), 0.5), np.diag(np.arange(50.0) > 0) * 1.0]:
        solver.probe(K, K.copy())
    assert not looked


def test_block_is_of_evenly_spaced_examples_from_first_to_last():
    K = np.arange(511.0)[:, None] * 1000 + np.arange(511.0)
    seen = solver.evenly_spaced(K)
    assert seen.shape == (256, 256)
    assert_array_equal(seen[0, :3], [0, 2, 4])
    assert seen[-1, -1] == 510_510
    small = np.ones((256, 256))
    seen = solver.evenly_spaced(small)
    seen[0, 0] = 7
    assert_array_equal(small, 1)  # the block is a copy
    assert_array_equal(solver.evenly_spaced(K[:3, :3]), K[:3, :3])


def test_problem_refuses_what_the_block_shows_and_no_more():
    t = np.where(np.arange(511) % 2 == 0, 1.0, -1.0)
    for i, j in [(0, 510), (2, 4)]:
        bad = np.eye(511)
        bad[i, j] = bad[j, i] = 2.0
        with pytest.raises(ValueError, match="eigenvalue -1"):
            problem_of(bad, t, 1.0)
    bad = np.eye(511)
    bad[1, 3] = bad[3, 1] = 2.0
    problem_of(bad, t, 1.0)  # the solver will see it


# ---------------------------------------------- the origin and the rounding


def far_examples(distance, N=40):
    X, t = toydata.two_blobs(N, 1.5, 0)
    return X + distance, t


def test_origin_moves_to_the_example_in_the_midst():
    X, t = far_examples(50.0)
    p = problem_of(X @ X.T, t, 1.0)
    middle = int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmin())
    assert p.origin == middle
    Y = X - X[middle]
    assert_allclose(p.K, Y @ Y.T, atol=1e-9)
    assert_array_equal(p.K, p.K.T)
    assert_array_equal(p.given, X @ X.T)


def test_origin_stays_unless_the_examples_are_ten_times_as_far():
    for far, moves in [(8.9, False), (9.1, True)]:
        # Squared distance 1 from their mean, up to 1 / N.
        K = np.eye(1000) + far
        t = np.where(np.arange(1000) % 2, 1.0, -1.0)
        assert (problem_of(K, t, 1.0).origin is not None) == moves


def test_gram_seen_from_an_example_is_symmetric_to_the_last_digit():
    X = np.random.default_rng(0).standard_normal((30, 4))
    K = solver.seen_from(X @ X.T, 3)
    assert_array_equal(K, K.T)
    Y = X - X[3]
    assert_allclose(K, Y @ Y.T, atol=1e-12)


def test_moved_origin_keeps_every_digit_of_a_large_offset():
    p = problem()
    K = np.round(p.K * 2**20) / 2**20  # numbers that survive the addition
    far = problem_of(K + 2.0**30, p.t, 1.0)
    r = far.origin
    exact = K - K[r] - K[:, [r]] + K[r, r]
    assert_array_equal(far.K, exact)


@pytest.mark.parametrize("bias", [True, False])
def test_moved_origin_leaves_the_certificate_as_it_is(bias):
    X, t = far_examples(9.0)
    K = X @ X.T
    p = problem_of(K, t, 0.3, bias)
    assert p.origin is not None
    v = somewhere(problem(40, 0.3)).v
    v = v if bias else np.append(v, -v.sum())
    here = solver.point_at(p, v)
    there = solver.point_at(replace(p, K=K if bias else np.pad(K, (0, 1))), v)
    assert_allclose(here.gap, there.gap, rtol=1e-9)
    assert_allclose(here.dual, there.dual, rtol=1e-9)
    assert_allclose(np.ptp(here.e - there.e), 0, atol=1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_balance_leaves_the_sum_to_the_finest_number_inside(bias):
    p = problem_of(np.eye(4), [1, 1, -1, -1], 3.0, bias)
    phantom = [] if bias else [0.1]
    v = np.array([3.0, 0.3, -2.0, -1.3 + 1e-9, *phantom])
    new = solver.balanced(p, v)
    assert_array_equal(np.flatnonzero(new[:4] != v[:4]), [1])
    assert_allclose(new[:4].sum(), -sum(phantom), atol=1e-15)
    assert abs(math.fsum(new)) <= 1e-16
    phantom = [0.0][bias:]
    tiny = np.array([3.0, 1e-12, -3.0, -1e-9, *phantom])
    assert solver.balanced(p, tiny)[1] == pytest.approx(1e-9)
    beyond = np.array([3.0, 1e-12, -2.0, -2e-12, *phantom])
    new = solver.balanced(p, beyond)
    assert new[1] == 0  # as far as its bound
    assert_array_equal(new[[0, 2, 3]], beyond[[0, 2, 3]])
    assert bias or abs(math.fsum(new)) <= 1e-16
    corner = np.array([3.0, 0.0, -3.0, 0.0, *phantom])
    assert_array_equal(solver.balanced(p, corner), corner)


@pytest.mark.parametrize(
    ("v", "finest"),
    [
        ([3.0, 0.0, -2.0, -1.0 + 1e-9], 3),  # 0 is the lower bound
        ([2.0, 1.0 + 1e-9, -3.0, 0.0], 1),  # 0 is the upper bound
    ],
)
def test_balance_leaves_alone_what_is_on_its_bound(v, finest):
    p = problem_of(np.eye(4), [1, 1, -1, -1], 3.0)
    new = solver.balanced(p, np.array(v))
    assert_array_equal(np.flatnonzero(new != v), [finest])
    assert math.fsum(new) == 0


def test_recomputed_point_forgets_the_drift_of_e():
    p = problem(30, 2.0)
    point = somewhere(p)
    drifted = replace(point, e=point.e + 1e-3)
    assert_allclose(solver.recomputed(p, drifted).e, point.e, atol=1e-12)


def test_a_small_gap_is_believed_only_after_e_is_computed_anew():
    p = problem(30, 2.0)
    point = start(p, 10)
    assert 0.25 < point.relative_gap < 0.99
    search = search_for(p)
    search.note(replace(point, gap=0.0))
    assert search.best.relative_gap == pytest.approx(point.relative_gap)
    search = search_for(p, 0.25)
    search.note(replace(point, dual=3.0, gap=1.0))
    assert search.best.relative_gap == pytest.approx(point.relative_gap)


@pytest.mark.parametrize("bias", [True, False])
def test_longer_margins_close_the_gap_that_rounding_leaves(bias):
    # The margins are short by 1e-9, and C is 1e12 times the primal.
    K, t = 1e6 * np.eye(4), np.array([1.0, 1.0, -1.0, -1.0])
    p = problem_of(K, t, 1e6, bias)
    v = 1e-6 * (1 - 1e-9) * t
    point = solver.point_at(p, v if bias else np.append(v, 0.0))
    assert point.relative_gap > 0.99
    longer = solver.outward(p, point)
    assert longer.relative_gap < 1e-8
    assert np.all(p.t[:4] * (longer.e - longer.b)[:4] < 0)  # none is short
    assert np.all(np.abs(longer.v[:4]) < 1.01e-6)
    search = search_for(p)
    search.propose(point.v)  # tries the longer one if the other will not do
    assert search.done
    # Not where a coefficient would leave its box.
    tight = problem_of(K, t, 1e-6, bias)
    assert solver.outward(tight, point) is point


def test_how_much_longer_is_what_is_short_and_what_is_rounding():
    # |K||v| is 4e5 and 2e5; a margin is short by 1e-10, the other long.
    p = by_hand([[3e8, -1e8], [-1e8, 1e8]])
    v, e = np.array([1e-3, -1e-3]), np.array([1e-10, 5e-10])
    point = solver.Point(v, e + 0.25, (0.0, 0.5), dual=1.0, gap=1.0)
    longer = solver.outward(p, point).v / v - 1
    expected = 2 * 1e-10 + 4 * 4e5 * solver.EPS
    assert_allclose(longer, expected, rtol=1e-5)


@pytest.mark.parametrize("v", [[0.25, -1.0], [1.0, -0.25], [1 - 1e-10, -0.5]])
def test_nothing_gets_longer_than_its_box(v):
    p, e = by_hand(np.zeros((2, 2))), np.array([1e-9, 0.0])
    point = solver.Point(np.array(v), e, (0.0, 0.0), dual=1.0, gap=1.0)
    assert solver.outward(p, point) is point
    at_its_end = replace(point, e=np.zeros(2), v=np.array([1.0, -1.0]))
    assert solver.outward(p, at_its_end) is at_its_end


# ------------------------------------------------------------ the schedule


def made_of(points, monkeypatch, stop=None, **options):
    """The machine of a solver whose one stage makes these points."""

    def stage(p, point, search):
        for v, final in points:
            search.watch.spend(1)
            point = solver.point_at(p, np.array(v))
            if final:
                search.propose(point.v)
            else:
                search.note(point)
            if search.done:
                return point
        if stop:
            raise stop
        return point

    monkeypatch.setattr(solver, "STAGES", (stage,))
    # The best point is (1, -1).
    return svm.fit_dual(np.eye(2), [1, -1], 2.0, **options)


def test_solver_returns_the_first_proposal_within_tolerance(monkeypatch):
    best, good = [1.0, -1.0], [1 - 1e-8, -1 + 1e-8]
    m = made_of([(best, False), (good, True), (best, True)], monkeypatch)
    assert m.status == "converged"
    assert m.iterations == 2
    assert_array_equal(m.coefficients, good)
    zero = made_of([([0.0, 0.0], True)], monkeypatch, tolerance=1.0)
    assert zero.relative_gap == 1
    assert zero.status == "converged"


def test_solver_settles_for_a_rough_point_if_no_proposal_will_do(monkeypatch):
    rough, bad = [1 - 1e-8, -1 + 1e-8], [2.0, -2.0]
    m = made_of([(rough, False), (bad, True)], monkeypatch)
    assert m.status == "converged"
    assert_array_equal(m.coefficients, rough)


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        (None, "stalled"),
        (solver.Stop("max_seconds"), "max_seconds"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_solver_that_ends_early_returns_its_best_point(
    stop, status, monkeypatch
):
    points = [([v, -v], True) for v in [0.5, 0.9, 0.9 + 1e-17, 0.7]]
    monkeypatch.setattr(solver, "outward", lambda _, point: point)
    with pytest.warns(ConvergenceWarning, match=status):
        m = made_of(points, monkeypatch, stop)
    assert m.status == status
    assert m.iterations == 4
    assert_array_equal(m.coefficients, [0.9, -0.9])
    with pytest.warns(ConvergenceWarning, match=status):
        m = made_of([], monkeypatch, stop)
    assert m.status == status
    assert_array_equal(m.alpha, [0, 0])
    assert m.relative_gap == 1


def order_of_the_steps(N, free, tolerance, monkeypatch):
    """What the solver would do if no step ever helped."""
    seen = []

    def idle(name, answer):
        def step(p, point, *rest):
            seen.append((name, *[r for r in rest if isinstance(r, int)]))
            return answer(point)

        monkeypatch.setattr(solver, name, step)

    def propose(search, v):
        seen.append("propose")
        return search.best

    for name in ["pair_steps", "subspace_steps", "low_rank_step"]:
        idle(name, lambda point: point)
    idle("clamp", lambda point: point.v)
    idle("subset_step", lambda point: point)
    idle("newton", lambda _: None)
    free_ones = solver.Guess(np.arange(N) < free, np.zeros(N, bool))
    monkeypatch.setattr(solver, "guess", lambda *_: free_ones)
    monkeypatch.setattr(solver, "ROUNDS", 2)
    monkeypatch.setattr(solver.Search, "propose", propose)
    K, t = np.eye(N), np.where(np.arange(N) % 2, 1.0, -1.0)
    p, watch = problem_of(K, t, 1.0, bias=True), free_watch()
    silent = _progress.Progress("test", wanted=False)
    point, status = solver.solve(p, tolerance, watch, silent)
    assert not point.v.any()
    assert status == ("converged" if tolerance == 1.0 else "stalled")
    return seen


@pytest.mark.parametrize(
    ("N", "quarter", "tenth"), [(40, 20, 10), (84, 21, 10), (200, 50, 20)]
)
@pytest.mark.parametrize("many_free", [0, 1])
@pytest.mark.parametrize("tolerance", [1.0, 0.9])
def test_order_of_the_steps_if_none_helps(
    N, quarter, tenth, many_free, tolerance, monkeypatch
):
    found = order_of_the_steps(N, quarter + many_free, tolerance, monkeypatch)
    as_it_is = ["propose"] if tolerance == 1.0 else []
    round_ = [("newton",), *as_it_is, ("subspace_steps",)]
    if not as_it_is:  # for that the gap is too large
        round_ += [("pair_steps", tenth)]
    expected = [("pair_steps", quarter)]
    expected += [] if many_free else round_
    expected += [("low_rank_step",), ("newton",), ("clamp",), "propose"]
    expected += [*round_, *round_]
    extras = [100, 200, 400] if N <= 100 else [100, 200, 400, 800]
    for extra in extras:
        expected += [("subset_step", extra), ("newton",), ("clamp",)]
        expected += ["propose", "propose", ("pair_steps", quarter)]
    assert found == expected


def test_stages_end_when_the_search_is_over(monkeypatch):
    after = []

    def good(p, point, search):
        search.done = True
        return point

    def late(p, point, search):
        after.append(point)
        return point

    monkeypatch.setattr(solver, "STAGES", (good, late))
    p = problem(20)
    solver.solve(p, 1e-6, free_watch(), _progress.Progress("test", False))
    assert not after


def test_long_stride_finds_the_bounds_of_an_interior_point():
    # Off its bound by 1e-3 C, and the margin is missed by 0.1: at the bound.
    p = problem_of(100.0 * np.eye(4), [1, 1, -1, -1], 10.0)
    v = np.array([0.01, 5.0, -5.0, -0.01])
    e = np.array([-0.1, 0.0, 0.0, 0.1])
    point = solver.Point(v, e, (0.0, 0.0), dual=1.0, gap=1.0)
    assert solver.guess(p, point, p.stride).free.all()
    free, at_high = solver.guess(p, point, p.long_stride)
    assert_array_equal(free, [False, True, True, False])
    assert_array_equal(at_high, [False, False, False, True])
    flat = problem_of(1e-3 * np.eye(4), [1, 1, -1, -1], 10.0)
    assert flat.long_stride == pytest.approx(1000)


def test_projection_leaves_the_phantom_alone_while_an_example_can_move():
    p = problem_of(np.eye(4), [1, 1, -1, -1], 3.0, bias=False)
    new = solver.project(p, np.array([1.0, 3.0, -2.0, 0.0, -2.5]))
    assert_allclose(new, [1.25, 3.0, -1.75, 0.0, -2.5])
    corner = solver.project(p, np.array([3.0, 0.0, -3.0, 0.0, 0.4]))
    assert_allclose(corner, [3.0, 0.0, -3.0, 0.0, 0.0], atol=1e-15)


def point_with(p, gap):
    """A point that says so of its gap."""
    return replace(solver.point_at(p, np.zeros(len(p.t))), dual=1.0, gap=gap)


def test_the_higher_point_is_that_of_the_higher_dual():
    low = point_with(problem(20), 0.1)
    high = replace(low, dual=2.0, gap=9.0)
    assert solver.higher(low, high) is high
    assert solver.higher(high, low) is high


def test_gap_of_just_the_tolerance_will_do():
    p = problem(20)
    search = search_for(p, tolerance=1.0)
    search.propose(np.zeros(20))
    assert search.done


def stop(*_):
    raise solver.Stop("max_seconds")


def test_a_limit_met_after_interior_point_does_not_lose_its_point(
    monkeypatch,
):
    p = problem(20)
    search, good = search_for(p), point_with(p, 0.1)
    monkeypatch.setattr(solver, "low_rank_step", lambda *_: good)
    monkeypatch.setattr(solver, "finished", stop)
    with pytest.raises(solver.Stop):
        solver.low_rank(p, search.best, search)
    assert search.best is good


def test_a_limit_met_after_a_descent_does_not_lose_its_point(monkeypatch):
    p = problem(20)
    search, good = search_for(p), point_with(p, 0.1)
    monkeypatch.setattr(solver, "newton", lambda *_: None)
    monkeypatch.setattr(solver, "subspace_steps", lambda *_: good)
    monkeypatch.setattr(solver, "pair_steps", stop)
    with pytest.raises(solver.Stop):
        solver.rounds(p, search.best, search, 1)
    assert search.best is good


def test_what_newton_finds_is_proposed_and_ends_the_rounds(monkeypatch):
    p = problem_of(np.eye(2), [1, -1], 2.0)
    search, best = search_for(p), np.array([1.0, -1.0])
    rough = solver.point_at(p, np.array([1 - 1e-8, -1 + 1e-8]))
    assert rough.relative_gap < search.tolerance
    monkeypatch.setattr(solver, "newton", lambda *_: best)
    monkeypatch.setattr(solver, "subspace_steps", stop)
    assert_array_equal(solver.rounds(p, rough, search, 3).v, best)
    assert search.done


def test_subsets_grow_no_more_when_the_search_is_over(monkeypatch):
    p = problem_of(np.eye(2), [1, -1], 2.0)
    best = solver.point_at(p, np.array([1.0, -1.0]))
    monkeypatch.setattr(solver, "subset_step", lambda *_: best)
    monkeypatch.setattr(solver, "pair_steps", stop)
    search = search_for(p)
    assert solver.growing_subsets(p, search.best, search) is best
    assert search.done
