"""The words of docstrings agree with the notation page and the chapters.

Numbers of equations are numbers that a chapter gives, to an equation whose
check or ledger entry names the function or its neighbours; an argument that
has a row on the notation page has a shape of that row.  Arguments have their
names, and in the docstring's own example they and the result have the shapes
that it states, with one size for each letter.
"""

import re
from collections import defaultdict
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from library import examples
from library.examples import calls
from library.formulas import SECTIONS, docstrings

from press.ledger import homes
from press.numbers import source_number
from press.reader import chapters, find

SHAPE = re.compile(r"\([\w*+, −/-]*,[\w*+, −/-]*\)")
ATTRIBUTE = re.compile(r"``(\w+)``([^`;.]*)")  # ``A`` is (M, M)
NUMBER = re.compile(
    r"(?<![\w)\]√])(?<!Williams' )\((\d+\.\d+|\d{1,3})\)(?!\w)"
)

NUMBERED = r"(?<!of) \((\d+\.\d+|\d\d)\)(.?)"


# The same letter for something else, as it is usual there.
OTHERS = {
    "duality.QuadraticProgram": ("P", "q"),  # a program's matrix and vector
    "duality.conjugate": ("x", "s"),  # points and slopes on a line
    "evaluation.log_loss": "P",  # probabilities of every class
    "features.powers": "x",  # of one coordinate
    "features.bumps": "x",
    "features.monomials": "in the ledger",  # (11) is their kernel
    "gaussians.normal_density": "x",
    "gaussians.marginal": "mean",  # of a vector, not of a process
    "gaussians.condition": "mean",
    "gaussians.sample": "mean",
    "kernels.ExponentialQuadratic": "theta",  # its four numbers by name
    "multiclass.winners": "v",  # votes
    "networks.mixed_activations": "H",  # hidden units
    "networks.tangent_kernel": "v",  # output weights, as in chapter 11
    "ridge.lagrangian_dual": "the check of (6.2)",  # of which it is the dual
}


class Use(NamedTuple):
    """What an equation's check or ledger row names, and what its chapter."""

    check: set[str]
    chapter: set[str]
    rows: set[str]


@cache
def uses():
    """Who has to do with an equation of a source, by its number."""
    found = {}
    for page in chapters():
        called = {call for cell in page.cells for call in cell.calls}
        for equation in page.equations:
            if number := source_number(equation.label):
                cells = page.places[equation.label].cells
                check = {call for cell in cells for call in cell.calls}
                rows = [e for e in homes() if e.anchor == equation.label]
                named = {row.function for row in rows}
                found[number] = Use(check | named, called, named)
    return found


def numbers(name, docstring):
    """What is wrong with the numbers of equations that a docstring names."""
    names = {name, name.rpartition(".")[2]}
    module = name.partition(".")[0] + "."
    head, *rest = re.split(SECTIONS, docstring)
    said = "\n".join([head, *(r for r in rest if ">>>" not in r)])
    for number in NUMBER.findall(said):
        if number not in uses():
            yield f"no equation of a chapter has the number ({number})"
        elif not any(use.startswith(module) for use in uses()[number].chapter):
            yield f"the chapter of ({number}) does not use it"
    first = docstring.partition("\n")[0]
    own = {number for number, use in uses().items() if name in use.rows}
    for number, end in re.findall(NUMBERED, first):
        calls_it = names & uses()[number].check if number in uses() else True
        if end in (".", ":") and not calls_it:
            yield f"the check of ({number}) does not call it"
        if own and number not in own:
            yield f"in the ledger it is {', '.join(sorted(own))}, not {number}"


@cache
def notation():
    """Shapes on the notation page, by name in Python.

    Rows for one chapter are left out, but for vectors without another row.
    """
    found, special = defaultdict(set), defaultdict(set)
    for table in find("notation").directives("list-table"):
        for row in re.split(r"^\* - ", table.body, flags=re.M)[1:]:
            symbol, meaning, python, shape = re.split(
                r"^  - ", row, flags=re.M
            )
            shapes = [alike(one) for one in SHAPE.findall(shape)]
            if not shapes:
                continue
            book = special if "(chapter" in symbol + meaning else found
            names = re.findall(r"`(\w+)(?:`| = |\()", python)
            each = [shapes] * len(names)
            if len(shapes) == len(names):
                each = [[one] for one in shapes]
            for name, these in zip(names, each, strict=True):
                book[name].update(these)
    vectors = {k: v for k, v in special.items() if not v & {"·", "N, N"}}
    return vectors | found


