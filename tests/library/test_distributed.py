"""Rows on many machines: the same result, whoever computes or dies."""

import builtins
import json
import os
import pickle
import subprocess
import sys
import warnings
from collections import Counter
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelbook import _progress, distributed, fourier, nystrom
from kernelbook.kernels import Gaussian

K = Gaussian(0.5)


def blocks(count=5, rows=30, Q=None):
    rng = np.random.default_rng(0)
    made = []
    for _ in range(count):
        X = rng.normal(size=(rows, 2))
        t = np.sin(X[:, 0]) + 0.1 * rng.normal(size=rows)
        made.append((X, t if Q is None else np.outer(t, 1 + np.arange(Q))))
    return made


def features(M=6):
    return nystrom.feature_map(K, np.random.default_rng(1).normal(size=(M, 2)))


# --------------------------------------------------------- without a cluster


@pytest.mark.parametrize("Q", [None, 2])
def test_sums_over_blocks_give_the_fit_of_all_rows(Q):
    parts, phi = blocks(Q=Q), features()
    X, t = (np.concatenate(each) for each in zip(*parts, strict=True))
    whole = nystrom.fit(K, X, t, 0.1, phi.landmarks)
    model = distributed.ridge(phi, parts, 0.1)
    called = distributed.ridge(phi, [lambda b=b: b for b in parts], 0.1)
    assert_allclose(model.w, whole.w, rtol=1e-9)
    assert np.array_equal(model.w, called.w)
    assert_allclose(model.predict(X[:3]), whole.predict(X[:3]), rtol=1e-9)
    assert (model.N, model.status) == (150, "converged")
    assert model.traffic == distributed.Traffic(0, 0, 5, 150)


def test_other_features_are_added_up_too():
    phi = fourier.feature_map(K, 2, 10, 0)
    ours = distributed.ridge(phi, blocks(), 0.1)
    assert_allclose(ours.w, fourier.fit_blocks(phi, blocks(), 0.1).w)


@pytest.mark.parametrize("Q", [None, 2])
def test_partial_sums_add_up_to_the_normal_equations(Q):
    rng = np.random.default_rng(0)
    Phi, t = rng.normal(size=(20, 3)), rng.normal(size=(20, Q or 1))
    t = t if Q else t[:, 0]
    parts = [distributed.partial_sums(Phi[:8], t[:8]),
             distributed.partial_sums(Phi[8:], t[8:])]  # fmt: skip
    A, r, tt, N = (sum(each) for each in zip(*parts, strict=True))
    assert_allclose(A, Phi.T @ Phi)
    assert_allclose(r, Phi.T @ t)
    assert tt == pytest.approx((t**2).sum())
    assert N == 20


def test_what_is_wrong_is_named():
    phi, parts = features(), blocks()
    parts[2][0][4, 1] = np.nan
    with pytest.raises(ValueError, match=r"^block 2: X must be finite, got 1"):
        distributed.ridge(phi, parts, 0.1)
    with pytest.raises(ValueError, match="lam must be > 0"):
        distributed.ridge(phi, blocks(), 0.0)
    with pytest.raises(ValueError, match="features must be a feature map of"):
        distributed.ridge(np.ones(3), blocks(), 0.1)
    with pytest.raises(ValueError, match="blocks must hold at least one bloc"):
        distributed.ridge(phi, [], 0.1)
    with pytest.raises(ValueError, match=r"blocks must be a list .* got int"):
        distributed.ridge(phi, 3, 0.1)
    with pytest.raises(
        ValueError, match=r"client must be a Dask client, .*int"
    ):
        distributed.ridge(phi, blocks(), 0.1, 7)
    mixed = [blocks(1)[0], blocks(1, Q=2)[0]]
    with pytest.raises(ValueError, match=r"^block 1: t must have the outputs"):
        distributed.ridge(phi, mixed, 0.1)


