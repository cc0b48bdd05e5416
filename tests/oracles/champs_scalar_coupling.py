"""Predicting Molecular Properties, from its sheet."""

import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

TABLES = [
    "structures",
    "dipole_moments",
    "magnetic_shielding_tensors",
    "mulliken_charges",
    "potential_energy",
    "scalar_coupling_contributions",
]


def read(path):
    return pd.read_csv(path, float_precision="round_trip")


def prepare(raw, public, private):
    table = read(raw / "train.csv")
    groups = [group for _, group in table.groupby("molecule_name")]
    train, test = (pd.concat(part) for part in train_test_split(groups, test_size=0.1, random_state=0))
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "answers.csv", index=False)
    test.drop(columns="scalar_coupling_constant").to_csv(public / "test.csv", index=False)
    test[["id"]].assign(scalar_coupling_constant=0).to_csv(public / "sample_submission.csv", index=False)
    molecules = set(train["molecule_name"])
    for name in TABLES:
        part = read(raw / f"{name}.csv")
        part[part["molecule_name"].isin(molecules)].to_csv(public / f"{name}.csv", index=False)
    (public / "structures").mkdir()
    for molecule in molecules:
        shutil.copy(raw / "structures" / f"{molecule}.xyz", public / "structures")


def grade(submission, private):
    predictions, truth = read(submission), read(private / "answers.csv")
    predictions = predictions[["id", "scalar_coupling_constant"]].rename(columns={"scalar_coupling_constant": "guess"})
    assert set(predictions["id"]) == set(truth["id"])
    values = predictions["guess"]
    predictions["guess"] = [float(value) for value in values] if values.dtype == object else values.astype(float)
    assert np.isfinite(predictions["guess"]).all()
    both = truth.merge(predictions, on="id")
    errors = (both["scalar_coupling_constant"] - both["guess"]).abs().groupby(both["type"]).mean()
    return float(np.log(errors).mean())
