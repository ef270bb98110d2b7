"""The SVM solver: certificates, LIBSVM and an interior-point QP as oracles."""

import pickle
import time

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.svm import SVC

from kernelbook import _svm_solver as solver
from kernelbook import kernels, svm, toydata
from kernelbook.exceptions import ConvergenceWarning

CS = [1e-3, 0.1, 1.0, 10.0, 1e3, 1e6]


def blobs(N, seed, distance=2.0):
    return toydata.two_blobs(N, distance, seed)


def gaussian(N=80, seed=0):
    X, t = blobs(N, seed)
    return kernels.Gaussian(0.5)(X), t


def duplicates():
    X, t = blobs(30, 1, distance=1.0)
    X, t = np.repeat(X, 3, axis=0), np.repeat(t, 3)
    t[::7] *= -1  # the same input with both labels
    return kernels.Gaussian(1.0)(X), t


def tiny_class():
    X, t = blobs(80, 2)
    t[:] = -1
    t[5] = 1
    return kernels.Gaussian(1.0)(X), t


def rank_one():
    rng = np.random.default_rng(3)
    x = rng.standard_normal(80)
    return np.outer(x, x), np.sign(x + rng.standard_normal(80))


def constant():
    _, t = rank_one()
    return np.ones((80, 80)), t


def cubic():
    X, t = blobs(80, 4, distance=1.0)
    return kernels.Polynomial(3, 1.0)(X), t


def identity():
    return np.eye(60), blobs(60, 5)[1]


PROBLEMS = [
    gaussian, duplicates, tiny_class, rank_one, constant, cubic, identity
]  # fmt: skip


def primal_by_hand(v, b, K, t, C):
    """½ vᵀKv + C Σ max(0, 1 - t y), one example at a time."""
    total = v @ K @ v / 2
    for n in range(len(t)):
        total += C * max(0.0, 1 - t[n] * (v @ K[n] + b))
    return total


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", CS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_gap_is_certified_on_well_and_ill_posed_data(problem, C, bias):
    K, t = problem()
    m = svm.fit_dual(K, t, C, bias=bias)
    assert m.status == "converged"
    assert m.relative_gap <= 1e-6
    # The certificate, by hand: feasible, and the two objectives meet.
    v = m.alpha * t
    assert m.alpha.min() >= 0
    assert m.alpha.max() <= C
    if bias:
        assert abs(v.sum()) <= 1e-10 * np.abs(v).sum()
    primal = primal_by_hand(v, m.b, K, t, C)
    dual = svm.dual_objective(m.alpha, K, t)
    assert_allclose(m.primal, primal, rtol=1e-6)
    assert_allclose(m.dual, dual, rtol=1e-6)
    assert (primal - dual) / primal <= 2e-6


def test_overlapping_classes_and_a_large_C_take_seconds_not_minutes():
    X, t = blobs(1000, 0)
    m = svm.fit_dual(kernels.Gaussian(0.5)(X), t, 1e3, max_seconds=30)
    assert m.status == "converged"
    assert m.iterations < 2000  # pair steps alone took 17 000 and more


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("problem", [gaussian, tiny_class, identity])
def test_support_sets_and_objective_are_libsvms(problem, C):
    K, t = problem()
    m = svm.fit_dual(K, t, C)
    theirs = SVC(C=C, kernel="precomputed", tol=1e-6).fit(K, t)
    v = np.zeros(len(t))
    v[theirs.support_] = theirs.dual_coef_[0]
    assert_allclose(m.dual, svm.dual_objective(v * t, K, t), rtol=1e-5)
    assert_allclose(m.coefficients, v, atol=1e-4 * np.abs(v).max())
    assert set(m.support) == set(theirs.support_)
    assert set(m.bounded) == set(np.flatnonzero(np.abs(v) >= C))
    assert_allclose(
        svm.output(m, K),
        theirs.decision_function(K),
        atol=1e-3 * np.abs(v).max(),
    )


