"""Chapter 19: soft margins, kernels and the SVM dual."""

from functools import cache
from types import SimpleNamespace

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit
from sklearn.svm import SVC
from typeset import Each

from kernelbook import kernels, svm, toydata

from . import world

N, D = 9, 2


@cache
def data(seed):
    """Two classes that overlap, and the machine, with all kinds of points.

    The first and the last point pay, so that no sum may leave them out.
    """
    rng = np.random.default_rng(seed)
    t = np.array([1.0, -1, -1, 1, 1, -1, 1, -1, 1])
    X = rng.standard_normal((N, D)) + 0.8 * np.outer(t, [0.9, -0.5])
    K, C = kernels.Polynomial(degree=2, c=1.0)(X), rng.uniform(0.3, 0.8)
    machine = svm.fit_dual(K, t, C)
    kinds = len(machine.free), len(machine.bounded), N - len(machine.support)
    if min(kinds) == 0 or min(machine.alpha[[0, -1]]) < C:
        return data(seed + 1)
    return SimpleNamespace(
        X=X, t=t, C=C, K=K, machine=machine, Phi=np.array([phi(x) for x in X])
    )


def phi(x):
    """Features whose inner product is the kernel (xᵀx' + 1)²."""
    x1, x2 = x
    crossed = np.sqrt(2) * np.array([x1 * x2, x1, x2])
    return np.array([x1**2, x2**2, *crossed, 1.0])


def problem(rng):
    """Weights, bias, slacks and multipliers that solve nothing."""
    p = data(int(rng.integers(1 << 30)))
    w, b = rng.standard_normal(p.Phi.shape[1]) / 2, rng.standard_normal()
    return p, {
        "N": N,
        "n": range(1, N + 1),
        "C": p.C,
        r"\mathbf x_": p.X,
        r"\mathbf t": p.t,
        r"\boldsymbol\phi": phi,
        "k": lambda x, z: (x @ z + 1) ** 2,
        r"\mathbf w": w,
        "b": b,
        "y": lambda x: w @ phi(x) + b,
        r"\boldsymbol\xi": rng.uniform(0.2, 2.0, N),
        r"\boldsymbol\alpha": multipliers(p, rng),
        r"\boldsymbol\mu": rng.uniform(0.2, 2.0, N),
    }


def multipliers(p, rng):
    """In the box, with the same sum in both classes."""
    alpha = rng.uniform(0.1, 1.0, N)
    for side in (p.t > 0, p.t < 0):
        alpha[side] /= alpha[side].sum()
    return p.C * alpha


def lagrangian(p, bound, **changed):
    """The library's, at the bound values or others."""
    at = {
        "w": bound[r"\mathbf w"],
        "b": bound["b"],
        "xi": bound[r"\boldsymbol\xi"],
        "alpha": bound[r"\boldsymbol\alpha"],
        "mu": bound[r"\boldsymbol\mu"],
    } | changed
    return svm.lagrangian(**at, Phi=p.Phi, t=p.t, C=p.C)


def lowest_weights(p, bound, alpha):
    """The bottom of L, a bowl of curvature one in each weight."""
    unit = np.eye(p.Phi.shape[1])
    return (
        np.array(
            [
                lagrangian(p, bound, w=-e, alpha=alpha)
                - lagrangian(p, bound, w=e, alpha=alpha)
                for e in unit
            ]
        )
        / 2
    )


def smallest_slacks(p, y):
    """By linear programming: ξ ≥ 0 and t·y ≥ 1 − ξ."""
    return linprog(np.ones(N), A_ub=-np.eye(N), b_ub=p.t * y - 1).x


def solution(p):
    """The machine's weights, through the features, and what they cost."""
    w = p.Phi.T @ p.machine.coefficients
    return {
        r"\mathbf w": w,
        "b": p.machine.b,
        "y": lambda x: w @ phi(x) + p.machine.b,
        r"\boldsymbol\xi": smallest_slacks(p, p.Phi @ w + p.machine.b),
        r"\boldsymbol\alpha": p.machine.alpha,
    }


@world("eq-svm-primal")
def _(rng):
    """The dual value is reached from above, and never undercut."""
    p, bound = problem(rng)
    best = solution(p)
    w, b, xi = best[r"\mathbf w"], best["b"], best[r"\boldsymbol\xi"]
    found = [(w, b, xi), (w, b, xi + 0.1), (0.9 * w, b, xi)]
    found.append((w, b, 1 - p.t * (p.Phi @ w + b)))  # some are below zero
    found += [(w, b, xi - 0.3 * e) for e in np.eye(N)[[0, 4]]]
    for _ in range(2):
        moved = w + rng.normal(scale=0.2, size=len(w))
        found.append((moved, b, smallest_slacks(p, p.Phi @ moved + b)))
    return bound | {
        r"\min_{\mathbf w, b, \boldsymbol\xi}": [
            {r"\mathbf w": w, "b": b, r"\boldsymbol\xi": xi}
            for w, b, xi in found
        ],
        "=": p.machine.dual,
    }


