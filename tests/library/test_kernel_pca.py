"""Kernel PCA against PCA of explicit features and scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA, KernelPCA

from kernelbook import features, kernel_pca, kernels

seeds = st.integers(0, 10**6)


def problem(seed, N=9, D=2, new=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, D)) + 1.5, rng.standard_normal((new, D))


@given(seeds)
def test_centred_gram_is_that_of_centred_features(seed):
    X, Z = problem(seed)
    k = kernels.Polynomial(2)
    Phi, Psi = features.monomials(X, 2), features.monomials(Z, 2)
    mean = Phi.mean(axis=0)
    K_centred = (Phi - mean) @ (Phi - mean).T
    k_centred = (Phi - mean) @ (Psi - mean).T
    assert_allclose(kernel_pca.centre(k(X)), K_centred, atol=1e-9)
    assert_allclose(kernel_pca.centre(k(X), k(X, Z)), k_centred, atol=1e-9)


@given(seeds)
def test_components_are_those_of_explicit_features(seed):
    X, Z = problem(seed)
    k = kernels.Polynomial(2)
    A, variances = kernel_pca.components(k(X), 3)
    outside = PCA(n_components=3).fit(features.monomials(X, 2))
    N = len(X)
    assert_allclose(variances, outside.explained_variance_ * (N - 1) / N)
    ours = kernel_pca.project(A, k(X), k(X, Z))
    theirs = outside.transform(features.monomials(Z, 2))
    assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-5, atol=1e-6)


def test_gaussian_components_are_those_of_scikit_learn():
    X, Z = problem(3, N=30)
    k = kernels.Gaussian(0.7)
    A, variances = kernel_pca.components(k(X), 4)
    theirs = KernelPCA(4, kernel="rbf", gamma=0.7).fit(X)
    assert_allclose(variances * len(X), theirs.eigenvalues_)
    ours = kernel_pca.project(A, k(X), k(X, Z))
    assert_allclose(np.abs(ours), np.abs(theirs.transform(Z)), atol=1e-8)


@given(seeds)
def test_training_coordinates_have_these_variances_and_no_correlation(seed):
    X, _ = problem(seed)
    K = kernels.Gaussian(0.5)(X)
    A, variances = kernel_pca.components(K, 3)
    Y = kernel_pca.project(A, K, K)
    assert_allclose(Y.mean(axis=0), 0, atol=1e-9)
    assert_allclose(Y.T @ Y / len(X), np.diag(variances), atol=1e-9)
    assert np.all(np.diff(variances) <= 0)


@given(seeds)
def test_the_largest_coefficient_is_positive(seed):
    X, _ = problem(seed)
    A, _ = kernel_pca.components(kernels.Gaussian(0.5)(X), 3)
    for column in A.T:
        assert column[np.argmax(np.abs(column))] > 0


def test_all_directions_can_be_had_and_no_more():
    X, _ = problem(0)
    K = kernels.Polynomial(2)(X)  # three features, centred rank three
    A, _ = kernel_pca.components(K, 3)
    assert A.shape == (9, 3)
    with pytest.raises(ValueError, match=r"number must be <= 3.*got 4"):
        kernel_pca.components(K, 4)


def test_equal_points_have_no_direction():
    with pytest.raises(ValueError, match="number must be <= 0"):
        kernel_pca.components(np.full((4, 4), 1e3), 1)
    with pytest.raises(ValueError, match="number must be <= 0"):
        kernel_pca.components(np.zeros((4, 4)), 1)


def test_coefficients_must_fit_the_examples():
    K = np.eye(3)
    with pytest.raises(ValueError, match=r"A must have one row .* 3, got 2"):
        kernel_pca.project(np.ones((2, 1)), K, K)
