"""Chapter 7: kernels on sets, strings and graphs."""

from collections import Counter
from itertools import combinations, pairwise, permutations, product

import numpy as np
from scipy.linalg import expm
from scipy.stats import bernoulli, norm
from typeset import Each, From, Of, Sample

from kernelbook import kernels

from . import world


def on_one_pair(k):
    """A kernel of the library as a function of two inputs."""
    return lambda x, z: k([x], [z])[0, 0]


@world("eq-set-kernel", "eq-set-subsets")
def _(rng):
    """Two of the sets that six things can make, and all of them for T."""
    things = range(6)
    one, two = frozenset({0, 1, 2, 4}), frozenset({1, 2, 3, 4, 5})
    return {
        "S_1": one,
        "S_2": two,
        r"S_1 \triangle S_2": one ^ two,
        "T": Each(
            frozenset(T)
            for size in range(len(things) + 1)
            for T in combinations(things, size)
        ),
        "k": on_one_pair(kernels.exp(kernels.SetIntersection())),
    }


@world("eq-spectrum")
def _(rng):
    """Every string of two letters out of four is looked for."""
    s, z = ("".join(rng.choice(list("ACGT"), n)) for n in (12, 15))
    return {
        "s": s,
        "s'": z,
        "u": Each(map("".join, product("ACGT", repeat=2))),
        "c_": lambda u: (
            lambda s: sum(s.startswith(u, i) for i in range(len(s)))
        ),
        "k": on_one_pair(kernels.Spectrum(length=2)),
    }


def spelled(graph, rounds):
    """The labels of all nodes after so many rounds, written out."""
    words = list(graph.labels)
    for _ in range(rounds):
        words = [
            f"{words[i]}({','.join(sorted(words[j] for j in near))})"
            for i, near in enumerate(graph.neighbours())
        ]
    return words


@world("eq-weisfeiler-lehman")
def _(rng):
    """Two small branched molecules."""
    h = 2
    one = kernels.Graph("CCOCC", [(0, 1), (1, 2), (1, 3), (3, 4)])
    two = kernels.Graph("CCCOCC", [(0, 1), (1, 2), (2, 3), (2, 4), (4, 5)])
    words = {
        w for G in (one, two) for i in range(h + 1) for w in spelled(G, i)
    }
    return {
        "h": h,
        "G": one,
        "G'": two,
        r"\ell": Each(sorted(words)),
        "c_": lambda i, label: lambda G: spelled(G, i).count(label),
        "k": on_one_pair(kernels.WeisfeilerLehman(h)),
    }


@world("eq-sum-over-parts")
def _(rng):
    """Features of the parts, summed first."""
    A, B = rng.standard_normal((3, 2)), rng.standard_normal((4, 2))

    def summed(X):
        return sum(np.outer(x, x) for x in X)

    return {
        "I": len(A),
        "J": len(B),
        "a_": A,
        "b_": B,
        "A": A,
        "B": B,
        "k_1": lambda x, z: sum(x * z) ** 2,
        "k": lambda X, Z: np.sum(summed(X) * summed(Z)),
    }


def weighed(s, p, eta, last=None):
    """Subsequence → weights of its occurrences, one by one, and their ends."""
    found = []
    for places in combinations(range(1, len(s) + 1), p):
        if last is None or places[-1] == last:
            u = "".join(s[i - 1] for i in places)
            skipped = sum(b - a - 1 for a, b in pairwise(places))
            found.append((u, np.array(places), eta**skipped))
    return found


def total(s, u, eta):
    return sum(w for v, _, w in weighed(s, len(u), eta) if v == u)


@world("eq-gap-count")
def _(rng):
    s, u = "".join(rng.choice(list("AB"), 7)) + "AB", "ABB"
    s = "ABB" + s
    eta = rng.uniform(0.3, 0.8)
    return {
        "s": s,
        "u": u,
        "p": len(u),
        r"\eta": eta,
        r"s_{\mathbf i} = u": [
            {r"\mathbf i": places}
            for v, places, _ in weighed(s, len(u), eta)
            if v == u
        ],
        "c_": lambda u: lambda s: total(s, u, eta),
    }


