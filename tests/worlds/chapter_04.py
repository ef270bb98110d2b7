"""Chapter 4: feature maps and the kernel trick."""

import itertools
from functools import cache

import numpy as np
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import linprog, minimize
from scipy.stats import norm
from sklearn.metrics.pairwise import sigmoid_kernel
from typeset import Each, Of, Sample

from kernelbook import counting, features, kernels

from . import world
from .common import bindings, ridge_problem


def pair(rng, D=3):
    """Two inputs, under each of the names the chapter gives them."""
    x, z = rng.standard_normal((2, D))
    return {r"\mathbf x": x, r"\mathbf x'": z, r"\mathbf z": z, "D": D}


def lifted(p, c=0.0):
    """The monomials of degree p, and the kernel as their inner product."""

    def phi(x):
        return features.monomials(features.append_constant([x], c), p)[0]

    def k(x, z):
        return phi(x) @ phi(z)

    return phi, k


@world("eq-map-sum")
def _(rng):
    return bindings(ridge_problem(rng))


@world("eq-map-linear")
def _(rng):
    return pair(rng) | {"k": kernels.Linear()}


@world("eq-notes-9")
def _(rng):
    return pair(rng) | {"k": lifted(2)[1]}


@world("eq-notes-10", "eq-map-quadratic")
def _(rng):
    def phi(x):
        return features.monomials([x], 2)[0]

    return pair(rng, D=2) | {r"\boldsymbol\phi": phi}


@world("eq-notes-11")
def _(rng):
    return pair(rng) | {"p": 4, "k": lifted(4)[1]}


@world("eq-map-multinomial")
def _(rng):
    """All exponents that add up to p, by trying everything."""
    D, p = 3, 4
    tried = itertools.product(range(p + 1), repeat=D)
    return pair(rng, D) | {
        "p": p,
        r"q_1 + \dots + q_D = p": [
            {r"\mathbf q": np.array(q)} for q in tried if sum(q) == p
        ],
    }


@world("eq-map-monomials")
def _(rng):
    D, p = 3, 4
    exponents = features.exponents(D, p)

    def feature(q):
        (column,) = np.flatnonzero((exponents == q).all(axis=1))
        return lambda x: features.monomials([x], p)[0, column]

    return pair(rng, D) | {
        "p": p,
        r"\mathbf q": Each(exponents),
        r"\phi_": feature,
    }


def counted(rng, c):
    """Features are counted by the rank of a Gram matrix."""
    D, p = 3, 4
    K = kernels.Polynomial(p, c)(rng.standard_normal((40, D)))
    return {"D": D, "p": p, "M": int(np.linalg.matrix_rank(K))}


@world("eq-map-count")
def _(rng):
    return counted(rng, c=0.0)


@world("eq-map-count-all")
def _(rng):
    return counted(rng, c=1.0)


@world("eq-map-polynomial")
def _(rng):
    c = rng.uniform(0.3, 2.0)
    return pair(rng) | {"c": c, "p": 4, "k": lifted(4, c)[1]}


@world("eq-map-constant", "eq-map-binomial")
def _(rng):
    return pair(rng) | {"c": rng.uniform(0.3, 2.0), "p": 4}


@world("eq-map-cost-kernel", "eq-map-cost-explicit")
def _(rng):
    """Both ways are run on numbers that count."""
    D, p = 5, 3
    kernel, explicit = counting.Tally(), counting.Tally()
    x, z = kernel.numbers(rng.standard_normal((2, D)))
    (x @ z) ** p
    picks = list(itertools.combinations_with_replacement(range(D), p))
    phi = []
    for x in explicit.numbers(rng.standard_normal((2, D))):
        weighted = x[[pick[0] for pick in picks]] * 1.5
        for j in range(1, p):
            weighted = weighted * x[[pick[j] for pick in picks]]
        phi.append(weighted)
    phi[0] @ phi[1]
    return {
        "D": D,
        "p": p,
        "n_k": kernel.multiplications,
        r"n_\phi": explicit.multiplications,
    }


@world("eq-map-weights", "eq-map-norm")
def _(rng):
    p = ridge_problem(rng)
    return bindings(p) | {r"\mathbf w": p.w, r"\mathbf a": p.a}


@world("eq-map-distance", "eq-map-mean-distance")
def _(rng):
    p = ridge_problem(rng)
    return bindings(p) | {r"\mathbf z": p.z}


def bell(sigma):
    """A normal density, scaled to 1 at its top."""
    law = norm(scale=sigma)
    return lambda x, z: law.pdf(np.linalg.norm(x - z)) / law.pdf(0)


