"""Learning kernels: finite differences, SciPy, scikit-learn, refitting."""

import re
import time
import tracemalloc
import warnings
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal, norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    WhiteKernel,
)
from sklearn.gaussian_process.kernels import Matern as TheirMatern
from sklearn.gaussian_process.kernels import (
    RationalQuadratic as TheirRationalQuadratic,
)

from kernelbook import _ascent, _progress, gaussians, gp, kernels, learning
from kernelbook.exceptions import ConvergenceWarning, JitterWarning
from kernelbook.kernels import (
    Constant,
    Gaussian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
)

THETA = (1.5, 2.0, 0.3, 0.7)


def first_plus_two(X):
    return X[:, 0] + 2.0


EVERY_KERNEL = [
    Linear(),
    QuadraticForm(np.diag([1.0, 2.0])),
    Constant(0.7),
    Polynomial(degree=3, c=0.5),
    Gaussian(0.6),
    Matern(0.5, 0.8),
    Matern(1.5, 0.8),
    Matern(2.5, 0.8),
    RationalQuadratic(0.7, 1.3),
    Periodic(1.7, 0.9),
    kernels.ExponentialQuadratic(THETA),
    kernels.ARDGaussian((0.4, 1.3)),
    2.5 * Gaussian(0.6),
    Gaussian(0.6) + 0.5 * Linear(),
    3.0 * (Periodic(1.7, 0.9) * Matern(1.5, 2.0)),
    kernels.exp(0.3 * Gaussian(0.6)),
    Gaussian(0.6).conjugate(first_plus_two),
    (0.5 * Gaussian(0.6)).polynomial([0.2, 0.0, 1.5, 0.4]),
]
every_kernel = pytest.mark.parametrize("k", EVERY_KERNEL, ids=repr)


