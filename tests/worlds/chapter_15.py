"""Chapter 15: logistic regression."""

from types import SimpleNamespace

import numpy as np
from scipy import special, stats
from sklearn.linear_model import LogisticRegression
from typeset import Each, Event, From, Law, Of, Sample

from kernelbook import (
    bayes,
    discriminant,
    evaluation,
    features,
    logistic,
    margin,
)
from kernelbook import softmax as softmax_regression

from . import world


def sigma(z):
    """The logistic function, by the hyperbolic tangent."""
    return (1 + np.tanh(z / 2)) / 2


def problem(rng, N=7, D=2):
    """Labels that no hyperplane separates, weights that solve nothing."""
    X = rng.standard_normal((N, D))
    t = np.where(np.arange(N) % 2, -1, 1)
    X[:6] = np.repeat(X[:3], 2, axis=0)  # three inputs have either label
    b, *w = rng.standard_normal(D + 1)
    return SimpleNamespace(N=N, D=D, X=X, t=t, w=np.array(w), b=b)


def bound(q, b, w):
    """Bias and weights, and the probabilities they give."""
    weights, X = np.concatenate([[b], w]), features.with_bias(q.X)
    p = logistic.probability(weights, q.X)
    return {
        "N": q.N,
        "n": range(1, q.N + 1),
        r"\mathbf x_": q.X,
        "t_": q.t,
        "u_": (q.t > 0).astype(float),
        r"\mathbf u": (q.t > 0).astype(float),
        r"\mathbf w": w,
        "b": b,
        r"\sigma": sigma,
        "p_": p,
        r"\mathbf p": p,
        r"\tilde{\mathbf X}": X,
        r"\tilde{\mathbf x}_": X,
        r"\tilde{\mathbf w}": weights,
        r"\mathcal L": lambda w, b: log_likelihood(q, w, b),
    }


def log_likelihood(q, w, b):
    """By the library."""
    return logistic.log_likelihood(np.concatenate([[b], w]), q.X, q.t)


# The model ------------------------------------------------------------------


@world("eq-logistic-model", "eq-log-odds")
def _(rng):
    q = problem(rng)

    def p(event, *, given):
        (x,) = given
        one = logistic.probability([q.b, *q.w], [x])[0]
        return {1: one, -1: 1 - one}[event.value]

    return bound(q, q.b, q.w) | {
        r"\mathbf x": rng.standard_normal(q.D),
        "P": Law(p),
    }


@world("eq-sigmoid", "eq-sigmoid-symmetry", "eq-sigmoid-slope")
def _(rng):
    return {"z": rng.standard_normal(), r"\sigma": logistic.sigmoid}


@world("eq-softmax", "eq-softmax-shift")
def _(rng):
    W, b = rng.standard_normal((4, 2)), rng.standard_normal(4)

    def p(event, *, given):
        (x,) = given
        return softmax_regression.softmax([W @ x + b])[0, event.value]

    return {
        "K": 4,
        "k": range(4),
        r"\mathbf w_": From(0, W),
        "b_": From(0, b),
        r"\mathbf x": rng.standard_normal(2),
        r"\mathbf v": rng.standard_normal(2),
        "c": rng.standard_normal(),
        "P": Law(p),
    }


@world("eq-softmax-two")
def _(rng):
    return {"f_": From(0, rng.standard_normal(2)), r"\sigma": sigma}


# The likelihood -------------------------------------------------------------


@world(
    "eq-logistic-likelihood",
    "eq-logistic-likelihood-signs",
    "eq-logistic-newton",
    "eq-logistic-irls",
)
def _(rng):
    """S from the density of the logistic law, z example by example."""
    q = problem(rng)
    here = bound(q, q.b, q.w)
    y = q.X @ q.w + q.b
    S = stats.logistic.pdf(y)
    z = [y_n + (u - sigma(y_n)) / s
         for y_n, u, s in zip(y, here["u_"], S, strict=True)]  # fmt: skip
    step = logistic.irls_step(here[r"\tilde{\mathbf w}"], q.X, q.t)
    return here | {
        r"\mathbf S": np.diag(S),
        r"\mathbf d": step,
        r"\mathbf z": np.array(z),
    }


@world("eq-logistic-misprint")
def _(rng):
    q = problem(rng)
    here = bound(q, q.b, q.w)
    P = stats.bernoulli(here["p_"]).pmf(here["u_"])
    return here | {"q_": P}


