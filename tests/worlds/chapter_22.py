"""Chapter 22: random features."""

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import brentq
from scipy.stats import chi
from typeset import Sample

from kernelbook import fourier, kernels, ridge

from . import world

DRAWS = 20_000


def kernel_world(rng, D=2):
    gamma = rng.uniform(0.3, 0.8)
    k = kernels.Gaussian(gamma)
    x, z = rng.uniform(-1, 1, (2, D))
    r = rng.uniform(0.6, 1.2, D)
    return {
        r"\gamma": gamma,
        "D": D,
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\mathbf r": r,
        "k": lambda x, z: k([x], [z])[0, 0],
        r"\kappa": lambda r: k([r], [0 * r])[0, 0],
    }


def gaussian_frequencies(rng, gamma, *shape):
    """Not by the library: NumPy's normal numbers."""
    return np.sqrt(2 * gamma) * rng.standard_normal(shape)


@world("eq-rff-expectation", "eq-rff-cosine")
def _(rng):
    bound = kernel_world(rng)
    omega = gaussian_frequencies(rng, bound[r"\gamma"], DRAWS, 2)
    return bound | {r"\boldsymbol\omega": Sample(omega)}


@world("eq-rff-features", "eq-rff-product")
def _(rng):
    bound, M = kernel_world(rng), 6
    k = kernels.Gaussian(bound[r"\gamma"])
    phi = fourier.feature_map(k, 2, M, rng)
    return bound | {
        "M": M,
        "j": range(1, M // 2 + 1),
        r"\boldsymbol\omega_": phi.Omega,
        r"\phi_": {
            j: lambda x, j=j: phi([x])[0, j - 1] for j in range(1, M + 1)
        },
        r"\boldsymbol\phi": lambda x: phi([x])[0],
    }


@world("eq-rff-unbiased", "eq-rff-variance", "eq-rff-gaussian")
def _(rng):
    """The library's features, for many draws of its frequencies."""
    bound, M = kernel_world(rng), 6
    k = kernels.Gaussian(bound[r"\gamma"])
    Omega = fourier.frequencies(k, 2, DRAWS * M // 2, rng)
    Omega = Omega.reshape(DRAWS, M // 2, 2)
    x, z = bound[r"\mathbf x"], bound[r"\mathbf x'"]

    def phi(x):
        phases = Omega @ x
        waves = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        return Sample(waves / np.sqrt(M / 2))

    return bound | {"M": M, r"\boldsymbol\phi": phi, r"\mathbf r": x - z}


@world("eq-rff-hoeffding")
def _(rng):
    """Where Hoeffding's inequality, added over pairs, gives δ."""
    N, M, delta = 7, 24, rng.uniform(0.01, 0.3)

    def probability(epsilon):
        J = M / 2
        return N * (N - 1) / 2 * 2 * np.exp(-2 * J**2 * epsilon**2 / (4 * J))

    epsilon = brentq(lambda e: probability(e) - delta, 1e-3, 10, xtol=1e-14)
    return {"N": N, "M": M, r"\delta": delta, r"\epsilon": epsilon}


def upright(rng, frequencies):
    """Directions from rotations, lengths from the chi distribution."""
    D, bound = 3, kernel_world(rng, D=3)
    Q, R = np.linalg.qr(rng.standard_normal((4 * DRAWS, D, D)))
    Q = Q * np.sign(np.einsum("bdd->bd", R))[:, None]
    lengths = chi(D).rvs((4 * DRAWS, D, 1), random_state=rng)
    omega = np.sqrt(2 * bound[r"\gamma"]) * lengths * Q
    return bound | {
        "r": np.linalg.norm(bound[r"\mathbf r"]),
        r"\boldsymbol\omega_": {
            j + 1: Sample(omega[:, j]) for j in range(frequencies)
        },
    }


@world("eq-orf-covariance")
def _(rng):
    return upright(rng, 2)


@world("eq-orf-block")
def _(rng):
    return upright(rng, 3)


@world("eq-rff-ridge")
def _(rng):
    """Least squares with M more rows, as in chapter 2."""
    N, M, lam = 7, 4, rng.uniform(0.3, 2.0)
    X, t, x = rng.standard_normal((N, 2)), rng.standard_normal(N), np.ones(2)
    fit = fourier.fit(kernels.Gaussian(0.4), X, t, lam, M, 5, dtype=np.float64)
    Phi = fit.features(X)
    rows = np.vstack([Phi, np.sqrt(lam) * np.eye(M)])
    w = np.linalg.lstsq(rows, np.append(t, np.zeros(M)), rcond=None)[0]
    a = ridge.fit_dual(Phi @ Phi.T, t, lam)
    return {
        "M": M,
        r"\lambda": lam,
        r"\mathbf t": t,
        r"\mathbf x": x,
        r"\mathbf w": w,
        r"\boldsymbol\Phi": Phi,
        r"\boldsymbol\phi": lambda x: fit.features([x])[0],
        "y": lambda x: a @ Phi @ fit.features([x])[0],
    }


@world("eq-rff-frobenius")
def _(rng):
    N, M, bound = 3, 4, kernel_world(rng)
    X = rng.uniform(-1, 1, (N, 2))
    Omega = gaussian_frequencies(rng, bound[r"\gamma"], DRAWS, M // 2, 2)

    def phi(x):
        phases = Omega @ x
        waves = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
        return Sample(waves / np.sqrt(M / 2))

    return bound | {
        "N": N,
        "M": M,
        r"\mathbf x_": X,
        r"\boldsymbol\phi": phi,
    }


# Of relations in sentences ---------------------------------------------------


@world("inline: angles")
def _(rng):
    names = r"\alpha", r"\alpha'", r"\beta", "b"
    return dict(zip(names, rng.uniform(-3, 3, 4), strict=True))


@world("inline: normal numbers, stretched")
def _(rng):
    """The library's frequencies, and the numbers that it drew."""
    gamma, seed = rng.uniform(0.3, 0.8), int(rng.integers(1000))
    z = np.random.default_rng(seed).standard_normal((1, 3))
    omega = fourier.frequencies(kernels.Gaussian(gamma), 3, 1, seed)
    return {
        r"\gamma": gamma,
        r"\mathbf z": z[0],
        r"\boldsymbol\omega": omega[0],
    }


@world("inline: close inputs", tolerance=1e-3)
def _(rng):
    gamma, r = rng.uniform(0.3, 0.8), rng.uniform(0.01, 0.02)
    return {
        r"\boldsymbol\omega": rng.uniform(1.0, 3.0, 2),
        r"\mathbf r": rng.uniform(0.03, 0.05, 2),
        r"\gamma": gamma,
        "r": r,
        r"\kappa": kernels.Gaussian(gamma)([[0.0]], [[r]])[0, 0],
    }


@world("inline: close inputs of a rough kernel", tolerance=1e-3)
def _(rng):
    r = rng.uniform(0.0005, 0.001)
    kappa = kernels.Matern(nu=0.5, length=1.0)([[0.0]], [[r]])[0, 0]
    return {"r": r, "M": 1000, r"\kappa": kappa}


@world("inline: a rough kernel")
def _(rng):
    k = kernels.Matern(nu=0.5, length=1.0)
    return {
        "r": rng.uniform(0.5, 2.0),
        r"\kappa": lambda r: k([[0.0]], [[r]])[0, 0],
    }


@world("inline: a length times a direction")
def _(rng):
    g, v = rng.standard_normal((2, 400_000, 3))
    v /= np.linalg.norm(v, axis=1)[:, None]
    return {r"\mathbf g": Sample(g), r"\mathbf v": Sample(v)}


@world("inline: features for a hundredth")
def _(rng):
    """Where the variance of the sum of M/2 cosines over M/2 is 10⁻⁴."""
    return {"M": brentq(lambda M: 0.5 / (M / 2) - 0.01**2, 1, 1e6)}


@world("inline: a width by the kernel")
def _(rng):
    gamma, r = rng.uniform(0.3, 0.8), rng.uniform(0.6, 1.2)
    value = kernels.Gaussian(gamma)([[0.0]], [[r]])[0, 0]
    sigma = brentq(lambda s: np.exp(-(r**2) / (2 * s**2)) - value, 0.1, 9)
    return {r"\gamma": gamma, r"\sigma": sigma}


@world("inline: a function from the prior")
def _(rng):
    phi = fourier.feature_map(kernels.Gaussian(0.4), 2, 4, rng)
    X = rng.uniform(-0.3, 0.3, (2, 2))
    first, second = phi(X)
    w = rng.standard_normal((400_000, 4))
    return {
        r"\boldsymbol\phi": first,
        r"\boldsymbol\phi'": second,
        "y": Sample(w @ first),
        "y'": Sample(w @ second),
    }


@world("inline: nodes and weights")
def _(rng):
    J = int(rng.integers(3, 9))
    return {"v_": hermegauss(J)[1], "j": range(1, J + 1)}
