"""The recorded mutation run is of this library, and leaves nothing open."""

import pytest

from . import run
from .mutants import LIBRARY, constants, modules, parts, statements


@pytest.fixture(scope="module")
def made():
    return parts(modules(LIBRARY))


def test_every_function_was_tried_as_it_is_and_what_lives_is_explained(made):
    recorded = run.read()
    wanted = {place: run.wanted(part) for place, part in made.items()}
    stale = {
        ".".join(place): recorded.get(place, "new")
        for place in wanted.keys() | recorded.keys()
        if recorded.get(place) != wanted.get(place)
    }
    assert not stale, "new, changed, gone or alive: run make mutants"


def test_explained_are_mutants_and_all_constants_that_have_none(made):
    mutants = [mutant for _, of in made.values() for mutant in of]
    mutated = {(m.module, m.function, m.constant) for m in mutants}
    others = {
        f"{module}.{name}"
        for module, (_, tree) in modules(LIBRARY).items()
        for inside, node in statements(tree)
        for name, *_ in constants(node)
        if (module, inside, name) not in mutated
    }
    reasons = run.explained()
    assert reasons.keys() - {mutant.name for mutant in mutants} == others
    assert all(map(str.strip, reasons.values()))
