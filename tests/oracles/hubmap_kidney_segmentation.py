import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

INFORMATION = "HuBMAP-20-dataset_information.csv"


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, train_size=12, test_size=3, random_state=0)
    assert len(train) + len(test) == len(rows)
    information = pd.read_csv(raw / INFORMATION, float_precision="round_trip")
    ids = information["image_file"].str.replace(".tiff", "", regex=False)
    information[ids.isin(rows["id"])].to_csv(public / INFORMATION, index=False)
    train.to_csv(public / "train.csv", index=False)
    sizes = information.assign(id=ids)[["id", "width_pixels", "height_pixels"]]
    answers = test.merge(sizes, on="id", how="left")
    answers[["id", "encoding", "width_pixels", "height_pixels"]].to_csv(private / "test.csv", index=False)
    gold = test.rename(columns={"encoding": "predicted"})
    gold.to_csv(private / "gold_submission.csv", index=False)
    (public / "test").mkdir()
    (public / "train").mkdir()
    for name in ("sample_submission.csv", "test/sample_submission.csv"):
        gold.assign(predicted="").to_csv(public / name, index=False)
    for part, folder in ((train, "train"), (test, "test")):
        for name in part["id"]:
            for end in (".tiff", ".json", "-anatomical-structure.json"):
                shutil.copy(raw / "train" / f"{name}{end}", public / folder)


def decode(text, size):
    mask = np.zeros(size, dtype=bool)
    numbers = [int(token) for token in text.split()]
    starts, lengths = numbers[0::2], numbers[1::2]
    assert starts == sorted(starts)
    assert all(start > 0 for start in starts) and all(length > 0 for length in lengths)
    if len(numbers) == 1:
        return mask
    if len(numbers) == 3:
        lengths = lengths * 2
    assert len(starts) == len(lengths)
    for start, length in zip(starts, lengths, strict=True):
        assert not mask[start - 1 : start - 1 + length].any()
        mask[start - 1 : start - 1 + length] = True
    return mask


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions = predictions[["id", "predicted"]]
    assert len(predictions) == len(truth) and set(predictions["id"]) == set(truth["id"])
    predictions, truth = predictions.sort_values("id"), truth.sort_values("id")
    filled = predictions["predicted"].dropna()
    assert all(isinstance(cell, str) for cell in filled)
    scores = []
    cells = predictions["predicted"].astype(object).where(predictions["predicted"].notna(), "")
    for said, right, height, width in zip(
        cells, truth["encoding"], truth["height_pixels"], truth["width_pixels"], strict=True
    ):
        x, y = decode(said, height * width), decode(right, height * width)
        both = x.sum() + y.sum()
        scores.append(2 * (x & y).sum() / both if both else 1.0)
    return float(np.mean(scores))
