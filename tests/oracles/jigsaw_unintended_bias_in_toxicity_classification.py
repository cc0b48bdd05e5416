"""Jigsaw Unintended Bias, from its sheet."""

import shutil

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

IDENTITIES = [
    "male",
    "female",
    "homosexual_gay_or_lesbian",
    "christian",
    "jewish",
    "muslim",
    "black",
    "white",
    "psychiatric_or_mental_illness",
]


def prepare(raw, public, private):
    shutil.copy(raw / "test_private_expanded.csv", private / "test.csv")
    shutil.copy(raw / "train.csv", public)
    rows = pd.read_csv(raw / "test_private_expanded.csv", float_precision="round_trip")
    assert len(rows.columns) == 45
    rows[["id", "comment_text"]].to_csv(public / "test.csv", index=False)
    rows[["id"]].assign(prediction=0.0).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    (name,) = {"prediction", "toxicity"} & set(predictions.columns)
    predictions["id"]
    predictions, truth = (table.sort_values("id").reset_index(drop=True) for table in (predictions, truth))
    assert len(predictions) == len(truth) and (predictions["id"] == truth["id"]).all()
    said = (predictions[name] >= 0.5).to_numpy().astype(int)
    toxic = (truth["toxicity"] >= 0.5).to_numpy()

    def auc(rows):
        return float(roc_auc_score(toxic[rows], said[rows]))

    kinds = [[], [], []]
    for identity in IDENTITIES:
        mentioned = (truth[identity] >= 0.5).to_numpy()
        for found, rows in zip(kinds, (mentioned, toxic != mentioned, toxic == mentioned), strict=True):
            found.append(auc(rows))
    means = [(sum(value**-5.0 for value in found) / 9) ** (-1 / 5) for found in kinds]
    return 0.25 * auc(np.ones(len(truth), bool)) + 0.25 * sum(means)
