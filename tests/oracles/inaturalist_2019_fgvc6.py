"""iNaturalist 2019, from its sheet."""

import json
import random
import shutil
import tarfile

import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def dump(value, path):
    with path.open("w") as file:
        json.dump(value, file, indent=4, sort_keys=True)


def prepare(raw, public, private):
    data = json.loads((raw / "train2019.json").read_text(encoding="utf-8"))
    assert set(data) == {"annotations", "categories", "images", "info", "licenses"}
    work = private.parent / "work"
    with tarfile.open(raw / "train_val2019.tar.gz") as archive:
        archive.extractall(work, filter="data")
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
            some, others = train_test_split(pairs, test_size=0.12, random_state=0)
            train += some
            test += others
    parts = {"annotations": [annotation for annotation, _ in train], "images": [image for _, image in train]}
    dump({**data, **parts}, public / "train2019.json")
    shutil.copy(raw / "val2019.json", public)
    random.Random(0).shuffle(test)
    images = [{**image, "file_name": f"test2019/{image['file_name'].split('/')[-1]}"} for _, image in test]
    dump({"images": images, "info": data["info"], "licenses": data["licenses"]}, public / "test2019.json")
    rows = [(image["id"], annotation["category_id"]) for annotation, image in test]
    answers = pd.DataFrame(rows, columns=["id", "predicted"])
    answers.to_csv(private / "answers.csv", index=False)
    answers.assign(predicted=654).to_csv(public / "kaggle_sample_submission.csv", index=False)
    with tarfile.open(public / "test2019.tar.gz", "w") as archive:
        for _, image in test:
            archive.add(work / image["file_name"], image["file_name"].split("/")[-1])
    with tarfile.open(public / "train_val2019.tar.gz", "w") as archive:
        for _, image in train:
            archive.add(work / image["file_name"], image["file_name"].removeprefix("train_val2019/"))
    shutil.rmtree(work)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["id"], predictions["predicted"]
    predictions, truth = (table.sort_values("id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["id"] == truth["id"]).all()
    said = predictions["predicted"]
    if said.dtype.kind not in "iub":
        said = [int(cell.split()[0]) for cell in said]
    labels = [int(cell) for cell in said]
    assert all(-(2**63) <= label < 2**63 for label in labels)
    return 1 - accuracy_score(truth["predicted"].tolist(), labels)
