"""The ledger is complete, unique and true, and the pages say what it says.

Every id of ``tests/data/ids.txt`` has a home; if that is in a chapter of the
book, it exists there; an equation's check cell exists, asserts, and calls the
function that is named.  All that is wrong is found in one pass.
"""

import importlib
import re

import pytest
from pages import CHAPTERS as PAGES
from pages import HTML, built, law, tree

from press import ledger, ledger_pages
from press.evidence import numbers, traces
from press.ledger import KINDS, Problem, homes, read
from press.reader import (
    CHAPTERS,
    ROOT,
    Page,
    Words,
    chapters,
    find,
    left_out,
)

IDS = (ROOT / "tests" / "data" / "ids.txt").read_text("utf-8").split()
SOURCES = set(ledger.SOURCES)
CLAIMS = [entry for entry in homes() if not entry.is_erratum]
LABELS = {
    equation.label
    for page in [*chapters(), *left_out()]
    for equation in page.equations
}


def findings(text=None, ids=IDS):
    """Everything that is wrong with the ledger."""
    entries, problems = read(text)
    known = {*entries, *(problem.id for problem in problems)}
    problems += [Problem(0, n, "missing") for n in ids if n not in known]
    for entry in entries.values():
        found = reasons(entry, ids)
        problems += [Problem(entry.line, entry.id, r) for r in found]
    return problems


def reasons(entry, ids):
    if entry.also:
        if entry.id not in LABELS:
            yield f"no equation is labelled {entry.id}"
    elif entry.id not in ids:
        yield "unknown id"
    elif entry.home and entry.in_book:
        yield from home_reasons(entry)
        yield from function_reasons(entry)
        if entry.is_erratum:
            yield from erratum_reasons(entry, find(entry.page))
        elif not SOURCES & {*map(ledger.origin, entry.said)}:
            yield "stands in none of the sources"


def home_reasons(entry):
    """What is wrong with the place an entry points to, or its cells."""
    if entry.home == f"errata#erratum-{entry.id.lower()}":
        if entry.check != "prose":
            yield "only prose can have its home on the errata page"
    elif find(entry.page) is None:
        yield f"the book has no page {entry.page}"
    elif entry.place is None:
        yield f"page {entry.page} has no label or section {entry.anchor}"
    elif entry.check == "figure":
        if not any(cell.draws for cell in entry.place.cells):
            yield f"there is no figure at {entry.home}"
    elif entry.check != "prose":
        yield from check_reasons(entry, entry.place.cells)


def check_reasons(entry, cells):
    checking = [cell for cell in cells if cell.asserts]
    names = {entry.function, entry.function.rpartition(".")[2]}
    if not cells:
        yield f"{entry.home} has no check cell"
    elif not checking:
        yield f"the check of {entry.home} asserts nothing"
    elif entry.function and not any(names & c.calls for c in checking):
        yield f"the check of {entry.home} never calls {entry.function}"


def function_reasons(entry):
    module, _, name = entry.function.rpartition(".")
    try:
        found = importlib.import_module(f"kernelbook.{module}".rstrip("."))
        if name and not callable(getattr(found, name, None)):
            yield f"kernelbook.{module} has no function {name}"
    except ModuleNotFoundError:
        yield f"kernelbook has no module {module}"


def erratum_reasons(entry, page):
    """What is found is printed; what matters is tried; a link leads there."""
    cells = entry.place.cells if entry.place else []
    shown = [traces(page)[page.cells.index(cell)] for cell in cells]
    there = [n for one in shown for n in (*one.printed, *one.typed)]
    said = re.sub(r"\([\d.]+\)|p\. \d+", "", entry.result)  # of the source
    for number in numbers(Words(line=entry.line, end=0, text=said)):
        if not any(map(number.is_like, there)):
            yield f"its experiment prints no {number.text}"
    if entry.kind in KINDS[:3] and entry.check == "prose":
        yield f"{entry.kind}, but nothing is tried"
    linked = {role.target for role in page.roles("erratum")}
    if entry.page != "errata" and entry.id not in linked:
        yield f"{page.name} does not link to it"


def test_nothing_is_wrong_with_the_ledger():
    wrong = "\n".join(map(str, findings()))
    assert not wrong, wrong


def test_the_list_of_ids_is_whole_and_little_is_prose():
    assert len(IDS) == len(set(IDS)) == 537
    assert sum(name.startswith("E") for name in IDS) == 134
    prose = [e for e in homes() if e.check == "prose"]
    count = sum(1 + len(entry.repeats) for entry in prose)
    assert count <= len(IDS) / 8, [entry.id for entry in prose]


# ------------------------------------------------- the ledger test, on trial

