import json
import math
import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    def read(name):
        return json.loads((raw / "train_data" / f"{name}.json").read_text(encoding="utf-8"))

    def write(part, name, records):
        folder = public / f"{part}_data"
        folder.mkdir(exist_ok=True)
        with (folder / f"{name}.json").open("w") as file:
            json.dump(records, file)

    logs = read("log")
    parts = dict(
        zip(("train", "test"), train_test_split([r["token"] for r in logs], test_size=0.2, random_state=0), strict=True)
    )
    rows = pd.read_csv(raw / "train.csv")
    pictures = {}
    all_tokens = {part: set(tokens) for part, tokens in parts.items()}
    assert not any(all_tokens["train"] & all_tokens["test"])
    annotations, instances, sample_data = read("sample_annotation"), read("instance"), read("sample_data")
    poses = {pose["token"]: pose for pose in read("ego_pose")}
    sensors = {sensor["token"]: sensor for sensor in read("calibrated_sensor")}
    for part, tokens in parts.items():
        write(part, "log", [r for r in logs if r["token"] in tokens])
        samples = [r for r in read("sample") if r["scene_token"] in tokens]
        write(part, "sample", samples)
        write(part, "scene", [r for r in read("scene") if r["log_token"] in tokens])
        known = {r["token"] for r in samples}
        mine = [r for r in sample_data if r["sample_token"] in known]
        write(part, "sample_data", mine)
        used = list(dict.fromkeys(r["calibrated_sensor_token"] for r in mine))
        write(part, "calibrated_sensor", [sensors[token] for token in used])
        write(part, "ego_pose", [poses[r["ego_pose_token"]] for r in mine])
        (the_map,) = read("map")
        write(part, "map", [the_map | {"log_tokens": parts["test"]}])
        if part == "train":
            kept = [r for r in annotations if r["sample_token"] in known]
            write(part, "sample_annotation", kept)
            seen = {r["instance_token"] for r in kept}
            write(part, "instance", [r for r in instances if r["token"] in seen])
        for name in ("attribute", "category", "sensor", "visibility"):
            shutil.copy(raw / "train_data" / f"{name}.json", public / f"{part}_data")
        (public / f"{part}_maps").mkdir()
        shutil.copy(raw / "train_maps" / "map_raster_palo_alto.png", public / f"{part}_maps")
        for record in mine:
            name = record["filename"].split("/")[-1]
            kind = {"jpeg": "images", "bin": "lidar"}[record["fileformat"]]
            assert name.endswith(record["fileformat"])
            (public / f"{part}_{kind}").mkdir(exist_ok=True)
            shutil.copy(raw / f"train_{kind}" / name, public / f"{part}_{kind}" / name)
        pictures[part] = rows[rows["Id"].isin(known)]
    pictures["train"].to_csv(public / "train.csv", index=False)
    texts = []
    for text in pictures["test"]["PredictionString"]:
        tokens = text.split(" ")
        texts.append(" ".join(" ".join(["1.0", *tokens[k : k + 8]]) for k in range(0, len(tokens), 8)))
    pictures["test"].assign(PredictionString=texts).to_csv(private / "test.csv", index=False)
    pictures["test"].assign(PredictionString=None).to_csv(public / "sample_submission.csv", index=False)


def parse(text):
    if (isinstance(text, float) and math.isnan(text)) or not text.strip():
        return []
    tokens = text.split(" ")
    assert len(tokens) % 9 == 0
    out = []
    for k in range(0, len(tokens), 9):
        confidence, x, y, z, width, length, height, yaw = map(float, tokens[k : k + 8])
        cosine, sine = math.cos(yaw / 2), math.sin(yaw / 2)
        turn = (cosine**2 - sine**2, 2 * cosine * sine)
        out.append({"confidence": confidence, "box": (x, y, z, width, length, height, *turn), "class": tokens[k + 8]})
    return out


def build(box):
    x, y, z, width, length, height, c, s = box
    assert not any(math.isnan(value) for value in box)
    assert width > 0 and length > 0 and height > 0
    ends = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
    corners = np.array(
        [(x + a * length / 2 * c + b * width / 2 * s, y + a * length / 2 * s - b * width / 2 * c) for a, b in ends]
    )
    for k, (one, other) in enumerate([(1, 3), (0, 2), (1, 3), (0, 2)]):
        assert np.isclose(np.dot(corners[one] - corners[k], corners[other] - corners[k]), 0)
    return corners, z - height / 2, z + height / 2, width * length * height


