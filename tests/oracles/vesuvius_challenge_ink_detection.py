import shutil

import numpy as np
import pandas as pd
from PIL import Image

HIDDEN = ["inklabels.png", "inklabels_rle.csv", "ir.png"]


def prepare(raw, public, private):
    for number in ("1", "2"):
        shutil.copytree(raw / "train" / number, public / "train" / number)
    answers = pd.read_csv(raw / "train" / "3" / "inklabels_rle.csv", float_precision="round_trip")
    assert len(answers) == 1
    answers["Id"] = "a"
    answers.to_csv(private / "gold_submission.csv", index=False)
    with Image.open(raw / "train" / "3" / "ir.png") as image:
        answers["width"], answers["height"] = image.size
    answers.to_csv(private / "inklabels_rle.csv", index=False)
    shutil.copytree(raw / "train" / "3", public / "test" / "a", ignore=shutil.ignore_patterns(*HIDDEN))
    pd.DataFrame({"Id": ["a"], "Predicted": ["1 1 5 1"]}).to_csv(public / "sample_submission.csv", index=False)


def decode(text, size):
    mask = np.zeros(size, dtype=bool)
    numbers = [int(word) for word in text.split()]
    if not numbers:
        return mask
    starts, lengths = numbers[0::2], numbers[1::2]
    assert min(numbers) > 0
    assert starts == sorted(starts)
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
    truth = pd.read_csv(private / "inklabels_rle.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    assert sorted(predictions.columns) == ["Id", "Predicted"]
    scores = []
    for place in range(len(truth)):
        row = truth.iloc[place]
        assert predictions["Id"].iloc[place] == row["Id"]
        text = predictions["Predicted"].iloc[place]
        assert isinstance(text, str)
        size = int(row["width"]) * int(row["height"])
        one, other = decode(text, size), decode(row["Predicted"], size)
        hit, extra, missed = (one & other).sum(), (one & ~other).sum(), (other & ~one).sum()
        scores.append(1.25 * hit / (1.25 * hit + 0.25 * missed + extra) if hit else 0.0)
    return np.mean(scores)
