"""Options of a reader of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

_WANTED = (str, int, float, "int8", "int16", "int32", "int64", "float64")  # the supported types


class Uncertain(Exception):
    """Pandas may read something else."""


@frozen(kw_only=True)
class Options:
    """The supported options of ``pandas.read_csv``."""

    usecols: Sequence[str] | None = None
    dtype: Mapping[str, Any] | type[str] | None = None
    na_filter: bool = True
    ragged: bool = False  # reject rows with too many cells, which polars ignores if it reads only some columns

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Options | None:
        """The options, or None if only pandas supports them."""
        usecols, dtype = options.get("usecols"), options.get("dtype")
        known = (
            options.keys() <= {"usecols", "dtype", "na_filter"}
            and (usecols is None or isinstance(usecols, list))
            and (dtype is None or dtype is str or isinstance(dtype, Mapping))
            and (not isinstance(dtype, Mapping) or all(wanted in _WANTED for wanted in dtype.values()))
        )
        return cls(**options) if known else None

    def type(self, name: str) -> Any:
        """The requested type of a column; None: by its cells."""
        return self.dtype.get(name) if isinstance(self.dtype, Mapping) else self.dtype
