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

Optimality.  Let e = t - Kv, minus the gradient.  For some b, the bias:
e_n <= b where v_n = low_n, e_n >= b where v_n = high_n, and e_n = b between.
For the phantom that says b = e_n.

Certificate.  For every feasible v and every b,

    primal - dual = Σ_n max(e_n - b, 0) (high_n - v_n)
                      + max(b - e_n, 0) (v_n - low_n).

The best b is a median of e: as many e_n above it as there are v_n <= 0.

Smoothing.  Seen from the primal, v_n is minus the slope of the hinge loss: it
jumps from low_n to high_n where e_n - b passes zero.  Let it rise in a
straight line instead, over a width h:

    v_n = middle_n + (e_n - b) (high_n - low_n) / h, but inside its box.

The objective of that machine is piecewise quadratic and has one minimum.
Newton's method on it, with a search along the line, comes there from anywhere
and in few steps: v is at its bounds outside the strip |e_n - b| < h/2, and
inside it solves

    K v + δ (v - middle) + b = t,  δ_n = h / (high_n - low_n),  Σ_n v_n = 0.

So a step costs one factorisation as large as the strip is full, and the rows
of K of those v that change.  As h falls the strip empties, but for the v that
are free at the optimum.

The end.  At h = 0 the strip is a guess of who is free.  Newton's method solves
for these, puts those that leave their box on the bound, frees those on a bound
whose e_n - b has the wrong sign, and ends when there is nothing to mend; or
gives up, and h is made smaller.

The beginning.  The same machine on a quarter of the examples, with C four
times as large, has nearly the same outputs, and is begun in the same way from
a quarter of that quarter.  The smallest begins with v = 0 and a strip that
holds all examples: least squares.

Rounding.  Because Σ_n v_n = 0, the inner products may be taken from any
origin in feature space.  If the examples are far from it, in units of their
distances to each other, it is moved to the one in their midst.  That adds the
same number to every e_n, hence to b, and e no longer drowns in the rounding
of Kv.
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
from scipy.linalg.lapack import dpotrf, dpotrs

from kernelbook import _checks, _progress
from kernelbook._checks import FloatArray
from kernelbook._rows import Numbers, Rows

BoolArray = NDArray[np.bool_]

EPS = float(np.finfo(float).eps)

# What is judged, and how strictly.
PROBE = 256  # a block of K this large is tested for definiteness up front
ROUNDING = 10.0  # rounding explains eigenvalues down to -this · eps · trace
FAR = 10.0  # examples this far off, in mean squared distances: move the origin
SURE = 1e-10  # Newton's method mends only what is wrong by more than this
JITTER = 10.0  # a factorised diagonal grows by this, times N · eps

