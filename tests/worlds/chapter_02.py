"""Chapter 2: the dual representation."""

import numpy as np
from scipy.stats import ortho_group

from kernelbook import kernels, ridge

from . import world
from .common import bindings, ridge_problem


def anywhere(rng):
    """Weights and coefficients that solve nothing."""
    p = ridge_problem(rng)
    w, a = rng.standard_normal(p.M), rng.standard_normal(p.N)
    bound = {**bindings(p), r"\mathbf w": w, r"\mathbf a": a}
    return p, bound


def at_the_optimum(rng):
    """The weights by least squares, the coefficients from the Gram matrix."""
    p = ridge_problem(rng)
    return p, {**bindings(p), r"\mathbf w": p.w, r"\mathbf a": p.a}


@world("eq-6-2", "eq-ridge-gradient")
def _(rng):
    p, bound = anywhere(rng)
    return bound | {"J": lambda w: ridge.objective(w, p.Phi, p.t, p.lam)}


@world("eq-6-3", "eq-6-4", "eq-6-8")
def _(rng):
    return at_the_optimum(rng)[1]


@world("eq-6-5", "eq-6-7", "eq-dual-objective-square", "eq-dual-gradient")
def _(rng):
    p, bound = anywhere(rng)
    return bound | {
        "J": lambda a: ridge.objective(p.Phi.T @ a, p.Phi, p.t, p.lam)
    }


@world("eq-gram", "eq-6-6", "eq-kernel", "eq-kernel-vector")
def _(rng):
    return anywhere(rng)[1]


@world("eq-kernel-trick")
def _(rng):
    """With features that change nothing the arrow is an equality."""
    _, bound = anywhere(rng)
    plain = {r"\boldsymbol\phi": lambda x: x, "k": kernels.Linear(), r"\to": 1}
    return [bound, bound | plain]


@world("eq-dual-gaussian")
def _(rng):
    gamma = rng.uniform(0.2, 2.0)
    x, z = rng.standard_normal(2)
    k = kernels.Gaussian(gamma)
    return {
        r"\gamma": gamma,
        "x": x,
        "x'": z,
        "k": lambda x, z: k([[x]], [[z]])[0, 0],
    }


@world("eq-gram-rotation")
def _(rng):
    p, bound = anywhere(rng)
    return bound | {r"\mathbf Q": ortho_group.rvs(p.M, random_state=rng)}


@world("eq-6-9", "eq-target-weights")
def _(rng):
    p, bound = at_the_optimum(rng)
    return bound | {
        "y": lambda x: ridge.predict(p.a, p.k(p.X, [x]))[0],
        r"\mathbf s": lambda x: ridge.target_weights(
            p.K, p.k(p.X, [x]), p.lam
        )[:, 0],
    }


@world("eq-target-weight-vector")
def _(rng):
    """A target raised by one raises the prediction by its weight."""
    p, bound = anywhere(rng)

    def weights(x):
        return np.array(
            [
                ridge.predict(ridge.fit_dual(p.K, unit, p.lam), p.k(p.X, [x]))[
                    0
                ]
                for unit in np.eye(p.N)
            ]
        )

    return bound | {r"\mathbf s": weights}


@world("eq-equivalent-kernel", "eq-posterior-precision")
def _(rng):
    """S_N is the inverse Hessian of β times the ridge objective."""
    p, bound = at_the_optimum(rng)
    beta = rng.uniform(0.5, 3.0)
    zero = ridge.gradient(np.zeros(p.M), p.Phi, p.t, p.lam)
    hessian = beta * np.array(
        [ridge.gradient(e, p.Phi, p.t, p.lam) - zero for e in np.eye(p.M)]
    )
    return bound | {
        r"\beta": beta,
        r"\alpha": p.lam * beta,
        r"\mathbf S_N": np.linalg.inv(hessian),
        r"\mathbf s": lambda x: ridge.target_weights(
            p.K, p.k(p.X, [x]), p.lam
        )[:, 0],
        "y": lambda x: ridge.predict(p.a, p.k(p.X, [x]))[0],
    }


@world("eq-ridge-lagrangian-dual")
def _(rng):
    """min over w, r of ½‖r‖² + ½λ‖w‖² + λaᵀ(t − Φw − r), solved for both."""
    p, bound = anywhere(rng)

    def dual(a):
        w, r = p.Phi.T @ a, p.lam * a
        value = r @ r / 2 + p.lam * w @ w / 2
        return value + p.lam * a @ (p.t - p.Phi @ w - r)

    bound["J"] = lambda w: ridge.objective(w, p.Phi, p.t, p.lam)
    return bound | {"G": dual}


@world("eq-handout-objective")
def _(rng):
    p, bound = anywhere(rng)
    prior = rng.uniform(0.5, 2.0)
    return bound | {
        r"\sigma": np.sqrt(p.lam) * prior,
        r"\lambda_0": prior,
        "J": lambda a: ridge.objective(p.Phi.T @ a, p.Phi, p.t, p.lam),
    }


