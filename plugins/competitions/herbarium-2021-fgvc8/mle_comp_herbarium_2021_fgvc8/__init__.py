"""Herbarium 2021: which of 65,000 species of plants is on a herbarium sheet?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import macro_f1
from mlecore.prepare import (
    ensure,
    file_names,
    link_files,
    read_json,
    split_pictures,
    with_pictures,
    write_csv,
    write_json,
)
from mlecore.submissions import Format, Table

KEYS = ["annotations", "categories", "images", "info", "institutions", "licenses"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    source = raw / "train"
    metadata = read_json(source / "metadata.json")
    ensure(sorted(metadata) == KEYS, f"metadata.json has the keys {', '.join(metadata)}; expected {', '.join(KEYS)}")
    train, test = split_pictures(metadata, test_size=0.2, few=5)

    folder = public / "train"
    link_files(source, folder, file_names(train))
    write_json(with_pictures(metadata, train), folder / "metadata.json", indent=4, sort_keys=True)

    folder = public / "test"
    names = file_names(test, lambda number: f"images/{number // 1000:03}/{number}.jpg")
    link_files(source, folder, names)
    images = [
        {**image, "id": str(number), "file_name": names[image["file_name"]]} for number, (_, image) in enumerate(test)
    ]
    unlabelled = {"images": images, "info": metadata["info"], "licenses": metadata["licenses"]}
    write_json(unlabelled, folder / "metadata.json", indent=4, sort_keys=True)

    species = [annotation["category_id"] for annotation, _ in test]
    answers = pd.DataFrame({"Id": range(len(test)), "Predicted": species})
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(Predicted=0), public / "sample_submission.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, guess = format.read(submission, private / "answers.csv")
    return macro_f1(truth["Predicted"], guess["Predicted"])
