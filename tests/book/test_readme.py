"""What the README tells people to type works, or says in one line why not."""

import os
import re
import subprocess

from press.reader import ROOT

README = (ROOT / "README.md").read_text("utf-8")
REGISTRY = r"https?://[^ )\"]*(/simple\b|pypi|registry\.|mirror|deb\.debian)"


def make(*arguments, **environment):
    """Whether make succeeds, and what it says of its own on stderr."""
    done = subprocess.run(
        ["make", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    said = re.findall(r"^(?!make(?:\[\d+\])?: ).+", done.stderr, re.M)
    return done.returncode == 0, said


def test_the_python_example_runs_and_every_make_target_exists():
    (example,) = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)
    exec(compile(example, "README.md", "exec"), {})
    targets = re.findall(r"make ([a-z]+)", README)
    assert {"book", "test"} < set(targets)
    assert make("--dry-run", *targets) == (True, [])


def test_old_python_is_refused_in_one_line(tmp_path):
    old = tmp_path / "python3.8"
    old.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8.0\nexit 1'
    )
    old.chmod(0o755)
    good, (said,) = make(f"PYTHON={old}", f"VENV={tmp_path}/venv", "book")
    assert not good
    assert "needs Python 3.11 or newer" in said and "Python 3.8.0" in said


def test_an_index_out_of_reach_is_named_in_one_line(tmp_path):
    nowhere = {"CONFIG_FILE": os.devnull, "FIND_LINKS": "", "RETRIES": "1"}
    nowhere |= {"INDEX_URL": "http://127.0.0.1:9/simple", "NO_CACHE_DIR": "1"}
    settings = {f"PIP_{name}": value for name, value in nowhere.items()}
    good, (said,) = make(f"VENV={tmp_path}/venv", "book", **settings)
    assert not good
    assert said.startswith("No package index can be reached")


def test_no_page_of_the_repository_names_a_package_registry():
    pages = [ROOT / "Makefile", *ROOT.glob("*.md"), *ROOT.glob("*.txt")]
    for path in pages:
        assert not re.search(REGISTRY, path.read_text("utf-8")), path.name
