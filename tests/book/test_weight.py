"""Pages that open at once: weight, requests, stillness, and against MathJax.

Sizes and requests are those of the page itself, without the files that all
pages share and a browser keeps (``_static/``).
"""

from copy import deepcopy
from importlib.metadata import files
from pathlib import Path

import pytest
from judges import DESK, MEASURE, SETTLE, SHIFT_LIMIT
from lxml import html as parser
from pages import CHAPTERS, HTML, PAGES, compressed, tree

pytestmark = pytest.mark.browser

HTML_LIMIT, FIGURE_LIMIT, REQUEST_LIMIT = 250_000, 600_000, 25


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


@pytest.fixture(scope="session")
def mathjax(serve, tmp_path_factory):
    """Make a copy of a page whose mathematics MathJax sets as it opens."""
    root = tmp_path_factory.mktemp("mathjax")
    for name in ("_static", "_images"):
        (root / name).symlink_to(HTML / name)
    (package,) = {
        Path(file.locate()).parent
        for file in files("sphinx-mathjax-offline")
        if file.name == "tex-chtml.js"
    }
    (root / "mathjax").symlink_to(package)
    (root / "chapters").mkdir()
    address = serve(root)

    def copy(path):
        page = deepcopy(tree(path))
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
        made = parser.tostring(page, doctype="<!DOCTYPE html>")
        (root / path).write_bytes(made)
        return address

    return copy


def cost(page):
    """Seconds of work until all stands: of the processor, not of the clock.

    A busy machine makes the clock's seconds longer, not the processor's.
    """
    page.evaluate(SETTLE)
    metrics = page.meter.send("Performance.getMetrics")["metrics"]
    work = {metric["name"]: metric["value"] for metric in metrics}
    return {
        "work": work["TaskDuration"],
        "blocked": page.evaluate("window.long.reduce((s, t) => s + t, 0)"),
        "shift": page.evaluate("window.shift"),
    }


@pytest.mark.parametrize("path", CHAPTERS)
def test_mathematics_costs_less_than_with_mathjax(
    visit, mathjax, record_property, path
):
    """Same page, same machine, one after the other: only ratios count."""
    options = {"before": MEASURE, "viewport": DESK}
    ours = cost(visit(path, **options))
    page = visit(path, at=mathjax(path), **options)
    page.wait_for_function("window.MathJax?.startup?.promise")
    page.evaluate("MathJax.startup.promise.then(() => 0)")
    assert page.locator("mjx-container").count() > 100
    theirs = cost(page)
    print(path, ours, theirs)
    ratio = ours["work"] / theirs["work"]
    record_property(
        "measured",
        {"page": path, "work against MathJax": round(ratio, 2)},
    )
    assert ratio < 1, f"{path}: {ours} against MathJax's {theirs}"
    assert ours["shift"] <= max(theirs["shift"], SHIFT_LIMIT), path
