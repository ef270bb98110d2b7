"""Generative classifiers: densities, scikit-learn, simulation, bad input."""

import pickle
import tracemalloc
import warnings
from dataclasses import fields, replace

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, sparse, stats
from scipy.optimize import minimize
from sklearn import discriminant_analysis, naive_bayes

from kernelbook import bayes

problems = st.tuples(
    st.integers(2, 4), st.integers(1, 4), st.integers(0, 10**6)
)


def real_data(problem):
    """K classes of unlike size, mean and covariance; new inputs; a rng."""
    K, D, seed = problem
    rng = np.random.default_rng(seed)
    t = np.repeat(np.arange(K), rng.integers(3 * D + 3, 30, K))
    A = 0.4 * rng.standard_normal((K, D, D)) + 2 * np.eye(D)
    X = np.einsum("nd,nde->ne", rng.standard_normal((len(t), D)), A[t])
    X += 2 * rng.standard_normal((K, D))[t]
    order = rng.permutation(len(t))
    return X[order], t[order], rng.standard_normal((7, D)), rng


def word_data(problem):
    K, D, seed = problem
    D = D + 1
    rng = np.random.default_rng(seed)
    t = rng.permutation(np.repeat(np.arange(K), rng.integers(1, 8, K)))
    rates = rng.gamma(1.0, 2.0, (K, D))
    return rng.poisson(rates[t]), t, rng.poisson(2.0, (7, D)), rng


GAUSSIAN = [bayes.fit_lda, bayes.fit_qda, bayes.fit_gaussian_nb]


def all_models():
    X, t, Z, _ = real_data((3, 2, 5))
    counts, s, new, _ = word_data((3, 3, 6))
    models = [(fit(X, t), Z) for fit in GAUSSIAN]
    models.append((bayes.fit_multinomial_nb(counts, s), new))
    models.append((bayes.fit_bernoulli_nb(counts > 0, s), new > 0))
    return models


each_model = pytest.mark.parametrize(
    ("model", "Z"), all_models(), ids=lambda m: type(m).__name__
)


# Densities and Bayes' rule


@given(problems)
def test_lda_and_qda_likelihoods_are_scipys_normal_densities(problem):
    X, t, Z, _ = real_data(problem)
    lda, qda = bayes.fit_lda(X, t), bayes.fit_qda(X, t)
    for k in range(t.max() + 1):
        shared = stats.multivariate_normal(lda.mu[k], lda.Sigma)
        own = stats.multivariate_normal(qda.mu[k], qda.Sigma[k])
        assert_allclose(
            lda.log_likelihood(Z)[:, k], np.ravel(shared.logpdf(Z)), rtol=1e-6
        )
        assert_allclose(
            qda.log_likelihood(Z)[:, k], np.ravel(own.logpdf(Z)), rtol=1e-6
        )


def test_naive_likelihoods_are_products_over_the_features():
    (nb, Z), (multinomial, n), (bernoulli, x) = all_models()[2:]
    for k in range(3):
        slow = [
            np.prod(stats.norm.pdf(z, nb.mu[k], np.sqrt(nb.var[k]))) for z in Z
        ]
        assert_allclose(np.exp(nb.log_likelihood(Z)[:, k]), slow)
        slow = [np.prod(multinomial.theta[k] ** row) for row in n]
        assert_allclose(np.exp(multinomial.log_likelihood(n)[:, k]), slow)
        slow = [
            np.prod(stats.bernoulli.pmf(row, bernoulli.theta[k])) for row in x
        ]
        assert_allclose(np.exp(bernoulli.log_likelihood(x)[:, k]), slow)


def test_multinomial_likelihood_is_scipys_without_the_number_of_orders():
    model, n = all_models()[3]
    for k in range(3):
        total = n.sum(axis=1)
        pmf = stats.multinomial.logpmf(n, total, model.theta[k])
        uniform = np.full(n.shape[1], 1 / n.shape[1])
        orders = stats.multinomial.logpmf(n, total, uniform) + total * np.log(
            n.shape[1]
        )
        assert_allclose(model.log_likelihood(n)[:, k], pmf - orders)


@each_model
def test_posterior_is_joint_over_evidence(model, Z):
    joint = model.pi * np.exp(model.log_likelihood(Z))
    evidence = joint.sum(axis=1)
    assert_allclose(np.exp(bayes.log_joint(model, Z)), joint)
    assert_allclose(np.exp(bayes.log_evidence(model, Z)), evidence)
    posterior = np.exp(bayes.log_posterior(model, Z))
    assert_allclose(posterior, joint / evidence[:, None])
    assert np.array_equal(bayes.predict(model, Z), joint.argmax(axis=1))


def test_posterior_survives_joints_that_underflow():
    X, t, _, _ = real_data((3, 2, 5))
    far = np.array([[1e3, -2e3]])
    for fit in GAUSSIAN:
        model = fit(X, t)
        assert not np.exp(bayes.log_joint(model, far)).any()
        assert_allclose(np.exp(bayes.log_posterior(model, far)).sum(), 1)
    counts = np.full((1, 4), 10_000)
    model = bayes.fit_multinomial_nb(*word_data((3, 3, 6))[:2])
    assert not np.exp(bayes.log_joint(model, counts)).any()
    assert_allclose(np.exp(bayes.log_posterior(model, counts)).sum(), 1)


def test_a_class_of_prior_zero_is_never_predicted():
    model, Z = all_models()[0]
    without = replace(model, pi=np.array([0.5, 0.5, 0.0]))
    posterior = np.exp(bayes.log_posterior(without, Z))
    assert_allclose(posterior[:, 2], 0)
    assert_allclose(posterior.sum(axis=1), 1)


