"""The checks of arguments: what passes, and what the refusal says."""

from datetime import timedelta
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csr_array

from kernelbook import _checks


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: _checks.matrix([[1, 2]], "X"), [[1.0, 2.0]]),
        (
            lambda: _checks.matrix([[1e308] * 9], "X"),
            [[1e308] * 9],
        ),  # a sum of inf
        (lambda: _checks.vector([1, 2], "t"), [1.0, 2.0]),
        (lambda: _checks.vector([1, 2], "t", 2), [1.0, 2.0]),
        (lambda: _checks.gram([[0, 0], [0, 0]]), np.zeros((2, 2))),
        (lambda: _checks.cross_gram([[1, 2, 3]], 1, "k"), [[1.0, 2.0, 3.0]]),
        (lambda: _checks.positive(1e-300, "lam"), 1e-300),
        (lambda: _checks.non_negative(0, "lam"), 0.0),
        (lambda: _checks.non_negative(0.5, "lam"), 0.5),
        (lambda: _checks.real(np.float32(-1.5), "b"), -1.5),
        (lambda: _checks.real(np.array(-1.5), "b"), -1.5),
        (lambda: _checks.vector([Fraction(1, 4)], "t"), [0.25]),
        (lambda: _checks.vector([True, False], "t"), [1.0, 0.0]),
        (lambda: _checks.one_or_more_columns([1, 2], "t", 2), [1.0, 2.0]),
        (lambda: _checks.one_or_more_columns([[1, 2]], "t", 1), [[1.0, 2.0]]),
        (lambda: _checks.count(1.0, "N"), 1),
        (lambda: _checks.count(0, "N", least=0), 0),
        (lambda: _checks.signs([1, 1, -1], "t", 3), [1.0, 1.0, -1.0]),
        (lambda: _checks.both_signs([1, -1], "t", 2), [1.0, -1.0]),
        (
            lambda: _checks.signs(np.array([1, -1], object), "t", 2),
            [1.0, -1.0],
        ),
        (lambda: _checks.classes([0, 2, 0], "t", 3), [0, 2, 0]),
        (lambda: _checks.every_class([1, 0, 1], "t", 3, 2), [1, 0, 1]),
        (lambda: _checks.every_class([1, 0, 2], "t", 3), [1, 0, 2]),
        (lambda: _checks.counts([[2**52, 2**52]], "X"), [[2.0**52, 2.0**52]]),
        (lambda: _checks.counts([[0, 3]], "X"), [[0.0, 3.0]]),
        (lambda: _checks.columns([[1, 2]], "X", 2), [[1.0, 2.0]]),
        (lambda: _checks.indices([2, 0], "keep", 3), [2, 0]),
    ],
)
def test_good_input_becomes_floats_or_whole_numbers(call, value):
    checked = call()
    assert_array_equal(checked, value)
    assert np.asarray(checked).dtype == np.asarray(value).dtype


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: _checks.matrix([1.0, 2.0], "X"),
            r"X must be two-dimensional, got shape \(2,\); write X\[:, None\]",
        ),
        (
            lambda: _checks.matrix(np.ones((1, 1, 1)), "X"),
            r"X must be two-dimensional and not empty, got shape \(1, 1, 1\)",
        ),
        (
            lambda: _checks.matrix(np.ones((0, 3)), "X"),
            r"X must be two-dimensional and not empty, got shape \(0, 3\)",
        ),
        (
            lambda: _checks.matrix([["a"]], "X"),
            "X must hold real numbers, got <U1",
        ),
        (
            lambda: _checks.matrix([[np.inf, -np.inf, 1.0]], "X"),
            "X must be finite, got 2 NaN or inf",
        ),
        (
            lambda: _checks.vector([np.nan, 1.0, 2.0], "t"),
            "t must be finite, got 1 NaN or inf",
        ),
        (
            lambda: _checks.vector([[1.0]], "t"),
            r"t must be one-dimensional and not empty, got shape \(1, 1\)",
        ),
        (
            lambda: _checks.vector([], "t"),
            r"t must be one-dimensional and not empty, got shape \(0,\)",
        ),
        (
            lambda: _checks.vector([1.0, 2.0], "t", 3),
            "t must have length 3, got 2",
        ),
        (
            lambda: _checks.gram(np.ones((2, 3))),
            r"K must be a square Gram matrix k\(X\), got shape \(2, 3\)",
        ),
        (
            lambda: _checks.gram(np.ones((3, 2)), "C"),
            r"C must be a square Gram matrix k\(X\), got shape \(3, 2\)",
        ),
        (
            lambda: _checks.cross_gram([[1.0, 2.0]], 2, "k"),
            r"k must have one row per .*, shape \(2, N\*\), got \(1, 2\)",
        ),
        (
            lambda: _checks.same_columns(np.ones((4, 2)), np.ones((4, 3))),
            r"same number of columns, got \(4, 2\) and \(4, 3\)",
        ),
        (lambda: _checks.positive(0, "lam"), "lam must be > 0, got 0"),
        (lambda: _checks.positive(-1, "lam"), "lam must be > 0, got -1"),
        (lambda: _checks.positive([1, 2], "lam"), "lam must be a number"),
        (
            lambda: _checks.non_negative(-1e-9, "lam"),
            "lam must be >= 0, got -1e-09",
        ),
        (lambda: _checks.non_negative(None, "lam"), "lam must be a number"),
        (lambda: _checks.real("1.5", "b"), "b must be a real .*, got '1.5'"),
        (lambda: _checks.real(object(), "b"), "b must be a number, got <obj"),
        (
            lambda: _checks.real([1.5], "b"),
            r"b must be a number, got an array of shape \(1,\)",
        ),
        (lambda: _checks.real(1 + 0j, "b"), "b must be a real number, got"),
        (lambda: _checks.real(np.ma.masked, "b"), "b must be a real number"),
        (
            lambda: _checks.real(np.datetime64(1, "s"), "b"),
            "b must be a real number, got np.datetime64",
        ),
        (
            lambda: _checks.vector([1j, 2.0], "t"),
            "t must hold real numbers, got complex128",
        ),
        (
            lambda: _checks.vector(["0.5", "1"], "t"),
            "t must hold real numbers, got <U3",
        ),
        (
            lambda: _checks.vector(np.array([0.5, "1"], dtype=object), "t"),
            "t must hold real numbers, got str",
        ),
        (
            lambda: _checks.vector(np.array([1, 2], dtype="M8[s]"), "t"),
            r"t must hold real numbers, got datetime64\[s\]",
        ),
        (
            lambda: _checks.vector([timedelta(1), timedelta(2)], "t"),
            "t must hold real numbers, got timedelta",
        ),
        (
            lambda: _checks.vector(np.ma.array([1.0, 2.0]), "t"),
            "t must have no mask, got a masked array",
        ),
        (
            lambda: _checks.matrix(csr_array([[1.0]]), "X"),
            r"X must be dense here, got a sparse csr_array; write X.toarray",
        ),
        (
            lambda: _checks.vector([[1.0], [2.0, 3.0]], "t"),
            "t must be an array of numbers, got list",
        ),
        (
            lambda: _checks.vector([None, 1.0], "t"),
            "t must be finite, got 1 NaN or inf",
        ),
        (
            lambda: _checks.one_or_more_columns([[1.0]], "t", 2),
            r"t must have one row per example, shape \(2, Q\), got \(1, 1\)",
        ),
        (
            lambda: _checks.matrix_or_sparse(csr_array((0, 2)), "X"),
            r"X must be two-dimensional and not empty, got shape \(0, 2\)",
        ),
        (
            lambda: _checks.matrix_or_sparse(coo_array([1.0, 2.0]), "X"),
            r"X must be two-dimensional and not empty, got shape \(2,\)",
        ),
        (
            lambda: _checks.matrix_or_sparse(csr_array([[np.nan]]), "X"),
            "X must be finite, got 1 NaN or inf",
        ),
        (
            lambda: _checks.matrix_or_sparse([1.0], "X"),
            "X must be two-dimensional, got shape",
        ),
        (
            lambda: _checks.generator("seven"),
            "rng must be a seed, .* or a NumPy Generator, got 'seven'",
        ),
        (lambda: _checks.generator(-1), "rng must be a seed, .* got -1"),
        (lambda: _checks.real(np.inf, "b"), "b must be finite, got inf"),
        (
            lambda: _checks.count(1.5, "N"),
            "N must be a whole number >= 1, got 1.5",
        ),
        (
            lambda: _checks.count(0, "N"),
            "N must be a whole number >= 1, got 0",
        ),
        (
            lambda: _checks.count(-1, "N", least=0),
            "N must be a whole number >= 0, got -1",
        ),
        (lambda: _checks.count(np.nan, "N"), "N must be finite, got nan"),
        (
            lambda: _checks.signs([1, -2], "t", 2),
            r"t must be -1 or \+1, got -2",
        ),
        (
            lambda: _checks.signs([1, -1], "t", 3),
            "t must have length 3, got 2",
        ),
        (
            lambda: _checks.both_signs([1, 1], "t", 2),
            r"t must contain both -1 and \+1, got only \+1",
        ),
        (
            lambda: _checks.both_signs([-1, -1], "t", 2),
            r"t must contain both -1 and \+1, got only -1",
        ),
        (
            lambda: _checks.both_signs([0, 1], "t", 2),
            r"t must be -1 or \+1, got 0",
        ),
        (
            lambda: _checks.classes([0, 1.5], "t", 3),
            "t must be whole numbers from 0 to 2, got 1.5",
        ),
        (
            lambda: _checks.classes([0, -1], "t", 3),
            "t must be whole numbers from 0 to 2, got -1",
        ),
        (
            lambda: _checks.classes([0, 3], "t", 3),
            "t must be whole numbers from 0 to 2, got 3",
        ),
        (
            lambda: _checks.classes([0, 0], "t", 1),
            "K must be a whole number >= 2, got 1",
        ),
        (
            lambda: _checks.classes([0, 1], "t", 2, 3),
            "t must have length 3, got 2",
        ),
        (
            lambda: _checks.every_class([0, 2], "t", 2, 3),
            "t must contain every class from 0 to 2, got none of class 1",
        ),
        (
            lambda: _checks.every_class([0, 2], "t", 2),
            r"from 0 to 1, got 2; labels.coding\(t\).classes\(t\) makes it so",
        ),
        (
            lambda: _checks.every_class([-1, 1], "t", 2),
            "t must be whole numbers from 0 to 1, got -1",
        ),
        (
            lambda: _checks.every_class([0, 0], "t", 2),
            "t must contain every class from 0 to 1, got none of class 1",
        ),
        (
            lambda: _checks.every_class([0, 1], "t", 3),
            "t must have length 3, got 2",
        ),
        (
            lambda: _checks.signs(["ham", "spam"], "t", 2),
            r"t must be numbers, got .*'ham'.*; labels.coding\(t\).signs\(t\)",
        ),
        (
            lambda: _checks.classes(np.array(["ham"], object), "t", 2),
            r"t must be numbers, got 'ham'; labels.coding\(t\).classes\(t\)",
        ),
        (
            lambda: _checks.signs(np.array([1, "ham"], object), "t", 2),
            r"t must be numbers, .*; labels.coding\(t\).signs\(t\)",
        ),
        (
            lambda: _checks.counts([[1, -1]], "X"),
            "X must hold counts, whole numbers >= 0, got -1",
        ),
        (
            lambda: _checks.counts([[1, 0.5]], "X"),
            "X must hold counts, whole numbers >= 0, got 0.5",
        ),
        (
            lambda: _checks.counts([[2**53, 2]], "X"),
            r"X must add up to at most 2\*\*53, .* got 9.01e\+15",
        ),
        (lambda: _checks.counts([1, 2], "X"), "X must be two-dimensional"),
        (
            lambda: _checks.columns([[1, 2]], "X", 1),
            r"one column per feature, shape \(N, 1\), got \(1, 2\)",
        ),
        (
            lambda: _checks.columns([1, 2], "X", 2),
            "X must be two-dimensional",
        ),
        (
            lambda: _checks.indices([0, 3], "keep", 3),
            r"distinct whole numbers from 0 to 2, got \[0, 3\]",
        ),
        (
            lambda: _checks.indices([0, -1], "keep", 3),
            r"distinct whole numbers from 0 to 2, got \[0, -1\]",
        ),
        (
            lambda: _checks.indices([0, 1.5], "keep", 3),
            r"distinct whole numbers from 0 to 2, got \[0, 1.5\]",
        ),
        (
            lambda: _checks.indices([1, 1], "keep", 3),
            r"distinct whole numbers from 0 to 2, got \[1, 1\]",
        ),
        (
            lambda: _checks.indices([], "keep", 3),
            "keep must be one-dimensional and not empty",
        ),
    ],
)
def test_refusal_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_seed_and_its_generator_draw_the_same():
    ours, theirs = _checks.generator(7), np.random.default_rng(7)
    assert ours.random() == theirs.random()
    assert _checks.generator(theirs) is theirs
    assert _checks.generator(None).random() != _checks.generator(None).random()


