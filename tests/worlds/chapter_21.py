"""Chapter 21: Nyström and inducing points."""

from types import SimpleNamespace

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal, norm
from typeset import Each, Law

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
    return bound(p) | {r"\mathbf b": p.b(p.x), r"\mathbf b'": p.b(p.z)}


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


# Of relations in sentences ---------------------------------------------------


def projected(X, Z):
    """Inner products of projections, by least squares."""
    basis = psi(Z).T
    near = basis @ np.linalg.lstsq(basis, psi(X).T, rcond=None)[0]
    return near.T @ near


@world("inline: the projection")
def _(rng):
    """Its trace is the number of landmarks, unless one stands twice."""
    worlds = []
    for again in (False, True):
        p = problem(rng)
        Z = p.Z[[0, 1, 1]] if again else p.Z
        left, lengths, _ = np.linalg.svd(psi(Z).T, full_matrices=False)
        axes = left[:, lengths > 1e-10]
        Pi = sum(np.outer(axis, axis) for axis in axes.T)
        worlds.append(
            bound(p)
            | {
                r"\boldsymbol\Psi": psi(p.X),
                r"\boldsymbol\Pi": Pi,
                r"\mathbf Q": projected(p.X, Z),
                "i": range(1, p.N + 1),
                r"\mu_": np.linalg.eigvalsh(p.k(p.X)),
                "@tight": not again,
            }
        )
    return worlds


@world("inline: the factor in the end")
def _(rng):
    p = problem(rng)
    found = nystrom.pivoted_cholesky(p.k, p.X, p.M)
    Q = projected(p.X, p.X[found.numbers])
    return {r"\mathbf L": found.L, r"\mathbf Q": Q}


@world("inline: functions of the landmarks")
def _(rng):
    """By the features ψ; and the best one, by its M weights."""
    p = problem(rng)
    C, W = p.k(p.X, p.Z), p.k(p.Z)
    a = np.linalg.solve(C.T @ C + p.lam * W, C.T @ p.t)
    return bound(p) | {
        r"\mathbf a": a,
        "y": lambda x: psi([x])[0] @ (a @ psi(p.Z)),
        r"\mathbf U": np.linalg.cholesky(W).T,
        r"\mathbf w": nystrom.fit(p.k, p.X, p.t, p.lam, p.Z).w,
    }


@world("inline: values at the landmarks")
def _(rng):
    p = problem(rng)
    w = rng.standard_normal(p.M)
    L = np.linalg.cholesky(p.k(p.Z))
    spread = np.linalg.solve(L, np.linalg.solve(L, p.k(p.Z)).T)  # of weights
    return bound(p) | {
        r"\mathbf w": w,
        r"\mathbf U": L.T,
        r"\mathbf u": L @ w,
        r"\lambda_0": Each(np.sqrt(np.diag(spread))),
        "y": lambda x: p.phi([x])[0] @ w,
    }


@world("inline: the λ of a posterior mean", tolerance=1e-7)
def _(rng):
    """Where ½‖t − Φw‖² + ½λ‖w‖² is flat at the mean's weights."""
    p = problem(rng)
    means = [conditioned(p, x, p.q(x, x)).mean[0] for x in p.X]
    Phi = p.phi(p.X)
    w = np.linalg.lstsq(Phi, means, rcond=None)[0]
    ratios = Phi.T @ (p.t - Phi @ w) / w
    return {r"\beta": p.beta, r"\lambda": Each(ratios)}


@world("inline: targets, outputs and inducing values")
def _(rng):
    """One of each, so that the densities are those of three numbers."""
    k, beta = kernels.Gaussian(0.4), rng.uniform(0.8, 3.0)
    K = k(rng.standard_normal((2, 1)))
    cov = np.block([[K[:1, :1] + 1 / beta, K[:1]], [K[:, :1], K]])
    values = rng.standard_normal(3)

    def law(*of, given):
        """Which of the three is meant, its value says."""
        a, b = ([list(values).index(v) for v in some] for some in (of, given))
        mean, spread = np.zeros(3), cov
        if b:
            left = gaussians.condition(mean, cov, b, values[b])
            mean, spread = left.mean, left.cov
        kept = np.isin(np.setdiff1d(range(3), b), a)
        density = multivariate_normal(mean[kept], spread[np.ix_(kept, kept)])
        return density.pdf(values[np.sort(a)])

    names = r"\mathbf t", r"\mathbf y", r"\mathbf u"
    return {"p": Law(law), **dict(zip(names, values, strict=True))}


