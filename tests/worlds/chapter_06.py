"""Chapter 6: building kernels."""

from itertools import combinations, product

import numpy as np
from typeset import Each, From

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


@world("eq-set-kernel", "eq-set-subsets")
def _(rng):
    """Two of the sets that six things can make, and all of them for T."""
    things = range(6)
    one, two = frozenset({0, 1, 2, 4}), frozenset({1, 2, 3, 4, 5})
    return {
        "S_1": one,
        "S_2": two,
        "T": Each(
            frozenset(T)
            for size in range(len(things) + 1)
            for T in combinations(things, size)
        ),
        "k": on_one_pair(kernels.exp(kernels.SetIntersection())),
    }


@world("eq-spectrum")
def _(rng):
    """Every string of two letters out of four is looked for."""
    s, z = ("".join(rng.choice(list("ACGT"), n)) for n in (12, 15))
    return {
        "s": s,
        "s'": z,
        "u": Each(map("".join, product("ACGT", repeat=2))),
        "c_": lambda u: (
            lambda s: sum(s.startswith(u, i) for i in range(len(s)))
        ),
        "k": on_one_pair(kernels.Spectrum(length=2)),
    }


def spelled(graph, rounds):
    """The labels of all nodes after so many rounds, written out."""
    words = list(graph.labels)
    for _ in range(rounds):
        words = [
            f"{words[i]}({','.join(sorted(words[j] for j in near))})"
            for i, near in enumerate(graph.neighbours())
        ]
    return words


@world("eq-weisfeiler-lehman")
def _(rng):
    """Two small branched molecules."""
    h = 2
    one = kernels.Graph("CCOCC", [(0, 1), (1, 2), (1, 3), (3, 4)])
    two = kernels.Graph("CCCOCC", [(0, 1), (1, 2), (2, 3), (2, 4), (4, 5)])
    words = {
        w for G in (one, two) for i in range(h + 1) for w in spelled(G, i)
    }
    return {
        "h": h,
        "G": one,
        "G'": two,
        r"\ell": Each(sorted(words)),
        "c_": lambda i, label: lambda G: spelled(G, i).count(label),
        "k": on_one_pair(kernels.WeisfeilerLehman(h)),
    }
