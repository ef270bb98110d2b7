"""Live figures: what a slider shows was drawn by the library."""

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from kernelbook import _film, _live, figures

GRID = np.linspace(0, 1, 40)


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context():
        plt.rcParams["backend"] = "svg"
        figures.use_style()
        yield
    plt.close("all")


def make(draw=None, start=None, **sliders):
    """A figure with a slope, unless told otherwise."""
    fig, ax = plt.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 9))

    def line(slope):
        ax.plot(GRID, slope * GRID, gid="line", label="a line")
        ax.set_title(f"slope {slope}")
        ax.legend(loc="upper left")

    sliders = sliders or {"slope": [1, 2, 5]}
    moved = line if draw is None else lambda **at: draw(ax, **at)
    return figures.live(fig, moved, start, **sliders)


def record(shown):
    """The frames, as the page's script reads them."""
    text = re.search(r'class="live-frames">(.*?)</script>', shown.html, re.S)
    return json.loads(text[1])


def frame(shown, group, index):
    """What the script puts into a group."""
    (moving,) = [m for m in record(shown)["moving"] if m["group"] == group]
    drawn = moving["drawn"][moving["which"][index]]
    return moving["before"] + drawn + moving["after"]


def numbers(markup):
    """The points of a path of relative steps."""
    d = re.search(r' d="([^"]*)"', markup)[1]
    assert d.count("M") == 1
    found = re.findall(r"-?(?:\d+\.?\d*|\.\d+)", d)
    return np.cumsum(np.array(found, dtype=float).reshape(-1, 2), axis=0)


def in_data(points, html):
    """Points of the page, read off the axes it records."""
    back = []
    for axis, places in zip("xy", points.T, strict=True):
        scale, *four = re.search(rf'data-{axis}="([^"]*)"', html)[1].split()
        assert scale == "linear"
        low, high, first, last = map(float, four)
        back.append(low + (places - first) / (last - first) * (high - low))
    return np.array(back)


def test_each_frame_holds_the_curve_of_its_value():
    shown = make()
    for index, slope in enumerate([1, 2, 5]):
        x, y = in_data(numbers(frame(shown, "line", index)), shown.html)
        assert x.min() < 0.01 and x.max() > 0.99
        assert_allclose(y, slope * x, atol=0.02)


def test_the_start_is_what_stands_in_the_page_before_any_script():
    shown = make(start={"slope": 5})
    drawing = shown.html[: shown.html.index("</svg>")]
    before = record(shown)
    assert frame(shown, "line", 2) in drawing
    assert frame(shown, "line", 0) not in drawing
    assert before["sliders"] == [{"name": "slope", "values": ["1", "2", "5"]}]
    assert 'value="2" aria-valuetext="slope = 5"' in shown.html


def test_without_a_start_the_middle_value_is_shown():
    assert 'aria-valuetext="slope = 2"' in make().html


def test_of_two_sliders_the_last_runs_fastest_and_equal_frames_are_one():
    def draw(ax, height, width):
        ax.plot([0, 1], [height, height], gid="level")
        ax.plot([width, width], [0, 9], gid="wall")

    shown = make(draw, height=[1, 2, 3], width=[0.2, 0.8])
    moving = {m["group"]: m for m in record(shown)["moving"]}
    assert moving["level"]["which"] == [0, 0, 1, 1, 2, 2]
    assert moving["wall"]["which"] == [0, 1, 0, 1, 0, 1]
    assert len(moving["level"]["drawn"]) == 3


def test_titles_move_legends_and_axes_are_there_once():
    shown = make()
    groups = [m["group"] for m in record(shown)["moving"]]
    assert len(groups) == 2 and "line" in groups
    drawing = shown.html[: shown.html.index("</svg>")]
    assert re.findall(r'data-moves="([^"]*)"', drawing) == groups
    assert "a line" in shown.svg


