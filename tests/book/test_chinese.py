"""The Chinese edition is the same book: its catalogues, and its built pages.

``make test`` looks at the catalogues: what is translated is right, as far as a
program sees it.  ``make check-zh`` builds the edition and compares the pages
with the English ones.
"""

import json
import re

import pytest
from lxml import html as parser
from pages import BOOK, FRONT, MODEL, PAGES, SITE, tree

from press import translation, twins
from press.quotations import spelt, translations
from press.reader import Page, pages
from press.translation import HAN, catalogue, faults, wordy

NAMES = [page.name for page in pages()] + ["ledger", "press"]


@pytest.mark.parametrize("name", NAMES)
def test_a_translation_keeps_what_is_no_matter_of_language(name):
    wrong = [
        f"{message[:70]} … {fault}"
        for message, new in catalogue(name).items()
        for fault in (slots if name == "press" else faults)(message, new)
    ]
    assert not wrong, "\n".join(wrong)


def test_what_the_english_translates_is_quoted_in_its_own_words():
    """Of a source that is Chinese, though a part of it may do."""
    own = {" ".join(q.split()): said for q, said in translations().items()}
    for page in pages():
        for message, new in catalogue(page.name).items():
            quoted = re.findall("“([^”]*)”", new)
            for quote in re.findall('"([^"]+)"', message):
                whole = letters(own.get(quote, ""))
                assert not whole or any(
                    whole in letters(said)
                    or all(letters(part) in whole for part in said.split("……"))
                    for said in quoted
                ), f"{page.name}: {quoted} instead of {own[quote]!r}"


def letters(words):
    return spelt(words, exact=False)


def slots(message, new):
    """What the press says has places where something is put in."""
    named = [
        sorted(
            re.sub(r"^\d+$", "", one) for one in re.findall(r"\{([^{}]*)\}", t)
        )
        for t in (message, new)
    ]
    return [] if named[0] == named[1] else [f"places: {named}"]


@pytest.mark.parametrize(
    ("message", "new", "fault"),
    [
        ("Take $x = 1$.", "取 $x = 2$。", "formulas"),
        ("See {eq}`eq-6-8` now.", "见式 {eq}`eq-6-9`。", "roles"),
        ("A {term}`kernel` helps.", "{term}`内核 <kernel>` 有用。", "term"),
        ("Call `np.eye`, please.", "调用 `np.ones`。", "code"),
        ("There are 12 of them.", "共有十二个。", "numbers"),
        ("*Never* do this.", "不要这样做。", "emphasis"),
        (
            "A *{term}`kernel`* can *prove* it.",
            "*{term}`核函数 <kernel>`*能*证明*它。",
            "no emphasis",
        ),
        ("Read this, please.", "请读,谢谢。", "ASCII punctuation"),
        ("Read this, please.", "请读 $x$.", "ASCII punctuation"),
        ("Read (this), please.", "请读（这个)。", "ASCII bracket"),
        ("Read (this), please.", "请读（这个。", "[(（] without"),
        ('Read "this", please.', '请读"这个"。', "ASCII quotation"),
        ("Of a support vector.", "支撑向量的。", "the book has another"),
        ("Read this, please.", "Read this", "no Chinese"),
        ("[Here](there.md) it is.", "[这里](nowhere.md)。", "links"),
    ],
)
def test_a_wrong_translation_is_noticed(message, new, fault):
    assert any(said.startswith(fault) for said in faults(message, new))


def test_exchanging_nothing_changes_nothing():
    """Every message is found in its place, and put back there."""
    for page in pages():
        text = page.text
        for piece in reversed(translation.pieces(page)):
            if page.path.stem == "glossary" and len(piece.messages) > 1:
                continue  # put in another order
            new = piece.put(*piece.messages)
            text = text[: piece.start] + new + text[piece.end :]
        before, after = page.parts, Page(page.path, text).parts
        assert [*map(type, before)] == [*map(type, after)], page.name
        for old, now in zip(before, after, strict=True):
            said = [getattr(part, "text", "") for part in (old, now)]
            assert said[0].split() == said[1].split()


def test_what_has_no_translation_stays_and_is_marked(monkeypatch):
    monkeypatch.setattr(translation, "catalogue", lambda name: {})
    page = pages()[1]
    text = translation.translated(page)
    assert text.count(translation.MARK) > 50
    plain = text.replace(translation.MARK, "")
    said = [folded(part) for part in (Page(page.path, plain), page)]
    assert said[0] == said[1]


def folded(page):
    return [" ".join(getattr(p, "text", "").split()) for p in page.parts]


