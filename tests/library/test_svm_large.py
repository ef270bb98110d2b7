"""Machines that are solved by rows are those of the whole Gram matrix."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kernelbook import _interior_point, _rows, kernels, svm, toydata
from kernelbook import _svm_large as large
from kernelbook import _svm_solver as solver
from kernelbook.exceptions import ConvergenceWarning


def moons(N, noise=0.2):
    X, y = make_moons(N, noise=noise, random_state=0)
    return X, 2.0 * y - 1


def by_rows(k, X, t, C, monkeypatch, **options):
    """Solved by rows however few they are, and in parts."""
    monkeypatch.setattr(svm, "WHOLE", 0)
    monkeypatch.setattr(_rows, "FEW", 40)
    monkeypatch.setattr(large, "SMALL", 60)
    return svm.fit(k, np.asarray(X, float), t, C, **options).svm


KERNELS = [
    kernels.Gaussian(1.0),
    kernels.Polynomial(3, 1.0),
    kernels.Linear(),
    kernels.Gaussian(0.5) + kernels.Constant(1e6),
    kernels.Matern(0.5, 2.0),
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_machine_is_that_of_the_whole_matrix(k, C, bias, monkeypatch):
    X, t = moons(400, 0.3)
    whole = svm.fit_dual(k(X), t, C, bias=bias)
    smooth = k != KERNELS[-1]  # else nearly all examples are in the strip
    room = 7.9 * len(t) ** 2 if smooth else 1e9  # not for the whole
    m = by_rows(k, X, t, C, monkeypatch, bias=bias, memory=room)
    assert m.status == "converged"
    assert m.relative_gap <= 1e-6
    assert 0 <= m.alpha.min() <= m.alpha.max() <= C
    assert_allclose(m.dual, whole.dual, rtol=2e-6)
    assert not bias or abs(m.alpha @ t) < 1e-9 * C
    K, v = k(X), m.coefficients
    c = K.min()  # first differences of large entries are exact
    y = (K - c) @ v + c * math.fsum(v) + m.b
    gap = svm.gap_terms(m.alpha, y, t, C).sum()
    assert gap <= 2e-6 * m.primal


def test_dual_is_libsvms(monkeypatch):
    X, t = moons(3000)
    m = svm.fit(kernels.Gaussian(1.0), X, t, 10.0).svm
    theirs = SVC(C=10.0, gamma=1.0, tol=1e-6).fit(X, t)
    v = np.zeros(len(t))
    v[theirs.support_] = theirs.dual_coef_[0]
    dual = np.abs(v).sum() - v @ kernels.Gaussian(1.0)(X) @ v / 2
    assert m.status == "converged"
    assert_allclose(m.dual, dual, rtol=1e-6)
    assert_allclose(m.b, theirs.intercept_[0], atol=1e-4)


def twice(X, t):
    return np.vstack([X, X]), np.append(t, t)


def contradictory(X, t):
    return np.vstack([X, X]), np.append(t, -t)


def rare(X, t):
    return X, np.where(np.arange(len(t)) < 3, 1.0, -1.0)


def far_out(X, t):
    return np.vstack([X, [[1e3, -1e3]]]), np.append(t, 1.0)


def rounded(X, t):
    return np.round(2 * X), t


@pytest.mark.parametrize(
    "data", [twice, contradictory, rare, far_out, rounded]
)
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("k", KERNELS[::2], ids=str)
def test_degenerate_data_are_certified(data, C, k, monkeypatch):
    X, t = data(*moons(200))
    m = by_rows(k, X, t, C, monkeypatch)
    assert m.status == "converged"
    assert m.relative_gap <= 1e-6


@pytest.mark.parametrize("c", [0.0, 2.0])
def test_constant_kernel_knows_only_the_larger_class(c, monkeypatch):
    X, t = rare(*moons(200))
    m = by_rows(kernels.Constant(c), X, t, 2.0, monkeypatch)
    assert m.status == "converged"
    assert_allclose(m.dual, 2 * 2.0 * 3)  # both classes push with 3 C


def test_one_class_is_refused():
    X, _ = moons(2500)
    with pytest.raises(ValueError, match="t must"):
        svm.fit(kernels.Linear(), X, np.ones(2500), 1.0)


def test_limits_stop_with_the_best_point(monkeypatch):
    X, t = moons(400)
    with pytest.warns(ConvergenceWarning, match="max_iterations"):
        m = by_rows(KERNELS[0], X, t, 1.0, monkeypatch, max_iterations=5)
    assert m.status == "max_iterations"
    assert m.iterations == 5
    assert m.gap >= 0
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        m = by_rows(KERNELS[0], X, t, 1.0, monkeypatch, max_seconds=1e-300)
    assert m.status == "max_seconds"


def test_what_has_no_room_and_does_not_settle_is_said(monkeypatch):
    monkeypatch.setattr(large, "STEPS", 15)  # with more the strips settle
    X, t = moons(400, 0.3)
    with pytest.warns(ConvergenceWarning, match="with more memory"):
        m = by_rows(KERNELS[-1], X, t, 1e4, monkeypatch, memory=1e6)
    assert m.status == "memory"
    assert m.relative_gap > 1e-6


def test_noise_at_a_large_C_needs_no_whole_matrix(monkeypatch):
    monkeypatch.setattr(svm, "_solved", None)  # it would be made there
    m = svm.fit(kernels.Gaussian(1.0), *moons(5000), C=1000.0).svm
    assert m.status == "converged"


def test_newton_is_sure_of_where_interior_point_ends(monkeypatch):
    strips, among = [], large.among
    monkeypatch.setattr(
        large, "among", lambda p, *rest: strips.append(1) or among(p, *rest)
    )
    X, t = toydata.two_blobs(5000, 2.0, 0)
    m = svm.fit(kernels.Gaussian(0.5), X, t, C=1.0).svm
    assert m.relative_gap < 1e-12  # exact, not only within the tolerance
    assert len(strips) == 1


class NoKernel(kernels.Kernel):
    """Minus the squared distance."""

    def evaluate(self, X, Z):
        return -kernels.squared_distances(X, Z)


def test_indefinite_kernel_is_refused(monkeypatch):
    X, t = moons(400)
    with pytest.raises(ValueError, match="positive semi-definite"):
        by_rows(NoKernel(), X, t, 1.0, monkeypatch)


# ------------------------------------------------------------- the pieces


def small(bias=True, shift=0.0, N=40, C=2.0):
    """A problem, its K in the frame it is solved in, and a point."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, 2)) + shift
    t = np.where(X[:, 0] - shift + 0.5 * rng.standard_normal(N) > 0, 1.0, -1.0)
    k = kernels.Gaussian(0.5) if shift == 0 else kernels.Linear()
    p = large.problem(_rows.Given(k(X)), t, C, bias)
    v = rng.uniform(p.low, p.high)
    if not bias:
        v[-1] = -v[:-1].sum()
    K = p.K.block(np.arange(len(p.t)))
    return p, K, large.State(v, p.t - K @ v, 0.3)