def test_titles_stay_in_their_place():
    def draw(ax, word):
        ax.set_title(word)

    shown = make(draw, word=["one", "two"], start={"word": "one"})
    places = [re.search(r"translate\(\S+ (\S+)\)", frame(shown, "0", i))[1]
              for i in (0, 1)]  # fmt: skip
    drawing = shown.html[: shown.html.index("</svg>")]
    assert places[0] == places[1]
    assert frame(shown, "0", 0) in drawing


def test_every_reference_of_every_frame_is_defined_in_the_page():
    def draw(ax, count):
        some = np.linspace(0.1, 0.9, count)
        ax.fill_between(some, 1, 1 + count * some)
        ax.plot(some, 9 * some, "o")
        ax.contour(*np.meshgrid(GRID, GRID), np.outer(GRID, GRID), [count / 9])
        ax.set_title({2: "few", 5: "some", 8: "many"}[count])

    shown = make(draw, count=[2, 5, 8])
    drawing = shown.html[: shown.html.index("<script>")]
    groups = [m["group"] for m in record(shown)["moving"]]
    frames = [frame(shown, g, i) for g in groups for i in range(3)]
    used = re.findall(r'(?:href="|url\()#([\w-]+)', drawing + "".join(frames))
    defined = re.findall(r' id="([\w-]+)"', drawing)
    assert len(groups) == 4
    assert set(used) <= set(defined)
    assert len(defined) == len(set(defined))


def test_the_same_figure_gives_the_same_page_and_another_has_other_ids():
    again, other = make().html, make(slope=[1, 2, 6]).html
    assert make().html == again
    ids = [set(re.findall(r' id="([\w-]+)"', text)) for text in (again, other)]
    assert not ids[0] & ids[1]


def test_text_tells_sliders_and_some_numbers_for_review():
    def draw(ax, lam):
        ax.plot(GRID, 9 * lam * GRID, gid="fit")

    shown = make(draw, lam=[2e-5, 0.5, 1.0], start={"lam": 0.5})
    assert repr(shown).splitlines() == [
        "live figure: λ = 2·10⁻⁵ … 1 (3 values)",
        "fit at λ = 2·10⁻⁵: 0 0 0 0 0",
        "fit at λ = 0.5: 0 1.04 2.19 3.35 4.5",
        "fit at λ = 1: 0 2.08 4.38 6.69 9",
    ]


def test_only_lines_with_a_name_are_told_in_numbers():
    def draw(ax, n):
        ax.fill_between(GRID, 0, n * GRID, gid="band")
        ax.plot(GRID, 2 * n * GRID)
        ax.plot(GRID, 3 * n * GRID, gid="named")

    _, *told = repr(make(draw, n=[1, 2])).splitlines()
    assert [line.split()[0] for line in told] == ["named", "named"]


def test_numbers_have_as_many_digits_as_the_axis_can_show():
    def draw(ax, n):
        ax.plot([0, 1, 2, 3], n * np.array([1 / 3, -0.001, 3, 9]), gid="line")

    def told(**limits):
        fig, ax = plt.subplots()
        ax.set(xlim=(0, 3), **limits)
        shown = figures.live(fig, lambda n: draw(ax, n), n=[1, 10])
        return repr(shown).splitlines()[1]

    assert told(ylim=(-49, 50)) == "line at n = 1: 0.3 0 3 9"
    assert told(ylim=(9, 0)) == "line at n = 1: 0.33 0 3 9"
    assert told(ylim=(1, 99), yscale="log") == (
        "line at n = 1: 3.3e-01 -1.0e-03 3.0e+00 9.0e+00"
    )


