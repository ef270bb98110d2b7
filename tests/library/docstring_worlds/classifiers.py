"""Classifiers."""

import warnings

import numpy as np
from scipy.special import expit
from typeset import Each

from kernelbook import (
    bayes,
    discriminant,
    fisher,
    kernel_logistic,
    logistic,
    margin,
    perceptron,
    ridge,
    softmax,
    svm,
    svr,
)

from .common import D, M, N, of, slope, world


@world("kernel_logistic.objective")
def _(p):
    value = kernel_logistic.objective(p.w, p.Phi, p.labels, p.lam)
    return p.letters(J=of(value), t=p.labels)


@world("kernel_logistic.gradient")
def _(p):
    value = kernel_logistic.gradient(p.w, p.Phi, p.labels, p.lam)
    chance = {r"\nabla J(w)": value, "P": lambda t, x, w: expit(t * (w @ x))}
    return p.letters(t=p.labels) | chance


@world("kernel_logistic.residual_coefficients")
def _(p):
    a = kernel_logistic.residual_coefficients(p.w, p.Phi, p.labels, p.lam)
    return p.letters(a=a, t=p.labels, P=lambda t, x, w: expit(t * (w @ x)))


@world("kernel_logistic.dual_objective")
def _(p):
    value = kernel_logistic.dual_objective(p.a, p.K, p.labels, p.lam)
    root = np.linalg.cholesky(p.K)
    w = ridge.weights_from_dual(p.a, root)
    known = p.letters(J=of(value), t=p.labels, y=p.K @ p.a, w=w)
    return known | {r"\Phi": root}


@world("kernel_logistic.output")
def _(p):
    return p.numbered(y=of(kernel_logistic.output(p.a, p.cross)[0]))


@world("logistic.sigmoid")
def _(p):
    return {"z": p.b, r"\sigma": lambda z: float(logistic.sigmoid(z))}


def logit(p):
    """Everything about logistic regression with random weights."""
    w, known = p.affine()
    chance = logistic.probability(w, p.X)
    ones = np.column_stack([np.ones(N), p.X])
    gradient = logistic.likelihood_gradient(w, p.X, p.labels)
    return known | {
        "y": logistic.output(w, p.X), "p": chance, "u": p.labels > 0,
        "L": of(logistic.log_likelihood(w, p.X, p.labels)),
        "=": logistic.log_likelihood(w, p.X, p.labels),
        r"\dot{L}/\dot{b}": gradient[0], r"\nabla_{w} L": gradient[1:],
        r"\tilde{X}": ones, "H": logistic.information(w, p.X),
        "S": np.diag(chance * expit(-ones @ w)), r"\tilde{w}": w,
        "S_": lambda n, m: np.diag(chance * expit(-ones @ w))[n - 1, m - 1],
        "s": logistic.standard_errors(w, p.X), "j": range(1, D + 2),
        "d": logistic.irls_step(w, p.X, p.labels, p.lam),
        "E": np.diag([0.0] + [1.0] * D),
    }  # fmt: skip


world("logistic.output", "logistic.probability", "logistic.log_likelihood",
      "logistic.likelihood_gradient", "logistic.information",
      "logistic.standard_errors", "logistic.irls_step")(
    lambda p: logit(p) | {"u": (1 + p.labels) / 2}
)  # fmt: skip


@world("logistic.irls_step", of=r"L(w, b)")
def _(p):
    fit = logistic.fit(p.X, p.labels, p.lam)
    w = fit.path[1]
    value = logistic.log_likelihood(w, p.X, p.labels)
    return p.letters(w=w[1:], b=w[0], L=of(value)) | {"=": -fit.objectives[1]}


@world("logistic.fit", of="L(w, b)")
def _(p):
    fit = logistic.fit(p.X, p.labels, p.lam)
    value = logistic.log_likelihood(fit.w, p.X, p.labels)
    return p.letters(w=fit.w[1:], b=fit.w[0], L=of(value)) | {
        "=": -fit.objectives[-1]
    }


