"""Reading a submission: its table, its format, its rows beside the answers', its columns as arrays.

``table`` reads a file as pandas 2 does, ``format`` is the ``[submission]`` table of competition.toml and reads by it,
``alignment`` pairs rows with the answers', ``values`` turns columns into arrays, ``check`` adds warnings, ``guard``
looks at the bytes first. Whatever is wrong raises InvalidSubmission with the reason.
"""

from mlecore.submissions.alignment import (
    columns_of,
    known_ids,
    read_answers,
    same_count,
    same_ids,
    sorted_alike,
)
from mlecore.submissions.cells import words
from mlecore.submissions.format import Column, Format
from mlecore.submissions.messages import in_file_order
from mlecore.submissions.other_labels import refuse_other_labels
from mlecore.submissions.table import Table
from mlecore.submissions.values import integers, labels, numbers, refuse, rows_sum_to_one, texts

__all__ = [
    "Column",
    "Format",
    "Table",
    "columns_of",
    "in_file_order",
    "integers",
    "known_ids",
    "labels",
    "numbers",
    "read_answers",
    "refuse",
    "refuse_other_labels",
    "rows_sum_to_one",
    "same_count",
    "same_ids",
    "sorted_alike",
    "texts",
    "words",
]
