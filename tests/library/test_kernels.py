"""One contract for every kernel, and the laws of the algebra."""

import math
import tracemalloc
from functools import partial

import mpmath
import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone
from sklearn.gaussian_process import kernels as theirs
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from kernelbook import learning, ridge
from kernelbook._gram import TILE
from kernelbook.kernels import (
    ARDGaussian,
    Constant,
    ExponentialQuadratic,
    Gaussian,
    Kernel,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
    Scaled,
    Spectrum,
    exp,
    quadratic_form,
    terms,
)


def dot(x, z):
    return math.fsum(x * z)


def squared(x, z):
    return math.fsum((x - z) ** 2)


def distance(x, z):
    return math.sqrt(squared(x, z))


def bend(X):
    return np.sin(3 * X[:, 0]) - 0.2


def bend_one(x):
    return math.sin(3 * x[0]) - 0.2


def periodic(x, z):
    return math.exp(-2 * sum(math.sin(math.pi * d / 3) ** 2 for d in x - z))


# Each kernel beside its formula, written for two single inputs.
KERNELS = {
    Linear(): dot,
    Constant(0.5): lambda x, z: 0.5,
    Polynomial(degree=1, c=0.5): lambda x, z: dot(x, z) + 0.5,
    Polynomial(degree=2): lambda x, z: dot(x, z) ** 2,
    Polynomial(degree=3, c=1.0): lambda x, z: (dot(x, z) + 1) ** 3,
    Polynomial(degree=6, c=1.0): lambda x, z: (dot(x, z) + 1) ** 6,
    Polynomial(degree=7, c=1.0): lambda x, z: (dot(x, z) + 1) ** 7,
    Gaussian(gamma=0.5): lambda x, z: math.exp(-0.5 * squared(x, z)),
    Gaussian(gamma=4.0): lambda x, z: math.exp(-4 * squared(x, z)),
    Matern(nu=0.5, length=2.0): lambda x, z: math.exp(-distance(x, z) / 2),
    Matern(nu=1.5, length=0.5): lambda x, z: (
        (1 + math.sqrt(3) * distance(x, z) / 0.5)
        * math.exp(-math.sqrt(3) * distance(x, z) / 0.5)
    ),
    Matern(nu=2.5, length=2.0): lambda x, z: (
        (1 + math.sqrt(5) * distance(x, z) / 2 + 5 * squared(x, z) / 12)
        * math.exp(-math.sqrt(5) * distance(x, z) / 2)
    ),
    RationalQuadratic(alpha=0.7, length=2.0): lambda x, z: (
        (1 + squared(x, z) / 5.6) ** -0.7
    ),
    Periodic(period=3.0): periodic,
    3.0 * Linear(): lambda x, z: 3 * dot(x, z),
    Linear() + Gaussian(0.5): lambda x, z: (
        dot(x, z) + math.exp(-squared(x, z) / 2)
    ),
    Linear() * Gaussian(0.5): lambda x, z: (
        dot(x, z) * math.exp(-squared(x, z) / 2)
    ),
    Linear().polynomial([0.5, 0, 2]): lambda x, z: 0.5 + 2 * dot(x, z) ** 2,
    Linear().conjugate(bend): lambda x, z: (
        bend_one(x) * dot(x, z) * bend_one(z)
    ),
    exp(0.1 * Linear()): lambda x, z: math.exp(0.1 * dot(x, z)),
    2.0 * (Linear() + Constant(1)) * Periodic(3.0): lambda x, z: (
        2 * (dot(x, z) + 1) * periodic(x, z)
    ),
}
every_kernel = pytest.mark.parametrize("k", KERNELS, ids=repr)
some = settings(max_examples=30, deadline=None)  # times every kernel


def cloud(N, D, seed):
    return np.random.default_rng(seed).standard_normal((N, D))


clouds = st.builds(
    cloud,
    st.integers(1, 7),
    st.sampled_from([1, 2, 5]),
    st.integers(0, 10**6),
)


@every_kernel
@some
@given(X=clouds, seed=st.integers(0, 100))
def test_values_equal_the_double_loop(k, X, seed):
    Z = cloud(3, X.shape[1], seed)
    loop = [[KERNELS[k](x, z) for z in Z] for x in X]
    K = k(X, Z)
    assert K.shape == (len(X), len(Z))
    assert_allclose(K, loop, rtol=1e-10, atol=1e-12)


