"""Run the library's tests on its mutants: ``make mutants``.

A pytest plugin.  The tests run once, to see which functions each of them calls
and how long it takes.  Then, for each mutant, the process is forked: the child
imports the library anew, as the mutant has it, gives the code, defaults and
numbers to the library that the tests know, and runs the tests concerned until
one fails: first those that have killed a mutant of the same function and those
of the module's own test files, then the others, always the quickest first.
A child that fails or takes too long has killed its mutant.

Only functions that are new or changed since the last run are tried, and those
with survivors; with ``--all``, everything: after tests were taken away.
Survivors are printed and kept in ``report.json``; see ``report.py``.
"""

import gc
import os
import signal
import sys
import time
from collections import Counter, defaultdict
from functools import partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from itertools import accumulate
from pathlib import Path
from types import FunctionType, ModuleType
from unittest import mock

import pytest
from hypothesis import HealthCheck, Phase, settings

from . import report
from .mutants import LIBRARY, modules, parts

LIVES, CANNOT = 0, 255  # how a child ends; else the place of what killed it
PATIENCE = 8.0  # seconds of tests, the most promising first, to outlive


def pytest_addoption(parser):
    parser.addoption("--modules", default="")
    parser.addoption("--all", action="store_true")
    parser.addoption("--children", type=int, default=2)
    parser.addoption("--library", type=Path, default=LIBRARY)
    parser.addoption("--report", type=Path, default=report.REPORT)


