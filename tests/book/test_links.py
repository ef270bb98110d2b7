"""Every address on every page leads somewhere, and stays in the book."""

import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from pages import HTML, PAGES, describe, local, tree
from reading import ROOT

pytestmark = pytest.mark.browser  # needs the built book, though no browser
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
REPOSITORY = CONFIG["repository"]["url"]
LAUNCH = ("https://mybinder.org/v2/gh/", "https://colab.research.google.com/")


def addresses(page):
    """Elements of a page with the addresses they name."""
    for element, _, address, _ in tree(page).iterlinks():
        yield element, address


@cache
def anchors(page):
    return {*tree(page).xpath("//@id"), *tree(page).xpath("//a/@name")}


def is_foreign(address):
    return re.match(r"(?!data:|mailto:|javascript:)\w+:|//", address)


def may_leave(element, address):
    """Only a link to the book's own repository, and to what runs it."""
    return (
        element.tag == "a"
        and bool(REPOSITORY)
        and address.startswith((REPOSITORY, *LAUNCH))
    )


@pytest.mark.parametrize("page", PAGES)
def test_no_address_leaves_the_book(page):
    found = [
        f"{page}: {describe(element)}"
        for element, address in addresses(page)
        if is_foreign(address) and not may_leave(element, address)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_anchor_is_there(page):
    broken = []
    for element, address in addresses(page):
        if re.match(r"\w+:|//", address):
            continue
        target, anchor = local(page, address.split("?")[0] or "#")
        if "#" in address:
            target, anchor = local(page, address)
        where = f"{page}: {describe(element)}"
        if not target.is_relative_to(HTML.resolve()):
            broken.append(f"{where}: outside the book")
        elif not target.exists():
            broken.append(f"{where}: no file {target.name}")
        elif anchor and target.suffix == ".html":
            name = str(target.relative_to(HTML.resolve()))
            if anchor not in anchors(name):
                broken.append(f"{where}: {name} has no #{anchor}")
    assert not broken, "\n".join(broken)


def test_no_style_sheet_fetches_from_elsewhere():
    for sheet in HTML.rglob("*.css"):
        for url in re.findall(
            r"url\(\s*[\"']?([^\"')]+)", sheet.read_text("utf-8")
        ):
            assert not re.match(r"https?:|//", url), f"{sheet.name}: {url}"


def test_the_front_page_leads_to_every_page_of_the_contents():
    front = {
        local("chapters/index.html", address)[0]
        for _, address in addresses("chapters/index.html")
    }
    for entry in (ROOT / "chapters").glob("*.md"):
        page = Path(HTML, "chapters", f"{entry.stem}.html").resolve()
        assert page in front, f"chapters/index.html: no link to {page.name}"


def test_the_front_page_links_to_the_equation_index_in_its_text():
    if not (ROOT / "chapters" / "equation_index.md").exists():
        return
    text = tree("chapters/index.html").xpath("//article//a/@href")
    assert any(href.startswith("equation_index.html") for href in text)
