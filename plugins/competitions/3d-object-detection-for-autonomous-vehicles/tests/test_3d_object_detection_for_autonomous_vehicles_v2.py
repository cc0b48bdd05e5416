"""Lyft 3D, edition v2: every box counts and is checked, and maps list their logs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial
from shapely.affinity import rotate
from shapely.geometry import box as rectangle

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


def test_scenes_are_on_one_side(trial: Trial) -> None:
    train, test = (
        json.loads((trial.public / f"{part}_data" / "sample.json").read_text()) for part in ("train", "test")
    )
    scenes = {sample["scene_token"] for sample in train}
    assert scenes
    assert not scenes & {sample["scene_token"] for sample in test}


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


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        truths = [_objects(rng, 3) for _ in range(3)]
        given = [
            _objects(rng, 2) + [(rng.random(), *_moved(rng, box)) for _, *box in boxes if rng.random() < 0.8]
            for boxes in truths
        ]
        score = trial.grade(table(*map(_cell, given)), table(*map(_cell, truths)))
        assert abs(score - _by_definition(truths, given)) < 1e-9


def _objects(rng: np.random.Generator, most: int) -> list[tuple]:
    return [
        (rng.random(), *rng.uniform(-3, 3, 3), *rng.uniform(1, 4, 3), rng.uniform(-4, 4), ("car", "bus", "truck")[kind])
        for kind in rng.integers(0, 3, rng.integers(1, most + 1))
    ]


def _moved(rng: np.random.Generator, box: list) -> tuple:
    return (*(np.array(box[:-1]) + rng.normal(scale=0.05, size=7)), box[-1])


def _cell(boxes: list[tuple]) -> str:
    return " ".join(str(word) for box in boxes for word in box)


def _by_definition(truths: list[list[tuple]], given: list[list[tuple]]) -> float:
    scores = []
    for threshold in range(50, 100, 5):
        for here, there in zip(truths, given, strict=True):
            hits = set()
            for _, *box in there:
                overlaps = [_overlap(box[:7], other[1:8]) if box[7] == other[8] else 0 for other in here]
                if max(overlaps) > threshold / 100:
                    hits.add(overlaps.index(max(overlaps)))
            scores.append(len(hits) / (len(here) + len(there) - len(hits)))
    return sum(scores) / len(scores)


def _overlap(one: list, other: tuple) -> float:
    grounds = []
    for x, y, _, width, length, _, yaw in (one, other):
        flat = rectangle(x - length / 2, y - width / 2, x + length / 2, y + width / 2)
        grounds.append(rotate(flat, yaw, origin=(x, y), use_radians=True))
    low = max(box[2] - box[5] / 2 for box in (one, other))
    high = min(box[2] + box[5] / 2 for box in (one, other))
    shared = grounds[0].intersection(grounds[1]).area * max(0, high - low)
    return shared / (sum(box[3] * box[4] * box[5] for box in (one, other)) - shared)
