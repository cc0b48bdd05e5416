"""Cassava Leaf Disease Classification: which disease does a plant have? Split by file of records."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    accuracy,
    ensure,
    ensure_columns,
    ensure_disjoint,
    ensure_unique,
    link_file,
    link_files,
    read_csv,
    split,
    write_csv,
)
from mlecore_toolkit.prepare.tfrecords import read_tfrecords


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    files = sorted(path for path in (raw / "train_tfrecords").glob("*.tfrec") if path.is_file())
    parts = split(files, test_size=0.1)
    train_ids, test_ids = ([name for path in part for name, _ in read_tfrecords(path, "image_name")] for part in parts)
    ensure_disjoint(train_ids, test_ids, "images of the records")

    table = read_csv(raw / "train.csv")
    ensure_columns(table, ["image_id", "label"], "train.csv")
    ensure_unique(table["image_id"], "images of train.csv")
    in_test = table["image_id"].isin(test_ids)
    train, test = table[~in_test], table[in_test]
    ensure(len(test) == len(test_ids), f"{len(test_ids)} test records, of which train.csv names {len(test)}")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.assign(label=4), public / "sample_submission.csv")

    for kind, rows, records in (("train", train, parts[0]), ("test", test, parts[1])):
        for number, path in enumerate(records):
            count = path.stem.split("-")[1]
            link_file(path, public / f"{kind}_tfrecords" / f"ld_{kind}{number:02}-{count}.tfrec")
        link_files(raw / "train_images", public / f"{kind}_images", rows["image_id"])
    link_file(raw / "label_num_to_disease_map.json", public / "label_num_to_disease_map.json")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return accuracy(truth["label"], predictions["label"])