def no_limits():
    return solver.limits(None, None)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_problem_is_that_of_the_other_solver(bias, shift):
    p, K, _ = small(bias, shift)
    given = p.K.examples(np.arange(40))
    other = solver.problem(given, p.t[:40], p.C, bias)
    for name in ["t", "low", "high", "C", "bias", "origin", "size"]:
        assert_array_equal(getattr(p, name), getattr(other, name))
    assert_allclose(K, other.K, atol=1e-9)
    assert_allclose(p.scale, other.scale)
    worse = given.diagonal().mean() / p.scale if shift else 1.0
    assert_allclose(p.eps, solver.EPS * worse)
    assert (p.eps > 2 * solver.EPS) == (shift > 0)
    assert_allclose(p.middle[:40], p.t[:40] * p.C / 2)
    assert_array_equal(
        p.width, np.append(np.full(40, p.C), [0.0] * (not bias))
    )


def test_problem_looks_at_a_sample_for_definiteness():
    K = np.eye(5)
    K[0, 1] = K[1, 0] = 1.1
    with pytest.raises(ValueError, match="positive semi-definite"):
        large.problem(_rows.Given(K), np.array([1.0, 1, 1, -1, -1]), 1.0, True)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("h", [4.0, 0.5, 0.05])
def test_smooth_machine_is_on_its_straight_lines(h, bias):
    p, K, _ = small(bias)
    s = large.State(np.zeros(len(p.t)), p.t, 0.0)
    now = large.guess(p, s, 2 * h)
    s, now, good = large.settled(p, s, now, h, no_limits(), 0)
    assert good
    assert_allclose(s.e, p.t - K @ s.v, atol=1e-12)
    assert_allclose(s.v.sum(), 0.0, atol=1e-12)
    y = (s.e - s.b)[:40]
    line = (p.t[:40] * p.C / 2 + y * p.C / h).clip(p.low[:40], p.high[:40])
    assert_allclose(s.v[:40], line, atol=1e-10)
    assert_array_equal(now.free[:40], np.abs(y) < h / 2)
    assert_array_equal(now.at_high[:40], y >= h / 2)
    if not bias:
        assert now.free[40]
        assert not now.at_high[40]
        assert_allclose(s.e[40], s.b, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_search_along_a_line_ends_where_it_is_flat(seed):
    p, K, s = small()
    rng = np.random.default_rng(seed)
    d, db, h = rng.standard_normal(40) * 3.0**seed / 9, rng.normal(), 0.4
    d -= d.mean()

    def objective(a):
        """½ wᵀw and the smoothed hinge, whose slope is minus v."""
        v, y = s.v + a * d, (s.e - s.b) - a * (K @ d + db)
        low, high = -h / 2, h / 2
        u = y.clip(low, high)
        line = p.middle * u + p.C * u**2 / (2 * h)
        rest = np.where(y > high, p.high * (y - high), 0.0)
        rest += np.where(y < low, p.low * (y - low), 0.0)
        return v @ K @ v / 2 + (line + rest).sum()

    def slope(a):
        return (objective(a + 1e-6) - objective(a - 1e-6)) / 2e-6

    direction = d, db
    for length in [1.0, -1.0, *np.geomspace(1e-2, 1e2, 30)]:
        d, db = length * direction[0], length * direction[1]
        a = large.along(p, s, h, d, K @ d, db)
        first = slope(0.0)
        assert (a == 0) == (first >= 0)
        assert (a == 1) == (first < 0 and slope(1.0) <= abs(first) / 2)
        if 0 < a < 1:
            assert abs(slope(a)) <= 0.101 * abs(first) + 1e-4


@pytest.mark.parametrize("bias", [True, False])
def test_step_among_the_free_is_that_of_the_bordered_system(bias):
    p, K, s = small(bias)
    F = np.arange(0, len(p.t), 3)
    A = K[np.ix_(F, F)] + np.eye(len(F))
    step, b = large.free_solver(p, A.copy(), F)(s.e[F], 0.7)
    border = np.ones((len(F), 1))
    M = np.block([[A, border], [border.T, np.zeros((1, 1))]])
    expected = np.linalg.solve(M, np.append(s.e[F], 0.7))
    assert_allclose(np.append(step, b), expected, atol=1e-10)


def test_solution_for_the_free_has_their_e_at_b():
    p, K, s = small()
    free, at_high = np.arange(40) % 3 == 0, np.arange(40) % 3 == 1
    found = large.solve_free(p, s, solver.Guess(free, at_high))
    assert_allclose(found.v.sum(), 0.0, atol=1e-12)
    assert_allclose(found.e, p.t - K @ found.v, atol=1e-11)
    assert_allclose(found.e[free], found.b, atol=1e-11)
    assert_array_equal(found.v[at_high], p.high[at_high])
    assert_array_equal(found.v[~free & ~at_high], p.low[~free & ~at_high])
    none = solver.Guess(np.zeros(40, bool), at_high)
    assert large.solve_free(p, s, none) is None


def test_inside_is_in_the_box_and_balanced():
    p, K, s = small()
    free, at_high = np.arange(40) % 4 > 1, np.arange(40) % 4 == 1
    for push in [-1.0, 1.0]:
        v = s.v + push / 40
        out = s._replace(v=v, e=p.t - K @ v)
        found = large.inside(p, out, solver.Guess(free, at_high))
        assert (found.v >= p.low).all() and (found.v <= p.high).all()
        assert abs(found.v.sum()) <= 1e-14
        assert_allclose(found.e, p.t - K @ found.v, atol=1e-12)
        assert_array_equal(found.v[at_high], p.high[at_high])
        assert_array_equal(found.v[~free & ~at_high], p.low[~free & ~at_high])
        assert found.b == s.b


@pytest.mark.parametrize("C", [0.2, 1.0, 2.0])
def test_best_among_some_leaves_the_others(C):
    p, K, s = small(C=C)
    W = np.arange(0, 40, 2)
    found = large.among(p, s, W, no_limits())
    others = np.setdiff1d(np.arange(40), W)
    assert_array_equal(found.v[others], s.v[others])
    assert_allclose(found.v.sum(), s.v.sum())
    assert_allclose(found.e, p.t - K @ found.v, atol=1e-12)
    excess = (found.e - found.b)[W]
    room = np.where(excess > 0, p.high[W] - found.v[W], found.v[W] - p.low[W])
    assert (room * np.abs(excess)).max() < 1e-6
    free = np.minimum(p.high - found.v, found.v - p.low)[W]
    assert found.b == found.e[W[free.argmax()]]


def test_where_interior_point_ends_one_step_tells_who_is_free():
    p, _, s = small()
    now = large.ended(p, s)
    assert p.stride < p.C
    for n in range(40):
        aim = s.v[n] + p.C * (s.e[n] - s.b)
        assert now.free[n] == (p.low[n] < aim < p.high[n])
        assert now.at_high[n] == (aim >= p.high[n])
    assert 0 < now.free.sum() < 40


@pytest.mark.parametrize("b", [-1.0, 0.3, 1.0])
@pytest.mark.parametrize("extra", [0, 1, 2, 4, 8, 12, 16, 100])
def test_violators_are_the_worst(extra, b):
    p, _, s = small()
    v = s.v.copy()
    v[::2], v[::4] = p.low[::2], p.high[::4]
    v[1] = p.low[1] + 0.5e-7 * p.C  # at its bound, but for rounding
    v[3] = p.high[3] - 0.5e-7 * p.C
    v[5] = p.low[5] + 1e-6 * p.C  # and off it
    W = large.with_violators(p, s._replace(v=v, b=b), extra)
    free = np.arange(5, 40, 2)
    assert np.isin(free, W).all()
    assert len(np.unique(W)) == len(W) == min(len(free) + extra, 40)
    up, down = (s.e - b).clip(0.0), (b - s.e).clip(0.0)
    cost = up * (p.high - v) + down * (v - p.low)
    cost[free] = 0.0
    assert_allclose(cost[W].sum(), np.sort(cost)[::-1][:extra].sum())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_part_is_a_quarter_of_each_class(bias, shift):
    p, K, _ = small(bias, shift)
    part, where = large.part_of(p)
    n = where[:-1] if not bias else where
    assert bias or where[-1] == 40
    origin = [] if p.origin is None else [p.origin]
    for side in [1.0, -1.0]:
        own = np.flatnonzero(p.t[n] == side)
        quarter = -(-(p.t[:40] == side).sum() // 4)
        assert quarter <= len(own) <= quarter + len(origin)
    assert not np.array_equal(n, np.sort(n)[::-1])
    assert set(origin) <= set(n)
    assert_array_equal(part.t, p.t[where])
    more = 40 / len(n)
    assert_allclose(part.low, more * p.low[where])
    assert_allclose(part.high, more * p.high[where])
    rows = part.K.block(np.arange(len(where)))
    assert_allclose(rows, K[np.ix_(where, where)], atol=1e-9)
    if origin:
        assert n[part.origin] == p.origin


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("C", "fits"), [(20.0, True), (6.0, False)])
def test_v_grows_by_twice_what_the_margins_lack(C, fits, bias):
    p, K, s = small(bias, C=C)
    v = np.where(p.t > 0, s.v / 2, s.v)
    v = v / np.abs(v[:40]).max()
    point = solver.point_at(p, v, p.t - K @ v)
    lack = max(p.t[n] * (point.e[n] - point.b) for n in range(40))
    assert fits == (1 + 2 * lack < C)
    longer = large.Search(p, 1e-6, no_limits(), print)._outward(point)
    assert_allclose(longer, (1 + 2 * lack * fits) * v, rtol=1e-12)


def test_noise_alone_makes_v_longer():
    p, K, s = small(C=1e6)
    v = s.v / 10
    point = solver.Point(v, -p.t, (0.0, 0.0), 1.0, 1.0)  # no margin lacks
    longer = large.Search(p, 1e-6, no_limits(), print)._outward(point)
    noise = solver.EPS * (K @ np.abs(v)).max()
    assert_allclose((longer / v - 1) / noise, 4.0, rtol=1e-3)


def test_separable_classes_need_longer_v(monkeypatch):
    X, t = moons(400)
    X = X + t[:, None] * [0.0, -3.0]
    for C in [1e4, 1e6]:
        m = by_rows(kernels.Linear(), X, t, C, monkeypatch, memory=1.2e6)
        assert m.status == "converged"


def test_search_keeps_the_best_and_says_so():
    p, K, s = small()
    said = []
    search = large.Search(p, 1.0, no_limits(), said.append)
    assert not search.best.v.any()
    assert search.done  # with a relative gap of 1
    whole = svm.fit_dual(K, p.t, p.C).coefficients
    search.propose(whole)
    assert search.best.relative_gap < 1e-6
    search.propose(s.v)
    assert_allclose(search.best.v, whole, atol=1e-9)
    assert len(said) == 2
    assert "0 iterations, relative gap" in said[0]


@pytest.mark.parametrize("good", [True, False])
def test_strips_narrow_until_they_settle_no_more(good, monkeypatch):
    p, _, s = small()
    now = large.guess(p, s, 1.0)
    s, now, _ = large.settled(p, s, now, 1.0, no_limits(), 0)
    widths, inner, tried = [], [], []

    def settled(p, s, now, h, watch, enough):
        assert enough == 0
        widths.append(h)
        return s, now, good

    def among(p, s, W, watch):
        assert_array_equal(W, np.flatnonzero(now.free))
        assert abs(s.v.sum()) < 1e-12
        inner.append(widths[-1])
        return s

    monkeypatch.setattr(large, "beginning", lambda *_: (s, now, 0.3))
    monkeypatch.setattr(large, "settled", settled)
    monkeypatch.setattr(large, "among", among)
    monkeypatch.setattr(large, "newton", lambda *_: tried.append(widths[-1]))
    search = large.Search(p, 1e-9, no_limits(), print)
    large.run(p, search)
    steps = 0.3 / 3.0 ** np.arange(20)
    assert_allclose(widths, steps[steps > 1e-5] if good else steps[:2])
    assert inner == widths[1:]
    assert sorted(tried) == sorted(widths + inner)
    assert not search.best.v.any()


def test_first_solution_that_will_do_ends_the_strips(monkeypatch):
    p, K, s = small()
    best = svm.fit_dual(K, p.t, p.C).coefficients
    none = solver.Guess(np.zeros(40, bool), best > 0)
    exact = s._replace(v=best)
    monkeypatch.setattr(large, "beginning", lambda *_: (exact, none, 1.0))
    calls = []
    monkeypatch.setattr(
        large, "settled", lambda *a: calls.append(a) or (exact, none, True)
    )
    search = large.Search(p, 1e-6, no_limits(), print)
    large.run(p, search)  # without a strip, v is taken as it is
    assert search.done
    assert len(calls) == 1


def test_sets_grow_until_memory_is_full(monkeypatch):
    p, _, s = small()
    v = np.where(np.arange(40) < 6, s.v, p.low)
    monkeypatch.setattr(large, "CROWD", 3)
    monkeypatch.setattr(_rows.Given, "widest", 18)
    sizes, said = [], []
    monkeypatch.setattr(
        large, "among", lambda p, s, W, _: sizes.append(len(W)) or s
    )
    monkeypatch.setattr(large, "newton", lambda *_: None)
    search = large.Search(p, 1e-6, no_limits(), said.append)
    with pytest.raises(solver.Stop, match="memory"):
        large.growing_sets(p, s._replace(v=v), search)
    assert sizes == [9, 12, 18]
    assert len(said) == 3


def test_sets_that_are_large_enough_hold_the_solution(monkeypatch):
    p, K, s = small()
    monkeypatch.setattr(large, "CROWD", 1)
    search = large.Search(p, 1e-6, no_limits(), print)
    large.growing_sets(p, s._replace(v=0 * s.v, e=p.t, b=0.0), search)
    assert search.done
    whole = svm.fit_dual(K, p.t, p.C)
    assert_allclose(search.best.dual, whole.dual, rtol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "steps", "mended"),
    [
        ([], 1, True),
        ([6], 2, True),
        ([13], 2, True),
        ([8], 4, True),
        ([18], 4, True),
        ([0], 2, False),  # the changes do not halve
        ([1], 1, False),
    ],
)
def test_newton_mends_a_guess_or_gives_up(wrong, steps, mended):
    p, K, s = small()
    whole = svm.fit_dual(K, p.t, p.C)
    v = whole.coefficients
    now = large.ended(p, large.State(v, p.t - K @ v, whole.b))
    now.free[wrong] = ~now.free[wrong]
    watch = no_limits()
    found = large.newton(p, s, now, watch)
    assert watch.iterations == steps
    assert (found is not None) == mended
    if mended:
        assert_allclose(found, v, atol=1e-9)


