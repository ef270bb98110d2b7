"""How a large support vector machine is solved, without its Gram matrix.

The problem, its optimality and its certificate are those of ``_svm_solver``:
minimise ½ vᵀKv - tᵀv subject to Σ_n v_n = 0 and low_n <= v_n <= high_n, where
e = t - Kv and some b judge every v_n.  Here rows of K are made as they are met
(``_rows``), and what is done between two sums over all examples is done among
few.

Smoothing.  Seen from the primal, v_n is minus the slope of the hinge loss: it
jumps from low_n to high_n where e_n - b passes zero.  Let it rise in a
straight line instead, over a width h:

    v_n = middle_n + (e_n - b) (high_n - low_n) / h, but inside its box.

The objective of that machine is piecewise quadratic and has one minimum.
Newton's method on it, with a search along the line, goes there in few steps:
v is at its bounds outside the strip |e_n - b| < h/2, and inside it solves

    Kv + δ (v - middle) + b = t,  δ_n = h / (high_n - low_n),  Σ_n v_n = 0.

So a step costs one factorisation as large as the strip is full, and the rows
of K of those v that change.  As h falls the strip empties, but for the v that
are free at the optimum.

The end.  The strip is a guess of who is free.  Newton's method for h = 0
solves for these and mends the guess; if that fails, interior point finds the
best v in the strip, the others held, and Newton's method tries once more; and
then comes a smaller h.  Where the strips do not settle, or hold too many, the
whole matrix is made after all, if there is room (``svm.fit``); if not,
interior point on the free v and ever more violators has the last word.

The beginning.  The same machine on a quarter of the examples, with C four
times as large, has nearly the same outputs, and is begun in the same way from
a quarter of that quarter.  The smallest begins with v = 0 and a strip that
holds all examples: least squares.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from kernelbook import _interior_point, _progress
from kernelbook import _svm_solver as solver
from kernelbook._checks import FloatArray
from kernelbook._rows import Numbers, Rows
from kernelbook._svm_solver import Guess, Point, Watch

EPS = solver.EPS
SMALL = 320  # examples that begin by themselves, without a part of them
PART = 4  # of more examples, one in so many begins
BEGIN = (4.0, 1.0, 0.3, 0.1)  # widths h of the smallest machine
HARDER = 3.0  # h falls by this factor
NARROWEST = 1e-5  # h at which the strips end
WIDE = 0.1  # h above which interior point has too much to do
CROWD = 100  # the first strip of a larger machine holds so many, or
CROWDED = 1.5  # this many times as many as that of its part
TOO_MANY = 400  # in a strip: the whole matrix is better, if there is room
SETTLED = 50  # one change in so many examples is none, if a smaller h follows
STEPS = 60  # at one h
SLOW = 2  # strips that have not settled in so many steps: try something else
HALVINGS = 12  # of the search along a line
GOAL = 1e-12  # duality gap of interior point, relative to the dual
ON_BOUND = 1e-7  # v this near to a bound, in widths of its box, is there


@dataclass(frozen=True, eq=False)
class Problem(solver.Problem):
    """Minimise ½ vᵀKv - tᵀv subject to Σv = 0 and low <= v <= high."""

    K: Rows  # type: ignore[assignment]
    mean_square: float
    """Mean of the diagonal of K, of a sample; 1 if that is 0."""

    @cached_property
    def scale(self) -> float:
        """Mean of the diagonal of K, the phantom apart; 1 if that is 0."""
        return self.mean_square

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
        return np.divide(h, self.width[Q], out=delta, where=self.size > Q)

    def times(self, v: FloatArray) -> FloatArray:
        """Kv."""
        n = np.flatnonzero(v)
        return self.K.times(n, v[n])


def problem(K: Rows, t: FloatArray, C: float, bias: bool) -> Problem:
    """The problem in v, with phantom and moved origin if they are needed."""
    sample = np.linspace(0, K.N - 1, min(K.N, solver.PROBE)).astype(np.intp)
    block = K.examples(sample)
    r = midst(block)
    diagonal = block.diagonal()
    if r is not None:
        diagonal = diagonal - 2 * block[r] + block[r, r]
    scale = float(diagonal.mean()) or 1.0
    solver.probe(block, block.copy())
    origin = None if r is None else int(sample[r])
    K.frame(not bias, origin)
    low, high = np.minimum(0.0, C * t), np.maximum(0.0, C * t)
    if not bias:
        never = 2 * C * len(t)  # Σ|v| is at most half of this
        t = np.append(t, 0.0)
        low, high = np.append(low, -never), np.append(high, never)
    unseen = np.empty(K.N)  # in the place of K, as long as that
    # Moved entries of K have the rounding of those that came.
    eps = EPS * max(1.0, float(block.diagonal().mean()) / scale)
    return Problem(K, t, low, high, C, bias, unseen, eps, origin, scale)


def midst(block: FloatArray) -> int | None:
    """The example of a sample nearest to its mean, if all are far from 0."""
    size = float(block.diagonal().mean())
    if size <= solver.FAR * (size - float(block.mean())):
        return None
    return int((block.diagonal() - 2 * block.mean(axis=0)).argmin())


def part_of(p: Problem) -> tuple[Problem, Numbers]:
    """The problem of one example in four, with boxes four times as wide.

    Of each class, and never in the order in which they came.
    """
    rng = np.random.default_rng(0)
    origin = [] if p.origin is None else [p.origin]
    picked = [np.array(origin, dtype=np.intp)]
    for side in (p.t[: p.K.N] > 0, p.t[: p.K.N] < 0):
        one = rng.permutation(np.flatnonzero(side))
        picked.append(one[: -(-len(one) // PART)])
    n = np.unique(np.concatenate(picked))
    more = p.K.N / len(n)
    v = n if p.bias else np.append(n, p.K.N)
    K = p.K.part(n)
    r = int(np.searchsorted(n, origin[0])) if origin else None
    K.frame(not p.bias, r)
    part = replace(
        p,
        K=K,
        t=p.t[v],
        low=more * p.low[v],
        high=more * p.high[v],
        origin=r,
    )
    return part, v


def as_given(p: Problem, point: Point) -> tuple[FloatArray, FloatArray]:
    """v and e of the examples, seen from the origin that K came with.

    As in ``_svm_solver``.
    """
    v, e = point.v[: p.size], point.e[: p.size]
    if p.origin is None:
        return v, e
    row = p.K.base[: p.K.N]
    corner = row[p.origin]
    return v, e - ((row - corner) @ v + corner * math.fsum(v))


# ------------------------------------------------------------ the schedule


class State(NamedTuple):
    """A machine on its way: v, e = t - Kv and b; v may be out of its box."""

    v: FloatArray
    e: FloatArray
    b: float


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
        self.best = solver.point_at(p, np.zeros(len(p.t)), p.t)

    @property
    def done(self) -> bool:
        """Whether the best point will do."""
        return self.best.relative_gap <= self.tolerance

    def propose(self, v: FloatArray) -> None:
        """Remember v, put into its box and e computed anew, if it is best."""
        point = self._at(solver.project(self.p, v))
        if point.relative_gap > self.tolerance:
            longer = self._at(self._outward(point))
            point = solver.better(point, longer)
        self.best = solver.better(self.best, point)
        self.progress(
            f"{self.watch.iterations} iterations, "
            f"relative gap {self.best.relative_gap:.1e}"
        )

    def _at(self, v: FloatArray) -> Point:
        v = solver.balanced(self.p, v)
        return solver.point_at(self.p, v, self.p.t - self.p.times(v))

    def _outward(self, point: Point) -> FloatArray:
        """v a little longer, so that rounding leaves no margin short of 1."""
        p, N = self.p, self.p.size
        v, e, t = point.v[:N], point.e[:N], p.t[:N]
        short = max(0.0, float((t * (e - point.b)).max()))
        n = np.flatnonzero(v)
        noise = EPS * float(p.K.sizes(n, v[n]).max())
        longer = 1 + 2 * short + 4 * noise
        return point.v if np.abs(v).max() * longer >= p.C else longer * point.v


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
    except solver.Stop as stop:
        return search.best, str(stop)
    except KeyboardInterrupt:
        return search.best, "interrupted"
    return search.best, _progress.CONVERGED if search.done else "stalled"


def run(p: Problem, search: Search) -> None:
    """Narrower and narrower strips, until Newton's method is sure."""
    watch = search.watch
    s, now, h = beginning(p, watch)
    slow = 0
    while h > NARROWEST and slow < SLOW:
        s, now, good = settled(p, s, now, h, watch, 0)
        slow += not good
        v = newton(p, s, now, watch) if now.free.any() else s.v
        if v is None and h <= WIDE:
            best = among(p, inside(p, s, now), np.flatnonzero(now.free), watch)
            v = newton(p, best, ended(p, best), watch)
        if v is not None:
            search.propose(v)
        if search.done:
            return
        h /= HARDER
    if p.K.whole_fits:
        return
    growing_sets(p, inside(p, s, now), search)


