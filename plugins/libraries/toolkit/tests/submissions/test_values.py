"""Columns become arrays, and what does not fit is rejected, as pandas 2 and scikit-learn 1.9 see it."""

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore_toolkit import Format, integers, labels, numbers, refuse_other_labels, rows_sum_to_one, texts

BEYOND_64_BITS = "18446744073709551616"


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["0", "1"], [0, 1]),
        (["0.25", "1e-3"], [0.25, 0.001]),
        (["True", "false"], [1, 0]),
        (['"0.5"', " 1"], [0.5, 1]),
    ],
)
def test_numbers(column, cells, values):
    assert list(numbers(column(*cells), "x", low=0, high=1)) == values


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["0", "1.5"], "row 2: 1.5"),
        (["-1e-9", "0"], "row 1: -1e-09"),
        (["0", ""], "row 2: missing"),
        (["inf", "0"], "row 1: inf"),
        (["0", "x"], "row 2: 'x'"),
        (["0", "True"], "row 2: 'True'"),
        (["True", ""], "row 2: missing"),
        (["0", "1_0"], "row 2: '1_0'"),
        (["0", BEYOND_64_BITS], f"row 2: '{BEYOND_64_BITS}'"),
    ],
)
def test_numbers_refused(column, cells, said):
    with pytest.raises(InvalidSubmission) as caught:
        numbers(column(*cells), "x", low=0, high=1)
    assert "must hold numbers from 0 to 1" in str(caught.value)
    assert said in str(caught.value)


def test_numbers_read_from_text(column):
    assert list(numbers(column("1_0", BEYOND_64_BITS, "٣"), "x", from_text=True)) == [10, 2.0**64, 3]
    for bad in ("True", "x", "1e400", "", "0,5"):
        with pytest.raises(InvalidSubmission):
            numbers(column("1_0", f'"{bad}"'), "x", from_text=True)


def test_missing_and_infinite_where_allowed(column):
    frame = column("", "-inf", "2")
    assert np.array_equal(numbers(frame, "x", missing=True, infinite=True), [np.nan, -np.inf, 2], equal_nan=True)
    with pytest.raises(InvalidSubmission, match=r"must hold finite numbers; found row 2: -inf"):
        numbers(frame, "x", missing=True)
    with pytest.raises(InvalidSubmission, match=r"finite numbers of 0 or more in every row; found row 1: inf"):
        numbers(column("inf", "2"), "x", low=0)
    assert np.isnan(numbers(column("", "0.5"), "x", low=0, high=1, missing=True)[0])


def test_several_columns(table):
    frame = table("a,b\n1,2\n3,4\n").frame()
    assert numbers(frame, ["b", "a"]).tolist() == [[2, 1], [4, 3]]


def test_messages_name_rows_by_id_once_aligned(table):
    rows = "".join(f"n{i},{9 if i < 5 else 0}\n" for i in (6, 5, 4, 3, 2, 1))
    format = Format.parse({"id": "id", "columns": {"x": {"type": "number", "high": 1}}})
    answers = pd.DataFrame({"id": [f"n{i}" for i in range(1, 7)]})
    with pytest.raises(InvalidSubmission) as caught:
        format.read(table("id,x\n" + rows), answers)
    assert "found id 'n4': 9; id 'n3': 9; id 'n2': 9 (and 1 more row)" in str(caught.value)


def test_labels(column):
    assert labels(column("3.0", "-1"), "x").tolist() == [3, -1]
    assert labels(column("True", "FALSE"), "x").tolist() == [1, 0]
    assert labels(column("18446744073709551615", "1"), "x").tolist() == [2**64 - 1, 1]
    assert labels(column("1e15", "-9223372036854775808.0"), "x").tolist() == [10**15, -(2**63)]


@pytest.mark.parametrize("bad", ["", "inf", "0.5", "1e30", "9223372036854775808.0", "x", "True", "1_0", BEYOND_64_BITS])
def test_labels_refused(column, bad):
    with pytest.raises(InvalidSubmission, match="whole numbers"):
        labels(column("1", bad), "x")


def test_labels_refuse_booleans_with_a_gap(column):
    with pytest.raises(InvalidSubmission, match="row 2: missing"):
        labels(column("True", ""), "x")


def test_integers_are_cut_towards_zero(column):
    assert integers(column("27.9", "-0.5"), "x").tolist() == [27, 0]
    assert integers(column("True", "False"), "x").tolist() == [1, 0]
    assert integers(column("15_504", " 42 ", "9223372036854775807"), "x").tolist() == [15504, 42, 2**63 - 1]
    assert integers(column("9223372036854775807", "-9223372036854775808"), "x").tolist() == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize("cells", [["1", ""], ["1", "inf"], ["1", "9223372036854775808"], ["1", "1e19"]])
def test_integers_refused(column, cells):
    with pytest.raises(InvalidSubmission, match="row 2"):
        integers(column(*cells), "x")


@pytest.mark.parametrize("bad", ["3.0", "True", "9223372036854775808", "nan", "9" * 5000])
def test_integers_refused_beside_text(column, bad):
    with pytest.raises(InvalidSubmission, match="row 2"):
        integers(column("1_0", bad), "x")


def test_texts(column):
    assert texts(column("a", "7", "True"), "x") == ["a", "7", "True"]
    assert texts(column("a", "", "NA"), "x", missing="") == ["a", "", ""]
    assert texts(column("", ""), "x", missing="nan") == ["nan", "nan"]


@pytest.mark.parametrize("cells", [["1", "2"], ["1", ""], ["True", "False"], ["True", ""]])
def test_texts_refuse_numbers_and_booleans(column, cells):
    with pytest.raises(InvalidSubmission, match="read as numbers or as true and false"):
        texts(column(*cells), "x", missing="")


def test_texts_refuse_missing(column):
    with pytest.raises(InvalidSubmission, match="row 2: missing"):
        texts(column("a", "null"), "x")


def test_texts_refuse_other_choices(column):
    assert texts(column("up", "down"), "x", choices=["down", "up"]) == ["up", "down"]
    assert texts(column("up", ""), "x", missing="", choices=["up"]) == ["up", ""]
    with pytest.raises(InvalidSubmission, match=r"one of 2 texts \(down, up\); found row 2: 'Up'"):
        texts(column("up", "Up"), "x", choices=["down", "up"])


def test_row_sums(table):
    frame = table("a,b\n0.5,0.5\n0.5,0.50001\n0.5,0.5000111\n").frame()
    rows_sum_to_one(frame[:2], ["a", "b"], 1.1e-5)
    with pytest.raises(InvalidSubmission, match=r"sums found: row 3: 1\.0000111"):
        rows_sum_to_one(frame, ["a", "b"], 1.1e-5)


def test_other_labels():
    frame = pd.DataFrame({"x": ["b a  b", "", "07"]})
    refuse_other_labels(frame, "x", {"a", "b", "07"}, "labels")
    with pytest.raises(InvalidSubmission, match="'x' must hold letters; found row 3: '07'"):
        refuse_other_labels(frame, "x", {"a", "b", "7"}, "letters")