@world("eq-logistic-gradient", "eq-logistic-gradient-bias")
def _(rng):
    q = problem(rng)
    return bound(q, q.b, q.w) | {
        r"\mathcal L": Of(
            r"\mathbf w", "b", lambda w, b: log_likelihood(q, w, b)
        )
    }


@world("eq-logistic-balance")
def _(rng):
    q = problem(rng)
    b, *w = logistic.fit(q.X, q.t, tolerance=1e-20).w
    return bound(q, b, np.array(w))


@world("eq-logistic-hessian")
def _(rng):
    """The Hessian by differences of the likelihood's gradient."""
    q = problem(rng)
    here = bound(q, q.b, q.w)
    h, at = 1e-3, here[r"\tilde{\mathbf w}"]

    def slope(w):
        return logistic.likelihood_gradient(w, q.X, q.t)

    hessian = [
        (8 * (slope(at + e) - slope(at - e))
         - (slope(at + 2 * e) - slope(at - 2 * e))) / (12 * h)
        for e in h * np.eye(q.D + 1)
    ]  # fmt: skip
    S = stats.logistic.pdf(q.X @ q.w + q.b)
    return here | {
        r"\nabla \nabla \mathcal L": np.array(hessian),
        r"\mathbf S": np.diag(S),
    }


def walk(q, path, steps):
    """The path of an ascent, and the probabilities at each of its points."""
    return bound(q, q.b, q.w) | {
        "m": range(steps),
        r"\tilde{\mathbf w}_": From(0, path),
        "p_": Of("m", lambda m: logistic.probability(path[m], q.X)),
    }


@world("eq-logistic-ascent")
def _(rng):
    q, eta = problem(rng), rng.uniform(0.1, 0.6)
    path = logistic.gradient_ascent(q.X, q.t, eta, steps=3)
    return walk(q, path, 3) | {r"\eta": eta}


@world("eq-logistic-stochastic")
def _(rng):
    """The example of a step is the one whose input points along it."""
    q, eta = problem(rng), rng.uniform(0.1, 0.6)
    q.X = rng.standard_normal(q.X.shape)
    path = logistic.stochastic_ascent(q.X, q.t, eta, epochs=2, rng=5)
    inputs = features.with_bias(q.X)
    inputs /= np.linalg.norm(inputs, axis=1, keepdims=True)
    order = np.abs(np.diff(path, axis=0) @ inputs.T).argmax(axis=1) + 1
    return walk(q, path, len(order)) | {
        "n": Of("m", lambda m: int(order[m])),
        r"\eta": eta,
        r"\eta_": lambda m: q.N * eta / (q.N + m),
    }


def classes_problem(rng, N=6, D=2, K=4):
    """Inputs, weights and classes of softmax; P by SciPy."""
    X, W = rng.standard_normal((N, D)), rng.standard_normal((D + 1, K))
    t = rng.permutation(np.arange(N) % K)
    P = special.softmax(features.with_bias(X) @ W, axis=1)
    return SimpleNamespace(N=N, D=D, K=K, X=X, W=W, t=t, P=P)


@world("eq-softmax-likelihood", "eq-softmax-gradient")
def _(rng):
    q = classes_problem(rng)
    X_1, T = features.with_bias(q.X), np.eye(q.K)[q.t]

    def value(W):
        return softmax_regression.log_likelihood(W, q.X, q.t)

    here = {
        "N": q.N,
        "K": q.K,
        "n": range(1, q.N + 1),
        "k": range(q.K),
        "T_": lambda n, k: T[n - 1, k],
        "P_": lambda n, k: q.P[n - 1, k],
        r"\mathbf T": T,
        r"\mathbf P": q.P,
        r"\tilde{\mathbf X}": X_1,
        r"\tilde{\mathbf x}_": X_1,
        r"\tilde{\mathbf W}": q.W,
        r"\tilde{\mathbf w}_": From(0, q.W.T),
        r"\mathcal L": Of(r"\tilde{\mathbf W}", value),
    }
    return here | {r"\mathcal L(\tilde{\mathbf W})": value(q.W)}


