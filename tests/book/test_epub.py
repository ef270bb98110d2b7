"""The EPUB that ``make epub`` left beside the pages.

``make check-epub`` builds it and runs this; epubcheck is Debian's package of
that name.
"""

import re
import subprocess
import zipfile
from functools import cache
from posixpath import normpath
from urllib.parse import urldefrag

import pytest
from lxml import etree
from pages import HTML

from press.epub import BOOK
from press.reader import chapters, pages
from press.translation import say

pytestmark = pytest.mark.paper
XHTML = "{http://www.w3.org/1999/xhtml}"
MATH = "{http://www.w3.org/1998/Math/MathML}math"
MOVES = " It moves on the page {}."


@cache
def files():
    with zipfile.ZipFile(HTML / BOOK) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@cache
def tree(page):
    return etree.fromstring(files()[f"{page.name}.xhtml"])


def test_epubcheck_finds_nothing_wrong():
    # Debian's program is its archive of Java.
    judge = ["java", "-jar", "/usr/share/java/epubcheck.jar", HTML / BOOK]
    done = subprocess.run(judge, capture_output=True, text=True)
    assert re.findall("^(?:FATAL|ERROR|WARNING).*", done.stderr, re.M) == []
    assert done.returncode == 0
    assert "0 fatals / 0 errors / 0 warnings" in done.stdout


def test_every_labelled_equation_is_mathml_beside_its_number():
    for page in chapters():
        found = tree(page).iterfind(f".//{XHTML}div[@class='math']")
        shown = {div.get("id"): div for div in found}
        for math in page.equations:
            div = shown[f"equation-{math.label}"]
            assert re.match(r"\s*\(\w+(\.\d+)?\)", "".join(div.itertext()))
            assert div.find(f".//{MATH}").get("display") == "block", math.label


def test_it_is_all_there_and_nothing_moves():
    for page in pages():
        built = (HTML / f"{page.name}.html").read_text("utf-8")
        made = files()[f"{page.name}.xhtml"].decode()
        for kind in ("<h2", "<table", "<pre", "<img", "</dt>", "<figcaption"):
            body = built[built.index("<article") : built.index("</article>")]
            assert made.count(kind) == body.count(kind), (page.name, kind)
        live = sum("figures.live" in cell.calls for cell in page.cells)
        assert made.count(say(MOVES).partition("{")[0]) == live
        for word in (
            "<script",
            "<button",
            "<input",
            "katex-html",
            'href="http:',
        ):
            assert word not in made


def test_every_link_leads_somewhere():
    ids = {
        page.name: {e.get("id") for e in tree(page).iter()} for page in pages()
    }
    for page in pages():
        for link in tree(page).iterfind(f".//{XHTML}a[@href]"):
            path, place = urldefrag(link.get("href"))
            if not path.startswith("http"):
                there = (
                    normpath(f"{page.name}/../{path}") if path else page.name
                )
                assert place in {"", *ids[there.removesuffix(".xhtml")]}
