"""Lagrangian duality."""

import numpy as np

from kernelbook import duality

from .common import M, N, of, slope, world


def programme(p):
    P, w = p.K[:M, :M], p.w
    qp = duality.QuadraticProgram(
        P, p.t[:M], p.Phi, p.a, p.Phi[:2] + 1, p.t[3:]
    )
    mu, nu = p.rng.uniform(0.2, 1, N), p.rng.standard_normal(2)
    return qp, {
        "P": P, "q": p.t[:M], "G": p.Phi, "h": p.a, "A": p.Phi[:2] + 1,
        "b": p.t[3:], "w": w, r"\mu": mu, r"\nu": nu,
        "f": of(duality.objective(qp, w)),
        r"\mathcal L": lambda w, mu, nu: duality.lagrangian(qp, w, mu, nu),
        r"G(\mu, \nu)": duality.dual_function(qp, mu, nu),
    }  # fmt: skip


@world("duality.objective", "duality.lagrangian")
def _(p):
    return programme(p)[1]


@world("duality.QuadraticProgram", "duality")
def _(p):
    qp, known = programme(p)
    return known | {"=": duality.objective(qp, p.w)}


@world("duality.duality_gap")
def _(p):
    qp, known = programme(p)
    mu, nu = known[r"\mu"], known[r"\nu"]
    return known | {"=": duality.duality_gap(qp, p.w, mu, nu, tolerance=1e9)}


@world(
    "duality.dual_function", "duality.recover_primal", "duality.dual_ascent"
)
def _(p):
    """The term that is linear in w is known by the Lagrangian's slope."""
    qp, known = programme(p)
    mu, nu = known[r"\mu"], known[r"\nu"]
    best = duality.recover_primal(qp, mu, nu)
    near = [best + step for step in p.rng.standard_normal((20, M))]
    return known | {
        "w": best, r"\inf_{w}": [{"w": w} for w in (best, *near)],
        "c": slope(lambda w: duality.lagrangian(qp, w, mu, nu), np.zeros(M)),
        r"\nabla_{\mu} G(\mu, \nu)": slope(
            lambda mu: duality.dual_function(qp, mu, nu), mu),
        r"\nabla_{\nu} G(\mu, \nu)": slope(
            lambda nu: duality.dual_function(qp, mu, nu), nu),
        "@tolerance": 1e-8,
    }  # fmt: skip


@world("duality.best_prices")
def _(p):
    g = p.rng.standard_normal((N, 2)) - 0.2
    g[0] = -1.0, -0.5
    f = p.t
    best = duality.best_prices(g, f)
    prices = [best.mu, *p.rng.uniform(0, 2, (20, 2)), *(-np.eye(2) * 3)]
    mixtures = [best.mixture, *np.eye(N), *p.rng.dirichlet(np.ones(N), 20)]
    return {
        "d^*": best.value, "f_": f, "g_": g, "n": range(1, N + 1),
        "i": range(1, 3), r"\min_{v}": [{"v": v} for v in mixtures],
        r"\max_{\mu \ge 0}": [{r"\mu": mu} for mu in prices],
        "@tolerance": 1e-7,
    }  # fmt: skip


@world("duality.conjugate")
def _(p):
    x, f, s = p.a, p.t, p.b
    values = dict(zip(x, f, strict=True))
    return {
        "n": range(1, N + 1), "x_": x, "s": s,
        "f": lambda x: values[x],
        "f^*": lambda s: duality.conjugate(f, x, [s])[0],
    }  # fmt: skip


@world("duality.Residuals.stationarity")
def _(p):
    """In one variable, where the largest entry is the only one."""
    P, q, G, A, nu = p.lam, 20.0, p.a, p.b, p.C
    mu = p.rng.uniform(0, 1, N)
    qp = duality.QuadraticProgram(
        [[P]], [q], G[:, None], np.ones(N), [[A]], [1.0]
    )
    found = duality.kkt_residuals(qp, [p.t[0]], mu, [nu])
    return {
        "P": P, "q": q, "G": G, "A": A, r"\mu": mu, r"\nu": nu, "w": p.t[0],
        "=": found.stationarity,
    }  # fmt: skip
