r"""The relations that stand in sentences, such as $\lambda = 0.1$.

``inline/chapter_NN.yml`` says by its text what becomes of each:

    '\mathbf K = \mathbf K^\top': eq-gram    executed in the world of eq-gram
    \lambda = 0.1: live                      executed in the notebook itself
    N = 12: {live: {N: len(X)}}              ... where N is ``len(X)``
    \lambda > 0: condition                   not executed, and why
    f \in \mathcal H: {schematic: H is a space of functions}
    f(0) = 1: {condition: what was seen in an example}

A key may end in `` @ `` and the name of a section, for that section only.
``make relations`` enters what holds in the nearest world; the rest is yours.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from typeset import Disagreement, Equation, FormulaError, judged
from typeset.notation import STANDARD

import worlds
from press.evidence import SAYS
from press.reader import CHAPTERS, Cell, Math, Page, chapters

CLASSES = ("definition", "condition", "limit", "schematic")
LEAST_REJECTED = 0.5  # of an equality's mutants; of an inequality's, one
ORDER = {"<", ">", r"\le", r"\ge", r"\ne", r"\in", r"\succ", r"\succeq"}


class Verdict(NamedTuple):
    """What becomes of a relation: "world", "live" or a class, and more."""

    kind: str
    more: Any = None


@dataclass(frozen=True)
class Relation:
    """A relation, and the places of a page where it means the same."""

    text: str
    page: Page
    places: tuple[Math, ...]
    verdict: Verdict | None
    key: str

    @property
    def equation(self) -> Equation:
        path, line = f"chapters/{self.page.path.name}", self.places[0].line
        return Equation(self.text, f"${self.text}$", path, line)


def is_relation(latex: str) -> bool:
    r"""The = of ``\sum_{n=1}^N`` or ``p(t = 1)`` is none, nor ``\ge 0``."""
    found = [*SAYS.finditer(latex)]
    if not found or not found[0].start() or found[-1].end() == len(latex):
        return False
    try:
        tree = STANDARD.parse(latex)
    except FormulaError:
        return True
    said = {part.unwrapped.kind for part in tree.parts}
    return bool(said & {"relation", "domain"} or SAYS.search(str(tree.words)))


def listed(page: Page) -> Path:
    """The file that says what becomes of a page's relations."""
    number = re.match(r"\d\d(?=_)", page.path.name)
    name = f"chapter_{number[0]}" if number else page.path.stem
    return page.path.parents[1] / "tests" / "worlds" / "inline" / f"{name}.yml"


@cache
def verdicts(page: Page) -> dict[str, Verdict]:
    path = listed(page)
    found = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
    return {key: verdict(said) for key, said in (found or {}).items()}


def verdict(said: Any) -> Verdict:
    if isinstance(said, dict):
        ((kind, more),) = said.items()
        return Verdict(kind, more)
    plain = said in (*CLASSES, "live")
    return Verdict(said, {}) if plain else Verdict("world", said)


@cache
def relations(page: Page, listed_only: bool = False) -> list[Relation]:
    """Of a page, in order, each once for each thing it means."""
    known, found = verdicts(page), dict[str, list[Math]]()
    for math in [m for m in page.of(Math) if not m.display]:
        text = " ".join(math.latex.split())
        special = f"{text} @ {math.section}"
        key = special if special in known else text
        if key in known or (not listed_only and is_relation(text)):
            found.setdefault(key, []).append(math)
    return [
        Relation(
            " ".join(places[0].latex.split()),
            page,
            tuple(places),
            known.get(key),
            key,
        )
        for key, places in found.items()
    ]


# In a world ----------------------------------------------------------------


def trivial(equation: Equation, there: list[Any]) -> str:
    """What is wrong if hardly any mutant of a true relation is rejected."""
    fates = judged(equation, there)
    rejected = [m for m, fate in fates.items() if fate in ("value", "shape")]
    for mutant in fates.keys() - {*rejected}:
        tight = r"\dots" in mutant or all("@tight" in one for one in there)
        turned = re.match(r"turned: .*([<>]|\\[gl]e )", mutant)
        if turned and only_orders(equation) and not tight:
            return f"it also holds turned round: {mutant}"
    least = 0 if only_orders(equation) else LEAST_REJECTED * len(fates)
    if rejected and len(rejected) >= least:
        return ""
    left = "; ".join(m for m in fates if m not in rejected)
    return f"{len(rejected)} of {len(fates)} mutants rejected: {left or '-'}"


