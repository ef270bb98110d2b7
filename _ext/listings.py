"""Listings of library functions, as short as a page wants them.

``literalinclude`` shows a function straight from its file.  Of the docstring
the book needs the sentence and the formula; shapes and examples are in the
library reference.
"""

import re

from docutils import nodes
from sphinx.directives.code import LiteralInclude

SECTIONS = re.compile(
    r"\n\s*\n\s*(?:Parameters|Returns|Raises|Examples)\n\s*---+\n"
    r'.*?(?=\n *""")',
    re.S,
)
ONE_LINE = re.compile(r'(""".+)\n *"""')


def without_sections(source):
    """The source, its docstrings cut before Parameters, Returns, ..."""
    return ONE_LINE.sub(r'\1"""', SECTIONS.sub("", source))


class Listing(LiteralInclude):
    def run(self):
        shown = super().run()
        for node in shown:
            for block in node.findall(nodes.literal_block):
                text = without_sections(block.astext())
                block.rawsource = text
                block.children = [nodes.Text(text)]
        return shown


def setup(app):
    app.add_directive("literalinclude", Listing, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
