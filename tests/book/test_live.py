"""Live figures in Chromium: the sliders move them, and what they show is true.

A curve is read back from the page, as the browser drew it, and compared with
the library, computed here.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from reading import ROOT, chapters

from kernelbook import (
    duality,
    features,
    gaussians,
    gp,
    kernels,
    ridge,
    svm,
    toydata,
)

pytestmark = pytest.mark.browser
HTML = ROOT / "_build" / "html"
NEAR = 0.5  # points on the page: rounding to 0.1, and Matplotlib's own


def live_figures():
    """Page, name and alternative text of every live figure of the book."""
    for chapter in chapters():
        for cell in chapter.code_cells:
            if "figures.live(" in cell.source:
                about = cell.metadata["mystnb"]
                page = f"chapters/{chapter.path.stem}.html"
                yield page, about["figure"]["name"], about["image"]["alt"]


FIGURES = list(live_figures())
LIVE_PAGES = sorted({page for page, _, _ in FIGURES})
each_figure = pytest.mark.parametrize(
    ("path", "name", "alt"), FIGURES, ids=[name for _, name, _ in FIGURES]
)
each_page = pytest.mark.parametrize("path", LIVE_PAGES)


@dataclass(frozen=True)
class Live:
    """A live figure on a page."""

    box: object

    def move(self, places):
        """Put sliders, by keyboard, to values such as "C = 10, γ = 0.2"."""
        for place in places.split(", "):
            name = place.partition(" = ")[0]
            field = self.box.get_by_label(name, exact=True)
            field.press("Home")
            for _ in range(int(field.get_attribute("max"))):
                if field.get_attribute("aria-valuetext") != place:
                    field.press("ArrowRight")
            assert field.get_attribute("aria-valuetext") == place

    def group(self, artist):
        return self.box.locator(f'[data-moves="{artist}"]')

    def axes(self, artist):
        """The two scales of an artist's axes: limits, and their places."""
        return self.group(artist).evaluate(
            "g => { const a = g.closest('[data-x]').dataset;"
            " return [a.x, a.y].map(s => s.split(' ')); }"
        )

    def path(self, artist, number=0):
        """Points along a path as the browser drew it, in the page's units."""
        return np.array(
            self.group(artist)
            .locator("path")
            .nth(number)
            .evaluate(
                "p => { const n = 200, whole = p.getTotalLength();"
                " return Array.from({length: n + 1}, (_, i) => {"
                " const q = p.getPointAtLength(i * whole / n);"
                " return [q.x, q.y]; }); }"
            )
        )

    def markers(self, artist):
        """Where an artist's markers stand, in the page's units."""
        boxes = self.group(artist).evaluate(
            "g => [...g.querySelectorAll('use, path')].map(u => {"
            " const b = u.getBBox(), m = u.getCTM(),"
            "   top = u.ownerSVGElement.getCTM().inverse(),"
            "   at = new DOMPoint(b.x + b.width / 2, b.y + b.height / 2)"
            "     .matrixTransform(top.multiply(m));"
            " return [at.x, at.y]; })"
        )
        return np.array(boxes)

    def to_page(self, artist, points):
        return scaled(points, self.axes(artist), to_page=True)

    def to_data(self, artist, points):
        return scaled(points, self.axes(artist), to_page=False)

    def assert_draws(self, artist, x, y):
        """The path runs along y(x), all the way, and nowhere else."""
        drawn = self.path(artist)
        true = self.to_page(artist, np.column_stack([x, y]))
        for point in drawn:
            assert np.min(np.hypot(*(true - point).T)) < NEAR, (artist, point)
        left, right = (float(place) for place in self.axes(artist)[0][3:])
        inside = true[(true[:, 0] >= left) & (true[:, 0] <= right)]
        assert np.ptp(drawn[:, 0]) > 0.9 * np.ptp(inside[:, 0])


