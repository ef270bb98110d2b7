"""Words, symbols and names lead to where the book treats them.

The build itself (``--nitpick``) holds that every ``{term}`` has an entry and
every ``{eq}`` an equation.  Here is what it does not see.
"""

import importlib
import inspect
import pkgutil
import re
from functools import cache

import pytest
import reference_links
from ledger import CHINESE
from pages import tree
from pybtex.database import parse_file
from reading import CHAPTERS, chapters

import kernelbook

GLOSSARY = (CHAPTERS / "glossary.md").read_text("utf-8")
REFERENCE = (CHAPTERS / "reference.md").read_text("utf-8")
MODULES = sorted(
    module.name
    for module in pkgutil.iter_modules(kernelbook.__path__)
    if not module.name.startswith("_")
)
each_chapter = pytest.mark.parametrize(
    "chapter", chapters(), ids=lambda chapter: chapter.path.stem
)


def entries():
    """Headword and text of every entry of the glossary."""
    body = re.search(r"```\{glossary\}\n(.*?)^```", GLOSSARY, re.M | re.S)[1]
    blocks = (block.split("\n", 1) for block in body.strip().split("\n\n"))
    return {headword: text for headword, text in blocks}


@pytest.mark.parametrize("headword", entries())
def test_an_entry_has_its_chinese_a_definition_and_a_place(headword):
    text = entries()[headword]
    chinese, _, rest = text.strip().partition(". ")
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
    linked = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", chapter.text)
    assert len(linked) >= 5
    assert len(linked) == len(set(name.lower() for name in linked))
    assert len(re.findall(r"^```\{index\} \S", chapter.text, re.M)) >= 4
    for line in chapter.text.splitlines():
        assert not ("{term}" in line and line.startswith(("#", "|")))


def test_every_module_is_in_the_reference_once():
    named = re.findall(r"automodule:: kernelbook\.(\w+)$", REFERENCE, re.M)
    assert sorted(named) == MODULES


def test_what_is_cited_is_in_the_bibliography_and_the_reverse():
    cited = set()
    for page in CHAPTERS.glob("*.md"):
        for keys in re.findall(
            r"\{cite(?::\w+)?\}`([^`]+)`", page.read_text("utf-8")
        ):
            cited |= {key.strip() for key in keys.split(",")}
    known = set(parse_file(str(CHAPTERS / "references.bib")).entries)
    assert cited == known


@cache
def public():
    """Functions and classes of the library, as ``module.name``."""
    found = {}
    for module in MODULES:
        members = vars(importlib.import_module(f"kernelbook.{module}"))
        for name, member in members.items():
            if (
                not name.startswith("_")
                and (inspect.isfunction(member) or inspect.isclass(member))
                and f"{member.__module__}.".startswith(f"kernelbook.{module}.")
            ):
                found[f"{module}.{name}"] = member
    return found


# For those who use the library without the book: no chapter needs them.
DOORS = {
    "estimators.GaussianProcessRegressor",
    "estimators.KernelLogisticRegression",
    "estimators.KernelRidge",
    "estimators.SVC",
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
    uses = reference_links.book()
    unused = {name for name in public() if not uses.get(name, ([], []))[1]}
    assert unused == DOORS
    with_equation = [name for name in public() if uses.get(name, [[]])[0]]
    assert len(with_equation) > 0.8 * len(public().keys() - DOORS)


@pytest.mark.parametrize(
    ("function", "label", "chapter"),
    [
        ("ridge.fit_dual", "eq-6-8", "02"),  # in the ledger
        ("bayes.fit_lda", "eq-lda-covariance", "12"),  # beside its listing
        ("gp.loo", "eq-ml-loo-closed", "09"),  # through what calls it
    ],
)
def test_a_function_belongs_to(function, label, chapter):
    equations, numbers = reference_links.book()[function]
    assert label in [home[2] for home in equations]
    assert chapter in numbers


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
    uses = reference_links.uses({"08": TEXT}, [])
    home = [("08", 5, "eq-one", "equation")]
    assert uses["gp.fit"] == (home, ["08"])  # of the section of its listing
    assert uses["gp.mean"] == (home, ["08"])  # its check calls it
    assert uses["gp.step"] == ([], ["08"])  # named, and no more


def test_the_line_goes_below_the_first_paragraph():
    lines = ["One.", "Still one.", "", "Two.", ""]
    reference_links.insert(lines, "X")
    assert lines == ["One.", "Still one.", "", "X", "", "Two.", ""]
    short = ["One."]
    reference_links.insert(short, "X")
    assert short == ["One.", "", "X", ""]


@pytest.mark.browser
def test_the_reference_page_links_every_function_to_its_chapter():
    page = tree("chapters/reference.html")
    documented = page.xpath(
        "//dl[contains(@class,'function') or contains(@class,'class')]"
    )
    shown = {}
    for entry in documented:
        name = entry.xpath("./dt/@id")[0].removeprefix("kernelbook.")
        shown[name] = entry.xpath("./dd//a/@href")
    assert len(shown) > 150
    for name in shown.keys() & public().keys() - DOORS:
        links = shown[name]
        equations, numbers = reference_links.book()[name]
        for number in numbers:
            assert any(f"{number}_" in link for link in links), name
        for _, _, label, sort in equations:
            if sort == "equation":
                assert any(
                    link.endswith(f"#equation-{label}") for link in links
                )


@pytest.mark.browser
def test_the_general_index_leads_to_sections_and_glossary():
    links = tree("genindex.html").xpath("//article//a/@href")
    assert any("02_dual_representation.html#index-" in link for link in links)
    assert any("glossary.html#term-Gram-matrix" in link for link in links)
    for page in ["chapters/index.html", "chapters/glossary.html"]:
        found = tree(page).xpath("//article//a/@href")
        assert "../genindex.html" in found


@pytest.mark.browser
def test_chinese_is_marked_as_chinese():
    page = tree("chapters/glossary.html")
    marked = page.xpath("//article//*[@lang='zh']")
    assert len(marked) >= len(entries())


@pytest.mark.browser
def test_the_glossary_page_shows_every_headword():
    shown = tree("chapters/glossary.html").xpath(
        "//dl[contains(@class,'glossary')]/dt"
    )
    words = {dt.text_content().rstrip("#¶").strip() for dt in shown}
    assert {name.replace("'", "’") for name in entries()} == {
        word.replace("'", "’") for word in words
    }
