"""The operations of the book, each on data of several sizes.

Every function yields cases, smallest first; ``quick`` keeps the small ones.
"""

import time
from functools import partial

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler

from benchmarks import large, peers
from benchmarks.measure import Case
from kernelbook import (
    gp,
    kernel_logistic,
    kernels,
    learning,
    ridge,
    svm,
    toydata,
)

THETA, BETA = (2.0, 0.5, 0.3, 0.1), 20.0
QUICK_N = 1000


def relative(ours, theirs):
    """Largest difference, over the largest value."""
    a, b = np.asarray(ours), np.asarray(theirs)
    return np.abs(a - b).max() / np.abs(b).max()


def cloud(N, D):
    return np.random.default_rng(N + D).standard_normal((N, D))


def regression(N, D=5):
    X = cloud(N, D)
    noise = np.random.default_rng(1).standard_normal(N)
    return X, np.sin(X[:, 0]) + X[:, 1] + BETA**-0.5 * noise


def sizes(*all_sizes, quick):
    return [N for N in all_sizes if not quick or N <= QUICK_N]


# ----------------------------------------------------------- Gram matrices


def gaussian_grams(quick):
    for N in sizes(1000, 5000, 10_000, quick=quick):
        for D in (2, 20, 200):
            X, k = cloud(N, D), kernels.Gaussian(1 / D)
            yield Case(
                "RBF Gram matrix",
                f"D = {D}",
                N,
                partial(k, X),
                {"scikit-learn": partial(rbf_kernel, X, gamma=k.gamma)},
                relative,
                1e-13,
                goals={
                    "scikit-learn": 0.65 if N >= 5000 else 0.95,
                    "memory": 1.1,
                },
                memory=N == 5000,
            )


def far_from_the_origin(quick):
    """Not a race: how wrong both are on a cloud 1e6 away."""
    for D in (2, 20, 200):
        X = 1e6 + cloud(1000, D)
        exact = np.exp([-((x - X) ** 2).sum(axis=1) / D for x in X])

        def facts(K, exact=exact, X=X, D=D):
            theirs = rbf_kernel(X, gamma=1 / D)
            return {
                "far": {
                    "error": float(np.abs(K - exact).max()),
                    "symmetric": bool(np.array_equal(K, K.T)),
                    "lowest eigenvalue": float(np.linalg.eigvalsh(K)[0]),
                    "their error": float(np.abs(theirs - exact).max()),
                    "their lowest": float(np.linalg.eigvalsh(theirs)[0]),
                }
            }

        yield Case(
            "RBF Gram matrix, 1e6 from the origin",
            f"D = {D}",
            1000,
            partial(kernels.Gaussian(1 / D), X),
            {},
            relative,
            0.0,
            remarks=facts,
        )


def cubic_grams(quick):
    for N in sizes(1000, 5000, 10_000, quick=quick):
        for D in (2, 20, 200):
            X, k = cloud(N, D), kernels.Polynomial(3, 1.0)
            yield Case(
                "cubic polynomial Gram",
                f"D = {D}",
                N,
                partial(k, X),
                {
                    "scikit-learn": partial(
                        polynomial_kernel, X, degree=3, gamma=1.0, coef0=1.0
                    )
                },
                relative,
                1e-13,
                goals={"scikit-learn": 0.45},
            )


# -------------------------------------------------------------- regression


def kernel_ridge(quick):
    k, lam = kernels.Gaussian(0.1), 0.1
    for N in sizes(500, 1000, 2000, 5000, 10_000, quick=quick):
        (X, t), Z = regression(N), cloud(200, 5)

        def ours(X=X, t=t, Z=Z):
            a = ridge.fit_dual(k(X), t, lam, overwrite=True)
            return ridge.predict(a, k(X, Z))

        yield Case(
            "kernel ridge fit + predict",
            "",
            N,
            ours,
            {
                "scikit-learn": partial(
                    peers.kernel_ridge, X, t, Z, k.gamma, lam
                )
            },
            relative,
            1e-8,
            goals={"scikit-learn": 0.75, "memory": 1.1},
            memory=N == 5000,
        )


def potrf_of(k, X, invert=False):
    """CPU seconds of LAPACK alone on this matrix."""

    def limit():
        C = k(X)
        C.flat[:: len(C) + 1] += 1 / BETA
        start = time.process_time()
        U, _ = dpotrf(C.T, clean=0, overwrite_a=1)
        if invert:
            dpotri(U, overwrite_c=1)
        return time.process_time() - start

    return limit


