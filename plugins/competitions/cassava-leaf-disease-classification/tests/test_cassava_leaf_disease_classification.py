"""Cassava: the split follows the files of records."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from mle_comp_cassava_leaf_disease_classification.records import names
from mlecore_testing import Trial

from mlecore.errors import DataError


def test_the_split_is_that_of_the_sheet(trial: Trial, answers: pd.DataFrame) -> None:
    raw = trial.raw / "train_tfrecords"
    files = {int(path.stem[8:10]): path.read_bytes() for path in raw.glob("*.tfrec")}
    for kind, numbers in (("train", [8, 9, 13, 4, 2, 14, 10, 7, 15, 11, 3, 0, 5, 12]), ("test", [1, 6])):
        made = sorted((trial.public / f"{kind}_tfrecords").iterdir())
        assert [path.read_bytes() for path in made] == [files[number] for number in numbers]
        counts = [11 if number == 15 else 12 for number in numbers]
        assert [path.name for path in made] == [f"ld_{kind}{i:02}-{count}.tfrec" for i, count in enumerate(counts)]
    table = pd.read_csv(trial.raw / "train.csv")
    tested = {name for number in (1, 6) for name in names(raw / f"ld_train{number:02}-12.tfrec")}
    assert answers["image_id"].tolist() == [image for image in table["image_id"] if image in tested]
    assert {path.name for path in (trial.public / "test_images").iterdir()} == tested


def test_damaged_records_are_refused(trial: Trial, tmp_path: Path) -> None:
    data = (trial.raw / "train_tfrecords/ld_train00-12.tfrec").read_bytes()
    path = tmp_path / "x.tfrec"
    for damaged in (data[:-5], b"\xff" * 40, data[:20] + b"\0" * (len(data) - 20)):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=re.escape("x.tfrec")):
            list(names(path))
    path.write_bytes(data[:8] + b"xxxx" + data[12:])  # checksums are not compared
    assert len(list(names(path))) == 12
