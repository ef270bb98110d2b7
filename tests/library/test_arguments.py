"""What every public function promises about its arguments.

Valid calls of each are found by watching the docstrings' examples.  Then one
argument at a time is spoilt, and must be refused by its name; or it is given
in another form, and the answer must be the same.
"""

import copy
import doctest
import functools
import importlib
import inspect
import pickle
import pkgutil
import warnings
from contextlib import ExitStack, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from types import FunctionType, MethodType, ModuleType
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import kernelbook

# Where a law cannot hold, and why: for arguments of a name, for all arguments
# of a function or method, or for one of them.
SPOILT, OTHER_FORM, SHARED = "spoilt", "other form", "shared"
NOT_HERE = {
    (SPOILT, "rng"): "test_conventions has a test of its own",
    (SPOILT, "z"): "activations work entry by entry: NaN in, NaN out",
    (SPOILT, "counting.Number.__init__"): "made by Tally, which checks",
    (SPOILT, "objects.Graph.__init__.edges"): "pairs of nodes, no array",
    (OTHER_FORM, "objects.Graph.__init__.edges"): "pairs of nodes, no array",
    (SPOILT, "labels.coding.y"): "labels may be words and dates",
    (SPOILT, "labels.Coding.__init__.names"): "labels may be words and dates",
}
# Public functions of which no example has an argument that is a number.
WITHOUT_NUMBERS = {
    "bayes.linear_form": "takes a model",
    "counting.cholesky_solve": "takes numbers that count, from Tally",
    "gp.log_marginal_likelihood": "takes a model",
    "gp.loo": "takes a model",
    "kernels.exp": "takes a kernel",
    "learning.log_pseudo_likelihood": "takes a model",
    "learning.parameters": "takes a kernel",
    "learning.with_parameters": "takes a kernel and numbers by name",
    "toydata.xor": "takes nothing",
}
NOT_LAWFUL = {"figures"}  # draws, and computes nothing


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


def methods(kind):
    """What a user calls of a class: its constructor, () and methods."""
    names = [n for n in dir(kind) if not n.startswith("_")]
    found = {n: inspect.getattr_static(kind, n) for n in names}
    for name in ("__init__", "__call__"):
        found[name] = inspect.getattr_static(kind, name, None)
    return {n: f for n, f in found.items() if isinstance(f, FunctionType)}


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

    def __call__(self, **other):
        bound = copy.deepcopy(self.bound)
        bound.arguments |= other
        with warnings.catch_warnings(), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")  # an example may show a warning
            return self.function(*bound.args, **bound.kwargs)

    def numbers(self, law):
        """Its arguments that are numbers and under a law, as arrays."""
        found = {n: numbers(v) for n, v in self.bound.arguments.items()}
        return {
            argument: array
            for argument, array in found.items()
            if array is not None
            and array.size
            and not self.free(law, argument)
        }

    def arrays(self, law):
        return {n: a for n, a in self.numbers(law).items() if a.ndim}

    def free(self, law, argument):
        names = [argument, self.name, f"{self.name}.{argument}"]
        return any((law, name) in NOT_HERE for name in names)


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
            self.busy = True
            try:
                call = bind(name, function, args, kwargs)
                result = function(*args, **kwargs)
                self.calls.setdefault(name, []).append(call)
                return result
            finally:
                self.busy = False

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
        here = module.__name__.partition(".")[2]
        names = dict(vars(module))
        with ExitStack() as stack:
            for kind, method, function in all_methods(module):
                name = f"{here}.{kind.__name__}.{method}"
                new = watch.watched(name, function)
                stack.enter_context(mock.patch.object(kind, method, new))
            for name, thing in public(module).items():
                if isinstance(thing, FunctionType):
                    names[name] = watch.watched(f"{here}.{name}", thing)
            run_examples(module, names)
    return watch.calls


def all_methods(module):
    """Listed before any is replaced."""
    return [
        (kind, method, function)
        for kind in public(module).values()
        if inspect.isclass(kind)
        for method, function in methods(kind).items()
    ]


