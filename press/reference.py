"""The library reference says where the book uses each function.

Below the first paragraph of a docstring goes a line such as

    Equation (6.8) · chapter 2 · chapter 17

Nothing of this is kept by hand.  The equations of a function are those whose
entry in the ledger names it; failing that, those whose check calls it, unless
they are many: then it is a tool, and belongs to none of them.  Its chapters
are those of its equations and those that print its listing; failing that,
those whose cells name it.
"""

import inspect
import pkgutil
import re
from collections import defaultdict
from functools import cache
from importlib import import_module

import kernelbook
from press.ledger import LEDGER, homes
from press.reader import chapters, find

MANY = 4
ROLES = {"equation": "eq", "theorem": "prf:ref"}


def uses(pages):
    """Equations and chapters of each function: ``ridge.predict`` -> ...

    An equation is a tuple (chapter, line, label, sort), so that sorting gives
    the order of the book.
    """
    found: list[dict] = [defaultdict(set) for _ in range(4)]
    in_ledger, checked, shown, mentioned = found
    for page in pages:
        equations = {
            label: (page.number, part.line, label, part.sort)
            for label, (part, _) in page.places.items()
            if part.sort in ROLES
        }
        for label, home in equations.items():
            for cell in page.places[label].cells:
                for function in cell.calls:
                    checked[function].add(home)
        for entry in homes():
            if entry.function and entry.page == page.number:
                shown[entry.function].add(page.number)
                if entry.anchor in equations:
                    in_ledger[entry.function].add(equations[entry.anchor])
        for listing in page.directives("literalinclude"):
            module = re.match(r"\.\./kernelbook/(\w+)", listing.argument)[1]
            name = listing.options["pyobject"].partition(".")[0]
            shown[f"{module}.{name}"].add(page.number)
        for function in set().union(*(cell.names for cell in page.cells)):
            mentioned[function].add(page.number)
    uses = {}
    for function in set().union(*found):
        few = checked[function] if len(checked[function]) <= MANY else set()
        best = in_ledger[function] or few
        numbers = {home[0] for home in best} | shown[function]
        uses[function] = sorted(best), sorted(numbers or mentioned[function])
    return uses


def public():
    """Functions and classes of the library, as ``module.name``."""
    return {
        f"{module}.{name}": thing
        for _, module, _ in pkgutil.iter_modules(kernelbook.__path__)
        if not module.startswith("_")
        for name, thing in vars(import_module(f"kernelbook.{module}")).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and f"{thing.__module__}.".startswith(f"kernelbook.{module}.")
    }


@cache
def book():
    """What the book's chapters and the ledger say of functions."""
    return uses(chapters())


def sentence(equations, numbers):
    """The line below the docstring, in reStructuredText."""
    labels = [f":eq:`{e[2]}`" for e in equations if e[3] == "equation"]
    word = "Equations" if len(labels) > 1 else "Equation"
    parts = [f"{word} {', '.join(labels)}"] if labels else []
    parts += [f":prf:ref:`{e[2]}`" for e in equations if e[3] == "theorem"]
    for number in numbers:
        word = "chapter" if parts else "Chapter"
        stem = find(number).path.stem
        parts.append(f":doc:`{word} {int(number)} <{stem}>`")
    return " · ".join(parts)


def link(app, what, name, obj, options, lines):
    """Put the line below the first paragraph of a docstring."""
    if what not in ("function", "class"):
        return
    for path in [LEDGER, *(page.path for page in chapters())]:
        app.env.note_dependency(str(path))
    equations, numbers = book().get(name.removeprefix("kernelbook."), ([], []))
    if numbers:
        end = [*map(str.strip, lines), ""].index("")
        lines[end:end] = ["", sentence(equations, numbers), ""]
