r"""The book in another language: the same pages, sentences from a catalogue.

A message is what a reader reads in one place, as it is written in MyST: a
paragraph, an item, a cell of a table, a title, a caption, an alternative text.
``locale/zh_CN/LC_MESSAGES/chapters/02_dual_representation.po`` has those of
chapter 2; ``ledger.po`` what the ledger says, ``press.po`` what the press says
of itself.  With ``KERNELBOOK_LANGUAGE=zh_CN`` each page is read with its
sentences exchanged, before Sphinx sees it: equations, cells and labels are
those of the English page, because they are not touched.

    python -m press.translation             bring the catalogues up to date
    python -m press.translation todo 02     what is missing, numbered; or all
    python -m press.translation done 02 F   put in the answers of file F

What has no translation stays English, with a mark.  (Why not Sphinx's own
exchange of messages: it knows neither alternative texts nor titles of
exercises, parses each message by itself, which took longer than the whole
English build, and loses links to headings.)
"""

import ast
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from docutils import nodes

from press.reader import (
    CHAPTERS,
    ROOT,
    Cell,
    Directive,
    Heading,
    Math,
    Page,
    Role,
    Words,
    pages,
    parser,
    titled,
)

LANGUAGE = os.environ.get("KERNELBOOK_LANGUAGE", "en")
TRANSLATED = LANGUAGE != "en"
LOCALE = ROOT / "locale" / "zh_CN" / "LC_MESSAGES"
HEAD = r"""msgid ""
msgstr ""
"Language: zh_CN\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=utf-8\n"
"Content-Transfer-Encoding: 8bit\n"

"""
ONLY_ZH = "^{zh}`[^`]*`$"  # a paragraph of an English page in Chinese
MARK = "⟦en⟧"  # before a paragraph that has no translation
# Docstrings, works and code always are.
ENGLISH = re.compile(
    r'<(dl|div|span)(?= class="(?:py |(?:bibtex-)?citation"|highlight"))'
)
MAYBE_ENGLISH = re.compile(
    r'<(p|dt|strong|span(?= class="xref))((?: class="xref std std-term"'
    r'| id="term-[^"]*")?)>(.*?)</\1>',
    re.S,
)
OF_THE_THEME = (
    *("Link to this heading", "Link to this image", "Link to this term"),
    *("Link to this definition", "Link to this table", "Link to this code"),
    *("Permalink to this equation", "Search this book...", "Color mode"),
    *("Toggle primary sidebar", "Toggle secondary sidebar", "Main", "Book"),
)
HAN = "\u3400-\u4dbf\u4e00-\u9fff"
FULL = "，。；：？！、（）“”‘’《》—…"
ASCII = {
    "punctuation": rf"[{HAN}] *[,;:?!.]|[,;:?!] *[{HAN}]|\.[{HAN}]"
    r"|[\w)]\.$|: ",
    "bracket": rf"\([^()]*[{HAN}][^()]*\)|（[^()（）]*\)|\([^()（）]*）",
    "quotation mark": f'[{HAN}]"|"[{HAN}]',
}
# What Chinese books say as well, and ours does not (as the glossary does).
OTHERS = (
    "支撑向量|原问题|拉格朗日乘数|边际似然|标准误差|极大似然|感知器|铰链|内核"
)
# The ledger's fields that are read; the others are keys, names and quotations.
SPOKEN = ("title", "right", "result", "remark", "also")


# What there is to be said ---------------------------------------------------


class Piece(NamedTuple):
    """Characters of a page that hold messages, and how new ones are put."""

    start: int
    end: int
    messages: tuple[str, ...]
    put: Callable[..., str]
    paragraph: bool = False  # where a mark does no harm


def folded(text: str) -> str:
    return " ".join(text.split())


