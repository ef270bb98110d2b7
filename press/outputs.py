"""The outputs on a page are those that were validated, or there is no page.

A chapter's outputs depend on its code cells, on the library and on the pinned
versions.  ``pytest chapters --executed`` leaves each chapter that has passed,
executed, in a folder named by a digest of all but the cells.  Change one line
of ``kernelbook`` and the book looks into an empty folder: nothing stale can be
shown.  As an extension this module hands them to the pages, and stops a build
when one is missing or says something else than its record in
``tests/expected``: what a build would run by itself, nobody has compared.
"""

import hashlib
import json
import sys
from functools import cache

import jupytext
import nbformat
from jupyter_cache import get_cache
from sphinx.errors import ExtensionError

from press.reader import ROOT, notebooks
from press.translation import LANGUAGE, TRANSLATED, translated

LIVE = '<div class="live-figure"'


@cache
def folder(root=ROOT):
    """Where executed chapters lie.

    Its name changes with the library, the data of the pages, pins and Python.
    """
    state = hashlib.sha256(sys.version.encode())
    library = root / "kernelbook"
    files = sorted([*library.rglob("*.py"), *library.rglob("*.js")])
    files += sorted((root / "chapters" / "data").glob("*"))
    files += sorted((root / "benchmarks").glob("*.json"))
    for path in [*files, root / "constraints.txt"]:
        state.update(path.relative_to(root).as_posix().encode())
        state.update(path.read_bytes())
    return root / "_build" / "executed" / state.hexdigest()[:12]


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def record(cells):
    """What is kept of cells: source, text, and that there is an image."""

    def lines(mime, text):
        live = mime == "text/html" and text.startswith(LIVE)
        picture = live or mime.startswith("image/")
        return ["(an image)"] if picture else text.splitlines(keepends=True)

    def kept(output):
        if output["output_type"] == "stream":
            return {output["name"]: lines("", output["text"])}
        return {mime: lines(mime, text) for mime, text in output.data.items()}

    return [
        {"source": c.source.splitlines(), "outputs": [*map(kept, c.outputs)]}
        for c in cells
    ]


def expected(path, root=ROOT):
    """The file with the record of a chapter."""
    return root / "tests" / "expected" / f"{path.stem}.json"


def is_validated(path, root=ROOT):
    """Whether the chapter has passed, as it is now, with this library."""
    executed = folder(root) / f"{path.stem}.ipynb"
    if not (executed.exists() and expected(path, root).exists()):
        return False
    said = json.loads(expected(path, root).read_text("utf-8"))
    new = [cell.source for cell in code(jupytext.read(path, fmt="md:myst"))]
    old = ["\n".join(cell["source"]) for cell in said]
    return new == old and record(code(nbformat.read(executed, 4))) == said


def use_validated_outputs(app, config):
    # The digest is part of a setting, so Sphinx re-reads every page when it
    # changes, even pages whose own file did not.
    config.nb_execution_cache_path = str(folder() / "cache")


def in_this_language(page, path):
    """The executed chapter, with the captions that the build will look for."""
    if not TRANSLATED:
        return path
    executed = nbformat.read(path, 4)
    new = jupytext.reads(translated(page), fmt="md:myst")
    for cell, said in zip(code(executed), code(new), strict=True):
        cell.metadata = said.metadata
    path = folder() / LANGUAGE / path.name
    path.parent.mkdir(exist_ok=True)
    nbformat.write(executed, path)
    return path


def hand_on(app):
    """Put what has passed where the build looks, or stop it."""
    names = [p.name for p in notebooks() if not is_validated(p.path)]
    if names:
        raise ExtensionError(
            f"not validated: {', '.join(names)}; `make book` runs and "
            "compares them first, README says how to do it by hand"
        )
    outputs = get_cache(app.config.nb_execution_cache_path)
    how = {"check_validity": False, "overwrite": True}
    for page in notebooks():
        path = folder() / f"{page.path.stem}.ipynb"
        outputs.cache_notebook_file(in_this_language(page, path), **how)
