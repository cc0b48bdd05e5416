"""Classes of one part, drift and missing values are found where they are, and only there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from mlecore_audit import labels
from mlecore_audit.labels import drift_of

pytestmark = pytest.mark.slow


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def rows(rng: np.random.Generator, count: int, part: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [f"{part}{n:04}x" for n in range(count)],
            "size": rng.normal(size=count),
            "town": rng.choice([f"t{n}" for n in range(300)], count),
            "text": [" ".join(rng.choice([f"w{n}" for n in range(500)], rng.integers(9, 15))) for _ in range(count)],
            "note": np.where(rng.random(count) < 0.3, "", "y"),
            "digit": rng.integers(1, 10, count),
        }
    )


def test_clean_data_have_no_findings(subject_of: Any, rng: np.random.Generator) -> None:
    assert list(labels.examine(subject_of(rows(rng, 900, "a"), rows(rng, 300, "b")))) == []


def test_classes_of_one_part_only(subject_of: Any, rng: np.random.Generator) -> None:
    train, test = rows(rng, 900, "a"), rows(rng, 300, "b")
    test.loc[:8, "digit"] = 12
    train.loc[:8, "digit"] = 11
    unseen, unused = labels.examine(subject_of(train, test))
    assert unseen.level == "caution" and "1 of 'digit' such as '12' (9 rows, 3.0%)" in unseen.evidence
    assert unused.level == "note" and "1 of 'digit' such as '11' (9 rows, 1.0%)" in unused.evidence


@pytest.mark.parametrize(("shift", "level"), [(1.0, "note"), (5.0, "caution")])
def test_drift(shift: float, level: str, subject_of: Any, rng: np.random.Generator) -> None:
    train, test = rows(rng, 900, "a"), rows(rng, 300, "b")
    test["size"] += shift
    (found,) = labels.examine(subject_of(train, test))
    assert (found.level, found.kind, found.score) == (level, "drift", None)
    assert "most by 'size'" in found.evidence
    assert found.fix == ("split at random, or leave out what differs: --drop size" if level == "caution" else None)


def test_a_test_part_that_is_later_is_a_note(subject_of: Any, rng: np.random.Generator) -> None:
    train, test = rows(rng, 900, "a"), rows(rng, 300, "b")
    days = pd.date_range("2024-01-01", periods=1200).strftime("%d.%m.%Y")
    train["when"], test["when"] = rng.permutation(days[:900]), rng.permutation(days[900:])
    (found,) = labels.examine(subject_of(train, test))
    assert (found.level, found.fix) == ("note", None)
    assert "the test part is later by 'when'" in found.evidence


def test_drift_of_words_and_of_what_depends_on_two_columns(rng: np.random.Generator) -> None:
    def part(count: int, sign: int) -> pd.DataFrame:
        one = rng.choice([-1.0, 1.0], count)
        other = one * sign + rng.normal(size=count) * 0.1
        return pd.DataFrame({"one": one.astype(str), "other": other.astype(str)})

    drift = drift_of(part(400, 1), part(400, -1))
    assert drift is not None and drift.low > 0.9
    alone = part(400, 1)[["one"]], part(400, -1)[["one"]]
    none = drift_of(*alone)
    assert none is not None and none.low < 0.5


def test_columns_that_hold_one_value_or_none() -> None:
    """Infinity is no value."""
    columns = {"one": ["1"] * 100, "none": [""] * 100, "far": ["inf"] * 99 + ["-inf"], "word": ["w"] * 100}
    assert drift_of(pd.DataFrame(columns), pd.DataFrame(columns)) is None


@pytest.mark.parametrize(("share", "level"), [(0.5, "note"), (0.0, "caution")])
def test_missing_values(share: float, level: str, subject_of: Any, rng: np.random.Generator) -> None:
    train, test = rows(rng, 900, "a"), rows(rng, 300, "b")
    test.loc[rng.random(300) >= share, "town"] = ""
    findings = [finding for finding in labels.examine(subject_of(train, test)) if finding.kind == "missing values"]
    assert [finding.level for finding in findings] == [level]
    assert "1 of 4 columns" in findings[0].evidence and "'town' (0% in train" in findings[0].evidence