def clarabel_dual(K, t, C, bias):
    """The same quadratic program by somebody else's interior point."""
    N = len(t)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    rows = [sparse.csc_matrix(t[None, :])] if bias else []
    rows += [-sparse.identity(N), sparse.identity(N)]
    right = np.concatenate([np.zeros(int(bias)), np.zeros(N), np.full(N, C)])
    cones = [clarabel.ZeroConeT(1)] if bias else []
    cones += [clarabel.NonnegativeConeT(2 * N)]
    P = sparse.triu(sparse.csc_matrix(np.outer(t, t) * K), format="csc")
    A = sparse.vstack(rows, format="csc")
    return (
        -clarabel.DefaultSolver(P, -np.ones(N), A, right, cones, settings)
        .solve()
        .obj_val
    )


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_objective_is_that_of_an_independent_qp_solver(problem, C, bias):
    K, t = problem()
    m = svm.fit_dual(K, t, C, bias=bias)
    theirs = clarabel_dual(K, t, C, bias)
    assert_allclose(m.dual, theirs, rtol=1e-6)


@settings(max_examples=60)
@given(
    st.integers(2, 25),
    st.integers(1, 5),
    st.floats(-3, 6),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_any_gram_of_any_rank_is_solved(N, rank, log_C, seed, bias):
    rng = np.random.default_rng(seed)
    Phi = rng.integers(-2, 3, (N, rank)).astype(float)  # ties on purpose
    t = rng.choice([-1.0, 1.0], N)
    t[:2] = 1, -1
    m = svm.fit_dual(Phi @ Phi.T, t, 10**log_C, bias=bias)
    assert m.status == "converged"
    w = Phi.T @ m.coefficients
    primal = svm.primal_objective(w, m.b, Phi, t, 10**log_C)
    dual = m.alpha.sum() - w @ w / 2
    assert primal - dual <= 2e-6 * primal


def test_kkt_cases_free_bounded_and_outside():
    K, t = gaussian()
    m = svm.fit_dual(K, t, C=1.0)
    margin = t * svm.output(m, K)
    outside = np.setdiff1d(np.arange(len(t)), m.support)
    assert len(m.free) and len(m.bounded) and len(outside)
    assert_allclose(margin[m.free], 1, atol=1e-9)
    assert np.all(margin[m.bounded] <= 1 + 1e-9)
    assert np.all(margin[outside] >= 1 - 1e-9)
    assert_allclose(m.alpha[m.bounded], 1.0, atol=0)


def test_bias_interval_is_where_the_primal_is_flat_and_lowest():
    rng = np.random.default_rng(0)
    t = rng.choice([-1.0, 1.0], 25)
    e = rng.standard_normal(25)
    low, high = svm.bias_interval(e, t)
    grid = np.sort(np.concatenate([e, np.linspace(-3, 3, 400)]))
    loss = [svm.slack(t - e + b, t).sum() for b in grid]
    best = np.flatnonzero(np.isclose(loss, min(loss), rtol=0, atol=1e-12))
    assert_allclose([grid[best[0]], grid[best[-1]]], [low, high])


def test_no_free_support_vectors_leave_an_interval_for_the_bias():
    K, t = np.outer([1.0, -1.0], [1.0, -1.0]), np.array([1.0, -1.0])
    m = svm.fit_dual(K, t, C=0.1)  # both at C; w = 0.2
    assert len(m.free) == 0
    assert_allclose(m.b_interval, [-0.8, 0.8])
    assert m.b == 0
    for b in (-0.8, -0.3, 0.8):
        assert_allclose(
            svm.primal_objective([0.2], b, [[1.0], [-1.0]], t, 0.1), m.primal
        )


def test_without_bias_the_equality_constraint_is_gone():
    K, t = tiny_class()
    m = svm.fit_dual(K, t, C=1.0, bias=False)
    assert m.b == 0
    assert abs(m.coefficients.sum()) > 0.1
    assert m.dual > svm.fit_dual(K, t, C=1.0).dual


def test_gap_terms_sum_to_primal_minus_dual():
    K, t = gaussian()
    rng = np.random.default_rng(1)
    alpha = rng.uniform(0, 1, len(t))
    alpha[t < 0] *= alpha[t > 0].sum() / alpha[t < 0].sum() * 0.9
    alpha[t > 0] *= alpha[t < 0].sum() / alpha[t > 0].sum()
    y = K @ (alpha * t) + 0.3
    terms = svm.gap_terms(alpha, y, t, C=2.0)
    primal = primal_by_hand(alpha * t, 0.3, K, t, 2.0)
    assert terms.min() >= 0
    assert_allclose(terms.sum(), primal - svm.dual_objective(alpha, K, t))


def test_lagrangian_is_the_dual_once_stationary():
    X, t = blobs(40, 6)
    K, C = X @ X.T, 0.7
    m = svm.fit_dual(K, t, C)
    w = X.T @ m.coefficients
    rng = np.random.default_rng(0)
    for b, xi in [(0.0, np.zeros(40)), (3.0, rng.uniform(0, 9, 40))]:
        value = svm.lagrangian(w, b, xi, m.alpha, C - m.alpha, X, t, C)
        assert_allclose(value, svm.dual_objective(m.alpha, K, t))


def test_primal_objective_is_the_sum_by_hand():
    rng = np.random.default_rng(0)
    Phi, v = rng.standard_normal((6, 3)), rng.standard_normal(6)
    t = rng.choice([-1.0, 1.0], 6)
    found = svm.primal_objective(Phi.T @ v, 0.9, Phi, t, 0.7)
    assert_allclose(found, primal_by_hand(v, 0.9, Phi @ Phi.T, t, 0.7))


def test_lagrangian_anywhere_is_the_sum_by_hand():
    rng = np.random.default_rng(0)
    Phi, w = rng.standard_normal((6, 3)), rng.standard_normal(3)
    xi, alpha, mu = rng.uniform(0, 2, (3, 6))
    t = rng.choice([-1.0, 1.0], 6)
    total = w @ w / 2
    for n in range(6):
        total += 0.7 * xi[n] - mu[n] * xi[n]
        total -= alpha[n] * (t[n] * (w @ Phi[n] + 0.3) - 1 + xi[n])
    assert_allclose(svm.lagrangian(w, 0.3, xi, alpha, mu, Phi, t, 0.7), total)


def test_scaling_of_kernel_and_C():
    K, t = gaussian()
    one, ten = svm.fit_dual(K, t, 10.0), svm.fit_dual(10 * K, t, 1.0)
    assert_allclose(ten.coefficients * 10, one.coefficients, atol=1e-6)
    assert_allclose(ten.b, one.b, atol=1e-8)


def test_order_of_the_examples_does_not_matter():
    K, t = gaussian()
    shuffled = np.random.default_rng(0).permutation(len(t))
    m = svm.fit_dual(K, t, 1.0)
    n = svm.fit_dual(K[np.ix_(shuffled, shuffled)], t[shuffled], 1.0)
    assert_allclose(n.alpha, m.alpha[shuffled], atol=1e-7)


def test_swapping_the_classes_flips_the_sign():
    K, t = gaussian()
    m, n = svm.fit_dual(K, t, 1.0), svm.fit_dual(K, -t, 1.0)
    assert_allclose(n.alpha, m.alpha, atol=1e-8)
    assert_allclose(n.b, -m.b, atol=1e-8)


def test_max_iterations_returns_the_best_point_with_its_gap():
    K, t = cubic()
    with pytest.warns(ConvergenceWarning, match="max_iterations") as said:
        m = svm.fit_dual(K, t, 10.0, max_iterations=15)
    assert said[0].filename == __file__
    assert "relative gap is" in str(said[0].message)
    assert "with more time" in str(said[0].message)
    assert m.status == "max_iterations"
    assert m.iterations <= 15
    assert 1e-6 < m.relative_gap < 1
    full = svm.fit_dual(K, t, 10.0)
    assert m.dual <= full.dual * (1 + 1e-9)
    assert m.primal >= full.primal * (1 - 1e-9)


def test_certificate_of_an_unfinished_machine_is_that_by_hand():
    K, t = cubic()
    with pytest.warns(ConvergenceWarning, match="max_iterations"):
        m = svm.fit_dual(K, t, 10.0, max_iterations=15)
    assert abs(m.b) > 0.01
    primal = primal_by_hand(m.coefficients, m.b, K, t, 10.0)
    assert_allclose(m.primal, primal, rtol=1e-9)
    assert_allclose(m.dual, svm.dual_objective(m.alpha, K, t), rtol=1e-9)
    assert np.any(m.alpha == 0)
    assert not np.signbit(m.alpha).any()


def test_max_seconds_stops():
    X, t = blobs(1500, 0, distance=0.5)
    K = kernels.Gaussian(2.0)(X)
    start = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        m = svm.fit_dual(K, t, 1e5, max_seconds=0.05)
    assert m.status == "max_seconds"
    assert time.monotonic() - start < 10
    assert m.gap > 0


@pytest.mark.parametrize("C", [0.1, 10.0, 1e6])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_interior_point_certifies_where_all_else_is_taken_away(
    problem, C, monkeypatch
):
    only = (solver.sketch, solver.growing_subsets)
    monkeypatch.setattr(solver, "STAGES", only)
    monkeypatch.setattr(solver, "NEWTON_TRIES", 0)
    m = svm.fit_dual(*problem(), C)
    assert m.status == "converged"
    assert m.relative_gap <= 1e-6


@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_low_rank_interior_point_comes_close_by_itself(C, monkeypatch):
    monkeypatch.setattr(solver, "LOW_RANK", 1e-6)
    X, t = blobs(300, 0)
    p = solver.problem(kernels.Gaussian(0.5)(X), t, C, bias=True)
    zero = solver.point_at(p, np.zeros(300))
    watch = solver.Watch(None, None)
    start = solver.pair_steps(p, zero, 75, watch)
    assert watch.iterations == 75
    watch.iterations = 0
    inner = solver.low_rank_step(p, start, watch)
    assert inner.relative_gap <= 1e-6
    assert watch.iterations <= 30
    assert_allclose(inner.dual, svm.fit_dual(p.K, t, C).dual, rtol=1e-6)


@pytest.mark.parametrize(
    ("status", "error"),
    [("interrupted", KeyboardInterrupt()), ("stalled", None)],
)
def test_solver_that_ends_early_warns_its_caller(status, error, monkeypatch):
    K, t = cubic()

    def end(_, point, __):
        if error:
            raise error
        return point

    monkeypatch.setattr(solver, "STAGES", (solver.sketch, end))
    with pytest.warns(ConvergenceWarning, match=f"fit_dual.*{status}") as said:
        m = svm.fit_dual(K, t, 10.0)
    assert said[0].filename == __file__
    assert ("rounding of K" in str(said[0].message)) == (status == "stalled")
    assert m.status == status
    assert 0 < m.relative_gap < 1
    assert_allclose(m.dual, svm.dual_objective(m.alpha, K, t))


def test_progress_goes_to_stderr_and_only_on_long_solves(monkeypatch, capsys):
    K, t = gaussian()
    svm.fit_dual(K, t, 1e4)
    assert capsys.readouterr() == ("", "")
    clock = iter(range(0, 10**6, 6))
    for name in ("monotonic", "process_time"):
        monkeypatch.setattr(solver.time, name, lambda: float(next(clock)))
    svm.fit_dual(*cubic(), 10.0)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("svm.fit_dual: ")
    assert "relative gap" in err
    svm.fit(kernels.Linear(), blobs(30, 0)[0], blobs(30, 0)[1], 10.0)
    assert capsys.readouterr().err.startswith("svm.fit: ")
    svm.fit_dual(*cubic(), 10.0, progress=False)
    svm.fit(kernels.Linear(), *blobs(30, 0), C=10.0, progress=False)
    assert capsys.readouterr() == ("", "")


def test_pair_step_is_the_solvers_and_never_lowers_the_dual():
    K, t = gaussian(40)
    p = solver.problem(K, t, 2.0, bias=True)
    alpha, point = np.zeros(40), solver.point_at(p, np.zeros(40))
    before, watch = 0.0, solver.Watch(None, None)
    for _ in range(60):
        alpha = svm.pair_step(alpha, K, t, 2.0)
        point = solver.pair_steps(p, point, 1, watch)
        assert_allclose(alpha, point.v * t, atol=1e-12)
        dual = svm.dual_objective(alpha, K, t)
        assert dual >= before * (1 - 1e-12)
        before = dual
    assert np.any(alpha == 2.0)
    assert np.any(alpha == 0.0)
    assert not np.signbit(alpha).any()


def test_pair_step_without_curvature_goes_to_the_corner_of_the_box():
    for value in [0.0, 1.0]:
        K = np.full((3, 3), value)
        alpha = svm.pair_step(np.zeros(3), K, [1, -1, -1], 5.0)
        assert alpha.tolist() == [5, 5, 0]
    best = svm.fit_dual(*gaussian(40), C=1.0)
    again = svm.pair_step(best.alpha, *gaussian(40), C=1.0)
    assert_allclose(again, best.alpha, atol=1e-9)


def test_pair_step_without_curvature_knows_the_rounding_of_all_entries():
    K = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4e30]])
    alpha = svm.pair_step(np.zeros(3), K, [1, -1, -1], 5.0)
    step = 2 / (np.finfo(float).eps * 4e30)
    assert_allclose(alpha, [step, step, 0], rtol=1e-12)


