"""Invasive Species Monitoring: does a photograph of a forest show the invasive hydrangea?"""

from __future__ import annotations

import tempfile
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import roc_auc
from mlecore.prepare import ZipWriter, ensure_unique, extract, pack_7z, read_csv, split, write_csv
from mlecore.submissions import Format, Table

LABELS = "train_labels.csv"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / f"{LABELS}.zip", member=LABELS)[["name", "invasive"]]
    ensure_unique(table["name"], "names of train_labels.csv")
    train, test = split(table, test_size=0.2)
    sample = test.assign(invasive=0.5)
    write_csv(test, private / "answers.csv")
    write_csv(sample, private / "sample_submission.csv")
    for part, name in ((train, LABELS), (sample, "sample_submission.csv")):
        with ZipWriter(public / f"{name}.zip") as archive, archive.open(name) as stream:
            write_csv(part, stream)
    with tempfile.TemporaryDirectory(dir=private) as folder:
        images = [f"train/{name}.jpg" for name in table["name"]]
        extract(raw / "train.7z", Path(folder), dict(zip(images, images, strict=True)))
        for part, name in ((train, "train"), (test, "test")):  # published empty, by a slip
            names = {f"train/{image}.jpg": f"{name}/{image}.jpg" for image in part["name"]}
            pack_7z(Path(folder), public / f"{name}.7z", names)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return roc_auc(truth["invasive"], predictions["invasive"])
