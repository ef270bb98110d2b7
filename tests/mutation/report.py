"""What the mutation runs have found: ``report.json`` beside this file.

One line for each function, and one for the constants of each module: a digest
of what was mutated, the number of mutants, how many live and are explained in
``equivalent.yml``, and the names of those that live and are not.  When an
explanation was added, ``python -m mutation.report`` in ``tests`` counts anew.
"""

import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from .mutants import Library

REPORT = Path(__file__).with_name("report.json")
EXPLAINED = Path(__file__).with_name("equivalent.yml")


class Entry(NamedTuple):
    """What was found for one function; only names in ``lives`` are to do."""

    digest: str
    mutants: int
    explained: int
    lives: tuple[str, ...]


@cache
def explained():
    """Why each mutant that lives may live, by the mutant's name."""
    return yaml.safe_load(EXPLAINED.read_text("utf-8")) or {}


def read(path=REPORT):
    """The entries by module and function, explanations taken into account."""
    text = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {
        (module, function): found(digest, mutants, lives, known)
        for module, entries in text.items()
        for function, (digest, mutants, known, *lives) in entries.items()
    }


def found(digest, mutants, lives, known=0):
    reasons = explained()
    lives = set(lives)
    left = tuple(sorted(lives - reasons.keys()))
    return Entry(digest, mutants, known + len(lives) - len(left), left)


def write(entries, path=REPORT):
    """One line per entry, so that a change is one line of a diff."""
    modules = defaultdict(list)
    for (module, function), entry in sorted(entries.items()):
        line = json.dumps([*entry[:3], *entry.lives], ensure_ascii=False)
        modules[module].append(f"  {json.dumps(function)}: {line}")
    blocks = (
        f" {json.dumps(module)}: {{\n" + ",\n".join(lines) + "\n }"
        for module, lines in modules.items()
    )
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", "utf-8")


def reasons_by_entry(made):
    """How many mutants of each function are explained."""
    names = defaultdict(set)
    for mutant in made:
        if mutant.name in explained():
            names[mutant.entry].add(mutant.name)
    return {entry: len(of) for entry, of in names.items()}


def worth_trying(made, digests, recorded):
    """All of what is new or changed; else what lived and is unexplained."""
    known = reasons_by_entry(made)
    same = {
        entry
        for entry, old in recorded.items()
        if old.digest == digests.get(entry)
        and old.explained == known.get(entry, 0)
    }
    return [
        m
        for m in made
        if m.entry not in same or m.name in recorded[m.entry].lives
    ]


def updated(recorded, made, digests, tried, lives):
    """The entries after a run: of functions that are gone, none."""
    entries = {e: old for e, old in recorded.items() if e in digests}
    by_entry = defaultdict(list)
    for mutant in made:
        by_entry[mutant.entry].append(mutant)
    tried, lives = set(tried), set(lives)
    for entry in digests:
        of = by_entry[entry]
        alive = {m.name for m in of if m in lives}
        if all(m in tried for m in of):
            entries[entry] = found(digests[entry], len(of), alive)
        elif any(m in tried for m in of):
            old = entries[entry]
            entries[entry] = found(*old[:2], alive, old.explained)
    return entries


def counts(entries):
    """Of a module, or of all: mutants, those explained, those that live."""
    rows = [(e.mutants, e.explained, len(e.lives)) for e in entries]
    return [sum(column) for column in zip((0, 0, 0), *rows, strict=True)]


def kill_rate(entries):
    """Of the mutants that compute something else, how many are killed."""
    mutants, explained, lives = counts(entries)
    return 1 - lives / max(mutants - explained, 1)


def summary(entries):
    mutants, explained, lives = counts(entries)
    return (
        f"mutants: {mutants}, killed {mutants - explained - lives}, "
        f"equivalent {explained}, unexplained {lives}; "
        f"kill rate {kill_rate(entries):.1%}"
    )


if __name__ == "__main__":
    write(read())
    print(summary(read().values()))
    print("read while loading, not mutated:", *Library().not_mutated())
