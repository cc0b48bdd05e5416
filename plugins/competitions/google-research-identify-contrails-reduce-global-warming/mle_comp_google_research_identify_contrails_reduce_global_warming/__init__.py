"""Identify Contrails to Reduce Global Warming: which pixels of a satellite image show a contrail?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    areas,
    encode_mask,
    ensure,
    link_file,
    link_files,
    link_tree,
    overlaps,
    read_answers,
    read_json,
    safe_name,
    split,
    texts,
    write_csv,
    write_json,
)
from mlecore_toolkit.submissions.masks import Masks, decode_masks

if TYPE_CHECKING:
    from pandas import DataFrame

BANDS = [f"band_{number:02d}.npy" for number in range(8, 17)]
MASKS = ["human_individual_masks.npy", "human_pixel_masks.npy"]
SIZE = ["height", "width"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import random

    import pandas as pd

    records, validation = read_json(raw / "train_metadata.json"), read_json(raw / "validation_metadata.json")
    train, test = split(records, test_size=len(validation))
    answers = pd.DataFrame([_answer(raw / "train", record["record_id"]) for record in test])
    write_csv(answers, private / "answers.csv")
    random.seed(0)
    sample = [random.choice(["1 3 10 5", "-"]) for _ in test]
    write_csv(answers.assign(encoded_pixels=sample), public / "sample_submission.csv")
    for part, folder, names in ((train, "train", [*BANDS, *MASKS]), (test, "test", BANDS)):
        files = [f"{record['record_id']}/{name}" for record in part for name in names]
        count = link_files(raw / "train", public / folder, files)
        ensure(count == len(part) * len(names), f"{folder}: {len(part)} records have {count} files")
    (public / "validation").mkdir()
    if (raw / "validation").is_dir():
        link_tree(raw / "validation", public / "validation")
    link_file(raw / "validation_metadata.json", public / "validation_metadata.json")
    write_json(train, public / "train_metadata.json")


def _answer(folder: Path, id: str) -> dict[str, Any]:
    """A row of the answers."""
    mask = array_of(folder / safe_name(id) / "human_pixel_masks.npy")
    height, width, *_ = array_of(folder / safe_name(id) / "band_08.npy").shape
    text = encode_mask(mask[..., 0] == 1, "columns") or "-"
    return {"record_id": id, "encoded_pixels": text, "height": height, "width": width}


def array_of(path: Path) -> Any:
    """A .npy file, of which only what is looked at is read."""
    import numpy as np

    try:
        return np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (ValueError, EOFError) as error:
        raise DataError(f"{path} cannot be read as an array: {error}") from None


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """Dice over the pixels of all records together; NaN where neither side marks any."""
    columns = ["record_id", "encoded_pixels", *SIZE]
    truth, predictions = format.read(submission, read_answers(private / "answers.csv", columns))
    asked, given = masks(truth, truth), masks(predictions, truth)
    both = int(areas(asked).sum() + areas(given).sum())
    return 2 * int(overlaps(asked, given).sum()) / both if both else float("nan")


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> None:
    masks(predictions, asked)  # the sample has the sizes, too


def masks(table: DataFrame, sizes: DataFrame, *, exact: bool = False) -> Masks:
    """The masks of all rows, in pictures of these sizes; a lone dash is an empty one."""
    cells = ["" if cell == "-" else cell for cell in texts(table, "encoded_pixels")]
    return decode_masks(table, cells, sizes["height"] * sizes["width"], exact=exact)
