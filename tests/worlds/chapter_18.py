"""Chapter 18: maximum margin."""

from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
from scipy.optimize import minimize_scalar
from typeset import Each, Sample

from kernelbook import margin, svm

from . import world

N, D = 7, 3


@cache
def data(seed):
    """Two classes with a street, solved by two solvers.

    ``hulls`` comes from the closest points of the convex hulls, w and b
    from the soft margin with a box that holds nobody back.
    """
    rng = np.random.default_rng(seed)
    t = np.array([1.0, -1, -1, 1, -1, 1, -1])
    X = rng.standard_normal((N, D)) + np.outer(t, [1.1, -0.8, 0.9]) + 0.5
    if not margin.separable(X, t):
        return data(seed + 1)
    machine = svm.fit_dual(X @ X.T, t, C=1e6)
    return SimpleNamespace(
        X=X,
        t=t,
        hulls=margin.closest_points(X, t),
        alpha=machine.alpha,
        w=X.T @ machine.coefficients,
        b=machine.b,
    )


def problem(rng):
    p = data(int(rng.integers(1 << 30)))
    return p, {
        "N": N,
        "n": range(1, N + 1),
        r"\mathbf x_": p.X,
        r"\mathbf t": p.t,
    }


def street(p, rng):
    """Some hyperplane that separates the classes, in any scale."""
    while True:
        w = p.w + rng.normal(scale=0.2, size=D) * np.linalg.norm(p.w)
        low, high = (p.X[p.t > 0] @ w).min(), (p.X[p.t < 0] @ w).max()
        if low > high:
            share, scale = rng.uniform(0.3, 0.7), rng.uniform(1.5, 3.0)
            return scale * w, -scale * (share * low + (1 - share) * high)


def to_hyperplane(w, b, x):
    """The length of the shortest step to wᵀx + b = 0."""
    step = np.linalg.lstsq(w[None], [-b - w @ x], rcond=None)[0]
    return np.linalg.norm(step)


@world("eq-margin-distance")
def _(rng):
    w, x = rng.standard_normal((2, D))
    b = rng.standard_normal()
    return {
        r"\mathbf w": w,
        r"\mathbf x": x,
        "b": b,
        "r": lambda x: to_hyperplane(w, b, x),
    }


@world("eq-margin-signed", "eq-margin-margin")
def _(rng):
    p, bound = problem(rng)
    w, b = street(p, rng)
    return bound | {
        r"\mathbf w": w,
        "b": b,
        "r": lambda x: to_hyperplane(w, b, x),
        r"\rho": lambda w, b: 2 * min(to_hyperplane(w, b, x) for x in p.X),
    }


@world("eq-margin-canonical", "eq-margin-width")
def _(rng):
    p, bound = problem(rng)
    w, b = margin.canonical(*street(p, rng), p.X, p.t)
    return bound | {
        r"\mathbf w": w,
        "b": b,
        r"\rho": 2 * min(to_hyperplane(w, b, x) for x in p.X),
    }


@world("eq-margin-lines")
def _(rng):
    """The street's edges touch the support vectors of both classes."""
    p, bound = problem(rng)
    touching = p.X[p.hulls.u > 0]
    return bound | {r"\mathbf w": p.w, "b": p.b, r"\mathbf x": Each(touching)}


def candidates(p, rng):
    """The optimum, narrower streets, and hyperplanes with no street."""
    found = [(p.w, p.b), (1.4 * p.w, 1.4 * p.b), (0.8 * p.w, 0.8 * p.b)]
    for _ in range(4):
        found.append(margin.canonical(*street(p, rng), p.X, p.t))
    found += [(0.95 * p.w, p.b + shift) for shift in (-0.2, 0.2)]
    return [{r"\mathbf w": w, "b": b} for w, b in found]


@world("eq-margin-maxmin")
def _(rng):
    p, bound = problem(rng)
    return bound | {
        r"\rho^*": p.hulls.upper,
        r"\max_{\mathbf w, b}": candidates(p, rng),
    }


@world("eq-margin-max")
def _(rng):
    p, bound = problem(rng)
    return bound | {
        "=": p.hulls.upper,
        r"\max_{\mathbf w, b}": candidates(p, rng),
    }


@world("eq-margin-norm")
def _(rng):
    p, bound = problem(rng)
    return bound | {
        "=": 2 / p.hulls.upper,
        r"\min_{\mathbf w, b}": candidates(p, rng),
    }


@world("eq-margin-qp")
def _(rng):
    p, bound = problem(rng)
    return bound | {
        "=": svm.dual_objective(p.alpha, p.X @ p.X.T, p.t),
        r"\min_{\mathbf w, b}": candidates(p, rng),
    }


