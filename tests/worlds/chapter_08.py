"""Chapter 8: from Gaussians to processes."""

from types import SimpleNamespace

import numpy as np
from scipy.stats import multivariate_normal, norm
from typeset import Normal, Sample

from kernelbook import features, gaussians, kernels, ridge

from . import world

DRAWS = 20_000


def mirrored(rng, size):
    """Standard normal vectors, each followed by its negative.

    Their mean is exactly zero, so that a covariance about the mean of the
    draws and one about the true mean are the same.
    """
    z = rng.standard_normal((DRAWS // 2, size))
    return np.stack([z, -z], axis=1).reshape(DRAWS, size)


@world("eq-gp-14")
def _(rng):
    mu, sigma = rng.standard_normal(), rng.uniform(0.5, 2.0)
    return {
        "x": mu + rng.uniform(0.5, 1.5),
        r"\mu": mu,
        r"\sigma": sigma,
        r"\mathcal N": lambda x, mu, variance: gaussians.normal_density(
            [x], mu, variance
        )[0],
    }


def gaussian(rng, D=3):
    """A mean, a covariance and one point."""
    mu, x = rng.standard_normal((2, D))
    B = rng.standard_normal((D, D)) + np.eye(D)
    return SimpleNamespace(D=D, mu=mu, B=B, Sigma=B @ B.T, x=x)


def bound(g):
    return {
        "D": g.D,
        r"\mathbf x": g.x,
        r"\boldsymbol\mu": g.mu,
        r"\boldsymbol\Sigma": g.Sigma,
    }


@world("eq-gp-15", "eq-gauss-log-density")
def _(rng):
    return bound(gaussian(rng)) | {
        r"\mathcal N": lambda x, mu, Sigma: np.exp(
            gaussians.log_density(x, mu, Sigma)
        )
    }


def some_entries(rng):
    """a are the last and the first entry."""
    g = gaussian(rng)
    x = g.mu + mirrored(rng, g.D) @ g.B.T
    a = [2, 0]
    kept = gaussians.marginal(g.mu, g.Sigma, keep=a)
    return bound(g) | {
        r"\mathbf A": rng.standard_normal((2, g.D)),
        r"\mathbf x": Sample(x),
        r"\mathbf x_a": Sample(x[:, a]),
        r"\boldsymbol\mu_a": kept.mean,
        r"\boldsymbol\Sigma_{aa}": kept.cov,
        "i": range(1, g.D + 1),
        "j": range(1, g.D + 1),
    }


@world("eq-gauss-linear-map")
def _(rng):
    return some_entries(rng)


@world("eq-gauss-marginal")
def _(rng):
    """And draws with another mean."""
    bound = some_entries(rng)
    names = r"\mathbf x", r"\mathbf x_a"
    moved = {name: Sample(bound[name].draws + 1) for name in names}
    return [bound, bound | moved | {"@fails": True}]


@world("eq-gauss-independent")
def _(rng):
    """And with a covariance between the parts."""
    first, second = gaussian(rng, 2), gaussian(rng, 3)
    for g in (first, second):  # where the density is not rounded to zero
        g.x = g.mu + g.B @ rng.standard_normal(g.D)
    mixed = rng.standard_normal((2, 3))
    some = first.B @ mixed @ second.B.T / (2 * np.linalg.norm(mixed))
    fails = two_parts(first, second, some) | {"@fails": True}
    return [two_parts(first, second, 0 * some), fails]


def two_parts(first, second, between):
    """Two parts of different size."""
    return {
        r"\boldsymbol\Sigma_{ab}": between,
        r"\mathbf x": np.concatenate([first.x, second.x]),
        r"\boldsymbol\mu": np.concatenate([first.mu, second.mu]),
        r"\boldsymbol\Sigma": np.block(
            [[first.Sigma, between], [between.T, second.Sigma]]
        ),
        r"\mathbf x_a": first.x,
        r"\boldsymbol\mu_a": first.mu,
        r"\boldsymbol\Sigma_{aa}": first.Sigma,
        r"\mathbf x_b": second.x,
        r"\boldsymbol\mu_b": second.mu,
        r"\boldsymbol\Sigma_{bb}": second.Sigma,
        r"\mathcal N": lambda x, mu, Sigma: np.exp(
            gaussians.log_density(x, mu, Sigma)
        ),
    }


@world("eq-gauss-singular")
def _(rng):
    """SciPy knows densities on a plane; the eigenvectors are ours."""
    B, mu = rng.standard_normal((4, 2)), rng.standard_normal(4)
    values, vectors = np.linalg.eigh(B @ B.T)
    law = multivariate_normal(mu, B @ B.T, allow_singular=True)
    return {
        "r": 2,
        "i": range(1, 3),
        "j": range(1, 3),
        r"\mathbf B": B,
        r"\boldsymbol\Sigma": sum(np.outer(b, b) for b in B.T),
        r"\mathbf x": mu + B @ rng.standard_normal(2),
        r"\boldsymbol\mu": mu,
        r"\mu_": values[2:],
        r"\mathbf u_": vectors[:, 2:].T,
        "p": law.pdf,
    }


@world(
    "eq-gauss-condition-mean",
    "eq-gauss-condition-cov",
    "eq-gauss-condition-precision",
    "eq-gauss-block-inverse",
)
def _(rng):
    """Of five entries the first two remain; the precision by Cholesky."""
    g = gaussian(rng, 5)
    a, b = slice(0, 2), slice(2, 5)
    given = gaussians.condition(g.mu, g.Sigma, range(2, 5), g.x[b])
    root = np.linalg.inv(g.B)
    Lambda = root.T @ root
    r = np.linalg.solve(Lambda[a, a], Lambda[a] @ g.x)
    return {
        r"\boldsymbol\Sigma": g.Sigma,
        r"\boldsymbol\Lambda": Lambda,
        r"\mathbf x_a": g.x[a],
        r"\mathbf r": r,
        r"\mathbb E[\mathbf x_a \mid \mathbf x_b]": given.mean,
        r"\operatorname{cov}[\mathbf x_a \mid \mathbf x_b]": given.cov,
        r"\boldsymbol\mu_a": g.mu[a],
        r"\boldsymbol\mu_b": g.mu[b],
        r"\mathbf x_b": g.x[b],
        r"\boldsymbol\Sigma_{aa}": g.Sigma[a, a],
        r"\boldsymbol\Sigma_{ab}": g.Sigma[a, b],
        r"\boldsymbol\Sigma_{ba}": g.Sigma[b, a],
        r"\boldsymbol\Sigma_{bb}": g.Sigma[b, b],
        r"\boldsymbol\Lambda_{aa}": Lambda[a, a],
        r"\boldsymbol\Lambda_{ab}": Lambda[a, b],
    }


def process(rng, N=4, D=2):
    """Random weights on six monomials, and apart from them their kernel."""
    X = rng.standard_normal((N, D))
    alpha = rng.uniform(1.5, 3.0)
    Phi = features.monomials(features.append_constant(X, 1.0), 2)
    M = Phi.shape[1]
    return SimpleNamespace(
        N=N,
        M=M,
        X=X,
        alpha=alpha,
        k=1 / alpha * kernels.Polynomial(degree=2, c=1.0),
        phi=lambda x: features.monomials([[*x, 1.0]], 2)[0],
        Phi=Phi,
        W=mirrored(rng, M) / np.sqrt(alpha),
    )


def symbols(q, rng):
    x, z = rng.standard_normal((2, q.X.shape[1]))
    return {
        "N": q.N,
        "M": q.M,
        "n": range(1, q.N + 1),
        "m": range(1, q.N + 1),
        "i": range(1, q.N + 1),
        "j": range(1, q.N + 1),
        r"\alpha": q.alpha,
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\mathbf x_": q.X,
        r"\boldsymbol\phi": q.phi,
        r"\boldsymbol\Phi": q.Phi,
        "k": lambda x, z: q.k([x], [z])[0, 0],
        r"\mathbf K": q.k(q.X),
    }


@world(
    "eq-gp-finite",
    "eq-gp-mean-function",
    "eq-gp-cov-function",
    "eq-gp-pointwise",
)
def _(rng):
    """Random quadratic surfaces about a plane."""
    q = process(rng)

    def plane(x):
        return 1.5 * x[0] - 0.7 * x[1] + 2

    return symbols(q, rng) | {
        "m": plane,
        "f": lambda x: Sample(plane(x) + q.W @ q.phi(x)),
    }


@world("eq-weight-prior")
def _(rng):
    q = process(rng)
    return symbols(q, rng) | {
        r"\mathbf w": q.W[0],
        "p": lambda w: norm.pdf(w, scale=q.alpha**-0.5).prod(),
    }


@world("eq-weight-design")
def _(rng):
    centres, x, s = rng.standard_normal(3), rng.standard_normal(4), 0.8
    return {
        "n": range(1, 5),
        "k": range(1, 4),
        r"\mathbf x_": x,
        r"\boldsymbol\Phi": features.bumps(x, centres, s),
        r"\boldsymbol\phi": lambda x: np.array(
            [np.exp(-((x - c) ** 2) / (2 * s**2)) for c in centres]
        ),
    }


@world("eq-gp-17", "eq-gp-parametric")
def _(rng):
    """Weights that are combinations of features, so the kernel suffices."""
    q = process(rng)
    k = q.alpha * q.k
    a, noise = rng.standard_normal(q.N), rng.standard_normal()
    both = symbols(q, rng)
    target = ridge.predict(a, k(q.X, [both[r"\mathbf x"]]))[0] + noise
    return both | {
        r"\mathbf w": q.Phi.T @ a,
        r"\mathbf y": ridge.predict(a, k(q.X)),
        r"\epsilon": noise,
        "t": target,
    }


@world("eq-gp-18", "eq-gp-19", "eq-gp-20", "eq-weight-kernel")
def _(rng):
    q = process(rng)
    y = sum(np.outer(q.W[:, j], q.Phi[:, j]) for j in range(q.M))
    return symbols(q, rng) | {
        r"\mathbf w": Sample(q.W),
        r"\mathbf y": Sample(y),
        "y": lambda x: Sample(q.W @ q.phi(x)),
    }


@world("eq-gp-zero-mean")
def _(rng):
    """The process by its weights, the vector by its covariance."""
    q = process(rng)

    def at_the_inputs(m, k):
        return Normal(m, np.array([[k(x, z) for z in q.X] for x in q.X]))

    drawn = gaussians.sample(np.zeros(q.N), q.k(q.X), DRAWS, rng)
    found = symbols(q, rng) | {
        "f": Sample(q.W @ q.Phi.T),
        "g": Sample(q.W @ q.Phi.T),
        r"\mathcal{GP}": at_the_inputs,
        r"\mathbf f": Sample(drawn),
        r"\mathbf K": q.Phi @ q.Phi.T / q.alpha,
    }
    moved = {"f": Sample(q.W @ q.Phi.T + 1), r"\mathbf f": Sample(drawn + 1)}
    return [found, found | moved | {"@fails": True}]


@world("eq-gauss-draw")
def _(rng):
    """The library draws with the generator that gave z."""
    q = process(rng)
    m, K = rng.standard_normal(q.N), q.k(q.X)
    drawn = gaussians.sample(m, K, 1, np.random.default_rng(7))[0]
    return {
        r"\mathbf f": drawn,
        r"\mathbf m": m,
        r"\mathbf z": np.random.default_rng(7).standard_normal(q.N),
        r"\mathbf U": np.linalg.cholesky(K).T,
        r"\mathbf I": np.eye(q.N),
        r"\mathbf K": K,
    }


@world("eq-gp-sum")
def _(rng):
    """Random planes and, apart, random quadratic surfaces."""
    q = process(rng)
    slopes = rng.standard_normal((DRAWS, 2))
    linear = kernels.Linear()
    return symbols(q, rng) | {
        "f": lambda x: Sample(slopes @ x),
        "g": lambda x: Sample(q.W @ q.phi(x)),
        "k_f": lambda x, z: linear([x], [z])[0, 0],
        "k_g": lambda x, z: q.k([x], [z])[0, 0],
    }


@world("eq-gp-norm")
def _(rng):
    """The library draws with the generator that gave z."""
    q = process(rng)
    K = q.k(q.X)
    drawn = gaussians.sample(np.zeros(q.N), K, 1, np.random.default_rng(7))[0]
    shortest = np.linalg.pinv(q.Phi) @ drawn
    return {
        r"\mathbf a": q.alpha * np.linalg.lstsq(q.Phi.T, shortest)[0],
        r"\mathbf f": drawn,
        r"\mathbf z": np.random.default_rng(7).standard_normal(q.N),
        r"\mathbf K": K,
    }


@world("eq-gp-series-norm")
def _(rng):
    """For min(x, x') the squared norm is the integral of the slope's square.

    The midpoint rule is exact for products of so few cosines.
    """
    J, z = 5, rng.standard_normal(5)
    x = (np.arange(40) + 0.5) / 40
    slope = np.sqrt(2) * np.cos(np.pi * np.outer(x, np.arange(J) + 0.5)) @ z
    return {
        "J": J,
        "j": range(1, J + 1),
        "z_": z,
        r"\lVert f_J \rVert_{\mathcal H}^2": np.mean(slope**2),
    }


# Of relations in sentences, and of displays without a label ------------------


@world("inline: from x back to z")
def _(rng):
    A, mu, z = rng.standard_normal((3, 3)), *rng.standard_normal((2, 3))
    return {
        r"\mathbf z": z,
        r"\boldsymbol\mu": mu,
        r"\mathbf x": mu + A @ z,
        r"\mathbf A": A,
        r"\boldsymbol\Sigma": sum(np.outer(c, c) for c in A.T),
    }


@world("inline: a vector in blocks")
def _(rng):
    between = rng.standard_normal((2, 3))
    parts = two_parts(gaussian(rng, 2), gaussian(rng, 3), between)
    return parts | {r"\boldsymbol\Sigma_{ba}": between.T}


@world("inline: what x_b leaves of x_a")
def _(rng):
    """Draws that have just this covariance, and a system solved whole."""
    g = gaussian(rng, 5)
    a, b = slice(0, 2), slice(2, 5)
    draws = mirrored(rng, 5) @ g.B.T
    slope = np.linalg.lstsq(draws[:, b], draws[:, a], rcond=None)[0]
    right = rng.standard_normal(5)
    u, v = np.split(np.linalg.solve(g.Sigma, right), [2])
    Lambda = np.linalg.inv(g.B).T @ np.linalg.inv(g.B)
    return {
        r"\mathbf v": v,
        r"\boldsymbol\Lambda_{aa}": Lambda[a, a],
        r"\boldsymbol\Lambda_{ab}": Lambda[a, b],
        r"\mathbf r": Sample(draws[:, a] - draws[:, b] @ slope),
        r"\mathbf u": u,
        r"\mathbf p": right[a],
        r"\mathbf q": right[b],
        r"\boldsymbol\Sigma_{aa}": g.Sigma[a, a],
        r"\boldsymbol\Sigma_{ab}": g.Sigma[a, b],
        r"\boldsymbol\Sigma_{ba}": g.Sigma[b, a],
        r"\boldsymbol\Sigma_{bb}": g.Sigma[b, b],
    }


@world("inline: independent standard normals")
def _(rng):
    z = rng.standard_normal(3)
    law = {"p": lambda z: norm.pdf(z).prod()}
    return law | {"D": 3, r"\mathbf z": z, "z_": dict(enumerate(z, 1))}


@world("inline: a Gaussian vector")
def _(rng):
    """Its covariance from another root of it."""
    g = gaussian(rng)
    values, vectors = np.linalg.eigh(g.Sigma)
    return bound(g) | {
        r"\mathbf A": rng.standard_normal((2, g.D)),
        r"\mathbf B": vectors * np.sqrt(values),
        r"\mathbf z": vectors.T @ (g.x - g.mu) / np.sqrt(values),
    }


@world("inline: a sign by coin")
def _(rng):
    """The coin is not fair: else all is zero, and so are many misprints."""
    X, S = rng.standard_normal(DRAWS), rng.choice([-1.0, 1.0, 1.0], DRAWS)
    return {
        "X": Sample(X),
        "S": Sample(S),
        "Y": Sample(np.where(S > 0, X, -X)),
    }


@world("inline: a linear model")
def _(rng):
    q = process(rng)
    w = rng.standard_normal(q.M)

    def y(x, w=w):
        return sum(w_j * phi_j for w_j, phi_j in zip(w, q.phi(x), strict=True))

    return symbols(q, rng) | {r"\mathbf w": w, "y": y, "y_": q.Phi @ w}


@world("inline: weights about a mean")
def _(rng):
    q = process(rng)
    W = q.W + rng.standard_normal(q.M)
    m = {"m": lambda x: (W @ q.phi(x)).mean()}
    return symbols(q, rng) | m | {r"\mathbf w": Sample(W)}


@world("inline: a sum of ramps")
def _(rng):
    """Of min(x, x_n); the slope is one left of x_n, and then zero."""
    places, a = rng.integers(5, 95, 4) / 100, rng.standard_normal(4)
    x = (np.arange(100) + 0.5) / 100
    return {
        r"\lVert f\rVert_{\mathcal H}^2": a
        @ np.minimum.outer(places, places)
        @ a,
        "f'": lambda x: a @ (x < places),
        "dx": (x.tolist(), [0.01] * len(x)),
    }


@world("inline: a deviation")
def _(rng):
    """The same numbers drawn, with a mean and without."""
    q, m = process(rng), rng.standard_normal(4)
    f, g = (
        gaussians.sample(mean, q.k(q.X), 1, np.random.default_rng(7))[0]
        for mean in (m, 0 * m)
    )
    return {"f": f, "m": m, "g": g}


@world("inline: centring")
def _(rng):
    N = 5
    return {
        "N": N,
        r"\mathbf I": np.eye(N),
        r"\mathbf 1": np.ones(N),
        r"\mathbf H": np.array([e - e.mean() for e in np.eye(N)]).T,
    }


@world("inline: ridge regression with the process's kernel")
def _(rng):
    """λ from residuals over the coefficients of the plain Gram matrix."""
    q, t, beta = process(rng), rng.standard_normal(4), rng.uniform(1.0, 5.0)
    y = q.k(q.X) @ ridge.fit_dual(q.k(q.X), t, 1 / beta)
    a = np.linalg.lstsq(q.Phi @ q.Phi.T, y)[0]
    lam = (t - y) @ a / (a @ a)
    return {r"\alpha": q.alpha, r"\beta": beta, r"\lambda": lam}


@world("inline: two values by hand")
def _(rng):
    h, ell = rng.uniform(0.3, 2.0, 2)
    rho = kernels.Gaussian(1 / (2 * ell**2))([[0.0]], [[h]])[0, 0]
    return {"h": h, r"\ell": ell, r"\rho": rho}


@world("inline: a walk")
def _(rng):
    """Drawn by the library with the generator that gave the steps."""
    h, N = rng.uniform(0.2, 0.8), 6
    x = h * np.arange(1, N + 1)
    K = np.minimum.outer(x, x)
    walk = gaussians.sample(np.zeros(N), K, 1, np.random.default_rng(7))[0]
    one, other = (int(i) for i in rng.integers(1, N + 1, 2))
    root = np.sqrt(h) * np.tri(N)
    return {
        "h": h,
        "n": range(1, N + 1),
        "i": range(1, N + 1),
        "z_": np.random.default_rng(7).standard_normal(N),
        "f": lambda place: walk[np.argmin(abs(x - place))],
        "x": one * h,
        "x'": other * h,
        "k": lambda x, z: root[round(x / h) - 1] @ root[round(z / h) - 1],
    }


@world("inline: a walk, again and again")
def _(rng):
    h, n = rng.uniform(0.2, 0.8), int(rng.integers(1, 4))
    walks = np.sqrt(h) * np.cumsum(rng.standard_normal((DRAWS, 6)), axis=1)
    f = {"f": lambda place: Sample(walks[:, round(place / h) - 1])}
    return f | {"h": h, "n": n, "m": n + 2}
