"""iWildCam 2020: which animal is in a camera trap's picture?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    accuracy,
    ensure,
    ensure_disjoint,
    link_file,
    link_files,
    read_json,
    split,
    write_csv,
    write_json,
)

if TYPE_CHECKING:
    from pandas import DataFrame, Series

TRAIN = "iwildcam2020_train_annotations.json"
TEST = "iwildcam2020_test_information.json"
DETECTIONS = "iwildcam2020_megadetector_results.json"
SHARE = 0.22


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd
    from numpy.random import RandomState

    known = read_object(raw / TRAIN, ["annotations", "categories", "images", "info"])
    unlabelled = read_object(raw / TEST, ["categories", "images", "info"])
    images, annotations = pd.DataFrame(known["images"]), pd.DataFrame(known["annotations"])
    everything = len(images)
    train_places, test_places = places(images["location"], lambda size: size / (everything + size))
    train, test = (images[images["location"].isin(places)] for places in (train_places, test_places))
    ensure_disjoint(train["id"], test["id"], "images")
    ensure(images["id"].is_unique, f"{TRAIN} lists an image twice")
    of_train, of_test = (annotations[annotations["image_id"].isin(part["id"])] for part in (train, test))

    answers = of_test[["image_id", "category_id"]].set_axis(["Id", "Category"], axis=1)
    write_csv(answers, private / "answers.csv")
    guesses = RandomState(0).randint(0, 676, size=len(answers))
    write_csv(answers.assign(Category=guesses), public / "sample_submission.csv")

    train_json = {"annotations": _records(of_train), "images": _records(train), **_rest(known)}
    write_json(train_json, public / TRAIN)
    write_json({"images": _records(test), **_rest(unlabelled)}, public / TEST)
    link_file(raw / DETECTIONS, public / DETECTIONS)
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{id}.jpg" for id in part["id"]])


def read_object(path: Path, keys: list[str]) -> dict[str, Any]:
    value: dict[str, Any] = read_json(path)
    ensure(sorted(value) == keys, f"{path.name} has the keys {', '.join(value)}; expected {', '.join(keys)}")
    return value


def places(column: Series[Any], share: Callable[[int], float]) -> tuple[list[Any], list[Any]]:
    """(train, test) locations: split at random, then moved one by one until the test part is as large as wanted.

    ``share`` is that of a test part of so many images. In v1 it is taken of train and test images, where "train" are
    all images: published so. A fifth becomes more.
    """
    train, test = (list(part) for part in split(column.unique(), test_size=SHARE))
    sizes: dict[Any, int] = column.value_counts().to_dict()
    size = sum(sizes[place] for place in test)
    while share(size) < SHARE:
        ensure(train, "no location is left for training")
        test.append(train.pop())
        size += sizes[test[-1]]
    while share(size) > SHARE:
        train.append(test.pop())
        size -= sizes[train[-1]]
    ensure(train and test, "a part has no location: one location has too many of the images")
    return train, test


def _records(table: DataFrame) -> list[dict[Any, Any]]:
    """Each with all columns: what one lacks is NaN, and makes the column's integers floats. Published so."""
    return cast("list[dict[Any, Any]]", table.to_dict(orient="records"))


def _rest(metadata: dict[str, Any]) -> dict[str, Any]:
    import pandas as pd

    return {"categories": _records(pd.DataFrame(metadata["categories"])), "info": metadata["info"]}


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return accuracy(truth["Category"], predictions["Category"])