def scaled(points, axes, to_page):
    back = []
    for (kind, *four), values in zip(axes, np.transpose(points), strict=True):
        low, high, first, last = map(float, four)
        if kind == "log":
            low, high = np.log10([low, high])
        if to_page:
            values = np.log10(values) if kind == "log" else values
            share = (values - low) / (high - low)
            back.append(first + share * (last - first))
        else:
            value = low + (values - first) / (last - first) * (high - low)
            back.append(10**value if kind == "log" else value)
    return np.column_stack(back)


@each_figure
def test_slider_is_in_the_tab_order_and_an_arrow_changes_the_drawing(
    reader, path, name, alt
):
    page = reader(path)
    box = page.locator(f"figure#{name} .live-figure")
    svg = box.locator("svg")
    assert svg.get_attribute("aria-label") == " ".join(alt.split())
    assert svg.get_attribute("role") == "img"
    for field in box.locator("input").all():
        field.focus()
        page.keyboard.press("Tab")
        assert not field.evaluate("f => f === document.activeElement")
        page.keyboard.press("Shift+Tab")
        assert field.evaluate("f => f === document.activeElement")
        label = page.locator(f"label[for={field.get_attribute('id')}]")
        assert label.is_visible() and label.text_content()
        before = svg.inner_html(), field.get_attribute("aria-valuetext")
        at_end = field.input_value() == field.get_attribute("max")
        page.keyboard.press("ArrowLeft" if at_end else "ArrowRight")
        after = svg.inner_html(), field.get_attribute("aria-valuetext")
        assert after[0] != before[0] and after[1] != before[1]
        value = field.locator("xpath=following-sibling::span").text_content()
        assert after[1] == f"{label.text_content()} = {value}"
    assert page.problems == [] and page.foreign == []


@each_page
def test_without_scripts_there_is_the_figure_and_no_dead_slider(visit, path):
    page = visit(path, java_script_enabled=False)
    figures = page.locator(".live-figure")
    assert figures.count() == [p for p, _, _ in FIGURES].count(path)
    for box in figures.all():
        assert box.locator("svg").is_visible()
        assert box.locator("svg [data-moves] *").count()
        assert not box.locator("input").first.is_visible()


@each_page
def test_a_live_figure_weighs_at_most_300_kb(path):
    html = (HTML / path).read_text("utf-8")
    found = re.findall(
        r'<div class="live-figure.*?class="live-frames">.*?</script>',
        html,
        re.S,
    )
    assert len(found) == [p for p, _, _ in FIGURES].count(path)
    for figure in found:
        assert len(figure.encode()) <= 300_000


def test_ids_are_unique_on_every_page_with_live_figures():
    for path in LIVE_PAGES:
        html = (HTML / path).read_text("utf-8")
        ids = re.findall(r' id="(k[0-9a-f]{4}-\d+)"', html)
        assert ids and len(ids) == len(set(ids)), path


# What stands between the drawing and the page, and has a colour of its own.
SLABS = """box => {
  const slabs = [];
  for (let e = box; !e.matches('main, body'); e = e.parentElement) {
    const ground = getComputedStyle(e).backgroundColor;
    if (ground !== 'rgba(0, 0, 0, 0)')
      slabs.push(`${ground} ${e.cloneNode().outerHTML.slice(0, 160)}`);
  }
  return slabs;
}"""


@each_page
def test_live_figures_follow_the_mode_and_fit_a_phone(visit, path):
    page = visit(path, viewport={"width": 375, "height": 800})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_selector(f"html[data-theme={scheme}]")
        for box in page.locator(".live-figure").all():
            svg = box.locator("svg")
            turned = svg.evaluate("s => getComputedStyle(s).filter") != "none"
            is_map = "colour-map" in box.get_attribute("class")
            assert turned == (scheme == "dark" and not is_map), path
            slabs = box.evaluate(SLABS)
            assert not slabs, f"{path}: a slab of another colour: {slabs}"
            for part in [svg, *box.locator(".live-slider > *").all()]:
                place = part.bounding_box()
                assert place["x"] >= 0
                assert place["x"] + place["width"] <= 375


