"""Chapter 1: linear models and ridge regression."""

from itertools import product
from types import SimpleNamespace

import numpy as np
from scipy import optimize, special, stats
from typeset import Each, From, Sample

from kernelbook import counting, features, ridge

from . import world
from .common import bindings, ridge_problem

DRAWS = 20_000


def anywhere(rng):
    """Weights that solve nothing."""
    p = ridge_problem(rng)
    return p, {**bindings(p), r"\mathbf w": rng.standard_normal(p.M)}


def at_the_optimum(rng):
    """The weights, by least squares."""
    p = ridge_problem(rng)
    return p, {**bindings(p), r"\mathbf w": p.w}


def from_zero(bound):
    """In this chapter features and weights are counted from 0."""
    return bound | {
        r"\phi_": From(0, bound[r"\boldsymbol\phi"]),
        "w_": From(0, bound[r"\mathbf w"]),
    }


@world("eq-linear-model")
def _(rng):
    """The model's output from the dual coefficients of its weights."""
    p, bound = anywhere(rng)
    a = rng.standard_normal(p.N)
    bound[r"\mathbf w"] = p.Phi.T @ a
    y = {"y": lambda x: ridge.predict(a, p.k(p.X, [x]))[0]}
    return from_zero(bound) | y


@world("eq-linear-powers")
def _(rng):
    M = 5
    return {
        "M": M,
        "j": range(M),
        "x": rng.standard_normal(),
        r"\phi_": lambda j: lambda x: features.powers([x], M - 1)[0, j],
    }


@world("eq-linear-bumps")
def _(rng):
    c, s = rng.standard_normal(4), rng.uniform(0.5, 2.0)
    return {
        "x": rng.standard_normal(),
        "c": c,
        "s": s,
        "j": range(1, 5),
        r"\phi": lambda x: features.bumps([x], c, s)[0],
    }


@world("eq-design-matrix")
def _(rng):
    return from_zero(anywhere(rng)[1])


@world("eq-linear-targets")
def _(rng):
    t = rng.standard_normal(5)
    return {"N": 5, r"\mathbf t": t, "t_": dict(enumerate(t, 1))}


@world(
    "eq-ridge-sum",
    "eq-ridge-expanded",
    "eq-ridge-norm-objective",
    "eq-ridge-norm-gradient",
)
def _(rng):
    p, bound = anywhere(rng)
    J = {"J": lambda w: ridge.objective(w, p.Phi, p.t, p.lam)}
    return from_zero(bound) | J


@world("eq-ridge-normal-equations", "eq-ridge-solution")
def _(rng):
    return at_the_optimum(rng)[1]


def directions(p):
    """Eigenvalues of ΦᵀΦ, largest first; vectors from another routine."""
    U, sigma, Vt = np.linalg.svd(p.Phi)
    return {
        "i": range(1, p.M + 1),
        "r": len(sigma),
        r"\mu": np.linalg.eigvalsh(p.Phi.T @ p.Phi)[::-1],
        r"\sigma": sigma,
        r"\mathbf v_": Vt,
        r"\mathbf u_": U.T,
    }


@world("eq-ridge-eigenvalues", "eq-ridge-svd")
def _(rng):
    p, bound = at_the_optimum(rng)
    return bound | directions(p)


@world("eq-ridge-condition")
def _(rng):
    """With more examples than features, so that no eigenvalue is zero."""
    p = ridge_problem(rng, N=9)
    A = p.Phi.T @ p.Phi + p.lam * np.eye(p.M)
    return bindings(p) | directions(p) | {r"\kappa": np.linalg.cond(A)}


@world("eq-ridge-limit", "eq-pseudo-inverse")
def _(rng):
    """Φ has more columns than rows, so Φ⁺ = Φᵀ(ΦΦᵀ)⁻¹."""
    p, bound = at_the_optimum(rng)
    plus = np.linalg.solve(p.K, p.Phi).T
    return bound | directions(p) | {r"\boldsymbol\Phi^+": plus}