@world("logistic.Fit.objectives")
def _(p):
    fit = logistic.fit(p.X, p.labels, p.lam)
    w = fit.path[1]
    value = logistic.log_likelihood(w, p.X, p.labels)
    return p.letters(w=w[1:], b=w[0], L=of(value)) | {"=": fit.objectives[1]}


@world("logistic.loss")
def _(p):
    return p.letters(t=p.labels, y=p.a) | {"=": logistic.loss(p.a, p.labels)}


@world("logistic.gradient_ascent")
def _(p):
    path = logistic.gradient_ascent(p.X, p.labels, p.lam / 9, 4)
    slope_ = logistic.likelihood_gradient(path[2], p.X, p.labels)
    return {"w": path[2], r"\leftarrow": path[3], r"\eta": p.lam / 9,
            r"\nabla L(w)": slope_}  # fmt: skip


@world("logistic.stochastic_ascent")
def _(p):
    """With one example each epoch is one update."""
    X, m = p.X[:1], p.n
    path = logistic.stochastic_ascent(X, [1.0], p.lam, 6, rng=0)
    row = np.append(1.0, X[0])
    missing = 1 - logistic.probability(path[m], X)[0]
    rate = (path[m + 1] - path[m])[0] / missing
    return {
        "m": m, "n": 1, "N": 1, "w": path[m], r"\leftarrow": path[m + 1],
        "u_": [1.0], "p_": [1 - missing], r"\tilde{x}_": [row],
        r"\eta": p.lam, r"\eta_{m}": rate,
    }  # fmt: skip


@world("softmax.softmax")
def _(p):
    f = p.rng.standard_normal(M)
    return {"f": f, "M": M, "k": range(1, M + 1), "j": range(1, M + 1),
            "p": softmax.softmax([f])[0]}  # fmt: skip


@world("svm.slack")
def _(p):
    return p.letters(t=p.labels, y=p.a) | {r"\xi": svm.slack(p.a, p.labels)}


@world("svm.lagrangian")
def _(p):
    xi, alpha, mu = p.rng.uniform(0, 1, (3, N))
    value = svm.lagrangian(p.w, p.b, xi, alpha, mu, p.Phi, p.labels, p.C)
    greek = {r"\xi": xi, r"\alpha": alpha, r"\mu": mu}
    return p.letters(L=value, t=p.labels) | greek


@world("svm.output")
def _(p):
    machine = svm.fit_dual(p.K, p.labels, p.C)
    known = p.numbered(t=p.labels, b=machine.b)
    value = of(svm.output(machine, p.cross)[0])
    return known | {r"\alpha": machine.alpha, "y": value}


@world("svm.fit_dual")
def _(p):
    machine = svm.fit_dual(p.K, p.labels, p.C)
    return p.letters(t=p.labels) | {r"\alpha": machine.alpha}


@world("svr.predict")
def _(p):
    machine = svr.fit_dual(p.K, p.t, p.C, 0.1)
    value = of(svr.predict(machine, p.cross)[0])
    return p.numbered(a=machine.a, b=machine.b, y=value)


@world("perceptron.loss")
def _(p):
    w = p.rng.standard_normal(D + 1)
    value = perceptron.loss(w[1:], w[0], p.X, p.labels)
    known = p.letters(w=w[1:], b=w[0], t=p.labels, L=of(value))
    return known | {"x_": p.X}


@world("fisher.criterion")
def _(p):
    labels = (p.labels > 0).astype(int)
    within, between = fisher.scatter(p.X, labels)
    w = p.w[:D]
    value = of(fisher.criterion(w, p.X, labels))
    return {"w": w, "S_B": between, "S_W": within, "J": value}


@world("bayes.class_priors")
def _(p):
    pi = bayes.class_priors([0, 0, 1, 2, 2, 2, 1])
    return {"N": 7, "N_": [2, 2, 3], "k": range(1, 4), r"\pi": pi}


# softmax


