"""Kernels, features and what certifies them."""

import math

import numpy as np
from scipy import stats
from typeset import From, Sample

from kernelbook import (
    estimators,
    features,
    kernel_pca,
    kernels,
    multiclass,
    networks,
    toydata,
    validity,
)

from .common import D, M, N, of, world


@world("validity.energy")
def _(p):
    return p.letters(v=p.a) | {"v^\\top K v": validity.energy(p.K, p.a)}


@world("features.bumps")
def _(p):
    c, x, width = p.w, p.b, p.lam
    value = features.bumps([x], c, width)[0]
    return {
        "c": c, "x": x, r"\mathrm{width}": width, "j": range(1, M + 1),
        r"\phi_": lambda j: of(value[j - 1]),
    }  # fmt: skip


@world("features.append_constant")
def _(p):
    x, z, c = p.X[0], p.X[1], p.lam
    u, v = features.append_constant([x, z], c)
    left = r"(x, \sqrt{c})^{\top}(z, \sqrt{c})"
    return {"x": x, "z": z, "c": c, left: u @ v}


@world("features.count_monomials")
def _(p):
    count = {"M": features.count_monomials(4, 3), "D": 4, "p": 3}
    return count | {"C": lambda n, k: math.comb(int(n), int(k))}


@world("kernel_pca.centre")
def _(p):
    H = np.eye(N) - 1 / N
    return p.letters(H=H) | {r"\tilde{K}": kernel_pca.centre(p.K)}


# kernels: the values at two inputs, and derivatives by logarithms


def at(p, k, name=None, **letters):
    """Of a kernel k, and perhaps of its derivative by one hyperparameter."""
    x, z = p.x, p.z
    known = {
        "x": x, "x'": z, "D": D, "d": range(1, D + 1),
        "k": lambda x, z: k([x], [z])[0, 0],
    }  # fmt: skip
    if name:
        known |= {
            r"\dot{k}": k.derivatives([x], [z])[1][name][0, 0],
            "k": k([x], [z])[0, 0], "r": np.linalg.norm(x - z),
        }  # fmt: skip
    return known | letters


def kernel(name, make, by=None, of="", **letters):
    """A world of a kernel: its numbers are drawn, and have their letters."""

    @world(f"kernels.{name}", of=of)
    def _(p):
        return at(p, make(p), by) | {n: v(p) for n, v in letters.items()}


LENGTH, DEGREE = {r"\mathrm{length}": lambda p: p.lam}, r"\mathrm{degree}"
GAMMA = {r"\gamma": lambda p: p.lam}


def square(p):
    A = p.Phi[:4, :D]
    return kernels.QuadraticForm(A.T @ A)


def polynomial(p):
    return kernels.Polynomial(3, p.lam)


def ard(p):
    return kernels.ARDGaussian([p.lam, p.b])


def rational(p):
    return kernels.RationalQuadratic(alpha=p.b, length=p.lam)


def periodic(p):
    return kernels.Periodic(period=p.b, length=p.lam)


def quadratic(p):
    return kernels.ExponentialQuadratic([p.b, p.lam, p.C, 0.6])


THETA = {
    r"\theta_0": lambda p: p.b, r"\theta_1": lambda p: p.lam,
    r"\theta_2": lambda p: p.C, r"\theta_3": lambda p: 0.6,
}  # fmt: skip
RATIONAL = LENGTH | {r"\alpha": lambda p: p.b}
PERIODIC = LENGTH | {r"\mathrm{period}": lambda p: p.b}
kernel("Constant", lambda p: kernels.Constant(p.lam), c=lambda p: p.lam)
kernel("Linear", lambda p: kernels.Linear())
POWER = {"c": lambda p: p.lam, DEGREE: lambda p: 3}
kernel("Polynomial", polynomial, **POWER)
kernel("Polynomial.evaluate", polynomial, "c", **POWER)
kernel("Polynomial.differentiate", polynomial, "c", **POWER)
kernel("Gaussian", lambda p: kernels.Gaussian(p.lam), **GAMMA)
kernel("Gaussian.differentiate", lambda p: kernels.Gaussian(p.lam), "gamma",
       **GAMMA)  # fmt: skip
