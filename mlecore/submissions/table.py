"""A submission as plugins see it: a path with lazy readers, because verdicts hang on how its text is typed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission

if TYPE_CHECKING:
    from pandas import DataFrame


class Table:
    """One CSV file, read as pandas 2 reads it. No plugin reads a submission in another way."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def frame(self) -> DataFrame:
        """Exactly pandas 2's ``read_csv(path, float_precision="round_trip")``: chunk-wise typing, implicit index.

        An empty file has no columns; any other failure to parse is InvalidSubmission. Read once; do not write to it.
        """
        return self._frame

    def text(self) -> DataFrame:
        """Every cell as it is written, nothing missing."""
        return self._text

    @cached_property
    def _frame(self) -> DataFrame:
        return self._read()

    @cached_property
    def _text(self) -> DataFrame:
        return self._read(dtype=str, keep_default_na=False)

    def _read(self, **options: object) -> DataFrame:
        import warnings

        import pandas as pd

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # chunk-wise typing is what is wanted
                frame: DataFrame = pd.read_csv(self.path, float_precision="round_trip", compression=None, **options)
        except pd.errors.EmptyDataError:
            return pd.DataFrame()
        except (pd.errors.ParserError, UnicodeDecodeError, ValueError, OverflowError) as error:
            if "out of memory" in str(error):
                raise MemoryError(f"no memory left to read {self.path}") from None  # ours, not the submission's fault
            reason = str(error).strip()  # pandas ends some with a line end
            raise InvalidSubmission(f"{self.path.name} cannot be read as a CSV table: {reason}") from None
        return frame
