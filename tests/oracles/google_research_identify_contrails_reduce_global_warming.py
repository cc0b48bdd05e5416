import json
import random
import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

BANDS = [f"band_{number:02d}.npy" for number in range(8, 17)]
MASKS = ["human_individual_masks.npy", "human_pixel_masks.npy"]


def encode(mask):
    pixels = np.concatenate([[0], (mask.T.flatten() == 1).astype(int), [0]])
    change = np.where(pixels[1:] != pixels[:-1])[0] + 1
    runs = [f"{start} {end - start}" for start, end in zip(change[::2], change[1::2], strict=True)]
    return " ".join(runs) or "-"


def prepare(raw, public, private):
    records = json.loads((raw / "train_metadata.json").read_text())
    validation = json.loads((raw / "validation_metadata.json").read_text())
    train, test = train_test_split(records, test_size=len(validation), random_state=0)
    rows = []
    for record in test:
        folder = raw / "train" / record["record_id"]
        mask = np.load(folder / "human_pixel_masks.npy")[:, :, 0]
        height, width = np.load(folder / "band_08.npy").shape[:2]
        rows.append((record["record_id"], encode(mask), height, width))
    answers = pd.DataFrame(rows, columns=["record_id", "encoded_pixels", "height", "width"])
    answers.to_csv(private / "answers.csv", index=False)
    random.seed(0)
    sample = answers.copy()
    sample["encoded_pixels"] = [random.choice(["1 3 10 5", "-"]) for _ in rows]
    sample.to_csv(public / "sample_submission.csv", index=False)
    for part, folder, names in ((train, "train", BANDS + MASKS), (test, "test", BANDS)):
        for record in part:
            target = public / folder / record["record_id"]
            target.mkdir(parents=True)
            for name in names:
                shutil.copy(raw / "train" / record["record_id"] / name, target / name)
    shutil.copytree(raw / "validation", public / "validation")
    shutil.copy(raw / "validation_metadata.json", public / "validation_metadata.json")
    (public / "train_metadata.json").write_text(json.dumps(train))


def decode(text, size):
    mask = np.zeros(size, dtype=bool)
    if text == "-" or not text.strip():
        return mask
    numbers = [int(word) for word in text.split()]
    starts, lengths = numbers[0::2], numbers[1::2]
    assert starts == sorted(starts)
    assert min(numbers) > 0
    if len(numbers) == 1:
        return mask
    if len(numbers) == 3:
        lengths = lengths * 2
    assert len(starts) == len(lengths)
    for start, length in zip(starts, lengths, strict=True):
        assert not mask[start - 1 : start - 1 + length].any()
        mask[start - 1 : start - 1 + length] = True
    return mask


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip")
    assert {"record_id", "encoded_pixels"} <= set(predictions.columns)
    assert len(predictions) == len(truth)
    predictions, truth = predictions.sort_values("record_id"), truth.sort_values("record_id")
    assert predictions["record_id"].dtype != object
    assert (predictions["record_id"].to_numpy() == truth["record_id"].to_numpy()).all()
    both = either = 0
    for place, text in enumerate(predictions["encoded_pixels"]):
        assert isinstance(text, str)
        row = truth.iloc[place]
        size = int(row["height"]) * int(row["width"])
        one, other = decode(text, size), decode(row["encoded_pixels"], size)
        both += (one & other).sum()
        either += one.sum() + other.sum()
    return 2 * both / either if either else float("nan")
