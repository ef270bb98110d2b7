"""The Sphinx extensions, by themselves."""

from types import SimpleNamespace

import pytest
from chapter_links import pieces
from finding import names
from finish import (
    choose_theme,
    drop_unused,
    label_cells,
    preload_fonts,
    repair,
    size,
    size_images,
)
from listings import without_sections
from live_figures import with_words
from source_numbers import letters, number_equations, source_number
from tidy import shorten, tidy
from validated import digest


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("equation-eq-6-8", "6.8"),
        ("equation-eq-6-10", "6.10"),
        ("equation-eq-notes-9", "9"),
        ("equation-eq-gp-27", "27"),
        ("equation-eq-kernel", None),
        ("equation-eq-6-8-again", None),
    ],
)
def test_label_gives_the_source_number(label, number):
    assert source_number(label) == number


def test_letters_go_on_after_z():
    assert [letters(i) for i in (0, 25, 26, 51, 52)] == [
        "a",
        "z",
        "aa",
        "az",
        "ba",
    ]


def test_own_equations_are_lettered_in_order_around_source_numbers():
    equations = {
        "equation-eq-one": (2, 1),
        "equation-eq-6-2": (2, 2),
        "equation-eq-two": (2, 3),
    }
    env = SimpleNamespace(toc_fignumbers={"c": {"displaymath": equations}})
    number_equations(None, env)
    assert list(equations.values()) == [("2a",), ("6.2",), ("2b",)]


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
    source = """def f(x):
    ...Square.

    f(x) = x².

    Parameters
    ----------
    x : number

    Examples
    --------
    >>> f(2)
    4
    ...
    return x * x
""".replace("...", '"' * 3)
    short = source.replace("f(x) = x².\n\n    ", "")
    kept, kept_short = without_sections(source), without_sections(short)
    assert kept.splitlines()[1:] == [
        '    """Square.',
        "",
        "    f(x) = x².",
        '    """',
        "    return x * x",
    ]
    assert kept_short.splitlines()[1:] == [
        '    """Square."""',
        "    return x * x",
    ]


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


def test_an_equation_is_found_by_number_source_and_name():
    found = names("eq-gp-27", "27", "PRML (6.66) · notes (27) · lecture p. 56")
    assert {"27", "(27)", "6.66", "PRML 6.66", "notes (27)"} <= found
    assert {"lecture p. 56", "equation 27"} <= found
    assert "weak duality" in names("eq-weak-duality", "14h", "")


def test_icons_are_drawn_and_an_unknown_one_stops_the_build():
    drawn = repair('<i class="theme-switch fa-solid fa-sun fa-lg" x="y"></i>')
    assert drawn.startswith('<svg class="icon theme-switch" viewBox')
    assert ' x="y"><path d="' in drawn
    with pytest.raises(KeyError, match="unheard-of"):
        repair('<i class="fas fa-unheard-of"></i>')


def test_search_scripts_stay_on_the_search_page_only():
    script = '<script src="../searchindex.js"></script>'
    assert drop_unused(script) == ""
    found = f'{script}<div id="search-results"></div>'
    assert drop_unused(found) == found


def test_fonts_are_preloaded_where_there_is_mathematics():
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
    assert size(logo) == (240, 64)
    assert size(plot) == (40, 20)
    html = size_images(
        '<img alt="x" src="b.svg">', lambda name: tmp_path / name
    )
    assert '<img width="40" height="20"' in html


def test_nothing_of_an_older_build_stays(tmp_path):
    for name, text in {
        "chapters/kept.html": '<img src="../_images/new.svg">',
        "chapters/renamed.html": '<img src="../_images/old.svg">',
        "_modules/kernelbook/ridge.html": "",
        "_modules/kernelbook/gone.html": "",
        "_static/part.html": "",
        "_images/new.svg": '<path d="M 0.123456 1"/>',
        "_images/old.svg": "",
        "_sources/chapters/renamed.md": "",
        "notebooks/renamed.ipynb": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    env = SimpleNamespace(
        found_docs={"chapters/kept"},
        _viewcode_modules={"kernelbook.ridge": ("", {}, {}, "")},
    )
    builder = SimpleNamespace(format="html")
    tidy(SimpleNamespace(outdir=tmp_path, env=env, builder=builder), None)
    left = {p.relative_to(tmp_path) for p in tmp_path.rglob("*.*")}
    assert {str(path) for path in left} == {
        "chapters/kept.html",
        "_modules/kernelbook/ridge.html",
        "_static/part.html",
        "_images/new.svg",
    }
    assert (tmp_path / "_images/new.svg").read_text() == '<path d="M 0.12 1"/>'


def test_a_shortened_drawing_keeps_its_scales():
    svg = '<use x="1.005678" y="-2.5"/><g transform="scale(0.015625)"/>'
    assert shorten(svg) == (
        '<use x="1.01" y="-2.5"/><g transform="scale(0.015625)"/>'
    )


def test_cells_of_a_wide_table_name_their_columns():
    heads = "".join(f'<th class="head"><p>{h}</p></th>' for h in "abcd")
    row = "<tr>" + "<td>1</td>" * 4 + "</tr>"
    made = label_cells(f'<table class="table">{heads}{row}{row}</table>')
    assert made.startswith('<table class="cards table">')
    assert made.count('<td data-column="b">1</td>') == 2
    narrow = '<table class="table"><td>1</td></table>'
    assert label_cells(narrow) == narrow


def test_the_theme_is_chosen_before_anything_is_drawn():
    head = '<html lang="en"><script data-cfasync="false">x</script><link>'
    made = choose_theme(head)
    assert made.startswith('<html data-theme="light" lang="en"><script>')
    assert "prefers-color-scheme" in made and "cfasync" not in made
