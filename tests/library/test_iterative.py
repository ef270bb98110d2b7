"""Iteration: the answers of Cholesky, and residuals that are true."""

import tracemalloc
from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from kernelbook import _progress, iterative, nystrom, ridge
from kernelbook.exceptions import ConvergenceWarning
from kernelbook.kernels import Constant, Gaussian, Linear, Spectrum

K = Gaussian(0.5)


def data(N=120, Q=None, seed=0, D=2):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(N, D)), rng.normal(size=(9, D))
    t = np.sin(X[:, 0]) + 0.1 * rng.normal(size=N)
    return X, t if Q is None else np.outer(t, 1 + np.arange(Q)), Z


# ------------------------------------------------------------------ products


@pytest.mark.parametrize("N", [1, 255, 256, 257, 600])
def test_products_are_those_of_the_matrix(N):
    X, t, _ = data(N, D=12)
    k = 2.0 * K + Constant(0.3)
    V = np.column_stack([t, t**2, np.ones(N)])
    A = iterative.RegularisedGram(k, X, 0.7)
    dense = k(X) + 0.7 * np.eye(N)
    assert len(A) == N
    assert_allclose(A @ t, dense @ t, atol=1e-10)
    assert_allclose(A @ V, dense @ V, atol=1e-10)


def test_products_of_objects_and_sparse_rows():
    words = ["ab", "bc", "abc"] * 60
    k, v = Spectrum(1), np.arange(180.0)
    A = iterative.RegularisedGram(k, words, 0.5)
    assert_allclose(A @ v, k(words) @ v + 0.5 * v)
    X, t, _ = data()
    B = iterative.RegularisedGram(Linear(), csr_array(X), 0.0)
    assert_allclose(B @ t, X @ (X.T @ t))


def test_products_do_not_store_the_matrix():
    X, t, _ = data(2000)
    A = iterative.RegularisedGram(K, X, 0.1)
    tracemalloc.start()
    A @ t
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * 2000**2


def test_bad_input_of_products():
    X, t, _ = data()
    with pytest.raises(ValueError, match="lam must be >= 0, got -1"):
        iterative.RegularisedGram(K, X, -1.0)
    with pytest.raises(ValueError, match="k must be a Kernel"):
        iterative.RegularisedGram(1, X, 1.0)
    with pytest.raises(ValueError, match="V must have length 120, got 119"):
        iterative.RegularisedGram(K, X, 1.0) @ t[1:]


# ------------------------------------------------------ conjugate gradients


def definite(N=30, seed=0, least=0.1):
    R = np.random.default_rng(seed).normal(size=(N, N))
    return R @ R.T / N + least * np.eye(N)


@pytest.mark.parametrize("Q", [None, 1, 4])
def test_conjugate_gradients_solve(Q):
    A = definite()
    b = np.random.default_rng(1).normal(size=30 if Q is None else (30, Q))
    found = iterative.conjugate_gradients(A, b, tolerance=1e-12)
    assert_allclose(found.x, np.linalg.solve(A, b), rtol=1e-9, atol=1e-10)
    true = np.linalg.norm(b - A @ found.x, axis=0) / np.linalg.norm(b, axis=0)
    assert found.residual == pytest.approx(true.max(), rel=1e-6)
    assert found.residual <= 1e-12
    assert found.status == "converged"
    assert found.iterations == len(found.residuals)


def test_they_end_after_as_many_steps_as_there_are_eigenvalues():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    A = Q * np.repeat([1.0, 5.0, 20.0], 10) @ Q.T
    b = np.random.default_rng(1).normal(size=30)
    found = iterative.conjugate_gradients((A + A.T) / 2, b, tolerance=1e-10)
    assert found.iterations == 3


def test_errors_obey_the_bound_of_the_condition_number():
    A, b = definite(), np.ones(30)
    kappa = np.linalg.cond(A)
    rate = (np.sqrt(kappa) - 1) / (np.sqrt(kappa) + 1)
    exact = np.linalg.solve(A, b)
    for n in (1, 4, 8, 12):
        with pytest.warns(ConvergenceWarning, match="max_iterations"):
            found = iterative.conjugate_gradients(
                A, b, tolerance=1e-15, max_iterations=n
            )
        assert (found.status, found.iterations) == ("max_iterations", n)
        e = found.x - exact
        assert e @ A @ e <= (2 * rate**n) ** 2 * (exact @ A @ exact)
        assert found.residual == pytest.approx(found.residuals[-1], rel=1e-6)