@every_kernel
@some
@given(X=clouds)
def test_gram_is_exactly_symmetric_and_positive_semidefinite(k, X):
    K = k(X)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * np.abs(K).max()


@every_kernel
@some
@given(X=clouds)
def test_gram_is_the_cross_gram_with_itself(k, X):
    assert_allclose(k(X), k(X, X.copy()), rtol=1e-12, atol=1e-13)


@every_kernel
@some
@given(X=clouds)
def test_diagonal_is_that_of_the_gram(k, X):
    assert k.diagonal(X).shape == (len(X),)
    assert_allclose(k.diagonal(X), np.diag(k(X)), rtol=1e-12, atol=1e-13)


@every_kernel
def test_two_vectors_give_one_number(k):
    X = cloud(2, 3, seed=0)
    assert k(X[0], X[1]).shape == ()
    assert_allclose(k(X[0], X[1]), KERNELS[k](X[0], X[1]))
    assert_allclose(k(X[0], X[0]), KERNELS[k](X[0], X[0]))


@every_kernel
def test_repr_builds_the_kernel_again(k):
    assert eval(repr(k)) == k


@every_kernel
def test_inputs_are_left_alone(k):
    X, Z = cloud(4, 2, seed=1), cloud(3, 2, seed=2)
    before = X.copy(), Z.copy()
    k(X), k(X, Z), k.diagonal(X)
    assert np.array_equal(X, before[0])
    assert np.array_equal(Z, before[1])


# ------------------------------------------- random expressions of the algebra
# An expression is a kernel, its formula, and a bound on |k| where ‖x‖ <= 1.

leaves = st.sampled_from(
    [
        (Linear(), dot, 1.0),
        (Constant(0.3), lambda x, z: 0.3, 0.3),
        (Gaussian(0.5), KERNELS[Gaussian(0.5)], 1.0),
        (Matern(0.5, 2.0), KERNELS[Matern(0.5, 2.0)], 1.0),
        (Periodic(3.0), periodic, 1.0),
    ]
)


def added(a, b):
    return (a[0] + b[0], lambda x, z: a[1](x, z) + b[1](x, z), a[2] + b[2])


def multiplied(a, b):
    return (a[0] * b[0], lambda x, z: a[1](x, z) * b[1](x, z), a[2] * b[2])


def scaled(a, c):
    return (c * a[0], lambda x, z: c * a[1](x, z), c * a[2])


def polynomial(a, q):
    def formula(x, z):
        return sum(c * a[1](x, z) ** j for j, c in enumerate(q))

    bound = sum(c * a[2] ** j for j, c in enumerate(q))
    return (a[0].polynomial(q), formula, bound)


def conjugated(a):
    def formula(x, z):
        return bend_one(x) * a[1](x, z) * bend_one(z)

    return (a[0].conjugate(bend), formula, 1.44 * a[2])


def exponentiated(a):
    if a[2] > 5:
        return a
    return (exp(a[0]), lambda x, z: math.exp(a[1](x, z)), math.exp(a[2]))


