// "Run it here": Python for the cells of this page, when the reader asks.
// Until then this file does nothing but listen to the buttons.
(() => {
const script = document.querySelector("script[data-live]");
const packages = script.dataset.live.split(" ");
const here = new URL("./", script.src);
const SECONDS = 120; // the longest that a cell may take
const bar = document.querySelector(".live-bar");
const words = bar.querySelector(".live-words");
const meter = bar.querySelector("progress");

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const button = (text, onclick) => make("button", { type: "button", textContent: text, onclick });

// What this browser lacks, said before anything is fetched.
function lacking() {
  if (location.protocol === "file:")
    return "Python cannot start on a page opened from a disk. In the folder of the book, type " +
      "“python -m http.server” and open http://localhost:8000.";
  if (!window.isSecureContext)
    return "Python starts on pages from https or from localhost only.";
  if (!window.WebAssembly || !window.Worker || !window.caches || !CSS.supports("selector(:has(a))"))
    return "This browser is too old to run Python: one from 2023 or later can.";
  return "";
}

// The cells ------------------------------------------------------------------

let edit; // the editor, once it is there

class Cell {
  constructor(box, number) {
    this.box = box;
    this.number = number;
    this.input = box.querySelector(".cell_input");
    this.code = this.input.querySelector("pre");
    this.recorded = this.code.textContent.replace(/\n$/, "");
    this.checks = [...box.classList].some((name) => name.startsWith("tag_check-"));
    this.output = box.querySelector(":scope > .cell_output, :scope > details .cell_output")
      ?? box.appendChild(make("div", { className: "cell_output docutils container" }));
    this.shown = [...this.output.childNodes];
    this.alt = this.output.querySelector("img[alt]")?.alt
      ?? this.output.querySelector("svg[aria-label]")?.getAttribute("aria-label") ?? "";
    this.differs = box.dataset.differs;
    this.caption = this.output.querySelector("figcaption");
    this.classes = this.output.querySelector("img")?.className ?? "";
  }

  get source() {
    return this.view ? this.view.state.doc.toString() : this.recorded;
  }

  offer() {
    const name = `cell ${this.number + 1}`;
    this.verdict = make("span", { className: "live-verdict", role: "status" });
    this.tools = make("div", { className: "live-tools" },
      button("Run", () => run([this])),
      button("Run all above", () => run(cells.slice(0, this.number))),
      button("Edit", () => this.edit()),
      button("Reset", () => this.reset()),
      this.verdict);
    for (const b of this.tools.querySelectorAll("button"))
      b.setAttribute("aria-label", `${b.textContent} ${name}`);
    this.input.after(this.tools);
    this.code.addEventListener("click", () => this.edit());
  }

  edit() {
    this.input.closest("details")?.setAttribute("open", "");
    if (!this.view) {
      this.code.hidden = true;
      const place = make("div", { className: "live-editor highlight" });
      this.code.after(place);
      this.view = edit(place, this.recorded, `Code of cell ${this.number + 1}`,
        () => run([this]));
    }
    this.view.focus();
  }

  reset() {
    this.view?.dom.parentElement.remove();
    this.view = undefined;
    this.code.hidden = false;
    this.output.replaceChildren(...this.shown);
    this.say("", "");
  }

  begin() {
    this.results = [];
    this.error = undefined;
    // What is there stays until something new comes: the page does not jump.
    this.started = false;
    this.say("running …", "");
  }

  show(output) {
    this.results.push(output);
    if (!this.started) this.output.replaceChildren();
    this.started = true;
    const last = this.output.lastElementChild;
    if (output.stdout ?? output.stderr) {
      const text = output.stdout ?? output.stderr;
      if (last?.matches("pre")) last.append(text);
      else this.output.append(make("pre", { className: "output stream", textContent: text }));
    } else if (output["text/html"]) this.showLive(output["text/html"]);
    else if (output["image/svg+xml"]) this.showFigure(output["image/svg+xml"]);
    else this.output.append(make("pre", { className: "output", textContent: output["text/plain"] }));
  }

  showFigure(svg) {
    const image = make("img", {
      src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`,
      alt: `As recorded, if nothing was changed: ${this.alt}`, className: this.classes,
    });
    const figure = make("figure", { className: "align-default" }, image);
    if (this.caption) figure.append(this.caption.cloneNode(true));
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
      const text = [`${error.name}: ${error.words}`, error.place].filter(Boolean).join("\n");
      this.output.append(make("pre", { className: "output live-error", textContent: text }));
    }
    const failed = error?.name === "AssertionError";
    if (this.checks && failed) this.say("✗ The check does not hold.", "wrong");
    else if (error) this.say(`✗ ${error.name}`, "wrong");
    else {
      const why = this.differs ? ` Not as recorded: ${this.differs}` : "";
      this.say((this.checks ? "✓ The check holds." : "done") + why, "right");
    }
  }

  say(text, className) {
    this.verdict.textContent = text;
    this.verdict.className = `live-verdict ${className}`;
  }
}

const cells = [...document.querySelectorAll("div.cell:has(.cell_input pre)")]
  .map((box, number) => new Cell(box, number));

// Python ---------------------------------------------------------------------

let worker, interrupt, ended, running;
let busy = false;
const answers = {};

/** The value of a name now, in words; nothing while Python is away or busy. */
function ask(name) {
  if (busy || !worker || document.documentElement.dataset.python !== "runs") return "";
  return new Promise((answer) => {
    answers[name] = answer;
    worker.postMessage({ ask: name });
  });
}

function tell(text) {
  words.textContent = text;
}

function start() {
  const missing = lacking();
  if (missing) {
    tell(missing);
    return Promise.resolve(false);
  }
  return (ended ??= launch());
}

async function launch() {
  for (const b of document.querySelectorAll(".live-start")) b.disabled = true;
  tell("Looking what is needed …");
  try {
    const list = await (await fetch(new URL("manifest.json", here))).json();
    const files = list.files.filter((f) => !f.package || packages.includes(f.package));
    const total = files.reduce((sum, file) => sum + file.bytes, 0);
    ({ edit } = await import(new URL("editor.js", here)));
    Object.assign(meter, { hidden: false, max: total, value: 0 });
    await new Promise((ready, fail) => {
      worker = new Worker(new URL("worker.js", here), { type: "module" });
      interrupt = window.crossOriginIsolated ? new Uint8Array(new SharedArrayBuffer(1)) : null;
      worker.onerror = (event) => fail(new Error(event.message || "the worker did not start"));
      worker.onmessage = ({ data }) => {
        if (data.loaded) {
          meter.value = data.loaded;
          tell(`${megabytes(data.loaded)} of ${megabytes(total)} …`);
        } else if (data.stage) tell(`${data.stage} …`);
        else if (data.broken) fail(new Error(data.broken));
        else if (data.ready) ready();
      };
      worker.postMessage({ files, packages: list.packages.filter((p) => packages.includes(p)), interrupt });
    });
    worker.onmessage = ({ data }) =>
      data.asked ? answers[data.asked]?.(data.value) : running?.heard(data);
    ready();
    return true;
  } catch (error) {
    worker?.terminate();
    ended = undefined;
    tell(`Python did not start: ${error.message}. Nothing is lost; try again.`);
    for (const b of document.querySelectorAll(".live-start")) b.disabled = false;
    return false;
  } finally {
    meter.hidden = true;
  }
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

const stop = button("Stop", () => halt("Stopped."));
const all = button("Run all cells", () => run(cells));
const back = button("Reset the page", reset);

function ready() {
  tell("Python runs. Change a cell and run it; the cells above it first.");
  for (const b of document.querySelectorAll(".live-start")) b.remove();
  for (const invitation of document.querySelectorAll(".live-invitation")) invitation.remove();
  if (!bar.contains(all)) bar.append(all, stop, back);
  stop.disabled = true;
  document.documentElement.dataset.python = "runs";
  for (const cell of cells) if (!cell.tools) cell.offer();
}

// A cell that does not end: where the page is isolated Python is interrupted
// and keeps its names; elsewhere its thread ends, and a new one begins.
async function halt(why) {
  if (!running) return;
  if (interrupt && why === "Stopped.") {
    interrupt[0] = 2;
    return;
  }
  worker.terminate();
  const { cell, finish } = running;
  running = undefined;
  cell.end({ name: "Stopped", words: why, place: "" });
  finish(false);
  ended = undefined;
  tell("Starting Python again …");
  if (await start()) tell(`${why} Python has started anew: run the cells above again.`);
}

/** Run cells in turn, up to the first that fails; whether all have passed. */
async function run(some) {
  if (busy || !(await start())) return false;
  busy = true;
  stop.disabled = false;
  let passed = true;
  for (const cell of some) {
    passed = await runOne(cell);
    if (!passed) break;
  }
  stop.disabled = true;
  busy = false;
  return passed;
}

function runOne(cell) {
  cell.begin();
  return new Promise((finish) => {
    const clock = setTimeout(
      () => halt(`The cell took longer than ${SECONDS} seconds and was stopped.`), SECONDS * 1000);
    const settle = (passed) => {
      clearTimeout(clock);
      finish(passed);
    };
    running = {
      cell, finish: settle,
      heard(data) {
        if (data.output) cell.show(data.output);
        else if (data.broken) halt(`Python has died (${data.broken}).`);
        else if (data.done) {
          running = undefined;
          cell.end(data.error);
          settle(!data.error);
        }
      },
    };
    worker.postMessage({ run: cell.number, source: cell.source });
  });
}

async function reset() {
  for (const cell of cells) cell.reset();
  worker.terminate();
  running = ended = undefined;
  tell("Starting Python again …");
  await start();
}

for (const b of document.querySelectorAll(".live-start")) {
  b.addEventListener("click", async () => {
    const invited = b.closest(".live-invitation")?.nextElementSibling;
    if ((await start()) && invited) run(cells.slice(0, 1 + cells.findIndex((c) => c.box === invited)));
  });
}
if (lacking()) {
  tell(lacking());
  for (const b of document.querySelectorAll(".live-start")) b.remove();
}

// For the tests, and for who looks: cells, and the way to run them.
window.kernelbook = { cells, run, start, ask, idle: () => !busy };
})();
