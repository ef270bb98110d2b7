"""Chapter 24: sums over rows, what they cost, and an error over days."""

import numpy as np
from scipy.optimize import brentq

from kernelbook import distributed

from . import world
from .common import ridge_problem

CUTS = [(0, 2), (2, 3), (3, 7)]


def problem(rng):
    """Rows in three blocks of different sizes, with what each becomes."""
    p = ridge_problem(rng, N=7)
    parts = [distributed.partial_sums(p.Phi[a:b], p.t[a:b]) for a, b in CUTS]
    return p, {
        "N": p.N,
        "M": p.M,
        "B": len(CUTS),
        r"\lambda": p.lam,
        r"\boldsymbol\Phi": p.Phi,
        r"\mathbf t": p.t,
        r"\boldsymbol\Phi_": [p.Phi[a:b] for a, b in CUTS],
        r"\mathbf t_": [p.t[a:b] for a, b in CUTS],
        r"\mathbf A_": [part.A for part in parts],
        r"\mathbf r_": [part.r for part in parts],
    }


@world("eq-many-gram", "eq-many-moment")
def _(rng):
    return problem(rng)[1]


@world("eq-many-weights")
def _(rng):
    """The weights by least squares with more rows."""
    p, bound = problem(rng)
    return bound | {r"\mathbf w": p.w}


@world("eq-many-error")
def _(rng):
    """Any weights, and sums entry by entry."""
    p, bound = problem(rng)
    A = sum(np.outer(row, row) for row in p.Phi)
    r = sum(row * t for row, t in zip(p.Phi, p.t, strict=True))
    return bound | {
        r"\mathbf w": rng.standard_normal(p.M),
        r"\mathbf A": A,
        r"\mathbf r": r,
    }


@world("eq-many-bytes", "eq-many-crossing")
def _(rng):
    """The bytes of the arrays that a block becomes."""
    worlds = []
    for M, D in [(3, 1), (5, 2), (8, 20)]:
        X = rng.standard_normal((30, D))
        made = distributed.partial_sums(rng.standard_normal((30, M)), X[:, 0])
        triangle = made.A[np.triu_indices(M)]
        size = triangle.nbytes + made.r.nbytes
        size += np.float64(made.tt).nbytes + np.int64(made.N).nbytes
        row = np.append(X[0], 0.0).nbytes
        worlds.append({"M": M, "D": D, "c_b": size, "n_0": size / row})
    return worlds


@world("eq-many-time")
def _(rng):
    """Seconds of each worker, of the wire and of the end, one by one."""
    c_0, c_1, c_2, c_3, c_b, v = rng.uniform(0.5, 2.0, 6)
    M, B, W, per_block = 3, 6, 2, 5
    busy = np.zeros(W)
    wire = 0.0
    for block in range(B):
        for _ in range(per_block):
            busy[block % W] += sum([c_1] * M) + sum([c_2] * M**2)
        wire += c_0
        wire += c_b / v
    return {
        "T": busy.max() + wire + c_3 * M * M * M,
        "N": B * per_block,
        "M": M,
        "B": B,
        "W": W,
        "c_0": c_0,
        "c_1": c_1,
        "c_2": c_2,
        "c_3": c_3,
        "c_b": c_b,
        "v": v,
    }


@world("eq-many-best")
def _(rng):
    """Where a tenth more workers take as long as a tenth fewer.

    For a/W + bW that is where it is lowest.
    """
    c_0, c_1, c_2, c_b, v = rng.uniform(0.5, 2.0, 5)
    N, M, q = 1000, 3, 4

    def seconds(W):
        rows = sum([N / W * c_1] * M) + sum([N / W * c_2] * M**2)
        return rows + q * W * c_0 + q * W * c_b / v

    found = brentq(lambda W: seconds(1.1 * W) - seconds(W / 1.1), 0.1, 1e4)
    return {
        "W^*": found,
        "N": N,
        "M": M,
        "q": q,
        "c_0": c_0,
        "c_1": c_1,
        "c_2": c_2,
        "c_b": c_b,
        "v": v,
    }


@world("eq-many-ratio", "eq-many-se", tolerance=1e-6)
def _(rng):
    """The jackknife to first order: each day weighed a little more."""
    J = 6
    n = rng.integers(3, 9, J).astype(float)
    S = rng.uniform(1.0, 4.0, J) * n
    flights = np.repeat(S / n, n.astype(int))

    def ratio(weights):
        return weights @ S / (weights @ n)

    step = 1e-5
    slopes = np.array(
        [
            (ratio(1 + step * e) - ratio(1 - step * e)) / (2 * step)
            for e in np.eye(J)
        ]
    )
    return {
        "J": J,
        "R": flights.mean(),
        "S_": S,
        "n_": n,
        "s_R": np.sqrt(J * slopes.var(ddof=1)),
    }


@world("eq-many-variance")
def _(rng):
    one, two = rng.standard_normal(3), 2 + rng.standard_normal(5)
    both = np.append(one, two)
    return {
        "q": both.var() * len(both),
        "q_1": one.var() * len(one),
        "q_2": two.var() * len(two),
        "n_1": len(one),
        "n_2": len(two),
        "m_1": one.mean(),
        "m_2": two.mean(),
    }
