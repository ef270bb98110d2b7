"""Judges of an open page: each says what is wrong with it, by element.

They look at a page as Chromium shows it; ``tests/book/test_visits.py`` takes
them to every page of the book.
"""

from pages import AXE

SHIFT_LIMIT, REQUEST_LIMIT = 0.05, 25
PHONE = {"width": 375, "height": 800}
DESK = {"width": 1280, "height": 900}
PAPER = {"width": 718, "height": 1000}  # A4 within its margins
MEASURE = """
window.shift = 0; window.shifted = []; window.long = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) {
    window.shift += entry.value;
    for (const s of entry.sources || [])
      if (s.node) window.shifted.push(
        (s.node.outerHTML || s.node.textContent).slice(0, 160));
  }
}).observe({type: 'layout-shift', buffered: true});
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.long.push(entry.duration);
}).observe({type: 'longtask', buffered: true});
"""
# The end of the page too: what loads late must have had its place.
SETTLE = """async () => {
  await document.fonts.ready;
  const frame = () => new Promise(requestAnimationFrame);
  scrollTo({top: document.body.scrollHeight, behavior: 'instant'});
  await frame(); await frame();
  scrollTo({top: 0, behavior: 'instant'});
  await frame();
}"""


def stays_still(page):
    """Nothing moves while it loads."""
    shift = page.evaluate("window.shift")
    if shift > SHIFT_LIMIT:
        moved = page.evaluate("window.shifted.slice(0, 3)")
        yield f"moves while it loads, by {shift:.3f}: {moved}"


def own_requests(page):
    """What a page asks for, without the files that all pages share."""
    return [
        url
        for url in page.asked
        if "/_static/" not in url and not url.startswith("data:")
    ]


def asks_little_and_at_home(page):
    """At most so many requests, all to the same host, all answered."""
    own = own_requests(page)
    if len(own) > REQUEST_LIMIT:
        yield f"{len(own)} requests: {own}"
    yield from (f"asks another host: {url}" for url in page.foreign)
    yield from (f"problem: {problem}" for problem in page.problems)


# Equations, code and tables with formulas may scroll in boxes of their own.
WIDE = """() => {
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) {
    const out = [...document.querySelectorAll('body *')].filter((e) =>
      e.getBoundingClientRect().right > innerWidth + 1
      && !e.closest('pre, .katex-html, .katex-mathml, .table-wrapper'));
    return out.slice(0, 3).map((e) =>
      `is ${wide} wide because of ${e.outerHTML.slice(0, 160)}`);
  }
  return [...document.querySelectorAll('main *')].filter((e) =>
    e.scrollWidth > e.clientWidth + 1
    && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
    && !e.matches('pre, .highlight, div.math, [class^=katex]')
    && !e.querySelector('table .katex')
  ).map((e) => `scrolls sideways: ${e.outerHTML.slice(0, 160)}`);
}"""


def fits_its_width(page):
    """Nothing but wide equations and code scrolls sideways."""
    yield from page.evaluate(WIDE)


# A box that scrolls is a stop of the keyboard's, or holds one.
SCROLLS = """() => [...document.querySelectorAll('main *')].filter((e) =>
  e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0
  && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)
  && !e.querySelector('a, button, [tabindex]')
  && !e.closest('[aria-hidden]')
).map((e) => `scrolls, but not by keyboard: ${e.outerHTML.slice(0, 160)}`)"""


def scrolls_by_keyboard(page):
    """What scrolls can be scrolled without a mouse."""
    yield from page.evaluate(SCROLLS)


# Of links and buttons that look alike, the first three are visited.
FOCUS = """() => {
  const wrong = [], seen = {};
  for (const closed of document.querySelectorAll('details:not([open])'))
    closed.open = true;
  const controls = 'a[href], area, button, input, select, textarea, summary, '
    + '[onclick], [role=button], [role=link], [role=tab], [tabindex]';
  for (const e of document.querySelectorAll(controls)) {
    if (e.disabled || e.type === 'hidden' || !e.checkVisibility(
      {visibilityProperty: true})) continue;
    const name = e.outerHTML.slice(0, 160);
    if (e.tabIndex < 0 && !e.matches('[tabindex="-1"]:not(a, button, input)'))
      wrong.push(`no stop for the keyboard: ${name}`);
    const place = e.closest('nav, header, footer, aside, table, dl, div');
    const kind = [e.tagName, e.className, place && place.className].join();
    if (e.tabIndex < 0 || (seen[kind] = (seen[kind] || 0) + 1) > 3) continue;
    e.focus({preventScroll: true, focusVisible: true});
    if (document.activeElement !== e) {
      wrong.push(`cannot be focused: ${name}`);
      continue;
    }
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    const ring = (style.outlineStyle !== 'none'
      && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
    if (!ring || !box.width || !box.height || style.opacity < 0.5)
      wrong.push(`focus is not seen on ${name}`);
  }
  document.activeElement.blur();
  return wrong;
}"""


def is_reached_by_keyboard(page):
    """Every control is a stop, and one sees when the keyboard is there."""
    page.keyboard.press("Tab")  # from here on, focus is the keyboard's
    yield from page.evaluate(FOCUS)


