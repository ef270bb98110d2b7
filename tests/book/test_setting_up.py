"""What `make` says when it cannot set up its environment."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_an_index_out_of_reach_is_named_in_one_line(tmp_path):
    done = subprocess.run(
        ["make", f"VENV={tmp_path}/venv", "book"],
        cwd=ROOT,
        env={
            **os.environ,
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_FIND_LINKS": "",
            "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
            "PIP_NO_CACHE_DIR": "1",
            "PIP_RETRIES": "1",
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    first, *rest = done.stderr.splitlines()
    assert first.startswith("No package index can be reached")
    assert all(line.startswith("make") for line in rest)
