"""Every labelled equation of the book, out of its own LaTeX, is evaluated."""

import pytest
from typeset.book import SEEDS, equations
from typeset.worlds import load

EQUATIONS = equations()
EXECUTED = [e for e in EQUATIONS if e.label in load()]
ids = {"ids": lambda equation: equation.label}


@pytest.mark.parametrize("equation", EQUATIONS, **ids)
def test_the_latex_parses(equation):
    assert equation.tree.kind == "formula"


@pytest.mark.parametrize("equation", EXECUTED, **ids)
def test_typeset_equation_holds(equation):
    for seed in SEEDS:
        equation.check(seed)
