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
import shutil
import tomllib
import zipfile
from pathlib import Path
from urllib.parse import quote

import nbformat

from press.notebooks import Translation, first_cell, notebook
from press.reader import CHAPTERS, NUMBERED, ROOT, chapters

BOOK = "kernelbook-html.zip"
LIBRARY = "kernelbook.zip"
BRANCH = "notebooks"
TO_FRONT = '<meta http-equiv="Refresh" content="0; url=chapters/index.html" />'


def offline(path):
    """A file as the archive has it: from a disk no font can be preloaded."""
    content = path.read_bytes()
    if path.suffix != ".html":
        return content
    return re.sub(rb'<link rel="preload" as="font"[^>]*>\n', b"", content)


def pack(target, folder, root, paths, read=Path.read_bytes):
    """A zip archive that is the same whenever and wherever it is made."""
    files = {path.relative_to(root).as_posix(): path for path in paths}
    with zipfile.ZipFile(target, "w", compresslevel=6) as archive:
        for name, path in sorted(files.items()):
            info = zipfile.ZipInfo(f"{folder}/{name}", (2026, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            archive.writestr(info, read(path), zipfile.ZIP_DEFLATED)


def downloads(page):
    """Text and address, from the book's root, of what a page is offered as."""
    links = {
        "notebook (.ipynb)": f"notebooks/{page.split('/')[-1]}.ipynb",
        "library (.zip)": f"notebooks/{LIBRARY}",
        "MyST source (.md)": f"_sources/{page}.md",
        "the whole book (.zip)": BOOK,
    }
    return [*links.items()][0 if NUMBERED.match(page) else 2 :]


def repository_links(url, branch, page):
    """Text and address of what a repository makes possible.

    >>> urls = "https://github.com/a/b", "https://git.example.org/a/b", ""
    >>> [len(repository_links(url, "main", "chapters/02_x")) for url in urls]
    [4, 2, 0]
    """
    if not url:
        return []
    links = {
        "edit": f"{url}/edit/{branch}/{page}.md",
        "report a mistake": f"{url}/issues/new?title={quote(page)}",
    }
    github = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", url)
    if github and NUMBERED.match(page):
        name, file = github[1], f"{page.split('/')[-1]}.ipynb"
        binder = f"gh/{name}/{BRANCH}?urlpath=lab/tree/{file}"
        colab = f"github/{name}/blob/{BRANCH}/{file}"
        links["Binder"] = f"https://mybinder.org/v2/{binder}"
        links["Colab"] = f"https://colab.research.google.com/{colab}"
    return [*links.items()]


def offer(app, pagename, templatename, context, doctree):
    """A line at the end of each page of the book, or two."""
    if doctree is None:
        return
    pathto, options = context["pathto"], app.config.html_theme_options
    url = (options.get("repository_url") or "").rstrip("/")
    branch = options.get("repository_branch") or "main"
    shown = ""
    for words, links in {
        "Take it with you": [
            (t, pathto(p, 1)) for t, p in downloads(pagename)
        ],
        "Improve or run it": repository_links(url, branch, pagename),
    }.items():
        if links:
            said = " · ".join(
                f'<a href="{to}">{text}</a>' for text, to in links
            )
            shown += f"<p>{words}: {said}</p>"
    context["body"] += f'<footer class="take-away">{shown}</footer>'


def library_files(folder):
    """Everything of the library that is not made by running it."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in files if "__pycache__" not in path.parts]


def write_all(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    folder = out / "notebooks"
    folder.mkdir(exist_ok=True)
    url = app.config.html_theme_options.get("repository_url")
    translate = Translation.of(app.env)
    for page in chapters():
        title = app.env.titles[page.name].astext()
        made = notebook(page, translate, first_cell(title, page, LIBRARY, url))
        nbformat.write(made, folder / f"{page.path.stem}.ipynb")
    shutil.copytree(CHAPTERS / "data", folder / "data", dirs_exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    name = f"kernelbook-{project['project']['version']}"
    files = [ROOT / n for n in ("pyproject.toml", "README.md", "LICENSE")]
    files += library_files(ROOT / "kernelbook")
    pack(folder / LIBRARY, name, ROOT, files)
    needs = f"./{LIBRARY}[figures]\nscikit-learn\nstatsmodels\n"
    (folder / "requirements.txt").write_text(needs, "utf-8")
    # Jupyter Book writes this very page after this event.
    (out / "index.html").write_text(f"{TO_FRONT}\n", "utf-8")
    left = {BOOK, ".buildinfo"}
    files = [path for path in out.rglob("*") if path.is_file()]
    files = [f for f in files if f.name not in left and f.suffix != ".map"]
    pack(out / BOOK, "kernelbook", out, files, read=offline)
