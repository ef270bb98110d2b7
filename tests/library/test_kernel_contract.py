"""The one contract of all kernels: what is listed here keeps every promise.

Each entry is a kernel, its formula for two single inputs, and a way to make
inputs.  A kernel of a reader's own passes by being listed.
"""

import inspect
import math
import pickle
from collections import Counter
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook import gp, kernels, learning, ridge
from kernelbook.kernels import (
    ArcCosine,
    ArcSine,
    ARDGaussian,
    Constant,
    ExponentialQuadratic,
    Gaussian,
    Graph,
    Kernel,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    QuadraticForm,
    RationalQuadratic,
    SetIntersection,
    Spectrum,
    WeisfeilerLehman,
    exp,
    hyperparameter,
    non_negative,
    positive,
    setting,
    squared_distances,
)


class Cauchy(Kernel):
    """k(x, x') = 1 / (1 + ‖x - x'‖² / width²): a kernel of one's own."""

    width: float = positive()

    def evaluate(self, X, Z):
        return 1 / (1 + squared_distances(X, Z) / self.width**2)


class SlopedCauchy(Cauchy):
    """The same, with its derivative by ln width."""

    def differentiate(self, X, Z):
        K = self.evaluate(X, Z)
        return K, {"width": 2 * K * (1 - K)}


def dot(x, z):
    return math.fsum(x * z)


def squared(x, z):
    return math.fsum((x - z) ** 2)


def first_plus_two(X):
    return X[:, 0] + 2.0


def shared_letters(s, z):
    return sum(s[i] == z[j] for i in range(len(s)) for j in range(len(z)))


def doubled(words):
    return np.array([2.0 + len(word) for word in words])


def matern52(x, z):
    s = math.sqrt(5 * squared(x, z)) / 0.8
    return (1 + s + s * s / 3) * math.exp(-s)


def arc_sine(x, z):
    S, A, B = (7 * dot(p, q) + 0.3 for p, q in [(x, z), (x, x), (z, z)])
    root = math.sqrt((1 + 2 * A) * (1 + 2 * B))
    return 2 / math.pi * math.asin(2 * S / root)


def arc_cosine(x, z, degree):
    S, A, B = (0.2 * dot(p, q) + 2 for p, q in [(x, z), (x, x), (z, z)])
    theta = math.acos(min(1.0, S / math.sqrt(A * B)))
    if degree == 0:
        return 1 - theta / math.pi
    J = math.sin(theta) + (math.pi - theta) * math.cos(theta)
    return math.sqrt(A * B) * J / math.pi


def labels_after_one_round(graph):
    near = graph.neighbours()
    old = list(graph.labels)
    new = [(old[i], *sorted(old[j] for j in near[i])) for i in range(len(old))]
    return Counter([(None, label) for label in old] + new)


def weisfeiler_lehman(a, b):
    mine, other = labels_after_one_round(a), labels_after_one_round(b)
    return sum(n * other[label] for label, n in mine.items())