def test_a_perfect_preconditioner_takes_one_step():
    A, b = definite(), np.ones(30)
    found = iterative.conjugate_gradients(
        A, b, lambda R: np.linalg.solve(A, R), tolerance=1e-10
    )
    assert found.iterations == 1
    assert_allclose(found.x, np.linalg.solve(A, b))


def test_right_hand_sides_that_are_solved_wait_for_the_others():
    A = np.diag([1.0, 2.0, 3.0])
    b = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    found = iterative.conjugate_gradients(A, b, tolerance=1e-12)
    assert_allclose(found.x, np.linalg.solve(A, b), atol=1e-12)
    assert found.iterations == 3
    zero = iterative.conjugate_gradients(A, np.zeros(3))
    assert (zero.iterations, zero.residual) == (0, 0.0)
    assert not zero.x.any()


def test_a_residual_that_rounding_keeps_is_not_claimed():
    A = definite(60, least=1e-9) @ definite(60, least=1e-9)
    A = (A + A.T) / 2
    with pytest.warns(ConvergenceWarning, match="stalled"):
        found = iterative.conjugate_gradients(
            A, np.ones(60), tolerance=1e-16, max_iterations=100_000
        )
    assert found.status == "stalled"
    assert found.residual > 1e-16


def test_the_iteration_starts_again_where_its_residual_has_drifted():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(80, 80)))[0]
    A = Q * np.logspace(0, 7, 80) @ Q.T
    A, b = (A + A.T) / 2, rng.normal(size=80)
    found = iterative.conjugate_gradients(
        A, b, tolerance=3e-10, max_iterations=5000
    )
    assert found.status == "converged"
    true = np.linalg.norm(b - A @ found.x) / np.linalg.norm(b)
    assert found.residual == pytest.approx(true, rel=0.2)
    assert true <= 3e-10
    # It did start again: the iteration's own residual had met its goal.
    assert min(found.residuals[:-1]) <= 3e-10


def test_indefinite_matrices_are_refused():
    with pytest.raises(ValueError, match=r"A must be positive definite, got"):
        iterative.conjugate_gradients(np.diag([1.0, -1.0]), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"A must be positive definite, got"):
        iterative.conjugate_gradients(np.zeros((1, 1)), [1.0])
    with pytest.raises(ValueError, match=r"A must be positive definite, got"):
        iterative.conjugate_gradients(np.diag([1.0, -1.0]), np.eye(2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": np.ones((2, 3))}, "A must be a square Gram matrix"),
        ({"b": [1.0]}, "b must have length 2, got 1"),
        ({"tolerance": 0.0}, "tolerance must be > 0"),
        ({"max_iterations": 0}, "max_iterations must be a whole number >= 1"),
    ],
)
def test_bad_input_of_conjugate_gradients(change, message):
    given = {"A": np.eye(2), "b": [1.0, 2.0]} | change
    with pytest.raises(ValueError, match=message):
        iterative.conjugate_gradients(**given)


def test_long_work_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "EVERY", -1.0)
    iterative.conjugate_gradients(np.diag([1.0, 2.0]), [1.0, 1.0])
    said = capsys.readouterr().err
    assert "conjugate_gradients: " in said
    assert "2 iterations, residual " in said
    iterative.conjugate_gradients(np.eye(2), [1.0, 1.0], progress=False)
    assert capsys.readouterr().err == ""


# ------------------------------------------------------------ preconditioner


def test_the_preconditioner_is_divided_by():
    X, t, _ = data()
    P = iterative.preconditioner(K, X, 0.1, X[:10])
    dense = nystrom.approximation(K, X, X[:10]) + 0.1 * np.eye(120)
    V = np.column_stack([t, t**2])
    assert_allclose(P(t), np.linalg.solve(dense, t), atol=1e-9)
    assert_allclose(P(V), np.linalg.solve(dense, V), atol=1e-9)
    exact = np.linalg.slogdet(dense)[1]
    assert P.log_determinant() == pytest.approx(exact, rel=1e-10)


