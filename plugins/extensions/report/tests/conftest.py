"""Runs as values, and groups of drawn runs on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mle_ext_report.graded import Graded, ReportedFinding

from mlecore.model.provenance import PluginUse
from mlecore.model.record import RunRecord
from mlecore.model.report import Report
from mlecore_testing import drawn_groups, grades


@pytest.fixture(scope="session")
def two_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs folder with the groups "good" and "bad" of 225 runs each. Tests read it only."""
    runs = tmp_path_factory.mktemp("runs")
    drawn_groups.write_group(runs, "good", agent="baseline", skill=0.7)
    drawn_groups.write_group(runs, "bad", agent="dummy", skill=0.3)
    return runs


@pytest.fixture
def run() -> Callable[..., RunRecord]:
    def make(competition: str = "spaceship-titanic", seed: int = 0, **changes: Any) -> RunRecord:
        group = changes.get("group", "g")
        values: dict[str, Any] = {
            "uid": f"{group}{competition}{seed}",
            "name": f"{competition}--{seed}",
            "group": group,
            "group_uid": group,
            "competition": competition,
            "data_kind": "published",
            "seed": seed,
            "agent": PluginUse(name="baseline", version="1.0"),
            "backend": PluginUse(name="vm"),
            "state": "graded",
            "ended": "finished",
            "seconds": 3600.0,
        }
        return RunRecord(**{**values, **changes})

    return make


@pytest.fixture
def report() -> Callable[..., Report]:
    return grades.report


@pytest.fixture
def graded(run: Callable[..., RunRecord], report: Callable[..., Report]) -> Callable[..., Graded]:
    """A graded run: a record's keys, and ``score``, ``medal``, ``made`` (its report, or None), ``suspicions``."""

    def make(competition: str = "spaceship-titanic", seed: int = 0, **changes: Any) -> Graded:
        suspicions: tuple[ReportedFinding, ...] = changes.pop("suspicions", ())
        history = changes.pop("history", ())
        made = changes.pop("made", ...)
        if made is ...:
            made = report(changes.pop("score", 0.8), changes.pop("medal", None), competition_id=competition)
        return Graded(run=run(competition, seed, **changes), report=made, suspicions=suspicions, history=history)

    return make


@pytest.fixture
def without_thresholds(report: Callable[..., Report]) -> Callable[..., Report]:
    """A report on data that earn no medals."""

    def make(score: float, **changes: Any) -> Report:
        none = dict.fromkeys(f"{name}_threshold" for name in ("gold", "silver", "bronze", "median"))
        return report(score, **{**none, "above_median": False, "data_kind": "synthetic", **changes})

    return make
