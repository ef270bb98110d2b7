r"""The one reader of the book's pages.

A page is MyST.  myst-parser's own tokens say what stands in it; here they
become a flat list of parts in the order of reading, each with the line it
starts on and the section it is in:

    Heading    with the names that lead to it
    Prose      a paragraph, an item, a cell of a table: its text and its roles
    Math       inline or displayed, in every syntax that builds:
               $…$, $$…$$, $$…$$ (label), ```{math}, \begin{align}
    Cell       of code, with its tags and what is said about its figure
    Directive  any other; what it holds is read too and follows it

What is done with a page, tests, extensions and tools decide.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from docutils.nodes import make_id
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

ROOT = Path(__file__).parents[1]
CHAPTERS = ROOT / "chapters"
NUMBERED = re.compile(r"chapters/(\d\d)_")
# Directives whose body is no MyST, or none of the book's text.
OPAQUE = {"bibliography", "code", "eval-rst", "index", "literalinclude"}
DISPLAYED = {"math_block", "math_block_label", "amsmath"}


@dataclass(frozen=True, kw_only=True)
class Part:
    """Something on a page: its first line, from 1, and the one after it."""

    line: int
    end: int
    sections: tuple["Heading", ...] = field(default=(), repr=False)
    inside: str = ""  # the label of the exercise that is being solved

    @property
    def section(self) -> str:
        return self.sections[-1].title if self.sections else ""


@dataclass(frozen=True, kw_only=True)
class Heading(Part):
    level: int
    title: str
    names: tuple[str, ...] = ()

    @property
    def anchors(self) -> tuple[str, ...]:
        return (*self.names, make_id(self.title))


@dataclass(frozen=True, kw_only=True)
class Prose(Part):
    text: str


@dataclass(frozen=True, kw_only=True)
class Role(Part):
    """``{name}`words <target>```."""

    name: str
    words: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Math(Part):
    """LaTeX, without white space around it; it starts on line ``at``."""

    latex: str
    at: int
    label: str = ""
    display: bool = True


@dataclass(frozen=True, kw_only=True)
class Directive(Part):
    name: str
    argument: str
    options: dict[str, Any]
    body: str
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Cell(Part):
    """A code cell; what is said about it is in ``metadata``."""

    source: str
    metadata: dict[str, Any]

    @property
    def tags(self) -> list[str]:
        return list(self.metadata.get("tags", []))

    @property
    def checks(self) -> list[str]:
        """Labels of what it checks."""
        prefix = "check-"
        return [t[len(prefix) :] for t in self.tags if t.startswith(prefix)]

    def about(self, what: str, name: str) -> str:
        """``figure, caption``, ``figure, name``, ``image, alt``, if given."""
        found = self.metadata.get("mystnb", {}).get(what, {}).get(name, "")
        return " ".join(str(found).split())

    @cached_property
    def tree(self) -> list[ast.AST]:
        return list(ast.walk(ast.parse(self.source)))

    @cached_property
    def calls(self) -> set[str]:
        """What it calls: ``ridge.predict``, or just ``predict``."""
        called = [n.func for n in self.tree if isinstance(n, ast.Call)]
        names = [ast.unparse(function) for function in called]
        plain = [name for name in names if re.fullmatch(r"[\w.]+", name)]
        return {".".join(name.split(".")[-2:]) for name in plain}

    @cached_property
    def names(self) -> set[str]:
        """Everything like ``module.name`` in it, called or not."""
        return {
            f"{node.value.id}.{node.attr}"
            for node in self.tree
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
        }

    @property
    def asserts(self) -> bool:
        """Whether it asserts anything that could be false."""
        return any(
            isinstance(node, ast.Assert)
            and not isinstance(node.test, ast.Constant)
            for node in self.tree
        ) or any(
            n.rpartition(".")[2].startswith("assert_") for n in self.calls
        )

    @property
    def draws(self) -> bool:
        """Whether it makes a figure."""
        return not {"plt.subplots", "plt.figure"}.isdisjoint(self.calls)


@dataclass(frozen=True)
class Place:
    """Somewhere one can point to, and the code cells there."""

    title: str
    sort: str  # section, equation, theorem, figure or exercise
    part: Part
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Page:
    """A page of the book and what it says."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        """As Sphinx calls it: chapters/02_dual_representation."""
        return self.path.relative_to(ROOT).with_suffix("").as_posix()

    @property
    def number(self) -> str:
        """Two digits for a chapter; else nothing."""
        match = NUMBERED.match(self.name)
        return match[1] if match else ""

    @property
    def is_notebook(self) -> bool:
        return self.text.startswith("---\njupytext:")

    @cached_property
    def parts(self) -> list[Part]:
        return list(Parts().read(self.text))

    def of(self, kind: type[Part]) -> list[Any]:
        return [part for part in self.parts if type(part) is kind]

    @property
    def headings(self) -> list[Heading]:
        return self.of(Heading)

    @property
    def cells(self) -> list[Cell]:
        return self.of(Cell)

    @property
    def equations(self) -> list[Math]:
        """Displayed and labelled."""
        return [math for math in self.of(Math) if math.label]

    def directives(self, name: str) -> list[Directive]:
        found: list[Directive] = self.of(Directive)
        return [one for one in found if re.fullmatch(name, one.name)]

    def roles(self, name: str) -> list[Role]:
        found: list[Role] = self.of(Role)
        return [role for role in found if re.fullmatch(name, role.name)]

    @cached_property
    def checks(self) -> dict[str, list[Cell]]:
        """The cells that check a label."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            for label in cell.checks:
                found.setdefault(label, []).append(cell)
        return found

    @cached_property
    def places(self) -> dict[str, Place]:
        """Where one can point to, by anchor."""
        found: dict[str, Place] = {}

        def note(anchor: str, title: str, sort: str, part: Part) -> None:
            if anchor and anchor not in found:
                cells = tuple(self._cells_at(anchor, part))
                found[anchor] = Place(title, sort, part, cells)

        for part in self.parts:
            if isinstance(part, Heading):
                for anchor in part.anchors:
                    note(anchor, part.title, "section", part)
            elif isinstance(part, Math):
                note(part.label, part.section, "equation", part)
            elif isinstance(part, Cell):
                name = part.about("figure", "name")
                note(name, name, "figure", part)
            elif isinstance(part, Directive):
                exercise = part.name.startswith("exercise")
                sort = "exercise" if exercise else "theorem"
                note(part.label, part.argument or part.label, sort, part)
        return found

    def _cells_at(self, anchor: str, part: Part) -> Iterator[Cell]:
        """In a section, in a solution, of a figure, or checking a label."""
        for cell in self.cells:
            if (
                any(part is heading for heading in cell.sections)
                or part is cell
                or anchor in (cell.inside, *cell.checks)
            ):
                yield cell


