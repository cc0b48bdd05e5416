import shutil
import zipfile

import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    train.to_csv(public / "train.csv", index=False)
    test.to_csv(private / "test.csv", index=False)
    shutil.copy(raw / "unicode_translation.csv", public)
    test[["image_id"]].assign(labels="U+003F 1 1 U+FF2F 2 2").to_csv(public / "sample_submission.csv", index=False)
    with zipfile.ZipFile(raw / "train_images.zip") as images:
        for name, part in (("train", train), ("test", test)):
            with zipfile.ZipFile(public / f"{name}_images.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for page in part["image_id"]:
                    archive.writestr(f"{page}.jpg", images.read(f"{page}.jpg"))
    gold = []
    for text in test["labels"]:
        parts = text.split(" ")
        assert len(parts) % 5 == 0
        boxes = zip(*[iter(parts)] * 5, strict=True)
        gold.append(" ".join(f"{code} {int(x) + 1} {int(y) + 1}" for code, x, y, _, _ in boxes))
    test[["image_id"]].assign(labels=gold).to_csv(private / "gold_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    assert {"image_id", "labels"} <= set(predictions.columns)
    predictions, truth = predictions.sort_values("image_id"), truth.sort_values("image_id")
    assert (predictions["image_id"].to_numpy() == truth["image_id"].to_numpy()).all()
    tp = fp = fn = 0
    for said, right in zip(predictions["labels"], truth["labels"], strict=True):
        boxes, points = [], []
        if not pd.isna(right):
            parts = right.split(" ")
            boxes = [(c, *map(float, numbers)) for c, *numbers in zip(*[iter(parts)] * 5, strict=True)]
        if not pd.isna(said):
            parts = said.split(" ")
            assert len(parts) % 3 == 0
            points = [(c, float(x), float(y)) for c, x, y in zip(*[iter(parts)] * 3, strict=True)]
        used = set()
        for code, x, y, w, h in boxes:
            for i, (c, px, py) in enumerate(points):
                if i not in used and c == code and x < px < x + w and y < py < y + h:
                    used.add(i)
                    tp += 1
                    break
            else:
                fn += 1
        fp += len(points) - len(used)
    if tp + fp == 0 or tp + fn == 0 or tp == 0:
        return 0.0
    p, r = tp / (tp + fp), tp / (tp + fn)
    return 2 * p * r / (p + r)
