"""iMet 2020: attributes that no test image has cost nothing, and a column of numbers is refused."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.2)


def test_pictures_follow_the_split(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train.csv")
    for part, folder in ((train, "train"), (answers, "test")):
        names = [f"{id}.png" for id in part["id"]]
        assert sorted(names) == sorted(path.name for path in (trial.public / folder).iterdir())
        for name in names:
            assert (trial.public / folder / name).read_bytes() == (trial.raw / "train" / name).read_bytes()


def test_unknown_attributes_cost_nothing(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(attribute_ids=answers["attribute_ids"] + " 3473 x 01 3473")) == 1
    assert (
        trial.grade(answers.assign(attribute_ids=[" ".join(c.split()[::-1] * 2) for c in answers["attribute_ids"]]))
        == 1
    )
    assert trial.grade(answers.assign(attribute_ids="")) == 0
    hits, size = (
        sum(fits)
        for fits in zip(*(("782" in c.split(), len(c.split()) + 1) for c in answers["attribute_ids"]), strict=True)
    )
    assert trial.grade(answers.assign(attribute_ids="782 y")) == pytest.approx(2 * hits / size)


def test_a_column_of_numbers_is_refused(trial: Trial, answers: pd.DataFrame) -> None:
    with pytest.raises(InvalidSubmission, match="text"):
        trial.grade(answers.assign(attribute_ids=782))
    gaps = answers.assign(attribute_ids="782")
    gaps.loc[0, "attribute_ids"] = ""
    with pytest.raises(InvalidSubmission, match="text"):
        trial.grade(gaps)
