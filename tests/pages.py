"""The built pages as data: what there is, and what a browser makes of it."""

import gzip
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import html as parser

from press.reader import ROOT

HTML = ROOT / "_build" / "html"
AXE = ROOT / "tests" / "vendor" / "axe-core" / "axe.min.js"
PAGES = sorted(
    str(path.relative_to(HTML))
    for path in HTML.rglob("*.html")
    if "_static" not in path.parts and path != HTML / "index.html"
)
CHAPTERS = [page for page in PAGES if re.match(r"chapters/\d\d_", page)]
MODEL = "chapters/02_dual_representation.html"


@cache
def tree(page):
    """The parsed page."""
    return parser.fromstring((HTML / page).read_bytes())


def describe(element):
    """An element, short enough for a message."""
    text = parser.tostring(element, encoding="unicode", with_tail=False)
    return re.sub(r"\s+", " ", text)[:160]


def compressed(path):
    """Bytes of a file, compressed as a server would."""
    return len(gzip.compress(Path(path).read_bytes(), 6))


def local(page, address):
    """File and fragment an address on a page leads to."""
    parts = urlsplit(address)
    folder = (HTML / page).parent
    target = (folder / unquote(parts.path)).resolve() if parts.path else None
    return target or (HTML / page).resolve(), unquote(parts.fragment)