def test_predicted_class_is_the_sign_and_zero_counts_as_plus():
    m = svm.fit_dual([[1, -1], [-1, 1]], [1, -1], C=10.0)
    k = np.array([[3.0, -2.0, 0.0], [-3.0, 2.0, 0.0]])
    assert svm.output(m, k).tolist() == [3, -2, 0]
    assert svm.predict(m, k).tolist() == [1, -1, 1]


@pytest.mark.parametrize("bias", [True, False])
def test_machine_with_kernel_is_the_dual_with_gram(bias):
    (X, t), k = blobs(80, 0), kernels.Gaussian(0.5)
    Z = blobs(30, 9)[0]
    m = svm.fit_dual(k(X), t, 2.0, bias=bias)
    machine = svm.fit(k, X, t, 2.0, bias=bias)
    assert_allclose(machine.svm.alpha, m.alpha, atol=0)
    assert_allclose(machine.X, X[m.support], atol=0)
    assert_allclose(machine.a, m.coefficients[m.support], atol=0)
    assert_allclose(machine.output(Z), svm.output(m, k(X, Z)), atol=1e-12)
    assert_allclose(machine.predict(Z), svm.predict(m, k(X, Z)), atol=0)
    assert set(machine.predict(Z)) == {-1.0, 1.0}


