"""The flights of chapter 24: nothing that is known later, nothing invented."""

import json

import numpy as np
import pandas as pd
import pytest

from press.reader import CHAPTERS

DATA = CHAPTERS / "data"


def flights():
    """Three days at two airports, a flight every ten minutes or so."""
    rng, rows = np.random.default_rng(0), []
    for day in (1, 2, 3):
        for minute in range(300, 1380, 9):
            late = rng.integers(-5, 90)
            rows.append(
                {
                    "year": 2013,
                    "month": 1,
                    "day": day,
                    "hour": minute // 60,
                    "minute": minute % 60,
                    "dep_delay": np.nan if late == 30 else float(late),
                    "carrier": "AB"[minute % 2],
                    "origin": ["JFK", "LGA"][minute // 9 % 2],
                    "distance": 500 + minute,
                }
            )
    return pd.DataFrame(rows)


def weather():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        [
            {
                "origin": origin,
                "year": 2013,
                "month": 1,
                "day": day,
                "hour": hour,
                **dict(
                    zip(
                        ("temp", "humid", "wind_speed", "precip", "visib"),
                        rng.uniform(0, 10, 5),
                        strict=True,
                    )
                ),
            }
            for origin in ("JFK", "LGA")
            for day in (1, 2, 3)
            for hour in range(24)
        ]
    )


def planned(table):
    return 1440 * (table.day - 1) + 60 * table.hour + table.get("minute", 0)


def test_nothing_of_an_hour_before_departure_or_later_is_used():
    """Change all that happens from then on: no column changes."""
    from benchmarks.flights import known_an_hour_before

    air, sky = flights(), weather()
    known = known_an_hour_before(air, sky)
    for row in (40, 155, 300):
        now = planned(air)[row] - 60
        left = planned(air) + air.dep_delay
        other, storm = air.copy(), sky.copy()
        later = ~(left <= now)
        other.loc[later, "dep_delay"] = 500.0 + np.arange(later.sum())
        coming = planned(sky) + 60 > now
        storm.loc[coming, ["temp", "humid", "wind_speed", "precip"]] = 7.0
        changed = known_an_hour_before(other, storm)
        pd.testing.assert_series_equal(changed.loc[row], known.loc[row])
        assert not changed.loc[row + 12 :].equals(known.loc[row + 12 :])


def test_the_airports_columns_are_what_they_say():
    """By a slow loop over all flights."""
    from benchmarks.flights import known_an_hour_before

    air = flights()
    known = known_an_hour_before(air, weather())
    when, left = planned(air), planned(air) + air.dep_delay
    for row in range(0, len(air), 17):
        now = when[row] - 60
        same = air.origin == air.origin[row]
        gone = same & (left > now - 120) & (left <= now)
        waits = same & (when > now - 180) & (when <= now) & ~(left <= now)
        assert known.gone[row] == gone.sum()
        assert known.waiting[row] == pytest.approx(waits.sum() ** 0.5)
        mean = air.dep_delay[gone].mean() if gone.any() else 0.0
        assert known.late[row] == pytest.approx(np.arcsinh(mean / 10))


def test_the_sample_is_of_the_published_flights():
    from benchmarks.flights import table

    rows, flights = table()
    record = json.loads((DATA / "flights.json").read_text("utf-8"))
    assert (flights, len(rows.t)) == (record["flights"], record["arrived"])
    with np.load(DATA / "flights.npz") as file:
        early = file["month"] <= 10
        for part, step in [
            (rows.only(rows.month <= 10), 34),
            (rows.only(rows.month > 10), 13),
        ]:
            mine = early if step == 34 else ~early
            assert np.array_equal(file["t"][mine], part.t[::step])
            assert np.array_equal(file["day"][mine], part.day[::step])
            np.testing.assert_allclose(
                file["X"][mine], part.X[::step], atol=1e-4
            )
    test = rows.only(rows.month > 10)
    by_day = np.bincount(test.day - test.day.min())
    assert record["test flights"] == by_day.tolist()
    for result in record["results"]:
        if "squares" in result:
            mean = sum(result["squares"]) / len(test.t)
            assert mean == pytest.approx(result["rmse"] ** 2, rel=1e-4)
