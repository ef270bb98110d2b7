"""Ask an equation: every reference has its preview, every letter its row."""

import json
import re

import pytest
from pages import AXE, BOOK, CHAPTERS, HTML, LAST, MODEL, law, local, tree

from press.previews import letters, number_of, symbols
from press.translation import TRANSLATED

pytestmark = pytest.mark.browser
KINDS = re.compile(r"#(equation-|fig-|thm-|lem-|cor-|prop-|def-|alg-|term-)")
LINK = "article a.internal[href*='#equation-']"
STANDS = """[document.documentElement.scrollHeight,
  ...Object.values(document.querySelector('article')
    .getBoundingClientRect().toJSON())]"""
PHONE = {"viewport": {"width": 375, "height": 812}, "has_touch": True}


def previews(page):
    """What a page's file of previews holds, by id."""
    file = HTML / "_previews" / page.replace(".html", ".js")
    text = file.read_text("utf-8")
    return json.loads(f"[{text[text.index('(') + 1 : text.rindex(')')]}]")[1]


@law(BOOK)
def test_every_reference_has_its_preview(page):
    for link in tree(page).xpath("//article//a[contains(@class,'internal')]"):
        if KINDS.search(link.get("href")):
            file, anchor = local(page, link.get("href"))
            there = file.relative_to(HTML.resolve()).as_posix()
            if anchor not in previews(there):
                yield f"no preview of {link.get('href')}"


@law(BOOK)
def test_previews_bring_no_id_and_no_script(page):
    for anchor, html in previews(page).items():
        if re.search(r'<script|\sid="', html):
            yield f"{anchor} would bring an id or a script"


@law(CHAPTERS)
def test_a_labelled_equation_can_be_asked(page):
    for equation in tree(page).xpath("//div[@class='math' and @id]"):
        if equation.find(".//button[@class='ask']") is None:
            yield f"{equation.get('id')} has no button"


def test_a_reference_shows_its_equation_and_escape_hides_it(visit):
    page = visit(MODEL)
    link, box = page.locator(LINK).first, page.locator("#preview")
    link.focus()
    box.locator(".katex").first.wait_for()
    assert link.get_attribute("aria-describedby") == "preview"
    page.keyboard.press("Escape")
    assert box.is_hidden()
    stands = page.evaluate(STANDS)
    link.hover()
    box.locator(".katex").first.wait_for()
    assert page.evaluate(STANDS) == stands
    assert page.problems == []


def test_on_a_phone_the_first_tap_shows_and_the_second_follows(visit):
    page = visit(MODEL, **PHONE)
    link = page.locator(LINK).first
    link.scroll_into_view_if_needed()
    link.tap()
    page.locator("#preview .katex").first.wait_for()
    assert "#equation-" not in page.url
    page.evaluate("scrollTo(scrollX, scrollY)")
    link.tap()
    page.wait_for_url("**#equation-*")


def test_the_letters_of_an_equation_are_explained(visit):
    """By keyboard, and in a way that pleases axe."""
    page = visit(MODEL, reduced_motion="reduce")
    button, box = page.locator("div.math .ask").first, page.locator("#preview")
    for key in ("Escape", "Shift+Tab", ""):
        button.focus()
        page.keyboard.press("Enter")
        box.locator("dt").nth(1).wait_for()
        assert box.evaluate("e => e === document.activeElement")
        if key:
            page.keyboard.press(key)
            assert box.is_hidden()
            assert button.evaluate("e => e === document.activeElement")
    said = box.inner_text()
    assert "Python" in said and ("形状" if TRANSLATED else "shape") in said
    assert page.problems == []
    page.evaluate(AXE.read_text("utf-8"))
    assert page.evaluate("judges.pleasesAxe()") == []


# The penalty λ; and λ₀, a standard deviation.
LAMBDAS = {"eq-6-8": r"\lambda", "eq-handout-objective": r"\lambda_0"}
WHERE = [
    (path, label)
    for path, chapter in CHAPTERS.items()
    for label in LAMBDAS
    if any(
        f"check-{label}" in c.metadata.get("tags", []) for c in chapter.cells
    )
]


@pytest.mark.parametrize(("path", "label"), WHERE)
def test_a_letter_with_an_index_is_another_letter(visit, path, label):
    page, terms = visit(path), "#preview dt annotation"
    page.locator(f"#equation-{label} .ask").click()
    page.locator(terms).first.wait_for(state="attached")
    explained = page.locator(terms).all_text_contents()
    assert {*explained} & {*LAMBDAS.values()} == {LAMBDAS[label]}


@pytest.mark.parametrize("path", [MODEL, LAST])
def test_on_a_phone_every_equation_answers_within_the_screen(visit, path):
    page = visit(path, **PHONE)
    box = page.locator("#preview")
    for button in page.locator("div.math .ask:visible").all():
        button.tap()
        box.locator("dt").first.wait_for()
        place = box.bounding_box()
        assert place["x"] >= 0 and place["x"] + place["width"] <= 375
        page.keyboard.press("Escape")
    assert page.problems == []


TABLE = "chapters/notation.html"
# The first may be the line on where the equation stands in the sources.
AFTER = "following::p[position() <= 2]//span[@class='math']"


@law(CHAPTERS)
def test_no_equation_uses_a_letter_before_it_is_introduced(page):
    """By the table of notation, the text before, or the paragraph after.

    The letter that an equation begins with is what it defines; a vector
    introduces its entries, and they introduce it.
    """
    chapter = number_of(page)
    known = {
        one
        for row in symbols(tree(TABLE))
        for one in row["letters"]
        if not row["chapters"] or chapter in row["chapters"]
    }
    formulas = "//article//*[@class='math'][self::div or self::span]"
    for formula in tree(page).xpath(formulas):
        used = letters(formula)
        if formula.get("id"):
            known.update(used[:1])
            for after in formula.xpath(AFTER):
                known.update(letters(after))
            introduced = {one[-1] for one in known}
            for one in dict.fromkeys(used):
                if one[-1] not in introduced:
                    yield f"{formula.get('id')} uses {one} before its time"
        known.update(used)
