"""Gaussians, processes and what is learned of them."""

import numpy as np
from scipy import linalg

from kernelbook import (
    gaussians,
    gp,
    inducing,
    kernels,
    learning,
    mean_field,
    nystrom,
)

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
    model, z, _column, known = process(p)
    found = gp.predict(model, [z])
    known |= {
        "m": of(found.mean[0]), "c": 1 + 1 / model.beta,
        r"\sigma^2(x)": found.noisy_variance[0],
    }  # fmt: skip
    return known


@world("gp.predict", of="C_{N}")
def _(p):
    _, known = conditioned(p)
    found = gp.predict(gp.fit(p.k, p.X, p.t, p.lam), [p.x])
    return known | {
        "m": of(found.mean[0]), "c": 1 + 1 / p.lam,
        r"\sigma^2(x)": found.noisy_variance[0],
        "k": p.k(p.X, [p.x])[:, 0],
    }  # fmt: skip


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
    h = 1e-4
    up, down = (kernels.Gaussian(0.7 * np.exp(s))(p.X) for s in (h, -h))
    inverse = np.linalg.inv(known["C_N"])
    a = inverse @ p.t
    return known | {
        "p(t)": np.exp(found.value), "C": known["C_N"], "F": found.value,
        r"\dot{C}": (up - down) / (2 * h), r"\dot{F}": found.gradient["gamma"],
        "W": np.outer(a, a) - inverse, "@tolerance": 1e-7,
    }  # fmt: skip


@world("mean_field.update")
def _(p):
    old = mean_field.MeanField(0.3, 0.6, *p.rng.uniform(0.4, 1.0, 2))
    new = mean_field.update(old, p.b, p.lam)
    return {
        r"s_\lambda": new.s_lam, r"m_\lambda": new.m_lam, r"\beta": p.lam,
        "y": p.b, "m_w": old.m_w, "s_w": old.s_w,
    }  # fmt: skip


@world("gaussians.log_density", of="U")
@world("gaussians.sample")
def _(p):
    return {
        r"\Sigma": p.K, r"\mathrm{cov}": p.K, "U": linalg.cholesky(p.K),
        "d": range(1, N + 1), r"\mathbf I": np.eye(N),
    }  # fmt: skip


@world("gaussians.sample", of="z")
def _(p):
    z = np.random.default_rng(p.n).standard_normal(N)
    y = gaussians.sample(p.t, p.K, 1, rng=p.n)[0]
    return {"y": y, "z": z, "U": linalg.cholesky(p.K),
            r"\mathrm{mean}": p.t, "@tolerance": 1e-7}  # fmt: skip


@world("gaussians.linear_map")
def _(p):
    y = gaussians.linear_map(p.Phi.T, p.t, p.K)
    return {
        "A": p.Phi.T, r"\mu": p.t, r"\Sigma": p.K, r"\mathbb E[y]": y.mean,
        r"\mathrm{cov}[y]": y.cov,
    }  # fmt: skip


@world("gaussians.condition")
def _(p):
    seen, left, values = [1, 3, 4], [0, 2], p.w
    found = gaussians.condition(p.t, p.K, seen, values)
    parts = {"a": left, "b": seen}
    known = {f"C_{{{i},{j}}}": p.K[np.ix_(parts[i], parts[j])]
             for i in parts for j in parts}  # fmt: skip
    return known | {
        r"\mathrm{mean}": found.mean, r"\mathrm{cov}": found.cov,
        r"\mathrm{values}": values, r"\mu_{a}": p.t[left],
        r"\mu_{b}": p.t[seen],
    }  # fmt: skip


def conditioned(p, **more):
    """A process that has seen data, and its covariance of the targets."""
    model = gp.fit(p.k, p.X, p.t, p.lam)
    C = np.array([[p.k([x], [z])[0, 0] for z in p.X] for x in p.X])
    return model, p.kernel(a=model.a) | {
        r"\beta": p.lam, "C_N": C + np.eye(N) / p.lam
    } | more  # fmt: skip


