"""Chapter 5: which functions are kernels?"""

from functools import cache

import numpy as np
from numpy.polynomial import Legendre
from scipy.integrate import quad
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from scipy.special import binom, expit
from scipy.stats import norm
from typeset import Each, From, Of, Sample

from kernelbook import kernels, validity

from . import world
from .common import bindings, ridge_problem


@world("eq-valid-kernel", "eq-kernel-symmetry", "eq-gram-energy")
def _(rng):
    p = ridge_problem(rng)
    return bindings(p) | {r"\mathbf v": rng.standard_normal(p.N)}


def telling(rng, K, i):
    """A v whose energy would be negative without row i of K."""
    v = rng.standard_normal(len(K))
    v[i] = 0.0
    v[i] = -2 * validity.energy(K, v) / (K[i] @ v)
    return v


@world("eq-psd-definition", "eq-psd-every-set")
def _(rng):
    """With more points than features some energies are exactly 0."""
    p, crowd = ridge_problem(rng), ridge_problem(rng, N=7)
    first, last = telling(rng, p.K, 0), telling(rng, p.K, -1)
    flat = null_space(crowd.Phi.T)[:, 0]
    return [
        *[bindings(p) | {r"\mathbf v": v} for v in (first, -first, last)],
        bindings(crowd) | {r"\mathbf v": flat, "@tight": True},
    ]


@world("eq-kernel-cauchy-schwarz")
def _(rng):
    """Parallel features, of a linear kernel, make it an equality."""
    p = ridge_problem(rng)
    parallel = {r"\mathbf x'": -2.5 * p.x, "k": kernels.Linear()}
    bound = bindings(p)
    return [bound, bound | parallel | {"@tight": True}]


@world("eq-gram-eigen", "eq-energy-eigen")
def _(rng):
    p = ridge_problem(rng)
    mu, U = np.linalg.eigh(p.K)
    return bindings(p) | {
        r"\boldsymbol\mu": mu,
        r"\mathbf u_": U.T,
        r"\mathbf v": rng.standard_normal(p.N),
    }


@world("eq-gram-features")
def _(rng):
    """The library's features; eigenvectors with the signs it happens on."""
    p = ridge_problem(rng)
    mu, U = np.linalg.eigh(p.K)
    mu, U = mu[::-1], U[:, ::-1]
    Phi = validity.feature_map_from_gram(p.K)

    def phi(x):
        (row,) = np.flatnonzero((x == p.X).all(axis=1))
        return Phi[row]

    return bindings(p) | {
        r"\boldsymbol\phi": phi,
        "i": range(1, p.N + 1),
        r"\boldsymbol\mu": mu,
        "u_": (U * np.sign(U[0] * Phi[0])).T,
    }


@world("eq-rkhs-inner", "eq-reproducing")
def _(rng):
    """Functions w·φ(x): their weights are read off their values."""
    p = ridge_problem(rng)
    Z, a, b = ridge_problem(rng, N=4).X, *map(rng.standard_normal, (p.N, 4))
    points = rng.standard_normal((p.M, p.D))
    rows = np.array([p.phi(x) for x in points])

    def mixture(a, X):
        w = a @ [p.phi(x) for x in X]
        return lambda x: w @ p.phi(np.ravel(x))

    def weights(f):
        values = [np.squeeze(f(x[:, None])) for x in points]
        return np.linalg.solve(rows, values)

    return bindings(p) | {
        "M": 4,
        "i": range(1, p.N + 1),
        "j": range(1, 5),
        r"\mathbf a": a,
        r"\mathbf b": b,
        r"\mathbf z_": Z,
        "x_": p.X,
        r"\mathbf w": weights(mixture(a, p.X)),
        "f": mixture(a, p.X),
        "g": mixture(b, Z),
        r"\langle \rangle": lambda f, g: weights(f) @ weights(g),
    }


