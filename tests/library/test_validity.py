"""Validity: certificates recomputed independently, and no false alarms."""

import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from kernelbook import _worst_set, kernels, validity
from kernelbook._linalg import factor
from kernelbook.exceptions import JitterWarning

shapes = st.tuples(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10**6))


def matern32(r):
    return (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)


def cityblock(X, Z):
    return matern32(cdist(X, Z, "cityblock"))


def arc_gaussian(X, Z):
    turn = np.abs(X - Z.T) % (2 * np.pi)
    return np.exp(-0.5 * np.minimum(turn, 2 * np.pi - turn) ** 2)


NO_KERNELS = {
    "tanh": (lambda X, Z: np.tanh(X @ Z.T), {}),
    "tanh, steep and shifted": (lambda X, Z: np.tanh(2 * X @ Z.T + 1), {}),
    "tanh, flat, D = 3": (lambda X, Z: np.tanh(0.01 * X @ Z.T), {"D": 3}),
    "tanh, negative diagonal": (lambda X, Z: np.tanh(X @ Z.T - 1), {}),
    "Matérn-3/2 L1, D = 2": (cityblock, {"D": 2}),
    "Matérn-3/2 L1, D = 5": (cityblock, {"D": 5}),
    "Matérn-3/2 L1, long": (lambda X, Z: cityblock(X / 10, Z / 10), {"D": 2}),
    "Matérn-3/2 L1, short": (lambda X, Z: cityblock(8 * X, 8 * Z), {"D": 2}),
    "exp(-d⁴)": (lambda X, Z: np.exp(-(cdist(X, Z) ** 4)), {}),
    "exp(-d⁴), D = 3": (lambda X, Z: np.exp(-(cdist(X, Z) ** 4)), {"D": 3}),
    "exp(-d^2.01)": (lambda X, Z: np.exp(-(cdist(X, Z) ** 2.01)), {}),
    "γ = -1": (lambda X, Z: np.exp(cdist(X, Z) ** 2), {}),
    "γ = -1e-3": (lambda X, Z: np.exp(1e-3 * cdist(X, Z) ** 2), {"D": 2}),
    "γ = -50, overflows": (lambda X, Z: np.exp(50 * cdist(X, Z) ** 2), {}),
    "(1 + xz)^0.5": (lambda X, Z: (1 + X @ Z.T) ** 0.5, {"low": 0}),
    "(1 + xz)^2.5": (lambda X, Z: (1 + X @ Z.T) ** 2.5, {"low": 0}),
    "(xᵀz)^1.5": (lambda X, Z: (X @ Z.T) ** 1.5, {"D": 2, "low": 0}),
    "Epanechnikov": (lambda X, Z: np.maximum(0, 1 - cdist(X, Z) ** 2), {}),
    "box": (lambda X, Z: 1.0 * (cdist(X, Z) < 1), {}),
    "cos of distance": (lambda X, Z: np.cos(cdist(X, Z)), {"D": 2}),
    "zero diagonal": (lambda X, Z: -1e-9 * cdist(X, Z), {}),
    "kernel - kernel": (
        lambda X, Z: np.exp(-(cdist(X, Z) ** 2)) - np.exp(-cdist(X, Z)),
        {},
    ),
    "Gaussian on the circle": (arc_gaussian, {"low": 0, "high": 2 * np.pi}),
}

KERNELS = {
    "Linear": (kernels.Linear(), {"D": 3}),
    "Linear, D = 1": (kernels.Linear(), {}),
    "Polynomial, 2": (kernels.Polynomial(2), {"D": 2}),
    "Polynomial, 9": (kernels.Polynomial(9, 1.0), {"D": 2}),
    "Polynomial, 3, wide": (
        kernels.Polynomial(3, 1.0),
        {"D": 2, "low": -1e3, "high": 1e3},
    ),
    "Gaussian": (kernels.Gaussian(0.5), {"D": 2}),
    "Gaussian, wide": (kernels.Gaussian(1e-4), {}),
    "Gaussian, narrow": (kernels.Gaussian(100.0), {"D": 5}),
    "Gaussian, carelessly computed": (
        lambda X, Z: np.exp(
            2 * X @ Z.T - np.sum(X**2, axis=1)[:, None] - np.sum(Z**2, axis=1)
        ),
        {"D": 2},
    ),
    "Matérn-3/2": (lambda X, Z: matern32(cdist(X, Z)), {"D": 2}),
    "Matérn-3/2 L1, D = 1": (cityblock, {}),
    "Laplace L1": (lambda X, Z: np.exp(-cdist(X, Z, "cityblock")), {"D": 3}),
    "min": (lambda X, Z: np.minimum(X, Z.T), {"low": 0}),
    "cos of difference": (lambda X, Z: np.cos(X - Z.T), {}),
    "indicator": (lambda X, Z: 1.0 * (cdist(X, Z) == 0), {}),
    "zero": (lambda X, Z: np.zeros((len(X), len(Z))), {}),
}


