"""Run the library's tests on its mutants: ``make mutants``.

A pytest plugin.  The tests are collected and run once, to see which functions
each of them calls and how long it takes.  Then, for each mutant, the process
is forked: the child gives the function its mutated code or default value, or
the module its mutated constant, and runs the tests concerned until one fails:
first those that have killed a mutant of the same function and those of the
module's own test files, then the others, always the quickest first.
A child that fails or takes too long has killed its mutant.

Only what is new or changed since the last run is tried, and what lived then;
with ``--all``, everything: after tests were taken away.  Survivors are printed
and kept in ``report.json``; see ``report.py``.
"""

import gc
import os
import signal
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from _pytest.runner import runtestprotocol
from _pytest.warnings import catch_warnings_for_item
from hypothesis import HealthCheck, Phase, settings

from . import report
from .mutants import LIBRARY, Library, control

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


TERMINAL = os.dup(2)  # before pytest captures it
LIVES, CANNOT = 0, 255  # how a child ends; else the place of what killed it
PATIENCE = 8.0  # seconds of tests, the most promising first, to outlive


@dataclass
class Watch:
    """Which tests call a function, and how long each test takes."""

    library: Library
    calls: dict = field(default_factory=lambda: defaultdict(set))
    seconds: dict = field(default_factory=dict)
    kills: dict = field(default_factory=lambda: defaultdict(Counter))

    def __post_init__(self):
        files = self.library.files()
        self.modules = {str(path): module for module, path in files.items()}
        self.functions = defaultdict(list)
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                place = self.place(function.__code__)
                if place[0]:
                    self.functions[place].append(function)

    def place(self, code):
        """Module and qualified name of a function of the library."""
        return self.modules.get(code.co_filename), code.co_qualname

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
            self.calls[self.place(code)].add(item)

    def tests_of(self, mutant):
        """The tests that a mutant may fail, the most promising first."""
        kills = self.kills[mutant.entry]
        found = set().union(*(self.calls[p] for p in self.concerned(mutant)))
        words = mutant.module.replace(".", "_").strip("_").split("_")

        def promise(test):
            own = any(word in test.path.stem.split("_") for word in words)
            seconds = self.seconds[test] / (1 + kills[test])
            return not (own or kills[test]), seconds

        best, seconds = sorted(found, key=promise), 0.0
        for number, test in enumerate(best):
            seconds += self.seconds[test]
            if seconds > PATIENCE:
                return best[: number + 1]
        return best

    def concerned(self, mutant):
        """The functions through which a test can meet a mutant."""
        if not mutant.constant:
            return [(mutant.module, mutant.function)]
        names = {mutant.target, mutant.function.rpartition(".")[2]}
        inside = f"{mutant.function}."
        readers = [
            (module, function)
            for (module, function), of in self.functions.items()
            if (module, function.startswith(inside)) == (mutant.module, True)
            or any(names & names_in(f.__code__) for f in of)
        ]
        return readers or [p for p in self.calls if p[0] == mutant.module]

    def cost(self, mutant):
        return sum(map(self.seconds.get, self.tests_of(mutant)))


