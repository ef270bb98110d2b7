"""Chapter 6: building kernels."""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from typeset import Each, From, Sample

from kernelbook import _gram, kernels

from . import world
from .common import bindings, ridge_problem


def two_inputs(rng, D=3):
    x, z = rng.standard_normal((2, D))
    return {"D": D, r"\mathbf x": x, r"\mathbf x'": z, "x_": x, "x'_": z}


def on_one_pair(k):
    """A kernel of the library as a function of two inputs."""
    return lambda x, z: k([x], [z])[0, 0]


def cosine(X):
    """Some function of the inputs, given as rows."""
    return np.cos(X).sum(axis=1) + 2


def from_two(rng, rule):
    """What the library makes of two kernels, and both written by hand."""
    made = rule(kernels.Gaussian(0.3), kernels.Polynomial(degree=2, c=1.0))
    return two_inputs(rng) | {
        "k": on_one_pair(made),
        "k_1": lambda x, z: np.exp(-0.3 * sum((x - z) ** 2)),
        "k_2": lambda x, z: (sum(x * z) + 1) ** 2,
    }


@world("eq-rule-1")
def _(rng):
    return two_inputs(rng) | {"k": on_one_pair(kernels.Linear())}


@world("eq-rule-8")
def _(rng):
    R = rng.standard_normal((3, 2))
    k = on_one_pair(kernels.quadratic_form(R @ R.T))
    bound = {r"\mathbf A": R @ R.T, r"\mathbf R": R, "k": k}
    return two_inputs(rng) | bound


@world("eq-rule-2")
def _(rng):
    c = rng.uniform(1.5, 3.0)
    return from_two(rng, lambda k1, k2: c * k1) | {"c": c}


@world("eq-rule-3")
def _(rng):
    return from_two(rng, lambda k1, k2: k1 + k2)


@world("eq-rule-4")
def _(rng):
    return from_two(rng, lambda k1, k2: k1 * k2)


@world("eq-rule-5")
def _(rng):
    c = rng.uniform(0.5, 2.0, size=4)
    made = from_two(rng, lambda k1, k2: k1.polynomial(c))
    of_u = kernels.Linear().polynomial(c)
    return made | {
        "p": 3,
        "c_": From(0, c),
        "u": rng.uniform(0.5, 2.0),
        "q": lambda u: of_u([[u]], [[1.0]])[0, 0],
    }


@world("eq-rule-6")
def _(rng):
    made = from_two(rng, lambda k1, k2: k1.conjugate(cosine))
    return made | {"f": lambda x: cosine(x[None])[0]}


@world("eq-rule-7")
def _(rng):
    return from_two(rng, lambda k1, k2: kernels.exp(k1))


@world("eq-gauss-rules")
def _(rng):
    sigma = rng.uniform(1.5, 2.5)
    middle = kernels.exp((1 / sigma**2) * kernels.Linear())
    return two_inputs(rng) | {
        r"\sigma": sigma,
        "k": on_one_pair(kernels.Gaussian(1 / (2 * sigma**2))),
        "f": lambda x: middle.diagonal([x])[0] ** -0.5,
    }


def features_of_the_gaussian(rng):
    """φ_j from φ_{j-1}, one factor x/(σ√j) at a time."""
    sigma = rng.uniform(1.5, 2.5)
    x, z = rng.uniform(0.5, 2.0, size=2) * rng.choice([-1, 1], size=2)

    def phi(j):
        def value(x):
            found = np.sqrt(kernels.Gaussian(sigma**-2)([[x]], [[0.0]])[0, 0])
            for i in range(1, j + 1):
                found *= x / (sigma * np.sqrt(i))
            return found

        return value

    k = kernels.Gaussian(1 / (2 * sigma**2))
    return {
        "x": x,
        "x'": z,
        r"\sigma": sigma,
        r"\phi_": phi,
        "k": lambda x, z: k([[x]], [[z]])[0, 0],
    }


@world("eq-gauss-series")
def _(rng):
    return features_of_the_gaussian(rng) | {r"\infty": 30, "j": range(30)}


@world("eq-gauss-feature", "eq-gauss-poisson")
def _(rng):
    return features_of_the_gaussian(rng) | {"j": range(6)}


@world("eq-gauss-tail")
def _(rng):
    """Two inputs within r; then both as far out as they may be."""
    r = 2.2
    inside = features_of_the_gaussian(rng) | {"J": 4, "r": r}
    return [inside] + [
        inside | {"x": end, "x'": end, "@tight": True} for end in (r, -r)
    ]


def all_positive():
    """The trapezoidal rule for ∫₀^∞ f(g) dg in the variable ln g."""
    g = np.exp(np.arange(-24, 5, 0.25))
    return g.tolist(), (0.25 * g).tolist()