VECTORS = {
    Linear(): dot,
    QuadraticForm(np.diag([1.0, 2.0])): lambda x, z: (
        x[0] * z[0] + 2 * x[1] * z[1]
    ),
    Constant(0.7): lambda x, z: 0.7,
    Polynomial(degree=3, c=0.5): lambda x, z: (dot(x, z) + 0.5) ** 3,
    Gaussian(0.6): lambda x, z: math.exp(-0.6 * squared(x, z)),
    ARDGaussian((0.4, 1.3)): lambda x, z: math.exp(
        -0.4 * (x[0] - z[0]) ** 2 - 1.3 * (x[1] - z[1]) ** 2
    ),
    Matern(0.5, 0.8): lambda x, z: math.exp(-math.sqrt(squared(x, z)) / 0.8),
    Matern(1.5, 0.8): lambda x, z: (
        (1 + math.sqrt(3 * squared(x, z)) / 0.8)
        * math.exp(-math.sqrt(3 * squared(x, z)) / 0.8)
    ),
    Matern(2.5, 0.8): matern52,
    RationalQuadratic(0.7, 1.3): lambda x, z: (
        (1 + squared(x, z) / (1.4 * 1.69)) ** -0.7
    ),
    Periodic(1.7, 0.9): lambda x, z: math.exp(
        -2 * sum(math.sin(math.pi * d / 1.7) ** 2 for d in x - z) / 0.81
    ),
    ExponentialQuadratic((1.5, 2.0, 0.3, 0.7)): lambda x, z: (
        1.5 * math.exp(-squared(x, z)) + 0.3 + 0.7 * dot(x, z)
    ),
    ArcCosine(degree=0, weight=0.2, bias=2.0): lambda x, z: arc_cosine(
        x, z, 0
    ),
    ArcCosine(degree=1, weight=0.2, bias=2.0): lambda x, z: arc_cosine(
        x, z, 1
    ),
    ArcSine(weight=7.0, bias=0.3): arc_sine,
    2.5 * Gaussian(0.6): lambda x, z: 2.5 * math.exp(-0.6 * squared(x, z)),
    Gaussian(0.6) + 0.5 * Linear(): lambda x, z: (
        math.exp(-0.6 * squared(x, z)) + 0.5 * dot(x, z)
    ),
    3.0 * (Matern(2.5, 0.8) * Gaussian(0.6)): lambda x, z: (
        3 * matern52(x, z) * math.exp(-0.6 * squared(x, z))
    ),
    exp(0.3 * Gaussian(0.6)): lambda x, z: math.exp(
        0.3 * math.exp(-0.6 * squared(x, z))
    ),
    Gaussian(0.6).conjugate(first_plus_two): lambda x, z: (
        (x[0] + 2) * math.exp(-0.6 * squared(x, z)) * (z[0] + 2)
    ),
    (0.5 * Linear()).polynomial([0.2, 0.0, 1.5, 0.4]): lambda x, z: (
        0.2 + 1.5 * (dot(x, z) / 2) ** 2 + 0.4 * (dot(x, z) / 2) ** 3
    ),
    Gaussian(0.6).on(1) * Matern(2.5, 0.8).on([0]): lambda x, z: (
        math.exp(-0.6 * (x[1] - z[1]) ** 2) * matern52(x[:1], z[:1])
    ),
    Cauchy(1.4): lambda x, z: 1 / (1 + squared(x, z) / 1.96),
    SlopedCauchy(1.4) + Constant(0.2): lambda x, z: (
        0.2 + 1 / (1 + squared(x, z) / 1.96)
    ),
}
WORDS = {
    Spectrum(1): shared_letters,
    0.5 * Spectrum(1): lambda s, z: shared_letters(s, z) / 2,
    exp(0.1 * Spectrum(1)): lambda s, z: math.exp(0.1 * shared_letters(s, z)),
    (0.2 * Spectrum(1)).conjugate(doubled) + 0.3 * Spectrum(1): lambda s, z: (
        (0.2 * (2 + len(s)) * (2 + len(z)) + 0.3) * shared_letters(s, z)
    ),
}
SETS = {
    SetIntersection(): lambda a, b: len(a & b),
    0.5 * SetIntersection() * SetIntersection(): lambda a, b: (
        len(a & b) ** 2 / 2
    ),
}
GRAPHS = {WeisfeilerLehman(1): weisfeiler_lehman}


def vectors(rng, N):
    return rng.standard_normal((N, 2))


def words(rng, N):
    return ["".join(rng.choice(list("abc"), 1 + n % 5)) for n in range(N)]


def sets(rng, N):
    return [{*rng.choice(8, 1 + n % 6).tolist()} for n in range(N)]


def graphs(rng, N):
    def edge(i):
        return i, int(rng.integers(i))

    return [
        Graph(rng.choice(list("CO"), 4).tolist(), [edge(i) for i in (1, 2, 3)])
        for _ in range(N)
    ]