kernel("ARDGaussian", ard, **{r"\gamma_": lambda p: [p.lam, p.b]})
kernel("ARDGaussian.differentiate", ard, "gamma[1]", d=lambda p: 2,
       **{r"\gamma_": lambda p: [p.lam, p.b]}, **{
           "x_": lambda p: p.x, "x'_": lambda p: p.z})  # fmt: skip
kernel("ExponentialQuadratic", quadratic, **THETA)
kernel("RationalQuadratic", rational, **RATIONAL)
kernel("Periodic", periodic, **PERIODIC)


def u(p):
    """What is inside of a rational quadratic kernel, from its value."""
    return rational(p)([p.x], [p.z])[0, 0] ** (-1 / p.b) - 1


kernel("RationalQuadratic.evaluate", rational, "alpha", u=u, **RATIONAL)
for _by in ("alpha", "length"):
    kernel("RationalQuadratic.differentiate", rational, _by, u=u, **RATIONAL,
           of="ln" if _by == "alpha" else "k} = 2")  # fmt: skip


def turns(p):
    return 2 * np.pi * (p.x - p.z) / p.b


kernel("Periodic.differentiate", periodic, "length", **PERIODIC, s_=turns)
kernel("Periodic.differentiate", periodic, "period", of=r"\dot{k} = \sum",
       s_=turns, **PERIODIC)  # fmt: skip


def half_integers():
    """Matern kernels of all three kinds, each with its own formulas."""
    formulas = {
        0.5: ("k = e", "= s e"),
        1.5: ("k = (1 + s) e", "= s^{2} e"),
        2.5: ("k = (1 + s + s", "= s^{2} (1"),
    }
    for nu, texts in formulas.items():
        for name, text in zip(["", ".differentiate"], texts, strict=True):

            @world(f"kernels.Matern{name}", of=text)
            def _(p, nu=nu):
                k = kernels.Matern(nu=nu, length=p.lam)
                s = math.sqrt(2 * nu) * np.linalg.norm(p.x - p.z) / p.lam
                return at(p, k, "length") | {"s": s}


half_integers()


@world("kernels.Matern")
def _(p):
    r"""s is known by the value e⁻ˢ of the first kind, whatever r is."""
    s = -np.log(kernels.Matern(nu=0.5, length=p.lam)([p.x], [p.z])[0, 0])
    r = np.sqrt((p.x - p.z) @ (p.x - p.z))
    return {r"\nu": 0.5, "s": s, "r": r, r"\mathrm{length}": p.lam,
            "x": p.x, "x'": p.z}  # fmt: skip


@world("kernels.ARDGaussian.evaluate")
def _(p):
    r = np.linalg.norm(np.sqrt([p.lam, p.b]) * (p.x - p.z))
    return {"r": r, "=": ard(p)([p.x], [p.z])[0, 0]}


@world("kernels.Gaussian.evaluate")
def _(p):
    k = kernels.Gaussian(p.lam)
    return {r"\gamma": p.lam, "r": np.linalg.norm(p.x - p.z),
            "=": k([p.x], [p.z])[0, 0]}  # fmt: skip


@world("kernels.Linear.evaluate")
def _(p):
    return {"K": kernels.Linear()(p.X, p.many), "X": p.X, "Z": p.many}


@world("kernels.Gaussian", of=r"\sigma")
def _(p):
    """A width is where e⁻½ is reached."""
    k = kernels.Gaussian(p.lam)
    r = np.linalg.norm(p.x - p.z)
    half = -np.log(k([p.x], [p.z])[0, 0])
    return {r"\gamma": p.lam, r"\sigma": r / np.sqrt(2 * half)}


