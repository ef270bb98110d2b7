"""The library reference says where the book uses each function.

Below the first paragraph of a docstring goes a line such as

    Equation (6.8) · chapter 2 · chapter 14

Nothing of this is kept by hand.  The equations of a function are those whose
entry in the ledger names it; failing that, those of the section that prints
its listing, best those whose check calls it; failing that, those anywhere
whose check calls it, unless they are many: then it is a tool, and belongs to
none of them.  Its chapters are those of its equations and those that print
its listing; failing that, those whose cells name it.  What no chapter names is
used where the functions are used that call or return it.
"""

import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from functools import cache
from pathlib import PurePosixPath

import kernelbook
from press.ledger import LEDGER, homes
from press.reader import Heading, chapters, find

MANY = 4
ROLES = {"equation": "eq", "theorem": "prf:ref"}


def listed(directive):
    """The function whose listing a directive prints: gp.fit."""
    path = PurePosixPath(directive.argument)
    module = path.relative_to("../kernelbook").parts[0].removesuffix(".py")
    return f"{module}.{directive.options['pyobject'].partition('.')[0]}"


def uses(pages, entries):
    """Equations and chapters of each function: ``ridge.predict`` -> ...

    An equation is a tuple (chapter, line, label, sort), so that sorting gives
    the order of the book.
    """
    found: list[dict] = [defaultdict(set) for _ in range(6)]
    in_ledger, checked, shown, mentioned, beside, inside = found
    for page in pages:
        for cell in page.cells:
            for function in cell.names:
                mentioned[function].add(page.number)
        for label, place in page.places.items():
            if place.sort in ROLES:
                home = (page.number, place.part.line, label, place.sort)
                inside[page.number, place.part.section].add(home)
                for cell in place.cells:
                    for function in cell.calls:
                        checked[function].add(home)
    for page in pages:
        for directive in page.directives("literalinclude"):
            function = listed(directive)
            shown[function].add(page.number)
            beside[function] |= inside[page.number, directive.section]
    for entry in entries:
        if entry.function and entry.place and entry.page.isdigit():
            part, sort = entry.place.part, entry.place.sort
            if sort in ROLES:
                home = (entry.page, part.line, entry.anchor, sort)
                in_ledger[entry.function].add(home)
            else:
                heading = isinstance(part, Heading)
                section = part.title if heading else part.section
                shown[entry.function].add(entry.page)
                beside[entry.function] |= inside[entry.page, section]
    uses = {}
    for function in {*in_ledger, *checked, *shown, *mentioned}:
        far, near = checked[function], beside[function]
        few = far if len(far) <= MANY else set()
        equations = in_ledger[function] or far & near or near or few
        numbers = {home[0] for home in equations} | shown[function]
        uses[function] = (
            sorted(equations),
            sorted(numbers or mentioned[function]),
        )
    return uses


def public():
    """Functions and classes of the library, as ``module.name``."""
    found = {}
    for _, module, _ in pkgutil.iter_modules(kernelbook.__path__):
        if not module.startswith("_"):
            inside = f"kernelbook.{module}."
            for name, thing in vars(
                importlib.import_module(inside[:-1])
            ).items():
                if (
                    not name.startswith("_")
                    and (inspect.isfunction(thing) or inspect.isclass(thing))
                    and f"{thing.__module__}.".startswith(inside)
                ):
                    found[f"{module}.{name}"] = thing
    return found


def inherited(found, sources):
    """Let what no chapter names be used where its users are used.

    >>> sources = {"gp.fit": "def fit() -> GP: ...", "gp.GP": "class GP: ..."}
    >>> inherited({"gp.fit": (["eq"], ["08"])}, sources)["gp.GP"]
    (['eq'], ['08'])
    """
    found, missing = dict(found), sources.keys() - found.keys()
    for name in sorted(missing):
        module, short = name.split(".")
        word = re.compile(rf"(?<![.\w]){short}\(|-> \"?{short}\b|\({short}\)")
        users = [
            found[user]
            for user, source in sources.items()
            if user in found
            and (f"{name}(" in source or user.startswith(f"{module}."))
            and word.search(source.replace(f"{name}(", f"{short}("))
        ]
        if users:
            equations, numbers = (
                sorted(set().union(*(user[i] for user in users)))
                for i in (0, 1)
            )
            found[name] = (equations * (len(equations) <= 2 * MANY), numbers)
    return (
        inherited(found, sources)
        if missing - found.keys() < missing
        else found
    )


def sentence(equations, numbers):
    """The line below the docstring, in reStructuredText."""
    labels = [f":eq:`{e[2]}`" for e in equations if e[3] == "equation"]
    parts = [f"Equation{'s' * (len(labels) > 1)} {', '.join(labels)}"]
    parts = parts if labels else []
    parts += [f":prf:ref:`{e[2]}`" for e in equations if e[3] == "theorem"]
    for number in numbers:
        word = "chapter" if parts else "Chapter"
        stem = find(number).path.stem
        parts.append(f":doc:`{word} {int(number)} <{stem}>`")
    return " · ".join(parts)


def insert(lines, text):
    """Put ``text`` below the first paragraph of a docstring, in place."""
    end = next((i for i, line in enumerate(lines) if not line.strip()), None)
    if end is None:
        lines += ["", text, ""]
    else:
        lines[end:end] = ["", text]


@cache
def book():
    """What the chapters and the ledger say, read once a build."""
    sources = {name: inspect.getsource(x) for name, x in public().items()}
    return inherited(uses(chapters(), homes()), sources)


def link(app, what, name, obj, options, lines):
    if what not in ("function", "class"):
        return
    for path in [LEDGER, *(page.path for page in chapters())]:
        app.env.note_dependency(str(path))
    equations, numbers = book().get(name.removeprefix("kernelbook."), ([], []))
    if numbers:
        insert(lines, sentence(equations, numbers))


def setup(app):
    # After napoleon (priority 500) has read the sections.
    app.connect("autodoc-process-docstring", link, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
