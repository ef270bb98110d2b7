"""Chinese words in an English page.

    {zh}`核函数`     marked as Chinese, for fonts and for screen readers

In the glossary the word also leads a search to its entry.
"""

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxRole

CLASS = "language-zh"  # docutils makes of it the attribute lang="zh"


class Chinese(SphinxRole):
    def run(self):
        return [nodes.inline("", self.text, classes=[CLASS])], []


def find_entries(app, doctree, docname):
    """Entries of the index that only the search sees (see finding.py)."""
    for item in list(doctree.findall(nodes.definition_list_item)):
        term = item.next_node(nodes.term)
        if term is None or not term["ids"]:
            continue
        words = [
            node.astext()
            for node in item.findall(nodes.inline)
            if CLASS in node["classes"]
        ]
        if words:
            entries = [
                ("single", word, term["ids"][0], "main", None)
                for word in words
            ]
            term.insert(0, addnodes.index(entries=entries))


def setup(app):
    app.add_role("zh", Chinese())
    app.connect("doctree-resolved", find_entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
