"""Gaussians, from one variable to a process.

The equations are those of chapter 8, numbered as in the notes: (14) to (20).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray


class Normal(NamedTuple):
    """Mean (D,) and covariance (D, D) of a Gaussian vector."""

    mean: FloatArray
    cov: FloatArray


def normal_density(x: ArrayLike, mu: float, variance: float) -> FloatArray:
    """Density of one Gaussian variable (14).

    N(x | μ, σ²) = exp(-(x - μ)² / (2σ²)) / (σ √(2π)).

    Parameters
    ----------
    x : (N,) where to evaluate it
    mu : mean μ
    variance : σ² > 0, the square of the standard deviation

    Returns
    -------
    density : (N,)

    Examples
    --------
    >>> normal_density([0.0, 2.0], mu=0.0, variance=4.0).round(4)
    array([0.1995, 0.121 ])
    """
    x = _checks.vector(x, "x")
    mu = _checks.real(mu, "mu")
    sigma = np.sqrt(_checks.positive(variance, "variance"))
    z = (x - mu) / sigma
    density: FloatArray = np.exp(-(z**2) / 2) / (sigma * np.sqrt(2 * np.pi))
    return density


def log_density(x: ArrayLike, mu: ArrayLike, Sigma: ArrayLike) -> FloatArray:
    """Logarithm of the density of a Gaussian vector (15).

    ln N(x | μ, Σ) = -½ D ln 2π - ½ ln|Σ| - ½ (x - μ)ᵀ Σ⁻¹ (x - μ).

    With the Cholesky factor Σ = UᵀU, ½ ln|Σ| = Σ_d ln U_dd: no determinant,
    which would underflow, and no inverse.

    Parameters
    ----------
    x : (D,) one point, or (N, D) points as rows
    mu : (D,) mean
    Sigma : (D, D) covariance, positive definite

    Returns
    -------
    log_density : a number for one point, (N,) for N points

    Raises
    ------
    ValueError
        If Sigma is not square, symmetric and positive definite.

    Examples
    --------
    >>> log_density([[0.0, 0.0], [1.0, 1.0]], [0.0, 0.0], np.eye(2)).round(4)
    array([-1.8379, -2.8379])
    """
    mu, Sigma = _parameters(mu, Sigma, "mu", "Sigma")
    difference = _points(x, len(mu)) - mu
    factor = _linalg.factor(Sigma, "Sigma")
    squared = (difference * factor.solve(difference.T).T).sum(axis=-1)
    half_log_det = np.log(np.diag(factor.U)).sum()
    log_density: FloatArray = (
        -len(mu) / 2 * np.log(2 * np.pi) - half_log_det - squared / 2
    )
    return log_density


def linear_map(A: ArrayLike, mu: ArrayLike, Sigma: ArrayLike) -> Normal:
    """The Gaussian of y = Ax, when x is Gaussian.

    E[y] = Aμ and cov[y] = AΣAᵀ, with the mean μ and the covariance Σ of x.

    Parameters
    ----------
    A : (N, D) matrix
    mu : (D,) mean of x
    Sigma : (D, D) covariance of x

    Returns
    -------
    y : Normal, mean (N,) and covariance (N, N)

    Examples
    --------
    >>> linear_map([[1.0, 1.0]], mu=[1.0, 2.0], Sigma=[[1.0, 0.5], [0.5, 1.0]])
    Normal(mean=array([3.]), cov=array([[3.]]))
    """
    A = _checks.matrix(A, "A")
    mu, Sigma = _parameters(mu, Sigma, "mu", "Sigma")
    if A.shape[1] != len(mu):
        raise ValueError(
            f"A must have one column per entry of mu, "
            f"shape (N, {len(mu)}), got {A.shape}"
        )
    return Normal(A @ mu, A @ Sigma @ A.T)


def marginal(mean: ArrayLike, cov: ArrayLike, keep: Sequence[int]) -> Normal:
    """The Gaussian of some entries of a Gaussian vector.

    Forget the others: strike out their rows and columns.

    Parameters
    ----------
    mean : (D,)
    cov : (D, D)
    keep : distinct indices of the entries to keep, in the order wanted

    Returns
    -------
    kept : Normal

    Examples
    --------
    >>> marginal([1.0, 2.0], [[4.0, 1.0], [1.0, 9.0]], keep=[1])
    Normal(mean=array([2.]), cov=array([[9.]]))
    """
    mean, cov = _parameters(mean, cov, "mean", "cov")
    kept = _checks.indices(keep, "keep", len(mean))
    return Normal(mean[kept], cov[np.ix_(kept, kept)])


def condition(
    mean: ArrayLike,
    cov: ArrayLike,
    observed: Sequence[int],
    values: ArrayLike,
) -> Normal:
    """The Gaussian of the other entries, once some have been observed.

    With a the entries that remain and b the observed ones,

    mean = μ_a + C_ab C_bb⁻¹ (values - μ_b),
    cov  = C_aa - C_ab C_bb⁻¹ C_ba, the Schur complement of C_bb

    in the given covariance C.

    Parameters
    ----------
    mean : (D,)
    cov : (D, D)
    observed : distinct indices of the observed entries, fewer than D
    values : what was observed, in the same order

    Returns
    -------
    remaining : Normal of the entries not observed, in their old order

    Raises
    ------
    ValueError
        If nothing remains, or Σ_bb is not positive definite.

    Examples
    --------
    >>> condition([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], [0], [2.0])
    Normal(mean=array([1.]), cov=array([[0.75]]))
    """
    mean, cov = _parameters(mean, cov, "mean", "cov")
    b = _checks.indices(observed, "observed", len(mean))
    values = _checks.vector(values, "values", len(b))
    a = np.setdiff1d(np.arange(len(mean)), b)
    if a.size == 0:
        raise ValueError(
            f"observed must leave an entry out, got all {len(mean)}"
        )
    cross = cov[np.ix_(b, a)]
    factor = _linalg.factor(cov[np.ix_(b, b)], "cov of the observed")
    shift = cross.T @ factor.solve(values - mean[b])
    explained = cross.T @ factor.solve(cross)
    return Normal(mean[a] + shift, cov[np.ix_(a, a)] - explained)


def finite_marginal(
    m: Callable[[FloatArray], ArrayLike],
    k: Callable[[FloatArray], ArrayLike],
    X: ArrayLike,
) -> Normal:
    """A Gaussian process seen at finitely many inputs (16).

    f ~ GP(m, k) means (f(x_1), ..., f(x_N)) ~ N(m(X), k(X)), for every X.

    Parameters
    ----------
    m : mean function, from (N, D) inputs to (N,) means
    k : kernel, from (N, D) inputs to their (N, N) Gram matrix
    X : (N, D) inputs as rows

    Returns
    -------
    f : Normal, mean (N,) and covariance (N, N)

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> finite_marginal(lambda X: X[:, 0], Linear(), [[1.0], [2.0]])
    Normal(mean=array([1., 2.]), cov=array([[1., 2.],
           [2., 4.]]))
    """
    X = _checks.matrix(X, "X")
    mean = _checks.vector(m(X), "m(X)", len(X)).copy()  # it may be a part of X
    return Normal(*_parameters(mean, k(X), "m(X)", "k(X)"))


def sample(
    mean: ArrayLike,
    cov: ArrayLike,
    size: int,
    rng: int | np.random.Generator,
    jitter: float = 0.0,
) -> FloatArray:
    """Independent draws from N(mean, cov), one per row.

    With cov = UᵀU and z a vector of independent standard normals,
    y = mean + Uᵀz has covariance Uᵀ I U = cov.

    Parameters
    ----------
    mean : (D,)
    cov : (D, D)
    size : number of draws
    rng : seed or NumPy generator
    jitter : number >= 0 that is added to the diagonal of cov.  If it is too
        small for a Cholesky factorisation, what was needed is added and
        reported by a JitterWarning.

    Returns
    -------
    draws : (size, D)

    Raises
    ------
    ValueError
        If cov is not a covariance: negative variances in some direction.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sample([10.0, 20.0], [[1.0, 0.9], [0.9, 1.0]], 2, rng).round(2)
    array([[10.13, 20.06],
           [10.64, 20.62]])
    """
    eps = _checks.precision(cov)
    mean, cov = _parameters(mean, cov, "mean", "cov")
    size = _checks.count(size, "size")
    jitter = _checks.non_negative(jitter, "jitter")
    rng = _checks.generator(rng)
    if jitter == 0 and not cov.any():
        return np.tile(mean, (size, 1))  # no variance, and nothing to factor
    C = _linalg.add_to_diagonal(cov, jitter)
    factor = _linalg.factor(C, "cov", overwrite=True, eps=eps)
    z = rng.standard_normal((size, len(mean)))
    return mean + z @ factor.U


def _parameters(
    mean: ArrayLike, cov: ArrayLike, mean_name: str, cov_name: str
) -> tuple[FloatArray, FloatArray]:
    cov = _checks.gram(cov, cov_name)
    return _checks.vector(mean, mean_name, len(cov)), cov


def _points(x: ArrayLike, D: int) -> FloatArray:
    if np.ndim(x) <= 1:
        return _checks.vector(x, "x", D)
    points = _checks.matrix(x, "x")
    if points.shape[1] != D:
        raise ValueError(
            f"x must have one column per entry of mu, "
            f"shape (N, {D}), got {points.shape}"
        )
    return points
