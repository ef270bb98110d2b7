"""Chapter 23: conjugate gradients, preconditioners and certificates."""

from types import SimpleNamespace

import numpy as np
from scipy.special import eval_chebyt
from typeset import From, Sample

from kernelbook import iterative, kernels, nystrom, ridge

from . import world


def problem(rng, N=5):
    """A small system, by a kernel and apart from it by its features."""
    lam = rng.uniform(0.3, 2.0)
    X = rng.standard_normal((N, 2))
    k = kernels.Polynomial(degree=2, c=1.0)
    K = k(X)
    t = rng.standard_normal(N)
    return SimpleNamespace(
        N=N,
        lam=lam,
        X=X,
        t=t,
        k=k,
        K=K,
        A=iterative.RegularisedGram(k, X, lam) @ np.eye(N),
        a=ridge.fit_dual(K, t, lam),
    )


def bindings(p):
    return {
        "N": p.N,
        r"\lambda": p.lam,
        r"\mathbf A": p.A,
        r"\mathbf K": p.K,
        r"\mathbf t": p.t,
    }


@world("eq-cg-matrix")
def _(rng):
    return bindings(problem(rng))


@world("eq-cg-objective", "eq-cg-gradient")
def _(rng):
    """½ Σ over pairs of entries, written out."""
    p = problem(rng)
    a = rng.standard_normal(p.N)

    def f(a):
        pairs = sum(
            p.A[n, m] * a[n] * a[m] for n in range(p.N) for m in range(p.N)
        )
        return pairs / 2 - sum(p.t * a)

    return bindings(p) | {
        r"\mathbf a": a,
        r"\mathbf r": np.array([p.t[n] - p.A[n] @ a for n in range(len(p.t))]),
        "f": f,
    }


def run(p, steps):
    """The lowest points in the Krylov spaces, by solving in each."""
    span, a = [], [np.zeros(p.N)]
    for s in range(steps):
        span.append(np.linalg.matrix_power(p.A, s) @ p.t)
        B = np.linalg.qr(np.array(span).T)[0]
        a.append(B @ np.linalg.solve(B.T @ p.A @ B, B.T @ p.t))
    return np.array(a)


@world("eq-cg-step", "eq-cg-update", "eq-cg-direction", "eq-cg-ratio")
def _(rng):
    """Directions from one lowest point to the next, scaled as the text has.

    p_s is that multiple of a_{s+1} - a_s whose product with r_s is ‖r_s‖².
    """
    p = problem(rng)
    a = run(p, 4)
    r = p.t - a @ p.A
    moved = np.diff(a, axis=0)
    scale = [r[s] @ r[s] / (r[s] @ moved[s]) for s in range(4)]
    directions = np.array(scale)[:, None] * moved
    ratios = [
        (directions[s + 1] - r[s + 1]) @ directions[s]
        / (directions[s] @ directions[s])
        for s in range(3)
    ]  # fmt: skip
    return [
        bindings(p)
        | {
            "s": s,
            r"\mathbf a_": From(0, a),
            r"\mathbf r_": From(0, r),
            r"\mathbf p_": From(0, directions),
            r"\eta_": From(0, 1 / np.array(scale)),
            r"\rho_": From(0, np.array(ratios)),
        }
        for s in (0, 1, 2)
    ]


@world("eq-cg-tiles")
def _(rng):
    p, cut = problem(rng), 2
    v = rng.standard_normal(p.N)
    return bindings(p) | {
        r"\mathbf v": v,
        r"\mathbf v_1": v[:cut],
        r"\mathbf v_2": v[cut:],
        r"\mathbf K_{11}": p.k(p.X[:cut]),
        r"\mathbf K_{12}": p.k(p.X[:cut], p.X[cut:]),
        r"\mathbf K_{22}": p.k(p.X[cut:]),
    }


@world("eq-cg-polynomial", tolerance=1e-7)
def _(rng):
    """The polynomial from the steps' error, at an interpolation's nodes."""
    p, s = problem(rng), 2
    a_s = run(p, s)[s]
    mu, U = np.linalg.eigh(p.K)
    share = (U.T @ (p.a - a_s)) / (U.T @ p.a)
    polynomial = np.polynomial.Polynomial.fit(mu + p.lam, share, s)
    error = p.a - a_s
    return bindings(p) | {
        "s": s,
        "E_": {s: np.sqrt(error @ p.A @ error)},
        r"\mu_": mu,
        r"\mathbf u_": U.T,
        "h": polynomial,
        r"\mathbf a^*": p.a,
    }