@pytest.mark.parametrize(
    ("values", "eps"),
    [
        (np.ones(2, np.float32), 2.0**-23),
        (np.ones(2, np.float16), 2.0**-10),
        (np.ones(2), 2.0**-52),
        (np.ones(2, np.longdouble), 2.0**-52),  # cut to float64
        (np.ones(2, np.int8), 2.0**-52),
        ([1.0], 2.0**-52),
    ],
)
def test_precision_is_that_of_the_numbers_that_came(values, eps):
    assert _checks.precision(values) == eps


def test_symmetry_of_single_precision_is_judged_as_such():
    K = np.array([[1.0, 0.2], [0.2 + 1e-6, 0.5]])
    with pytest.raises(ValueError, match="K must be symmetric"):
        _checks.gram(K)
    _checks.gram(K.astype(np.float32))
    K[0, 1] += 1e-3
    with pytest.raises(ValueError, match="K must be symmetric"):
        _checks.gram(K.astype(np.float32))


def test_sparse_input_stays_sparse_and_is_not_the_callers():
    X = csr_array(np.diag([1.0, 2.0]))
    ours = _checks.matrix_or_sparse(X.astype(np.int8), "X")
    assert ours.dtype == np.float64
    assert_array_equal(ours.toarray(), X.toarray())
    assert _checks.matrix_or_sparse(csr_array((2, 2)), "X").nnz == 0