# Estimators


def test_priors_are_frequencies():
    t = [2, 0, 0, 1, 2, 2, 2]
    assert_allclose(bayes.class_priors(t), [2 / 7, 1 / 7, 4 / 7])


@given(problems)
def test_covariances_are_numpys(problem):
    X, t, _, _ = real_data(problem)
    qda = bayes.fit_qda(X, t, lam=0.3)
    pooled = np.zeros_like(qda.Sigma[0])
    for k, pi in enumerate(qda.pi):
        own = np.atleast_2d(np.cov(X[t == k].T, bias=True))
        own += 0.3 * np.eye(len(own))
        assert_allclose(qda.Sigma[k], own, atol=1e-12)
        assert_allclose(qda.mu[k], X[t == k].mean(axis=0), atol=1e-12)
        pooled += pi * own
    lda = bayes.fit_lda(X, t, lam=0.3)
    assert_allclose(lda.Sigma, pooled, atol=1e-12)


def test_estimates_maximise_the_joint_likelihood():
    """No estimator is typed in: an optimiser finds the same maximum."""
    X, t, _, _ = real_data((2, 1, 8))

    def objective(p, shared):
        pi1 = 1 / (1 + np.exp(-p[0]))
        pi = np.array([1 - pi1, pi1])
        mu, var = p[1:3, None], np.exp(p[[3, 3 if shared else 4]])
        model = bayes.QDA(pi, mu, var[:, None, None])
        return -bayes.log_joint(model, X)[np.arange(len(t)), t].sum()

    for fit, shared in [(bayes.fit_lda, True), (bayes.fit_qda, False)]:
        model = fit(X, t)
        best = minimize(objective, np.zeros(5), args=(shared,), tol=1e-10)
        reached = -bayes.log_joint(model, X)[np.arange(len(t)), t].sum()
        assert_allclose(best.fun, reached, rtol=1e-8)
        assert_allclose(best.x[1:3], model.mu[:, 0], rtol=1e-3)
        assert_allclose(np.exp(best.x[3]), np.ravel(model.Sigma)[0], rtol=1e-3)


def test_gaussian_nb_is_qda_without_the_correlations():
    X, t, Z, _ = real_data((3, 4, 2))
    qda, nb = bayes.fit_qda(X, t, lam=0.2), bayes.fit_gaussian_nb(X, t, 0.2)
    diagonal = np.stack([np.diag(np.diag(S)) for S in qda.Sigma])
    assert_allclose(
        nb.log_likelihood(Z), replace(qda, Sigma=diagonal).log_likelihood(Z)
    )


def test_word_estimates_count_by_hand():
    X = [[2, 1, 0], [0, 1, 0], [0, 0, 5]]
    t = [0, 0, 1]
    multinomial = bayes.fit_multinomial_nb(X, t, alpha=0.5)
    assert_allclose(
        multinomial.theta,
        [[2.5 / 5.5, 2.5 / 5.5, 0.5 / 5.5], [1 / 13, 1 / 13, 11 / 13]],
    )
    bernoulli = bayes.fit_bernoulli_nb(np.array(X) > 0, t, alpha=0.5)
    assert_allclose(
        bernoulli.theta, [[1.5 / 3, 2.5 / 3, 0.5 / 3], [0.25, 0.25, 0.75]]
    )


# scikit-learn, where the definitions coincide


@given(problems)
@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_lda_is_scikit_learns(solver, problem):
    X, t, Z, _ = real_data(problem)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver=solver)
    ours = bayes.log_posterior(bayes.fit_lda(X, t), Z)
    expected = theirs.fit(X, t).predict_log_proba(Z)
    assert_allclose(ours, expected, rtol=1e-6, atol=1e-8)


@given(problems)
def test_qda_is_scikit_learns(problem):
    X, t, Z, _ = real_data(problem)
    theirs = discriminant_analysis.QuadraticDiscriminantAnalysis(
        tol=1e-12  # theirs has the units of X squared
    ).fit(X, t)
    ours = bayes.fit_qda(X, t)
    assert_allclose(
        bayes.log_posterior(ours, Z),
        theirs.predict_log_proba(Z),
        rtol=1e-6,
        atol=1e-8,
    )


@given(problems)
def test_gaussian_nb_is_scikit_learns_with_its_smoothing(problem):
    X, t, Z, _ = real_data(problem)
    for smoothing in (0.0, 0.1):
        theirs = naive_bayes.GaussianNB(var_smoothing=smoothing).fit(X, t)
        lam = smoothing * X.var(axis=0).max()
        ours = bayes.fit_gaussian_nb(X, t, lam)
        assert_allclose(
            bayes.log_posterior(ours, Z),
            theirs.predict_log_proba(Z),
            rtol=1e-7,
            atol=1e-10,
        )


@given(problems, st.sampled_from([1e-6, 0.3, 1.0, 5.0]))
def test_multinomial_nb_is_scikit_learns(problem, alpha):
    X, t, Z, _ = word_data(problem)
    theirs = naive_bayes.MultinomialNB(alpha=alpha).fit(X, t)
    ours = bayes.fit_multinomial_nb(X, t, alpha)
    assert_allclose(
        bayes.log_posterior(ours, Z), theirs.predict_log_proba(Z), atol=1e-9
    )


@given(problems, st.sampled_from([1e-6, 0.3, 1.0, 5.0]))
def test_bernoulli_nb_is_scikit_learns(problem, alpha):
    X, t, Z, _ = word_data(problem)
    theirs = naive_bayes.BernoulliNB(alpha=alpha).fit(X, t)
    ours = bayes.fit_bernoulli_nb(X > 0, t, alpha)
    assert_allclose(
        bayes.log_posterior(ours, Z > 0),
        theirs.predict_log_proba(Z),
        atol=1e-8,
    )


