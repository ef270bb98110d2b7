"""What the library warns of: jitter, and searches that ended too early.

Bad input raises a ``ValueError`` instead.  To turn a warning into an error,
write ``warnings.simplefilter("error", ConvergenceWarning)``.
"""


class JitterWarning(UserWarning):
    """A matrix was positive definite on paper but not in floating point."""


class ConvergenceWarning(UserWarning):
    """A search ended before it reached its goal; see the result's status."""
