"""Every page, opened in Chromium: once on a phone, once on a desk.

A visit is as a reader's first, with nothing in the cache, and judged by all
the judges at once.  After a chapter comes a copy of it whose mathematics is
left to MathJax, as in most books: for the ratio.
"""

from copy import deepcopy
from importlib.metadata import files
from pathlib import Path

import pytest
from judges import (
    DESK,
    MEASURE,
    ON_A_DESK,
    ON_A_PHONE,
    PHONE,
    SETTLE,
    measure,
)
from lxml import html as parser
from pages import CHAPTERS, HTML, PAGES, tree

pytestmark = pytest.mark.browser
each_page = pytest.mark.parametrize("path", PAGES)
AS_A_GUEST = {"before": MEASURE, "reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def mathjax(serve, tmp_path_factory):
    """Open a copy of a page whose mathematics MathJax sets in the browser."""
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

    def open_copy(visit, path, **options):
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
        opened = visit(path, at=address, **options)
        opened.wait_for_function("window.MathJax?.startup?.promise")
        opened.evaluate("MathJax.startup.promise.then(() => 0)")
        assert opened.locator("mjx-container").count() > 100
        return opened

    return open_copy


def wrong_with(path, page, judges):
    return [f"{path}: {line}" for judge in judges for line in judge(page)]


@each_page
def test_nothing_is_wrong_on_a_phone(visit, record_property, path):
    page = visit(path, viewport=PHONE, **AS_A_GUEST)
    page.evaluate(SETTLE)
    record_property("measured", {"page": path, **measure(page)})
    wrong = wrong_with(path, page, ON_A_PHONE)
    assert not wrong, "\n".join(wrong)


@each_page
def test_nothing_is_wrong_on_a_desk(visit, mathjax, record_property, path):
    page = visit(path, viewport=DESK, **AS_A_GUEST)
    page.evaluate(SETTLE)
    ours = measure(page)
    wrong = wrong_with(path, page, ON_A_DESK)
    if path in CHAPTERS:
        page = mathjax(visit, path, viewport=DESK, **AS_A_GUEST)
        page.evaluate(SETTLE)
        theirs = measure(page)
        ratio = ours["seconds of work"] / theirs["seconds of work"]
        ours["work against MathJax"] = round(ratio, 2)
        if ratio > 1 or ours["layout shift"] > theirs["layout shift"]:
            wrong.append(f"{path}: {ours}, with MathJax {theirs}")
    record_property("measured", {"page": path, **ours})
    assert not wrong, "\n".join(wrong)
