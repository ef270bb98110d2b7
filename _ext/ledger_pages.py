"""Pages rendered from the ledger: the equation index and the errata.

    {equation-index}       every equation and claim, in one table
    {errata} wrong         the errata of one kind
    {errata-in-chapters}   errata whose experiment is in a chapter
    {erratum}`EA01`        a link to that erratum
    {section}`02#slug`     a link to a section of a chapter

The directives write MyST and have it parsed, so that titles and corrections
may contain formulas and references.
"""

import re
from functools import cached_property
from pathlib import Path

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from ledger import (
    CHAPTERS,
    KINDS,
    LEDGER,
    calls,
    page_path,
    places,
    read,
    with_repeats,
)
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.logging import getLogger

logger = getLogger(__name__)
SCRIPT = Path(__file__).with_name("equation_index.js")
NOT_EXECUTED = CHAPTERS / "not_executed.yml"
LIBRARY = CHAPTERS.parent / "kernelbook"
ROLES = {
    "equation": "eq",
    "theorem": "prf:ref",
    "figure": "numref",
    "exercise": "ref",
}
TABLE = """:::{list-table}
:header-rows: 1
:class: equation-index
:widths: 30 24 30 16

* - what it says, and where
  - in the sources
  - function
  - checked by; LaTeX executed
"""
ROW = """* - {title}

    {where}
  - {sources}
  - {function}
  - {check}
"""


class Book:
    """The chapters as the ledger's pages see them."""

    @cached_property
    def chapters(self):
        return sorted(path.name[:2] for path in CHAPTERS.glob("[0-9]*_*.md"))

    @cached_property
    def pages(self):
        return {
            page: places(page_path(page).read_text("utf-8"))
            for page in [*self.chapters, "errata_experiments"]
        }

    @cached_property
    def not_executed(self):
        if not NOT_EXECUTED.exists():
            return {}
        return yaml.safe_load(NOT_EXECUTED.read_text("utf-8")) or {}

    @cached_property
    def modules(self):
        return {path.stem for path in LIBRARY.glob("[a-z]*")}

    def place(self, home):
        page, _, anchor = home.partition("#")
        return self.pages.get(page, {}).get(anchor)

    def link(self, home):
        """A reference to a home, in MyST."""
        page, _, anchor = home.partition("#")
        place = self.place(home)
        if place is None:
            return ""
        role = ROLES.get(place.sort)
        link = f"{{{role}}}`{anchor}`" if role else f"{{section}}`{home}`"
        return f"{link} in chapter {int(page)}" if page.isdigit() else link

    def executed(self, place, label):
        """Whether the equation's own LaTeX is evaluated by the tests."""
        if place is None or place.sort != "equation":
            return ""
        if label in self.not_executed:
            return f"; not executed: {self.not_executed[label]}"
        return "; executed"

    def order(self, home):
        page = home.partition("#")[0]
        place = self.place(home)
        return (not page.isdigit(), page, place.line if place else 0)


def function_link(function):
    return f"{{py:obj}}`{function} <kernelbook.{function}>`"


def entry_row(book, entry, repeats):
    numbers = []
    for one in [entry, *repeats]:
        numbers += one.source.split(" · ")
    return ROW.format(
        title=entry.title,
        where=book.link(entry.home),
        sources=", ".join(f"[{n}]{{.src}}" for n in dict.fromkeys(numbers)),
        function=function_link(entry.function) if entry.function else "–",
        check=entry.check
        + book.executed(book.place(entry.home), entry.anchor),
    )


def own_row(book, page, label, place):
    """A row for an equation that none of the sources' ids leads to."""
    called = sorted(
        name
        for name in set().union(*map(calls, place.cells))
        if name.partition(".")[0] in book.modules
    )
    return ROW.format(
        title=place.section,
        where=book.link(f"{page}#{label}"),
        sources=place.source or "–",
        function=", ".join(map(function_link, called)) or "–",
        check="a cell" + book.executed(place, label),
    )


