"""Kuzushiji Recognition: find and read the characters on pages of historical Japanese script."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, link_file, move_members, open_zip, read_csv, split, write_csv
from mlecore_toolkit.submissions.cells import Word
from mlecore_toolkit.submissions.records import Records, decode_records

if TYPE_CHECKING:
    from pandas import DataFrame

BOX: tuple[Word, ...] = ("text", "number", "number", "number", "number")  # code, x, y, width, height


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "train.csv"), test_size=0.1)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    with open_zip(raw / "train_images.zip") as images:
        for name, part in (("train_images.zip", train), ("test_images.zip", test)):
            move_members(images, public / name, {f"{page}.jpg": f"{page}.jpg" for page in part["image_id"]})
    link_file(raw / "unicode_translation.csv", public / "unicode_translation.csv")
    write_csv(test[["image_id"]].assign(labels="U+003F 1 1 U+FF2F 2 2"), public / "sample_submission.csv")
    points = [corners(page, labels) for page, labels in zip(test["image_id"], test["labels"], strict=True)]
    write_csv(test[["image_id"]].assign(labels=points), private / "gold_submission.csv")


def corners(page: str, labels: str | float) -> str:
    """A point just inside of the top left corner of each box."""
    ensure(isinstance(labels, str), f"train.csv: page {page} has no labels, and falls into the test part")
    parts = str(labels).split(" ")
    ensure(len(parts) % 5 == 0, f"train.csv: the labels of page {page} are not groups of five")
    groups = zip(parts[::5], parts[1::5], parts[2::5], strict=True)
    return " ".join(f"{character} {int(x) + 1} {int(y) + 1}" for character, x, y in groups)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return f1(truth, predictions["labels"])


def f1(truth: DataFrame, predictions: Collection[Records]) -> float:
    """Of all pages together: boxes, ``code x y width height`` again and again, and the points predicted."""
    asked = decode_records(truth, truth["labels"].fillna("").tolist(), BOX, single=True)
    hits = sum(count_hits(*page) for page in zip(asked, predictions, strict=True))
    if not hits:
        return 0.0
    precision, recall = (hits / sum(map(len, side)) for side in (predictions, asked))
    return 2 * precision * recall / (precision + recall)


def count_hits(boxes: Records, points: Records) -> int:
    """How many boxes of a page have a point of their own code within.

    Boxes in their order take the first such point that is left; a point on the edge is not within.
    """
    import numpy as np

    codes, xs, ys = points.words
    places = defaultdict(list)
    for place, code in enumerate(codes.tolist()):
        places[code].append(place)
    of_code = {code: np.array(some) for code, some in places.items()}
    hits = 0
    for code, x, y, width, height in zip(*boxes.words, strict=True):
        left = of_code.get(code, np.empty(0, dtype=np.intp))
        within = (x < xs[left]) & (xs[left] < x + width) & (y < ys[left]) & (ys[left] < y + height)
        if within.any():
            hits += 1
            of_code[code] = np.delete(left, within.argmax())
    return hits