@pytest.mark.parametrize("N", [3, 5000])
def test_large_or_small_an_array_is_finite_if_its_entries_are(N):
    x = np.full(N, 1e308)  # their sum is not
    assert_array_equal(_checks.vector(x, "t"), x)
    for wrong in (np.nan, np.inf, -np.inf):
        x[N // 2] = wrong
        with pytest.raises(ValueError, match="t must be finite, got 1 NaN"):
            _checks.vector(x, "t")


def test_an_array_of_floats_is_not_copied():
    X = np.eye(3)
    assert np.shares_memory(_checks.matrix(X, "X"), X)


@pytest.mark.parametrize("scale", [1e-20, 1.0, -1.0, 1e20])
def test_symmetry_is_judged_relative_to_the_largest_entry(scale):
    K = np.array([[1.0, 0.2], [0.2, 0.5]])
    K[0, 1] += 5e-11
    _checks.gram(scale * K)
    K[0, 1] += 1e-9
    with pytest.raises(ValueError, match=r"K must be symmetric, got entries"):
        _checks.gram(scale * K)


@pytest.mark.parametrize(
    "place",
    [(0, 299), (299, 0), (5, 255), (256, 255), (257, 290), (290, 140)],
)
def test_asymmetry_is_found_wherever_it_is(place):
    K = np.ones((300, 300))
    K[place] = 1.5
    with pytest.raises(ValueError, match=r"their mirror image by 0\.5"):
        _checks.gram(K)
    K[place] = 0.5
    with pytest.raises(ValueError, match=r"their mirror image by 0\.5"):
        _checks.gram(K)
