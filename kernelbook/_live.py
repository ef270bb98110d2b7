"""From frames of SVG to one piece of HTML with sliders.

Of every frame only the groups that move are kept, and of these only what
differs from frame to frame.  ``live.js`` puts it back.  See `figures.live`.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

Element = ElementTree.Element
Defs = dict[str, Element]
Marks = dict[str | None, dict[str, str]]
SCRIPT = Path(__file__).with_name("live.js").read_text("utf-8")
ALONG = re.compile(r"translate\((\S+) 0\)")
PLACE = re.compile(r"(scale\([^)]*\))|-?\d+\.\d+")
POLYLINE = re.compile(r"(?:[ML] \S+ \S+ |z )+")
IDS = re.compile(r'( id="| for="|href="#|url\(#)([\w.-]+)')


@dataclass(frozen=True)
class Scene:
    """A drawing, the definitions it refers to, and some of its numbers."""

    drawing: Element
    defs: Defs
    numbers: dict[str, str]


@dataclass(frozen=True)
class Slider:
    """A visible name, the values as they are shown, and where it starts."""

    name: str
    values: list[str]
    start: int


def read(svg: str, marks: Marks) -> tuple[Element, Defs]:
    """One frame's drawing, made short, and what it refers to, by id.

    ``marks`` gives the attributes of the groups we want to find again; all
    ids of groups are dropped, so that figures can share a page.
    """
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.text = element.tail = None
        for key in list(element.attrib):
            if key.endswith("}href"):
                element.set("href", element.attrib.pop(key))
        if "d" in element.attrib:
            element.set("d", shorten(element.attrib["d"]))
        for key in {"x", "y", "transform"} & element.attrib.keys():
            element.set(key, round_places(element.attrib[key]))
        along = ALONG.fullmatch(element.get("transform", ""))
        if element.tag == "use" and along:
            element.set("x", along[1])
            del element.attrib["transform"]
        if "style" in element.attrib:
            element.set("style", element.attrib["style"].replace(": ", ":"))
    for group in root.iter("g"):
        _share_style(group)
    defs = {d.attrib["id"]: d for d in root.iter() if _is_definition(d)}
    _draw_in_place(root, defs)
    for parent in root.iter():
        for child in list(parent):
            if child.tag in ("defs", "metadata"):
                parent.remove(child)
        name = parent.attrib.pop("id", None)
        if parent.tag == "g" and name in marks:
            parent.attrib.update(marks[name])
    return root, defs


def _share_style(group: Element) -> None:
    """Say once what a crowd of equal markers says each."""
    styles = {child.get("style") for child in group}
    if len(group) > 1 and {child.tag for child in group} == {"use"}:
        style = styles.pop()
        if style and not styles:
            group.set("style", style)
            for child in group:
                del child.attrib["style"]


def _draw_in_place(root: Element, defs: Defs) -> None:
    """A shape used only once, such as a band, needs no definition."""
    uses = list(root.iter("use"))
    count = Counter(use.attrib["href"] for use in uses)
    for use in uses:
        name = use.attrib["href"].removeprefix("#")
        if "style" in use.attrib and count["#" + name] == 1:
            shape = defs.pop(name)
            styles = [shape.get("style"), use.get("style")]
            use.tag = "path"
            use.attrib = {
                "d": shape.attrib["d"],
                "style": "; ".join(filter(None, styles)),
                "transform": f"translate({use.get('x')} {use.get('y')})",
            }


def _is_definition(element: Element) -> bool:
    return element.tag != "g" and "id" in element.attrib


def round_places(text: str) -> str:
    """Places to a tenth of a point; factors of a scale as they are.

    Examples
    --------
    >>> round_places("translate(1.2345 7) scale(0.015625)")
    'translate(1.2 7) scale(0.015625)'
    """
    return PLACE.sub(lambda m: m[1] or f"{round(float(m[0]), 1):g}", text)


def shorten(path: str) -> str:
    """A path of straight lines in tenths of a point, step by step.

    Steps are differences of rounded places: rounding does not add up.

    Examples
    --------
    >>> shorten("M 1.04 2 L 1.26 1.96 L 9 2 z")
    'M1 2l.3 0 7.7 0z'
    >>> shorten("M 0 0 L -1 -1 z M 5 5 L 6 5.5 z")
    'M0 0l-1-1zM5 5l1 .5z'
    """
    path = " ".join(path.split())
    if not POLYLINE.fullmatch(path + " "):
        return path
    short, here, command = "", (0, 0), ""
    for word, x, y in re.findall(r"z|([ML]) (\S+) (\S+)", path):
        if not word:
            short, command = short + "z", ""
            continue
        there = (round(10 * float(x)), round(10 * float(y)))
        step = (there[0] - here[0], there[1] - here[1])
        if word == "M":
            short += f"M{_tenths(there[0])} {_tenths(there[1])}"
        elif step == (0, 0):
            continue
        else:
            short += " " if command == "L" else "l"
            short += f"{_tenths(step[0])} {_tenths(step[1])}"
        here, command = there, word
    return short.replace(" -", "-")


def _tenths(n: int) -> str:
    """12 -> 1.2, -3 -> -.3, 40 -> 4."""
    text = f"{abs(n) // 10 or ''}" + (f".{abs(n) % 10}" if n % 10 else "")
    return ("-" if n < 0 else "") + (text or "0")


def markup(elements: Iterable[Element]) -> str:
    """The elements as text for an HTML page."""
    text = "".join(ElementTree.tostring(e, "unicode") for e in elements)
    return text.replace(" />", "/>")


def page(whole: Scene, frames: Sequence[Scene], sliders: list[Slider]) -> str:
    """The HTML of a figure whose sliders choose among the frames.

    ``frames`` has one entry for each combination of the sliders' values, the
    last slider running fastest.
    """
    defs = dict(whole.defs)
    for frame in frames:
        defs.update(frame.defs)
    groups = [_groups(frame.drawing) for frame in frames]
    own = _Ids(markup(whole.drawing) + str(groups))
    record = {
        "sliders": [{"name": s.name, "values": s.values} for s in sliders],
        "moving": _moving(
            [{g: own(text) for g, text in frame.items()} for frame in groups]
        ),
    }
    drawing = f"<defs>{markup(defs.values())}</defs>{markup(whole.drawing)}"
    size = whole.drawing.attrib
    return (
        '<div class="live-figure">'
        f'<svg viewBox="{size["viewBox"]}" width="{size["width"]}" role="img"'
        f' aria-label="{escape(summary(sliders))}"'
        ' style="stroke-linejoin:round;stroke-linecap:butt">'
        f"{own(drawing)}</svg>\n"
        f"{own(_controls(sliders))}\n<script>\n{SCRIPT}</script>\n"
        f'<script type="application/json" class="live-frames">'
        f"{_json(record)}</script>\n</div>\n"
    )


class _Ids:
    """Gives ids short names that no other figure of the page has."""

    def __init__(self, content: str) -> None:
        digest = hashlib.sha256(content.encode()).hexdigest()
        self.prefix, self.short = f"k{digest[:4]}-", dict[str, str]()

    def __call__(self, html: str) -> str:
        return IDS.sub(self._rename, html)

    def _rename(self, match: re.Match[str]) -> str:
        name = self.short.setdefault(match[2], str(len(self.short)))
        return match[1] + self.prefix + name


def summary(sliders: Iterable[Slider]) -> str:
    """What there is to move, in one line."""
    ranges = [
        f"{s.name} = {s.values[0]} … {s.values[-1]} ({len(s.values)} values)"
        for s in sliders
    ]
    return f"live figure: {', '.join(ranges)}"


def place(sliders: Sequence[Slider], index: int) -> str:
    """Where the sliders stand in a frame."""
    where = []
    for slider in reversed(sliders):
        index, at = divmod(index, len(slider.values))
        where.append(f"{slider.name} = {slider.values[at]}")
    return ", ".join(reversed(where))


def _groups(drawing: Element) -> dict[str, str]:
    """What each moving group contains, as text."""
    return {
        group.attrib["data-moves"]: markup(group)
        for group in drawing.iter("g")
        if "data-moves" in group.attrib
    }


def _moving(frames: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    """For each group that differs: its distinct contents, and when."""
    first, *others = frames
    for frame in others:
        for group in first.keys() ^ frame.keys():
            raise ValueError(
                "what moves must be seen in every frame, such as a text that "
                f"is never empty, but {group!r} is not"
            )
    moving = []
    for group in first:
        contents = [frame[group] for frame in frames]
        distinct = list(dict.fromkeys(contents))
        if len(distinct) == 1:
            continue
        before = _shared(distinct)
        tails = [text[len(before) :][::-1] for text in distinct]
        after = _shared(tails)[::-1]
        moving.append(
            {
                "group": group,
                "before": before,
                "after": after,
                "drawn": [tail[len(after) :][::-1] for tail in tails],
                "which": [distinct.index(text) for text in contents],
            }
        )
    if not moving:
        raise ValueError("draw must depend on its sliders, but nothing moves")
    return moving


def _shared(texts: list[str]) -> str:
    """The longest beginning that all texts have."""
    low, high = min(texts), max(texts)
    same = 0
    while same < len(low) and low[same] == high[same]:
        same += 1
    return low[:same]


def _controls(sliders: Sequence[Slider]) -> str:
    rows = ""
    for i, slider in enumerate(sliders):
        name, value = escape(slider.name), escape(slider.values[slider.start])
        rows += (
            f'<div class="live-slider"><label for="slider-{i}">{name}</label>'
            f'<input type="range" id="slider-{i}" min="0"'
            f' max="{len(slider.values) - 1}" value="{slider.start}"'
            f' aria-valuetext="{name} = {value}" autocomplete="off">'
            f'<span aria-hidden="true">{value}</span></div>'
        )
    return f'<div class="live-controls" hidden>{rows}</div>'


def _json(record: dict[str, Any]) -> str:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.replace("</", "<\\/")
