"""The ``[submission]`` table of competition.toml, and the check that works from it alone.

::

    [submission]
    id = "id"           # the column that names the rows
    rows = "sample"     # "sample": the sample's ids, and no others
                        # "subset": some of the sample's ids, each as often as one likes
                        # "count": as many rows as the sample; their ids are not compared
                        # "any": neither number nor ids are compared
    ids = "list"        # with rows = "sample": each id as often as in the sample; "set": as often as one likes
    order = "free"      # "sample": rows are paired by their place in the file; the check warns of another order
    extra = "ignored"   # further columns; or "refused"
    sum_to_one = 1e-5   # each row's number columns add up to 1 within this; left out: they need not

    [submission.columns.has_cactus]
    type = "number"     # see Column
    low = 0
    high = 1

    [submission.columns."*"]   # every other column of the sample but the id
    type = "number"

``rows``, ``ids``, ``order`` and ``extra`` have the defaults shown. ``id`` must be in the file, unless rows are neither
compared nor sorted by it (``rows`` "count" or "any" with ``order = "sample"``): then it only serves the warning, and
may stand among the columns too.

The table must be *sound*: it refuses nothing that ``grade`` accepts. What it cannot say is the ``check`` hook's::

    @hookimpl
    def check(submission, sample, public):
        warnings = generic_check(Format.read(Path(__file__).parent), submission, sample)
        ...
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from attrs import asdict, field, fields, frozen

from mlecore.errors import DataError, InvalidSubmission, PluginError

if TYPE_CHECKING:
    from pathlib import Path

    from pandas import DataFrame

    from mlecore.table import Table

ColumnType = Literal["number", "label", "integer", "text", "any"]


@frozen(kw_only=True)
class Column:
    """What one column must hold; ``mlecore.metrics.values`` has a function of each name that says it exactly.

    number   numbers from ``low`` to ``high``; ``missing`` cells and ``infinite`` values only where allowed;
             ``from_text``: also what only Python's ``float`` reads (``1_0``), as scikit-learn does
    label    whole numbers, ``3.0`` too: what scikit-learn takes as class labels (``labels``)
    integer  what Python's ``int`` takes, cell by cell (``integers``)
    text     text, and not a column that reads as numbers; ``missing`` cells only where allowed (``texts``)
    any      whatever stands there
    """

    type: ColumnType
    low: float = -math.inf
    high: float = math.inf
    missing: bool = False
    infinite: bool = False
    from_text: bool = False


_APPLY: Mapping[str, frozenset[str]] = {
    "number": frozenset({"low", "high", "missing", "infinite", "from_text"}),
    "label": frozenset(),
    "integer": frozenset(),
    "text": frozenset({"missing"}),
    "any": frozenset(),
}
_KINDS: Mapping[str, tuple[type, ...]] = {
    "id": (str,),
    "sum_to_one": (int, float),
    "low": (int, float),
    "high": (int, float),
    "missing": (bool,),
    "infinite": (bool,),
    "from_text": (bool,),
}


@frozen(kw_only=True)
class Format:
    """What a well-formed submission looks like, as far as one table can say it."""

    columns: Mapping[str, Column] = field(factory=dict)  # "*": every other column of the sample
    id: str | None = None
    rows: Literal["sample", "subset", "count", "any"] = "sample"
    ids: Literal["list", "set"] = "list"
    order: Literal["free", "sample"] = "free"
    extra: Literal["ignored", "refused"] = "ignored"
    sum_to_one: float | None = None

    @classmethod
    def parse(cls, table: Mapping[str, Any]) -> Format:
        """From the ``[submission]`` table. Raises PluginError that names the key that is unknown or does not fit."""
        values = dict(table)
        columns = values.pop("columns", {})
        if not isinstance(columns, Mapping) or not columns:
            raise PluginError("[submission] needs a table `columns`: column name -> { type = ... }")
        _known(values, [f.name for f in fields(cls)], "[submission]")
        for name, choices in _CHOICES.items():
            if values.get(name, choices[0]) not in choices:
                raise PluginError(f"[submission] {name} = {values[name]!r}: expected one of {', '.join(choices)}")
        read = {name: _column(name, column) for name, column in columns.items()}
        if values.get("rows", "sample") in ("sample", "subset") and "id" not in values:
            raise PluginError('[submission] needs `id`, or rows = "count" or "any"')
        if "sum_to_one" in values and not any(column.type == "number" for column in read.values()):
            raise PluginError("[submission] sum_to_one needs columns of numbers")
        return cls(**values, columns=read)

    @classmethod
    def read(cls, folder: Path) -> Format:
        """From the competition.toml in ``folder``: for a ``check`` hook, ``Format.read(Path(__file__).parent)``."""
        from mlecore.facts import read_facts

        return cls.parse(read_facts(folder).submission)

    @property
    def id_required(self) -> bool:
        """Are rows compared or sorted by their id?"""
        return self.id is not None and not (self.rows in ("count", "any") and self.order == "sample")

    def expand(self, sample_columns: list[str]) -> dict[str, Column]:
        """Every column that must be there with its rule, ``"*"`` replaced by the sample's other columns."""
        named = {name: column for name, column in self.columns.items() if name != "*"}
        if "*" in self.columns:
            others = [name for name in sample_columns if name != self.id and name not in named]
            named |= dict.fromkeys(others, self.columns["*"])
        return named

    def to_json(self, *, own_check: bool) -> str:
        """For the sandbox's ``validate``; ``own_check``: the competition has a check hook, so this table is not all."""
        import json

        values = asdict(self)
        for column in values["columns"].values():
            column["low"] = None if column["low"] == -math.inf else column["low"]
            column["high"] = None if column["high"] == math.inf else column["high"]
        return json.dumps(
            {**values, "id_required": self.id_required, "own_check": own_check}, indent=1, allow_nan=False
        )


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "rows": ("sample", "subset", "count", "any"),
    "ids": ("list", "set"),
    "order": ("free", "sample"),
    "extra": ("ignored", "refused"),
}


