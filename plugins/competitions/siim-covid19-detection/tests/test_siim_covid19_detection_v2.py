"""SIIM COVID-19, edition v2: the average precision of VOC 2010."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from mle_comp_siim_covid19_detection import LABELS
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")
Box = tuple[str, float, tuple[float, ...]]  # label, confidence, corners


def cell(boxes: list[Box]) -> str:
    return " ".join(f"{label} {confidence} {' '.join(map(str, box))}" for label, confidence, box in boxes)


def test_what_is_missed_earns_nothing(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    missed = answers.assign(PredictionString=answers["PredictionString"].replace("none 1 0 0 1 1", "opacity 0 0 0 1 1"))
    labels = answers["PredictionString"].str.split().str[0].nunique()
    assert trial_v1.grade(missed) > (labels - 1) / labels
    assert trial.grade(missed) == pytest.approx((labels - 1) / labels)


def test_right_boxes_only_are_perfect(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    after = answers.assign(PredictionString=answers["PredictionString"] + " opacity 0.5 0 0 1 1")
    assert trial.grade(after) == 1  # wrong ones that come after all right ones


@pytest.mark.parametrize(
    "record", ["opacities 1 0 0 1 1", "opacity nan 0 0 1 1", "opacity 1 0 0 inf 1", "Negative 1 0 0 1 1"]
)
def test_impossible_records_are_invalid(trial: Trial, answers: pd.DataFrame, record: str) -> None:
    cells = answers["PredictionString"].tolist()
    trial.refuses(answers.assign(PredictionString=[f"{cells[0]} {record}", *cells[1:]]), "labels must be .*found '")


def test_it_agrees_with_the_definition(trial: Trial) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        truths = {f"{row}_image": _boxes(rng, 1) for row in range(6)}
        given = {id: _boxes(rng, 2) + [box for box in boxes if rng.random() < 0.5] for id, boxes in truths.items()}
        tables = [
            pd.DataFrame({"id": list(rows), "PredictionString": [cell(boxes) for boxes in rows.values()]})
            for rows in (truths, given)
        ]
        score = trial.grade(tables[1], tables[0])
        assert abs(score - _by_definition(truths, given)) < 1e-9


def _boxes(rng: np.random.Generator, most: int) -> list[Box]:
    found = []
    for _ in range(rng.integers(1, 3 * most)):
        x, y, width, height = (*rng.integers(0, 6, 2).tolist(), *rng.integers(1, 6, 2).tolist())
        found.append((LABELS[rng.integers(3)], rng.integers(1, 10) / 10, (x, y, x + width, y + height)))
    return found


def _by_definition(truths: dict[str, list[Box]], given: dict[str, list[Box]]) -> float:
    scores = []
    for label in sorted({box[0] for boxes in truths.values() for box in boxes}):
        mine = {id: [box for name, _, box in boxes if name == label] for id, boxes in truths.items()}
        positives = sum(map(len, mine.values()))
        boxes = [(box[1], id, box[2]) for id in sorted(given) for box in given[id] if box[0] == label]
        precisions, found = [], set()
        for _, id, box in sorted(boxes, key=lambda each: -each[0]):
            best = max(range(len(mine[id])), key=lambda place: _overlap(box, mine[id][place]), default=None)
            if best is not None and _overlap(box, mine[id][best]) > 0.5 and (id, best) not in found:
                found.add((id, best))
                precisions.append((len(found), True))
            else:
                precisions.append((len(found), False))
        curve = [(hits / positives, hits / count) for count, (hits, _) in enumerate(precisions, 1)]
        recalls = [0.0, *sorted({recall for recall, _ in curve})]
        scores.append(
            sum((recall - before) * max(p for r, p in curve if r >= recall) for before, recall in pairwise(recalls))
        )
    return sum(scores) / len(scores)


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    width = max(0, min(one[2], other[2]) - max(one[0], other[0]))
    height = max(0, min(one[3], other[3]) - max(one[1], other[1]))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return width * height / (sum(areas) - width * height)