def test_the_preconditioner_gathers_the_eigenvalues():
    X, _, _ = data()
    lam, L = 0.1, X[:10]
    P = iterative.preconditioner(K, X, lam, L)
    G = K(X)
    E = G - nystrom.approximation(K, X, L)
    values = np.linalg.eigvals(P(G + lam * np.eye(120))).real
    assert values.min() > 1 - 1e-8
    assert values.max() <= 1 + np.linalg.norm(E, 2) / lam + 1e-8


def test_bad_input_of_a_preconditioner():
    X, t, _ = data()
    with pytest.raises(ValueError, match="lam must be > 0"):
        iterative.preconditioner(K, X, 0.0, X[:3])
    with pytest.raises(ValueError, match="R must have length 120"):
        iterative.preconditioner(K, X, 1.0, X[:3])(t[1:])


# --------------------------------------------------------------------- ridge


@pytest.mark.parametrize("M", [None, 20])
@pytest.mark.parametrize("Q", [None, 3])
def test_iteration_gives_the_answer_of_cholesky(M, Q):
    X, t, Z = data(300, Q)
    L = None if M is None else X[:M]
    model = iterative.fit(K, X, t, 0.1, L, tolerance=1e-9)
    exact = ridge.fit(K, X, t, 0.1)
    assert_allclose(model.predict(Z), exact.predict(Z), atol=1e-7)
    assert_allclose(model.a, exact.a, atol=1e-6)
    wrong = np.abs(model.predict(Z) - exact.predict(Z)).max()
    assert wrong <= model.error < 1e-5
    assert model.residual <= 1e-9
    assert model.status == "converged"


def test_the_certificate_holds_and_is_not_idle():
    """For every residual; and there is an error as large as the bound."""
    X, t, Z = data()
    exact = ridge.fit(K, X, t, 0.3).predict(Z)
    for n in (1, 2, 4, 8):
        with pytest.warns(ConvergenceWarning):
            model = iterative.fit(
                9.0 * K, X, t, 2.7, max_iterations=n, tolerance=1e-14
            )
        r = t - (9 * K(X) + 2.7 * np.eye(120)) @ model.a
        bound = np.linalg.norm(r) / (2 * np.sqrt(2.7))
        assert model.error == pytest.approx(bound, rel=1e-6)
        wrong = np.abs(model.predict(Z) - exact).max()
        assert wrong <= 3.0 * bound
    # One input with k(x, x) = λ = 1: y = t/2, and a = 0 leaves r = t.
    exact = ridge.fit(Linear(), [[1.0]], [1.0], 1.0).predict([[1.0]])
    assert exact == pytest.approx(1.0 / (2 * np.sqrt(1.0)))


def test_the_certificate_is_that_of_the_worst_output():
    X, t, _ = data(Q=2)
    t[:, 1] = 1e3 * np.cos(X[:, 1])
    model = iterative.fit(K, X, t, 0.3, tolerance=1e-4)
    r = t - (K(X) + 0.3 * np.eye(120)) @ model.a
    bounds = np.linalg.norm(r, axis=0) / (2 * np.sqrt(0.3))
    assert model.error >= bounds.max()
    assert model.residual == pytest.approx(
        (np.linalg.norm(r, axis=0) / np.linalg.norm(t, axis=0)).max()
    )


def test_defaults_are_what_the_docstrings_promise(monkeypatch, capsys):
    X, t, _ = data()
    model = iterative.fit(K, X, t, 0.1)
    found = iterative.conjugate_gradients(K(X) + 0.1 * np.eye(120), t)
    for one in (model, found):
        assert 1e-10 < one.residual <= 1e-8
    for function in (iterative.fit, iterative.conjugate_gradients):
        given = signature(function).parameters
        assert given["max_iterations"].default == 1000
    same = [
        iterative.log_determinant(K, X, 0.1, 0),
        iterative.log_determinant(K, X, 0.1, 0, probes=16, steps=50),
    ]
    assert same[0] == same[1]
    given = signature(iterative.log_determinant).parameters
    assert (given["probes"].default, given["steps"].default) == (16, 50)
    monkeypatch.setattr(_progress, "EVERY", -1.0)
    iterative.fit(K, X, t, 0.1)
    assert "conjugate_gradients: " in capsys.readouterr().err
    iterative.fit(K, X, t, 0.1, progress=False)
    assert capsys.readouterr().err == ""


