"""Gram matrices a tile at a time, and the squared distances inside them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from kernelbook._checks import FloatArray

Tile = Callable[[slice, slice], FloatArray]  # rows, columns → values


class Prepared(tuple[Any, ...]):
    """Several things that are known of the same inputs, cut together."""

    __slots__ = ()


def cut(X: Any, rows: slice) -> Any:
    """Some of the inputs, or of what was prepared from them."""
    if isinstance(X, Prepared):
        return Prepared(cut(part, rows) for part in X)
    return X[rows]


def number_of(X: Any) -> int:
    """How many inputs there are."""
    if isinstance(X, Prepared):
        return number_of(X[0])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


TILE = 192  # side of a tile: what a core works on stays in its cache
BELOW = np.tri(TILE, k=-1, dtype=bool)  # the diagonal of a tile
FEW_COLUMNS = 8  # up to here differences are as fast as a matrix product
SPREAD = 32.0  # scaled squared radius where the product loses 1e-14


def by_tiles(tile: Tile, N: int, M: int, symmetric: bool) -> FloatArray:
    """The (N, M) matrix of all tiles; half are made if it is symmetric.

    Temporary arrays have the size of a tile, not of the matrix.
    """
    K = np.empty((N, M))
    for rows in _pieces(0, N):
        for columns in _pieces(rows.start if symmetric else 0, M):
            K[rows, columns] = tile(rows, columns)
    return _mirrored(K) if symmetric else K


def _mirrored(K: FloatArray) -> FloatArray:
    """K with what stands above its diagonal copied below it."""
    for rows in _pieces(0, len(K)):
        square = K[rows, rows]
        n = len(square)
        np.copyto(square, square.T, where=BELOW[:n, :n])
        K[rows.stop :, rows] = K[rows, rows.stop :].T
    return K


def _pieces(start: int, stop: int) -> Iterator[slice]:
    for first in range(start, stop, TILE):
        yield slice(first, min(first + TILE, stop))


class SquaredDistances:
    """Tiles of scale ‖x_n - z_m‖².

    ‖x‖² - 2xᵀz + ‖z‖² is one matrix product, of [-2x, ‖x‖², 1] with
    [z, 1, ‖z‖²], but cancels far from the origin.  It is used around the
    mean of the inputs, and only where that costs less than 1e-14; else, and
    for few columns, the differences come first.
    """

    def __init__(self, X: FloatArray, Z: FloatArray, scale: float) -> None:
        self.X, self.Z, self.scale = X, Z, scale
        self.product = X.shape[1] > FEW_COLUMNS
        if self.product:
            centre = X.mean(axis=0)
            self.right = _with_squares(Z - centre)
            left = self.right if Z is X else _with_squares(X - centre)
            radius = max(left[:, -1].max(), self.right[:, -1].max())
            self.product = abs(scale) * radius <= SPREAD
            self.left = left * (-2 * scale)
            self.left[:, -2] = scale * left[:, -1]
            self.left[:, -1] = scale

    def __call__(self, rows: slice, columns: slice) -> FloatArray:
        if not self.product:
            S: FloatArray = cdist(self.X[rows], self.Z[columns], "sqeuclidean")
            S *= self.scale
            return S
        S = self.left[rows] @ self.right[columns].T
        if self.Z is self.X and rows == columns:
            np.fill_diagonal(S, 0.0)
        # Rounding may have changed the sign of what is almost zero.
        clip = np.maximum if self.scale > 0 else np.minimum
        return clip(S, 0.0, out=S)


def _with_squares(X: FloatArray) -> FloatArray:
    """Rows [x, 1, ‖x‖²]."""
    squares = np.einsum("nd,nd->n", X, X)
    return np.column_stack([X, np.ones(len(X)), squares])


def squared_distances(
    X: FloatArray, Z: FloatArray, scale: float = 1.0
) -> FloatArray:
    """scale ‖x_n - z_m‖² between all rows, (N, N*)."""
    return SquaredDistances(X, Z, scale)(slice(None), slice(None))