def problem(equation: Equation, there: list[Any]) -> str:
    """Why a relation is not proved by these worlds, or nothing."""
    try:
        for bindings in there:
            equation.check(bindings)
    except (Disagreement, FormulaError) as error:
        return str(error)
    if said := trivial(equation, there):
        return f"{equation.path}:{equation.line}: {equation.latex}: {said}"
    return ""


def doubtful(relation: Relation) -> str:
    """What is supposed or defined, but false wherever it can be evaluated.

    That x = 0, one case of many, a world may have otherwise; more says why.
    """
    kind, more = relation.verdict or Verdict("")
    case = by_luck(relation) and not only_orders(relation.equation)
    said = empty(relation)
    if said or kind not in CLASSES[:2] or more or case:
        return said
    for label in nearby(relation):
        try:
            for bindings in worlds.made(label):
                relation.equation.check(bindings)
            return ""
        except Disagreement as error:
            said = f"{error}: a {kind}, but false in the world of {label}"
        except Exception:  # a world's function may refuse anything
            continue
    return said and f"{said}; if it is right, {{{kind}: why}}"


def empty(relation: Relation) -> str:
    """What is wrong if one side is the other."""
    try:
        relation.equation.check({})
    except (Disagreement, FormulaError) as error:
        return str(error) if "says nothing" in str(error) else ""
    return ""


def nearby(relation: Relation) -> Iterator[str]:
    """The chapter's worlds, by a label of each, from near to far."""
    number = listed(relation.page).stem.removeprefix("chapter_")
    lines = {e.label: e.line for e in relation.page.equations}
    here = relation.places[0].line
    there = {
        label: abs(lines.get(label, 10**6) - here)
        for label, make in worlds.load().items()
        if make.__module__.endswith(f"chapter_{number}")
    }
    seen = set()
    for label in sorted(there, key=lambda label: (there[label], label)):
        if (make := worlds.load()[label]) not in seen:
            seen.add(make)
            yield label


def fitting(relation: Relation) -> Iterator[tuple[str, str]]:
    """Worlds in which a relation can be evaluated, and what is wrong there."""
    for label in nearby(relation):
        try:
            said = problem(relation.equation, worlds.made(label))
        except Exception as error:  # a world's function may refuse anything
            said = f"not bound: {error}"
        if not re.search("not bound|cannot be read|not evaluated", said):
            yield label, said


def advice(relation: Relation) -> str:
    """For the author of a relation that is not listed."""
    lines = ", ".join(str(place.line) for place in relation.places)
    said = [f"chapters/{relation.page.path.name}:{lines}: ${relation.text}$"]
    found = list(fitting(relation))[:4]
    for label, wrong in found:
        said.append(f"  in the world of {label}: {wrong or 'holds'}")
        if not wrong:
            said.append(f"  enter    {line(relation.key, label)}")
    if not found:
        said.append("  no world of the chapter binds all its symbols")
    where = f"tests/worlds/inline/{listed(relation.page).name}"
    said.append(f"  it is not in {where}: a world, live, {', '.join(CLASSES)}")
    return "\n".join(said)


def line(key: str, said: Any) -> str:
    text = yaml.safe_dump({key: said}, width=10_000, allow_unicode=True)
    return text.strip()


# Proposals -----------------------------------------------------------------


def by_luck(relation: Relation) -> bool:
    """Whether any world's numbers might make it true: λ > 0, N = 5."""
    try:
        tree = relation.equation.tree
    except FormulaError:
        return True
    for statement in (part.unwrapped for part in tree.parts):
        simple = {side.kind for side in statement.parts if side}
        if simple <= {"symbol", "script", "number", "prefix", "dots"}:
            return True
    return False


def only_orders(equation: Equation) -> bool:
    """Whether it is an inequality, or cannot be read at all."""
    try:
        parts = equation.tree.parts
    except FormulaError:
        return True
    return not {word for part in parts for word in part.words} - ORDER