def test_a_live_figure_works_from_a_file(browser):
    path, name, _ = FIGURES[0]
    page = browser.new_page()
    page.goto((HTML / path).as_uri())
    box = page.locator(f"figure#{name} .live-figure")
    before = box.locator("svg").inner_html()
    box.locator("input").first.press("ArrowRight")
    assert box.locator("svg").inner_html() != before
    page.close()


# What the figures show, once more, by the library.

DENSE = np.linspace(0, 1, 20_001)


def three_lambdas(live):
    x, t = toydata.noisy_sine(15, noise=0.3, rng=3)

    def phi(x):
        return features.bumps(x, np.linspace(0, 1, 24), width=0.06)

    for lam, shown in [(1e-3, "0.001"), (10.0, "10")]:
        live.move(f"λ = {shown}")
        w = ridge.fit_primal(phi(x), t, lam)
        live.assert_draws("fit", DENSE, phi(DENSE) @ w)


def nearest_mean(live):
    X, t = toydata.two_rings(80, noise=0.08, rng=1)
    live.move("degree = 1, γ = 0.2")
    for family, k in [
        ("polynomial", kernels.Polynomial(1)),
        ("Gaussian", kernels.Gaussian(0.2)),
    ]:
        artist = f"{family} boundary"

        def score(Z, k=k):
            return features.kernel_mean_distances(
                k, X[t < 0], Z
            ) - features.kernel_mean_distances(k, X[t > 0], Z)

        drawn = live.to_data(artist, live.path(artist))
        assert_level(score, drawn, 0.0, 0.06)


def map_gamma(live):
    x, t = toydata.noisy_sine(12, noise=0.15, rng=3)
    live.move("γ = 500")
    k = kernels.Gaussian(500.0)
    a = ridge.fit_dual(k(x[:, None]), t, lam=0.01)
    y = ridge.predict(a, k(x[:, None], DENSE[:, None]))
    live.assert_draws("fit", DENSE, y)
    live.assert_draws("kernel", DENSE, k(DENSE[:, None], [[0.5]])[:, 0])


def floats(live):
    live.move("γ = 100")
    K = kernels.Gaussian(100.0)(np.linspace(0, 1, 60)[:, None])
    mu = np.linalg.eigvalsh(K)[::-1]
    certain = mu > 1e-11  # below, it is rounding
    true = np.column_stack([np.arange(1, 61), mu])[certain]
    drawn = live.markers("2")[: len(true)]  # double precision, positive
    assert len(true) > 30
    assert_near(drawn, live.to_page("2", true))


def gp_minute(live):
    x, t = toydata.noisy_sine(14, noise=0.2, rng=2)
    x, t = x[x < 0.7], t[x < 0.7]
    live.move("points = 5, noise = 0.5")
    seen = np.random.default_rng(0).permutation(len(x))[:5]
    k = kernels.ExponentialQuadratic((1.0, 16.0, 0.0, 0.0))
    model = gp.fit(k, x[seen, None], t[seen], beta=1 / 0.5**2)
    z = 1.2 * DENSE
    live.assert_draws("mean", z, gp.mean(model, z[:, None]))


def prior_samples(live):
    live.move("θ₀ = 9, θ₁ = 64, θ₂ = 0, θ₃ = 5")
    s = np.linspace(-1, 1, 129)[:, None]
    k = kernels.ExponentialQuadratic((9.0, 64.0, 0.0, 5.0))
    rng = np.random.default_rng(4)
    drawn = gaussians.sample(np.zeros(129), k(s), 4, rng, jitter=1e-9)
    x = np.linspace(-1, 1, 20_001)
    for n, y in enumerate(drawn):
        live.assert_draws(f"draw {n + 1}", x, np.interp(x, s[:, 0], y))


