"""Small problems that several chapters bind."""

from types import SimpleNamespace

import numpy as np

from kernelbook import features, kernels, ridge


def ridge_problem(rng, N=5, D=2):
    """Random inputs and targets, with features and, apart, their kernel.

    The features are the monomials of degree 2 in (x, 1), the kernel is
    (xᵀx' + 1)²: the same numbers by two roads.
    """
    lam = rng.uniform(0.3, 2.0)
    X = rng.standard_normal((N, D))
    t = rng.standard_normal(N)
    x, z = rng.standard_normal((2, D))

    def phi(x):
        return features.monomials(features.append_constant([x], 1.0), 2)[0]

    k = kernels.Polynomial(degree=2, c=1.0)
    Phi = features.monomials(features.append_constant(X, 1.0), 2)
    w = np.linalg.lstsq(
        np.vstack([Phi, np.sqrt(lam) * np.eye(Phi.shape[1])]),
        np.concatenate([t, np.zeros(Phi.shape[1])]),
        rcond=None,
    )[0]
    return SimpleNamespace(
        N=N,
        D=D,
        M=Phi.shape[1],
        X=X,
        t=t,
        x=x,
        z=z,
        lam=lam,
        phi=phi,
        Phi=Phi,
        k=k,
        K=k(X),
        w=w,
        a=ridge.fit_dual(k(X), t, lam),
    )


def bindings(p):
    """The symbols that mean the same wherever ridge regression is met."""
    return {
        "N": p.N,
        "M": p.M,
        "D": p.D,
        "n": range(1, p.N + 1),
        "m": range(1, p.N + 1),
        r"\lambda": p.lam,
        r"\mathbf x": p.x,
        r"\mathbf x'": p.z,
        r"\mathbf x_": p.X,
        r"\mathbf t": p.t,
        r"\boldsymbol\phi": p.phi,
        r"\boldsymbol\Phi": p.Phi,
        "k": p.k,
        r"\mathbf k": lambda x: p.k(p.X, [x])[:, 0],
        r"\mathbf K": p.K,
    }
