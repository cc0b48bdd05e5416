"""OSIC Pulmonary Fibrosis, from its sheet."""

import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    groups = [part for _, part in rows.groupby("Patient")]
    train, test = (pd.concat(part) for part in train_test_split(groups, test_size=0.1, random_state=0))
    train.to_csv(public / "train.csv", index=False)
    first = test.sort_values("Weeks").groupby("Patient").first().reset_index()[rows.columns]
    first.to_csv(public / "test.csv", index=False)
    weeks = range(test["Weeks"].min(), test["Weeks"].max() + 1)
    pairs = pd.DataFrame([(p, w) for p in test["Patient"].unique() for w in weeks], columns=["Patient", "Weeks"])
    answers = pairs.merge(test, on=["Patient", "Weeks"], how="left")
    assert len(answers) == len(pairs)
    answers["Patient_Week"] = answers["Patient"] + "_" + answers["Weeks"].astype(str)
    answers["Confidence"] = 100
    answers.to_csv(private / "test.csv", index=False)
    sample = answers[["Patient_Week"]].assign(FVC=2000, Confidence=100)
    sample.to_csv(public / "sample_submission.csv", index=False)
    for name, part in (("train", train), ("test", test)):
        for patient in part["Patient"].unique():
            shutil.copytree(raw / "train" / patient, public / name / patient)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions["Patient_Week"]
    for name in ("FVC", "Confidence"):
        assert predictions[name].dtype.kind in "iufb"
    assert predictions["Patient_Week"].isin(truth["Patient_Week"]).all()
    seen = truth.dropna(subset=["FVC"]).copy()
    seen["week"] = seen["Patient_Week"].str.split("_").str[-1].astype(int)
    last = seen.sort_values("week").groupby("Patient").tail(3)
    predictions = predictions[predictions["Patient_Week"].isin(last["Patient_Week"])].sort_values("Patient_Week")
    last = last[last["Patient_Week"].isin(predictions["Patient_Week"])].sort_values("Patient_Week")
    sigma = np.maximum(predictions["Confidence"].astype(float).fillna(0).to_numpy(), 70)
    delta = np.minimum(np.abs(last["FVC"].to_numpy() - predictions["FVC"].astype(float).to_numpy()), 1000)
    return float(np.mean(-np.sqrt(2) * delta / sigma - np.log(np.sqrt(2) * sigma)))
