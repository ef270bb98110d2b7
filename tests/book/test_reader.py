r"""The reader knows every syntax that builds, and on which line it stands."""

import pytest

from press.reader import CHAPTERS, Cell, Directive, Math, Page, Role

TEXT = r"""---
jupytext: {}
---

(top)=
# Title with $a$

Prose with $b = 1$, {eq}`eq-c`
and {term}`words <a target>` and $$c =
2$$ inline.

$$
d = 3
$$

$$ e = 4 $$ (eq-e)

\begin{align}
f &= 5
\end{align}

```{math}
:label: eq-c

g = 6
```

## Part

````{prf:theorem} Name
:label: thm-x

Holds if $h = 7$ and

```{math}
:label: eq-inside
i = 8
```
````

:::{list-table}
* - $j = 9$
:::

```{exercise-start}
:label: ex-a
```
```{solution-start} ex-a
```
```{code-cell} ipython3
:tags: [hide-input, check-eq-c]

assert_allclose(gp.mean(1), k)
```
```{solution-end}
```
```{code-cell} ipython3
---
mystnb:
  figure: {name: fig-a, caption: "A
    caption"}
---
fig, ax = plt.subplots()
```
"""
PAGE = Page(CHAPTERS / "99_x.md", TEXT)


def test_mathematics_headings_and_roles_are_read_with_label_and_line():
    lines, found = TEXT.splitlines(), PAGE.of(Math)
    assert "".join(math.latex[0] for math in found) == r"abcde\ghij"
    assert "".join("D" if m.display else "i" for m in found) == "iiDDDDDiDi"
    for math in found:
        assert math.latex.split("\n")[0] in lines[math.at - 1]
    labels = {math.label: math.latex[0] for math in PAGE.equations}
    assert labels == {"eq-e": "e", "eq-c": "g", "eq-inside": "i"}
    roles = [(r.name, r.words, r.target) for r in PAGE.of(Role)]
    assert roles == [("eq", "", "eq-c"), ("term", "words", "a target")]
    assert PAGE.of(Directive)[0].argument == "Name"


def test_places_hold_the_cells_that_belong_to_them():
    check, figure = PAGE.of(Cell)
    assert figure.about("figure", "caption") == "A caption"
    assert figure.draws and not check.draws
    found = {
        name: (part.sort, [cell.line for cell in cells])
        for name, (part, cells) in PAGE.places.items()
    }
    both = ("section", [check.line, figure.line])
    assert found == {
        "top": both,
        "title-with-a": both,
        "eq-e": ("equation", []),
        "eq-c": ("equation", [check.line]),
        "part": both,
        "thm-x": ("theorem", []),
        "eq-inside": ("equation", []),
        "ex-a": ("exercise", [check.line]),
        "fig-a": ("figure", [figure.line]),
    }


@pytest.mark.parametrize(
    ("source", "asserts"),
    [
        ("from numpy.testing import assert_allclose\nx = 1", False),
        ("assert True", False),
        ("assert x == 1", True),
        ("np.testing.assert_allclose(1, x)", True),
    ],
)
def test_a_cell_asserts_if_it_could_fail(source, asserts):
    cell = Cell(line=1, end=2, source=source, metadata={})
    assert cell.asserts == asserts