def beginning(p: Problem, watch: Watch) -> tuple[State, Guess, float]:
    """Where to begin, from a quarter of the examples if they are many."""
    enough = len(p.t) // SETTLED
    if p.size <= SMALL:
        s = State(np.zeros(len(p.t)), p.t, 0.0)
        now = guess(p, s, BEGIN[0])
        for h in BEGIN:
            s, now, _ = settled(p, s, now, h, watch, enough)
        return s, now, h
    v, crowd = from_part(p, watch)
    if crowd > TOO_MANY and p.K.whole_fits:
        raise solver.Stop("stalled")
    e = p.t - p.times(v)
    s = State(v, e, sum(p.biases(e)) / 2)
    distance = np.abs(e - s.b)[: p.size]
    crowd = min(max(CROWD, crowd), p.size - 1)
    h = max(2 * float(np.partition(distance, crowd)[crowd]), 1e3 * NARROWEST)
    s, now, _ = settled(p, s, guess(p, s, h), h, watch, enough)
    return s, now, h


def from_part(p: Problem, watch: Watch) -> tuple[FloatArray, int]:
    """v of a quarter of the examples, and how full the strip may be."""
    part, where = part_of(p)
    s, now, h = beginning(part, watch)
    while h > WIDE:
        h /= HARDER
        enough = len(part.t) // SETTLED
        s, now, _ = settled(part, s, now, h, watch, enough)
    v = np.zeros(len(p.t))
    v[where] = s.v
    return v, int(CROWDED * now.free.sum())


