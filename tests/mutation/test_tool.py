"""The mutation tool on a library of twenty lines."""

import json
import os
from pathlib import Path

import pytest

pytest_plugins = "pytester"
SHAPES = '''
from dataclasses import dataclass

LIMIT = 3
STEPS = (1.0, 2e-9)

@dataclass
class Box:
    """A box; the field's default is a constant of its class."""
    side: float = 2.0
    def area(self):
        return self.side * self.side

def clipped(x, scale=2.0, *, loud=False):
    """Some numbers."""
    if x < 0 or x > LIMIT:
        raise ValueError("x must be in the box")
    return scale * x + STEPS[0] + (1 if loud else 0)
'''
ROOMS = """
from dataclasses import dataclass
from small.shapes import LIMIT, Box

@dataclass
class Cube(Box):
    pass

def room(x):
    return LIMIT - x
"""
BAD = """
import pytest
from small import shapes
from small.inner import rooms

def test_calls():
    assert shapes.clipped(1) and rooms.Cube().area() and rooms.room(1)
"""
GOOD = f"""{BAD}
def test_values():
    assert [shapes.clipped(x) for x in (0, 1, 3)] == [1, 3, 7]
    assert shapes.clipped(0, loud=True) == 2
    assert rooms.Cube().area() == 4
    assert shapes.Box(3.0).area() == 9
    assert shapes.STEPS == (1.0, 2e-9)
    assert rooms.room(1) == 2

@pytest.mark.parametrize("x", [-1, 4])
def test_refusals(x):
    with pytest.raises(ValueError):
        shapes.clipped(x)
"""
DEFAULT_CONSTANT_GUARD = {
    "shapes.clipped: scale=2.0 -> scale=4.0",
    "shapes.clipped: loud=False -> loud=True",
    "shapes.clipped: if x < 0 or x > LIMIT: -> if False:",
    "shapes.clipped: if x < 0 or x > LIMIT: -> if x < 0:",
    "shapes.clipped: if x < 0 or x > LIMIT: -> if x > LIMIT:",
    "shapes.clipped: if x < 0 or x > LIMIT: -> if x < 0 or x >= LIMIT:",
    "shapes.Box: side = 2.0 -> side = 4.0",
    "shapes: LIMIT = 3 -> LIMIT = 4",
    "shapes: STEPS = (1.0, 2e-09) -> STEPS = (2.0, 2e-09)",
    "shapes: STEPS = (1.0, 2e-09) -> STEPS = (1.0, 2e-06)",
    "shapes: STEPS = (1.0, 2e-09) -> STEPS = (1.0, 2e-12)",
    "inner.rooms.room: return LIMIT - x -> return LIMIT + x",
}


@pytest.fixture
def run(pytester, monkeypatch):
    """Run the tool: how many it tries, what it records, and what lives."""
    tool = Path(__file__).parents[1]
    path = f"{tool}{os.pathsep}{pytester.path}"
    monkeypatch.setenv("PYTHONPATH", path)
    options = "-p mutation.run --library small --report found"

    def run(shapes, tests):
        modules = {"__init__": "", "inner/__init__": "", "inner/rooms": ROOMS}
        files = {f"small/{name}": modules[name] for name in modules}
        pytester.makepyfile(
            test_small=tests, **files, **{"small/shapes": shapes}
        )
        done = pytester.runpytest_subprocess(*options.split(), timeout=100)
        assert done.ret == 0
        report = json.loads((pytester.path / "found").read_text("utf-8"))
        entries = [entry for of in report.values() for entry in of.values()]
        lives = {name for entry in entries for name in entry[3:]}
        return str(done.stderr).count("more mutants"), report, lives

    return run


def test_a_bad_test_lets_defaults_constants_and_guards_live(run):
    _, _, lives = run(SHAPES, BAD)
    assert lives >= DEFAULT_CONSTANT_GUARD


def test_a_good_test_kills_them_and_nothing_is_tried_twice(run):
    _, report, lives = run(SHAPES, GOOD)
    assert not lives
    assert list(report) == ["inner.rooms", "shapes"]
    assert not run(SHAPES, GOOD)[0]
    untested = "def untested(x):\n    return -x\n"
    tried, _, lives = run(SHAPES + untested, GOOD)
    assert tried == 2  # and the control
    assert lives == {"shapes.untested: return -x -> return x"}
    _, report, lives = run(SHAPES, GOOD)
    assert not lives
    assert "untested" not in report["shapes"]
