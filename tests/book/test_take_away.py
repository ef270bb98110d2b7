"""Notebooks, sources and archives that the build makes."""

import re
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient
from notebooks import Translation, first_cell, listing
from pages import CHAPTERS, HTML, PAGES, tree
from reading import ROOT, chapters
from take_away import (
    BOOK,
    BRANCH,
    LIBRARY,
    library_files,
    offer,
    offline,
    pack,
    repository_links,
)

built = pytest.mark.browser  # needs the built book
each_chapter = pytest.mark.parametrize(
    "chapter", chapters(), ids=lambda chapter: chapter.path.stem
)


def plain(chapter):
    path = HTML / "notebooks" / f"{chapter.path.stem}.ipynb"
    return nbformat.read(path, as_version=4)


@built
@each_chapter
def test_notebook_has_the_chapters_code_and_says_what_it_needs(chapter):
    made = plain(chapter)
    nbformat.validate(made)
    first, *_ = made.cells
    assert first.cell_type == "markdown" and "pip install" in first.source
    assert LIBRARY in first.source
    code = [cell.source for cell in made.cells if cell.cell_type == "code"]
    assert code == [cell.source for cell in chapter.code_cells]
    for package, name in [
        ("sklearn", "scikit-learn"),
        ("statsmodels", "statsmodels"),
    ]:
        needed = re.search(
            rf"^\s*(from|import) {package}\b", "\n".join(code), re.M
        )
        assert bool(needed) == (name in first.source), name


@built
@each_chapter
def test_notebook_is_plain_markdown(chapter):
    for cell in plain(chapter).cells:
        if cell.cell_type == "markdown":
            left = re.search(
                r"\{[\w:-]+\}`|^\s*(`{3,}|:{3,})\{.*", cell.source, re.M
            )
            assert not left, f"{chapter.path.stem}.ipynb: {left[0]}"


@built
@pytest.mark.parametrize("page", CHAPTERS)
def test_chapter_page_offers_notebook_source_and_book(page):
    offered = tree(page).xpath("//footer[@class='take-away']//a/@href")
    stem = page.split("/")[-1].removesuffix(".html")
    assert f"../notebooks/{stem}.ipynb" in offered
    assert f"../_sources/chapters/{stem}.md" in offered
    assert f"../{BOOK}" in offered
    source = HTML / "_sources" / "chapters" / f"{stem}.md"
    assert source.read_bytes() == (ROOT / f"chapters/{stem}.md").read_bytes()


@built
def test_the_archive_holds_the_whole_book_and_nothing_of_today():
    with zipfile.ZipFile(HTML / BOOK) as archive:
        names = archive.namelist()
        dates = {entry.date_time for entry in archive.infolist()}
        for page in PAGES:
            packed = archive.read(f"kernelbook/{page}")
            assert packed == offline(HTML / page), page
    assert "kernelbook/index.html" in names
    assert names == sorted(names)
    assert dates == {(2026, 1, 1, 0, 0, 0)}


@built
def test_the_archive_is_read_without_a_server(browser, tmp_path):
    """Front page, a chapter with a live figure, search: nothing is amiss."""
    with zipfile.ZipFile(HTML / BOOK) as archive:
        archive.extractall(tmp_path)
    home = (tmp_path / "kernelbook").as_uri()
    page = browser.new_page()
    amiss = []
    page.on("pageerror", lambda error: amiss.append(str(error)))
    page.on("requestfailed", lambda request: amiss.append(request.url))
    page.on(
        "request",
        lambda request: (
            request.url.startswith((home, "data:"))
            or amiss.append(request.url)
        ),
    )
    page.goto(f"{home}/index.html")
    page.wait_for_url(re.compile(r"^file:.*/chapters/index\.html$"))
    page.get_by_role("link", name="1. Linear models").first.click()
    page.wait_for_url(f"{home}/chapters/01_linear_models.html")
    figure = page.locator(".live-figure").first
    before = figure.locator("svg").inner_html()
    figure.locator("input").first.press("ArrowRight")
    assert figure.locator("svg").inner_html() != before
    page.goto(f"{home}/search.html?q=6.8")
    page.locator("ul.search a[href*='eq-6-8']").first.wait_for(timeout=30_000)
    page.close()
    assert amiss == []


