"""Freesound Audio Tagging 2019, from its sheet."""

import shutil
import zipfile

import pandas as pd
from sklearn.metrics import label_ranking_average_precision_score

META = "FSDKaggle2019.meta"


def prepare(raw, public, private):
    for path in raw.iterdir():
        if META not in path.name:
            shutil.copy(path, public)
    with zipfile.ZipFile(raw / f"{META}.zip") as archive, archive.open(f"{META}/test_post_competition.csv") as file:
        clips = pd.read_csv(file)
    sample = pd.read_csv(public / "sample_submission.csv", float_precision="round_trip")
    clips = clips[clips["usage"] == "Private"]
    answers = pd.DataFrame({"fname": clips["fname"].tolist()})
    for name in sample.columns[1:]:
        answers[name] = [int(name in labels.split(",")) for labels in clips["labels"]]
    assert len(answers) == len(sample) and set(answers["fname"]) == set(sample["fname"])
    answers.to_csv(private / "test.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    assert list(predictions.columns) == list(truth.columns)
    predictions, truth = (table.sort_values("fname").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["fname"] == truth["fname"]).all()
    classes = list(truth.columns[1:])
    assert any(kind.kind != "b" for kind in predictions[classes].dtypes)
    assert all(kind.kind in "iufb" for kind in predictions[classes].dtypes)
    right = truth[classes].to_numpy()
    scores = predictions[classes].to_numpy().astype(float)
    some = right.any(axis=1)
    return label_ranking_average_precision_score(right[some], scores[some], sample_weight=right[some].sum(axis=1))
