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