# How long each part tries.
SMALL = 320  # examples that begin by themselves, without a part of them
PART = 4  # of more examples, one in so many begins
BEGIN = (4.0, 1.0, 0.3, 0.1)  # widths h of the smallest machine
HARDER = 3.0  # h falls by this factor
CROWD = 100  # the first strip of a larger machine holds at least so many
SETTLED = 50  # one change in so many examples is none, if a smaller h follows
STEPS = 20  # at one h
WIDTHS = 30  # values of h
TRIES = 6  # free sets that one call of Newton's method may try
SWEEPS = 50  # of a projection: each but the last puts a v on its bound
HALVINGS = 12  # of the search along a line


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise ½ vᵀKv - tᵀv subject to Σv = 0 and low <= v <= high."""

    K: Rows
    t: FloatArray
    """Labels; or targets minus ε, and once more plus ε."""
    low: FloatArray
    high: FloatArray
    C: float
    bias: bool
    eps: float
    """Precision to which the entries of K are known."""
    scale: float
    """Mean of the diagonal of K, of a sample; 1 if that is 0."""

    @property
    def size(self) -> int:
        """Number of v, the phantom's apart."""
        return len(self.t) - (not self.bias)

    @property
    def tube(self) -> bool:
        """Whether it is regression, with two v for each example."""
        return self.size > self.K.N

    @cached_property
    def site(self) -> Numbers:
        """The row of K that belongs to each v."""
        site = np.arange(self.size) % self.K.N
        return site if self.bias else np.append(site, self.K.N)

    @cached_property
    def middle(self) -> FloatArray:
        """Middle of each box."""
        return (self.low + self.high) / 2

    @cached_property
    def width(self) -> FloatArray:
        """high - low, and 0 for the phantom, which is always free."""
        width: FloatArray = self.high - self.low
        width[self.size :] = 0.0
        return width

    def soft(self, Q: Numbers, h: float) -> FloatArray:
        """δ of some v: h / (high - low), and 0 for the phantom."""
        delta = np.zeros(len(Q))
        return np.divide(h, self.width[Q], out=delta, where=Q < self.size)

    def times(self, v: FloatArray) -> FloatArray:
        """Kv."""
        a = np.bincount(self.site, v)
        n = np.flatnonzero(a)
        Ka = self.K.times(n, a[n])
        return Ka[self.site] if self.tube else Ka

    def block(self, F: Numbers) -> FloatArray:
        """The block of K between some v."""
        if not self.tube:
            return self.K.block(F)
        n, of = np.unique(self.site[F], return_inverse=True)
        block: FloatArray = self.K.block(n)[np.ix_(of, of)]
        return block

    def biases(self, e: FloatArray) -> tuple[float, float]:
        """Ends of the interval of the biases with the smallest gap."""
        if not self.bias:
            return float(e[-1]), float(e[-1])
        N_plus = int((self.high > 0).sum())
        ordered = np.partition(e, [N_plus - 1, N_plus])
        return float(ordered[N_plus - 1]), float(ordered[N_plus])


def problem(
    K: Rows, t: FloatArray, C: float, bias: bool, eps: float = EPS
) -> Problem:
    """Classification: one v for each example."""
    low, high = np.minimum(0.0, C * t), np.maximum(0.0, C * t)
    return in_box(K, t, (low, high), C, bias, eps)


def tube_problem(
    K: Rows,
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
    K: Rows,
    t: FloatArray,
    box: tuple[FloatArray, FloatArray],
    C: float,
    bias: bool,
    eps: float,
) -> Problem:
    """The problem in v, with phantom and moved origin if they are needed."""
    sample = evenly_spaced(K.N)
    block = K.examples(sample)
    r = midst(block)
    diagonal = block.diagonal()
    if r is not None:
        diagonal = diagonal - 2 * block[r] + block[r, r]
    scale = float(diagonal.mean()) or 1.0
    probe(K, block, eps)
    K.frame(not bias, None if r is None else int(sample[r]))
    low, high = box
    if not bias:
        never = 2 * C * len(t)  # Σ|v| is at most half of this
        t = np.append(t, 0.0)
        low, high = np.append(low, -never), np.append(high, never)
    return Problem(K, t, low, high, C, bias, eps, scale)


def evenly_spaced(N: int) -> Numbers:
    """All examples, or 256 from the first to the last."""
    return np.linspace(0, N - 1, min(N, PROBE)).astype(np.intp)


def midst(block: FloatArray) -> int | None:
    """The example nearest to the mean of all, if all are far from 0.

    Squared distances from the mean are K_nn - 2 mean_m K_nm, up to a number.
    """
    size = float(block.diagonal().mean())
    if size <= FAR * (size - float(block.mean())):
        return None
    return int((block.diagonal() - 2 * block.mean(axis=0)).argmin())