def wordy(message: str) -> bool:
    """Whether there is a word in it, besides formulas, code and numbers.

    >>> wordy("$x = 1$, `np.eye(N)`, {eq}`eq-6-8`"), wordy("{term}`kernel`")
    (False, True)
    """
    left = re.sub(r"\$[^$]*\$|`[^`]*`", " ", re.sub(r"\{term\}`", "", message))
    return (
        re.search(r"[^\W\d_]{2,}", re.sub(r"\{[\w:]+\}", "", left)) is not None
    )


def pieces(page: Page) -> list[Piece]:
    """Where a page says something, from top to bottom."""
    lines = page.text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    cursors = [0] * len(lines)

    def find(text: str, line: int) -> tuple[int, int]:
        """From the first character of a text of several lines to its last."""
        spots = []
        for at, words in enumerate(text.split("\n"), line - 1):
            column = lines[at].find(words.strip(), cursors[at])
            if column < 0:
                raise ValueError(f"{page.path.name}:{at + 1}: no {words!r}")
            cursors[at] = column + len(words.strip())
            spots.append((starts[at] + column, starts[at] + cursors[at]))
        return spots[0][0], spots[-1][1]

    found: list[Piece] = []
    done = heading = 0
    for part in page.parts:
        if isinstance(part, Heading):
            heading = part.line
        if part.line < done:
            continue
        if isinstance(part, Cell):
            found += in_header(part, page.text, starts)
            done = part.end
        elif isinstance(part, Directive) and part.name in (
            "glossary",
            "index",
        ):
            start, end = starts[part.line - 1], starts[part.end - 1]
            found.append(GIVEN[part.name](page.text, start, end))
            done = part.end
        elif isinstance(part, Directive):
            said = [
                titled(part.name, part.argument),
                part.options.get("alt", ""),
            ]
            for text in filter(None, said):
                at = part.line
                while text not in lines[at - 1]:
                    at += 1
                found.append(Piece(*find(text, at), (text,), str))
        elif type(part) is Words and not part.aside:
            spot = find(part.text, part.line)
            whole = (folded(part.text),)
            found.append(Piece(*spot, whole, str, part.line != heading))
    return found


def in_header(cell: Cell, text: str, starts: list[int]) -> Iterator[Piece]:
    """Caption and alternative text of a figure stand in the cell's header."""
    about = cell.metadata.get("mystnb", {})
    places = [("figure", "caption"), ("image", "alt")]
    there = [p for p in places if about.get(p[0], {}).get(p[1])]
    if not there:
        return

    def put(*new: str) -> str:
        header = {name: dict(values) for name, values in about.items()}
        for (what, name), words in zip(there, new, strict=True):
            header[what][name] = words
        whole = {**cell.metadata, "mystnb": header}
        how = {"allow_unicode": True, "width": 10**6, "sort_keys": False}
        return yaml.safe_dump(whole, **how)

    start = text.index("---\n", starts[cell.line - 1]) + 4
    end = text.index("\n---\n", start) + 1
    said = tuple(cell.about(*place) for place in there)
    yield Piece(start, end, said, put)


def glossary(text: str, start: int, end: int) -> Piece:
    """Entries by their Chinese, which is the first headword there."""
    first = text.index("\n", start) + 1
    last = text.rindex("```", start, end)
    blocks = text[first:last].strip().split("\n\n")
    heads = [block.partition("\n")[0] for block in blocks]
    said = [folded(block.partition("\n")[2]) for block in blocks]

    firsts = (re.search("{zh}`([^`]+)`", entry) for entry in said)
    all_names = [first[1] for first in firsts if first]

    def put(*new: str) -> str:
        entries = []
        for head, old, words in zip(heads, said, new, strict=True):
            chinese = re.findall("{zh}`([^`]+)`", old.partition(". ")[0])
            name = chinese[0]
            if all_names.count(name) > 1:  # feature vector and eigenvector
                name += f" ({head})"
            names = f"{name}\n{head}"
            others = "，".join(chinese[1:])
            also = f"又称{others}。" if others else ""
            entries.append((chinese[0].encode("gb18030"), names, also + words))
        entries.sort()
        return "\n\n".join(f"{n}\n  {words}" for _, n, words in entries) + "\n"

    return Piece(first, last, tuple(said), put)