weights = st.sampled_from([0.0, 0.25, 1.0, 1.5])
expressions = st.recursive(
    leaves,
    lambda e: st.one_of(
        st.builds(added, e, e),
        st.builds(multiplied, e, e),
        st.builds(scaled, e, weights),
        st.builds(polynomial, e, st.lists(weights, min_size=1, max_size=3)),
        st.builds(conjugated, e),
        st.builds(exponentiated, e),
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(expressions, clouds)
def test_every_expression_is_a_kernel_equals_its_loop_and_prints(built, X):
    k, formula, _ = built
    X = X / np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    K = k(X)
    loop = np.array([[formula(x, z) for z in X] for x in X])
    scale = np.abs(loop).max() + 1e-300
    assert_allclose(K / scale, loop / scale, rtol=1e-9, atol=1e-12)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K / scale).min() >= -1e-9
    assert_allclose(k.diagonal(X) / scale, np.diag(K) / scale, atol=1e-12)
    assert eval(repr(k)) == k


def test_repr_is_what_the_reader_wrote():
    k1, k2, k3 = Linear(), Gaussian(0.5), Constant(1.0)
    L, G, C = repr(k1), repr(k2), repr(k3)
    assert repr(2.0 * k2 + k1) == f"2.0 * {G} + {L}"
    assert repr(k1 * 2) == repr(np.float64(2) * k1) == f"2.0 * {L}"
    assert repr(k1 + k2 + k3) == f"{L} + {G} + {C}"
    assert repr(k1 + (k2 + k3)) == f"{L} + ({G} + {C})"
    assert repr((k1 + k2) * k3) == f"({L} + {G}) * {C}"
    assert repr(k1 * (k2 * k3)) == f"{L} * ({G} * {C})"
    assert repr(2.0 * (k1 * k2)) == f"2.0 * ({L} * {G})"
    assert repr(2.0 * k1 * k2) == f"2.0 * {L} * {G}"
    assert repr(k1 * (2.0 * k2)) == f"{L} * (2.0 * {G})"
    assert repr(exp(k1 + k2)) == f"exp({L} + {G})"
    assert repr((k1 + k2).conjugate(bend)) == f"({L} + {G}).conjugate(bend)"


def test_numpy_parameters_print_as_numbers():
    k = np.float64(2.0) * Gaussian(np.float64(0.5))
    assert repr(k) == "2.0 * Gaussian(gamma=0.5)"
    assert hash(k) == hash(Scaled(2.0, Gaussian(0.5)))


@pytest.mark.parametrize(
    ("kind", "given", "meant"),
    [
        (Constant, [np.float64(2)], [2.0]),
        (Polynomial, [np.int64(3), np.int64(1)], [3, 1.0]),
        (Matern, [np.float64(1.5), 2], [1.5, 2.0]),
        (RationalQuadratic, [np.float64(2), 1], [2.0, 1.0]),
        (Periodic, [np.float64(2), 1], [2.0, 1.0]),
        (Scaled, [np.float64(2), Linear()], [2.0, Linear()]),
        (Linear().polynomial, [np.ones(2)], [[1.0, 1.0]]),
        (quadratic_form, [np.eye(1, dtype=int)], [[[1.0]]]),
    ],
)
def test_parameters_of_any_numeric_type_are_one_kernel(kind, given, meant):
    assert repr(kind(*given)) == repr(kind(*meant))
    assert hash(kind(*given)) == hash(kind(*meant))


# ------------------------------------------------------------- quadratic form


@given(clouds, st.integers(0, 1000))
def test_quadratic_form_is_its_double_sum(X, seed):
    D = X.shape[1]
    R = cloud(D, 2, seed)
    A = R @ R.T
    K = quadratic_form(A)(X)
    loop = [
        [
            math.fsum(
                x[i] * A[i, j] * z[j] for i in range(D) for j in range(D)
            )
            for z in X
        ]
        for x in X
    ]
    assert_allclose(K, loop, rtol=1e-9, atol=1e-11)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * (1 + np.abs(K).max())
    assert_allclose(quadratic_form(A).diagonal(X), np.diag(K), atol=1e-11)


def test_a_quadratic_form_may_be_zero():
    assert np.array_equal(
        quadratic_form([[0.0]])([[1.0], [2.0]]), [[0, 0]] * 2
    )


def test_quadratic_form_prints_and_compares():
    k = quadratic_form(np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert eval(repr(k)) == k
    assert k != quadratic_form(np.eye(2))
    assert_allclose(QuadraticForm(np.zeros((2, 2)))(np.eye(2)), 0.0)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_rounding_does_not_make_a_quadratic_form_indefinite(scale):
    v = np.array([0.1, 0.7, 0.3, 0.0])
    A = scale * np.outer(v, v)
    assert np.linalg.eigvalsh(A)[0] < 0  # by rounding
    assert_allclose(quadratic_form(A)(v, v), scale * (v @ v) ** 2)


# -------------------------------------------------------------------- accuracy


@given(X=clouds)
def test_stationary_diagonal_is_exactly_one(X):
    kernels = [Gaussian(0.7), Matern(2.5, 0.3), Periodic(0.3)]
    for k in [*kernels, RationalQuadratic(0.5, 0.1)]:
        assert np.array_equal(np.diag(k(1e6 + X)), np.ones(len(X)))


def test_gaussian_is_exact_far_from_the_origin():
    rng = np.random.default_rng(0)
    X = 1e6 + 1e-3 * rng.standard_normal((6, 3))
    for gamma in [1.0, 1e6]:
        K = Gaussian(gamma)(X)
        for n, x in enumerate(X):
            for m, z in enumerate(X):
                with mpmath.workdps(50):
                    r2 = sum(
                        (mpmath.mpf(float(a)) - mpmath.mpf(float(b))) ** 2
                        for a, b in zip(x, z, strict=True)
                    )
                    exact = mpmath.exp(-mpmath.mpf(gamma) * r2)
                    error = abs(mpmath.mpf(float(K[n, m])) - exact) / exact
                assert error <= 1e-12
    assert Gaussian(1e6)(X).min() < 0.5  # the points are told apart


@given(clouds, st.floats(-1e8, 1e8))
def test_no_distance_is_negative(X, shift):
    """A negative squared distance would give a value above one."""
    for k in [Gaussian(2.0), Matern(1.5), RationalQuadratic(1.0)]:
        K = k(shift + X)
        assert (K <= 1).all()
        assert (K >= 0).all()


@pytest.mark.parametrize("D", [2, 20, 200])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_gaussian_gram_of_many_points_is_exact_wherever_they_are(D, shift):
    X = shift + cloud(600, D, seed=D)
    K = Gaussian(1 / D)(X)
    exact = [np.exp(-((x - X) ** 2).sum(axis=1) / D) for x in X]
    assert_allclose(K, exact, rtol=0, atol=2e-15)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), np.ones(600))
    assert np.linalg.eigvalsh(K).min() > -1e-13


