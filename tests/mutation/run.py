"""Run the library's tests on every mutant: ``make mutants``.

A pytest plugin.  The tests are collected and run once, to see which functions
each of them calls and how long it takes.  Then, for each mutant, the process
is forked: the child gives the function its mutated code and runs the tests
that call it, quickest first, until one fails.  A child that fails or takes too
long has killed its mutant.

Survivors are listed in ``report.json`` beside this file.  Those that no test
can kill, because they compute the same, are explained in ``equivalent.yml``.
"""

import gc
import json
import os
import signal
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType

import pytest
import yaml
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings

from .mutants import Mutant, control, mutants

HERE = Path(__file__).parent
LIBRARY = HERE.parents[1] / "kernelbook"
CHILDREN = 2
SECONDS = 60  # of processor time, for one mutant

# One failure is enough, whatever it looks like; nothing is remembered.
settings.register_profile(
    "mutants",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=30,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass
class Watch:
    """Which tests call a function, and how long each test takes."""

    calls: dict = field(default_factory=lambda: defaultdict(set))
    seconds: dict = field(default_factory=dict)

    def see(self, item):
        prefix = str(LIBRARY)
        seen = set()

        def profile(frame, event, _):
            code = frame.f_code
            if event == "call" and code.co_filename.startswith(prefix):
                seen.add((Path(code.co_filename).stem, code.co_qualname))

        start = time.process_time()
        sys.setprofile(profile)
        try:
            good = passes(item)
        finally:
            sys.setprofile(None)
        if not good:
            pytest.exit(f"{item.nodeid} fails without any mutant")
        self.seconds[item] = time.process_time() - start
        for key in seen:
            self.calls[key].add(item)

    def tests_of(self, mutant):
        found = self.calls[mutant.module, mutant.function]
        return sorted(found, key=self.seconds.get)


def pytest_addoption(parser):
    parser.addoption(
        "--modules",
        default="",
        help="mutate only these modules, separated by commas",
    )


def pytest_configure(config):
    settings.load_profile("mutants")


def pytest_runtestloop(session):
    chosen = set(filter(None, session.config.option.modules.split(",")))
    files = sorted(LIBRARY.glob("*.py"))
    todo = [
        mutant
        for path in files
        if path.stem in chosen or not chosen
        for mutant in mutants(path)
    ]
    watch = Watch()
    for number, item in enumerate(session.items):
        show(f"watching tests {number + 1}/{len(session.items)}")
        watch.see(item)
    controls = list({m.module: m for m in todo}.values())
    controls = [control(LIBRARY / f"{m.module}.py", m) for m in controls]
    lost = len(controls) - len(list(survivors_of(controls, watch)))
    if lost:
        pytest.exit(f"{lost} of {len(controls)} unchanged functions fail")
    survivors = list(survivors_of(todo, watch))
    write_report(todo, survivors, complete=not chosen)
    return True


def survivors_of(todo, watch):
    """Mutants that no test kills; two children at a time."""
    running: dict[int, Mutant] = {}
    for number, mutant in enumerate(todo):
        show(f"mutant {number + 1}/{len(todo)} {mutant.module}")
        if len(running) == CHILDREN:
            yield from reap(running)
        running[start(mutant, watch)] = mutant
    while running:
        yield from reap(running)


def start(mutant, watch):
    child = os.fork()
    if child:
        return child
    try:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        limit_processor_time()
        quieten()
        tests = watch.tests_of(mutant)
        install(mutant)
        os._exit(0 if all(passes(test) for test in tests) else 1)
    except BaseException:
        os._exit(1)


def limit_processor_time():
    import resource

    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS, -1))


def quieten():
    """Nothing that a child prints is of interest."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def install(mutant):
    """Every reference to the function now runs the mutated code."""
    functions = [
        found
        for found in gc.get_objects()
        if isinstance(found, FunctionType)
        and found.__qualname__ == mutant.function
        and found.__module__ == f"kernelbook.{mutant.module}"
    ]
    for function in functions:
        function.__code__ = mutant.code


def passes(item):
    doctest = getattr(item, "dtest", None)
    names = dict(doctest.globs) if doctest else {}
    reports = runtestprotocol(item, nextitem=None, log=False)
    if doctest:
        doctest.globs.update(names)  # which running it has cleared
    return all(report.passed for report in reports)


def reap(running):
    child, status = os.wait()
    mutant = running.pop(child)
    if status == 0:
        yield mutant


def show(text):
    print(f"\r{text:60}", end="", file=sys.__stderr__, flush=True)


def write_report(todo, survivors, complete):
    explained = yaml.safe_load((HERE / "equivalent.yml").read_text("utf-8"))
    explained = explained or {}
    made = Counter(mutant.module for mutant in todo)
    alive = Counter(mutant.module for mutant in survivors)
    same = [m for m in survivors if m.name in explained]
    left = [m for m in survivors if m.name not in explained]
    killed = len(todo) - len(survivors)
    print(
        f"\nmutants: {len(todo)}, killed {killed}, equivalent {len(same)}, "
        f"unexplained {len(left)}; "
        f"kill rate {killed / (len(todo) - len(same)):.1%}"
    )
    for mutant in left:
        print(f"line {mutant.line}: {mutant.name}")
    report = {
        "mutants": len(todo),
        "killed": killed,
        "equivalent": len(same),
        "modules": {
            name: {"mutants": made[name], "survivors": alive[name]}
            for name in sorted(made)
        },
        "unexplained": sorted(m.name for m in left),
    }
    if complete:
        text = json.dumps(report, indent=1, ensure_ascii=False)
        (HERE / "report.json").write_text(text + "\n", "utf-8")
