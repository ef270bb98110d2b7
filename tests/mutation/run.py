"""Run the library's tests on its mutants: ``make mutants``.

A pytest plugin.  The tests run once, to see which functions each of them calls
and how long it takes.  Then, for each mutant, the process is forked: the child
imports the library anew with the mutant in it, gives what the tests hold its
code and numbers, and runs the tests concerned until one fails: first those
that have killed a mutant of the same function and those of the module's own
test files, then the others, always the quickest first.
A child that fails or takes too long has killed its mutant.

Only functions that are new or changed since the last run are tried, and those
with survivors; with ``--all``, everything: after tests were taken away.

Survivors are printed and kept in ``report.json``: one line for each function,
and one for the constants of each module, with a digest of what was mutated,
the number of mutants, how many live and are explained in ``equivalent.yml``,
and the names of those that live and are not.
"""

import gc
import json
import os
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from functools import cache, partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from itertools import accumulate
from pathlib import Path
from types import FunctionType

import pytest
import yaml
from hypothesis import HealthCheck, Phase, settings

from .mutants import LIBRARY, modules, parts

REPORT = Path(__file__).with_name("report.json")
EXPLAINED = Path(__file__).with_name("equivalent.yml")
LIVES, CANNOT = 0, 255  # how a child ends; else the place of what killed it
PATIENCE = 8.0  # seconds of tests, the most promising first, to outlive


def pytest_addoption(parser):
    parser.addoption("--modules", default="")
    parser.addoption("--all", action="store_true")
    parser.addoption("--children", type=int, default=2)
    parser.addoption("--library", type=Path, default=LIBRARY)
    parser.addoption("--report", type=Path, default=REPORT)


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
    made, old = parts(found), read(option.report)
    stale = {p for p in made if option.all or old.get(p) != wanted(made[p])}
    todo = {p: made[p] for p in made if p in stale and p[0] in chosen}
    watch = Watch(found, session.config.pluginmanager)
    session.items = session.items if todo else []
    result = yield
    if session.testsfailed:
        pytest.exit("tests fail without any mutant")
    watch.written = written()
    gc.freeze()  # what the children share they leave in peace, and do not see
    entries = {place: old[place] for place in made if place in old}
    for module in sorted(chosen):
        now = {place: todo[place] for place in todo if place[0] == module}
        mutants = [m for _, of in now.values() for m in of]
        lives = names_alive(mutants, watch, option.children)
        entries |= {p: entry(*part, lives) for p, part in now.items()}
        write(entries, option.report)  # an interrupted run keeps this
    return result


def names_alive(mutants, watch, children):
    """Of mutants that no test kills; prints those that ask for something."""
    control = [m._replace(name="", change=lambda: None) for m in mutants[:1]]
    names = {m.name for m in survivors_of(control + mutants, watch, children)}
    if control and "" not in names:
        pytest.exit(f"{control[0].function} fails unchanged: mend the tool")
    for mutant in mutants:
        lives = mutant.name in names
        if lives != (mutant.name in explained()):
            how = "lives" if lives else "is explained, but killed"
            print(f"\rline {mutant.line} {how}: {mutant.name}")
    return names


class Watch:
    """Which tests meet a function or a name, and how long each test takes."""

    def __init__(self, found, plugins):
        self.found, self.plugins = found, plugins
        plugins.register(self)
        self.modules = {str(found[module][0]): module for module in found}
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
            module, name = self.modules.get(code.co_filename), code.co_qualname
            met = {(module, name), module, *name.split("."), *code.co_names}
            for what in met if module else ():
                self.tests[what].add(item)
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
        if end > 0:
            watch.kills[mutant.module, mutant.function][tests[end - 1]] += 1
        if end == LIVES:
            yield mutant


def start(mutant, tests, watch):
    """A child that puts a mutant in place and runs tests until one fails."""
    if child := os.fork():
        return child
    end = CANNOT
    try:
        put(mutant, watch)
        watch.plugins.unregister(watch)
        watch.plugins.unregister(name="terminalreporter")
        for place, test in enumerate(tests, start=1):
            end = min(place, CANNOT - 1)
            if not passes(test, watch.seconds[test]):
                break
        else:
            end = LIVES
    finally:
        os._exit(end)


def put(mutant, watch):
    """In a child: import the library with the mutant; the old one follows."""
    mutant.change()
    path, tree = watch.found[mutant.module]
    code, usual = compile(tree, path, "exec"), SourceFileLoader.get_code
    SourceFileLoader.get_code = lambda self, name: (
        code if self.path == str(path) else usual(self, name)
    )
    files = {n: getattr(m, "__file__", "") for n, m in sys.modules.items()}
    names = [name for name, file in files.items() if file in watch.modules]
    held = {name: sys.modules.pop(name) for name in names}
    signal.setitimer(signal.ITIMER_VIRTUAL, 10)
    try:
        for name in names:
            follow(held[name], import_module(name))
    except Exception:
        signal.raise_signal(signal.SIGVTALRM)  # killed by no test, but killed
    for place, (new, *_) in written().items():
        for old in watch.written[place] if place[0] in held else ():
            follow(old, new)
    sys.modules.update(held)


def written():
    """Functions and classes, by where they were written."""
    found = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType | type):
            code = getattr(thing, "__code__", None)
            line = getattr(code, "co_firstlineno", None)
            found[thing.__module__, thing.__qualname__, line].append(thing)
    return found


def follow(old, new):
    """What the tests hold takes code and numbers from what was imported."""
    if not isinstance(new, FunctionType):
        for name, value in vars(new).items():
            if is_plain(value):
                setattr(old, name, value)
        return
    old.__code__ = new.__code__
    pairs = zip(old.__defaults__ or (), new.__defaults__ or (), strict=True)
    old.__defaults__ = tuple(n if is_plain(n) else o for o, n in pairs)
    named = (new.__kwdefaults__ or {}).items()
    (old.__kwdefaults__ or {}).update((k, v) for k, v in named if is_plain(v))


def is_plain(value):
    """Whether it is a number, or a tuple of them: no object of its own."""
    every = value if isinstance(value, tuple) else [value]
    return all(isinstance(one, int | float) for one in every)


def passes(test, seconds):
    """Whether it does; one that takes far too long ends the child."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 5 * seconds)
    signal.setitimer(signal.ITIMER_REAL, 60 + 20 * seconds)  # or waits
    test.ihook.pytest_runtest_protocol(item=test, nextitem=None)
    return not test.session.testsfailed


# The report -----------------------------------------------------------------


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


def write(entries, path):
    """One line per entry, so that a change is one line of a diff."""
    lines = defaultdict(dict)
    for (module, name), entry in entries.items():
        lines[module][name] = json.dumps(entry, ensure_ascii=False)
    text = json.dumps(lines, indent=1, sort_keys=True)
    text = re.sub(r'"\[.*\]"(?=,?\n)', lambda m: json.loads(m[0]), text)
    path.write_text(text + "\n", "utf-8")