@world("kernels.exp")
def _(p):
    k = kernels.Gaussian(p.lam)
    e = kernels.exp(k)
    return at(p, k) | {"q": lambda x, z: e([x], [z])[0, 0]}


@world("kernels.QuadraticForm", "kernels.quadratic_form", "kernels",
       "kernels.QuadraticForm.evaluate")  # fmt: skip
def _(p):
    k = square(p)
    R = k.prepare(np.eye(D))
    return at(p, k) | {"A": np.array(k.A), "R": R, "X": p.X, "Z": p.landmarks,
                       r"\mathbf 0": np.zeros((D, D))}  # fmt: skip


def on_the_diagonal(name, make, root=1, **letters):
    @world(f"kernels.{name}.evaluate_diagonal")
    def _(p):
        k, n = make(p), p.n % N
        return {"x_": p.X, "n": n + 1, "=": k.diagonal(p.X)[n] ** (1 / root)
                } | {name: v(p) for name, v in letters.items()}  # fmt: skip


on_the_diagonal("Linear", lambda p: kernels.Linear())
on_the_diagonal("Polynomial", polynomial, 3, **POWER)
on_the_diagonal("ExponentialQuadratic", quadratic, **THETA)
on_the_diagonal("QuadraticForm", square,
                R=lambda p: square(p).prepare(np.eye(D)))  # fmt: skip


@world("kernels.ExponentialQuadratic.differentiate")
def _(p):
    dk = quadratic(p).derivatives([p.x], [p.z])[1]
    first, second = (dk[f"theta[{i}]"][0, 0] for i in (0, 1))
    return {r"\theta_1": p.lam, "r": np.linalg.norm(p.x - p.z),
            "=": second / first}  # fmt: skip


# kernels made of kernels


def parts(p, k, name=None, **letters):
    one, two = (
        kernels.Gaussian(p.lam),
        kernels.Linear() + kernels.Constant(1.0),
    )
    made = k(p, one, two)
    known = at(p, made, name)
    if name:
        slopes = [k.derivatives([p.x], [p.z])[1] for k in (one, two)]
        return known | {
            "k_1": one([p.x], [p.z])[0, 0], "k_2": two([p.x], [p.z])[0, 0],
            r"\dot{k}_1": slopes[0]["gamma"][0, 0],
            r"\dot{k}_2": slopes[1]["k2.c"][0, 0],
        } | letters  # fmt: skip
    return known | {
        "k_1": lambda x, z: one([x], [z])[0, 0],
        "k_2": lambda x, z: two([x], [z])[0, 0],
    } | letters  # fmt: skip


def f(X):
    return 1 + np.asarray(X)[:, 0] ** 2


COEFFICIENTS = [0.3, 0.5, 0.2, 0.4]
SUM = {"c_": From(0, COEFFICIENTS), "j": range(4)}
RULES = {
    "Conjugate": (
        lambda p, k, other: k.conjugate(f),
        {"f": lambda x: f([x])[0]},
    ),
    "Exponential": (lambda p, k, other: kernels.exp(k), {}),
    "PolynomialOf": (lambda p, k, other: k.polynomial(COEFFICIENTS), SUM),
    "Product": (lambda p, k, other: k * other, {}),
    "Sum": (lambda p, k, other: k + other, {}),
}
for _name, (_make, _letters) in RULES.items():

    @world(f"kernels.{_name}")
    def _(p, make=_make, letters=_letters):
        return parts(p, make, **letters)

    @world(f"kernels.{_name}.differentiate")
    def _(p, make=_make, letters=_letters):
        return parts(p, make, "k1.gamma", **letters)

    if _name in ("Conjugate", "Exponential", "Product"):
        world(f"kernels.{_name}.combine")(_)


@world("kernels.Sum.differentiate", of="k}_{2}")
def _(p):
    return parts(p, RULES["Sum"][0], "k2.k2.c")


