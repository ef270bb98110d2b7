"""Learning the kernel: the marginal likelihood, its gradient, its maximum.

The equations are those of chapter 10.  Hyperparameters are numbers inside a
kernel, named as ``k.parameters()`` names them.  All derivatives are by
logarithms, p ∂/∂p, so that they have the units of the function whatever the
units of p.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernelbook import _checks, gp
from kernelbook._ascent import Ascent, Climb
from kernelbook._checks import FloatArray
from kernelbook._gram import cut
from kernelbook._progress import Progress, warn_unless_converged
from kernelbook.kernels import Kernel, terms

__all__ = [
    "Climb",
    "Evidence",
    "Learned",
    "component",
    "evidence",
    "learn",
    "log_pseudo_likelihood",
]

TILE = 128  # rows and columns of derivatives, which stay in a core's cache
Objective = Callable[
    [Kernel, Any, ArrayLike, Any], tuple[float, dict[str, float]]
]


class Evidence(NamedTuple):
    """Log marginal likelihood and its gradient.

    ``gradient`` has one entry for every hyperparameter of the kernel, by its
    logarithm and under its name, and one for ``beta``.
    """

    value: float
    gradient: dict[str, float]


def evidence(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    beta: Any,
    mean: gp.Mean = 0.0,
    *,
    report_jitter: bool = True,
) -> Evidence:
    """Log marginal likelihood of the targets, with its gradient in ln θ.

    ln p(t) = -½ tᵀC⁻¹t - ½ ln|C| - ½ N ln 2π,  C = K + β⁻¹I,
    ∂F = ½ Σ_nm W_nm ∂C_nm,  W = aaᵀ - C⁻¹,  a = C⁻¹t,

    where F = ln p(t), and each ∂ is by ln p for a hyperparameter p.

    The derivatives are made a tile at a time, on and below the diagonal:
    memory N², not N² times the number of hyperparameters.

    Parameters
    ----------
    k, X, t, beta, mean, report_jitter : as ``gp.fit``

    Returns
    -------
    evidence : Evidence, value and gradient

    Raises
    ------
    ValueError
        As ``gp.fit``.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0]], [1.0, 2.0]
    >>> value, gradient = evidence(Gaussian(0.5), X, t, beta=10.0)
    >>> round(value, 3), {name: round(g, 3) for name, g in gradient.items()}
    (-3.577, {'gamma': -0.141, 'beta': -0.049})
    """
    model = gp.fit(k, X, t, beta, mean, report_jitter=report_jitter)
    value = gp.log_marginal_likelihood(model)
    W = _Weights.of(model)  # it takes the factor's memory: model is used up
    P = k.prepare(model.X)
    gradient = dict.fromkeys(k.parameters(), 0.0)
    for rows, columns in _tiles(model.X):
        _, dK = k.differentiate(cut(P, rows), cut(P, columns))
        half = W.lower_half(rows, columns)
        for name in _all_of(gradient, dK, k):
            gradient[name] += float(np.vdot(half, dK[name]))
    gradient["beta"] = float(np.sum(-W.diagonal() / model.beta)) / 2
    return Evidence(value, gradient)


def log_pseudo_likelihood(model: gp.GP) -> float:
    """Leave-one-out score: every target predicted from all the others.

    Σ_n ln N(t_n | m_n, σ_n²), with m_n and σ_n² of ``gp.loo``.

    Parameters
    ----------
    model : GP

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0]], [1.0, 2.0]
    >>> model = gp.fit(Gaussian(0.5), X, t, beta=10.0)
    >>> round(log_pseudo_likelihood(model), 3)
    -2.948
    """
    m, _, variance = gp.loo(model)
    squares = (model.t - m).T ** 2 / variance
    return float(-np.sum(squares + np.log(2 * np.pi * variance)) / 2)


def component(model: gp.GP, k1: Kernel, Z: Any) -> gp.Prediction:
    """Posterior of a term, or of some, of a sum of processes.

    m₁(x) = k₁(x)ᵀ C_N⁻¹ t,  σ₁²(x) = k₁(x, x) - k₁(x)ᵀ C_N⁻¹ k₁(x).

    Parameters
    ----------
    model : GP whose kernel is a sum in which k1 is a term
    k1 : the term, or a sum of terms
    Z : (N*, D) new inputs

    Returns
    -------
    prediction : Prediction, of the term alone, without the prior mean

    Raises
    ------
    ValueError
        If k1 has a term that the model's kernel has not.

    Examples
    --------
    >>> from kernelbook.kernels import Constant, Gaussian
    >>> level, bump = Constant(1.0), Gaussian(0.5)
    >>> model = gp.fit(level + bump, [[0.0], [9.0]], [1.0, 2.0], beta=10.0)
    >>> component(model, level, [[5.0]]).mean.round(3)
    array([0.968])
    """
    if not isinstance(k1, Kernel) or Counter(terms(k1)) - Counter(
        terms(model.k)
    ):
        shown = " and ".join(map(str, terms(model.k)))
        raise ValueError(f"k1 must be a term, or some, of {shown}, got {k1}")
    Z = model.k.inputs(model.X, Z)[1]
    m, latent = gp.posterior(model, k1, Z, with_mean=k1 == model.k)
    return gp.Prediction(m, latent, latent + np.mean(1 / model.beta))


# --------------------------------------------------------------- its maximum


@dataclass(frozen=True)
class Learned:
    """The best kernel found, and everything that was tried.

    ``k`` and ``beta`` are those of the best try, ``value`` is its log marginal
    likelihood, ``status`` "converged" or why it ended before; ``tries`` has
    one :class:`Climb` for every start, in order.
    """

    k: Kernel
    beta: Any
    value: float
    status: str
    tries: tuple[Climb, ...] = field(repr=False)


def learn(
    k: Kernel,
    X: Any,
    t: ArrayLike,
    beta: Any,
    mean: gp.Mean = 0.0,
    *,
    objective: Objective | None = None,
    hold: Sequence[str] = (),
    restarts: int = 0,
    reach: float = 10.0,
    rng: int | np.random.Generator = 0,
    evaluations: int = 200,
    progress: bool = True,
) -> Learned:
    """Hyperparameters and noise of greatest marginal likelihood.

    Maximises ln p(t) over the logarithms by L-BFGS-B, from the values given
    and from others: each restart multiplies every value by a random factor
    between 1/reach and reach.  No value goes further than a factor of a
    million from the one given.

    Parameters
    ----------
    k : kernel; its hyperparameters are the first start
    X, t : inputs and targets, as in ``gp.fit``
    beta : noise precision, first start; one for each target is not learned
    mean : prior mean, as in ``gp.fit``
    objective : what to maximise in the place of :func:`evidence`, such as a
        bound on it: from k, X, t and beta its value, and its gradient by name
    hold : names, or ends of names, that keep their values; ``"beta"`` too
    restarts : number of further starts
    reach : how far they go
    rng : seed of their factors, or NumPy generator
    evaluations : where to stop a start, once its line search is done
    progress : report to stderr when it takes longer than ten seconds

    Returns
    -------
    learned : Learned, the best and all it tried; a ConvergenceWarning says
        if the best is no maximum yet

    Raises
    ------
    ValueError
        If ``hold`` names nothing, or holds everything.

    Examples
    --------
    >>> from kernelbook.kernels import Gaussian
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 0.8, 0.2]
    >>> learned = learn(Gaussian(0.5), X, t, beta=10.0, restarts=2)
    >>> round(learned.k.gamma, 3), round(learned.value, 3)
    (0.204, -2.624)
    >>> len(learned.tries), learned.status
    (3, 'converged')
    """
    given = _given(k, beta)
    names = _free(given, hold)
    shifts = _shifts(restarts, len(names), reach, rng)
    evaluations = _checks.count(evaluations, "evaluations")

    def model(values: Mapping[str, float]) -> tuple[Kernel, Any]:
        inside = {name: v for name, v in values.items() if name != "beta"}
        return k.with_parameters(inside), values.get("beta", beta)

    def value_and_slope(values: Mapping[str, float]) -> Evidence:
        new_k, new_beta = model(values)
        if objective is not None:
            return Evidence(*objective(new_k, X, t, new_beta))
        return evidence(new_k, X, t, new_beta, mean, report_jitter=False)

    ascent = Ascent(value_and_slope, given, names, Progress("learn", progress))
    tries = tuple(ascent.climb(shift, evaluations) for shift in shifts)
    best = max(tries, key=lambda one: one.value)
    warn_unless_converged(
        best.status,
        "learn",
        f"{best.evaluations} evaluations reached {best.value:.6g}; try more "
        "evaluations or restarts, or other values to start from",
    )
    return Learned(*model(best.end), best.value, best.status, tries)


def _given(k: Kernel, beta: Any) -> dict[str, float]:
    """All numbers that might be learned, with the values given."""
    if not isinstance(k, Kernel):
        raise ValueError(f"k must be a Kernel, got {type(k).__name__}")
    if np.ndim(beta) > 0:
        return k.parameters()
    return k.parameters() | {"beta": _checks.positive(beta, "beta")}


def _free(given: Mapping[str, float], hold: Sequence[str]) -> list[str]:
    """The names that are not held."""
    held = set()
    for end in [hold] if isinstance(hold, str) else hold:
        found = {n for n in given if n == end or n.endswith(f".{end}")}
        if not found:
            raise ValueError(
                f"hold must name hyperparameters, which are "
                f"{', '.join(given)}; got {end!r}"
            )
        held |= found
    free = [name for name in given if name not in held]
    if not free:
        raise ValueError(
            f"hold must leave something to learn of "
            f"{', '.join(given) or 'a kernel without hyperparameters'}, "
            f"got {hold}"
        )
    return free


def _shifts(
    restarts: int, names: int, reach: float, rng: int | np.random.Generator
) -> FloatArray:
    """Logarithms of the factors of each start; the first changes nothing."""
    restarts = _checks.count(restarts, "restarts", least=0)
    reach = _checks.positive(reach, "reach")
    if reach < 1:
        raise ValueError(f"reach must be >= 1, got {reach}")
    rng = _checks.generator(rng)
    shifts = rng.uniform(-1, 1, (restarts, names)) * np.log(reach)
    return np.vstack([np.zeros(names), shifts])


# ------------------------------------------------------ parts of the gradient


@dataclass(frozen=True, eq=False)
class _Weights:
    """W = BBᵀ - Q C⁻¹, of which only tiles are ever made.

    B holds the coefficients a of the Q outputs.  A trend adds the columns
    √Q G, because P = C⁻¹ - GGᵀ takes the place of C⁻¹.
    """

    B: FloatArray
    Q: int
    C_inverse: FloatArray

    @classmethod
    def of(cls, model: gp.GP) -> "_Weights":
        """From a fitted process, whose factor is turned into C⁻¹."""
        Q = gp.outputs(model)
        B = model.a.reshape(len(model.a), Q)
        if model.weights is not None:
            G = model.weights.correction(model.factor)
            B = np.hstack([B, np.sqrt(Q) * G])
        return cls(B, Q, model.factor.into_inverse())

    def lower_half(self, rows: slice, columns: slice) -> FloatArray:
        """W below the diagonal, ½W on it, zero above.

        Against a symmetric ∂C it sums to ½ tr(W ∂C).
        """
        W: FloatArray = np.dot(self.B[rows], self.B[columns].T)
        C_inverse = self.C_inverse[rows, columns]
        W -= C_inverse if self.Q == 1 else self.Q * C_inverse
        if rows == columns:
            W *= np.tri(len(W), k=-1) + np.eye(len(W)) / 2
        return W

    def diagonal(self) -> FloatArray:
        """The entries W_nn."""
        squares: FloatArray = np.einsum("nm,nm->n", self.B, self.B)
        return squares - self.Q * self.C_inverse.diagonal()


def _tiles(X: Any) -> Iterator[tuple[slice, slice]]:
    """Some rows and columns at a time, up to the diagonal.

    Objects are taken apart once, so they are not cut into tiles.
    """
    if not isinstance(X, np.ndarray):
        N = X.shape[0] if hasattr(X, "shape") else len(X)
        yield slice(0, N), slice(0, N)
        return
    cuts = [slice(n, n + TILE) for n in range(0, len(X), TILE)]
    for last, rows in enumerate(cuts):
        for columns in cuts[: last + 1]:
            yield rows, columns


def _all_of(
    names: Mapping[str, float], dK: Mapping[str, FloatArray], k: Kernel
) -> Mapping[str, float]:
    """The names, if there is a derivative by each."""
    if missing := names.keys() - dK.keys():
        raise ValueError(
            f"k must differentiate by all its hyperparameters, but {k} gives "
            f"no derivative by {min(missing)!r}"
        )
    return names