def test_a_narrow_gaussian_falls_back_on_differences():
    X = cloud(40, 20, seed=0)
    Z = X + 1e-9  # the product form would see no more than 1e-16 of it
    K = Gaussian(1e16)(X, Z)
    exact = np.exp(-1e16 * ((X - Z) ** 2).sum(axis=1))
    assert_allclose(np.diag(K), exact, rtol=1e-12)


@every_kernel
def test_tiles_join_without_a_seam(k):
    N = 2 * TILE + 3
    X = cloud(N, 3, seed=1)
    K = k(X)
    assert np.array_equal(K, K.T)
    close = {"rtol": 1e-12, "atol": 1e-14 * np.abs(K).max()}
    assert_allclose(K, k(X, X.copy()), **close)
    for start in range(0, N, 100):
        few = slice(start, start + 100)
        assert_allclose(K[few], k(X[few], X), **close)


def test_composites_take_the_memory_of_one_gram():
    N = 2500
    X = cloud(N, 20, seed=0)
    for k in [
        Gaussian(0.05),
        exp(2.0 * Gaussian(1.0)),
        Gaussian(1.0) + Gaussian(2.0) + Matern(2.5),
        Gaussian(1.0).conjugate(bend) * Linear(),
        Polynomial(7, 1.0),
    ]:
        tracemalloc.start()
        k(X)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1.1 * 8 * N**2


