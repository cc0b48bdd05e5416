import json
import tempfile
from pathlib import Path

import pandas as pd
import py7zr
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split


def unpacked(archive):
    with tempfile.TemporaryDirectory() as folder:
        with py7zr.SevenZipFile(archive) as source:
            source.extractall(folder)
        return json.loads((Path(folder) / "data" / "processed" / archive.stem).read_text())


def pack(archive, name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text)
        with py7zr.SevenZipFile(archive, "w") as target:
            target.write(path, name)


def prepare(raw, public, private):
    rows, shown = unpacked(raw / "train.json.7z"), unpacked(raw / "test.json.7z")
    train, test = train_test_split(rows, test_size=0.2, random_state=0)
    keys = list(shown[0])
    pack(public / "train.json.7z", "train.json", json.dumps(train))
    pack(public / "test.json.7z", "test.json", json.dumps([{key: row[key] for key in keys} for row in test]))
    answers = pd.DataFrame({"id": [row["id"] for row in test], "is_iceberg": [row["is_iceberg"] for row in test]})
    answers.to_csv(private / "test.csv", index=False)
    answers.assign(is_iceberg=0.5).to_csv(private / "sample_submission.csv", index=False)
    pack(
        public / "sample_submission.csv.7z",
        "sample_submission.csv",
        (private / "sample_submission.csv").read_text(),
    )
    assert not {row["id"] for row in train} & {row["id"] for row in test}
    assert all(set(row) == set(rows[0]) for row in rows)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert {"id", "is_iceberg"} <= set(predictions.columns)
    assert set(predictions["id"]) == set(truth["id"])
    assert ((predictions["is_iceberg"] >= 0) & (predictions["is_iceberg"] <= 1)).all()
    predictions, truth = predictions.sort_values("id"), truth.sort_values("id")
    return log_loss(truth["is_iceberg"].to_numpy(), predictions["is_iceberg"].to_numpy().astype(float))
