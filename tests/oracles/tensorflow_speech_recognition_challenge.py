"""TensorFlow Speech Recognition, from its sheet."""

import shutil

import pandas as pd
import py7zr
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    work = private.parent / "work"
    with py7zr.SevenZipFile(raw / "train.7z") as archive:
        archive.extractall(work)
    clips = sorted((work / "train" / "audio").rglob("*.wav"), key=lambda path: f"{path.parent.name}_{path.name}")
    train, test = train_test_split(clips, test_size=0.1, random_state=0)
    for path in train:
        folder = public / "train" / "audio" / path.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder)
    asked = public / "test" / "audio"
    asked.mkdir(parents=True)
    rows = []
    for number, path in enumerate(test):
        rows.append((f"clip_{number:08d}.wav", path.parent.name))
        shutil.copy(path, asked / rows[-1][0])
    answers = pd.DataFrame(rows, columns=["fname", "label"])
    answers.to_csv(private / "test.csv", index=False)
    answers.assign(label="silence").to_csv(public / "sample_submission.csv", index=False)
    shutil.rmtree(work)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["fname"], predictions["label"]
    predictions, truth = (table.sort_values("fname").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["fname"] == truth["fname"]).all()
    assert not predictions["label"].isna().any()
    return accuracy_score(truth["label"], predictions["label"])