@world("eq-svm-slack")
def _(rng):
    p, bound = problem(rng)
    y = np.array([bound["y"](x) for x in p.X])
    return bound | {r"\boldsymbol\xi": smallest_slacks(p, y)}


@world("eq-svm-hinge", "eq-svm-lambda")
def _(rng):
    p, bound = problem(rng)
    lam = 1 / p.C

    def J(w, b):
        return svm.slack(p.Phi @ w + b, p.t).sum() + lam / 2 * sum(w**2)

    return bound | {
        r"\lambda": lam,
        "J": J,
        "P": lambda w, b: svm.primal_objective(w, b, p.Phi, p.t, p.C),
    }


@world("eq-svm-lagrangian")
def _(rng):
    p, bound = problem(rng)
    bound |= {r"\boldsymbol\alpha": rng.uniform(0.2, 2.0, N)}
    return bound | {r"\mathcal L": lagrangian(p, bound)}


@world("eq-svm-w")
def _(rng):
    """For any multipliers, where the Lagrangian is lowest."""
    p, bound = problem(rng)
    alpha = bound[r"\boldsymbol\alpha"]
    return bound | {r"\mathbf w": lowest_weights(p, bound, alpha)}


@world("eq-svm-sum", "eq-svm-box")
def _(rng):
    p, bound = problem(rng)
    return bound | {r"\boldsymbol\alpha": p.machine.alpha}


@world("eq-svm-mu")
def _(rng):
    """The prices of ξ ≥ 0 that leave the Lagrangian flat in ξ."""
    p, bound = problem(rng)
    free = np.zeros(N)
    slopes = [
        lagrangian(p, bound, mu=free, xi=e)
        - lagrangian(p, bound, mu=free, xi=free)
        for e in np.eye(N)
    ]
    return bound | {r"\boldsymbol\mu": np.array(slopes)}


@world("eq-svm-dual")
def _(rng):
    """The lowest value of the Lagrangian over weights, bias and slacks."""
    p, bound = problem(rng)
    return bound | {
        "m": range(1, N + 1),
        "G": lambda alpha: lagrangian(
            p,
            bound,
            w=lowest_weights(p, bound, alpha),
            alpha=alpha,
            mu=p.C - alpha,
        ),
    }


@world("eq-svm-kkt")
def _(rng):
    p, bound = problem(rng)
    return bound | solution(p)


@world("eq-svm-gap")
def _(rng):
    """Any multipliers, their weights, and any bias."""
    p, bound = problem(rng)
    alpha, b = bound[r"\boldsymbol\alpha"], bound["b"]
    w = p.Phi.T @ (alpha * p.t)
    return bound | {
        r"\mathbf w": w,
        "y": lambda x: w @ phi(x) + b,
        r"\boldsymbol\xi": smallest_slacks(p, p.Phi @ w + b),
        "P": svm.primal_objective(w, b, p.Phi, p.t, p.C),
        "G": svm.dual_objective(alpha, p.K, p.t),
    }


@world("eq-svm-b")
def _(rng):
    p, bound = problem(rng)
    return bound | {
        r"\boldsymbol\alpha": p.machine.alpha,
        "b": p.machine.b,
        "s": Each(int(n) + 1 for n in p.machine.free),
    }


@world("eq-svm-b-interval")
def _(rng):
    """For any weights, the biases of least cost; for the best, just one."""
    p, bound = problem(rng)
    best = p.Phi.T @ p.machine.coefficients
    worlds = []
    for w in (bound[r"\mathbf w"], best):
        e = p.t - p.Phi @ w
        costs = np.array(
            [svm.primal_objective(w, b, p.Phi, p.t, p.C) for b in e]
        )
        cheap = e[costs <= costs.min() * (1 + 1e-12)]
        worlds.append(
            {
                "e_": np.sort(e),
                "N_+": int(sum(p.t > 0)),
                "b": Each([cheap.min(), cheap.mean(), cheap.max()]),
            }
        )
    worlds[1]["@tight"] = True
    return worlds


@world("eq-svm-decision")
def _(rng):
    p, bound = problem(rng)
    return bound | solution(p) | {r"\mathbf x": rng.standard_normal(D)}


@world("eq-svm-no-bias")
def _(rng):
    """The primal value is reached from below, and never passed."""
    p, bound = problem(rng)
    machine = svm.fit_dual(p.K, p.t, p.C, bias=False)
    best = machine.alpha
    found = [best, *(best * rng.uniform(0.5, 1.0, (4, N)))]
    found += [best + step for step in 0.2 * np.eye(N)]
    found += [best - step for step in 0.2 * np.eye(N)]
    return bound | {
        "G": lambda alpha: svm.dual_objective(alpha, p.K, p.t),
        r"\max_{\boldsymbol\alpha}": [
            {r"\boldsymbol\alpha": a} for a in found
        ],
        "=": svm.primal_objective(
            p.Phi.T @ machine.coefficients, 0.0, p.Phi, p.t, p.C
        ),
    }


