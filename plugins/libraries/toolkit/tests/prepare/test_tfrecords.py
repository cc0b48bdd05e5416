"""TFRecord files without TensorFlow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mlecore.errors import DataError
from mlecore_toolkit.prepare.tfrecords import crc32c, example, read_tfrecords, without, write_tfrecords


def names(path: Path) -> list[str]:
    return [name for name, _ in read_tfrecords(path, "image_name")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.tfrec"
    with write_tfrecords(path) as write:
        for number in range(3):
            write(example({"image": b"x" * 70_000, "target": 300, "image_name": f"é{number}".encode()}))
    return path


def test_what_is_written_is_read(path: Path) -> None:
    assert names(path) == ["é0", "é1", "é2"]
    message = next(message for _, message in read_tfrecords(path, "image_name"))
    assert message == example({"image": b"x" * 70_000, "target": 300, "image_name": "é0".encode()})
    assert without(message, {"target", "diagnosis"}) == example({"image": b"x" * 70_000, "image_name": "é0".encode()})


@pytest.mark.parametrize("length", [0, 9, 256, 300, 1000])
def test_checksums_are_those_of_the_definition(length: int) -> None:
    data = os.urandom(length)
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    assert crc32c(data) == crc ^ 0xFFFFFFFF
    assert crc32c(b"123456789") == 0xE3069283


def test_a_checksum_is_masked(path: Path) -> None:
    head = path.read_bytes()[:12]
    crc = crc32c(head[:8])
    assert int.from_bytes(head[8:], "little") == ((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32


def test_damaged_files(path: Path, tmp_path: Path) -> None:
    whole = path.read_bytes()
    for cut in (whole[:-1], whole + b"\x01\x00", whole + b"\xff" * 16):  # the last: a length beyond all memory
        path.write_bytes(cut)
        with pytest.raises(DataError, match=r"a\.tfrec is cut off"):
            names(path)
    path.write_bytes(whole[:12] + b"\xff" * 40 + whole[52:])
    with pytest.raises(DataError, match=r"a\.tfrec is damaged"):
        names(path)
    with pytest.raises(DataError, match="missing"):
        names(tmp_path / "b.tfrec")


def test_a_record_without_a_name(tmp_path: Path) -> None:
    nameless = bytes([0x0A, 18, 0x0A, 16, 0x0A, 10]) + b"image_name" + bytes([0x12, 2, 0x0A, 0])  # an empty list
    with write_tfrecords(tmp_path / "c.tfrec") as write:
        write(nameless)
    with pytest.raises(DataError, match="no image_name"):
        names(tmp_path / "c.tfrec")
