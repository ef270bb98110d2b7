"""Chapter 14: generative classifiers."""

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.spatial.distance import mahalanobis
from scipy.stats import multivariate_normal, norm
from typeset import Each, Event, From, Law, Of

from kernelbook import bayes, features, fisher, kernels

from . import world


def examples(rng, K=3, D=2):
    """Labels with a different number of examples in each class."""
    t = rng.permutation(np.repeat(np.arange(K), 4 + np.arange(K)))
    X = rng.standard_normal((len(t), D)) + rng.uniform(-1, 1, (K, D))[t]
    return X, t


def law(model, density=None):
    """p of inputs, classes, or both, by the library.

    ``density(x, k)`` is p(x | t = k); without it, the library's too.
    """

    def p(*of, given=()):
        match of, given:
            case (Event(_, k),), (x,):
                return np.exp(bayes.log_posterior(model, [x]))[0, k]
            case (x,), (Event(_, k),):
                if density is not None:
                    return density(x, k)
                return np.exp(model.log_likelihood([x]))[0, k]
            case (x, Event(_, k)) | (x, int(k)), ():
                return np.exp(bayes.log_joint(model, [x]))[0, k]
            case (x,), ():
                return np.exp(bayes.log_evidence(model, [x]))[0]
        raise TypeError(f"p of {of} given {given}")

    return Law(p)


def bound(X, t, model, density=None):
    """Classes count from 0, examples and features from 1."""
    (N, D), K = X.shape, len(model.pi)
    counts = np.bincount(t)
    return {
        "N": N,
        "D": D,
        "K": K,
        "k": range(K),
        "l": range(K),
        "j": range(1, D + 1),
        r"\mathbf x_": X,
        "t_": t,
        "N_": From(0, counts),
        r"\pi_": From(0, model.pi),
        "p": law(model, density),
    }


def inputs(rng, X, size=2):
    """New inputs, each to be tried, where no class is nearly certain."""
    around = 0.5 * rng.standard_normal((size, X.shape[1]))
    return Each(list(X.mean(axis=0) + around))


# Any generative classifier: here three Gaussians ----------------------------


def three_gaussians(rng):
    X, t = examples(rng)
    model = bayes.fit_qda(X, t)

    def density(x, k):
        return multivariate_normal(model.mu[k], model.Sigma[k]).pdf(x)

    return X, model, bound(X, t, model, density)


@world(
    "eq-gen-joint", "eq-gen-evidence", "eq-gen-bayes", "eq-gen-log-posterior"
)
def _(rng):
    X, _, here = three_gaussians(rng)
    return here | {r"\mathbf x": inputs(rng, X)}


@world("eq-gen-decision")
def _(rng):
    X, model, here = three_gaussians(rng)
    return here | {
        r"\mathbf x": inputs(rng, X, size=20),
        r"\hat t": lambda x: bayes.predict(model, [x])[0],
    }


@world("eq-gen-risk")
def _(rng):
    """Four actions, with any prices."""
    X, model, here = three_gaussians(rng)
    loss = rng.uniform(0, 5, (3, 4))

    def risk(a):
        return lambda x: bayes.expected_loss(model, [x], loss)[0, a]

    return here | {
        "a": range(4),
        "L_": lambda k, a: loss[k, a],
        "R_": From(0, [risk(a) for a in range(4)]),
        r"\hat a": lambda x: bayes.decide(model, [x], loss)[0],
        r"\mathbf x": inputs(rng, X, size=20),
    }


@world("eq-gen-reject")
def _(rng):
    X, model, here = three_gaussians(rng)
    loss = 1 - np.eye(3)

    def risk(a):
        return lambda x: bayes.expected_loss(model, [x], loss)[0, a]

    return here | {
        "a": range(3),
        "R_": From(0, [risk(a) for a in range(3)]),
        r"\mathbf x": inputs(rng, X, size=3),
    }


@world("eq-gen-log-sum-exp")
def _(rng):
    f = 3 * rng.standard_normal(4)
    return {"K": 4, "k": range(4), "f_": From(0, f), "m": sorted(f)[-1]}


