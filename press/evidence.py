r"""Where the numbers in the book's words come from.

A number in a paragraph, a table, a caption or an alternative text is the same,
at the precision it is printed with, as one

    computed   in the recorded output of a cell near by, or
    typed      in the code of such a cell;
    quoted     it is the number of a page or an equation of a source,
    cited      the year of a work that the page cites, or
    chapter    book, name: refers to a chapter, another book, a rule;

or its sentence stands, with the reason, in ``chapters/numbers.yml``.  Near by:
in the cells of its piece of the chapter, for three digits or more in its whole
section or where the chapter begins, and in what its paragraph refers to.

A wrong number may be found, too: those of one digit are everywhere, and 2000
may be the size of another model.  So all are compared with a record, section
by section, and with them the relations: λ > 0 may be right elsewhere, too.
Numbers in formulas with letters are not asked here.
"""

import ast
import json
import operator
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import yaml

from press.ledger import ledger
from press.outputs import expected
from press.reader import (
    CHAPTERS,
    ROOT,
    Directive,
    Heading,
    Math,
    Page,
    Part,
    Words,
    pages,
)

RECORD = ROOT / "tests" / "data" / "numbers.yml"
LISTED = CHAPTERS / "numbers.yml"
BIBLIOGRAPHY = CHAPTERS / "references.bib"
DIGITS = r"\d+(?:(?:[ \u202f\u00a0,]|\\,)\d{3}(?!\d))*(?:\.\d+)?(?:e[+-]?\d+)?"
POWER = r"(?:\^\{?(?P<exponent>[-−]?\d+)\}?|(?P<raised>⁻?[⁰¹²³⁴-⁹]+))"
NUMBER = re.compile(
    rf"(?<![\w.\\^_{{])(?P<sign>[-−+])?(?P<digits>{DIGITS})"
    rf"(?P<ten>\s?(?:\\cdot|\\times|·)\s?10(?=[\^⁻⁰-⁹¹²³]))?{POWER}?"
    r"(?:\s?(?P<percent>\\?%|per ?cent)|\s(?P<word>thousand|[mb]illion))?"
    r"(?!\w)"
)
WORTH = {"thousand": 3, "million": 6, "billion": 9}
SMALL = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
# What says something about two sides.
SAYS = re.compile(
    r"[=<>]|\\(leq?|geq?|neq?|lt|gt|ll|gg|in|notin|ni|su[bp]set(eq)?|approx"
    r"|sim|simeq|cong|equiv|propto|perp|(pre|suc)c(eq)?|mapsto|to"
    r"|(long|Long)?([lr]ight|left)*arrow|[A-Z]\w*arrow|implies|iff)"
    r"(?![a-zA-Z])"
)
NUMERIC = re.compile(
    r"(?:[\d\s.,+/()^{}%:-]|\\(?:times|cdot|pm|dots|ldots|circ|,|;|%|\{|\}))+"
)
ROUGHLY = re.compile(r"(?:about|nearly|almost|roughly|around|some|≈|~) ?$")
MASKED = re.compile(r"\{[\w:-]+\}`[^`]*`|\]\([^)]*\)|(?<=\w)\[[\d, :-]+\]")
LIST = r"\s*(?:[\d.]+(?:,| and| to| or|–|,? and p\.)\s?)*$"
RULES = {
    "chapter": rf"\b[Cc]hapters?{LIST}",
    "book": rf"(?:§+|\b[Ss]ections?|\b[Tt]heorems?|[Aa]lgorithm|\bch\.){LIST}"
    rf"|PRML's\s+figure{LIST}",
    "name": rf"\b(?:[Rr]ules?|[Ss]teps?|[Ee]xercises?|Program|Python){LIST}",
}
PLACE = rf"(?:\bpp?\.|[Pp]ages?|[Ss]lides?){LIST}"
REFERENCES = {*RULES, "quoted", "cited"}
# Of a call's arguments those that say how to draw, round or seed.
SILENT = re.compile(
    r"(plt|ax|fig|left|right|axes|panels?)\b|.*(\.set|plot|legend|round|rng|"
    r"scatter|text|annotate|line|imshow|contourf?|fill_between|subplots)$"
)
QUIET = re.compile(
    "rtol|atol|rng|seed|random_state|axis|decimals|figsize|linewidth|alpha|s|"
    "zorder|markersize|fontsize|color|width|levels|bins|loc"
)


