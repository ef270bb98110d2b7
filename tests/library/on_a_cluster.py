"""What a real scheduler and real workers do; run by test_distributed.

A process of its own, because workers are spawned.  Prints what it saw.
"""

import json
import os
import signal
import time
import warnings
from functools import partial
from logging import CRITICAL
from pathlib import Path

import dask
import numpy as np
from threadpoolctl import threadpool_info  # type: ignore[import-untyped]

from kernelbook import distributed, fourier, nystrom
from kernelbook.kernels import Gaussian

BLOCKS, ROWS, M = 12, 2000, 40


def rows(number, flag=None, slow=0.0):
    """A block of rows, made where it is needed; says that it was begun."""
    if flag is not None:
        with open(flag, "a") as file:
            file.write(f"{number} {os.getpid()}\n")
        time.sleep(slow)
    rng = np.random.default_rng(number)
    X = rng.standard_normal((ROWS, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(ROWS)


def deadly(number, flag):
    """A block that nobody survives."""
    if number == 5:
        with open(flag, "a") as file:
            file.write("begun\n")
        os.kill(os.getpid(), signal.SIGKILL)
    return rows(number)


def error(one, two):
    return float(np.abs(one.w - two.w).max() / np.abs(two.w).max())


def blas_threads():
    return max(one["num_threads"] for one in threadpool_info())


def kill_one(flag):
    """Kill the worker that began a block, once some have been begun."""
    while not Path(flag).exists() or len(Path(flag).read_text().split()) < 8:
        time.sleep(0.01)
    victim = int(Path(flag).read_text().split()[-1])
    os.kill(victim, signal.SIGKILL)
    Path(f"{flag}.killed").write_text(str(victim))


def main(folder):
    from threading import Thread

    said = {}
    X = np.random.default_rng(99).standard_normal((M, 3))
    phi = nystrom.feature_map(Gaussian(0.3), X)
    plain = [partial(rows, i) for i in range(BLOCKS)]
    local = nystrom.fit_blocks(phi.k, (b() for b in plain), 0.1, X)
    with distributed.local_cluster(2) as client:
        said["threads"] = list(client.run(blas_threads).values())
        said["workers"] = list(client.nthreads().values())
        calm = distributed.ridge(phi, plain, 0.1, client)
        said["error"] = error(calm, local)
        said["rows"] = [calm.N, local.N]
        said["traffic"] = vars(calm.traffic)

        flag = f"{folder}/begun"
        slow = [partial(rows, i, flag, 0.3) for i in range(BLOCKS)]
        Thread(target=kill_one, args=[flag], daemon=True).start()
        hurt = distributed.ridge(phi, slow, 0.1, client)
        said["killed is the same"] = bool(np.array_equal(hurt.w, calm.w))
        begun = [line.split() for line in Path(flag).read_text().splitlines()]
        said["begun again"] = len(begun) - BLOCKS
        victim = Path(f"{flag}.killed").read_text()
        said["victim's blocks"] = sum(who == victim for _, who in begun)
        said["victim is gone"] = (
            int(victim) not in client.run(os.getpid).values()
        )

        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with distributed.local_cluster(1):
                said["beside another"] = [str(one.message) for one in warned]

        address = client.scheduler.address
        arrays = [rows(i) for i in range(BLOCKS)]
        sent = distributed.ridge(phi, arrays, 0.1, address)
        said["sent"] = [error(sent, calm), sent.traffic.to_workers]
        lazy = [dask.delayed(rows)(i) for i in range(BLOCKS)]
        late = distributed.ridge(phi, lazy, 0.1, client)
        futures = [client.submit(rows, i) for i in range(BLOCKS)]
        held = distributed.ridge(phi, futures, 0.1, client)
        said["lazy"] = [error(late, calm), error(held, calm)]

        waves = fourier.feature_map(Gaussian(0.3), 3, 64, 0, dtype=np.float32)
        here = fourier.fit_blocks(waves, arrays, 0.1)
        said["waves"] = error(
            distributed.ridge(waves, plain, 0.1, client), here
        )

        arrays[3][0][5, 1] = np.nan
        try:
            distributed.ridge(phi, arrays, 0.1, client)
        except ValueError as wrong:
            said["nan"] = str(wrong)
        missing = partial(np.load, f"{folder}/not_there.npy")
        try:
            distributed.ridge(phi, [plain[0], missing], 0.1, client)
        except FileNotFoundError as wrong:
            said["missing"] = wrong.__notes__

        def lose():
            time.sleep(0.5)
            client.cluster.close()

        Thread(target=lose, daemon=True).start()
        more = [partial(rows, i, f"{folder}/x", 0.3) for i in range(BLOCKS)]
        try:
            distributed.ridge(phi, more, 0.1, client)
        except ConnectionError as wrong:
            said["lost"] = str(wrong)
        try:
            distributed.ridge(phi, more, 0.1, client)
        except ConnectionError as wrong:
            said["closed"] = str(wrong)
    flag = f"{folder}/deaths"
    kills = [partial(deadly, i, flag) for i in range(BLOCKS)]
    with distributed.local_cluster(2, silence_logs=CRITICAL) as client:
        try:
            distributed.ridge(phi, kills, 0.1, client)
        except ConnectionError as wrong:
            deaths = len(Path(flag).read_text().split())
            said["deadly"] = [str(wrong), deaths]
    dask.config.set({"distributed.comm.timeouts.connect": "500ms"})
    try:
        distributed.ridge(phi, plain, 0.1, "tcp://127.0.0.1:9")
    except ConnectionError as wrong:
        said["nobody"] = str(wrong)
    print(json.dumps(said))


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
