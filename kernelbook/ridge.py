"""Ridge regression, primal (weights w) and dual (coefficients a).

The equations are those of chapters 1 and 2; (6.2) to (6.9) are numbered as
in PRML.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks, _linalg
from kernelbook._checks import FloatArray
from kernelbook._expansion import Expansion, gram, own_inputs
from kernelbook.kernels import Kernel


def objective(w: ArrayLike, Phi: ArrayLike, t: ArrayLike, lam: float) -> float:
    """Regularised sum-of-squares error (6.2).

    J(w) = ½ Σ_n {wᵀφ(x_n) - t_n}² + ½ λ wᵀw.

    Parameters
    ----------
    w : (M,) weights
    Phi : (N, M) design matrix, row n is φ(x_n)ᵀ
    t : (N,) targets
    lam : λ >= 0

    Examples
    --------
    >>> objective(w=[1.0], Phi=[[1.0], [2.0]], t=[1.0, 1.0], lam=2.0)
    1.5
    """
    Phi, t = _problem(Phi, t)
    w = _checks.vector(w, "w", Phi.shape[1])
    lam = _checks.non_negative(lam, "lam")
    residual = Phi @ w - t
    return float(residual @ residual + lam * w @ w) / 2


def gradient(
    w: ArrayLike, Phi: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """Gradient of (6.2): ∇J(w) = Σ_n {wᵀφ(x_n) - t_n} φ(x_n) + λw.

    Parameters
    ----------
    w : (M,) weights
    Phi : (N, M) design matrix
    t : (N,) targets
    lam : λ >= 0

    Returns
    -------
    grad : (M,)

    Examples
    --------
    >>> gradient(w=[1.0], Phi=[[1.0], [2.0]], t=[1.0, 1.0], lam=2.0)
    array([4.])
    """
    Phi, t = _problem(Phi, t)
    w = _checks.vector(w, "w", Phi.shape[1])
    lam = _checks.non_negative(lam, "lam")
    return Phi.T @ (Phi @ w - t) + lam * w


def fit_primal(Phi: ArrayLike, t: ArrayLike, lam: float) -> FloatArray:
    """The minimiser of (6.2), from an M × M system.

    w = (ΦᵀΦ + λI_M)⁻¹ Φᵀt.

    Parameters
    ----------
    Phi : (N, M) design matrix
    t : (N,) targets
    lam : λ > 0

    Returns
    -------
    w : (M,)

    Examples
    --------
    >>> fit_primal(Phi=[[1.0], [2.0]], t=[1.0, 1.0], lam=1.0)
    array([0.5])
    """
    Phi, t = _problem(Phi, t)
    lam = _checks.positive(lam, "lam")
    A = _linalg.add_to_diagonal(Phi.T @ Phi, lam, overwrite=True)
    return _linalg.factor(A, "ΦᵀΦ + λI", overwrite=True).solve(Phi.T @ t)


class LinearFit(NamedTuple):
    """A fitted model y(x) = wᵀφ(x) + b."""

    w: FloatArray
    b: float


def fit_with_intercept(Phi: ArrayLike, t: ArrayLike, lam: float) -> LinearFit:
    """Ridge regression with an intercept b that is not penalised.

    Minimises ½ Σ_n {wᵀφ(x_n) + b - t_n}² + ½ λ wᵀw.  With the means φ̄ of the
    features and t̄ of the targets, Φ_c = Φ - 1φ̄ᵀ and t_c = t - 1t̄,

    w = (Φ_cᵀΦ_c + λI_M)⁻¹ Φ_cᵀt_c,  b = t̄ - wᵀφ̄.

    Parameters
    ----------
    Phi : (N, M) design matrix, without a constant feature
    t : (N,) targets
    lam : λ > 0

    Returns
    -------
    w : (M,)
    b : number

    Examples
    --------
    >>> fit_with_intercept(Phi=[[1.0], [3.0]], t=[100.0, 104.0], lam=2.0)
    LinearFit(w=array([1.]), b=100.0)
    """
    Phi, t = _problem(Phi, t)
    phi_mean, t_mean = Phi.mean(axis=0), float(t.mean())
    w = fit_primal(Phi - phi_mean, t - t_mean, lam)
    return LinearFit(w, float(t_mean - w @ phi_mean))


def minimum_norm_weights(Phi: ArrayLike, t: ArrayLike) -> FloatArray:
    """The shortest of all least-squares solutions: ridge's limit for λ → 0.

    w = Φ⁺t, with the pseudo-inverse Φ⁺.

    Singular values below max(N, M) times the machine precision, relative to
    the largest, count as zero.

    Parameters
    ----------
    Phi : (N, M) design matrix, of any rank
    t : (N,) targets

    Returns
    -------
    w : (M,)

    Examples
    --------
    >>> minimum_norm_weights(Phi=[[1.0, 1.0]], t=[4.0]).round(3)
    array([2., 2.])
    """
    Phi, t = _problem(Phi, t)
    # By the singular values of Φ itself: ΦᵀΦ would square their spread.
    w = np.linalg.lstsq(Phi, t, rcond=None)[0]
    return np.asarray(w, dtype=np.float64)


def effective_parameters(Phi: ArrayLike, lam: float) -> float:
    """How many parameters a ridge fit uses: the trace of S, Φw = St.

    Σ_i σ_i² / (σ_i² + λ), with the singular values σ_i of Φ.

    Parameters
    ----------
    Phi : (N, M) design matrix
    lam : λ > 0

    Examples
    --------
    >>> round(effective_parameters(Phi=[[2.0, 0.0], [0.0, 1.0]], lam=1.0), 6)
    1.3
    """
    Phi = _checks.matrix(Phi, "Phi")
    lam = _checks.positive(lam, "lam")
    squared = np.linalg.svd(Phi, compute_uv=False) ** 2
    return float(np.sum(squared / (squared + lam)))


def leave_one_out(Phi: ArrayLike, t: ArrayLike, lam: float) -> FloatArray:
    """Residual of each example under the fit without it, from one fit.

    t_n - y_{-n}(x_n) = (t_n - y(x_n)) / (1 - S_nn), with the diagonal of
    S = Φ(ΦᵀΦ + λI_M)⁻¹Φᵀ.

    Parameters
    ----------
    Phi : (N, M) design matrix
    t : (N,) targets
    lam : λ > 0

    Returns
    -------
    residuals : (N,)

    Examples
    --------
    >>> leave_one_out(Phi=[[1.0], [2.0]], t=[2.0, 1.0], lam=1.0).round(6)
    array([ 1.6, -1. ])
    """
    Phi, t = _problem(Phi, t)
    lam = _checks.positive(lam, "lam")
    A = _linalg.add_to_diagonal(Phi.T @ Phi, lam)
    factor = _linalg.factor(A, "ΦᵀΦ + λI")
    leverage = (factor.whiten(Phi.T) ** 2).sum(axis=0)
    residuals: FloatArray = t - Phi @ factor.solve(Phi.T @ t)
    residuals /= 1 - leverage
    return residuals


class BiasVariance(NamedTuple):
    """How far predictions miss on average, and how much they scatter."""

    bias: FloatArray
    variance: FloatArray


def bias_variance(
    Phi: ArrayLike,
    h: ArrayLike,
    noise: float,
    lam: float,
    Phi_new: ArrayLike,
    h_new: ArrayLike,
) -> BiasVariance:
    """Bias and variance of ridge predictions, over new noise at fixed inputs.

    Targets are the h(x_n) and, besides, independent noise of mean zero.  With
    s(x) = Φ(ΦᵀΦ + λI_M)⁻¹φ(x), a prediction is y(x) = s(x)ᵀt, of

    bias b(x) = s(x)ᵀh - h(x) and variance v(x) = noise² ‖s(x)‖².

    Parameters
    ----------
    Phi : (N, M) design matrix of the training inputs
    h : (N,) true function at the training inputs
    noise : standard deviation of the noise, >= 0
    lam : λ > 0
    Phi_new : (N*, M) design matrix of the new inputs
    h_new : (N*,) true function at the new inputs

    Returns
    -------
    bias : (N*,)
    variance : (N*,)

    Examples
    --------
    >>> bias_variance([[1.0]], [2.0], 1.0, 1.0, [[1.0]], [2.0])
    BiasVariance(bias=array([-1.]), variance=array([0.25]))
    """
    Phi = _checks.matrix(Phi, "Phi")
    h = _checks.vector(h, "h", len(Phi))
    Phi_new = _checks.matrix(Phi_new, "Phi_new")
    if Phi_new.shape[1] != Phi.shape[1]:
        raise ValueError(
            f"Phi_new must have the {Phi.shape[1]} columns of Phi, "
            f"got shape {Phi_new.shape}"
        )
    h_new = _checks.vector(h_new, "h_new", len(Phi_new))
    noise = _checks.non_negative(noise, "noise")
    lam = _checks.positive(lam, "lam")
    A = _linalg.add_to_diagonal(Phi.T @ Phi, lam, overwrite=True)
    S = Phi @ _linalg.factor(A, "ΦᵀΦ + λI", overwrite=True).solve(Phi_new.T)
    return BiasVariance(S.T @ h - h_new, noise**2 * (S**2).sum(axis=0))


def residual_coefficients(
    w: ArrayLike, Phi: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """Dual coefficients of given weights: residual over λ (6.4).

    a_n = -{wᵀφ(x_n) - t_n} / λ.

    Parameters
    ----------
    w : (M,) weights
    Phi : (N, M) design matrix
    t : (N,) targets
    lam : λ > 0

    Returns
    -------
    a : (N,)

    Examples
    --------
    >>> residual_coefficients([0.5], [[1.0], [2.0]], [1.0, 1.0], lam=1.0)
    array([0.5, 0. ])
    """
    Phi, t = _problem(Phi, t)
    w = _checks.vector(w, "w", Phi.shape[1])
    lam = _checks.positive(lam, "lam")
    return (t - Phi @ w) / lam


def weights_from_dual(a: ArrayLike, Phi: ArrayLike) -> FloatArray:
    """Weights as a combination of training features (6.3): w = Φᵀa.

    Parameters
    ----------
    a : (N,) dual coefficients
    Phi : (N, M) design matrix

    Returns
    -------
    w : (M,)

    Examples
    --------
    >>> weights_from_dual(a=[0.5, 0.0], Phi=[[1.0], [2.0]])
    array([0.5])
    """
    Phi = _checks.matrix(Phi, "Phi")
    a = _checks.vector(a, "a", len(Phi))
    return Phi.T @ a


def dual_objective(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, lam: float
) -> float:
    """The objective in terms of the Gram matrix (6.7): J at w = Φᵀa.

    J(a) = ½ aᵀKKa - aᵀKt + ½ tᵀt + ½ λ aᵀKa.

    Parameters
    ----------
    a : (N,) dual coefficients
    K : (N, N) Gram matrix
    t : (N,) targets
    lam : λ >= 0

    Examples
    --------
    >>> dual_objective(a=[0.5, 0.0], K=[[1, 2], [2, 4]], t=[1, 1], lam=1)
    0.25
    """
    K, t = _dual_problem(K, t)
    a = _checks.vector(a, "a", len(K))
    lam = _checks.non_negative(lam, "lam")
    y = K @ a
    return float((y - t) @ (y - t) + lam * a @ y) / 2


def dual_gradient(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, lam: float
) -> FloatArray:
    """Gradient of (6.7): ∇J(a) = K{(K + λI_N)a - t}.

    Parameters
    ----------
    a : (N,) dual coefficients
    K : (N, N) Gram matrix
    t : (N,) targets
    lam : λ >= 0

    Returns
    -------
    grad : (N,)

    Examples
    --------
    >>> dual_gradient(a=[0.5, 0.0], K=[[1, 2], [2, 4]], t=[1, 1], lam=1)
    array([0., 0.])
    """
    K, t = _dual_problem(K, t)
    a = _checks.vector(a, "a", len(K))
    lam = _checks.non_negative(lam, "lam")
    return K @ (K @ a + lam * a - t)


def fit_dual(
    K: ArrayLike, t: ArrayLike, lam: float, overwrite: bool = False
) -> FloatArray:
    """Dual solution (6.8), from an N × N system.

    a = (K + λI_N)⁻¹ t.

    Parameters
    ----------
    K : (N, N) Gram matrix
    t : (N,) targets, or (N, Q) of Q outputs
    lam : λ > 0
    overwrite : whether K may be spoilt, to save the memory of a second one

    Returns
    -------
    a : (N,), or (N, Q)

    Raises
    ------
    ValueError
        If K is not square and symmetric, or K + λI is not positive definite.

    Examples
    --------
    >>> fit_dual(K=[[1, 2], [2, 4]], t=[1, 1], lam=1.0).round(3)
    array([0.5, 0. ])
    """
    eps = _checks.precision(K)
    K = _checks.gram(K)
    t = _checks.one_or_more_columns(t, "t", len(K))
    lam = _checks.positive(lam, "lam")
    C = _linalg.add_to_diagonal(K, lam, overwrite)
    return _linalg.factor(C, "K + λI", overwrite=True, eps=eps).solve(t)


class DualFit(NamedTuple):
    """A fitted model y(x) = Σ_n a_n k(x_n, x) + b."""

    a: FloatArray
    b: float


def fit_dual_with_intercept(K: ArrayLike, t: ArrayLike, lam: float) -> DualFit:
    """Dual solution with an intercept b that is not penalised.

    With H = I - 11ᵀ/N, which takes the mean away,

    a = (HKH + λI_N)⁻¹ Ht,  b = mean(t - Ka).

    The coefficients sum to zero, and (K + λI_N)a + b1 = t.

    Parameters
    ----------
    K : (N, N) Gram matrix
    t : (N,) targets
    lam : λ > 0

    Returns
    -------
    a : (N,)
    b : number

    Examples
    --------
    >>> fit = fit_dual_with_intercept([[1, 3], [3, 9]], [100, 104], lam=2.0)
    >>> fit.a.round(6), round(fit.b, 6)
    (array([-0.5,  0.5]), 100.0)
    """
    K, t = _dual_problem(K, t)
    columns, t_mean = K @ np.full(len(K), 1 / len(K)), float(t.mean())
    centred = K - columns - columns[:, None] + columns.mean()
    a = fit_dual(centred, t - t_mean, lam)
    return DualFit(a, float(t_mean - columns @ a))


def predict(a: ArrayLike, k: ArrayLike) -> FloatArray:
    """Predictions from dual coefficients (6.9): y(x) = Σ_n a_n k(x_n, x).

    Parameters
    ----------
    a : (N,) dual coefficients, or (N, Q)
    k : (N, N*) cross-Gram k(X, Z), column m holds k(x_n, x) for the m-th new
        input

    Returns
    -------
    y : (N*,), or (N*, Q)

    Examples
    --------
    >>> predict(a=[0.5, 0.0], k=[[3.0], [6.0]])
    array([1.5])
    """
    a = _checks.one_or_more_columns(a, "a", len(np.atleast_1d(a)))
    k = _checks.cross_gram(k, len(a), "k")
    return k.T @ a


class KernelRidge(Expansion):
    """Kernel ridge regression that keeps its inputs; made by :func:`fit`.

    y(x) = Σ_n a_n k(x_n, x), asked for new inputs alone.
    """

    def predict(self, Z: Any) -> FloatArray:
        """Predictions (6.9) at new inputs Z, (N*,) or (N*, Q)."""
        return self.output(Z)


def fit(k: Kernel, X: Any, t: ArrayLike, lam: float) -> KernelRidge:
    """Kernel ridge regression from a kernel and inputs: (6.8) with K = k(X).

    Parameters
    ----------
    k : kernel
    X : (N, D) inputs as rows, or N objects if the kernel takes such
    t : (N,) targets, or (N, Q) of Q outputs
    lam : λ > 0

    Returns
    -------
    model : KernelRidge

    Examples
    --------
    >>> from kernelbook.kernels import Linear
    >>> fit(Linear(), [[1.0], [2.0]], [1.0, 1.0], lam=1.0).predict([[3.0]])
    array([1.5])
    """
    X = own_inputs(k, X)
    a = fit_dual(gram(k, X), t, lam, overwrite=True)
    return KernelRidge(k, X, a)


def target_weights(K: ArrayLike, k: ArrayLike, lam: float) -> FloatArray:
    """How much each training target counts in a prediction.

    s(x) = (K + λI_N)⁻¹ k(x), so that y(x) = Σ_n s_n(x) t_n.

    Parameters
    ----------
    K : (N, N) Gram matrix
    k : (N, N*) cross-Gram with the new inputs
    lam : λ > 0

    Returns
    -------
    S : (N, N*), column m belongs to the m-th new input

    Examples
    --------
    >>> target_weights(K=[[1, 2], [2, 4]], k=[[3.0], [6.0]], lam=1.0)
    array([[0.5],
           [1. ]])
    """
    eps = _checks.precision(K)
    K = _checks.gram(K)
    k = _checks.cross_gram(k, len(K), "k")
    lam = _checks.positive(lam, "lam")
    C = _linalg.add_to_diagonal(K, lam)
    return _linalg.factor(C, "K + λI", overwrite=True, eps=eps).solve(k)


def lagrangian_dual(
    a: ArrayLike, K: ArrayLike, t: ArrayLike, lam: float
) -> float:
    """The Lagrangian dual of ridge regression, a lower bound on (6.2).

    G(a) = λ aᵀt - ½ λ² aᵀa - ½ λ aᵀKa.

    Parameters
    ----------
    a : (N,) multipliers, divided by λ
    K : (N, N) Gram matrix
    t : (N,) targets
    lam : λ > 0

    Examples
    --------
    >>> lagrangian_dual(a=[0.5, 0.0], K=[[1, 2], [2, 4]], t=[1, 1], lam=1)
    0.25
    """
    K, t = _dual_problem(K, t)
    a = _checks.vector(a, "a", len(K))
    lam = _checks.positive(lam, "lam")
    return float(lam * (a @ t) - lam**2 * (a @ a) / 2 - lam * (a @ K @ a) / 2)


def _problem(Phi: ArrayLike, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
    Phi = _checks.matrix(Phi, "Phi")
    return Phi, _checks.vector(t, "t", len(Phi))


def _dual_problem(K: ArrayLike, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
    K = _checks.gram(K)
    return K, _checks.vector(t, "t", len(K))
