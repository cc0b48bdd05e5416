"""Digests that tell whether a run was changed after it was written.

Each record has the digests (SHA-256) of the collected files, grade.json, the detectors' findings, the previous record
and itself; other JSON files have their own digest. They show edits, replaced files and damage. Whoever edits a file and
computes all digests again is only found by grading again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from mlecore.errors import DataError
from mlecore.model.record import WITH_OUTPUT, Digests, RunRecord
from mlecore.util.regular import open_regular, read_regular
from mlecore.util.schema import LIMIT

OUTPUT = ("code", "code_snapshots", "logs", "snapshots")
"""Folders of a run with the agent's output besides the submission."""

_CHUNK = 1 << 18  # bytes


def with_digests(record: RunRecord) -> RunRecord:
    """The record ready to be written: with the current digests of its files, and its own."""
    last = record.digests or Digests()
    submission, grade, output, findings = None, None, dict[str, str](), dict[str, str]()
    if record.state in WITH_OUTPUT:
        output = dict(last.output) or _output_digests(record.folder)
        findings = dict(last.findings)
        kept = last.submission if record.state == "graded" else None  # as collected, not as it is later
        submission = kept or _digest(record.submission, record.folder)
    if record.state == "graded":
        grade = _grade_digest(record.folder)
    digests = Digests(
        previous=last.record or None, submission=submission, grade=grade, output=output, findings=findings
    )
    return with_own_digest(evolve(record, digests=digests))


def with_findings(record: RunRecord, digests: Mapping[str, str]) -> RunRecord:
    """The next record, with new digests of some detectors' findings and otherwise unchanged."""
    last = record.digests or Digests()
    new = evolve(last, previous=last.record or None, findings={**last.findings, **digests})
    return with_own_digest(evolve(record, digests=new))


def with_own_digest(record: RunRecord) -> RunRecord:
    """The record with the digest of its content."""
    digests = evolve(record.digests or Digests(), record="")
    own = _own(evolve(record, digests=digests).dumps(), "")
    return evolve(record, digests=evolve(digests, record=own), altered=False)


def is_altered(content: bytes, values: Mapping[str, Any]) -> bool:
    """Does a run.json (bytes and values) differ from its own digest? False if it has none."""
    digests = values.get("digests")
    if not isinstance(digests, Mapping):
        return False
    own = digests.get("record")
    return not isinstance(own, str) or not is_own(content, own)


def is_own(content: bytes, digest: str) -> bool:
    """Is ``digest`` the one of the run.json that contains it?"""
    return digest == _own(content, digest)


def with_digest(values: Mapping[str, Any]) -> bytes:
    """A JSON file of these values and its own digest, for ``is_own``."""

    def dumped(digest: str) -> bytes:
        return (json.dumps({**values, "digest": digest}, indent=1, allow_nan=False) + "\n").encode()

    return dumped(_own(dumped(""), ""))


def has_its_grade(record: RunRecord) -> bool:
    """Is grade.json the published one? False if the record has no digest of it."""
    published = record.digests.grade if record.digests else None
    return published is not None and published == _grade_digest(record.folder)


def problems(record: RunRecord) -> list[str]:
    """Descriptions of everything that was changed in a run after it was written."""
    found = ["run.json was changed after it was written"] if record.altered else []
    digests = record.digests or Digests()
    if record.digests and record.state in WITH_OUTPUT:
        if record.state == "graded" and not digests.grade:
            found.append("its record does not say which grade.json was published")
        if record.collected and record.collected.candidate and not digests.submission:
            found.append("its record does not say which submission was collected")
    if digests.grade and not has_its_grade(record):
        found.append("grade.json is not the one that was published")
    if digests.submission:
        path = record.folder / "submission" / "submission.csv"
        if digests.submission != _digest(path, record.folder):
            found.append("submission/submission.csv is not the one that was collected")
    return found


def changed_output(record: RunRecord, *, exported: bool = False) -> list[str]:
    """Descriptions of folders that were changed after they were collected; reads all of their files.

    ``exported``: the folders may be missing, as in a bundle.
    """
    if record.digests is None or record.state not in WITH_OUTPUT:
        return []
    there, collected = _output_digests(record.folder), record.digests.output
    return [
        f"{name}/ is not as it was collected" if name in there else f"{name}/ is missing"
        for name in OUTPUT
        if there.get(name) != collected.get(name) and not (exported and name not in there)
    ]


def _output_digests(folder: Path) -> dict[str, str]:
    return {name: digest for name in OUTPUT if (digest := _tree_digest(folder / name, folder)) is not None}


def _tree_digest(tree: Path, folder: Path) -> str | None:
    """Digest of the paths and contents of all files; None if there is no such folder."""
    if tree.is_symlink() or not tree.is_dir():
        return None
    digest = hashlib.sha256()
    for where, folders, names in os.walk(tree):
        folders.sort()
        for name in sorted([*names, *(each for each in folders if Path(where, each).is_symlink())]):
            path = Path(where, name)
            digest.update(os.fsencode(path.relative_to(tree).as_posix()) + b"\0")
            digest.update(f"{_digest(path, folder) or 'not a file'}\n".encode())
    return digest.hexdigest()


def _own(content: bytes, digest: str) -> str:
    """The digest of a run.json with its own ``digest`` removed."""
    return hashlib.sha256(content.replace(digest.encode(errors="replace"), b"")).hexdigest()


def _grade_digest(folder: Path) -> str | None:
    """None also for a file too long to be a grade: hashing it could take hours."""
    try:
        content = read_regular(folder / "grade.json", LIMIT, below=folder.parent)
    except (OSError, DataError):
        return None
    return hashlib.sha256(content).hexdigest()


def _digest(path: Path | None, folder: Path) -> str | None:
    """Digest of a regular file; None if there is none."""
    if path is None:
        return None
    try:
        descriptor = open_regular(path, below=folder.parent)
    except (OSError, DataError):
        return None
    digest = hashlib.sha256()
    try:
        while chunk := os.read(descriptor, _CHUNK):
            digest.update(chunk)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return digest.hexdigest()