def mixture(p, u):
    """The weights and the two points they mix."""
    first, second = np.zeros(D), np.zeros(D)
    for weight, label, x in zip(u, p.t, p.X, strict=True):
        if label > 0:
            first += weight * x
        else:
            second += weight * x
    return {r"\mathbf u": u, r"\mathbf p": first, r"\mathbf q": second}


def weights(p, rng):
    """Not negative, with sum one in each class."""
    u = rng.uniform(0.1, 1.0, N)
    for side in (p.t > 0, p.t < 0):
        u[side] /= u[side].sum()
    return u


@world("eq-margin-hulls")
def _(rng):
    p, bound = problem(rng)
    pairs = [p.hulls.u, *(weights(p, rng) for _ in range(4))]
    return bound | {
        r"\mathbf u": p.hulls.u,
        r"\mathbf p": p.hulls.p,
        r"\mathbf q": p.hulls.q,
        r"\min_{\mathbf u}": [mixture(p, u) for u in pairs],
        "=": 2 / np.linalg.norm(p.w),
    }


@world("eq-margin-weak")
def _(rng):
    """Any street and any pair; the best street and the closest pair."""
    p, _ = problem(rng)
    w, _ = margin.canonical(*street(p, rng), p.X, p.t)
    return [
        {r"\mathbf w": w, **mixture(p, weights(p, rng))},
        {r"\mathbf w": p.w, **mixture(p, p.hulls.u), "@tight": True},
    ]


@world("eq-margin-from-hulls")
def _(rng):
    p, _ = problem(rng)
    return {
        r"\mathbf w": p.w,
        r"\mathbf p": p.hulls.p,
        r"\mathbf q": p.hulls.q,
    }


@world("eq-margin-dual")
def _(rng):
    """By the hulls: 2s − ½s²‖p − q‖² for α = su."""
    p, bound = problem(rng)

    def G(alpha):
        s = alpha.sum() / 2
        mixed = mixture(p, alpha / s)
        apart = np.linalg.norm(mixed[r"\mathbf p"] - mixed[r"\mathbf q"])
        return 2 * s - s**2 * apart**2 / 2

    u = mixture(p, weights(p, rng))[r"\mathbf u"]
    return bound | {
        r"\boldsymbol\alpha": rng.uniform(0.5, 2.0) * u,
        "G": G,
    }


@world("eq-margin-weights")
def _(rng):
    """Multipliers from one solver, weights from the other."""
    p, bound = problem(rng)
    w = margin.hard_margin(p.X, p.t).w
    return bound | {r"\mathbf w": w, r"\boldsymbol\alpha": p.alpha}


@world("eq-margin-slackness")
def _(rng):
    p, bound = problem(rng)
    alpha = margin.hard_margin(p.X, p.t).alpha
    return bound | {
        r"\mathbf w": p.w,
        "b": p.b,
        r"\boldsymbol\alpha": alpha,
    }


def left_out_errors(X, t):
    """Refit without each example in turn, by the soft margin's solver."""
    errors = 0
    for n in range(len(t)):
        kept = np.arange(len(t)) != n
        machine = svm.fit_dual(X[kept] @ X[kept].T, t[kept], C=1e6)
        y = X[n] @ (X[kept].T @ machine.coefficients) + machine.b
        errors += t[n] * y <= 0
    return int(errors)


@world("eq-margin-loo")
def _(rng):
    """Random classes; on a line, two close pairs are two errors.

    Two points of each class, the inner ones close, the outer ones so far
    away that both inner ones are errors: as many as support vectors.
    """
    p, _ = problem(rng)
    line = np.array([[0.0], [10], [11], [21]])
    sides = np.array([-1.0, -1, 1, 1])
    street = svm.fit_dual(line @ line.T, sides, C=1e6)
    return [
        {
            "e_N": left_out_errors(p.X, p.t),
            r"\mathcal S": set(np.flatnonzero(p.hulls.u)),
        },
        {
            "e_N": left_out_errors(line, sides),
            r"\mathcal S": set(np.flatnonzero(street.alpha)),
            "@tight": True,
        },
    ]


@world("eq-margin-radius")
def _(rng):
    """The corners of a simplex, near and far: all are errors when left out."""
    found = []
    for unit in (1e-3, 1.0, 1e3):
        m = int(rng.integers(2, 5))
        X, t = unit * np.eye(2 * m), np.repeat([1.0, -1.0], m)
        found.append(
            {
                "e_N": left_out_errors(X / unit, t),
                r"\Delta": np.linalg.norm(X[0] - X[-1]),
                r"\rho": margin.closest_points(X, t).upper,
            }
        )
    return found


