"""Notebooks, sources and archives that the build makes."""

import re
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import nbformat
import pytest
from lxml import html as parser
from nbclient import NotebookClient
from pages import CHAPTERS, FRONT, HTML, PAGES, built, law, tree

from press import take_away
from press.notebooks import Translation, first_cell
from press.reader import ROOT, Page
from press.take_away import BRANCH, LIBRARY

WHOLE_BOOK, WHOLE_LIBRARY = take_away.BOOK, f"notebooks/{LIBRARY}"


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
    myst = r"\{[\w:-]+\}`|^\s*(?:`{3,}|:{3,})\{.*|^ *Parameters\n *---"
    yield from re.findall(myst, "\n\n".join(prose), re.M)
    for name, package in {
        "pip install": "numpy",
        LIBRARY: "kernelbook",
        "scikit-learn": "sklearn",
        "statsmodels": "statsmodels",
    }.items():
        used = rf"^\s*(from|import) {package}\b"
        if (name in prose[0]) != bool(re.search(used, "\n".join(code), re.M)):
            yield f"the first cell is wrong about {name}"


@law(CHAPTERS)
def test_page_offers_notebook_source_and_book(page):
    stem = CHAPTERS[page].path.stem
    offered = tree(page).xpath("//footer[@class='take-away']//a/@href")
    source = f"_sources/chapters/{stem}.md"
    for file in (f"notebooks/{stem}.ipynb", source, WHOLE_BOOK):
        if f"../{file}" not in offered:
            yield f"does not offer {file}"
    if (HTML / source).read_bytes() != CHAPTERS[page].path.read_bytes():
        yield f"{source} is not the chapter's"


@built
@pytest.mark.parametrize("name", [WHOLE_BOOK, WHOLE_LIBRARY])
def test_an_archive_has_nothing_of_this_day_or_machine(name):
    with zipfile.ZipFile(HTML / name) as archive:
        entries = archive.infolist()
    names = [entry.filename for entry in entries]
    assert names == sorted(names)
    assert {entry.date_time for entry in entries} == {(2026, 1, 1, 0, 0, 0)}
    assert {entry.external_attr for entry in entries} == {0o644 << 16}


@built
def test_the_archive_is_whole_and_read_without_a_server(visit, tmp_path):
    """Front page, a chapter with a live figure, search: nothing is amiss."""
    with zipfile.ZipFile(HTML / WHOLE_BOOK) as archive:
        archive.extractall(tmp_path)
    for page in [*PAGES, "index.html"]:
        packed = tmp_path / "kernelbook" / page
        assert packed.read_bytes() == take_away.offline(HTML / page), page
    home = (tmp_path / "kernelbook").as_uri()
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
    resources = {"metadata": {"path": str(tmp_path)}}
    client = NotebookClient(
        notebook(shortest), timeout=60, resources=resources
    )
    *_, last = [c for c in client.execute().cells if c.cell_type == "code"]
    assert last.execution_count == len(CHAPTERS[shortest].cells)


@built
def test_the_library_installs_from_its_archive(tmp_path):
    options = "--quiet --no-deps --no-index --no-build-isolation --target"
    pip = [sys.executable, "-m", "pip", "install", *options.split()]
    done = subprocess.run(
        [*pip, str(tmp_path), str(HTML / WHOLE_LIBRARY)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    library, installed = (
        {file.relative_to(root) for file in take_away.library_files(folder)}
        for root in (ROOT, tmp_path)
        for folder in [root / "kernelbook"]
    )
    assert installed == library


HUB, OTHER = "https://github.com/a/b", "https://git.example.org/a/b"
BINDER = f"https://mybinder.org/v2/gh/a/b/{BRANCH}?urlpath=lab/tree/02_x.ipynb"
COLAB = (
    f"https://colab.research.google.com/github/a/b/blob/{BRANCH}/02_x.ipynb"
)


@pytest.mark.parametrize(
    ("url", "run"), [(HUB, [BINDER, COLAB]), (OTHER, []), ("", [])]
)
def test_buttons_appear_with_a_repository_that_has_the_files(url, run):
    options = {"repository_url": url, "repository_branch": "main"}
    app = SimpleNamespace(config=SimpleNamespace(html_theme_options=options))
    context = {"body": "", "pathto": lambda target, _: target}
    take_away.offer(app, "chapters/02_x", "", context, doctree=object())
    links = parser.fromstring(context["body"]).xpath("//a/@href")
    edit = f"{url}/edit/main/chapters/02_x.md"
    report = f"{url}/issues/new?title=chapters/02_x"
    shown = [link for link in links if "://" in link]
    assert shown == ([edit, report, *run] if url else [])


def test_the_workflow_fills_the_branch_the_buttons_point_to():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    assert f"push --force origin HEAD:{BRANCH}" in workflow
    assert "path: _build/html/notebooks" in workflow


def test_translation_of_directives_and_roles():
    translate = Translation(
        {"eq-6-8": "6.8"},
        {"notation": "NOTATION"},
        {"x": "the section x"},
        {"bishop2006": ("Bishop", "2006")},
    )
    for myst, plain in {
        "```{math}\n:label: eq-6-8\na = 1\n```": "$$\na = 1 \\tag{6.8}\n$$",
        "{eq}`eq-6-8`, {doc}`notation`": "(6.8), *NOTATION*",
        "{cite:t}`bishop2006`, {ref}`x`": "Bishop (2006), the section x",
        "A\n\n```{index} matrix\n```\n\nB": "A\n\nB",
        "*{term}`Gram`* of {term}`kernels <kernel>`": "*Gram* of kernels",
        "```{exercise-start} Name\n:label: ex\n```": "### Exercise: Name",
    }.items():
        assert translate(myst) == plain
    with pytest.raises(ValueError, match="no equation is labelled eq-none"):
        translate("{eq}`eq-none`")


def test_first_cell_names_the_repository_when_there_is_one():
    page = Page(ROOT / "p.md", "```{code-cell}\nimport statsmodels\n```\n")
    text = first_cell("T", page, LIBRARY, "https://x/y")
    assert "git+https://x/y" in text and "statsmodels" in text
    assert "git+" not in first_cell("T", page, LIBRARY, "")
