"""The size and hash of every file in a prepared folder. Written last, so that it marks the folder as complete.

``manifest.json`` is small: counts, digests, the source of the data. ``manifest.files`` beside it has a line
``<sha256> <size> <modification time in ns> <path as JSON>`` for each file, in the order of the paths.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve, field, frozen

from mlecore.errors import DataError
from mlecore.util import files
from mlecore.util.schema import SchemaError, parse_json, plain, structure

if TYPE_CHECKING:
    from mlecore.data.hash_cache import HashCache
    from mlecore.model.backends import Progress

T = TypeVar("T")

HEAD = "manifest.json"
FILES = "manifest.files"
PARTS = ("public", "private")
_FORMAT = 1
_BLOCK = 1 << 18
_AT_ONCE = 64  # files per task: handing over a task costs as much as hashing a small file


def create_folders(root: Path) -> None:
    """Create the missing folders of a prepared folder."""
    for part in PARTS:
        (root / part).mkdir(parents=True, exist_ok=True)
    close(root)


def close(root: Path) -> None:
    """Close the folder with the answers to other users, whatever the umask. Its group may enter if the folders are
    set-group-ID, which is how an owner shares data with a group."""
    shared = root.stat().st_mode & stat.S_ISGID
    (root / "private").chmod(0o2750 if shared else 0o700)


@frozen(kw_only=True)
class Part:
    """Totals over all files of ``public/`` or of ``private/``."""

    files: int
    bytes: int
    digest: str  # SHA-256 over the lines "<path>\0<size>\0<sha256>\n", in the order of the paths


@frozen(kw_only=True)
class Manifest:
    """The facts about a prepared folder, without its list of files."""

    competition: str
    edition: str
    public: Part
    private: Part
    plugin_version: str | None  # of the competition's package; None: prepared by MLE-bench
    source: str  # "kaggle", "archive", "raw", "fetch", "synthetic" or "mle-bench"
    verified: bool  # the published checksums and counts were verified
    created_at: str
    seed: int | None = None  # of synthetic data
    size: float | None = None  # of synthetic data
    archive_md5: str | None = None
    stamp: tuple[int, int] | None = None  # of data that MLE-bench prepared: see prepared.stamp
    format: int = field(default=_FORMAT)

    @property
    def files(self) -> int:
        """The number of files."""
        return self.public.files + self.private.files

    @property
    def bytes(self) -> int:
        """The total size of the files."""
        return self.public.bytes + self.private.bytes


@frozen
class Entry:
    """One file of a prepared folder."""

    path: str  # "public/train.csv"
    size: int
    sha256: str
    mtime_ns: int = -1  # time of the last change; -1: unknown


def entries(root: Path, progress: Progress | None = None, known: HashCache | None = None) -> list[Entry]:
    """All files with their hashes. Files that ``known`` has are not read."""
    found, unread, times = [], {}, {}
    for path, status in walk(root):
        digest = known.sha256(status) if known is not None else None
        if digest is not None:
            found.append(Entry(path, status.st_size, digest.hex(), status.st_mtime_ns))
        else:
            unread[path], times[path] = status.st_size, status.st_mtime_ns
    found += [evolve(entry, mtime_ns=times[entry.path]) for entry in hash_files(root, unread, progress)]
    return sorted(found, key=lambda entry: entry.path)


def walk(root: Path, parts: Iterable[str] = PARTS) -> Iterator[tuple[str, os.stat_result]]:
    """Path and status of every file under ``public/`` and ``private/``, or under one of them.

    Raises DataError for links and the like: a link could lead out of the folder, and a backend would copy its target.
    ``private`` itself is one where answers are sealed.
    """

    def below(folder: str, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
        with os.scandir(folder) as inside:
            for entry in inside:
                path = f"{prefix}/{entry.name}"
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    yield from below(entry.path, path)
                elif stat.S_ISREG(status.st_mode):
                    yield path, status
                else:
                    raise DataError(f"{entry.path} is neither a file nor a folder; prepared data contain no others")

    for part in parts:
        try:
            yield from below(str(root / part), part)
        except OSError as error:
            raise DataError(f"{error.filename or root / part} cannot be read: {error.strerror}") from None


def hash_files(root: Path, sizes: Mapping[str, int], progress: Progress | None = None) -> list[Entry]:
    """Entries of these files, hashed on all cores; memory does not grow with their sizes."""
    from concurrent.futures import ThreadPoolExecutor

    total, done = sum(sizes.values()), 0
    entries: list[Entry] = []

    def hashed(paths: list[str]) -> list[str]:
        return [sha256(f"{root}/{path}") for path in paths]

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # hashing and reading release the GIL
        for several in batched(batched(sizes, _AT_ONCE), 64):
            for paths, digests in zip(several, pool.map(hashed, several), strict=True):
                entries += (Entry(path, sizes[path], digest) for path, digest in zip(paths, digests, strict=True))
                done += sum(sizes[path] for path in paths)
                if progress is not None:
                    progress(done, total, "hashing")
    return entries


def write(root: Path, entries: Iterable[Entry], into: Path | None = None, **head: Any) -> Manifest:
    """Write both files of the manifest of ``root`` (into ``into``, by default ``root`` itself), the head last."""
    entries = list(entries)
    into = into or root
    parts = {part: summary(entries, part) for part in PARTS}
    manifest = Manifest(public=parts["public"], private=parts["private"], **head)
    write_files(into, entries)
    write_head(into, manifest)
    return manifest


def write_head(into: Path, manifest: Manifest) -> None:
    """Write manifest.json; comes last, because it completes the manifest."""
    files.replace(into / HEAD, (json.dumps(plain(manifest), indent=1) + "\n").encode())


def write_files(into: Path, entries: Iterable[Entry]) -> None:
    """Write manifest.files."""
    lines = "".join(f"{entry.sha256} {line_end(entry.size, entry.mtime_ns, entry.path)}" for entry in entries)
    files.replace(into / FILES, lines.encode("ascii"))


def line_end(size: int, mtime_ns: int, path: str) -> str:
    """A line of manifest.files without the hash."""
    return f"{size} {mtime_ns} {json.dumps(path)}\n"


def read_head(root: Path) -> Manifest | None:
    """The manifest's head, or None if there is none. Raises DataError if it cannot be read."""
    path = root / HEAD
    try:
        return structure(Manifest, parse_json(path.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except SchemaError as error:
        raise DataError(
            f"{path} is damaged or from another version of mlecore: {error.message}",
            fix=f"Prepare again with --force, or remove {root}",
        ) from None


def read_files(root: Path) -> Iterator[Entry]:
    """The list of files of the manifest in ``root``."""
    path = root / FILES
    try:
        with path.open(encoding="ascii") as lines:
            yield from map(_entry, lines)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}", fix="Prepare again with --force") from None


def _entry(line: str) -> Entry:
    digest, size, mtime_ns, name = line.split(" ", 3)
    return Entry(json.loads(name), int(size), digest, int(mtime_ns))


def find_files(root: Path, paths: Iterable[str]) -> list[Entry]:
    """The entries of these paths that the manifest in ``root`` has; parses only their lines."""
    path = root / FILES
    found = []
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as lines:
            for name in paths:
                at = lines.find(f" {json.dumps(name)}\n".encode())
                if at >= 0:
                    lines.seek(lines.rfind(b"\n", 0, at) + 1)
                    found.append(_entry(lines.readline().decode("ascii")))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}", fix="Prepare again with --force") from None
    return found


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most ``size`` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def sha256(path: str) -> str:
    """SHA-256 of a file, in hex. Raises DataError."""
    import hashlib

    digest = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a third of the time of Path and file_digest
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def summary(entries: Iterable[Entry], part: str) -> Part:
    """The totals over the entries of "public" or "private", which are in the order of the paths."""
    import hashlib

    mine = [entry for entry in entries if entry.path.startswith(part + "/")]
    digest = hashlib.sha256()
    for entry in mine:
        name = entry.path.removeprefix(part + "/").encode("utf-8", "surrogateescape")
        digest.update(name + f"\0{entry.size}\0{entry.sha256}\n".encode())
    return Part(files=len(mine), bytes=sum(entry.size for entry in mine), digest=digest.hexdigest())
