"""Laws that every chapter of the book keeps; _toc.yml says which there are."""

import json
from collections import Counter

import jupytext
import pytest

from press.reader import ROOT, chapters, notebooks, toc

EXPECTED = ROOT / "tests" / "expected"
each_chapter = pytest.mark.parametrize(
    "chapter", chapters(), ids=lambda chapter: chapter.path.stem
)
each_notebook = pytest.mark.parametrize(
    "chapter", notebooks(), ids=lambda chapter: chapter.path.stem
)
SKELETON = [
    "In one minute",
    "You need",
    "Where it breaks",
    "In the sources",
    "Exercises",
    "Summary",
    "Further reading",
]


def test_every_entry_of_the_toc_is_a_file_and_every_chapter_runs():
    for file in toc():
        assert (ROOT / f"{file}.md").is_file(), f"_toc.yml: no {file}.md"
    assert {page.name for page in chapters()} <= {p.name for p in notebooks()}


def test_every_page_that_runs_has_its_record():
    for page in notebooks():
        record = EXPECTED / f"{page.path.stem}.json"
        assert json.loads(record.read_text("utf-8")), record.name


def test_labels_are_unique_across_the_book():
    labels = Counter(e.label for page in chapters() for e in page.equations)
    assert [label for label, times in labels.items() if times > 1] == []


@each_notebook
def test_the_reader_sees_the_cells_that_jupytext_sees(chapter):
    cells = jupytext.read(chapter.path, fmt="md:myst").cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert [c.source for c in code] == [c.source for c in chapter.cells]
    assert [c.metadata for c in code] == [c.metadata for c in chapter.cells]


@each_chapter
def test_chapter_has_its_skeleton_in_order(chapter):
    headings = [h.title for h in chapter.headings if h.level == 2]
    assert [h for h in headings if h in SKELETON] == SKELETON


@each_chapter
def test_every_labelled_equation_has_a_check_that_asserts(chapter):
    assert chapter.equations
    for label in [equation.label for equation in chapter.equations]:
        cells = chapter.checks.get(label)
        assert cells, f"no cell is tagged check-{label}"
        assert any(c.asserts for c in cells), f"check-{label} asserts nothing"


@each_chapter
def test_every_check_belongs_to_something_in_the_chapter(chapter):
    assert chapter.checks.keys() <= chapter.places.keys()


@each_notebook
def test_every_figure_has_alt_text_and_caption(chapter):
    for cell in filter(lambda cell: cell.draws, chapter.cells):
        where = f"{chapter.name}.md:{cell.line}"
        assert len(cell.about("image", "alt").split()) > 7, where
        assert cell.about("figure", "caption"), where


@each_chapter
def test_chapter_has_four_solved_exercises(chapter):
    exercises = chapter.directives("exercise-start")
    solved = chapter.directives("solution-start")
    assert len(exercises) >= 4
    assert sorted(e.label for e in exercises) == sorted(
        s.argument for s in solved
    )


@each_notebook
def test_no_cell_is_excused_from_its_test(chapter):
    for word in ("NBVAL_", "nbval-", "raises-exception"):
        assert word not in chapter.text
