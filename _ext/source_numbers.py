"""Equations carry the number of the source they come from.

A reader arrives with a number in hand: PRML's (6.8), the notes' (27).  The
label says which it is, and both the number printed beside the equation and the
one printed by ``{eq}`` follow from the label:

    eq-6-8       PRML (6.8)            printed (6.8)
    eq-notes-9   notes (9)             printed (9)
    eq-gp-27     notes (27)            printed (27)
    eq-anything  in no source          printed (2a), (2b), ... in chapter 2

The letter keeps our own numbers apart from the sources': PRML's (6.8) stands
in chapter 2, and chapter 6 has no second (6.8).

A chapter's number is that of its file, ``08_gp_regression``, so that chapter 8
is called 8 also while a chapter before it is still being written.
"""

import re
from copy import deepcopy
from itertools import count

from docutils import nodes

SOURCE_LABEL = re.compile(r"equation-eq-(?:(6)-(\d+)|(?:notes|gp)-(\d+))$")


def source_number(node_id):
    """The number printed in the source, or None: equation-eq-6-8 -> 6.8."""
    match = SOURCE_LABEL.match(node_id)
    return ".".join(filter(None, match.groups())) if match else None


def letters(index):
    """0, 1, ..., 25, 26 -> a, b, ..., z, aa."""
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
        match = re.match(r"chapters/(\d\d)_", docname)
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


def setup(app):
    # Sphinx's own collector (priority 500) numbers everything; then we do.
    app.connect("env-get-updated", recall_sphinx_numbers, priority=1)
    app.connect("env-get-updated", remember_sphinx_numbers, priority=700)
    app.connect("env-get-updated", number_chapters, priority=800)
    app.connect("env-get-updated", number_equations, priority=900)
    app.connect("env-get-updated", write_all_if_renumbered, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
