"""The one ledger: where the five sources' equations and claims live here.

``chapters/ledger.yml`` has an entry for every equation, claim and erratum of
the sources, and, under its label, one for an equation of ours of which more is
to be said than those tell.  The line under an equation, the equation index,
the errata and what the search finds are all made from it.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import yaml

from press.reader import CHAPTERS, ROOT, Place, find
from press.translation import TRANSLATED, catalogue, say

LEDGER = CHAPTERS / "ledger.yml"
NOT_EXECUTED = CHAPTERS / "not_executed.yml"
BALANCE = ROOT / "tests" / "expected" / "balance.json"  # written by a test
SOURCES = ("PRML", "notes", "slides", "lecture", "handout")
KINDS = ("wrong", "misprint", "condition", "notation", "typography", "remark")
CHECKS = "identity monte-carlo finite-difference oracle count figure prose"
ALLOWED = {"check": CHECKS.split(), "kind": KINDS}
CHINESE = re.compile("[\u4e00-\u9fff]")
# The fields an entry must have | those it may have.
FIELDS = {
    "claim": "title source home check | function remark",
    "repeat": "source same | remark",
    "equation": "also |",
    "erratum": "kind source at quote right home check "
    "| function result english",
}


class Problem(NamedTuple):
    """What is wrong with an entry, and where to mend it."""

    line: int
    id: str
    reason: str

    def __str__(self) -> str:
        return f"chapters/ledger.yml:{self.line}: {self.id}: {self.reason}"


@dataclass
class Entry:
    """One id with its fields; ``repeats`` are those that share its home."""

    id: str
    line: int
    fields: dict[str, str]
    repeats: list["Entry"] = field(default_factory=list)

    def __getattr__(self, name: str) -> str:
        """Give a field, or an empty string."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.fields.get(name, "")

    @property
    def is_erratum(self) -> bool:
        return self.id.startswith("E")

    @property
    def page(self) -> str:
        return self.home.partition("#")[0]

    @property
    def anchor(self) -> str:
        return self.home.partition("#")[2]

    @property
    def place(self) -> Place | None:
        """Its home, if that is in the book."""
        page = find(self.page)
        return page.places.get(self.anchor) if page else None

    @property
    def in_book(self) -> bool:
        """Whether the chapter that it belongs to is in the book."""
        return not self.page.isdigit() or find(self.page) is not None

    @property
    def said(self) -> dict[str, str]:
        """Where it stands in the sources, and what is remarked on it.

        PRML (6.8), notes (7), …
        """
        found: dict[str, str] = {}
        for one in (self, *self.repeats):
            for number in one.source.split(" · "):
                found.setdefault(number, "")
            if one.remark:
                found[number] = f", {one.remark}"
        return found


@cache
def read(text: str | None = None) -> tuple[dict[str, Entry], list[Problem]]:
    """The entries of the ledger, and what is wrong with the others."""
    entries: dict[str, Entry] = {}
    problems = []
    try:
        tree: Any = yaml.compose(text or LEDGER.read_text("utf-8"))
    except yaml.MarkedYAMLError as error:
        mark: Any = error.context_mark or error.problem_mark
        reason = f"no YAML: {error.problem}"
        return {}, [Problem(mark.line + 1, "ledger", reason)]
    for key, value in tree.value:
        name, line = key.value, key.start_mark.line + 1
        try:
            if name in entries:
                first = entries[name].line
                raise ValueError(f"doubled, it is also on line {first}")
            entries[name] = Entry(name, line, checked(name, value))
        except ValueError as error:
            problems.append(Problem(line, name, str(error)))
    for entry in [e for e in entries.values() if e.same]:
        original = entries.get(entry.same, entry)
        original.repeats.append(entry)
        if not original.home:
            reason = f"same: {entry.same} is no entry with a home"
            problems.append(Problem(entry.line, entry.id, reason))
    return entries, problems


