"""A submission as plugins see it: a path with lazy readers, because verdicts depend on how its text is typed."""

from __future__ import annotations

import codecs
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore import validation
from mlecore.errors import InvalidSubmission, UsageError
from mlecore.tables import frames
from mlecore.tables.options import Options

if TYPE_CHECKING:
    from pandas import DataFrame, Series

HEAVY = 8 << 20  # bytes from which on rows are counted before anything is parsed
_CHUNK = 1 << 20
_LONE = re.compile(rb"\r[^\n]")
_LINES = bytes.maketrans(b"\r\v\f", b"\nxx")  # for bytes.split, which would take \v and \f as line ends


class Table:
    """One CSV file, read as pandas 2 reads it. No plugin reads a submission in any other way."""

    def __init__(self, path: Path | str) -> None:
        self.path = validation.path(path, "a table")

    def frame(self) -> DataFrame:
        """Exactly pandas 2's ``read_csv(path, float_precision="round_trip")``: chunk-wise typing, implicit index.

        An empty file has no columns; any other failure to parse is InvalidSubmission. Read once; do not write to it.
        """
        return self._frame

    def text(self) -> DataFrame:
        """Every cell as it is written; none is missing."""
        return self._text

    def column_text(self, name: str) -> Series:
        """One column's cells as they are written, without the memory and time that the others take."""
        if "_text" in self.__dict__ or not self._plain_rows:
            return self._text[name]
        return self._read(dtype=str, keep_default_na=False, usecols=[name])[name]

    @property
    def _plain_rows(self) -> bool:
        """True if no row has more cells than the header. Else pandas takes the first cells as names of the rows."""
        import pandas as pd

        return isinstance(self._frame.index, pd.RangeIndex)

    def heavy_rows(self) -> int | None:
        """The number of rows of a large file, counted without parsing it; None if that takes parsing."""
        if self.path.stat().st_size < HEAVY:
            return None
        lines, inside = 0, False  # inside a line that has text
        with self.path.open("rb") as file:
            file.seek(3 if file.read(3) == codecs.BOM_UTF8 else 0)
            while chunk := file.read(_CHUNK):
                # A cell in quotation marks may hold line ends; pandas' parser sometimes makes many rows of a lone \r.
                if b'"' in chunk or _LONE.search(chunk):
                    return None
                text = chunk.translate(_LINES, b" \t")
                if text:
                    lines += len(text.split()) - (inside and text[:1] != b"\n")
                    inside = text[-1:] != b"\n"
        return lines - 1 if lines else None

    @cached_property
    def _frame(self) -> DataFrame:
        if self.path.is_file() and self.path.stat().st_size >= frames.WORTHWHILE:
            with self.path.open("rb") as file:
                frame = frames.read(file, Options())
            if frame is not None:
                return frame
        return self._read()

    @cached_property
    def _text(self) -> DataFrame:
        return self._read(dtype=str, keep_default_na=False)

    def _read(self, **options: object) -> DataFrame:
        import warnings

        import pandas as pd

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # chunk-wise typing is intended
                frame: DataFrame = pd.read_csv(self.path, float_precision="round_trip", compression=None, **options)
        except pd.errors.EmptyDataError:
            return pd.DataFrame()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise UsageError(f"the table {self.path} cannot be read: {error.strerror}") from None
        except (pd.errors.ParserError, UnicodeDecodeError, ValueError, OverflowError) as error:
            if "out of memory" in str(error):
                raise MemoryError(f"no memory left to read {self.path}") from None  # ours, not the submission's fault
            reason = str(error).strip()  # some of pandas' messages end with a line end
            raise InvalidSubmission(f"{self.path.name} cannot be read as a CSV table: {reason}") from None
        return frame