def test_settled_stops_at_enough_changes_and_counts(monkeypatch):
    p, _, s = small()
    now = large.guess(p, s, 0.5)
    for enough, steps in [(40, 5), (2, 5), (1, 6)]:  # the fifth is whole
        watch = no_limits()
        *_, good = large.settled(p, s, now, 0.5, watch, enough)
        assert good
        assert watch.iterations == steps
    monkeypatch.setattr(large, "along", lambda *_: 0.0)
    *_, good = large.settled(p, s, now, 0.5, watch, 40)
    assert good
    assert watch.iterations == 7  # there is no way down
    monkeypatch.undo()
    monkeypatch.setattr(large, "STEPS", 2)
    *_, good = large.settled(p, s, now, 0.5, watch, 0)
    assert not good
    assert watch.iterations == 9


class Settled:
    """In the place of ``settled``: remembers what it was asked."""

    def __init__(self, monkeypatch):
        self.calls = []
        monkeypatch.setattr(large, "settled", self)
        monkeypatch.setattr(large, "SETTLED", 10)

    def __call__(self, p, s, now, h, watch, enough):
        assert enough == len(p.t) // 10
        self.calls.append((s, now, h))
        return s, now, False


def test_smallest_machine_begins_with_least_squares(monkeypatch):
    p, _, _ = small()
    asked = Settled(monkeypatch)
    monkeypatch.setattr(large, "SMALL", 40)
    s, now, h = large.beginning(p, no_limits())
    assert [call[2] for call in asked.calls] == [*large.BEGIN]
    assert h == large.BEGIN[-1]
    assert now.free.all()
    assert s.b == 0
    assert not s.v.any()
    assert_array_equal(s.e, p.t)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("crowd", "rank"), [(2, 5), (9, 9), (70, 39)])
