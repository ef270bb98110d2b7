"""What a reader does with the pages, in Chromium: look, search, get lost."""

import re

import pytest
from pages import AXE, CHAPTERS, FRONT, LAST, MODEL, tree

from kernelbook import figures

pytestmark = pytest.mark.browser
INDEX = "chapters/equation_index.html"
NAMED = [code for code in vars(figures).values() if str(code).startswith("#")]
LINES = {*NAMED, *figures.STYLE["axes.prop_cycle"].by_key()["color"]}
LETTERS = ["#000000", figures.GREY]  # Matplotlib's own, and now and then ours
# Of a colour as the page shows it in a drawing, with the page behind it.
CONTRAST = """(drawing, code) => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d');
  canvas.filter = getComputedStyle(drawing).filter;
  canvas.fillStyle = code;
  canvas.fillRect(0, 0, 1, 1);
  const ground = new axe.commons.color.Color();
  ground.parseString(getComputedStyle(document.body).backgroundColor);
  const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
  const shown = new axe.commons.color.Color(red, green, blue);
  return axe.commons.color.getContrast(shown, ground);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_the_readers_at_once_and_stand_out(visit, scheme):
    """Before any script of the theme has come; lines stand out 3 to 1."""
    no_scripts = {"**/*.js*": lambda route: route.abort()}
    page = visit(MODEL, instead=no_scripts, color_scheme=scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    colours = [
        page.locator(code).first.evaluate("e => getComputedStyle(e).color")
        for code in (".highlight .k, .highlight .kn", ".highlight pre")
    ]
    assert colours[0] != colours[1]
    page.evaluate(AXE.read_text("utf-8"))
    drawing = page.locator("figure").locator("img, svg").first
    for least, codes in [(3, LINES), (4.5, LETTERS)]:
        for code in codes:
            assert drawing.evaluate(CONTRAST, code) >= least, code


def searches():
    """What one may type, and the address it should find."""
    homes = {
        f"equation-{equation.label}": page
        for page, chapter in CHAPTERS.items()
        for equation in chapter.equations
    }
    homes["term-kernel-trick"] = "chapters/glossary.html"
    for page in (MODEL, LAST):
        yield CHAPTERS[page].headings[0].title, page
    for anchor, queries in {
        "equation-eq-6-8": ["6.8", "(6.8)", "PRML 6.8", "equation 6.8"],
        "equation-eq-gp-27": ["notes (27)", "6.66"],
        "equation-eq-weak-duality": ["weak duality"],
        "equation-eq-svm-dual": ["svm dual"],
        "term-kernel-trick": ["kernel trick", "核技巧"],
    }.items():
        if anchor in homes:
            yield from ((q, f"{homes[anchor]}#{anchor}") for q in queries)


@pytest.mark.parametrize(("query", "address"), list(searches()))
def test_search_finds(reader, query, address):
    page = reader(f"search.html?q={query}")
    found = page.locator(f"ul.search li a[href*='{address}']")
    found.first.wait_for(timeout=30_000)
    assert page.problems == []


@pytest.mark.parametrize("folder", ["", "chapters/"])
def test_a_wrong_address_leads_on_and_offers_its_words(visit, site, folder):
    page = visit(f"{folder}8_weak_duality.html")
    assert page.locator("h1").text_content() == "This page is not here"
    page.locator(f"a[href='/{LAST}']").click()
    page.wait_for_url(f"{site}/{LAST}")
    page.go_back()
    page.wait_for_selector("form[action='/search.html']")
    assert page.locator("#q").input_value() == "weak duality"
    page.locator("button").press("Enter")
    page.wait_for_url(f"{site}/search.html?q=weak+duality")


def numbers_shown(page):
    """The numbers in the sources of each row that the index shows."""
    return page.locator("table.equation-index tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.querySelectorAll('.src')]"
        "  .map((number) => number.textContent))"
    )


def test_the_index_is_whole_without_scripts_and_finds_a_number_with(visit):
    page = visit(INDEX)
    every = numbers_shown(page)
    assert len(every) == len(tree(INDEX).xpath("//tbody/tr")) > 0
    assert not tree(INDEX).xpath("//form[@class='equation-index']")
    flat = [n for numbers in every for n in numbers if n.endswith(")")]
    once = next(number for number in flat if flat.count(number) == 1)
    page.locator("form.equation-index input").fill(once)
    (found,) = numbers_shown(page)
    assert once in found


def test_the_index_shows_the_equations_of_a_source_in_its_own_order(visit):
    every = numbers_shown(visit(INDEX))
    page = visit(FRONT)
    page.locator("a[href^='equation_index.html#source-']").first.click()
    select = page.locator("form.equation-index select")
    assert page.url.endswith(f"#source-{select.input_value().lower()}")
    for source in select.locator("option").all_text_contents()[1:]:
        select.select_option(source)

        def places(numbers, source=source):
            """notes (27) -> [27], PRML (6.8) -> [6, 8]."""
            own = [n for n in numbers if n.startswith(source)]
            return [list(map(int, re.findall(r"\d+", n))) for n in own]

        shown = numbers_shown(page)
        assert sorted(shown) == sorted(filter(places, every))
        # The handout's rules have numbers of their own.
        order = [min(places(n)) for n in shown if "rule" not in " ".join(n)]
        assert order == sorted(order), source
