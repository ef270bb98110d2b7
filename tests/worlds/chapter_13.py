"""Chapter 13: discriminant functions."""

from types import SimpleNamespace

import numpy as np
from scipy.linalg import cholesky
from typeset import Each, From, Of

from kernelbook import (
    discriminant,
    features,
    fisher,
    multiclass,
    perceptron,
    svm,
)

from . import world


def problem(rng, N=7, D=3, K=4):
    """Inputs with labels of two kinds, a few new ones, and any weights."""
    return SimpleNamespace(
        N=N,
        D=D,
        K=K,
        X=rng.standard_normal((N, D)),
        t=rng.permutation(np.resize([1.0, -1.0], N)),
        labels=rng.permutation(np.resize(np.arange(K), N)),
        new=rng.standard_normal((5, D)),
        w=rng.standard_normal(D),
        b=rng.uniform(0.3, 1.5),
        W=rng.standard_normal((D + 1, K)),
    )


def two_classes(p):
    """One score with its weights; the library wants the bias on top."""
    top = np.append(p.b, p.w)
    return {
        "N": p.N,
        "n": range(1, p.N + 1),
        r"\mathbf x": p.new[0],
        r"\mathbf x_": p.X,
        r"\mathbf t": p.t,
        r"\mathbf w": p.w,
        "b": p.b,
        "f": lambda x: discriminant.scores(top, [x])[0],
    }


def scores_of(W, K):
    """The functions f_0, …, f_{K-1} of the library."""
    return From(
        0,
        [lambda x, k=k: discriminant.scores(W, [x])[0, k] for k in range(K)],
    )


def many_classes(p):
    return {
        "K": p.K,
        "k": range(p.K),
        "j": range(p.K),
        r"\mathbf x": p.new[0],
        r"\mathbf z": p.new[1],
        r"\mathbf w_": From(0, p.W[1:].T),
        "b_": From(0, p.W[0]),
        "f_": scores_of(p.W, p.K),
    }


@world("eq-disc-argmax")
def _(rng):
    """The class that lies on its own side of all its boundaries."""
    p = problem(rng)

    def beats(k, j, x):
        w, b = discriminant.boundary(p.W, k, j)
        return w @ x + b > 0

    def unbeaten(x):
        (winner,) = (
            k
            for k in range(p.K)
            if all(beats(k, j, x) for j in range(p.K) if j != k)
        )
        return winner

    return many_classes(p) | {r"\mathbf x": Each(p.new), r"\hat t": unbeaten}


@world("eq-disc-linear", "eq-disc-boundary")
def _(rng):
    return many_classes(problem(rng))


@world("eq-disc-mixture")
def _(rng):
    return many_classes(problem(rng)) | {"s": rng.uniform(0.1, 0.9)}


@world("eq-disc-monotone")
def _(rng):
    p = problem(rng)
    several = {r"\mathbf x": Each(p.new), r"\varphi": np.arctan}
    return many_classes(p) | several


@world("eq-disc-features")
def _(rng):
    p = problem(rng)

    def phi(x):
        return features.monomials([x], 2)[0]

    M = features.count_monomials(p.D, 2)
    W = rng.standard_normal((M + 1, p.K))

    def score(k):
        return lambda x: discriminant.scores(W, [phi(x)])[0, k]

    return many_classes(p) | {
        r"\boldsymbol\phi": phi,
        r"\mathbf w_": From(0, W[1:].T),
        "b_": From(0, W[0]),
        "f_": From(0, [score(k) for k in range(p.K)]),
    }


@world("eq-disc-binary", "eq-disc-squared-margin")
def _(rng):
    return two_classes(problem(rng))


@world("eq-disc-sign")
def _(rng):
    """Whole numbers, so that one point lies exactly on the border."""
    f = multiclass.linear_score([2.0, -1.0], 3.0)
    points = np.array([[1.0, 5.0], [1.0, 6.0], [1.0, 4.0]])
    return {
        r"\mathbf x": Each(points),
        "f": lambda x: f([x])[0],
        r"\hat t": lambda x: discriminant.sign_rule(f([x]))[0],
    }


@world("eq-disc-distance")
def _(rng):
    p = problem(rng)
    return two_classes(p) | {
        "r": lambda x: discriminant.signed_distance(p.w, p.b, [x])[0],
    }