def gp_regression(quick):
    k = THETA[0] * kernels.Gaussian(THETA[1] / 2)
    for N in sizes(500, 1000, 2000, 5000, 10_000, quick=quick):
        (X, t), Z = regression(N), cloud(200, 5)

        def ours(X=X, t=t, Z=Z):
            return gp.predict(gp.fit(k, X, t, BETA), Z)[:2]

        yield Case(
            "GP fit + predict",
            "mean and variance at 200 inputs",
            N,
            ours,
            peers.present(
                {
                    "scikit-learn": partial(
                        peers.gp_scikit, X, t, Z, THETA, BETA
                    ),
                    "GPyTorch": partial(
                        peers.gp_gpytorch, X, t, Z, THETA, BETA
                    ),
                }
            ),
            relative,
            1e-11,
            goals={
                "scikit-learn": 0.6 if N < 5000 else 0.4,
                "GPyTorch": 0.4,
                "memory": 1.3,
            },
            memory=N == 5000,
        )
        yield Case(
            "GP fit",
            "",
            N,
            partial(gp.fit, k, X, t, BETA),
            {},
            relative,
            0.0,
            limits={"LAPACK potrf": potrf_of(k, X)},
            goals={"LAPACK potrf": 1.5} if N >= 2000 else {},
        )


def evidence(quick):
    k = kernels.ExponentialQuadratic(THETA)

    def error(ours, theirs):
        value = abs(ours[0] - theirs[0]) / abs(theirs[0])
        return max(value, relative(list(ours[1].values()), theirs[1]))

    for N in sizes(500, 1000, 2000, 5000, quick=quick):
        X, t = regression(N)
        yield Case(
            "log marginal likelihood + gradient",
            "θ₀, …, θ₃, β",
            N,
            partial(learning.evidence, k, X, t, BETA),
            {"scikit-learn": peers.evidence_scikit(X, t, THETA, BETA)},
            error,
            1e-6,
            limits={"potrf + potri": potrf_of(k, X, invert=True)},
            goals={
                "scikit-learn": 0.45 if N < 5000 else 0.3,
                "potrf + potri": 1.4,
                "memory": 1.2,
            },
            memory=N == 2000,
        )


def learning_theta(quick):
    k = kernels.ExponentialQuadratic((1.0, 1.0, 1.0, 1.0))
    for N in (200, 500) if quick else (200, 500, 1000, 2000):
        X, t = regression(N)

        def ours(X=X, t=t):
            return learning.learn(k, X, t, 10.0).value

        yield Case(
            "learning θ (L-BFGS)",
            "",
            N,
            ours,
            {"scikit-learn": partial(peers.learned_scikit, X, t, k.theta, 10)},
            relative,
            1e-4,
            goals={"scikit-learn": 0.3},
        )


def append(quick):
    k = THETA[0] * kernels.Gaussian(THETA[1] / 2)
    for N in sizes(500, 1000, 2000, quick=quick):
        X, t = regression(N + 1)
        # Room for more is made by the first point that is appended.
        model = gp.append(gp.fit(k, X[:-1], t[:-1], BETA), X[-1], t[-1])

        def one_more(model=model, x=X[0] + 0.1):
            N = model.factor.N
            model.factor.taken.pop(N, None)  # forget the last time
            return gp.append(model, x, 0.5).a

        def refit(X=X, t=t):
            more = np.vstack([X, X[0] + 0.1]), np.append(t, 0.5)
            return gp.fit(k, *more, BETA).a

        yield Case(
            "GP append one point",
            "",
            N,
            one_more,
            {"refit": refit},
            relative,
            1e-8,
            goals={"refit": 0.02} if N == 2000 else {},
        )


# ---------------------------------------------------------- classification


