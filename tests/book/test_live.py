"""Live figures in Chromium: the sliders move them, and what they show is true.

A curve is read back from the page, as the browser drew it, and compared with
what the library, or a line of algebra, says here.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from pages import CHAPTERS, MODEL

from kernelbook import (
    features,
    fourier,
    gaussians,
    gp,
    kernels,
    nystrom,
    ridge,
    svm,
    svr,
    toydata,
)

pytestmark = pytest.mark.browser
NEAR = 0.5  # points on the page: rounding to 0.1, and Matplotlib's own
FIGURES = {
    cell.metadata["mystnb"]["figure"]["name"]: (page, cell.metadata["mystnb"])
    for page, chapter in CHAPTERS.items()
    for cell in chapter.cells
    if "figures.live(" in cell.source
}
LIVE_PAGES = [page for page, _ in FIGURES.values()]
each_figure = pytest.mark.parametrize("name", FIGURES)


def live_figure(reader, name):
    """A live figure on its page."""
    return reader(FIGURES[name][0]).locator(f"figure#{name} .live-figure")


def fig_svr_tube(live):
    x, t = toydata.noisy_sine(60, noise=0.15, rng=0)
    t[5::12] += 3.0
    k = kernels.Gaussian(20.0)
    fit = svr.fit_dual(k(x[:, None]), t, C=10.0, epsilon=0.5)
    live.move("C = 10, ε = 0.5")
    live.draws("fit", lambda z: svr.predict(fit, k(x[:, None], z[:, None])))


@each_figure
def test_an_arrow_key_on_a_slider_changes_the_drawing(reader, name):
    box = live_figure(reader, name)
    svg, image = box.locator("svg"), FIGURES[name][1]["image"]
    classes = ["live-figure", *image.get("classes", "").split()]
    assert box.get_attribute("class").split() == classes
    assert svg.get_attribute("aria-label") == " ".join(image["alt"].split())
    assert svg.get_attribute("role") == "img"
    for slider in box.locator(".live-slider").all():
        field, label = slider.locator("input"), slider.locator("label")
        before = svg.inner_html()
        at_end = field.input_value() == field.get_attribute("max")
        field.press("ArrowLeft" if at_end else "ArrowRight")
        assert svg.inner_html() != before
        said = f"{label.inner_text()} = {slider.locator('span').inner_text()}"
        assert field.get_attribute("aria-valuetext") == said
        box.page.keyboard.press("Tab")
        assert not field.evaluate("f => f === document.activeElement")
    ids = box.page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) == len(set(ids)), "once it has moved, an id is there twice"
    assert box.page.problems == []


@pytest.mark.parametrize("path", sorted({MODEL, *LIVE_PAGES}))
def test_without_scripts_there_is_all_but_dead_sliders(visit, path):
    page = visit(path, java_script_enabled=False)
    assert page.locator("html").get_attribute("data-theme") == "light"
    assert page.locator(".katex-html").count() > 100
    figures = page.locator(".live-figure")
    assert figures.count() == LIVE_PAGES.count(path)
    for box in figures.all():
        assert box.locator("svg").is_visible()
        assert box.locator("svg [data-moves] *").count()
        assert not box.locator("input").first.is_visible()


# An artist in the units of its axes; a logarithmic one counts decades.
READ = """group => {
  const axes = Object.values(group.closest('[data-x]').dataset).map((text) => {
    const [kind, ...numbers] = text.split(' ');
    const [low, high, first, last] = numbers.map(Number);
    const ends = kind === 'log' ? [low, high].map(Math.log10) : [low, high];
    return {ends, first, unit: (last - first) / (ends[1] - ends[0])};
  });
  const pairs = (points) => points.map(({x, y}) => [x, y].map((place, i) =>
    axes[i].ends[0] + (place - axes[i].first) / axes[i].unit));
  const along = (path) => Array.from({length: 201}, (_, i) =>
    path.getPointAtLength(i * path.getTotalLength() / 200));
  const back = group.ownerSVGElement.getCTM().inverse();
  const centre = (mark) => {
    const {x, y, width, height} = mark.getBBox();
    return new DOMPoint(x + width / 2, y + height / 2)
      .matrixTransform(back.multiply(mark.getCTM()));
  };
  const all = (selector) => [...group.querySelectorAll(selector)];
  return [axes[0].ends, axes.map(({unit}) => unit),
    all('path').map(along).map(pairs), pairs(all('use, path').map(centre))];
}"""


@dataclass(frozen=True)
class Live:
    """A live figure, its sliders, and its artists as the browser drew them."""

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

    def read(self, artist):
        """Ends of its x axis, units of both axes, its paths, its markers."""
        group = self.box.locator(f'[data-moves="{artist}"]')
        return map(np.array, group.evaluate(READ))

    def draws(self, artist, f):
        """The path runs along f, all the way, and nowhere else."""
        ends, units, (path, *_), _ = self.read(artist)
        x = np.linspace(*ends, 20_001)
        true = np.column_stack([x, f(x)])
        for point in path:
            away = np.hypot(*((true - point) * units).T)
            assert np.min(away) < NEAR, (artist, point)
        assert np.ptp(path[:, 0]) > 0.9 * np.ptp(x)

    def marks(self, artist, points):
        """There is one marker on each of the points, in their order."""
        _, units, _, drawn = self.read(artist)
        assert drawn.shape == np.shape(points)
        assert np.max(np.hypot(*((drawn - points) * units).T)) < NEAR, artist

    def parts(self, artist, f, levels, within):
        """For each level there is a path; where f has it is never far."""
        _, _, paths, _ = self.read(artist)
        angles = np.arange(0, 6.28, 0.5)
        ring = within * np.column_stack([np.cos(angles), np.sin(angles)])
        for path, level in zip(paths, levels, strict=True):
            for point in path[::5]:
                around = f(point + ring)
                assert around.min() <= level <= around.max(), (artist, point)


# What the figures show, once more: fig-NAME by fig_NAME.


def fig_three_lambdas(live):
    x, t = toydata.noisy_sine(15, noise=0.3, rng=3)
    phi = partial(features.bumps, centres=np.linspace(0, 1, 24), width=0.06)
    for lam in (1e-3, 10.0):
        live.move(f"λ = {lam:g}")
        w = ridge.fit_primal(phi(x), t, lam)
        live.draws("fit", lambda x, w=w: phi(x) @ w)


def fig_map_nearest_mean(live):
    X, t = toydata.two_rings(80, noise=0.08, rng=1)
    far = features.kernel_mean_distances
    live.move("degree = 1, γ = 0.2")
    for family, k in {
        "polynomial": kernels.Polynomial(1),
        "Gaussian": kernels.Gaussian(0.2),
    }.items():

        def score(Z, k=k):
            return far(k, X[t < 0], Z) - far(k, X[t > 0], Z)

        live.parts(f"{family} boundary", score, [0], within=0.06)


def fig_map_gamma(live):
    x, t = toydata.noisy_sine(12, noise=0.15, rng=3)
    k = kernels.Gaussian(500.0)
    a = ridge.fit_dual(k(x[:, None]), t, lam=0.01)
    live.move("γ = 500")
    live.draws("fit", lambda z: ridge.predict(a, k(x[:, None], z[:, None])))
    live.draws("kernel", lambda z: k(z[:, None], [[0.5]])[:, 0])


def fig_floats(live):
    K = kernels.Gaussian(1000.0)(np.linspace(0, 1, 60)[:, None])
    mu = np.linalg.eigvalsh(K)[::-1]
    live.move("γ = 1000")
    double = "2"
    live.marks(double, np.column_stack([np.arange(1, 61), np.log10(mu)]))


def fig_gp_minute(live):
    x, t = toydata.noisy_sine(14, noise=0.2, rng=2)
    x, t = x[x < 0.7], t[x < 0.7]
    seen = np.random.default_rng(0).permutation(len(x))[:5]
    live.move("points = 5, noise = 0.5")
    live.draws("mean", mean(process(1 / 4, 0.5, x[seen], t[seen])))


def fig_gp_prior_samples(live):
    s = np.linspace(-1, 1, 129)
    k = kernels.ExponentialQuadratic((9.0, 64.0, 0.0, 5.0))
    rng = np.random.default_rng(4)
    drawn = gaussians.sample(np.zeros(129), k(s[:, None]), 4, rng, jitter=1e-9)
    live.move("θ₀ = 9, θ₁ = 64, θ₂ = 0, θ₃ = 5")
    for n, y in enumerate(drawn):
        live.draws(f"draw {n + 1}", partial(np.interp, xp=s, fp=y))


def process(length, noise, x, t):
    k = kernels.ExponentialQuadratic((1.0, 1 / length**2, 0.0, 0.0))
    return gp.fit(k, x[:, None], t, beta=1 / noise**2)


def mean(model):
    return lambda z: gp.mean(model, z[:, None])


def fig_ml_minute(live):
    x, t = toydata.noisy_sine(20, noise=0.2, rng=0)
    model = process(0.05, 0.2, x, t)
    live.move("length = 0.05")
    live.draws("mean", mean(model))
    top = gp.log_marginal_likelihood(model)
    live.marks("ln p", [[np.log10(0.05), top]])


def fig_ml_two_tops(live):
    rng = np.random.default_rng(7)
    x = np.sort(rng.uniform(-5, 5, 12))
    t = np.sin(1.2 * x) + 0.4 * rng.standard_normal(12)
    live.move("length = 11, noise = 0.5")
    live.draws("mean", mean(process(11.0, 0.5, x, t)))
    live.marks("place", np.log10([[11.0, 0.5]]))


def fig_lagrange_prices(live):
    """Minimise w² subject to w ≥ 1: the lowest value is at w = μ / 2."""
    live.move("μ = 3")
    live.draws("priced", lambda w: w**2 + 3 * (1 - w))
    live.marks("bound", [[3.0, 3 - 3**2 / 4]])


def fig_lagrange_set(live):
    live.move("μ = 2.5")
    live.draws("convex line", lambda g: 2.5 - 2.5**2 / 4 - 2.5 * g)


def fig_svm_moons(live):
    X, t = toydata.two_moons(120, noise=0.25, rng=1)
    k = kernels.Gaussian(0.2)
    machine = svm.fit_dual(k(X), t, C=10.0)
    live.move("C = 10, γ = 0.2")

    def y(Z):
        return svm.output(machine, k(X, Z))

    live.parts("boundary", y, [-1, 0, 1], within=0.03)
    live.marks("4", X[machine.free])
    live.marks("5", X[machine.bounded])


def fig_nystrom_minute(live):
    """With twelve landmarks, by the joint Gaussian of t and y under q."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 8.5, 400))
    x[x > 6.5] += 1.5
    X = x[:, None]
    t = np.sin(x) + np.sin(2.5 * x) / 2 + rng.normal(scale=0.3, size=400)
    k = kernels.Gaussian(1 / (2 * 0.7**2))
    Z = X[nystrom.pivoted_cholesky(k, X, 12).numbers]
    live.move("landmarks = 12")
    a = ridge.fit_dual(nystrom.approximation(k, X, Z), t, lam=0.3**2)
    weights = np.linalg.solve(k(Z), k(Z, X) @ a)
    live.draws("mean", lambda z: k(z[:, None], Z) @ weights)


def fig_rff_minute(live):
    live.move("waves = 8, seed = 3")
    k = kernels.Gaussian(0.5)
    Omega = fourier.frequencies(k, 1, 4, rng=3)[:, 0]
    live.draws("estimate", lambda r: np.cos(np.outer(r, Omega)).mean(axis=1))


@each_figure
def test_what_the_slider_shows_is_what_the_library_computes(reader, name):
    spot_check = globals().get(name.replace("-", "_"))
    assert spot_check, f"{name} has no spot check here"
    spot_check(Live(live_figure(reader, name)))