def test_the_layout_is_that_of_the_figure_itself():
    def figure():
        fig, ax = plt.subplots()
        ax.set(xlim=(0, 1), ylim=(0, 9), ylabel="one\ntwo", xlabel="x\ny\nz")
        return fig, ax

    fig, ax = figure()
    fig.draw_without_rendering()
    left, bottom, right, top = ax.get_position().extents
    width, height = 72 * fig.get_size_inches()
    fig, ax = figure()
    shown = figures.live(
        fig, lambda n: ax.plot(GRID, n * GRID), n=[1, 2], start={"n": 1}
    )
    x, y = (re.search(f'data-{a}="(.*?)"', shown.html)[1] for a in "xy")
    x_places = f"{width * left:.2f} {width * right:.2f}"
    y_places = f"{height * (1 - bottom):.2f} {height * (1 - top):.2f}"
    assert x == f"linear 0 1 {x_places}"
    assert y == f"linear 0 9 {y_places}"


def test_what_stays_is_hidden_for_a_frame_and_seen_again():
    _, ax = plt.subplots()
    seen, unseen = ax.plot(GRID, GRID, GRID, 2 * GRID)
    unseen.set_visible(False)
    with _film._hidden([seen, unseen]):
        assert not seen.get_visible() and not unseen.get_visible()
    assert seen.get_visible() and not unseen.get_visible()


def test_a_figure_may_be_as_heavy_as_said(monkeypatch):
    assert figures.HEAVIEST == 300_000
    bytes_ = len(make().html.encode())
    monkeypatch.setattr(figures, "HEAVIEST", bytes_)
    assert make().html
    monkeypatch.setattr(figures, "HEAVIEST", bytes_ - 1)
    with pytest.raises(ValueError, match="must weigh at most"):
        make()


def test_the_weight_of_a_page_is_counted_in_bytes(monkeypatch):
    class Empty:
        whole, svg = None, ""

        def __init__(self, fig, draw, begin):
            pass

        def shoot(self, frame):
            return _live.Scene(None, {}, {})

    monkeypatch.setattr(figures, "Film", Empty)
    for page, light in [("λ" * 150_000, True), ("λ" * 150_000 + "l", False)]:
        monkeypatch.setattr(_live, "page", lambda *_, page=page: page)
        if light:
            assert figures.live(plt.figure(), print, n=[1, 2]).html == page
        else:
            with pytest.raises(ValueError, match="at most 300 kB, got 300"):
                figures.live(plt.figure(), print, n=[1, 2])


def test_the_figure_is_closed_whatever_happens():
    make()
    with pytest.raises(ZeroDivisionError):
        make(lambda ax, n: 1 / n, n=[0, 1], start={"n": 0})
    assert not plt.get_fignums()


def test_notebooks_get_the_page_the_image_and_the_text():
    bundle = make()._repr_mimebundle_()
    assert bundle["text/html"].startswith('<div class="live-figure">')
    assert bundle["image/svg+xml"].startswith("<?xml")
    assert bundle["text/plain"].startswith("live figure: slope = 1 … 5")


def test_nothing_in_the_page_is_asked_of_another_host():
    assert "http" not in make().html


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (0.3, "0.3"), (-2.5, "−2.5"), (20_000.0, "20000"),
     (1e-5, "10⁻⁵"), (3e-5, "3·10⁻⁵"), (2.5e6, "2.5·10⁶"), ("far", "far"),
     (0.001, "0.001"), (1e-4, "10⁻⁴"), (12345, "12300"), (1e5, "10⁵"),
     (-3e-5, "−3·10⁻⁵"), (-1, "−1")],
)  # fmt: skip
def test_values_are_shown_as_a_reader_writes_them(value, shown):
    assert figures._spoken(value) == shown


def test_steps_too_short_to_see_are_left_out():
    path = "M 1 1 L 1.01 1.02 L 2 1 L 2.04 1 L 2.04 3 z"
    assert _live.shorten(path) == "M1 1l1 0 0 2z"


def test_rounding_of_a_path_does_not_add_up():
    steps = " ".join(f"L {0.26 * n} 0" for n in range(1, 101))
    markup = f'<path d="{_live.shorten("M 0 0 " + steps)}"/>'
    assert_allclose(numbers(markup)[-1], [26, 0], atol=0.05)


# --------------------------------------------------- the parts of a small page