PRINTED = """() => {
  const shown = (e) => e.checkVisibility({contentVisibilityAuto: true})
    && e.getBoundingClientRect().height > 0;
  const name = (e) => e.outerHTML.slice(0, 160);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const furniture = all('.bd-sidebar, .bd-header-article, .prev-next-footer, '
    + '.copybtn, .headerlink, .toggle-button, #pst-back-to-top, .skip-link, '
    + '.live-controls, .take-away, form.equation-index').filter(shown);
  const closed = all('.solution, .dropdown, details')
    .flatMap((e) => [...e.children].slice(1))
    .filter((e) => !shown(e) && e.textContent.trim()
      && !['SCRIPT', 'STYLE', 'BUTTON'].includes(e.tagName)
      && !e.matches('.admonition-title, .toggle-button'));
  const cut = document.documentElement.scrollWidth <= innerWidth ? []
    : all('main *').filter((e) => shown(e)
        && e.getBoundingClientRect().right > innerWidth + 1).slice(-1);
  const title = document.querySelector('h1');
  return [
    ...(shown(title) ? [] : [`prints no title: ${name(title)}`]),
    ...furniture.map((e) => `prints furniture: ${name(e)}`),
    ...closed.map((e) => `is closed on paper: ${name(e)}`),
    ...cut.map((e) => `is wider than the paper: ${name(e)}`),
  ];
}"""


def prints_clean(page):
    """On paper the text alone, solutions open, nothing cut off."""
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    yield from page.evaluate(PRINTED)


# Two things are many and all alike: formulas, whose drawn half is hidden from
# assistive technology, and the coloured words of listings.  Of each kind, in
# each kind of place, three are left (a formula as one letter); the rest of
# the page axe-core sees as it is.
THIN_OUT = """() => {
  const seen = {};
  const again = (kind) => (seen[kind] = (seen[kind] || 0) + 1) > 3;
  for (const formula of document.querySelectorAll('.katex')) {
    const place = formula.parentElement.parentElement;
    if (again(place.tagName + place.className)) formula.replaceWith('x');
    else formula.textContent = 'x';
  }
  for (const word of document.querySelectorAll('pre span, dt.sig span')) {
    const place = word.closest('div.highlight, dt').parentElement;
    if (again(place.className + ' ' + word.className) && !word.id)
      word.replaceWith(...word.childNodes);
  }
  document.querySelector('main, body').normalize();
}"""
# Contrast depends on the colour, size and weight of a text and on the ground
# behind it.  Of each such combination, in light or in dark, two are kept.
PALETTE = """() => {
  const root = document.documentElement, kept = new Set(), ground = new Map();
  const speaks = (e) => e.matches('input, select, button, textarea')
    || [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const behind = (e) => {
    if (!e || ground.has(e)) return ground.get(e) || '';
    const s = getComputedStyle(e);
    const clear = s.backgroundColor === 'rgba(0, 0, 0, 0)'
      && s.backgroundImage === 'none' && s.opacity === '1';
    ground.set(e, behind(e.parentElement) + (clear ? ''
      : `/${s.backgroundColor} ${s.backgroundImage} ${s.opacity}`));
    return ground.get(e);
  };
  const every = [...document.body.querySelectorAll('*')];
  const texts = every.filter(speaks);
  for (const theme of ['light', 'dark']) {
    root.dataset.theme = theme;
    ground.clear();
    const seen = {};
    for (const e of texts) {
      const s = getComputedStyle(e);
      const kind = [e.tagName, e.parentElement.tagName, s.color, s.fontSize,
        s.fontWeight, s.textDecorationLine, s.visibility, behind(e)].join();
      if ((seen[kind] = (seen[kind] || 0) + 1) > 2) continue;
      for (let a = e; a && !kept.has(a); a = a.parentElement) kept.add(a);
    }
  }
  for (const e of every) if (!kept.has(e)) e.remove();
}"""
OF_COLOUR = ["color-contrast", "link-in-text-block"]
RUN = """([theme, only, without]) => {
  document.documentElement.dataset.theme = theme;
  const off = without.map((name) => [name, {enabled: false}]);
  return axe.run(document, {
    resultTypes: ['violations'],
    rules: Object.fromEntries(off),
    ...(only ? {runOnly: {type: 'rule', values: only}} : {}),
  }).then(found => found.violations.flatMap(rule => rule.nodes.map(node =>
    `${theme}: ${rule.id} (${rule.impact}): ${node.html.slice(0, 160)} `
    + `[${node.any.concat(node.all, node.none).map(c => c.message)[0]}]`)));
}"""


def pleases_axe(page):
    """No violation of any impact, in light or in dark."""
    page.evaluate(THIN_OUT)
    page.evaluate(AXE.read_text("utf-8"))
    yield from page.evaluate(RUN, ["light", None, OF_COLOUR])
    page.evaluate(PALETTE)
    for theme in ("light", "dark"):
        yield from page.evaluate(RUN, [theme, OF_COLOUR, []])


def measure(page):
    """What the visit has cost so far.

    Work is counted in seconds of the processor, in the page's main thread: on
    a busy machine those of the clock grow longer, these do not.
    """
    metrics = page.meter.send("Performance.getMetrics")["metrics"]
    work = {metric["name"]: metric["value"] for metric in metrics}
    return {
        "layout shift": round(page.evaluate("window.shift"), 4),
        "requests": len(own_requests(page)),
        "ms of the longest task": max(page.evaluate("window.long"), default=0),
        "seconds of work": round(work["TaskDuration"], 2),
    }


ON_A_PHONE = [
    stays_still,
    asks_little_and_at_home,
    fits_its_width,
    scrolls_by_keyboard,
    prints_clean,
]
ON_A_DESK = [
    stays_still,
    asks_little_and_at_home,
    is_reached_by_keyboard,
    pleases_axe,
]
