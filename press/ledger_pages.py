"""Pages made from the ledger: the equation index and the errata.

    {equation-index}       every equation and claim, in one table
    {errata} wrong         the errata of one kind
    {errata-in-chapters}   errata whose experiment is in a chapter
    {erratum}`EA01`        a link to that erratum

The directives write MyST and have it parsed, so that titles and corrections
may contain formulas and references.  What belongs to a chapter that is not in
the book is left out.
"""

from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.logging import getLogger

from press.ledger import (
    KINDS,
    LEDGER,
    NOT_EXECUTED,
    homes,
    not_executed,
    read,
    sources,
)
from press.reader import ROOT, chapters, find, pages

logger = getLogger(__name__)
SCRIPT = Path(__file__).with_name("equation_index.js")
ROLES = {
    "equation": "eq",
    "theorem": "prf:ref",
    "figure": "numref",
    "exercise": "ref",
}
TABLE = """:::{{list-table}}
:header-rows: 1
:class: equation-index
:widths: 30 24 30 16

* - what it says, and where
  - in the sources
  - function
  - checked by; LaTeX executed
{}:::
"""
ROW = """* - {title}

    {where}
  - {sources}
  - {function}
  - {check}
"""
ERRATUM = """
(erratum-{id})=
**{entry.id}** · {entry.source}: ``{entry.quote}``

: {english}{entry.right}

  {shown}{where}
"""


def link(home):
    """A reference to a place, in MyST; nothing if there is no such place."""
    name, _, anchor = home.partition("#")
    page = find(name)
    place = page.places.get(anchor) if page else None
    if place is None:
        return ""
    if role := ROLES.get(place.sort):
        reference = f"{{{role}}}`{anchor}`"
    elif anchor in getattr(place.part, "names", ()):
        reference = f"*{{ref}}`{anchor}`*"
    else:
        reference = f"*[](/{page.name}.md#{anchor})*"
    chapter = f" in chapter {int(page.number)}" if page.number else ""
    return reference + chapter


def function_link(function):
    return f"{{py:obj}}`{function} <kernelbook.{function}>`"


def executed(label, is_equation=True):
    """Whether the equation's own LaTeX is evaluated by the tests."""
    if label in not_executed():
        return f"; not executed: {not_executed()[label]}"
    return "; executed" if is_equation else ""


def entry_row(entry):
    is_equation = entry.place.sort == "equation"
    return ROW.format(
        title=entry.title,
        where=link(entry.home),
        sources=", ".join(f"[{n}]{{.src}}" for n in entry.said),
        function=function_link(entry.function) if entry.function else "–",
        check=entry.check + executed(entry.anchor, is_equation),
    )


def own_row(page, math):
    """A row for an equation that none of the sources' ids leads to."""
    cells = page.places[math.label].cells
    modules = {path.stem for path in (ROOT / "kernelbook").glob("[a-z]*")}
    called = sorted(
        name
        for name in set().union(*(cell.calls for cell in cells))
        if name.partition(".")[0] in modules
    )
    return ROW.format(
        title=math.section,
        where=link(f"{page.number}#{math.label}"),
        sources=" · ".join(sources().get(math.label, [])) or "–",
        function=", ".join(map(function_link, called)) or "–",
        check="a cell" + executed(math.label),
    )


def index_rows():
    """Every row of the index, in the order of the book."""
    rows = [
        ((not entry.page.isdigit(), entry.page, entry.place.part.line), entry)
        for entry in homes()
        if not entry.is_erratum
    ]
    rows = [(order, entry_row(entry)) for order, entry in rows]
    known = {entry.home for entry in homes()}
    rows += [
        ((False, page.number, math.line), own_row(page, math))
        for page in chapters()
        for math in page.equations
        if f"{page.number}#{math.label}" not in known
    ]
    return [row for _, row in sorted(rows, key=lambda row: row[0])]


def erratum_text(entry):
    """An erratum in MyST: quote, what is right, what was found, where."""
    where = link(entry.home)
    return ERRATUM.format(
        entry=entry,
        id=entry.id.lower(),
        shown=f"*Shown:* {entry.result} " if entry.result else "",
        where=f"See {where}." if where else "",
        english=f"In English: “{entry.english}”. " if entry.english else "",
    )


class LedgerDirective(SphinxDirective):
    """Has the text that ``write`` returns parsed."""

    def run(self):
        for path in [LEDGER, NOT_EXECUTED, SCRIPT]:
            self.env.note_dependency(str(path))
        for page in pages():
            self.env.note_dependency(str(page.path))
        for problem in read()[1]:
            logger.warning(str(problem), location=self.get_location())
        node = nodes.Element()
        lines = StringList(self.write().splitlines(), source=str(LEDGER))
        self.state.nested_parse(lines, self.content_offset, node)
        return node.children


class EquationIndex(LedgerDirective):
    def write(self):
        return TABLE.format("".join(index_rows()))

    def run(self):
        script = f"<script>\n{SCRIPT.read_text('utf-8')}</script>"
        return [*super().run(), nodes.raw("", script, format="html")]


class Errata(LedgerDirective):
    required_arguments = 1

    def write(self):
        (kind,) = self.arguments
        if kind not in KINDS:
            raise self.error(f"kind must be one of {KINDS}, got {kind}")
        found = [entry for entry in homes() if entry.kind == kind]
        texts = "".join(map(erratum_text, found))
        return f"{len(found)} of this kind.\n{texts}"


class ErrataInChapters(LedgerDirective):
    """Where the other experiments are."""

    def write(self):
        return "".join(
            f"- {{erratum}}`{entry.id}` {entry.source}: {link(entry.home)}\n"
            for entry in homes()
            if entry.kind in KINDS[:3]
            and entry.page.isdigit()
            and entry.check != "prose"
        )


class Erratum(SphinxRole):
    def run(self):
        reference = pending_xref(
            refdomain="std",
            reftype="ref",
            reftarget=f"erratum-{self.text.lower()}",
            refexplicit=True,
            refdoc=self.env.docname,
            refwarn=True,
        )
        reference += nodes.inline("", self.text, classes=["erratum"])
        return [reference], []


def setup(app):
    app.add_directive("equation-index", EquationIndex)
    app.add_directive("errata", Errata)
    app.add_directive("errata-in-chapters", ErrataInChapters)
    app.add_role("erratum", Erratum())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
