"""Lagrangian duality: quadratic and linear programs, and their solvers."""

import warnings
from fractions import Fraction

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import linprog, minimize

from kernelbook import duality, ridge
from kernelbook._quadratic import Curvature
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


@pytest.mark.parametrize("units", [0, 4])
@pytest.mark.parametrize(("M", "rank"), [(3, 1), (3, 2), (5, 2), (20, 5)])
def test_the_null_space_of_a_gram_matrix_is_found(M, rank, units):
    """Its zeros are rounding errors of its entries, whatever the processor."""
    for seed in range(1000 // M):
        rng = np.random.default_rng(seed)
        root = rng.standard_normal((M, rank))
        root *= 10 ** rng.uniform(-units, units, M)[:, None]
        values, _ = (curvature := Curvature(root @ root.T)).modes
        assert np.sum(values > curvature.error) == rank, seed


@pytest.mark.parametrize("rows", [("G", "h"), ("A", "b")])
@pytest.mark.parametrize("sign", [1, -1])
def test_slope_lost_in_rounding_does_not_open_the_dual(rows, sign):
    constraint = dict(zip(rows, ([[3.0 * sign, 0.0]], [sign]), strict=True))
    lp = QuadraticProgram(np.zeros((2, 2)), [0.3, 0.0], **constraint)
    multiplier = {"mu" if rows[0] == "G" else "nu": [-0.1 * sign]}
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


# Singular or not


def test_curvatures_far_apart_are_not_singular():
    qp = QuadraticProgram(np.diag([1e10, 1.0]), [0.0, 1.0])
    assert duality.dual_function(qp) == -0.5
    assert np.array_equal(duality.recover_primal(qp), [0.0, -1.0])


@pytest.mark.parametrize("condition", [1e8, 1e12, 1e15, 1e20])
@pytest.mark.parametrize("M", [2, 7, 40])
def test_units_of_the_variables_do_not_make_a_program_singular(M, condition):
    rng = np.random.default_rng(M)
    root = rng.standard_normal((M, M)) + 3 * np.eye(M)
    P, q = root @ root.T, rng.standard_normal(M)
    units = 2.0 ** np.round(np.linspace(0, np.log2(condition) / 2, M))
    one = QuadraticProgram(P, q)
    other = QuadraticProgram(P * units * units[:, None], q * units)
    # a lower bound is the same number; a point is in the new units
    assert_allclose(
        duality.dual_function(other), duality.dual_function(one), rtol=1e-9
    )
    assert_allclose(
        duality.recover_primal(other) * units,
        duality.recover_primal(one),
        rtol=1e-7,
    )
    assert duality.dual_ascent(other, 1).dual[0] == duality.dual_function(
        other
    )


def exact_minimum(P, c):
    """-½ cᵀP⁻¹c of floats, by elimination with fractions."""
    M = len(c)
    rows = [[Fraction(x) for x in (*P[i], -c[i])] for i in range(M)]
    for i in range(M):
        for k in range(i + 1, M):
            ratio = rows[k][i] / rows[i][i]
            rows[k] = [
                a - ratio * b for a, b in zip(rows[k], rows[i], strict=True)
            ]
    w = [Fraction(0)] * M
    for i in reversed(range(M)):
        known = sum(rows[i][k] * w[k] for k in range(i + 1, M))
        w[i] = (rows[i][M] - known) / rows[i][i]
    return float(sum(Fraction(c[i]) * w[i] for i in range(M)) / 2)


@pytest.mark.parametrize("condition", [1e6, 1e9, 1e12, 1e14])
@pytest.mark.parametrize("seed", range(4))
def test_dual_function_has_the_digits_that_the_condition_leaves(
    condition, seed
):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    P = Q * np.geomspace(1, 1 / condition, 5) @ Q.T
    P, c = (P + P.T) / 2, rng.standard_normal(5)
    found = duality.dual_function(QuadraticProgram(P, c))
    assert_allclose(found, exact_minimum(P, c), rtol=1e-15 * condition)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_singular_and_indefinite_are_found_in_every_unit(unit):
    P, q = np.diag([4.0, 0.0]), np.array([2.0, 0.0])
    qp = QuadraticProgram(unit * P, unit * q)
    assert_allclose(duality.dual_function(qp), -0.5 * unit)
    sloped = QuadraticProgram(unit * P, unit * np.array([2.0, 1e-12]))
    assert duality.dual_function(sloped) == -np.inf
    bent = QuadraticProgram(unit * np.diag([1.0, -1e-12]), [0.0, 0.0])
    assert duality.dual_function(bent) == -np.inf
    for wrong in (qp, bent):
        with pytest.raises(ValueError, match="P must be positive definite"):
            duality.dual_ascent(wrong)


@pytest.mark.parametrize(
    ("matrix", "right", "name"), [("G", "h", "mu"), ("A", "b", "nu")]
)
def test_a_slope_of_rounding_is_none_and_a_larger_one_is(matrix, right, name):
    """Every entry of c is a sum, known to its number of terms times eps."""
    rows, values = np.full((10, 1), 0.1), np.full(10, 0.1)
    constraints = {matrix: rows, right: np.zeros(10)}
    lp = QuadraticProgram([[0.0]], [-0.1], **constraints)
    assert (rows.T @ values - 0.1)[0] != 0  # ten times 0.01, rounded
    assert duality.dual_function(lp, **{name: values}) == 0
    values[0] += 1e-13
    assert duality.dual_function(lp, **{name: values}) == -np.inf


@settings(max_examples=50)
@given(seeds)
def test_rank_is_found_however_the_variables_are_measured(seed):
    rng = np.random.default_rng(seed)
    M = int(rng.integers(2, 12))
    rank = int(rng.integers(1, M))
    root = rng.standard_normal((M, rank)) * 10 ** rng.uniform(-4, 4, (M, 1))
    z = rng.standard_normal(rank)
    P, q = root @ root.T, root @ z
    qp = QuadraticProgram(P, q)
    found = duality.dual_function(qp)  # ½ ‖z‖² below zero, at rootᵀw = -z
    smallest = np.linalg.svd(root / np.linalg.norm(root, axis=1)[:, None])[1]
    condition = (smallest[0] / smallest[-1]) ** 2
    assert_allclose(found, -0.5 * z @ z, rtol=1e-13 * condition)
    w = duality.recover_primal(qp)
    assert_allclose(P @ w, -q, rtol=1e-6, atol=1e-9 * np.abs(q).max())


def test_shortest_minimiser_is_short_in_the_units_of_the_program():
    P = np.outer([1.0, 1e4], [1.0, 1e4])  # flat along (1e4, -1)
    w = duality.recover_primal(QuadraticProgram(P, [1.0, 1e4]))
    assert_allclose(w, -np.array([1.0, 1e4]) / (1 + 1e8), atol=1e-15)


def test_what_falls_beyond_the_floats_falls_to_minus_infinity():
    qp = QuadraticProgram([[1e-200]], [1e200])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert duality.dual_function(qp) == -np.inf
        with pytest.raises(ValueError, match="mu and nu must give"):
            duality.recover_primal(qp)


def test_one_coordinate_beyond_the_floats_is_enough():
    qp = QuadraticProgram(np.diag([1e-200, 1.0]), [1e200, 1.0])
    assert duality.dual_function(qp) == -np.inf
    qp = QuadraticProgram(1e-200 * np.eye(2), [1e200, 1.0])
    assert duality.dual_function(qp) == -np.inf
    with pytest.raises(ValueError, match="mu and nu must give"):
        duality.recover_primal(qp)


def test_huge_slopes_hide_no_smaller_ones():
    flat = QuadraticProgram(np.diag([1.0, 0.0, 1.0]), [1e200, 1e190, 0.0])
    assert duality.dual_function(flat) == -np.inf
    qp = QuadraticProgram(np.diag([1.0, 0.0, 1.0]), [1e200, 0.0, 0.0])
    assert_allclose(duality.recover_primal(qp), [-1e200, 0.0, 0.0])


@pytest.mark.parametrize("unit", [1e-150, 1e-12, 1e12, 1e150])
def test_default_step_of_the_ascent_has_the_unit_of_the_objective(unit):
    """One over the curvature, 1/(2 unit), however small that is."""
    qp = QuadraticProgram([[2 * unit]], [0.0], [[-1.0]], [-1.0])
    run = duality.dual_ascent(qp, iterations=3)
    assert_allclose(run.mu[:, 0], [0.0, 2 * unit, 2 * unit])
    assert_allclose(run.dual, [0.0, unit, unit])


def test_a_constraint_that_no_point_can_mend_gets_dearer_for_ever():
    qp = QuadraticProgram([[2.0]], [0.0], [[0.0]], [-3.0])  # 0 <= -3
    run = duality.dual_ascent(qp, iterations=3)
    assert run.mu[:, 0].tolist() == [0, 3, 6]  # with a step of one
    assert run.violation.tolist() == [3, 3, 3]


def test_ascent_takes_a_hundred_steps_unless_told():
    qp = QuadraticProgram([[2.0]], [0.0], [[-1.0]], [-1.0])
    assert len(duality.dual_ascent(qp, step=0.1).dual) == 100


def test_gap_allows_a_violation_of_1e_8_unless_told():
    qp = QuadraticProgram([[2.0]], [0.0], [[-1.0]], [-1.0])
    duality.duality_gap(qp, [1 - 0.9e-8], [-0.9e-8])
    with pytest.raises(ValueError, match="w must satisfy"):
        duality.duality_gap(qp, [1 - 1.1e-8], [0.0])
    with pytest.raises(ValueError, match="mu must be >= 0"):
        duality.duality_gap(qp, [1.0], [-1.1e-8])


def test_a_program_keeps_copies_that_cannot_be_written_to():
    parts = [np.eye(1), np.zeros(1), -np.eye(1), -np.ones(1)]
    parts += [np.eye(1), np.ones(1)]
    qp = QuadraticProgram(*parts)
    for part in parts:
        part += 7.0
    assert qp.P[0, 0] == qp.A[0, 0] == qp.b[0] == 1.0
    assert qp.q[0] == 0.0 and qp.G[0, 0] == qp.h[0] == -1.0
    for name in "PqGhAb":
        with pytest.raises(ValueError, match="read-only"):
            getattr(qp, name)[...] = 0.0


def test_a_history_keeps_its_own_arrays():
    qp = QuadraticProgram([[2.0]], [0.0], [[-1.0]], [-1.0])
    run = duality.dual_ascent(qp, iterations=3)
    run.mu[:] = run.w[:] = 9.0
    assert duality.dual_ascent(qp, iterations=3).mu[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, 2.0], [0.0, 1.0]], [0, 0]), "P must be symmetric"),
        (([[1.0]], [0, 0]), "q must have length 1, got 2"),
        (([[1.0]], [0], [[1.0, 2.0]], [1]), "G must have 1 columns"),
        (([[1.0]], [0], [[1.0]]), "G and h must be given together"),
        (([[1.0]], [0], None, [1]), "G and h must be given together"),
        (
            ([[1.0]], [0], None, None, None, [1]),
            "A and b must be given together",
        ),
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
    with pytest.raises(ValueError, match=r"mu must be .* not empty"):
        duality.lagrangian(qp, [1.0])
    with pytest.raises(ValueError, match="tolerance must be >= 0, got -1"):
        duality.duality_gap(qp, [1.0], [1.0], tolerance=-1.0)
    with pytest.raises(ValueError, match="step must be > 0"):
        duality.dual_ascent(qp, step=0.0)
    with pytest.raises(ValueError, match="iterations must be a whole"):
        duality.dual_ascent(qp, iterations=0)


