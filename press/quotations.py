"""The sources' own words: where they stand there, and that they do.

Errata quote a source, and so do the sections *In the sources*; what is Chinese
there may stand here in English, and ``chapters/translations.yml`` has it.  The
sources are not ours to hand on: ``tests/data/quotations.txt`` keeps of each
quotation a digest of its words, and its place, file:line.  Where the sources
are at hand, beside this checkout or in the folder KERNELBOOK_SOURCES, they are
asked; ``python -m press.quotations`` then writes that file anew.
"""

import hashlib
import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import yaml

from press.ledger import SOURCES, ledger, origin
from press.reader import CHAPTERS, ROOT, Words, chapters

BESIDE = ROOT.parent / "shared" / "sources"
FOLDER = Path(os.environ.get("KERNELBOOK_SOURCES", BESIDE))
TRANSLATIONS = CHAPTERS / "translations.yml"
RECORD = ROOT / "tests" / "data" / "quotations.txt"
NAMES = ("alpha", "beta", "gamma", "lambda", "mu", "sigma", "phi", "top")
LETTER = dict(zip(NAMES, "αβγλμσφT", strict=True))


class Quotation(NamedTuple):
    """Words of a source, the file they are in if that is said, and the line.

    ``by`` says who quotes, ``meant`` what errata beside it say that it means;
    of an erratum, its own English.
    """

    by: str
    words: str
    file: str = ""
    line: int = 0
    meant: tuple[str, ...] = ()


def quotations() -> Iterator[Quotation]:
    """All of the book."""
    for entry in ledger().values():
        if entry.quote:
            file = f"{SOURCES.index(origin(entry.source)):03}"
            by = f"chapters/ledger.yml:{entry.line}: {entry.id}"
            meaning = (entry.english,) if entry.english else ()
            yield Quotation(by, entry.quote, file, int(entry.at or 0), meaning)
    for page in chapters():
        for part in page.of(Words):
            if part.section == "In the sources":
                named = re.findall(r"\{erratum\}`(\w+)`", part.text)
                meant = [ledger()[n].english for n in named if n in ledger()]
                by = f"{page.name}.md:{part.line}"
                for words in re.findall(r'"([^"]+)"', part.text):
                    own = translations().get(" ".join(words.split()), words)
                    yield Quotation(by, own, meant=tuple(meant))


@cache
def translations() -> dict[str, str]:
    """What is quoted in English, in a source's own words."""
    return yaml.safe_load(TRANSLATIONS.read_text("utf-8"))


def spelt(words: str, exact: bool) -> str:
    """Without white space; or only its letters and digits, in one case."""
    if exact:
        return "".join(words.split())
    words = re.sub(r"\\([a-zA-Z]+)", lambda m: LETTER.get(m[1], ""), words)
    return re.sub(r"\W|_", "", words).lower()


def pieces(quotation: Quotation) -> list[str]:
    """What is quoted, letter by letter; an ellipsis parts it.

    An erratum is exact; a sentence of the book may leave TeX out.
    """
    parts = re.split("…", quotation.words)
    return [spelt(p, bool(quotation.file)) for p in parts if p.strip()]


def digest(quotation: Quotation) -> str:
    """Of its words, and of an erratum's translation."""
    meant = quotation.meant if quotation.file else ()
    text = "…".join([*pieces(quotation), *meant]).encode()
    return hashlib.sha256(text).hexdigest()[:10]


def is_translated(quotation: Quotation) -> bool:
    """Whether it is what an erratum says that its quotation means."""
    return not quotation.file and any(
        all(piece in spelt(meant, exact=False) for piece in pieces(quotation))
        for meant in quotation.meant
    )


@cache
def recorded() -> dict[str, str]:
    """Where words stand, by their digest."""
    lines = RECORD.read_text("utf-8").splitlines()
    return dict(line.split() for line in lines)


@cache
def texts(exact: bool) -> dict[str, list[str]]:
    """The lines of the sources, spelt, by file: none if they are not here."""
    found = sorted(FOLDER.glob("00[0-4]_*.txt"))
    lines = {p.name[:3]: p.read_text("utf-8").split("\n") for p in found}
    return {
        file: [spelt(line, exact) for line in all_]
        for file, all_ in lines.items()
    }


def places(quotation: Quotation) -> Iterator[str]:
    """Where in the sources the words begin, as file:line."""
    first, *others = pieces(quotation)
    for file, lines in texts(bool(quotation.file)).items():
        if file != (quotation.file or file):
            continue
        whole = "".join(lines)
        starts = [0, *accumulate(map(len, lines))]
        for found in re.finditer(re.escape(first), whole):
            rest = whole[found.end() : found.end() + 400]
            if all(piece in rest for piece in others):
                yield f"{file}:{bisect_right(starts, found.start())}"


def findings() -> Iterator[str]:
    """What is wrong with the quotations."""
    for quotation in quotations():
        place = recorded().get(digest(quotation), "")
        said = f"{quotation.file}:{quotation.line}"
        if is_translated(quotation):
            continue
        if not place:
            yield (
                f"{quotation.by}: no source says, or its English is new "
                f"(`python -m press.quotations`): {quotation.words}"
            )
        elif quotation.file and place != said:
            yield f"{quotation.by}: it stands in {place}, not {said}"
        elif texts(exact=True) and place not in places(quotation):
            yield f"{quotation.by}: {place} does not say: {quotation.words}"


def write() -> None:
    """Record where the quotations stand."""
    if not texts(exact=True):
        raise SystemExit(f"no sources in {FOLDER}: nothing is recorded")
    rows: dict[str, str] = {}
    for quotation in quotations():
        for place in places(quotation):
            said = f"{quotation.file}:{quotation.line}"
            if not quotation.file or place == said:
                rows.setdefault(digest(quotation), place)
    lines = [f"{key} {place}\n" for key, place in sorted(rows.items())]
    RECORD.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    write()
