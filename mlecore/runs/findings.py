"""What detectors found in a run: findings/<detector>.json as a value."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
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
from mlecore.runs.digests import is_own, with_digest
from mlecore.runs.record import RunRecord, RunSummary
from mlecore.schema import LIMIT, NOT_IN_FILE, SchemaError, parse_json, plain, structure_newer

FOLDER = "findings"
_QUOTED = 160  # characters of a quote that are shown
_NAMED = 5  # files in one sentence
DetectorOutcome = Literal["violation", "suspicious", "failed", "undecided", "note", "clean"]
OUTCOMES: tuple[DetectorOutcome, ...] = ("violation", "suspicious", "failed", "undecided", "note", "clean")
"""The worst first. A detector that failed says nothing, so it is worse than one that could not decide."""


@frozen(kw_only=True)
class Findings:
    """What one detector found in one run, or why it failed."""

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
        """The findings that throw doubt on the run."""
        return tuple(finding for finding in self.findings if finding.verdict in ("violation", "suspicious"))

    @property
    def undecided(self) -> str:
        """Why it could not decide about the run, in one sentence; empty if it could."""
        reasons = [finding.summary for finding in self.findings if finding.verdict == "undecided"]
        return next(iter(reasons), self.skipped)

    @property
    def skipped(self) -> str:
        """What was not read and why, in one sentence that names the first few files; empty if everything was."""
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
    """A detector's result as its file has it; text says why it failed."""
    common: dict[str, Any] = {"run": run.uid, "detector": detector, "group": group}
    common |= {"created_at": created_at, "seconds": round(seconds, 3)}
    if isinstance(result, str):
        return Findings(**common, failed=result)
    return Findings(
        **common, findings=result.findings, not_read=result.not_read, usage=result.usage, settings=result.settings
    )


def group_digest(runs: Iterable[RunRecord]) -> str:
    """Which runs a detector saw: other runs, another digest."""
    return hashlib.sha256("\n".join(sorted(run.uid for run in runs)).encode()).hexdigest()[:16]


def write_findings(run: RunRecord, found: Findings) -> Path:
    """Replaces what the detector found before. Raises DataError if somebody put a link, OSError."""
    check_run(run.folder)
    path = run.folder / FOLDER / f"{found.detector.name}.json"
    files.make_folder(path.parent, below=run.folder)
    files.replace(path, findings_file(found))
    return path


def findings_file(found: Findings) -> bytes:
    """What findings/<detector>.json holds."""
    return with_digest(plain(found))


def read_findings(run: RunSummary) -> tuple[dict[str, Findings], dict[str, str]]:
    """By detector: what it found, and which file cannot be read, with the reason."""
    folder, found, damaged = run.folder / FOLDER, dict[str, Findings](), dict[str, str]()
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json" and not folder.is_symlink())
    except OSError:
        return found, damaged
    for path in paths:
        try:
            content = read_regular(path, LIMIT, below=run.folder.parent)
            value = structure_newer(Findings, parse_json(content))
            if value.run != run.uid:
                raise SchemaError("it is about another run")
            if not is_own(content, value.digest):
                raise SchemaError("it was changed after it was written")
            found[path.stem] = value
        except SchemaError as error:
            damaged[path.stem] = f"{path}: {error.message}"
        except (DataError, OSError) as error:
            damaged[path.stem] = str(error)
    return found, damaged


def place(evidence: Evidence) -> str:
    """Where a finding shows, and what stands there, on one line."""
    at = evidence.file
    if evidence.line is not None:
        at += f":{evidence.line}" + ("" if evidence.last_line is None else f"-{evidence.last_line}")
    elif evidence.offset is not None:
        at += f", byte {evidence.offset}"
    quote = " ".join(evidence.quote.split())
    quote = quote if len(quote) <= _QUOTED else f"{quote[:_QUOTED]} ..."
    return (f"{evidence.of}: " if evidence.of else "") + at + (f": {quote!r}" if quote else "")
