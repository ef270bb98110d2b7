"""GP regression: slow routes, scikit-learn, SciPy, and refitting."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    WhiteKernel,
)

from kernelbook import gaussians, gp, kernels, ridge
from kernelbook.exceptions import JitterWarning

THETA = (1.5, 2.0, 0.3, 0.7)
sizes = st.tuples(st.integers(1, 8), st.integers(1, 3), st.integers(0, 10**6))
betas = st.floats(0.1, 1e3)
thetas = st.tuples(
    st.floats(0, 5), st.floats(0.1, 5), st.floats(0, 5), st.floats(0, 5)
)


def problem(sizes):
    N, D, seed = sizes
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((N, D)), rng.standard_normal((5, D))
    return X, rng.standard_normal(N), Z, rng


def k24(x, z, theta):
    """(24), for one pair of inputs."""
    squared = sum((x_d - z_d) ** 2 for x_d, z_d in zip(x, z, strict=True))
    inner = sum(x_d * z_d for x_d, z_d in zip(x, z, strict=True))
    return (
        theta[0] * np.exp(-theta[1] / 2 * squared)
        + theta[2]
        + theta[3] * inner
    )


def loop(X, Z, theta):
    return np.array([[k24(x, z, theta) for z in Z] for x in X])


@given(sizes, thetas)
def test_kernel_24_is_its_formula_for_every_pair(sizes, theta):
    X, _, Z, _ = problem(sizes)
    k = kernels.ExponentialQuadratic(theta)
    assert_allclose(k(X, Z), loop(X, Z, theta), atol=1e-12)
    assert_allclose(k(X), loop(X, X, theta), atol=1e-12)
    assert np.array_equal(k(X), k(X).T)
    assert_allclose(k.diagonal(X), np.diag(k(X)), atol=1e-12)
    assert np.linalg.eigvalsh(k(X)).min() > -1e-9


def test_kernel_24_keeps_its_numbers_as_a_tuple():
    k = kernels.ExponentialQuadratic(np.array(THETA))
    assert k.theta == THETA
    assert {k} == {kernels.ExponentialQuadratic(list(THETA))}


@given(sizes, thetas, betas)
def test_prediction_conditions_the_joint_gaussian(sizes, theta, beta):
    X, t, Z, _ = problem(sizes)
    both = np.vstack([X, Z])
    N = len(X)
    joint = loop(both, both, theta)
    joint[:N, :N] += np.eye(N) / beta
    rest = gaussians.condition(np.zeros(N + 5), joint, range(N), t)

    model = gp.fit(kernels.ExponentialQuadratic(theta), X, t, beta)
    m, latent, noisy = gp.predict(model, Z)
    scale = 1e-9 * beta * (1 + np.abs(joint).max())
    assert_allclose(m, rest.mean, atol=scale)
    assert_allclose(gp.mean(model, Z), rest.mean, atol=scale)
    assert_allclose(gp.covariance(model, Z), rest.cov, atol=scale)
    assert_allclose(latent, np.diag(rest.cov).clip(min=0), atol=scale)
    assert np.array_equal(noisy, latent + 1 / beta)


@given(sizes, thetas, betas)
def test_log_marginal_likelihood_is_scipys_log_density(sizes, theta, beta):
    X, t, _, _ = problem(sizes)
    C = loop(X, X, theta) + np.eye(len(X)) / beta
    ours = gp.log_marginal_likelihood(
        gp.fit(kernels.ExponentialQuadratic(theta), X, t, beta)
    )
    assert_allclose(
        ours, multivariate_normal(cov=C).logpdf(t), rtol=1e-7, atol=1e-7
    )


def test_everything_is_scikit_learns():
    X, t, Z, _ = problem((30, 2, 0))
    exponential = ConstantKernel(THETA[0]) * RBF(THETA[1] ** -0.5)
    linear = ConstantKernel(THETA[3]) * DotProduct(
        (THETA[2] / THETA[3]) ** 0.5
    )
    theirs_k = exponential + linear
    beta = 20.0
    latent_gp = GaussianProcessRegressor(
        theirs_k, alpha=1 / beta, optimizer=None
    )
    noisy_gp = GaussianProcessRegressor(
        theirs_k + WhiteKernel(1 / beta), alpha=0.0, optimizer=None
    )
    mean, deviation = latent_gp.fit(X, t).predict(Z, return_std=True)
    _, cov = latent_gp.predict(Z, return_cov=True)
    _, noisy_deviation = noisy_gp.fit(X, t).predict(Z, return_std=True)

    model = gp.fit(kernels.ExponentialQuadratic(THETA), X, t, beta)
    ours = gp.predict(model, Z)
    assert_allclose(ours.mean, mean)
    assert_allclose(ours.latent_variance, deviation**2)
    assert_allclose(ours.noisy_variance, noisy_deviation**2)
    assert_allclose(gp.covariance(model, Z), cov, atol=1e-12)
    assert_allclose(
        gp.log_marginal_likelihood(model),
        latent_gp.log_marginal_likelihood_value_,
    )


@given(sizes, betas)
def test_gp_mean_equals_kernel_ridge(sizes, beta):
    X, t, Z, _ = problem(sizes)
    k = kernels.Gaussian(0.4)
    a = ridge.fit_dual(k(X), t, lam=1 / beta)
    model = gp.fit(k, X, t, beta)
    assert_allclose(model.a, a, rtol=1e-6, atol=1e-8)
    assert_allclose(gp.mean(model, Z), ridge.predict(a, k(X, Z)), atol=1e-8)


def test_gp_equals_the_weight_space_posterior():
    X, t, Z, _ = problem((20, 3, 1))
    alpha, beta = 0.5, 8.0
    model = gp.fit(
        kernels.ExponentialQuadratic((0.0, 1.0, 0.0, 1 / alpha)), X, t, beta
    )
    S_N = np.linalg.inv(alpha * np.eye(3) + beta * X.T @ X)
    ours = gp.predict(model, Z)
    assert_allclose(ours.mean, beta * Z @ S_N @ X.T @ t)
    variances = 1 / beta + np.sum(Z @ S_N * Z, axis=1)
    assert_allclose(ours.noisy_variance, variances)


@given(sizes, betas)
def test_appending_equals_refitting(sizes, beta):
    X, t, Z, _ = problem(sizes)
    k = kernels.ExponentialQuadratic(THETA)
    model = gp.fit(k, X[:1], t[:1], beta)
    for x_n, t_n in zip(X[1:], t[1:], strict=True):
        model = gp.append(model, x_n, t_n)
    again = gp.fit(k, X, t, beta)
    scale = 1e-8 * beta
    assert_allclose(model.a, again.a, atol=scale)
    assert_allclose(model.factor.U, again.factor.U, atol=1e-8)
    assert np.array_equal(model.X, X) and np.array_equal(model.t, t)
    assert_allclose(
        gp.predict(model, Z), gp.predict(again, Z), atol=scale, rtol=1e-7
    )


def test_appending_leaves_the_old_process_alone():
    X, t, Z, _ = problem((6, 2, 3))
    old = gp.fit(kernels.Gaussian(1.0), X, t, 5.0)
    old = gp.append(old, Z[0], 0.0)
    before = gp.predict(old, Z)
    one, two = gp.append(old, Z[1], 3.0), gp.append(old, Z[2], -3.0)
    assert_allclose(gp.predict(old, Z), before, rtol=0)
    assert gp.mean(one, Z[1:2]) > before.mean[1]
    assert gp.mean(two, Z[2:3]) < before.mean[2]


def test_appending_a_twin_without_noise_falls_back_to_jitter():
    model = gp.fit(kernels.Gaussian(1.0), [[0.0]], [1.0], beta=1e17)
    with pytest.warns(JitterWarning, match=r"K \+ I/β of Gaussian\(gamma=1"):
        twin = gp.append(model, [0.0], 1.0)
    assert twin.factor.jitter > 0
    assert_allclose(gp.mean(twin, [[0.0]]), 1.0)


@given(sizes, betas)
def test_leaving_one_out_equals_refitting_without_it(sizes, beta):
    X, t, _, _ = problem((sizes[0] + 1, *sizes[1:]))
    k = kernels.ExponentialQuadratic(THETA)
    left_out = gp.loo(gp.fit(k, X, t, beta))
    for n in range(len(X)):
        rest = np.arange(len(X)) != n
        model = gp.fit(k, X[rest], t[rest], beta)
        one = gp.predict(model, X[[n]])
        assert_allclose(
            [field[n] for field in left_out],
            np.ravel(one),
            rtol=1e-6,
            atol=1e-7 * beta,
        )


def test_samples_have_the_posterior_mean_and_covariance():
    X, t, Z, rng = problem((4, 1, 5))
    model = gp.fit(kernels.Gaussian(0.5), X, t, 10.0)
    Y = gp.sample(model, Z, 40_000, rng)
    assert Y.shape == (40_000, 5)
    assert_allclose(Y.mean(axis=0), gp.mean(model, Z), atol=0.02)
    assert_allclose(np.cov(Y.T), gp.covariance(model, Z), atol=0.02)


def test_many_new_inputs_are_taken_in_blocks():
    X, t, _, rng = problem((10, 2, 6))
    Z = rng.standard_normal((2 * gp.BLOCK + 3, 2))
    model = gp.fit(kernels.Gaussian(0.5), X, t, 10.0)
    together = gp.predict(model, Z)
    one_by_one = [np.ravel(gp.predict(model, z[None])) for z in Z]
    assert_allclose(np.transpose(together), one_by_one, atol=1e-12)
    assert_allclose(gp.mean(model, Z), together.mean)


def test_fit_and_predict_keep_one_matrix_of_size_n_squared():
    N = 1500
    X, t, _, rng = problem((N, 2, 7))
    Z = rng.standard_normal((N, 2))
    tracemalloc.start()
    gp.predict(gp.fit(kernels.ExponentialQuadratic(THETA), X, t, 10.0), Z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.4 * 8 * N**2


@pytest.mark.parametrize("gamma", [0.1, 1.0])
@pytest.mark.parametrize("beta", [1e12, 1e15])
def test_variance_is_never_negative(gamma, beta):
    X = np.linspace(0, 1, 40)[:, None]
    model = gp.fit(kernels.Gaussian(gamma), X, np.zeros(40), beta)
    assert gp.predict(model, X).latent_variance.min() >= 0
    assert gp.loo(model).latent_variance.min() >= 0


def test_inputs_are_left_alone_and_kept_as_they_were():
    X, t, Z, rng = problem((6, 2, 8))
    before = X.copy(), t.copy(), Z.copy()
    model = gp.fit(kernels.ExponentialQuadratic(THETA), X, t, 10.0)
    first = gp.predict(model, Z)
    gp.sample(model, Z, 2, rng)
    gp.append(model, Z[0], 1.0)
    gp.loo(model)
    for now, then in zip((X, t, Z), before, strict=True):
        assert np.array_equal(now, then)
    X += 1.0  # the caller's array; the model has its own
    assert_allclose(gp.predict(model, Z), first, rtol=0)


def test_rounding_gets_jitter_and_the_kernel_is_named():
    X = np.linspace(0, 1, 60)[:, None]
    with pytest.warns(JitterWarning, match=r"Gaussian\(gamma=1.0\) is pos.*"):
        model = gp.fit(kernels.Gaussian(1.0), X, np.ones(60), beta=1e20)
    assert_allclose(model.factor.jitter, 1.3e-13, rtol=0.05)


class NotAKernel(kernels.Kernel):
    """-xᵀx', negative definite."""

    def __repr__(self):
        return "NotAKernel()"

    def evaluate(self, X, Z):
        return -X @ Z.T


