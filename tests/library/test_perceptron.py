"""The perceptron, its dual, its bound; and the toy data of its chapter."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import Perceptron

from kernelbook import _progress, kernels, margin, perceptron, toydata
from kernelbook.exceptions import ConvergenceWarning

seeds = st.integers(0, 10**6)


def separable(seed, N=12, M=3):
    """Eighths, so that both forms compute exactly, and a separator."""
    rng = np.random.default_rng(seed)
    u = rng.integers(-3, 4, M).astype(float)
    u[0] = 5.0
    Phi = rng.integers(-9, 10, (10 * N, M)).astype(float)
    Phi = Phi[np.abs(Phi @ u) >= 4][:N]
    t = np.sign(Phi @ u)
    Phi[0], t[0] = np.eye(M)[0], 1.0
    Phi[1], t[1] = -np.eye(M)[0], -1.0
    return Phi / 8, t, u


@given(seeds)
def test_both_forms_make_the_same_mistakes_in_the_same_order(seed):
    Phi, t, _ = separable(seed)
    primal = perceptron.fit_primal(Phi, t, 2000)
    dual = perceptron.fit_dual(Phi @ Phi.T, t, 2000)
    assert primal.converged and dual.converged
    assert np.array_equal(primal.mistakes, dual.mistakes)
    assert_allclose(primal.w, Phi.T @ (dual.c * t))
    assert np.array_equal(dual.c, [sum(dual.mistakes == n) for n in range(12)])


@given(seeds)
def test_result_separates_and_mistakes_keep_novikoffs_bound(seed):
    Phi, t, u = separable(seed)
    primal = perceptron.fit_primal(Phi, t, 2000)
    assert np.all(t * (Phi @ primal.w) > 0)
    assert len(primal.mistakes) <= perceptron.mistake_bound(u, Phi, t)


@given(seeds, st.floats(1e-3, 1e3))
def test_bound_is_that_of_the_definition_for_every_length_of_w(seed, c):
    Phi, t, u = separable(seed)
    R = max(np.linalg.norm(phi) for phi in Phi)
    margin = min(t * (Phi @ u)) / np.linalg.norm(u)
    assert_allclose(perceptron.mistake_bound(c * u, Phi, t), (R / margin) ** 2)


def test_weights_are_scikit_learns():
    Phi, t, _ = separable(3)
    # scikit-learn starts at w = 0 too, and counts a tie as a mistake
    theirs = Perceptron(
        fit_intercept=False, shuffle=False, tol=None, max_iter=500
    ).fit(Phi, t)
    assert_allclose(perceptron.fit_primal(Phi, t).w, theirs.coef_[0])


@pytest.mark.parametrize("N", [2, 7, 30])
def test_orthonormal_examples_meet_the_bound(N):
    t = np.where(np.arange(N) % 2, 1.0, -1.0)
    run = perceptron.fit_dual(np.eye(N), t)
    assert np.array_equal(run.c, np.ones(N))
    assert_allclose(perceptron.mistake_bound(t, np.eye(N), t), N)


@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.filterwarnings("ignore::kernelbook.exceptions.ConvergenceWarning")
def test_xor_cycles_with_a_linear_kernel_and_says_so(constant):
    X, t = toydata.xor()
    K = kernels.Linear()(X) + constant
    for epochs in (1, 5, 50):
        run = perceptron.fit_dual(K, t, epochs)
        assert not run.converged
        assert np.array_equal(run.c, [epochs] * 4)
    primal = perceptron.fit_primal(X, t, 5)
    assert not primal.converged and not primal.w.any()


FORMS = [
    pytest.param(perceptron.fit_primal, lambda X: X, id="fit_primal"),
    pytest.param(perceptron.fit_dual, lambda X: X @ X.T, id="fit_dual"),
    pytest.param(perceptron.fit, lambda X: X, id="fit"),
]


@pytest.mark.parametrize(("fit", "of"), FORMS)
def test_a_hundred_passes_with_mistakes_end_with_a_warning(fit, of):
    X, t = toydata.xor()
    message = (
        rf"perceptron\.{fit.__name__} ended before its goal "
        r"\(max_iterations\): the last pass still had mistakes; raise max_e"
    )
    with pytest.warns(ConvergenceWarning, match=message) as said:
        run = fit(of(X), t)
    assert said[0].filename == __file__
    assert run.status == "max_iterations" and not run.converged
    assert np.array_equal(np.bincount(run.mistakes), [100] * 4)


@pytest.mark.parametrize(("fit", "of"), FORMS)
@pytest.mark.parametrize("wanted", [True, False, None])
def test_progress_is_reported_unless_it_is_not_wanted(
    fit, of, wanted, monkeypatch, capsys
):
    monkeypatch.setattr(_progress, "EVERY", 0.0)
    X, t = toydata.two_blobs(9, distance=8.0, rng=0)
    asked = {} if wanted is None else {"progress": wanted}
    run = fit(of(X), t, **asked)
    assert run.status == "converged"
    lines = capsys.readouterr().err.splitlines()
    if wanted is False:
        assert not lines
    else:
        start = f"perceptron.{fit.__name__}: 0 s, 1 passes, "
        assert lines[0].startswith(start) and "mistakes" in lines[0]


@pytest.mark.parametrize(("fit", "of"), FORMS)
def test_runs_survive_pickling_and_keep_nothing_of_the_callers(fit, of):
    X, t = toydata.two_blobs(9, distance=8.0, rng=0)
    A = of(X).copy()
    run = fit(A, t)
    again = pickle.loads(pickle.dumps(run))
    A[:], t[:] = 7.0, 1.0
    for name, value in vars(again).items():
        assert np.array_equal(vars(run)[name], value)
    assert again.converged


def test_two_threads_learn_what_one_learns():
    X, t = toydata.two_blobs(30, distance=6.0, rng=1)
    alone = perceptron.fit(X, t, 1000)
    with ThreadPoolExecutor(2) as pool:
        runs = pool.map(lambda _: perceptron.fit(X, t, 1000), range(6))
        for run in runs:
            assert np.array_equal(run.mistakes, alone.mistakes)


@pytest.mark.filterwarnings(
    "ignore:(overflow|invalid value) enc:RuntimeWarning"
)
def test_an_output_that_overflows_is_never_taken_for_right():
    """+inf and -inf meet in example 1; NaN must not end the search."""
    ones, t = np.ones(64), np.array([1, -1])
    Phi = 1e200 * np.array([ones, np.where(np.arange(64) % 2, -1.0, 1.0)])
    run = perceptron.fit_primal(Phi, t)
    assert run.converged
    assert np.all(t * (Phi / 1e200 @ (run.w / 1e200)) > 0)


@pytest.mark.parametrize("size", [1e-160, 1e-80, 1.0, 1e80, 1e160])
def test_bound_ignores_the_unit_of_the_features(size):
    Phi, t, u = separable(3)
    bound = perceptron.mistake_bound(u, Phi, t)
    for c in (1e-160, 1.0, 1e160):
        assert_allclose(perceptron.mistake_bound(c * u, size * Phi, t), bound)
    x = [[-2.0 * size], [size]]
    assert_allclose(perceptron.mistake_bound([-1e160], x, [1, -1]), 4.0)
    x = [[-3.0 * size, 0.0], [0.0, -3.0 * size]]
    assert_allclose(perceptron.mistake_bound([-1e160, 0], x[:1], [1]), 1.0)
    assert_allclose(perceptron.mistake_bound([-1e160] * 2, x, [1, 1]), 2.0)


def test_xor_is_learned_with_a_quadratic_kernel():
    X, t = toydata.xor()
    K = kernels.Polynomial(degree=2)(X)
    run = perceptron.fit_dual(K, t)
    assert run.converged
    assert len(run.mistakes) == 2
    assert np.array_equal(np.sign(K @ (run.c * t)), t)


def test_inputs_are_left_alone():
    Phi, t, _ = separable(5)
    before = Phi.copy(), t.copy()
    perceptron.fit_primal(Phi, t)
    perceptron.fit_dual(Phi @ Phi.T, t)
    assert np.array_equal(Phi, before[0]) and np.array_equal(t, before[1])


def test_two_blobs_lie_where_they_should():
    X, t = toydata.two_blobs(4001, distance=3.0, rng=1)
    assert t.sum() == 1
    for label in (1, -1):
        cloud = X[t == label]
        assert_allclose(cloud.mean(axis=0), [1.5 * label, 0], atol=0.1)
        assert_allclose(cloud.std(axis=0), 1, atol=0.05)


def test_two_moons_are_half_circles_plus_noise():
    X, t = toydata.two_moons(401, noise=0.0, rng=2)
    upper, lower = X[t > 0], X[t < 0]
    assert len(upper) == 201
    assert_allclose(np.linalg.norm(upper, axis=1), 1)
    assert_allclose(np.linalg.norm(lower - [1, 0.5], axis=1), 1)
    assert upper[:, 1].min() >= 0 and lower[:, 1].max() <= 0.5
    noisy, _ = toydata.two_moons(401, noise=0.2, rng=2)
    assert_allclose(np.std(noisy - X), 0.2, rtol=0.1)


def blobs(seed, distance=6.0):
    X, t = toydata.two_blobs(25, distance, seed)
    return X + np.array([3.0, 1.0]), t


@given(seeds)
def test_loss_is_the_sum_over_the_misclassified_set(seed):
    X, t = blobs(seed, distance=1.0)
    w, b = np.random.default_rng(seed).standard_normal(2), 0.3
    M = [n for n in range(25) if t[n] * (w @ X[n] + b) <= 0]
    total = sum(-t[n] * (w @ X[n] + b) for n in M)
    assert_allclose(perceptron.loss(w, b, X, t), total)


@given(seeds)
def test_subgradient_is_the_gradient_by_differences_off_the_kinks(seed):
    X, t = blobs(seed, distance=1.0)
    v = np.random.default_rng(seed).standard_normal(3)
    h = 1e-6
    assume(np.abs(X @ v[1:] + v[0]).min() > 1e-4)

    def loss(v):
        return perceptron.loss(v[1:], v[0], X, t)

    slopes = [(loss(v + h * e) - loss(v - h * e)) / (2 * h) for e in np.eye(3)]
    g_w, g_b = perceptron.subgradient(v[1:], v[0], X, t)
    assert_allclose([g_b, *g_w], slopes, atol=1e-6)


@given(seeds)
def test_subgradient_supports_the_loss_from_below(seed):
    X, t = blobs(seed, distance=1.0)
    rng = np.random.default_rng(seed)
    X[0] = 0.0  # a score of exactly b
    for b in (0.0, 0.7):
        w, v, c = rng.standard_normal(2), rng.standard_normal(2), 1.3
        g_w, g_b = perceptron.subgradient(w, b, X, t)
        tangent = perceptron.loss(w, b, X, t) + g_w @ (v - w) + g_b * (c - b)
        assert perceptron.loss(v, c, X, t) >= tangent - 1e-9


def test_subgradient_counts_a_score_of_zero_as_a_mistake():
    g_w, g_b = perceptron.subgradient([0.0, 0.0], 0.0, PHI2, T2)
    assert_allclose([g_b, *g_w], [0.0, -1.0, 1.0])


@given(seeds, st.floats(0.01, 100))
def test_fit_is_the_update_rule_in_a_loop(seed, eta):
    X, t = blobs(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        run = perceptron.fit(X, t, max_epochs=5)
    w, b, mistakes = np.zeros(2), 0.0, []
    for _ in range(5):
        for n in range(25):
            new_w, new_b = perceptron.update(w, b, X[n], t[n], eta)
            if new_b != b:
                mistakes.append(n)
            w, b = new_w, new_b
    assert np.array_equal(run.mistakes, mistakes)
    assert_allclose(eta * run.w, w, atol=1e-9 * eta)
    assert_allclose(eta * run.b, b)


def test_one_update_follows_the_subgradient_of_its_example():
    w, b, x = np.array([1.0, -1.0]), 0.5, np.array([0.2, 3.0])
    g_w, g_b = perceptron.subgradient(w, b, [x], [1])
    new_w, new_b = perceptron.update(w, b, x, 1, eta=0.3)
    assert_allclose(new_w, w - 0.3 * g_w)
    assert_allclose(new_b, b - 0.3 * g_b)
    same_w, same_b = perceptron.update(w, b, x, -1)
    assert np.array_equal(same_w, w) and same_b == b and same_w is not w


def test_a_step_is_one_unless_told_otherwise():
    w, b = perceptron.update([0.0, 0.0], 0.0, [0.2, 3.0], -1)
    assert np.array_equal(w, [-0.2, -3.0]) and b == -1


@pytest.mark.parametrize("seed", range(5))
def test_affine_weights_are_scikit_learns(seed):
    X, t = blobs(seed, distance=9.0)
    theirs = Perceptron(shuffle=False, tol=None, max_iter=500).fit(X, t)
    ours = perceptron.fit(X, t, 500)
    assert ours.converged
    assert_allclose(ours.w, theirs.coef_[0])
    assert_allclose(ours.b, theirs.intercept_[0])


@pytest.mark.parametrize("seed", range(5))
def test_affine_mistakes_keep_the_bound_with_the_bias(seed):
    X, t = blobs(seed, distance=9.0)
    best = margin.hard_margin(X, t)
    Xb = np.column_stack([np.ones(25), X])
    bound = perceptron.mistake_bound([best.b, *best.w], Xb, t)
    assert len(perceptron.fit(X, t, 500).mistakes) <= bound


PHI2, T2 = np.eye(2), np.array([1.0, -1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: perceptron.fit_primal(PHI2, [0, 1]),
            r"t must be -1 or \+1, got 0",
        ),
        (
            lambda: perceptron.fit_dual(PHI2, [1, 1]),
            r"t must contain both -1 and \+1, got only \+1",
        ),
        (
            lambda: perceptron.fit_primal(PHI2, T2, max_epochs=0),
            "max_epochs must be a whole number >= 1, got 0",
        ),
        (
            lambda: perceptron.fit_dual(PHI2, T2, max_epochs=0),
            "max_epochs must be a whole number >= 1, got 0",
        ),
        (
            lambda: perceptron.fit_dual(np.ones((2, 3)), T2),
            "K must be a square Gram matrix",
        ),
        (
            lambda: perceptron.mistake_bound([1.0, 1.0], PHI2, T2),
            "w must separate the classes, got .* <= 0 for the example n = 1,",
        ),
        (
            lambda: perceptron.mistake_bound([0.0, -1.0], PHI2, T2),
            "w must separate the classes, got .* <= 0 for the example n = 0,",
        ),
        (
            lambda: perceptron.mistake_bound([1.0], PHI2, T2),
            "w must have length 2, got 1",
        ),
        (
            lambda: perceptron.mistake_bound([np.nan, 1.0], PHI2, T2),
            "w must be finite",
        ),
        (
            lambda: perceptron.mistake_bound([1.0, 1.0], PHI2, [1, 2]),
            r"t must be -1 or \+1, got 2",
        ),
        (
            lambda: toydata.two_blobs(1, 1.0, 0),
            "N must be a whole number >= 2",
        ),
        (
            lambda: perceptron.loss([1.0], 0.0, PHI2, T2),
            "w must have length 2, got 1",
        ),
        (
            lambda: perceptron.loss([1e200] * 2, 0.0, [[1e200, -1e200]], [1]),
            "w and X must be small enough that their products are finite",
        ),
        (
            lambda: perceptron.subgradient([1.0, 1.0], 0.0, PHI2, [1, 2]),
            r"t must be -1 or \+1, got 2",
        ),
        (
            lambda: perceptron.loss([1.0, 1.0], np.nan, PHI2, T2),
            "b must be finite, got nan",
        ),
        (
            lambda: perceptron.update([1.0, 1.0], 0.0, [2.0], 1),
            "w must have length 1, got 2",
        ),
        (
            lambda: perceptron.update([1.0], 0.0, [2.0], 0),
            r"t must be -1 or \+1, got 0",
        ),
        (
            lambda: perceptron.update([1.0], 0.0, [2.0], 1, eta=0.0),
            "eta must be > 0, got 0",
        ),
        (
            lambda: perceptron.update([1.0], np.nan, [2.0], 1),
            "b must be finite, got nan",
        ),
        (
            lambda: perceptron.fit(PHI2, [1, 1]),
            r"t must contain both -1 and \+1",
        ),
        (
            lambda: perceptron.fit(PHI2 + np.inf, T2),
            "X must be finite",
        ),
        (lambda: toydata.two_blobs(4, -1.0, 0), "distance must be >= 0"),
        (lambda: toydata.two_moons(4, -1.0, 0), "noise must be >= 0"),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@given(seeds)
def test_the_average_is_that_of_all_weights_on_the_way(seed):
    Phi, t, _ = separable(seed)
    w, b, visited = np.zeros(3), 0.0, []
    for n in list(range(len(t))) * 4:
        w, b = perceptron.update(w, b, Phi[n], t[n])
        visited.append([b, *w])
    w_mean, b_mean = perceptron.fit_averaged(Phi, t, epochs=4)
    assert_allclose([b_mean, *w_mean], np.mean(visited, axis=0), atol=1e-12)


def test_ten_passes_are_averaged_unless_said_otherwise():
    X, t = toydata.two_blobs(20, distance=1.0, rng=3)
    w, b = perceptron.fit_averaged(X, t)
    w_ten, b_ten = perceptron.fit_averaged(X, t, epochs=10)
    assert np.array_equal(w, w_ten) and b == b_ten
    with pytest.raises(ValueError, match="epochs must be a whole number"):
        perceptron.fit_averaged(X, t, epochs=0)
    with pytest.raises(ValueError, match="t must contain both"):
        perceptron.fit_averaged(X, np.ones(20))