@world("eq-softmax-hessian", "eq-softmax-curvature", tolerance=1e-7)
def _(rng):
    """The blocks by differences of the gradient."""
    q, h = classes_problem(rng), 1e-3

    def slope(W):
        return softmax_regression.gradient(W, q.X, q.t)

    shape = q.W.shape
    H = -np.array([
        (8 * (slope(q.W + E) - slope(q.W - E))
         - (slope(q.W + 2 * E) - slope(q.W - 2 * E))) / (12 * h)
        for E in h * np.eye(q.W.size).reshape(-1, *shape)
    ]).reshape(*shape, *shape)  # fmt: skip
    V = rng.standard_normal((q.K, q.D + 1))
    X_1 = features.with_bias(q.X)
    return {
        "N": q.N,
        "K": q.K,
        "n": range(1, q.N + 1),
        "j": range(q.K),
        "k": range(q.K),
        r"\mathbf H_": lambda j, k: H[:, j, :, k],
        "P_": lambda n, k: q.P[n - 1, k],
        r"\tilde{\mathbf x}_": X_1,
        r"\mathbf v_": From(0, V),
        "a_": lambda n, k: float(V[k] @ X_1[n - 1]),
    }


@world("eq-logistic-separable")
def _(rng):
    """Tight if all margins are equal, and large."""
    q = problem(rng)
    w = rng.standard_normal(q.D + 1)
    direction = w[1:] / (w[1:] @ w[1:])

    def separated(margins, c):
        y = q.X @ w[1:] + w[0]
        q.X = q.X + np.outer(q.t * margins - y, direction)
        X = q.X
        return {
            "N": q.N,
            "c": c,
            r"\gamma": margins.min(),
            r"\tilde{\mathbf w}": w,
            r"\mathcal L": lambda w: logistic.log_likelihood(w, X, q.t),
        }

    return [
        separated(rng.uniform(0.5, 2.0, q.N), 1.7),
        separated(np.full(q.N, 1.3), 20.0) | {"@tight": True},
    ]


# How sure are the weights? ---------------------------------------------------


@world("eq-odds-ratio")
def _(rng):
    q = problem(rng)
    x = rng.standard_normal(q.D)

    def p(event, *, given):
        (x,) = given
        one = logistic.probability([q.b, *q.w], [x])[0]
        return {1: one, -1: 1 - one}[event.value]

    def odds(x):
        return np.exp(logistic.output([q.b, *q.w], [x])[0])

    return {
        "j": range(1, q.D + 1),
        r"\mathbf x": x,
        r"\mathbf e_": np.eye(q.D),
        "w_": q.w,
        r"\mathrm{odds}": odds,
        "P": Law(p),
    }


@world("eq-score-covariance", "eq-newton-covariance", "eq-standard-error")
def _(rng):
    """Labels redrawn; the information by the density of the logistic law."""
    q = problem(rng)
    here = bound(q, q.b, q.w)
    p, X = here["p_"], features.with_bias(q.X)
    u = (rng.random((40_000, q.N)) < p).astype(float)
    S = np.diag(stats.logistic.pdf(q.X @ q.w + q.b))
    steps = np.linalg.lstsq(X.T @ S @ X, X.T @ (u - p).T, rcond=None)[0].T
    C = np.linalg.pinv(X.T @ S @ X)
    weights = here[r"\tilde{\mathbf w}"]
    return here | {
        r"\mathbf u": Sample(u),
        r"\mathbf S": S,
        r"\mathbf d": Sample(steps),
        r"\mathbf C": C,
        "C_": lambda i, j: C[i - 1, j - 1],
        "j": range(1, q.D + 2),
        "s_": logistic.standard_errors(weights, q.X),
    }


# The probabilities ----------------------------------------------------------


@world("eq-calibrated")
def _(rng):
    """Two Gaussian clouds.  The score wᵀx + b is Gaussian in either class,
    and Bayes' rule for the score alone gives the posterior back."""
    A = rng.standard_normal((2, 2))
    share = rng.uniform(0.2, 0.8)
    model = bayes.LDA(
        np.array([1 - share, share]),
        rng.standard_normal((2, 2)),
        A @ A.T + np.eye(2),
    )
    W, b = bayes.linear_form(model)
    w, b = W[1] - W[0], b[1] - b[0]

    def p(event, *, given):
        (said,) = given
        assert (event, said.name) == (Event("t", 1), r"p(\mathbf x)")
        score = stats.norm(model.mu @ w + b, np.sqrt(w @ model.Sigma @ w))
        joint = model.pi * score.pdf(special.logit(said.value))
        return joint[1] / joint.sum()

    return {"P": Law(p), "s": Each(rng.uniform(0.05, 0.95, 5))}