def names_in(code):
    """Globals and attributes that a function, or one inside it, names."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*map(names_in, inner))


def pytest_addoption(parser):
    parser.addoption(
        "--modules",
        default="",
        help="mutate only these modules, separated by commas",
    )
    parser.addoption(
        "--all",
        action="store_true",
        help="try also what has not changed since it was last tried",
    )
    parser.addoption(
        "--children",
        type=int,
        default=2,
        help="how many mutants are tried at a time",
    )
    parser.addoption("--library", type=Path, default=LIBRARY)
    parser.addoption("--report", type=Path, default=report.REPORT)


def pytest_configure(config):
    settings.load_profile("mutants")


def pytest_runtestloop(session):
    option = session.config.option
    library = Library(option.library.resolve())
    made, recorded = list(library.mutants()), report.read(option.report)
    digests = library.digests(made)
    chosen = set(filter(None, option.modules.split(","))) or {*library.files()}
    if unknown := chosen - set(library.files()):
        pytest.exit(f"the library has no module {', '.join(sorted(unknown))}")
    known = {} if option.all else recorded
    todo = report.worth_trying(made, digests, known)
    todo = [mutant for mutant in todo if mutant.module in chosen]
    watch = Watch(library)
    for number, item in enumerate(session.items if todo else []):
        show(f"watching tests {number + 1}/{len(session.items)}")
        watch.see(item)
    gc.freeze()  # the children leave in peace what they share
    check_controls(todo, watch, option.children)
    lives, entries = [], report.updated(recorded, made, digests, [], [])
    reasons = report.explained()
    report.write(entries, option.report)
    for module in sorted({mutant.module for mutant in todo}):
        tried = [mutant for mutant in todo if mutant.module == module]
        spared = [] if option.all else [m for m in tried if m.name in reasons]
        unknown = [mutant for mutant in tried if mutant not in spared]
        lives += spared + list(survivors_of(unknown, watch, option.children))
        entries = report.updated(entries, made, digests, tried, lives)
        report.write(entries, option.report)  # an interrupted run keeps this
    tell(todo, lives, entries)
    return True


def check_controls(todo, watch, children):
    """An unchanged function of each module lives, or the tool is at fault."""
    cheapest = {
        mutant.module: control(watch.library, mutant)
        for mutant in sorted(todo, key=watch.cost, reverse=True)
        if not mutant.constant
    }
    controls = list(cheapest.values())
    lost = len(controls) - len(list(survivors_of(controls, watch, children)))
    if lost:
        pytest.exit(f"{lost} of {len(controls)} unchanged functions fail")


def tell(todo, lives, entries):
    """Print what is left to do, and how far the modules of a run are."""
    reasons = report.explained()
    print()
    for mutant in lives:
        if mutant.name not in reasons:
            print(f"line {mutant.line}: {mutant.name}")
    for name in sorted({m.name for m in todo} - {m.name for m in lives}):
        if name in reasons:
            print(f"explained, but killed: {name}")
    for module in sorted({mutant.module for mutant in todo}):
        of = [entry for (name, _), entry in entries.items() if name == module]
        print(f"{module}: {report.summary(of)}")
    print(report.summary(entries.values()))


def survivors_of(todo, watch, children):
    """Mutants that no test kills; a few children at a time."""
    running = {}
    for number, mutant in enumerate(todo):
        show(f"mutant {number + 1}/{len(todo)} {mutant.module}")
        if len(running) == children:
            yield from reap(running, watch)
        if tests := watch.tests_of(mutant):
            running[start(mutant, tests, watch)] = mutant, tests
        else:
            yield mutant
    while running:
        yield from reap(running, watch)


def start(mutant, tests, watch):
    child = os.fork()
    if child:
        return child
    end = CANNOT
    try:
        quieten()
        put(mutant, watch)
        end = LIVES
        for place, test in enumerate(tests, start=1):
            if not passes_in_time(test, watch.seconds[test]):
                end = min(place, CANNOT - 1)
                break
    except BaseException:
        end = end or 1  # a test that ends the process has failed
    finally:
        os._exit(end)


def put(mutant, watch):
    """In a child: the library as the mutant has it."""
    functions = watch.functions.get((mutant.module, mutant.function))
    if mutant.constant and mutant.function:
        put_attribute(mutant, attrgetter(mutant.function)(home(mutant, watch)))
    elif mutant.constant:
        old = vars(home(mutant, watch))[mutant.target]
        for name, module in list(sys.modules.items()):
            mine = name.partition(".")[0] == watch.library.path.name
            if mine and vars(module).get(mutant.target) is old:
                setattr(module, mutant.target, mutant.value)
    elif mutant.target:
        for function in functions:
            put_default(mutant, function)
    else:
        for function in functions:
            function.__code__ = mutant.value


def home(mutant, watch):
    package = watch.library.path.name
    inside = mutant.module != "__init__"
    return sys.modules[f"{package}.{mutant.module}" if inside else package]


def put_attribute(mutant, owner):
    """On a class; and where it is a field, in what makes its instances."""
    if isinstance(vars(owner).get(mutant.target), int | float | tuple):
        setattr(owner, mutant.target, mutant.value)
    todo = [owner]
    for kind in todo:
        heirs = kind.__subclasses__()
        todo += [heir for heir in heirs if mutant.target not in vars(heir)]
        for make in (kind.__init__, kind.__new__):
            if isinstance(make, FunctionType):
                put_default(mutant, make)


def put_default(mutant, function):
    code, defaults = function.__code__, list(function.__defaults__ or ())
    arguments = code.co_varnames[: code.co_argcount][::-1]
    for place, argument in enumerate(arguments[: len(defaults)], start=1):
        if argument == mutant.target:
            defaults[-place] = mutant.value
            function.__defaults__ = tuple(defaults)
    if mutant.target in (function.__kwdefaults__ or {}):
        function.__kwdefaults__[mutant.target] = mutant.value


def passes_in_time(item, seconds):
    """Whether a test passes; one that takes far too long ends the child."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 5 * seconds)
    signal.setitimer(signal.ITIMER_REAL, 60 + 20 * seconds)  # or waits
    return passes(item)


def quieten():
    """Nothing that a child prints is of interest."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


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


def reap(running, watch):
    child, status = os.wait()
    mutant, tests = running.pop(child)
    end = os.waitstatus_to_exitcode(status)
    if end == CANNOT:
        pytest.exit(f"cannot be put in place: {mutant.name}")
    if end > 0:
        watch.kills[mutant.entry][tests[end - 1]] += 1
    if end == LIVES:
        if mutant.before != mutant.after:
            show(f"lives: {mutant.name}\n")
        yield mutant


def show(text):
    os.write(TERMINAL, f"\r{text:60}".encode())