@world("eq-rational-quadratic")
def _(rng):
    alpha, length = rng.uniform(1.3, 2.5, size=2)
    return two_inputs(rng) | {
        r"\alpha": alpha,
        r"\ell": length,
        "k": on_one_pair(kernels.RationalQuadratic(alpha, length)),
        "dg": all_positive(),
    }


@world("eq-matern-mixture")
def _(rng):
    length = rng.uniform(1.2, 2.0)
    inputs = two_inputs(rng) | {r"\ell": length, "dg": all_positive()}
    return [
        inputs
        | {r"\nu": nu, r"k_\nu": on_one_pair(kernels.Matern(nu, length))}
        for nu in (0.5, 1.5, 2.5)
    ]


@world("eq-matern")
def _(rng):
    """At the distances that have the same ρ."""
    rho, length = rng.uniform(0.5, 2.0, size=2)

    def value(nu):
        distance = rho * length / np.sqrt(2 * nu)
        k = kernels.Matern(nu, length)
        return k([[0.0, 0.0]], [[0.6 * distance, 0.8 * distance]])[0, 0]

    return {
        r"\rho": rho,
        "k_{1/2}": value(0.5),
        "k_{3/2}": value(1.5),
        "k_{5/2}": value(2.5),
    }


@world("eq-periodic")
def _(rng):
    period, length = rng.uniform(1.5, 2.5, size=2)
    return two_inputs(rng) | {
        "p": period,
        r"\ell": length,
        "k": on_one_pair(kernels.Periodic(period, length)),
    }


@world("eq-direct-sum", "eq-direct-product")
def _(rng):
    """A Gaussian kernel on two columns, a polynomial one on a third."""
    gauss = kernels.Gaussian(0.3).on([0, 1])
    poly = kernels.Polynomial(degree=2, c=1.0).on([2])

    def on_pairs(k):
        return lambda x, z, x2, z2: k([[*x, *z]], [[*x2, *z2]])[0, 0]

    x, x2 = rng.standard_normal((2, 2))
    z, z2 = rng.standard_normal((2, 1))
    return {
        r"\mathbf x": x,
        r"\mathbf x'": x2,
        r"\mathbf z": z,
        r"\mathbf z'": z2,
        r"k_\oplus": on_pairs(gauss + poly),
        r"k_\otimes": on_pairs(gauss * poly),
        "k_1": lambda x, z: np.exp(-0.3 * sum((x - z) ** 2)),
        "k_2": lambda x, z: (sum(x * z) + 1) ** 2,
    }


@world("eq-spectral-product", tolerance=1e-6)
def _(rng):
    """Spectra by quadrature of the kernels, each and their product."""
    k_1 = kernels.Gaussian(rng.uniform(0.3, 0.6))
    k_2 = kernels.Matern(2.5, rng.uniform(0.8, 1.2))

    r = np.linspace(0, 12, 2401)

    def density(k):
        kappa = k([[0.0]], r[:, None])[0]
        return lambda omega: np.trapezoid(kappa * np.cos(omega * r), r) / np.pi

    nodes = np.arange(-14, 14.1, 0.4)
    return {
        r"\omega": rng.uniform(0.5, 1.5),
        "s": density(k_1 * k_2),
        "s_1": density(k_1),
        "s_2": density(k_2),
        r"d\omega_1": (nodes.tolist(), np.full(len(nodes), 0.4).tolist()),
    }


# Of relations in sentences ---------------------------------------------------


@world("inline: any kernel")
def _(rng):
    p = ridge_problem(rng)
    return bindings(p) | {r"\mathbf v": rng.standard_normal(p.N)}


@world("inline: Gram matrices of two kernels")
def _(rng):
    X = rng.standard_normal((5, 2))
    return {
        "c": rng.uniform(1.5, 3.0),
        r"\mathbf v": rng.standard_normal(5),
        r"\mathbf D": np.diag(cosine(X)),
        r"\mathbf K_1": kernels.Gaussian(0.3)(X),
        r"\mathbf K_2": kernels.Polynomial(degree=2, c=1.0)(X),
    }


@world("inline: the library's settings")
def _(rng):
    return {"D": _gram.FEW_COLUMNS}


@world("inline: numbers below one")
def _(rng):
    return {
        "u": rng.uniform(0.2, 0.9),
        r"\mathbf x": rng.uniform(0.2, 0.9, size=3),
        "p": rng.uniform(1.2, 1.8),
        "J": 4,
        r"\bar j": rng.uniform(2.0, 5.0),
        r"\infty": 80,
        "x": rng.uniform(0.2, 0.9),
        "x'": rng.uniform(-0.9, -0.2),
        r"\alpha": rng.uniform(1.3, 2.5),
        "j": range(150),
    }


