"""Edition v2: one row for each test picture, under a new name; no row numbers in the sample submission."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_iwildcam_2019_fgvc6 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ensure, move_members, new_names, open_zip, rename_rows, write_csv, write_renamed

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 2
FORM = "########-####-####-####-############"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = v1.read_parts(raw)
    test = _with_one_answer(test)
    names = new_names(test["id"], FORM, seed=SEED, taken=train["id"])
    sequences = new_names(test["seq_id"], FORM, seed=SEED + 1, taken=train["seq_id"])
    write_renamed(names, private / "names.csv")
    test = rename_rows(test, "id", names)
    test = test.assign(file_name=test["id"] + ".jpg", seq_id=test["seq_id"].map(sequences))
    answers = test[["id", "category_id"]].set_axis(["Id", "Category"], axis=1)
    write_csv(answers, private / "answers.csv")
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="category_id"), public / "test.csv")
    write_csv(answers.assign(Category=0), public / "sample_submission.csv")
    with open_zip(raw / "train_images.zip") as images:
        move_members(images, public / "train_images.zip", {f"{id}.jpg": f"{id}.jpg" for id in train["id"]})
        move_members(images, public / "test_images.zip", {f"{old}.jpg": f"{new}.jpg" for old, new in names.items()})


def _with_one_answer(test: DataFrame) -> DataFrame:
    """Pictures without those that show several animals: there a model cannot know which one is asked for."""
    rows = test.drop_duplicates(["id", "category_id"])
    rows = rows[~rows["id"].duplicated(keep=False)]
    ensure(len(rows), "no picture for testing shows one animal only")
    return rows
