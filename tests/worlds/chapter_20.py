"""Chapter 20: support vector regression, ν and probabilities."""

from functools import cache
from types import SimpleNamespace

import numpy as np
from scipy.optimize import brentq, linprog, minimize, minimize_scalar
from scipy.special import expit
from scipy.stats import laplace
from sklearn.svm import NuSVR
from typeset import Each, Event, Law

from kernelbook import calibration, kernel_logistic, kernels, svm, svr

from . import world
from .chapter_19 import data as classes
from .chapter_19 import phi

N, D = 8, 2


def with_hats(bound):
    """The entries of hatted vectors, by their letters."""
    letters = ("alpha", "xi", "mu")
    return bound | {
        rf"\hat\{one}_": bound[rf"\hat{{\boldsymbol\{one}}}"]
        for one in letters
        if rf"\hat{{\boldsymbol\{one}}}" in bound
    }


@cache
def data(seed):
    """A fit with points above, below, on both edges and inside the tube."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    t = 2 * rng.standard_normal(N)
    C, epsilon = rng.uniform(0.3, 0.6), rng.uniform(0.2, 0.4)
    K = kernels.Polynomial(degree=2, c=1.0)(X)
    fit = svr.fit_dual(K, t, C, epsilon)
    bounded = fit.a[fit.bounded]
    kinds = [(bounded > 0).sum(), (bounded < 0).sum(), len(fit.free)]
    kinds += [N - len(fit.support)]
    # The first and the last point pay, so that no sum may leave them out.
    if min(kinds) == 0 or min(np.abs(fit.a[[0, -1]])) < C:
        return data(seed + 1)
    return SimpleNamespace(
        X=X,
        t=t,
        C=C,
        epsilon=epsilon,
        K=K,
        fit=fit,
        Phi=np.array([phi(x) for x in X]),
    )


def problem(rng):
    """Weights, slacks and multipliers that solve nothing."""
    p = data(int(rng.integers(1 << 30)))
    w, b = rng.standard_normal(p.Phi.shape[1]) / 2, rng.standard_normal()
    up, down = rng.uniform(0.1, 1.0, (2, N))
    most = p.C / max((up / up.sum()).max(), (down / down.sum()).max())
    return p, with_hats(
        {
            "N": N,
            "n": range(1, N + 1),
            "C": p.C,
            r"\varepsilon": p.epsilon,
            r"\mathbf x_": p.X,
            r"\mathbf t": p.t,
            r"\mathbf K": p.K,
            r"\boldsymbol\phi": phi,
            "k": lambda x, z: (x @ z + 1) ** 2,
            r"\mathbf w": w,
            "b": b,
            "y": lambda x: w @ phi(x) + b,
            r"\boldsymbol\xi": rng.uniform(0.2, 2.0, N),
            r"\hat{\boldsymbol\xi}": rng.uniform(0.2, 2.0, N),
            r"\boldsymbol\alpha": most * up / up.sum(),
            r"\hat{\boldsymbol\alpha}": most * down / down.sum(),
            r"\boldsymbol\mu": rng.uniform(0.2, 2.0, N),
            r"\hat{\boldsymbol\mu}": rng.uniform(0.2, 2.0, N),
        }
    )


def lagrangian(p, bound, **changed):
    """One constraint and one example after the other."""
    at = SimpleNamespace(
        **{
            "w": bound[r"\mathbf w"],
            "b": bound["b"],
            "xi": bound[r"\boldsymbol\xi"],
            "xi_hat": bound[r"\hat{\boldsymbol\xi}"],
            "alpha": bound[r"\boldsymbol\alpha"],
            "alpha_hat": bound[r"\hat{\boldsymbol\alpha}"],
            "mu": bound[r"\boldsymbol\mu"],
            "mu_hat": bound[r"\hat{\boldsymbol\mu}"],
        }
        | changed
    )
    total = sum(at.w**2) / 2
    for n in range(N):
        r = p.t[n] - at.w @ p.Phi[n] - at.b
        total += p.C * (at.xi[n] + at.xi_hat[n])
        room, room_hat = p.epsilon + at.xi[n] - r, p.epsilon + at.xi_hat[n] + r
        total -= at.alpha[n] * room + at.mu[n] * at.xi[n]
        total -= at.alpha_hat[n] * room_hat + at.mu_hat[n] * at.xi_hat[n]
    return total


def lowest_weights(p, bound, **changed):
    """The bottom of a bowl of curvature one in each weight."""
    unit = np.eye(p.Phi.shape[1])
    return (
        np.array(
            [
                lagrangian(p, bound, w=-e, **changed)
                - lagrangian(p, bound, w=e, **changed)
                for e in unit
            ]
        )
        / 2
    )


def smallest_slacks(p, y):
    """By linear programming, above and below."""
    r = p.t - y
    limits = np.append(p.epsilon - r, p.epsilon + r)
    both = linprog(np.ones(2 * N), A_ub=-np.eye(2 * N), b_ub=limits).x
    return both[:N], both[N:]


def solution(p):
    """The fit's weights, through the features, and what they cost."""
    w, b = p.Phi.T @ p.fit.a, p.fit.b
    xi, xi_hat = smallest_slacks(p, p.Phi @ w + b)
    return with_hats(
        {
            r"\mathbf w": w,
            "b": b,
            "y": lambda x: w @ phi(x) + b,
            r"\boldsymbol\xi": xi,
            r"\hat{\boldsymbol\xi}": xi_hat,
            r"\boldsymbol\alpha": p.fit.alpha,
            r"\hat{\boldsymbol\alpha}": p.fit.alpha_hat,
            r"\mathbf a": p.fit.a,
        }
    )


