"""Sparse matrices, checked as the dense ones are and never made dense.

SciPy has matrices and arrays in seven formats.  All come in by one door and
leave it as a ``csr_array`` of floats in which every entry is stored once.  The
stored entries pass the checks of :mod:`kernelbook._checks`, with the same
words; the zeros between them need none.
"""

from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse

from kernelbook import _checks

Rows: TypeAlias = Any  # inputs as rows: a FloatArray or a csr_array


def matrix(values: Any, name: str) -> Rows:
    """A finite, non-empty matrix of floats; sparse stays sparse."""
    if not issparse(values):
        return _checks.matrix(values, name)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(
            f"{name} must be two-dimensional and not empty, "
            f"got shape {values.shape}"
        )
    array = csr_array(values)
    if not array.has_canonical_format:  # entries stored in several parts
        array = array.copy()  # the caller's parts stay as they are
        array.sum_duplicates()
    if array.nnz:
        _checks.matrix(array.data[None], name)
    return array.astype(np.float64)


def counts(values: Any, name: str) -> Rows:
    """Whole numbers >= 0 in rows, whose total a float still holds exactly."""
    array = matrix(values, name)
    if not issparse(array):
        return _checks.counts(array, name)
    if array.nnz:
        _checks.counts(array.data[None], name)
    return array


def binary(values: Any, name: str) -> Rows:
    """A matrix of zeros and ones."""
    array = matrix(values, name)
    stored = array.data if issparse(array) else array
    wrong = stored[(stored != 0) & (stored != 1)]
    if wrong.size:
        raise ValueError(
            f"{name} must hold 0 (absent) or 1 (present), got {wrong[0]:g}; "
            f"write {name} > 0 for counts"
        )
    return array


def columns(array: Rows, name: str, D: int) -> Rows:
    """The matrix, if it has one column for each of D features."""
    if array.shape[1] != D:
        raise ValueError(
            f"{name} must have one column per feature, shape (N, {D}), "
            f"got {array.shape}"
        )
    return array