@world("eq-ridge-intercept-objective")
def _(rng):
    p, bound = anywhere(rng)
    return bound | {
        "b": rng.standard_normal(),
        "J": lambda w, b: ridge.objective(w, p.Phi, p.t - b, p.lam),
    }


@world("eq-ridge-intercept", "eq-ridge-centred")
def _(rng):
    """Weights and intercept from one system, with a column of ones."""
    p, bound = anywhere(rng)
    ones = np.column_stack([p.Phi, np.ones(p.N)])
    penalty = p.lam * np.diag([1.0] * p.M + [0.0])
    *w, b = np.linalg.solve(ones.T @ ones + penalty, ones.T @ p.t)
    return bound | {
        r"\mathbf w": np.array(w),
        "b": b,
        r"\bar t": p.t.mean(),
        r"\bar{\boldsymbol\phi}": p.Phi.mean(axis=0),
        r"\boldsymbol\Phi_c": p.Phi - p.Phi.mean(axis=0),
        r"\mathbf t_c": p.t - p.t.mean(),
    }


@world(
    "eq-bias-variance",
    "eq-ridge-smoother",
    "eq-ridge-bias",
    "eq-ridge-variance",
)
def _(rng):
    """Ridge regression, fitted again and again to new noise."""
    p, bound = anywhere(rng)
    sigma = rng.uniform(0.5, 1.0)
    h = np.array([3.0 + np.sin(x[0]) for x in p.X])
    targets = h + sigma * rng.standard_normal((DRAWS, p.N))
    fit = np.array([ridge.fit_primal(p.Phi, e, p.lam) for e in np.eye(p.N)])
    return bound | {
        r"\sigma": sigma,
        r"\mathbf h": h,
        "h": lambda x: 3.0 + np.sin(x[0]),
        "y": lambda x: Sample(targets @ fit @ p.phi(x)),
        r"\mathbf s": lambda x: np.array(
            [ridge.fit_primal(p.Phi, e, p.lam) @ p.phi(x) for e in np.eye(p.N)]
        ),
    }


def lasso(p, lam):
    """The lasso's weights: every set of features in use is tried."""
    best, value = np.zeros(p.M), p.t @ p.t / 2
    for signs in product((-1.0, 0.0, 1.0), repeat=p.M):
        used = np.flatnonzero(signs)
        if len(used) == 0:
            continue
        P, sign = p.Phi[:, used], np.array(signs)[used]
        w = np.zeros(p.M)
        w[used] = np.linalg.solve(P.T @ P, P.T @ p.t - lam * sign)
        error = p.Phi @ w - p.t
        cost = error @ error / 2 + lam * np.abs(w).sum()
        if cost < value:
            best, value = w, cost
    return best


def lasso_problem(rng):
    """More examples than features; two features are in use, two are not."""
    p = SimpleNamespace(N=7, M=4)
    p.Phi = rng.standard_normal((p.N, p.M))
    p.t = 2 * p.Phi @ [2.0, -1.0, 0.0, 0.0] + 0.3 * rng.standard_normal(p.N)
    lam = 0.2 * np.abs(p.Phi.T @ p.t).max()
    w = lasso(p, lam)
    return p, {
        "M": p.M,
        "j": range(p.M),
        r"\lambda": lam,
        r"\mathbf t": p.t,
        r"\boldsymbol\Phi": p.Phi,
        r"\mathbf w": w,
        "w_": From(0, w),
        r"\mathbf f_": From(0, p.Phi.T),
    }


@world("eq-lasso-objective")
def _(rng):
    p, bound = lasso_problem(rng)
    w, lam = rng.standard_normal(p.M), bound[r"\lambda"]
    return bound | {
        r"\mathbf w": w,
        "w_": From(0, w),
        "J_1": lambda w: (
            ridge.objective(w, p.Phi, p.t, 0.0) + lam * np.linalg.norm(w, 1)
        ),
    }


def threshold(z, lam):
    """By the two one-sided problems, whose minima are at their vertices."""
    sides = [max(z - lam, 0.0), min(z + lam, 0.0)]
    return min(sides, key=lambda w: (w - z) ** 2 / 2 + lam * abs(w))