def index(text: str, start: int, end: int) -> Piece:
    """What a section is found by in the general index."""
    at = text.index("{index}", start) + len("{index}")
    body = text[at:end].rsplit("```", 1)[0]
    kind, _, words = body.strip().rpartition("single: ")
    entries = [e.strip() for e in re.split("[;\n]", words) if e.strip()]

    def put(*new: str) -> str:
        single = "single: " if kind or len(new) > 1 else ""
        return f" {single}{'; '.join(new)}\n"

    return Piece(at, at + len(body), tuple(entries), put)


GIVEN = {"glossary": glossary, "index": index}


def messages() -> dict[str, list[str]]:
    """All there is to translate, by catalogue, each message once."""
    found = {
        page.name: [m for piece in pieces(page) for m in piece.messages]
        for page in pages()
    }
    found["ledger"] = [*from_ledger()]
    found["press"] = [*from_press()]
    return {
        name: [m for m in dict.fromkeys(said) if wordy(m)]
        for name, said in found.items()
    }


def from_ledger() -> Iterator[str]:
    from press.ledger import homes, ledger, not_executed

    for entry in [*homes(), *(e for e in ledger().values() if e.also)]:
        for one in (entry, *entry.repeats):
            for field in SPOKEN:
                yield from one.fields.get(field, "").split(" · ")
    yield from not_executed().values()


def from_press() -> Iterator[str]:
    """What the press itself says: say("…") in Python, say`…` in scripts."""
    for path in sorted(ROOT.glob("press/**/*.py")):
        calls = ast.walk(ast.parse(path.read_text("utf-8")))
        for call in calls:
            match call:
                case ast.Call(ast.Name("say"), [ast.Constant(str(text)), *_]):
                    yield text
    for path in SCRIPTS:
        yield from MARKED.findall(path.read_text("utf-8"))
    yield from SAID_ELSEWHERE
    told = (c.metadata.get("differs", "") for p in pages() for c in p.cells)
    yield from filter(None, told)
    book = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    yield from (part["caption"] for part in book["parts"])


SCRIPTS = [ROOT / "press/live/run.js", ROOT / "_static/previews.js"]
MARKED = re.compile(r"\bsay`([^`]*)`")
# What say() gets from a table, or from the ledger.
SAID_ELSEWHERE = (
    *("notes", "slides", "lecture", "handout", "a cell"),
    *("identity", "monte-carlo", "finite-difference", "oracle", "count"),
    *("figure", "prose", "arguments exchanged", "bounds moved"),
    *("conditions dropped", "numbers one off", "exponents raised"),
    *("factors lost", "halves lost", "indices moved", "inverses lost"),
    *("signs changed", "symbols mistaken", "terms lost", "transposes lost"),
    *OF_THE_THEME,
    *("relations and sums turned", "length", "waves", "points", "landmarks"),
    *("degree", "noise", "seed"),
)


def in_script(text: str, language: str = LANGUAGE) -> str:
    """A script that speaks the language of the book."""
    return MARKED.sub(lambda m: f"say`{say(m[1], language=language)}`", text)


# The catalogues -------------------------------------------------------------


def path_of(name: str) -> Path:
    return LOCALE / f"{name}.po"


@cache
def entries(name: str) -> dict[str, tuple[str, bool]]:
    """Message, translation, and whether that is of an older message."""
    if not path_of(name).exists():
        return {}
    with path_of(name).open("rb") as file:
        found = {str(m.id): (str(m.string), m.fuzzy) for m in read_po(file)}
    return {message: new for message, new in found.items() if message}


@cache
def catalogue(name: str) -> dict[str, str]:
    """Message and translation."""
    pairs = entries(name).items()
    return {message: new for message, (new, old) in pairs if new and not old}


def not_yet() -> list[str]:
    """What the next edition has to say still, by page."""
    return [
        f"{name}: {message}"
        for name, said in messages().items()
        for message in said
        if message not in catalogue(name)
    ]