def waves(r):
    """Poisson's kernel on the circle, its μ_j and its e_j."""

    def k(x, z):
        return (1 - r**2) / (1 - 2 * r * np.cos(2 * np.pi * (x - z)) + r**2)

    def e(j):
        if j < 2:
            return {1: lambda x: 1.0}[j]
        wave = np.cos if j % 2 else np.sin
        return lambda x: np.sqrt(2) * wave(j // 2 * 2 * np.pi * x)

    return {"k": k, r"\mu_": lambda j: r ** (j // 2), "e_": e}


@world("eq-mercer-operator", "eq-mercer-series")
def _(rng):
    return waves(rng.uniform(0.15, 0.3)) | {
        "x": rng.uniform(),
        "x'": rng.uniform(),
        "i": range(1, 5),
        "j": range(1, 5),
        r"\infty": 41,
    }


@cache
def brownian_eigenpairs(size=20):
    """∫ min(x, x') e(x') dx' = μ e(x) among polynomials, integrated exactly.

    The integral is ∫ x'e over [0, x] plus x ∫ e over [x, 1].
    """
    basis = [
        np.sqrt(2 * b + 1) * Legendre.basis(b, domain=[0, 1])
        for b in range(size)
    ]
    x = Legendre.identity(domain=[0, 1])
    images = [(x * p).integ(lbnd=0) - x * p.integ(lbnd=1) for p in basis]
    A = [[(p * q).integ(lbnd=0)(1.0) for q in images] for p in basis]
    mu, U = np.linalg.eigh(A)
    pairs = []
    for j in range(1, 4):
        e = sum(u * p for u, p in zip(U[:, -j], basis, strict=True))
        pairs.append((mu[-j], e * np.sign(e(0.01))))
    return pairs


@world("eq-mercer-brownian")
def _(rng):
    mu, e = zip(*brownian_eigenpairs(), strict=True)
    return {"j": range(1, 4), "x": rng.uniform(), r"\mu_": mu, "e_": e}


def second_difference(k, x):
    """The energy of (1, −2, 1) on three numbers."""
    K = np.array([[k(a, b) for a in x] for b in x])
    return {r"\mathbf K": K, r"\mathbf v": np.array([1.0, -2.0, 1.0])}


@world("eq-energy-quartic")
def _(rng):
    h = rng.uniform(0.2, 0.9)
    bound = second_difference(
        lambda x, z: np.exp(-((x - z) ** 4)), [0, h, 2 * h]
    )
    return bound | {"h": h}


CROSS = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]])
WEIGHTS = np.array([-4, 1, 1, 1, 1])


def city(h):
    """The library's Matérn-3/2 kernel of city-block distances."""
    r = cdist(h * CROSS, h * CROSS, "cityblock")
    return kernels.Matern(nu=1.5)([[0.0]], r.reshape(-1, 1)).reshape(5, 5)


@world("eq-energy-cross")
def _(rng):
    u = rng.uniform(0.2, 2.0)
    K = city(u / np.sqrt(3))
    return {r"\mathbf K": K, r"\mathbf v": WEIGHTS, "u": u}


@world("eq-energy-cross-lowest")
def _(rng):
    lowest = minimize_scalar(
        lambda h: WEIGHTS @ city(h) @ WEIGHTS, bounds=(0.1, 0.5)
    )
    return {r"\mathbf K": city(lowest.x), r"\mathbf v": WEIGHTS}


@world("eq-energy-taylor")
def _(rng):
    """√(1 + s), whose coefficients have both signs."""
    N = 3
    return {
        "N": N,
        "s": rng.uniform(0.1, 0.3),
        "v_": rng.standard_normal(N),
        "x_": rng.uniform(-0.5, 0.5, N),
        "f": lambda s: np.sqrt(1 + s),
        "c_": From(0, binom(0.5, np.arange(25))),
        r"\infty": 20,
    }


@world("eq-rounding-level")
def _(rng):
    N = 4
    B = rng.standard_normal((N, N))
    return {
        "N": N,
        r"\mathbf K": B + B.T,
        r"\delta": validity.rounding_level(B + B.T),
        r"\varepsilon": np.spacing(1.0),
    }


def reference_words(rng, N=5, D=2):
    """An indefinite similarity, and its eigenvalues on N references."""
    X = rng.uniform(-2, 2, (N, D))
    x, z = rng.uniform(-2, 2, (2, D))

    def k(x, z):
        return np.tanh(x @ z + 0.3)

    mu, U = np.linalg.eigh([[k(a, b) for b in X] for a in X])
    return X, k, mu, U, {r"\mathbf x": x, r"\mathbf x'": z, "k": k}


@world("eq-surgery-shift")
def _(rng):
    """The eigenvalues of a pair, moved up; and the same input twice."""
    _, k, _, _, bound = reference_words(rng)
    c = rng.uniform(0.5, 2.0)

    def shifted(x, z):
        pair = np.unique([x, z], axis=0)
        mu, U = np.linalg.eigh([[k(a, b) for b in pair] for a in pair])
        return ((U * (mu + c)) @ U.T)[0, -1]

    bound |= {"c": c, "k_c": shifted, "i": lambda x, z: float(all(x == z))}
    return [bound, bound | {r"\mathbf x'": bound[r"\mathbf x"]}]