def inside(p: Problem, s: State, now: Guess) -> State:
    """v in its box with Σv = 0, and at a bound if it is off the strip."""
    v = np.where(now.free, s.v, np.where(now.at_high, p.high, p.low))
    v = solver.project(p, v)
    return State(v, s.e - p.times(v - s.v), s.b)


# --------------------------------------------------------- smoothed machine


def settled(
    p: Problem, s: State, now: Guess, h: float, watch: Watch, enough: int
) -> tuple[State, Guess, bool]:
    """The machine of width h, but for so many changes of the strip.

    The first step takes the strip as it was at the last h.  Few changes in a
    part of a step say nothing, unless there is no way down at all.  False if
    the strip has not settled.
    """
    for _ in range(STEPS):
        watch.spend(1)
        s, a = smooth_step(p, s, now, h)
        before, now = now, guess(p, s, h)
        changed = (now.free != before.free) | (now.at_high != before.at_high)
        if a in (0, 1) and changed.sum() <= enough:
            return s, now, True
        if not now.free.any():
            s = s._replace(b=sum(p.biases(s.e)) / 2)
            now = guess(p, s, h)
    return s, now, False


def guess(p: Problem, s: State, h: float) -> Guess:
    """Who is in the strip of width h, and who above it."""
    excess = s.e - s.b
    free = np.abs(excess) < h / 2
    free[p.size :] = True
    return Guess(free, ~free & (excess > 0))


def smooth_step(
    p: Problem, s: State, now: Guess, h: float
) -> tuple[State, float]:
    """One step of Newton's method at width h, and what part of it."""
    Q = np.flatnonzero(now.free)
    aim = np.where(now.at_high, p.high, p.low)
    d = np.where(now.free, 0.0, aim - s.v)
    Kd, db = p.times(d), 0.0
    if len(Q):
        soft = p.soft(Q, h)
        A = p.K.block(Q)
        A.flat[:: len(Q) + 1] += soft
        solve = free_solver(p, A, Q)
        if solve is None:
            return s, 0.0
        rest = s.e[Q] - s.b - Kd[Q] - soft * (s.v[Q] - p.middle[Q])
        inner = np.zeros(len(d))
        inner[Q], db = solve(rest, -float(s.v.sum() + d.sum()))
        d += inner
        Kd += p.times(inner)
    a = along(p, s, h, d, Kd, db)
    v = s.v + a * d if a < 1 else np.where(now.free, s.v + d, aim)
    return State(v, s.e - a * Kd, s.b + a * db), a


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


