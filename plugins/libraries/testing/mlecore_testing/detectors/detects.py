"""Rules: a detector describes itself, handles any run, and gives the same result twice."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from mlecore.errors import DataError, MlecoreError
from mlecore.model.detectors import Detection
from mlecore.model.record import RunRecord
from mlecore.runs.code import script
from mlecore.util.regular import read_regular
from mlecore.util.schema import brief, plain
from mlecore_testing.detectors.harness import DetectorBench
from mlecore_testing.hostile import TookTooLong, in_time
from mlecore_testing.rules import Broken, Undecided
from mlecore_testing.watch import opened_below

_SECONDS = 120.0  # for one run
_EVIDENCE = 64 * 2**20  # bytes of a file that evidence names
_RULE = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")


def detects(harness: DetectorBench) -> Iterator[Broken]:
    _usable(harness)
    for run in harness.group:
        for what, group, public in (
            ("in its group", harness.group, harness.public),
            ("alone, without data", [run], None),
        ):
            try:
                found = in_time(lambda r=run, g=group, p=public: harness.detect(r, g, p), _SECONDS)  # type: ignore[misc]
            except (MlecoreError, TookTooLong, RecursionError) as error:
                yield Broken(f"{type(error).__name__}: {error}", f"run {run.name}, {what}")
                continue
            flaws = (*_flaws(found), *_evidence_flaws(run, found))
            yield from (Broken(flaw, f"run {run.name}, {what}") for flaw in flaws)


def calm(harness: DetectorBench) -> Iterator[Broken]:
    """Unrelated runs are not copies; a run without files cannot have broken a rule."""
    _usable(harness)
    for run in harness.group[:-1]:  # the last one is full of traps, so any verdict is fine
        for finding in harness.detect(run, harness.group, harness.public).findings:
            if finding.verdict in ("suspicious", "violation"):
                yield Broken(f"{finding.verdict}: {finding.rule}: {finding.summary}", f"run {run.name}, an honest one")


def same(harness: DetectorBench) -> Iterator[Broken]:
    _usable(harness)
    for run in harness.group:
        first = harness.detect(run, harness.group, harness.public)
        if harness.detect(run, harness.group, harness.public).findings != first.findings:
            yield Broken("different findings the second time", f"run {run.name}")


def blind(harness: DetectorBench) -> Iterator[Broken]:
    """Public data lie beside the answers, which a detector must not open."""
    _usable(harness)
    for run in harness.group:
        with opened_below(harness.private) as seen:
            harness.detect(run, harness.group, harness.public)
        for path in dict.fromkeys(seen):
            yield Broken(f"it opens {path}", f"run {run.name}")


def untouched(harness: DetectorBench) -> Iterator[Broken]:
    _usable(harness)
    before = _seen(harness.folder)
    for run in harness.group:
        harness.detect(run, harness.group, harness.public)
    after = _seen(harness.folder)
    for path in sorted(before.keys() ^ after.keys()):
        yield Broken("it was made" if path in after else "it was removed", path)
    for path in sorted(before.keys() & after.keys()):
        if before[path] != after[path]:
            yield Broken("it was changed", path)


def _flaws(found: Detection) -> Iterator[str]:
    for finding in found.findings:
        if not _RULE.fullmatch(finding.rule):
            yield f"rule {finding.rule!r}: expected a short name in small letters, with dashes"
        if not finding.summary.strip() or not finding.summary.replace("\n", "").isprintable():
            yield f"summary {finding.summary!r}: expected a sentence that can be printed"
        if finding.confidence is not None and not 0 <= finding.confidence <= 1:
            yield f"confidence {finding.confidence}: expected a number from 0 to 1"
    try:
        json.dumps(plain(found), allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"findings or settings cannot be written as JSON: {error}"


def _evidence_flaws(run: RunRecord, found: Detection) -> Iterator[str]:
    """Evidence that nobody can look up."""
    for evidence in (each for finding in found.findings for each in finding.evidence if not each.of):
        try:
            content = read_regular(run.folder / evidence.file, _EVIDENCE, below=run.folder)
            if evidence.file.endswith(".ipynb"):
                content = script(content).encode()
        except (DataError, OSError, ValueError) as error:
            yield f"evidence in {evidence.file!r}, which is not a file of the run: {error}"
            continue
        if evidence.quote.encode() not in content:
            yield f"evidence {brief(evidence.quote)}, which {evidence.file} does not say"
        if not 1 <= (evidence.line or 1) <= (evidence.last_line or evidence.line or 1) <= content.count(b"\n") + 1:
            yield f"evidence in line {evidence.line} to {evidence.last_line} of {evidence.file}, which it does not have"
        if not 0 <= (evidence.offset or 0) <= len(content):
            yield f"evidence at byte {evidence.offset} of {evidence.file}, which has {len(content)}"


def _usable(harness: DetectorBench) -> None:
    for program in harness.detector.programs:
        if shutil.which(program) is None:
            raise Undecided(f"it needs the program {program}, which is not on PATH")
    for name in harness.detector.secrets:
        if name not in os.environ:
            raise Undecided(f"it needs {name}, which is not set")


def _seen(folder: Path) -> dict[str, tuple[int, int, int]]:
    return {
        Path(place, name).relative_to(folder).as_posix(): _stamp(Path(place, name))
        for place, folders, names in os.walk(folder)
        for name in (*folders, *names)
    }


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.lstat()
    return status.st_mode, status.st_size, status.st_mtime_ns