@world("eq-cg-rate")
def _(rng):
    """The smaller q with ½(q + 1/q) = (κ + 1)/(κ - 1)."""
    kappa = rng.uniform(2.0, 50.0)
    root = np.roots([1, -2 * (kappa + 1) / (kappa - 1), 1]).min()
    return {"q": root, r"\kappa": kappa}


@world("eq-cg-chebyshev")
def _(rng):
    kappa = rng.uniform(2.0, 50.0)
    root = np.roots([1, -2 * (kappa + 1) / (kappa - 1), 1]).min()
    return [
        {
            "s": s,
            r"\kappa": kappa,
            "q": root,
            "T_": lambda s: lambda x: eval_chebyt(s, x),
        }
        for s in (1, 4)
    ]


@world("eq-cg-bound", tolerance=1e-7)
def _(rng):
    """Any eigenvalues, and the worst ones, for which it is exact."""
    found = []
    for s, worst in [(2, False), (2, True), (3, True)]:
        kappa = rng.uniform(5.0, 30.0)
        if worst:
            nodes = np.cos(np.pi * np.arange(s + 1) / s)
            values = 1 + (kappa - 1) * (nodes + 1) / 2
            weight = np.array(
                [1 / abs(np.prod([a - b for b in values if b != a]))
                 for a in values]
            )  # fmt: skip
            a = np.sqrt(weight) / values
        else:
            values = np.array([1.0, 2.0, 3.0, kappa])
            a = rng.standard_normal(4)
        A = np.diag(values)
        p = SimpleNamespace(N=len(a), A=A, t=A @ a)
        error = a - run(p, s)
        E = np.sqrt(np.einsum("sn,nm,sm->s", error, A, error))
        root = np.roots([1, -2 * (kappa + 1) / (kappa - 1), 1]).min()
        found.append({"s": s, "E_": From(0, E), "q": root, "@tight": worst})
    return found


def with_landmarks(rng):
    p, M = problem(rng, N=6), 3
    landmarks = rng.standard_normal((M, 2))
    Phi = nystrom.feature_map(p.k, landmarks)(p.X)
    return p, Phi, iterative.preconditioner(p.k, p.X, p.lam, landmarks)


@world("eq-cg-preconditioner", "eq-cg-woodbury")
def _(rng):
    """P is what the library divides by."""
    p, Phi, divide = with_landmarks(rng)
    return bindings(p) | {
        "M": Phi.shape[1],
        r"\boldsymbol\Phi": Phi,
        r"\mathbf P": np.linalg.inv(divide(np.eye(p.N))),
        r"\mathbf r": rng.standard_normal(p.N),
        "@tolerance": 1e-7,
    }


def any_vector(rng):
    p, _, divide = with_landmarks(rng)
    P = np.linalg.inv(divide(np.eye(p.N)))
    return bindings(p) | {
        r"\mathbf P": P,
        r"\delta": np.linalg.eigvalsh(p.A - P)[-1],
        r"\mathbf v": rng.standard_normal(p.N),
    }


def exactly_kept(rng, seen):
    """Features of which landmarks keep the first two, unchanged."""
    lam, sizes = rng.uniform(0.3, 2.0), np.array([3.0, 2.0, 1.5, 0.5])
    U = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    return {
        "N": 4,
        r"\lambda": lam,
        r"\mathbf A": U * (sizes + lam) @ U.T,
        r"\mathbf P": U[:, :2] * sizes[:2] @ U[:, :2].T + lam * np.eye(4),
        r"\mathbf v": U[:, 0 if seen else 2],
        r"\delta": sizes[2],
        "@tight": True,
    }


@world("eq-cg-below")
def _(rng):
    """Any vector, and one that the landmarks see whole."""
    return [any_vector(rng), exactly_kept(rng, True)]


@world("eq-cg-above")
def _(rng):
    """Any vector, and one that the landmarks do not see at all."""
    return [any_vector(rng), exactly_kept(rng, False)]


def stopped(rng):
    p = problem(rng)
    x = rng.standard_normal(2)
    model = iterative.fit(p.k, p.X, p.t, p.lam, tolerance=1e-12)
    a_s = run(p, 2)[2]
    return bindings(p) | {
        "s": 2,
        r"\mathbf x": x,
        "k": p.k,
        r"\mathbf k": lambda x: p.k(p.X, [x])[:, 0],
        "y": lambda x: model.predict([x])[0],
        "y_s": lambda x: p.k(p.X, [x])[:, 0] @ a_s,
        r"\mathbf r_": {2: p.t - p.A @ a_s},
    }


