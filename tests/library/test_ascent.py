"""The climb of a function of positive numbers, and how long work reports."""

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import OptimizeResult

from kernelbook import _ascent, _progress
from kernelbook.exceptions import ConvergenceWarning


def climber(function, **given):
    """An ascent over the logarithms of all the given numbers but ``c``."""
    names = [name for name in given if name != "c"]
    quiet = _progress.Progress("climb", wanted=False)
    return _ascent.Ascent(function, given, names, quiet)


def hill(at):
    """-(ln a - 1)² - 3 (ln b + 2)² - c, with its slopes in ln a and ln b."""
    u, v = np.log(at["a"]) - 1, np.log(at["b"]) + 2
    return -(u**2) - 3 * v**2 - at["c"], {"a": -2 * u, "b": -6 * v}


def slope(at):
    return np.log(at["a"]) - np.log(at["b"]), {"a": 1.0, "b": -1.0}


def test_a_climb_ends_on_the_top_and_tells_its_way():
    ascent = climber(hill, a=2.0, b=5.0, c=7.0)
    climb = ascent.climb(np.array([0.5, -0.25]), 50)
    start = {"a": 2 * np.exp(0.5), "b": 5 * np.exp(-0.25), "c": 7.0}
    assert climb.start == pytest.approx(start)
    assert climb.end == pytest.approx(
        {"a": np.exp(1), "b": np.exp(-2), "c": 7.0}, rel=1e-4
    )
    assert_allclose([climb.value, ascent.best], -7, atol=1e-6)
    assert climb.converged and climb.edge == ()
    assert ascent.climbs == 1


def test_a_climb_reports_every_look_at_the_function_and_the_best_so_far():
    seen, said = [], []

    def function(at):
        seen.append(hill(at))
        return seen[-1]

    ascent = climber(function, a=2.0, b=5.0, c=7.0)
    ascent.progress = said.append
    ends = [ascent.climb(np.zeros(2), 50), ascent.climb(np.ones(2), 50)]
    assert len(seen) == sum(climb.evaluations for climb in ends)
    best = np.maximum.accumulate([value for value, _ in seen])
    numbers = [(1, n + 1) for n in range(ends[0].evaluations)]
    numbers += [(2, n + 1) for n in range(ends[1].evaluations)]
    assert said == [
        f"start {start}, {number} evaluations, best {value:.2f}"
        for (start, number), value in zip(numbers, best, strict=True)
    ]


def test_no_climb_goes_further_than_a_million_times_the_values_given():
    ascent = climber(slope, a=2.0, b=5.0)
    climb = ascent.climb(np.zeros(2), 50)
    assert climb.end == pytest.approx({"a": 2e6, "b": 5e-6})
    assert climb.edge == ("a", "b")
    beyond = ascent.climb(np.array([99.0, -99.0]), 50)
    assert beyond.start == pytest.approx({"a": 2e6, "b": 5e-6})


def test_a_climb_that_may_not_look_often_says_so():
    climb = climber(hill, a=2.0, b=5.0, c=7.0).climb(np.zeros(2), 2)
    assert (climb.status, climb.converged) == ("max_iterations", False)


@pytest.mark.parametrize(
    ("slope", "gave_up", "status"),
    [
        (1e-4, 2, "converged"),
        (2e-4, 2, "stalled"),
        (1e-4, 1, "max_iterations"),  # it did not give up
    ],
)
def test_a_search_that_gives_up_has_converged_if_nothing_is_left(
    monkeypatch, slope, gave_up, status
):
    """½ gᵀHg = 5e-9 and 2e-8, over 1 + |f| = 5, against 2.2e-9."""
    end = OptimizeResult(
        x=np.zeros(2), jac=np.array([slope, 0.0]), fun=4.0, nfev=3
    )
    end |= {"status": gave_up, "hess_inv": np.eye(2)}
    monkeypatch.setattr(_ascent, "minimize", lambda *_, **__: end)
    climb = climber(hill, a=1.0, b=1.0, c=7.0).climb(np.zeros(2), 50)
    assert climb.status == status


@pytest.mark.parametrize(
    ("x", "slope", "gain"),
    [
        ([0.0, 0.0], [0.3, 0.4], (0.09 + 2 * 0.16) / 2 / 5),
        ([-1.0, 1.0], [0.3, 0.4], 2 * 0.16 / 2 / 5),  # x[0] pushes outward
        ([-1.0, 1.0], [-0.3, -0.4], 0.09 / 2 / 5),
    ],
)
def test_what_a_step_would_gain_is_counted_inside_the_box(x, slope, gain):
    """½ gᵀHg over 1 + |f|; minimised, so a positive slope pushes down."""
    end = OptimizeResult(
        x=np.array(x), jac=np.array(slope), fun=-4.0, hess_inv=np.diag([1, 2])
    )
    low, high = np.full(2, -1.0), np.ones(2)
    assert _ascent._gain(end, low, high) == pytest.approx(gain)


