"""Every page, opened in Chromium: once on a phone, once on a desk.

A visit is as a reader's first, with nothing in the cache.  Judges say what is
wrong with the page, by element; what most of them see is in
``tests/judges.js``, which every page is given.
"""

import pytest
from pages import AXE, PAGES

pytestmark = pytest.mark.browser
PAPER = {"width": 718, "height": 1000}  # A4 within its margins
THEME = "document.documentElement.dataset.theme"
OPENED = """e => e.matches('summary') ? e.parentElement.open
  : !e.closest('.toggle-hidden')"""
MOST_WORK = 3.0


def ask(page, *judges):
    return [wrong for j in judges for wrong in page.evaluate(f"judges.{j}()")]


def judge_on_a_phone(page):
    """Also in the dark, and on paper, which is white also then."""
    yield from ask(page, "fitsItsWidth", "showsItsFigures")
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


def judge_work(page):
    """In seconds of the processor, which on a busy machine do not grow."""
    metrics = page.meter.send("Performance.getMetrics")["metrics"]
    work = {metric["name"]: metric["value"] for metric in metrics}
    if work["TaskDuration"] > MOST_WORK:
        yield f"keeps the processor for {work['TaskDuration']} seconds"


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    ("width", "judge"), [(375, judge_on_a_phone), (1280, judge_on_a_desk)]
)
def test_nothing_is_wrong(visit, path, width, judge):
    size = {"width": width, "height": 900}
    page = visit(path, viewport=size, reduced_motion="reduce")
    wrong = [*ask(page, "comesWhole"), *judge_work(page)]
    wrong += [*judge(page), *page.problems]
    assert not wrong, "\n".join(f"{path}: {line}" for line in wrong)
