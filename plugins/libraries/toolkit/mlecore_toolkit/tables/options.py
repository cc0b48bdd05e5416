"""What may be asked of a reader of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

_WANTED = (str, int, float, "int8", "int16", "int32", "int64", "float64")  # types that may be asked for


class Uncertain(Exception):
    """Pandas might read something else."""


@frozen(kw_only=True)
class Options:
    """What ``pandas.read_csv`` may be asked for."""

    usecols: Sequence[str] | None = None
    dtype: Mapping[str, Any] | type[str] | None = None
    na_filter: bool = True
    ragged: bool = False  # may a row have too many cells? Of some columns alone, polars would not tell

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Options | None:
        """None if there are options that are left to pandas."""
        usecols, dtype = options.get("usecols"), options.get("dtype")
        known = (
            options.keys() <= {"usecols", "dtype", "na_filter"}
            and (usecols is None or isinstance(usecols, list))
            and (dtype is None or dtype is str or isinstance(dtype, Mapping))
            and (not isinstance(dtype, Mapping) or all(wanted in _WANTED for wanted in dtype.values()))
        )
        return cls(**options) if known else None

    def type(self, name: str) -> Any:
        """The type that is wanted for a column; None: that of its cells."""
        return self.dtype.get(name) if isinstance(self.dtype, Mapping) else self.dtype
