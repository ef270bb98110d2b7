"""What a generative classifier counts and measures in each class.

Sums and means.  With T the (N, K) matrix that holds a 1 where example n is of
class k, the sums of all classes are TᵀX.  A mean is taken about an example of
its class, μ = x_1 + mean(x_n - x_1), so that a constant feature has exactly
its value as mean, and deviations that are exactly zero.

Covariance.  Σ = (1/N) Σ_n d_n d_nᵀ of deviations d_n = x_n - μ.  Each feature
is first divided by a power of two near its largest deviation, s_j; then
Σ_ij = s_i s_j (…)_ij.  Powers of two do not round, and nothing overflows or
vanishes on the way unless Σ_ij itself does: a float holds about 1e-308 to
1e308, so deviations may be 1e-154 to 1e154.  Beyond that X is refused.

Singular or not.  The eigenvalues of the correlations Σ_ij / √(Σ_ii Σ_jj) are
free of the units of X.  LAPACK computes them with an error of about D eps, and
the entries carry rounding errors of the same size; what is below 10 D eps
counts as zero.

Gaussian density.  With Σ = UᵀU and z = U⁻ᵀ(x - μ),
ln N(x | μ, Σ) = -½ (D ln 2π + ln|Σ| + zᵀz).  Where zᵀz overflows, x more than
1e154 standard deviations away, it is -inf: less than any float.

Bayes' rule subtracts such logarithms.  Each has an error of about its size
times 100 eps (sums of many terms), and far from all classes that is more than
what tells them apart: for two classes with one covariance, Δ standard
deviations apart, at a distance of 1e14 Δ.  Where the two largest agree to
within an error of more than 1e-3, the answer would be noise.

Powers.  Σ_j x_j ln θ_j with 0 ln 0 = 0: the logarithms of zeros are left out
of the sum, and where x has one of them the sum is -inf.  Of absent features,
Σ_j (1 - x_j) ln(1 - θ_j) = Σ_j ln(1 - θ_j) - Σ_{j present} ln(1 - θ_j), which
visits only what is present: a sparse x stays sparse.
"""

import numpy as np
from scipy.sparse import csr_array, issparse

from kernelbook import _linalg
from kernelbook._checks import FloatArray, IntArray
from kernelbook._sparse import Rows

EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)  # below it floats lose digits
FAR = 1e154  # the square of more overflows
ERROR = 100 * EPS  # relative, of a sum of squares or logarithms
BLUR = 1e-3  # error of ln p(x, t) that leaves probabilities three digits


def class_sums(X: Rows, t: IntArray) -> FloatArray:
    """Sum of the rows of each class, TᵀX, (K, D)."""
    N, K = len(t), t.max() + 1
    members = csr_array((np.ones(N), (t, np.arange(N))), shape=(K, N))
    sums = members @ X
    return np.asarray(sums.toarray() if issparse(sums) else sums)


def class_means(X: FloatArray, t: IntArray) -> FloatArray:
    """Mean of each class, (K, D); exact for a feature that is constant."""
    means = []
    with np.errstate(over="ignore", invalid="ignore"):  # deviations refuses
        for k in range(t.max() + 1):
            X_k = X[t == k]
            means.append(X_k[0] + (X_k - X_k[0]).mean(axis=0))
    return np.stack(means)


