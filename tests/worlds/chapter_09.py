"""Chapter 9: Gaussian-process regression."""

from types import SimpleNamespace

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm
from typeset import From, Law, Sample

from kernelbook import features, gaussians, gp, kernels, ridge

from . import world

DRAWS = 20_000


def problem(rng, N=4, D=2):
    """N examples and one more; the kernel is that of six random weights.

    The weights have precision α, so k(x, x') = φ(x)ᵀφ(x')/α: whatever the
    library finds from the kernel, the weights find without it.
    """
    X, t = rng.standard_normal((N + 1, D)), rng.standard_normal(N + 1)
    alpha, beta = rng.uniform(1.5, 3.0), rng.uniform(0.4, 0.8)
    Phi = features.monomials(features.append_constant(X, 1.0), 2)
    k = 1 / alpha * kernels.Polynomial(degree=2, c=1.0)
    M, old = Phi.shape[1], Phi[:N]
    S = np.linalg.inv(alpha * np.eye(M) + beta * old.T @ old)
    w = np.linalg.lstsq(
        np.vstack([np.sqrt(beta) * old, np.sqrt(alpha) * np.eye(M)]),
        np.concatenate([np.sqrt(beta) * t[:N], np.zeros(M)]),
        rcond=None,
    )[0]
    return SimpleNamespace(
        N=N,
        D=D,
        M=M,
        X=X,
        t=t,
        alpha=alpha,
        beta=beta,
        phi=lambda x: features.monomials([[*x, 1.0]], 2)[0],
        Phi=Phi,
        C=Phi @ Phi.T / alpha + np.eye(N + 1) / beta,
        S=S,
        w=w,
        k=k,
        model=gp.fit(k, X[:N], t[:N], beta),
        longer=gp.fit(k, X, t, beta),
    )


def bound(q):
    """The kernel's side comes from the library, C from the features."""
    return {
        "N": q.N,
        "M": q.M,
        "n": range(1, q.N + 1),
        "m": range(1, q.N + 1),
        r"\alpha": q.alpha,
        r"\beta": q.beta,
        r"\mathbf x_": q.X,
        r"\mathbf t": q.t[:-1],
        "t_": q.t,
        r"\mathbf t_{N+1}": q.t,
        r"\mathbf C_N": q.C[:-1, :-1],
        r"\mathbf C_{N+1}": q.C,
        "k": lambda x, z: q.k([x], [z])[0, 0],
        r"\mathbf k": q.k(q.X[:-1], q.X[-1:])[:, 0],
        r"\mathbf K": q.k(q.X[:-1]),
        "c": q.C[-1, -1],
        r"\boldsymbol\phi": q.phi,
        r"\boldsymbol\Phi": q.Phi[:-1],
    }


def by_weights(q):
    """Mean and deviation of a new target, from the weights' posterior."""
    return {
        "m": lambda x: q.w @ q.phi(x),
        r"\sigma": lambda x: np.sqrt(q.phi(x) @ q.S @ q.phi(x) + 1 / q.beta),
    }


def by_kernel(q):
    """The same from the library."""
    return {
        "m": lambda x: gp.mean(q.model, [x])[0],
        r"\sigma": lambda x: np.sqrt(
            gp.predict(q.model, [x]).noisy_variance[0]
        ),
    }


@world("eq-gp-21", "eq-gp-22")
def _(rng):
    q = problem(rng)
    y = rng.standard_normal(q.N)
    return bound(q) | {
        r"\mathbf y": y,
        "p": lambda t, y: norm.pdf(t, y, q.beta**-0.5).prod(),
    }


def around(centre, spread, nodes=12):
    """Gauss–Hermite nodes and weights for ∫ f(y) dy, f a bump in the plane."""
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    root = np.linalg.cholesky(spread)
    pairs = np.array([[a, b] for a in z for b in z])
    weights = np.outer(w, w).ravel() * np.exp((pairs**2).sum(axis=1) / 2)
    return centre + pairs @ root.T, weights * np.linalg.det(root)


@world("eq-gp-23")
def _(rng):
    """Two targets, whose noiseless values are integrated out on a grid."""
    q = problem(rng)
    X, t = q.X[:2], q.t[:2]
    few = gp.fit(q.k, X, t, q.beta)
    root = np.linalg.cholesky(q.k(X))

    def density(value, given):
        if given:
            return norm.pdf(value, given[0], q.beta**-0.5).prod()
        z = np.linalg.solve(root, value)
        return norm.pdf(z).prod() / root.diagonal().prod()

    return bound(q) | {
        "N": 2,
        r"\mathbf t": t,
        r"\mathbf K": q.k(X),
        r"\mathbf C_N": q.C[:2, :2],
        "p": Law(density),
        r"p(\mathbf t)": np.exp(gp.log_marginal_likelihood(few)),
        r"d\mathbf y": around(gp.mean(few, X), 1.2 * gp.covariance(few, X)),
    }


