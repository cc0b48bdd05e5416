"""SIIM-ISIC Melanoma Classification: does an image of a lesion of the skin show melanoma?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_columns, link_file, link_files, read_csv, roc_auc, write_csv
from mlecore_toolkit.prepare.tfrecords import read_tfrecords

if TYPE_CHECKING:
    from pandas import DataFrame

KNOWN = ["image_name", "patient_id", "sex", "age_approx", "anatom_site_general_challenge"]
COLUMNS = [*KNOWN, "diagnosis", "benign_malignant", "target"]
TEST_RECORDS = ("train00-2071.tfrec", "train06-2071.tfrec")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv", float_precision=None)
    ensure_columns(table, COLUMNS, "train.csv")
    chosen = {name for file in TEST_RECORDS for name, _ in read_tfrecords(raw / "tfrecords" / file, "image_name")}
    in_test = table["image_name"].isin(chosen)
    write_tables(raw, public, private, table[~in_test], table[in_test])
    counted = {"train": 0, "test": 0}
    for file in sorted((raw / "tfrecords").glob("train*.tfrec")):
        part_of = "test" if file.name in TEST_RECORDS else "train"
        images = file.stem.split("-")[1]
        link_file(file, public / "tfrecords" / f"{part_of}{counted[part_of]:02d}-{images}.tfrec")
        counted[part_of] += 1


def write_tables(raw: Path, public: Path, private: Path, train: DataFrame, test: DataFrame) -> None:
    """Tables and images, without the records."""
    write_csv(train, public / "train.csv")
    write_csv(test[KNOWN], public / "test.csv")
    write_csv(test[["image_name", "target"]], private / "test.csv")
    write_csv(test[["image_name"]].assign(target=0), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{image}.dcm" for image in part["image_name"]])
        link_files(raw / "jpeg" / "train", public / "jpeg" / folder, [f"{image}.jpg" for image in part["image_name"]])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth["target"], predictions["target"])
