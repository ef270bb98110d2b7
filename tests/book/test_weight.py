"""Pages that open at once: weight, requests, stillness, and against MathJax.

Sizes and requests are those of the page itself, without the files that all
pages share and a browser keeps (``_static/``).
"""

import json
from copy import deepcopy
from importlib.metadata import files
from pathlib import Path

import pytest
from lxml import html as parser
from pages import HTML, MODEL, PAGES, compressed, tree
from reading import ROOT

pytestmark = pytest.mark.browser

HTML_LIMIT, FIGURE_LIMIT, REQUEST_LIMIT = 250_000, 600_000, 25
SHIFT_LIMIT = 0.05
MEASURE = """
window.shift = 0; window.shifted = []; window.long = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) {
    window.shift += entry.value;
    for (const s of entry.sources || [])
      if (s.node) window.shifted.push(
        (s.node.outerHTML || s.node.textContent).slice(0, 80));
  }
}).observe({type: 'layout-shift', buffered: true});
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.long.push(entry.duration);
}).observe({type: 'longtask', buffered: true});
"""
# Equations, code and tables with formulas may scroll in boxes of their own.
SIDEWAYS = """() => [...document.querySelectorAll('main *')].filter((e) =>
  e.scrollWidth > e.clientWidth + 1
  && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
  && !e.matches('pre, .highlight, div.math, [class^=katex]')
  && !e.querySelector('table .katex')
).map((e) => e.outerHTML.slice(0, 120))"""


def own_figures(page):
    """The files of the images on a page that belong to it alone."""
    for source in set(tree(page).xpath("//img/@src")):
        path = (HTML / page).parent / source
        if "_static" not in path.parts and not source.startswith("data:"):
            yield path


@pytest.mark.parametrize("page", PAGES)
def test_page_keeps_its_weight(page):
    size = compressed(HTML / page)
    assert size <= HTML_LIMIT, f"{page}: {size} bytes of HTML, compressed"
    sizes = {path.name: compressed(path) for path in own_figures(page)}
    heaviest = max(sizes, key=sizes.get, default=None)
    assert sum(sizes.values()) <= FIGURE_LIMIT, (
        f"{page}: {sum(sizes.values())} bytes of figures, compressed; "
        f"the heaviest is {heaviest} with {sizes[heaviest]}"
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_image_says_how_large_it_will_be(page):
    for image in tree(page).xpath("//img"):
        assert image.get("width") and image.get("height"), (
            f"{page}: {image.get('src')} has no width and height"
        )


@pytest.mark.parametrize("path", PAGES)
def test_page_fits_a_phone_stays_still_and_needs_no_other_host(visit, path):
    page = visit(path, before=MEASURE, viewport={"width": 375, "height": 800})
    page.evaluate("document.fonts.ready.then(() => 0)")
    wide = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter((e) =>
          document.documentElement.scrollWidth > 375
          && e.getBoundingClientRect().right > 376
          && !e.closest('pre, .katex-html, .katex-mathml, .table-wrapper'))
          .map((e) => e.outerHTML.slice(0, 120)).slice(0, 3)"""
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 375, (
        f"{path} is wider than a phone: {wide}"
    )
    boxes = page.evaluate(SIDEWAYS)
    assert boxes == [], f"{path} scrolls sideways in {boxes}"
    assert page.foreign == [], f"{path} asks other hosts: {page.foreign}"
    assert page.problems == [], f"{path}: {page.problems}"
    own = [url for url in page.asked if "/_static/" not in url]
    assert len(own) <= REQUEST_LIMIT, f"{path}: {len(own)} requests: {own}"
    shift = page.evaluate("window.shift")
    assert shift <= SHIFT_LIMIT, (
        f"{path} moves while it loads, by {shift:.3f}: "
        f"{page.evaluate('window.shifted.slice(0, 3)')}"
    )


@pytest.fixture(scope="module")
def both(serve, tmp_path_factory):
    """The model page as it is, and a copy whose mathematics MathJax sets."""
    root = tmp_path_factory.mktemp("mathjax")
    for name in ("_static", "_images"):
        (root / name).symlink_to(HTML / name)
    (package,) = {
        Path(file.locate()).parent
        for file in files("sphinx-mathjax-offline")
        if file.name == "tex-chtml.js"
    }
    (root / "mathjax").symlink_to(package)
    page = deepcopy(tree(MODEL))
    for formula in page.xpath("//*[@class='katex']"):
        latex = formula.xpath("string(.//*[local-name()='annotation'])")
        display = formula.getparent().get("class") == "katex-display"
        place = formula.getparent() if display else formula
        left, right = (r"\[", r"\]") if display else (r"\(", r"\)")
        for child in list(place):
            place.remove(child)
        place.text = left + latex + right
        place.set("class", "math")
    script = parser.Element("script", src="../mathjax/tex-chtml.js")
    script.set("async", "")
    page.find("head").append(script)
    (root / "chapters").mkdir()
    copy = root / MODEL
    copy.write_bytes(parser.tostring(page, doctype="<!DOCTYPE html>"))
    return {"katex": None, "mathjax": serve(root)}


def test_mathematics_costs_less_than_with_mathjax(visit, both):
    """Same page, same machine, one after the other: only ratios count."""
    measured = {}
    for name, at in both.items():
        options = {"viewport": {"width": 1280, "height": 900}}
        if at:
            options["at"] = at
        page = visit(MODEL, before=MEASURE, **options)
        if name == "mathjax":
            page.wait_for_function(
                "window.MathJax && MathJax.startup && MathJax.startup.promise"
            )
            page.evaluate("MathJax.startup.promise.then(() => 0)")
            assert page.locator("mjx-container").count() > 100
        page.evaluate("document.fonts.ready.then(() => 0)")
        measured[name] = page.evaluate(
            """() => ({
              shift: window.shift,
              blocked: window.long.reduce((sum, t) => sum + t, 0),
              complete: performance.now(),
            })"""
        )
    report = ROOT / "_build" / "mathjax_ratio.json"
    report.write_text(json.dumps(measured, indent=1) + "\n")
    ours, theirs = measured["katex"], measured["mathjax"]
    assert ours["shift"] <= max(theirs["shift"], SHIFT_LIMIT), measured
    assert ours["blocked"] < theirs["blocked"], measured
    assert ours["complete"] < theirs["complete"], measured
