/* Judges of an open page: each says what is wrong with it, by element.

   Each page is given them before its own scripts, and test_visits.py asks. */
{
  const all = (selector) => [...document.querySelectorAll(selector)];
  const brief = (node) => (node.outerHTML || node.textContent).slice(0, 160);
  const say = (words, nodes) =>
    nodes.map((node) => `${words}: ${brief(node)}`);
  const styleOf = (e) => getComputedStyle(e);
  const boxOf = (e) => e.getBoundingClientRect();
  const CLEAR = "rgba(0, 0, 0, 0)";
  // Of elements with the same look, so many.
  const few = (most, look, met = {}) => (e) => {
    const kind = look(e).join();
    met[kind] = (met[kind] || 0) + 1;
    return met[kind] <= most;
  };

  const seen = { shift: 0, moved: [] };
  const note = ({ hadRecentInput, value, sources }) => {
    if (hadRecentInput) return;
    seen.shift += value;
    seen.moved.push(...sources.map(({ node }) => node).filter(Boolean));
  };
  new PerformanceObserver((list) => list.getEntries().forEach(note))
    .observe({ type: "layout-shift", buffered: true });

  // It stays still, down to its end, for what loads late must have had its
  // place; is in the book's fonts; and asks for little of its own.
  const comesWhole = async () => {
    await document.fonts.ready;
    const end = document.body.scrollHeight;
    for (const top of [end, end, 0]) {
      scrollTo({ top, behavior: "instant" });
      await new Promise(requestAnimationFrame);
    }
    const asked = performance.getEntriesByType("resource")
      .map(({ name }) => name).filter((name) => !name.includes("/_static/"));
    return [
      ...(seen.shift <= 0.05 ? [] : say(
        `moves by ${seen.shift} while it loads`, seen.moved.slice(0, 3))),
      ...say("is not in the book's fonts",
        [...document.fonts].some(({ family, status }) =>
          family === "KaTeX_Main" && status === "loaded")
          ? [] : all(".katex").slice(0, 1)),
      ...(asked.length < 25 ? [] : [`asks too much: ${asked}`]),
    ];
  };

  // Equations, code and tables with formulas may scroll in their own boxes,
  // from their start and by keyboard; nothing else is wider than its place.
  const fitsItsWidth = () => {
    const overflows = (e) => e.scrollWidth > e.clientWidth + 1;
    const scrolls = (e) => overflows(e)
      && ["auto", "scroll"].includes(styleOf(e).overflowX);
    const wide = document.documentElement.scrollWidth;
    const boxes = all("main *").filter(scrolls);
    return [
      ...say(`is ${wide} wide because of`, wide <= innerWidth ? []
        : all("body *").filter((e) => boxOf(e).right > innerWidth + 1
          && !e.closest("pre, .katex-html, .katex-mathml, .table-wrapper"))
          .slice(0, 3)),
      ...say("scrolls sideways", boxes.filter((e) =>
        !e.matches("pre, .highlight, div.math, [class^=katex]")
        && !e.querySelector("table .katex"))),
      ...say("scrolls, but not by keyboard", boxes.filter((e) =>
        e.tabIndex < 0 && !e.querySelector("a, button, [tabindex]")
        && !e.closest("[aria-hidden]"))),
      ...say("does not begin at its start", boxes.filter((e) =>
        boxOf(e.firstElementChild || e).left < boxOf(e).left - 1)),
      ...say("is cut off", all("main .katex-html").filter((e) =>
        overflows(e) && !scrolls(e))),
    ];
  };

  // In the dark a drawing is turned around and stands on the page itself;
  // a colour map stays as it is.
  const showsItsFigures = () => {
    const dark = document.documentElement.dataset.theme === "dark";
    const drawings = all("figure img, .live-figure svg");
    const parts = [...drawings, ...all(".live-slider > *")];
    const slabs = all(".live-figure").filter((e) => {
      for (; !e.matches("main, body"); e = e.parentElement)
        if (styleOf(e).backgroundColor !== CLEAR) return true;
    });
    return [
      ...say("has not come", drawings.filter((e) =>
        e.tagName === "IMG" && !(e.complete && e.naturalWidth))),
      ...say("has the other mode's colours", drawings.filter((e) =>
        (styleOf(e).filter !== "none")
        !== (dark && !e.closest(".colour-map")))),
      ...say("stands on a slab of another colour", slabs),
      ...say("is partly outside", parts.filter((e) =>
        boxOf(e).left < 0 || boxOf(e).right > innerWidth)),
    ];
  };

  // Every stop of the keyboard's, and whether one sees that it is there.
  const stops = [];
  addEventListener("focusin", ({ target }) => {
    const style = styleOf(target), box = boxOf(target);
    const ring = (style.outlineStyle !== "none"
      && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
    const seen = ring && box.width && box.height && style.opacity >= 0.5;
    stops.push({ target, seen });
  });

  // Tab has been pressed; now, of controls that look alike, three are visited.
  const isReachedByKeyboard = () => {
    const [first] = stops;
    const byTab = stops.some(({ target }) => target.closest("main"));
    all("details").forEach((e) => { e.open = true; });
    const controls = all("a[href], area, button, input, select, textarea, "
      + "summary, [onclick], [role=button], [role=link], [role=tab], "
      + "[tabindex]").filter((e) => !e.disabled && e.type !== "hidden"
      && e.checkVisibility({ visibilityProperty: true }));
    const three = few(3, (e) => [e.tagName, e.className,
      e.closest("nav, header, footer, aside, table, dl, div")?.className]);
    const visited = controls.filter((e) => e.tabIndex >= 0).filter(three);
    return [
      ...(byTab ? [] : ["Tab never comes to the text"]),
      ...say("is the first stop, not a way past the contents",
        all("nav").length && !first?.target.closest(".skip-link")
          ? [first?.target || document.body] : []),
      ...say("is no stop for the keyboard", controls.filter((e) =>
        e.tabIndex < 0
        && !e.matches('[tabindex="-1"]:not(a, button, input)'))),
      ...say("cannot be focused", visited.filter((e) => {
        e.focus({ preventScroll: true, focusVisible: true });
        return document.activeElement !== e;
      })),
      ...say("has no visible focus",
        stops.filter(({ seen }) => !seen).map(({ target }) => target)),
    ];
  };

  const printsClean = () => {
    const shown = (e) => e.checkVisibility({ contentVisibilityAuto: true })
      && boxOf(e).height > 0;
    const furniture = ".bd-sidebar, .bd-header-article, .prev-next-footer, "
      + ".copybtn, .headerlink, .toggle-button, #pst-back-to-top, "
      + ".skip-link, .live-controls, .live-bar, .live-tools, .ask, .take-away";
    return [
      ...(document.documentElement.dataset.theme === "dark"
        ? ["prints on black"] : []),
      ...say("prints no title", all("h1").filter((e) => !shown(e))),
      ...say("prints furniture", all(furniture).filter(shown)),
      ...say("is closed on paper", all(".solution, .dropdown, details")
        .flatMap((e) => [...e.children].slice(1))
        .filter((e) => !shown(e) && e.textContent.trim() && !e.matches(
          "script, style, button, .admonition-title, .toggle-button, .live-tools"))),
      ...say("is wider than the paper",
        document.documentElement.scrollWidth <= innerWidth ? []
          : all("main *").filter((e) => shown(e)
            && boxOf(e).right > innerWidth + 1).slice(-1)),
    ];
  };

  // Contrast depends on the colour, size and weight of a text and on the
  // ground behind it.  Of each such look, in light or in dark, two are chosen.
  const palette = () => {
    const chosen = new Set();
    for (const theme of ["light", "dark"]) {
      document.documentElement.dataset.theme = theme;
      const grounds = new Map([[null, ""]]);
      for (const e of all("*")) {
        const { backgroundColor, backgroundImage, opacity } = styleOf(e);
        const own = [backgroundColor, backgroundImage, opacity].join();
        grounds.set(e, grounds.get(e.parentElement)
          + (own === `${CLEAR},none,1` ? "" : own));
      }
      const two = few(2, (e) => {
        const s = styleOf(e);
        return [e.tagName, e.parentElement.tagName, s.color, s.fontSize,
          s.fontWeight, s.textDecorationLine, s.visibility, grounds.get(e)];
      });
      for (const e of all("body *").reverse())
        if ([...e.children].some((child) => chosen.has(child)) || two(e))
          chosen.add(e);
    }
    return chosen;
  };

  // No violation of any impact, in light or in dark.  A formula is one letter:
  // its drawn half is hidden from assistive technology.  Words of listings are
  // many and alike: those of the palette keep their marks.
  const pleasesAxe = async () => {
    const ofColour = ["color-contrast", "link-in-text-block"];
    const run = async (theme, options) => {
      document.documentElement.dataset.theme = theme;
      const { violations } =
        await axe.run({ resultTypes: ["violations"], ...options });
      return violations.flatMap(({ id, impact, nodes }) => nodes.map((node) =>
        `${theme}: ${id} (${impact}): ${node.html.slice(0, 160)} `
        + `[${[...node.any, ...node.all, ...node.none][0]?.message}]`));
    };
    const without = ofColour.map((rule) => [rule, { enabled: false }]);
    // What the visit itself has opened, or called up, is not fading any more.
    document.getAnimations().forEach((animation) => animation.finish());
    all(".tooltip").forEach((e) => e.remove());
    all(".katex").forEach((formula) => { formula.textContent = "x"; });
    const chosen = palette();
    const others = (selector) => all(selector).filter((e) => !chosen.has(e));
    others("pre span:not([id])")
      .forEach((e) => e.replaceWith(...e.childNodes));
    const wrong = await run("light", { rules: Object.fromEntries(without) });
    others("body *").forEach((e) => e.remove());
    for (const theme of ["light", "dark"])
      wrong.push(...await run(theme, { runOnly: ofColour }));
    return wrong;
  };

  window.judges = {
    comesWhole, fitsItsWidth, showsItsFigures, isReachedByKeyboard,
    printsClean, pleasesAxe,
  };
}
