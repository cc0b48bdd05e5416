"""Runs all checks on one competition's prepared data."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from mlecore.api import Competition, competition
from mlecore.data.prepared import Prepared
from mlecore.units import show_size
from mlecore_audit.finding import LEVELS, UNEXAMINED, Finding
from mlecore_audit.subject import Subject

CHECKS = ("answers", "tells", "twins", "groups", "labels", "grader")
JOBS = max(1, min(len(CHECKS), os.cpu_count() or 1))  # checks that the command runs at once
_EVERY = 15.0  # seconds between two lines about the progress of a check


def audit(competition: Competition, prepared: Prepared, *, jobs: int = 1) -> list[Finding]:
    """What the checks find, the most serious first. ``jobs``: checks that run at once, each in a process of its own.

    What could not be read, and a check that failed, are findings of kind ``unexamined``.
    """
    if jobs <= 1:
        subject = Subject(competition, prepared)
        found = [finding for check in CHECKS for finding in findings(subject, check)]
        return ordered([*found, *_unexamined(subject.unexamined)])
    results = []
    missed: dict[str, str] = {}
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        values = prepared.to_json()
        futures = {pool.submit(_work, check, competition.id, competition.edition, values): check for check in CHECKS}
        for future in as_completed(futures):
            try:
                own, unread = future.result()
            except Exception as error:  # the process died: out of memory, a crash in a library
                own, unread = [], {f"check {futures[future]}": f"its process ended: {error}"}
            results += own
            missed |= unread
    return ordered([*results, *_unexamined(missed)])


def findings(subject: Subject, check: str) -> Iterator[Finding]:
    """What one check finds; if it fails, that is noted and the rest goes on."""
    try:
        yield from importlib.import_module(f"mlecore_audit.{check}").examine(subject)
    except Exception as error:  # of third parties' plugins and hostile files, anything
        subject.failed(f"check {check}", f"{type(error).__name__}: {error}")


def ordered(found: Sequence[Finding]) -> list[Finding]:
    """The most serious first, then by file."""
    return sorted(found, key=lambda finding: (LEVELS.index(finding.level), finding.kind == UNEXAMINED, finding.file))


def _unexamined(missed: Mapping[str, str]) -> list[Finding]:
    return [Finding(level="note", kind=UNEXAMINED, file=file, evidence=why) for file, why in missed.items()]


def _work(check: str, id: str, edition: str, prepared: Mapping[str, Any]) -> tuple[list[Finding], dict[str, str]]:
    """In a process of its own."""
    subject = Subject(competition(id, edition), Prepared.from_json(prepared), _Lines(f"{id}, {check}"))
    found = list(findings(subject, check))
    return found, subject.unexamined


class _Lines:
    """A line on standard error for what takes long."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._last = time.monotonic()

    def __call__(self, done: int, total: int, step: str) -> None:
        now = time.monotonic()
        if now - self._last >= _EVERY:
            self._last = now
            amount = f" {show_size(done)} of {show_size(total)}" if total else ""
            print(f"{self._label}: {step}{amount}", file=sys.stderr, flush=True)
