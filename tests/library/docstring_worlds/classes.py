"""Many classes: generative models, discriminants, and how they are judged."""

import numpy as np
from scipy import optimize, stats
from scipy.special import expit
from typeset import Event, From, Law

from kernelbook import (
    bayes,
    calibration,
    counting,
    discriminant,
    evaluation,
    features,
    fisher,
    multiclass,
)

from .common import D, N, of, world

CLASSES = 3


def normal(x, mu, cov):
    return stats.multivariate_normal(mu, cov).pdf(x)


def law(model):
    """p of inputs and of classes, as a generative model has it."""

    def p(*of, given):
        events = [e.value for e in (*of, *given) if isinstance(e, Event)]
        x = next(e for e in (*of, *given) if not isinstance(e, Event))
        if isinstance(of[0], Event):
            table = bayes.log_posterior
        elif not events:
            return np.exp(bayes.log_evidence(model, [x])[0])
        elif given:
            return np.exp(model.log_likelihood([x])[0, int(events[0])])
        else:
            table = bayes.log_joint
        return np.exp(table(model, [x])[0, int(events[0])])

    return Law(p)


def about(model, x, X, **more):
    return {
        "p": law(model), "x": x, "N": normal, "k": range(CLASSES),
        r"\pi_": From(0, model.pi), "n": range(1, len(X) + 1),
        "j": range(1, D + 1), "X": X,
    } | more  # fmt: skip


def at_inputs(build):
    """The same with inputs x_n, whose entries are x_nj."""
    return lambda p: build(p) | {"x_": build(p)["X"]}


def two(table):
    """An entry of a table by class, from 0, and feature, from 1."""
    return lambda k, j: table[int(k), int(j) - 1]


@world("bayes.LDA", "bayes.log_joint", "bayes.log_evidence",
       "bayes.log_posterior")  # fmt: skip
def lda(p):
    model = bayes.fit_lda(p.many, p.classes, p.lam)
    known = about(model, p.x, p.many)
    return known | {r"\mu_": From(0, model.mu), r"\Sigma": model.Sigma}


@world("bayes.QDA")
def qda(p):
    model = bayes.fit_qda(p.many, p.classes, p.lam)
    known = about(model, p.x, p.many)
    both = {r"\mu_": model.mu, r"\Sigma_": model.Sigma}
    return known | {name: From(0, value) for name, value in both.items()}


@world("bayes.GaussianNB")
def gaussian_nb(p):
    model = bayes.fit_gaussian_nb(p.many, p.classes, p.lam)
    return about(model, p.x, p.many) | {
        r"\mu_": two(model.mu), r"\sigma_": two(model.var**0.5)
    }  # fmt: skip


@world("bayes.MultinomialNB")
def multinomial_nb(p):
    X = p.rng.integers(1, 5, (10, D))
    model = bayes.fit_multinomial_nb(X, p.classes, p.lam)
    return about(model, X[p.n] + 1, X) | {r"\theta_": two(model.theta)}


@world("bayes.BernoulliNB")
def bernoulli_nb(p):
    X = (p.many > 0).astype(float)
    model = bayes.fit_bernoulli_nb(X, p.classes, p.lam)
    return about(model, X[p.n], X) | {r"\theta_": two(model.theta)}


for _model, _build in {
    "LDA": lda, "QDA": qda, "GaussianNB": gaussian_nb,
    "MultinomialNB": multinomial_nb, "BernoulliNB": bernoulli_nb,
}.items():  # fmt: skip
    world(f"bayes.{_model}.log_likelihood")(at_inputs(_build))


@world("bayes.expected_loss")
def _(p):
    model = bayes.fit_lda(p.many, p.classes, p.lam)
    loss = p.rng.uniform(0, 1, (CLASSES, 2))
    return about(model, p.x, p.many) | {
        "a": 1, "L_": lambda k, a: loss[int(k), int(a)],
        "=": bayes.expected_loss(model, [p.x], loss)[0, 1],
    }  # fmt: skip


