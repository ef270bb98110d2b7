"""Words, symbols and names lead to where the book treats them.

The build itself (``--nitpick``) holds that every ``{term}`` has an entry and
every ``{eq}`` an equation.  Here is what it does not see.
"""

import inspect
import re

import pytest
from pages import tree
from pybtex.database import parse_file

from press import reference
from press.ledger import CHINESE
from press.reader import CHAPTERS, Page, chapters, find, left_out, pages

GLOSSARY = find("glossary")
each_chapter = pytest.mark.parametrize(
    "chapter", chapters(), ids=lambda chapter: chapter.path.stem
)


def entries():
    """Headword and text of every entry of the glossary."""
    (body,) = [d.body for d in GLOSSARY.directives("glossary")]
    blocks = (block.split("\n", 1) for block in body.strip().split("\n\n"))
    return {headword: text for headword, text in blocks}


@pytest.mark.parametrize("headword", entries())
def test_an_entry_has_its_chinese_a_definition_and_a_place(headword):
    chinese, _, rest = entries()[headword].strip().partition(". ")
    names = re.findall(r"\{zh\}`([^`]+)`", chinese)
    assert names and all(map(CHINESE.search, names))
    assert not CHINESE.search(headword)
    assert len(rest.split()) > 5
    assert re.search(r"\{(eq|doc|prf:ref)\}`", rest), "no link to a chapter"


def test_the_glossary_is_large_and_in_order():
    names = [
        re.sub(r"[^a-zé]+", " ", name.lower().replace("'", ""))
        for name in entries()
    ]
    assert len(names) == len(set(names)) >= 80
    assert names == sorted(names)


@each_chapter
def test_a_chapter_links_its_words_and_enters_itself_in_the_index(chapter):
    """Links stand in running prose, once for each entry."""
    linked = [role.target.lower() for role in chapter.roles("term")]
    assert len(linked) == len(set(linked)) >= 5
    assert len([d for d in chapter.directives("index") if d.argument]) >= 4
    for line in chapter.text.splitlines():
        assert not ("{term}" in line and line.startswith(("#", "|")))


def test_every_module_is_in_the_reference_once():
    named = re.findall(
        r"automodule:: kernelbook\.(\w+)$", find("reference").text, re.M
    )
    modules = {name.partition(".")[0] for name in reference.public()}
    assert sorted(named) == sorted(modules)


def test_what_is_cited_is_in_the_bibliography_and_the_reverse():
    cited = {
        key.strip()
        for page in [*pages(), *left_out()]
        for role in page.roles(r"cite(:\w)?")
        for key in role.target.split(",")
    }
    lines = (CHAPTERS / "ledger.yml").read_text("utf-8")
    cited |= set(re.findall(r"\{cite:t\}`(\w+)`", lines))
    assert cited == set(parse_file(CHAPTERS / "references.bib").entries)


# For those who use the library without the book: no chapter needs them.
DOORS = {
    "estimators.GaussianProcessRegressor",
    "estimators.KernelLogisticRegression",
    "estimators.KernelRidge",
    "estimators.SVC",
    "exceptions.ConvergenceWarning",
    "exceptions.JitterWarning",
    "gp.Trend",
    "kernel_logistic.KernelLogistic",
    "kernel_logistic.fit",
    "labels.Coding",
    "labels.coding",
    "ridge.KernelRidge",
    "ridge.fit",
    "svm.KernelMachine",
    "svm.fit",
    "svm.predict",
}


def test_the_book_uses_every_function_and_most_have_an_equation():
    """All chapters together: a book without some may use fewer."""
    every = sorted([*chapters(), *left_out()], key=lambda page: page.number)
    public = reference.public()
    sources = {name: inspect.getsource(x) for name, x in public.items()}
    used = reference.uses(every, reference.homes())
    used = reference.inherited(used, sources)
    assert {n for n in public if not used.get(n, [[], []])[1]} == DOORS
    with_equation = [name for name in public if used.get(name, [[]])[0]]
    assert len(with_equation) > 0.8 * len(public.keys() - DOORS)


TEXT = """# T

## Fit

```{math}
:label: eq-one
1
```

```{literalinclude} ../kernelbook/gp.py
:pyobject: fit
```

```{code-cell} ipython3
:tags: [check-eq-one]

assert gp.mean(1) == 1
plot(gp.step)
```
"""


def test_uses_are_read_from_listings_and_cells():
    uses = reference.uses([Page(CHAPTERS / "08_x.md", TEXT)], [])
    home = [("08", 5, "eq-one", "equation")]
    assert uses["gp.fit"] == (home, ["08"])  # of the section of its listing
    assert uses["gp.mean"] == (home, ["08"])  # its check calls it
    assert uses["gp.step"] == ([], ["08"])  # named, and no more


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["One.", "Still one.", "", "Two.", ""], [0, 1, "", "X", "", 3, ""]),
        (["One."], [0, "", "X", ""]),
    ],
)
def test_the_line_goes_below_the_first_paragraph(before, after):
    lines = list(before)
    reference.insert(lines, "X")
    assert lines == [before[x] if isinstance(x, int) else x for x in after]


@pytest.mark.browser
def test_the_reference_page_links_every_function_to_its_chapter():
    shown = {
        entry.xpath("./dt/@id")[0].removeprefix("kernelbook."): entry
        for entry in tree("chapters/reference.html").xpath(
            "//dl[contains(@class,'function') or contains(@class,'class')]"
        )
    }
    assert len(shown) > 150
    for name in shown.keys() & reference.book().keys():
        links = " ".join(shown[name].xpath("./dd//a/@href"))
        equations, numbers = reference.book()[name]
        for number in numbers:
            assert find(number).path.stem in links, name
        for _, _, label, sort in equations:
            assert sort != "equation" or f"#equation-{label}" in links, name


@pytest.mark.browser
def test_the_general_index_leads_to_sections_and_glossary():
    links = tree("genindex.html").xpath("//article//a/@href")
    assert any(f"{chapters()[0].path.stem}.html#index-" in x for x in links)
    assert any("glossary.html#term-Gram-matrix" in link for link in links)
    for page in ["chapters/index.html", "chapters/glossary.html"]:
        assert "../genindex.html" in tree(page).xpath("//article//a/@href")


@pytest.mark.browser
def test_the_glossary_page_shows_every_headword_and_marks_chinese():
    page = tree("chapters/glossary.html")
    shown = page.xpath("//dl[contains(@class,'glossary')]/dt")
    words = [dt.text_content().rstrip("#¶").strip() for dt in shown]
    assert {name.replace("'", "’") for name in entries()} == {
        word.replace("'", "’") for word in words
    }
    marked = page.xpath("//article//*[@lang='zh']")
    assert len(marked) >= len(entries())