@world("softmax.log_likelihood", "softmax.gradient", "softmax.information")
def _(p):
    K, t = 3, p.classes
    W = p.rng.standard_normal((D + 1, K))
    rows = np.column_stack([np.ones(len(t)), p.many])
    P = softmax.softmax(rows @ W)
    H, k, j = softmax.information(W, p.many), p.n % K, (p.n + 1) % K
    return {
        "L": of(softmax.log_likelihood(W, p.many, t)), "W": W,
        "p_": lambda n, t: P[int(n) - 1, int(t)], "t_": t.astype(float),
        "n": range(1, len(t) + 1), r"\tilde{X}": rows, "P": P,
        "P_": lambda n, k: P[int(n) - 1, int(k)],
        "T": np.eye(K)[t], r"\tilde{x}_": rows, "j": j, "k": k,
        r"\nabla L(W)": softmax.gradient(W, p.many, t),
        "H_": lambda j, k: H[:, int(j), :, int(k)],
    }  # fmt: skip


@world("softmax.fit")
def _(p):
    fit = softmax.fit(p.many, p.classes, p.lam)
    value = softmax.log_likelihood(fit.w, p.many, p.classes)
    rows = np.linalg.qr(np.ones((3, 1)), mode="complete")[0][:, 1:]
    return {
        "W": fit.w, "L": of(value), r"\lambda": p.lam, "k": range(1, 4),
        "w_": fit.w[1:].T, "=": -fit.objectives[-1], "U": rows,
        "V": fit.w @ rows, "@tolerance": 1e-8,
    }  # fmt: skip


# kernel logistic regression


@world("kernel_logistic.dual_residual", "kernel_logistic.newton_step")
def _(p):
    t, y = p.labels, p.K @ p.a
    chance = expit(t * y)
    r = kernel_logistic.dual_residual(p.a, p.K, t, p.lam)
    W = np.diag(chance * (1 - chance))
    root = np.sqrt(W)
    return p.letters(t=t, y=y, r=r, W=W) | {
        "d": kernel_logistic.newton_step(p.a, p.K, t, p.lam),
        "P_": chance,
        "P": lambda t, x: expit(t * x), "x_": y,
        "B": root @ p.K @ root + p.lam * np.eye(N),
        r"\nabla J(a)": slope(
            lambda a: kernel_logistic.dual_objective(a, p.K, t, p.lam), p.a
        ),
    }  # fmt: skip


@world("kernel_logistic.dual_residual", of="P =")
def _(p):
    n = p.n % N + 1
    y = p.K @ p.a
    w = np.linalg.cholesky(p.K)
    missing = kernel_logistic.residual_coefficients(
        w.T @ p.a, w, p.labels, 1.0
    )
    chance = 1 - missing[n - 1] * p.labels[n - 1]
    return {"n": n, "t": p.labels, "y": y, "P": chance, r"\sigma": expit}


@world("kernel_logistic.dual_residual", of=r"\Phi")
def _(p):
    Phi, t, lam = p.Phi, p.labels, p.lam
    r = kernel_logistic.dual_residual(p.a, Phi @ Phi.T, t, lam)
    w = ridge.weights_from_dual(p.a, Phi)
    return p.letters(a=p.a, w=w, r=r) | {
        r"\nabla J(w)": kernel_logistic.gradient(w, Phi, t, lam)
    }


@world("kernel_logistic.probability")
def _(p):
    chance = kernel_logistic.probability(p.a, p.cross)[0]
    return p.numbered() | {r"P(t = +1 \mid x)": chance}


# support vectors


def machine(p):
    """A machine, its letters, and inputs that are their own numbers."""
    found = svm.fit_dual(p.K, p.labels, p.C)
    known = p.numbered(t=p.labels, b=found.b, y=of(
        svm.output(found, p.cross)[0]))  # fmt: skip
    return found, known | {
        r"\alpha": found.alpha,
        "=": found.dual,
        "@tolerance": 1e-8,
    }


