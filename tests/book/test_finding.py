"""Search, and the page for those who are lost."""

import pytest

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("kernel trick", "02_dual_representation"),
        ("6.8", "02_dual_representation.html#equation-eq-6-8"),
        ("(6.8)", "02_dual_representation.html#equation-eq-6-8"),
        ("PRML 6.8", "02_dual_representation.html#equation-eq-6-8"),
        ("equation 6.8", "02_dual_representation.html#equation-eq-6-8"),
        ("notes (27)", "08_gp_regression.html#equation-eq-gp-27"),
        ("6.66", "08_gp_regression.html#equation-eq-gp-27"),
        (
            "weak duality",
            "14_lagrangian_duality.html#equation-eq-weak-duality",
        ),
        ("svm dual", "16_svm_dual.html#equation-eq-svm-dual"),
        ("kernel trick", "glossary.html#term-kernel-trick"),
        ("核技巧", "glossary.html#term-kernel-trick"),
    ],
)
def test_search_finds(visit, query, where):
    page = visit(f"search.html?q={query}")
    found = page.locator(f"ul.search li a[href*='{where}']")
    found.first.wait_for(timeout=30_000)
    assert page.foreign == []


@pytest.mark.parametrize(
    "path", ["nowhere.html", "chapters/8_gp_regresion.html"]
)
def test_a_wrong_address_leads_on(visit, site, path):
    page = visit(path)
    assert page.locator("h1").text_content() == "This page is not here"
    link = page.locator("a[href$='08_gp_regression.html']")
    page.wait_for_function("document.querySelector('a').href.includes('//')")
    page.wait_for_function(
        "document.querySelector('a').getAttribute('href')[0] === '/'"
    )
    link.click()
    page.wait_for_url(f"{site}/chapters/08_gp_regression.html")


def test_the_lost_page_offers_the_words_of_the_address(visit, site):
    page = visit("chapters/8_weak_duality.html")
    page.wait_for_function("document.querySelector('#q').value !== ''")
    assert page.locator("#q").input_value() == "weak duality"
    page.wait_for_function(
        "document.querySelector('form').getAttribute('action')[0] === '/'"
    )
    page.keyboard.press("Tab")
    page.locator("button").click()
    page.wait_for_url(f"{site}/search.html?q=weak+duality")


def test_the_front_page_leads_to_the_equations_of_one_source(visit):
    page = visit("chapters/index.html")
    page.locator("a[href='equation_index.html#source-notes']").click()
    rows = page.locator("table.equation-index tbody tr")
    page.wait_for_function(
        "document.querySelector('form.equation-index select')?.value"
        " === 'notes'"
    )
    assert rows.count() > 30
    for row in rows.all():
        numbers = row.locator(".src").all_text_contents()
        assert any(number.startswith("notes") for number in numbers)