@world("eq-lasso-threshold")
def _(rng):
    def at(z, lam):
        near = rng.normal(scale=2 * lam, size=200)
        best = threshold(z, lam)
        return {
            "z": z,
            r"\lambda": lam,
            r"\tau_\lambda": lambda z: threshold(z, lam),
            r"\arg\min_w": [{"w": w} for w in (best, 0.0, *near)],
        }

    lam = rng.uniform(0.5, 2.0)
    return [at(c * lam, lam) for c in (-2.3, 0.6, 1.4)]


@world("eq-lasso-left")
def _(rng):
    """What a step of one weight does to the error, when others stay."""
    p, bound = lasso_problem(rng)
    w = rng.standard_normal(p.M)

    def left(j):
        others = w * (np.arange(p.M) != j)
        return p.Phi[:, j] @ (p.t - p.Phi @ others)

    z = np.array([left(j) for j in range(p.M)])
    return bound | {
        r"\mathbf w": w,
        "w_": From(0, w),
        "z_": From(0, z),
    }


@world("eq-lasso-update", "eq-lasso-kkt")
def _(rng):
    """At the minimum; and the bound is reached where a feature is in use."""
    p, bound = lasso_problem(rng)
    w, lam = bound[r"\mathbf w"], bound[r"\lambda"]
    z = [
        p.Phi[:, j] @ (p.t - p.Phi @ (w * (np.arange(p.M) != j)))
        for j in range(p.M)
    ]
    bound |= {
        "z_": From(0, np.array(z)),
        r"\tau_\lambda": lambda z: threshold(z, lam),
    }
    used = [int(j) for j in np.flatnonzero(w)]
    return [bound, bound | {"j": Each(used), "@tight": True}]


@world("eq-linear-link")
def _(rng):
    """Counts whose log-mean is linear in the features."""
    p, bound = anywhere(rng)
    w = bound[r"\mathbf w"] / np.abs(bound[r"\mathbf w"] @ p.phi(p.x))
    u = rng.uniform(size=DRAWS)
    return bound | {
        r"\mathbf w": w,
        "t": lambda x: Sample(stats.poisson.ppf(u, np.exp(w @ p.phi(x)))),
        "g": np.log,
    }


@world("eq-linear-network")
def _(rng):
    M, x = 4, rng.standard_normal()
    w, v, c = rng.standard_normal((3, M))
    noise = 0.1 * rng.standard_normal(DRAWS)

    def network(x):
        return np.tanh(np.outer([x], v) + c)[0] @ w

    return {
        "M": M,
        "x": x,
        "w": w,
        "v": v,
        "c": c,
        r"f_\theta": network,
        "t": lambda x: Sample(network(x) + noise),
    }


@world("eq-ridge-cost")
def _(rng):
    """The computation, run on numbers that count their multiplications."""
    N, M = (int(n) for n in rng.integers(3, 9, size=2))
    tally = counting.Tally()
    Phi = tally.numbers(rng.standard_normal((N, M)))
    t = tally.numbers(rng.standard_normal(N))
    counting.cholesky_solve(Phi.T @ Phi + np.eye(M), Phi.T @ t)
    return {"N": N, "M": M, "m": tally.multiplications}


def fitted_values(p):
    """What the fit makes of each target by itself: the columns of S."""
    unit = np.eye(p.N)
    return np.array([p.Phi @ ridge.fit_primal(p.Phi, e, p.lam) for e in unit])


@world("eq-ridge-hat", "eq-ridge-df")
def _(rng):
    p, bound = anywhere(rng)
    return (
        bound
        | directions(p)
        | {
            r"\mathbf S": fitted_values(p).T,
            "d": lambda lam: ridge.effective_parameters(p.Phi, lam),
        }
    )


