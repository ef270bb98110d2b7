"""Estimators: scikit-learn's own checks, and the functions they call."""

import pickle
import subprocess
import sys
from os import environ

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from sklearn import gaussian_process, kernel_ridge, svm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

import kernelbook
from kernelbook import (
    estimators,
    gp,
    kernel_logistic,
    learning,
    multiclass,
    ridge,
)
from kernelbook.estimators import (
    SVC,
    SVR,
    FourierRidge,
    GaussianProcessRegressor,
    IterativeRidge,
    KernelLogisticRegression,
    KernelRidge,
    NystromRidge,
    SparseGaussianProcessRegressor,
)
from kernelbook.exceptions import ConvergenceWarning
from kernelbook.kernels import (
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    QuadraticForm,
    SetIntersection,
    Spectrum,
    positive,
    squared_distances,
)

CLASSES = [
    KernelRidge,
    GaussianProcessRegressor,
    SVR,
    SVC,
    KernelLogisticRegression,
]
CLASSIFIERS = CLASSES[3:]
WAYS = [(100, "uniform"), (50, "pivoted"), (20, "leverage")]
LINE = Linear() + Constant(1.0)  # takes sparse inputs
HARMLESS = [
    *(make() for make in CLASSES),
    *(make(kernel=LINE) for make in CLASSES),
    GaussianProcessRegressor(Gaussian(1.0), learn=False),
    FourierRidge(),
    *(NystromRidge(M=M, landmarks=way) for M, way in WAYS),
    NystromRidge(LINE),
    IterativeRidge(),
    IterativeRidge(LINE, landmarks="pivoted"),
    SparseGaussianProcessRegressor(M=20),
    SparseGaussianProcessRegressor(LINE, learn=False),
]


