"""Neural networks with random weights, and the kernels they tend to.

The equations are those of chapter 10; (30) to (33) are the notes'.  A hidden
unit computes φ(wᵀx + b), with independent weights w_d ~ N(0, ``weight``) and
a bias b ~ N(0, ``bias``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from scipy.special import expit, ndtr

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook.kernels import Kernel, _fix

Activation = Callable[[FloatArray], FloatArray]


# -------------------------------------------------------------- activations


def step(z: ArrayLike) -> FloatArray:
    """Step: 1 where z > 0, else 0.

    Examples
    --------
    >>> step([-1.0, 0.0, 2.0])
    array([0., 0., 1.])
    """
    return np.where(np.asarray(z) > 0, 1.0, 0.0)


def relu(z: ArrayLike) -> FloatArray:
    """Rectified linear unit: max(0, z).

    Examples
    --------
    >>> relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    rectified: FloatArray = np.maximum(np.asarray(z, dtype=np.float64), 0.0)
    return rectified


def gelu(z: ArrayLike) -> FloatArray:
    """Gaussian error linear unit: z P(Z < z), with Z standard normal.

    Examples
    --------
    >>> gelu([-1.0, 0.0, 2.0]).round(3)
    array([-0.159,  0.   ,  1.954])
    """
    z = np.asarray(z, dtype=np.float64)
    smooth: FloatArray = z * ndtr(z)
    return smooth


def sigmoid(z: ArrayLike) -> FloatArray:
    """Logistic sigmoid: 1 / (1 + e⁻ᶻ).

    Examples
    --------
    >>> sigmoid([-1.0, 0.0, 2.0]).round(3)
    array([0.269, 0.5  , 0.881])
    """
    squashed: FloatArray = expit(np.asarray(z, dtype=np.float64))
    return squashed


# ------------------------------------------------ kernels of wide networks


