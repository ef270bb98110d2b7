r"""The book for a reader's program: an EPUB, from the pages of this build.

The pages become XHTML without scripts, buttons, and links to what is not in
the file.  Of a formula its MathML stays, which KaTeX has written beside what
the eye sees; a live figure stands still and says where it moves; solutions are
folded.  Words, outputs and drawings are those of the pages:

    kernelbook.epub    beside the pages, of each edition; judged by
                       `make check-epub` and `make check-zh`
"""

import hashlib
import re
import unicodedata
import zipfile
from contextlib import suppress
from html import escape
from pathlib import Path
from posixpath import normpath
from urllib.parse import urldefrag, urlsplit

import yaml
from lxml import html as parser

from press.reader import ROOT, pages
from press.translation import TRANSLATED, say

BOOK = "kernelbook.epub"
HERE = Path(__file__).parent
KIND = "application/epub+zip"
MEDIA = {".xhtml": "application/xhtml+xml", ".css": "text/css"}
MEDIA |= {".svg": "image/svg+xml"}
MARKS = {"nav": "epub:type=", "mathml": "<math", "svg": "<svg"}
EXTRA = (
    "script",
    "button",
    "footer",
    "a[@class='headerlink']",
    "a[span[@class='viewcode-link']]",
    "*[@class='live-controls']",
    "p[strong='Ask it.' or strong='问']",  # nobody would answer
    "p[contains(@class, 'expanded')]",
    "annotation",
    "msub/*[3]",  # which KaTeX writes for \min without braces
)
NO_PATH = r"<path (?![^>]*\bd=)"
# XML is more exact than what browsers read: names of SVG have capitals, the
# glyph of a space has a path too.
EXACT = {
    r"<svg\b": '<svg xmlns="http://www.w3.org/2000/svg"',
    r"\bviewbox=": "viewBox=",
    r"\bpreserveaspectratio=": "preserveAspectRatio=",
    r"(</?)clippath\b": r"\1clipPath",
    NO_PATH: '<path d="M0 0" ',
    r"\bxlink:href=": "href=",
}


def letter(plain, alphabet):
    """A letter of another alphabet: MathML of browsers knows no `mathvariant`.

    >>> letter("w", "bold"), letter("Φ", "bold"), letter("L", "script")
    ('𝐰', '𝚽', 'ℒ')
    """
    family = alphabet.upper().replace("D-I", "D I")
    name = re.sub(r"^(LATIN|GREEK) | LETTER", "", unicodedata.name(plain))
    for known in (f"MATHEMATICAL {family} {name}", f"{family} {name}"):
        with suppress(KeyError):
            return unicodedata.lookup(known)
    return plain


def article(html, name, names):
    """What a page says, as a reader's program takes it."""
    (tree,) = parser.fromstring(html).xpath("//article")
    for extra in tree.xpath(" | ".join(f".//{path}" for path in EXTRA)):
        extra.drop_tree()
    for formula in tree.xpath(".//span[@class='katex']"):
        (math,) = formula.xpath("./span/math")
        math.tail = formula.tail
        formula.getparent().replace(formula, math)
    for semantics in tree.xpath(".//semantics"):
        semantics.drop_tag()
    for one in tree.xpath(".//*[@mathvariant!='normal']"):
        alphabet = one.attrib.pop("mathvariant")
        one.text = "".join(letter(plain, alphabet) for plain in one.text)
    for words in tree.xpath(".//summary/p"):
        words.tag = "span"
    for solution in tree.xpath(".//div[starts-with(@class, 'solution ')]"):
        solution.tag, solution[0].tag = "details", "summary"
    for live in tree.xpath(".//div[starts-with(@class, 'live-figure')]"):
        (caption,) = live.xpath("ancestor::figure//figcaption/p")
        where = say(" It moves on the page {}.").format(
            f"<code>{name}.html</code>"
        )
        caption.append(parser.fromstring(f"<span>{where}</span>"))
    for link in tree.xpath(".//a[@href]"):
        path, place = urldefrag(link.get("href"))
        there = normpath(f"{name}/../{path}").removesuffix(".html")
        if there in names:
            new = path.replace(".html", ".xhtml")
            link.set("href", f"{new}#{place}" if place else new)
        elif path and not urlsplit(path).scheme:
            del link.attrib["href"]
    return tree


