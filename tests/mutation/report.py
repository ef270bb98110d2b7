"""What the mutation runs have found: ``report.json`` beside this file.

Each run enters the modules that it mutated; the rest stays.  Survivors that
no test can kill, because they compute the same, are explained in
``equivalent.yml``.  When an explanation was added, ``python -m
mutation.report`` in ``tests`` counts anew; with the name of another branch's
report it takes over from there what is newer or better.
"""

import json
import sys
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import yaml

from .mutants import LIBRARY, mutants

REPORT = Path(__file__).with_name("report.json")
EXPLAINED = Path(__file__).with_name("equivalent.yml")


def explained():
    """Why each mutant that lives may live, by the mutant's name."""
    return yaml.safe_load(EXPLAINED.read_text("utf-8")) or {}


def read():
    return json.loads(REPORT.read_text("utf-8")) if REPORT.exists() else {}


def survivors():
    """The names of all mutants that lived when they were last tried."""
    modules = read().get("modules", {}).values()
    return {name for entry in modules for name in entry["survivors"]}


def worth_trying(made):
    """Of changed modules all mutants, of the others those that lived."""
    modules = read().get("modules", {})
    same = {
        module
        for module, digest in digests(made).items()
        if module in modules and modules[module].get("digest") == digest
    }
    known = survivors()
    return [m for m in made if m.module not in same or m.name in known]


def digests(made):
    """For each module a number that changes when its mutants do."""
    names = defaultdict(list)
    for mutant in made:
        names[mutant.module].append(mutant.name)
    return {
        module: f"{zlib.crc32(repr(sorted(of)).encode()):08x}"
        for module, of in names.items()
    }


def entries(made, survivors):
    """For each module, its number of mutants and the survivors' names."""
    count = Counter(mutant.module for mutant in made)
    return {
        module: {
            "digest": digest,
            "mutants": count[module],
            "survivors": sorted(
                m.name for m in survivors if m.module == module
            ),
        }
        for module, digest in digests(made).items()
    }


def counted(entry):
    """An entry with what follows from its survivors."""
    reasons = explained()
    survivors = entry["survivors"]
    equivalent = sum(name in reasons for name in survivors)
    return {
        "digest": entry.get("digest", ""),
        "mutants": entry["mutants"],
        "killed": entry["mutants"] - len(survivors),
        "equivalent": equivalent,
        "unexplained": len(survivors) - equivalent,
        "survivors": survivors,
    }


def total(modules):
    names = ["mutants", "killed", "equivalent", "unexplained"]
    return {n: sum(entry[n] for entry in modules.values()) for n in names}


def kill_rate(counts):
    """Of the mutants that compute something else, how many are killed."""
    return counts["killed"] / (counts["mutants"] - counts["equivalent"])


def summary(counts):
    return (
        "mutants: {mutants}, killed {killed}, equivalent {equivalent}, "
        "unexplained {unexplained}; kill rate ".format(**counts)
        + f"{kill_rate(counts):.1%}"
    )


def show(found, lines):
    """Print what is left to do for the modules of one run."""
    found = {module: counted(entry) for module, entry in found.items()}
    reasons = explained()
    alive = {name for entry in found.values() for name in entry["survivors"]}
    print()
    for module, entry in found.items():
        print(f"{module}: {summary(entry)}")
    for name in sorted(alive - set(reasons), key=lines.get):
        print(f"line {lines[name]}: {name}")
    for name in reasons:
        if name in lines and name not in alive:
            print(f"explained, but killed: {name}")
    print(summary(total(found)))


def update(found):
    """Enter the modules of one run, and count all of them anew."""
    modules = read().get("modules", {}) | found
    modules = {name: counted(modules[name]) for name in sorted(modules)}
    text = {"total": total(modules), "modules": modules}
    text = json.dumps(text, indent=1, ensure_ascii=False)
    REPORT.write_text(text + "\n", "utf-8")


def better(modules):
    """Of another report, the modules that are better than in this one."""
    made = [m for path in LIBRARY.glob("*.py") for m in mutants(path)]
    current = digests(made)
    mine = read().get("modules", {})

    def badness(module, entry):
        return entry.get("digest") != current.get(module), len(
            entry["survivors"]
        )

    return {
        module: entry
        for module, entry in modules.items()
        if module not in mine
        or badness(module, entry) < badness(module, mine[module])
    }


if __name__ == "__main__":
    update({})
    for path in sys.argv[1:]:
        other = json.loads(Path(path).read_text("utf-8"))
        update(better(other["modules"]))
    print(summary(read()["total"]))