@world("eq-surgery-clip")
def _(rng):
    """The pseudo-inverse of the clipped matrix, between similarities."""
    X, k, mu, U, bound = reference_words(rng)
    inverse = np.linalg.pinv((U * np.maximum(mu, 0)) @ U.T, rcond=1e-10)

    def s(x):
        return np.array([k(x, reference) for reference in X])

    return bound | {
        "N": len(X),
        r"\mathbf x_": X,
        r"\mathbf K": np.array([s(x) for x in X]),
        r"\mathbf s": s,
        r"\mathbf U_+": U[:, mu > 0],
        r"\mathbf M_+": np.diag(mu[mu > 0]),
        "k_+": lambda x, z: s(x) @ inverse @ s(z),
    }


@world("eq-empirical-map")
def _(rng):
    X, k, _, _, bound = reference_words(rng)
    return bound | {
        r"\mathbf s": lambda x: np.array([k(x, other) for other in X]),
        "k_e": lambda x, z: sum(k(x, other) * k(z, other) for other in X),
    }


@world("eq-energy-square")
def _(rng):
    """Four corners of a city block, for any γ."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    gamma = rng.uniform(0.1, 1.5)
    K = np.exp(-gamma * cdist(corners, corners, "cityblock") ** 2)
    v = np.array([1.0, -1.0, 1.0, -1.0])
    return {r"\mathbf K": K, r"\mathbf v": v, r"\gamma": gamma, "q": K[0, 1]}


def weights_of_sum_zero(rng, N):
    v = rng.standard_normal(N)
    return v - v.mean()


def distance_from(rng, i, N=4, D=2):
    """Weights whose sum would be positive without row i, and distances."""
    X = rng.standard_normal((N, D))
    S = cdist(X, X, "sqeuclidean")
    for _ in range(10_000):
        v = weights_of_sum_zero(rng, N)
        rest = np.delete(np.arange(N), i)
        if (
            v[rest] @ S[rest] @ v > 0
            and v[rest] @ S[rest][:, rest] @ v[rest] > 0
        ):
            break
    return X, v


@world("eq-conditionally-negative")
def _(rng):
    """On a line three weights can make it an equality: those of a mean."""
    N = 4

    def bound(X, v):
        return {
            "N": N,
            r"\mathbf x_": X,
            r"\mathbf v": v,
            "d": lambda x, z: np.sqrt(sum((x - z) ** 2)),
        }

    X = rng.standard_normal((N, 2))
    flat = null_space(np.vstack([X.T, np.ones(N)]))[:, 0]
    return [bound(*distance_from(rng, i)) for i in (0, N - 1)] + [
        bound(X, flat) | {"@tight": True}
    ]


@world("eq-distance-energy")
def _(rng):
    p = ridge_problem(rng)
    return bindings(p) | {r"\mathbf v": weights_of_sum_zero(rng, p.N)}


@world("eq-classical-scaling")
def _(rng):
    """The Gram matrix of points around their mean."""
    N = 5
    X = rng.standard_normal((N, 3))
    around = X - X.mean(axis=0)
    return {
        "N": N,
        r"\mathbf 1": np.ones(N),
        r"\mathbf S": cdist(X, X, "sqeuclidean"),
        r"\mathbf H": np.array([e - e.mean() for e in np.eye(N)]).T,
        r"\mathbf B": around @ around.T,
    }


def frequencies(step=0.05, most=12.0):
    """The trapezoidal rule on the line, for what has died away at its ends."""
    omega = np.arange(-most, most + step / 2, step)
    return omega.tolist(), np.full(len(omega), step).tolist()


def gaussian_pair(rng):
    """A Gaussian kernel and its spectrum, the latter from SciPy's normal."""
    gamma = rng.uniform(0.5, 1.0)
    spectrum = norm(scale=np.sqrt(2 * gamma))
    kernel = kernels.Gaussian(gamma)
    return {
        r"\gamma": gamma,
        r"\kappa": lambda r: kernel([[0.0]], [[r]])[0, 0],
        "s": lambda omega: float(spectrum.pdf(omega)),
        r"d\omega": frequencies(),
    }


