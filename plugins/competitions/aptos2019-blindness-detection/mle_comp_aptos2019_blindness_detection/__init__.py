"""APTOS 2019 Blindness Detection: how severe is the diabetic retinopathy on a photograph of the retina?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure_unique,
    link_files,
    quadratic_weighted_kappa,
    read_csv,
    split,
    write_csv,
)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")[["id_code", "diagnosis"]]
    ensure_unique(table["id_code"], "id_code of train.csv")
    train, test = split(table, test_size=0.1)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test[["id_code"]], public / "test.csv")
    write_csv(test.assign(diagnosis=0), public / "sample_submission.csv")
    for part, folder in ((train, "train_images"), (test, "test_images")):
        link_files(raw / "train_images", public / folder, [f"{image}.png" for image in part["id_code"]])


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return quadratic_weighted_kappa(truth["diagnosis"], predictions["diagnosis"])
