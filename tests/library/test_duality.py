"""Lagrangian duality: quadratic and linear programs, and their solvers."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import linprog, minimize

from kernelbook import duality, ridge
from kernelbook.duality import QuadraticProgram

seeds = st.integers(0, 10**6)


def random_qp(seed, M=4, inequalities=5, equalities=1):
    """A strictly convex program and a point that is strictly feasible."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((M, M))
    w = rng.standard_normal(M)
    G = rng.standard_normal((inequalities, M))
    A = rng.standard_normal((equalities, M))
    slack = rng.uniform(0.1, 1.0, inequalities)
    qp = QuadraticProgram(
        root @ root.T + 0.5 * np.eye(M),
        3 * rng.standard_normal(M),
        G,
        G @ w + slack,
        A,
        A @ w,
    )
    return qp, w, rng


def clarabel_solution(qp):
    """w, mu, nu from an interior-point solver that shares no code."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [
        clarabel.ZeroConeT(len(qp.b)),
        clarabel.NonnegativeConeT(len(qp.h)),
    ]
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(qp.P)),
        qp.q,
        sparse.csc_matrix(np.vstack([qp.A, qp.G])),
        np.concatenate([qp.b, qp.h]),
        cones,
        settings,
    ).solve()
    z = np.array(solution.z)
    return np.array(solution.x), z[len(qp.b) :], z[: len(qp.b)]


@given(seeds)
def test_lagrangian_is_its_definition_term_by_term(seed):
    qp, w, rng = random_qp(seed)
    mu, nu = rng.uniform(size=5), rng.standard_normal(1)
    total = sum(qp.q[i] * w[i] for i in range(4))
    for i in range(4):
        total += sum(0.5 * w[i] * qp.P[i, j] * w[j] for j in range(4))
    total += sum(mu[i] * (qp.G[i] @ w - qp.h[i]) for i in range(5))
    total += nu[0] * (qp.A[0] @ w - qp.b[0])
    assert_allclose(duality.lagrangian(qp, w, mu, nu), total, atol=1e-10)


@settings(max_examples=25)
@given(seeds)
def test_dual_function_is_the_minimum_of_the_lagrangian(seed):
    qp, w, rng = random_qp(seed)
    mu, nu = rng.uniform(size=5), rng.standard_normal(1)
    by_search = minimize(lambda v: duality.lagrangian(qp, v, mu, nu), w)
    lowest = duality.dual_function(qp, mu, nu)
    assert_allclose(lowest, by_search.fun, rtol=1e-6, atol=1e-6)
    at = duality.recover_primal(qp, mu, nu)
    assert_allclose(duality.lagrangian(qp, at, mu, nu), lowest, atol=1e-8)
    assert_allclose(at, by_search.x, atol=1e-3)


@given(seeds)
def test_weak_duality_for_random_pairs(seed):
    qp, w, rng = random_qp(seed)
    mu, nu = 10 * rng.uniform(size=5), 10 * rng.standard_normal(1)
    assert duality.dual_function(qp, mu, nu) <= duality.objective(qp, w)
    assert duality.duality_gap(qp, w, mu, nu) >= 0


@settings(max_examples=25)
@given(seeds)
def test_strong_duality_and_kkt_at_clarabels_solution(seed):
    qp, _, _ = random_qp(seed)
    w, mu, nu = clarabel_solution(qp)
    assert max(duality.kkt_residuals(qp, w, mu, nu)) < 1e-6
    gap = duality.duality_gap(qp, w, mu, nu, tolerance=1e-6)
    assert abs(gap) < 1e-6 * (1 + abs(duality.objective(qp, w)))
    assert_allclose(duality.recover_primal(qp, mu, nu), w, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_optimum_agrees_with_slsqp_and_the_residuals_see_a_wrong_one(seed):
    qp, start, _ = random_qp(seed)
    w, mu, nu = clarabel_solution(qp)
    slsqp = minimize(
        lambda v: duality.objective(qp, v),
        start,
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda v: qp.h - qp.G @ v},
            {"type": "eq", "fun": lambda v: qp.A @ v - qp.b},
        ],
        options={"ftol": 1e-12},
    )
    assert_allclose(duality.dual_function(qp, mu, nu), slsqp.fun, atol=1e-6)
    off = duality.kkt_residuals(qp, w + 0.1, mu - 0.1, nu)
    assert off.primal > 1e-3
    assert off.dual > 1e-3
    assert off.stationarity > 1e-3
    assert off.complementarity > 1e-3


@settings(max_examples=25)
@given(seeds)
def test_ascent_never_lowers_the_dual_and_closes_the_gap(seed):
    qp, _, _ = random_qp(seed, M=3, inequalities=2)
    run = duality.dual_ascent(qp, iterations=200)
    scale = 1 + np.abs(run.dual).max()
    assert np.all(np.diff(run.dual) >= -1e-10 * scale)
    w, mu, nu = clarabel_solution(qp)
    assert np.all(run.dual <= duality.objective(qp, w) + 1e-6 * scale)
    bound = np.sum((run.mu[0] - mu) ** 2) + np.sum((run.nu[0] - nu) ** 2)
    rows = np.vstack([qp.G, qp.A])
    curvature = np.linalg.norm(rows @ np.linalg.solve(qp.P, rows.T), 2)
    left = duality.objective(qp, w) - run.dual[-1]
    assert left <= curvature * bound / (2 * 199) + 1e-6  # the known rate
    assert_allclose(run.primal[7], duality.objective(qp, run.w[7]))
    assert np.all(run.mu >= 0)


@settings(max_examples=25)
@given(seeds)
def test_linear_programs_agree_with_linprog(seed):
    rng = np.random.default_rng(seed)
    G = rng.uniform(0.1, 1.0, (3, 4))
    cost, need = rng.uniform(0.5, 2.0, 4), rng.uniform(1.0, 2.0, 3)
    lp = QuadraticProgram(
        np.zeros((4, 4)),
        cost,
        np.vstack([-G, -np.eye(4)]),
        np.concatenate([-need, np.zeros(4)]),
    )
    solved = linprog(cost, A_ub=-G, b_ub=-need)
    mu = np.concatenate([-solved.ineqlin.marginals, solved.lower.marginals])
    assert max(duality.kkt_residuals(lp, solved.x, mu)) < 1e-8
    assert_allclose(duality.dual_function(lp, mu), solved.fun)
    mu[0] += 0.1  # off the plane where the infimum is finite
    assert duality.dual_function(lp, mu) == -np.inf


@given(seeds)
def test_ridge_dual_is_the_dual_function_of_its_program(seed):
    rng = np.random.default_rng(seed)
    Phi, t, lam = rng.standard_normal((5, 3)), rng.standard_normal(5), 0.3
    P = np.diag([lam] * 3 + [1.0] * 5)
    qp = QuadraticProgram(P, np.zeros(8), A=-np.hstack([Phi, np.eye(5)]), b=-t)
    a = rng.standard_normal(5)
    by_book = ridge.lagrangian_dual(a, Phi @ Phi.T, t, lam)
    assert_allclose(duality.dual_function(qp, nu=lam * a), by_book)


def test_indefinite_program_has_no_bound():
    qp = QuadraticProgram(np.diag([1.0, -1.0]), [0, 0], [[0, 1.0]], [1.0])
    assert duality.dual_function(qp, [3.0]) == -np.inf
    with pytest.raises(ValueError, match="mu and nu must give a Lagrangian"):
        duality.recover_primal(qp, [3.0])
    with pytest.raises(ValueError, match=r"P must be positive.*got.*-1"):
        duality.dual_ascent(qp)
    flat = QuadraticProgram([[0.0]], [0.0])
    with pytest.raises(ValueError, match=r"P must be positive.* 0$"):
        duality.dual_ascent(flat)


def test_indefinite_program_has_no_bound_where_it_is_stationary_either():
    qp = QuadraticProgram(np.diag([1.0, -1.0]), [0, 0])
    assert duality.dual_function(qp) == -np.inf


@given(seeds)
def test_singular_program_has_the_shortest_minimiser(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((5, 2))
    P, q = root @ root.T, root @ rng.standard_normal(2)
    w = duality.recover_primal(QuadraticProgram(P, q))
    assert_allclose(w, -np.linalg.pinv(P, rcond=1e-9) @ q, rtol=1e-5)


@pytest.mark.parametrize("rows", [("G", "h"), ("A", "b")])
def test_slope_lost_in_rounding_does_not_open_the_dual(rows):
    constraint = dict(zip(rows, ([[3.0, 0.0]], [1.0]), strict=True))
    lp = QuadraticProgram(np.zeros((2, 2)), [0.3, 0.0], **constraint)
    multiplier = {"mu" if rows[0] == "G" else "nu": [-0.1]}
    assert 0.3 - 3 * 0.1 != 0
    assert duality.dual_function(lp, **multiplier) == 0.1


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_ascent_does_not_depend_on_the_unit_of_the_objective(unit):
    qp = QuadraticProgram([[2 * unit]], [0.0], [[-1.0]], [-1.0])
    run = duality.dual_ascent(qp, iterations=3, step=unit)
    assert_allclose(run.dual, unit * np.array([0.0, 0.75, 0.9375]))


def test_ascent_starts_at_zero_and_steps_by_one_over_the_curvature():
    qp, _, _ = random_qp(3)
    rows = np.vstack([qp.G, qp.A])
    curvature = np.linalg.norm(rows @ np.linalg.solve(qp.P, rows.T), 2)
    run = duality.dual_ascent(qp, iterations=4)
    by_hand = duality.dual_ascent(qp, iterations=4, step=1 / curvature)
    assert not run.mu[0].any() and not run.nu[0].any()
    assert_allclose(run.mu, by_hand.mu)
    assert_allclose(run.nu, by_hand.nu)


def test_gap_refuses_pairs_that_certify_nothing():
    qp = QuadraticProgram([[2.0]], [0.0], [[-1.0]], [-1.0])
    with pytest.raises(ValueError, match=r"w must satisfy.*0\.5"):
        duality.duality_gap(qp, [0.5], [1.0])
    with pytest.raises(ValueError, match=r"mu must be >= 0, got -1"):
        duality.duality_gap(qp, [2.0], [-1.0])


def test_gap_allows_what_is_within_the_tolerance():
    qp = QuadraticProgram([[2.0]], [0.0], [[-1.0]], [-1.0])
    assert duality.duality_gap(qp, [0.5], [0.0], tolerance=0.5) == 0.25
    assert duality.duality_gap(qp, [1.0], [-1.0], tolerance=1.0) == 2.25


def test_residuals_of_nothing_violated_are_zero_not_minus_zero():
    qp = QuadraticProgram([[2.0]], [0.0], [[-1.0]], [-1.0])
    assert "-0" not in str(duality.kkt_residuals(qp, [1.0], [0.0]))


def test_stationarity_counts_slopes_of_either_sign():
    qp = QuadraticProgram(np.eye(2), [0.0, 0.0])
    for w in ([3.0, -1.0], [-3.0, 1.0]):
        assert duality.kkt_residuals(qp, w).stationarity == 3


def test_program_without_constraints_is_its_own_dual():
    qp = QuadraticProgram([[2.0]], [-4.0])
    assert duality.dual_function(qp) == duality.objective(qp, [2.0]) == -4
    assert duality.dual_ascent(qp, 2).dual.tolist() == [-4, -4]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, 2.0], [0.0, 1.0]], [0, 0]), "P must be symmetric"),
        (([[1.0]], [0, 0]), "q must have length 1, got 2"),
        (([[1.0]], [0], [[1.0, 2.0]], [1]), "G must have 1 columns"),
        (([[1.0]], [0], [[1.0]]), "G and h must be given together"),
        (([[1.0]], [0], [[1.0]], [1, 2]), "h must have length 1, got 2"),
        (([[1.0]], [0], None, None, [[np.nan]], [1]), "A must be finite"),
    ],
)
def test_wrong_programs_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        QuadraticProgram(*arguments)


def test_wrong_multipliers_and_steps_are_refused():
    qp = QuadraticProgram([[2.0]], [0.0], [[-1.0]], [-1.0])
    with pytest.raises(ValueError, match="mu must have length 1, got 2"):
        duality.lagrangian(qp, [1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="w must have length 1, got 2"):
        duality.lagrangian(qp, [1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="w must have length 1, got 2"):
        duality.kkt_residuals(qp, [1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="nu must have length 0, got 1"):
        duality.dual_function(qp, [1.0], [1.0])
    with pytest.raises(ValueError, match="step must be > 0"):
        duality.dual_ascent(qp, step=0.0)
    with pytest.raises(ValueError, match="iterations must be a whole"):
        duality.dual_ascent(qp, iterations=0)
