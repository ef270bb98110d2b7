"""Ridge regression, and what makes it large."""

import warnings
from dataclasses import replace

import numpy as np
from scipy import linalg
from typeset import Sample

from kernelbook import (
    distributed,
    fourier,
    iterative,
    kernels,
    nystrom,
    ridge,
)

from .common import D, M, N, of, world


@world("ridge.objective")
def _(p):
    return p.letters(J=of(ridge.objective(p.w, p.Phi, p.t, p.lam)))


@world("ridge.gradient")
def _(p):
    return p.letters() | {
        r"\nabla J(w)": ridge.gradient(p.w, p.Phi, p.t, p.lam)
    }


@world("ridge.fit_primal")
def _(p):
    return p.letters(w=ridge.fit_primal(p.Phi, p.t, p.lam))


@world("ridge.fit_with_intercept")
def _(p):
    w, b = ridge.fit_with_intercept(p.Phi, p.t, p.lam)
    mean = p.Phi.mean(axis=0)
    return p.letters(w=w, b=b) | {
        r"\bar{\phi}": mean, r"\bar{t}": p.t.mean(),
        r"\Phi_c": p.Phi - mean, "t_c": p.t - p.t.mean(),
    }  # fmt: skip


@world("ridge.minimum_norm_weights")
def _(p):
    return p.letters(w=ridge.minimum_norm_weights(p.Phi, p.t))


@world("ridge.leave_one_out")
def _(p):
    columns = [ridge.fit_primal(p.Phi, e, p.lam) for e in np.eye(N)]
    return p.letters(S=p.Phi @ np.transpose(columns))


@world("ridge.residual_coefficients")
def _(p):
    return p.letters(a=ridge.residual_coefficients(p.w, p.Phi, p.t, p.lam))


@world("ridge.weights_from_dual")
def _(p):
    return p.letters(w=ridge.weights_from_dual(p.a, p.Phi))


@world("ridge.dual_objective")
def _(p):
    value = ridge.dual_objective(p.a, p.Phi @ p.Phi.T, p.t, p.lam)
    known = p.letters(J=of(value), K=p.Phi @ p.Phi.T, w=p.Phi.T @ p.a)
    return known


@world("ridge.dual_gradient")
def _(p):
    return p.letters() | {
        r"\nabla J(a)": ridge.dual_gradient(p.a, p.K, p.t, p.lam)
    }


@world("ridge.fit_dual")
def _(p):
    return p.letters(a=ridge.fit_dual(p.K, p.t, p.lam))


@world("ridge.fit_dual_with_intercept")
def _(p):
    a, b = ridge.fit_dual_with_intercept(p.K, p.t, p.lam)
    return p.letters(a=a, b=b, H=np.eye(N) - 1 / N)


@world("ridge.predict")
def _(p):
    return p.numbered(y=of(ridge.predict(p.a, p.cross)[0]))


@world("ridge.target_weights")
def _(p):
    return p.numbered(s=of(ridge.target_weights(p.K, p.cross, p.lam)[:, 0]))


@world("ridge.lagrangian_dual")
def _(p):
    return p.letters(G=of(ridge.lagrangian_dual(p.a, p.K, p.t, p.lam)))


@world("nystrom.leverage_scores")
def _(p):
    return p.letters() | {r"\ell": nystrom.leverage_scores(p.K, p.lam)}


# predictions, and what they say of themselves


@world("ridge.fit_with_intercept", of=r"\frac{1}{2} \sum")
def _(p):
    w, b = ridge.fit_with_intercept(p.Phi, p.t, p.lam)
    wide = np.column_stack([p.Phi, np.ones(N)])
    prior = np.sqrt(p.lam) * np.eye(M, M + 1)
    *_, least = np.linalg.lstsq(
        np.vstack([wide, prior]), np.append(p.t, np.zeros(M)), rcond=None
    )[:2]
    return p.letters(w=w, b=b) | {"=": least[0] / 2}


@world("ridge.LinearFit")
def _(p):
    fit = ridge.fit_with_intercept(p.Phi, p.t, p.lam)
    y = dict(zip(map(tuple, p.Phi), p.Phi @ fit.w + fit.b, strict=True))
    known = p.letters(w=fit.w, b=fit.b, y=lambda x: y[tuple(x)])
    return known | {"x": p.Phi[p.n]}


