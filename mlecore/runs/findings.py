"""Findings on disk: findings/<detector>.json, and the record that names it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from mlecore.errors import DataError
from mlecore.model.detectors import Detection
from mlecore.model.findings import Findings
from mlecore.model.provenance import PluginUse
from mlecore.model.record import WITH_OUTPUT, RunRecord
from mlecore.runs.contents import check_run
from mlecore.runs.digests import is_own, with_digest, with_findings
from mlecore.runs.folders import FINDINGS
from mlecore.runs.store import read_record, replace_record, rewriting
from mlecore.util import files
from mlecore.util.regular import read_regular
from mlecore.util.schema import LIMIT, SchemaError, parse_json, plain, structure_newer


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
