"""iNaturalist 2019: photographs packed anew, and predictions of which only the first word counts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_testing.trees import tree
from mlecore_toolkit import extract


def test_unpacked_photographs_give_the_same_data(trial: Trial, tmp_path: Path) -> None:
    for path in trial.raw.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    extract(trial.raw / "train_val2019.tar.gz", tmp_path)
    public, _ = trial.prepare(tmp_path)
    assert tree(public) == tree(trial.public)


def test_the_first_word_counts(trial: Trial, answers: pd.DataFrame) -> None:
    words = [f" +{kind} 3.0 cat" for kind in answers["predicted"]]
    assert trial.grade(answers.assign(predicted=words)) == 0
    assert trial.grade(answers.assign(predicted=False)) == 1 - (answers["predicted"] == 0).mean()
    assert trial.grade(answers.assign(predicted=["-5", *words[1:]])) == pytest.approx(1 / len(answers))
    for wrong in ("3.0 4", "cat", " ", "9223372036854775808 1", "inf"):
        trial.refuses(answers.assign(predicted=[wrong, *words[1:]]), "whole numbers")
    for column in (answers["predicted"] + 0.0, [2**63, *answers["predicted"][1:]], [None, *answers["predicted"][1:]]):
        trial.refuses(answers.assign(predicted=column), "whole numbers")
