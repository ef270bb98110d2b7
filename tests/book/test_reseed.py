"""Other seeds tell a lucky claim from an honest one: tests/reseed.py."""

import re
import subprocess
import sys

import pytest
import reseed

PAGE = """---
jupytext:
  text_representation:
    format_name: myst
---

```{code-cell} ipython3
import numpy as np
from sklearn.utils import check_random_state, shuffle

from kernelbook import toydata

rng = np.random.default_rng(0)
draws = rng.standard_normal(1000)
error = draws.std() / np.sqrt(len(draws))
```

```{code-cell} ipython3
assert abs(draws.mean()) < 5 * error, "honest"


def judge(value):
    assert value > 0, "lucky"


judge(draws[0])
after = 1.0
```

```{code-cell} ipython3
same = [np.random.default_rng(0).standard_normal(1000) for _ in range(2)]
assert np.array_equal(*same) and np.array_equal(same[0], draws)
assert after == 1.0
assert shuffle(range(100), random_state=0)[0] == 26, "scikit-learn"
assert check_random_state(check_random_state(None)) is not None
assert toydata.noisy_sine(3, noise=0.1, rng=0)[1][0] > 0.1, "library"
```

```{code-cell} ipython3
:tags: [one-seed]

assert draws[0] > 0, "for this draw"
lost = 1 / int(draws[0] > 0)
```

```{code-cell} ipython3
assert lost == 1.0
```
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("toy") / "01_toy.md"
    path.write_text(PAGE, "utf-8")
    return path


@pytest.fixture(scope="module")
def said(page):
    done = subprocess.run(
        [sys.executable, reseed.__file__, f"--folder={page.parent}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_with_its_own_seeds_the_page_holds(page, monkeypatch):
    monkeypatch.setattr(reseed, "reseed", lambda run: None)
    assert reseed.failures(page, 1) == []


def test_an_honest_claim_is_not_reported(said):
    assert "honest" not in said


def test_a_lucky_claim_is_reported_with_its_place_and_its_seeds(said):
    _, _, lucky = said.partition('01_toy, cell 1: assert value > 0, "lucky"\n')
    assert re.match(
        r" +fails under [3-7] of 10 \((\d+, )*\d+\): AssertionError: lucky\n",
        lucky,
    )


def test_seeds_of_the_library_and_of_scikit_learn_are_changed(said):
    assert "AssertionError: library" in said
    assert "AssertionError: scikit-learn" in said


def test_equal_seeds_stay_equal_and_later_cells_are_tried(said):
    assert "array_equal" not in said
    assert "after" not in said


def test_a_cell_tagged_one_seed_is_listed_apart(said):
    claims, marked = said.split("In cells that say they hold for one draw")
    assert "for this draw" in marked
    assert "for this draw" not in claims


def test_a_name_that_a_failure_left_undefined_is_not_counted(said):
    assert "ZeroDivisionError" in said
    assert "NameError" not in said
    assert "3 claims fail under some of 10 seeds." in said


def test_chapters_are_chosen_by_their_numbers(tmp_path):
    for name in ("01_a.md", "02_b.md", "12_c.md"):
        (tmp_path / name).write_text(PAGE, "utf-8")
    (tmp_path / "02_plain.md").write_text("# No notebook", "utf-8")
    (only,) = reseed.notebooks(tmp_path, ["02"])
    assert only.name == "02_b.md"
    assert len(reseed.notebooks(tmp_path, [])) == 3
