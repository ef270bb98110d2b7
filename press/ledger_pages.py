"""Pages made from the ledger, and from the glossary.

    {equation-index}       every equation and claim, in one table, and for
                           each source where to look for its numbers there
    {errata} wrong         the errata of one kind
    {balance}              how much there is, and how much of it is executed
    {chinese-words}        the Chinese of the glossary, in its own order
    {erratum}`EA01`        a link to that erratum

The directives write MyST and have it parsed, so that titles and corrections
may contain formulas and references.  What belongs to a chapter that is not in
the book is left out.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable

from docutils.nodes import make_id
from sphinx.errors import ExtensionError
from sphinx.roles import XRefRole
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

from press.ledger import (
    BALANCE,
    KINDS,
    LEDGER,
    NOT_EXECUTED,
    SOURCES,
    Problem,
    homes,
    in_words,
    not_executed,
    origin,
    read,
    sources,
)
from press.reader import ROOT, chapters, find, pages
from press.translation import TRANSLATED, say

logger = getLogger(__name__)
ROLES = {
    "equation": "eq",
    "theorem": "prf:ref",
    "figure": "numref",
    "exercise": "ref",
}
CLASSES = ("world", "live", "definition", "condition", "limit", "schematic")
# What was done to a formula, as tests/typeset/mutants.py calls it.
SPOILT = {
    "argument": "arguments exchanged",
    "bound": "bounds moved",
    "condition": "conditions dropped",
    "constant": "numbers one off",
    "exponent": "exponents raised",
    "factor": "factors lost",
    "half": "halves lost",
    "index": "indices moved",
    "inverse": "inverses lost",
    "sign": "signs changed",
    "symbol": "symbols mistaken",
    "term": "terms lost",
    "transpose": "transposes lost",
    "turned": "relations and sums turned",
}


def link(name, anchor):
    """A reference to a place, in MyST; nothing if there is no such place."""
    page = find(name)
    if page is None or anchor not in page.places:
        return ""
    part = page.places[anchor].part
    if part.sort in ROLES:
        reference = f"{{{ROLES[part.sort]}}}`{anchor}`"
    elif anchor in part.names:
        reference = f"*{{ref}}`{anchor}`*"
    else:
        reference = f"*[](/{page.name}.md#{anchor})*"
    if not page.number:
        return reference
    return say("{} in chapter {}").format(reference, int(page.number))


# The equation index ---------------------------------------------------------


def row(title, home, numbers, functions, check):
    links = [f"{{py:obj}}`{name} <kernelbook.{name}>`" for name in functions]
    label = home[1]
    if label in not_executed():
        why = say(not_executed()[label], "ledger")
        check = say("{}; not executed: {}").format(say(check), why)
    elif find(home[0]).places[label].part.sort == "equation":
        check = say("{}; executed").format(say(check))
    else:
        check = say(check)
    return f"""* - {title}

    {link(*home)}
  - {numbers or "–"}
  - {", ".join(links) or "–"}
  - {check}
"""


def entry_row(entry):
    numbers = ", ".join(f"[{in_words(n)}]{{.src}}" for n in entry.said)
    functions = filter(None, [entry.function])
    home = entry.page, entry.anchor
    title = f"[{say(entry.title, 'ledger')}]{{#{make_id(entry.id)}}}"
    return row(title, home, numbers, functions, entry.check)


def own_row(page, math):
    """A row for an equation that none of the sources' ids leads to."""
    modules = {path.stem for path in (ROOT / "kernelbook").glob("[a-z]*")}
    cells = page.places[math.label].cells
    called = sorted({name for cell in cells for name in cell.calls})
    ours = [name for name in called if name.partition(".")[0] in modules]
    numbers = " · ".join(map(in_words, sources().get(math.label, [])))
    home = page.number, math.label
    return row(say(math.section, page.name), home, numbers, ours, "a cell")


def place(number):
    """Where a number stands in its source: PRML, after (6.8).

    >>> sorted(["lecture p. 12", "notes, rule 2", "notes, after (1)",
    ...         "notes (2)", "notes, before (10)", "notes (1)"], key=place)
    ['notes (1)', 'notes, after (1)', 'notes (2)', 'notes, before (10)',
     'lecture p. 12', 'notes, rule 2']
    """
    said = [word in number for word in ("rule", "after", "before")]
    digits = [int(digit) for digit in re.findall(r"\d+", number)]
    return said[0], *digits[:-1], digits[-1] + (said[1] - said[2]) / 2


def by_source(claims):
    """For each source, its numbers in its own order: links to the rows."""
    for source in SOURCES:
        there = [
            (place(number), number, make_id(entry.id))
            for entry in claims
            for number in entry.said
            if origin(number) == source
        ]
        name = say(source)
        yield f"(source-{source.lower()})=\n**{name}** "
        yield " · ".join(
            f"[{in_words(n).removeprefix(name).lstrip(', ，')}](#{row})"
            for _, n, row in sorted(there)
        )
        yield "\n\n"


