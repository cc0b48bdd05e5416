"""The public part of prepared data, in any storage of fsspec: a folder, NFS, s3, gs. A lab downloads once.

Its layout is the same: ``<url>/<competition>/prepared/public/...``, with a manifest of only these files, written last.
Answers are never copied. A pull checks every file against the manifest, also after an interrupt.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from attrs import evolve

from mlecore.data import disk_space, manifest
from mlecore.data.layout import DataDirs, prepared_name
from mlecore.data.lock import lock
from mlecore.data.manifest import Entry, Manifest
from mlecore.data.prepared import Prepared
from mlecore.errors import DataError, UsageError
from mlecore.util import files

if TYPE_CHECKING:
    from mlecore.model.backends import Progress

_CHUNK = 1 << 20
_LISTS_LIMIT = 2**30  # bytes of a list of files


def push(prepared: Prepared, dirs: DataDirs, url: str, progress: Progress | None = None) -> bool:
    """Copy the public part to ``url``. False: the same data are there already. Raises DataError, UsageError."""
    remote = _Remote(url, prepared.competition, prepared.edition, prepared.synthetic)
    head = remote.head()
    if head is not None and head.public.digest == prepared.digest:
        return False
    entries = [entry for entry in manifest.read_files(prepared.lists) if entry.path.startswith("public/")]
    remote.remove(manifest.HEAD)  # the data there are incomplete until it is written again
    total, done = sum(entry.size for entry in entries), 0
    for entry in entries:
        if head is not None or remote.size(entry.path) != entry.size:  # an interrupted push is resumed
            with (prepared.root / entry.path).open("rb") as source, remote.write(entry.path) as target:
                _copy(source, target, entry)
        done += entry.size
        if progress is not None:
            progress(done, total, "copying")
    assert prepared.manifest is not None
    with tempfile.TemporaryDirectory() as folder:
        _write_manifest(Path(folder), entries, prepared.manifest)
        for name in (manifest.FILES, manifest.HEAD):
            with remote.write(name) as target:
                target.write((Path(folder) / name).read_bytes())
    return True


def pull(
    competition: str,
    dirs: DataDirs,
    url: str,
    *,
    edition: str = "v1",
    synthetic: bool = False,
    progress: Progress | None = None,
) -> bool:
    """Copy the public part from ``url`` into the first data directory. False: the same data are here already.

    Raises UsageError if there are none, or other data are here; DataError if a file is not what it should be.
    """
    remote = _Remote(url, competition, edition, synthetic)
    head = remote.head()
    if head is None:
        raise UsageError(f"{remote} has no data of {competition}", fix=f"Put them there: mlecore data push {url}")
    if (head.competition, head.edition) != (competition, edition):
        raise DataError(f"{remote} says that it is {head.competition}, edition {head.edition}")
    here = dirs.find(competition, edition, synthetic)
    if here is not None and here.manifest is not None:
        if here.digest == head.public.digest:
            return False
        raise UsageError(f"{here.root} holds other data than {remote}", fix="Name another data directory: --data DIR")
    entries = remote.entries(head)
    target = dirs.target(competition, edition, synthetic)
    with lock(dirs.folder(competition), f"pulling {remote}"):
        partial = files.partial(target)
        manifest.create_folders(partial)
        disk_space.require(partial, head.public.bytes, f"the data of {competition}")
        done = 0
        for entry in entries:
            _fetch(remote, entry, partial)
            done += entry.size
            if progress is not None:
                progress(done, head.public.bytes, "copying")
        wanted = {entry.path for entry in entries}
        for path in {path for path, _ in manifest.walk(partial)} - wanted:  # of an interrupted pull of other data
            files.remove(partial / path)
        files.sync_tree(partial)
        _write_manifest(partial, entries, head)
        files.swap(partial, target)
    return True


def _write_manifest(into: Path, entries: Sequence[Entry], head: Manifest) -> None:
    """With the digest of the answers, too, so that runs on a copy can be graded where the answers are."""
    manifest.write_files(into, entries)
    manifest.write_head(into, evolve(head, stamp=None))


def _fetch(remote: _Remote, entry: Entry, partial: Path) -> None:
    """One file, with its time, unless an interrupted pull has copied it already."""
    path = partial / entry.path
    if path.is_file() and path.stat().st_size == entry.size:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256:
                _set_time(path, entry)
                return
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with remote.read(entry.path) as source, path.open("wb") as target:
            _copy(source, target, entry)
    except DataError:
        files.remove(path)
        raise
    _set_time(path, entry)


def _set_time(path: Path, entry: Entry) -> None:
    """So that the file is as the manifest says."""
    if entry.mtime_ns >= 0:
        os.utime(path, ns=(entry.mtime_ns, entry.mtime_ns))


def _copy(source: IO[bytes], target: IO[bytes], entry: Entry) -> None:
    """All bytes. Raises DataError if they are not those of the manifest; reads one byte too many at most."""
    digest, left = hashlib.sha256(), entry.size
    while chunk := source.read(min(_CHUNK, left + 1)):
        left -= len(chunk)
        if left < 0:
            break
        digest.update(chunk)
        target.write(chunk)
    if left or digest.hexdigest() != entry.sha256:
        raise DataError(f"{entry.path} is not the file that the manifest says: its size or SHA-256 differs")


class _Remote:
    """The folder of one competition's data at a URL."""

    def __init__(self, url: str, competition: str, edition: str, synthetic: bool) -> None:
        import fsspec

        try:
            self._system, root = fsspec.core.url_to_fs(url)
        except ImportError as error:  # such as s3fs, with the name of the package to install
            raise UsageError(f"{url}: {error}") from None
        except ValueError as error:
            raise UsageError(f"{url} is not a storage that fsspec knows: {error}") from None
        self._root = f"{root.rstrip('/')}/{competition}/{prepared_name(edition, synthetic)}"
        self._url = url

    def __str__(self) -> str:
        return self._url

    def head(self) -> Manifest | None:
        """The manifest, None if there is none."""
        with tempfile.TemporaryDirectory() as folder:
            if not self._bring(manifest.HEAD, Path(folder)):
                return None
            return manifest.read_head(Path(folder))

    def entries(self, head: Manifest) -> Sequence[Entry]:
        """The list of files. Raises DataError if it is not the manifest's, or leads elsewhere."""
        with tempfile.TemporaryDirectory() as folder:
            if not self._bring(manifest.FILES, Path(folder)):
                raise DataError(f"{self} has no {manifest.FILES}")
            entries = list(manifest.read_files(Path(folder)))
        for entry in entries:
            parts = PurePosixPath(entry.path).parts
            if len(parts) < 2 or parts[0] != "public" or ".." in parts or "\0" in entry.path:
                raise DataError(f"{self}: {entry.path!r} is not a file of public/")
        if manifest.summary(entries, "public") != head.public:
            raise DataError(f"{self}: {manifest.FILES} is not the list of its manifest")
        return entries

    def _bring(self, name: str, folder: Path) -> bool:
        if self.size(name) is None:
            return False
        with self.read(name) as source:
            content = source.read(_LISTS_LIMIT + 1)
        if len(content) > _LISTS_LIMIT:
            raise DataError(f"{self}: {name} is longer than {_LISTS_LIMIT} bytes")
        (folder / name).write_bytes(content)
        return True

    def size(self, name: str) -> int | None:
        """Size of a file in bytes; None if it does not exist."""
        with self._errors():
            try:
                return int(self._system.info(f"{self._root}/{name}")["size"])
            except FileNotFoundError:
                return None

    def remove(self, name: str) -> None:
        if self.size(name) is not None:
            with self._errors():
                self._system.rm_file(f"{self._root}/{name}")

    @contextmanager
    def read(self, name: str) -> Iterator[IO[bytes]]:
        with self._errors(), self._system.open(f"{self._root}/{name}", "rb") as file:
            yield file

    @contextmanager
    def write(self, name: str) -> Iterator[IO[bytes]]:
        path = f"{self._root}/{name}"
        with self._errors():
            self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
            with self._system.open(path, "wb") as file:
                yield file

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except DataError:
            raise
        except Exception as error:  # each file system has its own errors
            fix = "Try again: copied files are not copied again."
            raise DataError(f"{self}: {type(error).__name__}: {error}", fix=fix) from None
