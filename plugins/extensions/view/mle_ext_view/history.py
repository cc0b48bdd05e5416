"""The snapshots of a run: the score at each, and how the agent changed its code from one to the next and to the end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from attrs import field, frozen
from mle_ext_report.graded import Graded, Moment

from mlecore.controller.collect import MAX_CODE_FILES
from mlecore.runs.snapshots import code_snapshots, snapshots
from mlecore.util.units import show_duration

from . import code
from .places import Missing

_PATIENCE = 2.0  # seconds of comparing code; hostile files may take long
_LINES = 4000  # of changes that one page shows


@frozen(kw_only=True)
class FileChange:
    """One file that is not as it was at the snapshot before."""

    path: str
    word: str  # new, changed, removed
    lines: list[code.Change]
    cut: bool  # lines were left out

    @property
    def summary(self) -> str:
        """The path, and the number of lines that came and went."""
        added, removed = (sum(line.kind == kind for line in self.lines) for kind in ("added", "removed"))
        return f"{self.path} +{added} −{removed}" if self.word == "changed" else f"{self.path} ({self.word})"


@frozen(kw_only=True)
class Snapshot:
    """A copy of the submission, or the end of the run."""

    seconds: float | None  # since the start; None: the end
    submission: str | None = None  # its path below the run's folder
    before: str | None = None  # the one of the snapshot before
    graded: Moment | None = None
    changes: list[FileChange] = field(factory=list)
    has_code: bool = False  # a copy of the code was kept with it
    not_compared: bool = False  # time or room was used up

    @property
    def when(self) -> str:
        return "At the end" if self.seconds is None else f"After {show_duration(self.seconds)}"

    @property
    def foldable(self) -> bool:
        """Is there more to see than its line?"""
        return bool(self.submission or self.changes)

    @property
    def what(self) -> str:
        """What changed in the code, in a few words."""
        names = ", ".join(change.summary for change in self.changes)
        if self.not_compared:
            return ", ".join(filter(None, (names, "not all compared")))
        return names or ("code unchanged" if self.has_code else "")


def snapshots_of(graded: Graded, runs: Path) -> list[Snapshot]:
    """In order, also those of which only the grade is left; at last the end, if there is anything before it."""
    record = graded.run
    scores = {round(moment.seconds): moment for moment in graded.history}
    folders, known, before = dict(code_snapshots(record)), dict[str, str](), None
    budget, found = _Budget(), list[Snapshot]()
    for seconds, path in snapshots(record):
        changes, compared = list[FileChange](), True
        if folder := folders.get(seconds):
            now = _texts(record.folder, folder, runs)
            changes, compared = budget.changes(known, now)
            known = now
        name = path.relative_to(record.folder).as_posix()
        found.append(
            Snapshot(
                seconds=seconds,
                submission=name,
                before=before,
                graded=scores.get(seconds),
                changes=changes,
                has_code=folder is not None,
                not_compared=not compared,
            )
        )
        before = name
    kept = {each.seconds for each in found}
    found += [Snapshot(seconds=at, graded=moment) for at, moment in scores.items() if at not in kept]
    found.sort(key=lambda each: each.seconds or 0.0)
    changes, compared = (
        budget.changes(known, _texts(record.folder, record.folder / "code", runs)) if known else ([], True)
    )
    if changes or not compared or found:
        end = at_end(graded)
        found.append(Snapshot(seconds=None, graded=end, changes=changes, not_compared=not compared))
    return found


def at_end(graded: Graded) -> Moment | None:
    """What the run submitted in the end, with its score."""
    report, seconds = graded.report, graded.run.seconds
    if report is None or seconds is None:
        return None
    return Moment(seconds=seconds, valid=report.valid_submission, score=report.exact, medal=report.medal)


class _Budget:
    """Time and lines for all comparisons of a page."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + _PATIENCE
        self._lines = _LINES

    def changes(self, before: dict[str, str], after: dict[str, str]) -> tuple[list[FileChange], bool]:
        """What changed, and whether all of it was compared."""
        found = list[FileChange]()
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path, ""), after.get(path, "")
            if path in before and path in after and old == new:
                continue
            if time.monotonic() > self._ends or self._lines <= 0:
                return found, False
            lines, cut = code.changes(old, new)
            word = "changed" if path in before and path in after else "new" if path in after else "removed"
            kept = lines[: self._lines]
            self._lines -= len(kept)
            found.append(FileChange(path=path, word=word, lines=kept, cut=cut or len(kept) < len(lines)))
        return found, True


def _texts(run: Path, folder: Path, runs: Path) -> dict[str, str]:
    """Path below ``folder`` -> text, of the code files that a snapshot takes."""
    return dict(_each_text(run, folder, runs))


def _each_text(run: Path, folder: Path, runs: Path) -> Iterator[tuple[str, str]]:
    name = folder.relative_to(run).as_posix()
    files = [file for file in code.listed(run, (name,))[0] if file.is_code]
    paths = [file.path.removeprefix(f"{name}/") for file in files]
    shown = [path for path in paths if not any(part.startswith(".") for part in path.split("/"))]
    for path in sorted(shown, key=os.fsencode)[:MAX_CODE_FILES]:
        try:
            yield path, code.text_of(run, f"{name}/{path}", runs)[0]
        except Missing:
            continue
