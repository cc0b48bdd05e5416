"""Herbarium 2022, from its sheet."""

import json
import random
import shutil

import pandas as pd
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split


def dump(value, path):
    with path.open("w") as file:
        json.dump(value, file, indent=4, sort_keys=True)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def prepare(raw, public, private):
    data = json.loads((raw / "train_metadata.json").read_text(encoding="utf-8"))
    by_category = {}
    for annotation, image in zip(data["annotations"], data["images"], strict=True):
        assert annotation["image_id"] == image["image_id"]
        by_category.setdefault(annotation["category_id"], []).append((annotation, image))
    annotations, images, asked = [], [], []
    for category, pairs in by_category.items():
        train, test = train_test_split(pairs, test_size=0.2, random_state=0)
        asked += test
        for number, (annotation, image) in enumerate(train, 1):
            id = f"{category:05d}__{number:03d}"
            name = f"{category // 100:03d}/{category % 100:02d}/{id}.jpg"
            annotations.append({**annotation, "image_id": id})
            images.append({**image, "image_id": id, "file_name": name})
            copy(raw / "train_images" / image["file_name"], public / "train_images" / name)
    dump({**data, "annotations": annotations, "images": images}, public / "train_metadata.json")
    random.Random(0).shuffle(asked)
    shown, rows = [], []
    for number, (annotation, image) in enumerate(asked):
        name = f"{number // 1000:03d}/test-{number:06d}.jpg"
        shown.append({**image, "image_id": str(number), "file_name": name})
        copy(raw / "train_images" / image["file_name"], public / "test_images" / name)
        rows.append((number, annotation["category_id"]))
    dump(shown, public / "test_metadata.json")
    answers = pd.DataFrame(rows, columns=["Id", "Predicted"])
    answers.to_csv(private / "answers.csv", index=False)
    answers.assign(Predicted=42).to_csv(public / "sample_submission.csv", index=False)


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
