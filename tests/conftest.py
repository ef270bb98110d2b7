"""Hypothesis tries the same examples everywhere, however slow the machine."""

from hypothesis import settings

settings.register_profile("book", deadline=None, derandomize=True)
settings.load_profile("book")


def pytest_terminal_summary(terminalreporter):
    """How many equations held, and what tests report."""
    from worlds import equations

    reports = terminalreporter.stats.get("passed", [])
    held = sum("test_typeset_equation_holds" in r.nodeid for r in reports)
    if held:
        terminalreporter.write_line(
            f"typeset equations executed: {held} of {len(equations())}"
        )
    for _, said in [p for r in reports for p in r.user_properties]:
        terminalreporter.write_line(said)