def test_landmarks_save_iterations():
    X, t, _ = data(300)
    plain = iterative.fit(K, X, t, 0.01)
    helped = iterative.fit(K, X, t, 0.01, X[:50])
    assert helped.iterations < plain.iterations / 3
    assert len(helped.residuals) == helped.iterations


def test_bad_input_of_a_fit():
    X, t, _ = data()
    with pytest.raises(ValueError, match="lam must be > 0"):
        iterative.fit(K, X, t, 0.0)
    with pytest.raises(ValueError, match="t must have length 120"):
        iterative.fit(K, X, t[1:], 1.0)
    with pytest.raises(ValueError, match="X must have the 1 columns of the l"):
        iterative.fit(K, X, t, 1.0, [[0.0]])


# -------------------------------------------------------------- determinants


@pytest.mark.parametrize("seed", range(5))
def test_log_determinants_are_within_their_error(seed):
    X, _, _ = data(200)
    exact = np.linalg.slogdet(K(X) + 0.1 * np.eye(200))[1]
    value, error = iterative.log_determinant(K, X, 0.1, seed, probes=30)
    assert abs(value - exact) < 4 * error
    assert 0.001 * abs(exact) < error < 0.05 * abs(exact)


def test_the_error_is_that_of_the_mean_over_probes():
    X, _, _ = data(100)
    many = [
        iterative.log_determinant(K, X, 0.1, seed, probes=8)
        for seed in range(60)
    ]
    spread = np.std([one.value for one in many], ddof=1)
    claimed = np.mean([one.standard_error for one in many])
    assert claimed == pytest.approx(spread, rel=0.35)


def test_two_probes_have_an_error():
    X, _, _ = data(30)
    value, error = iterative.log_determinant(K, X, 0.1, 0, probes=2)
    one, two = (
        30 * iterative._log_at_first(d, e, 0.1)
        for d, e in zip(
            *(
                a.T
                for a in iterative._lanczos(
                    iterative.RegularisedGram(K, X, 0.1),
                    np.where(
                        np.random.default_rng(0).random((30, 2)) < 0.5,
                        -1.0,
                        1.0,
                    )
                    / np.sqrt(30),
                    30,
                )
            ),
            strict=True,
        )
    )
    assert value == pytest.approx((one + two) / 2)
    assert error == pytest.approx(abs(one - two) / 2)


def test_enough_steps_are_exact_for_each_probe():
    """Signs alone decide: on a diagonal matrix every z gives the trace."""
    X = np.diag([1.0, 2.0, 3.0, 4.0])
    exact = np.log(np.array([1, 4, 9, 16]) + 0.5).sum()
    for steps in (4, 50):
        value, error = iterative.log_determinant(
            Linear(), X, 0.5, 0, steps=steps, probes=3
        )
        assert value == pytest.approx(exact, rel=1e-10)
        assert error < 1e-10
    few = iterative.log_determinant(Linear(), X, 0.5, 0, steps=1)
    assert few.value == pytest.approx(4 * np.log(np.mean([1, 4, 9, 16]) + 0.5))


def test_a_matrix_of_rank_zero_is_no_trouble():
    X = np.zeros((3, 2))
    value, error = iterative.log_determinant(Linear(), X, 2.0, 0)
    assert value == pytest.approx(3 * np.log(2))
    assert error < 1e-12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lam": 0.0}, "lam must be > 0"),
        ({"probes": 1}, "probes must be a whole number >= 2"),
        ({"steps": 0}, "steps must be a whole number >= 1"),
    ],
)
def test_bad_input_of_a_log_determinant(change, message):
    X, _, _ = data(10)
    with pytest.raises(ValueError, match=message):
        iterative.log_determinant(
            **{"k": K, "X": X, "lam": 1.0, "rng": 0} | change
        )