@world("eq-notes-12")
def _(rng):
    sigma = rng.uniform(0.7, 2.0)
    return pair(rng) | {r"\sigma": sigma, "k": bell(sigma)}


@world("eq-map-gaussian")
def _(rng):
    gamma = rng.uniform(0.1, 0.5)
    return pair(rng) | {r"\gamma": gamma, "k": kernels.Gaussian(gamma)}


@world("eq-map-gamma")
def _(rng):
    """The γ that gives the library's kernel the height of the bell."""
    sigma = rng.uniform(0.7, 2.0)
    height = bell(sigma)(np.zeros(1), np.full(1, 1.3))
    unit = kernels.Gaussian(1.0)([[0.0]], [[1.3]])[0, 0]
    return {r"\sigma": sigma, r"\gamma": np.log(height) / np.log(unit)}


@world("eq-map-lagrange")
def _(rng):
    """At the inputs 0 or 1; for inputs on a line, Lagrange's polynomial."""
    N, D = 4, 3
    indices = {"n": range(1, N + 1), "m": range(1, N + 1)}
    X = rng.standard_normal((N, D))
    at_inputs = indices | {
        r"\mathbf x_": X,
        r"\mathbf x": Each(X),
        "L_": lambda n: lambda x: float(np.all(x == X[n - 1])),
    }
    along = rng.standard_normal(D)
    along /= np.linalg.norm(along)
    s = rng.uniform(-1, 1, N)

    def basis(n):
        polynomial = BarycentricInterpolator(s, np.eye(N)[n - 1])
        return lambda x: float(polynomial(x @ along))

    on_a_line = indices | {
        r"\mathbf x_": np.outer(s, along),
        r"\mathbf x": rng.standard_normal(D),
        "L_": basis,
    }
    return [at_inputs, on_a_line]


@world("eq-notes-13")
def _(rng):
    a, b = rng.uniform(0.2, 1.0, size=2)

    def k(x, z):
        return sigmoid_kernel([x], [z], gamma=a, coef0=b)[0, 0]

    return pair(rng) | {"a": a, "b": b, "k": k}


@world(
    "eq-map-centred",
    "eq-map-pca",
    "eq-map-pca-projection",
    "inline: centred features",
)
def _(rng):
    """Centred features, and a direction of PCA found from them alone."""
    p = ridge_problem(rng)
    mean = p.Phi.mean(axis=0)
    F = p.Phi - mean
    v = np.linalg.svd(F)[2][1]

    def centred(x, z):
        both = p.k([x, z], p.X).mean(axis=1)
        return p.k([x], [z])[0, 0] - both.sum() + p.K.mean()

    return bindings(p) | {
        r"\tilde{\mathbf K}": F @ F.T,
        r"\tilde{\boldsymbol\Phi}": F,
        r"\tilde{\boldsymbol\phi}_": F,
        r"\mathbf H": np.array(
            [e - np.full(p.N, 1 / p.N) for e in np.eye(p.N)]
        ),
        r"\mathbf C": np.cov(p.Phi.T, bias=True),
        r"\mathbf v": v,
        r"\mu": np.var(p.Phi @ v),
        r"\mathbf a": np.linalg.lstsq(F.T, v, rcond=None)[0],
        r"\tilde k": centred,
        "y": lambda x: v @ (p.phi(x) - mean),
    }


def kept(rng, nearest):
    """Lifted points embedded by their Gram matrix; SciPy finds the nearest."""
    N, D, gamma = 4, 2, rng.uniform(0.1, 0.4)
    X, b = 2 + rng.standard_normal((N, D)), rng.uniform(0.1, 0.5, N)
    k = kernels.Gaussian(gamma)

    def squared_distance(z):
        values, U = np.linalg.eigh(k(np.vstack([X, z])))
        lifted = U * np.sqrt(np.maximum(values, 0))
        return np.sum((lifted[-1] - b @ lifted[:-1]) ** 2)

    z = X.mean(axis=0) + 0.3 * rng.standard_normal(D)
    if nearest:
        precise = {"xatol": 1e-10, "fatol": 1e-15}
        z = minimize(
            squared_distance, z, method="Nelder-Mead", options=precise
        ).x
    return {
        "N": N,
        "n": range(1, N + 1),
        "k": k,
        r"\gamma": gamma,
        r"\mathbf b": b,
        r"\mathbf K": k(X),
        r"\mathbf x_": X,
        r"\mathbf z": z,
        "E": squared_distance,
    }


@world("eq-map-preimage", tolerance=1e-6)
def _(rng):
    return kept(rng, nearest=True)


@world("inline: distance from what is kept")
def _(rng):
    return kept(rng, nearest=False)


