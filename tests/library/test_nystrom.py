"""Landmarks: Nyström is a projection, and exact where they are all inputs."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge

from kernelbook import _normal_equations as sums
from kernelbook import distributed, inducing, iterative, nystrom, ridge
from kernelbook.exceptions import JitterWarning
from kernelbook.kernels import Gaussian, Linear, Polynomial, Spectrum

K = Gaussian(0.3)


def data(N=60, D=2, Q=None, seed=0):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(N, D)), rng.normal(size=(7, D))
    t = (
        rng.normal(size=N if Q is None else (N, Q))
        + np.sin(X[:, :1].T).T[(..., 0) if Q is None else ...]
    )
    return X, t, Z


# ---------------------------------------------------------------- landmarks


def test_uniform_landmarks_are_distinct_sorted_and_equally_likely():
    rng, counts = np.random.default_rng(0), np.zeros(7)
    for _ in range(2000):
        numbers = nystrom.uniform_landmarks(7, 3, rng)
        assert len(set(numbers)) == 3
        assert (np.diff(numbers) > 0).all()
        counts[numbers] += 1
    expected, spread = 2000 * 3 / 7, np.sqrt(2000 * 3 / 7 * 4 / 7)
    assert np.abs(counts - expected).max() < 4 * spread


def test_leverage_scores_are_the_diagonal_of_the_smoother():
    X, _, _ = data(30)
    G = K(X)
    S = G @ np.linalg.inv(G + 0.1 * np.eye(30))
    scores = nystrom.leverage_scores(G, 0.1)
    assert_allclose(scores, np.diag(S), rtol=1e-10)
    sigma = np.linalg.cholesky(G + 1e-10 * np.eye(30))
    d = ridge.effective_parameters(sigma, 0.1)
    assert scores.sum() == pytest.approx(d, rel=1e-6)


def test_leverage_scores_stay_between_zero_and_one():
    scores = nystrom.leverage_scores(np.diag([0.0, 1e18]), 1.0)
    assert scores.tolist() == [0.0, 1.0]


def test_approximate_leverage_scores_are_exact_for_all_landmarks():
    X, _, _ = data(30)
    exact = nystrom.leverage_scores(K(X), 0.1)
    with pytest.warns(JitterWarning):
        found = nystrom.approximate_leverage_scores(
            K, np.vstack([X, X]), 0.2, np.vstack([X, X[:1]])
        )
    # Twice the data with twice λ share one score between two.
    assert_allclose(found[:30], exact / 2, rtol=1e-6)
    assert_allclose(found[30:], exact / 2, rtol=1e-6)


def test_what_the_first_landmarks_miss_counts_in_full():
    X = np.array([[0.0], [100.0]])
    scores = nystrom.approximate_leverage_scores(K, X, 4.0, X[:1])
    assert_allclose(scores, [1 / 5, 1 / 4])
    assert nystrom.approximate_leverage_scores(K, X, 0.5, X[:1])[1] == 1.0


def test_landmarks_are_drawn_in_proportion_to_their_scores():
    rng, counts = np.random.default_rng(1), np.zeros(3)
    for _ in range(3000):
        counts[nystrom.draw_landmarks([3.0, 2.0, 1.0], 1, rng)] += 1
    assert_allclose(counts / 3000, [1 / 2, 1 / 3, 1 / 6], atol=0.035)


@pytest.mark.parametrize(
    ("scores", "M", "message"),
    [
        ([1.0, -1.0], 1, r"scores must be >= 0, got -1"),
        ([1.0, 0.0], 2, r"scores must be positive for at least M = 2 .* 1$"),
        ([1.0, 1.0], 0, r"M must be a whole number >= 1"),
    ],
)
def test_scores_that_cannot_be_drawn_from(scores, M, message):
    with pytest.raises(ValueError, match=message):
        nystrom.draw_landmarks(scores, M, 0)


def test_no_more_landmarks_than_examples():
    with pytest.raises(ValueError, match="M must be at most N = 3, got 4"):
        nystrom.uniform_landmarks(3, 4, 0)
    with pytest.raises(ValueError, match="M must be at most N = 2, got 3"):
        nystrom.pivoted_cholesky(K, [[0.0], [1.0]], 3)
    assert nystrom.uniform_landmarks(3, 3, 0).tolist() == [0, 1, 2]


def test_pivoted_cholesky_is_nystrom_on_its_landmarks():
    X, _, _ = data(40)
    found = nystrom.pivoted_cholesky(K, X, 8)
    Q = nystrom.approximation(K, X, X[found.numbers])
    assert_allclose(found.L @ found.L.T, Q, atol=1e-12)
    assert len(found.missed) == 9
    for m in range(9):
        E = K(X) - found.L[:, :m] @ found.L[:, :m].T
        assert found.missed[m] == pytest.approx(np.trace(E), rel=1e-10)
        assert np.linalg.eigvalsh(E)[-1] <= found.missed[m]
        if m < 8:
            assert np.diag(E).argmax() == found.numbers[m]


def test_pivoted_cholesky_stops_where_nothing_is_left():
    X = np.random.default_rng(0).normal(size=(20, 3))
    found = nystrom.pivoted_cholesky(Linear(), X, 20)
    assert len(found.numbers) == 3
    assert found.L.shape == (20, 3)
    assert_allclose(found.missed[-1], 0.0, atol=1e-12)
    assert len(set(found.numbers)) == 3
    # One that may leave a share stops sooner; the first is always taken.
    d = found.missed
    assert len(nystrom.pivoted_cholesky(Linear(), X, 20, 0.999).numbers) == 1
    assert (np.diff(d) < 0).all()


def test_what_counts_as_rounding_among_landmarks():
    """A share of 1e-12 of the largest k(x, x), unless another is given."""
    for second, found in [(3e-6, 2), (3e-7, 1)]:
        X = np.diag([1.0, second])
        assert len(nystrom.pivoted_cholesky(Linear(), X, 2).numbers) == found
        assert len(nystrom.independent_landmarks(Linear(), X)) == found
    exact = nystrom.pivoted_cholesky(Linear(), [[1.0], [2.0]], 2, 0.0)
    assert exact.numbers.tolist() == [1]
    some = nystrom.pivoted_cholesky(Linear(), [[0.0], [2.0]], 2)
    assert some.numbers.tolist() == [1]


def test_what_is_missed_is_never_negative():
    X = np.random.default_rng(0).normal(size=(400, 1))
    found = nystrom.pivoted_cholesky(Gaussian(0.1), X, 30, 0.0)
    assert (found.missed >= 0).all()


@pytest.mark.parametrize(
    "L",
    [
        [[1.0, 0.0], [-1.0, 1e-3]],  # columns of W that cancel
        [[1.0, 0.0], [0.0, 1e-3]],  # one much smaller than the other
        [[0.03, 0.0], [0.03, 1e-4]],  # both small, and all but the same
    ],
)
def test_a_bad_condition_of_w_is_seen(L):
    assert np.linalg.cond(Linear()(L), 1) > 2e5
    assert not nystrom.feature_map(Linear(), L).at_the_end


@pytest.mark.parametrize("lam", [0.0, "1", np.nan])
def test_a_lam_that_is_none_is_refused(lam):
    X, t, _ = data(10)
    for call in (
        partial(nystrom.leverage_scores, K(X)),
        partial(nystrom.approximate_leverage_scores, K, X, landmarks=X[:2]),
        partial(nystrom.fit_blocks, K, [(X, t)], landmarks=X[:2]),
    ):
        with pytest.raises(ValueError, match="lam must be"):
            call(lam=lam)


def test_numbers_of_landmarks_must_be_whole():
    X, _, _ = data(10)
    with pytest.raises(ValueError, match="M must be a whole number >= 1"):
        nystrom.pivoted_cholesky(K, X, 0)
    with pytest.raises(ValueError, match="M must be a whole number >= 1"):
        nystrom.uniform_landmarks(10, 1.5, 0)
    with pytest.raises(ValueError, match="tolerance must be >= 0, got -1"):
        nystrom.pivoted_cholesky(K, X, 2, -1.0)


def test_pivoted_cholesky_needs_something_to_approximate():
    with pytest.raises(ValueError, match=r"k\(x, x\) must be > 0 somewhere"):
        nystrom.pivoted_cholesky(Linear(), [[0.0], [0.0]], 1)


def test_independent_landmarks_leave_q_as_it_is():
    rng = np.random.default_rng(3)
    X, L = rng.normal(size=(30, 3)), rng.normal(size=(9, 3))
    kept = nystrom.independent_landmarks(Linear(), L)
    assert len(kept) == 3
    assert (np.diff(kept) > 0).all()
    Q = nystrom.approximation(Linear(), X, L[kept])
    assert_allclose(Q, X @ X.T, atol=1e-10)
    few = nystrom.independent_landmarks(Linear(), np.diag([3.0, 1.0]), 0.5)
    assert few.tolist() == [0]


# ----------------------------------------------------------------- features


def test_nystrom_is_a_projection():
    X, _, _ = data(40)
    L = X[:6]
    C, W = K(X, L), K(L)
    Q = nystrom.approximation(K, X, L)
    assert_allclose(Q, C @ np.linalg.solve(W, C.T), atol=1e-10)
    # Of the features themselves, with K = RRᵀ: Q = R P Rᵀ, P a projection.
    R = np.linalg.cholesky(K(X) + 1e-10 * np.eye(40))
    basis = np.linalg.qr(R[:6].T)[0]
    assert_allclose(Q, R @ basis @ basis.T @ R.T, atol=1e-6)
    assert np.linalg.eigvalsh(K(X) - Q)[0] > -1e-10
    assert_allclose(Q[:6], K(X)[:6], atol=1e-10)


def test_features_are_those_of_the_landmarks_cholesky():
    X, _, _ = data(10)
    phi = nystrom.feature_map(K, X)
    U = np.linalg.cholesky(K(X)).T
    assert_allclose(phi(X), U.T, atol=1e-6)
    assert phi.M == 10
    assert_allclose(phi.landmarks, X)
    assert phi.landmarks is not X


def test_landmarks_that_coincide_are_reported_and_harmless():
    X, t, Z = data(40)
    said = r"W of Gaussian.*, the Gram matrix of the landmarks, is positive"
    with pytest.warns(JitterWarning, match=said):
        twice = nystrom.fit(K, X, t, 0.1, np.vstack([X[:5], X[:5]]))
    once = nystrom.fit(K, X, t, 0.1, X[:5])
    assert_allclose(twice.predict(Z), once.predict(Z), rtol=1e-6)
    nystrom.feature_map(K, np.vstack([X[:5], X[:5]]), report_jitter=False)


def ways_to_use(landmarks, k, X, t, Z):
    """Predictions by every function that takes landmarks."""
    cut = [(X[:9], t[:9]), (X[9:], t[9:])]
    yield nystrom.fit(k, X, t, 0.1, landmarks).predict(Z)
    yield nystrom.fit_blocks(k, cut, 0.1, landmarks).predict(Z)
    phi = nystrom.feature_map(k, landmarks)
    yield distributed.ridge(phi, cut, 0.1).predict(Z)
    yield iterative.fit(k, X, t, 0.1, landmarks).predict(Z)
    model = inducing.fit(k, X, t, 10.0, landmarks)
    yield inducing.predict(model, Z).mean


def test_landmarks_of_low_rank_are_reported_and_harmless():
    """More landmarks than a linear kernel has features."""
    X, t, Z = data(40)
    D = X.shape[1]
    few = list(ways_to_use(X[:D], Linear(), X, t, Z))
    with pytest.warns(JitterWarning, match="the Gram matrix of the landmarks"):
        many = list(ways_to_use(X[: D + 6], Linear(), X, t, Z))
    for y in [*few, *many]:
        assert_allclose(y, few[0], rtol=1e-6)


def test_landmarks_that_say_nothing_are_refused():
    X, t, Z = data(40)
    message = r"landmarks must have k\(x, x\) > 0 somewhere, got 0"
    with pytest.raises(ValueError, match=message):
        list(ways_to_use(0 * X[:2], Linear(), X, t, Z))
    with pytest.raises(ValueError, match=message):
        iterative.fit(Linear(), X, t, 0.1, 0 * X[:2])


# -------------------------------------------------------------------- ridge


@pytest.mark.parametrize("Q", [None, 1, 3])
def test_all_inputs_as_landmarks_give_kernel_ridge(Q):
    X, t, Z = data(Q=Q)
    k = Gaussian(5.0)
    model = nystrom.fit(k, X, t, 0.1, X)
    exact = ridge.fit(k, X, t, 0.1).predict(Z)
    assert_allclose(model.predict(Z), exact, rtol=1e-9, atol=1e-12)
    assert model.predict(Z).shape == exact.shape
    assert (model.N, model.status) == (60, "converged")


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 20.0])
def test_ridge_with_landmarks_is_ridge_with_their_gram_matrix(gamma):
    X, t, Z = data()
    k, L = Gaussian(gamma), X[:9]
    phi = nystrom.feature_map(k, L, report_jitter=False)
    Q = phi(X) @ phi(X).T
    a = ridge.fit_dual(Q, t, 0.1)
    exact = ridge.predict(a, phi(X) @ phi(Z).T)
    assert_allclose(nystrom.fit(k, X, t, 0.1, L).predict(Z), exact, rtol=1e-7)


def test_ridge_with_landmarks_is_scikit_learns():
    X, t, Z = data(200, 5)
    theirs = Nystroem(kernel="rbf", gamma=0.3, n_components=30, random_state=0)
    Phi = theirs.fit_transform(X)
    w = Ridge(0.1, fit_intercept=False).fit(Phi, t)
    ours = nystrom.fit(K, X, t, 0.1, theirs.components_)
    assert_allclose(ours.predict(Z), w.predict(theirs.transform(Z)), rtol=1e-8)


def test_the_sums_are_those_of_the_features_wherever_w_is_met():
    X, t, _ = data(40)
    for gamma, at_the_end in [(3.0, True), (1e-3, False)]:
        phi = nystrom.feature_map(Gaussian(gamma), X[:6])
        assert phi.at_the_end is at_the_end
        raw = Gaussian(gamma)(X, X[:6])
        given = raw if at_the_end else phi(X)
        assert_allclose(phi.summed(X), given, rtol=1e-9)
        total = sums.accumulate(phi, X, t, lambda text: None)
        Phi = phi(X)
        assert_allclose(sums.mirrored(total.A), Phi.T @ Phi, atol=1e-9)
        assert_allclose(total.r, Phi.T @ t, atol=1e-9)


def test_blocks_give_the_fit_of_all_rows():
    X, t, Z = data(60)
    k = Gaussian(3.0)  # W loses two digits: what is left is of the blocks
    blocks = ((X[i : i + 17], t[i : i + 17]) for i in range(0, 60, 17))
    model = nystrom.fit_blocks(k, blocks, 0.1, X[:9])
    whole = nystrom.fit(k, X, t, 0.1, X[:9])
    assert_allclose(model.predict(Z), whole.predict(Z), rtol=1e-11)
    assert model.N == 60


def test_objects_and_sparse_rows_have_landmarks_too():
    words = ["nystrom", "landmark", "mark", "land", "storm", "strom"]
    k, t = Spectrum(2), np.arange(6.0)
    model = nystrom.fit(k, words, t, 0.1, words)
    exact = ridge.fit(k, words, t, 0.1).predict(["marks", "or"])
    assert_allclose(model.predict(["marks", "or"]), exact, rtol=1e-9)
    X, t, Z = data(D=3)
    sparse = nystrom.fit(Linear(), csr_array(X), t, 0.1, csr_array(X[:3]))
    dense = nystrom.fit(Linear(), X, t, 0.1, X[:3])
    assert_allclose(sparse.predict(csr_array(Z)), dense.predict(Z), rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"landmarks": [[0.0]]}, r"X must have the 1 columns of the landm"),
        ({"lam": 0.0}, "lam must be > 0, got 0.0"),
        ({"t": [1.0]}, "t must have length 60, got 1"),
        ({"k": "rbf"}, "k must be a Kernel, got str"),
        ({"landmarks": np.empty((0, 2))}, "landmarks must be two-dim"),
    ],
)
def test_bad_input_of_a_fit_is_named(change, message):
    X, t, _ = data()
    given = {"k": K, "X": X, "t": t, "lam": 0.1, "landmarks": X[:5]} | change
    with pytest.raises(ValueError, match=message):
        nystrom.fit(**given)


def test_features_that_overflow_are_refused():
    X, t, _ = data()
    refused = pytest.raises(ValueError, match="ΦᵀΦ must be finite")
    with refused, np.errstate(all="ignore"):
        nystrom.fit(Polynomial(3, 1.0), 1e60 * X, t, 0.1, X[:3])


def test_new_inputs_must_be_like_the_landmarks():
    X, t, _ = data()
    model = nystrom.fit(K, X, t, 0.1, X[:5])
    with pytest.raises(ValueError, match="Z must have the 2 columns"):
        model.predict([[1.0]])
