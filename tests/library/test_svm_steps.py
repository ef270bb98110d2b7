"""Each step of the SVM solver by itself, where no later step can mend it."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelbook import kernels, svm, toydata


def problem(N=40, C=1.0, seed=0, bias=True, scale=1.0):
    X, t = toydata.two_blobs(N, 1.5, seed)
    return svm._problem(scale * kernels.Gaussian(0.7)(X), t, C, bias)


def start(p, steps=0):
    return svm._pair_steps(p, svm._at(p, np.zeros(len(p.t))), steps)


def free_watch():
    return svm._Watch(None, None, progress=False)


def somewhere(p, seed=0):
    """A feasible point with v at both bounds and between them."""
    rng = np.random.default_rng(seed)
    alpha = p.C * np.clip(rng.uniform(-0.5, 1.5, len(p.t)), 0, 1)
    plus, minus = alpha[p.t > 0].sum(), alpha[p.t < 0].sum()
    alpha[p.t > 0] *= min(1, minus / plus)
    alpha[p.t < 0] *= min(1, plus / minus)
    return svm._at(p, alpha * p.t)


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
    p = svm._problem(K, problem(40).t, C, bias=True)
    point = start(p)
    for _ in range(40):
        options = list(pair_step_by_hand(p, point.v))
        point = svm._pair_steps(p, point, 1)
        off = [np.abs(point.v - v).max() for v in options]
        assert min(off) < 1e-12 * C
        assert_allclose(point.e, p.t - p.K @ point.v, atol=1e-11)
        assert_allclose(point.b, middle_bias(p, point.v), atol=1e-11)
    assert_array_equal(start(p, 40).v, point.v)


def test_pair_steps_reach_the_bounds_exactly_and_end_where_no_pair_helps():
    K, t = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0])
    p = svm._problem(K, t, 0.1, bias=True)
    point = start(p, 10**12)
    assert_array_equal(point.v, [0.1, -0.1])
    p = problem(12, 3.0)
    point = start(p, 10**5)
    assert svm._certify(p, point).relative_gap < 1e-12


@pytest.mark.parametrize("value", [0.0, 1.0, 1e-6])
def test_pairs_without_curvature_go_as_far_as_the_box(value):
    K, t = np.full((3, 3), value), np.array([1.0, -1.0, -1.0])
    p = svm._problem(K, t, 5.0, bias=True)
    assert_array_equal(start(p, 1).v, [5.0, -5.0, 0.0])


def test_pair_steps_scale_with_the_kernel():
    p = problem(40, 2.0, bias=False)
    tiny = 2.0**-60
    q = svm._problem(tiny * p.K[:40, :40], p.labels, 2.0 / tiny, bias=False)
    assert_array_equal(tiny * start(q, 40).v, start(p, 40).v)


def test_pair_steps_end_on_the_bounds_whatever_the_rounding():
    C, v = 1 + svm.EPS, svm.EPS / 2
    assert v + (C - v) != C
    p = svm._problem(np.zeros((2, 2)), [1, -1], C, bias=True)
    point = svm._pair_steps(p, svm._at(p, np.array([v, -v])), 1)
    assert_array_equal(point.v, [C, -C])


def by_hand(K, C=1.0):
    """A problem of two examples whose K nobody has looked at."""
    t, zero = np.array([1.0, -1.0]), np.zeros(2)
    low, high = np.minimum(zero, C * t), np.maximum(zero, C * t)
    return svm._Problem(np.array(K), t, low, high, C, t, bias=True)


INDEFINITE = [
    [[1.0, 1.5], [1.5, 1.0]],
    [[1.0, -1.5], [-1.5, 1.0]],
]


@pytest.mark.parametrize("K", INDEFINITE)
def test_steps_that_meet_an_indefinite_block_refuse_it(K, monkeypatch):
    p, watch = by_hand(K), free_watch()
    point = svm._at(p, np.zeros(2))
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5"):
        svm._low_rank_step(p, point, watch)
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5"):
        svm._free_solver(p, p.K - 2 * np.eye(2))
    monkeypatch.setattr(svm, "_interior_point", lambda *_: None)
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5"):
        svm._interior_point_step(p, point, 2, watch)


def test_low_rank_step_looks_only_where_an_entry_exceeds_the_diagonal(
    monkeypatch,
):
    looked, largest = [], []
    monkeypatch.setattr(svm, "_refuse_indefinite", looked.append)
    monkeypatch.setattr(
        svm, "_pivoted_cholesky", lambda _, limit: largest.append(limit)
    )
    for K, C in [
        ([[4.0, -4.0], [-4.0, 4.0]], 2.0),
        ([[0.25, 0.1], [0.1, 0.25]], 2.0),
        ([[0.5, 0.7], [0.7, 3.5]], 0.1),
    ]:
        p = by_hand(K, C)
        point = svm._at(p, np.zeros(2))
        assert svm._low_rank_step(p, point, free_watch()) is point
    assert not looked
    assert_allclose(largest, np.array([1 / 2, 1 / 4, 2.0]) * svm.LOW_RANK)


def test_steps_give_up_where_interior_point_does(monkeypatch):
    monkeypatch.setattr(svm, "_interior_point", lambda *_: None)
    p, watch = problem(20), free_watch()
    point = somewhere(p)
    assert svm._interior_point_step(p, point, 5, watch) is point
    p = by_hand(np.ones((2, 2)))
    point = svm._at(p, np.zeros(2))
    assert svm._pivoted_cholesky(p.K, 1e-6) is not None
    assert svm._low_rank_step(p, point, watch) is point


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_low_rank_step_comes_close_at_any_scale(scale):
    p = problem(60, 2.0 / scale, scale=scale)
    inner = svm._low_rank_step(p, start(p, 20), free_watch())
    assert svm._certify(p, inner).relative_gap < 1e-7


def test_block_that_rounding_spoils_is_left_to_others(monkeypatch):
    def fail(_):
        raise svm.LinAlgError

    monkeypatch.setattr(svm, "_cholesky", fail)
    p = problem(20)
    assert svm._free_solver(p, p.K) is None


def test_jitter_carries_a_singular_matrix_over():
    Q = svm._Dense(np.full((5, 5), 2.0**30))
    assert np.isfinite(Q.plus(np.zeros(5))(np.ones(5))).all()
    p = by_hand(np.full((2, 2), 2.0**29))
    step = svm._free_solver(p, np.full((5, 5), 2.0**29))(np.ones(5), 3.0)
    assert_allclose(step.sum(), 3.0)


@pytest.mark.parametrize("power", [-60, 60])
def test_newton_scales_with_the_kernel(power):
    p, s = problem(30, 2.0), 2.0**power
    q = svm._problem(s * p.K, p.t, 2.0 / s, bias=True)
    new = [svm._newton(r, start(r, 30), free_watch()) for r in (p, q)]
    assert svm._certify(p, new[0]).relative_gap < 1e-12
    assert_array_equal(s * new[1].v, new[0].v)


def test_pair_of_negative_curvature_makes_the_solver_look(monkeypatch):
    with pytest.raises(ValueError, match=r"eigenvalue -0\.5"):
        start(by_hand(INDEFINITE[0]), 1)
    looked = []
    monkeypatch.setattr(svm, "_refuse_indefinite", looked.append)
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
    monkeypatch.setattr(svm, "DROPS", drops)
    p, watch = problem(24, C, seed), free_watch()
    old = somewhere(p, seed)
    v, solves = descent_by_hand(p, old.v, drops)
    assert (
        (v > p.low) & (v < p.high)
    ).sum() > 1  # else two could meet at once
    new = svm._subspace_steps(p, old, watch)
    assert_allclose(new.v, v, atol=1e-10 * C)
    assert_array_equal(new.v == p.high, v == p.high)
    assert_array_equal(new.v == p.low, v == p.low)
    assert_allclose(new.e, p.t - p.K @ v, atol=1e-9)
    assert watch.iterations == solves


def test_descent_needs_two_free_coefficients_and_stays_at_the_optimum():
    t = np.array([1.0, 1.0, -1.0, -1.0])
    p, watch = svm._problem(np.eye(4), t, 2.0, bias=True), free_watch()
    best = svm._subspace_steps(p, svm._at(p, t), watch)
    assert_array_equal(best.v, t)
    assert watch.iterations == 1
    two = svm._at(p, np.array([2.0, 0.5, 0.0, -2.0]) - [0, 0, 0.5, 0])
    new = svm._subspace_steps(p, two, watch)
    assert_allclose(new.v, [2.0, 1.0, -1.0, -2.0])
    one = svm._at(p, np.array([2.0, 0.0, -2.0, 0.0]))
    assert svm._subspace_steps(p, one, watch).v.tolist() == one.v.tolist()
    assert watch.iterations == 2


def test_steps_give_up_where_the_free_block_is_not_factorised(monkeypatch):
    monkeypatch.setattr(svm, "_free_solver", lambda *_: None)
    p, watch = problem(20, 2.0), free_watch()
    old = somewhere(p)
    assert_array_equal(svm._subspace_steps(p, old, watch).v, old.v)
    assert watch.iterations == 1
    assert svm._newton(p, old, watch) is old
    assert watch.iterations == 2


def test_a_round_begins_with_newton_and_its_point_is_final():
    p, watch = problem(30, 0.3), free_watch()
    point, polished = next(svm._rounds(p, start(p, 25), 1e-6, watch, 1))
    assert polished
    assert svm._certify(p, point).relative_gap < 1e-12


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
    monkeypatch.setattr(svm, "NEWTON_TRIES", tries)
    p, watch = problem(30, C, seed, scale=3.0), free_watch()
    old = start(p, steps)
    v, solves = newton_by_hand(p, old.v, tries)
    new = svm._newton(p, old, watch)
    assert watch.iterations == solves
    if v is None:
        assert new is old
    else:
        assert_allclose(new.v, v, atol=1e-9 * C)
        assert_allclose(new.e, p.t - p.K @ new.v, atol=1e-9)
        assert svm._certify(p, new).relative_gap < 1e-12


def test_newton_leaves_at_its_bound_what_is_on_the_margin_too():
    K, t = np.diag([1.0, 1.0, 2.0, 2.0, 0.5, 0.5]), np.array(3 * [1.0, -1.0])
    p, watch = svm._problem(K, t, 1.0, bias=True), free_watch()
    best = svm._at(p, np.array([1.0, -1.0, 0.5, -0.5, 1.0, -1.0]))
    assert_array_equal(best.e, [0, 0, 0, 0, 0.5, -0.5])
    assert_allclose(svm._newton(p, best, watch).v, best.v)
    assert watch.iterations == 1


def test_guess_is_where_a_gradient_step_ends():
    # v and e - b on and off both bounds, a mean diagonal of 2.
    p = svm._problem(np.diag([1.0, 3.0, 2.0, 2.0]), [1, 1, -1, -1], 4.0, True)
    assert p.scale == 2
    assert svm._problem(np.zeros((2, 2)), [1, -1], 1.0, True).scale > 0
    v = np.array([1.0, 2.0, -4.0, 0.0])
    for change, free, at_high in [
        ([0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]),
        ([-2, 4, 8, -8], [0, 0, 0, 0], [0, 1, 1, 0]),
        ([6, -4, 2, -2], [0, 0, 1, 1], [1, 0, 0, 0]),
        ([5.9, -3.9, 7.9, -7.9], [1, 1, 1, 1], [0, 0, 0, 0]),
    ]:
        point = svm._Point(v, np.array(change) + 3.0, (2.0, 4.0))
        found = svm._guess(p, point)
        assert_array_equal(found, np.array([free, at_high], bool))


def test_few_rows_of_K_are_read_where_few_coefficients_change():
    K = np.full((20, 20), np.nan)
    v = np.zeros(20)
    v[[1, 5, 7, 16, 18]] = 1, 2, 3, 4, 5
    rng = np.random.default_rng(0)
    K[v != 0] = rng.standard_normal((5, 20))
    assert_allclose(svm._times(K, v), v[v != 0] @ K[v != 0])
    one = np.where(v == 3, v, 0.0)
    assert_allclose(svm._times(K, one), 3 * K[7])
    K = rng.standard_normal((20, 20))
    K += K.T
    for w in [v, K[0], np.zeros(20)]:
        assert_allclose(svm._times(K, w), K @ w, atol=1e-12)


@pytest.mark.parametrize("C", [0.3, 20.0])
def test_clamping_puts_on_their_bounds_those_that_belong_there(C):
    p = problem(30, C)
    best = svm.svm_dual(p.K, p.t, C)
    rng = np.random.default_rng(0)
    inward = best.coefficients * (1 - 1e-6)
    near = svm._at(p, inward + 1e-9 * rng.uniform(size=30) * p.t)
    clamped = svm._clamp(p, near)
    assert_array_equal(clamped.v == 0, best.alpha == 0)
    assert_array_equal(np.abs(clamped.v) == C, best.alpha == C)
    assert abs(clamped.v.sum()) < 1e-12 * C
    assert_allclose(clamped.e, p.t - p.K @ clamped.v, atol=1e-10)
    held = best.bounded
    assert_array_equal(clamped.v[held], best.coefficients[held])


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 2.0**40])
def test_projection_ends_in_the_box_with_sum_zero(unit):
    p = problem(30, 2.0 * unit)
    rng = np.random.default_rng(0)
    for scale in [0.1, 1.0, 3.0]:
        v = unit * (p.t + scale * rng.standard_normal(30))
        before = v.copy()
        new = svm._project(p, v)
        assert_array_equal(v, before)
        assert np.all((new >= p.low) & (new <= p.high))
        assert abs(new.sum()) <= 1e-14 * np.abs(new).sum()
    # Already feasible: untouched.  Inside: all by the same amount.
    v = somewhere(p).v
    assert_allclose(svm._project(p, v), v, rtol=0, atol=1e-14 * unit)
    v = unit * p.t
    v[3] += 0.3 * unit
    moved = v - v.sum() / 30
    assert_allclose(svm._project(p, v), moved, rtol=0, atol=1e-14 * unit)
    corner = np.where(p.t > 0, p.high, 0.0)  # nothing inside could move
    assert_array_equal(svm._project(p, corner), corner)


def interior_point_problem(seed=0, N=30):
    rng = np.random.default_rng(seed)
    G, q = rng.standard_normal((N, 9)), rng.standard_normal(N)
    low = -rng.uniform(0.1, 2, N)
    return G, 3 * q, svm._Box(low, rng.uniform(0.1, 2, N), total=0.7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["dense", "low rank"])
def test_interior_point_meets_the_conditions_of_optimality(seed, kind):
    G, q, box = interior_point_problem(seed)
    Q = svm._LowRank(G) if kind == "low rank" else svm._Dense(G @ G.T)
    watch = free_watch()
    x = svm._interior_point(Q, q, box, np.zeros(30), 1e-10, watch)
    assert 5 <= watch.iterations <= 11
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


def test_interior_point_leaves_a_common_shift_to_the_multiplier():
    G, q, box = interior_point_problem()
    Q, found = svm._LowRank(G), []
    for shift in [0.0, 1e3]:
        watch = free_watch()
        found += [
            svm._interior_point(Q, q + shift, box, np.zeros(30), 1e-10, watch)
        ]
        assert watch.iterations == 9
    assert_allclose(*found, atol=1e-9)


@pytest.mark.parametrize("outside", [-3.0, 3.0])
def test_interior_point_ends_where_a_bound_is_reached(outside):
    G, q, box = interior_point_problem()
    x, watch = np.zeros(30), free_watch()
    x[4] = outside
    new = svm._interior_point(svm._LowRank(G), q, box, x, 1e-10, watch)
    assert_allclose(new, 0.8 * x + 0.1 * (box.low + box.high))
    assert watch.iterations == 0


def test_interior_point_keeps_what_it_has_when_rounding_ends_it(monkeypatch):
    G, q, box = interior_point_problem()
    full = svm._newton_system
    for rounds in [0, 1, 4]:
        left = iter(range(rounds))
        monkeypatch.setattr(
            svm,
            "_newton_system",
            lambda *a, left=left: (
                None if next(left, None) is None else full(*a)
            ),
        )
        x = svm._interior_point(
            svm._LowRank(G), q, box, np.zeros(30), 1e-10, free_watch()
        )
        if rounds == 0:
            assert x is None
        else:
            assert np.all((x > box.low) & (x < box.high))


def test_interior_point_needs_few_rounds():
    for C, most in [(0.1, 7), (1.0, 10), (10.0, 11), (1e3, 13)]:
        p, watch = problem(60, C), free_watch()
        box = svm._Box(p.low, p.high, 0.0)
        x = svm._interior_point(
            svm._Dense(p.K), p.t, box, np.zeros(60), 1e-9 * C, watch
        )
        point = svm._at(p, svm._project(p, x))
        assert svm._certify(p, point).relative_gap < 1e-7
        assert watch.iterations <= most


def test_newton_system_solves_the_linearised_conditions():
    G, q, box = interior_point_problem()
    rng = np.random.default_rng(1)
    x, z, Z, c, d = rng.uniform(0.05, 0.09, (5, 30))
    system = svm._newton_system(svm._LowRank(G), q, box, x, 0.4, z, Z)
    dx, dy, dz, dZ = system(c, d)
    stationarity = G @ (G.T @ (x + dx)) - q + (0.4 + dy) - (z + dz) + Z + dZ
    assert_allclose(stationarity, 0, atol=1e-9)
    assert_allclose((x + dx).sum(), box.total)
    assert_allclose(z * dx + (x - box.low) * dz, c)
    assert_allclose(-Z * dx + (box.high - x) * dZ, d)


def test_longest_step_keeps_every_value_nonnegative():
    one, two = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    far = [(one, np.array([-2.0, -8.0])), (two, np.array([-9.0, 1.0]))]
    assert svm._longest(*far) == 0.25
    assert svm._longest((one, np.array([5.0, -1.0]))) == 1
    assert svm._longest((one, two)) == 1
    assert svm._spread(np.array([-3.0, 1.0])) == pytest.approx(0.4)
    assert svm._spread(np.zeros(2)) > 0


@pytest.mark.parametrize(("N", "most"), [(100, 100), (300, 200), (606, 202)])
def test_pivoted_cholesky_stops_when_G_gets_wide(N, most):
    n = np.arange(N)
    for rank in [most - 1, most]:
        K = 4.0 * (n[:, None] % rank == n % rank)
        G = svm._pivoted_cholesky(K, 1e-9)
        if rank == most:
            assert G is None
        else:
            assert G.shape == (N, rank)
            assert_allclose(G @ G.T, K)
    assert svm._pivoted_cholesky(np.ones((3, 3)), 0.0).shape == (3, 1)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("extra", [0, 1, 3, 6, 100])
def test_interior_point_step_optimises_free_and_worst_violators(
    extra, seed, scale
):
    p = problem(40, 2.0 / scale, seed, scale=scale)
    old, watch = somewhere(p, seed), free_watch()
    new = svm._interior_point_step(p, old, extra, watch)
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
        assert svm._certify(p, new).relative_gap < 1e-9


def test_certificate_of_any_point_is_the_one_by_hand():
    for bias in [True, False]:
        p = problem(20, 2.0, bias=bias)
        rng = np.random.default_rng(0)
        alpha = rng.uniform(0, 2, 20)
        t, K = p.labels, p.K[:20, :20]
        v = alpha * t
        if bias:
            v, alpha = (a := somewhere(p)).v, a.v * t
        else:
            v = np.append(v, -v.sum())
        point = svm._at(p, v)
        found = svm._certify(p, point)
        outputs = K @ (alpha * t) + found.b
        assert found.b == (sum(found.b_interval) / 2 if bias else 0.0)
        assert_allclose(found.dual, svm.dual_objective(alpha, K, t))
        w2 = alpha * t @ K @ (alpha * t)
        primal = w2 / 2 + 2.0 * svm.slack(outputs, t).sum()
        assert_allclose(found.primal, primal)
        assert_allclose(found.gap, primal - found.dual)
        assert_allclose(found.alpha, alpha)
        zero = svm._certify(p, svm._at(p, np.zeros(len(v))))
        assert not np.signbit(zero.alpha).any()


def test_phantom_takes_up_the_sum_without_bounds():
    K = problem(20, 2.0).K
    t = np.ones(20)
    t[0] = -1.0
    p = svm._problem(K, t, 2.0, bias=False)
    assert_array_equal(p.K, np.pad(K, (0, 1)))
    assert_array_equal(p.t, [*t, 0])
    assert p.low[-1] <= -2.0 * 20
    assert p.high[-1] >= 2.0 * 20
    assert p.high[-1] == -p.low[-1]
    assert_array_equal(p.low[:-1], np.where(t > 0, 0, -2))
    assert_array_equal(p.high[:-1], np.where(t > 0, 2, 0))


def clock(monkeypatch):
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(svm.time, "monotonic", lambda: now.seconds)
    return now


def test_watch_grants_what_is_left_and_then_stops(monkeypatch):
    now = clock(monkeypatch)
    watch = svm._Watch(5, 7.0, progress=True)
    assert [watch.spend(3), watch.spend(3)] == [3, 2]
    assert watch.iterations == 5
    with pytest.raises(svm._Stop, match="max_iterations"):
        watch.spend(1)
    watch = svm._Watch(None, 7.0, progress=True)
    now.seconds = 107.0
    assert watch.spend(10**9) == 10**9
    now.seconds = 107.1
    with pytest.raises(svm._Stop, match="max_seconds"):
        watch.spend(1)


def test_watch_reports_every_five_seconds(monkeypatch, capsys):
    now = clock(monkeypatch)
    best = SimpleNamespace(relative_gap=0.25)
    watch = svm._Watch(None, None, progress=True)
    watch.spend(12)
    said = []
    for seconds in [104.9, 105.0, 109.9, 110.0, 117.0, 121.9, 122.0]:
        now.seconds = seconds
        watch.look(best)
        if capsys.readouterr().err:
            said.append(seconds)
    assert said == [105.0, 110.0, 117.0, 122.0]
    now.seconds = 127.0
    watch.look(best)
    said = capsys.readouterr().err
    assert said == "svm_dual: 27 s, 12 iterations, relative gap 2.5e-01\n"


@pytest.mark.parametrize("size", [2, 10])
def test_definiteness_is_judged_beyond_rounding(size):
    d = np.full(size, 3.0)
    for lowest, good in [(-5, True), (-40, False)]:
        d[0] = lowest * svm.EPS * 3.0 * (size - 1)
        for judge in [svm._refuse_indefinite, svm._probe]:
            if good:
                judge(np.diag(d))
            else:
                with pytest.raises(ValueError, match="eigenvalue -"):
                    judge(np.diag(d))
    for judge in [svm._refuse_indefinite, svm._probe]:
        with pytest.raises(ValueError, match="eigenvalue -1"):
            judge(np.diag([1.0, -1.0]))


def test_probe_leaves_singular_matrices_in_peace(monkeypatch):
    looked = []
    monkeypatch.setattr(svm, "_refuse_indefinite", looked.append)
    svm._probe(np.full((50, 50), 0.5))
    svm._probe(np.zeros((50, 50)) + np.diag(np.arange(50.0) > 0))
    assert not looked


def test_probe_looks_at_evenly_spaced_examples_from_first_to_last():
    K = np.eye(511)
    seen = np.linspace(0, 510, svm.PROBE).astype(int)
    assert list(seen[:3]) == [0, 2, 4]
    assert seen[-1] == 510
    for i, j in [(0, 510), (2, 4)]:
        bad = K.copy()
        bad[i, j] = bad[j, i] = 2.0
        with pytest.raises(ValueError, match="eigenvalue -1"):
            svm._probe(bad)
    bad = K.copy()
    bad[1, 3] = bad[3, 1] = 2.0
    svm._probe(bad)  # the solver will see it


def made_of(points, monkeypatch, stop=None, **options):
    def improving(p, tolerance, watch):
        for v, polished in points:
            watch.spend(1)
            yield svm._at(p, np.array(v)), polished
        if stop:
            raise stop

    monkeypatch.setattr(svm, "_improving_points", improving)
    # The best point is (1, -1).
    return svm.svm_dual(np.eye(2), [1, -1], 2.0, **options)


def test_solver_returns_the_first_polished_point_within_tolerance(monkeypatch):
    best, good = [1.0, -1.0], [1 - 1e-8, -1 + 1e-8]
    m = made_of([(best, False), (good, True), (best, True)], monkeypatch)
    assert m.status == "optimal"
    assert m.iterations == 2
    assert_array_equal(m.coefficients, good)
    zero = made_of([([0.0, 0.0], True)], monkeypatch, tolerance=1.0)
    assert zero.relative_gap == 1
    assert zero.status == "optimal"


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        (None, "stalled"),
        (svm._Stop("max_seconds"), "max_seconds"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_solver_that_ends_early_returns_its_best_point(
    stop, status, monkeypatch
):
    points = [([v, -v], True) for v in [0.5, 0.9, 0.9 + 1e-17, 0.7]]
    m = made_of(points, monkeypatch, stop)
    assert m.status == status
    assert m.iterations == 4
    assert_array_equal(m.coefficients, [0.9, -0.9])
    m = made_of([], monkeypatch, stop)
    assert m.status == status
    assert_array_equal(m.alpha, [0, 0])
    assert m.relative_gap == 1


def order_of_the_steps(N, free, tolerance, monkeypatch):
    """What the solver would do, and yield, if no step ever helped."""
    seen = []

    def idle(name):
        def step(p, point, *rest):
            seen.append((name, *[r for r in rest if isinstance(r, int)]))
            return point

        monkeypatch.setattr(svm, name, step)

    for name in ["_newton", "_pair_steps", "_subspace_steps", "_clamp"]:
        idle(name)
    for name in ["_low_rank_step", "_interior_point_step", "_exactly"]:
        idle(name)
    monkeypatch.setattr(svm, "_guess", lambda p, _: (np.arange(N) < free, 0))
    monkeypatch.setattr(svm, "ROUNDS", 2)
    monkeypatch.setattr(svm, "FEW", 1)
    K, t = np.eye(N), np.where(np.arange(N) % 2, 1.0, -1.0)
    p, watch = svm._problem(K, t, 1.0, bias=True), free_watch()
    for point, polished in svm._improving_points(p, tolerance, watch):
        seen.append("polished" if polished else "rough")
        assert not point.v.any()
    spent = [step[1] for step in seen if step[0] == "_pair_steps"]
    assert watch.iterations == sum(spent)
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
    exactly = [("_exactly",), "polished"] if tolerance == 1.0 else []
    round_ = [
        *[("_newton",), *exactly, ("_subspace_steps",), "rough"],
        ("_pair_steps", tenth),
    ]
    expected = [("_pair_steps", quarter), "rough"]
    expected += [] if many_free else round_
    expected += [("_low_rank_step",), "rough", ("_newton",), ("_clamp",)]
    expected += ["polished", *round_, *round_]
    extras = [100, 200, 400] if N <= 100 else [100, 200, 400, 800]
    for extra in extras:
        expected += [("_interior_point_step", extra), ("_newton",)]
        expected += [("_clamp",), "polished", "polished"]
        expected += [("_pair_steps", quarter)]
    assert found == expected