# The linear form


@given(problems)
def test_lda_scores_are_linear_up_to_a_term_free_of_the_class(problem):
    X, t, Z, _ = real_data(problem)
    model = bayes.fit_lda(X, t)
    W, b = bayes.linear_form(model)
    rest = bayes.log_joint(model, Z) - (Z @ W.T + b)
    assert_allclose(rest, np.broadcast_to(rest[:, :1], rest.shape), rtol=1e-6)


# Drawing


@each_model
def test_draws_have_the_classes_and_means_of_the_model(model, Z):
    rng = np.random.default_rng(1)
    t = bayes.draw_classes(model, 20_000, rng)
    assert_allclose(np.bincount(t) / len(t), model.pi, atol=0.015)
    if isinstance(model, bayes.MultinomialNB):
        X, mean = model.draw(t, rng, length=9), 9 * model.theta
        assert np.all(X.sum(axis=1) == 9)
    elif isinstance(model, bayes.BernoulliNB):
        X, mean = model.draw(t, rng), model.theta
        assert set(np.unique(X)) == {0, 1}
    else:
        X, mean = model.draw(t, rng), model.mu
    for k in range(3):
        error = 5 * X[t == k].std(axis=0) / np.sqrt(np.sum(t == k))
        assert np.all(np.abs(X[t == k].mean(axis=0) - mean[k]) < error)


@pytest.mark.parametrize("fit", GAUSSIAN)
def test_a_model_fitted_to_its_own_draws_is_itself(fit):
    X, t, Z, rng = real_data((2, 3, 3))
    model = fit(X, t)
    s = bayes.draw_classes(model, 60_000, rng)
    again = fit(model.draw(s, rng), s)
    assert_allclose(
        again.log_likelihood(Z), model.log_likelihood(Z), rtol=0.05, atol=0.1
    )


# Missing features


@pytest.mark.parametrize("fit", GAUSSIAN)
def test_marginal_is_the_integral_over_the_missing_feature(fit):
    X, t, Z, _ = real_data((2, 2, 3))
    model = fit(X, t)
    axis = np.linspace(-60, 60, 20_001)
    for keep in (0, 1):
        line = np.empty((len(axis), 2))
        line[:, keep], line[:, 1 - keep] = Z[0, keep], axis
        area = integrate.simpson(
            np.exp(model.log_likelihood(line)), x=axis, axis=0
        )
        kept = model.marginal([keep]).log_likelihood(Z[:1, [keep]])
        assert_allclose(np.exp(kept[0]), area, rtol=1e-8)


def test_bernoulli_marginal_is_the_sum_over_the_missing_feature():
    model, _ = all_models()[4]
    seen = np.array([[1.0, 0.0, 1.0]])  # features 3, 0 and 2
    both = [np.insert(seen[:, [1, 2, 0]], 1, v, axis=1) for v in (0, 1)]
    total = sum(np.exp(model.log_likelihood(x)) for x in both)
    kept = model.marginal([3, 0, 2]).log_likelihood(seen)
    assert_allclose(np.exp(kept), total)


# Numbers


def test_small_integer_types_do_not_overflow():
    X = np.full((3, 2), 200, dtype=np.uint8)
    X[2, 1] = 0
    model = bayes.fit_multinomial_nb(X, [0, 0, 1], alpha=0.0)
    assert_allclose(model.theta, [[0.5, 0.5], [1.0, 0.0]])


def test_word_unseen_in_one_class_decides_without_smoothing():
    model = bayes.fit_multinomial_nb([[9, 1], [9, 0]], [0, 1], alpha=0.0)
    posterior = np.exp(bayes.log_posterior(model, [[5, 1], [5, 0]]))
    assert_allclose(posterior[0], [1, 0])
    assert 0 < posterior[1, 0] < 1


def test_feature_seen_always_or_never_decides_without_smoothing():
    X, t = [[1, 0], [1, 1], [0, 1], [1, 1]], [0, 0, 1, 1]
    model = bayes.fit_bernoulli_nb(X, t, alpha=0.0)
    assert_allclose(np.exp(bayes.log_posterior(model, [[0, 1]])), [[0, 1]])
    assert_allclose(np.exp(bayes.log_posterior(model, [[1, 0]])), [[1, 0]])


def test_units_of_the_features_do_not_make_a_covariance_singular():
    X, t, Z, _ = real_data((2, 3, 4))
    units = np.array([1e-9, 1.0, 1e9])
    for fit in GAUSSIAN:
        assert_allclose(
            bayes.log_posterior(fit(X * units, t), Z * units),
            bayes.log_posterior(fit(X, t), Z),
            rtol=1e-6,
            atol=1e-9,
        )


def test_inputs_are_left_alone():
    X, t, Z, rng = real_data((2, 2, 4))
    before = X.copy(), t.copy(), Z.copy()
    model = bayes.fit_qda(X, t)
    bayes.log_posterior(model, Z)
    mu = model.mu.copy()
    model.draw(t, rng)
    assert np.array_equal(mu, model.mu)
    for now, then in zip((X, t, Z), before, strict=True):
        assert np.array_equal(now, then)


# Huge, tiny and far


@pytest.mark.parametrize("fit", GAUSSIAN)
@pytest.mark.parametrize("exponent", [-450, 450])
def test_gaussian_models_do_not_depend_on_the_unit(fit, exponent):
    X, t, Z, _ = real_data((3, 2, 5))
    unit = 2.0**exponent  # exact, and its square is still a float
    one, other = fit(X, t), fit(unit * X, t)
    assert_allclose(
        bayes.log_posterior(other, unit * Z),
        bayes.log_posterior(one, Z),
        rtol=1e-12,
    )
    shift = Z.shape[1] * exponent * np.log(2)
    assert_allclose(
        other.log_likelihood(unit * Z),
        one.log_likelihood(Z) - shift,
        rtol=1e-12,
    )


