"""Chapter 10: learning the kernel."""

from types import SimpleNamespace

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal, norm
from typeset import Of

from kernelbook import gp, kernels, learning

from . import world


def problem(rng, N=5, D=2):
    """A small data set, a kernel with one parameter p, and the model."""
    X, t = rng.uniform(-1, 1, size=(N, D)), rng.standard_normal(N)
    p, beta = rng.uniform(0.3, 1.5), rng.uniform(0.8, 3.0)

    def k(p):
        return 1.7 * kernels.Gaussian(p)

    model = gp.fit(k(p), X, t, beta)
    return SimpleNamespace(
        N=N, D=D, X=X, t=t, p=p, beta=beta, k=k, model=model
    )


def covariance(q, p):
    """C by its definition, entry by entry."""
    K = [[1.7 * np.exp(-p * (x - z) @ (x - z)) for z in q.X] for x in q.X]
    return np.array(K) + np.eye(q.N) / q.beta


def bound(q):
    return {
        "N": q.N,
        "D": q.D,
        "n": range(1, q.N + 1),
        r"\mathbf x_": q.X,
        r"\mathbf t": q.t,
        r"\mathbf C_N": covariance(q, q.p),
        r"\mathbf a": q.model.a,
    }


@world("eq-ml-evidence")
def _(rng):
    q = problem(rng)
    return bound(q) | {
        r"p(\mathbf t \mid \boldsymbol\theta)": np.exp(
            gp.log_marginal_likelihood(q.model)
        )
    }


@world("eq-ml-eigen")
def _(rng):
    q = problem(rng)
    mu, U = np.linalg.eigh(covariance(q, q.p))
    return bound(q) | {
        r"p(\mathbf t \mid \boldsymbol\theta)": np.exp(
            gp.log_marginal_likelihood(q.model)
        ),
        r"\mathbf u_": U.T,
        r"\boldsymbol\mu": mu,
    }


@world("eq-ml-chain")
def _(rng):
    """Each target predicted, with its noise, from those before it."""
    q = problem(rng)
    k = q.k(q.p)

    def before(n, x):
        if n == 0:
            return 0.0, k([x])[0, 0] + 1 / q.beta
        found = gp.predict(gp.fit(k, q.X[:n], q.t[:n], q.beta), [x])
        return found.mean[0], found.noisy_variance[0]

    return bound(q) | {
        r"p(\mathbf t \mid \boldsymbol\theta)": multivariate_normal(
            np.zeros(q.N), covariance(q, q.p)
        ).pdf(q.t),
        "m_": lambda n: lambda x: before(n, x)[0],
        r"\sigma_": lambda n: lambda x: np.sqrt(before(n, x)[1]),
    }


@world("eq-ml-inverse", "eq-ml-determinant")
def _(rng):
    q = problem(rng)
    return {
        r"\theta_j": q.p,
        r"\mathbf C": Of(r"\theta_j", lambda p: covariance(q, p)),
    }


@world("eq-ml-gradient")
def _(rng):
    q = problem(rng)
    return bound(q) | {
        r"\theta_j": q.p,
        r"\mathbf C_N": Of(r"\theta_j", lambda p: covariance(q, p)),
        r"p(\mathbf t \mid \boldsymbol\theta)": Of(
            r"\theta_j",
            lambda p: multivariate_normal(np.zeros(q.N), covariance(q, p)).pdf(
                q.t
            ),
        ),
    }


@world("eq-ml-product")
def _(rng):
    x, z = rng.standard_normal(2)
    return {
        r"\theta_j": rng.uniform(0.5, 2.0),
        "k_1": Of(r"\theta_j", lambda p: np.exp(-p * (x - z) ** 2)),
        "k_2": Of(r"\theta_j", lambda p: 1 / (1 + p * abs(x - z))),
    }


@world("eq-ml-scale", tolerance=1e-6)
def _(rng):
    """At the best scale of the whole covariance, found by search."""
    q = problem(rng)
    C = covariance(q, q.p)

    def slope(s):
        up, down = (
            multivariate_normal(np.zeros(q.N), np.exp(s + h) * C).logpdf(q.t)
            for h in (1e-4, -1e-4)
        )
        return up - down

    low, high = -20.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return bound(q) | {r"\mathbf C_N": np.exp(low) * C}


