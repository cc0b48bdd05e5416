"""Finds the values of a run's secrets in files, also when the variables that held them are no longer set.

Each value that a run gets leaves a fingerprint: its first bytes, its length, and its digest under this user's own key
(``seals``), which is useless to others. The fingerprints are in the run's folder and in no bundle.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from attrs import asdict, frozen

from mlecore.errors import DataError
from mlecore.runs.seals import user_key
from mlecore.util import files
from mlecore.util.regular import read_regular

FILE = ".secrets.json"
SHORTEST = 8  # bytes; a shorter value is no key, and would be found everywhere
_CHUNK = 1 << 20
_LIMIT = 1 << 20
_MOST_LOOKS = 20_000_000  # places where a secret may begin; an agent can write many


@frozen
class Fingerprint:
    """The fingerprint of one value."""

    name: str  # of its variable
    start: str  # its first bytes, hex
    length: int  # bytes
    digest: str  # keyed


class TooManyPlaces(DataError):
    """A secret may begin in too many places to check them all."""


def fingerprint(name: str, value: str) -> Fingerprint | None:
    """None if the value is too short to search for. Raises DataError if this user's key cannot be read."""
    content = value.strip().encode("utf-8", "surrogateescape")
    if len(content) < SHORTEST:
        return None
    start = content[: min(4, len(content) // 4)]
    return Fingerprint(name, start.hex(), len(content), _digest(user_key(), content))


def _digest(key: bytes, content: bytes) -> str:
    return hashlib.blake2b(content, key=key, digest_size=32).hexdigest()


def remember(folder: Path, names: Iterable[str], environ: Mapping[str, str] = os.environ) -> None:
    """Store fingerprints before a run gets these variables. Those of earlier attempts stay: their values may differ."""
    fingerprints = [fingerprint(name, environ[name]) for name in dict.fromkeys(names) if environ.get(name)]
    if not any(fingerprints):
        return
    known = _read(folder)
    values = dict.fromkeys((*(known.values if known.by == _me() else ()), *filter(None, fingerprints)))
    content = {"by": _me(), "secrets": [asdict(each) for each in values]}
    files.replace(folder / FILE, (json.dumps(content, indent=1) + "\n").encode())
    (folder / FILE).chmod(0o600)


@frozen
class _Known:
    by: str = ""
    values: tuple[Fingerprint, ...] = ()


def _me() -> str:
    """Names this user's key: the fingerprints are useless to another user."""
    return _digest(user_key(), b"who")[:16]


def _read(folder: Path) -> _Known:
    try:
        found = json.loads(read_regular(folder / FILE, _LIMIT, below=folder.parent))
        values = tuple(Fingerprint(**each) for each in found["secrets"])
        if all(each.length >= SHORTEST and bytes.fromhex(each.start) for each in values):
            return _Known(str(found["by"]), values)
    except (OSError, DataError, ValueError, TypeError, KeyError):
        pass
    return _Known()


def search(
    folder: Path, names: Iterable[str], environ: Mapping[str, str] = os.environ
) -> tuple[Search, tuple[str, ...]]:
    """A search for the values that a run got, and the names of variables whose value is no longer known."""
    wanted = tuple(dict.fromkeys(names))
    if not wanted:
        return Search(()), ()
    known = _read(folder)
    stored = known.values if known.by == _me() else ()
    now = [fingerprint(name, environ[name]) for name in wanted if environ.get(name)]
    found = tuple(dict.fromkeys((*stored, *filter(None, now))))
    missing = {*wanted} - {each.name for each in found} - {name for name in wanted if environ.get(name)}
    return Search(found), tuple(sorted(missing))


def _starred(data: bytes, found: Iterable[tuple[int, int, str]]) -> bytes:
    masked = bytearray(data)
    for at, length, _ in found:
        masked[at : at + length] = b"*" * length
    return bytes(masked)


class Search:
    """Searches for the values of some fingerprints."""

    def __init__(self, fingerprints: Iterable[Fingerprint]) -> None:
        self.fingerprints = tuple(fingerprints)
        self._starts = [bytes.fromhex(each.start) for each in self.fingerprints]
        self._key = user_key() if self.fingerprints else b""
        self.longest = max((each.length for each in self.fingerprints), default=0)
        self._looks = 0

    def __bool__(self) -> bool:
        return bool(self.fingerprints)

    def in_bytes(self, content: bytes) -> Iterator[tuple[int, int, str]]:
        """(offset, length, name) of each. Raises TooManyPlaces."""
        for each, start in zip(self.fingerprints, self._starts, strict=True):
            at = content.find(start)
            while at >= 0:
                self._looks += 1
                if self._looks > _MOST_LOOKS:
                    raise TooManyPlaces("too many places where a secret may begin")
                part = content[at : at + each.length]
                if len(part) == each.length and _digest(self._key, part) == each.digest:
                    yield at, each.length, each.name
                at = content.find(start, at + 1)

    def in_chunks(self, chunks: Iterable[bytes]) -> Iterator[tuple[int, int, str]]:
        """The same for a stream, also across chunks. Each is found at least once."""
        held, position = b"", 0
        for chunk in chunks:
            held += chunk
            for at, length, name in self.in_bytes(held):
                yield position + at, length, name
            keep = held[max(0, len(held) - self.longest + 1) :]
            position += len(held) - len(keep)
            held = keep

    def masked(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The stream, its length unchanged, with asterisks for secrets.

        Only an end that may be the beginning of a secret is held back until more follows. Raises TooManyPlaces.
        """
        held = b""
        for chunk in chunks:
            data = held + chunk
            end = self._undecided(data)
            found = sorted(self.in_bytes(data), reverse=True)
            for at, length, _ in found:
                if at < end < at + length:  # another secret may begin inside this one: keep it whole
                    end = at
            yield _starred(data, found)[:end]
            held = data[end:]
        yield _starred(held, self.in_bytes(held))

    def _undecided(self, data: bytes) -> int:
        """The offset of the first secret that may begin in ``data`` and end later; else the length of ``data``."""
        first = len(data)
        for each, start in zip(self.fingerprints, self._starts, strict=True):
            for at in range(max(0, len(data) - each.length + 1), first):
                if data.startswith(start[: len(data) - at], at):
                    first = at
                    break
        return first

    def mask(self, path: Path) -> tuple[str, ...]:
        """Overwrite each with asterisks; returns the names of those found. Raises OSError, TooManyPlaces."""
        if not self:
            return ()
        with path.open("r+b") as file:
            found = list(self.in_chunks(iter(lambda: file.read(_CHUNK), b"")))
            for at, length, _ in found:
                file.seek(at)
                file.write(b"*" * length)
        return tuple(dict.fromkeys(name for _, _, name in found))

    def names_in(self, path: Path) -> tuple[str, ...]:
        """The names of secrets in a file. Raises OSError, TooManyPlaces."""
        if not self:
            return ()
        with path.open("rb") as file:
            chunks = iter(lambda: file.read(_CHUNK), b"")
            return tuple(dict.fromkeys(name for _, _, name in self.in_chunks(chunks)))