def equation_index():
    """Every equation and claim, in the order of the book."""
    claims = [entry for entry in homes() if not entry.is_erratum]
    for entry in claims:
        if entry.place is None:
            reason = f"there is no place {entry.home}"
            raise ExtensionError(str(Problem(entry.line, entry.id, reason)))
    rows = [(e.page, e.place.part.line, entry_row(e)) for e in claims]
    known = {entry.home for entry in homes()}
    rows += [
        (page.number, math.line, own_row(page, math))
        for page in chapters()
        for math in page.equations
        if f"{page.number}#{math.label}" not in known
    ]
    rows.sort(key=lambda row: row[:2])
    return f"""{"".join(by_source(claims))}
:::{{list-table}}
:header-rows: 1
:class: equation-index
:widths: 30 24 30 16

* - {say("what it says, and where")}
  - {say("in the sources")}
  - {say("function")}
  - {say("checked by; LaTeX executed")}
{"".join(text for *_, text in rows)}:::
"""


# The errata -----------------------------------------------------------------


def erratum_text(entry):
    """An erratum in MyST: quote, what is right, what was found, where."""
    where = link(entry.page, entry.anchor)
    see = say("See {}.").format(where) if where else ""
    result = say(entry.result, "ledger")
    shown = say("*Shown:* {} ").format(result) if result else ""
    translated = entry.english and not TRANSLATED
    english = f"In English: “{entry.english}”. " if translated else ""
    source = " · ".join(map(in_words, entry.source.split(" · ")))
    return f"""
(erratum-{entry.id.lower()})=
**{entry.id}** · {source}: ``{entry.quote}``

: {english}{say(entry.right, "ledger")}

  {shown}{see}
"""


def errata(kind):
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}, got {kind}")
    found = [erratum_text(entry) for entry in homes() if entry.kind == kind]
    counted = say("{} of this kind.").format(len(found))
    return f"{counted}\n{''.join(found)}"


def balance():
    """How much there is, and how much of it is executed."""
    labels = [math.label for page in chapters() for math in page.equations]
    recorded = json.loads(BALANCE.read_text("utf-8"))
    found = [recorded.get(page.number, {}) for page in chapters()]
    executed, shown = summed(f["displays"] for f in found if f)
    inline: Counter[str] = Counter()
    mutants: dict[str, tuple[int, ...]] = {}
    for one in found:
        inline.update(one.get("inline", {}))
        for kind, counts in one.get("mutants", {}).items():
            mutants[kind] = summed([counts, mutants.get(kind, (0, 0))])
    rejected, survived = summed(mutants.values())
    ways = ", ".join(
        say("{kind} {out} of {all}").format(
            kind=say(SPOILT[kind]), out=out, all=out + left
        )
        for kind, (out, left) in sorted(mutants.items())
    )
    tagged = [c for page in chapters() for c in page.cells]
    one_draw = sum("one-seed" in c.metadata.get("tags", []) for c in tagged)
    errata = [entry for entry in homes() if entry.is_erratum]
    claims = [1 + len(e.repeats) for e in homes() if not e.is_erratum]
    # fmt: off
    return say("""In numbers: {chapters} chapters;
{labels} numbered equations;
{claims} equations and claims of the sources that have their place here,
and {errata} remarks on them under {{doc}}`errata`.

- Displayed equations executed: {executed} of {shown}.
- Relations in sentences executed: {world} on random inputs and
  {live} in the chapter's own variables, of {relations};
  the others are {definition} definitions,
  {condition} conditions, {limit} limits and {schematic} forms.
- Spoilt copies of displayed equations rejected: {rejected} of
  {spoilt} ({ways}); each of the others is explained.
- Illustrations that hold for one random draw, and say so: {draws} cells.
""").format(
        chapters=len(chapters()), labels=len(labels), claims=sum(claims),
        errata=len(errata), executed=executed, shown=shown,
        relations=inline.total(), rejected=rejected,
        spoilt=rejected + survived, ways=ways, draws=one_draw,
        **{kind: inline[kind] for kind in CLASSES},
    )
    # fmt: on


def summed(pairs: Iterable[Iterable[int]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*pairs, strict=True)))


def chinese_words():
    """The Chinese of the glossary, in the order of its sounds.

    GB 2312 has the common characters in the order of pinyin.
    """
    (glossary,) = find("glossary").directives("glossary")
    names = [
        (chinese, entry.partition("\n")[0])
        for entry in glossary.body.strip().split("\n\n")
        for chinese in re.findall("{zh}`([^`]+)`", entry.partition(". ")[0])
    ]
    names.sort(key=lambda pair: pair[0].encode("gb18030"))
    return " · ".join(f"{{zh}}`{zh}` {{term}}`{word}`" for zh, word in names)


# For Sphinx -----------------------------------------------------------------

WRITERS: dict[str, Callable[..., str]] = {
    "equation-index": equation_index,
    "errata": errata,
    "balance": balance,
    "chinese-words": chinese_words,
}


class FromLedger(SphinxDirective):
    """Has the text that its writer returns parsed."""

    optional_arguments = 1

    def run(self):
        paths = [
            LEDGER,
            NOT_EXECUTED,
            BALANCE,
            *(page.path for page in pages()),
        ]
        for path in paths:
            self.env.note_dependency(str(path))
        for problem in read()[1]:
            logger.warning(str(problem), location=self.get_location())
        return self.parse_text_to_nodes(WRITERS[self.name](*self.arguments))


class Erratum(XRefRole):
    def process_link(self, env, refnode, has_explicit_title, title, target):
        about = {"refdomain": "std", "reftype": "ref", "refexplicit": True}
        refnode.attributes |= about
        return title, f"erratum-{target.lower()}"
