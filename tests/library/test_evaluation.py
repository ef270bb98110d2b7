"""Accuracy, log loss and calibration: loops, scikit-learn, and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score
from sklearn.metrics import log_loss as sklearn_log_loss

from kernelbook import evaluation

cases = st.tuples(st.integers(1, 30), st.integers(2, 5), st.integers(0, 10**6))


def random_case(case):
    N, K, seed = case
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(K), N)
    return P, rng.integers(0, K, N)


@given(cases)
def test_log_loss_is_scikit_learns(case):
    P, t = random_case(case)
    theirs = sklearn_log_loss(t, P, labels=np.arange(P.shape[1]))
    assert_allclose(evaluation.log_loss(P, t), theirs, rtol=1e-9)


@given(cases)
def test_accuracy_is_scikit_learns(case):
    P, t = random_case(case)
    predicted = P.argmax(axis=1)
    assert evaluation.accuracy(predicted, t) == accuracy_score(t, predicted)


@given(cases, st.integers(1, 12))
def test_reliability_is_scikit_learns_curve(case, bins):
    P, t = random_case(case)
    p, happened = P[:, 0], (t == 0).astype(float)
    observed, predicted = calibration_curve(happened, p, n_bins=bins)
    found = evaluation.reliability(p, happened, bins)
    assert_allclose(found.predicted, predicted)
    assert_allclose(found.observed, observed)
    assert found.counts.sum() == len(t)


@given(cases, st.integers(1, 12))
def test_calibration_error_is_its_sum_bin_by_bin(case, bins):
    P, t = random_case(case)
    p, happened = P[:, 0], (t == 0).astype(float)
    total = 0.0
    for j in range(bins):
        last = j == bins - 1
        inside = (p >= j / bins) & ((p < (j + 1) / bins) | last)
        if inside.any():
            total += abs(happened[inside].sum() - p[inside].sum()) / len(p)
    assert_allclose(evaluation.calibration_error(p, happened, bins), total)


def test_true_probabilities_are_calibrated_and_doubled_odds_are_not():
    rng = np.random.default_rng(0)
    p = rng.random(40_000)
    happened = (rng.random(40_000) < p).astype(float)
    sharper = p**2 / (p**2 + (1 - p) ** 2)
    assert evaluation.calibration_error(p, happened) < 0.01
    assert evaluation.calibration_error(sharper, happened) > 0.05


def test_the_last_bin_takes_probability_one():
    found = evaluation.reliability([1.0, 0.95, 0.0], [1, 0, 0], bins=10)
    assert_allclose(found.counts, [1, 2])


def test_an_impossible_event_that_happens_costs_infinitely_much():
    assert evaluation.log_loss([[1.0, 0.0]], [1]) == np.inf
    assert str(evaluation.log_loss([[1.0, 0.0]], [0])) == "0.0"


def test_probabilities_of_single_precision_sum_to_one_to_their_precision():
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(5), 400)
    t = rng.integers(0, 5, 400)
    single = P.astype(np.float32)
    assert np.abs(single.astype(float).sum(axis=1) - 1).max() > 1e-9
    assert_allclose(
        evaluation.log_loss(single, t), evaluation.log_loss(P, t), rtol=1e-6
    )
    with pytest.raises(ValueError, match="rows of P must sum to 1"):
        evaluation.log_loss(single * np.float32(1 + 1e-5), t)


@pytest.mark.parametrize("gap", [0.9e-9, -0.9e-9, 1.1e-9, -1.1e-9])
def test_rows_may_miss_one_by_a_billionth(gap):
    P = [[0.5, 0.5], [0.5, 0.5 + gap]]
    if abs(gap) < 1e-9:
        assert_allclose(evaluation.log_loss(P, [0, 0]), np.log(2))
    else:
        with pytest.raises(ValueError, match="rows of P must sum to 1"):
            evaluation.log_loss(P, [0, 0])


def test_ten_bins_unless_told_otherwise():
    p = np.linspace(0.005, 0.995, 100)
    happened = (p > 0.5).astype(float)
    assert len(evaluation.reliability(p, happened).counts) == 10
    assert_allclose(
        evaluation.calibration_error(p, happened),
        evaluation.calibration_error(p, happened, bins=10),
    )
    for bins in (9, 11):
        assert evaluation.calibration_error(
            p, happened
        ) != evaluation.calibration_error(p, happened, bins)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: evaluation.log_loss([[0.5, 0.5], [0.5, 0.6]], [0, 0]),
            r"the rows of P must sum to 1, got 1.1 in row 1",
        ),
        (
            lambda: evaluation.log_loss([[0.5, 0.5], [0.5, 0.4]], [0, 0]),
            r"the rows of P must sum to 1, got 0.9 in row 1",
        ),
        (
            lambda: evaluation.log_loss([[-0.5, 1.5]], [0]),
            "P must not be negative, got -0.5",
        ),
        (
            lambda: evaluation.log_loss([[0.5, 0.5]], [2]),
            "t must be whole numbers from 0 to 1, got 2",
        ),
        (
            lambda: evaluation.log_loss([[0.5, 0.5]], [0.5]),
            "t must be whole numbers from 0 to 1, got 0.5",
        ),
        (
            lambda: evaluation.log_loss([[0.5, 0.5]], [0, 1]),
            "t must have length 1, got 2",
        ),
        (
            lambda: evaluation.log_loss([[np.nan, 0.5]], [0]),
            "P must be finite",
        ),
        (
            lambda: evaluation.accuracy([0, 1], [0]),
            "predicted must have length 1, got 2",
        ),
        (
            lambda: evaluation.reliability([0.5, 1.5], [1, 0]),
            "p must be between 0 and 1, got 1.5",
        ),
        (
            lambda: evaluation.reliability([0.5, -0.5], [1, 0]),
            "p must be between 0 and 1, got -0.5",
        ),
        (
            lambda: evaluation.accuracy([0, 1], [0, np.nan]),
            "t must be finite",
        ),
        (
            lambda: evaluation.reliability([0.5], [-1]),
            "happened must be 0 or 1, got -1",
        ),
        (
            lambda: evaluation.calibration_error([0.5], [1], bins=0),
            "bins must be a whole number >= 1, got 0",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
