"""More than one machine: the normal equations go where the rows are.

Ridge regression on features needs ΦᵀΦ and Φᵀt, which are sums over rows.  So
each block of rows is added up where it lies, by a worker of Dask, and M²/2
numbers come back in its place; rows never gather on one machine.  What comes
back is added in the order of the blocks: the result does not depend on who
computed what, how often, or whether a worker died on the way.

Needs Dask for a cluster: ``pip install "kernelbook[scale]"``.
"""

import pickle
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from numpy.typing import ArrayLike
from scipy.linalg.lapack import dtpttr, dtrttp

from kernelbook import _checks
from kernelbook import _normal_equations as sums
from kernelbook._checks import FloatArray
from kernelbook._progress import Progress

AHEAD = 4  # blocks for each thread that are waiting, at work or not yet added
PATIENCE = 30.0  # seconds without any worker, before the cluster is lost
LOOK = 1.0  # seconds between two looks at a silent cluster


class PartialSums(NamedTuple):
    """What a block of rows becomes: A = ΦᵀΦ, r = Φᵀt and tt = tᵀt.

    ``A`` is (M, M), ``r`` (M,) or (M, Q); ``N`` is the number of rows.
    """

    A: FloatArray
    r: FloatArray
    tt: float
    N: int


def partial_sums(Phi: ArrayLike, t: ArrayLike) -> PartialSums:
    """The part of the normal equations that some rows have.

    A_b = Φ_bᵀΦ_b,  r_b = Φ_bᵀt_b,  and over all blocks ΦᵀΦ = Σ_b A_b and
    Φᵀt = Σ_b r_b.

    Parameters
    ----------
    Phi : (N, M) features of these rows
    t : (N,) their targets, or (N, Q)

    Returns
    -------
    sums : PartialSums

    Examples
    --------
    >>> partial_sums([[1.0], [2.0]], [3.0, 4.0])
    PartialSums(A=array([[5.]]), r=array([11.]), tt=25.0, N=2)
    """
    Phi = _checks.matrix(Phi, "Phi")
    t = _checks.one_or_more_columns(t, "t", len(Phi))
    total = sums.NormalEquations.empty(Phi.shape[1], t.shape[1:])
    total.add(Phi, t)
    return PartialSums(sums.mirrored(total.A), total.r, total.tt, total.N)


@dataclass(frozen=True)
class Traffic:
    """What went over the wire, in bytes; nothing if there is no cluster."""

    to_workers: int = 0
    """The feature map, once for each worker that was there at the start, and
    blocks given as arrays."""
    from_workers: int = 0
    """The sums."""
    blocks: int = 0
    """Number of blocks."""
    rows: int = 0
    """Number of rows."""

    def __add__(self, other: "Traffic") -> "Traffic":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Traffic(*(a + b for a, b in pairs))

    @property
    def per_row(self) -> float:
        """Bytes that were sent for each row, both ways."""
        return (self.to_workers + self.from_workers) / self.rows

    @property
    def per_block(self) -> float:
        """Bytes that were sent for each block, both ways."""
        return (self.to_workers + self.from_workers) / self.blocks


@dataclass(frozen=True, eq=False)
class DistributedRidge(sums.FeatureRidge):
    """Ridge regression on features, fitted by many; made by :func:`ridge`.

    y(x) = wᵀφ(x).
    """

    traffic: Traffic = field(default_factory=Traffic)
    """What was sent."""


