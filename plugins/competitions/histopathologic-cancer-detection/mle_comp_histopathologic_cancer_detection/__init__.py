"""Histopathologic Cancer Detection: does a patch of a lymph-node scan show metastatic cancer?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import roc_auc
from mlecore.prepare import encode, ensure_unique, hex_ids, link_files, picture, read_csv, split, write_csv
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train_labels.csv", float_precision=None)[["id", "label"]]
    ensure_unique(table["id"], "ids of train_labels.csv")
    unlabelled = sum(1 for _ in (raw / "test").glob("*.tif"))  # Kaggle's test set only sets the ratio
    _, test_ids = split(table["id"], test_size=unlabelled / (len(table) + unlabelled))
    in_test = table["id"].isin(test_ids)
    train, test = table[~in_test], table[in_test]  # in file order, not in that of the split
    write_csv(train, public / "train_labels.csv")
    write_csv(test, private / "answers.csv")
    write_csv(test.assign(label=0), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{image}.tif" for image in part["id"]])


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "answers.csv", ["id", "label"])
    truth, guess = aligned(submission, answers, on="id", columns=["label"])
    return roc_auc(truth["label"], numbers(guess, "label", low=0, high=1))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    labelled = max(40, round(300 * size))
    ids = hex_ids(labelled + labelled // 4, 40, seed=seed)
    labels = rng.permutation(np.arange(labelled) % 2)
    write_csv(pd.DataFrame({"id": ids[:labelled], "label": labels}), raw / "train_labels.csv")
    write_csv(pd.DataFrame({"id": ids[labelled:], "label": 0}), raw / "sample_submission.csv")
    for folder in ("train", "test"):
        (raw / folder).mkdir()
    for number, image in enumerate(ids):
        patch = rng.randint(60, 160, (96, 96, 3)).astype(np.uint8)
        label = labels[number] if number < labelled else number % 2
        patch[32:64, 32:64] = picture(rng, int(label))  # what is outside of the centre does not count
        folder = "train" if number < labelled else "test"
        (raw / folder / f"{image}.tif").write_bytes(encode(patch, "TIFF"))
