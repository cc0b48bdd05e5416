import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.drop(columns="selected_text").to_csv(public / "test.csv", index=False)
    sample = test[["textID", "selected_text"]].copy()
    sample["selected_text"] = ""
    sample.to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert {"textID", "selected_text"} <= set(predictions.columns)
    assert len(predictions) == len(truth)
    predictions, truth = predictions.sort_values("textID"), truth.sort_values("textID")
    assert (predictions["textID"].to_numpy() == truth["textID"].to_numpy()).all()
    total = 0.0
    for said, right in zip(predictions["selected_text"].tolist(), truth["selected_text"].tolist(), strict=True):
        a = set(("" if pd.isna(said) else str(said)).lower().split())
        b = set(("" if pd.isna(right) else str(right)).lower().split())
        total += len(a & b) / (len(a) + len(b) - len(a & b))
    return total / len(truth)
