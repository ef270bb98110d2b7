"""How the dual of a support vector machine is solved.

The problem.  In v = α∘t the dual of chapter 19 reads: minimise

    ½ vᵀKv - tᵀv  subject to  Σ_n v_n = 0  and  low_n <= v_n <= high_n,

where low and high are 0 and C t_n in the right order.  A machine without bias
is one with bias and a phantom example more: k(x, ·) = 0, t = 0 and v without
bounds takes up whatever Σ_n v_n is not zero.

Regression (chapter 20) is the same problem with each example twice: once to
push its output up, with t_n - ε in place of t_n and 0 <= v <= C, and once to
pull it down, with t_n + ε and -C <= v <= 0.  Its coefficient is the sum of
the two v.

What one knows of a point.  Only v and e = t - Kv, minus the gradient.  To
raise v_i and to lower v_j by a small s gains s (e_i - e_j).

Optimality.  For some b, the bias: e_n <= b where v_n = low_n, e_n >= b where
v_n = high_n, and e_n = b between.  For the phantom that says b = e_n.

Certificate.  For every feasible v and every b,

    primal - dual = Σ_n max(e_n - b, 0) (high_n - v_n)
                      + max(b - e_n, 0) (v_n - low_n).

The best b is a median of e: as many e_n above it as there are v_n <= 0.

Rounding.  Because Σ_n v_n = 0, the inner products may be taken from any
origin in feature space.  If the examples are far from it, in units of their
distances to each other, it is moved to the one in their midst.  That adds the
same number to every e_n, hence to b, and e no longer drowns in the rounding
of Kv.

The stages, each begun only if the ones before have not ended within the
tolerance:

1. Pair steps (SMO) raise the v_i and lower the v_j that promise most.  They
   find out roughly which v are at their bounds.
2. Few rounds, if few v seem to be free.  A round is Newton's method, which
   guesses the free set and solves for it, and where that fails a descent on
   the free set and more pair steps.
3. Interior point on all v with K replaced by GGᵀ, if a narrow G will do, and
   Newton's method to make zeros of what should be zero.
4. Many rounds.
5. Interior point on the free v and the worst violators, then on twice as
   many, in the end on all.
"""

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigvalsh

from kernelbook import _checks, _interior_point, _progress
from kernelbook._checks import FloatArray
from kernelbook._rows import combined

BoolArray = NDArray[np.bool_]

EPS = float(np.finfo(float).eps)

# What is judged, and how strictly.
PROBE = 256  # a block of K this large is tested for definiteness up front
ROUNDING = 10.0  # rounding explains eigenvalues down to -this · eps · trace
BEYOND = 1e3  # an entry this many roundings off makes the solver look at K
FAR = 10.0  # examples this far off, in mean squared distances: move the origin
SURE = 1e-10  # Newton's method mends only what is wrong by more than this

# How long each stage tries.
ENOUGH = 0.005  # a first e_i - e_j to end at, in units of the range of t
PROGRESS = 0.9  # few rounds go on while each leaves no more of the gap
ROUNDS = 40  # after low-rank interior point
NEWTON_TRIES = 12  # free sets that one call of Newton's method may try
DROPS = 25  # bounds met in one descent: each costs a factorisation
SWEEPS = 50  # of a projection: each but the last puts a v on its bound
EXTRA = 100  # violators given to the first interior-point solve
ON_ALL = 8  # their number doubles up to this many times N: last, all v thrice

