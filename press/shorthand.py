"""What the chapters need not say: listings, chapter links, words of figures.

- ``literalinclude`` shows a function straight from its file.  Of the docstring
  a page needs the sentence and the formula; the rest is in the reference.
- “Chapter 8” in the text is a link to chapter 8, if that is in the book.
- A reference into a chapter that _toc.yml leaves out is words without a link.
- A live figure carries the alternative text and the classes of its cell
  (``mystnb: image:``), which are meant for the image in its place.
"""

import re
from html import escape

from docutils import nodes
from sphinx.directives.code import LiteralInclude

from press.ledger import ledger
from press.numbers import source_number
from press.reader import NUMBERED, left_out

SECTIONS = re.compile(
    r"\n\s*\n\s*(?:Parameters|Returns|Raises|Examples)\n\s*---+\n"
    r'.*?(?=\n *""")',
    re.S,
)
ONE_LINE = re.compile(r'(""".+)\n *"""')
MENTION = re.compile(r"\b([Cc]hapters? )(\d{1,2})\b")
NOT_INSIDE = (nodes.reference, nodes.literal, nodes.title, nodes.Invisible)
LABEL = re.compile(r'(<svg [^>]*aria-label=")[^"]*')
LIVE = '<div class="live-figure'


def without_sections(source):
    """The source, its docstrings cut before Parameters, Returns, ..."""
    return ONE_LINE.sub(r'\1"""', SECTIONS.sub("", source))


def rewrite(node, text):
    node.rawsource, node.children = text, [nodes.Text(text)]


class Listing(LiteralInclude):
    def run(self):
        shown = super().run()
        for node in shown:
            for block in node.findall(nodes.literal_block):
                rewrite(block, without_sections(block.astext()))
        return shown


def pieces(text, page_of):
    """The text, cut into plain pieces (None) and mentions (their page)."""
    end = 0
    for mention in MENTION.finditer(text):
        page = page_of.get(int(mention[2]))
        if page:
            yield text[end : mention.start()], None
            yield mention[0], page
            end = mention.end()
    yield text[end:], None


def link_chapters(app, doctree, docname):
    found = filter(None, map(NUMBERED.match, app.env.found_docs))
    pages = {int(match[1]): match.string for match in found}
    for text in list(doctree.findall(nodes.Text)):
        inside = text.parent
        while inside and not isinstance(inside, NOT_INSIDE):
            inside = inside.parent
        if inside is not None or not MENTION.search(text):
            continue
        new = []
        for words, page in pieces(text.astext(), pages):
            if page and page != docname:
                uri = app.builder.get_relative_uri(docname, page)
                new.append(
                    nodes.reference("", words, internal=True, refuri=uri)
                )
            elif words:
                new.append(nodes.Text(words))
        text.parent.replace(text, new)


def words_for(target):
    """What is shown of a place that is not in the book.

    >>> words_for("eq-6-8"), words_for("eq-weak-duality"), words_for("02_dual")
    ('(6.8)', 'weak duality', 'dual')
    """
    number = source_number(target)
    words = re.sub(r"^([a-z]+-|\d\d_)", "", target.split("/")[-1])
    return f"({number})" if number else re.sub("[-_]", " ", words)


def not_here():
    """Every name that leads into a chapter, or an erratum, left out."""
    found = {
        f"erratum-{entry.id.lower()}": entry.id
        for entry in ledger().values()
        if entry.is_erratum and not entry.in_book
    }
    for page in left_out():
        for name in [page.path.stem, *page.places]:
            found[name] = words_for(name)
    return found


def without_link(app, env, node, contnode):
    words = not_here().get(node["reftarget"].split("/")[-1])
    if words is None:
        return None
    said = node.get("refexplicit") and contnode.astext()
    return nodes.inline("", said or words)


def with_words(html, alt, classes):
    """A live figure with its alternative text and classes."""
    text = escape(" ".join(alt.split()))
    html = LABEL.sub(lambda match: match[1] + text, html, count=1)
    return html.replace(LIVE, " ".join([LIVE, *classes]), 1)


def hand_on_words(app, doctree):
    for bundle in doctree.findall(nodes.container):
        if bundle.get("nb_element") != "mime_bundle":
            continue
        for html in bundle.findall(nodes.raw):
            if html.astext().startswith(LIVE):
                image = next(bundle.findall(nodes.image))
                alt, classes = image.get("alt", ""), image["classes"]
                rewrite(html, with_words(html.astext(), alt, classes))


def setup(app):
    app.add_directive("literalinclude", Listing, override=True)
    app.connect("doctree-resolved", link_chapters)
    app.connect("doctree-read", hand_on_words)
    app.connect("missing-reference", without_link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
