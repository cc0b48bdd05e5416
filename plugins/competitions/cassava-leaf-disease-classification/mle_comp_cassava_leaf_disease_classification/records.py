"""TFRecord files: the names of the images in them, read without TensorFlow.

A file is a row of records: length (8 bytes), its checksum (4), data, their checksum (4). The data are a
``tf.train.Example`` in protobuf. Checksums are not compared.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from mlecore.errors import DataError

_BYTES = 2  # protobuf's type of what has a length
_SIZES = {1: 8, 5: 4}  # of its fixed types


def names(path: Path) -> Iterator[str]:
    """The first ``image_name`` of each record. Raises DataError for a file that is cut off or no TFRecord."""
    try:
        for data in _records(path):
            yield _name(data)
    except (IndexError, KeyError, StopIteration, UnicodeDecodeError, struct.error):
        raise DataError(f"{path} is damaged: a record is cut off, or has no image_name") from None


def _records(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        left = os.fstat(file.fileno()).st_size
        while head := file.read(12):
            (length,) = struct.unpack("<Q4x", head)
            left -= length + 16
            if left < 0:
                raise IndexError
            yield file.read(length)
            file.read(4)


def _name(example: bytes) -> str:
    for entry in _values(_first(example, 1), 1):
        if _first(entry, 1) == b"image_name":
            return _first(_first(_first(entry, 2), 1), 1).decode()
    raise KeyError("image_name")


def _first(message: bytes, field: int) -> bytes:
    for value in _values(message, field):
        return value
    raise KeyError(field)


def _values(message: bytes, field: int) -> Iterator[bytes]:
    """What stands in a field of a protobuf message, all occurrences; only fields with a length."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        if key & 7 == _BYTES:
            length, place = _varint(message, place)
            if length > len(message) - place:
                raise IndexError
            if key >> 3 == field:
                yield message[place : place + length]
            place += length
        elif key & 7 == 0:
            _, place = _varint(message, place)
        else:
            place += _SIZES[key & 7]


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """A number of seven bits a byte, and the place after it."""
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place