@world("eq-gp-delta")
def _(rng):
    """C out of the factor that the library keeps."""
    q = problem(rng)
    U = q.model.factor.U

    def entry(x, z):
        n, m = (np.argwhere((v == q.X).all(axis=1))[0, 0] for v in (x, z))
        return U[:, n] @ U[:, m]

    return bound(q) | {"C": entry}


@world("eq-gp-24")
def _(rng):
    theta = rng.uniform(0.3, 1.5, size=4)
    k = kernels.ExponentialQuadratic(tuple(theta))
    return {
        "n": range(1, 5),
        "m": range(1, 5),
        r"\mathbf x": rng.standard_normal(2),
        r"\theta_": From(0, theta),
        r"\mathbf x_": rng.standard_normal((4, 2)),
        "k": lambda x, z: k([x], [z])[0, 0],
    }


@world("eq-gp-units")
def _(rng):
    """γ as the library has it; at the distance ℓ the kernel is e^(-1/2)."""
    theta1 = rng.uniform(0.3, 1.5)
    k = kernels.ExponentialQuadratic((1.0, theta1, 0.0, 0.0))

    def drop(r):
        return np.log(k([[0.0]], [[r]])[0, 0]) + 1 / 2

    return {
        r"\theta_1": theta1,
        r"\gamma": k.bump.gamma,
        r"\ell": brentq(drop, 0.01, 10.0, xtol=1e-14, rtol=1e-14),
    }


@world("eq-gp-noise-each")
def _(rng):
    """C out of the factor that the library keeps."""
    q = problem(rng)
    betas = rng.uniform(0.4, 0.8, size=q.N)
    U = gp.fit(q.k, q.X[:-1], q.t[:-1], betas).factor.U

    def entry(x, z):
        n, m = (np.argwhere((v == q.X).all(axis=1))[0, 0] for v in (x, z))
        return U[:, n] @ U[:, m]

    return bound(q) | {"C": entry, r"\beta_": betas}


@world("eq-gp-25")
def _(rng):
    q = problem(rng)
    value = np.exp(gp.log_marginal_likelihood(q.longer))
    return bound(q) | {r"p(\mathbf t_{N+1})": value}


@world("eq-gp-26", "eq-gp-corner")
def _(rng):
    q = problem(rng)
    U = q.longer.factor.U
    return bound(q) | {r"\mathbf C_{N+1}": U.T @ U}


@world("eq-gp-joint-train", "eq-gp-joint-new")
def _(rng):
    """Functions drawn by their weights, measured with noise."""
    q = problem(rng)
    w = rng.standard_normal((DRAWS, q.M)) / np.sqrt(q.alpha)
    noise = rng.standard_normal((DRAWS, q.N)) / np.sqrt(q.beta)
    y = w @ q.Phi.T
    return bound(q) | {
        r"\mathbf t": Sample(y[:, :-1] + noise),
        r"\mathbf y": Sample(y[:, :-1]),
        "y_*": Sample(y[:, -1]),
    }


@world("eq-gp-27", "eq-gp-28")
def _(rng):
    q = problem(rng)
    return bound(q) | by_weights(q)


@world("eq-gp-29", "eq-gp-a")
def _(rng):
    q = problem(rng)
    return bound(q) | by_weights(q) | {r"\mathbf a": q.model.a}


@world("eq-gp-latent")
def _(rng):
    """One over the precision that y_* has beside the targets."""
    q = problem(rng)
    joint = q.C.copy()
    joint[-1, -1] -= 1 / q.beta
    value = 1 / np.linalg.inv(joint)[-1, -1]
    name = r"\operatorname{var}[y_* \mid \mathbf t]"
    return bound(q) | by_kernel(q) | {name: value}


@world("eq-gp-posterior-covariance")
def _(rng):
    """Functions drawn from the posterior of their weights."""
    q = problem(rng)
    root = np.linalg.cholesky(q.S)
    w = q.w + rng.standard_normal((DRAWS, q.M)) @ root.T
    z, other = rng.standard_normal((2, q.D))
    return bound(q) | {
        r"\mathbf z": z,
        r"\mathbf z'": other,
        r"\mathbf k": lambda x: q.k(q.X[:-1], [x])[:, 0],
        "y": lambda x: lambda t: Sample(w @ q.phi(x)),
    }


