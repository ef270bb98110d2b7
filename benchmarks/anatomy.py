"""What a few operations are made of: ``make bench`` takes them apart.

CPU seconds with one BLAS thread, medians of several runs.  The page *How fast
is it?* explains with them what the table of results shows.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from unittest.mock import patch

from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks import large, operations, peers
from benchmarks.report import rounded
from kernelbook import kernels, learning, nystrom, svm, toydata

LIKELIHOOD = "log_marginal_likelihood"
PARTS = Path(__file__).with_name("anatomy.json")


def seconds(run, rounds=5):
    """Median CPU seconds, after a first run that does not count."""
    run()
    spent = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def gram_matrices(N=5000):
    """Both sides leave the inner products to the same BLAS."""
    for D in (2, 20, 200):
        X, k = operations.cloud(N, D), kernels.Gaussian(1 / D)
        yield {
            "operation": "RBF Gram matrix",
            "series": f"D = {D}",
            "N": N,
            "kernelbook": seconds(lambda k=k, X=X: k(X)),
            "scikit-learn": seconds(
                lambda X=X, k=k: rbf_kernel(X, gamma=k.gamma)
            ),
            "product": seconds(lambda X=X: X @ X.T),
        }


def evidence():
    """The limit counts the factor and its inverse, not the N² entries."""
    k = kernels.ExponentialQuadratic(operations.THETA)
    for N in (500, 1000, 2000, 5000):
        X, t = operations.regression(N)
        limit = operations.potrf_of(k, X, invert=True)
        rounds = 5 if N < 5000 else 1
        yield {
            "operation": "log marginal likelihood + gradient",
            "N": N,
            "kernelbook": seconds(
                lambda X=X, t=t: learning.evidence(k, X, t, operations.BETA),
                rounds,
            ),
            "potrf + potri": statistics.median(limit() for _ in range(rounds)),
            "Gram matrix": seconds(lambda X=X: k(X), rounds),
        }


def learning_theta():
    """How often each climbs, and what one step of it costs."""
    k = kernels.ExponentialQuadratic((1.0, 1.0, 1.0, 1.0))
    for N in (200, 500):
        X, t = operations.regression(N)
        tries = learning.learn(k, X, t, 10.0).tries
        with patch.object(
            GaussianProcessRegressor, LIKELIHOOD, autospec=True,
            side_effect=getattr(GaussianProcessRegressor, LIKELIHOOD),
        ) as theirs:  # fmt: skip
            peers.learned_scikit(X, t, k.theta, 10.0)
        yield {
            "operation": "learning θ (L-BFGS)",
            "N": N,
            "evaluations": {
                "kernelbook": sum(one.evaluations for one in tries),
                "scikit-learn": theirs.call_count,
            },
        }


def svm_steps(N=5000):
    """How many steps each takes, and what of ours is the Gram matrix."""
    k = kernels.Gaussian(1.0)
    for name, (X, t), C in (
        ("overlapping blobs", toydata.two_blobs(N, 1.0, 0), 0.1),
        ("moons, noise 0.2,", operations.moons(N, 0.2), 1000.0),
    ):
        libsvm = SVC(C=C, gamma=k.gamma, tol=1e-6, cache_size=1000)
        yield {
            "operation": "SVM dual, Gram included",
            "series": f"{name} {N}, C = {C:g}",
            "N": N,
            "kernelbook": seconds(
                lambda X=X, t=t, C=C: svm.fit(k, X, t, C), 3
            ),
            "scikit-learn": seconds(lambda X=X, t=t, s=libsvm: s.fit(X, t), 3),
            "Gram matrix": seconds(lambda X=X: k(X), 3),
            "steps": {
                "kernelbook": svm.fit(k, X, t, C).svm.iterations,
                "scikit-learn": int(libsvm.n_iter_[0]),
            },
        }


FIRST = """
import os
from benchmarks import operations
from kernelbook import kernels
X, k = operations.cloud({N}, {D}), kernels.Gaussian(1 / {D})
k(X[:100])
for _ in range(3):
    before = os.times()
    k(X)
    after = os.times()
    print(after.user - before.user, after.system - before.system)
"""


def first_use(N=10_000):
    """A large matrix is dear the first time that a machine hands it out."""
    for D in (2, 20):
        done = subprocess.run(
            [sys.executable, "-c", FIRST.format(N=N, D=D)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ,
        )
        calls = [line.split() for line in done.stdout.splitlines()]
        yield {
            "operation": "first use of memory",
            "series": f"D = {D}",
            "N": N,
            "user": [float(user) for user, _ in calls],
            "system": [float(system) for _, system in calls],
        }


def nystrom_memory(N=20_000):
    """What the map keeps of a fit's memory, in M × M matrices."""
    (X, t), M = large.rows(N, 0), large.M
    L, peaks = X[peers.nystroem_landmarks(N, M)], []
    for run in (
        lambda: nystrom.feature_map(large.K, L),
        lambda: nystrom.fit(large.K, X, t, large.LAM, L),
    ):
        tracemalloc.start()
        kept = run()
        peaks.append([m / (8 * M**2) for m in tracemalloc.get_traced_memory()])
        tracemalloc.stop()
        del kept
    yield {
        "operation": "Nyström ridge fit + predict",
        "N": N,
        "memory": {"map": peaks[0][0], "whole": peaks[1][1]},
    }


def main():
    kinds = (
        *(gram_matrices, evidence, learning_theta, svm_steps),
        *(first_use, nystrom_memory),
    )
    parts = [part for kind in kinds for part in kind()]
    text = json.dumps(rounded(parts), indent=1, ensure_ascii=False)
    PARTS.write_text(text + "\n", encoding="utf-8")
    print(*parts, sep="\n")


if __name__ == "__main__":
    main()
