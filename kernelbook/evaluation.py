"""Judge a classifier on new examples: is it right, and does it know when?

The equations are those of chapter 15.  K is the number of classes, and the
classes are the whole numbers 0, ..., K-1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks
from kernelbook._checks import FloatArray

SUM_TOLERANCE = 1e-9  # on rows of probabilities


def accuracy(predicted: ArrayLike, t: ArrayLike) -> float:
    """Share of the examples whose predicted label is the true one.

    Parameters
    ----------
    predicted, t : (N,) labels, in any one coding

    Examples
    --------
    >>> accuracy([0, 2, 1, 1], [0, 2, 1, 0])
    0.75
    """
    t = _checks.vector(t, "t")
    predicted = _checks.vector(predicted, "predicted", len(t))
    return float((predicted == t).mean())


def log_loss(P: ArrayLike, t: ArrayLike) -> float:
    """Mean surprise at the true classes, -1/N Σ_n ln p_{n, t_n}.

    Infinite if a class that was given probability zero occurs.

    Parameters
    ----------
    P : (N, K) probabilities, rows that sum to one
    t : (N,) classes, whole numbers from 0 to K-1

    Examples
    --------
    >>> round(log_loss([[0.5, 0.5], [0.9, 0.1]], [0, 0]), 4)
    0.3993
    """
    P = _probabilities(P)
    own = P[np.arange(len(P)), _checks.classes(t, "t", P.shape[1], len(P))]
    with np.errstate(divide="ignore"):
        return float(-np.log(own).mean() + 0.0)


class Reliability(NamedTuple):
    """Predicted and observed frequencies, bin by bin; empty bins left out."""

    predicted: FloatArray
    """(J,) mean of the probabilities in each bin."""
    observed: FloatArray
    """(J,) share of those cases in which the event happened."""
    counts: NDArray[np.int64]
    """(J,) number of cases."""


def reliability(
    p: ArrayLike, happened: ArrayLike, bins: int = 10
) -> Reliability:
    """Sort probabilities into bins of equal width; compare with what came.

    Parameters
    ----------
    p : (N,) probabilities of an event
    happened : (N,) 1 if it happened, 0 if not
    bins : number of bins between 0 and 1

    Examples
    --------
    >>> reliability([0.1, 0.3, 0.8, 0.9], [0, 1, 1, 1], bins=2)
    Reliability(predicted=array([0.2 , 0.85]), observed=array([0.5, 1. ]),
                counts=array([2, 2]))
    """
    p = _checks.vector(p, "p")
    happened = _checks.vector(happened, "happened", len(p))
    wrong = p[(p < 0) | (p > 1)]
    if wrong.size:
        raise ValueError(f"p must be between 0 and 1, got {wrong[0]:g}")
    wrong = happened[(happened != 0) & (happened != 1)]
    if wrong.size:
        raise ValueError(f"happened must be 0 or 1, got {wrong[0]:g}")
    bins = _checks.count(bins, "bins")
    j = np.minimum((p * bins).astype(np.int64), bins - 1)
    counts = np.bincount(j, minlength=bins)
    full = counts > 0
    counts = counts[full]
    predicted = np.bincount(j, p, bins)[full] / counts
    observed = np.bincount(j, happened, bins)[full] / counts
    return Reliability(predicted, observed, counts)


def calibration_error(
    p: ArrayLike, happened: ArrayLike, bins: int = 10
) -> float:
    """Mean distance of predicted from observed frequencies.

    Σ_j (N_j / N) abs(o_j - p_j), with o_j observed and p_j predicted in bin j
    of `reliability`.

    Parameters
    ----------
    p : (N,) probabilities of an event
    happened : (N,) 1 if it happened, 0 if not
    bins : number of bins between 0 and 1

    Examples
    --------
    >>> round(calibration_error([0.1, 0.3, 0.8, 0.9], [0, 1, 1, 1], 2), 3)
    0.225
    """
    found = reliability(p, happened, bins)
    distance = np.abs(found.observed - found.predicted)
    return float(found.counts @ distance / found.counts.sum())


def _probabilities(P: ArrayLike) -> FloatArray:
    precision = _checks.precision(P)
    P = _checks.matrix(P, "P")
    if P.min() < 0:
        raise ValueError(f"P must not be negative, got {P.min():g}")
    gap = np.abs(P.sum(axis=1) - 1)
    # K numbers of single precision sum to one only to theirs.
    if gap.max() > max(SUM_TOLERANCE, P.shape[1] * precision):
        n = int(gap.argmax())
        raise ValueError(
            f"the rows of P must sum to 1, got {P[n].sum():g} in row {n}"
        )
    return P
