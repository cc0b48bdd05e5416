"""HuBMAP - Hacking the Kidney: which pixels of a microscopy image are glomeruli?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, dice, ensure, link_files, read_answers, read_csv, split, texts, write_csv
from mlecore_toolkit.submissions.masks import decode_masks

if TYPE_CHECKING:
    from pandas import DataFrame

INFORMATION = "HuBMAP-20-dataset_information.csv"
SIZE = ["width_pixels", "height_pixels"]
KINDS = [".tiff", ".json", "-anatomical-structure.json"]  # the second is the label, public in the test part too


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table, information = read_csv(raw / "train.csv"), read_csv(raw / INFORMATION)
    ensure(len(table) == 15, f"train.csv has {len(table)} rows; expected 15")
    train, test = split(table, test_size=3, train_size=12)
    sizes = information.assign(id=information["image_file"].str.replace(".tiff", "", regex=False))
    write_csv(information[sizes["id"].isin(table["id"])], public / INFORMATION)
    write_csv(train, public / "train.csv")
    write_csv(test.merge(sizes[["id", *SIZE]], on="id"), private / "test.csv")
    sample = test[["id"]].assign(predicted="")
    write_csv(sample, public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{id}{kind}" for kind in KINDS for id in part["id"]])
    write_csv(sample, public / "test" / "sample_submission.csv")
    write_csv(test.set_axis(["id", "predicted"], axis=1), private / "gold_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, read_answers(private / "test.csv", ["id", "encoding", *SIZE]))
    asked = decode_masks(truth, texts(truth, "encoding"), truth["width_pixels"] * truth["height_pixels"])
    scores = dice(asked, predictions["predicted"].array)
    return sum([1.0 if score != score else score for score in scores]) / len(scores)  # both empty: 1


@hookimpl
def asked(sample: DataFrame, public: Path) -> DataFrame:
    """With the sizes, so that overlapping runs are seen."""
    information = read_csv(public / INFORMATION)
    sizes = information[SIZE].assign(id=information["image_file"].str.replace(".tiff", "", regex=False))
    return sample.merge(sizes, on="id")