@world("ridge.DualFit")
def _(p):
    fit = ridge.fit_dual_with_intercept(p.K, p.t, p.lam)
    y = ridge.predict(fit.a, p.cross)[0] + fit.b
    return p.numbered(a=fit.a, b=fit.b, y=of(y))


@world("ridge.KernelRidge", "iterative.IterativeRidge")
def _(p):
    model = ridge.fit(p.k, p.X, p.t, p.lam)
    return p.kernel(a=model.a, y=lambda x: model.predict([x])[0])


@world("ridge.fit", "svm.fit", "svr.fit", "kernel_logistic.fit", of="K =")
def _(p):
    return p.kernel(K=np.array([[p.k([x], [z])[0, 0] for z in p.X]
                                for x in p.X]))  # fmt: skip


@world("ridge.effective_parameters")
def _(p):
    columns = [ridge.fit_primal(p.Phi, e, p.lam) for e in np.eye(N)]
    w = ridge.fit_primal(p.Phi, p.t, p.lam)
    return p.letters(w=w, S=p.Phi @ np.transpose(columns)) | {
        r"\sigma_": np.linalg.svd(p.Phi)[1], "i": range(1, M + 1),
        "=": ridge.effective_parameters(p.Phi, p.lam),
    }  # fmt: skip


@world("ridge.leave_one_out")
def _(p):
    columns = [ridge.fit_primal(p.Phi, e, p.lam) for e in np.eye(N)]
    w = ridge.fit_primal(p.Phi, p.t, p.lam)
    without = p.t - ridge.leave_one_out(p.Phi, p.t, p.lam)
    return p.letters(S=p.Phi @ np.transpose(columns), y=lambda x: w @ x) | {
        "y_": lambda n: of(without[-n - 1])
    }


@world("ridge.bias_variance")
def _(p):
    columns = [ridge.fit_primal(p.Phi, e, p.lam) for e in np.eye(N)]
    w, x, noise = ridge.fit_primal(p.Phi, p.t, p.lam), p.w, p.b
    found = ridge.bias_variance(p.Phi, p.a, noise, p.lam, [x], [p.C])
    known = p.letters(s=lambda x: np.array(columns) @ x, y=lambda x: w @ x)
    return known | {
        "x": x, r"\mathrm{noise}": noise, "h": p.a, "h(x)": p.C,
        "b": of(found.bias[0]), "v": of(found.variance[0]),
    }  # fmt: skip


@world("ridge.target_weights", of="y(x)")
def _(p):
    s = ridge.target_weights(p.K, p.cross, p.lam)[:, 0]
    y = ridge.predict(ridge.fit_dual(p.K, p.t, p.lam), p.cross)[0]
    return p.numbered(y=of(y), s=of(s))


# landmarks


def landmarks(p):
    k, Z, X_ = p.k, p.landmarks, p.X

    def of_inputs(*inputs):
        X, Z = (np.atleast_2d(x) for x in (*inputs, *inputs)[:2])
        values = k(X, Z)
        column = np.ndim(inputs[-1]) == 1
        return values[:, 0] if column else values

    features = nystrom.feature_map(k, Z)
    W = np.array([[k([x], [z])[0, 0] for z in Z] for x in Z])
    return features, p.kernel(k=of_inputs) | {
        "X_M": Z, "W": W, "U": features.factor.U, r"\mathbf I": np.eye(M),
        r"\phi": lambda x: features([x])[0], r"\Phi": features(X_),
        "C": np.array([[k([x], [z])[0, 0] for z in Z] for x in X_]),
        "m": range(1, M + 1), "Q": nystrom.approximation(k, X_, Z),
        r"\phi_": features(X_),
    }  # fmt: skip


@world("nystrom.NystromMap", "nystrom.feature_map", "nystrom.approximation",
       "nystrom.NystromMap.columns")  # fmt: skip
def _(p):
    return landmarks(p)[1]


@world("nystrom", "inducing")
def _(p):
    return landmarks(p)[1] | {"@tolerance": 1e-8}


