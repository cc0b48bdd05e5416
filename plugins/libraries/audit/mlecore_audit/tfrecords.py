"""Reads TFRecord files of ``tf.train.Example`` as tables, without TensorFlow.

The format: https://www.tensorflow.org/tutorials/load_data/tfrecord, and the protobuf messages Example, Features and
Feature of tensorflow/core/example. Pictures and other long values are left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

from mlecore_toolkit.prepare.tfrecords import fields, masked_crc, varint

_LONGEST = 256 << 20  # bytes of a record
_SHOWN = 256  # bytes; longer values are left out


def is_tfrecord(head: bytes) -> bool:
    """Does a file begin with the length of a record and its checksum?"""
    return len(head) >= 12 and masked_crc(head[:8]) == head[8:12]


def examples(stream: IO[bytes]) -> Iterator[dict[str, str]]:
    """The features of each record, as text. Raises ValueError if a record is no Example or cut off."""
    while head := stream.read(12):
        if len(head) < 12:
            raise ValueError("a record is cut off")
        length = struct.unpack("<Q", head[:8])[0]
        if length > _LONGEST:
            raise ValueError(f"a record of {length} bytes")
        data = stream.read(length)
        if len(data) < length or len(stream.read(4)) < 4:
            raise ValueError("a record is cut off")
        try:
            yield _example(data)
        except (IndexError, KeyError) as error:
            raise ValueError(f"a record is damaged: {error}") from None


def _example(data: bytes) -> dict[str, str]:
    found = {}
    for features in _messages(data):
        for entry in _messages(features):
            name, value = "", ""
            for number, part in fields(entry):
                if number == 1 and isinstance(part, bytes):
                    name = part.decode("utf-8", "replace")
                elif number == 2 and isinstance(part, bytes):
                    value = _feature(part)
            found[name] = value
    return found


def _feature(data: bytes) -> str:
    for number, values in fields(data):
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
    """The values of field 1, if they are bytes."""
    for number, value in fields(data):
        if number == 1 and isinstance(value, bytes):
            yield value


def _floats(data: bytes) -> list[float]:
    packed = b"".join(value for number, value in fields(data) if number == 1 and isinstance(value, bytes))
    return list(struct.unpack(f"<{len(packed) // 4}f", packed[: len(packed) // 4 * 4]))[:_SHOWN]


def _integers(data: bytes) -> list[int]:
    found: list[int] = []
    for number, value in fields(data):
        if number == 1 and isinstance(value, int):
            found.append(value)
        elif number == 1 and isinstance(value, bytes):
            at = 0
            while at < len(value) and len(found) < _SHOWN:
                one, at = varint(value, at)
                found.append(one)
    return [value - (1 << 64) if value >> 63 else value for value in found]