@world("eq-svm-smo")
def _(rng):
    """Where a search along the pair ends: inside, and at either bound."""
    p = data(int(rng.integers(1 << 30)))
    low, high = np.minimum(0.0, p.C * p.t), np.maximum(0.0, p.C * p.t)
    found = {}
    while len(found) < 3:
        a = low + (high - low) * rng.uniform(0, 1, N)
        e = p.t - p.K @ a
        i, j = rng.permutation(N)[:2]
        if e[i] <= e[j]:
            continue
        limits = np.array([np.inf, high[i] - a[i], a[j] - low[j]])

        def loss(s, a=a, i=i, j=j):
            v = a.copy()
            v[i], v[j] = v[i] + s, v[j] - s
            return v @ p.K @ v / 2 - p.t @ v

        # A parabola, from its values at -1, 0 and 1.
        below, here, above = (loss(s) for s in (-1.0, 0.0, 1.0))
        limits[0] = (below - above) / 2 / (below + above - 2 * here)
        found[int(limits.argmin())] = {
            "s": limits.min(),
            "i": int(i) + 1,
            "j": int(j) + 1,
            "e_": e,
            "u_": high,
            "l_": low,
            "a_": a,
            r"\mathbf K": p.K,
        }
    return list(found.values())


@world("eq-svm-cv", "eq-svm-cv-error")
def _(rng):
    """Scores counted by hand, of machines of scikit-learn."""
    count, folds = 30, 3
    X, t = toydata.two_blobs(count, 1.0, rng)
    fold = rng.permutation(count) % folds
    C, gamma = rng.uniform(0.5, 2.0), rng.uniform(5.0, 20.0)

    def machine(minus_F):
        rest = fold != -minus_F - 1
        fit = SVC(C=C, gamma=gamma, tol=1e-8).fit(X[rest], t[rest])
        return lambda x: fit.decision_function(x[None])[0]

    def wrong(C, gamma):
        K = kernels.Gaussian(gamma)(X)
        return t * svm.left_out(K, t, C, fold) < 0

    return {
        "N": count,
        "n": range(1, count + 1),
        "C": C,
        r"\gamma": gamma,
        r"\mathbf x_": X,
        r"\mathbf t": t,
        "F": lambda n: int(fold[n - 1]) + 1,
        "y_": machine,
        "E": lambda C, gamma: wrong(C, gamma).mean(),
        r"\operatorname{se}": lambda C, gamma: (
            wrong(C, gamma).std() / np.sqrt(count)
        ),
    }


# Of relations in sentences ---------------------------------------------------


def machine(keep):
    """The solution, its weights where the Lagrangian is lowest."""

    def build(rng):
        p, bound = problem(rng)
        a, both = p.machine.coefficients, solution(p)
        kept = np.flatnonzero(keep(p.machine.alpha, p.C)) + 1
        return bound | {
            **both,
            r"\mathbf w": lowest_weights(p, bound, p.machine.alpha),
            r"\boldsymbol\Phi": p.Phi,
            r"\mathbf a": a,
            "y_": np.array([both["y"](x) for x in p.X]),
            "e_": p.t - p.K @ a,
            "l_": np.minimum(0.0, p.C * p.t),
            "u_": np.maximum(0.0, p.C * p.t),
            "s": Each(int(i) + 1 for i in p.machine.free),
            "n": range(1, N + 1) if len(kept) == N else Each(kept),
        }

    return build


def any_weights(keep):
    """Of weights that solve nothing, until two examples are kept."""

    def build(rng):
        while True:
            p, bound = problem(rng)
            e = p.t - p.Phi @ bound[r"\mathbf w"]
            y = p.t - e + bound["b"]
            xi = smallest_slacks(p, y)
            kept = np.flatnonzero(keep(p.t, y, xi)) + 1
            if len(kept) > 1:
                return bound | {
                    "e_": e,
                    r"\boldsymbol\xi": xi,
                    "n": Each(kept),
                }

    return build


CHOSEN = {
    "the machine": machine(lambda alpha, C: alpha >= 0),
    "beyond the margin": machine(lambda alpha, C: alpha == 0),
    "free support vectors": machine(lambda a, C: (a > 0) & (a < C)),
    "no slack": machine(lambda alpha, C: alpha < C),
    "bounded": machine(lambda alpha, C: alpha == C),
    "positive examples that cost": any_weights(
        lambda t, y, xi: (t > 0) & (xi > 0)
    ),
    "negative examples that cost": any_weights(
        lambda t, y, xi: (t < 0) & (xi > 0)
    ),
    "inside the margin but right": any_weights(
        lambda t, y, xi: (t * y > 0) & (xi > 0)
    ),
    "errors": any_weights(lambda t, y, xi: t * y < 0),
}
for name, build in CHOSEN.items():
    world(f"inline: {name}")(build)