@world("eq-ridge-optimism")
def _(rng):
    """Fits to new noise, again and again."""
    p, bound = anywhere(rng)
    sigma = rng.uniform(0.5, 1.0)
    targets = p.t + sigma * rng.standard_normal((DRAWS, p.N))
    fit = np.array([ridge.fit_primal(p.Phi, e, p.lam) for e in np.eye(p.N)])
    return bound | {
        r"\sigma": sigma,
        "t_": lambda n: Sample(targets[:, n - 1]),
        "y": lambda x: Sample(targets @ fit @ p.phi(x)),
        "d": lambda lam: ridge.effective_parameters(p.Phi, lam),
    }


def without(p, fold):
    """The weights of the fit that has not seen a fold."""
    rest = ~np.isin(np.arange(p.N), fold)
    return ridge.fit_primal(p.Phi[rest], p.t[rest], p.lam)


@world("eq-ridge-loo", "eq-ridge-gcv")
def _(rng):
    p, bound = at_the_optimum(rng)
    residuals = p.t - p.Phi @ p.w
    gram = p.Phi.T @ p.Phi

    def parameters(lam):
        ridged = gram + lam * np.eye(p.M)
        return np.trace(np.linalg.solve(ridged, gram))

    return bound | {
        "t_": dict(enumerate(p.t, 1)),
        "y": lambda x: p.w @ p.phi(x),
        "y_": lambda i: lambda x: without(p, [-i - 1]) @ p.phi(x),
        "S": fitted_values(p).T,
        "d": parameters,
        "G": lambda lam: np.mean(
            (residuals / (1 - ridge.effective_parameters(p.Phi, lam) / p.N))
            ** 2
        ),
    }


@world("eq-ridge-fold")
def _(rng):
    p, bound = at_the_optimum(rng)
    F = np.array([0, 2, 3])
    return bound | {
        r"\mathbf I": np.eye(len(F)),
        r"\mathbf e_F": p.t[F] - p.Phi[F] @ without(p, F),
        r"\mathbf r_F": p.t[F] - p.Phi[F] @ p.w,
        r"\mathbf S_{FF}": fitted_values(p)[np.ix_(F, F)],
    }


# Of relations in sentences ---------------------------------------------------


@world("inline: powers through labels")
def _(rng):
    x = np.sort(rng.standard_normal(5))
    P, t = features.powers(x, 4), rng.choice([-1.0, 1.0], size=5)
    return {
        "n": range(1, 6),
        "t_": t,
        r"\mathbf x_": x,
        r"\mathbf w": ridge.minimum_norm_weights(P, t),
        r"\boldsymbol\phi": lambda x: features.powers([x], 4)[0],
    }


@world("inline: all directions")
def _(rng):
    p, bound = anywhere(rng)
    seen = {"i": range(1, p.N + 1), "j": range(1, p.N + 1)}
    v = {r"\mathbf v": rng.standard_normal(p.M)}
    return bound | directions(p) | seen | v


@world("inline: directions beyond the rank")
def _(rng):
    p, bound = anywhere(rng)
    return bound | directions(p) | {"i": range(p.N + 1, p.M + 1)}


@world("inline: a constant feature")
def _(rng):
    N, lam = 6, rng.uniform(0.5, 2.0)
    t, ones = rng.standard_normal(N), features.powers(np.arange(N), 0)
    return {
        "N": N,
        "n": range(1, N + 1),
        r"\lambda": lam,
        "t_": t,
        r"\phi_": From(0, ones[0]),
        "w_": From(0, ridge.fit_primal(ones, t, lam)),
    }


@world("inline: fitted values")
def _(rng):
    p, bound = at_the_optimum(rng)
    return bound | {
        "y": lambda x: ridge.predict(p.a, p.k(p.X, [x]))[0],
        r"\mathbf s": lambda x: np.array(
            [ridge.fit_primal(p.Phi, e, p.lam) @ p.phi(x) for e in np.eye(p.N)]
        ),
        r"\mathbf S": fitted_values(p).T,
    }


def one_weight(price):
    """The best single weight, by search."""

    def build(rng):
        lam = rng.uniform(0.5, 2.0)
        z = lam * rng.uniform(1.5, 2.5)
        found = optimize.minimize_scalar(
            lambda w: (w - z) ** 2 / 2 + lam * price(w), tol=1e-12
        )
        return {"z": z, r"\lambda": lam, "w": found.x}

    return build


