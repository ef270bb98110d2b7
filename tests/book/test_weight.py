"""Pages that open at once: what they weigh.

Sizes are those of the page itself, without the files that all pages share and
a browser keeps (``_static/``).  Requests, stillness and work are measured in
``test_visits.py``.
"""

import pytest
from pages import HTML, PAGES, compressed, tree

pytestmark = pytest.mark.browser

HTML_LIMIT, FIGURE_LIMIT = 250_000, 600_000


def own_figures(page):
    """The files of the images on a page that belong to it alone."""
    for source in set(tree(page).xpath("//img/@src")):
        path = (HTML / page).parent / source
        if "_static" not in path.parts and not source.startswith("data:"):
            yield path


@pytest.mark.parametrize("page", PAGES)
def test_page_keeps_its_weight(page, record_property):
    """HTML as a server sends it, compressed; figures as they are."""
    size = compressed(HTML / page)
    sizes = {path.name: path.stat().st_size for path in own_figures(page)}
    figures = sum(sizes.values())
    record_property(
        "measured",
        {"page": page, "bytes of HTML": size, "bytes of figures": figures},
    )
    assert size <= HTML_LIMIT, f"{page}: {size} bytes of HTML, compressed"
    heaviest = max(sizes, key=sizes.get, default=None)
    assert figures <= FIGURE_LIMIT, (
        f"{page}: {figures} bytes of figures; "
        f"the heaviest is {heaviest} with {sizes[heaviest]}"
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_image_says_how_large_it_will_be(page):
    for image in tree(page).xpath("//img"):
        assert image.get("width") and image.get("height"), (
            f"{page}: {image.get('src')} has no width and height"
        )
