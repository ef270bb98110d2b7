"""Sums of kernels: asked for in blocks, and kept in inputs of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook import _expansion
from kernelbook.kernels import Gaussian, Linear, Spectrum


@pytest.mark.parametrize("columns", [(), (2,)])
def test_a_sum_of_kernels_is_one_product_whatever_the_blocks(columns):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((7, 2)), rng.standard_normal((300, 2))
    a = rng.standard_normal((7, *columns))
    k = Gaussian(0.5)
    sums = np.tensordot(k(X, Z), a, axes=(0, 0))
    assert_allclose(_expansion.Expansion(k, X, a).output(Z), sums)
    biased = _expansion.Expansion(k, X, a, b=3.0)
    assert_allclose(biased.output(Z), sums + 3.0)


def test_inputs_are_copied_and_some_of_them_chosen():
    X = np.arange(6.0).reshape(3, 2)
    own = _expansion.own_inputs(Linear(), X)
    X[:] = 9.0
    assert own.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert _expansion.chosen(own, np.array([2, 0])).tolist() == [
        [4, 5],
        [0, 1],
    ]
    words = _expansion.own_inputs(Spectrum(1), ["a", "bb", "c"])
    assert words == ("a", "bb", "c")
    assert _expansion.chosen(words, np.array([2, 0])) == ("c", "a")


def test_what_is_no_kernel_or_overflows_is_refused():
    with pytest.raises(ValueError, match="k must be a Kernel, got str"):
        _expansion.own_inputs("rbf", [[1.0]])
    with (
        np.errstate(over="ignore"),
        pytest.raises(ValueError, match=r"k\(X\) of .* must be finite"),
    ):
        _expansion.gram(Linear(), np.array([[1e200]]))
