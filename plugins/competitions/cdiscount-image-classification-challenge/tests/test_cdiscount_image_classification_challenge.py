"""Cdiscount: documents whose id is not first, and damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(size=0.5)


def documents(path: Path) -> list[bytes]:
    data, found = path.read_bytes(), []
    while data:
        size = int.from_bytes(data[:4], "little")
        found.append(data[:size])
        data = data[size:]
    return found


def test_an_id_that_is_not_first_is_moved_there(tmp_path: Path) -> None:
    from mle_comp_cdiscount_image_classification_challenge import prepare

    rows = [b"\x10category_id\0\x01\0\0\0\x10_id\0" + bytes([i, 0, 0, 0]) for i in range(12)]
    (tmp_path / "train.bson").write_bytes(b"".join(bytes([len(row) + 5, 0, 0, 0]) + row + b"\0" for row in rows))
    (tmp_path / "category_names.csv").write_text("category_id\n")
    for folder in ("public", "private"):
        (tmp_path / folder).mkdir()
    prepare(tmp_path, tmp_path / "public", tmp_path / "private")
    assert documents(tmp_path / "public/train.bson")[0][4:9] == b"\x10_id\0"


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: b"\1\0\0\0" + data, lambda data: b"\xff" * 40])
def test_a_damaged_file_is_named(trial: Trial, tmp_path: Path, damage: object) -> None:
    (tmp_path / "train.bson").write_bytes(damage((trial.raw / "train.bson").read_bytes()))  # type: ignore[operator]
    trial.refuses_raw(tmp_path, r"train\.bson")
