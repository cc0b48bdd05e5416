"""Reads and writes TFRecord files of tf.train.Example messages without TensorFlow.

A record is its length (8 bytes, little endian), a checksum of the length, the message, and a checksum of the message.
The message is a protocol buffer: features (field 1) have entries (field 1 each) with a key (field 1) and a value (field
2): a list of bytes (field 1), floats (2) or integers (3), whose items are field 1.
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

_CHUNK = 256  # bytes of a message per row of the array for its checksum


def read_tfrecords(path: Path, key: str) -> Iterator[tuple[str, bytes]]:
    """For each record, the first value of its feature ``key``, as UTF-8, and the message.

    Only one record is in memory; checksums are not compared. Raises DataError if the file is missing, cut off or
    damaged, or if a record has no such value.
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
            if file.tell() + length + 4 > size:  # checked before reading: a damaged length may exceed the memory
                raise DataError(f"{path} is cut off or damaged")
            yield file.read(length + 4)[:length]


def without(message: bytes, secret: Collection[str]) -> bytes:
    """The message without these features, otherwise unchanged. Raises IndexError or KeyError if it is damaged."""
    secrets = {key.encode() for key in secret}
    kept = b"".join(_field(1, entry) for entry in _entries(message) if _parts(entry)[1] not in secrets)
    return _field(1, kept)


def _first(message: bytes, key: bytes) -> bytes:
    for entry in _entries(message):
        if _parts(entry)[1] == key:
            for _, value in fields(_parts(_parts(entry)[2])[1]):
                if isinstance(value, bytes):
                    return value
    raise KeyError(f"no {key.decode()} in a record")


def _entries(message: bytes) -> list[bytes]:
    return [entry for _, entry in fields(_parts(message)[1]) if isinstance(entry, bytes)]


def _parts(message: bytes) -> dict[int, bytes]:
    return {number: value for number, value in fields(message) if isinstance(value, bytes)}


def fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Number and value of each field of a message; numbers of fixed size are bytes. Raises IndexError, KeyError."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        if tag & 7 == 0:
            value, at = varint(message, at)
            yield tag >> 3, value
            continue
        if tag & 7 == 2:
            length, at = varint(message, at)
        else:
            length = {1: 8, 5: 4}[tag & 7]
        if at + length > len(message):
            raise IndexError("a field reaches beyond its message")
        yield tag >> 3, message[at : at + length]
        at += length


def varint(message: bytes, at: int) -> tuple[int, int]:
    """A number with seven bits per byte, and the offset after it. Raises IndexError if it is cut off or too long."""
    value = shift = 0
    while shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise IndexError("a number is too long")


def example(features: Mapping[str, bytes | int]) -> bytes:
    """A tf.train.Example with one value per key."""
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
def write_tfrecords(path: Path) -> Iterator[Callable[[bytes], None]]:
    """Create a TFRecord file; yields a function that adds a message with correct checksums."""
    with path.open("xb") as file:

        def write(message: bytes) -> None:
            length = len(message).to_bytes(8, "little")
            file.write(length + masked_crc(length) + message + masked_crc(message))

        yield write


def masked_crc(data: bytes) -> bytes:
    """CRC-32C, masked as in TFRecord files."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")


def crc32c(data: bytes) -> int:
    """The CRC-32C (Castagnoli) of ``data``.

    A CRC is linear: those of all chunks are computed in parallel, one byte of each at a time, and then joined by moving
    the CRC so far over a chunk of zeros. That is several times as fast as byte by byte.
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
    """For each byte of a CRC, lowest first, and each of its values: the CRC after a chunk of zeros."""
    import numpy as np

    crcs = np.arange(256, dtype=np.int64) << np.array([[0], [8], [16], [24]], dtype=np.int64)
    for _ in range(_CHUNK):
        crcs = _table()[crcs & 0xFF] ^ crcs >> 8
    return [[int(crc) for crc in row] for row in crcs]