def obsolete() -> list[str]:
    """What is translated, and nobody says any more."""
    said = messages()
    files = (path.relative_to(LOCALE) for path in LOCALE.rglob("*.po"))
    return [
        f"{name}: {message}"
        for name in (file.with_suffix("").as_posix() for file in files)
        for message in entries(name)
        if message not in said.get(name, [])
    ]


def write(name: str, said: list[str], known: dict[str, str]) -> None:
    """What is known; of a message that has changed, the old translation."""
    before = {m: new for m, (new, _) in entries(name).items() if new}
    gone = {folded(m): new for m, new in before.items() if m not in said}
    words = [message.split() for message in gone]
    made = Catalog()
    for message in said:
        new, flags = known.get(message, ""), []
        if not new and message in before:
            new, flags = before[message], ["fuzzy"]
        elif not new:
            for close in get_close_matches(message.split(), words, 1):
                new, flags = gone[" ".join(close)], ["fuzzy"]
        made.add(message, new, flags=flags)
    for cached in (entries, catalogue):
        cached.cache_clear()
    if not any(message.string for message in made if message.id):
        return path_of(name).unlink(missing_ok=True)
    out = io.BytesIO()
    write_po(out, made, omit_header=True, width=100)
    path_of(name).parent.mkdir(parents=True, exist_ok=True)
    path_of(name).write_text(HEAD + out.getvalue().decode("utf-8"), "utf-8")


def translated(page: Page) -> str:
    """The page's text with its messages in the other language."""
    known, text = catalogue(page.name), page.text
    for piece in reversed(pieces(page)):
        mark = MARK if piece.paragraph else ""
        new = [
            known.get(m, mark + m) if wordy(m) else re.sub(ONLY_ZH, "", m)
            for m in piece.messages
        ]
        text = text[: piece.start] + piece.put(*new) + text[piece.end :]
    return text


def with_marks(html: str) -> str:
    """What is English says so; the theme's own words are none."""
    html = re.sub(rf"<p>{MARK}", '<p class="untranslated" lang="en">', html)
    if TRANSLATED:
        html = ENGLISH.sub('<\\1 lang="en"', html)
        html = MAYBE_ENGLISH.sub(said_in_english, html)
        for words in OF_THE_THEME:
            html = html.replace(f'="{words}"', f'="{say(words)}"')
    return html.replace(MARK, "")


def said_in_english(match: re.Match[str]) -> str:
    """
    >>> for html in ("<p>Two <b>words</b></p>", "<p>两个 words</p>"):
    ...     MAYBE_ENGLISH.sub(said_in_english, html)
    '<p lang="en">Two <b>words</b></p>'
    '<p>两个 words</p>'
    """
    tag, attributes, content = match.groups()
    plain = re.sub("<annotation.*?</annotation>|<[^>]*>", " ", content)
    if re.search(f"[{HAN}]", plain) or not re.search("[A-Za-z]{3}", plain):
        return match[0]
    return f'<{tag} lang="en"{attributes}>{content}</{tag}>'


def say(text: str, name: str = "press", language: str = LANGUAGE) -> str:
    """What the press says, or the ledger, in the language of the book."""
    return text if language == "en" else catalogue(name).get(text, text)


# What a translation must keep -----------------------------------------------


class Said(NamedTuple):
    """What of a message is no matter of language."""

    formulas: Counter[str]
    roles: Counter[tuple[str, str]]
    code: Counter[str]
    links: Counter[str]
    numbers: Counter[str]
    emphasis: Counter[str]


