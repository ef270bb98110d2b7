"""Feature maps: from inputs (N, D) to a design matrix (N, M)."""

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks
from kernelbook._checks import FloatArray

KernelLike = Callable[[FloatArray, FloatArray], FloatArray]

MOST_ENTRIES = 10**8  # of a design matrix: 800 MB


def with_bias(X: ArrayLike) -> FloatArray:
    """The inputs with a column of ones in front, X̃ = [1 X].

    Parameters
    ----------
    X : (N, D) inputs

    Returns
    -------
    X̃ : (N, D+1)

    Examples
    --------
    >>> with_bias([[2.0, 3.0]])
    array([[1., 2., 3.]])
    """
    X = _checks.matrix(X, "X")
    return np.column_stack([np.ones(len(X)), X])


def powers(x: ArrayLike, degree: int) -> FloatArray:
    """Design matrix of the powers 1, x, ..., x^degree.

    φ(x) = (1, x, x², ..., x^degree)ᵀ, one row per input.

    Parameters
    ----------
    x : (N,) inputs
    degree : whole number >= 0

    Returns
    -------
    Phi : (N, degree + 1)

    Examples
    --------
    >>> powers([2.0, 3.0], degree=2)
    array([[1., 2., 4.],
           [1., 3., 9.]])
    """
    x = _checks.vector(x, "x")
    degree = _checks.count(degree, "degree", least=0)
    return np.vander(x, degree + 1, increasing=True)


def bumps(x: ArrayLike, centres: ArrayLike, width: float) -> FloatArray:
    """Design matrix of Gaussian bumps, one feature per centre.

    φ_j(x) = exp(-(x - c_j)² / (2 width²)).

    Parameters
    ----------
    x : (N,) inputs
    centres : (M,) the c_j
    width : number > 0

    Returns
    -------
    Phi : (N, M)

    Examples
    --------
    >>> bumps([0.0, 1.0], centres=[0.0], width=1.0).round(3)
    array([[1.   ],
           [0.607]])
    """
    x = _checks.vector(x, "x")
    centres = _checks.vector(centres, "centres")
    width = _checks.positive(width, "width")
    Phi: FloatArray = np.exp(-((x[:, None] - centres) ** 2) / (2 * width**2))
    return Phi


def count_monomials(D: int, degree: int) -> int:
    """Number of monomials of exactly this degree in D variables.

    M = C(D + p - 1, p), an exact Python integer of any size.

    Parameters
    ----------
    D : whole number >= 1, dimension of the inputs
    degree : whole number p >= 0

    Examples
    --------
    >>> count_monomials(D=2, degree=2)
    3
    >>> count_monomials(D=1000, degree=10)
    288216356245328994082600
    """
    _checks.count(D, "D")
    _checks.count(degree, "degree", least=0)
    return math.comb(int(D) + int(degree) - 1, int(degree))


def count_dichotomies(N: int, M: int) -> int:
    """How many labellings of N points a hyperplane through 0 separates.

    C(N, M) = 2 Σ_{i=0}^{M-1} C(N - 1, i), of the 2^N labellings, for N points
    of M features in general position: any M of them linearly independent.

    Parameters
    ----------
    N : whole number >= 1, points
    M : whole number >= 1, features

    Examples
    --------
    >>> count_dichotomies(N=4, M=3)  # with a constant, four points in a plane
    14
    """
    _checks.count(N, "N")
    _checks.count(M, "M")
    return 2 * sum(math.comb(int(N) - 1, i) for i in range(int(M)))


def exponents(D: int, degree: int) -> NDArray[np.int64]:
    """All exponent vectors q with Σ_d q_d = degree, one per row.

    Parameters
    ----------
    D : whole number >= 1, dimension of the inputs
    degree : whole number >= 0

    Returns
    -------
    Q : (M, D) with M = C(D + degree - 1, degree)

    Examples
    --------
    >>> exponents(D=2, degree=2)
    array([[2, 0],
           [1, 1],
           [0, 2]])
    """
    M = count_monomials(D, degree)
    D, degree = int(D), int(degree)
    _affordable(M * D, f"{M} monomials of degree {degree} in D = {D}")
    Q = np.zeros((M, D), dtype=np.int64)
    factors = itertools.combinations_with_replacement(range(D), degree)
    for q, chosen in zip(Q, factors, strict=True):
        for d in chosen:
            q[d] += 1
    return Q


