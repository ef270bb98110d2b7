"""The perceptron, its dual, its bound; and the toy data of its chapter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import Perceptron

from kernelbook import kernels, perceptron, toydata

seeds = st.integers(0, 10**6)


def separable(seed, N=12, M=3):
    """Eighths, so that both forms compute exactly, and a separator."""
    rng = np.random.default_rng(seed)
    u = rng.integers(-3, 4, M).astype(float)
    u[0] = 5.0
    Phi = rng.integers(-9, 10, (10 * N, M)).astype(float)
    Phi = Phi[np.abs(Phi @ u) >= 4][:N]
    t = np.sign(Phi @ u)
    Phi[0], t[0] = np.eye(M)[0], 1.0
    Phi[1], t[1] = -np.eye(M)[0], -1.0
    return Phi / 8, t, u


@given(seeds)
def test_both_forms_make_the_same_mistakes_in_the_same_order(seed):
    Phi, t, _ = separable(seed)
    primal = perceptron.perceptron(Phi, t, 2000)
    dual = perceptron.dual_perceptron(Phi @ Phi.T, t, 2000)
    assert primal.converged and dual.converged
    assert np.array_equal(primal.mistakes, dual.mistakes)
    assert_allclose(primal.w, Phi.T @ (dual.c * t))
    assert np.array_equal(dual.c, [sum(dual.mistakes == n) for n in range(12)])


@given(seeds)
def test_result_separates_and_mistakes_keep_novikoffs_bound(seed):
    Phi, t, u = separable(seed)
    primal = perceptron.perceptron(Phi, t, 2000)
    assert np.all(t * (Phi @ primal.w) > 0)
    assert len(primal.mistakes) <= perceptron.mistake_bound(u, Phi, t)


@given(seeds, st.floats(1e-3, 1e3))
def test_bound_is_that_of_the_definition_for_every_length_of_w(seed, c):
    Phi, t, u = separable(seed)
    R = max(np.linalg.norm(phi) for phi in Phi)
    margin = min(t * (Phi @ u)) / np.linalg.norm(u)
    assert_allclose(perceptron.mistake_bound(c * u, Phi, t), (R / margin) ** 2)


def test_weights_are_scikit_learns():
    Phi, t, _ = separable(3)
    # scikit-learn starts at w = 0 too, and counts a tie as a mistake
    theirs = Perceptron(
        fit_intercept=False, shuffle=False, tol=None, max_iter=500
    ).fit(Phi, t)
    assert_allclose(perceptron.perceptron(Phi, t).w, theirs.coef_[0])


@pytest.mark.parametrize("N", [2, 7, 30])
def test_orthonormal_examples_meet_the_bound(N):
    t = np.where(np.arange(N) % 2, 1.0, -1.0)
    run = perceptron.dual_perceptron(np.eye(N), t)
    assert np.array_equal(run.c, np.ones(N))
    assert_allclose(perceptron.mistake_bound(t, np.eye(N), t), N)


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_xor_cycles_with_a_linear_kernel_and_says_so(constant):
    X, t = toydata.xor()
    K = kernels.Linear()(X) + constant
    for epochs in (1, 5, 50):
        run = perceptron.dual_perceptron(K, t, epochs)
        assert not run.converged
        assert np.array_equal(run.c, [epochs] * 4)
    primal = perceptron.perceptron(X, t, 5)
    assert not primal.converged and not primal.w.any()


def test_xor_is_learned_with_a_quadratic_kernel():
    X, t = toydata.xor()
    K = kernels.Polynomial(degree=2)(X)
    run = perceptron.dual_perceptron(K, t)
    assert run.converged
    assert len(run.mistakes) == 2
    assert np.array_equal(np.sign(K @ (run.c * t)), t)


def test_inputs_are_left_alone():
    Phi, t, _ = separable(5)
    before = Phi.copy(), t.copy()
    perceptron.perceptron(Phi, t)
    perceptron.dual_perceptron(Phi @ Phi.T, t)
    assert np.array_equal(Phi, before[0]) and np.array_equal(t, before[1])


def test_two_blobs_lie_where_they_should():
    X, t = toydata.two_blobs(4001, distance=3.0, seed=1)
    assert t.sum() == 1
    for label in (1, -1):
        cloud = X[t == label]
        assert_allclose(cloud.mean(axis=0), [1.5 * label, 0], atol=0.1)
        assert_allclose(cloud.std(axis=0), 1, atol=0.05)


def test_two_moons_are_half_circles_plus_noise():
    X, t = toydata.two_moons(401, noise=0.0, seed=2)
    upper, lower = X[t > 0], X[t < 0]
    assert len(upper) == 201
    assert_allclose(np.linalg.norm(upper, axis=1), 1)
    assert_allclose(np.linalg.norm(lower - [1, 0.5], axis=1), 1)
    assert upper[:, 1].min() >= 0 and lower[:, 1].max() <= 0.5
    noisy, _ = toydata.two_moons(401, noise=0.2, seed=2)
    assert_allclose(np.std(noisy - X), 0.2, rtol=0.1)


PHI2, T2 = np.eye(2), np.array([1.0, -1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: perceptron.perceptron(PHI2, [0, 1]),
            r"t must be -1 or \+1, got 0",
        ),
        (
            lambda: perceptron.dual_perceptron(PHI2, [1, 1]),
            r"t must contain both -1 and \+1, got only \+1",
        ),
        (
            lambda: perceptron.perceptron(PHI2, T2, max_epochs=0),
            "max_epochs must be a whole number >= 1, got 0",
        ),
        (
            lambda: perceptron.dual_perceptron(np.ones((2, 3)), T2),
            "K must be a square Gram matrix",
        ),
        (
            lambda: perceptron.mistake_bound([1.0, 1.0], PHI2, T2),
            "w must separate the classes, got .* = -1",
        ),
        (
            lambda: toydata.two_blobs(1, 1.0, 0),
            "N must be a whole number >= 2",
        ),
        (lambda: toydata.two_blobs(4, -1.0, 0), "distance must be >= 0"),
        (lambda: toydata.two_moons(4, -1.0, 0), "noise must be >= 0"),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
