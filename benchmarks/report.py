"""The machine, the table, and the file that keeps them."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers

RESULTS = Path(__file__).with_name("results.json")
COLUMNS = (58, 11, 15, 7, 6)


def machine():
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "threads": 1,
    }


def _processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(x for x in lines if x.startswith("model name"))[
            13:
        ].strip()
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def heading():
    titles = ("operation", "ours, s", "against", "ratio", "goal")
    return _line(*titles)


def rows(result):
    """One line for each peer and limit: ratio, goal, and a mark if missed."""
    seconds, goals = result["seconds"], result["goals"]
    name = f"{result['operation']}, N = {result['N']}"
    name += f", {result['series']}" if result["series"] else ""
    ours = f"{seconds['kernelbook']:.4f}"
    others = [other for other in seconds if other != "kernelbook"]
    if not others:
        yield _line(name, ours, "", "", "") + _remark(result)
    for other in others:
        yield compared(
            name, ours, other, seconds["kernelbook"] / seconds[other], goals
        )
        name = ours = ""
    for other, peak in result["memory"].items():
        goal = goals if other == "kernelbook" else {}
        label = "memory" if other == "kernelbook" else f"memory {other}"
        yield compared("", "", label, peak, goal)


def compared(name, ours, other, ratio, goals):
    goal = goals.get(other)
    missed = "  missed" if goal is not None and ratio > goal else ""
    return _line(name, ours, other, f"{ratio:.2f}", goal or "") + missed


def summary(results):
    """What the goals say of all SVM cases together."""
    cases = [r for r in results if r["operation"].startswith("SVM dual, Gram")]
    if not cases:
        return
    ratio = {
        r["series"]: r["seconds"]["kernelbook"] / r["seconds"]["scikit-learn"]
        for r in cases
    }
    hard = [x for series, x in ratio.items() if series.endswith("C = 1000")]
    name = "SVM dual, geometric mean"
    mean = lambda x: float(np.exp(np.mean(np.log(x))))  # noqa: E731
    yield compared(
        name, "", "scikit-learn", mean(list(ratio.values())),
        {"scikit-learn": 1.0},
    )  # fmt: skip
    yield compared(
        f"{name}, C = 1000", "", "scikit-learn", mean(hard),
        {"scikit-learn": 0.5},
    )  # fmt: skip


def write(results, quick, path=RESULTS):
    """Record the results; others that the file holds stay in it."""
    old: dict[str, Any] = {"peers": {}, "results": []}
    if path.exists():
        old = json.loads(path.read_text("utf-8"))
    present = {name: v for name, v in peers.versions().items() if v}
    new = {_key(r) for r in results}
    record = {
        "machine": machine(),
        "peers": old["peers"] | present,
        "quick": quick,
        "results": [r for r in old["results"] if _key(r) not in new] + results,
    }
    text = json.dumps(rounded(record), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _key(result):
    return result["operation"], result["series"], result["N"]


def rounded(value):
    """Four digits are more than a second run reproduces."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: rounded(v) for key, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


def _remark(result):
    facts = result.get("far") or result.get("certificate") or {}
    return ", ".join(
        f"{key} {value:.1e}" if isinstance(value, float) else f"{key} {value}"
        for key, value in facts.items()
    )


def _line(*cells):
    first, *others = (str(c) for c in cells)
    widths = COLUMNS[1:]
    return f"{first:{COLUMNS[0]}}" + "".join(
        f"{cell:>{width}}" for cell, width in zip(others, widths, strict=True)
    )
