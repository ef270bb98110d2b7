"""Gaussian-process regression: one Cholesky per fit, reused everywhere.

The equations are those of chapter 9, numbered as in the notes: (21) to (29),
for a prior mean of zero; :func:`fit` takes others.  Inputs are whatever the
kernel takes: rows of a matrix, or sets, strings, graphs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dtrtri
from scipy.sparse import issparse
from scipy.sparse import vstack as sparse_vstack

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray
from kernelbook._expansion import gram, own_inputs
from kernelbook._gram import number_of
from kernelbook._trend import Weights
from kernelbook.features import with_bias
from kernelbook.kernels import Kernel

BLOCK = 128  # new inputs at a time: memory N × 128, not N × N*


@dataclass(frozen=True)
class Trend:
    """A mean φ(x)ᵀw with unknown weights, which are integrated out.

    The prior on w is flat.  ``phi`` maps inputs to (N, M) features that are
    linearly independent on the training inputs; left out, they are (1, x): a
    straight line, a plane.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0], [2.0]], [5.0, 7.0, 9.0]
    >>> gp = fit(Gaussian(0.5), X, t, beta=10.0, mean=Trend())
    >>> mean(gp, [[100.0]]).round(3)
    array([205.])
    """

    phi: Callable[[Any], ArrayLike] = with_bias

    def features(self, X: Any) -> FloatArray:
        """The features of some inputs, (N, M)."""
        H = _checks.matrix(self.phi(X), "phi(X) of the trend")
        return _checks.cross_gram(H, number_of(X), "phi(X) of the trend")


Mean = float | Callable[[Any], ArrayLike] | Trend


@dataclass(frozen=True, eq=False)
class GP:
    """A Gaussian process that has seen data; made by :func:`fit`.

    It keeps the kernel ``k``, the training inputs ``X`` (N, D) and targets
    ``t`` (N,), the noise precision ``beta``, the Cholesky ``factor`` of
    C_N = K + β⁻¹I with the jitter it needed, the coefficients a = C_N⁻¹ t,
    (N,), of the mean (29), and the prior ``mean``, with the ``weights`` of its
    trend if it has one.  Q outputs have t and a of shape (N, Q).
    """

    k: Kernel
    X: Any = field(repr=False)
    t: FloatArray = field(repr=False)
    beta: Any
    factor: _linalg.Factor = field(repr=False)
    a: FloatArray = field(repr=False)
    mean: Mean = 0.0
    weights: Weights | None = field(default=None, repr=False)

    def prior_mean(self, Z: Any) -> Any:
        """The prior mean at new inputs, with the weights of its trend."""
        if isinstance(self.mean, Trend) and self.weights is not None:
            return self.mean.features(Z) @ self.weights.w
        return _known_mean(self.mean, Z, self.t.ndim)


class Prediction(NamedTuple):
    """Means and variances, one per new input.

    ``latent_variance`` is that of the function y(x), v, and
    ``noisy_variance`` that of a new target, s = v + 1/β.
    """

    mean: FloatArray
    latent_variance: FloatArray
    noisy_variance: FloatArray


def fit(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    beta: Any,
    mean: Mean = 0.0,
    *,
    report_jitter: bool = True,
) -> GP:
    """Condition a Gaussian process on noisy targets.

    C_N = K + β⁻¹I_N (23), factorised once; a = C_N⁻¹ t (29).

    Parameters
    ----------
    k : kernel
    X : (N, D) training inputs as rows, or N objects if the kernel takes such
    t : (N,) targets, or (N, Q) targets of Q independent outputs
    beta : noise precision β > 0, one over the noise variance; or (N,) of
        them, one per target
    mean : prior mean, a number, a function of the inputs, or a Trend; it is
        taken away from the targets
    report_jitter : whether a JitterWarning says that C_N needed jitter

    Returns
    -------
    gp : GP

    Raises
    ------
    ValueError
        If C_N is not positive definite, naming the kernel.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> gp.a.round(3)
    array([-0.134,  1.892])
    """
    X, t, beta = _problem(k, X, t, beta)
    C = gram(k, X)
    C.flat[:: len(C) + 1] += 1 / beta
    factor = _linalg.factor(
        C, f"K + I/β of {k}", overwrite=True, report=report_jitter
    )
    return _conditioned(k, X, t, beta, mean, factor)


def mean(gp: GP, Z: Any) -> FloatArray:
    """Predictive mean as a sum of kernels (29), N products per new input.

    m(x) = Σ_n a_n k(x_n, x), plus the prior mean.

    Parameters
    ----------
    gp : GP
    Z : (N*, D) new inputs

    Returns
    -------
    m : (N*,), or (N*, Q)

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> mean(gp, [[0.5]]).round(3)
    array([1.551])
    """
    Z = _inputs(gp, Z)
    blocks = _blocks(number_of(Z))
    m = np.concatenate([gp.k(Z[rows], gp.X) @ gp.a for rows in blocks])
    m += gp.prior_mean(Z)
    return m


def predict(gp: GP, Z: Any, beta: Any = None) -> Prediction:
    """Predictive mean (27) and variance (28) at new inputs.

    m(x) = kᵀ C_N⁻¹ t,  σ²(x) = c - kᵀ C_N⁻¹ k,  c = k(x, x) + β⁻¹.

    The variance takes about N²/2 products per new input.

    Parameters
    ----------
    gp : GP
    Z : (N*, D) new inputs
    beta : noise precision of the new targets, one or (N*,); that of the old
        ones if left out, and ``np.inf`` for none

    Returns
    -------
    prediction : Prediction, three (N*,) arrays; the mean of Q outputs is
        (N*, Q), and their variance the same

    Raises
    ------
    ValueError
        If beta is left out and was given for each old target.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> m, latent, noisy = predict(gp, [[0.5]])
    >>> m.round(3), latent.round(3), noisy.round(3)
    (array([1.551]), array([0.087]), array([0.187]))
    """
    Z = _inputs(gp, Z)
    noise = _noise_variance(gp, beta, number_of(Z))
    m, latent = posterior(gp, gp.k, Z, with_mean=True)
    return Prediction(m, latent, latent + noise)


def posterior(
    gp: GP, k: Kernel, Z: Any, with_mean: bool
) -> tuple[FloatArray, FloatArray]:
    """Mean and latent variance of the part of the process that k describes.

    With k the kernel of the process and its mean this is all of it; with one
    term of a sum, and no mean, that term.  Z has been checked.
    """
    N = number_of(Z)
    m, latent = np.empty((N, *gp.a.shape[1:])), np.empty(N)
    H = _trend_features(gp, Z, with_mean)
    for rows in _blocks(N):
        k_rows = k(Z[rows], gp.X).T
        m[rows] = k_rows.T @ gp.a
        v = gp.factor.whiten(k_rows, overwrite=True)  # kᵀC⁻¹k = vᵀv
        latent[rows] = k.diagonal(Z[rows]) - np.einsum("nm,nm->m", v, v)
        if gp.weights is not None:
            r = gp.weights.spread(H[rows], v)
            latent[rows] += np.einsum("nm,nm->m", r, r)
    latent.clip(min=0, out=latent)  # rounding reaches -1e-14
    if with_mean:
        m += gp.prior_mean(Z)
    return m, latent


def covariance(gp: GP, Z: Any) -> FloatArray:
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
    >>> from kernelbook.kernels import Gaussian
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> covariance(gp, [[0.5], [3.0]]).round(3)
    array([[ 0.087, -0.032],
           [-0.032,  0.978]])
    """
    Z = _inputs(gp, Z)
    V = gp.factor.whiten(gp.k(Z, gp.X).T)
    cov: FloatArray = gp.k(Z) - V.T @ V
    if gp.weights is not None:
        R = gp.weights.spread(_trend_features(gp, Z, True), V)
        cov += R.T @ R
    return cov


