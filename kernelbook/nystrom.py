"""Nyström's approximation: all of a Gram matrix from a few of its columns.

M of the N inputs, or others, are landmarks.  With the columns C = k(X, X_M)
and the corner W = k(X_M) = UᵀU,

    Q = C W⁻¹ Cᵀ = ΦΦᵀ  with  Φ = C U⁻¹

stands for K.  It is the Gram matrix of the features' projections onto the span
of those of the landmarks.  Kernel ridge regression on Φ takes NM² operations
and M² memory: the rows are met once, some at a time.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelbook import _checks, _linalg
from kernelbook import _normal_equations as sums
from kernelbook._checks import FloatArray
from kernelbook._expansion import gram, own_inputs
from kernelbook._gram import number_of
from kernelbook._progress import Progress
from kernelbook.kernels import Kernel

# ---------------------------------------------------------------- landmarks


def uniform_landmarks(
    N: int, M: int, rng: int | np.random.Generator
) -> NDArray[np.intp]:
    """M of N examples, each set of them as likely as any other.

    Parameters
    ----------
    N : number of examples
    M : number of landmarks, at most N
    rng : seed or NumPy generator

    Returns
    -------
    numbers : (M,) numbers of the chosen examples, in order

    Examples
    --------
    >>> uniform_landmarks(10, 3, rng=0)
    array([5, 6, 9])
    """
    N = _checks.count(N, "N")
    return _chosen(N, M, None, rng)


def leverage_scores(K: ArrayLike, lam: float) -> FloatArray:
    """Ridge leverage scores: how much each target counts in its own fit.

    ℓ_n = [K (K + λI)⁻¹]_nn = 1 - λ [(K + λI)⁻¹]_nn; they add up to the
    effective number of parameters.

    Parameters
    ----------
    K : (N, N) Gram matrix
    lam : λ > 0

    Returns
    -------
    scores : (N,), between 0 and 1

    Examples
    --------
    >>> leverage_scores([[1.0, 0.0], [0.0, 3.0]], lam=1.0)
    array([0.5 , 0.75])
    """
    K = _checks.gram(K)
    lam = _checks.positive(lam, "lam")
    factor = _linalg.factor(_linalg.add_to_diagonal(K, lam), "K + λI")
    scores: FloatArray = 1 - lam * factor.into_inverse().diagonal()
    return scores.clip(min=0.0)


def approximate_leverage_scores(
    k: Kernel, X: Any, lam: float, landmarks: Any
) -> FloatArray:
    """Leverage scores without the Gram matrix, from a first set of landmarks.

    ℓ_n ≈ φ_nᵀ(ΦᵀΦ + λI)⁻¹φ_n + {k(x_n, x_n) - φ_nᵀφ_n} / λ, at most 1: what
    the landmarks miss of x_n counts in full.

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs
    lam : λ > 0
    landmarks : (M, D) inputs of a first set, chosen uniformly for instance

    Returns
    -------
    scores : (N,), between 0 and 1; the exact ones if the landmarks are X

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> X = [[1.0], [2.0], [3.0]]
    >>> approximate_leverage_scores(Linear(), X, 1.0, [[1.0]]).round(3)
    array([0.067, 0.267, 0.6  ])
    """
    features = feature_map(k, landmarks)
    X = features.check(X)
    lam = _checks.positive(lam, "lam")
    no_targets = np.zeros(number_of(X))
    total = sums.accumulate(features, X, no_targets, Progress("", False))
    factor = _linalg.factor(total.plus(lam), "ΦᵀΦ + λI", overwrite=True)
    scores = k.diagonal(X) / lam
    for rows in sums.pieces(len(scores), features.M):
        Phi = features(X[rows])
        scores[rows] -= np.einsum("nm,nm->n", Phi, Phi) / lam
        V = factor.whiten(Phi.T)
        scores[rows] += np.einsum("mn,mn->n", V, V)
    return scores.clip(0.0, 1.0)


def draw_landmarks(
    scores: ArrayLike, M: int, rng: int | np.random.Generator
) -> NDArray[np.intp]:
    """M examples, drawn one after the other in proportion to their scores.

    Parameters
    ----------
    scores : (N,) scores >= 0, at least M of them positive
    M : number of landmarks
    rng : seed or NumPy generator

    Returns
    -------
    numbers : (M,) numbers of the chosen examples, in order, each once

    Examples
    --------
    >>> draw_landmarks([0.0, 1.0, 0.0, 1.0], 2, rng=0)
    array([1, 3])
    """
    p = _checks.vector(scores, "scores")
    if p.min() < 0:
        raise ValueError(f"scores must be >= 0, got {p.min()}")
    M = _checks.count(M, "M")
    if np.count_nonzero(p) < M:
        raise ValueError(
            f"scores must be positive for at least M = {M} examples, got "
            f"{np.count_nonzero(p)}"
        )
    return _chosen(len(p), M, p / p.sum(), rng)


class PivotedCholesky(NamedTuple):
    """Landmarks chosen greedily, with what they miss.

    ``numbers`` (M,) are those of the landmarks in the order of their choice,
    ``L`` is (N, M), with LLᵀ = C W⁻¹ Cᵀ, and ``missed`` (M + 1,) holds
    tr(K - LLᵀ) after 0, 1, ..., M of them.
    """

    numbers: NDArray[np.intp]
    L: FloatArray
    missed: FloatArray


def pivoted_cholesky(
    k: Kernel, X: Any, M: int, tolerance: float = 1e-12
) -> PivotedCholesky:
    """The landmarks of pivoted Cholesky: next is always the worst served.

    With the diagonal d_n = k(x_n, x_n) - Σ_m L_nm² of what is missing, the
    next landmark is p = argmax_n d_n, and its column
    l_n = {k(x_n, x_p) - Σ_m L_nm L_pm} / √d_p.  Then Σ_n d_n = tr(K - LLᵀ),
    and as K - LLᵀ has no negative eigenvalue, this bounds the largest:
    ‖K - LLᵀ‖ ≤ tr(K - LLᵀ).

    Takes N M² operations, NM of memory, and M columns of K.

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs
    M : number of landmarks, at most N
    tolerance : stop before M where the largest d is at most this share of
        the largest k(x, x): what is left is rounding

    Returns
    -------
    found : PivotedCholesky, with M landmarks or fewer

    Raises
    ------
    ValueError
        If k(x, x) is 0 for every input.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> found = pivoted_cholesky(Linear(), [[1.0, 0.0], [0.0, 2.0]], 2)
    >>> found.numbers, found.missed
    (array([1, 0]), array([5., 1., 0.]))
    """
    X = own_inputs(k, X)
    N = number_of(X)
    M = _at_most(_checks.count(M, "M"), N)
    d = k.diagonal(X)
    least = _checks.non_negative(tolerance, "tolerance") * d.max()
    if d.max() <= 0:
        raise ValueError(f"k(x, x) must be > 0 somewhere, got {d.max()}")
    # By columns: each is made of those before it.
    L, numbers, missed = np.empty((N, M), order="F"), [], [float(d.sum())]
    for m in range(M):
        p = int(d.argmax())
        if d[p] <= least:
            break
        column = k(X, X[p : p + 1])[:, 0] - L[:, :m] @ L[p, :m]
        L[:, m] = column / np.sqrt(d[p])
        d -= L[:, m] ** 2
        d[p] = 0.0
        d.clip(min=0, out=d)  # rounding reaches -1e-16
        numbers.append(p)
        missed.append(float(d.sum()))
    chosen = np.array(numbers, dtype=np.intp)
    return PivotedCholesky(chosen, L[:, : len(chosen)], np.array(missed))


def independent_landmarks(
    k: Kernel, landmarks: Any, tolerance: float = 1e-12
) -> NDArray[np.intp]:
    """Those of some landmarks that add something to the others.

    :func:`pivoted_cholesky` among the landmarks alone, until nothing but
    rounding is left; without the others Q is the same.

    Parameters
    ----------
    k : kernel
    landmarks : (M, D) inputs
    tolerance : as in :func:`pivoted_cholesky`

    Returns
    -------
    numbers : those of the landmarks to keep, in order

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> independent_landmarks(Linear(), [[1.0], [3.0], [2.0]])
    array([1])
    """
    landmarks = _landmarks(k, landmarks)
    M = number_of(landmarks)
    return np.sort(pivoted_cholesky(k, landmarks, M, tolerance).numbers)


# ----------------------------------------------------------------- features


@dataclass(frozen=True, eq=False)
class NystromMap(sums.FeatureMap):
    """Nyström's features φ(x) = U⁻ᵀ k(X_M, x); made by :func:`feature_map`.

    It keeps the kernel ``k``, the ``landmarks`` X_M and the Cholesky
    ``factor`` of W = k(X_M) = UᵀU, with the jitter it needed.
    """

    k: Kernel
    landmarks: Any = field(repr=False)
    factor: _linalg.Factor = field(repr=False)
    at_the_end: bool = field(repr=False)
    """Whether W is conditioned so well that U can be met at the end."""

    @property
    def M(self) -> int:
        """Number of landmarks, and of features."""
        return self.factor.N

    def __call__(self, X: Any) -> FloatArray:
        """Features of inputs, (N, M)."""
        return sums.right_solve(self.factor, self.columns(self.check(X)))

    def check(self, X: Any, name: str = "X") -> Any:
        """Inputs that the kernel takes, of the landmarks' dimension."""
        X = self.k.check(X, name)
        if hasattr(X, "shape") and X.shape[1] != self.landmarks.shape[1]:
            raise ValueError(
                f"{name} must have the {self.landmarks.shape[1]} columns of "
                f"the landmarks, got shape {X.shape}"
            )
        return X

    def columns(self, X: Any) -> FloatArray:
        """C = k(X, X_M), (N, M)."""
        return self.k(X, self.landmarks)

    def summed(self, X: Any) -> FloatArray:
        """C where W can be met at the end, else CU⁻¹."""
        C = self.columns(X)
        return C if self.at_the_end else sums.right_solve(self.factor, C)

    def finish(self, total: sums.NormalEquations) -> None:
        """From CᵀC to ΦᵀΦ, if that has not been done block by block."""
        if self.at_the_end:
            total.whiten(self.factor)

    def coefficients(self, w: FloatArray) -> FloatArray:
        """a = U⁻¹w, so that wᵀφ(x) = Σ_m a_m k(x_m, x)."""
        return self.factor.backsolve(w)