def test_a_cluster_needs_dask(monkeypatch):
    real = builtins.__import__

    def without_dask(name, *rest):
        if name == "distributed":
            raise ImportError
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_dask)
    with pytest.raises(ImportError, match=r'pip install "kernelbook\[scale\]'):
        distributed.ridge(features(), blocks(), 0.1, "tcp://127.0.0.1:1")
    distributed.ridge(features(), blocks(), 0.1)


def test_waiting_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "EVERY", 10.0)
    clock = iter(np.arange(0.0, 1e4, 6.0))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    distributed.ridge(features(), blocks(), 0.1)
    said = capsys.readouterr().err
    assert "distributed.ridge: " in said
    assert "150 rows in 5 blocks" in said
    distributed.ridge(features(), blocks(), 0.1, progress=False)
    assert capsys.readouterr().err == ""


def test_traffic_is_counted_by_row_and_by_block():
    sent = distributed.Traffic(60, 40, 4, 50)
    assert (sent.per_row, sent.per_block) == (2.0, 25.0)
    total = sent + distributed.Traffic(1, 2, 3, 4)
    assert total == distributed.Traffic(61, 42, 7, 54)


# --------------------------------------------------------- a cluster on paper


class Future:
    """The result of a task, or how it failed."""

    def __init__(self, client, task, number):
        self.client, self.task, self.number = client, task, number
        self.status = "pending"

    def done(self):
        return self.status != "pending"

    def work(self):
        function, *arguments = self.task
        given = [a.result() if isinstance(a, Future) else a for a in arguments]
        try:
            self.value, self.status = function(*given), "finished"
        except Exception as error:
            self.error, self.status = error, "error"

    def result(self, timeout=None):
        if self.status == "cancelled":
            raise CancelledError
        if self.status == "pending":
            self.work()
        if self.status == "error":
            raise self.error
        return self.value

    def exception(self):
        return self.error

    def release(self):
        self.client.released.append(self.number)


class Client:
    """A scheduler that counts, and works when it is waited for."""

    status = "running"

    def __init__(self, workers=2, threads=1):
        self.workers, self.threads = workers, threads
        self.scheduler = SimpleNamespace(address="tcp://paper:1")
        self.most, self.released, self.futures = 0, [], []
        self.pure = Counter()

    def submit(self, function, *arguments, pure):
        warnings.warn("Sending large graph", UserWarning, stacklevel=2)
        number = arguments[-1] if len(arguments) > 1 else None
        self.pure[pure] += 1
        self.futures.append(Future(self, (function, *arguments), number))
        waiting = [f for f in self.futures if not f.done()]
        self.most = max(self.most, len(waiting))
        return self.futures[-1]

    def compute(self, lazy):
        future = Future(self, (lambda: lazy.value,), None)
        return future

    def nthreads(self):
        return dict.fromkeys(range(self.workers), self.threads)


class ClosedClientError(Exception):
    pass


class KilledWorker(Exception):  # noqa: N818 (its name in Dask)
    pass


@pytest.fixture
def paper(monkeypatch):
    """Dask, as far as it is used, with a log of what it was asked."""
    client = Client()

    def wait(future, timeout):
        client.waited = timeout
        future.work()

    client.dask = SimpleNamespace(
        wait=wait,
        KilledWorker=KilledWorker,
        client=SimpleNamespace(ClosedClientError=ClosedClientError),
    )
    monkeypatch.setattr(distributed, "_dask", lambda: client.dask)
    return client


def test_few_blocks_are_under_way_and_all_arrive_in_order(paper):
    asked = []

    def source():
        for number, block in enumerate(blocks(30)):
            asked.append(number)
            yield block

    model = distributed.ridge(features(), source(), 0.1, paper)
    local = distributed.ridge(features(), blocks(30), 0.1)
    assert np.array_equal(model.w, local.w)
    assert asked == list(range(30))
    # The feature map is one task; four blocks wait for each of two workers.
    assert paper.most == 1 + 4 * 2
    assert paper.pure == {False: 31}
    assert paper.waited == 1.0


