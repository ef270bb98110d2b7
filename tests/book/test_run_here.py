"""Python in the reader's browser: every cell, against the same record.

``make check-live``.  All other hosts are cut off.  A cell may differ from its
record if it is tagged ``differs-in-browser`` and says why; there are few.
"""

import json
import re
import subprocess
import sys
import time
import zipfile

import pytest
from nbformat.v4 import new_code_cell, new_output
from pages import AXE, CHAPTERS, MODEL

from press import translation
from press.live import ARCHIVE, SITE, sha256
from press.outputs import expected, record
from press.reader import ROOT

pytestmark = pytest.mark.live
RUNTIME = SITE / "_live"
LIVE = ROOT / "press" / "live"
MOST = 5  # cells of the book that may differ
RUNS = "document.documentElement.dataset.python === 'runs'"
PHONE = {"viewport": {"width": 375, "height": 812}, "has_touch": True}
SAID = "i => kernelbook.cells[i].output.innerText"
PUT = """([i, code]) => {
  const cell = kernelbook.cells[i];
  cell.edit();
  const end = cell.view.state.doc.length;
  cell.view.dispatch({ changes: { from: 0, to: end, insert: code } });
}"""
RUN = "i => kernelbook.run([kernelbook.cells[i]])"
ENOUGH = 300_000  # ms
OUTPUTS = "kernelbook.cells.map(cell => cell.output.innerHTML)"
# What the bar says, from one moment to the next.
LISTEN = """addEventListener('DOMContentLoaded', () => {
  const bar = document.querySelector('.live-bar');
  window.told = [];
  new MutationObserver(() => told.push(bar.innerText))
    .observe(bar, { childList: true, characterData: true, subtree: true });
})"""
IN_SIGHT = """e => e.getBoundingClientRect().top > 50
  && e.getBoundingClientRect().bottom < innerHeight"""
STAGES = [
    "${megabytes(data.loaded)} of ${megabytes(total)}",
    "Starting Python …",
    "Unpacking NumPy, SciPy and Matplotlib …",
    "Importing the library …",
    "Python runs, and has finished.",
]
NAMES = {"Python", "NumPy", "SciPy", "Matplotlib", "MB"}
PROGRESS = re.compile(r"[\w.]+: \d+ s, ")
CHECK = "check-eq-6-8"
HOME = [
    path
    for path, chapter in CHAPTERS.items()
    for cell in chapter.cells
    if CHECK in cell.metadata.get("tags", [])
]
CHINESE = [f"zh/{path}" for path in HOME]


def said(text, path):
    """What the page says, in its language; its places hold anything."""
    language = "zh_CN" if path.startswith("zh/") else "en"
    words = translation.say(text, language=language)
    parts = re.split(r"\$?\{[^{}]*\}", words)
    return re.compile(".+".join(map(re.escape, parts)))


@pytest.fixture(scope="session")
def site(serve):
    """The book with Python in its pages."""
    return serve(SITE)


@pytest.fixture
def started(visit):
    """A chapter's page on a phone, with Python running."""

    def open_chapter(path=MODEL, **instead):
        page = visit(path, **PHONE, **instead)
        page.set_default_timeout(ENOUGH)
        page.locator(".live-bar .live-start").click()
        page.wait_for_function(RUNS)
        return page

    return open_chapter


def run_cell(page, code, number=0):
    """Run code in the place of a cell; gives what then stands below it."""
    page.evaluate(PUT, [number, code])
    page.evaluate(RUN, number)
    return page.evaluate(SAID, number)


def ask(page, *judges):
    return [wrong for j in judges for wrong in page.evaluate(f"judges.{j}()")]


