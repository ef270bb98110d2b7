"""Laws that every chapter of the book keeps; _toc.yml says which there are."""

from collections import defaultdict

import jupytext
import pytest
from ipykernel.kernelspec import get_kernel_dict
from jupytext.config import load_jupytext_config

from press.outputs import code, expected
from press.reader import chapters, notebooks

SKELETON = [
    "In one minute",
    "You need",
    "Where it breaks",
    "In the sources",
    "Exercises",
    "Summary",
    "Further reading",
]


def of_a_notebook(page):
    """What is wrong with a page that runs: line, reason."""
    if not expected(page.path).exists():
        yield 1, "there is no record in tests/expected"
    if not any(cell.asserts for cell in page.cells):
        yield 1, "no cell asserts anything that could be false"
    for excuse in ("NBVAL_", "nbval-", "raises-exception"):
        if excuse in page.text:
            yield 1, f"a cell is excused from its test: {excuse}"
    for cell in filter(lambda cell: cell.draws, page.cells):
        if len(cell.about("image", "alt").split()) < 8:
            yield cell.line, "the figure's alt text does not say what one sees"
        if not cell.about("figure", "caption"):
            yield cell.line, "the figure has no caption"
    seen = code(jupytext.read(page.path, fmt="md:myst"))
    if [(c.source, c.metadata) for c in seen] != [
        (c.source, c.metadata) for c in page.cells
    ]:
        yield 1, "jupytext sees other cells than press.reader"
    if saved_in_jupyterlab(page) != page.path.read_bytes():
        yield 1, f"run `.venv/bin/jupytext --to md:myst {page.name}.md`"


def saved_in_jupyterlab(page):
    """It notes its kernel; `make check-lab` asks JupyterLab itself."""
    config = load_jupytext_config(str(page.path))
    notebook = jupytext.reads(page.text, fmt="md", config=config)
    kernel = get_kernel_dict()
    noted = {key: kernel[key] for key in ("display_name", "language")}
    notebook.metadata["kernelspec"] = {**noted, "name": "python3"}
    notebook.metadata["language_info"] = {"pygments_lexer": "ipython3"}
    return jupytext.writes(notebook, fmt="md", config=config).encode()


def of_a_chapter(page):
    """What is wrong with a numbered chapter: line, reason."""
    if not page.is_notebook or not page.equations:
        yield 1, "a chapter runs, and has equations"
    titles = [h.title for h in page.headings if h.level == 2]
    if [title for title in titles if title in SKELETON] != SKELETON:
        yield 1, f"the sections are not, in this order, {SKELETON}"
    for equation in page.equations:
        cells = page.places[equation.label].cells
        if not any(cell.asserts for cell in cells):
            said = "asserts nothing" if cells else "is the tag of no cell"
            yield equation.line, f"check-{equation.label} {said}"
    for cell in page.cells:
        for label in {*cell.checks} - page.places.keys():
            yield cell.line, f"check-{label}, but {label} is not here"
    exercises = [e.label for e in page.directives("exercise-start")]
    solved = [s.argument for s in page.directives("solution-start")]
    if len(exercises) < 4 or sorted(exercises) != sorted(solved):
        yield 1, f"exercises {exercises}, solved {solved}"
    terms = [role.target.lower() for role in page.roles("term")]
    if len(terms) < 5 or len(terms) > len(set(terms)):
        yield 1, f"five or more words are linked, each once, not {terms}"
    for role in page.roles("term"):
        if page.text.splitlines()[role.line - 1].startswith(("#", "|")):
            yield role.line, "a word is linked in running prose only"
    if len([d for d in page.directives("index") if d.argument]) < 4:
        yield 1, "it enters itself in the index less than four times"


PAGES = {page.name: page for page in [*notebooks(), *chapters()]}


@pytest.mark.parametrize("name", PAGES)
def test_the_laws_are_kept(name):
    page = PAGES[name]
    found = [*of_a_notebook(page), *(page.number and of_a_chapter(page))]
    wrong = [f"{name}.md:{line}: {reason}" for line, reason in found]
    assert not wrong, "\n".join(wrong)


def test_labels_and_words_of_figures_are_unique_across_the_book():
    homes = defaultdict(list)
    for page in PAGES.values():
        names = [(math.line, math.label) for math in page.equations]
        names += [(c.line, c.about("image", "alt")) for c in page.cells]
        for line, name in names:
            homes[name].append(f"{page.name}.md:{line}")
    homes.pop("", None)  # cells that draw nothing
    assert not {name: at for name, at in homes.items() if len(at) > 1}