def sample(
    gp: GP, Z: Any, size: int, rng: int | np.random.Generator
) -> FloatArray:
    """Functions drawn from the posterior, seen at new inputs.

    y = m + S z with S² the posterior covariance and z standard normal.

    Parameters
    ----------
    gp : GP
    Z : (N*, D) new inputs
    size : number of functions
    rng : seed or NumPy generator

    Returns
    -------
    Y : (size, N*), one function per row, without noise; (size, N*, Q) for Q
        outputs

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=1e8)
    >>> sample(gp, [[0.0], [1.0]], 2, rng=0).round(2)
    array([[1., 2.],
           [1., 2.]])
    """
    Z = _inputs(gp, Z)
    size, rng = _checks.count(size, "size"), _checks.generator(rng)
    S = _linalg.symmetric_root(covariance(gp, Z))
    z = rng.standard_normal((size, *gp.a.shape[1:], len(S)))
    return mean(gp, Z) + np.moveaxis(z @ S, -1, 1)


def log_marginal_likelihood(gp: GP) -> float:
    """Logarithm of the density (23) at the observed targets.

    ln p(t) = -½ tᵀC_N⁻¹t - ½ ln|C_N| - ½ N ln 2π.

    The targets count without the prior mean.  Outputs are independent: their
    logarithms are added.  With a trend of M features H it is Rasmussen &
    Williams' (2.45):

    ln p(t) = -½ tᵀPt - ½ ln|C_N| - ½ ln|HᵀC_N⁻¹H| - ½ (N - M) ln 2π  with
    P = C_N⁻¹ - C_N⁻¹H (HᵀC_N⁻¹H)⁻¹ HᵀC_N⁻¹.

    Parameters
    ----------
    gp : GP

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> round(log_marginal_likelihood(gp), 3)
    -3.577
    """
    residual = gp.t - gp.prior_mean(gp.X)
    data_fit = float(np.vdot(residual, gp.a))
    log_det, N = gp.factor.log_determinant(), len(gp.t)
    if gp.weights is not None:
        log_det += gp.weights.factor.log_determinant()
        N -= len(gp.weights.w)
    one_output = log_det + N * np.log(2 * np.pi)
    return float(-data_fit - outputs(gp) * one_output) / 2