def two_scattered(rng, apart=0.0):
    """Two classes of unlike size, with more inputs than features."""
    p = problem(rng, N=12)
    p.t[:3] = 1.0
    p.X[:, 0] += apart * p.t
    means = {sign: p.X[p.t == sign].mean(axis=0) for sign in (1.0, -1.0)}
    own = np.array([means[t] for t in p.t])
    scatter = fisher.scatter(p.X, (p.t > 0).astype(int)).within
    return p, {
        "N": p.N,
        "N_+": np.sum(p.t > 0),
        "N_-": np.sum(p.t < 0),
        "n": range(1, p.N + 1),
        r"\mathbf x_": p.X,
        r"\mathbf m_+": means[1.0],
        r"\mathbf m_-": means[-1.0],
        r"\mathbf m_{t_n}": Of("n", lambda n: own[n - 1]),
        r"\mathbf w": p.w,
        r"\mathbf S_W": scatter,
        r"\mathbf U": cholesky(scatter),
    }


@world("eq-disc-within")
def _(rng):
    return two_scattered(rng)[1]


@world("eq-disc-fisher")
def _(rng):
    """J from the numbers that a direction makes of the inputs."""
    p, here = two_scattered(rng)

    def J(w):
        plus, minus = p.X[p.t > 0] @ w, p.X[p.t < 0] @ w
        spread = len(plus) * plus.var() + len(minus) * minus.var()
        return (plus.mean() - minus.mean()) ** 2 / spread

    return here | {"J": J}


@world("eq-disc-fisher-direction")
def _(rng):
    p, here = two_scattered(rng)
    return here | {r"\mathbf w": fisher.direction(p.X, p.t)}


@world("eq-disc-least-squares-fisher")
def _(rng):
    p, here = two_scattered(rng)
    w = discriminant.least_squares_weights(p.X, p.t)[1:]
    return here | {r"\mathbf w": w}


@world("eq-disc-squares")
def _(rng):
    p = problem(rng)

    def J(w, b):
        return discriminant.squared_error(np.append(b, w), p.X, p.t)

    return two_classes(p) | {"J": J}


def least_squares(X, t):
    return {
        r"\mathbf t": t,
        r"\tilde{\mathbf X}": np.insert(X, 0, 1.0, axis=1),
        r"\tilde{\mathbf w}": discriminant.least_squares_weights(X, t),
    }


@world("eq-disc-squares-matrix")
def _(rng):
    p = problem(rng)
    return least_squares(p.X, p.t) | {
        r"\tilde{\mathbf w}": p.W[:, 0],
        "J": lambda w: discriminant.squared_error(w, p.X, p.t),
    }


@world("eq-disc-closed")
def _(rng):
    p = problem(rng)
    return least_squares(p.X, p.t)


@world("eq-disc-normal", "eq-disc-pinv")
def _(rng):
    """Also where a column is there twice."""
    p = problem(rng)
    twice = np.column_stack([p.X, p.X[:, 0]])
    return [least_squares(p.X, p.t), least_squares(twice, p.t)]


def one_hot_weights(p):
    return discriminant.least_squares(p.X, p.labels, p.K)


@world("eq-disc-onehot")
def _(rng):
    p = problem(rng)
    return {
        "N": p.N,
        "K": p.K,
        "n": range(1, p.N + 1),
        "k": range(p.K),
        "t_": From(1, p.labels),
        "T_": lambda n, k: np.eye(p.K)[p.labels[n - 1], k],
        r"\tilde{\mathbf X}": np.insert(p.X, 0, 1.0, axis=1),
        r"\tilde{\mathbf W}": one_hot_weights(p),
        r"\mathbf T": np.array(
            [[float(t == k) for k in range(p.K)] for t in p.labels]
        ),
    }


@world("eq-disc-sum-one")
def _(rng):
    p = problem(rng)
    return many_classes(p) | {"f_": scores_of(one_hot_weights(p), p.K)}


@world("eq-disc-rest")
def _(rng):
    p = problem(rng)

    def fit(X, t):
        b, *w = discriminant.least_squares_weights(X, t)
        return multiclass.linear_score(w, b)

    rest = multiclass.one_vs_rest(fit, p.X, p.labels, p.K)
    against = [lambda x, g=g: g([x])[0] for g in rest.members]
    return many_classes(p) | {
        "f_": scores_of(one_hot_weights(p), p.K),
        "g_": From(0, against),
    }


@world("eq-disc-hinge")
def _(rng):
    p = problem(rng)
    y = discriminant.scores(np.append(p.b, p.w), p.X)
    return two_classes(p) | {r"\xi_": svm.slack(y, p.t)}


def with_mistakes(p):
    """The mistakes are those of the sign rule."""
    named = discriminant.sign_rule(p.X @ p.w + p.b)
    wrong = np.flatnonzero(named != p.t) + 1
    return two_classes(p) | {r"\mathcal M": frozenset(wrong.tolist())}


