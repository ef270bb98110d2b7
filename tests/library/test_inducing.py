"""Inducing points: exact where they are all inputs, a bound elsewhere."""

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from kernelbook import gp, inducing, learning, nystrom
from kernelbook.exceptions import JitterWarning
from kernelbook.kernels import (
    ARDGaussian,
    Constant,
    Gaussian,
    Linear,
    Matern,
    Spectrum,
)

BETA = 8.0
K = 1.5 * Gaussian(0.8)
KERNELS = [
    K,
    ARDGaussian((0.8, 0.3)),
    2.0 * Matern(1.5, 0.9) + Constant(0.4),
    1.2 * Gaussian(0.8) * (Linear() + Constant(0.7)),
]


def data(N=40, Q=None, seed=0):
    rng = np.random.default_rng(seed)
    X, Z = 2 * rng.normal(size=(N, 2)), 3 * rng.normal(size=(9, 2))
    t = np.sin(X[:, 0]) + rng.normal(size=N) / np.sqrt(BETA)
    return X, t if Q is None else np.outer(t, 1 + np.arange(Q)), Z


@pytest.mark.parametrize("Q", [None, 1, 3])
def test_all_inputs_as_landmarks_give_the_exact_process(Q):
    X, t, Z = data(Q=Q)
    exact = gp.fit(K, X, t, BETA)
    for fitc in (False, True):
        model = inducing.fit(K, X, t, BETA, X, fitc=fitc)
        for ours, theirs in zip(
            inducing.predict(model, Z), gp.predict(exact, Z), strict=True
        ):
            assert ours.shape == theirs.shape
            assert_allclose(ours, theirs, atol=1e-8)
    bound = inducing.lower_bound(inducing.fit(K, X, t, BETA, X))
    assert bound == pytest.approx(gp.log_marginal_likelihood(exact), rel=1e-9)


@pytest.mark.parametrize("Q", [None, 2])
def test_the_bound_is_its_definition(Q):
    X, t, _ = data(Q=Q)
    G, L = nystrom.approximation(K, X, X[:7]), X[:7]
    density = multivariate_normal(cov=G + np.eye(40) / BETA)
    columns = t.reshape(40, -1).T
    gap = BETA * np.trace(K(X) - G) / 2
    expected = sum(density.logpdf(one) - gap for one in columns)
    model = inducing.fit(K, X, t, BETA, L)
    assert inducing.lower_bound(model) == pytest.approx(expected, rel=1e-10)
    assert inducing.bound(K, X, t, BETA, L).value == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_the_bound_is_below_the_evidence_and_rises_with_landmarks(k, seed):
    X, t, _ = data(seed=seed)
    exact = gp.log_marginal_likelihood(gp.fit(k, X, t, BETA))
    bounds = [
        inducing.lower_bound(inducing.fit(k, X, t, BETA, X[:M]))
        for M in (1, 3, 10, 20)
    ]
    assert (np.diff([*bounds, exact + 1e-9]) >= 0).all()
    assert bounds[0] < exact - 1


@pytest.mark.parametrize("Q", [None, 2])
@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_the_gradient_is_that_of_finite_differences(k, Q):
    X, t, _ = data(Q=Q)
    L, step = X[:6] + 0.1, 1e-5
    gradient = inducing.bound(k, X, t, BETA, L).gradient
    assert gradient.keys() == {*k.parameters(), "beta"}

    def at(name, factor):
        beta = BETA * factor if name == "beta" else BETA
        inside = {n: p * factor for n, p in k.parameters().items()}
        inside = {name: inside[name]} if name != "beta" else {}
        model = inducing.fit(k.with_parameters(inside), X, t, beta, L)
        return inducing.lower_bound(model)

    for name, slope in gradient.items():
        up, down = at(name, np.exp(step)), at(name, np.exp(-step))
        assert slope == pytest.approx((up - down) / (2 * step), 1e-5, 1e-5)


def test_the_gradient_is_that_of_the_evidence_for_all_inputs():
    X, t, _ = data(20)
    ours = inducing.bound(K, X, t, BETA, X)
    exact = learning.evidence(K, X, t, BETA)
    assert ours.value == pytest.approx(exact.value)
    for name, slope in exact.gradient.items():
        assert ours.gradient[name] == pytest.approx(slope, rel=1e-5)


