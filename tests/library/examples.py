"""The calls that the docstrings' examples make, to be made again.

Examples are run once, under watch; what they call, with which arguments, is
kept.  So every public function comes with a valid call, for any law.
"""

import copy
import doctest
import functools
import importlib
import inspect
import pkgutil
import warnings
from contextlib import ExitStack, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from types import FunctionType, MethodType, ModuleType
from unittest import mock

import numpy as np

import kernelbook

# One draws and computes nothing; the other obeys scikit-learn's own laws.
NOT_LAWFUL = {"figures", "estimators"}


def public(module):
    """The functions and classes of a public module, by name."""
    inside = module.__name__ + "."
    return {
        name: thing
        for name, thing in vars(module).items()
        if callable(thing)
        and not name.startswith("_")
        and f"{getattr(thing, '__module__', None)}.".startswith(inside)
    }


def modules():
    for found in pkgutil.iter_modules(kernelbook.__path__):
        if not found.name.startswith("_") and found.name not in NOT_LAWFUL:
            yield importlib.import_module(f"kernelbook.{found.name}")


def methods(module):
    """What a user calls of its classes: the constructor, () and methods."""
    return [
        (kind, name, function)
        for kind in public(module).values()
        if inspect.isclass(kind)
        for name in dir(kind)
        if name in {"__init__", "__call__"} or not name.startswith("_")
        if isinstance(
            function := inspect.getattr_static(kind, name), FunctionType
        )
    ]


def numbers(value):
    """An argument as a new float array; None if it is not of numbers."""
    if type(value) not in (int, float, list, tuple, np.ndarray):
        return None
    try:
        array = np.array(value)
    except ValueError:
        return None
    return array.astype(float) if array.dtype.kind in "iuf" else None


@dataclass
class Call:
    """A call as an example makes it, to be made again."""

    name: str
    function: object
    bound: inspect.BoundArguments
    result: object = None

    def __call__(self, **other):
        bound = copy.deepcopy(self.bound)
        bound.arguments |= other
        with warnings.catch_warnings(), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")  # an example may show a warning
            return self.function(*bound.args, **bound.kwargs)

    def numbers(self):
        """Its arguments that are numbers, as new arrays."""
        found = {n: numbers(v) for n, v in self.bound.arguments.items()}
        return {n: a for n, a in found.items() if a is not None and a.size}


class Watch:
    """Calls that examples make themselves, not those made inside."""

    def __init__(self):
        self.calls, self.busy = {}, False

    def watched(self, name, function):
        """The function, which then keeps its arguments."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if self.busy:
                return function(*args, **kwargs)
            with mock.patch.object(self, "busy", True):
                call = bind(name, function, args, kwargs)
                call.result = result = function(*args, **kwargs)
            self.calls.setdefault(name, []).append(call)
            return result

        return wrapper


def bind(name, function, args, kwargs):
    """A call, with copies of its arguments; of a method, on its object."""
    signature = inspect.signature(function)
    if name.count(".") == 2:
        owner, *args = args
        made = name.endswith(".__init__")
        function = type(owner) if made else MethodType(function, owner)
        own = list(signature.parameters.values())[1:]
        signature = signature.replace(parameters=own)
    bound = copy.deepcopy(signature.bind(*args, **kwargs))
    bound.apply_defaults()
    return Call(name, function, bound)


@functools.cache
def calls():
    """Every call that the examples of the library make, by function."""
    watch = Watch()
    for module in modules():
        here, names = module.__name__.partition(".")[2], dict(vars(module))
        for name, thing in public(module).items():
            if isinstance(thing, FunctionType):
                names[name] = watch.watched(f"{here}.{name}", thing)
        with ExitStack() as stack:
            for kind, name, function in methods(module):
                full = f"{here}.{kind.__name__}.{name}"
                new = watch.watched(full, function)
                stack.enter_context(mock.patch.object(kind, name, new))
            run_examples(module, names)
    return watch.calls


def run_examples(module, names):
    finder = doctest.DocTestFinder()
    tests = finder.find(module, globs=names)
    for thing in public(module).values():  # of a package: from its parts
        if thing.__module__ != module.__name__:
            home = importlib.import_module(thing.__module__)
            tests += finder.find(thing, module=home, globs=names)
    runner = doctest.DocTestRunner(verbose=False)
    for test in tests:
        with warnings.catch_warnings(), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            runner.run(test, out=lambda _: None, clear_globs=False)


def leaves(value, seen=None):
    """The arrays and numbers in what is returned, wherever they are."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, type | ModuleType):
        return
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = list(value.flat)
    if isinstance(value, np.ndarray | int | float | str | bytes | np.generic):
        yield value
        return
    seen.add(id(value))
    match value:
        case dict():
            parts = value.values()
        case tuple() | list() | set() | frozenset():
            parts = value
        case FunctionType():
            parts = [cell.cell_contents for cell in value.__closure__ or ()]
        case functools.partial():
            parts = [value.func, value.args, value.keywords]
        case MethodType():
            parts = [value.__self__]
        case _:
            slots = getattr(value, "__slots__", ())
            parts = [getattr(value, slot) for slot in slots]
            parts.append(getattr(value, "__dict__", {}))
    for part in parts:
        yield from leaves(part, seen)


def same(one, two):
    """Whether two results hold the same numbers, to the last digit."""
    pairs = list(leaves(one)), list(leaves(two))
    return len(pairs[0]) == len(pairs[1]) and all(
        np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc")
        for a, b in zip(*pairs, strict=True)
    )