def test_a_covariance_of_features_in_opposite_units_is_exact():
    X, t, _, _ = real_data((2, 2, 3))
    units = np.array([2.0**-500, 2.0**500])
    near, far = bayes.fit_lda(X, t), bayes.fit_lda(X * units, t)
    assert np.array_equal(far.Sigma, near.Sigma * units * units[:, None])


@pytest.mark.parametrize("fit", GAUSSIAN)
@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (1e160, r"X must lie within 1e\+154 of its class means.*divide X"),
        (
            1e307,
            r"X must lie within 1e\+154 .* got entries up to [1-9.]+e\+307",
        ),
        (1e-160, r"X must deviate .* by 1e-154 at least.*e-160.*multiply X"),
        (1e-200, r"X must deviate .* in feature 0; multiply X"),
    ],
)
def test_squares_that_leave_the_floats_are_named(fit, unit, message):
    X, t, _, _ = real_data((2, 1, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            fit(unit * X, t)


def test_opposite_ends_of_the_floats_are_too_far_apart():
    for fit in GAUSSIAN:
        with pytest.raises(ValueError, match=r"X must lie within 1e\+154"):
            fit([[-1.7e308], [1.7e308], [0.0], [1.0]], [0, 0, 1, 1])


def test_a_feature_that_does_not_vary_is_not_one_that_underflows():
    X = [[1.0, 1e-200], [2.0, 1e-200], [4.0, 1e-200], [5.0, 1e-200]]
    for fit in GAUSSIAN:
        with pytest.raises(ValueError, match="zero variance in feature 1"):
            fit(X, [0, 0, 1, 1])
        model = fit(np.array(X) * [1, 2e30], [0, 0, 1, 1], lam=1e-300)
        assert np.isfinite(bayes.log_posterior(model, X)).all()


@pytest.mark.parametrize("fit", GAUSSIAN)
@pytest.mark.parametrize(
    ("values", "variance"),
    [
        # Squares add up to more than a float holds, their mean does not.
        ([0.0] + [-9e153, 9e153] * 3, 6 / 7 * 9e153**2),
        ([-1e154, 1e154], 1e154**2),  # as far as a deviation may be
        ([-(2.0**-511), 2.0**-511], 2.0**-1022),  # the smallest with digits
    ],
)
def test_a_variance_is_a_mean_of_squares_to_the_ends_of_the_floats(
    fit, values, variance
):
    model = fit(np.tile(values, 2)[:, None], np.repeat([0, 1], len(values)))
    spread = model.var if fit is bayes.fit_gaussian_nb else model.Sigma
    assert_allclose(spread, np.full_like(spread, variance), rtol=1e-14)


@pytest.mark.parametrize("fit", GAUSSIAN)
@pytest.mark.parametrize(
    ("values", "largest"),
    [([-1, 0, 1], "1e-160"), ([-3, 1, 1, 1], "3e-160")],
)
def test_an_underflow_is_named_with_the_largest_deviation(
    fit, values, largest
):
    X = 1e-160 * np.tile(values, 2)[:, None]
    message = f"X must deviate .* got {largest} in feature 0"
    with pytest.raises(ValueError, match=message):
        fit(X, np.repeat([0, 1], len(values)))


def exact_log_normal(x, mu, Sigma):
    """ln N(x | mu, Sigma) with fifty digits."""
    with mpmath.workdps(50):
        S = mpmath.matrix(Sigma.tolist())
        d = mpmath.matrix(x.tolist()) - mpmath.matrix(mu.tolist())
        square = (d.T * mpmath.lu_solve(S, d))[0]
        constant = len(x) * mpmath.log(2 * mpmath.pi) + mpmath.log(
            mpmath.det(S)
        )
        return float(-(constant + square) / 2)


@pytest.mark.parametrize("size", [1e3, 1e80, 1e150])
def test_log_likelihood_of_a_far_point_has_all_its_digits(size):
    X, t, Z, _ = real_data((2, 2, 3))
    qda, nb = bayes.fit_qda(X, t), bayes.fit_gaussian_nb(X, t)
    for k in range(2):
        for ours, Sigma in ((qda, qda.Sigma[k]), (nb, np.diag(nb.var[k]))):
            assert_allclose(
                ours.log_likelihood(size * Z[:1])[0, k],
                exact_log_normal(size * Z[0], ours.mu[k], Sigma),
                rtol=1e-13,
            )


@pytest.mark.parametrize("fit", GAUSSIAN)
@pytest.mark.parametrize("size", [1e155, 1e200, 1.7e308])
def test_a_point_too_far_from_all_is_named(fit, size):
    X, t, Z, _ = real_data((2, 2, 3))
    model = fit(X - 1e3, t)
    message = r"within 1e\+154 standard deviations .* got X\[1\] beyond"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            bayes.log_posterior(model, [Z[0], [size, -size / 3]])


@pytest.mark.parametrize("model", [bayes.QDA, bayes.GaussianNB])
def test_a_point_too_far_from_one_class_belongs_to_the_other(model):
    spread = [[1e-300], [1.0]]
    if model is bayes.QDA:
        spread = [[row] for row in spread]
    fitted = model([0.5, 0.5], [[0.0], [0.0]], spread)
    assert_allclose(np.exp(bayes.log_posterior(fitted, [[1e5]])), [[0, 1]])


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e12])
def test_lda_far_away_is_decided_by_its_linear_form(distance):
    X, t, Z, _ = real_data((3, 2, 5))
    model = bayes.fit_lda(X, t)
    W, b = bayes.linear_form(model)
    far = distance * Z
    best = (far @ W.T + b).argmax(axis=1)
    assert np.array_equal(bayes.predict(model, far), best)


