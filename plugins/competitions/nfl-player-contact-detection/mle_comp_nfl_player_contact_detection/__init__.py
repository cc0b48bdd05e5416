"""NFL Player Contact Detection: who touches whom, a tenth of a second at a time?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure_disjoint, link_files, read_csv, split, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

PLAY = "game_play"
TABLES = ["baseline_helmets", "player_tracking", "video_metadata"]
TEST_SHARE = 0.1  # of the plays
VIEWS = ["All29", "Endzone", "Sideline"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    write(raw, public, private, lambda plays: split(plays, test_size=TEST_SHARE))


def write(
    raw: Path, public: Path, private: Path, divided: Callable[[Sequence[str]], tuple[Sequence[str], Sequence[str]]]
) -> None:
    """All that prepared data hold; ``divided``: (train, test) of all plays.

    One table at a time is in memory, of which the largest has 4.7 million rows.
    """
    labels = _read(raw / "train_labels.csv")
    plays = dict(zip(("train", "test"), divided(labels[PLAY].unique()), strict=True))
    train, test = (labels[labels[PLAY].isin(part)] for part in plays.values())
    del labels
    ensure_disjoint(train["contact_id"], test["contact_id"], "contacts of train and test")
    write_csv(train, public / "train_labels.csv")
    del train
    write_csv(test, private / "test.csv")
    write_csv(test[["contact_id"]].assign(contact=0), public / "sample_submission.csv")
    del test
    for name in TABLES:
        table = _read(raw / f"train_{name}.csv")
        for part, chosen in plays.items():
            write_csv(table[table[PLAY].isin(chosen)], public / f"{part}_{name}.csv")
        del table
    for part, chosen in plays.items():
        link_files(raw / "train", public / part, [f"{play}_{view}.mp4" for play in chosen for view in VIEWS])


def _read(path: Path) -> DataFrame:
    """The published tables were read plainly, which changes last digits of long decimals."""
    return read_csv(path, float_precision=None)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return matthews_correlation(truth["contact"].to_numpy(), predictions["contact"].to_numpy())


def matthews_correlation(truth: NDArray[np.integer[Any]], predictions: NDArray[np.integer[Any]]) -> float:
    """Matthews' correlation coefficient of whole-number labels, of however many classes; 0 where one side is constant.

    Gorodkin's form, as in scikit-learn: covariances of the two assignments, from counts of each class.
    """
    import numpy as np

    rows, right = len(truth), int((truth == predictions).sum())
    asked, given = (
        dict(zip(*(part.tolist() for part in np.unique(side, return_counts=True)), strict=True))
        for side in (truth, predictions)
    )
    together = right * rows - sum(count * given.get(label, 0) for label, count in asked.items())
    alone = [rows**2 - sum(count**2 for count in side.values()) for side in (asked, given)]
    return float(together / (float(alone[0]) * float(alone[1])) ** 0.5) if all(alone) else 0.0
