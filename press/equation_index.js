// The equation index: choose a source, or type a number.
// Without scripts the table is complete, in the order of the book.
(() => {
  const table = document.querySelector("table.equation-index");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const sources = ["PRML", "notes", "slides", "lecture", "handout"];

  // "notes (27)" -> 27, "PRML (6.8)" -> 6.008, "notes, after (13)" -> 13 and a little
  const place = (text) => {
    const rule = text.match(/rule (\d+)/);
    if (rule) return 22 + rule[1] / 10;
    const [, whole, part] = text.match(/(\d+)(?:\.(\d+))?/) || [0, 1e6];
    const shift = /after/.test(text) ? 0.0005 : /before/.test(text) ? -0.0005 : 0;
    return Number(whole) + (part || 0) / 1000 + shift;
  };
  const numbers = rows.map((row) =>
    [...row.querySelectorAll(".src")].map((span) => span.textContent));
  const words = rows.map((row) => row.textContent.toLowerCase());

  const form = document.createElement("form");
  form.className = "equation-index";
  form.innerHTML = `
    <label>source <select><option value="">all, as in the book</option>
      ${sources.map((name) => `<option>${name}</option>`).join("")}
    </select></label>
    <label>find <input type="search" placeholder="notes (27)"></label>
    <output aria-live="polite"></output>`;
  const [select, input, count] =
    form.querySelectorAll("select, input, output");

  const update = () => {
    const source = select.value;
    const wanted = input.value.trim().toLowerCase();
    const key = (i) => Math.min(...numbers[i]
      .filter((number) => number.startsWith(source)).map(place));
    const shown = rows.map((_, i) => i).filter((i) =>
      (!source || numbers[i].some((number) => number.startsWith(source)))
      && words[i].includes(wanted));
    if (source) shown.sort((i, j) => key(i) - key(j) || i - j);
    body.replaceChildren(...shown.map((i) => rows[i]));
    count.textContent = `${shown.length} of ${rows.length}`;
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  // Other pages link to one source, as in equation_index.html#source-prml.
  const linked = () => {
    select.value = sources.find((name) =>
      location.hash === `#source-${name.toLowerCase()}`) || select.value;
    update();
  };
  addEventListener("hashchange", linked);
  input.value = new URLSearchParams(location.search).get("find") || "";
  (table.closest(".pst-scrollable-table-container") || table).before(form);
  linked();
})();
