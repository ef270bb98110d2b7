"""Every chapter is a test: nbval, strictly.

nbval compares a notebook's outputs with those stored in it.  Our chapters are
text (jupytext, MyST) and store none, so this plugin puts the outputs recorded
in ``tests/expected/<chapter>.json`` into the cells and lets nbval compare.

- Text is compared to the letter.  Of an image only its presence counts; a
  live figure also has text, with some of the numbers it draws.
- Recorded outputs belong to recorded sources: if a cell was edited since, the
  record is stale and the chapter fails until ``make expected`` is run.
- No cell can be skipped, and a chapter without assertions fails.
- With ``--executed FOLDER`` the chapters that passed are left there, executed;
  ``press.outputs`` hands them on to the pages.
"""

import json
import os
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from press.outputs import is_validated
from press.reader import Page

IMAGES = ("image/svg+xml", "image/png", "image/jpeg")
LIVE = '<div class="live-figure"'
# One BLAS thread in every kernel: outputs must not depend on the cores.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

REMEDY = "run `make expected` and review the diff"


def pytest_addoption(parser):
    group = parser.getgroup("chapters")
    group.addoption(
        "--update-expected",
        action="store_true",
        help="record the chapters' outputs instead of comparing them",
    )
    group.addoption(
        "--reuse-validated",
        action="store_true",
        help="do not run again what was validated with this library",
    )
    group.addoption(
        "--executed",
        type=Path,
        metavar="FOLDER",
        help="leave the chapters that pass, executed, in this folder",
    )


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".md":
        page = Page(file_path, file_path.read_text("utf-8"))
        if page.is_notebook:
            return Chapter.from_parent(parent, path=file_path)
    return None


class Chapter(IPyNbFile):
    """A chapter: its record, its checks, and each of its code cells."""

    def collect(self):
        config = self.config.option
        self.nb = jupytext.read(self.path, fmt="md:myst")
        self.code = [c for c in self.nb.cells if c.cell_type == "code"]
        self.page = Page(self.path, self.path.read_text("utf-8"))
        validated = is_validated(self.nb, self.config.rootpath)
        self.runs = not (config.reuse_validated and validated)
        if not self.runs:
            yield Guard.from_parent(self, name="validated before", law=passes)
            return
        self.laws = {"checks": has_checks}
        if not config.update_expected:
            self.recall()
            self.laws["record"] = record_is_fresh
        for name, law in self.laws.items():
            yield Guard.from_parent(self, name=name, law=law)
        options = {"skip": False, "check": True, "check_exception": False}
        for number, cell in enumerate(self.code):
            yield Cell.from_parent(
                self,
                name=f"Cell {number}",
                cell_num=number,
                cell=cell,
                options=options,
            )

    @property
    def record_path(self):
        root = self.config.rootpath
        return root / "tests" / "expected" / f"{self.path.stem}.json"

    def recall(self):
        """Put the recorded outputs into the cells."""
        try:
            self.record = json.loads(self.record_path.read_text("utf-8"))
        except FileNotFoundError:
            self.record = None
            return
        for cell, recorded in zip(self.code, self.record, strict=False):
            cell.outputs = [expand(out) for out in recorded["outputs"]]
            cell.execution_count = 1

    def setup(self):
        self.passed = {}
        if self.runs:
            super().setup()

    def teardown(self):
        super().teardown()
        if not self.runs or len(self.passed) < len([*self.code, *self.laws]):
            return
        for cell in self.code:
            cell.outputs = self.passed[id(cell)]
            cell.execution_count = 1
        if self.config.option.update_expected:
            self.write_record()
        if folder := self.config.option.executed:
            folder.mkdir(parents=True, exist_ok=True)
            nbformat.write(self.nb, folder / f"{self.path.stem}.ipynb")

    def write_record(self):
        record = [
            {
                "source": cell.source.splitlines(),
                "outputs": [reduce(out) for out in cell.outputs],
            }
            for cell in self.code
        ]
        text = json.dumps(record, indent=1, ensure_ascii=False)
        self.record_path.parent.mkdir(parents=True, exist_ok=True)
        self.record_path.write_text(text + "\n", encoding="utf-8")