@world("eq-svr-loss")
def _(rng):
    """Above the tube, below it and inside."""
    epsilon = rng.uniform(0.3, 0.6)

    def loss(t, y):
        cost = linprog(
            [1, 1], A_ub=-np.eye(2), b_ub=[epsilon - t + y, epsilon + t - y]
        )
        return cost.fun  # fmt: skip

    return [
        {
            r"\varepsilon": epsilon,
            "t": 1.5,
            "y": 1.5 + r,
            r"\ell_\varepsilon": loss,
        }
        for r in (-2.0, 0.2, 0.9)
    ]


@world("eq-svr-objective")
def _(rng):
    p, bound = problem(rng)
    return bound | {
        "P": lambda w, b: svr.primal_objective(
            w, b, p.Phi, p.t, p.C, p.epsilon
        )
    }


@world("eq-svr-primal")
def _(rng):
    """The dual value is reached from above, and never undercut."""
    p, bound = problem(rng)
    best = solution(p)
    w, b = best[r"\mathbf w"], best["b"]
    xi, xi_hat = best[r"\boldsymbol\xi"], best[r"\hat{\boldsymbol\xi}"]
    found = [(w, b, xi, xi_hat), (w, b, xi + 0.1, xi_hat + 0.1)]
    for e in np.eye(N):
        found += [(w, b, xi - 0.1 * e, xi_hat), (w, b, xi, xi_hat - 0.1 * e)]
    for _ in range(2):
        moved = w + rng.normal(scale=0.2, size=len(w))
        found.append((moved, b, *smallest_slacks(p, p.Phi @ moved + b)))
    return bound | {
        r"\min_{\mathbf w, b, \boldsymbol\xi, \hat{\boldsymbol\xi}}": [
            {
                r"\mathbf w": w,
                "y": lambda x, w=w, b=b: w @ phi(x) + b,
                r"\boldsymbol\xi": one,
                r"\hat\xi_": other,
            }
            for w, b, one, other in found
        ],
        "=": p.fit.dual,
    }


@world("eq-svr-lagrangian")
def _(rng):
    p, bound = problem(rng)
    bound = with_hats(
        bound
        | {
            r"\boldsymbol\alpha": rng.uniform(0.2, 2.0, N),
            r"\hat{\boldsymbol\alpha}": rng.uniform(0.2, 2.0, N),
        }
    )
    return bound | {r"\mathcal L": lagrangian(p, bound)}


@world("eq-svr-w")
def _(rng):
    p, bound = problem(rng)
    return bound | {r"\mathbf w": lowest_weights(p, bound)}


