"""Random features: unbiased, with the variance that the formula says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook import fourier, ridge
from kernelbook.kernels import (
    ARDGaussian,
    Gaussian,
    Linear,
    Matern,
    Periodic,
    RationalQuadratic,
)

D = 3
KERNELS = [
    Gaussian(0.4),
    ARDGaussian((0.4, 0.0, 1.5)),
    Matern(0.5, 1.7),
    Matern(1.5, 0.8),
    Matern(2.5, 1.3),
    RationalQuadratic(0.7, 1.6),
    RationalQuadratic(3.0, 0.9),
    2.5 * Gaussian(0.4),
    3.0 * (0.5 * Matern(1.5, 0.8)),
]


def inputs(N=6, seed=1):
    return np.random.default_rng(seed).normal(size=(N, D))


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_features_are_unbiased(k, orthogonal):
    """Mean of cos ωᵀδ, within five standard errors of the kernel."""
    X = inputs()
    delta = (X[:, None] - X[None])[np.triu_indices(6, 1)]
    Omega = fourier.frequencies(k, D, 21_000, 5, orthogonal=orthogonal)
    waves = np.cos(Omega @ delta.T)
    height = k.diagonal(X[:1])[0]
    exact = k(X)[np.triu_indices(6, 1)] / height
    # D neighbours are independent of the others, orthogonal or not.
    groups = waves.reshape(-1, D, len(delta)).mean(axis=1)
    error = groups.std(axis=0, ddof=1) / np.sqrt(len(groups))
    assert (np.abs(groups.mean(axis=0) - exact) < 5 * error).all()
    assert error.max() < 0.007


def test_the_variance_is_that_of_the_formula():
    k, X = Gaussian(0.4), inputs(2)
    delta = X[:1] - X[1:]
    rng, M = np.random.default_rng(0), 20
    found = []
    for _ in range(4000):
        Phi = fourier.feature_map(k, D, M, rng)(X)
        found.append(Phi[0] @ Phi[1])
    k1 = k(delta, 0 * delta).item()
    k2 = k(2 * delta, 0 * delta).item()
    expected = (1 + k2 - 2 * k1**2) / M
    assert np.var(found) == pytest.approx(expected, rel=0.1)


def test_orthogonal_frequencies_are_orthogonal_and_keep_their_lengths():
    k = Gaussian(0.5)
    Omega = fourier.frequencies(k, D, 7, 2, orthogonal=True)
    assert Omega.shape == (7, D)
    for block in (Omega[:3], Omega[3:6]):
        G = block @ block.T
        assert_allclose(G, np.diag(np.diag(G)), atol=1e-12)
    plain = fourier.frequencies(k, D, 7, 2)
    assert_allclose(
        np.linalg.norm(Omega, axis=1), np.linalg.norm(plain, axis=1)
    )
    # LAPACK's first direction would always point to one side.
    many = fourier.frequencies(k, 2, 2000, 0, orthogonal=True)[::2, 0]
    assert 437 < np.sum(many > 0) < 563  # four standard deviations


def test_orthogonal_frequencies_are_better():
    X, k = inputs(20), Gaussian(0.2)
    errors = {True: [], False: []}
    for seed in range(60):
        for orthogonal, found in errors.items():
            phi = fourier.feature_map(k, D, 12, seed, orthogonal=orthogonal)
            Phi = phi(X)
            found.append(((Phi @ Phi.T - k(X)) ** 2).mean())
    assert np.mean(errors[True]) < 0.8 * np.mean(errors[False])


def test_lengths_of_features_are_exact():
    X = inputs()
    for k in KERNELS:
        Phi = fourier.feature_map(k, D, 10, 0)(X)
        assert Phi.shape == (6, 10)
        assert_allclose((Phi**2).sum(axis=1), k.diagonal(X), rtol=1e-12)


def test_features_are_cosines_and_sines():
    phi = fourier.feature_map(4.0 * Gaussian(0.4), D, 10, 0)
    X = inputs()
    S = X @ phi.Omega.T
    expected = 2 * np.hstack([np.cos(S), np.sin(S)]) / np.sqrt(5)
    assert_allclose(phi(X), expected, atol=1e-13)
    assert (phi.M, phi.height) == (10, 4.0)


def test_single_precision_holds_far_from_the_origin():
    X, k = inputs(), Gaussian(0.4)
    single = fourier.feature_map(k, D, 10, 0, dtype=np.float32)
    double = fourier.feature_map(k, D, 10, 0)
    assert single(X).dtype == np.float32
    for far in (0.0, 1e6):
        assert_allclose(single(X + far), double(X + far), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("Q", [None, 2])
def test_ridge_on_features_is_ridge(dtype, Q):
    X, Z = inputs(80), inputs(5, 2)
    t = np.sin(X[:, :Q] if Q else X[:, 0])
    k = Matern(1.5, 2.0)
    model = fourier.fit(
        k, X, t, 0.1, 40, 7, orthogonal=True, dtype=dtype, progress=False
    )
    phi = fourier.feature_map(k, D, 40, 7, orthogonal=True)
    columns = t if Q else t[:, None]
    w = np.column_stack(
        [ridge.fit_primal(phi(X), one, 0.1) for one in columns.T]
    )
    exact = phi(Z) @ (w if Q else w[:, 0])
    assert_allclose(
        model.predict(Z), exact, atol=1e-9 if dtype == np.float64 else 1e-4
    )
    features = fourier.feature_map(k, D, 40, 7, orthogonal=True, dtype=dtype)
    blocks = [(X[:30], t[:30]), (X[30:], t[30:])]
    again = fourier.fit_blocks(features, blocks, 0.1)
    assert_allclose(again.predict(Z), model.predict(Z), atol=1e-5)
    assert again.N == model.N == 80


def test_frequencies_are_independent_unless_asked():
    k, X, t = Gaussian(1.0), inputs(), np.ones(6)
    plain = fourier.frequencies(k, D, 6, 0, orthogonal=False)
    assert np.array_equal(fourier.frequencies(k, D, 6, 0), plain)
    assert np.array_equal(fourier.feature_map(k, D, 12, 0).Omega, plain)
    model = fourier.fit(k, X, t, 1.0, 12, 0)
    assert np.array_equal(model.features.Omega, plain)


def test_features_are_in_single_precision_unless_asked():
    model = fourier.fit(Gaussian(1.0), [[0.0]], [1.0], 1.0, 2, 0)
    assert model.features.dtype == np.float32


def test_the_error_of_a_fit_falls_like_the_root_of_the_features():
    X, Z = inputs(40), inputs(9, 2)
    t, k = np.sin(X[:, 0]), Gaussian(0.4)
    exact = ridge.fit(k, X, t, 1.0).predict(Z)

    def error(M):
        fits = [fourier.fit(k, X, t, 1.0, M, s).predict(Z) for s in range(12)]
        return np.sqrt(np.mean((np.array(fits) - exact) ** 2))

    assert 3 < error(40) / error(640) < 5.5  # √16 = 4


@pytest.mark.parametrize("k", [Linear(), Periodic(1.0, 1.0)])
def test_kernels_without_a_known_density_are_refused(k):
    with pytest.raises(ValueError, match="k must be a Gaussian, ARDGaussian"):
        fourier.frequencies(k, 2, 4, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"M": 3}, "M must be even, got 3"),
        ({"M": 0}, "M must be a whole number >= 2"),
        ({"M": 2}, None),
        ({"D": 0}, "D must be a whole number >= 1"),
        ({"dtype": np.float16}, "dtype must be np.float32 or np.float64, got"),
        ({"k": ARDGaussian((1.0,))}, "D must be 1, one for each gamma of"),
    ],
)
def test_bad_input_of_a_feature_map(change, message):
    given = {"k": Gaussian(1.0), "D": 2, "M": 4, "rng": 0} | change
    if message is None:
        assert fourier.feature_map(**given).M == 2
        return
    with pytest.raises(ValueError, match=message):
        fourier.feature_map(**given)


def test_frequencies_are_counted():
    with pytest.raises(ValueError, match=r"M must be a whole number >= 1"):
        fourier.frequencies(Gaussian(1.0), 2, 0.5, 0)


def test_bad_input_of_a_fit():
    X, t = inputs(), np.ones(6)
    with pytest.raises(ValueError, match="t must have length 6, got 5"):
        fourier.fit(Gaussian(1.0), X, t[1:], 1.0, 2, 0)
    with pytest.raises(ValueError, match="lam must be > 0"):
        fourier.fit(Gaussian(1.0), X, t, 0.0, 2, 0)
    phi = fourier.feature_map(Gaussian(1.0), D, 2, 0)
    with pytest.raises(ValueError, match="lam must be > 0"):
        fourier.fit_blocks(phi, [(X, t)], -1.0)
    with pytest.raises(ValueError, match=r"Z must have one column per feat"):
        fourier.fit(Gaussian(1.0), X, t, 1.0, 2, 0).predict(X[:, :1])
