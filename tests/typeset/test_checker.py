"""What holds in one world, what does not, and what the messages say."""

import re
from typing import Any

import numpy as np
import pytest

from . import STANDARD, Disagreement, Equation, FormulaError, bindings
from .bindings import Of
from .mutants import mutants

A = np.array([[2.0, 1.0], [0.0, 4.0]])
V = np.array([3.0, 4.0])
DRAWS = 1 + np.random.default_rng(0).standard_normal((20_000, 2)) @ A.T
STEPS = [{"z": float(z)} for z in np.linspace(-2, 2, 41)]
POINTS = [np.array(point) for point in ([3.0, 3.0], [1.0, 3.0], [2.0, 2.0])]


def p(*of: Any, given: tuple[Any, ...]) -> Any:
    events = [g.value for g in given if isinstance(g, bindings.Event)]
    return 10 * len(of) + sum(events)


WORLD = {
    r"\mathbf A": A,
    r"\mathbf v": V,
    r"\mathbf w": np.array([1.0, 2.0]),
    r"\mathbf t": np.array([10.0, 20.0, 30.0]),
    "a": 2.0,
    "b": 5.0,
    "r": 3.0,
    "N": 3,
    "n": range(1, 4),
    "m": range(1, 4),
    "s": bindings.Each([0.5, 1.5]),
    "f": lambda x: x**2 + 1,
    "k": lambda x, z: x + z,
    r"\Theta": lambda x: float(x >= 0),
    r"\mathbf x_": np.arange(6.0).reshape(3, 2),
    r"\mathbf x": V,
    "u_": bindings.From(0, np.array([10.0, 20.0])),
    "c_": lambda i, j: 10 * i + j,
    "d_": {1: 7.0, (1, 2): 8.0},
    "l": 3,
    "h_^": lambda i, layer: 10 * i + layer,
    "g^{-1}": lambda x: -x,
    r"q(a \mid b)": 7,
    r"\boldsymbol\mu^*": np.array([1.0, 2.0]),
    "q_1 + q_2 = a": [{"q": np.array([i, 2.0 - i])} for i in range(3)],
    r"\mathcal M": [1, 3],
    r"\min_z": STEPS,
    r"\inf_{z}": STEPS,
    r"\arg\min_{z}": STEPS,
    r"\inf_{\mathbf y}": [{r"\mathbf y": point} for point in POINTS],
    r"\sup_{y \ge 0, z}": [{"y": y, "z": 1.0} for y in (-2.0, 0.0, 1.0)],
    "g_": lambda i: lambda y: 2 - y[i - 1],
    "i": range(1, 3),
    "I": 2,
    r"F \sim \mathcal{GP}(0, k)": True,
    r"F \sim \mathcal{GP}(1, k)": False,
    r"\langle \rangle": lambda g, h: g(1.0) * h(2.0),
    "p": bindings.Law(p),
    r"\boldsymbol\xi": bindings.Sample(DRAWS),
    r"\mathbf S": A @ A.T,
    r"\mathbf e": np.ones(2),
    r"\mathbf C": Of("r", lambda r: np.diag([r, r**2])),
    "T": Of("m", lambda m: 10.0 * m),
    "L": Of(r"\mathbf v", "a", lambda v, a: a * v @ v),
}
EQUAL = r"""
2 a b = 20
a / b = 0.4
-a^2 = -4
b - a - 1 = 2
\frac{a}{b} b = 2
\mathbf v^\top \mathbf w = 11
\mathbf v \mathbf w^\top = \begin{bmatrix} 3 & 6 \\ 4 & 8 \end{bmatrix}
\mathbf A \mathbf v = \begin{bmatrix} 10 \\ 16 \end{bmatrix}
\mathbf A^\top \mathbf v = (6, 19)^\top
\mathbf A^{-1} \mathbf A \mathbf v = \mathbf v
\mathbf A^{-\top} \mathbf A^\top \mathbf v = \mathbf v
\mathbf A^2 \mathbf v = \mathbf A \mathbf A \mathbf v
\lVert \mathbf v \rVert^2 = 25
|\mathbf A| = 8
|a - b| = 3
\ln |\mathbf A| = 3 \ln a
\operatorname{tr}(\mathbf A) = 6
A_{1,2} = 1
[\mathbf A^{-1}]_{2,2} = 0.25
\mathbf I_2 \mathbf v = \mathbf v
\sqrt{a b + 6} = 4
\binom{N + 1}{2} + N! = 12
\lfloor b / a \rfloor = 2
\exp(0) + \max(0, a, b) = 6
\sin^2(a) + \cos^2(a) = 1
f(a)^2 + f^2(a) = 50
a (b + 1) = 12
\sum_{n=1}^{N} t_n = 60
\sum_{n=1}^{N} n t_n + 1 = 141
\prod_{n=2}^{N} n = 6
\sum_{n=1}^{N} \sum_{m=1}^{n} m = 10
(t_1, \dots, t_N)^\top = \mathbf t
\begin{bmatrix} \mathbf A & \mathbf v \\ \mathbf 0 & 1 \end{bmatrix}
  = \begin{bmatrix} 2 & 1 & 3 \\ 0 & 4 & 4 \\ 0 & 0 & 1 \end{bmatrix}
\begin{bmatrix} t_1 \\ \vdots \\ t_N \end{bmatrix} = \mathbf t
\begin{bmatrix} t_1 t_1 & \cdots & t_1 t_N \\ \vdots & \ddots & \vdots \\
  t_N t_1 & \cdots & t_N t_N \end{bmatrix} = \mathbf t \mathbf t^\top
\begin{bmatrix} 1 & t_1 \\ \vdots & \vdots \\ 1 & t_N \end{bmatrix} \mathbf w
  = \begin{bmatrix} 21 \\ 41 \\ 61 \end{bmatrix}
\int_0^a x^2\, dx = 8 / 3
\int_0^\infty e^{-x}\, dx = 1
\lim_{h \to 0^+} \frac{f(a + h) - f(a)}{h} = 4
\nabla f(a) = 4
\frac{\partial a^3}{\partial a} = 12
\frac{\partial a^3}{\partial \ln a} = 24
\frac{\partial a^3}{\partial a} \Big|_{a = 1} = 3
\frac{d}{da} f(a) = 4
\frac{\partial}{\partial a} a^2 b = 20
\frac{\partial L}{\partial a} = 25
\nabla_{\mathbf v} L = 4 \mathbf v
\frac{\partial \mathbf C}{\partial r}
  = \begin{bmatrix} 1 & 0 \\ 0 & 6 \end{bmatrix}
\delta_{1,1} + \delta_{1,2} = 1
(\mathbf A^\top \mathbf A)^{\frac{1}{2}} (\mathbf A^\top \mathbf A)^{1/2}
  = \mathbf A^\top \mathbf A
\mathbf x_2 = (2, 3)^\top
\mathbf x = (3, 4)^\top
u_0 = 10
c_{2, 5} = 25
d_1 + d_{1, 2} = 15
h_2^{(l)} = 23
g^{-1}(a) = -2
q(a \mid b) + 1 = 8
\mu_2^* = 2
n^2 = n n
\sum_{m \ne n} t_m = 60 - t_n
\sum_{t_n = 20} t_n = 20
\sum_{q_1 + q_2 = a} q_1 = 3
\sum_{1 \le n < m \le N} n m = 11
\sum_{n \in \mathcal M} t_n = 40
\sum_{n=1}^{N} \mathbb 1[t_n > 15] n = 5
\begin{cases} 1 & \text{if } a \ge 0 \\ 0 & \text{otherwise} \end{cases}
  = \Theta(a)
\begin{cases} 1 & -a \ge 0 \\ 0 & -a < 0 \end{cases} = \Theta(-a)
\min_n t_n = 10
\arg\min_{z} (z - 1)^2 = 1
\inf_{z} \{ z^2 + 1 : z \ge 1 \} = a
\sup_{y \ge 0, z} y^2 + z = a
\inf_{\mathbf y} \{ \mathbf y^\top \mathbf y : g_i(\mathbf y) \le 0 \} = 8
\inf_{\mathbf y} \{ \mathbf y^\top \mathbf y : g_i(\mathbf y) \le 0,\
  i = 1, \dots, I \} = 8
\langle f, k(\cdot, a) \rangle = 8
p(a \mid t = l) = 13
p(a, t = l) = 20
T = t_m
\mathbb E[\boldsymbol\xi] = \mathbf e
\operatorname{cov}[\boldsymbol\xi] = \mathbf S
\mathbb E[\boldsymbol\xi \boldsymbol\xi^\top]
  - \mathbb E[\boldsymbol\xi] \mathbb E[\boldsymbol\xi]^\top = \mathbf S
"""
TRUE = r"""
a = 2 = \frac{4}{2}, \qquad a < b \le 5
n = 1, 2, \dots, N
t_n > 0 \quad (n = 1, \dots, N)
a = \pm 2
-a = \pm 2
a \le b
\nabla f(a) = 4.000001
a \in \mathbb R
\mathbf v \in \mathbb R^2
F \sim \mathcal{GP}(0, k)
\boldsymbol\xi \sim \mathcal N(\mathbf e, \mathbf S)
"""
FALSE = [
    ("a = 2 = 3", "page:1: equation: 2 = 3: 2 and 3"),
    ("n^2 < 7", "(at n = 3)"),
    ("s < 1", "(at s = 1.5)"),
    (r"b \le a", "5. and 2."),
    (r"n = 0, \dots, N", "n runs over [1, 2, 3], not [0, 1, 2, 3]"),
    (r"t_n > 0 \quad (n = 2, \dots, N)", "n runs over"),
    (r"\inf_{z} \{ z : z \ge 1,\ n = 2, \dots, N \} = 1", "n runs over"),
    (r"\inf_{z} \{ z : z \ge 9 \} = a", "no candidate"),
    (r"a = \pm 3", "2. and"),
    ("T = t_m + m", "(at m = 1)"),
    (r"\mathbb E[\boldsymbol\xi] = 1.1 \mathbf e", "and [1.1 1.1]"),
    (r"\operatorname{cov}[\boldsymbol\xi] = 1.1 \mathbf S", "and"),
    (r"\boldsymbol\xi \sim \mathcal N(\mathbf e, \mathbf I_2)", "and"),
    (r"\mathbf v \in \mathbb R^3", "Reals(size=3)"),
    (r"F \sim \mathcal{GP}(1, k)", "is bound to be false"),
    (r"\nabla f(a) = 4.00004", "4.00004"),
    (r"\nabla f(a) = 4, \quad a^2 = 4.000001", "4.000001"),
    (r"\nabla f(a) = 4.000001 = a^2", "4.000001"),
]
UNFIT = [
    ("a = Q", "Q is not bound"),
    ("a = Q_1", "Q is not bound in Q_1"),
    ("a = b^*", "^* is not bound"),
    (r"\mathbf A \mathbf v^\top = 1", "multiply a 2×2 matrix by a row of 2"),
    (r"\mathbf v + a = 1", "cannot add a vector of 2 and a number"),
    (r"\mathbf v = a", "a vector of 2 against a number"),
    ("t_4 = 1", "index 4 is outside 1..3 in t_4"),
    ("t_{1,1} = 1", "2 indices, but 1 axes in t_{1, 1}"),
    ("d_2 = 1", "there is no 2 in d_2"),
    (r"\ln a b = 1", r"how far does \ln reach"),
    ("f + a = 1", "a number or array is needed, not a function"),
    (r"\frac{1}{a - 2} = 1", r"divided by 0 in \frac{1}{a - 2}"),
    (r"\frac{1}{\mathbf v} = 1", "divided by a vector of 2"),
    (r"|\mathbf v| = 1", r"|…| of a vector of 2"),
    (r"\binom{a}{0.5} = 1", "0.5 must be a whole number"),
    (r"\mathbf v^2 = 1", "a vector of 2 has no power"),
    (r"\sqrt{-a} = 1", "root of a negative number"),
    (r"\int f(x)\, dx = 1", "dx is not bound to"),
    (r"\nabla_b f(a) = 0", "with respect to b?"),
    (r"\sum_a a = 1", "bind a to the values it runs over"),
    (r"\{ a : b > 0 \} = 1", "a set, where a value is needed"),
    ("a + b", "claims nothing"),
    ("a + b = a + b", "says nothing"),
    (r"(a \le {a})", "says nothing"),
]


