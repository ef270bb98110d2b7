r"""The one reader of the book's pages.

A page is MyST.  myst-parser's own tokens say what stands in it; here they
become a flat list of parts in the order of reading, each with the line it
starts on and the section it is in:

    Heading    with the names that lead to it
    Words      of a paragraph, an item, a cell of a table, as written; and
               of captions, alternative texts and titles
    Role       in such words
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
from itertools import dropwhile
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils.nodes import make_id
from jupytext.myst import parse_directive_options
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
    label: str = ""

    @property
    def section(self) -> str:
        return self.sections[-1].title if self.sections else ""


@dataclass(frozen=True, kw_only=True)
class Heading(Part):
    level: int
    title: str
    names: tuple[str, ...] = ()
    sort = "section"


@dataclass(frozen=True, kw_only=True)
class Words(Part):
    """What is read as a sentence: MyST, with its roles and mathematics."""

    text: str
    aside: bool = False  # a caption, an alternative text, a title


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
    display: bool = True
    sort = "equation"


@dataclass(frozen=True, kw_only=True)
class Directive(Part):
    name: str
    argument: str
    options: dict[str, Any]
    body: str

    @property
    def sort(self) -> str:
        return "exercise" if self.name.startswith("exercise") else "theorem"


@dataclass(frozen=True, kw_only=True)
class Cell(Part):
    """A code cell, labelled like its figure; ``metadata`` says more of it."""

    source: str
    metadata: dict[str, Any]
    sort = "figure"

    @property
    def checks(self) -> list[str]:
        """Labels of what it checks."""
        tags = self.metadata.get("tags", [])
        return [tag[6:] for tag in tags if tag.startswith("check-")]

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
        names = [re.fullmatch(r"[\w.]+", ast.unparse(f)) for f in called]
        return {".".join(name[0].split(".")[-2:]) for name in names if name}

    @cached_property
    def names(self) -> set[str]:
        """Everything like ``module.name`` in it, called or not."""
        dotted = [n for n in self.tree if isinstance(n, ast.Attribute)]
        names = {ast.unparse(node) for node in dotted}
        return {name for name in names if re.fullmatch(r"\w+\.\w+", name)}

    @property
    def asserts(self) -> bool:
        """Whether it asserts anything that could be false."""
        stated = [n.test for n in self.tree if isinstance(n, ast.Assert)]
        could_fail = [s for s in stated if not isinstance(s, ast.Constant)]
        calls = [c for c in self.calls if re.match(r"(\w+\.)?assert_", c)]
        return bool(could_fail or calls)

    @property
    def draws(self) -> bool:
        """Whether it makes a figure."""
        return not {"plt.subplots", "plt.figure"}.isdisjoint(self.calls)


class Place(NamedTuple):
    """Somewhere one can point to, and the code cells there."""

    part: Any
    cells: list[Cell]


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
        return [d for d in self.of(Directive) if re.fullmatch(name, d.name)]

    def roles(self, name: str) -> list[Role]:
        return [r for r in self.of(Role) if re.fullmatch(name, r.name)]

    @cached_property
    def places(self) -> dict[str, Place]:
        """Where one can point to, by anchor; the first has it.

        Cells are in a section, in a solution, of a figure, or check a label.
        """
        found: dict[str, Place] = {}
        for part in self.parts:
            names = [part.label]
            if isinstance(part, Heading):
                names = [*part.names, make_id(part.title)]
            for name in filter(None, names):
                cells = [
                    cell
                    for cell in self.cells
                    if any(part is one for one in (cell, *cell.sections))
                    or name in (cell.inside, *cell.checks)
                ]
                found.setdefault(name, Place(part, cells))
        return found


class Parts:
    """Reads a text from top to bottom, keeping in mind where it is."""

    def __init__(self) -> None:
        self.sections: tuple[Heading, ...] = ()
        self.names: list[str] = []
        self.solved = ""

    def read(self, text: str, offset: int = 0) -> Iterator[Part]:
        level = 0  # of the heading that is being read
        for token in parser().parse(text):
            if token.map is None:
                continue
            line, end = (offset + at + 1 for at in token.map)
            here: Any = {"line": line, "end": end, "inside": self.solved}
            here["sections"] = self.sections
            if token.type == "myst_target":
                self.names.append(token.content)
            elif token.type == "heading_open":
                level = int(token.tag[1])
            elif token.type == "inline":
                if level:
                    yield self._heading(token.content, level, here)
                    level = 0
                yield from inline(token, here)
            elif token.type in DISPLAYED:
                yield displayed(token.content, token.info, here, line)
            elif found := re.match(r"\{([\w:-]+)\}(.*)", token.info):
                name, argument = found[1], found[2].strip()
                yield from self._directive(name, argument, token, here)

    def _heading(self, title: str, level: int, here: Any) -> Heading:
        names, self.names = tuple(self.names), []
        heading = Heading(**here, level=level, title=title, names=names)
        above = [one for one in self.sections if one.level < level]
        self.sections = (*above, heading)
        return heading

    def _directive(
        self, name: str, argument: str, token: Token, here: Any
    ) -> Iterator[Part]:
        lines, options = parse_directive_options(token.content, "")
        lines = list(dropwhile(lambda line: not line.strip(), lines))
        line = here["line"] + len(token.content.splitlines()) - len(lines)
        body = "\n".join(lines)
        label = str(options.get("label", options.get("name", "")))
        if name == "code-cell":
            label = options.get("mystnb", {}).get("figure", {}).get("name", "")
            source = body.rstrip("\n")
            cell = Cell(**here, label=label, source=source, metadata=options)
            yield cell
            for about in [("figure", "caption"), ("image", "alt")]:
                yield from spoken(cell.about(*about), here)
        elif name == "math":
            yield displayed(body, label, here, line + 1)
        else:
            if name.startswith("solution"):
                self.solved = argument if name == "solution-start" else ""
            here |= {"label": label, "name": name, "argument": argument}
            yield Directive(**here, options=options, body=body)
            here |= {"label": ""}
            yield from spoken(str(options.get("alt", "")), here)
            if name not in OPAQUE:
                yield from spoken(titled(name, argument), here)
                yield from self.read(body, line)


def inline(token: Token, here: Any) -> Iterator[Part]:
    """Mathematics and roles in a paragraph, an item or a cell of a table."""
    text, cursor = token.content, 0
    yield Words(**here, text=text)
    for child in token.children or []:
        cursor = max(text.find(child.content, cursor), cursor)
        line = here["line"] + text.count("\n", 0, cursor)
        where = here | {"line": line, "end": line + 1}
        if child.type.startswith("math_inline"):
            double = child.type == "math_inline_double"
            latex = child.content.strip()
            yield Math(**where, latex=latex, at=line, display=double)
        elif child.type == "myst_role":
            words, target = said(child.content)
            name = child.meta["name"]
            yield Role(**where, name=name, words=words, target=target)


def spoken(text: str, here: Any) -> Iterator[Words]:
    """A caption, an alternative text or a title, if there is one."""
    if text:
        known = {key: here[key] for key in ("line", "end", "sections")}
        yield Words(**known, inside=here["inside"], text=text, aside=True)


def titled(name: str, argument: str) -> str:
    """What a directive's argument says to a reader, if anything."""
    return argument if re.match("exercise|prf:|admonition", name) else ""


