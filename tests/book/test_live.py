"""Live figures in Chromium: the sliders move them, and what they show is true.

The record of a chapter has numbers of each named line, for three places of the
sliders; they are compared with the line as the browser draws it there.
"""

import json
import re

import numpy as np
import pytest
from pages import CHAPTERS, MODEL

from press.outputs import expected
from press.translation import TRANSLATED, say

pytestmark = pytest.mark.browser
NEAR = 3  # points on the page: about a hundredth of an axis, as recorded
FIGURES = {
    cell.label: (page, number, cell)
    for page, chapter in CHAPTERS.items()
    for number, cell in enumerate(chapter.cells)
    if "figures.live(" in cell.source
}
LIVE_PAGES = [page for page, *_ in FIGURES.values()]
each_figure = pytest.mark.parametrize("name", FIGURES)


def live_figure(reader, name):
    """A live figure on its page."""
    return reader(FIGURES[name][0]).locator(f"figure#{name} .live-figure")


@each_figure
def test_an_arrow_key_on_a_slider_changes_the_drawing(reader, name):
    box = live_figure(reader, name)
    svg, cell = box.locator("svg"), FIGURES[name][2]
    classes = ["live-figure", *cell.about("image", "classes").split()]
    assert box.get_attribute("class").split() == classes
    alt = say(cell.about("image", "alt"), CHAPTERS[FIGURES[name][0]].name)
    assert svg.get_attribute("aria-label") == alt
    assert svg.get_attribute("role") == "img"
    for slider in box.locator(".live-slider").all():
        field, label = slider.locator("input"), slider.locator("label")
        before = svg.inner_html()
        at_end = field.input_value() == field.get_attribute("max")
        field.press("ArrowLeft" if at_end else "ArrowRight")
        assert svg.inner_html() != before
        said = f"{label.inner_text()} = {slider.locator('span').inner_text()}"
        assert field.get_attribute("aria-valuetext") == said
        assert not (TRANSLATED and re.search("[a-z]{2}", said))
        box.page.keyboard.press("Tab")
        assert not field.evaluate("f => f === document.activeElement")
    ids = box.page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) == len(set(ids)), "once it has moved, an id is there twice"
    assert box.page.problems == []


@pytest.mark.parametrize("path", sorted({MODEL, *LIVE_PAGES}))
def test_without_scripts_there_is_all_but_dead_sliders(visit, path):
    page = visit(path, java_script_enabled=False)
    assert page.locator("html").get_attribute("data-theme") == "light"
    assert page.locator(".katex-html").count() > 100
    figures = page.locator(".live-figure")
    assert figures.count() == LIVE_PAGES.count(path)
    for box in figures.all():
        assert box.locator("svg").is_visible()
        assert box.locator("svg [data-moves] *").count()
        assert not box.locator("input").first.is_visible()


# An artist in the units of its axes; a logarithmic one counts decades.
READ = """(group, alone) => {
  const axes = Object.values(group.closest('[data-x]').dataset).map((text) => {
    const [kind, ...numbers] = text.split(' ');
    const [low, high, first, last] = numbers.map(Number);
    const log = kind === 'log';
    const ends = log ? [low, high].map(Math.log10) : [low, high];
    return {log, ends, first, unit: (last - first) / (ends[1] - ends[0])};
  });
  const pairs = (points) => points.map(({x, y}) => [x, y].map((place, i) =>
    axes[i].ends[0] + (place - axes[i].first) / axes[i].unit));
  const along = (path) => Array.from({length: 1001}, (_, i) =>
    path.getPointAtLength(i * path.getTotalLength() / 1000));
  const back = group.ownerSVGElement.getCTM().inverse();
  const centre = (mark) => {
    const {x, y, width, height} = mark.getBBox();
    return new DOMPoint(x + width / 2, y + height / 2)
      .matrixTransform(back.multiply(mark.getCTM()));
  };
  const [first] = group.querySelectorAll('use, path');
  return {y: axes[1], units: axes.map(({unit}) => unit),
    points: pairs(alone ? [centre(first)] : along(first))};
}"""


def move(box, places):
    """Put sliders, by keyboard, to values such as "C = 10, γ = 0.2"."""
    for place in places.split(", "):
        name, _, value = place.partition(" = ")
        place = f"{say(name)} = {value}"
        field = box.get_by_label(say(name), exact=True)
        field.press("Home")
        for _ in range(int(field.get_attribute("max"))):
            if field.get_attribute("aria-valuetext") != place:
                field.press("ArrowRight")
        assert field.get_attribute("aria-valuetext") == place


def check(artist, found, numbers):
    """It has these values, at places spread evenly from end to end."""
    axis, points = found["y"], np.array(found["points"])
    y = np.log10(numbers) if axis["log"] else np.array(numbers)
    low, high = axis["ends"]
    if np.any((y < low) | (y > high)):
        return  # it leaves the axes, and is cut off there
    x = np.linspace(*points[[0, -1], 0], len(y))
    for point in np.column_stack([x, y]):
        away = np.hypot(*((points - point) * found["units"]).T)
        assert np.min(away) < NEAR, (artist, point)


def recorded(name):
    """Artist, places of the sliders and numbers, as the record has them."""
    page, number, _ = FIGURES[name]
    record = json.loads(expected(CHAPTERS[page].path).read_text("utf-8"))
    for output in record[number]["outputs"]:
        for line in output.get("text/plain", [])[1:]:
            found = re.match("(.+) at (.+): (.+)", line)
            yield found[1], found[2], [*map(float, found[3].split())]


@each_figure
def test_the_sliders_show_the_recorded_numbers(reader, name):
    box = live_figure(reader, name)
    for artist, places, numbers in recorded(name):
        move(box, places)
        group = box.locator(f'[data-moves="{artist}"]')
        check(artist, group.evaluate(READ, len(numbers) == 1), numbers)
