"""Reads bundles: a folder or zip with everything that is needed to check a group's results, and nothing else.

``bundle.files`` lists every file with its size and SHA-256, ``bundle.json`` has the SHA-256 of that list.
``exporting`` writes bundles. They come from strangers, so everything here is read within limits.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from attrs import frozen

from mlecore.data import disk_space
from mlecore.data.contents import contents
from mlecore.errors import DataError, UsageError
from mlecore.util.printable import printable
from mlecore.util.regular import open_regular
from mlecore.util.schema import LIMIT, SchemaError, brief, parse_json
from mlecore.util.units import first, show_size
from mlecore_toolkit.archives import archive_kind
from mlecore_toolkit.zip_members import Members, open_members

HEAD = "bundle.json"
FILES = "bundle.files"
SIGNATURES = "signatures"
"""The folder of statements with their signatures. It is not in the list of files, because the statements are about that
list."""

MOST_FILES = 200_000
MOST_BYTES = 20 * 2**30  # of all files, unpacked
FORMAT = 1
SIGNATURE = re.compile(rf"{SIGNATURES}/[\w-]+\.json(\.sig)?")
_LINE = re.compile(r'([0-9a-f]{64}) ([0-9]{1,15}) (".*")')  # of the list: SHA-256, bytes, path as JSON
LIST_LIMIT = 64 * 2**20  # bytes of a list of files
_CHUNK = 1 << 20


class WrongBundle(DataError):
    """A bundle is damaged, or another one than expected; ``found`` says what is wrong, a few of each kind."""

    exit_code = 1

    def __init__(self, *found: str) -> None:
        super().__init__("\n".join(found))
        self.found = found


@frozen
class Entry:
    """One file of a bundle."""

    path: str
    size: int
    sha256: str


@frozen(kw_only=True)
class Bundle:
    """The content of a bundle, according to its own lists."""

    group: str
    created_at: str
    mlecore: str  # the version that wrote it
    runs: int
    files: tuple[Entry, ...]
    not_started: frozenset[str] | None = None  # planned runs that had not started; None: the group has no journal


class OpenBundle:
    """A bundle, folder or zip, from an untrusted source, opened for reading.

    ``sha256``: the expected digest of its bundle.json.
    """

    def __init__(self, path: Path, sha256: str | None = None) -> None:
        """Raises UsageError if it is neither, WrongBundle if it is damaged, hostile, or has another digest."""
        self.path = path
        self._opened = ExitStack()
        self._zip: Members | None = None
        self._members: dict[str, zipfile.ZipInfo] = {}
        if not path.is_dir():
            self._open_zip()
        if sha256 is not None and (found := self.digest()) != sha256:
            self._opened.close()
            raise WrongBundle(f"the SHA-256 of its {HEAD} is {found}, not {sha256}")

    def _open_zip(self) -> None:
        path = self.path
        try:
            if not path.is_file() or archive_kind(path) != "zip":
                raise UsageError(f"{path} is not a bundle", fix="Give the folder or zip of an export.")
            _require_few_members(path)
            self._members = {name: info for info, name in contents(path)[0]}
            self._zip = self._opened.enter_context(open_members(path))
        except OSError as error:
            raise WrongBundle(f"{path} cannot be read: {error.strerror}") from None
        except DataError as error:
            raise WrongBundle(error.message) from None
        for name, info in self._members.items():
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # the others inflate without limit
                raise WrongBundle(f"{path}: {name!r} is packed in an unknown way")

    def __enter__(self) -> OpenBundle:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def digest(self) -> str:
        """SHA-256 of its bundle.json. Raises WrongBundle if there is none."""
        try:
            return hashlib.sha256(self.whole(HEAD, LIMIT)).hexdigest()
        except DataError as error:
            raise WrongBundle(error.message) from None

    def names(self) -> Iterator[str]:
        """The names of all files. Raises DataError for a folder with too many files or levels."""
        if self._zip:
            yield from self._members
            return
        try:
            for number, name in enumerate(_names_in(self.path)):
                if number > MOST_FILES:
                    raise DataError(f"{self.path} has more than {MOST_FILES:,} files")
                yield name
        except RecursionError:
            raise DataError(f"{self.path} has too many levels of folders") from None

    def read(self, name: str, size: int) -> Iterator[bytes]:
        """The content of a file, in chunks; at most one byte more than ``size``. Raises DataError for any problem."""
        left = size + 1
        try:
            for chunk in self._chunks(name):
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    return
        except FileNotFoundError:
            raise DataError(
                f"{name} is missing", fix="Export the group again: mlecore runs export GROUP --to PATH"
            ) from None
        except DataError as error:
            raise DataError(f"{name} cannot be read: {error.message}") from None
        except (OSError, ValueError) as error:  # ValueError: a name that no file has
            raise DataError(f"{name} cannot be read: {error}") from None

    def whole(self, name: str, limit: int) -> bytes:
        """The content of a file. Raises DataError, also for more than ``limit`` bytes."""
        content = b"".join(self.read(name, limit))
        if len(content) > limit:
            raise DataError(f"{name} has more than {limit} bytes")
        return content

    def _chunks(self, name: str) -> Iterator[bytes]:
        if self._zip:
            if name not in self._members:
                raise FileNotFoundError
            yield from self._zip.pieces(self._members[name])
            return
        with open(open_regular(self.path / name, below=self.path), "rb") as file:  # noqa: PTH123 - a descriptor
            while chunk := file.read(_CHUNK):
                yield chunk


def _names_in(folder: Path) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        links = [name for name in folders if Path(where, name).is_symlink()]
        yield from (Path(where, name).relative_to(folder).as_posix() for name in (*names, *links))


def _require_few_members(path: Path) -> None:
    """Count a zip's members, before its directory is read into memory; its end record may lie about their number."""
    count, tail = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            count += (tail + chunk).count(b"PK\x01\x02")  # each member's entry in the directory begins so
            tail = chunk[-3:]
    if count > MOST_FILES:
        raise DataError(f"{path} has some {count:,} files, more than {MOST_FILES:,}")


