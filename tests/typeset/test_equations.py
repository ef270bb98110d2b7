"""Every labelled equation of the book, out of its own LaTeX, is evaluated."""

import pytest
from typeset.book import SEEDS, equations, not_executed
from typeset.worlds import load

EQUATIONS = equations()
EXECUTED = [e for e in EQUATIONS if e.label in load()]
MOST_NOT_EXECUTED = 1 / 6
ids = {"ids": lambda equation: equation.label}


@pytest.mark.parametrize("equation", EQUATIONS, **ids)
def test_the_latex_parses(equation):
    assert equation.tree.kind == "formula"


@pytest.mark.parametrize("equation", EXECUTED, **ids)
def test_typeset_equation_holds(equation):
    for seed in SEEDS:
        equation.check(seed)


def test_every_equation_is_executed_or_says_why_not():
    labels = {e.label for e in EQUATIONS}
    worlds, reasons = set(load()), set(not_executed())
    assert not labels - worlds - reasons, "neither a world nor a reason"
    assert not (worlds | reasons) - labels, "no such equation"
    assert not worlds & reasons, "a world, and a reason why there is none"


def test_few_equations_are_not_executed():
    reasons = not_executed()
    assert all(reasons.values()), "an equation without its reason"
    assert len(reasons) <= MOST_NOT_EXECUTED * len(EQUATIONS)
