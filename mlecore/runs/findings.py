"""A detector's findings in a run: findings/<detector>.json as a value."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

from mlecore import files
from mlecore.agents import Usage
from mlecore.detectors import Detection, Evidence, Finding, NotRead
from mlecore.errors import DataError
from mlecore.registry.provenance import PluginUse
from mlecore.regular import read_regular
from mlecore.runs.contents import check_run
from mlecore.runs.digests import is_own, with_digest, with_findings
from mlecore.runs.folders import FINDINGS
from mlecore.runs.record import WITH_OUTPUT, RunRecord
from mlecore.runs.store import read_record, replace_record, rewriting
from mlecore.schema import LIMIT, NOT_IN_FILE, SchemaError, parse_json, plain, structure_newer

_QUOTED = 160  # characters of a quote that are shown
_NAMED = 5  # files in one sentence
DetectorOutcome = Literal["violation", "suspicious", "failed", "undecided", "note", "clean"]
OUTCOMES: tuple[DetectorOutcome, ...] = ("violation", "suspicious", "failed", "undecided", "note", "clean")
"""Worst first. A detector that failed says nothing about the run, which is worse than being undecided."""


@frozen(kw_only=True)
class Findings:
    """One detector's findings in one run, or the reason why it failed."""

    format: int = 1  # of this file
    run: str  # uid of the run
    detector: PluginUse  # with its options
    created_at: str  # ISO 8601, UTC
    seconds: float  # that it took
    failed: str = ""  # why the detector could not judge the run; such a run is not clean
    findings: tuple[Finding, ...] = ()  # what it saw, clean or not
    not_read: tuple[NotRead, ...] = ()  # what it should have read and did not; such a run is not clean
    usage: Usage | None = None  # of its models
    settings: Mapping[str, Any] = field(factory=dict)  # what it judged with, besides its options
    group: str  # digest of the runs that it saw
    digest: str = ""  # SHA-256 of this file, with "" in the place of this one
    extra: Mapping[str, Any] = field(factory=dict, metadata=NOT_IN_FILE)  # what a newer version wrote; kept

    @property
    def outcome(self) -> DetectorOutcome:
        """The worst verdict; without any finding "clean", or "undecided" if something was not read."""
        found = {"failed"} if self.failed else {finding.verdict for finding in self.findings}
        if self.not_read:
            found.add("undecided")
        return next((outcome for outcome in OUTCOMES if outcome in found), "clean")

    @property
    def flagged(self) -> tuple[Finding, ...]:
        """The findings that flag the run."""
        return tuple(finding for finding in self.findings if finding.verdict in ("violation", "suspicious"))

    @property
    def undecided(self) -> str:
        """Why the detector is undecided, as a sentence; empty if it is not."""
        reasons = [finding.summary for finding in self.findings if finding.verdict == "undecided"]
        return next(iter(reasons), self.skipped)

    @property
    def skipped(self) -> str:
        """A sentence with the first files that were not read, and why; empty if all were read."""
        if not self.not_read:
            return ""
        named = ", ".join(f"{each.file} ({each.why})" for each in self.not_read[:_NAMED])
        more = len(self.not_read) - _NAMED
        return f"not read: {named}" + (f" and {more} more" if more > 0 else "")


def findings_of(
    run: RunRecord,
    detector: PluginUse,
    result: Detection | str,
    *,
    group: str,
    created_at: str,
    seconds: float,
) -> Findings:
    """The findings to write for a detector's result; a text is the reason why it failed."""
    common: dict[str, Any] = {"run": run.uid, "detector": detector, "group": group}
    common |= {"created_at": created_at, "seconds": round(seconds, 3)}
    if isinstance(result, str):
        return Findings(**common, failed=result)
    return Findings(
        **common, findings=result.findings, not_read=result.not_read, usage=result.usage, settings=result.settings
    )


def group_digest(runs: Iterable[RunRecord]) -> str:
    """Digest of the runs that a detector saw."""
    return hashlib.sha256("\n".join(sorted(run.uid for run in runs)).encode()).hexdigest()[:16]