def test_diagonal_builds_no_gram():
    X = cloud(2000, 2, seed=0)
    k = exp(2.0 * Gaussian(1.0) + 0.1 * Linear() * Matern(1.5))
    tracemalloc.start()
    k.diagonal(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 2000 * 20


FAR = np.array([[0.0], [1e160], [1e300]])


@pytest.mark.parametrize(
    "k",
    [
        Gaussian(1.0),
        ARDGaussian((1.0,)),
        Matern(0.5),
        Matern(1.5),
        Matern(2.5),
        RationalQuadratic(0.5),
        RationalQuadratic(2.0),
    ],
    ids=repr,
)
def test_far_away_values_and_slopes_are_zero_not_undefined(k):
    with np.errstate(over="ignore"):  # of squared distances
        K, dK = k.derivatives(FAR)
    assert_allclose(K, np.eye(3), atol=1e-80)
    for slope in dK.values():
        assert_allclose(slope, 0.0, atol=1e-70)


@pytest.mark.parametrize("size", [1e-200, 5e-324, 1e200, 1e308])
@pytest.mark.parametrize(
    "kind",
    [
        partial(Matern, 1.5),
        partial(Matern, 2.5),
        partial(RationalQuadratic, 1.0),
        partial(Periodic, 1.0),
        lambda length: Periodic(period=length),
    ],
)
def test_lengths_at_the_ends_of_the_floats_give_finite_values(kind, size):
    X = np.array([[0.0], [0.25], [1.0]])
    with np.errstate(over="ignore", invalid="ignore"):
        K, dK = kind(size).derivatives(X)
    assert np.array_equal(np.diag(K), np.ones(3))
    assert np.isfinite(K).all()
    if size > 1:
        assert_allclose(K, 1.0)
    if "Periodic" not in repr(kind(size)):
        assert all(np.isfinite(slope).all() for slope in dK.values())
        if size < 1:
            assert_allclose(K, np.eye(3), atol=1e-100)


def test_a_periodic_kernel_of_no_length_has_no_slope_by_it():
    with np.errstate(over="ignore"):  # of the squared sine over the length
        K, dK = Periodic(1.0, length=1e-200).derivatives([[0.0], [0.5]])
    assert np.array_equal(K, np.eye(2))
    assert not dK["length"].any()


def test_without_its_linear_term_kernel_24_is_finite_far_away():
    k = ExponentialQuadratic((2.0, 1.0, 3.0, 0.0))
    with np.errstate(over="ignore"):  # of squared distances
        K = k(FAR)
    assert_allclose(K, 2 * np.eye(3) + 3)
    assert np.array_equal(k.diagonal(FAR), K.diagonal())


def test_a_function_of_rule_6_gets_all_inputs_at_once():
    X, Z = cloud(2 * TILE, 2, seed=0), cloud(3, 2, seed=1)
    sizes = []

    def watched(inputs):
        sizes.append(len(inputs))
        return bend(inputs)

    k = Gaussian(0.5).conjugate(watched)
    N = 2 * TILE  # and the last one alone, to see that f acts row by row
    k(X)
    assert sizes == [N, 1]
    k(X, Z)
    assert sizes == [N, 1, N, 1, 3, 1]
    sizes.clear()
    learning.evidence(k, X, X[:, 0], beta=1.0)
    assert set(sizes) == {N, 1}
    sizes.clear()
    k.derivatives(X)
    assert sizes == [N, 1]
    k(X, X)
    assert sizes == [N, 1, N, 1]
    sizes.clear()
    rows = X.tolist()
    k(rows, rows)
    assert sizes == [N, 1]


@pytest.mark.parametrize(
    ("f", "last", "alone"),
    [
        (lambda X: X[:, 0] - X[:, 0].mean(), "6", "0"),
        (lambda X: np.arange(len(X)) + 1.0, "4", "1"),
        (lambda X: X[:, 0] / X[:, 0].max() + 1e-5 * len(X), "1", "1"),
    ],
    ids=["minus the mean", "its place", "by a little"],
)
def test_a_function_of_rule_6_that_looks_at_other_rows_is_refused(
    f, last, alone
):
    X = np.array([[1.0], [2.0], [3.0], [10.0]])
    said = f"gives the last input {last}.* among 4 and {alone}.* alone"
    with pytest.raises(ValueError, match="act row by row, but " + said):
        Constant(1.0).conjugate(f)(X)


def test_a_function_of_rule_6_is_held_to_a_millionth():
    X = np.ones((4, 1))
    f = Constant(1.0).conjugate(lambda X: 1 + 0.5e-6 * len(X) * X[:, 0])
    with pytest.raises(ValueError, match="act row by row"):
        f(X)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda X: np.ones(1), "must have length 2, got 1"),
        (np.squeeze, "must be one-dimensional and not empty"),
    ],
    ids=["one number for all", "a bare number for one"],
)
def test_a_function_of_rule_6_gives_one_number_for_each_row(f, said):
    with pytest.raises(ValueError, match=r"f\(X\) of rule 6 " + said):
        Constant(1.0).conjugate(f)(np.ones((2, 1)))


def test_a_function_of_rule_6_may_be_zero():
    K = Constant(1.0).conjugate(lambda X: 0 * X[:, 0])(np.ones((2, 1)))
    assert np.array_equal(K, np.zeros((2, 2)))


def test_a_function_of_rule_6_may_round_differently_in_company():
    X = np.array([[1.0], [2.0], [-50.0], [3.0]])
    K = Constant(1.0).conjugate(lambda X: X[:, 0] + 1e-5 * len(X))(X)
    assert_allclose(K, X @ X.T, rtol=1e-3)


def test_the_root_of_a_quadratic_form_is_made_once(monkeypatch):
    calls = []
    eigh = np.linalg.eigh
    monkeypatch.setattr(
        np.linalg, "eigh", lambda A: calls.append(len(A)) or eigh(A)
    )
    k = quadratic_form(np.diag([1.0, 2.0]))
    X = cloud(2 * TILE + 1, 2, seed=0)
    k(X), k(X, X[:5]), k.diagonal(X)
    assert calls == [2]


