"""Long work says how far it is, and how it ended: on stderr, and by warning.

One convention for every function that may take long: it has an argument
``progress`` (True), reports after ten seconds of computing and then every ten,
and its result has a ``status``, which is "converged" or says why not.
"""

import sys
import time
import warnings

from kernelbook.exceptions import ConvergenceWarning

EVERY = 10.0  # seconds of computing between two reports
CONVERGED = "converged"


class Progress:
    """Reports on stderr, the first after ten seconds of computing.

    Not of waiting: on a busy machine nobody would know what to expect.  Only
    where others compute is it the ``waiting`` that counts.
    """

    def __init__(
        self, name: str, wanted: bool = True, waiting: bool = False
    ) -> None:
        self.name, self.wanted, self.waiting = name, wanted, waiting
        self.start = self.shown = self._now() if wanted else 0.0
        self.looked = time.monotonic()

    def __call__(self, text: str) -> None:
        """Say ``text``, if the last report is ten seconds old."""
        # The clock on the wall is the cheap one to read.
        if not self.wanted or time.monotonic() - self.looked < EVERY:
            return
        self.looked, now = time.monotonic(), self._now()
        if now - self.shown >= EVERY:
            self.shown = now
            seconds = f"{now - self.start:.0f} s"
            print(f"{self.name}: {seconds}, {text}", file=sys.stderr)

    def _now(self) -> float:
        return time.monotonic() if self.waiting else time.process_time()


def warn_unless_converged(
    status: str, name: str, advice: str, stacklevel: int = 3
) -> None:
    """A ConvergenceWarning that says who stopped, why, and what helps."""
    if status != CONVERGED:
        warnings.warn(
            f"{name} ended before its goal ({status}): {advice}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