def cliff(at, over):
    """ln a - a, whose top is at 1, but beyond 1.2 there is nothing."""
    if at["a"] < 1.2:
        return np.log(at["a"]) - at["a"], {"a": 1 - at["a"]}
    if over is None:
        raise ValueError("a must be < 1.2")
    return over, {"a": over}


@pytest.mark.parametrize("over", [None, np.nan, np.inf])
def test_a_climb_turns_round_where_the_function_has_no_value(over):
    """From far below, where it is straight, the search goes too far."""
    seen = []

    def function(at):
        seen.append(at["a"])
        return cliff(at, over)

    climb = climber(function, a=1e-3).climb(np.zeros(1), 99)
    assert max(seen) > 1.2
    assert_allclose(climb.end["a"], 1, rtol=1e-4)
    assert_allclose(climb.value, -1)
    assert climb.converged


@pytest.mark.parametrize("over", [None, np.nan])
def test_only_the_first_start_must_have_a_value(over):
    ascent = climber(lambda at: cliff(at, over), a=1.0)
    ascent.climb(np.zeros(1), 9)
    lost = ascent.climb(np.array([5.0]), 9)
    there = pytest.approx({"a": np.exp(5)})
    assert (lost.start, lost.end, lost.value) == (there, there, -np.inf)
    assert (lost.evaluations, lost.status, lost.edge) == (1, "stalled", ())
    with pytest.raises(ValueError, match="must be"):
        climber(lambda at: cliff(at, over), a=3.0).climb(np.zeros(1), 9)


def test_beyond_the_known_there_is_a_bowl_around_the_last_known_place():
    def wall(at):
        if at["a"] > 1:
            raise ValueError("a must be at most 1")
        return hill(at)

    track = _ascent._Track(climber(wall, a=1.0, b=1.0, c=7.0))
    known, away = np.array([-1.0, 0.5]), np.array([1.5, -0.25])
    assert track.begins_at(known, must=True)
    value, slopes = hill({"a": np.exp(-1), "b": np.exp(0.5), "c": 7.0})
    seen, gradient = track.minus_function(known)
    assert_allclose(seen, -value)
    assert_allclose(gradient, [-slopes["a"], -slopes["b"]])
    seen, gradient = track.minus_function(known + away)
    steep = 100 * (1 + abs(value))
    assert_allclose(seen, -value + steep * (1.5**2 + 0.25**2))
    assert_allclose(gradient, steep * np.array([3.0, -0.5]))


# ------------------------------------------------------- how far the work is


@pytest.fixture
def clocks(monkeypatch):
    """The clock on the wall and that of the processor, set by hand."""
    now = {"monotonic": 100.0, "process_time": 500.0}
    for clock in now:
        monkeypatch.setattr(
            _progress.time, clock, lambda clock=clock: now[clock]
        )
    return now


def test_long_work_reports_after_ten_seconds_and_then_every_ten(
    clocks, capsys
):
    report = _progress.Progress("work")
    for seconds in (9.9, 0.1, 9.9, 0.5):
        for clock in clocks:
            clocks[clock] += seconds
        report(f"{seconds} later")
    err = capsys.readouterr().err
    assert err == "work: 10 s, 0.1 later\nwork: 20 s, 0.5 later\n"


@pytest.mark.parametrize("clock", ["monotonic", "process_time"])
def test_neither_waiting_nor_many_processors_make_work_long(
    clock, clocks, capsys
):
    report = _progress.Progress("work")
    clocks[clock] += 99.0
    report("never")
    assert capsys.readouterr().err == ""


def test_nothing_is_reported_that_is_not_wanted(clocks, capsys):
    report = _progress.Progress("work", wanted=False)
    for clock in clocks:
        clocks[clock] += 99.0
    report("never")
    assert capsys.readouterr().err == ""


def test_work_that_has_not_converged_warns_whoever_asked_for_it():
    def library_function(status):
        _progress.warn_unless_converged(status, "fit", "more steps")

    with pytest.warns(ConvergenceWarning) as seen:
        line = inspect.currentframe().f_lineno + 1
        library_function("max_iterations")
    (warning,) = seen
    assert str(warning.message) == (
        "fit ended before its goal (max_iterations): more steps"
    )
    assert (warning.filename, warning.lineno) == (__file__, line)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        library_function("converged")


def test_a_climb_that_ends_where_there_is_no_value_goes_back_and_says_so():
    def f(at):
        if at["a"] >= 2:
            raise ValueError("no value")
        u = np.log(at["a"]) - 1
        return -u * u, {"a": -2 * u}

    quiet = _progress.Progress("climb", wanted=False)
    climb = _ascent.Ascent(f, {"a": 0.1}, ["a"], quiet).climb(np.zeros(1), 99)
    assert climb.end["a"] < 2
    assert climb.value == f(climb.end)[0]
    assert climb.status == "stalled"
