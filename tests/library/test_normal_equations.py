"""Sums over blocks: the same as all at once, and bad blocks have a number."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook import _linalg, _progress, fourier, inducing, nystrom
from kernelbook import _normal_equations as sums
from kernelbook.kernels import Gaussian

EPS = np.finfo(float).eps
QUIET = _progress.Progress("", wanted=False)


def features():
    return nystrom.feature_map(Gaussian(2.0), [[0.0], [1.0]])


def rows(N=5, Q=None, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, 1)), rng.normal(size=N if Q is None else (N, Q))


def test_pieces_cover_all_rows_once_and_are_bounded():
    for N, M in [(1, 1), (2**19, 1), (10_000, 1000), (1000, 10**6)]:
        found = list(sums.pieces(N, M))
        assert [s.start for s in found] == [0, *(s.stop for s in found)][:-1]
        assert found[-1].stop == N
        sizes = {s.stop - s.start for s in found[:-1]}
        assert sizes <= {max(sums.LEAST_ROWS, sums.ENTRIES // M)}
    assert [s.stop for s in sums.pieces(600, 10**6)] == [256, 512, 600]
    assert next(sums.pieces(10**6, 1024)).stop == 512


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("Q", [None, 2])
def test_blocks_add_up_to_all_rows(dtype, Q):
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(50, 4)).astype(dtype)
    t = rng.normal(size=50 if Q is None else (50, Q))
    total = sums.NormalEquations.empty(4, t.shape[1:])
    other = sums.NormalEquations.empty(4, t.shape[1:])
    total.add(Phi[:20], t[:20])
    total.add(Phi[20:35], t[20:35])
    other.add(Phi[35:], t[35:])
    total.merge(other)
    exact = Phi.astype(float)
    close = {"rtol": 1e-5 if dtype == np.float32 else 1e-12, "atol": 1e-5}
    close["atol"] *= dtype == np.float32
    assert_allclose(np.triu(total.A), np.triu(exact.T @ exact), **close)
    assert (np.tril(total.A, -1) == 0).all()
    assert_allclose(total.r, exact.T @ t, **close)
    assert total.tt == pytest.approx((t**2).sum())
    assert total.N == 50
    assert total.A.dtype == total.r.dtype == np.float64


def test_single_precision_is_added_up_in_double():
    """A thousand blocks of 1 + 1/4096 lose nothing; float32 sums would."""
    Phi = np.full((1, 1), 1 + 2.0**-12, dtype=np.float32)
    total = sums.NormalEquations.empty(1, ())
    for _ in range(1000):
        total.add(Phi, np.ones(1))
    assert total.A[0, 0] == pytest.approx(1000 * (1 + 2.0**-12) ** 2, 1e-7)
    assert total.r[0] == 1000 * (1 + 2.0**-12)


def test_ridge_from_sums_is_ridge():
    Phi, t = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30.0)
    total = sums.NormalEquations.empty(4, ())
    total.add(Phi, t)
    before = total.A.copy()
    assert_allclose(total.plus(2.0, 3.0), 3 * Phi.T @ Phi + 2 * np.eye(4))
    assert_allclose(total.plus(2.0), Phi.T @ Phi + 2 * np.eye(4))
    assert np.array_equal(total.A, before)
    exact = np.linalg.solve(Phi.T @ Phi + 0.5 * np.eye(4), Phi.T @ t)
    assert_allclose(total.ridge(0.5), exact)


def test_a_fit_takes_two_matrices_and_a_block():
    """The factor of W and the sums; N does not count."""
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(30_000, 12)), rng.normal(size=30_000)
    nystrom.fit(Gaussian(0.1), X[:50], t[:50], 1.0, X[:9])  # warm up
    tracemalloc.start()
    nystrom.fit(Gaussian(0.1), X, t, 1.0, X[:500])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (2.1 * 500**2 + 1.3 * sums.ENTRIES)


def test_sums_can_be_whitened_at_the_end():
    rng = np.random.default_rng(0)
    C, R = rng.normal(size=(30, 4)), rng.normal(size=(4, 4))
    factor = _linalg.factor(R @ R.T + np.eye(4), "W")
    total, whole = (sums.NormalEquations.empty(4, (2,)) for _ in range(2))
    t = rng.normal(size=(30, 2))
    total.add(C.copy(), t)
    total.whiten(factor)
    whole.add(sums.right_solve(factor, C.copy()), t)
    assert_allclose(np.triu(total.A), np.triu(whole.A), rtol=1e-10)
    assert_allclose(total.r, whole.r, rtol=1e-10)
    assert_allclose(
        sums.right_solve(factor, C.copy()), C @ np.linalg.inv(factor.U)
    )


def test_five_digits_are_what_the_end_may_cost():
    def judged(ratio):
        W = np.diag([1.0, ratio])
        return sums.well_conditioned(_linalg.factor(W, "W"), 1.0)

    assert judged(1e-3)
    assert judged(1.1e-5)
    assert not judged(0.9e-5)
    assert not sums.well_conditioned(_linalg.factor(np.eye(2), "W"), 1e6)


@pytest.mark.parametrize("gamma", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("lam", [1.0, 1e-3])
def test_the_end_costs_the_digits_of_the_condition_number(gamma, lam):
    """Against least squares by QR, which never makes ΦᵀΦ.

    Rounding over 1/condition, times a modest number that grows as λ falls:
    measured up to 6 for λ = 0.001, and 1e-10 where the limit is met.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    t = np.sin(X[:, 0])
    phi = nystrom.feature_map(Gaussian(gamma), X[:40])
    assert phi.at_the_end
    allowed = 10 * EPS * np.linalg.cond(phi.k(X[:40]), 1)
    w = sums.accumulate(phi, X, t, QUIET).ridge(lam)
    tall = np.vstack([phi(X), np.sqrt(lam) * np.eye(40)])
    exact = np.linalg.lstsq(tall, np.append(t, np.zeros(40)))[0]
    assert_allclose(phi(X) @ w, phi(X) @ exact, rtol=0, atol=allowed)