SVG = """<svg xmlns="http://www.w3.org/2000/svg"
 xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">
<metadata/><defs><path id="A" d="M 0 0 Q 1 2 3 4"/><path id="B" d="M 1 1 z"/>
<path id="dot" d="M 0 0.04 L 1 1 z"/><path id="box" d="M 0 0 L 2 0 z"/>
<path id="band" d="M 0 0 L 9 0" style="stroke: red"/></defs>
<g id="line"><path d="M 1.04 2 L 3 4" style="fill: none; stroke: red"/></g>
<g id="word"><g transform="translate(1.26 2) scale(0.015625)">
<use xlink:href="#A"/><use xlink:href="#B" transform="translate(63.77 0)"/></g>
<rect x="1.26" y="2.34" transform="translate(5.55 0)"/></g>
<g id="dots"><use xlink:href="#dot" x="1.26" y="2.34" style="fill: blue"/>
<use xlink:href="#dot" x="3" y="4" style="fill: blue"/></g>
<g id="boxes"><use xlink:href="#box" x="1" y="2" style="fill: red"/>
<use xlink:href="#box" x="3" y="4" style="fill: blue"/></g>
<g id="one"><use xlink:href="#band" x="1" y="2" style="fill: blue"/></g>
</svg>"""
SHORT = """
<g data-moves="l"><path d="M1 2l2 2" style="fill:none; stroke:red"/></g>
<g><g transform="translate(1.3 2) scale(0.015625)">
<use href="#A"/><use href="#B" x="63.8"/></g>
<rect x="1.3" y="2.3" transform="translate(5.5 0)"/></g>
<g style="fill:blue"><use x="1.3" y="2.3" href="#dot"/>
<use x="3" y="4" href="#dot"/></g>
<g><use x="1" y="2" style="fill:red" href="#box"/>
<use x="3" y="4" style="fill:blue" href="#box"/></g>
<g><path d="M0 0l9 0" style="stroke:red; fill:blue"
 transform="translate(1 2)"/></g>"""
DEFINED = """
<path id="A" d="M 0 0 Q 1 2 3 4"/><path id="B" d="M1 1z"/>
<path id="dot" d="M0 0l1 1z"/><path id="box" d="M0 0l2 0z"/>"""


def test_reading_keeps_the_picture_in_fewer_letters():
    marks = {"line": {"data-moves": "l"}, "dot": {"data-moves": "no group"}}
    drawing, defs = _live.read(SVG, marks)
    assert _live.markup(drawing) == SHORT.replace("\n", "")
    assert _live.markup(defs.values()) == DEFINED.replace("\n", "")
    assert list(defs) == ["A", "B", "dot", "box"]
    assert drawing.attrib == {"viewBox": "0 0 9 9"}


def test_only_groups_are_found_again_and_only_markers_share_a_style():
    svg = """<svg><g id="picture"><image id="picture" x="1"/></g>
    <g><path style="fill:red"/><path style="fill:red"/></g></svg>"""
    drawing, _ = _live.read(svg, {"picture": {"data-moves": "p"}})
    assert _live.markup(drawing) == (
        '<g data-moves="p"><image x="1"/></g>'
        '<g><path style="fill:red"/><path style="fill:red"/></g>'
    )


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (12, "1.2"),
        (-3, "-.3"),
        (40, "4"),
        (-40, "-4"),
        (0, "0"),
        (-15, "-1.5"),
    ],
)
def test_tenths_are_written_without_a_leading_zero(n, text):
    assert _live._tenths(n) == text


def test_frames_share_what_they_begin_and_end_with():
    first = {"still": "-", "middle": "aXb", "all": "X", "end": "-"}
    second = {"still": "-", "middle": "aYb", "all": "Y", "end": "--"}
    middle, everything, end = _live._moving([first, second, first])
    assert middle == {
        "group": "middle",
        "before": "a",
        "after": "b",
        "drawn": ["X", "Y"],
        "which": [0, 1, 0],
    }
    assert everything["drawn"] == ["X", "Y"]
    assert everything["before"] == everything["after"] == ""
    assert end["before"] + end["after"] == "-" and end["drawn"] == ["", "-"]


