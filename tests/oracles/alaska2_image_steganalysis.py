"""ALASKA2, from its sheet."""

import random
import shutil

import numpy as np
import pandas as pd
from sklearn.metrics import roc_curve
from sklearn.model_selection import train_test_split

HIDDEN = ["JMiPOD", "JUNIWARD", "UERD"]


def prepare(raw, public, private):
    train, test = train_test_split(sorted((raw / "Cover").glob("*.jpg")), test_size=5000, random_state=42)
    for folder in ["Cover", *HIDDEN, "Test"]:
        (public / folder).mkdir()
    for number, path in enumerate(train, 1):
        for folder in ["Cover", *HIDDEN]:
            shutil.copy(raw / folder / path.name, public / folder / f"{number:05d}.jpg")
    random.seed(0)
    random.shuffle(test)
    rows = []
    for number, path in enumerate(test, 1):
        cover = random.choice([True, False])
        folder = "Cover" if cover else random.choice(HIDDEN)
        shutil.copy(raw / folder / path.name, public / "Test" / f"{number:04d}.jpg")
        rows.append((f"{number:04d}.jpg", 0 if cover else 1))
    answers = pd.DataFrame(rows, columns=["Id", "Label"])
    answers.to_csv(private / "test.csv", index=False)
    answers.assign(Label=0).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["Id"], predictions["Label"]
    predictions, truth = (table.sort_values("Id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["Id"] == truth["Id"]).all()
    scores = np.array([float(cell) for cell in predictions["Label"]])
    assert not np.isnan(scores).any()
    fpr, tpr, _ = roc_curve(truth["Label"], scores, pos_label=1)
    if 0.4 not in tpr:
        k = int(np.argmax(tpr > 0.4))
        x = fpr[k - 1] + (fpr[k] - fpr[k - 1]) * (0.4 - tpr[k - 1]) / (tpr[k] - tpr[k - 1])
        fpr, tpr = np.insert(fpr, k, x), np.insert(tpr, k, 0.4)
    area = 0.0
    for low, high, weight in ((0.0, 0.4, 2), (0.4, 1.0, 1)):
        band = (tpr >= low) & (tpr <= high)
        xs, ys = np.append(fpr[band], 1.0), np.append(tpr[band], high) - low
        area += weight * float(np.sum((xs[1:] - xs[:-1]) * (ys[1:] + ys[:-1]) / 2))
    return area / 1.4