class Guard(pytest.Item):
    """A law that a chapter as a whole has to keep."""

    def __init__(self, *, law, **kwargs):
        super().__init__(**kwargs)
        self.law = law

    def runtest(self):
        self.law(self.parent)
        self.parent.passed[self.name] = []

    def repr_failure(self, excinfo):
        return f"{self.path.name}: {excinfo.value}"

    def reportinfo(self):
        return self.path, 0, f"{self.path.name}::{self.name}"


def passes(chapter):
    """Nothing to do: this very code was validated with this very library."""


def record_is_fresh(chapter):
    where = chapter.record_path.relative_to(chapter.config.rootpath)
    if chapter.record is None:
        raise AssertionError(
            f"there are no recorded outputs {where}; {REMEDY}"
        )
    old = ["\n".join(cell["source"]) for cell in chapter.record]
    new = [cell.source for cell in chapter.code]
    if len(old) != len(new):
        raise AssertionError(
            f"{where} is stale: it records {len(old)} cells, "
            f"the chapter has {len(new)}; {REMEDY}"
        )
    for number, (before, now) in enumerate(zip(old, new, strict=True)):
        if before != now:
            raise AssertionError(
                f"{where} is stale: cell {number} was edited since; {REMEDY}"
            )


def has_checks(chapter):
    if not any(cell.asserts for cell in chapter.page.cells):
        raise AssertionError("no cell asserts anything: add a check")


class Cell(IPyNbCell):
    """A code cell; messages name the chapter's own file."""

    output_timeout = 30

    def runtest(self):
        super().runtest()
        self.parent.passed[id(self.cell)] = self.test_outputs

    def compare_outputs(self, test, ref, skip_compare=None):
        if self.config.option.update_expected:
            return True
        return super().compare_outputs(
            [without_pixels(out) for out in test],
            ref,
            [key for key in self.parent.skip_compare if key not in IMAGES],
        )

    def repr_failure(self, excinfo):
        text = super().repr_failure(excinfo)
        if "Cell outputs differ" in text:
            text += f"\nIf the new output is right, {REMEDY}."
        return f"{self.path.name}, {self.name.lower()}: {text}"


def without_pixels(output):
    """The output, with a word in place of each image."""
    if "data" not in output:
        return output
    data = {
        mime: "(an image)" if is_picture(mime, value) else value
        for mime, value in output["data"].items()
    }
    return nbformat.from_dict({**output, "data": data})


def is_picture(mime, value):
    return mime in IMAGES or (mime == "text/html" and value.startswith(LIVE))


def reduce(output):
    """What is kept of an output: lines of text, and that there is an image."""
    output = without_pixels(output)
    if output["output_type"] == "stream":
        return {output["name"]: output["text"].splitlines(keepends=True)}
    if output["output_type"] == "error":
        return {"error": [output["ename"], output["evalue"]]}
    return {
        mime: value.splitlines(keepends=True)
        for mime, value in output["data"].items()
    }


def expand(kept):
    """The notebook output that ``reduce`` made ``kept`` from."""
    (first, lines), *_ = kept.items()
    if first in ("stdout", "stderr"):
        return nbformat.v4.new_output(
            "stream", name=first, text="".join(lines)
        )
    if first == "error":
        return nbformat.v4.new_output(
            "error", ename=lines[0], evalue=lines[1], traceback=[]
        )
    data = {mime: "".join(text) for mime, text in kept.items()}
    return nbformat.v4.new_output("display_data", data=data)


def pytest_terminal_summary(terminalreporter):
    """Which chapters take longest."""
    seconds = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            path, _, cell = getattr(report, "nodeid", "").partition("::")
            if path.endswith(".md") and cell != "validated before":
                seconds[Path(path).stem] += report.duration
    if seconds:
        slowest = ", ".join(
            f"{name} {time:.0f} s" for name, time in seconds.most_common(4)
        )
        terminalreporter.write_line(
            f"{len(seconds)} chapters took {seconds.total():.0f} s of work; "
            f"the slowest: {slowest}"
        )
