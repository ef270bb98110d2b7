r"""The book on paper: from the same pages and validated outputs, a PDF.

``make pdf`` runs this module.  Sphinx joins the pages to one tree and writes
it as LaTeX; here the tree becomes a book's, parts, solutions at the end, back
matter, index, and XeLaTeX sets it after the design of ``paper.sty``:

    _build/pdf/kernelbook.tex    what Sphinx wrote
    _build/pdf/kernelbook.log    what XeLaTeX had to say
    _build/html/kernelbook.pdf   the book, beside the pages if there are any

What paper cannot do is said in words: a live figure shows its first frame and
the page where it moves, a reference into another chapter its page number.
Solutions stand at the end of the book, by chapter, so that nobody reads one
by accident.  The code of a figure, folded away on the page, is left out.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from math import ceil
from pathlib import Path
from unicodedata import decomposition

import yaml
from docutils import nodes
from jupyter_book.config import get_final_config
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.latex import LaTeXBuilder
from sphinx.builders.latex.nodes import thebibliography
from sphinx.environment.adapters.indexentries import IndexEntries
from sphinx.transforms.post_transforms.images import ImageConverter
from sphinx.util.docutils import docutils_namespace, patch_docutils
from sphinx.writers.latex import LaTeXTranslator
from sphinx_exercise.nodes import (
    exercise_enumerable_node,
    exercise_node,
    solution_node,
)
from sphinx_proof.nodes import NODE_TYPES, proof_node

from press import numbers
from press.reader import NUMBERED, ROOT
from press.shorthand import LIVE

OUT = ROOT / "_build" / "pdf"
NAME = "kernelbook"
FRONT = "chapters/index"
# The same date in every build, and lines of the log that are not broken.
SAME = {"SOURCE_DATE_EPOCH": "1767225600", "FORCE_SOURCE_DATE": "1"}
SAME |= {"max_print_line": "10000"}
LONG = 12  # rows of a table that goes over pages
WIDTH = 82  # letters in a line of it
COLUMNS = 81  # of code at its usual size
# What is not Debian's `texlive-xetex` itself, and the package that brings it.
NEEDED = {
    "xelatex": "texlive-xetex",
    "rsvg-convert": "librsvg2-bin",
    "unicode-math.sty": "texlive-latex-recommended",
    "titlesec.sty": "texlive-latex-extra",
    "pzdr.tfm": "texlive-fonts-recommended",
    "xeCJK.sty": "texlive-lang-cjk",
    "ctexhook.sty": "texlive-lang-chinese",
    "texgyrepagella-regular.otf": "fonts-texgyre",
    "texgyrepagella-math.otf": "fonts-texgyre-math",
    "DejaVuSansMono.ttf": "fonts-dejavu-core",
    "NotoSerifCJK-Regular.ttc": "fonts-noto-cjk",
    "pdftotext": "poppler-utils",
}
FONTS = r"""
\usepackage[mathbf=sym, bold-style=TeX]{unicode-math}
\setmainfont{texgyrepagella}[Extension=.otf, UprightFont=*-regular,
  BoldFont=*-bold, ItalicFont=*-italic, BoldItalicFont=*-bolditalic]