def feature_map(
    k: Kernel, landmarks: Any, *, report_jitter: bool = True
) -> NystromMap:
    """The empirical kernel map of the landmarks, φ(x) = U⁻ᵀ k(X_M, x).

    φ(x)ᵀφ(x') = k(x, X_M) W⁻¹ k(X_M, x'), and k(x, x') itself where x or x'
    is a landmark.

    Parameters
    ----------
    k : kernel
    landmarks : (M, D) inputs, or M objects if the kernel takes such
    report_jitter : whether a JitterWarning says that W needed jitter, as it
        does where landmarks coincide or are more than the kernel has
        features; :func:`independent_landmarks` leaves these out

    Returns
    -------
    features : NystromMap, called with inputs

    Raises
    ------
    ValueError
        If k(x, x) is 0 for every landmark.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> phi = feature_map(Linear(), [[2.0]])
    >>> phi([[1.0], [3.0]])
    array([[1.],
           [3.]])
    """
    landmarks = _landmarks(k, landmarks)
    W = gram(k, landmarks)
    size = float(np.abs(W).sum(axis=0).max())
    if size == 0:
        raise ValueError("landmarks must have k(x, x) > 0 somewhere, got 0")
    factor = _linalg.factor(
        W,
        f"W of {k}, the Gram matrix of the landmarks,",
        overwrite=True,
        report=report_jitter,
    )
    at_the_end = sums.well_conditioned(factor, size)
    return NystromMap(k, landmarks, factor, at_the_end)