# Linear discriminant analysis -----------------------------------------------


def lda(rng, K=3):
    X, t = examples(rng, K)
    model = bayes.fit_lda(X, t)

    def density(x, k):
        return multivariate_normal(model.mu[k], model.Sigma).pdf(x)

    W, b = bayes.linear_form(model)
    here = bound(X, t, model, density) | {
        r"\mathbf x": inputs(rng, X),
        r"\boldsymbol\mu_": From(0, model.mu),
        r"\boldsymbol\Sigma": model.Sigma,
        r"\mathbf w_": From(0, W),
        "b_": From(0, b),
    }
    return X, t, model, here


@world(
    "eq-gen-priors",
    "eq-lda-means",
    "eq-lda-covariance",
    "eq-lda-weights",
)
def _(rng):
    *_, here = lda(rng)
    return here


@world("eq-lda-density")
def _(rng):
    *_, model, here = lda(rng)
    return here | {"p": law(model)}


@world("eq-lda-likelihood")
def _(rng):
    X, t, model, here = lda(rng)
    centred = multivariate_normal(cov=model.Sigma).logpdf(X - model.mu[t])
    return here | {r"\mathcal L": np.log(model.pi[t]).sum() + centred.sum()}


@world("eq-lda-log-posterior")
def _(rng):
    """c(x) from the height of a Gaussian's peak and the sum of all three."""
    *_, model, here = lda(rng)

    def c(x):
        clouds = [multivariate_normal(mu, model.Sigma) for mu in model.mu]
        evidence = sum(
            pi * cloud.pdf(x)
            for pi, cloud in zip(model.pi, clouds, strict=True)
        )
        return clouds[0].logpdf(model.mu[0]) - np.log(evidence)

    return here | {"c": c}


@world("eq-lda-two-classes", "eq-lda-sigmoid")
def _(rng):
    *_, model, here = lda(rng, K=2)
    W, b = bayes.linear_form(model)
    return here | {r"\mathbf w": W[1] - W[0], "b": b[1] - b[0]}


def on_the_border(model, rng):
    """A point where both classes are as probable, by search on a line."""
    side = 0.3 * rng.standard_normal(model.mu.shape[1])

    def at(s):
        return model.mu[0] + side + s * (model.mu[1] - model.mu[0])

    def lead(s):
        log_posterior = bayes.log_posterior(model, np.atleast_2d(at(s)))
        return log_posterior[:, 1] - log_posterior[:, 0]

    steps = np.linspace(-40, 40, 2001)[:, None]
    ahead = lead(steps) > 0
    first = np.flatnonzero(ahead[1:] != ahead[:-1])[0]
    low, high = steps[first : first + 2, 0]
    return at(brentq(lambda s: lead(s)[0], low, high, xtol=1e-14))


@world("eq-lda-border")
def _(rng):
    *_, model, here = lda(rng, K=2)
    W, b = bayes.linear_form(model)
    return here | {
        r"\mathbf x": on_the_border(model, rng),
        r"\mathbf w": W[1] - W[0],
        "b": b[1] - b[0],
    }


def fisher_world(rng):
    X, t, model, here = lda(rng)
    S = fisher.scatter(X, t)
    V, ratios = fisher.discriminants(X, t)
    return here | {
        "i": range(1, 3),
        "j": range(1, 3),
        r"\boldsymbol\mu": model.pi @ model.mu,
        r"\mathbf S_W": S.within,
        r"\mathbf S_B": S.between,
        r"\mathbf v": rng.standard_normal(2),
        r"\mathbf v_": V.T,
        r"\mathbf V": V,
        r"\rho_": ratios,
        "J": lambda v: fisher.criterion(v, X, t),
    }


@world(
    "eq-lda-between",
    "eq-lda-criterion",
    "eq-lda-discriminants",
    "eq-lda-reduced",
)
def _(rng):
    return fisher_world(rng)


