"""Do submissions in other names (`--obfuscate full`) score the same, bit for bit?"""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Iterator
from pathlib import Path

from mle_ext_obfuscation.renaming import Renaming

from mlecore.errors import InvalidSubmission
from mlecore.model.competition import Competition
from mlecore_testing.competitions.golden import submissions

_OTHER_NAMES = ("header_upper", "empty")  # nothing to rename


def forth(names: Renaming, text: str) -> str:
    """A submission in new names, as an agent would write it."""
    header, *rows = list(csv.reader(io.StringIO(text, newline="")))
    maps = [names.ids if name == names.id else names.labels.get(name, {}) for name in header]
    cells = [[new.get(cell, cell) for cell, new in zip(row, maps, strict=False)] for row in rows]
    if len(cells) == len(names.rows):
        cells = [cells[row] for row in names.rows]
    return _text([[names.columns.get(name, name) for name in header], *cells])


def verdict(found: Competition, submission: Path, prepared: Path) -> bytes | str:
    """The bits of the score, or why the submission is invalid."""
    try:
        return struct.pack("d", found.grade(submission, prepared / "private", prepared / "public"))
    except InvalidSubmission as error:
        return str(error)


def compare(found: Competition, prepared: Path, names: Renaming, folder: Path) -> Iterator[tuple[str, object, object]]:
    """What was done to the perfect submission, and the verdicts: on it, and on what it is after there and back."""
    from mlecore.model.sample import open_sample

    best = found.perfect(prepared / "private").to_csv(index=False, lineterminator="\n")
    with open_sample(found.facts, prepared / "public") as path:
        sample = path.read_text(encoding="utf-8")
    file = folder / "submission.csv"
    for what, variant in submissions(sample, best).items():
        if what in _OTHER_NAMES:
            continue
        text = variant().decode()
        file.write_text(text, encoding="utf-8", newline="")
        before = verdict(found, file, prepared)
        file.write_text(hidden := forth(names, text), encoding="utf-8", newline="")
        assert hidden.splitlines()[0] != text.splitlines()[0], "nothing was renamed"
        names.restore(file)
        yield what, before, verdict(found, file, prepared)


def _text(rows: list[list[str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
