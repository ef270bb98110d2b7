"""The small data sets of the chapters: made up, seeded, and labelled so."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks
from kernelbook._checks import FloatArray


def noisy_sine(
    N: int, noise: float, rng: int | np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Inputs x in [0, 1], sorted, and targets t = sin(2πx) + e with noise e.

    Parameters
    ----------
    N : number of points
    noise : standard deviation of the Gaussian noise, >= 0
    rng : a seed or a NumPy Generator

    Returns
    -------
    x, t : two (N,) arrays

    Examples
    --------
    >>> x, t = noisy_sine(3, noise=0.0, rng=0)
    >>> bool(np.allclose(t, np.sin(2 * np.pi * x)))
    True
    """
    N = _checks.count(N, "N")
    noise = _checks.non_negative(noise, "noise")
    rng = _checks.generator(rng)
    x = np.sort(rng.uniform(0, 1, N))
    return x, np.sin(2 * np.pi * x) + noise * rng.standard_normal(N)


def two_blobs(
    N: int, distance: float, rng: int | np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Two round Gaussian clouds in the plane, with labels -1 and +1.

    The clouds have standard deviation 1 and their centres lie at
    ±(distance/2, 0).  Labels alternate, +1 first.

    Parameters
    ----------
    N : number of points, at least 2
    distance : between the centres, >= 0
    rng : a seed or a NumPy Generator

    Returns
    -------
    X, t : (N, 2) inputs and (N,) labels

    Examples
    --------
    >>> X, t = two_blobs(4, distance=3.0, rng=0)
    >>> X.shape, t
    ((4, 2), array([ 1., -1.,  1., -1.]))
    """
    N = _checks.count(N, "N", least=2)
    distance = _checks.non_negative(distance, "distance")
    t = np.where(np.arange(N) % 2 == 0, 1.0, -1.0)
    X = _checks.generator(rng).standard_normal((N, 2))
    X[:, 0] += t * distance / 2
    return X, t


def two_moons(
    N: int, noise: float, rng: int | np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Two interleaved half circles in the plane, with labels -1 and +1.

    The upper one is x = (cos s, sin s)ᵀ, the lower one
    x = (1 - cos s, ½ - sin s)ᵀ, with s uniform in [0, π], plus noise.  Labels
    alternate, +1 (upper) first.

    Parameters
    ----------
    N : number of points, at least 2
    noise : standard deviation of the Gaussian noise, >= 0
    rng : a seed or a NumPy Generator

    Returns
    -------
    X, t : (N, 2) inputs and (N,) labels

    Examples
    --------
    >>> X, t = two_moons(4, noise=0.0, rng=0)
    >>> bool(np.allclose(np.hypot(X[0, 0], X[0, 1]), 1.0))
    True
    """
    N = _checks.count(N, "N", least=2)
    noise = _checks.non_negative(noise, "noise")
    rng = _checks.generator(rng)
    t = np.where(np.arange(N) % 2 == 0, 1.0, -1.0)
    s = rng.uniform(0, np.pi, N)
    upper, lower = (np.cos(s), np.sin(s)), (1 - np.cos(s), 0.5 - np.sin(s))
    X = np.where(t == 1, upper, lower).T + noise * rng.standard_normal((N, 2))
    return X, t


def xor() -> tuple[FloatArray, FloatArray]:
    """The four corners (±1, ±1), labelled by the sign of x₁x₂.

    Returns
    -------
    X, t : (4, 2) inputs and (4,) labels

    Examples
    --------
    >>> X, t = xor()
    >>> bool(np.array_equal(t, X[:, 0] * X[:, 1]))
    True
    """
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    return X, X[:, 0] * X[:, 1]


def two_rings(
    N: int, noise: float, rng: int | np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Points around two circles, of radius 1 for label -1 and 2 for +1.

    Parameters
    ----------
    N : number of points, taking turns between the rings
    noise : standard deviation of the radius, >= 0
    rng : a seed or a NumPy Generator

    Returns
    -------
    X, t : (N, 2) points and (N,) labels -1 or +1

    Examples
    --------
    >>> X, t = two_rings(4, noise=0.0, rng=0)
    >>> np.hypot(*X.T).round(3), t
    (array([1., 2., 1., 2.]), array([-1.,  1., -1.,  1.]))
    """
    N = _checks.count(N, "N")
    noise = _checks.non_negative(noise, "noise")
    rng = _checks.generator(rng)
    t = np.where(np.arange(N) % 2 == 0, -1.0, 1.0)
    radius = 1.5 + t / 2 + noise * rng.standard_normal(N)
    angle = rng.uniform(0, 2 * np.pi, N)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return radius[:, None] * circle, t


def blobs(
    centres: ArrayLike, N: int, spread: float, rng: int | np.random.Generator
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Round Gaussian clouds, one per class, with labels 0 to K-1.

    Parameters
    ----------
    centres : (K, D) the centre of each cloud
    N : number of points, at least K; the classes take turns, 0 first
    spread : standard deviation of every cloud, >= 0
    rng : a seed or a NumPy Generator

    Returns
    -------
    X, labels : (N, D) inputs and (N,) classes

    Examples
    --------
    >>> X, labels = blobs([[0.0], [5.0], [9.0]], N=4, spread=0.0, rng=0)
    >>> X.ravel(), labels
    (array([0., 5., 9., 0.]), array([0, 1, 2, 0]))
    """
    centres = _checks.matrix(centres, "centres")
    N = _checks.count(N, "N", least=len(centres))
    spread = _checks.non_negative(spread, "spread")
    labels = np.arange(N, dtype=np.int64) % len(centres)
    rng = _checks.generator(rng)
    noise = rng.standard_normal((N, centres.shape[1]))
    return centres[labels] + spread * noise, labels