def as_cell(source, outputs):
    """A cell as a notebook has it: pieces of one stream put together.

    Lines of progress depend on the machine, and are left out.
    """
    whole: list[dict[str, str]] = []
    for output in outputs:
        kind = next(iter(output))
        if whole and kind.startswith("std") and kind in whole[-1]:
            whole[-1][kind] += output[kind]
        else:
            whole.append(dict(output))
    for output in whole:
        if "stderr" in output:
            lines = output["stderr"].splitlines(keepends=True)
            kept = [line for line in lines if not PROGRESS.match(line)]
            output["stderr"] = "".join(kept)
    return new_code_cell(
        source,
        outputs=[
            new_output("stream", name=kind, text=output[kind])
            if (kind := next(iter(output))).startswith("std")
            else new_output("display_data", output)
            for output in whole
            if output.get("stderr") != ""
        ],
    )


def differs(cell):
    return "differs-in-browser" in cell.metadata.get("tags", [])


@pytest.mark.parametrize("path", [*CHAPTERS, *CHINESE])
def test_every_cell_gives_its_recorded_output(started, path):
    page, chapter = started(path), CHAPTERS[path.removeprefix("zh/")]
    passed = page.evaluate("kernelbook.run(kernelbook.cells)")
    seen = page.evaluate(
        "kernelbook.cells.map(c => [c.source, c.results ?? [], c.error])"
    )
    here = record([as_cell(source, outputs) for source, outputs, _ in seen])
    wanted = json.loads(expected(chapter.path).read_text("utf-8"))
    wrong = [
        f"cell {number}: {error or ''}\n  here {now}\n  recorded {then}"
        for number, (now, then, (*_, error), cell) in enumerate(
            zip(here, wanted, seen, chapter.cells, strict=True)
        )
        if error or (now != then and not differs(cell))
    ]
    assert passed and not wrong, "\n".join([path, *wrong])
    assert page.problems == []


def test_few_cells_differ_and_each_says_why():
    cells = [c for ch in CHAPTERS.values() for c in ch.cells if differs(c)]
    assert len(cells) <= MOST
    assert all(len(cell.metadata["differs"]) > 20 for cell in cells)


def test_nothing_is_loaded_before_the_reader_asks(visit):
    page = visit(MODEL)
    page.wait_for_timeout(500)
    asked = page.evaluate(
        "performance.getEntriesByType('resource').map(r => r.name)"
    )
    ours = sorted(a.rpartition("/")[2] for a in asked if "_live" in a)
    assert ours == ["run.css", "run.js"]


@pytest.mark.parametrize("path", [*HOME, *CHINESE])
def test_the_first_reader_breaks_an_equation(visit, path):
    """(6.8) with a wrong sign: the green check turns red, in words.

    With a thumb, from the cell itself: it is told what will be loaded, and
    the cells above run first.  A Chinese page says all of it in Chinese.
    """
    page = visit(path, **PHONE)
    page.set_default_timeout(ENOUGH)
    check, bar = page.locator(f".tag_{CHECK}"), page.locator(".live-bar")
    verdict = check.locator(".live-verdict")

    def tap(text, box=check):
        box.get_by_role("button", name=said(text, path)).tap()

    def wait(text, box=verdict):
        box.filter(has_text=said(text, path)).wait_for()

    def colour():
        style = "e => getComputedStyle(e).borderLeftColor"
        return check.locator(".cell_input").evaluate(style)

    green = colour()
    tap("Run cell {}")
    bar.filter(has_text=re.compile(r"\d\d MB")).wait_for()
    start = bar.locator(".live-start")
    assert start.evaluate("e => e.getBoundingClientRect().top") < 812
    page.add_init_script(LISTEN)
    tap("Start Python", bar)
    wait("✓ ${this.check} holds.")
    assert "(6.8)" in verdict.inner_text() and colour() == green
    told = page.evaluate("told")
    for stage in STAGES:
        assert said(stage, path).search("\n".join(told)), stage
    assert verdict.evaluate(IN_SIGHT)
    tap("Edit")
    page.keyboard.press("Control+Home")
    code = check.locator(".cm-content")
    place = code.inner_text().index("+ lam")
    for _ in range(place):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Delete")
    page.keyboard.type("-")
    tap("Run cell {}")
    wait("✗ ${this.check} does not hold.")
    assert colour() != green
    told += [verdict.inner_text(), check.locator(".live-tools").inner_text()]
    wait("line {}: {}", check.locator(".live-error"))
    check.locator(".live-error").scroll_into_view_if_needed()
    tap("Reset")
    wait(
        "As printed. Python keeps the values of your run until you run this "
        "again."
    )
    assert verdict.evaluate(IN_SIGHT) and colour() == green
    assert check.locator(".cm-content").count() == 0
    told += [verdict.inner_text(), bar.inner_text()]
    page.locator(f"#equation-{CHECK.removeprefix('check-')} .ask").tap()
    wait("{} has shape {}", page.locator("#preview"))
    if path in CHINESE:
        assert {*re.findall("[A-Za-z]{2,}", "".join(told))} <= NAMES
    assert page.problems == []