def ridge(
    features: Any,
    blocks: Iterable[Any],
    lam: float,
    client: Any = None,
    *,
    progress: bool = True,
) -> DistributedRidge:
    """Ridge regression on features of rows that lie on many machines.

    w = (Σ_b Φ_bᵀΦ_b + λI_M)⁻¹ Σ_b Φ_bᵀt_b, each term made by a worker.

    Parameters
    ----------
    features : feature map, from ``nystrom.feature_map`` or
        ``fourier.feature_map``
    blocks : one entry for each block of rows: a function without arguments
        that gives the pair (X, t), called by the worker; or a pair (X, t),
        which is sent; or a Dask future or delayed object of a pair
    lam : λ > 0
    client : Dask client, or address of a scheduler such as
        ``"tcp://10.0.0.1:8786"``; None adds up here, without a cluster
    progress : report to stderr when it takes longer than ten seconds

    Returns
    -------
    model : DistributedRidge

    Raises
    ------
    ValueError
        If a block is empty or holds NaN, with its number.
    ConnectionError
        If there is no cluster, or it is lost; nothing is fitted then.

    Examples
    --------
    >>> from kernelbook import nystrom
    >>> from kernelbook.kernels import Linear
    >>> phi = nystrom.feature_map(Linear(), [[1.0]])
    >>> blocks = [([[1.0]], [1.0]), ([[2.0]], [1.0])]
    >>> ridge(phi, blocks, lam=1.0).predict([[3.0]]).round(6)
    array([1.5])
    """
    if not isinstance(features, sums.FeatureMap):
        raise ValueError(
            "features must be a feature map of nystrom or fourier, got "
            f"{type(features).__name__}"
        )
    lam, blocks = _checks.positive(lam, "lam"), sums.iterated(blocks)
    shown = Progress("distributed.ridge", progress, waiting=True)
    with _connected(client) as cluster:
        if cluster is None:
            made = _here(features, blocks)
        else:
            made = _Cluster(cluster, features).sums_of(blocks)
        with closing(made):
            total, traffic = _added(made, shown)
    features.finish(total)
    w = total.ridge(lam)
    return DistributedRidge(features, w, total.N, traffic=traffic)


@contextmanager
def local_cluster(workers: int = 2, **options: Any) -> Iterator[Any]:
    """A cluster on this machine: a scheduler and worker processes of Dask.

    Each worker has one thread, and its BLAS too: a core is busy with one
    block.  Workers are new processes that import the main module, so a script
    that calls this does so below ``if __name__ == "__main__":``.  Write ::

        with distributed.local_cluster(2) as client:
            model = distributed.ridge(features, blocks, lam, client)

    Parameters
    ----------
    workers : number of worker processes
    options : for ``dask.distributed.LocalCluster``, such as
        ``memory_limit="1GB"``

    Returns
    -------
    client : a context manager that gives a Dask client
    """
    workers, dask = _checks.count(workers, "workers"), _dask()
    # Its page on any free port: without one the scheduler takes 8787.
    usual = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        dask.LocalCluster(n_workers=workers, **usual | options) as cluster,
        dask.Client(cluster) as client,
    ):
        yield client


# ------------------------------------------------------------ where rows are


class _Made(NamedTuple):
    """Sums over one block as they travel: of A the triangle, column by column.

    ``sent`` are the bytes that it took to ask for them; None if nobody was
    asked.
    """

    triangle: FloatArray
    r: FloatArray
    tt: float
    N: int
    sent: int | None = None

    def traffic(self) -> Traffic:
        """What was sent for this block."""
        if self.sent is None:
            return Traffic(blocks=1, rows=self.N)
        back = self.triangle.nbytes + self.r.nbytes + 16
        return Traffic(self.sent, back, 1, self.N)


def _make(features: sums.FeatureMap, block: Any, number: int) -> _Made:
    """What a worker does with a block."""
    if callable(block):
        block = block()
    made = sums.sums_of_block(features, block, number)
    return _Made(dtrttp(made.A)[0], made.r, made.tt, made.N)


def _here(
    features: sums.FeatureMap, blocks: Iterable[Any]
) -> Generator[_Made]:
    """The same without a cluster."""
    for number, block in enumerate(blocks):
        yield _make(features, block, number)


def _added(
    made: Iterator[_Made], progress: Progress
) -> tuple[sums.NormalEquations, Traffic]:
    """The sums over all blocks, and what was sent for them."""
    total, traffic = None, Traffic()
    for number, one in enumerate(made):
        part = sums.NormalEquations(one.triangle.copy(), *one[1:4])
        total = sums.joined(total, part, number)
        traffic += one.traffic()
        progress(f"{traffic.rows} rows in {traffic.blocks} blocks")
    if total is None:
        raise ValueError("blocks must hold at least one block, got none")
    total.A = dtpttr(len(total.r), total.A)[0]
    return total, traffic


