"""What a world may bind besides numbers, arrays and functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Value = Any


class Each(list[Any]):
    """Values that a free symbol takes one after the other."""


@dataclass
class Sample:
    """Draws of a random quantity along the first axis."""

    draws: Any

    @property
    def shape(self) -> Any:
        return self.draws.shape[1:]

    def __getitem__(self, index: Any) -> Sample:
        return Sample(self.draws[:, *np.atleast_1d(index)])


@dataclass
class From:
    """A family whose first member has the index ``start``, not 1."""

    start: int
    members: Any


class Of:
    """A value that depends on other symbols: ``Of("p", lambda p: C(p))``."""

    def __init__(self, *names_and_function: Any) -> None:
        *self.names, self.function = names_and_function


@dataclass
class Law:
    """A function that wants to know what is given.

    p(x | t = k) calls ``function(x, given=(Event("t", k),))``.
    """

    function: Callable[..., Value]

    def __call__(self, *of: Value, given: tuple[Value, ...] = ()) -> Value:
        return self.function(*of, given=given)


@dataclass(frozen=True)
class Event:
    """The argument ``t = k`` of a probability."""

    name: str
    value: Value


@dataclass
class Normal:
    """The distribution N(mean, covariance), as what follows a ~."""

    mean: Value
    covariance: Value


@dataclass
class Reals:
    """The real numbers, or vectors of ``size`` of them."""

    size: int | None = None

    def __contains__(self, value: Value) -> bool:
        fits = self.size in (None, np.size(value))
        return fits and bool(np.all(np.isfinite(value)))


def several(value: Value) -> bool:
    """Whether a symbol takes these values one after the other."""
    return isinstance(value, range | Each)
