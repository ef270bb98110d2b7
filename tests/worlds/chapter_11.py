"""Chapter 11: wide networks."""

import numpy as np
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.special import erf, expit
from typeset import Each, Of, Sample

from kernelbook import kernels, networks

from . import world

DRAWS = 20_000


def two_inputs(rng, D=3):
    """A pair of inputs that is neither parallel nor orthogonal."""
    x, z = rng.standard_normal((2, D))
    return np.array([x, z + 0.5 * x])


def angle(x, z):
    return np.arccos(x @ z / np.sqrt((x @ x) * (z @ z)))


@world("eq-net-one-layer")
def _(rng):
    """The library's network, with its weights drawn a second time."""
    D, H, seed = 3, 4, int(rng.integers(1000))
    again = np.random.default_rng(seed)
    W = again.standard_normal((1, H, D + 1))[0, :, :D]
    v = again.standard_normal((1, 1, H))[0, 0]

    def f(x):
        fresh = np.random.default_rng(seed)
        return networks.random_network([x], H, np.tanh, fresh)[0, 0]

    return {
        "H": H,
        "v": v,
        r"\mathbf w_": W,
        r"\varphi": np.tanh,
        r"\mathbf x": rng.standard_normal(D),
        "f": f,
    }


@world("eq-net-covariance")
def _(rng):
    """Many small networks against one hidden unit with random weights."""
    x, z = two_inputs(rng)
    F = networks.random_network([x, z], 5, np.tanh, rng, size=DRAWS)

    def f(at):
        return Sample(F[:, 0] if np.array_equal(at, x) else F[:, 1])

    return {
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\mathbf w": Sample(rng.standard_normal((DRAWS, 3))),
        r"\varphi": np.tanh,
        "f": f,
    }


@world("eq-net-arccos-0", "eq-net-arccos-1")
def _(rng):
    x, z = two_inputs(rng)
    zero, one = kernels.ArcCosine(0), kernels.ArcCosine(1)
    return {
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\mathbf w": Sample(rng.standard_normal((DRAWS, 3))),
        r"\Theta": networks.step,
        r"\theta": angle(x, z),
        "k_0": lambda x, z: zero([x], [z])[0, 0],
        "k_1": lambda x, z: one([x], [z])[0, 0],
    }


@world("eq-net-arcsine")
def _(rng):
    """E[erf(wᵀx) erf(wᵀx')] by the quadrature of the two projections."""
    x, z = two_inputs(rng) * np.array([[0.4], [0.3]])
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()

    def k(x, z):
        L = np.linalg.cholesky([[x @ x, x @ z], [x @ z, z @ z]])
        first = L[0, 0] * nodes[:, None]
        second = L[1, 0] * nodes[:, None] + L[1, 1] * nodes
        return weights @ (erf(first) * erf(second)) @ weights

    return {r"\mathbf x": x, r"\mathbf x'": z, "k": k}


@world("eq-net-kurtosis")
def _(rng):
    """κ by its definition, from the moments of a sum of H products."""
    H, phi = 3, np.tanh(0.7 + 1.4 * rng.standard_normal(DRAWS))
    square, fourth = np.mean(phi**2), np.mean(phi**4)
    # f = H^(-1/2) Σ v_j φ_j: E f⁴ = (3 H E φ⁴ + 3 H (H-1) (E φ²)²) / H².
    f_fourth = (3 * fourth + 3 * (H - 1) * square**2) / H
    return {
        "H": H,
        r"\kappa": f_fourth / square**2 - 3,
        r"\varphi": Sample(phi),
    }


@world("eq-net-depth")
def _(rng):
    """The library's correlations, layer by layer."""
    x, z = two_inputs(rng)
    K = np.array([[x @ x, x @ z], [x @ z, z @ z]])
    rho = []
    for depth in range(4):
        deep = networks.deep_relu_kernel(K, depth)
        rho.append(deep[0, 1] / np.sqrt(deep[0, 0] * deep[1, 1]))
    zero = [
        kernels.ArcCosine(0)([[1.0, 0.0]], [[r, np.sqrt(1 - r * r)]])[0, 0]
        for r in rho
    ]
    return {
        "l": range(1, 4),
        r"\rho^": rho,
        r"\theta^": np.arccos(rho),
        r"\frac{d \rho^{(l+1)}}{d \rho^{(l)}}": Of(
            "l", lambda layer: zero[layer - 1]
        ),
    }


def tanh_slope(z):
    return 1 - np.tanh(z) ** 2


