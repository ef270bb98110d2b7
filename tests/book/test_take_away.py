"""Notebooks, sources and archives that the build makes."""

import re
import subprocess
import sys
import zipfile

import nbformat
import pytest
from nbclient import NotebookClient
from pages import CHAPTERS, FRONT, HTML, PAGES, SITE, built, law, tree

from press import take_away
from press.notebooks import Translation
from press.reader import ROOT
from press.translation import TRANSLATED

BOOK, LIBRARY = take_away.BOOK, f"notebooks/{take_away.LIBRARY}"


def notebook(page):
    path = HTML / "notebooks" / f"{CHAPTERS[page].path.stem}.ipynb"
    return nbformat.read(path, as_version=4)


@law(CHAPTERS)
def test_notebook_is_the_chapter_in_plain_markdown_and_says_its_needs(page):
    made = notebook(page)
    nbformat.validate(made)
    prose, code = (
        [cell.source for cell in made.cells if cell.cell_type == kind]
        for kind in ("markdown", "code")
    )
    if code != [cell.source for cell in CHAPTERS[page].cells]:
        yield "the notebook has other code"
    text = "\n\n".join(prose)
    myst = r"\{[\w:-]+\}`|^\s*(?:`{3,}|:{3,})\{.*|^ *Parameters\n *---"
    yield from re.findall(myst, text, re.M)
    numbers = {f"({number})" for number in re.findall(r"\\tag\{(.*?)\}", text)}
    if wrong := numbers - {*tree(page).xpath("//*[@class='eqno']/text()")}:
        yield f"its equations are numbered {wrong}"
    if f'"./{take_away.LIBRARY}[figures,sklearn]"' not in prose[0]:
        yield "the first cell does not say how to install the library"
    known = {"kernelbook", "matplotlib", "numpy", "scipy", "sklearn"}
    known |= {"statsmodels", *sys.stdlib_module_names}
    imported = re.findall(r"^\s*(?:from|import) (\w+)", "\n".join(code), re.M)
    yield from (f"it needs {name} too" for name in {*imported} - known)


@law(CHAPTERS)
def test_page_offers_notebook_source_and_book(page):
    stem = CHAPTERS[page].path.stem
    offered = tree(page).xpath("//footer[@class='take-away']//a/@href")
    source = f"_sources/chapters/{stem}.md"
    book = f"../{BOOK}" if TRANSLATED else BOOK
    for file in (f"notebooks/{stem}.ipynb", source, LIBRARY, book):
        if f"../{file}" not in offered:
            yield f"does not offer {file}"
    if (HTML / source).read_bytes() != CHAPTERS[page].path.read_bytes():
        yield f"{source} is not the chapter's"


@built
def test_the_archive_is_whole_and_read_without_a_server(visit, tmp_path):
    """Front page, a chapter with a live figure, search: nothing is amiss."""
    with zipfile.ZipFile(SITE / BOOK) as archive:
        archive.extractall(tmp_path)
    packed = tmp_path / "kernelbook" / HTML.relative_to(SITE)
    for page in [*PAGES, "index.html"]:
        there = take_away.offline(HTML / page)
        assert (packed / page).read_bytes() == there, page
    home = packed.as_uri()
    page = visit("index.html", home=home)
    page.wait_for_url(f"{home}/{FRONT}")
    alive = [p for p in CHAPTERS if tree(p).find_class("live-figure")]
    path, *_ = [*alive, *CHAPTERS]
    page.locator(f"a[href='{CHAPTERS[path].path.stem}.html']").first.click()
    page.wait_for_url(f"{home}/{path}")
    for figure in page.locator(".live-figure").all()[:1]:
        before = figure.locator("svg").inner_html()
        figure.locator("input").first.press("ArrowRight")
        assert figure.locator("svg").inner_html() != before
    equation, *_ = tree(path).xpath("//*[@class='eqno']/..")
    number = equation.xpath("string(*[@class='eqno']/text())")
    page.goto(f"{home}/search.html?q={number}")
    found = page.locator(f"ul.search a[href*='#{equation.get('id')}']")
    found.first.wait_for(timeout=30_000)
    assert page.problems == []


@built
def test_the_shortest_notebook_runs_as_it_is_downloaded(tmp_path):
    """In a folder of its own, where nothing of the book lies."""
    shortest = min(CHAPTERS, key=lambda page: len(CHAPTERS[page].cells))
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook(shortest), timeout=60, resources=where).execute()


@built
def test_the_library_installs_from_its_archive(tmp_path):
    options = "--quiet --no-deps --no-index --no-build-isolation --target"
    pip = [sys.executable, "-m", "pip", "install", *options.split()]
    subprocess.run([*pip, tmp_path, HTML / LIBRARY], check=True)
    library, installed = (
        {file.relative_to(root) for file in take_away.library_files(root)}
        for root in (ROOT / "kernelbook", tmp_path / "kernelbook")
    )
    assert installed == library


@pytest.mark.parametrize(
    ("myst", "plain"),
    [
        ("```{math}\n:label: eq-6-8\na\n```", "$$\na \\tag{6.8}\n$$"),
        ("{eq}`eq-6-8`, {doc}`notation`", "(6.8), *NOTATION*"),
        ("{cite:t}`bishop2006`, {ref}`x`", "Bishop (2006), the section x"),
        ("A\n\n```{index} matrix\n```\n\nB", "A\n\nB"),
        ("*{term}`Gram`* of {term}`kernels <kernel>`", "*Gram* of kernels"),
        ("```{exercise-start} Name\n:label: ex\n```", "### Exercise: Name"),
    ],
)
def test_translation_of_directives_and_roles(myst, plain):
    words = {"eq-6-8": "(6.8)", "notation": "NOTATION", "x": "the section x"}
    translate = Translation(words, {"bishop2006": ("Bishop", "2006")})
    assert translate(myst) == plain