@world("eq-calibration-error")
def _(rng):
    """Three bins, of which the middle one is empty."""
    N = 11
    p = np.concatenate([rng.uniform(0, 0.3, 4), rng.uniform(0.7, 1, N - 4)])
    u = rng.integers(0, 2, N)
    bins = [np.arange(N) < 4, np.arange(N) >= 4]
    return {
        r"\mathrm{ECE}": evaluation.calibration_error(p, u, bins=3),
        "N": N,
        "j": range(1, 3),
        "N_": np.array([4, N - 4]),
        r"\bar u_": np.array([u[j].mean() for j in bins]),
        r"\bar p_": np.array([p[j].mean() for j in bins]),
    }


@world("eq-log-loss-split")
def _(rng):
    s, p = rng.uniform(0.1, 0.9, 2)
    return {"s": s, "p": p}


# Of relations in sentences ---------------------------------------------------


@world("inline: the bias on top")
def _(rng):
    """Bias and weights from the scores of zero and of the unit vectors."""
    top, x = rng.standard_normal(4), rng.standard_normal(3)
    b, *scores = logistic.output(top, np.vstack([np.zeros(3), np.eye(3)]))
    return {
        r"\tilde{\mathbf w}": top,
        "b": b,
        r"\mathbf w": np.array(scores) - b,
        r"\tilde{\mathbf x}": features.with_bias([x])[0],
        r"\mathbf x": x,
    }


@world("inline: odds, and losses")
def _(rng):
    """What is best said of a coin that falls on s is searched."""
    z, s = rng.uniform(0.3, 2.0), rng.uniform(0.1, 0.9)
    said = np.linspace(0, 1, 10_001)[1:-1]
    s = round(s, 3)
    paid = -s * np.log(said) - (1 - s) * np.log(1 - said)
    best = said[paid.argmin()]
    return {"z": z, "P": logistic.sigmoid(z), "s": s, "p": best}


@world("inline: examples of the wrong class")
def _(rng):
    """All have the label -1."""
    q = problem(rng)
    q.t = -np.ones(q.N)
    here = bound(q, q.b, q.w)
    return here | {"q_": stats.bernoulli(here["p_"]).pmf(0)}


@world("inline: the curvature, anywhere and at zero")
def _(rng):
    """At zero all slopes are as steep as they can be."""
    q = problem(rng)
    worlds = []
    for b, w in ((q.b, q.w), (0.0, 0 * q.w)):
        here = bound(q, b, w)
        weights = here[r"\tilde{\mathbf w}"]
        slopes = stats.logistic.pdf(q.X @ w + b)
        likelihood = logistic.likelihood_gradient(weights, q.X, q.t)
        worlds.append(
            here
            | {
                r"\mathbf v": rng.standard_normal(q.D + 1),
                r"\mathbf S": np.diag(slopes),
                r"\nabla \mathcal L": likelihood,
                r"\nabla \nabla \mathcal L": -logistic.information(
                    weights, q.X
                ),
                r"\mathbf d": logistic.irls_step(weights, q.X, q.t),
            }
        )
    return worlds


@world("inline: scores of softmax")
def _(rng):
    """The classes count from 1."""
    q = classes_problem(rng, N=2, K=3)
    F = discriminant.scores(q.W, q.X)
    T = np.zeros((q.N, q.K))
    T[np.arange(q.N), q.t] = 1
    P = Of(r"\mathbf f", softmax_regression.softmax)
    return {
        "n": range(1, q.N + 1),
        **dict.fromkeys("ijk", range(1, q.K + 1)),
        r"\mathbf f": F,
        r"\mathbf P": P,
        "t_": q.t + 1,
        r"\mathbf T": T,
        r"\tilde{\mathbf w}_": q.W.T,
        r"\tilde{\mathbf x}_": features.with_bias(q.X),
    }


@world("inline: Cover's half")
def _(rng):
    """The number of examples, searched."""
    D = int(rng.integers(2, 9))
    half = (
        N
        for N in range(1, 99)
        if 2 * features.count_dichotomies(N, D + 1) == 2**N
    )
    return {"D": D, "N": next(half)}


