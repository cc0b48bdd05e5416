import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=["answer_start", "answer_text"]).to_csv(public / "test.csv", index=False)
    answers = test[["id", "answer_text"]].rename(columns={"answer_text": "PredictionString"})
    answers.to_csv(private / "test.csv", index=False)
    answers.assign(PredictionString="dummy text").to_csv(public / "sample_submission.csv", index=False)


def words(table):
    column = table["PredictionString"]
    column = column.astype(object).where(column.notna(), "")
    return [set(cell.lower().split()) for cell in column]


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")[["id", "PredictionString"]]
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions, truth = predictions.sort_values("id"), truth.sort_values("id")
    assert (predictions["id"].to_numpy() == truth["id"].to_numpy()).all()
    said, right = words(predictions), words(truth)
    assert len(set().union(*said, *right)) > 1
    scores = [len(a & b) / len(a | b) if a | b else 0.0 for a, b in zip(said, right, strict=True)]
    return sum(scores) / len(scores)
