"""Chapter 16: how the methods compare."""

import numpy as np
from scipy import integrate, stats
from typeset import From, Sample

from kernelbook import bayes, counting, evaluation, features

from . import world


def sigma(z):
    """The logistic function, by the hyperbolic tangent."""
    return (1 + np.tanh(z / 2)) / 2


# Two ways to be wrong --------------------------------------------------------


def judged(y, t):
    """Error rate and log loss by the library."""
    p, classes = sigma(y), (t > 0).astype(int)
    return {
        "N": len(t),
        "n": range(1, len(t) + 1),
        "t_": t,
        "y_": y,
        "E": 1 - evaluation.accuracy((y > 0).astype(int), classes),
        "L": evaluation.log_loss(np.column_stack([1 - p, p]), classes),
    }


@world("eq-compare-error", "eq-compare-log-loss", "eq-compare-bound")
def _(rng):
    """Tight if every score is zero, or right and large."""
    t = rng.permutation([1, 1, 1, -1, -1, -1, -1, -1])
    y = 2 * rng.standard_normal(len(t))
    y[0] = 0.3 * t[0]  # a wrong one and a right one at least
    y[1] = -0.3 * t[1]
    edge = np.where(np.arange(len(t)) < 3, 0.0, 36.0 * t)
    edge_judged = judged(edge, t) | {"E": 3 / len(t)}
    return [judged(y, t), edge_judged | {"@tight": True}]


# Standard errors -------------------------------------------------------------


@world("eq-paired-error", "eq-corrected-error")
def _(rng):
    """The first by SciPy, the second from the first."""
    R, N_1, N_2 = 7, 60, 25
    d = rng.standard_normal(R)
    s = stats.sem(d)
    return {
        "R": R,
        "r": range(1, R + 1),
        "d_": d,
        r"\bar d": d.mean(),
        "N_": {1: N_1, 2: N_2},
        "s": s,
        r"s_{\mathrm c}": s * np.sqrt(1 + R * N_2 / N_1),
    }


# What they cost --------------------------------------------------------------


def least_squares(tally, X, t):
    A = tally.numbers(X)
    counting.cholesky_solve(A.T @ A, A.T @ tally.numbers(t))


def newton_step(tally, X, t):
    """From the weights 0.1 on, as in the chapter."""
    A = tally.numbers(X)
    y = A @ tally.numbers(np.full(X.shape[1], 0.1))
    p = np.array([sigma(float(v)) for v in y])
    S = tally.numbers(p) * tally.numbers(1 - p)
    missing = tally.numbers((t > 0) - p)
    counting.cholesky_solve(A.T @ (S[:, None] * A), A.T @ missing)


def coordinates(passes):
    """Passes of a linear SVM with C = 1, one multiplier at a time."""

    def run(tally, X, t):
        Z = tally.numbers(t[:, None] * X)
        alpha, w = np.zeros(len(Z)), tally.numbers(np.zeros(X.shape[1]))
        lengths = [z @ z for z in Z]
        for n in list(range(len(Z))) * passes:
            slope = float((Z[n] @ w - 1.0) / lengths[n])
            new = min(max(alpha[n] - slope, 0.0), 1.0)
            w, alpha[n] = w + Z[n] * (new - alpha[n]), new

    return run


def gram(tally, X, t):
    """The exponents of a Gaussian kernel, each pair once."""
    A = tally.numbers(X[:, 1:])
    for n in range(len(A)):
        for m in range(n):
            sum((a - b) ** 2 for a, b in zip(A[n], A[m], strict=True)) * 0.3


@world(
    "eq-cost-least-squares",
    "eq-cost-newton",
    "eq-cost-coordinates",
    "eq-cost-gram",
)
def _(rng):
    N, M, P = (int(v) for v in rng.integers((7, 3, 2), (12, 6, 5)))
    X = features.with_bias(rng.standard_normal((N, M - 1)))
    t = rng.choice([-1.0, 1.0], N)
    runs = (least_squares, newton_step, coordinates(P), gram)
    counts = {}
    for i, run in enumerate(runs, start=1):
        tally = counting.Tally()
        run(tally, X, t)
        counts[f"c_{i}"] = tally.multiplications
    return {"N": N, "M": M, "P": P, **counts}


# Few examples or many --------------------------------------------------------


def mean_over_bells(f, Delta):
    """Mean of f(x) where x is from two bells at ±Δ/2, by quadrature."""
    x, weights = np.polynomial.hermite_e.hermegauss(120)
    values = [f(x + side * Delta / 2) for side in (-1, 1)]
    return weights @ np.mean(values, axis=0) / weights.sum()