@world(
    "nystrom.NystromRidge", "nystrom.fit", "nystrom.NystromMap.coefficients"
)
def _(p):
    _, known = landmarks(p)
    model = nystrom.fit(p.k, p.X, p.t, p.lam, p.landmarks)
    return known | {
        "w": model.w, "a": model.features.coefficients(model.w),
        "x_": p.landmarks, "y": lambda x: model.predict([x])[0],
    }  # fmt: skip


@world("nystrom.fit_blocks", "distributed.partial_sums", of="_{b}")
def _(p):
    features, known = landmarks(p)
    rows = [p.X[:2], p.X[2:]], [p.t[:2], p.t[2:]]
    parts = [features(X) for X in rows[0]]
    sums = [
        distributed.partial_sums(*b) for b in zip(parts, rows[1], strict=True)
    ]
    return known | {
        "b": range(1, 3), r"\Phi_": parts, "t_": rows[1],
        "A_": [s.A for s in sums], "r_": [s.r for s in sums],
    }  # fmt: skip


@world("distributed.PartialSums")
def _(p):
    sums = distributed.partial_sums(p.Phi, p.t)
    return p.letters(A=sums.A, r=sums.r) | {r"\mathrm{tt}": sums.tt}


def summed(part):
    """One of the sums over rows, for a text that only names it."""

    def build(p):
        sums = distributed.partial_sums(p.Phi, p.t)
        return p.letters() | {"=": getattr(sums, part)}

    return build


for _part, _text in {"A": r"\Phi^{\top}\Phi", "r": r"\Phi^{\top}t"}.items():
    world("distributed", "inducing", of=_text)(summed(_part))
world("inducing", of="t^{\\top}t")(summed("tt"))


@world("distributed.ridge")
def _(p):
    features, known = landmarks(p)
    rows = list(zip([p.X[:2], p.X[2:]], [p.t[:2], p.t[2:]], strict=True))
    return known | {
        "w": distributed.ridge(features, rows, p.lam).w, "b": range(1, 3),
        r"\Phi_": [features(X) for X, _ in rows], "t_": [t for _, t in rows],
    }  # fmt: skip


@world("distributed.DistributedRidge")
def _(p):
    model = distributed.ridge(
        nystrom.feature_map(p.k, p.landmarks), [(p.X, p.t)], p.lam
    )
    return linear_in_features(p, model)


def linear_in_features(p, model):
    return p.letters(w=model.w, y=lambda x: model.predict([x])[0]) | {
        r"\phi": lambda x: model.features([x])[0], "x": p.x,
        r"\Phi": model.features(p.X), "M": len(model.w),
    }  # fmt: skip


@world("nystrom.approximate_leverage_scores")
def _(p):
    _features, known = landmarks(p)
    scores = nystrom.approximate_leverage_scores(
        p.k, p.X, 2 + p.lam, p.landmarks
    )
    return known | {r"\ell": scores, r"\lambda": 2 + p.lam}


def pivots(p, steps):
    found = nystrom.pivoted_cholesky(p.k, p.X, steps)
    return found, p.kernel(L=found.L, m=range(1, steps + 1))


@world("nystrom.PivotedCholesky", "nystrom.pivoted_cholesky")
def _(p):
    found, known = pivots(p, M)
    after, _ = pivots(p, M + 1)
    best = p.X[found.numbers]
    left = np.diag(p.k(p.X) - nystrom.approximation(p.k, p.X, best))
    left = np.where(left > 1e-12, left, 0)
    return known | {
        "C": p.k(p.X, best), "W": p.k(best), "d": left,
        "p": int(after.numbers[M]) + 1, "l": after.L[:, M],
    }  # fmt: skip


@world("nystrom.PivotedCholesky", of="tr")
def _(p):
    found, known = pivots(p, M)
    return known | {"=": found.missed[-1]}


@world("nystrom.pivoted_cholesky", of=r"\le")
def _(p):
    return pivots(p, N - 1)[1] | {"@tight": True}


# random features


@world("fourier.FourierRidge", "fourier.fit")
def _(p):
    return linear_in_features(
        p, fourier.fit(p.k, p.X, p.t, p.lam, 4, rng=1, dtype=float)
    )


@world("fourier.feature_map")
def _(p):
    features = fourier.feature_map(p.k, D, 4, rng=p.n)
    return p.kernel() | {
        r"\omega_": features.Omega, "j": range(1, 3), "M": 4,
        r"\phi": lambda x: features([x])[0],
    }  # fmt: skip


