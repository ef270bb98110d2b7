"""The formulas of docstrings hold, and their misprints do not.

A world binds the letters of one docstring: arguments drawn at random, and on
the left side what the function returns.  Statements with letters that it does
not bind are not executed; how many are is said beside it.
"""

import math
import re
from collections import Counter

import numpy as np
import pytest
from library.formulas import docstrings, formulas
from scipy.special import expit
from typeset import Disagreement, Equation, FormulaError, Notation, judged

from kernelbook import (
    bayes,
    discriminant,
    duality,
    features,
    fisher,
    gaussians,
    gp,
    inducing,
    kernel_logistic,
    kernel_pca,
    kernels,
    learning,
    logistic,
    mean_field,
    nystrom,
    perceptron,
    ridge,
    softmax,
    svm,
    svr,
    validity,
)

N, M, D = 5, 3, 2
LNDET = {r"\mathrm{lndet}": lambda A: np.linalg.slogdet(A)[1]}
BOOK = Notation(meanings=LNDET | {r"\mathrm{mean}": np.mean})
WORLDS = {}
LEAST_REJECTED = 0.95


def world(name, executed=1):
    """Register the world of a docstring, and how much of it is executed."""

    def register(build):
        WORLDS[name] = executed, build
        return build

    return register


class Problem:
    """Inputs, features, targets and what belongs to them, at random."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        self.Phi, self.X = rng.standard_normal((N, M)), rng.normal(size=(N, D))
        self.t, self.a = rng.standard_normal((2, N))
        self.labels = rng.permutation([1.0, 1.0, -1.0, -1.0, 1.0])
        self.w = rng.standard_normal(M)
        self.lam, self.b, self.C = rng.uniform(0.4, 2.0, 3)
        root = rng.standard_normal((N, N + 2))
        self.K, self.cross = root @ root.T, rng.standard_normal((N, 1))

    def letters(self, **more):
        """What most docstrings mean by their letters."""
        named = {
            "N": N, "M": M, "D": D,
            "n": range(1, N + 1), "m": range(1, N + 1), "d": range(1, D + 1),
            r"\lambda": self.lam, r"\Phi": self.Phi, "x_": self.Phi,
            r"\phi": lambda x: x, "t": self.t, "w": self.w, "a": self.a,
            "K": self.K, "b": self.b, "C": self.C, r"\sigma": expit,
            "X": self.X,
        }  # fmt: skip
        return named | more

    def numbered(self, **more):
        """Inputs are their own numbers, x is new: k looks them up."""

        def k(x, z):
            column = self.cross[:, 0] if z == 0 else self.K[:, int(z) - 1]
            return column[int(x) - 1]

        x = {n: float(n) for n in range(1, N + 1)}
        own = {"x_": x, "x": 0.0, "k": k, "k(x)": self.cross[:, 0]}
        return self.letters() | own | more


def of(value):
    return lambda *arguments: value


# ridge ----------------------------------------------------------------------


@world("ridge.objective")
def _(p):
    return p.letters(J=of(ridge.objective(p.w, p.Phi, p.t, p.lam)))


@world("ridge.gradient")
def _(p):
    return p.letters() | {
        r"\nabla J(w)": ridge.gradient(p.w, p.Phi, p.t, p.lam)
    }


@world("ridge.fit_primal")
def _(p):
    return p.letters(w=ridge.fit_primal(p.Phi, p.t, p.lam))


@world("ridge.fit_with_intercept", 4)
def _(p):
    w, b = ridge.fit_with_intercept(p.Phi, p.t, p.lam)
    mean = p.Phi.mean(axis=0)
    return p.letters(w=w, b=b) | {
        r"\bar{\phi}": mean, r"\bar{t}": p.t.mean(),
        r"\Phi_c": p.Phi - mean, "t_c": p.t - p.t.mean(),
    }  # fmt: skip


@world("ridge.minimum_norm_weights")
def _(p):
    return p.letters(w=ridge.minimum_norm_weights(p.Phi, p.t))


@world("ridge.leave_one_out")
def _(p):
    columns = [ridge.fit_primal(p.Phi, e, p.lam) for e in np.eye(N)]
    return p.letters(S=p.Phi @ np.transpose(columns))


@world("ridge.residual_coefficients")
def _(p):
    return p.letters(a=ridge.residual_coefficients(p.w, p.Phi, p.t, p.lam))


@world("ridge.weights_from_dual")
def _(p):
    return p.letters(w=ridge.weights_from_dual(p.a, p.Phi))


@world("ridge.dual_objective", 2)
def _(p):
    value = ridge.dual_objective(p.a, p.Phi @ p.Phi.T, p.t, p.lam)
    known = p.letters(J=of(value), K=p.Phi @ p.Phi.T, w=p.Phi.T @ p.a)
    return known


@world("ridge.dual_gradient")
def _(p):
    return p.letters() | {
        r"\nabla J(a)": ridge.dual_gradient(p.a, p.K, p.t, p.lam)
    }


@world("ridge.fit_dual")
def _(p):
    return p.letters(a=ridge.fit_dual(p.K, p.t, p.lam))


@world("ridge.fit_dual_with_intercept", 4)
def _(p):
    a, b = ridge.fit_dual_with_intercept(p.K, p.t, p.lam)
    return p.letters(a=a, b=b, H=np.eye(N) - 1 / N)


@world("ridge.predict")
def _(p):
    return p.numbered(y=of(ridge.predict(p.a, p.cross)[0]))


@world("ridge.target_weights")
def _(p):
    return p.numbered(s=of(ridge.target_weights(p.K, p.cross, p.lam)[:, 0]))


@world("ridge.lagrangian_dual")
def _(p):
    return p.letters(G=of(ridge.lagrangian_dual(p.a, p.K, p.t, p.lam)))


# logistic -------------------------------------------------------------------


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


@world("kernel_logistic.dual_objective", 2)
def _(p):
    value = kernel_logistic.dual_objective(p.a, p.K, p.labels, p.lam)
    return p.letters(J=of(value), t=p.labels, y=p.K @ p.a) | {r"\Phi": None}


@world("kernel_logistic.output")
def _(p):
    return p.numbered(y=of(kernel_logistic.output(p.a, p.cross)[0]))


@world("logistic.sigmoid", 2)
def _(p):
    return {"z": p.b, r"\sigma": lambda z: float(logistic.sigmoid(z))}


@world("logistic.output")
def _(p):
    w = p.rng.standard_normal(D + 1)
    known = p.letters(w=w[1:], b=w[0], y=logistic.output(w, p.X))
    return known | {"x_": p.X}


@world("logistic.probability")
def _(p):
    w = p.rng.standard_normal(D + 1)
    known = p.letters(w=w[1:], b=w[0], p=logistic.probability(w, p.X))
    return known | {"x_": p.X}


@world("logistic.log_likelihood", 3)
def _(p):
    w = p.rng.standard_normal(D + 1)
    value = logistic.log_likelihood(w, p.X, p.labels)
    chance = expit(p.X @ w[1:] + w[0])
    known = p.letters(w=w[1:], b=w[0], t=p.labels, p=chance, L=of(value))
    return known | {"x_": p.X, "u": (1 + p.labels) / 2}


@world("softmax.softmax")
def _(p):
    f = p.rng.standard_normal(M)
    return {"f": f, "M": M, "k": range(1, M + 1), "p": softmax.softmax([f])[0]}


# support vectors and discriminants ------------------------------------------


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


@world("svm.fit_dual", 2)
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


@world("discriminant.least_squares_weights", 2)
def _(p):
    T = p.rng.standard_normal((N, 4))
    W = discriminant.least_squares_weights(p.X, T)
    with_ones = np.column_stack([np.ones(N), p.X])
    return p.letters(W=W, T=T) | {r"\tilde{X}": with_ones}


@world("duality.objective")
def _(p):
    return programme(p)


@world("duality.lagrangian")
def _(p):
    return programme(p)


def programme(p):
    P, w = p.K[:M, :M], p.w
    qp = duality.QuadraticProgram(
        P, p.t[:M], p.Phi, p.a, p.Phi[:2] + 1, p.t[3:]
    )
    mu, nu = p.rng.uniform(0.2, 1, N), p.rng.standard_normal(2)
    return {
        "P": P, "q": p.t[:M], "G": p.Phi, "h": p.a, "A": p.Phi[:2] + 1,
        "b": p.t[3:], "w": w, r"\mu": mu, r"\nu": nu,
        "f": of(duality.objective(qp, w)),
        r"\mathcal L": of(duality.lagrangian(qp, w, mu, nu)),
    }  # fmt: skip


@world("fisher.criterion")
def _(p):
    labels = (p.labels > 0).astype(int)
    within, between = fisher.scatter(p.X, labels)
    w = p.w[:D]
    value = of(fisher.criterion(w, p.X, labels))
    return {"w": w, "S_B": between, "S_W": within, "J": value}


# Gaussians and kernels ------------------------------------------------------


@world("gaussians.normal_density")
def _(p):
    x, mu, sigma = p.a[0], p.a[1], p.lam
    value = float(gaussians.normal_density([x], mu, sigma**2)[0])
    return {"x": x, r"\mu": mu, r"\sigma": sigma, "N": of(value)}


@world("gaussians.log_density")
def _(p):
    x, mu, Sigma = p.a, p.t, p.K
    value = np.exp(gaussians.log_density([x], mu, Sigma)[0])
    return {"x": x, r"\mu": mu, r"\Sigma": Sigma, "D": N, "N": of(value)}


def process(p):
    k, beta = kernels.Gaussian(gamma=0.7), p.lam
    model = gp.fit(k, p.X, p.t, beta)
    z = p.rng.standard_normal(D)
    C = k(p.X) + np.eye(N) / beta
    column = k(p.X, [z])[:, 0]
    known = p.letters(x=z, a=np.linalg.solve(C, p.t), K=k(p.X)) | {
        r"\beta": beta, "C_N": C, "x_": p.X,
        "k": lambda x, z: k([x], [z])[0, 0],
    }  # fmt: skip
    return model, z, column, known


@world("gp.fit", 2)
def _(p):
    model, *_, known = process(p)
    return known | {"a": model.a}


@world("gp.mean")
def _(p):
    model, z, _, known = process(p)
    return known | {"m": of(gp.mean(model, [z])[0])}


@world("gp.predict", 3)
def _(p):
    model, z, column, known = process(p)
    found = gp.predict(model, [z])
    known |= {
        "m": of(found.mean[0]), "c": 1 + 1 / model.beta,
        r"\sigma^2(x)": found.noisy_variance[0],
    }  # fmt: skip
    return [known, known | {"k": column}]


@world("gp.log_marginal_likelihood")
def _(p):
    model, *_, known = process(p)
    return known | {"p(t)": np.exp(gp.log_marginal_likelihood(model))}


@world("gp.loo", 2)
def _(p):
    model, *_, known = process(p)
    found = gp.loo(model)
    return known | {"m": found.mean, r"\sigma": found.noisy_variance**0.5}


@world("learning.evidence", 3)
def _(p):
    model, *_, known = process(p)
    found = learning.evidence(model.k, p.X, p.t, model.beta)
    return known | {"p(t)": np.exp(found.value), "C": known["C_N"]}


@world("inducing.fit", 2)
def _(p):
    k, beta = kernels.Gaussian(gamma=0.7), p.lam
    model = inducing.fit(k, p.X, p.t, beta, p.X[:M] + 0.1)
    Phi = model.features(p.X)
    return {
        "w": model.w, r"\beta": beta, r"\Phi": Phi, "t": p.t,
        "B": np.eye(M) + beta * Phi.T @ Phi, r"\mathbf I": np.eye(M),
    }  # fmt: skip


@world("nystrom.leverage_scores")
def _(p):
    return p.letters() | {r"\ell": nystrom.leverage_scores(p.K, p.lam)}


@world("nystrom.approximation")
def _(p):
    k, Z = kernels.Gaussian(gamma=0.7), p.X[:M] + 0.1
    Q = nystrom.approximation(k, p.X, Z)
    return {"Q": Q, "C": k(p.X, Z), "W": k(Z)}


@world("validity.energy")
def _(p):
    return p.letters(v=p.a) | {"v^\\top K v": validity.energy(p.K, p.a)}


@world("features.bumps")
def _(p):
    c, x, width = p.w, p.b, p.lam
    value = features.bumps([x], c, width)[0]
    return {
        "c": c, "x": x, r"\mathrm{width}": width, "j": range(1, M + 1),
        r"\phi_": lambda j: of(value[j - 1]),
    }  # fmt: skip


@world("features.append_constant")
def _(p):
    x, z, c = p.X[0], p.X[1], p.lam
    u, v = features.append_constant([x, z], c)
    left = r"(x, \sqrt{c})^{\top}(z, \sqrt{c})"
    return {"x": x, "z": z, "c": c, left: u @ v}


@world("features.count_monomials")
def _(p):
    count = {"M": features.count_monomials(4, 3), "D": 4, "p": 3}
    return count | {"C": lambda n, k: math.comb(int(n), int(k))}


@world("kernel_pca.centre", 2)
def _(p):
    H = np.eye(N) - 1 / N
    return p.letters(H=H) | {r"\tilde{K}": kernel_pca.centre(p.K)}


def kernel(name, k, **letters):
    @world(f"kernels.{name}")
    def _(p):
        x, z = p.X[:2]
        own = {"x": x, "x'": z, "D": D, "k": lambda x, z: k([x], [z])[0, 0]}
        return own | letters


kernel("Linear", kernels.Linear())
kernel(
    "Polynomial",
    kernels.Polynomial(3, 0.7),
    **{r"\mathrm{degree}": 3, "c": 0.7},
)
kernel("Gaussian", kernels.Gaussian(0.7), **{r"\gamma": 0.7})
kernel(
    "ARDGaussian",
    kernels.ARDGaussian([0.7, 0.3]),
    **{r"\gamma": np.array([0.7, 0.3])},
)
kernel(
    "ExponentialQuadratic",
    kernels.ExponentialQuadratic([1.3, 0.7, 0.4, 0.6]),
    **{rf"\theta_{i}": v for i, v in enumerate([1.3, 0.7, 0.4, 0.6])},
)
kernel(
    "RationalQuadratic",
    kernels.RationalQuadratic(alpha=1.7, length=0.6),
    **{r"\alpha": 1.7, r"\mathrm{length}": 0.6},
)


@world("bayes.class_priors")
def _(p):
    pi = bayes.class_priors([0, 0, 1, 2, 2, 2, 1])
    return {"N": 7, "N_": [2, 2, 3], "k": range(1, 4), r"\pi": pi}


@world("mean_field.update", 2)
def _(p):
    old = mean_field.MeanField(0.3, 0.6, *p.rng.uniform(0.4, 1.0, 2))
    new = mean_field.update(old, p.b, p.lam)
    return {
        r"s_\lambda": new.s_lam, r"m_\lambda": new.m_lam, r"\beta": p.lam,
        "y": p.b, "m_w": old.m_w, "s_w": old.s_w,
    }  # fmt: skip


# what is asked --------------------------------------------------------------


def tried(name):
    """Each statement of a docstring, its worlds, and what is wrong with it.

    No worlds if it cannot be read, or has letters that are not bound.
    """
    _, build = WORLDS[name]
    for latex in formulas(*docstrings()[name]):
        equation = Equation(latex, name, notation=BOOK)
        made = [build(Problem(seed)) for seed in (1, 2, 3)]
        if isinstance(made[0], dict):
            made = [[one] for one in made]
        for worlds in zip(*made, strict=True):
            if re.search(r"\\mathbf I(?!_)", latex):
                worlds = [{r"\mathbf I": np.eye(N)} | one for one in worlds]
            said, read = verdict(equation, worlds)
            if read:
                break
        yield equation, worlds if read else [], said


def verdict(equation, worlds):
    """What is wrong with it, and whether it can be evaluated at all."""
    try:
        for one in worlds:
            equation.check(one)
    except Disagreement as error:
        return str(error), True
    except (FormulaError, TypeError, AttributeError) as error:
        return str(error), False
    return "", True


@pytest.mark.parametrize("name", WORLDS)
def test_the_formulas_of_a_docstring_hold(name):
    found = [*tried(name)]
    wrong = [said for _, made, said in found if said and made]
    assert not wrong, "\n".join(wrong)
    executed, _ = WORLDS[name]
    unread = "\n".join(f"{e.latex}: {said}" for e, made, said in found if said)
    assert sum(not said for *_, said in found) == executed, unread


def test_misprints_are_noticed(record_property):
    fates, survivors = Counter(), []
    for name in WORLDS:
        for equation, made, said in tried(name):
            if not said:
                judgement = judged(equation, made)
                fates.update(judgement.values())
                left = [m for m, f in judgement.items() if f == "survived"]
                survivors += [f"{name}: {mutant}" for mutant in left]
    rate = 1 - fates["survived"] / fates.total()
    record_property(
        "summary",
        f"mutants of docstrings: {fates.total()}, {rate:.1%} rejected",
    )
    assert rate >= LEAST_REJECTED, "\n".join(survivors)
