"""Class labels: from the data's to the book's, and back."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelbook import labels

ALPHABETS = st.sampled_from(
    [
        st.text(max_size=5),
        st.integers(-(2**62), 2**62),
        st.booleans(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.binary(min_size=1, max_size=3).filter(lambda b: b[-1] != 0),
    ]
)
# NumPy's words end where NULs begin; an array of objects keeps them.
some_labels = ALPHABETS.flatmap(
    lambda one: st.lists(
        one.filter(lambda v: not isinstance(v, str) or "\0" not in v),
        min_size=2,
    )
).filter(lambda y: len(set(y)) > 1)


@given(some_labels)
def test_classes_and_back_are_the_labels(y):
    code = labels.coding(y)
    t = code.classes(y)
    assert t.dtype == np.int64
    assert set(t) == set(range(code.K))
    assert code.from_classes(t).tolist() == y
    assert code.from_classes(t.astype(float)).tolist() == y


@given(some_labels)
def test_classes_are_numbered_in_sorted_order(y):
    code = labels.coding(y)
    assert code.names.tolist() == sorted(set(y))
    assert len(code.names) == code.K
    assert code.classes(y).tolist() == [sorted(set(y)).index(v) for v in y]


@given(some_labels)
def test_signs_and_back_are_the_labels_of_two_classes(y):
    y = [v for v in y if v in sorted(set(y))[:2]]
    code = labels.coding(y)
    t = code.signs(y)
    assert t.dtype == np.float64
    assert t.tolist() == [1.0 if v == max(y) else -1.0 for v in y]
    assert code.from_signs(t).tolist() == y
    assert code.from_signs(t.astype(int)).tolist() == y


WORDS = ["ham", "spam", "ham", "eggs"]


@pytest.mark.parametrize(
    "column",
    [
        list,
        tuple,
        np.array,
        lambda y: np.array(y, dtype=object),
        lambda y: np.array(y, dtype=np.dtypes.StringDType()),
        pd.Series,
        lambda y: pd.Series(y, dtype=object),
        lambda y: pd.Series(y, dtype="category"),
        pd.Index,
        # the order of categories and those that do not occur play no part
        lambda y: pd.Categorical(y, ["spam", "ham", "eggs", "bacon"]),
    ],
)
def test_every_kind_of_column_has_the_same_coding(column):
    code = labels.coding(column(WORDS))
    assert code.names.tolist() == ["eggs", "ham", "spam"]
    assert code.classes(column(WORDS)).tolist() == [1, 2, 1, 0]
    assert code.classes(["spam", "eggs"]).tolist() == [2, 0]
    assert code.from_classes([2, 0]).tolist() == ["spam", "eggs"]


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "int8", "float32"])
def test_columns_of_numbers_have_the_coding_of_their_numbers(dtype):
    y = pd.Series([1, 0, 1], dtype=dtype)
    code = labels.coding(y)
    assert code.signs(y).tolist() == [1, -1, 1]
    assert code.from_signs([1, -1]).tolist() == [1, 0]


def test_numbers_of_another_type_are_the_same_labels():
    assert labels.coding([3, 7]).classes([7.0, 3.0]).tolist() == [1, 0]
    assert labels.coding([0, 1]).classes([True, False]).tolist() == [1, 0]


def test_labels_of_the_book_are_coded_as_themselves():
    assert labels.coding([-1.0, 1.0]).signs([1.0, -1.0]).tolist() == [1, -1]
    assert labels.coding([0, 1, 2]).classes([2, 0]).tolist() == [2, 0]


def test_a_coding_keeps_its_own_names():
    names = np.array(["a", "b"])
    code = labels.Coding(names)
    names[0] = "z"
    assert code.names.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="read-only"):
        code.names[0] = "z"
    y = np.array([3, 1])
    drawn = labels.coding(y).from_classes([1, 0])
    drawn[0] = 9
    assert y.tolist() == [3, 1]


def test_a_coding_can_be_pickled():
    again = pickle.loads(pickle.dumps(labels.coding(WORDS)))
    assert again.classes(["spam"]).tolist() == [2]


TWO = labels.coding(["ham", "spam"])
OBJECTS = labels.coding(np.array(["ham", "spam"], dtype=object))
THREE = labels.coding([3, 7, 9])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: labels.coding([]), r"not empty, got shape \(0,\)"),
        (lambda: labels.coding([[1], [2]]), r"one dimension .* \(2, 1\)"),
        (lambda: labels.coding("ham"), r"one label per .* got shape \(\)"),
        (lambda: labels.coding(["a", "a"]), "two classes .* got only 'a'"),
        (lambda: labels.coding([2.0, 2]), "two classes .* got only 2.0"),
        (lambda: labels.coding([1.0, np.nan]), "miss no label, got nan"),
        (lambda: labels.coding([1.0, np.inf]), "must be finite .* got inf"),
        (
            lambda: labels.coding(np.array(["a", np.nan, "b"], dtype=object)),
            "miss no label, got nan",
        ),
        (
            lambda: labels.coding(np.array([1.0, np.nan], dtype=object)),
            "miss no label, got nan",
        ),
        (lambda: labels.coding(["a", None]), "miss no label, got None"),
        (lambda: labels.coding(pd.Series(["a", None])), "miss no label"),
        (lambda: labels.coding(pd.Categorical(["a", None])), "miss no label"),
        (
            lambda: labels.coding(np.array([1, pd.NA, 2], dtype=object)),
            "miss no label, got <NA>",
        ),
        (
            lambda: labels.coding(np.array(["2026", "NaT"], dtype="M8[Y]")),
            "miss no label",
        ),
        (
            lambda: labels.coding(np.ma.array([1, 2], mask=[0, 1])),
            "y must have no mask",
        ),
        (lambda: labels.coding(["a", 1]), "mixture of types: int, str"),
        (
            lambda: labels.coding(np.array(["a", 1], dtype=object)),
            "mixture of types: int, str",
        ),
        (lambda: labels.coding([[1], [2, 3]]), "mixture of types: list"),
        (lambda: TWO.classes(["hammer"]), "the 2 labels .* got 'hammer'"),
        (lambda: TWO.classes(["eggs"]), "got 'eggs'"),
        (lambda: TWO.classes(["zeal"]), "got 'zeal'"),
        (lambda: TWO.classes([0, 1]), "the 2 labels of the coding, got 0"),
        (lambda: TWO.classes([None]), "miss no label, got None"),
        (lambda: OBJECTS.classes([1, 2]), "2 labels of the coding, got 1"),
        (
            lambda: THREE.classes(np.array([3, "a"], dtype=object)),
            "the 3 labels of the coding, got 'a'",
        ),
        (lambda: THREE.classes(["3"]), "the 3 labels of the coding, got '3'"),
        (lambda: THREE.classes([3.5]), "got 3.5"),
        (lambda: THREE.classes([np.nan]), "miss no label, got nan"),
        (lambda: THREE.signs([3, 7]), "two classes to be signs, got 3"),
        (lambda: THREE.from_signs([1.0]), "two classes to be signs, got 3"),
        (lambda: THREE.from_classes([3]), "whole numbers from 0 to 2, got 3"),
        (lambda: TWO.from_signs([0.0]), "t must be -1 or [+]1, got 0"),
        (
            lambda: labels.Coding(np.array(["b", "a"])),
            r"names must be in increasing order, .* got \['b', 'a'\]",
        ),
        (
            lambda: labels.Coding(np.array(["a", "a"])),
            "names must be in increasing order, each once",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
