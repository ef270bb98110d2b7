"""A malformed formula is named with its place, and the others are checked."""

from pathlib import Path

import pytest
from reading import ROOT, Chapter
from typeset.book import Equation, equations_of
from typeset.latex import FormulaError
from typeset.values import Disagreement
from typeset.worlds import world

PAGE = r"""# A page

```{math}
:label: eq-bad
a =
  (b + c
```

```{math}
:label: eq-good
a = 2
```
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    path = ROOT / "chapters" / "99_a_page.md"
    monkeypatch.setattr(Chapter, "text", PAGE)
    return {e.label: e for e in equations_of(Chapter(path))}


def test_a_malformed_formula_is_named_with_file_line_label_and_column(page):
    with pytest.raises(FormulaError) as error:
        _ = page["eq-bad"].tree
    assert str(error.value) == (
        "chapters/99_a_page.md:6: eq-bad, column 9: ends too early"
    )
    with pytest.raises(FormulaError) as again:
        page["eq-bad"].check_in({})
    assert str(again.value) == str(error.value)
    assert page["eq-good"].tree.kind == "formula"


def test_a_wrong_formula_is_named_with_both_values(page):
    with pytest.raises(Disagreement) as error:
        page["eq-good"].check_in({"a": 3.0})
    assert (
        str(error.value)
        == "chapters/99_a_page.md:11: eq-good: a = 2: 3. and 2"
    )


def test_an_unbound_symbol_is_named(page):
    with pytest.raises(
        FormulaError, match=r":11: eq-good, column 1: a is not"
    ):
        page["eq-good"].check_in({})


def test_a_label_has_one_world():
    with pytest.raises(ValueError, match="eq-6-8 has two worlds"):
        world("eq-6-8")(lambda rng: {})


def test_an_equation_knows_its_line():
    path = Path(ROOT / "chapters" / "02_dual_representation.md")
    lines = path.read_text("utf-8").splitlines()
    for equation in equations_of(Chapter(path)):
        assert isinstance(equation, Equation)
        assert (
            lines[equation.line - 1].strip() == equation.latex.split("\n")[0]
        )