@world("eq-disc-perceptron-loss", "eq-disc-perceptron-set")
def _(rng):
    p = problem(rng)
    return with_mistakes(p) | {
        "L": lambda w, b: perceptron.loss(w, b, p.X, p.t)
    }


@world("eq-disc-gradient-w", "eq-disc-gradient-b")
def _(rng):
    p = problem(rng)
    L = Of(r"\mathbf w", "b", lambda w, b: perceptron.loss(w, b, p.X, p.t))
    return with_mistakes(p) | {"L": L}


@world("eq-disc-update")
def _(rng):
    """At a mistake, by the library's step."""
    p = problem(rng)
    t = -np.sign(p.X @ p.w + p.b)
    n, eta = 3, rng.uniform(0.3, 0.8)
    w, b = perceptron.update(p.w, p.b, p.X[n - 1], t[n - 1], eta)
    return {
        "n": n,
        r"\eta": eta,
        r"\mathbf t": t,
        r"\mathbf x_": p.X,
        r"\mathbf w_m": p.w,
        "b_m": p.b,
        r"\mathbf w_{m+1}": w,
        "b_{m+1}": b,
    }


@world("eq-disc-average")
def _(rng):
    """Three passes, each visit by the library's step."""
    p = problem(rng)
    w, b, visited = np.zeros(p.D), 0.0, []
    for n in [*range(p.N)] * 3:
        w, b = perceptron.update(w, b, p.X[n], p.t[n])
        visited.append(w)
    mean, _ = perceptron.fit_averaged(p.X, p.t, epochs=3)
    return {
        "S": 3 * p.N,
        r"\mathbf w_": np.array(visited),
        r"\bar{\mathbf w}": mean,
    }


@world("eq-novikoff")
def _(rng):
    """The line by which the inputs are pushed apart; then orthogonal
    examples without a bias, each a mistake once, where the bound is reached.
    """
    p = problem(rng)
    score = p.X @ p.w + p.b
    push = p.t * (np.abs(score) + 0.3) - score
    p.X += np.outer(push, p.w) / (p.w @ p.w)
    line = np.append(p.b, p.w)
    worlds = []
    for Phi, w in ((features.with_bias(p.X), line), (3 * np.eye(p.N), p.t)):
        run = perceptron.fit_primal(Phi, p.t, 1000)
        assert run.converged
        worlds.append(
            {
                "m": len(run.mistakes),
                "R": np.linalg.norm(Phi, axis=1).max(),
                r"\gamma": (p.t * (Phi @ w)).min() / np.linalg.norm(w),
            }
        )
    worlds[1]["@tight"] = True
    return worlds


@world("eq-disc-pairs")
def _(rng):
    return {"K": int(rng.integers(6, 12))}


@world("eq-disc-votes", "eq-disc-majority")
def _(rng):
    """Scores for every pair of classes, and points where no vote is tied."""
    p = problem(rng)
    pairs = multiclass.pairs(p.K)
    W = rng.standard_normal((p.D + 1, len(pairs)))

    def votes(x):
        return multiclass.votes(discriminant.scores(W, [x]), p.K)[0]

    def winner(x):
        return multiclass.classify_votes(discriminant.scores(W, [x]), p.K)[0]

    def score(k, j):
        if k == j:
            return lambda x: 0.0
        place, sign = pairs.index((min(k, j), max(k, j))), np.sign(j - k)
        return lambda x: sign * discriminant.scores(W, [x])[0, place]

    cloud = rng.standard_normal((40, p.D))
    clear = [x for x in cloud if np.sum(votes(x) == votes(x).max()) == 1]
    return many_classes(p) | {
        r"\mathbf x": Each(clear[:6]),
        "f_": score,
        "v_": From(0, [lambda x, k=k: votes(x)[k] for k in range(p.K)]),
        r"\hat t": winner,
    }


# Of relations in sentences, and of displays without a label ------------------


@world("inline: least squares about the mean")
def _(rng):
    """Also where s is nearly as large as it can be."""
    return [about_the_mean(*two_scattered(rng, apart)) for apart in (0, 3)]


def about_the_mean(p, here):
    plus, minus = p.X[p.t > 0], p.X[p.t < 0]
    b, *w = discriminant.least_squares_weights(p.X, p.t)
    return here | {
        r"\mathbf w": np.array(w),
        "b": b,
        r"\bar t": p.t.mean(),
        r"\mathbf m": p.X.mean(axis=0),
        r"\mathbf d": plus.mean(axis=0) - minus.mean(axis=0),
        "s": np.mean(plus @ w) - np.mean(minus @ w),
        "t_": p.t,
    }