@world("inline: one landmark")
def _(rng):
    k, x, z = kernels.Gaussian(gamma=0.5), *rng.standard_normal(2)
    feature = nystrom.feature_map(k, [[0.0]])
    return {
        "x": x,
        "x'": z,
        "k": lambda x, z: k([[x]], [[z]])[0, 0],
        r"\mathbf W": k([[0.0]])[0, 0],
        "c": lambda x: k([[0.0]], [[x]])[0, 0],
        r"\phi": lambda x: feature([[x]])[0, 0],
        "q": lambda x, z: nystrom.approximation(k, [[x], [z]], [[0.0]])[0, 1],
    }


@world("inline: the integral equation at M points")
def _(rng):
    """One eigenvector by the singular value decomposition, extended."""
    M, k = 4, kernels.Gaussian(0.5)
    z = np.sort(rng.uniform(-2, 2, M))
    W = k(z[:, None])
    nu, V = np.linalg.eigh(W)
    v = np.linalg.svd(W)[0][:, 1]
    e = v * np.sign(v @ V[:, -2]) / np.sqrt(np.mean(v**2))
    mu = sum(k([[z[0]]], [[z[m]]])[0, 0] * e[m] for m in range(M)) / M / e[0]

    def extended(x):
        return sum(k([[x]], [[z[m]]])[0, 0] * e[m] for m in range(M)) / M / mu

    return {
        "M": M,
        "m": range(1, M + 1),
        "l": range(1, M + 1),
        "i": Each([M - 1]),
        "z_": z,
        "x": rng.uniform(-2, 2),
        "k": lambda x, z: k([[x]], [[z]])[0, 0],
        r"\mathbf W": W,
        r"\mathbf c": lambda x: k(z[:, None], [[x]])[:, 0],
        r"\nu_": nu,
        r"\mathbf v_": V.T,
        r"\mu": mu,
        r"\mathbf e": e,
        "e": extended,
        r"\hat e_": lambda i: extended,
    }


@world("inline: Mercer's series of M points")
def _(rng):
    M, k = 4, kernels.Gaussian(0.5)
    z = np.linspace(-2, 2, M)[:, None]
    nu, V = np.linalg.eigh(k(z))
    return {
        "M": M,
        "i": range(1, M + 1),
        "x": rng.uniform(-2, 2),
        "x'": rng.uniform(-2, 2),
        r"\mathbf W": k(z),
        r"\mathbf c": lambda x: k(z, [[x]])[:, 0],
        r"\nu_": nu,
        r"\mathbf v_": V.T,
    }


def coefficients(Phi, t, lam):
    """By the residuals of a fit in the primal."""
    M = Phi.shape[1]
    rows = np.vstack([Phi, np.sqrt(lam) * np.eye(M)])
    w = np.linalg.lstsq(rows, np.append(t, np.zeros(M)), rcond=None)[0]
    return (t - Phi @ w) / lam


@world("inline: two matrices")
def _(rng):
    A, B = rng.standard_normal((2, 3, 3)) + 3 * np.eye(3)
    return {r"\mathbf A": A, r"\mathbf B": B}


@world("inline: two fits", tolerance=1e-4)
def _(rng):
    """Tight if K is small, all of it is missed, and t is its worst vector."""
    p = problem(rng)
    worst = np.linalg.svd(psi(p.X))[0][:, 0]
    cases = [
        (psi(p.X), p.phi(p.X), p.t, False),
        (psi(p.X) * 1e-4, np.zeros((p.N, 1)), worst, True),
    ]
    return [
        bound(p)
        | {
            r"\mathbf t": t,
            r"\mathbf a": coefficients(Phi, t, p.lam),
            r"\hat{\mathbf a}": coefficients(kept, t, p.lam),
            r"\mathbf K": Phi @ Phi.T,
            r"\mathbf Q": kept @ kept.T,
            r"\lVert \mathbf K - \mathbf Q \rVert_2": np.linalg.norm(
                Phi @ Phi.T - kept @ kept.T, 2
            ),
            "@tight": tight,
        }
        for Phi, kept, t, tight in cases
    ]