def write_findings(run: RunRecord, *found: Findings) -> None:
    """Replace the earlier findings of these detectors, and their digests in the run's record.

    The record decides: each file is written under another name, and counts once the record has its digest, so that a
    kill in between changes nothing. Nothing is written if the run's result was replaced meanwhile. Raises DataError if
    there is a link, or the record cannot be read; OSError.
    """
    check_run(run.folder)
    with rewriting(run.folder):
        record = read_record(run.folder)
        if record.state not in WITH_OUTPUT or len(record.attempts) != len(run.attempts):
            return
        contents = {_path(run, each.detector.name): findings_file(each) for each in found}
        files.make_folder(run.folder / FINDINGS, below=run.folder)
        for path, content in contents.items():
            files.replace(_pending(path), content)
        if record.digests and not record.altered:  # else the next record would hide the change
            digests = {path.stem: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
            replace_record(with_findings(record, digests))
        for path, content in contents.items():
            files.replace(path, content)
            files.remove(_pending(path))


def _path(run: RunRecord, detector: str) -> Path:
    return run.folder / FINDINGS / f"{detector}.json"


def _pending(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def findings_file(found: Findings) -> bytes:
    """The bytes of findings/<detector>.json."""
    return with_digest(plain(found))


def read_findings(run: RunRecord) -> tuple[dict[str, Findings], dict[str, str]]:
    """By detector: its findings, and why its file cannot be used (unreadable, or not the one in the record)."""
    found, damaged = dict[str, Findings](), dict[str, str]()
    whole = run.digests and run.state in WITH_OUTPUT and not run.altered
    named = run.digests.findings if whole and run.digests else None
    for detector in sorted({*_written(run.folder / FINDINGS), *(named or ())}):
        path = _path(run, detector)
        try:
            content = _content(run, path, None if named is None else named.get(detector, ""))
            value = structure_newer(Findings, parse_json(content))
            if value.run != run.uid:
                raise SchemaError("it is about another run")
            if not is_own(content, value.digest):
                raise SchemaError("it was changed after it was written")
            found[detector] = value
        except DataError as error:
            damaged[detector] = f"{path}: {error.message}"
        except (OSError, ValueError) as error:
            damaged[detector] = f"{path}: {error}"
    return found, damaged


def _written(folder: Path) -> Iterator[str]:
    with suppress(OSError):
        yield from (path.stem for path in folder.iterdir() if path.suffix == ".json" and not folder.is_symlink())


def _content(run: RunRecord, path: Path, digest: str | None) -> bytes:
    """The findings file whose digest is in the run's record. None: the record has no digests of findings.

    Raises SchemaError, DataError, OSError.
    """
    if path.parent != run.folder / FINDINGS:
        raise SchemaError("the run's record names it, which is no detector's file")
    below = run.folder.parent
    if digest is None:
        return read_regular(path, LIMIT, below=below)
    there = False
    for each in (path, _pending(path)):
        with suppress(FileNotFoundError):
            content = read_regular(each, LIMIT, below=below)
            if hashlib.sha256(content).hexdigest() == digest:
                return content
            there |= each == path
    if not there:
        raise SchemaError("it is missing, although its detector judged the run")
    raise SchemaError("it was changed after it was written" if digest else "it is not in the run's record")


def place(evidence: Evidence) -> str:
    """The place and the quote of a finding, on one line."""
    at = evidence.file
    if evidence.line is not None:
        at += f":{evidence.line}" + ("" if evidence.last_line is None else f"-{evidence.last_line}")
    elif evidence.offset is not None:
        at += f", byte {evidence.offset}"
    quote = " ".join(evidence.quote.split())
    quote = quote if len(quote) <= _QUOTED else f"{quote[:_QUOTED]} ..."
    return (f"{evidence.of}: " if evidence.of else "") + at + (f": {quote!r}" if quote else "")
