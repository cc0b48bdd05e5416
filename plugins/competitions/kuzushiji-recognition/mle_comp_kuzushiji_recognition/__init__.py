"""Kuzushiji Recognition: find and read the characters on pages of historical Japanese script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore.metrics.pairs import pairs, taken
from mlecore.prepare import ensure, link_file, move_members, open_zip, read_csv, split, write_csv
from mlecore.submissions import Format, Table
from mlecore.submissions.cells import Word
from mlecore.submissions.records import decode_records, flatten

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

    from mlecore.submissions.lists import Lists

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
    return f1(truth, predictions["labels"].array)


def f1(truth: DataFrame, predictions: Lists) -> float:
    """Of all pages together: boxes, ``code x y width height`` again and again, and the points predicted."""
    asked = decode_records(truth, truth["labels"].fillna("").tolist(), BOX, single=True)
    hits, boxes, points = count_hits(asked, predictions), int(asked.counts().sum()), int(predictions.counts().sum())
    if not hits:
        return 0.0
    precision, recall = hits / points, hits / boxes
    return 2 * precision * recall / (precision + recall)


def count_hits(asked: Lists, given: Lists) -> int:
    """How many boxes have a point of their own code within, page by page.

    Boxes in their order take the first such point that is left; a point on the edge is not within.
    """
    import numpy as np
    import pandas as pd

    box_page, boxes = flatten(asked)
    point_page, points = flatten(given)
    codes = pd.factorize(np.concatenate([boxes.words[0], points.words[0]]))[0]
    count = int(codes.max(initial=0)) + 1
    _, x, y, width, height = boxes.words
    _, xs, ys = points.words
    found: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = [(np.empty(0, dtype=np.intp),) * 2]
    for i, j in pairs(box_page * count + codes[: len(boxes)], point_page * count + codes[len(boxes) :]):
        within = (x[i] < xs[j]) & (xs[j] < x[i] + width[i]) & (y[i] < ys[j]) & (ys[j] < y[i] + height[i])
        found.append((i[within], j[within]))
    return int(taken(*map(np.concatenate, zip(*found, strict=True))).sum())
