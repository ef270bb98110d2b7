"""Every chapter is a test: nbval, strictly.

nbval compares a notebook's outputs with those stored in it.  Our chapters are
text (jupytext, MyST) and store none, so this plugin compares what nbval got
from the cells with what is recorded in ``tests/expected/<chapter>.json``.

- Text is compared to the letter.  Of an image only its presence counts; a
  live figure also has text, with some of the numbers it draws.
- Recorded outputs belong to recorded sources: if a cell was edited since, it
  fails until ``make expected`` is run.  No cell can be skipped.
- With ``--executed`` the chapters of which every cell passed are left for the
  pages, executed (``press.outputs``), and are not run again as they are.
- With ``--seeds 10`` (``make reseed``) each chapter is run ten times, and in
  each run every seed, of its cells and of the library, stands for other random
  numbers.  Outputs are not compared.  Every statement is a test of its own, so
  that one unlucky draw hides no other.  A cell tagged ``one-seed`` says in its
  text that it holds for this draw only: its failures are listed apart.
"""

import ast
import inspect
import json
import os
from difflib import unified_diff

import jupytext
import nbformat
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError
from pytest import ExitCode, xfail

from press import outputs
from press.reader import Page

REMEDY = "If it is right now, run `make expected` and review the diff."
# One BLAS thread in every kernel: outputs must not depend on the cores.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")


def pytest_addoption(parser):
    record = "record the chapters' outputs instead of comparing them"
    leave = "leave the chapters that pass for the pages; run only the others"
    seeds = "run every chapter so many times, each time with other seeds"
    group = parser.getgroup("chapters")
    group.addoption("--update-expected", action="store_true", help=record)
    group.addoption("--executed", action="store_true", help=leave)
    group.addoption("--seeds", type=int, default=0, help=seeds)


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".md":
        page = Page(file_path, file_path.read_text("utf-8"))
        if page.is_notebook:
            return Chapter.from_parent(parent, path=file_path)
    return None


def pytest_sessionfinish(session, exitstatus):
    none_left = exitstatus == ExitCode.NO_TESTS_COLLECTED
    if session.config.option.executed and none_left:
        session.exitstatus = ExitCode.OK  # all have passed as they are


class Chapter(IPyNbFile):
    """A chapter, and each of its code cells."""

    failed = False

    def collect(self):
        option, root = self.config.option, self.config.rootpath
        run_anew = option.update_expected or not option.executed
        if not run_anew and outputs.is_validated(self.path, root):
            return
        self.nb = jupytext.read(self.path, fmt="md:myst")
        self.code, self.passed = outputs.code(self.nb), 0
        self.expected = outputs.expected(self.path, root)
        found = self.expected.exists() and self.expected.read_text("utf-8")
        self.recorded = json.loads(found or "[]")
        if option.seeds:
            yield from self.statements(option.seeds)
            return
        for number, cell in enumerate(self.code):
            yield self.test(Cell, f"Cell {number}", number, cell)

    def test(self, kind, name, number, cell):
        options = {"skip": False, "check": False, "check_exception": False}
        about = {"cell_num": number, "cell": cell, "options": options}
        return kind.from_parent(self, name=name, **about)

    def statements(self, seeds):
        """All of the chapter, so many times, in one kernel."""
        for seed in range(1, seeds + 1):
            call = f"%colors nocolor\nreseed({seed})\n%reset -f\n"
            call += "__spec__ = None  # which new processes look for"
            cell = nbformat.v4.new_code_cell(inspect.getsource(reseed) + call)
            yield self.test(Statement, f"seed {seed}", 0, cell)
            for number, cell in enumerate(self.code):
                for node in ast.parse(cell.source).body:
                    source = ast.get_source_segment(cell.source, node)
                    first, *_ = source.splitlines()
                    name = f"cell {number}: {first} (seed {seed})"
                    part = nbformat.from_dict({**cell, "source": source})
                    yield self.test(Statement, name, number, part)

    def teardown(self):
        super().teardown()
        if self.passed < len(self.code):
            return
        option, root = self.config.option, self.config.rootpath
        if option.update_expected:
            text = as_text(outputs.record(self.code)) + "\n"
            self.expected.parent.mkdir(parents=True, exist_ok=True)
            self.expected.write_text(text, encoding="utf-8")
        if option.executed:
            folder = outputs.folder(root)
            folder.mkdir(parents=True, exist_ok=True)
            nbformat.write(self.nb, folder / f"{self.path.stem}.ipynb")


class Cell(IPyNbCell):
    """A code cell; messages name the chapter's own file."""

    def runtest(self):
        super().runtest()
        chapter, number = self.parent, self.cell_num
        self.cell.update(outputs=self.test_outputs, execution_count=1)
        if not self.config.option.update_expected:
            is_last = number == len(chapter.code) - 1
            old = chapter.recorded[number : None if is_last else number + 1]
            lines = [
                as_text(record).split("\n")
                for record in (old, outputs.record([self.cell]))
            ]
            if difference := [*unified_diff(*lines, "recorded", "now")]:
                text = "\n".join([*difference, REMEDY])
                where = chapter.expected.name
                self.raise_cell_error(f"tests/expected/{where} differs", text)
        chapter.passed += 1

    def repr_failure(self, excinfo):
        text = super().repr_failure(excinfo)
        return f"{self.path.name}, {self.name.lower()}: {text}"


class Statement(IPyNbCell):
    """A statement, which may fail for other seeds than the chapter's own."""

    def runtest(self):
        try:
            super().runtest()
        except NbCellError as error:
            if self.parent.failed and "NameError" in error.inner_traceback:
                return  # the statement that defines the name has failed
            self.parent.failed = True
            if "one-seed" in self.cell.metadata.get("tags", []):
                xfail("it says that it holds for one draw only")
            raise

    def repr_failure(self, excinfo):
        error = excinfo.value
        said = getattr(error, "inner_traceback", "") or error
        return str(said).strip().splitlines()[-1]


def reseed(run):
    """In the kernel: from now on the run's number is part of every seed.

    All generators are made in these two ways: the library's and SciPy's by
    the first, those of scikit-learn's ``random_state`` by the second.
    """
    from numbers import Integral

    import matplotlib.pyplot as plt
    import numpy as np
    from numpy.random import RandomState, default_rng

    def other(seed):
        return [run, seed] if isinstance(seed, Integral) else seed

    class Reseeded(RandomState):
        def __init__(self, seed=None):
            super().__init__(other(seed))

    np.random.default_rng = lambda seed=None: default_rng(other(seed))
    np.random.RandomState = Reseeded
    np.random.mtrand._rand = Reseeded()  # it has to be of the same class
    plt.switch_backend("agg")  # it shows nothing
    plt.close("all")


def as_text(record):
    return json.dumps(record, indent=1, ensure_ascii=False)
