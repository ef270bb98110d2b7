"""The guards guard: a chapter broken in any way fails, and says why."""

import json
import os
import re
import subprocess
import sys
from functools import partial

import nbformat
import pytest
from sphinx.errors import ExtensionError

from press import outputs
from press.reader import ROOT

CHAPTER = """---
jupytext:
  text_representation:
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

# A chapter

"""
CELL = "```{code-cell} ipython3\n%s\n```\n"
CHECK = "assert 1 + 1 == int('2'); print(2)"
FALSE = "assert 1 == int('2'), 'one is not two'"
TWO, THREE = {"stdout": ["2\n"]}, {"stdout": ["3\n"]}
LUCKY = """
assert "lost" not in globals(), "every run starts anew"
import numpy as np
from sklearn.utils import check_random_state, shuffle
from kernelbook import toydata
draws = np.random.default_rng(0).standard_normal(1000)
error = draws.std() / np.sqrt(len(draws))
---
assert abs(draws.mean()) < 5 * error, "honest"
def judge(value):
    assert value > 0, "lucky"
judge(draws[0])
assert shuffle(range(3), random_state=0)[0] == 2, "scikit-learn"
assert toydata.noisy_sine(3, noise=0.1, rng=0)[1][0] > 0.1, "library"
---
same = [np.random.default_rng(0).standard_normal(1000) for _ in range(2)]
assert np.array_equal(*same) and np.array_equal(same[0], draws), "same"
assert check_random_state(check_random_state(None)) is not None
---
:tags: [one-seed]

assert draws[0] > 0, "for this draw"
lost = 1 / int(draws[0] > 0)
---
assert lost == 1.0
"""
SVG, LIVE = {"image/svg+xml": ["(an image)"]}, {"text/html": ["(an image)"]}
# name: cells, what is recorded of them, the test that fails, what it says
CASES = {
    "good": ([CHECK], [(CHECK, TWO)], "", ""),
    "changed": ([CHECK], [(CHECK, THREE)], "Cell 0", "changed.md, cell 0: "),
    "raised": ([FALSE], [(FALSE, {})], "Cell 0", "one is not two"),
    "new": ([CHECK], [], "Cell 0", "tests/expected/new.json differs"),
    "stale": ([CHECK], [(CHECK + " #", TWO)], "Cell 0", "stale.json differs"),
    "longer": ([CHECK] * 2, [(CHECK, TWO)], "Cell 1", "run `make expected`"),
    "shorter": ([CHECK], [(CHECK, TWO)] * 2, "Cell 0", "shorter.json differs"),
    "no_image": ([CHECK], [(CHECK, TWO | SVG)], "Cell 0", '-    "image/svg+x'),
    "no_live": ([CHECK], [(CHECK, TWO | LIVE)], "Cell 0", '-    "text/html'),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """One chapter for each thing that can go wrong; runs pytest."""
    root = tmp_path_factory.mktemp("a book with é")
    (root / "chapters").mkdir()
    (root / "kernelbook").mkdir()
    (root / "tests" / "expected").mkdir(parents=True)
    (root / "constraints.txt").touch()
    (root / "pytest.ini").write_text("[pytest]\naddopts = -p chapter_tests\n")
    for name, (cells, recorded, *_) in CASES.items():
        text = CHAPTER + "\n".join(CELL % cell for cell in cells)
        (root / "chapters" / f"{name}.md").write_text(text, "utf-8")
        record = [
            {"source": [source], "outputs": [output] * bool(output)}
            for source, output in recorded
        ]
        path = root / "tests" / "expected" / f"{name}.json"
        path.write_text(json.dumps(record), "utf-8")
    path = os.pathsep.join(map(str, [ROOT / "tests", ROOT]))

    def test(*options):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", "--color=no", *options],
            cwd=root,
            env={**os.environ, "PYTHONPATH": path, "CI": "whole lines"},
            capture_output=True,
            text=True,
        )
        return done.stdout + done.stderr

    return root, test


@pytest.fixture(scope="module")
def said(book):
    return book[1]("chapters", "--executed")


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_fails_and_says_what_to_do(said, name):
    *_, where, message = CASES[name]
    assert f"FAILED chapters/{name}.md::{where}" in said or not where
    assert message in said


def test_only_chapters_that_pass_are_left_for_the_pages(book, said):
    assert "PASSED chapters/good.md::Cell 0" in said
    assert [p.stem for p in book[0].glob("_build/*/*/*")] == ["good"]