MODEL = next(e for e in CLAIMS if e.function and e.anchor in LABELS)
SHORT = MODEL.function.rpartition(".")[2]
GOOD = f"""
S000-6.8:
  title: dual solution
  source: PRML (6.8)
  home: {MODEL.home}
  function: {MODEL.function}
  check: identity

S001-7:
  source: notes (7)
  remark: times two
  same: S000-6.8
"""
TWO = ["S000-6.8", "S001-7"]


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
        (f"#{MODEL.anchor}", "#you-need", 2, "you-need has no check cell"),
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
    assert old in GOOD and not findings(GOOD, TWO)
    found = findings(GOOD.replace(old, new), TWO)
    said = [str(problem) for problem in found if problem.line == line]
    assert any(reason in words for words in said), found


def test_one_broken_entry_does_not_hide_another():
    text = GOOD.replace("check: identity", "chek: x") + GOOD
    text += "\nE63:\n  kind: wrong\n"
    found = {problem.id: str(problem) for problem in findings(text, TWO)}
    assert {"S000-6.8", "E63"} <= found.keys()
    assert found["S001-7"] == (
        "chapters/ledger.yml:21: S001-7: doubled, it is also on line 9"
    )


def test_a_method_of_the_same_name_is_not_the_function():
    text = "## y\n```{code-cell}\nassert x.mean() == 1\n```\n"
    place = Page(CHAPTERS, text).places["y"]
    entry = ledger.Entry("S", 1, {"home": "x#y", "function": "gp.mean"})
    (reason,) = check_reasons(entry, place.cells)
    assert reason == "the check of x#y never calls gp.mean"


def test_a_number_that_its_experiment_does_not_print_is_found():
    """Nor does it help that another cell of the page prints it."""
    for entry in [e for e in homes() if e.result and e.place.cells]:
        page = find(entry.page)
        index = {page.cells.index(cell) for cell in entry.place.cells}
        all_of = [
            (i in index, n)
            for i, t in enumerate(traces(page))
            for n in t.printed + t.typed
        ]
        there = {n for here, n in all_of if here}
        absent = [n for here, n in all_of if n > 1000 and n not in there]
        for number in [*(f"{n:.0f}" for n in absent[:1]), "7.77777"]:
            fields = entry.fields | {"result": f"It is {number}."}
            wrong = ledger.Entry(entry.id, 1, fields)
            reason = f"its experiment prints no {number}"
            assert reason in [*erratum_reasons(wrong, page)], entry.id


# -------------------------------------------------- what is made of it


def test_the_line_under_an_equation_is_made_of_its_entries(monkeypatch):
    also = f"\n{MODEL.anchor}:\n  also: slides (1) · R&W 5\n"
    entries, _ = read(GOOD + also)
    monkeypatch.setattr(ledger, "ledger", lambda: entries)
    monkeypatch.setattr(ledger, "sources", ledger.sources.__wrapped__)
    line = ledger.source_line(MODEL.anchor)
    assert line == "PRML (6.8) · notes (7), times two · slides (1) · R&W 5"
    assert ledger.source_line("eq-none") == "not in the sources"


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


@law(PAGES)
def test_every_equation_stands_above_its_line(page):
    for equation in PAGES[page].equations:
        (box,) = tree(page).xpath(f"//*[@id='equation-{equation.label}']")
        line = box.xpath("following::p[1]")[0].text_content()
        for number in ledger.sources().get(equation.label, ["not in the"]):
            plain = re.match(r"\w+(?: |, after )\([\w.]+\)|not in the", number)
            if plain and plain[0] not in line:
                yield f"{equation.label} is not said to be {plain[0]}"


@built
def test_every_source_number_is_in_the_index_and_found_by_search():
    page = tree("chapters/equation_index.html")
    shown = {span.text_content() for span in page.xpath("//*[@class='src']")}
    index = (HTML / "searchindex.js").read_text("utf-8")
    for entry in CLAIMS:
        assert entry.said.keys() <= shown
        for number in entry.said if entry.anchor in LABELS else []:
            plain = re.match(r"\w+ (?:\([\w.]+\)|p\. \d+)(?=,|$)", number)
            assert not plain or f'"{plain[0].lower()}"' in index, number
    for source in SOURCES:
        numbers, places = [], []
        for link in page.xpath(f"//*[@id='source-{source.lower()}']//a"):
            (row,) = page.xpath(f"//tr[.//*[@id='{link.get('href')[1:]}']]")
            assert link.text_content() in row.text_content(), source
            numbers.append(link.text_content())
            places.append(ledger_pages.place(numbers[-1]))
        due = [n for e in CLAIMS for n in e.said if n.startswith(source)]
        assert len(numbers) == len(due) > 0 and places == sorted(places)
