"""What a few operations are made of: ``make bench`` takes them apart.

CPU seconds with one BLAS thread, medians of several runs, and the shortest of
support vector machines.  The page *How fast is it?* explains with them what
the table of results shows.
"""

import cProfile
import json
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from contextlib import ExitStack
from functools import partial, partialmethod
from itertools import combinations_with_replacement
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.linalg.lapack import dtrtrs
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks import large, operations, peers
from benchmarks.report import RESULTS, rounded
from kernelbook import (
    _interior_point,
    _rows,
    _svm_large,
    _svm_solver,
    kernels,
    learning,
    nystrom,
    svm,
)

LIKELIHOOD = "log_marginal_likelihood"
PRICES = (0.1, 1.0, 10.0, 1000.0)
PARTS = Path(__file__).with_name("anatomy.json")


def seconds(run, rounds=5, middle=statistics.median):
    """Median CPU seconds, after a first run that does not count."""
    run()
    spent = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        spent.append(time.process_time() - start)
    return middle(spent)


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
            "NumPy alone": seconds(partial(bare_entries, X), rounds),
        }


def bare_entries(X, side=128):
    """By NumPy, with nothing around it: half of K, once more with its sums.

    Of 128 rows and columns at a time, which stay in a core's cache.
    """
    cuts = [slice(i, i + side) for i in range(0, len(X), side)]
    for derivatives in (False, True):
        for rows, columns in combinations_with_replacement(cuts, 2):
            S = cdist(X[rows], X[columns], "sqeuclidean")
            E, line = np.exp(S), X[rows] @ X[columns].T
            if derivatives:
                W = E - line  # in the place of aaᵀ - C⁻¹
                for by_theta in (E, E * S, line):
                    np.vdot(W, by_theta)
                W.sum()
            else:
                E += line


def append(N=2000):
    """Two triangular solves are all that must be done anew."""
    (case,) = (c for c in operations.append(quick=False) if c.N == N)
    refit = case.peers["refit"]
    U, u = np.asfortranarray(np.eye(N)), np.ones(N)
    yield {
        "operation": case.operation,
        "N": N,
        "kernelbook": seconds(case.ours),
        "refit": seconds(refit),
        "two solves": seconds(
            lambda: (dtrtrs(U, u, trans=1), dtrtrs(U, u)), 15
        ),
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


def missed_machines():
    """The cases of support vector machines that miss their goals."""
    results = json.loads(RESULTS.read_text("utf-8"))["results"]
    for r in results:
        seconds = r["seconds"]
        if r["operation"] == "SVM dual, Gram included" and (
            seconds["kernelbook"]
            > r["goals"]["scikit-learn"] * seconds["scikit-learn"]
        ):
            yield r["series"]


def svm_steps():
    """What a machine that misses its goal is made of, and SVC's steps."""
    missed = list(missed_machines())
    for name, X, t, k in operations.svm_problems(quick=False):
        for C in (C for C in PRICES if f"{name}, C = {C:g}" in missed):
            libsvm = SVC(C=C, gamma=k.gamma, tol=1e-6, cache_size=1000)
            spent = [taken_apart(k, X, t, C) for _ in range(15)]
            calls = cProfile.Profile()
            calls.runcall(svm.fit, k, X, t, C)
            yield {
                "operation": "SVM dual, Gram included",
                "series": f"{name}, C = {C:g}",
                "N": len(t),
                **{part: min(s[part] for s in spent) for part in spent[0]},
                "scikit-learn": seconds(partial(libsvm.fit, X, t), 15, min),
                "their steps": int(libsvm.n_iter_[0]),
                "calls": sum(entry.callcount for entry in calls.getstats()),
            }


def taken_apart(k, X, t, C):
    """Seconds of a fit, and of its parts."""
    spent = dict.fromkeys((part for *_, part in TIMED), 0.0)
    with ExitStack() as stack:
        for place, name, part in TIMED:
            timed = partial(adding_up, spent, part, getattr(place, name))
            method = isinstance(place, type)
            run = partialmethod(timed) if method else timed
            stack.enter_context(patch.object(place, name, run))
        start = time.process_time()
        machine = svm.fit(k, X, t, C).svm
        spent["kernelbook"] = time.process_time() - start
    return spent | {"steps": machine.iterations}


def adding_up(spent, part, function, *given):
    """What the function answers; the time it takes is added to a part."""
    start = time.process_time()
    answer = function(*given)
    spent[part] += time.process_time() - start
    return answer


TIMED = (
    (svm, "gram", "Gram matrix"),
    (_rows.Made, "_new", "Gram matrix"),
    (_rows, "combined", "sums of rows"),
    (_svm_solver, "combined", "sums of rows"),
    (_svm_solver, "pair_steps", "pair steps"),
    (_svm_solver, "free_solver", "factors"),
    (_svm_large, "free_solver", "factors"),
    (_interior_point.LowRank, "plus", "factors"),
    (_interior_point.Dense, "plus", "factors"),
)


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
    """All of it, or what is named; the rest of the file stays as it is."""
    kinds = (
        *(gram_matrices, evidence, append, learning_theta),
        *(svm_steps, first_use, nystrom_memory),
    )
    wanted = sys.argv[1:] or [kind.__name__ for kind in kinds]
    some = [kind for kind in kinds if kind.__name__ in wanted]
    new = [part for kind in some for part in kind()]
    print(*new, sep="\n")
    taken = {part["operation"] for part in new}
    parts = json.loads(PARTS.read_text("utf-8"))
    parts = [part for part in parts if part["operation"] not in taken] + new
    text = json.dumps(rounded(parts), indent=1, ensure_ascii=False)
    PARTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
