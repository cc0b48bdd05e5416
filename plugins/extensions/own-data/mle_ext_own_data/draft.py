"""A competition as far as it was inferred from data: plain values, which the package is written from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from attrs import frozen

from mlecore_toolkit.prepare.synthetic_tables import ColumnSchema

Task = Literal["binary", "multi-class", "regression", "ordinal", "multi-label", "ranking"]
Modality = Literal["tabular", "image", "audio", "text"]


@frozen(kw_only=True)
class Reading:
    """How the rows are read. The names of unnamed and repeated columns are those of pandas: ``Unnamed: 0``, ``a.1``."""

    kind: Literal["csv", "parquet", "folders"]
    """"folders": there is no table, but a folder of files for each class. The columns are FILE and CLASS."""
    separator: str = ","
    encoding: str = "utf-8"  # of Python: "utf-8", "utf-8-sig", "utf-16", "cp1252", ...
    decimal: str = "."
    member: str | None = None  # of a zip archive


FILE, CLASS = "file", "class"


@frozen(kw_only=True)
class Metric:
    """How submissions are scored."""

    name: str  # as users name it, such as "roc-auc", "log-loss"
    function: str  # of mlecore_toolkit, such as "roc_auc"
    direction: Literal["maximize", "minimize"]
    form: Literal["label", "number", "probability", "probabilities", "labels", "score"]
    """What a submission holds for each row:

    - label: one of the classes, or a whole number if ``classes`` is empty
    - number: a finite number in each target's column, at least ``low``
    - probability: a number from 0 to 1 in each target's column, of ``positive`` (several targets: of 1)
    - probabilities: a column for each class, whose numbers add up to 1
    - labels: text, labels with blanks between them
    - score: a finite number; higher ones come first in the ranking of their group
    """
    words: str  # what it is, for the description: one or two sentences
    formula: str  # in Unicode, such as "√(Σ (y − ŷ)² / n)"
    low: float | None = None  # the least number that a submission may contain


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
    table: Path | None  # the file with the rows, absolute; None: folders of files
    reading: Reading
    files: Path | None  # the folder of images, sounds or texts, absolute
    file_column: str | None  # paths below `files`
    file_suffix: str  # what the paths in the column lack, such as ".png"; mostly ""
    modality: Modality
    id: str | None  # None: the package numbers the rows, in shuffled order
    targets: tuple[str, ...]  # several: multi-label (of 0 and 1), or a regression of several numbers
    delimiter: str | None  # between the labels of a single multi-label target
    task: Task
    classes: tuple[str, ...]  # labels of binary, multi-class and ordinal tasks, as in the table; or of multi-label
    numeric_classes: bool  # are they whole numbers?
    positive: str | None  # of the two classes, the one whose probability is asked
    metric: Metric
    split: Split
    group: str | None  # the queries of a ranking; or of a split by group
    time: str | None
    time_form: str | None  # as in `strptime`, if the times are text
    drop: tuple[str, ...]  # columns that no file gets
    rows: int  # with a target
    left_out: int  # rows without a target
    columns: tuple[ColumnSchema, ...]  # of the raw table, in its order
    reasons: Mapping[str, str]  # field -> why it was inferred so
    notes: tuple[str, ...] = ()  # further sentences for the user