@world("kernels.Product.differentiate", of=r"k_{1} \dot")
def _(p):
    return parts(p, RULES["Product"][0], "k2.k2.c")


@world("kernels.PolynomialOf.differentiate", of="= c_{j}")
def _(p):
    return parts(p, RULES["PolynomialOf"][0], "coefficients[2]", **SUM) | {
        "j": 2
    }


@world("kernels.PolynomialOf.combine", of="sum")
@world("kernels.Kernel.polynomial")
def _(p):
    known = parts(p, RULES["PolynomialOf"][0], **SUM)
    K, k = (known[n](p.x, p.z) for n in ("k_1", "k"))
    return known | {"K_1": K, "=": k, "k": known["k_1"]}


@world("kernels.Sum.combine", of="K_")
def _(p):
    one, two = kernels.Gaussian(p.lam), kernels.Linear()
    return {"K": (one + two)(p.X), "K_1": one(p.X), "K_2": two(p.X)}


@world("kernels.Scaled.combine")
def _(p):
    one = kernels.Gaussian(p.lam)
    return {"K": (p.b * one)(p.X), "K_1": one(p.X), "c": p.b}


@world("kernels.Scaled")
def _(p):
    return parts(p, lambda p, k, other: p.b * k, c=p.b)


@world("kernels.Scaled.differentiate", of="dot")
def _(p):
    return parts(p, lambda p, k, other: p.b * k, "k1.gamma", c=p.b)


@world("kernels.Scaled.differentiate", of="= k =")
def _(p):
    return parts(p, lambda p, k, other: p.b * k, "c", c=p.b)


@world("kernels.Stationary")
def _(p):
    return at(p, kernels.Matern(nu=1.5, length=p.lam))


@world("kernels.On")
def _(p):
    def one(x, z):
        return kernels.Gaussian(p.lam)(np.atleast_2d(x), np.atleast_2d(z))[
            0, 0
        ]

    k = kernels.Gaussian(p.lam).on(1)
    return at(p, k) | {"k_1": one, "x_{S}": p.x[1:], "x'_{S}": p.z[1:]}


# kernels on objects


@world("kernels.CountingKernel", "kernels.Spectrum")
def _(p):
    one, two = ("".join(p.rng.choice(list("ab"), 8)) for _ in range(2))
    k = kernels.Spectrum(2)
    every = [a + b for a in "ab" for b in "ab"]

    def count(part):
        return lambda s: sum(s[i : i + 2] == every[part] for i in range(7))

    texts = [one, two]
    return {
        "k": lambda i, j: float(k([texts[int(i)]], [texts[int(j)]])[0, 0]),
        "a": 0, "b": 1, "s": 0, "s'": 1, "u": range(4), "p": range(4),
        "n_": lambda part: lambda i: count(int(part))(texts[int(i)]),
    }  # fmt: skip


@world("kernels.SetIntersection")
def _(p):
    one, two = frozenset(range(p.n + 4)), frozenset(range(2, p.n + 9))
    value = kernels.SetIntersection()([one], [two])[0, 0]
    return {"A": one, "B": two, "k(A, B)": float(value)}


# wide networks


@world("kernels.ArcCosine", "kernels.ArcCosine.evaluate_diagonal")
def _(p):
    x, z, s, c = p.x, p.z, p.lam, p.b
    step, relu = (kernels.ArcCosine(d, weight=s, bias=c) for d in (0, 1))
    u, v = (np.append(np.sqrt(s) * y, np.sqrt(c)) for y in (x, z))
    size = np.sqrt(u @ u), np.sqrt(v @ v)
    normal = p.rng.standard_normal((40_000, D + 1))
    return {
        "k_0": step([x], [z])[0, 0], "k_1": relu([x], [z])[0, 0],
        "u": u, "u'": v, r"\theta": np.arccos(u @ v / size[0] / size[1]),
        "w": Sample(np.sqrt(s) * normal[:, 1:]), "x": x, "x'": z,
        "b": Sample(np.sqrt(c) * normal[:, 0]), "k": relu([x], [z])[0, 0],
        r"\phi": networks.relu, "=": relu.diagonal([x])[0],
    }  # fmt: skip


