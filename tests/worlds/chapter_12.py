"""Mixtures of activations."""

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import erf
from scipy.stats import norm
from typeset import Each, Of, Sample

from kernelbook import mean_field, networks

from . import world

DRAWS = 20_000
ACTIVATIONS = [np.tanh, networks.relu, np.sin]


@world("eq-gp-30")
def _(rng):
    """The mixture is a layer with one unit whose input weight is 1."""
    lam, x = rng.standard_normal(3), rng.standard_normal(1)

    def f(x):
        return networks.mixed_activations([x], [[1.0]], [lam], ACTIVATIONS)

    return {
        "P": 3,
        r"\mathbf x": x,
        r"\boldsymbol\lambda": lam,
        r"\boldsymbol\phi": lambda x: np.array([g(x[0]) for g in ACTIVATIONS]),
        r"\phi_": [lambda x, g=g: g(x[0]) for g in ACTIVATIONS],
        "f": lambda x: f(x)[0, 0],
    }


@world("eq-net-mixed-covariance")
def _(rng):
    """Functions f = λᵀφ with λ ~ N(0, Σ), drawn and counted."""
    A = rng.standard_normal((3, 3))
    lam = rng.standard_normal((DRAWS, 3)) @ A.T
    x, z = rng.standard_normal((2, 1))

    def phi(x):
        return np.array([g(x[0]) for g in ACTIVATIONS])

    return {
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\boldsymbol\lambda": Sample(lam),
        r"\boldsymbol\Sigma": A @ A.T,
        r"\boldsymbol\phi": phi,
        "f": lambda x: Sample(lam @ phi(x)),
    }


@world("eq-gp-31")
def _(rng):
    D, units, P, L = 3, 2, 3, 2
    h = rng.standard_normal(D)
    W, Lambda = (
        rng.standard_normal((units, D)),
        rng.standard_normal((units, P)),
    )
    layer = networks.mixed_activations([h], W, Lambda, ACTIVATIONS)[0]
    return {
        "P": P,
        "i": range(1, units + 1),
        "l": L,
        "h_^": {(i + 1, L): layer[i] for i in range(units)},
        r"\mathbf h^": {L - 1: h, L: layer},
        r"\mathbf w_^": {(i + 1, L): W[i] for i in range(units)},
        r"\lambda_^": {
            (i + 1, L, m + 1): Lambda[i, m]
            for i in range(units)
            for m in range(P)
        },
        r"\phi_": ACTIVATIONS,
    }