def test_first_strip_holds_a_crowd(crowd, rank, bias, monkeypatch):
    p, K, s = small(bias)
    asked = Settled(monkeypatch)
    monkeypatch.setattr(large, "SMALL", 39)
    monkeypatch.setattr(large, "CROWD", 5)
    monkeypatch.setattr(large, "from_part", lambda *_: (s.v, crowd))
    found, now, h = large.beginning(p, no_limits())
    assert_allclose(found.e, p.t - K @ s.v, atol=1e-12)
    ends = svm.bias_interval(found.e, p.t) if bias else [found.e[-1]] * 2
    assert_allclose(found.b, np.mean(ends))
    distance = np.sort(np.abs(found.e - found.b)[:40])
    assert_allclose(h, 2 * distance[rank])
    assert now.free[:40].sum() == rank
    assert asked.calls[0][2] == h


def test_first_strip_is_not_too_narrow_nor_too_full(monkeypatch):
    p, _, s = small()
    Settled(monkeypatch)
    monkeypatch.setattr(large, "SMALL", 39)
    monkeypatch.setattr(large, "NARROWEST", 1.0)
    monkeypatch.setattr(large, "TOO_MANY", 7)
    monkeypatch.setattr(large, "from_part", lambda *_: (s.v, 7))
    assert large.beginning(p, no_limits())[2] == 1e3
    monkeypatch.setattr(large, "from_part", lambda *_: (s.v, 8))
    with pytest.raises(solver.Stop, match="stalled"):
        large.beginning(p, no_limits())
    monkeypatch.setattr(_rows.Given, "whole_fits", False)
    large.beginning(p, no_limits())