def left_out(q):
    """Mean and noisy variance of each target, refitted without it."""
    for n in range(q.N):
        rest = np.arange(q.N) != n
        model = gp.fit(q.k(q.p), q.X[rest], q.t[rest], q.beta)
        found = gp.predict(model, q.X[[n]])
        yield found.mean[0], found.noisy_variance[0]


@world("eq-ml-loo", "eq-ml-loo-closed")
def _(rng):
    q = problem(rng)
    m, variance = map(np.array, zip(*left_out(q), strict=True))
    return bound(q) | {
        r"L_{\mathrm{LOO}}": learning.log_pseudo_likelihood(q.model),
        "m_": lambda n: m[-n - 1],
        r"\sigma_": lambda n: np.sqrt(variance[-n - 1]),
    }


@world("eq-ml-average")
def _(rng):
    """Moments of the mixture's density, by quadrature over the target."""
    G = 4
    w, m = rng.dirichlet(np.ones(G)), rng.standard_normal(G)
    deviation = rng.uniform(0.4, 1.2, G)
    nodes = np.linspace(-15, 15, 6001)
    density = sum(w[g] * norm.pdf(nodes, m[g], deviation[g]) for g in range(G))
    mean = trapezoid(nodes * density, nodes)
    variance = trapezoid((nodes - mean) ** 2 * density, nodes)
    return {
        "G": G,
        "w_": w,
        "m_": lambda g: lambda x: m[g - 1],
        r"\sigma_": lambda g: lambda x: deviation[g - 1],
        r"m(\mathbf x)": mean,
        r"\sigma^2(\mathbf x)": variance,
        r"\mathbf x": rng.standard_normal(2),
    }


@world("eq-ml-ard")
def _(rng):
    gammas = rng.uniform(0.2, 1.0, size=3)
    x, z = rng.standard_normal((2, 3))
    k = kernels.ARDGaussian(tuple(gammas))
    return {
        "D": 3,
        r"\gamma_": gammas,
        r"\mathbf x": x,
        r"\mathbf x'": z,
        "x_": x,
        "x'_": z,
        "k": lambda x, z: k([x], [z])[0, 0],
    }


@world("eq-ml-co2")
def _(rng):
    theta = rng.uniform(0.6, 1.8, size=10)
    x, z = rng.standard_normal(2)
    one, two, three, four, five, six, seven, eight, nine, ten = theta

    def k(x, z):
        """From the library's kernels, whose parameters are not the lengths."""
        gaussian, slow = kernels.Gaussian, 1 / (2 * four**2)
        total = (
            one**2 * gaussian(1 / (2 * two**2))
            + three**2 * gaussian(slow) * kernels.Periodic(1.0, five)
            + six**2 * kernels.RationalQuadratic(eight, seven)
            + nine**2 * gaussian(1 / (2 * ten**2))
        )
        return total([[x]], [[z]])[0, 0]

    return {r"\theta_": theta, "x": x, "x'": z, "k": k}


@world("eq-ml-component")
def _(rng):
    """The first of two functions whose sum is seen: block conditioning."""
    q = problem(rng)
    k1, k2 = 1.3 * kernels.Gaussian(q.p), 0.8 * kernels.Linear()
    model = gp.fit(k1 + k2, q.X, q.t, q.beta)
    x = rng.standard_normal(q.D)

    def found(x):
        return learning.component(model, k1, [x])

    return bound(q) | {
        r"\mathbf x": x,
        r"\mathbf C_N": k1(q.X) + k2(q.X) + np.eye(q.N) / q.beta,
        "k_1": lambda x, z: k1([x], [z])[0, 0],
        r"\mathbf k_1": lambda x: k1(q.X, [x])[:, 0],
        "m_1": lambda x: found(x).mean[0],
        r"\sigma_1": lambda x: np.sqrt(found(x).latent_variance[0]),
    }