def test_machine_keeps_copies_and_passes_its_options_on():
    X, t = blobs(60, 0)
    machine = svm.fit(kernels.Linear(), X, t, 1.0)
    before = machine.output(X[:5])
    Z = X[:5].copy()
    X[:], t[:] = 7.0, -t
    assert_allclose(machine.output(Z), before, atol=0)
    X, t = blobs(60, 0)
    with pytest.warns(ConvergenceWarning, match="svm.fit ended") as said:
        early = svm.fit(kernels.Gaussian(0.5), X, t, 9.0, max_iterations=3)
    assert said[0].filename == __file__
    assert early.svm.iterations == 3
    loose = svm.fit(kernels.Gaussian(0.5), X, t, 9.0, tolerance=0.5)
    assert loose.svm.relative_gap <= 0.5
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        none = svm.fit(kernels.Linear(), X, t, 1.0, max_seconds=1e-300)
    assert len(none.svm.support) == 0
    assert_allclose(none.X, X[:1], atol=0)
    assert_allclose(none.output(X[:4]), none.svm.b, atol=0)


def test_machine_has_a_bias_unless_told_otherwise():
    (X, t), k = blobs(40, 0), kernels.Linear()
    machine = svm.fit(k, X + 1, t, 1.0)
    assert machine.b != 0
    assert machine.b == svm.fit(k, X + 1, t, 1.0, bias=True).b


