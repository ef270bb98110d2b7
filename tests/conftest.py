"""Hypothesis tries the same examples everywhere, however slow the machine."""

from hypothesis import settings

settings.register_profile("book", deadline=None, derandomize=True)
settings.load_profile("book")


def pytest_terminal_summary(terminalreporter):
    """How many typeset equations held, and what tests have to report."""
    from worlds import equations

    reports = terminalreporter.stats.get("passed", [])
    held = sum("test_typeset_equation_holds" in r.nodeid for r in reports)
    if held:
        terminalreporter.write_line(
            f"typeset equations executed: {held} of {len(equations())}"
        )
    for report in reports:
        for name, line in report.user_properties:
            if name == "summary" and report.when == "call":
                terminalreporter.write_line(line)
    for line in worst(reports):
        terminalreporter.write_line(line)


def worst(reports):
    """Of what was measured on every page: the most, and where."""
    found = [
        (name, value, about["page"])
        for report in reports
        if report.when == "call"
        for kind, about in report.user_properties
        if kind == "measured"
        for name, value in about.items()
        if name != "page"
    ]
    for name in dict.fromkeys(name for name, _, _ in found):
        value, page = max((v, page) for n, v, page in found if n == name)
        yield f"most {name}: {value} ({page})"