@world("fourier.feature_map", of=r"\{1 +")
def _(p):
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    width = np.sqrt(2 * p.k.gamma) * np.linalg.norm(p.x - p.z)
    weights, waves = weights / weights.sum(), np.cos(width * nodes)
    scatter = weights @ waves**2 - (weights @ waves) ** 2
    return p.kernel(k=lambda d: p.k([d], [0 * d])[0, 0]) | {
        "M": 4,
        "=": scatter * 2 / 4,
    }


@world("fourier")
def _(p):
    omega = fourier.frequencies(p.k, D, 20_000, rng=p.n)
    return p.kernel(k=lambda d: p.k([d], [0 * d])[0, 0]) | {
        r"\omega": Sample(omega)
    }


@world("fourier.frequencies")
def _(p):
    z, k = p.rng.integers(1000), kernels
    draws = {
        g: fourier.frequencies(k.Gaussian(g), D, 1, rng=int(z))[0]
        for g in (0.5, p.lam)
    }
    k.ARDGaussian([p.lam, p.b])
    return {
        r"\gamma": p.lam, "z": draws[0.5], r"\omega": draws[p.lam],
    }  # fmt: skip


@world("fourier.frequencies", of="d")
def _(p):
    seed, gamma = int(p.rng.integers(1000)), [p.lam, p.b]
    ard = kernels.ARDGaussian
    return {
        r"\gamma_": gamma, "d": range(1, D + 1),
        "z_": fourier.frequencies(ard([0.5, 0.5]), D, 1, rng=seed)[0],
        r"\omega_": fourier.frequencies(ard(gamma), D, 1, rng=seed)[0],
    }  # fmt: skip


def drawn(p, k, draw):
    """A frequency of k, the normal numbers in it, and what divides them."""
    seed = int(p.rng.integers(1000))
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(D)
    omega = fourier.frequencies(k, D, 1, rng=seed)[0]
    return {"z": z, "l": p.b, r"\omega": omega} | draw(rng)


@world("fourier.frequencies", of="u")
def _(p):
    k = kernels.Matern(nu=1.5, length=p.b)
    return drawn(p, k, lambda rng: {"u": rng.chisquare(3.0), r"\nu": 1.5})


@world("fourier.frequencies", of=r"\tau")
def _(p):
    k = kernels.RationalQuadratic(alpha=p.lam, length=p.b)
    draw = lambda rng: {r"\tau": rng.gamma(p.lam, 1 / p.lam)}  # noqa: E731
    return drawn(p, k, draw)


# iterations


