"""Chapter 21: Nyström and inducing points."""

from types import SimpleNamespace

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal, norm
from typeset import Each

from kernelbook import features, gaussians, gp, inducing, kernels, nystrom
from kernelbook import ridge as plain

from . import world


def psi(X):
    """The monomials of degree 2 in (x, 1): features of (xᵀx' + 1)²."""
    return features.monomials(features.append_constant(X, 1.0), 2)


def problem(rng, N=5, M=3, D=2):
    """Inputs, landmarks beside them, and projections by least squares."""
    X, Z = rng.standard_normal((N, D)), rng.standard_normal((M, D))
    x, z = rng.standard_normal((2, D))
    k = kernels.Polynomial(degree=2, c=1.0)

    def b(x):
        return np.linalg.lstsq(psi(Z).T, psi([x])[0], rcond=None)[0]

    def q(x, z):
        return (b(x) @ psi(Z)) @ (b(z) @ psi(Z))

    return SimpleNamespace(
        N=N, M=M, D=D, X=X, Z=Z, x=x, z=z, k=k, b=b, q=q,
        t=rng.standard_normal(N),
        lam=rng.uniform(0.3, 2.0),
        beta=rng.uniform(0.8, 3.0),
        Q=np.array([[q(a, c) for c in X] for a in X]),
        phi=nystrom.feature_map(k, Z),
    )  # fmt: skip


def bound(p):
    return {
        "N": p.N,
        "M": p.M,
        "n": range(1, p.N + 1),
        "m": range(1, p.M + 1),
        r"\lambda": p.lam,
        r"\beta": p.beta,
        r"\mathbf t": p.t,
        r"\mathbf x": p.x,
        r"\mathbf x'": p.z,
        r"\mathbf x_": p.X,
        r"\mathbf z_": p.Z,
        "k": lambda x, z: p.k([x], [z])[0, 0],
        "q": p.q,
        r"\mathbf c": lambda x: p.k(p.Z, [x])[:, 0],
        r"\mathbf C": p.k(p.X, p.Z),
        r"\mathbf W": p.k(p.Z),
        r"\mathbf K": psi(p.X) @ psi(p.X).T,
        r"\mathbf Q": p.Q,
        r"\boldsymbol\psi": lambda x: psi([x])[0],
        r"\boldsymbol\phi": lambda x: p.phi([x])[0],
        r"\boldsymbol\Phi": p.phi(p.X),
    }


@world("eq-nystrom-distance")
def _(rng):
    p = problem(rng)
    return bound(p) | {r"\mathbf b": rng.standard_normal(p.M)}


@world("eq-nystrom-normal", "eq-nystrom-missed")
def _(rng):
    p = problem(rng)
    return bound(p) | {r"\mathbf b": p.b(p.x)}


@world("eq-nystrom-kernel")
def _(rng):
    return bound(problem(rng))


@world("eq-nystrom")
def _(rng):
    """Also with a landmark twice, where W has no inverse."""
    p, again = problem(rng), problem(rng, M=2)
    Z = again.Z[[0, 1, 1]]
    double = {r"\mathbf C": again.k(again.X, Z), r"\mathbf W": again.k(Z)}
    worlds = [bound(p), bound(again) | double]
    for w in worlds:
        w[r"\mathbf W^+"] = np.linalg.pinv(w[r"\mathbf W"], rcond=1e-10)
    return worlds


@world("eq-nystrom-features")
def _(rng):
    p = problem(rng)
    return bound(p) | {r"\mathbf U": np.linalg.cholesky(p.k(p.Z)).T}


@world("eq-nystrom-floor")
def _(rng):
    """Tight if the features are orthogonal and the longest are kept."""
    p = problem(rng)
    mu = np.linalg.eigvalsh(p.k(p.X))[::-1]
    lengths = np.sort(rng.uniform(0.5, 2.0, 5))[::-1]
    K = np.diag(lengths**2)
    best = {
        r"\mathbf K": K,
        r"\mathbf Q": np.diag([*lengths[:3] ** 2, 0, 0]),
        r"\mu_": lengths**2,
        "@tight": True,
    }
    return [bound(p) | {r"\mu_": mu}, bound(p) | best]