def problem(N, D, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((N, D)), rng.standard_normal(N), rng


def slope(function, k, name, h=1e-5):
    """Central difference in ln of one hyperparameter."""
    p = k.parameters()[name]
    up = k.with_parameters({name: p * np.exp(h)})
    down = k.with_parameters({name: p * np.exp(-h)})
    return (function(up) - function(down)) / (2 * h)


# -------------------------------------------------------- hyperparameters


@every_kernel
def test_derivatives_by_numbers_that_are_off_vanish(k):
    _, dK = k.derivatives(np.eye(2), np.ones((1, 2)))
    for name in set(dK) - set(k.parameters()):
        assert not dK[name].any()


def test_shape_numbers_are_no_hyperparameters():
    assert Matern(1.5, 2.0).parameters() == {"length": 2.0}
    assert Polynomial(2, 0.0).parameters() == {}


@given(st.tuples(st.floats(0, 5), st.floats(0, 5)), st.integers(0, 10**6))
def test_ard_gaussian_is_a_product_of_one_dimensional_gaussians(gamma, seed):
    X, _, rng = problem(5, 2, seed)
    Z = rng.standard_normal((4, 2))
    k = kernels.ARDGaussian(gamma)
    product = np.exp(
        -gamma[0] * np.subtract.outer(X[:, 0], Z[:, 0]) ** 2
    ) * np.exp(-gamma[1] * np.subtract.outer(X[:, 1], Z[:, 1]) ** 2)
    assert_allclose(k(X, Z), product, atol=1e-14)
    assert np.array_equal(k(X), k(X).T)
    assert_allclose(k.diagonal(X), 1.0)
    assert np.linalg.eigvalsh(k(X)).min() > -1e-12


@pytest.mark.parametrize("gamma", [(0.4,), (0.4, 1.3)])
def test_ard_gaussian_keeps_its_numbers_as_a_tuple(gamma):
    k = kernels.ARDGaussian(np.array(gamma))
    assert k.gamma == gamma
    assert {k} == {kernels.ARDGaussian(list(gamma))}
    names = [f"gamma[{d}]" for d in range(len(gamma))]
    assert k.parameters() == dict(zip(names, gamma, strict=True))


# ---------------------------------------------------------------- evidence


@every_kernel
def test_evidence_is_scipys_log_density_and_its_slopes(k):
    X, t, _ = problem(23, 2, 1)
    beta = 3.0

    def log_density(one, beta=beta):
        C = one(X) + np.eye(len(X)) / beta
        return multivariate_normal(cov=C).logpdf(t)

    value, gradient = learning.evidence(k, X, t, beta)
    assert_allclose(value, log_density(k))
    assert set(gradient) == {*k.parameters(), "beta"}
    for name in k.parameters():
        assert_allclose(
            gradient[name], slope(log_density, k, name), rtol=1e-5, atol=1e-6
        )
    up, down = beta * np.exp(1e-5), beta * np.exp(-1e-5)
    by_beta = (log_density(k, up) - log_density(k, down)) / 2e-5
    assert_allclose(gradient["beta"], by_beta, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("N", [1, 2, 33, 128, 129, 260])
def test_tiles_add_up_to_the_trace(N):
    X, t, _ = problem(N, 2, N)
    k = kernels.ExponentialQuadratic(THETA)
    C_inverse = np.linalg.inv(k(X) + np.eye(N) / 10)
    W = np.outer(C_inverse @ t, C_inverse @ t) - C_inverse
    _, dK = k.derivatives(X, X)
    gradient = learning.evidence(k, X, t, 10.0).gradient
    for name, derivative in dK.items():
        assert_allclose(
            gradient[name], np.trace(W @ derivative) / 2, rtol=1e-8, atol=1e-9
        )


def pairs():
    """Kernels of ours and of scikit-learn with the same hyperparameters.

    The last entry says by what one of theirs must be multiplied to be the
    derivative by one of ours (γ = 1/(2ℓ²): by -2, c = σ²: by 2, ...).
    """
    yield (
        2.0 * Gaussian(0.5) + 0.5 * RationalQuadratic(0.7, 1.4),
        ConstantKernel(2.0) * RBF(1.0)
        + ConstantKernel(0.5) * TheirRationalQuadratic(1.4, 0.7),
        {
            "k1.c": (0, 1),
            "k1.k1.gamma": (1, -0.5),
            "k2.c": (2, 1),
            "k2.k1.alpha": (3, 1),
            "k2.k1.length": (4, 1),
        },
    )
    yield (
        Periodic(1.3, 0.8) * Matern(1.5, 2.0),
        ExpSineSquared(0.8, 1.3) * TheirMatern(2.0, nu=1.5),
        {"k1.length": (0, 1), "k1.period": (1, 1), "k2.length": (2, 1)},
    )
    yield (
        kernels.ExponentialQuadratic(THETA),
        ConstantKernel(THETA[0]) * RBF(THETA[1] ** -0.5)
        + ConstantKernel(THETA[2])
        + ConstantKernel(THETA[3]) * DotProduct(0.0, "fixed"),
        {
            "theta[0]": (0, 1),
            "theta[1]": (1, -0.5),
            "theta[2]": (2, 1),
            "theta[3]": (3, 1),
        },
    )


@pytest.mark.parametrize(("k", "theirs", "which"), list(pairs()))
def test_evidence_and_gradient_are_scikit_learns(k, theirs, which):
    X, t, _ = problem(40, 1, 2)
    model = GaussianProcessRegressor(
        theirs + WhiteKernel(0.1), alpha=0.0, optimizer=None
    ).fit(X, t)
    their_value, their_gradient = model.log_marginal_likelihood(
        model.kernel_.theta, eval_gradient=True
    )
    value, gradient = learning.evidence(k, X, t, beta=10.0)
    assert_allclose(value, their_value)
    for name, (index, factor) in which.items():
        assert_allclose(gradient[name], factor * their_gradient[index])
    assert_allclose(gradient["beta"], -their_gradient[-1])


def test_evidence_keeps_one_matrix_of_size_n_squared():
    N = 1000
    X, t, _ = problem(N, 2, 3)
    k = kernels.ExponentialQuadratic(THETA)
    tracemalloc.start()
    learning.evidence(k, X, t, 10.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * 8 * N**2


def test_inputs_are_left_alone():
    X, t, _ = problem(12, 2, 4)
    before = X.copy(), t.copy()
    learning.learn(Gaussian(1.0), X, t, 1.0, restarts=1)
    assert np.array_equal(X, before[0]) and np.array_equal(t, before[1])


def test_pseudo_likelihood_equals_refitting_without_each_target():
    X, t, _ = problem(9, 2, 5)
    k, beta = kernels.ExponentialQuadratic(THETA), 4.0
    score = 0.0
    for n in range(9):
        rest = np.arange(9) != n
        model = gp.fit(k, X[rest], t[rest], beta)
        m, _, variance = gp.predict(model, X[[n]])
        score += norm.logpdf(t[n], m[0], variance[0] ** 0.5)
    ours = learning.log_pseudo_likelihood(gp.fit(k, X, t, beta))
    assert_allclose(ours, score)


def test_pseudo_likelihoods_of_outputs_add_up():
    X, t, _ = problem(9, 2, 5)
    T = np.column_stack([t, np.cos(t)])
    both, first, second = (
        learning.log_pseudo_likelihood(gp.fit(Gaussian(0.5), X, targets, 4.0))
        for targets in (T, *T.T)
    )
    assert_allclose(both, first + second)


@pytest.mark.parametrize("Q", [1, 2, 3])
@pytest.mark.parametrize("mean", [0.0, gp.Trend()])
def test_evidence_of_outputs_has_the_slopes_of_its_value(Q, mean):
    X, _, rng = problem(9, 2, 5)
    T, h = rng.standard_normal((9, Q)), 1e-5
    gradient = learning.evidence(Gaussian(0.5), X, T, 4.0, mean).gradient
    for name, gamma, beta in [("gamma", h, 0.0), ("beta", 0.0, h)]:
        up, down = (
            learning.evidence(
                Gaussian(0.5 * np.exp(sign * gamma)),
                X,
                T,
                4.0 * np.exp(sign * beta),
                mean,
            ).value
            for sign in (1, -1)
        )
        assert_allclose(gradient[name], (up - down) / (2 * h), rtol=1e-6)


def test_evidence_of_sparse_inputs_is_that_of_dense_ones():
    X, t, _ = problem(9, 4, 5)
    X[X < 0] = 0.0
    k = 0.3 * Linear()
    sparse = learning.evidence(k, csr_array(X), t, 4.0)
    dense = learning.evidence(k, X, t, 4.0)
    assert_allclose(sparse.value, dense.value)
    assert sparse.gradient == pytest.approx(dense.gradient)


def test_noise_of_each_target_is_not_learned():
    X, t, _ = problem(9, 1, 5)
    beta = np.linspace(1, 9, 9)
    learned = learning.learn(Gaussian(0.5), X, t, beta)
    assert np.array_equal(learned.beta, beta)
    assert list(learned.tries[0].end) == ["gamma"]


def test_a_component_is_seen_through_the_noise_on_average():
    X, t, _ = problem(4, 1, 6)
    k1, k2 = Gaussian(0.5), Linear()
    model = gp.fit(k1 + k2, X, t, [1.0, 2.0, 4.0, 5.0])
    _, latent, noisy = learning.component(model, k1, X)
    assert_allclose(noisy - latent, (1 + 0.5 + 0.25 + 0.2) / 4)


def test_a_component_is_the_conditional_of_its_joint_with_the_targets():
    X, t, rng = problem(6, 1, 6)
    Z = rng.standard_normal((3, 1))
    k1, k2 = 2.0 * Gaussian(0.5), Linear() + Constant(0.4)
    model = gp.fit(k1 + k2, X, t, 5.0)
    C = k1(X) + k2(X) + np.eye(6) / 5
    joint = np.block([[C, k1(X, Z)], [k1(Z, X), k1(Z)]])
    rest = gaussians.condition(np.zeros(9), joint, range(6), t)
    part = learning.component(model, k1, Z)
    assert_allclose(part.mean, rest.mean)
    assert_allclose(part.latent_variance, np.diag(rest.cov))
    other = learning.component(model, k2, Z)
    assert_allclose(part.mean + other.mean, gp.mean(model, Z))


def test_what_is_no_term_of_the_sum_has_no_component():
    X, t, _ = problem(6, 1, 6)
    model = gp.fit(2.0 * Gaussian(0.5) + Linear(), X, t, 5.0)
    strangers = [5 * Linear(), Gaussian(0.5), Linear() + Linear()]
    for stranger in [*strangers, [Linear()]]:
        with pytest.raises(ValueError, match="k1 must be a term, or some, of"):
            learning.component(model, stranger, X)
    whole = learning.component(model, model.k, X)
    assert_allclose(whole.mean, gp.mean(model, X))


def test_a_component_has_no_prior_mean_and_leaves_the_trend_its_doubt():
    X, t, rng = problem(8, 1, 6)
    Z = rng.standard_normal((3, 1))
    k1, k2 = 2.0 * Gaussian(0.5), 0.4 * Matern(1.5, 2.0)
    model = gp.fit(k1 + k2, X, t + 9, 5.0, gp.Trend())
    parts = [learning.component(model, k, Z).mean for k in (k1, k2)]
    assert_allclose(sum(parts) + model.prior_mean(Z), gp.mean(model, Z))
    wide = 1e7 * (Linear() + Constant(1.0))
    limit = gp.fit(k1 + k2 + wide, X, t + 9, 5.0)
    for k in (k1, k2):
        ours, theirs = (
            learning.component(one, k, Z) for one in (model, limit)
        )
        assert_allclose(ours.mean, theirs.mean, rtol=1e-4)
        assert_allclose(
            ours.latent_variance, theirs.latent_variance, rtol=1e-4
        )


# ------------------------------------------------------------------- learn


@pytest.mark.parametrize(
    ("N", "D", "seed"), [(50, 2, 1), (100, 1, 0), (100, 2, 2), (100, 2, 3)]
)
def test_a_kernel_that_overflows_on_the_way_is_still_learned(N, D, seed):
    rng = np.random.default_rng(seed)
    X = 3 * rng.standard_normal((N, D))
    t = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(N)
    k = kernels.exp(0.1 * Linear())
    learned = learning.learn(k, X, t, beta=1.0)
    assert np.isfinite(learned.value)
    assert learned.value >= learning.evidence(k, X, t, 1.0).value
    gradient = learning.evidence(learned.k, X, t, learned.beta).gradient
    free = set(gradient) - set(learned.tries[0].edge)
    if learned.status == "converged":
        assert max(abs(gradient[name]) for name in free) < 0.1


def test_a_start_without_a_value_is_passed_over_but_not_the_first():
    X, t = wave(10, 1)
    k = kernels.exp(0.1 * Linear())
    learned = learning.learn(k, 10 * X, t, 1.0, restarts=8, reach=1e3)
    lost = [one for one in learned.tries if one.value == -np.inf]
    assert lost and all(one.status == "stalled" for one in lost)
    assert np.isfinite(learned.value)
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match=r"k\(X\) of exp.* must be finite"),
    ):
        learning.learn(k, 1e3 * X, t, 1.0)


def wave(N, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 5, (N, 1))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(N)


def test_learn_finds_scikit_learns_optimum():
    X, t = wave(40, 0)
    theirs = GaussianProcessRegressor(
        ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(1.0), alpha=0.0
    ).fit(X, t)
    ours = learning.learn(1.0 * Gaussian(0.5), X, t, beta=1.0)
    assert_allclose(
        ours.value, theirs.log_marginal_likelihood_value_, atol=1e-4
    )
    amplitude, length, noise = np.exp(theirs.kernel_.theta)
    assert_allclose(ours.k.c, amplitude, rtol=0.02)
    assert_allclose((2 * ours.k.k1.gamma) ** -0.5, length, rtol=0.01)
    assert_allclose(1 / ours.beta, noise, rtol=0.01)


def test_what_is_learned_is_the_best_of_what_was_tried():
    X, t = wave(15, 1)
    k = 1.0 * Gaussian(0.5)
    learned = learning.learn(k, X, t, 1.0, restarts=4, reach=100.0)
    assert len(learned.tries) == 5
    assert learned.value == max(one.value for one in learned.tries)
    assert_allclose(
        gp.log_marginal_likelihood(gp.fit(learned.k, X, t, learned.beta)),
        learned.value,
    )
    first = learned.tries[0].start
    assert first == pytest.approx({"c": 1.0, "k1.gamma": 0.5, "beta": 1.0})
    factors = np.array(
        [
            [one.start[name] / first[name] for name in first]
            for one in learned.tries[1:]
        ]
    )
    assert 1 / 101 < factors.min() < 1 / 10
    assert 10 < factors.max() < 101
    again = learning.learn(k, X, t, 1.0, restarts=4, reach=100.0)
    assert again == learned


def test_left_out_there_is_one_start_a_reach_of_ten_and_the_seed_zero():
    X, t = wave(10, 1)
    k = Gaussian(0.5)
    assert len(learning.learn(k, X, t, 1.0).tries) == 1
    assert learning.learn(k, X, t, 1.0, restarts=2) == learning.learn(
        k, X, t, 1.0, 0.0, restarts=2, reach=10.0, rng=0
    )


def test_left_out_a_start_has_two_hundred_evaluations(monkeypatch):
    asked, climb = [], learning.Ascent.climb

    def watched(self, shift, evaluations):
        asked.append(evaluations)
        return climb(self, shift, evaluations)

    monkeypatch.setattr(learning.Ascent, "climb", watched)
    X, t = wave(10, 1)
    learning.learn(Gaussian(0.5), X, t, 1.0)
    learning.learn(Gaussian(0.5), X, t, 1.0, evaluations=30.0)
    assert asked == [200, 30]
    assert [type(one) for one in asked] == [int, int]


def test_starts_lie_on_both_sides_as_far_as_they_reach():
    first, *shifts = learning._shifts(500, 2, 10.0, 0)
    assert not first.any()
    assert -np.log(10) <= np.min(shifts) < -0.99 * np.log(10)
    assert np.log(10) >= np.max(shifts) > 0.99 * np.log(10)


def test_the_gradient_vanishes_at_the_top():
    X, t = wave(40, 0)
    learned = learning.learn(1.0 * Gaussian(0.5), X, t, 1.0)
    assert learned.tries[0].converged
    gradient = learning.evidence(learned.k, X, t, learned.beta).gradient
    assert max(map(abs, gradient.values())) < 1e-2


def test_what_is_held_stays_and_what_is_off_stays_off():
    X, t = wave(20, 2)
    k = kernels.ExponentialQuadratic((1.0, 1.0, 0.0, 0.0)) + Constant(0.3)
    learned = learning.learn(k, X, t, 5.0, hold=["beta", "k1.theta[0]"])
    assert learned.beta == 5.0
    assert learned.k.k1.theta[0] == 1.0
    assert learned.k.k1.theta[2:] == (0.0, 0.0)
    assert learned.k.k1.theta[1] != 1.0
    held = learning.learn(2.0 * Periodic(3.0, 1.0), X, t, 5.0, hold="period")
    assert held.k.k1.period == 3.0 and held.k.c != 2.0


def test_restarts_that_reach_nowhere_start_where_the_first_does():
    X, t = wave(10, 1)
    one, two = learning.learn(
        Gaussian(0.5), X, t, 1.0, restarts=1, reach=1.0
    ).tries
    assert one == two


def test_jitter_at_a_passing_value_is_nobodys_concern():
    X, t = [[0.0], [0.0], [1.0]], [1.0, 1.0, 2.0]
    with pytest.warns(JitterWarning):
        learning.evidence(Gaussian(1.0), X, t, beta=1e17)
    with warnings.catch_warnings():
        warnings.simplefilter("error", JitterWarning)
        learning.learn(Gaussian(1.0), X, t, beta=1e17)


def test_an_amplitude_without_signal_ends_at_the_lower_edge():
    X, _ = wave(20, 3)
    learned = learning.learn(
        2.0 * Gaussian(0.5), X, np.zeros(20), 1e9, hold=["gamma", "beta"]
    )
    assert learned.tries[0].edge == ("c",)
    assert_allclose(learned.k.c, 2.0 / _ascent.RANGE)


def test_an_edge_is_reported():
    X, t = wave(20, 3)
    learned = learning.learn(1.0 * Gaussian(0.5), X, np.sin(X[:, 0]), beta=1.0)
    assert "beta" in learned.tries[0].edge
    assert_allclose(learned.beta, _ascent.RANGE)
    assert learning.learn(1.0 * Gaussian(0.5), X, t, 1.0).tries[0].edge == ()


def test_evaluations_are_limited_and_the_try_says_so():
    X, t = wave(20, 4)
    with pytest.warns(ConvergenceWarning, match="learn .*max_iterations"):
        learned = learning.learn(Gaussian(50.0), X, t, 1.0, evaluations=2)
    one = learned.tries[0]
    assert learned.status == one.status == "max_iterations"
    assert not one.converged and one.evaluations < 10


def test_progress_is_shown_on_stderr_when_it_takes_long(monkeypatch, capsys):
    X, t = wave(10, 5)
    learning.learn(Gaussian(1.0), X, t, 1.0, restarts=1)
    assert capsys.readouterr() == ("", "")
    ticks = count(time.process_time(), 11)
    for clock in ("monotonic", "process_time"):
        monkeypatch.setattr(time, clock, lambda: next(ticks))
    learned = learning.learn(Gaussian(1.0), X, t, 1.0, restarts=1)
    out, err = capsys.readouterr()
    assert out == ""
    first, *_, last = err.splitlines()
    assert re.match(r"learn: \d+ s, start 1, 1 evaluations, best ", first)
    assert last.endswith(
        f"start 2, {learned.tries[1].evaluations} evaluations, "
        f"best {learned.value:.2f}"
    )
    learning.learn(Gaussian(1.0), X, t, 1.0, restarts=1, progress=False)
    assert capsys.readouterr() == ("", "")


def test_progress_is_shown_every_ten_seconds_of_computing(monkeypatch, capsys):
    now = 1000.0
    for clock in ("monotonic", "process_time"):
        monkeypatch.setattr(time, clock, lambda: now)
    progress = _progress.Progress("work")
    now += 9.9
    progress("early")
    assert capsys.readouterr().err == ""
    now += 0.1
    for _ in range(2):  # the second time it is too soon
        progress("half")
    assert capsys.readouterr().err == "work: 10 s, half\n"
    _progress.Progress("work", wanted=False)("never")
    assert capsys.readouterr().err == ""


# --------------------------------------------------------------- bad input


class Forgetful(kernels.Stationary):
    """A kernel whose derivatives leave one of its numbers out."""

    width: float = kernels.positive()

    def evaluate(self, X, Z):
        return np.ones((len(X), len(Z)))

    def differentiate(self, X, Z):
        return self.evaluate(X, Z), {}


X2, T2, K1 = np.eye(2), np.ones(2), Gaussian(1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: kernels.ARDGaussian((1.0, -2.0)),
            r"gamma\[1\] must be >= 0, got -2.0",
        ),
        (
            lambda: kernels.ARDGaussian((1.0, 1.0))(np.ones((4, 3))),
            r"X must have one column per feature, shape \(N, 2\), got \(4",
        ),
        (
            lambda: learning.learn(3.0, X2, T2, 1.0),
            "k must be a Kernel, got float",
        ),
        (
            lambda: K1.with_parameters({"length": 1.0}),
            r"values must name hyperparameters of Gaussian\(gamma=1.0\), "
            "which are gamma; got 'length'",
        ),
        (
            lambda: K1.with_parameters({"gamma": -1.0}),
            "gamma must be > 0, got -1.0",
        ),
        (
            lambda: learning.evidence(2.0 * Forgetful(1.0), X2, T2, 1.0),
            r"k must differentiate by all its .* no derivative by 'k1.width'",
        ),
        (
            lambda: K1.derivatives(X2, np.ones((1, 3))),
            "X and Z must have the same number of columns",
        ),
        (
            lambda: learning.evidence(K1, X2, [1.0, np.nan], 1.0),
            "t must be finite, got 1 NaN or inf",
        ),
        (
            lambda: learning.evidence(K1, X2, T2, 0.0),
            "beta must be > 0, got 0.0",
        ),
        (
            lambda: learning.component(gp.fit(K1, X2, T2, 1.0), 1.0, X2),
            r"k1 must be a term, or some, of Gaussian\(gamma=1.0\), got 1.0",
        ),
        (
            lambda: learning.learn(K1, X2, T2, 1.0, hold=["length"]),
            "hold must name hyperparameters, which are gamma, beta; "
            "got 'length'",
        ),
        (
            lambda: learning.learn(K1, X2, T2, 1.0, hold=["gamma", "beta"]),
            "hold must leave something to learn of gamma, beta, got",
        ),
        (
            lambda: learning.learn(K1, X2, T2, -1.0),
            "beta must be > 0, got -1.0",
        ),
        (
            lambda: learning.learn(K1, X2, np.ones(3), 1.0),
            "t must have length 2, got 3",
        ),
        (
            lambda: learning.learn(K1, X2, T2, 1.0, restarts=-1),
            "restarts must be a whole number >= 0, got -1",
        ),
        (
            lambda: learning.learn(K1, X2, T2, 1.0, evaluations=0),
            "evaluations must be a whole number >= 1, got 0",
        ),
        (
            lambda: learning.learn(K1, X2, T2, 1.0, reach=0.5),
            "reach must be >= 1, got 0.5",
        ),
        (
            lambda: learning.learn(K1, X2, T2, 1.0, reach=np.nan),
            "reach must be finite, got nan",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_another_objective_takes_the_place_of_the_evidence():
    X, t = [[0.0], [1.0]], [1.0, 2.0]
    asked = []

    def objective(k, X, t, beta):
        """Highest at gamma = 3 and beta = 5."""
        asked.append((X, t))
        x, y = np.log(k.gamma / 3), np.log(beta / 5)
        return -(x**2) - 2 * y**2, {"gamma": -2 * x, "beta": -4 * y}

    learned = learning.learn(Gaussian(1.0), X, t, 1.0, objective=objective)
    assert learned.k.gamma == pytest.approx(3.0, rel=1e-4)
    assert learned.beta == pytest.approx(5.0, rel=1e-4)
    assert learned.value == pytest.approx(0.0, abs=1e-6)
    assert asked[0] == (X, t)