def correlated(phi, A, B, S, order=80):
    """E[φ(a)φ(b)] by quadrature, for variances A, B and covariance S."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(order)
    weights = weights / weights.sum()
    a = np.sqrt(A) * nodes[:, None]
    b = S / A * a + np.sqrt(B - S * S / A) * nodes
    return weights @ (phi(a) * phi(b)) @ weights


@world("eq-net-layer")
def _(rng):
    """By quadrature against draws of the two pre-activations."""
    A, B = rng.uniform(0.5, 2.0, 2)
    S = 0.6 * np.sqrt(A * B)
    sw, sb = rng.uniform(0.5, 1.5, 2)
    a, b = rng.multivariate_normal([0, 0], [[A, S], [S, B]], DRAWS).T
    return {
        r"k^{(l+1)}(\mathbf x, \mathbf x')": sb**2
        + sw**2 * correlated(np.tanh, A, B, S),
        r"\sigma_b": sb,
        r"\sigma_w": sw,
        r"\varphi": np.tanh,
        "a": Sample(a),
        "b": Sample(b),
    }


@world("eq-net-chi")
def _(rng):
    """The slope of the map of correlations, at the settled variance."""
    sw, sb, A = rng.uniform(1.2, 2.0), rng.uniform(0.2, 0.6), 1.0
    for _ in range(300):
        A = sb**2 + sw**2 * correlated(np.tanh, A, A, A * (1 - 1e-15))

    def step(rho):
        return (sb**2 + sw**2 * correlated(np.tanh, A, A, A * rho)) / A

    h = 1e-3
    slope = (3 * step(1 - 1e-15) - 4 * step(1 - h) + step(1 - 2 * h)) / (2 * h)
    chi = r"\frac{d \rho^{(l+1)}}{d \rho^{(l)}} \bigg|_{\rho = 1}"
    return {
        r"\chi": slope,
        chi: slope,
        r"\sigma_w": sw,
        r"\varphi": np.tanh,
        r"\varphi'": tanh_slope,
        "a": Sample(np.sqrt(A) * rng.standard_normal(DRAWS)),
    }


@world("eq-net-kurtosis-depth")
def _(rng):
    """Layer by layer, from the moments of one rectified normal number."""
    H, L = int(rng.integers(3, 9)), int(rng.integers(2, 5))
    second, fourth = (
        quad(lambda z, p=p: z**p * np.exp(-z * z / 2), 0, 20)[0]
        / np.sqrt(2 * np.pi)
        for p in (2, 4)
    )
    square = 1.0  # E[Q²]; the mean of Q stays 1
    for _ in range(L):
        square *= (2 / H) ** 2 * (H * fourth + H * (H - 1) * second**2)
    return {
        "H": H,
        "L": L,
        r"\kappa_L": 3 * square - 3,
        r"\mathbb E[Q^2]": square,
    }


def small_network(rng, D=3, H=5):
    """Weights, the output, and its gradient by differences, as a vector."""
    W, v, c = rng.standard_normal((H, D)), rng.standard_normal(H), 0.7
    packed = np.concatenate([W.ravel(), v])

    def f(x, packed):
        hidden = np.tanh(packed[: H * D].reshape(H, D) @ x)
        return c * hidden @ packed[H * D :]

    def gradient(x, h=1e-4):
        def central(h):
            steps = h * np.eye(packed.size)
            up = np.array([f(x, packed + e) for e in steps])
            down = np.array([f(x, packed - e) for e in steps])
            return (up - down) / (2 * h)

        return (4 * central(h / 2) - central(h)) / 3

    return W, v, c, lambda x: f(x, packed), gradient


@world("eq-net-tangent", tolerance=1e-8)
def _(rng):
    x, z = two_inputs(rng)
    W, v, c, _, gradient = small_network(rng)
    return {
        "H": len(v),
        "c": c,
        "v": v,
        r"\mathbf w_": W,
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\varphi": np.tanh,
        r"\varphi'": tanh_slope,
        r"\nabla f(\mathbf x)": gradient(x),
        r"\nabla f(\mathbf x')": gradient(z),
    }


@world("eq-net-tangent-relu")
def _(rng):
    """The averages of both sums, by integrals over the plane's angle."""
    x, z = two_inputs(rng)
    theta = angle(x, z)
    sector = theta - np.pi / 2, np.pi / 2

    def first(a):  # the radius gives 2, the density 1/(2π), the scale 2
        return 2 * 2 * np.cos(a) * np.cos(a - theta) / (2 * np.pi)

    lengths = np.sqrt((x @ x) * (z @ z))
    by_output = lengths * quad(first, *sector)[0]
    by_hidden = 2 * quad(lambda a: 1 / (2 * np.pi), *sector)[0] * (x @ z)
    zero, one = kernels.ArcCosine(0), kernels.ArcCosine(1)
    return {
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"k_{\mathrm T}(\mathbf x, \mathbf x')": by_output + by_hidden,
        "k_0": lambda x, z: zero([x], [z])[0, 0],
        "k_1": lambda x, z: one([x], [z])[0, 0],
    }