@world("eq-kfd-criterion")
def _(rng):
    """Scatter of explicit features, three of each input."""
    X, t = examples(rng)
    N, lam = len(t), rng.uniform(0.1, 0.5)
    Phi, K = features.monomials(X, 2), kernels.Polynomial(2)(X)
    S = fisher.scatter(Phi, t)
    a = rng.standard_normal(N)
    same = (t[:, None] == t).astype(float)

    def J(a):
        v = Phi.T @ a
        ridge = N * lam * (v @ v)
        return (v @ S.between @ v) / (v @ S.within @ v + ridge)

    return {
        "N": N,
        "n": range(1, N + 1),
        r"\lambda": lam,
        r"\mathbf a": a,
        r"\mathbf K": K,
        r"\mathbf C": np.eye(N) - same / same.sum(axis=1),
        r"\mathbf H": np.array([e - e.mean() for e in np.eye(N)]),
        "J": J,
        r"\boldsymbol\phi": lambda x: features.monomials([x], 2)[0],
        r"\mathbf x_": X,
        r"\mathbf v": Phi.T @ a,
        r"\mathbf S_W": S.within,
    }


# Quadratic discriminant analysis --------------------------------------------


def qda(rng, K=3):
    X, t = examples(rng, K)
    model = bayes.fit_qda(X, t)
    return model, bound(X, t, model) | {
        r"\mathbf x": inputs(rng, X),
        r"\boldsymbol\mu_": From(0, model.mu),
        r"\boldsymbol\Sigma_": From(0, model.Sigma),
    }


@world("eq-qda-density", "eq-qda-covariance")
def _(rng):
    return qda(rng)[1]


@world("eq-qda-log-posterior")
def _(rng):
    """c(x) is the height of the standard Gaussian's peak less the sum."""
    model, here = qda(rng)

    def c(x):
        evidence = sum(
            pi * multivariate_normal(mu, Sigma).pdf(x)
            for pi, mu, Sigma in zip(
                model.pi, model.mu, model.Sigma, strict=True
            )
        )
        return 2 * norm.logpdf(0) - np.log(evidence)

    return here | {"c": c}


@world("eq-qda-border")
def _(rng):
    model, here = qda(rng, K=2)

    def distance(k):
        precision = np.linalg.inv(model.Sigma[k])
        return lambda x: mahalanobis(x, model.mu[k], precision)

    return here | {
        r"\mathbf x": on_the_border(model, rng),
        "d_": {0: distance(0), 1: distance(1)},
    }


@world("eq-rda-mixture", "eq-rda-shrinkage")
def _(rng):
    X, t = examples(rng)
    alpha, s = rng.uniform(0.2, 0.8, 2)
    own, shared = bayes.fit_qda(X, t), bayes.fit_lda(X, t)
    mixed = bayes.fit_rda(X, t, alpha)
    return {
        "D": 2,
        "k": range(3),
        r"\alpha": alpha,
        "s": s,
        r"\boldsymbol\Sigma_": From(0, own.Sigma),
        r"\boldsymbol\Sigma": shared.Sigma,
        r"\hat{\boldsymbol\Sigma}_": From(0, mixed.Sigma),
        r"\tilde{\boldsymbol\Sigma}_": From(
            0, bayes.fit_rda(X, t, alpha, s).Sigma
        ),
    }


# Naive Bayes ----------------------------------------------------------------


def naive(X, t, model, x, feature=None):
    """Of one feature, known by its value in x, ``feature(x_j, k, j)``."""

    def density(value, k):
        if np.ndim(value):
            return np.exp(model.log_likelihood([value]))[0, k]
        (j,) = np.flatnonzero(x == value)
        return feature(value, k, j)

    return bound(X, t, model, density) | {
        r"\mathbf x": x,
        "x_": x,
        r"\theta_": lambda k, j: model.theta[k, j - 1],
    }


def gaussian_nb(rng):
    X, t = examples(rng, D=4)
    model = bayes.fit_gaussian_nb(X, t)
    return X, t, model, rng.standard_normal(4)