def test_place_names_every_slider_the_last_running_fastest():
    sliders = [
        _live.Slider("a", ["p", "q", "r"], 1),
        _live.Slider("b", ["s", "t"], 0),
    ]
    assert _live.place(sliders, 3) == "a = q, b = t"
    assert _live.summary(sliders) == (
        "live figure: a = p … r (3 values), b = s … t (2 values)"
    )


def test_controls_are_named_sliders_over_all_values():
    shown = make(start={"slope": 5})
    assert re.search(
        r'<label for="(k[0-9a-f]{4}-\d+)">slope</label><input type="range" '
        r'id="\1" min="0" max="2" value="2" aria-valuetext="slope = 5" '
        r'autocomplete="off"><span aria-hidden="true">5</span>',
        shown.html,
    )


def test_frames_cannot_end_the_script_that_holds_them():
    assert _live._json({"λ": ["</b>", 1]}) == '{"λ":["<\\/b>",1]}'


def test_notebooks_show_figures_as_svg_without_a_date():
    formatter = InteractiveShell.instance().display_formatter.formatters[
        "image/svg+xml"
    ]
    formatter.pop(Figure, None)
    figures.use_style()
    fig, _ = plt.subplots()
    svg = formatter(fig)
    assert "<svg" in svg and "<dc:date>" not in svg


def more_artists(ax, n):
    for _ in range(n):
        ax.plot(GRID, n * GRID)


def other_legend(ax, n):
    ax.plot(GRID, GRID, label=f"{n}")
    ax.legend()


def other_limits(ax, n):
    ax.plot(GRID, n * GRID)
    ax.set_ylim(0, n)


def one_gid_twice(ax, n):
    ax.plot(GRID, n * GRID, gid="line")
    ax.plot(GRID, -n * GRID, gid="line")


def other_gid(ax, n):
    ax.plot(GRID, n * GRID, gid=f"line {n}")


def empty_text(ax, n):
    ax.text(0.5, 5, "here" * (n - 1), gid="word")


def noise(ax, n):
    t = np.random.default_rng(n).uniform(0, 9, 900)
    ax.plot(np.linspace(0, 1, 900), t)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: figures.live(plt.figure(), print), "needs a slider .* none"),
        (lambda: make(slope=[1]), "slope must have at least two values, got"),
        (lambda: make(start={"slope": 3}), "one of the values of slope, got"),
        (lambda: make(start={"slop": 1}), "start must name sliders, got 's"),
        (
            lambda: make(more_artists, n=[1, 2, 3], start={"n": 2}),
            r"same artists in every frame: at \{'n': 1\} expected Line2D, "
            "got no more",
        ),
        (lambda: make(other_legend, n=[1, 2]), r"at \{'n': 1\} expected Leg"),
        (
            lambda: make(other_gid, n=[1, 2]),
            r"at \{'n': 1\} expected Line2D line 2, got Line2D line 1",
        ),
        (lambda: make(other_limits, n=[1, 2]), r"change at \{'n': 1\}"),
        (lambda: make(one_gid_twice, n=[1, 2]), "a gid .* once, got 'line'"),
        (
            lambda: make(lambda ax, n: ax.plot(GRID, GRID), n=[1, 2]),
            "draw must depend on its sliders, but nothing moves",
        ),
        (
            lambda: make(empty_text, n=[1, 2]),
            "must be seen in every frame, .* never empty, but 'word' is not",
        ),
        (
            lambda: make(noise, n=range(80)),
            "must weigh at most 300 kB, got .* fewer values, or fewer points",
        ),
    ],
)
def test_bad_input_names_argument_expectation_and_frame(call, message):
    with pytest.raises(ValueError, match=message):
        call()
