"""Every chapter is a test: nbval, strictly.

nbval compares a notebook's outputs with those stored in it.  Our chapters are
text (jupytext, MyST) and store none, so this plugin compares what nbval got
from the cells with what is recorded in ``tests/expected/<chapter>.json``.

- Text is compared to the letter.  Of an image only its presence counts; a
  live figure also has text, with some of the numbers it draws.
- Recorded outputs belong to recorded sources: if a cell was edited since, it
  fails until ``make expected`` is run.  No cell can be skipped.  A cell that
  asserts less than was recorded is not recorded, but with ``--fewer``; nor is
  an edited chapter with a claim that fails for other seeds (see below).
- With ``--executed`` the chapters of which every cell passed are left for the
  pages, executed (``press.outputs``), and are not run again as they are.
- With ``--seeds 10`` (``make reseed``) each chapter is run ten times, and in
  each run every seed, of its cells and of the library, stands for other random
  numbers.  Outputs are not compared.  Every statement is a test of its own, so
  that one unlucky draw hides no other.  A cell tagged ``one-seed`` says in its
  text that it holds for this draw only: its failures are listed apart.
- A relation in a sentence that is listed as ``live`` (``worlds.relations``) is
  evaluated in the notebook's variables, after the cell before it or after the
  next one of its section.  With ``--propose`` relations that are not listed
  are tried too, and entered if they hold.
"""

import ast
import base64
import inspect
import json
import os
import pickle
import re
import tempfile
from difflib import unified_diff
from pathlib import Path
from uuid import uuid4

import jupytext
import nbformat
import nbval.kernel
from claims import lost
from jupyter_client.manager import KernelManager
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError
from pytest import ExitCode, fail, xfail

from press import outputs
from press.reader import Page

REMEDY = "If it is right now, run `make expected` and review the diff."
DRAWS, SEEDS = re.compile("rng|random|toydata"), 8
# One BLAS thread in every kernel: outputs must not depend on the cores.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")


def manager(**options):
    """Of a kernel one talks to by files, as nbval starts them.

    Its ports are picked, given back and only then used: of two chapters that
    begin at once one may find its port taken, and no kernel.
    """
    file = Path(tempfile.gettempdir()) / f"kernel-{uuid4().hex[:12]}.json"
    files = {"transport": "ipc", "connection_file": str(file)}
    return KernelManager(**files, **options)


nbval.kernel.KernelManager = manager


def pytest_addoption(parser):
    record = "record the chapters' outputs instead of comparing them"
    fewer = "record outputs although cells assert less than before"
    leave = "leave the chapters that pass for the pages; run only the others"
    seeds = "run every chapter so many times, each time with other seeds"
    propose = "enter relations that hold in the chapters' own variables"
    group = parser.getgroup("chapters")
    group.addoption("--update-expected", action="store_true", help=record)
    group.addoption("--fewer", action="store_true", help=fewer)
    group.addoption("--executed", action="store_true", help=leave)
    group.addoption("--propose", action="store_true", help=propose)
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

    failed = lost = False

    def collect(self):
        option, root = self.config.option, self.config.rootpath
        run_anew = option.update_expected or not option.executed
        self.sentences = [] if option.seeds else self.live(option.propose)
        if not run_anew and self.is_validated(root):
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
            for relation, places in self.sentences:
                if number in places:
                    yield self.sentence(number, relation, places)
        if option.update_expected and self.has_new_draws():
            yield from self.statements(SEEDS)

    def has_new_draws(self):
        """Whether its cells were edited, and claim what chance decides."""
        old = ["\n".join(cell["source"]) for cell in self.recorded]
        new = [cell.source for cell in self.code]
        return old != new and bool(DRAWS.search("\n".join(new)))

    def live(self, propose):
        """Relations of sentences, and the cells after which each is tried."""
        from worlds import relations

        page = Page(self.path, self.path.read_text("utf-8"))
        self.held = set()
        found = relations.live(page, propose)
        return [(r, relations.gap(r, page.cells)) for r in found]

    def said(self):
        """The sentences that a run has tried, to compare with another."""
        return [[r.key, str(r.verdict), n] for r, n in self.sentences]

    def is_validated(self, root):
        if not outputs.is_validated(self.path, root):
            return False
        executed = outputs.folder(root) / f"{self.path.stem}.ipynb"
        tried = nbformat.read(executed, 4).metadata.get("live", [])
        return tried == self.said()

    def sentence(self, number, relation, places):
        from worlds import relations

        call = f"ask({relations.names(relation)})\ndel ask"
        cell = nbformat.v4.new_code_cell(inspect.getsource(ask) + call)
        line = relation.places[0].line
        name = f"line {line}: {relation.text} (after cell {number})"
        test = self.test(Sentence, name, number, cell)
        test.relation, test.is_last = relation, number == places[-1]
        return test

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
        option, root = self.config.option, self.config.rootpath
        if option.propose:
            from worlds import relations

            for relation, _ in self.sentences:
                if relation.verdict is None and relation.key in self.held:
                    relations.enter(relation.page, {relation.key: "live"})
        if self.passed < len(self.code) or self.failed:
            return
        if option.update_expected:
            text = as_text(outputs.record(self.code)) + "\n"
            self.expected.parent.mkdir(parents=True, exist_ok=True)
            self.expected.write_text(text, encoding="utf-8")
        if option.executed:
            folder = outputs.folder(root)
            folder.mkdir(parents=True, exist_ok=True)
            self.nb.metadata["live"] = self.said()
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
        elif not number and not self.config.option.fewer:
            old = ["\n".join(cell["source"]) for cell in chapter.recorded]
            if gone := lost(old, [cell.source for cell in chapter.code]):
                text = "\n".join([*gone, "If it is meant: FEWER=1"])
                self.raise_cell_error("an assertion is gone", text)
        chapter.passed += 1

    def repr_failure(self, excinfo):
        text = super().repr_failure(excinfo)
        return f"{self.path.name}, {self.name.lower()}: {text}"


class Sentence(IPyNbCell):
    """A relation of the text, in the variables that the cells have made."""

    def runtest(self):
        from worlds import relations

        chapter, relation = self.parent, self.relation
        super().runtest()
        said = json.loads(self.test_outputs[0].text)
        bound = {k: pickle.loads(base64.b64decode(v)) for k, v in said.items()}
        wrong = relations.problem(relation.equation, [relations.tidy(bound)])
        if not wrong:
            chapter.held.add(relation.key)
        elif self.is_last and relation.key not in chapter.held:
            chapter.failed |= relation.verdict is not None
            if relation.verdict:
                fail(wrong, pytrace=False)

    def repr_failure(self, excinfo):
        return str(excinfo.value)


class Statement(IPyNbCell):
    """A statement, which may fail for other seeds than the chapter's own."""

    def runtest(self):
        try:
            super().runtest()
        except NbCellError as error:
            if self.parent.lost and "NameError" in error.inner_traceback:
                return  # the statement that defines the name has failed
            self.parent.lost = True
            if "one-seed" in self.cell.metadata.get("tags", []):
                xfail("it says that it holds for one draw only")
            self.parent.failed = True
            raise

    def repr_failure(self, excinfo):
        error = excinfo.value
        said = getattr(error, "inner_traceback", "") or error
        return str(said).strip().splitlines()[-1]


def ask(names):
    """In the kernel: what these expressions are worth, if they are."""
    import base64
    import json

    import cloudpickle

    found = {}
    for symbol, expression in names.items():
        try:
            value = cloudpickle.dumps(eval(expression, globals()))
        except Exception:
            continue
        found[symbol] = base64.b64encode(value).decode()
    print(json.dumps(found))


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