@world("eq-svr-sum")
def _(rng):
    p, bound = problem(rng)
    return bound | solution(p)


@world("eq-svr-mu")
def _(rng):
    """The prices of the signs that leave the Lagrangian flat in the slacks."""
    p, bound = problem(rng)
    none = np.zeros(N)

    def slopes(name):
        return np.array(
            [
                lagrangian(p, bound, mu=none, mu_hat=none, **{name: e})
                - lagrangian(p, bound, mu=none, mu_hat=none, **{name: none})
                for e in np.eye(N)
            ]
        )

    return bound | {
        r"\boldsymbol\mu": slopes("xi"),
        r"\hat\mu_": slopes("xi_hat"),
    }


@world("eq-svr-dual")
def _(rng):
    """The lowest value of the Lagrangian over weights, bias and slacks."""
    p, bound = problem(rng)

    def lowest(alpha, alpha_hat):
        at = {
            "alpha": alpha,
            "alpha_hat": alpha_hat,
            "mu": p.C - alpha,
            "mu_hat": p.C - alpha_hat,
        }
        w = lowest_weights(p, bound, **at)
        return lagrangian(p, bound, w=w, **at)

    return bound | {"m": range(1, N + 1), "G": lowest}


@world("eq-svr-dual-a")
def _(rng):
    """The primal value is reached from below, and never passed."""
    p, bound = problem(rng)
    best = p.fit.a
    w = p.Phi.T @ best
    found = [best, *(best * rng.uniform(0.5, 1.0, (4, 1)))]
    for _ in range(20):  # over the bounds, and with another sum
        step = rng.normal(scale=0.3, size=N)
        found += [best + step - step.mean(), best + step]
    for n, m in rng.integers(0, N, (40, 2)):
        found += [best + 0.3 * (np.eye(N)[n] - np.eye(N)[m])]
    found += [best + s * e for e in np.eye(N) for s in (0.2, -0.2)]
    return bound | {
        r"\max_{\mathbf a}": [{r"\mathbf a": a} for a in found],
        "=": svr.primal_objective(w, p.fit.b, p.Phi, p.t, p.C, p.epsilon),
    }


@world("eq-svr-predict")
def _(rng):
    p, bound = problem(rng)
    return bound | solution(p) | {r"\mathbf x": rng.standard_normal(D)}


@world("eq-svr-kkt")
def _(rng):
    p, bound = problem(rng)
    return bound | solution(p)


@world("eq-svr-gap")
def _(rng):
    """Any multipliers, their weights, and any bias."""
    p, bound = problem(rng)
    up, down = bound[r"\boldsymbol\alpha"], bound[r"\hat{\boldsymbol\alpha}"]
    w, b = p.Phi.T @ (up - down), bound["b"]
    linear = (up - down) @ p.t - p.epsilon * (up + down).sum()
    xi, xi_hat = smallest_slacks(p, p.Phi @ w + b)
    both = {r"\boldsymbol\xi": xi, r"\hat{\boldsymbol\xi}": xi_hat}
    return bound | {
        **with_hats(both),
        r"\mathbf a": up - down,
        "r_": p.t - p.Phi @ w - b,
        "P": svr.primal_objective(w, b, p.Phi, p.t, p.C, p.epsilon),
        "G": linear - w @ w / 2,
    }


@world("eq-svr-bias")
def _(rng):
    """For any weights, the biases of least cost; for the best, just one."""
    p, bound = problem(rng)
    worlds = []
    for w in (bound[r"\mathbf w"], p.Phi.T @ p.fit.a):
        e = p.t - p.Phi @ w
        edges = np.sort(np.append(e - p.epsilon, e + p.epsilon))
        costs = np.array(
            [
                svr.primal_objective(w, b, p.Phi, p.t, p.C, p.epsilon)
                for b in edges
            ]
        )
        cheap = edges[costs <= costs.min() * (1 + 1e-12)]
        worlds.append(
            {
                "c_": edges,
                "N": N,
                "b": Each([cheap.min(), cheap.mean(), cheap.max()]),
            }
        )
    worlds[1]["@tight"] = True
    return worlds