@world("inline: any output")
def _(rng):
    _, bound = problem(rng)
    return bound | {"y": Each(rng.normal(scale=2.0, size=4))}


def priced(rng, step):
    """Multipliers that leave L flat in b and ξ; w so far from the bottom."""
    p, bound = problem(rng)
    alpha = bound[r"\boldsymbol\alpha"]
    w = lowest_weights(p, bound, alpha)
    w += step * rng.standard_normal(len(w))
    return {
        r"\mathcal L": lagrangian(p, bound, w=w, mu=p.C - alpha),
        "G": svm.dual_objective(alpha, p.K, p.t),
    }


@world("inline: prices that leave no slope")
def _(rng):
    return priced(rng, 0.0)


@world("inline: off the bottom")
def _(rng):
    return priced(rng, 0.3)


@world("inline: a price for each example", tolerance=1e-6)
def _(rng):
    p, bound = problem(rng)
    prices = rng.uniform(0.3, 1.5, N)
    fit = SVC(C=1.0, kernel="precomputed", tol=1e-9)
    fit.fit(p.K, p.t, sample_weight=prices)
    alpha = np.zeros(N)
    alpha[fit.support_] = np.abs(fit.dual_coef_[0])
    return bound | {r"\boldsymbol\alpha": alpha, "C_": prices}


@world("inline: a smooth loss", tolerance=1e-5)
def _(rng):
    """The logistic one; five examples, so that w tells their coefficients."""
    p, bound = problem(rng)
    Phi, t = p.Phi[:5], p.t[:5]
    w = minimize(
        lambda w: w @ w / 2 + p.C * np.logaddexp(0, -t * (Phi @ w)).sum(),
        np.zeros(Phi.shape[1]),
        options={"gtol": 1e-9},
    ).x
    return bound | {
        "n": range(1, 6),
        r"\mathbf t": t,
        "y_": Phi @ w,
        r"\mathbf a": np.linalg.lstsq(Phi.T, w, rcond=None)[0],
        r"\ell'": lambda m: -expit(-m),
    }


def two_points(C):
    """x = ±1, with w through the inputs."""
    x = np.array([1.0, -1.0])
    fit = svm.fit_dual(np.outer(x, x), x, C)
    return {
        "C": C,
        r"\alpha_": fit.alpha,
        r"\alpha": fit.alpha.mean(),
        "w": x @ fit.coefficients,
        "e": (x - np.outer(x, x) @ fit.coefficients)[None],  # a row
        "G": fit.dual,
        "b": Each(fit.b_interval),
        "@tight": True,  # at both ends
    }


@world("inline: two points, a high price")
def _(rng):
    return two_points(rng.uniform(0.6, 2.0))


@world("inline: two points, a low price")
def _(rng):
    return two_points(rng.uniform(0.1, 0.45))


@world("inline: the machine at two prices", tolerance=1e-6)
def _(rng):
    p, _ = problem(rng)
    C = np.array([p.C, p.C * rng.uniform(1.5, 3.0)])
    fits = [svm.fit_dual(p.K, p.t, c) for c in C]
    w = np.array([p.Phi.T @ fit.coefficients for fit in fits])
    y = [p.Phi @ v + fit.b for v, fit in zip(w, fits, strict=True)]
    S = np.array([smallest_slacks(p, v).sum() for v in y])
    values = np.array([fit.dual for fit in fits])
    return {
        "i": range(1, 3),
        "C_": C,
        r"\mathbf w_": w,
        "S_": S,
        "W_": values - C * S,
    }


@world("inline: squared slacks")
def _(rng):
    """μ where ½Cξ² − αξ − μξ is flat."""
    p, bound = problem(rng)
    xi, alpha = bound[r"\boldsymbol\xi"], bound[r"\boldsymbol\alpha"]

    def cost(xi):
        return p.C / 2 * xi**2 - alpha * xi

    return bound | {r"\boldsymbol\mu": (cost(xi + 1) - cost(xi - 1)) / 2}


@world("inline: the best squared slacks", tolerance=1e-6)
def _(rng):
    p, bound = problem(rng)
    hard = svm.fit_dual(p.K + np.eye(N) / p.C, p.t, 1e6)
    y = p.K @ hard.coefficients + hard.b
    return bound | {
        r"\boldsymbol\xi": smallest_slacks(p, y),
        r"\boldsymbol\alpha": hard.alpha,
    }
