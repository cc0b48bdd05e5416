import math
import shutil

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    studies = pd.read_csv(raw / "train_study_level.csv", float_precision="round_trip")
    images = pd.read_csv(raw / "train_image_level.csv", float_precision="round_trip")
    train, test = train_test_split(studies, test_size=0.1, random_state=0)
    train, test = train.sort_values(by="id"), test.sort_values(by="id")
    study = images["StudyInstanceUID"] + "_study"
    train_images = images[study.isin(train["id"])].sort_values(by="id")
    test_images = images[study.isin(test["id"])].sort_values(by="id")
    assert len(train_images) + len(test_images) == len(images)
    train.to_csv(public / "train_study_level.csv", index=False)
    train_images.to_csv(public / "train_image_level.csv", index=False)
    for part, folder in ((train, "train"), (test, "test")):
        for name in part["id"]:
            name = name.replace("_study", "")
            shutil.copytree(raw / "train" / name, public / folder / name)
    words = ["negative", "typical", "indeterminate", "atypical"]
    labels = ["Negative for Pneumonia", "Typical Appearance", "Indeterminate Appearance", "Atypical Appearance"]
    strings = [f"{words[place]} 1 0 0 1 1" for place in np.argmax(test[labels].to_numpy(), axis=1)]
    answers = pd.DataFrame(
        {
            "id": [*test["id"], *test_images["id"]],
            "PredictionString": [*strings, *test_images["label"]],
        }
    )
    answers.to_csv(private / "test.csv", index=False)
    sample = ["negative 1 0 0 1 1"] * len(test) + ["none 1 0 0 1 1"] * len(test_images)
    answers.assign(PredictionString=sample).to_csv(public / "sample_submission.csv", index=False)


def parse(text):
    words = text.strip().split()
    assert len(words) % 6 == 0
    return [(words[k], *map(float, words[k + 1 : k + 6])) for k in range(0, len(words), 6)]


def iou(a, b):
    if not all(math.isfinite(corner) for corner in (*a, *b)):
        return 0.0
    width = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    both = width * height
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both
    return both / union if union > 0 else 0.0


def grade(submission, private):
    guess = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(guess) == len(truth)
    guess = guess[["id", "PredictionString"]].sort_values("id")
    truth = truth.sort_values("id")
    assert (guess["id"].to_numpy() == truth["id"].to_numpy()).all()
    given = [parse(text) for text in guess["PredictionString"]]
    asked = [parse(text) for text in truth["PredictionString"]]
    scores = []
    for label in sorted({box[0] for row in asked for box in row}):
        truths, confidences = [], []
        for row, right in zip(given, asked, strict=True):
            boxes = [box[2:] for box in right if box[0] == label]
            predictions = sorted((p for p in row if p[0] == label), key=lambda p: -p[1])
            free = list(range(len(boxes)))
            for p in predictions:
                best, most = None, 0.5
                for k in free:
                    overlap = iou(p[2:], boxes[k])
                    if overlap > most:
                        best, most = k, overlap
                if best is not None:
                    free.remove(best)
                truths.append(int(best is not None))
                confidences.append(p[1])
            truths += [1] * len(free)
            confidences += [0.0] * len(free)
            if not predictions and not boxes:
                truths.append(0)
                confidences.append(0.0)
        assert 0 in truths
        scores.append(average_precision_score(truths, confidences))
    return float(np.mean(scores)) if scores else 0.0


def submissions(answers, rng):
    """Boxes near and far, IoU of exactly 0.5, corners swapped, other labels, equal confidences, several a row."""
    for _ in range(20):
        rows = []
        for id, text in zip(answers["id"], answers["PredictionString"], strict=True):
            boxes = [box for box in parse(text) for _ in range(rng.randint(4))]
            rows.append((id, "  ".join(_prediction(label, corners, rng) for label, _, *corners in boxes) or "  "))
        yield pd.DataFrame(rows, columns=["id", "PredictionString"]).sample(frac=1, random_state=rng)


def _prediction(label, corners, rng):
    box = np.array(corners)
    change = rng.randint(7)
    if change == 1:
        box += 20 * rng.normal(size=4)
    elif change == 2:
        box[2] = box[0] + (box[2] - box[0]) / 2
    elif change == 3:
        box = box[[2, 3, 0, 1]]
    elif change == 4 and rng.rand() < 0.3:
        box[rng.randint(4)] = rng.choice([np.nan, np.inf])
    if rng.rand() < 0.2:
        label = rng.choice(["none", "opacity", "typical", "negative", "atypical", "what"])
    confidence = rng.choice([0.0, 0.5, 0.5, 0.9, rng.rand(), -0.5])
    return f"{label} {float(confidence)} " + " ".join(str(float(edge)) for edge in box)