def test_relative_gap_is_a_millionth_unless_told_otherwise(monkeypatch):
    # K = I and v = (1 - δ, δ - 1): the relative gap is about 2δ.
    v = (1 - 0.6e-6) * np.array([1.0, -1.0])
    monkeypatch.setattr(
        solver, "STAGES", (lambda _p, _point, search: search.propose(v),)
    )
    monkeypatch.setattr(solver, "outward", lambda _, point: point)
    with pytest.warns(ConvergenceWarning, match=r"relative gap is 1\.2e-06"):
        svm.fit_dual(np.eye(2), [1, -1], 2.0)
    with pytest.warns(ConvergenceWarning, match=r"relative gap is 1\.2e-06"):
        svm.fit(kernels.Linear(), np.eye(2), [1, -1], 2.0)
    assert svm.fit_dual(np.eye(2), [1, -1], 2.0, tolerance=2e-6).gap > 1e-6


def test_machine_is_pickled_whole():
    X, t = blobs(40, 0)
    machine = svm.fit(kernels.Gaussian(0.5), X, t, 1.0)
    again = pickle.loads(pickle.dumps(machine))
    assert_allclose(again.output(X), machine.output(X), atol=0)


def test_labels_are_the_machines_own():
    K, t = gaussian()
    m = svm.fit_dual(K, t, 1.0)
    before = m.coefficients
    t[:] = -t
    assert_allclose(m.coefficients, before, atol=0)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