@world("eq-bochner")
def _(rng):
    return gaussian_pair(rng) | {"r": rng.uniform(0.4, 1.2)}


@world("eq-spectral-density")
def _(rng):
    r = np.arange(0, 12, 0.05)
    w = np.full(len(r), 0.05)
    w[0] /= 2
    return gaussian_pair(rng) | {
        r"\omega": rng.uniform(0.4, 1.2),
        "dr": (r.tolist(), w.tolist()),
    }


@world("eq-spectral-energy")
def _(rng):
    N = 3
    x, bound = rng.uniform(-1, 1, N), gaussian_pair(rng)
    kappa = bound[r"\kappa"]
    return bound | {
        "N": N,
        "x_": x,
        r"\mathbf v": rng.standard_normal(N),
        r"\mathbf K": np.array([[kappa(a - b) for b in x] for a in x]),
    }


@world("eq-spectral-three", tolerance=1e-6)
def _(rng):
    """By quadrature of the kernels themselves."""
    omega = rng.uniform(0.5, 2.0)
    gamma, a = rng.uniform(0.6, 1.4, size=2)

    def transformed(kernel, omega):
        return (
            quad(
                lambda r: kernel([[0.0]], [[r]])[0, 0],
                0,
                60,
                weight="cos",
                wvar=omega,
                limit=400,
            )[0]
            / np.pi
        )

    return {
        r"\omega": omega,
        r"\gamma": gamma,
        "a": a,
        r"s_{\mathrm G}": lambda w: transformed(kernels.Gaussian(gamma), w),
        "s_{1/2}": lambda w: transformed(kernels.Matern(0.5, 1 / a), w),
        "s_{3/2}": lambda w: transformed(
            kernels.Matern(1.5, np.sqrt(3) / a), w
        ),
    }


@world("eq-spectral-expectation")
def _(rng):
    a = rng.uniform(0.6, 1.4)
    kernel = kernels.Matern(0.5, 1 / a)
    return {
        "x": rng.uniform(1.0, 1.5),
        "x'": rng.uniform(0.0, 0.5),
        r"\omega": Sample(a * rng.standard_cauchy(40_000)),
        "k": lambda x, z: kernel([[x]], [[z]])[0, 0],
    }


# Of relations in sentences, and of displays without a label ------------------


@world("inline: features from distances")
def _(rng):
    """Inner products of what leads from o to the two inputs."""
    x, z, o = points = rng.standard_normal((3, 2))
    Phi = validity.feature_map_from_gram((points - o) @ (points - o).T)
    return {
        r"\boldsymbol\phi": lambda x: Phi[np.argmin(cdist([x], points))],
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\mathbf o": o,
        "d": lambda x, z: np.sqrt(sum((x - z) ** 2)),
        "k_0": lambda x, z: (x - o) @ (z - o),
    }


@world("inline: an average of energies", tolerance=1e-6)
def _(rng):
    return {
        "T": rng.uniform(1.5, 2.5),
        r"\omega": rng.uniform(0.5, 1.5),
        r"\kappa": lambda r: np.exp(-1.3 * r**2),
    }


@world("inline: by parts, twice", tolerance=1e-6)
def _(rng):
    """The second derivative by differences."""
    gamma = rng.uniform(0.1, 0.3)
    bell = kernels.Gaussian(gamma)

    def f(theta):
        return bell([[0.0]], [[theta]])[0, 0]

    def bent(theta, h=1e-3):
        return (f(theta + h) - 2 * f(theta) + f(theta - h)) / h**2

    return {
        r"\gamma": gamma,
        r"\theta": rng.uniform(0.5, 3.0),
        "n": range(1, 5),
        "f": f,
        "f''": bent,
    }


@world("inline: a wave")
def _(rng):
    """On the circle of the complex numbers."""

    def phi(x):
        return np.array([np.exp(1j * x).real, np.exp(1j * x).imag])

    x, z = rng.uniform(-5, 5, 2)
    k = {"k": lambda x, z: phi(x) @ phi(z)}
    return k | {"x": x, "x'": z, r"\boldsymbol\phi": phi}


@world("inline: positive semi-definite")
def _(rng):
    p = ridge_problem(rng)
    return bindings(p) | {r"\mathbf v": rng.standard_normal(p.N)}


@world("inline: Brownian motion")
def _(rng):
    """The covariance of sums of small steps."""
    x, z = rng.integers(1, 100, 2) / 100

    def steps(x):
        return 1.0 * (np.arange(100) < round(100 * x))

    return {"x": x, "x'": z, "k": lambda x, z: steps(x) @ steps(z) / 100}


