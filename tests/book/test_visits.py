"""Every page, opened in Chromium: once on a phone, once on a desk.

A visit is as a reader's first, with nothing in the cache.  Judges say what is
wrong with the page, by element; what most of them see is in
``tests/judges.js``, which every page is given.  After a chapter comes a copy
of it whose mathematics is left to MathJax, as in most books: for the ratio.
"""

from copy import deepcopy
from importlib.metadata import files

import pytest
from lxml import html as parser
from pages import AXE, CHAPTERS, PAGES, tree

pytestmark = pytest.mark.browser
PAPER = {"width": 718, "height": 1000}  # A4 within its margins
THEME = "document.documentElement.dataset.theme"
OPENED = """e => e.matches('summary') ? e.parentElement.open
  : !e.closest('.toggle-hidden')"""
MATHJAX = {
    file.name: file.locate() for file in files("sphinx-mathjax-offline")
}


def ask(page, *judges):
    return [wrong for j in judges for wrong in page.evaluate(f"judges.{j}()")]


def judge_on_a_phone(page):
    """Also in the dark, and on paper, which is white also then."""
    yield from ask(page, "comesWhole", "fitsItsWidth", "showsItsFigures")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{THEME} !== 'light'")
    yield from ask(page, "showsItsFigures")
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    yield from ask(page, "printsClean")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    if page.evaluate(THEME) == "light":
        yield "stays white after printing, for who reads in the dark"


def judge_on_a_desk(page):
    """By keyboard alone, and by axe-core, in light and in dark."""
    yield from ask(page, "comesWhole")
    page.keyboard.press("Tab")
    for past_the_contents in page.locator(".skip-link a").all():
        past_the_contents.press("Enter")
    for _ in range(12):
        page.keyboard.press("Tab")
    for kind in ("summary", "button.toggle-button"):
        for opener in page.locator(f"main {kind}:visible").all()[:1]:
            opener.press("Enter")
            if not opener.evaluate(OPENED):
                yield f"does not open by keyboard: {opener.inner_html()}"
    page.evaluate(AXE.read_text("utf-8"))
    yield from ask(page, "isReachedByKeyboard", "pleasesAxe")


def cost(page):
    """What the visit has cost.

    Work is counted in seconds of the processor, in the page's main thread: on
    a busy machine those of the clock grow longer, these do not.
    """
    seen = page.evaluate("judges.cost()")
    metrics = page.meter.send("Performance.getMetrics")["metrics"]
    work = {metric["name"]: metric["value"] for metric in metrics}
    return {**seen, "seconds of work": round(work["TaskDuration"], 2)}


def left_to_mathjax(path):
    """The page with its formulas as LaTeX, and a script to set them."""
    page = deepcopy(tree(path))
    for formula in page.find_class("katex"):
        latex = formula.xpath("string(.//*[local-name()='annotation'])")
        display = formula.getparent().get("class") == "katex-display"
        place = formula.getparent() if display else formula
        del place[:]
        place.text = rf"\[{latex}\]" if display else rf"\({latex}\)"
        place.set("class", "math")
    script = parser.Element("script", src="../mathjax/tex-chtml.js")
    script.set("async", "")
    page.find("head").append(script)
    return parser.tostring(page, doctype="<!DOCTYPE html>")


def with_mathjax(visit, path, **options):
    """Open such a copy of a page, and wait until all is set."""

    def script(route):
        route.fulfill(path=MATHJAX[route.request.url.rpartition("/")[2]])

    def copy(route):
        route.fulfill(body=left_to_mathjax(path), content_type="text/html")

    instead = {"**/mathjax/**": script, f"**/{path}": copy}
    page = visit(path, instead=instead, **options)
    page.wait_for_function("window.MathJax?.startup?.promise")
    page.evaluate("MathJax.startup.promise.then(() => 0)")
    formulas = tree(path).find_class("katex")
    assert page.locator("mjx-container").count() == len(formulas)
    return page


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    ("width", "judge"), [(375, judge_on_a_phone), (1280, judge_on_a_desk)]
)
def test_nothing_is_wrong(visit, record_property, path, width, judge):
    size = {"width": width, "height": 900}
    options = {"viewport": size, "reduced_motion": "reduce"}
    page = visit(path, **options)
    ours = cost(page)
    wrong = [*judge(page), *page.problems]
    if width > 1000 and path in CHAPTERS:
        theirs = cost(with_mathjax(visit, path, **options))
        ratio = ours["seconds of work"] / theirs["seconds of work"]
        ours["work against MathJax"] = round(ratio, 2)
        if ratio > 1 or ours["layout shift"] > theirs["layout shift"]:
            wrong.append(f"{ours}, with MathJax {theirs}")
    record_property("measured", [path, ours])
    assert not wrong, "\n".join(f"{path}: {line}" for line in wrong)