@world("eq-nb-assumption", "eq-nb-posterior")
def _(rng):
    X, t, model, x = gaussian_nb(rng)
    sd = np.sqrt(model.var)
    return naive(
        X, t, model, x, lambda v, k, j: norm(model.mu[k, j], sd[k, j]).pdf(v)
    )


@world("eq-gnb-density", "eq-gnb-mean", "eq-gnb-variance")
def _(rng):
    X, t, model, x = gaussian_nb(rng)

    def feature(value, k, j):
        one = model.marginal([j]).log_likelihood([[value]])
        return np.exp(one)[0, k]

    return naive(X, t, model, x, feature) | {
        "x_": lambda *i: X[i[0] - 1, i[1] - 1] if i[1:] else x[i[0] - 1],
        r"\mu_": lambda k, j: model.mu[k, j - 1],
        r"\sigma_": lambda k, j: np.sqrt(model.var[k, j - 1]),
    }


@world("eq-mnb-likelihood", "eq-mnb-odds")
def _(rng):
    _, t = examples(rng)
    X = rng.integers(0, 5, (len(t), 4))
    model = bayes.fit_multinomial_nb(X, t, alpha=0.7)
    return naive(X, t, model, rng.integers(1, 5, 4))


@world("eq-bnb-likelihood")
def _(rng):
    _, t = examples(rng)
    X = rng.integers(0, 2, (len(t), 4))
    model = bayes.fit_bernoulli_nb(X, t, alpha=0.7)
    x = np.array([0, 1, 1, 0])
    return [naive(X, t, model, x), naive(X, t, model, 1 - x)]


@world("eq-mnb-theta")
def _(rng):
    _, t = examples(rng)
    X, alpha = rng.integers(0, 5, (len(t), 4)), rng.uniform(0.3, 2.0)
    model = bayes.fit_multinomial_nb(X, t, alpha)
    return naive(X, t, model, X[0]) | {
        r"\alpha": alpha,
        "N_": lambda k, j: sum(X[n, j - 1] for n in np.flatnonzero(t == k)),
        "x_": lambda n, j: X[n - 1, j - 1],
        "n": range(1, len(t) + 1),
    }


@world("eq-bnb-theta")
def _(rng):
    _, t = examples(rng)
    X, alpha = rng.integers(0, 2, (len(t), 4)), rng.uniform(0.3, 2.0)
    model = bayes.fit_bernoulli_nb(X, t, alpha)
    return naive(X, t, model, X[0]) | {
        r"\alpha": alpha,
        "M_": lambda k, j: sum(X[n, j - 1] for n in np.flatnonzero(t == k)),
    }


@world("eq-nb-copies")
def _(rng):
    """A model of r equal columns against the density of one."""
    X, t = examples(rng, K=2, D=1)
    x, r = rng.standard_normal(), 4
    model = bayes.fit_gaussian_nb(np.tile(X, r), t)
    belief = np.exp(bayes.log_posterior(model, [[x] * r]))[0]

    def density(x, k):
        return norm(X[t == k].mean(), X[t == k].std()).pdf(x)

    return bound(X, t, model, density) | {
        "x": x,
        "r": r,
        r"p(t = 1 \mid x, \dots, x)": belief[1],
        r"p(t = 0 \mid x, \dots, x)": belief[0],
    }


@world("eq-gen-missing")
def _(rng):
    """Features 1 and 3 are seen, 2 is missing."""
    X, t = examples(rng, D=3)
    model = bayes.fit_qda(np.vstack([X, X[::-1] + 0.3]), np.tile(t, 2))
    seen = [0, 2]
    clouds = [
        multivariate_normal(mu, Sigma)
        for mu, Sigma in zip(model.mu, model.Sigma, strict=True)
    ]

    def p(x_o, x_m=None, *, given):
        (event,) = given
        if x_m is not None:
            return clouds[event.value].pdf([x_o[0], x_m, x_o[1]])
        log_density = model.marginal(seen).log_likelihood([x_o])
        return np.exp(log_density)[0, event.value]

    nodes = np.linspace(-15, 15, 151)
    return {
        "k": range(3),
        "p": Law(p),
        r"\mathbf x_o": rng.standard_normal(2),
        r"d\mathbf x_m": (nodes, np.full(len(nodes), nodes[1] - nodes[0])),
        r"\boldsymbol\mu_{k,o}": Of("k", lambda k: model.mu[k, seen]),
        r"\boldsymbol\Sigma_{k,oo}": Of(
            "k", lambda k: model.Sigma[k][np.ix_(seen, seen)]
        ),
    }


