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
"""

import json
import os
from difflib import unified_diff

import jupytext
import nbformat
from nbval.plugin import IPyNbCell, IPyNbFile
from pytest import ExitCode

from press import outputs
from press.reader import Page

REMEDY = "If it is right now, run `make expected` and review the diff."
# One BLAS thread in every kernel: outputs must not depend on the cores.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")


def pytest_addoption(parser):
    record = "record the chapters' outputs instead of comparing them"
    leave = "leave the chapters that pass for the pages; run only the others"
    group = parser.getgroup("chapters")
    group.addoption("--update-expected", action="store_true", help=record)
    group.addoption("--executed", action="store_true", help=leave)


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
        options = {"skip": False, "check": False, "check_exception": False}
        for number, cell in enumerate(self.code):
            about = {"cell_num": number, "cell": cell, "options": options}
            yield Cell.from_parent(self, name=f"Cell {number}", **about)

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


def as_text(record):
    return json.dumps(record, indent=1, ensure_ascii=False)
