"""The mutation tool on a library of twenty lines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .mutants import Library

SHAPES = '''
from dataclasses import dataclass

LIMIT = 3
COPIED = 7
STEPS = (1.0, 2e-9)


@dataclass
class Box:
    """A box; the field's default is a constant of its class."""

    side: float = 2.0
    sides = COPIED

    def area(self):
        return self.side * self.side


@dataclass
class Cube(Box):
    pass


def clipped(x, scale=2.0, *, loud=False):
    """Some numbers."""
    if x < 0 or x > LIMIT:
        raise ValueError("x must be in the box")
    return scale * x + STEPS[0] + (1 if loud else 0)
'''
ROOMS = """
from small.shapes import LIMIT


def room(x):
    return LIMIT - x
"""
GOOD = """
import pytest
from small import shapes
from small.inner import rooms


def test_values():
    assert [shapes.clipped(x) for x in (0, 1, 3)] == [1, 3, 7]
    assert shapes.clipped(0, loud=True) == 2
    assert shapes.Cube().area() == shapes.Box().area() == 4
    assert shapes.Box(3.0).area() == 9
    assert shapes.STEPS == (1.0, 2e-9)
    assert rooms.room(1) == 2


@pytest.mark.parametrize("x", [-1, 4])
def test_refusals(x):
    with pytest.raises(ValueError):
        shapes.clipped(x)
"""
BAD = """
from small import shapes
from small.inner import rooms


def test_calls():
    assert shapes.clipped(1) and shapes.Cube().area() and rooms.room(1)
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
}


@pytest.fixture
def library(tmp_path):
    inner = tmp_path / "small" / "inner"
    inner.mkdir(parents=True)
    for package in (inner, inner.parent):
        (package / "__init__.py").touch()
    (inner / "rooms.py").write_text(ROOMS, "utf-8")
    (inner.parent / "shapes.py").write_text(SHAPES, "utf-8")
    return Library(inner.parent)


def run(library, tests):
    """What the tool prints, and the report it writes."""
    where = library.path.parent
    (where / "test_small.py").write_text(tests, "utf-8")
    command = "-m pytest -q -p mutation.run -p no:cacheprovider"
    report = ["--library", "small", "--report", "report.json", "test_small.py"]
    path = os.pathsep.join([str(Path(__file__).parents[1]), str(where)])
    done = subprocess.run(
        [sys.executable, *command.split(), *report],
        cwd=where,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    entries = json.loads((where / "report.json").read_text("utf-8"))
    lives = [e[3:] for of in entries.values() for e in of.values()]
    return done.stderr, entries, set().union(*lives)


def test_defaults_constants_and_guards_have_mutants(library):
    made = {mutant.name for mutant in library.mutants()}
    assert made >= DEFAULT_CONSTANT_GUARD
    assert "inner.rooms.room: return LIMIT - x -> return LIMIT + x" in made
    assert library.not_mutated() == ["shapes.COPIED"]


def test_a_good_test_kills_them_and_nothing_is_tried_twice(library):
    _, entries, lives = run(library, GOOD)
    assert not lives
    assert list(entries) == ["inner.rooms", "shapes"]
    assert sum(mutants for _, mutants, _ in entries["shapes"].values()) > 15
    assert "mutant 1" not in run(library, GOOD)[0]
    with (library.path / "shapes.py").open("a") as file:
        file.write("\n\ndef untested(x):\n    return -x\n")
    seen, _, lives = run(library, GOOD)
    assert "mutant 1/1 " in seen
    assert lives == {"shapes.untested: return -x -> return x"}
    (library.path / "shapes.py").write_text(SHAPES, "utf-8")
    _, entries, lives = run(library, GOOD)
    assert not lives
    assert "untested" not in entries["shapes"]


def test_a_bad_test_lets_them_live(library):
    _, _, lives = run(library, BAD)
    assert lives >= DEFAULT_CONSTANT_GUARD