def index_rows(book, entries):
    """Every row of the index, in the order of the book."""
    rows, homes = [], set()
    for entry, repeats in with_repeats(entries):
        if not entry.is_erratum:
            homes.add(entry.home)
            rows.append(
                (book.order(entry.home), entry_row(book, entry, repeats))
            )
    for page in book.chapters:
        for label, place in book.pages[page].items():
            home = f"{page}#{label}"
            if place.sort == "equation" and home not in homes:
                rows.append(
                    (book.order(home), own_row(book, page, label, place))
                )
    return [row for _, row in sorted(rows, key=lambda row: row[0])]


def erratum_text(book, entry):
    """An erratum in MyST: quote, what is right, what was found, where."""
    where = book.link(entry.home)
    shown = f"*Shown:* {entry.result} " if entry.result else ""
    where = f"See {where}." if where else ""
    english = f"In English: “{entry.english}”. " if entry.english else ""
    return f"""
(erratum-{entry.id.lower()})=
**{entry.id}** · {entry.source}: ``{entry.quote}``

: {english}{entry.right}

  {shown}{where}
"""


class LedgerDirective(SphinxDirective):
    """Reads the ledger and has the text that ``write`` returns parsed."""

    def run(self):
        book = Book()
        for path in [LEDGER, NOT_EXECUTED, SCRIPT]:
            self.env.note_dependency(str(path))
        for page in book.pages:
            self.env.note_dependency(str(page_path(page)))
        entries, problems = read()
        for problem in problems:
            logger.warning(str(problem), location=self.get_location())
        node = nodes.Element()
        lines = self.write(book, entries).splitlines()
        self.state.nested_parse(
            StringList(lines, source=str(LEDGER)), self.content_offset, node
        )
        return node.children


class EquationIndex(LedgerDirective):
    def write(self, book, entries):
        return TABLE + "".join(index_rows(book, entries)) + ":::\n"

    def run(self):
        script = SCRIPT.read_text("utf-8")
        return [
            *super().run(),
            nodes.raw("", f"<script>\n{script}</script>", format="html"),
        ]


class Errata(LedgerDirective):
    required_arguments = 1

    def write(self, book, entries):
        (kind,) = self.arguments
        if kind not in KINDS:
            raise self.error(f"kind must be one of {KINDS}, got {kind}")
        found = [entry for entry in entries.values() if entry.kind == kind]
        return f"{len(found)} of this kind.\n" + "".join(
            erratum_text(book, entry) for entry in found
        )


class ErrataInChapters(LedgerDirective):
    """Where the other experiments are."""

    def write(self, book, entries):
        return "".join(
            f"- {{erratum}}`{entry.id}` {entry.source}: "
            f"{book.link(entry.home)}\n"
            for entry in entries.values()
            if entry.kind in KINDS[:3]
            and entry.page.isdigit()
            and entry.check != "prose"
        )


class Erratum(SphinxRole):
    def run(self):
        target = f"erratum-{self.text.lower()}"
        reference = pending_xref(
            refdomain="std",
            reftype="ref",
            reftarget=target,
            refexplicit=True,
            refdoc=self.env.docname,
            refwarn=True,
        )
        reference += nodes.inline("", self.text, classes=["erratum"])
        return [reference], []


class Section(SphinxRole):
    def run(self):
        page, _, anchor = self.text.partition("#")
        path = page_path(page)
        place = places(path.read_text("utf-8"))[anchor]
        target = f"{CHAPTERS.name}/{path.stem}"
        uri = self.env.app.builder.get_relative_uri(self.env.docname, target)
        title = re.sub(r"[*`]|\$", "", place.title)
        link = nodes.reference(
            "", title, internal=True, refuri=f"{uri}#{anchor}"
        )
        return [nodes.emphasis("", "", link)], []


def setup(app):
    app.add_directive("equation-index", EquationIndex)
    app.add_directive("errata", Errata)
    app.add_directive("errata-in-chapters", ErrataInChapters)
    app.add_role("erratum", Erratum())
    app.add_role("section", Section())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
