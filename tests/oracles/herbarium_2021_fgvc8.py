"""Herbarium 2021, from its sheet."""

import json
import random
import shutil

import pandas as pd
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split


def dump(value, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        json.dump(value, file, indent=4, sort_keys=True)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def prepare(raw, public, private):
    data = json.loads((raw / "train" / "metadata.json").read_text(encoding="utf-8"))
    assert set(data) == {"annotations", "categories", "images", "info", "institutions", "licenses"}
    by_category = {}
    for annotation, image in zip(data["annotations"], data["images"], strict=True):
        assert annotation["image_id"] == image["id"]
        by_category.setdefault(annotation["category_id"], []).append((annotation, image))
    train, test = [], []
    for pairs in by_category.values():
        if len(pairs) == 1:
            train += pairs
        elif len(pairs) < 5:
            train += pairs[:-1]
            test += pairs[-1:]
        else:
            some, others = train_test_split(pairs, test_size=0.2, random_state=0)
            train += some
            test += others
    for _, image in train:
        copy(raw / "train" / image["file_name"], public / "train" / image["file_name"])
    parts = {"annotations": [annotation for annotation, _ in train], "images": [image for _, image in train]}
    dump({**data, **parts}, public / "train" / "metadata.json")
    random.Random(0).shuffle(test)
    images, rows = [], []
    for number, (annotation, image) in enumerate(test):
        name = f"images/{number // 1000:03d}/{number}.jpg"
        copy(raw / "train" / image["file_name"], public / "test" / name)
        images.append({**image, "id": str(number), "file_name": name})
        rows.append((number, annotation["category_id"]))
    dump({"images": images, "info": data["info"], "licenses": data["licenses"]}, public / "test" / "metadata.json")
    answers = pd.DataFrame(rows, columns=["Id", "Predicted"])
    answers.to_csv(private / "answers.csv", index=False)
    answers.assign(Predicted=0).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["Id"], predictions["Predicted"]
    predictions, truth = (table.sort_values("Id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["Id"] == truth["Id"]).all()
    labels = [int(value) for value in predictions["Predicted"].tolist()]
    assert all(-(2**63) <= label < 2**63 for label in labels)
    return f1_score(truth["Predicted"].tolist(), labels, average="macro")
