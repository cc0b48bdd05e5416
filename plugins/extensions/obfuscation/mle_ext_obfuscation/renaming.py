"""What was renamed: applied to the form of a submission and to the description, undone in submissions."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path

from attrs import evolve, field, frozen

from mlecore.errors import InvalidSubmission
from mlecore.util import files
from mlecore.util.regular import read_regular
from mlecore.util.schema import parse_json, plain, structure
from mlecore_toolkit.submissions.format import Format
from mlecore_toolkit.submissions.guard import LONGEST_LINE, guard

_CODE = re.compile(r"```\n(?P<block>.*?)```|`(?P<span>[^`\n]+)`", re.DOTALL)
_NOTE = """
## Names

Files, columns, categories and ids have other names than when this task was first set; rows and columns are in random
order.
What is said above about the form of an id does not hold: ids tell nothing, but some are still composed of two.
"""
_ELLIPSIS = re.compile(r"(?:\w*\.\.\.)+\w*|(?<!\w)_\w+|\w+_(?!\w)")  # several: margin..., _at_request, ..._id
_WIDE = 100  # characters of a line of the sample that a description shows
_LIMIT = 1 << 31  # bytes of the file with the names


@frozen(kw_only=True)
class Renaming:
    """Old name -> new name. ``ids`` are those of the sample submission; no new name is an old one."""

    files: Mapping[str, str] = field(factory=dict)
    columns: Mapping[str, str] = field(factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(factory=dict)  # column (its old name) -> category -> new name
    ids: Mapping[str, str] = field(factory=dict)
    id: str = ""  # the column of the ids, by its old name
    sample: tuple[str, ...] = ()  # old names of the sample's columns, in their order
    rows: tuple[int, ...] = ()  # which row of the sample each row was, if rows are paired by their place

    def format(self, old: Format) -> Format:
        """The form of a submission, in new names."""
        columns = {
            self.columns.get(name, name): evolve(
                column,
                choices=tuple(sorted(self.labels.get(name, {}).get(choice, choice) for choice in column.choices)),
            )
            for name, column in old.columns.items()
        }
        return evolve(
            old, columns=dict(sorted(columns.items())), id=self.columns.get(old.id, old.id) if old.id else None
        )

    def description(self, old: str, sample: Path) -> str:
        """The description with new names in its code; a block with rows of a submission shows those of the sample."""
        categories = {value: new for labels in self.labels.values() for value, new in labels.items()}
        known = {**categories, **self.columns, **self.files}
        words = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
        pattern = re.compile(rf"(?<![\w.])(?:{words})(?![\w]|\.\.\.)")

        def renamed(code: re.Match[str]) -> str:
            if (block := code["block"]) is not None and self.id in re.split(r"[,\n]", block)[: len(self.columns)]:
                return f"```\n{_head(sample)}```"
            text = pattern.sub(lambda name: known[name[0]], _ELLIPSIS.sub(self._several, block or code["span"]))
            return f"`{text}`" if block is None else f"```\n{text}```"

        return _CODE.sub(renamed, old) + _NOTE

    def _several(self, written: re.Match[str]) -> str:
        """The new names of the columns that `requester_...` or `_at_request` stands for."""
        parts = [re.escape(part) for part in written[0].split("...")]
        form = re.compile(".*".join(parts) if len(parts) > 1 else f".*{parts[0]}.*")
        found = (
            ()
            if written[0] in self.columns or not any(parts)
            else [new for old, new in self.columns.items() if form.fullmatch(old)]
        )
        return ", ".join(sorted(found)) or written[0]

    def restore(self, submission: Path, sample: Path | None = None) -> None:
        """Replace new names by old ones in a submission, in place; every other cell keeps its text.

        Columns, and rows that are paired by their place, get the order of the sample if they are as many.
        A file that is no table, or is not safe to read, stays as it is, for grading to reject; so does an unknown name.
        Repeatable.
        """
        try:
            guard(submission, sample)
            rows = list(self._restored(submission))
        except (InvalidSubmission, csv.Error, UnicodeError, OSError):
            return
        if not rows[0]:  # an empty file
            return
        out = io.StringIO(newline="")
        # older versions of csv leave a bare carriage return unquoted, which would end the row
        returns = any("\r" in cell for row in rows for cell in row)
        csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL).writerows(rows)
        files.replace(submission, out.getvalue().encode())

    def _restored(self, submission: Path) -> Iterator[list[str]]:
        columns = {new: old for old, new in self.columns.items()}
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            with submission.open(encoding="utf-8-sig", newline="") as file:
                reader = csv.reader(file, strict=True)
                written = next(reader, [])
                header = [columns.get(name, name) for name in written]
                back = [self._back(name) for name in header]
                rows = (
                    [old.get(cell, cell) for cell, old in zip(row, back, strict=False)] + row[len(back) :]
                    for row in reader
                )
                yield from (header, *rows) if header == written else self._placed(header, rows)
        finally:
            csv.field_size_limit(before)

    def _placed(self, header: list[str], rows: Iterable[list[str]]) -> list[list[str]]:
        """Columns and rows in the order of the real sample; short rows are filled up for that."""
        placed, width = [row for row in rows if row], len(header)
        if self.rows and len(placed) == len(self.rows):
            placed = [row for _, row in sorted(zip(self.rows, placed, strict=True), key=itemgetter(0))]
        if sorted(header) == sorted(self.sample) and header != list(self.sample):
            cells = [header.index(name) for name in self.sample]
            padded = (row + [""] * (width - len(row)) for row in placed)
            header, placed = list(self.sample), [[row[cell] for cell in cells] + row[width:] for row in padded]
        return [header, *placed]

    def _back(self, column: str) -> Mapping[str, str]:
        forth = self.ids if column == self.id else self.labels.get(column, {})
        return {new: old for old, new in forth.items()}

    def write(self, path: Path) -> None:
        """Write a new file that only this user can read."""
        path.touch(0o600, exist_ok=False)
        path.write_text(json.dumps(plain(self), ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Renaming:
        """Raises OSError, SchemaError."""
        return structure(cls, parse_json(read_regular(path, _LIMIT)))


def _head(sample: Path) -> str:
    with sample.open(encoding="utf-8", newline="") as file:
        lines = [next(file, "").rstrip("\n") for _ in range(3)]
    return "".join(f"{line if len(line) <= _WIDE else line[:_WIDE] + '...'}\n" for line in lines if line)
