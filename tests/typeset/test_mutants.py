"""The check is checked: a misprint in a formula is found."""

import pytest
from typeset.book import equations
from typeset.latex import parse
from typeset.mutants import explained, judged, mutants
from typeset.worlds import load

EXECUTED = [e for e in equations() if e.label in load()]
LEAST = 0.95  # of the mutants that change the mathematics


@pytest.mark.parametrize("equation", EXECUTED, ids=lambda e: e.label)
def test_mutants_are_rejected_or_explained(equation):
    survivors = set(judged(equation).survivors)
    reasons = explained().get(equation.label, {})
    unexplained = sorted(survivors - set(reasons))
    assert not unexplained, (
        f"no reason why these survive: {_lines(unexplained)}"
    )
    stale = sorted(set(reasons) - survivors)
    assert not stale, f"explained, but rejected or gone: {_lines(stale)}"


def _lines(mutants):
    """As they would stand in survivors/chapter_NN.yml."""
    return "".join(f"\n  '{mutant}':" for mutant in mutants)


def test_a_series_without_end_cannot_end_one_early():
    def ends(latex):
        names = [name for name, _ in mutants(parse(latex), {})]
        return [name for name in names if "- 1}" in name]

    assert len(ends(r"\sum_{j=1}^{M} a_j = b")) == 1
    assert not ends(r"\sum_{j=1}^{\infty} a_j = b")


def test_explanations_belong_to_equations_and_say_equivalent_or_weak():
    for label, reasons in explained().items():
        assert label in load(), f"survivors of {label}, which is not executed"
        for mutant, reason in reasons.items():
            assert set(reason) <= {"equivalent", "weak"}, (label, mutant)
            assert len(reason) == 1, (label, mutant)
            assert all(reason.values()), (label, mutant)


def test_nearly_all_mutants_are_rejected(record_property):
    verdicts = [judged(equation) for equation in EXECUTED]
    by_value = sum(len(v.by_value) for v in verdicts)
    by_shape = sum(len(v.by_shape) for v in verdicts)
    survived = sum(len(v.survivors) for v in verdicts)
    equivalent = sum(
        "equivalent" in reason
        for reasons in explained().values()
        for reason in reasons.values()
    )
    wrong = by_value + by_shape + survived - equivalent
    rate = (by_value + by_shape) / wrong
    record_property(
        "summary",
        f"mutants of the equations: {wrong} that change the mathematics, "
        f"{by_value} rejected by value, {by_shape} by shape ({rate:.1%}), "
        f"{equivalent} more are equivalent",
    )
    assert rate >= LEAST
