"""What the README and a page of another book say holds; misprints do not."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from . import Disagreement, Equation, FormulaError, Notation, Sample, judged
from .mutants import mutants
from .notation import STANDARD

HERE = Path(__file__).parent
README = (HERE / "README.md").read_text("utf-8")
EQUAL, TRUE, ALIKE = (
    re.split(r"\n(?! )", block.strip())
    for block in re.findall(r"```(?:latex|text)\n(.*?)```", README, re.S)
)
NAMES: dict[str, Any] = {}
exec(re.findall(r"```python\n(.*?)```", README, re.S)[-1], NAMES)
SUBJECT = (  # the minimum inside is subject to nothing
    r"\min_z z^2 + \inf_{z} (z^2 + 1) \quad \text{subject to} \quad z \ge "
)
SETTINGS: dict[str, dict[str, Any]] = {
    r"a \le 2 @ a \le b": {"@tight": True},
    f"{SUBJECT} 1 @ {SUBJECT} 0": {"=": 2.0},
    r"b \leftarrow b + 1 @ a \leftarrow b + 1": {r"\leftarrow": {"b": 6.0}},
}
FALSE = r"""
a = 2 = 3 % plane.md:5: eq-x: 2 = 3: 2 and 3
n^2 < 7 % (at n = 3)
s < 1 % (at s = 1.5)
b \le a % 5 and 2
\ln(-a) = 1 % nan and 1
n = 0, \dots, N % n runs over [1, 2, 3], not [0, 1, 2, 3]
t_n > 0 \quad (n = 2, \dots, N) % n runs over
\inf_{z} \{ z : z \ge 1,\ n = 2, \dots, N \} = 1 % n runs over
\inf_{z} \{ z : z \ge 9 \} = a % no candidate
a = \pm 3 % 2 and
(-1)^1 < \dots < (-1)^3 % 1 and -1
T = t_m + m % (at m = 1)
\mathbb E[\boldsymbol\xi] = 1.1 \mathbf e % and [1.1 1.1]
\operatorname{cov}[\boldsymbol\xi] = 1.1 \mathbf S % and
\boldsymbol\xi \sim \mathcal N(\mathbf e, \mathbf I_2) % and
\mathbf v \in \mathbb R^3 % Reals(size=3)
\mathbf v \propto -\mathbf v % and
F \sim \mathcal{GP}(1, k) % is bound to be false
\nabla f(a) = 4.00004 % 4.00004
\nabla f(a) = 4, \quad a^2 = 4.000001 % 4.000001
\nabla f(a) = 4.000001 = a^2 % 4.000001
\nabla H(a) = 4.000001 % 4.000001
"""
UNFIT = r"""
2 a + 1 = 1 + a \cdot 2 % says nothing
\frac{1}{2} a^{b + 1} = a^{1 + b} / 2 % says nothing
\sqrt{a b} \mathbf v = \mathbf v \sqrt{b a} % says nothing
\frac{1}{2} \lVert \mathbf v \rVert = \lVert \mathbf v \rVert / 2 % nothing
a = Q % plane.md:5: eq-x: Q: not bound
a = Q_1 % Q_1: not bound
a = b^* % ^* is not bound
\mathbf A \mathbf v^\top = 1 % multiply 2×2 by 1×2
\mathbf v + a = 1 % cannot add 2×1 and 1×1
\mathbf v = a % 2×1 against 1×1
a \propto b % always proportional
t_4 = 1 % t_4: index 4 is outside 1..3
t_{1,1} = 1 % has no len
d_2 = 1 % d_2: 2
\ln a b = 1 % how far does \ln reach
f + a = 1 % a number or array is needed, not a function
\frac{1}{a - 2} = 1 % \frac{1}{a - 2}: divide by zero
\frac{1}{\mathbf v} = 1 % divided by 2×1
|\mathbf v| = 1 % must be square
\mathbf v^2 = 1 % must be square
\binom{a}{0.5} = 1 % 0.5 must be a whole number
\sqrt{-a} = 1 % invalid value
\begin{bmatrix} \mathbf A \\ \mathbf v \end{bmatrix} = 1 % must match exactly
\int f(x)\, dx = 1 % dx is not bound to
\nabla_b f(a) = 0 % with respect to b?
\sum_a a = 1 % bind a to the values it runs over
\{ a : b > 0 \} = 1 % a set, where a value is needed
a + b % claims nothing
a + b = a + b % says nothing
(a \le {a}) % says nothing
a = (b + c % cannot be read
a = b + ) c % ) c
a = \frac{1}{ % cannot be read
a_n_m = 1 % cannot be read
\int f(x) % cannot be read
a = b \\ = % cannot be read
"""
# A page of another book, with its macros and habits, and misprints in it.
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
PAGE = (HERE / "plane.md").read_text("utf-8")
MISPRINTS = r"""
difference: u - \vec becomes u + \vec
difference: \R^2 becomes \R^3
cosine: - 2 becomes + 2
cosine: \|\vec v\|^2 becomes \|\vec v\|
polarisation: \frac14 becomes \frac12
rotation: a & -b becomes a & b
rotation: a^2 + b^2 becomes a^2 - b^2
roots: [3] becomes [5]
roots: \relu x = 0 becomes \relu x = x
pairs: \neq n becomes \neq 2
pairs: i < j becomes i \le j
tax: 19\% becomes 91\%
tax: \tfrac12 becomes \tfrac13
golden: + 1 becomes - 1
golden: \varphi + 1 becomes \varphi^2
"""
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


def lines(block: str) -> list[str]:
    return block.strip().split("\n")


def check(latex: str, settings: dict[str, Any] | None = None) -> None:
    equation = Equation(latex, "eq-x", "plane.md", 5)
    equation.check(NAMES["WORLD"] | (settings or {}))


@pytest.mark.parametrize("latex", EQUAL + TRUE)
def test_what_the_readme_says_holds_and_an_equations_denial_does_not(
    latex: str,
) -> None:
    check(latex)
    if latex in EQUAL:
        with pytest.raises(Disagreement):
            check(r" \ne ".join(latex.rsplit(" = ", 1)))


@pytest.mark.parametrize("latex", lines(FALSE + UNFIT.lstrip()))
def test_what_is_false_or_does_not_fit_is_refused(latex: str) -> None:
    error = Disagreement if latex in FALSE else FormulaError
    with pytest.raises(error, match=re.escape(latex.split(" % ")[1])):
        check(latex)


@pytest.mark.parametrize("both", SETTINGS)
def test_a_world_sets_how_it_is_checked(both: str) -> None:
    right, wrong = both.split("@")
    check(right, SETTINGS[both])
    with pytest.raises(Disagreement):
        check(wrong, SETTINGS[both])


@pytest.mark.parametrize("both", ALIKE)
def test_there_is_one_way_of_writing(both: str) -> None:
    written, tidy = both.split("  is  ")
    assert str(STANDARD.parse(written)) == tidy
    assert STANDARD.parse(written) == STANDARD.parse(tidy)


@pytest.mark.parametrize("latex", [x for x in EQUAL if r"\text" not in x])
def test_canonical_text_parses_to_the_same_tree(latex: str) -> None:
    assert STANDARD.parse(str(STANDARD.parse(latex))) == STANDARD.parse(latex)


@pytest.mark.parametrize(("end", "count"), [("M", 1), (r"\infty", 0)])
def test_a_series_without_end_cannot_end_one_early(
    end: str, count: int
) -> None:
    tree = STANDARD.parse(rf"\sum_{{j=1}}^{{{end}}} a_j = b")
    assert sum("- 1}" in name for name, _ in mutants(tree, {})) == count


def test_each_mutant_meets_its_fate() -> None:
    t = np.array([1.0, 2.0, 3.0])
    world = {r"\mathbf t": t, "N": 3, "b": 3.0, "c": 0.0}
    assert judged(Equation("t_N + c = b"), [world]) == {
        "sign: t_N + c → t_N - c": "survived",
        "term: t_N + c → t_N": "survived",
        "term: t_N + c → c": "value",
        "index: t_N → t_{N + 1}": "value",  # it runs round
        "symbol: c → b": "value",
        "symbol: b → c": "value",
    }


def on_page(page: str, label: str) -> Equation:
    found = re.search(rf"\$\$([^$]+)\$\$ \({label}\)", page)
    assert found
    line = page.count("\n", 0, found.start(1)) + 1
    return Equation(found[1], label, "plane.md", line, BOOK)


@pytest.mark.parametrize("label", re.findall(r"\$\$ \((.*)\)", PAGE))
def test_the_page_of_another_book_holds(label: str) -> None:
    on_page(PAGE, label).check(WORLD)


@pytest.mark.parametrize("misprint", lines(MISPRINTS))
def test_its_misprints_are_rejected_and_located(misprint: str) -> None:
    label, _, change = misprint.partition(": ")
    right, wrong = change.split(" becomes ")
    assert right in on_page(PAGE, label).latex
    spoilt = on_page(PAGE.replace(right, wrong), label)
    where = rf"^plane\.md:\d+: {label}: .*( and |says nothing)"
    with pytest.raises((Disagreement, FormulaError), match=where):
        spoilt.check(WORLD)
