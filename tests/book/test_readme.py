"""What the README tells people to type works."""

import re
import subprocess

from press.reader import ROOT

README = (ROOT / "README.md").read_text("utf-8")
REGISTRY = r"https?://[^ )\"]*(/simple\b|pypi|registry\.|mirror|deb\.debian)"


def make(*arguments):
    return subprocess.run(
        ["make", *arguments], cwd=ROOT, capture_output=True, text=True
    )


def test_the_python_example_runs():
    (example,) = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)
    exec(compile(example, "README.md", "exec"), {})


def test_every_make_target_exists():
    targets = re.findall(r"make ([a-z]+)", README)
    assert {"book", "test"} < set(targets)
    done = make("--dry-run", *targets)
    assert done.returncode == 0, done.stderr


def test_old_python_is_refused_in_one_line(tmp_path):
    old = tmp_path / "python3.8"
    old.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8.0\nexit 1'
    )
    old.chmod(0o755)
    done = make(f"PYTHON={old}", f"VENV={tmp_path}/venv", "book")
    assert done.returncode != 0
    (said,) = re.findall(r"^(?!make(?:\[\d+\])?: ).+", done.stderr, re.M)
    assert "needs Python 3.11 or newer" in said and "Python 3.8.0" in said


def test_no_page_of_the_repository_names_a_package_registry():
    pages = ("README.md", "CONTRIBUTING.md", "constraints.txt", "Makefile")
    texts = {name: (ROOT / name).read_text("utf-8") for name in pages}
    assert not [name for name in pages if re.search(REGISTRY, texts[name])]
