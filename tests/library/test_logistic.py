"""Logistic regression with a bias, two classes and K: likelihood to fit."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.special import softmax as scipy_softmax
from scipy.stats import bernoulli
from sklearn.linear_model import LogisticRegression

from kernelbook import (
    _likelihood,
    _progress,
    kernel_logistic,
    logistic,
    margin,
    softmax,
)
from kernelbook.exceptions import ConvergenceWarning

sizes = st.tuples(st.integers(3, 12), st.integers(1, 3), st.integers(0, 10**6))
lams = st.floats(1e-2, 1e2)


def problem(sizes, K=None):
    """Random inputs; labels -1 and +1, or classes 0 to K-1, all present."""
    N, D, seed = sizes
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    if K is None:
        t = np.where(rng.random(N) < 0.5, 1.0, -1.0)
        t[:2] = 1.0, -1.0
    else:
        t = rng.integers(0, K, N)
        t[:K] = np.arange(K)
    return X, t, rng


def overlapping(N=60, D=3, seed=0, K=None):
    """Noise labels on many points: no hyperplane does well."""
    return problem((N, D, seed), K)[:2]


def differences(f, x, h=1e-5):
    flat = [
        (f(x + h * e.reshape(x.shape)) - f(x - h * e.reshape(x.shape)))
        / (2 * h)
        for e in np.eye(x.size)
    ]
    return np.array(flat)


# two classes


def test_sigmoid_and_loss_are_mpmaths_also_in_the_tails():
    mp.dps = 40
    for z in (-700.0, -40.0, -1e-9, 0.0, 0.3, 36.0, 700.0):
        assert_allclose(
            logistic.sigmoid(z), float(1 / (1 + mp.exp(-mp.mpf(z)))), 1e-14
        )
        assert_allclose(
            logistic.loss([z], [1]),
            float(mp.log1p(mp.exp(-mp.mpf(z)))),
            rtol=1e-14,
        )


@given(st.floats(-600, 600))
def test_probabilities_of_the_two_labels_sum_to_one(z):
    assert_allclose(logistic.sigmoid(z) + logistic.sigmoid(-z), 1)


@given(sizes)
def test_log_likelihood_is_scipys_bernoulli(sizes):
    X, t, rng = problem(sizes)
    w = rng.standard_normal(X.shape[1] + 1)
    p = [1 / (1 + np.exp(-(w[0] + w[1:] @ x))) for x in X]
    assert_allclose(logistic.probability(w, X), p)
    expected = bernoulli.logpmf((t > 0).astype(int), p).sum()
    assert_allclose(logistic.log_likelihood(w, X, t), expected)


@given(sizes)
def test_likelihood_gradient_and_information_are_differences(sizes):
    X, t, rng = problem(sizes)
    w = rng.standard_normal(X.shape[1] + 1)
    assert_allclose(
        logistic.likelihood_gradient(w, X, t),
        differences(lambda w: logistic.log_likelihood(w, X, t), w),
        atol=1e-7,
    )
    assert_allclose(
        -logistic.information(w, X),
        differences(lambda w: logistic.likelihood_gradient(w, X, t), w),
        atol=1e-7,
    )


@given(sizes)
def test_standard_errors_are_roots_of_the_inverse_information(sizes):
    X, _, rng = problem(sizes)
    X = np.vstack([X, np.eye(X.shape[1]), -np.eye(X.shape[1])])  # full rank
    w = rng.standard_normal(X.shape[1] + 1)
    inverse = np.linalg.inv(logistic.information(w, X))
    s = logistic.standard_errors(w, X)
    assert_allclose(s, np.sqrt(inverse.diagonal()), rtol=1e-6)
    unit = 2.0 ** rng.integers(-20, 20, X.shape[1])
    scaled = logistic.standard_errors([w[0], *w[1:] / unit], X * unit)
    assert_allclose(scaled[1:] * unit, s[1:], rtol=1e-6)


def test_standard_error_of_a_table_is_woolfs():
    """ln (ad/bc) of a 2 × 2 table has the variance 1/a + 1/b + 1/c + 1/d."""
    counts = np.array([2, 8, 15, 5])
    X = np.repeat([0.0, 0.0, 1.0, 1.0], counts)[:, None]
    t = np.repeat([1.0, -1.0, 1.0, -1.0], counts)
    s = logistic.standard_errors(logistic.fit(X, t).w, X)
    expected = [(1 / counts[:2]).sum(), (1 / counts).sum()]
    assert_allclose(s**2, expected, rtol=1e-6)


@given(sizes, lams)
def test_newton_step_is_weighted_least_squares(sizes, lam):
    """S^½(z - X̃w̃) with z = X̃w̃ + S⁻¹(u - p), and rows √λ for the weights."""
    X, t, rng = problem(sizes)
    w = 0.5 * rng.standard_normal(X.shape[1] + 1)
    X_1 = np.column_stack([np.ones(len(X)), X])
    p = 1 / (1 + np.exp(-(X_1 @ w)))
    s = p * (1 - p)
    z = X_1 @ w + ((t > 0) - p) / s
    rows = np.vstack(
        [np.sqrt(s)[:, None] * X_1, np.sqrt(lam) * np.eye(len(w))[1:]]
    )
    targets = np.append(np.sqrt(s) * z, np.zeros(len(w) - 1))
    expected = np.linalg.lstsq(rows, targets, rcond=None)[0]
    assert_allclose(
        w + logistic.irls_step(w, X, t, lam), expected, rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("lam", [0.0, 0.01, 1.0, 30.0])
def test_fit_is_scikit_learns(lam):
    for seed in range(5):
        X, t = overlapping(seed=seed)
        theirs = LogisticRegression(
            C=1 / lam if lam else np.inf, solver="newton-cholesky", tol=1e-12
        ).fit(X, t)
        found = logistic.fit(X, t, lam)
        expected = np.append(theirs.intercept_, theirs.coef_[0])
        assert_allclose(found.w, expected, rtol=1e-7, atol=1e-9)
        assert_allclose(
            logistic.probability(found.w, X), theirs.predict_proba(X)[:, 1]
        )


@given(sizes, lams)
def test_report_of_the_fit_is_true(sizes, lam):
    X, t, _ = problem(sizes)
    found = logistic.fit(X, t, lam)
    for w, value in zip(found.path, found.objectives, strict=True):
        J = lam / 2 * (w[1:] @ w[1:]) - logistic.log_likelihood(w, X, t)
        assert_allclose(value, J)
    assert np.array_equal(found.w, found.path[-1])
    assert found.iterations == len(found.path) - 1
    assert np.all(np.diff(found.objectives) <= 1e-9 * found.objectives[:-1])
    slope = differences(
        lambda w: lam / 2 * (w[1:] @ w[1:]) - logistic.log_likelihood(w, X, t),
        found.w,
    )
    assert_allclose(slope, 0, atol=1e-4)
    assert found.gradient_norm < 1e-4


def test_fit_stops_with_the_first_step_that_promises_too_little():
    X, t = overlapping(seed=2)
    lam = 0.5
    for i, w in enumerate(logistic.fit(X, t, lam).path[:-1]):
        slope = logistic.likelihood_gradient(w, X, t) - [0, *(lam * w[1:])]
        gain = logistic.irls_step(w, X, t, lam) @ slope / 2
        for factor, steps in [(1.01, i + 1), (0.99, i + 2)]:
            found = logistic.fit(X, t, lam, tolerance=factor * gain)
            assert found.iterations == steps


def test_steps_are_halved_while_they_would_raise_the_objective():
    X = [[0.0, -5.0], [57.0, -28.0], [0.0, 0.0], [1.0, 0.0], [17.0, -20.0]]
    t, lam = [1, -1, 1, -1, 1], 1e-3

    def J(w):
        return lam / 2 * (w[1:] @ w[1:]) - logistic.log_likelihood(w, X, t)

    path, sizes = logistic.fit(X, t, lam).path, []
    for w, chosen in pairwise(path):
        step, size = logistic.irls_step(w, X, t, lam), 1.0
        while J(w + size * step) > J(w) * (1 + 1e-9):
            size /= 2
        assert_allclose(chosen, w + size * step, rtol=1e-6)
        sizes.append(size)
    assert min(sizes) < 1, "must overshoot to test anything"


def test_mean_probability_at_the_maximum_is_the_share_of_positives():
    X, t = overlapping(seed=3)
    for lam in (0.0, 5.0):  # the bias is not penalised
        p = logistic.probability(logistic.fit(X, t, lam).w, X)
        assert_allclose(p.mean(), (t > 0).mean(), atol=1e-9)


def test_units_of_the_features_do_not_matter_without_penalty():
    X, t = overlapping(seed=4)
    units = np.array([1e6, 1e-6, 1.0])
    shift = np.array([1e6, 0.0, -3.0])
    p = logistic.probability(logistic.fit(X, t).w, X)
    moved = X * units + shift
    p_moved = logistic.probability(logistic.fit(moved, t).w, moved)
    assert_allclose(p_moved, p, atol=1e-6)


@pytest.mark.filterwarnings("ignore:the Hessian is positive definite only")
def test_units_do_not_matter_where_the_hessian_needs_a_jitter():
    X, t = overlapping(D=2, seed=1)
    nearly_copied = X @ [[1.0, 1.0], [0.0, 1e-8]]
    best = logistic.fit(X, t).objectives[-1]
    for units in ([1.0, 1.0], [1e6, 1e-6]):
        found = logistic.fit(nearly_copied * units, t, tolerance=1e-5)
        assert_allclose(found.objectives[-1], best, rtol=2e-4)


def test_fit_agrees_with_the_dual_of_chapter_3_on_centred_data():
    """A huge constant feature is a bias that is as good as free."""
    X, t = overlapping(N=30, seed=5)
    c = 1e4
    K = X @ X.T + c**2
    a = kernel_logistic.fit_dual(K, t, 2.0).a
    w = logistic.fit(X, t, 2.0).w
    assert_allclose(X.T @ a, w[1:], rtol=1e-4, atol=1e-6)
    assert_allclose(c**2 * a.sum(), w[0], rtol=1e-3, atol=1e-4)


# separable or not


@given(sizes)
def test_separation_agrees_with_closest_points_of_the_hulls(sizes):
    X, t, _ = problem(sizes)
    found = logistic.separation(X, t)
    assert (found.strict == len(t)) == margin.separable(X, t)
    sides = t * (np.column_stack([np.ones(len(X)), X]) @ found.w)
    scale = 1 + np.abs(sides).max()
    assert sides.min() > -1e-6 * scale
    assert (sides > 1e-6).sum() >= found.strict


@given(sizes)
def test_fit_refuses_exactly_when_there_is_no_maximiser(sizes):
    X, t, _ = problem(sizes)
    assume(len(X) > X.shape[1])
    if logistic.separation(X, t).strict:
        with pytest.raises(ValueError, match="has no maximiser"):
            logistic.fit(X, t)
    else:
        assert logistic.fit(X, t).gradient_norm < 1e-4


@pytest.mark.parametrize(
    ("x", "t", "strict"),
    [
        ([0, 1, 2, 3], [-1, -1, 1, 1], 4),  # separable
        ([0, 1, 1, 3], [-1, 1, -1, 1], 2),  # they touch in one point
        ([0, 1, 1], [-1, 1, -1], 1),  # only a negative one gets away
        ([0, 1, 1], [1, -1, 1], 1),  # only a positive one
        ([0, 1, 2, 3], [-1, 1, -1, 1], 0),  # they overlap
    ],
)
def test_separable_touching_and_overlapping_on_the_line(x, t, strict):
    X = np.array(x, dtype=float)[:, None]
    for units in (1.0, 1e5, 1e-5):
        assert logistic.separation(units * X, t).strict == strict
    if strict:
        with pytest.raises(ValueError, match=rf"0: {strict} of {len(t)} exam"):
            logistic.fit(X, t)
    else:
        logistic.fit(X, t)


@pytest.mark.parametrize("tolerance", [1e-12, 1e-9, 1e-3, 0.1])
def test_separable_data_are_refused_whatever_the_tolerance(tolerance):
    for x, t in [
        ([0, 1, 2, 3], [-1, -1, 1, 1]),
        ([0, 1, 1, 3], [-1, 1, -1, 1]),
    ]:
        X = np.array(x, dtype=float)[:, None]
        with pytest.raises(ValueError, match="has no maximiser"):
            logistic.fit(X, t, tolerance=tolerance)
        with pytest.raises(ValueError, match="has no maximiser"):
            softmax.fit(X, np.array(t) > 0, tolerance=tolerance)


def test_a_far_outlier_is_not_mistaken_for_separation():
    X, t = overlapping(N=40, D=1, seed=6)
    X[0] = 1e4 * t[0]
    assert logistic.separation(X, t).strict == 0


def test_small_outputs_are_not_doubted_and_large_ones_only_once(monkeypatch):
    """The search for a hyperplane is dear: it runs when it might find one."""
    asked = []
    for module in (logistic, softmax):
        monkeypatch.setattr(
            module,
            "separation",
            lambda X, t, found=module.separation: (
                asked.append(len(X)) or found(X, t)
            ),
        )
    for N, outlier, times in [(50, 1.0, 0), (40, 1e4, 1)]:
        X, t = overlapping(N, D=1, seed=6)
        X[0] = outlier * t[0]
        logistic.fit(X, t)
        softmax.fit(X, t > 0)
        assert asked.count(N) == 2 * times


def test_scores_and_slopes_survive_the_change_of_units():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 3)) * [1e-3, 1.0, 1e3] + [5.0, 0.0, 1e3]
    X[:, 1] = 4.0
    units = _likelihood.units(X)
    Z = units.inputs(X)
    assert_allclose(Z.min(axis=0), [-1, 0, -1])
    assert_allclose(Z.max(axis=0), [1, 0, 1])
    for shape in [(4,), (4, 2)]:
        v, c = rng.standard_normal(shape), rng.standard_normal((9, *shape[1:]))
        w = units.weights(v)
        assert_allclose(w[0] + X @ w[1:], v[0] + Z @ v[1:])
        slopes = [np.vstack([np.ones(9), A.T]) @ c for A in (Z, X)]
        assert_allclose(units.gradient(slopes[0]), slopes[1])
        lam = 0.7
        penalty = _likelihood.units(X).penalty(lam)
        assert_allclose(
            penalty @ v**2, lam * (w[1:] ** 2).sum(axis=0), rtol=1e-12
        )


def test_no_penalty_exceeds_one_in_the_units_of_the_search():
    X = np.array([[1e-9, 3.0], [0.0, -1.0]])
    units = _likelihood.units(X, lam=4.0)
    assert_allclose(units.half, [2.0, 2.0])
    assert_allclose(units.penalty(4.0), [0.0, 1.0, 1.0])
    assert_allclose(_likelihood.units(X, lam=1.0).half, [1.0, 2.0])


def test_search_for_a_hyperplane_that_fails_says_so(monkeypatch):
    failed = SimpleNamespace(success=False, message="numerical trouble", x=T4)
    monkeypatch.setattr(_likelihood, "linprog", lambda *_, **__: failed)
    with pytest.raises(RuntimeError, match="hyperplane failed: numerical"):
        logistic.separation(X4, T4)


# slower climbers


def test_gradient_ascent_arrives_and_never_descends_with_a_safe_step():
    X, t = overlapping(seed=7)
    X_1 = np.column_stack([np.ones(len(X)), X])
    eta = 4 / np.linalg.eigvalsh(X_1.T @ X_1)[-1]
    path = logistic.gradient_ascent(X, t, eta, steps=300)
    values = [logistic.log_likelihood(w, X, t) for w in path]
    assert np.all(np.diff(values) >= -1e-12)
    assert_allclose(path[-1], logistic.fit(X, t).w, atol=1e-8)
    assert_allclose(
        path[1], eta * logistic.likelihood_gradient(0 * path[0], X, t)
    )


def test_stochastic_ascent_visits_everyone_and_comes_near():
    X, t = overlapping(N=80, seed=8)
    path = logistic.stochastic_ascent(X, t, eta=0.5, epochs=60, rng=1)
    assert path.shape == (80 * 60 + 1, 4)
    best = logistic.fit(X, t).w
    early = np.linalg.norm(path[: 80 * 2] - best, axis=1).mean()
    late = np.linalg.norm(path[-80:] - best, axis=1).mean()
    assert late < 0.05 < early
    X_1 = np.column_stack([np.ones(80), X])
    steps = np.diff(path[:81], axis=0)
    moved = [
        int(np.argmax(np.abs(X_1 @ s) / (X_1**2).sum(axis=1) ** 0.5))
        for s in steps
    ]
    assert sorted(moved) == list(range(80))
    again = logistic.stochastic_ascent(X, t, eta=0.5, epochs=60, rng=1)
    assert np.array_equal(path, again)


def test_one_example_pulls_as_much_as_its_share_of_the_gradient():
    X, t, rng = problem((7, 2, 9))
    w = rng.standard_normal(3)
    total = sum(
        logistic.likelihood_gradient(w, X[n : n + 1], t[n : n + 1])
        for n in range(7)
    )
    assert_allclose(total, logistic.likelihood_gradient(w, X, t))


# K classes


@given(st.integers(1, 5), st.integers(2, 6), st.floats(-800, 800))
def test_softmax_is_scipys_and_ignores_a_common_shift(N, K, shift):
    F = 5 * np.random.default_rng(N * K).standard_normal((N, K))
    P = softmax.softmax(F + shift)
    assert_allclose(P, scipy_softmax(F, axis=1), rtol=1e-9)
    assert_allclose(P.sum(axis=1), 1)


@given(sizes)
def test_softmax_likelihood_and_gradient_are_loops_and_differences(sizes):
    X, t, rng = problem(sizes, K=3)
    W = rng.standard_normal((X.shape[1] + 1, 3))
    total = 0.0
    for x, label in zip(X, t, strict=True):
        f = [W[0, k] + W[1:, k] @ x for k in range(3)]
        total += f[label] - np.log(np.sum(np.exp(f)))
    assert_allclose(softmax.log_likelihood(W, X, t), total)
    slope = differences(lambda W: softmax.log_likelihood(W, X, t), W)
    G = softmax.gradient(W, X, t)
    assert_allclose(G.ravel(), slope, atol=1e-7)
    assert_allclose(G.sum(axis=1), 0, atol=1e-12)


@given(sizes)
def test_softmax_information_is_differences_and_two_classes_the_sigmoids(
    sizes,
):
    X, t, rng = problem(sizes, K=3)
    W = rng.standard_normal((X.shape[1] + 1, 3))
    H = softmax.information(W, X)
    assert H.shape == W.shape * 2
    by_differences = differences(
        lambda W: softmax.gradient(W, X, t).ravel(), W
    ).reshape(H.shape)
    assert_allclose(-H, by_differences, atol=1e-7)
    w = rng.standard_normal(X.shape[1] + 1)
    two = softmax.information(np.column_stack([np.zeros_like(w), w]), X)
    assert_allclose(two[:, 1, :, 1], logistic.information(w, X), atol=1e-12)


@given(sizes, lams)
def test_two_classes_by_softmax_are_the_sigmoid(sizes, lam):
    """w = w₁ - w₀; halves of w cost λ‖w‖²/4, so λ must be doubled."""
    X, t, _ = problem(sizes)
    W = softmax.fit(X, (t > 0).astype(int), 2 * lam).w
    assert_allclose(W.sum(axis=1), 0, atol=1e-7)
    w = logistic.fit(X, t, lam).w
    assert_allclose(W[:, 1] - W[:, 0], w, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("lam", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("K", [3, 5])
def test_softmax_fit_is_scikit_learns(lam, K):
    X, t = overlapping(N=120, D=2, seed=K, K=K)
    theirs = LogisticRegression(
        C=1 / lam if lam else np.inf, solver="newton-cholesky", tol=1e-12
    ).fit(X, t)
    found = softmax.fit(X, t, lam)
    W = np.vstack([theirs.intercept_, theirs.coef_.T])
    W -= W.mean(axis=1, keepdims=True)
    assert_allclose(found.w, W, rtol=1e-6, atol=1e-8)
    assert_allclose(
        found.objectives[-1],
        lam / 2 * (W[1:] ** 2).sum() - softmax.log_likelihood(W, X, t),
        rtol=1e-12,
    )
    assert found.gradient_norm < 1e-6


@pytest.mark.parametrize(
    ("x", "t", "strict"),
    [
        ([0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], 6),
        ([0, 1, 1, 2, 3, 4], [0, 0, 1, 1, 2, 2], 6),  # 0 and 1 touch
        ([0, 1, 1, 2, 0.5, 1.7], [0, 0, 1, 1, 2, 2], 0),  # 2 mixes with both
        ([0, 2, 1, 3, 0.5, 2.5], [0, 0, 1, 1, 2, 2], 0),
    ],
)
def test_softmax_separable_or_not(x, t, strict):
    X = np.array(x)[:, None]
    found = softmax.separation(X, t)
    assert found.strict == strict
    if strict:
        with pytest.raises(ValueError, match="has no maximiser"):
            softmax.fit(X, t)
    else:
        softmax.fit(X, t)
    F = found.w[0] + X @ found.w[1:]
    own = F[np.arange(len(t)), t]
    assert np.all(own >= F.max(axis=1) - 1e-6 * (1 + np.abs(F).max()))


# bad input


X4 = np.array([[0.0], [1.0], [2.0], [3.0]])
T4 = np.array([-1.0, 1.0, -1.0, 1.0])
WIDE = np.column_stack([X4, np.full(4, 7.0)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: logistic.fit(X4, [1, 1, 1, 1]),
            r"t must contain both -1 and \+1, got only \+1",
        ),
        (
            lambda: logistic.fit(X4, [1, 1, 1, 1], lam=1.0),
            r"t must contain both -1 and \+1, got only \+1",
        ),
        (
            lambda: logistic.fit(X4, [0, 1, 0, 1]),
            r"t must be -1 or \+1, got 0",
        ),
        (
            lambda: logistic.fit(WIDE, T4),
            r"linearly dependent, got 0 and rank 2 of 3: column 1 is constant",
        ),
        (
            lambda: logistic.fit(np.hstack([X4, 2 * X4]), T4),
            r"linearly dependent, got 0 and rank 2 of 3$",
        ),
        (
            lambda: logistic.fit([[0.0], [np.nan], [2.0], [3.0]], T4),
            "X must be finite, got 1 NaN or inf",
        ),
        (
            lambda: logistic.fit(X4, T4[:3]),
            "t must have length 4, got 3",
        ),
        (
            lambda: logistic.fit(X4[:, 0], T4),
            "X must be two-dimensional",
        ),
        (
            lambda: logistic.fit(X4, T4, lam=-1.0),
            "lam must be >= 0, got -1.0",
        ),
        (
            lambda: logistic.fit(X4, T4, tolerance=0.0),
            "tolerance must be > 0, got 0",
        ),
        (
            lambda: logistic.log_likelihood([1.0], X4, T4),
            "w must have length 2, got 1",
        ),
        (
            lambda: logistic.fit(X4, T4, max_iterations=0),
            "max_iterations must be a whole number >= 1, got 0",
        ),
        (
            lambda: logistic.probability([1.0], X4),
            "w must have length 2, got 1",
        ),
        (
            lambda: logistic.information([1.0], X4),
            "w must have length 2, got 1",
        ),
        (
            lambda: logistic.irls_step(1.0, X4, T4),
            r"w must be one-dimensional and not empty, got shape \(\)",
        ),
        (
            lambda: logistic.irls_step([0.0, 0.0], X4, T4, lam=-1.0),
            "lam must be >= 0, got -1.0",
        ),
        (
            lambda: logistic.separation(X4[:, 0], T4),
            "X must be two-dimensional",
        ),
        (
            lambda: logistic.separation(X4, T4**2),
            r"t must contain both -1 and \+1",
        ),
        (
            lambda: logistic.gradient_ascent(X4, T4, eta=0.0, steps=3),
            "eta must be > 0, got 0",
        ),
        (
            lambda: logistic.gradient_ascent(X4, T4, eta=1.0, steps=0),
            "steps must be a whole number >= 1, got 0",
        ),
        (
            lambda: logistic.stochastic_ascent(X4, T4, 1.0, 0, rng=0),
            "epochs must be a whole number >= 1, got 0",
        ),
        (
            lambda: logistic.stochastic_ascent(X4, T4, 0.0, 1, rng=0),
            "eta must be > 0, got 0",
        ),
        (
            lambda: logistic.stochastic_ascent(X4, T4, 1.0, 1, rng="x"),
            "rng must be a seed, a whole number >= 0, or a NumPy Generator",
        ),
        (lambda: logistic.loss([1.0], [1, -1]), "t must have length 1, got 2"),
        (lambda: logistic.loss([np.nan], [1]), "y must be finite"),
        (
            lambda: logistic.output([1.0], X4),
            "w must have length 2, got 1",
        ),
        (
            lambda: logistic.stochastic_ascent(X4, T4 + 1, 1.0, 1, rng=0),
            r"t must be -1 or \+1, got 0",
        ),
        (
            lambda: softmax.fit(X4, [0, 1, 0, 3]),
            "t must be whole numbers from 0 to 2, got 3",
        ),
        (
            lambda: softmax.fit(X4, [0, 0, 0, 0]),
            "t must contain every class from 0 to 1, got none of class 1",
        ),
        (
            lambda: softmax.fit(X4, T4),
            r"t must be whole numbers from 0 to 1, got -1; labels.coding",
        ),
        (
            lambda: softmax.fit(X4, [0, 1, 0, 1], lam=-1.0),
            "lam must be >= 0, got -1.0",
        ),
        (
            lambda: softmax.fit(X4, [0, 1, 0.5, 0]),
            "t must be whole numbers from 0 to 2, got 0.5",
        ),
        (
            lambda: softmax.fit(WIDE, [0, 1, 0, 1]),
            "column 1 is constant",
        ),
        (
            lambda: softmax.log_likelihood(np.ones((3, 2)), X4, [0, 1, 0, 1]),
            "W must have a row for the bias and one per feature, 2 rows, "
            "got 3",
        ),
        (
            lambda: softmax.gradient(np.ones((2, 2)), X4, [0, 1, 2, 1]),
            "t must be whole numbers from 0 to 1, got 2",
        ),
        (
            lambda: softmax.log_likelihood(np.ones((2, 2)), X4, [0, 1, 1, -1]),
            "t must be whole numbers from 0 to 1, got -1",
        ),
        (
            lambda: softmax.log_likelihood(np.ones((2, 2)), X4, [0, 1, 1]),
            "t must have length 4, got 3",
        ),
        (
            lambda: softmax.information(np.ones((3, 2)), X4),
            "W must have a row for the bias and one per feature, 2 rows, "
            "got 3",
        ),
        (
            lambda: softmax.information(np.ones((2, 2)), X4[:, 0]),
            "X must be two-dimensional",
        ),
        (
            lambda: logistic.standard_errors([0.0, 0.0, 0.0], WIDE),
            "X must have columns that are linearly independent, also of a "
            "constant, got rank 2 of 3",
        ),
        (
            lambda: logistic.standard_errors([0.0], X4),
            "w must have length 2, got 1",
        ),
        (
            lambda: logistic.standard_errors([0.0, 0.0], X4[:, 0]),
            "X must be two-dimensional",
        ),
        (
            lambda: softmax.gradient([1.0, 2.0], X4, [0, 1, 1, 1]),
            "W must be two-dimensional",
        ),
        (lambda: softmax.softmax([1.0, 2.0]), "F must be two-dimensional"),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_constant_feature_gets_no_weight_under_a_penalty():
    assert_allclose(logistic.fit(WIDE, T4, lam=0.1).w[2], 0, atol=1e-9)


SEARCHES = [
    pytest.param(logistic.fit, T4, id="logistic"),
    pytest.param(softmax.fit, [0, 1, 0, 1], id="softmax"),
]


@pytest.mark.parametrize(("fit", "t"), SEARCHES)
def test_a_search_that_ends_too_early_warns_its_user(fit, t):
    message = (
        r"\.fit ended before its goal \(max_iterations\): step 1 promised "
        r"4.0e-01, not the tolerance 1.0e-09; raise lam, the tol"
    )
    with pytest.warns(ConvergenceWarning, match=message) as said:
        found = fit(X4, t, max_iterations=1)
    assert said[0].filename == __file__
    assert str(said[0].message).startswith(fit.__module__[11:] + ".fit ")
    assert found.status == "max_iterations" and not found.converged
    assert found.iterations == 1
    found = fit(X4, t)
    assert found.status == "converged" and found.converged


@pytest.mark.parametrize(("fit", "t"), SEARCHES)
def test_fifty_steps_are_tried_unless_told_otherwise(fit, t):
    with pytest.warns(ConvergenceWarning):
        assert fit(X4, t, tolerance=1e-300).iterations == 50


@pytest.mark.parametrize(("fit", "t"), SEARCHES)
def test_nothing_is_penalised_unless_told_otherwise(fit, t):
    assert np.array_equal(fit(X4, t).w, fit(X4, t, lam=0.0).w)
    assert not np.array_equal(fit(X4, t).w, fit(X4, t, lam=0.1).w)
    w, step = np.array([0.3, -0.2]), logistic.irls_step
    assert np.array_equal(step(w, X4, T4), step(w, X4, T4, lam=0.0))
    assert not np.array_equal(step(w, X4, T4), step(w, X4, T4, lam=0.1))


@pytest.mark.parametrize(("fit", "t"), SEARCHES)
def test_the_search_ends_with_the_first_promise_below_1e_9(fit, t):
    """λ is moved until that promise is 1e-9, where the count changes."""
    low, high = 1e-3, 1e2
    fewest = fit(X4, t, high).iterations
    assert fit(X4, t, low).iterations > fewest
    for _ in range(60):
        middle = np.sqrt(low * high)
        fewer = fit(X4, t, middle).iterations == fewest
        low, high = (low, middle) if fewer else (middle, high)
    for factor, steps in [(0.999, fewest + 1), (1.001, fewest)]:
        assert fit(X4, t, high, factor * 1e-9).iterations == steps


@pytest.mark.parametrize(("fit", "t"), SEARCHES)
@pytest.mark.parametrize("wanted", [True, False, None])
def test_progress_is_reported_unless_it_is_not_wanted(
    fit, t, wanted, monkeypatch, capsys
):
    monkeypatch.setattr(_progress, "EVERY", 0.0)
    found = fit(X4, t, **({} if wanted is None else {"progress": wanted}))
    lines = capsys.readouterr().err.splitlines()
    if wanted is False:
        assert not lines
        return
    assert len(lines) == found.iterations - 1
    name, J = fit.__module__[11:], found.objectives[1]
    assert lines[0].startswith(
        f"{name}.fit: 0 s, step 1, objective {J:.6g}, promised 4.0e-01"
    )


@pytest.mark.parametrize("rise", [0.5e-9, 2e-9])
def test_a_rise_within_rounding_does_not_halve_a_step(rise):
    """J(v) = 1 + ½v², but for the rise at the end of the first step."""

    def quadratic(v):
        J = 1 + v[0] ** 2 / 2 if v[0] else 1.5 * (1 + rise)
        return J, v, np.eye(1)

    found = _likelihood.newton(
        quadratic,
        np.ones(1),
        _likelihood.Stopping(1.0, 1),
        watch=lambda v: None,
        report=_progress.Progress("test", wanted=False),
    )
    assert found.path[1] == (0.0 if rise < 1e-9 else 0.5)


# extreme inputs, and what must not be shared


@pytest.mark.parametrize("shift", [0.0, 1e9, -1e13])
def test_shifted_inputs_have_the_same_fit_and_separation(shift):
    """Whole numbers, so that the shift itself loses nothing."""
    X, t = overlapping(N=40, D=2, seed=3)
    X = np.round(100 * X)
    best = logistic.fit(X, t, lam=2.0)
    found = logistic.fit(X + shift, t, lam=2.0)
    assert_allclose(found.w[1:], best.w[1:], rtol=1e-8)
    assert_allclose(found.objectives, best.objectives, rtol=1e-12)
    many = softmax.fit(X + shift, t > 0, lam=2.0)
    assert_allclose(
        many.w[1:], softmax.fit(X, t > 0, lam=2.0).w[1:], rtol=1e-8
    )
    assert logistic.separation(X + shift, t).strict == 0
    apart = X + 1000 * t[:, None]
    assert logistic.separation(apart + shift, t).strict == 40
    assert softmax.separation(apart + shift, t > 0).strict == 40
    touching = np.array([[0.0], [1.0], [1.0], [3.0]]) + shift
    assert logistic.separation(touching, T4).strict == 2


@pytest.mark.parametrize("lam", [0.0, 2.0])
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_columns_of_extreme_scale_are_fitted_like_any(scale, lam):
    """The penalty of a weight is that of the same output: λ scale²."""
    X, t = overlapping(N=40, D=2, seed=3)
    units = np.array([scale, 1.0])
    if lam:  # the weight of a tiny column vanishes, that of a huge one is free
        X = X - X.mean(axis=0)
        found = logistic.fit(X * units, t, lam)
        assert np.all(np.isfinite(found.w)) and found.converged
        p = logistic.probability(found.w, X * units)
        alone = logistic.fit(X[:, 1:], t, lam).w
        if scale < 1:
            assert_allclose(p, logistic.probability(alone, X[:, 1:]))
            slope = (t > 0) - p
            assert_allclose(
                found.w[1], slope @ (X[:, 0] * scale) / lam, rtol=1e-6
            )
    else:
        best = logistic.fit(X, t)
        found = logistic.fit(X * units, t)
        assert_allclose(found.w[1:] * units, best.w[1:], rtol=1e-8)
        assert_allclose(found.objectives, best.objectives, rtol=1e-12)
        many = softmax.fit(X * units, t > 0).w
        assert_allclose(
            (many[1:, 1] - many[1:, 0]) * units, best.w[1:], rtol=1e-8
        )
    assert logistic.separation(X * units, t).strict == 0
    apart = (X + 9 * t[:, None]) * units
    assert logistic.separation(apart, t).strict == 40
    assert softmax.separation(apart, t > 0).strict == 40


def test_a_range_too_wide_for_a_float_is_no_obstacle():
    X = np.array([[-1.7e308], [-1e308], [1e308], [1.7e308]])
    assert logistic.separation(X, [-1, -1, 1, 1]).strict == 4
    assert logistic.separation(X, T4).strict == 0
    assert np.isfinite(logistic.fit(X, T4).w).all()


HUGE = np.array([[1e200, -1e200], [-1e200, 1e200]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: logistic.output([0.0, 1e200, 1e200], HUGE),
            "w and X must be small enough that their products are finite",
        ),
        (
            lambda: logistic.probability([0.0, 1e200, 1e200], HUGE),
            "w and X must be small enough",
        ),
        (
            lambda: logistic.log_likelihood(
                [0.0, 1e200, 1e200], HUGE, [1, -1]
            ),
            "w and X must be small enough",
        ),
        (
            lambda: logistic.likelihood_gradient(
                [0.0, 1e200, 1e200], HUGE, [1, -1]
            ),
            "w and X must be small enough",
        ),
        (
            lambda: logistic.likelihood_gradient(
                [0.0], np.full((3, 0), 0.0), [1, -1, 1]
            ),
            "X must be two-dimensional and not empty",
        ),
        (
            lambda: logistic.likelihood_gradient(
                [0.0, 0.0], np.full((9, 1), 1.7e308), np.ones(9)
            ),
            "the rows of X must be small enough",
        ),
        (
            lambda: logistic.information([0.0, 0.0, 0.0], HUGE),
            "the columns of X must be small enough",
        ),
        (
            lambda: logistic.irls_step([0.0, 0.0], [[1e-200], [0]], [1, -1]),
            "X must be scaled so that its squares neither overflow nor vanish",
        ),
        (
            lambda: logistic.irls_step([1e4, 0.0], X4, T4),
            "not all probabilities are 0 or 1, got a Hessian with diagonal 0",
        ),
        (
            lambda: logistic.stochastic_ascent(HUGE, [1, 1], 1e200, 2, rng=0),
            "the path, of this eta and X, must be finite",
        ),
        (
            lambda: logistic.gradient_ascent(HUGE[:1], [1], 1e200, 1),
            "the path, of this eta and X, must be finite",
        ),
        (
            lambda: softmax.log_likelihood(
                [[0.0, 0.0], [1e200, 0.0], [1e200, 0.0]], HUGE, [0, 1]
            ),
            "W and X must be small enough",
        ),
        (
            lambda: softmax.gradient(
                [[0.0, 0.0], [1e200, 0.0], [1e200, 0.0]], HUGE, [0, 1]
            ),
            "W and X must be small enough",
        ),
        (
            lambda: softmax.information(
                [[0.0, 0.0], [1e200, 0.0], [1e200, 0.0]], HUGE
            ),
            "W and X must be small enough",
        ),
        (
            lambda: softmax.information(np.zeros((3, 2)), HUGE),
            "the columns of X must be small enough",
        ),
        (
            lambda: logistic.standard_errors([1e4, 0.0], X4),
            "not all probabilities are 0 or 1, got a Hessian with diagonal 0",
        ),
        (
            lambda: logistic.separation([[0.0], [1e-308]], [-1, 1]),
            "X must have columns whose weights are finite, got a range of 1e",
        ),
    ],
)
@pytest.mark.filterwarnings(
    "ignore:(overflow|invalid value) enc:RuntimeWarning"
)
def test_an_overflow_is_refused_by_name_not_returned_as_nan(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_infinite_entry_is_enough_to_refuse_a_hessian():
    H = np.diag([1.0, np.inf])
    with pytest.raises(ValueError, match="got a Hessian with diagonal 1 to"):
        _likelihood.scaled_solve(H, np.ones(2))


def test_one_infinite_weight_is_enough_to_refuse_the_units():
    units = _likelihood.Units(np.zeros(2), np.array([1e-309, 1.0]))
    with pytest.raises(ValueError, match="got a range of 2e-309; rescale it"):
        units.weights(np.ones(3))


@pytest.mark.filterwarnings("ignore:the Hessian is positive definite only")
def test_a_jitter_is_small_for_every_weight_whatever_its_unit():
    """DHD and Dg have the solution of H and g, over D."""
    H, g = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-16]]), np.array([1.0, 1.0])
    D = np.array([2.0**20, 2.0**-20])
    step = _likelihood.scaled_solve(H, g)
    scaled = _likelihood.scaled_solve(D[:, None] * H * D, D * g)
    assert_allclose(D * scaled, step, rtol=1e-12)


def test_results_keep_nothing_of_the_callers_and_nothing_of_each_other():
    X, t = overlapping()
    for found in (logistic.fit(X, t), softmax.fit(X, t > 0)):
        w, last = found.w.copy(), found.path[-1].copy()
        X[:], t[:] = 7.0, 1.0
        assert np.array_equal(found.w, w)
        found.w[:] = 0.0
        assert np.array_equal(found.path[-1], last)
        X, t = overlapping()


def test_results_survive_pickling():
    X, t = overlapping()
    for found in (logistic.fit(X, t), softmax.fit(X, t > 0)):
        again = pickle.loads(pickle.dumps(found))
        assert np.array_equal(again.path, found.path)
        assert again.converged and again.iterations == found.iterations
    plane = logistic.separation(X, t)
    assert pickle.loads(pickle.dumps(plane)).strict == plane.strict


def test_two_threads_find_what_one_finds():
    def work(seed):
        X, t = overlapping(seed=seed)
        planes = logistic.separation(X, t).w, logistic.separation(-X, t).w
        return *planes, logistic.fit(X, t).w, softmax.fit(X, t > 0).w

    alone = [work(seed) for seed in range(6)]
    with ThreadPoolExecutor(2) as pool:
        for one, other in zip(alone, pool.map(work, range(6)), strict=True):
            for a, b in zip(one, other, strict=True):
                assert np.array_equal(a, b)


@given(sizes)
def test_outputs_are_the_log_odds_of_the_probabilities(sizes):
    X, _, rng = problem(sizes)
    w = rng.standard_normal(X.shape[1] + 1)
    y = [w[0] + sum(w[1:] * x) for x in X]
    assert_allclose(logistic.output(w, X), y)
    p = logistic.probability(w, X)
    assert_allclose(np.log(p / (1 - p)), y, atol=1e-9)


def test_a_seed_and_its_generator_visit_in_the_same_order():
    X, t = overlapping(N=20)
    paths = [
        logistic.stochastic_ascent(X, t, 0.5, 3, rng)
        for rng in (4, np.random.default_rng(4), np.random.default_rng(5))
    ]
    assert np.array_equal(paths[0], paths[1])
    assert not np.array_equal(paths[0], paths[2])


def test_inputs_are_left_alone():
    X, t = overlapping()
    before = X.copy(), t.copy()
    logistic.fit(X, t)
    logistic.separation(X, t)
    assert np.array_equal(X, before[0]) and np.array_equal(t, before[1])
