"""Chapter 3: the probabilistic view."""

from types import SimpleNamespace

import numpy as np
from scipy import optimize, stats
from scipy.special import expit
from typeset import Each, Of

from kernelbook import kernel_logistic, kernels, perceptron, ridge

from . import world
from .common import bindings, ridge_problem


def with_noise_and_prior(rng):
    """Noise σ and prior width λ₀; ŵ maximises the posterior."""
    p = ridge_problem(rng)
    sigma, prior = rng.uniform(0.5, 2.0, size=2)
    whitened = np.vstack([p.Phi / sigma, np.eye(p.M) / prior])
    targets = np.concatenate([p.t / sigma, np.zeros(p.M)])
    w = np.linalg.lstsq(whitened, targets, rcond=None)[0]
    return p, bindings(p) | {
        r"\sigma": sigma,
        r"\lambda_0": prior,
        r"\mathbf w": rng.standard_normal(p.M),
        r"\hat{\mathbf w}": w,
    }


@world("eq-bayes-likelihood")
def _(rng):
    p, bound = with_noise_and_prior(rng)
    return bound | {
        "t": rng.standard_normal(),
        "p": lambda t, x, w, sigma: stats.norm.pdf(t, w @ p.phi(x), sigma),
    }


@world("eq-bayes-prior", "eq-bayes-posterior")
def _(rng):
    p, bound = with_noise_and_prior(rng)
    sigma, prior = bound[r"\sigma"], bound[r"\lambda_0"]

    def density(value, given=None):
        """Of the weights, or of the targets given weights."""
        if np.ndim(given) == 0:
            return stats.norm.pdf(value, 0, given or prior).prod()
        return stats.norm.pdf(value, p.Phi @ given, sigma).prod()

    return bound | {"p": density}


@world("eq-bayes-lambda")
def _(rng):
    """The λ for which ŵ is a stationary point of ridge regression."""
    p, bound = with_noise_and_prior(rng)
    w = bound[r"\hat{\mathbf w}"]
    lam = w @ p.Phi.T @ (p.t - p.Phi @ w) / (w @ w)
    return bound | {r"\lambda": lam}


@world("eq-bayes-weights", "eq-bayes-coefficients")
def _(rng):
    p, bound = with_noise_and_prior(rng)
    lam = (bound[r"\sigma"] / bound[r"\lambda_0"]) ** 2
    return bound | {r"\mathbf a": ridge.fit_dual(p.K, p.t, lam)}


@world(
    "eq-bayes-posterior-density",
    "eq-bayes-posterior-moments",
    "eq-bayes-predictive",
)
def _(rng):
    """Densities by Bayes' rule; the covariance by conditioning on t."""
    p, bound = with_noise_and_prior(rng)
    sigma, prior = bound[r"\sigma"], bound[r"\lambda_0"]

    def evidence(X, t):
        Phi = np.array([p.phi(x) for x in X])
        covariance = prior**2 * Phi @ Phi.T + sigma**2 * np.eye(len(t))
        return stats.multivariate_normal(cov=covariance).pdf(t)

    def density(value, *given):
        """Of the weights given targets, or of a target at x given others."""
        if len(given) == 1:
            seen = stats.norm.pdf(given[0], p.Phi @ value, sigma).prod()
            believed = stats.norm.pdf(value, 0, prior).prod()
            return seen * believed / evidence(p.X, given[0])
        x, t = given
        both = evidence(np.vstack([p.X, x]), np.append(t, value))
        return both / evidence(p.X, t)

    covariance = prior**2 * p.K + sigma**2 * np.eye(p.N)
    known = prior**4 * p.Phi.T @ np.linalg.solve(covariance, p.Phi)
    precision = np.linalg.inv(prior**2 * np.eye(p.M) - known)
    parts = [np.eye(p.M).ravel(), (p.Phi.T @ p.Phi).ravel()]
    shares = np.linalg.lstsq(np.array(parts).T, precision.ravel())[0]
    return bound | {
        "p": density,
        r"\alpha": shares[0],
        r"\beta": shares[1],
        "t": rng.standard_normal(),
        r"\mathbf m_N": bound[r"\hat{\mathbf w}"],
        r"\mathbf S_N": prior**2 * np.eye(p.M) - known,
    }


