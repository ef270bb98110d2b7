"""Ask an equation: what a reference refers to, what a symbol stands for.

Beside the pages the build writes, in ``_previews/``,

    chapters/02_dual_representation.js   what other places refer to on this
                                         page: equations, figures, theorems
    symbols.js                           the table of notation, by symbol

and gives every labelled equation a button that asks what its symbols mean.
``_static/previews.js`` shows them; it fetches such a file when it is first
asked for something in it.  They are scripts and not data, because a page that
was opened from a disk may load no data.
"""

import json
import re
from collections import defaultdict
from itertools import takewhile
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from lxml import html as parser

from press.reader import pages
from press.translation import say

FOLDER = "_previews"
TARGETS = (
    "//div[@class='math' and @id]",
    "//figure[@id]",
    "//div[contains(@class, 'proof') and @id]",
    "//dt[starts-with(@id, 'term-')]",
)
# A letter of KaTeX is known by its text and by the alphabet it is set in.
ALPHABETS = ("mathnormal", "mathbf", "boldsymbol", "mathcal", "mathbb")
CHAPTER = re.compile(r"(?:\(chapters? |（第 ?)(\d[^)）]*)")
ASK = '<button type="button" class="ask" aria-label="{}"></button>'


def to_text(element):
    return parser.tostring(element, encoding="unicode", with_tail=False)


def references(tree, name):
    """Page and id of what a page refers to."""
    for link in tree.xpath("//a[contains(@class, 'internal')]/@href"):
        address = urlsplit(link)
        if address.fragment and not address.scheme:
            page = name
            if address.path:
                folder = name.rpartition("/")[0]
                page = normpath(f"{folder}/{address.path}")
            yield page.removesuffix(".html"), unquote(address.fragment)


def shown(element, name):
    """A target as a preview has it: no ids, no anchors, addresses that fit.

    Addresses start at the root of the book, which each page knows.
    """
    copy = parser.fromstring(to_text(element))
    if copy.tag == "dt":
        words = element.getnext()
        while words.tag != "dd":
            words = words.getnext()
        copy = parser.fromstring(f"<div>{to_text(words)}</div>")
        copy[0].tag = "div"
    for extra in copy.xpath(
        ".//a[@class='headerlink'] | .//button | .//annotation"
    ):
        extra.drop_tree()
    for script in copy.xpath(".//script | .//*[@class='live-controls']"):
        script.drop_tree()
    for part in copy.iter():
        part.attrib.pop("id", None)
        for key in ("href", "src"):
            if key in part.attrib and not urlsplit(part.get(key)).scheme:
                there = f"{name.rpartition('/')[0]}/{part.get(key)}"
                part.set(key, "~/" + normpath(there))
    return to_text(copy)


def named(element):
    """The letters KaTeX sets in one span, by name, such as ``mathbf K``."""
    alphabet = set((element.get("class") or "").split())
    found = [a for a in ALPHABETS if a in alphabet]
    return [f"{found[0]} {one}" for one in element.text or ""] if found else []


LETTERS = (
    ".//span[contains(@class, 'mord') and not(*)]"
    "[not(contains(@class, 'mtight'))]"
)


def letters(element):
    """The letters of a formula, without its indices, in order."""
    return [name for one in element.xpath(LETTERS) for name in named(one)]


OVER = "ancestor::span[contains(concat(@class, ' '), 'accent ')][1]"
ABOVE = "string(.//span[@class='accent-body'])"
AROUND = "parent::span[contains(@class, 'mord')][count(*) = 1]"
INDEX = (
    "string(following-sibling::*[1][contains(@class, 'msupsub')]"
    "/span[contains(@class, 'vlist-t2')]/span[1]/span[1]/span[1])"
)


def forms(element):
    """The letters with what is above them and their indices: λ₀ is not λ.

    ``_static/previews.js`` says the same of the letters of an equation.
    """
    found = []
    for one in element.xpath(LETTERS):
        names = named(one)
        (base,) = one.xpath(OVER) or [one]
        names = [f"{name}{base.xpath(ABOVE)}" for name in names]
        while only := base.xpath(AROUND):
            (base,) = only
        found += names[:-1] + [f"{n}{base.xpath(INDEX)}" for n in names[-1:]]
    return found


def first_uses(trees):
    """Where a letter first stands in a labelled equation: chapter, link."""
    found: dict[str, list[tuple[int, str]]] = {}
    for name, tree in trees.items():
        for equation in tree.xpath("//div[@class='math' and @id]"):
            address = f"~/{name}.html#{equation.get('id')}"
            number = "".join(equation.xpath("./span[@class='eqno']/text()"))
            link = f'<a href="{address}">{number.strip()}</a>'
            for one in dict.fromkeys(letters(equation)):
                found.setdefault(one, []).append((number_of(name), link))
    return found