@settings(max_examples=25)
@given(seeds)
def test_best_prices_are_those_of_a_grid_and_of_the_best_mixture(seed):
    rng = np.random.default_rng(seed)
    g, f = rng.standard_normal((12, 1)), rng.standard_normal(12)
    g[0] = -abs(g[0])  # one point is allowed
    best = duality.best_prices(g, f)
    bounds = [np.min(f + mu * g[:, 0]) for mu in np.linspace(0, 50, 5001)]
    assert max(bounds) <= best.value + 1e-9
    assert_allclose(np.min(f + g @ best.mu), best.value, atol=1e-9)
    assert best.mu.min() >= 0
    assert best.mixture.min() >= 0
    assert_allclose(best.mixture.sum(), 1)
    assert_allclose(best.mixture @ f, best.value, atol=1e-9)
    assert np.all(best.mixture @ g <= 1e-9)


def test_best_prices_of_several_constraints_are_those_of_a_program():
    rng = np.random.default_rng(0)
    steps = np.linspace(-1, 5, 61)
    w = np.array([(a, b) for a in steps for b in steps])
    f = w[:, 0] ** 2 + 2 * w[:, 1] ** 2
    g = np.column_stack([3 - w.sum(axis=1), w[:, 0] - 4])
    order = rng.permutation(len(w))
    best = duality.best_prices(g[order], f[order])
    assert_allclose(best.value, 6)
    assert_allclose(best.mu, [4, 0], atol=0.2)