def test_rows_beyond_one_piece_are_met(monkeypatch):
    X, t, Z = data()
    given = K, X, t, BETA, X[:5]
    before = (
        inducing.bound(*given),
        inducing.predict(inducing.fit(*given, fitc=True), Z),
    )
    monkeypatch.setattr("kernelbook._normal_equations.ENTRIES", 20)
    monkeypatch.setattr("kernelbook._normal_equations.LEAST_ROWS", 4)
    after = (
        inducing.bound(*given),
        inducing.predict(inducing.fit(*given, fitc=True), Z),
    )
    assert after[0].value == pytest.approx(before[0].value)
    for name, slope in before[0].gradient.items():
        assert after[0].gradient[name] == pytest.approx(slope)
    assert_allclose(np.array(after[1]), np.array(before[1]), rtol=1e-9)


def test_predictions_are_those_of_the_matrices():
    X, t, Z = data()
    L = X[:7]
    C, W, Cz = K(X, L), K(L), K(Z, L)
    Sigma = np.linalg.inv(W + BETA * C.T @ C)
    mean = BETA * Cz @ Sigma @ C.T @ t
    regressors = np.diag(Cz @ Sigma @ Cz.T)
    missing = K.diagonal(Z) - np.diag(Cz @ np.linalg.solve(W, Cz.T))
    model = inducing.fit(K, X, t, BETA, L)
    full = inducing.predict(model, Z)
    plain = inducing.subset_of_regressors(model, Z)
    for found in (full, plain):
        assert_allclose(found.mean, mean, atol=1e-10)
        assert_allclose(found.noisy_variance, found.latent_variance + 1 / BETA)
    assert_allclose(plain.latent_variance, regressors, atol=1e-10)
    assert_allclose(full.latent_variance, regressors + missing, atol=1e-10)
    other = inducing.predict(model, Z, beta=2.0)
    assert_allclose(other.noisy_variance, full.latent_variance + 0.5)


def test_far_away_only_the_corrected_variance_is_the_prior():
    X, t, _ = data()
    model = inducing.fit(K, X, t, BETA, X[:7])
    far = [[1e3, 1e3]]
    assert inducing.predict(model, far).latent_variance == [1.5]
    assert inducing.subset_of_regressors(model, far).latent_variance == [0.0]


def test_fitc_is_a_process_with_the_missing_variance_as_noise():
    X, t, Z = data()
    L = X[:7]
    G = nystrom.approximation(K, X, L)
    noise = 1 / BETA + K.diagonal(X) - np.diag(G)
    phi = nystrom.feature_map(K, L)
    a = np.linalg.solve(G + np.diag(noise), t)
    S = phi(Z) @ phi(X).T
    variance = K.diagonal(Z) - np.diag(
        S @ np.linalg.solve(G + np.diag(noise), S.T)
    )
    found = inducing.predict(inducing.fit(K, X, t, BETA, L, fitc=True), Z)
    assert_allclose(found.mean, S @ a, atol=1e-10)
    assert_allclose(found.latent_variance, variance, atol=1e-10)
    two = inducing.fit(K, X, np.column_stack([t, 2 * t]), BETA, L, fitc=True)
    assert_allclose(inducing.predict(two, Z).mean[:, 1], 2 * S @ a)


def test_a_process_with_noise_of_their_own_has_no_bound():
    X, t, _ = data()
    model = inducing.fit(K, X, t, BETA, X[:7], fitc=True)
    with pytest.raises(ValueError, match="model must be fitted with fitc=Fal"):
        inducing.lower_bound(model)


def test_learning_climbs_the_bound():
    X, t, _ = data(60)
    learned = inducing.learn(K, X, t, 1.0, X[:15])
    assert learned.status == "converged"
    top = inducing.bound(learned.k, X, t, learned.beta, X[:15])
    assert learned.value == pytest.approx(top.value)
    assert learned.value > inducing.bound(K, X, t, 1.0, X[:15]).value + 1
    assert max(map(abs, top.gradient.values())) < 0.05
    exact = gp.log_marginal_likelihood(gp.fit(learned.k, X, t, learned.beta))
    assert learned.value < exact


