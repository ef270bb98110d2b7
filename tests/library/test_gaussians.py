"""Gaussians: integration, Monte Carlo, and SciPy as oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from numpy.testing import assert_allclose
from scipy import integrate, stats

from kernelbook import gaussians, kernels
from kernelbook.exceptions import JitterWarning

problems = st.tuples(st.integers(2, 6), st.integers(0, 10**6))


def gaussian(problem):
    """A mean, a covariance that is comfortably positive definite, a rng."""
    D, seed = problem
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((D, D + 2))
    return rng.standard_normal(D), A @ A.T + 0.1 * np.eye(D), rng


@given(st.floats(-5, 5), st.floats(0.01, 100))
def test_normal_density_integrates_to_one_with_that_mean_and_variance(mu, var):
    x = mu + np.sqrt(var) * np.linspace(-12, 12, 4001)
    p = gaussians.normal_density(x, mu, var)
    assert_allclose(integrate.simpson(p, x=x), 1)
    assert_allclose(integrate.simpson(x * p, x=x), mu, atol=1e-9)
    assert_allclose(integrate.simpson((x - mu) ** 2 * p, x=x), var)
    assert_allclose(p, stats.norm(mu, np.sqrt(var)).pdf(x))


@given(problems)
def test_log_density_is_scipys(problem):
    mu, Sigma, rng = gaussian(problem)
    x = rng.standard_normal((5, len(mu)))
    theirs = stats.multivariate_normal(mu, Sigma).logpdf(x)
    assert_allclose(gaussians.log_density(x, mu, Sigma), theirs, rtol=1e-7)
    assert_allclose(
        gaussians.log_density(x[2], mu, Sigma), theirs[2], rtol=1e-7
    )


def test_density_of_a_vector_integrates_to_one():
    mu, Sigma, _ = gaussian((2, 3))

    def density(y, x):
        return np.exp(gaussians.log_density([x, y], mu, Sigma))

    reach = 9 * np.sqrt(np.diag(Sigma))
    low, high = mu - reach, mu + reach
    total, _ = integrate.dblquad(
        density, low[0], high[0], low[1], high[1], epsabs=1e-6
    )
    assert_allclose(total, 1, rtol=1e-5)


def test_log_density_of_one_variable_is_the_log_of_the_normal_density():
    x = np.linspace(-3, 3, 7)
    assert_allclose(
        gaussians.log_density(x[:, None], [0.4], [[2.3]]),
        np.log(gaussians.normal_density(x, 0.4, 2.3)),
    )


def test_log_density_survives_a_determinant_that_underflows():
    D = 400
    x, Sigma = np.full(D, 0.1), 1e-2 * np.eye(D)
    assert np.linalg.det(Sigma) == 0.0
    with mp.workdps(30):
        each = -mp.log(2 * mp.pi * mpf(1) / 100) / 2 - mpf(1) / 2
        exact = float(D * each)
    assert_allclose(gaussians.log_density(x, np.zeros(D), Sigma), exact)


@given(problems)
def test_linear_map_agrees_with_its_sums_entry_by_entry(problem):
    mu, Sigma, rng = gaussian(problem)
    D = len(mu)
    A = rng.standard_normal((3, D))
    y = gaussians.linear_map(A, mu, Sigma)
    for i in range(3):
        assert_allclose(y.mean[i], sum(A[i, d] * mu[d] for d in range(D)))
        for j in range(3):
            total = sum(
                A[i, d] * Sigma[d, e] * A[j, e]
                for d in range(D)
                for e in range(D)
            )
            assert_allclose(y.cov[i, j], total, atol=1e-10)


@given(problems)
def test_density_factorises_into_marginal_times_conditional(problem):
    """p(a, b) = p(b) p(a | b), at any point: no formula is used twice."""
    mu, Sigma, rng = gaussian(problem)
    D = len(mu)
    order = rng.permutation(D)
    b, a = order[: D // 2], np.sort(order[D // 2 :])
    x = rng.standard_normal(D)
    rest = gaussians.condition(mu, Sigma, b.tolist(), x[b])
    joint = stats.multivariate_normal(mu, Sigma).logpdf(x)
    of_b = gaussians.log_density(
        x[b], *gaussians.marginal(mu, Sigma, b.tolist())
    )
    of_a_given_b = gaussians.log_density(x[a], *rest)
    assert_allclose(of_b + of_a_given_b, joint, rtol=1e-6, atol=1e-8)


@given(problems)
def test_conditional_is_the_block_of_the_precision(problem):
    """cov(a | b) = (Λ_aa)⁻¹ and mean = μ_a - Λ_aa⁻¹ Λ_ab (b - μ_b)."""
    mu, Sigma, rng = gaussian(problem)
    values = rng.standard_normal(1)
    rest = gaussians.condition(mu, Sigma, [0], values)
    precision = np.linalg.inv(Sigma)
    block = np.linalg.inv(precision[1:, 1:])
    shift = block @ precision[1:, 0] * (values[0] - mu[0])
    assert_allclose(rest.cov, block, rtol=1e-6, atol=1e-8)
    assert_allclose(rest.mean, mu[1:] - shift, rtol=1e-6, atol=1e-8)


def test_conditional_is_what_is_left_of_a_sample_near_the_observation():
    mean, cov = np.array([1.0, -1.0]), np.array([[1.0, 0.8], [0.8, 2.0]])
    rng = np.random.default_rng(0)
    draws = gaussians.sample(mean, cov, 400_000, rng)
    near = draws[np.abs(draws[:, 1] - 0.5) < 0.02, 0]
    rest = gaussians.condition(mean, cov, [1], [0.5])
    assert_allclose(near.mean(), rest.mean[0], atol=0.05)
    assert_allclose(near.var(), rest.cov[0, 0], atol=0.05)


@given(problems)
def test_marginalising_in_two_steps_is_marginalising_once(problem):
    mu, Sigma, rng = gaussian(problem)
    first = rng.permutation(len(mu))[:2].tolist()
    once = gaussians.marginal(mu, Sigma, first[1:])
    twice = gaussians.marginal(*gaussians.marginal(mu, Sigma, first), [1])
    assert_allclose(twice.mean, once.mean)
    assert_allclose(twice.cov, once.cov)


@given(problems)
def test_marginal_is_the_linear_map_that_picks(problem):
    mu, Sigma, rng = gaussian(problem)
    keep = rng.permutation(len(mu))[:2].tolist()
    picked = gaussians.linear_map(np.eye(len(mu))[keep], mu, Sigma)
    kept = gaussians.marginal(mu, Sigma, keep)
    assert_allclose(kept.mean, picked.mean)
    assert_allclose(kept.cov, picked.cov)


def test_process_on_fewer_inputs_is_the_marginal_of_the_process_on_more():
    X = np.random.default_rng(0).standard_normal((6, 2))
    k = kernels.Gaussian(0.7)

    def m(X):
        return X[:, 0] - X[:, 1]

    more = gaussians.finite_marginal(m, k, X)
    fewer = gaussians.finite_marginal(m, k, X[[4, 1]])
    kept = gaussians.marginal(*more, [4, 1])
    assert_allclose(fewer.mean, kept.mean)
    assert_allclose(fewer.cov, kept.cov)


def test_samples_have_the_mean_and_covariance_asked_for():
    mean, cov, rng = gaussian((3, 1))
    draws = gaussians.sample(mean, cov, 200_000, rng)
    scale = np.sqrt(np.diag(cov))
    assert_allclose(draws.mean(axis=0), mean, atol=0.01 * scale.max())
    assert_allclose(
        np.cov(draws.T) / np.outer(scale, scale),
        cov / np.outer(scale, scale),
        atol=0.01,
    )


def test_squared_mahalanobis_lengths_of_samples_are_chi_squared():
    mean, cov, rng = gaussian((4, 2))
    draws = gaussians.sample(mean, cov, 5_000, rng)
    peak = gaussians.log_density(mean, mean, cov)
    squared = 2 * (peak - gaussians.log_density(draws, mean, cov))
    assert stats.kstest(squared, stats.chi2(4).cdf).pvalue > 0.01


def test_same_seed_same_draws():
    mean, cov, _ = gaussian((3, 1))
    first, second = (
        gaussians.sample(mean, cov, 2, np.random.default_rng(7))
        for _ in range(2)
    )
    assert np.array_equal(first, second)


def test_sampling_reports_the_jitter_it_needed():
    K = kernels.Gaussian(1.0)(np.linspace(0, 1, 60)[:, None])
    rng = np.random.default_rng(0)
    with pytest.warns(JitterWarning, match=r"cov is .* added 1\.3e-13"):
        gaussians.sample(np.zeros(60), K, 1, rng)


@pytest.mark.filterwarnings("error")
def test_jitter_that_is_asked_for_is_added_and_not_reported():
    K = kernels.Linear()(np.linspace(0, 1, 60)[:, None])
    rng = np.random.default_rng(0)
    gaussians.sample(np.zeros(60), K, 1, rng, jitter=1e-9)
    only_jitter = gaussians.sample(
        [0.0, 0.0], np.zeros((2, 2)), 50_000, rng, jitter=4.0
    )
    assert_allclose(only_jitter.std(axis=0), 2.0, rtol=0.02)


def test_inputs_are_left_alone():
    mean, cov, rng = gaussian((3, 5))
    before = mean.copy(), cov.copy()
    gaussians.log_density(mean, mean, cov)
    gaussians.sample(mean, cov, 2, rng, jitter=0.1)
    gaussians.condition(mean, cov, [0], [1.0])
    kept = gaussians.marginal(mean, cov, [0, 1])
    kept.mean[0] = 99.0
    kept.cov[0, 0] = 99.0
    assert np.array_equal(mean, before[0])
    assert np.array_equal(cov, before[1])


I2, ZERO2, RNG = np.eye(2), np.zeros(2), np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gaussians.normal_density([0.0], 0.0, -1.0),
            "variance must be > 0, got -1.0",
        ),
        (
            lambda: gaussians.normal_density([0.0], np.inf, 1.0),
            "mu must be finite, got inf",
        ),
        (
            lambda: gaussians.log_density(ZERO2, ZERO2, [[1, 2], [2, 1]]),
            "Sigma must be positive definite, got smallest eigenvalue -1",
        ),
        (
            lambda: gaussians.log_density(ZERO2, np.zeros(3), I2),
            "mu must have length 2, got 3",
        ),
        (
            lambda: gaussians.log_density(np.zeros(3), ZERO2, I2),
            "x must have length 2, got 3",
        ),
        (
            lambda: gaussians.log_density(np.zeros((5, 3)), ZERO2, I2),
            r"x must have one column per entry of mu, shape \(N, 2\), got",
        ),
        (
            lambda: gaussians.linear_map(np.ones((4, 3)), ZERO2, I2),
            r"A must have one column per entry of mu, shape \(N, 2\), got",
        ),
        (
            lambda: gaussians.marginal(ZERO2, I2, [0, 2]),
            r"keep must hold distinct whole numbers from 0 to 1, got \[0, 2\]",
        ),
        (
            lambda: gaussians.marginal(ZERO2, I2, [-1]),
            "keep must hold distinct whole numbers from 0 to 1",
        ),
        (
            lambda: gaussians.marginal(ZERO2, I2, [1, 1]),
            "keep must hold distinct whole numbers from 0 to 1",
        ),
        (
            lambda: gaussians.marginal(ZERO2, I2, []),
            "keep must be one-dimensional and not empty",
        ),
        (
            lambda: gaussians.condition(ZERO2, I2, [0], [1.0, 2.0]),
            "values must have length 1, got 2",
        ),
        (
            lambda: gaussians.condition(ZERO2, I2, [-1], [1.0]),
            r"observed must hold distinct whole numbers from 0 to 1, got \[-1",
        ),
        (
            lambda: gaussians.condition(ZERO2, I2, [0, 1], [1.0, 2.0]),
            "observed must leave an entry out, got all 2",
        ),
        (
            lambda: gaussians.finite_marginal(
                lambda X: np.zeros(3), kernels.Linear(), [[1.0], [2.0]]
            ),
            r"m\(X\) must have length 2, got 3",
        ),
        (
            lambda: gaussians.finite_marginal(
                lambda X: np.zeros(3), lambda X: np.eye(3), [[1.0], [2.0]]
            ),
            r"m\(X\) must have length 2, got 3",
        ),
        (
            lambda: gaussians.finite_marginal(
                lambda X: np.zeros(2), lambda X: X, [[1.0], [2.0]]
            ),
            r"k\(X\) must be a square Gram matrix k\(X\), got shape \(2, 1\)",
        ),
        (
            lambda: gaussians.sample(ZERO2, I2, 0, RNG),
            "size must be a whole number >= 1, got 0",
        ),
        (
            lambda: gaussians.sample(ZERO2, I2, 1, RNG, jitter=-1e-9),
            "jitter must be >= 0, got -1e-09",
        ),
        (
            lambda: gaussians.sample(ZERO2, [[1, 2], [2, 1]], 1, RNG),
            "cov must be positive definite, got smallest eigenvalue -1",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_independent_entries_vary_each_by_its_own():
    draws = gaussians.sample([1.0, 2.0], np.diag([4.0, 9.0]), 3, rng=5)
    z = np.random.default_rng(5).standard_normal((3, 2))
    assert_allclose(draws, [1.0, 2.0] + z * [2.0, 3.0])


def test_no_variance_gives_the_mean_itself():
    draws = gaussians.sample([1.0, 2.0], np.zeros((2, 2)), 3, rng=0)
    assert np.array_equal(draws, [[1.0, 2.0]] * 3)
    moved = gaussians.sample([1.0, 2.0], np.zeros((2, 2)), 3, rng=0, jitter=1)
    assert (moved != draws).all()


def test_a_process_keeps_nothing_of_its_inputs():
    X = np.array([[1.0], [2.0]])
    seen = gaussians.finite_marginal(lambda X: X[:, 0], kernels.Linear(), X)
    X += 1
    assert np.array_equal(seen.mean, [1.0, 2.0])
