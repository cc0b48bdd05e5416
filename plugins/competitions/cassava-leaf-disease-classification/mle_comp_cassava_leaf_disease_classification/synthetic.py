"""Synthetic data in the form of the download: 16 files of records."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.prepare import encode, picture, write_csv

FILES = 16
SHARES = [0.05, 0.1, 0.11, 0.62, 0.12]  # of the five labels
_CASTAGNOLI = 0x82F63B78


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    each = max(12, round(24 * size))
    for folder in ("train_images", "train_tfrecords"):
        (raw / folder).mkdir()
    rows: list[tuple[str, int]] = []
    for file in range(FILES):
        count = each - (file == FILES - 1)
        records = []
        for number in range(count):
            label = number if number < 5 else int(rng.choice(5, p=SHARES))
            name = f"{1_000_015_157 + len(rows) * 7919}.jpg"
            photograph = encode(picture(rng, label), "JPEG")
            (raw / "train_images" / name).write_bytes(photograph)
            records.append(_record(_example(photograph, name, label)))
            rows.append((name, label))
        (raw / "train_tfrecords" / f"ld_train{file:02}-{count}.tfrec").write_bytes(b"".join(records))
    (raw / "train_tfrecords" / "README.txt").write_text("no records")
    table = pd.DataFrame([rows[place] for place in rng.permutation(len(rows))], columns=["image_id", "label"])
    write_csv(table, raw / "train.csv")
    diseases = ["Bacterial Blight (CBB)", "Brown Streak Disease (CBSD)", "Green Mottle (CGM)", "Mosaic Disease (CMD)"]
    names = {str(label): f"Cassava {disease}" for label, disease in enumerate(diseases)} | {"4": "Healthy"}
    (raw / "label_num_to_disease_map.json").write_text(json.dumps(names))


def _example(image: bytes, name: str, label: int) -> bytes:
    """A ``tf.train.Example`` in protobuf."""
    features = {
        "image": _field(1, _field(1, image)),
        "image_name": _field(1, _field(1, name.encode())),
        "target": _field(3, _field(1, _varint(label))),
    }
    entries = [_field(1, _field(1, key.encode()) + _field(2, value)) for key, value in features.items()]
    return _field(1, b"".join(entries))


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    """The CRC-32C of ``data``, masked as TFRecords have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _table() -> Sequence[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_CASTAGNOLI if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()
