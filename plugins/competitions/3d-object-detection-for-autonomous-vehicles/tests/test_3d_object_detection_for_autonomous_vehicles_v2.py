"""Lyft 3D, edition v2: every box counts and is checked, and maps list their logs."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
CAR = "1.0 10.0 20.0 0.0 2.0 4.0 2.0 0.3 car"
BUS = "1.0 500.0 20.0 0.0 2.0 4.0 2.0 0.3 bus"


def table(*cells: str) -> pd.DataFrame:
    return pd.DataFrame({"Id": [f"s{place}" for place in range(len(cells))], "PredictionString": cells})


def logs_of(folder: Path) -> tuple[list[str], list[str]]:
    (record,) = json.loads((folder / "map.json").read_text())
    return record["log_tokens"], [log["token"] for log in json.loads((folder / "log.json").read_text())]


def test_maps_list_their_own_logs(trial: Trial, trial_v1: Trial) -> None:
    wrong, _ = logs_of(trial_v1.public / "train_data")
    assert not set(wrong) & set(logs_of(trial.public / "train_data")[1])
    for part in ("train", "test"):
        listed, logs = logs_of(trial.public / f"{part}_data")
        assert listed == logs
    assert (trial.public / "train.csv").read_bytes() == (trial_v1.public / "train.csv").read_bytes()


def test_a_class_that_is_not_there_costs(trial: Trial, trial_v1: Trial) -> None:
    given = table(f"{CAR} {BUS}", f"{CAR}")
    truth = table(CAR, CAR)
    assert trial_v1.grade(given, truth) == 1
    assert trial.grade(given, truth) == 0.75


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        ("1.0 10 20 inf 2 4 2 0.3 animal", "finite"),
        ("nan 10 20 0 2 4 2 0.3 animal", "finite"),
        ("1.0 10 20 0 2 0 2 0.3 animal", "no box can be built"),
        ("1.0 10 20 0 2 4 2 0.3 tram", "classes animal"),
    ],
)
def test_every_box_is_checked(trial: Trial, trial_v1: Trial, answers: pd.DataFrame, box: str, reason: str) -> None:
    """No sample has an animal, or a tram."""
    cells = answers["PredictionString"].tolist()
    odd = answers.assign(PredictionString=[f"{cells[0]} {box}", *cells[1:]])
    assert trial_v1.grade(odd) == 1
    trial.refuses(odd, reason)
