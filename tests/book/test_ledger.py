"""The ledger is complete, unique and true, and the pages say what it says.

Every id of ``tests/data/ids.txt`` has a home; if that is in a chapter of the
book, it exists there; an equation's check cell exists, asserts, and calls the
function that is named.  All that is wrong is found in one pass.
"""

import importlib
import re
from functools import cache

import pytest
from pages import tree

from press import ledger, ledger_pages
from press.ledger import KINDS, SOURCES, Problem, homes, read
from press.reader import CHAPTERS, ROOT, Page, chapters, find

IDS = (ROOT / "tests" / "data" / "ids.txt").read_text("utf-8").split()
ERRATA = [entry for entry in homes() if entry.is_erratum]
CLAIMS = [entry for entry in homes() if not entry.is_erratum]


def findings(text=None, ids=IDS):
    """Everything that is wrong with the ledger."""
    entries, problems = read(text)
    known = {*entries, *(problem.id for problem in problems)}
    problems += [Problem(0, n, "missing") for n in ids if n not in known]
    labels = {e.label for page in chapters() for e in page.equations}
    left_out = {
        equation.label
        for path in CHAPTERS.glob("[0-9]*.md")
        for equation in Page(path, path.read_text("utf-8")).equations
    }
    for entry in entries.values():
        reasons = []
        if entry.also:
            if entry.id not in labels | left_out:
                reasons = [f"no equation is labelled {entry.id}"]
        elif entry.id not in ids:
            reasons = ["unknown id"]
        elif entry.home and entry.in_book:
            reasons = [*home_reasons(entry), *function_reasons(entry)]
        problems += [Problem(entry.line, entry.id, r) for r in reasons]
    return problems


def home_reasons(entry):
    """What is wrong with the place an entry points to, or its cells."""
    if entry.home == f"errata#erratum-{entry.id.lower()}":
        if entry.check != "prose":
            yield "only prose can have its home on the errata page"
        return
    if find(entry.page) is None:
        yield f"the book has no page {entry.page}"
    elif entry.place is None:
        yield f"page {entry.page} has no label or section {entry.anchor}"
    elif entry.check == "figure":
        if not any(cell.draws for cell in entry.place.cells):
            yield f"there is no figure at {entry.home}"
    elif entry.check != "prose":
        yield from check_reasons(entry, entry.place)


def check_reasons(entry, place):
    checking = [cell for cell in place.cells if cell.asserts]
    if not place.cells:
        missing = "code cell" if place.sort == "section" else "check cell"
        yield f"{entry.home} has no {missing}"
    elif not checking:
        yield f"the check of {entry.home} asserts nothing"
    elif entry.function:
        names = {entry.function, entry.function.rpartition(".")[2]}
        if not any(names & cell.calls for cell in checking):
            yield f"the check of {entry.home} never calls {entry.function}"


def function_reasons(entry):
    module, _, name = entry.function.rpartition(".")
    try:
        found = importlib.import_module(f"kernelbook.{module}".rstrip("."))
    except ModuleNotFoundError:
        yield f"kernelbook has no module {module}"
        return
    if name and not callable(getattr(found, name, None)):
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
    prose = [e for e in homes() if e.check == "prose"]
    count = sum(1 + len(entry.repeats) for entry in prose)
    assert count <= len(IDS) / 8, [entry.id for entry in prose]


# ------------------------------------------------------------- the errata

NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?|\d{2,}")


@pytest.mark.parametrize(
    "entry", [e for e in ERRATA if e.result], ids=lambda entry: entry.id
)
def test_numbers_of_a_result_are_those_its_page_prints(entry):
    page = find(entry.page)
    record = ROOT / "tests" / "expected" / f"{page.path.stem}.json"
    text = page.text + record.read_text("utf-8")
    for number in NUMBER.findall(entry.result.replace("20 000", "20_000")):
        assert re.search(rf"(?<!\d){re.escape(number)}(?!\d)", text), (
            f"{entry.id}: {page.name} prints no {number}"
        )


def test_every_erratum_that_matters_is_tried():
    serious = [entry for entry in ERRATA if entry.kind in KINDS[:3]]
    assert not [entry.id for entry in serious if entry.check == "prose"]


def test_an_erratum_is_one_click_away_from_the_page_that_treats_it():
    for entry in ERRATA:
        page = find(entry.page)
        linked = {role.target for role in page.roles("erratum")}
        assert entry.page == "errata" or entry.id in linked, entry.id


# ------------------------------------------------- the ledger test, on trial

GOOD = """
S000-6.8:
  title: dual solution
  source: PRML (6.8)
  home: {page}#{label}
  function: {function}
  check: identity

S001-7:
  source: notes (7)
  remark: times two
  same: S000-6.8
"""
MODEL = next(e for e in CLAIMS if e.function and e.place.sort == "equation")
GOOD = GOOD.format(
    page=MODEL.page, label=MODEL.anchor, function=MODEL.function
)
SHORT = MODEL.function.rpartition(".")[2]
TWO = ["S000-6.8", "S001-7"]


