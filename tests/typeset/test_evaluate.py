"""The evaluator by itself: values known by hand, and its error messages."""

import math

import numpy as np
import pytest
from typeset.evaluate import Evaluator
from typeset.latex import FormulaError, parse
from typeset.values import (
    Disagreement,
    Each,
    Event,
    From,
    Law,
    Of,
    Sample,
    outward,
)

A = np.array([[2.0, 1.0], [0.0, 4.0]])
V = np.array([3.0, 4.0])
W = np.array([1.0, 2.0])
LETTERS = {
    r"\mathbf A": A,
    r"\mathbf v": V,
    r"\mathbf w": W,
    "a": 2.0,
    "b": 5.0,
    "N": 3,
    "f": lambda x: x**2 + 1,
    "t": np.array([10.0, 20.0, 30.0]),
}


def value(latex, **world):
    (statement,) = parse(latex).parts[1]
    return outward(Evaluator(LETTERS | world)(statement))


def check(latex, world):
    Evaluator(LETTERS | world).check(parse(latex))


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("2 a b", 20),
        ("a / b", 0.4),
        ("-a^2", -4),
        ("b - a - 1", 2),
        (r"\frac{a}{b} b", 2),
        (r"\mathbf v^\top \mathbf w", 11),
        (r"\mathbf v \mathbf w^\top", np.outer(V, W)),
        (r"\mathbf A \mathbf v", [10, 16]),
        (r"\mathbf A^\top \mathbf v", [6, 19]),
        (r"\mathbf A^{-1} \mathbf A", np.eye(2)),
        (r"\mathbf A^2", A @ A),
        (r"\lVert \mathbf v \rVert^2", 25),
        (r"|\mathbf A|", 8),
        ("|a - b|", 3),
        (r"\ln |\mathbf A|", math.log(8)),
        (r"\operatorname{tr}(\mathbf A)", 6),
        (r"A_{1,2}", 1),
        (r"[\mathbf A^{-1}]_{2,2}", 0.25),
        (r"\mathbf I_2 \mathbf v", V),
        (r"\sqrt{a b + 6}", 4),
        (r"\binom{N + 1}{2} + N!", 12),
        (r"\exp(0) + \max(0, a, b)", 6),
        (r"\sin^2(a) + \cos^2(a)", 1),
        (r"f(a)^2 + f^2(a)", 50),
        (r"a (b + 1)", 12),
        (r"\sum_{n=1}^{N} t_n", 60),
        (r"\sum_{n=1}^{N} n t_n + 1", 141),
        (r"\prod_{n=2}^{N} n", 6),
        (r"\sum_{n=1}^{N} \sum_{m=1}^{n} m", 10),
        (r"(t_1, \dots, t_N)", [[10, 20, 30]]),
        (r"\begin{bmatrix} \mathbf A & \mathbf v \\"
         r" \mathbf 0 & 1 \end{bmatrix}",
         [[2, 1, 3], [0, 4, 4], [0, 0, 1]]),
        (r"\begin{bmatrix} t_1 \\ \vdots \\ t_N \end{bmatrix}", [10, 20, 30]),
        (r"\int_0^a x^2\, dx", 8 / 3),
        (r"\int_0^\infty e^{-x}\, dx", 1),
        (r"\lim_{h \to 0^+} \frac{f(a + h) - f(a)}{h}", 4),
        (r"\nabla f(a)", 4),
        (r"\frac{\partial a^3}{\partial a}", 12),
        (r"\frac{\partial a^3}{\partial \ln a}", 24),
        (r"\delta_{1,1} + \delta_{1,2}", 1),
    ],
)  # fmt: skip
def test_values_known_by_hand(latex, expected):
    assert value(latex) == pytest.approx(np.array(expected), rel=1e-6)


def test_matrices_written_with_dots_are_filled_in():
    latex = (
        r"\begin{bmatrix} t_1 t_1 & \cdots & t_1 t_N \\ \vdots & \ddots &"
        r" \vdots \\ t_N t_1 & \cdots & t_N t_N \end{bmatrix}"
    )
    t = LETTERS["t"]
    np.testing.assert_allclose(value(latex), np.outer(t, t))


def test_roots_of_matrices():
    root = value(r"(\mathbf A^\top \mathbf A)^{\frac{1}{2}}")
    np.testing.assert_allclose(root @ root, A.T @ A)