def counted(p, X):
    """What the estimates of class models are made of."""
    own = [X[p.classes == k] for k in range(CLASSES)]
    return {
        "N": len(X), "n": range(1, len(X) + 1), "k": range(CLASSES),
        "t": p.classes.astype(float), "D": D, r"\lambda": p.lam, "x_": X,
        "j": range(1, D + 1), "l": range(1, D + 1), r"\alpha": p.lam,
        "N_": lambda k, *j: len(own[int(k)]) if not j
        else own[int(k)][:, int(j[0]) - 1].sum(),
        r"\mathbf I": np.eye(D),
    }  # fmt: skip


@world("bayes.fit_lda")
def _(p):
    model = bayes.fit_lda(p.many, p.classes, p.lam)
    both = {r"\mu_": From(0, model.mu), r"\Sigma": model.Sigma}
    return counted(p, p.many) | both


@world("bayes.fit_qda")
def _(p):
    model = bayes.fit_qda(p.many, p.classes, p.lam)
    means = [p.many[p.classes == k].mean(axis=0) for k in range(CLASSES)]
    both = {r"\mu_": From(0, means), r"\Sigma_": From(0, model.Sigma)}
    return counted(p, p.many) | both


@world("bayes.fit_rda")
def _(p):
    def fit(*args):
        return bayes.fit_rda(p.many, p.classes, p.lam / 3, *args).Sigma[k]

    k, s = p.n % CLASSES, p.b / 3
    return {
        "k": k, "s": s, r"\alpha": p.lam / 3, "D": D, r"\mathbf I": np.eye(D),
        r"\Sigma_{k}(\alpha)": fit(),
        r"\Sigma_{k}": bayes.fit_qda(p.many, p.classes).Sigma[k],
        r"\Sigma": bayes.fit_lda(p.many, p.classes).Sigma,
        "=": fit(s),
    }  # fmt: skip


@world("bayes.fit_gaussian_nb")
def _(p):
    model = bayes.fit_gaussian_nb(p.many, p.classes, p.lam)
    tables = {r"\mu_": two(model.mu), r"\sigma_": two(model.var**0.5)}
    return counted(p, p.many) | tables


@world("bayes.fit_multinomial_nb")
def _(p):
    X = p.rng.integers(0, 5, (10, D))
    model = bayes.fit_multinomial_nb(X, p.classes, p.lam)
    return counted(p, X) | {r"\theta_": two(model.theta)}


@world("bayes.fit_bernoulli_nb")
def _(p):
    X = (p.many > 0).astype(float)
    model = bayes.fit_bernoulli_nb(X, p.classes, p.lam)
    return counted(p, X) | {r"\theta_": two(model.theta)}


@world("bayes.linear_form")
def _(p):
    model = bayes.fit_lda(p.many, p.classes, p.lam)
    w, b = bayes.linear_form(model)
    return about(model, p.x, p.many) | {
        "w_": From(0, w), "b_": From(0, b), r"\Sigma": model.Sigma,
        r"\mu_": From(0, model.mu), r"\pi_": From(0, model.pi),
        "c": lambda x: np.log(normal(x, np.zeros(D), model.Sigma)),
    }  # fmt: skip


# scores


@world("calibration", "calibration.Sigmoid",
       "calibration.fit_sigmoid")  # fmt: skip
def _(p):
    y, t = p.a, p.labels
    fitted = calibration.fit_sigmoid(y, t)
    q = calibration.soft_targets(t)

    def surprise(sr):
        y_n = sr[0] * y + sr[1]
        return np.logaddexp(0, -y_n) @ q + np.logaddexp(0, y_n) @ (1 - q)

    least = optimize.minimize(surprise, [0.0, 0.0], tol=1e-14).fun
    p_n = calibration.probability(fitted, y)
    new = calibration.probability(fitted, [p.b])[0]
    return {
        "N": N, "n": range(1, N + 1), "q": q, "p_": p_n, "=": least,
        "@tolerance": 1e-7, "y_": y, "y": p.b,
        "s": fitted.slope, "r": fitted.offset,
        r"\mathrm{slope}": fitted.slope, r"\mathrm{offset}": fitted.offset,
        r"\sigma": expit, "x": p.b, r"p(+1 \mid x)": new, "y(x)": p.b,
    }  # fmt: skip


