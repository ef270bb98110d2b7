"""The perceptron, primal (weights w) and dual (mistake counts c).

The equations are those of chapter 3, where there is no separate bias: give
the features a constant, or add a constant to the kernel.  Chapter 13 adds
the loss behind the rule, the bias, and the average of all weights.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks
from kernelbook._checks import FloatArray, IntArray
from kernelbook._likelihood import product
from kernelbook._progress import CONVERGED, Progress, warn_unless_converged
from kernelbook.features import with_bias

ADVICE = (
    "the last pass still had mistakes; raise max_epochs if a hyperplane "
    "separates the classes, and if none does there is no end"
)


class _Run:
    """What the three forms say alike about how they ended."""

    status: str

    @property
    def converged(self) -> bool:
        """Whether the last pass was without mistakes."""
        return self.status == CONVERGED


@dataclass(frozen=True)
class Primal(_Run):
    """What `fit_primal` learned."""

    w: FloatArray
    """(M,) weights."""
    mistakes: IntArray
    """The examples it got wrong, in that order."""
    status: str
    """"converged", or "max_iterations" if the last pass had mistakes."""


@dataclass(frozen=True)
class Dual(_Run):
    """What `fit_dual` learned."""

    c: IntArray
    """(N,) how often it got each example wrong."""
    mistakes: IntArray
    """The examples it got wrong, in that order."""
    status: str
    """"converged", or "max_iterations" if the last pass had mistakes."""


@dataclass(frozen=True)
class Affine(_Run):
    """What `fit` learned."""

    w: FloatArray
    """(D,) weights."""
    b: float
    """Bias."""
    mistakes: IntArray
    """The examples it got wrong, in that order."""
    status: str
    """"converged", or "max_iterations" if the last pass had mistakes."""


def fit_primal(
    Phi: ArrayLike, t: ArrayLike, max_epochs: int = 100, progress: bool = True
) -> Primal:
    """Perceptron with weights: at a mistake, add t_n φ(x_n) to w.

    Example n is a mistake unless t_n wᵀφ(x_n) > 0.  Starts at w = 0 and
    passes through the examples in order until a pass is without mistakes.

    Parameters
    ----------
    Phi : (N, M) design matrix, row n is φ(x_n)ᵀ
    t : (N,) labels, -1 and +1, both present
    max_epochs : number of passes to try; look at ``status`` afterwards
    progress : whether to report on stderr, every ten seconds of computing

    Warns
    -----
    ConvergenceWarning
        If the last pass had mistakes.

    Examples
    --------
    >>> fit_primal([[1.0, 2.0], [1.0, 0.0]], [1, -1])
    Primal(w=array([-1.,  2.]), mistakes=array([0, 1, 1]), status='converged')
    """
    Phi = _checks.matrix(Phi, "Phi")
    t = _checks.both_signs(t, "t", len(Phi))
    w = np.zeros(Phi.shape[1])

    def right(n: int) -> bool:
        return bool(t[n] * (w @ Phi[n]) > 0)

    def learn(n: int) -> None:
        w[:] += t[n] * Phi[n]

    report = Progress("perceptron.fit_primal", progress)
    mistakes, status = _passes(right, learn, len(t), max_epochs, report)
    warn_unless_converged(status, "perceptron.fit_primal", ADVICE)
    return Primal(w, mistakes, status)


def fit_dual(
    K: ArrayLike, t: ArrayLike, max_epochs: int = 100, progress: bool = True
) -> Dual:
    """Perceptron with mistake counts: at a mistake, add one to c_n.

    Example n is a mistake unless t_n Σ_m c_m t_m k(x_m, x_n) > 0.  The dual
    coefficients are a_n = c_n t_n.

    Parameters
    ----------
    K : (N, N) Gram matrix
    t : (N,) labels, -1 and +1, both present
    max_epochs : number of passes to try; look at ``status`` afterwards
    progress : whether to report on stderr, every ten seconds of computing

    Warns
    -----
    ConvergenceWarning
        If the last pass had mistakes.

    Examples
    --------
    >>> fit_dual([[5.0, 1.0], [1.0, 1.0]], [1, -1])
    Dual(c=array([1, 2]), mistakes=array([0, 1, 1]), status='converged')
    """
    K = _checks.gram(K)
    t = _checks.both_signs(t, "t", len(K))
    c = np.zeros(len(K), dtype=np.int64)

    def right(n: int) -> bool:
        return bool(t[n] * ((c * t) @ K[n]) > 0)

    def learn(n: int) -> None:
        c[n] += 1

    report = Progress("perceptron.fit_dual", progress)
    mistakes, status = _passes(right, learn, len(t), max_epochs, report)
    warn_unless_converged(status, "perceptron.fit_dual", ADVICE)
    return Dual(c, mistakes, status)


def mistake_bound(w: ArrayLike, Phi: ArrayLike, t: ArrayLike) -> float:
    """Novikoff's bound on the number of mistakes, from a separating w.

    m = (R/γ)², with R = max_n ‖φ(x_n)‖ and γ = min_n t_n wᵀφ(x_n) / ‖w‖.

    Parameters
    ----------
    w : (M,) any weights that separate the classes; the length is ignored
    Phi : (N, M) design matrix
    t : (N,) labels, -1 or +1

    Raises
    ------
    ValueError
        If w does not separate the classes.

    Examples
    --------
    >>> mistake_bound([0.0, 1.0], [[1.0, 2.0], [1.0, -1.0]], [1, -1])
    5.0
    """
    Phi = _checks.matrix(Phi, "Phi")
    t = _checks.signs(t, "t", len(Phi))
    w = _checks.vector(w, "w", Phi.shape[1])
    Phi, w = _of_size_one(Phi), _of_size_one(w)  # lengths do not matter
    margins = t * (Phi @ w)
    n = int(margins.argmin())
    if margins[n] <= 0:
        raise ValueError(
            "w must separate the classes, got t_n wᵀφ(x_n) <= 0 for the "
            f"example n = {n}, counted from 0"
        )
    R_squared = float((Phi**2).sum(axis=1).max())
    return R_squared * float(w @ w) / float(margins[n]) ** 2


def loss(w: ArrayLike, b: float, X: ArrayLike, t: ArrayLike) -> float:
    """Perceptron loss, L(w, b) = Σ_n max(0, -t_n(wᵀx_n + b)).

    Parameters
    ----------
    w, b : (D,) weights and bias
    X : (N, D) inputs
    t : (N,) labels, -1 or +1

    Examples
    --------
    >>> loss([1.0], 0.0, [[2.0], [3.0]], [1, -1])
    3.0
    """
    return float(np.maximum(0, -_margins(w, b, X, t)).sum())


def subgradient(
    w: ArrayLike, b: float, X: ArrayLike, t: ArrayLike
) -> tuple[FloatArray, float]:
    """A subgradient of the loss, by the weights and by the bias.

    g = -Σ_{n ∈ M} t_n x_n and h = -Σ_{n ∈ M} t_n, over the mistakes M:
    those n with t_n(wᵀx_n + b) <= 0.  Where no example has a
    score of zero this is the gradient.

    Parameters
    ----------
    w, b : (D,) weights and bias
    X : (N, D) inputs
    t : (N,) labels, -1 or +1

    Returns
    -------
    g_w, g_b : (D,) and a number

    Examples
    --------
    >>> subgradient([1.0], 0.0, [[2.0], [3.0]], [1, -1])
    (array([3.]), 1.0)
    """
    wrong = _margins(w, b, X, t) <= 0
    X, t = np.asarray(X, dtype=float), np.asarray(t, dtype=float)
    return -t[wrong] @ X[wrong], 0.0 - float(t[wrong].sum())


def update(
    w: ArrayLike, b: float, x: ArrayLike, t: float, eta: float = 1.0
) -> tuple[FloatArray, float]:
    """One step of the rule: at a mistake, w ← w + η t x and b ← b + η t.

    If t(wᵀx + b) > 0 nothing changes.

    Parameters
    ----------
    w, b : (D,) weights and bias
    x, t : (D,) one input and its label, -1 or +1
    eta : step η > 0

    Examples
    --------
    >>> update([1.0], 0.0, [3.0], -1, eta=0.5)
    (array([-0.5]), -0.5)
    """
    x = _checks.vector(x, "x")
    w = _checks.vector(w, "w", len(x))
    t = float(_checks.signs([t], "t", 1)[0])
    b, eta = _checks.real(b, "b"), _checks.positive(eta, "eta")
    if t * (w @ x + b) > 0:
        return w.copy(), b
    return w + eta * t * x, b + eta * t


def fit(
    X: ArrayLike, t: ArrayLike, max_epochs: int = 100, progress: bool = True
) -> Affine:
    """Perceptron with a bias: at a mistake, add t_n x_n to w and t_n to b.

    This is `fit_primal` with the features (1, x).  Starts at zero, so a step
    η other than 1 would multiply w and b by η and change no mistake.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) labels, -1 and +1, both present
    max_epochs : number of passes to try; look at ``status`` afterwards
    progress : whether to report on stderr, every ten seconds of computing

    Warns
    -----
    ConvergenceWarning
        If the last pass had mistakes.

    Examples
    --------
    >>> run = fit([[1.0], [2.0]], [-1, 1])
    >>> run.w, run.b, len(run.mistakes), run.converged
    (array([2.]), -3.0, 13, True)
    """
    X_1 = with_bias(X)
    t = _checks.both_signs(t, "t", len(X_1))
    v = np.zeros(X_1.shape[1])  # b, then w

    def right(n: int) -> bool:
        return bool(t[n] * (v @ X_1[n]) > 0)

    def learn(n: int) -> None:
        v[:] += t[n] * X_1[n]

    report = Progress("perceptron.fit", progress)
    mistakes, status = _passes(right, learn, len(t), max_epochs, report)
    warn_unless_converged(status, "perceptron.fit", ADVICE)
    return Affine(v[1:].copy(), float(v[0]), mistakes, status)


def fit_averaged(
    X: ArrayLike, t: ArrayLike, epochs: int = 10
) -> tuple[FloatArray, float]:
    """Averaged perceptron: the mean of all weights that `fit` goes through.

    w̄ = (1/S) Σ_s w_s and b̄ = (1/S) Σ_s b_s, over the S = N · epochs visits to
    an example, w_s being the weights after the visit.

    Parameters
    ----------
    X : (N, D) inputs
    t : (N,) labels, -1 and +1, both present
    epochs : number of passes, all of them made

    Returns
    -------
    w, b : (D,) weights and bias

    Examples
    --------
    >>> fit_averaged([[1.0], [2.0]], [-1, 1], epochs=2)
    (array([0.5]), -0.5)
    """
    X_1 = with_bias(X)
    t = _checks.both_signs(t, "t", len(X_1))
    epochs = _checks.count(epochs, "epochs")
    v, total = np.zeros(X_1.shape[1]), np.zeros(X_1.shape[1])
    for _ in range(epochs):
        for x, t_n in zip(X_1, t, strict=True):
            if t_n * (v @ x) <= 0:
                v += t_n * x
            total += v
    total /= len(t) * epochs
    return total[1:].copy(), float(total[0])


def _passes(
    right: Callable[[int], bool],
    learn: Callable[[int], None],
    N: int,
    max_epochs: int,
    report: Progress,
) -> tuple[IntArray, str]:
    """Learn from each example that is not right, until all of them are."""
    mistakes: list[int] = []
    for epoch in range(_checks.count(max_epochs, "max_epochs")):
        before = len(mistakes)
        for n in range(N):
            if not right(n):
                learn(n)
                mistakes.append(n)
        if len(mistakes) == before:
            return np.array(mistakes), CONVERGED
        report(f"{epoch + 1} passes, {len(mistakes)} mistakes")
    return np.array(mistakes), "max_iterations"


def _of_size_one(A: FloatArray) -> FloatArray:
    """A times a power of two, so that no square overflows or vanishes."""
    exponent = np.frexp(np.abs(A).max())[1]
    scaled: FloatArray = np.ldexp(A, -exponent)
    return scaled


def _margins(w: ArrayLike, b: float, X: ArrayLike, t: ArrayLike) -> FloatArray:
    """t_n(wᵀx_n + b), positive for examples on their own side."""
    X = _checks.matrix(X, "X")
    t = _checks.signs(t, "t", len(X))
    w, b = _checks.vector(w, "w", X.shape[1]), _checks.real(b, "b")
    return t * (product(X, w, "w and X") + b)