def test_a_good_ledger_has_no_findings():
    assert findings(GOOD, TWO) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("S001-7:", "S001-99:", 9, "unknown id"),
        ("S001-7:", "S001-99:", 0, "missing"),
        (f"#{MODEL.anchor}", "#eq-none", 2, "no label or section eq-none"),
        (f"{MODEL.page}#", "nowhere#", 2, "the book has no page nowhere"),
        (f"{MODEL.page}#", "", 2, "home must be page#anchor, got eq-"),
        (f".{SHORT}", ".fat", 2, "has no function fat"),
        ("function: ", "function: b", 2, "kernelbook has no module b"),
        (MODEL.function, "kernels.objects", 2, "never calls kernels.objects"),
        ("identity", "faith", 2, "check must be one of identity, monte-carlo"),
        (f"#{MODEL.anchor}", "#you-need", 2, "you-need has no code cell"),
        ("check: identity", "check: figure", 2, "there is no figure at"),
        ("title: dual", "title: 'dual", 3, "no YAML: "),
        ("title: dual", "title: [dual", 3, "no YAML: "),
        ("  check: identity\n", "", 2, "without check"),
        ("check:", "chek: x\n  check:", 2, "unknown field chek"),
        ("check:", "source: x\n  check:", 2, "source is given twice"),
        ("title: dual solution", "title:", 2, "title must be a piece of text"),
        ("same: S000-6.8", "same: S001-7", 9, "S001-7 is no entry"),
        ("\nS001", "\neq-none:\n  also: x\nS001", 9, "is labelled eq-none"),
    ],
)
def test_a_broken_entry_is_named_with_its_line(old, new, line, reason):
    assert old in GOOD
    found = findings(GOOD.replace(old, new), TWO)
    assert any(
        problem.line == line and reason in str(problem) for problem in found
    ), list(map(str, found))


def test_one_broken_entry_does_not_hide_another():
    text = GOOD.replace("title: dual", "title: 'dual") + GOOD
    text += "\nE63:\n  kind: wrong\n"
    found = {problem.id: str(problem) for problem in findings(text, TWO)}
    assert "no YAML" in str(findings(text, TWO)[0])
    assert {"S000-6.8", "E63"} <= found.keys()
    assert found["S001-7"] == (
        "chapters/ledger.yml:21: S001-7: doubled, it is also on line 9"
    )


def test_a_method_of_the_same_name_is_not_the_function():
    text = "## y\n```{code-cell}\nassert x.mean() == 1\n```\n"
    place = Page(CHAPTERS, text).places["y"]
    entry = ledger.Entry("S", 1, {"home": "x#y", "function": "gp.mean"})
    (reason,) = check_reasons(entry, place)
    assert reason == "the check of x#y never calls gp.mean"


# -------------------------------------------------- what is made of it


def test_the_line_under_an_equation_is_made_of_its_entries(monkeypatch):
    entries, _ = read(
        GOOD + f"\n{MODEL.anchor}:\n  also: slides (1) · R&W 5\n"
    )
    monkeypatch.setattr(ledger, "ledger", lambda: entries)
    ledger.sources.cache_clear()
    line = ledger.source_line(MODEL.anchor)
    none = ledger.source_line("eq-none")
    ledger.sources.cache_clear()
    assert line == "PRML (6.8) · notes (7), times two · slides (1) · R&W 5"
    assert none == "not in the sources"


def test_no_equation_is_called_foreign_that_the_sources_have():
    for entry in CLAIMS:
        if entry.place.sort == "equation":
            line = ledger.source_line(entry.anchor)
            assert not line.startswith("not in"), entry.home


def test_a_row_of_the_index_has_all_numbers_of_its_equation(monkeypatch):
    entry = read(GOOD)[0]["S000-6.8"]
    row = ledger_pages.entry_row(entry)
    assert "[PRML (6.8)]{.src}, [notes (7)]{.src}" in row
    assert f"{{eq}}`{MODEL.anchor}` in chapter {int(MODEL.page)}" in row
    assert f"<kernelbook.{MODEL.function}>" in row
    assert "identity; executed" in row
    reasons = {MODEL.anchor: "a limit"}
    monkeypatch.setattr(ledger_pages, "not_executed", lambda: reasons)
    assert "not executed: a limit" in ledger_pages.entry_row(entry)


# ----------------------------------------------------------- the built book


@cache
def ids_in(page):
    return set(tree(f"{page.name}.html").xpath("//@id"))


@pytest.mark.browser
@pytest.mark.parametrize("entry", homes(), ids=lambda entry: entry.id)
def test_home_and_function_are_in_the_built_book(entry):
    names = {entry.anchor, f"equation-{entry.anchor}"}
    assert names & ids_in(find(entry.page)), entry.home
    if entry.function:
        assert f"kernelbook.{entry.function}" in ids_in(find("reference"))


@pytest.mark.browser
@pytest.mark.parametrize("page", chapters(), ids=lambda page: page.path.stem)
def test_every_equation_stands_above_its_line(page):
    """As the page shows it, and in the index of what the search finds."""
    shown = tree(f"{page.name}.html")
    for equation in page.equations:
        (box,) = shown.xpath(f"//*[@id='equation-{equation.label}']")
        line = box.xpath("following::p[1]")[0].text_content()
        for number in ledger.sources().get(equation.label, []):
            if plain := re.match(r"\w+(?: |, after )\([\w.]+\)", number):
                assert plain[0] in line, f"{page.name}: {equation.label}"


@pytest.mark.browser
def test_every_source_number_is_in_the_index_and_found_by_search():
    page = tree("chapters/equation_index.html")
    shown = {span.text_content() for span in page.xpath("//*[@class='src']")}
    index = (ROOT / "_build" / "html" / "searchindex.js").read_text("utf-8")
    for entry in CLAIMS:
        for number in entry.said:
            assert number in shown
            plain = re.match(r"\w+ (?:\([\w.]+\)|p\. \d+)(?=,|$)", number)
            if plain and entry.place.sort == "equation":
                assert f'"{plain[0].lower()}"' in index, number
    assert {number.split()[0].strip(",") for number in shown} == {*SOURCES}


@pytest.mark.browser
def test_every_erratum_can_be_linked_to():
    errata = {f"erratum-{entry.id.lower()}" for entry in ERRATA}
    assert errata <= ids_in(find("errata"))