def test_families_count_from_one_or_from_where_they_say():
    rows = {r"\mathbf x_": np.arange(6.0).reshape(3, 2), r"\mathbf x": V}
    np.testing.assert_allclose(value(r"\mathbf x_2", **rows), [2, 3])
    np.testing.assert_allclose(value(r"\mathbf x", **rows), V)
    assert value("t_0", t_=From(0, LETTERS["t"])) == 10
    assert value("c_{2, 5}", c_=lambda i, j: 10 * i + j) == 25
    layers = {"i": 2, "l": 3, "h_^": lambda i, layer: 10 * i + layer}
    assert value("h_i^{(l)}", **layers) == 23


def test_any_expression_may_be_bound():
    assert value("g^{-1}(a)", **{"g^{-1}": lambda x: -x}) == -2
    assert value(r"p(a \mid b) + 1", **{r"p(a \mid b)": 7}) == 8
    starred = {r"\boldsymbol\mu^*": np.array([1.0, 2.0])}
    assert value(r"\mu_2^*", **starred) == 2


def test_free_symbols_take_all_their_values():
    check("n^2 = n n", {"n": range(1, 5)})
    with pytest.raises(Disagreement, match="at n = 3"):
        check("n^2 < 7", {"n": range(1, 5)})
    with pytest.raises(Disagreement, match=r"at c = 1\.5"):
        check("c < 1", {"c": Each([0.5, 1.5])})


def test_sums_with_conditions():
    world = {"n": range(1, 4), "m": range(1, 4)}
    check(r"\sum_{m \ne n} t_m = 60 - t_n", world)
    check(r"\sum_{t_n = 20} t_n = 20", world)
    pairs = [{"q": np.array([i, 2.0 - i])} for i in range(3)]
    assert value(r"\sum_{q_1 + q_2 = a} q_1", **{"q_1 + q_2 = a": pairs}) == 3


def test_chains_and_inequalities():
    check(r"a = 2 = \frac{4}{2}, \qquad a < b \le 5", {})
    with pytest.raises(Disagreement, match="2 and 3"):
        check("a = 2 = 3", {})
    with pytest.raises(Disagreement):
        check(r"b \le a", {})
    check(r"a \le b", {})
    with pytest.raises(Disagreement):
        check(r"a \le b", {"@tight": True})
    check(r"n = 1, 2, \dots, N", {"n": range(1, 4)})
    with pytest.raises(Disagreement, match="runs over"):
        check(r"n = 0, \dots, N", {"n": range(1, 4)})
    check(r"a = \pm 2", {})
    with pytest.raises(Disagreement):
        check(r"a = \pm 3", {})


def test_cases():
    step = (
        r"f(a) = \begin{cases} 1 & \text{if } a \ge 0 \\"
        r" 0 & \text{otherwise} \end{cases}"
    )
    check(step, {"f": lambda a: float(a >= 0)})
    check(step, {"f": lambda a: float(a >= 0), "a": -1.0})


def test_optima_are_sought_among_candidates_that_satisfy_the_constraints():
    candidates = [{"w": float(w)} for w in np.linspace(-2, 2, 41)]
    world = {r"\min_{w}": candidates, "=": 2.0}
    problem = r"\min_{w} w^2 + 1 \quad \text{subject to} \quad w \ge 1"
    check(problem, world)
    with pytest.raises(Disagreement):
        check(problem.replace(r"\ge 1", r"\ge 0"), world)
    inside = r"a = \inf_{w} \{ w^2 + 1 : w \ge 1 \}"
    check(inside, {r"\inf_{w}": candidates})
    assert (
        value(r"\arg\min_{w} (w - 1)^2", **{r"\arg\min_{w}": candidates}) == 1
    )
    assert value(r"\min_{n} t_n", n=range(1, 4)) == 10


def test_constraints_hold_for_every_index():
    points = [np.array(v) for v in ([3.0, 3.0], [1.0, 3.0], [2.0, 2.0])]
    world = {
        r"\inf_{\mathbf w}": [{r"\mathbf w": v} for v in points],
        "g_": lambda i: lambda w: 2 - w[i - 1],
        "i": range(1, 3),
        "I": 2,
        "c": 8.0,
    }
    norm = r"\lVert \mathbf w \rVert^2"
    problem = rf"c = \inf_{{\mathbf w}} \{{ {norm} : g_i(\mathbf w) \le 0"
    check(problem + r",\ i = 1, \dots, I \}", world)
    check(problem + r"\}", world)
    with pytest.raises(Disagreement, match="i runs over"):
        check(problem + r",\ i = 2, \dots, I \}", world)


def test_an_arrow_assigns_to_the_symbol_on_its_left():
    check(r"b \leftarrow b + 1", {r"\leftarrow": 6.0})
    world = {r"\leftarrow": {"b": 6.0}, "c": 7.0}
    check(r"b \leftarrow b + 1", world)
    with pytest.raises(Disagreement):
        check(r"c \leftarrow b + 1", world)


