"""Pages that everybody can read: what stands in them, and the keyboard.

axe-core judges them in ``test_visits.py``.
"""

import re
from collections import defaultdict

import pytest
from pages import CHAPTERS, MODEL, PAGES, describe, tree

pytestmark = pytest.mark.browser


def test_every_image_says_what_one_sees():
    """No path, no single word, and no text twice in the book."""
    wrong, said = [], defaultdict(dict)
    for page in PAGES:
        for image in tree(page).xpath("//*[@id='main-content']//img"):
            alt = " ".join((image.get("alt") or "").split())
            file = image.get("src").rsplit("/", 1)[-1]
            said[alt][file] = f"{page}: {file}"
            if len(alt.split()) < 4 or re.search(
                r"^\S*[/\\]\S*$|\.(svg|png|jpe?g|gif)\b", alt
            ):
                wrong.append(f"{page}: {describe(image)}: alt {alt!r}")
    wrong += [
        f"{sorted(files.values())} share the alt {alt!r}"
        for alt, files in said.items()
        if len(files) > 1
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", PAGES)
def test_headings_are_in_order_and_ids_are_unique(path):
    page = tree(path)
    found = page.xpath("//h1 | //h2 | //h3 | //h4 | //h5 | //h6")
    levels = [int(heading.tag[1]) for heading in found]
    assert levels.count(1) == 1, f"{path}: {levels.count(1)} h1"
    for before, now, heading in zip(
        levels, levels[1:], found[1:], strict=False
    ):
        assert now <= before + 1, (
            f"{path}: h{before}, then {describe(heading)}"
        )
    ids = page.xpath("//@id")
    twice = sorted({name for name in ids if ids.count(name) > 1})
    assert not twice, f"{path}: id used twice: {twice}"


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_formula_carries_its_latex(path):
    for formula in tree(path).xpath("//*[@class='katex']"):
        latex = formula.xpath(".//*[local-name()='annotation']")
        assert len(latex) == 1 and latex[0].text, (
            f"{path}: {describe(formula)}"
        )
        drawn = formula.xpath("./*[@class='katex-html']/@aria-hidden")
        assert drawn == ["true"], f"{path}: {describe(formula)}"


FOCUS = """() => {
  const on = document.activeElement;
  if (!on || on === document.body) return null;
  const ring = (e) => {
    const style = getComputedStyle(e);
    return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth))
      || style.boxShadow !== 'none';
  };
  const box = on.getBoundingClientRect();
  return {
    html: on.outerHTML.slice(0, 160),
    seen: ring(on) && box.width > 0 && box.height > 0,
    inMain: !!on.closest('main'),
  };
}"""


def test_the_keyboard_reaches_everything_and_one_sees_where_it_is(visit):
    """Tab from the top; every stop has a size and a ring around it."""
    page = visit(MODEL, viewport={"width": 1280, "height": 900})
    stops = []
    for _ in range(60):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop:
            stops.append(stop)
    unseen = [stop["html"] for stop in stops if not stop["seen"]]
    assert not unseen, f"{MODEL}: no visible focus:\n" + "\n".join(unseen)
    assert any("Skip to main" in stop["html"] for stop in stops[:1])
    assert any(stop["inMain"] for stop in stops)


def test_a_solution_opens_by_keyboard(visit):
    page = visit(MODEL, viewport={"width": 375, "height": 800})
    for summary in page.locator("main summary").all()[:3]:
        summary.focus()
        page.keyboard.press("Enter")
        assert summary.evaluate("s => s.parentElement.open")
