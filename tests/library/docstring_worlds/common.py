"""What the worlds of docstrings share: the register, and small problems.

A world binds the letters of a docstring: arguments drawn at random, and on
the left side what the function returns.  A docstring may have several, which
are tried in the order of the file; ``of`` keeps one to the statements with
that text, for a letter that means two things or a formula without a left
side, whose value is bound as ``"="``.
"""

import numpy as np
from scipy import special
from typeset import Notation

from kernelbook import kernels

N, M, D = 5, 3, 2
WORLDS = {}  # by docstring: pairs of a text and a function of a Problem
BOOK = Notation(
    meanings={
        r"\mathrm{lndet}": lambda A: np.linalg.slogdet(A)[1],
        r"\mathrm{mean}": np.mean,
        r"\mathrm{abs}": np.abs,
        r"\mathrm{sqrt}": np.sqrt,
        r"\mathrm{size}": len,
        r"\mathrm{erf}": special.erf,
    }
)


def world(*names, of=""):
    """Register a world of docstrings, or of some of their statements."""

    def register(build):
        for name in names:
            WORLDS.setdefault(name, []).append((of, build))
        return build

    return register


class Problem:
    """Inputs, features, targets and what belongs to them, at random."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        self.Phi, self.X = rng.standard_normal((N, M)), rng.normal(size=(N, D))
        self.t, self.a = rng.standard_normal((2, N))
        self.labels = rng.permutation([1.0, 1.0, -1.0, -1.0, 1.0])
        self.classes = rng.permutation([0, 1, 2, 1, 0, 2, 1, 0, 2, 1])
        self.many = rng.standard_normal((10, D))  # their inputs
        self.w = rng.standard_normal(M)
        self.lam, self.b, self.C = rng.uniform(0.4, 2.0, 3)
        root = rng.standard_normal((N, N + 2))
        self.K, self.cross = root @ root.T, rng.standard_normal((N, 1))
        self.x, self.z = rng.standard_normal((2, D))
        self.landmarks = self.X[:M] + 0.3 * rng.standard_normal((M, D))
        self.k = kernels.Gaussian(gamma=0.7)
        self.n = seed % N  # an example, counted from 0

    def letters(self, **more):
        """What most docstrings mean by their letters."""
        named = {
            "N": N, "M": M, "D": D,
            "n": range(1, N + 1), "m": range(1, N + 1), "d": range(1, D + 1),
            r"\lambda": self.lam, r"\Phi": self.Phi, "x_": self.Phi,
            r"\phi": lambda x: x, "t": self.t, "w": self.w, "a": self.a,
            "K": self.K, "b": self.b, "C": self.C, r"\sigma": special.expit,
            "X": self.X, r"\mathbf I": np.eye(N), r"\mathbf I_": np.eye,
        }  # fmt: skip
        return named | more

    def numbered(self, **more):
        """Inputs are their own numbers, x is new: k looks them up."""

        def k(x, z):
            column = self.cross[:, 0] if z == 0 else self.K[:, int(z) - 1]
            return column[int(x) - 1]

        x = {n: float(n) for n in range(1, N + 1)}
        own = {"x_": x, "x": 0.0, "k": k, "k(x)": self.cross[:, 0]}
        return self.letters() | own | more

    def kernel(self, **more):
        """Inputs X, a new one x, and k of one input or of all of them."""
        k = self.k

        def of_inputs(*inputs):
            X, Z = (np.atleast_2d(x) for x in (*inputs, *inputs)[:2])
            if len(inputs) == 1:
                return k(X) if np.ndim(inputs[0]) > 1 else k(self.X, X)[:, 0]
            return np.squeeze(k(X, Z))

        own = {"x_": self.X, "x": self.x, "x'": self.z, "z": self.z,
               "z'": self.x, "k": of_inputs, "K": k(self.X)}  # fmt: skip
        return self.letters() | own | more

    def affine(self, **more):
        """Weights with the bias first, of inputs X."""
        weights = self.rng.standard_normal(D + 1)
        own = {"x_": self.X, "w": weights[1:], "b": weights[0]}
        return weights, self.letters() | own | {"t": self.labels} | more


def of(value):
    return lambda *arguments: value


def slope(f, x, step=1e-4):
    """The gradient of a function of a vector, by differences."""
    x = np.asarray(x, float)
    e = step * np.eye(len(x))
    return np.array(
        [
            (8 * (f(x + h) - f(x - h)) - f(x + 2 * h) + f(x - 2 * h))
            / (12 * step)
            for h in e
        ]
    )
