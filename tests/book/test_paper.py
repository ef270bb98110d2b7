"""The book on paper: what ``make pdf`` left in _build/pdf.

``make check-pdf`` builds it and runs this.  pdftotext and its kin are those of
poppler-utils.
"""

import os
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from matplotlib.image import imread

from press import paper
from press.ledger import homes, source_line
from press.reader import ROOT, chapters, find, pages

pytestmark = pytest.mark.paper
PDF = paper.OUT / f"{paper.NAME}.pdf"
WIDEST = 2.0  # points that a line may stand out of its measure
HIGHEST = 4.0  # and a page
SMALLEST = 0.85  # of its size to which a formula may shrink
EMPTY = 0.3  # of a page, at its foot, unless a chapter ends there
INK = 200  # of 255, which is paper


@cache
def read(kind):
    return PDF.with_suffix(f".{kind}").read_text("utf-8", "replace")


def poppler(program, *options):
    command = [program, *options, PDF, *["-"] * (program == "pdftotext")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout


@cache
def sheets():
    """The text of each sheet, from the cover."""
    return poppler("pdftotext", "-layout").split("\f")


@cache
def before():
    """The number of sheets before the first chapter."""
    return int(re.search(r"Main matter after sheet (\d+)", read("log"))[1])


@cache
def labels():
    """The number printed at a label, and the sheet it is on."""
    found = re.findall(
        r"\\newlabel\{([^{}]*)\}\{\{(.*?)\}\{(\d+)\}", read("aux")
    )
    return {
        name: (said.strip("{}"), before() + int(page))
        for name, said, page in found
    }


def test_xelatex_misses_no_letter_and_no_reference():
    wrong = r"Missing character.*|.*undefined.*|.*multiply.defined.*|^!.*"
    assert re.findall(wrong, read("log"), re.M) == []
    assert "??" not in "".join(sheets()).replace("??? ", "")


def test_no_page_number_has_brackets_in_brackets():
    assert re.findall(r"\([^()\n]*\(p\.\s*\d+\)", "".join(sheets())) == []


def test_nothing_stands_out_of_the_measure():
    found = r"^Overfull .[hv]box \(([\d.]+)pt too (wide|high)\).*\n.*"
    for m in re.finditer(found, read("log"), re.M):
        assert float(m[1]) < (WIDEST if m[2] == "wide" else HIGHEST), m[0]
    shrunk = re.findall(r"Formula of ([\d.]+)pt, set to ([\d.]+)", read("log"))
    assert all(float(to) / float(of) > SMALLEST for of, to in shrunk)


def test_every_labelled_equation_has_its_number_on_its_page():
    wrong = []
    for page in chapters():
        for math in page.equations:
            number, sheet = labels()[f"equation:{page.name}:{math.label}"]
            if f"({number})" not in sheets()[sheet - 1]:
                wrong.append(f"{math.label} ({number}) on sheet {sheet}")
    assert wrong == []


def test_pages_are_full_and_have_running_heads(tmp_path):
    dots = 18  # per inch
    drawn = ["pdftoppm", "-gray", "-r", str(dots), PDF, tmp_path / "page"]
    subprocess.run(drawn, check=True)
    top, height = round(28 / 25.4 * dots), round(236 / 25.4 * dots)
    opens = r"\{(?:part|chapter)\}\{.*\}\{(\d+)\}\{.*\}"
    begun = {before() + int(page) for page in re.findall(opens, read("toc"))}
    last = len(sheets()) - 1
    for sheet, file in enumerate(sorted(tmp_path.glob("*.pgm")), start=1):
        head = sheets()[sheet - 1].strip().split("\n")[0]
        assert not re.fullmatch(r"\d+", head), f"sheet {sheet} has no head"
        ends = {sheet, sheet + 1, sheet + 2} & {*begun, last + 1}
        if sheet > before() and not ends:
            ink = (imread(file)[: top + height + 1] < INK).any(axis=1)
            empty = 1 - (np.flatnonzero(ink).max() - top) / height
            assert empty < EMPTY, f"{empty:.0%} of sheet {sheet} is empty"


def test_an_equation_and_the_line_under_it_are_on_one_page():
    said = {source_line(m.label) for p in chapters() for m in p.equations}
    for sheet in sheets():
        lines = [line.strip() for line in sheet.split("\n") if line.strip()]
        assert said.isdisjoint(lines[1:2]), lines[:3]  # the head is first


def test_every_exercise_leads_to_its_solution_at_the_end():
    _, first = labels()["solutions:solved"]
    for page in chapters():
        for exercise in page.directives("exercise-start"):
            name = exercise.label
            _, there = labels()[f"{page.name}:solved-{name}"]
            _, here = labels()[f"exercise:{name}"]
            assert here < first <= there
            title = f"Exercise {int(page.number)}."
            assert title in sheets()[here - 1], name
            assert title in sheets()[there - 1], name


def test_no_exercise_begins_below_its_title_overleaf():
    left = r"(?:^Exercises|Exercise \d+\.\d+ .*)\s*\Z"
    assert [
        n for n, s in enumerate(sheets(), 1) if re.search(left, s, re.M)
    ] == []


def test_chapters_have_their_numbers_and_back_matter_has_none():
    found = re.findall(
        r"\{chapter\}\{(?:\\numberline \{(\d+)\})?(.*?)\}\{\w+\}", read("toc")
    )
    numbered = [int(number) for number, _ in found if number]
    assert numbered == [int(page.number) for page in chapters()]
    back = [title for _, title in found[len(numbered) + 1 :]]
    others = sum(not page.number for page in pages())
    assert len(back) == others - 1 + 2  # solutions and index, no front page
    assert (back[0], back[-1]) == ("Solutions", "Index")


def test_errata_glossary_and_live_figures_are_there():
    text = re.sub(r"\s+", " ", "".join(sheets()))
    errata = [entry.id for entry in homes() if entry.is_erratum]
    assert [name for name in errata if f"{name} · " not in text] == []
    packed = text.replace(" ", "")
    for word in find("glossary").roles("zh"):
        assert word.target.replace(" ", "") in packed
    live = [
        cell
        for page in pages()
        for cell in page.cells
        if "figures.live" in cell.calls
    ]
    assert text.count("It moves on the page") == len(live) > 0


def test_figures_are_drawings_and_fonts_are_in_the_file():
    assert "includegraphics" in read("tex")
    assert not re.search(
        r"\\sphinxincludegraphics.*\.(png|jpe?g)", read("tex")
    )
    _, _, *fonts = poppler("pdffonts").splitlines()
    assert all(re.search(r" yes (yes|no) +(yes|no) ", line) for line in fonts)


def test_a_reader_program_knows_title_language_and_bookmarks():
    about = poppler("pdfinfo")
    assert re.search(r"Title: +Kernelbook: every equation runs", about)
    assert re.search(r"Author: +The Kernelbook authors", about)
    for page in chapters():
        assert f"{page.name}::doc" in "".join(labels())
    assert read("out").count("\\BOOKMARK [0]") >= len(pages())


def test_two_builds_are_the_same_to_the_byte(tmp_path):
    again = [sys.executable, "-m", "press.paper", tmp_path]
    subprocess.run(again, cwd=ROOT, check=True)
    assert (tmp_path / PDF.name).read_bytes() == PDF.read_bytes()


def test_what_is_missing_is_said_in_one_line():
    done = subprocess.run(
        [sys.executable, "-m", "press.paper"],
        cwd=ROOT,
        env={**os.environ, "PATH": ""},
        capture_output=True,
        text=True,
    )
    (said,) = done.stderr.splitlines()
    assert done.returncode == 1 and "texlive-xetex" in said