FOLDED: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class Number(NamedTuple):
    """A number in words: ``value``, right to ``step``, from line ``line``."""

    line: int
    text: str
    value: float
    step: float
    span: tuple[int, int]
    signed: bool = False
    percent: bool = False

    def is_like(self, other: float) -> bool:
        """Whether the other, rounded as it is, is this number."""
        pairs = [(self.value, self.step)]
        if self.percent:
            pairs += [(self.value / 100, self.step / 100)]
        other = other if self.signed else abs(other)
        return any(abs(other - v) <= s * (1 + 1e-9) for v, s in pairs)

    @property
    def digits(self) -> int:
        """How many of its digits say something."""
        return len(re.sub(r"e.*|\^.*|\D", "", self.text).lstrip("0"))


def numbers(words: Words) -> Iterator[Number]:
    """The numbers of a piece of text, outside formulas with letters."""
    text = MASKED.sub(blank, words.text)
    text = re.sub(r"\$([^$]+)\$", plain, text)
    for found in NUMBER.finditer(text):
        yield number(found, words.line + text.count("\n", 0, found.start()))


def blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def plain(found: re.Match[str]) -> str:
    """A formula of numbers only, without its dollars; else nothing."""
    if NUMERIC.fullmatch(found[1]):
        return f" {found[1]} "
    return blank(found)


def number(found: re.Match[str], line: int = 0) -> Number:
    digits = re.sub(r"[^\d.e+-]", "", found["digits"].replace("\\,", ""))
    value, step = float(digits), 1e-9
    if "." in digits or "e" in digits:
        mantissa, _, power = digits.partition("e")
        places = len(mantissa.partition(".")[2]) - int(power or 0)
        step = 0.5 * 10.0**-places
    elif ROUGHLY.search(found.string[: found.start()]) or found["percent"]:
        zeros = len(digits) - len(digits.rstrip("0"))
        step = 0.5 * 10.0 ** min(zeros, len(digits) - 1)
    if exponent := found["exponent"] or found["raised"]:
        raised = int(exponent.translate(SMALL))
        factor = 10.0**raised if found["ten"] else value ** (raised - 1)
        value, step = value * factor, step * factor
    if word := found["word"]:
        value, step = value * 10 ** WORTH[word], step * 10 ** WORTH[word]
    before = found.string[: found.start()].rstrip()
    signed = bool(found["sign"]) and not before.endswith(tuple("0123456789)"))
    if signed and found["sign"] != "+":
        value = -value
    return Number(
        line,
        " ".join(found[0].split()),
        value,
        step,
        found.span(),
        signed,
        bool(found["percent"]),
    )


# What there is to find ------------------------------------------------------


class Traces(NamedTuple):
    """The numbers a cell prints and those that its code has."""

    printed: list[float]
    typed: list[float]


@cache
def traces(page: Page) -> list[Traces]:
    """Of every cell of a page."""
    path = expected(page.path)
    said = json.loads(path.read_text("utf-8")) if path.exists() else []
    outputs = [
        "".join(
            "".join(lines)
            for output in cell["outputs"]
            for lines in output.values()
        )
        for cell in said
    ]
    outputs += [""] * (len(page.cells) - len(outputs))
    return [
        Traces([*printed(output)], [*typed(ast.parse(cell.source))])
        for cell, output in zip(page.cells, outputs, strict=False)
    ]


