"""Multi-modal Gesture Recognition: which gestures are made in a Kinect recording, in order?"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from random import Random
from typing import TYPE_CHECKING

from mlecore.errors import GradingError, InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    edit_distance,
    ensure,
    ensure_unique,
    in_file_order,
    link_file,
    members,
    read_csv,
    words,
    write_csv,
)

if TYPE_CHECKING:
    from pandas import DataFrame

TEST_ARCHIVE = "training4.tar.gz"
TAR_ARCHIVES = (*(f"training{n}.tar.gz" for n in (1, 2, 3)), *(f"validation{n}.tar.gz" for n in (1, 2, 3)))
OTHER_ARCHIVES = ("devel01-40.7z", "valid_all_files_combined.7z", "sample_code_mmrgc.zip")
GESTURES = range(1, 21)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    files = [PurePosixPath(name) for name in members(raw / TEST_ARCHIVE)]
    ids = sorted(file.stem[-4:] for file in files if len(file.parts) == 1 and file.suffix == ".zip")
    ensure(ids, f"{TEST_ARCHIVE} holds no zip files")
    ensure_unique(ids, f"ids of {TEST_ARCHIVE}")
    table = read_csv(raw / "training.csv", dtype={"Id": str, "Sequence": str}, float_precision=None)
    in_test = table["Id"].isin(ids)
    test = table[in_test]
    ensure_unique(test["Id"], "test ids of training.csv")
    missing = sorted(set(ids) - set(test["Id"]))
    ensure(not missing, f"training.csv lacks {len(missing)} of the videos in {TEST_ARCHIVE}: {', '.join(missing[:3])}")
    write_csv(table[~in_test], public / "training.csv")
    write_csv(test, private / "test.csv")
    write_csv(pd.DataFrame({"Id": ids}), public / "test.csv")
    random = Random(0)
    guesses = [" ".join(map(str, random.sample(GESTURES, len(GESTURES)))) for _ in ids]
    write_csv(pd.DataFrame({"Id": ids, "Sequence": guesses}), public / "randomPredictions.csv")
    link_file(raw / TEST_ARCHIVE, public / "test.tar.gz")
    for name in (*TAR_ARCHIVES, *OTHER_ARCHIVES):
        link_file(raw / name, public / name)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The sum of the videos' Levenshtein distances, over the number of true gestures."""
    truth, predictions = format.read(submission, private / "test.csv")
    empty = truth["Sequence"].isna()
    true, guessed = _gestures(truth[~empty]), _gestures(predictions)
    if empty.any():
        raise GradingError("the answers hold an empty sequence", fix="Prepare the competition again.")
    return sum(map(edit_distance, true, guessed)) / sum(map(len, true))


@hookimpl
def examine(predictions: DataFrame) -> None:
    _gestures(predictions)


def _gestures(frame: DataFrame) -> list[list[int]]:
    """The numbers in each row. Raises InvalidSubmission for anything else."""
    cells = frame["Sequence"].tolist()
    found: list[list[int]] = [[]] * len(cells)
    for place in in_file_order(frame, range(len(cells))):
        name, cell = frame["Id"].iloc[place], cells[place]
        if cell != cell:
            raise InvalidSubmission(f"column 'Sequence' is empty for Id {name}; it must hold at least one gesture")
        try:
            found[place] = list(map(int, words(str(cell))))
        except ValueError:
            raise InvalidSubmission(
                f"column 'Sequence' must hold whole numbers separated by blanks; found {str(cell)[:60]!r} for Id {name}"
            ) from None
    return found
