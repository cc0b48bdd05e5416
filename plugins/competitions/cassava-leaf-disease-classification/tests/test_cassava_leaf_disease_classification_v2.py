"""Cassava, edition v2: test records do not hold the label; all else is as in v1."""

from __future__ import annotations

import pytest

from mlecore_testing import Trial
from mlecore_toolkit.prepare.tfrecords import read_tfrecords

pytestmark = pytest.mark.trial(edition="v2")


def records(trial: Trial, part: str) -> dict[str, list[tuple[str, bytes]]]:
    """Name and message of each record, by file."""
    paths = sorted((trial.public / f"{part}_tfrecords").iterdir())
    return {path.name: list(read_tfrecords(path, "image_name")) for path in paths}


def test_only_test_records_lost_the_label(trial: Trial, trial_v1: Trial) -> None:
    v1, v2 = records(trial_v1, "test"), records(trial, "test")
    assert {name: [image for image, _ in v1[name]] for name in v1} == {n: [image for image, _ in v2[n]] for n in v2}
    for name in v1:
        for (_, old), (_, new) in zip(v1[name], v2[name], strict=True):
            assert b"target" in old
            assert b"target" not in new
            assert 0 < len(old) - len(new) < 30  # the photograph is still there
    assert records(trial, "train") == records(trial_v1, "train")