def cut(polygon, a, b):
    """What lies to the left of the line from a to b."""
    sides = [(b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) for p in polygon]
    kept = []
    for k, p in enumerate(polygon):
        q, here, there = polygon[k - 1], sides[k], sides[k - 1]
        if (here >= 0) != (there >= 0):
            t = there / (there - here)
            kept.append((q[0] + t * (p[0] - q[0]), q[1] + t * (p[1] - q[1])))
        if here >= 0:
            kept.append(tuple(p))
    return kept


def area(polygon):
    pairs = [(polygon[k - 1], p) for k, p in enumerate(polygon)]
    return sum(q[0] * p[1] - p[0] * q[1] for q, p in pairs) / 2


def iou(one, other):
    origin = one[0][0]
    polygon, clip = [tuple(p - origin) for p in one[0]], [tuple(p - origin) for p in other[0]]
    if area(polygon) < 0:
        polygon = polygon[::-1]
    if area(clip) < 0:
        clip = clip[::-1]
    for k in range(4):
        polygon = cut(polygon, clip[k - 1], clip[k])
    ground = abs(area(polygon)) if polygon else 0.0
    both = ground * max(0, min(one[2], other[2]) - max(one[1], other[1]))
    return float(np.clip(both / (one[3] + other[3] - both), 0, 1))


def average_precision(overlaps, count, threshold):
    """``overlaps``: a row a prediction, in order, with each true box."""
    hit, recalls, precisions = set(), [], []
    hits = 0
    for k, row in enumerate(overlaps):
        best = int(np.argmax(row))
        if row[best] > threshold and best not in hit:
            hit.add(best)
            hits += 1
        recalls.append(hits / count)
        precisions.append(hits / (k + 1))
    recalls, precisions = [0.0, *recalls, 1.0], [0.0, *precisions, 0.0]
    for k in range(len(precisions) - 1, 0, -1):
        precisions[k - 1] = max(precisions[k - 1], precisions[k])
    return sum((recalls[k + 1] - recalls[k]) * precisions[k + 1] for k in range(len(recalls) - 1))


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions, truth = predictions[["Id", "PredictionString"]].sort_values("Id"), truth.sort_values("Id")
    assert (predictions["Id"].to_numpy() == truth["Id"].to_numpy()).all()
    thresholds = [0.5 + 0.05 * k for k in range(10)]
    thresholds = [round(threshold, 2) for threshold in thresholds]
    scores = []
    for said, right in zip(
        map(parse, predictions["PredictionString"]), map(parse, truth["PredictionString"]), strict=True
    ):
        classes = sorted({box["class"] for box in right})
        parts = []
        for name in classes:
            boxes = [build(box["box"]) for box in right if box["class"] == name]
            mine = sorted((box for box in said if box["class"] == name), key=lambda box: -box["confidence"])
            overlaps = [[iou(box, other) for other in boxes] for box in (build(box["box"]) for box in mine)]
            parts.append([average_precision(overlaps, len(boxes), threshold) for threshold in thresholds])
        scores.append(np.mean(parts) if parts else float("nan"))
    return float(np.mean(scores))


def submissions(answers, rng):
    """Boxes moved, turned and stretched, other classes, equal confidences, and boxes that cannot be built."""
    for number in range(20):
        rows = []
        for id, text in zip(answers["Id"], answers["PredictionString"], strict=True):
            words = text.split(" ")
            boxes = [words[k : k + 9] for k in range(0, len(words), 9) for _ in range(rng.randint(4))]
            rows.append((id, " ".join(_object(words, rng, odd=number % 4 == 0) for words in boxes)))
        yield pd.DataFrame(rows, columns=["Id", "PredictionString"]).sample(frac=1, random_state=rng)


def _object(words, rng, odd):
    box, label = np.array(list(map(float, words[1:8]))), words[8]
    change = rng.randint(6)
    if change == 1:
        box[:3] += rng.choice([0.4, 5]) * rng.normal(size=3)
    elif change == 2:
        box[6] += 0.5 * rng.normal()
    elif change == 3:
        box[3:6] *= rng.uniform(0.6, 1.5, 3)
    elif change == 4:
        box[6] += math.pi / 2 * rng.randint(1, 4)
    if odd and rng.rand() < 0.05:
        box[rng.randint(7)] = rng.choice([np.nan, np.inf, -1, 0, 1e6, 1e9])
    if rng.rand() < 0.15:
        label = rng.choice(["car", "bus", "truck", "what"])
    confidence = rng.choice([0.0, 0.5, 0.5, 0.9, rng.rand(), np.inf, -2])
    return " ".join(str(float(value)) for value in (confidence, *box)) + f" {label}"