@world("eq-nystrom-trace")
def _(rng):
    """Tight if what is missed has rank one."""
    worlds = []
    for p, tight in [(problem(rng), False), (problem(rng, N=4), True)]:
        K = p.k(p.X)
        Q = p.Q if not tight else nystrom.approximation(p.k, p.X, p.X[:3])
        top = np.linalg.eigvalsh(K - Q)[-1]
        worlds.append(
            bound(p)
            | {
                r"\mathbf Q": Q,
                r"\lVert \mathbf K - \mathbf Q \rVert_2": top,
                "@tight": tight,
            }
        )
    return worlds


@world("eq-leverage")
def _(rng):
    """The value at an input of the fit to a target there, 0 elsewhere."""
    p = problem(rng)
    K = p.k(p.X)
    fits = [K @ plain.fit_dual(K, e, p.lam) for e in np.eye(p.N)]
    return bound(p) | {r"\ell_": np.diag(fits)}


@world("eq-leverage-sum")
def _(rng):
    p = problem(rng)
    K = p.k(p.X)
    return bound(p) | {
        r"\ell_": nystrom.leverage_scores(K, p.lam),
        r"\mu_": np.linalg.eigvalsh(K),
    }


def pivots(rng, before, m):
    """The library's factor; what is missing after some landmarks."""
    p = problem(rng, N=6)
    found = nystrom.pivoted_cholesky(p.k, p.X, 4)
    kept = p.X[found.numbers[:before]]
    left = p.k(p.X) - nystrom.approximation(p.k, p.X, kept)
    return bound(p) | {
        "p": int(found.numbers[before]) + 1,
        "m": m,
        "n": Each(
            [n + 1 for n in range(6) if n not in found.numbers[:before]]
        ),
        "L_": found.L,
        "d_": np.diag(left),
    }


@world("eq-pivot-column")
def _(rng):
    return pivots(rng, before=2, m=3)


@world("eq-pivot-missed")
def _(rng):
    return pivots(rng, before=3, m=3)


@world("eq-nystrom-objective")
def _(rng):
    """As the objective of chapter 1, at the weights Σ_m a_m ψ(z_m)."""
    p = problem(rng)
    return bound(p) | {
        r"\mathbf a": rng.standard_normal(p.M),
        "J": lambda a: plain.objective(a @ psi(p.Z), psi(p.X), p.t, p.lam),
    }


@world("eq-nystrom-ridge")
def _(rng):
    p = problem(rng)
    fit = nystrom.fit(p.k, p.X, p.t, p.lam, p.Z)
    return bound(p) | {r"\mathbf a": fit.features.coefficients(fit.w)}


@world("eq-nystrom-weights")
def _(rng):
    p = problem(rng)
    fit = nystrom.fit(p.k, p.X, p.t, p.lam, p.Z)
    return bound(p) | {r"\mathbf w": fit.w}


@world("eq-nystrom-sums")
def _(rng):
    return bound(problem(rng))


@world("eq-inducing-conditional")
def _(rng):
    p = problem(rng)
    u = rng.standard_normal(p.M)
    joint = p.k(np.vstack([p.Z, p.x]))
    given = gaussians.condition(np.zeros(p.M + 1), joint, range(p.M), u)
    return bound(p) | {
        r"\mathbf u": u,
        r"\mathbb E[y(\mathbf x) \mid \mathbf u]": given.mean[0],
        r"\operatorname{var}[y(\mathbf x) \mid \mathbf u]": given.cov[0, 0],
    }


def conditioned(p, x, corner):
    """y(x) given t, where q stands for k but perhaps in the corner."""
    q = np.array([p.q(a, x) for a in p.X])
    C = p.Q + np.eye(p.N) / p.beta
    joint = np.block([[C, q[:, None]], [q[None, :], corner]])
    return gaussians.condition(np.zeros(p.N + 1), joint, range(p.N), p.t)


@world("eq-inducing-mean", "eq-inducing-sor", "eq-inducing-variance")
def _(rng):
    p = problem(rng)

    def corrected(x):
        return conditioned(p, x, p.k([x])[0, 0])

    def dropped(x):
        return conditioned(p, x, p.q(x, x))

    U = inducing.fit(p.k, p.X, p.t, p.beta, p.Z).factor.U
    return bound(p) | {
        r"\mathbf B": U.T @ U,
        "m": lambda x: corrected(x).mean[0],
        r"\sigma": lambda x: np.sqrt(corrected(x).cov[0, 0]),
        r"\sigma_{\mathrm{SoR}}": lambda x: np.sqrt(dropped(x).cov[0, 0]),
    }


