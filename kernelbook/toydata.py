"""The small data sets of the chapters: made up, seeded, and labelled so."""

import numpy as np

from kernelbook import _checks
from kernelbook._checks import FloatArray


def noisy_sine(
    N: int, noise: float, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Inputs x in [0, 1], sorted, and targets t = sin(2πx) + noise.

    Parameters
    ----------
    N : number of points
    noise : standard deviation of the Gaussian noise, >= 0
    seed : seed of the generator

    Returns
    -------
    x, t : two (N,) arrays

    Examples
    --------
    >>> x, t = noisy_sine(3, noise=0.0, seed=0)
    >>> bool(np.allclose(t, np.sin(2 * np.pi * x)))
    True
    """
    N = _checks.count(N, "N")
    noise = _checks.non_negative(noise, "noise")
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 1, N))
    return x, np.sin(2 * np.pi * x) + noise * rng.standard_normal(N)


def two_rings(
    N: int, noise: float, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Points around two circles, radius 1 with t = -1, radius 2 with t = +1.

    Parameters
    ----------
    N : number of points, taking turns between the rings
    noise : standard deviation of the radius, >= 0
    seed : seed of the generator

    Returns
    -------
    X, t : (N, 2) points and (N,) labels -1 or +1

    Examples
    --------
    >>> X, t = two_rings(4, noise=0.0, seed=0)
    >>> np.hypot(*X.T).round(3), t
    (array([1., 2., 1., 2.]), array([-1.,  1., -1.,  1.]))
    """
    N = _checks.count(N, "N")
    noise = _checks.non_negative(noise, "noise")
    rng = np.random.default_rng(seed)
    t = np.where(np.arange(N) % 2 == 0, -1.0, 1.0)
    radius = 1.5 + t / 2 + noise * rng.standard_normal(N)
    angle = rng.uniform(0, 2 * np.pi, N)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return radius[:, None] * circle, t
