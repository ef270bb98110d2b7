"""Kernels, features and what certifies them."""

import math

import numpy as np

from kernelbook import features, kernel_pca, kernels, validity

from .common import D, M, N, of, world


@world("validity.energy")
def _(p):
    return p.letters(v=p.a) | {"v^\\top K v": validity.energy(p.K, p.a)}


@world("features.bumps")
def _(p):
    c, x, width = p.w, p.b, p.lam
    value = features.bumps([x], c, width)[0]
    return {
        "c": c, "x": x, r"\mathrm{width}": width, "j": range(1, M + 1),
        r"\phi_": lambda j: of(value[j - 1]),
    }  # fmt: skip


@world("features.append_constant")
def _(p):
    x, z, c = p.X[0], p.X[1], p.lam
    u, v = features.append_constant([x, z], c)
    left = r"(x, \sqrt{c})^{\top}(z, \sqrt{c})"
    return {"x": x, "z": z, "c": c, left: u @ v}


@world("features.count_monomials")
def _(p):
    count = {"M": features.count_monomials(4, 3), "D": 4, "p": 3}
    return count | {"C": lambda n, k: math.comb(int(n), int(k))}


@world("kernel_pca.centre")
def _(p):
    H = np.eye(N) - 1 / N
    return p.letters(H=H) | {r"\tilde{K}": kernel_pca.centre(p.K)}


def kernel(name, k, **letters):
    @world(f"kernels.{name}")
    def _(p):
        x, z = p.X[:2]
        own = {"x": x, "x'": z, "D": D, "k": lambda x, z: k([x], [z])[0, 0]}
        return own | letters


kernel("Linear", kernels.Linear())
kernel(
    "Polynomial",
    kernels.Polynomial(3, 0.7),
    **{r"\mathrm{degree}": 3, "c": 0.7},
)
kernel("Gaussian", kernels.Gaussian(0.7), **{r"\gamma": 0.7})
kernel(
    "ARDGaussian",
    kernels.ARDGaussian([0.7, 0.3]),
    **{r"\gamma": np.array([0.7, 0.3])},
)
kernel(
    "ExponentialQuadratic",
    kernels.ExponentialQuadratic([1.3, 0.7, 0.4, 0.6]),
    **{rf"\theta_{i}": v for i, v in enumerate([1.3, 0.7, 0.4, 0.6])},
)
kernel(
    "RationalQuadratic",
    kernels.RationalQuadratic(alpha=1.7, length=0.6),
    **{r"\alpha": 1.7, r"\mathrm{length}": 0.6},
)