def test_traffic_is_what_was_sent(paper):
    phi, parts = features(6), blocks()
    model = distributed.ridge(phi, parts, 0.1, paper)
    arrays = sum(X.nbytes + t.nbytes for X, t in parts)
    maps = 2 * len(pickle.dumps(phi, protocol=5))
    triangle = 8 * 6 * 7 // 2
    assert model.traffic.to_workers == arrays + maps
    assert model.traffic.from_workers == 5 * (triangle + 8 * 6 + 16)
    assert (model.traffic.blocks, model.traffic.rows) == (5, 150)
    called = distributed.ridge(phi, [lambda b=b: b for b in parts], 0.1, paper)
    assert called.traffic.to_workers == maps
    lists = [(X.tolist(), t.tolist()) for X, t in parts]
    assert distributed.ridge(phi, lists, 0.1, paper).traffic.to_workers == maps


def test_a_cluster_whose_workers_have_not_come_yet_is_waited_for(paper):
    paper.workers = 0
    model = distributed.ridge(features(), blocks(), 0.1, paper)
    assert model.N == 150
    assert paper.most == 1 + 4
    arrays = sum(X.nbytes + t.nbytes for X, t in blocks())
    maps = len(pickle.dumps(features(), protocol=5))
    assert model.traffic.to_workers == arrays + maps


def test_a_worker_of_many_threads_has_blocks_for_all_of_them(paper):
    paper.threads = 3
    model = distributed.ridge(features(), blocks(40), 0.1, paper)
    assert paper.most == 1 + 4 * 2 * 3
    # The map goes to a worker, not to its threads.
    maps = 2 * len(pickle.dumps(features(), protocol=5))
    arrays = sum(X.nbytes + t.nbytes for X, t in blocks(40))
    assert model.traffic.to_workers == maps + arrays


def test_workers_that_come_and_go_are_noticed(paper):
    """Five come, then four go, and for a moment the last one."""
    under_way = []

    def wait(future, timeout):
        waiting = [f for f in paper.futures if not f.done()]
        under_way.append(len(waiting))
        paper.workers = {3: 5, 20: 0}.get(future.number, 1)
        future.work()

    paper.workers, paper.dask.wait = 1, wait
    model = distributed.ridge(features(), blocks(40), 0.1, paper)
    assert model.N == 40 * 30
    # Nothing more is asked for until what five were given is done.
    assert under_way[1:6] == [4, 4, 4, 4, 20]
    assert under_way[5:22] == list(range(20, 3, -1))
    assert under_way[22:37] == [4] * 15


def test_what_is_delayed_becomes_a_future(paper):
    lazy = [SimpleNamespace(__dask_graph__=1, value=b) for b in blocks()]
    model = distributed.ridge(features(), lazy, 0.1, paper)
    local = distributed.ridge(features(), blocks(), 0.1)
    assert np.array_equal(model.w, local.w)


def test_an_error_of_a_task_is_raised_here_and_says_where(paper):
    parts = blocks(12)
    parts[1][1][0] = np.inf
    with pytest.raises(
        ValueError, match=r"^block 1: t must be finite"
    ) as wrong:
        distributed.ridge(features(), parts, 0.1, paper)
    assert not hasattr(wrong.value, "__notes__")
    # What was asked for in vain is forgotten.
    assert paper.released == list(range(2, 9))

    def broken():
        raise KeyError("column")

    with pytest.raises(KeyError) as wrong:
        distributed.ridge(features(), [blocks()[0], broken], 0.1, paper)
    assert wrong.value.__notes__ == ["in block 1"]


def test_a_block_that_kills_its_workers_is_named(paper):
    def deadly():
        raise KilledWorker

    with pytest.raises(ConnectionError, match="block 1 was given up: its wor"):
        distributed.ridge(features(), [blocks()[0], deadly], 0.1, paper)


class Lost(Future):
    """Made, but not to be had for a while; ``then`` says what happens."""

    then = staticmethod(lambda future: None)

    def result(self, timeout=None):
        if self.number != 1:
            return super().result(timeout)
        self.client.limits.append(timeout)
        self.then(self)
        if self.status == "error":
            raise self.error
        if self.status == "pending" or len(self.client.limits) < 3:
            raise TimeoutError
        return self.value