@world("eq-titsias-inner")
def _(rng):
    """Each expected logarithm by quadrature, exact for its square."""
    p = problem(rng)
    u = rng.standard_normal(p.M)
    nodes, w = hermegauss(5)
    total = 0.0
    for x, t in zip(p.X, p.t, strict=True):
        joint = p.k(np.vstack([p.Z, x]))
        y = gaussians.condition(np.zeros(p.M + 1), joint, range(p.M), u)
        values = y.mean[0] + np.sqrt(y.cov[0, 0]) * nodes
        total += w @ norm.logpdf(t, values, p.beta**-0.5) / w.sum()
    expected = r"\mathbb E[\ln p(\mathbf t \mid \mathbf y) \mid \mathbf u]"
    return bound(p) | {r"\mathbf u": u, expected: total}


@world("eq-titsias")
def _(rng):
    """Tight if the landmarks are the inputs."""
    worlds = []
    for tight in (False, True):
        p = problem(rng)
        Z = p.X if tight else p.Z
        model = inducing.fit(p.k, p.X, p.t, p.beta, Z)
        evidence = gp.log_marginal_likelihood(gp.fit(p.k, p.X, p.t, p.beta))
        Q = nystrom.approximation(p.k, p.X, Z)
        worlds.append(
            bound(p)
            | {
                "F": inducing.lower_bound(model),
                r"p(\mathbf t)": np.exp(evidence),
                r"\mathbf Q": Q,
                "@tight": tight,
                "@tolerance": 1e-7,
            }
        )
    return worlds


@world("eq-titsias-sums")
def _(rng):
    p = problem(rng)
    C = p.Q + np.eye(p.N) / p.beta
    price = p.beta / 2 * np.trace(p.k(p.X) - p.Q)
    U = inducing.fit(p.k, p.X, p.t, p.beta, p.Z).factor.U
    return bound(p) | {
        "F": multivariate_normal(np.zeros(p.N), C).logpdf(p.t) - price,
        r"\mathbf B": U.T @ U,
    }


def divergence(m, S, mean, cov):
    """Of one Gaussian from another, by averaging along whitened axes."""
    L = np.linalg.cholesky(cov)
    d = np.linalg.solve(L, m - mean)
    R = np.linalg.solve(L, np.linalg.cholesky(S))
    return (
        np.sum(R**2) - len(m) + d @ d - 2 * np.log(abs(np.linalg.det(R)))
    ) / 2


@world("eq-titsias-gap", tolerance=1e-6)
def _(rng):
    """Both posteriors of y and u, with a kernel of full rank."""
    p = problem(rng)
    k = kernels.Matern(nu=0.5, length=1.3)
    model = inducing.fit(k, p.X, p.t, p.beta, p.Z)
    both = np.vstack([p.X, p.Z])
    K = k(both)
    noisy = K[: p.N, : p.N] + np.eye(p.N) / p.beta
    joint = np.block([[noisy, K[: p.N]], [K[:, : p.N], K]])
    exact = gaussians.condition(np.zeros(len(joint)), joint, range(p.N), p.t)
    W, C = k(p.Z), k(both, p.Z)
    A = np.linalg.solve(W, C.T).T
    S_u = np.linalg.inv(np.linalg.inv(W) + p.beta * A[: p.N].T @ A[: p.N])
    m_u = p.beta * S_u @ A[: p.N].T @ p.t
    cov = K - A @ C.T + A @ S_u @ A.T
    evidence = gp.log_marginal_likelihood(gp.fit(k, p.X, p.t, p.beta))
    return {
        r"\mathrm{KL}(q, p)": divergence(A @ m_u, cov, exact.mean, exact.cov),
        r"p(\mathbf t)": np.exp(evidence),
        "F": inducing.lower_bound(model),
    }


@world("eq-gauss-kl", tolerance=1e-6)
def _(rng):
    """By quadrature in the plane."""
    m_q, m_p = rng.standard_normal((2, 2))
    S_q, S_p = (
        np.eye(2) + 0.5 * B @ B.T for B in rng.standard_normal((2, 2, 2))
    )
    axis = np.linspace(-25, 25, 801)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    log_q = multivariate_normal(m_q, S_q).logpdf(grid)
    log_p = multivariate_normal(m_p, S_p).logpdf(grid)
    inner = trapezoid(np.exp(log_q) * (log_q - log_p), axis, axis=1)
    return {
        "D": 2,
        r"\mathrm{KL}(q, p)": trapezoid(inner, axis),
        r"\mathbf m_q": m_q,
        r"\mathbf m_p": m_p,
        r"\mathbf S_q": S_q,
        r"\mathbf S_p": S_p,
    }
