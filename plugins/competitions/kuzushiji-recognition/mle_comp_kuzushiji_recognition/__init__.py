"""Kuzushiji Recognition: find and read the characters on pages of historical Japanese script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.prepare import ensure, link_file, move_members, open_zip, read_csv, split, write_csv
from mlecore.submissions import Format, Table
from mlecore.submissions.records import Records


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
    return f1(truth["labels"].fillna(""), predictions["labels"])


def f1(truth: Iterable[str], predictions: Iterable[Records]) -> float:
    """Of all pages together: boxes, ``code x y width height`` again and again, and the points predicted."""
    hits = asked = given = 0
    for boxes, points in zip(truth, predictions, strict=True):
        parts = boxes.split(" ") if boxes else []
        hits += count_hits(parts, points)
        asked += len(parts) // 5
        given += len(points)
    if not hits:
        return 0.0
    precision, recall = hits / given, hits / asked
    return 2 * precision * recall / (precision + recall)


def count_hits(boxes: Sequence[str], points: Records) -> int:
    """How many boxes (``code x y width height``, part after part) have a point of their own code within.

    Boxes in their order take the first such point that is left; a point on the edge is not within.
    """
    import numpy as np

    codes, *places = points.words
    known = {code: number for number, code in enumerate(dict.fromkeys(boxes[::5]))}
    numbers = np.array([known.get(code, -1) for code in codes], dtype=np.intp)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(len(known) + 1))
    left = {
        code: tuple(column[order[starts[number] : starts[number + 1]]] for column in places)
        for code, number in known.items()
    }
    hits = 0
    for i in range(0, len(boxes), 5):
        xs, ys = left[boxes[i]]
        x, y, width, height = map(float, boxes[i + 1 : i + 5])
        within = (x < xs) & (xs < x + width) & (y < ys) & (ys < y + height)
        if within.any():
            xs[within.argmax()] = np.nan  # used up
            hits += 1
    return hits