@world("calibration.probability")
def _(p):
    s, r, y = p.rng.standard_normal(3)
    chance = calibration.probability(
        calibration.Sigmoid(s, r, "converged"), [y]
    )[0]
    return {"s": s, "r": r, "y": y, "p": chance, r"\sigma": expit}


@world("calibration.soft_targets")
def _(p):
    t = [1.0] * (p.n + 2) + [-1.0] * (p.n + 4)
    q = calibration.soft_targets(t)
    return {"N_+": p.n + 2, "N_-": p.n + 4, "q_+": q[0], "q_-": q[-1]}


@world("counting.cholesky_solve")
def _(p):
    n, tally = p.n + 2, counting.Tally()
    A = p.rng.standard_normal((n, n + 2))
    A = A @ A.T
    b = p.many[:n, 0]
    x = counting.cholesky_solve(tally.numbers(A), tally.numbers(b))
    return {
        "n": n, "m": tally.multiplications, "d": tally.divisions, "A": A,
        "L": np.linalg.cholesky(A), "x": x.astype(float), "b": b,
    }  # fmt: skip


def linear_scores(p, K=CLASSES):
    W = p.rng.standard_normal((D + 1, K))

    def f(k):
        return lambda x: discriminant.scores(W, [x])[0, int(k)]

    return W, {
        "f_": f, "w_": From(0, W[1:].T), "b_": From(0, W[0]), "x": p.x,
        "k": range(K), "N": N, "n": range(1, N + 1), "x_": p.X,
    }  # fmt: skip


@world("discriminant.scores")
def _(p):
    return linear_scores(p)[1]


@world("discriminant.classify")
def _(p):
    W, known = linear_scores(p)
    found = discriminant.classify(discriminant.scores(W, [p.x]))[0]
    return known | {"c": of(int(found))}


@world("discriminant.boundary")
def _(p):
    W, known = linear_scores(p)
    w, b = discriminant.boundary(W, 2, 0)
    x = discriminant.foot(w, b, [p.x])[0]
    return known | {"k": 2, "j": 0, "x": x}


@world("discriminant.squared_error")
def _(p):
    W, known = linear_scores(p)
    T = p.rng.standard_normal((N, CLASSES))
    value = discriminant.squared_error(W, p.X, T)
    table = {"T_": lambda n, k: T[int(n) - 1, int(k)]}
    return known | table | {"W": W, "J": of(value)}


@world("discriminant.signed_distance", "discriminant.foot")
def _(p):
    w, b = p.rng.standard_normal(D), p.b
    feet = discriminant.foot(w, b, p.X)
    return {
        "w": w, "b": b, "n": range(1, N + 1), "x_": p.X, "x": feet[p.n],
        "r": discriminant.signed_distance(w, b, p.X), "p_": feet,
    }  # fmt: skip


@world("discriminant.least_squares_weights", "discriminant.least_squares")
def _(p):
    t = np.arange(N) % CLASSES
    return {
        r"\tilde{X}": features.with_bias(p.X), "N": N, "X": p.X,
        "W": discriminant.least_squares(p.X, t, CLASSES),
        "T": discriminant.one_hot(t, CLASSES),
    }  # fmt: skip


@world("features.with_bias", "gp.Trend.phi")
def _(p):
    return {r"\tilde{X}": features.with_bias(p.X), "N": N, "X": p.X}


@world("evaluation.log_loss")
def _(p):
    P = p.rng.dirichlet(np.ones(CLASSES), 10)
    return counted(p, p.many) | {
        "p_": lambda n, t: P[int(n) - 1, int(t)],
        "=": evaluation.log_loss(P, p.classes),
    }  # fmt: skip