@world("svm.primal_objective")
def _(p):
    value = svm.primal_objective(p.w, p.b, p.Phi, p.labels, p.C)
    return p.letters(J=of(value), t=p.labels)


@world("svm.fit_dual", of=r"\frac")
@world("svm.fit_dual", of=r"\le")
def _(p):
    return machine(p)[1]


@world("svm.SVM.nu")
def _(p):
    found, known = machine(p)
    return known | {"=": found.nu}


@world("svm.dual_objective")
def _(p):
    alpha = p.rng.uniform(0, 1, N)
    return p.numbered(t=p.labels) | {
        r"\alpha": alpha,
        "=": svm.dual_objective(alpha, p.K, p.labels),
    }


@world("svm.gap_terms")
def _(p):
    alpha = p.rng.uniform(0, p.C, N)
    g = svm.gap_terms(alpha, p.a, p.labels, p.C)
    return p.letters(t=p.labels, y=p.a, g=g) | {r"\alpha": alpha}


@world("svm.bias_interval")
def _(p):
    e = ridge.residual_coefficients(p.w, p.Phi, p.t, 1.0)
    ends = np.searchsorted(np.sort(e), svm.bias_interval(e, p.labels)) + 1
    known = dict(zip("ij", ends.tolist(), strict=True))
    return p.letters(e=e, **known) | {"N_+": int(np.sum(p.labels > 0))}


@world("svr.bias_interval")
def _(p):
    e = ridge.residual_coefficients(p.w, p.Phi, p.t, 1.0)
    numbers = np.sort([e - 0.1, e + 0.1], axis=None)
    ends = np.searchsorted(numbers, svr.bias_interval(e, 0.1)) + 1
    return p.letters(e=e, **dict(zip("ij", ends.tolist(), strict=True)))


@world("svm.pair_step")
def _(p):
    """From zero, with a box that is wide, to what the first step finds."""
    t, K = p.labels, p.K
    new = t * svm.pair_step(np.zeros(N), K, t, 1e9)
    i, j = int(np.argmax(new)), int(np.argmin(new))
    before, after = (
        svm.dual_objective(t * v, K, t) for v in (np.zeros(N), new)
    )
    known = {
        "i": i + 1, "j": j + 1, "K": K, "t": t, "n": range(1, N + 1),
        "v": new * 0, "e": t, r"\alpha": t * 0, "s": new[i],
        "=": after - before,
    }  # fmt: skip
    return known


@world("svm.pair_step", of="v_{n}")
@world("svm.pair_step", of="e =")
def _(p):
    """At any multipliers e is the slope of the dual by v."""
    t, start = p.labels, p.rng.uniform(0, 1, N)
    e = slope(lambda v: svm.dual_objective(t * v, p.K, t), t * start)
    return p.letters(t=t, v=t * start, e=e) | {
        r"\alpha": start,
        "@tolerance": 1e-8,
    }


@world("svm.left_out")
def _(p):
    fold = np.array([0, 1, 2, 3, 4])
    K = p.K
    y = svm.left_out(K, p.labels, p.C, fold)
    n, rest = p.n + 1, np.delete(np.arange(N), p.n)
    found = svm.fit_dual(K[np.ix_(rest, rest)], p.labels[rest], p.C)
    return p.numbered(y=y, b=found.b) | {
        "n": n, "m": Each((rest + 1).tolist()), "@tolerance": 1e-7,
        r"\alpha_": dict(zip((rest + 1).tolist(), found.alpha, strict=True)),
        "t_": dict(zip((rest + 1).tolist(), p.labels[rest], strict=True)),
    }  # fmt: skip


@world("svm.fit", of="y(x)")
def _(p):
    found = svm.fit(p.k, p.X, p.labels, p.C)
    return p.kernel(t=p.labels, b=found.b) | {
        r"\alpha": found.svm.alpha,
        "y": lambda x: found.output([x])[0],
    }


# support vector regression


@world("svr.insensitive_loss")
def _(p):
    xi = svr.insensitive_loss(p.a, p.t, p.lam / 3)
    return p.letters(y=p.a) | {r"\xi": xi, r"\epsilon": p.lam / 3}


