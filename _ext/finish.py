"""The last touch to every page: what the theme leaves to be mended.

All of it happens in one place, on the page as it is about to be written:

- accessibility: names, roles and landmarks that axe-core objects to;
- icons: a dozen small drawings in the page instead of a script of 1.5 MB
  that draws them when it has arrived;
- weight: search index and tabs only where they are used;
- stillness: light or dark chosen before the first paint, fonts of the
  mathematics asked for at once, and images that say how large they will be,
  so that nothing moves or changes colour while the page loads.

``tests/judges.py`` and ``tests/book/test_weight.py`` hold the result.
"""

import re
from functools import cache
from itertools import cycle
from pathlib import Path

import imagesize

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

REPAIRS = [
    # A button's name is what it shows; the field shows a shortcut too.
    (r'(<button class="btn search-button-field[^>]*?) aria-label="[^"]*"', ""),
    (r' aria-label="Toggle hidden content"', None),
    # Icons alone do not name a button, and a title is not read by all.
    (
        r'(<button class="sidebar-toggle [^>]*?) title="([^"]*)"',
        r' title="\2" aria-label="\2"',
    ),
    # The sidebar is a landmark, so that its logo lies in one.
    (
        r'(<div id="pst-primary-sidebar")',
        ' role="complementary" aria-label="Book"',
    ),
    # Entries of the bibliography are items of a list.
    (
        r'(<div class="citation"[^>]*?) role="doc-biblioentry"',
        ' role="listitem"',
    ),
    # The body is the page's own title and contents once more, for print.
    (r'<div id="jb-print-docs-body".*?(?=<div id="searchbox">)', None),
    # Proofs, exercises and solutions all have the same id inside.
    (r' id="(?:(?:proof|exercise|solution)-content|proof)"', None),
    (r'<div id="ethical-ad-placement".*?</div>', None),
    (r'<script defer src="[^"]*fontawesome\.js[^"]*"></script>', None),
]
REPAIRS = [
    (re.compile(pattern, re.S), "" if new is None else r"\1" + new)
    for pattern, new in REPAIRS
]


def repair(html):
    """The page without what axe-core finds wrong with the theme."""
    for pattern, new in REPAIRS:
        html = pattern.sub(new, html)
    return ICON.sub(draw_icon, html)


def choose_theme(html):
    """Light or dark from the first paint on; light without scripts."""
    html = html.replace("<html ", '<html data-theme="light" ', 1)
    return re.sub(
        r'<script data-cfasync="false">.*?</script>',
        lambda match: CHOICE,
        html,
        count=1,
        flags=re.S,
    )


def drop_unused(html):
    """Scripts and style sheets that this page has no use for."""
    unused = []
    if 'id="search-results"' not in html:
        unused += ["searchtools", "language_data", "searchindex"]
    if not re.search(r'class="[^"]*\bsd-', html):
        unused += ["design-tabs", r"sphinx-design\.min"]
    names = "|".join(unused) or "$^"
    html = re.sub(
        rf'<script[^>]* src="[^"]*\b(?:{names})\.js[^"]*"></script>', "", html
    )
    return re.sub(
        rf'<link[^>]* href="[^"]*\b(?:{names})\.css[^"]*"[^>]*>', "", html
    )


# The search shows a piece of each page it finds; from a disk it may not.
FROM_DISK = """<script>
  if (location.protocol === "file:")
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
</script>"""


def search_from_disk(html):
    if 'id="search-results"' not in html:
        return html
    return re.sub(
        r'<script src="[^"]*documentation_options\.js[^"]*"></script>',
        lambda match: match[0] + FROM_DISK,
        html,
        count=1,
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


def size_images(html, file_of):
    """Say how large each image is; ``file_of`` knows where its file lies."""

    def sized(match):
        path = file_of(match[1])
        if " width=" in match[0] or path is None:
            return match[0]
        width, height = size(path)
        late = "" if "logo" in path.name else ' decoding="async"'
        return match[0].replace(
            "<img", f'<img width="{width}" height="{height}"{late}', 1
        )

    return re.sub(r'<img\b[^>]*\bsrc="([^"]+)"[^>]*>', sized, html)


def finish_pages(app):
    """Pages pass through here on their way from template to file."""
    if app.builder.format != "html":
        return
    templates = app.builder.templates
    render = templates.render

    def file_of(src):
        name = src.rsplit("/", 1)[-1]
        for source, target in app.builder.images.items():
            if target == name:
                return Path(app.srcdir, source)
        logo = Path(app.srcdir, "chapters", "figures", name)
        return logo if logo.exists() else None

    def render_and_finish(name, context):
        html = render(name, context)
        if not name.endswith(".html"):
            return html
        html = drop_unused(choose_theme(repair(html)))
        html = preload_fonts(label_cells(search_from_disk(html)))
        return size_images(html, file_of)

    templates.render = render_and_finish


def setup(app):
    app.connect("builder-inited", finish_pages, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
