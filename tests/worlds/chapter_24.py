"""Chapter 24: sums over rows, what they cost, and an error over days."""

import numpy as np
from scipy.optimize import brentq

from kernelbook import distributed, kernels, logistic, nystrom

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


@world("eq-many-tree")
def _(rng):
    """Asked one after the other, and added in pairs, by hand for four."""
    c_0, c_1, c_2, c_3, c_b, v = rng.uniform(0.5, 2.0, 6)
    M, W, each = 3, 4, 5
    asked, ready = 0.0, []
    for _ in range(W):
        asked += c_0
        ready.append(asked + each * (sum([c_1] * M) + sum([c_2] * M**2)))
    a = max(ready[0], ready[1]) + c_0 + c_b / v
    b = max(ready[2], ready[3]) + c_0 + c_b / v
    return {
        "T'": max(a, b) + c_0 + c_b / v + c_3 * M * M * M,
        "N": W * each,
        "M": M,
        "W": W,
        "c_0": c_0,
        "c_1": c_1,
        "c_2": c_2,
        "c_3": c_3,
        "c_b": c_b,
        "v": v,
        r"\log_2": np.log2,
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
        "m": both.mean(),
        "q": both.var() * len(both),
        "q_1": one.var() * len(one),
        "q_2": two.var() * len(two),
        "n_1": len(one),
        "n_2": len(two),
        "m_1": one.mean(),
        "m_2": two.mean(),
    }


# Of relations in sentences ---------------------------------------------------


@world("inline: sums of blocks")
def _(rng):
    """The blocks by the library, all rows one by one."""
    p, bound = problem(rng)
    return bound | {
        "b": range(1, len(CUTS) + 1),
        r"\mathbf A": sum(np.outer(row, row) for row in p.Phi),
        r"\mathbf r": sum(row * t for row, t in zip(p.Phi, p.t, strict=True)),
    }


@world("inline: features from landmarks")
def _(rng):
    k, landmarks = kernels.Gaussian(0.3), rng.standard_normal((3, 2))
    phi = nystrom.feature_map(k, landmarks)
    x = rng.standard_normal(2)
    return {
        r"\boldsymbol\phi": lambda x: phi([x])[0],
        r"\mathbf U": phi.factor.U,
        r"\mathbf x": x,
        r"k(\mathbf X_M, \mathbf x)": k(landmarks, [x])[:, 0],
        "k": k,
        r"\mathbf X_M": landmarks,
    }


@world("inline: other days")
def _(rng):
    """R from one set of days, R' from flights on days drawn anew."""
    J = 5
    n, S = rng.integers(3, 9, J), rng.uniform(1.0, 4.0, J)
    drawn = rng.integers(J, size=J)
    flights = np.concatenate([np.full(n[d], S[d] / n[d]) for d in drawn])
    return {
        "J": J,
        "d": range(1, J + 1),
        "R": S.sum() / n.sum(),
        "R'": flights.mean(),
        "S_": S[drawn],
        "n_": n[drawn].astype(float),
    }


@world("inline: outputs of logistic regression")
def _(rng):
    """σ_n as the library's sigmoid has them."""
    Phi, w = rng.standard_normal((5, 3)), rng.standard_normal(3)
    return {
        "n": range(1, 6),
        r"\mathbf w": w,
        r"\boldsymbol\phi_": Phi,
        r"\sigma_": logistic.sigmoid(Phi @ w),
        r"\sigma": lambda z: 1 / (1 + np.exp(-z)),
    }