def logistic_problem(rng):
    """Labels in place of targets, and coefficients that solve nothing."""
    p = ridge_problem(rng)
    p = SimpleNamespace(**vars(p) | {"t": np.array([1.0, -1, -1, 1, -1])})
    return p, bindings(p) | {
        r"\mathbf w": rng.standard_normal(p.M) / 3,
        r"\mathbf a": rng.standard_normal(p.N) / 3,
        r"\lambda_0": p.lam**-0.5,
        "P": lambda t, x, w: expit(t * (w @ p.phi(x))),
    }


@world("eq-bayes-logistic-model")
def _(rng):
    """z is the logarithm of the ratio of the two probabilities."""
    _, bound = logistic_problem(rng)
    at = bound[r"\mathbf x"], bound[r"\mathbf w"]
    plus, minus = (bound["P"](t, *at) for t in (1, -1))
    return bound | {
        "t": rng.choice([-1.0, 1.0]),
        "z": np.log(plus / minus),
        r"\mathrm{sigmoid}": expit,
    }


@world("eq-bayes-logistic-objective", "eq-bayes-logistic-gradient")
def _(rng):
    p, bound = logistic_problem(rng)
    return bound | {
        "J": lambda w: kernel_logistic.objective(w, p.Phi, p.t, p.lam)
    }


def most_probable(p):
    """ŵ: Newton's method in the weights, written out."""
    w = np.zeros(p.M)
    for _ in range(30):
        P = expit(p.Phi @ w)
        hessian = (p.Phi.T * P * (1 - P)) @ p.Phi + p.lam * np.eye(p.M)
        slope = kernel_logistic.gradient(w, p.Phi, p.t, p.lam)
        w = w - np.linalg.solve(hessian, slope)
    return w


@world("eq-bayes-logistic-weights", "eq-bayes-logistic-coefficients")
def _(rng):
    p, bound = logistic_problem(rng)
    a = kernel_logistic.fit_dual(p.K, p.t, p.lam, tolerance=1e-13).a
    return bound | {r"\mathbf a": a, r"\hat{\mathbf w}": most_probable(p)}


def newton(rng):
    """The residual and the curvature at coefficients that solve nothing."""
    p, bound = logistic_problem(rng)
    a = bound[r"\mathbf a"]
    y = p.Phi @ (p.Phi.T @ a)
    return p, bound | {
        "c": rng.uniform(1.5, 3.0),
        r"\mathbf y": y,
        r"\mathbf r": kernel_logistic.dual_residual(a, p.K, p.t, p.lam),
        r"\mathbf W": np.diag(expit(y) * expit(-y)),
        "J": lambda a: kernel_logistic.objective(
            p.Phi.T @ a, p.Phi, p.t, p.lam
        ),
    }


@world("eq-bayes-logistic-residual", "eq-bayes-logistic-dual-objective")
def _(rng):
    return newton(rng)[1]


@world("eq-bayes-logistic-newton")
def _(rng):
    p, bound = newton(rng)
    step = kernel_logistic.newton_step(bound[r"\mathbf a"], p.K, p.t, p.lam)
    return bound | {r"\mathbf d": step}


def entropy(c):
    """Of a coin, by SciPy."""
    return stats.entropy([c, 1 - c])


@world("eq-logistic-tangent")
def _(rng):
    """Anywhere; then where the tangent touches."""
    z = rng.uniform(-2.0, 2.0)
    worlds = [
        {"z": z, "q": rng.uniform(0.1, 0.9), "H": entropy},
        {"z": z, "q": expit(-z), "H": entropy, "@tight": True},
    ]
    return worlds


@world("eq-logistic-entropy-dual")
def _(rng):
    """G is the lowest point over w of what the tangents leave of J."""
    p, bound = logistic_problem(rng)

    def lowest(a):
        c = p.lam * p.t * a
        pull = p.Phi.T @ (c * p.t)
        w = np.linalg.lstsq(p.lam * np.eye(p.M), pull, rcond=None)[0]
        entropies = sum(entropy(c_n) for c_n in c)
        return entropies - pull @ w + p.lam / 2 * sum(w**2)

    return bound | {
        r"\mathbf a": p.t * rng.uniform(0.1, 0.9, p.N) / p.lam,
        "G": lowest,
        "H": entropy,
    }


