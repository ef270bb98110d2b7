"""Which functions are kernels: certificates that a Gram matrix can give.

A symmetric function is a kernel exactly when all its Gram matrices are
positive semi-definite.  One negative energy vᵀKv refutes it; no finite number
of non-negative ones proves it.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, eigvalsh

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook._worst_set import (
    SIZES,
    Probe,
    Similarity,
    diagonal_sizes,
    worst_set,
)

TOLERANCE = 1e-11  # values of k are trusted to eleven digits


def energy(K: ArrayLike, v: ArrayLike) -> float:
    """The quadratic form of a matrix, term by term and rounded once.

    vᵀKv = Σ_n Σ_m v_n K_nm v_m.

    Parameters
    ----------
    K : (N, N) Gram matrix
    v : (N,) any vector

    Examples
    --------
    >>> energy(K=[[1.0, 2.0], [2.0, 1.0]], v=[1.0, -1.0])
    -2.0
    """
    K = _checks.gram(K)
    v = _checks.vector(v, "v", len(K))
    return math.fsum((v[:, None] * K * v).ravel())


def smallest_eigenvalue(K: ArrayLike) -> float:
    """The least energy of a unit vector.

    μ_min = min_v {vᵀKv : vᵀv = 1}.

    Parameters
    ----------
    K : (N, N) Gram matrix

    Examples
    --------
    >>> round(smallest_eigenvalue([[1.0, 2.0], [2.0, 1.0]]), 6)
    -1.0
    """
    K = _checks.gram(K)
    return float(eigvalsh(K, subset_by_index=[0, 0])[0])


def rounding_level(K: ArrayLike) -> float:
    """How far below zero rounding alone may push an eigenvalue.

    δ = 10 ε Σ_n abs(K_nn), with ε = 2⁻⁵² in double precision, and 2⁻²³ if K
    comes in single precision.

    Parameters
    ----------
    K : (N, N) Gram matrix

    Examples
    --------
    >>> rounding_level(np.eye(100)) == 1000 * 2.0**-52
    True
    """
    eps = _checks.precision(K)
    K = _checks.gram(K)
    return 10 * len(K) * eps * float(np.abs(np.diag(K)).mean())


def feature_map_from_gram(K: ArrayLike) -> FloatArray:
    """Feature vectors, as rows, whose inner products are K.

    K = Σ_i μ_i u_i u_iᵀ with orthonormal u_i gives the features
    Φ_ni = √μ_i u_in, so that ΦΦᵀ = K.

    Parameters
    ----------
    K : (N, N) Gram matrix, positive semi-definite

    Returns
    -------
    Phi : (N, R), one column per eigenvalue above rounding, largest first

    Raises
    ------
    ValueError
        If an eigenvalue is negative beyond rounding: no features exist.

    Examples
    --------
    >>> Phi = feature_map_from_gram([[1.0, 2.0], [2.0, 4.0]])
    >>> Phi.shape
    (2, 1)
    >>> (Phi @ Phi.T).round(6)
    array([[1., 2.],
           [2., 4.]])
    """
    level = rounding_level(K)
    mu, U = eigh(_checks.gram(K))
    if mu[0] < -level:
        raise ValueError(
            "K must be positive semi-definite, "
            f"got smallest eigenvalue {mu[0]:.3g}"
        )
    kept = np.flatnonzero(mu > level)[::-1]
    Phi: FloatArray = U[:, kept] * np.sqrt(mu[kept])
    return Phi


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A proof that k is no kernel: on these points, vᵀKv < 0."""

    points: FloatArray  # (N, D)
    v: FloatArray  # (N,), its largest entry is 1
    value: float  # vᵀKv
    tolerance: float  # what rounding could explain: value < -tolerance
    found: ClassVar[bool] = True

    def __str__(self) -> str:
        N = len(self.v)
        points = "1 point" if N == 1 else f"{N} points"
        return f"no kernel: vᵀKv = {self.value:.2g} on {points}"


@dataclass(frozen=True)
class Search:
    """What a search without success has tried.  It proves nothing."""

    sets_tried: int
    points_tried: int
    smallest_eigenvalue: float  # seen, of Grams scaled to unit diagonal
    found: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"nothing found on {self.sets_tried} sets of points"


def find_counterexample(
    k: Similarity,
    D: int = 1,
    low: float = -3.0,
    high: float = 3.0,
    rng: int | np.random.Generator = 0,
) -> Counterexample | Search:
    """Look for points on which a symmetric function has a negative energy.

    For 1, 2, 3, … points: draw sets from the box [low, high]^D, narrow ones
    first, take the one whose Gram matrix has the smallest eigenvalue, and
    move its points to lower it.  The eigenvector v counts only if vᵀKv,
    summed again over single values of k, is negative beyond rounding.

    Parameters
    ----------
    k : any callable; k(X, Z) is the (N, N*) array of all k(x_n, z_m)
    D : dimension of the inputs
    low, high : the box of inputs, low < high
    rng : seed, or NumPy generator; the same seed gives the same answer

    Returns
    -------
    A Counterexample (points, v, value), or a Search that says what was tried.

    Raises
    ------
    ValueError
        If k does not return symmetric (N, N) arrays, or if nothing is found
        and k was NaN or infinite somewhere in the box.

    Examples
    --------
    >>> def k(X, Z):
    ...     return np.tanh(X @ Z.T)
    >>> find_counterexample(k).found
    True
    >>> find_counterexample(lambda X, Z: X @ Z.T).found
    False
    """
    D = _checks.count(D, "D")
    low, high = _checks.real(low, "low"), _checks.real(high, "high")
    if low >= high:
        raise ValueError(f"low must be < high, got {low} and {high}")
    rng = _checks.generator(rng)
    probe = Probe(k)
    for N in SIZES:
        X = worst_set(probe, (N, D), low, high, rng)
        if X is not None and (proof := _certify(k, X)):
            return proof
    if probe.undefined:
        raise ValueError(
            f"k must be finite for inputs from {low} to {high}, got NaN or "
            f"inf in {probe.undefined} of {probe.sets} sets of points"
        )
    return Search(probe.sets, probe.points, probe.smallest)


def _certify(k: Similarity, X: FloatArray) -> Counterexample | None:
    """Sum again over single values of k; None if rounding could explain it."""
    K = np.array([[_single(k, x, z) for z in X] for x in X])
    sizes = diagonal_sizes(K)
    v = eigh(K / np.outer(sizes, sizes))[1][:, 0] / sizes
    v /= v[np.argmax(np.abs(v))]
    value = energy(K, v)
    largest = np.maximum(np.abs(K), np.outer(sizes, sizes))
    tolerance = TOLERANCE * float(np.abs(v) @ largest @ np.abs(v))
    if value >= -tolerance:
        return None
    return Counterexample(X, v, value, tolerance)


def _single(k: Similarity, x: FloatArray, z: FloatArray) -> float:
    return float(np.asarray(k(x[None, :], z[None, :]))[0, 0])
