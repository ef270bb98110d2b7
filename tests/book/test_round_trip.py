"""A chapter opened in JupyterLab and saved is the same file.

Here jupytext reads and writes it; `make check-lab` asks JupyterLab itself.
"""

from pathlib import Path

import jupytext
import pytest
from ipykernel.kernelspec import get_kernel_dict
from jupytext.config import load_jupytext_config

CHAPTERS = Path(__file__).parents[2] / "chapters"
PAGES = [
    path
    for path in sorted(CHAPTERS.glob("*.md"))
    if path.read_text("utf-8").startswith("---\njupytext:")
]


def saved(text, where):
    """The text as JupyterLab leaves it, which notes the kernel it started."""
    config = load_jupytext_config(str(where))
    notebook = jupytext.reads(text, fmt="md", config=config)
    kernel = get_kernel_dict()
    notebook.metadata["kernelspec"] = {
        "display_name": kernel["display_name"],
        "language": kernel["language"],
        "name": "python3",
    }
    notebook.metadata["language_info"] = {"pygments_lexer": "ipython3"}
    return jupytext.writes(notebook, fmt="md", config=config)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_open_and_save_changes_nothing(path):
    text = path.read_bytes().decode("utf-8")
    assert saved(text, path) == text, (
        f"run `.venv/bin/jupytext --to md:myst chapters/{path.name}`"
    )