@world("eq-svm-nu")
def _(rng):
    p = classes(int(rng.integers(1 << 30)))
    return {
        "N": len(p.t),
        "n": range(1, len(p.t) + 1),
        "C": p.C,
        r"\boldsymbol\alpha": p.machine.alpha,
        r"\nu": p.machine.nu,
    }


@world("eq-svm-nu-bounds")
def _(rng):
    """With free support vectors, and without: then all three are equal."""
    p = classes(int(rng.integers(1 << 30)))
    both_at_C = svm.fit_dual(np.eye(2), [1, -1], 0.1)
    return [
        shares(p.machine, len(p.t)),
        # seven more examples beyond the margin, at 0 like their multipliers
        shares(both_at_C, 9) | {"@tight": True},
    ]


def shares(machine, count):
    return {
        "N": count,
        "N_C": len(machine.bounded),
        "N_S": len(machine.support),
        r"\nu": machine.nu * len(machine.alpha) / count,
    }


def nu_machine(p, nu):
    """Multipliers of the ν-SVM by SLSQP, and what follows from them."""
    count, t = len(p.t), p.t
    Q = np.outer(t, t) * p.K

    def constraints(alpha):
        return np.array([alpha @ t, alpha.sum() - nu])

    dual = minimize(
        lambda alpha: alpha @ Q @ alpha / 2,
        np.full(count, nu / count),
        jac=lambda alpha: Q @ alpha,
        bounds=[(0, 1 / count)] * count,
        constraints={"type": "eq", "fun": constraints},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    w = p.Phi.T @ (dual.x * t)
    inside = (dual.x > 1e-6) & (dual.x < 1 / count - 1e-6)
    plus, minus = (
        (t * (p.Phi @ w))[inside & (t == sign)].mean() for sign in (1, -1)
    )
    return dual, w, (minus - plus) / 2, (plus + minus) / 2


@world("eq-svm-nu-primal", tolerance=1e-5)
def _(rng):
    """The value of its dual, by SLSQP, is reached and never undercut."""
    p = classes(int(rng.integers(1 << 30)))
    count, t, nu = len(p.t), p.t, 0.5
    dual, w, b, kappa = nu_machine(p, nu)

    def slacks(w, b, kappa):
        return np.maximum(0, kappa - t * (p.Phi @ w + b))

    found = [(w, b, slacks(w, b, kappa), kappa)]
    found += [(w, b, slacks(w, b, kappa * f), kappa * f) for f in (0.5, 1.5)]
    found += [(w, b, np.zeros(count), -0.3), (0 * w, 0.0, np.zeros(count), 0)]
    for e in np.eye(count):
        found += [(w, b, slacks(w, b, kappa) - 0.2 * e, kappa)]
    for _ in range(3):
        moved = w + rng.normal(scale=0.1, size=len(w))
        found += [(moved, b, slacks(moved, b, kappa), kappa)]
    return {
        "N": count,
        "n": range(1, count + 1),
        r"\mathbf x_": p.X,
        r"\mathbf t": t,
        r"\boldsymbol\phi": phi,
        r"\nu": nu,
        r"\min_{\mathbf w, b, \boldsymbol\xi, \kappa}": [
            {r"\mathbf w": w, "b": b, r"\boldsymbol\xi": xi, r"\kappa": kappa}
            for w, b, xi, kappa in found
        ],
        "=": -dual.fun,
    }


def scored(rng):
    """Scores that overlap, with more of one label."""
    t = np.array([1.0, -1, 1, 1, -1, 1, 1, -1, 1])
    return rng.standard_normal(len(t)) + 0.7 * t, t


@world("eq-platt-sigmoid")
def _(rng):
    y, t = scored(rng)
    fitted = calibration.fit_sigmoid(y, t)
    x = rng.standard_normal(D)

    def score(x):
        return x[0] - 0.4 * x[1]

    def law(event, given):
        assert event == Event("t", 1)
        (x,) = given
        return calibration.probability(fitted, [score(x)])[0]

    return {
        "p": Law(law),
        r"\mathbf x": x,
        r"\sigma": expit,
        "s": fitted.slope,
        "d": fitted.offset,
        "y": score,
    }


@world("eq-platt-targets")
def _(rng):
    """Laplace's rule, by the mean of a flat prior after so many successes."""
    t = scored(rng)[1]
    return {
        "n": range(1, len(t) + 1),
        r"\mathbf t": t,
        "N_+": int((t > 0).sum()),
        "N_-": int((t < 0).sum()),
        r"\mathbf q": calibration.soft_targets(t),
    }


@world("eq-platt-loss")
def _(rng):
    y, t = scored(rng)
    q = calibration.soft_targets(t)

    def J(s, d):
        """By the coin that comes up with q: its surprise under p."""
        z = s * y + d
        return sum(
            q_n * np.logaddexp(0, -z_n) + (1 - q_n) * np.logaddexp(0, z_n)
            for q_n, z_n in zip(q, z, strict=True)
        )

    return {
        "N": len(t),
        "n": range(1, len(t) + 1),
        "J": J,
        "s": rng.uniform(0.5, 2.0),
        "d": rng.standard_normal(),
        r"\mathbf y": y,
        r"\mathbf q": q,
        r"\sigma": expit,
    }


@world("eq-svm-population")
def _(rng):
    return [
        {
            "p": p,
            r"\arg\min_{y}": [{"y": y} for y in np.linspace(-2, 2, 17)],
        }
        for p in (rng.uniform(0.36, 0.48), rng.uniform(0.52, 0.64))
    ]


# Of relations in sentences ---------------------------------------------------


def tube(p, bound, keep):
    """The solution, its weights where the Lagrangian is lowest."""
    best = solution(p)
    up, down = best[r"\boldsymbol\alpha"], best[r"\hat{\boldsymbol\alpha}"]
    e = p.t - p.K @ p.fit.a
    kept = np.flatnonzero(keep(p, e - p.fit.b)) + 1
    return bound | {
        **best,
        r"\mathbf w": lowest_weights(p, bound, alpha=up, alpha_hat=down),
        "e_": e,
        "r_": e - p.fit.b,
        "i": range(1, 2 * N + 1),
        "v_": np.append(up, -down),
        "n": range(1, N + 1) if len(kept) == N else Each(kept),
    }


CHOSEN = {
    "the tube": lambda p, r: r < np.inf,
    "in the tube": lambda p, r: p.fit.a == 0,
    "on the edge of the tube": lambda p, r: np.abs(p.fit.a) % p.C > 0,
    "at a bound of the tube": lambda p, r: np.abs(p.fit.a) == p.C,
    "above the tube": lambda p, r: r > p.epsilon + 1e-6,
}
for name, keep in CHOSEN.items():
    world(f"inline: {name}")(lambda rng, keep=keep: tube(*problem(rng), keep))


@world("inline: those that pay")
def _(rng):
    """Of the classifier, inside its margin; and above the tube."""
    p, bound = problem(rng)
    q = classes(int(rng.integers(1 << 30)))
    y = q.K @ q.machine.coefficients + q.machine.b
    inside = np.flatnonzero(q.t * y < 1 - 1e-6)
    return [
        {
            "C": q.C,
            r"\boldsymbol\alpha": q.machine.alpha,
            "n": Each(int(i) + 1 for i in inside),
        },
        tube(p, bound, CHOSEN["above the tube"]),
    ]


def sloping(rng, sign):
    """The examples whose loss rises with b, or falls."""
    p, bound = problem(rng)
    e, b, n = p.t - p.Phi @ bound[r"\mathbf w"], bound["b"], []
    for i in range(N):
        here, on = svr.insensitive_loss([b, b + 1e-6], [e[i]] * 2, p.epsilon)
        if sign * (on - here) > 1e-9:
            n.append(i + 1)
    return bound | {"e_": e, "n": Each(n)} if n else sloping(rng, sign)


@world("inline: a loss that falls with b")
def _(rng):
    return sloping(rng, -1)


@world("inline: a loss that rises with b")
def _(rng):
    return sloping(rng, 1)


@world("inline: the constant of Laplace noise", tolerance=1e-4)
def _(rng):
    """By quantiles: the share outside, over the density at the edge."""

    def variance(epsilon):
        outside = 2 * laplace.sf(epsilon)
        density = (laplace.cdf(epsilon + 1e-5) - laplace.cdf(epsilon)) / 1e-5
        return outside / (2 * density) ** 2

    best = minimize_scalar(variance, bounds=(0, 3), method="bounded")
    return {r"\varepsilon": best.x}


@world("inline: the largest ν")
def _(rng):
    """At a low price all of the rarer class is bounded."""
    p = classes(int(rng.integers(1 << 30)))
    sides = {"N_+": int((p.t > 0).sum()), "N_-": int((p.t < 0).sum())}
    low = svm.fit_dual(p.K, p.t, 1e-4)
    return [
        sides | {"N": len(p.t), r"\nu": p.machine.nu},
        sides | {"N": len(p.t), r"\nu": low.nu, "@tight": True},
    ]


@world("inline: the ν-SVM", tolerance=1e-5)
def _(rng):
    """With the ν of a machine that has a price; δ where L is flat in κ."""
    p = classes(int(rng.integers(1 << 30)))
    nu = p.machine.nu
    dual, w, b, kappa = nu_machine(p, nu)

    def lagrangian(kappa):
        margins = p.t * (p.Phi @ w + b)
        return -nu * kappa - dual.x @ (margins - kappa)

    return {
        "N": len(p.t),
        "n": range(1, len(p.t) + 1),
        "C": p.C,
        r"\nu": nu,
        r"\kappa": kappa,
        r"\delta": lagrangian(1.0) - lagrangian(0.0),
        r"\boldsymbol\alpha": dual.x,
    }


@world("inline: any sum of multipliers")
def _(rng):
    """δ where the Lagrangian of the ν-SVM is flat in κ."""
    alpha, nu = rng.uniform(0.2, 1.0, 5), rng.uniform(0.3, 0.8)

    def lagrangian(kappa):
        return -nu * kappa - sum(a * (0.7 - kappa) for a in alpha)

    return {
        "n": range(1, 6),
        r"\boldsymbol\alpha": alpha,
        r"\nu": nu,
        r"\delta": lagrangian(1.0) - lagrangian(0.0),
    }


def two_points(C):
    """x = ±1 with targets ±2, and w through the inputs."""
    x = np.array([1.0, -1.0])
    fit = svr.fit_dual(np.outer(x, x), 2 * x, C, 0.5)
    return {
        "C": C,
        r"\varepsilon": 0.5,
        "a_": fit.a,
        "a": np.abs(fit.a).mean(),
        "w": x @ fit.a,
    }


@world("inline: two targets, a high price")
def _(rng):
    return two_points(rng.uniform(0.8, 2.0))


@world("inline: two targets, a low price")
def _(rng):
    return two_points(rng.uniform(0.1, 0.7))


@world("inline: almost no price", tolerance=1e-6)
def _(rng):
    p, bound = problem(rng)
    fit = svr.fit_dual(p.K, p.t, 1e-9, p.epsilon)
    return bound | {
        "e_": p.t - p.K @ fit.a,
    }


@world("inline: ν for the tube", tolerance=1e-6)
def _(rng):
    """scikit-learn takes ν and finds the width."""
    p, bound = problem(rng)
    nu = rng.uniform(0.2, 0.5)
    fit = NuSVR(kernel="precomputed", C=p.C, nu=nu, tol=1e-10).fit(p.K, p.t)
    a = np.zeros(N)
    a[fit.support_] = fit.dual_coef_[0]
    return bound | {r"\nu": nu, "a_": a}


@world("inline: a logistic loss at the same price", tolerance=1e-5)
def _(rng):
    """The λ that makes outputs as large as C does in the primal."""
    p = classes(int(rng.integers(1 << 30)))
    w = minimize(
        lambda w: w @ w / 2 + p.C * np.logaddexp(0, -p.t * (p.Phi @ w)).sum(),
        np.zeros(p.Phi.shape[1]),
        options={"gtol": 1e-9},
    ).x

    def too_large(lam):
        a = kernel_logistic.fit_dual(p.K, p.t, lam).a
        return np.linalg.norm(p.K @ a) - np.linalg.norm(p.Phi @ w)

    return {"C": p.C, r"\lambda": brentq(too_large, 0.1, 20)}
