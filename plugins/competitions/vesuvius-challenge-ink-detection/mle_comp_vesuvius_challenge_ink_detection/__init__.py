"""Vesuvius Challenge, Ink Detection: where is ink on carbonised papyrus?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    area,
    ensure,
    link_files,
    link_tree,
    overlap,
    read_answers,
    read_csv,
    texts,
    write_csv,
)
from mlecore_toolkit.submissions.masks import Runs, decode_masks

if TYPE_CHECKING:
    from pandas import DataFrame

LEARNT, JUDGED = ("1", "2"), "3"  # fragments
NAME = "a"  # of the fragment that is judged
HIDDEN = {"inklabels.png", "inklabels_rle.csv", "ir.png"}
KINDS = {".png", ".csv", ".tif"}


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    for fragment in LEARNT:
        link_tree(raw / "train" / fragment, public / "train" / fragment)
    source = raw / "train" / JUDGED
    mask = read_csv(source / "inklabels_rle.csv")
    ensure(len(mask) == 1, f"inklabels_rle.csv of fragment {JUDGED} has {len(mask)} rows; expected 1")
    width, height = _size(source / "ir.png")
    answers = mask.assign(width=width, height=height, Id=NAME)
    write_csv(answers, private / "inklabels_rle.csv")
    write_csv(answers.drop(columns=["width", "height"]), private / "gold_submission.csv")
    files = sorted(path for path in source.rglob("*") if path.is_file())
    for path in files:
        ensure(path.suffix in KINDS, f"{path} is none of {', '.join(sorted(KINDS))}")
    shown = [path.relative_to(source).as_posix() for path in files if path.name not in HIDDEN]
    ensure(len(files) - len(shown) == len(HIDDEN), f"{source} should have each of {', '.join(sorted(HIDDEN))} once")
    link_files(source, public / "test" / NAME, shown)
    write_csv(answers[["Id"]].assign(Predicted="1 1 5 1"), public / "sample_submission.csv")


def _size(path: Path) -> tuple[int, int]:
    """Width and height of a picture, whose pixels are not read."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            return int(picture.width), int(picture.height)
    except FileNotFoundError:
        raise DataError(f"{path} is missing") from None
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise DataError(f"{path} cannot be read as a picture: {error}") from None


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    columns = ["Id", "Predicted", "width", "height"]
    truth, predictions = format.read(submission, read_answers(private / "inklabels_rle.csv", columns))
    asked = decode_masks(truth, texts(truth, "Predicted"), truth["width"] * truth["height"])
    scores = [f_score(a, b) for a, b in zip(asked, predictions["Predicted"], strict=True)]
    return sum(scores) / len(scores)


def f_score(truth: Runs, predictions: Runs) -> float:
    """F0.5 of the pixels: the harmonic mean of precision and recall in which precision weighs more; 0 if undefined."""
    hits = overlap(truth, predictions)
    return 1.25 * hits / (0.25 * area(truth) + area(predictions)) if hits else 0.0


@hookimpl
def asked(sample: DataFrame, public: Path) -> DataFrame:
    """The public mask has the size of the picture, so that overlapping runs are seen."""
    width, height = _size(public / "test" / NAME / "mask.png")
    return sample.assign(width=width, height=height)