@world("eq-dual-column-space")
def _(rng):
    """More examples than features; u from (6.8), w by least squares."""
    p = ridge_problem(rng, N=9)
    u = np.linalg.lstsq(p.Phi, p.a, rcond=None)[0]
    shortest = np.linalg.pinv(p.Phi.T) @ p.w
    return {
        **bindings(p),
        r"\mathbf u": u,
        r"\mathbf w": p.w,
        r"\mathbf a": shortest,
    }


@world(
    "eq-dual-intercept-system",
    "eq-dual-intercept-sum",
    "eq-dual-centring",
    "eq-dual-centred",
    "eq-dual-intercept",
)
def _(rng):
    """Coefficients from the primal fit with an intercept: residuals over λ."""
    p, bound = anywhere(rng)
    w, b = ridge.fit_with_intercept(p.Phi, p.t, p.lam)
    dual = ridge.fit_dual_with_intercept(p.K, p.t, p.lam)
    return bound | {
        r"\mathbf w": w,
        "y": lambda x: dual.b + dual.a @ p.k(p.X, [x])[:, 0],
        r"\mathbf a": ridge.residual_coefficients(w, p.Phi, p.t - b, p.lam),
        "b": b,
        "t_": dict(enumerate(p.t, 1)),
        r"\mathbf H": np.array([e - e.mean() for e in np.eye(p.N)]).T,
    }


# Of relations in sentences ---------------------------------------------------


@world("inline: four powers")
def _(rng):
    powers = np.arange(4)
    return {
        "x": rng.uniform(0.5, 2.0),
        "x'": rng.uniform(-2.0, -0.5),
        "k": lambda x, z: x**powers @ z**powers,
    }


@world("inline: series of the Gaussian kernel")
def _(rng):
    """φ_j from φ_{j-1}, one factor x√(2γ/j) at a time."""
    gamma = rng.uniform(0.2, 0.8)
    x, z = rng.uniform(0.5, 1.5, size=2)
    k = kernels.Gaussian(gamma)

    def phi(j):
        factors = [np.sqrt(2 * gamma / i) for i in range(1, j + 1)]
        return lambda x: np.prod(factors) * x**j * np.exp(-gamma * x * x)

    return {
        r"\gamma": gamma,
        "x": x,
        "x'": z,
        "k": lambda x, z: k([[x]], [[z]])[0, 0],
        r"\phi_": phi,
        "j": range(6),
        r"\infty": 60,
    }


@world("inline: any vector")
def _(rng):
    p, bound = anywhere(rng)
    v = rng.standard_normal(p.N)
    return bound | {r"\mathbf v": v}


@world("inline: a vector that K sends to zero")
def _(rng):
    """The last input stands there twice."""
    p, bound = anywhere(rng)
    X, Phi = (np.vstack([rows, rows[-1:]]) for rows in (p.X, p.Phi))
    return bound | {
        r"\boldsymbol\Phi": Phi,
        r"\mathbf K": p.k(X),
        r"\mathbf k": lambda x: p.k(X, [x])[:, 0],
        r"\mathbf t": np.append(p.t, 1.0),
        r"\mathbf v": np.array([0.0] * (p.N - 1) + [1.0, -1.0]),
    }


@world("inline: two numbers by hand")
def _(rng):
    x, t = np.array([1.0, 2.0]), np.ones(2)
    K = kernels.Linear()(x[:, None])
    a = ridge.fit_dual(K, t, 1.0)
    return {
        r"\mathbf K": K,
        r"\mathbf I": np.eye(2),
        r"\mathbf a": a,
        "x": x,
        "t": t,
        "w": ridge.fit_primal(x[:, None], t, 1.0)[0],
        r"\lambda": (t - K @ a)[0] / a[0],
    }


@world("inline: two coordinates")
def _(rng):
    x, z = rng.standard_normal((2, 2))
    return {r"\mathbf x": x, r"\mathbf z": z}


@world("inline: leaving one out")
def _(rng):
    p, bound = at_the_optimum(rng)
    S = [ridge.target_weights(p.K, p.K, p.lam)[:, n] for n in range(p.N)]
    return bound | {r"\mathbf S": np.array(S)}


@world("inline: a prior that is not round")
def _(rng):
    """Ridge regression in the features L^½φ, and back."""
    p, bound = anywhere(rng)
    root = np.linalg.cholesky(np.cov(rng.standard_normal((p.M, 4 * p.M))))
    w = root @ ridge.fit_primal(p.Phi @ root, p.t, p.lam)
    return bound | {
        r"\mathbf L": root @ root.T,
        r"\mathbf w": w,
        r"\mathbf a": ridge.fit_dual(
            kernels.Linear()(p.Phi @ root), p.t, p.lam
        ),
        "k": lambda x, z: (p.phi(x) @ root) @ (p.phi(z) @ root),
    }


@world("inline: rounding")
def _(rng):
    return {r"\varepsilon": np.finfo(float).eps}
