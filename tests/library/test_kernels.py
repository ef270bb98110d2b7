"""One contract for every kernel."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from kernelbook.kernels import Gaussian, Linear, Polynomial

# Each kernel beside its formula, written for two single inputs.
KERNELS = {
    Linear(): lambda x, z: math.fsum(x * z),
    Polynomial(degree=1, c=0.5): lambda x, z: math.fsum(x * z) + 0.5,
    Polynomial(degree=2): lambda x, z: math.fsum(x * z) ** 2,
    Polynomial(degree=3, c=1.0): lambda x, z: (math.fsum(x * z) + 1) ** 3,
    Gaussian(gamma=0.5): lambda x, z: math.exp(-0.5 * math.fsum((x - z) ** 2)),
    Gaussian(gamma=4.0): lambda x, z: math.exp(-4 * math.fsum((x - z) ** 2)),
}
every_kernel = pytest.mark.parametrize("k", KERNELS, ids=repr)
clouds = st.builds(
    lambda N, D, seed: np.random.default_rng(seed).standard_normal((N, D)),
    st.integers(1, 7),
    st.sampled_from([1, 2, 5]),
    st.integers(0, 10**6),
)


@every_kernel
@given(X=clouds, seed=st.integers(0, 100))
def test_values_equal_the_double_loop(k, X, seed):
    Z = np.random.default_rng(seed).standard_normal((3, X.shape[1]))
    loop = [[KERNELS[k](x, z) for z in Z] for x in X]
    K = k(X, Z)
    assert K.shape == (len(X), len(Z))
    assert_allclose(K, loop, rtol=1e-10, atol=1e-12)


@every_kernel
@given(X=clouds)
def test_gram_is_exactly_symmetric_and_positive_semidefinite(k, X):
    K = k(X)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * np.abs(K).max()


@every_kernel
@given(X=clouds)
def test_gram_is_the_cross_gram_with_itself(k, X):
    assert_allclose(k(X), k(X, X.copy()), rtol=1e-12, atol=1e-13)


@every_kernel
def test_repr_builds_the_kernel_again(k):
    assert eval(repr(k)) == k


@given(X=clouds)
def test_gaussian_diagonal_is_exactly_one(X):
    assert np.array_equal(np.diag(Gaussian(0.7)(X)), np.ones(len(X)))


def test_gaussian_is_scikit_learns():
    X = np.random.default_rng(0).standard_normal((10, 4))
    assert_allclose(Gaussian(0.3)(X), rbf_kernel(X, gamma=0.3))


def test_polynomial_is_scikit_learns():
    X = np.random.default_rng(0).standard_normal((10, 4))
    theirs = polynomial_kernel(X, degree=3, gamma=1.0, coef0=2.0)
    assert_allclose(Polynomial(3, 2.0)(X), theirs)


def test_kernels_run_inside_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    t = np.sign(X[:, 0] * X[:, 1])
    ours = SVC(kernel=Gaussian(0.5)).fit(X, t).predict(X)
    theirs = SVC(kernel="rbf", gamma=0.5).fit(X, t).predict(X)
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Gaussian(0.0), "gamma must be > 0, got 0.0"),
        (lambda: Gaussian(-1.0), "gamma must be > 0, got -1.0"),
        (lambda: Polynomial(0), "degree must be a whole number >= 1, got 0"),
        (lambda: Polynomial(1.5), "degree must be a whole number >= 1, got 1"),
        (lambda: Polynomial(2, c=-1.0), "c must be >= 0, got -1.0"),
        (
            lambda: Linear()([1.0, 2.0]),
            r"X must be two-dimensional, got shape",
        ),
        (
            lambda: Linear()([[1.0, 2.0]], [[1.0]]),
            r"same number of columns, got \(1, 2\) and \(1, 1\)",
        ),
        (lambda: Linear()([[np.inf]]), "X must be finite, got 1 NaN or inf"),
    ],
)
def test_bad_input_names_argument_expectation_and_value(build, message):
    with pytest.raises(ValueError, match=message):
        build()