@world("svr.primal_objective")
def _(p):
    value = svr.primal_objective(p.w, p.b, p.Phi, p.t, p.C, p.lam / 3)
    return p.letters(J=of(value)) | {r"\epsilon": p.lam / 3}


@world("svr.dual_objective", "svr.fit_dual")
def _(p):
    found = svr.fit_dual(p.K, p.t, p.C, 0.1)
    value = svr.dual_objective(found.a, p.K, p.t, 0.1)
    return p.numbered(a=found.a, b=found.b) | {
        r"\alpha": found.alpha, r"\hat{\alpha}": found.alpha_hat,
        r"\epsilon": 0.1, "=": value,
    }  # fmt: skip


@world("svr.gap_terms")
def _(p):
    a, eps = p.rng.uniform(-p.C, p.C, N), p.lam / 3
    g = svr.gap_terms(a, p.b * p.labels, p.t, p.C, eps)
    split = [np.where(s * a > 0, s * a, 0) for s in (1, -1)]
    r = ridge.residual_coefficients(np.ones(1), (p.b * p.labels)[:, None],
                                    p.t, 1.0)  # fmt: skip
    return p.letters(a=a, g=g, r=r, y=p.b * p.labels) | {
        r"\alpha": split[0],
        r"\hat{\alpha}": split[1],
        r"\epsilon": eps,
    }


@world("svr.fit", of="y(x)")
def _(p):
    found = svr.fit(p.k, p.X, p.t, p.C, 0.1)
    whole = svr.fit_dual(p.k(p.X), p.t, p.C, 0.1)
    return p.kernel(a=whole.a, b=whole.b) | {
        "y": lambda x: found.output([x])[0],
        "@tolerance": 1e-7,
    }


# perceptrons and streets


@world("perceptron.subgradient")
def _(p):
    weights, known = p.affine()
    w, b = perceptron.subgradient(weights[1:], weights[0], p.X, p.labels)
    wrong = p.labels * (p.X @ weights[1:] + weights[0]) <= 0
    return known | {"g": w, "h": b, "M": (np.flatnonzero(wrong) + 1).tolist()}


@world("perceptron.update")
def _(p):
    x, w, t = p.x, p.z, p.labels[0]
    b = -t * 9.0
    new = perceptron.update(w, b, x, t, p.lam)
    return {
        "w": w, "b": b, "x": x, "t": t, r"\eta": p.lam,
        r"\leftarrow": {"w": new[0], "b": new[1]},
    }  # fmt: skip


@world("perceptron.fit_dual")
def _(p):
    K = p.K + np.outer(p.labels, p.labels) * 50
    found = perceptron.fit_dual(K, p.labels)
    a, values = found.c * p.labels, np.linalg.cholesky(K)
    w = perceptron.fit_primal(values, p.labels).w
    a = np.linalg.solve(values.T, w)
    return p.letters(t=p.labels, a=a) | {"c_": found.c, "@tolerance": 1e-8}


@world("perceptron.mistake_bound")
def _(p):
    w = np.linalg.lstsq(p.X[:D], p.labels[:D], rcond=None)[0]
    found = perceptron.mistake_bound(w, p.X[:D], p.labels[:D])
    size = max(np.sqrt(x @ x) for x in p.X[:D])
    return p.letters(w=w, t=p.labels[:D]) | {
        "n": range(1, D + 1), "x_": p.X, "R": size, "m": found,
        r"\gamma": size / np.sqrt(found),
    }  # fmt: skip


@world("perceptron.fit_averaged")
def _(p):
    epochs = 3
    w, b = perceptron.fit_averaged(p.X, p.labels, epochs)
    visited, v = [], np.zeros(D + 1)
    for n in [*range(N)] * epochs:
        new = perceptron.update(v[1:], v[0], p.X[n], p.labels[n])
        v = np.append(new[1], new[0])
        visited.append(v)
    visited = np.array(visited)
    return {
        r"\bar{w}": w, r"\bar{b}": b, "S": len(visited), "N": N,
        "s": range(1, len(visited) + 1), r"\mathrm{epochs}": epochs,
        "w_": visited[:, 1:], "b_": visited[:, 0],
    }  # fmt: skip