CONTRACT = [
    pytest.param(k, formula, make, id=repr(k))
    for make, listed in [
        (vectors, VECTORS),
        (words, WORDS),
        (sets, SETS),
        (graphs, GRAPHS),
    ]
    for k, formula in listed.items()
]
every_kernel = pytest.mark.parametrize(("k", "formula", "make"), CONTRACT)
close = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_every_kernel_of_the_library_is_listed():
    concrete = {
        thing
        for thing in vars(kernels).values()
        if inspect.isclass(thing) and issubclass(thing, Kernel)
    }
    concrete = {one for one in concrete if not inspect.isabstract(one)}
    found = set()

    def look(k):
        found.add(type(k))
        for part in vars(k).values():
            if isinstance(part, Kernel):
                look(part)

    for listed in CONTRACT:
        look(listed.values[0])
    assert concrete <= found
    assert len(concrete) > 20


@every_kernel
def test_values_are_the_formulas_for_every_pair(k, formula, make, rng):
    X, Z = make(rng, 7), make(rng, 3)
    loop = [[formula(x, z) for z in Z] for x in X]
    assert_allclose(k(X, Z), loop, **close)
    assert k(X, Z).dtype == np.float64


@every_kernel
def test_gram_is_symmetric_semidefinite_and_the_cross_gram(
    k, formula, make, rng
):
    X = make(rng, 9)
    K = k(X)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * np.abs(K).max()
    assert_allclose(K, k(X, X.copy()), **close)


@every_kernel
def test_diagonal_is_that_of_the_gram_quickly_or_one_by_one(
    k, formula, make, rng
):
    X = make(rng, 6)
    assert_allclose(k.diagonal(X), np.diag(k(X)), **close)
    P = k.prepare(k.check(X, "X"))
    assert_allclose(Kernel.evaluate_diagonal(k, P), np.diag(k(X)), **close)


@every_kernel
def test_repr_and_pickle_give_the_kernel_back(k, formula, make, rng):
    assert eval(repr(k)) == k
    again = pickle.loads(pickle.dumps(k))
    assert again == k and hash(again) == hash(k)
    X = make(rng, 4)
    assert np.array_equal(again(X), k(X))


@every_kernel
def test_names_are_what_one_types_and_values_can_be_replaced(
    k, formula, make, rng
):
    values = k.parameters()
    for name, value in values.items():
        assert eval(f"k.{name}", {"k": k}) == value
    assert k.with_parameters(values) == k
    twice = {name: 2 * value for name, value in values.items()}
    assert k.with_parameters(twice).parameters() == twice


@every_kernel
def test_derivatives_are_slopes_in_the_logarithm(k, formula, make, rng):
    X, Z = make(rng, 6), make(rng, 4)
    K, dK = k.derivatives(X, Z)
    assert_allclose(K, k(X, Z), **close)
    assert list(dK) == list(k.parameters())
    h = 1e-4
    for name, p in k.parameters().items():
        steps = [-2, -1, 1, 2]  # a five-point rule, unlike the library's
        at = [
            k.with_parameters({name: p * math.exp(s * h)})(X, Z) for s in steps
        ]
        slope = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
        assert_allclose(dK[name], slope, rtol=1e-7, atol=1e-9)


@every_kernel
def test_it_can_be_conditioned_appended_and_its_evidence_climbed(
    k, formula, make, rng
):
    X, Z, t = make(rng, 9), make(rng, 3), rng.standard_normal(9)
    model = gp.fit(k, X, t, beta=4.0)
    K = k(X) + np.eye(9) / 4
    assert_allclose(gp.mean(model, Z), k(Z, X) @ np.linalg.solve(K, t))
    latent = np.diag(k(Z) - k(Z, X) @ np.linalg.solve(K, k(X, Z)))
    found = gp.predict(model, Z).latent_variance
    assert_allclose(found, latent, atol=1e-9)
    grown = gp.append(gp.fit(k, X[:-1], t[:-1], 4.0), X[-1], t[-1])
    assert_allclose(grown.a, model.a, rtol=1e-6, atol=1e-8)
    value, gradient = learning.evidence(k, X, t, 4.0)
    assert_allclose(value, gp.log_marginal_likelihood(model))
    for name, p in k.parameters().items():
        up, down = (
            gp.log_marginal_likelihood(
                gp.fit(k.with_parameters({name: p * math.exp(h)}), X, t, 4.0)
            )
            for h in (1e-5, -1e-5)
        )
        assert_allclose(
            gradient[name], (up - down) / 2e-5, rtol=1e-5, atol=1e-7
        )