def two_strings(rng):
    return ["A" + "".join(rng.choice(list("AB"), n)) for n in (5, 4)]


@world("eq-gap-recursion")
def _(rng):
    s, z = two_strings(rng)
    return [listed(s, z, p, rng.uniform(0.3, 0.8)) for p in (2, 3)]


@world("eq-gap-kernel")
def _(rng):
    s, z = two_strings(rng)
    return [
        listed(*pair, p, rng.uniform(0.3, 0.8))
        for p in (1, 3)
        for pair in [(s, z), (z, s)]
    ]


def listed(s, z, p, eta):
    """Pairs of equal subsequences, one by one."""

    def ends(p):
        def value(i, j):
            return sum(
                v * w
                for a, _, v in weighed(s, p, eta, int(i))
                for b, _, w in weighed(z, p, eta, int(j))
                if a == b
            )

        return value

    def k(s, z):
        return sum(
            v * w
            for a, _, v in weighed(s, p, eta)
            for b, _, w in weighed(z, p, eta)
            if a == b
        )

    return {
        "s": s,
        "s'": z,
        "|s|": len(s),
        "|s'|": len(z),
        "p": p,
        r"\eta": eta,
        "i": range(1, len(s) + 1),
        "j": range(1, len(z) + 1),
        "m_": lambda i, j: float(s[i - 1] == z[j - 1]),
        "E_": ends,
        "k_p": k,
        "u": Each(map("".join, product("AB", repeat=p))),
        "c_": lambda u: lambda s: total(s, u, eta),
    }


def gaussian_model(rng):
    mu, sigma = rng.uniform(0.5, 1.5, size=2)

    def score(x):
        z = (x - mu) / sigma
        return np.stack([z / sigma, (z**2 - 1) / sigma], axis=-1)

    x, x2 = rng.normal(mu, sigma, 2) + 0.7
    return {
        r"\boldsymbol\theta": np.array([mu, sigma]),
        "p": lambda x, theta: norm(*np.ravel(theta)).pdf(x),
        r"\mathbf u": score,
        r"\mathbf F": np.diag([1.0, 2.0]) / sigma**2,
        "x": x,
        "x'": x2,
        "z": (x - mu) / sigma,
        "z'": (x2 - mu) / sigma,
        "mu": mu,
        "sigma": sigma,
    }


@world("eq-fisher-score", tolerance=1e-5)
def _(rng):
    return gaussian_model(rng)


@world("eq-fisher-information")
def _(rng):
    model = gaussian_model(rng)
    draws = rng.normal(model["mu"], model["sigma"], 20_000)
    return model | {"x": Sample(draws)}


@world("eq-fisher-kernel", "eq-fisher-gaussian")
def _(rng):
    """The kernel as an inner product of whitened scores."""
    model = gaussian_model(rng)
    root = np.linalg.cholesky(model[r"\mathbf F"])

    def whitened(x):
        return np.linalg.solve(root, model[r"\mathbf u"](x))

    return model | {"k": lambda x, z: whitened(x) @ whitened(z)}


@world("eq-fisher-invariant")
def _(rng):
    root = rng.standard_normal((3, 3)) + 2 * np.eye(3)
    scores = {1.0: rng.standard_normal(3), 2.0: rng.standard_normal(3)}
    return {
        "x": 1.0,
        "x'": 2.0,
        r"\mathbf u": scores.__getitem__,
        r"\mathbf F": root @ root.T,
        r"\mathbf J": rng.standard_normal((3, 3)) + 2 * np.eye(3),
    }