def run_examples(module, names):
    tests = doctest.DocTestFinder().find(module, globs=names)
    for thing in public(module).values():  # of a package: from its parts
        if thing.__module__ != module.__name__:
            home = importlib.import_module(thing.__module__)
            finder = doctest.DocTestFinder()
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
    parts = []
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, tuple | list | set | frozenset):
        parts = list(value)
    elif isinstance(value, FunctionType):
        parts = [cell.cell_contents for cell in value.__closure__ or ()]
    elif isinstance(value, functools.partial):
        parts = [value.func, value.args, value.keywords]
    elif isinstance(value, MethodType):
        parts = [value.__self__]
    else:
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


def every_call():
    """One case per function that an example calls."""
    return pytest.mark.parametrize("name", list(calls()))


def nan(array):
    array[(-1,) * array.ndim] = np.nan
    return array if array.ndim else float(array)


def complex_numbers(array):
    return array + 0j if array.ndim else complex(array)


def masked(array):
    if not array.ndim:
        return np.ma.masked
    hidden = np.zeros(array.shape, bool)
    hidden[(-1,) * array.ndim] = True
    return np.ma.masked_array(array, hidden)


def text(array):
    return array.astype(str) if array.ndim else str(float(array))


def dates(array):
    days = array.astype(np.int64).astype("datetime64[D]")
    return days if array.ndim else days[()]


@pytest.mark.parametrize("spoil", [nan, complex_numbers, masked, text, dates])
@every_call()
def test_what_is_no_real_number_is_refused_by_name(name, spoil):
    for call in calls()[name]:
        for argument, array in call.numbers(SPOILT).items():
            message = rf"\b{argument}\b.* must "
            message += ".*(finite|nan)" if spoil is nan else ""
            with pytest.raises(ValueError, match=message):
                call(**{argument: spoil(array)})


@every_call()
def test_no_argument_is_changed_and_none_is_kept(name):
    for call in calls()[name]:
        given = call.arrays(SHARED)
        before = copy.deepcopy(given)
        result = call(**given)
        for argument, array in given.items():
            assert np.array_equal(array, before[argument]), argument
            for part in leaves(result):
                shared = isinstance(part, np.ndarray) and np.shares_memory(
                    part, array
                )
                assert not shared, argument


@every_call()
def test_what_is_returned_can_be_pickled(name):
    for call in calls()[name]:
        if can_be_pickled(call.bound.args):
            result = call()
            assert same(pickle.loads(pickle.dumps(result)), result)


def can_be_pickled(values):
    """Not so a function that is written in the example itself."""
    try:
        pickle.dumps(values)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def frame(array):
    kind = pd.Series if array.ndim == 1 else pd.DataFrame
    return kind(array, index=np.arange(len(array))[::-1] + 7)


def fortran(array):
    return np.asfortranarray(array)


def every_other(array):
    """The same numbers, in memory with others between them."""
    return np.repeat(array, 2, axis=-1)[..., ::2]


def read_only(array):
    array.setflags(write=False)
    return array


def single(array):
    return array.astype(np.float32)


@pytest.mark.parametrize(
    "form", [frame, fortran, every_other, read_only, single]
)
@every_call()
def test_the_form_of_an_array_does_not_matter(name, form):
    for call in calls()[name]:
        for argument, array in call.arrays(OTHER_FORM).items():
            if array.ndim > 2 and form is frame:
                continue
            if form is single:
                array = array.astype(np.float32).astype(float)
            try:
                expected = call(**{argument: array.copy()})
            except ValueError:  # rounded to single, they are no such thing
                assert form is single
                continue
            assert same(call(**{argument: form(array)}), expected), argument


def test_every_public_function_is_called_with_numbers_or_reviewed():
    """No case above is empty by oversight."""
    called = {
        name.removesuffix(".__init__")
        for name, made in calls().items()
        if any(call.numbers("") for call in made)
    }
    todo = {
        f"{module.__name__.partition('.')[2]}.{name}"
        for module in modules()
        for name, thing in public(module).items()
        if isinstance(thing, FunctionType)
    }
    assert todo - called == set(WITHOUT_NUMBERS)