def hermite(n=40):
    """Nodes and weights for the mean over a standard normal number."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    return nodes, weights / weights.sum()


@world("eq-net-update")
def _(rng):
    beta, y, m_w, s_w = rng.uniform(0.4, 2.0, size=4)
    q = mean_field.MeanField(0.0, 1.0, m_w, s_w)
    new = mean_field.update(q, y, beta)
    return {
        r"\beta": beta,
        "y": y,
        "m_w": m_w,
        "s_w": s_w,
        r"m_\lambda": new.m_lam,
        r"s_\lambda": new.s_lam,
    }


@world("eq-net-bound", tolerance=1e-6)
def _(rng):
    """The bound by the library; ln p(y) by quadrature over λ and w."""
    beta, y = rng.uniform(0.4, 2.0, size=2)
    q = mean_field.MeanField(*rng.uniform(0.3, 1.2, size=4))
    lam = q.m_lam + np.sqrt(q.s_lam) * rng.standard_normal(DRAWS)
    w = q.m_w + np.sqrt(q.s_w) * rng.standard_normal(DRAWS)
    z, weights = hermite()
    likelihood = norm.pdf(y, np.outer(z, z), beta**-0.5)
    joint = norm.pdf(y, lam * w, beta**-0.5) * norm.pdf(lam) * norm.pdf(w)
    return {
        "q": q,
        r"\mathcal L(q)": mean_field.evidence_bound(q, y, beta),
        r"p(y)": weights @ likelihood @ weights,
        r"p(y, \lambda, w)": Sample(joint),
        r"q(\lambda)": Sample(norm.pdf(lam, q.m_lam, np.sqrt(q.s_lam))),
        r"q(w)": Sample(norm.pdf(w, q.m_w, np.sqrt(q.s_w))),
    }


@world("eq-gp-32")
def _(rng):
    """One weight, one coefficient, y = λ tanh(wx) + noise, one datum seen."""
    x, y, seen_x, seen_y = rng.uniform(0.3, 1.5, size=4)

    def likelihood(y, x, w, lam):
        return norm.pdf(y, lam * np.tanh(w * x), 2.0)

    grid = np.linspace(-8, 8, 401)  # the trapezoidal rule, against Gauss's
    w, lam = np.meshgrid(grid, grid)
    seen = likelihood(seen_y, seen_x, w, lam) * norm.pdf(w) * norm.pdf(lam)
    evidence, step = seen.sum(), 16 / 400
    both = likelihood(y, x, w, lam) * seen
    nodes = np.linspace(-6, 6, 33), np.full(33, 0.375)
    return {
        r"p(\mathbf y \mid \mathbf x, \mathcal D)": both.sum() / evidence,
        r"p(\mathbf y \mid \mathbf x, \mathbf w, \boldsymbol\lambda)": Of(
            r"\mathbf w",
            r"\boldsymbol\lambda",
            lambda w, lam: likelihood(y, x, w, lam),
        ),
        r"p(\mathbf w, \boldsymbol\lambda \mid \mathcal D)": Of(
            r"\mathbf w",
            r"\boldsymbol\lambda",
            lambda w, lam: (
                likelihood(seen_y, seen_x, w, lam)
                * norm.pdf(w)
                * norm.pdf(lam)
                / (evidence * step**2)
            ),
        ),
        r"d\mathbf w": nodes,
        r"d\boldsymbol\lambda": nodes,
    }


@world("eq-gp-33")
def _(rng):
    """Whole units are drawn; the integrals run over one weight and one λ."""
    means, h = rng.uniform(0.5, 1.5, size=3), rng.uniform(0.4, 1.2)
    w = 0.9 + 0.6 * rng.standard_normal(DRAWS)
    Lambda = means + 0.5 * rng.standard_normal((DRAWS, 3))

    def unit(h):
        """Every activation of the unit, each draw with its own weights."""
        mixed = [phi(w * h[0]) for phi in ACTIVATIONS]
        return Sample((Lambda * np.transpose(mixed)).sum(axis=1))

    grid = np.arange(-1.5, 3.6, 0.5)  # finer than the densities are narrow
    return {
        "P": 3,
        "i": 2,
        "l": 1,
        "h_^": {(2, 1): unit},
        r"\mathbf h^": {0: np.array([h])},
        r"\phi_": ACTIVATIONS,
        r"q(\mathbf w_i^{(l)})": Of(
            r"\mathbf w_i^{(l)}", lambda w: norm.pdf(w, 0.9, 0.6)
        ),
        r"q(\lambda_i^{(l,m)})": Of(
            r"\lambda_i^{(l,m)}",
            "m",
            lambda lam, m: norm.pdf(lam, means[int(m) - 1], 0.5),
        ),
        r"d\mathbf w_i^{(l)}": (grid[:, None], np.full(len(grid), 0.5)),
        r"d\lambda_i^{(l,m)}": (grid, np.full(len(grid), 0.5)),
    }


@world("eq-mix-wide")
def _(rng):
    """Networks of three mixed units, with coins for coefficients."""
    x, z = rng.standard_normal((2, 2))
    s, H = np.array([0.8, 1.5]), 3
    W = rng.standard_normal((DRAWS, H, 2))
    coins = np.sqrt(s) * rng.choice([-1, 1], (DRAWS, H, 2))

    def f(x):
        a = W @ x
        units = coins[..., 0] * networks.relu(a) + coins[..., 1] * erf(a)
        return Sample(units.sum(axis=1) / np.sqrt(H))

    return {
        "P": 2,
        "s_": s,
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\mathbf w": Sample(rng.standard_normal((DRAWS, 2))),
        r"\phi_": [networks.relu, erf],
        "f": f,
    }


@world("eq-mix-products")
def _(rng):
    """A layer of two mixed units, its outputs weighted."""
    W, Lambda = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    x, v = rng.standard_normal(3), rng.standard_normal(2)
    pairs = [(j, m) for j in range(2) for m in range(3)]
    return {
        "H": 2,
        "P": 3,
        r"\mathbf x": x,
        "v_": v,
        r"\lambda_^": {(j + 1, m + 1): Lambda[j, m] for j, m in pairs},
        "c_^": {(j + 1, m + 1): (v[:, None] * Lambda)[j, m] for j, m in pairs},
        r"\mathbf w_": W,
        r"\phi_": ACTIVATIONS,
    }


@world("eq-mix-forward")
def _(rng):
    """Discrete distributions, and their divergences by a loop."""
    p = rng.dirichlet(np.ones(12)).reshape(3, 4)
    q1, q2 = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))

    def kl(a, b):
        pairs = zip(np.ravel(a), np.ravel(b), strict=True)
        return sum(u * np.log(u / v) for u, v in pairs)

    p1, p2 = p.sum(axis=1), p.sum(axis=0)
    return {
        r"\mathrm{KL}(p \,\|\, q_\lambda q_w)": kl(p, np.outer(q1, q2)),
        r"\mathrm{KL}(p \,\|\, p_\lambda p_w)": kl(p, np.outer(p1, p2)),
        r"\mathrm{KL}(p_\lambda \,\|\, q_\lambda)": kl(p1, q1),
        r"\mathrm{KL}(p_w \,\|\, q_w)": kl(p2, q2),
    }


# Of relations in sentences ---------------------------------------------------


def seen_by_data(rng, Lambda, v):
    """Coefficients of the features, solved from outputs of the network."""
    W, X = rng.standard_normal((2, 2)), rng.standard_normal((20, 2))
    units = networks.mixed_activations(X, W, Lambda, ACTIVATIONS)
    features = np.column_stack([phi(X @ w) for w in W for phi in ACTIVATIONS])
    c, *_ = np.linalg.lstsq(features, units @ v, rcond=None)
    pairs = [(j, m) for j in range(2) for m in range(3)]
    return {
        "j": range(1, 3),
        "m": range(1, 4),
        "v_": v,
        r"\lambda_^": {(j + 1, m + 1): Lambda[j, m] for j, m in pairs},
        r"\boldsymbol\lambda_": Lambda,
        r"\lambda_": Lambda[0],
        "c_^": {(j + 1, m + 1): c[3 * j + m] for j, m in pairs},
        r"\mathbf c_": c.reshape(2, 3),
    }


@world("inline: what the data see", tolerance=1e-8)
def _(rng):
    """Also where weights and coefficients have the same size."""
    v, Lambda = rng.standard_normal(2), rng.standard_normal((2, 3))
    sizes = np.linalg.norm(Lambda, axis=1)
    return [
        seen_by_data(rng, Lambda, v),
        seen_by_data(rng, Lambda, sizes * np.sign(v)) | {"@tight": True},
    ]


@world("inline: one combination for all units", tolerance=1e-8)
def _(rng):
    Lambda = np.tile(rng.standard_normal(3), (2, 1))
    return seen_by_data(rng, Lambda, rng.standard_normal(2))


@world("inline: a ratio of densities")
def _(rng):
    return {"v": Each([0.2, 1.0, 1.0 + rng.uniform(0.1, 2.0)])}


@world("inline: a number of either sign")
def _(rng):
    z = rng.uniform(0.5, 2.0)
    return {"z": Each([z, -z])}


def settled(beta, y):
    q = mean_field.MeanField(0.0, 1.0, 1.0, 1.0)
    for _ in range(1000):
        q = mean_field.update(q, y, beta)
    return {
        r"\beta": beta,
        "y": y,
        r"m_\lambda": q.m_lam,
        r"s_\lambda": q.s_lam,
        "m_w": q.m_w,
        "s_w": q.s_w,
        "m": q.m_w,
        "s": q.s_w,
    }


@world("inline: a fixed point that is not zero", tolerance=1e-6)
def _(rng):
    """The y at which m is a given small number, by search."""
    beta, m = rng.uniform([0.5, 0.3], [2.0, 0.5])
    y = brentq(lambda y: settled(beta, y)["m"] - m, 0.5, 9.0, xtol=1e-3)
    return settled(beta, y)


@world("inline: below the threshold")
def _(rng):
    beta = rng.uniform(0.5, 2.0)
    return settled(beta, 0.9 * (1 + np.sqrt(1 + 4 * beta)) / (2 * beta))


@world("inline: the best product for a correlated Gaussian", tolerance=1e-6)
def _(rng):
    """By search: the divergence of two Gaussians, of which q is diagonal."""
    rho = rng.uniform(0.3, 0.9)
    Sigma = np.array([[1, rho], [rho, 1]])
    Lambda = np.array([[1, -rho], [-rho, 1]]) / (1 - rho**2)

    def divergence(u):
        S = np.diag(np.exp(u))
        return np.trace(Lambda @ S) - np.linalg.slogdet(Lambda @ S)[1]

    s = np.exp(minimize(divergence, [0.0, 0.0], tol=1e-12).x)
    return {
        r"\rho": rho,
        r"\boldsymbol\Sigma": Sigma,
        r"\boldsymbol\Lambda": Lambda,
        r"\Lambda_{11}": Lambda[0, 0],
        "s_": s,
    }


@world("inline: a weight that is rectified")
def _(rng):
    sigma = rng.uniform(0.5, 2.0)
    return {
        r"\sigma": sigma,
        "w": Sample(1 + sigma * rng.standard_normal(DRAWS)),
        r"\mathcal{\Phi}": norm.cdf,
    }


@world("inline: a unit after a unit")
def _(rng):
    h = networks.relu(rng.standard_normal(6))
    return {"h": Each(h), "w_2": Each([-1.3, 0.7])}
