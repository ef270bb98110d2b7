"""Run the library's tests on every mutant: ``make mutants``.

A pytest plugin.  The tests are collected and run once, to see which functions
each of them calls and how long it takes.  Then, for each mutant, the process
is forked: the child gives the function its mutated code and runs the tests
that call it, quickest first, until one fails.  A child that fails or takes too
long has killed its mutant.

Survivors are printed and, with ``--record``, kept in ``report.json``; see
``report.py``.  With ``--again`` only those are tried: after new tests, or
after a run with some of the tests only; where the code has changed, all.
"""

import gc
import os
import signal
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType

import pytest
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item
from hypothesis import HealthCheck, Phase, settings

from . import report
from .mutants import LIBRARY, Mutant, control, mutants

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

    functions: dict
    calls: dict = field(default_factory=lambda: defaultdict(set))
    seconds: dict = field(default_factory=dict)

    def see(self, item):
        seen = {}

        def profile(frame, event, _):
            if event == "call":
                seen[id(frame.f_code)] = frame.f_code

        start = time.process_time()
        sys.setprofile(profile)
        try:
            good = passes(item)
        finally:
            sys.setprofile(None)
        if not good:
            pytest.exit(f"{item.nodeid} fails without any mutant")
        self.seconds[item] = time.process_time() - start
        for code in seen.values():
            file = Path(code.co_filename)
            if file.parent == LIBRARY:
                self.calls[file.stem, code.co_qualname].add(item)

    def tests_of(self, mutant):
        found = self.calls[mutant.module, mutant.function]
        return sorted(found, key=self.seconds.get)


def pytest_addoption(parser):
    parser.addoption(
        "--modules",
        default="",
        help="mutate only these modules, separated by commas",
    )
    parser.addoption(
        "--children",
        type=int,
        default=int(os.environ.get("CHILDREN", 2)),
        help="how many mutants are tried at a time",
    )
    parser.addoption(
        "--record",
        action="store_true",
        help="enter the mutated modules in report.json",
    )
    parser.addoption(
        "--again",
        action="store_true",
        help="try only the survivors that report.json lists, and new ones",
    )


def pytest_configure(config):
    settings.load_profile("mutants")


def pytest_runtestloop(session):
    option = session.config.option
    chosen = set(filter(None, option.modules.split(",")))
    files = [p for p in LIBRARY.glob("*.py") if p.stem in chosen or not chosen]
    unknown = chosen - {path.stem for path in files}
    if unknown:
        pytest.exit(f"kernelbook has no module {', '.join(sorted(unknown))}")
    made = [mutant for path in sorted(files) for mutant in mutants(path)]
    todo = report.worth_trying(made) if option.again else made
    watch = Watch(library_functions())
    for number, item in enumerate(session.items):
        show(f"watching tests {number + 1}/{len(session.items)}")
        watch.see(item)
    gc.freeze()  # the children leave in peace what they share
    controls = list({m.module: m for m in todo}.values())
    controls = [control(LIBRARY / f"{m.module}.py", m) for m in controls]
    lived = survivors_of(controls, watch, option.children)
    lost = len(controls) - len(list(lived))
    if lost:
        pytest.exit(f"{lost} of {len(controls)} unchanged functions fail")
    survivors = list(survivors_of(todo, watch, option.children))
    found = report.entries(made, survivors)
    report.show(found, {m.name: m.line for m in made})
    if option.record:
        report.update(found)
    return True


def survivors_of(todo, watch, children):
    """Mutants that no test kills; a few children at a time."""
    running: dict[int, Mutant] = {}
    for number, mutant in enumerate(todo):
        show(f"mutant {number + 1}/{len(todo)} {mutant.module}")
        if len(running) == children:
            yield from reap(running)
        running[start(mutant, watch)] = mutant
    while running:
        yield from reap(running)


def start(mutant, watch):
    functions = watch.functions[mutant.module, mutant.function]
    child = os.fork()
    if child:
        return child
    try:
        quieten()
        tests = watch.tests_of(mutant)
        for function in functions:
            function.__code__ = mutant.code
        good = all(passes_in_time(test, watch.seconds[test]) for test in tests)
        os._exit(0 if good else 1)
    except BaseException:
        os._exit(1)


def passes_in_time(item, seconds):
    """Whether a test passes; one that takes far too long ends the child."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 5 * seconds)
    return passes(item)


def quieten():
    """Nothing that a child prints is of interest."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def library_functions():
    """All functions of the library, by module and qualified name."""
    found = {}
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            package, _, module = str(function.__module__).partition(".")
            if package == "kernelbook":
                place = module, function.__qualname__
                found.setdefault(place, []).append(function)
    return found


def passes(item):
    doctest = getattr(item, "dtest", None)
    names = dict(doctest.globs) if doctest else {}
    with catch_warnings_for_item(
        item.config, item.ihook, when="runtest", item=item, record=False
    ):
        reports = runtestprotocol(item, nextitem=None, log=False)
    if doctest:
        doctest.globs.update(names)  # which running it has cleared
    return all(report.passed for report in reports)


def reap(running):
    child, status = os.wait()
    mutant = running.pop(child)
    if status == 0:
        if mutant.before != mutant.after:
            show(f"lives: {mutant.name}\n")
        yield mutant


def show(text):
    print(f"\r{text:60}", end="", file=sys.__stderr__, flush=True)
