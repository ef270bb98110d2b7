"""Feature maps, toy data, counting: small modules, small tests."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook import counting, features, toydata


def test_noisy_sine_is_reproducible_sorted_and_as_noisy_as_said():
    x, t = toydata.noisy_sine(4000, noise=0.3, rng=5)
    again = toydata.noisy_sine(4000, noise=0.3, rng=5)
    assert np.array_equal([x, t], again)
    assert np.all(np.diff(x) >= 0)
    assert_allclose([x[0], np.median(x), x[-1]], [0, 0.5, 1], atol=0.02)
    assert_allclose(np.std(t - np.sin(2 * np.pi * x)), 0.3, rtol=0.05)


def test_two_blobs_are_standard_normal_but_for_the_distance():
    X, t = toydata.two_blobs(4001, distance=3.0, rng=1)
    Z, _ = toydata.two_blobs(4001, distance=0.0, rng=1)
    assert np.array_equal(t, (-1.0) ** np.arange(4001))
    assert_allclose(X - Z, np.outer(t, [1.5, 0.0]), atol=1e-15)
    assert_allclose(Z.mean(axis=0), 0, atol=0.05)
    assert_allclose(np.cov(Z.T), np.eye(2), atol=0.05)


def angles_over(low, high, angle):
    """Whether angles are spread evenly from low to high."""
    even = np.linspace(low, high, len(angle))
    return np.abs(np.sort(angle) - even).max() < 0.05 * (high - low)


def test_two_moons_are_two_half_circles_and_noise():
    X, t = toydata.two_moons(4001, noise=0.0, rng=2)
    assert np.array_equal(t, (-1.0) ** np.arange(4001))
    upper, lower = X[t > 0], [1.0, 0.5] - X[t < 0]
    for x, y in (upper.T, lower.T):
        assert_allclose(np.hypot(x, y), 1)
        assert angles_over(0, np.pi, np.arctan2(y, x))
    noise = toydata.two_moons(4001, noise=0.3, rng=2)[0] - X
    assert_allclose(np.cov(noise.T), 0.09 * np.eye(2), atol=0.01)


def test_two_rings_have_radius_one_and_two_and_noise_along_it():
    X, t = toydata.two_rings(4001, noise=0.0, rng=3)
    assert np.array_equal(t, -((-1.0) ** np.arange(4001)))
    assert_allclose(np.hypot(*X.T), np.where(t > 0, 2.0, 1.0))
    for label in (-1, 1):
        x, y = X[t == label].T
        assert angles_over(-np.pi, np.pi, np.arctan2(y, x))
    noisy, _ = toydata.two_rings(4001, noise=0.1, rng=3)
    along = (noisy * X).sum(axis=1) / np.hypot(*X.T)
    assert_allclose(np.hypot(*noisy.T), along)
    assert_allclose(np.std(along - np.hypot(*X.T)), 0.1, rtol=0.05)


def test_xor_has_four_corners_labelled_by_their_product():
    X, t = toydata.xor()
    assert {tuple(x) for x in X} == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    assert np.array_equal(t, X[:, 0] * X[:, 1])


def test_blobs_scatter_around_their_centres_in_turn():
    centres = np.array([[0.0, 5.0], [7.0, -1.0], [2.0, 2.0]])
    X, labels = toydata.blobs(centres, N=6001, spread=0.5, rng=4)
    assert np.array_equal(labels, np.arange(6001) % 3)
    noise = X - centres[labels]
    assert_allclose(noise.mean(axis=0), 0, atol=0.03)
    assert_allclose(np.cov(noise.T), 0.25 * np.eye(2), atol=0.02)


@pytest.mark.parametrize(
    ("data", "last"),
    [
        (lambda: toydata.noisy_sine(3, 0.3, rng=0)[1], -0.650),
        (lambda: toydata.two_blobs(3, 3.0, rng=0)[0], [0.964, 0.362]),
        (lambda: toydata.two_moons(3, 0.3, rng=0)[0], [1.276, -0.083]),
        (lambda: toydata.two_moons(2, 0.3, rng=0)[0], [0.177, -0.141]),
        (lambda: toydata.two_rings(3, 0.3, rng=0)[0], [1.017, -0.621]),
        (lambda: toydata.blobs(np.eye(2), 3, 1.0, rng=0)[0], [0.464, 0.362]),
    ],
)
def test_a_seed_means_the_same_data_in_every_version(data, last):
    assert_allclose(data()[-1], last, atol=5e-4)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_textbook_cholesky_solves_and_costs_what_its_docstring_says(n):
    rng = np.random.default_rng(n)
    B, b = rng.standard_normal((n, n)), rng.standard_normal(n)
    A = B @ B.T + np.eye(n)
    tally = counting.Tally()
    x = counting.cholesky_solve(tally.numbers(A), tally.numbers(b))
    assert_allclose(x.astype(float), np.linalg.solve(A, b))
    assert 6 * tally.multiplications == n**3 + 9 * n**2 + 2 * n
    assert 2 * tally.divisions == n * (n + 3)
    products = tally.multiplications - tally.divisions
    assert 6 * products == n**3 + 6 * n**2 - 7 * n


def test_tally_counts_products_powers_and_quotients_only():
    tally = counting.Tally()
    assert tally.numbers([[1.0], [2.0]]).shape == (2, 1)
    (x,) = tally.numbers([3.0])
    assert float(x + 1 - 2 + x) == 5.0
    assert float(2 + x) == 5.0
    assert tally.multiplications == tally.divisions == 0
    assert float(2 * x / 4) == 1.5
    assert tally.multiplications == 2
    assert tally.divisions == 1
    assert float(x**4) == 81.0
    assert tally.multiplications == 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: features.powers([1.0], -1), "degree must be a whole number"),
        (lambda: features.bumps([1.0], [0.0], 0.0), "width must be > 0"),
        (lambda: toydata.noisy_sine(0, 0.1, 0), "N must be a whole number"),
        (lambda: toydata.noisy_sine(3, -0.1, 0), "noise must be >= 0"),
        (lambda: toydata.two_blobs(1, 1.0, 0), "N must be .* >= 2, got 1"),
        (lambda: toydata.two_moons(1, 0.1, 0), "N must be .* >= 2, got 1"),
        (lambda: toydata.two_blobs(2, -1.0, 0), "distance must be >= 0"),
        (lambda: toydata.two_moons(2, -0.1, 0), "noise must be >= 0"),
        (lambda: toydata.two_rings(2, -0.1, 0), "noise must be >= 0"),
        (lambda: toydata.blobs([[0.0]], 1, -1.0, 0), "spread must be >= 0"),
        (lambda: toydata.two_rings(0, 0.1, 0), "N must be .* >= 1, got 0"),
        (
            lambda: toydata.blobs([[0.0], [1.0]], 1, 1.0, 0),
            "N must be .* >= 2, got 1",
        ),
        (lambda: toydata.two_moons(2, 0.1, "x"), "rng must be a seed"),
        (
            lambda: counting.Tally().numbers([[1.0, np.nan]]),
            "values must be finite",
        ),
    ],
)
def test_bad_input_names_argument_and_expectation(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_only_figures_and_estimators_need_more_than_numpy_and_scipy():
    code = (
        "import importlib, pkgutil, sys, kernelbook\n"
        "blocked = 'matplotlib sklearn IPython pandas statsmodels'.split()\n"
        "sys.modules.update(dict.fromkeys(blocked))\n"
        "for module in pkgutil.iter_modules(kernelbook.__path__):\n"
        "    if module.name not in ('figures', '_film', 'estimators'):\n"
        "        importlib.import_module(f'kernelbook.{module.name}')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