def arcsine(p):
    x, z, s, c = p.x, p.z, p.lam, p.b
    k = kernels.ArcSine(weight=s, bias=c)
    S, A, B = (s * (a @ b) + c for a, b in ((x, z), (x, x), (z, z)))
    return at(p, k, "weight") | {
        "S": S, "A": A, "B": B, r"\mathrm{weight}": s, r"\mathrm{bias}": c,
        "S'": S - c, "A'": A - c, "B'": B - c, "z": c,
    }  # fmt: skip


world("kernels.ArcSine", "kernels.ArcSine.differentiate")(arcsine)


@world("networks.relu")
def _(p):
    return {"z": p.a[p.n], r"\phi": lambda z: float(networks.relu(z))}


@world("networks.gelu")
def _(p):
    z = p.a[p.n]
    return {"z": z, r"\phi": lambda z: float(networks.gelu(z)),
            "P(Z < z)": stats.norm.cdf(z)}  # fmt: skip


@world("networks.deep_relu_kernel")
def _(p):
    theta = p.lam
    K = [[1.0, np.cos(theta)], [np.cos(theta), 1.0]]
    return {r"\theta": theta, "=": networks.deep_relu_kernel(K, 1)[0, 1]}


@world("networks.random_network")
def _(p):
    H, options = 6, {"weight": p.lam, "bias": p.b}
    found = networks.random_network(
        [p.x], H, networks.relu, rng=p.n, size=1, **options
    )
    rng = np.random.default_rng(p.n)
    W, v = rng.standard_normal((H, D + 1)), rng.standard_normal(H)
    return {
        "x": p.x, "f": of(found[0, 0]), "H": H, "j": range(1, H + 1), "v": v,
        r"\phi": lambda a: float(networks.relu(a)),
        "w_": np.sqrt(p.lam) * W[:, :D], "b_": np.sqrt(p.b) * W[:, D],
    }  # fmt: skip


@world("networks.tangent_kernel")
def _(p):
    H = 4
    W, v = p.rng.standard_normal((H, D)), p.rng.standard_normal(H)
    value = networks.tangent_kernel(
        [p.x], [p.z], W, v, np.tanh, lambda a: 1 / np.cosh(a) ** 2
    )[0, 0]
    return {
        "x": p.x, "x'": p.z, "k": of(value), "H": H, "j": range(1, H + 1),
        "v": v, "w_": W, r"\phi": np.tanh, "a_": W @ p.x, "a'_": W @ p.z,
        r"\phi'": lambda a: 1 / np.cosh(a) ** 2,
    }  # fmt: skip


@world("networks.mixed_activations")
def _(p):
    H, W = p.rng.standard_normal((1, D)), p.rng.standard_normal((M, D))
    Lambda = p.rng.standard_normal((M, 2))
    units = [np.tanh, networks.relu]
    found = networks.mixed_activations(H, W, Lambda, units)
    return {
        "h": H[0], "h_": found[0], "i": range(1, M + 1), "m": range(1, 3),
        r"\lambda_": Lambda, "w_": W, r"\phi_": units,
    }  # fmt: skip


# features


@world("features.powers")
def _(p):
    return {"x": p.b, r"\mathrm{degree}": 5,
            r"\phi": lambda x: features.powers([x], 5)[0]}  # fmt: skip


@world("features.count_dichotomies")
def _(p):
    n, m = p.n + 5, p.n + 2
    return {
        "N": n, "M": m, "C(N, M)": features.count_dichotomies(n, m),
        "C": lambda n, k: math.comb(int(n), int(k)),
    }  # fmt: skip