def approximation(k: Kernel, X: Any, landmarks: Any) -> FloatArray:
    """The Gram matrix that the landmarks leave, Q = C W⁻¹ Cᵀ.

    For looking at: it is N × N, and the other functions never make it.

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs
    landmarks : (M, D) inputs

    Returns
    -------
    Q : (N, N) of rank M at most; K - Q has no negative eigenvalues

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> approximation(Gaussian(0.5), [[0.0], [1.0]], [[0.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 0.368]])
    """
    Phi = feature_map(k, landmarks)(X)
    return Phi @ Phi.T


# -------------------------------------------------------------------- ridge


class NystromRidge(sums.FeatureRidge):
    """Kernel ridge regression with landmarks; made by :func:`fit`.

    y(x) = wᵀφ(x) = Σ_m a_m k(x_m, x), a sum over the landmarks alone.
    """


def fit(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    lam: float,
    landmarks: Any,
    *,
    progress: bool = True,
) -> NystromRidge:
    """Kernel ridge regression with M landmarks, in NM² operations.

    w = (ΦᵀΦ + λI_M)⁻¹ Φᵀt with Nyström's features Φ = C U⁻¹; the fit of
    ``ridge.fit_dual(Q, t, lam)``, without the N × N matrix.

    Memory is M² and a block of rows: products are added up over these.

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs as rows, or N objects if the kernel takes such
    t : (N,) targets, or (N, Q) of Q outputs
    lam : λ > 0
    landmarks : (M, D) inputs, for instance ``X[numbers]``
    progress : report to stderr when it takes longer than ten seconds

    Returns
    -------
    model : NystromRidge

    Raises
    ------
    ValueError
        If the landmarks have other columns than X.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> X, t = [[1.0], [2.0]], [1.0, 1.0]
    >>> fit(Linear(), X, t, 1.0, landmarks=[[1.0]]).predict([[3.0]]).round(6)
    array([1.5])
    """
    features = feature_map(k, landmarks)
    X = features.check(X)
    t = _checks.one_or_more_columns(t, "t", number_of(X))
    lam = _checks.positive(lam, "lam")
    shown = Progress("nystrom.fit", progress)
    total = sums.accumulate(features, X, t, shown)
    return NystromRidge(features, total.ridge(lam), total.N)


