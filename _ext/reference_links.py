"""The library reference says where the book uses each function.

Below the first paragraph of a docstring goes a line such as

    Equation (6.8) · chapter 2 · chapter 14

Nothing of this is kept by hand.  The equations of a function are those whose
entry in the ledger names it; failing that, those of the section that prints
its listing, best those whose check calls it; failing that, those anywhere
whose check calls it, unless they are many: then it is a tool, and belongs to
none of them.

Its chapters are those of its equations and those that print its listing;
failing that, those whose cells name it.  What no chapter names is used where
the functions are used that call or return it.
"""

import ast
import re
from collections import defaultdict
from functools import cache

from ledger import (
    CHAPTERS,
    LEDGER,
    ROOT,
    calls,
    page_path,
    places,
    read,
)

LIBRARY = ROOT / "kernelbook"
MANY = 4

LISTING = re.compile(
    r"^```\{literalinclude\} \.\./kernelbook/(\w+)(?:/\w+)?\.py\n"
    r":pyobject: (\w+)"
)
ROLES = {"equation": "eq", "theorem": "prf:ref"}
calls = cache(calls)  # a cell belongs to several places


def listings(text):
    """Functions whose listing a chapter prints, with the section it is in."""
    section = ""
    for block in re.split(r"^(?=#+ |```\{literalinclude\})", text, flags=re.M):
        if heading := re.match(r"#+ (.*)", block):
            section = heading[1]
        elif found := LISTING.match(block):
            yield f"{found[1]}.{found[2]}", section


@cache
def named(source):
    """Everything like ``module.name`` that a cell names, called or not."""
    return {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


def uses(chapters, entries):
    """Equations and chapters of each function: ``ridge.predict`` -> ...

    ``chapters`` maps a chapter's number to its text.  An equation is a tuple
    (chapter, line, label, sort), so that sorting gives the order of the book.
    """
    in_ledger, checked = defaultdict(set), defaultdict(set)
    shown, mentioned = defaultdict(set), defaultdict(set)
    sections, inside = defaultdict(set), defaultdict(set)
    pages = {number: places(text) for number, text in chapters.items()}
    for entry in entries:
        place = pages.get(entry.page, {}).get(entry.anchor)
        if entry.function and place and place.sort in ROLES:
            home = (entry.page, place.line, entry.anchor, place.sort)
            in_ledger[entry.function].add(home)
        elif entry.function and place:
            shown[entry.function].add(entry.page)
            sections[entry.function].add((entry.page, place.title))
    for number, text in chapters.items():
        for function, section in listings(text):
            shown[function].add(number)
            sections[function].add((number, section))
        for label, place in pages[number].items():
            for function in set().union(*map(named, place.cells)):
                mentioned[function].add(number)
            if place.sort in ROLES:
                home = (number, place.line, label, place.sort)
                inside[number, place.section].add(home)
                for function in set().union(*map(calls, place.cells)):
                    checked[function].add(home)
    found = {}
    for function in {*in_ledger, *checked, *shown, *mentioned}:
        far = checked[function]
        beside = set().union(*(inside[s] for s in sections[function]))
        equations = sorted(
            in_ledger[function]
            or far & beside
            or beside
            or (far if len(far) <= MANY else ())
        )
        numbers = {home[0] for home in equations} | shown[function]
        found[function] = equations, sorted(numbers or mentioned[function])
    return found


def library(sources):
    """What each function of the library names of the library, in its body,
    its annotations and its decorators; ``sources`` maps module to source."""
    trees = {module: ast.parse(text) for module, text in sources.items()}
    own = {
        module: {
            node.name: f"{module}.{node.name}"
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        for module, tree in trees.items()
    }
    found = {}
    for module, tree in trees.items():
        known = dict(own[module])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                origin = node.module.removeprefix("kernelbook.").split(".")[0]
                for alias in node.names:
                    known[alias.asname or alias.name] = (
                        f"{origin}.{alias.name}"
                    )
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                words = {
                    known[word.id]
                    for word in ast.walk(node)
                    if isinstance(word, ast.Name) and word.id in known
                }
                found[f"{module}.{node.name}"] = words | {
                    ".".join(name.split(".")[-2:])
                    for name in named(ast.unparse(node))
                }
    return found


def inherit(found, names_of):
    """Let what no chapter names be used where its users are used.

    >>> found = {"gp.fit": (["eq"], ["08"])}
    >>> inherit(found, {"gp.fit": {"gp.GP"}, "gp.GP": {"gp.GP"}})["gp.GP"]
    (['eq'], ['08'])
    """
    found = dict(found)
    for _ in names_of:
        missing = [name for name in names_of if name not in found]
        new = {}
        for name in missing:
            users = [u for u in names_of if name in names_of[u] and u in found]
            if users:
                new[name] = tuple(
                    sorted(set().union(*(found[user][i] for user in users)))
                    for i in (0, 1)
                )
        if not new:
            break
        found |= new
    for name in set(found) & set(names_of):
        if len(found[name][0]) > 2 * MANY:
            found[name] = [], found[name][1]
    return found


def sentence(equations, chapters, docname_of):
    """The line below the docstring, in reStructuredText.

    >>> home = ("02", 560, "eq-6-8", "equation")
    >>> sentence([home], ["02"], lambda number: "02_dual")
    'Equation :eq:`eq-6-8` · :doc:`chapter 2 <02_dual>`'
    >>> sentence([], ["01", "02"], {"01": "01_a", "02": "02_b"}.get)
    ':doc:`Chapter 1 <01_a>` · :doc:`chapter 2 <02_b>`'
    """
    parts = []
    numbers = [
        f":eq:`{label}`"
        for _, _, label, sort in equations
        if sort == "equation"
    ]
    if numbers:
        word = "Equation" if len(numbers) == 1 else "Equations"
        parts.append(f"{word} {', '.join(numbers)}")
    parts += [
        f":prf:ref:`{label}`"
        for _, _, label, sort in equations
        if sort == "theorem"
    ]
    for number in chapters:
        word = "chapter" if parts else "Chapter"
        parts.append(f":doc:`{word} {int(number)} <{docname_of(number)}>`")
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
    chapters = {
        path.name[:2]: path.read_text("utf-8")
        for path in sorted(CHAPTERS.glob("[0-9][0-9]_*.md"))
    }
    sources = defaultdict(str)  # the files of a package are one module
    for path in sorted(LIBRARY.rglob("*.py")):
        module = path.relative_to(LIBRARY).parts[0].removesuffix(".py")
        sources[module] += path.read_text("utf-8") + "\n"
    entries, _ = read()
    found = uses(chapters, entries.values())
    return inherit(found, library(sources))


def link(app, what, name, obj, options, lines):
    if what not in ("function", "class"):
        return
    app.env.note_dependency(str(LEDGER))
    for path in CHAPTERS.glob("[0-9][0-9]_*.md"):
        app.env.note_dependency(str(path))
    equations, chapters = book().get(
        name.removeprefix("kernelbook."), ([], [])
    )
    if chapters:
        insert(
            lines,
            sentence(equations, chapters, lambda n: page_path(n).stem),
        )


def forget(app):
    book.cache_clear()


def setup(app):
    app.connect("builder-inited", forget)
    # After napoleon (priority 500) has read the sections.
    app.connect("autodoc-process-docstring", link, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