def free_solver(
    p: Problem, A: FloatArray, F: Numbers
) -> Callable[[FloatArray, float], tuple[FloatArray, float]] | None:
    """Factorise A in place; solve A · step + b = e for a step with a sum.

    Adding a number to every entry of A changes nothing but b, because the
    sum is known, and keeps a block of low rank positive definite.
    """
    A += p.scale
    _interior_point.with_jitter(A, p.eps)
    U, failed = dpotrf(A.T, clean=0, overwrite_a=1)
    if failed:
        solver.refuse_indefinite(p.K.examples(F[F < p.K.N]))
        return None

    def solve(e: FloatArray, total: float) -> tuple[FloatArray, float]:
        both = dpotrs(U, np.array([e, np.ones(len(e))]).T)[0].T
        step, ones = both
        b = (float(step.sum()) - total) / float(ones.sum())
        return step - b * ones, b + p.scale * total

    return solve


# ------------------------------------------------------------------ the end


def newton(
    p: Problem, s: State, now: Guess, watch: Watch
) -> FloatArray | None:
    """Guess which v are at a bound, solve for the others, mend the guess.

    A v that leaves its box is put on the bound it crossed, and one at a bound
    whose e - b has the wrong sign is freed.  No change: optimal.  If the
    number of changes does not halve each time, it gives up: None.
    """
    changes = int(now.free.sum())
    for _ in range(solver.NEWTON_TRIES):
        watch.spend(1)
        found = solve_free(p, s, now)
        if found is None:
            return None
        s = found
        after = solver.mended(p, now, s.v, s.e - s.b)
        before, changes = changes, int((after.free != now.free).sum())
        if changes == 0:
            return s.v
        if changes > before / 2:
            return None
        now = after
    return None


def solve_free(p: Problem, s: State, now: Guess) -> State | None:
    """v, e and b with e_n = b on the free set and Σv = 0.

    One step of refinement takes back the jitter.
    """
    F = np.flatnonzero(now.free)
    if len(F) == 0:
        return None
    solve = free_solver(p, p.K.block(F), F)
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


def ended(p: Problem, s: State) -> Guess:
    """Who is free where interior point has ended: off its bounds by a little.

    Where one gradient step would end: inside, or at which bound.
    """
    aim = s.v + p.long_stride * (s.e - s.b)
    return Guess((aim > p.low) & (aim < p.high), aim >= p.high)


def among(p: Problem, s: State, W: Numbers, watch: Watch) -> State:
    """The best v in W, the others held: by interior point."""
    v, e = s.v[W], s.e[W]
    Q = _interior_point.Dense(p.K.block(W))
    box = _interior_point.Box(p.low[W], p.high[W], total=float(v.sum()))
    goal = GOAL * float(p.t @ s.v + s.e @ s.v) / 2
    x = _interior_point.minimise(Q, e + Q.times(v), box, v, goal, watch.spend)
    if x is None:
        solver.refuse_indefinite(p.K.examples(W[W < p.K.N]))
        return s
    d = np.zeros(len(s.v))
    d[W] = x - v
    new = s.e - p.times(d)
    innermost = W[np.minimum(x - box.low, box.high - x).argmax()]
    return State(s.v + d, new, float(new[innermost]))


def growing_sets(p: Problem, s: State, search: Search) -> None:
    """Interior point among ever more v, until memory does not hold them."""
    extra = CROWD
    while len(W := with_violators(p, s, extra)) <= p.K.widest:
        s = among(p, s, W, search.watch)
        v = newton(p, s, ended(p, s), search.watch)
        search.propose(s.v if v is None else v)
        if search.done:
            return
        extra *= 2
    raise solver.Stop("memory")


def with_violators(p: Problem, s: State, extra: int) -> Numbers:
    """The free v, and the worst violators."""
    excess = s.e - s.b
    violation = np.where(excess > 0, p.high - s.v, p.low - s.v) * excess
    near = ON_BOUND * p.width
    free = (s.v > p.low + near) & (s.v < p.high - near)
    violation[free] = np.inf
    count = min(int(free.sum()) + extra, len(s.v))
    return np.sort(np.argsort(-violation)[:count])
