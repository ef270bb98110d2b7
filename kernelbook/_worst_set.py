"""The set of points on which a function looks least like a kernel.

A Gram matrix K scaled to unit diagonal, K_nm / √|K_nn K_mm|, has a smallest
eigenvalue that does not depend on the size of the function.  Sets of N points
are drawn from a box, clouds and pieces of grids, narrow ones first; the points
of the worst are then moved at random as long as that lowers the eigenvalue,
with steps that grow on success and shrink on failure.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks
from kernelbook._checks import FloatArray

Similarity = Callable[[FloatArray, FloatArray], ArrayLike]

SIZES = (1, 2, 3, 4, 5, 6, 8, 12, 24, 48)  # points in a set, few first
SCALES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # of the box, narrow first
DRAWS = 16  # sets per size and scale
MOVES = 120  # of the worst set of each size
CLEAR = -0.01  # an eigenvalue, relative to the diagonal, to stop at


class Probe:
    """Evaluates k on sets of points, and keeps count."""

    def __init__(self, k: Similarity) -> None:
        self.k = k
        self.sets = self.points = self.undefined = 0
        self.smallest = math.inf

    def lowest(self, X: FloatArray) -> float:
        """Smallest eigenvalue of the Gram of X, scaled to unit diagonal."""
        self.sets += 1
        self.points += len(X)
        K = _values(self.k, X)
        if not np.isfinite(K).all():
            self.undefined += 1
            return math.inf
        sizes = diagonal_sizes(_checks.gram(K, "k(X, X)"))
        mu = float(np.linalg.eigvalsh(K / np.outer(sizes, sizes))[0])
        self.smallest = min(self.smallest, mu)
        return mu


def worst_set(
    probe: Probe,
    shape: tuple[int, int],
    low: float,
    high: float,
    rng: np.random.Generator,
) -> FloatArray | None:
    """The set with the smallest eigenvalue among many, or one clear enough."""
    X, mu = np.empty(shape), math.inf
    for candidate in _draws(shape, low, high, rng):
        value = probe.lowest(candidate)
        if value < mu:
            X, mu = candidate, value
        if mu < CLEAR:
            return X
    if mu == math.inf:
        return None
    step = np.ptp(X) or high - low
    for _ in range(MOVES):
        candidate = np.clip(X + step * rng.standard_normal(shape), low, high)
        value = probe.lowest(candidate)
        step *= 1.5 if value < mu else 0.9
        if value < mu:
            X, mu = candidate, value
        if mu < CLEAR:
            break
    return X


def _draws(
    shape: tuple[int, int], low: float, high: float, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Clouds and pieces of grids, at all scales."""
    N, D = shape
    cells = 3 + int(N ** (1 / D))
    for scale in SCALES:
        for number in range(DRAWS):
            corner = (1 - scale) * rng.random(D)
            U = rng.random(shape)
            if number % 2:
                U = np.round(cells * U) / cells
            yield low + (high - low) * (corner + scale * U)


def _values(k: Similarity, X: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        K = np.asarray(k(X, X), dtype=float)
    if K.shape != (len(X), len(X)):
        raise ValueError(
            f"k(X, X) must have shape {(len(X), len(X))}, got {K.shape}"
        )
    return K


def diagonal_sizes(K: FloatArray) -> FloatArray:
    """√|K_nn|: K over their products has diagonal ±1 (or 0 where K has)."""
    sizes: FloatArray = np.sqrt(np.abs(np.diag(K)))
    sizes[sizes == 0] = np.sqrt(np.abs(K).max()) or 1.0
    return sizes
