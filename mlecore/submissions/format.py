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

from mlecore.errors import PluginError

if TYPE_CHECKING:
    from pathlib import Path


ColumnType = Literal["number", "label", "integer", "text", "any"]


@frozen(kw_only=True)
class Column:
    """What one column must hold; ``mlecore.submissions.values`` has a function of each name that says it exactly.

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