@world("eq-logistic-weak-duality")
def _(rng):
    """Anywhere in the box; then at the solution of either problem."""
    p, bound = logistic_problem(rng)

    def dual(a):
        entropies = sum(entropy(c) for c in p.lam * p.t * a)
        return entropies - p.lam / 2 * sum((p.Phi.T @ a) ** 2)

    bound |= {
        r"\mathbf a": p.t * rng.uniform(0.1, 0.9, p.N) / p.lam,
        "G": dual,
        "J": lambda w: kernel_logistic.objective(w, p.Phi, p.t, p.lam),
    }
    best = kernel_logistic.fit_dual(p.K, p.t, p.lam, tolerance=1e-13).a
    met = {r"\mathbf a": best, r"\mathbf w": most_probable(p)}
    return [bound, bound | met | {"@tight": True}]


@world("eq-bayes-logistic-predict")
def _(rng):
    p, bound = logistic_problem(rng)
    a = bound[r"\mathbf a"]
    chance = kernel_logistic.probability(a, p.k(p.X, [p.x]))[0]
    return bound | {r"P(t = 1 \mid \mathbf x)": chance}


def two_weights(rng):
    """A constant and x: few enough weights for sums over a grid."""
    X = rng.uniform(-2, 2, (6, 1))
    t = np.array([1.0, -1, 1, -1, -1, 1])
    lam = rng.uniform(0.5, 1.5)

    def phi(x):
        return np.array([1.0, np.ravel(x)[0]])

    Phi = np.array([phi(x) for x in X])
    p = SimpleNamespace(Phi=Phi, t=t, lam=lam, M=2, N=len(t))
    return p, {
        "N": p.N,
        "M": p.M,
        "n": range(1, p.N + 1),
        r"\lambda": lam,
        r"\mathbf x": rng.uniform(-2, 2, 1),
        r"\mathbf x_": X,
        r"\boldsymbol\phi": phi,
        r"\hat{\mathbf w}": most_probable(p),
    }


def grid(width, size):
    """Points of the plane, and the area of each."""
    side, step = np.linspace(-width, width, size, retstep=True)
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    return points, np.full(len(points), step**2)


@world("eq-logistic-average")
def _(rng):
    """The left side as a ratio of evidences, by another quadrature."""
    p, bound = two_weights(rng)
    z, weight = np.polynomial.hermite_e.hermegauss(60)
    w = np.stack(np.meshgrid(z, z), axis=-1).reshape(-1, 2) / np.sqrt(p.lam)
    weights = np.outer(weight, weight).ravel() / (2 * np.pi)

    def evidence(Phi, t):
        return weights @ np.prod(expit(w @ Phi.T * t), axis=1)

    now = evidence(p.Phi, p.t)
    phi = bound[r"\boldsymbol\phi"](bound[r"\mathbf x"])
    more = evidence(np.vstack([p.Phi, phi]), np.append(p.t, 1.0))

    def posterior(w, t):
        prior = stats.norm.pdf(w, 0, p.lam**-0.5).prod()
        return np.prod(expit(p.Phi @ w * t)) * prior / now

    return bound | {
        r"P(t = 1 \mid \mathbf x, \mathbf t)": more / now,
        r"\mathbf t": p.t,
        "p": posterior,
        r"d\mathbf w": grid(12.0, 81),
    }


@world("eq-logistic-laplace", tolerance=1e-5)
def _(rng):
    """The covariance as the inverse of the curvature, by differences."""
    p, bound = two_weights(rng)
    w, h = bound[r"\hat{\mathbf w}"], 1e-5
    curvature = [
        kernel_logistic.gradient(w + h * e, p.Phi, p.t, p.lam)
        - kernel_logistic.gradient(w - h * e, p.Phi, p.t, p.lam)
        for e in np.eye(2)
    ]
    return bound | {
        r"\mathbf S": np.linalg.inv(np.array(curvature) / (2 * h)),
        "P_": expit(p.t * (p.Phi @ w)),
    }


@world("eq-perceptron-dual-weights", "eq-perceptron-dual-output")
def _(rng):
    p, bound = logistic_problem(rng)
    w = perceptron.fit_primal(p.Phi, p.t).w
    return bound | {
        r"\mathbf w": w,
        r"\mathbf a": np.linalg.lstsq(p.Phi.T, w)[0],
        "c": perceptron.fit_dual(p.K, p.t).c,
        "y": lambda x: w @ p.phi(x),
    }