@world("eq-gp-append")
def _(rng):
    q = problem(rng)
    appended = gp.append(q.model, q.X[-1], q.t[-1]).factor.U
    return bound(q) | {
        r"\mathbf U": q.model.factor.U,
        r"\mathbf U_{N+1}": np.linalg.cholesky(q.C).T,
        r"\mathbf v": appended[:-1, -1],
        r"\sigma": by_weights(q)[r"\sigma"](q.X[-1]),
    }


@world("eq-gp-append-a")
def _(rng):
    q = problem(rng)
    return bound(q) | by_weights(q) | {"a_": q.longer.a}


@world("eq-gp-known-mean")
def _(rng):
    """The library is given the function, the formula its values."""
    q = problem(rng)

    def mu(X):
        return 1.5 * np.atleast_2d(X)[:, 0] - 0.7

    model = gp.fit(q.k, q.X[:-1], q.t[:-1], q.beta, mean=mu)
    return bound(q) | {
        "m": lambda x: gp.mean(model, [x])[0],
        r"\mu": lambda x: mu(x)[0],
        r"\boldsymbol\mu": mu(q.X[:-1]),
    }


@world("eq-gp-trend-weights", "eq-gp-trend-mean", "eq-gp-trend-variance")
def _(rng):
    """A plane under the process, whose weights the library integrates out."""
    q = problem(rng, N=7)
    model = gp.fit(q.k, q.X[:-1], q.t[:-1], q.beta, mean=gp.Trend())
    H = features.with_bias(q.X)
    s = ridge.target_weights(
        q.k(q.X[:-1]), q.k(q.X[:-1], q.X[-1:]), 1 / q.beta
    )[:, 0]
    return bound(q) | {
        r"\hat{\mathbf w}": model.weights.w,
        r"\mathbf H": H[:-1],
        r"\boldsymbol\phi": lambda x: features.with_bias([x])[0],
        r"\mathbf r": H[-1] - H[:-1].T @ s,
        "m": lambda x: gp.mean(model, [x])[0],
        r"\sigma": lambda x: np.sqrt(gp.predict(model, [x]).noisy_variance[0]),
    }


# Of relations in sentences, and of displays without a label ------------------


@world("inline: an offset of its own")
def _(rng):
    """b and a from one system, with a row and a column of ones."""
    q = problem(rng)
    ones, C_0 = np.ones(q.N), q.C[:-1, :-1]
    system = np.block([[C_0, ones[:, None]], [ones[None], np.zeros((1, 1))]])
    *a, b = np.linalg.solve(system, np.append(q.t[:-1], 0.0))
    one = gp.Trend(lambda X: np.ones((len(X), 1)))
    offset = gp.fit(q.k, q.X[:-1], q.t[:-1], q.beta, mean=one)
    return bound(q) | {
        r"\mathbf C_0": C_0,
        r"\mathbf 1": ones,
        r"\mathbf a": np.array(a),
        "b": b,
        r"\mathbf x": q.X[-1],
        "k_0": lambda x, z: q.k([x], [z])[0, 0],
        "m": lambda x: gp.mean(offset, [x])[0],
    }


@world("inline: weights, kernel and factor")
def _(rng):
    """S by the kernel's route, C by the weights', the rest by the library."""
    q = problem(rng)
    old, phi, C = q.Phi[:-1], q.Phi[-1], q.C[:-1, :-1]
    K_old, k_new = q.k(q.X[:-1]), q.k(q.X[:-1], q.X[-1:])
    y, a = rng.standard_normal(q.N), q.model.a
    less = old.T @ np.linalg.solve(C, old) / q.alpha
    root = q.model.factor.U
    z = np.linalg.solve(np.linalg.cholesky(K_old), y)
    spread = np.exp(np.linalg.slogdet(K_old)[1] / 2)
    return bound(q) | {
        r"\mathbf x": q.X[-1],
        r"\boldsymbol\phi": phi,
        r"\mathbf S_N": (np.eye(q.M) - less) / q.alpha,
        r"\mathbf C": C,
        r"\mathbf L": root.T,
        r"\mathbf U": root,
        r"\mathbf v": gp.append(q.model, q.X[-1], 0.0).factor.U[:-1, -1],
        "k": lambda x, z: q.phi(x) @ q.phi(z) / q.alpha,
        "k_": k_new[:, 0],
        r"\mathbf y": y,
        r"p(\mathbf y)": norm.pdf(z).prod() / spread,
        r"\mathbf a": a,
        "a_{N+1}": q.longer.a[-1],
        r"\mathbf a_{N+1}": q.longer.a,
        r"\mathbf s": ridge.target_weights(K_old, k_new, 1 / q.beta)[:, 0],
        r"\mathbf m": gp.mean(q.model, q.X[:-1]),
        "m": q.w @ phi,
        r"\sigma": np.sqrt(phi @ q.S @ phi + 1 / q.beta),
        r"\lambda": np.mean((q.t[:-1] - K_old @ a) / a),
    }


