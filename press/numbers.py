"""Equations: their numbers, the line under them, and how they are found.

A reader arrives with a number in hand: PRML's (6.8), the notes' (27).  The
label says which it is, and both the number printed beside the equation and the
one printed by ``{eq}`` follow from the label:

    eq-6-8       PRML (6.8)            printed (6.8)
    eq-notes-9   notes (9)             printed (9)
    eq-gp-27     notes (27)            printed (27)
    eq-anything  ours                  printed (2a), (2b), ... in chapter 2

The letter keeps our own numbers apart from the sources': PRML's (6.8) stands
in chapter 2, and chapter 6 has no second (6.8).  A chapter's number is that of
its file, ``08_gp_regression``, also in a book without chapter 7.

The line under an equation comes from the ledger.  So do the words by which the
search finds it: Sphinx's search ignores numbers, but not entries of the index,
so each equation gets some that only the search sees, (6.8) as 6.8, PRML 6.8,
notes (7) …, ``eq-weak-duality`` as weak duality.  In the glossary the Chinese
words, ``{zh}`核函数```, lead to their entries in the same way.
"""

import re
from copy import deepcopy
from itertools import count
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxRole

from press.ledger import LEDGER, SOURCES, origin, source_line, sources
from press.reader import NUMBERED, Page

SOURCE_LABEL = re.compile(
    r"(?:equation-)?eq-(?:(6)-(\d+)|(?:notes|gp)-(\d+))$"
)
CHINESE = "language-zh"  # docutils makes of it the attribute lang="zh"


# Numbers --------------------------------------------------------------------


def source_number(label):
    """The number printed in the source, or None.

    >>> source_number("eq-6-8"), source_number("equation-eq-gp-27")
    ('6.8', '27')
    >>> source_number("eq-kernel"), source_number("eq-6-8-again")
    (None, None)
    """
    match = SOURCE_LABEL.match(label)
    return ".".join(filter(None, match.groups())) if match else None


def letters(index):
    """0, 1, ..., 25, 26 -> a, b, ..., z, aa.

    >>> [letters(i) for i in (0, 25, 26, 51, 52)]
    ['a', 'z', 'aa', 'az', 'ba']
    """
    prefix = letters(index // 26 - 1) if index >= 26 else ""
    return prefix + chr(ord("a") + index % 26)


def recall_sphinx_numbers(app, env):
    """Sphinx compares its numbers with its own of the last build, not ours.

    Otherwise it would write every chapter again in every build.
    """
    if hasattr(env, "sphinx_numbers"):
        env.toc_secnumbers, env.toc_fignumbers = env.sphinx_numbers
    return []


def remember_sphinx_numbers(app, env):
    env.sphinx_numbers = deepcopy((env.toc_secnumbers, env.toc_fignumbers))
    return []


def number_chapters(app, env):
    """Put the file's number in front of every number of its chapter."""
    for docname, sections in env.toc_secnumbers.items():
        match = NUMBERED.match(docname)
        if not match:
            continue
        chapter = int(match[1])
        references = env.tocs[docname].findall(nodes.reference)
        for node in [env.titles[docname], *references]:
            if node.get("secnumber"):
                node["secnumber"] = [chapter, *node["secnumber"][1:]]
        for numbers in [sections, *env.toc_fignumbers[docname].values()]:
            for key, number in numbers.items():
                numbers[key] = (chapter, *number[1:]) if number else number
    return []


def number_equations(app, env):
    """Replace Sphinx's numbers once it has assigned them."""
    for numbers in env.toc_fignumbers.values():
        equations = numbers.get("displaymath", {})
        own = count()
        for node_id, (chapter, *_) in equations.items():
            number = source_number(node_id) or f"{chapter}{letters(next(own))}"
            equations[node_id] = (number,)
    return []


def write_all_if_renumbered(app, env):
    """Any page may cite a number that has changed."""
    before = getattr(env, "our_numbers", None)
    env.our_numbers = deepcopy((env.toc_secnumbers, env.toc_fignumbers))
    return [] if before == env.our_numbers else sorted(env.found_docs)


def printed_numbers(env):
    """The number of every labelled equation of the book."""
    return {
        key.removeprefix("equation-"): ".".join(map(str, number))
        for numbers in env.toc_fignumbers.values()
        for key, number in numbers.get("displaymath", {}).items()
    }


# The line under an equation -------------------------------------------------


def with_source_lines(page):
    """The text of a page, each labelled equation followed by its line."""
    lines = page.text.split("\n")
    for math in sorted(page.equations, key=lambda math: -math.end):
        lines.insert(math.end - 1, f"\n*{source_line(math.label)}*\n")
    return "\n".join(lines)


def add_source_lines(app, docname, source):
    if NUMBERED.match(docname):
        app.env.note_dependency(str(LEDGER))
        path = Path(app.env.doc2path(docname))
        source[0] = with_source_lines(Page(path, source[0]))


# What the search finds ------------------------------------------------------


def names(label, number, said):
    """What a reader may type to find an equation.

    >>> found = names("eq-gp-27", "27", ["PRML (6.66)", "lecture p. 56, x"])
    >>> {"27", "(27)", "equation 27", "6.66", "PRML 6.66"} <= found
    True
    >>> "lecture p. 56" in found
    True
    >>> "weak duality" in names("eq-weak-duality", "14b", [])
    True
    """
    found = {number, f"({number})", f"equation ({number})"}
    found |= {f"{word} {number}" for word in ("equation", "eq.", "eq")}
    if source_number(label) is None:
        found.add(label.removeprefix("eq-").replace("-", " "))
    for text in said:
        place = re.match(r"\w+ (?:\([\w.]+\)|p\. \d+)", text)
        if place and origin(text) in SOURCES:
            found |= {place[0], re.sub(r"[()]", "", place[0])}
            if place[0].startswith("PRML ("):
                found.add(place[0][6:-1])
    return found


def only_for_search(words, target):
    entries = [("single", word, target, "main", None) for word in words]
    return addnodes.index(entries=entries)


def name_equations(app, doctree, docname):
    numbers = printed_numbers(app.env)
    for node in list(doctree.findall(nodes.math_block)):
        label = node.get("label")
        if label in numbers:
            words = names(label, numbers[label], sources().get(label, []))
            index = only_for_search(sorted(words), f"equation-{label}")
            node.parent.insert(node.parent.index(node), index)


def name_in_chinese(app, doctree, docname):
    for item in list(doctree.findall(nodes.definition_list_item)):
        term = item.next_node(nodes.term)
        words = [
            node.astext()
            for node in item.findall(nodes.inline)
            if CHINESE in node["classes"]
        ]
        if words and term is not None and term["ids"]:
            term.insert(0, only_for_search(words, term["ids"][0]))


class Chinese(SphinxRole):
    """``{zh}`核函数```: marked as Chinese, for fonts and screen readers."""

    def run(self):
        return [nodes.inline("", self.text, classes=[CHINESE])], []


def setup(app):
    # Sphinx's own collector (priority 500) numbers everything; then we do.
    app.connect("env-get-updated", recall_sphinx_numbers, priority=1)
    app.connect("env-get-updated", remember_sphinx_numbers, priority=700)
    app.connect("env-get-updated", number_chapters, priority=800)
    app.connect("env-get-updated", number_equations, priority=900)
    app.connect("env-get-updated", write_all_if_renumbered, priority=950)
    app.connect("source-read", add_source_lines)
    app.connect("doctree-resolved", name_equations)
    app.connect("doctree-resolved", name_in_chinese)
    app.add_role("zh", Chinese())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
