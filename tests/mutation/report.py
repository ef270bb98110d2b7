"""What the mutation runs have found: ``report.json`` beside this file.

One line for each function, and one for the constants of each module: a digest
of what was mutated, the number of mutants, how many live and are explained in
``equivalent.yml``, and the names of those that live and are not.
"""

import json
from collections import defaultdict
from functools import cache
from pathlib import Path

import yaml

REPORT = Path(__file__).with_name("report.json")
EXPLAINED = Path(__file__).with_name("equivalent.yml")


@cache
def explained():
    """Why each mutant that lives may live, by the mutant's name."""
    return yaml.safe_load(EXPLAINED.read_text("utf-8")) or {}


def entry(digest, mutants, lives):
    """The line of a function, if mutants of these names live."""
    names = {mutant.name for mutant in mutants} & lives
    left = sorted(names - explained().keys())
    return [digest, len(mutants), len(names) - len(left), *left]


def wanted(part):
    """The line of a function of which all is killed or explained."""
    return entry(*part, explained().keys())


def read(path=REPORT):
    """The lines by module and function."""
    text = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {(m, name): text[m][name] for m in text for name in text[m]}


def write(entries, path=REPORT):
    """One line per entry, so that a change is one line of a diff."""
    modules = defaultdict(list)
    for (module, name), entry in sorted(entries.items()):
        line = json.dumps(entry, ensure_ascii=False)
        modules[module].append(f"  {json.dumps(name)}: {line}")
    blocks = (
        f" {json.dumps(module)}: {{\n" + ",\n".join(lines) + "\n }"
        for module, lines in modules.items()
    )
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", "utf-8")


def summary(entries):
    """How many mutants there are, and what has become of them."""
    rows = [(mutants, known, len(of)) for _, mutants, known, *of in entries]
    mutants, equivalent, lives = map(sum, zip(*rows, strict=True))
    killed = mutants - equivalent - lives
    return (
        f"mutants: {mutants}, killed {killed}, equivalent {equivalent}, "
        f"unexplained {lives}"
    )
