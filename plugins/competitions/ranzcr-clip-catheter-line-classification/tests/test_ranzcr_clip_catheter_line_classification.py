"""RANZCR CLiP: annotations that follow their X-rays, and nine of eleven labels."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

RANZCR = mlecore.competition("ranzcr-clip-catheter-line-classification")
ID = "StudyInstanceUID"


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("ranzcr-clip-catheter-line-classification", tmp_path_factory.mktemp("ranzcr"), size=0.1)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("ranzcr-clip-catheter-line-classification")


def test_tables_and_xrays(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(pd.read_csv(trial.raw / "train.csv"), test_size=0.1, random_state=0)
    assert (trial.public / "train.csv").read_text() == train.to_csv(index=False)
    assert (trial.private / "test.csv").read_text() == test.to_csv(index=False)
    annotations = pd.read_csv(trial.raw / "train_annotations.csv")
    kept = annotations[annotations[ID].isin(train[ID])]
    assert 0 < len(kept) < len(annotations)
    assert (trial.public / "train_annotations.csv").read_text() == kept.to_csv(index=False)
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert list(sample.columns) == [ID, *train.columns[1:10]] and (sample.iloc[:, 1:] == 0).all(axis=None)
    for part, folder in ((train, "train"), (test, "test")):
        assert {path.name.removesuffix(".jpg") for path in (trial.public / folder).iterdir()} == set(part[ID])


@pytest.mark.parametrize("seed", range(1, 4))
def test_every_label_has_both_values_in_the_test_part(tmp_path: Path, seed: int) -> None:
    from mle_comp_ranzcr_clip_catheter_line_classification import GRADED

    RANZCR.make_raw(tmp_path / "raw", seed=seed, size=0.1)
    RANZCR.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")
    assert (pd.read_csv(tmp_path / "private" / "test.csv")[GRADED].nunique() == 2).all()


def test_an_xray_that_is_missing_is_said(trial: Trial, tmp_path: Path) -> None:
    for name in ("train.csv", "train_annotations.csv"):
        (tmp_path / name).write_bytes((trial.raw / name).read_bytes())
    (tmp_path / "train").mkdir()
    with pytest.raises(DataError, match=r"\.jpg"):
        RANZCR.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


@pytest.mark.parametrize("same_part", [True, False])
def test_an_xray_twice_is_refused_within_a_part_only(tmp_path: Path, same_part: bool) -> None:
    from mle_comp_ranzcr_clip_catheter_line_classification import LABELS
    from sklearn.model_selection import train_test_split

    train, test = train_test_split(range(20), test_size=0.1, random_state=0)
    studies = [f"1.2.{number}.0" for number in range(20)]
    studies[train[0]] = studies[train[1] if same_part else test[0]]
    table = pd.DataFrame({ID: studies}).assign(**dict.fromkeys(LABELS, 0), PatientID="a")
    table.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "train_annotations.csv").write_text(f'{ID},label,data\n{studies[test[0]]},ETT - Normal,"[[1, 2]]"\n')
    (tmp_path / "train").mkdir()
    for study in studies:
        (tmp_path / "train" / f"{study}.jpg").write_bytes(study.encode())
    if same_part:
        with pytest.raises(DataError, match="1 repeated"):
            RANZCR.prepare(tmp_path, tmp_path / "public", tmp_path / "private")
        return
    RANZCR.prepare(tmp_path, tmp_path / "public", tmp_path / "private")
    images = {folder: len(list((tmp_path / "public" / folder).iterdir())) for folder in ("train", "test")}
    assert images == {"train": 18, "test": 2}
    assert len(pd.read_csv(tmp_path / "public" / "train_annotations.csv")) == 1  # its X-ray is in train as well


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    assert trial.grade(answers.iloc[:, :10].sample(frac=1, random_state=0)) == 1
    assert trial.grade(answers.assign(**{"CVC - Normal": "x", "Swan Ganz Catheter Present": None})) == 1
    one_off = answers.assign(**{"NGT - Normal": 0.5})
    assert abs(trial.grade(one_off) - (8 + 0.5) / 9) < 1e-12
    assert trial.grade(answers.assign(**{"NGT - Normal": answers["NGT - Normal"] == 1})) == 1


@pytest.mark.parametrize("value", [None, 1.0001, -0.1, "inf", "yes", "True"])
def test_graded_labels_are_probabilities(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.assign(**{"CVC - Borderline": 0.5}).astype({"CVC - Borderline": object})
    bad.loc[0, "CVC - Borderline"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="CVC - Borderline"):
        trial.grade(bad)


def test_rows_and_columns(trial: Trial, answers: pd.DataFrame) -> None:
    repeated = answers.assign(**{ID: [answers[ID][1], *answers[ID][1:]]})
    foreign = answers.assign(**{ID: ["1.2.3", *answers[ID][1:]]})
    for bad in (repeated, foreign, answers.iloc[1:], answers.iloc[:0], answers.drop(columns="ETT - Normal")):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
