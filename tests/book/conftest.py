"""The built book in Chromium, with every other host out of reach."""

import functools
import http.server
import os
import shutil
import threading

import pytest
from playwright.sync_api import sync_playwright
from reading import ROOT

HTML = ROOT / "_build" / "html"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def site():
    """The book, served on this machine."""
    assert (HTML / "index.html").is_file(), "no pages: run `make book` first"

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    class Patient(http.server.ThreadingHTTPServer):
        def handle_error(self, *args):
            """A browser that leaves before all has arrived is no error."""

    handler = functools.partial(Quiet, directory=str(HTML))
    server = Patient(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        try:
            chromium = playwright.chromium.launch(
                executable_path=found, args=FLAGS
            )
        except Exception as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(
                "no Chromium here: install Debian's chromium, or run "
                f"`playwright install chromium` ({type(error).__name__})"
            )
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, site):
    """Open a page; whatever it asks of other hosts is refused and noted."""
    contexts = []

    def open_page(path, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.foreign, page.problems = [], []

        def gate(route):
            if route.request.url.startswith((site, "data:", "blob:")):
                route.continue_()
            else:
                page.foreign.append(route.request.url)
                route.abort()

        page.route("**/*", gate)
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on(
            "response",
            lambda r: r.status >= 400 and page.problems.append(r.url),
        )
        page.goto(f"{site}/{path}", wait_until="load")
        return page

    yield open_page
    for context in contexts:
        context.close()
