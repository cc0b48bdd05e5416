"""Plant Seedlings, from its sheet."""

import shutil

import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = [
        (file, species)
        for species in sorted(path.name for path in (raw / "train").iterdir())
        if (raw / "train" / species).is_dir()
        for file in sorted(path.name for path in (raw / "train" / species).iterdir())
        if file.endswith(".png")
    ]
    train, test = train_test_split(pd.DataFrame(rows, columns=["file", "species"]), test_size=0.14, random_state=0)
    test.to_csv(private / "answers.csv", index=False)
    test.assign(species="Sugar beet").to_csv(public / "sample_submission.csv", index=False)
    for file, species in train.itertuples(index=False):
        (public / "train" / species).mkdir(parents=True, exist_ok=True)
        shutil.copy(raw / "train" / species / file, public / "train" / species)
    (public / "test").mkdir()
    for file, species in test.itertuples(index=False):
        shutil.copy(raw / "train" / species / file, public / "test")


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    predictions["file"], predictions["species"]
    assert len(predictions) == len(truth)
    predictions, truth = (table.sort_values("file").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["file"] == truth["file"]).all()
    said = predictions["species"]
    assert any(isinstance(cell, str) for cell in said)
    return float((said == truth["species"]).mean())
