"""The built pages as data: what there is, and what stands in it.

Which chapters there are, ``_toc.yml`` says, and tests ask for them here.  With
``KERNELBOOK_LANGUAGE=zh_CN`` the pages are those of the Chinese edition.
"""

import re
from functools import cache
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html as parser

from press import twins
from press.reader import ROOT, chapters, pages
from press.translation import TRANSLATED

SITE = twins.ENGLISH  # which has the other edition in it
HTML = twins.CHINESE if TRANSLATED else SITE
AXE = ROOT / "tests" / "vendor" / "axe-core" / "axe.min.js"
PAGES = sorted(
    path.relative_to(HTML).as_posix()
    for path in HTML.rglob("*.html")
    if not {"_static", "zh"} & {*path.relative_to(HTML).parts}
    and path != HTML / "index.html"
)
FRONT, *_ = BOOK = [f"{page.name}.html" for page in pages()]
CHAPTERS = {f"{chapter.name}.html": chapter for chapter in chapters()}
MODEL, *_, LAST = CHAPTERS
built = pytest.mark.browser  # needs the built book


def law(pages):
    """A test of pages, of a function that says what is wrong with one."""

    def test_of(find):
        @built
        def test():
            wrong = [f"{page}: {w}" for page in pages for w in find(page)]
            assert not wrong, "\n".join(wrong)

        return test

    return test_of


@cache
def tree(page):
    """The parsed page."""
    return parser.fromstring((HTML / page).read_bytes())


def describe(element):
    """An element, short enough for a message."""
    text = parser.tostring(element, encoding="unicode", with_tail=False)
    return re.sub(r"\s+", " ", text)[:160]


def local(page, address):
    """File and fragment an address on a page leads to."""
    parts = urlsplit(address)
    path = (HTML / page).parent / unquote(parts.path) if parts.path else page
    return (HTML / path).resolve(), unquote(parts.fragment)