def bad_block(X=((1.0,),), t=(1.0,)):
    good = rows()
    return [good, (X, t), good]


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (bad_block([[np.nan]]), r"^block 1: X must be finite, got 1 NaN"),
        (bad_block(t=[np.inf]), r"^block 1: t must be finite"),
        (bad_block(np.empty((0, 1)), []), r"^block 1: X must be .* empty"),
        (bad_block([[1.0, 2.0]]), r"^block 1: X must have the 1 columns"),
        (bad_block(t=[1.0, 2.0]), r"^block 1: t must have length 1, got 2"),
        (bad_block(t=[[1.0]]), r"^block 1: t must have the outputs of"),
        ([rows(), 7], r"^block 1: each of blocks must be a pair .* got int"),
        ([(1, 2, 3)], r"^block 0: each of blocks must be a pair .* tuple"),
        ([], r"^blocks must hold at least one pair"),
        (None, r"^blocks must be a list or a generator .* got NoneType"),
    ],
)
def test_a_bad_block_is_named(blocks, message):
    with pytest.raises(ValueError, match=message):
        sums.accumulate_blocks(features(), blocks, QUIET)


@pytest.mark.parametrize("Q", [None, 2])
def test_blocks_and_rows_have_the_same_sums(Q):
    X, t = rows(40, Q)
    blocks = [(X[:7], t[:7]), [X[7:30], t[7:30]], (X[30:], t[30:])]
    total = sums.accumulate_blocks(features(), blocks, QUIET)
    whole = sums.accumulate(features(), X, t, QUIET)
    assert_allclose(np.triu(total.A), np.triu(whole.A), rtol=1e-12)
    assert_allclose(total.r, whole.r, rtol=1e-12)
    assert total.tt == pytest.approx(whole.tt, rel=1e-12)
    assert total.N == whole.N == 40


def test_rows_beyond_one_piece_are_met(monkeypatch):
    X, t = rows(40)
    whole = sums.accumulate(features(), X, t, QUIET)
    monkeypatch.setattr(sums, "ENTRIES", 6)
    monkeypatch.setattr(sums, "LEAST_ROWS", 3)
    said = []
    cut = sums.accumulate(features(), X, t, said.append)
    one = sums.sums_of_block(features(), (X, t), 0)
    assert_allclose(np.triu(cut.A), np.triu(whole.A), rtol=1e-12)
    features().finish(one)
    assert_allclose(np.triu(one.A), np.triu(cut.A))
    assert said[0] == "3 of 40 rows"
    assert said[-1] == "40 of 40 rows"
    said = []
    sums.accumulate_blocks(features(), [(X, t), (X, t)], said.append)
    assert said == ["40 rows in 1 blocks", "80 rows in 2 blocks"]
    model = nystrom.fit(Gaussian(2.0), X, t, 0.1, [[0.0], [1.0]])
    at_once = features()(X) @ model.w
    assert_allclose(model.predict(X), at_once, rtol=1e-9)


def fits():
    X, t = rows()
    k, blocks = Gaussian(2.0), [rows()]
    waves = fourier.feature_map(k, 1, 4, 0)
    yield "nystrom.fit:", partial(nystrom.fit, k, X, t, 0.1, X[:2])
    yield (
        "nystrom.fit_blocks:",
        partial(nystrom.fit_blocks, k, blocks, 0.1, X[:2]),
    )
    yield "fourier.fit:", partial(fourier.fit, k, X, t, 0.1, 4, 0)
    yield (
        "fourier.fit_blocks:",
        partial(fourier.fit_blocks, waves, blocks, 0.1),
    )
    inside = partial(inducing.fit, k, X, t, 0.1, X[:2])
    yield "inducing.fit:", inside
    yield "inducing.fit:", partial(inside, fitc=True)


@pytest.mark.parametrize(("name", "fit"), list(fits()))
def test_long_fits_are_reported(name, fit, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "EVERY", -1.0)
    fit()
    said = capsys.readouterr().err
    assert said.startswith(name)
    assert "5 of 5 rows" in said or "5 rows in 1 blocks" in said
    fit(progress=False)
    assert capsys.readouterr().err == ""


def test_what_is_computed_along_the_way_is_not_reported(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "EVERY", -1.0)
    X, t = rows()
    inducing.bound(Gaussian(2.0), X, t, 0.1, X[:2])
    nystrom.approximate_leverage_scores(Gaussian(2.0), X, 0.1, X[:2])
    assert capsys.readouterr().err == ""


def test_a_model_says_what_it_is():
    X, t = rows()
    model = fourier.fit(Gaussian(2.0), X, t, 0.1, 4, 0)
    shown = "N=5, status='converged')"
    assert repr(model).endswith(shown)
