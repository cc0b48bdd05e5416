"""Herbarium 2020: species of few specimens, text in the wrong encoding, predictions cut to integers."""

from __future__ import annotations

import json

import pandas as pd
from mlecore_testing import Trial


def test_each_species_is_split_by_itself(trial: Trial, answers: pd.DataFrame) -> None:
    train = json.loads((trial.public / "nybg2020/train/metadata.json").read_text())
    kept = [annotation["category_id"] for annotation in train["annotations"]]
    counts = {kind: (kept.count(kind), int((answers["Predicted"] == kind).sum())) for kind in set(kept)}
    few = {120: (1, 0), 3: (1, 1), 15504: (2, 1), 99: (3, 1)}
    assert counts == few | {0: (4, 1), 100: (4, 2), 7: (8, 3), 10000: (20, 5), 9999: (24, 6), 101: (32, 8)}
    assert train["regions"] == [{"id": 1, "name": "QuÃ©bec"}]  # published so


def test_fractions_are_cut_off(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(Predicted=answers["Predicted"] + 0.9)) == 1
    text = [f"{kind[0]}_{kind[1:]} " if len(kind) > 1 else kind for kind in answers["Predicted"].astype(str)]
    assert trial.grade(answers.assign(Predicted=text)) == 1
    trial.refuses(answers.assign(Predicted=[*text[:-1], "3.0"]), "integers")