def test_a_cell_that_asserts_less_is_not_recorded(book, said):
    root, test = book
    record = root / "tests" / "expected" / "stale.json"
    two = f"{CHECK}\nassert 2 + 2 == int('4')"
    before = json.dumps([{"source": two.split("\n"), "outputs": [TWO]}])
    record.write_text(before, "utf-8")
    wanted = ("chapters/stale.md", "--update-expected")
    assert "2 assertions were recorded, there are 1" in test(*wanted)
    assert record.read_text("utf-8") == before
    assert "1 passed" in test(*wanted, "--fewer")
    assert record.read_text("utf-8") != before


def test_what_passed_runs_again_when_anything_has_changed(book, said):
    root, test = book
    test = partial(test, "chapters/new.md", "--executed")
    assert "1 passed" in test("--update-expected")
    assert "no tests ran" in test()
    for changed in ("constraints.txt", "kernelbook/ridge.py"):
        (root / changed).write_text("numpy==0\n")
        assert "1 passed" in test()
        assert "no tests ran" in test()
    for path in root.glob("_build/*/*/new.ipynb"):  # a hand in the outputs
        notebook = nbformat.read(path, 4)
        notebook.cells[-1].outputs[0].text = "3\n"
        nbformat.write(notebook, path)
    assert "1 passed" in test()


@pytest.fixture(scope="module")
def reseeded(book):
    """What a chapter of claims, some of them lucky, is told."""
    root, test = book
    cells = [CELL % cell.strip("\n") for cell in LUCKY.split("---\n")]
    (root / "lucky").mkdir()
    path = root / "lucky" / "lucky.md"
    path.write_text(CHAPTER + "\n".join(cells), "utf-8")
    return test("lucky", "--seeds", "8", "-rfpx", "--tb=no")


@pytest.mark.parametrize(
    ("claim", "fate"),
    [
        ("cell 0: ", ""),
        ("cell 1: judge(draws[0])", "FAILED .* - AssertionError: lucky"),
        ("cell 1: assert shuffle", "FAILED .* - AssertionError: scikit-learn"),
        ("cell 1: assert toydata", "FAILED .* - AssertionError: library"),
        ("cell 1: assert abs", ""),
        ("cell 2:", ""),
        ("cell 3: assert", "XFAIL .* one draw only"),
        ("cell 3: lost", "XFAIL .* one draw only"),
        ("cell 4:", ""),  # a name that a failure lost
    ],
)
def test_other_seeds_tell_a_lucky_claim_from_an_honest_one(
    reseeded, claim, fate
):
    about = [line for line in reseeded.splitlines() if claim in line]
    fell = [line for line in about if not line.startswith("PASSED")]
    assert about and (0 < len(fell) < len(about)) == bool(fate)
    for line in fell:
        assert re.fullmatch(fate, line), line


def test_a_lucky_claim_is_not_recorded(book, reseeded):
    """Unless it says so: all but cell 1 are honest."""
    root, test = book
    path = root / "lucky" / "lucky.md"
    record = root / "tests" / "expected" / "lucky.json"
    assert "AssertionError: lucky" in test("lucky", "--update-expected")
    assert not record.exists()
    text = path.read_text("utf-8")
    honest = re.sub(r"\n(judge|assert (shuffle|toydata)).*", "", text)
    path.write_text(honest, "utf-8")
    said = test("lucky", "--update-expected")
    assert record.exists() and "XFAIL" in said, said


def test_a_build_refuses_what_was_not_validated(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "folder", lambda root=None: tmp_path)
    wrong = r"not validated: chapters/.*make"
    with pytest.raises(ExtensionError, match=wrong):
        outputs.hand_on(None)


def test_a_relation_of_a_sentence_is_tried_in_the_notebook(book):
    """Before the next cell or after it; what is false shows both values."""
    root, test = book
    listed = root / "tests" / "worlds" / "inline"
    listed.mkdir(parents=True)
    said = "N = 2: live\nN = 3: live\nM = 4: {live: {M: len(rows)}}\n"
    (listed / "sentences.yml").write_text(said, "utf-8")
    cells = [CELL % "N = 2", CELL % "N, rows = 7, [1, 2, 3, 4]"]
    text = "\nWith $N = 2$ and $N = 3$.\n".join([CHAPTER, cells[0]])
    (root / "sentences").mkdir()
    path = root / "sentences" / "sentences.md"
    path.write_text(text + "\nThen $M = 4$.\n\n" + cells[1], "utf-8")
    said = test("sentences", "--update-expected")
    assert "sentences.md:13: $N = 3$: N = 3: 2 and 3" in said
    assert "1 failed, 5 passed" in said  # two cells, N = 2, M = 4 twice
