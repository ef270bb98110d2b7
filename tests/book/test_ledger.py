"""The ledger is complete, unique and true.

Every id of ``tests/data/ids.txt`` has a home in the book; the home exists; an
equation's check cell exists, asserts, and calls the function that is named.
All that is wrong is found in one pass: one entry does not hide another.
"""

import importlib
import re
from functools import cache
from itertools import chain

import pytest
from ledger import (
    KINDS,
    Entry,
    Problem,
    asserts,
    calls,
    page_path,
    places,
    read,
    with_repeats,
)
from ledger_pages import Book, entry_row
from reading import ROOT, toc

IDS = (ROOT / "tests" / "data" / "ids.txt").read_text("utf-8").split()
FIGURE = re.compile(r"plt\.(subplots|figure)\(")


@cache
def page(name):
    path = page_path(name)
    if f"chapters/{path.stem}" not in toc():
        return None
    return places(path.read_text("utf-8"))


def findings(text=None, ids=IDS):
    """Everything that is wrong with the ledger."""
    entries, problems = read(text)
    broken = {problem.id for problem in problems}
    for name in ids:
        if name not in entries and name not in broken:
            problems.append(Problem(0, name, "missing"))
    for entry in entries.values():
        if entry.id not in ids:
            problems.append(Problem(entry.line, entry.id, "unknown id"))
        if not entry.same:
            reasons = chain(home_reasons(entry), function_reasons(entry))
            problems += [Problem(entry.line, entry.id, r) for r in reasons]
    return problems


def home_reasons(entry):
    """What is wrong with the place an entry points to."""
    if entry.home == f"errata#erratum-{entry.id.lower()}":
        if entry.check != "prose":
            yield "only prose can have its home on the errata page"
        return
    anchors = page(entry.page)
    if anchors is None:
        yield f"the book has no page {entry.page}"
        return
    place = anchors.get(entry.anchor)
    if place is None:
        yield f"page {entry.page} has no label or section {entry.anchor}"
    elif entry.check == "figure":
        if not any(FIGURE.search(cell) for cell in place.cells):
            yield f"there is no figure at {entry.home}"
    elif entry.check != "prose":
        yield from check_reasons(entry, place)


def check_reasons(entry, place):
    """What is wrong with the cells that should check an entry."""
    if not place.cells:
        missing = "code cell" if place.sort == "section" else "check cell"
        yield f"{entry.home} has no {missing}"
        return
    checking = [cell for cell in place.cells if asserts(cell)]
    if not checking:
        yield f"the check of {entry.home} asserts nothing"
        return
    if entry.function:
        names = {entry.function, entry.function.rpartition(".")[2]}
        if not any(names & calls(cell) for cell in checking):
            yield f"the check of {entry.home} never calls {entry.function}"


def function_reasons(entry):
    if not entry.function:
        return
    module, _, name = entry.function.rpartition(".")
    try:
        found = importlib.import_module(f"kernelbook.{module}")
    except ModuleNotFoundError:
        yield f"kernelbook has no module {module}"
        return
    if not callable(getattr(found, name, None)):
        yield f"kernelbook.{module} has no function {name}"


FOUND = findings()


@pytest.mark.parametrize("name", IDS)
def test_entry(name):
    assert not [str(found) for found in FOUND if found.id == name]


def test_nothing_else_is_in_the_ledger():
    assert not [str(found) for found in FOUND if found.id not in IDS]


def test_the_list_of_ids_is_whole():
    assert len(IDS) == len(set(IDS)) == 537
    assert sum(name.startswith("E") for name in IDS) == 134


def test_at_most_one_id_in_eight_is_prose():
    entries, _ = read()
    prose = [
        name
        for entry, repeats in with_repeats(entries)
        if entry.check == "prose"
        for name in [entry.id, *(repeat.id for repeat in repeats)]
    ]
    assert len(prose) <= len(IDS) / 8, prose


# ------------------------------------------- results quoted on the errata page

NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?|\d{2,}")


def section_text(entry):
    """The home's whole section, and what its page printed."""
    path = page_path(entry.page)
    record = ROOT / "tests" / "expected" / f"{path.stem}.json"
    return path.read_text("utf-8") + record.read_text("utf-8")


@pytest.mark.parametrize(
    "entry",
    [e for e in read()[0].values() if e.result],
    ids=lambda entry: entry.id,
)
def test_numbers_of_a_result_are_those_its_page_prints(entry):
    text = section_text(entry)
    quoted = NUMBER.findall(entry.result.replace("20 000", "20_000"))
    for number in quoted:
        assert re.search(rf"(?<!\d){re.escape(number)}(?!\d)", text), (
            f"{entry.id}: {page_path(entry.page).name} prints no {number}"
        )


def test_every_erratum_that_matters_is_tried():
    prose = [
        entry.id
        for entry in read()[0].values()
        if entry.kind in KINDS[:3] and entry.check == "prose"
    ]
    assert not prose


def test_an_erratum_is_one_click_away_from_the_page_that_treats_it():
    for entry, _ in with_repeats(read()[0]):
        if entry.is_erratum and entry.page != "errata":
            text = page_path(entry.page).read_text("utf-8")
            assert f"{{erratum}}`{entry.id}`" in text, (
                f"{page_path(entry.page).name} does not link to {entry.id}"
            )


# ------------------------------------------------- the ledger test, on trial