def fit_blocks(
    k: Kernel,
    blocks: Iterable[sums.Block],
    lam: float,
    landmarks: Any,
    *,
    progress: bool = True,
) -> NystromRidge:
    """The same from blocks of rows, of which one at a time is in memory.

    ΦᵀΦ = Σ_b Φ_bᵀΦ_b and Φᵀt = Σ_b Φ_bᵀt_b.

    Parameters
    ----------
    k : kernel
    blocks : pairs (X, t), from a list, or from a generator that reads them
    lam : λ > 0
    landmarks : (M, D) inputs
    progress : report to stderr when it takes longer than ten seconds

    Returns
    -------
    model : NystromRidge, that of :func:`fit` with all rows

    Raises
    ------
    ValueError
        If a block is empty or holds NaN, with its number.

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> blocks = [([[1.0]], [1.0]), ([[2.0]], [1.0])]
    >>> model = fit_blocks(Linear(), blocks, 1.0, landmarks=[[1.0]])
    >>> model.predict([[3.0]]).round(6)
    array([1.5])
    """
    features = feature_map(k, landmarks)
    lam = _checks.positive(lam, "lam")
    shown = Progress("nystrom.fit_blocks", progress)
    total = sums.accumulate_blocks(features, blocks, shown)
    return NystromRidge(features, total.ridge(lam), total.N)


def _landmarks(k: Kernel, landmarks: Any) -> Any:
    """Landmarks that the kernel takes, in a copy."""
    if not isinstance(k, Kernel):
        raise ValueError(f"k must be a Kernel, got {type(k).__name__}")
    landmarks = k.check(landmarks, "landmarks")
    return landmarks if isinstance(landmarks, tuple) else landmarks.copy()


def _at_most(M: int, N: int) -> int:
    if M > N:
        raise ValueError(f"M must be at most N = {N}, got {M}")
    return M


def _chosen(
    N: int, M: int, p: FloatArray | None, rng: int | np.random.Generator
) -> NDArray[np.intp]:
    """M of N numbers, with these probabilities, in order."""
    M = _at_most(_checks.count(M, "M"), N)
    rng = _checks.generator(rng)
    numbers = rng.choice(N, M, replace=False, p=p, shuffle=False)
    return np.sort(numbers).astype(np.intp)