def generic_check(format: Format, submission: Table, sample: Table) -> list[str]:
    """Checks a submission against the sample submission, answers unseen. Returns warnings; raises InvalidSubmission.

    The rules are applied by the functions that ``grade`` uses, with the sample in the place of the answers.
    """
    from mlecore.metrics.values import rows_sum_to_one

    try:
        expected = sample.frame()
    except InvalidSubmission as error:
        raise DataError(f"the sample submission is damaged: {error}", fix="Prepare the competition again.") from None
    if format.id is not None and format.id not in expected.columns:
        raise PluginError(f"[submission] id = {format.id!r}, but the sample has only {', '.join(expected.columns)}")
    rules = format.expand(list(expected.columns))
    guess = _rows(format, submission, expected, list(rules))
    numeric = []
    for name, rule in rules.items():
        values = _values(guess, name, rule)
        if rule.type == "number":
            numeric.append(values)
    if format.sum_to_one is not None:
        import numpy as np

        rows_sum_to_one(guess, np.column_stack(numeric), format.sum_to_one)
    return _warnings(format, rules, submission, sample)


def _rows(format: Format, submission: Table, expected: DataFrame, columns: list[str]) -> DataFrame:
    """The submission's table once its columns and ids are right; rows named by id where they are compared."""
    from mlecore.metrics.inputs import aligned, columns_of, known_ids, same_count, same_ids
    from mlecore.metrics.reasons import ID

    only = format.extra == "refused"
    required = list(dict.fromkeys([format.id, *columns] if format.id and format.id_required else columns))
    may = [format.id] if only and format.id and format.id not in required else []
    frame = columns_of(submission, [*required, *[name for name in may if name in submission.frame()]], only=only)
    if format.rows == "count":
        same_count(frame, expected)
    elif format.rows == "sample" and format.ids == "list":
        return aligned(submission, expected, on=str(format.id), columns=columns)[1]
    elif format.rows in ("sample", "subset"):
        (same_ids if format.rows == "sample" else known_ids)(frame, expected, str(format.id))
    guess = frame.copy(deep=False)
    if format.id_required and format.rows != "any":
        guess.attrs[ID] = format.id
    return guess