def proposal(relation: Relation) -> str:
    """The nearest world in which it holds; an inequality must hold in all."""
    try:
        lucky = by_luck(relation)
    except FormulaError:
        return ""
    found = [] if lucky else list(fitting(relation))
    holds = [label for label, wrong in found if not wrong]
    if only_orders(relation.equation) and len(holds) < len(found):
        return ""
    return holds[0] if holds else ""


def enter(page: Page, new: dict[str, Any]) -> None:
    """Write the page's list anew, in the order of the page."""
    path = listed(page)
    old = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
    both = (old or {}) | new
    order = [r.key for r in relations(page)]
    rest = [key for key in both if key not in order]
    kept = [*(key for key in order if key in both), *rest]
    text = "\n".join(line(key, both[key]) for key in kept)
    path.write_text(text + "\n", "utf-8")


def main(numbers: list[str]) -> None:
    for page in chapters():
        if numbers and page.number not in numbers:
            continue
        left = [r for r in relations(page) if r.verdict is None]
        found = {r.key: label for r in left if (label := proposal(r))}
        enter(page, found)
        print(f"{page.number}: entered {len(found)} of {len(left)}")


# Live ----------------------------------------------------------------------

TABLE = CHAPTERS / "notation.md"
ROW = re.compile(
    r"^\* - (.*(?:\n    .*)*)\n  - (.*(?:\n    .*)*)\n  - (.*)", re.M
)
CHAPTER = re.compile(r"\(chapters? (\d+)(?: and (\d+))?\)")


def live(page: Page, propose: bool = False) -> list[Relation]:
    """The relations that are to be tried in the notebook of the page."""
    if not propose and "live" not in str(verdicts(page).values()):
        return []
    return [
        r
        for r in relations(page, listed_only=not propose)
        if (
            r.verdict.kind == "live"
            if r.verdict
            else not only_orders(r.equation)
        )
    ]


def tidy(bound: dict[str, Any]) -> dict[str, Any]:
    """What a notebook holds as a world; its lists are arrays."""
    return {
        symbol: np.array(value) if isinstance(value, list) else value
        for symbol, value in bound.items()
    }


@cache
def named(number: str) -> dict[str, str]:
    """Python's names of symbols in a chapter, by the table of notation."""
    found: dict[str, str] = {}
    for symbols, _, code in ROW.findall(TABLE.read_text("utf-8")):
        latex = re.findall(r"\$([^$]+)\$", symbols)
        names = re.findall(r"`([^`]+)`", code)
        only = [int(n) for pair in CHAPTER.findall(symbols) for n in pair if n]
        elsewhere = only and number.lstrip("0") not in map(str, only)
        if len(latex) != len(names) or elsewhere:
            continue
        both = zip(latex, names, strict=True)
        rows = {k: n for k, n in both if n.isidentifier()}
        found = {**found, **rows} if only else {**rows, **found}
    return found


def names(relation: Relation) -> dict[str, str]:
    """What to ask a notebook for, by the symbols of a relation."""
    table = STANDARD.keyed(named(relation.page.path.name[:2]))
    asked = {}
    for node in relation.equation.tree.walk():
        if node.kind == "symbol" and node.text not in STANDARD.meanings:
            plain = re.sub(r"\\(math[a-z]+|boldsymbol)\b|[\\ ]", "", node.text)
            asked[node.text] = table.get(node.text, plain)
    valid = {k: n for k, n in asked.items() if n.isidentifier()}
    chosen = relation.verdict.more if relation.verdict else {}
    return valid | (chosen or {})


def gap(relation: Relation, cells: list[Cell]) -> list[int]:
    """After which cells it is tried: the one before it and the one after.

    A sentence may speak of what the next cell of its section will do.
    """
    (place, *_) = relation.places
    before = [i for i, cell in enumerate(cells) if cell.line < place.line][-1:]
    after = [i for i, cell in enumerate(cells) if cell.line > place.line][:1]
    same = [i for i in after if cells[i].section == place.section]
    return before + same


if __name__ == "__main__":
    main(sys.argv[1:])
