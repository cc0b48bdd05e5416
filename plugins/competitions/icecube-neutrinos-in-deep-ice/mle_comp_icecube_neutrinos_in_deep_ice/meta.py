"""A parquet table larger than memory, read by column and row group, and written by row group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

ROWS = 50_000_000  # of a row group, at most: fastparquet's default


class Meta:
    """``train_meta.parquet``: one row per event."""

    def __init__(self, path: Path) -> None:
        import fastparquet

        try:
            self._file = fastparquet.ParquetFile(str(path))
        except FileNotFoundError:
            raise DataError(f"{path} is missing") from None
        except (ValueError, fastparquet.ParquetException) as error:
            raise DataError(f"{path} cannot be read as a parquet file: {error}") from None

    def column(self, name: str, wanted: NDArray[np.bool_] | None = None) -> NDArray[Any]:
        """One column's values in the wanted rows (all, unless said)."""
        import numpy as np

        if wanted is None:
            wanted = np.ones(self._file.count(), dtype=bool)
        values: list[NDArray[Any]] = []
        start = 0
        for number, group in enumerate(self._file.row_groups):
            chosen = wanted[start : start + group.num_rows]
            start += group.num_rows
            if chosen.any():
                values.append(self._file[number].to_pandas(columns=[name], index=False)[name].to_numpy()[chosen])
        return np.concatenate(values)

    def rows(self, wanted: NDArray[np.bool_]) -> DataFrame:
        """All columns of the wanted rows, in file order."""
        import pandas as pd

        return pd.DataFrame({name: self.column(name, wanted) for name in self._file.columns}, copy=False)

    def parts(self, wanted: NDArray[np.bool_]) -> Iterator[DataFrame]:
        """The same as the row groups that fastparquet makes of it."""
        import numpy as np

        places = np.flatnonzero(wanted)
        count = len(places)
        size = -(-count // max(1, -(-count // ROWS)))
        ends = [*places[size - 1 : -1 : size] + 1, len(wanted)]
        del places
        for start, end in zip([0, *ends], ends, strict=False):
            part = np.zeros_like(wanted)
            part[start:end] = wanted[start:end]
            yield self.rows(part)


def write_parquet(parts: Iterable[DataFrame], path: Path) -> None:
    """A row group each, in a new file; of one part the bytes of pandas' ``to_parquet(engine="fastparquet")``."""
    import fastparquet

    path.parent.mkdir(parents=True, exist_ok=True)
    for part in parts:
        if not path.exists():
            part.to_parquet(path, index=False, engine="fastparquet")
        else:
            fastparquet.write(str(path), part, compression="SNAPPY", write_index=False, append=True)
        del part  # before the next one is made; enumerate would keep it
