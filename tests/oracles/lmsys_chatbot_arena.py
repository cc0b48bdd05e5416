"""LMSYS, from its sheet."""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

CLASSES = ["winner_model_a", "winner_model_b", "winner_tie"]


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    test.to_csv(private / "answers.csv", index=False)
    train.to_csv(public / "train.csv", index=False)
    test[["id", "prompt", "response_a", "response_b"]].to_csv(public / "test.csv", index=False)
    sample = test[["id", *CLASSES]].assign(**dict.fromkeys(CLASSES, 1 / 3))
    sample.to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    predictions["id"], predictions[CLASSES]
    assert len(predictions) == len(truth)
    said = predictions[CLASSES]
    assert not said.isna().any().any()
    kinds = {said[name].dtype.kind for name in CLASSES}
    assert kinds <= set("iuf") or kinds == {"b"}
    said = said.astype(float)
    assert not ((said < 0) | (said > 1)).any().any()
    assert (said.sum(axis=1).round(6) == 1).all()
    predictions, truth = (table.sort_values("id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["id"] == truth["id"]).all()
    eps = np.finfo(np.float64).eps
    p = np.clip(predictions[CLASSES].astype(float).to_numpy(), eps, 1 - eps)
    return float(-(truth[CLASSES].to_numpy() * np.log(p)).sum(axis=1).mean())
