"""Nothing of an older build stays, and no figure is larger than it need be.

Sphinx leaves behind the pages of chapters that were renamed or removed, and
the images of older runs; they would be tested, packed and published.  And
Matplotlib writes the coordinates of an SVG with six decimals, of a point:
two are a tenth of what a screen can show.
"""

import re
from pathlib import Path

ALWAYS = {"404.html", "genindex.html", "index.html", "search.html"}
PATH = re.compile(r'(?<=\sd=")[^"]+')
PLACE = re.compile(r'(?<=\s)(?:x|y|x1|x2|y1|y2|width|height)="-?\d+\.\d{3,}"')
NUMBER = re.compile(r"-?\d+\.\d{3,}")


def shorten(svg):
    """Two decimals in the paths and places of a drawing.

    >>> shorten('<path d="M 1.234567 -0.001 L 10 20.5"/>')
    '<path d="M 1.23 0 L 10 20.5"/>'
    """

    def number(match):
        value = round(float(match[0]), 2) + 0.0  # and no minus zero
        return f"{value:.2f}".rstrip("0").rstrip(".")

    def numbers(match):
        return NUMBER.sub(number, match[0])

    return PLACE.sub(numbers, PATH.sub(numbers, svg))


def own_modules_only(app, env):
    """No page with the source of a module that is not the book's."""
    modules = getattr(env, "_viewcode_modules", {})
    for name in [n for n in modules if n.split(".")[0] != "kernelbook"]:
        del modules[name]


def pages(app):
    """The pages that belong to this build, whether or not it wrote them."""
    modules = getattr(app.env, "_viewcode_modules", {})
    names = {f"_modules/{n.replace('.', '/')}" for n in modules if modules[n]}
    names |= {"_modules/index", *app.env.found_docs}
    return ALWAYS | {f"{name}.html" for name in names}


def tidy(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out, kept, text = Path(app.outdir), pages(app), []
    for path in out.rglob("*.html"):
        name = str(path.relative_to(out))
        if name.startswith("_static/"):
            continue
        if name in kept:
            text.append(path.read_text("utf-8"))
        else:
            path.unlink()
    shown = set(re.findall(r"_images/([^\"'\s]+)", "".join(text)))
    for image in (out / "_images").glob("*"):
        if image.name not in shown:
            image.unlink()
        elif image.suffix == ".svg":
            drawing = image.read_text("utf-8")
            if (short := shorten(drawing)) != drawing:
                image.write_text(short, "utf-8")
    for source in (out / "_sources").rglob("*.md"):
        name = str(source.relative_to(out / "_sources"))
        if name.removesuffix(".md") not in app.env.found_docs:
            source.unlink()
    for notebook in (out / "notebooks").glob("*.ipynb"):
        if f"chapters/{notebook.stem}" not in app.env.found_docs:
            notebook.unlink()


def setup(app):
    app.connect("env-updated", own_modules_only)
    app.connect("build-finished", tidy, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