@world("inline: Matérn kernels by ρ", tolerance=1e-7)
def _(rng):
    """With lengths such that the distance is ρ."""

    def k(nu):
        made = kernels.Matern(nu, np.sqrt(2 * nu))
        return lambda rho: made([[0.0]], [[rho]])[0, 0]

    def slope(nu):
        return lambda rho: (k(nu)(rho + 1e-5) - k(nu)(rho - 1e-5)) / 2e-5

    return {
        r"\rho": rng.uniform(0.5, 2.0),
        "I": k(0.5),
        "I'": slope(0.5),
        "k_": k,
        "k'_": slope,
        r"\nu": Each([0.5, 1.5]),
    }


@world("inline: two frequencies")
def _(rng):
    """Normal, so that their kernels are bells."""
    widths = np.array([0.7, 1.1])
    draws = rng.standard_normal((20_000, 2)) * widths
    r = rng.uniform(0.5, 1.0)
    bells = [kernels.Gaussian(c)([[0.0]], [[r]])[0, 0] for c in widths**2 / 2]
    return {
        r"\omega_1": Sample(draws[:, 0]),
        r"\omega_2": Sample(draws[:, 1]),
        "r": r,
        "k_1": bells[0],
        "k_2": bells[1],
    }


@world("inline: scaled to length one")
def _(rng):
    k = kernels.Polynomial(degree=3, c=1.0)
    tilde = k.conjugate(lambda X: k.diagonal(X) ** -0.5)
    return two_inputs(rng) | {
        "k": on_one_pair(k),
        r"\tilde k": on_one_pair(tilde),
        "f": lambda x: tilde([x], [0 * x])[0, 0] / k([x], [0 * x])[0, 0],
    }


@world("inline: a value between two of length one")
def _(rng):
    """For equal inputs, too, where the bound is reached."""
    k = kernels.Polynomial(degree=3, c=1.0)
    tilde = k.conjugate(lambda X: k.diagonal(X) ** -0.5)
    x, z = rng.standard_normal((2, 3))
    return [
        {r"\tilde k": on_one_pair(tilde)(x, other)} for other in (z, x, -z)
    ]


@world("inline: features of two kernels")
def _(rng):
    """Two features and three; the left side adds up before it multiplies."""
    first, second = rng.standard_normal((2, 3)), rng.standard_normal((3, 3))
    rows = {1: first, 2: second}
    return two_inputs(rng) | {
        "i": range(1, 3),
        "j": range(1, 4),
        r"\phi_": lambda one, i: lambda x: np.tanh(rows[one][i - 1] @ x),
    }


@world("inline: a distance by its kernel")
def _(rng):
    """ρ from the value of a Matérn kernel, which falls with it."""
    length = rng.uniform(1.2, 2.0)
    pair = two_inputs(rng)
    value = on_one_pair(kernels.Matern(1.5, length))(
        pair[r"\mathbf x"], pair[r"\mathbf x'"]
    )
    rho = brentq(lambda rho: (1 + rho) * np.exp(-rho) - value, 0, 50)
    return pair | {r"\ell": length, r"\nu": 1.5, r"\rho": rho}


@world("inline: a circle")
def _(rng):
    """Points of the complex plane."""
    p = rng.uniform(1.5, 2.5)
    x, z = rng.uniform(-2, 2, size=2)

    def u(x):
        point = np.exp(2j * np.pi * x / p)
        return np.array([point.real, point.imag])

    return {"p": p, "x": x, "x'": z, r"\mathbf u": u}


@world("inline: eigenvectors of two Gram matrices")
def _(rng):
    made: dict[str, Any] = {"i": range(1, 4), "k": range(1, 4)}
    made |= {"j": range(1, 3), "l": range(1, 3)}
    vectors, values = {}, {}
    for n, size in [(1, 3), (2, 2)]:
        K = kernels.Gaussian(0.3 * n)(rng.standard_normal((size, 2)))
        value, vector = np.linalg.eigh(K)
        values[n], vectors[n] = value[-1], vector[:, -1]
        made |= {rf"\mathbf K_{n}": K, rf"\mathbf b_{n}": vectors[n]}
    return made | {
        r"\mu_": values,
        "b_": lambda n, i: vectors[n][i - 1],
    }


@world("inline: sines of differences")
def _(rng):
    x = rng.uniform(-2, 2, size=4)
    return {
        r"\mathbf K": np.sin(x[:, None] - x),
        r"\mathbf v": rng.standard_normal(4),
        "x": x[0],
        "x'": x[1],
        "k": lambda x, z: (np.exp(1j * x) / np.exp(1j * z)).imag,
    }


@world("inline: the exponential of an inner product")
def _(rng):
    sigma = rng.uniform(1.5, 2.5)
    k = kernels.exp((1 / sigma**2) * kernels.Linear())
    pair = two_inputs(rng)
    value = on_one_pair(k)(pair[r"\mathbf x"], pair[r"\mathbf x'"])
    return pair | {r"\sigma": sigma, "k": value}