def test_best_prices_refuse_points_without_an_allowed_mixture():
    with pytest.raises(ValueError, match="mixture that is <= 0, got none"):
        duality.best_prices([[1.0], [2.0]], [0.0, 0.0])
    with pytest.raises(ValueError, match="f"):
        duality.best_prices([[1.0], [-2.0]], [0.0])


@given(seeds)
def test_conjugate_is_the_highest_line_over_the_grid(seed):
    rng = np.random.default_rng(seed)
    x, f, s = rng.normal(size=7), rng.normal(size=7), rng.normal(size=4)
    slowly = [max(a * p - v for p, v in zip(x, f, strict=True)) for a in s]
    assert_allclose(duality.conjugate(f, x, s), slowly)


def test_conjugates_known_by_hand():
    x = np.linspace(-40, 40, 80_001)
    s = np.array([0.1, 0.5, 0.8])
    softplus = duality.conjugate(np.logaddexp(0, x), x, s)
    assert_allclose(
        softplus, s * np.log(s) + (1 - s) * np.log(1 - s), atol=1e-6
    )
    exponential = duality.conjugate(np.exp(x[x < 3]), x[x < 3], s)
    assert_allclose(exponential, s * np.log(s) - s, atol=1e-6)
    # the conjugate of the conjugate of a convex function is the function
    fine = np.linspace(-5, 5, 10_001)
    twice = duality.conjugate(
        duality.conjugate(x**2 / 2, x, fine), fine, [1.5, -2.0]
    )
    assert_allclose(twice, [1.125, 2.0], atol=1e-6)


def test_conjugate_refuses_values_that_do_not_fit():
    with pytest.raises(ValueError, match="f must"):
        duality.conjugate([1.0, 2.0], [0.0], [1.0])
    good = {"f": [1.0], "x": [0.0], "s": [1.0]}
    for name in good:
        with pytest.raises(ValueError, match=f"{name} must"):
            duality.conjugate(**good | {name: [np.nan]})
        with pytest.raises(ValueError, match=f"{name} must"):
            duality.conjugate(**good | {name: [[1.0]]})