def pytest_configure(config):
    """One failure is enough, whatever it looks like."""
    settings.register_profile(
        "mutants",
        max_examples=30,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutants")


def pytest_itemcollected(item):
    if hasattr(item, "dtest"):  # its names are needed again, in the children
        item.runner.run = partial(item.runner.run, clear_globs=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session):
    option = session.config.option
    found = modules(option.library.resolve())
    chosen = {*filter(None, option.modules.split(","))} or {*found}
    if unknown := chosen - {*found}:
        pytest.exit(f"the library has no module {', '.join(sorted(unknown))}")
    made, old = parts(found), report.read(option.report)
    todo = {
        place: part
        for place, part in made.items()
        if place[0] in chosen
        and (option.all or old.get(place) != report.wanted(part))
    }
    watch = Watch(found)
    session.config.pluginmanager.register(watch, "watch")
    session.items = session.items if todo else []
    result = yield
    if session.testsfailed:
        pytest.exit("tests fail without any mutant")
    gc.freeze()  # the children leave in peace what they share
    spared = set() if option.all else {*report.explained()}
    entries = {place: old[place] for place in made if place in old}
    for module in sorted(chosen):
        now = {place: todo[place] for place in todo if place[0] == module}
        mutants = [mutant for _, of in now.values() for mutant in of]
        unsure = [mutant for mutant in mutants if mutant.name not in spared]
        lives = spared | names_alive(unsure, watch, option.children)
        entries |= {p: report.entry(*part, lives) for p, part in now.items()}
        report.write(entries, option.report)  # an interrupted run keeps this
    print(report.summary(entries.values()))
    return result


def names_alive(mutants, watch, children):
    """Of those that no test kills; an unchanged function must be among them.

    What is left to do is printed.
    """
    functions = [mutant for mutant in mutants if not mutant.constant]
    control = [m._replace(name="", change=lambda: None) for m in functions[:1]]
    names = {m.name for m in survivors_of(control + mutants, watch, children)}
    if control and "" not in names:
        pytest.exit(
            f"the tool is at fault: {control[0].module} as it is fails"
        )
    for mutant in mutants:
        lives = mutant.name in names
        if lives != (mutant.name in report.explained()):
            how = "lives" if lives else "is explained, but killed"
            print(f"\rline {mutant.line} {how}: {mutant.name}")
    return names


class Watch:
    """Which tests meet a function or a name, and how long each test takes."""

    def __init__(self, found):
        self.found, self.things = found, things()
        self.modules = {str(found[module][0]): module for module in found}
        codes = (compile(tree, path, "exec") for path, tree in found.values())
        self.codes = {code.co_filename: code for code in codes}
        self.tests, self.seconds = defaultdict(set), {}
        self.kills = defaultdict(Counter)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Keep what a test calls, and which names are used there."""
        seen = {}

        def profile(frame, *_):
            seen[id(frame.f_code)] = frame.f_code

        start = time.process_time()
        sys.setprofile(profile)
        result = yield
        sys.setprofile(None)
        self.seconds[item] = time.process_time() - start
        for code in seen.values():
            if module := self.modules.get(code.co_filename):
                name = code.co_qualname
                inside = *name.split("."), *code.co_names
                for met in ((module, name), module, *inside):
                    self.tests[met].add(item)
        return result

    def tests_of(self, mutant):
        """The tests that can meet a mutant, the most promising first."""
        tests = self.tests[mutant.module, mutant.function]
        if mutant.constant:
            owner = mutant.function.rpartition(".")[2]
            readers = self.tests[mutant.constant] | self.tests[owner]
            tests = readers or self.tests[mutant.module]
        kills = self.kills[mutant.module, mutant.function]
        words = {*mutant.module.replace(".", "_").split("_")} - {""}

        def promise(test):
            own = words & {*test.path.stem.split("_")}
            seconds = self.seconds[test] / (1 + kills[test])
            return not (own or kills[test]), seconds

        best = sorted(tests, key=promise)
        spent = accumulate(map(self.seconds.get, best), initial=0.0)
        pairs = zip(best, spent, strict=False)
        return [test for test, seconds in pairs if seconds <= PATIENCE]


def survivors_of(todo, watch, children):
    """Mutants that no test kills; a few children at a time."""
    waiting, running = [*todo], {}
    while waiting or running:
        if waiting and len(running) < children:
            mutant = waiting.pop(0)
            text = f"\r{len(waiting)} more mutants of {mutant.module}"
            print(f"{text:60}", end="", file=sys.stderr, flush=True)
            tests = watch.tests_of(mutant)
            running[start(mutant, tests, watch)] = mutant, tests
            continue
        child, status = os.wait()
        mutant, tests = running.pop(child)
        end = os.waitstatus_to_exitcode(status)
        if end == CANNOT:
            pytest.exit(f"cannot be put in place: {mutant.name}")
        if end > 0 and tests:
            watch.kills[mutant.module, mutant.function][tests[end - 1]] += 1
        if end == LIVES:
            yield mutant


def start(mutant, tests, watch):
    """A child that puts a mutant in place and runs tests until one fails."""
    if child := os.fork():
        return child
    end = CANNOT
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 10)
        mutant.change()
        path, tree = watch.found[mutant.module]
        watch.codes[str(path)] = compile(tree, path, "exec")
        end = 1  # a library that cannot be imported fails in every test
        anew = import_anew(watch.codes)
        end = CANNOT
        take_over(anew, watch.things, mutant.constant)
        for place, test in enumerate(tests, start=1):
            end = min(place, CANNOT - 1)
            if not passes(test, watch.seconds[test]):
                break
        else:
            end = LIVES
    finally:
        os._exit(end)


def import_anew(codes):
    """The things of the library, made by these codes of its files."""
    get_code = SourceFileLoader.get_code

    def code(loader, name):
        return codes.get(loader.path) or get_code(loader, name)

    with (
        mock.patch.object(SourceFileLoader, "get_code", code),
        mock.patch.dict(sys.modules),
    ):
        files = {n: getattr(m, "__file__", 0) for n, m in sys.modules.items()}
        names = [name for name, file in files.items() if file in codes]
        for name in names:
            del sys.modules[name]
        for name in names:
            import_module(name)
        return things()


def things():
    """Modules, classes and functions, by what they are called."""
    found = defaultdict(list)
    for thing in gc.get_objects():
        if issubclass(type(thing), ModuleType):
            found[thing.__name__].append(thing)
        elif issubclass(type(thing), FunctionType | type):
            code = getattr(getattr(thing, "__code__", 0), "co_qualname", "")
            found[thing.__module__, thing.__qualname__, code].append(thing)
    return found


def take_over(anew, known, constant):
    """The code of functions, and the constant of a name."""
    for name, (new, *others) in anew.items():
        for old in [] if others else known[name]:
            if isinstance(new, FunctionType):
                old.__code__ = new.__code__
                take_defaults(old, new)
            elif isinstance(vars(new).get(constant), int | float | tuple):
                setattr(old, constant, vars(new)[constant])


def take_defaults(old, new):
    """Those that are numbers; any other must stay the object it is."""
    pairs = zip(old.__defaults__ or (), new.__defaults__ or (), strict=True)
    old.__defaults__ = tuple(number_or(b, a) for a, b in pairs)
    for name, value in (new.__kwdefaults__ or {}).items():
        old.__kwdefaults__[name] = number_or(value, old.__kwdefaults__[name])


def number_or(value, other):
    return value if isinstance(value, int | float) else other


def passes(test, seconds):
    """Unseen; a test that takes far too long ends the child."""
    for plugin in ("watch", "terminalreporter"):
        test.config.pluginmanager.unregister(name=plugin)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 5 * seconds)
    signal.setitimer(signal.ITIMER_REAL, 60 + 20 * seconds)  # or waits
    test.ihook.pytest_runtest_protocol(item=test, nextitem=None)
    return not test.session.testsfailed