GOOD = """
S000-6.8:
  title: dual solution
  source: PRML (6.8)
  home: 02#eq-6-8
  function: ridge.fit_dual
  check: identity

S001-7:
  source: notes (7)
  same: S000-6.8
"""


def test_a_good_ledger_has_no_findings():
    assert findings(GOOD, ["S000-6.8", "S001-7"]) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("S001-7:", "S001-99:", 9, "unknown id"),
        ("S001-7:", "S001-99:", 0, "missing"),
        ("eq-6-8", "eq-6-88", 2, "page 02 has no label or section eq-6-88"),
        ("02#eq", "99#eq", 2, "the book has no page 99"),
        ("02#eq-6-8", "eq-6-8", 2, "home must be page#anchor, got eq-6-8"),
        ("ridge.fit", "ridge.fat", 2, "has no function fat_dual"),
        ("ridge.fit", "bridge.fit", 2, "kernelbook has no module bridge"),
        ("fit_dual", "target_weights", 2, "never calls ridge.target"),
        ("identity", "faith", 2, "check must be one of identity, monte-carlo"),
        ("02#eq-6-8", "02#fig-gram", 2, "of 02#fig-gram asserts nothing"),
        ("02#eq-6-8", "02#you-need", 2, "02#you-need has no code cell"),
        ("check: identity", "check: figure", 2, "no figure at 02#eq-6-8"),
        ("title: dual", "title: 'dual", 3, "no YAML: "),
        ("title: dual", "title: [dual", 3, "no YAML: "),
        ("  check: identity\n", "", 2, "without check"),
        ("check:", "chek: x\n  check:", 2, "unknown field chek"),
        ("check:", "source: x\n  check:", 2, "source is given twice"),
        ("title: dual solution", "title:", 2, "title must be a piece of text"),
        ("same: S000-6.8", "same: S000-6.7", 9, "S000-6.7 is no entry"),
    ],
)
def test_a_broken_entry_is_named_with_its_line(old, new, line, reason):
    found = findings(GOOD.replace(old, new), ["S000-6.8", "S001-7"])
    assert any(
        problem.line == line and reason in str(problem) for problem in found
    ), list(map(str, found))


def test_a_doubled_id_is_named_with_both_lines():
    found = findings(GOOD + GOOD, ["S000-6.8", "S001-7"])
    assert str(found[0]) == (
        "chapters/ledger.yml:13: S000-6.8: doubled, it is also on line 2"
    )


def test_one_broken_entry_does_not_hide_another():
    text = GOOD.replace("title: dual", "title: 'dual") + (
        "\nE63:\n  kind: wrong\n"
    )
    found = {problem.id for problem in findings(text, ["S000-6.8", "S001-7"])}
    assert {"S000-6.8", "E63"} <= found


def test_a_check_that_only_mentions_assert_asserts_nothing():
    assert not asserts("from numpy.testing import assert_allclose\nx = 1")
    assert asserts("assert_allclose(1, 1)")
    assert asserts("np.testing.assert_allclose(1, 1)")


def test_a_method_of_the_same_name_is_not_the_function():
    entry = Entry("S001-29", 1, {"home": "x#y", "function": "gp.mean"})
    place = places("## y\n```{code-cell}\nassert x.mean() == 1\n```\n")["y"]
    (reason,) = check_reasons(entry, place)
    assert reason == "the check of x#y never calls gp.mean"


def test_a_row_of_the_index_has_all_numbers_of_its_equation():
    entries, _ = read(GOOD)
    ((entry, repeats),) = with_repeats(entries)
    row = entry_row(Book(), entry, repeats)
    assert "[PRML (6.8)]{.src}, [notes (7)]{.src}" in row
    assert "{eq}`eq-6-8` in chapter 2" in row
    assert "<kernelbook.ridge.fit_dual>" in row
    assert "identity; executed" in row


def test_the_index_says_why_an_equation_is_not_executed():
    book = Book()
    book.not_executed = {"eq-6-8": "a limit"}
    place = book.place("02#eq-6-8")
    assert book.executed(place, "eq-6-8") == "; not executed: a limit"
    assert book.executed(book.place("02#you-need"), "you-need") == ""


# ----------------------------------------------------------- the built book

HTML = ROOT / "_build" / "html" / "chapters"


@cache
def ids_in(stem):
    return set(
        re.findall(r'\bid="([^"]+)"', (HTML / f"{stem}.html").read_text())
    )


@pytest.mark.browser
@pytest.mark.parametrize("entry", [e for e, _ in with_repeats(read()[0])])
def test_home_is_in_the_built_book(entry):
    found = ids_in(page_path(entry.page).stem)
    assert found & {entry.anchor, f"equation-{entry.anchor}"}, entry.home


@pytest.mark.browser
@pytest.mark.parametrize("entry", [e for e, _ in with_repeats(read()[0])])
def test_function_is_in_the_built_reference(entry):
    if entry.function:
        assert f"kernelbook.{entry.function}" in ids_in("reference")


@pytest.mark.browser
def test_every_erratum_can_be_linked_to():
    errata = {f"erratum-{i.lower()}" for i in IDS if i.startswith("E")}
    assert errata <= ids_in("errata")


@pytest.mark.browser
def test_every_source_number_is_in_the_index():
    page = (HTML / "equation_index.html").read_text("utf-8")
    for entry in read()[0].values():
        if not entry.is_erratum:
            for number in entry.source.split(" · "):
                assert f'<span class="src">{number}</span>' in page
