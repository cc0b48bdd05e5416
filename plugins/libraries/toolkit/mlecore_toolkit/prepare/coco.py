"""Pictures listed as in the data set COCO: an object with lists ``annotations`` and ``images``.

Both have one entry per picture, in the same order. A pair is a picture's annotation and its image entry.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlecore_toolkit.prepare.asserts import ensure
from mlecore_toolkit.prepare.documents import write_json
from mlecore_toolkit.prepare.files import link_files
from mlecore_toolkit.prepare.splits import split_each

Pair = tuple[dict[str, Any], dict[str, Any]]


def split_pictures(
    metadata: Mapping[str, Any], *, test_size: float, few: int = 0, id: str = "id"
) -> tuple[list[Pair], list[Pair]]:
    """(train, test) pairs, with each category split by itself (``split_each``). Test pairs are shuffled with seed 0.

    ``id`` is the key of the images' ids. Raises DataError if the two lists do not match, or if no picture is for
    testing.
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
    """``metadata`` with only the pictures of ``pairs``."""
    return {**metadata, "annotations": [pair[0] for pair in pairs], "images": [pair[1] for pair in pairs]}


def file_names(pairs: Sequence[Pair], new: Callable[[int], str] | None = None) -> dict[str, str]:
    """Old to new file names, in the order of ``pairs``. ``new`` is called with a picture's number; None: same names.

    Raises DataError if two pictures have the same file.
    """
    olds = [image["file_name"] for _, image in pairs]
    names = {old: new(number) if new else old for number, old in enumerate(olds)}
    ensure(len(names) == len(olds), f"{len(olds) - len(names)} pictures have the same file as another one")
    return names


def split_folder(
    metadata: Mapping[str, Any],
    source: Path,
    into: Path,
    *,
    test_size: float,
    few: int = 0,
    id_type: type[str] | type[int] = str,
) -> list[int]:
    """Split the pictures of folder ``source`` into ``into``/train and ``into``/test, each with its metadata.json.

    Train pictures keep ids and names. Test pictures get a number as id and in names such as ``images/012/12345.jpg``;
    their metadata have no annotations and categories. Ids have ``id_type``, which is text in v1 by mistake. Returns the
    categories of the test pictures, by number. Raises DataError as ``split_pictures`` does.
    """
    train, test = split_pictures(metadata, test_size=test_size, few=few)
    link_files(source, into / "train", file_names(train))
    write_json(with_pictures(metadata, train), into / "train" / "metadata.json", indent=4, sort_keys=True)
    names = file_names(test, lambda number: f"images/{number // 1000:03}/{number}.jpg")
    link_files(source, into / "test", names)
    images = [
        {**image, "id": id_type(number), "file_name": names[image["file_name"]]}
        for number, (_, image) in enumerate(test)
    ]
    unlabelled = {"images": images, "info": metadata["info"], "licenses": metadata["licenses"]}
    write_json(unlabelled, into / "test" / "metadata.json", indent=4, sort_keys=True)
    return [annotation["category_id"] for annotation, _ in test]
