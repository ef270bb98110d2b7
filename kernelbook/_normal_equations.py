"""Normal equations of a linear model, added up over blocks of rows.

A model y(x) = wᵀφ(x) knows its N examples through sums over them only,

    A = ΦᵀΦ = Σ_b Φ_bᵀΦ_b,  r = Φᵀt = Σ_b Φ_bᵀt_b,  tᵀt = Σ_b t_bᵀt_b,

over blocks b of rows: M² numbers, however many rows there are, and in
whatever order and place they are added.  Ridge weights are (A + λI)⁻¹r, and a
Gaussian process with M inducing points needs no more.

Features may be made in two steps, φ(x) = U⁻ᵀc(x) with c(x) cheap and U upper
triangular, as Nyström's are.  Then A = U⁻ᵀ(Σ_b C_bᵀC_b)U⁻¹, and U is met
once, at the end, instead of in every block: half of the products.  It costs
digits, as many as the condition number of UᵀU has, and one more where λ is
small; where that number has more than five, every block is whitened by itself.

A block is so large that what a core works on stays in its cache, and so small
that it does not count beside A.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dsyrk, ssyrk
from scipy.linalg.lapack import dpocon, dsygst, dtrtrs

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray
from kernelbook._gram import number_of
from kernelbook._progress import CONVERGED, Progress

ENTRIES = 2**19  # of a block of features: 4 MB
LEAST_ROWS = 256  # of a block: below, A is moved more than it is worked on
WELL_CONDITIONED = 1e-5  # 1/condition number that costs five digits at most

Block = tuple[Any, ArrayLike]  # inputs and targets of some rows


def pieces(N: int, M: int) -> Iterator[slice]:
    """Rows of N, some at a time, for features of length M."""
    size = max(LEAST_ROWS, ENTRIES // M)
    for first in range(0, N, size):
        yield slice(first, min(first + size, N))


class FeatureMap(ABC):
    """Features φ(x) of inputs, φ(x) = U⁻ᵀc(x) if they are made in two steps.

    Here c(x) = φ(x); a heir whose U is another says so.
    """

    @property
    @abstractmethod
    def M(self) -> int:
        """Number of features."""

    @abstractmethod
    def check(self, X: Any, name: str = "X") -> Any:
        """Inputs such as the features take, or an error that names them."""

    @abstractmethod
    def columns(self, X: Any) -> NDArray[Any]:
        """c(x) of checked inputs, (N, M), in a new array."""

    def summed(self, X: Any) -> NDArray[Any]:
        """What is added up over blocks of checked inputs: here c(x)."""
        return self.columns(X)

    def finish(self, total: "NormalEquations") -> None:  # noqa: B027
        """From sums over what was summed to those over φ(x), in place."""

    def coefficients(self, w: FloatArray) -> FloatArray:
        """a = U⁻¹w, so that wᵀφ(x) = aᵀc(x)."""
        return w


@dataclass(eq=False)
class NormalEquations:
    """The sums, to which blocks are added.

    Of A the upper triangle is kept.
    """

    A: FloatArray = field(repr=False)
    """(M, M), above and on the diagonal."""
    r: FloatArray = field(repr=False)
    """(M,), or (M, Q) for Q outputs."""
    tt: float = 0.0
    """tᵀt, of all outputs together."""
    N: int = 0
    """Number of rows."""

    @classmethod
    def empty(cls, M: int, outputs: tuple[int, ...]) -> "NormalEquations":
        """Sums over no rows."""
        return cls(np.zeros((M, M), order="F"), np.zeros((M, *outputs)))

    def add(self, Phi: NDArray[Any], t: FloatArray) -> None:
        """One more block: (n, M) features and (n,) or (n, Q) targets.

        Features of single precision are summed over the block in theirs,
        and what the block gives is added in double precision.
        """
        if Phi.dtype == np.float32:
            self.A += ssyrk(1.0, Phi.T)
        else:
            dsyrk(1.0, Phi.T, 1.0, self.A, overwrite_c=True)
        self.r += Phi.T @ t.astype(Phi.dtype, copy=False)
        self.tt += float(np.vdot(t, t))
        self.N += len(t)

    def merge(self, other: "NormalEquations") -> None:
        """The sums over other rows too."""
        self.A += other.A
        self.r += other.r
        self.tt += other.tt
        self.N += other.N

    def whiten(self, factor: _linalg.Factor) -> None:
        """From sums over c(x) to sums over φ(x) = U⁻ᵀc(x), in place."""
        self.A = dsygst(self.A, factor.U, overwrite_a=True)[0]
        self.r = factor.whiten(self.r)

    def plus(self, lam: float, beta: float = 1.0) -> FloatArray:
        """βA + λI, whole and in a new array."""
        return _shifted(self.A * beta, lam)

    def ridge(self, lam: float) -> FloatArray:
        """Weights w = (A + λI)⁻¹r, in the memory of A, which is used up."""
        C = _shifted(self.A, lam)
        return _linalg.factor(C, "ΦᵀΦ + λI", overwrite=True).solve(self.r)


def _shifted(A: FloatArray, lam: float) -> FloatArray:
    """A + λI from the triangle of A, in its memory; by rows, as others."""
    C = mirrored(_checks.matrix(A, "ΦᵀΦ")).T
    return _linalg.add_to_diagonal(C, lam, overwrite=True)


def mirrored(A: FloatArray) -> FloatArray:
    """A with what stands above its diagonal copied below it, in place."""
    for n in range(len(A)):
        A[n + 1 :, n] = A[n, n + 1 :]
    return A


def well_conditioned(factor: _linalg.Factor, size: float) -> bool:
    """Whether UᵀU, whose 1-norm is ``size``, loses at most five digits."""
    return bool(dpocon(factor.U, size)[0] > WELL_CONDITIONED)


def right_solve(factor: _linalg.Factor, C: FloatArray) -> FloatArray:
    """C U⁻¹ for a C in rows, in the memory of C."""
    solved: FloatArray = dtrtrs(factor.U, C.T, trans=1, overwrite_b=True)[0].T
    return solved


def sums_of_block(
    features: FeatureMap, block: Any, number: int
) -> NormalEquations:
    """The sums over one block; what is wrong with it names its number.

    Before ``finish``, which is for the sums over all blocks.
    """
    try:
        X, t = checked(features, block)
        sums = NormalEquations.empty(features.M, t.shape[1:])
        for rows in pieces(number_of(X), features.M):
            sums.add(features.summed(X[rows]), t[rows])
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from None
    return sums


def checked(features: FeatureMap, block: Any) -> tuple[Any, FloatArray]:
    """Inputs and targets of a block."""
    if not isinstance(block, tuple | list) or len(block) != 2:
        raise ValueError(
            f"each of blocks must be a pair (X, t), got {type(block).__name__}"
        )
    X = features.check(block[0])
    return X, _checks.one_or_more_columns(block[1], "t", number_of(X))


def accumulate(
    features: FeatureMap, X: Any, t: FloatArray, progress: Progress
) -> NormalEquations:
    """The sums over all rows of checked inputs and targets."""
    sums, N = NormalEquations.empty(features.M, t.shape[1:]), number_of(X)
    for rows in pieces(N, features.M):
        sums.add(features.summed(X[rows]), t[rows])
        progress(f"{rows.stop} of {N} rows")
    features.finish(sums)
    return sums


def accumulate_blocks(
    features: FeatureMap, blocks: Iterable[Block], progress: Progress
) -> NormalEquations:
    """The sums over blocks, of which one at a time is in memory."""
    total: NormalEquations | None = None
    for number, block in enumerate(iterated(blocks)):
        sums = sums_of_block(features, block, number)
        total = joined(total, sums, number)
        progress(f"{total.N} rows in {number + 1} blocks")
    if total is None:
        raise ValueError("blocks must hold at least one pair (X, t), got none")
    features.finish(total)
    return total


def iterated(blocks: Iterable[Any]) -> Iterator[Any]:
    """One block after the other."""
    try:
        return iter(blocks)
    except TypeError:
        raise ValueError(
            "blocks must be a list or a generator of blocks, got "
            f"{type(blocks).__name__}"
        ) from None


def joined(
    total: NormalEquations | None, sums: NormalEquations, number: int
) -> NormalEquations:
    """The total with one more block, which has as many outputs."""
    if total is None:
        return sums
    if sums.r.shape != total.r.shape:
        raise ValueError(
            f"block {number}: t must have the outputs of the blocks before, "
            f"{total.r.shape[1:]}, got {sums.r.shape[1:]}"
        )
    total.merge(sums)
    return total


@dataclass(frozen=True, eq=False)
class FeatureRidge:
    """y(x) = wᵀφ(x), with the feature map that it is linear in."""

    features: Any
    """The feature map, asked for the features of new inputs."""
    w: FloatArray = field(repr=False)
    """(M,) weights, or (M, Q) for Q outputs."""
    N: int
    """Number of rows it was fitted to."""
    status: str = CONVERGED
    """Always "converged": nothing is searched for."""

    def predict(self, Z: Any) -> FloatArray:
        """The numbers y(z) at new inputs, (N*,) or (N*, Q)."""
        Z = self.features.check(Z, "Z")
        a = self.features.coefficients(self.w)
        cut = pieces(number_of(Z), len(a))
        return np.concatenate([self.features.columns(Z[r]) @ a for r in cut])
