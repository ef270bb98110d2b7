"""The registry: what commands and names mean before a world says otherwise."""

import math
import re
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special, stats

from . import arrays, latex
from .bindings import Normal, Reals, Value, World
from .nodes import Node

MACROS = {
    ":=": "=",
    r"\coloneqq": "=",
    r"\leq": r"\le",
    r"\geq": r"\ge",
    r"\neq": r"\ne",
    r"\lt": "<",
    r"\gt": ">",
    r"\tfrac": r"\frac",
    r"\dfrac": r"\frac",
    r"\%": "/100",
    r"\substack": "#1",
    r"\operatorname*": r"\operatorname",
    r"\begin{pmatrix}": r"\begin{bmatrix}",
    r"\end{pmatrix}": r"\end{bmatrix}",
    r"\begin{vmatrix}": r"\lvert\begin{bmatrix}",
    r"\end{vmatrix}": r"\end{bmatrix}\rvert",
}


def normal(*arguments: Value) -> Value:
    """N(x | mean, covariance) is a density, N(mean, covariance) a law."""
    if len(arguments) == 2:
        return Normal(*arguments)
    x, mean, covariance = arguments
    x = np.atleast_1d(x)
    covariance = np.reshape(covariance, (len(x), len(x)))
    mean = np.broadcast_to(mean, x.shape)
    return stats.multivariate_normal(mean, covariance).pdf(x)


OF_NUMPY = "exp log sin cos tan cosh tanh arcsin arctan"
MEANINGS: dict[str, Value] = {
    **{rf"\{name}": getattr(np, name) for name in OF_NUMPY.split()},
    r"\ln": np.log,
    r"\max": lambda *v: np.maximum.reduce(np.broadcast_arrays(*v)),
    r"\min": lambda *v: np.minimum.reduce(np.broadcast_arrays(*v)),
    r"\det": np.linalg.det,
    r"\operatorname{tr}": np.trace,
    r"\operatorname{rank}": np.linalg.matrix_rank,
    r"\operatorname{diag}": np.diag,
    r"\operatorname{sign}": np.sign,
    r"\operatorname{sgn}": np.sign,
    r"\operatorname{cov}": arrays.covariance,
    r"\operatorname{var}": arrays.covariance,
    r"\mathbb E": arrays.mean,
    r"\mathbb P": arrays.mean,
    r"\mathbb 1": float,
    r"\langle \rangle": np.vdot,
    r"\mathbb R": Reals(),
    r"\mathcal N": normal,
    r"\Gamma": special.gamma,
    r"\pi": math.pi,
    "e": math.e,
    r"\infty": math.inf,
    r"\mathbf 0": 0.0,
    r"\mathbf I_": lambda n: np.eye(int(n)),
    r"\mathbf 1_": lambda n: np.ones(int(n)),
    r"\delta_": lambda n, m: float(n == m),
}


class Notation:
    r"""What a book writes: its macros, and what its commands mean.

    A macro is given as ``{r"\vec": r"\mathbf{#1}"}``, a meaning as
    ``{r"\operatorname{relu}": relu}``; a function is applied without brackets
    too.  A world may say otherwise.
    """

    def __init__(self, macros: Any = (), meanings: Any = ()) -> None:
        self.macros = MACROS | dict(macros)
        self.meanings = MEANINGS | self.keyed(dict(meanings))

    def parse(self, text: str) -> Node:
        """The tree of a formula."""
        return latex.parse(text, self.macros)

    def keyed(self, world: World) -> dict[str, Value]:
        """The world under canonical keys."""
        return {key_of(self, key): value for key, value in world.items()}


@lru_cache(8192)
def expression(notation: Notation, text: str) -> Node:
    """The tree of one expression, such as a world's key."""
    tree = notation.parse(text)
    return tree if tree.words else tree.parts[0]


@lru_cache(8192)
def key_of(notation: Notation, key: str) -> str:
    r"""``\mathbf x_`` is a family, ``\min_{b}`` and ``dx`` are themselves."""
    if re.fullmatch(r"@.*|=|\\to|\\leftarrow|\\langle \\rangle", key):
        return key
    if ending := re.search(r"_\^$|[_^]$", key):
        return expression(notation, key[: ending.start()]).text + ending[0]
    if re.match(r"(\\arg\s*)?\\(min|max|inf|sup)\s*_", key):
        return expression(notation, key + "{1}").heading
    if re.match(r"d[a-zA-Z\\]", key):
        return "d" + expression(notation, key[1:]).text
    return expression(notation, key).text


STANDARD = Notation()
