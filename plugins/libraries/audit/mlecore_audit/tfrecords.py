"""TFRecord files of ``tf.train.Example`` as tables, without TensorFlow.

The format: https://www.tensorflow.org/tutorials/load_data/tfrecord (length, its masked CRC-32C, data, theirs), and the
protobuf messages Example, Features, Feature of tensorflow/core/example. Pictures and other long values are left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from typing import IO

_LONGEST = 256 << 20  # bytes of a record
_SHOWN = 256  # bytes of a value that is kept
_MASK = 0xA282EAD8


def is_tfrecord(head: bytes) -> bool:
    """Does it begin with the length of a record and its checksum?"""
    return len(head) >= 12 and struct.unpack("<I", head[8:12])[0] == _masked_crc(head[:8])


def examples(stream: IO[bytes]) -> Iterator[dict[str, str]]:
    """The features of each record, as text. Raises ValueError where a record is no Example or cut off."""
    while head := stream.read(12):
        if len(head) < 12:
            raise ValueError("a record is cut off")
        length = struct.unpack("<Q", head[:8])[0]
        if length > _LONGEST:
            raise ValueError(f"a record of {length} bytes")
        data = stream.read(length)
        if len(data) < length or len(stream.read(4)) < 4:
            raise ValueError("a record is cut off")
        yield _example(data)


def _example(data: bytes) -> dict[str, str]:
    found = {}
    for features in _messages(data):
        for entry in _messages(features):
            name, value = "", ""
            for number, part in _fields(entry):
                if number == 1 and isinstance(part, bytes):
                    name = part.decode("utf-8", "replace")
                elif number == 2 and isinstance(part, bytes):
                    value = _feature(part)
            found[name] = value
    return found


def _feature(data: bytes) -> str:
    for number, values in _fields(data):
        if isinstance(values, bytes):
            match number:
                case 1:
                    return " ".join(v.decode("utf-8", "replace") for v in _messages(values) if len(v) <= _SHOWN)
                case 2:
                    return " ".join(repr(round(v, 9)) for v in _floats(values))
                case 3:
                    return " ".join(map(str, _integers(values)))
    return ""


def _messages(data: bytes) -> Iterator[bytes]:
    """The values of field 1 that are bytes."""
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            yield value


def _floats(data: bytes) -> list[float]:
    packed = b"".join(value for number, value in _fields(data) if number == 1 and isinstance(value, bytes))
    return list(struct.unpack(f"<{len(packed) // 4}f", packed[: len(packed) // 4 * 4]))[:_SHOWN]


def _integers(data: bytes) -> list[int]:
    found: list[int] = []
    for number, value in _fields(data):
        if number == 1 and isinstance(value, int):
            found.append(value)
        elif number == 1 and isinstance(value, bytes):
            at = 0
            while at < len(value) and len(found) < _SHOWN:
                one, at = _varint(value, at)
                found.append(one)
    return [value - (1 << 64) if value >> 63 else value for value in found]


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Field number and value of each field of a protobuf message; fixed numbers as bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if kind == 2:
            length, at = _varint(data, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a protobuf field of the unknown type {kind}")
        if at + length > len(data):
            raise ValueError("a protobuf field is cut off")
        yield number, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("a protobuf number is cut off")


def _masked_crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _table()[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


@cache
def _table() -> tuple[int, ...]:
    """Of CRC-32C (Castagnoli), reflected."""
    values = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        values.append(value)
    return tuple(values)
