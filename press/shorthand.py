"""What the chapters need not say: listings, chapter links, words of figures.

- ``literalinclude`` shows a function straight from its file.  Of the docstring
  a page needs the sentence and the formula; the rest is in the reference.
- “Chapter 9” in the text is a link to chapter 9, if that is in the book.
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
from press.reader import chapters, left_out
from press.translation import say

MENTION = re.compile(r"(\b[Cc]hapters? \d{1,2}\b|第 ?\d{1,2} ?章)")
NOT_INSIDE = (nodes.reference, nodes.literal, nodes.title, nodes.Invisible)
LIVE = '<div class="live-figure'
NAME_OF_SLIDER = (">{}</label>", 'text="{} =', '{{"name":"{}"')


def without_sections(source):
    """The source, its docstrings cut before Parameters, Returns, ..."""
    first = r"\n\s*\n\s*(?:Parameters|Returns|Raises|Examples)\n\s*---+\n"
    source = re.sub(first + r'.*?(?=\n *""")', "", source, flags=re.S)
    return re.sub(r'(""".+)\n *"""', r'\1"""', source)  # on one line


def rewrite(node, text):
    node.rawsource, node.children = text, [nodes.Text(text)]


class Listing(LiteralInclude):
    def run(self):
        shown = super().run()
        for node in shown:
            for block in node.findall(nodes.literal_block):
                rewrite(block, without_sections(block.astext()))
        return shown


def link_chapters(app, doctree, docname):
    uri = {
        page.number.lstrip("0"): app.builder.get_relative_uri(docname, name)
        for page in chapters()
        if (name := page.name) != docname
    }
    for text in list(doctree.findall(nodes.Text)):
        inside = text.parent
        while inside and not isinstance(inside, NOT_INSIDE):
            inside = inside.parent
        if inside is None and MENTION.search(text):
            new = [nodes.Text(words) for words in MENTION.split(text)]
            for at in range(1, len(new), 2):  # plain, a mention, plain, ...
                if to := uri.get(re.search(r"\d+", new[at])[0]):
                    link = {"internal": True, "refuri": to}
                    new[at] = nodes.reference("", new[at], **link)
            text.parent.replace(text, new)


def words_for(target):
    """What is shown of a place that is not in the book.

    >>> words_for("eq-6-8"), words_for("eq-weak-duality"), words_for("02_dual")
    ('(6.8)', 'weak duality', 'dual')
    """
    number = source_number(target)
    words = re.sub(r"^([a-z]+-|\d\d_)", "", target)
    return f"({number})" if number else re.sub("[-_]", " ", words)


def not_here():
    """Every name that leads into a chapter, or an erratum, left out."""
    names = [n for p in left_out() for n in (p.path.stem, *p.places)]
    return {name: words_for(name) for name in names} | {
        f"erratum-{entry.id.lower()}": entry.id
        for entry in ledger().values()
        if entry.is_erratum and not entry.in_book
    }


def without_link(app, env, node, contnode):
    words = not_here().get(node["reftarget"].split("/")[-1])
    if words is None:
        return None
    said = node.get("refexplicit") and contnode.astext()
    return nodes.inline("", said or words)


def hand_on_words(app, doctree):
    """To a live figure, from the image in the same bundle."""
    for html in doctree.findall(nodes.raw):
        if html.astext().startswith(LIVE):
            image = next(html.parent.parent.findall(nodes.image))
            alt = escape(" ".join(image.get("alt", "").split()))
            before, label, after = html.astext().partition(' aria-label="')
            named = before + label + alt + '"' + after.partition('"')[2]
            for name in re.findall(r"<label[^>]*>([^<]*)", named):
                for place in NAME_OF_SLIDER:
                    old, new = place.format(name), place.format(say(name))
                    named = named.replace(old, new)
            classes = " ".join([LIVE, *image["classes"]])
            rewrite(html, named.replace(LIVE, classes, 1))
