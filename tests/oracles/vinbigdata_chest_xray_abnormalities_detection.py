import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    train_ids, test_ids = train_test_split(rows["image_id"].unique(), test_size=0.1, random_state=0)
    rows[rows["image_id"].isin(train_ids)].to_csv(public / "train.csv", index=False)
    sample = pd.DataFrame({"image_id": test_ids, "PredictionString": "14 1 0 0 1 1"})
    sample.to_csv(public / "sample_submission.csv", index=False)
    test = rows[rows["image_id"].isin(test_ids)]
    answers = test.groupby(["image_id", "class_id"]).first().reset_index().fillna(0)
    answers.loc[answers["class_id"] == 14, ["x_max", "y_max"]] = 1.0
    columns = ["image_id", "class_id", "class_name", "rad_id", "x_min", "y_min", "x_max", "y_max"]
    answers[columns].to_csv(private / "answers.csv", index=False)
    gold = []
    for image, boxes in answers.groupby("image_id"):
        texts = [f"{b.class_id} 1.0 {b.x_min} {b.y_min} {b.x_max} {b.y_max}" for b in boxes.itertuples()]
        gold.append((image, " ".join(texts)))
    table = pd.DataFrame(gold, columns=["image_id", "PredictionString"])
    table.to_csv(private / "gold_submission.csv", index=False)
    for ids, folder in ((train_ids, "train"), (test_ids, "test")):
        (public / folder).mkdir()
        for image in ids:
            shutil.copy(raw / "train" / f"{image}.dicom", public / folder)


def iou(d, g):
    width = np.fmin(d[0] + d[2], g[0] + g[2]) - np.fmax(d[0], g[0])
    height = np.fmin(d[1] + d[3], g[1] + g[3]) - np.fmax(d[1], g[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / (d[2] * d[3] + g[2] * g[3] - both)


def in_range(box):
    area = (box[2] - box[0]) * (box[3] - box[1])
    return not (area < 0 or area > 1e10)


def match(detections, boxes):
    """One image and class: score, hit and ignored of each detection, and how many boxes count."""
    detections = [detections[k] for k in np.argsort([-d["score"] for d in detections], kind="stable")][:100]
    boxes = sorted(boxes, key=lambda box: not in_range(box["box"]))
    ignored = [not in_range(box["box"]) for box in boxes]
    taken_by = [0] * len(boxes)
    found = []
    for d in detections:
        best, least = -1, 0.4
        for k, g in enumerate(boxes):
            if taken_by[k] > 0:
                continue
            if best > -1 and not ignored[best] and ignored[k]:
                break
            overlap = iou(d["box"], g["box"])
            if overlap < least:
                continue
            best, least = k, overlap
        hit, ignore = 0, False
        if best > -1:
            hit, ignore = boxes[best]["number"], ignored[best]
            taken_by[best] = d["number"]
        if hit == 0 and not in_range(d["box"]):
            ignore = True
        found.append((d["score"], hit > 0, ignore))
    return found, ignored.count(False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    predictions = predictions[["image_id", "PredictionString"]]
    assert set(predictions["image_id"]) == set(truth["image_id"])
    images = list(truth["image_id"].unique())
    boxes, detections = {}, {}
    number = 0
    for image in images:
        for row in truth[truth["image_id"] == image].itertuples():
            box = np.array([row.x_min, row.y_min, row.x_max, row.y_max])
            boxes.setdefault((image, row.class_id), []).append({"number": number, "box": box})
            number += 1
    number = 0
    for image, text in zip(predictions["image_id"], predictions["PredictionString"], strict=True):
        tokens = text.split(" ")
        assert len(tokens) % 6 == 0
        for k in range(0, len(tokens), 6):
            label, score, *box = map(float, tokens[k : k + 6])
            detection = {"number": number, "score": score, "box": np.array(box)}
            detections.setdefault((image, int(label)), []).append(detection)
            number += 1
    scores = []
    for label in truth["class_id"].unique():
        found, count = [], 0
        for image in images:
            more, boxes_that_count = match(detections.get((image, label), []), boxes.get((image, label), []))
            found += more
            count += boxes_that_count
        if count == 0:
            continue
        found = [found[k] for k in np.argsort([-score for score, _, _ in found], kind="stable")]
        hits = np.cumsum([hit and not ignore for _, hit, ignore in found])
        misses = np.cumsum([not hit and not ignore for _, hit, ignore in found])
        recall = hits / count
        precision = list(hits / (hits + misses + np.spacing(1)))
        for k in range(len(precision) - 1, 0, -1):
            precision[k - 1] = max(precision[k - 1], precision[k])
        levels = np.searchsorted(recall, np.linspace(0, 1, 101), side="left")
        scores.append(np.mean([precision[k] if k < len(precision) else 0.0 for k in levels]))
    return float(np.mean(scores)) if scores else -1.0


def submissions(answers, rng):
    """Boxes near and far, other classes, equal confidences, more than 100 of a class, and numbers that are none."""
    for number in range(20):
        rows = []
        for image in rng.permutation(answers["image_id"].unique()):
            boxes = answers[answers["image_id"] == image]
            records = [_detection(row, rng) for row in boxes.itertuples() for _ in range(rng.randint(4))]
            if number % 5 == 0:
                many = [f"{rng.choice([0.3, 0.6])} {k} {k} {k + 50} {k + 60}" for k in range(130)]
                records += [f"{boxes['class_id'].iloc[0]} {record}" for record in many]
            rows.append((image, " ".join(records) or "14 1 0 0 1 1"))
            if number % 7 == 0:
                rows.append(rows[-1])
        yield pd.DataFrame(rows, columns=["image_id", "PredictionString"])


def _detection(row, rng):
    box = np.array([row.x_min, row.y_min, row.x_max, row.y_max])
    box += rng.choice([0, 0, 5, 200]) * rng.normal(size=4)
    if rng.rand() < 0.1:
        box[rng.randint(4)] = rng.choice([np.nan, np.inf, -np.inf, 0, 1e6])
    label = row.class_id if rng.rand() < 0.85 else rng.randint(16)
    score = rng.choice([0.1, 0.5, 0.9, rng.rand(), -1, np.nan])
    return f"{label} {float(score)} " + " ".join(str(float(edge)) for edge in box)
