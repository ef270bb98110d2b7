"""Hypothesis tries the same examples everywhere, however slow the machine."""

from hypothesis import settings

settings.register_profile("book", deadline=None, derandomize=True)
settings.load_profile("book")
