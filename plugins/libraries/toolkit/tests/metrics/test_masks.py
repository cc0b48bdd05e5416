"""Run-length masks, against a painter that decodes as the published graders do."""

import math
import random

import numpy as np
import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore_toolkit import area, dice, encode_mask, overlap
from mlecore_toolkit.submissions.masks import decode_masks
from mlecore_toolkit.submissions.messages import ID

FRAME = pd.DataFrame({"id": ["one"]})
FRAME.attrs[ID] = "id"


def painted(cell: str, size: int) -> np.ndarray:
    """Decodes pixel by pixel; AssertionError or ValueError for what is rejected."""
    numbers = np.array([int(token) for token in cell.split()], dtype=np.int64)
    starts, lengths = numbers[::2], numbers[1::2]
    assert (np.diff(starts) >= 0).all()
    assert (starts > 0).all()
    assert (lengths > 0).all()
    starts = starts - 1
    ends = starts + lengths  # odd counts: numpy spreads one number over two or none
    mask = np.zeros(size, dtype=bool)
    for start, end in zip(starts, ends, strict=False):
        assert not mask[start:end].any()
        mask[start:end] = True
    return mask


def decoded(cell: str, size: int) -> np.ndarray:
    return decode_masks(FRAME, [cell], [size])[0]


def test_decodes_as_painted():
    rng = random.Random(4)
    size, valid, masks = 40, 0, []
    for _ in range(1000):
        place, tokens = 1, []
        for _ in range(rng.choice([0, 1, 1, 2, 3, 6])):
            place += rng.choice([0, 0, 1, 2, 5, 12, -1])
            length = rng.choice([1, 1, 2, 3, 8, 60, 0, -1]) if rng.random() < 0.4 else rng.randint(1, 4)
            tokens += [place, length]
            place += length
        if tokens and rng.random() < 0.25:
            tokens.pop()
        cell = " ".join(map(str, tokens))
        try:
            want = painted(cell, size)
        except (AssertionError, ValueError):
            with pytest.raises(InvalidSubmission, match=r"^id 'one': "):
                decoded(cell, size)
            continue
        runs = decoded(cell, size)
        got = np.zeros(size, dtype=bool)
        for begin, end in runs:
            got[begin:end] = True
        assert (got == want).all(), cell
        masks.append((runs, want))
        valid += 1
    assert 125 < valid < 875
    for (a, painted_a), (b, painted_b) in zip(masks, reversed(masks), strict=True):
        shared = int((painted_a & painted_b).sum())
        assert (area(a), overlap(a, b)) == (painted_a.sum(), shared)
        if painted_a.any() or painted_b.any():
            assert dice([a], [b]) == pytest.approx([2 * shared / (painted_a.sum() + painted_b.sum())])


def test_odd_counts_that_pass():
    assert decoded("7", 100).tolist() == []
    assert decoded("3 2 9", 100).tolist() == [[2, 4], [8, 10]]
    assert decoded(" +3\t1_0 ", 100).tolist() == [[2, 12]]
    assert decoded("", 100).shape == (0, 2)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("0", "1 or more"),
        ("-3", "1 or more"),
        ("1 1 3 1 5", "odd number"),
        ("1.0 2", "whole numbers"),
        ("5 1 3 1", "must ascend"),
        ("1 3 3 1", "overlap"),
        ("1 3 1 3", "overlap"),
        ("- 1", "whole numbers"),
        ("1 " + "9" * 5000, "whole numbers"),
    ],
)
def test_refused(cell, said):
    with pytest.raises(InvalidSubmission, match=said):
        decoded(cell, 100)


def test_beyond_the_picture():
    assert decoded("99 50 120 1 120 5", 100).tolist() == [[98, 100]]
    assert decoded(f"1 {2**70}", 100).tolist() == [[0, 100]]
    assert decoded(f"{2**70} {2**70}", 100).tolist() == []


def test_both_empty_has_no_dice():
    one, none = decoded("1 1", 9), decoded("", 9)
    assert math.isnan(dice([none], [none])[0])
    assert dice([one, one], [none, one]) == [0, 1]


def test_encodes_what_it_decodes():
    mask = np.random.default_rng(1).random((13, 7)) < 0.4
    for order, flat in (("columns", mask.T.ravel()), ("rows", mask.ravel())):
        assert (painted(encode_mask(mask, order), mask.size) == flat).all()
    assert encode_mask(np.zeros((3, 3)), "rows") == ""
    assert encode_mask([[0, 1], [0, 1]], "columns") == "3 2"
