"""One Cholesky factorisation: against NumPy, in place, and when it fails."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kernelbook import _linalg
from kernelbook.exceptions import JitterWarning

sizes = st.tuples(st.integers(1, 9), st.integers(0, 10**6))


def positive_definite(sizes):
    N, seed = sizes
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((N, N))
    return B @ B.T + np.eye(N), rng


def crowded(N=60):
    x = np.linspace(0, 1, N)
    return np.exp(-((x[:, None] - x) ** 2))


@given(sizes)
def test_the_factor_is_numpys_and_solves(sizes):
    C, rng = positive_definite(sizes)
    B = rng.standard_normal((len(C), 3))
    factor = _linalg.factor(C, "C")
    assert_allclose(factor.U.T, np.linalg.cholesky(C), rtol=1e-9, atol=1e-9)
    assert_allclose(factor.solve(B), np.linalg.solve(C, B), atol=1e-8)
    V = factor.whiten(B)
    assert_allclose(V.T @ V, B.T @ np.linalg.solve(C, B), atol=1e-8)
    sign, log_determinant = np.linalg.slogdet(C)
    assert_allclose(factor.log_determinant(), log_determinant, atol=1e-9)
    assert sign == 1 and factor.jitter == 0


def test_the_matrix_is_left_alone_unless_its_memory_is_handed_over():
    C, rng = positive_definite((7, 0))
    before = C.copy()
    U = _linalg.factor(C, "C").U
    assert np.array_equal(C, before)
    factor = _linalg.factor(C, "C", overwrite=True)
    assert np.shares_memory(factor.U, C)
    assert np.array_equal(factor.U, U)
    b = rng.standard_normal((7, 2), dtype=float)
    kept = b.copy()
    factor.whiten(b), factor.solve(b)
    assert np.array_equal(b, kept)


@pytest.mark.parametrize("overwrite", [False, True])
def test_jitter_repairs_the_matrix_that_was_given(overwrite):
    C = crowded()
    before = C.copy()
    with pytest.warns(JitterWarning, match="K is positive .* added 1.3e-13"):
        factor = _linalg.factor(C, "K", overwrite)
    assert_allclose(factor.jitter, 10 * 60 * np.finfo(float).eps)
    added = factor.U.T @ factor.U - before
    assert_allclose(np.diag(added), factor.jitter, rtol=0.1)
    assert_allclose(added, np.diag(np.diag(added)), atol=1e-14)
    assert np.array_equal(np.tril(factor.U, -1), np.zeros((60, 60)))
    assert overwrite or np.array_equal(C, before)
    assert np.shares_memory(factor.U, C) == overwrite


def test_jitter_is_reported_to_whoever_called_the_library():
    def library_function(C):
        _linalg.factor(C, "K")

    with pytest.warns(JitterWarning) as seen:
        line = inspect.currentframe().f_lineno + 1
        library_function(crowded())
    (warning,) = seen
    assert (warning.filename, warning.lineno) == (__file__, line)


def test_an_indefinite_matrix_says_pivot_eigenvalue_and_shift():
    C = np.eye(3)
    C[1, 2] = C[2, 1] = 2.0
    message = (
        r"C must be positive definite, got smallest eigenvalue -1 \(pivot 3 "
        r"of 3 is -3\); it would take 1 on the diagonal"
    )
    with pytest.raises(ValueError, match=message):
        _linalg.factor(C, "C", overwrite=True)
    with pytest.raises(ValueError, match=r"-2 .* rounding explains 6\.7e-15"):
        _linalg.factor(np.diag([1.0, -2.0]), "C")


def test_appending_columns_gives_the_factor_of_the_larger_matrix():
    C, _ = positive_definite((40, 1))
    factor = _linalg.factor(C[:3, :3], "C")
    for n in range(3, 40):
        factor = factor.append(C[:n, n], C[n, n])
        again = np.linalg.cholesky(C[: n + 1, : n + 1]).T
        assert_allclose(factor.U, again, atol=1e-10)
        b = np.arange(n + 1.0)
        solution = np.linalg.solve(C[: n + 1, : n + 1], b)
        assert_allclose(factor.solve(b), solution, rtol=1e-8)


def test_appending_makes_room_for_more_but_not_for_much_more():
    factor = _linalg.factor(np.eye(200), "C").append(np.zeros(200), 1.0)
    assert np.array_equal(factor.U, np.eye(201))
    assert 201 < len(factor.store) < 1.25 * 201


def test_two_appends_to_one_factor_do_not_disturb_each_other():
    C, _ = positive_definite((6, 2))
    old = _linalg.factor(C, "C").append(np.zeros(6), 1.0)
    kept = old.U.copy()
    one = old.append(np.full(7, 0.1), 2.0)
    first = one.U.copy()
    two = old.append(np.full(7, 0.2), 3.0)
    assert np.shares_memory(one.U, old.U)  # no copy was made for it
    assert not np.array_equal(one.U, two.U)
    assert np.array_equal(one.U, first)
    assert np.array_equal(old.U, kept)


def test_an_appended_column_gets_the_jitter_of_the_others():
    old = _linalg.Factor(np.array([[2.0]]), 1, jitter=0.5)  # of C = 3.5
    new = old.append(np.array([1.0]), 3.5)
    C = np.array([[3.5, 1.0], [1.0, 3.5]])
    assert_allclose(new.U.T @ new.U, C + 0.5 * np.eye(2))
    assert new.jitter == 0.5


def test_appending_what_rounding_makes_singular_raises():
    factor = _linalg.factor(np.array([[1.0]]), "C")
    with pytest.raises(np.linalg.LinAlgError, match="pivot 2 is 0"):
        factor.append(np.array([1.0]), 1.0)


@given(sizes)
def test_the_inverse_stands_below_the_diagonal(sizes):
    C, _ = positive_definite(sizes)
    lower = np.tril(_linalg.factor(C, "C").into_inverse())
    assert_allclose(lower, np.tril(np.linalg.inv(C)), atol=1e-8)


def test_a_number_is_added_to_the_diagonal_of_a_copy_unless_told():
    K = crowded(4)
    wanted = K + 0.5 * np.eye(4)
    assert_allclose(_linalg.add_to_diagonal(K, 0.5), wanted)
    assert np.array_equal(K, crowded(4))
    assert _linalg.add_to_diagonal(K, 0.5, overwrite=True) is K
    assert_allclose(K, wanted)


def test_symmetric_root_squares_back_even_when_singular():
    C = crowded()
    S = _linalg.symmetric_root(C)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(S @ S, C, atol=1e-12)
    assert_allclose(S, S.T, atol=1e-12)
    rounded = _linalg.symmetric_root(np.diag([1.0, -1e-12]))
    assert_allclose(rounded, np.diag([1.0, 0.0]), atol=1e-15)
    assert np.linalg.eigvalsh(S).min() > -1e-10
