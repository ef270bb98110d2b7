"""Every displayed equation of the book holds, and its misprints do not."""

import ast
import json
import re
from collections import Counter
from functools import cache

import pytest
from typeset import Equation, ignored, judged

import worlds
from press.ledger import BALANCE
from press.reader import ROOT, left_out
from worlds import copied as copied_worlds
from worlds.copied import copies
from worlds.relations import relations

EQUATIONS = worlds.equations()
EXECUTED = [e for e in EQUATIONS if e.label in worlds.load()]
MOST_NOT_EXECUTED = 1 / 20
LEAST_REJECTED = 0.99  # of the mutants that change the mathematics
# Their worlds bind densities as they are written, each a key of its own.
WHOLE = {"eq-gp-32", "eq-gen-missing"}
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
    assert not labels - executed - reasons, "neither a world nor a reason"
    assert not executed - labels, "no such equation in the book"
    assert not executed & reasons, "a world, and a reason why there is none"
    known = {e.label for page in left_out() for e in page.equations}
    assert not reasons - known - labels, "no such equation anywhere"


def test_few_equations_are_not_executed():
    reasons = worlds.not_executed()
    assert all(reasons.values()), "an equation without its reason"
    assert len(reasons) <= MOST_NOT_EXECUTED * len(EQUATIONS)


@cache
def fates(equation):
    """Of its mutants, and of arguments that could be anything."""
    there = made(equation)
    free = dict.fromkeys(ignored(equation, there), "survived")
    return judged(equation, there) | free


@pytest.mark.parametrize("equation", EXECUTED, **ids)
def test_mutants_are_rejected_or_explained(equation):
    survivors = {
        m for m, fate in fates(equation).items() if fate == "survived"
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


@pytest.mark.parametrize("equation", EXECUTED, **ids)
def test_some_mutant_is_rejected(equation):
    """Not only because the world is bound to the formula as a whole."""
    rejected = {"value", "shape"} & {*fates(equation).values()}
    assert rejected or equation.label in WHOLE


def test_no_world_binds_a_side_to_the_formula_of_another():
    wrong = [
        f"{e.path}:{e.line}: {label}: {said}"
        for e, label in [
            *((e, e.label) for e in EXECUTED),
            *(
                (r.equation, r.verdict.more)
                for chapter in worlds.chapters()
                for r in relations(chapter)
                if r.verdict and r.verdict.kind == "world"
            ),
        ]
        for said in copies(e, label)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_copied_formula_is_found(monkeypatch):
    def copied(latex, python):
        form = ast.parse(python).body[0].value
        bound = dict.fromkeys(("q", "h", "h_"), (form,))
        monkeypatch.setattr(copied_worlds, "expressions", lambda label: bound)
        return [*copies(Equation(latex), "q")]

    ratio = r"q = \frac{\sqrt{a_n} - 1}{\sqrt{a_n} + 1}"
    assert copied(ratio, "(np.sqrt(p.a) - 1) / (np.sqrt(p.a) + 1)")
    assert copied(r"h(x) = \ln(2 x) - b", "np.log(2 * x) - b")
    assert copied(r"h_n = \mathbf A^{-1} \mathbf b", "np.linalg.inv(A) @ b")
    assert not copied(ratio, "np.tanh(np.log(p.a) / 4)")
    assert not copied(ratio, "np.roots([1, p.b, 1]).min()")


@pytest.mark.parametrize("equation", [e for e in EXECUTED if e.implies], **ids)
def test_what_follows_fails_where_its_reason_fails(equation):
    fails = [bindings for bindings in made(equation) if "@fails" in bindings]
    assert fails, "no world in which both sides of the arrow fail"


def test_nearly_all_mutants_are_rejected(record_property):
    count = Counter(fate for e in EXECUTED for fate in fates(e).values())
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


def test_the_balance_is_recorded(request):
    """Of every chapter, but one that is new; the front page has the sum."""
    now = {c.number: of_chapter(c) for c in worlds.chapters()}
    if request.config.option.update_expected:
        lines = [f"{json.dumps(n)}: {json.dumps(b)}" for n, b in now.items()]
        BALANCE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    recorded = json.loads(BALANCE.read_text("utf-8"))
    for number, balance in now.items():
        said = f"chapter {number} has changed: run `make balance`"
        assert recorded.get(number, balance) == balance, said


def of_chapter(chapter):
    """Displays, relations by what becomes of them, mutants by operator."""
    there = [e for e in EQUATIONS if e.path == f"{chapter.name}.md"]
    executed = [e for e in there if e in EXECUTED]
    kinds = Counter(
        r.verdict.kind if r.verdict else "open" for r in relations(chapter)
    )
    mutants = Counter(
        (name.partition(":")[0], fate == "survived")
        for e in executed
        for name, fate in fates(e).items()
    )
    return {
        "displays": [len(executed), len(there)],
        "inline": dict(sorted(kinds.items())),
        "mutants": {
            kind: [mutants[kind, False], mutants[kind, True]]
            for kind in sorted({kind for kind, _ in mutants})
        },
    }


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
