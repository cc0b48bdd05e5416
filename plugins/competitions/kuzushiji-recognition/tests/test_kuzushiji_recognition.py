"""Kuzushiji: points in boxes, and pages without labels."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from mle_comp_kuzushiji_recognition import BOX, count_hits

from mlecore_testing import Trial
from mlecore_toolkit.submissions.records import decode_records

pytestmark = pytest.mark.trial(size=0.3)


def hits_of(boxes: str, points: list[tuple[str, float, float]]) -> int:
    """On each of two pages."""
    page, record = pd.DataFrame(index=[0, 1]), BOX[:3]
    given = " ".join(f"{code} {x} {y}" for code, x, y in points)
    return sum(map(count_hits, decode_records(page, [boxes] * 2, BOX), decode_records(page, [given] * 2, record)))


def test_a_test_page_without_labels_stops_the_preparation(trial: Trial) -> None:
    raw = trial.raw_copy()
    pd.read_csv(raw / "train.csv").assign(labels=None).to_csv(raw / "train.csv", index=False)
    trial.refuses_raw(raw, "has no labels")


@pytest.mark.parametrize(
    ("points", "hits"),
    [
        ([("A", 11, 11)], 1),
        ([("A", 10, 12), ("A", 12, 15)], 0),  # on the edge
        ([("B", 12, 12), ("A", math.nan, 12), ("A", 12, math.inf)], 0),
        ([("A", 12, 12), ("A", 13, 13), ("A", 14, 14)], 2),  # two boxes, one over the other
    ],
)
def test_count_hits(points: list[tuple[str, float, float]], hits: int) -> None:
    assert hits_of("A 10 10 5 5 A 10 10 5 5", points) == 2 * hits


def test_the_first_free_point_is_used_up() -> None:
    assert hits_of("A 0 0 9 9 A 0 0 3 3", [("A", 1, 1), ("A", 8, 8)]) == 2
    assert hits_of("A 0 0 3 3 A 0 0 9 9", [("A", 1, 1), ("A", 8, 8)]) == 4
