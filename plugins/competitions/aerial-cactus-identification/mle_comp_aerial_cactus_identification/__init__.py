"""Aerial Cactus Identification: is there a columnar cactus in a 32x32 aerial photograph?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import roc_auc
from mlecore.prepare import (
    ZipWriter,
    encode,
    hex_ids,
    move_members,
    open_zip,
    picture,
    read_csv,
    split,
    write_csv,
)
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "train.csv"), test_size=0.19)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.assign(has_cactus=0.5), public / "sample_submission.csv")
    with open_zip(raw / "train.zip") as images:
        for name, part in (("train.zip", train), ("test.zip", test)):
            move_members(images, public / name, {f"train/{image}": image for image in part["id"]})


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["id", "has_cactus"])
    truth, guess = aligned(submission, answers, on="id", columns=["has_cactus"])
    return roc_auc(truth["has_cactus"], numbers(guess, "has_cactus", low=0, high=1))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    labelled, unlabelled = max(60, round(500 * size)), 5
    ids = [f"{stem}.jpg" for stem in hex_ids(labelled + unlabelled, 32, seed=seed)]
    labels = rng.randint(0, 2, labelled)
    write_csv(pd.DataFrame({"id": ids[:labelled], "has_cactus": labels}), raw / "train.csv")
    write_csv(pd.DataFrame({"id": ids[labelled:], "has_cactus": 0.5}), raw / "sample_submission.csv")
    with ZipWriter(raw / "train.zip") as images:
        for image, label in zip(ids, labels, strict=False):
            images.add(f"train/{image}", encode(picture(rng, label), "JPEG"))
    with ZipWriter(raw / "test.zip") as images:
        for image in ids[labelled:]:
            images.add(f"test/{image}", encode(picture(rng, rng.randint(0, 2)), "JPEG"))