@cache
def bell(length):
    return kernels.ExponentialQuadratic((1.0, 1 / length**2, 0.0, 0.0))


def ml_minute(live):
    x, t = toydata.noisy_sine(20, noise=0.2, rng=0)
    live.move("length = 0.05")
    model = gp.fit(bell(0.05), x[:, None], t, 25.0)
    live.assert_draws("mean", DENSE, gp.mean(model, DENSE[:, None]))
    top = [[0.05, gp.log_marginal_likelihood(model)]]
    assert_near(live.markers("ln p"), live.to_page("ln p", top))


def two_tops(live):
    rng = np.random.default_rng(7)
    x = np.sort(rng.uniform(-5, 5, 12))
    t = np.sin(1.2 * x) + 0.4 * rng.standard_normal(12)
    live.move("length = 11, noise = 0.5")
    model = gp.fit(bell(11.0), x[:, None], t, 1 / 0.5**2)
    z = np.linspace(-6, 6, 20_001)
    live.assert_draws("mean", z, gp.mean(model, z[:, None]))
    assert_near(live.markers("place"), live.to_page("place", [[11.0, 0.5]]))


SMALL = duality.QuadraticProgram([[2.0]], [0.0], G=[[-1.0]], h=[-1.0])


def lagrange_prices(live):
    live.move("μ = 3")
    w = np.linspace(-0.5, 2.7, 2001)
    priced = [duality.lagrangian(SMALL, [one], [3.0]) for one in w]
    live.assert_draws("priced", w, priced)
    bound = [[3.0, duality.dual_function(SMALL, [3.0])]]
    assert_near(live.markers("bound"), live.to_page("bound", bound))


def lagrange_set(live):
    live.move("μ = 2.5")
    g = np.linspace(-1.6, 1.1, 20_001)
    bound = duality.dual_function(SMALL, [2.5])
    live.assert_draws("convex line", g, bound - 2.5 * g)


def svm_moons(live):
    X, t = toydata.two_moons(120, noise=0.25, rng=1)
    live.move("C = 10, γ = 0.2")
    k = kernels.Gaussian(0.2)
    machine = svm.fit_dual(k(X), t, C=10.0)

    def y(Z):
        return svm.output(machine, k(X, Z))

    for number, level in enumerate([-1, 0, 1]):
        drawn = live.to_data("boundary", live.path("boundary", number))
        assert_level(y, drawn, level, 0.03)
    for artist, group in [("4", machine.free), ("5", machine.bounded)]:
        assert len(group) > 1
        assert_near(live.markers(artist), live.to_page(artist, X[group]))


def assert_near(drawn, true):
    assert len(drawn) == len(true)
    assert np.max(np.hypot(*(drawn - true).T)) < NEAR


def assert_level(f, points, level, step):
    """Every point is within a step of a place where f has the level."""
    angles = np.arange(0, 6.28, 0.5)
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    for point in points[::5]:
        values = f(point + step * around) - level
        assert values.min() <= 0 <= values.max(), point


SPOTS = {
    "fig-three-lambdas": three_lambdas,
    "fig-map-nearest-mean": nearest_mean,
    "fig-map-gamma": map_gamma,
    "fig-floats": floats,
    "fig-gp-minute": gp_minute,
    "fig-gp-prior-samples": prior_samples,
    "fig-ml-minute": ml_minute,
    "fig-ml-two-tops": two_tops,
    "fig-lagrange-prices": lagrange_prices,
    "fig-lagrange-set": lagrange_set,
    "fig-svm-moons": svm_moons,
}


def test_every_live_figure_is_spot_checked():
    assert {name for _, name, _ in FIGURES} == set(SPOTS)


@each_figure
def test_what_the_slider_shows_is_what_the_library_computes(
    reader, path, name, alt
):
    figure = reader(path).locator(f"figure#{name} .live-figure")
    SPOTS[name](Live(figure))
