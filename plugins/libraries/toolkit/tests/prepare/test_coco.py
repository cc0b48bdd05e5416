"""Pictures listed as in COCO: pairs that match, split category by category, with new names."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlecore.errors import DataError
from mlecore_toolkit import file_names, labelled_pictures, split_each, split_folder, split_pictures, with_pictures


def metadata(kinds: str) -> dict[str, Any]:
    return {
        "info": "kept",
        "annotations": [{"image_id": 10 + i, "category_id": kind} for i, kind in enumerate(kinds)],
        "images": [{"id": 10 + i, "file_name": f"{kind}/{i}.jpg"} for i, kind in enumerate(kinds)],
    }


def test_test_pictures_come_shuffled() -> None:
    found = metadata("abcabcaabbccabcbca" * 3)
    train, test = split_pictures(found, test_size=0.2, few=5)
    expected_train, expected_test = split_each("abcabcaabbccabcbca" * 3, test_size=0.2, few=5)
    random.Random(0).shuffle(expected_test)
    for pairs, expected in ((train, expected_train), (test, expected_test)):
        assert pairs == [(found["annotations"][i], found["images"][i]) for i in expected]
    assert with_pictures(found, test[:1]) == {"info": "kept", "annotations": [test[0][0]], "images": [test[0][1]]}
    assert list(file_names(test, lambda number: f"{number}.jpg").values()) == [f"{i}.jpg" for i in range(len(test))]
    assert all(old == new for old, new in file_names(train).items())


def test_what_does_not_fit_is_refused() -> None:
    wrong = metadata("aab")
    wrong["images"].reverse()
    with pytest.raises(DataError, match="same pictures in the same order"):
        split_pictures(wrong, test_size=0.2)
    with pytest.raises(DataError, match="no picture is for testing"):
        split_pictures(metadata("abc"), test_size=0.2, few=5)
    twice = split_pictures(metadata("aaaaa"), test_size=0.2)[0]
    with pytest.raises(DataError, match="4 pictures have the same file"):
        file_names([*twice, *twice])


def test_a_folder_becomes_two(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    annotations, images = labelled_pictures(np.random.RandomState(0), raw, {7: 11, 15504: 10})
    found = {"annotations": annotations, "images": images, "info": "i", "licenses": "l", "categories": "c"}
    kinds = split_folder(found, raw, tmp_path, test_size=0.2)
    train = json.loads((tmp_path / "train/metadata.json").read_text())
    test = json.loads((tmp_path / "test/metadata.json").read_text())
    assert set(train) == set(found) and set(test) == {"images", "info", "licenses"}
    left = {image["file_name"]: (raw / image["file_name"]).read_bytes() for image in images}
    for image in train["images"]:
        assert (tmp_path / "train" / image["file_name"]).read_bytes() == left.pop(image["file_name"])
    assert [(image["id"], image["file_name"]) for image in test["images"]] == [
        (str(number), f"images/000/{number}.jpg") for number in range(5)
    ]
    for image, kind in zip(test["images"], kinds, strict=True):
        mine = [data for name, data in left.items() if name.startswith(f"images/{kind // 100:03}/{kind % 100:02}/")]
        assert (tmp_path / "test" / image["file_name"]).read_bytes() in mine
    assert sorted(kinds) == [7, 7, 7, 15504, 15504]
    split_folder(found, raw, tmp_path / "numbers", test_size=0.2, id_type=int)
    numbered = json.loads((tmp_path / "numbers" / "test/metadata.json").read_text())
    assert [image["id"] for image in numbered["images"]] == list(range(5))
