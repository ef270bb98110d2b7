"""A teacher drops two chapters and adds one: the book follows _toc.yml.

In a copy of the whole tree.  ``make check-fork`` runs this, with the validated
outputs of the book at hand; it is no part of ``make test``.
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
OWN = "17_a_chapter_of_ones_own"
EXERCISE = """
```{{exercise-start}}
:label: ex-own-{0}
```
What is $k$ at a distance of {0}?
```{{exercise-end}}
```

```{{solution-start}} ex-own-{0}
:class: dropdown
```
$e^{{-{0}^2}}$.
```{{solution-end}}
```
"""
WORLD = '''"""A chapter of one's own."""

import numpy as np
from worlds import world


@world("eq-own-determinant")
def _(rng):
    k = rng.uniform(0.1, 0.9)
    return {"k": k, r"\\mathbf K": np.array([[1.0, k], [k, 1.0]])}
'''


@pytest.fixture(scope="module")
def fork(tmp_path_factory):
    """The tree in a folder with a space and an accent, changed."""
    root = tmp_path_factory.mktemp("fork") / "ein schönes Buch"
    leave = shutil.ignore_patterns(".git", ".venv*", "html", ".doctrees")
    shutil.copytree(ROOT, root, ignore=leave)
    toc = (root / "_toc.yml").read_text("utf-8")
    first, second = (page.name for page in (chapters()[9], chapters()[12]))
    for name in (first, second):
        toc = toc.replace(f"      - file: {name}\n", "")
    last = f"      - file: {chapters()[-1].name}\n"
    toc = toc.replace(last, f"{last}      - file: chapters/{OWN}\n")
    (root / "_toc.yml").write_text(toc, "utf-8")
    text = (ROOT / "tests" / "data" / "own_chapter.myst").read_text("utf-8")
    exercises = "".join(map(EXERCISE.format, range(1, 5)))
    text = text.replace("EXERCISES", exercises)
    (root / "chapters" / f"{OWN}.md").write_text(text, "utf-8")
    world = root / "tests" / "worlds" / "chapter_17.py"
    world.write_text(WORLD, "utf-8")
    return root


def run(fork, *command):
    path = os.pathsep.join([str(fork), str(fork / "tests")])
    program = Path(sys.executable)
    if command[0] == "jupyter-book":
        command = (program.with_name(command[0]), *command[1:])
    else:
        command = (program, "-m", *command)
    done = subprocess.run(
        command,
        cwd=fork,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def test_the_book_of_another_teacher_is_green(fork):
    """As README says it is done by hand; only what is new has to run."""
    own, passed = f"chapters/{OWN}.md", fork / "_build" / "passed"
    quiet = ["pytest", "-q", "-n", "2", "--dist", "loadfile"]
    run(fork, *quiet, own, "--update-expected", "--executed", passed)
    run(fork, "press.outputs", passed)
    build = ["--warningiserror", "--nitpick", "--keep-going", "--quiet"]
    run(fork, "jupyter-book", "build", *build, ".")
    said = run(
        fork,
        *quiet,
        "-m",
        "not browser and not fork",
        "tests/book",
        "tests/worlds",
    )
    assert re.search(r"typeset equations executed: \d+ of \d+", said)
    run(fork, *quiet, "-m", "browser", "tests/book")
    pages = {path.stem for path in (fork / "_build/html/chapters").iterdir()}
    assert OWN in pages
    assert not {chapters()[9].path.stem, chapters()[12].path.stem} & pages