def data(N=40, D=3, Q=None, seed=0):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(N, D)), rng.normal(size=(N // 2, D))
    y = np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=N)
    if Q is not None:
        y = np.outer(y, 1 + np.arange(Q)) + rng.normal(size=(N, Q))
    return X, y, Z


def words(t, names=("ant", "bee", "cow")):
    return np.array(names)[np.asarray(t, dtype=int)]


# --------------------------------------------------- scikit-learn's own checks


def checks():
    """Every check, apart from those of arrays that are not NumPy's.

    These need a process of their own, and have one below.
    """
    for estimator in HARMLESS:
        for copy, check in estimator_checks_generator(estimator):
            name = getattr(check, "func", check).__name__
            if not name.startswith("check_array_api"):
                yield pytest.param(copy, check, id=f"{copy}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_scikit_learn_finds_nothing_wrong_with_its_array_interface_on():
    code = (
        "from kernelbook import estimators\n"
        "from sklearn.utils import estimator_checks\n"
        "for name in estimators.__all__:\n"
        "    model = getattr(estimators, name)()\n"
        "    checks = estimator_checks.estimator_checks_generator(model)\n"
        "    mine = [c for _, c in checks if 'array_api' in str(c)]\n"
        "    assert mine\n"
        "    for check in mine:\n"
        "        check(model)\n"
    )
    subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environ | {"SCIPY_ARRAY_API": "1"},
        check=True,
    )


# ------------------------------------------------------------- the same digits


def test_svr_is_svr():
    X, y, Z = data()
    k = Gaussian(0.3)
    model = SVR(k, C=2.0, epsilon=0.05).fit(X, y)
    machine = kernelbook.svr.fit(k, X, y, C=2.0, epsilon=0.05)
    found = machine.svr
    assert np.array_equal(model.predict(Z), machine.predict(Z))
    assert np.array_equal(model.support_, found.support)
    assert np.array_equal(model.dual_coef_, [found.a[found.support]])
    assert model.intercept_.tolist() == [found.b]
    assert (model.gap_, model.status_) == (found.gap, "converged")
    assert model.kernel_ is k
    through = SVR(k, C=2.0, epsilon=0.05, bias=False).fit(X, y)
    assert through.intercept_.tolist() == [0.0]


def test_svr_is_that_of_scikit_learn():
    X, y, Z = data()
    ours = SVR().fit(X, y)
    theirs = svm.SVR(gamma="scale", tol=1e-9).fit(X, y)
    assert_allclose(ours.predict(Z), theirs.predict(Z), atol=1e-5)
    assert np.array_equal(ours.support_, np.sort(theirs.support_))


def test_svr_takes_numerals():
    X, y, Z = data()
    numerals = np.array([str(value) for value in y], dtype=object)
    again = SVR(Gaussian(0.5)).fit(X, numerals)
    ours = SVR(Gaussian(0.5)).fit(X, y)
    assert np.array_equal(again.predict(Z), ours.predict(Z))


def test_svr_passes_its_limits_on():
    X, y, _ = data()
    for limit in ({"max_iterations": 3}, {"max_seconds": 1e-300}):
        with pytest.warns(ConvergenceWarning, match=next(iter(limit))):
            model = SVR(C=100.0, **limit).fit(X, y)
        assert model.status_ == next(iter(limit))
    with pytest.raises(ValueError, match=r"tolerance must be > 0, got 0.0"):
        SVR(tolerance=0.0).fit(X, y)


@pytest.mark.parametrize("Q", [None, 1, 3])
def test_kernel_ridge_is_ridge(Q):
    X, y, Z = data(Q=Q)
    k = Gaussian(0.3)
    model = KernelRidge(k, lam=0.2).fit(X, y)
    function = ridge.fit(k, X, y, lam=0.2)
    assert np.array_equal(model.predict(Z), function.predict(Z))
    assert np.array_equal(model.dual_coef_, function.a)
    assert model.kernel_ is k


@pytest.mark.parametrize("Q", [None, 1, 3])
@pytest.mark.parametrize("mean", [0.0, 2.0, gp.Trend()])
def test_a_process_is_learn_then_fit(Q, mean):
    X, y, Z = data(Q=Q)
    k = 2.0 * Gaussian(0.3)
    model = GaussianProcessRegressor(
        k, 5.0, mean, hold=["c"], restarts=1, random_state=3
    ).fit(X, y)
    learned = learning.learn(k, X, y, 5.0, mean, hold=["c"], restarts=1, rng=3)
    function = gp.fit(learned.k, X, y, learned.beta, mean)
    assert (model.kernel_, model.beta_) == (learned.k, learned.beta)
    assert model.kernel_.c == 2.0
    assert model.learned_ == learned
    value = gp.log_marginal_likelihood(function)
    assert model.log_marginal_likelihood_value_ == value
    m, latent, noisy = gp.predict(function, Z)
    m_only = model.predict(Z)
    assert np.array_equal(m_only, gp.mean(function, Z))
    for asked, variance in [(False, latent), (True, noisy)]:
        m_std, std = model.predict(Z, return_std=True, noisy=asked)
        assert np.array_equal(m_std, m)
        assert np.array_equal((std.T**0).T, np.ones(m.shape))
        first = std if Q is None else std[:, -1]
        assert np.array_equal(first, np.sqrt(variance))


def test_a_process_need_not_learn():
    X, y, Z = data()
    model = GaussianProcessRegressor(Gaussian(0.3), 5.0, learn=False)
    model.fit(X, y)
    function = gp.fit(Gaussian(0.3), X, y, 5.0)
    assert model.learned_ is None
    assert (model.kernel_, model.beta_) == (Gaussian(0.3), 5.0)
    assert np.array_equal(model.predict(Z), gp.mean(function, Z))


def test_covariances_of_a_process_count_the_noise_if_asked():
    X, y, Z = data()
    model = GaussianProcessRegressor(Gaussian(0.3), 5.0, learn=False)
    m, cov = model.fit(X, y).predict(Z, return_cov=True)
    function = gp.fit(Gaussian(0.3), X, y, 5.0)
    assert np.array_equal(m, gp.mean(function, Z))
    assert np.array_equal(cov, gp.covariance(function, Z))
    noisy = model.predict(Z, return_cov=True, noisy=True)[1]
    assert np.array_equal(noisy, cov + np.eye(len(Z)) / 5.0)


@pytest.mark.parametrize("Q", [None, 3])
def test_samples_of_a_process_are_in_the_last_axis(Q):
    X, y, Z = data(Q=Q)
    model = GaussianProcessRegressor(Gaussian(0.3), 5.0, learn=False)
    Y = model.fit(X, y).sample_y(Z, n_samples=4, random_state=7)
    function = gp.fit(Gaussian(0.3), X, y, 5.0)
    drawn = gp.sample(function, Z, 4, rng=7)
    assert Y.shape == (len(Z), *y.shape[1:], 4)
    assert all(np.array_equal(Y[..., s], drawn[s]) for s in range(4))


def test_random_states_of_both_kinds():
    X, y, Z = data()
    model = GaussianProcessRegressor(Gaussian(0.3), learn=False).fit(X, y)
    seeded = model.sample_y(Z, random_state=5)
    new = model.sample_y(Z, random_state=np.random.default_rng(5))
    assert np.array_equal(seeded, new)
    old = [
        model.sample_y(Z, random_state=np.random.RandomState(seed))
        for seed in [5, 5, 6]
    ]
    assert np.array_equal(old[0], old[1])
    assert not np.array_equal(old[0], old[2])
    assert not np.array_equal(
        model.sample_y(Z, random_state=None),
        model.sample_y(Z, random_state=None),
    )


def test_two_classes_of_svc_are_one_machine():
    X, y, Z = data()
    t = np.sign(y)
    model = SVC(Gaussian(0.3), C=2.0).fit(X, words(t > 0))
    machine = kernelbook.svm.fit(Gaussian(0.3), X, t, C=2.0)
    found = machine.svm
    assert np.array_equal(model.decision_function(Z), machine.output(Z))
    assert np.array_equal(model.predict(Z), words(machine.predict(Z) > 0))
    assert model.classes_.tolist() == ["ant", "bee"]
    assert np.array_equal(model.support_, found.support)
    assert np.array_equal(
        model.dual_coef_, found.coefficients[None, found.support]
    )
    assert model.intercept_ == [found.b]
    assert model.gap_ == [found.gap]
    assert model.status_ == ("converged",)


def test_many_classes_of_svc_are_one_vs_one():
    X, t = load_iris(return_X_y=True)
    k = Gaussian(0.3)
    model = SVC(k, C=2.0, bias=False).fit(X, words(t))
    pairs = multiclass.one_vs_one(
        lambda X, t: kernelbook.svm.fit(k, X, t, C=2.0, bias=False).output,
        X,
        t,
        K=3,
    )
    F = pairs.scores(X)
    labels = multiclass.classify_votes(F, K=3)
    assert np.array_equal(model.predict(X), words(labels))
    scores = model.decision_function(X)
    assert np.array_equal(np.round(scores), multiclass.votes(F, K=3))
    s = multiclass.total_scores(F, K=3)
    assert_allclose(scores - np.round(scores), s / (3 + 3 * np.abs(s)))
    # The coefficients, in one array, give the same outputs.
    y = k(X[model.support_], X).T @ model.dual_coef_.T + model.intercept_
    assert_allclose(y, F, atol=1e-12)
    assert model.gap_.shape == (3,)
    assert model.status_ == ("converged",) * 3


@pytest.mark.parametrize("K", [2, 3])
def test_kernel_logistic_regression_is_fit_dual(K):
    X, t = load_iris(return_X_y=True)
    X, t = X[t < K], t[t < K]
    k = Gaussian(0.3) + Constant(1.0)
    model = KernelLogisticRegression(k, lam=0.5).fit(X, words(t))
    against = [1] if K == 2 else [0, 1, 2]
    fits = [
        kernel_logistic.fit_dual(k(X), np.where(t == c, 1.0, -1.0), lam=0.5)
        for c in against
    ]
    Z = X[::7] + 0.1
    y = np.array([kernel_logistic.output(f.a, k(X, Z)) for f in fits]).T
    P = np.array([kernel_logistic.probability(f.a, k(X, Z)) for f in fits]).T
    if K == 2:
        y, P = y[:, 0], np.column_stack([1 - P, P])
        labels = y >= 0
    else:
        P, labels = P / P.sum(axis=1, keepdims=True), y.argmax(axis=1)
    assert np.array_equal(model.decision_function(Z), y)
    assert np.array_equal(model.predict_proba(Z), P)
    assert np.array_equal(model.predict(Z), words(labels))
    assert np.array_equal(model.dual_coef_, [f.a for f in fits])
    assert model.status_ == ("converged",) * len(fits)
    assert model.fits_[0].iterations == fits[0].iterations


# ------------------------------------------------------------ outside oracles


def test_kernel_ridge_agrees_with_theirs_and_needs_one_call():
    """Theirs makes one call for each pair, unless it gets the Gram matrix."""
    calls = []

    class Counted(Kernel):
        gamma: float = positive()

        def evaluate(self, X, Z):
            return np.exp(-self.gamma * squared_distances(X, Z))

        def __call__(self, X, Z=None):
            calls.append(X)
            return super().__call__(X, Z)

    X, y, Z = data()
    k = Counted(0.3)
    ours = KernelRidge(k, lam=0.2).fit(X, y)
    assert len(calls) == 1
    slow = kernel_ridge.KernelRidge(kernel=k, alpha=0.2).fit(X, y)
    assert len(calls) >= len(X) * (len(X) + 1) / 2
    theirs = kernel_ridge.KernelRidge(kernel="precomputed", alpha=0.2)
    calls.clear()
    advised = theirs.fit(k(X), y).predict(k(Z, X))
    assert len(calls) == 2
    assert_allclose(ours.predict(Z), advised, rtol=1e-9, atol=1e-12)
    assert_allclose(slow.predict(Z), advised, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("Q", [None, 2])
def test_spread_of_a_process_has_their_shape_and_value(Q):
    X, y, Z = data(Q=Q)
    ours = GaussianProcessRegressor(Gaussian(0.5), 5.0, learn=False)
    ours.fit(X, y)
    latent = gaussian_process.GaussianProcessRegressor(
        RBF(1.0), alpha=1 / 5.0, optimizer=None
    ).fit(X, y)
    noisy = gaussian_process.GaussianProcessRegressor(
        RBF(1.0) + WhiteKernel(1 / 5.0), alpha=1e-14, optimizer=None
    ).fit(X, y)
    for theirs, asked in [(latent, False), (noisy, True)]:
        for what in ["return_std", "return_cov"]:
            m, spread = ours.predict(Z, **{what: True}, noisy=asked)
            m_theirs, spread_theirs = theirs.predict(Z, **{what: True})
            assert spread.shape == spread_theirs.shape
            assert_allclose(m, m_theirs, atol=1e-9)
            assert_allclose(spread, spread_theirs, atol=1e-9)
    assert ours.sample_y(Z, 3).shape == latent.sample_y(Z, 3).shape
    assert_allclose(
        ours.log_marginal_likelihood_value_,
        latent.log_marginal_likelihood_value_,
    )


def test_svc_agrees_with_theirs_on_three_classes():
    X, t = load_iris(return_X_y=True)
    k = Gaussian(0.3)
    ours = SVC(k, C=2.0, tolerance=1e-9).fit(X, t)
    theirs = svm.SVC(kernel=k, C=2.0, tol=1e-9, break_ties=True).fit(X, t)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.array_equal(ours.support_, np.sort(theirs.support_))
    scores = ours.decision_function(X)
    assert_allclose(scores, theirs.decision_function(X), atol=1e-6)


def test_probabilities_of_many_classes_are_those_of_their_one_vs_rest():
    X, t = load_iris(return_X_y=True)
    ours = KernelLogisticRegression(Gaussian(0.3), lam=0.1)
    theirs = OneVsRestClassifier(clone(ours)).fit(X, t)
    P = ours.fit(X, t).predict_proba(X)
    assert_allclose(P, theirs.predict_proba(X), rtol=1e-12)


def test_no_kernel_is_the_gaussian_of_their_scale():
    X, y, Z = data()
    X *= [1.0, 5.0, 0.1]
    gamma = 1 / (3 * X.var())
    t = words(y > 0)
    theirs = svm.SVC(C=2.0, gamma="scale", tol=1e-9).fit(X, t)
    ours = SVC(C=2.0, tolerance=1e-9).fit(X, t)
    assert ours.kernel_ == Gaussian(gamma)
    scores = theirs.decision_function(Z)
    assert_allclose(ours.decision_function(Z), scores, atol=1e-6)
    assert KernelRidge().fit(X, y).kernel_ == Gaussian(gamma)
    assert KernelLogisticRegression().fit(X, t).kernel_ == Gaussian(gamma)
    assert KernelRidge().fit(np.ones((3, 2)), [1, 2, 3]).kernel_.gamma == 1.0
    narrow = KernelRidge().fit(X / 100, y).kernel_
    assert_allclose(narrow.gamma, 10_000 * gamma)
    process = GaussianProcessRegressor(learn=False).fit(X, y)
    assert process.kernel_ == 1.0 * Gaussian(gamma)
    assert GaussianProcessRegressor().fit(X, y).kernel_.c != 1.0


# ---------------------------------------------------- parameters and pipelines


def test_hyperparameters_of_the_kernel_are_parameters():
    k = 2.0 * Gaussian(0.5) + Constant(3.0)
    model = KernelRidge(k)
    params = model.get_params()
    assert params.pop("kernel") is k
    assert params == {
        "lam": 1.0,
        "kernel__k1.c": 2.0,
        "kernel__k1.k1.gamma": 0.5,
        "kernel__k2.c": 3.0,
    }
    assert model.get_params(deep=False) == {"kernel": k, "lam": 1.0}
    changes = {"kernel__k1.c": 7.0, "lam": 0.1}
    assert model.set_params(**changes) is model
    assert model.kernel == 7.0 * Gaussian(0.5) + Constant(3.0)
    assert model.lam == 0.1
    assert k == 2.0 * Gaussian(0.5) + Constant(3.0)
    model.set_params(kernel__gamma=4.0, kernel=Gaussian(1.0))
    assert model.kernel == Gaussian(4.0)


def test_parameters_have_the_defaults_of_the_functions():
    solver = {"kernel": None, "progress": True}
    assert KernelRidge().get_params() == {"kernel": None, "lam": 1.0}
    assert GaussianProcessRegressor().get_params() == solver | {
        "beta": 1.0,
        "mean": 0.0,
        "learn": True,
        "hold": (),
        "restarts": 0,
        "evaluations": 200,
        "random_state": 0,
    }
    assert SVC().get_params() == solver | {
        "C": 1.0,
        "bias": True,
        "tolerance": 1e-6,
        "max_iterations": None,
        "max_seconds": None,
    }
    assert SVR().get_params() == SVC().get_params() | {"epsilon": 0.1}
    assert KernelLogisticRegression().get_params() == solver | {
        "lam": 1.0,
        "tolerance": 1e-8,
        "max_iterations": 50,
    }


def test_one_sample_is_drawn_with_seed_zero_unless_told():
    X, y, Z = data()
    model = GaussianProcessRegressor(Gaussian(0.3), learn=False).fit(X, y)
    told = model.sample_y(Z, n_samples=1, random_state=0)
    assert np.array_equal(model.sample_y(Z), told)
    assert told.shape == (len(Z), 1)


@pytest.mark.parametrize("start", range(8))
def test_seeds_of_the_old_kind_are_drawn_below_two_to_the_31(start):
    ours, theirs = (np.random.RandomState(start) for _ in range(2))
    seed = theirs.randint(2**31)
    drawn = estimators._generator(ours).random()
    assert drawn == np.random.default_rng(seed).random()


@pytest.mark.parametrize("make", CLASSES)
def test_a_clone_has_the_same_kernel_and_is_not_fitted(make):
    X, y, _ = data()
    model = make(kernel=Gaussian(0.5)).fit(X, y > 0)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "kernel_")


@pytest.mark.parametrize("make", CLASSES)
def test_a_pickle_predicts_the_same(make):
    X, y, Z = data()
    t = words(y > 0) if make in CLASSIFIERS else y
    model = make(kernel=Gaussian(0.5)).fit(X, t)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(Z), model.predict(Z))


