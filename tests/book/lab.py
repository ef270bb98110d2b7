"""JupyterLab as `make lab` starts it: `make check-lab`, not part of pytest.

It runs in the environment of JupyterLab, which the other tests do without.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
from urllib.parse import urlsplit

import pytest

from press.reader import CHAPTERS, ROOT, Math, chapters

MODEL = chapters()[1]
TOKEN = "check"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the chapters, to be opened and saved."""
    return shutil.copytree(CHAPTERS, tmp_path_factory.mktemp("lab") / "copy")


@pytest.fixture(scope="module")
def address(folder):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = f"OPTIONS=--no-browser --allow-root --port={port}"
    with subprocess.Popen(
        ["make", "lab", f"FOLDER={folder}", options],
        cwd=ROOT,
        env={**os.environ, "JUPYTER_TOKEN": TOKEN},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as lab:
        said = iter(lab.stderr or [])
        assert any(f"127.0.0.1:{port}/lab" in line for line in said)
        yield f"http://127.0.0.1:{port}"
        os.killpg(lab.pid, signal.SIGTERM)


@pytest.fixture(scope="module")
def page(address, browser):
    """A chapter, on a screen that is tall enough to show it all."""
    page = browser.new_page(
        viewport={"width": 1200, "height": 30_000},
        extra_http_headers={"Authorization": f"token {TOKEN}"},
    )
    page.set_default_timeout(120_000)  # milliseconds: cells come one by one
    page.hosts = set()
    page.on("request", lambda r: page.hosts.add(urlsplit(r.url).hostname))
    page.goto(f"{address}/lab/workspaces/check/tree/{MODEL.path.name}?reset")
    page.locator("h2", has_text="Further reading").wait_for()
    return page


def test_equations_are_typeset_and_no_fence_is_left(page):
    def bare(latex):
        return re.sub(r"\s+", "", latex)

    shown = page.locator(".katex-display annotation").all_text_contents()
    printed = [math.latex for math in MODEL.of(Math) if math.display]
    assert {*map(bare, printed)} <= {*map(bare, shown)}
    assert "```" not in page.inner_text(".jp-Notebook")
    assert page.hosts == {"127.0.0.1"}, "nobody else is asked"


def test_saving_in_the_browser_changes_nothing(page, folder):
    path = folder / MODEL.path.name
    before = path.stat().st_mtime_ns
    page.click(".jp-Notebook h2")
    with page.expect_response(lambda r: r.request.method == "PUT"):
        page.keyboard.press("Control+s")
    assert path.stat().st_mtime_ns > before
    assert path.read_bytes() == MODEL.path.read_bytes()
