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
    s = ridge.target_weights(p.K, p.k(p.X, [p.x]), p.lam)[:, 0]
    return bound | {
        "y": lambda x: ridge.predict(p.a, p.k(p.X, [x]))[0],
        r"\mathbf s": lambda x: s,
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
    return {**bindings(p), r"\mathbf u": u, r"\mathbf w": p.w}


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
    return bound | {
        r"\mathbf a": ridge.residual_coefficients(w, p.Phi, p.t - b, p.lam),
        "b": b,
        "t_": dict(enumerate(p.t, 1)),
        r"\mathbf H": np.array([e - e.mean() for e in np.eye(p.N)]).T,
    }
