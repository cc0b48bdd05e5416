"""SIIM-ISIC Melanoma Classification, edition v2: no answers in records, no patient in both parts."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit.prepare.tfrecords import read_tfrecords

pytestmark = pytest.mark.trial(edition="v2")


def records(trial: Trial, part: str) -> Iterator[bytes]:
    for path in sorted((trial.public / "tfrecords").glob(f"{part}*.tfrec")):
        yield from (message for _, message in read_tfrecords(path, "image_name"))


def test_test_records_hold_no_answer(trial: Trial, trial_v1: Trial) -> None:
    assert all(b"target" in record for record in records(trial_v1, "test"))
    assert all(b"target" in record for record in records(trial, "train"))
    assert not any(secret in record for record in records(trial, "test") for secret in (b"target", b"diagnosis"))


def test_each_image_is_in_the_records_of_its_part(trial: Trial) -> None:
    for part in ("train", "test"):
        paths = (trial.public / "tfrecords").glob(f"{part}*.tfrec")
        shards = {path.stem: [name for name, _ in read_tfrecords(path, "image_name")] for path in paths}
        found = [name for names in shards.values() for name in names]
        assert all(int(stem.partition("-")[2]) == len(names) for stem, names in shards.items())
        assert sorted(found) == sorted(pd.read_csv(trial.public / f"{part}.csv")["image_name"])