@cache
def six_points():
    """Errors of every set of up to three of six points, on all of them."""
    X = np.array([[0.0, 0], [2, 1], [1, 3], [2, 2.5], [4, 1], [3, 4]])
    t = np.array([-1.0, -1, -1, 1, 1, 1])
    found = {}
    for sample in product(range(6), repeat=3):
        train = sorted(set(sample))
        if len(set(t[train])) == 1:
            found[frozenset(train)] = t != t[train[0]]
        else:
            machine = svm.fit_dual(X[train] @ X[train].T, t[train], C=1e6)
            y = X @ (X[train].T @ machine.coefficients) + machine.b
            found[frozenset(train)] = t * y <= 0
    return found


@world("eq-margin-luntz")
def _(rng):
    """Data sets of four out of six points, with equal chances."""
    wrong = six_points()
    samples = rng.integers(6, size=(20_000, 4)).tolist()
    fresh = rng.integers(6, size=(20_000, 3)).tolist()
    left_out = [
        sum(wrong[frozenset(s[:n] + s[n + 1 :])][s[n]] for n in range(4))
        for s in samples
    ]
    return {
        "N": 4,
        r"\epsilon_{N-1}": Sample(
            np.array([wrong[frozenset(s)].mean() for s in fresh])
        ),
        "e_N": Sample(np.array(left_out, dtype=float)),
    }


# Of relations in sentences, and of displays without a label ------------------


@world("inline: the foot on a hyperplane")
def _(rng):
    """In sixteenths, which add up to zero without rounding."""
    w = 1.5 * rng.choice([-1.0, 1.0], 4)  # its length is 3
    x, r = rng.integers(-40, 40, 4) / 16, rng.integers(1, 40) / 16
    foot = x - r * np.sign(w) / 2
    b = -w @ foot
    return {
        r"\mathbf w": w,
        r"\mathbf x": x,
        r"\mathbf x_0": foot,
        "b": b,
        "r": r,
    }


@world("inline: any hyperplane")
def _(rng):
    """Another point is any step away that stays on it."""
    w, x, step = rng.standard_normal((3, D))
    b = rng.standard_normal()
    foot = x + np.linalg.lstsq(w[None], [-b - w @ x], rcond=None)[0]
    along = np.linalg.svd(w[None])[2][1:].T
    return {
        r"\mathbf w": w,
        r"\mathbf x": x,
        r"\mathbf x_0": foot,
        r"\mathbf d": along @ step[1:],
        "r": np.sign(w @ x + b) * np.linalg.norm(x - foot),
    }


@world("inline: a mixture of examples")
def _(rng):
    """Of any pair, across any street, and with any sum."""
    p, bound = problem(rng)
    w, b = margin.canonical(*street(p, rng), p.X, p.t)
    mixed, s = mixture(p, weights(p, rng)), rng.uniform(0.5, 2.0)
    alpha = s * mixed[r"\mathbf u"]
    return bound | {
        r"\mathbf w": w,
        "b": b,
        **mixed,
        "s": s,
        r"\boldsymbol\alpha": alpha,
        "G": svm.dual_objective(alpha, p.X @ p.X.T, p.t),
    }


def bridge(p):
    """w, b and multipliers from one solver, the hulls from the other."""
    z = p.hulls.p - p.hulls.q
    return {
        r"\mathbf w": p.w,
        "b": p.b,
        r"\boldsymbol\alpha": p.alpha,
        "s": p.alpha.sum() / 2,
        "G": svm.dual_objective(p.alpha, p.X @ p.X.T, p.t),
        r"\mathbf u": p.hulls.u,
        r"\mathbf p": p.hulls.p,
        r"\mathbf q": p.hulls.q,
        r"\mathbf z": z,
        "c": np.linalg.norm(p.w) / np.linalg.norm(z),
        r"\rho": p.hulls.upper,
        r"\rho^*": p.hulls.upper,
        r"\epsilon": 0.999 * min(to_hyperplane(p.w, p.b, x) for x in p.X),
    }


CHOSEN = {
    "the bridge": lambda p: p.t != 0,
    "class +1": lambda p: p.t > 0,
    "the support vectors": lambda p: p.hulls.u > 0,
    "the support vectors of class +1": lambda p: (p.hulls.u > 0) & (p.t > 0),
}


def with_chosen(keep):
    def build(rng):
        p, bound = problem(rng)
        return bound | bridge(p) | {"n": Each(np.flatnonzero(keep(p)) + 1)}

    return build


for name, keep in CHOSEN.items():
    world(f"inline: {name}")(with_chosen(keep))


@world("inline: the lower edge")
def _(rng):
    p, _ = problem(rng)
    touching = p.X[(p.hulls.u > 0) & (p.t < 0)]
    return bridge(p) | {r"\mathbf x": Each(touching)}