@world("eq-cg-error")
def _(rng):
    return stopped(rng)


@world("eq-cg-certificate")
def _(rng):
    """Also one example whose length is √λ: then it is exact."""
    x, length, t, a_s = rng.uniform(0.5, 2.0, 4)
    lam = length**2
    exact = ridge.fit_dual([[length**2]], [t], lam)[0]
    return [
        stopped(rng),
        {
            "s": 1,
            r"\lambda": lam,
            r"\mathbf x": np.array([x]),
            "k": lambda x, z: float(x @ z),
            "y": lambda x: x[0] * length * exact,
            "y_s": lambda x: x[0] * length * a_s,
            r"\mathbf r_": {1: np.array([t - 2 * lam * a_s])},
            "@tight": True,
        },
    ]


@world("eq-cg-svm-step")
def _(rng):
    """e anew from coefficients that have moved."""
    p = problem(rng)
    v, s = rng.standard_normal(p.N), rng.uniform(0.5, 2.0)
    moved = v.copy()
    moved[1] += s
    moved[3] -= s
    return {
        r"\mathbf e": p.t - p.K @ v,
        r"\leftarrow": p.t - p.K @ moved,
        r"\eta": s,
        "i": 2,
        "j": 4,
        r"\mathbf k_": p.K,
    }


@world("eq-cg-determinant")
def _(rng):
    p = problem(rng, N=3)
    values, U = np.linalg.eigh(p.A)
    return bindings(p) | {
        r"\mathbf L": U * np.log(values) @ U.T,
        r"\mathbf g": Sample(rng.choice([-1.0, 1.0], (40_000, 3))),
    }


# Of relations in sentences, and of displays without a label ------------------


@world("inline: the height above the bottom")
def _(rng):
    """By the features: ‖Φᵀd‖² + λ‖d‖²."""
    p = problem(rng)
    a = rng.standard_normal(p.N)
    d = a - p.a

    def f(a):
        return a @ p.A @ a / 2 - p.t @ a

    return bindings(p) | {
        r"\mathbf a_s": a,
        r"\mathbf a^*": p.a,
        "f": f,
        "E_s": np.sqrt(d @ p.K @ d + p.lam * d @ d),
    }


@world("inline: the parabola along a direction")
def _(rng):
    """f from pairs of entries, as in the world of eq-cg-objective."""
    p = problem(rng)
    a, direction = rng.standard_normal((2, p.N))

    def f(a):
        pairs = [a[n] * a[m] * p.A[n, m] for n, m in np.ndindex(p.N, p.N)]
        return sum(pairs) / 2 - sum(p.t * a)

    return bindings(p) | {
        r"\mathbf a_s": a,
        r"\mathbf p_s": direction,
        r"\mathbf d": rng.standard_normal(p.N),
        r"\mathbf r_s": p.t - p.A @ a,
        r"\eta": rng.uniform(0.5, 2.0),
        "f": f,
    }


def through_glasses(rng):
    """Any P, and the vectors of the other variables by its eigenvectors."""
    p = problem(rng)
    B = rng.standard_normal((p.N, p.N))
    P = B @ B.T + np.eye(p.N)
    values, U = np.linalg.eigh(P)
    root = U @ np.diag(values**0.5) @ U.T
    anywhere, direction = rng.standard_normal((2, p.N))
    r = p.t - p.A @ anywhere
    bound = bindings(p) | {
        r"\mathbf P": P,
        r"\mathbf R": root,
        r"\mathbf r": r,
    }
    hats = {
        r"\hat{\mathbf A}": np.linalg.solve(
            root, np.linalg.solve(root, p.A).T
        ).T,
        r"\hat{\mathbf a}": root @ p.a,
        r"\hat{\mathbf p}": root @ direction,
    }
    hats[r"\hat{\mathbf r}"] = (
        np.linalg.solve(root, p.t) - hats[r"\hat{\mathbf A}"] @ root @ anywhere
    )
    hats[r"\hat{\mathbf d}"] = root @ (anywhere - p.a)
    more = {
        r"\mathbf p": direction,
        r"\mathbf z": np.linalg.solve(P, r),
        r"\mathbf d": anywhere - p.a,
        r"\mathbf a_s": anywhere,
        r"\mathbf a^*": p.a,
    }
    return bound | hats | more


@world("inline: the system through glasses")
def _(rng):
    return through_glasses(rng)


@world("inline: products through glasses")
def _(rng):
    return through_glasses(rng)


