"""The outputs on a page are those that the tests validated.

A chapter's outputs depend on its code cells, on the library and on the pinned
versions.  jupyter-cache looks at the cells only; so the cache lies in a folder
named by a digest of the rest.  Change one line of ``kernelbook`` and the book
looks into an empty folder: nothing stale can be shown.

The tests fill the cache (``tests/chapter_tests.py``); the build reads it.
"""

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def digest(root=ROOT):
    """Twelve hex digits that change with the library, the pins and Python."""
    state = hashlib.sha256(sys.version.encode())
    library = root / "kernelbook"
    files = sorted([*library.rglob("*.py"), *library.rglob("*.js")])
    for path in [*files, root / "constraints.txt"]:
        state.update(str(path.relative_to(root)).encode())
        state.update(path.read_bytes())
    return state.hexdigest()[:12]


def cache_path(root=ROOT):
    return root / "_build" / ".outputs" / digest(root)


def use_validated_outputs(app, config):
    # The digest is part of a setting, so Sphinx re-reads every page when it
    # changes, even pages whose own file did not.
    config.nb_execution_cache_path = str(cache_path())


def setup(app):
    app.connect("config-inited", use_validated_outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