def alike(shape):
    """N for examples, old or new; of matrices M, D, K and Q, else a dot."""
    sizes = [s for size in shape.strip("()").split(",") if (s := size.strip())]
    known = {"N*": "N"} | {s: s for s in "NMDKQ"[: 1 if len(sizes) < 2 else 5]}
    return ", ".join(known.get(size, "·") for size in sizes)


def described(docstring, title="Parameters"):
    """What the parameters are said to be: their names, and what is said."""
    parts = re.split(rf"\n{title}\n-+\n", docstring)
    section = re.split(r"\n\n\w+\n-+", parts[1])[0] if len(parts) > 1 else ""
    for entry in re.split(r"\n(?=\S)", section):
        names, colon, said = entry.partition(" :")
        if colon:
            yield names.split(", "), said.strip()


def shapes(docstring):
    """Arguments whose shape is not that of their row."""
    for (name, *_), said in described(docstring):
        given = SHAPE.match(said)
        known = notation().get(name)
        if known and given and alike(given[0]) not in known:
            there = ") or (".join(sorted(known))
            yield f"{name} is {given[0]}, in the notation ({there})"


def sizes(call, docstring):
    """What of an example has not its shape, with one size for each letter."""
    known = {k: v for k, v in call.bound.arguments.items() if type(v) is int}
    for (name, *_), said in described(docstring):
        yield from misfits(name, call.bound.arguments.get(name), said, known)
    several = isinstance(call.result, tuple)
    results = iter(call.result if several else [call.result])
    for names, said in described(docstring, "Returns"):
        for name, value in zip(names, results, strict=False):
            yield from misfits(name, value, said, known)
    if type(call.result).__module__.startswith("kernelbook"):
        for name, said in ATTRIBUTE.findall(type(call.result).__doc__ or ""):
            value = getattr(call.result, name, None)
            yield from misfits(name, value, said, known)


def misfits(name, value, said, known):
    """Whether an array has none of the shapes; else its sizes are known."""
    shape = () if examples.numbers(value) is None else np.shape(value)
    if not shape or not SHAPE.search(said):
        return
    for stated in SHAPE.findall(said):
        sizes = [s.strip() for s in stated.strip("()").split(",") if s.strip()]
        if len(sizes) == len(shape) and all(
            worth(size, known, n) == n
            for size, n in zip(sizes, shape, strict=True)
        ):
            known |= dict(zip(sizes, shape, strict=True))
            return
    yield f"{name} is {shape} in the example, for {known}; stated: {said}"


def worth(size, known, default):
    """What N, 2 or D+1 is, as far as the example has told."""
    try:
        return known[size] if size in known else eval(size, {}, known)
    except (NameError, SyntaxError):  # N* is new
        return default


@pytest.mark.parametrize("name", [n for n in docstrings() if n in calls()])
def test_the_example_has_the_names_and_shapes_that_are_stated(name):
    docstring, arguments = docstrings()[name]
    said = [n.lstrip("*") for names, _ in described(docstring) for n in names]
    assert {*said} <= arguments, "no such argument"
    for call in calls()[name]:
        assert not [*sizes(call, docstring)]


@pytest.mark.parametrize("name", docstrings())
def test_numbers_and_shapes_are_those_of_the_book(name):
    docstring, _ = docstrings()[name]
    wrong = [*numbers(name, docstring), *shapes(docstring)]
    wrong = [w for w in wrong if not w.startswith(OTHERS.get(name, "-"))]
    assert not wrong, "\n".join(wrong)


def test_what_is_wrong_is_found():
    docstring = "Dual coefficients (6.8).\n\na = 1, (6.3).\n"
    assert not [*numbers("ridge.fit_dual", docstring)]
    for old, new in [("6.8", "6.7"), ("6.3", "6.31"), ("6.3", "60")]:
        assert [*numbers("ridge.fit_dual", docstring.replace(old, new))]
    said = "\nParameters\n----------\nPhi : (N, M) design matrix\n"
    assert not [*shapes(said)] and [*shapes(said.replace("N, M", "M, N"))]