@world("inline: a scale by search", tolerance=1e-6)
def _(rng):
    d = rng.uniform(0.5, 2.0)
    found = minimize_scalar(lambda s: s**2 * d**2 + (1 - s) ** 2)
    return {"d": d, "s": found.x}


def optimum(X, t, kept):
    """Multipliers with a zero for what is left out, w, b and the mixture."""
    machine = svm.fit_dual(X[kept] @ X[kept].T, t[kept], C=1e6)
    alpha = np.zeros(len(t))
    alpha[kept] = machine.alpha
    low = t < 0
    q = alpha[low] @ X[low] / alpha[low].sum()
    return alpha, X[kept].T @ machine.coefficients, machine.b, q


@world("inline: an error when left out")
def _(rng):
    """Its multiplier goes, and class −1 is lowered in proportion."""
    while True:
        t = np.array([1.0, -1, -1, 1, -1, 1])
        X = rng.standard_normal((6, 2)) + t[:, None]
        if not margin.separable(X, t):
            continue
        alpha, w, _, q = optimum(X, t, np.full(6, True))
        for n in np.flatnonzero((alpha > 0) & (t > 0)):
            alpha2, w2, b2, q2 = optimum(X, t, np.arange(6) != n)
            if w2 @ X[n] + b2 <= 0:
                break
        else:
            continue
        break
    lowered = alpha.copy()
    lowered[n] = 0
    lowered[t < 0] *= 1 - alpha[n] / alpha[t < 0].sum()
    Delta = max(np.linalg.norm(x - z) for x in X[t > 0] for z in X[t < 0])
    rise = minimize_scalar(lambda delta: delta**2 * Delta**2 / 2 - delta)
    return {
        "n": Each([n + 1]),
        r"\mathbf x_": X,
        r"\boldsymbol\alpha": alpha,
        r"\boldsymbol\alpha'": alpha2,
        r"\mathbf q": q,
        r"\mathbf w'": w2,
        "b'": b2,
        r"\mathbf q'": q2,
        r"\mathbf d": w - (lowered * t) @ X,
        r"\Delta": Delta,
        r"\delta": rise.x,
        "G": lambda alpha: svm.dual_objective(alpha, X @ X.T, t),
        "@tolerance": 1e-6,
    }


@world("inline: alone in its class")
def _(rng):
    X = rng.standard_normal((4, D))
    X[0] += 4
    t = np.array([1.0, -1, -1, -1])
    alpha = svm.fit_dual(X @ X.T, t, C=1e6).alpha
    return {
        "n": Each([1]),
        r"\boldsymbol\alpha": alpha,
        "s": alpha[1:].sum(),
        r"\rho": margin.closest_points(X, t).upper,
        r"\Delta": max(np.linalg.norm(X[0] - x) for x in X[1:]),
    }


@world("inline: hulls that meet")
def _(rng):
    """Two diagonals that cross."""
    turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    X = np.array([[1.0, 1], [-2, -2], [1, -1], [-3, 3]]) @ turn + 1
    t, s = np.array([1.0, 1, -1, -1]), rng.uniform(0.5, 2.0)
    shared = margin.closest_points(X, t)
    return {
        r"\mathbf p": shared.p,
        r"\mathbf q": shared.q,
        "s": s,
        "G": svm.dual_objective(s * shared.u, X @ X.T, t),
    }


@world("inline: heights alone")
def _(rng):
    X = np.array([[158.0], [163], [166], [172], [178], [185]])
    t = np.repeat([-1.0, 1.0], 3)
    machine = svm.fit_dual(X @ X.T, t, C=1e6)
    hulls = margin.closest_points(X, t)
    return {
        r"\rho": hulls.upper,
        "u": Each(hulls.u[hulls.u > 0]),
        "w": (machine.coefficients @ X)[0],
        "b": machine.b,
        r"\alpha": Each(machine.alpha[machine.alpha > 0]),
    }


@world("inline: a street through the origin")
def _(rng):
    """For the examples that are errors when left out."""
    p, bound = problem(rng)

    def through_origin(kept):
        X, t = p.X[kept], p.t[kept]
        machine = svm.fit_dual(X @ X.T, t, C=1e6, bias=False)
        return machine.alpha, X.T @ machine.coefficients

    alpha, w = through_origin(np.full(N, True))
    rest = [through_origin(np.arange(N) != n)[1] for n in range(N)]
    errors = [n for n in range(N) if p.t[n] * (rest[n] @ p.X[n]) <= 0]
    return bound | {
        r"\mathbf w": w,
        r"\boldsymbol\alpha": alpha,
        r"\gamma": min(to_hyperplane(w, 0.0, x) for x in p.X),
        "n": Each([n + 1 for n in errors]),
    }
