"""Every number in words comes from somewhere, and a changed one is missed."""

import ast
import re
from dataclasses import replace

import pytest

from press import evidence
from press.evidence import (
    Traces,
    changed,
    fate,
    kept,
    known,
    listed,
    numbers,
    recorded,
)
from press.reader import CHAPTERS, Page, Words, pages

PAGES = {page.name: page for page in pages()}
LEAST_NOTICED = 0.85
REMEDY = "if it is right now, run `python -m press.evidence`, see the diff"


@pytest.mark.parametrize("name", PAGES)
def test_every_number_comes_from_somewhere(name):
    page = PAGES[name]
    wrong = [
        f"{name}.md:{number.line}: {number.text}: no cell near by has it"
        for _, number, how in known(page)
        if not how
    ]
    now = kept(page)
    then = recorded().get(page.path.stem, now)  # a new page has no record yet
    wrong += [f"{name}.md, {said}; {REMEDY}" for said in changed(then, now)]
    assert not wrong, "\n".join(wrong)


def test_what_is_listed_is_there():
    for page in PAGES.values():
        texts = [re.sub(r"\s", " ", w.text) for w in page.of(Words)]
        for sentence, reason in listed().get(page.path.stem, {}).items():
            found = any(sentence in text for text in texts)
            assert found and reason, f"{page.name}: {sentence}"
            assert re.search(r"\d", sentence), f"no number: {sentence}"


def spoilt(words, number):
    """The words, with the last digit of a number changed by one."""
    start, end = number.span
    old = words.text[start:end]
    at = max(i for i, c in enumerate(old) if c.isdigit() and c.isascii())
    digit = int(old[at])
    new = old[:at] + str(digit + 1 if digit < 9 else 8) + old[at + 1 :]
    return replace(words, text=words.text[:start] + new + words.text[end:])


def test_most_changed_numbers_are_not_found_either(record_property):
    """Without the record, which notices all: if the last digit is another."""
    noticed = []
    for page in PAGES.values():
        for words, number, how in known(page):
            if number.digits > 1 and how in ("computed", "typed"):
                other = spoilt(words, number)
                (new,) = [
                    n for n in numbers(other) if n.span[0] == number.span[0]
                ]
                noticed.append(not fate(page, other, new))
    rate = sum(noticed) / len(noticed)
    record_property(
        "summary",
        f"numbers in words that cells vouch for: {len(noticed)}; of those "
        f"changed by one {rate:.1%} are noticed, without the record",
    )
    assert rate >= LEAST_NOTICED


TEXT = """---
jupytext: {}
---

# Title

## Part

We took 12 of $20\\,000$ rows, or 0.53, and 23 %: see §7.1, chapter 3.

```{code-cell}
few, rng = 12, np.random.default_rng(77)
```

## Next

Here 12 stands far away, 30 and about 30 and 2-D; $M = 55$ is a formula.

```{code-cell}
ax.plot(12, 30)
rows = 20_000
```
"""


@pytest.fixture
def page(monkeypatch):
    page = Page(CHAPTERS / "page.md", TEXT)
    found = [
        Traces([0.5267, 0.234], [12.0]),
        Traces([29.7], []),
    ]
    monkeypatch.setattr(evidence, "traces", lambda page: found)
    return page


def test_numbers_are_found_where_they_belong(page):
    found = {(n.line, n.text): how for _, n, how in known(page)}
    assert found == {
        (9, "12"): "typed",
        (9, r"20\,000"): "",
        (9, "0.53"): "computed",
        (9, "23 %"): "computed",
        (9, "7.1"): "book",
        (9, "3"): "chapter",
        (17, "12"): "",
        (17, "30"): "computed",
        (17, "2"): "name",
    }


def test_code_has_its_numbers_but_not_those_of_drawing_and_seeds():
    code = "f(-0.5, 2**10, lam=1 / 4, rng=7); x[3] ** 2; ax.plot(8, s=9)"
    assert {*evidence.typed(ast.parse(code))} == {
        -0.5,
        0.5,
        1024,
        0.25,
        1,
        4,
        2,
    }
