"""The guards guard: a chapter broken in any way fails, and says why."""

import json
import os
import sqlite3
import subprocess
import sys

import pytest

from press.reader import ROOT

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
    return FRONT + "\n".join(fence % cell for cell in cells)


def record(source, **output):
    """What is recorded of one cell with one output, or none."""
    outputs = [{mime: [text]} for mime, text in output.items()]
    return json.dumps([{"source": [source], "outputs": outputs}])


CHECK = "assert 1 + 1 == int('2'); print(2)"
FALSE = "assert 1 == int('2'), 'one is not two'"
SILENT = "assert 1 + 1 == int('2')"
PICTURE = {"image/svg+xml": "(an image)"}
LIVE = {"text/html": "(an image)"}
STALE = "tests/expected/stale_record.json is stale: cell 0"
# name: chapter, its record, the test that fails, and what it then says
CASES = {
    "good": (chapter(CHECK), record(CHECK, stdout="2\n"), "", ""),
    "changed_number": (
        chapter(CHECK),
        record(CHECK, stdout="3\n"),
        "Cell 0",
        "changed_number.md, cell 0: Notebook cell execution failed",
    ),
    "raised": (chapter(FALSE), record(FALSE), "Cell 0", "one is not two"),
    "missing_record": (
        chapter(CHECK),
        None,
        "record",
        "missing_record.md: there are no recorded outputs tests/expected/",
    ),
    "stale_record": (
        chapter(CHECK),
        record(CHECK + " # old", stdout="2\n"),
        "record",
        f"stale_record.md: {STALE}",
    ),
    "other_length": (
        chapter(CHECK, CHECK),
        record(CHECK, stdout="2\n"),
        "record",
        "it records 1 cells, the chapter has 2; run `make expected`",
    ),
    "no_check": (
        chapter("assert True; print(2)"),
        record("assert True; print(2)", stdout="2\n"),
        "checks",
        "no_check.md: no cell asserts anything: add a check",
    ),
    "lost_image": (
        chapter(SILENT),
        record(SILENT, **PICTURE),
        "Cell 0",
        "If the new output is right, run `make expected` and review the diff.",
    ),
    "lost_live": (chapter(SILENT), record(SILENT, **LIVE), "Cell 0", "html"),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book with one chapter for each thing that can go wrong, run once."""
    root = tmp_path_factory.mktemp("a book with é")
    (root / "chapters").mkdir()
    (root / "tests" / "expected").mkdir(parents=True)
    (root / "constraints.txt").touch()
    (root / "pytest.ini").write_text("[pytest]\naddopts = -p chapter_tests\n")
    for name, (text, recorded, *_) in CASES.items():
        (root / "chapters" / f"{name}.md").write_text(text, "utf-8")
        if recorded:
            path = root / "tests" / "expected" / f"{name}.json"
            path.write_text(recorded, "utf-8")
    path = os.pathsep.join(map(str, [ROOT / "tests", ROOT]))

    def run(*options):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", "--color=no", *options],
            cwd=root,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        ).stdout

    return root, run, run("chapters", "--executed", root / "passed")


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_fails_and_says_what_to_do(book, name):
    *_, where, message = CASES[name]
    assert f"FAILED chapters/{name}.md::{where}" in book[2] or not where
    assert message in book[2]


def test_only_chapters_that_pass_are_left_to_be_handed_on(book):
    root, _, output = book
    assert "PASSED chapters/good.md::Cell 0" in output
    assert [path.stem for path in (root / "passed").iterdir()] == ["good"]


def test_recording_mends_a_missing_record_and_hands_over(book):
    root, run, _ = book
    chapter = "chapters/missing_record.md"
    assert "2 passed" in run(chapter, "--update-expected")
    executed = root / "executed"
    assert "3 passed" in run(chapter, "--executed", executed)
    code = "import sys; from pathlib import Path; from press import outputs; "
    code += "print(outputs.hand_on(sys.argv[1], Path.cwd()))"
    handed = subprocess.run(
        [sys.executable, "-c", code, executed],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert handed.stdout == "1\n", handed.stderr
    assert "validated before" in run(chapter, "--reuse-validated")
    (records,) = root.glob("_build/.outputs/*/global.db")
    with sqlite3.connect(records) as found:  # as a bare build leaves them
        found.execute("update nbcache set data = '{\"execution_seconds\": 1}'")
    found.close()
    assert "Cell 0" in run(chapter, "--reuse-validated")
    (root / "constraints.txt").write_text("numpy==0\n")  # another environment
    assert "Cell 0" in run(chapter, "--reuse-validated")


def test_a_build_refuses_what_was_not_validated(tmp_path, monkeypatch):
    from sphinx.errors import ExtensionError

    from press import outputs

    monkeypatch.setattr(outputs, "cache_path", lambda root=None: tmp_path)
    with pytest.raises(
        ExtensionError, match=r"not validated: chapters/.*make"
    ):
        outputs.refuse_others(None)