@world("inline: a point and its foot")
def _(rng):
    """d joins the feet of two points; the scores by the library."""
    p = problem(rng)
    foot, other = discriminant.foot(p.w, p.b, p.new[:2])
    return two_classes(p) | {
        "D": p.D,
        r"\mathbf x_\perp": foot,
        r"\mathbf d": other - foot,
        "r": discriminant.signed_distance(p.w, p.b, p.new[:1])[0],
    }


@world("inline: a score that is higher")
def _(rng):
    """The classes are sorted by what they score."""
    p = problem(rng)
    F = np.sort(discriminant.scores(p.W, p.new[:1])[0])
    return [
        {
            "f_": From(0, F[i : i + 2]),
            "k": 1,
            "j": 0,
            r"\varphi": np.arctan,
            r"f_1(\mathbf x)": F[i + 1],
            r"f_0(\mathbf x)": F[i],
        }
        for i in range(p.K - 1)
    ]


@world("inline: the nearest centre")
def _(rng):
    """The scores from squared distances, which the classes' order has."""
    p = problem(rng)
    x, centres = p.new[0], rng.standard_normal((p.K, p.D))

    def score(k):
        return lambda x: (sum(x**2) - sum((x - centres[k]) ** 2)) / 2

    return {
        r"\mathbf x": x,
        r"\mathbf m_": From(0, centres),
        "f_": From(0, [score(k) for k in range(p.K)]),
        "k": range(p.K),
    }


@world("inline: targets that know the class sizes")
def _(rng):
    p, here = two_scattered(rng)
    sized = np.where(p.t > 0, p.N / here["N_+"], -p.N / here["N_-"])
    b, *w = discriminant.least_squares_weights(p.X, sized)
    return {
        r"\mathbf w": np.array(w),
        "b": b,
        r"\mathbf m": p.X.mean(axis=0),
        "f": lambda x: discriminant.scores([b, *w], [x])[0],
    }


@world("inline: the race of the proof")
def _(rng):
    """After some mistakes; then orthogonal examples, each a mistake once,
    where at the last all bounds are reached.
    """
    p = problem(rng)
    distance = rng.uniform(0.8, 1.6, p.N)
    apart = np.outer(p.t * distance - p.X[:, 0], np.eye(p.D)[0])
    X = features.with_bias(p.X + apart)
    worlds = []
    for Phi, u in ((X, np.eye(p.D + 1)[1]), (3 * np.eye(p.N), p.t)):
        run = perceptron.fit_primal(Phi, p.t, 1000)
        n, u = run.mistakes, u / np.linalg.norm(u)
        w = np.cumsum(np.vstack([0 * Phi[:1], p.t[n, None] * Phi[n]]), axis=0)
        assert run.converged and np.allclose(w[-1], run.w)
        tight = len(n) == p.N == len(u)
        worlds += [
            {
                "m": m,
                r"\tilde{\mathbf w}_": From(0, w),
                r"\tilde{\mathbf x}_n": Phi[n[m - 1]],
                "t_n": p.t[n[m - 1]],
                r"\mathbf u": u,
                "R": np.linalg.norm(Phi, axis=1).max(),
                r"\gamma": (p.t * (Phi @ u)).min(),
                "@tight": tight,
            }
            for m in ([p.N] if tight else [1, len(n) // 2, len(n)])
        ]
    return worlds


@world("inline: the two numbers of a line")
def _(rng):
    """From the inputs with a one in front."""
    p = problem(rng)
    Phi, line = features.with_bias(p.X), np.append(p.b, p.w)
    return two_classes(p) | {
        "t_": p.t,
        "R": np.linalg.norm(Phi, axis=1).max(),
        r"\gamma": (p.t * (Phi @ line)).min() / np.linalg.norm(line),
    }


@world("inline: a duel and its return")
def _(rng):
    p = problem(rng, N=20)

    def duel(k, j):
        pair = [n for n in range(p.N) if p.labels[n] in (k, j)]
        t = [1.0 if p.labels[n] == k else -1.0 for n in pair]
        w = discriminant.least_squares_weights(p.X[pair], t)
        return discriminant.scores(w, p.new[:1])[0]

    return {"f_": duel, "k": range(2), "j": range(2, 4)}


@world("inline: three points by hand")
def _(rng):
    c = rng.uniform(2.5, 9.0)
    x, t = np.array([0.0, 2.0, c]), np.array([-1.0, 1.0, 1.0])
    return {
        "c": c,
        r"\bar x": x.mean(),
        r"\bar t": t.mean(),
        "w": discriminant.least_squares_weights(x[:, None], t)[1],
    }
