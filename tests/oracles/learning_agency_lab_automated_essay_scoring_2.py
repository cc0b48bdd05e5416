import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "answers.csv", index=False)
    test.drop(columns="score").to_csv(public / "test.csv", index=False)
    sample = test[["essay_id"]].copy()
    sample["score"] = np.random.RandomState(42).randint(1, 7, size=len(test))
    sample.to_csv(public / "sample_submission.csv", index=False)
    assert not set(train["essay_id"]) & set(test["essay_id"])
    assert list(rows.columns) == ["essay_id", "full_text", "score"]


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert len(predictions)
    predictions, truth = predictions.sort_values("essay_id"), truth.sort_values("essay_id")
    assert (predictions["essay_id"].to_numpy() == truth["essay_id"].to_numpy()).all()
    # the sheet does not say which comes first; only labels of 2^63 and more tell the difference
    return cohen_kappa_score(predictions["score"].to_numpy(), truth["score"].to_numpy(), weights="quadratic")
