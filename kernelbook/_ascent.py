"""Climbing a function of positive numbers, such as a marginal likelihood.

The function f is maximised over the logarithms of its arguments by L-BFGS-B,
inside a box around the values given.  Where f cannot be computed (a kernel
overflows, a matrix is no longer positive definite) the search must turn
round, not end: there it sees, instead of f, the bowl

    f(x₀) - STEEP (1 + |f(x₀)|) ‖x - x₀‖²

around x₀, the last place where f was known.  The line search meets a wall and
goes back.  Should it end in the bowl all the same, because f still rises where
it is known last, the climb ends at x₀ and is called stalled.

Near the top of an ill-conditioned likelihood rounding hides what a step would
gain, and the line search gives up; on which machine, is chance.  The climb has
converged all the same if its own model, f plus a slope g and a curvature -H⁻¹,
promises a gain ½ gᵀHg below what L-BFGS-B calls none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from kernelbook._checks import FloatArray
from kernelbook._progress import CONVERGED, Progress

Function = Callable[[Mapping[str, float]], tuple[float, dict[str, float]]]

RANGE = 1e6  # how far, as a factor, the search goes from the values given
STEEP = 100.0  # of the bowl, per squared unit of ln p
GAIN = 2.2e-9  # times 1 + |f|: less is none, as in L-BFGS-B (its ftol)
STATUS = {0: CONVERGED, 1: "max_iterations"}  # of L-BFGS-B; else "stalled"


@dataclass(frozen=True)
class Climb:
    """One ascent of the marginal likelihood.

    From the hyperparameters and ``beta`` in ``start`` to those in ``end``,
    where the log marginal likelihood is ``value``, in so many ``evaluations``
    of value and gradient.  ``status`` is "converged" if the gradient has
    vanished; ``edge`` names what ended at the edge of the allowed range.
    """

    start: dict[str, float]
    end: dict[str, float]
    value: float
    evaluations: int
    status: str
    edge: tuple[str, ...]

    @property
    def converged(self) -> bool:
        """Whether the gradient has vanished."""
        return self.status == CONVERGED


@dataclass
class Ascent:
    """A function of some of the given numbers, by name, and its climbs."""

    function: Function
    given: Mapping[str, float]
    names: list[str]
    progress: Progress
    climbs: int = 0
    best: float = -np.inf

    def climb(self, shift: FloatArray, evaluations: int) -> Climb:
        """From the values given, each times exp(shift), to a maximum."""
        self.climbs += 1
        middle = np.log([self.given[name] for name in self.names])
        low, high = middle - np.log(RANGE), middle + np.log(RANGE)
        start = (middle + shift).clip(low, high)
        track = _Track(self)
        if not track.begins_at(start, must=self.climbs == 1):
            return self._ended(start, start, -np.inf, 1, "stalled", ())
        result = minimize(
            track.minus_function,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=np.transpose([low, high]),
            options={"maxfun": evaluations, "maxiter": evaluations},
        )
        end, value = result.x, -float(result.fun)
        status = STATUS.get(int(result.status), "stalled")
        if track.lost(end):
            end, value, status = track.x, track.value, "stalled"
        elif status == "stalled" and _gain(result, low, high) < GAIN:
            status = CONVERGED
        at_edge = (end <= low) | (end >= high)
        edge = tuple(np.array(self.names)[at_edge].tolist())
        return self._ended(start, end, value, int(result.nfev), status, edge)

    def values(self, x: FloatArray) -> dict[str, float]:
        """All numbers by name, with these logarithms of the free ones."""
        new = np.exp(x).tolist()
        return {**self.given, **dict(zip(self.names, new, strict=True))}

    def _ended(
        self,
        start: FloatArray,
        end: FloatArray,
        value: float,
        evaluations: int,
        status: str,
        edge: tuple[str, ...],
    ) -> Climb:
        return Climb(
            self.values(start),
            self.values(end),
            value,
            evaluations,
            status,
            edge,
        )


def _gain(result: OptimizeResult, low: FloatArray, high: FloatArray) -> float:
    """What a step inside the box would gain, over 1 + |f|."""
    slope = result.x - (result.x - result.jac).clip(low, high)
    gain = slope @ (result.hess_inv @ slope) / 2
    return float(gain / (1 + abs(result.fun)))


class _Track:
    """The function along one climb, with a bowl where it has no value."""

    def __init__(self, ascent: Ascent) -> None:
        self.ascent = ascent
        self.x = self.slope = np.empty(0)
        self.value = -np.inf
        self.evaluations = 0
        self.beyond: list[FloatArray] = []

    def begins_at(self, x: FloatArray, must: bool) -> bool:
        """Whether the function has a value at the start.

        If it ``must``, what is wrong there is the caller's to mend.
        """
        try:
            self._look(x)
        except ValueError:
            if must:
                raise
            return False
        return True

    def minus_function(self, x: FloatArray) -> tuple[float, FloatArray]:
        """What L-BFGS-B minimises, and its gradient."""
        try:
            self._look(x)
        except ValueError:
            self.beyond.append(x.copy())
            steep = STEEP * (1 + abs(self.value))
            away = x - self.x
            return -self.value + steep * float(away @ away), 2 * steep * away
        return -self.value, -self.slope

    def lost(self, x: FloatArray) -> bool:
        """Whether the function had no value at x."""
        return any(np.array_equal(x, one) for one in self.beyond)

    def _look(self, x: FloatArray) -> None:
        """Value and slope at x; a ValueError if there are none."""
        if np.array_equal(x, self.x):
            return  # the start, which L-BFGS-B asks for again
        with np.errstate(over="ignore", invalid="ignore"):
            value, slopes = self.ascent.function(self.ascent.values(x))
        if not np.isfinite(value):
            raise ValueError(f"the function must be finite, got {value}")
        self.x, self.value = x.copy(), value
        self.slope = np.array([slopes[name] for name in self.ascent.names])
        self.evaluations += 1
        ascent = self.ascent
        ascent.best = max(ascent.best, value)
        ascent.progress(
            f"start {ascent.climbs}, {self.evaluations} evaluations, "
            f"best {ascent.best:.2f}"
        )
