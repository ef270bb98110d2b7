"""The one ledger: where the five sources' equations and claims live here.

``chapters/ledger.yml`` has an entry for every equation, claim and erratum of
the sources, and, under its label, one for an equation of ours of which more is
to be said than those tell.  The line under an equation, the equation index,
the errata and what the search finds are all made from it.  It is read entry by
entry: a malformed one is reported, with its line, and the others are read.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from press.reader import CHAPTERS, ROOT, Place, find

LEDGER = CHAPTERS / "ledger.yml"
NOT_EXECUTED = CHAPTERS / "not_executed.yml"
CHECKS = (
    "identity",
    "monte-carlo",
    "finite-difference",
    "oracle",
    "count",
    "figure",
    "prose",
)
KINDS = ("wrong", "misprint", "condition", "notation", "typography")
SOURCES = ("PRML", "notes", "slides", "lecture", "handout")
CHINESE = re.compile("[\u4e00-\u9fff]")

# The fields an entry must have, and those it may have.
CLAIM = ({"title", "source", "home", "check"}, {"function", "remark"})
REPEAT = ({"source", "same"}, {"remark"})
EQUATION: tuple[set[str], set[str]] = ({"also"}, set())
ERRATUM = (
    {"kind", "source", "quote", "right", "home", "check"},
    {"function", "result", "english"},
)


@dataclass(frozen=True)
class Problem:
    """What is wrong with an entry, and where to mend it."""

    line: int
    id: str
    reason: str

    def __str__(self) -> str:
        where = LEDGER.relative_to(ROOT).as_posix()
        return f"{where}:{self.line}: {self.id}: {self.reason}"


@dataclass(frozen=True)
class Entry:
    """One id with its fields; ``repeats`` are those that share its home."""

    id: str
    line: int
    fields: dict[str, str]
    repeats: tuple["Entry", ...] = ()

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
            numbers = dict.fromkeys(one.source.split(" · "), "")
            if one.remark:
                numbers[[*numbers][-1]] = f", {one.remark}"
            for number, remark in numbers.items():
                found[number] = remark or found.get(number, "")
        return found


def read(text: str | None = None) -> tuple[dict[str, Entry], list[Problem]]:
    """The entries of the ledger, and what is wrong with the others."""
    text = LEDGER.read_text("utf-8") if text is None else text
    entries: dict[str, Entry] = {}
    problems = []
    for line, block in blocks(text):
        name = block.partition(":")[0].strip()
        try:
            fields = read_block(block)
            check_fields(name, fields)
            if name in entries:
                first = entries[name].line
                raise ValueError(f"doubled, it is also on line {first}")
            entries[name] = Entry(name, line, fields)
        except yaml.MarkedYAMLError as error:
            mark: Any = error.context_mark or error.problem_mark
            reason = f"no YAML: {error.problem}"
            problems.append(Problem(line + mark.line, name, reason))
        except ValueError as error:
            problems.append(Problem(line, name, str(error)))
    repeats = defaultdict(list)
    for entry in entries.values():
        if entry.same:
            repeats[entry.same].append(entry)
            if entries.get(entry.same, entry).same:
                reason = f"same: {entry.same} is no entry with a home"
                problems.append(Problem(entry.line, entry.id, reason))
    for name, found in repeats.items():
        if name in entries:
            old = entries[name]
            entries[name] = Entry(name, old.line, old.fields, tuple(found))
    return entries, problems


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Each entry's text with the number of its first line."""
    line = 1
    for block in re.split(r"^(?![\s#])", text, flags=re.M):
        if re.match(r"[^\s#]", block):
            yield line, block
        line += block.count("\n")


def read_block(block: str) -> dict[str, str]:
    """The fields of one entry, as written."""
    node = yaml.compose(block)
    if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
        raise ValueError("expected an id and its fields")
    ((_, body),) = node.value
    if not isinstance(body, yaml.MappingNode):
        raise ValueError("expected fields below the id")
    fields: dict[str, str] = {}
    for key, value in body.value:
        if not isinstance(value, yaml.ScalarNode) or not value.value.strip():
            raise ValueError(f"{key.value} must be a piece of text")
        if key.value in fields:
            raise ValueError(f"{key.value} is given twice")
        fields[key.value] = value.value
    return fields


def check_fields(name: str, fields: dict[str, str]) -> None:
    """Raise ValueError unless the fields are those of such an entry."""
    must, may = CLAIM
    if name.startswith("eq-"):
        must, may = EQUATION
    elif name.startswith("E"):
        must, may = ERRATUM
    elif "same" in fields:
        must, may = REPEAT
    if missing := sorted(must - set(fields)):
        raise ValueError(f"without {', '.join(missing)}")
    if unknown := sorted(set(fields) - must - may):
        raise ValueError(f"unknown field {', '.join(unknown)}")
    for key, allowed in [("check", CHECKS), ("kind", KINDS)]:
        if key in fields and fields[key] not in allowed:
            raise ValueError(
                f"{key} must be one of {', '.join(allowed)}, got {fields[key]}"
            )
    if "home" in fields and not re.fullmatch(r"\w+#[\w-]+", fields["home"]):
        raise ValueError(f"home must be page#anchor, got {fields['home']}")
    if fields.get("check") not in (None, "prose") and (
        name.startswith("E") and "result" not in fields
    ):
        raise ValueError("without result")
    if CHINESE.search(fields.get("quote", "")) and "english" not in fields:
        raise ValueError("without english: the quote is Chinese")


# What the book makes of it --------------------------------------------------


@cache
def ledger() -> dict[str, Entry]:
    """The entries, read once."""
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
    order = {source: place for place, source in enumerate(SOURCES)}
    return {
        label: sorted(
            [n for n in dict.fromkeys(said) if not remarked(n, said)],
            key=lambda number: order.get(origin(number), len(order)),
        )
        for label, said in found.items()
    }


def remarked(number: str, said: list[str]) -> bool:
    """Whether the same place is named again, with a remark."""
    return any(other.startswith(f"{number}, ") for other in said)


def origin(number: str) -> str:
    """Which source a number is of: notes, after (13) -> notes."""
    return re.split(r"[ ,]", number)[0]


def source_line(label: str) -> str:
    """The line under an equation, in MyST."""
    said = sources().get(label, [])
    if not any(origin(number) in SOURCES for number in said):
        said = ["; ".join(["not in the sources", " · ".join(said)])]
    return " · ".join(said).removesuffix("; ")


@cache
def not_executed() -> dict[str, str]:
    """Why some equations are not executed, by label."""
    if not NOT_EXECUTED.exists():
        return {}
    return yaml.safe_load(NOT_EXECUTED.read_text("utf-8")) or {}