def displayed(content: str, label: str, here: Any, line: int) -> Math:
    """An equation whose content starts on that line, maybe with empty ones."""
    before = content[: len(content) - len(content.lstrip())]
    at = line + before.count("\n")
    return Math(**here, latex=content.strip(), at=at, label=label)


def said(content: str) -> tuple[str, str]:
    """What a role shows, if it says so, and what it points to."""
    match = re.fullmatch(r"(.+?)\s*<([^<>]+)>", content, re.S)
    return (match[1], match[2]) if match else ("", content)


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
def read(path: Path) -> Page:
    return Page(path, path.read_text("utf-8"))


@cache
def pages() -> list[Page]:
    """The pages of _toc.yml, in order."""
    book = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    files = [entry["file"] for p in book["parts"] for entry in p["chapters"]]
    return [read(ROOT / f"{name}.md") for name in (book["root"], *files)]


def chapters() -> list[Page]:
    """The numbered pages."""
    return [page for page in pages() if page.number]


def notebooks() -> list[Page]:
    """The pages that run."""
    return [page for page in pages() if page.is_notebook]


def left_out() -> list[Page]:
    """Chapters that lie beside the others but are not in _toc.yml."""
    files = sorted(CHAPTERS.glob("[0-9][0-9]_*.md"))
    return [page for page in map(read, files) if page not in pages()]


@cache
def find(name: str) -> Page | None:
    """A page of the book: a chapter by its number, another by its stem."""
    found = (p for p in pages() if name in (p.number, p.path.stem))
    return next(found, None)
