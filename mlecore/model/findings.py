"""What one detector found in one run: findings/<detector>.json as a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

from mlecore.model.agents import Usage
from mlecore.model.detectors import Evidence, Finding, NotRead
from mlecore.model.provenance import PluginUse
from mlecore.util.schema import NOT_IN_FILE

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
