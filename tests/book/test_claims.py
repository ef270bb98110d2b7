"""A check compares two things, and nobody takes an assertion away unseen."""

import re

import pytest
from claims import checks, claims, empty, lost

from press.reader import Words, notebooks

PAGES = {page.name: page for page in notebooks()}


@pytest.mark.parametrize("name", PAGES)
def test_every_claim_could_be_false(name):
    wrong = []
    for cell in PAGES[name].cells:
        first = cell.end - 1 - len(cell.source.splitlines())
        found = [(first + at - 1, said) for at, said in empty(cell.source)]
        if cell.checks and not checks(cell.source):
            found.append((first, "it compares nothing with anything"))
        wrong += [f"{name}.md:{line}: {said}" for line, said in found]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "source",
    [
        "assert True",
        "assert 1 + 1 == 2",
        "assert K is K",
        "assert_allclose(K, K)",
        "assert_allclose(K, np.array(K.copy()) + 0)",
        "assert f(x) == f(x)",
        "a = f(x)\nb = f(x)\nassert_allclose(a, b)",
        "y = a @ K\nassert np.allclose(y, a @ K)",
        "assert all(k(x, z) == k(x, z) for x in X for z in X)",
        "assert a < b or True",
        "assert_allclose(a, b, rtol=1e3)",
        "assert_allclose(a, b, atol=1e12)",
        "assert_allclose(a, b + (a - b))",
        "assert (abs(A @ x - b) >= 0).all()",
        "assert a.shape == b.shape",
        "assert np.array_equal(a, a[:, :])",
    ],
)
def test_what_cannot_be_false_is_found(source):
    assert [*empty(source)]


@pytest.mark.parametrize(
    "source",
    [
        "assert_allclose(lam * a, t - K @ a)",
        "a = f(x)\nb = g(x)\nassert_allclose(a, b)",
        "a = f(x)\na = g(a)\nassert_allclose(a, f(x))",
        "assert np.linalg.matrix_rank(K) == 4",
        "assert abs(f(x) - 1) < 1e-9 and k(x, z) == k(z, x)",
    ],
)
def test_what_could_be_false_is_left_alone(source):
    assert not [*empty(source)] and checks(source)


@pytest.mark.parametrize("source", ["assert len(K)", "assert K is not None"])
def test_a_check_asks_for_more_than_that_there_is_something(source):
    assert not checks(source)


def test_an_assertion_that_is_gone_is_missed():
    old = ["x = 1", "assert x == y\nassert_allclose(x, y)"]
    assert not lost(old, old) and len(claims(old[1])) == 2
    (said,) = lost(old, ["assert z", "assert x == y"])
    assert said == "cell 1: 2 assertions were recorded, there are 1"
    assert lost(old, ["assert x == y"])
    assert not lost(old, ["assert x == y", "assert a == b", ""])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert_allclose(a, b)", "assert_allclose(a, b, rtol=1e-3)"),
        ("assert_allclose(a, b, atol=1e-9)", "assert_allclose(a, b, atol=1)"),
        ("assert np.allclose(a, b)", "assert np.allclose(a, b, atol=0.1)"),
        ("assert abs(a - b) < 1e-9", "assert abs(a - b) < 1 / 4"),
        ("assert (a > 2).all() and b", "assert (a > -1).all() and b"),
    ],
)
def test_an_assertion_that_allows_more_is_missed(old, new):
    (said,) = lost([old], [new])
    assert said.endswith("more is allowed than was recorded")
    assert not lost([new], [old]) and not lost([old], [old])


ONE = re.compile(
    r"\b(one|five|these|this|same|other) "
    r"(draws?\b|data set|set of|measurements|random numbers)",
    re.I,
)


@pytest.mark.parametrize("name", PAGES)
def test_what_holds_for_one_draw_says_so(name):
    """In the caption or a paragraph near by; who hears the alt text reads."""
    page = PAGES[name]
    for cell in page.cells:
        if "one-seed" in cell.metadata.get("tags", []):
            near = range(cell.line - 20, cell.end + 20)
            said = [w.text for w in page.of(Words) if w.line in near]
            said = {" ".join(s.split()) for s in said}
            said -= {cell.about("image", "alt")}
            assert ONE.search(" ".join(said)), f"{name}.md:{cell.line}"
