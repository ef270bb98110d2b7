"""Do the book's claims hold for other random draws?  ``make reseed``.

Each chapter is run several times.  In each run every seed, of its cells and of
the library, stands for other random numbers.  Outputs are not compared: the
statements that fail are counted.  A failure is noted and the next statement is
tried, so that one unlucky draw hides no other.

A cell tagged ``one-seed`` says in its text that it holds for this draw only:
its failures are listed apart.
"""

import argparse
import ast
import io
import sys
import traceback
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from itertools import product
from multiprocessing import get_context
from numbers import Integral
from typing import NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from numpy.random import RandomState, default_rng

from press.reader import notebooks

matplotlib.use("agg")


class Place(NamedTuple):
    """A line of a chapter at which a run failed."""

    one_seed: bool
    chapter: str
    cell: int
    code: str


def reseed(run):
    """From now on the number of the run is part of every seed.

    All generators are made in these two ways: the library's and SciPy's by
    the first, those of scikit-learn's ``random_state`` by the second.
    """

    def other(seed):
        return [run, seed] if isinstance(seed, Integral) else seed

    class Reseeded(RandomState):
        def __init__(self, seed=None):
            super().__init__(other(seed))

    vars(np.random).update(
        default_rng=lambda seed=None: default_rng(other(seed)),
        RandomState=Reseeded,
    )
    np.random.mtrand._rand = Reseeded()  # it has to be of the same class


def failures(page, run):
    """Place and message of each failure in one run of a page."""
    reseed(run)
    main, names = sys.modules["__main__"], {"__name__": "__main__"}
    found: dict[Place, str] = {}
    for number, cell in enumerate(page.cells):
        for error in errors(cell.source, names):
            # A name may be missing because the line that defines it failed.
            if not (found and isinstance(error, NameError)):
                line = failing_line(cell.source, error)
                tagged = "one-seed" in cell.metadata.get("tags", [])
                place = Place(tagged, page.path.stem, number, line)
                said = " ".join(f"{type(error).__name__}: {error}".split())
                found.setdefault(place, said[:120].removesuffix(":"))
        plt.close("all")
    sys.modules["__main__"] = main  # IPython, which a figure starts, took it
    return found


def errors(source, names):
    """What the statements of a cell raise, each tried in its turn."""
    for statement in ast.parse(source).body:
        code = compile(ast.Module([statement], []), "<cell>", "exec")
        unread = io.StringIO()
        try:
            with redirect_stdout(unread), redirect_stderr(unread):
                exec(code, names)
        except Exception as error:
            yield error


def failing_line(source, error):
    """The line of the cell that failed, innermost in the traceback."""
    lines = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == "<cell>"
    ]
    return source.splitlines()[lines[-1] - 1].strip()


def try_all(pages, seeds):
    """Where something failed, under which seeds, and what was said."""
    trials = list(product(pages, range(1, seeds + 1)))
    failed: dict[Place, dict[int, str]] = defaultdict(dict)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        found = pool.map(failures, *zip(*trials, strict=True))
        for (_, run), here in zip(trials, found, strict=True):
            for place, said in here.items():
                failed[place][run] = said
    return failed


def report(failed, seeds):
    """Two lines for each place, those of cells tagged one-seed at the end."""
    claims = [place for place in failed if not place.one_seed]
    for number, place in enumerate(sorted(failed)):
        if number == len(claims):
            yield "In cells that say they hold for one draw only:"
        runs = failed[place]
        said, which = next(iter(runs.values())), ", ".join(map(str, runs))
        yield f"{place.chapter}, cell {place.cell}: {place.code}"
        yield f"    fails under {len(runs)} of {seeds} ({which}): {said}"
    yield f"{len(claims)} claims fail under some of {seeds} seeds."


def chosen(pages, numbers):
    names = tuple(numbers or [""])
    return [page for page in pages if page.path.name.startswith(names)]


def main(pages, arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("chapters", nargs="*", help="numbers, such as 02 13")
    option = parser.parse_args(arguments)
    pages = chosen(pages, option.chapters)
    if not pages:
        parser.error(f"the book has no chapter {option.chapters}")
    failed = try_all(pages, option.seeds)
    print(*report(failed, option.seeds), sep="\n")
    sys.exit(any(not place.one_seed for place in failed))


if __name__ == "__main__":
    main(notebooks())
