"""A competition as far as it was inferred from data: plain values, which the package is written from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

Task = Literal["binary", "multi-class", "regression", "ordinal", "multi-label", "ranking"]


@frozen(kw_only=True)
class Metric:
    """How submissions are scored."""

    name: str  # as users name it, such as "roc-auc", "log-loss"
    function: str  # of mlecore_toolkit, such as "roc_auc"
    direction: Literal["maximize", "minimize"]
    form: Literal["label", "number", "probability", "probabilities"]
    """Of a submission: a label or a number in each target's column, the probability of ``positive`` there, or a column
    of probabilities for each class, which add up to 1."""
    formula: str  # in words with symbols, for the description
    low: float | None = None  # the least number that a submission may contain, if there is one
    high: float | None = None


@frozen(kw_only=True)
class Split:
    """Which rows are the test part."""

    by: Literal["random", "stratified", "group", "time"]
    column: str | None  # the target, the group or the time; None: random
    test_size: float  # share of the rows, above 0 and below 1


@frozen(kw_only=True)
class Draft:
    """Everything that a package is written from."""

    name: str  # my-churn
    title: str  # My Churn
    table: Path | None  # the file with the rows; None: a folder with a folder of files for each class
    files: Path | None  # the folder of images, sounds or texts
    modality: Literal["tabular", "image", "audio", "text"]
    file_column: str | None  # paths below `files`
    id: str | None  # None: the package numbers the rows, in shuffled order
    targets: tuple[str, ...]  # several: multi-label
    delimiter: str | None  # between the labels of a single multi-label target
    task: Task
    classes: tuple[str, ...]  # labels as they are in the table, in order; none: numbers
    positive: str | None  # of the two classes of a binary task, the one to predict the probability of
    metric: Metric
    split: Split
    group: str | None  # queries of a ranking; of a split by group
    time: str | None
    drop: tuple[str, ...]  # columns that no public file has
    rows: int  # with a target
    dropped: int  # rows without a target, which the package leaves out
    columns: tuple[Any, ...]  # ColumnSchema of the toolkit: the raw table's, in its order
    reasons: Mapping[str, str]  # field -> why it was inferred so