def checked(name: str, value: Any) -> dict[str, str]:
    """The fields of an entry, if they are those of such an entry."""
    fields: dict[str, str] = {}
    for key, text in value.value if isinstance(value.value, list) else []:
        if not isinstance(text.value, str) or not text.value.strip():
            raise ValueError(f"{key.value} must be a piece of text")
        if key.value in fields:
            raise ValueError(f"{key.value} is given twice")
        fields[key.value] = text.value
    kind = "repeat" if "same" in fields else "claim"
    if name.startswith(("E", "eq-")):
        kind = "erratum" if name.startswith("E") else "equation"
    must, may = (set(names.split()) for names in FIELDS[kind].split("|"))
    if kind == "erratum" and fields.get("check", "prose") != "prose":
        must.add("result")
    if CHINESE.search(fields.get("quote", "")):
        must.add("english")
    if missing := sorted(must - fields.keys()):
        raise ValueError(f"without {', '.join(missing)}")
    if unknown := sorted(fields.keys() - must - may):
        raise ValueError(f"unknown field {', '.join(unknown)}")
    for key, allowed in ALLOWED.items():
        if (given := fields.get(key, allowed[0])) not in allowed:
            known = ", ".join(allowed)
            raise ValueError(f"{key} must be one of {known}, got {given}")
    if not re.fullmatch(r"\w+#[\w-]+", fields.get("home", "page#anchor")):
        raise ValueError(f"home must be page#anchor, got {fields['home']}")
    return fields


# What the book makes of it --------------------------------------------------


def ledger() -> dict[str, Entry]:
    """The entries."""
    return read()[0]


def homes() -> list[Entry]:
    """The entries with a home of their own, in chapters that are there."""
    return [e for e in ledger().values() if e.home and e.in_book]


@cache
def sources() -> dict[str, list[str]]:
    """Where each equation stands in the sources, and what is said of it."""
    found: dict[str, list[str]] = defaultdict(list)
    for entry in homes():
        if not entry.is_erratum:
            found[entry.anchor] += [n + r for n, r in entry.said.items()]
    for name, entry in ledger().items():
        if entry.also:
            found[name] += entry.also.split(" · ")
    return {label: in_order(said) for label, said in found.items()}


def in_order(said: list[str]) -> list[str]:
    """By source; a place that is named again with a remark, only with it."""
    order = {source: place for place, source in enumerate(SOURCES)}
    once = [
        number
        for number in dict.fromkeys(said)
        if not any(other.startswith(f"{number}, ") for other in said)
    ]
    return sorted(once, key=lambda n: order.get(origin(n), len(order)))


def origin(number: str) -> str:
    """Which source a number is of: notes, after (13) -> notes."""
    return re.split(r"[ ,]", number)[0]


def source_line(label: str) -> str:
    """The line under an equation, in MyST."""
    said = sources().get(label, [])
    line = " · ".join(map(in_words, said))
    if any(origin(number) in SOURCES for number in said):
        return line
    if not said:
        return say("not in the sources")
    return say("not in the sources; {}").format(line)


# Places in a source, in Chinese.
PLACES = (
    (r"\bp\. (\d+)((?:, \d+)*)(?: and (\d+))?", r"第 \1\2、\3 页"),
    (r"\brules? (\d)(?: and (\d))?", r"规则 \1、\2"),
    (r"\bafter (\([\d.]+\)|规则 \d)", r"\1 之后"),
    (r"\bbefore (\([\d.]+\)|规则 \d)", r"\1 之前"),
    (r"\bexercise ([\d.]+)", r"习题 \1"),
    (r"\bin (\([\d.]+\))", r"\1 中"),
    (r" and |, (?=\d)|、(?= ?页)", "、"),
    (r"、(?= ?页|$)", ""),
    (r"\bthroughout\b", "全文"),
    (r"\bopening\b", "开头"),
    (r"\btitle\b", "标题"),
)


def in_words(number: str) -> str:
    """Where something stands in a source, as the book's language says it."""
    known = catalogue("ledger") if TRANSLATED else {}
    if not TRANSLATED or number in known or origin(number) not in SOURCES:
        return say(number, "ledger")
    parts = number.split(", ")
    for at in range(1, len(parts)):  # the catalogue has the remark
        remark = ", ".join(parts[at:])
        if remark in known:
            return f"{in_words(', '.join(parts[:at]))}，{known[remark]}"
    match = re.match(r"(\w+)(,? ?)(.*)", number)
    source, gap, where = match.groups() if match else (number, "", "")
    for english, chinese in PLACES:
        where = re.sub(english, chinese, where)
    gap = "，" if gap == ", " else "" if where.startswith("第") else gap
    return say(source) + gap + where


@cache
def not_executed() -> dict[str, str]:
    """Why some equations are not executed, by label."""
    return yaml.safe_load(NOT_EXECUTED.read_text("utf-8")) or {}
