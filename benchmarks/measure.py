"""CPU time, memory and agreement of several ways to the same result."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MOST_ROUNDS = 7
Run = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """One operation on one set of data, done by us and by others."""

    operation: str
    series: str  # what stays the same along a growth curve
    N: int
    ours: Run
    peers: dict[str, Run]
    error: Callable[[Any, Any], float]  # of our result against a peer's
    tolerance: float
    limits: dict[str, Callable[[], float]] = field(default_factory=dict)
    """What cannot be avoided: functions that time themselves."""
    goals: dict[str, float] = field(default_factory=dict)
    """Name of a peer, a limit or "memory" → largest ratio we accept."""
    memory: bool = False
    unit: float = 0.0
    """Entries of what memory is measured in; an N × N matrix if zero."""
    clock: Callable[[], float] = time.process_time
    """Of the process; of the wall where others compute."""
    remarks: Callable[[Any], dict[str, Any]] = lambda result: {}

    def __str__(self):
        return f"{self.operation}, N = {self.N}, {self.series}".rstrip(", ")


class DisagreementError(Exception):
    """Two results differ by more than the tolerance."""


def seconds_of(run, clock):
    """Result and time of one run."""
    start = clock()
    result = run()
    return result, clock() - start


def measure(case, budget):
    """Compare the results, then take turns until ``budget`` is spent.

    The first round warms up and is compared; it counts only if there is no
    time for another.
    """
    runs = {"kernelbook": case.ours} | case.peers
    results, seconds = {}, {}
    for name, run in runs.items():
        results[name], seconds[name] = seconds_of(run, case.clock)
    errors = _agreement(case, results)
    remarks = case.remarks(results["kernelbook"])
    del results
    for name, limit in case.limits.items():
        seconds[name] = limit()
    spent, rounds = sum(seconds.values()), [seconds]
    if spent < budget:
        rounds = []
        while not rounds or (spent < budget and len(rounds) < MOST_ROUNDS):
            seconds = {
                name: seconds_of(run, case.clock)[1]
                for name, run in runs.items()
            }
            seconds |= {name: limit() for name, limit in case.limits.items()}
            spent += sum(seconds.values())
            rounds.append(seconds)
    return {
        "operation": case.operation,
        "series": case.series,
        "N": case.N,
        "seconds": {
            name: statistics.median(r[name] for r in rounds)
            for name in seconds
        },
        "rounds": len(rounds),
        "errors": errors,
        "memory": _memory(case) if case.memory else {},
        "goals": case.goals,
        **remarks,
    }


def _agreement(case, results):
    ours = results["kernelbook"]
    errors = {
        name: float(case.error(ours, theirs))
        for name, theirs in results.items()
        if name != "kernelbook"
    }
    for name, error in errors.items():
        if not error <= case.tolerance:
            raise DisagreementError(
                f"{case}: kernelbook and {name} differ by {error:.2e}, "
                f"more than {case.tolerance:.0e}"
            )
    return errors


def _memory(case):
    """Peak of what NumPy allocates, in units of one N × N matrix, or others.

    Torch has its own allocator, which tracemalloc does not see.
    """
    runs = {"kernelbook": case.ours} | case.peers
    peaks = {}
    for name in runs.keys() - {"GPyTorch"}:
        gc.collect()
        tracemalloc.start()
        runs[name]()
        unit = 8 * (case.unit or case.N**2)
        peaks[name] = tracemalloc.get_traced_memory()[1] / unit
        tracemalloc.stop()
    return peaks
