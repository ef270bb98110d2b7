"""The library reference says where the book uses each function.

Below the first paragraph of a docstring goes a line such as

    In the book: (6.8), chapter 2, chapter 17.

Nothing of this is kept by hand: the equations are those whose entry in the
ledger names the function, the chapters those whose cells or listings do.
"""

import re
from functools import cache

from press.ledger import LEDGER, homes
from press.reader import chapters

# As napoleon writes it, with "* " before each if there are several; the
# first line of what an argument is, or, before " -- ", the first of more.
ARGUMENT = re.compile(r"^(.*?)\*\*(\S.*?)\*\* \((\*?)(.*?)\3\)(?:$| --(?= ))")


def skip(app, what, name, obj, skip, options):
    """The fields of a named tuple stand in its signature."""
    if (obj.__doc__ or "").startswith("Alias for field number"):
        return True
    return None


@cache
def named(page):
    """What of the library a page names, in cells and listings: gp.fit."""
    found = set().union(*(cell.names for cell in page.cells))
    for listing in page.directives("literalinclude"):
        module = re.match(r"\.\./kernelbook/(\w+)", listing.argument)[1]
        name = listing.options["pyobject"].partition(".")[0]
        found.add(f"{module}.{name}")
    return found


def links(function):
    """To the equations and chapters of a function, in reStructuredText."""
    equations = [
        f":eq:`{entry.anchor}`"
        for entry in homes()
        if entry.function == function
        and entry.place
        and entry.place.part.sort == "equation"
    ]
    return list(dict.fromkeys(equations)) + [
        f":doc:`chapter {int(page.number)} <{page.path.stem}>`"
        for page in chapters()
        if function in named(page)
    ]


def link(app, what, name, obj, options, lines):
    """Put the line below the first paragraph of a docstring.

    What NumPy's style would have be a type is here what the argument is:
    "w: (M,) weights" and not "w ((M,) weights)".
    """
    if what not in ("function", "class"):
        return
    lines[:] = [ARGUMENT.sub(r"\1**\2**: \4", line) for line in lines]
    for path in [LEDGER, *(page.path for page in chapters())]:
        app.env.note_dependency(str(path))
    if found := links(name.removeprefix("kernelbook.")):
        end = [*map(str.strip, lines), ""].index("")
        lines[end:end] = ["", f"In the book: {', '.join(found)}.", ""]