def unfinished(solve, *args, steps, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return solve(*args, max_iterations=steps, **options)


def steps(p):
    """Two steps of conjugate gradients, by what they have found."""
    A, b = p.K + np.eye(N), p.t
    P = np.diag(p.rng.uniform(1, 3, N))

    def over(r):
        return np.linalg.solve(P, r)

    x = [np.zeros(N)] + [
        unfinished(iterative.conjugate_gradients, A, b, over, steps=n).x
        for n in (1, 2)
    ]
    r = [b - A @ x_n for x_n in x]
    z = [over(r_n) for r_n in r]
    d = x[2] - x[1]
    return A, P, b, x, r, z, d * (r[1] @ z[1]) / (d @ A @ d)


@world("iterative.Solution")
@world("iterative.conjugate_gradients", of="A x = b")
def _(p):
    A, b = p.K + np.eye(N), p.t
    x = iterative.conjugate_gradients(A, b, tolerance=1e-12).x
    return {"A": A, "b": b, "x": x, "@tolerance": 1e-8}


@world("iterative.conjugate_gradients")
def _(p):
    A, P, b, x, r, z, _ = steps(p)
    return {"A": A, "P": P, "b": b, "x": x[1], "r": r[1], "z": z[1]}


@world("iterative.conjugate_gradients", of="p = z")
@world("iterative.conjugate_gradients", of="s = ")
@world("iterative.conjugate_gradients", of=r"\alpha =")
def _(p):
    A, P, b, x, r, z, _ = steps(p)
    first = x[1] * np.linalg.norm(z[0]) / np.linalg.norm(x[1])
    return {
        "A": A, "p": first, "r": r[0], "z": z[0],
        "s": b @ np.linalg.solve(P, b),
        r"\alpha": np.linalg.norm(x[1]) / np.linalg.norm(z[0]),
    }  # fmt: skip


def following(new):
    """What holds before the second step, and what an arrow leads to."""

    def build(p):
        A, P, _, x, r, z, direction = steps(p)
        d = x[2] - x[1]
        return {
            "A": A, "P": P, "x": x[1], "r": r[1], "z": z[1], "p": direction,
            r"\alpha": (d @ d) / (d @ direction),
        } | new(x, r, z, direction)  # fmt: skip

    return build


world("iterative.conjugate_gradients", of=r"x \leftarrow")(
    following(lambda x, r, z, p: {r"\leftarrow": x[2]})
)
world("iterative.conjugate_gradients", of=r"r \leftarrow")(
    following(lambda x, r, z, p: {r"\leftarrow": r[2]})
)
world("iterative.conjugate_gradients", of=r"z \leftarrow")(
    following(lambda x, r, z, p: {r"\leftarrow": z[2], "r": r[2]})
)
world("iterative.conjugate_gradients", of=r"p \leftarrow")(
    following(lambda x, r, z, p: {
        r"\leftarrow": p, "s": r[0] @ z[0], "p": x[1] / np.linalg.norm(x[1])
        * np.linalg.norm(z[0]),
    })
)  # fmt: skip


@world("iterative.RegularisedGram")
def _(p):
    tiles, V = [p.X[:2], p.X[2:]], p.rng.standard_normal((N, 2))
    return {
        "K": p.k(p.X), r"\lambda": p.lam, r"\mathbf I": np.eye(N), "V": V,
        "B": iterative.RegularisedGram(p.k, p.X, p.lam) @ V,
        "K_": lambda i, j: p.k(tiles[int(i) - 1], tiles[int(j) - 1]),
        "i": range(1, 3), "j": range(1, 3),
    }  # fmt: skip


@world("iterative.Preconditioner", "iterative.preconditioner",
       "iterative.Preconditioner.__call__",
       "iterative.Preconditioner.log_determinant")  # fmt: skip
def _(p):
    features, known = landmarks(p)
    R = p.rng.standard_normal((N, 2))
    found = iterative.preconditioner(p.k, p.X, p.lam, p.landmarks)
    P = np.linalg.inv(found(np.eye(N)))
    return known | {
        "P": P, "P^{-1}R": found(R), "R": R, r"\mathbf I": np.eye(N),
        r"\mathrm{lndet}(P)": found.log_determinant(),
        r"\Phi^{\top}\Phi + \lambda \mathbf I":
            features(p.X).T @ features(p.X) + p.lam * np.eye(M),
    }  # fmt: skip


@world("iterative.Preconditioner", of=r"\Phi^{\top}\Phi")
def _(p):
    _, known = landmarks(p)
    found = iterative.preconditioner(p.k, p.X, p.lam, p.landmarks)
    U = np.triu(found.factor.U)
    return known | {"=": U.T @ U}


@world("iterative.preconditioner", of="P^{-1}")
def _(p):
    _, known = landmarks(p)
    found = iterative.preconditioner(p.k, p.X, p.lam, p.landmarks)
    return known | {
        "=": found(p.k(p.X) + p.lam * np.eye(N)), r"\mathbf I": np.eye(N),
        "P": np.linalg.inv(found(np.eye(N))),
    }  # fmt: skip


def on_the_way(p):
    """A fit that has ended early, and the exact one."""
    k, exact = p.k, ridge.fit(p.k, p.X, p.t, p.lam)
    model = unfinished(iterative.fit, k, p.X, p.t, p.lam, steps=1)
    A = iterative.RegularisedGram(k, p.X, p.lam)
    return p.kernel() | {
        "y": lambda x: model.predict([x])[0], "a": model.a,
        "y_{exact}": lambda x: exact.predict([x])[0], "r": p.t - A @ model.a,
        "k(x)": k(p.X, [p.x])[:, 0],
        "=": exact.predict([p.x])[0] - model.predict([p.x])[0],
    }  # fmt: skip


@world("iterative")
@world("iterative.fit", of=")a = t")
def _(p):
    model = iterative.fit(p.k, p.X, p.t, p.lam, tolerance=1e-12)
    return p.kernel(a=model.a) | {"@tolerance": 1e-8}


@world("iterative.fit", of="r =")
@world("iterative.fit", of="{-1}r")
def _(p):
    return on_the_way(p)


@world("iterative.fit", of=r"\mathrm{abs}")
def _(p):
    """Of one input, where k(x, x) = λ, the error is as large as it can be."""
    tight = kernels.Gaussian(1.0) * p.lam
    a = np.array([p.b])
    r = p.C
    exact = a + r / (2 * p.lam)
    one = {
        "k": lambda x, z: tight([[x]], [[z]])[0, 0], "x": 0.0, "r": r,
        r"\lambda": p.lam, "y": of(p.lam * a[0]),
        "y_{exact}": of(p.lam * exact[0]),
    }  # fmt: skip
    return [on_the_way(p), one | {"@tight": True}]


@world("iterative.fit", of=r"\sqrt{\kappa}")
def _(p):
    equal = {r"\kappa": p.lam, r"\lambda": p.lam, "@tight": True}
    return [{r"\kappa": p.b, r"\lambda": p.lam}, equal]


@world("iterative.log_determinant")
def _(p):
    signs = np.where(p.rng.random((20_000, N)) < 0.5, -1.0, 1.0)
    A = p.k(p.X) + p.lam * np.eye(N)
    return {"A": A, r"\ln": linalg.logm, "z": Sample(signs)}


@world("iterative.log_determinant", of=r"\approx")
def _(p):
    A = p.k(p.X) + p.lam * np.eye(N)
    z = np.where(p.rng.random(N) < 0.5, -1.0, 1.0)
    Q = np.linalg.qr(np.column_stack(
        [np.linalg.matrix_power(A, i) @ z for i in range(N)]))[0]  # fmt: skip
    theta, U = np.linalg.eigh(Q.T @ A @ Q)

    def ln(value):
        return linalg.logm(value) if np.ndim(value) else np.log(value)

    return {
        "A": A, "z": z, "N": N, "u_": U.T, r"\theta_": theta, r"\ln": ln,
        "i": range(1, N + 1), "@tolerance": 1e-7,
    }  # fmt: skip


@world("fourier", of=r"\phi_{j}")
def _(p):
    features = fourier.feature_map(p.k, D, 6, rng=p.n, dtype=float)
    return {
        "x": p.x, "M": 6, "j": range(1, 4), r"\omega_": features.Omega,
        r"\phi_": lambda j: lambda x: features([x])[0][j - 1],
    }  # fmt: skip


@world("fourier", of=r"\phi")
def _(p):
    half = 20_000
    many = fourier.feature_map(p.k, D, 2 * half, rng=p.n, dtype=float)

    def phi(x):  # each frequency as a map of its own
        waves = np.sqrt(half) * many([x])[0]
        return Sample(waves.reshape(2, -1).T)

    return p.kernel() | {r"\phi": phi}


@world("fourier.FourierMap.columns")
def _(p):
    features = fourier.feature_map(p.lam * p.k, D, 6, rng=p.n, dtype=float)
    top = features.columns(np.zeros((1, D)))[0, 0]
    return {"M": 6, r"\mathrm{height}": p.lam, "=": top}


@world("iterative.LogDeterminant")
@world("iterative.log_determinant", of="K")
def _(p):
    """Of orthogonal inputs, where probes of signs make no error."""
    X, k = np.diag(p.rng.uniform(1, 2, N)), kernels.Linear()
    found = iterative.log_determinant(k, X, p.lam, rng=p.n)
    return p.letters(K=k(X)) | {"=": found.value}


@world("iterative.Solution.residual")
def _(p):
    A, b = p.K + np.eye(N), p.t
    found = unfinished(iterative.conjugate_gradients, A, b, steps=1)
    return {"A": A, "b": b, "x": found.x, "=": found.residual}


@world("iterative.IterativeRidge.residual")
def _(p):
    model = unfinished(iterative.fit, p.k, p.X, p.t, p.lam, steps=1)
    return p.kernel(a=model.a) | {"=": model.residual}


@world("nystrom.NystromMap.summed")
def _(p):
    features, known = landmarks(p)
    row_by_row = replace(features, at_the_end=False)
    return known | {"=": row_by_row.summed(p.X)}
