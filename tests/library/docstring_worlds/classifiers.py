"""Classifiers."""

import numpy as np
from scipy.special import expit

from kernelbook import (
    bayes,
    discriminant,
    fisher,
    kernel_logistic,
    logistic,
    perceptron,
    softmax,
    svm,
    svr,
)

from .common import D, M, N, of, world


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
    return p.letters(J=of(value), t=p.labels, y=p.K @ p.a) | {r"\Phi": None}


@world("kernel_logistic.output")
def _(p):
    return p.numbered(y=of(kernel_logistic.output(p.a, p.cross)[0]))


@world("logistic.sigmoid")
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


@world("logistic.log_likelihood")
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