@world("inline: the guess of the landmarks")
def _(rng):
    """Rows of W in the place of those of C, each for N/M examples."""
    M, N, lam = 3, 7, rng.uniform(0.3, 2.0)
    W = kernels.Gaussian(0.7)(rng.standard_normal((M, 2)))
    P = sum(N / M * np.outer(c, c) for c in W) + lam * W
    return {
        "N": N,
        "M": M,
        r"\lambda": lam,
        r"\mathbf W": W,
        r"\mathbf U": np.linalg.cholesky(W).T,
        r"\mathbf P": P,
    }


def path(p):
    """Lowest points, residuals, directions and lengths of a run."""
    a = run(p, 4)
    r, moved = p.t - a @ p.A, np.diff(a, axis=0)
    scale = np.array([r[s] @ r[s] / (r[s] @ moved[s]) for s in range(4)])
    return a, r, scale[:, None] * moved, 1 / scale


def along(p, s, i):
    a, r, directions, lengths = path(p)
    rho = [
        (d_next - z) @ d / (d @ d)
        for d, d_next, z in zip(
            directions, directions[1:], r[1:], strict=False
        )
    ]
    return bindings(p) | {
        "s": s,
        "i": i,
        r"\mathbf a": p.a,
        r"\mathbf a_": From(0, a),
        r"\mathbf r_": From(0, r),
        r"\mathbf p_": From(0, directions),
        r"\eta_": From(0, lengths),
        r"\rho_": From(0, np.array(rho)),
    }


@world("inline: directions before")
def _(rng):
    return along(problem(rng), 2, range(2))


@world("inline: directions of any kind")
def _(rng):
    """What holds for p_i before it is known to be conjugate: for any."""
    p = problem(rng)
    bound = along(p, 2, 4)
    any_more = [*path(p)[2], rng.standard_normal(p.N)]
    return bound | {r"\mathbf p_": From(0, any_more)}


@world("inline: the error is a polynomial", tolerance=1e-7)
def _(rng):
    """Its coefficients from the shares of five eigenvectors."""
    p, s = problem(rng), 2
    a_s = run(p, s)[s]
    mu, U = np.linalg.eigh(p.K)
    share = (U.T @ (p.a - a_s)) / (U.T @ p.a)
    c = np.polynomial.Polynomial.fit(mu + p.lam, share, s).convert().coef
    return bindings(p) | {
        "s": s,
        "h": lambda A: sum(
            c_i * np.linalg.matrix_power(A, i) for i, c_i in enumerate(c)
        ),
        r"\mathbf a^*": p.a,
        r"\mathbf a_": {s: a_s},
        r"\mathbf r_": {s: p.t - p.A @ a_s},
    }


@world("inline: Chebyshev's polynomial")
def _(rng):
    """q is the smaller solution of a quadratic equation."""
    kappa = rng.uniform(2.0, 50.0)
    roots = np.sort(np.roots([1, -2 * (kappa + 1) / (kappa - 1), 1]))
    return {
        "s": 3,
        r"\kappa": kappa,
        "q": roots[0],
        r"\theta": rng.uniform(0.2, 1.2),
        "T_": lambda s: lambda x: eval_chebyt(s, x),
    }


@world("inline: the condition number")
def _(rng):
    p = problem(rng)
    mu = np.linalg.eigvalsh(p.K)
    return bindings(p) | {
        r"\kappa": np.linalg.cond(p.A),
        r"\mu_{\max}": mu[-1],
        r"\mu_{\min}": mu[0],
    }


@world("inline: directions through glasses", tolerance=1e-7)
def _(rng):
    """A run in the other variables, and its vectors by the root."""
    p = problem(rng)
    B = rng.standard_normal((p.N, p.N))
    P = B @ B.T + np.eye(p.N)
    values, U = np.linalg.eigh(P)
    root = U @ np.diag(values**0.5) @ U.T
    inverse = np.linalg.inv(root)
    hat = SimpleNamespace(N=p.N, A=inverse @ p.A @ inverse, t=inverse @ p.t)
    _, r, directions, _ = path(hat)
    rho = [r[s + 1] @ r[s + 1] / (r[s] @ r[s]) for s in range(3)]
    return {
        "s": 1,
        r"\mathbf p_": From(0, directions @ inverse),
        r"\mathbf z_": From(0, np.linalg.solve(P, root @ r.T).T),
        r"\rho_": From(0, np.array(rho)),
    }


