"""Speech commands: clips that tell nothing of their place, and labels that are folder names."""

from __future__ import annotations

from mlecore_testing import Trial
from pandas import DataFrame


def test_test_clips_do_not_tell_their_place_in_the_archive(trial: Trial, answers: DataFrame) -> None:
    times = [(trial.public / "test" / "audio" / name).stat().st_mtime_ns for name in answers["fname"]]
    assert times == sorted(times)
    assert min(times) > (trial.raw / "train.7z").stat().st_mtime_ns


def test_case_and_blanks_count(trial: Trial, answers: DataFrame) -> None:
    for odd in (answers["label"].str.upper(), answers["label"] + " "):
        assert trial.grade(answers.assign(label=odd)) == 0
    assert trial.grade(answers.assign(label="silence")) == 0
