"""Feature maps, toy data, counting: small modules, small tests."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook import counting, features, toydata


def test_noisy_sine_is_reproducible_sorted_and_as_noisy_as_said():
    x, t = toydata.noisy_sine(4000, noise=0.3, seed=5)
    again = toydata.noisy_sine(4000, noise=0.3, seed=5)
    assert np.array_equal([x, t], again)
    assert np.all(np.diff(x) >= 0)
    assert_allclose(np.std(t - np.sin(2 * np.pi * x)), 0.3, rtol=0.05)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_textbook_cholesky_solves_and_costs_what_its_docstring_says(n):
    rng = np.random.default_rng(n)
    B, b = rng.standard_normal((n, n)), rng.standard_normal(n)
    A = B @ B.T + np.eye(n)
    tally = counting.Tally()
    x = counting.cholesky_solve(tally.numbers(A), tally.numbers(b))
    assert_allclose(x.astype(float), np.linalg.solve(A, b))
    assert 6 * tally.multiplications == n**3 + 9 * n**2 + 2 * n


def test_tally_counts_products_powers_and_quotients_only():
    tally = counting.Tally()
    (x,) = tally.numbers([3.0])
    assert float(x + 1 - 2 + x) == 5.0
    assert float(2 + x) == 5.0
    assert tally.multiplications == 0
    assert float(2 * x / 4) == 1.5
    assert tally.multiplications == 2
    assert float(x**4) == 81.0
    assert tally.multiplications == 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: features.powers([1.0], -1), "degree must be a whole number"),
        (lambda: features.bumps([1.0], [0.0], 0.0), "width must be > 0"),
        (lambda: toydata.noisy_sine(0, 0.1, 0), "N must be a whole number"),
        (lambda: toydata.noisy_sine(3, -0.1, 0), "noise must be >= 0"),
    ],
)
def test_bad_input_names_argument_and_expectation(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_every_module_but_figures_needs_numpy_and_scipy_only():
    code = (
        "import importlib, pkgutil, sys, kernelbook\n"
        "blocked = 'matplotlib sklearn IPython pandas statsmodels'.split()\n"
        "sys.modules.update(dict.fromkeys(blocked))\n"
        "for module in pkgutil.iter_modules(kernelbook.__path__):\n"
        "    if module.name not in ('figures', '_film'):\n"
        "        importlib.import_module(f'kernelbook.{module.name}')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
