"""The kit's rule golden: other data, other prepared files and other scores than recorded are found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore_testing.competitions.golden import _brief, _digests, _md5_of, golden, submissions
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Stop, Undecided

pytestmark = pytest.mark.slow

SIZE = 0.2


def record(harness: Harness) -> dict[str, Any]:
    """What the competition itself makes of its data."""
    prepared = harness.shared.prepared(harness.competition, 0, SIZE)
    perfect = harness.competition.perfect(prepared / "private").to_csv(index=False)
    made: dict[str, Any] = {}
    for name, data in submissions((prepared / "public/sample_submission.csv").read_text(), perfect).items():
        response = harness.grade(data(), prepared)
        end = {"invalid": True} if response.score is None else {"score": str(response.score)}
        made[name] = {"md5": hashlib.md5(data()).hexdigest(), **end}
    files = {part: _brief(_digests(prepared / part)) for part in ("public", "private")}
    raw = _md5_of(_digests(harness.shared.raw(harness.competition, 0, SIZE)))
    return {"seed": 0, "size": SIZE, "raw": raw, "submissions": made, **files}


@pytest.fixture
def tried(harness_of: Callable[..., Harness], tmp_path: Path) -> Callable[..., list[str]]:
    harness = harness_of()
    with pytest.raises(Undecided):
        list(golden(harness))
    known = record(harness)
    assert len(known["submissions"]) == 22
    (tmp_path / "site" / "tests").mkdir()

    def judged(change: Callable[[dict[str, Any]], object]) -> list[str]:
        change(known)
        (tmp_path / "site" / "tests" / "golden.json").write_text(json.dumps(known))
        return [broken.where for broken in golden(harness)]

    return judged


def test_what_is_as_recorded_is_fine(tried: Callable[..., list[str]]) -> None:
    assert tried(lambda known: None) == []


def test_each_difference_is_named(tried: Callable[..., list[str]]) -> None:
    def change(known: dict[str, Any]) -> None:
        known["public"]["train.csv"] = "0" * 32
        known["private"]["gone.csv"] = "0" * 32
        known["public"]["test.csv"] = None  # not compared
        known["submissions"]["rotated"]["score"] = "0.123"
        known["submissions"]["perfect"] = {**known["submissions"]["perfect"], "invalid": True}
        del known["submissions"]["perfect"]["score"]
        known["submissions"]["empty"]["md5"] = "0" * 32

    assert sorted(tried(change)) == ["empty", "perfect", "private/gone.csv", "public/train.csv", "rotated"]


def test_other_synthetic_data_stop_the_rule(tried: Callable[..., list[str]]) -> None:
    with pytest.raises(Stop):
        tried(lambda known: known.update(raw="0" * 32))