def printed(output: str) -> Iterator[float]:
    output = re.sub(r"<Figure.*|\w\[[\d, :-]*\]", " ", output)
    for found in NUMBER.finditer(output):
        size = abs(number(found).value)
        yield -size if found["sign"] in ("-", "−") else size
        for part in re.findall(r"\d+", found["digits"])[:-1]:
            yield float(part)  # they may be several, side by side
    yield from map(float, re.findall(r"(?<![\w.])-?\d+\.(?!\d)", output))


def typed(node: ast.AST) -> Iterator[float]:
    """The numbers of some code, but indices, exponents and how to draw."""
    if (value := arithmetic(node)) is not None:
        yield value
    skipped: tuple[str, ...] = ()
    match node:
        case ast.Subscript():
            skipped = ("slice",)
        case ast.BinOp(op=ast.Pow()):
            skipped = ("right",)
        case ast.Call() if SILENT.fullmatch(ast.unparse(node.func)):
            skipped = ("args", "keywords")
    for name, below in ast.iter_fields(node):
        if name in skipped:
            continue
        for one in below if isinstance(below, list) else [below]:
            if isinstance(one, ast.keyword) and QUIET.fullmatch(one.arg or ""):
                continue
            if isinstance(one, ast.AST):
                yield from typed(one)


