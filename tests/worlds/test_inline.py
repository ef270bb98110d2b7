"""Every relation in a sentence is executed, or says why not."""

import pytest

import worlds
from press.reader import chapters, left_out
from worlds.relations import (
    CLASSES,
    advice,
    doubtful,
    listed,
    problem,
    relations,
    verdicts,
)

PAGES = chapters()
ids = {"ids": lambda page: page.number}


@pytest.mark.parametrize("page", PAGES, **ids)
def test_relations_in_sentences_hold(page):
    """In their worlds; and their mutants mostly do not."""
    wrong = []
    for relation in relations(page):
        if relation.verdict and relation.verdict.kind == "world":
            label = relation.verdict.more
            if label in worlds.load():
                wrong.append(problem(relation.equation, worlds.made(label)))
            else:
                wrong.append(f"{relation.key}: there is no world {label}")
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.parametrize("page", PAGES, **ids)
def test_what_is_supposed_is_so_somewhere(page):
    wrong = [doubtful(relation) for relation in relations(page)]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.parametrize("page", PAGES, **ids)
def test_every_relation_has_its_verdict(page):
    left = [advice(r) for r in relations(page) if r.verdict is None]
    assert not left, "\n".join(left)


@pytest.mark.parametrize("page", PAGES, **ids)
def test_lists_name_relations_that_are_there(page):
    there = {r.key for r in relations(page)}
    there |= {" ".join(m.latex.split()) for m in worlds.unlabelled(page)}
    for key, (kind, more) in verdicts(page).items():
        assert key in there, f"{listed(page).name}: {key}: not in the chapter"
        known = kind in ("world", "live", *CLASSES)
        assert known, f"{listed(page).name}: {key}: {kind}"
        assert kind != "schematic" or more, f"{key}: schematic, and why?"


def test_every_list_belongs_to_a_chapter():
    known = {listed(page) for page in [*PAGES, *left_out()]}
    assert {*listed(PAGES[0]).parent.glob("*.yml")} <= known