@world("eq-fisher-bernoulli")
def _(rng):
    """Scores by differences of ln p, their covariance over all sets."""
    D, step = 4, 1e-6
    theta = rng.uniform(0.2, 0.8, D)
    every = np.array(list(product((0, 1), repeat=D)))

    def score(b):
        above = bernoulli.logpmf(b, theta + step)
        return (above - bernoulli.logpmf(b, theta - step)) / (2 * step)

    def chance(b, theta):
        return np.prod(bernoulli.pmf(b, np.ravel(theta)))

    F = sum(chance(b, theta) * np.outer(score(b), score(b)) for b in every)
    S, T = np.array([1, 0, 0, 1]), np.array([1, 1, 0, 0])
    return {
        "D": D,
        "d": range(1, D + 1),
        r"\boldsymbol\theta": theta,
        "S": S,
        "S'": T,
        "b_": S,
        "b'_": T,
        "u_": score(S),
        r"\mathbf F": F,
        r"\ln p": np.log(chance(S, theta)),
        "k": lambda S, T: score(S) @ np.linalg.solve(F, score(T)),
        "x": Each(every),
        "p": chance,
        "@tolerance": 1e-6,
    }


# Of relations in sentences ---------------------------------------------------


@world("inline: numbers of ways")
def _(rng):
    return {
        "c": 3,
        "c'": 5,
        "j": range(1, 9),
    }


@world("inline: points of the plane")
def _(rng):
    a, b = rng.standard_normal((2, 2))
    return {
        "a": a,
        "b": b,
        "k_1": on_one_pair(kernels.Polynomial(degree=2)),
        r"\boldsymbol\phi": lambda x: np.outer(x, x).ravel(),
    }


@world("inline: counted letters")
def _(rng):
    A, B = ("".join(rng.choice(list("abcd"), n)) for n in (9, 12))
    return {
        "A": A,
        "B": B,
        "q": Each("abcd"),
        "c_": lambda q: lambda s: s.count(q),
        "k": on_one_pair(kernels.Spectrum(length=1)),
    }


@world("inline: a running sum")
def _(rng):
    """As a convolution with the powers of η."""
    v, eta = rng.standard_normal(6), rng.uniform(0.3, 0.8)
    sums = np.convolve(v, eta ** np.arange(6))[:6]
    return {
        r"\eta": eta,
        "v_": v,
        "r_": np.array([0.0, *sums]),
        "i": range(1, 7),
        "a": range(1, 7),
    }


def differences(f, at, step=1e-6):
    """The gradient of f, by central differences."""
    shifts = step * np.eye(len(at))
    return np.array([(f(at + s) - f(at - s)) / (2 * step) for s in shifts])


