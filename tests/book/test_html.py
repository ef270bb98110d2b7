"""Every built page as it is sent: what it weighs, says and leads to."""

import gzip
import inspect
import re
from collections import Counter
from functools import cache
from importlib import import_module
from operator import attrgetter

import pytest
import yaml
from pages import BOOK, CHAPTERS, HTML, PAGES, SITE, describe, law, local, tree

from press.reader import ROOT

pytestmark = pytest.mark.browser  # needs the built book, though no browser
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
REPOSITORY = CONFIG["repository"]["url"]
HTML_LIMIT, FIGURE_LIMIT = 250_000, 600_000
PICTURE = "//*[@id='main-content']//img"
PROSE = "//article//*[self::p or self::li]//text()"
WRONG = {
    "an image that hides its size": "//img[not(@width and @height)]",
    "an image that hides what one sees": (
        rf"{PICTURE}[not(re:test(@alt, '(\S+\s+){{3}}\S|[一-鿿]{{6}}'))"
        r" or re:test(@alt, '\.(svg|png|jpe?g|gif)\b')]"
    ),
    "a second title": "//h1[preceding::h1]",
    "an icon that is not drawn": "//*[re:test(@class, '\\bfa-')]",
    "a formula without its LaTeX, or read aloud twice": (
        "//*[@class='katex'][not(.//annotation/text()"
        " and *[@class='katex-html']/@aria-hidden='true')]"
    ),
    "formulas whose fonts come late": (
        "//body[.//*[@class='katex']][not(//link[@rel='preload'])]"
    ),
    "a dollar sign in prose: mathematics that Markdown did not see": (
        f"{PROSE}[contains(., '$') and not(ancestor::annotation)]/.."
    ),
    "code without colours": (
        "//div[contains(@class, 'cell_input')]//pre[not(.//span[@class])]"
    ),
    "a wide table that is no cards on a phone": (
        "//table[count(./thead/tr[1]/th) > 3][not(re:test(@class,"
        " '^cards|equation-index'))]"
    ),
    "an index to search in that nobody searches": (
        "//script[contains(@src, 'searchindex')]"
        "[not(//*[@id='search-results'])]"
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_no_page_has(what):
    regular = {"re": "http://exslt.org/regular-expressions"}
    wrong = [
        f"{page}: {describe(element)}"
        for page in PAGES
        for element in tree(page).xpath(WRONG[what], namespaces=regular)
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_of_an_older_build():
    code = [p.relative_to(ROOT) for p in (ROOT / "kernelbook").rglob("*.py")]
    known = {f"_modules/{path.with_suffix('.html')}" for path in code}
    known |= {"404.html", "genindex.html", "search.html", *BOOK}
    assert {*PAGES} <= known | {"_modules/index.html"}, "remove _build/html"
    for folder in ("notebooks/*.ipynb", "_sources/chapters/*.md"):
        made = {f"chapters/{path.stem}.html" for path in HTML.glob(folder)}
        assert made <= {*BOOK}, "remove _build/html"


@law(PAGES)
def test_ids_are_unique(page):
    ids = Counter(tree(page).xpath("//@id"))
    yield from (name for name, times in ids.items() if times > 1)


@law(PAGES)
def test_page_keeps_its_weight(page):
    """Compressed, as a server sends it; without the files pages share."""
    size = len(gzip.compress((HTML / page).read_bytes(), 6))
    if size > HTML_LIMIT:
        yield f"{size} bytes of HTML"
    figures = {
        source: local(page, source)[0].stat().st_size
        for source in tree(page).xpath("//img/@src")
        if "_static/" not in source and not source.startswith("data:")
    }
    if sum(figures.values()) > FIGURE_LIMIT:
        yield f"bytes of figures: {figures}"


@law(CHAPTERS)
def test_equations_and_citations_print_the_number_in_the_source(page):
    numbers = {
        equation.get("id"): equation.xpath("string(*[@class='eqno']/text())")
        for equation in tree(page).xpath("//*[@class='eqno']/..")
    }
    known = {f"equation-{e.label}" for e in CHAPTERS[page].equations}
    yield from (f"press.reader has not seen {n}" for n in known ^ {*numbers})
    for name, number in numbers.items():
        source = re.fullmatch(r"equation-eq-(?:(6)-|notes-|gp-)(\d+)", name)
        due = source and ".".join(filter(None, source.groups()))
        if source and number != f"({due})":
            yield f"{name} is numbered {number}"
    for link in tree(page).xpath("//p//a[starts-with(@href, '#equation-')]"):
        if link.text_content() != numbers[link.get("href")[1:]]:
            yield f"{link.get('href')} is cited as {link.text_content()}"


@law(CHAPTERS)
def test_mentions_of_other_chapters_are_links(page):
    others = [chapter for name, chapter in CHAPTERS.items() if name != page]
    numbers = {chapter.number.lstrip("0") for chapter in others}
    for text in tree(page).xpath(f"{PROSE}[not(ancestor::a|ancestor::code)]"):
        for number in re.findall(r"\b[Cc]hapters? (\d{1,2})\b", text):
            if number in numbers:
                yield f"chapter {number} is not linked: {text}"


@law(CHAPTERS)
def test_library_source_is_shown_from_the_file(page):
    """Each listing: what the function is, and its code; no table."""
    shown = " ".join(tree(page).xpath("string(//article)").split())
    if re.search("(Parameters|Returns|Raises|Examples) ---", shown):
        yield "a listing has more than the formula"
    for listing in CHAPTERS[page].directives("literalinclude"):
        path, name = listing.argument[3:-3], listing.options["pyobject"]
        part = attrgetter(name)(import_module(path.replace("/", ".")))
        part = getattr(part, "func", part)  # of a cached property
        code = inspect.getsource(part).rpartition('"""')[2]
        for due in (inspect.getdoc(part).partition("\n\n")[0], code):
            if " ".join(due.split()) not in shown:
                yield f"{path}.py has another {name}"


@cache
def anchors(page):
    return {*tree(page).xpath("//@id"), *tree(page).xpath("//a/@name")}


@law(PAGES)
def test_every_address_leads_somewhere_in_the_book(page):
    for element, _, address, _ in tree(page).iterlinks():
        if re.match("data:|mailto:|javascript:", address):
            continue
        if re.match(r"\w+:|//", address):  # only to the book's repository
            ours = REPOSITORY and address.startswith(REPOSITORY)
            if not ours or element.tag != "a":
                yield f"{describe(element)}: leaves the book"
            continue
        target, anchor = local(page, address)
        if not target.is_relative_to(SITE.resolve()) or not target.exists():
            yield f"{describe(element)}: the book has no {target}"
        elif anchor and target.suffix == ".html":
            name = target.relative_to(HTML.resolve()).as_posix()
            if anchor not in anchors(name):
                yield f"{describe(element)}: {name} has no #{anchor}"