def test_optima_with_conditions_below():
    world = {
        r"\sup_{m \ge 0, n}": [
            {"m": m, "n": 1.0} for m in (-2.0, -1.0, 0.0, 1.0)
        ],
        "c": 2.0,
    }
    check(r"c = \sup_{m \ge 0, n} m^2 + n", world)


def test_statements_and_inner_products_may_be_bound():
    check(r"f \sim \mathcal{GP}(0, k)", {r"f \sim \mathcal{GP}(0, k)": True})
    world = {
        r"\langle \rangle": lambda g, h: g(1.0) * h(2.0),
        "k": lambda x, z: x + z,
    }
    assert value(r"\langle f, k(\cdot, a) \rangle", **world) == 8


def test_expectations_are_judged_by_their_own_scatter():
    rng = np.random.default_rng(0)
    x = 1 + rng.standard_normal((20_000, 2)) @ A.T
    world = {
        r"\mathbf x": Sample(x),
        r"\mathbf m": np.ones(2),
        r"\mathbf S": A @ A.T,
    }
    check(r"\mathbb E[\mathbf x] = \mathbf m", world)
    check(r"\operatorname{cov}[\mathbf x] = \mathbf S", world)
    check(r"\mathbf x \sim \mathcal N(\mathbf m, \mathbf S)", world)
    square = r"\mathbb E[\mathbf x \mathbf x^\top]"
    mean = r"\mathbb E[\mathbf x]"
    check(
        rf"\operatorname{{cov}}[\mathbf x] = {square} - {mean} {mean}^\top",
        world,
    )
    with pytest.raises(Disagreement):
        check(r"\mathbb E[\mathbf x] = 1.1 \mathbf m", world)
    with pytest.raises(Disagreement):
        check(r"\operatorname{cov}[\mathbf x] = 1.1 \mathbf S", world)
    with pytest.raises(Disagreement):
        check(r"\mathbf x \sim \mathcal N(\mathbf m, \mathbf I_2)", world)


def test_what_depends_on_a_symbol_follows_it():
    world = {"p": 3.0, r"\mathbf C": Of("p", lambda p: np.diag([p, p**2]))}
    slope = value(r"\frac{\partial \mathbf C}{\partial p}", **world)
    np.testing.assert_allclose(slope, np.diag([1, 6]), atol=1e-9)


def test_what_depends_on_a_free_index_follows_it():
    world = {"m": range(1, 4), "c": Of("m", lambda m: 10.0 * m)}
    check("c = t_m", world)
    with pytest.raises(Disagreement):
        check("c = t_m + m", world)


def test_probabilities_may_ask_what_is_given():
    def p(*of, given):
        return 10 * len(of) + sum(
            e.value for e in given if isinstance(e, Event)
        )

    law = {"p": Law(p), "k": 3}
    assert value(r"p(a \mid t = k)", **law) == 13
    assert value(r"p(a, t = k)", **law) == 20


def test_derivatives_of_what_is_not_applied():
    world = {"L": Of(r"\mathbf v", "a", lambda v, a: a * v @ v)}
    np.testing.assert_allclose(value(r"\nabla_{\mathbf v} L", **world), 4 * V)
    assert value(r"\frac{\partial L}{\partial a}", **world) == pytest.approx(
        25
    )
    assert value(r"\frac{d}{da} f(a)") == pytest.approx(4)
    assert value(r"\frac{\partial}{\partial a} a^2 b") == pytest.approx(20)


def test_indicators_and_sums_over_sets():
    world = {"n": range(1, 4), r"\mathcal M": [1, 3]}
    assert value(r"\sum_{n=1}^{N} \mathbb 1[t_n > 15] n", **world) == 5
    assert value(r"\sum_{n \in \mathcal M} t_n", **world) == 40


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        ("a = q", "q is not bound"),
        (r"\mathbf A \mathbf v^\top",
         "cannot multiply a 2×2 matrix by a row of 2"),
        (r"\mathbf v + a", "cannot add a vector of 2 and a number"),
        (r"\mathbf v = a", "a vector of 2 against a number"),
        ("t_4", "t_4: index 4 is outside 1..3"),
        (r"\ln a b", r"how far does \ln reach"),
        ("f + a", "needed, not a function"),
        (r"\frac{1}{a - 2}", "a - 2 is 0"),
        (r"|\mathbf v|", r"|…| of a vector of 2"),
        (r"\binom{a}{0.5}", "must be a whole number"),
        (r"\mathbf v^2", "a vector of 2 has no power"),
    ],
)  # fmt: skip
def test_errors_say_what_does_not_fit(latex, reason):
    with pytest.raises(FormulaError) as error:
        check(latex, {})
    assert reason in error.value.reason
