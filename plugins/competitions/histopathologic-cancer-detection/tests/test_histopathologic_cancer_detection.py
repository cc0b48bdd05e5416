"""Histopathologic Cancer Detection: a ratio that hangs on unlabelled patches, tables in file order."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from mlecore_testing import Trial


def test_unlabelled_patches_set_the_ratio_and_tables_keep_file_order(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    table = pd.read_csv(trial.raw / "train_labels.csv")
    unlabelled = len(list((trial.raw / "test").iterdir()))
    train, test = train_test_split(table["id"], test_size=unlabelled / (len(table) + unlabelled), random_state=0)
    for ids, name, folder in ((train, "public/train_labels.csv", "train"), (test, "private/answers.csv", "test")):
        part = table[table["id"].isin(ids)]
        assert (trial.prepared / name).read_text() == part.to_csv(index=False)
        assert {path.stem for path in (trial.public / folder).iterdir()} == set(part["id"])


def test_tables_have_id_and_label_only(trial: Trial) -> None:
    raw = trial.raw_copy()
    table = pd.read_csv(raw / "train_labels.csv")
    table.assign(note="x")[["note", "label", "id"]].to_csv(raw / "train_labels.csv", index=False)
    public, private = trial.prepare(raw)
    for made, whole in ((public / "train_labels.csv", trial.public), (private / "answers.csv", trial.private)):
        assert made.read_bytes() == (whole / made.name).read_bytes()


def test_without_unlabelled_patches_there_is_no_split(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "train_labels.csv").write_text("id,label\na,0\nb,1\n")
    trial.refuses_raw(tmp_path, "cannot split")


def test_the_last_digit_counts(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(label=0.3 + answers["label"] * 2e-16)) == 1  # not ties
