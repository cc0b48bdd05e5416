"""Plant Seedlings: which of twelve species is a seedling?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, accuracy, copy_file, ensure, ensure_unique, link_files, split, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    images = [
        (image.name, folder.name)
        for folder in sorted((raw / "train").iterdir(), key=_name)
        if folder.is_dir()
        for image in sorted(folder.iterdir(), key=_name)
        if image.name.endswith(".png")
    ]
    ensure(images, f"{raw / 'train'} has no images")
    ensure_unique([name for name, _ in images], "images of train")
    train, test = split(pd.DataFrame(images, columns=["file", "species"]), test_size=0.14)
    write_csv(test, private / "answers.csv")
    write_csv(test.assign(species="Sugar beet"), public / "sample_submission.csv")
    names = [f"{species}/{name}" for name, species in zip(train["file"], train["species"], strict=True)]
    link_files(raw / "train", public / "train", names)
    for name, species in zip(test["file"], test["species"], strict=True):
        copy_file(raw / "train" / species / name, public / "test" / name)  # a link may tell the species' folder


def _name(path: Path) -> str:
    return path.name


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """Micro-averaged F1 of single labels, which is accuracy."""
    truth, predictions = format.read(submission, private / "answers.csv")
    examine(predictions)
    return accuracy(truth["species"].tolist(), list(predictions["species"]))


@hookimpl
def examine(predictions: DataFrame) -> Sequence[str]:
    missing = sum(not name for name in predictions["species"])
    if missing == len(predictions):
        raise InvalidSubmission("column 'species' has no name in any row")
    return [f"column 'species' has missing names, {missing} in all: allowed, but wrong"] if missing else []