@world("evaluation.calibration_error")
def _(p):
    chances, happened = p.rng.random(40), p.rng.random(40) < 0.5
    bins = evaluation.reliability(chances, happened, 4)
    return {
        "N": 40, "N_": bins.counts, "o": bins.observed, "p": bins.predicted,
        "j": range(1, len(bins.counts) + 1),
        "=": evaluation.calibration_error(chances, happened, 4),
    }  # fmt: skip


def pairwise(p):
    """Scores of all pairs of classes at one input."""
    F = p.rng.standard_normal((1, 6))
    table = np.zeros((4, 4))
    for (k, j), f in zip(multiclass.pairs(4), F[0], strict=True):
        table[k, j], table[j, k] = f, -f
    votes, sums = multiclass.votes(F, 4)[0], multiclass.total_scores(F, 4)[0]
    return {
        "x": 0.0, "k": range(4), "j": range(4), "K": 4,
        "f_": lambda k, j: of(table[int(k), int(j)]),
        "v_": lambda k: of(votes[int(k)]), "s_": lambda k: of(sums[int(k)]),
        "=": len(multiclass.pairs(4)), "P": len(multiclass.pairs(4)),
    }  # fmt: skip


world("multiclass.votes", "multiclass.total_scores", "multiclass.pairs",
      "multiclass.one_vs_one", "multiclass.OneVsOne",
      "multiclass.OneVsOne.scores")(pairwise)  # fmt: skip


@world("multiclass.LinearScore", "multiclass.linear_score")
def _(p):
    w, b = p.rng.standard_normal(D), p.b
    f = multiclass.linear_score(w, b)
    return {"w": w, "b": b, "x": p.x, "f": lambda x: f([x])[0]}


# Fisher


def scattered(p, classes, X):
    """The means of classes and of all inputs, and both scatters."""
    means = [X[classes == k].mean(axis=0) for k in np.unique(classes)]
    within, between = fisher.scatter(X, classes)
    centred = X - np.array(means)[classes]
    return {
        "N": len(X), "n": range(1, len(X) + 1), "t": classes.astype(float),
        "k": range(len(means)), "x_": X, "m_": From(0, means),
        "m": X.mean(axis=0), "N_": From(0, np.bincount(classes)),
        "S_W": within, "S_B": between, r"\lambda": p.lam,
        r"\Sigma": np.cov(centred.T, bias=True) + p.lam * np.eye(D),
        r"\mathbf I": np.eye(D),
    }  # fmt: skip


@world("fisher.direction")
def _(p):
    classes = (p.labels > 0).astype(int)
    known = scattered(p, classes, p.X)
    means = known["m_"].members
    w = fisher.direction(p.X, p.labels, p.lam)
    return known | {"w": w, "m_+": means[1], "m_-": means[0]}


@world("fisher.scatter")
def _(p):
    return scattered(p, p.classes, p.many)


@world("fisher.discriminants", "fisher")
def _(p):
    V, ratios = fisher.discriminants(p.many, p.classes, lam=p.lam)
    known = scattered(p, p.classes, p.many)
    U = np.linalg.cholesky(known[r"\Sigma"]).T
    pole = U @ V[:, 0]
    return known | {
        "v": V[:, 0], r"\rho": ratios[0], "U": U, "p": pole,
        "=": ratios[0],
    }  # fmt: skip


@world("fisher.fit_dual")
def _(p):
    X, new = p.many, p.x
    A, _ = fisher.fit_dual(X @ X.T, p.classes, lam=p.lam)
    V, _ = fisher.discriminants(X, p.classes, lam=p.lam)
    values, Q = np.linalg.eigh(X @ X.T)
    V *= np.sign(np.sum(V * (X.T @ A), axis=0))
    return {
        "N": 10, "n": range(1, 11), "j": p.n % A.shape[1] + 1, "A": A,
        "v_": V.T, "x_": X, r"\phi": lambda x: x, "K": X @ X.T, "Q": Q,
        r"\Lambda": np.diag(values), "k": lambda x, z: x @ z, "x": new,
        "=": V[:, p.n % A.shape[1]] @ new, "@tolerance": 1e-8,
    }  # fmt: skip
