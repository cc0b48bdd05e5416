"""TFRecord files of tf.train.Example messages, read and written without TensorFlow.

A record is its length (8 bytes, little endian), a checksum of these, the message, a checksum of it. The message is a
protocol buffer: features (field 1) hold entries (field 1 each) of a key (field 1) and a value (field 2): a list of
bytes (field 1), floats (2) or integers (3), whose items are field 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from mlecore.errors import DataError


def first_texts(path: Path, key: str) -> Iterator[str]:
    """The first value under ``key`` of each record, as UTF-8. One record at a time is in memory."""
    with _named(path):
        for message in messages(path):
            yield first_text(message, key)


def messages(path: Path) -> Iterator[bytes]:
    """The message of each record, one at a time."""
    with _named(path):
        size = path.stat().st_size
        with path.open("rb") as file:
            while head := file.read(12):
                length = int.from_bytes(head[:8], "little")
                if file.tell() + length + 4 > size:  # seen before reading: a damaged length may exceed all memory
                    raise DataError(f"{path} is cut off or damaged")
                yield file.read(length + 4)[:length]


def first_text(message: bytes, key: str) -> str:
    """The first value under ``key``, as UTF-8. Raises IndexError, KeyError or UnicodeDecodeError."""
    return _first(message, key.encode()).decode("utf-8")


def without(message: bytes, secret: Collection[str]) -> bytes:
    """The message without these features; all else as it is."""
    secrets = {key.encode() for key in secret}
    features = dict(_fields(message))[1]
    kept = b"".join(_field(1, entry) for _, entry in _fields(features) if dict(_fields(entry))[1] not in secrets)
    return _field(1, kept)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of reading as DataError that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (IndexError, KeyError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged: {error}") from None


def _first(message: bytes, key: bytes) -> bytes:
    features = dict(_fields(message))[1]
    for _, entry in _fields(features):
        parts = dict(_fields(entry))
        if parts[1] == key:
            values = dict(_fields(parts[2]))[1]
            for _, value in _fields(values):
                return value
    raise KeyError(f"no {key.decode()} in a record")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a message: number and content; others are passed over."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        if tag & 7 == 2:
            length, at = _varint(message, at)
            if at + length > len(message):
                raise IndexError("a field reaches beyond its message")
            yield tag >> 3, message[at : at + length]
            at += length
        elif tag & 7 == 0:
            _, at = _varint(message, at)
        else:
            at += {1: 8, 5: 4}[tag & 7]


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def example(features: Mapping[str, bytes | int]) -> bytes:
    """A tf.train.Example with one value a key."""
    entries = b""
    for key, value in features.items():
        if isinstance(value, int):
            held = _field(3, _field(1, _to_varint(value)))
        else:
            held = _field(1, _field(1, value))
        entries += _field(1, _field(1, key.encode()) + _field(2, held))
    return _field(1, entries)


def _field(number: int, content: bytes) -> bytes:
    return _to_varint(number << 3 | 2) + _to_varint(len(content)) + content


def _to_varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


@contextmanager
def write_records(path: Path) -> Iterator[Callable[[bytes], None]]:
    """A new TFRecord file, and a function that adds a record to it, with the true checksums."""
    with path.open("xb") as file:

        def write(message: bytes) -> None:
            length = len(message).to_bytes(8, "little")
            file.write(length + _checksum(length) + message + _checksum(message))

        yield write


def _checksum(data: bytes) -> bytes:
    """CRC-32C, rotated and shifted as TFRecord masks it."""
    crc = 0xFFFFFFFF
    table = _table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")


@cache
def _table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 if byte & 1 else byte >> 1
        table.append(byte)
    return tuple(table)