def by_name(cases):
    return pytest.mark.parametrize(
        ("k", "options"), cases.values(), ids=cases.keys()
    )


@by_name(NO_KERNELS)
def test_counterexample_is_found_and_its_energy_is_negative(k, options):
    found = validity.find_counterexample(k, **options)
    assert isinstance(found, validity.Counterexample) and found.found
    N, D = found.points.shape
    assert options.get("D", 1) == D and found.v.shape == (N,)
    total = 0.0
    for n, m in itertools.product(range(N), repeat=2):
        value = k(found.points[[n]], found.points[[m]])[0, 0]
        total += found.v[n] * found.v[m] * value
    assert total < -found.tolerance < 0
    assert_allclose(found.value, total, rtol=1e-3)
    low, high = options.get("low", -3), options.get("high", 3)
    assert found.points.min() >= low and found.points.max() <= high


@by_name(KERNELS)
def test_nothing_is_found_against_a_kernel(k, options):
    search = validity.find_counterexample(k, **options)
    assert isinstance(search, validity.Search) and not search.found
    assert search.sets_tried > 1000
    assert search.points_tried > search.sets_tried
    assert search.smallest_eigenvalue > -validity.TOLERANCE


def test_search_is_deterministic_and_varies_with_the_seed():
    first, again, other = (
        validity.find_counterexample(cityblock, D=2, rng=seed)
        for seed in (0, 0, 1)
    )
    assert np.array_equal(first.points, again.points)
    assert first.value == again.value
    default = validity.find_counterexample(cityblock, D=2)
    assert np.array_equal(first.points, default.points)
    assert not np.array_equal(first.points, other.points)


@pytest.mark.parametrize(("p", "N"), [(0.5, 3), (1.5, 4), (2.5, 5), (3.5, 6)])
def test_fractional_powers_need_as_many_points_as_fitzgerald_and_horn_say(
    p, N
):
    found = validity.find_counterexample(
        lambda X, Z: (1 + X @ Z.T) ** p, low=0.0
    )
    assert len(found.v) == N


def test_city_block_matern_fails_on_the_cross_to_fifty_digits():
    cross = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)]
    v = [-4, 1, 1, 1, 1]
    with mpmath.workdps(50):
        u = mpmath.log(mpmath.mpf(3) / 2)  # √3 times the length of an arm
        total = mpmath.mpf(0)
        for (x, v_n), (z, v_m) in itertools.product(
            zip(cross, v, strict=True), repeat=2
        ):
            r = u * (abs(x[0] - z[0]) + abs(x[1] - z[1]))
            total += v_n * v_m * (1 + r) * mpmath.exp(-r)
        exact = 4 - mpmath.mpf(32) / 3 * u
        assert mpmath.almosteq(total, exact, 1e-45)
        assert total < -mpmath.mpf(4) / 15
    X = float(u) / np.sqrt(3) * np.array(cross)
    assert_allclose(validity.energy(cityblock(X, X), v), float(exact))


def test_single_values_decide_not_those_of_a_batch():
    def centred(X, Z):  # depends on the other points: a kernel pair by pair
        K = kernels.Gaussian(0.5)(X, Z)
        return K - 2 * (K.size > 1)

    assert not validity.find_counterexample(centred).found


# ---------------------------------------------------- the parts of the search


