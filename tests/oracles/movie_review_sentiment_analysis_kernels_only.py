"""Movie Review Sentiment Analysis, from its sheet."""

import zipfile

import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    with zipfile.ZipFile(raw / "train.tsv.zip") as archive, archive.open("train.tsv") as file:
        rows = pd.read_csv(file, sep="\t")
    train, test = train_test_split(rows, test_size=0.3, random_state=0)
    test.to_csv(private / "answers.csv", index=False)
    test[["PhraseId", "Sentiment"]].assign(Sentiment=2).to_csv(public / "sampleSubmission.csv", index=False)
    for name, part in (("train.tsv", train), ("test.tsv", test.drop(columns="Sentiment"))):
        with zipfile.ZipFile(public / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, part.to_csv(sep="\t", index=False))


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["PhraseId"], predictions["Sentiment"]
    predictions, truth = (table.sort_values("PhraseId").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["PhraseId"] == truth["PhraseId"]).all()
    return accuracy_score(truth["Sentiment"], predictions["Sentiment"])
