"""The formulas of docstrings hold, and their misprints do not.

Every statement of a public docstring is executed in a world of
``docstring_worlds``, or stands in ``docstrings_not_executed.yml`` with the
reason.  So a statement that is edited fails its world, or is on no list.
"""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml
from library.docstring_worlds import BOOK, WORLDS, Problem
from library.formulas import documented, statements, translated, written
from typeset import Disagreement, Equation, FormulaError, judged

LISTED = yaml.safe_load(
    Path(__file__).with_name("docstrings_not_executed.yml").read_text("utf-8")
)
CLASSES = {"definition", "condition", "schematic", "step", "bound"}
LEAST_REJECTED = 0.95
MOST_LISTED = 0.25
SEEDS = (1, 2, 3)


@cache
def said(name):
    """The statements of a docstring: as they are written, and in LaTeX."""
    runs = statements(*documented()[name])
    return {written(run): translated(run) for run in runs}


NAMES = [name for name in documented() if said(name)]


@cache
def made(name):
    """The worlds of a docstring, and the text that each is kept to."""
    narrowest = sorted(WORLDS.get(name, []), key=lambda pair: -len(pair[0]))
    return [
        (of, [w for seed in SEEDS for w in several(build(Problem(seed)))])
        for of, build in narrowest
    ]


def several(worlds):
    return worlds if isinstance(worlds, list) else [worlds]


@cache
def tried(name):
    """Each statement, as an equation with the worlds in which it can be read.

    No worlds if there are none, and in any case what is wrong with it.
    """
    found = {}
    for text, latex in said(name).items():
        equation = Equation(latex, name, notation=BOOK)
        worlds, wrong = [], f"no world for {latex}"
        for of, one in made(name):
            if without_spaces(of) in without_spaces(latex):
                wrong, read = verdict(equation, one)
                worlds = one if read else []
            if worlds:
                break
        found[text] = equation, worlds, wrong
    return found


def without_spaces(text):
    return "".join(text.split())


def verdict(equation, worlds):
    """What is wrong with it, and whether it can be evaluated at all."""
    try:
        for one in worlds:
            equation.check(one)
    except Disagreement as error:
        return str(error), True
    except (FormulaError, TypeError, AttributeError) as error:
        return str(error), False
    return "", True


@pytest.mark.parametrize("name", NAMES)
def test_the_statements_of_a_docstring_hold_or_are_listed(name):
    listed, wrong = LISTED.get(name, {}), []
    for text, (_, _, error) in tried(name).items():
        if text in listed and not error:
            wrong.append(f"is executed, and listed too: {text}")
        elif text not in listed and error:
            wrong.append(f"{text}\n    {error}")
    assert not wrong, "\n".join(wrong)


def test_the_list_is_true(record_property):
    """Of what stands in docstrings, each with a reason, and not too much."""
    gone = {name: {*listed} for name, listed in LISTED.items()}
    for name in {*NAMES} & {*gone}:
        gone[name] -= {*said(name)}
    assert not {name: texts for name, texts in gone.items() if texts}
    reasons = [why for listed in LISTED.values() for why in listed.values()]
    assert {why.partition(": ")[0] for why in reasons} <= CLASSES
    assert all(why.partition(": ")[2] for why in reasons)
    total = sum(len(said(name)) for name in NAMES)
    record_property(
        "summary",
        f"docstring statements: {total - len(reasons)} of {total} executed, "
        f"{len(reasons)} listed",
    )
    assert len(reasons) <= MOST_LISTED * total


def test_worlds_belong_to_docstrings_and_are_used():
    assert {*WORLDS} <= {*NAMES}
    for name in WORLDS:
        for of, worlds in made(name):
            used = [w is worlds for _, w, _ in tried(name).values()]
            assert any(used), f"no statement of {name} needs a world of {of}"


def test_misprints_are_noticed(record_property):
    fates, survivors = Counter(), []
    for name in WORLDS:
        for equation, worlds, error in tried(name).values():
            if not error:
                judgement = judged(equation, worlds)
                fates.update(judgement.values())
                left = [m for m, f in judgement.items() if f == "survived"]
                survivors += [f"{name}: {mutant}" for mutant in left]
    rate = 1 - fates["survived"] / fates.total()
    record_property(
        "summary",
        f"mutants of docstrings: {fates.total()}, {rate:.1%} rejected",
    )
    assert rate >= LEAST_REJECTED, "\n".join(survivors)