@pytest.mark.parametrize(
    ("shape", "cells"), [((5, 1), 8), ((9, 2), 6), ((30, 3), 6)]
)
def test_draws_are_clouds_and_grids_in_turn_in_ever_wider_boxes(shape, cells):
    rng = np.random.default_rng(0)
    sets = list(_worst_set._draws(shape, 2.0, 5.0, rng))
    widths = 3 * np.repeat([0.02, 0.05, 0.1, 0.2, 0.5, 1.0], 16)
    for number, (X, width) in enumerate(zip(sets, widths, strict=True)):
        assert X.shape == shape
        assert np.ptp(X, axis=0).max() <= width * (1 + 1e-12)
        steps = cells * (X - X[0]) / width
        on_grid = np.allclose(steps, np.round(steps), atol=1e-9)
        assert on_grid == (number % 2 == 1)
    assert_allclose([np.min(sets), np.max(sets)], [2, 5], atol=0.1)
    assert np.min(sets) >= 2 and np.max(sets) <= 5


class Told:
    """A probe that answers what it is told, and remembers the questions."""

    def __init__(self, *values):
        self.values, self.asked = list(values), []

    def lowest(self, X):
        self.asked.append(X)
        return self.values[min(len(self.asked), len(self.values)) - 1]


class Steady(np.random.Generator):
    """Draws as usual, but always moves the same way."""

    def standard_normal(self, shape):
        return np.full(shape, 0.0625)


def worst_set(probe, N=4):
    rng = Steady(np.random.PCG64(0))
    return _worst_set.worst_set(probe, (N, 1), 10.0, 110.0, rng)


DRAWN = len(_worst_set.SCALES) * _worst_set.DRAWS


def test_a_clear_set_ends_the_search():
    probe = Told(5, -0.01, -0.011)
    assert worst_set(probe) is probe.asked[-1]
    assert len(probe.asked) == 3
    probe = Told(*[5] * DRAWN, -0.01, -0.011)
    assert worst_set(probe) is probe.asked[-1]
    assert len(probe.asked) == DRAWN + 2


def test_the_first_of_equally_bad_sets_is_kept():
    probe = Told(5)
    assert worst_set(probe) is probe.asked[0]
    assert len(probe.asked) == DRAWN + _worst_set.MOVES


def test_where_nothing_is_defined_there_is_no_worst_set():
    assert worst_set(Told(np.inf)) is None


@pytest.mark.parametrize("N", [1, 4])
def test_moves_start_from_the_worst_widen_with_luck_and_narrow_without(N):
    probe = Told(*[5] * 7, 4, *[5] * (DRAWN - 8), 4, 3, 3, 2, 9)
    worst_set(probe, N)
    worst, moves = probe.asked[7], probe.asked[DRAWN:]
    step = 0.0625 * (np.ptp(worst) if N > 1 else 100)
    assert np.max(moves[4]) < 110  # the border was not met
    assert_allclose(moves[0], worst + step)
    assert_allclose(moves[1], worst + 0.9 * step)
    assert_allclose(moves[2], moves[1] + 1.35 * step)
    assert_allclose(moves[3], moves[1] + 1.215 * step)
    assert_allclose(moves[4], moves[3] + 1.8225 * step)


def table(K):
    """The similarity of whole numbers that a matrix tabulates."""
    return lambda X, Z: np.array(K)[
        np.ix_(*(A[:, 0].astype(int) for A in (X, Z)))
    ]


def test_probe_counts_sets_points_and_what_is_undefined():
    probe = _worst_set.Probe(
        table([[1, 2, 3], [2, 4, np.nan], [3, np.nan, 1]])
    )
    assert_allclose(probe.lowest(np.array([[0.0], [2.0]])), -2)
    assert_allclose(probe.lowest(np.array([[0.0], [1.0]])), 0, atol=1e-15)
    assert probe.lowest(np.array([[0.0], [1.0], [2.0]])) == np.inf
    assert (probe.sets, probe.points, probe.undefined) == (3, 7, 1)
    assert_allclose(probe.smallest, -2)


def test_probe_does_not_see_the_size_of_the_function():
    probe = _worst_set.Probe(table([[4, 12], [12, 9]]))
    assert_allclose(probe.lowest(np.array([[0.0], [1.0]])), -1)


