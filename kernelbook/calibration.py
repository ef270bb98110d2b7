"""From scores to probabilities: Platt's sigmoid.

The equations are those of chapter 20.  A score y(x) whose sign decides
between two classes is turned into a probability by p(+1 | x) = σ(s y + r).
The two numbers are fitted to scores of examples that the classifier has not
seen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks, _likelihood
from kernelbook._checks import FloatArray
from kernelbook._progress import Progress, warn_unless_converged
from kernelbook.logistic import sigmoid

TOLERANCE = 1e-12  # on the gain that Newton's method promises, in nats
STEPS = 100  # for a bowl in two dimensions: ten are usual


class Sigmoid(NamedTuple):
    """p(+1 | x) = σ(slope · y(x) + offset)."""

    slope: float
    """What a unit of the score adds to the log-odds."""
    offset: float
    """Log-odds where the score is 0."""
    status: str
    """The word "converged", or "max_iterations"."""


def soft_targets(t: ArrayLike) -> FloatArray:
    """Platt's targets, probabilities that stay away from 0 and 1.

    q₊ = (N₊ + 1) / (N₊ + 2) for the label +1, q₋ = 1 / (N₋ + 2) for -1: what
    Laplace's rule gives to an event that came N₊ times out of N₊.

    Parameters
    ----------
    t : (N,) labels, -1 and +1, both present

    Returns
    -------
    q : (N,)

    Examples
    --------
    >>> soft_targets([1, 1, 1, -1])
    array([0.8       , 0.8       , 0.8       , 0.33333333])
    """
    t = _checks.vector(t, "t")
    plus = _checks.both_signs(t, "t", len(t)) > 0
    N_plus = int(plus.sum())
    N_minus = len(t) - N_plus
    return np.where(plus, (N_plus + 1) / (N_plus + 2), 1 / (N_minus + 2))


def fit_sigmoid(y: ArrayLike, t: ArrayLike) -> Sigmoid:
    """Slope and offset of the sigmoid, by Newton's method.

    They minimise -Σ_n {q_n ln p_n + (1 - q_n) ln(1 - p_n)} with
    p_n = σ(s y_n + r) and the q_n of :func:`soft_targets`.

    Parameters
    ----------
    y : (N,) scores of examples that the classifier was not trained on
    t : (N,) labels, -1 and +1, both present

    Returns
    -------
    sigmoid : Sigmoid

    Raises
    ------
    ValueError
        If all scores are equal: they say nothing.

    Examples
    --------
    >>> fitted = fit_sigmoid(y=[2.0, 1.0, -1.0, -2.0], t=[1, 1, -1, -1])
    >>> round(fitted.slope, 3), abs(fitted.offset) < 1e-9
    (0.674, True)
    """
    y = _checks.vector(y, "y")
    q = soft_targets(_checks.vector(t, "t", len(y)))
    middle, spread = float(y.mean()), float(np.ptp(y))
    if spread == 0:
        raise ValueError(f"y must not be constant, got {y[0]:g} throughout")
    Z = np.column_stack([(y - middle) / spread, np.ones(len(y))])

    def quadratic(u: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        z = Z @ u
        p = sigmoid(z)
        value = float((np.logaddexp(0.0, z) - q * z).sum())
        return value, Z.T @ (p - q), Z.T @ (Z * (p * (1 - p))[:, None])

    found = _likelihood.newton(
        quadratic,
        np.zeros(2),
        _likelihood.Stopping(TOLERANCE, STEPS),
        lambda _: None,
        Progress("calibration.fit_sigmoid", wanted=False),
    )
    warn_unless_converged(
        found.status,
        "calibration.fit_sigmoid",
        f"the last step promised {found.gain:.1e}",
    )
    slope, level = found.path[-1]
    slope /= spread
    offset = float(level - slope * middle)
    return Sigmoid(float(slope), offset, found.status)


def probability(fitted: Sigmoid, y: ArrayLike) -> FloatArray:
    """Probability of the class +1 for scores y.

    p = σ(s y + r).

    Parameters
    ----------
    fitted : Sigmoid
    y : (N*,) scores

    Returns
    -------
    p : (N*,)

    Examples
    --------
    >>> fitted = Sigmoid(slope=2.0, offset=0.0, status="converged")
    >>> probability(fitted, [0.0, 1.0]).round(3)
    array([0.5  , 0.881])
    """
    return sigmoid(fitted.slope * _checks.vector(y, "y") + fitted.offset)
