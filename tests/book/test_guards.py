"""The guards guard: a chapter broken in any way fails, and says why."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap

import pytest
from reading import ROOT

FRONT = """---
jupytext:
  text_representation:
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

# A chapter

"""


def chapter(*cells):
    fence = "```{code-cell} ipython3\n%s\n```\n"
    return FRONT + "\n".join(fence % textwrap.dedent(c) for c in cells)


def record(*cells):
    return json.dumps(
        [{"source": [s], "outputs": [{"stdout": [o]}]} for s, o in cells]
    )


CHECK = "assert 1 + 1 == 2; print(2)"
CASES = {
    "good": (chapter(CHECK), record((CHECK, "2\n"))),
    "changed_number": (chapter(CHECK), record((CHECK, "3\n"))),
    "raised": (
        chapter("assert 1 == 2, 'one is not two'"),
        json.dumps(
            [{"source": ["assert 1 == 2, 'one is not two'"], "outputs": []}]
        ),
    ),
    "missing_record": (chapter(CHECK), None),
    "stale_record": (chapter(CHECK), record((CHECK + " # old", "2\n"))),
    "other_length": (chapter(CHECK, CHECK), record((CHECK, "2\n"))),
    "no_check": (chapter("print(2)"), record(("print(2)", "2\n"))),
    "lost_image": (
        chapter("assert True"),
        json.dumps(
            [
                {
                    "source": ["assert True"],
                    "outputs": [{"image/svg+xml": ["(an image)"]}],
                }
            ]
        ),
    ),
    "lost_live": (
        chapter("assert True"),
        json.dumps(
            [
                {
                    "source": ["assert True"],
                    "outputs": [{"text/html": ["(an image)"]}],
                }
            ]
        ),
    ),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book with one chapter for each thing that can go wrong, run once."""
    root = tmp_path_factory.mktemp("book")
    (root / "chapters").mkdir()
    (root / "tests" / "expected").mkdir(parents=True)
    (root / "constraints.txt").touch()
    (root / "pytest.ini").write_text("[pytest]\naddopts = -p chapter_tests\n")
    for name, (text, recorded) in CASES.items():
        (root / "chapters" / f"{name}.md").write_text(text, "utf-8")
        if recorded:
            path = root / "tests" / "expected" / f"{name}.json"
            path.write_text(recorded, "utf-8")

    def run(*options):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", "--color=no", *options],
            cwd=root,
            env={
                **os.environ,
                "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / '_ext'}",
            },
            capture_output=True,
            text=True,
        ).stdout

    return root, run, run("chapters")


@pytest.mark.parametrize(
    ("outcome", "where"),
    [
        ("PASSED", "good.md::record"),
        ("PASSED", "good.md::Cell 0"),
        ("FAILED", "changed_number.md::Cell 0"),
        ("FAILED", "raised.md::Cell 0"),
        ("FAILED", "missing_record.md::record"),
        ("FAILED", "stale_record.md::record"),
        ("FAILED", "other_length.md::record"),
        ("FAILED", "no_check.md::checks"),
        ("FAILED", "lost_image.md::Cell 0"),
        ("FAILED", "lost_live.md::Cell 0"),
    ],
)
def test_outcome(book, outcome, where):
    assert f"{outcome} chapters/{where}" in book[2]


@pytest.mark.parametrize(
    "message",
    [
        "changed_number.md, cell 0: Notebook cell execution failed",
        "If the new output is right, run `make expected` and review the diff.",
        "raised.md, cell 0: Notebook cell execution failed",
        "one is not two",
        "missing_record.md: there are no recorded outputs tests/expected/",
        "stale_record.md: tests/expected/stale_record.json is stale: cell 0",
        "it records 1 cells, the chapter has 2; run `make expected`",
        "no_check.md: no cell asserts anything: add a check",
    ],
)
def test_message_says_what_to_do(book, message):
    assert message in book[2]


def test_nothing_is_handed_to_the_book_after_a_red_run(book):
    root, _, _ = book
    assert not list(root.glob("_build/.outputs/*/executed/*"))


def test_what_another_run_has_executed_is_left_to_it(book):
    root, run, _ = book
    other = root / "_build" / "executed" / "other" / "good.ipynb"
    other.parent.mkdir(parents=True)
    other.write_text("not yet written to its end")
    assert "3 passed" in run("chapters/good.md")
    assert list(other.parent.parent.rglob("*.ipynb")) == [other]
    shutil.rmtree(root / "_build")


def test_recording_mends_a_missing_record_and_hands_over(book):
    root, run, _ = book
    assert "2 passed" in run("chapters/missing_record.md", "--update-expected")
    assert "3 passed" in run("chapters/missing_record.md")
    assert len(list(root.glob("_build/.outputs/*/executed/*"))) == 1
    again = run("chapters/missing_record.md", "--reuse-validated")
    assert "missing_record.md::validated before" in again
    (records,) = root.glob("_build/.outputs/*/global.db")
    with sqlite3.connect(records) as found:  # as a bare build leaves them
        found.execute("update nbcache set data = '{\"execution_seconds\": 1}'")
    found.close()
    assert "Cell 0" in run("chapters/missing_record.md", "--reuse-validated")
    (root / "constraints.txt").write_text("numpy==0\n")  # another environment
    assert "Cell 0" in run("chapters/missing_record.md", "--reuse-validated")
