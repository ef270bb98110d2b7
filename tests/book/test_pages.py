"""The built pages, in Chromium, with every other host out of reach."""

import re

import pytest
from listings import without_sections
from pages import CHAPTERS, MODEL, describe, tree
from reading import ROOT

pytestmark = pytest.mark.browser


def test_the_root_leads_to_the_front_page(visit):
    page = visit("index.html")
    page.wait_for_url("**/chapters/index.html")
    assert page.locator("h1").first.text_content().startswith("Kernelbook")


def test_mathematics_is_there_with_scripts_off(visit):
    page = visit(MODEL, java_script_enabled=False)
    assert page.locator(".katex-html").count() > 100
    assert page.locator(".katex-error").count() == 0
    assert page.locator("annotation").first.text_content()  # its LaTeX
    assert page.locator("html").get_attribute("data-theme") == "light"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_paint_has_the_readers_colours(browser, site, scheme):
    """Before any script of the theme has come, and with scripts off."""
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.route("**/*.js*", lambda route: route.abort())
    page.goto(f"{site}/{MODEL}", wait_until="load")
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    word = page.locator(".highlight .k, .highlight .kn").first
    plain = page.locator(".highlight pre").first
    colour = "e => getComputedStyle(e).color"
    assert word.evaluate(colour) != plain.evaluate(colour)
    context.close()


def test_paper_is_white_also_for_those_who_read_in_the_dark(visit):
    page = visit(MODEL, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    theme = "document.documentElement.dataset.theme"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(theme) == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(theme) == "dark"


def test_mathematics_uses_the_local_fonts(visit):
    page = visit(MODEL)
    page.evaluate("document.fonts.ready")
    fonts = page.evaluate(
        "[...document.fonts].filter(f => f.status == 'loaded')"
        ".map(f => f.family)"
    )
    assert "KaTeX_Main" in fonts


def test_equations_and_references_print_the_sources_numbers():
    page = tree(MODEL)
    for number in ["6.2", "6.3", "6.4", "6.5", "6.6", "6.7", "6.8", "6.9"]:
        label = f"equation-eq-{number.replace('.', '-')}"
        (printed,) = page.xpath(f"//*[@id='{label}']//*[@class='eqno']")
        assert printed.text_content().startswith(f"({number})")
    cited = page.xpath("//p//a[@href='#equation-eq-6-4']")
    assert {link.text_content() for link in cited} == {"(6.4)"}


def test_library_source_is_shown_from_the_file():
    source = (ROOT / "kernelbook" / "ridge.py").read_text("utf-8")
    function = re.search(r"def fit_dual.*?solve\(t\)", source, re.S)
    shown = [listing.text_content() for listing in tree(MODEL).xpath("//pre")]
    assert any(without_sections(function[0]) in text for text in shown)


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_formula_is_set_and_all_code_is_coloured(path):
    """A dollar sign in prose is mathematics that Markdown did not see."""
    page = tree(path)
    assert not page.find_class("katex-error"), path
    prose = page.xpath("//article//*[self::p or self::li]")
    unread = [
        describe(text)
        for text in prose
        if "$" in "".join(text.xpath(".//text()[not(ancestor::annotation)]"))
    ]
    assert not unread, f"{path}: {unread}"
    for listing in page.xpath("//div[contains(@class, 'cell_input')]//pre"):
        assert listing.xpath(".//span[@class]"), f"{path}: {describe(listing)}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_stand_on_the_page_in_light_and_dark(visit, scheme):
    page = visit(MODEL, color_scheme=scheme)
    images = page.locator("figure img")
    assert images.count() >= 6
    for image in images.all():
        image.scroll_into_view_if_needed()
        assert image.evaluate("i => i.complete && i.naturalWidth > 0")
        filtered = image.evaluate("i => getComputedStyle(i).filter")
        is_map = "colour-map" in (image.get_attribute("class") or "")
        assert (filtered != "none") == (scheme == "dark" and not is_map)


def test_a_wide_equation_scrolls_in_its_own_box_from_its_start(visit):
    page = visit(MODEL, viewport={"width": 375, "height": 800})
    box = page.locator("#equation-eq-6-5 .katex-html")
    inner = box.locator("> .base").first
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    left = inner.bounding_box()["x"] - box.bounding_box()["x"]
    assert left >= -1


INDEX = "chapters/equation_index.html"


def test_the_index_finds_a_number_of_a_source(visit):
    page = visit(INDEX)
    rows = page.locator("table.equation-index tbody tr")
    every = rows.count()
    page.locator("form.equation-index input").fill("notes (27)")
    assert rows.count() == 1
    link = rows.locator("a[href$='08_gp_regression.html#equation-eq-gp-27']")
    assert link.text_content() == "(27)"
    page.locator("form.equation-index input").fill("")
    page.locator("form.equation-index select").select_option("PRML")
    numbers = rows.locator(".src").all_text_contents()
    exact = [n[6:-1] for n in numbers if re.fullmatch(r"PRML \(6\.\d\)", n)]
    assert exact == sorted(exact) and exact[0] == "6.1"
    assert rows.count() < every
    page.locator("form.equation-index select").focus()
    page.keyboard.press("Tab")  # on to the field, by keyboard
    assert page.evaluate("document.activeElement.type") == "search"


def test_the_index_is_complete_with_scripts_off(visit):
    with_scripts = visit(INDEX).locator("table.equation-index tbody tr")
    plain = visit(INDEX, java_script_enabled=False)
    rows = plain.locator("table.equation-index tbody tr")
    assert rows.count() == with_scripts.count() > 300
    assert plain.locator("form.equation-index").count() == 0


def test_an_erratum_is_one_click_away(visit):
    page = visit(MODEL)
    page.locator("a[href='errata.html#erratum-ea01']").first.click()
    page.wait_for_url("**/errata.html#erratum-ea01")
    assert "EA01" in page.locator("#erratum-ea01").text_content()
