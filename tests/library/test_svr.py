"""Support vector regression: certificates, LIBSVM and Clarabel as oracles."""

import pickle
import warnings
from fractions import Fraction

import clarabel
import numpy as np
import pytest
import sklearn.exceptions
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.svm import SVR

from kernelbook import _svm_solver as solver
from kernelbook import kernels, svr
from kernelbook.exceptions import ConvergenceWarning

EPS = np.finfo(float).eps


def sine(N=60, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (N, 1))
    return X, np.sin(2 * X[:, 0]) + noise * rng.standard_normal(N)


def gaussian(N=60, seed=0):
    X, t = sine(N, seed)
    return kernels.Gaussian(1.0)(X), t


def duplicates():
    X, _ = sine(25, 1)
    X = np.repeat(X, 3, axis=0)
    t = np.random.default_rng(1).standard_normal(75)
    return kernels.Gaussian(1.0)(X), t


def rank_one():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(60)
    return np.outer(x, x), 2 * x + rng.standard_normal(60)


def far_away():
    X, t = sine(60, 3)
    return (X + 1e3) @ (X + 1e3).T, t + 1e6


def nearly_flat():
    X, t = sine(60, 4, noise=0.0)
    t = t.clip(-0.2, 0.2)
    t[7] = 3.0
    return kernels.Gaussian(1.0)(X), t


PROBLEMS = [gaussian, duplicates, rank_one, far_away, nearly_flat]


def objectives_by_hand(a, b, K, t, C, epsilon):
    """Primal and dual in exact arithmetic, one example at a time."""
    a, b, C, epsilon = (
        [Fraction(x) for x in a],
        *map(Fraction, (b, C, epsilon)),
    )
    some = [n for n in range(len(a)) if a[n]]
    y = [sum(a[m] * Fraction(K[m, n]) for m in some) for n in range(len(a))]
    square = sum(a[n] * y[n] for n in some)
    losses = [
        max(0, abs(Fraction(t[n]) - y[n] - b) - epsilon) for n in range(len(a))
    ]
    linear = sum(a[n] * Fraction(t[n]) - epsilon * abs(a[n]) for n in some)
    return float(square / 2 + C * sum(losses)), float(linear - square / 2)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e3])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_gap_is_certified_on_well_and_ill_posed_data(
    problem, C, epsilon, bias
):
    K, t = problem()
    if not bias:
        t = t - t.mean()
    m = svr.fit_dual(K, t, C, epsilon, bias=bias)
    assert m.status == "converged"
    assert m.relative_gap <= 1e-6
    assert np.abs(m.a).max() <= C
    if bias:
        assert abs(m.a.sum()) <= 1e-10 * np.abs(m.a).sum()
    primal, dual = objectives_by_hand(m.a, m.b, K, t, C, epsilon)
    # far_away: one unit in the last place of b, 1e-10, times C for each
    assert_allclose(m.primal, primal, rtol=2e-6)
    shared = float(np.abs(t).max()) * EPS * np.abs(m.a).sum()
    assert_allclose(m.dual, dual, rtol=2e-6, atol=len(t) * shared)


def clarabel_dual(K, t, C, epsilon, bias):
    """The same quadratic program, in α and α̂, by another's interior point."""
    N = len(t)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    signs = np.append(np.ones(N), -np.ones(N))
    rows = [sparse.csc_matrix(signs[None, :])] if bias else []
    rows += [-sparse.identity(2 * N), sparse.identity(2 * N)]
    right = np.concatenate(
        [np.zeros(int(bias)), np.zeros(2 * N), np.full(2 * N, C)]
    )
    cones = [clarabel.ZeroConeT(1)] if bias else []
    cones += [clarabel.NonnegativeConeT(4 * N)]
    Q = np.block([[K, -K], [-K, K]])
    P = sparse.triu(sparse.csc_matrix(Q), format="csc")
    q = np.append(epsilon - t, epsilon + t)
    A = sparse.vstack(rows, format="csc")
    return (
        -clarabel.DefaultSolver(P, q, A, right, cones, settings)
        .solve()
        .obj_val
    )


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("problem", [gaussian, duplicates, rank_one])
def test_objective_is_that_of_an_independent_qp_solver(
    problem, C, epsilon, bias
):
    K, t = problem()
    m = svr.fit_dual(K, t, C, epsilon, bias=bias)
    assert_allclose(m.dual, clarabel_dual(K, t, C, epsilon, bias), rtol=1e-6)


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_support_objective_and_predictions_are_libsvms(C, epsilon):
    K, t = gaussian()
    m = svr.fit_dual(K, t, C, epsilon)
    theirs = SVR(C=C, epsilon=epsilon, kernel="precomputed", tol=1e-8)
    theirs.fit(K, t)
    a = np.zeros(len(t))
    a[theirs.support_] = theirs.dual_coef_[0]
    assert_allclose(m.a, a, atol=1e-4 * C)
    assert_allclose(m.dual, svr.dual_objective(a, K, t, epsilon), rtol=1e-7)
    assert_array_equal(m.support, np.sort(theirs.support_))
    assert_array_equal(m.bounded, np.flatnonzero(np.abs(a) >= C))
    assert_allclose(svr.predict(m, K), theirs.predict(K), atol=1e-4)