class Parts:
    """Reads a text from top to bottom, keeping in mind where it is."""

    def __init__(self) -> None:
        self.sections: tuple[Heading, ...] = ()
        self.names: list[str] = []
        self.solved = ""

    def read(self, text: str, offset: int = 0) -> Iterator[Part]:
        tokens = parser().parse(text)
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token.map is None:
                continue
            line = offset + token.map[0] + 1
            where = {
                "line": line,
                "end": offset + token.map[1] + 1,
                "sections": self.sections,
                "inside": self.solved,
            }
            if token.type == "myst_target":
                self.names.append(token.content)
            elif token.type == "inline" and before is not None:
                yield from self._inline(token, before, where)
            elif token.type in DISPLAYED:
                yield math(token.content, token.info, where, line)
            elif found := re.match(r"\{([\w:-]+)\}(.*)", token.info):
                yield from self._directive(token, found, where)

    def _inline(
        self, token: Token, before: Token, where: dict[str, Any]
    ) -> Iterator[Part]:
        text = token.content
        if before.type == "heading_open":
            level = int(before.tag[1])
            names, self.names = tuple(self.names), []
            heading = Heading(**where, level=level, title=text, names=names)
            above = [one for one in self.sections if one.level < level]
            self.sections = (*above, heading)
            yield heading
        else:
            yield Prose(**where, text=text)
        cursor = 0
        for child in token.children or []:
            cursor = max(text.find(child.content, cursor), cursor)
            line = where["line"] + text.count("\n", 0, cursor)
            here = where | {"line": line, "end": line + 1}
            if child.type.startswith("math_inline"):
                display = child.type == "math_inline_double"
                latex = child.content.strip()
                yield Math(**here, latex=latex, at=line, display=display)
            elif child.type == "myst_role":
                words, target = said(child.content)
                name = child.meta["name"]
                yield Role(**here, name=name, words=words, target=target)

    def _directive(
        self, token: Token, found: re.Match[str], where: dict[str, Any]
    ) -> Iterator[Part]:
        name, argument = found[1], found[2].strip()
        options, body, skipped = split(token.content)
        label = str(options.get("label", options.get("name", "")))
        if name == "code-cell":
            yield Cell(**where, source=body.rstrip("\n"), metadata=options)
        elif name == "math":
            yield math(body, label, where, where["line"] + 1 + skipped)
        else:
            if name.startswith("solution"):
                self.solved = argument if name == "solution-start" else ""
            yield Directive(
                **where,
                name=name,
                argument=argument,
                options=options,
                body=body,
                label=label,
            )
            if name not in OPAQUE:
                yield from self.read(body, where["line"] + skipped)


