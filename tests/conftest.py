"""Hypothesis tries the same examples everywhere, however slow the machine."""

from hypothesis import settings

settings.register_profile("book", deadline=None, derandomize=True)
settings.load_profile("book")


def pytest_terminal_summary(terminalreporter):
    """How many equations held; what tests report; the most they measured."""
    from worlds import equations

    reports = terminalreporter.stats.get("passed", [])
    held = sum("test_typeset_equation_holds" in r.nodeid for r in reports)
    if held:
        terminalreporter.write_line(
            f"typeset equations executed: {held} of {len(equations())}"
        )
    most: dict[str, tuple[float, str]] = {}
    for kind, said in [p for r in reports for p in r.user_properties]:
        if kind == "summary":
            terminalreporter.write_line(said)
        elif kind == "measured":
            page, found = said
            for name, value in found.items():
                most[name] = max((value, page), most.get(name, (value, page)))
    for name, (value, page) in most.items():
        terminalreporter.write_line(f"most {name}: {value} ({page})")