def kept(message: str) -> Said:
    page = Page(CHAPTERS, message)
    maths, roles = page.of(Math), page.of(Role)
    tokens = [
        token
        for block in parser().parse(message)
        for token in [block, *(block.children or [])]
    ]
    words = "".join(
        t.content if t.type in ("text", "myst_role") else " " for t in tokens
    )
    for role in roles:
        words = words.replace(role.target, "")
    links = (str(t.attrs["href"]) for t in tokens if t.type == "link_open")
    return Said(
        Counter(folded(math.latex) for math in maths),
        Counter((r.name, r.target.lower()) for r in roles if r.name != "zh"),
        Counter(t.content for t in tokens if t.type == "code_inline"),
        Counter(link for link in links if not link.startswith("#")),
        Counter(re.findall(r"\d+(?:[.,]\d+)*", words)),
        Counter(
            t.type for t in tokens if t.type in ("em_open", "strong_open")
        ),
    )


def words_of(message: str) -> str:
    """Without formulas, code, and where roles and links lead."""
    plain = re.sub(r"\$+[^$]*\$+|``.*?``", "x", message)
    plain = re.sub(r"\{[\w:]+\}`([^`<]*?)(?:\s*<[^`>]*>)?`", r"\1", plain)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "x", plain)


@cache
def glossary_terms() -> dict[str, list[str]]:
    """The Chinese names of each entry of the glossary."""
    (page,) = [p for p in pages() if p.path.stem == "glossary"]
    (words,) = page.directives("glossary")
    entries = [b.split("\n", 1) for b in words.body.strip().split("\n\n")]
    return {
        head.lower(): re.findall("{zh}`([^`]+)`", text)
        for head, text in entries
    }


def faults(message: str, new: str) -> Iterator[str]:
    """What is wrong with a translation, as far as a program sees it."""
    old, now = kept(message), kept(new)
    for what in Said._fields:
        before, after = getattr(old, what), getattr(now, what)
        if before != after:
            lost, more = dict(before - after), dict(after - before)
            yield f"{what}: lost {lost}, new {more}"
    said = re.sub("{zh}`[^`]*`", "", new)
    if not re.search(f"[{HAN}]", said) and re.search(
        r"[a-z]{4}", words_of(message)
    ):
        yield "no Chinese in it"
    plain = words_of(new)
    for what, pattern in ASCII.items():
        for wrong in re.findall(pattern, plain):
            yield f"ASCII {what}: {wrong!r}"
    for opening, closing in ("[(（]", "[)）]"), ("“", "”"), ("《", "》"):
        left, before = (
            len(re.findall(opening, text)) - len(re.findall(closing, text))
            for text in (plain, words_of(message))
        )
        if left != before:
            yield f"{opening} without {closing}, or the reverse"
    for wrong in re.findall(f"(?<!又称)(?:{OTHERS})", said):
        yield f"the book has another word for {wrong!r}"
    if eased(new) != new:
        yield f"no emphasis for Markdown without a space: {eased(new)!r}"
    for role in Page(CHAPTERS, new).roles("term"):
        names = glossary_terms().get(role.target.lower(), [])
        shown = role.words or role.target
        if names and not any(name in shown for name in names):
            known = " or ".join(names)
            yield f"term {role.target!r} is {known}, not {shown!r}"


def eased(text: str) -> str:
    """With the spaces that Markdown needs to see where emphasis ends.

    >>> eased("是*{term}`核`*的，{term}`核`*不*是")
    '是 *{term}`核`* 的，{term}`核`*不*是'
    """
    parts = re.split(r"(\*+)", text)
    for number, at in enumerate(range(1, len(parts), 2)):
        before, after = parts[at - 1], parts[at + 1]
        opens = number % 2 == 0
        if opens and re.search(f"[{HAN}]$", before) and after[:1] == "{":
            parts[at - 1] += " "
        if not opens and before[-1:] == "`" and re.match(f"[{HAN}]", after):
            parts[at + 1] = f" {after}"
    return "".join(parts)


