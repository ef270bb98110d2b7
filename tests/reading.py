"""Read the book as data: its chapters, equations and cells."""

import re
from dataclasses import dataclass
from pathlib import Path

import jupytext
import yaml

ROOT = Path(__file__).parents[1]
CHAPTERS = ROOT / "chapters"

LABELLED_MATH = re.compile(
    r"^```\{math\}\n:label: (?P<label>\S+)\n(?P<latex>.*?)^```", re.M | re.S
)


def toc():
    """The pages of _toc.yml, in order, as paths without suffix."""
    book = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    files = [entry["file"] for p in book["parts"] for entry in p["chapters"]]
    return [book["root"], *files]


def chapters():
    """Numbered chapters of the book, in the order of the table of contents."""
    return [Chapter(ROOT / f"{f}.md") for f in toc() if is_chapter(f)]


def is_chapter(file):
    return re.match(r"chapters/\d\d_", file) is not None


def notebooks():
    """Every page of the book that runs: chapters, and experiments."""
    pages = [Chapter(ROOT / f"{file}.md") for file in toc()]
    return [page for page in pages if page.text.startswith("---\njupytext:")]


@dataclass(frozen=True)
class Chapter:
    path: Path

    @property
    def text(self):
        return self.path.read_text("utf-8")

    @property
    def equations(self):
        """Label and LaTeX of every labelled display equation."""
        found = LABELLED_MATH.finditer(self.text)
        return [(match["label"], match["latex"].strip()) for match in found]

    @property
    def code_cells(self):
        notebook = jupytext.read(self.path, fmt="md:myst")
        return [c for c in notebook.cells if c.cell_type == "code"]

    @property
    def checks(self):
        """The source of the checking cells, by the label they check."""
        return {
            tag.removeprefix("check-"): cell.source
            for cell in self.code_cells
            for tag in cell.metadata.get("tags", [])
            if tag.startswith("check-")
        }