def test_part_is_narrowed_before_it_is_handed_on(monkeypatch):
    p, _, s = small()
    part, where = large.part_of(p)
    mine = large.State(s.v[where], s.e[where], 0.0)
    now = solver.Guess(np.arange(len(where)) < 5, np.arange(len(where)) > 7)
    asked = Settled(monkeypatch)
    monkeypatch.setattr(large, "beginning", lambda *_: (mine, now, 1.0))
    v, crowd = large.from_part(p, no_limits())
    assert_allclose([call[2] for call in asked.calls], [1 / 3, 1 / 9, 1 / 27])
    assert crowd == 7
    assert_array_equal(v[where], mine.v)
    assert np.count_nonzero(v) == len(where) == len(part.t)


def test_empty_strip_is_found_again(monkeypatch):
    p, _, s = small()
    none = solver.Guess(np.zeros(40, bool), np.ones(40, bool))
    lost = s._replace(b=-100.0)
    step, whole = large.smooth_step(p, lost, none, 0.5)
    assert whole == 1
    assert_array_equal(step.v, p.high)
    assert step.b == -100.0
    lost, none = lost._replace(b=100.0), solver.Guess(none.free, p.t > 0)
    with monkeypatch.context() as once:
        once.setattr(large, "STEPS", 1)
        found, _, good = large.settled(p, lost, none, 0.5, no_limits(), 0)
    assert not good
    assert found.b == pytest.approx(sum(p.biases(found.e)) / 2)
    found, _, good = large.settled(p, lost, none, 0.5, no_limits(), 0)
    usual = large.guess(p, s, 4.0)
    expected, *_ = large.settled(p, s, usual, 0.5, no_limits(), 0)
    assert good
    assert_allclose(found.v, expected.v, atol=1e-10)
    assert_allclose(found.b, expected.b)


