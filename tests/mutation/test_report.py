"""The recorded mutation run meets its goal, and is of this library."""

import pytest

from . import report
from .mutants import LIBRARY, mutants

GOAL = 0.95


@pytest.fixture
def recorded():
    return report.read()


@pytest.fixture(scope="module")
def made():
    """The names of all mutants, by module."""
    files = sorted(LIBRARY.glob("*.py"))
    names = {path.stem: {m.name for m in mutants(path)} for path in files}
    return {module: of for module, of in names.items() if of}


def test_every_module_is_in_the_report(recorded, made):
    assert list(recorded["modules"]) == list(made)


def test_the_report_counts_right(recorded):
    for module, entry in recorded["modules"].items():
        assert entry == report.counted(entry), module
    assert recorded["total"] == report.total(recorded["modules"])


def test_the_goal_is_met(recorded, record_property):
    record_property(
        "summary", "the library's " + report.summary(recorded["total"])
    )
    for module, entry in recorded["modules"].items():
        assert report.kill_rate(entry) >= GOAL, module
        assert entry["unexplained"] == 0, module


def test_every_explanation_is_of_a_mutant_that_lives():
    assert set(report.explained()) <= report.survivors()


def test_every_explanation_is_of_a_mutant_of_this_library(made):
    assert set(report.explained()) <= set().union(*made.values())
    assert all(map(str.strip, report.explained().values()))
