"""Chapters as plain notebooks, for readers without Sphinx.

A chapter's source is MyST: directives and roles that Jupyter by itself, Colab
or GitHub would show as they are typed.  Here they become ordinary Markdown:
equations with their printed numbers, listings with the source of the function,
references in words.  The first cell says what the notebook needs.
"""

import ast
import re
import textwrap
from dataclasses import dataclass

import jupytext
import nbformat
from pybtex.database import parse_file
from pybtex.richtext import Text

from press.numbers import printed_numbers, with_source_lines
from press.reader import CHAPTERS, Directive, Math, Page, said
from press.shorthand import not_here, without_sections

PACKAGES = {"sklearn": "scikit-learn", "statsmodels": "statsmodels"}
ROLE = re.compile(r"\{([a-z:]+)\}`([^`]+)`")


def listing(path, name):
    """The source of a function or method, as the page shows it."""
    source = path.read_text("utf-8")
    nodes = ast.parse(source).body
    for part in name.split("."):
        node = next(n for n in nodes if getattr(n, "name", None) == part)
        nodes = getattr(node, "body", [])
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = source.splitlines()[first - 1 : node.end_lineno]
    return textwrap.dedent(without_sections("\n".join(lines) + "\n")).rstrip()


def citations(bib=CHAPTERS / "references.bib"):
    """Author and year of every entry: bishop2006 -> Bishop, 2006."""
    found = {}
    for key, entry in parse_file(str(bib)).entries.items():
        people = entry.persons.get("author") or entry.persons.get("editor")
        names = [" ".join(person.last_names) for person in people]
        names = [str(Text.from_latex(name)) for name in names]
        who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        found[key] = (who, entry.fields.get("year", ""))
    return found


@dataclass
class Translation:
    """From the MyST of one chapter to the Markdown every notebook reads.

    Numbers of equations by label, titles of pages by name, words for labels,
    authors and years by key.
    """

    equations: dict[str, str]
    titles: dict[str, str]
    labels: dict[str, str]
    cited: dict[str, tuple[str, str]]

    @classmethod
    def of(cls, env):
        """With the numbers and titles of a build."""
        labels = {
            label: f"“{found[2]}”"
            for label, found in env.get_domain("std").labels.items()
            if found[2]
        }
        for numbers in env.toc_fignumbers.values():
            for key, number in numbers.get("figure", {}).items():
                labels[key] = f"figure {'.'.join(map(str, number))}"
        titles = {
            name.removeprefix("chapters/"): title.astext()
            for name, title in env.titles.items()
        }
        gone = not_here()
        numbers = {name: words.strip("()") for name, words in gone.items()}
        return cls(
            numbers | printed_numbers(env),
            gone | titles,
            gone | labels,
            citations(),
        )

    def __call__(self, text):
        lines, made, done = text.split("\n"), [], 1
        for part in Page(CHAPTERS, text).parts:
            if part.line >= done and self.is_block(part):
                made += [*lines[done - 1 : part.line - 1], self.block(part)]
                done = part.end
        text = "\n".join([*made, *lines[done - 1 :]])
        text = re.sub(r"^\(([\w-]+)\)=\n", "", text, flags=re.M)
        text = ROLE.sub(self.role, text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def is_block(self, part):
        return isinstance(part, Directive) or (
            isinstance(part, Math) and part.display
        )

    def block(self, part):
        if isinstance(part, Math):
            number = self.equations.get(part.label)
            tag = f" \\tag{{{number}}}" if number else ""
            if r"\begin{align" in part.latex:
                tag = ""
            return f"$$\n{part.latex}{tag}\n$$"
        name, argument = part.name, part.argument
        if name == "literalinclude":
            source = listing(CHAPTERS / argument, part.options["pyobject"])
            shown = argument.removeprefix("../")
            return f"From `{shown}`:\n\n```python\n{source}\n```"
        if name == "exercise-start":
            return f"### Exercise: {argument}" if argument else "### Exercise"
        if name == "solution-start":
            return "#### Solution"
        if name in ("index", "exercise-end", "solution-end"):
            return ""
        body = self(part.body)
        if name == "prf:theorem":
            return f"**Theorem ({argument or 'Theorem'}).** {body}"
        return f"*Proof.* {body}" if name.startswith("prf:") else body

    def role(self, match):
        name, content = match.groups()
        words, label = said(content)
        if name == "eq":
            if label not in self.equations:
                raise ValueError(f"no equation is labelled {label}")
            return f"({self.equations[label]})"
        if name == "doc":
            return f"*{words or self.titles[label]}*"
        if name.startswith("cite"):
            people = [self.cited[key.strip()] for key in label.split(",")]
            if name == "cite:t":
                return ", ".join(f"{who} ({year})" for who, year in people)
            return f"({'; '.join(f'{who}, {year}' for who, year in people)})"
        if name in ("ref", "numref", "prf:ref"):
            return words or self.labels.get(label, label)
        return words or (content if name in ("term", "zh") else f"`{content}`")


def needs(page):
    """The packages that the cells import, besides the usual ones."""
    imported = re.findall(
        r"^\s*(?:from|import) (\w+)",
        "\n".join(cell.source for cell in page.cells),
        re.M,
    )
    return sorted({PACKAGES[name] for name in imported if name in PACKAGES})


def first_cell(title, page, library, repository):
    """What the notebook is and what has to be installed before it runs."""
    more = " ".join(["", *needs(page)])
    text = f"""\
**{title}**: a chapter of *Kernelbook: every equation runs*, as a notebook.

To run it you need Python 3.11 or newer, Jupyter, and the book's library with
what this chapter imports. The library, `{library}`, lies beside this notebook
where you downloaded it; with it in the current folder, type

```bash
pip install jupyterlab "./{library}[figures]"{more}
```
"""
    if repository:
        text += f"""
or, without downloading anything (this also works in Colab, in a cell of its
own, with `%` in front),

```bash
pip install "kernelbook[figures] @ git+{repository}"{more}
```
"""
    return text + f"\nThe page: `{page.name}.html`."


def notebook(page, translate, intro):
    """The chapter as a plain notebook, which begins with ``intro``."""
    source = jupytext.reads(with_source_lines(page), fmt="md:myst")
    cells = [nbformat.v4.new_markdown_cell(intro)]
    for cell in source.cells:
        if cell.cell_type == "markdown":
            cells.append(nbformat.v4.new_markdown_cell(translate(cell.source)))
        elif cell.cell_type == "code":
            tags = cell.metadata.get("tags", [])
            tags = [tag for tag in tags if not tag.startswith("hide-")]
            meta = {"tags": tags} if tags else {}
            cells.append(nbformat.v4.new_code_cell(cell.source, metadata=meta))
    cells = [cell for cell in cells if cell.source]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # the same in every build
    kernel = {"display_name": "Python 3", "language": "python"}
    made = nbformat.v4.new_notebook(
        cells=cells,
        metadata={
            "kernelspec": kernel | {"name": "python3"},
            "language_info": {"name": "python"},
        },
    )
    nbformat.validate(made)
    return made
