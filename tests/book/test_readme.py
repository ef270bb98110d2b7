"""What the README tells people to type works."""

import re
import subprocess

import pytest
from reading import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def test_the_python_example_runs():
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})


@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"make ([a-z]+)", README)) - {"t"})
)
def test_every_make_target_exists(target):
    done = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_old_python_is_refused_in_one_line(tmp_path):
    old = tmp_path / "python3.8"
    old.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8.0\nexit 1'
    )
    old.chmod(0o755)
    done = subprocess.run(
        ["make", f"PYTHON={old}", f"VENV={tmp_path}/venv", "book"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    said = [
        line
        for line in done.stderr.splitlines()
        if not re.match(r"make(\[\d+\])?: ", line)
    ]
    assert len(said) == 1
    assert "needs Python 3.11 or newer" in said[0]
    assert "Python 3.8.0" in said[0]


def test_no_page_of_the_repository_names_a_package_registry():
    pattern = (
        r"https?://[^ )\"]*(/simple\b|pypi|registry\.|mirror|deb\.debian)"
    )
    for name in [
        "README.md",
        "CONTRIBUTING.md",
        "constraints.txt",
        "Makefile",
    ]:
        assert not re.search(pattern, (ROOT / name).read_text("utf-8")), name
