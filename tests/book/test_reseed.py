"""Other seeds tell a lucky claim from an honest one: tests/reseed.py."""

import io
import re
from contextlib import redirect_stdout

import pytest
import reseed

from press.reader import CHAPTERS, Page

CELLS = """\
import numpy as np
from sklearn.utils import check_random_state, shuffle
from kernelbook import toydata
rng = np.random.default_rng(0)
draws = rng.standard_normal(1000)
error = draws.std() / np.sqrt(len(draws))
---
assert abs(draws.mean()) < 5 * error, "honest"
def judge(value):
    assert value > 0, "lucky"
judge(draws[0])
after = 1.0
---
same = [np.random.default_rng(0).standard_normal(1000) for _ in range(2)]
assert np.array_equal(*same) and np.array_equal(same[0], draws)
assert after == 1.0
assert shuffle(range(100), random_state=0)[0] == 26, "scikit-learn"
assert check_random_state(check_random_state(None)) is not None
assert toydata.noisy_sine(3, noise=0.1, rng=0)[1][0] > 0.1, "library"
---
:tags: [one-seed]

assert draws[0] > 0, "for this draw"
lost = 1 / int(draws[0] > 0)
---
assert lost == 1.0
"""
TEXT = [f"```{{code-cell}}\n{cell}```\n" for cell in CELLS.split("---\n")]
TOY = Page(CHAPTERS / "01_toy.md", "\n".join(TEXT))


@pytest.fixture(scope="module")
def said():
    with (
        redirect_stdout(io.StringIO()) as said,
        pytest.raises(SystemExit, match="True"),
    ):
        reseed.main([TOY], [])
    return said.getvalue()


def test_with_its_own_seeds_the_page_holds(monkeypatch):
    monkeypatch.setattr(reseed, "reseed", lambda run: None)
    assert reseed.failures(TOY, 1) == {}


def test_a_lucky_claim_is_reported_with_its_place_and_its_seeds(said):
    _, _, lucky = said.partition('01_toy, cell 1: assert value > 0, "lucky"\n')
    assert re.match(
        r" +fails under [3-7] of 10 \((\d+, )*\d+\): AssertionError: lucky\n",
        lucky,
    )


def test_seeds_of_the_library_and_of_scikit_learn_are_changed_too(said):
    claims, marked = said.split("In cells that say they hold for one draw")
    assert "AssertionError: library" in claims
    assert "AssertionError: scikit-learn" in claims
    assert "for this draw" in marked and "for this draw" not in claims
    assert "3 claims fail under some of 10 seeds." in said


@pytest.mark.parametrize("word", ["honest", "array_equal", "after", "NameE"])
def test_what_holds_is_not_reported_nor_a_name_that_a_failure_lost(said, word):
    assert "ZeroDivisionError" in said and word not in said


def test_chapters_are_chosen_by_their_numbers():
    pages = [Page(CHAPTERS / f"{name}.md", "") for name in ("02_b", "12_c")]
    assert reseed.chosen(pages, ["02"]) == pages[:1]
    assert reseed.chosen(pages, []) == pages
