"""Hotel-ID 2021, from its sheet."""

import shutil

import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows[rows["image"] != "ce27d36c9147cc19.jpg"], test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    sample = test[["image"]].assign(hotel_id="36363 53586 18807 64314 60181")
    sample.to_csv(public / "sample_submission.csv", index=False)
    for chain, image in zip(train["chain"], train["image"], strict=True):
        (public / "train_images" / str(chain)).mkdir(parents=True, exist_ok=True)
        shutil.copy(raw / "train_images" / str(chain) / image, public / "train_images" / str(chain))
    (public / "test_images").mkdir()
    for chain, image in zip(test["chain"], test["image"], strict=True):
        shutil.copy(raw / "train_images" / str(chain) / image, public / "test_images")


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions["image"], predictions["hotel_id"]
    assert set(predictions["image"]) == set(truth["image"]) and len(predictions) == len(truth)
    predictions, truth = predictions.sort_values("image"), truth.sort_values("image")
    total = 0.0
    for said, right in zip(predictions["hotel_id"].astype(str), truth["hotel_id"].astype(str), strict=True):
        best = said.split(" ")[:5]
        total += 1 / (best.index(right) + 1) if right in best else 0
    return total / len(truth)