class _Cluster:
    """Hands blocks to workers, and what they make on in order."""

    def __init__(self, client: Any, features: sums.FeatureMap) -> None:
        self.client, self.features = client, features
        self.address = client.scheduler.address
        self.done = 0
        with self._in_touch():
            self._anybody()

    def sums_of(self, blocks: Iterable[Any]) -> Generator[_Made]:
        """The sums over each block, in order; few blocks are under way.

        The feature map is a task, not data: it can be made again.
        """
        asked: deque[tuple[Any, int]] = deque()
        size = len(pickle.dumps(self.features, protocol=5)) * self.workers
        features, numbered = (
            self._submit(_itself, self.features),
            enumerate(blocks),
        )
        try:
            while True:
                more = AHEAD * self.threads - len(asked)
                for number, block in islice(numbered, max(0, more)):
                    there = self._there(block)
                    future = self._submit(_make, features, there, number)
                    asked.append((future, size + _bytes(block)))
                    size = 0
                if not asked:
                    return
                future, sent = asked.popleft()
                yield self._result(future)._replace(sent=sent)
                self.done += 1
        finally:
            for future, _ in asked:
                future.release()

    def _anybody(self) -> bool:
        """Whether there are workers; notes how many, as they come and go."""
        threads = self.client.nthreads()
        self.workers = max(1, len(threads))
        self.threads = max(1, sum(threads.values()))
        return bool(threads)

    def _there(self, block: Any) -> Any:
        """A block as a task takes it: what is delayed, as a future."""
        if not hasattr(block, "__dask_graph__"):
            return block
        with self._in_touch():
            return self.client.compute(block)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A task, the same for the same arguments only if it is this one."""
        with self._in_touch(), warnings.catch_warnings():
            # Dask would rather have large arguments scattered, but these
            # would be lost with a worker.
            warnings.simplefilter("ignore", UserWarning)
            return self.client.submit(function, *arguments, pure=False)

    def _result(self, future: Any) -> _Made:
        """What the worker made of the block that is next.

        Its worker may die after it was made and before it is here: so it is
        not waited for without end, and longer only if the wire is slow.
        """
        limit = PATIENCE
        while True:
            self._wait_for(future)
            with self._in_touch():
                try:
                    made: _Made = future.result(timeout=limit)
                    return made
                except Exception as error:
                    failed = future.status == "error"
                    if not (failed or isinstance(error, TimeoutError)):
                        raise
            if failed:
                raise self._what_happened(future.exception())
            limit *= 2

    def _wait_for(self, future: Any) -> None:
        """Until a task is done, or nobody has been there for a while."""
        seen = time.monotonic()
        while not future.done():
            with self._in_touch():
                if self._anybody():
                    seen = time.monotonic()
                if time.monotonic() - seen > PATIENCE:
                    raise CancelledError
                with suppress(TimeoutError):
                    _dask().wait(future, timeout=LOOK)

    def _what_happened(self, error: Exception) -> Exception:
        """The error of a task, which says where."""
        if isinstance(error, _dask().KilledWorker):
            return ConnectionError(
                f"block {self.done} was given up: its workers died, one after "
                "the other; is there memory enough for it, and for a block "
                "beside it? Nothing was fitted"
            )
        if not isinstance(error, ValueError):
            error.add_note(f"in block {self.done}")
        return error

    @contextmanager
    def _in_touch(self) -> Iterator[None]:
        """What Dask raises when it has lost its cluster, in plain words."""
        try:
            yield
        except (
            CancelledError,
            OSError,
            _dask().client.ClosedClientError,
        ) as error:
            raise ConnectionError(
                f"the cluster at {self.address} was lost after {self.done} "
                "blocks, or has no workers; nothing was fitted"
            ) from error


def _itself(features: sums.FeatureMap) -> sums.FeatureMap:
    return features


def _bytes(block: Any) -> int:
    """What it takes to send a block: nothing to speak of, unless arrays."""
    if not isinstance(block, tuple | list):
        return 0
    return sum(int(getattr(part, "nbytes", 0)) for part in block)


@contextmanager
def _connected(client: Any) -> Iterator[Any]:
    """A client of the cluster that is meant; closed if it was opened here."""
    if client is None or hasattr(client, "submit"):
        if getattr(client, "status", None) == "closed":
            raise ConnectionError("client is closed; nothing was fitted")
        yield client
        return
    if not isinstance(client, str):
        raise ValueError(
            "client must be a Dask client, the address of a scheduler or "
            f"None, got {type(client).__name__}"
        )
    try:
        opened = _dask().Client(client)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no scheduler of Dask answers at {client!r}; nothing was fitted"
        ) from error
    with opened:
        yield opened


def _dask() -> Any:
    """Dask's distributed package, which is needed for a cluster only."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            'a cluster needs Dask: pip install "kernelbook[scale]"'
        ) from error
    return distributed