def sheet(name, **words):
    """One of the files beside this module, filled in."""
    words["language"] = "zh-CN" if TRANSLATED else "en"
    return (HERE / f"epub.{name}").read_text("utf-8").format(**words)


def page(title, tree, root):
    parts = [parser.tostring(part, method="xml") for part in tree]
    body = b"".join(parts).decode()
    for wrong, right in EXACT.items():
        body = re.sub(wrong, right, body)
    return sheet("xhtml", title=escape(title), body=body, root=root)


def drawing(svg):
    """Without a document type, and without names that nothing refers to."""
    svg = re.sub(r"<!DOCTYPE.*?>|<metadata.*?</metadata>", "", svg, flags=re.S)
    used = {*re.findall(r"#([\w-]+)", svg)}
    svg = re.sub(NO_PATH, EXACT[NO_PATH], svg)
    name = r' id="([^"]*)"'
    return re.sub(name, lambda m: m[0] if m[1] in used else "", svg)


def contents(trees):
    """The table of contents, as a page."""

    def listed(entries):
        return f"<ol>{''.join(entries)}</ol>" if entries else ""

    def entry(name, section):
        title = section.xpath("./h1 | ./h2")[0].text_content()
        below = [entry(name, one) for one in section.xpath("./section[h2]")]
        there = f"{name}.xhtml#{section.get('id')}"
        return f'<li><a href="{there}">{escape(title)}</a>{listed(below)}</li>'

    def entries(names):
        return [entry(n, trees[n].xpath("./section")[0]) for n in names]

    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    made = entries([toc["root"]])
    for part in toc["parts"]:
        inside = listed(entries(one["file"] for one in part["chapters"]))
        caption = escape(say(part["caption"]))
        made.append(f"<li><span>{caption}</span>{inside}</li>")
    title = say("Contents")
    nav = f'<nav epub:type="toc"><h1>{title}</h1>{listed(made)}</nav>'
    return page(title, parser.fromstring(f"<div>{nav}</div>"), "")


def package(files, config):
    """Title, files, and the order in which they are read."""
    about = {"title": config.html_title, "author": config.author}
    about = {key: escape(said) for key, said in about.items()}
    about["hash"] = hashlib.sha256(
        "".join(files.values()).encode()
    ).hexdigest()
    items = spine = ""
    for at, (name, text) in enumerate(files.items()):
        media = MEDIA[Path(name).suffix]
        has = ["cover-image"] if name.endswith("/bumps.svg") else []
        if media == MEDIA[".xhtml"]:
            has = [kind for kind, mark in MARKS.items() if mark in text]
            spine += "" if "nav" in has else f'<itemref idref="f{at}"/>\n'
        items += f'<item id="f{at}" href="{name}" media-type="{media}"'
        items += f' properties="{" ".join(has)}"/>\n' if has else "/>\n"
    return sheet("opf", items=items, spine=spine, **about)


def write(app, exception):
    """Beside the pages; the same file whenever it is made."""
    if exception is not None or app.builder.format != "html":
        return
    out, names = Path(app.outdir), [one.name for one in pages()]

    def read(name):
        return (out / name).read_text("utf-8")

    trees = {
        name: article(read(f"{name}.html"), name, names) for name in names
    }
    files = {"contents.xhtml": contents(trees)}
    for name, tree in trees.items():
        title, root = app.env.titles[name].astext(), "../" * name.count("/")
        files[f"{name}.xhtml"] = page(title, tree, root)
    shown = "".join(files.values())
    for image in sorted(path.name for path in (out / "_images").glob("*.svg")):
        if image in shown:
            files[f"_images/{image}"] = drawing(read(f"_images/{image}"))
    light = r'^html\[data-theme="light"\] (.*)'
    colours = re.findall(light, read("_static/pygments.css"), re.M)
    files["book.css"] = "\n".join([(HERE / "epub.css").read_text(), *colours])
    files["book.opf"] = package(files, app.config)
    files |= {"META-INF/container.xml": sheet("xml")}
    with zipfile.ZipFile(out / BOOK, "w") as archive:
        for name, text in {"mimetype": KIND, **files}.items():
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            if name in files:  # the first stays as it is
                info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
