"""The grammar by itself: trees, canonical text, and what does not parse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from . import STANDARD, FormulaError


def statements(latex: str) -> list[str]:
    return [str(part) for part in STANDARD.parse(latex).parts]


def canonical(latex: str) -> str:
    (statement,) = statements(latex)
    return statement


@pytest.mark.parametrize(
    ("written", "tidy"),
    [
        (r"\mathbf{x}_{n}", r"\mathbf x_n"),
        (r"\boldsymbol\phi \left( \mathbf x \right)",
         r"\boldsymbol\phi(\mathbf x)"),
        ("x_d'", "x'_d"),
        ("x'_d", "x'_d"),
        ("x_{d'}", "x_{d'}"),
        ("x^2_n", "x_n^2"),
        (r"\hat{\mathbf{w}}", r"\hat{\mathbf w}"),
        (r"\mathbf U^{-\top}", r"\mathbf U^{-\top}"),
        (r"\tfrac{1}{2}\, a", r"\frac{1}{2} a"),
        (r"\sum_{ n = 1 }^{N} a_n", r"\sum_{n = 1}^N a_n"),
        (r"\bigl\{ a + b \bigr\}", r"\{a + b\}"),
        (r"\left| a \right|", r"\lvert a \rvert"),
        (r"|a| + |b|", r"\lvert a \rvert + \lvert b \rvert"),
        (r"\exp(|S_1 \cap S_2|)", r"\exp(\lvert S_1 \cap S_2 \rvert)"),
        (r"\| a \|", r"\lVert a \rVert"),
        (r"p(\mathbf t \mid y; z)", r"p(\mathbf t \mid y ; z)"),
        (r"p(x | y)", r"p(x \mid y)"),
        (r"\int \int p(x) q(y)\, dx\, dy", r"\int \int p(x) q(y) d x d y"),
        (r"\int_0^1 f(x)\, dx\, c", r"\int_0^1 f(x) d x c"),
        (r"x^12 \frac12 \sqrt2", r"x^1 2 \frac{1}{2} \sqrt{2}"),
        (r"\underbrace{a + b}_{\text{why}} c", r"(a + b) c"),
    ],
)  # fmt: skip
def test_one_way_of_writing(written: str, tidy: str) -> None:
    assert canonical(written) == tidy
    assert STANDARD.parse(written) == STANDARD.parse(tidy)


@pytest.mark.parametrize(
    ("latex", "parts"),
    [
        (r"a = b, \qquad c \le d", ["a = b", r"c \le d"]),
        (r"a \quad\Longrightarrow\quad b", ["a", "b"]),
        (r"\begin{aligned} a &= b \\ &\quad + c \end{aligned}", ["a = b + c"]),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}",
         ["a = b", "c = d"]),
    ],
)  # fmt: skip
def test_statements_and_rows_are_told_apart(
    latex: str, parts: list[str]
) -> None:
    assert statements(latex) == parts


def test_words_between_statements_are_kept() -> None:
    tree = STANDARD.parse(r"\min_x f \quad \text{subject to} \quad x \ge 0")
    assert tree.words == ("subject to",)


@pytest.mark.parametrize(
    ("latex", "kind"),
    [
        (r"\sum_{n=1}^N a_n b_n + c", "infix"),
        (r"\min_w f(w) + c", "big"),  # what opens a side reaches over +
        (r"\int_0^1 f(x)\, dx\, c", "product"),
    ],
)
def test_how_far_an_operator_reaches(latex: str, kind: str) -> None:
    assert STANDARD.parse(latex).parts[0].kind == kind


@pytest.mark.parametrize(
    ("latex", "column", "reason"),
    [
        (r"a = (b + c", 11, "ends too early"),
        (r"a = b + ) c", 9, "did not expect ') c'"),
        (r"a = \frac{1}{", 14, "ends too early"),
        (r"a_n_m = 1", 4, "did not expect '_m = 1'"),
        (r"\int f(x)", 10, "ends too early"),
        (r"a = b \\ = ", 11, "ends too early"),
    ],
)
def test_what_does_not_parse_says_where(
    latex: str, column: int, reason: str
) -> None:
    with pytest.raises(FormulaError) as error:
        STANDARD.parse(latex)
    assert (error.value.column, error.value.reason) == (column, reason)


LEAVES = ["a", "2", r"\lambda", r"\mathbf x", "x'", r"\mathbf K"]
GROWN = [
    "%s + %s",
    r"\frac{%s}{%s}",
    "(%s)(%s)",
    r"\lVert %s \rVert^2 + |(%s)|",
    r"\sum_{n=1}^{N} (%s)_n - (%s)",
    r"\begin{bmatrix} %s & 1 \\ 0 & %s \end{bmatrix}",
]
FORMULAS = st.recursive(
    st.sampled_from(LEAVES),
    lambda parts: st.builds(
        lambda form, a, b: form % (a, b), st.sampled_from(GROWN), parts, parts
    ),
    max_leaves=8,
)


@given(FORMULAS)
def test_canonical_text_parses_to_the_same_tree(latex: str) -> None:
    assert STANDARD.parse(canonical(latex)) == STANDARD.parse(latex)
