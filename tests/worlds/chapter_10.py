"""Chapter 10: learning the kernel."""

from types import SimpleNamespace

import numpy as np
from scipy.integrate import trapezoid
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from scipy.stats import multivariate_normal, norm
from sklearn.gaussian_process.kernels import RBF
from typeset import Law, Of, Sample

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


# Of relations in sentences ---------------------------------------------------


@world("inline: the covariance of the targets", tolerance=1e-6)
def _(rng):
    """∂ is a matrix that makes a derivative of C, and W comes from the slope
    of the log density in every entry of C.
    """
    q, h = problem(rng), 1e-4
    C = covariance(q, q.p)
    slope = (covariance(q, q.p + h) - covariance(q, q.p - h)) / (2 * h)

    def W(i, j):
        E = np.zeros((q.N, q.N))
        E[[i, j], [j, i]] = h / (1 + (i != j))
        up, down = (
            multivariate_normal(np.zeros(q.N), C + step).logpdf(q.t)
            for step in (E, -E)
        )
        return (up - down) / h

    return bound(q) | {
        r"\mathbf K": q.k(q.p)(q.X),
        r"\beta": q.beta,
        r"\sigma_0": np.sqrt(C[0, 0]),
        "k": lambda x, z: q.k(q.p)([x], [z])[0, 0],
        r"\partial": slope @ np.linalg.inv(C),
        r"\mathbf L": np.linalg.cholesky(C),
        r"\mathbf W": np.array(
            [[W(i, j) for i in range(q.N)] for j in range(q.N)]
        ),
    }


@world("inline: the best eigenvalues", tolerance=1e-6)
def _(rng):
    """Each searched for itself, by the density of one number."""
    q = problem(rng)
    _, U = np.linalg.eigh(covariance(q, q.p))

    def best(number):
        return best_variance(lambda v: norm.logpdf(number, 0, np.sqrt(v)))

    return bound(q) | {
        r"\mathbf u_": U.T,
        r"\mu_": [best(u @ q.t) for u in U.T],
        "i": range(1, q.N + 1),
    }


def best_variance(log_density):
    found = minimize_scalar(
        lambda u: -log_density(np.exp(u)), (-3, 3), tol=1e-12
    )
    return np.exp(found.x)


@world("inline: the weights of a grid")
def _(rng):
    q, ps = problem(rng), rng.uniform(0.3, 3.0, 4)
    logs = [
        gp.log_marginal_likelihood(gp.fit(q.k(p), q.X, q.t, q.beta))
        for p in ps
    ]

    def p(t, *, given):
        return multivariate_normal(cov=covariance(q, *given)).pdf(t)

    return bound(q) | {
        "w_": softmax(logs),
        r"\boldsymbol\theta_": ps,
        "p": Law(p),
        "g": range(1, 5),
        "h": range(1, 5),
    }


@world("inline: one measurement", tolerance=1e-6)
def _(rng):
    """The best c and the best θ₀, searched apart."""
    t, beta = rng.uniform(1.0, 3.0), rng.uniform(2.0, 4.0)

    def evidence(theta_0):
        model = gp.fit(theta_0 * kernels.Gaussian(1.0), [[0.0]], [t], beta)
        return gp.log_marginal_likelihood(model)

    return {
        "t_1": t,
        r"\beta": beta,
        "c": best_variance(lambda c: norm.logpdf(t, 0, np.sqrt(c))),
        r"\theta_0": best_variance(evidence),
    }


@world("inline: other units", tolerance=1e-4)
def _(rng):
    """Learned twice, from starts that are not the same."""
    q, (r, s) = problem(rng, N=20, D=1), rng.uniform(1.5, 3.0, 2)
    q.t = np.sin(3 * q.X[:, 0]) + 0.3 * rng.standard_normal(q.N)

    def learned(X, t):
        k = kernels.ExponentialQuadratic((1.0, 4.0, 0.0, 0.0))
        found = learning.learn(k, X, t, beta=5.0)
        return *found.k.theta[:2], found.beta

    names = (r"\theta_0", r"\theta_1", r"\beta")
    primed = (r"\theta_0'", r"\theta_1'", r"\beta'")
    plain = dict(zip(names, learned(q.X, q.t), strict=True))
    other = dict(zip(primed, learned(r * q.X, s * q.t), strict=True))
    return {"r": r, "s": s} | plain | other


@world("inline: truth and another model")
def _(rng):
    """And the truth itself, where the bounds are reached."""
    q = problem(rng)
    C, truth = covariance(q, q.p), covariance(q, 3 * q.p)
    draws = rng.multivariate_normal(np.zeros(q.N), truth, 20_000)
    nu = np.linalg.eigvals(np.linalg.solve(C, truth)).real
    here = {
        r"\mathbf t": Sample(draws),
        r"\mathbf C": C,
        r"\mathbf C_*": truth,
        r"\mathbf I": np.eye(q.N),
        r"\mathbf E": 0.1 * truth,
        "i": range(1, q.N + 1),
        r"\nu_": nu,
        r"\nu": nu[0],
    }
    return [here, here | {r"\nu_": nu**0, r"\nu": 1.0, "@tight": True}]


@world("inline: the length of kernel (24)")
def _(rng):
    """From scikit-learn's kernel, which has a length."""
    ell, r = rng.uniform(0.3, 2.0), 0.7
    value = RBF(ell)([[0.0]], [[r]])[0, 0]
    return {r"\ell": ell, r"\theta_1": -2 * np.log(value) / r**2}
