"""A teacher drops two chapters and adds one: the book follows _toc.yml.

In a copy of the whole tree.  ``make check-fork`` runs this, with the book and
its validated outputs at hand: what a fork leaves as it is, the book's own
tests have seen, and only what it changes is tried again.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from press.reader import ROOT, chapters

pytestmark = pytest.mark.fork
DATA = ROOT / "tests" / "data"
LAST = chapters()[-1]
NUMBER = int(LAST.number) + 1
OWN = f"{NUMBER}_a_chapter_of_ones_own"
DROPPED = chapters()[9], chapters()[12]
# Tests of equations, of pages and of what has nothing to do with chapters.
SEEN = (
    "latex_parses or equation_holds or mutants or balance or guards"
    " or nothing_is_wrong or test_live or test_reader or test_readme"
)


@pytest.fixture(scope="module")
def fork(tmp_path_factory):
    """The tree in a folder with a space and an accent, changed."""
    root = tmp_path_factory.mktemp("fork") / "ein schönes Buch"
    leave = [".git", ".venv*", ".*_cache", "html", "first", ".doctrees"]
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*leave))
    entry = "      - file: {}\n".format
    toc = (root / "_toc.yml").read_text("utf-8")
    for page in DROPPED:
        toc = toc.replace(entry(page.name), "")
    last = entry(LAST.name)
    toc = toc.replace(last, last + entry(f"chapters/{OWN}"))
    (root / "_toc.yml").write_text(toc, "utf-8")
    shutil.copy(DATA / "own_chapter.myst", root / "chapters" / f"{OWN}.md")
    world = root / "tests" / "worlds" / f"chapter_{NUMBER}.py"
    shutil.copy(DATA / "own_world.txt", world)
    return root


def run(fork, program, *arguments):
    path = os.pathsep.join([str(fork), str(fork / "tests")])
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=fork,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def text_of(page):
    """What a page has for itself, without the contents around it."""
    page = page.read_bytes() if page.exists() else b""
    return re.findall(rb"<article.*</article>", page, re.S)


def test_the_book_of_another_teacher_is_green(fork):
    """As README says it is done by hand; only what is new has to run."""
    own = f"chapters/{OWN}.md"
    run(fork, "pytest", own, "--update-expected", "--executed")
    build = ["--warningiserror", "--nitpick", "--keep-going", "--quiet"]
    run(fork, "jupyter-book", "build", *build, ".")
    html, here = fork / "_build" / "html", ROOT / "_build" / "html"
    pages = [path.relative_to(html) for path in html.rglob("*.html")]
    stems = {page.stem for page in pages}
    assert OWN in stems and stems.isdisjoint(p.path.stem for p in DROPPED)
    changed = [p for p in pages if text_of(html / p) != text_of(here / p)]
    which = " or ".join(["eq-own", *(page.as_posix() for page in changed)])
    apart = "not fork and not live and not paper and not zh"
    options = ["-n", "2", "-m", apart]
    options += ["-k", f"not ({SEEN}) or {which}"]
    said = run(fork, "pytest", *options, "tests/book", "tests/worlds")
    assert re.search(r"typeset equations executed: 1 of \d+", said)
