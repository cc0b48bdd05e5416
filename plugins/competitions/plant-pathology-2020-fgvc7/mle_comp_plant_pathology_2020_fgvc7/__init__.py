"""Plant Pathology 2020: is an apple leaf healthy, or does it have rust, scab or several diseases?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore.metrics import mean_roc_auc
from mlecore.prepare import (
    encode,
    ensure,
    ensure_columns,
    link_files,
    picture,
    read_csv,
    renumber,
    split,
    split_positions,
    write_csv,
)
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

CLASSES = ["healthy", "multiple_diseases", "rust", "scab"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv", float_precision=None)
    ensure_columns(table, ["image_id", *CLASSES], "train.csv")
    ensure(table["image_id"].astype(str).str.startswith("Train_").all(), "an image_id does not start with Train_")
    old_train, old_test = split(table, test_size=0.1)
    train, test = _renamed(old_train, "Train_"), _renamed(old_test, "Test_")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test[["image_id"]], public / "test.csv")
    write_csv(test.assign(**dict.fromkeys(CLASSES, 0.25)), public / "sample_submission.csv")
    for old, new in ((old_train, train), (old_test, test)):
        pairs = zip(old["image_id"], new["image_id"], strict=True)
        link_files(raw / "images", public / "images", {f"{before}.jpg": f"{after}.jpg" for before, after in pairs})


def _renamed(part: DataFrame, prefix: str) -> DataFrame:
    return part.assign(image_id=[f"{prefix}{number}" for number in renumber(part["image_id"])])


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["image_id", *CLASSES])
    truth, guess = aligned(submission, answers, on="image_id", columns=CLASSES, only=True)
    return mean_roc_auc(truth[CLASSES], numbers(guess, CLASSES, from_text=True))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(100, round(400 * size))
    kinds = np.zeros(rows, dtype=int)
    for part in split_positions(rows, test_size=0.1):
        kinds[part] = rng.permutation(np.arange(len(part)) % 4)  # a quarter each, in the test part as well
    ids = [f"Train_{number}" for number in range(rows)]
    table = pd.DataFrame({"image_id": ids, **{name: (kinds == k).astype(int) for k, name in enumerate(CLASSES)}})
    write_csv(table, raw / "train.csv")
    unlabelled = [f"Test_{number}" for number in range(4)]
    write_csv(pd.DataFrame({"image_id": unlabelled}), raw / "test.csv")
    (raw / "images").mkdir()
    for image, kind in zip([*ids, *unlabelled], [*kinds, 0, 1, 2, 3], strict=True):
        (raw / "images" / f"{image}.jpg").write_bytes(encode(picture(rng, int(kind), 48, 32), "JPEG"))