def test_a_point_is_named_if_rounding_hides_its_class():
    X, t, Z, _ = real_data((3, 2, 5))
    model = bayes.fit_lda(X, t)
    message = r"near enough to a class to tell which, got X\[1\] with ln p"
    for far in (1e17 * Z[1], 1e100 * Z[1]):
        with pytest.raises(ValueError, match=message):
            bayes.log_posterior(model, [Z[0], far])


def test_ties_are_no_noise_where_numbers_are_small():
    model = bayes.LDA([0.5, 0.5], [[-1.0], [1.0]], [[1.0]])
    assert_allclose(bayes.log_posterior(model, [[0.0]]), np.log(0.5))
    # 1e10 standard deviations along the boundary: each logarithm is -5e19
    flat = bayes.LDA([0.5, 0.5], [[-1.0, 0.0], [1.0, 0.0]], np.eye(2))
    with pytest.raises(ValueError, match="near enough to a class"):
        bayes.log_posterior(flat, [[0.0, 1e10]])
    assert_allclose(bayes.log_posterior(flat, [[0.0, 1e5]]), np.log(0.5))


def test_a_tie_is_noise_where_its_rounding_error_is_a_thousandth():
    same = bayes.LDA([0.5, 0.5], [[0.0], [0.0]], [[1.0]])
    # ln p = -x^2 / 2 with an error of a hundred eps, relatively
    near, far = np.sqrt(2 * np.array([0.9e-3, 1.1e-3]) / 2.0**-52 / 100)
    assert_allclose(bayes.log_posterior(same, [[near]]), np.log(0.5))
    with pytest.raises(ValueError, match="near enough to a class"):
        bayes.log_posterior(same, [[far]])


# Sparse counts

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@given(problems, st.sampled_from(FORMATS), st.booleans())
def test_sparse_counts_are_the_dense_ones(problem, kind, as_array):
    X, t, Z, _ = word_data(problem)
    make = sparse.coo_array if as_array else sparse.coo_matrix
    S, new = make(X).asformat(kind), make(Z).asformat(kind)
    for fit, dense, thin in (
        (bayes.fit_multinomial_nb, (X, Z), (S, new)),
        (bayes.fit_bernoulli_nb, (X > 0, Z > 0), (S > 0, new > 0)),
    ):
        one, other = fit(dense[0], t), fit(thin[0], t)
        assert np.array_equal(one.theta, other.theta)
        assert np.array_equal(one.pi, other.pi)
        assert_allclose(
            other.log_likelihood(thin[1]),
            one.log_likelihood(dense[1]),
            rtol=1e-13,
        )
        assert_allclose(
            bayes.log_posterior(other, thin[1]),
            bayes.log_posterior(one, dense[1]),
            atol=1e-12,
        )


def test_sparse_zeros_and_ones_decide_without_smoothing():
    X, t = np.array([[1, 0], [1, 1], [0, 1], [1, 1]]), [0, 0, 1, 1]
    model = bayes.fit_bernoulli_nb(sparse.csr_array(X), t, alpha=0.0)
    new = sparse.csr_array([[0, 1], [1, 0]])
    assert_allclose(np.exp(bayes.log_posterior(model, new)), [[0, 1], [1, 0]])


