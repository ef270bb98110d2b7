"""Kernel logistic regression: primal against dual, loops, scikit-learn."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from kernelbook import _progress, kernel_logistic, kernels
from kernelbook.exceptions import ConvergenceWarning

lams = st.floats(1e-2, 1e2)
sizes = st.tuples(st.integers(2, 9), st.integers(1, 6), st.integers(0, 10**6))


def problem(sizes):
    N, M, seed = sizes
    rng = np.random.default_rng(seed)
    t = np.where(rng.random(N) < 0.5, 1.0, -1.0)
    t[:2] = 1.0, -1.0
    return rng.standard_normal((N, M)), t, rng


def finite_differences(f, x, h=1e-5):
    return np.array(
        [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))]
    )


@given(sizes, lams)
def test_objective_is_its_sum_term_by_term(sizes, lam):
    Phi, t, rng = problem(sizes)
    w = rng.standard_normal(Phi.shape[1])
    total = lam / 2 * sum(w_j**2 for w_j in w)
    for phi_n, t_n in zip(Phi, t, strict=True):
        total -= np.log(1 / (1 + np.exp(-t_n * (w @ phi_n))))
    assert_allclose(kernel_logistic.objective(w, Phi, t, lam), total)


@given(sizes, lams)
def test_gradient_matches_finite_differences(sizes, lam):
    Phi, t, rng = problem(sizes)
    w = rng.standard_normal(Phi.shape[1])
    expected = finite_differences(
        lambda w: kernel_logistic.objective(w, Phi, t, lam), w
    )
    assert_allclose(
        kernel_logistic.gradient(w, Phi, t, lam),
        expected,
        rtol=1e-6,
        atol=1e-6,
    )


@given(sizes, lams)
def test_dual_objective_is_objective_at_combination(sizes, lam):
    Phi, t, rng = problem(sizes)
    a = rng.standard_normal(len(t))
    assert_allclose(
        kernel_logistic.dual_objective(a, Phi @ Phi.T, t, lam),
        kernel_logistic.objective(Phi.T @ a, Phi, t, lam),
    )


@given(sizes, lams)
def test_residual_is_the_gradient_before_the_gram_matrix(sizes, lam):
    Phi, t, rng = problem(sizes)
    K, a = Phi @ Phi.T, rng.standard_normal(len(t))
    r = kernel_logistic.dual_residual(a, K, t, lam)
    assert_allclose(
        Phi.T @ r,
        kernel_logistic.gradient(Phi.T @ a, Phi, t, lam),
        atol=1e-9 * (1 + lam),
    )


@given(sizes, lams)
def test_newton_step_solves_the_linearised_equation(sizes, lam):
    Phi, t, rng = problem(sizes)
    K, a = Phi @ Phi.T, rng.standard_normal(len(t))
    jacobian = finite_differences(
        lambda a: kernel_logistic.dual_residual(a, K, t, lam), a
    ).T
    d = kernel_logistic.newton_step(a, K, t, lam)
    r = kernel_logistic.dual_residual(a, K, t, lam)
    scale = (1 + np.abs(d).max()) * (1 + np.abs(K).max() + lam)
    assert_allclose(jacobian @ d, -r, atol=1e-6 * scale)


@given(sizes, lams)
def test_solution_satisfies_the_implicit_equation(sizes, lam):
    Phi, t, _ = problem(sizes)
    solution = kernel_logistic.fit_dual(Phi @ Phi.T, t, lam)
    w = Phi.T @ solution.a
    assert_allclose(
        kernel_logistic.residual_coefficients(w, Phi, t, lam),
        solution.a,
        atol=2e-8 / lam,
    )
    assert np.all(solution.a * t > 0)
    assert np.all(np.abs(solution.a) < 1 / lam)


@given(sizes, lams)
def test_report_is_true(sizes, lam):
    Phi, t, _ = problem(sizes)
    K = Phi @ Phi.T
    solution = kernel_logistic.fit_dual(K, t, lam)
    w = Phi.T @ solution.a
    norm = np.linalg.norm(kernel_logistic.gradient(w, Phi, t, lam))
    assert_allclose(solution.gradient_norm, norm, atol=1e-12 * (1 + lam))
    assert_allclose(
        solution.objective,
        kernel_logistic.objective(w, Phi, t, lam),
        rtol=1e-12,
    )
    assert solution.iterations == len(solution.objectives) - 1
    assert_allclose(solution.objectives[0], len(t) * np.log(2))


def test_weights_are_scikit_learns():
    for seed, lam in [(0, 0.01), (1, 1.0), (2, 30.0)]:
        Phi, t, _ = problem((40, 5, seed))
        theirs = LogisticRegression(
            C=1 / lam, fit_intercept=False, solver="newton-cholesky", tol=1e-10
        ).fit(Phi, t)
        a = kernel_logistic.fit_dual(Phi @ Phi.T, t, lam).a
        assert_allclose(Phi.T @ a, theirs.coef_[0], rtol=1e-6)
        assert_allclose(
            kernel_logistic.probability(a, Phi @ Phi.T),
            theirs.predict_proba(Phi)[:, 1],
            rtol=1e-6,
        )


def test_kernel_solution_is_a_general_minimisers():
    X, t, rng = problem((15, 2, 3))
    k = kernels.Gaussian(0.7)
    K = k(X)
    found = minimize(
        kernel_logistic.dual_objective,
        rng.standard_normal(15),
        args=(K, t, 0.2),
        jac=lambda a, *args: K @ kernel_logistic.dual_residual(a, *args),
        options={"gtol": 1e-9},
    )
    solution = kernel_logistic.fit_dual(K, t, 0.2)
    assert_allclose(solution.objective, found.fun, rtol=1e-10)
    assert_allclose(K @ solution.a, K @ found.x, atol=1e-6)


def test_steps_are_halved_so_that_the_objective_never_rises():
    Phi = np.array([[5.0, 4.0], [8.0, 25.0], [0.0, -1.0]])
    K, t, lam = Phi @ Phi.T, np.array([1.0, -1.0, 1.0]), 1e-3
    a, full_steps = np.zeros(3), []
    for _ in range(12):
        full_steps.append(kernel_logistic.dual_objective(a, K, t, lam))
        a = a + kernel_logistic.newton_step(a, K, t, lam)
    assert np.diff(full_steps).max() > 1, "must overshoot to test anything"
    objectives = kernel_logistic.fit_dual(K, t, lam).objectives
    assert np.all(objectives[1:] <= objectives[:-1] * (1 + 1e-9))


@given(sizes, lams)
def test_a_step_is_halved_until_the_objective_does_not_rise(sizes, lam):
    Phi, t, rng = problem(sizes)
    K, a = Phi @ Phi.T, rng.standard_normal(len(t))
    step = -30 * rng.random() * kernel_logistic.dual_residual(a, K, t, lam)
    before, size = kernel_logistic.dual_objective(a, K, t, lam), 1.0
    while kernel_logistic.dual_objective(a + size * step, K, t, lam) > before:
        size /= 2
    new_a, new_y, value = kernel_logistic._descend(
        a, K @ a, step, K @ step, t, lam
    )
    assert_allclose(new_a, a + size * step)
    assert_allclose(new_y, K @ new_a, atol=1e-9 * (1 + np.abs(step).max()))
    assert_allclose(value, kernel_logistic.dual_objective(new_a, K, t, lam))


def test_badly_scaled_problems_converge_too():
    rng = np.random.default_rng(0)
    for _ in range(60):
        N = rng.integers(2, 30)
        spread = np.exp(1.5 * rng.standard_normal((N, 1)))
        Phi = spread * rng.standard_normal((N, 3))
        t = np.where(np.arange(N) % 2, 1.0, -1.0)
        solution = kernel_logistic.fit_dual(Phi @ Phi.T, t, 1e-4)
        w = Phi.T @ solution.a
        assert np.abs(kernel_logistic.gradient(w, Phi, t, 1e-4)).max() < 1e-5


def test_singular_gram_gives_one_definite_answer():
    """Doubled examples share the coefficient that one would have had."""
    Phi, t, _ = problem((6, 2, 4))
    K, twice = Phi @ Phi.T, np.tile(np.arange(6), 2)
    once = kernel_logistic.fit_dual(K, t, 0.5).a
    doubled = kernel_logistic.fit_dual(
        K[np.ix_(twice, twice)], t[twice], 1.0
    ).a
    assert_allclose(doubled, np.tile(once, 2) / 2, atol=1e-7)


def test_probability_is_the_sigmoid_of_the_sum_of_kernels():
    X, t, rng = problem((7, 2, 5))
    Z = rng.standard_normal((4, 2))
    k = kernels.Gaussian(0.3)
    a = kernel_logistic.fit_dual(k(X), t, 0.3).a
    for z, p in zip(Z, kernel_logistic.probability(a, k(X, Z)), strict=True):
        y = sum(
            a_n * np.exp(-0.3 * np.sum((x - z) ** 2))
            for a_n, x in zip(a, X, strict=True)
        )
        assert_allclose(p, 1 / (1 + np.exp(-y)))


def test_inputs_are_left_alone():
    Phi, t, _ = problem((6, 3, 6))
    K = Phi @ Phi.T
    before = K.copy(), t.copy()
    kernel_logistic.fit_dual(K, t, 0.1)
    assert np.array_equal(K, before[0]) and np.array_equal(t, before[1])


def test_a_search_that_ends_too_early_warns_and_says_where_it_is():
    Phi, t, _ = problem((9, 2, 7))
    K = Phi @ Phi.T
    message = (
        r"fit_dual ended before its goal \(max_iterations\): step 2 left a "
        r"residual of (.*), not the tolerance 1.0e-08; raise lam"
    )
    with pytest.warns(ConvergenceWarning, match=message) as said:
        found = kernel_logistic.fit_dual(K, t, 0.1, max_iterations=2)
    assert said[0].filename == __file__
    assert found.status == "max_iterations" and not found.converged
    assert found.iterations == 2
    r = kernel_logistic.dual_residual(found.a, K, t, 0.1)
    assert_allclose(found.residual, np.abs(r).max())
    assert f"residual of {found.residual:.1e}," in str(said[0].message)


def test_the_model_warns_at_the_call_of_its_user():
    X, t, _ = problem((9, 2, 7))
    k = kernels.Gaussian(1.0)
    with pytest.warns(ConvergenceWarning, match=r"kernel_logistic\.fit ") as w:
        model = kernel_logistic.fit(k, X, t, 0.1, max_iterations=2)
    assert w[0].filename == __file__
    assert model.status == "max_iterations" and not model.converged
    assert model.dual.iterations == 2


def test_fifty_steps_are_tried_unless_told_otherwise():
    X, t, _ = problem((9, 2, 7))
    k = kernels.Gaussian(1.0)
    for search in (
        lambda: kernel_logistic.fit_dual(k(X), t, 0.1, tolerance=1e-300),
        lambda: kernel_logistic.fit(k, X, t, 0.1, tolerance=1e-300).dual,
    ):
        with pytest.warns(ConvergenceWarning):
            assert search().iterations == 50


def test_the_search_ends_with_the_first_residual_below_1e_8():
    """λ is moved until that residual is 1e-8, where the count changes."""
    X, t, _ = problem((30, 2, 8))
    k = kernels.Gaussian(1.0)
    K = k(X)

    def steps(lam):
        found = kernel_logistic.fit_dual(K, t, lam)
        assert found.converged
        model = kernel_logistic.fit(k, X, t, lam)
        assert model.converged and model.dual.iterations == found.iterations
        return found.iterations

    low, high = 1e-3, 1.0
    fewest = steps(high)
    assert steps(low) > fewest
    for _ in range(50):
        middle = np.sqrt(low * high)
        low, high = (
            (low, middle) if steps(middle) == fewest else (middle, high)
        )
    residual = kernel_logistic.fit_dual(K, t, high).residual
    assert_allclose(residual, 1e-8, rtol=1e-3)


@pytest.mark.parametrize("wanted", [True, False, None])
def test_progress_is_reported_unless_it_is_not_wanted(
    wanted, monkeypatch, capsys
):
    monkeypatch.setattr(_progress, "EVERY", 0.0)
    X, t, _ = problem((9, 2, 7))
    k = kernels.Gaussian(1.0)
    asked = {} if wanted is None else {"progress": wanted}
    found = kernel_logistic.fit_dual(k(X), t, 0.1, **asked)
    kernel_logistic.fit(k, X, t, 0.1, **asked)
    lines = capsys.readouterr().err.splitlines()
    if wanted is False:
        assert not lines
        return
    first, *_ = lines
    steps = found.iterations - 1
    assert len(lines) == 2 * steps
    J = found.objectives[1]
    assert first.startswith(
        f"kernel_logistic.fit_dual: 0 s, step 1, objective {J:.6g}, residual "
    )
    assert lines[steps].startswith("kernel_logistic.fit: 0 s, step 1, ")


# the model


def test_model_is_the_functions_of_the_gram_matrices():
    X, t, rng = problem((20, 2, 9))
    Z = rng.standard_normal((20, 2))  # as many: a cross-Gram could be turned
    k = kernels.Gaussian(0.5)
    model = kernel_logistic.fit(k, X, t, 0.2)
    a = kernel_logistic.fit_dual(k(X), t, 0.2).a
    assert_allclose(model.a, a)
    y = [sum(a[n] * k([X[n]], [z])[0, 0] for n in range(20)) for z in Z]
    assert_allclose(model.output(Z), y)
    assert_allclose(model.probability(Z), 1 / (1 + np.exp(-np.array(y))))
    assert_allclose(
        model.probability(Z), kernel_logistic.probability(a, k(X, Z))
    )
    assert np.array_equal(model.predict(Z), np.where(np.array(y) > 0, 1, -1))
    assert model.status == "converged" and model.converged


def test_model_keeps_nothing_of_the_callers():
    X, t, rng = problem((12, 2, 10))
    Z = rng.standard_normal((5, 2))
    model = kernel_logistic.fit(kernels.Gaussian(1.0), X, t, 0.2)
    before = model.output(Z)
    X[:], t[:] = 7.0, 1.0
    assert np.array_equal(model.output(Z), before)


def test_fit_keeps_nothing_of_the_callers():
    X, t, _ = problem((12, 2, 10))
    K = kernels.Gaussian(1.0)(X)
    found = kernel_logistic.fit_dual(K, t, 0.2)
    before = found.a.copy()
    K[:], t[:] = 7.0, 1.0
    assert np.array_equal(found.a, before)


@pytest.mark.filterwarnings("ignore:overflow enc:RuntimeWarning")
def test_a_gram_matrix_that_overflows_is_refused_with_its_kernel():
    X = [[1e200], [1.0]]
    with pytest.raises(ValueError, match=r"k\(X\) of .*Linear.* be finite"):
        kernel_logistic.fit(kernels.Linear(), X, T2, 1.0)


def test_model_survives_pickling():
    X, t, rng = problem((12, 2, 11))
    Z = rng.standard_normal((5, 2))
    model = kernel_logistic.fit(kernels.Gaussian(1.0), X, t, 0.2)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.probability(Z), model.probability(Z))
    assert again.dual.objective == model.dual.objective


def test_two_threads_find_what_one_finds():
    X, t, _ = problem((40, 2, 12))
    k = kernels.Gaussian(1.0)
    lams = np.geomspace(0.01, 1.0, 8)
    alone = [kernel_logistic.fit(k, X, t, lam).a for lam in lams]
    with ThreadPoolExecutor(2) as pool:
        both = pool.map(lambda lam: kernel_logistic.fit(k, X, t, lam).a, lams)
        for one, other in zip(alone, both, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_scale_of_the_features_and_of_lam_are_one(size):
    """cΦ with c²λ has the weights of Φ with λ, over c."""
    Phi, t, _ = problem((15, 2, 13))
    K = Phi @ Phi.T
    a = kernel_logistic.fit_dual(K, t, 0.3).a
    scaled = kernel_logistic.fit_dual(
        size**2 * K, t, size**2 * 0.3, tolerance=1e-8
    )
    assert_allclose(size**2 * scaled.a, a, rtol=1e-6)


def test_overflowing_outputs_are_refused_not_nan():
    huge = [[1e200, 1e200], [1e200, 1e200]]
    for call, names in [
        (lambda: kernel_logistic.output([1e200, -1e200], huge), "a and k"),
        (lambda: kernel_logistic.probability([1e200, -1e200], huge), "a and"),
        (
            lambda: kernel_logistic.objective([1e200, -1e200], huge, T2, 1.0),
            "w and Phi",
        ),
        (
            lambda: kernel_logistic.gradient([1e200, -1e200], huge, T2, 1.0),
            "w and Phi",
        ),
        (
            lambda: kernel_logistic.residual_coefficients(
                [1e200, -1e200], huge, T2, 1.0
            ),
            "w and Phi",
        ),
        (
            lambda: kernel_logistic.dual_objective(
                [1e200, -1e200], huge, T2, 1.0
            ),
            "a and K",
        ),
        (
            lambda: kernel_logistic.dual_residual(
                [1e200, -1e200], huge, T2, 1.0
            ),
            "a and K",
        ),
    ]:
        with pytest.raises(ValueError, match=f"{names}.*must be small enough"):
            call()


K2, T2 = np.eye(2), np.array([1.0, -1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: kernel_logistic.fit(np.dot, K2, T2, 1.0),
            "k must be a Kernel, got ",
        ),
        (
            lambda: kernel_logistic.fit(kernels.Linear(), K2, [0, 1], 1.0),
            r"t must be -1 or \+1, got 0",
        ),
        (
            lambda: kernel_logistic.fit(kernels.Linear(), K2, [1, 1], 1.0),
            r"t must contain both -1 and \+1, got only \+1",
        ),
        (
            lambda: kernel_logistic.fit(kernels.Linear(), K2, T2, 0.0),
            "lam must be > 0, got 0",
        ),
        (
            lambda: kernel_logistic.fit(kernels.Linear(), [1.0, 2.0], T2, 1.0),
            "X must be two-dimensional",
        ),
        (
            lambda: kernel_logistic.fit(kernels.Linear(), K2, T2, 1.0, 0.0),
            "tolerance must be > 0, got 0",
        ),
        (
            lambda: kernel_logistic.fit(
                kernels.Linear(), K2, T2, 1.0, max_iterations=0
            ),
            "max_iterations must be a whole number >= 1, got 0",
        ),
        (
            lambda: kernel_logistic.fit_dual(K2, [0, 1], 1.0),
            r"t must be -1 or \+1, got 0",
        ),
        (
            lambda: kernel_logistic.fit_dual(K2, [1, 1], 1.0),
            r"t must contain both -1 and \+1, got only \+1",
        ),
        (
            lambda: kernel_logistic.fit_dual(K2, [-1, -1], 1.0),
            r"t must contain both -1 and \+1, got only -1",
        ),
        (
            lambda: kernel_logistic.fit_dual(K2, T2, 0.0),
            "lam must be > 0, got 0",
        ),
        (
            lambda: kernel_logistic.fit_dual(K2, T2, -1.0),
            "lam must be > 0, got -1.0",
        ),
        (
            lambda: kernel_logistic.fit_dual(K2, T2, 1.0, tolerance=0.0),
            "tolerance must be > 0, got 0",
        ),
        (
            lambda: kernel_logistic.fit_dual(K2, T2, 1.0, max_iterations=0),
            "max_iterations must be a whole number >= 1, got 0",
        ),
        (
            lambda: kernel_logistic.fit_dual(np.ones((3, 2)), T2, 1.0),
            "K must be a square Gram matrix",
        ),
        (
            lambda: kernel_logistic.fit_dual([[0, 9], [9, 0]], T2, 0.1),
            "must be positive definite, got smallest eigenvalue",
        ),
        (
            lambda: kernel_logistic.objective(
                [1.0], np.ones((2, 1)), [1, 2], 1.0
            ),
            r"t must be -1 or \+1, got 2",
        ),
        (
            lambda: kernel_logistic.objective(
                [1.0, 2.0], np.ones((2, 1)), T2, 1.0
            ),
            "w must have length 1, got 2",
        ),
        (
            lambda: kernel_logistic.objective(
                [1.0], np.ones((2, 1)), T2, -1.0
            ),
            "lam must be >= 0, got -1.0",
        ),
        (
            lambda: kernel_logistic.gradient(
                [1.0, 2.0], np.ones((2, 1)), T2, 1.0
            ),
            "w must have length 1, got 2",
        ),
        (
            lambda: kernel_logistic.gradient([1.0], np.ones((2, 1)), T2, -1.0),
            "lam must be >= 0, got -1.0",
        ),
        (
            lambda: kernel_logistic.residual_coefficients(
                [1.0, 2.0], np.ones((2, 1)), T2, 1.0
            ),
            "w must have length 1, got 2",
        ),
        (
            lambda: kernel_logistic.residual_coefficients(
                [1.0], np.ones((2, 1)), T2, 0.0
            ),
            "lam must be > 0, got 0",
        ),
        (
            lambda: kernel_logistic.dual_objective([1.0], K2, T2, 1.0),
            "a must have length 2, got 1",
        ),
        (
            lambda: kernel_logistic.dual_objective(T2, K2, T2, -1.0),
            "lam must be >= 0, got -1.0",
        ),
        (
            lambda: kernel_logistic.dual_objective(
                T2, [[1, 2], [0, 1]], T2, 1.0
            ),
            "K must be symmetric",
        ),
        (
            lambda: kernel_logistic.dual_residual([1.0], K2, T2, 1.0),
            "a must have length 2, got 1",
        ),
        (
            lambda: kernel_logistic.dual_residual(T2, K2, T2, -1.0),
            "lam must be >= 0, got -1.0",
        ),
        (
            lambda: kernel_logistic.newton_step(T2, K2, T2, 0.0),
            "lam must be > 0, got 0",
        ),
        (
            lambda: kernel_logistic.probability(K2, K2),
            "a must be one-dimensional",
        ),
        (
            lambda: kernel_logistic.probability(T2, np.ones((3, 4))),
            "k must have one row per training example",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