@world("features.exponents", "features.monomials")
def _(p):
    rows = features.exponents(D, 4)
    x, row = p.x, p.n % len(rows)
    return {
        "q": rows[row], "D": D, "d": range(1, D + 1), "p": 4, "x": x,
        r"\mathrm{degree}": 4, "z": p.z,
        "=": kernels.Polynomial(4, 0.0)([x], [p.z])[0, 0],
        r"\phi_q(x)": features.monomials([x], 4)[0, row],
        r"\phi": lambda x: features.monomials([x], 4)[0],
    }  # fmt: skip


@world("features.kernel_distances", "features.kernel_mean_distances")
def _(p):
    """Of a polynomial, whose features are known."""
    p.k = kernels.Polynomial(2, 0.0)
    known = p.kernel()
    left = r"\lVert \phi(x) - \phi(z) \rVert^2"
    to_mean = r"\lVert \phi(z) - (1/N) \sum_{n} \phi(x_n) \rVert^2"
    return known | {
        left: features.kernel_distances(p.k, [p.x], [p.z])[0, 0],
        to_mean: features.kernel_mean_distances(p.k, p.X, [p.z])[0],
    }


# certificates


@world("validity", "validity.find_counterexample")
def _(p):
    return p.letters(v=p.a) | {"=": validity.energy(p.K, p.a)}


@world("validity.smallest_eigenvalue")
def _(p):
    K = p.K - 2 * np.eye(N)
    units = np.linalg.eigh(K)[1].T
    random = p.rng.standard_normal((20, N))
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    points = [*units, *random, *(2 * units), *(0.5 * units)]
    return {
        "K": K, r"\mu_{min}": validity.smallest_eigenvalue(K),
        r"\min_{v}": [{"v": v} for v in points],
    }  # fmt: skip


@world("validity.rounding_level")
def _(p):
    K = p.K - 4 * np.eye(N)
    return {
        "N": N, "n": range(1, N + 1), r"\delta": validity.rounding_level(K),
        r"\epsilon": np.finfo(float).eps, "K": K,
    }  # fmt: skip


@world("validity.feature_map_from_gram")
def _(p):
    Phi = validity.feature_map_from_gram(p.K)
    values, U = np.linalg.eigh(p.K)
    values, U = values[::-1], U[:, ::-1]
    U = U * np.sign(np.sum(U * Phi, axis=0))
    return {
        "K": p.K, r"\Phi": Phi, r"\mu": values, "u_": U.T,
        "i": range(1, N + 1), "n": range(1, N + 1),
    }  # fmt: skip


@world("toydata.noisy_sine")
def _(p):
    x, t = toydata.noisy_sine(3, 0.5, rng=p.n)
    _, clean = toydata.noisy_sine(3, 0.0, rng=p.n)
    return {"x": float(np.ravel(x)[1]), "t": t[1], "e": (t - clean)[1]}


@world("toydata.two_moons")
def _(p):
    X, _ = toydata.two_moons(4, 0.0, rng=p.n)
    s = np.random.default_rng(p.n).uniform(0, np.pi, 4)
    return {"x": X[0], "s": s[0]}


@world("toydata.two_moons", of="1 -")
def _(p):
    X, _ = toydata.two_moons(4, 0.0, rng=p.n)
    s = np.random.default_rng(p.n).uniform(0, np.pi, 4)
    return {"x": X[1], "s": s[1]}


# principal components


