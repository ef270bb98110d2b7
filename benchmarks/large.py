"""The operations of part VI, on data of which no Gram matrix is made."""

import re
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.measure import Case
from kernelbook import (
    distributed,
    fourier,
    inducing,
    iterative,
    kernels,
    nystrom,
    ridge,
)

D, M, LAM, BETA = 20, 1000, 1.0, 20.0
K = kernels.Gaussian(1 / D)


def rows(N, seed, columns=D):
    """Inputs, and targets with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, columns))
    return X, truth(X) + BETA**-0.5 * rng.standard_normal(N)


def truth(X):
    return np.sin(X[:, 0]) + X[:, 1]


def relative(ours, theirs):
    a, b = np.asarray(ours), np.asarray(theirs)
    return np.abs(a - b).max() / np.abs(b).max()


def nystrom_ridge(quick):
    for N in (10_000,) if quick else (10_000, 30_000, 100_000):
        (X, t), (Z, _) = rows(N, 0), rows(200, 1)
        L = X[peers.nystroem_landmarks(N, M)]

        def ours(X=X, t=t, Z=Z, L=L):
            return nystrom.fit(K, X, t, LAM, L).predict(Z)

        yield Case(
            "Nyström ridge fit + predict",
            f"M = {M}, D = {D}",
            N,
            ours,
            {
                "scikit-learn": partial(
                    peers.nystroem_ridge, X, t, Z, K.gamma, LAM, M
                )
            },
            relative,
            1e-8,
            goals={"scikit-learn": 0.35, "memory": 1 + 0.53}
            if N == 100_000
            else {},
            memory=N == 100_000,
            unit=M**2,
        )


def fourier_ridge(quick):
    """Features are drawn: what must agree is how far from the truth one is.

    One draw of each differs by some per cent, either way; over ten draws at
    N = 10 000 the errors are equal within their standard errors.
    """
    for N in (10_000,) if quick else (10_000, 30_000, 100_000):
        (X, t), (Z, _) = rows(N, 0), rows(2000, 1)
        exact = truth(Z)

        def ours(X=X, t=t, Z=Z, dtype=np.float32):
            return fourier.fit(K, X, t, LAM, M, 0, dtype=dtype).predict(Z)

        def worse(ours, theirs, exact=exact):
            mine, other = (np.std(y - exact) for y in (ours, theirs))
            return max(mine / other - 1, 0.0)

        def facts(y, exact=exact):
            return {"error of the fit": float(np.std(y - exact))}

        yield Case(
            "random features ridge fit + predict",
            f"M = {M}, D = {D}",
            N,
            ours,
            {
                "scikit-learn": partial(
                    peers.sampler_ridge, X, t, Z, K.gamma, LAM, M
                ),
                "float64": partial(ours, dtype=np.float64),
            },
            worse,
            0.05,
            goals={"scikit-learn": 0.5} if N == 100_000 else {},
            memory=N == 100_000,
            unit=M**2,
            remarks=facts,
        )


def conjugate_gradients(quick):
    k, lam = kernels.Gaussian(0.1), 0.1
    for N in (2500,) if quick else (2500, 5000, 10_000, 20_000):
        (X, t), (Z, _) = rows(N, 0, 5), rows(200, 1, 5)
        L = X[nystrom.uniform_landmarks(N, 400, 0)]

        def ours(X=X, t=t, Z=Z, L=L):
            model = iterative.fit(k, X, t, lam, L, tolerance=1e-8)
            return model.predict(Z)

        def exact(X=X, t=t, Z=Z):
            a = ridge.fit_dual(k(X), t, lam, overwrite=True)
            return ridge.predict(a, k(X, Z))

        yield Case(
            "kernel ridge by conjugate gradients",
            "400 landmarks",
            N,
            ours,
            {"Cholesky": exact},
            relative,
            1e-6,
            goals={"Cholesky": 1.0, "memory": 0.05} if N == 20_000 else {},
            memory=N == 20_000,
        )


def inducing_points(quick):
    k = 2.0 * kernels.Gaussian(1 / D)
    for N in (10_000,) if quick else (10_000, 30_000, 100_000):
        X, t = rows(N, 0)
        L = X[nystrom.uniform_landmarks(N, 500, 0)]

        def error(ours, theirs):
            value = abs(ours[0] - theirs[0]) / abs(theirs[0])
            return max(value, relative(list(ours[1].values()), theirs[1]))

        def ours(X=X, t=t, L=L):
            return inducing.bound(k, X, t, BETA, L)

        runs = {}
        if peers.present({"GPyTorch": None}):
            runs["GPyTorch"] = peers.sgpr(X, t, L, 1 / D, 2.0, BETA)
        yield Case(
            "inducing points, bound + gradient",
            f"M = 500, D = {D}",
            N,
            ours,
            runs,
            error,
            1e-6,
            goals={"GPyTorch": 0.5} if N == 100_000 else {},
            memory=N == 100_000,
            unit=500**2,
        )


# ------------------------------------------------------------ two workers

BLOCK = 50_000  # rows


def peak_memory():
    """Of a process until now, in MB.

    As /proc has it: getrusage also counts what the process that started it
    held at that time.
    """
    status = Path("/proc/self/status").read_text("utf-8")
    (peak,) = re.findall(r"VmHWM:\s+(\d+)", status)
    return int(peak) / 1024


def rows_on_workers(quick):
    """Seconds of the wall: a loop here, and the same rows on two workers.

    Rows are made where they are needed, so that they fit nowhere at once.
    """
    X, _ = rows(M, 99)
    phi = nystrom.feature_map(K, X)
    Z, _ = rows(200, 1)
    for N in (200_000,) if quick else (500_000, 2_000_000, 10_000_000):
        blocks = [partial(rows, BLOCK, s) for s in range(N // BLOCK)]
        spent: dict[str, Any] = {}

        def two_workers(blocks=blocks, spent=spent):
            """The start of the cluster does not count: it can stay."""
            model = distributed.ridge(phi, blocks, LAM, spent["client"])
            spent["traffic"] = model.traffic
            return model.predict(Z)

        def loop(blocks=blocks):
            return distributed.ridge(phi, blocks, LAM).predict(Z)

        def facts(_, spent=spent):
            client, traffic = spent["client"], spent["traffic"]
            busy = client.run(time.process_time).values()
            return {
                "workers": {
                    "peak MB": max(client.run(peak_memory).values()),
                    "CPU seconds": sum(busy) - spent["before"],
                    "bytes per row": traffic.per_row,
                    "bytes per block": traffic.per_block,
                }
            }

        with distributed.local_cluster(2) as client:
            spent["client"] = client
            client.run(peak_memory)
            client.submit(phi, Z).result()  # imports, once
            spent["before"] = sum(client.run(time.process_time).values())
            yield Case(
                "ridge over rows on two workers",
                f"M = {M}, D = {D}, wall",
                N,
                two_workers,
                {"one process": loop} if N < 10**7 else {},
                relative,
                1e-10,
                goals={"one process": 1.3 / 2} if N == 2_000_000 else {},
                clock=time.perf_counter,
                remarks=facts,
            )
