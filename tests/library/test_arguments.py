"""What every public function promises about its arguments.

Valid calls of each are found by watching the docstrings' examples.  Then one
argument at a time is spoilt, and must be refused by its name; or it is given
in another form, and the answer must be the same.
"""

import copy
import pickle
from types import FunctionType

import numpy as np
import pandas as pd
import pytest
from library.examples import calls, leaves, modules, public, same

# Where a law cannot hold, and why: for arguments of a name, for all arguments
# of a function or method, or for one of them.
SPOILT, OTHER_FORM, SHARED = "spoilt", "other form", "shared"
PICKLED, SINGLE = "pickled", "single precision"
NOT_HERE = {
    (SPOILT, "rng"): "test_conventions has a test of its own",
    (SPOILT, "z"): "activations work entry by entry: NaN in, NaN out",
    (SPOILT, "counting.Number.__init__"): "made by Tally, which checks",
    (SPOILT, "kernels.Graph.__init__.edges"): "pairs of nodes, no array",
    (OTHER_FORM, "kernels.Graph.__init__.edges"): "pairs of nodes, no array",
    (SINGLE, "validity.rounding_level"): "asks for the precision of K",
    (SINGLE, "svm.fit_dual"): "K is solved as exactly as it is known",
    (SINGLE, "svr.fit_dual"): "K is solved as exactly as it is known",
    (PICKLED, "kernels.positive"): "a field of a class still to be written",
    (SPOILT, "labels.coding.y"): "labels may be words and dates",
    (SPOILT, "labels.Coding.__init__.names"): "labels may be words and dates",
}
# Public functions of which no example has an argument that is a number.
WITHOUT_NUMBERS = {
    "bayes.linear_form": "takes a model",
    "distributed.local_cluster": "starts a cluster, in test_distributed",
    "counting.cholesky_solve": "takes numbers that count, from Tally",
    "gp.log_marginal_likelihood": "takes a model",
    "gp.loo": "takes a model",
    "kernels.exp": "takes a kernel",
    "inducing.lower_bound": "takes a model",
    "learning.log_pseudo_likelihood": "takes a model",
    "kernels.hyperparameter": "makes a field of a class",
    "kernels.non_negative": "makes a field of a class",
    "kernels.positive": "makes a field of a class",
    "kernels.setting": "makes a field of a class",
    "kernels.terms": "takes a kernel",
    "gp.outputs": "takes a model",
    "gp.posterior": "takes a model, and inputs that were checked",
    "toydata.xor": "takes nothing",
}


def under(law, call):
    """The arguments of a call that are numbers and under a law."""
    return {
        argument: array
        for argument, array in call.numbers().items()
        if all(
            (law, name) not in NOT_HERE
            for name in (argument, call.name, f"{call.name}.{argument}")
        )
    }


def arrays(law, call):
    return {n: a for n, a in under(law, call).items() if a.ndim}


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
        for argument, array in under(SPOILT, call).items():
            message = rf"\b{argument}\b.* must "
            message += ".*(finite|nan)" if spoil is nan else ""
            with pytest.raises(ValueError, match=message):
                call(**{argument: spoil(array)})


@every_call()
def test_no_argument_is_changed_and_none_is_kept(name):
    for call in calls()[name]:
        given = arrays(SHARED, call)
        before = copy.deepcopy(given)
        result = call(**given)
        for argument, array in given.items():
            assert np.array_equal(array, before[argument]), argument
            parts = [p for p in leaves(result) if isinstance(p, np.ndarray)]
            shared = [np.shares_memory(part, array) for part in parts]
            assert not any(shared), argument


@every_call()
def test_what_is_returned_can_be_pickled(name):
    for call in [] if (PICKLED, name) in NOT_HERE else calls()[name]:
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


def every_other(array):
    """The same numbers, in memory with others between them."""
    return np.repeat(array, 2, axis=-1)[..., ::2]


def read_only(array):
    array.setflags(write=False)
    return array


FORMS = [frame, np.asfortranarray, every_other, read_only, np.float32]


@pytest.mark.parametrize("form", FORMS)
@every_call()
def test_the_form_of_an_array_does_not_matter(name, form):
    single = form is np.float32
    if single and (SINGLE, name) in NOT_HERE:
        return
    for call in calls()[name]:
        for argument, array in arrays(OTHER_FORM, call).items():
            if array.ndim > 2 and form is frame:
                continue
            if single:
                array = array.astype(np.float32).astype(float)
            try:
                expected = call(**{argument: array.copy()})
            except ValueError:  # rounded to single, they are no such thing
                assert single
                continue
            assert same(call(**{argument: form(array)}), expected), argument


def test_every_public_function_is_called_with_numbers_or_reviewed():
    """No case above is empty by oversight."""
    called = {
        name.removesuffix(".__init__")
        for name, made in calls().items()
        if any(call.numbers() for call in made)
    }
    todo = {
        f"{module.__name__.partition('.')[2]}.{name}"
        for module in modules()
        for name, thing in public(module).items()
        if isinstance(thing, FunctionType)
    }
    assert todo - called == set(WITHOUT_NUMBERS)
