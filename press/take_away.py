"""What a reader can take along: notebooks, sources, the whole book.

The build writes, beside the pages,

    notebooks/02_dual_representation.ipynb    each chapter, plainly
    notebooks/kernelbook.zip                  the library, for pip
    notebooks/requirements.txt                for Binder
    kernelbook-html.zip                       all pages, to be read offline

Each chapter ends with links to them.  When ``repository: url`` is set in
``_config.yml``, links to edit the page, to report a mistake and to run the
notebook on Binder or Colab join them.  Those two services fetch notebooks from
the branch ``notebooks`` of the repository, onto which the publishing workflow
puts the folder of that name.
"""

import re
import tomllib
import zipfile
from pathlib import Path
from urllib.parse import quote

import nbformat

from press.notebooks import Translation, first_cell, notebook
from press.reader import NUMBERED, ROOT, Page

BOOK = "kernelbook-html.zip"
LIBRARY = "kernelbook.zip"
BRANCH = "notebooks"
PRELOAD = re.compile(rb'<link rel="preload" as="font"[^>]*>\n')


def offline(path):
    """A file as the archive has it: from a disk no font can be preloaded."""
    content = path.read_bytes()
    return PRELOAD.sub(b"", content) if path.suffix == ".html" else content


def pack(target, folder, root, paths, read=Path.read_bytes):
    """A zip archive that is the same whenever and wherever it is made."""
    files = {path.relative_to(root).as_posix(): path for path in paths}
    with zipfile.ZipFile(
        target, "w", zipfile.ZIP_DEFLATED, compresslevel=6
    ) as archive:
        for name, path in sorted(files.items()):
            info = zipfile.ZipInfo(f"{folder}/{name}", (2026, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, read(path))


def repository_links(url, branch, page):
    """Text and address of what a repository makes possible.

    >>> for link in repository_links("https://github.com/a/b", "main",
    ...                              "chapters/02_dual"):
    ...     print(*link)
    edit https://github.com/a/b/edit/main/chapters/02_dual.md
    report a mistake https://github.com/a/b/issues/new?title=chapters/02_dual
    Binder https://mybinder.org/v2/gh/a/b/notebooks?urlpath=lab/tree/02_dual.ipynb
    Colab https://colab.research.google.com/github/a/b/blob/notebooks/02_dual.ipynb
    >>> repository_links("", "main", "chapters/02_dual")
    []
    """
    url = url.rstrip("/")
    if not url:
        return []
    links = [
        ("edit", f"{url}/edit/{branch}/{page}.md"),
        ("report a mistake", f"{url}/issues/new?title={quote(page)}"),
    ]
    github = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", url)
    if github and NUMBERED.match(page):
        name, file = github[1], f"{page.split('/')[-1]}.ipynb"
        binder = f"{name}/{BRANCH}?urlpath=lab/tree/{file}"
        colab = f"github/{name}/blob/{BRANCH}/{file}"
        links += [
            ("Binder", f"https://mybinder.org/v2/gh/{binder}"),
            ("Colab", f"https://colab.research.google.com/{colab}"),
        ]
    return links


def downloads(page):
    """Text and address, from the book's root, of what a page is offered as."""
    links = [
        ("notebook (.ipynb)", f"notebooks/{page.split('/')[-1]}.ipynb"),
        ("library (.zip)", f"notebooks/{LIBRARY}"),
    ]
    return [
        *(links if NUMBERED.match(page) else []),
        ("MyST source (.md)", f"_sources/{page}.md"),
        ("the whole book (.zip)", BOOK),
    ]


def repository(config):
    options = config.html_theme_options
    return (
        options.get("repository_url") or "",
        options.get("repository_branch") or "main",
    )


def offer(app, pagename, templatename, context, doctree):
    """A line at the end of each page of the book."""
    # The theme's own menu holds two of these, and needs a script.
    context["header_buttons"] = [
        button
        for button in context.get("header_buttons", [])
        if button.get("label") not in ("download-buttons", "launch-buttons")
    ]
    if doctree is None:
        return
    here = [(text, context["pathto"](p, 1)) for text, p in downloads(pagename)]
    url, branch = repository(app.config)
    there = repository_links(url, branch, pagename)
    shown = "".join(
        f"<p>{name}: "
        + " · ".join(f'<a href="{url}">{text}</a>' for text, url in links)
        + "</p>"
        for name, links in [
            ("Take it with you", here),
            ("Improve or run it", there),
        ]
        if links
    )
    context["body"] += f'<footer class="take-away">{shown}</footer>'


def is_older(made, page):
    return not made.exists() or made.stat().st_mtime < page.stat().st_mtime


def write_notebooks(app, folder):
    """A notebook for each chapter whose page this build has written."""
    url, _ = repository(app.config)
    translate = Translation.of(app.env)
    for docname in sorted(filter(NUMBERED.match, app.env.found_docs)):
        path = folder / f"{docname.split('/')[-1]}.ipynb"
        if is_older(path, folder.parent / f"{docname}.html"):
            source = ROOT / f"{docname}.md"
            page = Page(source, source.read_text("utf-8"))
            title = app.env.titles[docname].astext()
            intro = first_cell(title, page, LIBRARY, url)
            nbformat.write(notebook(page, translate, intro), path)


def library_files(folder):
    """Everything of the library that is not made by running it."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]


def write_library(folder):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    name = f"kernelbook-{project['project']['version']}"
    files = [ROOT / n for n in ("pyproject.toml", "README.md", "LICENSE")]
    files += library_files(ROOT / "kernelbook")
    pack(folder / LIBRARY, name, ROOT, files)
    (folder / "requirements.txt").write_text(
        f"./{LIBRARY}[figures]\nscikit-learn\nstatsmodels\n", "utf-8"
    )


def write_all(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    folder = out / "notebooks"
    folder.mkdir(exist_ok=True)
    write_notebooks(app, folder)
    write_library(folder)
    # Jupyter Book writes this very page after this event.
    (out / "index.html").write_text(
        '<meta http-equiv="Refresh" content="0; url=chapters/index.html" />\n',
        "utf-8",
    )
    pages = [
        path
        for path in out.rglob("*")
        if path.is_file()
        and path.name not in (BOOK, ".buildinfo")
        and path.suffix != ".map"
    ]
    pack(out / BOOK, "kernelbook", out, pages, read=offline)


def setup(app):
    app.connect("html-page-context", offer, priority=900)
    app.connect("build-finished", write_all, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
