"""Pictures listed as in the data set COCO: an object with ``annotations`` and ``images``, one of each per picture.

Both lists have the same order. A pair below is a picture's annotation and its image entry.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlecore.prepare.asserts import ensure
from mlecore.prepare.splits import split_each

Pair = tuple[dict[str, Any], dict[str, Any]]


def split_pictures(
    metadata: Mapping[str, Any], *, test_size: float, few: int = 0, id: str = "id"
) -> tuple[list[Pair], list[Pair]]:
    """(train, test) pairs, each category split by itself: see ``split_each``. Test pairs come shuffled, with seed 0.

    ``id`` names the images' ids. Raises DataError if the two lists do not match, and if no picture is for testing.
    """
    annotations, images = metadata["annotations"], metadata["images"]
    alike = len(annotations) == len(images) and all(
        annotation["image_id"] == image[id] for annotation, image in zip(annotations, images, strict=True)
    )
    ensure(alike, "`annotations` and `images` do not name the same pictures in the same order")
    train, test = split_each((annotation["category_id"] for annotation in annotations), test_size=test_size, few=few)
    ensure(test, "no picture is for testing: no category has enough of them")
    random.Random(0).shuffle(test)
    return [(annotations[i], images[i]) for i in train], [(annotations[i], images[i]) for i in test]


def with_pictures(metadata: Mapping[str, Any], pairs: Sequence[Pair]) -> dict[str, Any]:
    """``metadata`` with the pictures of ``pairs`` instead."""
    return {**metadata, "annotations": [pair[0] for pair in pairs], "images": [pair[1] for pair in pairs]}


def file_names(pairs: Sequence[Pair], new: Callable[[int], str] | None = None) -> dict[str, str]:
    """Each picture's file name and the one it gets, in the order of ``pairs``: ``new`` of its number, else the same.

    Raises DataError if two pictures have one file.
    """
    olds = [image["file_name"] for _, image in pairs]
    names = {old: new(number) if new else old for number, old in enumerate(olds)}
    ensure(len(names) == len(olds), f"{len(olds) - len(names)} pictures have the same file as another one")
    return names