def number_of(name):
    """The number of a chapter, or 0 for other pages."""
    found = re.search(r"/(\d+)_", name)
    return int(found[1]) if found else 0


def introduced(row, uses, claimed):
    """The first equation with a letter of the row, in a chapter it is for.

    A row for all chapters is for those that no other row claims.
    """
    return [
        link
        for one in row["letters"]
        for chapter, link in uses.get(one, [])
        if (
            chapter in row["chapters"]
            if row["chapters"]
            else chapter not in claimed[one]
        )
    ][:1]


def symbols(tree):
    """The rows of the table of notation, and the letters of each."""
    for row in tree.xpath("//table//tbody/tr"):
        for link in row.xpath(".//a[@class='first']"):
            link.drop_tree()
        first, meaning, python, shape = row.xpath("./td/p | ./td/div/p")[:4]
        formulas = first.xpath(".//span[@class='math']")
        found, with_marks = (
            dict.fromkeys(n for f in formulas for n in leading(read(f)))
            for read in (letters, forms)
        )
        yield {
            "letters": list(found),
            "forms": list(with_marks),
            "chapters": named_chapters(first.text_content()),
            "symbol": inner(first),
            "meaning": inner(meaning).rstrip(),
            "python": [
                code.text_content() for code in python.xpath(".//code")
            ],
            "shape": shape.text_content(),
        }


def point_to_first(file, rows):
    """Behind each meaning, on the page of notation, its first equation.

    A page that is as it was when the book was last built has them already.
    """
    parts = re.split(r"(?=<tr\b)", file.read_text("utf-8"))
    there = [n for n, part in enumerate(parts) if "<td" in part]
    for n, row in zip(there, rows, strict=True):
        cells = parts[n].split("<td", 3)
        cells[2] = re.sub(r' <a class="first".*?</a>', "", cells[2])
        for link in row["first"]:
            beside = link.replace('href="~/chapters/', 'class="first" href="')
            cells[2] = cells[2].replace("</p>", f" {beside}</p>", 1)
        parts[n] = "<td".join(cells)
    file.write_text("".join(parts), "utf-8")


def leading(found):
    """The letter that a symbol begins with; both of a Gaussian process."""
    name = [*takewhile(lambda one: one.startswith("mathcal "), found)]
    return name or found[:1]


def named_chapters(words):
    """The chapters that a row is for, none if for all.

    >>> named_chapters("a (chapters 2, 3 and 9)"), named_chapters("b")
    ([2, 3, 9], [])
    >>> named_chapters("c (chapters 13 to 16)")
    [13, 14, 15, 16]
    >>> named_chapters("d（第 2 至 4 章）")
    [2, 3, 4]
    """
    note = CHAPTER.search(words)
    numbers = [int(n) for n in re.findall(r"\d+", note[1])] if note else []
    if note and re.search(" to |至", note[1]):
        numbers = [*range(numbers[0], numbers[-1] + 1)]
    return numbers


def inner(element):
    text = to_text(element)
    return text[text.index(">") + 1 : text.rindex("<")]


def call(function, *arguments):
    """One call, as a script; the same for the same arguments."""
    packed = (
        json.dumps(a, ensure_ascii=False, separators=(",", ":"))
        for a in arguments
    )
    return f"{function}({','.join(packed)});\n"


def write_previews(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    trees = {
        page.name: parser.fromstring((out / f"{page.name}.html").read_bytes())
        for page in pages()
    }
    asked = {r for name, tree in trees.items() for r in references(tree, name)}
    for name, tree in trees.items():
        found = {
            target.get("id"): shown(target, name)
            for path in TARGETS
            for target in tree.xpath(path)
            if (name, target.get("id")) in asked
        }
        file = out / FOLDER / f"{name}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(call("kernelbookPreviews", name, found), "utf-8")
        if name.endswith("/notation"):
            uses, rows = first_uses(trees), [*symbols(tree)]
            claimed: dict[str, set[int]] = defaultdict(set)
            for row in rows:
                for one in row["letters"]:
                    claimed[one].update(row["chapters"])
            for row in rows:
                row["first"] = introduced(row, uses, claimed)
            point_to_first(out / f"{name}.html", rows)
            text = call("kernelbookSymbols", rows)
            (out / FOLDER / "symbols.js").write_text(text, "utf-8")


EQUATION = re.compile(
    r'(<div class="math" id="[^"]+">\s*<span class="eqno">)(\([^<]*\))'
)


def ask_buttons(app, pagename, templatename, context, doctree):
    """A labelled equation can be asked, by touch and by keyboard."""
    if doctree is not None and "body" in context:
        context["body"] = EQUATION.sub(
            lambda m: (
                m[1]
                + ASK.format(
                    say("What do the symbols of {} mean?").format(m[2])
                )
                + m[2]
            ),
            context["body"],
        )
