"""Finding an equation by its number or name, and the way back when lost.

Sphinx's search ignores numbers.  It does not ignore entries of the index: so
each labelled equation gets some, seen by the search only.  (6.8) is found as
6.8, PRML 6.8, notes (7) ..., and ``eq-weak-duality`` as weak duality.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.environment.adapters.toctree import global_toctree_for_doc

PAGE = Path(__file__).parent / "404.html"


def names(label, number, sources):
    """What a reader may type to find an equation.

    >>> sorted(names("eq-6-8", "6.8", "PRML (6.8) · lecture p. 44"))[:3]
    ['(6.8)', '6.8', 'PRML (6.8)']
    >>> "weak duality" in names("eq-weak-duality", "14b", "")
    True
    """
    found = {number, f"({number})"}
    found |= {f"{word} {number}" for word in ("equation", "eq.", "eq")}
    found |= {f"equation ({number})"}
    if re.fullmatch(r"eq-(?:\d+-|notes-|gp-)?\d+", label) is None:
        found.add(label.removeprefix("eq-").replace("-", " "))
    for source in re.split(r"\s+·\s+", sources.strip()):
        if re.fullmatch(r"\w+ (?:\([\w.]+\)|p\. \d+)", source):
            found |= {source, re.sub(r"[()]", "", source)}
            if source.startswith("PRML ("):
                found.add(source[6:-1])
    return found


def sources_below(node):
    """The line of sources printed under an equation."""
    following = node.next_node(nodes.paragraph, descend=False, siblings=True)
    if following is None or len(following) != 1:
        return ""
    only = following[0]
    return only.astext() if isinstance(only, nodes.emphasis) else ""


def name_equations(app, doctree, docname):
    numbers = app.env.toc_fignumbers.get(docname, {}).get("displaymath", {})
    for node in list(doctree.findall(nodes.math_block)):
        label = node.get("label")
        number = numbers.get(f"equation-{label}")
        if not label or not number:
            continue
        number = ".".join(map(str, number))
        entries = [
            ("single", name, f"equation-{label}", "main", None)
            for name in sorted(names(label, number, sources_below(node)))
        ]
        node.parent.insert(
            node.parent.index(node), addnodes.index(entries=entries)
        )


def contents(app):
    """Links to every page of the book, from its root."""
    tree = global_toctree_for_doc(
        app.env, app.config.root_doc, app.builder, collapse=False
    )
    links = []
    for link in tree.findall(nodes.reference):
        name = link["refuri"]
        target = f"chapters/{name}" if name else "chapters/index.html"
        number = ".".join(map(str, link.get("secnumber") or ()))
        words = f"{number} {link.astext()}".strip()
        links.append(f'<li><a href="{escape(target)}">{escape(words)}</a>')
    return "\n".join(links)


def write_404(app, exception):
    if exception is None and app.builder.format == "html":
        page = PAGE.read_text("utf-8").replace(
            "<!-- contents -->", contents(app)
        )
        Path(app.outdir, "404.html").write_text(page, "utf-8")


def setup(app):
    app.connect("doctree-resolved", name_equations)
    app.connect("build-finished", write_404, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