# Of relations in sentences ---------------------------------------------------


@world("inline: the sick for whom the alarm is raised")
def _(rng):
    """Those near the threshold, among many; what is right costs nothing."""
    X, t = examples(rng, K=2)
    model, loss = bayes.fit_qda(X, t), np.diag(rng.uniform(1, 4, 2))[::-1]
    new = rng.standard_normal((200, 2))
    alarm = new[bayes.decide(model, new, loss) == 1]
    sure = bayes.log_posterior(model, alarm)[:, 1]
    return bound(X, t, model) | {
        r"\mathbf x": Each(alarm[np.argsort(sure)[:5]]),
        "L_{01}": loss[0, 1],
        "L_{10}": loss[1, 0],
    }


@world("inline: the share of a class")
def _(rng):
    """By quadrature of what the library says of inputs and classes."""
    X, t = examples(rng, D=1)
    model, x = bayes.fit_qda(X, t), np.linspace(-20, 20, 4001)
    masses = np.exp(bayes.log_joint(model, x[:, None])).sum(axis=0) * 0.01

    def p(event, *, given):
        return masses[event.value]

    return bound(X, t, model) | {"p": Law(p)}


@world("inline: the score of a class")
def _(rng):
    _, model, here = three_gaussians(rng)
    (x,) = rng.standard_normal((1, 2))
    f = bayes.log_joint(model, [x])[0]
    return here | {r"\mathbf x": x, "f_": From(0, f)}


@world("inline: priors with a multiplier", tolerance=1e-6)
def _(rng):
    """The slope of the log likelihood, by differences, of one prior."""
    _, t, model, here = lda(rng)
    counts, (pi, *_), h = np.bincount(t), model.pi, 1e-5
    slope = counts[0] * (np.log(pi + h) - np.log(pi - h)) / (2 * h)
    return here | {r"\nu": slope}


@world("inline: the scatter of LDA")
def _(rng):
    X, t, model, here = lda(rng)
    own = np.array([model.mu[k] for k in t])
    return here | {
        r"\mathbf u_": X - own,
        r"\boldsymbol\Lambda": np.linalg.inv(model.Sigma),
        r"\mathbf S": fisher.scatter(X, t).within,
        "n": range(1, len(t) + 1),
        "t_": From(1, t.tolist()),
    }


def four_dimensions(rng):
    """Three classes; and SciPy's eigenvectors of eigenvalue zero."""
    X, t = examples(rng, D=4)
    S = fisher.scatter(X, t)
    return X, t, S, eigh(S.between, S.within)[1].T[:2]


@world("inline: discriminants")
def _(rng):
    X, t, S, _ = four_dimensions(rng)
    V, _ = fisher.discriminants(X, t)
    return {
        "K": 3,
        r"\mathbf S_W": S.within,
        r"\mathbf S_B": S.between,
        r"\mathbf v_": V.T,
        r"\mathbf V": V,
        r"\mathbf v": Each(list(V.T)),
        "J": lambda v: fisher.criterion(v, X, t),
    }


@world("inline: directions that do not discriminate", tolerance=1e-8)
def _(rng):
    *_, S, V = four_dimensions(rng)
    return {r"\mathbf S_B": S.between, r"\mathbf v": Each(list(V))}


@world("inline: a posterior of shares")
def _(rng):
    return {
        "j": range(1, 5),
        r"\theta_": rng.dirichlet(np.ones(4)),
        r"\theta": rng.uniform(0.2, 0.8),
        "N_": rng.integers(1, 6, 4),
        r"\alpha": rng.uniform(1.5, 3.0),
    }