def test_parts_of_an_entry_are_added_before_they_are_judged():
    halves = sparse.coo_array(
        ([0.5, 0.5, 1.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2)
    )
    same = sparse.csr_array(([0.5, 0.5, 1.0], [0, 0, 1], [0, 2, 3]))
    for X in (halves, same):
        model = bayes.fit_multinomial_nb(X, [0, 1], alpha=0.0)
        assert_allclose(model.theta, np.eye(2))
        assert bayes.predict(model, X).tolist() == [0, 1]
    assert same.data.tolist() == [0.5, 0.5, 1.0]  # inputs are left alone


def test_stored_zeros_are_zeros():
    X = sparse.csr_array(([1.0, 0.0, 1.0], [0, 1, 1], [0, 2, 3]))
    assert X.nnz == 3
    model = bayes.fit_bernoulli_nb(X, [0, 1], alpha=0.0)
    assert_allclose(model.theta, np.eye(2))
    assert_allclose(np.exp(bayes.log_posterior(model, X)), np.eye(2))


def test_fifty_thousand_words_are_never_made_dense():
    rng = np.random.default_rng(0)
    N, D, words = 10_000, 50_000, 1_000_000
    X = sparse.csr_array(
        (
            np.ones(words),
            (rng.integers(N, size=words), rng.integers(D, size=words)),
        ),
        shape=(N, D),
    )
    t = np.arange(N) % 5
    tracemalloc.start()
    for fit, data in (
        (bayes.fit_multinomial_nb, X),
        (bayes.fit_bernoulli_nb, X > 0),
    ):
        bayes.predict(fit(data, t), data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.03 * N * D * 8  # dense, the counts are 4 GB


def bad(value):
    return sparse.csr_array([[1.0, value], [0.0, 1.0]])


SPARSE_NB = bayes.fit_multinomial_nb(np.eye(2), [0, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: bayes.fit_multinomial_nb(bad(-2), [0, 1]),
            "X must hold counts, whole numbers >= 0, got -2",
        ),
        (
            lambda: bayes.fit_multinomial_nb(bad(0.5), [0, 1]),
            "X must hold counts, whole numbers >= 0, got 0.5",
        ),
        (
            lambda: bayes.fit_multinomial_nb(bad(np.nan), [0, 1]),
            "X must be finite, got 1 NaN or inf",
        ),
        (
            lambda: bayes.fit_multinomial_nb(bad(2.0**60), [0, 1]),
            r"X must add up to at most 2\*\*53",
        ),
        (
            lambda: bayes.fit_multinomial_nb(bad(1j), [0, 1]),
            "X must hold real numbers, got complex128",
        ),
        (
            lambda: bayes.fit_bernoulli_nb(bad(2), [0, 1]),
            r"X must hold 0 \(absent\) or 1 \(present\), got 2; write X > 0",
        ),
        (
            lambda: bayes.fit_bernoulli_nb(bad(np.inf), [0, 1]),
            "X must be finite, got 1 NaN or inf",
        ),
        (
            lambda: bayes.fit_multinomial_nb(bad(1), [0, 1, 1]),
            "t must have length 2, got 3",
        ),
        (
            lambda: bayes.fit_bernoulli_nb(bad(1), [0, 1, 1]),
            "t must have length 2, got 3",
        ),
        (
            lambda: bayes.fit_multinomial_nb(
                sparse.csr_array((2, 2)), [0, 1], 0
            ),
            "X must hold a word in every class, got none in class 0",
        ),
        (
            lambda: bayes.fit_multinomial_nb(sparse.csr_array((0, 2)), []),
            r"X must be two-dimensional and not empty, got shape \(0, 2\)",
        ),
        (
            lambda: bayes.fit_multinomial_nb(sparse.coo_array([1, 2]), [0]),
            r"X must be two-dimensional and not empty, got shape \(2,\)",
        ),
        (
            lambda: SPARSE_NB.log_likelihood(sparse.csr_array((1, 3))),
            r"one column per feature, shape \(N, 2\), got \(1, 3\)",
        ),
        (
            lambda: NB.log_likelihood(sparse.csr_array((1, 3))),
            r"one column per feature, shape \(N, 2\), got \(1, 3\)",
        ),
        (
            lambda: bayes.fit_lda(sparse.csr_array(X2), T2),
            "X must be dense here, got a sparse csr_array",
        ),
    ],
)
def test_bad_sparse_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Copies and seeds


@each_model
def test_a_model_keeps_copies_of_its_parameters(model, Z):
    own = {f.name: getattr(model, f.name).copy() for f in fields(model)}
    given = {name: value.copy() for name, value in own.items()}
    built = type(model)(**given)
    for value in given.values():
        value += 1.0
    for name, value in own.items():
        assert np.array_equal(getattr(built, name), value)
    assert np.array_equal(built.log_likelihood(Z), model.log_likelihood(Z))


@each_model
def test_models_can_be_pickled(model, Z):
    before = model.log_likelihood(Z)  # fills what is computed once
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.log_likelihood(Z), before)


@each_model
def test_a_seed_draws_what_its_generator_draws(model, Z):
    more = {"length": 5} if isinstance(model, bayes.MultinomialNB) else {}
    t = bayes.draw_classes(model, 6, 3)
    drawn = model.draw(t, 4, **more)
    rng = np.random.default_rng(4)
    assert np.array_equal(drawn, model.draw(t, rng, **more))
    assert not np.array_equal(drawn, model.draw(t, rng, **more))
    rng = np.random.default_rng(3)
    assert np.array_equal(t, bayes.draw_classes(model, 6, rng))
    assert t.dtype == np.int64


def test_defaults_are_no_ridge_and_one_more_of_each():
    X, t, _, _ = real_data((2, 2, 3))
    for fit, name in zip(GAUSSIAN, ("Sigma", "Sigma", "var"), strict=True):
        assert np.array_equal(
            getattr(fit(X, t), name), getattr(fit(X, t, lam=0.0), name)
        )
    counts, s, _, _ = word_data((2, 2, 3))
    for fit in (bayes.fit_multinomial_nb, bayes.fit_bernoulli_nb):
        data = counts > 0
        assert np.array_equal(
            fit(data, s).theta, fit(data, s, alpha=1.0).theta
        )


# Bad input