def spaced(text: str) -> str:
    """One space between Chinese and formulas, code, words or digits.

    >>> spaced("核$k$是`np`中的kernel，共3个。")
    '核 $k$ 是 `np` 中的 kernel，共 3 个。'
    """
    parts = re.split(r"(\$[^$]*\$|\{[\w:]+\}`[^`]*`|`[^`]*`)", folded(text))
    for at, part in enumerate(parts):
        if at % 2 == 0:
            part = re.sub(rf"([{HAN}])([A-Za-z0-9])", r"\1 \2", part)
            part = re.sub(rf"([A-Za-z0-9%])([{HAN}])", r"\1 \2", part)
            if at > 0:
                part = re.sub(rf"^([{HAN}A-Za-z0-9])", r" \1", part)
            if at < len(parts) - 1:
                part = re.sub(rf"([{HAN}A-Za-z0-9])$", r"\1 ", part)
            parts[at] = part
    for at in range(1, len(parts), 2):  # a word of the glossary is Chinese
        if re.match(rf"\{{(term|doc|ref)\}}`[{HAN}]", parts[at]):
            parts[at - 1] = re.sub(rf"([{HAN}]) $", r"\1", parts[at - 1])
            parts[at + 1] = re.sub(rf"^ ([{HAN}])", r"\1", parts[at + 1])
    return eased("".join(parts).strip())


# For Sphinx -----------------------------------------------------------------


english: dict[str, str] = {}  # titles of the page that is read
plain_id = nodes.make_id


def make_id(text: str) -> str:
    """Headings keep the anchors of their English."""
    return plain_id(english.get(nodes.fully_normalize_name(text), text))


if TRANSLATED:  # under the name by which Sphinx stores it
    make_id.__module__, nodes.make_id = nodes.__name__, make_id


def title(heading: Heading) -> str:
    plain = re.sub(
        r"\{[\w:]+\}`([^`<]*?)(?:\s*<[^`>]*>)?`", r"\1", heading.title
    )
    return nodes.fully_normalize_name(re.sub(r"[$*`]", "", plain))


def exchange(app, docname, source):
    """Another text for the page, before anybody reads it."""
    page = next((p for p in pages() if p.name == docname), None)
    if page is not None:
        app.env.note_dependency(str(path_of(docname)))
        source[0] = translated(page)
        new = Page(page.path, source[0]).headings
        english.clear()
        for here, there in zip(page.headings, new, strict=True):
            english[title(there)] = title(here)


# By hand --------------------------------------------------------------------


def update():
    """Catalogues with the messages of today, in their order."""
    said = messages()
    for name, them in said.items():
        write(name, them, catalogue(name))
    total = sum(map(len, said.values()))
    print(f"{len(not_yet())} of {total} messages are open")


def show(name, said, known, *, all_of_them=False):
    """Messages by number: those without a translation, or all."""
    for number, message in enumerate(said):
        if all_of_them:
            print(f"### {number}\n{message}\n→ {known.get(message, '')}\n")
        elif message not in known:
            old, _ = entries(name).get(message, ("", False))
            before = f"(of an older message) {old}\n" if old else ""
            print(f"### {number}\n{message}\n{before}")


def put_in(name, said, known, text):
    """Translations by number, those without a fault."""
    _, *answers = re.split(r"^### (\d+)\n", text, flags=re.M)
    refused = 0
    for number, answer in zip(answers[::2], answers[1::2], strict=True):
        message, new = said[int(number)], spaced(answer)
        wrong = [*faults(message, new)]
        for one in wrong:
            print(f"### {number}: {one}")
        refused += bool(wrong)
        if not wrong:
            known[message] = new
    write(name, said, known)
    left = sum(message not in known for message in said)
    print(f"{refused} refused, {left} of {len(said)} open in {name}")


def main(command="update", page="", file=""):
    if command == "update":
        return update()
    fits = {
        name: said
        for name, said in messages().items()
        if page in (name, name.split("/")[-1], name.split("/")[-1][:2])
    }
    ((name, said),) = fits.items()
    known = dict(catalogue(name))
    if command in ("todo", "all"):
        show(name, said, known, all_of_them=command == "all")
    elif command == "done":
        put_in(name, said, known, Path(file).read_text("utf-8"))
    else:
        sys.exit(f"command must be update, todo, all or done, got {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