def equations(block: str) -> list[str]:
    return re.split(r"\n(?! )", block.strip())


def check(latex: str, **more: Any) -> None:
    Equation(latex).check(WORLD | more)


@pytest.mark.parametrize("latex", equations(EQUAL))
def test_an_equation_holds_and_its_denial_does_not(latex: str) -> None:
    check(latex)
    with pytest.raises(Disagreement):
        check(r" \ne ".join(latex.rsplit(" = ", 1)))


@pytest.mark.parametrize("latex", equations(TRUE))
def test_other_statements_hold(latex: str) -> None:
    check(latex)


@pytest.mark.parametrize(("latex", "message"), FALSE)
def test_what_is_false_is_shown_with_values(latex: str, message: str) -> None:
    with pytest.raises(Disagreement, match=re.escape(message)):
        check(latex)


@pytest.mark.parametrize(("latex", "message"), UNFIT)
def test_errors_say_what_does_not_fit(latex: str, message: str) -> None:
    with pytest.raises(FormulaError, match=re.escape(message)):
        check(latex)


def test_a_bound_is_an_equality_in_a_tight_world() -> None:
    with pytest.raises(Disagreement):
        check(r"a \le b", **{"@tight": True})


def test_optima_obey_what_they_are_subject_to() -> None:
    problem = r"\min_z z^2 + 1 \quad \text{subject to} \quad z \ge 1"
    check(problem, **{"=": 2.0})
    with pytest.raises(Disagreement):
        check(problem.replace(r"\ge 1", r"\ge 0"), **{"=": 2.0})


