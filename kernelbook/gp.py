"""Gaussian-process regression: one Cholesky per fit, reused everywhere.

The equations are those of chapter 8, numbered as in the notes: (21) to (29).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dtrtri

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray
from kernelbook.kernels import Gaussian, Kernel

BLOCK = 128  # new inputs at a time: memory N × 128, not N × N*


@dataclass(frozen=True)
class ExponentialQuadratic(Kernel):
    """Exponential of a quadratic, plus constant, plus linear term (24).

    k(x, x') = θ₀ exp{-½ θ₁ ‖x - x'‖²} + θ₂ + θ₃ xᵀx'.

    Parameters
    ----------
    theta : (θ₀, θ₁, θ₂, θ₃), with θ₁ > 0 and the others >= 0

    Examples
    --------
    >>> k = ExponentialQuadratic(theta=(1.0, 4.0, 0.0, 5.0))
    >>> k([[1.0]], [[1.0], [2.0]]).round(3)
    array([[ 6.   , 10.135]])
    """

    theta: tuple[float, float, float, float]

    def __post_init__(self) -> None:
        theta = _checks.vector(self.theta, "theta", 4)
        for i, value in enumerate(theta):
            check = _checks.positive if i == 1 else _checks.non_negative
            check(float(value), f"theta[{i}]")
        object.__setattr__(self, "theta", tuple(theta.tolist()))

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        K = self.theta[0] * Gaussian(self.theta[1] / 2)._evaluate(X, Z)
        K += self.theta[2]
        if self.theta[3] > 0:
            K += self.theta[3] * (X @ Z.T)
        return K

    def _diagonal(self, X: FloatArray) -> FloatArray:
        variances: FloatArray = self.theta[3] * np.einsum("nd,nd->n", X, X)
        variances += self.theta[0] + self.theta[2]
        return variances


@dataclass(frozen=True, eq=False)
class GP:
    """A Gaussian process that has seen data; made by :func:`fit`.

    It keeps the kernel ``k``, the training inputs ``X`` (N, D) and targets
    ``t`` (N,), the noise precision ``beta``, the Cholesky ``factor`` of
    C_N = K + β⁻¹I with the jitter it needed, and the coefficients
    ``a`` = C_N⁻¹ t (N,) of the mean (29).
    """

    k: Kernel
    X: FloatArray = field(repr=False)
    t: FloatArray = field(repr=False)
    beta: float
    factor: _linalg.Factor = field(repr=False)
    a: FloatArray = field(repr=False)


class Prediction(NamedTuple):
    """Means and variances, one per new input.

    ``latent_variance`` is that of the function y(x), ``noisy_variance`` that
    of a new target t = y(x) + noise: larger by exactly 1/β.
    """

    mean: FloatArray
    latent_variance: FloatArray
    noisy_variance: FloatArray


def fit(k: Kernel, X: ArrayLike, t: ArrayLike, beta: float) -> GP:
    """Condition a zero-mean Gaussian process on noisy targets.

    C_N = K + β⁻¹I_N (23), factorised once; a = C_N⁻¹ t (29).

    Parameters
    ----------
    k : kernel
    X : (N, D) training inputs as rows
    t : (N,) targets
    beta : noise precision β > 0, one over the noise variance

    Returns
    -------
    gp : GP

    Raises
    ------
    ValueError
        If C_N is not positive definite, naming the kernel.

    Examples
    --------
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> gp.a.round(3)
    array([-0.134,  1.892])
    """
    if not isinstance(k, Kernel):
        raise ValueError(f"k must be a Kernel, got {type(k).__name__}")
    X = _checks.matrix(X, "X").copy()
    t = _checks.vector(t, "t", len(X)).copy()
    beta = _checks.positive(beta, "beta")
    C = _checks.matrix(k(X), f"k(X) of {k}")
    C.flat[:: len(C) + 1] += 1 / beta
    factor = _linalg.factor(C, f"K + I/β of {k}", overwrite=True)
    return GP(k, X, t, beta, factor, a=factor.solve(t))


def mean(gp: GP, Z: ArrayLike) -> FloatArray:
    """Predictive mean as a sum of kernels (29), N products per new input.

    m(x) = Σ_n a_n k(x_n, x).

    Parameters
    ----------
    gp : GP
    Z : (N*, D) new inputs

    Returns
    -------
    m : (N*,)

    Examples
    --------
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> mean(gp, [[0.5]]).round(3)
    array([1.551])
    """
    Z = _inputs(gp, Z)
    return np.concatenate(
        [gp.k(Z[rows], gp.X) @ gp.a for rows in _blocks(len(Z))]
    )


def predict(gp: GP, Z: ArrayLike) -> Prediction:
    """Predictive mean (27) and variance (28) at new inputs.

    m(x) = kᵀ C_N⁻¹ t,  σ²(x) = c - kᵀ C_N⁻¹ k,  c = k(x, x) + β⁻¹.

    The variance takes about N²/2 products per new input.

    Parameters
    ----------
    gp : GP
    Z : (N*, D) new inputs

    Returns
    -------
    prediction : Prediction, three (N*,) arrays

    Examples
    --------
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> m, latent, noisy = predict(gp, [[0.5]])
    >>> m.round(3), latent.round(3), noisy.round(3)
    (array([1.551]), array([0.087]), array([0.187]))
    """
    Z = _inputs(gp, Z)
    m, latent = np.empty(len(Z)), np.empty(len(Z))
    for rows in _blocks(len(Z)):
        k = gp.k(Z[rows], gp.X).T
        m[rows] = k.T @ gp.a
        v = gp.factor.whiten(k, overwrite=True)  # kᵀC⁻¹k = vᵀv
        latent[rows] = gp.k.diagonal(Z[rows]) - np.einsum("nm,nm->m", v, v)
    latent.clip(min=0, out=latent)  # rounding reaches -1e-14
    return Prediction(m, latent, latent + 1 / gp.beta)


def covariance(gp: GP, Z: ArrayLike) -> FloatArray:
    """Posterior covariance of the function between new inputs.

    cov[y(z), y(z')] = k(z, z') - k(z)ᵀ C_N⁻¹ k(z').

    Parameters
    ----------
    gp : GP
    Z : (N*, D) new inputs

    Returns
    -------
    cov : (N*, N*), latent; add 1/β to the diagonal for new targets

    Examples
    --------
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> covariance(gp, [[0.5], [3.0]]).round(3)
    array([[ 0.087, -0.032],
           [-0.032,  0.978]])
    """
    Z = _inputs(gp, Z)
    V = gp.factor.whiten(gp.k(Z, gp.X).T)
    cov: FloatArray = gp.k(Z) - V.T @ V
    return cov


def sample(
    gp: GP, Z: ArrayLike, size: int, rng: np.random.Generator
) -> FloatArray:
    """Functions drawn from the posterior, seen at new inputs.

    y = m + S z with S S the posterior covariance and z standard normal.

    Parameters
    ----------
    gp : GP
    Z : (N*, D) new inputs
    size : number of functions
    rng : NumPy generator

    Returns
    -------
    Y : (size, N*), one function per row, without noise

    Examples
    --------
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=1e8)
    >>> sample(gp, [[0.0], [1.0]], 2, np.random.default_rng(0)).round(2)
    array([[1., 2.],
           [1., 2.]])
    """
    Z = _inputs(gp, Z)
    size = _checks.count(size, "size")
    root = _linalg.symmetric_root(covariance(gp, Z))
    return mean(gp, Z) + rng.standard_normal((size, len(Z))) @ root


def log_marginal_likelihood(gp: GP) -> float:
    """Logarithm of the density (23) at the observed targets.

    ln p(t) = -½ tᵀC_N⁻¹t - ½ ln|C_N| - ½ N ln 2π.

    Parameters
    ----------
    gp : GP

    Examples
    --------
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> round(log_marginal_likelihood(gp), 3)
    -3.577
    """
    data_fit = gp.t @ gp.a
    return float(
        -data_fit / 2
        - gp.factor.log_determinant() / 2
        - len(gp.t) / 2 * np.log(2 * np.pi)
    )


def append(gp: GP, x: ArrayLike, t: float) -> GP:
    """The same process after one more example, in N² operations.

    U gets the column U⁻ᵀk and below it the root of σ²(x) (28); then
    a_new = {t - m(x)} / σ²(x), and the old a loses a_new C_N⁻¹k.

    Parameters
    ----------
    gp : GP
    x : (D,) the new input
    t : the new target

    Returns
    -------
    gp : GP, the one :func:`fit` would make from all N + 1 examples

    Examples
    --------
    >>> gp = fit(Gaussian(0.5), X=[[0.0]], t=[1.0], beta=10.0)
    >>> append(gp, [1.0], 2.0).a.round(3)
    array([-0.134,  1.892])
    """
    x = _checks.vector(x, "x", gp.X.shape[1])
    t = _checks.real(t, "t")
    k = gp.k(gp.X, x[None])[:, 0]
    c = float(gp.k.diagonal(x[None])[0]) + 1 / gp.beta
    X, targets = np.vstack([gp.X, x]), np.append(gp.t, t)
    try:
        factor = gp.factor.append(k, c)
    except LinAlgError:  # only fit can add jitter
        return fit(gp.k, X, targets, gp.beta)
    u, root = factor.U[:-1, -1], factor.U[-1, -1]
    a_new = (t - k @ gp.a) / root**2
    a = np.append(gp.a - a_new * gp.factor.backsolve(u), a_new)
    return GP(gp.k, X, targets, gp.beta, factor, a)


def loo(gp: GP) -> Prediction:
    """Leave-one-out predictions of every target, without a refit.

    m_n = t_n - a_n / [C_N⁻¹]_nn,  σ_n² = 1 / [C_N⁻¹]_nn.

    Parameters
    ----------
    gp : GP

    Returns
    -------
    prediction : Prediction, entry n made without example n

    Examples
    --------
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> loo(gp).mean.round(3)
    array([1.103, 0.551])
    """
    U_inverse = dtrtri(gp.factor.U)[0]
    C_inverse_diagonal = np.einsum("nm,nm->n", U_inverse, U_inverse)
    noisy = 1 / C_inverse_diagonal
    latent = (noisy - 1 / gp.beta).clip(min=0)
    return Prediction(gp.t - gp.a * noisy, latent, noisy)


def _inputs(gp: GP, Z: ArrayLike) -> FloatArray:
    Z = _checks.matrix(Z, "Z")
    _checks.same_columns(gp.X, Z)
    return Z


def _blocks(N: int) -> Iterator[slice]:
    for start in range(0, N, BLOCK):
        yield slice(start, start + BLOCK)
