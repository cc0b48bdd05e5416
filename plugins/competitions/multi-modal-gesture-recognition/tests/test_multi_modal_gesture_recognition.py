"""Multi-modal Gesture Recognition: an archive that chooses the test set, and lists of gestures."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore.prepare import members
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.1)


def test_the_fourth_archive_chooses_the_test_set(trial: Trial) -> None:
    table = pd.read_csv(trial.raw / "training.csv", dtype=str)
    ids = [name[-8:-4] for name in members(trial.raw / "training4.tar.gz")]
    test = table[table["Id"].isin(ids)]
    assert (trial.private / "test.csv").read_text() == test.to_csv(index=False)  # in file order
    assert (trial.public / "training.csv").read_text() == table.drop(test.index).to_csv(index=False)
    assert (trial.public / "test.csv").read_text() == "\n".join(["Id", *sorted(ids), ""])
    first = (trial.public / "randomPredictions.csv").read_text().splitlines()[1]
    assert first == f"{min(ids)},13 14 2 9 16 7 20 5 8 6 10 4 3 12 18 1 15 17 19 11"
    assert (trial.public / "test.tar.gz").read_bytes() == (trial.raw / "training4.tar.gz").read_bytes()
    assert not (trial.public / "training4.tar.gz").exists()


def test_distances_add_up(trial: Trial, answers: pd.DataFrame) -> None:
    total = answers["Sequence"].str.split().str.len().sum()
    assert trial.grade(answers.assign(Sequence=answers["Sequence"] + " 21 -1")) == 2 * len(answers) / total
    assert trial.grade(answers.assign(Sequence=" ")) == 1  # a quoted cell of blanks is an empty list
    longest = [max(map(int, cell.split())) for cell in answers["Sequence"]]  # a column of numbers
    lengths = answers["Sequence"].str.split().str.len()
    assert trial.grade(answers.assign(Sequence=longest)) == (lengths - 1).sum() / total


def test_what_int_takes_counts(trial: Trial, answers: pd.DataFrame) -> None:
    odd = ["\u00a0".join(f"+0{number}" for number in cell.split()) for cell in answers["Sequence"]]
    assert trial.grade(answers.assign(Sequence=odd, Id=[f"0{name}" for name in answers["Id"]], more=1)) == 0


@pytest.mark.parametrize("cell", ["1,2", "5.0", "ok", None])
def test_other_cells_are_refused(trial: Trial, answers: pd.DataFrame, cell: str | None) -> None:
    with pytest.raises(InvalidSubmission, match="Sequence"):
        trial.grade(answers.assign(Sequence=[cell, *answers["Sequence"][1:]]))
    with pytest.raises(InvalidSubmission, match="Sequence"):  # empty, beside single numbers
        trial.grade(answers.assign(Sequence=[cell, *[5] * (len(answers) - 1)]))
