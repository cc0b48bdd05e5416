"""Images and sounds in the shapes that competitions have, with labels in tables and in names."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

Attempt = Callable[..., tuple[pd.DataFrame, str]]
Draw = Callable[..., bytes]
RNG = np.random.default_rng(3)


def picture(kind: int, size: int = 24) -> np.ndarray:
    """Noise with a square that is the brighter and redder, the higher its kind."""
    image = RNG.integers(0, 90, (size, size, 3), dtype=np.uint8)
    image[6:16, 6:16, 0] = 80 + 40 * kind
    return image


def numbers(made: pd.Series) -> np.ndarray:
    return pd.to_numeric(made).to_numpy(float)


def test_images_in_archives_and_no_test_table(data: Path, attempt: Attempt, png: Draw) -> None:
    from sklearn.metrics import roc_auc_score

    kind = RNG.integers(0, 2, 120)
    ids = [f"{i:032x}.jpg" for i in range(120)]
    for name, part in (("train", slice(0, 90)), ("test", slice(90, 120))):
        with zipfile.ZipFile(data / f"{name}.zip", "w") as archive:
            for image_id, k in zip(ids[part], kind[part], strict=True):
                archive.writestr(image_id, png(picture(k), "JPEG"))
    pd.DataFrame({"id": ids[:90], "has_cactus": kind[:90]}).to_csv(data / "train.csv", index=False)
    made, note = attempt(pd.DataFrame({"id": ids[90:], "has_cactus": 0.5}), "roc-auc")
    assert "images" in note
    assert roc_auc_score(kind[90:], numbers(made["has_cactus"])) > 0.95


def test_images_in_folders_a_column_a_class(data: Path, attempt: Attempt, png: Draw) -> None:
    from sklearn.metrics import log_loss

    kind = RNG.integers(0, 3, 120)
    for name in ("train", "test"):
        (data / name).mkdir()
    for i, k in enumerate(kind):
        (data / ("train" if i < 90 else "test") / f"{i}.png").write_bytes(png(picture(k)))
    (data / "train" / "3.png").write_bytes(b"broken")
    breeds = np.array(["beagle", "boxer", "pug"])
    pd.DataFrame({"id": range(90), "breed": breeds[kind[:90]]}).to_csv(data / "labels.csv", index=False)
    made, _ = attempt(pd.DataFrame({"id": range(90, 120), "beagle": 1 / 3, "boxer": 1 / 3, "pug": 1 / 3}), "log-loss")
    values = made[list(breeds)].apply(pd.to_numeric).to_numpy()
    assert np.abs(values.sum(axis=1) - 1).max() < 1e-6
    assert log_loss(kind[90:], values) < 0.6


def test_unreadable_images_leave_the_sample(data: Path, attempt: Attempt) -> None:
    (data / "train").mkdir()
    (data / "test").mkdir()
    for i in range(40):
        (data / ("train" if i < 30 else "test") / f"{i}.dcm.jpg").write_bytes(b"not an image")
    pd.DataFrame({"id": [f"{i}.dcm" for i in range(30)], "y": [0, 1] * 15}).to_csv(data / "train.csv", index=False)
    with pytest.raises(Exception, match="cannot be read"):
        attempt(pd.DataFrame({"id": [f"{i}.dcm" for i in range(30, 40)], "y": 0.5}), "roc-auc")


def test_text_files_are_read_and_names_of_sounds_say_nothing(data: Path, attempt: Attempt) -> None:
    good = RNG.integers(0, 2, 200)
    table = pd.DataFrame({"id": range(200), "file": [f"{i:04x}.txt" for i in range(200)], "good": good})
    for name, is_good in zip(table["file"], good, strict=True):
        (data / name).write_text(" ".join(RNG.choice(["fine" if is_good else "bad", "the", "a"], 12)))
        (data / name.replace("txt", "wav")).touch()
    sample = table[150:][["id"]].assign(good=0)
    for ending in ("txt", "wav"):
        named = table.assign(file=table["file"].str.replace("txt", ending))
        named[:150].to_csv(data / "train.csv", index=False)
        named[150:].drop(columns="good").to_csv(data / "test.csv", index=False)
        if ending == "wav":
            with pytest.raises(Exception, match="nothing about the rows"):
                attempt(sample, "accuracy")
        else:
            made, note = attempt(sample, "accuracy")
            assert "text" in note
            assert (numbers(made["good"]) == good[150:]).mean() > 0.9
