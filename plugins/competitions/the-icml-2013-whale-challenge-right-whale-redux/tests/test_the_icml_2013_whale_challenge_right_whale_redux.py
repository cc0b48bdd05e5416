"""Right Whale Redux: days that make the parts, clips that lose their label."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.prepare import ZipWriter
from mlecore.testing import Trial, check_competition

WHALES = mlecore.competition("the-icml-2013-whale-challenge-right-whale-redux")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("the-icml-2013-whale-challenge-right-whale-redux", tmp_path_factory.mktemp("whales"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("the-icml-2013-whale-challenge-right-whale-redux")


def test_names_by_hand(tmp_path: Path) -> None:
    clips = {
        "20090328_164500_61189s4ms_TRAIN4993_0.aif": b"a",
        "20090329_000000_900s0ms_TRAIN7_1.aif": b"b",
        "20090329_000000_1000s0ms_TRAIN12_0.aif": b"c",  # before 900s in the order of names
        "20090330_000000_015s2ms_TRAIN3_1.aif": b"d",
        "20090331_000000_020s0ms_TRAIN1_0.aif": b"e",
        "20090330_000000_9s0ms_TRAIN2_1.aif": b"f",
    }
    with ZipWriter(tmp_path / "train2.zip") as archive:
        archive.add("train2/", b"")
        for name, content in clips.items():
            archive.add(f"train2/{name}", content)
        archive.add("__MACOSX/._train2", b"not a clip")
    WHALES.prepare(tmp_path, tmp_path / "public", tmp_path / "private")
    found = {}
    for name in ("train2", "test2"):
        with zipfile.ZipFile(tmp_path / "public" / f"{name}.zip") as archive:
            found |= {member: archive.read(member) for member in archive.namelist()}
    assert found == {
        "train2/": b"",
        "test2/": b"",
        "train2/20090328_164500_61189s4ms_TRAIN0_0.aif": b"a",
        "train2/20090329_000000_1000s0ms_TRAIN1_0.aif": b"c",
        "train2/20090329_000000_900s0ms_TRAIN2_1.aif": b"b",
        "test2/20090330_000000_015s2ms_Test0.aif": b"d",
        "test2/20090330_000000_9s0ms_Test1.aif": b"f",
        "test2/20090331_000000_020s0ms_Test2.aif": b"e",
    }
    assert (tmp_path / "private" / "test.csv").read_text() == (
        "clip,probability\n20090330_000000_015s2ms_Test0.aif,1\n20090330_000000_9s0ms_Test1.aif,1\n"
        "20090331_000000_020s0ms_Test2.aif,0\n"
    )
    assert sorted(path.name for path in (tmp_path / "public").iterdir()) == [
        *("description.md", "sampleSubmission.csv", "test2.zip", "train2.zip")
    ]


def test_other_than_four_dates_is_said(tmp_path: Path) -> None:
    with ZipWriter(tmp_path / "train2.zip") as archive:
        archive.add("train2/20090328_0_1s_TRAIN0_0.aif", b"")
    with pytest.raises(DataError, match="four dates, found 1"):
        WHALES.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert set(answers["probability"]) == {0, 1}
    assert trial.grade(answers) == 1
    assert trial.grade(answers.assign(probability=0)) == 0.5
    shuffled = answers.assign(probability=answers["probability"] == 1, note="x").sample(frac=1, random_state=0)
    assert trial.grade(shuffled) == 1


@pytest.mark.parametrize("value", [None, 1.2, -0.1, "inf", "whale", "True"])
def test_probabilities_are_from_0_to_1(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.assign(probability=0.5).astype({"probability": object})
    bad.loc[0, "probability"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="'probability' must hold numbers from 0 to 1"):
        trial.grade(bad)


def test_clips_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame) -> None:
    repeated = answers.assign(clip=[answers["clip"][1], *answers["clip"][1:]])
    for bad in (repeated, answers.iloc[1:], answers.iloc[:0], answers.drop(columns="clip")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