@world("inline: a number from a Gaussian", tolerance=1e-6)
def _(rng):
    """z by its rank, scores by differences, F by Gauss and Hermite's nodes."""
    theta = mu, sigma = rng.uniform(0.5, 1.5, size=2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    x = rng.normal(mu, sigma)

    def score(x):
        return differences(lambda at: norm(*at).logpdf(x), theta)

    scores = np.array([score(mu + sigma * z) for z in nodes])
    return {
        r"\mu": mu,
        r"\sigma": sigma,
        "x": x,
        "z": norm.ppf(norm(mu, sigma).cdf(x)),
        r"\boldsymbol\theta": theta,
        "p": Of(r"\boldsymbol\theta", lambda at: norm(*np.ravel(at)).pdf(x)),
        r"\mathbf u": score(x),
        r"\mathbf F": (weights * scores.T) @ scores / weights.sum(),
        r"\operatorname{diag}": lambda *entries: np.diag(entries),
    }


@world("inline: a standard normal")
def _(rng):
    return {"z": Sample(rng.standard_normal(20_000))}


@world("inline: a shuffled order")
def _(rng):
    """All orders of five elements, one by one."""
    A, B = frozenset({0, 1, 2}), frozenset({1, 2, 3, 4})
    same = [
        min(A, key=order.index) == min(B, key=order.index)
        for order in permutations(range(5))
    ]
    return {"A": A, "B": B, r"A \cup B": A | B, "P": np.mean(same)}


@world("inline: subsequences of every length")
def _(rng):
    """The empty one included; all pairs, one by one."""
    s, z = two_strings(rng)

    def pairs(i, j):
        return sum(
            1.0
            for p in range(min(i, j) + 1)
            for one in combinations(s[:i], p)
            for two in combinations(z[:j], p)
            if one == two
        )

    return {
        "i": range(1, len(s) + 1),
        "j": range(1, len(z) + 1),
        "b": range(1, len(z) + 1),
        "m_": lambda i, b: float(s[i - 1] == z[b - 1]),
        "R": pairs,
    }


@world("inline: heat on a graph")
def _(rng):
    """A ring with a chord and a tail; K by eigenvectors."""
    edges = [(1, 2), (2, 3), (3, 4), (4, 1), (1, 3), (4, 5)]
    A, L = np.zeros((5, 5)), np.zeros((5, 5))
    for i, j in edges:
        A[i - 1, j - 1] = A[j - 1, i - 1] = 1
        across = np.eye(5)[i - 1] - np.eye(5)[j - 1]
        L += np.outer(across, across)
    tau = rng.uniform(0.3, 0.8)
    mu, U = np.linalg.eigh(L)
    return {
        r"\mathbf A": A,
        r"\mathbf L": L,
        r"\mathbf K": U * np.exp(-tau * mu) @ U.T,
        r"\mathbf I": np.eye(5),
        r"\mathbf 1": np.ones(5),
        r"\mathbf v": rng.standard_normal(5),
        r"\tau": tau,
        r"\mu_": mu,
        "i": range(1, 6),
        "g": max(A.sum(axis=0)),
        r"\exp": expm,
        r"i \sim j": [{"i": i, "j": j} for i, j in edges],
    }


@world("inline: walks in a product graph")
def _(rng):
    """Spelled walks, counted in each graph."""
    one = kernels.Graph("CCO", [(0, 1), (1, 2), (0, 2)])
    two = kernels.Graph("COCC", [(0, 1), (1, 2), (2, 3)])

    def spelled_walks(graph, steps):
        ends = {(i, graph.labels[i]): 1 for i in range(len(graph.labels))}
        for _ in range(steps):
            longer = Counter()
            for (i, text), number in ends.items():
                for j in graph.neighbours()[i]:
                    longer[j, text + graph.labels[j]] += number
            ends = longer
        found = Counter()
        for (_, text), number in ends.items():
            found[text] += number
        return found

    def shared(steps):
        first, second = (spelled_walks(G, steps) for G in (one, two))
        return sum(number * second[text] for text, number in first.items())

    adjacent = [
        np.array(
            [
                [float(j in near) for j in range(len(G.labels))]
                for near in G.neighbours()
            ]
        )
        for G in (one, two)
    ]
    equal = [a == b for a in one.labels for b in two.labels]
    W = np.kron(*adjacent)[np.ix_(equal, equal)]
    counted = [shared(steps) for steps in range(11)]
    return {
        r"\gamma": rng.uniform(0.02, 0.05),
        "l": range(11),
        "w_": From(0, np.array(counted, float)),
        r"\mathbf W": W,
        r"\mathbf 1": np.ones(len(W)),
        r"\mathbf I": np.eye(len(W)),
    }


@world("inline: an exponential family")
def _(rng):
    """The Gaussian by its natural parameters."""
    mu, sigma = rng.uniform(0.5, 1.5, size=2)
    theta = np.array([mu, -0.5]) / sigma**2

    def usual(theta):
        one, two = np.ravel(theta)
        return norm(-one / (2 * two), np.sqrt(-1 / (2 * two)))

    def log_sum(theta):
        one, two = np.ravel(theta)
        return -(one**2) / (4 * two) - np.log(-2 * two) / 2

    x = rng.normal(mu, sigma)
    return {
        "x": x,
        r"\boldsymbol\theta": theta,
        "p": lambda x, theta: usual(theta).pdf(x),
        "h": lambda x: 1 / np.sqrt(2 * np.pi),
        r"\mathbf T": lambda x: np.array([x, x**2]),
        r"\Lambda": log_sum,
        r"\mathbf m": np.array([usual(theta).moment(n) for n in (1, 2)]),
        r"\nabla\ln p": differences(lambda at: usual(at).logpdf(x), theta),
        "@tolerance": 1e-6,
    }