def monomials(X: ArrayLike, degree: int) -> FloatArray:
    """Feature map of the homogeneous polynomial kernel (xᵀz)^p, notes (11).

    φ_q(x) = √(p! / (Π_d q_d!)) Π_d x_d^q_d, one feature for each row q of
    ``exponents(D, p)``, so that φ(x)ᵀφ(z) = (xᵀz)^p.

    Parameters
    ----------
    X : (N, D) inputs as rows
    degree : whole number p >= 1

    Returns
    -------
    Phi : (N, M) with M = C(D + p - 1, p)

    Raises
    ------
    ValueError
        If Phi would have more than 10⁸ entries.

    Examples
    --------
    >>> monomials([[3.0, 1.0]], degree=2).round(3)
    array([[9.   , 4.243, 1.   ]])
    """
    X = _checks.matrix(X, "X")
    degree = _checks.count(degree, "degree")
    N, D = X.shape
    M = count_monomials(D, degree)
    _affordable(M * N, f"{M} monomials of degree {degree} for N = {N}")
    Q = exponents(D, degree)
    Phi: FloatArray = np.tile(np.sqrt(_multinomials(Q, degree)), (N, 1))
    for x_d, q_d in zip(X.T, Q.T, strict=True):
        Phi *= x_d[:, None] ** q_d
    return Phi


def append_constant(X: ArrayLike, c: float) -> FloatArray:
    """Inputs with one more coordinate, √c, so that products grow by c.

    (x, √c)ᵀ(z, √c) = xᵀz + c.

    Parameters
    ----------
    X : (N, D) inputs as rows
    c : number >= 0

    Returns
    -------
    X_c : (N, D + 1)

    Examples
    --------
    >>> append_constant([[3.0, 1.0]], c=4.0)
    array([[3., 1., 2.]])
    """
    X = _checks.matrix(X, "X")
    c = _checks.non_negative(c, "c")
    return np.column_stack([X, np.full(len(X), math.sqrt(c))])


def kernel_distances(k: KernelLike, X: ArrayLike, Z: ArrayLike) -> FloatArray:
    """Squared distances in feature space, by kernel values alone.

    ‖φ(x) - φ(z)‖² = k(x, x) - 2 k(x, z) + k(z, z).

    Parameters
    ----------
    k : kernel, ``k(X, Z)`` gives the (N, N*) array of values
    X : (N, D) inputs as rows
    Z : (N*, D) inputs as rows

    Returns
    -------
    S : (N, N*), never negative

    Raises
    ------
    ValueError
        If a squared distance is negative beyond rounding: no feature space
        has such points, so k is not a kernel.

    Examples
    --------
    >>> kernel_distances(lambda X, Z: (X @ Z.T) ** 2, [[1.0]], [[2.0]])
    array([[9.]])
    """
    X, Z = _checks.matrix(X, "X"), _checks.matrix(Z, "Z")
    _checks.same_columns(X, Z)
    k_xx, k_zz = _with_itself(k, X), _with_itself(k, Z)
    return _squares(k_xx[:, None] + k_zz, 2 * k(X, Z))


def kernel_mean_distances(
    k: KernelLike, X: ArrayLike, Z: ArrayLike
) -> FloatArray:
    """Squared distances in feature space to the mean of the φ(x_n).

    ‖φ(z) - (1/N) Σ_n φ(x_n)‖²
    = k(z, z) - (2/N) Σ_n k(x_n, z) + (1/N²) Σ_n Σ_m k(x_n, x_m).

    Parameters
    ----------
    k : kernel, ``k(X, Z)`` gives the (N, N*) array of values
    X : (N, D) inputs whose features are averaged
    Z : (N*, D) inputs as rows

    Returns
    -------
    s : (N*,), never negative

    Raises
    ------
    ValueError
        If a squared distance is negative beyond rounding.

    Examples
    --------
    >>> X = [[1.0], [3.0]]
    >>> kernel_mean_distances(lambda X, Z: X @ Z.T, X, Z=[[5.0]])
    array([9.])
    """
    X, Z = _checks.matrix(X, "X"), _checks.matrix(Z, "Z")
    _checks.same_columns(X, Z)
    plus = _with_itself(k, Z) + np.mean(k(X, X))
    return _squares(plus, 2 * np.mean(k(X, Z), axis=0))


def _multinomials(Q: NDArray[np.int64], degree: int) -> FloatArray:
    """p! / (q_1! ... q_D!) for each row q, exact until the last rounding."""
    ways = [
        math.factorial(degree) // math.prod(map(math.factorial, q))
        for q in Q.tolist()
    ]
    return np.array(ways, dtype=np.float64)


def _with_itself(k: KernelLike, X: FloatArray) -> FloatArray:
    """k(x, x) for every row, by blocks: no N × N Gram matrix is made."""
    blocks = [X[i : i + 64] for i in range(0, len(X), 64)]
    return np.concatenate([np.diag(k(block, block)) for block in blocks])


def _squares(plus: FloatArray, minus: FloatArray) -> FloatArray:
    """The difference, 0 where only rounding made it negative."""
    squares: FloatArray = plus - minus
    if np.any(squares < -2e-12 * plus):
        raise ValueError(
            "k must be a kernel, got the squared distance "
            f"{squares.min():.3g} in its feature space"
        )
    return np.maximum(squares, 0.0)


def _affordable(entries: int, what: str) -> None:
    if entries > MOST_ENTRIES:
        raise ValueError(
            f"degree must leave an array of at most {MOST_ENTRIES:.0e} "
            f"entries, got {what}; use kernels.Polynomial"
        )
