"""One against the rest, one against one, votes and ties."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import Perceptron, RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import SVC

from kernelbook import discriminant, multiclass, perceptron, toydata

seeds = st.integers(0, 10**6)
CENTRES = [[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [-2.0, 1.0]]


def least_squares(X, t):
    w = discriminant.least_squares_weights(X, t)
    return multiclass.linear_score(w[1:], w[0])


def least_squares_oracle():
    """On labels -1 and +1 a ridge of zero is the least-squares classifier."""
    return RidgeClassifier(alpha=0.0, solver="svd")


def data(seed=0, N=60):
    X, labels = toydata.blobs(CENTRES, N, spread=1.0, rng=seed)
    rng = np.random.default_rng(seed + 1)
    return X, labels, 3 * rng.standard_normal((300, 2))


@pytest.mark.parametrize("seed", range(4))
def test_one_vs_rest_scores_and_classes_are_scikit_learns(seed):
    X, labels, Z = data(seed)
    ours = multiclass.one_vs_rest(least_squares, X, labels, K=4)
    theirs = OneVsRestClassifier(least_squares_oracle()).fit(X, labels)
    F = ours.scores(Z)
    assert_allclose(F, theirs.decision_function(Z), atol=1e-10)
    assert np.array_equal(discriminant.classify(F), theirs.predict(Z))


@pytest.mark.parametrize("seed", range(4))
def test_one_vs_one_scores_and_classes_are_scikit_learns(seed):
    X, labels, Z = data(seed)
    ours = multiclass.one_vs_one(least_squares, X, labels, K=4)
    theirs = OneVsOneClassifier(least_squares_oracle()).fit(X, labels)
    F = ours.scores(Z)
    # scikit-learn's score of a pair is positive for the second class
    pairwise = [-e.decision_function(Z) for e in theirs.estimators_]
    assert_allclose(F, np.column_stack(pairwise), atol=1e-10)
    assert np.array_equal(multiclass.classify_votes(F, 4), theirs.predict(Z))


@pytest.mark.filterwarnings("ignore::kernelbook.exceptions.ConvergenceWarning")
def test_ties_are_broken_as_in_scikit_learn():
    X, labels, Z = data(1)

    def clumsy(X, t):
        run = perceptron.fit(X, t, max_epochs=3)
        return multiclass.linear_score(run.w, run.b)

    F = multiclass.one_vs_one(clumsy, X, labels, K=4).scores(Z)
    binary = Perceptron(shuffle=False, tol=None, max_iter=3)
    theirs = OneVsOneClassifier(binary).fit(X, labels)
    assert np.array_equal(multiclass.classify_votes(F, 4), theirs.predict(Z))
    tied = multiclass.winners(multiclass.votes(F, 4)).sum(axis=1) > 1
    first = discriminant.classify(multiclass.votes(F, 4))
    assert tied.sum() > 5
    assert np.any(first[tied] != theirs.predict(Z)[tied])


def test_svc_breaks_ties_by_the_first_class_and_one_vs_one_does_not():
    """On three clouds like the sails of a windmill."""
    labels = np.arange(90) % 3
    rng = np.random.default_rng(2)
    sail = rng.standard_normal((90, 2)) @ [[1.5, 0.0], [0.0, 0.3]]
    Z = 2 * rng.standard_normal((4000, 2))
    place = np.exp(2j * np.pi * labels / 3)
    points = (sail[:, 0] + 1j * sail[:, 1]) * np.exp(0.5j) + 3
    X = np.column_stack([(points * place).real, (points * place).imag])
    svc = SVC(kernel="linear", decision_function_shape="ovo").fit(X, labels)
    F = svc.decision_function(Z)
    v = multiclass.votes(F, 3)
    tied = multiclass.winners(v).sum(axis=1) > 1
    assert tied.sum() > 20
    first = discriminant.classify(v)
    assert np.array_equal(svc.predict(Z), first)
    theirs = OneVsOneClassifier(SVC(kernel="linear")).fit(X, labels)
    ours = multiclass.classify_votes(F, 3)
    assert np.array_equal(theirs.predict(Z), ours)
    assert np.any(ours[tied] != first[tied])


def test_one_vs_rest_perceptrons_are_scikit_learns_when_separable():
    X, labels = toydata.blobs(
        [[0.0, 9.0], [8.0, -5.0], [-8.0, -5.0]], 30, spread=1.0, rng=2
    )

    def fit(X, t):
        run = perceptron.fit(X, t, 500)
        assert run.converged
        return multiclass.linear_score(run.w, run.b)

    ours = multiclass.one_vs_rest(fit, X, labels, K=3)
    binary = Perceptron(shuffle=False, tol=None, max_iter=500)
    theirs = OneVsRestClassifier(binary).fit(X, labels)
    assert_allclose(ours.scores(X), theirs.decision_function(X), atol=1e-9)


def test_one_vs_rest_of_least_squares_is_the_one_hot_classifier():
    X, labels, Z = data(5)
    ovr = multiclass.one_vs_rest(least_squares, X, labels, K=4).scores(Z)
    W = discriminant.least_squares(X, labels, K=4)
    # targets -1/+1 are twice the targets 0/1, minus one
    assert_allclose(ovr, 2 * discriminant.scores(W, Z) - 1, atol=1e-10)


@pytest.mark.parametrize("K", [2, 3, 4, 10])
def test_number_of_classifiers(K):
    trained = []

    def fit(X, t):
        trained.append(len(t))
        assert set(t) == {-1.0, 1.0}
        return lambda Z: np.zeros(len(Z))

    X, labels = np.arange(3.0 * K)[:, None], np.arange(3 * K) % K
    multiclass.one_vs_rest(fit, X, labels, K)
    assert trained == [3 * K] * K
    trained.clear()
    multiclass.one_vs_one(fit, X, labels, K)
    assert trained == [6] * (K * (K - 1) // 2)
    assert len(multiclass.pairs(K)) == len(trained)
    unordered = {frozenset(p) for p in product(range(K), repeat=2)}
    assert len(multiclass.pairs(K)) == len(unordered) - K


@given(seeds)
def test_votes_are_the_double_sum_with_antisymmetric_scores(seed):
    K = 5
    F = np.random.default_rng(seed).integers(-2, 3, (7, 10)).astype(float)
    full = np.zeros((7, K, K))
    for p, (k, j) in enumerate(multiclass.pairs(K)):
        full[:, k, j], full[:, j, k] = F[:, p], -F[:, p]
    v = multiclass.votes(F, K)
    assert np.array_equal(v, (full > 0).sum(axis=2))
    assert np.array_equal(v.sum(axis=1), (F != 0).sum(axis=1))
    assert_allclose(multiclass.total_scores(F, K), full.sum(axis=2))
    assert_allclose(multiclass.total_scores(F, K).sum(axis=1), 0)


@given(seeds)
def test_class_of_votes_is_among_the_winners_and_best_of_them(seed):
    F = np.random.default_rng(seed).standard_normal((20, 6))
    labels = multiclass.classify_votes(F, 4)
    v, s = multiclass.votes(F, 4), multiclass.total_scores(F, 4)
    for n, k in enumerate(labels):
        best = max((v[n, j], s[n, j]) for j in range(4))
        assert (v[n, k], s[n, k]) == best
        assert multiclass.winners(v)[n, k]


def test_of_two_classes_the_only_score_decides():
    F = [[3.0], [-2.0], [0.0]]
    assert multiclass.votes(F, K=2).tolist() == [[1, 0], [0, 1], [0, 0]]
    assert multiclass.total_scores(F, 2).tolist() == [[3, -3], [-2, 2], [0, 0]]
    assert multiclass.classify_votes(F, K=2).tolist() == [0, 1, 0]


def test_a_cycle_of_three_is_a_tie_of_three():
    v = multiclass.votes([[1.0, -1.0, 1.0]], K=3)  # 0 > 1 > 2 > 0
    assert np.array_equal(v, [[1, 1, 1]])
    assert multiclass.winners(v).all()


def test_pairwise_scores_from_one_linear_argmax_never_tie():
    rng = np.random.default_rng(8)
    W, Z = rng.standard_normal((3, 5)), rng.standard_normal((400, 2))
    F = discriminant.scores(W, Z)
    differences = np.column_stack(
        [F[:, k] - F[:, j] for k, j in multiclass.pairs(5)]
    )
    v = multiclass.votes(differences, 5)
    assert np.array_equal(np.sort(v, axis=1), np.tile(np.arange(5), (400, 1)))
    assert np.array_equal(
        multiclass.classify_votes(differences, 5), discriminant.classify(F)
    )


def test_number_of_classes_may_be_a_whole_float():
    X, labels, Z = data(2)
    for train in (multiclass.one_vs_rest, multiclass.one_vs_one):
        F = train(least_squares, X, labels, K=4).scores(Z)
        again = train(least_squares, X, labels, K=4.0)
        assert np.array_equal(again.scores(Z), F)
    assert again.K == 4 and isinstance(again.K, int)
    for f in (multiclass.votes, multiclass.total_scores):
        assert np.array_equal(f(F, 4.0), f(F, 4))
    assert multiclass.pairs(4.0) == multiclass.pairs(4)


@pytest.mark.parametrize(
    "train", [multiclass.one_vs_rest, multiclass.one_vs_one]
)
def test_models_of_linear_scores_can_be_pickled(train):
    X, labels, Z = data(3)
    model = train(least_squares, X, labels, K=4)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.scores(Z), model.scores(Z))


def test_a_score_keeps_a_copy_of_its_weights():
    w = np.array([2.0, -1.0])
    f = multiclass.linear_score(w, 0.5)
    w[:] = 7.0
    assert np.array_equal(f([[1.0, 1.0]]), [1.5])
    assert np.array_equal(f.w, [2.0, -1.0]) and f.b == 0.5


X3 = np.eye(3)


def zero(X, t):
    return lambda Z: np.zeros(len(Z))


def too_short(X, t):
    return lambda Z: np.zeros(1)


def nan(X, t):
    return lambda Z: np.full(len(Z), np.nan)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: multiclass.one_vs_rest(zero, X3, [0, 1, 1], K=3),
            "t must contain every class from 0 to 2, got none of class 2",
        ),
        (
            lambda: multiclass.one_vs_one(zero, X3, [0, 0, 0], K=2),
            "t must contain every class from 0 to 1, got none of class 1",
        ),
        (
            lambda: multiclass.one_vs_one(zero, X3, [1, 2, 3], K=3),
            "t must be whole numbers from 0 to 2, got 3",
        ),
        (
            lambda: multiclass.one_vs_one(zero, X3, [0, 1], K=2),
            "t must have length 3, got 2",
        ),
        (
            lambda: multiclass.one_vs_rest(zero, X3 * np.nan, [0, 1, 2], K=3),
            "X must be finite",
        ),
        (
            lambda: multiclass.one_vs_rest(
                too_short, X3, [0, 1, 2], K=3
            ).scores(X3),
            "values of a score function must have length 3, got 1",
        ),
        (
            lambda: multiclass.one_vs_one(nan, X3, [0, 1, 2], K=3).scores(X3),
            "values of a score function must be finite",
        ),
        (
            lambda: multiclass.votes(np.ones((2, 4)), K=3),
            r"F must have K\(K-1\)/2 = 3 columns for K = 3, got shape \(2, 4",
        ),
        (lambda: multiclass.pairs(1), "K must be a whole number >= 2, got 1"),
        (
            lambda: multiclass.linear_score([[1.0]], 0.0),
            "w must be one-dimensional",
        ),
        (
            lambda: multiclass.linear_score([1.0], np.nan),
            "b must be finite, got nan",
        ),
        (
            lambda: multiclass.linear_score([1.0], 0.0)([[1.0, 2.0]]),
            r"X must have one column per feature, shape \(N, 1\)",
        ),
        (
            lambda: multiclass.one_vs_rest(zero, X3, [0, 1, 2], K=2.5),
            "K must be a whole number >= 2, got 2.5",
        ),
        (
            lambda: multiclass.linear_score([1.0], 0.0)([1.0, 2.0]),
            "X must be two-dimensional",
        ),
        (
            lambda: multiclass.OneVsRest((np.ravel,)).scores([1.0, 2.0]),
            "X must be two-dimensional",
        ),
        (
            lambda: multiclass.OneVsOne(2, (np.ravel,)).scores([1.0, 2.0]),
            "X must be two-dimensional",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