def append(gp: GP, x: Any, t: ArrayLike, beta: float | None = None) -> GP:
    """The same process after one more example, in N² operations.

    U gets the column u = U⁻ᵀk and below it r, r² = σ²(x) (28); then
    b = {t - m(x)} / σ²(x) is its coefficient, and a ← a - b C_N⁻¹k.

    Parameters
    ----------
    gp : GP
    x : (D,) the new input, or one object
    t : the new target, (Q,) of them for Q outputs
    beta : its noise precision, if that of the others is not one number

    Returns
    -------
    gp : GP, the one :func:`fit` would make from all N + 1 examples

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> gp = fit(Gaussian(0.5), X=[[0.0]], t=[1.0], beta=10.0)
    >>> append(gp, [1.0], 2.0).a.round(3)
    array([-0.134,  1.892])
    """
    new = _one_input(gp, x)
    t = _one_target(gp, t)
    noise = _noise_variance(gp, beta, 1)
    X, targets = _joined(gp.X, new), np.concatenate([gp.t, t])
    if np.ndim(gp.beta):
        betas: Any = np.append(gp.beta, 1 / noise)
    elif beta is None or beta == gp.beta:
        betas = gp.beta
    else:
        betas = np.append(np.full(len(gp.t), gp.beta), 1 / noise)
    c = float(gp.k.diagonal(new)[0] + np.ravel(noise)[0])
    k = gp.k(gp.X, new)[:, 0]
    try:
        factor = gp.factor.append(k, c)
    except LinAlgError:  # only fit can add jitter
        return fit(gp.k, X, targets, betas, gp.mean)
    if gp.weights is not None:  # which the new example changes
        return _conditioned(gp.k, X, targets, betas, gp.mean, factor)
    u, root = factor.U[:-1, -1], factor.U[-1, -1]
    a_new = (t[0] - gp.prior_mean(new) - k @ gp.a) / root**2
    change = np.multiply.outer(gp.factor.backsolve(u), a_new)
    old = gp.a - change.reshape(gp.a.shape)
    a = np.concatenate([old, np.reshape(a_new, (1, *old.shape[1:]))])
    return GP(gp.k, X, targets, betas, factor, a, gp.mean)


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
    >>> from kernelbook.kernels import Gaussian
    >>> gp = fit(Gaussian(0.5), X=[[0.0], [1.0]], t=[1.0, 2.0], beta=10.0)
    >>> loo(gp).mean.round(3)
    array([1.103, 0.551])
    """
    U_inverse = dtrtri(gp.factor.U)[0]
    diagonal = np.einsum("nm,nm->n", U_inverse, U_inverse)
    if gp.weights is not None:
        G = gp.weights.correction(gp.factor)
        diagonal -= np.einsum("nm,nm->n", G, G)
    noisy = 1 / diagonal
    latent = (noisy - 1 / gp.beta).clip(min=0)
    return Prediction(gp.t - (gp.a.T * noisy).T, latent, noisy)


def outputs(gp: GP) -> int:
    """Number Q of outputs that share the process's kernel.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> outputs(fit(Gaussian(0.5), [[0.0]], [[1.0, 2.0, 3.0]], beta=10.0))
    3
    """
    return 1 if gp.a.ndim == 1 else gp.a.shape[1]


# ------------------------------------------------------------------- checks


def _problem(
    k: Kernel, X: Any, t: ArrayLike, beta: Any
) -> tuple[Any, FloatArray, Any]:
    """Checked copies of what :func:`fit` is given."""
    X = own_inputs(k, X)
    t = _checks.one_or_more_columns(t, "t", number_of(X)).copy()
    return X, t, _precisions(beta, number_of(X))


def _precisions(beta: Any, N: int) -> Any:
    """A number > 0, or N of them."""
    if np.ndim(beta) == 0:
        return _checks.positive(beta, "beta")
    betas = _checks.vector(beta, "beta", N).copy()
    _checks.positive(betas.min(), "beta")
    return betas


def _noise_variance(gp: GP, beta: Any, N: int) -> Any:
    """1/β of N new targets."""
    if beta is None and np.ndim(gp.beta) > 0:
        raise ValueError(
            "beta must be given for new targets, because the old ones had "
            "one each, got None; np.inf stands for no noise"
        )
    if beta is not None and np.ndim(beta) == 0 and beta == np.inf:
        return 0.0
    return 1 / _precisions(gp.beta if beta is None else beta, N)


def _conditioned(
    k: Kernel,
    X: Any,
    t: FloatArray,
    beta: Any,
    mean: Mean,
    factor: _linalg.Factor,
) -> GP:
    """The process with this factor, for the targets without the mean."""
    if not isinstance(mean, Trend):
        a = factor.solve(t - _known_mean(mean, X, t.ndim))
        return GP(k, X, t, beta, factor, a, mean)
    H = mean.features(X)
    weights = Weights.estimate(factor, H, t)
    a = factor.solve(t - H @ weights.w)
    return GP(k, X, t, beta, factor, a, mean, weights)


def _known_mean(mean: Any, Z: Any, ndim: int) -> Any:
    """A mean that is a number or a function, for targets with so many axes."""
    if not callable(mean):
        return _checks.real(mean, "mean")
    m = _checks.one_or_more_columns(mean(Z), "mean(X)", number_of(Z))
    return m[:, None] if m.ndim < ndim else m


def _trend_features(gp: GP, Z: Any, with_mean: bool) -> FloatArray:
    """The trend's features at new inputs; zeros if it does not count."""
    if gp.weights is None:
        return np.empty((number_of(Z), 0))
    if not with_mean or not isinstance(gp.mean, Trend):
        return np.zeros((number_of(Z), len(gp.weights.w)))
    return gp.mean.features(Z)


def _inputs(gp: GP, Z: Any) -> Any:
    Z = gp.k.check(Z, "Z")
    if hasattr(Z, "shape"):
        _checks.same_columns(gp.X, Z)
    return Z


def _one_input(gp: GP, x: Any) -> Any:
    """A single new input, as the kernel takes several."""
    if isinstance(gp.X, np.ndarray):
        return _checks.vector(x, "x", gp.X.shape[1])[None]
    if issparse(gp.X) and not issparse(x):
        return gp.k.check(np.reshape(x, (1, -1)), "x")
    return gp.k.check(x if issparse(x) else [x], "x")


def _one_target(gp: GP, t: ArrayLike) -> FloatArray:
    if gp.t.ndim == 1:
        return np.array([_checks.real(t, "t")])  # type: ignore[arg-type]
    return _checks.vector(t, "t", gp.t.shape[1])[None]


def _joined(X: Any, new: Any) -> Any:
    """All inputs, the new one last."""
    if isinstance(X, tuple):
        return (*X, *new)
    if issparse(X):
        return sparse_vstack([X, new], format="csr")
    return np.vstack([X, new])


def _blocks(N: int) -> Iterator[slice]:
    for start in range(0, N, BLOCK):
        yield slice(start, start + BLOCK)
