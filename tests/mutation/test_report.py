"""The recorded mutation run meets its goal, and is of this library."""

import pytest

from . import report
from .mutants import Library

GOAL = 0.95
LIBRARY = Library()
# Constants that are read while a module loads, and why that is no harm.
NOT_MUTATED = {
    "_expansion.BLOCK": "new inputs at a time: only speed and memory",
    "_gram.TILE": "side of a tile: only speed and memory",
    "_linalg.BLOCK": "side of a tile: only speed and memory",
    "gp.BLOCK": "new inputs at a time: only speed and memory",
    "kernels.rules.SUM": "how tightly + binds when a kernel is printed",
    "kernels.rules.PRODUCT": "how tightly * binds when a kernel is printed",
    "kernels.rules.ATOM": "how tightly a name binds when a kernel is printed",
}


@pytest.fixture(scope="module")
def recorded():
    return report.read()


@pytest.fixture(scope="module")
def made():
    return list(LIBRARY.mutants())


def test_the_report_is_of_this_library(recorded, made):
    current = LIBRARY.digests(made)
    stale = sorted(
        ".".join(entry)
        for entry in current.keys() | recorded.keys()
        if entry not in recorded
        or recorded[entry].digest != current.get(entry)
    )
    assert not stale, "new, changed or gone: run make mutants"


def test_every_module_meets_the_goal(recorded, record_property):
    record_property(
        "summary", "the library's " + report.summary(recorded.values())
    )
    for module in {module for module, _ in recorded}:
        of = [entry for (name, _), entry in recorded.items() if name == module]
        assert report.kill_rate(of) >= GOAL, module


def test_every_survivor_is_explained(recorded):
    assert not [name for entry in recorded.values() for name in entry.lives]


def test_every_explanation_is_of_a_mutant_that_lives(recorded, made):
    reasons = report.explained()
    assert set(reasons) <= {mutant.name for mutant in made}
    assert all(map(str.strip, reasons.values()))
    known = report.reasons_by_entry(made)
    for entry, old in recorded.items():
        assert old.explained == known.get(entry, 0), entry


def test_constants_that_are_not_mutated_are_reviewed():
    assert LIBRARY.not_mutated() == list(NOT_MUTATED)
