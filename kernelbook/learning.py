"""Learning the kernel: the marginal likelihood, its gradient, its maximum.

A *hyperparameter* is a positive number inside a kernel, named by what one
would type to read it: ``k1.gamma`` is the number ``k.k1.gamma``, and
``theta[2]`` is ``k.theta[2]``.  One that is zero is switched off and stays
off.  All derivatives are by logarithms, p ∂/∂p, so that they have the units of
the function whatever the units of p.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from kernelbook import _checks, gp, kernels
from kernelbook._checks import FloatArray
from kernelbook._gram import squared_distances
from kernelbook.exceptions import JitterWarning
from kernelbook.kernels import Kernel

Derivatives = tuple[FloatArray, dict[str, FloatArray]]  # K, {p: ∂K/∂ln p}

PATIENCE = 10.0  # seconds of computing before learn reports its progress
RANGE = 1e6  # how far, as a factor, learn goes from the values given
ROWS, COLUMNS = 96, 128  # of a tile of derivatives
FIXED = {"nu"}  # numbers in a kernel that are no continuous parameters


@dataclass(frozen=True)
class ARDGaussian(kernels.Stationary):
    """Gaussian kernel with a width of its own for every input dimension.

    k(x, x') = exp{-Σ_d gamma_d (x_d - x'_d)²}; gamma_d = 0 ignores input d.

    Parameters
    ----------
    gamma : (γ₁, ..., γ_D), all >= 0

    Examples
    --------
    >>> k = ARDGaussian(gamma=(0.5, 0.0))
    >>> k([[0.0, 0.0]], [[1.0, 0.0], [0.0, 9.0]]).round(3)
    array([[0.607, 1.   ]])
    """

    gamma: tuple[float, ...]

    def __post_init__(self) -> None:
        gamma = _checks.vector(self.gamma, "gamma")
        for d, value in enumerate(gamma):
            _checks.non_negative(float(value), f"gamma[{d}]")
        object.__setattr__(self, "gamma", tuple(gamma.tolist()))

    def _inputs(self, X: Any, Z: Any) -> tuple[Any, Any]:
        X, Z = super()._inputs(X, Z)
        if X.shape[1] != len(self.gamma):
            raise ValueError(
                f"X must have {len(self.gamma)} columns, one for each gamma, "
                f"got shape {X.shape}"
            )
        return X, Z

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        root = np.sqrt(self.gamma)
        K = squared_distances(X * root, Z * root, -1.0)
        return np.exp(K, out=K)


# ------------------------------------------------ hyperparameters of a kernel


def parameters(k: Kernel) -> dict[str, float]:
    """The positive hyperparameters of a kernel, by name.

    Parameters
    ----------
    k : kernel, however composed

    Returns
    -------
    values : name → value, in the order in which the kernel is written

    Examples
    --------
    >>> k = 2.0 * kernels.Gaussian(gamma=0.5) + kernels.Constant(3.0)
    >>> parameters(k)
    {'k1.c': 2.0, 'k1.k1.gamma': 0.5, 'k2.c': 3.0}
    """
    return {name: value for name, value in _numbers(k) if value > 0}


def with_parameters(k: Kernel, values: Mapping[str, float]) -> Kernel:
    """The same kernel with other hyperparameters.

    Parameters
    ----------
    k : kernel
    values : name → new value; what is not named stays as it is

    Raises
    ------
    ValueError
        If the kernel has no hyperparameter of that name.

    Examples
    --------
    >>> k = 2.0 * kernels.Gaussian(gamma=0.5) + kernels.Constant(3.0)
    >>> with_parameters(k, {"k1.k1.gamma": 8.0})
    2.0 * Gaussian(gamma=8.0) + Constant(c=3.0)
    """
    known = dict(_numbers(k))
    for name in values:
        if name not in known:
            raise ValueError(
                f"values must name hyperparameters of {k}, which are "
                f"{', '.join(known) or 'none'}; got {name!r}"
            )
    return _rebuilt(k, values, "")


def derivatives(k: Kernel, X: ArrayLike, Z: ArrayLike) -> Derivatives:
    """Kernel values and their derivatives by ln p, for every hyperparameter.

    ∂k/∂ln p = p ∂k/∂p.

    Parameters
    ----------
    k : kernel whose parts are all in the table ``DERIVATIVES``
    X, Z : (N, D) and (N*, D) inputs

    Returns
    -------
    K, dK : (N, N*) values, and name → (N, N*) derivatives

    Raises
    ------
    ValueError
        If the derivatives of a kernel in it are not known.

    Examples
    --------
    >>> K, dK = derivatives(2.0 * kernels.Gaussian(0.5), [[0.0]], [[1.0]])
    >>> K.round(3), {name: d.round(3) for name, d in dK.items()}
    (array([[1.213]]), {'c': array([[1.213]]), 'k1.gamma': array([[-0.607]])})
    """
    if not isinstance(k, Kernel):
        raise ValueError(f"k must be a Kernel, got {type(k).__name__}")
    return _derivatives(k, *k._inputs(X, Z))


def _derivatives(k: Kernel, X: Any, Z: Any) -> Derivatives:
    """The same for inputs that have been checked."""
    if type(k) not in DERIVATIVES:
        raise ValueError(
            f"k must be made of kernels in learning.DERIVATIVES, got {k!r}"
        )
    return DERIVATIVES[type(k)](k, X, Z)


# ------------------------- derivatives: the rules of chapter 6, then kernels


def _scaled(k: kernels.Scaled, X: Any, Z: Any) -> Derivatives:
    """By c: c k₁ itself; by p in k₁: c ∂k₁."""
    K1, dK1 = _derivatives(k.k1, X, Z)
    K = k.c * K1
    return K, {"c": K} | _inside("k1", dK1, np.array(k.c))


def _sum(k: kernels.Sum, X: Any, Z: Any) -> Derivatives:
    """The sum rule: ∂(k₁ + k₂) is ∂k₁ or ∂k₂, wherever p is."""
    K1, dK1 = _derivatives(k.k1, X, Z)
    K2, dK2 = _derivatives(k.k2, X, Z)
    return K1 + K2, _inside("k1", dK1) | _inside("k2", dK2)


def _product(k: kernels.Product, X: Any, Z: Any) -> Derivatives:
    """The product rule: (∂k₁) k₂ or k₁ (∂k₂), wherever p is."""
    K1, dK1 = _derivatives(k.k1, X, Z)
    K2, dK2 = _derivatives(k.k2, X, Z)
    return K1 * K2, _inside("k1", dK1, K2) | _inside("k2", dK2, K1)


def _exponential(k: kernels.Exponential, X: Any, Z: Any) -> Derivatives:
    """The chain rule: ∂ exp(k₁) = exp(k₁) ∂k₁."""
    K1, dK1 = _derivatives(k.k1, X, Z)
    K = np.exp(K1)
    return K, _inside("k1", dK1, K)


def _conjugate(k: kernels.Conjugate, X: Any, Z: Any) -> Derivatives:
    """The factors stay outside: f(x) (∂k₁) f(x')."""
    K1, dK1 = _derivatives(k.k1, X, Z)
    ff = np.outer(k._values(X), k._values(Z))
    return K1 * ff, _inside("k1", dK1, ff)


def _polynomial_of(k: kernels.PolynomialOf, X: Any, Z: Any) -> Derivatives:
    """By c_j: c_j k₁ʲ; by p in k₁: q'(k₁) ∂k₁."""
    K1, dK1 = _derivatives(k.k1, X, Z)
    terms = [c * K1**j for j, c in enumerate(k.coefficients)]
    slope = np.zeros_like(K1)
    for j, c in enumerate(k.coefficients[1:], start=1):
        slope += j * c * K1 ** (j - 1)
    K: FloatArray = np.sum(terms, axis=0)
    return K, _listed("coefficients", terms) | _inside("k1", dK1, slope)


def _nothing(k: Kernel, X: FloatArray, Z: FloatArray) -> Derivatives:
    """No hyperparameter, no derivative."""
    return k._evaluate(X, Z), {}


def _constant(
    k: kernels.Constant, X: FloatArray, Z: FloatArray
) -> Derivatives:
    """By c: c ∂c/∂c = c."""
    K = k._evaluate(X, Z)
    return K, {"c": K}


def _polynomial(
    k: kernels.Polynomial, X: FloatArray, Z: FloatArray
) -> Derivatives:
    """By c: c degree (xᵀx' + c)^(degree - 1)."""
    S = X @ Z.T + k.c
    return S**k.degree, {"c": k.c * k.degree * S ** (k.degree - 1)}


def _gaussian(
    k: kernels.Gaussian, X: FloatArray, Z: FloatArray
) -> Derivatives:
    """By gamma: -gamma r² k = k ln k."""
    log_K = squared_distances(X, Z, -k.gamma)
    K = np.exp(log_K)
    log_K *= K
    return K, {"gamma": log_K}


def _ard_gaussian(k: ARDGaussian, X: FloatArray, Z: FloatArray) -> Derivatives:
    """By gamma_d: -gamma_d (x_d - x'_d)² k."""
    K = k._evaluate(X, Z)
    columns = zip(k.gamma, X.T, Z.T, strict=True)
    terms = [-g * np.subtract.outer(x, z) ** 2 * K for g, x, z in columns]
    return K, _listed("gamma", terms)


def _matern(k: kernels.Matern, X: FloatArray, Z: FloatArray) -> Derivatives:
    """By length: s e⁻ˢ, s² e⁻ˢ or s² (1 + s) e⁻ˢ / 3, which is -s ∂k/∂s."""
    s = np.sqrt(2 * k.nu) / k.length * cdist(X, Z)
    factor = {0.5: s, 1.5: s**2, 2.5: s**2 * (1 + s) / 3}[k.nu]
    return k._evaluate(X, Z), {"length": factor * np.exp(-s)}


def _rational_quadratic(
    k: kernels.RationalQuadratic, X: FloatArray, Z: FloatArray
) -> Derivatives:
    """With u = r²/(2 alpha length²) and k = (1 + u)^-alpha:

    by alpha: alpha {u/(1 + u) - ln(1 + u)} k; by length: 2 alpha u/(1 + u) k.
    """
    u = squared_distances(X, Z, 1 / (2 * k.alpha * k.length**2))
    log, part = np.log1p(u), u / (1 + u)
    K = np.exp(-k.alpha * log)
    by_alpha = k.alpha * (part - log) * K
    return K, {"alpha": by_alpha, "length": 2 * k.alpha * part * K}


def _periodic(
    k: kernels.Periodic, X: FloatArray, Z: FloatArray
) -> Derivatives:
    """With s_d = 2π(x_d - x'_d)/period, ln k = -Σ_d (1 - cos s_d) / length²:

    by period: Σ_d s_d sin(s_d) k / length²; by length: -2 k ln k.
    """
    log_K, turn = np.zeros((2, len(X), len(Z)))
    for x, z in zip(X.T, Z.T, strict=True):
        s = 2 * np.pi / k.period * np.subtract.outer(x, z)
        log_K += (np.cos(s) - 1) / k.length**2
        turn += s * np.sin(s) / k.length**2
    K = np.exp(log_K)
    return K, {"period": turn * K, "length": -2 * K * log_K}


def _exponential_quadratic(
    k: gp.ExponentialQuadratic, X: FloatArray, Z: FloatArray
) -> Derivatives:
    """By θ₀, θ₂, θ₃ the terms of (24); by θ₁ the first times -½θ₁ r²."""
    E, dE = _gaussian(kernels.Gaussian(k.theta[1] / 2), X, Z)
    E *= k.theta[0]
    by_theta1 = dE["gamma"]
    by_theta1 *= k.theta[0]
    constant = np.full_like(E, k.theta[2])
    line = (k.theta[3] * X) @ Z.T
    terms = [E, by_theta1, constant, line]
    K = E + line
    K += constant
    return K, _listed("theta", terms)


DERIVATIVES: dict[type[Kernel], Callable[[Any, Any, Any], Derivatives]] = {
    kernels.Scaled: _scaled,
    kernels.Sum: _sum,
    kernels.Product: _product,
    kernels.Exponential: _exponential,
    kernels.Conjugate: _conjugate,
    kernels.PolynomialOf: _polynomial_of,
    kernels.Linear: _nothing,
    kernels.QuadraticForm: _nothing,
    kernels.Constant: _constant,
    kernels.Polynomial: _polynomial,
    kernels.Gaussian: _gaussian,
    kernels.Matern: _matern,
    kernels.RationalQuadratic: _rational_quadratic,
    kernels.Periodic: _periodic,
    gp.ExponentialQuadratic: _exponential_quadratic,
    ARDGaussian: _ard_gaussian,
}


# ----------------------------------------------------- the marginal likelihood


class Evidence(NamedTuple):
    """Log marginal likelihood and its gradient.

    ``gradient`` has one entry ∂ ln p(t) / ∂ ln p for every hyperparameter of
    the kernel, under its name, and one for ``beta``.
    """

    value: float
    gradient: dict[str, float]


def evidence(k: Kernel, X: ArrayLike, t: ArrayLike, beta: float) -> Evidence:
    """Log marginal likelihood of the targets, with its gradient in ln θ.

    ln p(t) = -½ tᵀC⁻¹t - ½ ln|C| - ½ N ln 2π,  C = K + β⁻¹I,
    ∂ ln p(t) / ∂ ln p = ½ Σ_nm W_nm ∂C_nm/∂ln p,  W = aaᵀ - C⁻¹,  a = C⁻¹t.

    C⁻¹ takes the place of the Cholesky factor, and the derivatives are made
    a tile at a time, below the diagonal: memory N², not N² times the
    number of hyperparameters.

    Parameters
    ----------
    k : kernel with known :func:`derivatives`
    X : (N, D) training inputs as rows
    t : (N,) targets
    beta : noise precision β > 0

    Returns
    -------
    evidence : Evidence, value and gradient

    Raises
    ------
    ValueError
        As ``gp.fit`` and :func:`derivatives`.

    Examples
    --------
    >>> X, t = [[0.0], [1.0]], [1.0, 2.0]
    >>> value, gradient = evidence(kernels.Gaussian(0.5), X, t, beta=10.0)
    >>> round(value, 3), {name: round(g, 3) for name, g in gradient.items()}
    (-3.577, {'gamma': -0.141, 'beta': -0.049})
    """
    model = gp.fit(k, X, t, beta)
    value = gp.log_marginal_likelihood(model)
    gradient = dict.fromkeys(parameters(k), 0.0)
    # From here on model.factor is spoilt: its memory holds C⁻¹, by columns
    # above the diagonal, which is by rows below it.
    C_inverse = dpotri(model.factor.U, overwrite_c=1)[0].T
    for rows, columns in _tiles(len(model.X)):
        W = _half_weights(model.a, C_inverse, rows, columns)
        _, dK = _derivatives(k, model.X[rows], model.X[columns])
        for name in gradient:
            gradient[name] += float(np.vdot(W, dK[name]))
    trace = model.a @ model.a - C_inverse.diagonal().sum()
    gradient["beta"] = float(-trace / (2 * model.beta))
    return Evidence(value, gradient)


def log_pseudo_likelihood(model: gp.GP) -> float:
    """Leave-one-out score: every target predicted from all the others.

    Σ_n ln N(t_n | m_n, σ_n²), with m_n and σ_n² of ``gp.loo``.

    Parameters
    ----------
    model : GP

    Examples
    --------
    >>> X, t = [[0.0], [1.0]], [1.0, 2.0]
    >>> model = gp.fit(kernels.Gaussian(0.5), X, t, beta=10.0)
    >>> round(log_pseudo_likelihood(model), 3)
    -2.948
    """
    m, _, variance = gp.loo(model)
    squares = (model.t - m) ** 2 / variance
    return float(-np.sum(squares + np.log(2 * np.pi * variance)) / 2)


def component(model: gp.GP, k1: Kernel, Z: ArrayLike) -> gp.Prediction:
    """Posterior of one term of a sum of processes, k = k₁ + k₂ + ...

    m₁(x) = k₁(x)ᵀ C_N⁻¹ t,  σ₁²(x) = k₁(x, x) - k₁(x)ᵀ C_N⁻¹ k₁(x).

    Parameters
    ----------
    model : GP whose kernel is a sum in which k1 is a term
    k1 : the term
    Z : (N*, D) new inputs

    Returns
    -------
    prediction : Prediction, of the term alone

    Examples
    --------
    >>> level, bump = kernels.Constant(1.0), kernels.Gaussian(0.5)
    >>> model = gp.fit(level + bump, [[0.0], [9.0]], [1.0, 2.0], beta=10.0)
    >>> component(model, level, [[5.0]]).mean.round(3)
    array([0.968])
    """
    if not isinstance(k1, Kernel):
        raise ValueError(f"k1 must be a Kernel, got {type(k1).__name__}")
    return gp.predict(replace(model, k=k1), Z)


# --------------------------------------------------------------- its maximum


@dataclass(frozen=True)
class Try:
    """One ascent of the marginal likelihood.

    From the hyperparameters and ``beta`` in ``start`` to those in ``end``,
    where the log marginal likelihood is ``value``, in so many ``evaluations``
    of value and gradient.  ``converged`` says whether the gradient has
    vanished; ``edge`` names what ended at the edge of the allowed range.
    """

    start: dict[str, float]
    end: dict[str, float]
    value: float
    evaluations: int
    converged: bool
    edge: tuple[str, ...]


@dataclass(frozen=True)
class Learned:
    """The best kernel found, and everything that was tried.

    ``k`` and ``beta`` are those of the best try, ``value`` is its log marginal
    likelihood; ``tries`` has one :class:`Try` for every start, in order.
    """

    k: Kernel
    beta: float
    value: float
    tries: tuple[Try, ...] = field(repr=False)


def learn(
    k: Kernel,
    X: ArrayLike,
    t: ArrayLike,
    beta: float,
    *,
    hold: Sequence[str] = (),
    restarts: int = 0,
    reach: float = 10.0,
    seed: int = 0,
    evaluations: int = 200,
) -> Learned:
    """Hyperparameters and noise of greatest marginal likelihood.

    Maximises ln p(t) over the logarithms by L-BFGS-B, from the values given
    and from others: each restart multiplies every value by a random factor
    between 1/reach and reach.  No value goes further than a factor of
    ``RANGE`` from the one given.

    Parameters
    ----------
    k : kernel; its hyperparameters are the first start
    X, t : (N, D) inputs, (N,) targets
    beta : noise precision, first start
    hold : names, or ends of names, that keep their values; ``"beta"`` too
    restarts : number of further starts
    reach : how far they go
    seed : seed of their factors
    evaluations : where to stop a start, once its line search is done

    Returns
    -------
    learned : Learned, the best and all it tried

    Raises
    ------
    ValueError
        If ``hold`` names nothing, or holds everything.

    Examples
    --------
    >>> X, t = [[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 0.8, 0.2]
    >>> learned = learn(kernels.Gaussian(0.5), X, t, beta=10.0, restarts=2)
    >>> round(learned.k.gamma, 3), round(learned.value, 3)
    (0.204, -2.624)
    >>> len(learned.tries)
    3
    """
    given = parameters(k) | {"beta": _checks.positive(beta, "beta")}
    names = _free(given, hold)
    first = np.log([given[name] for name in names])
    restarts = _checks.count(restarts, "restarts", least=0)
    evaluations = _checks.count(evaluations, "evaluations")
    reach = _checks.positive(reach, "reach")
    if reach < 1:
        raise ValueError(f"reach must be >= 1, got {reach}")
    rng = np.random.default_rng(seed)
    shifts = rng.uniform(-1, 1, (restarts, len(names))) * np.log(reach)
    ascent = _Ascent(k, X, t, given, names, _Progress(restarts + 1))
    tries = tuple(
        ascent.climb(first + shift, evaluations)
        for shift in [np.zeros(len(names)), *shifts]
    )
    best = max(tries, key=lambda one: one.value)
    return Learned(*_model(k, best.end), best.value, tries)


@dataclass
class _Progress:
    """Says on stderr how far learn is, once it has taken long."""

    starts: int
    start: int = 0
    evaluations: int = 0
    best: float = -np.inf
    shown: float = field(default_factory=lambda: time.process_time())

    def __call__(self, value: float) -> None:
        self.evaluations += 1
        self.best = max(self.best, value)
        if time.process_time() - self.shown > PATIENCE:
            self.shown = time.process_time()
            print(
                f"learn: start {self.start} of {self.starts}, "
                f"{self.evaluations} evaluations, best {self.best:.2f}",
                file=sys.stderr,
            )


@dataclass(frozen=True)
class _Ascent:
    """The marginal likelihood as a function of some logarithms."""

    k: Kernel
    X: ArrayLike
    t: ArrayLike
    given: dict[str, float]
    names: list[str]
    progress: _Progress

    def values(self, log_theta: FloatArray) -> dict[str, float]:
        new = np.exp(log_theta).tolist()
        return self.given | dict(zip(self.names, new, strict=True))

    def minus_evidence(
        self, log_theta: FloatArray
    ) -> tuple[float, FloatArray]:
        k, beta = _model(self.k, self.values(log_theta))
        value, gradient = evidence(k, self.X, self.t, beta)
        self.progress(value)
        return -value, -np.array([gradient[name] for name in self.names])

    def climb(self, start: FloatArray, evaluations: int) -> Try:
        self.progress.start += 1
        middle = np.log([self.given[name] for name in self.names])
        low, high = middle - np.log(RANGE), middle + np.log(RANGE)
        with warnings.catch_warnings():  # of jitter at a passing value
            warnings.simplefilter("ignore", JitterWarning)
            result = minimize(
                self.minus_evidence,
                start.clip(low, high),
                jac=True,
                method="L-BFGS-B",
                bounds=np.transpose([low, high]),
                options={"maxfun": evaluations, "maxiter": evaluations},
            )
        at_edge = (result.x <= low) | (result.x >= high)
        return Try(
            start=self.values(start.clip(low, high)),
            end=self.values(result.x),
            value=-float(result.fun),
            evaluations=int(result.nfev),
            converged=bool(result.success),
            edge=tuple(np.array(self.names)[at_edge].tolist()),
        )


def _model(k: Kernel, values: Mapping[str, float]) -> tuple[Kernel, float]:
    """Kernel and noise precision with these values."""
    inside = {name: v for name, v in values.items() if name != "beta"}
    return with_parameters(k, inside), values["beta"]


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
        raise ValueError(f"hold must leave something to learn, got {hold}")
    return free


def _tiles(N: int) -> Iterator[tuple[slice, slice]]:
    """Some rows and columns at a time, up to the diagonal."""
    for start in range(0, N, ROWS):
        stop = min(start + ROWS, N)
        for first in range(0, stop, COLUMNS):
            yield slice(start, stop), slice(first, min(first + COLUMNS, stop))


def _half_weights(
    a: FloatArray, C_inverse: FloatArray, rows: slice, columns: slice
) -> FloatArray:
    """W = aaᵀ - C⁻¹ below the diagonal, ½W on it, zero above.

    Against a symmetric ∂C it sums to ½ tr(W ∂C).
    """
    W = np.multiply.outer(a[rows], a[columns])
    W -= C_inverse[rows, columns]
    if columns.stop > rows.start:
        n, m = np.ogrid[rows, columns]
        W *= ((m <= n) + (m < n).astype(float)) / 2
    return W


def _inside(
    part: str, dK: dict[str, FloatArray], factor: FloatArray | None = None
) -> dict[str, FloatArray]:
    """Derivatives inside a part of a kernel, times what stands outside it."""
    if factor is not None:
        dK = {name: factor * d for name, d in dK.items()}
    return {f"{part}.{name}": d for name, d in dK.items()}


def _listed(name: str, terms: list[FloatArray]) -> dict[str, FloatArray]:
    return {f"{name}[{i}]": term for i, term in enumerate(terms)}


def _numbers(k: Kernel, path: str = "") -> Iterator[tuple[str, float]]:
    """Every continuous number in a kernel, with its name."""
    if not isinstance(k, Kernel):
        raise ValueError(f"k must be a Kernel, got {type(k).__name__}")
    for name, value in vars(k).items():
        if isinstance(value, Kernel):
            yield from _numbers(value, f"{path}{name}.")
        elif isinstance(value, float) and name not in FIXED:
            yield f"{path}{name}", value
        elif isinstance(value, tuple) and isinstance(value[0], float):
            for i, entry in enumerate(value):
                yield f"{path}{name}[{i}]", entry


def _rebuilt(k: Kernel, values: Mapping[str, float], path: str) -> Kernel:
    """The kernel with the numbers below ``path`` replaced."""
    changes: dict[str, Any] = {}
    for name, value in vars(k).items():
        here = f"{path}{name}"
        if isinstance(value, Kernel):
            changes[name] = _rebuilt(value, values, f"{here}.")
        elif isinstance(value, tuple):
            changes[name] = tuple(
                values.get(f"{here}[{i}]", v) for i, v in enumerate(value)
            )
        else:
            changes[name] = values.get(here, value)
    return type(k)(**changes)