class Overflowing(NotAKernel):
    """Infinite."""

    def __repr__(self):
        return "Overflowing()"

    def evaluate(self, X, Z):
        return np.full((len(X), len(Z)), np.inf)


X2, T2 = np.eye(2), np.ones(2)
K1 = kernels.Gaussian(1.0)


def model():
    return gp.fit(K1, X2, T2, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gp.fit(X2, T2, K1, 1.0), "k must be a Kernel, got ndarray"),
        (lambda: gp.fit(K1, X2, T2, 0.0), "beta must be > 0, got 0.0"),
        (lambda: gp.fit(K1, X2, T2, np.nan), "beta must be finite, got nan"),
        (lambda: gp.fit(K1, X2, np.ones(3), 1.0), "t must have length 2, got"),
        (
            lambda: gp.fit(K1, X2, [1.0, np.inf], 1.0),
            "t must be finite, got 1 NaN or inf",
        ),
        (lambda: gp.fit(K1, T2, T2, 1.0), r"X must be two-dimensional, got"),
        (
            lambda: gp.fit(Overflowing(), X2, T2, 1.0),
            r"k\(X\) of Overflowing\(\) must be finite, got 4 NaN or inf",
        ),
        (
            lambda: gp.fit(NotAKernel(), X2, T2, 2.0),
            r"K \+ I/β of NotAKernel\(\) must be positive definite, got "
            r"smallest eigenvalue -0.5 \(pivot 1 of 2 is -0.5\); it would "
            r"take 0.5 on the diagonal, and rounding explains 2",
        ),
        (
            lambda: gp.predict(model(), np.ones((4, 3))),
            r"X and Z must have the same number of columns, got \(2, 2\) and",
        ),
        (lambda: gp.mean(model(), T2), "Z must be two-dimensional, got"),
        (lambda: gp.covariance(model(), T2), "Z must be two-dimensional, got"),
        (
            lambda: gp.sample(model(), X2, 0, np.random.default_rng(0)),
            "size must be a whole number >= 1, got 0",
        ),
        (lambda: gp.append(model(), [1.0], 1.0), "x must have length 2, got"),
        (
            lambda: gp.append(model(), [1.0, 1.0], np.nan),
            "t must be finite, got nan",
        ),
        (
            lambda: kernels.ExponentialQuadratic((1.0, 0.0, 0.0, 0.0)),
            r"theta\[1\] must be > 0, got 0.0",
        ),
        (
            lambda: kernels.ExponentialQuadratic((1.0, 1.0, -2.0, 0.0)),
            r"theta\[2\] must be >= 0, got -2.0",
        ),
        (
            lambda: kernels.ExponentialQuadratic((1.0, 1.0)),
            "theta must have length 4, got 2",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_process_prints_its_kernel_and_noise():
    shown = repr(gp.fit(kernels.ExponentialQuadratic(THETA), X2, T2, 4))
    assert shown == (
        "GP(k=ExponentialQuadratic(theta=(1.5, 2.0, 0.3, 0.7)), beta=4.0, "
        "mean=0.0)"
    )