def random_problem(seed, most=150):
    rng = np.random.default_rng(seed)
    while True:
        N, D = rng.integers(5, most + 1), rng.integers(1, 6)
        X = rng.standard_normal((N, D)) * rng.choice([0.1, 1.0, 10.0])
        t = [
            np.sin(X[:, 0]) + rng.uniform(0, 1) * rng.standard_normal(N),
            X[:, 0] ** 2 + rng.standard_normal(N),
            rng.standard_normal(N),
            np.round(2 * rng.standard_normal(N)),  # ties
        ][rng.integers(4)]
        t = t * rng.choice([0.01, 1.0, 100.0]) + rng.choice([0.0, 0.0, 1e3])
        if rng.random() < 0.1:
            X[N // 2 :] = X[: N - N // 2]
        size = D * float(X.var(axis=0).mean())
        k = [
            kernels.Gaussian(float(10 ** rng.uniform(-2, 1)) / size),
            kernels.Linear(),
            kernels.Polynomial(3, 1.0),
            kernels.Linear() + kernels.Constant(100.0),
        ][rng.integers(4)]
        C = float(10 ** rng.uniform(-2, 3)) * float(t.std())
        epsilon = float(t.std()) * rng.choice([0.0, 0.1, 0.5, 2.0])
        K = k(X)
        if EPS * C * K.diagonal().max() <= 1e-7 * t.std():
            return K, t, C, epsilon, bool(rng.random() < 0.7)


@pytest.mark.parametrize("first", [0, 60, 120])
def test_random_problems_are_all_certified(first):
    for seed in range(first, first + 60):
        K, t, C, epsilon, bias = random_problem(seed)
        m = svr.fit_dual(K, t, C, epsilon, bias=bias)
        assert m.status == "converged", seed
        assert m.relative_gap <= 1e-6, seed
        assert np.abs(m.a).max() <= C


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_exact_arithmetic_confirms_the_certificate(seed):
    K, t, C, epsilon, bias = random_problem(seed, most=60)
    m = svr.fit_dual(K, t, C, epsilon, bias=bias)
    primal, dual = objectives_by_hand(m.a, m.b, K, t, C, epsilon)
    assert primal - dual <= 2e-6 * primal
    assert_allclose([m.primal, m.dual], [primal, dual], rtol=2e-6)


@pytest.mark.parametrize("seed", range(2000, 2016))
def test_dual_is_libsvms_where_libsvm_converges(seed):
    K, t, C, epsilon, _ = random_problem(seed, most=100)
    m = svr.fit_dual(K, t, C, epsilon)
    theirs = SVR(
        C=C, epsilon=epsilon, kernel="precomputed", tol=1e-6, max_iter=20_000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        theirs.fit(K, t)
    a = np.zeros(len(t))
    a[theirs.support_] = theirs.dual_coef_[0]
    dual = svr.dual_objective(a, K, t, epsilon)
    assert dual <= m.primal * (1 + 1e-6) + 1e-9  # nobody is above our bound
    scale = C * K.diagonal().max() / t.std()
    if theirs.fit_status_ == 0 and scale < 1e3:
        assert_allclose(dual, m.dual, rtol=1e-4, atol=1e-9)


def test_kkt_cases_inside_on_the_edge_and_outside():
    K, t = gaussian()
    m = svr.fit_dual(K, t, C=1.0, epsilon=0.2)
    r = t - svr.predict(m, K)
    inside = np.setdiff1d(np.arange(len(t)), m.support)
    assert len(m.free) and len(m.bounded) and len(inside)
    assert np.all(np.abs(r[inside]) <= 0.2 + 1e-9)
    assert_allclose(r[m.free], 0.2 * np.sign(m.a[m.free]), atol=1e-9)
    assert np.all(r[m.bounded] * np.sign(m.a[m.bounded]) >= 0.2 - 1e-9)
    assert_array_equal(np.abs(m.a[m.bounded]), 1.0)
    assert_array_equal(m.alpha - m.alpha_hat, m.a)
    assert min(m.alpha.min(), m.alpha_hat.min()) == 0
    assert_array_equal(m.alpha * m.alpha_hat, 0)


def test_gap_terms_sum_to_primal_minus_dual():
    rng = np.random.default_rng(0)
    _, t = sine(30)
    Phi = rng.standard_normal((30, 4))
    a = rng.uniform(-0.7, 0.7, 30)
    a -= a.mean()
    w = Phi.T @ a
    for b in (0.0, 0.4, -3.0):
        y = Phi @ w + b
        terms = svr.gap_terms(a, y, t, 2.0, 0.3)
        primal = svr.primal_objective(w, b, Phi, t, 2.0, 0.3)
        assert terms.min() >= 0
        dual = svr.dual_objective(a, Phi @ Phi.T, t, 0.3)
        assert_allclose(terms.sum(), primal - dual)
    primal, dual = objectives_by_hand(a, b, Phi @ Phi.T, t, 2.0, 0.3)
    assert_allclose(primal, svr.primal_objective(w, b, Phi, t, 2.0, 0.3))
    assert_allclose(dual, svr.dual_objective(a, Phi @ Phi.T, t, 0.3))


def test_each_term_of_the_gap_by_hand():
    # r = 1 and ε = 0.25, above the tube by 0.75; then the mirror image
    for sign in (1.0, -1.0):
        found = [
            svr.gap_terms([sign * a], [0.0], [sign], 2.0, 0.25)[0]
            for a in (0.0, 0.5, 2.0, -0.5)
        ]
        assert_allclose(found, [1.5, 1.125, 0.0, 2.125])
    inside = svr.gap_terms([0.5, -0.5, 0.0], [0, 0, 0], [0.125] * 3, 2, 0.25)
    assert_allclose(inside, [0.0625, 0.1875, 0.0])
    assert not np.signbit(inside).any()


def test_bias_interval_is_where_the_primal_is_flat_and_lowest():
    rng = np.random.default_rng(0)
    e = rng.standard_normal(10)
    for epsilon in (0.0, 0.3, 2.0):
        low, high = svr.bias_interval(e, epsilon)
        grid = np.sort(np.concatenate([e - epsilon, e + epsilon]))
        loss = [
            svr.insensitive_loss(np.full(10, b), e, epsilon).sum()
            for b in grid
        ]
        best = np.flatnonzero(np.isclose(loss, min(loss), rtol=0, atol=1e-12))
        assert_allclose([grid[best[0]], grid[best[-1]]], [low, high])


def test_flat_function_costs_nothing_where_all_targets_are_in_the_tube():
    K, _ = gaussian(20)
    t = np.linspace(4.0, 5.0, 20)
    m = svr.fit_dual(K, t, 3.0, epsilon=0.5)
    assert m.status == "converged"
    assert (m.primal, m.dual, m.gap, m.relative_gap) == (0, 0, 0, 0)
    assert len(m.support) == m.iterations == 0
    assert_allclose([m.b, *m.b_interval], [4.5, 4.5, 4.5])
    wide = svr.fit_dual(K, t, 3.0, epsilon=0.75)
    assert_allclose(wide.b_interval, [4.25, 4.75])
    assert_allclose(wide.b, 4.5)
    through_zero = svr.fit_dual(K, t - 4.5, 3.0, epsilon=0.5, bias=False)
    assert through_zero.b == through_zero.primal == 0
    tight = svr.fit_dual(K, t - 4.5, 3.0, epsilon=0.49)
    assert tight.primal > 0
    assert len(tight.support)
    X, _ = sine(20)
    machine = svr.fit(kernels.Gaussian(1.0), X, t, 3.0, 0.5)
    assert_allclose(machine.X, X[:1], atol=0)
    assert_allclose(machine.predict(X), 4.5)


@pytest.mark.parametrize("level", [2.0**10, 2.0**30])
def test_what_all_targets_share_is_the_biass(level):
    K, t = gaussian()
    t = np.round(t * 2**20) / 2**20  # sums are exact
    near = svr.fit_dual(K, t, 10.0, 0.125)
    far = svr.fit_dual(K, t + level, 10.0, 0.125)
    assert far.status == "converged"
    assert_allclose(far.a, near.a, atol=1e-12)
    assert_allclose([far.primal, far.dual], [near.primal, near.dual])
    assert_allclose(far.b - level, near.b, atol=EPS * level)
    assert_allclose(np.subtract(far.b_interval, level), near.b, atol=1e-6)


def test_coefficients_may_exceed_the_primal():
    # Just outside the tube ½ ‖w‖² is of second order, and a of first.
    K, t = gaussian(300)
    t = t / np.abs(t).max()
    p = solver.tube_problem(K, t, 10.0, 0.95, bias=True)
    watch = solver.Watch(None, None)
    zero = solver.point_at(p, np.zeros(600))
    start = solver.pair_steps(p, zero, 2000, watch)
    inner = solver.low_rank_step(p, start, watch)
    assert np.abs(inner.v).max() > 2.5 * (start.dual + start.gap)
    best = svr.fit_dual(K, t, 10.0, 0.95)
    assert_allclose(inner.dual, best.dual, rtol=1e-2)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_the_targets_do_not_matter(unit):
    K, t = gaussian(100)
    one = svr.fit_dual(K, t, 30.0, 0.1)
    other = svr.fit_dual(K, unit * t, unit * 30.0, unit * 0.1)
    assert other.status == "converged"
    assert_allclose(other.a, unit * one.a, atol=1e-8 * unit)
    power = 2.0**40
    exact = svr.fit_dual(K, power * t, power * 30.0, power * 0.1)
    assert_array_equal(exact.a, power * one.a)


@pytest.mark.parametrize("bias", [True, False])
def test_solver_gets_targets_of_the_size_of_one(bias, monkeypatch):
    given = []
    build = solver.tube_problem

    def watched(K, t, *rest):
        given.append(t)
        return build(K, t, *rest)

    monkeypatch.setattr(solver, "tube_problem", watched)
    t = np.array([0.0, 0.01, -700.0, 3.0])
    svr.fit_dual(np.eye(4), t, 1.0, 0.1, bias=bias)
    assert 0.5 <= np.abs(given[0]).max() <= 1


def test_without_bias_the_sum_of_the_coefficients_is_free():
    K, t = gaussian()
    m = svr.fit_dual(K, t + 1, 1.0, 0.1, bias=False)
    assert m.b == 0
    assert m.b_interval == (0.0, 0.0)
    assert abs(m.a.sum()) > 0.1
    assert m.dual > svr.fit_dual(K, t + 1, 1.0, 0.1).dual


def test_without_a_tube_and_for_small_C_it_is_the_median():
    K, t = gaussian(61)
    m = svr.fit_dual(K, t, 1e-9, 0.0)
    assert_allclose(m.b, np.median(t), atol=1e-6)
    m = svr.fit_dual(K[:60, :60], t[:60], 1e-9, 0.0)
    assert_allclose(m.b, np.median(t[:60]), atol=1e-6)


def test_scaling_of_targets_kernel_and_C():
    K, t = gaussian()
    one = svr.fit_dual(K, t, 2.0, 0.1)
    louder = svr.fit_dual(K, 10 * t, 20.0, 1.0)
    assert_allclose(louder.a, 10 * one.a, atol=1e-7)
    assert_allclose(louder.b, 10 * one.b, atol=1e-7)
    larger = svr.fit_dual(10 * K, t, 0.2, 0.1)
    assert_allclose(10 * larger.a, one.a, atol=1e-7)


def test_order_and_sign_of_the_examples_do_not_matter():
    K, t = gaussian()
    m = svr.fit_dual(K, t, 1.0, 0.1)
    order = np.random.default_rng(0).permutation(len(t))
    n = svr.fit_dual(K[np.ix_(order, order)], t[order], 1.0, 0.1)
    assert_allclose(n.a, m.a[order], atol=1e-8)
    flipped = svr.fit_dual(K, -t, 1.0, 0.1)
    assert_allclose(flipped.a, -m.a, atol=1e-8)
    assert_allclose(flipped.b, -m.b, atol=1e-8)


def test_limits_return_the_best_point_with_its_gap():
    K, t = gaussian()
    with pytest.warns(ConvergenceWarning, match=r"svr.fit_dual.*max_it") as it:
        m = svr.fit_dual(K, t, 100.0, 0.1, max_iterations=15)
    assert it[0].filename == __file__
    assert "relative gap is" in str(it[0].message)
    assert m.status == "max_iterations"
    assert m.iterations == 15
    assert 1e-6 < m.relative_gap < 1
    primal, dual = objectives_by_hand(m.a, m.b, K, t, 100.0, 0.1)
    assert_allclose([m.primal, m.dual, m.gap], [primal, dual, primal - dual])
    full = svr.fit_dual(K, t, 100.0, 0.1)
    assert m.dual <= full.primal
    assert m.primal >= full.dual
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        none = svr.fit_dual(K, t, 100.0, 0.1, max_seconds=1e-300)
    assert not none.a.any()


def test_relative_gap_is_a_millionth_unless_told_otherwise(monkeypatch):
    # K = I, t = ±1, ε = 0: a = ±1 is best; the relative gap is about 2δ.
    a = (1 - 0.6e-6) * np.array([1.0, -1.0])
    v = np.append(np.maximum(a, 0), np.minimum(a, 0)) / 2  # t in units of 2
    monkeypatch.setattr(
        solver, "STAGES", (lambda _p, _point, search: search.propose(v),)
    )
    with pytest.warns(ConvergenceWarning, match=r"relative gap is 1\.2e-06"):
        svr.fit_dual(np.eye(2), [1, -1], 2.0, 0.0)
    with pytest.warns(ConvergenceWarning, match=r"svr.fit ended") as said:
        svr.fit(kernels.Linear(), np.eye(2), [1, -1], 2.0, 0.0)
    assert said[0].filename == __file__
    assert svr.fit_dual(np.eye(2), [1, -1], 2.0, 0.0, tolerance=2e-6).gap > 0


def test_progress_goes_to_stderr_unless_it_is_not_wanted(monkeypatch, capsys):
    K, t = gaussian()
    X, _ = sine()
    k = kernels.Gaussian(1.0)
    clock = iter(range(0, 10**6, 6))
    for name in ("monotonic", "process_time"):
        monkeypatch.setattr(solver.time, name, lambda: float(next(clock)))
    svr.fit_dual(K, t, 10.0, 0.1)
    assert capsys.readouterr().err.startswith("svr.fit_dual: ")
    svr.fit(k, X, t, 10.0, 0.1)
    assert capsys.readouterr().err.startswith("svr.fit: ")
    svr.fit_dual(K, t, 10.0, 0.1, progress=False)
    svr.fit(k, X, t, 10.0, 0.1, progress=False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("bias", [True, False])
def test_machine_with_kernel_is_the_dual_with_gram(bias):
    (X, t), k = sine(), kernels.Gaussian(1.0)
    Z = sine(30, 9)[0]
    m = svr.fit_dual(k(X), t, 2.0, 0.2, bias=bias)
    machine = svr.fit(k, X, t, 2.0, 0.2, bias=bias)
    assert_allclose(machine.svr.a, m.a, atol=0)
    assert_allclose(machine.X, X[m.support], atol=0)
    assert_allclose(machine.a, m.a[m.support], atol=0)
    assert_allclose(machine.predict(Z), svr.predict(m, k(X, Z)), atol=1e-12)
    assert machine.status == m.status == "converged"
    again = pickle.loads(pickle.dumps(machine))
    assert_allclose(again.predict(Z), machine.predict(Z), atol=0)


def test_machine_passes_its_options_on():
    (X, t), k = sine(), kernels.Gaussian(1.0)
    with pytest.warns(ConvergenceWarning, match=r"svr.fit ended"):
        early = svr.fit(k, X, t, 9.0, 0.1, max_iterations=3)
    assert early.svr.iterations == 3
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        svr.fit(k, X, t, 9.0, 0.1, max_seconds=1e-300)
    with pytest.raises(ValueError, match=r"tolerance must be > 0, got 0.0"):
        svr.fit(k, X, t, 9.0, 0.1, tolerance=0.0)
    assert svr.fit(k, X, t + 9, 9.0, 0.1).b != 0
    assert svr.fit(k, X, t, 9.0, 0.1, bias=False).b == 0


def test_what_was_given_comes_back_and_is_left_alone():
    K, t = gaussian()
    before = K.copy(), t.copy()
    m = svr.fit_dual(K, t, 1, 0)
    assert isinstance(m.C, float) and isinstance(m.epsilon, float)
    assert (m.C, m.epsilon) == (1, 0)
    assert_array_equal(K, before[0])
    assert_array_equal(t, before[1])
    t[:] = 7.0
    assert_array_equal(m.t, before[1])


def test_zeros_have_no_sign():
    m = svr.fit_dual(*gaussian(), C=1.0, epsilon=0.3)
    assert np.any(m.a == 0)
    assert not np.signbit(m.a[m.a == 0]).any()


def test_single_precision_gram_is_judged_by_its_own_rounding():
    K, t = gaussian(100)
    single = K.astype(np.float32)
    m = svr.fit_dual(single, t, 10.0, 0.1)
    assert m.status == "converged"
    assert_allclose(m.dual, svr.fit_dual(K, t, 10.0, 0.1).dual, rtol=1e-3)
    with pytest.raises(ValueError, match="smallest eigenvalue -"):
        svr.fit_dual(single.astype(float), t, 10.0, 0.1)


def test_indefinite_gram_raises_with_its_own_eigenvalue():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"eigenvalue -1: the dual is not co"):
        svr.fit_dual(K, [1.0, -1.0], 1.0, 0.1)


K2, T2 = np.eye(2), np.array([1.0, -1.5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: svr.fit_dual(K2, T2, 0.0, 0.1), "C must be > 0, got 0.0"),
        (
            lambda: svr.fit_dual(K2, T2, 1.0, -0.1),
            "epsilon must be >= 0, got -0.1",
        ),
        (
            lambda: svr.fit_dual(np.ones((3, 2)), T2, 1.0, 0.1),
            r"K must be a square Gram matrix k\(X\), got shape \(3, 2\)",
        ),
        (
            lambda: svr.fit_dual(K2, [1.0], 1.0, 0.1),
            "t must have length 2, got 1",
        ),
        (
            lambda: svr.fit_dual(K2, T2, 1.0, 0.1, tolerance=0.0),
            "tolerance must be > 0, got 0.0",
        ),
        (
            lambda: svr.fit_dual(K2, T2, 1.0, 0.1, max_iterations=0),
            "max_iterations must be a whole number >= 1, got 0",
        ),
        (
            lambda: svr.insensitive_loss([1.0], [1.0], -1.0),
            "epsilon must be >= 0, got -1.0",
        ),
        (
            lambda: svr.primal_objective([1.0], 0, [[1.0]], [1.0], 0.0, 0),
            "C must be > 0, got 0.0",
        ),
        (
            lambda: svr.dual_objective([1.0], [[1.0]], [1.0], -1.0),
            "epsilon must be >= 0, got -1.0",
        ),
        (
            lambda: svr.gap_terms([1.0], [1.0], [1.0], -1.0, 0.0),
            "C must be > 0, got -1.0",
        ),
        (
            lambda: svr.gap_terms([1.0], [1.0], [1.0], 1.0, -1.0),
            "epsilon must be >= 0, got -1.0",
        ),
        (
            lambda: svr.bias_interval([1.0], -1.0),
            "epsilon must be >= 0, got -1.0",
        ),
        (
            lambda: svr.predict(svr.fit_dual(K2, T2, 1, 0), np.ones((3, 1))),
            "k must have one row per training example",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