@dataclass(frozen=True)
class ArcCosine(Kernel):
    """Covariance of a wide network of steps (degree 0) or ReLUs (degree 1).

    k₀ = (π - θ) / π,  k₁ = ‖u‖ ‖u'‖ {sin θ + (π - θ) cos θ} / π,

    where θ is the angle between u and u', and u is x, scaled by √weight and
    with √bias appended.  Twice the mean of φ(wᵀx + b) φ(wᵀx' + b).

    Parameters
    ----------
    degree : 0 or 1
    weight : variance of the weights, > 0
    bias : variance of the bias, >= 0

    Examples
    --------
    >>> ArcCosine(degree=1)([[1.0, 0.0]], [[2.0, 0.0], [0.0, 1.0]]).round(3)
    array([[2.   , 0.318]])
    """

    degree: int = 1
    weight: float = 1.0
    bias: float = 0.0

    def __post_init__(self) -> None:
        if self.degree not in (0, 1):
            raise ValueError(f"degree must be 0 or 1, got {self.degree}")
        weight, bias = _variances(self.weight, self.bias)
        _fix(self, degree=int(self.degree), weight=weight, bias=bias)

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        r, U = self._length_and_direction(X)
        s, V = (r, U) if Z is X else self._length_and_direction(Z)
        # Not arccos(UVᵀ): that loses half the digits of a small angle.
        theta = 2 * np.arctan2(cdist(U, V), cdist(U, -V))
        if self.degree == 0:
            r, s = np.sign(r), np.sign(s)  # ‖u‖⁰, but Θ(0) = 0 for u = 0
            J = np.pi - theta
        else:
            J = np.sin(theta) + (np.pi - theta) * np.cos(theta)
        K: FloatArray = np.outer(r, s) * (J / np.pi)
        return K

    def _diagonal(self, X: FloatArray) -> FloatArray:
        r, _ = self._length_and_direction(X)
        return (r > 0).astype(float) if self.degree == 0 else r * r

    def _length_and_direction(
        self, X: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        U = _with_bias(X, self.weight, self.bias)
        r: FloatArray = np.linalg.norm(U, axis=1)
        return r, U / np.where(r > 0, r, 1.0)[:, None]


@dataclass(frozen=True)
class ArcSine(Kernel):
    """Covariance of a wide network of units φ(z) = erf(z).

    k = (2/π) arcsin{2S / √((1 + 2A)(1 + 2B))},  S = weight xᵀx' + bias,

    where A and B are S for the pairs x, x and x', x'.

    Parameters
    ----------
    weight : variance of the weights, > 0
    bias : variance of the bias, >= 0

    Examples
    --------
    >>> ArcSine(weight=10.0)([[1.0]], [[1.0], [-1.0]]).round(3)
    array([[ 0.803, -0.803]])
    """

    weight: float = 1.0
    bias: float = 0.0

    def __post_init__(self) -> None:
        weight, bias = _variances(self.weight, self.bias)
        _fix(self, weight=weight, bias=bias)

    def _evaluate(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        S = self.weight * (X @ Z.T) + self.bias
        A = self._of_itself(X)
        B = A if Z is X else self._of_itself(Z)
        # arcsin(p/q) as an angle: no quotient that rounding lifts above 1.
        gap = (np.outer(A, B) - S * S).clip(min=0)
        rest = 1 + 2 * np.add.outer(A, B) + 4 * gap
        K: FloatArray = 2 / np.pi * np.arctan2(2 * S, np.sqrt(rest))
        return K

    def _diagonal(self, X: FloatArray) -> FloatArray:
        A = self._of_itself(X)
        d: FloatArray = 2 / np.pi * np.arctan2(2 * A, np.sqrt(1 + 4 * A))
        return d

    def _of_itself(self, X: FloatArray) -> FloatArray:
        A: FloatArray = self.weight * np.einsum("nd,nd->n", X, X) + self.bias
        return A


def deep_relu_kernel(K: ArrayLike, depth: int) -> FloatArray:
    """Covariance after ``depth`` wide layers of ReLUs.

    One layer turns the correlation cos θ into {sin θ + (π - θ) cos θ} / π
    and leaves the variances alone.

    Parameters
    ----------
    K : (N, N) covariance of the inputs to the first layer
    depth : number of layers, >= 0

    Returns
    -------
    K : (N, N) covariance after the last layer

    Raises
    ------
    ValueError
        If K holds a correlation outside [-1, 1].

    Examples
    --------
    >>> deep_relu_kernel([[1.0, 0.0], [0.0, 4.0]], depth=1).round(3)
    array([[1.   , 0.637],
           [0.637, 4.   ]])
    """
    K = _checks.gram(K)
    depth = _checks.count(depth, "depth", least=0)
    r = np.sqrt(K.diagonal().clip(min=0))
    scale = np.outer(r, r)
    largest = np.abs(K) - scale * (1 + _checks.SYMMETRY_TOLERANCE)
    if largest.max() > 0:
        raise ValueError(
            "K must be positive semi-definite, got an entry that is "
            f"{largest.max():.2g} above the root of K[n, n] K[m, m]"
        )
    rho = np.divide(K, scale, out=np.ones_like(K), where=scale > 0)
    for _ in range(depth):
        theta = np.arccos(rho.clip(-1, 1))
        rho = (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / np.pi
    return scale * rho


# --------------------------------------------------------------- networks


def random_network(
    X: ArrayLike,
    units: int,
    activation: Activation,
    rng: np.random.Generator,
    size: int = 1,
    weight: float = 1.0,
    bias: float = 0.0,
) -> FloatArray:
    """Outputs of networks with one hidden layer of random weights.

    f(x) = H^(-1/2) Σ_j v_j φ(w_jᵀx + b_j), with v_j ~ N(0, 1).

    Parameters
    ----------
    X : (N, D) inputs as rows
    units : number H of hidden units
    activation : φ, applied entry by entry
    rng : NumPy generator
    size : number of networks
    weight, bias : variances of the entries of w_j, and of b_j

    Returns
    -------
    F : (size, N), one network per row

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> random_network([[1.0], [2.0]], 100, relu, rng, size=3).shape
    (3, 2)
    """
    X = _checks.matrix(X, "X")
    units = _checks.count(units, "units")
    size = _checks.count(size, "size")
    U = _with_bias(X, *_variances(weight, bias))
    W = rng.standard_normal((size, units, U.shape[1]))
    v = rng.standard_normal((size, units))
    F: FloatArray = (v[:, None] @ activation(W @ U.T))[:, 0] / np.sqrt(units)
    return F


def mixed_activations(
    H: ArrayLike,
    W: ArrayLike,
    Lambda: ArrayLike,
    activations: Sequence[Activation],
) -> FloatArray:
    """One layer of units that mix several activations (31).

    h_i = Σ_m λ_im φ_m(w_iᵀh), for every row h of H.

    Parameters
    ----------
    H : (N, D) outputs of the layer below, one row per example
    W : (I, D) weights, one row per unit
    Lambda : (I, P) coefficients of the P activations, one row per unit
    activations : the P functions φ_m

    Returns
    -------
    H : (N, I)

    Examples
    --------
    >>> mixed_activations([[2.0]], [[-1.0]], [[3.0, 5.0]], [relu, step])
    array([[0.]])
    >>> mixed_activations([[2.0]], [[1.0]], [[3.0, 5.0]], [relu, step])
    array([[11.]])
    """
    H, W, Lambda = _layer(H, W, Lambda, len(activations))
    Z = H @ W.T
    mixed = np.zeros_like(Z)
    for coefficients, phi in zip(Lambda.T, activations, strict=True):
        mixed += coefficients * phi(Z)
    return mixed


# ------------------------------------- mean field for y = λw + noise


class MeanField(NamedTuple):
    """q(λ) q(w): two independent Gaussians, by their means and variances."""

    m_lam: float
    s_lam: float
    m_w: float
    s_w: float


def mean_field_update(q: MeanField, y: float, beta: float) -> MeanField:
    """One round of coordinate ascent: q(λ) given q(w), then q(w) given q(λ).

    s_λ = 1 / {1 + β (m_w² + s_w)},  m_λ = β y m_w s_λ, and the same for w,
    in the model λ, w ~ N(0, 1), y ~ N(λw, β⁻¹).

    Parameters
    ----------
    q : MeanField, of which only q(w) is used
    y : the observation
    beta : noise precision β > 0

    Examples
    --------
    >>> q = MeanField(m_lam=0.0, s_lam=1.0, m_w=1.0, s_w=0.0)
    >>> mean_field_update(q, y=1.0, beta=1.0).m_lam
    0.5
    """
    y = _checks.real(y, "y")
    beta = _checks.positive(beta, "beta")
    s_lam = 1 / (1 + beta * (q.m_w**2 + q.s_w))
    m_lam = beta * y * q.m_w * s_lam
    s_w = 1 / (1 + beta * (m_lam**2 + s_lam))
    return MeanField(m_lam, s_lam, beta * y * m_lam * s_w, s_w)


def evidence_bound(q: MeanField, y: float, beta: float) -> float:
    """Evidence lower bound of the same model: at most ln p(y).

    ½ ln(β/2π) - ½β {y² - 2y m_λ m_w + (m_λ² + s_λ)(m_w² + s_w)}
    - ½ (m_λ² + s_λ + m_w² + s_w) + 1 + ½ ln s_λ + ½ ln s_w.

    Parameters
    ----------
    q : MeanField
    y : the observation
    beta : noise precision β > 0

    Examples
    --------
    >>> q = MeanField(m_lam=0.0, s_lam=1.0, m_w=0.0, s_w=1.0)
    >>> round(evidence_bound(q, y=1.0, beta=1.0), 3)
    -1.919
    """
    y = _checks.real(y, "y")
    beta = _checks.positive(beta, "beta")
    lam_squared, w_squared = q.m_lam**2 + q.s_lam, q.m_w**2 + q.s_w
    error = y**2 - 2 * y * q.m_lam * q.m_w + lam_squared * w_squared
    log_likelihood = np.log(beta / (2 * np.pi)) / 2 - beta * error / 2
    entropy_and_prior = (
        1 - (lam_squared + w_squared) / 2 + np.log(q.s_lam * q.s_w) / 2
    )
    return float(log_likelihood + entropy_and_prior)


def _layer(
    H: ArrayLike, W: ArrayLike, Lambda: ArrayLike, P: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    H, W = _checks.matrix(H, "H"), _checks.matrix(W, "W")
    Lambda = _checks.matrix(Lambda, "Lambda")
    if W.shape[1] != H.shape[1]:
        raise ValueError(
            f"W must have one column per column of H, shape "
            f"(I, {H.shape[1]}), got {W.shape}"
        )
    if Lambda.shape != (len(W), P):
        raise ValueError(
            "Lambda must have one row per unit and one column per "
            f"activation, shape {(len(W), P)}, "
            f"got {Lambda.shape}"
        )
    return H, W, Lambda


def _variances(weight: float, bias: float) -> tuple[float, float]:
    return (
        _checks.positive(weight, "weight"),
        _checks.non_negative(bias, "bias"),
    )


def _with_bias(X: FloatArray, weight: float, bias: float) -> FloatArray:
    """Rows (√weight x, √bias): standard normal weights make wᵀx + b of it."""
    last = np.full((len(X), 1), np.sqrt(bias))
    return np.hstack([np.sqrt(weight) * X, last])
