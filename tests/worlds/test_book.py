"""Every displayed equation of the book holds, and its misprints do not."""

import re
from collections import Counter
from functools import cache

import pytest
from typeset import judged

import worlds
from press.reader import ROOT, left_out

EQUATIONS = worlds.equations()
EXECUTED = [e for e in EQUATIONS if e.label in worlds.load()]
MOST_NOT_EXECUTED = 1 / 20
LEAST_REJECTED = 0.99  # of the mutants that change the mathematics
NEW = {"argument", "bound", "condition", "constant", "term", "turned"}
ids = {"ids": lambda equation: equation.label}


@pytest.mark.parametrize("equation", EQUATIONS, **ids)
def test_the_latex_parses(equation):
    assert equation.tree.kind == "formula"


def made(equation):
    return worlds.made(equation.label)


@pytest.mark.parametrize("equation", EXECUTED, **ids)
def test_typeset_equation_holds(equation):
    for bindings in made(equation):
        equation.check(bindings)


def test_every_equation_is_executed_or_says_why_not():
    labels = {e.label for e in EQUATIONS}
    executed = {e for e in worlds.load() if not e.startswith("inline: ")}
    reasons = {worlds.known_as(label) for label in worlds.not_executed()}
    assert not executed - labels, "no such equation in the book"
    labels = {label for label in labels if not label[:2].isdigit()}
    assert not labels - executed - reasons, "neither a world nor a reason"
    assert not executed & reasons, "a world, and a reason why there is none"
    known = {e.label for page in left_out() for e in page.equations}
    assert not reasons - known - labels, "no such equation anywhere"


def test_few_equations_are_not_executed():
    reasons = worlds.not_executed()
    assert all(reasons.values()), "an equation without its reason"
    assert len(reasons) <= MOST_NOT_EXECUTED * len(EQUATIONS)


@cache
def fates(equation):
    return judged(equation, made(equation))


@pytest.mark.parametrize("equation", EXECUTED, **ids)
def test_mutants_are_rejected_or_explained(equation):
    survivors = {
        m
        for m, fate in fates(equation).items()
        if fate == "survived" and m.partition(":")[0] not in NEW
    }
    reasons = set(worlds.explained().get(equation.label, {}))
    assert not survivors - reasons, "no reason why these survive"
    assert not reasons - survivors, "explained, but rejected or gone"


def test_explanations_belong_to_equations_and_say_equivalent_or_weak():
    for label, reasons in worlds.explained().items():
        assert label in worlds.load(), f"survivors of {label}, not executed"
        for mutant, reason in reasons.items():
            (kind, why), *more = reason.items()
            assert kind in ("equivalent", "weak"), (label, mutant)
            assert why and not more, (label, mutant)


def test_nearly_all_mutants_are_rejected(record_property):
    count = Counter(
        fate
        for e in EXECUTED
        for mutant, fate in fates(e).items()
        if mutant.partition(":")[0] not in NEW
    )
    explained = [
        r for found in worlds.explained().values() for r in found.values()
    ]
    equivalent = sum("equivalent" in reason for reason in explained)
    wrong = count.total() - equivalent
    rate = 1 - (count["survived"] - equivalent) / wrong
    record_property(
        "summary",
        f"mutants of the equations: {wrong} that change the mathematics, "
        f"{count['value']} rejected by value, {count['shape']} by shape "
        f"({rate:.1%}), {equivalent} more are equivalent",
    )
    assert rate >= LEAST_REJECTED


def test_the_engine_knows_nothing_of_the_book():
    for path in (ROOT / "tests" / "typeset").glob("*.py"):
        known = r"^\s*(from|import) (kernelbook|press|worlds)"
        assert not re.search(known, path.read_text("utf-8"), re.M), path


def test_a_label_has_one_world():
    label = EXECUTED[0].label
    with pytest.raises(ValueError, match=f"{label} has two worlds"):
        worlds.world(label)(lambda rng: {})


def test_an_equation_knows_its_line():
    for equation in EQUATIONS:
        lines = (ROOT / equation.path).read_text("utf-8").splitlines()
        first, *_ = equation.latex.split("\n")
        assert lines[equation.line - 1].strip() == first


def test_worlds_of_a_chapter_that_is_left_out_are_not_loaded(monkeypatch):
    *kept, gone = worlds.chapters()
    monkeypatch.setattr(worlds, "chapters", lambda: kept)
    labels = {e.label for e in EQUATIONS if e.path != f"{gone.name}.md"}
    assert {e.label for e in worlds.equations.__wrapped__()} == labels
    loaded = set(worlds.load.__wrapped__())
    executed = labels & loaded
    inline = {label for label in loaded if label.startswith("inline: ")}
    assert loaded - inline == executed < set(worlds.load())
    assert set(worlds.explained.__wrapped__()) <= executed