X2 = [[0.0, 1.0], [1.0, 0.0], [3.0, 3.5], [4.0, 2.0], [5.0, 5.0], [3.0, 1.0]]
T2 = [0, 0, 0, 1, 1, 1]
MODEL = bayes.fit_lda(X2, T2)
NB = bayes.fit_bernoulli_nb([[1, 0], [0, 1]], [0, 1])
WORDS = bayes.fit_multinomial_nb([[1, 0, 2], [0, 0, 1]], [0, 1], alpha=0)
FITS = [
    *GAUSSIAN,
    bayes.fit_multinomial_nb,
    bayes.fit_bernoulli_nb,
]


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize(
    ("t", "message"),
    [
        ([1, 1, 1, 1], "t must contain every class .* got none of class 0"),
        ([0, 1, 3, 1], r"from 0 to 2, got 3; labels.coding\(t\).classes"),
        ([1, 1, 2, 2], r"from 0 to 1, got 2; labels.coding\(t\).classes"),
        ([-1, 1, 1, -1], r"from 0 to 1, got -1; labels.coding\(t\).classes"),
        ([0, 0.5, 1, 1], r"from 0 to 2, got 0.5; labels.coding\(t\).classes"),
        ([0, np.nan, 1, 1], "t must be finite"),
        ([0, 1, 1], "t must have length 4, got 3"),
        (["spam", "ham", "ham", "ham"], r"got .*'spam'.*; labels.coding\(t\)"),
    ],
)
def test_labels_outside_the_coding(fit, t, message):
    X = [[1, 0], [0, 1], [1, 1], [0, 0]]
    with pytest.raises(ValueError, match=message):
        fit(X, t)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayes.fit_lda([[np.inf], [1.0]], [0, 1]), "X must be finite"),
        (lambda: bayes.fit_lda([0.0, 1.0], [0, 1]), r"write X\[:, None\]"),
        (lambda: bayes.fit_lda(X2, T2, lam=-1), "lam must be >= 0, got -1"),
        (lambda: bayes.fit_qda(X2, T2, lam=-1), "lam must be >= 0, got -1"),
        (
            lambda: bayes.fit_gaussian_nb(X2, T2, lam=np.nan),
            "lam must be finite",
        ),
        (
            lambda: bayes.fit_lda(X2[:3], [0, 1, 1]),
            "singular covariance: its examples span at most 1 of 2",
        ),
        (
            lambda: bayes.fit_qda(X2, [0, 1, 1, 1, 1, 1]),
            "every class at least twice, got class 0 once",
        ),
        (
            lambda: bayes.fit_qda(X2, [0, 0, 1, 1, 1, 1]),
            "covariance of class 0: its examples span at most 1 of 2 dim",
        ),
        (
            lambda: bayes.fit_qda(np.repeat(X2, 2, axis=1), T2),
            "of class 0: its examples span at most 2 of 4",
        ),
        (
            lambda: bayes.fit_lda(np.repeat(X2, 2, axis=1)[:, :3], T2),
            "singular covariance: some features are linear combinations",
        ),
        (
            lambda: bayes.fit_lda(
                [[0, 0], [1, 2], [3, 6], [5, 10]], [0, 0, 1, 1]
            ),
            "singular covariance: some features are linear combinations",
        ),
        (
            lambda: bayes.fit_lda([[0.1, 1], [0.1, 2], [0.1, 4]], [0, 0, 1]),
            "zero variance in feature 0; drop the feature or choose lam > 0",
        ),
        (
            lambda: bayes.fit_qda(
                [[1, 0.1], [2, 0.1], [4, 0.1], [0, 3], [1, 2], [2, 9]], T2
            ),
            "zero variance in feature 1 of class 0",
        ),
        (
            lambda: bayes.fit_gaussian_nb([[0.1]] * 3 + [[1], [2]], T2[:5]),
            "zero variance in feature 0 of class 0",
        ),
        (
            lambda: bayes.fit_multinomial_nb([[1, -2], [0, 1]], [0, 1]),
            "X must hold counts, whole numbers >= 0, got -2",
        ),
        (
            lambda: bayes.fit_multinomial_nb([[1, 0.5], [0, 1]], [0, 1]),
            "X must hold counts, whole numbers >= 0, got 0.5",
        ),
        (
            lambda: bayes.fit_multinomial_nb([[2**62, 2**62]] * 2, [0, 1]),
            r"X must add up to at most 2\*\*53.* got 1.84e\+19",
        ),
        (
            lambda: bayes.fit_multinomial_nb([[1], [1]], [0, 1], alpha=-1),
            "alpha must be >= 0, got -1",
        ),
        (
            lambda: bayes.fit_multinomial_nb([[1], [0]], [0, 1], alpha=0),
            "X must hold a word in every class, got none in class 1",
        ),
        (
            lambda: bayes.fit_bernoulli_nb([[2], [0]], [0, 1]),
            r"X must hold 0 \(absent\) or 1 \(present\), got 2; write X > 0",
        ),
        (
            lambda: bayes.fit_bernoulli_nb([[1], [0]], [0, 1], alpha=-1),
            "alpha must be >= 0, got -1",
        ),
        (
            lambda: bayes.log_posterior(MODEL, [[1.0, 2.0, 3.0]]),
            r"X must have one column per feature, shape \(N, 2\), got \(1, 3",
        ),
        (
            lambda: bayes.log_posterior(NB, [[0.5, 0.0]]),
            "X must hold 0",
        ),
        (
            lambda: bayes.log_posterior(WORDS, [[1, -1, 0]]),
            "X must hold counts",
        ),
        (
            lambda: bayes.predict(WORDS, [[1, 0, 0], [0, 3, 1]]),
            r"X\[1\] has probability zero under every class; with alpha = 0",
        ),
        (
            lambda: MODEL.draw([0, 2], np.random.default_rng(0)),
            "t must be whole numbers from 0 to 1, got 2",
        ),
        (
            lambda: WORDS.draw([0], np.random.default_rng(0), length=0),
            "length must be a whole number >= 1, got 0",
        ),
        (lambda: MODEL.draw([0], "dice"), "rng must be a seed, .* got 'dice'"),
        (lambda: bayes.draw_classes(MODEL, 1, -1), "rng must be a seed"),
        (
            lambda: bayes.draw_classes(MODEL, 0, np.random.default_rng(0)),
            "size must be a whole number >= 1, got 0",
        ),
        (
            lambda: MODEL.marginal([0, 2]),
            "keep must hold distinct whole numbers from 0 to 1",
        ),
        (
            lambda: NB.marginal([0, 0]),
            "keep must hold distinct whole numbers from 0 to 1",
        ),
        (
            lambda: bayes.fit_gaussian_nb(X2, T2).marginal([0, 0]),
            "keep must hold distinct whole numbers from 0 to 1",
        ),
        (
            lambda: bayes.class_priors([0, 2, 0]),
            "t must be whole numbers from 0 to 1, got 2",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@each_model
def test_inputs_with_another_number_of_features_are_named(model, Z):
    D = np.shape(Z)[1]
    message = rf"one column per feature, shape \(N, {D}\), got \(7, {D + 1}\)"
    with pytest.raises(ValueError, match=message):
        model.log_likelihood(np.column_stack([Z, Z[:, 0]]))


@each_model
@pytest.mark.parametrize("wrong", [-1, 3, 0.5])
def test_draws_from_a_class_that_is_none_are_refused(model, Z, wrong):
    length = (5,) if isinstance(model, bayes.MultinomialNB) else ()
    message = f"t must be whole numbers from 0 to 2, got {wrong}"
    with pytest.raises(ValueError, match=message):
        model.draw([0, wrong], 0, *length)


@pytest.mark.parametrize("seed", range(10))
def test_a_combination_of_many_features_is_found(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 15))
    X[:, 0] = X[:, 1:] @ rng.standard_normal(14)
    t = np.arange(80) % 2
    for fit in (bayes.fit_lda, bayes.fit_qda):
        with pytest.raises(ValueError, match="some features are linear comb"):
            fit(X, t)