@world("inline: what landmarks make")
def _(rng):
    """The library's map, approximation and ridge; the kernel's values."""
    p, M = problem(rng, N=6), 3
    landmarks = rng.standard_normal((M, 2))
    phi = nystrom.feature_map(p.k, landmarks)
    model = nystrom.fit(p.k, p.X, p.t, p.lam, landmarks)
    Q = nystrom.approximation(p.k, p.X, landmarks)
    divide = iterative.preconditioner(p.k, p.X, p.lam, landmarks)
    C = p.k(p.X, landmarks)
    return bindings(p) | {
        "M": M,
        "n": range(1, p.N + 1),
        r"\mathbf C": C,
        r"\mathbf c_": C,
        r"\mathbf W": p.k(landmarks),
        r"\mathbf U": phi.factor.U,
        r"\boldsymbol\Phi": phi(p.X),
        r"\mathbf Q": Q,
        r"\mathbf P": np.linalg.inv(divide(np.eye(p.N))),
        r"\mathbf b": phi.coefficients(model.w),
        r"\delta": np.linalg.eigvalsh(p.K - Q)[-1],
        r"\mathbf v": rng.standard_normal(p.N),
        "k": p.k,
        r"\mathbf X_M": landmarks,
        "@tolerance": 1e-7,
    }


@world("inline: landmarks that span all")
def _(rng):
    X, k = rng.standard_normal((6, 2)), kernels.Linear()
    Q = nystrom.approximation(k, X, rng.standard_normal((2, 2)))
    return {r"\mathbf Q": Q, r"\mathbf K": k(X)}


def features_of(X):
    """Of the polynomial kernel (1 + xᵀx')², written out."""
    x, z = np.asarray(X).T
    root = np.sqrt(2)
    six = [x**0, root * x, root * z, x * x, root * x * z, z * z]
    return np.array(six).T


@world("inline: the kernel's own features")
def _(rng):
    """The variance from the features, too: λψᵀ(ΨᵀΨ + λI)⁻¹ψ."""
    p = problem(rng)
    x, Psi = rng.standard_normal(2), features_of(p.X)
    B = Psi.T @ Psi + p.lam * np.eye(6)

    def variance(x):
        psi = features_of([x])[0]
        return p.lam * psi @ np.linalg.solve(B, psi)

    k_x = p.k(p.X, [x])[:, 0]
    inner = SimpleNamespace(N=p.N, A=p.A, t=k_x)
    return bindings(p) | {
        "s": 2,
        "k": p.k,
        r"\mathbf x": x,
        r"\mathbf k": lambda x: p.k(p.X, [x])[:, 0],
        r"\boldsymbol\Psi": Psi,
        r"\boldsymbol\psi": lambda x: features_of([x])[0],
        "v": variance,
        r"\mathbf b_": {2: run(inner, 2)[2]},
    }


@world("inline: a singular value")
def _(rng):
    lam, sigma = rng.uniform(0.3, 2.0, 2)
    return [
        {r"\lambda": lam, r"\sigma": sigma},
        {r"\lambda": lam, r"\sigma": np.sqrt(lam), "@tight": True},
    ]


@world("inline: outputs of a machine")
def _(rng):
    p = problem(rng)
    a = rng.standard_normal(p.N)
    slow = [sum(a[m] * p.K[n, m] for m in range(p.N)) for n in range(p.N)]
    return bindings(p) | {
        r"\mathbf a": a,
        r"\mathbf e": p.t - np.array(slow),
    }


@world("inline: two steps by hand")
def _(rng):
    A, t = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 0.0])
    a = run(SimpleNamespace(N=2, A=A, t=t), 2)
    r, moved = t - a @ A, np.diff(a, axis=0)
    scale = [r[s] @ r[s] / (r[s] @ moved[s]) for s in range(2)]
    directions = np.array(scale)[:, None] * moved
    rho = (directions[1] - r[1]) @ directions[0] / sum(directions[0] ** 2)
    return {
        r"\mathbf A": A,
        r"\mathbf a": np.linalg.solve(A, t),
        r"\mathbf a_": From(0, a),
        r"\mathbf r_": From(0, r),
        r"\mathbf p_": From(0, directions),
        r"\eta_": From(0, 1 / np.array(scale)),
        r"\rho_": From(0, np.array([rho])),
    }


@world("inline: Lanczos")
def _(rng):
    p = problem(rng)
    g = rng.choice([-1.0, 1.0], p.N)
    powers = [np.linalg.matrix_power(p.A, s) @ g for s in range(3)]
    V = np.linalg.qr(np.array(powers).T)[0]
    return bindings(p) | {
        "i": range(1, 6),
        r"\mathbf g": g,
        r"\mathbf T": V.T @ p.A @ V,
    }