@world("eq-representer-problem", "eq-representer-split")
def _(rng):
    """The hinge loss, with what it does not see split off."""
    p, bound = logistic_problem(rng)
    span = np.linalg.qr(p.Phi.T)[0]
    w = rng.standard_normal(p.M)
    inside = span @ (span.T @ w)

    def risk(w):
        outputs = [w @ p.phi(x) for x in p.X]
        hinges = [max(0, 1 - t * y) for t, y in zip(p.t, outputs, strict=True)]
        return sum(hinges) + p.lam / 2 * sum(w**2)

    return bound | {
        r"\mathbf w": w,
        r"\mathbf w_\parallel": inside,
        r"\mathbf w_\perp": w - inside,
        "F": risk,
        "L": lambda *y: np.maximum(0, 1 - p.t * np.array(y)).sum(),
        r"\Omega": lambda length: p.lam / 2 * length**2,
    }


@world("eq-representer-coefficients")
def _(rng):
    """The logistic loss; its dual coefficients, found by Newton's method."""
    p, bound = logistic_problem(rng)
    a = kernel_logistic.fit_dual(p.K, p.t, p.lam, tolerance=1e-13).a
    return bound | {
        r"\mathbf a": a,
        r"\mathbf y": p.Phi @ (p.Phi.T @ a),
        "L": lambda y: np.logaddexp(0, -p.t * y).sum(),
    }


@world("eq-representer-bias")
def _(rng):
    """The hinge loss with an intercept, one example at a time."""
    p, bound = logistic_problem(rng)

    def risk(w, b):
        total = p.lam / 2 * sum(w**2)
        for t, x in zip(p.t, p.X, strict=True):
            total += max(0, 1 - t * (w @ p.phi(x) + b))
        return total

    return bound | {
        "b": rng.uniform(0.3, 2.0),
        "F": risk,
        "L": lambda *y: np.maximum(0, 1 - p.t * np.array(y)).sum(),
        r"\Omega": lambda length: p.lam / 2 * length**2,
    }


# Of relations in sentences, and of displays without a label ------------------


@world("inline: below the logistic objective")
def _(rng):
    """Anywhere; then with the probabilities at which every tangent touches."""
    p, bound = logistic_problem(rng)
    touching = expit(-p.t * (p.Phi @ bound[r"\mathbf w"]))
    bound |= {
        "H": entropy,
        "J": lambda w: kernel_logistic.objective(w, p.Phi, p.t, p.lam),
    }
    return [
        bound | {"q_": rng.uniform(0.1, 0.9, p.N)},
        bound | {"q_": touching, "@tight": True},
    ]


@world("inline: the most probable weights")
def _(rng):
    """The weights and, apart, their coefficients."""
    p, bound = logistic_problem(rng)
    w = most_probable(p)
    a = kernel_logistic.fit_dual(p.K, p.t, p.lam, tolerance=1e-13).a
    solved = kernel_logistic.residual_coefficients(w, p.Phi, p.t, p.lam)
    owed = expit(-p.t * (p.Phi @ w))
    return bound | {
        r"\mathbf w": w,
        r"\mathbf a": a,
        r"\mathbf y": p.K @ a,
        r"\mathbf r": kernel_logistic.dual_residual(solved, p.K, p.t, p.lam),
        "q_": owed,
        "P_": 1 - owed,
    }


@world("inline: how a loss bends", tolerance=1e-5)
def _(rng):
    """The second derivatives of the losses by their outputs."""
    p, bound = newton(rng)
    y, h = bound[r"\mathbf y"] / 9, 1e-4
    losses = [np.logaddexp(0, -p.t * (y + s * h)) for s in (-1, 0, 1)]
    bent = (losses[0] - 2 * losses[1] + losses[2]) / h**2
    return bound | {r"\mathbf W": np.diag(bent), "P_": expit(p.t * y)}


@world("inline: variances of their own")
def _(rng):
    p, bound = with_noise_and_prior(rng)
    widths, sigma = rng.uniform(0.5, 2.0, p.M), bound[r"\sigma"]
    both = np.vstack([p.Phi / sigma, np.diag(1 / widths)])
    targets = np.concatenate([p.t / sigma, np.zeros(p.M)])
    K = kernels.Linear()(p.Phi * widths)
    return bound | {
        r"\mathbf L": np.diag(widths**2),
        r"\hat{\mathbf w}": np.linalg.lstsq(both, targets)[0],
        r"\mathbf a": ridge.fit_dual(K, p.t, sigma**2),
    }


