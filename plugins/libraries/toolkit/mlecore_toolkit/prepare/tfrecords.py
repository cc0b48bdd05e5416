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
from typing import TYPE_CHECKING

from mlecore.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHUNK = 256  # bytes of a message that one row of its checksum's array holds


def read_records(path: Path, key: str) -> Iterator[tuple[str, bytes]]:
    """For each record the first value of its feature ``key``, as UTF-8, and its message.

    One record at a time is in memory; checksums are not compared. Raises DataError, which names the file, if it is
    missing, cut off or damaged, or if a record has no such value.
    """
    try:
        for message in _messages(path):
            yield _first(message, key.encode()).decode("utf-8"), message
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (IndexError, KeyError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged: {error}") from None


def _messages(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        while head := file.read(12):
            length = int.from_bytes(head[:8], "little")
            if file.tell() + length + 4 > size:  # seen before reading: a damaged length may exceed all memory
                raise DataError(f"{path} is cut off or damaged")
            yield file.read(length + 4)[:length]


def without(message: bytes, secret: Collection[str]) -> bytes:
    """The message without these features; everything else is unchanged. Raises IndexError or KeyError if damaged."""
    secrets = {key.encode() for key in secret}
    features = dict(_fields(message))[1]
    kept = b"".join(_field(1, entry) for _, entry in _fields(features) if dict(_fields(entry))[1] not in secrets)
    return _field(1, kept)


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
    """A number of seven bits a byte, and the place after it."""
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
    """A new TFRecord file, and a function that adds a message to it, with the true checksums."""
    with path.open("xb") as file:

        def write(message: bytes) -> None:
            length = len(message).to_bytes(8, "little")
            file.write(length + _checksum(length) + message + _checksum(message))

        yield write


def _checksum(data: bytes) -> bytes:
    """CRC-32C, rotated and shifted as TFRecord masks it."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")


def crc32c(data: bytes) -> int:
    """The CRC-32C (Castagnoli) of ``data``.

    A CRC is linear: those of all chunks are computed side by side, one byte of each at a time, and then joined, the
    CRC so far being moved on over the zeros of a chunk. That is several times as fast as byte by byte.
    """
    import numpy as np

    table = _table()
    whole = len(data) // _CHUNK
    chunks = np.frombuffer(data, dtype=np.uint8, count=whole * _CHUNK).reshape(whole, _CHUNK)
    crcs = np.zeros(whole, dtype=np.int64)
    for column in chunks.T.astype(np.int64):
        crcs = table[crcs & 0xFF ^ column] ^ crcs >> 8
    crc = 0xFFFFFFFF
    low, second, third, high = _over_zeros()
    for chunk in crcs.tolist():
        crc = low[crc & 0xFF] ^ second[crc >> 8 & 0xFF] ^ third[crc >> 16 & 0xFF] ^ high[crc >> 24] ^ chunk
    words = table.tolist() if len(data) > whole * _CHUNK else []
    for byte in data[whole * _CHUNK :]:
        crc = words[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@cache
def _table() -> NDArray[np.int64]:
    import numpy as np

    table = np.arange(256, dtype=np.int64)
    for _ in range(8):
        table = table >> 1 ^ (table & 1) * 0x82F63B78
    return table


@cache
def _over_zeros() -> list[list[int]]:
    """What each value of each byte of a CRC, lowest byte first, becomes after a chunk of zeros."""
    import numpy as np

    crcs = np.arange(256, dtype=np.int64) << np.array([[0], [8], [16], [24]], dtype=np.int64)
    for _ in range(_CHUNK):
        crcs = _table()[crcs & 0xFF] ^ crcs >> 8
    return [[int(crc) for crc in row] for row in crcs]