def test_block_of_low_rank_is_factorised_and_others_are_given_up(monkeypatch):
    p, _, s = small(bias=False)
    F = np.array([0, 1, 2, 3, 40])
    step, b = large.free_solver(p, np.ones((5, 5)), F)(np.ones(5), 0.5)
    assert_allclose([step.sum(), b], 0.5)
    for x in np.random.default_rng(0).random((30, 5)):
        assert large.free_solver(p, np.outer(x, x), F) is not None
    assert large.free_solver(p, -10 * np.eye(5), F) is None
    wrong = replace(p, K=_rows.Given(-np.eye(40)))
    wrong.K.frame(True, None)
    with pytest.raises(ValueError, match="positive semi-definite"):
        large.free_solver(wrong, -10 * np.eye(5), F)
    now = large.guess(p, s, 1.0)
    monkeypatch.setattr(large, "free_solver", lambda *_: None)
    assert large.smooth_step(p, s, now, 1.0) == (s, 0.0)
    assert large.solve_free(p, s, now) is None
    assert large.newton(p, s, now, no_limits()) is None
    monkeypatch.setattr(_interior_point, "minimise", lambda *_: None)
    assert large.among(p, s, F, no_limits()) is s
    with pytest.raises(ValueError, match="positive semi-definite"):
        large.among(wrong, s, F, no_limits())


