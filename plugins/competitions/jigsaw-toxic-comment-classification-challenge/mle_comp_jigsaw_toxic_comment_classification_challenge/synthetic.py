"""Synthetic data in the form of the download."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_jigsaw_toxic_comment_classification_challenge import CLASSES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, hex_ids, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(300, round(1500 * size))
    table = _comments(2 * rows, rng, seed)
    train, test = table[:rows], table[rows:]
    labels = test[["id", *CLASSES]].copy()
    labels.loc[np.arange(rows) % 2 == 1, CLASSES] = -1  # half of them are not scored
    sample = test[["id"]].assign(**dict.fromkeys(CLASSES, 0.5))
    tables = {"train": train, "test": test[["id", "comment_text"]], "test_labels": labels, "sample_submission": sample}
    for name, content in tables.items():
        with ZipWriter(raw / f"{name}.csv.zip") as archive, archive.open(f"{name}.csv") as member:
            write_csv(content, member, quoting=csv.QUOTE_NONNUMERIC)


def _comments(count: int, rng: RandomState, seed: int) -> DataFrame:
    """Each class has a word that gives it away, most of the time."""
    import pandas as pd

    telling = ["stupid", "die", "filth", "kill", "idiot", "tribe"]
    plain = "the article section please revert talk page source edit thanks user history link café naïve".split()
    starts = ["", '"Quoted", he said: ', "  Indented. ", "Two\nlines. ", "Well, "]
    rows = []
    for number in range(count):
        words = [plain[i] for i in rng.randint(0, len(plain), rng.randint(4, 20))]
        classes = [int(rng.rand() < 0.15) for _ in CLASSES]
        words += [word for word, there in zip(telling, classes, strict=True) if there and rng.rand() < 0.9]
        text = "NA" if number % 100 == 50 else starts[rng.randint(len(starts))] + " ".join(words)
        rows.append((text, *classes))
    table = pd.DataFrame(rows, columns=["comment_text", *CLASSES])
    table.insert(0, "id", hex_ids(count, 16, seed=seed))
    return table
