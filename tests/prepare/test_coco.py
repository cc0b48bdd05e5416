"""Pictures listed as in COCO: pairs that match, split category by category, with new names."""

from __future__ import annotations

import random
from typing import Any

import pytest

from mlecore.errors import DataError
from mlecore.prepare import file_names, split_each, split_pictures, with_pictures


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
    with pytest.raises(DataError, match="4 pictures have the file"):
        file_names([*twice, *twice])
