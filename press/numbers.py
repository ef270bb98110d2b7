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
its file, ``09_gp_regression``, also in a book without chapter 8.

The line under an equation comes from the ledger.  So do the words by which the
search finds it: Sphinx's search ignores numbers, but not entries of the index,
so each equation gets some that only the search sees, (6.8) as 6.8, PRML 6.8,
notes (7) …, ``eq-weak-duality`` as weak duality.  In the glossary the Chinese
words, ``{zh}`核函数```, lead to their entries in the same way.
"""

import re
from itertools import chain, product
from pathlib import Path
from string import ascii_lowercase

from docutils import nodes
from docutils.parsers.rst.roles import CustomRole, generic_custom_role
from sphinx import addnodes

from press.ledger import LEDGER, SOURCES, source_line, sources
from press.reader import NUMBERED, Page

CHINESE = "language-zh"  # docutils makes of it the attribute lang="zh"
Zh = CustomRole("zh", generic_custom_role, {"class": [CHINESE]})


# Numbers --------------------------------------------------------------------


def source_number(label):
    """The number printed in the source, or None.

    >>> source_number("eq-6-8"), source_number("equation-eq-gp-27")
    ('6.8', '27')
    >>> source_number("eq-kernel"), source_number("eq-6-8-again")
    (None, None)
    """
    number = r"(?:equation-)?eq-(?:(6)-(\d+)|(?:notes|gp)-(\d+))"
    match = re.fullmatch(number, label)
    return ".".join(filter(None, match.groups())) if match else None


def all_if_renumbered(app, env):
    """Any page may cite a number that has changed."""
    numbers = env.toc_secnumbers, env.toc_fignumbers
    before, env.last_numbers = getattr(env, "last_numbers", None), numbers
    return [] if before == numbers else sorted(env.found_docs)


def renumber(app, _):
    """Put our numbers in place of Sphinx's, once those are stored.

    With them it compares its own of the next build, to see what to write.
    """
    env = app.env
    if hasattr(env, "renumbered"):
        return
    env.renumbered = True
    for docname in filter(NUMBERED.match, env.toc_secnumbers):
        chapter = int(NUMBERED.match(docname)[1])
        references = env.tocs[docname].findall(nodes.reference)
        for node in [env.titles[docname], *references]:
            if node.get("secnumber"):
                node["secnumber"] = [chapter, *node["secnumber"][1:]]
        figures = env.toc_fignumbers[docname]
        for numbers in [env.toc_secnumbers[docname], *figures.values()]:
            for key, number in numbers.items():
                numbers[key] = (chapter, *number[1:]) if number else number
        number_equations(figures.get("displaymath", {}))


def number_equations(equations):
    """Give them the numbers of the sources, or letters.

    >>> numbers = {"eq-one": (2, 1), "eq-6-2": (2, 2), "eq-two": (2, 3)}
    >>> number_equations(numbers)
    >>> numbers
    {'eq-one': ('2a',), 'eq-6-2': ('6.2',), 'eq-two': ('2b',)}
    """
    pairs = map("".join, product(ascii_lowercase, repeat=2))
    own = chain(ascii_lowercase, pairs)  # a, b, ..., z, aa, ab, ...
    for label, (chapter, *_) in equations.items():
        number = source_number(label) or f"{chapter}{next(own)}"
        equations[label] = (number,)


def printed_numbers(env):
    """The number of every labelled equation of the book."""
    return {
        key.removeprefix("equation-"): ".".join(map(str, number))
        for numbers in env.toc_fignumbers.values()
        for key, number in numbers.get("displaymath", {}).items()
    }


# The line under an equation -------------------------------------------------


def with_source_lines(page):
    r"""The text of a page, each labelled equation followed by its line.

    >>> with_source_lines(Page(Path("x"), "$$ b $$ (eq-b)\nEnd, $c$."))
    '$$ b $$ (eq-b)\n\n*not in the sources*\n\nEnd, $c$.'
    """
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
    >>> {"27", "equation 27", "PRML 6.66", "6.66", "lecture p. 56"} <= found
    True
    >>> "weak duality" in names("eq-weak-duality", "14b", [])
    True
    """
    found = {number, f"({number})", f"equation ({number})"}
    found |= {f"{word} {number}" for word in ("equation", "eq.", "eq")}
    if source_number(label) is None:
        found.add(label.removeprefix("eq-").replace("-", " "))
    for text in said:
        place = re.match(r"(\w+) (?:\(([\w.]+)\)|p\. \d+)", text)
        if place and place[1] in SOURCES:
            found |= {place[0], re.sub(r"[()]", "", place[0])}
            if place[1] == "PRML" and place[2]:
                found.add(place[2])
    return found


def only_for_search(words, target):
    entries = [("single", word, target, "main", None) for word in words]
    return addnodes.index(entries=entries)


def name_for_search(app, doctree, docname):
    numbers = printed_numbers(app.env)
    for node in list(doctree.findall(nodes.math_block)):
        label = node.get("label")
        if label in numbers:
            words = names(label, numbers[label], sources().get(label, []))
            index = only_for_search(sorted(words), f"equation-{label}")
            node.parent.insert(node.parent.index(node), index)
    for term in list(doctree.findall(nodes.term)):
        marked = [
            node.astext()
            for node in term.parent.findall(nodes.inline)
            if CHINESE in node["classes"]
        ]
        if marked and term["ids"]:
            term.insert(0, only_for_search(marked, term["ids"][0]))
