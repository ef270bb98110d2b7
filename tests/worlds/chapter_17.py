"""Chapter 17: Lagrangian duality."""

from dataclasses import replace
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import linprog, minimize
from scipy.special import logsumexp, softmax
from scipy.stats import ortho_group
from typeset import Each, Of

from kernelbook import duality, ridge

from . import world
from .common import bindings, ridge_problem

M = 5  # variables
I = 3  # inequalities; the second is slack  # noqa: E741
J = 2  # equalities


@cache
def program(seed):
    """A quadratic program, its optimum, and prices that climbed its dual."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((M, M)) / 4
    P, q = np.eye(M) + root @ root.T, rng.standard_normal(M)
    rows = ortho_group.rvs(M, random_state=rng) + root / 2
    G, A, b = rows[:I], rows[I:], rng.standard_normal(J)
    h = G @ lowest_on(P, q, A, b) + [-0.9, 0.8, -1.2]
    qp = duality.QuadraticProgram(P, q, G, h, A, b)
    run = duality.dual_ascent(qp, iterations=300)
    mu, nu = run.mu[-1], run.nu[-1]
    if mu[1] > 0 or min(mu[0], mu[2]) < 0.2 or np.ptp(mu[::2]) < 0.1:
        return program(seed + 1)
    return SimpleNamespace(qp=qp, w=optimum(qp), mu=mu, nu=nu)


def lowest_on(P, q, rows, right):
    """Minimise ½wᵀPw + qᵀw where ``rows @ w = right``."""
    w, Z = np.linalg.lstsq(rows, right, rcond=None)[0], null_space(rows)
    return w - Z @ np.linalg.solve(Z.T @ P @ Z, Z.T @ (P @ w + q))


def optimum(qp, u=0.0):
    """Without prices: the best feasible one, whichever constraints hold."""
    found = []
    for tight in product([False, True], repeat=I):
        kept = np.array(tight)
        rows = np.vstack([qp.A, qp.G[kept]])
        right = np.append(qp.b, (qp.h + u)[kept])
        w = lowest_on(qp.P, qp.q, rows, right)
        if np.all(qp.G @ w <= qp.h + u + 1e-9):
            found.append(w)
    return min(found, key=lambda w: duality.objective(qp, w))


def problem(rng):
    s = program(int(rng.integers(1 << 30)))
    qp = s.qp

    def f(w):
        total = sum(q * x for q, x in zip(qp.q, w, strict=True))
        for i in range(M):
            total += sum(qp.P[i, j] * w[i] * w[j] for j in range(M)) / 2
        return total

    return s, {
        "I": I,
        "J": J,
        "i": range(1, I + 1),
        "j": range(1, J + 1),
        "f": f,
        "g_": {i + 1: lambda w, i=i: qp.G[i] @ w - qp.h[i] for i in range(I)},
        "h_": {j + 1: lambda w, j=j: qp.A[j] @ w - qp.b[j] for j in range(J)},
        r"\mathbf w": rng.standard_normal(M),
        r"\boldsymbol\mu": rng.uniform(0.2, 2.0, I),
        r"\boldsymbol\nu": rng.standard_normal(J),
        r"\mathcal L": lambda w, mu, nu: duality.lagrangian(qp, w, mu, nu),
        "G": lambda mu, nu: duality.dual_function(qp, mu, nu),
    }


def beside(s, *moves):
    """The optimum, moved so that each constraint changes by its ``move``."""
    return s.w + np.linalg.solve(np.vstack([s.qp.G, s.qp.A]), moves)


def feasible(s, rng):
    """A point inside the constraints, some way from the optimum."""
    return beside(s, *rng.uniform(-0.5, -0.1, size=I), 0, 0)


def points(s, rng):
    """The optimum, feasible points, and points that break one constraint."""
    found = [s.w, *(feasible(s, rng) for _ in range(3))]
    for step in (0.05, -0.05, 1.0):
        found += [beside(s, *move) for move in step * np.eye(I + J)]
    return [{r"\mathbf w": w} for w in found]


def prices(s, rng, far=1e4):
    """The best prices, random ones, huge ones, and some below zero."""
    found = [(s.mu, s.nu), (0 * s.mu, 0 * s.nu)]
    for _ in range(4):
        step = rng.normal(scale=0.3, size=I + J)
        found.append((np.abs(s.mu + step[:I]), s.nu + step[I:]))
    for n in range(I + J):
        for size in (far, -far, -0.3):
            moved = np.append(s.mu, s.nu)
            moved[n] += size
            found.append((moved[:I], moved[I:]))
    return [{r"\boldsymbol\mu": mu, r"\boldsymbol\nu": nu} for mu, nu in found]


@world("eq-lagrange-primal")
def _(rng):
    """The best feasible value is what the prices found from below."""
    s, bound = problem(rng)
    return bound | {
        "p^*": duality.dual_function(s.qp, s.mu, s.nu),
        r"\inf_{\mathbf w}": points(s, rng),
    }


@world("eq-lagrangian")
def _(rng):
    return problem(rng)[1]


@world("eq-lagrange-signs")
def _(rng):
    """Signs of measured prices: what the optimum gains per relaxation."""
    s, bound = problem(rng)
    value = duality.objective(s.qp, s.w)
    gains = [
        (value - duality.objective(s.qp, optimum(s.qp, u))) / 1e-3
        for u in 1e-3 * np.eye(I)
    ]
    return bound | {
        r"\boldsymbol\mu": np.array(gains),
        r"\boldsymbol\nu": s.nu,
    }


@world("eq-lagrange-minmax")
def _(rng):
    s, bound = problem(rng)
    return bound | {
        "p^*": duality.objective(s.qp, s.w),
        r"\inf_{\mathbf w}": points(s, rng),
        r"\sup_{\boldsymbol\mu \ge \mathbf 0, \boldsymbol\nu}": prices(s, rng),
    }


def lowest(s, mu, nu):
    """The minimum of the Lagrangian, by search."""
    found = minimize(
        lambda w: duality.lagrangian(s.qp, w, mu, nu),
        np.zeros(M),
        jac=lambda w: s.qp.P @ w + s.qp.q + s.qp.G.T @ mu + s.qp.A.T @ nu,
        tol=1e-10,
    )
    return found.x, found.fun


@world("eq-dual-function")
def _(rng):
    s, bound = problem(rng)
    w, _ = lowest(s, bound[r"\boldsymbol\mu"], bound[r"\boldsymbol\nu"])
    near = [w, *(w + rng.normal(scale=0.1, size=(5, M)))]
    return bound | {r"\inf_{\mathbf w}": [{r"\mathbf w": w} for w in near]}


@world("eq-dual-problem")
def _(rng):
    s, bound = problem(rng)
    return bound | {
        "d^*": duality.objective(s.qp, s.w),
        r"\sup_{\boldsymbol\mu \ge \mathbf 0, \boldsymbol\nu}": prices(s, rng),
    }


@world("eq-qp-dual")
def _(rng):
    """c is the slope of the Lagrangian at zero; G is found by search."""
    s, bound = problem(rng)
    mu, nu = bound[r"\boldsymbol\mu"], bound[r"\boldsymbol\nu"]
    ends = [
        [duality.lagrangian(s.qp, w, mu, nu) for w in (e, -e)]
        for e in np.eye(M)
    ]
    return bound | {
        r"\mathbf c": np.array([(up - down) / 2 for up, down in ends]),
        r"\mathbf P": s.qp.P,
        r"\mathbf q": s.qp.q,
        r"\mathbf G": s.qp.G,
        r"\mathbf A": s.qp.A,
        r"\mathbf w": duality.recover_primal(s.qp, mu, nu),
        r"\mathbf h": s.qp.h,
        r"\mathbf b": s.qp.b,
        "G": lambda mu, nu: lowest(s, mu, nu)[1],
    }


@world("eq-weak-duality", "eq-duality-gap")
def _(rng):
    """A feasible point and any prices; at the optimum they meet."""
    s, bound = problem(rng)
    bound |= {"p^*": duality.objective(s.qp, s.w)}
    met = {
        r"\mathbf w": s.w,
        r"\boldsymbol\mu": s.mu,
        r"\boldsymbol\nu": s.nu,
        "f": lambda w: duality.objective(s.qp, w),
        "@tight": True,
    }
    return [bound | {r"\mathbf w": feasible(s, rng)}, bound | met]


@world("eq-weak-duality-values")
def _(rng):
    """−w² on [0, 1] under w ≤ c has a gap; a convex program has none."""
    s, _ = problem(rng)
    c = rng.uniform(0.2, 0.8)
    w, mus = np.linspace(0, 1, 501), np.linspace(0, 3, 301)
    dented = max(np.min(-(w**2) + mu * (w - c)) for mu in mus)
    return [
        {"d^*": dented, "p^*": np.min(-(w[w <= c] ** 2))},
        {**values(s), "@tight": True},
    ]


def values(s):
    """The top of the climb on the dual, and the primal optimum."""
    return {
        "d^*": duality.dual_function(s.qp, s.mu, s.nu),
        "p^*": duality.objective(s.qp, s.w),
    }


@world("eq-strong-duality")
def _(rng):
    return values(problem(rng)[0])


@world("eq-kkt-stationarity", "eq-kkt-slackness")
def _(rng):
    """The optimum without prices, the prices from the library's ascent.

    The constraints are bent, with the same slope where they are zero.
    """
    s, bound = problem(rng)
    g, h = bound["g_"], bound["h_"]
    return bound | {
        "g_": {i: lambda w, i=i: np.expm1(g[i](w)) for i in g},
        "h_": {j: lambda w, j=j: np.sinh(h[j](w)) for j in h},
        r"\mathbf w^*": s.w,
        r"\boldsymbol\mu^*": s.mu,
        r"\boldsymbol\nu^*": s.nu,
    }


@world("eq-lagrange-price-bound")
def _(rng):
    """For steps so small that p* does not bend, the bound is reached."""
    s, bound = problem(rng)
    bound |= {
        r"\boldsymbol\mu^*": s.mu,
        "p^*": lambda u: duality.objective(s.qp, optimum(s.qp, u)),
    }
    u = rng.uniform(0.5, 1.5, size=(4, I)) * [[-0.5], [-0.1], [0.1], [0.5]]
    return [
        *(bound | {r"\mathbf u": step} for step in u),
        bound | {r"\mathbf u": 1e-5 * u[3], "@tight": True},
    ]


@world("eq-lagrange-price")
def _(rng):
    s, bound = problem(rng)
    return bound | {
        r"\mathbf u": np.zeros(I),
        r"\boldsymbol\mu^*": s.mu,
        "p^*": Of(
            r"\mathbf u",
            lambda u: duality.objective(s.qp, optimum(s.qp, u)),
        ),
    }


@world("eq-lp-dual")
def _(rng):
    """The cheapest diet; the best prices, cautious ones and greedy ones."""
    table, cost = rng.uniform(0.5, 3.0, (2, 3)), rng.uniform(1.0, 3.0, 3)
    need = rng.uniform(2.0, 5.0, 2)
    pills = linprog(-need, A_ub=table.T, b_ub=cost).x
    found = [pills, *(pills * rng.uniform(0.4, 0.9, (3, 2)))]
    found += [pills * c for c in (1.1, -1.0)]
    found += [pills + step for step in 0.2 * np.eye(2)]
    return {
        "d^*": linprog(cost, A_ub=-table, b_ub=-need).fun,
        r"\mathbf N": table,
        r"\mathbf c": cost,
        r"\mathbf r": need,
        r"\max_{\boldsymbol\mu \ge \mathbf 0}": [
            {r"\boldsymbol\mu": mu} for mu in found
        ],
    }


def far_prices(s, rng):
    """Prices as far from the best as one likes."""
    return rng.exponential(2.0, I), rng.normal(scale=2.0, size=J)


@world("eq-saddle")
def _(rng):
    """Other prices at the optimum are no dearer, other points no cheaper."""
    s, bound = problem(rng)
    mu, nu = far_prices(s, rng)
    bound |= {
        r"\mathbf w^*": s.w,
        r"\boldsymbol\mu^*": s.mu,
        r"\boldsymbol\nu^*": s.nu,
        r"\boldsymbol\mu": mu,
        r"\boldsymbol\nu": nu,
    }
    same = {
        r"\mathbf w": s.w,
        r"\boldsymbol\mu": s.mu,
        r"\boldsymbol\nu": s.nu,
        "@tight": True,
    }
    against = [
        bound | {r"\boldsymbol\mu": s.mu + m, r"\boldsymbol\nu": s.nu + n}
        for m in (9 * mu, -0.9 * s.mu)
        for n in (9 * nu, -9 * nu)
    ]
    near = {r"\mathbf w": s.w + rng.normal(scale=0.01, size=M)}
    return [bound, *against, *(one | near for one in against), bound | same]


@world("eq-slater-normal", tolerance=1e-6)
def _(rng):
    """The hyperplane in another scale; it touches at the optimum."""
    s, bound = problem(rng)
    eta = rng.uniform(0.2, 0.6)
    bound |= {
        r"\boldsymbol\mu": eta * s.mu,
        r"\boldsymbol\nu": eta * s.nu,
        r"\eta": eta,
        "p^*": duality.objective(s.qp, s.w),
    }
    near = [beside(s, *move) for move in 1e-4 * np.eye(I + J)]
    return [
        bound,
        *(bound | {r"\mathbf w": w, "@tight": True} for w in near),
    ]


def softplus(x):
    return np.log1p(np.exp(x))


def entropy(s):
    """The conjugate of log(1 + eˣ), by hand."""
    return s * np.log(s) + (1 - s) * np.log(1 - s)


@world("eq-conjugate")
def _(rng):
    """log(1 + eˣ) has slope s at the logit of s."""
    s = rng.uniform(0.2, 0.8)
    touching = np.log(s / (1 - s))
    near = [touching, *(touching + rng.normal(size=5))]
    return {
        "s": s,
        "f": softplus,
        "f^*": entropy,
        r"\sup_{x}": [{"x": x} for x in near],
    }


@world("eq-fenchel-young")
def _(rng):
    """Any x and s; x where the line of slope s touches."""
    s, x = rng.uniform(0.2, 0.8), rng.normal()
    bound = {"s": s, "f": softplus, "f^*": entropy}
    return [
        bound | {"x": x},
        bound | {"x": np.log(s / (1 - s)), "@tight": True},
    ]


def losses(rng):
    """A label or target, and its two losses on a fine grid."""
    y = np.linspace(-9, 9, 36_001)
    t = rng.choice([-1.0, 1.0])
    target = rng.normal()
    return t, target, y, np.maximum(0, 1 - t * y), (y - target) ** 2 / 2


@world("eq-conjugate-square", tolerance=1e-6)
def _(rng):
    _, target, y, _, square = losses(rng)
    return {
        "s": rng.uniform(0.5, 2.0),
        "t": target,
        r"\ell^*": lambda s: duality.conjugate(square, y, [s])[0],
    }


@world("eq-conjugate-hinge", tolerance=1e-6)
def _(rng):
    """Inside the box the kink decides; outside the value is another."""
    t, _, y, hinge, _ = losses(rng)

    def at(s):
        return {
            "s": s * t,
            "t": t,
            r"\ell^*": lambda s: duality.conjugate(hinge, y, [s])[0],
        }

    inside = [at(s) for s in (-rng.uniform(0.2, 0.8), -1.0, 0.0)]
    outside = [at(s) | {"@fails": True} for s in (-1.5, 0.5)]
    return inside + outside


def named_outputs(rng):
    """Ridge regression in the variables (w, y), under y − Φw = 0."""
    p = ridge_problem(rng)
    qp = duality.QuadraticProgram(
        P=np.diag([p.lam] * p.M + [1.0] * p.N),
        q=np.append(np.zeros(p.M), -p.t),
        A=np.hstack([-p.Phi, np.eye(p.N)]),
        b=np.zeros(p.N),
    )
    return p, qp, bindings(p) | {r"\boldsymbol\nu": rng.standard_normal(p.N)}


@world("eq-ridge-recover")
def _(rng):
    p, qp, bound = named_outputs(rng)
    both = duality.recover_primal(qp, nu=bound[r"\boldsymbol\nu"])
    return bound | {r"\mathbf w": both[: p.M]}


@world("eq-conjugate-dual", tolerance=1e-5)
def _(rng):
    """The infimum of the Lagrangian; conjugates on a grid."""
    p, qp, bound = named_outputs(rng)
    y = np.linspace(-12, 12, 48_001)

    def on_grid(n):
        values = (y - p.t[n]) ** 2 / 2
        return lambda s: duality.conjugate(values, y, [s])[0]

    return bound | {
        r"\ell^*_": {n + 1: on_grid(n) for n in range(p.N)},
        "G": lambda nu: duality.dual_function(qp, nu=nu) + p.t @ p.t / 2,
    }


@world("eq-dual-ascent")
def _(rng):
    """One step of the library; some prices are cut off at zero."""
    s, bound = problem(rng)
    eta = rng.uniform(0.1, 0.3)
    run = duality.dual_ascent(s.qp, iterations=4, step=eta)
    return bound | {
        r"\eta": eta,
        r"\mathbf G": s.qp.G,
        r"\mathbf h": s.qp.h,
        r"\mathbf w": run.w[2],
        r"\boldsymbol\mu": run.mu[2],
        r"\leftarrow": {r"\boldsymbol\mu": run.mu[3]},
    }


@world("eq-lagrange-condition")
def _(rng):
    N = 7
    Phi = rng.standard_normal((N, 3))
    return {
        "N": N,
        r"\lambda": rng.uniform(0.3, 2.0),
        r"\mathbf K": Phi @ Phi.T,
        r"\kappa": np.linalg.cond,
        "s_": np.linalg.svd(Phi, compute_uv=False),
        "M": 3,
        r"\boldsymbol\Phi": Phi,
    }


# Of relations in sentences ---------------------------------------------------


def example(*equality, u=0.0):
    """The example of the chapter: its program, optimum and prices."""
    A, b = equality or (None, None)
    qp = duality.QuadraticProgram(
        P=[[2.0, 0.0], [0.0, 4.0]],
        q=[0.0, 0.0],
        G=[[-1.0, -1.0], [1.0, 0.0]],
        h=[u - 3.0, 4.0],
        A=A,
        b=b,
    )
    run = duality.dual_ascent(qp, iterations=300)
    return qp, run.w[-1], run.mu[-1], run.nu[-1]


@world("inline: the example at any prices")
def _(rng):
    qp, *_ = example()
    mu = rng.uniform(0.5, 3.0, 2)
    w = duality.recover_primal(qp, mu)
    return {
        r"\mathbf w": w,
        r"\boldsymbol\mu": mu,
        "g_": qp.G @ w - qp.h,
        "G": duality.dual_function(qp, mu),
    }


@world("inline: the example at its optimum", tolerance=1e-6)
def _(rng):
    qp, w, mu, _ = example()
    return {
        r"\mathbf w": w,
        r"\boldsymbol\mu": mu,
        "g_": qp.G @ w - qp.h,
        "G": duality.dual_function(qp, mu),
        "d^*": duality.dual_function(qp, mu),
        "p^*": duality.objective(qp, w),
    }


@world("inline: equalities relaxed", tolerance=1e-6)
def _(rng):
    """The optimum where h(w) = v."""
    s, bound = problem(rng)

    def value(v):
        qp = replace(s.qp, b=s.qp.b + v)
        return duality.objective(qp, optimum(qp))

    return bound | {
        r"\mathbf v": np.zeros(J),
        r"\boldsymbol\nu^*": s.nu,
        "p^*": Of(r"\mathbf v", value),
    }


@world("inline: the example relaxed", tolerance=1e-6)
def _(rng):
    def value(u):
        qp, w, *_ = example(u=u)
        return duality.objective(qp, w)

    return {"u": rng.uniform(-1.0, 2.0), "p^*": value}


@world("inline: the example with an equality", tolerance=1e-6)
def _(rng):
    qp, w, mu, nu = example([[1.0, -3.0]], [1.0])
    return {
        r"\mathbf w": w,
        r"\boldsymbol\mu": mu,
        r"\boldsymbol\nu": nu,
        "h_": qp.A @ w - qp.b,
    }


@world("inline: three points on a line")
def _(rng):
    """Prices that keep the constraint which the bias brings."""
    x, t = np.array([2.0, 3.0, 0.0]), np.array([1.0, 1.0, -1.0])
    qp = duality.QuadraticProgram(
        P=np.diag([1.0, 0.0]),
        q=np.zeros(2),
        G=-t[:, None] * np.column_stack([x, np.ones(3)]),
        h=-np.ones(3),
    )
    mu = np.append(rng.uniform(0.2, 1.0, 2), 0)
    mu[2] = mu.sum()
    return {
        "n": range(1, 4),
        "x_": x,
        "t_": t,
        r"\boldsymbol\mu": mu,
        "w": duality.recover_primal(qp, mu)[0],
        "G": duality.dual_function(qp, mu),
    }


@world("inline: a feasible point")
def _(rng):
    """Any prices with it; and with the optimum its own, where all is tight."""
    s, bound = problem(rng)
    bound |= {
        r"\mathbf G": s.qp.G,
        r"\mathbf h": s.qp.h,
        r"\mathbf A": s.qp.A,
        r"\mathbf b": s.qp.b,
        r"\mathbf w": feasible(s, rng),
        "M": M,
        r"\tilde{\mathbf w}": feasible(s, rng),
    }
    return bound


@world("inline: the chain of weak duality")
def _(rng):
    s, bound = problem(rng)
    mu, nu = bound[r"\boldsymbol\mu"], bound[r"\boldsymbol\nu"]
    found = []
    for w, *both in ((feasible(s, rng), mu, nu), (s.w, s.mu, s.nu)):
        f = duality.objective(s.qp, w)
        found.append(
            {
                "G": duality.dual_function(s.qp, *both),
                r"\mathcal L": duality.lagrangian(s.qp, w, *both),
                "f": f,
                r"f(\mathbf w)": f,
            }
        )
    return [found[0], found[1] | {"@tight": True}]


@world("inline: no gap")
def _(rng):
    s, _ = problem(rng)
    return {
        "G": duality.dual_function(s.qp, s.mu, s.nu),
        r"\mathcal L": duality.lagrangian(s.qp, s.w, s.mu, s.nu),
        "f": lambda w: duality.objective(s.qp, w),
        r"\mathbf w^*": s.w,
        "p^*": duality.objective(s.qp, s.w),
        r"\boldsymbol\mu^*": s.mu,
        "@tight": True,
    }


@world("inline: the dented example", tolerance=1e-6)
def _(rng):
    w = np.linspace(0, 1, 2001)

    def G(mu):
        return np.min(-(w**2) + mu * (w - 0.5))

    best = best_price(lambda w: w - 0.5)[r"\mu"]
    return [
        {
            "p^*": -(np.max(w[w <= 0.5]) ** 2),
            "d^*": G(best),
            "G": G,
            r"\mu": mu,
        }
        for mu in (rng.uniform(0.2, 0.9), rng.uniform(1.1, 2.0))
    ]


def best_price(constraint):
    """Of −w² on [0, 1], on a grid, and where the bill is least at it."""
    w, mus = np.linspace(0, 1, 2001), np.linspace(0, 3, 301)
    bills = [-(w**2) + mu * constraint(w) for mu in mus]
    best = np.argmax([bill.min() for bill in bills])
    return {r"\mu": mus[best], "w": w[np.argmin(bills[best])]}


@world("inline: the best price of the dented example", tolerance=1e-6)
def _(rng):
    return best_price(lambda w: w - 0.5)


@world("inline: the best price of the redundant constraint", tolerance=1e-6)
def _(rng):
    return best_price(lambda w: w * (w - 0.5))


@world("inline: the redundant constraint")
def _(rng):
    w, mu = rng.uniform(0.2, 0.9), rng.uniform(1.2, 3.0)
    bill = -(w**2) + mu * (w * (w - 0.5))
    return {"w": w, r"\mu": mu, r"\mathcal L": bill}


@world("inline: no room", tolerance=1e-6)
def _(rng):
    """Minimise w subject to w² ≤ 0; G by search."""
    w = np.linspace(-2, 2, 401)

    def G(mu):
        return minimize(lambda w: w[0] + mu * w[0] ** 2, [0.0], tol=1e-12).fun

    value = min(w[np.round(w, 9) ** 2 <= 0])
    return {r"\mu": rng.uniform(0.5, 2.0), "G": G, "p^*": round(value, 9)}


@world("inline: no room on the line")
def _(rng):
    both = linprog(
        [1.0], A_ub=[[1.0], [-1.0]], b_ub=[0.0, 0.0], bounds=(-5, 5)
    )
    prices = linprog([0.0, 0.0], A_eq=[[1.0, -1.0]], b_eq=[-1.0])
    return {"p^*": both.fun, "d^*": prices.fun}


@world("inline: outputs with names")
def _(rng):
    """The Lagrangian of the program in (w, y), whose objective lacks ½tᵀt."""
    p, qp, bound = named_outputs(rng)

    def bill(w, y, nu):
        both = np.append(w, y)
        return duality.lagrangian(qp, both, nu=nu) + p.t @ p.t / 2

    return bound | {
        r"\mathbf w": rng.standard_normal(p.M),
        r"\mathbf y": rng.standard_normal(p.N),
        r"\ell_": lambda n: lambda y: (y - p.t[n - 1]) ** 2 / 2,
        r"\mathcal L": bill,
    }


@world("inline: no room, and a gap", tolerance=1e-6)
def _(rng):
    """e⁻ˣ where x²/y ≤ 0 on a grid, and its Lagrangian far out."""
    x, y = np.meshgrid(np.linspace(-2, 2, 41), np.linspace(0.1, 4, 40))
    r, mu = 1e8, rng.uniform(0.5, 2.0)
    far = np.exp(-r) + mu * r**2 / r**3
    return {"p^*": np.min(np.exp(-x[x**2 / y <= 0])), "G": far, "d^*": far}


@world("inline: a hull beside the origin")
def _(rng):
    """Its nearest point, over all edges between its points."""
    points = rng.standard_normal((6, 2)) * [1.0, 0.4] + [0.3, 1.6]
    near = []
    for a, b in product(points, repeat=2):
        d = b - a
        share = np.clip(-(a @ d) / (d @ d), 0, 1) if d.any() else 0.0
        near.append(a + share * d)
    z = min(near, key=np.linalg.norm)
    return {
        r"\mathbf a": Each(points),
        r"\mathbf z": z,
        r"\mathbf n": z / np.hypot(*z),
    }


@world("inline: the hyperplane of the proof")
def _(rng):
    s, bound = problem(rng)
    eta = rng.uniform(0.2, 0.6)
    w = bound[r"\mathbf w"]
    return bound | {
        r"\boldsymbol\mu": eta * s.mu,
        r"\boldsymbol\nu": eta * s.nu,
        r"\eta": eta,
        "p^*": duality.objective(s.qp, s.w),
        r"\mathbf u": s.qp.G @ w - s.qp.h + rng.uniform(0, 0.1, I),
        r"\mathbf v": s.qp.A @ w - s.qp.b,
        "s": bound["f"](w) + 0.1,
    }


@world("inline: losses and slopes", tolerance=1e-6)
def _(rng):
    """y maximises sy − ½(y − t)²; σ and m are s and y seen by the label."""
    t, s = rng.choice([-1.0, 1.0]), rng.uniform(0.2, 0.9)
    best = minimize(lambda y: (y[0] - t) ** 2 / 2 - s * y[0], [0.0], tol=1e-12)
    return {
        "t": t,
        "s": s,
        "y": best.x[0],
        r"\sigma": s / t,
        "m": t * best.x[0],
    }


@world("inline: the conjugate of one example", tolerance=1e-5)
def _(rng):
    p, _, bound = named_outputs(rng)
    y = np.linspace(-12, 12, 48_001)

    def loss(n):
        return lambda y: (y - p.t[n - 1]) ** 2 / 2

    nu = bound[r"\boldsymbol\nu"]
    return bound | {
        r"\ell_": loss,
        r"\ell^*_": lambda n: (
            lambda s: duality.conjugate(loss(n)(y), y, [s])[0]
        ),
        r"\inf_y": [
            {"y": value} for n in range(p.N) for value in [p.t[n] - nu[n]]
        ],
    }


@world("inline: the prices of ridge regression")
def _(rng):
    """The residuals of the primal fit; a from the Gram matrix."""
    p = ridge_problem(rng)
    outputs = p.Phi @ p.w
    return bindings(p) | {
        r"\mathbf w": p.w,
        r"\mathbf y": outputs,
        r"\boldsymbol\nu": p.t - outputs,
        r"\mathbf a": p.a,
    }


@world("inline: the slope of ridge regression's dual")
def _(rng):
    p = ridge_problem(rng)
    return bindings(p) | {
        r"\mathbf a": rng.standard_normal(p.N),
        "G": Of(
            r"\mathbf a", lambda a: ridge.lagrangian_dual(a, p.K, p.t, p.lam)
        ),
    }


@world("inline: other prices")
def _(rng):
    s, bound = problem(rng)
    mu, nu = bound[r"\boldsymbol\mu"], bound[r"\boldsymbol\nu"]
    return bound | {
        r"\mathbf w": duality.recover_primal(s.qp, mu, nu),
        r"\boldsymbol\mu'": rng.uniform(0.2, 2.0, I),
        "G": lambda mu: duality.dual_function(s.qp, mu, nu),
        r"\mathcal L": lambda w, mu: duality.lagrangian(s.qp, w, mu, nu),
    }


@world("inline: entropy")
def _(rng):
    theta = rng.standard_normal(4)
    return {
        "k": range(1, 5),
        r"\boldsymbol\theta": theta,
        "p_": softmax(theta),
        r"\nu": logsumexp(theta) - 1,
    }


@world("inline: three signs")
def _(rng):
    """Over all signs; L from the entries, the best equal prices on a grid."""
    signs = np.array([*product([-1.0, 1.0], repeat=3)])
    w, nu = rng.standard_normal(3), rng.uniform(0.5, 2.0, 3)
    Q = np.array([[a + b for a in range(3)] for b in range(3)]) ** 0.0
    grid = np.linspace(-1, 1, 41)
    dual = [-3 * v for v in grid if np.linalg.eigvalsh(Q)[0] + v > -1e-12]
    return {
        "i": range(1, 4),
        r"\mathbf w": w,
        r"\boldsymbol\nu": nu,
        r"\mathbf Q": Q,
        r"\mathbf 1": np.ones(3),
        "f": sum(a * b for a in w for b in w),
        r"\mathcal L": w.sum() ** 2 + sum(nu * (w**2 - 1)),
        "p^*": min(signs.sum(axis=1) ** 2),
        "d^*": max(dual),
    }
