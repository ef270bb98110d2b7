// Python, in a thread of its own: the page stays alive whatever a cell does.
// Every file is looked up in the browser's store, or fetched, and its hash
// compared before it is used.

const here = new URL("./", import.meta.url);
const say = (message) => postMessage(message);
const inHex = (bytes) =>
  [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, "0")).join("");

// A cell may fill this much, not the reader's machine: then MemoryError.
const MOST = 1.5 * 2 ** 30;
const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + 65536 * pages > MOST) throw new RangeError("too much memory");
  return grow.call(this, pages);
};

let loaded = 0;

// How it broke; the page has the words for it.
const broken = (how, file) => Object.assign(new Error(file.name), { how });

async function fetched(address, file) {
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) throw broken("away", file);
  const parts = [], reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw broken("cut", file);
    });
    if (done) return new Blob(parts);
    parts.push(value);
    say({ loaded: (loaded += value.length) });
  }
}

async function verified(file, store) {
  const address = new URL(`${file.name}?${file.sha256.slice(0, 16)}`, here).href;
  const kept = await store.match(address);
  const blob = kept ? await kept.blob() : await fetched(address, file);
  if (kept) say({ loaded: (loaded += file.bytes) });
  const bytes = await blob.arrayBuffer();
  if (inHex(await crypto.subtle.digest("SHA-256", bytes)) !== file.sha256) {
    await store.delete(address);
    throw broken("spoilt", file);
  }
  if (!kept) await store.put(address, new Response(bytes)).catch(() => {});
  return bytes;
}

let python, cells;

async function start({ files, packages, kept, interrupt, words, store: name }) {
  const bytes = {}, store = await caches.open(name);
  await Promise.all(files.map(async (f) => { bytes[f.name] = await verified(f, store); }));
  // What an older edition of the book has left behind goes.
  for (const { url } of await store.keys())
    if (!kept.some((sha256) => url.endsWith(sha256.slice(0, 16)))) await store.delete(url);
  // From here on Pyodide's own requests are answered from what was verified.
  const ask = self.fetch;
  self.fetch = (address, options) => {
    const url = new URL(address?.url ?? address, here);
    const name = url.pathname.split("/").pop();
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return bytes[name]
      ? Promise.resolve(new Response(bytes[name], { headers: { "Content-Type": type } }))
      : ask(address, options);
  };
  say({ stage: "start" });
  const { loadPyodide } = await import("./pyodide.mjs");
  python = await loadPyodide({ indexURL: here.href });
  if (interrupt) python.setInterruptBuffer(interrupt);
  say({ stage: "unpack" });
  await python.loadPackage(packages, { messageCallback() {}, checkIntegrity: false });
  for (const { name } of files.filter((f) => f.unpack))
    python.unpackArchive(bytes[name], "zip", { extractDir: "/lib/python-site" });
  say({ stage: "import" });
  const source = new TextDecoder().decode(bytes["cells.py"]);
  python.runPython(`
import sys, types
sys.path.insert(0, "/lib/python-site")
cells = types.ModuleType("cells")
sys.modules["cells"] = cells`);
  python.globals.get("exec")(source, python.runPython("cells.__dict__"));
  python.runPython("import kernelbook, matplotlib.pyplot");
  cells = python.pyimport("cells");
  cells.WORDS.update(python.toPy(words));
  self.fetch = ask;
}

function run({ run: id, source }) {
  const show = (output) =>
    say({ id, output: output.toJs({ dict_converter: Object.fromEntries }) });
  const error = cells.run(source, show);
  say({ id, done: true, error: error?.toJs({ dict_converter: Object.fromEntries }) ?? null });
}

onmessage = async ({ data }) => {
  try {
    if (data.files) {
      await start(data);
      say({ ready: true });
    } else if (data.ask) say({ asked: data.id, value: cells.look(data.ask) });
    else run(data);
  } catch (error) {
    // Python itself has died (out of memory): the page starts another one.
    const broken = String(error.message ?? error).split("\n").pop();
    say({ broken, how: error.how, id: data.run });
  }
};
