"""Cells that hold a set of labels, such as ``scab rust``."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mlecore.submissions.cells import words
from mlecore.submissions.values import refuse

if TYPE_CHECKING:
    from pandas import DataFrame


def label_sets(frame: DataFrame, column: str, known: Collection[str], expected: str) -> list[frozenset[str]]:
    """The labels of each cell, separated by white space; repeated ones count once, an empty cell has none.

    The column is text as written (``verbatim``). Raises InvalidSubmission for a label other than the ``known`` ones,
    which the message calls ``expected``.
    """
    import numpy as np

    cells = frame[column].tolist()
    foreign = np.fromiter((not all(word in known for word in words(cell)) for cell in cells), bool, len(cells))
    refuse(frame, column, expected, foreign)
    return [frozenset(words(cell)) for cell in cells]