def labellings(rng):
    """Every labelling is put to a linear program."""

    @cache
    def separated(N, M):
        N, M = int(N), int(M)
        if M == 0:  # all outputs are zero
            return 0
        points, total = rng.standard_normal((N, M)), 0
        for t in itertools.product([-1.0, 1.0], repeat=N):
            rows = -np.array(t)[:, None] * points
            found = linprog(
                np.zeros(M), A_ub=rows, b_ub=-np.ones(N), bounds=(None, None)
            )
            total += found.status == 0
        return total

    return separated


@world("eq-map-cover")
def _(rng):
    return {"N": 6, "M": 3, "C": labellings(rng)}


@world("inline: few points")
def _(rng):
    C = labellings(rng)
    return [{"N": 3, "M": 4, "C": C}, {"N": 4, "M": 4, "C": C}]


# Of relations in sentences ---------------------------------------------------


@world("inline: small numbers")
def _(rng):
    """The stars between the bars of **||*, counted; a constant; any p < n."""
    row = "**||*"
    u, v = rng.standard_normal((2, 4))
    return {
        "q": np.array([len(stars) for stars in row.split("|")]),
        "c": features.append_constant([[0.0]], 4.0)[0, -1] ** 2,
        "n": 7,
        "p": Each(range(1, 7)),
        "k": lambda x, z: np.polyval([1.0, -2.0, 1.0], x * z),
        r"\mathbf u": u,
        r"\mathbf v": v,
    }


@world("inline: reach")
def _(rng):
    gamma = Of(r"\gamma", kernels.Gaussian)
    return pair(rng) | {"k": gamma, r"\gamma": 0.3}


@world("inline: an odd degree")
def _(rng):
    return pair(rng) | {r"\boldsymbol\phi": lifted(3)[0]}


@world("inline: two inputs in the plane")
def _(rng):
    return pair(rng, D=2)


@world("inline: labels on a line")
def _(rng):
    """f by interpolation, w from the features, L_n by its product."""
    N = 4
    s, t = rng.permutation(np.linspace(-1, 1, N)), rng.choice([-1.0, 1.0], N)
    f = BarycentricInterpolator(s, t)
    phi = lifted(N - 1, 1.0)[0]

    def L(n):
        others = np.delete(s, n - 1)
        return lambda x: np.prod((x[0] - others) / (s[n - 1] - others))

    return {
        "N": N,
        "n": range(1, N + 1),
        r"\mathbf x_": s[:, None],
        r"\mathbf x": rng.uniform(-1, 1, 1),
        r"\mathbf t": t,
        "L_": L,
        "f": lambda x: float(f(x[0])),
        r"\boldsymbol\phi": phi,
        r"\mathbf w": np.linalg.solve([phi([x]) for x in s], t),
    }


@world("inline: energy of a Gaussian")
def _(rng):
    N, gamma = 4, rng.uniform(0.1, 0.5)
    X, v = rng.standard_normal((2, N, 2))
    v = v[:, 0]
    K = kernels.Gaussian(gamma)(X)

    def phi(j):
        return lambda x: lifted(j)[0](x) if j else np.ones(1)

    return {
        "N": N,
        "n": range(1, N + 1),
        r"\gamma": gamma,
        r"\mathbf x_": X,
        r"\mathbf v": v,
        r"\mathbf u": v
        * norm(scale=(2 * gamma) ** -0.5).pdf(X).prod(axis=1)
        / norm(scale=(2 * gamma) ** -0.5).pdf(0) ** 2,
        r"\mathbf K": K,
        r"\boldsymbol\phi_": phi,
        r"\infty": 30,
    }


@world("inline: parity")
def _(rng):
    """Of monomials that miss the second coordinate."""
    cube = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    x = rng.choice(cube)
    return {
        "N": len(cube),
        "n": range(1, len(cube) + 1),
        r"\mathbf x_": cube,
        "t_": dict(enumerate(cube.prod(axis=1), 1)),
        "t": (-1.0) ** np.sum(x < 0),
        "f": lambda x: x[0] * x[2],
        r"\mathbf x": x,
        "D": 3,
    }


@world("inline: random signs")
def _(rng):
    D, p = 3, 2
    x, z = rng.standard_normal((2, D))
    signs = rng.choice([-1.0, 1.0], (40_000, p, D))
    return {
        "p": p,
        r"\mathbf x": x,
        r"\mathbf z": z,
        r"\mathbf I": np.eye(D),
        r"\mathbf r": Sample(signs[:, 0]),
        r"\psi": lambda x: Sample((signs @ x).prod(axis=1)),
    }