def test_two_pandas_rows_are_two_single_inputs():
    table = pandas.DataFrame(cloud(2, 3, seed=0), index=["a", "b"])
    k = Gaussian(0.5)
    assert_allclose(k(table.loc["a"], table.loc["b"]), k(table)[0, 1])
    assert k(table.loc["a"], table.loc["b"]).shape == ()


def test_terms_are_what_a_sum_of_sums_adds_in_order():
    k1, k2, k3 = Linear(), Gaussian(0.5), Constant(2.0)
    assert terms(k1 + (k2 + k3)) == terms(k1 + k2 + k3) == (k1, k2, k3)
    assert terms(k1 * (k2 + k3)) == (k1 * (k2 + k3),)


def test_an_array_of_words_is_no_single_input():
    words, k = ["ab", "b", "aab"], Spectrum(1)
    assert np.array_equal(k(np.array(words), np.array(["a"])), [[1], [0], [2]])


def test_a_sum_starts_from_nothing():
    k1, k2 = Linear(), Gaussian(0.5)
    assert sum([k1, k2]) == k1 + k2
    assert sum([k1]) is k1
    with pytest.raises(TypeError, match="a number is none"):
        sum([k1], start=1)


def test_a_kernel_on_columns_sees_no_other():
    X, Z = cloud(6, 4, seed=0), cloud(3, 4, seed=1)
    k = Gaussian(0.5) * Linear()
    assert_allclose(k.on([2, 0])(X, Z), k(X[:, [2, 0]], Z[:, [2, 0]]))
    assert_allclose(k.on(3).diagonal(X), k.diagonal(X[:, [3]]))
    assert Linear().on(1)([[5.0, 2.0]], [[7.0, 3.0]]) == 6.0
    both = Gaussian(2.0).on(0) + Periodic(1.5).on([1, 2])
    assert repr(both) == (
        "Gaussian(gamma=2.0).on([0]) + "
        "Periodic(period=1.5, length=1.0).on([1, 2])"
    )
    assert_allclose(
        both(X), Gaussian(2.0)(X[:, :1]) + Periodic(1.5)(X[:, 1:3])
    )
    assert both.parameters() == {
        "k1.k1.gamma": 2.0,
        "k2.k1.period": 1.5,
        "k2.k1.length": 1.0,
    }
    sparse = csr_array(np.eye(4))
    assert_allclose(Linear().on([1, 2])(sparse), np.diag([0.0, 1, 1, 0]))
    with pytest.raises(ValueError, match="X must be dense here"):
        Gaussian(1.0).on(0)(sparse)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Linear().on(4)(np.ones((2, 4))),
            "X must have a column 4 for",
        ),
        (
            lambda: Linear().on([0, 4])(np.ones((2, 4))),
            "X must have a column 4 for",
        ),
        (lambda: Linear().on(-1), "columns must be a whole number >= 0"),
        (lambda: Linear().on(0.5), "columns must be a whole number >= 0"),
        (lambda: Linear().on([1, 1]), r"columns must be distinct, got \[1, 1"),
        (lambda: Linear().on([]), "columns must be one-dimensional and not"),
        (
            lambda: ARDGaussian((1.0, 2.0)).on(0)(np.ones((2, 4))),
            r"X must have one column per feature, shape \(N, 2\), got \(2, 1",
        ),
    ],
)
def test_columns_that_are_not_there_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sparse_and_dense_inputs_mix():
    dense = np.where(cloud(9, 5, seed=0) > 0.5, cloud(9, 5, seed=1), 0.0)
    sparse = csr_array(dense)
    k = Linear() + Constant(0.5) * Polynomial(3, 1.0)
    for X in [dense, sparse, coo_array(dense)]:
        for Z in [dense[:4], sparse[:4]]:
            assert_allclose(k(X, Z), k(dense, dense[:4]))
        assert_allclose(k(X), k(dense))
        assert_allclose(k.diagonal(X), k.diagonal(dense))


# --------------------------------------------------------------------- oracles


def test_gaussian_is_scikit_learns():
    X = cloud(10, 4, seed=0)
    assert_allclose(Gaussian(0.3)(X), rbf_kernel(X, gamma=0.3))


def test_polynomial_is_scikit_learns():
    X = cloud(10, 4, seed=0)
    oracle = polynomial_kernel(X, degree=3, gamma=1.0, coef0=2.0)
    assert_allclose(Polynomial(3, 2.0)(X), oracle)


