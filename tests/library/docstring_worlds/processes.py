"""Gaussians, processes and what is learned of them."""

import numpy as np

from kernelbook import gaussians, gp, inducing, kernels, learning, mean_field

from .common import D, M, N, of, world


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


@world("gp.fit")
def _(p):
    model, *_, known = process(p)
    return known | {"a": model.a}


@world("gp.mean")
def _(p):
    model, z, _, known = process(p)
    return known | {"m": of(gp.mean(model, [z])[0])}


@world("gp.predict")
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


@world("gp.loo")
def _(p):
    model, *_, known = process(p)
    found = gp.loo(model)
    return known | {"m": found.mean, r"\sigma": found.noisy_variance**0.5}


@world("learning.evidence")
def _(p):
    model, *_, known = process(p)
    found = learning.evidence(model.k, p.X, p.t, model.beta)
    return known | {"p(t)": np.exp(found.value), "C": known["C_N"]}


@world("inducing.fit")
def _(p):
    k, beta = kernels.Gaussian(gamma=0.7), p.lam
    model = inducing.fit(k, p.X, p.t, beta, p.X[:M] + 0.1)
    Phi = model.features(p.X)
    return {
        "w": model.w, r"\beta": beta, r"\Phi": Phi, "t": p.t,
        "B": np.eye(M) + beta * Phi.T @ Phi, r"\mathbf I": np.eye(M),
    }  # fmt: skip


@world("mean_field.update")
def _(p):
    old = mean_field.MeanField(0.3, 0.6, *p.rng.uniform(0.4, 1.0, 2))
    new = mean_field.update(old, p.b, p.lam)
    return {
        r"s_\lambda": new.s_lam, r"m_\lambda": new.m_lam, r"\beta": p.lam,
        "y": p.b, "m_w": old.m_w, "s_w": old.s_w,
    }  # fmt: skip
