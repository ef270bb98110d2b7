"""Chapters as plain notebooks, for readers without Sphinx.

A chapter's source is MyST: directives and roles that Jupyter by itself, Colab
or GitHub would show as they are typed.  Here they become ordinary Markdown:
equations with their printed numbers, listings with the source of the function,
references in words.  The first cell says what the notebook needs.
"""

import re
import textwrap

import jupytext
from nbformat import v4
from pybtex.database import parse_file
from pybtex.richtext import Text
from sphinx.pycode import ModuleAnalyzer

from press.numbers import printed_numbers, with_source_lines
from press.reader import CHAPTERS, Directive, Math, Page, said
from press.shorthand import not_here, without_sections
from press.translation import say

ROLE = re.compile(r"\{([a-z:]+)\}`([^`]+)`")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def listing(path, name):
    """The source of a function or method, as the page shows it."""
    _, first, last = ModuleAnalyzer.for_file(path, "").find_tags()[name]
    lines = path.read_text("utf-8").splitlines()[first - 1 : last]
    return textwrap.dedent(without_sections("\n".join(lines) + "\n")).rstrip()


def citations():
    """Author and year of every entry: bishop2006 -> Bishop, 2006."""
    found = {}
    for key, entry in parse_file(CHAPTERS / "references.bib").entries.items():
        people = entry.persons.get("author") or entry.persons.get("editor")
        last = [" ".join(person.last_names) for person in people]
        names = [str(Text.from_latex(name)) for name in last]
        who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        found[key] = (who, entry.fields.get("year", ""))
    return found


class Translation:
    """From the MyST of one chapter to the Markdown every notebook reads.

    ``words`` are shown for the equation, page, section or figure of that name,
    ``cited`` are authors and years by key.
    """

    def __init__(self, words, cited):
        self.words, self.cited = words, cited

    @classmethod
    def of(cls, env):
        """With the numbers and titles of a build."""
        titled = env.domains["std"].labels.items()
        words = {label: f"“{t}”" for label, (_, _, t) in titled if t}
        for numbers in env.toc_fignumbers.values():
            for key, number in numbers.get("figure", {}).items():
                words[key] = f"figure {'.'.join(map(str, number))}"
        for page, title in env.titles.items():
            words[page.split("/")[-1]] = title.astext()
        for label, number in printed_numbers(env).items():
            words[label] = f"({number})"
        return cls(not_here() | words, citations())

    def __call__(self, text):
        lines, made, done = text.split("\n"), [], 1
        for part in Page(CHAPTERS, text).parts:
            math = isinstance(part, Math) and part.display
            if part.line >= done and (math or isinstance(part, Directive)):
                made += [*lines[done - 1 : part.line - 1], self.block(part)]
                done = part.end
        text = "\n".join([*made, *lines[done - 1 :]])
        text = re.sub(r"^\(([\w-]+)\)=\n", "", text, flags=re.M)
        text = ROLE.sub(self.role, text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def block(self, part):
        if isinstance(part, Math):
            number = self.words.get(part.label, "").strip("()")
            one = number and r"\begin{align" not in part.latex
            tag = f" \\tag{{{number}}}" if one else ""
            return f"$$\n{part.latex}{tag}\n$$"
        name, argument = part.name, part.argument
        if name == "literalinclude":
            source = listing(CHAPTERS / argument, part.options["pyobject"])
            shown = argument.removeprefix("../")
            said = say("From {}:").format(f"`{shown}`")
            return f"{said}\n\n```python\n{source}\n```"
        if name == "exercise-start":
            return f"### {say('Exercise')}" + (
                f": {argument}" if argument else ""
            )
        if name == "solution-start":
            return f"#### {say('Solution')}"
        if name in ("index", "exercise-end", "solution-end"):
            return ""
        body = self(part.body)
        if name == "prf:theorem":
            return (
                f"**{say('Theorem')} ({argument or say('Theorem')}).** {body}"
            )
        return f"*{say('Proof')}.* {body}" if name.startswith("prf:") else body

    def role(self, match):
        name, content = match.groups()
        words, label = said(content)
        if name.startswith("cite"):
            people = [self.cited[key.strip()] for key in label.split(",")]
            if name == "cite:t":
                return ", ".join(f"{who} ({year})" for who, year in people)
            return f"({'; '.join(f'{who}, {year}' for who, year in people)})"
        known = words or self.words.get(label, label)
        if name == "eq":
            return f"({known.strip('()')})"
        if name == "doc":
            return f"*{known}*"
        if name in ("ref", "numref", "prf:ref"):
            return known
        return words or (content if name in ("term", "zh") else f"`{content}`")


def first_cell(title, page, library):
    """What the notebook is and what has to be installed before it runs."""
    what = say(
        "**{}**: a chapter of *Kernelbook: every equation runs*, as a "
        "notebook."
    ).format(title)
    needs = say(
        "To run it you need Python 3.11 or newer, Jupyter, and the book's "
        "library with what the chapters import. The library, `{}`, lies "
        "beside this notebook where you downloaded it; with it in the current "
        "folder, type"
    ).format(library)
    return f"""\
{what}

{needs}

```bash
pip install jupyterlab statsmodels "./{library}[figures,sklearn]"
```

{say("The page: {}").format(f"`{page.name}.html`")}."""


def notebook(page, translate, intro):
    """The chapter as a plain notebook, which begins with ``intro``."""
    cells = [v4.new_markdown_cell(intro)]
    for cell in jupytext.reads(with_source_lines(page), fmt="md:myst").cells:
        if cell.cell_type == "markdown":
            cells.append(v4.new_markdown_cell(translate(cell.source)))
        elif cell.cell_type == "code":
            tags = cell.metadata.get("tags", [])
            tags = [tag for tag in tags if not tag.startswith("hide-")]
            meta = {"tags": tags} if tags else {}
            cells.append(v4.new_code_cell(cell.source, metadata=meta))
    cells = [cell for cell in cells if cell.source]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"  # the same in every build
    about = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return v4.new_notebook(cells=cells, metadata=about)
