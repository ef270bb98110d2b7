"""Run the library's tests on its mutants: ``make mutants``.

A pytest plugin.  The tests run once, to see which functions each of them calls
and how long it takes.  Then, for each mutant, the process is forked: the child
gives the function its mutated code or default value, or the module its mutated
constant, and runs the tests concerned until one fails: first those that have
killed a mutant of the same function and those of the module's own test files,
then the others, always the quickest first.
A child that fails or takes too long has killed its mutant.

Only functions that are new or changed since the last run are tried, and those
with survivors; with ``--all``, everything: after tests were taken away.
Survivors are printed and kept in ``report.json``; see ``report.py``.
"""

import gc
import inspect
import os
import signal
import sys
import time
from collections import Counter, defaultdict
from functools import partial
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType

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
    watch = Watch(found, session.config.pluginmanager)
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
    """Of mutants that no test kills; prints those that ask for something."""
    functions = [mutant for mutant in mutants if not mutant.target]
    control = [m._replace(name="", change=lambda: None) for m in functions[:1]]
    names = {m.name for m in survivors_of(control + mutants, watch, children)}
    if control and "" not in names:
        pytest.exit(f"{control[0].function} fails unchanged: mend the tool")
    for mutant in mutants:
        lives = mutant.name in names
        if lives != (mutant.name in report.explained()):
            how = "lives" if lives else "is explained, but killed"
            print(f"\rline {mutant.line} {how}: {mutant.name}")
    return names


class Watch:
    """Which tests meet a function or a name, and how long each test takes."""

    def __init__(self, found, plugins):
        self.found, self.plugins = found, plugins
        plugins.register(self)
        self.modules = {str(found[module][0]): module for module in found}
        self.functions = defaultdict(list)
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType):
                self.functions[self.place(thing.__code__)].append(thing)
        self.tests, self.seconds = defaultdict(set), {}
        self.kills = defaultdict(Counter)

    def place(self, code):
        """Module and qualified name of a function of the library."""
        return self.modules.get(code.co_filename), code.co_qualname

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
            module, name = self.place(code)
            met = {(module, name), module, *name.split("."), *code.co_names}
            for what in met if module else ():
                self.tests[what].add(item)
        return result

    def tests_of(self, mutant):
        """The tests that can meet a mutant, the most promising first."""
        tests = self.tests[mutant.module, mutant.function]
        if mutant.constant:
            owner = mutant.function.rpartition(".")[2]
            readers = self.tests[mutant.target] | self.tests[owner]
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
    """In a child: the library as the mutant has it."""
    functions = watch.functions[mutant.module, mutant.function]
    if mutant.constant:
        functions = put_constant(mutant, watch)
    if mutant.target:
        for function in functions:
            put_default(mutant, function)
        return
    mutant.change()
    path, tree = watch.found[mutant.module]
    codes = codes_in(compile(tree, path, "exec"))
    code = next(c for c in codes if c.co_qualname == mutant.function)
    for function in functions:
        function.__code__ = code


def codes_in(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from codes_in(const)


def put_constant(mutant, watch):
    """Where a constant is held; what has it as a default is returned."""
    files = {getattr(m, "__file__", None): m for m in sys.modules.values()}
    holders = [files[file] for file in watch.modules if file in files]
    owner, makers = files[str(watch.found[mutant.module][0])], []
    if mutant.function:
        owner = attrgetter(mutant.function)(owner)
        holders, makers = [owner], makers_of(owner, mutant.target)
    old = vars(owner).get(mutant.target)
    for holder in holders if isinstance(old, int | float | tuple) else []:
        if vars(holder).get(mutant.target) is old:
            setattr(holder, mutant.target, eval(mutant.text))
    return makers


def makers_of(kind, field):
    """What makes instances of a class, and of heirs with the same field."""
    makers = [kind.__init__, kind.__new__]
    yield from (m for m in makers if isinstance(m, FunctionType))
    for heir in kind.__subclasses__():
        if field not in vars(heir):
            yield from makers_of(heir, field)


def put_default(mutant, function):
    own = inspect.signature(function, follow_wrapped=False).parameters
    given = {n: p.default for n, p in own.items() if p.default is not p.empty}
    if mutant.target in given:
        given[mutant.target] = eval(mutant.text)
    keywords = function.__kwdefaults__ or {}
    function.__kwdefaults__ = {name: given.pop(name) for name in keywords}
    function.__defaults__ = tuple(given.values())


def passes(test, seconds):
    """Whether it does; one that takes far too long ends the child."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 5 * seconds)
    signal.setitimer(signal.ITIMER_REAL, 60 + 20 * seconds)  # or waits
    test.ihook.pytest_runtest_protocol(item=test, nextitem=None)
    return not test.session.testsfailed
