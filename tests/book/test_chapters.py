"""Laws that every chapter keeps."""

import re

import pytest
from chapter_tests import is_notebook
from reading import CHAPTERS, ROOT, chapters, is_chapter, notebooks, toc

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


def test_every_entry_of_the_toc_is_a_file():
    for file in toc():
        assert (ROOT / f"{file}.md").is_file(), f"_toc.yml: no {file}.md"


def test_every_chapter_file_is_in_the_toc():
    files = {f"chapters/{path.stem}" for path in CHAPTERS.glob("*.md")}
    assert files == set(toc())


def test_every_chapter_of_the_toc_is_collected_by_nbval():
    """A chapter whose front matter nbval does not recognise would be lost."""
    for file in filter(is_chapter, toc()):
        assert is_notebook(ROOT / f"{file}.md"), f"{file} is no notebook"


def test_every_record_belongs_to_a_page_that_runs():
    recorded = {p.stem for p in (ROOT / "tests" / "expected").glob("*.json")}
    assert recorded == {page.path.stem for page in notebooks()}


def test_labels_are_unique_across_the_book():
    labels = [
        label for chapter in chapters() for label, _ in chapter.equations
    ]
    doubled = {label for label in labels if labels.count(label) > 1}
    assert not doubled


@each_chapter
def test_chapter_has_its_skeleton_in_order(chapter):
    headings = re.findall(r"^## (.*)$", chapter.text, re.M)
    assert [h for h in headings if h in SKELETON] == SKELETON


@each_chapter
def test_every_labelled_equation_has_a_check_that_asserts(chapter):
    assert chapter.equations
    for label, _ in chapter.equations:
        source = chapter.checks.get(label)
        assert source, f"no cell is tagged check-{label}"
        assert "assert" in source, f"the check of {label} asserts nothing"


@each_chapter
def test_every_check_belongs_to_something_in_the_chapter(chapter):
    for label in chapter.checks:
        assert f":label: {label}\n" in chapter.text, f"check-{label}: no label"


@each_notebook
def test_every_figure_has_alt_text_and_caption(chapter):
    for cell in chapter.code_cells:
        if "plt.subplots" in cell.source or "plt.figure" in cell.source:
            about = cell.metadata.get("mystnb", {})
            assert len(about.get("image", {}).get("alt", "").split()) > 7
            assert about.get("figure", {}).get("caption")


@each_chapter
def test_chapter_has_four_solved_exercises(chapter):
    exercises = re.findall(
        r"^```\{exercise-start\}.*\n:label: (\S+)", chapter.text, re.M
    )
    solved = re.findall(r"^```\{solution-start\} (\S+)", chapter.text, re.M)
    assert len(exercises) >= 4
    assert sorted(exercises) == sorted(solved)


@each_notebook
def test_no_cell_is_excused_from_its_test(chapter):
    assert "NBVAL_" not in chapter.text
    assert "nbval-" not in chapter.text
    assert "raises-exception" not in chapter.text
