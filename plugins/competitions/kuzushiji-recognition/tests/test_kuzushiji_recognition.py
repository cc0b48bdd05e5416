"""Kuzushiji: points in boxes, empty pages, and groups of three."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from mle_comp_kuzushiji_recognition import count_hits

from mlecore import InvalidSubmission
from mlecore.errors import DataError
from mlecore.prepare import members
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.3)
BOX = "A 10 10 5 5".split()


@pytest.fixture
def gold(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "gold_submission.csv")


def test_pages_follow_the_tables(trial: Trial, answers: pd.DataFrame) -> None:
    assert members(trial.public / "test_images.zip") == [f"{page}.jpg" for page in answers["image_id"]]


def test_a_test_page_without_labels_stops_the_preparation(trial: Trial, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    for path in trial.raw.iterdir():
        (raw / path.name).hardlink_to(path)
    pages = pd.read_csv(raw / "train.csv")
    (raw / "train.csv").unlink()
    pages.assign(labels=None).to_csv(raw / "train.csv", index=False)
    with pytest.raises(DataError, match="has no labels"):
        trial.competition.prepare(raw, tmp_path / "public", tmp_path / "private")


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
    assert count_hits([*BOX, *BOX], points) == hits


def test_the_first_free_point_is_used_up() -> None:
    assert count_hits("A 0 0 9 9 A 0 0 3 3".split(), [("A", 1, 1), ("A", 8, 8)]) == 1
    assert count_hits("A 0 0 3 3 A 0 0 9 9".split(), [("A", 1, 1), ("A", 8, 8)]) == 2


def test_scores(trial: Trial, gold: pd.DataFrame) -> None:
    assert trial.grade(gold) == 1
    twice = gold.assign(labels=gold["labels"] + " " + gold["labels"])
    assert math.isclose(trial.grade(twice), 2 / 3)
    kept = gold["labels"].where(gold.index != 0)
    share = kept.dropna().str.split().map(len).sum() / gold["labels"].str.split().map(len).sum()
    assert math.isclose(trial.grade(gold.assign(labels=kept)), 2 * share / (1 + share))
    assert trial.grade(gold.assign(labels=None)) == 0


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("U+003F 1", "records of 3 words"),
        ("U+003F  1 1", "records of 3 words"),
        ("U+003F x 1", "float"),
        (" ", "blank"),
    ],
)
def test_refused(trial: Trial, gold: pd.DataFrame, cell: str, reason: str) -> None:
    gold.loc[1, "labels"] = cell
    with pytest.raises(InvalidSubmission, match=reason):
        trial.grade(gold)
