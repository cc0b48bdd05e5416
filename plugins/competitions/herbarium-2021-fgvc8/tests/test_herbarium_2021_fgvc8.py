"""Herbarium 2021: species of few specimens, text in the right encoding, predictions cut to integers."""

from __future__ import annotations

import json

import pandas as pd
from mlecore_testing import Trial


def test_each_species_is_split_by_itself(trial: Trial, answers: pd.DataFrame) -> None:
    train = json.loads((trial.public / "train/metadata.json").read_text())
    kept = [annotation["category_id"] for annotation in train["annotations"]]
    test = answers["Predicted"].tolist()
    counts = [(kept.count(kind), test.count(kind)) for kind in (120, 3, 15504, 99, 0, 100)]
    assert counts == [(1, 0), (1, 1), (2, 1), (3, 1), (4, 1), (4, 2)]
    assert train["institutions"] == [{"id": 0, "name": "Jardín Botánico"}]


def test_fractions_are_cut_off(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(Predicted=answers["Predicted"] + 0.9)) == 1