def part_of(p: Problem) -> tuple[Problem, Numbers]:
    """The problem of one example in four, with C four times as large.

    Of each class, and never in the order in which they came.
    """
    rng = np.random.default_rng(0)
    origin = [] if p.K.origin is None else [p.K.origin]
    picked = [np.array(origin, dtype=np.intp)]
    for side in (p.high[: p.K.N] > 0, p.high[: p.K.N] <= 0):
        one = rng.permutation(np.flatnonzero(side))
        picked.append(one[: -(-len(one) // PART)])
    n = np.unique(np.concatenate(picked))
    more = p.K.N / len(n)
    v = np.append(n, n + p.K.N) if p.tube else n
    v = v if p.bias else np.append(v, p.size)
    K = p.K.part(n)
    K.frame(not p.bias, int(np.searchsorted(n, origin[0])) if origin else None)
    part = replace(
        p,
        K=K,
        t=p.t[v],
        low=more * p.low[v],
        high=more * p.high[v],
        C=more * p.C,
    )
    return part, v


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
        e = p.t - p.times(v)
    biases = p.biases(e)
    excess = e - (biases[0] + biases[1]) / 2
    gap = np.where(excess > 0, p.high - v, p.low - v) @ excess
    return Point(v, e, biases, float(p.t @ v + e @ v) / 2, float(gap))


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
    n = np.flatnonzero(v)
    noise = EPS * float(p.K.sizes(n, v[n]).max())
    longer = 1 + 2 * short + 4 * noise
    if np.abs(v).max() * longer >= p.C:
        return point
    return point_at(p, balanced(p, longer * point.v))


def better(one: Point, other: Point) -> Point:
    """The one with the smaller relative gap."""
    return min(one, other, key=lambda point: point.relative_gap)


def as_given(p: Problem, point: Point) -> tuple[FloatArray, FloatArray]:
    """v and e of the examples, seen from the origin that K came with.

    From there every e is lower by (Kv)_r = Σ_n (K_rn - K_rr) v_n + K_rr Σ_n
    v_n, where r is the example at the moved origin.  Rounding leaves Σ_n v_n
    a little off 0, and K_rr may be huge.
    """
    v, e = point.v[: p.size], point.e[: p.size]
    if p.K.origin is None:
        return v, e
    row = p.K.base[: p.K.N]
    corner = row[p.K.origin]
    a = v.reshape(-1, len(row)).sum(axis=0)
    return v, e - ((row - corner) @ a + corner * math.fsum(v))


def advice(status: str, relative_gap: float) -> str:
    """What helps a solver that has not ended within its tolerance."""
    helps = (
        "rounding of K is in the way: standardise the inputs, or lower C"
        if status == "stalled"
        else "with more time it goes on"
    )
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

    def spend(self) -> None:
        """One more iteration; none left: stop."""
        if self.iterations >= self.most:
            raise Stop("max_iterations")
        if time.monotonic() > self.deadline:
            raise Stop("max_seconds")
        self.iterations += 1


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

    @property
    def done(self) -> bool:
        """Whether the best point will do."""
        return self.best.relative_gap <= self.tolerance

    def propose(self, v: FloatArray) -> None:
        """Remember v, inside its box and e computed anew, if it is better."""
        point = point_at(self.p, balanced(self.p, project(self.p, v)))
        if point.relative_gap > self.tolerance:
            point = better(point, outward(self.p, point))
        self.best = better(self.best, point)
        self.progress(
            f"{self.watch.iterations} iterations, "
            f"relative gap {self.best.relative_gap:.1e}"
        )


def solve(
    p: Problem,
    tolerance: float,
    watch: Watch,
    progress: _progress.Progress,
) -> tuple[Point, str]:
    """The best point that is found, and how the search ended."""
    search = Search(p, tolerance, watch, progress)
    try:
        run(p, search)
    except Stop as stop:
        return search.best, str(stop)
    except KeyboardInterrupt:
        return search.best, "interrupted"
    return search.best, _progress.CONVERGED if search.done else "stalled"


def run(p: Problem, search: Search) -> None:
    """Narrower and narrower strips, until Newton's method is sure."""
    s, now, h = beginning(p, search.watch)
    for _ in range(WIDTHS):
        v = newton(p, s, now, search.watch)
        if v is not None:
            search.propose(v)
        if search.done:
            return
        h /= HARDER
        s, now = settled(p, s, now, h, search.watch, 0)


def beginning(p: Problem, watch: Watch) -> tuple["State", "Guess", float]:
    """Where to begin, from a quarter of the examples if they are many."""
    enough = len(p.t) // SETTLED
    if p.size <= SMALL:
        s = State(np.zeros(len(p.t)), p.t.copy(), 0.0)
        now = guess(p, s, BEGIN[0])
        for h in BEGIN:
            s, now = settled(p, s, now, h, watch, enough)
        return s, now, h
    part, where = part_of(p)
    s, now, h = beginning(part, watch)
    free = int(now.free.sum())
    v = np.zeros(len(p.t))
    v[where] = s.v
    e = p.t - p.times(v)
    biases = p.biases(e)
    s = State(v, e, (biases[0] + biases[1]) / 2)
    crowd = min(max(CROWD, 3 * free // 2), len(e) - 1)
    h = 2 * float(np.partition(np.abs(e - s.b), crowd)[crowd])
    s, now = settled(p, s, guess(p, s, h), h, watch, enough, True)
    return s, now, h


# --------------------------------------------------------- smoothed machine


class State(NamedTuple):
    """A machine on its way: v, e = t - Kv and b; v may be out of its box."""

    v: FloatArray
    e: FloatArray
    b: float


def settled(
    p: Problem,
    s: State,
    now: "Guess",
    h: float,
    watch: Watch,
    enough: int,
    line_search: bool = False,
) -> tuple[State, "Guess"]:
    """The machine of width h, but for so many changes of the strip.

    The first step takes the strip as it was at the last h, and goes all the
    way: that strip at this width.
    """
    for _ in range(STEPS):
        watch.spend()
        s = smooth_step(p, s, now, h, line_search)
        before, now = now, guess(p, s, h)
        changed = (now.free != before.free) | (now.at_high != before.at_high)
        if changed.sum() <= enough:
            break
        line_search = True
        if not now.free.any():
            s = s._replace(b=sum(p.biases(s.e)) / 2)
            now = guess(p, s, h)
    return s, now


def smooth_step(
    p: Problem, s: State, now: "Guess", h: float, line_search: bool
) -> State:
    """One step of Newton's method at width h."""
    Q = np.flatnonzero(now.free)
    aim = np.where(now.at_high, p.high, p.low)
    d = np.where(now.free, 0.0, aim - s.v)
    Kd, db = p.times(d), 0.0
    if len(Q):
        soft = p.soft(Q, h)
        A = p.block(Q)
        A.flat[:: len(Q) + 1] += soft
        solve = free_solver(p, A)
        if solve is None:
            return s
        rest = s.e[Q] - s.b - Kd[Q] - soft * (s.v[Q] - p.middle[Q])
        inner = np.zeros(len(d))
        inner[Q], db = solve(rest, -float(s.v.sum() + d.sum()))
        d += inner
        Kd += p.times(inner)
    a = along(p, s, h, d, Kd, db)
    v = s.v + a * d if a < 1 else np.where(now.free, s.v + d, aim)
    return State(v, s.e - a * Kd, s.b + a * db)


def along(
    p: Problem, s: State, h: float, d: FloatArray, Kd: FloatArray, db: float
) -> float:
    """How far to go along d: to the minimum, all the way if that will do."""
    dy, excess, steep = Kd + db, s.e - s.b, p.width / h
    rise, curvature = float(s.v @ Kd), float(d @ Kd)

    def slope(a: float) -> float:
        v = (p.middle + steep * (excess - a * dy)).clip(p.low, p.high)
        return rise + a * curvature - float(v @ dy)

    first, last = slope(0.0), slope(1.0)
    if first >= 0:
        return 0.0
    if last <= 0.5 * abs(first):
        return 1.0
    low, at_low, high, at_high = 0.0, first, 1.0, last
    for _ in range(HALVINGS):
        part = -at_low / (at_high - at_low)
        a = low + (high - low) * min(max(part, 0.1), 0.9)
        now = slope(a)
        if now > 0:
            high, at_high = a, now
        else:
            low, at_low = a, now
        if abs(now) <= 0.1 * abs(first):
            break
    return a


class Guess(NamedTuple):
    """Which v are free, and which of the others at their upper bound."""

    free: BoolArray
    at_high: BoolArray


def guess(p: Problem, s: State, h: float) -> Guess:
    """Who is in the strip of width h, and who above it."""
    excess = s.e - s.b
    free = np.abs(excess) < h / 2
    free[p.size :] = True
    return Guess(free, ~free & (excess > 0))


def free_solver(
    p: Problem, A: FloatArray
) -> Callable[[FloatArray, float], tuple[FloatArray, float]] | None:
    """Factorise A in place; solve A · step + b = e for a step with a sum.

    Adding a number to every entry of A changes nothing but b, because the
    sum is known, and keeps a block of low rank positive definite.
    """
    block = A.copy()
    A += p.scale
    A.flat[:: len(A) + 1] *= 1 + JITTER * len(A) * p.eps
    U, failed = dpotrf(A.T, clean=0, overwrite_a=1)
    if failed:
        refuse_indefinite(p.K, block, p.eps)
        return None

    def solve(e: FloatArray, total: float) -> tuple[FloatArray, float]:
        both = dpotrs(U, np.array([e, np.ones(len(e))]).T)[0].T
        step, ones = both
        b = (float(step.sum()) - total) / float(ones.sum())
        return step - b * ones, b + p.scale * total

    return solve


# ------------------------------------------------------------------ the end


def newton(p: Problem, s: State, now: Guess, watch: Watch) -> FloatArray | None:
    """Guess which v are at a bound, solve for the others, mend the guess.

    A v that leaves its box is put on the bound it crossed, and one at a bound
    whose e - b has the wrong sign is freed.  No change: optimal.  If the
    number of changes does not halve each time, it gives up: None.
    """
    changes = int(now.free.sum())
    for _ in range(TRIES):
        watch.spend()
        found = solve_free(p, s, now)
        if found is None:
            return None
        s = found
        after = mended(p, now, s.v, s.e - s.b)
        before, changes = changes, int((after.free != now.free).sum())
        if changes == 0:
            return s.v
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


def solve_free(p: Problem, s: State, now: Guess) -> State | None:
    """v, e and b with e_n = b on the free set and Σv = 0.

    One step of refinement takes back the jitter.
    """
    F = np.flatnonzero(now.free)
    if len(F) == 0:
        return None
    solve = free_solver(p, p.block(F))
    if solve is None:
        return None
    v = np.where(now.free, s.v, np.where(now.at_high, p.high, p.low))
    e = s.e - p.times(v - s.v)
    for _ in range(2):
        d = np.zeros(len(v))
        d[F], _ = solve(e[F], -float(v.sum()))
        v += d
        e -= p.times(d)
    return State(v, e, float(e[F].mean()))


# ------------------------------------------------------------ definiteness


def probe(K: Rows, block: FloatArray, eps: float = EPS) -> None:
    """Try Cholesky on a block of K; look closer where it fails."""
    A = block.copy()
    trace = float(A.diagonal().mean()) * K.N
    A.flat[:: len(A) + 1] += ROUNDING * eps * trace
    if dpotrf(A.T, clean=0, overwrite_a=1)[1]:
        refuse_indefinite(K, block, eps)


def refuse_indefinite(K: Rows, block: FloatArray, eps: float = EPS) -> None:
    """Raise if K has an eigenvalue that is negative beyond rounding."""
    A = K.judged(block)
    lowest = float(eigvalsh(A, subset_by_index=[0, 0])[0])
    if lowest < -ROUNDING * eps * np.trace(A):
        raise ValueError(
            "K must be positive semi-definite, got smallest eigenvalue "
            f"{lowest:.3g}: the dual is not concave"
        )
