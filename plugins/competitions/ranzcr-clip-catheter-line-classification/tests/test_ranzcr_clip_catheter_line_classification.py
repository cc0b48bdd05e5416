"""RANZCR CLiP: annotations that follow their X-rays, and nine of eleven labels."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from mle_comp_ranzcr_clip_catheter_line_classification import GRADED, ID, LABELS
from mlecore_testing import Trial


def test_annotations_follow_their_xrays(trial: Trial) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    annotations = pd.read_csv(trial.raw / "train_annotations.csv")
    kept = annotations[annotations[ID].isin(train[ID])]
    assert 0 < len(kept) < len(annotations)
    assert (trial.public / "train_annotations.csv").read_text() == kept.to_csv(index=False)
    assert {path.name.removesuffix(".jpg") for path in (trial.public / "train").iterdir()} == set(train[ID])


@pytest.mark.parametrize("same_part", [True, False])
def test_an_xray_twice_is_refused_within_a_part_only(trial: Trial, tmp_path: Path, same_part: bool) -> None:
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
        trial.refuses_raw(tmp_path, "1 repeated")
        return
    public, _ = trial.prepare(tmp_path)
    images = {folder: len(list((public / folder).iterdir())) for folder in ("train", "test")}
    assert images == {"train": 18, "test": 2}
    assert len(pd.read_csv(public / "train_annotations.csv")) == 1  # its X-ray is in train as well


def test_nine_of_eleven_labels_are_graded(trial: Trial, answers: pd.DataFrame) -> None:
    assert (answers[GRADED].nunique() == 2).all()
    assert trial.grade(answers[[*GRADED, ID]]) == 1
    assert trial.grade(answers.assign(**{"CVC - Normal": "x", "Swan Ganz Catheter Present": None})) == 1
    assert abs(trial.grade(answers.assign(**{"NGT - Normal": 0.5})) - (8 + 0.5) / 9) < 1e-12