@frozen(kw_only=True)
class Opened:
    """A bundle whose files are the listed ones, as the folder of a group."""

    group: Path
    source: OpenBundle
    bundle: Bundle


@contextmanager
def open_bundle(path: Path, sha256: str | None = None) -> Iterator[Opened]:
    """Open a bundle whose files are the listed ones.

    ``sha256``: the expected digest of its bundle.json. Raises UsageError if it is not a bundle; WrongBundle if it is
    damaged, is too large, or has another digest.
    """
    with OpenBundle(path, sha256) as source, tempfile.TemporaryDirectory(prefix="mlecore-export-") as folder:
        try:
            bundle = read_bundle(source)
            if wrong := problems(source, bundle):
                raise WrongBundle(*wrong)
            group = path
            if not path.is_dir():
                group = Path(folder, path.stem)
                size = sum(entry.size for entry in bundle.files)
                disk_space.require(Path(folder), size, "an export", "set TMPDIR to a folder on a larger disk")
                unpack(source, bundle, group)
        except (UsageError, WrongBundle):
            raise
        except DataError as error:
            raise WrongBundle(error.message) from None
        yield Opened(group=group, source=source, bundle=bundle)


def read_bundle(source: OpenBundle) -> Bundle:
    """Read a bundle's lists. Raises UsageError for one of a newer version, DataError if its lists are damaged or too
    large."""
    try:
        head = parse_json(source.whole(HEAD, LIMIT))
        listed = source.whole(FILES, LIST_LIMIT)
        if head["format"] != FORMAT:
            raise UsageError(f"{source.path} has the format {brief(head['format'])}", fix="Update mlecore.")
        if hashlib.sha256(listed).hexdigest() != head["files_sha256"]:
            raise DataError(f"{FILES} is not the list that {HEAD} was created with")
        if listed.count(b"\n") > MOST_FILES:
            raise ValueError(f"it lists more than {MOST_FILES:,} files")
        entries = tuple(map(_entry, listed.decode().removesuffix("\n").split("\n") if listed else ()))
        if len({entry.path for entry in entries}) != len(entries):
            raise ValueError("a file is listed twice")
        if (size := sum(entry.size for entry in entries)) > MOST_BYTES:
            raise ValueError(f"its files have {show_size(size)}, more than {show_size(MOST_BYTES)}")
        return Bundle(
            group=str(head["group"]),
            created_at=str(head["created_at"]),
            mlecore=str(head["mlecore"]),
            runs=int(head["runs"]),
            files=entries,
            not_started=None if head.get("not_started") is None else frozenset(map(str, head["not_started"])),
        )
    except (SchemaError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{source.path}: its lists cannot be read: {type(error).__name__}: {error}") from None


def _entry(line: str) -> Entry:
    if not (fields := _LINE.fullmatch(line)):
        raise ValueError(f"a line is not SHA-256, size and path: {brief(line)}")
    entry = Entry(json.loads(fields[3]), int(fields[2]), fields[1])
    entry.path.encode()  # raises UnicodeEncodeError, a ValueError, for half of a surrogate pair
    path = PurePosixPath(entry.path)
    inside = path.parts and path.parts[0] != "/" and ".." not in path.parts
    if not inside or str(path) != entry.path or "\\" in entry.path or "\0" in entry.path:
        raise ValueError(f"{brief(entry.path)} leads out of the bundle")
    return entry


def problems(source: OpenBundle, bundle: Bundle) -> list[str]:
    """What is missing, extra, or different from the list, a few of each kind; empty for an intact bundle. Raises
    DataError if its files cannot be listed."""
    listed = {entry.path for entry in bundle.files}
    names = set(source.names())
    pairs = {name for name in names if SIGNATURE.fullmatch(name) and name.removesuffix(".sig") in names}
    extra = sorted(names - listed - pairs - {HEAD, FILES})
    missing, unread, longer, shorter, other = [list[str]() for _ in range(5)]
    for entry in bundle.files:
        if entry.path not in names:
            missing.append(f"{entry.path}: is missing")
            continue
        digest, size = hashlib.sha256(), 0
        try:
            for chunk in source.read(entry.path, entry.size):
                digest.update(chunk)
                size += len(chunk)
        except DataError as error:
            unread.append(error.message)
            continue
        if size != entry.size:
            kind = longer if size > entry.size else shorter
            kind.append(f"{entry.path}: has {'more' if size > entry.size else 'fewer'} than its {entry.size} bytes")
        elif digest.hexdigest() != entry.sha256:
            other.append(f"{entry.path}: has other content than was exported")
    kinds = ([f"{path}: is not in the list" for path in extra], missing, unread, longer, shorter, other)
    return [printable(line) for kind in kinds for line in first(kind)]  # a name may hold a line end


def unpack(source: OpenBundle, bundle: Bundle, into: Path) -> None:
    """Copy a verified bundle's files into a new folder. Raises DataError if they do not fit into one."""
    into.mkdir()
    for entry in bundle.files:
        target = into / entry.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                for chunk in source.read(entry.path, entry.size):
                    file.write(chunk)
        except (OSError, ValueError) as error:
            raise DataError(f"{entry.path} cannot be unpacked: {error}") from None
