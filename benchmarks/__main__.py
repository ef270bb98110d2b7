"""Measure the library against its peers: ``make bench``.

CPU time with one BLAS thread, runs interleaved, medians; results are compared
before anything is timed.  A ratio below 1 means kernelbook is faster.
"""

import argparse
import sys
import time

from benchmarks import operations, peers, report
from benchmarks.measure import DisagreementError, measure


def main():
    arguments = parser().parse_args()
    missing = [name for name, v in peers.versions().items() if v is None]
    for name in missing:
        print(f"MISSING: {name} is not installed and is left out of the table")
    print(report.heading(), flush=True)
    budget = arguments.seconds or (0.5 if arguments.quick else 3.0)
    start, results = time.monotonic(), []
    for name in arguments.only or operations.ALL:
        for case in operations.ALL[name](arguments.quick):
            if arguments.largest < case.N:
                continue
            _progress(f"{time.monotonic() - start:4.0f} s  {case} …")
            try:
                results.append(measure(case, budget))
            except DisagreementError as disagreement:
                _progress("")
                sys.exit(f"STOPPED: {disagreement}")
            _progress("")
            print(*report.rows(results[-1]), sep="\n", flush=True)
            if arguments.output:
                report.write(results, arguments.quick, arguments.output)
    print(*report.summary(results), sep="\n")
    print(f"{time.monotonic() - start:.0f} s in all")


def parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data only")
    parser.add_argument(
        "--only", nargs="+", choices=operations.ALL, help="some operations"
    )
    parser.add_argument(
        "--largest", type=int, default=10**9, help="leave out larger N"
    )
    parser.add_argument(
        "--seconds", type=float, help="for each case, so that few run once"
    )
    parser.add_argument("--output", type=report.Path, help="write JSON here")
    return parser


def _progress(text):
    """One line on stderr that the next one overwrites."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