def test_learning_takes_the_options_of_learn():
    X, t, _ = data(20)
    learned = inducing.learn(
        K, X, t, 1.0, X[:5], hold=["beta", "c"], restarts=2, rng=3, reach=2.0
    )
    assert (learned.beta, learned.k.c, len(learned.tries)) == (1.0, 1.5, 3)
    starts = [one.start["k1.gamma"] for one in learned.tries[1:]]
    assert max(np.abs(np.log(np.array(starts) / 0.8))) <= np.log(2)
    with pytest.warns(match="ended before its goal"):
        short = inducing.learn(K, X, t, 1.0, X[:5], evaluations=1)
    assert short.status == "max_iterations"


def test_learning_has_the_defaults_of_learn():
    X, t, _ = data(10)
    inducing.learn(K, X, t, 1.0, X[:5], hold=["c", "beta"])
    ours = signature(inducing.learn).parameters
    theirs = signature(learning.learn).parameters
    for name in ("hold", "restarts", "reach", "rng", "evaluations"):
        assert ours[name].default == theirs[name].default
    assert ours["progress"].default is True


def test_learning_is_reported_if_wanted(monkeypatch, capsys):
    monkeypatch.setattr("kernelbook._progress.EVERY", -1.0)
    X, t, _ = data(10)
    inducing.learn(K, X, t, 1.0, X[:5])
    assert "learn: " in capsys.readouterr().err
    inducing.learn(K, X, t, 1.0, X[:5], progress=False)
    assert capsys.readouterr().err == ""


def test_variances_are_not_negative_where_all_is_known():
    X, t, _ = data(60)
    model = inducing.fit(Gaussian(5.0), X, t, 1e18, X)
    for predict in (inducing.predict, inducing.subset_of_regressors):
        assert predict(model, X).latent_variance.min() >= 0


def test_inducing_points_may_be_objects():
    words, t = ["ab", "abc", "bcd", "dcb"], [1.0, 2.0, 3.0, 4.0]
    k = 1.0 * Spectrum(1)
    ours = inducing.bound(k, words, t, BETA, words[:3])
    model = inducing.fit(k, words, t, BETA, words[:3])
    assert ours.value == pytest.approx(inducing.lower_bound(model))
    assert inducing.predict(model, ["a"]).mean.shape == (1,)


def test_landmarks_that_coincide_are_reported_unless_not_wanted():
    X, t, Z = data()
    twice = np.vstack([X[:5], X[:5]])
    with pytest.warns(JitterWarning):
        model = inducing.fit(K, X, t, BETA, twice)
    once = inducing.fit(K, X, t, BETA, X[:5])
    assert_allclose(
        inducing.predict(model, Z).mean, inducing.predict(once, Z).mean,
        rtol=1e-6,
    )  # fmt: skip
    inducing.fit(K, X, t, BETA, twice, report_jitter=False)
    with pytest.warns(JitterWarning):
        inducing.bound(K, X, t, BETA, twice)
    inducing.bound(K, X, t, BETA, twice, report_jitter=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"beta": 0.0}, "beta must be > 0, got 0.0"),
        ({"landmarks": [[0.0]]}, "X must have the 1 columns of the landmarks"),
        ({"t": [1.0]}, "t must have length 40, got 1"),
        ({"k": None}, "k must be a Kernel, got NoneType"),
    ],
)
def test_bad_input_is_named(change, message):
    X, t, _ = data()
    given = {"k": K, "X": X, "t": t, "beta": 1.0, "landmarks": X[:3]} | change
    for function in (inducing.fit, inducing.bound):
        with pytest.raises(ValueError, match=message):
            function(**given)


def test_bad_input_of_predictions_is_named():
    X, t, Z = data()
    model = inducing.fit(K, X, t, BETA, X[:3])
    with pytest.raises(ValueError, match="Z must have the 2 columns"):
        inducing.predict(model, [[1.0]])
    with pytest.raises(ValueError, match="beta must be > 0"):
        inducing.predict(model, Z, beta=-1.0)
    assert (model.N, model.status) == (40, "converged")
