"""Words, symbols and names lead to where the book treats them.

The build itself (``--nitpick``) holds that every ``{term}`` has an entry and
every ``{eq}`` an equation.  Here is what it does not see.
"""

import inspect
import pkgutil
import re
from importlib import import_module
from itertools import pairwise
from types import SimpleNamespace

from pages import built, tree
from pybtex.database import parse_file

import kernelbook
from press import bibliography, reference
from press.ledger import CHINESE
from press.reader import CHAPTERS, chapters, find, left_out, pages

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
    modules = {name.partition(".")[0] for name in public()}
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


def test_the_bibliography_says_where_to_find_a_work():
    """Articles by volume and pages; one form for one series."""
    for key, entry in parse_file(CHAPTERS / "references.bib").entries.items():
        fields = entry.fields.keys()
        if entry.type == "article":
            assert {"journal", "volume", "pages"} <= fields, key
        if entry.type == "inproceedings":
            number = r"Information Processing Systems$"  # is missing
            assert not re.search(number, entry.fields["booktitle"]), key
        year = re.search(r"\d{4}", key)
        assert not year or abs(int(year[0]) - int(entry.fields["year"])) <= 1


def test_the_bibliography_is_in_the_order_of_the_alphabet():
    entries = parse_file(CHAPTERS / "references.bib").entries.values()
    style = bibliography.Style()
    works = list(style.format_entries(style.sort(entries)))
    labels = [work.label for work in works]
    assert len({*labels}) == len(labels) == len(entries)
    assert all(re.fullmatch(r"[A-Za-z]{2,6}\+?\d\d[a-z]?", x) for x in labels)
    keys = [work.key for work in works]
    for pair in ("gardner2018 gaertner2003", "sarkka2013 saunders1998"):
        first, second = pair.split()
        assert keys.index(first) + 1 == keys.index(second)


# For those who use the library without the book: no chapter needs them.
OUTSIDE = ("estimators.", "exceptions.", "labels.")
DOORS = {
    "kernel_logistic.KernelLogistic",
    "kernel_logistic.fit",
}


def public():
    """Functions and classes of the library, and their source."""
    return {
        f"{module}.{name}": inspect.getsource(thing)
        for _, module, _ in pkgutil.iter_modules(kernelbook.__path__)
        if not module.startswith("_")
        for name, thing in vars(import_module(f"kernelbook.{module}")).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and f"{thing.__module__}.".startswith(f"kernelbook.{module}.")
    }


def with_what_they_use(names, sources):
    """Also what they call or return, and what that does: gp.fit -> gp.GP."""
    more = set()
    for name in sources.keys() - names:
        module, short = name.split(".")
        # gp.fit( anywhere; in its own module also fit(, -> GP and (GP)
        own = rf"(?<![.\w]){short}\(|-> \"?{short}\b|\({short}\)"
        for user in sources.keys() & names:
            near = own if user.startswith(f"{module}.") else r"(?!)"
            if re.search(rf"\b{module}\.{short}\(|{near}", sources[user]):
                more.add(name)
    return with_what_they_use(names | more, sources) if more else names


def test_the_book_uses_every_function():
    """All chapters together: a book without some may use fewer."""
    names = set().union(*map(reference.named, [*chapters(), *left_out()]))
    unused = public().keys() - with_what_they_use(names, public())
    assert {name for name in unused if not name.startswith(OUTSIDE)} == DOORS


def test_an_argument_of_two_lines_is_told_as_one_of_one_line():
    """Napoleon takes the first line for a type, and sets it in italics."""
    lines = ["* **k** (*(N, N*) kernel values, of the new*) -- inputs"]
    env = SimpleNamespace(note_dependency=lambda path: None)
    app = SimpleNamespace(env=env)
    reference.link(app, "function", "kernelbook.ridge", None, None, lines)
    assert lines == ["* **k**: (N, N*) kernel values, of the new inputs"]


@built
def test_no_argument_of_the_reference_page_is_torn():
    page = tree("chapters/reference.html")
    items = page.xpath("//dl[contains(@class,'field-list')]//dd//*[strong]")
    assert len(items) > 500
    for item in items:
        words = item.text_content()
        assert not re.match(r"[\w, ]+ \(.*\) –", words, re.S), words
    assert "Alias for field" not in page.text_content()


@built
def test_the_reference_page_links_every_function_to_its_chapter():
    entries = tree("chapters/reference.html").xpath(
        "//dl[contains(@class,'function') or contains(@class,'class')]"
    )
    assert len(entries) > 150
    for entry in entries:
        (name,) = entry.xpath("./dt/@id")
        linked = " ".join(entry.xpath("./dd/p[2]//a/@href"))
        for link in reference.links(name.removeprefix("kernelbook.")):
            target = re.findall(r"[\w-]+", link)[-1]
            assert target in linked, (name, target)


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


@built
def test_the_chinese_words_are_all_listed_in_the_order_of_their_sounds():
    section = tree("chapters/glossary.html").xpath("//article//section")[-1]
    listed = [
        node.text_content() for node in section.xpath("./p//*[@lang='zh']")
    ]
    due = [
        name
        for text in ENTRIES.values()
        for name in re.findall(r"\{zh\}`([^`]+)`", text.partition(". ")[0])
    ]
    assert sorted(listed) == sorted(due) and len(due) > len(ENTRIES)
    places = [listed.index(name) for name in ("鞍点", "核函数", "支持向量")]
    assert places == sorted(places)  # an, he, zhi
    links = section.xpath("./p//a/@href")
    assert len(links) == len(due) and all("#term-" in x for x in links)
