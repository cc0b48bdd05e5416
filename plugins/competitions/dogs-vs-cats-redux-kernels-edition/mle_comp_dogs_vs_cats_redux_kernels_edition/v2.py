"""Edition v2: test photographs have new numbers, nothing is public twice, and the log loss is Kaggle's."""

from __future__ import annotations

from pathlib import Path

import mle_comp_dogs_vs_cats_redux_kernels_edition as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import KAGGLE_CLIP, Format, Table, extract, log_loss, shuffled, write_renamed

SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = v1.read_parts(raw)
    numbers = shuffled(range(len(test)), seed=SEED)
    names = {test[place]: f"{number + 1}.jpg" for place, number in numbers.items()}
    write_renamed(names, private / "names.csv")
    extract(raw / "train.zip", public / "train", train)
    extract(raw / "train.zip", public / "test", names)
    v1.write_tables(public, private, list(names))


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return log_loss(truth["label"], predictions["label"], clip=KAGGLE_CLIP)
