"""What a world may bind besides numbers, arrays and functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

Value = Any
World = Mapping[str, Value]  # by LaTeX


class Each(list[Any]):
    """Values that a free symbol takes one after the other."""


@dataclass
class Sample:
    """Draws of a random quantity along the first axis."""

    draws: Any

    def __len__(self) -> int:
        return len(self.draws[0])

    def __getitem__(self, index: int) -> Sample:
        return Sample(self.draws[:, index])


class From(NamedTuple):
    """A family whose first member has the index ``start``, not 1."""

    start: int
    members: Any


class Of:
    """A value that depends on other symbols: ``Of("p", lambda p: C(p))``."""

    def __init__(self, *names_and_function: Any) -> None:
        *self.names, self.function = names_and_function


class Law(partial[Any]):
    """A function that wants to know what is given.

    p(x | t = k) calls it with ``(x, given=(Event("t", k),))``.
    """


class Event(NamedTuple):
    """The argument ``t = k`` of a probability."""

    name: str
    value: Value


class Normal(NamedTuple):
    """The distribution N(mean, covariance), as what follows a ~."""

    mean: Value
    covariance: Value


class Reals(NamedTuple):
    """The real numbers, or vectors of ``size`` of them."""

    size: int | None = None

    def __contains__(self, value: Value) -> bool:
        fits = self.size in (None, np.size(value))
        return fits and bool(np.all(np.isfinite(value)))

    def __pow__(self, size: int) -> Reals:
        return Reals(size)


def several(value: Value) -> bool:
    """Whether a symbol takes these values one after the other."""
    return isinstance(value, range | Each)
