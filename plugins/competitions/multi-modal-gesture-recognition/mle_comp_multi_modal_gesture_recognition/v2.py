"""Edition v2: Matlab files of test videos do not hold the gestures; a list may be empty, its numbers are 1 to 20."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_multi_modal_gesture_recognition as v1
from mle_comp_multi_modal_gesture_recognition.matlab import without_labels
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ZipWriter,
    edit_distance,
    extract,
    members,
    open_zip,
    refuse,
    words,
    write_tar,
)
from mlecore_toolkit.prepare.zips import find

if TYPE_CHECKING:
    from pandas import DataFrame

ARCHIVE = "test.tar.gz"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    (public / ARCHIVE).unlink()
    names = sorted(name for name in members(raw / v1.TEST_ARCHIVE) if name.endswith(".zip") and "/" not in name)
    with tempfile.TemporaryDirectory(dir=private) as scratch:
        samples = Path(scratch)
        extract(raw / v1.TEST_ARCHIVE, samples, {name: name for name in names})
        for name in names:
            source = (samples / name).rename(samples / "source")
            _write_sample(source, samples / name, name)
            source.unlink()
        write_tar(samples, public / ARCHIVE, {name: name for name in names}, compressed=True)


def _write_sample(source: Path, target: Path, name: str) -> None:
    """The same zip with the labels emptied; its sound and videos are moved as they are."""
    with open_zip(source) as old, ZipWriter(target) as new:
        for member in members(source):
            if member.lower().endswith(".mat"):
                new.add(member, without_labels(old.read(find(old, member)), f"{v1.TEST_ARCHIVE}!{name}!{member}"))
            else:
                new.move(old, find(old, member), member)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The sum of the videos' Levenshtein distances, over the number of true gestures."""
    truth, predictions = format.read(submission, private / "test.csv")
    predicted, true = _gestures(predictions), _gestures(truth)
    return sum(map(edit_distance, true, predicted)) / sum(map(len, true))


@hookimpl
def examine(predictions: DataFrame) -> None:
    _gestures(predictions)


def _gestures(frame: DataFrame) -> list[list[int]]:
    """The gestures in each cell. Raises InvalidSubmission for any other word."""
    import numpy as np

    cells = frame["Sequence"].tolist()
    bad = np.array([not all(map(_is_gesture, words(cell))) for cell in cells], dtype=bool)
    refuse(frame, "Sequence", "whole numbers from 1 to 20, separated by blanks", bad)
    return [list(map(int, words(cell))) for cell in cells]


def _is_gesture(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 9 and int(word) in v1.GESTURES
