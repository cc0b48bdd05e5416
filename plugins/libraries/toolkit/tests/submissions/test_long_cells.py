"""Cells as long as a submission may be: read a piece at a time, to the same values."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore_toolkit import words
from mlecore_toolkit.submissions import masks, records
from mlecore_toolkit.submissions.masks import decode_masks
from mlecore_toolkit.submissions.records import Records, decode_records, flatten

ODD = ["1", "23", "x", "", " ", "  ", "\t", "\n", "\u00a0", "\u2003", "\x1c", "\u0661", "é", "1e308", "nan"]
MB = 2**20


@pytest.fixture(params=[1, 2, 5, 1 << 16])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr("mlecore_toolkit.submissions.cells._SIZE", request.param)
    yield request.param


def peak(work: Callable[[], object]) -> float:
    """Megabytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MB
    finally:
        tracemalloc.stop()


def test_words_are_those_of_split(size: int) -> None:
    rng = random.Random(size)
    for _ in range(500):
        cell = "".join(rng.choices(ODD, k=rng.randint(0, 12)))
        assert list(words(cell)) == cell.split()
        assert list(words(cell, single=True)) == cell.split(" ")


def test_every_white_space_that_split_knows_separates(size: int) -> None:
    for place in range(0x110000):
        character = chr(place)
        if character.isspace():
            assert list(words(f"ab{character}cd")) == ["ab", "cd"], hex(place)


def test_masks_are_the_same_in_pieces(size: int) -> None:
    cell = " ".join(f"{start} {start % 3 + 1}" for start in range(1, 400, 5))
    odd = cell.replace("11 3", "+1_1 \u0663", 1)
    frame = pd.DataFrame(index=[0, 1, 2])
    plain, spaced, blank = decode_masks(frame, [cell, f"  {odd}\n", ""], [None] * 3)
    assert (plain == spaced).all() and len(plain) == 80 and blank.shape == (0, 2)
    huge = f"{cell} {10**30} {10**40}"
    assert decode_masks(frame, [huge, "", ""], [500] * 3)[0].tolist() == plain.tolist()
    with pytest.raises(InvalidSubmission, match="must be whole numbers"):
        decode_masks(frame, [f"{cell} x 1", "", ""], [None] * 3)


def test_records_are_the_same_in_pieces(size: int) -> None:
    frame = pd.DataFrame(index=[0, 1])
    cell = " ".join(f"name{place % 3} {place}.5 {place}.9" for place in range(50))
    found, none = decode_records(frame, [cell, ""], ("text", "number", "integer"))
    names, numbers, integers = found.words
    assert names.tolist() == [f"name{place % 3}" for place in range(50)] and names.dtype == object
    assert numbers.tolist() == [place + 0.5 for place in range(50)] and integers.tolist() == list(range(50))
    assert len(none) == 0 and [words.dtype for words in none.words] == [object, np.float64, np.float64]
    frame = pd.DataFrame(index=[0, 1, 2])
    rows, joined = flatten(decode_records(frame, [cell, "", cell], ("text", "number", "integer")))
    assert rows.tolist() == [0] * 50 + [2] * 50 and joined.words[0].tolist() == names.tolist() * 2
    for wrong, why in (
        (f"{cell} x", "the cell has 151"),
        (f"{cell} x y 1", "convert"),
        (f"{cell} x 1 inf", "infinity"),
    ):
        with pytest.raises(InvalidSubmission, match=why):
            decode_records(frame, [wrong, ""], ("text", "number", "integer"))
    single = cell.replace("name0", "")
    assert decode_records(frame, [single, ""], ("text", "number", "integer"), single=True)[0].words[0][0] == ""


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["1 1 ", "+1 1 ", "11 11 ", "99999999999999999999 1 ", "\u0661 1 "])
def test_a_mask_takes_a_few_times_its_size(unit: str) -> None:
    """2.5 GB were taken for 60 MB of a cell."""
    cell, frame = unit * (4 * MB // len(unit)), pd.DataFrame(index=[0])
    begun = time.process_time()
    assert peak(lambda: decode_masks(frame, [cell], [None])) < 60
    assert time.process_time() - begun < 10


@pytest.mark.slow
@pytest.mark.parametrize("record", [("text", "number", "number"), ("number",) * 3])
def test_records_take_a_few_times_their_size(record: tuple[records.Word, ...]) -> None:
    cell, frame = "1 1 1 " * (4 * MB // 6), pd.DataFrame(index=[0])
    assert peak(lambda: decode_records(frame, [cell], record)) < 50


@pytest.mark.slow
def test_a_word_that_fails_at_the_end_is_found() -> None:
    cell = "1 1 " * MB
    with pytest.raises(InvalidSubmission, match="the cell has 2097153"):
        decode_records(pd.DataFrame(index=[0]), [cell + "1"], ("number", "number"))
    assert masks._numbers(cell).sum() == 2 * MB
    assert isinstance(decode_records(pd.DataFrame(index=[0]), [cell], ("number", "number"))[0], Records)