@built
def test_the_shortest_notebook_runs_as_it_is_downloaded(tmp_path):
    """In a folder of its own, where nothing of the book lies."""
    shortest = min(chapters(), key=lambda chapter: len(chapter.code_cells))
    made = plain(shortest)
    done = NotebookClient(
        made, timeout=60, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    last = [cell for cell in done.cells if cell.cell_type == "code"][-1]
    assert last.execution_count == len(shortest.code_cells)


@built
def test_the_library_installs_from_its_archive(tmp_path):
    done = subprocess.run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
            "--no-index", "--no-build-isolation", "--target", str(tmp_path),
            str(HTML / "notebooks" / LIBRARY),
        ],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    library, installed = (
        {p.relative_to(root) for p in library_files(root / "kernelbook")}
        for root in (ROOT, tmp_path)
    )
    assert installed == library


def test_packing_twice_gives_the_same_bytes(tmp_path):
    for name in "ba":
        (tmp_path / name).write_text(name)
    files = {name: tmp_path / name for name in "ba"}
    pack(tmp_path / "1.zip", "x", files)
    (tmp_path / "a").touch()
    pack(tmp_path / "2.zip", "x", dict(reversed(files.items())))
    first, second = (tmp_path / f"{n}.zip" for n in (1, 2))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("url", ["https://github.com/a/b", ""])
def test_buttons_appear_with_a_repository_only(url):
    options = {"repository_url": url, "repository_branch": "main"}
    config = SimpleNamespace(html_theme_options=options)
    context = {"body": "", "pathto": lambda target, _: target}
    app = SimpleNamespace(config=config)
    page = "chapters/02_dual_representation"
    offer(app, page, "", context, doctree=object())
    for word in ("Binder", "Colab", "edit", "report a mistake"):
        assert (word in context["body"]) == bool(url)


@built
@each_chapter
def test_buttons_point_to_files_that_exist(chapter):
    """Binder and Colab read the branch that holds the folder notebooks/."""
    page = f"chapters/{chapter.path.stem}"
    links = dict(repository_links("https://github.com/a/b", "main", page))
    assert (ROOT / links["edit"].split("/edit/main/")[1]).is_file()
    for name in ("Binder", "Colab"):
        file = re.search(r"[\w]+\.ipynb$", links[name])[0]
        assert (HTML / "notebooks" / file).is_file()
        assert f"/{BRANCH}" in links[name]


def test_the_workflow_fills_the_branch_the_buttons_point_to():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    assert f"push --force origin HEAD:{BRANCH}" in workflow
    assert "path: _build/html/notebooks" in workflow


def test_another_hosts_repository_gets_no_colab():
    links = repository_links(
        "https://git.example.org/a/b", "main", "chapters/02_x"
    )
    assert [name for name, _ in links] == ["edit", "report a mistake"]


def test_translation_of_directives_and_roles():
    translate = Translation(
        ROOT / "chapters",
        {"eq-6-8": "6.8"}.get,
        lambda name: name.upper(),
        lambda label: f"the section {label}",
        {"bishop2006": ("Bishop", "2006")},
    )
    source = """```{math}
:label: eq-6-8
a = 1
```

See {eq}`eq-6-8`, {doc}`notation`, {cite:t}`bishop2006` and {ref}`here`.

```{index} Gram matrix
```

A *{term}`Gram matrix`* of {term}`kernels <kernel>`.

```{exercise-start} Name
:label: ex-name
```
"""
    assert translate(source) == (
        "$$\na = 1 \\tag{6.8}\n$$\n\nSee (6.8), *NOTATION*, Bishop (2006) and "
        "the section here.\n\nA *Gram matrix* of kernels.\n\n"
        "### Exercise: Name"
    )
    with pytest.raises(ValueError, match="no equation is labelled eq-none"):
        translate("{eq}`eq-none`")


def test_listing_shows_the_function():
    shown = listing(ROOT / "kernelbook" / "ridge.py", "fit_dual")
    assert shown.startswith("def fit_dual(")
    assert "Parameters" not in shown


def test_first_cell_names_the_repository_when_there_is_one():
    text = first_cell("T", "p.html", {"statsmodels"}, LIBRARY, "https://x/y")
    assert "git+https://x/y" in text and "statsmodels" in text
