"""Writes the bundle of a group.

Only files with known names go in, so that answers cannot. A file that contains a key, from this machine's environment
or of the run, is rejected.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from attrs import evolve

from mle_ext_sharing.bundle import FILES, FORMAT, HEAD, Bundle, Entry
from mle_ext_sharing.public import Public
from mle_ext_sharing.verifying import not_started
from mlecore.errors import DataError, UsageError, names_secret
from mlecore.model.plan import Plan
from mlecore.model.record import RunRecord
from mlecore.runs.cancelled import CANCELLED
from mlecore.runs.digests import has_its_grade, is_own, with_digest, with_own_digest
from mlecore.runs.findings import findings_file, read_findings
from mlecore.runs.folders import FINDINGS, GROUP, PLAN, RECORD
from mlecore.runs.journal import now
from mlecore.runs.ownership import is_own_plan
from mlecore.runs.secrets import Fingerprint, Search, fingerprint, search
from mlecore.runs.snapshots import HISTORY
from mlecore.runs.store import Group, load_group, open_group
from mlecore.util import files
from mlecore.util.regular import is_regular, regular_files
from mlecore.util.schema import LIMIT, SchemaError, parse_json

_ALWAYS = (RECORD, "grade.json", "grade_error.json", HISTORY, "submission/submission.csv")
_JSON = ("grade.json", "grade_error.json", HISTORY)
_LOGS = ("logs", "code", "code_snapshots")
_OTHER_ARCHIVES = (".7z", ".bz2", ".gz", ".rar", ".tar", ".tbz", ".tgz", ".txz", ".xz", ".zst")
_CHUNK = 1 << 20


def export_group(
    folder: Path, to: Path, *, logs: bool = False, sign: Callable[[Path], object] = lambda path: None
) -> Bundle:
    """Write the bundle of a group to a new folder, or to a file that ends in .zip.

    ``sign`` gets the finished bundle before it has its name, so that a kill leaves no unsigned one. Raises UsageError
    if ``to`` exists, DataError if a record cannot be read, or a file holds a key.
    """
    if os.path.lexists(to):
        raise UsageError(f"{to} already exists", fix="Name another folder or file: --to")
    if to.suffix.lower() in _OTHER_ARCHIVES:
        raise UsageError(f"{to}: a bundle is a folder, or a file that ends in .zip", fix="Name one of these: --to")
    group = open_group(folder)
    damaged: list[str] = []
    records = [record for record in load_group(folder, damaged) if (record.folder / RECORD).is_file()]
    if damaged:
        raise DataError(
            f"a run cannot be exported: {damaged[0]}", fix=f"To see what is damaged: mlecore runs verify {folder}"
        )
    with files.output(to) as partial:
        bundle = _write(group, records, partial, to.suffix.lower() == ".zip", logs)
        sign(partial)
    return bundle


def _write(group: Group, records: Sequence[RunRecord], to: Path, zipped: bool, logs: bool) -> Bundle:
    look = Search(keys := _keys(os.environ))
    with _sink(to, zipped) as sink:
        entries = []

        def add(path: str, chunks: Iterable[bytes]) -> None:
            entries.append(sink.add(path, _without_keys(path, chunks, look)))

        public = Public(group)
        plan = _plan_text(public.plan(group.plan))
        head = {"format": 1, "uid": group.info.uid, "name": group.info.name, "created_at": group.info.created_at}
        head |= {"data": [], "plan": hashlib.sha256(plan).hexdigest() if is_own_plan(group) else ""}
        add(GROUP, [_json(head)])
        add(PLAN, [plan])
        if group.cancelled:
            add(CANCELLED, _read(group.folder / CANCELLED))
        for record in records:
            look = Search((*keys, *_secrets_of(record, logs)))
            found = {name: findings_file(public.findings(each)) for name, each in read_findings(record)[0].items()}
            shown = {name: _public_json(name, path, public) for name, path in _files_of(record, False) if name in _JSON}
            for name, path in _files_of(record, logs):
                if name == RECORD:
                    add(f"{record.name}/{name}", [_shared(record, public, found, shown.get("grade.json")).dumps()])
                else:
                    add(f"{record.name}/{name}", [shown[name]] if name in shown else _read(path))
            for detector, content in found.items():
                add(f"{record.name}/{FINDINGS}/{detector}.json", [content])
        bundle = Bundle(
            group=group.info.name,
            created_at=now(),
            mlecore=version("mlecore"),
            runs=len(records),
            files=tuple(entries),
            not_started=not_started(group),
        )
        listed = "".join(f"{entry.sha256} {entry.size} {json.dumps(entry.path)}\n" for entry in entries).encode()
        sink.add(FILES, [listed])
        values = {"format": FORMAT, "group": bundle.group, "created_at": bundle.created_at, "mlecore": bundle.mlecore}
        values |= {"runs": bundle.runs, "files": len(entries), "files_sha256": hashlib.sha256(listed).hexdigest()}
        values["not_started"] = None if bundle.not_started is None else sorted(bundle.not_started)
        sink.add(HEAD, [_json(values)])
    return bundle


def lost_submissions(folder: Path) -> list[str]:
    """Names of the runs of a group whose submission was collected and is missing now."""
    return [run.name for run in load_group(folder) if run.digests and run.digests.submission and not run.submission]


def _shared(record: RunRecord, public: Public, findings: Mapping[str, bytes], grade: bytes | None) -> RunRecord:
    """The record as it is exported. It still names findings and a grade that are missing here, or were changed."""
    shared, digests = public.record(record), record.digests
    if digests is None or record.altered:
        return shared
    digests = evolve(digests, findings={**digests.findings, **{name: _sha256(it) for name, it in findings.items()}})
    if grade is not None and has_its_grade(record):
        digests = evolve(digests, grade=_sha256(grade))
    return with_own_digest(evolve(shared, digests=digests))


def _public_json(name: str, path: Path, public: Public) -> bytes:
    """A JSON file of a run, without paths of this machine; its own bytes if it has none."""
    content = path.read_bytes()
    try:
        values = parse_json(content)
    except SchemaError:
        return content
    shown = public.values_of(values) if name == "grade_error.json" else public.text_of(values)
    if shown == values:
        return content
    if name == HISTORY and is_own(content, str(shown.pop("digest", ""))):
        return with_digest(shown)
    return _json(shown)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _json(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode()


def _plan_text(plan: Plan) -> bytes:
    from mlecore.runs.planning import write_plan

    return write_plan(plan).encode()


def _files_of(record: RunRecord, logs: bool) -> Iterator[tuple[str, Path]]:
    """(name in the run's folder, file) of what goes into a bundle.

    Left out are links, special files, and JSON that is longer than mlecore ever writes.
    """
    for name in _ALWAYS:
        path = record.folder / name
        whole = is_regular(path) and not path.parent.is_symlink()
        if whole and (path.suffix != ".json" or path.stat().st_size <= LIMIT):
            yield name, path
    for folder in _LOGS if logs else ():
        for path in regular_files(record.folder / folder):
            yield path.relative_to(record.folder).as_posix(), path


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _keys(environ: Mapping[str, str]) -> tuple[Fingerprint, ...]:
    """Fingerprints of the variables whose names suggest keys."""
    fingerprints = (
        fingerprint(name, value) for name, value in environ.items() if names_secret(name) and not os.path.lexists(value)
    )
    return tuple(filter(None, fingerprints))


def _secrets_of(record: RunRecord, logs: bool) -> tuple[Fingerprint, ...]:
    """Fingerprints of what the run was given, whatever the variables' names. Raises DataError if its logs were not
    searched."""
    look, unknown = search(record.folder, record.secrets)
    unsearched = {*unknown} & {*(record.collected.unsearched if record.collected else ())}
    if logs and unsearched:
        raise DataError(
            f"the logs of {record.name} were not searched for {', '.join(sorted(unsearched))}: the value is not known",
            fix="Set the variable, or export without --logs.",
        )
    return look.fingerprints


def _without_keys(path: str, chunks: Iterable[bytes], look: Search) -> Iterator[bytes]:
    """Pass the chunks on. Raises DataError if they contain a key's value, even across two chunks."""
    tail = b""
    for chunk in chunks:
        seen = tail + chunk
        for _, _, name in look.in_bytes(seen):
            raise DataError(
                f"{path} contains the value of {name}, so it cannot be exported",
                fix="Remove it from the file; or, if the file is a log, export without --logs.",
            )
        tail = seen[max(0, len(seen) - look.longest + 1) :] if look else b""
        yield chunk


class _Sink:
    """A folder or a zip that is being written."""

    def __init__(self, folder: Path | None, archive: zipfile.ZipFile | None) -> None:
        self._folder = folder
        self._archive = archive

    def add(self, path: str, chunks: Iterable[bytes]) -> Entry:
        digest, size = hashlib.sha256(), 0
        with self._open(path) as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        return Entry(path, size, digest.hexdigest())

    def _open(self, path: str) -> IO[bytes]:
        if self._archive is not None:
            info = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))  # the same group gives the same members
            info.compress_type = zipfile.ZIP_DEFLATED
            return self._archive.open(info, "w", force_zip64=True)
        assert self._folder is not None
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.open("xb")


@contextmanager
def _sink(to: Path, zipped: bool) -> Iterator[_Sink]:
    to.parent.mkdir(parents=True, exist_ok=True)
    if zipped:
        with zipfile.ZipFile(to, "w") as archive:
            yield _Sink(None, archive)
    else:
        to.mkdir()
        yield _Sink(to, None)
