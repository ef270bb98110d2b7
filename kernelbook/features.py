"""Feature maps: from inputs (N, D) to a design matrix (N, M)."""

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks
from kernelbook._checks import FloatArray


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