@pytest.mark.parametrize(
    ("K", "sizes"),
    [
        ([[4.0, -9.0], [-9.0, 0.0]], [2, 3]),
        ([[-4.0, 1.0], [1.0, 9.0]], [2, 3]),
        ([[0.0, 0.0], [0.0, 0.0]], [1, 1]),
    ],
)
def test_sizes_are_roots_of_the_diagonal_or_of_the_largest_entry(K, sizes):
    assert_allclose(_worst_set.diagonal_sizes(np.array(K)), sizes)


def test_certificate_is_the_lowest_generalised_eigenvector():
    K = np.array([[4.0, 5.0, 1.0], [5.0, 1.0, -4.0], [1.0, -4.0, 9.0]])
    X = np.arange(3.0)[:, None]
    proof = validity._certify(table(K), X)
    mu, V = eigh(K, np.diag(np.diag(K)))
    v = V[:, 0] / V[np.argmax(np.abs(V[:, 0])), 0]
    assert proof.points is X
    assert_allclose(proof.v, v)
    assert v.max() == 1 and v.min() < 0
    assert_allclose(proof.value, mu[0] * v @ np.diag(np.diag(K)) @ v)
    sizes = np.sqrt(np.diag(K))
    total = sum(
        abs(v[n] * v[m]) * max(abs(K[n, m]), sizes[n] * sizes[m])
        for n, m in itertools.product(range(3), repeat=2)
    )
    assert_allclose(proof.tolerance, validity.TOLERANCE * total)


@pytest.mark.parametrize("K", [np.eye(2), np.ones((2, 2)), np.zeros((2, 2))])
def test_there_is_no_certificate_against_a_kernel(K):
    assert validity._certify(table(K), np.arange(2.0)[:, None]) is None


@pytest.mark.parametrize(("gap", "found"), [(1e-11, False), (1e-10, True)])
def test_eleven_digits_of_the_values_are_trusted(gap, found):
    K = [[1.0, 1.0 + gap], [1.0 + gap, 1.0]]  # -2 gap against a sum of four
    proof = validity._certify(table(K), np.arange(2.0)[:, None])
    assert (proof is not None) == found


def test_search_without_success_has_tried_sets_of_every_size():
    search = validity.find_counterexample(kernels.Linear())
    each = DRAWN + _worst_set.MOVES
    assert search.sets_tried == each * len(_worst_set.SIZES)
    assert search.points_tried == each * sum(_worst_set.SIZES)
    assert search.points_tried == (96 + 120) * (21 + 8 + 12 + 24 + 48)


@given(shapes)
def test_energy_is_the_squared_length_of_the_mixture(shape):
    N, M, seed = shape
    rng = np.random.default_rng(seed)
    Phi, v = rng.standard_normal((N, M)), rng.standard_normal(N)
    mixture = sum(v_n * phi_n for v_n, phi_n in zip(v, Phi, strict=True))
    assert_allclose(
        validity.energy(Phi @ Phi.T, v), mixture @ mixture, atol=1e-12
    )


@given(shapes)
def test_smallest_eigenvalue_is_the_least_energy_of_unit_vectors(shape):
    N, _, seed = shape
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((N, N))
    K = A + A.T
    lowest = validity.smallest_eigenvalue(K)
    for v in rng.standard_normal((20, N)):
        assert validity.energy(K, v / np.linalg.norm(v)) >= lowest - 1e-12
    root = np.roots(np.poly(K)) if N < 5 else np.linalg.eigvals(K)
    assert_allclose(lowest, root.real.min(), atol=1e-6)


@given(shapes)
def test_features_from_a_gram_reproduce_it_with_its_rank(shape):
    N, M, seed = shape
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((N, M))
    K = A @ A.T
    before = K.copy()
    Phi = validity.feature_map_from_gram(K)
    assert Phi.shape == (N, min(N, M))
    assert_allclose(Phi @ Phi.T, K, atol=1e-12 * np.trace(K))
    assert np.array_equal(K, before)
    lengths = np.sum(Phi**2, axis=0)  # the eigenvalues, largest first
    assert np.all(np.diff(lengths) <= 1e-12)


def test_features_of_single_precision_are_computed_in_double():
    K = np.array([[2.0, 1.0], [1.0, 2.0]], dtype=np.float32)
    Phi = validity.feature_map_from_gram(K)
    assert_allclose(Phi @ Phi.T, K, atol=1e-14)


def test_zero_gram_has_no_features():
    assert validity.feature_map_from_gram(np.zeros((3, 3))).shape == (3, 0)