def test_a_desk_without_a_mouse_runs_changes_and_leaves_a_cell(started):
    page = started()
    page.evaluate("kernelbook.cells[0].tools.firstElementChild.focus()")
    page.keyboard.press("Enter")
    page.locator(".live-verdict.right").first.wait_for()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Edit
    page.keyboard.press("Control+A")
    page.keyboard.type("print(84 / 2)")
    code = page.locator(".cm-content")
    assert code.locator(".mi").all_inner_texts() == ["84", "2"]  # coloured
    page.keyboard.press("Tab")
    assert code.inner_text() == "    print(84 / 2)"
    page.keyboard.press("Control+Z")
    assert code.inner_text() == "print(84 / 2)"
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"({SAID})(0).includes('42')")
    page.keyboard.press("Escape")
    focused = page.evaluate("document.activeElement.ariaLabel")
    assert focused == "Run cell 1"


BAD = {
    "1 / 0": "ZeroDivisionError",
    "def f(:": "SyntaxError",
    "for i in range(10**6): print(i)": "which is not shown",
    "'x' * 10**7": "which is not shown",
    "import numpy as np\nnp.ones(2**29).sum()": "too big",
    "kept = []\nwhile True: kept.append(bytes(10**8))": "more than a page",
    "def g(): g()\ng()": "RecursionError",
    "print('still here')": "still here",
}
FOREVER = "while True: pass"
DEAF = """
import time
X = np.random.rand(3000, 3000)
time.sleep(1)
print("from here on")
np.linalg.svd(X)
"""


def test_bad_cells_leave_the_page_alive(started):
    page = started()
    for code, words in BAD.items():
        assert words in run_cell(page, code), code
    height = page.evaluate("kernelbook.cells[0].output.offsetHeight")
    assert height < 2000
    page.clock.install()
    page.evaluate(PUT, [0, FOREVER])
    page.evaluate("() => void kernelbook.run([kernelbook.cells[0]])")
    page.clock.fast_forward(121_000)
    page.locator(".live-error", has_text="longer than 120 s").wait_for()
    assert page.problems == []


@pytest.mark.parametrize("isolated", [True, False])
def test_a_cell_without_end_is_stopped(started, isolated):
    """Names stay where memory is shared; elsewhere the reader is told."""
    allowed = "allow" if isolated else "block"
    page = started(service_workers=allowed)
    assert page.evaluate("crossOriginIsolated") == isolated
    run_cell(page, "precious = 6 * 7")
    page.evaluate(PUT, [0, FOREVER])
    page.evaluate("() => void kernelbook.run([kernelbook.cells[0]])")
    page.get_by_role("button", name="Stop").click()
    told = "Names keep their values" if isolated else "forgotten its names"
    page.locator(".live-error", has_text=told).wait_for()
    page.wait_for_function(f"kernelbook.idle() && {RUNS}")
    page.evaluate("kernelbook.start()")
    said = run_cell(page, "print(precious)")
    assert ("42" if isolated else "NameError") in said
    assert page.problems == []