# How exact an interior-point solve is, before Newton's method.
LOW_RANK = 1e-4  # error of an output, in units of √N, that GGᵀ may cause
NOISE = 10.0  # and what G need not explain, in roundings of an entry of K
LOW_RANK_GOAL, SUBSET_GOAL = 1e-9, 1e-12  # duality gaps, relative to the dual
SPARSE = 4  # Kv is taken from rows if at most 1 in 4 is needed: for speed


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise ½ vᵀKv - tᵀv subject to Σv = 0 and low <= v <= high."""

    K: FloatArray
    t: FloatArray
    """Labels; or targets minus ε, and once more plus ε."""
    low: FloatArray
    high: FloatArray
    C: float
    bias: bool
    given: FloatArray
    """K as it came: not moved, each example once, without phantom."""
    eps: float
    """Precision to which the entries of K are known."""
    origin: int | None
    """The example at the origin, if that was moved."""

    @property
    def size(self) -> int:
        """Number of v, the phantom's apart."""
        return len(self.t) - (not self.bias)

    @property
    def tube(self) -> bool:
        """Whether it is regression, with two v for each example."""
        return self.size > len(self.given)

    @cached_property
    def scale(self) -> float:
        """Mean of the diagonal of K, the phantom apart; 1 if that is 0."""
        return float(self.K.diagonal()[: self.size].mean()) or 1.0

    @property
    def stride(self) -> float:
        """Length of a gradient step in v, a Newton step if K = scale · I."""
        return 1 / self.scale

    @property
    def long_stride(self) -> float:
        """The same for points of an interior-point method.

        Those that belong on a bound are off it, by μ / |e_n - b|.
        """
        return max(self.C, self.stride)

    @cached_property
    def flat(self) -> float:
        """Rounding error of an entry of K, or of the curvature of a pair."""
        return self.eps * (float(self.given.diagonal().max()) or 1.0)

    @property
    def quarter(self) -> int:
        """A quarter of the number of examples, 20 at least."""
        return max(len(self.t) // 4, 20)

    @property
    def tenth(self) -> int:
        """A tenth of the number of examples, 10 at least."""
        return max(len(self.t) // 10, 10)

    def biases(self, e: FloatArray) -> tuple[float, float]:
        """Ends of the interval of the biases with the smallest gap."""
        if not self.bias:
            return float(e[-1]), float(e[-1])
        N_plus = int((self.high > 0).sum())
        ordered = np.partition(e, [N_plus - 1, N_plus])
        return float(ordered[N_plus - 1]), float(ordered[N_plus])


def problem(
    K: FloatArray, t: FloatArray, C: float, bias: bool, eps: float = EPS
) -> Problem:
    """Classification: one v for each example."""
    low, high = np.minimum(0.0, C * t), np.maximum(0.0, C * t)
    return in_box(K, t, (low, high), C, bias, eps)


def tube_problem(
    K: FloatArray,
    t: FloatArray,
    C: float,
    epsilon: float,
    bias: bool,
    eps: float = EPS,
) -> Problem:
    """Regression: two v for each example, up and down."""
    none, most = np.zeros(len(t)), np.full(len(t), C)
    box = np.append(none, -most), np.append(most, none)
    targets = np.append(t - epsilon, t + epsilon)
    return in_box(K, targets, box, C, bias, eps)


def in_box(
    K: FloatArray,
    t: FloatArray,
    box: tuple[FloatArray, FloatArray],
    C: float,
    bias: bool,
    eps: float,
) -> Problem:
    """The problem in v, with phantom and moved origin if they are needed."""
    block = evenly_spaced(K)
    origin = midst(K, block)
    probe(K, block, eps)
    low, high = box
    given = K = np.ascontiguousarray(K)
    copies = len(t) // len(K)
    if copies > 1:
        K = np.tile(K, (copies, copies))
    if not bias:
        never = 2 * C * len(t)  # Σ|v| is at most half of this
        K, t = np.pad(K, (0, 1)), np.append(t, 0.0)
        low, high = np.append(low, -never), np.append(high, never)
    if origin is not None:
        K = seen_from(K, origin)
    return Problem(K, t, low, high, C, bias, given, eps, origin)


def midst(K: FloatArray, block: FloatArray) -> int | None:
    """The example nearest to the mean of all, if all are far from 0.

    Squared distances from the mean are K_nn - 2 mean_m K_nm, up to a number.
    Whether they are small is judged by a block of K.
    """
    size = float(block.diagonal().mean())
    if size <= FAR * (size - float(block.mean())):
        return None
    return int((K.diagonal() - 2 * K.mean(axis=0)).argmin())


def seen_from(K: FloatArray, r: int) -> FloatArray:
    """Inner products after the origin is moved: K_nm - K_rm - K_nr + K_rr.

    The first difference, of nearly equal numbers, is exact.
    """
    moved = K - K[r]
    moved -= moved[:, [r]]
    symmetric: FloatArray = (moved + moved.T) / 2
    return symmetric


@dataclass(frozen=True, eq=False)
class Point:
    """A feasible v with e = t - Kv, the best biases and its certificate."""

    v: FloatArray
    e: FloatArray
    biases: tuple[float, float]
    dual: float
    gap: float

    @property
    def b(self) -> float:
        """Middle of the interval of best biases."""
        return (self.biases[0] + self.biases[1]) / 2

    @property
    def relative_gap(self) -> float:
        """gap / primal; 1 where rounding leaves no primal above 0."""
        primal = self.dual + self.gap
        return self.gap / primal if self.dual >= 0 < primal else 1.0


def point_at(p: Problem, v: FloatArray, e: FloatArray | None = None) -> Point:
    """The point v; its e is computed if it is not known."""
    if e is None:
        e = p.t - times(p.K, v)
    biases = p.biases(e)
    excess = e - (biases[0] + biases[1]) / 2
    gap = np.where(excess > 0, p.high - v, p.low - v) @ excess
    return Point(v, e, biases, float(p.t @ v + e @ v) / 2, float(gap))


def recomputed(p: Problem, point: Point) -> Point:
    """The same point without what many small steps have left of rounding."""
    return point_at(p, balanced(p, point.v))


def balanced(p: Problem, v: FloatArray) -> FloatArray:
    """v with Σv = 0 as nearly as floating-point numbers allow.

    The smallest v inside the box takes up the rest, because it has the finest
    digits; what is then left of it is the phantom's.
    """
    v = v.copy()
    inside = np.flatnonzero((v > p.low) & (v < p.high))
    inside = inside[inside < p.size]
    if len(inside):
        n = inside[np.abs(v[inside]).argmin()]
        rest = v[n] - math.fsum(v.tolist())
        v[n] = min(max(rest, p.low[n]), p.high[n])
    if not p.bias:
        v[-1] = -math.fsum(v[:-1].tolist())
    return v


def outward(p: Problem, point: Point) -> Point:
    """v a little longer, so that rounding leaves no margin short of 1.

    A margin that falls short by δ costs C δ in the primal, and where no v_n
    reaches C that may be more than all the rest.  Then every v is multiplied
    by 1 + ε, which makes all margins longer, and the gap is about ε Σ_n |v_n|.
    A tube has no such direction.
    """
    if p.tube:
        return point
    N = p.size
    v, e, t = point.v[:N], point.e[:N], p.t[:N]
    short = max(0.0, float((t * (e - point.b)).max()))
    noise = EPS * float((np.abs(p.given) @ np.abs(v)).max())
    longer = 1 + 2 * short + 4 * noise
    if np.abs(v).max() * longer >= p.C:
        return point
    return recomputed(p, replace(point, v=longer * point.v))


def higher(one: Point, other: Point) -> Point:
    """The one with the higher dual."""
    return max(one, other, key=lambda point: point.dual)


def better(one: Point, other: Point) -> Point:
    """The one with the smaller relative gap."""
    return min(one, other, key=lambda point: point.relative_gap)


def times(K: FloatArray, v: FloatArray) -> FloatArray:
    """Kv, from the rows where v is not zero if they are few."""
    rows = np.flatnonzero(v)
    if SPARSE * len(rows) > len(v):
        return K @ v
    return combined(K, rows, v[rows])


def as_given(p: Problem, point: Point) -> tuple[FloatArray, FloatArray]:
    """v and e of the examples, seen from the origin that K came with.

    From there every e is lower by (Kv)_r = Σ_n (K_rn - K_rr) v_n + K_rr Σ_n
    v_n, where r is the example at the moved origin.  Rounding leaves Σ_n v_n
    a little off 0, and K_rr may be huge.
    """
    v, e = point.v[: p.size], point.e[: p.size]
    if p.origin is None:
        return v, e
    row = p.given[p.origin]
    corner = row[p.origin]
    a = v.reshape(-1, len(row)).sum(axis=0)
    return v, e - ((row - corner) @ a + corner * math.fsum(v))


def advice(status: str, relative_gap: float) -> str:
    """What helps a solver that has not ended within its tolerance."""
    helps = {
        "stalled": "rounding of K is in the way: "
        "standardise the inputs, or lower C",
        "memory": "with more memory it goes on, up to the whole of K",
    }.get(status, "with more time it goes on")
    return f"the relative gap is {relative_gap:.1e}; {helps}"


# ------------------------------------------------------------ the schedule


class Stop(Exception):  # noqa: N818
    """A limit was reached; the message is the status."""


class Watch:
    """Counts iterations and keeps the limits."""

    def __init__(
        self, max_iterations: int | None, max_seconds: float | None
    ) -> None:
        self.iterations = 0
        self.most = sys.maxsize if max_iterations is None else max_iterations
        seconds = math.inf if max_seconds is None else max_seconds
        self.deadline = time.monotonic() + seconds

    def spend(self, wanted: int) -> int:
        """Iterations granted, at most ``wanted``; none left: stop."""
        granted = min(wanted, self.most - self.iterations)
        if granted <= 0:
            raise Stop("max_iterations")
        if time.monotonic() > self.deadline:
            raise Stop("max_seconds")
        self.iterations += granted
        return granted


def limits(max_iterations: int | None, max_seconds: float | None) -> Watch:
    """The watch that a user's limits ask for, checked."""
    if max_iterations is not None:
        max_iterations = _checks.count(max_iterations, "max_iterations")
    if max_seconds is not None:
        max_seconds = _checks.positive(max_seconds, "max_seconds")
    return Watch(max_iterations, max_seconds)


class Search:
    """The best point so far, and whether the search is over."""

    def __init__(
        self,
        p: Problem,
        tolerance: float,
        watch: Watch,
        progress: _progress.Progress,
    ) -> None:
        self.p, self.tolerance = p, tolerance
        self.watch, self.progress = watch, progress
        self.best = point_at(p, np.zeros(len(p.t)))
        self.done = False

    def note(self, point: Point) -> None:
        """Remember a point if it is the best so far."""
        if point.relative_gap <= self.tolerance:
            point = recomputed(self.p, point)  # that may be rounding alone
        self.best = better(self.best, point)
        self.progress(
            f"{self.watch.iterations} iterations, "
            f"relative gap {self.best.relative_gap:.1e}"
        )

    def propose(self, v: FloatArray) -> Point:
        """A v whose zeros are exact: the search ends if it will do."""
        point = point_at(self.p, balanced(self.p, v))
        if point.relative_gap > self.tolerance:
            point = better(point, outward(self.p, point))
        self.done = point.relative_gap <= self.tolerance
        if self.done:
            self.best = point
        else:
            self.note(point)
        return point

    @property
    def status(self) -> str:
        """How the search has ended, if no limit has ended it."""
        good = self.best.relative_gap <= self.tolerance
        return _progress.CONVERGED if good else "stalled"


def solve(
    p: Problem,
    tolerance: float,
    watch: Watch,
    progress: _progress.Progress,
) -> tuple[Point, str]:
    """The best point that the stages find, and how they ended."""
    search = Search(p, tolerance, watch, progress)
    try:
        run(p, search)
    except Stop as stop:
        return recomputed(p, search.best), str(stop)
    except KeyboardInterrupt:
        return recomputed(p, search.best), "interrupted"
    return search.best, search.status


def run(p: Problem, search: Search) -> None:
    """One stage after the other, until the search is over."""
    point = search.best
    for stage in STAGES:
        point = stage(p, point, search)
        if search.done:
            return


def sketch(p: Problem, point: Point, search: Search) -> Point:
    """Stage 1: pair steps, at most a quarter as many as examples."""
    enough = ENOUGH * float(p.t.max() - p.t.min())
    point = pair_steps(p, point, p.quarter, search.watch, enough)
    search.note(point)
    return point


def few_rounds(p: Problem, point: Point, search: Search) -> Point:
    """Stage 2: if at most a quarter of all v seem free, while it helps."""
    free, _ = guess(p, point, p.stride)
    if free.sum() > p.quarter:
        return point
    gap = math.inf
    while point.relative_gap <= PROGRESS * gap and not search.done:
        gap = point.relative_gap
        point = rounds(p, point, search, 1)
    return point


def low_rank(p: Problem, point: Point, search: Search) -> Point:
    """Stage 3: interior point with K = GGᵀ, then exact zeros."""
    inner = low_rank_step(p, point, search.watch)
    search.note(inner)
    return higher(point, finished(p, inner, search))


def many_rounds(p: Problem, point: Point, search: Search) -> Point:
    """Stage 4."""
    return rounds(p, point, search, ROUNDS)


def growing_subsets(p: Problem, point: Point, search: Search) -> Point:
    """Stage 5: interior point on ever more examples, the last times on all."""
    extra = EXTRA
    while extra < ON_ALL * max(len(p.t), EXTRA):
        point = subset_step(p, point, extra, search.watch)
        finished(p, point, search)
        if not search.done:
            search.propose(point.v)
        if search.done:
            return point
        point = pair_steps(p, point, p.quarter, search.watch)
        extra *= 2
    return point


STAGES: tuple[Callable[[Problem, Point, Search], Point], ...] = (
    sketch,
    few_rounds,
    low_rank,
    many_rounds,
    growing_subsets,
)


def finished(p: Problem, inner: Point, search: Search) -> Point:
    """A point inside the box, with exact zeros: by Newton, or by clamping."""
    v = newton(p, inner, p.long_stride, search.watch)
    return search.propose(clamp(p, inner, p.long_stride) if v is None else v)


def rounds(p: Problem, point: Point, search: Search, most: int) -> Point:
    """Newton, and while that fails, free-set descent and pair steps."""
    for _ in range(most):
        v = newton(p, point, p.stride, search.watch)
        if v is None and point.relative_gap <= search.tolerance:
            v = point.v
        if v is not None:
            exact = search.propose(v)
            if search.done:
                return exact
        point = subspace_steps(p, point, search.watch)
        search.note(point)
        if point.relative_gap > search.tolerance:
            point = pair_steps(p, point, p.tenth, search.watch)
    return point


# -------------------------------------------------------------- pair steps


def pair_steps(
    p: Problem, point: Point, steps: int, watch: Watch, enough: float = 0.0
) -> Point:
    """Raise one v_i and lower one v_j, the best pair each time (SMO).

    i has the largest e among those that can rise; with it, j promises the
    largest decrease (e_i - e_j)² / 2(K_ii + K_jj - 2K_ij).  Ends where
    e_i - e_j is not more than enough.
    """
    K, half = p.K, p.K.diagonal() / 2  # curvatures are halved, too
    v, low, high = point.v.tolist(), p.low.tolist(), p.high.tolist()
    both = np.array([point.e, point.e])
    rising, falling = both  # e of those that can, and else out of reach
    rising[point.v >= p.high] = -np.inf
    falling[point.v <= p.low] = np.inf
    slope, curvature, gain = np.empty((3, len(v)))
    flat = p.flat / 2
    granted = watch.spend(steps)
    for taken in range(granted):
        i = int(rising.argmax())
        np.subtract(rising[i], falling, out=slope)
        np.subtract(half, K[i], out=curvature)
        curvature += half[i]
        np.sqrt(np.maximum(curvature, flat, out=gain), out=gain)
        j = int(np.divide(slope, gain, out=gain).argmax())
        if slope[j] <= enough and slope.max() <= enough:
            watch.iterations -= granted - taken
            break
        if curvature[j] < -BEYOND * flat:
            refuse_indefinite(p.given, p.eps)
        up, down = high[i] - v[i], v[j] - low[j]
        step = float(slope[j]) / 2 / max(float(curvature[j]), flat)
        step = min(step, up, down)
        both -= step * (K[i] - K[j])
        rising[j], falling[i] = falling[j], rising[i]
        v[i], v[j] = v[i] + step, v[j] - step
        if step == up:
            v[i], rising[i] = high[i], -np.inf
        if step == down:
            v[j], falling[j] = low[j], np.inf
    e = np.where(rising > -np.inf, rising, falling)
    return point_at(p, np.array(v), e)


# ------------------------------------------------ steps on the free set


def subspace_steps(p: Problem, point: Point, watch: Watch) -> Point:
    """Minimise over the free v, one bound at a time.

    Goes towards the solution on the free set as far as the box allows; what
    meets a bound stays there, the others go on.  The objective never rises.
    """
    F = np.flatnonzero((point.v > p.low) & (point.v < p.high))
    rows = p.K[F]
    block, v, e = rows[:, F], point.v[F], point.e[F]
    free = np.arange(len(F))
    for _ in range(DROPS):
        if len(free) < 2:
            break
        watch.spend(1)
        solve = free_solver(p, block[np.ix_(free, free)])
        if solve is None:
            break
        step = solve(e[free], 0.0)
        bound = np.where(step > 0, p.high[F[free]], p.low[F[free]])
        step, met = within(bound - v[free], step)
        v[free] = np.where(met, bound, v[free] + step)
        e -= step @ block[free]
        if not met.any():
            break
        free = free[~met]
    new = point.v.copy()
    new[F] = v
    return point_at(p, new, point.e - (v - point.v[F]) @ rows)


def within(room: FloatArray, step: FloatArray) -> tuple[FloatArray, BoolArray]:
    """As much of the step as there is room for; who has none left."""
    parts = np.abs(room / np.where(step == 0, EPS, step))
    a = float(parts.min())
    return min(1.0, a) * step, parts <= min(1.0, a)


class Guess(NamedTuple):
    """Which v are free, and which of the others at their upper bound."""

    free: BoolArray
    at_high: BoolArray


def guess(p: Problem, point: Point, stride: float) -> Guess:
    """Where one gradient step would end: inside, or at which bound."""
    aim = point.v + stride * (point.e - point.b)
    return Guess((aim > p.low) & (aim < p.high), aim >= p.high)


def newton(
    p: Problem, point: Point, stride: float, watch: Watch
) -> FloatArray | None:
    """Guess which v are at a bound, solve for the others, mend the guess.

    A v that leaves its box is put on the bound it crossed, and one at a bound
    whose e - b has the wrong sign is freed.  No change: optimal.  If the
    number of changes does not halve each time, it gives up: None.
    """
    now = guess(p, point, stride)
    changes = int(now.free.sum())
    for _ in range(NEWTON_TRIES):
        watch.spend(1)
        solution = solve_free(p, point, now)
        if solution is None:
            return None
        v, e, b = solution
        after = mended(p, now, v, e - b)
        before, changes = changes, int((after.free != now.free).sum())
        if changes == 0:
            return project(p, v)
        if changes > before / 2:
            return None
        now = after
    return None


def mended(p: Problem, now: Guess, v: FloatArray, excess: FloatArray) -> Guess:
    """The guess after v and e - b have shown what was wrong with it."""
    fuzz, blur = SURE * np.abs(v).max(), SURE * np.abs(excess).max()
    below, above = v < p.low - fuzz, v > p.high + fuzz
    wrong = np.where(now.at_high, excess < -blur, excess > blur) & ~now.free
    free = (now.free & ~below & ~above) | wrong
    return Guess(free, (now.at_high & ~free) | above)


def solve_free(
    p: Problem, point: Point, now: Guess
) -> tuple[FloatArray, FloatArray, float] | None:
    """v, e and b with e_n = b on the free set and Σv = 0.

    One step of refinement takes back the jitter.
    """
    F = np.flatnonzero(now.free)
    if len(F) == 0:
        return None
    solve = free_solver(p, p.K[np.ix_(F, F)])
    if solve is None:
        return None
    v = np.where(now.free, 0.0, np.where(now.at_high, p.high, p.low))
    e = point.e - times(p.K, v - point.v)
    for _ in range(2):
        step = solve(e[F], -float(v.sum()))
        v[F] += step
        e -= combined(p.K, F, step)
    return v, e, float(e[F].mean())


def free_solver(
    p: Problem, block: FloatArray
) -> Callable[[FloatArray, float], FloatArray] | None:
    """Factorise once; solve for steps with block · step = e - b and a sum.

    Adding s to every entry of the block changes nothing but b, because the
    sum is known, and keeps a block of low rank positive definite.
    """
    A = _interior_point.with_jitter(block + p.scale, p.eps)
    try:
        solve = _interior_point.cholesky(A)
    except LinAlgError:
        refuse_indefinite(p.given, p.eps)
        return None
    ones = solve(np.ones(len(A)))

    def step(e: FloatArray, total: float) -> FloatArray:
        step = solve(e)
        step -= (step.sum() - total) / ones.sum() * ones
        return step

    return step


def clamp(p: Problem, point: Point, stride: float) -> FloatArray:
    """v, with those on their bounds that seem to belong there."""
    free, at_high = guess(p, point, stride)
    v = np.where(free, point.v, np.where(at_high, p.high, p.low))
    return project(p, v)


def project(p: Problem, v: FloatArray) -> FloatArray:
    """Back into the box, with Σv = 0 restored on those inside it.

    The phantom takes part only if no example can: its v is the least exact
    sum of all, and from a moved origin its entry of K is the largest.
    """
    v = v.clip(p.low, p.high)
    for _ in range(SWEEPS):
        total = float(v.sum())
        inside = (v > p.low) & (v < p.high)
        if inside[: p.size].any():
            inside[p.size :] = False
        if abs(total) <= EPS * np.abs(v).sum() or not inside.any():
            break
        v[inside] -= total / inside.sum()
        v = v.clip(p.low, p.high)
    return v


# ---------------------------------------------------------- interior point


def low_rank_step(p: Problem, point: Point, watch: Watch) -> Point:
    """Optimise all v with K replaced by GGᵀ, if a narrow G will do.

    An error of δ in K moves an output by at most δ Σ|v|.  The diagonal
    bounds that error because it bounds every entry of a Gram matrix.  No v of
    the solution exceeds twice the primal of any point: Σ_n α_n is the dual
    plus ½‖w‖², and neither exceeds the lowest primal.  In regression Σ_n α_n
    is no part of the dual, and only the box bounds v.
    """
    if max(p.K.max(), -p.K.min()) > p.K.diagonal().max() + BEYOND * p.flat:
        refuse_indefinite(p.given, p.eps)
    reach = math.inf if p.tube else 2 * (point.dual + point.gap)
    error = LOW_RANK / max(min(p.C, reach), p.stride)
    G = _interior_point.pivoted_cholesky(p.K, max(error, NOISE * p.flat))
    if G is None:
        return point
    x = _interior_point.minimise(
        _interior_point.LowRank(G),
        p.t,
        _interior_point.Box(p.low.clip(-reach), p.high.clip(None, reach), 0.0),
        point.v.clip(-reach, reach),
        LOW_RANK_GOAL * point.dual,
        watch.spend,
    )
    return point if x is None else point_at(p, project(p, x))


def subset_step(p: Problem, point: Point, extra: int, watch: Watch) -> Point:
    """Optimise the free v and the worst violators, the others held."""
    v, e = point.v, point.e
    free = (v > p.low) & (v < p.high)
    excess = e - point.b
    violation = np.where(excess > 0, p.high - v, p.low - v) * excess
    violation[free] = np.inf
    count = min(int(free.sum()) + extra, len(v))
    W = np.argsort(-violation, kind="stable")[:count]
    Q = _interior_point.Dense(p.K[np.ix_(W, W)])
    box = _interior_point.Box(p.low[W], p.high[W], total=float(v[W].sum()))
    x = _interior_point.minimise(
        Q,
        e[W] + Q.times(v[W]),
        box,
        v[W],
        SUBSET_GOAL * point.dual,
        watch.spend,
    )
    if x is None:
        refuse_indefinite(p.given, p.eps)
        return point
    new = v.copy()
    new[W] = x
    return point_at(p, project(p, new))


# ------------------------------------------------------------ definiteness


def evenly_spaced(K: FloatArray) -> FloatArray:
    """A block of K: all of it, or 256 examples from the first to the last."""
    if len(K) <= PROBE:
        return K.copy()
    rows = np.linspace(0, len(K) - 1, PROBE).astype(int)
    block: FloatArray = K[np.ix_(rows, rows)]
    return block


def probe(K: FloatArray, block: FloatArray, eps: float = EPS) -> None:
    """Try Cholesky on a block of K, in place; look closer where it fails."""
    block.flat[:: len(block) + 1] += ROUNDING * eps * np.trace(K)
    try:
        _interior_point.cholesky(block)
    except LinAlgError:
        refuse_indefinite(K, eps)


def refuse_indefinite(K: FloatArray, eps: float = EPS) -> None:
    """Raise if K has an eigenvalue that is negative beyond rounding."""
    lowest = float(eigvalsh(K, subset_by_index=[0, 0])[0])
    if lowest < -ROUNDING * eps * np.trace(K):
        raise ValueError(
            "K must be positive semi-definite, got smallest eigenvalue "
            f"{lowest:.3g}: the dual is not concave"
        )