def arithmetic(node: ast.AST) -> float | None:
    """The value of an expression of numbers: 2**10, -1 / 3."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return None if isinstance(value, bool) else float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = arithmetic(operand)
            return None if found is None else -found
        case ast.BinOp(op=op, left=left, right=right) if type(op) in FOLDED:
            pair = arithmetic(left), arithmetic(right)
            if None not in pair and pair != (0, 0):
                return float(FOLDED[type(op)](*pair))
    return None


@cache
def borders(page: Page) -> list[int]:
    """The lines on which pieces of a page begin: headings and exercises."""
    return [
        part.line
        for part in page.parts
        if isinstance(part, Heading)
        or (isinstance(part, Directive) and part.name == "exercise-start")
    ]


def near(page: Page, words: Words, small: bool) -> list[int]:
    """Which cells are near: those next to it, or all of its piece.

    And what it refers to.
    """
    piece = bisect_right(borders(page), words.line)
    cells = [
        (i, cell.line)
        for i, cell in enumerate(page.cells)
        if bisect_right(borders(page), cell.line) == piece
    ]
    before = [i for i, line in cells if line <= words.line]
    after = [i for i, line in cells if line > words.line]
    found = {*before[-2:], *after[:1]} if small else {*before, *after}
    for target in re.findall(r"\{\w+\}`(?:[^`<]*<)?([\w-]+)>?`", words.text):
        if target in page.places:
            these = page.places[target].cells
            found |= {i for i, c in enumerate(page.cells) if c in these}
    return sorted(found)


def section(part: Part) -> str:
    """The title of the section, not of what is below."""
    return part.sections[1].title if len(part.sections) > 1 else ""


def wide(page: Page, here: str) -> tuple[set[int], set[int]]:
    """Cells in whose outputs, and in whose code, a long number may be.

    Those of its section and of the beginning; a summary speaks of all.
    """
    cells = list(enumerate(page.cells))
    both = {i for i, c in cells if section(c) in ("", "In one minute", here)}
    if here in ("Summary", "In one minute", "In the sources", ""):
        return {i for i, _ in cells}, both
    return both, both


# What is asked --------------------------------------------------------------


@cache
def listed() -> dict[str, dict[str, str]]:
    """Why some numbers are as they are, by page and sentence."""
    return yaml.safe_load(LISTED.read_text("utf-8")) or {}


@cache
def quoted() -> set[str]:
    """The numbers of pages and equations of the sources."""
    entries = ledger().values()
    said = [w for e in entries for w in (*e.said, *e.said.values(), e.also)]
    return {n for words in said for n in re.findall(r"\d+(?:\.\d+)?", words)}


@cache
def years(page: Page) -> set[str]:
    keys = {k for r in page.roles("cite.*") for k in r.target.split(",")}
    works = re.split(r"^@\w+\{", BIBLIOGRAPHY.read_text("utf-8"), flags=re.M)
    mine = [work for work in works if work.partition(",")[0] in keys]
    return {y for work in mine for y in re.findall(r"\b\d{4}\b", work)}


def fate(page: Page, words: Words, number: Number) -> str:
    """How a number is known, or nothing."""
    text = MASKED.sub(blank, words.text)
    before, after = text[: number.span[0]], text[number.span[1] :]
    if reference := referred(page, words, number.text, before, after):
        return reference
    cells, small = traces(page), number.digits < 2
    printing = typing = {*near(page, words, small)}
    if number.digits == 2:
        typing = typing | wide(page, "")[1]
    elif number.digits > 2:
        printing, typing = wide(page, section(words))
    if any(number.is_like(n) for i in printing for n in cells[i].printed):
        return "computed"
    if any(number.is_like(n) for i in typing for n in cells[i].typed):
        return "typed"
    flat = re.sub(r"\s", " ", words.text)
    for sentence in listed().get(page.path.stem, {}):
        at = flat.find(sentence)
        if 0 <= at <= number.span[0] < at + len(sentence):
            return "listed"
    return "small" if small else ""


def referred(
    page: Page, words: Words, digits: str, before: str, after: str
) -> str:
    """What a number refers to, if it counts nothing."""
    for rule, pattern in RULES.items():
        if re.search(pattern, before):
            return rule
    if re.fullmatch(r"00[0-4]", digits):
        return "quoted"
    bracketed = before.endswith("(") and after.startswith((")", ","))
    of_sources = words.section in ("In the sources", "The five sources")
    placed = bracketed or of_sources or re.search(PLACE, before)
    if placed and digits in quoted():
        return "quoted"
    if digits in years(page):
        return "cited"
    if after.startswith("-D") or before.endswith("Matérn-"):
        return "name"
    return ""


def known(page: Page) -> Iterator[tuple[Words, Number, str]]:
    """Every number in the words of a page, and how it is known."""
    for words in page.of(Words):
        for number in numbers(words):
            yield words, number, fate(page, words, number)


def kept(page: Page) -> dict[str, str]:
    """The numbers and the relations of each section, sorted."""
    found: dict[str, list[str]] = {}
    for words in page.of(Words):
        for number in numbers(words):
            found.setdefault(words.section, []).append(number.text)
    for math in page.of(Math):
        if SAYS.search(math.latex) and not math.display:
            text = re.sub(r"\s", "", math.latex)
            found.setdefault(math.section, []).append(text)
    return {title: " ".join(sorted(all_)) for title, all_ in found.items()}


def changed(then: dict[str, str], now: dict[str, str]) -> Iterator[str]:
    """What is gone and what is new, section by section."""
    for title in [*now, *(then.keys() - now.keys())]:
        old, new = (Counter(w.get(title, "").split()) for w in (then, now))
        gone, more = (" ".join(c.elements()) for c in (old - new, new - old))
        if gone or more:
            yield f"{title}: {gone or 'nothing'} gone, {more or 'nothing'} new"


@cache
def recorded() -> dict[str, dict[str, str]]:
    """What was kept of all pages."""
    return yaml.safe_load(RECORD.read_text("utf-8"))


def write() -> None:
    """Record anew, and say what is changed."""
    found = {p.path.stem: all_ for p in pages() if (all_ := kept(p))}
    for name in found:
        for said in changed(recorded().get(name, {}), found[name]):
            print(f"{name}, {said}")
    text = yaml.safe_dump(found, allow_unicode=True, sort_keys=False)
    RECORD.write_text(text, "utf-8")


def balance() -> Counter[str]:
    """How many numbers are known in which way."""
    return Counter(how for page in pages() for *_, how in known(page))


if __name__ == "__main__":
    write()