@world("gp.GP")
def _(p):
    model, known = conditioned(p)
    U = model.factor.U
    return known | {"C_N": np.triu(U).T @ np.triu(U)}


@world("gp.Prediction")
def _(p):
    model, known = conditioned(p)
    found = gp.predict(model, [p.x])
    return known | {"s": found.noisy_variance[0],
                    "v": found.latent_variance[0]}  # fmt: skip


@world("gp.covariance")
def _(p):
    model, known = conditioned(p)
    found = gp.covariance(model, [p.x, p.z])[0, 1]
    return known | {r"\mathrm{cov}[y(z), y(z')]": found}


@world("gp.sample")
def _(p):
    model, _ = conditioned(p)
    Z = [p.x, p.z]
    return {
        "y": gp.sample(model, Z, 1, rng=p.n)[0], "m": gp.mean(model, Z),
        "S": np.real(linalg.sqrtm(gp.covariance(model, Z))),
        "z": np.random.default_rng(p.n).standard_normal(2),
        "@tolerance": 1e-7,
    }  # fmt: skip


@world("gp.append")
def _(p):
    model, known = conditioned(p)
    new, found = gp.append(model, p.x, p.b), gp.predict(model, [p.x])
    return known | {
        "u": new.factor.U[:N, N], "r": new.factor.U[N, N],
        "U": np.triu(model.factor.U), "b": new.a[-1], "t": p.b,
        r"\leftarrow": new.a[:-1],
        r"\sigma^2(x)": found.noisy_variance[0], "m": of(found.mean[0]),
        "k": p.k(p.X, [p.x])[:, 0],
    }  # fmt: skip


@world("gp.log_marginal_likelihood", of="H")
def _(p):
    """With a trend: the targets as far as no trend explains them."""
    model = gp.fit(p.k, p.X, p.t, p.lam, mean=gp.Trend())
    H = np.column_stack([np.ones(N), p.X])
    _, known = conditioned(p)
    basis = linalg.null_space(H.T)
    P = basis @ np.linalg.solve(basis.T @ known["C_N"] @ basis, basis.T)
    return known | {
        "H": H, "P": P, "M": D + 1,
        "p(t)": np.exp(gp.log_marginal_likelihood(model)),
    }  # fmt: skip


@world("learning.log_pseudo_likelihood")
def _(p):
    model, known = conditioned(p)
    found = gp.loo(model)
    return known | {
        "m": found.mean, r"\sigma": found.noisy_variance**0.5,
        "N": lambda x, m, v: float(gaussians.normal_density([x], m, v)[0]),
        "=": learning.log_pseudo_likelihood(model),
    }  # fmt: skip


@world("learning.component")
def _(p):
    k1, k2 = kernels.Gaussian(0.3), kernels.Linear()
    model = gp.fit(k1 + k2, p.X, p.t, p.lam)
    found = learning.component(model, k1, [p.x])
    p.k = k1
    _, known = conditioned(p)
    return known | {
        "k_1": known["k"], "C_N": (k1 + k2)(p.X) + np.eye(N) / p.lam,
        "m_1": of(found.mean[0]), r"\sigma_1^2(x)": found.latent_variance[0],
    }  # fmt: skip


# inducing points


def sparse(p, **options):
    """A process with inducing points, and the sums that it is made of."""
    model = inducing.fit(p.k, p.X, p.t, p.lam, p.landmarks, **options)
    Phi = model.features(p.X)
    U, Q = (
        model.features.factor.U,
        nystrom.approximation(p.k, p.X, p.landmarks),
    )
    factor = np.triu(model.factor.U)
    return model, p.kernel() | {
        "y": lambda x: inducing.predict(model, [x]).mean[0],
        "=": inducing.subset_of_regressors(model, [p.x]).mean[0]
        if np.isfinite(model.missed)
        else None,
        r"\beta": p.lam, r"\Phi": Phi, "B": factor.T @ factor, "w": model.w,
        r"\phi": lambda x: model.features([x])[0], r"\phi_": Phi, "Q": Q,
        r"\mathbf I": np.eye(M), "U": np.triu(U),
        "n": range(1, N + 1), "m": range(1, M + 1), "l": range(1, M + 1),
        r"\mathrm{tt}": model.tt, r"\mathrm{fitted}": model.fitted,
        r"\mathrm{missed}": model.missed, "@tolerance": 1e-8,
    }  # fmt: skip