@pytest.mark.parametrize("N", [100, 500])
def test_single_precision_gram_is_judged_by_its_own_rounding(N, C, bias):
    X, t = blobs(N, 0)
    K = kernels.Gaussian(0.5)(X).astype(np.float32)
    lowest = np.linalg.eigvalsh(K.astype(float))[0]
    assert lowest < -1e-8  # more than double precision explains
    m = svm.fit_dual(K, t, C, bias=bias)
    assert m.status == "converged"
    exact = svm.fit_dual(kernels.Gaussian(0.5)(X), t, C, bias=bias)
    assert_allclose(m.dual, exact.dual, rtol=1e-3)
    with pytest.raises(ValueError, match="smallest eigenvalue -"):
        svm.fit_dual(K.astype(float), t, C, bias=bias)
    K[0, 1] = K[1, 0] = 3.0
    with pytest.raises(ValueError, match="smallest eigenvalue -"):
        svm.fit_dual(K, t, C, bias=bias)


def test_what_was_given_comes_back_with_the_machine():
    m = svm.fit_dual([[1, 0], [0, 1]], [1, -1], 10)
    assert isinstance(m.C, float)
    assert m.C == 10
    assert_allclose(m.t, [1, -1], atol=0)


def test_inputs_are_left_alone():
    K, t = gaussian()
    before = K.copy(), t.copy()
    svm.fit_dual(K, t, 1e3)
    svm.fit_dual(K, t, 1e3, bias=False)
    assert np.array_equal(K, before[0])
    assert np.array_equal(t, before[1])


def test_indefinite_gram_raises_with_its_eigenvalue():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"eigenvalue -1: the dual is not co"):
        svm.fit_dual(K, [1, -1], 1.0)


def test_indefinite_gram_is_refused_even_where_the_solver_never_looks():
    K = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="smallest eigenvalue -1"):
        svm.fit_dual(K, [1, 1, -1], 0.01)  # the first two never make a pair


@pytest.mark.parametrize("C", [1e-3, 100.0])
def test_indefinite_gram_beyond_the_probe_is_met_by_the_solver(C):
    N = 600
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 2))
    K = kernels.Gaussian(0.5)(X)
    probed = np.linspace(0, N - 1, solver.PROBE).astype(int)
    i, j = np.setdiff1d(np.arange(N), probed)[:2]
    K[i, j] = K[j, i] = 3.0  # |x_i - x_j|² = 2 - 6 < 0
    t = np.where(np.arange(N) % 2 == 0, 1.0, -1.0)
    t[i], t[j] = 1.0, -1.0
    with pytest.raises(ValueError, match="smallest eigenvalue -"):
        svm.fit_dual(K, t, C)


