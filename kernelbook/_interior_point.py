"""Interior point for a quadratic program in a box: Mehrotra's method.

The problem.  Minimise ½ xᵀQx - qᵀx subject to low <= x <= high and
Σ_n x_n = total, for a positive semi-definite Q.

Optimality.  A number y belongs to the sum, and to each bound of each x_n a
multiplier >= 0, so that

    Qx - q + y - at_low + at_high = 0,
    at_low (x - low) = 0,  at_high (high - x) = 0,  entry by entry.

The method.  The zeros of the second line are replaced by a number μ > 0, so
that nothing touches a bound, and Newton's method follows the solution while
μ falls.  The sum of all these products is the duality gap, if the first line
holds; what rounding leaves there is put on the multipliers, where it counts.
That sum is the measure by which the method stops: at the goal, or when
rounding makes it rise.  Each round factorises Q + diag(d) once, with

    d = at_low / (x - low) + at_high / (high - x),

and solves with it twice: towards μ = 0, to see how far one gets, and then
towards the μ that this promises (Mehrotra 1992).  Q is one of two kinds of
matrix, a full one or GGᵀ with a narrow G.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from kernelbook._checks import FloatArray

Solve = Callable[[FloatArray], FloatArray]

EPS = float(np.finfo(float).eps)
JITTER = 10.0  # a factorised diagonal grows by this, times N · EPS
TO_MIDDLE = 0.2  # x starts this part of the way to the middle of the box
SPREAD = 0.2  # multipliers start this far from 0, in mean sizes of Qx - q + y
STOP_SHORT = 0.995  # of the way to the nearest bound: never quite there
MOST_ROUNDS = 60  # a speed setting: twenty are usual, rounding ends the rest
RISES = 10.0  # a gap this many times the lowest so far is made by rounding
CANCELS = 1e10  # GᵀD⁻¹G this large: a step of refinement for lost digits
NARROW = 3  # G may have a third as many columns as rows,
ALWAYS_NARROW = 200  # or this many


class Dense(NamedTuple):
    """A matrix Q, all its entries."""

    Q: FloatArray

    def times(self, x: FloatArray) -> FloatArray:
        """Qx."""
        return self.Q @ x

    def plus(self, d: FloatArray) -> Solve:
        """Factorise Q + diag(d) once; the result solves with it."""
        A = self.Q.copy()
        A.flat[:: len(d) + 1] += d
        return cholesky(with_jitter(A))


class LowRank(NamedTuple):
    """The matrix Q = GGᵀ: only matrices as wide as G are factorised."""

    G: FloatArray

    def times(self, x: FloatArray) -> FloatArray:
        """Qx."""
        return self.G @ (x @ self.G)

    def plus(self, d: FloatArray) -> Solve:
        """(GGᵀ + D)⁻¹ = D⁻¹ - D⁻¹G(I + GᵀD⁻¹G)⁻¹GᵀD⁻¹."""
        H = self.G / np.sqrt(d)[:, None]
        A = H.T @ H
        largest = A.diagonal().max()
        A.flat[:: len(A) + 1] += 1.0
        solve = cholesky(A)

        def once(b: FloatArray) -> FloatArray:
            return (b - self.G @ solve((b / d) @ self.G)) / d

        def refined(b: FloatArray) -> FloatArray:
            x = once(b)
            return x + once(b - self.times(x) - d * x)

        return refined if largest > CANCELS else once


Matrix = Dense | LowRank


class Box(NamedTuple):
    """low <= x <= high and Σx = total."""

    low: FloatArray
    high: FloatArray
    total: float


class State(NamedTuple):
    """x inside its box, with all multipliers; or a change of them."""

    x: FloatArray
    y: float
    at_low: FloatArray
    at_high: FloatArray


def minimise(
    Q: Matrix,
    q: FloatArray,
    box: Box,
    start: FloatArray,
    goal: float,
    count: Callable[[int], object],
) -> FloatArray | None:
    """The x of the lowest ½ xᵀQx - qᵀx in the box, strictly inside it.

    Ends when the duality gap is at most ``goal``, or as near to that as
    rounding allows.  ``count(1)`` is called before each factorisation.  None
    if the first one fails: then Q is at fault, and not rounding.
    """
    state = best = first_state(Q, q, box, start)
    lowest = np.inf
    for round_ in range(MOST_ROUNDS):
        gap = duality_gap(Q, q, box, state)
        if gap < lowest:
            best, lowest = state, gap
        if lowest <= goal or gap > RISES * lowest or touches(box, state):
            break
        count(1)
        try:
            state = mehrotra_step(Q, q, box, state)
        except LinAlgError:
            return best.x if round_ else None
    return best.x


def first_state(Q: Matrix, q: FloatArray, box: Box, x: FloatArray) -> State:
    """Inside the box and near x, with multipliers of the size of the slope."""
    x = (1 - TO_MIDDLE) * x + TO_MIDDLE * (box.low + box.high) / 2
    slope = q - Q.times(x)
    y = float(np.median(slope))
    slope -= y
    away = SPREAD * float(np.abs(slope).mean()) + EPS
    return State(
        x, y, np.maximum(-slope, 0) + away, np.maximum(slope, 0) + away
    )


def duality_gap(Q: Matrix, q: FloatArray, box: Box, s: State) -> float:
    """The sum of the products, once the multipliers take up the residual."""
    rest = residual(Q, q, s)
    low, high = np.maximum(rest, 0), np.maximum(-rest, 0)
    return products(box, State(s.x, s.y, s.at_low + low, s.at_high + high))


def products(box: Box, s: State) -> float:
    """Σ_n at_low_n (x_n - low_n) + at_high_n (high_n - x_n)."""
    return float(s.at_low @ (s.x - box.low) + s.at_high @ (box.high - s.x))


def residual(Q: Matrix, q: FloatArray, s: State) -> FloatArray:
    """Qx - q + y - at_low + at_high."""
    rest: FloatArray = Q.times(s.x) - q + s.y - s.at_low + s.at_high
    return rest


def touches(box: Box, s: State) -> bool:
    """Whether rounding has put an x on its bound, where the method ends."""
    return bool(min((s.x - box.low).min(), (box.high - s.x).min()) <= 0)


def mehrotra_step(Q: Matrix, q: FloatArray, box: Box, s: State) -> State:
    """One round: look how far μ could fall, then go towards that μ.

    The second right-hand side also takes back the products dx · dat_low and
    dx · dat_high, which the linear equations of the first have left out.
    """
    newton = newton_system(Q, q, box, s)
    low, high = s.at_low * (s.x - box.low), s.at_high * (box.high - s.x)
    look = newton(-low, -high)
    before = products(box, s)
    after = products(box, moved(s, look, longest(box, s, look)))
    mu = (after / before) ** 3 * before / (2 * len(s.x))
    step = newton(
        mu - low - look.x * look.at_low, mu - high + look.x * look.at_high
    )
    return moved(s, step, STOP_SHORT * longest(box, s, step))


def newton_system(
    Q: Matrix, q: FloatArray, box: Box, s: State
) -> Callable[[FloatArray, FloatArray], State]:
    """Factorise once; the result solves the linearised conditions.

    Its arguments are the changes wanted of the products at_low (x - low) and
    at_high (high - x).
    """
    down, up = s.x - box.low, box.high - s.x
    rest = residual(Q, q, s)
    surplus = float(s.x.sum()) - box.total
    solve = Q.plus(s.at_low / down + s.at_high / up)
    ones = solve(np.ones(len(s.x)))

    def step(low: FloatArray, high: FloatArray) -> State:
        dx = solve(low / down - high / up - rest)
        dy = (float(dx.sum()) + surplus) / float(ones.sum())
        dx -= dy * ones
        return State(
            dx, dy, (low - s.at_low * dx) / down, (high + s.at_high * dx) / up
        )

    return step


def moved(s: State, step: State, a: float) -> State:
    """s + a · step."""
    return State(
        s.x + a * step.x,
        s.y + a * step.y,
        s.at_low + a * step.at_low,
        s.at_high + a * step.at_high,
    )


def longest(box: Box, s: State, step: State) -> float:
    """The largest a <= 1 that leaves nothing negative in s + a · step."""
    fastest = min(
        float((step.x / (s.x - box.low)).min()),
        float((-step.x / (box.high - s.x)).min()),
        float((step.at_low / s.at_low).min()),
        float((step.at_high / s.at_high).min()),
    )
    return 1 / max(1.0, -fastest)


def pivoted_cholesky(K: FloatArray, largest: float) -> FloatArray | None:
    """G with 0 <= diag(K - GGᵀ) <= largest, or None if it gets wide.

    Always the example that the columns so far explain worst comes next.
    """
    rest = K.diagonal().copy()
    most = max(len(K) // NARROW, min(len(K), ALWAYS_NARROW))
    columns = np.empty((most, len(K)))
    for r, g in enumerate(columns):
        i = int(rest.argmax())
        if rest[i] <= largest:
            return columns[:r].T if r else None
        np.subtract(K[i], columns[:r, i] @ columns[:r], out=g)
        g /= np.sqrt(rest[i])
        rest -= g * g
    return None


def with_jitter(A: FloatArray, eps: float = EPS) -> FloatArray:
    """A with its diagonal raised a little above rounding, in place.

    Relative to each entry, so that it does not depend on the units of any x.
    ``eps`` is the precision to which the entries of A are known.
    """
    A.flat[:: len(A) + 1] *= 1 + JITTER * len(A) * eps
    return A


def cholesky(A: FloatArray) -> Solve:
    """Factorise a symmetric A in place; the result solves with it."""
    U, failed = dpotrf(A.T, clean=0, overwrite_a=1)
    if failed:
        raise LinAlgError(f"pivot {failed} is not positive")
    return lambda b: dpotrs(U, b)[0]
