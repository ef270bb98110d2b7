"""Gaussian processes with inducing points: N M² in the place of N³.

The landmarks of ``nystrom`` as inducing points.  In place of K stands
Q = ΦΦᵀ with Nyström's features Φ = C U⁻¹, W = k(X_M) = UᵀU, so that the
function is y(x) = wᵀφ(x) with w standard normal.  With noise of precision β
everything follows from the sums ΦᵀΦ, Φᵀt and tᵀt over the rows:

    B = I + βΦᵀΦ,  w = βB⁻¹Φᵀt the posterior mean, B⁻¹ its covariance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks, _linalg, gp, learning, nystrom
from kernelbook import _normal_equations as sums
from kernelbook._checks import FloatArray
from kernelbook._gram import cut, number_of
from kernelbook._progress import CONVERGED, Progress
from kernelbook.kernels import Kernel
from kernelbook.kernels.base import STEP


@dataclass(frozen=True, eq=False)
class SparseGP:
    """A process with inducing points that has seen data; see :func:`fit`.

    It keeps the kernel ``k``, the feature map ``features``, the noise
    precision ``beta``, the Cholesky ``factor`` of B = I + βΦᵀΦ and the
    weights ``w`` (M,) of the mean, (M, Q) for Q outputs; and of the data only
    ``N``, and tt = tᵀt, fitted = βtᵀΦw and missed = tr(K - Q), which is NaN
    where it counts as noise.
    """

    k: Kernel
    features: nystrom.NystromMap = field(repr=False)
    beta: float
    factor: _linalg.Factor = field(repr=False)
    w: FloatArray = field(repr=False)
    N: int
    tt: float = field(repr=False)
    fitted: float = field(repr=False)
    missed: float = field(repr=False)
    status: str = CONVERGED
    """Always "converged", for nothing is searched for."""


def fit(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    beta: float,
    landmarks: Any,
    *,
    fitc: bool = False,
    progress: bool = True,
    report_jitter: bool = True,
) -> SparseGP:
    """Condition a process with inducing points on noisy targets.

    B = I + βΦᵀΦ,  w = βB⁻¹Φᵀt.  Targets count as wᵀφ(x) + noise: what the
    landmarks miss of the function is nowhere.  With ``fitc`` it counts as
    more noise, of each target its own: 1/β + k(x_n, x_n) - φ_nᵀφ_n.

    Memory is M² and a block of rows.

    Parameters
    ----------
    k : kernel
    X : (N, D) training inputs as rows, or N objects if the kernel takes such
    t : (N,) targets, or (N, Q) targets of Q independent outputs
    beta : noise precision β > 0, one for all
    landmarks : (M, D) inducing points
    fitc : whether what the landmarks miss is noise
    progress : report to stderr when it takes longer than ten seconds
    report_jitter : whether a JitterWarning says that W needed jitter

    Returns
    -------
    model : SparseGP

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0]], [1.0, 2.0]
    >>> predict(fit(Gaussian(0.5), X, t, 10.0, X), [[0.5]]).mean.round(3)
    array([1.551])
    """
    features, X, t, beta = _problem(k, X, t, beta, landmarks, report_jitter)
    shown = Progress("inducing.fit", progress)
    if fitc:
        total = _with_noise_of_their_own(features, X, t, beta, shown)
        return _conditioned(features, beta, total, np.nan)
    total = sums.accumulate(features, X, t, shown)
    return _conditioned(features, beta, total, _missed(features, X, total))


def predict(
    model: SparseGP, Z: Any, beta: float | None = None
) -> gp.Prediction:
    """Predictive mean and variance, corrected for what the landmarks miss.

    m(x) = wᵀφ(x),  σ²(x) = k(x, x) - φ(x)ᵀφ(x) + φ(x)ᵀB⁻¹φ(x).

    Far from all landmarks φ(x) is zero and the variance that of the prior.

    Parameters
    ----------
    model : SparseGP
    Z : (N*, D) new inputs
    beta : noise precision of the new targets, that of the old ones if left
        out

    Returns
    -------
    prediction : gp.Prediction, three (N*,) arrays; the mean of Q outputs is
        (N*, Q)

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> model = fit(Gaussian(0.5), [[0.0], [1.0]], [1.0, 2.0], 10.0, [[0.0]])
    >>> predict(model, [[0.0], [9.0]]).latent_variance.round(3)
    array([0.068, 1.   ])
    """
    return _predicted(model, Z, beta, corrected=True)


def subset_of_regressors(
    model: SparseGP, Z: Any, beta: float | None = None
) -> gp.Prediction:
    """The same mean with the variance of wᵀφ(x) alone: too small far away.

    σ²(x) = φ(x)ᵀB⁻¹φ(x), zero where φ(x) is.

    Parameters
    ----------
    model, Z, beta : as :func:`predict`

    Returns
    -------
    prediction : gp.Prediction

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> model = fit(Gaussian(0.5), [[0.0], [1.0]], [1.0, 2.0], 10.0, [[0.0]])
    >>> subset_of_regressors(model, [[0.0], [9.0]]).latent_variance.round(3)
    array([0.068, 0.   ])
    """
    return _predicted(model, Z, beta, corrected=False)


def lower_bound(model: SparseGP) -> float:
    """Titsias' lower bound on the log marginal likelihood of the process.

    F = ln N(t | 0, Q + β⁻¹I) - ½ β tr(K - Q) <= ln p(t), equal where nothing
    is missed.  By the sums,
    ln N(t | 0, Q + β⁻¹I) = -½ {N ln 2π - N ln β + ln|B| + β tᵀt - βtᵀΦw}.

    Parameters
    ----------
    model : SparseGP, fitted without ``fitc``

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0]], [1.0, 2.0]
    >>> round(lower_bound(fit(Gaussian(0.5), X, t, 10.0, X)), 3)
    -3.577
    >>> round(lower_bound(fit(Gaussian(0.5), X, t, 10.0, [[0.0]])), 3)
    -12.356
    """
    Q = _outputs(model)
    if np.isnan(model.missed):
        raise ValueError("model must be fitted with fitc=False, got True")
    one_output = (
        model.N * np.log(2 * np.pi / model.beta)
        + model.factor.log_determinant()
        + model.beta * model.missed
    )
    data_fit = model.beta * model.tt - model.fitted
    return float(-(Q * one_output + data_fit)) / 2


class Bound(NamedTuple):
    """Titsias' bound and its gradient.

    ``gradient`` has one entry for every hyperparameter of the kernel, by its
    logarithm and under its name, and one for ``beta``.
    """

    value: float
    gradient: dict[str, float]


def bound(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    beta: float,
    landmarks: Any,
    *,
    report_jitter: bool = True,
) -> Bound:
    """Titsias' bound with its gradient in ln θ, in 3NM² operations.

    With a = U⁻¹w and
    S_C = U⁻¹(I - B⁻¹)U⁻ᵀ - aaᵀ,  S_W = U⁻¹(I - B⁻¹ - βΦᵀΦ)U⁻ᵀ - aaᵀ,

    ∂F = β Σ_nm {C S_C + t aᵀ}_nm ∂C_nm + ½ Σ_lm {S_W}_lm ∂W_lm
    - ½ β Σ_n ∂k(x_n, x_n),

    each ∂ by ln p; C is met twice, a block of rows at a time.

    Parameters
    ----------
    k, X, t, beta, landmarks, report_jitter : as :func:`fit`

    Returns
    -------
    bound : Bound, value and gradient

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0]], [1.0, 2.0]
    >>> value, gradient = bound(Gaussian(0.5), X, t, 10.0, X)
    >>> round(value, 3), {name: round(g, 3) for name, g in gradient.items()}
    (-3.577, {'gamma': -0.141, 'beta': -0.049})
    """
    features, X, t, beta = _problem(k, X, t, beta, landmarks, report_jitter)
    total = sums.accumulate(features, X, t, Progress("", wanted=False))
    missed = _missed(features, X, total)
    model = _conditioned(features, beta, total, missed)
    B_inverse = _inverse(model.factor)
    gradient = _by_kernel(model, B_inverse, total, X, t)
    gradient["beta"] = _by_beta(model, B_inverse)
    return Bound(lower_bound(model), gradient)


def learn(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    beta: float,
    landmarks: Any,
    *,
    hold: Sequence[str] = (),
    restarts: int = 0,
    reach: float = 10.0,
    rng: int | np.random.Generator = 0,
    evaluations: int = 200,
    progress: bool = True,
) -> learning.Learned:
    """Hyperparameters and noise of greatest lower bound; landmarks stay.

    ``learning.learn`` with :func:`bound` for the evidence.

    Parameters
    ----------
    k, X, t, beta, landmarks : as :func:`fit`; k and beta are the first start
    hold, restarts, reach, rng, evaluations, progress : as ``learning.learn``

    Returns
    -------
    learned : learning.Learned, whose value is a bound

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 0.8, 0.2]
    >>> learned = learn(Gaussian(0.5), X, t, 10.0, landmarks=X)
    >>> round(learned.k.gamma, 3), round(learned.value, 3), learned.status
    (0.204, -2.624, 'converged')
    """
    return learning.learn(
        k,
        X,
        t,
        beta,
        objective=partial(bound, landmarks=landmarks, report_jitter=False),
        hold=hold,
        restarts=restarts,
        reach=reach,
        rng=rng,
        evaluations=evaluations,
        progress=progress,
    )


# -------------------------------------------------------------------- parts


def _problem(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    beta: float,
    landmarks: Any,
    report_jitter: bool,
) -> tuple[nystrom.NystromMap, Any, FloatArray, float]:
    """The features, and checked inputs, targets and precision."""
    features = nystrom.feature_map(k, landmarks, report_jitter=report_jitter)
    X = features.check(X)
    t = _checks.one_or_more_columns(t, "t", number_of(X))
    return features, X, t, _checks.positive(beta, "beta")


def _conditioned(
    features: nystrom.NystromMap,
    beta: float,
    total: sums.NormalEquations,
    missed: float,
) -> SparseGP:
    """The process that has seen what was added up."""
    factor = _linalg.factor(total.plus(1.0, beta), "I + βΦᵀΦ", overwrite=True)
    w = beta * factor.solve(total.r)
    fitted = beta * float(np.vdot(total.r, w))
    return SparseGP(
        features.k,
        features,
        beta,
        factor,
        w,
        total.N,
        total.tt,
        fitted,
        missed,
    )


def _missed(
    features: nystrom.NystromMap, X: Any, total: sums.NormalEquations
) -> float:
    """tr(K - Q), in which rounding must not look like a negative variance."""
    trace = float(features.k.diagonal(X).sum())
    return max(trace - float(total.A.trace()), 0.0)


def _with_noise_of_their_own(
    features: nystrom.NystromMap,
    X: Any,
    t: FloatArray,
    beta: float,
    progress: Progress,
) -> sums.NormalEquations:
    """Sums in which each row counts with its own precision, over β."""
    total, N = sums.NormalEquations.empty(features.M, t.shape[1:]), len(t)
    for rows in sums.pieces(N, features.M):
        Phi = features(X[rows])
        missed = features.k.diagonal(X[rows])
        missed -= np.einsum("nm,nm->n", Phi, Phi)
        root = 1 / np.sqrt(1 + beta * missed.clip(min=0))
        Phi *= root[:, None]
        total.add(Phi, (t[rows].T * root).T)
        progress(f"{rows.stop} of {N} rows")
    return total


def _predicted(
    model: SparseGP, Z: Any, beta: float | None, corrected: bool
) -> gp.Prediction:
    Z = model.features.check(Z, "Z")
    beta = model.beta if beta is None else _checks.positive(beta, "beta")
    N = number_of(Z)
    m, latent = np.empty((N, *model.w.shape[1:])), np.empty(N)
    for rows in sums.pieces(N, model.features.M):
        Phi = model.features(Z[rows])
        m[rows] = Phi @ model.w
        latent[rows] = 0.0
        if corrected:
            latent[rows] = model.k.diagonal(Z[rows])
            latent[rows] -= np.einsum("nm,nm->n", Phi, Phi)
        V = model.factor.whiten(Phi.T, overwrite=True)
        latent[rows] += np.einsum("mn,mn->n", V, V)
    latent.clip(min=0, out=latent)  # rounding reaches -1e-14
    return gp.Prediction(m, latent, latent + 1 / beta)


def _outputs(model: SparseGP) -> int:
    """Number Q of outputs."""
    return 1 if model.w.ndim == 1 else model.w.shape[1]


def _inverse(factor: _linalg.Factor) -> FloatArray:
    """The inverse, which a gradient needs whole."""
    V = factor.whiten(np.eye(factor.N))
    return V.T @ V


def _by_kernel(
    model: SparseGP,
    B_inverse: FloatArray,
    total: sums.NormalEquations,
    X: Any,
    t: FloatArray,
) -> dict[str, float]:
    """∂F/∂ln p for the hyperparameters of the kernel."""
    k, features, beta = model.k, model.features, model.beta
    Q, names = _outputs(model), k.parameters()
    a = features.coefficients(model.w.reshape(features.M, Q))
    lost = np.eye(features.M) - B_inverse
    S_C = Q * _both_sides(features, lost) - a @ a.T
    lost -= beta * sums.mirrored(total.A)
    S_W = Q * _both_sides(features, lost) - a @ a.T
    rows_of, landmarks = k.prepare(X), k.prepare(features.landmarks)
    _, dW = k.differentiate(landmarks, landmarks)
    gradient = {n: float(np.vdot(S_W, dW[n])) / 2 for n in names}
    for rows in sums.pieces(len(t), features.M):
        C, dC = k.differentiate(cut(rows_of, rows), landmarks)
        weights = C @ S_C
        weights += t[rows].reshape(len(C), Q) @ a.T
        for name in names:
            gradient[name] += beta * float(np.vdot(weights, dC[name]))
    for name, slope in _slopes_of_trace(k, X).items():
        gradient[name] -= beta * Q * slope / 2
    return gradient


def _both_sides(features: nystrom.NystromMap, S: FloatArray) -> FloatArray:
    """U⁻¹ S U⁻ᵀ for a symmetric S."""
    U = features.factor
    return U.backsolve(U.backsolve(S).T)


def _slopes_of_trace(k: Kernel, X: Any) -> dict[str, float]:
    """Σ_n ∂k(x_n, x_n)/∂ln p by central differences, which are linear in N."""
    slopes = {}
    for name, p in k.parameters().items():
        up = k.with_parameters({name: p * np.exp(STEP)}).diagonal(X)
        down = k.with_parameters({name: p * np.exp(-STEP)}).diagonal(X)
        slopes[name] = float((up - down).sum()) / (2 * STEP)
    return slopes


def _by_beta(model: SparseGP, B_inverse: FloatArray) -> float:
    """∂F/∂ln β, with ∂ ln|B| = tr(I - B⁻¹) and ∂B⁻¹ = -B⁻¹(B - I)B⁻¹."""
    Q, w = _outputs(model), model.w
    degrees = len(w) - float(B_inverse.trace())
    root = model.factor.U @ w  # wᵀBw is its square
    by_fit = 2 * model.fitted - float(np.vdot(root, root) - np.vdot(w, w))
    one_output = model.N - degrees - model.beta * model.missed
    return (Q * one_output - model.beta * model.tt + by_fit) / 2
