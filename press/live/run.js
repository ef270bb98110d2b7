// "Run it here": Python for the cells of this page, when the reader asks.
// Until then this file does nothing but listen to the buttons.
(() => {
const script = document.querySelector("script[data-live]");
const packages = script.dataset.live.split(" ");
const here = new URL("./", script.src);
const SECONDS = 120; // the longest that a cell may take
const GRACE = 2; // seconds from an interrupt to the end of Python's thread
const KEPT = "kernelbook-live"; // the browser's store, and what a reload must know
const root = document.documentElement;
const bar = document.querySelector(".live-bar");
const first = bar.querySelector(".live-start");
const words = bar.querySelector(".live-words");
const count = bar.querySelector(".live-count");
const meter = bar.querySelector("progress");
const offered = words.textContent;
const size = bar.dataset.size;

const say = String.raw; // what it marks, press/translation.py translates
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const button = (text, onclick) => make("button", { type: "button", textContent: text, onclick });
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// What this browser lacks, said before anything is fetched.  The bytes are a
// function with `try`: Pyodide's own throw and catch.
const TRY = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 6, 64, 25, 11, 11];
function lacking() {
  if (location.protocol === "file:")
    return say`Python cannot start on a page opened from a disk. In the folder of the book, type “python -m http.server” and open http://localhost:8000.`;
  if (!window.isSecureContext)
    return say`Python starts on pages from https or from localhost only.`;
  if (!window.WebAssembly?.validate(new Uint8Array(TRY)) || !window.Worker || !window.caches)
    return say`This browser is too old to run Python: one from 2023 or later can.`;
  return "";
}

const STAGES = {
  start: say`Starting Python …`,
  unpack: say`Unpacking NumPy, SciPy and Matplotlib …`,
  import: say`Importing the library …`,
};

const BROKEN = {
  away: (file) => say`${file} could not be fetched`,
  cut: (file) => say`the download of ${file} broke off`,
  spoilt: (file) => say`${file} has arrived damaged (its hash is wrong)`,
};

// What cells.py says.
const WORDS = {
  more: say`… and more, which is not shown.`,
  MemoryError: say`the cell asks for more than a page may have`,
  line: say`line {}: {}`,
  shape: say`{} has shape {}`,
};

// The cells ------------------------------------------------------------------

let edit; // the editor, once it is there

class Cell {
  constructor(box, number) {
    this.box = box;
    this.number = number;
    this.name = say`cell ${number + 1}`;
    this.input = box.querySelector(".cell_input");
    this.code = this.input.querySelector("pre");
    this.recorded = this.code.textContent.replace(/\n$/, "");
    this.labels = [...box.classList].filter((name) => name.startsWith("tag_check-"))
      .map((name) => name.slice("tag_check-".length));
    this.output = box.querySelector(":scope > .cell_output, :scope > details .cell_output")
      ?? box.appendChild(make("div", { className: "cell_output docutils container" }));
    this.shown = [...this.output.childNodes];
    this.figure = this.output.querySelector("figure");
    this.differs = box.dataset.differs;
    this.tools = this.input.nextElementSibling;
    this.tools.querySelector("button").onclick = () => begin(this);
  }

  get source() {
    return this.view ? this.view.state.doc.toString() : this.recorded;
  }

  /** What the cell checks, in the words of the page: "the check of (6.8)". */
  get check() {
    const numbers = this.labels.map((label) =>
      /\(.*?\)/.exec(document.querySelector(`#equation-${label} .eqno`)?.textContent)?.[0]);
    const said = numbers.filter(Boolean).join(say` and `);
    return said ? say`The check of ${said}` : say`The check`;
  }

  offer() {
    this.verdict = make("span", { className: "live-verdict", role: "status" });
    const more = {
      [say`Run all above`]: () => run(cells.slice(0, this.number)),
      [say`Edit`]: () => this.edit(),
      [say`Reset`]: () => {
        this.reset();
        this.inSight("nearest");
      },
    };
    for (const [text, action] of Object.entries(more)) {
      const b = button(text, action);
      b.setAttribute("aria-label", `${text}, ${this.name}`);
      this.tools.append(b);
    }
    this.tools.append(this.verdict);
    this.code.addEventListener("click", () => this.edit());
  }

  edit() {
    this.input.closest("details")?.setAttribute("open", "");
    if (!this.view) {
      // On a phone, what is below the code is below the keyboard.
      this.input.before(this.tools);
      this.code.hidden = true;
      // Else the theme takes “/” for its search, and nobody can divide.
      const onkeydown = (event) => { if (event.key !== "Escape") event.stopPropagation(); };
      const place = make("div", { className: "live-editor highlight", onkeydown });
      this.code.after(place);
      this.view = edit(place, this.recorded,
        say`Code of ${this.name}. Shift and Enter run it, Escape leaves it.`,
        {
          run: () => begin(this),
          leave: () => this.tools.querySelector("button").focus(),
          changed: () => this.say(say`changed, not yet run`, "open"),
        });
    }
    this.view.focus();
  }

  reset() {
    const changed = this.ran !== undefined && this.ran !== this.recorded;
    this.view?.dom.parentElement.remove();
    this.view = undefined;
    this.code.hidden = false;
    this.input.after(this.tools);
    this.output.replaceChildren(...this.shown);
    if (!this.verdict) return;
    this.say(changed && worker ? say`As printed. Python keeps the values of your run until you run this again.` : "", "");
  }

  // Where the page was loaded again, or the editor took more room.
  inSight(block) {
    this.tools.scrollIntoView({ block, behavior: "instant" });
  }

  begin() {
    this.results = [];
    this.ran = this.source;
    this.error = undefined;
    // What is there stays until something new comes: the page does not jump.
    this.started = false;
    this.say(say`running …`, "open");
  }

  show(output) {
    this.results.push(output);
    if (!this.started) this.output.replaceChildren();
    this.started = true;
    const text = output.stdout ?? output.stderr;
    if (text) {
      const last = this.output.lastElementChild;
      if (last?.matches(".stream")) last.querySelector("pre").append(text);
      else this.print("stream", text);
    } else if (output["text/html"]) this.showLive(output["text/html"]);
    else if (output["image/svg+xml"])
      this.showFigure(`image/svg+xml;charset=utf-8,${encodeURIComponent(output["image/svg+xml"])}#.svg`);
    else if (output["image/png"]) this.showFigure(`image/png;base64,${output["image/png"]}`);
    else this.print("", output["text/plain"]);
  }

  print(className, textContent) {
    const pre = make("pre", { className: "live-output", textContent });
    this.output.append(make("div", { className: `output ${className} highlight-none notranslate` },
      make("div", { className: "highlight" }, pre)));
  }

  // In the place of the recorded one: same caption, same anchor.
  showFigure(data) {
    const before = this.output.querySelector("figure");
    const figure = (!before && this.figure?.cloneNode(true))
      || make("figure", { className: "align-default" }, make("img"));
    const image = figure.querySelector("img");
    image.removeAttribute("width");
    image.removeAttribute("height");
    const alt = image.alt || say`a figure`;
    Object.assign(image, { src: `data:${data}`,
      alt: this.source === this.recorded ? alt : say`Drawn by your code; as printed: ${alt}` });
    this.output.append(figure);
  }

  showLive(html) {
    const box = make("div", { className: "output text_html", innerHTML: html });
    this.output.append(box);
    for (const old of box.querySelectorAll("script:not([type])"))
      old.replaceWith(make("script", { textContent: old.textContent }));
  }

  end(error) {
    this.error = error;
    if (!this.started) this.output.replaceChildren();
    if (error) {
      const said = error.ours ? error.words : `${error.name}: ${error.words}`;
      const text = [said, error.place].filter(Boolean).join("\n");
      this.print("live-error", text);
    }
    // A long output scrolls in its own box, by keyboard too.
    for (const box of this.output.querySelectorAll("pre.live-output"))
      if (box.scrollHeight > box.clientHeight || box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    if (error?.name === "AssertionError" && this.labels.length)
      this.say(say`✗ ${this.check} does not hold.`, "wrong");
    else if (error) this.say(`✗ ${error.name}`, "wrong");
    else {
      const why = this.differs ? say` Not as printed: ${this.differs}` : "";
      this.say((this.labels.length ? say`✓ ${this.check} holds.` : say`✓ done`) + why, "right");
    }
  }

  say(text, className) {
    this.verdict.textContent = text;
    this.verdict.className = `live-verdict ${className}`;
    this.box.dataset.verdict = className; // the bar beside the code
  }
}

const cells = [...document.querySelectorAll("div.cell")]
  .filter((box) => box.querySelector(".cell_input pre"))
  .map((box, number) => new Cell(box, number));

// Python ---------------------------------------------------------------------

let worker, interrupt, started, running, wanted;
let busy = false;
let asked = 0;
const answers = {};

/** The value of a name now, in words; nothing while Python is away or busy. */
function ask(name) {
  if (busy || !worker || root.dataset.python !== "runs") return "";
  const id = ++asked;
  const answer = new Promise((done) => { answers[id] = done; });
  worker.postMessage({ ask: name, id });
  return Promise.race([answer, wait(GRACE).then(() => "")]);
}

function tell(text, counted = "") {
  if (words.textContent !== text) words.textContent = text;
  count.textContent = counted;
}

// Wherever the reader is, the bar is in sight while there is something to say.
const pin = (on) => bar.classList.toggle("pinned", on);

/** Run was pressed at a cell, or at the bar: then for the cell before it. */
async function begin(cell) {
  if (busy) return tell(say`Another cell runs; Stop ends it.`);
  wanted = cell ?? wanted;
  const missing = lacking();
  if (missing) {
    pin(true);
    return tell(missing);
  }
  if (cell && !started && !(await caches.has(KEPT))) {
    pin(true);
    tell(say`Python comes first: ${size} MB into your browser, once; kept for the next time. Nothing is sent anywhere.`);
    if (!bar.contains(later)) bar.append(later);
    return first.focus({ preventScroll: true });
  }
  later.remove();
  await isolate();
  if (!(await start()) || !wanted) return;
  const target = wanted;
  wanted = undefined;
  await run([...cells.slice(0, target.number).filter((c) => c.ran === undefined), target]);
}

// A page that shares memory with its worker can interrupt Python.  Browsers
// allow it to pages with certain headers, and `isolate.js` adds them where the
// server does not: once, by loading the page again.
async function isolate() {
  if (window.crossOriginIsolated || started || isolate.tried || !navigator.serviceWorker) return;
  tell(say`Preparing the page …`);
  try {
    await navigator.serviceWorker.register(new URL("../isolate.js", here));
    const active = await Promise.race([navigator.serviceWorker.ready, wait(5)]);
    if (!active) return;
    sessionStorage.setItem(KEPT, wanted ? wanted.number : "none");
  } catch {
    return; // Python runs all the same
  }
  location.reload();
  await new Promise(() => {});
}

function start() {
  return (started ??= launch());
}

let tries = 0;

async function launch() {
  for (const b of document.querySelectorAll(".live-start")) b.disabled = true;
  pin(true);
  tell(say`Looking what is needed …`);
  try {
    const answer = await fetch(new URL("manifest.json", here)).catch(() => null);
    if (!answer?.ok) throw new Error(say`the list of files could not be fetched`);
    const list = await answer.json();
    const files = list.files.filter((f) => !f.package || packages.includes(f.package));
    const total = files.reduce((sum, file) => sum + file.bytes, 0);
    // A browser remembers that a module did not come: another address.
    const editor = new URL(`editor.js?${tries++}`, here);
    ({ edit } = await import(editor).catch(() => {
      throw new Error(say`the editor could not be fetched`);
    }));
    Object.assign(meter, { hidden: false, max: total, value: 0 });
    await new Promise((ready, fail) => {
      worker = new Worker(new URL("worker.js", here), { type: "module" });
      interrupt = window.crossOriginIsolated ? new Uint8Array(new SharedArrayBuffer(1)) : null;
      worker.onerror = () =>
        fail(new Error(say`its thread cannot be had (is the browser older than 2023?)`));
      worker.onmessage = ({ data }) => {
        if (data.loaded) {
          meter.value = data.loaded;
          tell(say`Loading Python …`, say`${megabytes(data.loaded)} of ${megabytes(total)}`);
        } else if (data.stage) {
          meter.removeAttribute("value"); // how long, nobody knows
          tell(STAGES[data.stage]);
        } else if (data.broken) fail(new Error(BROKEN[data.how]?.(data.broken) ?? data.broken));
        else if (data.ready) ready();
      };
      const needed = list.packages.filter((p) => packages.includes(p));
      const kept = list.files.map((f) => f.sha256);
      worker.postMessage({ files, packages: needed, kept, interrupt, words: WORDS, store: KEPT });
    });
    worker.onmessage = ({ data }) =>
      data.asked ? answers[data.asked](data.value) : running?.heard(data);
    ready();
    return true;
  } catch (error) {
    worker?.terminate();
    started = undefined;
    tell(say`Python did not start: ${error.message}. Nothing is lost; try again.`);
    return false;
  } finally {
    for (const b of document.querySelectorAll(".live-start")) b.disabled = false;
    meter.hidden = true;
  }
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

const stop = button(say`Stop`, () => halt(say`Stopped.`));
const all = button(say`Run all cells`, () => run(cells));
const back = button(say`Reset the page`, reset);
const later = button(say`Not now`, () => {
  pin(false);
  later.remove();
  tell(offered);
  wanted?.tools.querySelector("button").focus({ preventScroll: true });
  wanted = undefined;
});
stop.className = "live-stop";
later.className = "live-later";

function ready() {
  tell(say`Python runs. Press Run below a cell; tap its code to change it.`);
  pin(false);
  first.remove();
  if (!bar.contains(all)) bar.append(all, stop, back);
  stop.disabled = true;
  root.dataset.python = "runs";
  for (const cell of cells) {
    cell.ran = undefined;
    if (!cell.verdict) cell.offer();
  }
}

/** End what runs.  Where the page is isolated Python is interrupted and keeps
    its names; elsewhere, or if it does not listen, its thread ends. */
async function halt(why) {
  const now = running;
  if (!now || now.halting) return;
  now.halting = why;
  if (interrupt) {
    interrupt[0] = 2;
    await wait(GRACE);
    if (running !== now) return;
  }
  await renew(why);
}

async function renew(why) {
  worker.terminate();
  worker = started = undefined;
  const now = running;
  running = undefined;
  now?.cell.end({ ours: true, name: say`Stopped`, words: say`${why} Python has forgotten its names.` });
  now?.finish(false);
  tell(say`Starting Python again …`);
  if (await start())
    tell(say`${why} Python has started anew and forgotten its names; Run brings back what a cell needs.`);
}

/** Run cells in turn, up to the first that fails; whether all have passed. */
async function run(some) {
  if (busy || !(await start())) return false;
  busy = true;
  stop.disabled = false;
  const slow = setTimeout(pin, 400, true);
  let failed;
  for (const [index, cell] of some.entries()) {
    tell(say`Running …`, some.length > 1 ? say`cell ${index + 1} of ${some.length}` : "");
    if (!(await runOne(cell))) {
      failed = cell;
      break;
    }
  }
  clearTimeout(slow);
  stop.disabled = true;
  busy = false;
  if (root.dataset.python !== "runs" || !worker) return false;
  pin(false);
  const target = some.at(-1);
  tell(failed ? say`Stopped at ${failed.name}.` : say`Python runs, and has finished.`);
  if (failed && failed !== target)
    target.say(say`Not run: ${failed.name}, above, has failed.`, "wrong");
  return !failed;
}

function runOne(cell) {
  cell.begin();
  return new Promise((finish) => {
    const clock = setTimeout(
      () => halt(say`The cell took longer than ${SECONDS} seconds and was stopped.`), SECONDS * 1000);
    const settle = (passed) => {
      clearTimeout(clock);
      finish(passed);
    };
    const now = running = {
      cell, finish: settle,
      heard(data) {
        if (data.output) cell.show(data.output);
        else if (data.broken) renew(say`Python has died (${data.broken}).`);
        else if (data.done) {
          running = undefined;
          if (now.halting && data.error?.name === "KeyboardInterrupt")
            data.error = { ours: true, name: say`Stopped`, words: say`${now.halting} Names keep their values.`, place: data.error.place };
          cell.end(data.error);
          settle(!data.error);
        }
      },
    };
    if (interrupt) interrupt[0] = 0;
    worker.postMessage({ run: cell.number, source: cell.source });
  });
}

async function reset() {
  const renewed = renew(say`The page is as it was.`);
  for (const cell of cells) cell.reset();
  await renewed;
}

first.addEventListener("click", () => begin());
if (lacking()) {
  tell(lacking());
  first.remove();
}
// The page was loaded again on the way to Python.
const waiting = lacking() ? null : sessionStorage.getItem(KEPT);
if (waiting !== null) {
  sessionStorage.removeItem(KEPT);
  isolate.tried = true;
  wanted = cells[waiting];
  wanted?.inSight("center");
  start().then((runs) => runs && wanted && begin(wanted));
}

// For the tests, and for who looks: cells, and the way to run them.
window.kernelbook = { cells, run, start, ask, idle: () => !busy };
})();