@pytest.fixture
def lost(paper, monkeypatch):
    """Block 1 is lost on its way, as often as its worker dies."""
    paper.limits, now = [], [0.0]
    work = paper.dask.wait

    def wait(future, timeout):
        now[0] += timeout
        if not paper.workers:
            raise TimeoutError
        work(future, timeout)

    paper.dask.wait = wait
    monkeypatch.setattr(distributed.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(f"{__name__}.Future", Lost)
    return lambda then: monkeypatch.setattr(Lost, "then", staticmethod(then))


def test_a_slow_wire_is_given_more_and_more_time(paper, lost):
    model = distributed.ridge(features(), blocks(), 0.1, paper)
    assert model.N == 150
    assert paper.limits == [30.0, 60.0, 120.0]


def test_what_a_dead_worker_had_made_is_made_again(paper, lost):
    def dies_twice(future):
        future.status = ["pending", "pending", "finished"][
            len(paper.limits) - 1
        ]

    lost(dies_twice)
    model = distributed.ridge(features(), blocks(), 0.1, paper)
    local = distributed.ridge(features(), blocks(), 0.1)
    assert np.array_equal(model.w, local.w)
    assert len(paper.limits) == 3


def test_what_was_made_is_given_up_if_no_worker_comes_back(paper, lost):
    def dies(future):
        future.status, paper.workers = "pending", 0

    lost(dies)
    with pytest.raises(ConnectionError, match="after 1 blocks, or has no wor"):
        distributed.ridge(features(), blocks(), 0.1, paper, progress=False)
    assert paper.limits == [30.0]


@pytest.mark.parametrize("kind", [KilledWorker, TimeoutError, OSError])
def test_a_block_that_was_made_may_fail_when_made_again(paper, lost, kind):
    error = kind()

    def fails(future):
        future.status, future.error = "error", error

    lost(fails)
    with pytest.raises(Exception) as wrong:
        distributed.ridge(features(), blocks(), 0.1, paper)
    if kind is KilledWorker:
        assert str(wrong.value).startswith("block 1 was given up: its workers")
    else:
        assert wrong.value is error
        assert error.__notes__ == ["in block 1"]
    assert len(paper.limits) == 1


@pytest.mark.parametrize("error", [CancelledError, OSError, ClosedClientError])
def test_a_lost_cluster_is_said_to_be_lost(paper, error):
    calls = []

    def wait(future, timeout):
        calls.append(future.number)
        if future.number == 3:
            raise error
        future.work()

    paper.dask.wait = wait
    message = "the cluster at tcp://paper:1 was lost after 3 blocks"
    with pytest.raises(ConnectionError, match=message) as lost:
        distributed.ridge(features(), blocks(), 0.1, paper)
    assert isinstance(lost.value.__cause__, error)
    assert calls == [0, 1, 2, 3]


def test_a_task_that_is_cancelled_means_a_lost_cluster(paper):
    def wait(future, timeout):
        future.status = "cancelled"

    paper.dask.wait = wait
    with pytest.raises(ConnectionError, match="was lost after 0 blocks"):
        distributed.ridge(features(), blocks(), 0.1, paper)


def test_a_cluster_without_workers_is_given_up_after_a_while(
    paper, monkeypatch
):
    now = [0.0]

    def wait(future, timeout):
        now[0] += timeout
        if now[0] == 20:
            paper.workers = 0
        raise TimeoutError

    paper.dask.wait = wait
    monkeypatch.setattr(distributed.time, "monotonic", lambda: now[0])
    with pytest.raises(ConnectionError, match="or has no workers"):
        distributed.ridge(features(), blocks(), 0.1, paper, progress=False)
    # Twenty seconds with workers, and thirty without: then it is enough.
    assert now[0] == 19 + 30 + 1


def test_a_slow_task_is_waited_for(paper):
    waits = []

    def wait(future, timeout):
        waits.append(future.number)
        if len(waits) % 3:
            raise TimeoutError
        future.work()

    paper.dask.wait = wait
    model = distributed.ridge(features(), blocks(2), 0.1, paper)
    assert waits == [0, 0, 0, 1, 1, 1]
    assert model.N == 60


def test_a_closed_client_is_refused(paper):
    paper.status = "closed"
    with pytest.raises(ConnectionError, match="client is closed"):
        distributed.ridge(features(), blocks(), 0.1, paper)


@pytest.mark.parametrize("error", [OSError, ValueError, TimeoutError])
def test_an_address_where_nobody_answers(paper, error):
    def refuse(address):
        assert address == "tcp://10.0.0.1:8786"
        raise error

    paper.dask.Client = refuse
    with pytest.raises(ConnectionError, match=r"no scheduler .* 'tcp://10"):
        distributed.ridge(features(), blocks(), 0.1, "tcp://10.0.0.1:8786")


def test_a_client_that_was_opened_here_is_closed_here(paper):
    class Opened(Client):
        closed = False

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.closed = True

    opened = Opened()
    paper.dask.Client = lambda address: opened
    model = distributed.ridge(features(), blocks(), 0.1, "tcp://10.0.0.1:8786")
    assert opened.closed
    assert model.N == 150


def test_a_local_cluster_has_one_thread_for_each_worker(paper):
    made = {}

    class Context:
        def __init__(self, *_, **options):
            made.update(options)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            made["closed"] = made.get("closed", 0) + 1

    paper.dask.LocalCluster = paper.dask.Client = Context
    with distributed.local_cluster(memory_limit="1GB") as client:
        assert isinstance(client, Context)
    assert made == {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": "127.0.0.1:0",
        "memory_limit": "1GB",
        "closed": 2,
    }
    with (
        pytest.raises(ValueError, match="workers must be a whole number >= 1"),
        distributed.local_cluster(0),
    ):
        pass


# ------------------------------------------------------------ a real cluster


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What a scheduler and two workers on this machine did."""
    script = Path(__file__).with_name("on_a_cluster.py")
    threads = {f"{n}_NUM_THREADS": "1" for n in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, script, tmp_path_factory.mktemp("cluster")],
        capture_output=True,
        text=True,
        env=os.environ | threads,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_cluster_gives_what_one_process_gives(said):
    assert said["error"] < 1e-12
    assert said["rows"] == [24_000, 24_000]
    assert said["threads"] == [1, 1]
    assert said["workers"] == [1, 1]
    assert said["waves"] < 1e-12


def test_a_worker_that_is_killed_changes_nothing(said):
    assert said["killed is the same"]
    assert said["begun again"] >= 1
    assert said["victim's blocks"] >= 1
    assert said["victim is gone"]


def test_a_block_that_kills_every_worker_comes_to_an_end(said):
    """By its fourth death, or before if Dask starts no worker any more."""
    message, deaths = said["deadly"]
    assert message.lower().endswith("nothing was fitted")
    assert 1 <= deaths <= 4


def test_a_cluster_starts_quietly_beside_another(said):
    assert said["beside another"] == []


def test_sums_are_what_comes_back_from_real_workers(said):
    back = 12 * (8 * (40 * 41 // 2 + 40) + 16)
    assert said["traffic"]["from_workers"] == back
    assert said["traffic"]["to_workers"] < 100_000


def test_blocks_may_be_sent_or_wait_where_they_are(said):
    error, to_workers = said["sent"]
    assert error < 1e-12
    assert to_workers > 12 * 2000 * 4 * 8
    assert max(said["lazy"]) < 1e-12


def test_real_errors_say_where(said):
    assert said["nan"] == "block 3: X must be finite, got 1 NaN or inf"
    assert said["missing"] == ["in block 1"]
    assert "was lost after " in said["lost"]
    assert "client is closed" in said["closed"]
    assert "no scheduler of Dask answers at" in said["nobody"]
