"""Random networks, the kernels they tend to, and mean field."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import dblquad, quad
from scipy.special import erf, roots_hermitenorm
from scipy.stats import norm

from kernelbook import gp
from kernelbook.kernels import ArcCosine, ArcSine, Linear
from kernelbook.logistic import sigmoid
from kernelbook.mean_field import MeanField, evidence_bound, update
from kernelbook.networks import (
    deep_relu_kernel,
    gelu,
    mixed_activations,
    random_network,
    relu,
    step,
    tangent_kernel,
)

KERNELS = [
    ArcCosine(degree=0),
    ArcCosine(degree=0, weight=3.0, bias=0.5),
    ArcCosine(degree=1),
    ArcCosine(degree=1, weight=0.2, bias=2.0),
    ArcSine(),
    ArcSine(weight=7.0, bias=0.3),
]
every_kernel = pytest.mark.parametrize("k", KERNELS, ids=repr)
clouds = st.builds(
    lambda N, D, seed: np.random.default_rng(seed).standard_normal((N, D)),
    st.integers(1, 7),
    st.sampled_from([1, 2, 5]),
    st.integers(0, 10**6),
)


def textbook(k, x, z):
    """The formula for two single inputs, with acos and asin."""
    A, B, S = (
        k.weight * math.fsum(p * q) + k.bias
        for p, q in [(x, x), (z, z), (x, z)]
    )
    if isinstance(k, ArcSine):
        quotient = 2 * S / math.sqrt((1 + 2 * A) * (1 + 2 * B))
        return 2 / math.pi * math.asin(quotient)
    theta = math.acos(max(-1.0, min(1.0, S / math.sqrt(A * B))))
    if k.degree == 0:
        return 1 - theta / math.pi
    J = math.sin(theta) + (math.pi - theta) * math.cos(theta)
    return math.sqrt(A * B) * J / math.pi


@every_kernel
@given(X=clouds, seed=st.integers(0, 100))
def test_values_equal_the_double_loop(k, X, seed):
    Z = np.random.default_rng(seed).standard_normal((3, X.shape[1]))
    loop = [[textbook(k, x, z) for z in Z] for x in X]
    assert_allclose(k(X, Z), loop, rtol=1e-9, atol=1e-7)
    assert k(X, Z).shape == (len(X), 3)


@every_kernel
@given(X=clouds)
def test_gram_is_exactly_symmetric_and_positive_semidefinite(k, X):
    K = k(X)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * np.abs(K).max()


@every_kernel
@given(X=clouds)
def test_gram_and_diagonal_agree_with_the_cross_gram(k, X):
    K = k(X, X.copy())
    assert_allclose(k(X), K, rtol=1e-12, atol=1e-13)
    assert_allclose(k.diagonal(X), np.diag(K), rtol=1e-12)


@every_kernel
def test_repr_builds_the_kernel_again(k):
    assert eval(repr(k)) == k


def test_numpy_parameters_print_as_numbers():
    k = ArcCosine(np.int64(1), weight=np.float64(2), bias=1)
    assert repr(k) == "ArcCosine(degree=1, weight=2.0, bias=1.0)"
    k = ArcSine(weight=np.float64(2), bias=1)
    assert repr(k) == "ArcSine(weight=2.0, bias=1.0)"


@pytest.mark.parametrize(
    ("k", "phi", "factor"),
    [
        (ArcCosine(0, weight=0.7, bias=0.4), step, 2.0),
        (ArcCosine(1, weight=0.7, bias=0.4), relu, 2.0),
        (ArcSine(weight=0.7, bias=0.4), erf, 1.0),
    ],
)
def test_kernel_is_the_double_integral_over_both_preactivations(
    k, phi, factor
):
    x, z = np.array([1.0, -0.5]), np.array([0.3, 2.0])
    S = Linear()(np.array([x, z])) * 0.7 + 0.4
    L = np.linalg.cholesky(S)

    def integrand(q, p):
        a, b = L @ [p, q]
        return float(phi(a) * phi(b)) * norm.pdf(p) * norm.pdf(q)

    # Integrate where both pre-activations are positive; erf everywhere.
    if phi is erf:
        inside = dblquad(integrand, -8, 8, -8, 8, epsabs=1e-9)[0]
    else:
        inside = dblquad(
            integrand, 0, 8, lambda p: -L[1, 0] * p / L[1, 1], 8, epsabs=1e-9
        )[0]
    assert_allclose(k(x, z), factor * inside, atol=1e-7)


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_small_angles_keep_their_digits(angle):
    x, z = np.array([3.0, 0.0]), 5 * np.array([np.cos(angle), np.sin(angle)])
    found = np.pi * (1 - ArcCosine(0)(x, z))
    assert_allclose(found, angle, rtol=1e-6)


def test_parallel_and_opposite_inputs():
    x = np.array([1.0, 2.0, 3.0])
    assert ArcCosine(0)(x, 7 * x) == 1
    assert_allclose(ArcCosine(0)(x, -x), 0, atol=1e-15)
    assert_allclose(ArcCosine(1)(x, 2 * x), 28.0)
    assert_allclose(ArcCosine(1)(x, -x), 0, atol=1e-14)


@pytest.mark.parametrize("degree", [0, 1])
def test_a_zero_input_without_bias_has_no_output(degree):
    X = [[0.0, 0.0], [1.0, 1.0]]
    K = ArcCosine(degree)(X)
    assert np.array_equal(K[0], [0, 0])
    assert_allclose(K[1, 1], [1.0, 2.0][degree])
    assert_allclose(ArcCosine(degree).diagonal(X), np.diag(K))


def test_arcsine_of_huge_inputs_is_an_arcsine():
    X = np.array([[1e9], [1e9 + 1], [-1e9]])
    K = ArcSine()(X)
    assert np.all(np.abs(K) <= 1)
    assert_allclose(K[0], [1, 1, -1], atol=1e-8)


@given(X=clouds)
def test_one_layer_of_the_recursion_is_the_arccosine_kernel(X):
    k = ArcCosine(degree=1, weight=2.0, bias=0.3)
    inputs = 2.0 * (X @ X.T) + 0.3
    assert_allclose(deep_relu_kernel(inputs, 1), k(X), rtol=1e-7, atol=1e-7)


@given(X=clouds, depth=st.integers(0, 4))
def test_layers_compose_and_keep_the_variances(X, depth):
    K = X @ X.T
    deep = deep_relu_kernel(K, depth)
    assert np.array_equal(deep, deep.T)
    assert_allclose(np.diag(deep), np.diag(K), rtol=1e-12)
    step_by_step = K
    for _ in range(depth):
        step_by_step = deep_relu_kernel(step_by_step, 1)
    assert_allclose(deep, step_by_step, rtol=1e-7, atol=1e-7)


def test_depth_zero_is_the_input_covariance_even_with_a_zero_input():
    K = np.array([[0.0, 0.0], [0.0, 2.0]])
    assert_allclose(deep_relu_kernel(K, 0), K)
    assert_allclose(deep_relu_kernel(K, 3), K)


def test_correlations_that_rounding_puts_beyond_one_count_as_one():
    assert 3 / (np.sqrt(3) * np.sqrt(3)) > 1
    opposite = deep_relu_kernel([[3.0, -3.0], [-3.0, 3.0]], 1)
    assert_allclose(opposite, 3 * np.eye(2), atol=1e-15)
    same = deep_relu_kernel([[3.0, 3.0], [3.0, 3.0]], 1)
    assert_allclose(same, 3)


@pytest.mark.parametrize(
    ("k", "phi", "factor"),
    [
        (ArcCosine(0, weight=2.0, bias=0.5), step, 2.0),
        (ArcCosine(1, weight=2.0, bias=0.5), relu, 2.0),
        (ArcSine(weight=2.0, bias=0.5), erf, 1.0),
    ],
)
def test_covariance_of_random_networks_is_the_kernel(k, phi, factor):
    X = np.array([[0.5, 1.0], [-1.0, 0.2]])
    rng = np.random.default_rng(0)
    F = random_network(X, 5, phi, rng, size=20_000, weight=2.0, bias=0.5)
    assert F.shape == (20_000, 2)
    products = factor * F[:, :, None] * F[:, None, :]
    error = products.std(axis=0) / np.sqrt(len(F))
    assert np.all(np.abs(products.mean(axis=0) - k(X)) < 4 * error)


def test_left_out_it_is_one_network_of_unit_weights_without_bias():
    X = [[0.5, 1.0], [-1.0, 0.2], [2.0, 0.0]]
    rng = np.random.default_rng(3)
    W, v = rng.standard_normal((7, 3)), rng.standard_normal(7)
    outputs = [
        sum(v[j] * relu(W[j, :2] @ x) for j in range(7)) / np.sqrt(7)
        for x in X
    ]
    assert_allclose(random_network(X, 7, relu, rng=3), [outputs])


def test_a_wide_network_with_trained_output_is_the_gaussian_process():
    """Ridge on H random features has the kernel ΦΦᵀ/H, near the limit."""
    rng = np.random.default_rng(1)
    X, t = rng.standard_normal((8, 2)), rng.standard_normal(8)
    W = rng.standard_normal((20_000, 2))
    Phi = np.sqrt(2 / len(W)) * relu(X @ W.T)
    limit = gp.fit(ArcCosine(1), X, t, beta=4.0)
    finite = gp.fit(Linear(), Phi, t, beta=4.0)
    assert_allclose(gp.mean(limit, X), gp.mean(finite, Phi), atol=0.05)


def test_tangent_kernel_is_the_inner_product_of_gradients_by_differences():
    rng = np.random.default_rng(4)
    X, Z = rng.standard_normal((3, 2)), rng.standard_normal((4, 2))
    W, v = rng.standard_normal((5, 2)), rng.standard_normal(5)

    def gradients(inputs):
        """One row per input, one column per weight."""
        weights, h = np.concatenate([W.ravel(), v]), 1e-5

        def f(weights):
            hidden = np.tanh(inputs @ weights[:10].reshape(5, 2).T)
            return hidden @ weights[10:] / np.sqrt(5)

        steps = h * np.eye(15)
        return np.transpose(
            [(f(weights + e) - f(weights - e)) / (2 * h) for e in steps]
        )

    def slope(z):
        return 1 - np.tanh(z) ** 2

    K = tangent_kernel(X, Z, W, v, np.tanh, slope)
    assert K.shape == (3, 4)
    assert_allclose(K, gradients(X) @ gradients(Z).T, rtol=1e-8)
    as_lists = tangent_kernel(
        X.tolist(), Z.tolist(), W.tolist(), v.tolist(), np.tanh, slope
    )
    assert_allclose(as_lists, K, rtol=1e-15)


def test_tangent_kernel_of_wide_relus_is_built_from_the_arccosine_kernels():
    rng = np.random.default_rng(5)
    X, Z = rng.standard_normal((3, 4)), rng.standard_normal((2, 4))
    W, v = rng.standard_normal((200_000, 4)), rng.standard_normal(200_000)
    limit = ArcCosine(1)(X, Z) + ArcCosine(0)(X, Z) * Linear()(X, Z)
    drawn = 2 * tangent_kernel(X, Z, W, v, relu, step)
    assert_allclose(drawn, limit, rtol=0.02, atol=0.02)


def test_activations_are_their_formulas():
    z = np.linspace(-5, 5, 11)
    assert_allclose(relu(z), (z + np.abs(z)) / 2)
    assert_allclose(step(z), z > 0)
    assert_allclose(sigmoid(z), 1 / (1 + np.exp(-z)))
    assert_allclose(gelu(z), z * (1 + erf(z / np.sqrt(2))) / 2, atol=1e-15)


def test_a_layer_may_be_given_in_lists():
    mixed = mixed_activations([[2.0]], [[1.0]], [[3.0, 5.0]], [relu, step])
    assert np.array_equal(mixed, [[11.0]])


def test_mixed_activations_equal_the_triple_loop():
    rng = np.random.default_rng(2)
    H, W = rng.standard_normal((4, 3)), rng.standard_normal((2, 3))
    Lambda = rng.standard_normal((2, 3))
    activations = [relu, gelu, np.tanh]
    loop = np.zeros((4, 2))
    for n in range(4):
        for i in range(2):
            for m, phi in enumerate(activations):
                loop[n, i] += Lambda[i, m] * phi(W[i] @ H[n])
    assert_allclose(mixed_activations(H, W, Lambda, activations), loop)


observations = st.tuples(
    st.floats(0.05, 3), st.floats(0.5, 100), st.floats(-2, 2)
)


def log_evidence(y, beta):
    """ln p(y): given λ, y is N(0, λ² + 1/β); one integral is left."""

    def integrand(lam):
        return norm.pdf(lam) * norm.pdf(y, scale=np.hypot(lam, beta**-0.5))

    return np.log(2 * quad(integrand, 0, 10, limit=200)[0])


@given(observations)
def test_bound_rises_and_stays_below_the_evidence(case):
    y, beta, start = case
    q = update(MeanField(0.0, 1.0, start, 1.0), y, beta)
    bounds = [evidence_bound(q, y, beta)]
    for _ in range(30):
        q = update(q, y, beta)
        bounds.append(evidence_bound(q, y, beta))
    assert np.all(np.diff(bounds) > -1e-9)
    assert bounds[-1] < log_evidence(y, beta)


def test_bound_is_the_expectation_it_stands_for():
    q, y, beta = MeanField(0.4, 0.3, -0.8, 0.6), 1.2, 3.0
    nodes, weights = roots_hermitenorm(30)
    weights = weights / weights.sum()
    lam = q.m_lam + np.sqrt(q.s_lam) * nodes[:, None]
    w = q.m_w + np.sqrt(q.s_w) * nodes
    log_p = (
        norm.logpdf(y, lam * w, beta**-0.5) + norm.logpdf(lam) + norm.logpdf(w)
    )
    log_q = norm.logpdf(lam, q.m_lam, np.sqrt(q.s_lam)) + norm.logpdf(
        w, q.m_w, np.sqrt(q.s_w)
    )
    expectation = weights @ (log_p - log_q) @ weights
    assert_allclose(evidence_bound(q, y, beta), expectation)


def test_update_cannot_be_improved_by_moving_its_last_factor():
    y, beta = 1.0, 10.0
    q = update(MeanField(0.0, 1.0, 0.5, 1.0), y, beta)
    best = evidence_bound(q, y, beta)
    for change in (-1e-3, 1e-3):
        moved = q._replace(m_w=q.m_w + change)
        wider = q._replace(s_w=q.s_w * (1 + change))
        assert evidence_bound(moved, y, beta) < best
        assert evidence_bound(wider, y, beta) < best


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ArcCosine(2), "degree must be 0 or 1, got 2"),
        (lambda: ArcCosine(1, weight=0.0), "weight must be > 0, got 0.0"),
        (lambda: ArcSine(bias=-1.0), "bias must be >= 0, got -1.0"),
        (
            lambda: deep_relu_kernel([[1.0, 2.0], [2.0, 1.0]], 1),
            "K must be positive semi-definite, got an entry that is 1 above",
        ),
        (
            lambda: deep_relu_kernel([[1.0, -2.0], [-2.0, 1.0]], 1),
            "K must be positive semi-definite, got an entry that is 1 above",
        ),
        (
            lambda: deep_relu_kernel([[1.0]], -1),
            "depth must be a whole number >= 0, got -1",
        ),
        (
            lambda: random_network([[1.0]], 0, relu, np.random.default_rng()),
            "units must be a whole number >= 1, got 0",
        ),
        (
            lambda: random_network([[1.0]], 3, relu, 0, size=0),
            "size must be a whole number >= 1, got 0",
        ),
        (
            lambda: random_network([[1.0]], 3, relu, 0, weight=0.0),
            "weight must be > 0, got 0.0",
        ),
        (
            lambda: random_network([[1.0]], 3, relu, 0, bias=-1.0),
            "bias must be >= 0, got -1.0",
        ),
        (
            lambda: random_network([1.0], 3, relu, 0),
            "X must be two-dimensional, got shape",
        ),
        (
            lambda: tangent_kernel(
                [[1.0]], [[1.0, 2.0]], [[1.0]], [1.0], relu, step
            ),
            r"Z must have one column per column of X, shape \(1, 1\), "
            r"got \(1, 2\)",
        ),
        (
            lambda: tangent_kernel(
                [[1.0]], [[1.0]], [[1.0, 2.0], [3.0, 4.0]], [1.0], relu, step
            ),
            r"W must have one column per column of X, shape \(2, 1\), "
            r"got \(2, 2\)",
        ),
        (
            lambda: tangent_kernel(
                [[1.0]], [[1.0]], [[1.0], [2.0]], [1.0], relu, step
            ),
            r"v must have one entry per row of W, shape \(2,\), got \(1,\)",
        ),
        (
            lambda: update(MeanField(0, 1, 0, 1), np.nan, 1.0),
            "y must be finite, got nan",
        ),
        (
            lambda: evidence_bound(MeanField(0, 1, 0, 1), 1.0, -1.0),
            "beta must be > 0, got -1.0",
        ),
        (
            lambda: mixed_activations([[1.0]], [[1.0, 2.0]], [[1.0]], [relu]),
            r"W must have one column per column of H, shape \(I, 1\)",
        ),
        (
            lambda: mixed_activations([[1.0]], [[1.0]], [[1.0, 2.0]], [relu]),
            r"shape \(1, 1\), got \(1, 2\)",
        ),
        (
            lambda: update(MeanField(0, 1, 0, 1), 1.0, 0.0),
            "beta must be > 0, got 0.0",
        ),
        (
            lambda: evidence_bound(MeanField(0, 1, 0, 1), np.nan, 1.0),
            "y must be finite, got nan",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(build, message):
    with pytest.raises(ValueError, match=message):
        build()
