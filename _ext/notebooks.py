"""Chapters as plain notebooks, for readers without Sphinx.

A chapter's source is MyST: directives and roles that Jupyter by itself, Colab
or GitHub would show as they are typed.  Here they become ordinary Markdown:
equations with their printed numbers, listings with the source of the function,
references in words.  The first cell says what the notebook needs.
"""

import ast
import re
import textwrap
from pathlib import Path

import jupytext
import nbformat
from listings import without_sections
from pybtex.database import parse_file

FENCE = r"^(?P<f>`{3,}|:{3,})\{%s\}(?P<argument>[^\n]*)\n(?P<body>.*?)^(?P=f)$"
NEEDS = {"kernelbook", "matplotlib", "numpy", "scipy"}
PACKAGES = {"sklearn": "scikit-learn"}


def directive(name, pattern=FENCE):
    return re.compile(pattern % name, re.M | re.S)


def options(body):
    """The ``:name: value`` lines of a directive, and the rest."""
    lines, found = body.split("\n"), {}
    while lines and (match := re.match(r":([\w-]+):\s*(.*)$", lines[0])):
        found[match[1]] = match[2]
        lines.pop(0)
    return found, "\n".join(lines).strip("\n")


def listing(path, name, dedent=False):
    """The source of a function or method, as the page shows it."""
    source = path.read_text("utf-8")
    nodes = ast.parse(source).body
    for part in name.split("."):
        node = next(n for n in nodes if getattr(n, "name", None) == part)
        nodes = getattr(node, "body", [])
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = source.splitlines()[first - 1 : node.end_lineno]
    return textwrap.dedent(without_sections("\n".join(lines) + "\n")).rstrip()


def citations(bib):
    """Author and year of every entry: bishop2006 -> Bishop, 2006."""
    found = {}
    for key, entry in parse_file(str(bib)).entries.items():
        people = entry.persons.get("author") or entry.persons.get("editor")
        names = [" ".join(person.last_names) for person in people]
        who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        who = re.sub(r"[{}]|\\[\"'`^~]", "", who)
        found[key] = (who, entry.fields.get("year", ""))
    return found


class Translation:
    """From the MyST of one chapter to the Markdown every notebook reads.

    ``equation``, ``title`` and ``target`` give the printed number of an
    equation, the title of a page and the words for a label.
    """

    def __init__(self, folder, equation, title, target, cited):
        self.folder = folder
        self.equation, self.title, self.target = equation, title, target
        self.cited = cited

    def __call__(self, text):
        for name, rule in [
            ("math", self.math),
            ("literalinclude", self.code),
            ("prf:theorem", self.theorem),
            ("prf:[a-z]+", self.proof),
            ("list-table", lambda match: options(match["body"])[1]),
            ("index", lambda match: ""),
        ]:
            text = directive(name).sub(rule, text)
        text = re.sub(
            r"^`{3,}\{(exercise|solution)-start\}([^\n]*)\n(.*?)^`{3,}$",
            self.gate,
            text,
            flags=re.M | re.S,
        )
        text = re.sub(
            r"^`{3,}\{(?:exercise|solution)-end\}\n`{3,}$",
            "",
            text,
            flags=re.M,
        )
        text = re.sub(r"^\(([\w-]+)\)=\n", "", text, flags=re.M)
        text = re.sub(r"\{([a-z:]+)\}`([^`]+)`", self.role, text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def math(self, match):
        about, body = options(match["body"])
        number = self.equation(about.get("label", ""))
        tag = f" \\tag{{{number}}}" if number else ""
        if r"\begin{align" in body:
            body, tag = body.rstrip(), ""
        return f"$$\n{body}{tag}\n$$"

    def code(self, match):
        about, _ = options(match["body"])
        name = match["argument"].strip()
        source = listing(self.folder / name, about["pyobject"])
        shown = name.removeprefix("../")
        return f"From `{shown}`:\n\n```python\n{source}\n```"

    def theorem(self, match):
        _, body = options(match["body"])
        name = match["argument"].strip() or "Theorem"
        return f"**Theorem ({name}).** {body}"

    def proof(self, match):
        return f"*Proof.* {options(match['body'])[1]}"

    def gate(self, match):
        kind, argument = match[1], match[2].strip()
        if kind == "exercise":
            return f"### Exercise: {argument}" if argument else "### Exercise"
        return "#### Solution"

    def role(self, match):
        name, content = match[1], match[2]
        shown = re.fullmatch(r"(.+?)\s*<(.+)>", content, re.S)
        words, label = shown.groups() if shown else (None, content)
        if name == "eq":
            number = self.equation(label)
            if number is None:
                raise ValueError(f"no equation is labelled {label}")
            return f"({number})"
        if name == "doc":
            return f"*{words or self.title(label)}*"
        if name.startswith("cite"):
            people = [self.cited[key.strip()] for key in label.split(",")]
            if name == "cite:t":
                return ", ".join(f"{who} ({year})" for who, year in people)
            return f"({'; '.join(f'{who}, {year}' for who, year in people)})"
        if name in ("ref", "numref", "prf:ref"):
            return words or self.target(label)
        if name in ("term", "zh"):
            return words or content
        return words or f"`{content}`"


def imports(notebook):
    """The packages that the code cells import, without Python's own."""
    names = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            names |= set(
                re.findall(r"^\s*(?:from|import) (\w+)", cell.source, re.M)
            )
    return names


def first_cell(title, page, needs, library, repository):
    """What the notebook is and what has to be installed before it runs."""
    needs = " ".join(sorted(needs))
    text = f"""\
**{title}**: a chapter of *Kernelbook: every equation runs*, as a notebook.

To run it you need Python 3.11 or newer, Jupyter, and the book's library with
what this chapter imports. The library, `{library}`, lies beside this notebook
where you downloaded it; with it in the current folder, type

```bash
pip install jupyterlab "./{library}[figures]" {needs}
```
"""
    if repository:
        text += f"""
or, without downloading anything (this also works in Colab, in a cell of its
own, with `%` in front),

```bash
pip install "kernelbook[figures] @ git+{repository}" {needs}
```
"""
    return text.replace(" \n```", "\n```") + f"\nThe page: `{page}`."


def notebook(path, translate, intro):
    """The chapter as a plain notebook, its first cell made by ``intro``."""
    source = jupytext.read(path, fmt="md:myst")
    needs = {
        PACKAGES.get(name, name)
        for name in imports(source) & {"sklearn", "statsmodels"}
    }
    cells = [nbformat.v4.new_markdown_cell(intro(needs))]
    for cell in source.cells:
        if cell.cell_type == "markdown":
            cells.append(nbformat.v4.new_markdown_cell(translate(cell.source)))
        elif cell.cell_type == "code":
            tags = [
                tag
                for tag in cell.metadata.get("tags", [])
                if not tag.startswith("hide-")
            ]
            meta = {"tags": tags} if tags else {}
            cells.append(nbformat.v4.new_code_cell(cell.source, metadata=meta))
    cells = [c for c in cells if c.source]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # the same in every build
    made = nbformat.v4.new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {
                "display_name": "Python 3",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        },
    )
    nbformat.validate(made)
    return made


def bibliography(root):
    return citations(Path(root) / "chapters" / "references.bib")
