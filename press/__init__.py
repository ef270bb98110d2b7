"""The press: what turns the chapters into pages; for Sphinx, one extension.

The way of an equation, from its source to a checked page::

    chapters/*.md, chapters/ledger.yml   what is written
      reader.py, ledger.py               read it, for everyone below
        evidence.py, quotations.py       no part of the build: where numbers
                                         and quotations come from; tests/book
                                         asks them
        tests/worlds                     the equation's LaTeX is evaluated
        tests/chapter_tests.py           its cells run; outputs are compared
      outputs.py                         hands on what passed, from
                                         _build/executed
      numbers.py … pages.py              set, link, pack: each says how
        tests/book                       reads and opens the built pages

Nothing here imports from ``tests``, but the build reads ``tests/expected``: a
page shows only what was compared.  ``kernelbook`` knows nothing of all this.
"""

import gc


def setup(app):
    """All that Sphinx is asked to do, in the order of a build."""
    from pybtex.plugin import register_plugin

    from press import (
        bibliography,
        epub,
        ledger_pages,
        numbers,
        outputs,
        pages,
        previews,
        reference,
        shorthand,
        take_away,
        translation,
    )

    # A book is some hundred thousand nodes, which stay: to look for garbage
    # among them, as often as Python does, took a third of the time.
    gc.set_threshold(100_000, 20, 100)
    pages.use_bundled_node()
    group = "pybtex.style.formatting"
    register_plugin(group, "unaccented", bibliography.Style)
    app.connect("config-inited", outputs.use_validated_outputs)
    app.connect("builder-inited", outputs.hand_on)
    # Pages are read ...
    app.add_role("zh", numbers.Zh)
    app.add_role("erratum", ledger_pages.Erratum(warn_dangling=True))
    app.add_directive("literalinclude", shorthand.Listing, override=True)
    for name in ledger_pages.WRITERS:
        app.add_directive(name, ledger_pages.FromLedger)
    if translation.TRANSLATED:
        app.connect("source-read", translation.exchange)
    app.connect("source-read", numbers.add_source_lines)
    app.connect("doctree-read", shorthand.hand_on_words)
    app.connect("autodoc-skip-member", reference.skip)
    # (after napoleon, at 500, has read the sections of a docstring)
    app.connect("autodoc-process-docstring", reference.link, priority=900)
    # ... and numbered (after Sphinx's own collector, at 500) ...
    app.connect("env-get-updated", numbers.all_if_renumbered, priority=900)
    app.connect("env-updated", pages.own_modules_only)
    # ... and written.
    app.connect("write-started", numbers.renumber)
    app.connect("missing-reference", shorthand.without_link)
    app.connect("doctree-resolved", numbers.name_for_search)
    app.connect("doctree-resolved", shorthand.link_chapters)
    app.connect("html-page-context", previews.ask_buttons, priority=800)
    app.connect("html-page-context", take_away.offer, priority=900)
    app.connect("build-finished", numbers.renumber, priority=1)  # or none was
    app.connect("build-finished", pages.finish, priority=700)
    app.connect("build-finished", previews.write_previews, priority=800)
    app.connect("build-finished", epub.write, priority=850)
    app.connect("build-finished", take_away.write_all, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
