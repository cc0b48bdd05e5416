"""BMS Molecular Translation, from its sheet."""

import shutil

import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    train, test = train_test_split(pd.read_csv(raw / "train_labels.csv"), test_size=0.2, random_state=0)
    train.to_csv(public / "train_labels.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    test.assign(InChI="InChI=1S/H2O/h1H2").to_csv(public / "sample_submission.csv", index=False)
    for name, part in (("train", train), ("test", test)):
        for id in part["image_id"]:
            folder = public / name / id[0] / id[1] / id[2]
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(raw / "train" / id[0] / id[1] / id[2] / f"{id}.png", folder)
    shutil.copy(raw / "extra_approved_InChIs.csv", public)


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["image_id"], predictions["InChI"]
    predictions, truth = (table.sort_values("image_id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["image_id"] == truth["image_id"]).all()
    pairs = zip(truth["InChI"].astype(str), predictions["InChI"].astype(str), strict=True)
    return sum(levenshtein(*pair) for pair in pairs) / len(truth)