def test_gram_of_objects_is_looked_at_from_both_sides(monkeypatch):
    lopsided = np.array([[1.0, 0.5], [0.0, 1.0]])
    monkeypatch.setattr(svm, "gram", lambda *_: lopsided)
    with pytest.raises(ValueError, match="symmetric"):
        svm.fit(kernels.Spectrum(1), ["a", "b"], [1, -1], 1.0)


K2, T2 = np.eye(2), np.array([1.0, -1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: svm.fit_dual(K2, [0, 1], 1.0), "t must be -1 or .1, got 0"),
        (
            lambda: svm.fit_dual(K2, [1, 1], 1.0),
            "t must contain both -1 and .1, got only .1",
        ),
        (lambda: svm.fit_dual(K2, T2, 0.0), "C must be > 0, got 0.0"),
        (lambda: svm.fit_dual(K2, T2, -1.0), "C must be > 0, got -1.0"),
        (lambda: svm.fit_dual(K2, T2, np.inf), "C must be finite, got inf"),
        (
            lambda: svm.fit_dual(np.ones((3, 2)), T2, 1.0),
            r"K must be a square Gram matrix k\(X\), got shape \(3, 2\)",
        ),
        (
            lambda: svm.fit_dual([[1, 0.5], [0.4, 1]], T2, 1.0),
            "K must be symmetric, got entries that differ",
        ),
        (
            lambda: svm.fit_dual(K2, [1, -1, 1], 1.0),
            "t must have length 2, got 3",
        ),
        (
            lambda: svm.fit_dual(K2, T2, 1.0, tolerance=0.0),
            "tolerance must be > 0, got 0.0",
        ),
        (
            lambda: svm.fit_dual(K2, T2, 1.0, max_iterations=0),
            "max_iterations must be a whole number >= 1, got 0",
        ),
        (
            lambda: svm.fit_dual(K2, T2, 1.0, max_seconds=-1.0),
            "max_seconds must be > 0, got -1.0",
        ),
        (
            lambda: svm.output(svm.fit_dual(K2, T2, 1.0), np.ones((3, 1))),
            "k must have one row per training example",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_left_out_outputs_are_those_of_machines_trained_without_the_fold():
    K, t = gaussian(40)
    fold = np.arange(40) % 4 + 7
    for bias in (True, False):
        y = svm.left_out(K, t, 2.0, fold, bias=bias)
        for number in range(7, 11):
            rest = fold != number
            m = svm.fit_dual(K[rest][:, rest], t[rest], 2.0, bias=bias)
            assert_allclose(y[~rest], svm.output(m, K[rest][:, ~rest]))
    assert_allclose(svm.left_out(K, t, 2.0, fold)[0], SVC(
        C=2.0, kernel="precomputed", tol=1e-9
    ).fit(K[fold != 7][:, fold != 7], t[fold != 7]).decision_function(
        K[:1][:, fold != 7]
    )[0], atol=1e-5)  # fmt: skip


def test_left_out_machines_have_a_bias_unless_told_otherwise():
    K, t = tiny_class()
    t[:8] = 1
    fold = np.arange(80) % 2
    with_bias = svm.left_out(K, t, 2.0, fold, bias=True)
    assert np.array_equal(svm.left_out(K, t, 2.0, fold), with_bias)
    assert not np.allclose(svm.left_out(K, t, 2.0, fold, False), with_bias)


def test_folds_that_leave_nothing_to_learn_from_are_refused():
    K, t = gaussian(20)
    with pytest.raises(ValueError, match="fold must name two folds or more"):
        svm.left_out(K, t, 1.0, np.zeros(20))
    with pytest.raises(ValueError, match=r"t must contain both -1 and .1"):
        svm.left_out(K, t, 1.0, t > 0)
    with pytest.raises(ValueError, match="fold must have length 20, got 3"):
        svm.left_out(K, t, 1.0, [0, 1, 2])


def test_nu_lies_between_the_bounded_and_all_support_vectors():
    K, t = gaussian()
    for C in (0.1, 1.0, 100.0):
        m = svm.fit_dual(K, t, C)
        assert len(m.bounded) / 80 <= m.nu + 1e-12
        assert m.nu <= len(m.support) / 80 + 1e-12
        assert_allclose(m.nu, sum(m.alpha / C) / 80)