\setsansfont{DejaVu Sans}[Scale=0.85]
\setmonofont{DejaVu Sans Mono}[Scale=0.87, HyphenChar=None]
\setmathfont{texgyrepagella-math.otf}
\AtBeginDocument{\let\boldsymbol\symbf}
\usepackage{xeCJK}
\xeCJKsetup{PunctStyle=plain, CJKecglue={ }}
\setCJKmainfont{Noto Serif CJK SC}
\setCJKsansfont{Noto Sans CJK SC}
\setCJKmonofont{Noto Sans Mono CJK SC}
\newfontfamily{\anyfont}{DejaVu Sans}
% Quotes, dashes and dots are English, also next to Chinese.
\xeCJKDeclareCharClass{Default}{"00B7, "2013, "2014, "2018, "2019, "201C,
  "201D, "2022, "2025, "2026, "2027}
"""
# Not in every font: taken from another where they are not.
FONTS += "".join(
    rf"""\catcode`{letter}=\active\protected\def{letter}{{%
\iffontchar\font"{ord(letter):04X} \char"{ord(letter):04X} \else
{{\anyfont\char"{ord(letter):04X} }}\fi}}
"""
    for letter in "ℒℓ⪰"
)


# What paper needs -----------------------------------------------------------


def missing():
    """Debian's packages for what is not there."""

    def found(name):
        if "." not in name:
            return shutil.which(name)
        if shutil.which("kpsewhich") is None:
            return False
        command = ["kpsewhich", name]
        return subprocess.run(command, capture_output=True).stdout

    return sorted({NEEDED[name] for name in NEEDED if not found(name)})


class Drawings(ImageConverter):
    """Figures stay drawings: SVG becomes PDF."""

    conversion_rules = [("image/svg+xml", "application/pdf")]  # noqa: RUF012

    def is_available(self):
        return True

    def convert(self, _from, _to):
        command = ["rsvg-convert", "--format=pdf", f"--output={_to}", _from]
        subprocess.run(command, check=True)
        return True


# From pages to a book -------------------------------------------------------


def tex(text):
    return nodes.raw("", text, format="latex")


def docname(node):
    """The page that a node of the joined tree comes from."""
    while not isinstance(node, nodes.section) or "docname" not in node:
        node = node.parent
    return node["docname"]


def label(page, name):
    return f"{page}:{name}"


def content(node):
    """What stands below the title of an exercise, a theorem, a proof."""
    for child in node.children:
        if isinstance(child, nodes.section | nodes.admonition):
            yield from child.children
        elif not isinstance(child, nodes.title):
            yield child


def boxed(name, heading, title, node, end=""):
    """An environment of paper.sty with what a node holds."""
    labels = "".join(
        rf"\label{{{label(docname(node), one)}}}"
        for one in node["ids"]
        if not one.startswith("index-")  # visit_index has it
    )
    if name == "exercise":
        labels += rf"\label{{exercise:{node['label']}}}"
    return [
        tex(f"\n\n\\begin{{{name}}}{heading}{{"),
        *title,
        tex(f"}}{end}\\phantomsection{labels}\\nobreak\n"),
        *content(node),
        tex(f"\n\\end{{{name}}}\n"),
    ]


def set_theorems(tree, env):
    for node in list(tree.findall(lambda n: isinstance(n, THEOREMS))):
        heading = node["realtype"].title()
        numbered = env.toc_fignumbers.get(docname(node), {})
        number = numbered.get(node.get("countertype"), {}).get(node["ids"][0])
        if number:
            heading += f" {'.'.join(map(str, number))}"
        title = next(node.findall(nodes.title), nodes.title())
        node.replace_self(
            boxed("statement", f"{{{heading}}}", title.children, node)
        )
    for node in list(tree.findall(proof_node)):
        word = next(node.findall(nodes.Text))  # "Proof. ", and more
        word.parent.replace(word, nodes.Text(word.removeprefix("Proof. ")))
        said = list(content(node))
        last = said[-1] if isinstance(said[-1], nodes.paragraph) else said
        last += [tex("\\proved ")]
        begin, end = tex("\n\\begin{argument}\n"), tex("\n\\end{argument}\n")
        node.replace_self([begin, *said, end])


THEOREMS = tuple(NODE_TYPES.values())


def set_exercises(tree):
    """Exercises where they are; their solutions, by page, for the end."""
    solutions: dict[str, list[nodes.Node]] = {}
    named = {}
    kinds = exercise_node, exercise_enumerable_node
    for node in list(tree.findall(lambda n: isinstance(n, kinds))):
        number, *title = node[0].children
        page, name = docname(node), node["label"]
        named[name] = number.astext(), [n.deepcopy() for n in title[1:-1]]
        node.replace_self(
            [
                *boxed("exercise", f"{{{number}}}", title[1:-1], node),
                tex(f"\\solvedonpage{{{label(page, 'solved-' + name)}}}\n"),
            ]
        )
    for node in list(tree.findall(solution_node)):
        page, name = docname(node), node["target_label"]
        number, title = named[name]
        node["ids"].append(f"solved-{name}")
        box = boxed(
            "solution",
            f"{{{number}}}",
            title,
            node,
            end=f"{{exercise:{name}}}",
        )
        node.parent.remove(node)
        solutions.setdefault(page, []).extend(box)
    return solutions


def set_cells(tree):
    """Leave out what is folded on the page; mark what is a check."""
    for cell in list(tree.findall(nodes.container)):
        classes = cell["classes"]
        if "tag_hide-cell" in classes:
            cell.parent.remove(cell)
        for part in list(cell.children) if "cell" in classes else []:
            if "cell_input" in part["classes"]:
                if "tag_hide-input" in classes:
                    cell.remove(part)
                elif any(name.startswith("tag_check-") for name in classes):
                    part["classes"].append("check")


def set_live(tree, address):
    """Below a live figure: where it moves."""
    for image in tree.findall(nodes.image):
        if "live" in image["classes"]:
            page = f"{docname(image)}.html"
            figure = image.parent
            while not isinstance(figure, nodes.figure):
                figure = figure.parent
            path = nodes.literal("", f"{address}{page}")
            caption = next(figure.findall(nodes.caption))
            caption += [nodes.Text(" It moves on the page "), path]
            caption += [nodes.Text(".")]


def set_source_lines(tree):
    """The line under an equation stands close to it."""
    for math in list(tree.findall(nodes.math_block)):
        if math.get("label"):
            below = math.parent[math.parent.index(math) + 1]
            said = [tex("\n\\sourceline{"), *below.children, tex("}\n")]
            below.replace_self(said)


def wider(widths):
    """Each column in turn one letter wider."""
    for at, width in enumerate(widths):
        yield [*widths[:at], width + 1, *widths[at + 1 :]]


def lines(sizes, widths):
    """How many lines a table has, and, where that is the same, how full."""
    parts = [
        [size / (width - 2) for size, width in zip(row, widths, strict=True)]
        for row in sizes
    ]
    return sum(ceil(max(row)) for row in parts), sum(map(sum, parts))


def set_tables(tree):
    """Columns as wide as what they hold, where TeX does not see to it."""
    for table in tree.findall(nodes.tgroup):
        rows = list(table.findall(nodes.row))
        classes = table.parent["classes"]
        if len(rows) > LONG or "colwidths-given" in classes:
            long = ["longtable"] * (len(rows) > LONG)
            classes[:] = ["colwidths-given", *long]
            columns = [
                [re.sub(r"\\\w+ ?|[{}^]", "", cell.astext()) for cell in c]
                for c in zip(*rows, strict=True)
            ]
            widths = [
                max(map(len, re.split(r"[\s._(-]+", " ".join(column)))) + 3
                for column in columns
            ]
            sizes = [[*map(len, row)] for row in zip(*columns, strict=True)]
            while sum(widths) < WIDTH:
                widths = min(wider(widths), key=partial(lines, sizes))
            specs = table.findall(nodes.colspec)
            for spec, width in zip(specs, widths, strict=True):
                spec["colwidth"] = width


def set_bibliography(tree):
    """The entries in their chapter, found by authors and year."""
    for found in list(tree.findall(thebibliography)):
        found.parent.remove(found)
        for entry in found.findall(nodes.citation):
            page = entry["docname"]
            names = "".join(
                rf"\label{{{label(page, one)}}}" for one in entry["ids"]
            )
            start = tex(rf"\entryinbibliography\phantomsection{names} ")
            body = [
                child for part in entry.children[1:] for child in part.children
            ]
            pages(tree)[page][0].append(nodes.paragraph("", "", start, *body))


def pages(tree):
    found = tree.findall(addnodes.start_of_file)
    return {page["docname"]: page for page in found}


def front(tree):
    """The first page, without those that follow it, as a preface."""
    section = next(tree.findall(nodes.section))
    for wrapper in list(section.findall(nodes.compound)):
        if "toctree-wrapper" in wrapper["classes"]:
            wrapper.parent.remove(wrapper)
    section[0].children = [nodes.Text("Preface")]
    page = addnodes.start_of_file("", section, docname=FRONT)
    return page


def bind(tree, app):
    """The book: preface, parts, solutions, back matter, index."""
    for section in tree.findall(nodes.section):
        section.attributes.setdefault("docname", FRONT)
    set_theorems(tree, app.env)
    set_cells(tree)
    set_live(tree, app.config.html_baseurl)
    set_source_lines(tree)
    set_tables(tree)
    set_bibliography(tree)
    solutions = set_exercises(tree)
    all_pages = pages(tree)
    book = [front(tree), tex("\n\\mainpages\n")]
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    for part in toc["parts"]:
        caption = part["caption"]
        if part.get("numbered", True):
            title = caption.partition("· ")[2] or caption
            book.append(tex(f"\n\\part{{{title}}}\n"))
        else:
            book += [tex("\n\\backpages\n"), *solved(solutions, app.env)]
        book += [all_pages[entry["file"]] for entry in part["chapters"]]
    tree.children = []
    tree.extend(book)


def solved(solutions, env):
    """The chapter of solutions, a section for each chapter."""
    chapter = nodes.section("", nodes.title("", "Solutions"), ids=["solved"])
    for page, found in solutions.items():
        number = int(NUMBERED.match(page)[1])
        title = env.titles[page].astext()
        section = nodes.section("", ids=[f"solved-{number}"])
        section.append(nodes.title("", f"Chapter {number}: {title}"))
        section.append(addnodes.start_of_file("", *found, docname=page))
        chapter.append(section)
    return [addnodes.start_of_file("", chapter, docname="solutions")]


class Paper(LaTeXBuilder):
    """Sphinx's builder of LaTeX, with the tree of a book."""

    def get_target_uri(self, name, typ=None):
        return (
            f"%{name}"
            if name == "genindex"
            else super().get_target_uri(name, typ)
        )

    def assemble_doctree(self, *args, **options):
        numbers.renumber(self.app, None)
        tree = super().assemble_doctree(*args, **options)
        bind(tree, self.app)
        return tree


# From a book to LaTeX -------------------------------------------------------

RAISED = {"<super>": "textsuperscript", "<sub>": "textsubscript"}


def small_letters(text):
    r"""Raised and lowered letters, which few fonts have, by the plain ones.

    >>> small_letters("10⁻³ aₙ")
    '10\\textsuperscript{−3} a\\textsubscript{n}'
    """
    made, last = "", ""
    for letter in text:
        how, _, plain = decomposition(letter).partition(" ")
        kind = RAISED.get(how, "")
        if kind != last:
            made += ("}" if last else "") + (f"\\{kind}{{" if kind else "")
        made += chr(int(plain, 16)) if kind else letter
        last = kind
    return made + ("}" if last else "")


def breakable(text):
    r"""Names of the library, which may go on in the next line.

    >>> breakable(r"ridge.fit\_dual")
    'ridge.\\allowbreak{}fit\\_\\allowbreak{}dual'
    """
    return re.sub(r"(\w\.|\\_|\()(?=\w)", r"\1\\allowbreak{}", text)


# What a line does not begin with: the number of a thing.
TIED = re.compile(
    r"\b([Cc]hapters?|Exercise|Theorem|Figure|pp?\.|pages?)\s(?=\d)"
)


def in_brackets(node):
    """Whether a bracket is open where a node stands in its sentence."""
    before = ""
    while isinstance(node.parent, nodes.TextElement):
        siblings = node.parent.children
        for one in siblings[: siblings.index(node)]:
            if not isinstance(one, nodes.math):
                before += one.astext()
        node = node.parent
    return before.count("(") > before.count(")")


class Translator(LaTeXTranslator):
    """Writes the LaTeX that paper.sty sets."""

    def __init__(self, *args):
        super().__init__(*args)
        self.this_is_the_title = 0
        self.elements["contentsname"] = ""  # not the caption of a part
        self.numbers = numbers.printed_numbers(self.builder.env)
        titles = [
            heading.astext()
            for page in self.builder.env.tocs.values()
            for heading in page.findall(nodes.reference)
        ]
        self.repeated = {t for t in titles if titles.count(t) > 3}

    def visit_raw(self, node):
        if "latex" in node["format"].split():
            self.body.append(node.astext())
        raise nodes.SkipNode

    def visit_Text(self, node):
        text = self.encode(node.astext())
        if isinstance(node.parent, nodes.literal):
            text = breakable(text)
        elif (small := small_letters(text)) != text and self.in_title:
            text = rf"\texorpdfstring{{{small}}}{{{text}}}"
        else:
            text = TIED.sub(r"\1~", small)
        self.body.append(text)

    # Headings: the numbers of the chapters are those of their files; what
    # every chapter has is no help in the table of contents.

    def visit_start_of_file(self, node):
        self.curfilestack.append(node["docname"])
        number = NUMBERED.match(node["docname"])
        if number and not isinstance(node.parent, nodes.section):
            at = int(number[1]) - 1
            self.body.append(f"\n\\setcounter{{chapter}}{{{at}}}\n")

    def visit_title(self, node):
        if isinstance(node.parent, nodes.section):
            hidden = node.astext() in self.repeated
            self.body.append("\\contentsdepth{0}" if hidden else "")
            super().visit_title(node)
            again = "\\contentsdepth{1}" if hidden else ""
            self.context[-1] += again
        else:
            super().visit_title(node)

    def visit_math(self, node):
        math = node.astext()
        if self.in_title:
            plain = self.encode(node.astext())
            math = rf"\texorpdfstring{{\({math}\)}}{{{plain}}}"
            self.body.append(math)
            raise nodes.SkipNode
        super().visit_math(node)

    # Numbers: of equations, of figures.

    def visit_math_block(self, node):
        text = re.sub(r"\n\s*\n", "\n", node.astext().strip())
        if name := node.get("label"):
            place = f"equation:{node['docname']}:{name}"
            number = self.numbers[name]
            text = f"\\numbered{{{number}}}{{{place}}}{{{text}}}"
        elif node.get("nowrap"):
            text = re.sub(r"\{(align|gather|equation)\}", r"{\1*}", text)
        else:
            text = f"\\unnumbered{{{text}}}"
        self.body.append(f"\n{text}\n")
        raise nodes.SkipNode

    def visit_math_reference(self, node):
        place = f"equation:{node['docname']}:{node['target']}"
        there = "" if node["docname"] == self.curfilestack[-1] else "onpage"
        command = "equationonpage" if there else "eqref"
        self.body.append(f"\\{command}{{{place}}}")
        raise nodes.SkipNode

    def visit_figure(self, node):
        super().visit_figure(node)
        found = self.builder.env.toc_fignumbers[self.curfilestack[-1]]
        if at := found.get("figure", {}).get(node["ids"][0]):
            number = ".".join(map(str, at))
            self.body.append(f"\\renewcommand{{\\thefigure}}{{{number}}}\n")

    def visit_inline(self, node):
        self.body += [self.hypertarget(name) for name in node["ids"]]
        super().visit_inline(node)

    # Links: a page number where the words alone do not lead there.

    def visit_reference(self, node):
        super().visit_reference(node)
        page, _, anchor = node.get("refuri", "")[1:].partition("#")
        said = next(node.findall(nodes.inline), nodes.inline())
        led = {"doc", "std-doc", "std-ref"} & set(said["classes"])
        numbered = re.match("[Cc]hapters? ", node.astext())
        if led and page and page != self.curfilestack[-1] and not numbered:
            place = self.idescape(label(page, anchor or ":doc"))
            command = "andpage" if in_brackets(node) else "onpage"
            self.context[-1] += rf"\{command}{{{place}}}"

    # Cells.

    def visit_literal_block(self, node):
        columns = max(map(len, node.astext().splitlines()), default=0)
        wide = columns > COLUMNS
        size = max(9.1 * COLUMNS / columns, 7.5) if wide else 0
        self.body.append(f"\n{{\\smallcode{{{size:.2f}}}" if wide else "")
        try:
            super().visit_literal_block(node)
        finally:
            self.body.append("}\n" if wide else "")

    visit_doctest_block = visit_literal_block

    def visit_container(self, node):
        kinds = {"cell_input": "codecell", "cell_output": "outputcell"}
        found = [kinds[name] for name in node["classes"] if name in kinds]
        name = "checkcell" if "check" in node["classes"] else "".join(found)
        self.body.append(f"\n\\begin{{{name}}}" if name else "")
        self.context.append(f"\n\\end{{{name}}}\n" if name else "")

    def depart_container(self, node):
        self.body.append(self.context.pop())

    # The index.

    def visit_index(self, node):
        places = {entry[2] for entry in node["entries"]}
        new = sorted(place for place in places if place.startswith("index-"))
        if not self.in_title:
            self.body += [self.hypertarget(place) for place in new]
        raise nodes.SkipNode

    def generate_indices(self):
        made = [r"\chapter{Index}\label{genindex::doc}\begin{generalindex}"]
        index = IndexEntries(self.builder.env).create_index(self.builder)
        for letter, entries in index:
            made.append(rf"\indexletter{{{self.encode(letter)}}}")
            for entry, (links, below, _) in entries:
                made.append(self.index_line("indexentry", entry, links))
                made += [
                    self.index_line("indexsubentry", words, there)
                    for words, there in below
                ]
        return "\n".join([*made, r"\end{generalindex}"])

    def index_line(self, command, words, links):
        places = ",".join(link[1:].replace("#", ":") for _, link in links)
        words = breakable(small_letters(self.encode(words)))
        there = rf"\onpages{{{places}}}" if places else ""
        return rf"\{command}{{{words}{there}}}"


def mark_live(app, doctree):
    """The image in the place of a live figure knows what it is."""
    for html in doctree.findall(nodes.raw):
        if html.astext().startswith(LIVE):
            image = next(html.parent.parent.findall(nodes.image))
            image["classes"].append("live")


def setup(app):
    app.add_builder(Paper, override=True)
    app.set_translator("latex", Translator, override=True)
    app.add_post_transform(Drawings)
    app.connect("doctree-read", mark_live)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


# The build ------------------------------------------------------------------


def configuration():
    """That of the pages, and what only paper has."""
    options = {"latex_individualpages": False}
    config, _ = get_final_config(
        user_yaml=ROOT / "_config.yml", cli_config=options, sourcedir=ROOT
    )
    left = {"sphinx_jupyterbook_latex", "sphinx_thebe"}
    kept = [name for name in config["extensions"] if name not in left]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    title, _, subtitle = config["html_title"].partition(": ")
    version = project["project"]["version"]
    about = f"pdftitle={{{title}: {subtitle}}}, pdfauthor={config['author']}"
    return config | {
        "extensions": [*kept, "press.paper"],
        "nitpicky": True,
        "use_jupyterbook_latex": False,
        "nb_mime_priority_overrides": [["latex", "image/svg+xml", 1]],
        "latex_engine": "xelatex",
        "latex_use_xindy": False,
        "latex_domain_indices": False,
        "latex_docclass": {"manual": "book"},
        "latex_toplevel_sectioning": "chapter",
        "latex_table_style": ["booktabs"],
        "latex_additional_files": ["press/paper.sty"],
        "latex_documents": [
            (FRONT, f"{NAME}.tex", title, config["author"], "manual")
        ],
        "latex_elements": {
            "papersize": "a4paper",
            "pointsize": "10pt",
            "fontpkg": FONTS,
            "fncychap": "",
            "geometry": "",
            "fvset": "",
            "preamble": rf"\usepackage{{paper}}\hypersetup{{{about}}}",
            "makeindex": "",
            "printindex": "",
            "maketitle": rf"\cover{{{title}}}{{{subtitle}}}{{{version}}}",
            "tableofcontents": r"\contents",
            "figure_align": "!ht",  # where the text has it, or overleaf
        },
    }


def write_latex(out):
    with patch_docutils(str(ROOT)), docutils_namespace():
        app = Sphinx(
            ROOT,
            None,
            out,
            out / ".doctrees",
            "latex",
            configuration(),
            status=None,
            freshenv=True,
            warningiserror=True,
            keep_going=True,
        )
        app.build()
    return app.statuscode


def set_in_type(out):
    """Run XeLaTeX until nothing moves; two runs give the same bytes."""
    command = ["xelatex", "-interaction=nonstopmode", "-halt-on-error"]
    aside = [out / f"{NAME}.{kind}" for kind in ("aux", "toc", "out")]
    before = None
    for _ in range(5):
        run = [*command, "-no-pdf", f"{NAME}.tex"]
        done = subprocess.run(
            run, cwd=out, env=os.environ | SAME, capture_output=True
        )
        if done.returncode:
            return done.returncode
        now = [path.read_bytes() for path in aside if path.exists()]
        if now == before:
            break
        before = now
    press = ["xdvipdfmx", "-q", f"{NAME}.xdv"]
    return subprocess.run(press, cwd=out, env=os.environ | SAME).returncode


def main(out=OUT):
    packages = missing()
    if str(out) == "--missing":
        print(*packages)
        return 0
    if packages:
        print(
            "make pdf needs more: apt-get install --no-install-recommends "
            + " ".join(packages),
            file=sys.stderr,
        )
        return 1
    if status := write_latex(out):
        return status
    if set_in_type(out):
        log = (out / f"{NAME}.log").read_text("utf-8", "replace")
        errors = re.findall(r"^!.*\n(?:.*\n){0,8}", log, re.M)
        print("\n".join(errors[:3]), file=sys.stderr)
        return 1
    print(f"The book on paper is at {out / NAME}.pdf")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