@world("inline: no direction is free")
def _(rng):
    """One feature, so that all directions can be tried; δ from these."""
    q = problem(rng, D=1)
    sides = -q.t[:, None] * features.with_bias(q.X)
    angles = np.linspace(0, 2 * np.pi, 721)
    round_ = np.column_stack([np.cos(angles), np.sin(angles)])
    deltas = (round_ @ sides.T).max(axis=1)
    v, c = round_[rng.integers(721)], rng.uniform(1.0, 9.0)
    here = {
        r"\mathbf v": v,
        "n": (sides @ v).argmax() + 1,
        "t_": q.t,
        r"\tilde{\mathbf x}_": features.with_bias(q.X),
        r"\delta": deltas.min(),
        "c": c,
        r"\mathcal L": lambda w: logistic.log_likelihood(w, q.X, q.t),
    }
    far = np.full((2, 1), (-25 / c - v[0]) / v[1])  # one right, one wrong

    def bound_is_reached(w):
        return logistic.log_likelihood(w, far, [1, -1])

    reached = {r"\delta": 25 / c, r"\mathcal L": bound_is_reached}
    return [here, here | reached | {"@tight": True}]


@world("inline: a penalised fit and the widest street", tolerance=1e-6)
def _(rng):
    """R from a score and its distance; the labels by a line, with a gap."""
    q = problem(rng, N=12)
    q.X = rng.standard_normal((12, 2))
    y = q.X @ q.w + q.b
    q.t = np.where(y > np.median(y), 1.0, -1.0)
    q.X += np.outer(0.3 * q.t, q.w) / np.linalg.norm(q.w)
    street, lam = margin.hard_margin(q.X, q.t), 10 ** rng.uniform(-5, -3)
    b, *w = logistic.fit(q.X, q.t, lam, tolerance=1e-20).w
    here = bound(q, b, np.array(w))
    distances = discriminant.signed_distance(w, b, q.X)
    assert (distances * q.t).min() > 0
    score = logistic.output([b, *w], q.X[:1])[0]
    return here | {
        r"\lambda": lam,
        "m": min(distances * q.t),
        "R": score / distances[0],
        r"\mathbf w^*": street.w * street.margin / 2,
        "b^*": street.b * street.margin / 2,
        r"\rho^*": street.margin,
    }


@world("inline: a penalty that nobody asked for", tolerance=1e-5)
def _(rng):
    """λ from the gradient that the default leaves."""
    q = problem(rng)
    fit = LogisticRegression(tol=1e-10).fit(q.X, q.t)
    w, b = fit.coef_[0], fit.intercept_[0]
    left = logistic.likelihood_gradient([b, *w], q.X, q.t)[1:]
    return {"C": fit.C, r"\lambda": left @ w / (w @ w)}


@world("inline: a huge penalty", tolerance=1e-5)
def _(rng):
    q, lam = problem(rng), 1e8
    b, *w = logistic.fit(q.X, q.t, lam, tolerance=1e-30).w
    return bound(q, b, np.array(w)) | {
        r"\lambda": lam,
        r"\bar u": np.mean(q.t > 0),
        r"\bar{\mathbf x}_+": q.X[q.t > 0].mean(axis=0),
        r"\bar{\mathbf x}_-": q.X[q.t < 0].mean(axis=0),
        r"\to": 1,
    }


def table(cells):
    """Fitted to a table of four cells: of x = 0 and x = 1, right and wrong."""
    x = np.repeat([0.0, 0.0, 1.0, 1.0], cells)[:, None]
    t = np.repeat([1.0, -1.0, 1.0, -1.0], cells)
    w = logistic.fit(x, t, tolerance=1e-20).w
    return {
        r"\sigma": sigma,
        "b": w[0],
        "w": w[1],
        r"\hat w": w[1],
        "s_w": logistic.standard_errors(w, x)[1],
    }


@world("inline: a table by hand")
def _(rng):
    return table([2, 8, 15, 5])


@world("inline: a table with a strong effect")
def _(rng):
    k = int(rng.integers(60, 100))
    return table([50, 50, k, 100 - k]) | {"k": k}


@world("inline: Poisson counts")
def _(rng):
    """Their form from the probabilities of 0 and 1, where h is 1."""
    means = rng.uniform(0.5, 5.0, (2, 3))
    x = rng.poisson(2.0, 3).astype(float)

    def p(x, *, given):
        return stats.poisson(means[given[0]]).pmf(x).prod()

    none, one = stats.poisson(means[1, 0]).pmf([0, 1])
    return {
        r"\mathbf x": x,
        "t": range(2),
        "p": Law(p),
        "h": lambda x: 1 / special.factorial(x).prod(),
        r"\boldsymbol\theta_": From(0, np.log(means)),
        "a": -np.log(none),
        r"\theta": np.log(one / none),
        "m": means[1, 0],
        r"a(\boldsymbol\theta_t)": Of("t", lambda t: means[t].sum()),
    }
