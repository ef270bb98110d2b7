"""Words, symbols and names lead to where the book treats them.

The build itself (``--nitpick``) holds that every ``{term}`` has an entry and
every ``{eq}`` an equation.  Here is what it does not see.
"""

import re
from itertools import pairwise

from pages import built, tree
from pybtex.database import parse_file

from press import reference
from press.ledger import CHINESE
from press.reader import CHAPTERS, Page, chapters, find, left_out, pages

(GLOSSARY,) = find("glossary").directives("glossary")
ENTRIES = dict(
    block.split("\n", 1) for block in GLOSSARY.body.strip().split("\n\n")
)


def test_an_entry_has_its_chinese_a_definition_and_a_place_in_order():
    for headword, text in ENTRIES.items():
        chinese, _, rest = text.strip().partition(". ")
        names = re.findall(r"\{zh\}`([^`]+)`", chinese)
        assert names and all(map(CHINESE.search, names)), headword
        assert len(rest.split()) > 5, headword
        assert re.search(r"\{(eq|doc|prf:ref)\}`", rest), headword
    names = [name.lower().replace("'", "") for name in ENTRIES]
    names = [re.sub("[^a-zé]+", " ", name) for name in names]
    assert len(names) >= 80
    for before, after in pairwise(names):
        assert before < after, f"glossary.md: {after} stands below {before}"


def test_every_module_is_in_the_reference_once():
    text = find("reference").text
    named = re.findall(r"automodule:: kernelbook\.(\w+)$", text, re.M)
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
    entries = parse_file(CHAPTERS / "references.bib").entries
    assert not cited ^ {*entries}, "references.bib: not cited, or missing"


# For those who use the library without the book: no chapter needs them.
DOORS = {
    "estimators.FourierRidge",
    "estimators.GaussianProcessRegressor",
    "estimators.IterativeRidge",
    "estimators.KernelLogisticRegression",
    "estimators.KernelRidge",
    "estimators.NystromRidge",
    "estimators.SVC",
    "estimators.SVR",
    "estimators.SparseGaussianProcessRegressor",
    "exceptions.ConvergenceWarning",
    "exceptions.JitterWarning",
    "kernel_logistic.KernelLogistic",
    "kernel_logistic.fit",
    "labels.Coding",
    "labels.coding",
    "svm.KernelMachine",
    "svm.fit",
}

# Their part of the book, on large N, is still to be written.
AHEAD = ("distributed.", "iterative.")


def test_the_book_uses_every_function_and_most_have_an_equation():
    """All chapters together: a book without some may use fewer."""
    every = sorted([*chapters(), *left_out()], key=lambda page: page.number)
    used = reference.book(*every)
    public = {
        name: place
        for name, place in reference.public().items()
        if not name.startswith(AHEAD)
    }
    assert {n for n in public if not used.get(n, [[], []])[1]} == DOORS
    with_equation = [name for name in public if used.get(name, [[]])[0]]
    enough = 0.8 * len(public.keys() - DOORS)
    assert left_out() or len(with_equation) > enough


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
    uses = reference.uses([Page(CHAPTERS / "08_x.md", TEXT)])
    home = [("08", 5, "eq-one", "equation")]
    assert uses["gp.fit"] == (home, ["08"])  # of the section of its listing
    assert uses["gp.mean"] == (home, ["08"])  # its check calls it
    assert uses["gp.step"] == ([], ["08"])  # named, and no more


@built
def test_the_reference_page_links_every_function_to_its_chapter():
    entries = tree("chapters/reference.html").xpath(
        "//dl[contains(@class,'function') or contains(@class,'class')]"
    )
    names = [entry.xpath("./dt/@id")[0] for entry in entries]
    assert len(names) > 150
    for name, entry in zip(names, entries, strict=True):
        links = " ".join(entry.xpath("./dd/p[2]//a/@href"))
        used = reference.book().get(name.removeprefix("kernelbook."))
        for number in used[1] if used else []:
            assert find(number).path.stem in links, name
        for _, _, label, sort in used[0] if used else []:
            assert sort != "equation" or f"#equation-{label}" in links, name


@built
def test_the_general_index_leads_to_sections_and_glossary():
    links = tree("genindex.html").xpath("//article//a/@href")
    assert any(f"{chapters()[0].path.stem}.html#index-" in x for x in links)
    assert any("glossary.html#term-Gram-matrix" in link for link in links)
    for page in ["chapters/index.html", "chapters/glossary.html"]:
        assert "../genindex.html" in tree(page).xpath("//article//a/@href")


@built
def test_the_glossary_page_shows_every_headword_and_marks_chinese():
    page = tree("chapters/glossary.html")
    shown = page.xpath("//dl[contains(@class,'glossary')]/dt")
    words = [dt.text_content().rstrip("#¶").strip() for dt in shown]
    assert [name.replace("'", "’") for name in ENTRIES] == words
    assert len(page.xpath("//article//*[@lang='zh']")) >= len(ENTRIES)