def svm_problems(quick):
    """Name, inputs, labels and kernel; inputs as they come or standardised."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    yield "breast cancer", X, 2.0 * y - 1, kernels.Gaussian(1 / X.shape[1])
    X, y = load_digits(return_X_y=True)
    X, k = X / 16, kernels.Gaussian(0.05)
    pair = (y == 3) | (y == 8)
    yield "digits 3 or 8", X[pair], np.where(y[pair] == 3, 1.0, -1.0), k
    if not quick:
        yield "digits odd or even", X, np.where(y % 2, 1.0, -1.0), k
    wide, narrow = kernels.Gaussian(0.5), kernels.Gaussian(1.0)
    for N in sizes(200, 1000, 5000, quick=quick):
        yield f"blobs {N}", *toydata.two_blobs(N, 2.0, 0), wide
        yield f"moons {N}", *moons(N, 0.25), narrow
    for N in sizes(1000, 5000, quick=quick):
        yield f"overlapping blobs {N}", *toydata.two_blobs(N, 1.0, 0), narrow
        yield f"moons, noise 0.2, {N}", *moons(N, 0.2), narrow


def moons(N, noise):
    X, y = make_moons(N, noise=noise, random_state=0)
    return X, 2.0 * y - 1


def svm_dual(quick):
    for name, X, t, k in svm_problems(quick):
        for C in (0.1, 1.0, 10.0, 1000.0):
            yield _svm_case(name, X, t, k, C)


def svm_large(quick):
    """More than one would keep a Gram matrix for, and three kernels."""
    kinds = kernels.Gaussian(1.0), kernels.Polynomial(3, 1.0), kernels.Linear()
    for N in () if quick else (20_000, 50_000):
        X, t = moons(N, 0.2)
        for k in kinds[: 3 if N == 20_000 else 1]:
            yield _svm_case(f"moons, noise 0.2, {k}", X, t, k, 1.0)


def _svm_case(name, X, t, k, C):
    def error(ours, v):
        rows = np.flatnonzero(v)
        square = sum(
            v[some] @ (k(X[some], X[rows]) @ v[rows])
            for some in np.array_split(rows, 1 + len(rows) // 1000)
        )
        return abs((np.abs(v).sum() - square / 2) / ours.dual - 1)

    return Case(
        "SVM dual, Gram included",
        f"{name}, C = {C:g}",
        len(t),
        lambda: svm.fit(k, X, t, C).svm,
        {"scikit-learn": lambda: peers.svc(X, t, k, C)},
        error,
        1e-3,
        goals={"scikit-learn": 0.5 if C == 1000 and len(t) >= 1000 else 2.0},
        remarks=_certificate,
    )


def _certificate(machine):
    return {
        "certificate": {
            "status": machine.status,
            "relative gap": machine.relative_gap,
            "iterations": machine.iterations,
        }
    }


def svm_certified(quick):
    """Not a race: the certificate at C far beyond what one would use."""
    for name, X, t, k in svm_problems(quick=True):
        K = k(X)
        for C in (1e4, 1e5, 1e6):
            yield Case(
                "SVM dual, large C",
                f"{name}, C = {C:g}",
                len(t),
                partial(svm.fit_dual, K, t, C),
                {},
                relative,
                0.0,
                remarks=_certificate,
            )


def svm_programs(quick):
    """The same dual, handed to solvers of any quadratic program."""
    X, t = moons(QUICK_N, 0.25)
    K = kernels.Gaussian(1.0)(X)
    for C in (1.0,) if quick else (1.0, 10.0):

        def error(ours, v, C=C):
            return abs(svm.dual_objective(v * t, K, t) / ours.dual - 1)

        solvers = {
            "OSQP": partial(peers.osqp_dual, K, t, C),
            "Clarabel": partial(peers.clarabel_dual, K, t, C),
            "CVXOPT": partial(peers.cvxopt_dual, K, t, C),
        }
        yield Case(
            "SVM dual as a quadratic program",
            f"moons, C = {C:g}",
            len(t),
            partial(svm.fit_dual, K, t, C),
            peers.present(solvers),
            error,
            1e-3,
            goals=dict.fromkeys(solvers, 0.2),
            remarks=_certificate,
        )


def dual_logistic(quick):
    k = kernels.Gaussian(0.5)
    for N in sizes(500, 1000, 2000, quick=quick):
        X, t = toydata.two_blobs(N, 2.0, 0)

        def ours(X=X, t=t):
            K = k(X)
            a = kernel_logistic.fit_dual(K, t, lam=1.0).a
            return kernel_logistic.probability(a, K)

        yield Case(
            "kernel logistic (Newton in the dual)",
            "",
            N,
            ours,
            {"scikit-learn": partial(peers.gp_classifier, X, t, k.gamma)},
            relative,
            1e-4,
            goals={"scikit-learn": 0.3},
        )


ALL = {
    "gaussian": gaussian_grams,
    "far": far_from_the_origin,
    "cubic": cubic_grams,
    "ridge": kernel_ridge,
    "gp": gp_regression,
    "evidence": evidence,
    "learning": learning_theta,
    "append": append,
    "svm": svm_dual,
    "svm-large": svm_large,
    "certified": svm_certified,
    "programs": svm_programs,
    "logistic": dual_logistic,
    "nystrom": large.nystrom_ridge,
    "fourier": large.fourier_ridge,
    "iterative": large.conjugate_gradients,
    "inducing": large.inducing_points,
    "distributed": large.rows_on_workers,
}
