"""The grammar by itself: trees, canonical text, and what does not parse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typeset.latex import FormulaError, canonical, parse, text


def statements(latex):
    links, found = parse(latex).parts
    return links, [text(statement) for statement in found]


@pytest.mark.parametrize(
    ("written", "tidy"),
    [
        (r"\mathbf{x}_{n}", r"\mathbf x_n"),
        (
            r"\boldsymbol\phi \left( \mathbf x \right)",
            r"\boldsymbol\phi(\mathbf x)",
        ),
        (r"x_d'", r"x'_d"),
        (r"x'_d", r"x'_d"),
        (r"\hat{\mathbf{w}}", r"\hat{\mathbf w}"),
        (r"\mathbf U^{-\top}", r"\mathbf U^{-\top}"),
        (r"\tfrac{1}{2}\, a", r"\frac{1}{2} a"),
        (r"\sum_{ n = 1 }^{N} a_n", r"\sum_{n = 1}^N a_n"),
        (r"\bigl\{ a + b \bigr\}", r"\{a + b\}"),
        (r"\left| a \right|", r"|a|"),
        (r"p(\mathbf t \mid y; z)", r"p(\mathbf t \mid y ; z)"),
    ],
)
def test_one_way_of_writing(written, tidy):
    assert canonical(written) == tidy
    assert canonical(tidy) == tidy


def test_statements_are_told_apart():
    assert statements(r"a = b, \qquad c \le d") == (
        ("", ","),
        ["a = b", r"c \le d"],
    )
    assert statements(r"a \quad\Longrightarrow\quad b")[1] == ["a", "b"]
    links, _ = statements(r"\min_x f \quad \text{subject to} \quad x \ge 0")
    assert links == ("", "subject to")


def test_aligned_rows_go_on_or_start_anew():
    one = r"\begin{aligned} a &= b \\ &\quad + c \end{aligned}"
    two = r"\begin{aligned} a &= b \\ c &= d \end{aligned}"
    assert statements(one)[1] == ["a = b + c"]
    assert statements(two)[1] == ["a = b", "c = d"]


def test_a_sum_reaches_to_the_next_plus():
    assert parse(r"\sum_{n=1}^N a_n b_n + c").parts[1][0].kind == "add"
    (least,) = parse(r"\min_w f(w) + c").parts[1]
    assert least.kind == "big", "a minimum that opens a side reaches over +"


def test_bars_open_and_close():
    assert canonical(r"|a| + |b|") == "|a| + |b|"
    assert canonical(r"\exp(|S_1 \cap S_2|)") == r"\exp(|S_1 \cap S_2|)"


def test_integrals_end_at_their_d():
    (nested,) = parse(r"\int \int p(x) q(y) dx dy").parts[1]
    assert text(nested) == r"\int \int p(x) q(y)\, dx\, dy"
    (scaled,) = parse(r"\int_0^1 f(x)\, dx\, c").parts[1]
    assert scaled.kind == "product"


@pytest.mark.parametrize(
    ("latex", "column", "reason"),
    [
        (r"a = (b + c", 11, "ends too early"),
        (r"a = b + ) c", 9, "did not expect ') c'"),
        (r"a = \frac{1}{", 14, "ends too early"),
        (r"a_n_m = 1", 1, "two subscripts"),
        (r"\int f(x)", 1, r"\int without its d…"),
        (r"a = b \\ = ", 11, "ends too early"),
    ],
)
def test_what_does_not_parse_says_where(latex, column, reason):
    with pytest.raises(FormulaError) as error:
        parse(latex)
    assert (error.value.column, error.value.reason) == (column, reason)


LEAVES = st.sampled_from(
    ["a", "2", r"\lambda", r"\mathbf x", "x'", r"\mathbf K"]
)


def grown(parts):
    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(lambda p: f"{p[0]} + {p[1]}"),
        pairs.map(lambda p: rf"\frac{{{p[0]}}}{{{p[1]}}}"),
        pairs.map(lambda p: rf"({p[0]})({p[1]})"),
        parts.map(lambda p: rf"\lVert {p} \rVert^2"),
        parts.map(lambda p: rf"|({p})|"),
        parts.map(lambda p: rf"\sum_{{n=1}}^{{N}} ({p})_n"),
        parts.map(
            lambda p: rf"\begin{{bmatrix}} {p} & 1 \\ 0 & {p} \end{{bmatrix}}"
        ),
    )


@given(st.recursive(LEAVES, grown, max_leaves=8))
def test_canonical_text_parses_to_itself(latex):
    tidy = canonical(latex)
    assert canonical(tidy) == tidy