def _values(guess: DataFrame, name: str, rule: Column) -> Any:
    """The column through the validator that its type names."""
    from mlecore.metrics import values

    if rule.type == "number":
        options = {"missing": rule.missing, "infinite": rule.infinite, "from_text": rule.from_text}
        return values.numbers(guess, name, low=rule.low, high=rule.high, **options)
    if rule.type == "label":
        return values.labels(guess, name)
    if rule.type == "integer":
        return values.integers(guess, name)
    if rule.type == "text":
        return values.texts(guess, name, missing="" if rule.missing else None)
    return None


def _warnings(format: Format, rules: Mapping[str, Column], submission: Table, sample: Table) -> list[str]:
    """What is valid and surely not meant."""
    import pandas as pd

    from mlecore.metrics.reasons import counted

    frame, expected = submission.frame(), sample.frame()
    said = []
    if not isinstance(frame.index, pd.RangeIndex):
        said.append(
            "the rows have more cells than the header (a comma at the end?): the first cells are taken as names of the "
            "rows, and all columns move to the left"
        )
    if format.id is not None and format.id in frame.columns:
        said += _id_warnings(format, frame[format.id], expected[format.id], submission, sample)
    for name, rule in rules.items():
        gaps = int(frame[name].isna().sum()) if rule.type == "number" and rule.missing else 0
        if gaps:
            said.append(f"column {name!r} has {counted(gaps, 'missing value')}: allowed, but they cannot score well")
    return said


def _id_warnings(format: Format, ids: Any, asked: Any, submission: Table, sample: Table) -> list[str]:
    from mlecore.metrics.reasons import counted, shown

    said = []
    known = set(asked.drop_duplicates().tolist())
    if unknown := [value for value in ids.drop_duplicates().tolist() if value not in known]:
        said.append(
            f"{counted(len(unknown), format.id or 'id')} the sample lacks, such as {shown(unknown[0])}: ids are not "
            "compared, so those rows meet whatever stands in their place"
        )
    elif format.order == "sample":
        pairs = zip(ids.tolist(), asked.tolist(), strict=False)
        first = next((place for place, (have, want) in enumerate(pairs) if have != want), None)
        if first is not None:
            said.append(
                f"rows are paired by their place in the file, and the order is not the sample's: row {first + 1:,} is "
                f"{shown(ids.iloc[first])}, expected {shown(asked.iloc[first])}"
            )
    if ids.dtype.kind in "iuf" and _leading_zeros(submission, format.id) and not _leading_zeros(sample, format.id):
        said.append(f"{format.id} is written with leading zeros and read as a number, so the zeros do not count")
    return said


def _leading_zeros(table: Table, column: str | None) -> bool:
    return bool(table.text()[column].str.match(r"\s*0\d").any())


def _column(name: str, given: Any) -> Column:
    where = f"[submission.columns.{name}]"
    if not isinstance(given, Mapping) or given.get("type") not in get_args(ColumnType):
        raise PluginError(f"{where} needs `type`: one of {', '.join(get_args(ColumnType))}")
    _known(given, ["type", *sorted(_APPLY[given["type"]])], where)
    return Column(**given)


def _known(values: Mapping[str, Any], names: list[str], where: str) -> None:
    for name, value in values.items():
        if name not in names:
            raise PluginError(f"{where}: unknown key {name!r}; known: {', '.join(names)}")
        kinds = _KINDS.get(name)
        if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            raise PluginError(f"{where} {name} = {value!r}: expected {' or '.join(kind.__name__ for kind in kinds)}")