@world("inducing.SparseGP", "inducing.fit", "inducing")
def _(p):
    return sparse(p)[1]


@world("inducing.fit", of="1/")
def _(p):
    """With one example, whose noise its fitted value tells."""
    p.X, p.t, own = p.X[:1], p.t[:1], p.X[0]
    model, known = sparse(p, fitc=True)
    phi = model.features([own])[0]
    there = model.w @ phi
    return known | {"n": 1, "x_": [own],
                    "=": phi @ phi * (p.t[0] - there) / there}  # fmt: skip


@world("inducing.predict")
def _(p):
    model, known = sparse(p)
    found = inducing.predict(model, [p.x])
    return known | {"m": of(found.mean[0]),
                    r"\sigma^2(x)": found.latent_variance[0]}  # fmt: skip


@world("inducing.subset_of_regressors")
def _(p):
    model, known = sparse(p)
    found = inducing.subset_of_regressors(model, [p.x])
    return known | {r"\sigma^2(x)": found.latent_variance[0]}


@world("inducing.lower_bound")
def _(p):
    model, known = sparse(p)
    exact = gp.log_marginal_likelihood(gp.fit(p.k, p.X, p.t, p.lam))
    covariance = known["Q"] + np.eye(N) / p.lam
    return known | {
        "F": inducing.lower_bound(model), "p(t)": np.exp(exact),
        r"\mathbf I": np.eye(N), r"\mathbf 0": np.zeros(N),
        "N": N, r"N(t \mid 0, Q + \beta^{-1}\mathbf I)": np.exp(
            gaussians.log_density([p.t], np.zeros(N), covariance)[0]
        ),
    }  # fmt: skip


@world("inducing.bound")
def _(p):
    """The S are checked twice: in their own formula and in the gradient."""
    model, known = sparse(p)
    found = inducing.bound(p.k, p.X, p.t, p.lam, p.landmarks)
    h = 1e-4
    up, down = (kernels.Gaussian(p.k.gamma * np.exp(s)) for s in (h, -h))

    def moved(*inputs):
        return (up(*inputs) - down(*inputs)) / (2 * h)

    inverse, below = np.linalg.inv(known["U"]), np.linalg.inv(known["B"])
    a = inverse @ model.w
    grown = p.lam * known[r"\Phi"].T @ known[r"\Phi"]
    S_C = inverse @ (np.eye(M) - below) @ inverse.T - np.outer(a, a)
    return known | {
        "a": model.features.coefficients(model.w), "S_C": S_C,
        "S_W": S_C - inverse @ grown @ inverse.T,
        "C": p.k(p.X, p.landmarks), r"\dot{C}": moved(p.X, p.landmarks),
        r"\dot{W}": moved(p.landmarks), r"\dot{F}": found.gradient["gamma"],
        r"\dot{k}": lambda x, z: moved([x], [z])[0, 0], "@tolerance": 1e-6,
    }  # fmt: skip


@world("mean_field.evidence_bound")
def _(p):
    q = mean_field.MeanField(0.3, 0.6, *p.rng.uniform(0.4, 1.0, 2))
    return {
        r"m_\lambda": q.m_lam, r"s_\lambda": q.s_lam, "m_w": q.m_w,
        "s_w": q.s_w, "y": p.b, r"\beta": p.lam,
        "=": mean_field.evidence_bound(q, p.b, p.lam),
    }  # fmt: skip
