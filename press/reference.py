"""The library reference says where the book uses each function.

Below the first paragraph of a docstring goes a line such as

    Equation (6.8) · chapter 2 · chapter 17

Nothing of this is kept by hand.  The equations of a function are those whose
entry in the ledger names it; failing that, those of the section that prints
its listing, best those whose check calls it; failing that, those anywhere
whose check calls it, unless they are many: then it is a tool, and belongs to
none of them.  Its chapters are those of its equations and those that print
its listing; failing that, those whose cells name it.  What no chapter names is
used where the functions are used that call or return it.
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
    found: list[dict] = [defaultdict(set) for _ in range(5)]
    in_ledger, checked, shown, mentioned, beside = found
    for page in pages:
        equations, inside = {}, defaultdict(set)
        for label, (part, cells) in page.places.items():
            if part.sort in ROLES:
                home = (page.number, part.line, label, part.sort)
                equations[label] = home
                inside[part.section].add(home)
                for function in set().union(*(cell.calls for cell in cells)):
                    checked[function].add(home)
        stand = []
        for listing in page.directives("literalinclude"):
            module = re.match(r"\.\./kernelbook/(\w+)", listing.argument)[1]
            name = listing.options["pyobject"].partition(".")[0]
            stand.append((f"{module}.{name}", listing.section))
        for entry in homes():
            if entry.function and entry.page == page.number and entry.place:
                if entry.anchor in equations:
                    in_ledger[entry.function].add(equations[entry.anchor])
                else:
                    part = entry.place.part
                    section = getattr(part, "title", part.section)
                    stand.append((entry.function, section))
        for function, section in stand:
            shown[function].add(page.number)
            beside[function] |= inside[section]
        for function in set().union(*(cell.names for cell in page.cells)):
            mentioned[function].add(page.number)
    uses = {}
    for function in {*in_ledger, *checked, *shown, *mentioned}:
        far, near = checked[function], beside[function]
        few = far if len(far) <= MANY else set()
        best = in_ledger[function] or far & near or near or few
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


def inherited(found, sources):
    """Let what no chapter names be used where its users are used.

    >>> sources = {"gp.fit": "def fit() -> GP: ...", "gp.GP": "class GP: ..."}
    >>> inherited({"gp.fit": (["eq"], ["08"])}, sources)["gp.GP"]
    (['eq'], ['08'])
    """
    found, missing = dict(found), sources.keys() - found.keys()
    for name in sorted(missing):
        module, short = name.split(".")
        # gp.fit( anywhere; in its own module also fit(, -> GP and (GP)
        own = rf"(?<![.\w]){short}\(|-> \"?{short}\b|\({short}\)"
        users = [
            found[user]
            for user, source in sources.items()
            if user in found
            and (
                f"{name}(" in source
                or (user.startswith(f"{module}.") and re.search(own, source))
            )
        ]
        if users:
            equations, numbers = (
                sorted(set().union(*used)) for used in zip(*users, strict=True)
            )
            found[name] = (equations * (len(equations) <= 2 * MANY), numbers)
    more = missing - found.keys() < missing
    return inherited(found, sources) if more else found


@cache
def book(*pages):
    """What these, or the book's, chapters and the ledger say of functions."""
    sources = {name: inspect.getsource(x) for name, x in public().items()}
    return inherited(uses(pages or chapters()), sources)


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
