"""Every page, opened in Chromium: once on a phone, once on a desk.

A visit is as a reader's first, with nothing in the cache, and judged by all
the judges at once.
"""

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
from pages import PAGES

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    ("width", "judges"),
    [(PHONE, ON_A_PHONE), (DESK, ON_A_DESK)],
    ids=["phone", "desk"],
)
def test_nothing_is_wrong_with(visit, record_property, path, width, judges):
    page = visit(path, before=MEASURE, viewport=width, reduced_motion="reduce")
    page.evaluate(SETTLE)
    record_property("measured", {"page": path, **measure(page)})
    wrong = [f"{path}: {line}" for judge in judges for line in judge(page)]
    assert not wrong, "\n".join(wrong)
