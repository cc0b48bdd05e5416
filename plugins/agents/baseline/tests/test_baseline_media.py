"""Images and sounds in the shapes that competitions have, with labels in tables and in names."""

from __future__ import annotations

import io
import struct
import wave
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, log_loss, roc_auc_score

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


def test_the_same_name_in_train_and_test(data: Path, attempt: Attempt, png: Draw) -> None:
    kind = RNG.integers(0, 5, 150)
    for i, k in enumerate(kind):
        folder = data / ("train_images" if i < 100 else "test_images")
        folder.mkdir(exist_ok=True)
        (folder / f"{i % 100}.png").write_bytes(png(picture(k)))
    pd.DataFrame({"id_code": range(100), "diagnosis": kind[:100]}).to_csv(data / "train.csv", index=False)
    sample = pd.DataFrame({"id_code": range(50), "diagnosis": 0})
    sample[["id_code"]].to_csv(data / "test.csv", index=False)
    made, _ = attempt(sample, "quadratic-weighted-kappa")
    guess = made["diagnosis"].astype(int)  # whole numbers, written as such
    assert set(guess) <= {0, 1, 2, 3, 4}
    assert cohen_kappa_score(kind[100:], guess, weights="quadratic") > 0.8


@pytest.mark.parametrize(("text", "one"), [("1 = dog, 0 = cat", "dog"), ("the probability that it shows a cat", "cat")])
def test_labels_in_names_packed_and_unpacked(data: Path, attempt: Attempt, png: Draw, text: str, one: str) -> None:
    (data / "description.md").write_text(f"Tell dogs from cats; predict {text}.")
    kind = RNG.integers(0, 2, 130)
    for name in ("train", "test"):
        (data / name).mkdir()
    for i, k in enumerate(kind):
        name = f"train/{('cat', 'dog')[k]}.{i}.jpg" if i < 90 else f"test/{i - 89}.jpg"
        (data / name).write_bytes(png(picture(k), "JPEG"))
    for name in ("train", "test"):
        with zipfile.ZipFile(data / f"{name}.zip", "w") as archive:
            for path in (data / name).iterdir():
                archive.write(path, path.name)
    made, _ = attempt(pd.DataFrame({"id": range(1, 41), "label": 0.5}), "log-loss")
    truth = kind[90:] == (one == "dog")
    assert log_loss(truth, numbers(made["label"])) < 0.5


def test_names_that_do_not_say_which_is_one(data: Path, attempt: Attempt, png: Draw) -> None:
    for i in range(40):
        folder = data / ("train" if i < 30 else "test")
        folder.mkdir(exist_ok=True)
        (folder / (f"{('cat', 'dog')[i % 2]}.{i}.jpg" if i < 30 else f"{i}.jpg")).write_bytes(png(picture(i % 2)))
    with pytest.raises(Exception, match="no table"):
        attempt(pd.DataFrame({"id": range(30, 40), "label": 0.5}), "log-loss")


def aiff(signal: np.ndarray, rate: int = 2000) -> bytes:
    body = signal.astype(">i2").tobytes()
    mantissa = rate << (63 - (rate.bit_length() - 1))
    common = struct.pack(">hIhHQ", 1, len(signal), 16, 16383 + rate.bit_length() - 1, mantissa)
    sound = struct.pack(">II", 0, 0) + body
    chunks = b"COMM" + struct.pack(">I", len(common)) + common + b"SSND" + struct.pack(">I", len(sound)) + sound
    return b"FORM" + struct.pack(">I", len(chunks) + 4) + b"AIFF" + chunks


def call(kind: int) -> np.ndarray:
    """Two seconds of noise, with a rising tone for kind 1."""
    time = np.arange(4000) / 2000
    tone = np.sin(2 * np.pi * (100 + 60 * time) * time) * kind * ((time > 0.5) & (time < 1.5))
    return 3000 * (RNG.normal(size=4000) + 1.5 * tone)


def test_sounds_with_labels_in_names(data: Path, attempt: Attempt) -> None:
    kind = RNG.integers(0, 2, 120)
    names = []
    for i, k in enumerate(kind):
        ending = f"TRAIN{i}_{k}" if i < 80 else f"Test{i}"
        names.append(f"20090{i % 3}28_{i:06d}_61s4ms_{ending}.aif")
    for name, part in (("train2", slice(0, 80)), ("test2", slice(80, 120))):
        with zipfile.ZipFile(data / f"{name}.zip", "w") as archive:
            for clip, k in zip(names[part], kind[part], strict=True):
                archive.writestr(f"{name}/{clip}", aiff(call(k)))
    made, note = attempt(pd.DataFrame({"clip": names[80:], "probability": 0}), "roc-auc")
    assert "sounds" in note
    assert roc_auc_score(kind[80:], numbers(made["probability"])) > 0.9


def test_the_two_formats_of_sound_are_heard_alike(work: ModuleType) -> None:
    import importlib

    sounds = importlib.import_module("sounds")
    signal = call(1)
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(2000)
        file.writeframes(signal.astype("<i2").tobytes())
    assert np.allclose(sounds.listen(out.getvalue()), sounds.listen(aiff(signal)))
    with pytest.raises(ValueError, match="no sound"):
        sounds.listen(b"FORM....AIFF")


def test_noise_is_taken_from_pages(data: Path, attempt: Attempt, png: Draw) -> None:
    rows = []
    noise = []
    for page in range(1, 9):
        shape = (20, 30 + page % 2)
        clean = np.where(RNG.random(shape) < 0.2, 0, 255).astype(np.uint8)
        stained = np.clip(clean * 0.6 + 40 + RNG.normal(0, 8, shape), 0, 255).astype(np.uint8)
        for folder, image in (("train", stained), ("train_cleaned", clean)):
            (data / folder).mkdir(exist_ok=True)
            if page < 7:
                (data / folder / f"{page}.png").write_bytes(png(image))
        if page >= 7:
            (data / "test").mkdir(exist_ok=True)
            (data / "test" / f"{page}.png").write_bytes(png(stained))
            for (r, c), value in np.ndenumerate(clean):
                rows.append((f"{page}_{r + 1}_{c + 1}", value / 255))
                noise.append(stained[r, c] / 255)
    truth = pd.DataFrame(rows, columns=["id", "value"]).sample(frac=1, random_state=0)
    made, _ = attempt(truth.assign(value=1), "rmse")
    error = np.sqrt(np.mean((numbers(made["value"]) - truth["value"].to_numpy()) ** 2))
    assert error < 0.1


def test_unreadable_images_leave_the_sample(data: Path, attempt: Attempt) -> None:
    (data / "train").mkdir()
    (data / "test").mkdir()
    for i in range(40):
        (data / ("train" if i < 30 else "test") / f"{i}.dcm.jpg").write_bytes(b"not an image")
    pd.DataFrame({"id": [f"{i}.dcm" for i in range(30)], "y": [0, 1] * 15}).to_csv(data / "train.csv", index=False)
    with pytest.raises(Exception, match="cannot be read"):
        attempt(pd.DataFrame({"id": [f"{i}.dcm" for i in range(30, 40)], "y": 0.5}), "roc-auc")