def tilt_of_lda(Delta):
    """N times the variance of LDA's weight across the line of the means.

    By its influence function: the effect of a little mass at (x, z, u) on
    the weight, by differences, squared and averaged.  Across the line the
    effect is z times something, and z has variance 1.
    """

    def weight(eps, x, u):
        """Across the line, after a share eps of the mass moved to z = 1."""
        mean = {k: np.array([(k - 0.5) * Delta, 0.0]) for k in (0, 1)}
        second = {k: np.eye(2) + np.outer(mean[k], mean[k]) for k in (0, 1)}
        share = {k: 0.5 * (1 - eps) + eps * (u == k) for k in (0, 1)}
        point, mixed = np.array([x, 1.0]), eps / share[u]
        mean[u] = (1 - mixed) * mean[u] + mixed * point
        second[u] = (1 - mixed) * second[u] + mixed * np.outer(point, point)
        Sigma = sum(share[k] * (second[k] - np.outer(mean[k], mean[k]))
                    for k in (0, 1))  # fmt: skip
        return np.linalg.solve(Sigma, mean[1] - mean[0])[1]

    h = 1e-4
    x, weights = np.polynomial.hermite_e.hermegauss(40)
    total = 0.0
    for u in (0, 1):
        at = x + (u - 0.5) * Delta
        effect = np.array([(weight(h, v, u) - weight(-h, v, u)) / (2 * h)
                           for v in at])  # fmt: skip
        total += 0.5 * weights @ effect**2 / weights.sum()
    return total


@world("eq-efron-slope", "eq-efron", tolerance=1e-6)
def _(rng):
    """The mean slope over the bells; LDA's variance by its influence."""
    Delta = rng.uniform(1.0, 3.0)
    slope = mean_over_bells(
        lambda x: sigma(Delta * x) * sigma(-Delta * x), Delta
    )
    by_quad, _ = integrate.quad(
        lambda x: stats.logistic.pdf(Delta * x)
        * (stats.norm.pdf(x, Delta / 2) + stats.norm.pdf(x, -Delta / 2)) / 2,
        -20,
        20,
    )  # fmt: skip
    assert abs(slope - by_quad) < 1e-6
    return {
        r"\Delta": Delta,
        r"\bar S": by_quad,
        r"\mathrm{eff}": tilt_of_lda(Delta) * by_quad,
    }


# Of relations in sentences ---------------------------------------------------


@world("inline: a promised log loss")
def _(rng):
    """Kept easily; then just, by one of ten that is undecided."""
    t = rng.permutation(np.repeat([1, -1], 5))
    edge = np.where(np.arange(10) < 1, 0.0, 36.0 * t)
    just = judged(edge, t) | {"E": 1 / 10, "@tight": True}
    return [judged(t * rng.uniform(3.5, 5.0, 10), t), just]


@world("inline: between two bells", tolerance=1e-6)
def _(rng):
    """p by Bayes' rule; the mean slope by quadrature."""
    Delta = rng.uniform(1.0, 3.0)

    def p(x):
        bells = stats.norm.pdf(x, Delta / 2), stats.norm.pdf(x, -Delta / 2)
        return bells[0] / sum(bells)

    x = rng.standard_normal()
    return {r"\Delta": Delta, "x": x, "p": p(x), r"\sigma": sigma}


@world("inline: the mean slope")
def _(rng):
    Delta = rng.uniform(1.0, 3.0)
    side = rng.choice([-1, 1], 20_000)
    x = rng.standard_normal(20_000) + side * Delta / 2
    slope = mean_over_bells(
        lambda x: sigma(Delta * x) * sigma(-Delta * x), Delta
    )
    return {r"\bar S": slope, "p": Sample(sigma(Delta * x))}


def fewest_for_qda(rng, D):
    """The fewest examples of a class with which it can be fitted."""

    def exists(N_k):
        X = rng.standard_normal((2 * N_k, D))
        try:
            bayes.fit_qda(X, np.arange(2 * N_k) % 2)
        except ValueError:
            return False
        return True

    return next(N_k for N_k in range(2, 20) if exists(N_k))


@world("inline: what LDA and QDA need")
def _(rng):
    D = int(rng.integers(2, 6))
    X, t = rng.standard_normal((12, D)), np.arange(12) % 2
    model = bayes.fit_lda(X + t[:, None], t)
    W, _ = bayes.linear_form(model)
    return {
        "D": D,
        "M": features.with_bias(X).shape[1],
        "N_k": fewest_for_qda(rng, D),
        r"\mathbf w": W[1] - W[0],
        r"\hat{\boldsymbol\Sigma}": model.Sigma,
        r"\hat{\boldsymbol\mu}_": From(0, model.mu),
    }


@world("inline: one too few for QDA")
def _(rng):
    D = int(rng.integers(2, 6))
    most = fewest_for_qda(rng, D) - 1
    return [{"D": D, "N_k": N_k} for N_k in (most, most - 1)]