def test_rounding_level_separates_rounding_from_indefinite():
    X = np.linspace(0, 1, 60)[:, None]
    K = kernels.Gaussian(1.0)(X)
    level = validity.rounding_level(K)
    assert -level < validity.smallest_eigenvalue(K) < level
    Phi = validity.feature_map_from_gram(K)
    assert_allclose(Phi @ Phi.T, K, atol=60 * level)
    with pytest.raises(ValueError, match="positive semi-definite"):
        validity.feature_map_from_gram(K - 100 * level * np.eye(60))


def test_rounding_level_is_the_jitter_of_a_failed_cholesky():
    K = kernels.Gaussian(1.0)(np.linspace(0, 1, 60)[:, None])
    with pytest.warns(JitterWarning):
        jitter = factor(K, "K").jitter
    assert_allclose(validity.rounding_level(K), jitter)


def test_rounding_level_does_not_ask_for_the_sign_of_the_diagonal():
    K = np.diag([1.0, -2.0, 3.0])
    assert validity.rounding_level(K) == validity.rounding_level(abs(K))


def test_verdicts_print_as_sentences():
    found = validity.find_counterexample(lambda X, Z: -1 - X @ Z.T)
    assert str(found).startswith("no kernel: vᵀKv = -")
    assert str(found).endswith(" on 1 point")
    search = validity.find_counterexample(kernels.Linear())
    assert (
        str(search) == f"nothing found on {search.sets_tried} sets of points"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: validity.feature_map_from_gram([[1.0, 2.0], [2.0, 1.0]]),
            "K must be positive semi-definite, got smallest eigenvalue -1",
        ),
        (
            lambda: validity.feature_map_from_gram([[0.0, 1.0], [1.0, 0.0]]),
            "K must be positive semi-definite, got smallest eigenvalue -1",
        ),
        (
            lambda: validity.smallest_eigenvalue([[1.0, 2.0], [0.0, 1.0]]),
            "K must be symmetric, got entries that differ .* by 2",
        ),
        (
            lambda: validity.rounding_level(np.ones((2, 3))),
            r"K must be a square Gram matrix k\(X\), got shape \(2, 3\)",
        ),
        (
            lambda: validity.energy([[1.0, 2.0], [0.0, 1.0]], np.ones(2)),
            "K must be symmetric, got entries that differ .* by 2",
        ),
        (
            lambda: validity.energy(np.eye(5), np.ones(2)),
            "v must have length 5, got 2",
        ),
        (
            lambda: validity.find_counterexample(kernels.Linear(), D=0),
            "D must be a whole number >= 1, got 0",
        ),
        (
            lambda: validity.find_counterexample(
                kernels.Linear(), low=1.0, high=1.0
            ),
            "low must be < high, got 1.0 and 1.0",
        ),
        (
            lambda: validity.find_counterexample(
                kernels.Linear(), low=-np.inf
            ),
            "low must be finite, got -inf",
        ),
        (
            lambda: validity.find_counterexample(
                kernels.Linear(), high=np.inf
            ),
            "high must be finite, got inf",
        ),
        (
            lambda: validity.find_counterexample(lambda X, Z: X - Z.T),
            r"k\(X, X\) must be symmetric",
        ),
        (
            lambda: validity.find_counterexample(lambda X, Z: np.ones(3)),
            r"k\(X, X\) must have shape \(1, 1\), got \(3,\)",
        ),
        (
            lambda: validity.find_counterexample(
                lambda X, Z: np.full((len(X), len(Z)), np.nan)
            ),
            "k must be finite .* got NaN or inf in 960 of 960 sets of points",
        ),
        (
            lambda: validity.find_counterexample(
                lambda X, Z: np.sqrt(X) @ np.sqrt(Z.T)
            ),
            "k must be finite for inputs from -3.0 to 3.0, got NaN or inf in",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_ten_sizes_of_sets_are_drawn_96_times_and_the_worst_moved_120():
    """1 + 2 + 3 + 4 + 5 + 6 + 8 + 12 + 24 + 48 = 113 points each time."""
    search = validity.find_counterexample(lambda X, Z: X @ Z.T)
    assert (search.sets_tried, search.points_tried) == (2160, 216 * 113)
