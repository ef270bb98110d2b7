"""Ridge regression: two routes to everything, and scikit-learn as oracle."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from kernelbook import kernels, ridge
from kernelbook.exceptions import JitterWarning

lams = st.floats(1e-3, 1e3)
sizes = st.tuples(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10**6))


def problem(sizes):
    N, M, seed = sizes
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, M)), rng.standard_normal(N), rng


def finite_differences(f, x, h=1e-5):
    return [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))]


@given(sizes, lams)
def test_objective_is_its_sum_term_by_term(sizes, lam):
    Phi, t, rng = problem(sizes)
    w = rng.standard_normal(Phi.shape[1])
    total = lam / 2 * sum(w_j**2 for w_j in w)
    for phi_n, t_n in zip(Phi, t, strict=True):
        total += (w @ phi_n - t_n) ** 2 / 2
    assert_allclose(ridge.objective(w, Phi, t, lam), total)


@given(sizes, lams)
def test_gradients_match_finite_differences(sizes, lam):
    Phi, t, rng = problem(sizes)
    w, a = rng.standard_normal(Phi.shape[1]), rng.standard_normal(len(t))
    K = Phi @ Phi.T
    primal = finite_differences(lambda w: ridge.objective(w, Phi, t, lam), w)
    dual = finite_differences(lambda a: ridge.dual_objective(a, K, t, lam), a)
    scale = 1 + lam + np.abs(K).max() ** 2
    assert_allclose(
        ridge.gradient(w, Phi, t, lam), primal, rtol=1e-5, atol=1e-6 * scale
    )
    assert_allclose(
        ridge.dual_gradient(a, K, t, lam), dual, rtol=1e-5, atol=1e-6 * scale
    )


@given(sizes, lams)
def test_dual_objective_is_objective_at_combination(sizes, lam):
    Phi, t, rng = problem(sizes)
    a = rng.standard_normal(len(t))
    w = ridge.weights_from_dual(a, Phi)
    assert_allclose(
        ridge.dual_objective(a, Phi @ Phi.T, t, lam),
        ridge.objective(w, Phi, t, lam),
    )


@given(sizes, lams)
def test_primal_and_dual_solutions_are_one(sizes, lam):
    Phi, t, _ = problem(sizes)
    w = ridge.fit_primal(Phi, t, lam)
    a = ridge.fit_dual(Phi @ Phi.T, t, lam)
    assert_allclose(ridge.weights_from_dual(a, Phi), w, atol=1e-9)
    assert_allclose(
        ridge.residual_coefficients(w, Phi, t, lam), a, rtol=1e-7, atol=1e-8
    )


@given(sizes, lams)
def test_lagrangian_dual_bounds_the_objective_and_meets_it(sizes, lam):
    Phi, t, rng = problem(sizes)
    K = Phi @ Phi.T
    w, a = rng.standard_normal(Phi.shape[1]), rng.standard_normal(len(t))
    gap = ridge.objective(w, Phi, t, lam) - ridge.lagrangian_dual(a, K, t, lam)
    assert gap >= -1e-9
    best = ridge.objective(ridge.fit_primal(Phi, t, lam), Phi, t, lam)
    a_best = ridge.fit_dual(K, t, lam)
    assert_allclose(
        ridge.lagrangian_dual(a_best, K, t, lam), best, rtol=1e-7, atol=1e-9
    )


def test_primal_weights_are_scikit_learns():
    Phi, t, _ = problem((20, 5, 0))
    theirs = Ridge(alpha=0.3, fit_intercept=False).fit(Phi, t).coef_
    assert_allclose(ridge.fit_primal(Phi, t, 0.3), theirs)


def test_dual_predictions_are_scikit_learns():
    X, t, rng = problem((20, 3, 1))
    Z = rng.standard_normal((7, 3))
    k = kernels.Gaussian(0.2)
    theirs = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.2).fit(X, t)
    a = ridge.fit_dual(k(X), t, 0.3)
    assert_allclose(a, theirs.dual_coef_)
    assert_allclose(ridge.predict(a, k(X, Z)), theirs.predict(Z))


def test_prediction_is_linear_in_the_targets_with_these_weights():
    X, t, rng = problem((15, 2, 2))
    Z = rng.standard_normal((4, 2))
    k = kernels.Gaussian(0.5)
    S = ridge.target_weights(k(X), k(X, Z), 0.1)
    y = ridge.predict(ridge.fit_dual(k(X), t, 0.1), k(X, Z))
    assert_allclose(S.T @ t, y)


def test_inputs_are_left_alone():
    Phi, t, _ = problem((6, 3, 3))
    K = Phi @ Phi.T
    before = Phi.copy(), t.copy(), K.copy()
    ridge.fit_primal(Phi, t, 0.1)
    ridge.fit_dual(K, t, 0.1)
    ridge.target_weights(K, K, 0.1)
    for now, then in zip((Phi, t, K), before, strict=True):
        assert np.array_equal(now, then)


@pytest.mark.parametrize(
    ("solve", "matrices"),
    [
        (lambda K, t: ridge.fit_primal(K, t, 1.0), 1),
        (lambda K, t: ridge.fit_dual(K, t, 1.0), 1),
        (lambda K, t: ridge.fit_dual(K, t, 1.0, overwrite=True), 0),
        (lambda K, t: ridge.target_weights(K, t[:, None], 1.0), 1),
        (
            lambda K, t: ridge.bias_variance(K, t, 1.0, 1.0, K[:1], t[:1]),
            1,
        ),
        (
            lambda K, t: ridge.fit(kernels.Linear(), t[:, None], t, 1.0),
            1,
        ),
    ],
)
def test_a_system_takes_the_memory_of_one_matrix(solve, matrices):
    N = 400
    K, t = np.eye(N), np.ones(N)
    tracemalloc.start()
    solve(K, t)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (matrices + 0.3) * 8 * N**2


def test_rounding_gets_jitter_and_a_report():
    X = np.linspace(0, 1, 60)[:, None]
    K = kernels.Gaussian(1.0)(X)
    message = r"added 1\.3e-13 to its diagonal"
    with pytest.warns(JitterWarning, match=message) as caught:
        ridge.fit_dual(K, np.ones(60), 1e-20)
    assert caught[0].filename == __file__  # the line that called the library


@pytest.mark.parametrize("solve", [ridge.fit_dual, ridge.target_weights])
def test_rounding_of_single_precision_is_judged_by_that(solve):
    X = np.linspace(0, 1, 60)[:, None]
    K = kernels.Gaussian(1.0)(X).astype(np.float32)
    with pytest.warns(JitterWarning, match=r"added 7\.2e-05 to its diagonal"):
        solve(K, np.ones((60, 1)), 1e-20)


def test_indefinite_matrix_raises_with_its_eigenvalue():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"smallest eigenvalue -0\.9"):
        ridge.fit_dual(K, [1.0, 1.0], 0.1)


K2, T2 = np.eye(2), np.ones(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ridge.fit_dual(K2, T2, -1.0),
            "lam must be > 0, got -1.0",
        ),
        (
            lambda: ridge.fit_dual(K2, T2, 0),
            "lam must be > 0, got 0",
        ),
        (
            lambda: ridge.fit_dual(K2, T2, np.nan),
            "lam must be finite, got nan",
        ),
        (
            lambda: ridge.fit_dual(K2, T2, "much"),
            "lam must be a real number, got 'much'",
        ),
        (
            lambda: ridge.fit_dual(np.ones((3, 2)), T2, 1.0),
            r"K must be a square Gram matrix k\(X\), got shape \(3, 2\)",
        ),
        (
            lambda: ridge.fit_dual([[1.0, 0.5], [0.4, 1.0]], T2, 1.0),
            "K must be symmetric, got entries that differ .* by 0.1",
        ),
        (
            lambda: ridge.fit_dual(K2, np.ones(3), 1.0),
            "t must have length 2, got 3",
        ),
        (
            lambda: ridge.fit_dual(K2, [1.0, np.nan], 1.0),
            "t must be finite, got 1 NaN or inf",
        ),
        (
            lambda: ridge.fit_dual(K2, [[1.0, 2.0]], 1.0),
            r"t must have one row per example, shape \(2, Q\), got \(1, 2\)",
        ),
        (
            lambda: ridge.fit_primal(np.ones(3), np.ones(3), 1.0),
            r"Phi must be two-dimensional, got shape \(3,\); write Phi\[:, No",
        ),
        (
            lambda: ridge.fit_primal(np.empty((0, 2)), [], 1.0),
            r"Phi must be two-dimensional and not empty, got shape \(0, 2\)",
        ),
        (
            lambda: ridge.fit_primal([["a"]], [1.0], 1.0),
            "Phi must hold real numbers, got <U1",
        ),
        (
            lambda: ridge.predict(T2, np.ones((3, 4))),
            r"k must have one row per training example, shape \(2, N\*\), got",
        ),
        (
            lambda: ridge.objective(T2, K2, T2, -0.5),
            "lam must be >= 0, got -0.5",
        ),
        (
            lambda: ridge.gradient(T2, K2, T2, -0.5),
            "lam must be >= 0, got -0.5",
        ),
        (
            lambda: ridge.dual_objective(T2, K2, T2, -0.5),
            "lam must be >= 0, got -0.5",
        ),
        (
            lambda: ridge.dual_gradient(T2, K2, T2, -0.5),
            "lam must be >= 0, got -0.5",
        ),
        (
            lambda: ridge.lagrangian_dual(T2, K2, T2, 0.0),
            "lam must be > 0, got 0.0",
        ),
        (
            lambda: ridge.target_weights(K2, K2, 0.0),
            "lam must be > 0, got 0.0",
        ),
        (
            lambda: ridge.target_weights(K2, [[1.0, np.nan]] * 2, 1.0),
            "k must be finite, got 2 NaN or inf",
        ),
        (
            lambda: ridge.residual_coefficients(T2, K2, T2, 0.0),
            "lam must be > 0, got 0.0",
        ),
        (
            lambda: ridge.residual_coefficients([1.0, np.nan], K2, T2, 1.0),
            "w must be finite, got 1 NaN or inf",
        ),
        (
            lambda: ridge.weights_from_dual([1.0, np.nan], K2),
            "a must be finite, got 1 NaN or inf",
        ),
        (
            lambda: ridge.predict([1.0, np.nan], K2),
            "a must be finite, got 1 NaN or inf",
        ),
        (
            lambda: ridge.dual_objective(
                T2, np.triu(np.ones((2, 2))), T2, 1.0
            ),
            "K must be symmetric, got entries that differ .* by 1",
        ),
        (
            lambda: ridge.dual_gradient(T2, K2, [1.0, np.nan], 1.0),
            "t must be finite, got 1 NaN or inf",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_large_finite_input_is_not_called_infinite():
    assert ridge.weights_from_dual([1.0, 1.0], [[1e308], [-1e308]]) == 0.0
    assert (
        ridge.predict([0.0, 0.0], [[1e308, 1e308], [1e308, 1e308]]).sum() == 0
    )


@given(st.integers(1, 8), st.integers(0, 10**6), st.floats(1e-2, 1e2))
def test_dual_intercept_solves_the_bordered_system(N, seed, lam):
    rng = np.random.default_rng(seed)
    B, t = rng.standard_normal((N, N)), rng.standard_normal(N) + 10
    K = B @ B.T
    bordered = np.ones((N + 1, N + 1))
    bordered[:N, :N] = K + lam * np.eye(N)
    bordered[N, N] = 0.0
    *a, b = np.linalg.solve(bordered, np.append(t, 0.0))
    fit = ridge.fit_dual_with_intercept(K, t, lam)
    assert_allclose(fit.a, a, atol=1e-7)
    assert_allclose(fit.b, b, rtol=1e-6, atol=1e-7)
    assert abs(fit.a.sum()) < 1e-9 * max(1, np.abs(t).sum() / lam)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10**6))
def test_dual_intercept_is_the_primal_one(N, M, seed):
    rng = np.random.default_rng(seed)
    Phi, t = rng.standard_normal((N, M)) + 2, rng.standard_normal(N) - 50
    primal = ridge.fit_with_intercept(Phi, t, 0.3)
    dual = ridge.fit_dual_with_intercept(Phi @ Phi.T, t, 0.3)
    assert_allclose(Phi.T @ dual.a, primal.w, atol=1e-7)
    assert_allclose(dual.b, primal.b, rtol=1e-7)


def test_dual_intercept_leaves_the_gram_matrix_alone():
    K = np.array([[1.0, 3.0], [3.0, 9.0]])
    ridge.fit_dual_with_intercept(K, [100.0, 104.0], 2.0)
    assert_allclose(K, [[1.0, 3.0], [3.0, 9.0]], rtol=0)
    with pytest.raises(ValueError, match="lam must be > 0"):
        ridge.fit_dual_with_intercept(K, [1.0, 2.0], 0.0)
