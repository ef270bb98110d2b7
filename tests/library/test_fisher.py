"""Fisher's discriminants: scikit-learn, least squares, explicit features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from kernelbook import (
    bayes,
    discriminant,
    features,
    fisher,
    kernels,
    ridge,
    toydata,
)

seeds = st.integers(0, 10**6)


def problem(seed, K=4, D=3):
    """Classes of unlike size, with means well apart; new inputs."""
    rng = np.random.default_rng(seed)
    t = rng.permutation(np.repeat(np.arange(K), 4 + 3 * np.arange(K)))
    A = np.eye(D) + 0.4 * rng.standard_normal((D, D))
    X = rng.standard_normal((len(t), D)) @ A + 2 * rng.normal(size=(K, D))[t]
    return X, t, rng.standard_normal((6, D))


def up_to_sign(A, B):
    return A * np.sign((A * B).sum(axis=0)), B


@given(seeds)
def test_scatters_are_the_loops_of_their_definition(seed):
    X, t, _ = problem(seed)
    S = fisher.scatter(X, t)
    within, between = np.zeros((3, 3)), np.zeros((3, 3))
    for k in range(4):
        mean = X[t == k].mean(axis=0)
        apart = mean - X.mean(axis=0)
        between += np.sum(t == k) * np.outer(apart, apart)
        for x in X[t == k]:
            within += np.outer(x - mean, x - mean)
    assert_allclose(S.within, within, atol=1e-9)
    assert_allclose(S.between, between, atol=1e-9)
    assert_allclose(sum(S), np.cov(X.T, bias=True) * len(X), atol=1e-9)


@given(seeds)
def test_discriminants_are_those_of_scikit_learns_eigen_solver(seed):
    X, t, Z = problem(seed)
    V, ratios = fisher.discriminants(X, t)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, t)
    scalings = theirs.scalings_[:, :3]
    assert_allclose(*up_to_sign(scalings, V), atol=1e-6)
    share = ratios / ratios.sum()
    assert_allclose(theirs.explained_variance_ratio_[:3], share, atol=1e-8)
    assert_allclose(*up_to_sign(theirs.transform(Z)[:, :3], Z @ V), atol=1e-6)


@given(seeds, st.floats(0.0, 2.0))
def test_discriminants_solve_the_generalised_eigenproblem(seed, lam):
    X, t, _ = problem(seed)
    N = len(t)
    V, ratios = fisher.discriminants(X, t, lam=lam)
    S = fisher.scatter(X, t)
    Sigma = S.within / N + lam * np.eye(3)
    assert_allclose(V.T @ Sigma @ V, np.eye(3), atol=1e-9)
    assert_allclose(S.between / N @ V, Sigma @ V * ratios, atol=1e-8)
    values = eigh(S.between / N, Sigma, eigvals_only=True)[::-1]
    assert_allclose(ratios, values, atol=1e-8)
    assert all(v[np.argmax(np.abs(v))] > 0 for v in V.T)
    assert np.all(np.diff(ratios) <= 0)


@given(seeds)
def test_no_direction_has_a_larger_criterion_than_the_first(seed):
    X, t, _ = problem(seed)
    V, ratios = fisher.discriminants(X, t)
    for v, ratio in zip(V.T, ratios, strict=True):
        assert_allclose(fisher.criterion(-3 * v, X, t), ratio, rtol=1e-7)
    others = np.random.default_rng(seed).standard_normal((50, 3))
    assert all(
        fisher.criterion(w, X, t) <= ratios[0] * (1 + 1e-9) for w in others
    )


def test_number_and_default_are_all_that_there_are():
    X, t, _ = problem(1)
    V, ratios = fisher.discriminants(X, t)
    assert V.shape == (3, 3)  # as many as D, K - 1
    first = fisher.discriminants(X, t, 2)
    assert_allclose(first.V, V[:, :2])
    assert_allclose(first.ratios, ratios[:2])
    X, t, _ = problem(1, K=3, D=5)
    assert fisher.discriminants(X, t).V.shape == (5, 2)
    with pytest.raises(ValueError, match=r"number must be <= 2.*got 3"):
        fisher.discriminants(X, t, 3)
    with pytest.raises(ValueError, match="number must be a whole number"):
        fisher.discriminants(X, t, 0)


@given(seeds, st.floats(0.0, 2.0))
def test_of_two_classes_the_direction_is_lda_and_ridge_regression(seed, lam):
    X, t, _ = problem(seed, K=2)
    signs = np.where(t == 1, 1.0, -1.0)
    w = fisher.direction(X, signs, lam)
    W, _ = bayes.linear_form(bayes.fit_lda(X, t, lam))
    assert_allclose(w, W[1] - W[0], rtol=1e-6, atol=1e-9)
    fitted = (
        ridge.fit_with_intercept(X, signs, lam * len(t)).w
        if lam
        else discriminant.least_squares_weights(X, signs)[1:]
    )
    angle = fitted @ w / np.linalg.norm(fitted) / np.linalg.norm(w)
    assert_allclose(angle, 1, atol=1e-9)
    v = fisher.discriminants(X, t, 1, lam).V[:, 0]
    assert_allclose(abs(v @ w) / np.linalg.norm(v) / np.linalg.norm(w), 1)


def test_defaults_add_nothing_to_the_variances():
    X, t, _ = problem(4, K=2)
    signs = np.where(t == 1, 1.0, -1.0)
    assert_allclose(
        fisher.direction(X, signs), fisher.direction(X, signs, lam=0.0)
    )
    assert_allclose(
        fisher.discriminants(X, t).V, fisher.discriminants(X, t, lam=0.0).V
    )


@given(seeds, st.floats(0.01, 2.0))
def test_kernel_discriminants_are_those_of_explicit_features(seed, lam):
    X, t, Z = problem(seed)
    k = kernels.Polynomial(2)
    A, ratios = fisher.fit_dual(k(X), t, lam)
    Phi, Psi = features.monomials(X, 2), features.monomials(Z, 2)
    V, outside = fisher.discriminants(Phi, t, lam=lam)
    assert_allclose(ratios, outside, rtol=1e-6, atol=1e-8)
    ours = ridge.predict(A, k(X, Z))
    assert_allclose(*up_to_sign(ours, Psi @ V), rtol=1e-5, atol=1e-6)
    assert all(a[np.argmax(np.abs(a))] > 0 for a in A.T)


@given(seeds)
def test_kernel_discriminant_of_two_classes_is_kernel_ridge(seed):
    X, t = toydata.two_moons(30, noise=0.2, rng=seed)
    k, lam = kernels.Gaussian(1.0), 0.05
    A, _ = fisher.fit_dual(k(X), (t > 0).astype(int), lam)
    a, _ = ridge.fit_dual_with_intercept(k(X), t, lam * len(t))
    ours, theirs = ridge.predict(A, k(X))[:, 0], ridge.predict(a, k(X))
    assert_allclose(abs(np.corrcoef(ours, theirs)[0, 1]), 1, atol=1e-6)


def test_a_number_of_kernel_discriminants_and_a_gram_of_low_rank():
    X, t, _ = problem(2)
    K = kernels.Linear()(X)  # rank three, of twenty-odd
    A, ratios = fisher.fit_dual(K, t, 0.1, 2)
    assert A.shape == (len(t), 2) and ratios.shape == (2,)
    assert np.abs(A).max() < 1e3
    V, _ = fisher.discriminants(X, t, 2, 0.1)
    assert_allclose(*up_to_sign(K @ A, X @ V), atol=1e-7)
    one = fisher.fit_dual(np.ones((4, 4)), [0, 0, 1, 2], 0.1)
    assert_allclose(one.ratios, 0, atol=1e-12)  # all inputs are one point
    with pytest.raises(ValueError, match="number must be <= 1"):
        fisher.fit_dual(np.ones((4, 4)), [0, 0, 1, 2], 0.1, 2)


X2 = [[0.0, 1.0], [1.0, 3.0], [4.0, 0.0], [6.0, 2.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fisher.direction(X2, [0, 0, 1, 1]),
            "t must be -1 or \\+1, got 0",
        ),
        (
            lambda: fisher.direction(X2, [1, 1, 1, 1]),
            "t must contain both -1 and",
        ),
        (lambda: fisher.direction(X2, [1, 1, -1, -1], -1), "lam must be >= 0"),
        (
            lambda: fisher.direction([[1.0, 1], [2, 2], [3, 3]], [1, 1, -1]),
            "X has a singular covariance: its examples span at most 1 of 2",
        ),
        (lambda: fisher.scatter(X2, [0, 0, 2, 2]), "t must be whole numbers"),
        (
            lambda: fisher.criterion([1.0, 0.0, 0.0], X2, [0, 0, 1, 1]),
            "w must have length 2",
        ),
        (
            lambda: fisher.criterion([0.0, 0.0], X2, [0, 0, 1, 1]),
            "w must be a direction in which the classes vary, got .* = 0",
        ),
        (
            lambda: fisher.discriminants(X2, [0, 0, 1, 1], lam=-1),
            "lam must be >= 0",
        ),
        (lambda: fisher.fit_dual(np.eye(2), [0, 1], 0.0), "lam must be > 0"),
        (lambda: fisher.fit_dual(X2, [0, 1], 1.0), "K must be a square Gram"),
        (
            lambda: fisher.fit_dual(np.zeros((2, 2)), [0, 1], 1.0),
            "K must have a positive eigenvalue, got none",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