for name, price in {
    "no price": lambda w: 0.0,
    "a price on the square": lambda w: w * w / 2,
    "a price on the size": abs,
}.items():
    world(f"inline: one weight, {name}", tolerance=1e-6)(one_weight(price))


def at_the_lasso(rng):
    """Weights, left-outs and products with the residual; a step v."""
    p, bound = lasso_problem(rng)
    w = bound[r"\mathbf w"]
    left = [np.where(np.arange(p.M) == j, 0, w) for j in range(p.M)]
    z = [f @ (p.t - p.Phi @ o) for f, o in zip(p.Phi.T, left, strict=True)]
    return w, bound | {
        "z_": From(0, np.array(z)),
        "g_": From(0, p.Phi.T @ (p.t - p.Phi @ w)),
        "v_": From(0, rng.standard_normal(p.M)),
    }


@world("inline: the lasso's features in use")
def _(rng):
    w, bound = at_the_lasso(rng)
    return bound | {"j": Each(int(j) for j in np.flatnonzero(w))}


@world("inline: the lasso's other features")
def _(rng):
    w, bound = at_the_lasso(rng)
    return bound | {"j": Each(int(j) for j in np.flatnonzero(w == 0))}


@world("inline: the lasso's features")
def _(rng):
    """A step that takes a weight further reaches the bound."""
    w, bound = at_the_lasso(rng)
    used = [int(j) for j in np.flatnonzero(w)]
    on = {"v_": From(0, w), "j": Each(used), "@tight": True}
    return [bound, bound | on]


@world("inline: the logit")
def _(rng):
    return {r"\mu": rng.uniform(0.1, 0.4), "g": special.logit}


@world("inline: one feature")
def _(rng):
    (x, t), lam = rng.standard_normal((2, 5)), rng.uniform(0.5, 2.0)
    Phi = np.exp(x)[:, None]
    return {
        "n": range(1, 6),
        "x_": x,
        "t_": t,
        r"\phi": np.exp,
        r"\boldsymbol\Phi": Phi,
        r"\lambda": lam,
        "w": ridge.fit_primal(Phi, t, lam)[0],
    }


def by_hand(name, reached=None):
    """Two examples; the price at which the weight is what it is to be."""

    def build(rng):
        p = SimpleNamespace(M=1, Phi=np.array([[1.0], [2.0]]), t=np.ones(2))
        fit = {"ridge": ridge.fit_primal, "lasso": lambda P, t, a: lasso(p, a)}

        def weight(lam):
            return fit[name](p.Phi, p.t, lam)[0]

        lam = rng.uniform(0.5, 2.0)
        if reached is not None:
            lam = optimize.brentq(lambda a: weight(a) - reached, 0.1, 9)
        return {
            "n": range(1, 3),
            "x": p.Phi[:, 0],
            "t": p.t,
            r"\phi": lambda x: features.powers(np.ravel(x), 1)[:, 1],
            r"\lambda": lam,
            "w": weight(lam),
            r"\tau_\lambda": lambda z: threshold(z, lam),
        }

    return build


world("inline: ridge by hand")(by_hand("ridge"))
world("inline: ridge by hand, halved")(by_hand("ridge", 0.3))
world("inline: lasso by hand")(by_hand("lasso"))
world("inline: lasso by hand, halved")(by_hand("lasso", 0.3))
world("inline: lasso by hand, zero", tolerance=1e-6)(by_hand("lasso", 1e-9))


@world("inline: two prices")
def _(rng):
    p, bound = at_the_optimum(rng)
    dear = p.lam + rng.uniform(0.5, 2.0)
    w = ridge.fit_primal(p.Phi, p.t, dear)
    E, worse = (np.sum((p.Phi @ v - p.t) ** 2) for v in (p.w, w))
    more = {r"\lambda'": dear, r"\mathbf w'": w, "E": E, "E'": worse}
    return bound | more
