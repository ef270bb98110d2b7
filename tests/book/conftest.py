"""The book, served on this machine, and one Chromium to read it."""

import http.server
import os
import shutil
from contextlib import ExitStack
from functools import cache, partial
from threading import Thread

import pytest
from pages import HTML, PAGES, SITE
from playwright.sync_api import sync_playwright

from press.reader import ROOT

JUDGES = ROOT / "tests" / "judges.js"
# Other hosts do not exist; a page that asks for one is noted below.
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *args):
        """A browser that leaves before all has arrived is no error."""


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def serve():
    """Serve a folder; what is not there gets the book's page for that."""
    with ExitStack() as servers:

        def start(folder):
            assert PAGES, "no pages: run `make book` first"
            lost = (SITE / "404.html").read_text("utf-8")
            Handler.error_message_format = lost.replace("%", "%%")
            handler = partial(Handler, directory=str(folder))
            server = servers.enter_context(Server(("127.0.0.1", 0), handler))
            servers.callback(server.shutdown)
            Thread(target=server.serve_forever, daemon=True).start()
            return f"http://127.0.0.1:{server.server_port}"

        yield start


@pytest.fixture(scope="session")
def site(serve):
    """The address of the book."""
    return serve(HTML)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        # The shell has no window of its own to draw, and is quicker for it.
        names = ["chromium-headless-shell", "chromium", "google-chrome"]
        found = next(filter(None, map(shutil.which, names)), None)
        how = {"executable_path": found, "args": ["--disable-gpu", ALONE]}
        try:
            chromium = playwright.chromium.launch(**how)
        except Exception as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(
                "no Chromium here: install chromium-headless-shell, or run "
                f"`playwright install chromium` ({type(error).__name__})"
            )
        yield chromium
        chromium.close()


def open_page(context, home, path, instead=()):
    """A page that notes what goes wrong, such as a call to another host.

    ``instead`` has answers of our own to some of what it asks for.
    """
    page = context.new_page()
    page.problems = []

    def note(event, words, is_wrong):
        def heard(about):
            if is_wrong(about):
                page.problems.append(f"{words}: {about}")

        page.on(event, heard)

    ours = (home, "data:", "blob:")
    note("request", "asks another host", lambda r: not r.url.startswith(ours))
    note("requestfailed", "gets no answer", lambda r: r.method != "HEAD")
    note("response", "gets a bad answer", lambda r: r.status >= 400)
    note("pageerror", "stumbles", bool)
    for address, answer in dict(instead).items():
        page.route(address, answer)
    page.add_init_script(path=JUDGES)
    page.meter = context.new_cdp_session(page)
    page.meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{home}/{path}", wait_until="load")
    return page


@pytest.fixture
def visit(browser, site):
    """Open a page as a reader who comes for the first time."""
    contexts = []

    def arrive(path, home=site, instead=(), **options):
        contexts.append(browser.new_context(**options))
        return open_page(contexts[-1], home, path, instead)

    yield arrive
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def reader(browser, site):
    """Pages left open, each fetched once."""
    with browser.new_context() as context:
        yield cache(partial(open_page, context, site))
