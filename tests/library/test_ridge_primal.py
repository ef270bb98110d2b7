"""Primal ridge: intercept, the limit λ → 0, bias and variance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, Ridge

from kernelbook import ridge

lams = st.floats(1e-3, 1e3)
sizes = st.tuples(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10**6))


def problem(sizes):
    N, M, seed = sizes
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, M)), rng.standard_normal(N), rng


def low_rank(sizes, rank):
    N, M, seed = sizes
    rng = np.random.default_rng(seed)
    left, right = (
        rng.standard_normal((N, rank)),
        rng.standard_normal((rank, M)),
    )
    return left @ right, rng.standard_normal(N), rng


@given(sizes, lams)
def test_primal_weights_are_least_squares_with_fake_rows(sizes, lam):
    Phi, t, _ = problem(sizes)
    M = Phi.shape[1]
    rows = np.vstack([Phi, np.sqrt(lam) * np.eye(M)])
    targets = np.concatenate([t, np.zeros(M)])
    by_rows = np.linalg.lstsq(rows, targets, rcond=None)[0]
    assert_allclose(ridge.fit_primal(Phi, t, lam), by_rows, atol=1e-8)


@given(sizes, lams)
def test_intercept_fit_is_least_squares_with_an_unpenalised_column(sizes, lam):
    Phi, t, _ = problem(sizes)
    N, M = Phi.shape
    rows = np.block(
        [
            [Phi, np.ones((N, 1))],
            [np.sqrt(lam) * np.eye(M), np.zeros((M, 1))],
        ]
    )
    targets = np.concatenate([t, np.zeros(M)])
    *w, b = np.linalg.lstsq(rows, targets, rcond=None)[0]
    fit = ridge.fit_with_intercept(Phi, t, lam)
    assert_allclose(fit.w, w, atol=1e-8)
    assert_allclose(fit.b, b, atol=1e-8)


def test_intercept_fit_is_scikit_learns():
    Phi, t, _ = problem((20, 5, 0))
    theirs = Ridge(alpha=0.3).fit(Phi + 3.0, t + 100.0)
    ours = ridge.fit_with_intercept(Phi + 3.0, t + 100.0, 0.3)
    assert_allclose(ours.w, theirs.coef_)
    assert_allclose(ours.b, theirs.intercept_)


@given(sizes, lams, st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_shifting_targets_or_features_moves_the_intercept_alone(
    sizes, lam, up, aside
):
    Phi, t, _ = problem(sizes)
    before = ridge.fit_with_intercept(Phi, t, lam)
    after = ridge.fit_with_intercept(Phi + aside, t + up, lam)
    assert_allclose(after.w, before.w, atol=1e-6)
    moved = before.b + up - aside * before.w.sum()
    assert_allclose(after.b, moved, atol=1e-2)


def test_a_large_offset_of_the_targets_costs_no_digits():
    Phi, _, _ = problem((6, 2, 7))
    t = np.array([3.0, -5.0, 1.0, 4.0, -2.0, -1.0])  # of mean 0
    before = ridge.fit_with_intercept(Phi, t, 0.5)
    after = ridge.fit_with_intercept(Phi, t + 2.0**40, 0.5)
    assert_allclose(after.w, before.w, rtol=1e-13)


@given(sizes, st.integers(1, 3))
def test_minimum_norm_weights_solve_and_are_shortest(sizes, rank):
    Phi, t, _ = low_rank(sizes, rank)
    w = ridge.minimum_norm_weights(Phi, t)
    scale = 1 + np.abs(Phi).max() ** 2 * (1 + np.linalg.norm(w))
    normal = Phi.T @ (Phi @ w - t)
    assert_allclose(normal, 0, atol=1e-9 * scale)  # least squares
    # w lies in the row space: no part of it is wasted.
    a = np.linalg.lstsq(Phi.T, w, rcond=None)[0]
    assert_allclose(Phi.T @ a, w, atol=1e-8 * (1 + np.linalg.norm(w)))


def test_minimum_norm_weights_are_the_pseudo_inverses():
    for sizes in [(12, 5, 0), (5, 12, 1), (9, 9, 2)]:
        Phi, t, _ = low_rank(sizes, 4)
        by_pinv = np.linalg.pinv(Phi) @ t
        assert_allclose(ridge.minimum_norm_weights(Phi, t), by_pinv)


def test_ridge_tends_to_the_minimum_norm_weights():
    Phi, t, _ = low_rank((10, 6, 3), 3)
    limit = ridge.minimum_norm_weights(Phi, t)
    gaps = [
        np.linalg.norm(ridge.fit_primal(Phi, t, lam) - limit)
        for lam in (1e-2, 1e-4, 1e-6)
    ]
    assert gaps[1] < 0.02 * gaps[0]  # the gap shrinks like λ
    assert gaps[2] < 0.02 * gaps[1]


def test_minimum_norm_weights_of_full_rank_are_ordinary_least_squares():
    Phi, t, _ = problem((20, 4, 4))
    theirs = LinearRegression(fit_intercept=False).fit(Phi, t).coef_
    assert_allclose(ridge.minimum_norm_weights(Phi, t), theirs)


def test_bias_and_variance_are_those_of_many_data_sets():
    Phi, h, rng = problem((10, 4, 5))
    Phi_new, h_new = rng.standard_normal((3, 4)), rng.standard_normal(3)
    closed = ridge.bias_variance(Phi, h, 0.5, 0.7, Phi_new, h_new)
    trials = 4000
    y = np.array(
        [
            Phi_new @ ridge.fit_primal(Phi, t, 0.7)
            for t in h + 0.5 * rng.standard_normal((trials, 10))
        ]
    )
    error = 5 * np.sqrt(closed.variance / trials)
    assert np.all(np.abs(y.mean(axis=0) - h_new - closed.bias) < error)
    assert_allclose(y.var(axis=0), closed.variance, rtol=0.1)


@given(sizes, st.floats(1e-2, 1e2))
def test_more_ridge_means_less_variance(sizes, lam):
    Phi, h, _ = problem(sizes)
    Phi_new, h_new = Phi[:1], h[:1]
    less = ridge.bias_variance(Phi, h, 1.0, lam, Phi_new, h_new).variance
    more = ridge.bias_variance(Phi, h, 1.0, 2 * lam, Phi_new, h_new).variance
    assert more[0] < less[0]


def test_inputs_are_left_alone():
    Phi, t, _ = problem((6, 3, 6))
    before = Phi.copy(), t.copy()
    ridge.fit_with_intercept(Phi, t, 0.1)
    ridge.minimum_norm_weights(Phi, t)
    ridge.bias_variance(Phi, t, 0.1, 0.1, Phi, t)
    assert np.array_equal(Phi, before[0])
    assert np.array_equal(t, before[1])


P2, T2 = np.eye(2), np.ones(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ridge.fit_with_intercept(P2, T2, 0.0),
            "lam must be > 0, got 0.0",
        ),
        (
            lambda: ridge.fit_with_intercept(P2, np.ones(3), 1.0),
            "t must have length 2, got 3",
        ),
        (
            lambda: ridge.minimum_norm_weights(np.ones(3), np.ones(3)),
            r"Phi must be two-dimensional, got shape \(3,\)",
        ),
        (
            lambda: ridge.minimum_norm_weights(P2, [1.0, np.inf]),
            "t must be finite, got 1 NaN or inf",
        ),
        (
            lambda: ridge.bias_variance(P2, np.ones(3), 1.0, 1.0, P2, T2),
            "h must have length 2, got 3",
        ),
        (
            lambda: ridge.bias_variance(P2, T2, -1.0, 1.0, P2, T2),
            "noise must be >= 0, got -1.0",
        ),
        (
            lambda: ridge.bias_variance(P2, T2, 1.0, 0.0, P2, T2),
            "lam must be > 0, got 0.0",
        ),
        (
            lambda: ridge.bias_variance(P2, T2, 1.0, 1.0, P2, np.ones(3)),
            "h_new must have length 2, got 3",
        ),
        (
            lambda: ridge.bias_variance(P2, T2, 1.0, 1.0, np.eye(3), T2),
            r"Phi_new must have the 2 columns of Phi, got shape \(3, 3\)",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@given(sizes, lams)
def test_effective_parameters_are_the_trace_of_the_map_on_targets(sizes, lam):
    Phi, _, _ = problem(sizes)
    to_fitted = [Phi @ ridge.fit_primal(Phi, e, lam) for e in np.eye(len(Phi))]
    trace = np.trace(to_fitted)
    assert_allclose(ridge.effective_parameters(Phi, lam), trace, rtol=1e-6)


@given(sizes)
def test_effective_parameters_go_from_rank_to_zero(sizes):
    Phi, _, _ = low_rank(sizes, 1)
    assert_allclose(ridge.effective_parameters(Phi, 1e-12), 1, rtol=1e-3)
    assert ridge.effective_parameters(Phi, 1e12) < 1e-3


@given(st.tuples(st.integers(2, 8), *[st.integers(1, 8)] * 2), lams)
def test_left_out_residuals_are_those_of_refits(sizes, lam):
    Phi, t, _ = problem(sizes)
    for n, residual in enumerate(ridge.leave_one_out(Phi, t, lam)):
        rest = np.arange(len(t)) != n
        w = ridge.fit_primal(Phi[rest], t[rest], lam)
        assert_allclose(residual, t[n] - Phi[n] @ w, rtol=1e-5, atol=1e-9)


def test_left_out_residuals_are_scikit_learns():
    from sklearn.linear_model import RidgeCV

    Phi, t, _ = problem((20, 5, 0))
    theirs = RidgeCV([0.3], fit_intercept=False, store_cv_results=True)
    squared = theirs.fit(Phi, t).cv_results_[:, 0]
    assert_allclose(ridge.leave_one_out(Phi, t, 0.3) ** 2, squared)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ridge.effective_parameters([[1.0]], 0.0), "lam must be > 0"),
        (lambda: ridge.effective_parameters([1.0], 1.0), "Phi must be"),
        (lambda: ridge.leave_one_out([[1.0]], [1.0], 0.0), "lam must be > 0"),
        (lambda: ridge.leave_one_out([[1.0]], [1.0, 2.0], 1.0), "t must"),
    ],
)
def test_choosing_lambda_refuses_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
