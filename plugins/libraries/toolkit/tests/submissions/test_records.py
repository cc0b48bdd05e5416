"""Cells that hold records: what float and int take, between white space or single blanks."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions.records import decode_records, refuse_records

RECORD = ("text", "number", "integer")


def decoded(cell: str, **options: bool) -> list[list[object]]:
    frame = pd.DataFrame(index=[0, 1])
    return [word.tolist() for word in decode_records(frame, ["a 1 2", cell], RECORD, **options)[1].words]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("", [[], [], []]),
        ("a 1 2.9", [["a"], [1], [2]]),
        (" a\t1_0  -0.5 ", [["a"], [10], [0]]),
        ("a\x1c\u0661 2", [["a"], [1], [2]]),
        ("a inf 1e3 a -Infinity -7", [["a", "a"], [float("inf"), -float("inf")], [1000, -7]]),
    ],
)
def test_records(cell: str, words: list[list[object]]) -> None:
    assert decoded(cell) == words
    assert decoded("\u00a0 1 2", single=True) == [["\u00a0"], [1], [2]]


@pytest.mark.parametrize(
    ("cell", "single", "reason"),
    [
        (" ", False, "blank"),
        ("a 1", False, "the cell has 2"),
        ("a x 2", False, "could not convert"),
        ("a 1 inf", False, "infinity"),
        ("a 1 nan", False, "NaN"),
        ("a  1 2", True, "the cell has 4"),
        ("a 1 2 ", True, "the cell has 4"),
    ],
)
def test_refused_records(cell: str, single: bool, reason: str) -> None:
    with pytest.raises(InvalidSubmission, match=f"^row 2: expected records of 3 words .*{reason}"):
        decoded(cell, single=single)
    if cell == " ":
        assert decode_records(pd.DataFrame(index=[0]), [cell], RECORD, blank=True)[0].words[0].tolist() == []


def test_refuse_records() -> None:
    frame = pd.DataFrame({"x": ["a 1 b 2", "", "c 3 d -4 e -5"]})
    frame["x"] = decode_records(frame, frame["x"], ("text", "number"))
    refuse_records(frame, "x", "numbers below 4", lambda cell: cell.words[1] > 3)
    with pytest.raises(InvalidSubmission, match=r"^row 3: numbers above 0; found 'd -4.0'$"):
        refuse_records(frame, "x", "numbers above 0", lambda cell: cell.words[1] < 0)
