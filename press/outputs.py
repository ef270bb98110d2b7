"""The outputs on a page are those that were validated, or there is no page.

    python -m press.outputs FOLDER    hand on executed chapters: those that
                                      have passed their tests lie in FOLDER

A chapter's outputs depend on its code cells, on the library and on the pinned
versions.  jupyter-cache looks at the cells only; so the cache lies in a folder
named by a digest of the rest.  Change one line of ``kernelbook`` and the book
looks into an empty folder: nothing stale can be shown.  As an extension this
module tells Sphinx which folder, and stops a build for which it is not full:
what a build would run by itself, nobody has compared.
"""

import hashlib
import sys
from pathlib import Path

import jupytext
import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from sphinx.errors import ExtensionError

from press.reader import ROOT, notebooks

VALIDATED = {"validated": True}


def digest(root=ROOT):
    """Twelve hex digits that change with the library, the pins and Python."""
    state = hashlib.sha256(sys.version.encode())
    library = root / "kernelbook"
    files = sorted([*library.rglob("*.py"), *library.rglob("*.js")])
    for path in [*files, root / "constraints.txt"]:
        state.update(path.relative_to(root).as_posix().encode())
        state.update(path.read_bytes())
    return state.hexdigest()[:12]


def cache_path(root=ROOT):
    return root / "_build" / ".outputs" / digest(root)


def is_validated(notebook, root=ROOT):
    """Whether these cells have passed with this library."""
    try:
        found = get_cache(cache_path(root)).match_cache_notebook(notebook)
    except KeyError:
        return False
    return VALIDATED.items() <= (found.data or {}).items()


def hand_on(folder, root=ROOT):
    """Put executed notebooks where the build looks; gives their number."""
    cache = get_cache(cache_path(root))
    paths = sorted(Path(folder).glob("*.ipynb"))
    for path in paths:
        bundle = CacheBundleIn(
            nbformat.read(path, 4), path.name, data=VALIDATED
        )
        cache.cache_notebook_bundle(
            bundle, check_validity=False, overwrite=True
        )
        path.unlink()
    return len(paths)


def use_validated_outputs(app, config):
    # The digest is part of a setting, so Sphinx re-reads every page when it
    # changes, even pages whose own file did not.
    config.nb_execution_cache_path = str(cache_path())


def refuse_others(app):
    missing = [
        page.name
        for page in notebooks()
        if not is_validated(jupytext.read(page.path, fmt="md:myst"))
    ]
    if missing:
        raise ExtensionError(
            f"not validated: {', '.join(missing)}; `make book` runs and "
            "compares them first, README says how to do it by hand"
        )


def setup(app):
    app.connect("config-inited", use_validated_outputs)
    app.connect("builder-inited", refuse_others)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    print(f"{hand_on(sys.argv[1])} chapters handed on to the pages")