@pytest.mark.parametrize(
    ("wrong", "name"),
    [({"memory": 0.0}, "memory"), ({"tolerance": 0.0}, "tolerance")],
)
def test_what_must_be_positive_is_named(wrong, name, monkeypatch):
    X, t = moons(100)
    with pytest.raises(ValueError, match=f"{name} must be"):
        by_rows(KERNELS[0], X, t, 1.0, monkeypatch, **{"memory": 1e4} | wrong)
    monkeypatch.setattr(large, "problem", None)  # before anything is made
    with pytest.raises(ValueError, match="C must be"):
        by_rows(KERNELS[0], X, t, -1.0, monkeypatch, memory=1e4)


def test_strips_that_are_too_full_leave_it_to_the_whole(monkeypatch):
    X, t = moons(100)
    whole = svm.fit_dual(KERNELS[0](X), t, 1.0)
    monkeypatch.setattr(large, "TOO_MANY", 0)
    m = by_rows(KERNELS[0], X, t, 1.0, monkeypatch)
    assert m.status == "converged"
    assert_array_equal(m.alpha, whole.alpha)


def test_few_inputs_have_the_whole_matrix_made(monkeypatch):
    X, t = moons(100)
    whole = svm.fit_dual(KERNELS[0](X), t, 1.0)
    monkeypatch.setattr(svm, "WHOLE", 100)
    monkeypatch.setattr(svm, "_solved_by_rows", None)
    m = svm.fit(KERNELS[0], X, t, 1.0).svm
    assert_array_equal(m.alpha, whole.alpha)
    monkeypatch.setattr(svm, "WHOLE", 99)
    with pytest.raises(TypeError):
        svm.fit(KERNELS[0], X, t, 1.0)


def test_whole_step_ends_on_the_bounds_to_the_last_digit(monkeypatch):
    p, _, s = small(C=0.3)
    v = 1e3 * s.v / 3
    assert (v + (p.high - v) != p.high).any()
    none = solver.Guess(np.zeros(40, bool), np.ones(40, bool))
    monkeypatch.setattr(large, "along", lambda *_: 1.0)
    step, _ = large.smooth_step(p, s._replace(v=v), none, 0.5)
    assert_array_equal(step.v, p.high)
