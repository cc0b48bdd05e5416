"""Speech commands: clips that tell nothing of their place."""

from __future__ import annotations

from pandas import DataFrame

from mlecore_testing import Trial


def test_test_clips_do_not_tell_their_place_in_the_archive(trial: Trial, answers: DataFrame) -> None:
    times = [(trial.public / "test" / "audio" / name).stat().st_mtime_ns for name in answers["fname"]]
    assert times == sorted(times)
    assert min(times) > (trial.raw / "train.7z").stat().st_mtime_ns