@pytest.mark.parametrize(
    ("ours", "oracle", "D"),
    [
        (Matern(0.5, 0.8), theirs.Matern(0.8, nu=0.5), 3),
        (Matern(1.5, 0.8), theirs.Matern(0.8, nu=1.5), 3),
        (Matern(2.5, 0.8), theirs.Matern(0.8, nu=2.5), 3),
        (
            RationalQuadratic(0.7, 0.8),
            theirs.RationalQuadratic(alpha=0.7, length_scale=0.8),
            3,
        ),
        (
            Periodic(1.7, 0.8),
            theirs.ExpSineSquared(length_scale=0.8, periodicity=1.7),
            1,
        ),
    ],
)
def test_stationary_kernels_are_scikit_learns(ours, oracle, D):
    X = cloud(10, D, seed=0)
    assert_allclose(ours(X), oracle(X), rtol=1e-10)


def test_periodic_is_a_kernel_where_the_distance_in_the_sine_is_not():
    X = np.array([[-0.25, 0.0], [0.0, math.sqrt(15) / 4], [0.25, 0.0]])
    assert np.linalg.eigvalsh(theirs.ExpSineSquared()(X)).min() < -0.1
    assert np.linalg.eigvalsh(Periodic(1.0)(X)).min() > 0.1


def test_rational_quadratic_tends_to_the_gaussian():
    X = cloud(10, 2, seed=0)
    wide = RationalQuadratic(alpha=1e9, length=2.0)(X)
    assert_allclose(wide, Gaussian(gamma=1 / 8)(X), rtol=1e-7)


@pytest.mark.parametrize(
    "k", [Gaussian(0.5), 0.5 * Gaussian(0.5) + exp(0.1 * Linear())], ids=repr
)
def test_kernels_run_inside_scikit_learn(k):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((40, 2)), rng.standard_normal((9, 2))
    t = np.sign(X[:, 0] * X[:, 1])

    machine = SVC(kernel=k).fit(X, t)
    oracle = SVC(kernel="precomputed").fit(k(X), t)
    assert np.array_equal(machine.predict(Z), oracle.predict(k(Z, X)))

    krr = clone(KernelRidge(kernel=k, alpha=0.3)).fit(X, t)
    a = ridge.fit_dual(k(X), t, 0.3)
    assert_allclose(krr.dual_coef_, a)
    assert_allclose(krr.predict(Z), ridge.predict(a, k(X, Z)))


# ------------------------------------------------------------- forbidden moves


@pytest.mark.parametrize(
    ("move", "kind", "message"),
    [
        (lambda k: k - Linear(), TypeError, "rule 3 only adds"),
        (lambda k: 1.0 - k, TypeError, "rule 3 only adds"),
        (lambda k: -k, TypeError, "rule 2 scales by c >= 0"),
        (lambda k: k / 2.0, TypeError, r"write \(1 / c\) \* k \(rule 2\)"),
        (lambda k: Linear() / k, TypeError, "no rule divides"),
        (lambda k: k**0.5, TypeError, "rule 5 takes whole powers only"),
        (lambda k: k + 1.0, TypeError, r"write Constant\(1.0\)"),
        (lambda k: 1.0 + k, TypeError, r"write Constant\(1.0\)"),
        (lambda k: 0.0 + k, TypeError, r"write Constant\(0.0\)"),
        (lambda k: k + "k", TypeError, "unsupported operand"),
        (lambda k: [2.0] * k, TypeError, "unsupported operand|can't multiply"),
        (lambda k: exp(1.0), TypeError, "rule 7 takes a kernel, got float"),
        (
            lambda k: -2.0 * k,
            ValueError,
            "the scale c of rule 2 must be >= 0, got -2.0",
        ),
        (
            lambda k: k * np.nan,
            ValueError,
            "the scale c of rule 2 must be finite, got nan",
        ),
        (
            lambda k: k.polynomial([1.0, -1.0]),
            ValueError,
            r"the coefficients of rule 5\[1\] must be >= 0, got -1.0",
        ),
        (
            lambda k: k.polynomial([]),
            ValueError,
            "the coefficients of rule 5 must be one-dimensional and not empty",
        ),
        (
            lambda k: k.conjugate(3.0),
            ValueError,
            "f of rule 6 must be a function, got 3.0",
        ),
        (
            lambda k: k.conjugate(lambda X: X)(np.ones((2, 2))),
            ValueError,
            r"f\(X\) of rule 6 must be one-dimensional",
        ),
        (
            lambda k: quadratic_form([[1.0, 2.0], [-2.0, 1.0]]),
            ValueError,
            "A of rule 8 must be symmetric, .* by 4",
        ),
        (
            lambda k: quadratic_form([[1.0, 0.0], [0.0, -1.0]]),
            ValueError,
            "A of rule 8 must be positive semi-definite, got smallest .* -1",
        ),
        (
            lambda k: quadratic_form([[1.0, 0.0]]),
            ValueError,
            r"A of rule 8 must be square, got shape \(1, 2\)",
        ),
        (
            lambda k: quadratic_form(np.eye(3))([[1.0, 2.0]]),
            ValueError,
            r"X must have one column per feature, shape \(N, 3\), got \(1, 2",
        ),
    ],
)
def test_forbidden_moves_raise_and_cite_the_rule(move, kind, message):
    with pytest.raises(kind, match=message):
        move(Gaussian(0.5))


