"""Edition v2: test pages have new names, and at most 1,200 predictions each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_kuzushiji_recognition as v1
from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    in_file_order,
    link_file,
    move_members,
    new_names,
    open_zip,
    read_csv,
    rename_rows,
    split,
    write_csv,
    write_renamed,
)
from mlecore_toolkit.submissions.messages import row_name
from mlecore_toolkit.submissions.records import refuse_records

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 2
MOST = 1200  # predictions on a page


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "train.csv"), test_size=0.1)
    names = new_names(test["image_id"], "test_########", seed=SEED)
    write_renamed(names, private / "names.csv")
    test = rename_rows(test, "image_id", names)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    with open_zip(raw / "train_images.zip") as images:
        pages = {f"{page}.jpg": f"{page}.jpg" for page in train["image_id"]}
        move_members(images, public / "train_images.zip", pages)
        pages = {f"{old}.jpg": f"{new}.jpg" for old, new in names.items()}
        move_members(images, public / "test_images.zip", pages)
    link_file(raw / "unicode_translation.csv", public / "unicode_translation.csv")
    write_csv(test[["image_id"]].assign(labels="U+003F 1 1 U+FF2F 2 2"), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    examine(predictions)
    return v1.f1(truth, predictions["labels"].array)


@hookimpl
def examine(predictions: DataFrame) -> None:
    """Pages may not have too many predictions, nor points that are nowhere."""
    import numpy as np

    cells = predictions["labels"].tolist()
    for place in in_file_order(predictions, [place for place, cell in enumerate(cells) if len(cell) > MOST])[:1]:
        raise InvalidSubmission(
            f"{row_name(predictions, place)}: at most {MOST:,} predictions a page; found {len(cells[place]):,}"
        )
    refuse_records(
        predictions,
        "labels",
        "X and Y must be finite numbers",
        lambda points: ~(np.isfinite(points.words[1]) & np.isfinite(points.words[2])),
    )


@hookimpl
def perfect(private: Path) -> DataFrame:
    """A point just inside of the top left corner of each box."""
    test = read_csv(private / "test.csv", keep_default_na=False)
    points = [
        v1.corners(page, labels) if labels else ""
        for page, labels in zip(test["image_id"], test["labels"], strict=True)
    ]
    return test[["image_id"]].assign(labels=points)
