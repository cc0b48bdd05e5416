"""Hints about the shape of a rejected submission, which often explains a message about ids or values."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlecore.errors import InvalidSubmission
from mlecore_toolkit.submissions.messages import shown

_LONGEST = 1 << 16  # bytes of a line
_MOST = 1 << 28  # bytes of a file


@contextmanager
def explaining(submission: Path) -> Iterator[None]:
    """Adds a hint about its shape to the reason why a submission is invalid. Never changes a verdict."""
    try:
        yield
    except InvalidSubmission as error:
        hint = _oddity(submission)
        if not hint:
            raise
        raise InvalidSubmission(f"{error.message}. {hint}", fix=error.fix) from None


def _oddity(path: Path) -> str:
    try:
        with path.open("rb") as file:
            header, first = _first_two(file.readline(_LONGEST), file.readline(_LONGEST))
            if 1 < len(header) < len(first):
                return (
                    f"Its rows have {len(first)} cells, and its first line names {len(header)} columns (a comma at the "
                    f"end of each row, or decimal commas?): column {shown(header[0])} is read from cell "
                    f"{len(first) - len(header) + 1} of each row"
                )
            file.seek(0)
            names = file.readline(_LONGEST).removeprefix(b"\xef\xbb\xbf").strip()
            last, number = b"", 1
            while file.tell() < _MOST and (line := file.readline()):
                last, number = line, number + 1
                if line.strip() == names and names:
                    return f"Its line {number:,} names the columns again"
    except (OSError, UnicodeDecodeError, csv.Error):
        return ""
    if last and not last.endswith((b"\n", b"\r")) and last.count(b",") < len(header) - 1:
        return f"Its last line is incomplete ({shown(last.decode(errors='replace'))}), as if writing it was interrupted"
    return ""


def _first_two(*lines: bytes) -> list[list[str]]:
    """The cells of two lines."""
    return [next(csv.reader([line.decode("utf-8-sig").rstrip("\r\n")]), []) for line in lines]
