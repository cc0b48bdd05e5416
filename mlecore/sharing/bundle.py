"""A group as a bundle: a folder or a zip of what anyone needs to check its results, and no more.

``bundle.files`` lists every file with its size and SHA-256, ``bundle.json`` has the SHA-256 of that list. Only files of
known names go in, so that answers cannot; one that holds a key, of this machine's environment or of the run, is
rejected.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import urlsplit, urlunsplit

from attrs import evolve, frozen

from mlecore.archives import require_zip
from mlecore.errors import DataError, UsageError
from mlecore.runs.cancelled import CANCELLED
from mlecore.runs.digests import with_own_digest
from mlecore.runs.findings import FOLDER as FINDINGS
from mlecore.runs.findings import Findings, findings_file, read_findings
from mlecore.runs.folders import GROUP, PLAN, RECORD
from mlecore.runs.journal import now
from mlecore.runs.plan import Plan
from mlecore.runs.record import RunRecord
from mlecore.runs.secrets import Fingerprint, Search, fingerprint, search
from mlecore.runs.snapshots import HISTORY
from mlecore.runs.store import load_group, open_group
from mlecore.runs.verifying import is_own_plan, not_started
from mlecore.schema import LIMIT

HEAD = "bundle.json"
FILES = "bundle.files"
SIGNATURES = "signatures"
"""The folder of statements about the bundle with their signatures: not in its list, as they are about that list."""

FORMAT = 1
_ALWAYS = (RECORD, "grade.json", "grade_error.json", HISTORY, "submission/submission.csv")
_LOGS = ("logs", "code", "code_snapshots")
_SIGNATURE = re.compile(rf"{SIGNATURES}/[\w-]+\.json(\.sig)?")
_HEAD_LIMIT = 64 * 2**20  # bytes of a list of files
_CHUNK = 1 << 20


@frozen
class Entry:
    """One file of a bundle."""

    path: str
    size: int
    sha256: str


@frozen(kw_only=True)
class Bundle:
    """What is in a bundle, as its own lists say."""

    group: str
    created_at: str
    mlecore: str  # the version that made it
    runs: int
    files: tuple[Entry, ...]
    not_started: frozenset[str] | None = None  # planned runs that had not started; None: the group has no journal


def export_group(folder: Path, to: Path, *, logs: bool = False) -> Bundle:
    """Write the bundle of a group to a new folder, or to a file that ends in .zip.

    Raises UsageError if ``to`` exists, DataError if a file holds a key, or is not what it should be.
    """
    if os.path.lexists(to):
        raise UsageError(f"{to} already exists", fix="Name another folder or file: --to")
    group = open_group(folder)
    records = [record for record in load_group(folder) if (record.folder / RECORD).is_file()]
    keys = _keys(os.environ)
    look = Search(keys)
    partial = to.with_name(f".{to.name}.partial")
    with ExitStack() as stack:
        sink = stack.enter_context(_sink(partial, to.suffix == ".zip"))
        entries = []

        def add(path: str, chunks: Iterable[bytes]) -> None:
            entries.append(sink.add(path, _without_keys(path, chunks, look)))

        plan = _plan_text(_public(group.plan))
        head = {"format": 1, "uid": group.info.uid, "name": group.info.name, "created_at": group.info.created_at}
        head |= {"data": [], "plan": hashlib.sha256(plan).hexdigest() if is_own_plan(group) else ""}
        add(GROUP, [_json(head)])
        add(PLAN, [plan])
        if group.cancelled:
            add(CANCELLED, _read(group.folder / CANCELLED))
        for record in records:
            look = Search((*keys, *_secrets_of(record, logs)))
            for name, path in _files_of(record, logs):
                if name == RECORD:
                    public = _public(record)
                    whole = record.digests is not None and not record.altered
                    add(f"{record.name}/{name}", [(with_own_digest(public) if whole else public).dumps()])
                else:
                    add(f"{record.name}/{name}", _read(path))
            for detector, found in read_findings(record)[0].items():
                add(f"{record.name}/{FINDINGS}/{detector}.json", [findings_file(_public_findings(found))])
        bundle = Bundle(
            group=group.info.name,
            created_at=now(),
            mlecore=version(),
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
    partial.rename(to)
    return bundle


def version() -> str:
    """Of mlecore."""
    from importlib.metadata import version

    return version("mlecore")


def _json(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode()


def _plan_text(plan: Plan) -> bytes:
    from mlecore.runs.planning import write_plan

    return write_plan(plan).encode()


def _public(value: Any) -> Any:
    """A record or a plan without the parts of URLs that may be secret: name and password, query."""
    changes: dict[str, Any] = {}
    if isinstance(value, RunRecord):
        changes["endpoint"] = _public_url(value.endpoint)
    else:
        changes["agents"] = tuple(evolve(agent, endpoint=_public_url(agent.endpoint)) for agent in value.agents)
        execution = value.execution
        changes["execution"] = evolve(execution, detectors=_public_values(execution.detectors))
    return evolve(value, **changes)


def _public_findings(found: Findings) -> Findings:
    detector = evolve(found.detector, options=_public_values(found.detector.options))
    return evolve(found, detector=detector, settings=_public_values(found.settings))


def _public_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options and settings, with every URL in them made public, as deep as tables go."""
    return {name: _public_part(value) for name, value in values.items()}


