"""iWildCam 2020, from its sheet."""

import json
import shutil

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def records(table):
    return table.to_dict(orient="records")


def prepare(raw, public, private):
    train_json = load(raw / "iwildcam2020_train_annotations.json")
    test_json = load(raw / "iwildcam2020_test_information.json")
    assert set(train_json) == {"annotations", "images", "categories", "info"}
    assert set(test_json) == {"images", "categories", "info"}
    images, annotations = pd.DataFrame(train_json["images"]), pd.DataFrame(train_json["annotations"])
    ours, theirs = map(list, train_test_split(images["location"].unique(), test_size=0.22, random_state=0))
    total = len(images)

    def share():
        count = images["location"].isin(theirs).sum()
        return count / (total + count)

    while share() < 0.22:
        theirs.append(ours.pop())
    while share() > 0.22:
        ours.append(theirs.pop())
    train, test = images[images["location"].isin(ours)], images[images["location"].isin(theirs)]
    notes = annotations[annotations["image_id"].isin(train["id"])]
    asked = annotations[annotations["image_id"].isin(test["id"])]
    answers = pd.DataFrame({"Id": asked["image_id"], "Category": asked["category_id"]})
    answers.to_csv(private / "answers.csv", index=False)
    np.random.seed(0)
    answers.assign(Category=np.random.randint(0, 676, size=len(answers))).to_csv(
        public / "sample_submission.csv", index=False
    )
    (public / "iwildcam2020_train_annotations.json").write_text(
        json.dumps(
            {
                "annotations": records(notes),
                "images": records(train),
                "categories": records(pd.DataFrame(train_json["categories"])),
                "info": train_json["info"],
            }
        )
    )
    (public / "iwildcam2020_test_information.json").write_text(
        json.dumps(
            {
                "images": records(test),
                "categories": records(pd.DataFrame(test_json["categories"])),
                "info": test_json["info"],
            }
        )
    )
    shutil.copy(raw / "iwildcam2020_megadetector_results.json", public)
    for name, part in (("train", train), ("test", test)):
        (public / name).mkdir()
        for id in part["id"].unique():
            shutil.copy(raw / "train" / f"{id}.jpg", public / name)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["Id"], predictions["Category"]
    predictions, truth = (table.sort_values("Id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["Id"] == truth["Id"]).all()
    return accuracy_score(truth["Category"], predictions["Category"])
