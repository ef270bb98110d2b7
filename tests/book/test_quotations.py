"""What is quoted stands in a source, in the place that is named."""

import pytest

from press import quotations
from press.quotations import Quotation, findings, places, recorded
from press.reader import left_out


def test_every_quotation_stands_where_it_is_said_to():
    wrong = "\n".join(findings())
    assert not wrong, wrong


def test_nothing_is_recorded_that_nobody_quotes():
    quoted = {quotations.digest(q) for q in quotations.quotations()}
    assert recorded().keys() <= quoted or left_out()


SOURCE = ["ridge: $\\lambda", " \\geq 0$ and", "**no** bias … ever", ""]


@pytest.fixture
def source(monkeypatch):
    def texts(exact):
        return {"001": [quotations.spelt(line, exact) for line in SOURCE]}

    monkeypatch.setattr(quotations, "texts", texts)


@pytest.mark.parametrize(
    ("words", "file", "found"),
    [
        (r"\lambda \geq 0", "001", ["001:1"]),
        (r"\lambda \geq 0", "000", []),
        (r"\lambda > 0", "001", []),
        ("λ … no bias", "", ["001:1"]),
        ("No bias", "", ["001:3"]),
        ("No bias", "001", []),
        ("bias, never", "", []),
    ],
)
def test_words_are_found_on_their_line(source, words, file, found):
    assert [*places(Quotation("", words, file))] == found


def test_a_changed_quotation_is_noticed_without_the_sources(monkeypatch):
    one = next(quotations.quotations())
    changed = one._replace(words=one.words + " and more")
    moved = one._replace(line=one.line + 1)
    monkeypatch.setattr(quotations, "texts", lambda exact: {})
    for wrong in (changed, moved):
        monkeypatch.setattr(quotations, "quotations", lambda w=wrong: [w])
        assert len([*findings()]) == 1
