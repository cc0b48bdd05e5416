import shutil

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype
from sklearn.model_selection import train_test_split

VOTES = ["seizure_vote", "lpd_vote", "gpd_vote", "lrda_vote", "grda_vote", "other_vote"]


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train_ids, _ = train_test_split(rows["spectrogram_id"].unique(), test_size=0.1, random_state=0)
    train = rows[rows["spectrogram_id"].isin(train_ids)]
    test = rows[~rows["spectrogram_id"].isin(train_ids)]
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test[["spectrogram_id", "eeg_id", "patient_id"]].to_csv(public / "test.csv", index=False)
    gold = test[["eeg_id", *VOTES]].copy()
    gold[VOTES] = gold[VOTES].div(gold[VOTES].sum(axis=1), axis=0)
    gold.to_csv(private / "gold_submission.csv", index=False)
    gold[VOTES] = 1 / 6
    gold.to_csv(public / "sample_submission.csv", index=False)
    shutil.copytree(raw / "example_figures", public / "example_figures")
    for part, name in ((train, "train"), (test, "test")):
        for kind, column in (("eegs", "eeg_id"), ("spectrograms", "spectrogram_id")):
            folder = public / f"{name}_{kind}"
            folder.mkdir()
            for id in part[column].unique():
                shutil.copy(raw / f"train_{kind}" / f"{id}.parquet", folder / f"{id}.parquet")


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert {"eeg_id", *VOTES} <= set(predictions.columns)
    assert len(predictions) == len(truth)
    for total in predictions[VOTES].sum(axis=1):
        assert round(float(total), 5) == 1
    assert set(predictions["eeg_id"]) == set(truth["eeg_id"])
    others = predictions.drop(columns="eeg_id")
    for name in others.columns:
        assert is_numeric_dtype(others[name]) and not is_bool_dtype(others[name])
    assert not (others < 0).any(axis=None) and not (others > 1).any(axis=None)
    assert np.allclose(others.sum(axis=1), 1)
    predictions, truth = predictions.sort_values("eeg_id"), truth.sort_values("eeg_id")
    votes = truth[VOTES].to_numpy(dtype=float)
    shares = votes / votes.sum(axis=1, keepdims=True)
    score = np.zeros(len(truth))
    for place, name in enumerate(VOTES):
        q = shares[:, place]
        p = predictions[name].to_numpy(dtype=float)
        if not is_integer_dtype(predictions[name]):
            p = np.clip(p, 1e-15, 1 - 1e-15)
        with np.errstate(divide="ignore", invalid="ignore"):
            term = np.where(q == 0, 0.0, q * np.log(q / p))
        score += np.where(np.isnan(p), 0.0, term)
    return score.mean()
