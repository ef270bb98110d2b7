"""What a reader does with the pages, in Chromium: look, search, get lost."""

import pytest
from pages import AXE, CHAPTERS, FRONT, HTML, LAST, MODEL, SITE

from kernelbook import figures
from press.translation import TRANSLATED, say

pytestmark = pytest.mark.browser
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
    words = ["kernel", "kernel-trick", "support-vector-machine"]
    homes |= {f"term-{word}": "chapters/glossary.html" for word in words}
    for page in (MODEL, LAST):
        title = CHAPTERS[page].headings[0].title
        yield say(title, CHAPTERS[page].name), page
    for anchor, queries in {
        "equation-eq-6-8": ["6.8", "(6.8)", "PRML 6.8", "equation 6.8"],
        "equation-eq-gp-27": ["notes (27)", "6.66"],
        "equation-eq-weak-duality": ["weak duality"],
        "equation-eq-svm-dual": ["svm dual"],
        "term-kernel-trick": ["kernel trick", "核技巧"],
        "term-kernel": ["核函数"],
        "term-support-vector-machine": ["支持向量机"],
    }.items():
        for query in queries if anchor in homes else []:
            if TRANSLATED and not query.isascii():
                yield query, f"{homes[anchor]}#term-"  # which has a number
            else:
                yield query, f"{homes[anchor]}#{anchor}"
    if TRANSLATED:  # no title
        yield "支持向量机的偏置项", "chapters/"


@pytest.mark.parametrize(("query", "address"), list(searches()))
def test_search_finds(reader, query, address):
    page = reader(f"search.html?q={query}")
    found = page.locator(f"ul.search li a[href*='{address}']")
    found.first.wait_for(timeout=30_000)
    assert page.problems == []


@pytest.mark.parametrize("folder", ["", "chapters/"])
def test_a_wrong_address_leads_on_and_offers_its_words(visit, serve, folder):
    site, edition = serve(SITE), f"/{HTML.relative_to(SITE)}".rstrip("/.")
    page = visit(f"{folder}8_weak_duality.html", home=f"{site}{edition}")
    assert page.locator("h1").text_content() == "This page is not here"
    page.locator(f"a[href='{edition}/{FRONT}']").wait_for()
    page.locator(f"a[href*='{edition}/search.html?']").click()
    page.wait_for_url(f"{site}{edition}/search.html?q=weak+duality")