def flow(rng, N=4):
    """A Gram matrix, its eigenvectors, targets, and the exponential of it."""
    X = rng.standard_normal((N + 1, 3))
    K = kernels.ArcCosine(1)(X)
    mu, U = np.linalg.eigh(K[:N, :N])
    return K, mu, U, rng.standard_normal(N)


@world("eq-net-flow")
def _(rng):
    K, _, _, t = flow(rng)
    K, start = K[:-1, :-1], rng.standard_normal(len(t))

    def f(s):
        return t + expm(-s * K) @ (start - t)

    s = rng.uniform(0.2, 0.5)
    return {
        "s": s,
        r"\mathbf K": K,
        r"\mathbf t": t,
        r"\mathbf f": f,
    }


@world("inline: residuals of the flow")
def _(rng):
    """By the exponential of the matrix, from zero."""
    K, mu, U, t = flow(rng)
    s = rng.uniform(0.2, 0.5)
    return {
        "s": s,
        "i": range(1, len(t) + 1),
        r"\mathbf t": t,
        r"\mathbf f": lambda s: t - expm(-s * K[:-1, :-1]) @ t,
        r"\boldsymbol\mu": mu,
        r"\mathbf u_": U.T,
    }


@world("eq-net-flow-solved")
def _(rng):
    """The speed at the last input, integrated over time step by step."""
    K, mu, U, t = flow(rng)
    s, N = rng.uniform(0.3, 0.9), len(t)
    nodes, weights = np.polynomial.legendre.leggauss(30)
    times = s * (nodes + 1) / 2
    residuals = [expm(-time * K[:N, :N]) @ t for time in times]
    return {
        "N": N,
        "s": s,
        r"f_s(\mathbf x)": s / 2 * weights @ residuals @ K[:N, N],
        r"\boldsymbol\mu": mu,
        r"\mathbf u_": U.T,
        r"\mathbf t": t,
        r"\mathbf k(\mathbf x)": K[:N, N],
    }


@world("eq-net-speed", tolerance=1e-7)
def _(rng):
    """Minus the gradient of the error, by differences."""
    W, v, c, f, gradient = small_network(rng)
    X, t = rng.standard_normal((4, 3)), rng.standard_normal(4)
    slope = sum(
        (f(x) - t_n) * gradient(x) for x, t_n in zip(X, t, strict=True)
    )
    by_weight = -slope[: W.size].reshape(W.shape)
    return [
        {
            "N": len(t),
            "c": c,
            "v_j": v[j],
            r"\mathbf w_j": W[j],
            r"\frac{d\mathbf w_j}{ds}": by_weight[j],
            "f": f,
            "t": t,
            r"\mathbf x_": X,
            r"\varphi'": tanh_slope,
        }
        for j in range(2)
    ]


# Of relations in sentences, and of displays without a label ------------------


@world("inline: two inputs in their plane")
def _(rng):
    """Weights in the plane, by their polar coordinates from x."""
    x, z = rng.standard_normal((2, 2))
    r, alpha = rng.uniform(0.5, 2.0), rng.uniform(-1.0, 2.0)
    along = x / np.linalg.norm(x)
    across = z - (z @ along) * along
    across /= np.linalg.norm(across)
    return {
        r"\mathbf x": x,
        r"\mathbf x'": z,
        r"\mathbf w": r * (np.cos(alpha) * along + np.sin(alpha) * across),
        "r": r,
        r"\alpha": alpha,
        r"\theta": np.pi * (1 - kernels.ArcCosine(0)([x], [z])[0, 0]),
        r"\rho": x @ z / np.linalg.norm(x) / np.linalg.norm(z),
    }


@world("inline: moments of two projections")
def _(rng):
    """Of wᵀx and wᵀx', over nodes for w in space."""
    x, z = two_inputs(rng)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    W = np.array([[a, b, c] for a in nodes for b in nodes for c in nodes])
    mass = np.kron(np.kron(weights, weights), weights)
    mass = mass / mass.sum()
    return {
        r"\mathbf x": x,
        r"\mathbf x'": z,
        "A": mass @ (W @ x) ** 2,
        "B": mass @ (W @ z) ** 2,
        "S": mass @ ((W @ x) * (W @ z)),
    }