def deviations(X: FloatArray, mu: FloatArray) -> FloatArray:
    """X - μ, refused if its squares overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference: FloatArray = X - mu
        far = not np.abs(difference).max() <= FAR  # NaN is far
    if far:
        raise ValueError(
            f"X must lie within {FAR:.0e} of its class means, or the squares "
            f"of its deviations overflow, got entries up to "
            f"{np.abs(X).max():.3g}; divide X by a constant"
        )
    return difference


def covariance(difference: FloatArray, lam: float) -> FloatArray:
    """Mean of the products of deviations, plus λ on the diagonal."""
    s = _powers_of_two(difference)
    scaled = difference / s
    Sigma: FloatArray = scaled.T @ scaled / len(difference)
    Sigma = _linalg.add_to_diagonal(Sigma * s * s[:, None], lam)
    _require_digits(Sigma.diagonal(), difference)
    return Sigma


def class_variances(
    difference: FloatArray, t: IntArray, lam: float
) -> FloatArray:
    """Mean square of the deviations of each class, plus λ, (K, D)."""
    variances = []
    for k in range(t.max() + 1):
        mine = difference[t == k]
        s = _powers_of_two(mine)
        variances.append(((mine / s) ** 2).mean(axis=0) * s * s + lam)
        _require_digits(variances[k], mine)
    return np.stack(variances)


def require_no_constant(variances: FloatArray, of_class: str) -> None:
    """Raise if a feature has variance zero."""
    constant = np.flatnonzero(variances == 0)
    if constant.size:
        raise ValueError(
            f"X has zero variance in feature {constant[0]}{of_class}; "
            "drop the feature or choose lam > 0"
        )


def require_definite(Sigma: FloatArray, rank: int, of_class: str) -> None:
    """Raise unless Σ is positive definite beyond rounding."""
    variances = Sigma.diagonal()
    require_no_constant(variances, of_class)
    scale = np.sqrt(variances)
    correlation = Sigma / scale / scale[:, None]
    D = len(Sigma)
    if np.linalg.eigvalsh(correlation)[0] <= 10 * D * EPS:
        reason = (
            f"its examples span at most {rank} of {D} dimensions"
            if rank < D
            else "some features are linear combinations of others"
        )
        raise ValueError(
            f"X has a singular covariance{of_class}: {reason}; "
            "drop features or choose lam > 0"
        )


def log_normal(
    X: FloatArray, mu: FloatArray, factor: _linalg.Factor
) -> FloatArray:
    """ln N(x | μ, Σ) of each row of X, from the Cholesky factor of Σ."""
    constant = factor.N * np.log(2 * np.pi) + factor.log_determinant()
    with np.errstate(over="ignore", invalid="ignore"):
        z = factor.whiten((X - mu).T)
        return np.asarray(-0.5 * (constant + _squares(z.T)))


def log_normals(X: FloatArray, mu: FloatArray, var: FloatArray) -> FloatArray:
    """Σ_j ln N(x_j | μ_j, σ²_j) of each row of X."""
    constant = len(var) * np.log(2 * np.pi) + np.log(var).sum()
    with np.errstate(over="ignore", invalid="ignore"):
        z = (X - mu) / np.sqrt(var)
        return np.asarray(-0.5 * (constant + _squares(z)))


def require_near(log_likelihood: FloatArray) -> FloatArray:
    """The (N, K) log-densities, refused if a row of X is far from all."""
    far = np.flatnonzero(log_likelihood.max(axis=1) == -np.inf)
    if far.size:
        raise ValueError(
            f"X must lie within {FAR:.0e} standard deviations of a class "
            f"mean, or its squared distance overflows, got X[{far[0]}] "
            "beyond that from every class"
        )
    return log_likelihood


def require_answer(log_joint: FloatArray) -> None:
    """Raise if ln p(x, t = k) is -inf for all k, or tells no two apart."""
    second, first = np.sort(log_joint, axis=1)[:, -2:].T
    impossible = np.flatnonzero(first == -np.inf)
    if impossible.size:
        raise ValueError(
            f"X[{impossible[0]}] has probability zero under every class; "
            "with alpha = 0 a single unseen feature does that"
        )
    error = ERROR * np.abs(first)
    lost = np.flatnonzero((error > BLUR) & (first - second <= error))
    if lost.size:
        raise ValueError(
            "X must be near enough to a class to tell which, got "
            f"X[{lost[0]}] with ln p(x, t) = {first[lost[0]]:.3g} for two "
            "classes alike, up to rounding"
        )


def log_powers(X: Rows, theta: FloatArray) -> FloatArray:
    """Σ_j x_nj ln θ_kj, (N, K), with 0 ln 0 = 0."""
    unseen = theta == 0
    sums: FloatArray = X @ np.log(np.where(unseen, 1.0, theta)).T
    sums[X @ unseen.T.astype(float) > 0] = -np.inf
    return sums


def log_absent(X: Rows, theta: FloatArray) -> FloatArray:
    """Σ_j (1 - x_nj) ln(1 - θ_kj), (N, K), from what is present in X."""
    certain = theta == 1
    logs = np.log1p(-np.where(certain, 0.0, theta))
    sums: FloatArray = logs.sum(axis=1) - X @ logs.T
    missing = certain.sum(axis=1) - X @ certain.T.astype(float)
    sums[missing > 0] = -np.inf
    return sums


def _squares(z: FloatArray) -> FloatArray:
    """zᵀz of each row; +inf where it overflows, on the way too."""
    squares: FloatArray = (z**2).sum(axis=1)
    return np.where(np.isnan(squares), np.inf, squares)


def _powers_of_two(difference: FloatArray) -> FloatArray:
    """For each column the power of two just above its largest entry."""
    exponents = np.frexp(np.abs(difference).max(axis=0))[1]
    return np.asarray(np.ldexp(1.0, exponents))


def _require_digits(variances: FloatArray, difference: FloatArray) -> None:
    """Raise if a variance has underflowed though its feature varies."""
    lost = np.flatnonzero((variances < TINY) & difference.any(axis=0))
    if lost.size:
        largest = np.abs(difference[:, lost[0]]).max()
        raise ValueError(
            "X must deviate from its class means by 1e-154 at least, or the "
            f"squares underflow, got {largest:.3g} in feature {lost[0]}; "
            "multiply X by a constant"
        )
