"""Lagrangian duality and support vectors."""

from kernelbook import duality

from .common import M, N, of, world


@world("duality.objective")
def _(p):
    return programme(p)


@world("duality.lagrangian")
def _(p):
    return programme(p)


def programme(p):
    P, w = p.K[:M, :M], p.w
    qp = duality.QuadraticProgram(
        P, p.t[:M], p.Phi, p.a, p.Phi[:2] + 1, p.t[3:]
    )
    mu, nu = p.rng.uniform(0.2, 1, N), p.rng.standard_normal(2)
    return {
        "P": P, "q": p.t[:M], "G": p.Phi, "h": p.a, "A": p.Phi[:2] + 1,
        "b": p.t[3:], "w": w, r"\mu": mu, r"\nu": nu,
        "f": of(duality.objective(qp, w)),
        r"\mathcal L": of(duality.lagrangian(qp, w, mu, nu)),
    }  # fmt: skip
