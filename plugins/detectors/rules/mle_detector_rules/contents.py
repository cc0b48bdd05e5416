"""What kind of file this is, and its text: whole if it fits into memory, else in windows."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path
from typing import IO, Any

from attrs import field, frozen

from mle_detector_rules.chunks import Chunk
from mlecore.runs.code import CODE, script
from mlecore.util.regular import open_regular

_WHOLE = 32 * 2**20  # bytes of a file that is held in memory; a larger one is read in windows
_WINDOW = 16 * 2**10  # bytes of each place by which a file's kind is recognised
_WINDOWS = 4
_ODD = 0.3  # share of characters that text does not have, above which it is none
_TEXTS: tuple[str, ...] = (
    *CODE,
    ".log",
    ".txt",
    ".md",
    ".rst",
    ".json",
    ".jsonl",
    ".yaml",
    ".yml",
    ".toml",
    ".cfg",
    ".ini",
    ".out",
)
_TEXTS += (".err", ".html", ".tex")
_ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".rar", ".whl", ".egg", ".jar", ".pyc", ".so", ".exe", ".pdf", ".docx")
_TABLES = (".csv", ".tsv")
_MAGIC = {
    b"PK\x03\x04": (".npz", ".pt", ".pth", ".keras", ".xlsx", ".ckpt", ".bin"),
    b"\x7fELF": (),
    b"7z\xbc\xaf\x27\x1c": (),
}
_CONTROL = frozenset(range(32)) - set(map(ord, "\t\n\r\f\b\x1b\0"))


class Kind(Enum):
    TEXT = auto()
    DATA = auto()  # tables, weights, pictures: a judge could tell nothing from them
    UNREADABLE = auto()  # something may be hidden in it


@frozen(kw_only=True, eq=False)
class Content:
    """An open file."""

    name: str
    kind: Kind
    length: int  # characters of its text; bytes if it is too large to be held in memory
    unread: str = ""  # why it, or the rest of it, cannot be read
    _text: str | None = field(default=None, alias="text")  # None: it is too large
    _file: IO[bytes] | None = field(default=None, alias="file")
    _offset: int | None = field(default=0, alias="offset")  # None: its text is not what the file holds byte for byte

    def parts(self) -> Iterator[Chunk]:
        """All of it, in parts that fit into memory."""
        if self._text is not None:
            yield Chunk(file=self.name, text=self._text, offset=self._offset)
            return
        for start in range(0, self.length, _WHOLE):
            yield self.window(start, min(start + _WHOLE, self.length))

    def window(self, start: int, end: int) -> Chunk:
        """A part of it."""
        if self._text is not None:
            return Chunk(file=self.name, text=self._text, offset=self._offset).part(start, end)
        assert self._file
        self._file.seek(start)
        text = self._file.read(end - start).decode("utf-8", "surrogateescape")
        return Chunk(file=self.name, text=text, line=None, offset=start)


@contextmanager
def open_content(path: Path, folder: Path) -> Iterator[Content]:
    """A file of a run's folder. Raises DataError for what is no regular file, OSError."""
    name, suffix = path.relative_to(folder).as_posix(), path.suffix.lower()
    with os.fdopen(open_regular(path, below=folder), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if suffix in _PACKED:
            yield _unpacked(name, suffix, file)
        elif size > _WHOLE:
            yield _large(name, suffix, file, size)
        else:
            yield _whole(name, suffix, file.read(_WHOLE))


def _unpacked(name: str, suffix: str, file: IO[bytes]) -> Content:
    """One stream that is packed, such as the gateway's transcripts."""
    import zstandard

    try:
        with _PACKED[suffix](file) as stream:
            content = stream.read(_WHOLE)
            more = bool(stream.read(1))
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        return Content(name=name, kind=Kind.UNREADABLE, length=0, unread=f"it cannot be unpacked: {error}")
    found = _whole(name.removesuffix(suffix), Path(name).with_suffix("").suffix.lower(), content)
    unread = f"only its first {_WHOLE // 2**20} MiB were unpacked" if more else found.unread
    return Content(name=name, kind=found.kind, length=found.length, unread=unread, text=found._text, offset=None)


def _whole(name: str, suffix: str, content: bytes) -> Content:
    kind, why = _kind(suffix, [content[at : at + _WINDOW] for at in _places(len(content))])
    if kind is not Kind.TEXT:
        return Content(name=name, kind=kind, length=0, unread=why)
    if suffix == ".ipynb":
        try:
            text = script(content)
            return Content(name=name, kind=kind, length=len(text), text=text, offset=None)
        except (ValueError, RecursionError):
            pass  # it is text all the same
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") and content[2:_WINDOW].count(0) * 3 > len(content[2:_WINDOW]):
        text = content.decode("utf-16", "replace")
        return Content(name=name, kind=kind, length=len(text), text=text, offset=None)
    text = content.decode("utf-8", "surrogateescape")
    return Content(name=name, kind=kind, length=len(text), text=text)


def _large(name: str, suffix: str, file: IO[bytes], size: int) -> Content:
    windows = []
    for at in _places(size):
        file.seek(at)
        windows.append(file.read(_WINDOW))
    kind, why = _kind(suffix, windows)
    return Content(name=name, kind=kind, length=size if kind is Kind.TEXT else 0, unread=why, file=file)


def _places(size: int) -> list[int]:
    """Where to look, from the beginning to the end."""
    last = max(0, size - _WINDOW)
    return sorted({number * last // (_WINDOWS - 1) for number in range(_WINDOWS)})


def _kind(suffix: str, windows: list[bytes]) -> tuple[Kind, str]:
    """By what stands in it; its name only tells whether something may be hidden in what is no text."""
    if suffix in _ARCHIVES:
        return Kind.UNREADABLE, "it is an archive or a compiled file"
    for start, harmless in _MAGIC.items():
        if windows[0].startswith(start):
            return (Kind.DATA, "") if suffix in harmless else (Kind.UNREADABLE, "it is an archive or a program")
    odd = [_odd(window) for window in windows]
    if sum(share > _ODD for share in odd) * 2 <= len(odd):
        table = suffix in _TABLES and all(map(_is_table, windows))
        return (Kind.DATA if table else Kind.TEXT), ""
    if suffix in _TEXTS:
        return Kind.UNREADABLE, "its name says that it is text, and it is not"
    return Kind.DATA, ""


def _odd(window: bytes) -> float:
    """Share of characters that text does not have. Holes do not count."""
    window = window.replace(b"\0", b"")
    text = window.decode("utf-8", "replace")
    return sum(sign == "\ufffd" or ord(sign) in _CONTROL for sign in text) / max(1, len(text))


def _is_table(window: bytes) -> bool:
    """Do its whole lines have the same number of fields?"""
    lines = [line for line in window.split(b"\n")[1:-1] if line.strip()]
    for separator in (b",", b"\t", b";"):
        counts = [line.count(separator) for line in lines]
        if counts and min(counts) == max(counts) > 0:
            return True
    return False


def _zstd(file: IO[bytes]) -> Any:
    import zstandard

    return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)


_PACKED: dict[str, Callable[[IO[bytes]], Any]] = {
    ".zst": _zstd,
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