@world("inline: the rectifier", tolerance=1e-6)
def _(rng):
    h = 1e-5
    return {
        "z": Each([-rng.uniform(0.3, 1.5), rng.uniform(0.3, 1.5)]),
        r"\varphi": networks.relu,
        r"\varphi'": lambda z: (
            (networks.relu(z + h) - networks.relu(z - h)) / (2 * h)
        ),
        r"\Theta": networks.step,
    }


@world("inline: a step downhill", tolerance=1e-6)
def _(rng):
    """The error's own gradient, by differences, against the outputs'."""
    W, v, c, f, gradient = small_network(rng)
    X, t, ds = rng.standard_normal((4, 3)), rng.standard_normal(4), 0.3
    start, h = np.concatenate([W.ravel(), v]), 1e-4

    def error(packed):
        hidden = np.tanh(X @ packed[: W.size].reshape(W.shape).T)
        return np.sum((c * hidden @ packed[W.size :] - t) ** 2) / 2

    slope = [
        (error(start + e) - error(start - e)) / (2 * h)
        for e in h * np.eye(start.size)
    ]
    x, t_h = rng.standard_normal(3), 1e-5

    def there(time):
        packed = start - time * np.array(slope)
        hidden = np.tanh(packed[: W.size].reshape(W.shape) @ x)
        return c * hidden @ packed[W.size :]

    return {
        "N": len(t),
        "n": range(1, 5),
        "f": f,
        "t": t,
        r"\mathbf x": x,
        r"\mathbf x_": X,
        r"\nabla f(\mathbf x)": gradient(x),
        r"\nabla f(\mathbf x_n)": Of("n", lambda n: gradient(X[n - 1])),
        "ds": ds,
        r"d\boldsymbol\omega": -ds * np.array(slope),
        r"\frac{d f(\mathbf x)}{ds}": (there(t_h) - there(-t_h)) / (2 * t_h),
    }


@world("inline: a sum of units that are fixed")
def _(rng):
    """The variance of Σ c_j v_j is Σ c_j², and c_j what v = e_j puts out."""
    H, z = 4, rng.standard_normal(4)
    each = [np.tanh(z) @ e / np.sqrt(H) for e in np.eye(H)]
    return {
        "H": H,
        "j": range(1, H + 1),
        r"\varphi_": np.tanh(z),
        "Q": np.sum(np.square(each)),
    }


@world("inline: the slopes of a small network", tolerance=1e-6)
def _(rng):
    W, v, c, _, _ = small_network(rng)
    x = rng.standard_normal(W.shape[1])

    def f(v, W):
        return c * sum(v[j] * np.tanh(W[j] @ x) for j in range(len(v)))

    return {
        "j": range(1, len(v) + 1),
        "c": c,
        r"\mathbf x": x,
        r"\mathbf v": v,
        r"\mathbf w_": W,
        r"\varphi": np.tanh,
        r"\varphi'": tanh_slope,
        "f": Of(r"\mathbf v", r"\mathbf W", f),
        r"\mathbf W": Of("j", lambda j: W),
    }


@world("inline: bumps everywhere", tolerance=1e-6)
def _(rng):
    """The mean of two bumps about a random centre, by quadrature."""
    g, u = rng.uniform(0.5, 1.0), rng.uniform(1.5, 2.5)
    x, z = rng.standard_normal(2)

    def k(x, z):
        def product(c):
            far = (x - c) ** 2 + (z - c) ** 2
            return np.exp(-far / (2 * g**2) - c**2 / (2 * u**2))

        return quad(product, -30, 30, limit=200)[0] / np.sqrt(2 * np.pi) / u

    # The exponent's curvature by the centre; and of k(x, ±x) by x.
    at = [(x - c) ** 2 / g**2 + c**2 / (2 * u**2) for c in (-1.0, 0.0, 1.0)]
    same = np.log(k(0.0, 0.0) / k(1.0, 1.0))
    apart = np.log(k(0.0, 0.0) / k(1.0, -1.0))
    return {
        "x": x,
        "x'": z,
        r"\sigma_u": u,
        r"\sigma_g": g,
        r"\sigma_e": (at[0] - 2 * at[1] + at[2]) ** -0.5,
        r"\sigma_m": same**-0.5,
        r"\sigma_s": np.sqrt(2 / (apart - same)),
        "k": k,
    }


def moment(phi, power):
    """E[φ(z)^power] for a standard normal z."""
    halves = [
        quad(lambda z: float(phi(z)) ** power * np.exp(-z * z / 2), *ends)[0]
        for ends in [(-20, 0), (0, 20)]
    ]
    return sum(halves) / np.sqrt(2 * np.pi)