def test_an_arrow_assigns_to_the_symbol_on_its_left() -> None:
    check(r"b \leftarrow b + 1", **{r"\leftarrow": 6.0})
    check(r"b \leftarrow b + 1", **{r"\leftarrow": {"b": 6.0}})
    with pytest.raises(Disagreement):
        check(r"a \leftarrow b + 1", **{r"\leftarrow": {"b": 6.0}})


@pytest.mark.parametrize(
    ("latex", "message"),
    [
        ("a =\n  (b + c", "plane.md:6: eq-x, column 9: ends too early"),
        ("a =\n  Q", "plane.md:6: eq-x, column 3: Q is not bound"),
        ("a = 3", "plane.md:5: eq-x: a = 3: 2. and 3"),
    ],
)
def test_messages_name_file_line_label_and_column(
    latex: str, message: str
) -> None:
    with pytest.raises((FormulaError, Disagreement)) as error:
        Equation(latex, "eq-x", "plane.md", 5).check(WORLD)
    assert str(error.value) == message


def test_a_series_without_end_cannot_end_one_early() -> None:
    def early(latex: str) -> list[str]:
        found = mutants(STANDARD.parse(latex), {})
        return [name for name, _ in found if "- 1}" in name]

    assert len(early(r"\sum_{j=1}^{M} a_j = b")) == 1
    assert not early(r"\sum_{j=1}^{\infty} a_j = b")
