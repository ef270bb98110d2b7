"""Estimators for large N: the functions that they call, to the last digit."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from kernelbook import fourier, inducing, iterative, nystrom
from kernelbook.estimators import (
    FourierRidge,
    IterativeRidge,
    NystromRidge,
    SparseGaussianProcessRegressor,
)
from kernelbook.exceptions import ConvergenceWarning
from kernelbook.kernels import Constant, Gaussian, Linear, Spectrum

K = Gaussian(0.3)
CLASSES = [
    FourierRidge,
    NystromRidge,
    IterativeRidge,
    SparseGaussianProcessRegressor,
]
WITH_LANDMARKS = CLASSES[1:]


def data(N=40, D=3, Q=None):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(N, D)), rng.normal(size=(N // 2, D))
    y = np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=N)
    return X, y if Q is None else np.outer(y, 1 + np.arange(Q)), Z


# ---------------------------------------------------------------- landmarks


def test_uniform_landmarks_are_those_of_the_function():
    X, y, _ = data()
    model = NystromRidge(K, M=9, random_state=4).fit(X, y)
    numbers = nystrom.uniform_landmarks(40, 9, 4)
    assert np.array_equal(model.landmarks_, X[numbers])


def test_pivoted_landmarks_are_those_of_the_function():
    X, y, _ = data()
    model = NystromRidge(K, M=9, landmarks="pivoted").fit(X, y)
    numbers = nystrom.pivoted_cholesky(K, X, 9).numbers
    assert np.array_equal(model.landmarks_, X[numbers])


@pytest.mark.parametrize(
    ("model", "lam"),
    [
        (NystromRidge(K, lam=0.2, M=9, landmarks="leverage"), 0.2),
        (
            SparseGaussianProcessRegressor(
                K, 5.0, M=9, landmarks="leverage", learn=False
            ),
            1 / 5.0,
        ),
    ],
)
def test_landmarks_by_leverage_are_those_of_the_functions(model, lam):
    """The noise variance of a process is the λ of its mean."""
    X, y, _ = data()
    rng = np.random.default_rng(0)
    first = X[nystrom.uniform_landmarks(40, 9, rng)]
    scores = nystrom.approximate_leverage_scores(K, X, lam, first)
    numbers = nystrom.draw_landmarks(scores, 9, rng)
    assert np.array_equal(model.fit(X, y).landmarks_, X[numbers])


def test_inputs_that_say_nothing_are_no_landmarks():
    """Where fewer than M have a positive score, these are all."""
    X, y = np.zeros((20, 2)), np.zeros(20)
    X[:3] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    model = NystromRidge(Linear(), M=20, landmarks="leverage").fit(X, y)
    assert len(model.landmarks_) == 2


@pytest.mark.parametrize("way", ["uniform", "pivoted", "leverage"])
def test_superfluous_landmarks_are_left_out(way):
    X, y, Z = data()
    k = Linear() + Constant(1.0)
    model = NystromRidge(k, lam=0.1, landmarks=way).fit(X, y)
    assert len(model.landmarks_) == 4
    exact = nystrom.fit(k, X, y, 0.1, X[:4])
    assert_allclose(model.predict(Z), exact.predict(Z), rtol=1e-8)


@pytest.mark.parametrize("make", WITH_LANDMARKS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"landmarks": "best"}, "landmarks must be 'uniform', .* got 'best'"),
        ({"M": 0}, "M must be a whole number >= 1, got 0"),
        ({"M": 100.5}, "M must be a whole number >= 1, got 100.5"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_a_choice_that_cannot_be_made_is_refused(make, change, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message):
        make(**change).fit(X, y)


# ------------------------------------------------------------- the same digits


@pytest.mark.parametrize("Q", [None, 1, 3])
def test_ridge_with_landmarks_is_the_function(Q):
    X, y, Z = data(Q=Q)
    model = NystromRidge(K, lam=0.2, M=9).fit(X, y)
    function = nystrom.fit(K, X, y, 0.2, model.landmarks_)
    assert np.array_equal(model.predict(Z), function.predict(Z))
    assert np.array_equal(model.model_.w, function.w)
    assert model.kernel_ is K


@pytest.mark.parametrize("Q", [None, 1, 3])
def test_ridge_on_waves_is_the_function(Q):
    X, y, Z = data(Q=Q)
    given = {"orthogonal": True, "dtype": np.float64}
    model = FourierRidge(K, lam=0.2, M=20, random_state=3, **given).fit(X, y)
    function = fourier.fit(K, X, y, 0.2, 20, 3, **given)
    assert np.array_equal(model.predict(Z), function.predict(Z))
    assert model.model_.features.dtype == np.float64


@pytest.mark.parametrize("Q", [None, 1, 3])
def test_iterated_ridge_is_the_function(Q):
    X, y, Z = data(Q=Q)
    model = IterativeRidge(K, lam=0.2, M=9, tolerance=1e-5).fit(X, y)
    L = X[nystrom.uniform_landmarks(40, 9, 0)]
    function = iterative.fit(K, X, y, 0.2, L, tolerance=1e-5)
    assert np.array_equal(model.predict(Z), function.predict(Z))
    assert np.array_equal(model.dual_coef_, function.a)
    told = model.error_, model.n_iter_, model.status_
    assert told == (function.error, function.iterations, "converged")
    assert model.n_iter_ > 2


def test_no_step_is_counted_as_one():
    X, y, _ = data()
    assert IterativeRidge(K).fit(X, 0 * y).n_iter_ == 1


def test_an_iteration_that_ends_early_says_so():
    X, y, _ = data()
    with pytest.warns(ConvergenceWarning, match="max_iterations"):
        model = IterativeRidge(K, 1e-3, M=1, max_iterations=2).fit(X, y)
    assert (model.status_, model.n_iter_) == ("max_iterations", 2)


@pytest.mark.parametrize("Q", [None, 1, 3])
def test_a_process_with_landmarks_is_learn_then_fit(Q):
    X, y, Z = data(Q=Q)
    k = 2.0 * Gaussian(0.3)
    model = SparseGaussianProcessRegressor(k, 5.0, M=9, hold=["c"]).fit(X, y)
    L = X[nystrom.uniform_landmarks(40, 9, 0)]
    learned = inducing.learn(k, X, y, 5.0, L, hold=["c"])
    assert model.learned_ == learned
    assert (model.kernel_, model.beta_) == (learned.k, learned.beta)
    assert learned.k.k1.gamma != 0.3
    function = inducing.fit(learned.k, X, y, learned.beta, L)
    m, latent, noisy = inducing.predict(function, Z)
    assert np.array_equal(model.predict(Z), m)
    for asked, variance in [({}, latent), ({"noisy": True}, noisy)]:
        m_std, std = model.predict(Z, return_std=True, **asked)
        assert np.array_equal(m_std, m)
        assert std.shape == m.shape
        expected = np.sqrt(variance)
        for column in std.reshape(len(Z), -1).T:
            assert np.array_equal(column, expected)


@pytest.mark.parametrize("fitc", [False, True])
def test_a_process_with_landmarks_need_not_learn(fitc):
    X, y, Z = data()
    model = SparseGaussianProcessRegressor(
        K, 5.0, M=9, learn=False, fitc=fitc
    ).fit(X, y)
    L = X[nystrom.uniform_landmarks(40, 9, 0)]
    function = inducing.fit(K, X, y, 5.0, L, fitc=fitc)
    assert model.learned_ is None
    assert (model.kernel_, model.beta_) == (K, 5.0)
    expected = inducing.predict(function, Z)
    m, std = model.predict(Z, return_std=True)
    assert np.array_equal(m, expected.mean)
    assert np.array_equal(std, np.sqrt(expected.latent_variance))


def test_landmarks_that_a_learned_kernel_makes_superfluous_are_left_out():
    """A constant is learned to be wide; few landmarks are left of it.

    Targets without noise have no best β, so it is held.
    """
    X, _, _ = data()
    model = SparseGaussianProcessRegressor(1.0 * K, 5.0, M=20, hold=("beta",))
    model.fit(X, np.full(40, 3.0))
    assert len(model.landmarks_) < 20


def test_the_height_of_no_kernel_is_one_and_learned():
    X, y, _ = data()
    model = SparseGaussianProcessRegressor(M=9, learn=False).fit(X, y)
    assert model.kernel_ == 1.0 * Gaussian(1 / (3 * X.var()))
    given = SparseGaussianProcessRegressor(K, M=9, learn=False).fit(X, y)
    assert given.kernel_ is K


# ---------------------------------------------------------------- conventions


def test_parameters_have_the_defaults_of_the_functions():
    every = {"kernel": None, "random_state": 0, "progress": True}
    some = every | {"M": 100, "landmarks": "uniform"}
    assert NystromRidge().get_params() == some | {"lam": 1.0}
    assert FourierRidge().get_params() == every | {
        "lam": 1.0,
        "M": 200,
        "orthogonal": False,
        "dtype": np.float32,
    }
    assert IterativeRidge().get_params() == some | {
        "lam": 1.0,
        "tolerance": 1e-8,
        "max_iterations": 1000,
    }
    assert SparseGaussianProcessRegressor().get_params() == some | {
        "beta": 1.0,
        "learn": True,
        "fitc": False,
        "hold": (),
        "evaluations": 200,
    }


@pytest.mark.parametrize("make", CLASSES)
def test_clones_and_pickles(make):
    X, y, Z = data()
    model = make(kernel=1.0 * K).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(Z), model.predict(Z))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "kernel_")
    before = model.predict(Z)
    X[:], y[:] = 7.0, 7.0
    assert np.array_equal(model.predict(Z), before)


@pytest.mark.parametrize("make", CLASSES)
def test_regression_takes_one_example_several_targets_and_numerals(make):
    X, y, Z = data()
    assert get_tags(make()).target_tags.multi_output
    numerals = np.array([str(value) for value in y], dtype=object)
    ours = make(kernel=K).fit(X, y).predict(Z)
    assert np.array_equal(make(kernel=K).fit(X, numerals).predict(Z), ours)
    many = make(kernel=K).fit(X, np.column_stack([y, y])).predict(Z)
    assert many.shape == (len(Z), 2)
    if make is not SparseGaussianProcessRegressor:  # there is no noise to see
        one = make(kernel=K).fit([[1.0, 2.0]], [3.0])
        assert one.predict([[1.0, 2.0]]).shape == (1,)


@pytest.mark.parametrize("make", WITH_LANDMARKS)
def test_objects_and_sparse_rows_are_taken(make):
    words, y = ["ab", "abc", "bcd", "dcb", "cab"], np.arange(5.0)
    options = {"learn": False} if "learn" in make().get_params() else {}
    model = make(kernel=Spectrum(1), **options).fit(words, y)
    assert model.predict(["a", "d"]).shape == (2,)
    X, y, Z = data()
    k = Linear() + Constant(1.0)
    sparse = make(kernel=k, **options).fit(csr_array(X), y)
    dense = make(kernel=k, **options).fit(X, y)
    assert_allclose(sparse.predict(csr_array(Z)), dense.predict(Z), rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NystromRidge(lam=0.0), "lam must be > 0"),
        (FourierRidge(lam=0.0), "lam must be > 0"),
        (FourierRidge(M=3), "M must be even"),
        (FourierRidge(Linear()), "k must be a Gaussian"),
        (IterativeRidge(tolerance=0.0), "tolerance must be > 0"),
        (SparseGaussianProcessRegressor(beta=0.0), "beta must be > 0"),
        (SparseGaussianProcessRegressor(beta="1"), "beta must be a real"),
        (SparseGaussianProcessRegressor(hold="x"), "hold must name"),
        (SparseGaussianProcessRegressor(evaluations=0), "evaluations must"),
    ],
)
def test_parameters_are_checked_by_the_functions(model, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("make", CLASSES)
def test_a_fit_that_is_refused_leaves_nothing_half_fitted(make):
    """Whatever is wrong: data, a parameter, or what comes out in the end."""
    X, y, Z = data()
    wrong = X.copy()
    wrong[3, 1] = np.nan
    price = "beta" if "beta" in make().get_params() else "lam"
    refused = [
        ({}, wrong, y),
        ({}, X, np.full_like(y, np.inf)),
        ({}, X[:0], y[:0]),
        ({price: -1.0}, X, y),
        ({"M": 0}, X, y),
        ({"random_state": -1}, X, y),
    ]
    for change, inputs, targets in refused:
        model = make(kernel=K, **change)
        with pytest.raises(ValueError):
            model.fit(inputs, targets)
        with pytest.raises(NotFittedError):
            model.predict(Z)
    fitted = make(kernel=K).fit(X, y)
    before = fitted.predict(Z)
    with pytest.raises(ValueError, match=f"{price} must be > 0"):
        fitted.set_params(**{price: -1.0, "kernel": Gaussian(2.0)}).fit(X, y)
    assert np.array_equal(fitted.predict(Z), before)
    assert fitted.kernel_ == K or fitted.learned_.k == fitted.kernel_


def test_fewer_rows_than_features_are_enough():
    X, y, Z = data(N=4)
    exact = np.linalg.solve(K(X) + 0.2 * np.eye(4), y) @ K(X, Z)
    for make in (NystromRidge, IterativeRidge):
        model = make(K, lam=0.2, M=100).fit(X, y)
        assert_allclose(model.predict(Z), exact, rtol=1e-6)
    waves = FourierRidge(K, lam=0.2, M=20_000).fit(X, y)
    assert_allclose(waves.predict(Z), exact, atol=0.05)
