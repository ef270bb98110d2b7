/* Ask an equation.  A reference that is hovered over, focused or tapped shows
   what it refers to; the button of an equation, or one of its letters, says
   what the letters stand for.  What is shown was made by press/previews.py. */
(() => {
  const root = document.documentElement.dataset.content_root ?? "./";
  const page = location.pathname.split("/").slice(-2).join("/").replace(/\.html$/, "");
  const KINDS = /#(equation-|fig-|thm-|lem-|cor-|prop-|def-|alg-|term-)/;
  const ALPHABETS = ["mathnormal", "mathbf", "boldsymbol", "mathcal", "mathbb"];
  const say = String.raw; // what it marks, press/translation.py translates
  const known = {}; // the files that are here, by page
  let rows;
  window.kernelbookPreviews = (name, found) => { known[name] = found; };
  window.kernelbookSymbols = (found) => { rows = found; };

  const box = document.createElement("div");
  Object.assign(box, { id: "preview", className: "preview", hidden: true });
  box.tabIndex = -1;
  let asker; // what the box speaks of

  const load = (file) => new Promise((done) => {
    const script = document.createElement("script");
    Object.assign(script, { src: `${root}_previews/${file}.js`, onload: done, onerror: done });
    document.head.append(script);
  });

  // A reference is described by the box; the button of an equation opens it as
  // a dialogue, for it has links.
  function open(element, html, name) {
    close();
    asker = element;
    box.setAttribute("role", name ? "dialog" : "tooltip");
    box.ariaLabel = name ?? null;
    box.innerHTML = html.replaceAll('="~/', `="${root}`);
    if (!box.isConnected) document.body.append(box);
    box.hidden = false;
    if (!name) element.setAttribute("aria-describedby", "preview");
    const at = element.getBoundingClientRect();
    const room = document.documentElement.clientWidth - box.offsetWidth - 8;
    const above = at.top - box.offsetHeight - 6;
    const top = at.bottom + box.offsetHeight + 6 < innerHeight || above < 0 ? at.bottom + 6 : above;
    box.style.left = `${scrollX + Math.max(8, Math.min(at.left, room))}px`;
    box.style.top = `${scrollY + top}px`;
    if (name) box.focus({ preventScroll: true });
  }

  function close() {
    box.hidden = true;
    asker?.removeAttribute("aria-describedby");
    asker = undefined;
  }

  async function preview(link) {
    const address = new URL(link.href);
    const name = address.pathname.split("/").slice(-2).join("/").replace(/\.html$/, "");
    if (!known[name]) await load(name);
    return known[name]?.[decodeURIComponent(address.hash.slice(1))];
  }

  const referring = (event) => {
    const link = event.target.closest?.("article a.internal[href*='#']");
    return link && KINDS.test(link.getAttribute("href")) ? link : null;
  };

  let touched = false;
  document.addEventListener("pointerdown", (event) => { touched = event.pointerType === "touch"; });

  let waiting;
  const soon = (milliseconds, action) => {
    clearTimeout(waiting);
    waiting = setTimeout(action, milliseconds);
  };
  function show(event) {
    const link = referring(event);
    if (box.contains(event.target)) clearTimeout(waiting);
    if (!link || link === asker) return;
    soon(event.type === "focusin" ? 0 : 200, async () => {
      const html = await preview(link);
      if (html && (link.matches(":hover") || link === document.activeElement)) open(link, html);
    });
  }
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") show(event);
  });
  document.addEventListener("focusin", (event) => { if (!touched) show(event); });
  // Time to get from the reference into the box, which may scroll and has links.
  document.addEventListener("pointerout", (event) => {
    if (event.pointerType !== "mouse" || !(referring(event) || box.contains(event.target))) return;
    soon(250, () => {
      if (asker?.matches("a:not(:hover, :focus)") && !box.matches(":hover")) close();
    });
  });
  document.addEventListener("focusout", (event) => {
    const stays = box.contains(event.relatedTarget) || !document.hasFocus();
    if ((event.target === asker || box.contains(event.target)) && !stays) close();
  });
  document.addEventListener("keydown", (event) => {
    touched = false;
    if (box.hidden) return;
    const links = [box, ...box.querySelectorAll("a")];
    const past = event.key === "Tab" && document.activeElement === links.at(event.shiftKey ? 0 : -1);
    if (!past && event.key !== "Escape") return;
    // Where the reader came from; Tab then goes on from there.
    if (box.contains(document.activeElement)) asker.focus({ preventScroll: true });
    if (event.shiftKey) event.preventDefault();
    clearTimeout(waiting);
    close();
  });

  // By touch: the first tap shows, the second follows.
  document.addEventListener("click", async (event) => {
    const link = referring(event);
    if (link && touched && link !== asker) {
      event.preventDefault();
      const html = await preview(link);
      if (html) open(link, html);
      else location.href = link.href;
    } else if (!link) ask(event);
  });

  // Symbols ------------------------------------------------------------------

  // KaTeX sets neighbours of one alphabet in one span.  An index, or what is
  // above it, makes of a letter another one: λ₀ is not λ.
  const letters = (element) => {
    const alphabet = ALPHABETS.find((name) => element.classList.contains(name));
    if (!alphabet || element.children.length) return [];
    let base = element.closest(".accent") ?? element;
    const above = base.querySelector(".accent-body")?.textContent ?? "";
    while (base.matches(".mord > :only-child")) base = base.parentElement;
    const after = base.nextElementSibling;
    const index = after?.matches(".msupsub") && after.querySelector(":scope > .vlist-t2 .vlist > span");
    const names = [...element.textContent].map((one) => `${alphabet} ${one}${above}`);
    return [...names.slice(0, -1), names.at(-1) + (index ? index.textContent : "")];
  };

  const chapter = Number(/\/(\d+)_/.exec(`/${page}`)?.[1]);

  // Rows for a letter as it is: those of this chapter, else those for every
  // chapter; or, with an index that no row has, all that its letter has here.
  function meanings(form) {
    const all = rows.filter((row) => !row.chapters.length || row.chapters.includes(chapter));
    const found = all.filter((row) => row.forms.includes(form));
    const here = found.filter((row) => row.chapters.length);
    if (found.length) return here.length ? here : found;
    const letter = /^\w+ ./u.exec(form)[0];
    return all.filter((row) => row.letters.includes(letter));
  }

  async function entry(row) {
    const python = row.python.map((name) => `<code>${name}</code>`).join(", ");
    const values = await Promise.all(row.python.map((name) => window.kernelbook?.ask?.(name)));
    const here = values.filter(Boolean).map((value) => say`<br>here: ${value}`).join("");
    const first = row.first.map((link) => say`; first in ${link}`).join("");
    const more = say`Python: ${python || "–"}; shape: ${row.shape}`;
    return `<dt>${row.symbol}</dt><dd>${row.meaning}<br><small>${more}${first}${here}</small></dd>`;
  }

  async function ask(event) {
    if (box.contains(event.target)) return;
    const equation = event.target.closest?.("div.math[id]");
    const button = event.target.closest?.(".eqno")?.querySelector(".ask"); // a thumb is wide
    if (!equation || event.target.closest("a")) return close();
    const touched = letters(event.target);
    if (!button && !touched.length) return close();
    if (!rows) await load("symbols");
    if (!rows) return;
    const all = [...equation.querySelectorAll(".katex-html .mord")].flatMap(letters);
    const names = new Set(button ? all : touched);
    const found = [...new Set([...names].flatMap(meanings))];
    const list = (await Promise.all(found.map(entry))).join("");
    const nothing = say`<p>The text around the equation says what this is.</p>`;
    const number = /\(.*?\)/.exec(equation.querySelector(".eqno").textContent)[0];
    open(button ?? event.target, `${list ? `<dl>${list}</dl>` : nothing}` +
      `<p><a href="~/chapters/notation.html">${say`all symbols`}</a></p>`, say`Symbols of ${number}`);
  }
})();
