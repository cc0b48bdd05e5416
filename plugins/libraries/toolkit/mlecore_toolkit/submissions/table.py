"""A submission for plugins: a path with lazy readers, because verdicts depend on how its text is typed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission, UsageError
from mlecore.util import validation
from mlecore_toolkit.fast_csv.blocks import count, has_blank_line
from mlecore_toolkit.submissions import large

if TYPE_CHECKING:
    from pandas import DataFrame, Series

HEAVY = 8 << 20  # bytes; in a larger file rows are counted before it is parsed
_CHUNK = 1 << 20
_LONE = re.compile(rb"\r[^\n]")
_LINES = bytes.maketrans(b"\r\v\f", b"\nxx")  # for bytes.split, which would split at \v and \f


class Table:
    """A CSV file, read as pandas 2 reads it. Plugins read submissions in no other way."""

    def __init__(self, path: Path | str) -> None:
        self.path = validation.path(path, "a table")
        self._frame: DataFrame | None = None
        self._some: DataFrame | None = None  # some columns of a large file, as pandas types them

    def frame(self) -> DataFrame:
        """Exactly pandas 2's ``read_csv(path, float_precision="round_trip")``: chunk-wise typing, implicit index.

        An empty file has no columns; any other failure to parse is InvalidSubmission. Read once; do not write to it.
        """
        if self._frame is None:
            frame = large.read(self.path, ragged=True)
            self._frame = self._read() if frame is None else frame
        return self._frame

    def columns(self, names: Collection[str] = (), *, verbatim: Collection[str] = ()) -> DataFrame:
        """``frame()``; of a large file perhaps only these columns (default: all).

        Cells of ``verbatim`` columns are text as written.
        """
        if self._some is not None and not verbatim and names and set(names) <= set(self._some.columns):
            return self._some
        if self._frame is None and (verbatim or (names and set(names) < set(large.header(self.path)))):
            some = large.read(self.path, names, verbatim=verbatim, ragged=True)
            if some is not None:
                self._some = None if verbatim else some
                return some
        frame = self.frame()
        texts = {name: self.column_text(name).array for name in verbatim if name in frame.columns}
        return frame.assign(**texts) if texts else frame

    def text(self) -> DataFrame:
        """Every cell as it is written; none is missing."""
        return self._text

    def column_text(self, name: str) -> Series:
        """One column's cells as they are written, without reading the others."""
        import pandas as pd

        if "_text" not in self.__dict__:
            some = large.read(self.path, [name], verbatim=[name], ragged=True)
            if some is not None:
                return some[name]
            # if rows have more cells than the header, the first cells name the rows
            if isinstance(self.frame().index, pd.RangeIndex):
                return self._read(dtype=str, keep_default_na=False, usecols=[name])[name]
        return self._text[name]

    def heavy_rows(self) -> int | None:
        """The number of rows of a large file, counted without parsing it; None if it is small or needs parsing."""
        if self.path.stat().st_size < HEAVY:
            return None
        lines, inside = 0, False  # inside a line with text
        with self.path.open("rb") as file:
            file.seek(3 if file.read(3) == codecs.BOM_UTF8 else 0)
            while chunk := file.read(_CHUNK):
                # A quoted cell may contain line ends; pandas' parser sometimes makes several rows of a lone \r.
                if b'"' in chunk or (b"\r" in chunk and _LONE.search(chunk)):
                    return None
                blank = b"\r" in chunk or has_blank_line(chunk)
                text = chunk.translate(_LINES, b" \t") if blank else chunk
                if text:
                    found = len(text.split()) if blank else count(text, b"\n") + (text[-1:] != b"\n")
                    lines += found - (inside and text[:1] != b"\n")
                    inside = text[-1:] != b"\n"
        return lines - 1 if lines else None

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
                raise MemoryError(f"no memory left to read {self.path}") from None  # not the submission's fault
            reason = str(error).strip()  # some of pandas' messages end with a line end
            raise InvalidSubmission(f"{self.path.name} cannot be read as a CSV table: {reason}") from None
        return frame
