"""Cassava: the split follows the files of records."""

from __future__ import annotations

import pandas as pd
from mlecore_testing import Trial

from mlecore.prepare.tfrecords import read_records


def test_the_split_is_that_of_the_sheet(trial: Trial, answers: pd.DataFrame) -> None:
    raw = trial.raw / "train_tfrecords"
    files = {int(path.stem[8:10]): path.read_bytes() for path in raw.glob("*.tfrec")}
    for kind, numbers in (("train", [8, 9, 13, 4, 2, 14, 10, 7, 15, 11, 3, 0, 5, 12]), ("test", [1, 6])):
        made = sorted((trial.public / f"{kind}_tfrecords").iterdir())
        assert [path.read_bytes() for path in made] == [files[number] for number in numbers]
        counts = [11 if number == 15 else 12 for number in numbers]
        assert [path.name for path in made] == [f"ld_{kind}{i:02}-{count}.tfrec" for i, count in enumerate(counts)]
    table = pd.read_csv(trial.raw / "train.csv")
    tested = {
        name for number in (1, 6) for name, _ in read_records(raw / f"ld_train{number:02}-12.tfrec", "image_name")
    }
    assert answers["image_id"].tolist() == [image for image in table["image_id"] if image in tested]
    assert {path.name for path in (trial.public / "test_images").iterdir()} == tested