class Flat(Kernel):
    """One value too few for each input."""

    def evaluate(self, X, Z):
        return np.ones(len(X))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Flat()(np.eye(3), np.eye(3)[:2]),
            r"evaluate of Flat\(\) must give .* shape \(3, 2\), got \(3,\)",
        ),
        (
            lambda: Gaussian(1.0).with_parameters({"width": 2.0}),
            r"of Gaussian\(gamma=1.0\), which are gamma; got 'width'",
        ),
        (
            lambda: Linear().with_parameters({"width": 2.0}),
            r"of Linear\(\), which are none; got 'width'",
        ),
        (lambda: Gaussian(0.0), "gamma must be > 0, got 0.0"),
        (lambda: Gaussian(-1.0), "gamma must be > 0, got -1.0"),
        (lambda: Polynomial(0), "degree must be a whole number >= 1, got 0"),
        (lambda: Polynomial(1.5), "degree must be a whole number >= 1, got 1"),
        (lambda: Polynomial(2, c=-1.0), "c must be >= 0, got -1.0"),
        (lambda: Constant(-1.0), "c must be >= 0, got -1.0"),
        (lambda: Matern(nu=1.0), "nu must be 0.5, 1.5 or 2.5, got 1.0"),
        (lambda: Matern(0.5, length=0.0), "length must be > 0, got 0.0"),
        (lambda: RationalQuadratic(0.0), "alpha must be > 0, got 0.0"),
        (lambda: RationalQuadratic(1.0, -1), "length must be > 0, got -1"),
        (
            lambda: ExponentialQuadratic((1.0, 0.0, 1.0, 1.0)),
            r"theta\[1\] must be > 0, got 0.0",
        ),
        (
            lambda: ExponentialQuadratic((1.0, 1.0, -1.0, 1.0)),
            r"theta\[2\] must be >= 0, got -1.0",
        ),
        (
            lambda: ExponentialQuadratic((1.0, 1.0, 1.0)),
            "theta must have length 4, got 3",
        ),
        (lambda: Periodic(0.0), "period must be > 0, got 0.0"),
        (lambda: Periodic(1.0, 0.0), "length must be > 0, got 0.0"),
        (
            lambda: Linear()([1.0, 2.0]),
            r"X must be two-dimensional, got shape",
        ),
        (
            lambda: Linear()(np.ones(2)),
            r"X must be two-dimensional, got shape \(2,\)",
        ),
        (
            lambda: Linear()([1.0, 2.0], np.ones(2)),
            r"X must be two-dimensional, got shape \(2,\)",
        ),
        (
            lambda: Linear()(np.ones(2), np.ones(3)),
            r"same number of columns, got \(1, 2\) and \(1, 3\)",
        ),
        (
            lambda: Linear()(np.ones((2, 2)), np.ones(2)),
            r"Z must be two-dimensional, got shape \(2,\)",
        ),
        (
            lambda: Linear()([[1.0, 2.0]], [[1.0]]),
            r"same number of columns, got \(1, 2\) and \(1, 1\)",
        ),
        (lambda: Linear()([[np.inf]]), "X must be finite, got 1 NaN or inf"),
        (
            lambda: Gaussian(1.0).diagonal([1.0]),
            "X must be two-dimensional, got shape",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(build, message):
    with pytest.raises(ValueError, match=message):
        build()
