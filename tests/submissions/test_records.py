"""Lists of records that are decoded together, against one cell at a time."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore.submissions import decoding, records
from mlecore.submissions.records import decode_records

RECORD = ("text", "number", "integer")
ODD = [
    "",
    " ",
    "a 1 2 ",
    " a 1 2",
    "a  1 2",
    "a\t1 2",
    "a 1",
    "a x 2",
    "a nan 2",
    "a 1 inf",
    "a 1 2.9",
    "a 1_0 2",
    "\u00a0 1 2",
    "\ud800 1 2",
    "a\x1c1 2",
]


def verdict(cells: list[str], single: bool) -> object:
    """The words of all records, or why there are none."""
    try:
        decoded = decode_records(pd.DataFrame(index=range(len(cells))), cells, RECORD, single=single)
    except InvalidSubmission as error:
        return error.message
    assert all(cell.words[0].dtype == object and cell.words[1].dtype == np.float64 for cell in decoded)
    return repr([[word.tolist() for word in cell.words] for cell in decoded])


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("odd", [[], *([cell] for cell in ODD), ODD])
def test_cells_decoded_together(odd: list[str], single: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    plain = [
        " ".join(f"k{rng.randint(0, 3)} {rng.random()} {rng.randint(-5, 5)}" for _ in range(n % 4)) for n in range(90)
    ]
    cells = rng.sample([*plain, *odd], len(plain) + len(odd))
    got = verdict(cells, single)
    monkeypatch.setattr(decoding, "SHORT", 0)
    assert got == verdict(cells, single)
    monkeypatch.undo()
    monkeypatch.setattr(records, "_TOGETHER", 7)
    assert got == verdict(cells, single)
    monkeypatch.undo()
    monkeypatch.setattr(records, "_FEW", 5)
    assert got == verdict(cells, single)


def test_numbers_decoded_together_are_those_of_float() -> None:
    """Also where their last digit decides, and in every spelling that ``float`` knows."""
    rng = random.Random(5)
    digits = [
        "".join(rng.choices("0123456789.eE+-", [6] * 10 + [4, 1, 1, 1, 2], k=rng.randint(1, 40))) for _ in range(3000)
    ]
    known = [
        "nan",
        "-NaN",
        "inf",
        "+Infinity",
        ".5",
        "5.",
        "1e400",
        "4.9e-324",
        "2.4703282292062328e-324",
        "9007199254740993",
    ]
    wrong = ["x", "1_0", "1f", "0x1", ".", "e5", "--1", "infin"]

    def together(word: str) -> list[float] | None:
        found = records._decode_together([word], ("number",))
        return None if found is None else found[1].words[0].tolist()

    read = 0
    for word in [*digits, *known, *wrong]:
        try:
            expected = repr([float(word)])
        except ValueError:
            expected = "None"
        found = together(word)
        assert found is None or repr(found) == expected, word
        read += found is not None
    assert read > 500
    assert all(together(word) is not None for word in known)
