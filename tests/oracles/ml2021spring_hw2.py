import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    source, target = raw / "timit_11" / "timit_11", public / "timit_11" / "timit_11"
    target.mkdir(parents=True)
    rows, labels, other = (np.load(source / f"{name}.npy") for name in ("train_11", "train_label_11", "test_11"))
    share = len(other) / (len(rows) + len(other))
    train, test = train_test_split(range(len(rows)), test_size=share, random_state=0)
    np.save(target / "train_11.npy", rows[train])
    np.save(target / "train_label_11.npy", labels[train])
    np.save(target / "test_11.npy", rows[test])
    answers = pd.DataFrame({"Id": range(len(test)), "ClassId": labels[test]})
    answers.to_csv(private / "answers.csv", index=False)
    answers.assign(ClassId=0).to_csv(public / "sampleSubmission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions = predictions[["Id", "ClassId"]].sort_values("Id")
    truth = truth.sort_values("Id")
    assert (predictions["Id"].to_numpy() == truth["Id"].to_numpy()).all()
    return float(accuracy_score(truth["ClassId"], predictions["ClassId"]))
