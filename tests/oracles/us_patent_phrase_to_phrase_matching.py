import numpy as np
import pandas as pd
from scipy.stats import pearsonr
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.drop(columns="score").to_csv(public / "test.csv", index=False)
    test[["id"]].assign(score=0).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")[["id", "score"]]
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions, truth = predictions.sort_values("id"), truth.sort_values("id")
    assert (predictions["id"].to_numpy() == truth["id"].to_numpy()).all()
    assert predictions["score"].dtype != object and len(predictions) > 1
    said = predictions["score"].astype(float)
    if not np.isfinite(said).all():
        return float("nan")
    return float(pearsonr(truth["score"], said).statistic)
