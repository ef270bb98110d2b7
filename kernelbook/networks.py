"""Neural networks with random weights, and units that mix activations.

The equations are those of chapters 11 and 12; (30) to (33) are the notes'.
A hidden unit computes φ(wᵀx + b), with independent normal weights of variance
``weight`` and a bias of variance ``bias``.  The kernels that wide networks
tend to are ``kernels.ArcCosine`` and ``kernels.ArcSine``.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from kernelbook import _checks
from kernelbook._checks import FloatArray
from kernelbook.kernels.wide_networks import with_variances

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
    """Rectified linear unit, φ(z) = max(0, z).

    Examples
    --------
    >>> relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    rectified: FloatArray = np.maximum(np.asarray(z, dtype=np.float64), 0.0)
    return rectified


def gelu(z: ArrayLike) -> FloatArray:
    """Gaussian error linear unit, φ(z) = z P(Z < z), with Z standard normal.

    Examples
    --------
    >>> gelu([-1.0, 0.0, 2.0]).round(3)
    array([-0.159,  0.   ,  1.954])
    """
    z = np.asarray(z, dtype=np.float64)
    smooth: FloatArray = z * ndtr(z)
    return smooth


# --------------------------------------------------------------- networks


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


def random_network(
    X: ArrayLike,
    units: int,
    activation: Activation,
    rng: int | np.random.Generator,
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
    rng : seed or NumPy generator
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
    size, rng = _checks.count(size, "size"), _checks.generator(rng)
    U = with_variances(X, *_variances(weight, bias))
    W = rng.standard_normal((size, units, U.shape[1]))
    v = rng.standard_normal((size, units))
    F: FloatArray = (v[:, None] @ activation(W @ U.T))[:, 0] / np.sqrt(units)
    return F


def tangent_kernel(
    X: ArrayLike,
    Z: ArrayLike,
    W: ArrayLike,
    v: ArrayLike,
    activation: Activation,
    slope: Activation,
) -> FloatArray:
    """Tangent kernel of a network: inner products of its gradients.

    k(x, x') = H⁻¹ Σ_j {φ(a_j) φ(a'_j) + v_j² φ'(a_j) φ'(a'_j) xᵀx'},

    with a_j = w_jᵀx and a'_j = w_jᵀx', for f(x) = H^(-1/2) Σ_j v_j φ(w_jᵀx)
    whose hidden and output weights are trained.  A bias is the weight of a
    constant input.

    Parameters
    ----------
    X : (N, D) inputs as rows
    Z : (N*, D) other inputs, or the same
    W : (H, D) hidden weights, one row per unit
    v : (H,) output weights
    activation, slope : φ and its derivative φ', applied entry by entry

    Returns
    -------
    K : (N, M)

    Raises
    ------
    ValueError
        If the inputs or W have another number of columns than X, or v
        another number of entries than W has rows.

    Examples
    --------
    >>> X, W, v = [[1.0], [2.0]], [[1.0], [-1.0]], [3.0, 5.0]
    >>> tangent_kernel(X, [[2.0]], W, v, relu, step)
    array([[10.],
           [20.]])
    """
    X, Z = _checks.matrix(X, "X"), _checks.matrix(Z, "Z")
    W, v = _checks.matrix(W, "W"), _checks.vector(v, "v")
    for M, name in [(Z, "Z"), (W, "W")]:
        if M.shape[1] != X.shape[1]:
            raise ValueError(
                f"{name} must have one column per column of X, shape "
                f"({len(M)}, {X.shape[1]}), got {M.shape}"
            )
    if v.shape != (len(W),):
        raise ValueError(
            f"v must have one entry per row of W, shape ({len(W)},), "
            f"got {v.shape}"
        )
    A, B = X @ W.T, Z @ W.T
    by_output = activation(A) @ activation(B).T
    by_hidden = (v**2 * slope(A)) @ slope(B).T * (X @ Z.T)
    K: FloatArray = (by_output + by_hidden) / len(W)
    return K


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
