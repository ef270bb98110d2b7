"""Measure the library against scikit-learn: ``make bench``.

CPU time with one BLAS thread, runs interleaved, medians; results are compared
before anything is timed.  A ratio below 1 means kernelbook is faster.
"""

import statistics
import time

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from kernelbook import kernels, ridge

REPEATS = 5


def cpu_seconds(run):
    start = time.process_time()
    run()
    return time.process_time() - start


def compare(name, ours, theirs, rtol=1e-8):
    """Assert agreement, then print the ratio of median CPU times."""
    a, b = ours(), theirs()
    scale = np.abs(b).max()
    if not np.allclose(a, b, rtol=rtol, atol=rtol * scale):
        worst = np.abs(a - b).max() / scale
        raise SystemExit(f"{name}: results differ by {worst:.1e} (relative)")
    pairs = [(cpu_seconds(ours), cpu_seconds(theirs)) for _ in range(REPEATS)]
    mine, peer = (
        statistics.median(times) for times in zip(*pairs, strict=True)
    )
    print(f"{name:36} {mine:9.4f} {peer:9.4f} {mine / peer:7.2f}", flush=True)


def kernel_ridge(X, t, Z, gamma, lam):
    k = kernels.Gaussian(gamma)
    return ridge.predict(ridge.dual_coefficients(k(X), t, lam), k(X, Z))


def main():
    print(f"{'operation':36} {'ours, s':>9} {'peer, s':>9} {'ratio':>7}")
    rng = np.random.default_rng(0)
    for N in (500, 1000, 2000):
        X, Z = rng.standard_normal((N, 5)), rng.standard_normal((200, 5))
        t = np.sin(X[:, 0]) + X[:, 1]
        gaussian, cubic = kernels.Gaussian(0.1), kernels.Polynomial(3, 1.0)
        peer = KernelRidge(kernel="rbf", gamma=0.1, alpha=0.1)
        compare(
            f"Gaussian Gram, N = {N}",
            lambda X=X, k=gaussian: k(X),
            lambda X=X: rbf_kernel(X, gamma=0.1),
        )
        compare(
            f"cubic Gram, N = {N}",
            lambda X=X, k=cubic: k(X),
            lambda X=X: polynomial_kernel(X, degree=3, gamma=1.0, coef0=1.0),
        )
        compare(
            f"kernel ridge, fit + predict, N = {N}",
            lambda X=X, t=t, Z=Z: kernel_ridge(X, t, Z, 0.1, 0.1),
            lambda X=X, t=t, Z=Z, p=peer: p.fit(X, t).predict(Z),
        )


if __name__ == "__main__":
    main()
