"""What every public function promises about its arguments.

A valid call of each is found by watching its own docstring's example.
"""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import kernelbook


def public():
    """Every public function and class whose docstring has an example."""
    for found in pkgutil.iter_modules(kernelbook.__path__):
        if found.name.startswith("_"):
            continue
        module = importlib.import_module(f"kernelbook.{found.name}")
        for name, thing in vars(module).items():
            here = getattr(thing, "__module__", None) == module.__name__
            if here and callable(thing) and ">>>" in (thing.__doc__ or ""):
                yield pytest.param(module, name, id=f"{found.name}.{name}")


def calls_in_the_example(module, name):
    """Arguments of each call, by name, as the docstring's example runs."""
    thing = vars(module)[name]
    calls = []

    def watched(*args, **kwargs):
        bound = inspect.signature(thing).bind(*args, **kwargs)
        bound.apply_defaults()
        calls.append(dict(bound.arguments))
        return thing(*args, **kwargs)

    names = vars(module) | {name: watched}
    for test in doctest.DocTestFinder(recurse=False).find(
        thing, name, module, globs=names
    ):
        doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None)
    return calls


# Activations work entry by entry, and NumPy answers for its seeds.
NOT_CHECKED = {"z", "seed"}


def poisoned(value):
    """The same numbers, one of them NaN; None if they are not numbers."""
    if type(value) not in (int, float, list, tuple, np.ndarray):
        return None
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError):
        return None
    if numbers.size == 0 or np.asarray(value).dtype == np.object_:
        return None
    numbers[(-1,) * numbers.ndim] = np.nan
    return numbers if numbers.ndim else float(numbers)


@pytest.mark.parametrize(("module", "name"), list(public()))
def test_nan_is_refused_by_the_name_of_its_argument(module, name):
    thing = vars(module)[name]
    for call in calls_in_the_example(module, name):
        for argument, value in call.items():
            bad = poisoned(value)
            if bad is None or argument in NOT_CHECKED:
                continue
            message = rf"\b{argument}\b.* must .*(finite|nan)"
            with pytest.raises(ValueError, match=message):
                thing(**call | {argument: bad})