def _public_part(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _public_values(value)
    return _public_url(value) if isinstance(value, str) and "://" in value else value


def _public_url(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _files_of(record: RunRecord, logs: bool) -> Iterator[tuple[str, Path]]:
    """(name in the run's folder, file) of what goes into a bundle; links and special files are left out.

    So is JSON that is longer than ours ever is.
    """
    for name in _ALWAYS:
        path = record.folder / name
        whole = _is_regular(path) and not path.parent.is_symlink()
        if whole and (path.suffix != ".json" or path.stat().st_size <= LIMIT):
            yield name, path
    for folder in _LOGS if logs else ():
        for path in regular_files(record.folder / folder):
            yield path.relative_to(record.folder).as_posix(), path


def regular_files(folder: Path) -> Iterator[Path]:
    """Every regular file below a folder, in order; no link is followed."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if _is_regular(path := Path(where, name)):
                yield path


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _keys(environ: Mapping[str, str]) -> tuple[Fingerprint, ...]:
    """Of variables whose names suggest keys."""
    marks = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
    fingerprints = (
        fingerprint(name, value)
        for name, value in environ.items()
        if any(mark in name.upper() for mark in marks) and not os.path.lexists(value)
    )
    return tuple(filter(None, fingerprints))


def _secrets_of(record: RunRecord, logs: bool) -> tuple[Fingerprint, ...]:
    """Of what the run was given, however the variables are called. Raises DataError if its logs were not searched."""
    look, unknown = search(record.folder, record.secrets)
    unsearched = {*unknown} & {*(record.collected.unsearched if record.collected else ())}
    if logs and unsearched:
        raise DataError(
            f"the logs of {record.name} were not searched for {', '.join(sorted(unsearched))}: the value is not known",
            fix="Set the variable, or export without --logs.",
        )
    return look.fingerprints


def _without_keys(path: str, chunks: Iterable[bytes], look: Search) -> Iterator[bytes]:
    """The chunks. Raises DataError when a key's value is in them, also across two."""
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
def _sink(partial: Path, zipped: bool) -> Iterator[_Sink]:
    """Removes an unfinished bundle."""
    from mlecore import files

    files.remove(partial)
    partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        if zipped:
            with zipfile.ZipFile(partial, "w") as archive:
                yield _Sink(None, archive)
        else:
            partial.mkdir()
            yield _Sink(partial, None)
    except BaseException:
        files.remove(partial)
        raise


class OpenBundle:
    """A bundle that is read: a folder or a zip, from any source."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive: zipfile.ZipFile | None = None
        if not path.is_dir():
            try:
                require_zip(path)
                self._archive = zipfile.ZipFile(path)
            except (OSError, zipfile.BadZipFile, DataError) as error:
                fix = "Give the folder or zip of an export."
                raise UsageError(f"{path} is not a bundle: {error}", fix=fix) from None

    def __enter__(self) -> OpenBundle:
        return self

    def __exit__(self, *_: object) -> None:
        if self._archive:
            self._archive.close()

    def names(self) -> Iterator[str]:
        """Of everything in it."""
        if self._archive:
            yield from (info.filename for info in self._archive.infolist() if not info.is_dir())
            return
        for where, folders, names in os.walk(self.path):
            links = [name for name in folders if Path(where, name).is_symlink()]
            yield from (Path(where, name).relative_to(self.path).as_posix() for name in (*names, *links))

    def read(self, name: str, size: int) -> Iterator[bytes]:
        """A file's chunks, at most ``size`` bytes and one. Raises DataError."""
        try:
            with self._open(name) as file:
                left = size + 1
                while left and (chunk := file.read(min(left, _CHUNK))):
                    left -= len(chunk)
                    yield chunk
        except (OSError, KeyError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
            raise DataError(f"{name} cannot be read: {error}") from None

    def _open(self, name: str) -> IO[bytes]:
        if self._archive:
            return self._archive.open(name)
        if not _is_regular(self.path / name):
            raise DataError(f"{name} is missing, or is not a regular file")
        return (self.path / name).open("rb")


def read_bundle(source: OpenBundle) -> Bundle:
    """What a bundle says it holds. Raises UsageError if it is not a bundle, DataError if its lists are damaged."""
    try:
        head = json.loads(b"".join(source.read(HEAD, _HEAD_LIMIT)))
        listed = b"".join(source.read(FILES, _HEAD_LIMIT))
        if head["format"] != FORMAT:
            raise UsageError(f"{source.path} has the format {head['format']}", fix="Update mlecore.")
        if hashlib.sha256(listed).hexdigest() != head["files_sha256"]:
            raise DataError(f"{FILES} is not the list that {HEAD} was created with")
        entries = tuple(_entry(line) for line in listed.decode().splitlines())
        if len({entry.path for entry in entries}) != len(entries):
            raise ValueError("a file is listed twice")
        return Bundle(
            group=str(head["group"]),
            created_at=str(head["created_at"]),
            mlecore=str(head["mlecore"]),
            runs=int(head["runs"]),
            files=entries,
            not_started=None if head.get("not_started") is None else frozenset(map(str, head["not_started"])),
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(f"{source.path}: its lists cannot be read: {type(error).__name__}: {error}") from None


def _entry(line: str) -> Entry:
    sha256, size, path = line.split(" ", 2)
    entry = Entry(json.loads(path), int(size), sha256)
    parts = PurePosixPath(entry.path).parts
    if not parts or parts[0] == "/" or ".." in parts or "\\" in entry.path or "\0" in entry.path:
        raise ValueError(f"{entry.path!r} leads out of the bundle")
    return entry


def problems(source: OpenBundle, bundle: Bundle) -> list[str]:
    """What is missing, extra, or different from the list; empty for an intact bundle."""
    found = []
    listed = {entry.path for entry in bundle.files}
    extra = sorted(name for name in set(source.names()) - listed - {HEAD, FILES} if not _SIGNATURE.fullmatch(name))
    found += [f"{path}: is not in the list" for path in extra]
    for entry in bundle.files:
        digest, size = hashlib.sha256(), 0
        try:
            for chunk in source.read(entry.path, entry.size):
                digest.update(chunk)
                size += len(chunk)
        except DataError as error:
            found.append(error.message)
            continue
        if size != entry.size:
            found.append(f"{entry.path}: has {'more' if size > entry.size else 'fewer'} than its {entry.size} bytes")
        elif digest.hexdigest() != entry.sha256:
            found.append(f"{entry.path}: has other content than was exported")
    return found


def unpack(source: OpenBundle, bundle: Bundle, into: Path) -> None:
    """Copy a verified bundle's files into a folder. Raises DataError if they do not fit into one."""
    for entry in bundle.files:
        target = into / entry.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                for chunk in source.read(entry.path, entry.size):
                    file.write(chunk)
        except OSError as error:
            raise DataError(f"{entry.path} cannot be unpacked: {error.strerror}") from None
