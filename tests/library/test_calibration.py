"""Platt's sigmoid: against scikit-learn's, and by its own laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from kernelbook import _likelihood, calibration, kernels, svm, toydata
from kernelbook.exceptions import ConvergenceWarning


def scores(N=200, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    t = rng.choice([-1.0, 1.0], N, p=[0.7, 0.3])
    t[:2] = -1, 1
    return 0.8 * t + rng.standard_normal(N) + shift, t


def loss(u, y, t):
    """-Σ q ln p + (1 - q) ln(1 - p), one example at a time."""
    plus, minus = (t > 0).sum(), (t < 0).sum()
    total = 0.0
    for y_n, t_n in zip(y, t, strict=True):
        q = (plus + 1) / (plus + 2) if t_n > 0 else 1 / (minus + 2)
        p = 1 / (1 + np.exp(-(u[0] * y_n + u[1])))
        total -= q * np.log(p) + (1 - q) * np.log(1 - p)
    return total


@pytest.mark.parametrize("seed", range(3))
def test_sigmoid_is_where_the_loss_is_lowest(seed):
    y, t = scores(60, seed)
    found = calibration.fit_sigmoid(y, t)
    best = minimize(loss, [1.0, 0.0], args=(y, t), tol=1e-12)
    assert found.status == "converged"
    assert_allclose([found.slope, found.offset], best.x, atol=1e-5)
    u = np.array([found.slope, found.offset])
    slopes = [
        (loss(u + h, y, t) - loss(u - h, y, t)) / 2e-6
        for h in 1e-6 * np.eye(2)
    ]
    assert_allclose(slopes, 0, atol=1e-6)


def test_sigmoid_is_scikit_learns():
    X, t = toydata.two_moons(120, noise=0.3, rng=0)
    held, t_held = toydata.two_moons(100, noise=0.3, rng=1)
    Z = toydata.two_moons(50, noise=0.3, rng=2)[0]
    theirs = SVC(gamma=1.0, C=2.0, tol=1e-9).fit(X, t)
    calibrated = CalibratedClassifierCV(
        FrozenEstimator(theirs), method="sigmoid"
    ).fit(held, t_held)
    k = kernels.Gaussian(1.0)
    m = svm.fit_dual(k(X), t, 2.0)
    found = calibration.fit_sigmoid(svm.output(m, k(X, held)), t_held)
    p = calibration.probability(found, svm.output(m, k(X, Z)))
    assert_allclose(p, calibrated.predict_proba(Z)[:, 1], atol=1e-4)


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_units_and_origin_of_the_scores_do_not_matter(unit, shift):
    y, t = scores()
    one = calibration.fit_sigmoid(y, t)
    other = calibration.fit_sigmoid(unit * (y + shift), t)
    assert_allclose(other.slope * unit, one.slope, rtol=1e-6)
    p = calibration.probability(one, y)
    again = calibration.probability(other, unit * (y + shift))
    assert_allclose(again, p, atol=1e-7)


def test_separated_scores_have_a_finite_sigmoid():
    y = np.array([-2.0, -1.0, 1.0, 2.0, 3.0])
    found = calibration.fit_sigmoid(y, np.sign(y))
    assert found.status == "converged"
    assert 0 < found.slope < 10
    p = calibration.probability(found, y)
    assert 0 < p.min() < p.max() < 1


def test_mean_probability_is_the_mean_target():
    y, t = scores()
    p = calibration.probability(calibration.fit_sigmoid(y, t), y)
    q = calibration.soft_targets(t)
    assert_allclose(p.mean(), q.mean(), rtol=1e-13)
    assert_allclose(p @ y, q @ y, rtol=1e-13)


def test_soft_targets_are_laplaces_rule():
    q = calibration.soft_targets([1, -1, -1, 1, 1, -1, -1])
    assert_allclose(q[[0, 1]], [4 / 5, 1 / 6])
    assert set(q) == {q[0], q[1]}


def test_a_sigmoid_that_is_not_done_says_so(monkeypatch):
    monkeypatch.setattr(calibration, "STEPS", 1)
    with pytest.warns(ConvergenceWarning, match=r"fit_sigmoid.*promised") as w:
        found = calibration.fit_sigmoid(*scores())
    assert found.status == "max_iterations"
    assert w[0].filename == __file__


def test_newton_stops_where_nothing_is_promised(monkeypatch):
    asked = []
    newton = _likelihood.newton

    def watched(function, start, stopping, *rest):
        asked.append(stopping)
        return newton(function, start, stopping, *rest)

    monkeypatch.setattr(_likelihood, "newton", watched)
    calibration.fit_sigmoid(*scores())
    assert asked == [(1e-12, 100)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: calibration.fit_sigmoid([2.0, 2.0], [1, -1]),
            "y must not be constant, got 2 throughout",
        ),
        (
            lambda: calibration.fit_sigmoid([1.0, 2.0], [1, 1]),
            "t must contain both -1 and .1, got only .1",
        ),
        (
            lambda: calibration.fit_sigmoid([1.0, 2.0, 3.0], [1, -1]),
            "t must have length 3, got 2",
        ),
        (
            lambda: calibration.soft_targets(1.0),
            "t must be one-dimensional and not empty",
        ),
        (
            lambda: calibration.soft_targets([0, 1]),
            "t must be -1 or .1, got 0",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