def math(content: str, label: str, where: dict[str, Any], line: int) -> Math:
    """What is displayed; ``line`` is that of its content."""
    before = content[: len(content) - len(content.lstrip())]
    at = line + before.count("\n")
    return Math(**where, latex=content.strip(), at=at, label=label)


def said(content: str) -> tuple[str, str]:
    """What a role shows, if it says so, and what it points to."""
    match = re.fullmatch(r"(.+?)\s*<([^<>]+)>", content, re.S)
    return (match[1], match[2]) if match else ("", content)


def split(content: str) -> tuple[dict[str, Any], str, int]:
    """Options of a directive, its body, and how many lines come before it."""
    lines = content.split("\n")
    end = 0
    if lines[0] == "---":
        end = lines.index("---", 1)
        options = yaml.safe_load("\n".join(lines[1:end])) or {}
        end += 1
    else:
        while re.match(r":[\w-]+:", lines[end]):
            end += 1
        pairs = [re.sub("^:([^:]+):", r"\1:", line) for line in lines[:end]]
        options = yaml.safe_load("\n".join(pairs)) or {}
    while end < len(lines) - 1 and not lines[end].strip():
        end += 1
    return options, "\n".join(lines[end:]), end


@cache
def parser() -> Any:
    """myst-parser, with the extensions that the book is built with."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    wanted = {*config["parse"]["myst_enable_extensions"]} - {"linkify"}
    settings = MdParserConfig(
        enable_extensions=wanted, dmath_double_inline=True
    )
    return create_md_parser(settings, RendererHTML)


# The book: what _toc.yml names ----------------------------------------------


@cache
def page(name: str) -> Page:
    """A page by its name in _toc.yml."""
    path = ROOT / f"{name}.md"
    return Page(path, path.read_text("utf-8"))


@cache
def toc() -> list[str]:
    """The pages of _toc.yml, in order, as paths without suffix."""
    book = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    files = [entry["file"] for p in book["parts"] for entry in p["chapters"]]
    return [book["root"], *files]


def pages() -> list[Page]:
    return [page(name) for name in toc()]


def chapters() -> list[Page]:
    """The numbered pages."""
    return [page for page in pages() if page.number]


def notebooks() -> list[Page]:
    """The pages that run."""
    return [page for page in pages() if page.is_notebook]


def left_out() -> list[Page]:
    """Chapters that lie beside the others but are not in _toc.yml."""
    files = sorted(CHAPTERS.glob("[0-9][0-9]_*.md"))
    names = [f"{CHAPTERS.name}/{path.stem}" for path in files]
    return [page(name) for name in names if name not in toc()]


@cache
def find(name: str) -> Page | None:
    """A page of the book: a chapter by its number, another by its stem."""
    for page in pages():
        if name in (page.number, page.path.stem):
            return page
    return None