@world("inline: a free intercept at its minimum", tolerance=1e-5)
def _(rng):
    p, bound = logistic_problem(rng)

    def losses(y):
        return np.logaddexp(0, -p.t * y).sum()

    def risk(v):
        return losses(p.Phi @ v[:-1] + v[-1]) + p.lam / 2 * v[:-1] @ v[:-1]

    *w, b = optimize.minimize(risk, np.zeros(p.M + 1), tol=1e-9).x
    return bound | {
        "b": b,
        r"\mathbf y": p.Phi @ w + b,
        "F": Of("b", lambda b: risk(np.append(w, b))),
        "L": Of(r"\mathbf y", losses),
    }


def their_strength(price):
    """Weights that minimise a sum with other factors, and λ from those."""

    def build(rng):
        p, bound = logistic_problem(rng)
        factor, strength = price(p, number := rng.uniform(0.2, 0.6))

        def theirs(w):
            losses = np.logaddexp(0, -p.t * (p.Phi @ w)).sum()
            return factor * losses + strength / 2 * w @ w

        w = optimize.minimize(theirs, np.zeros(p.M), tol=1e-9).x
        pull = kernel_logistic.gradient(w, p.Phi, p.t, 0.0)
        lam = -(w @ pull) / (w @ w)
        return bound | {r"\lambda": lam, "C": number, r"\lambda'": number}

    return build


world("inline: LIBLINEAR's strength", tolerance=1e-5)(
    their_strength(lambda p, number: (number, 1.0))
)
world("inline: the strength of a mean", tolerance=1e-5)(
    their_strength(lambda p, number: (1 / p.N, number))
)


@world("inline: where the tangent touches", tolerance=1e-6)
def _(rng):
    """Where the loss falls at the rate q, by search."""
    q = rng.uniform(0.1, 0.9)
    found = optimize.minimize_scalar(lambda z: np.logaddexp(0, -z) + q * z)
    return {"q": q, "z": found.x, r"\mathrm{sigmoid}": expit}


@world("inline: the undecided coin", tolerance=1e-6)
def _(rng):
    q = optimize.minimize_scalar(lambda q: -entropy(q), bounds=(0.1, 0.8)).x
    return {"n": range(1, 4), "q_": [q] * 3}


@world("inline: a sum of sizes")
def _(rng):
    w = rng.standard_normal(4)
    length = np.linalg.norm(w, 1)
    return {
        r"\mathbf w": w,
        "j": range(1, 5),
        r"\lVert\mathbf w\rVert_1": length,
    }


@world("inline: two labels by hand")
def _(rng):
    """The weight by Newton's method, the coefficients from the kernel."""
    x = t = np.array([1.0, -1.0])
    w = most_probable(SimpleNamespace(Phi=x[:, None], t=t, lam=1.0, M=1))[0]
    a = kernel_logistic.fit_dual(np.outer(x, x), t, 1.0, tolerance=1e-13).a
    chance = kernel_logistic.probability(a, x[:, None])[0]
    return {"n": range(1, 3), "x": x, "t": t, "w": w, "a": a, "P": chance}


@world("inline: noise with heavy tails", tolerance=1e-4)
def _(rng):
    """λ from two posterior densities; coefficients in the box by search."""
    p, bound = with_noise_and_prior(rng)
    b, prior = rng.uniform(0.5, 2.0), bound[r"\lambda_0"]

    def surprise(w):
        seen = stats.laplace.logpdf(p.t, p.Phi @ w, b).sum()
        return -b * (seen + stats.norm.logpdf(w, 0, prior).sum())

    def sizes(w):
        return np.abs(p.t - p.Phi @ w).sum()

    w, zero = bound[r"\mathbf w"], np.zeros(p.M)
    rise = surprise(w) - surprise(zero) - (sizes(w) - sizes(zero))
    lam = 2 * rise / (w @ w)
    a = optimize.minimize(
        lambda a: a @ p.K @ a / 2 - a @ p.t,
        np.zeros(p.N),
        bounds=[(-1 / lam, 1 / lam)] * p.N,
        tol=1e-12,
    ).x
    missed = np.flatnonzero(np.abs(p.t - p.K @ a) > 1e-3) + 1
    return bound | {
        "b": b,
        r"\lambda": lam,
        r"\mathbf a": a,
        "y_": p.K @ a,
        "n": Each(missed.tolist()),
        r"\mathrm{sign}": np.sign,
    }


@world("inline: a bell through a curve")
def _(rng):
    m = rng.uniform(0.5, 2.0)
    return {
        "m": m,
        "e": m * rng.uniform(0.2, 1.0),
        "y": rng.uniform(0.5, 2.0),
        r"\mathrm{sigmoid}": expit,
        "f": lambda y: np.tanh(y / 2) / 2,
    }
