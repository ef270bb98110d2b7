"""Random Fourier features: a stationary kernel as an average of waves.

By Bochner's theorem k(x - x') = E[cos(ωᵀ(x - x'))] over frequencies ω drawn
from the kernel's spectral density.  M/2 draws give M features,

    φ_j(x) = √(2/M) cos(ω_jᵀx), and as many with the sine,

with E[φ(x)ᵀφ(x')] = k(x, x') and φ(x)ᵀφ(x) = k(x, x) whatever was drawn.
Kernel ridge regression becomes ridge regression on φ.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from kernelbook import _checks
from kernelbook import _normal_equations as sums
from kernelbook._checks import FloatArray
from kernelbook._gram import number_of
from kernelbook._progress import Progress
from kernelbook.kernels import (
    ARDGaussian,
    Gaussian,
    Kernel,
    Matern,
    RationalQuadratic,
    Scaled,
)

Stretch = Callable[[FloatArray, np.random.Generator], FloatArray]


# -------------------------------------------------------------- frequencies


def frequencies(
    k: Kernel,
    D: int,
    M: int,
    rng: int | np.random.Generator,
    *,
    orthogonal: bool = False,
) -> FloatArray:
    """Frequencies from the spectral density of a stationary kernel.

    With z standard normal in D dimensions and a kernel of length l:

    - Gaussian: ω = √(2γ) z.
    - ARDGaussian: ω_d = √(2γ_d) z_d.
    - Matern: ω = z / (l √(u/(2ν))), with u from χ² with 2ν degrees of
      freedom.  This is Student's t.
    - RationalQuadratic: ω = √τ z / l, with τ from a Gamma of shape α and
      mean 1.

    Each z has a length and a direction.  Orthogonal ones keep the lengths,
    but the directions of every D in a row stand upright on each other; each
    alone has the same density as before.

    Parameters
    ----------
    k : one of these kernels, or a number times one
    D : number of input columns
    M : number of frequencies
    rng : seed or NumPy generator
    orthogonal : whether directions are orthogonal, D at a time

    Returns
    -------
    Omega : (M, D), one frequency per row

    Raises
    ------
    ValueError
        If the spectral density of k is not among these.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> frequencies(Gaussian(0.5), D=1, M=3, rng=0).round(2)
    array([[ 0.13],
           [-0.13],
           [ 0.64]])
    """
    D, M = _checks.count(D, "D"), _checks.count(M, "M")
    rng = _checks.generator(rng)
    stretch = _stretch(_height_and_shape(k)[1], D)
    Z = rng.standard_normal((M, D))
    if orthogonal:
        lengths = np.linalg.norm(Z, axis=1, keepdims=True)
        Z = lengths * _directions(M, D, rng)
    return stretch(Z, rng)


def _stretch(k: Kernel, D: int) -> Stretch:
    """What turns standard normal z into frequencies of k."""
    match k:
        case Gaussian(gamma=gamma):
            return lambda Z, rng: np.sqrt(2 * gamma) * Z
        case ARDGaussian(gamma=gammas):
            if len(gammas) != D:
                raise ValueError(
                    f"D must be {len(gammas)}, one for each gamma of {k}, "
                    f"got {D}"
                )
            return lambda Z, rng: np.sqrt(2 * np.array(gammas)) * Z
        case Matern(nu=nu, length=length):
            return lambda Z, rng: (
                (Z / np.sqrt(rng.chisquare(2 * nu, (len(Z), 1)) / (2 * nu)))
                / length
            )
        case RationalQuadratic(alpha=alpha, length=length):
            return lambda Z, rng: (
                Z * np.sqrt(rng.gamma(alpha, 1 / alpha, (len(Z), 1))) / length
            )
    raise ValueError(
        "k must be a Gaussian, ARDGaussian, Matern or RationalQuadratic, or a "
        f"number times one, got {k}"
    )


def _height_and_shape(k: Kernel) -> tuple[float, Kernel]:
    """k = height times shape, shape(x, x) = 1."""
    height = 1.0
    while isinstance(k, Scaled):
        height *= k.c
        k = k.k1
    return height, k


def _directions(M: int, D: int, rng: np.random.Generator) -> FloatArray:
    """M unit vectors, D in a row at right angles, each in any direction."""
    blocks = -(-M // D)
    Q, R = np.linalg.qr(rng.standard_normal((blocks, D, D)))
    # The signs of R are LAPACK's choice; without them Q is uniform.
    signs = np.where(np.einsum("bdd->bd", R) < 0, -1.0, 1.0)
    return (Q * signs[:, None]).reshape(-1, D)[:M]


# ----------------------------------------------------------------- features


@dataclass(frozen=True, eq=False)
class FourierMap(sums.FeatureMap):
    """Random Fourier features; made by :func:`feature_map`.

    ``Omega`` are the (M/2, D) frequencies, ``height`` is k(x, x), ``dtype``
    the precision of the features.
    """

    Omega: FloatArray = field(repr=False)
    height: float
    dtype: np.dtype[Any]

    @property
    def M(self) -> int:
        """Number of features, two for each frequency."""
        return 2 * len(self.Omega)

    def __call__(self, X: Any) -> NDArray[Any]:
        """Features of inputs, (N, M)."""
        return self.columns(self.check(X))

    def check(self, X: Any, name: str = "X") -> FloatArray:
        """A matrix with one column for each of a frequency."""
        return _checks.columns(X, name, self.Omega.shape[1])

    def columns(self, X: FloatArray) -> NDArray[Any]:
        """√(2 height/M) times the cosines and sines of ωᵀx.

        The phases are counted in turns, of which whole ones are dropped, in
        double precision: far from the origin single precision would keep
        nothing of them.
        """
        turns = X @ (self.Omega.T / (2 * np.pi))
        turns -= np.rint(turns)
        phases = turns.astype(self.dtype, copy=False)
        phases *= 2 * np.pi
        half = len(self.Omega)
        Phi = np.empty((len(X), 2 * half), dtype=self.dtype)
        np.cos(phases, out=Phi[:, :half])
        np.sin(phases, out=Phi[:, half:])
        Phi *= np.sqrt(self.height / half)
        return Phi


def feature_map(
    k: Kernel,
    D: int,
    M: int,
    rng: int | np.random.Generator,
    *,
    orthogonal: bool = False,
    dtype: DTypeLike = np.float64,
) -> FourierMap:
    """Features whose inner products have the kernel as their mean.

    φ(x)ᵀφ(x') = (2/M) Σ_j cos(ω_jᵀ(x - x')), from M/2 frequencies ω_j.

    Its variance is {1 + k(2(x - x')) - 2 k(x - x')²} / M for a kernel of
    height 1 and independent frequencies: the error falls like 1/√M in any
    dimension.

    Parameters
    ----------
    k : kernel, as in :func:`frequencies`
    D : number of input columns
    M : number of features, even
    rng : seed or NumPy generator
    orthogonal : as in :func:`frequencies`
    dtype : of the features, np.float32 or np.float64

    Returns
    -------
    features : FourierMap, called with inputs

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> phi = feature_map(Gaussian(0.5), D=1, M=1000, rng=0)
    >>> Phi = phi([[0.0], [1.0]])
    >>> (Phi @ Phi.T).round(2)
    array([[1.  , 0.61],
           [0.61, 1.  ]])
    """
    M = _checks.count(M, "M", least=2)
    if M % 2:
        raise ValueError(f"M must be even, got {M}")
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(
            f"dtype must be np.float32 or np.float64, got {np.dtype(dtype)}"
        )
    Omega = frequencies(k, D, M // 2, rng, orthogonal=orthogonal)
    return FourierMap(Omega, _height_and_shape(k)[0], np.dtype(dtype))


# -------------------------------------------------------------------- ridge


class FourierRidge(sums.FeatureRidge):
    """Ridge regression on random features; made by :func:`fit`.

    y(x) = wᵀφ(x).
    """


def fit(
    k: Kernel,
    X: ArrayLike,
    t: ArrayLike,
    lam: float,
    M: int,
    rng: int | np.random.Generator,
    *,
    orthogonal: bool = False,
    dtype: DTypeLike = np.float32,
    progress: bool = True,
) -> FourierRidge:
    """Kernel ridge regression on M random features, in NM² operations.

    w = (ΦᵀΦ + λI_M)⁻¹ Φᵀt, ``ridge.fit_primal`` on :func:`feature_map`, with
    its products added up over blocks of rows.

    Parameters
    ----------
    k : kernel, as in :func:`frequencies`
    X : (N, D) inputs as rows
    t : (N,) targets, or (N, Q) of Q outputs
    lam : λ > 0
    M : number of features, even
    rng : seed or NumPy generator
    orthogonal : as in :func:`frequencies`
    dtype : of the features; np.float32 takes half the time.  Sums over one
        block, of 2¹⁹/M rows or so, are then of single precision, those over
        the blocks of double
    progress : report to stderr when it takes longer than ten seconds

    Returns
    -------
    model : FourierRidge

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0]
    >>> model = fit(Gaussian(0.5), X, t, 0.1, M=2000, rng=0)
    >>> model.predict([[1.0]]).round(1)
    array([0.8])
    """
    X = _checks.matrix(X, "X")
    features = feature_map(
        k, X.shape[1], M, rng, orthogonal=orthogonal, dtype=dtype
    )
    t = _checks.one_or_more_columns(t, "t", number_of(X))
    lam = _checks.positive(lam, "lam")
    shown = Progress("fourier.fit", progress)
    total = sums.accumulate(features, X, t, shown)
    return FourierRidge(features, total.ridge(lam), total.N)


def fit_blocks(
    features: FourierMap,
    blocks: Iterable[sums.Block],
    lam: float,
    *,
    progress: bool = True,
) -> FourierRidge:
    """The same from blocks of rows, of which one at a time is in memory.

    Parameters
    ----------
    features : FourierMap
    blocks : pairs (X, t), from a list, or from a generator that reads them
    lam : λ > 0
    progress : report to stderr when it takes longer than ten seconds

    Returns
    -------
    model : FourierRidge

    Raises
    ------
    ValueError
        If a block is empty or holds NaN, with its number.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> phi = feature_map(Gaussian(0.5), D=1, M=2000, rng=0)
    >>> blocks = [([[0.0], [1.0]], [0.0, 1.0]), ([[2.0]], [0.0])]
    >>> fit_blocks(phi, blocks, 0.1).predict([[1.0]]).round(1)
    array([0.8])
    """
    lam = _checks.positive(lam, "lam")
    shown = Progress("fourier.fit_blocks", progress)
    total = sums.accumulate_blocks(features, blocks, shown)
    return FourierRidge(features, total.ridge(lam), total.N)
