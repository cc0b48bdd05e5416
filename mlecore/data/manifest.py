"""What a prepared folder holds: every file's size and hash. Written last, so that it marks completeness.

``manifest.json`` is small: counts, digests, where the data came from. ``manifest.files`` beside it has a line
``<sha256> <size> <path as JSON>`` for each file, in the order of the paths.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import asdict, field, frozen

from mlecore import files
from mlecore.errors import DataError

if TYPE_CHECKING:
    from mlecore.backends import Progress
    from mlecore.data.known import Known

T = TypeVar("T")

HEAD = "manifest.json"
FILES = "manifest.files"
PARTS = ("public", "private")
_FORMAT = 1
_BLOCK = 1 << 18
_AT_ONCE = 64  # files that a thread hashes in one go: a hand-over costs as much as a small file


def create_folders(root: Path) -> None:
    """The folders of a prepared folder that are not there yet."""
    for part in PARTS:
        (root / part).mkdir(parents=True, exist_ok=True)
    close(root)


def close(root: Path) -> None:
    """Let only the user enter the folder with the answers, whatever the umask and whoever created it."""
    (root / "private").chmod(0o700)


@frozen(kw_only=True)
class Part:
    """All files of ``public/`` or of ``private/`` in three figures."""

    files: int
    bytes: int
    digest: str  # SHA-256 over the lines "<path>\0<size>\0<sha256>\n", in the order of the paths


@frozen(kw_only=True)
class Manifest:
    """What is known of a prepared folder, without its list of files."""

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
        """How many there are."""
        return self.public.files + self.private.files

    @property
    def bytes(self) -> int:
        """What they hold together."""
        return self.public.bytes + self.private.bytes

    def to_json(self) -> dict[str, Any]:
        """What manifest.json holds."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Manifest:
        """The inverse of ``to_json``. Raises ValueError, TypeError, KeyError."""
        parts = {part: Part(**values[part]) for part in PARTS}
        return cls(**{**values, **parts, "stamp": tuple(values["stamp"]) if values.get("stamp") else None})


@frozen
class Entry:
    """One file of a prepared folder."""

    path: str  # "public/train.csv"
    size: int
    sha256: str


def scan(root: Path) -> dict[str, int]:
    """Path and size of every file under ``public/`` and ``private/``, sorted. Raises DataError for links and the like.

    A link could lead out of the folder, and a backend would copy its target.
    """
    return dict(sorted((path, status.st_size) for path, status in _walk(root)))


def entries(root: Path, progress: Progress | None = None, known: Known | None = None) -> list[Entry]:
    """All files as ``scan`` finds them, with their hashes; those that are ``known`` are not read."""
    found, unread = [], {}
    for path, status in _walk(root):
        digest = known.sha256(status) if known is not None else None
        if digest is not None:
            found.append(Entry(path, status.st_size, digest.hex()))
        else:
            unread[path] = status.st_size
    return sorted(found + hash_files(root, unread, progress), key=lambda entry: entry.path)


def _walk(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    def walk(folder: str, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
        with os.scandir(folder) as inside:
            for entry in inside:
                path = f"{prefix}/{entry.name}"
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    yield from walk(entry.path, path)
                elif stat.S_ISREG(status.st_mode):
                    yield path, status
                else:
                    raise DataError(f"{entry.path} is neither a file nor a folder; prepared data may hold no others")

    for part in PARTS:
        try:
            yield from walk(str(root / part), part)
        except OSError as error:
            raise DataError(f"{error.filename or root / part} cannot be read: {error.strerror}") from None


def hash_files(root: Path, sizes: Mapping[str, int], progress: Progress | None = None) -> list[Entry]:
    """Entries of these files, hashed on all cores; memory does not grow with their sizes."""
    total, done = sum(sizes.values()), 0
    entries: list[Entry] = []

    def hashed(paths: list[str]) -> list[str]:
        return [_sha256(f"{root}/{path}") for path in paths]

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
    parts = {part: _summary(entries, part) for part in PARTS}
    manifest = Manifest(public=parts["public"], private=parts["private"], **head)
    lines = "".join(f"{entry.sha256} {entry.size} {json.dumps(entry.path)}\n" for entry in entries)
    files.replace(into / FILES, lines.encode("ascii"))
    files.replace(into / HEAD, (json.dumps(manifest.to_json(), indent=1) + "\n").encode())
    return manifest


def read_head(root: Path) -> Manifest | None:
    """The manifest's head, or None if there is none. Raises DataError for one that cannot be read."""
    path = root / HEAD
    try:
        manifest = Manifest.from_json(json.loads(path.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"{path} is damaged or from another version of mlecore: {error}",
            fix=f"Prepare again with --force, or remove {root}",
        ) from None
    return manifest


def read_files(root: Path) -> Iterator[Entry]:
    """The list of files of the manifest in ``root``."""
    path = root / FILES
    try:
        with path.open(encoding="ascii") as lines:
            for line in lines:
                digest, size, name = line.split(" ", 2)
                yield Entry(json.loads(name), int(size), digest)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}", fix="Prepare again with --force") from None


def differences(root: Path, expected: Iterable[Entry], progress: Progress | None = None) -> list[str]:
    """What is missing, extra, or different from the manifest; empty if all is well."""
    there = scan(root)
    wanted = {entry.path: entry for entry in expected}
    out = [f"{path}: is missing" for path in wanted if path not in there]
    out += [f"{path}: does not belong there" for path in there if path not in wanted]
    same = {path: size for path, size in there.items() if path in wanted and size == wanted[path].size}
    out += [
        f"{path}: has {there[path]} bytes, expected {wanted[path].size}"
        for path in wanted
        if path in there and path not in same
    ]
    out += [
        f"{entry.path}: has other content: SHA-256 {entry.sha256}, expected {wanted[entry.path].sha256}"
        for entry in hash_files(root, same, progress)
        if entry.sha256 != wanted[entry.path].sha256
    ]
    return out


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most ``size`` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a third of the time of Path and file_digest
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def _summary(entries: list[Entry], part: str) -> Part:
    mine = [entry for entry in entries if entry.path.startswith(part + "/")]
    digest = hashlib.sha256()
    for entry in mine:
        name = entry.path.removeprefix(part + "/").encode("utf-8", "surrogateescape")
        digest.update(name + f"\0{entry.size}\0{entry.sha256}\n".encode())
    return Part(files=len(mine), bytes=sum(entry.size for entry in mine), digest=digest.hexdigest())