def street(p):
    """Two classes apart, their closest points, and the widest street."""
    X = p.X + 4 * np.outer(p.labels, [1.0, 0.5])
    return (
        X,
        margin.closest_points(X, p.labels),
        margin.hard_margin(X, p.labels),
    )


@world("margin.distance", "margin.margin")
def _(p):
    weights, known = p.affine()
    w, b = weights[1:], weights[0]
    return known | {
        "r": margin.distance(w, b, p.X), "x": discriminant.foot(w, b, p.X)[0],
        "=": margin.margin(w, b, p.X, p.labels),
    }  # fmt: skip


@world("margin.canonical")
def _(p):
    X, _, best = street(p)
    w, b = margin.canonical(3 * best.w, 3 * best.b, X, p.labels)
    return p.letters(w=w, b=b, t=p.labels) | {"x_": X}


@world("margin.closest_points", "margin.hard_margin",
       "margin.ClosestPoints.u", "margin.HardMargin.w")  # fmt: skip
def _(p):
    X, points, best = street(p)
    return p.letters(w=best.w, b=best.b, t=p.labels) | {
        "x_": X, "u": points.u, "k": Each([1, -1]),
        "p": points.p, "q": points.q,
        r"\alpha": best.alpha, "@tolerance": 1e-7,
    }  # fmt: skip


@world("margin.closest_points", of=r"\lVert")
@world("margin.ClosestPoints.upper")
def _(p):
    X, points, _ = street(p)
    return p.letters(t=p.labels) | {
        "x_": X, "u": points.u, "p": points.p, "q": points.q,
        "=": points.upper,
    }  # fmt: skip


@world("margin.hard_margin", of=r"\frac")
def _(p):
    _, _, best = street(p)
    return {"w": best.w, "=": 2 / best.margin**2}


@world("margin.HardMargin.margin")
def _(p):
    _, _, best = street(p)
    return {"w": best.w, "=": best.margin}


@world("kernel_logistic.DualFit.gradient_norm")
def _(p):
    """After one step of Newton, when the gradient is not yet zero."""
    Phi, t, lam = p.Phi, p.labels, p.lam
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = kernel_logistic.fit_dual(Phi @ Phi.T, t, lam, max_iterations=1)
    w = ridge.weights_from_dual(fit.a, Phi)
    r = kernel_logistic.dual_residual(fit.a, Phi @ Phi.T, t, lam)
    return p.letters(a=fit.a, w=w, r=r, K=Phi @ Phi.T) | {
        r"\nabla J(w)": kernel_logistic.gradient(w, Phi, t, lam),
        "=": fit.gradient_norm,
    }


@world("margin.ClosestPoints.gap")
def _(p):
    _, points, _ = street(p)
    return {r"\mathrm{upper}": points.upper, r"\mathrm{lower}": points.lower,
            "=": points.gap, "@tolerance": 1e-6}  # fmt: skip


def certified(fit, of):
    """What an early end leaves between primal and dual."""

    def build(p):
        found = fit(p)
        return {
            r"\mathrm{gap}": found.gap, r"\mathrm{primal}": found.primal,
            r"\mathrm{dual}": found.dual, "=": getattr(found, of),
            "@tolerance": 1e-7,
        }  # fmt: skip

    return build


def early(fit, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*args, max_iterations=1)


for _of in ("gap", "relative_gap"):
    world(f"svm.SVM.{_of}")(
        certified(lambda p: early(svm.fit_dual, p.K, p.labels, p.C), _of)
    )
    world(f"svr.SVR.{_of}")(
        certified(lambda p: early(svr.fit_dual, p.K, p.t, p.C, 0.1), _of)
    )
