"""“Chapter 8” in the text is a link to chapter 8, once there is one.

Chapters are named by their files, ``08_gp_regression``.  A chapter may so be
announced before it is written: the words become a link when it appears.
"""

import re

from docutils import nodes

MENTION = re.compile(r"\b([Cc]hapters? )(\d{1,2})\b")
NOT_INSIDE = (nodes.reference, nodes.literal, nodes.title, nodes.Invisible)


def chapters(env):
    """The page of each chapter, by number."""
    found = (re.match(r"chapters/(\d\d)_", name) for name in env.found_docs)
    return {int(match[1]): match.string for match in found if match}


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
    pages = chapters(app.env)
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


def setup(app):
    app.connect("doctree-resolved", link_chapters)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
