"""The press, part by part; short examples stand in its docstrings."""

from types import SimpleNamespace

import pytest

from press.numbers import number_equations, with_source_lines
from press.outputs import digest
from press.pages import (
    drop_unused,
    label_cells,
    preload_fonts,
    remove_older,
    repair,
    size,
    size_images,
)
from press.reader import CHAPTERS, Page
from press.shorthand import pieces, with_words, without_sections


def test_own_equations_are_lettered_in_order_around_source_numbers():
    equations = {
        "equation-eq-one": (2, 1),
        "equation-eq-6-2": (2, 2),
        "equation-eq-two": (2, 3),
    }
    env = SimpleNamespace(toc_fignumbers={"c": {"displaymath": equations}})
    number_equations(None, env)
    assert list(equations.values()) == [("2a",), ("6.2",), ("2b",)]


def test_a_line_is_put_below_equations_of_every_syntax_where_they_stand():
    text = "```{math}\n:label: eq-a\na\n```\n\n$$ b $$ (eq-b)\nEnd, $c$."
    line = "\n*not in the sources*\n"
    page = Page(CHAPTERS / "99_x.md", text)
    assert with_source_lines(page) == text.replace(
        "a\n```\n", f"a\n```\n{line}\n"
    ).replace("(eq-b)\n", f"(eq-b)\n{line}\n")


def test_digest_follows_library_and_pins(tmp_path):
    (tmp_path / "kernelbook").mkdir()
    source = tmp_path / "kernelbook" / "ridge.py"
    pins = tmp_path / "constraints.txt"
    source.write_text("lam = 1")
    pins.write_text("numpy==2.0")
    first = digest(tmp_path)
    assert digest(tmp_path) == first
    source.write_text("lam = 2")
    second = digest(tmp_path)
    pins.write_text("numpy==2.1")
    assert len({first, second, digest(tmp_path)}) == 3


def test_listing_keeps_the_formula_and_drops_the_sections():
    source = '''def f(x):
    """Square.

    f(x) = x².

    Parameters
    ----------
    x : number
    """
    return x * x
'''
    formula = "\n\n    f(x) = x²."
    kept = without_sections(source)
    assert f'"""Square.{formula}\n    """\n    return' in kept
    short = without_sections(source.replace(formula, ""))
    assert '"""Square."""\n    return' in short


def test_mentions_of_existing_chapters_become_links():
    text = "Chapter 8 does, chapter 14 will; chapters 2 and 3 did."
    page_of = {2: "chapters/02_x", 8: "chapters/08_y"}
    assert list(pieces(text, page_of)) == [
        ("", None),
        ("Chapter 8", "chapters/08_y"),
        (" does, chapter 14 will; ", None),
        ("chapters 2", "chapters/02_x"),
        (" and 3 did.", None),
    ]


def test_a_live_figure_gets_the_words_of_its_cell():
    html = '<div class="live-figure"><svg role="img" aria-label="x"></svg>'
    alt = 'A "curve" that\n  bends & turns.'
    assert with_words(html, alt, ["colour-map"]) == (
        '<div class="live-figure colour-map"><svg role="img" '
        'aria-label="A &quot;curve&quot; that bends &amp; turns."></svg>'
    )
    assert 'class="live-figure">' in with_words(html, alt, [])


def test_icons_are_drawn_and_an_unknown_one_stops_the_build():
    drawn = repair('<i class="theme-switch fa-solid fa-sun fa-lg" x="y"></i>')
    assert drawn.startswith('<svg class="icon theme-switch" viewBox')
    assert ' x="y"><path d="' in drawn
    with pytest.raises(KeyError, match="unheard-of"):
        repair('<i class="fas fa-unheard-of"></i>')


def test_the_theme_is_chosen_before_anything_is_drawn():
    head = '<html lang="en"><script data-cfasync="false">x</script><link>'
    made = repair(head)
    assert made.startswith('<html data-theme="light" lang="en"><script>')
    assert "prefers-color-scheme" in made and "cfasync" not in made


def test_search_scripts_and_fonts_are_asked_for_where_they_are_used():
    script = '<script src="../searchindex.js"></script>'
    assert drop_unused(script) == ""
    found = f'{script}<div id="search-results"></div>'
    assert drop_unused(found) == found
    page = '<html data-content_root="../"><title>T</title>'
    assert preload_fonts(page) == page
    assert "../_static/katex/fonts/" in preload_fonts(
        page + '<span class="katex">'
    )


def test_images_say_their_size(tmp_path):
    logo = tmp_path / "a.svg"
    logo.write_text('<svg viewBox="0 0 240 64"><rect width="5" height="5"/>')
    plot = tmp_path / "b.svg"
    plot.write_text('<svg width="30pt" height="15pt" viewBox="0 0 30 15">')
    assert (size(logo), size(plot)) == ((240, 64), (40, 20))
    html = size_images('<img alt="x" src="b.svg">', tmp_path)
    assert '<img width="40" height="20"' in html


def test_nothing_of_an_older_build_stays(tmp_path):
    stays = {
        "chapters/kept.html": '<img src="../_images/new.svg">',
        "_static/part.html": "",
        "_images/new.svg": "",
        "_sources/chapters/kept.md": "",
        "notebooks/kept.ipynb": "",
    }
    goes = {
        "chapters/renamed.html": '<img src="../_images/old.svg">',
        "_modules/kernelbook/gone.html": "",
        "_images/old.svg": "",
        "_sources/chapters/renamed.md": "",
        "notebooks/renamed.ipynb": "",
    }
    for name, text in {**stays, **goes}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    remove_older(tmp_path, {"chapters/kept.html"}, {"chapters/kept"})
    left = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.*")}
    assert left == stays.keys()


def test_cells_of_a_wide_table_name_their_columns():
    heads = "".join(f'<th class="head"><p>{h}</p></th>' for h in "abcd")
    row = "<tr>" + "<td>1</td>" * 4 + "</tr>"
    made = label_cells(f'<table class="table">{heads}{row}{row}</table>')
    assert made.startswith('<table class="cards table">')
    assert made.count('<td data-column="b">1</td>') == 2
    narrow = '<table class="table"><td>1</td></table>'
    assert label_cells(narrow) == narrow