@every_kernel
def test_it_can_be_learned_and_never_gets_worse(k, formula, make, rng):
    X, t = make(rng, 9), rng.standard_normal(9)
    before = learning.evidence(k, X, t, 2.0).value
    learned = learning.learn(k, X, t, 2.0)
    assert learned.value >= before
    assert type(learned.k) is type(k)


@every_kernel
def test_it_fits_ridge_regression_and_the_algebra(k, formula, make, rng):
    X, Z, t = make(rng, 8), make(rng, 3), rng.standard_normal(8)
    model = ridge.fit(k, X, t, lam=0.3)
    a = ridge.fit_dual(k(X), t, 0.3)
    assert_allclose(model.predict(Z), ridge.predict(a, k(X, Z)))
    K = k(X, Z)
    for made, meant in [
        (sum([k, k]), 2 * K),
        (k * k, K * K),
        (0.5 * k, K / 2),
        (exp(1e-3 * k), np.exp(1e-3 * K)),
        (k.polynomial([1.0, 2.0]), 1 + 2 * K),
    ]:
        assert_allclose(made(X, Z), meant, **close)


@every_kernel
def test_inputs_are_left_alone(k, formula, make, rng):
    X, Z = make(rng, 5), make(rng, 4)
    before = pickle.dumps((X, Z))
    k(X), k(X, Z), k.diagonal(X), k.derivatives(X, Z)
    assert pickle.dumps((X, Z)) == before


# ---------------------------------------------- what a beginner may get wrong


class Undeclared(Cauchy):
    """A number that nobody declared."""

    height: float = 2.0


class Flat(Kernel):
    """One value too few for each input."""

    def evaluate(self, X, Z):
        return np.ones(len(X))


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (
            lambda: Undeclared(1.0),
            TypeError,
            r"height of Undeclared must be a kernel or be declared .*positive",
        ),
        (
            lambda: Flat()(np.eye(3), np.eye(3)[:2]),
            ValueError,
            r"evaluate of Flat\(\) must give .* shape \(3, 2\), got \(3,\)",
        ),
        (lambda: Cauchy(-1.0), ValueError, r"width must be > 0, got -1\.0"),
        (lambda: Cauchy("2"), ValueError, "width must be a real number, got"),
        (lambda: Kernel(), TypeError, "abstract"),
    ],
)
def test_mistakes_are_named(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


def whole(value, name):
    if value != int(value):
        raise ValueError(f"{name} must be whole, got {value}")
    return int(value)


def test_a_kernel_written_today_learns_what_it_declares():
    class Wave(Kernel):
        width: float = positive()
        power: int = setting(whole, 2, called="the power")
        height: float = hyperparameter(whole, 3)
        floor: float = non_negative(0.0)

        def evaluate(self, X, Z):
            return self.height + 0 * squared_distances(X, Z)

    k = Wave(width=1.5)
    assert k == Wave(1.5, 2, 3, 0.0)
    assert k.parameters() == {"width": 1.5, "height": 3}
    assert Wave(width=1.0, floor=0.5).parameters()["floor"] == 0.5
    with pytest.raises(ValueError, match="the power must be whole"):
        Wave(1.0, 0.5)
    with pytest.raises(ValueError, match="height must be whole"):
        Wave(1.0, 2, 0.5)
    with pytest.raises(FrozenInstanceError):
        k.width = 2.0


def test_a_class_option_that_nobody_knows_is_refused():
    with pytest.raises(TypeError, match="no keyword arguments"):

        class Odd(Kernel, option=1):
            pass
