"""What a reader can take along: notebooks, sources, the whole book.

The build writes, beside the pages,

    notebooks/02_dual_representation.ipynb    each chapter, plainly
    notebooks/kernelbook.zip                  the library, for pip
    kernelbook-html.zip                       all pages, to be read offline,
                                              the Chinese too if they are there
    kernelbook.epub                           the same for a reader's program
    kernelbook.pdf                            the book on paper, if it was set

Each chapter ends with links to them.  When ``repository: url`` is set in
``_config.yml``, links to edit the page and to report a mistake join them.
"""

import re
import shutil
import tomllib
import zipfile
from functools import cache
from pathlib import Path
from urllib.parse import quote

import nbformat

from press.epub import BOOK as EPUB
from press.notebooks import Translation, first_cell, notebook
from press.reader import CHAPTERS, NUMBERED, ROOT, Page, chapters
from press.translation import TRANSLATED, say, translated

BOOK = "kernelbook-html.zip"
LIBRARY = "kernelbook.zip"
PAPER = ROOT / "_build" / "pdf" / "kernelbook.pdf"
TO_FRONT = '<meta http-equiv="Refresh" content="0; url=chapters/index.html" />'


def offline(path):
    """A file as the archive has it.

    From a disk, no font can be preloaded, and the search can show no piece of
    the pages that it finds.
    """
    content = path.read_bytes().replace(b"SUMMARY: true", b"SUMMARY: false")
    return re.sub(rb'<link rel="preload" as="font"[^>]*>\n', b"", content)


def pack(target, folder, root, paths, read=Path.read_bytes):
    """A zip archive that is the same whenever and wherever it is made."""
    files = {path.relative_to(root).as_posix(): path for path in paths}
    with zipfile.ZipFile(target, "w", compresslevel=6) as archive:
        for name, path in sorted(files.items()):
            info = zipfile.ZipInfo(f"{folder}/{name}", (2026, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            archive.writestr(info, read(path), zipfile.ZIP_DEFLATED)


@cache
def on_paper():
    """Whether `make pdf` has set the book as it is now."""
    folders = [CHAPTERS, ROOT / "kernelbook", ROOT / "press"]
    files = [path for folder in folders for path in folder.rglob("*.*")]
    files = [f for f in files if f.suffix != ".pyc"] + [ROOT / "_toc.yml"]
    newest = max(path.stat().st_mtime for path in files)
    return PAPER.exists() and PAPER.stat().st_mtime > newest


def downloads(page):
    """Text and address, from the book's root, of what a page is offered as."""
    links = {
        say("notebook (.ipynb)"): f"notebooks/{page.split('/')[-1]}.ipynb",
        say("library (.zip)"): f"notebooks/{LIBRARY}",
        say("MyST source (.md)"): f"_sources/{page}.md",
        say("the whole book (.zip)"): f"../{BOOK}" if TRANSLATED else BOOK,
        say("for a reader's program (.epub)"): EPUB,
    }
    if on_paper():
        links[say("on paper (.pdf)")] = PAPER.name
    return [*links.items()][0 if NUMBERED.match(page) else 2 :]


def offer(app, pagename, templatename, context, doctree):
    """A line at the end of each page of the book."""
    if doctree is None:
        return
    pathto, options = context["pathto"], app.config.html_theme_options
    links = {text: pathto(p, 1) for text, p in downloads(pagename)}
    if url := (options.get("repository_url") or "").rstrip("/"):
        branch = options.get("repository_branch") or "main"
        links[say("edit")] = f"{url}/edit/{branch}/{pagename}.md"
        links[say("report a mistake")] = (
            f"{url}/issues/new?title={quote(pagename)}"
        )
    said = " · ".join(f'<a href="{links[text]}">{text}</a>' for text in links)
    shown = f"<p>{say('Take it with you: ')}{said}</p>"
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
    translate = Translation.of(app.env)
    for page in chapters():
        title = app.env.titles[page.name].astext()
        if TRANSLATED:
            page = Page(page.path, translated(page))
        made = notebook(page, translate, first_cell(title, page, LIBRARY))
        nbformat.write(made, folder / f"{page.path.stem}.ipynb")
    shutil.copytree(CHAPTERS / "data", folder / "data", dirs_exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    name = f"kernelbook-{project['project']['version']}"
    files = [ROOT / n for n in ("pyproject.toml", "README.md", "LICENSE")]
    files += library_files(ROOT / "kernelbook")
    pack(folder / LIBRARY, name, ROOT, files)
    if on_paper():
        shutil.copy(PAPER, out)
    else:
        (out / PAPER.name).unlink(missing_ok=True)
    # Jupyter Book writes this very page after this event.
    (out / "index.html").write_text(f"{TO_FRONT}\n", "utf-8")
    if not TRANSLATED:  # else when twins know each other
        pack_book(out)


def pack_book(folder):
    left = {BOOK, ".buildinfo"}
    files = [path for path in folder.rglob("*") if path.is_file()]
    files = [f for f in files if f.name not in left and f.suffix != ".map"]
    pack(folder / BOOK, "kernelbook", folder, files, read=offline)