def test_lam_mends_what_is_singular():
    thin = np.repeat(X2, 2, axis=1)
    for fit in GAUSSIAN:
        model = fit(thin, T2, lam=0.1)
        assert np.isfinite(bayes.log_posterior(model, thin)).all()


@given(problems)
def test_rda_goes_from_lda_to_qda(problem):
    X, t, Z, _ = real_data(problem)
    lda, qda = bayes.fit_lda(X, t), bayes.fit_qda(X, t)
    none, all_own = bayes.fit_rda(X, t, 0.0), bayes.fit_rda(X, t, 1.0)
    for Sigma in none.Sigma:
        assert_allclose(Sigma, lda.Sigma, rtol=1e-9, atol=1e-9)
    assert_allclose(all_own.Sigma, qda.Sigma, rtol=1e-9, atol=1e-9)
    half = bayes.fit_rda(X, t, 0.5)
    assert_allclose(half.Sigma, (none.Sigma + all_own.Sigma) / 2, atol=1e-9)
    assert_allclose(half.mu, lda.mu)
    assert_allclose(half.pi, lda.pi)
    for model, same in [(none, lda), (all_own, qda)]:
        assert_allclose(
            bayes.log_posterior(model, Z),
            bayes.log_posterior(same, Z),
            atol=1e-6,
        )


@given(problems, st.floats(0.0, 1.0))
def test_shrunk_covariances_are_scikit_learns(problem, shrinkage):
    X, t, Z, _ = real_data(problem)
    model = bayes.fit_rda(X, t, 0.0, shrinkage)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(
        solver="lsqr", shrinkage=shrinkage
    ).fit(X, t)
    assert_allclose(model.Sigma[0], theirs.covariance_, atol=1e-9)
    assert_allclose(
        np.exp(bayes.log_posterior(model, Z)),
        theirs.predict_proba(Z),
        atol=1e-6,
    )


def test_a_shrunk_class_keeps_its_total_variance_and_may_have_few_members():
    rng = np.random.default_rng(0)
    X, t = rng.standard_normal((7, 4)), [0, 0, 0, 1, 1, 1, 2]
    own = bayes.fit_rda(X, t, 0.4, 0.3).Sigma
    before = bayes.fit_rda(X, t, 0.4, 0.0).Sigma
    assert_allclose(
        own.trace(axis1=1, axis2=2), before.trace(axis1=1, axis2=2)
    )
    round_ones = bayes.fit_rda(X, t, 0.4, 1.0).Sigma
    mean = before.trace(axis1=1, axis2=2) / 4
    assert_allclose(round_ones, mean[:, None, None] * np.eye(4), atol=1e-12)
    assert_allclose(own, 0.7 * before + 0.3 * round_ones, atol=1e-12)


@each_model
def test_decisions_cost_least_by_hand(model, Z):
    rng = np.random.default_rng(3)
    loss = rng.uniform(0, 5, (3, 4))
    P = np.exp(bayes.log_posterior(model, Z))
    by_hand = [
        [sum(loss[k, a] * p[k] for k in range(3)) for a in range(4)] for p in P
    ]
    assert_allclose(bayes.expected_loss(model, Z, loss), by_hand)
    assert np.array_equal(
        bayes.decide(model, Z, loss), np.argmin(by_hand, axis=1)
    )
    errors = 1 - np.eye(3)
    assert np.array_equal(
        bayes.decide(model, Z, errors), bayes.predict(model, Z)
    )


@each_model
def test_to_reject_is_chows_rule(model, Z):
    for price in (0.05, 0.3):
        loss = np.column_stack([1 - np.eye(3), np.full(3, price)])
        unsure = np.exp(bayes.log_posterior(model, Z)).max(axis=1) < 1 - price
        rejected = bayes.decide(model, Z, loss) == 3
        assert np.array_equal(rejected, unsure)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: bayes.fit_rda(X2, T2, 1.5),
            "alpha must be from 0 to 1, got 1.5",
        ),
        (
            lambda: bayes.fit_rda(X2, T2, -0.1),
            "alpha must be from 0 to 1, got -0.1",
        ),
        (
            lambda: bayes.fit_rda(X2, T2, 0.5, 2.0),
            "shrinkage must be from 0 to 1, got 2.0",
        ),
        (
            lambda: bayes.fit_rda(X2, [0, 0, 1, 1, 1, 1], 1.0),
            "singular covariance of class 0",
        ),
        (
            lambda: bayes.fit_rda(X2[:3], [0, 0, 1], 0.5),
            "span at most 1 of 2",
        ),
        (
            lambda: bayes.decide(bayes.fit_lda(X2, T2), X2, np.eye(3)),
            r"loss must have one row per class, shape \(2, A\), got \(3, 3\)",
        ),
    ],
)
def test_bad_arguments_of_decisions_and_shrinkage_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
