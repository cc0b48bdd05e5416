"""Runs all checks on one competition's prepared data."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from typing import Any

from attrs import asdict

from mlecore.data.prepared import Prepared
from mlecore.model.competition import Competition
from mlecore.plugins.competitions import competition
from mlecore.util.child_environment import child_environment
from mlecore.util.schema import plain, structure
from mlecore.util.units import show_size
from mlecore_audit.finding import LEVELS, UNEXAMINED, Finding
from mlecore_audit.subject import Subject

CHECKS = ("answers", "tells", "twins", "groups", "labels", "grader")
_JOBS = max(1, min(len(CHECKS), os.cpu_count() or 1))  # checks at once
_EVERY = 15.0  # seconds between two lines about the progress of a check


def audit(competition: Competition, prepared: Prepared) -> list[Finding]:
    """What the checks find, the most serious first. Each check has a process of its own.

    What could not be read, and a check that failed, are findings of kind ``unexamined``.
    """
    order = {"id": competition.id, "edition": competition.edition, "prepared": plain(prepared)}
    with ThreadPoolExecutor(_JOBS) as pool:
        replies = list(pool.map(lambda check: _in_a_process(check, order), CHECKS))
    results = [Finding(**finding) for reply in replies for finding in reply["findings"]]
    return ordered([*results, *unexamined({file: why for reply in replies for file, why in reply["unread"].items()})])


def findings(subject: Subject, check: str) -> Iterator[Finding]:
    """What one check finds; if it fails, that is noted and the rest goes on."""
    try:
        yield from importlib.import_module(f"mlecore_audit.{check}").examine(subject)
    except ModuleNotFoundError as error:
        subject.failed(f"check {check}", f"{error.name} is not installed; to install it: pip install 'mlecore[audit]'")
    except Exception as error:  # of third parties' plugins and hostile files, anything
        subject.failed(f"check {check}", f"{type(error).__name__}: {error}")


def ordered(found: Sequence[Finding]) -> list[Finding]:
    """The most serious first, then by file."""
    return sorted(found, key=lambda finding: (LEVELS.index(finding.level), finding.kind == UNEXAMINED, finding.file))


def unexamined(missed: Mapping[str, str]) -> list[Finding]:
    """One finding for all files of a folder that end alike and could not be read for the same reason."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for file, why in missed.items():
        folder, _, name = file.replace("!", "/").rpartition("/")
        alike.setdefault((folder, PurePosixPath(name).suffix, why), []).append(file)
    found = []
    for (_, suffix, why), files in alike.items():
        more = f"; nor could {len(files) - 1:,} more files *{suffix} there" if len(files) > 1 else ""
        found.append(Finding(level="note", kind=UNEXAMINED, file=files[0], evidence=why + more))
    return found


def _in_a_process(check: str, order: Mapping[str, Any]) -> dict[str, Any]:
    """What a check replies, in a process of its own; if that dies, which file or library killed it is unknown."""
    command = [sys.executable, "-P", "-m", "mlecore_audit.run", check]
    done = subprocess.run(
        command, input=json.dumps(order), stdout=subprocess.PIPE, text=True, env=child_environment(), check=False
    )
    try:
        reply: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"findings": [], "unread": {f"check {check}": f"its process ended with exit code {done.returncode}"}}
    return reply


def main() -> None:
    """Carry out the order on standard input, and write the reply as the last line of the output."""
    check, order = sys.argv[1], json.load(sys.stdin)
    chosen = competition(order["id"], order["edition"])
    subject = Subject(chosen, structure(Prepared, order["prepared"]), _Lines(f"{chosen.id}, {check}"))
    found = [asdict(finding) for finding in findings(subject, check)]
    print(json.dumps({"findings": found, "unread": subject.unexamined}))


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


if __name__ == "__main__":
    main()
