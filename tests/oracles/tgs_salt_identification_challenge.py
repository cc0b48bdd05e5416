import shutil
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(raw / "competition_data.zip") as archive:
            archive.extractall(folder)
        data = Path(folder) / "competition_data"
        rows = pd.read_csv(data / "train.csv", float_precision="round_trip").fillna("")
        train, test = train_test_split(rows, test_size=0.25, random_state=0)
        train, test = train.sort_values("id"), test.sort_values("id")
        train[["id", "rle_mask"]].to_csv(public / "train.csv", index=False)
        test[["id", "rle_mask"]].to_csv(private / "test.csv", index=False)
        test[["id"]].assign(rle_mask="1 1").to_csv(public / "sample_submission.csv", index=False)
        for folder_name in ("train/images", "train/masks", "test/images"):
            (public / folder_name).mkdir(parents=True)
        for name in train["id"]:
            shutil.copy(data / "train" / "images" / f"{name}.png", public / "train" / "images")
            shutil.copy(data / "train" / "masks" / f"{name}.png", public / "train" / "masks")
        for name in test["id"]:
            shutil.copy(data / "train" / "images" / f"{name}.png", public / "test" / "images")
    depths = pd.read_csv(raw / "depths.csv", float_precision="round_trip")
    depths[depths["id"].isin(train["id"])].sort_values("id").to_csv(public / "depths.csv", index=False)


def decode(text):
    mask = np.zeros(101 * 101, dtype=int)
    if not text.strip():
        return mask
    numbers = [int(piece) for piece in text.split()]
    starts, lengths = numbers[0::2], numbers[1::2]
    if len(numbers) == 1:
        assert starts[0] > 0
        return mask
    if len(numbers) == 3:
        lengths = [lengths[0], lengths[0]]
    assert len(starts) == len(lengths)
    assert starts == sorted(starts)
    for start, length in zip(starts, lengths, strict=True):
        assert start > 0 and length > 0
        assert not mask[start - 1 : start - 1 + length].any()
        mask[start - 1 : start - 1 + length] = 1
    return mask


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip").fillna("")
    assert set(predictions.columns) == {"id", "rle_mask"} and len(predictions.columns) == 2
    assert len(predictions) == len(truth)
    predictions = predictions.astype(object).where(predictions.notna(), "")
    assert all(isinstance(cell, str) for name in predictions for cell in predictions[name])
    predictions, truth = predictions.sort_values("id"), truth.sort_values("id")
    assert (predictions["id"].to_numpy() == truth["id"].to_numpy()).all()
    scores = []
    for said, right in zip(predictions["rle_mask"], truth["rle_mask"], strict=True):
        p, t = decode(said), decode(right)
        if not t.any():
            scores.append(0.0 if p.any() else 1.0)
            continue
        iou = t.sum() / 10201 if not p.any() else (t & p).sum() / (t | p).sum()
        # share of nominal thresholds that are strictly below; fractions, so that 0.75 is no hit of itself
        scores.append(sum(round(iou * 10**12) > k * 10**10 for k in range(50, 100, 5)) / 10)
    return float(np.mean(scores))
