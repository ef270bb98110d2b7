"""Processes with a mean, noise per point, several outputs, other inputs."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal

from kernelbook import features, gp, learning
from kernelbook.kernels import Constant, Gaussian, Linear, Spectrum

K = 1.3 * Gaussian(0.7)
BETA = 5.0


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((12, 2)), rng.standard_normal((5, 2))
    return X, rng.standard_normal(12) + 3.0, Z


def slope(X):
    return X[:, 0] - 2.0


def same(one, other):
    for found, meant in zip(one, other, strict=True):
        assert_allclose(found, meant, rtol=1e-9, atol=1e-11)


# -------------------------------------------------------------------- a mean


@pytest.mark.parametrize("mean", [3.0, slope], ids=["number", "function"])
def test_a_known_mean_is_taken_away_and_put_back(data, mean):
    X, t, Z = data
    at_X, at_Z = (mean(X), mean(Z)) if callable(mean) else (mean, mean)
    ours = gp.fit(K, X, t, BETA, mean)
    plain = gp.fit(K, X, t - at_X, BETA)
    prediction, without = gp.predict(ours, Z), gp.predict(plain, Z)
    assert_allclose(prediction.mean, without.mean + at_Z)
    assert_allclose(gp.mean(ours, Z), prediction.mean)
    same(prediction[1:], without[1:])
    assert_allclose(gp.loo(ours).mean, gp.loo(plain).mean + at_X)
    assert_allclose(
        gp.log_marginal_likelihood(ours), gp.log_marginal_likelihood(plain)
    )
    draws = gp.sample(ours, Z, 3, rng=1)
    assert_allclose(draws, gp.sample(plain, Z, 3, rng=1) + at_Z)
    far = gp.predict(ours, Z + 100).mean
    assert_allclose(far, mean(Z + 100) if callable(mean) else mean)


def flat_prior(X, t, Z, phi):
    """Rasmussen & Williams (2.40)-(2.45), with inverses."""
    C = np.linalg.inv(K(X) + np.eye(len(X)) / BETA)
    H, H_new, k = phi(X), phi(Z), K(X, Z)
    A = np.linalg.inv(H.T @ C @ H)
    w = A @ H.T @ C @ t
    R = H_new.T - H.T @ C @ k
    cov = K(Z) - k.T @ C @ k + R.T @ A @ R
    P = C - C @ H @ A @ H.T @ C
    sign, log_det = np.linalg.slogdet(H.T @ C @ H)
    value = -0.5 * (
        t @ P @ t
        - np.linalg.slogdet(C)[1]
        + sign * log_det
        + (len(t) - H.shape[1]) * np.log(2 * np.pi)
    )
    return H_new @ w + k.T @ C @ (t - H @ w), cov, value


def parabola(X):
    return np.column_stack([np.ones(len(X)), X, X[:, 0] ** 2])


@pytest.mark.parametrize("phi", [features.with_bias, parabola])
def test_a_trend_is_the_textbooks(data, phi):
    X, t, Z = data
    m, cov, value = flat_prior(X, t, Z, phi)
    model = gp.fit(K, X, t, BETA, gp.Trend(phi))
    prediction = gp.predict(model, Z)
    assert_allclose(prediction.mean, m)
    assert_allclose(gp.mean(model, Z), m)
    assert_allclose(prediction.latent_variance, np.diag(cov))
    assert_allclose(prediction.noisy_variance, np.diag(cov) + 1 / BETA)
    assert_allclose(gp.covariance(model, Z), cov, atol=1e-12)
    assert_allclose(gp.log_marginal_likelihood(model), value)


def test_a_trend_is_the_limit_of_a_wide_prior_on_its_weights(data):
    X, t, Z = data
    wide = K + 1e7 * (Linear() + Constant(1.0))
    limit = gp.predict(gp.fit(wide, X, t, BETA), Z)
    ours = gp.predict(gp.fit(K, X, t, BETA, gp.Trend()), Z)
    for found, meant in zip(ours, limit, strict=True):
        assert_allclose(found, meant, rtol=1e-5)


def test_leaving_one_out_under_a_trend_equals_refitting(data):
    X, t, _ = data
    model = gp.fit(K, X, t, BETA, gp.Trend())
    left_out = gp.loo(model)
    for n in range(len(t)):
        rest = np.arange(len(t)) != n
        alone = gp.fit(K, X[rest], t[rest], BETA, gp.Trend())
        m, latent, noisy = gp.predict(alone, X[[n]])
        assert_allclose(left_out.mean[n], m[0])
        assert_allclose(left_out.latent_variance[n], latent[0])
        assert_allclose(left_out.noisy_variance[n], noisy[0])


def test_more_data_on_a_line_far_away_are_predicted_by_the_trend():
    X = np.linspace(0, 3, 20)[:, None]
    model = gp.fit(K, X, 5 + 2 * X[:, 0], 100.0, gp.Trend())
    assert_allclose(model.weights.w, [5.0, 2.0], atol=1e-9)
    assert_allclose(gp.mean(model, [[50.0]]), 105.0, rtol=1e-9)


# ------------------------------------------------------------ noise per point


def test_a_repeated_target_equals_its_mean_with_more_precision(data):
    X, t, Z = data
    often = np.repeat([0, 3, 3 + 1], [2, 3, 1])
    repeated = gp.fit(K, X[often], t[often], BETA)
    once = gp.fit(K, X[[0, 3, 4]], t[[0, 3, 4]], BETA * np.array([2, 3, 1]))
    same(gp.predict(once, Z, beta=BETA), gp.predict(repeated, Z))


def test_noise_per_point_stands_on_the_diagonal(data):
    X, t, Z = data
    beta = np.linspace(0.5, 20, len(t))
    model = gp.fit(K, X, t, beta)
    C = K(X) + np.diag(1 / beta)
    assert_allclose(model.a, np.linalg.solve(C, t))
    assert_allclose(
        gp.log_marginal_likelihood(model),
        multivariate_normal(cov=C).logpdf(t),
    )
    new = np.array([1.0, 2.0, 4.0, 5.0, 8.0])
    noisy = gp.predict(model, Z, beta=new).noisy_variance
    latent = gp.predict(model, Z, beta=np.inf).noisy_variance
    assert_allclose(noisy - latent, [1, 0.5, 0.25, 0.2, 0.125])
    assert_allclose(
        gp.loo(model).noisy_variance, 1 / np.diag(np.linalg.inv(C))
    )
    equal = gp.fit(K, X, t, np.full(len(t), BETA))
    assert_allclose(equal.a, gp.fit(K, X, t, BETA).a)


def test_new_noise_must_be_told_where_every_target_had_its_own(data):
    X, t, Z = data
    model = gp.fit(K, X, t, np.full(len(t), BETA))
    with pytest.raises(ValueError, match=r"beta must be given for new"):
        gp.predict(model, Z)
    with pytest.raises(ValueError, match=r"beta must be given for new"):
        gp.append(model, Z[0], 1.0)
    with pytest.raises(ValueError, match="beta must have length 12, got 2"):
        gp.fit(K, X, t, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"beta must be > 0, got 0\.0"):
        gp.fit(K, X, t, [0.0] * 12)
    with pytest.raises(ValueError, match="beta must be > 0, got -1"):
        gp.predict(gp.fit(K, X, t, BETA), Z, beta=-1)


# ------------------------------------------------------------- several outputs


@pytest.mark.parametrize("mean", [0.0, 3.0, slope, gp.Trend()])
def test_outputs_share_a_factor_and_equal_separate_fits(data, mean):
    X, t, Z = data
    T = np.column_stack([t, t**2, np.sin(t)])
    joint = gp.fit(K, X, T, BETA, mean)
    apart = [gp.fit(K, X, column, BETA, mean) for column in T.T]
    assert gp.outputs(joint) == 3 and gp.outputs(apart[0]) == 1
    assert_allclose(joint.a, np.column_stack([one.a for one in apart]))
    predictions = [gp.predict(one, Z) for one in apart]
    found = gp.predict(joint, Z)
    means = np.column_stack([one.mean for one in predictions])
    assert_allclose(found.mean, means)
    assert_allclose(gp.mean(joint, Z), means)
    assert_allclose(found.latent_variance, predictions[0].latent_variance)
    values = [gp.log_marginal_likelihood(one) for one in apart]
    assert_allclose(gp.log_marginal_likelihood(joint), sum(values))
    assert_allclose(
        gp.loo(joint).mean, np.column_stack([gp.loo(o).mean for o in apart])
    )
    scores = [learning.log_pseudo_likelihood(one) for one in apart]
    assert_allclose(learning.log_pseudo_likelihood(joint), sum(scores))


def test_draws_of_several_outputs_are_independent_with_one_covariance(data):
    X, t, Z = data
    joint = gp.fit(K, X, np.column_stack([t, -t]), BETA)
    draws = gp.sample(joint, Z, 20_000, rng=0)
    assert draws.shape == (20_000, 5, 2)
    cov = gp.covariance(joint, Z)
    assert_allclose(draws.mean(axis=0), gp.mean(joint, Z), atol=0.03)
    for q in range(2):
        assert_allclose(np.cov(draws[:, :, q].T), cov, atol=0.03)
    cross = np.cov(draws.reshape(20_000, -1).T)[::2, 1::2]
    assert_allclose(cross, 0.0, atol=0.03)


# ------------------------------------------------------------------- gradients


@pytest.mark.parametrize("mean", [0.0, 3.0, slope, gp.Trend()])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("per_point", [False, True])
def test_evidence_has_the_slopes_of_its_value(data, mean, columns, per_point):
    X, t, _ = data
    T = t if columns == 1 else np.column_stack([t, np.cos(t)])
    beta = np.linspace(1, 9, len(t)) if per_point else BETA

    def value(k, beta=beta):
        return gp.log_marginal_likelihood(gp.fit(k, X, T, beta, mean))

    found, gradient = learning.evidence(K, X, T, beta, mean)
    assert_allclose(found, value(K))
    h = 1e-5
    for name, p in K.parameters().items():
        up = value(K.with_parameters({name: p * np.exp(h)}))
        down = value(K.with_parameters({name: p * np.exp(-h)}))
        assert_allclose(gradient[name], (up - down) / (2 * h), rtol=1e-5)
    up, down = value(K, beta * np.exp(h)), value(K, beta * np.exp(-h))
    assert_allclose(gradient["beta"], (up - down) / (2 * h), rtol=1e-5)


def test_learning_keeps_noise_per_point_and_the_mean(data):
    X, t, _ = data
    beta = np.linspace(1, 9, len(t))
    learned = learning.learn(K, X, t, beta, gp.Trend())
    assert np.array_equal(learned.beta, beta)
    assert set(learned.tries[0].end) == {"c", "k1.gamma"}
    assert learned.value >= learning.evidence(K, X, t, beta, gp.Trend()).value


# ---------------------------------------------------------------------- append


@pytest.mark.parametrize("mean", [0.0, 3.0, slope, gp.Trend()])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("per_point", [False, True])
def test_append_equals_fitting_all(data, mean, columns, per_point):
    X, t, Z = data
    T = t if columns == 1 else np.column_stack([t, np.cos(t)])
    beta = np.linspace(1, 9, len(t)) if per_point else BETA
    some = gp.fit(K, X[:-1], T[:-1], beta[:-1] if per_point else beta, mean)
    grown = gp.append(some, X[-1], T[-1], beta[-1] if per_point else None)
    whole = gp.fit(K, X, T, beta, mean)
    assert_allclose(grown.a, whole.a, rtol=1e-8, atol=1e-10)
    assert_allclose(grown.beta, whole.beta)
    same(gp.predict(grown, Z, 1.0), gp.predict(whole, Z, 1.0))


def test_an_example_with_other_noise_makes_noise_per_point(data):
    X, t, _ = data
    grown = gp.append(gp.fit(K, X[:-1], t[:-1], BETA), X[-1], t[-1], beta=2.0)
    whole = gp.fit(K, X, t, [BETA] * 11 + [2.0])
    assert_allclose(grown.a, whole.a, rtol=1e-8, atol=1e-10)
    assert_allclose(grown.beta, whole.beta)
    some = gp.fit(K, X[:-1], t[:-1], BETA)
    assert gp.append(some, X[-1], t[-1], BETA).beta == BETA
    listed = gp.append(some, X[-1], t[-1], beta=[2.0])
    assert np.array_equal(listed.a, grown.a)


def test_the_least_of_the_precisions_must_be_positive(data):
    X, t, _ = data
    with pytest.raises(ValueError, match="beta must be > 0, got -1"):
        gp.fit(K, X, t, [BETA] * 11 + [-1.0])


def test_a_process_put_together_by_hand_has_no_mean(data):
    X, t, Z = data
    made = gp.fit(K, X, t, BETA)
    bare = gp.GP(K, X, t, BETA, made.factor, made.a)
    same(gp.predict(bare, Z), gp.predict(made, Z))


def test_two_threads_may_append_to_one_model():
    """Each gets its own column, whoever comes first."""
    rng = np.random.default_rng(0)
    X, t = rng.standard_normal((40, 2)), rng.standard_normal(40)
    new = rng.standard_normal((8, 2))
    for _ in range(30):
        start = gp.append(gp.fit(K, X, t, BETA), X[0] + 1, 1.0)
        with ThreadPoolExecutor(8) as pool:
            grown = list(pool.map(partial(gp.append, start, t=0.5), new))
        for x, one in zip(new, grown, strict=True):
            whole = gp.fit(
                K, np.vstack([start.X, x]), np.append(start.t, 0.5), BETA
            )
            assert_allclose(one.factor.U, whole.factor.U, atol=1e-10)


# ---------------------------------------------------------------- other inputs


def test_sparse_inputs_give_what_dense_ones_give():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((15, 30)) < 0.2, rng.random((15, 30)), 0.0)
    t, k = rng.standard_normal(15), Linear() + 0.5 * Linear() * Linear()
    X, Z = dense[:12], dense[12:]
    ours = gp.fit(k, csr_array(X), t[:12], BETA)
    theirs = gp.fit(k, X, t[:12], BETA)
    assert_allclose(ours.a, theirs.a)
    same(gp.predict(ours, csr_array(Z)), gp.predict(theirs, Z))
    same(gp.predict(ours, Z), gp.predict(theirs, Z))
    same(
        gp.append(ours, csr_array(Z[:1]), 1.0).factor.U,
        gp.append(theirs, Z[0], 1.0).factor.U,
    )
    assert_allclose(gp.append(ours, Z[0], 1.0).a, gp.append(theirs, Z[0], 1).a)
    value, gradient = learning.evidence(k, csr_array(X), t[:12], BETA)
    assert (value, gradient) == (
        pytest.approx(learning.evidence(k, X, t[:12], BETA).value),
        pytest.approx(learning.evidence(k, X, t[:12], BETA).gradient),
    )
    with pytest.raises(ValueError, match="X must be dense here, got a sparse"):
        gp.fit(Gaussian(1.0), csr_array(X), t[:12], BETA)


def test_a_trend_on_strings_takes_their_own_features():
    words = ["a", "ab", "abb", "b", "bba", "abab"]

    def length(strings):
        return np.array([[1.0, len(s)] for s in strings])

    t = [1.0 + 2 * len(word) for word in words]
    model = gp.fit(0.1 * Spectrum(1), words, t, 10.0, gp.Trend(length))
    assert_allclose(gp.mean(model, ["a" * 30]), 61.0, rtol=1e-6)


def test_a_string_can_be_appended():
    words, t = ["a", "ab", "abb", "b"], [1.0, 2.0, 3.0, 4.0]
    grown = gp.append(gp.fit(Spectrum(1), words[:3], t[:3], BETA), "b", 4.0)
    assert [*grown.X] == words
    assert_allclose(grown.a, gp.fit(Spectrum(1), words, t, BETA).a)


def test_appended_targets_may_be_a_list_of_the_right_length(data):
    X, t, Z = data
    model = gp.fit(K, X, np.column_stack([t, -t]), BETA)
    grown = gp.append(model, Z[0], [1.0, 2.0])
    assert np.array_equal(grown.t[-1], [1.0, 2.0])
    with pytest.raises(ValueError, match="t must have length 2, got 3"):
        gp.append(model, Z[0], [1.0, 2.0, 3.0])


def test_a_part_without_the_trend_keeps_the_doubt_about_its_weights(data):
    X, t, Z = data
    model = gp.fit(K, X, t, BETA, gp.Trend())
    m, latent = gp.posterior(model, K, Z, with_mean=False)
    C, H, k = K(X) + np.eye(len(t)) / BETA, features.with_bias(X), K(X, Z)
    C = np.linalg.inv(C)
    P = C - C @ H @ np.linalg.inv(H.T @ C @ H) @ H.T @ C
    assert_allclose(m, k.T @ P @ t)
    assert_allclose(latent, np.diag(K(Z) - k.T @ P @ k))


def test_a_mean_may_come_as_a_list(data):
    X, t, Z = data
    listed = gp.fit(K, X, t, BETA, lambda X: [2.0] * len(X))
    same(gp.predict(listed, Z), gp.predict(gp.fit(K, X, t, BETA, 2.0), Z))


def test_a_model_survives_pickling(data):
    X, t, Z = data
    model = gp.append(gp.fit(K, X, t, BETA, gp.Trend()), X[0], 1.0)
    again = pickle.loads(pickle.dumps(model))
    same(gp.predict(again, Z), gp.predict(model, Z))
    assert_allclose(gp.append(again, Z[0], 1.0).a, gp.append(model, Z[0], 1).a)


def test_nothing_of_the_callers_is_kept(data):
    X, t, Z = data
    beta = np.full(len(t), BETA)
    model = gp.fit(K, X, t, beta)
    before = gp.predict(model, Z, 1.0)
    X += 1
    t += 1
    beta += 1
    same(gp.predict(model, Z, 1.0), before)


@pytest.mark.parametrize(
    ("mean", "message"),
    [
        ("linear", "mean must be a real number, got 'linear'"),
        (np.nan, "mean must be finite"),
        (lambda X: [np.nan] * len(X), r"mean\(X\) must be finite"),
        (lambda X: X, r"mean\(X\) must have one row|shapes|broadcast"),
        (gp.Trend(lambda X: X[:3]), r"phi\(X\) of the trend must have one"),
        (
            gp.Trend(lambda X: np.ones((len(X), 2))),
            "linearly independent on X, got rank 1 of 2",
        ),
    ],
)
def test_a_mean_that_is_none_is_refused(data, mean, message):
    X, t, _ = data
    with pytest.raises(ValueError, match=message):
        gp.fit(K, X, t, BETA, mean)