@pytest.mark.parametrize("make", CLASSES)
def test_a_fit_keeps_nothing_that_the_user_may_change(make):
    X, y, Z = data()
    t = (y > 0).astype(int)
    model = make(kernel=Gaussian(0.5)).fit(X, t)
    before = model.predict(Z)
    X[:] = 7.0
    t[:] = 1 - t
    assert np.array_equal(model.predict(Z), before)


class Cauchy(Kernel):
    """k(x, x') = 1 / (1 + ‖x - x'‖² / width²)."""

    width: float = positive()

    def evaluate(self, X, Z):
        return 1 / (1 + squared_distances(X, Z) / self.width**2)


def test_a_kernel_of_ones_own_is_searched_and_learned():
    X, y, Z = data(N=60)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelRidge(Cauchy(1.0), lam=0.1)),
        {"kernelridge__kernel__width": [0.01, 1.0, 3.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["kernelridge__kernel__width"] > 0.01
    kernels = [Cauchy(0.01), Cauchy(3.0), Linear()]
    other = GridSearchCV(
        SVC(), {"kernel": kernels, "C": [0.1, 10.0]}, cv=3
    ).fit(X, y > 0)
    assert other.best_params_["kernel"] in kernels[1:]
    assert other.predict(Z).dtype == bool
    process = GaussianProcessRegressor(1.0 * Cauchy(1.0), beta=10.0)
    learned = process.fit(X, y)
    assert learned.learned_.status == "converged"
    assert learned.kernel_.k1.width != 1.0
    held = clone(process).set_params(learn=False).fit(X, y)
    better = learned.log_marginal_likelihood_value_
    assert better > held.log_marginal_likelihood_value_
    assert cross_val_score(process, X, y, cv=3).min() > 0.8


def test_a_search_finds_the_kernel_that_is_right():
    X, t = load_iris(return_X_y=True)
    search = GridSearchCV(
        KernelLogisticRegression(Gaussian(1.0)),
        {"kernel__gamma": [1e-6, 0.3, 1e6], "lam": [0.01, 100.0]},
        cv=3,
    ).fit(X, words(t))
    assert search.best_params_ == {"kernel__gamma": 0.3, "lam": 0.01}
    assert search.best_estimator_.kernel_ == Gaussian(0.3)


# ------------------------------------------------------ sparse, and no numbers


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("sparse", [csr_array, csr_matrix])
def test_sparse_inputs_give_what_dense_ones_give(make, sparse):
    X, y, Z = data()
    X[X < 0.3], Z[Z < 0.3] = 0, 0
    t = words(np.digitize(y, [-0.5, 0.5])) if make in CLASSIFIERS else y
    k = LINE + Polynomial(2, 0.5)
    dense = make(kernel=k).fit(X, t)
    model = make(kernel=k).fit(sparse(X), t)
    assert model.n_features_in_ == 3
    out = "decision_function" if make in CLASSIFIERS else "predict"
    assert_allclose(
        getattr(model, out)(sparse(Z)), getattr(dense, out)(Z), rtol=1e-6
    )
    mixed = model.predict(Z)  # fitted to sparse inputs, asked for dense ones
    if make in CLASSIFIERS:
        assert np.array_equal(mixed, model.predict(sparse(Z)))
    else:
        assert_allclose(mixed, model.predict(sparse(Z)))


@pytest.mark.parametrize("make", CLASSES)
def test_the_tag_says_whether_the_kernel_takes_sparse_inputs(make):
    X, y, _ = data()
    takes = [Linear(), 2.0 * LINE, Linear().on(1), Linear().on(2) + LINE]
    refuses = [None, Gaussian(1.0), LINE * Gaussian(1.0)]
    refuses += [QuadraticForm(np.eye(3)), Spectrum(2), Gaussian(1.0).on(1)]
    for k in takes:
        assert get_tags(make(kernel=k)).input_tags.sparse
        make(kernel=k).fit(csr_array(X), y > 0)
    for k in refuses:
        assert not get_tags(make(kernel=k)).input_tags.sparse
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            make(kernel=k).fit(csr_array(X), y > 0)


def test_objects_are_cross_validated():
    rng = np.random.default_rng(0)
    letters = {"vowels": "aeiou", "early": "abcde", "late": "vwxyz"}
    y = np.repeat(list(letters), 20)
    X = ["".join(rng.choice(list(letters[one]), 9)) for one in y]
    for make in CLASSIFIERS:
        scores = cross_val_score(make(Spectrum(1)), X, y, cv=3)
        assert scores.min() > 0.8
    model = SVC(Spectrum(1)).fit(X, y)
    new = ["bcdbcdbcd", "zzzxxxyyy"]
    assert model.predict(new).tolist() == ["early", "late"]
    assert not hasattr(model, "n_features_in_")
    sizes = np.array([len(set(x)) for x in X])
    sets = [set(x) for x in X]
    one_each = KernelRidge(SetIntersection(), lam=1e-6).fit(sets, sizes)
    assert_allclose(one_each.predict(sets), sizes, atol=1e-3)
    process = GaussianProcessRegressor(1.0 * SetIntersection(), 100.0)
    assert_allclose(process.fit(sets, sizes).predict(sets), sizes, atol=1e-2)


# ----------------------------------------------------------------- error paths


@pytest.mark.parametrize("make", CLASSES)
@pytest.mark.parametrize("kernel", ["rbf", np.dot, 1.0])
def test_what_is_no_kernel_is_refused(make, kernel):
    X, y, _ = data()
    with pytest.raises(ValueError, match="kernel must be a kernel of"):
        make(kernel=kernel).fit(X, y > 0)


@pytest.mark.parametrize("make", CLASSES)
def test_a_name_that_is_none_is_refused(make):
    with pytest.raises(ValueError, match=r"kernel must be .* got None"):
        make().set_params(kernel__gamma=1.0)
    with pytest.raises(ValueError, match="which are gamma; got 'width'"):
        make(kernel=Gaussian(1.0)).set_params(kernel__width=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'gamma'"):
        make().set_params(gamma=1.0)


@pytest.mark.parametrize("make", CLASSES)
def test_before_fit_there_is_nothing_to_predict(make):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        make().predict([[1.0]])


@pytest.mark.parametrize("make", CLASSES)
def test_new_inputs_are_like_those_of_fit(make):
    X, y, Z = data()
    model = make(kernel=Gaussian(0.5)).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"has 2 features, .* expecting 3"):
        model.predict(Z[:, :2])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        model.predict(csr_array(Z))


@pytest.mark.parametrize("make", CLASSES[:2])
def test_regression_takes_one_example_several_targets_and_numerals(make):
    X, y, Z = data()
    assert get_tags(make()).target_tags.multi_output
    model = make(kernel=Gaussian(0.5)).fit([[1.0, 2.0]], [3.0])
    assert model.predict([[1.0, 2.0]]).shape == (1,)
    numerals = np.array([str(value) for value in y], dtype=object)
    ours = make(kernel=Gaussian(0.5)).fit(X, y).predict(Z)
    again = make(kernel=Gaussian(0.5)).fit(X, numerals).predict(Z)
    assert np.array_equal(again, ours)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_classification_takes_labels_only_and_one_of_each_class(make):
    X, y, _ = data()
    assert not get_tags(make()).target_tags.multi_output
    with pytest.raises(ValueError, match="Unknown label type"):
        make().fit(X, y)
    model = make(kernel=Linear()).fit([[-1.0], [1.0]], ["ham", "spam"])
    assert model.predict([[-2.0], [2.0]]).tolist() == ["ham", "spam"]


@pytest.mark.parametrize("make", CLASSES)
def test_weights_of_examples_are_not_pretended(make):
    X, y, _ = data()
    with pytest.raises(TypeError, match="sample_weight"):
        make().fit(X, y > 0, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("make", CLASSES)
def test_objects_and_targets_must_be_as_many(make):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make(kernel=Spectrum(2)).fit(["ab", "bc"], [0, 1, 1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        make(kernel=Spectrum(2)).fit(["ab", "bc"], None)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelRidge(lam=0.0), "lam must be > 0"),
        (GaussianProcessRegressor(beta=0.0), "beta must be > 0"),
        (GaussianProcessRegressor(hold="x"), "hold must name"),
        (GaussianProcessRegressor(restarts=-1), "restarts must be"),
        (GaussianProcessRegressor(random_state=-1), "random_state must be"),
        (GaussianProcessRegressor(evaluations=0), "evaluations must be"),
        (SVC(C=0.0), "C must be > 0"),
        (SVC(tolerance=0.0), "tolerance must be > 0"),
        (SVC(max_iterations=0), "max_iterations must be"),
        (SVC(max_seconds=0), "max_seconds must be"),
        (KernelLogisticRegression(lam=0.0), "lam must be > 0"),
        (KernelLogisticRegression(tolerance=0.0), "tolerance must be > 0"),
        (KernelLogisticRegression(max_iterations=0), "max_iterations must"),
    ],
)
def test_parameters_are_checked_by_the_functions(model, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y > 0)


def test_a_solver_that_ends_early_says_so():
    X, y, Z = data()
    with pytest.warns(ConvergenceWarning):
        model = SVC(Gaussian(9.0), C=1e3, max_seconds=1e-12).fit(X, y > 0)
    assert model.status_ == ("max_seconds",)
    assert model.predict(Z).shape == (len(Z),)
    with pytest.warns(ConvergenceWarning):
        model = KernelLogisticRegression(max_iterations=1, lam=1e-3)
        model.fit(X, y > 0)
    assert model.status_ == ("max_iterations",)
    with pytest.warns(ConvergenceWarning):
        model = GaussianProcessRegressor(evaluations=1).fit(X, y)
    assert model.learned_.status == "max_iterations"


def test_a_process_gives_one_spread_at_a_time():
    X, y, Z = data()
    model = GaussianProcessRegressor(learn=False).fit(X, y)
    with pytest.raises(ValueError, match="return_std or return_cov"):
        model.predict(Z, return_std=True, return_cov=True)


@pytest.mark.parametrize("what", ["return_std", "return_cov"])
def test_noise_of_each_target_is_not_that_of_a_new_one(what):
    X, y, Z = data()
    betas = np.linspace(1.0, 9.0, len(y))
    model = GaussianProcessRegressor(Gaussian(0.5), beta=betas).fit(X, y)
    assert np.array_equal(model.beta_, betas)
    model.predict(Z, **{what: True})
    with pytest.raises(ValueError, match="noisy must be False"):
        model.predict(Z, **{what: True}, noisy=True)


def test_without_scikit_learn_it_says_what_to_install():
    code = (
        "import sys\n"
        "sys.modules['sklearn'] = None\n"
        "import kernelbook\n"
        "try:\n"
        "    kernelbook.estimators\n"
        "except ImportError as error:\n"
        "    assert 'pip install \"kernelbook[sklearn]\"' in str(error)\n"
        "else:\n"
        "    raise AssertionError('no error')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
