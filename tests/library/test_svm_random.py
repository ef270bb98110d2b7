"""Random support vector machines, hard ones too, are all certified.

Kernels of very different scales, large offsets, unscaled and repeated inputs,
hopeless labels, C from 0.01 to 100 000, with and without bias.  Drawn until
C · max k(x, x) is at most a millionth of 1/ε: one unit in the last place of α
then moves no output by more than about 1e-6.  Beyond that no certificate of
1e-6 need exist among floating-point numbers.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import sklearn.exceptions
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from kernelbook import kernels, svm
from kernelbook.exceptions import ConvergenceWarning

EPS = np.finfo(float).eps


def labels(rng, X):
    N, D = X.shape
    noise = rng.uniform(0, 2) * rng.standard_normal(N)
    t = [
        X[:, 0] + noise,
        (X**2).sum(axis=1) - D + noise,
        rng.standard_normal(N),
        rng.random(N) - 0.95,  # one class of few
    ][rng.integers(4)]
    t = np.where(t > 0, 1.0, -1.0)
    t[:2] = 1, -1
    return t


def inputs(rng, X):
    N, D = X.shape
    X = X * rng.choice([0.01, 1.0, 1.0, 1.0, 10.0, 100.0])
    X = X + rng.choice([0.0, 0.0, 5.0, 100.0, 1000.0]) * rng.standard_normal(D)
    if rng.random() < 0.15:
        X = np.round(X)
    if rng.random() < 0.1:
        X[N // 2 :] = X[: N - N // 2]
    return X


def kernel(rng, X):
    size = X.shape[1] * float(X.var(axis=0).mean()) + 1e-12
    degree, c = int(rng.integers(2, 6)), float(10 ** rng.uniform(0, 4))
    offset = kernels.Constant(float(10 ** rng.uniform(1, 8)))
    gaussian = kernels.Gaussian(float(10 ** rng.uniform(-2, 1)) / size)
    small = float(10 ** rng.uniform(-6, 2))
    return [
        gaussian,
        kernels.Linear(),
        kernels.Polynomial(degree, c),
        kernels.Polynomial(degree, 1.0),
        gaussian + offset,
        kernels.Linear() + offset,
        small * kernels.Matern(1.5, size**0.5),
        kernels.Linear() + small * gaussian,
    ][rng.integers(8)]


def random_problem(seed, most=400):
    rng = np.random.default_rng(seed)
    while True:
        X = rng.standard_normal(
            (rng.integers(20, most + 1), rng.integers(1, 9))
        )
        t = labels(rng, X)
        X = inputs(rng, X)
        K = kernel(rng, X)(X)
        C = float(10 ** rng.uniform(-2, 5))
        if EPS * C * K.diagonal().max() <= 1e-6:
            return K, t, C, bool(rng.random() < 0.6)


@pytest.mark.parametrize("first", [0, 160, 280, 440])
def test_random_problems_are_all_certified(first):
    for seed in range(first, first + 40):
        K, t, C, bias = random_problem(seed)
        m = svm.fit_dual(K, t, C, bias=bias)
        assert m.status == "converged", seed
        assert m.relative_gap <= 1e-6, seed
        assert m.alpha.min() >= 0
        assert m.alpha.max() <= C


def exact_objectives(K, t, C, m):
    """Primal and dual of these very numbers, without any rounding."""
    v = {int(n): Fraction(m.alpha[n] * t[n]) for n in m.support}
    outputs = [
        sum((Fraction(K[n, i]) * v[i] for i in v), Fraction(m.b))
        for n in range(len(t))
    ]
    square = sum(v[n] * (outputs[n] - Fraction(m.b)) for n in v)
    slacks = [max(0, 1 - int(t[n]) * y) for n, y in enumerate(outputs)]
    primal = square / 2 + Fraction(C) * sum(slacks)
    return primal, sum(map(abs, v.values())) - square / 2


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_exact_arithmetic_confirms_the_certificate(seed):
    K, t, C, bias = random_problem(seed, most=80)
    m = svm.fit_dual(K, t, C, bias=bias)
    primal, dual = exact_objectives(K, t, C, m)
    assert float((primal - dual) / primal) <= 1e-6
    assert_allclose(m.primal, float(primal), rtol=1e-6)
    assert_allclose(m.dual, float(dual), rtol=1e-6)


@pytest.mark.parametrize("seed", range(2000, 2024))
def test_dual_is_libsvms_where_libsvm_converges(seed):
    K, t, C, _ = random_problem(seed, most=120)
    m = svm.fit_dual(K, t, C)
    theirs = SVC(C=C, kernel="precomputed", tol=1e-6, max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        theirs.fit(K, t)
    v = np.zeros(len(t))
    v[theirs.support_] = theirs.dual_coef_[0]
    dual = svm.dual_objective(v * t, K, t)
    assert dual <= m.primal * (1 + 1e-6)  # nobody is above our bound
    scale = C * K.diagonal().max()  # LIBSVM keeps K in single precision
    if theirs.fit_status_ == 0 and scale < 1e3:
        assert_allclose(dual, m.dual, rtol=1e-4)


def separable(N=120, D=5):
    rng = np.random.default_rng(0)
    X = 10 * rng.standard_normal((N, D))
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


@pytest.mark.parametrize("bias", [True, False])
def test_primal_far_below_C_is_certified(bias):
    # A margin short by one rounding costs C · ε, the primal is far less.
    X, t = separable()
    K, C = kernels.Polynomial(4, 1.0)(X), 1e5
    m = svm.fit_dual(K, t, C, bias=bias)
    assert m.status == "converged"
    assert m.primal < 1e-10 * C
    primal, dual = exact_objectives(K, t, C, m)
    assert float((primal - dual) / primal) <= 1e-6


@pytest.mark.parametrize("offset", [2.0**4, 2.0**14, 2.0**24])
def test_constant_in_the_kernel_changes_nothing_but_the_bias(offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2))
    t = np.where(X[:, 0] + rng.standard_normal(150) > 0, 1.0, -1.0)
    K, C = kernels.Gaussian(0.5)(X), 1e3
    K = np.round((K + 1e-3 * np.eye(150)) * 2**26) / 2**26  # sums are exact
    near, far = svm.fit_dual(K, t, C), svm.fit_dual(K + offset, t, C)
    assert far.status == "converged"
    assert_allclose(far.dual, near.dual, rtol=1e-6)
    assert_allclose(far.alpha, near.alpha, atol=1e-5 * C)


def test_what_floating_point_cannot_certify_is_said():
    rng = np.random.default_rng(0)
    X = 100 * rng.standard_normal((200, 3))
    t = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    K = kernels.Polynomial(5, 1.0)(X)
    with pytest.warns(ConvergenceWarning, match=r"stalled.*rounding of K"):
        m = svm.fit_dual(K, t, 1e3)
    assert m.status == "stalled"
    assert m.relative_gap > 1e-6
