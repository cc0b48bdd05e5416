import shutil

import numpy as np
import pandas as pd
from scipy.spatial.distance import directed_hausdorff
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    pieces = rows["id"].str.split("_")
    rows["case"], rows["day"], rows["slice"] = pieces.str[0], pieces.str[1], pieces.str[-1]
    train_cases, test_cases = train_test_split(rows["case"].unique(), test_size=0.1, random_state=42)
    is_test = rows["case"].isin(test_cases)
    late = []
    for case in train_cases:
        days = sorted(rows["day"][rows["case"] == case].unique(), key=lambda day: int(day[3:]))
        for day in days[4:]:
            late.append((case, day))
            is_test |= (rows["case"] == case) & (rows["day"] == day)
    for cases, folder in ((train_cases, "train"), (test_cases, "test")):
        for case in cases:
            shutil.copytree(raw / "train" / case, public / folder / case)
    for case, day in late:
        (public / "test" / case).mkdir(parents=True, exist_ok=True)
        shutil.move(public / "train" / case / f"{case}_{day}", public / "test" / case / f"{case}_{day}")
    train, test = rows[~is_test], rows[is_test].copy()
    sizes = []
    for case, day, number in zip(test["case"], test["day"], test["slice"], strict=True):
        (path,) = (raw / "train" / case / f"{case}_{day}" / "scans").glob(f"slice_{number}_*.png")
        sizes.append([float(size) for size in path.stem.split("_")[2:4]])
    train[["id", "class", "segmentation"]].to_csv(public / "train.csv", index=False)
    test[["id", "class"]].to_csv(public / "test.csv", index=False)
    test[["id", "class"]].assign(predicted="1 1 5 2").to_csv(public / "sample_submission.csv", index=False)
    test["predicted"] = test["segmentation"]
    test["image_width"], test["image_height"] = zip(*sizes, strict=True)
    columns = ["id", "class", "predicted", "image_width", "image_height"]
    test[columns].to_csv(private / "test.csv", index=False)


def decode(text, height, width):
    mask = np.zeros(height * width, dtype=bool)
    if text.strip():
        numbers = [int(piece) for piece in text.split()]
        starts, lengths = numbers[0::2], numbers[1::2]
        assert starts == sorted(starts)
        assert all(start > 0 for start in starts) and all(length > 0 for length in lengths)
        if len(numbers) == 1:
            starts = []
        elif len(numbers) == 3:
            lengths = lengths * 2
        else:
            assert len(starts) == len(lengths)
        for start, length in zip(starts, lengths, strict=False):
            assert not mask[start - 1 : start - 1 + length].any()
            mask[start - 1 : start - 1 + length] = True
    return mask.reshape(width, height).T


def volumes(ids, masks):
    slices = {}
    for name, mask in sorted(zip(ids, masks, strict=True), key=lambda pair: pair[0]):
        if name in slices:
            assert slices[name].shape == mask.shape
            mask = slices[name] | mask
        slices[name] = mask
    days = {}
    for name, mask in slices.items():
        days.setdefault(name.split("_slice_")[0], []).append(mask)
    return [np.stack(day) for day in days.values()]


def distance(said, right):
    if not said.any() and not right.any():
        return None
    if np.array_equal(said, right):
        return 0.0
    if not said.any() or not right.any():
        return 1.0
    if said.sum() > 10 * right.sum():
        return 1.0
    a, b = np.argwhere(said) / right.shape, np.argwhere(right) / right.shape
    return max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]) / np.sqrt(3)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    predictions = predictions[["id", "class", "predicted"]][: len(truth)]
    assert all(isinstance(name, str) for name in predictions["id"])
    sizes = [(int(h), int(w)) for h, w in zip(truth["image_height"], truth["image_width"], strict=True)]
    cells = []
    for table in (predictions, truth):
        texts = ["" if isinstance(cell, float) and np.isnan(cell) else cell for cell in table["predicted"]]
        assert all(isinstance(text, str) for text in texts)
        cells.append([decode(text, *size) for text, size in zip(texts, sizes, strict=False)])
    said, right = cells
    dice = []
    for x, y in zip(said, right, strict=False):
        if x.any() or y.any():
            dice.append(2 * (x & y).sum() / (x.sum() + y.sum()))
    pairs = zip(volumes(predictions["id"], said), volumes(truth["id"], right), strict=False)
    far = [found for pair in pairs if (found := distance(*pair)) is not None]
    if not dice or not far:
        return float("nan")
    return 0.4 * float(np.mean(dice)) + 0.6 * (1 - float(np.mean(far)))