def test_what_does_not_listen_is_ended_and_the_page_can_be_reset(started):
    """One long step of LAPACK hears no interrupt."""
    page = started()
    printed = page.evaluate(OUTPUTS)
    page.get_by_role("button", name="Run all above, cell 9").click()
    page.locator(".live-words", has_text="has finished").wait_for()
    ran = page.evaluate("kernelbook.cells.map(cell => !!cell.ran)")
    assert [number for number, has in enumerate(ran) if has] == [*range(8)]
    assert page.evaluate(OUTPUTS) != printed
    page.evaluate(PUT, [0, DEAF])
    page.evaluate("() => void kernelbook.run([kernelbook.cells[0]])")
    page.locator(".live-output", has_text="from here on").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator(".live-error", has_text="forgotten its names").wait_for()
    page.locator(".live-words", has_text="started anew").wait_for()
    page.get_by_role("button", name="Reset the page").click()
    page.locator(".live-words", has_text="as it was").wait_for()
    assert page.locator(".cm-content, .live-error").count() == 0
    assert page.evaluate(OUTPUTS) == printed
    assert "2" in run_cell(page, "print(1 + 1)")


WRONG = {
    "its hash is wrong": ("cells.py", lambda r: r.fulfill(body="spoilt")),
    "numpy.* could not be fetched": ("numpy-*", lambda r: r.abort()),
    "list of files": ("manifest.json", lambda r: r.fulfill(status=503)),
    "editor could not": ("editor.js", lambda r: r.abort()),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_bad_download_is_told_and_tried_again(visit, words):
    file, answer = WRONG[words]
    page = visit(MODEL)
    page.set_default_timeout(ENOUGH)
    address = re.compile(f"/_live/{file.replace('*', '.*')}")
    page.context.route(address, answer)
    start = page.get_by_role("button", name="Start Python")
    start.click()
    page.locator(".live-words", has_text=re.compile(words)).wait_for()
    page.context.unroute(address)
    start.click()
    page.wait_for_function(RUNS)


def pressed(page):
    """What the page says when Run is pressed at a cell."""
    page.get_by_role("button", name="Run cell 1", exact=True).click()
    return page.locator(".live-bar.pinned .live-words").inner_text()


def test_a_page_from_a_disk_says_how_to_serve_it(browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto((SITE / MODEL).as_uri())
        assert "http.server" in page.locator(".live-words").inner_text()
        assert page.get_by_role("button", name="Start Python").count() == 0
        assert "http.server" in pressed(page)


@pytest.mark.parametrize("lack", ["WebAssembly", "Worker", "caches"])
def test_an_old_browser_is_told_before_the_download(browser, site, lack):
    with browser.new_context() as context:
        context.add_init_script(f"delete window.{lack}")
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{site}/{MODEL}", wait_until="load")
        assert "too old" in page.locator(".live-words").inner_text()
        assert "too old" in pressed(page)
        assert sum("/_live/" in address for address in asked) == 2


def test_without_scripts_nothing_is_offered(browser, site):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site}/{MODEL}")
        offers = page.locator(".live-bar, .live-tools, .ask")
        assert offers.count() and offers.locator("visible=true").count() == 0


def judged(page, *judges):
    """Those of the screen, the paper's, and last axe, which takes it apart."""
    yield from ask(page, *judges, "fitsItsWidth")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme == 'dark'")
    yield from ask(page, "showsItsFigures")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4
    page.emulate_media(media="print", color_scheme="light")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    yield from ask(page, "printsClean")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    page.set_viewport_size(PHONE["viewport"])
    page.wait_for_timeout(1000)  # the theme looks anew for what scrolls
    page.evaluate(AXE.read_text("utf-8"))
    yield from ask(page, "pleasesAxe")


def test_a_page_pleases_its_judges_before_it_runs(visit):
    page = visit(MODEL, **PHONE, reduced_motion="reduce")
    assert [*judged(page, "comesWhole")] == []


def test_a_page_pleases_its_judges_while_it_runs(started):
    """Bar, buttons, editor, verdict, new figures, long lines, an error."""
    page = started(reduced_motion="reduce")
    page.evaluate("kernelbook.run(kernelbook.cells.slice(0, 8))")
    run_cell(page, "print('x' * 300 + '\\n' * 300)", 8)
    run_cell(page, "1 / 0", 9)
    assert [*judged(page)] == []


def test_an_equation_says_the_values_of_its_letters(started):
    page = started()
    page.evaluate("kernelbook.run(kernelbook.cells)")
    said = set()
    for button in page.locator("div.math .ask").all():
        button.click()
        page.locator("#preview[role=dialog]").wait_for()
        said |= set(page.locator("#preview small").all_inner_texts())
        page.keyboard.press("Escape")
    here = [text for text in said if "here: " in text]
    assert any(re.search(r"here: \w+ = [\d.]+", text) for text in here)
    assert any(re.search(r"here: \w+ has shape \(", text) for text in here)


NATIVE = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import cells, kernelbook, matplotlib.pyplot
begun = time.perf_counter()
for source in json.load(sys.stdin):
    assert cells.run(source, lambda output: None) is None
print(time.perf_counter() - begun)
"""


def test_what_it_costs_is_reported(visit, record_property):
    """Seconds to the first run, cold and from the store; against CPython."""
    seconds, page = [], visit(MODEL)
    page.set_default_timeout(ENOUGH)
    for _ in range(2):
        begun = time.perf_counter()
        page.get_by_role("button", name="Start Python").click()
        page.wait_for_function(RUNS)
        page.evaluate("kernelbook.run(kernelbook.cells.slice(0, 1))")
        seconds.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        assert page.evaluate("kernelbook.run(kernelbook.cells)")
        there = time.perf_counter() - begun
        page.reload()
    sources = json.dumps([cell.source for cell in CHAPTERS[MODEL].cells])
    native = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", NATIVE, str(LIVE)],
        input=sources,
        capture_output=True,
        text=True,
        check=True,
    )
    manifest = json.loads((RUNTIME / "manifest.json").read_text("utf-8"))
    needed = [f["bytes"] for f in manifest["files"] if "package" not in f]
    record_property(
        "summary",
        f"Python in the page: {sum(needed) / 1e6:.0f} MB; first cell after "
        f"{seconds[0]:.1f} s, from the store {seconds[1]:.1f} s; {MODEL} in "
        f"{there:.1f} s, by CPython {float(native.stdout):.1f} s",
    )


def test_the_archive_has_pages_and_runtime():
    with zipfile.ZipFile(SITE / ARCHIVE) as archive:
        packed = set(archive.namelist())
    manifest = json.loads((RUNTIME / "manifest.json").read_text("utf-8"))
    runtime = {f"kernelbook/_live/{f['name']}" for f in manifest["files"]}
    assert runtime | {f"kernelbook/{MODEL}", "kernelbook/isolate.js"} <= packed
    assert ARCHIVE in (SITE / MODEL).read_text("utf-8")


def test_the_runtime_is_what_the_manifest_says():
    manifest = json.loads((RUNTIME / "manifest.json").read_text("utf-8"))
    lock = json.loads((RUNTIME / "pyodide-lock.json").read_text("utf-8"))
    locked = {p["file_name"]: p["sha256"] for p in lock["packages"].values()}
    for file in manifest["files"]:
        content = (RUNTIME / file["name"]).read_bytes()
        assert file["sha256"] == sha256(content)
        if file["name"].endswith(".whl"):
            assert file["sha256"] == locked[file["name"]]
    with zipfile.ZipFile(RUNTIME / "kernelbook.zip") as library:
        for name in library.namelist():
            assert library.read(name) == (ROOT / name).read_bytes()
