"""The book, served on this machine, and one Chromium to read it."""

import functools
import http.server
import os
import shutil
import threading

import pytest
from pages import HTML, PAGES
from playwright.sync_api import sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Other hosts do not exist; a page that asks for one is noted below.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder; what is not there gets the book's page for that."""

    def handle_error(self, *args):
        """A browser that leaves before all has arrived is no error."""


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files

    def log_message(self, *args):
        pass

    def send_error(self, code, *args):
        page = HTML / "404.html"
        if code != 404 or not page.exists():
            return super().send_error(code, *args)
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@pytest.fixture(scope="session")
def serve():
    """Serve a folder; gives the address."""
    servers = []

    def start(folder):
        handler = functools.partial(Handler, directory=str(folder))
        server = Server(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def site(serve):
    assert PAGES, "no pages: run `make book` first"
    return serve(HTML)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        # The shell has no window of its own to draw, and is quicker for it.
        names = ["chromium-headless-shell", "chromium", "google-chrome"]
        found = next(filter(None, map(shutil.which, names)), None)
        try:
            chromium = playwright.chromium.launch(
                executable_path=found, args=FLAGS
            )
        except Exception as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(
                "no Chromium here: install chromium-headless-shell, or run "
                f"`playwright install chromium` ({type(error).__name__})"
            )
        yield chromium
        chromium.close()


def watch(page, site):
    """Note what a page asks for, of whom, and what goes wrong."""
    page.foreign, page.problems, page.asked = [], [], []

    def note(request):
        page.asked.append(request.url)
        if not request.url.startswith((site, "data:", "blob:")):
            page.foreign.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on(
        "response", lambda r: r.status >= 400 and page.problems.append(r.url)
    )
    return page


@pytest.fixture
def visit(browser, site):
    """Open a page as a reader who comes for the first time."""
    contexts = []

    def open_page(path, at=site, before=None, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = watch(context.new_page(), at)
        if before:
            page.add_init_script(before)
            page.meter = context.new_cdp_session(page)
            page.meter.send(
                "Performance.enable", {"timeDomain": "threadTicks"}
            )
        page.goto(f"{at}/{path}", wait_until="load")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def reader(browser, site):
    """Pages left open on a desk, each fetched once."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    pages = {}

    def open_page(path):
        if path not in pages:
            pages[path] = watch(context.new_page(), site)
            pages[path].goto(f"{site}/{path}", wait_until="load")
        pages[path].bring_to_front()
        return pages[path]

    yield open_page
    context.close()
