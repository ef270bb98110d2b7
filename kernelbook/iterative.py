"""Iterate instead of factorise: conjugate gradients without the Gram matrix.

(K + λI)a = t is solved by products of K with vectors alone.  K is never
stored: its tiles are made anew for every product, each pair of inputs once,
and memory is N times a few vectors.  How many products it takes depends on
how the eigenvalues of K + λI are spread; a preconditioner P ≈ K + λI from a
few landmarks gathers them around 1.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal

from kernelbook import _checks, _linalg, nystrom
from kernelbook._checks import FloatArray
from kernelbook._expansion import Expansion, own_inputs
from kernelbook._gram import number_of
from kernelbook._progress import (
    CONVERGED,
    Progress,
    warn_unless_converged,
)
from kernelbook.kernels import Kernel

TILE = 256  # side of a tile of K: it stays in a core's own cache
ROWS = 128  # of K at a time, for inputs that are not cut into tiles


class RegularisedGram:
    """K + λI as something to multiply by: ``RegularisedGram(k, X, lam) @ V``.

    B = (K + λI)V from tiles K_ij of the Gram matrix, made anew each time; the
    tile above the diagonal serves below it too, K_ji = K_ijᵀ.

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs as rows, or N objects if the kernel takes such
    lam : λ >= 0

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> RegularisedGram(Linear(), [[1.0], [2.0]], lam=1.0) @ [1.0, 0.0]
    array([2., 2.])
    """

    def __init__(self, k: Kernel, X: Any, lam: float) -> None:
        self.k, self.X = k, own_inputs(k, X)
        self.lam = _checks.non_negative(lam, "lam")
        self.N = number_of(self.X)

    def __len__(self) -> int:
        return self.N

    def __matmul__(self, V: ArrayLike) -> FloatArray:
        V = _checks.one_or_more_columns(V, "V", self.N)
        if isinstance(self.X, np.ndarray):
            return self._by_tiles(V)
        parts = [self.k(self.X[r], self.X) @ V for r in _cuts(self.N, ROWS)]
        product: FloatArray = np.concatenate(parts)
        return product + self.lam * V

    def _by_tiles(self, V: FloatArray) -> FloatArray:
        P = self.k.prepare(self.X)
        tile, product = self.k.tiles(P, P), self.lam * V
        for i in _cuts(self.N, TILE):
            product[i] += tile(i, i) @ V[i]
            for j in _cuts(self.N, TILE, i.stop):
                K = tile(i, j)
                product[i] += K @ V[j]
                product[j] += K.T @ V[i]
        return product


def _cuts(N: int, size: int, start: int = 0) -> Iterator[slice]:
    for first in range(start, N, size):
        yield slice(first, min(first + size, N))


# ------------------------------------------------------ conjugate gradients


@dataclass(frozen=True, eq=False)
class Solution:
    """What conjugate gradients found: x with Ax ≈ b."""

    x: FloatArray = field(repr=False)
    """(N,), or (N, Q) for Q right-hand sides."""
    residual: float
    """‖b - Ax‖ / ‖b‖, computed from x itself; the largest of Q."""
    residuals: tuple[float, ...] = field(repr=False)
    """The same after each iteration, as the iteration keeps it."""
    iterations: int
    """Number of products with A in the iteration."""
    status: str
    """"converged", or why it ended before."""


def conjugate_gradients(
    A: Any,
    b: ArrayLike,
    precondition: Callable[[FloatArray], FloatArray] | None = None,
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
    progress: bool = True,
) -> Solution:
    """Solve Ax = b for a positive definite A, by products with A alone.

    With r = b - Ax, z = P⁻¹r and the first direction p = z, repeat

    α = rᵀz / (pᵀAp),  x ← x + αp,  r ← r - αAp,  z ← P⁻¹r,
    p ← z + (rᵀz / s) p,  with s = rᵀz before.

    The error is at most 2 {(√κ - 1)/(√κ + 1)}ⁿ of the first one after n
    steps, in the norm of A, κ being the condition number of P⁻¹A.

    The residual that decides is b - Ax itself, computed once more when the
    iteration's own is small enough; where rounding has driven the two apart,
    the iteration starts again from x.

    Parameters
    ----------
    A : (N, N) symmetric and positive definite, or what ``A @ V`` works with
    b : (N,), or (N, Q)
    precondition : function that gives P⁻¹r; none is P = I
    tolerance : goal for ‖b - Ax‖ / ‖b‖
    max_iterations : where to stop
    progress : report to stderr when it takes longer than ten seconds

    Returns
    -------
    solution : Solution; a ConvergenceWarning says if the goal was missed

    Raises
    ------
    ValueError
        If a direction p has pᵀAp <= 0: A is not positive definite.

    Examples
    --------
    >>> found = conjugate_gradients([[2.0, 1.0], [1.0, 2.0]], [3.0, 3.0])
    >>> found.x.round(6), found.iterations, found.status
    (array([1., 1.]), 1, 'converged')
    """
    if not isinstance(A, RegularisedGram):
        A = _checks.gram(A, "A")
    b = _checks.one_or_more_columns(b, "b", len(A))
    search = _Search(A, b.reshape(len(A), -1), precondition)
    goal = _checks.positive(tolerance, "tolerance")
    most = _checks.count(max_iterations, "max_iterations")
    shown = Progress("conjugate_gradients", progress)
    status = search.run(goal, most, shown)
    residual = search.certified()
    warn_unless_converged(
        status,
        "conjugate_gradients",
        f"{len(search.residuals)} iterations left a residual of "
        f"{residual:.1e} of b; try more, or more landmarks",
    )
    return Solution(
        search.x.reshape(b.shape),
        residual,
        tuple(search.residuals),
        len(search.residuals),
        status,
    )


class _Search:
    """The iteration for Q right-hand sides at once, each with its own α."""

    def __init__(
        self,
        A: Any,
        b: FloatArray,
        precondition: Callable[[FloatArray], FloatArray] | None,
    ) -> None:
        self.A, self.b = A, b
        self.precondition = precondition or np.copy
        self.sizes = np.linalg.norm(b, axis=0)
        self.sizes[self.sizes == 0] = 1.0
        self.x = np.zeros_like(b)
        self.residuals: list[float] = []
        self._start(b.copy())

    def run(self, goal: float, most: int, progress: Progress) -> str:
        """Iterate until the true residual is small; says how it ended."""
        last = np.inf
        while True:
            if self._relative(self.r) <= goal:
                true = self.true_residual()
                if self._relative(true) <= goal:
                    return CONVERGED
                if self._relative(true) > last / 2:
                    return "stalled"
                last = self._relative(true)
                self._start(true)
            if len(self.residuals) == most:
                return "max_iterations"
            self._step()
            self.residuals.append(self._relative(self.r))
            progress(
                f"{len(self.residuals)} iterations, "
                f"residual {self.residuals[-1]:.1e}"
            )

    def true_residual(self) -> FloatArray:
        """b - Ax itself."""
        r: FloatArray = self.b - self.A @ self.x
        return r

    def certified(self) -> float:
        """Its size, relative to b."""
        return self._relative(self.true_residual())

    def _relative(self, r: FloatArray) -> float:
        return float((np.linalg.norm(r, axis=0) / self.sizes).max())

    def _start(self, r: FloatArray) -> None:
        """Begin with the steepest direction at x, where the residual is r."""
        z = self.precondition(r)
        self.r, self.p, self.rz = r, z, np.einsum("nq,nq->q", r, z)

    def _step(self) -> None:
        Ap = self.A @ self.p
        curvature = np.einsum("nq,nq->q", self.p, Ap)
        if (curvature[self.rz > 0] <= 0).any():
            raise ValueError(
                "A must be positive definite, got a direction p with "
                f"pᵀAp = {curvature.min():.3g}"
            )
        alpha = _ratio(self.rz, curvature)
        self.x += alpha * self.p
        self.r -= alpha * Ap
        z = self.precondition(self.r)
        rz = np.einsum("nq,nq->q", self.r, z)
        self.p = z + _ratio(rz, self.rz) * self.p
        self.rz = rz


def _ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b, and 0 for a right-hand side that is solved exactly."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


# ------------------------------------------------------------ preconditioner


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """P = ΦΦᵀ + λI, which is divided by; made by :func:`preconditioner`.

    It keeps Nyström's features ``Phi`` (N, M), ``lam`` and the Cholesky
    ``factor`` of its inner matrix, ΦᵀΦ + λI.
    """

    Phi: FloatArray = field(repr=False)
    lam: float
    factor: _linalg.Factor = field(repr=False)

    def __call__(self, R: ArrayLike) -> FloatArray:
        """P⁻¹R = {R - Φ(ΦᵀΦ + λI)⁻¹ΦᵀR} / λ, in NM operations."""
        R = _checks.one_or_more_columns(R, "R", len(self.Phi))
        inside = self.factor.solve(self.Phi.T @ R)
        return (R - self.Phi @ inside) / self.lam

    def log_determinant(self) -> float:
        """ln|P| = ln|ΦᵀΦ + λI| + (N - M) ln λ."""
        N, M = self.Phi.shape
        inside = self.factor.log_determinant()
        return float(inside + (N - M) * np.log(self.lam))


def preconditioner(
    k: Kernel, X: Any, lam: float, landmarks: Any
) -> Preconditioner:
    """K + λI as the landmarks see it, and easy to divide by.

    P = Q + λI with Q = ΦΦᵀ of Nyström's features.  The eigenvalues of
    P⁻¹(K + λI) lie between 1 and 1 + ‖K - Q‖/λ.

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs
    lam : λ > 0
    landmarks : (M, D) inputs

    Returns
    -------
    P : Preconditioner, a function of r that gives P⁻¹r; memory NM

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> P = preconditioner(Linear(), [[1.0], [2.0]], 1.0, [[1.0]])
    >>> P([6.0, 12.0]).round(6)
    array([1., 2.])
    """
    Phi = nystrom.feature_map(k, landmarks)(X)
    lam = _checks.positive(lam, "lam")
    A = _linalg.add_to_diagonal(Phi.T @ Phi, lam, overwrite=True)
    return Preconditioner(
        Phi, lam, _linalg.factor(A, "ΦᵀΦ + λI", overwrite=True)
    )


# --------------------------------------------------------------------- ridge


@dataclass(frozen=True, eq=False, kw_only=True)
class IterativeRidge(Expansion):
    """Kernel ridge regression by iteration; made by :func:`fit`.

    y(x) = Σ_n a_n k(x_n, x), with a certificate of how far it may be from
    the exact solution.
    """

    residual: float
    """‖t - (K + λI)a‖ / ‖t‖, computed from a itself."""
    error: float
    """Bound on the error of any prediction, over √k(x, x)."""
    residuals: tuple[float, ...] = field(repr=False)
    """The residual after each iteration."""
    iterations: int
    """Number of iterations."""
    status: str
    """"converged", or why it ended before."""

    def predict(self, Z: Any) -> FloatArray:
        """Predictions (6.9) at new inputs Z, (N*,) or (N*, Q)."""
        return self.output(Z)


def fit(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    lam: float,
    landmarks: Any = None,
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
    progress: bool = True,
) -> IterativeRidge:
    """Kernel ridge regression without the Gram matrix, to a certified error.

    (K + λI)a = t by conjugate gradients.  With the residual
    r = t - (K + λI)a, a prediction is wrong by k(x)ᵀ(K + λI)⁻¹r, and

    abs(y(x) - y_exact(x)) <= √k(x, x) ‖r‖ / (2√λ)

    for every x, because eigenvalues have √κ/(κ + λ) <= 1/(2√λ).

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs as rows, or N objects if the kernel takes such
    t : (N,) targets, or (N, Q) of Q outputs
    lam : λ > 0
    landmarks : (M, D) inputs of a preconditioner, or none
    tolerance : goal for ‖r‖ / ‖t‖
    max_iterations, progress : as :func:`conjugate_gradients`

    Returns
    -------
    model : IterativeRidge; a ConvergenceWarning says if the goal was missed

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> model = fit(Linear(), [[1.0], [2.0]], [1.0, 1.0], lam=1.0)
    >>> model.predict([[3.0]]).round(6), model.iterations
    (array([1.5]), 2)
    """
    lam = _checks.positive(lam, "lam")
    A = RegularisedGram(k, X, lam)
    t = _checks.one_or_more_columns(t, "t", len(A))
    P = None if landmarks is None else preconditioner(k, A.X, lam, landmarks)
    found = conjugate_gradients(
        A,
        t,
        P,
        tolerance=tolerance,
        max_iterations=max_iterations,
        progress=progress,
    )
    size = float(np.linalg.norm(t, axis=0).max())
    error = found.residual * size / (2 * np.sqrt(lam))
    return IterativeRidge(
        k,
        A.X,
        found.x,
        residual=found.residual,
        error=float(error),
        residuals=found.residuals,
        iterations=found.iterations,
        status=found.status,
    )


# -------------------------------------------------------------- determinants


class LogDeterminant(NamedTuple):
    """An estimate of ln|K + λI| and its standard error over the probes."""

    value: float
    standard_error: float


def log_determinant(
    k: Kernel,
    X: Any,
    lam: float,
    rng: int | np.random.Generator,
    *,
    probes: int = 16,
    steps: int = 50,
) -> LogDeterminant:
    """ln|K + λI| by stochastic Lanczos quadrature, without the Gram matrix.

    ln|A| = tr ln A = E[zᵀ(ln A)z] for z of independent signs, and Lanczos'
    tridiagonal T, its first direction that of z, gives
    zᵀ(ln A)z ≈ N Σ_i (u_i)₁² ln θ_i over the eigenvectors u_i and
    eigenvalues θ_i of T.

    Takes ``steps`` products with K, of all probes at once; the error that is
    reported is that of the probes, not that of too few steps.

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs
    lam : λ > 0
    rng : seed or NumPy generator
    probes : number of vectors z, at least 2
    steps : of Lanczos, each vector's own

    Returns
    -------
    estimate : LogDeterminant

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> X = [[3.0, 0.0], [0.0, 3.0]]
    >>> value, error = log_determinant(Linear(), X, 1.0, rng=0)
    >>> round(value, 6), round(error, 6)  # 2 ln 10, the same for each z
    (4.60517, 0.0)
    """
    A = RegularisedGram(k, X, _checks.positive(lam, "lam"))
    rng, N = _checks.generator(rng), len(A)
    probes = _checks.count(probes, "probes", least=2)
    steps = min(_checks.count(steps, "steps"), N)
    Z = np.where(rng.random((N, probes)) < 0.5, -1.0, 1.0) / np.sqrt(N)
    d, e = _lanczos(A, Z, steps)
    columns = zip(d.T, e.T, strict=True)
    values = N * np.array([_log_at_first(*T, A.lam) for T in columns])
    error = values.std(ddof=1) / np.sqrt(probes)
    return LogDeterminant(float(values.mean()), float(error))


def _log_at_first(d: FloatArray, e: FloatArray, least: float) -> float:
    """(ln T)₁₁ for a tridiagonal T with diagonal d and neighbours e."""
    theta, u = eigh_tridiagonal(d, e)
    return float(u[0] ** 2 @ np.log(theta.clip(min=least)))


def _lanczos(
    A: RegularisedGram, V: FloatArray, steps: int
) -> tuple[FloatArray, FloatArray]:
    """Diagonals (steps, probes) and neighbours of T, one for each column.

    The columns of V are unit vectors.  Directions are not made orthogonal to
    those long before: that repeats eigenvalues of T, and their weights add up
    to the same.
    """
    d, e = np.ones((2, steps, V.shape[1]))
    before, size = np.zeros_like(V), np.zeros(V.shape[1])
    for s in range(steps):
        AV = A @ V
        d[s] = np.einsum("np,np->p", V, AV)
        new = AV - d[s] * V - size * before
        size = e[s] = np.linalg.norm(new, axis=0)
        before, V = V, _ratio(new, np.broadcast_to(size, new.shape))
    return d, e[:-1]
