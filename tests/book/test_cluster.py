"""The command of chapter 24 starts what the chapter says."""

import re
import shlex

from click.testing import CliRunner
from distributed.cli import dask_worker
from distributed.deploy import utils

from press.reader import CHAPTERS

CORES = 8


def test_every_core_gets_a_worker_of_one_thread(monkeypatch):
    made = []

    class Nanny:
        def __init__(self, *_, nthreads, **__):
            made.append(nthreads)

        def __await__(self):
            raise TimeoutError  # nothing is started

    monkeypatch.setattr(dask_worker, "Nanny", Nanny)
    monkeypatch.setattr(dask_worker, "CPU_COUNT", CORES)
    monkeypatch.setattr(
        dask_worker,
        "nprocesses_nthreads",
        lambda: utils.nprocesses_nthreads(CORES),
    )
    (page,) = CHAPTERS.glob("24_*.md")
    (line,) = re.findall(r"^dask worker (.*)$", page.read_text("utf-8"), re.M)
    CliRunner().invoke(dask_worker.main, shlex.split(line))
    assert made == [1] * CORES
