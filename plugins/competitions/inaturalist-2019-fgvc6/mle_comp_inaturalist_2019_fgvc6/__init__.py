"""iNaturalist 2019: which of 1,010 species is on a photograph?"""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    accuracy,
    ensure,
    ensure_unique,
    extract,
    file_names,
    link_file,
    read_json,
    refuse,
    split_pictures,
    with_pictures,
    write_csv,
    write_json,
    write_tar,
)
from mlecore_toolkit.prepare.coco import Pair

if TYPE_CHECKING:
    from pandas import DataFrame

KEYS = ["annotations", "categories", "images", "info", "licenses"]
PHOTOGRAPHS = "train_val2019"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    metadata, train, test = read_parts(raw)
    names = {name: PurePosixPath(name).name for name in file_names(test)}
    ensure_unique(names.values(), "names of photographs for testing")
    images = [{**image, "file_name": f"test2019/{names[image['file_name']]}"} for _, image in test]
    write_tables(raw, public, private, metadata, train, list(zip((pair[0] for pair in test), images, strict=True)))

    kept = {name: name.removeprefix(f"{PHOTOGRAPHS}/") for name in file_names(train)}
    with tempfile.TemporaryDirectory(dir=private) as scratch:
        source = raw
        if not (raw / PHOTOGRAPHS).is_dir():
            source = Path(scratch)
            extract(raw / f"{PHOTOGRAPHS}.tar.gz", source, {name: name for name in [*kept, *names]})
        write_tar(source, public / f"{PHOTOGRAPHS}.tar.gz", kept)
        write_tar(source, public / "test2019.tar.gz", names)


def read_parts(raw: Path) -> tuple[dict[str, Any], list[Pair], list[Pair]]:
    """The metadata of all labelled photographs, and those of the train and of the test part."""
    metadata = read_json(raw / "train2019.json")
    ensure(sorted(metadata) == KEYS, f"train2019.json has the keys {', '.join(metadata)}; expected {', '.join(KEYS)}")
    return metadata, *split_pictures(metadata, test_size=0.12, few=5)


def write_tables(
    raw: Path, public: Path, private: Path, metadata: dict[str, Any], train: list[Pair], test: list[Pair]
) -> None:
    """Metadata, answers and sample submission, in the order of ``test``, whose images are as the agent may see them."""
    import pandas as pd

    write_json(with_pictures(metadata, train), public / "train2019.json", indent=4, sort_keys=True)
    link_file(raw / "val2019.json", public / "val2019.json")
    images = [image for _, image in test]
    unlabelled = {"images": images, "info": metadata["info"], "licenses": metadata["licenses"]}
    write_json(unlabelled, public / "test2019.json", indent=4, sort_keys=True)
    species = [annotation["category_id"] for annotation, _ in test]
    answers = pd.DataFrame({"id": [image["id"] for image in images], "predicted": species})
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(predicted=654), public / "kaggle_sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    examine(predictions)
    return 1 - accuracy(truth["predicted"], predictions["predicted"])


@hookimpl
def examine(predictions: DataFrame) -> None:
    """Each cell becomes its first number."""
    import numpy as np

    first = [_first(cell) for cell in predictions["predicted"].astype(object)]
    bad = np.fromiter((number is None for number in first), bool, len(first))
    refuse(predictions, "predicted", "whole numbers, such as 71, or 71 108 339 (not 71.0)", bad)
    predictions["predicted"] = np.array(first, dtype=np.int64)


def _first(cell: Any) -> int | None:
    """The category that a cell names first; None if it names none."""
    if isinstance(cell, float):  # as all cells are where one is empty
        return None
    try:
        number = int(cell.split(maxsplit=1)[0] if isinstance(cell, str) else cell)
    except (ValueError, IndexError):
        return None
    return number if -(2**63) <= number < 2**63 else None
