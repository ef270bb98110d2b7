r"""A page of another book, with its macros and habits, and misprints in it."""

import re

import numpy as np
import pytest

from . import (
    Disagreement,
    Equation,
    FormulaError,
    Notation,
    Sample,
    judged,
)

BOOK = Notation(
    macros={
        r"\R": r"\mathbb{R}",
        r"\E": r"\mathbb{E}\left[ #1 \right]",
        r"\vec": r"\mathbf{#1}",
        r"\inner": r"\langle #1, #2 \rangle",
        r"\per": r"\frac{#2}{#1}",
        r"\relu": r"\operatorname{relu}",
    },
    meanings={
        r"\relu": lambda x: max(x, 0.0),
        r"\varphi": (1 + 5**0.5) / 2,
    },
)
PAGE = r"""
# The plane

$$ \vec c \coloneqq \vec u - \vec v, \qquad \vec c \in \R^2 $$ (difference)

$$
\begin{align*}
\|\vec c\|^2 &= \underbrace{\|\vec u\|^2 + \|\vec v\|^2}_{\text{Pythagoras}} \\
  &\quad - 2 \inner{\vec u}{\vec v}
\end{align*}
$$ (cosine)

$$ \frac14 \left\{ \|\vec u + \vec v\|^2 - \|\vec c\|^2 \right\}
   = \overbrace{\vec u^\top \vec v}^{n \text{ terms}} $$ (polarisation)

$$ Q := \begin{pmatrix} a & -b \\[2pt] b & a \end{pmatrix}, \quad
   \begin{vmatrix} a & -b \\ b & a \end{vmatrix} = a^2 + b^2 $$ (rotation)

$$ \sqrt[3]{x} = -\sqrt{4}, \quad \relu x = 0 $$ (roots)

$$ \sum_{\substack{1 \le i < j \le n \\ i + j \neq n}} i j
   = \dfrac{n (n - 1)}{2} + 26 $$ (pairs)

$$ \tau = 19\% \cdot P, \quad \E{z | P} = \tfrac12 P $$ (tax)

$$ \varphi^2 = \varphi + 1, \quad \varphi = \per{\sqrt5 - 1}{2}. $$ (golden)
"""
MISPRINTS = [
    ("difference", r"\vec u - ", r"\vec u + "),
    ("difference", r"\R^2", r"\R^3"),
    ("cosine", "- 2", "+ 2"),
    ("cosine", r"\|\vec v\|^2", r"\|\vec v\|"),
    ("polarisation", r"\frac14", r"\frac12"),
    ("rotation", "a & -b", "a & b"),
    ("rotation", "a^2 + b^2", "a^2 - b^2"),
    ("roots", "[3]", "[5]"),
    ("roots", r"\relu x = 0", r"\relu x = x"),
    ("pairs", r"\neq n", r"\neq 2"),
    ("pairs", "i < j", r"i \le j"),
    ("tax", r"19\%", r"91\%"),
    ("tax", r"\tfrac12", r"\tfrac13"),
    ("golden", "+ 1", "- 1"),
    ("golden", r"\varphi + 1", r"\varphi^2"),
]
rng = np.random.default_rng(0)
u, v = rng.standard_normal((2, 2))
WORLD = {
    r"\vec u": u,
    r"\vec v": v,
    r"\vec c": u - v,
    "Q": np.array([[0.5, -2.0], [2.0, 0.5]]),
    "a": 0.5,
    "b": 2.0,
    "x": -8.0,
    "n": 4,
    "i": range(1, 5),
    "j": range(1, 5),
    "P": 100.0,
    r"\tau": 19.0,
    "z": lambda P: Sample(P * rng.uniform(size=20_000)),
}


def equation(page: str, label: str) -> Equation:
    found = re.search(rf"\$\$([^$]+)\$\$ \({label}\)", page)
    assert found
    line = page.count("\n", 0, found.start(1)) + 1
    return Equation(found[1], label, "plane.md", line, BOOK)


@pytest.mark.parametrize("label", re.findall(r"\$\$ \((.*)\)", PAGE))
def test_the_page_of_another_book_holds(label: str) -> None:
    equation(PAGE, label).check(WORLD)


@pytest.mark.parametrize(("label", "right", "wrong"), MISPRINTS)
def test_its_misprints_are_rejected_and_located(
    label: str, right: str, wrong: str
) -> None:
    assert right in equation(PAGE, label).latex
    spoilt = equation(PAGE.replace(right, wrong), label)
    where = rf"^plane\.md:\d+: {label}.*: .*( and |says nothing)"
    with pytest.raises((Disagreement, FormulaError), match=where):
        spoilt.check(WORLD)


def test_its_mutants_are_rejected() -> None:
    fates = judged(equation(PAGE, "cosine"), [WORLD])
    assert len(fates) > 5
    assert "survived" not in fates.values()
