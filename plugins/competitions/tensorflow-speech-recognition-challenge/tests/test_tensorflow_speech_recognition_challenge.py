"""Speech commands: clips out of the archive, and labels that are folder names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pandas import DataFrame

from mlecore.errors import InvalidSubmission
from mlecore.prepare import extract
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_the_split_is_that_of_the_sheet(trial: Trial, answers: DataFrame, tmp_path: Path) -> None:
    extract(trial.raw / "train.7z", tmp_path)
    clips = sorted(tmp_path.glob("train/audio/*/*.wav"), key=lambda path: f"{path.parent.name}_{path.name}")
    order = np.random.RandomState(0).permutation(len(clips))
    test = [clips[place] for place in order[: len(answers)]]
    assert len(answers) == -(-len(clips) // 10)
    assert answers["label"].tolist() == [path.parent.name for path in test]
    assert answers["fname"].tolist() == [f"clip_{i:08}.wav" for i in range(len(test))]
    for path, name in zip(test, answers["fname"], strict=True):
        assert (trial.public / "test" / "audio" / name).read_bytes() == path.read_bytes()
    kept = {path.relative_to(tmp_path) for path in clips} - {path.relative_to(tmp_path) for path in test}
    assert {path.relative_to(trial.public) for path in trial.public.glob("train/**/*") if path.is_file()} == kept


def test_test_clips_do_not_tell_their_place_in_the_archive(trial: Trial, answers: DataFrame) -> None:
    times = [(trial.public / "test" / "audio" / name).stat().st_mtime_ns for name in answers["fname"]]
    assert times == sorted(times)
    assert min(times) > (trial.raw / "train.7z").stat().st_mtime_ns


def test_case_and_blanks_count(trial: Trial, answers: DataFrame) -> None:
    for odd in (answers["label"].str.upper(), answers["label"] + " "):
        assert trial.grade(answers.assign(label=odd)) == 0
    assert trial.grade(answers.assign(label="silence")) == 0


@pytest.mark.parametrize("value", [1, True, None])
def test_labels_must_be_text(trial: Trial, answers: DataFrame, value: object) -> None:
    with pytest.raises(InvalidSubmission):
        trial.grade(answers.assign(label=value))
    answers.loc[0, "label"] = None
    with pytest.raises(InvalidSubmission):
        trial.grade(answers)