@world("inline: Brownian eigenfunctions", tolerance=1e-6)
def _(rng):
    """Values at a point; slopes as functions."""
    mu, e = zip(*brownian_eigenpairs(), strict=True)
    x = rng.uniform(0.2, 0.8)
    return {
        "j": range(1, 4),
        r"\mu_": mu,
        "e_": [f(x) for f in e],
        "e'_": [f.deriv() for f in e],
        "e''_": [f.deriv(2)(x) for f in e],
    }


@world("inline: the cross", tolerance=1e-6)
def _(rng):
    """Where its energy is lowest."""
    lowest = minimize_scalar(
        lambda h: WEIGHTS @ city(h) @ WEIGHTS, (0.1, 0.2, 0.5), tol=1e-10
    )

    def m(u):
        return kernels.Matern(nu=1.5)([[0.0]], [[u / np.sqrt(3)]])[0, 0]

    return {"u": np.sqrt(3) * lowest.x, "m": m}


@world("inline: neighbours", tolerance=1e-6)
def _(rng):
    h = rng.uniform(0.003, 0.006)
    k = kernels.Matern(nu=1.5)
    return {"u": np.sqrt(3) * h, "m": k([[0.0]], [[h]])[0, 0]}


@world("inline: the series of tanh")
def _(rng):
    """Coefficients by Cauchy's formula, on a circle."""
    circle = np.exp(2j * np.pi * np.arange(512) / 512)
    b = rng.uniform(-0.4, 0.4)
    series, shifted = (np.fft.fft(np.tanh(circle + o)).real for o in (0, b))
    return {"b": b, "T": shifted[0] / 512, "c_": From(0, series / 512)}


@world("inline: a wide bell on a square")
def _(rng):
    return {"q": np.exp(-rng.uniform(0.01, 0.6))}


@world("inline: weights that add up to zero")
def _(rng):
    p, gamma = ridge_problem(rng), rng.uniform(0.2, 1.0)
    return bindings(p) | {
        r"\mathbf v": weights_of_sum_zero(rng, p.N),
        r"\gamma": gamma,
        "d_": cdist(p.X, p.X),
        r"\mathbf K": kernels.Gaussian(gamma)(p.X),
    }


@world("inline: the Gaussian's integral", tolerance=1e-6)
def _(rng):
    gamma, omega = rng.uniform(0.6, 1.4, size=2)

    def cosines(omega):
        bell = kernels.Gaussian(gamma)
        wave = {"weight": "cos", "wvar": omega}
        return quad(lambda r: bell([[0.0]], [[r]])[0, 0], 0, 20, **wave)[0]

    slope = (cosines(omega + 1e-4) - cosines(omega - 1e-4)) / 2e-4
    bound = {r"\gamma": gamma, r"\omega": omega}
    return bound | {"I": cosines, "I'": lambda omega: slope}


@world("inline: densities of frequencies")
def _(rng):
    kernel = kernels.Matern(1.5, rng.uniform(0.5, 1.5))
    wave = {"weight": "cos", "limit": 400}
    found = [
        quad(lambda r: kernel([[0.0]], [[r]])[0, 0], 0, 60, wvar=w, **wave)[0]
        for w in (0.5, 1.0, 4.0)
    ]
    return {"s": Each(found)}


@world("inline: a sigmoid at the origin")
def _(rng):
    b = -rng.uniform(0.3, 2.0)
    return {"b": b, "k": 2 * expit(2 * b) - 1}


@world("inline: steps", tolerance=1e-6)
def _(rng):
    """On a grid, of which no point is one of the two inputs."""
    x, z = rng.integers(10, 90, 2) / 100
    s = (np.arange(300) - 99.5) / 100
    apart = 1.0 * (x <= s) - 1.0 * (z <= s)
    return {
        "x": x,
        "x'": z,
        r"1[x \le s]": Of("x", "s", lambda x, s: float(x <= s)),
        r"1[x' \le s]": Of("x'", "s", lambda x, s: float(x <= s)),
        "ds": (s.tolist(), [0.01] * len(s)),
        "d": np.linalg.norm(apart) / 10,
    }


@world("inline: three points close together", tolerance=1e-3)
def _(rng):
    return {"h": 1e-5, "p": rng.uniform(0.8, 1.6)}