@world("inline: the ridge of the weights")
def _(rng):
    """λ by the gradient of ridge regression at the weights' mean."""
    q = problem(rng)
    slope = q.Phi[:-1].T @ (q.t[:-1] - q.Phi[:-1] @ q.w)
    return bound(q) | {r"\lambda": np.mean(slope / q.w)}


@world("inline: the kernel of the first figure")
def _(rng):
    k = kernels.Gaussian(gamma=8.0)
    near, far = k([[0.0]], [[0.0], [0.3], [9.0]])[0, 1:]
    return {
        r"\boldsymbol\theta": np.array(
            [
                1 - far,
                -2 * np.log(near) / 0.3**2,
                far,
                k([[9.0]], [[-9.0]])[0, 0],
            ]
        )
    }


@world("inline: a plane under the process", tolerance=1e-6)
def _(rng):
    """Each feature in turn as a known mean; weights by whitening."""
    q = problem(rng, N=7)
    X, t, H = q.X[:-1], q.t[:-1], features.with_bias(q.X)

    def mean(i):
        fit = gp.fit(
            q.k, X, 0 * t, q.beta, mean=lambda Z: features.with_bias(Z)[:, i]
        )
        return gp.mean(fit, q.X[-1:])[0]

    L = np.linalg.cholesky(q.C[:-1, :-1])
    w = np.linalg.lstsq(
        np.linalg.solve(L, H[:-1]), np.linalg.solve(L, t), rcond=None
    )[0]
    return bound(q) | {
        r"\mathbf H": H[:-1],
        r"\mathbf w": w,
        r"\boldsymbol\phi": H[-1],
        r"\mathbf r": np.array([mean(i) for i in range(q.D + 1)]),
    }


@world("inline: neighbours on a line")
def _(rng):
    """Each value given all before it, of the Ornstein–Uhlenbeck process."""
    N, k = 5, kernels.Matern(nu=0.5, length=1.0)
    x, y = np.cumsum(rng.uniform(0.3, 1.5, N)), rng.standard_normal(N)
    K = k(x[:, None])

    def of(n):
        def density(value, given):
            before = np.append(y[: n - 2], given)
            q = gaussians.condition(
                np.zeros(n), K[:n, :n], range(n - 1), before
            )
            return norm.pdf(value, q.mean[0], np.sqrt(q.cov[0, 0]))

        return {
            "N": N,
            "n": n,
            "x": x[0],
            "x'": x[2],
            "x''": x[-1],
            "x_": x,
            "k": lambda x, z: k([[x]], [[z]])[0, 0],
            r"\mathbf K": K,
            r"\mathbf y": y,
            r"\rho_": {i + 1: K[i, i - 1] for i in range(1, N)},
            r"p(y_1)": norm.pdf(y[0], scale=np.sqrt(K[0, 0])),
            "p": Law(density),
        }

    return [of(n) for n in range(2, N + 1)]


def at_one_place(rng, readings):
    """One value read several times, by a kernel of variance 1."""
    unit, t = kernels.Gaussian(gamma=1.0), rng.standard_normal()
    fit = gp.fit(unit, readings * [[0.0]], readings * [t], beta=4.0)
    q = gp.predict(fit, [[0.0]])
    return {
        "R": readings,
        "x": 0.0,
        "k": lambda x, z: unit([[x]], [[z]])[0, 0],
        r"\mathbf k": unit([[0.0]])[0, 0],
        r"\mathbf C_1": fit.factor.U[0, 0] ** 2,
        "t_1": t,
        "m": q.mean[0],
        # A variance v of y is that of one reading with precision 1/v - 1.
        r"\beta": 1 / q.latent_variance[0] - 1,
    }


@world("inline: one reading")
def _(rng):
    return at_one_place(rng, 1)


@world("inline: two readings")
def _(rng):
    return at_one_place(rng, 2)


@world("inline: improvement", tolerance=1e-6)
def _(rng):
    z, h = rng.uniform(0.3, 1.5), 1e-5
    return {
        "u": rng.uniform(-1.0, 1.0),
        "z": z,
        r"\sigma": rng.uniform(0.5, 1.5),
        r"\varphi": norm.pdf,
        r"\varphi'": lambda z: (norm.pdf(z + h) - norm.pdf(z - h)) / (2 * h),
        r"\Phi": norm.cdf,
    }
