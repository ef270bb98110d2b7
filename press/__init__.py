"""The press: what turns the chapters into pages.

The way of an equation, from its source to a checked page::

    chapters/*.md, chapters/ledger.yml   what is written
      reader.py, ledger.py               read it, for everyone below
        tests/worlds                     the equation's LaTeX is evaluated
        tests/chapter_tests.py           its cells run; outputs are compared
      outputs.py                         hands on the outputs that passed
      numbers.py … pages.py              Sphinx extensions: set, link, pack

Nothing here imports from ``tests``; ``kernelbook`` knows nothing of it.
"""
