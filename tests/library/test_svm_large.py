"""Machines that are solved by rows are those of the whole Gram matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kernelbook import _rows, _svm_large, kernels, svm
from kernelbook.exceptions import ConvergenceWarning


def moons(N, noise=0.2):
    X, y = make_moons(N, noise=noise, random_state=0)
    return X, 2.0 * y - 1


def by_rows(k, X, t, C, monkeypatch, **options):
    """Solved by rows however few they are, and in parts."""
    monkeypatch.setattr(svm, "WHOLE", 0)
    monkeypatch.setattr(_rows, "FEW", 40)
    monkeypatch.setattr(_svm_large, "SMALL", 60)
    return svm.fit(k, np.asarray(X, float), t, C, **options).svm


KERNELS = [
    kernels.Gaussian(1.0),
    kernels.Polynomial(3, 1.0),
    kernels.Linear(),
    kernels.Gaussian(0.5) + kernels.Constant(1e6),
    kernels.Matern(0.5, 2.0),
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_machine_is_that_of_the_whole_matrix(k, C, bias, monkeypatch):
    X, t = moons(400, 0.3)
    whole = svm.fit_dual(k(X), t, C, bias=bias)
    smooth = k != KERNELS[-1]  # else nearly all examples are in the strip
    room = 7.9 * len(t) ** 2 if smooth else 1e9  # not for the whole
    m = by_rows(k, X, t, C, monkeypatch, bias=bias, memory=room)
    assert m.status == "converged"
    assert m.relative_gap <= 1e-6
    assert 0 <= m.alpha.min() <= m.alpha.max() <= C
    assert_allclose(m.dual, whole.dual, rtol=2e-6)
    assert not bias or abs(m.alpha @ t) < 1e-9 * C
    gap = svm.gap_terms(m.alpha, k(X) @ m.coefficients + m.b, t, C).sum()
    assert gap <= 2e-6 * m.primal


def test_dual_is_libsvms(monkeypatch):
    X, t = moons(3000)
    m = svm.fit(kernels.Gaussian(1.0), X, t, 10.0).svm
    theirs = SVC(C=10.0, gamma=1.0, tol=1e-6).fit(X, t)
    v = np.zeros(len(t))
    v[theirs.support_] = theirs.dual_coef_[0]
    dual = np.abs(v).sum() - v @ kernels.Gaussian(1.0)(X) @ v / 2
    assert m.status == "converged"
    assert_allclose(m.dual, dual, rtol=1e-6)
    assert_allclose(m.b, theirs.intercept_[0], atol=1e-4)


def twice(X, t):
    return np.vstack([X, X]), np.append(t, t)


def contradictory(X, t):
    return np.vstack([X, X]), np.append(t, -t)


def rare(X, t):
    return X, np.where(np.arange(len(t)) < 3, 1.0, -1.0)


def far_out(X, t):
    return np.vstack([X, [[1e3, -1e3]]]), np.append(t, 1.0)


def rounded(X, t):
    return np.round(2 * X), t


@pytest.mark.parametrize(
    "data", [twice, contradictory, rare, far_out, rounded]
)
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("k", KERNELS[::2], ids=str)
def test_degenerate_data_are_certified(data, C, k, monkeypatch):
    X, t = data(*moons(200))
    m = by_rows(k, X, t, C, monkeypatch)
    assert m.status == "converged"
    assert m.relative_gap <= 1e-6


@pytest.mark.parametrize("c", [0.0, 2.0])
def test_constant_kernel_knows_only_the_larger_class(c, monkeypatch):
    X, t = rare(*moons(200))
    m = by_rows(kernels.Constant(c), X, t, 2.0, monkeypatch)
    assert m.status == "converged"
    assert_allclose(m.dual, 2 * 2.0 * 3)  # both classes push with 3 C


def test_one_class_is_refused():
    X, _ = moons(2500)
    with pytest.raises(ValueError, match="t must"):
        svm.fit(kernels.Linear(), X, np.ones(2500), 1.0)


def test_limits_stop_with_the_best_point(monkeypatch):
    X, t = moons(400)
    with pytest.warns(ConvergenceWarning, match="max_iterations"):
        m = by_rows(KERNELS[0], X, t, 1.0, monkeypatch, max_iterations=5)
    assert m.status == "max_iterations"
    assert m.iterations == 5
    assert m.gap >= 0
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        m = by_rows(KERNELS[0], X, t, 1.0, monkeypatch, max_seconds=1e-300)
    assert m.status == "max_seconds"


def test_what_has_no_room_and_does_not_settle_is_said(monkeypatch):
    X, t = moons(400, 0.3)
    with pytest.warns(ConvergenceWarning, match="stalled"):
        m = by_rows(KERNELS[-1], X, t, 1e4, monkeypatch, memory=1e6)
    assert m.status == "stalled"
    assert m.relative_gap > 1e-6


class NoKernel(kernels.Kernel):
    """Minus the squared distance."""

    def evaluate(self, X, Z):
        return -kernels.squared_distances(X, Z)


def test_indefinite_kernel_is_refused(monkeypatch):
    X, t = moons(400)
    with pytest.raises(ValueError, match="positive semi-definite"):
        by_rows(NoKernel(), X, t, 1.0, monkeypatch)
