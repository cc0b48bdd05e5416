"""Recognises a file by its first bytes, for messages about files whose names are wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

from mlecore.errors import DataError

_READ = 1 << 14  # bytes
_SHOWN = 60  # characters of a title, a message or a text
_ARCHIVES = {
    b"PK\x03\x04": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x1f\x8b": "a gzip file (.gz, perhaps .tar.gz)",
    b"BZh": "a bzip2 file (.bz2, perhaps .tar.bz2)",
    b"\xfd7zXZ\0": "an xz file (.xz, perhaps .tar.xz)",
    b"\x28\xb5\x2f\xfd": "a Zstandard file (.zst)",
}
AGAIN = "Download it again: log in to Kaggle in a browser, accept the competition's rules, and use Download All."
_UNPACK = "Unpack it, and use the folder: --raw DIR"
_SINGLE = f"If it is one of the competition's files, put it into a folder with the others: --raw DIR. Else: {AGAIN}"


def describe(path: Path) -> tuple[str, str]:
    """The kind of a file ("a web page"), and the fix if it should be a downloaded zip. Raises DataError if it cannot be
    read."""
    try:
        with path.open("rb") as file:
            start = file.read(_READ)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    return describe_bytes(start)


def describe_bytes(start: bytes) -> tuple[str, str]:
    """The same, by the first bytes of a file."""
    if not start.strip(b"\0 \t\r\n"):
        return ("filled with zeros" if b"\0" in start else "empty"), AGAIN
    for begin, what in _ARCHIVES.items():
        if start.startswith(begin):
            return what, _UNPACK
    if start[257:262] == b"ustar":
        return "a tar archive", _UNPACK
    encoding = "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = start.decode(encoding, "replace").strip() or "\ufffd"
    if sum(not (sign.isprintable() or sign.isspace()) or sign == "\ufffd" for sign in text) > len(text) / 50:
        return "binary data of an unknown kind", _SINGLE
    return _described_text(text)


def _described_text(text: str) -> tuple[str, str]:
    lower = text.lower()
    if lower.startswith("version https://git-lfs."):
        return "a pointer of Git LFS instead of the file itself", "Get the file itself: git lfs pull"
    asks = ", which asks to accept the rules" if "accept" in lower and "rules" in lower else ""
    if lower.startswith(("<!doctype html", "<html")) or "<html" in lower[:1000]:
        return f"a web page{_quoted(re.search(r'(?is)<title[^>]{0,99}>(.{0,300}?)</title', text))}{asks}", AGAIN
    if lower.startswith(("<?xml", "<error")):
        return f"an XML document{_quoted(re.search(r'(?is)<(?:code|message)>(.{0,300}?)</', text))}{asks}", AGAIN
    if text.startswith(("{", "[")):
        message = re.search(r'"(?:message|error|detail)"\s*:\s*"((?:[^"\\]|\\.)*)"', text)
        return f"JSON{_quoted(message)}{asks}", _SINGLE if message is None else AGAIN
    lines = text.splitlines()[:2]
    for sign, name in ((",", "commas"), ("\t", "tabs"), (";", "semicolons")):
        if len(lines) == 2 and lines[0].count(sign) == lines[1].count(sign) > 0 and not asks:
            return f"a table as text, with {name}, that begins with {_short(lines[0])}", _SINGLE
    return f"text that begins with {_short(lines[0])}{asks}", AGAIN


def _quoted(found: re.Match[str] | None) -> str:
    return f" ({_short(found[1])})" if found and found[1].strip() else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return json.dumps(line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}...", ensure_ascii=False)