def few_units(rng, phi):
    """H units: the weights of the output given, and not given."""
    H = int(rng.integers(3, 7))
    z = rng.standard_normal((DRAWS, H))
    # With a hidden unit that is always 1 the output is its weight.
    v = networks.random_network([[1.0]], 1, np.ones_like, rng, size=DRAWS)
    Q = np.mean(phi(z) ** 2, axis=1)
    second, fourth = moment(phi, 2), moment(phi, 4)
    return {
        "H": H,
        "z": Sample(z[:, 0]),
        "v_j": Sample(v[:, 0]),
        r"\varphi": Sample(phi(z[:, 0])),
        "Q": Sample(Q),
        "f": Sample(np.sqrt(Q) * rng.standard_normal(DRAWS)),
        r"\kappa": 3 * (fourth - second**2) / second**2 / H,
        # The slope of the map of correlations at 1, for weights of variance 2.
        r"\chi": 2
        * quad(lambda z: np.exp(-z * z / 2), 0, 20)[0]
        / np.sqrt(2 * np.pi),
    }


@world("inline: a few ReLUs")
def _(rng):
    return few_units(rng, networks.relu)


@world("inline: a few steps")
def _(rng):
    return few_units(rng, networks.step)


def price(rng, size):
    """Price's theorem for two functions that are not alike."""
    A, B = size * rng.uniform(0.7, 1.3, 2)
    S = 0.5 * np.sqrt(A * B)
    a, z = rng.standard_normal((2, DRAWS)) * np.array([[np.sqrt(A)], [1.0]])

    def b(S):
        return Sample(S / A * a + np.sqrt(B - S * S / A) * z)

    root = rng.standard_normal((2, 3))
    apart = np.linalg.det(np.eye(2) + 2 * np.diag([A, B]))
    return {
        "A": A,
        "B": B,
        "S": S,
        "m": np.sqrt(apart),
        "z": rng.uniform(0.3, 1.2),
        r"\operatorname{erf}": erf,
        r"\sigma": expit,
        "a": Sample(a),
        "b": Of("S", b),
        "g": np.sin,
        "g'": np.cos,
        "h": np.tanh,
        "h'": tanh_slope,
        r"\boldsymbol\Sigma": root @ root.T,
    }


@world("inline: Gaussian integrals", tolerance=1e-6)
def _(rng):
    """With a small variance too, for which E[e^(-a³)], a mutant, is finite."""
    return [price(rng, size) for size in (1.0, 0.12)]


@world("inline: a right angle")
def _(rng):
    x, z = np.linalg.qr(rng.standard_normal((3, 2)))[0].T
    at = {f"k_{i}": kernels.ArcCosine(i)([x], [z])[0, 0] for i in (0, 1)}
    return at | {r"\theta": angle(x, z)}


def descended(rng, start):
    """Kernel regression by many small steps, at N inputs and one more."""
    K, _, _, t = flow(rng, N=3)
    K = K + 0.3 * np.eye(4)
    f = start
    for _ in range(5000):
        f = f - 0.9 / np.trace(K) * K[:, :3] @ (f[:3] - t)
    return {
        r"\mathbf K": K[:3, :3],
        r"\mathbf t": t,
        r"\mathbf k(\mathbf x)": K[3, :3],
        r"\mathbf f_0": start[:3],
        r"f_0(\mathbf x)": start[3],
        r"f_\infty(\mathbf x)": f[3],
    }


@world("inline: trained to the end from zero", tolerance=1e-7)
def _(rng):
    return descended(rng, np.zeros(4))


@world("inline: trained to the end from elsewhere", tolerance=1e-7)
def _(rng):
    return descended(rng, rng.standard_normal(4))


@world("inline: one unit that has a sign")
def _(rng):
    (x, z), seed = two_inputs(rng), int(rng.integers(1000))
    again = np.random.default_rng(seed)
    again.standard_normal((1, 1, 4))  # the hidden weights

    def f(x):
        fresh = np.random.default_rng(seed)
        return networks.random_network([x], 1, np.sign, fresh)[0, 0]

    v = again.standard_normal()
    return {r"\mathbf x": x, r"\mathbf x'": z, "v": v, "f": f}


@world("inline: numbers of a lazy network")
def _(rng):
    H, A = int(rng.integers(3, 90)), rng.uniform(0.5, 2.0)
    z = np.sqrt(A) * rng.standard_normal(DRAWS)
    return {"H": H, "c": H**-0.5, "A": A, "z": Sample(z)}


@world("inline: another scale")
def _(rng):
    return {"H": int(rng.integers(3, 90)), "c": rng.uniform(0.2, 0.8)}