def components(p):
    """Of inputs themselves, K = XXᵀ: their directions are known."""
    X = p.X
    K = X @ X.T
    A = kernel_pca.components(K, 2)
    A, mu = (A.A, A.mu) if hasattr(A, "A") else A
    mean = X.mean(axis=0)
    V = np.linalg.svd(X - mean)[2]
    V = V * np.sign(np.sum(V * (A.T @ (X - mean)), axis=1))[:, None]
    column = (X @ p.x)[:, None]
    j = p.n % 2
    y = kernel_pca.project(A, K, column)[0]
    centred = kernel_pca.centre(K, column)[:, 0]
    return p.letters() | {
        "v_": V, "A": A, "j": range(1, 3), "a": A[:, j], r"\mu": mu[j],
        r"\tilde{K}": kernel_pca.centre(K), r"\mathrm{mean}": mean,
        "x_": X, "x": p.x, "K": K, "k": column[:, 0], "@tolerance": 1e-8,
        "y_": lambda j: of(y[int(j) - 1]), "H": np.eye(N) - 1 / N,
    }, centred  # fmt: skip


@world("kernel_pca.components", "kernel_pca.project")
def _(p):
    known, centred = components(p)
    values = dict(zip(map(tuple, p.X), centred, strict=True))
    return known | {r"\tilde{k}": lambda x_n, x: values[tuple(x_n)]}


@world("kernel_pca.centre", of=r"\tilde{k}")
def _(p):
    known, centred = components(p)
    return known | {r"\tilde{k}": centred}


# estimators


@world("estimators")
def _(p):
    model = estimators.KernelRidge().fit(p.X, p.t)
    return {r"\gamma": model.kernel_.gamma, "D": D, "v": np.var(p.X)}


@world("estimators.SVC")
def _(p):
    t = np.arange(8) % 4
    model = estimators.SVC().fit(p.many[:8], t)
    return {"P": len(model.machines_), "K": 4}


@world("estimators.SVC.decision_function")
def _(p):
    X, t = p.many, p.classes
    model = estimators.SVC().fit(X, t)
    F = np.column_stack([one.output([p.x]) for one in model.machines_])
    found, k = model.decision_function([p.x])[0], p.n % 3
    return {
        "k": k + 1, "v": multiclass.votes(F, 3)[0].astype(float),
        "s": multiclass.total_scores(F, 3)[0], "=": found[k],
    }  # fmt: skip


# the table of rules


def rule(name, of):
    @world("kernels", of=of)
    def _(p):
        known = parts(p, RULES[name][0], **RULES[name][1])
        value = known["k"](p.x, p.z)
        powers = COEFFICIENTS
        q = lambda v: sum(c * v**j for j, c in enumerate(powers))  # noqa: E731
        return known | {"=": value, "q": q}


@world("kernels", of="x^{\\top}x'")
def _(p):
    return {"x": p.x, "x'": p.z,
            "=": kernels.Linear()([p.x], [p.z])[0, 0]}  # fmt: skip


@world("kernels", of="A x'")
def _(p):
    k = square(p)
    return {"x": p.x, "x'": p.z, "A": np.array(k.A),
            "=": k([p.x], [p.z])[0, 0]}  # fmt: skip


@world("kernels.QuadraticForm", of=r"R^{\top}x")
@world("kernels.QuadraticForm.prepare")
def _(p):
    k = square(p)
    root = k.prepare(np.eye(D))
    return {"x": p.x, "R": root, "=": k.prepare(np.array([p.x]))[0]}


rule("Sum", of="+k_{2}")
rule("Product", of="x')k_{2}")
rule("PolynomialOf", of="q(k_{1}")
rule("Conjugate", of="f(x)k")
rule("Exponential", of="exp")


@world("kernels.Kernel.conjugate")
def _(p):
    one = kernels.Gaussian(p.lam)
    k = one.conjugate(f)
    return at(p, one) | {"f": lambda x: f([x])[0],
                         "=": k([p.x], [p.z])[0, 0]}  # fmt: skip


@world("kernels.Conjugate.parts", of="f")
def _(p):
    k = kernels.Gaussian(p.lam).conjugate(f)
    value = k.parts[1](np.array([p.x]), np.array([p.z]))[0, 0]
    return at(p, k) | {"f": lambda x: f([x])[0], "=": value}
