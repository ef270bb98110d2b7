"""Principal components in feature space, from kernel values alone.

The equations are those of chapter 4.  Everything is made of inner products of
centred features φ(x) - (1/N) Σ_n φ(x_n), which the Gram matrix determines.
"""

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from kernelbook import _checks
from kernelbook._checks import FloatArray


def centre(K: ArrayLike, k: ArrayLike | None = None) -> FloatArray:
    """Inner products of centred features, K̃ = HKH with H = I - (1/N) 11ᵀ.

    For new inputs k̃ = H(k - (1/N) K1), column by column: the mean that is
    subtracted is that of the training features.

    Parameters
    ----------
    K : (N, N) Gram matrix
    k : (N, N*) cross-Gram k(X, Z), or None for K itself

    Returns
    -------
    K̃ : (N, N), or k̃ : (N, N*)

    Examples
    --------
    >>> K = [[1.0, 3.0], [3.0, 9.0]]  # of the inputs 1 and 3, whose mean is 2
    >>> centre(K)
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> centre(K, [[4.0], [12.0]])  # of the input 4 with them
    array([[-2.],
           [ 2.]])
    """
    K = _checks.gram(K)
    k = K if k is None else _checks.cross_gram(k, len(K), "k")
    shifted = k - K.mean(axis=1, keepdims=True)
    return np.asarray(shifted - shifted.mean(axis=0))


def components(K: ArrayLike, number: int) -> tuple[FloatArray, FloatArray]:
    """The directions of feature space along which the data vary most.

    Direction j is v_j = Σ_n A_nj (φ(x_n) - mean), a unit vector, where the
    columns of A solve K̃a = Nμa and aᵀK̃a = 1; μ_j is the variance along it.

    Parameters
    ----------
    K : (N, N) Gram matrix
    number : how many components, at most the rank of K̃

    Returns
    -------
    A : (N, number) coefficients; in each column the largest is positive
    variances : (number,) the μ_j, largest first

    Raises
    ------
    ValueError
        If fewer directions have a variance that is not zero up to rounding.

    Examples
    --------
    >>> K = [[1.0, 3.0], [3.0, 9.0]]
    >>> A, variances = components(K, 1)
    >>> variances.round(4), (centre(K) @ A).round(4)
    (array([1.]), array([[ 1.],
           [-1.]]))
    """
    K_centred = centre(K)
    number = _checks.count(number, "number")
    N = len(K_centred)
    values, U = scipy.linalg.eigh(K_centred)
    values, U = values[::-1], U[:, ::-1]
    rank = int(np.sum(values > N * np.finfo(float).eps * np.max(K)))
    if number > rank:
        raise ValueError(
            f"number must be <= {rank}, the rank of the centred K, "
            f"got {number}"
        )
    values, U = values[:number], U[:, :number]
    largest = U[np.argmax(np.abs(U), axis=0), np.arange(number)]
    return U * np.sign(largest) / np.sqrt(values), values / N


def project(A: ArrayLike, K: ArrayLike, k: ArrayLike) -> FloatArray:
    """Coordinates of new inputs along the components.

    y_j(x) = v_jᵀ(φ(x) - mean) = Σ_n A_nj k̃(x_n, x).

    Parameters
    ----------
    A : (N, q) coefficients from `components`
    K : (N, N) Gram matrix of the training inputs
    k : (N, N*) cross-Gram k(X, Z); K itself for the training inputs

    Returns
    -------
    Y : (N*, q)

    Examples
    --------
    >>> K = [[1.0, 3.0], [3.0, 9.0]]
    >>> A, _ = components(K, 1)
    >>> project(A, K, [[4.0], [12.0]]).round(4)
    array([[-2.]])
    """
    A = _checks.matrix(A, "A")
    k_centred = centre(K, k)
    if len(A) != len(k_centred):
        raise ValueError(
            f"A must have one row per training example, N = "
            f"{len(k_centred)}, got {len(A)}"
        )
    return np.asarray(k_centred.T @ A)
