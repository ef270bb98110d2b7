"""Live figures carry the alternative text of their cell.

`kernelbook.figures.live` writes a figure as HTML and, for places without
scripts, as an image.  The page shows the HTML; the alternative text and the
classes that a chapter gives its figure (``mystnb: image:``) are the image's.
Here they are handed on.
"""

import re
from html import escape

from docutils import nodes

LABEL = re.compile(r'(<svg [^>]*aria-label=")[^"]*')
CLASSES = '<div class="live-figure'


def with_words(html, alt, classes):
    """The figure with its alternative text and classes."""
    text = escape(" ".join(alt.split()))
    html = LABEL.sub(lambda match: match[1] + text, html, count=1)
    return html.replace(CLASSES, " ".join([CLASSES, *classes]), 1)


def hand_on_words(app, doctree):
    for bundle in doctree.findall(nodes.container):
        if bundle.get("nb_element") != "mime_bundle":
            continue
        for html in bundle.findall(nodes.raw):
            if not html.astext().startswith(CLASSES):
                continue
            image = next(bundle.findall(nodes.image))
            text = with_words(
                html.astext(), image.get("alt", ""), image["classes"]
            )
            html.rawsource = text
            html.children = [nodes.Text(text)]


def setup(app):
    app.connect("doctree-read", hand_on_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
