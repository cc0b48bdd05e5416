"""Cells that hold a set of labels, such as ``scab rust``."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from mlecore_toolkit.submissions.cells import words
from mlecore_toolkit.submissions.values import refuse

if TYPE_CHECKING:
    from pandas import DataFrame


def refuse_other_labels(frame: DataFrame, column: str, known: Collection[str], expected: str) -> None:
    """Raises InvalidSubmission for a label other than the ``known`` ones, which the message calls ``expected``.

    The column is text as written (``verbatim``), with labels between white space.
    """
    import numpy as np

    cells = frame[column].tolist()
    foreign = np.fromiter((not all(word in known for word in words(cell)) for cell in cells), bool, len(cells))
    refuse(frame, column, expected, foreign)
