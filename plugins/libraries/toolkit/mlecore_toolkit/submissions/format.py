"""The ``[submission]`` table of competition.toml: describes submissions, and reads them.

::

    [submission]
    id = "id"           # the column that names the rows
    ids = "list"        # "list": the answers' ids, each as often as there
                        # "set": the answers' ids, each at least once
                        # "subset": no id that the answers lack
                        # "any": ids are not compared
    rows = "same"       # as many rows as the answers; "any": any number
    order = "free"      # rows are paired by their id; "sample": by their place in the file
    extra = "ignored"   # further columns; or "refused"
    sum_to_one = 1e-5   # each row's number columns add up to 1 within this; left out: they need not
    rescale = true      # each row's number columns are divided by their sum, which must be above 0

    [submission.columns.has_cactus]
    type = "number"     # see Column
    low = 0
    high = 1

    [submission.columns."*"]   # every other column of the answers but the id
    type = "number"

``ids``, ``rows``, ``order`` and ``extra`` have the defaults shown. ``id`` must be in the file, unless rows are neither
compared nor paired by it (``ids = "any"`` with ``order = "sample"``): then it is only used for a warning, and may be
one of the columns too.

The check and ``grade`` apply the table by one function, ``Format.read``, the check with the sample submission,
``grade`` with the answers. So the check is sound and complete as far as the table goes. Further rules are in the hook
``examine``, which both call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from attrs import asdict, evolve, field, fields, frozen

from mlecore.errors import GradingError, PluginError
from mlecore.util.schema import SchemaError, Written, brief, structure
from mlecore_toolkit.submissions.cells import Word

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from mlecore_toolkit.submissions.table import Table


ColumnType = Literal["number", "label", "integer", "text", "mask", "records", "any"]


def _read_pixels(value: object) -> int | Sequence[str]:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise PluginError(f"{brief(value)} is neither a number of pixels nor a list of columns")


Pixels = Annotated[int | Sequence[str], Written(_read_pixels, "their number, or the answers' columns to multiply")]


@frozen(kw_only=True)
class Column:
    """The requirements on one column; ``mlecore_toolkit.submissions.values`` has an exact function for each type.

    - number: from ``low`` to ``high``; ``missing`` cells and ``infinite`` values if allowed; ``from_text``: also
      numbers that only Python's ``float`` reads (``1_0``), as scikit-learn does
    - label: whole numbers from ``low`` to ``high``, ``3.0`` too, as scikit-learn's class labels (``labels``)
    - integer: cells that Python's ``int`` accepts (``integers``)
    - text: text, but no column that reads as numbers; ``missing`` cells if allowed; ``choices``: the only texts allowed
      (``texts``)
    - mask: run-length masks; ``missing`` cells, if allowed, are empty masks (``mlecore_toolkit.submissions.masks``);
      ``pixels``: the number of pixels of a picture, or the names of the answers' columns to multiply. If the sample
      lacks these columns, the check cannot find runs that overlap within the picture; ``exact``: reject runs beyond the
      picture, and masks of one or three numbers, which the published graders accept
    - records: each cell is a list of records. ``record`` has the type of each word in a record: ``text``, ``number``
      (accepted by Python's ``float``) or ``integer`` (the same, with its fraction cut off). Words are separated by
      white space, with ``single`` by exactly one blank; ``missing`` and ``blank`` (only white space) cells, if allowed,
      are empty lists (``mlecore_toolkit.submissions.records``)
    - any: anything; ``verbatim``: the text as written (`007`, `NA`), with empty cells as empty text
    """

    type: ColumnType  # of its cells
    low: float = -math.inf  # the least number
    high: float = math.inf  # the greatest number
    missing: bool = False  # may cells be empty?
    infinite: bool = False  # may numbers be infinite?
    from_text: bool = False  # accept numbers that only Python's float reads, such as 1_0
    pixels: Pixels = ()  # of the picture of a mask
    exact: bool = False  # must masks be pairs of numbers, within the picture?
    record: tuple[Word, ...] = ()  # the words of one record
    single: bool = False  # must words of records have exactly one blank between them?
    blank: bool = False  # may cells be white space alone?
    choices: tuple[str, ...] = ()  # the only texts allowed; none: any text
    verbatim: bool = False  # are cells text as written, whatever pandas would read?

    def __attrs_post_init__(self) -> None:
        for attribute in fields(type(self)):
            unused = attribute.name != "type" and attribute.name not in _APPLY[self.type]
            if unused and getattr(self, attribute.name) != attribute.default:
                raise PluginError(f"{attribute.name} cannot be used for a column of type {self.type!r}")
        if not self.low <= self.high:  # also if one is NaN
            raise PluginError(f"low = {self.low} is not below high = {self.high}: no number fits")
        if self.type == "mask" and not self.pixels:
            raise PluginError("a column of masks needs `pixels`: their number, or columns of the answers")
        if self.type == "records" and not self.record:
            raise PluginError("a column of records needs `record`, the fields of each record")

    def read(self, frame: DataFrame, name: str, answers: DataFrame) -> Any:
        """The column's values, one per row: an array of numbers, texts, masks or Records, or a column of the table.

        Raises InvalidSubmission if a value does not fit.
        """
        from mlecore_toolkit.submissions import values

        match self.type:
            case "number":
                options = {"missing": self.missing, "infinite": self.infinite, "from_text": self.from_text}
                return values.numbers(frame, name, low=self.low, high=self.high, **options)
            case "label":
                return values.labels(frame, name, low=self.low, high=self.high)
            case "integer":
                return values.integers(frame, name)
            case "text":
                return values.text_cells(frame, name, "" if self.missing else None, self.choices)
            case "mask":
                from mlecore_toolkit.submissions.masks import decode_masks

                cells = values.texts(frame, name, missing="" if self.missing else None)
                return decode_masks(frame, cells, self._sizes(answers), exact=self.exact)
            case "records":
                from mlecore_toolkit.submissions.records import decode_records

                cells = values.texts(frame, name, missing="" if self.missing else None)
                return decode_records(frame, cells, self.record, single=self.single, blank=self.blank)
            case "any":
                return frame[name]

    def strict(self) -> Column:
        """The column with stricter rules: no missing or infinite numbers, exact masks."""
        if self.type == "number":
            return evolve(self, missing=False, infinite=False, from_text=False)
        return evolve(self, exact=True) if self.type == "mask" else self

    @property
    def known_by(self) -> Sequence[str]:
        """Columns of the answers that ``read`` needs."""
        return () if isinstance(self.pixels, int) else self.pixels

    def _sizes(self, answers: DataFrame) -> Sequence[int | None] | Series:
        """The number of pixels of each row's picture, or None if it is unknown."""
        if isinstance(self.pixels, int):
            return [self.pixels] * len(answers)
        if not set(self.pixels) <= set(answers.columns):
            return [None] * len(answers)
        return math.prod(answers[name] for name in self.pixels)


_APPLY: Mapping[str, frozenset[str]] = {
    "number": frozenset({"low", "high", "missing", "infinite", "from_text"}),
    "label": frozenset({"low", "high"}),
    "integer": frozenset(),
    "text": frozenset({"missing", "choices"}),
    "mask": frozenset({"missing", "pixels", "exact"}),
    "records": frozenset({"missing", "record", "single", "blank"}),
    "any": frozenset({"verbatim"}),
}


@frozen(kw_only=True)
class Format:
    """The format of a well-formed submission, as far as a table can describe it."""

    columns: Mapping[str, Column] = field(factory=dict)  # by name; "*": every other column of the answers
    id: str | None = None  # the column that names the rows
    ids: Literal["list", "set", "subset", "any"] = "list"  # how often each of the answers' ids may occur
    rows: Literal["same", "any"] = "same"  # as many as the answers, or any number
    order: Literal["free", "sample"] = "free"  # rows are paired by their id, or by their place in the file
    extra: Literal["ignored", "refused"] = "ignored"  # further columns
    sum_to_one: float | None = None  # each row's number columns add up to 1 within this
    rescale: bool = False  # divide each row's number columns by their sum, which must be above 0

    def __attrs_post_init__(self) -> None:
        if not self.columns:
            raise PluginError("needs a table `columns`: column name -> { type = ... }")
        if self.id is None and (self.ids != "any" or self.order == "free"):
            raise PluginError('needs `id`, or ids = "any" with order = "sample"')
        if self.rows == "any" and (self.ids == "list" or (self.ids == "any" and self.order == "free")):
            raise PluginError('rows = "any" needs ids = "set" or "subset", or order = "sample"')
        numbers = [column for column in self.columns.values() if column.type == "number"]
        if (self.sum_to_one is not None or self.rescale) and not numbers:
            raise PluginError("sum_to_one or rescale needs columns of numbers")
        if "*" in self.columns and self.columns["*"].verbatim:
            raise PluginError('verbatim needs the name of a column, not "*"')
        if self.rescale and (self.sum_to_one is not None or any(column.low < 0 for column in numbers)):
            raise PluginError("rescale needs numbers with low = 0 or above, and cannot be combined with sum_to_one")

    @classmethod
    def parse(cls, table: Mapping[str, Any]) -> Format:
        """From the ``[submission]`` table. Raises PluginError that names a key that is unknown or does not fit."""
        try:
            return structure(cls, table)
        except SchemaError as error:
            raise PluginError(f"[submission] {error.message}") from None

    def read(
        self, submission: Table, answers: DataFrame | Path, columns: Sequence[str] | None = None
    ) -> tuple[DataFrame, DataFrame]:
        """``(truth, predictions)``: answers and submission with their rows paired, both indexed 0, 1, 2, ...

        ``predictions`` has the submission's columns in the file's order (of a large file perhaps only the id and those
        of the table), with those of the table checked and converted; ``truth`` has those of the answers. If the answers
        are a path, only the columns of the table are read. ``columns`` replace ``"*"`` if the answers have other
        columns, too.

        Rows are paired as in the published graders: as if both were sorted by id with pandas' default sort (``rows =
        "same"``); each row with the answer of its id (``rows = "any"``); by place in the file (``order = "sample"``;
        with ``rows = "any"`` the lengths may differ).

        Raises InvalidSubmission with the first offending rows, and GradingError if the answers do not fit.
        """
        from mlecore_toolkit.submissions.alignment import read_answers, refuse_columns, require_same_count_if_heavy
        from mlecore_toolkit.submissions.messages import ID
        from mlecore_toolkit.submissions.values import rescaled, rows_sum_to_one

        if columns is not None and "*" not in self.columns:
            raise PluginError('[submission] names its columns, so `columns` would be ignored; they are for "*"')
        verbatim = [name for name, column in self.columns.items() if column.verbatim]
        if isinstance(answers, Path):
            every = "*" in self.columns and columns is None
            known_by = [name for column in self.columns.values() for name in column.known_by]
            needed = () if every else [*self._required(columns or ()), *known_by]
            answers = read_answers(answers, needed, verbatim=verbatim)
        if self.rows == "same":
            require_same_count_if_heavy(submission, answers)
        others = list(answers.columns) if columns is None else columns
        required, refuse = self._required(others), self.extra == "refused"
        ids = [self.id] if self.id else []
        frame = submission.columns(() if refuse else {*required, *ids}, verbatim=verbatim)
        refuse_columns(frame, required, only=refuse, may=ids)
        truth, predictions = self._paired(frame, answers)
        if self.id_required:
            predictions.attrs[ID] = self.id  # names the rows in messages
        rules = self.expand(others)
        read = {name: rule.read(predictions, name, truth) for name, rule in rules.items()}
        for name, values in read.items():
            predictions[name] = values
        numbers = [name for name in rules if rules[name].type == "number"]
        if self.sum_to_one is not None:
            rows_sum_to_one(predictions, numbers, self.sum_to_one)
        if self.rescale:
            predictions[numbers] = rescaled(predictions, numbers)
        return truth, predictions

    def strict(self) -> Format:
        """The format with stricter rules: each id exactly once, rows paired by it, no missing or infinite numbers.

        Empty texts, masks and lists stay allowed: they are predictions. A format without ids keeps its pairing.
        """
        columns = {name: column.strict() for name, column in self.columns.items()}
        if self.id is None:
            return evolve(self, columns=columns)
        return evolve(self, columns=columns, ids="list", rows="same", order="free")

    def _paired(self, frame: DataFrame, answers: DataFrame) -> tuple[DataFrame, DataFrame]:
        """``(truth, predictions)`` with paired rows, if the ids fit.

        Raises InvalidSubmission; also for ids of mixed types, which cannot be sorted.
        """
        from mlecore_toolkit.submissions.alignment import (
            joined,
            renumbered,
            require_known_ids,
            require_same_count,
            require_same_ids,
            sorted_alike,
        )

        if self.rows == "same":
            require_same_count(frame, answers, self.id)
        if not self.id_required:
            return renumbered(answers), renumbered(frame)
        on = str(self.id)
        if on not in answers.columns:
            raise GradingError(f"the answers lack the column {on!r}", fix="Prepare the competition again.")
        if self.ids == "list":
            pairs = sorted_alike(frame, answers, on)
            if self.order == "free":
                return pairs
        elif self.ids == "set":
            require_same_ids(frame, answers, on)
        elif self.ids == "subset":
            require_known_ids(frame, answers, on)
        if self.order == "sample":
            return renumbered(answers), renumbered(frame)
        if self.rows == "any":
            return joined(frame, answers, on)
        return sorted_alike(frame, answers, on, compare=False)

    @property
    def id_required(self) -> bool:
        """Are rows compared or paired by their id?"""
        return self.id is not None and not (self.ids == "any" and self.order == "sample")

    def expand(self, columns: Sequence[str]) -> dict[str, Column]:
        """Every required column with its rule; ``"*"`` stands for the others of ``columns``."""
        named = {name: column for name, column in self.columns.items() if name != "*"}
        if "*" in self.columns:
            others = [name for name in columns if name != self.id and name not in named]
            named |= dict.fromkeys(others, self.columns["*"])
        return named

    def _required(self, columns: Sequence[str]) -> list[str]:
        """Every required column, the id first."""
        return list(dict.fromkeys([*([self.id] if self.id and self.id_required else []), *self.expand(columns)]))

    def to_json(self, *, own_rules: bool) -> str:
        """The format for the sandbox's ``validate``. ``own_rules``: the competition has rules beyond this table."""
        import json

        values = asdict(self)
        for column in values["columns"].values():
            column["low"] = None if column["low"] == -math.inf else column["low"]
            column["high"] = None if column["high"] == math.inf else column["high"]
        return json.dumps(
            {**values, "id_required": self.id_required, "own_rules": own_rules}, indent=1, allow_nan=False
        )
