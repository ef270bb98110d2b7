"""Chapter 6: building kernels."""

import numpy as np
from typeset import From

from kernelbook import kernels

from . import world


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
    return two_inputs(rng) | {r"\mathbf A": R @ R.T, "k": k}


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
    return made | {"p": 3, "c_": From(0, c)}


@world("eq-rule-6")
def _(rng):
    made = from_two(rng, lambda k1, k2: k1.conjugate(cosine))
    return made | {"f": lambda x: cosine(x[None])[0]}


@world("eq-rule-7")
def _(rng):
    return from_two(rng, lambda k1, k2: kernels.exp(k1))


@world("eq-gauss-rules")
def _(rng):
    return two_inputs(rng) | {r"\sigma": rng.uniform(1.5, 2.5)}


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
    return features_of_the_gaussian(rng) | {r"\infty": 30}


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
    """At the distances that have the same s."""
    s, length = rng.uniform(0.5, 2.0, size=2)

    def value(nu):
        distance = s * length / np.sqrt(2 * nu)
        k = kernels.Matern(nu, length)
        return k([[0.0, 0.0]], [[0.6 * distance, 0.8 * distance]])[0, 0]

    return {
        "s": s,
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
        r"d\nu": (nodes.tolist(), np.full(len(nodes), 0.4).tolist()),
    }