def test_a_message_that_has_changed_keeps_its_translation_as_a_draft(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(translation, "LOCALE", tmp_path)
    message, new = (
        "A kernel is a function of two points.",
        "核函数有两个自变量。",
    )
    translation.write("page", [message], {message: new})
    assert catalogue("page") == {message: new}
    changed = message.replace("points", "inputs")
    translation.write("page", [changed], catalogue("page"))
    assert catalogue("page") == {}
    assert translation.entries("page") == {changed: (new, True)}
    translation.write("page", [changed], {changed: new})
    assert catalogue("page") == {changed: new}


def test_formulas_code_and_numbers_are_not_translated():
    assert not wordy("$x = 1$, `np.eye(N)`, {eq}`eq-6-8`, 12.5")
    assert wordy("{term}`kernel`") and wordy("a formula")


# The built pages: make check-zh ---------------------------------------------

built = pytest.mark.zh
EDITIONS = twins.ENGLISH, twins.CHINESE


@built
def test_every_message_is_translated_and_no_other():
    """Says which are to be done; ``python -m press.translation todo 02``."""
    for left in (translation.not_yet(), translation.obsolete()):
        assert not left, f"{len(left)} messages:\n" + "\n".join(left)


@built
@pytest.mark.parametrize("page", BOOK)
def test_pages_are_the_same_but_for_their_language(page):
    """The same ids, equations, cells, outputs and number of checks."""
    english, chinese = (
        parser.fromstring((root / page).read_bytes()) for root in EDITIONS
    )
    assert chinese.get("lang") == "zh-CN"
    for what in (
        "//article//@id",
        "//article//*[@class='eqno']/text()",
        "//article//annotation/text()",
        "//div[contains(@class, 'cell_input')]//pre//text()",
        "//div[contains(@class, 'output')]//pre//text()",
        "//div[contains(@class, 'tag_check-')]/@class",
    ):
        here, there = (
            [" ".join(str(found).split()) for found in page_of.xpath(what)]
            for page_of in (english, chinese)
        )
        if "annotation" in what or page.endswith("glossary.html"):
            here, there = sorted(here), sorted(there)  # as sentences have it
        if page.endswith("glossary.html"):  # Chinese headwords come on top
            there = [found for found in there if found in here]
        assert here == there, what


BLOCKS = [
    *["p", "dt", "dd", "li", "h1", "h2", "h3", "td", "th", "a"],
    *["figcaption", "button", "summary", "label"],
]
NO_WORDS = (
    "ancestor::*[self::pre or self::code or self::script or @class='math']"
)
NAMES_ONLY = "reference internal"  # of authors, and of functions


@built
def test_what_is_english_says_so():
    """A block without a Chinese word, or a name that is not seen."""
    wrong = []
    for page in PAGES:
        blocks: dict = {}
        for text in tree(page).xpath(f"//body//text()[not({NO_WORDS})]"):
            up = text.getparent()
            around = [up, *up.iterancestors()]
            if not any(e.get("lang") == "en" for e in around):
                block = next((e for e in around if e.tag in BLOCKS), up)
                blocks.setdefault(block, []).append(text)
        for block, texts in blocks.items():
            if block.get("class") != NAMES_ONLY:
                wrong.append((page, block.tag, " ".join(texts)))
        for name in ("aria-label", "placeholder", "alt"):
            for value in tree(page).xpath(f"//@{name}"):
                wrong.append((page, name, value))
    found = [one for one in wrong if re.search("[a-z]{3}.* [a-z]{3}", one[2])]
    found = [one for one in found if not re.search(f"[{HAN}]", one[2])]
    assert not found, "\n".join(map(str, found))


@built
def test_twins_lead_to_each_other():
    for page in BOOK:
        for root, other in zip(EDITIONS, ("zh-CN", "en"), strict=True):
            text = (root / page).read_text("utf-8")
            (address,) = re.findall(
                rf'<a class="twin" href="([^"]*)" hreflang="{other}"', text
            )
            there = (root / page).parent / address
            assert there.resolve() != (root / page) and there.exists()


@built
def test_a_reader_keeps_the_place_and_the_choice(visit, serve):
    site = serve(SITE)
    page = visit(MODEL, home=site)
    section = page.locator("main section[id] section[id]").nth(3)
    section.evaluate("e => e.scrollIntoView({behavior: 'instant'})")
    # A click of Playwright's scrolls what is in a margin of the screen.
    page.locator("a.twin").evaluate("e => e.click()")
    page.wait_for_url(f"{site}/zh/{MODEL}#{section.get_attribute('id')}")
    page.goto(f"{site}/index.html", wait_until="commit")
    page.wait_for_url(f"{site}/zh/{FRONT}")
    page.locator("a.twin").click()
    page.wait_for_url(f"{site}/{FRONT}")
    page.goto(f"{site}/index.html", wait_until="commit")
    page.wait_for_url(f"{site}/{FRONT}")
    # It sends its reader on, sometimes before it is there whole.
    assert [p for p in page.problems if f"{site}/index.html" not in p] == []


@built
def test_the_search_knows_chinese_words():
    index = (twins.CHINESE / "searchindex.js").read_text("utf-8")
    for word in ("对偶", "核函数", "支持向量", "高斯"):
        assert json.dumps(word)[1:-1] in index, word
