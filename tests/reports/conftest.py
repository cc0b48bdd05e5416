"""Runs as values, and groups of drawn runs on disk."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve

from mlecore.grading.report import Report
from mlecore.registry.provenance import PluginUse
from mlecore.reports.graded import Graded, ReportedFinding
from mlecore.runs.record import RunRecord

sys.path.insert(0, str(Path(__file__).parent))  # for the package recomputed


@pytest.fixture(scope="session")
def groups() -> ModuleType:
    """tests/reports/groups.py."""
    spec = importlib.util.spec_from_file_location("mlecore_test_groups", Path(__file__).with_name("groups.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def two_groups(groups: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs folder with the groups "good" and "bad" of 225 runs each. Tests read it only."""
    runs = tmp_path_factory.mktemp("runs")
    groups.write_group(runs, "good", agent="baseline", skill=0.7)
    groups.write_group(runs, "bad", agent="dummy", skill=0.3)
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
    def make(score: float = 0.8, medal: str | None = None, **changes: Any) -> Report:
        made = Report(
            competition_id="spaceship-titanic",
            score=score,
            score_text=repr(score),
            gold_threshold=0.9,
            silver_threshold=0.85,
            bronze_threshold=0.8,
            median_threshold=0.7,
            any_medal=medal is not None,
            gold_medal=medal == "gold",
            silver_medal=medal == "silver",
            bronze_medal=medal == "bronze",
            above_median=score > 0.7,
            submission_exists=True,
            valid_submission=True,
            is_lower_better=False,
            created_at="2026-01-01T00:00:00+00:00",
            submission_path="submission.csv",
            status="graded",
            sample_score=0.5,
            beats_sample=score > 0.5,
        )
        return evolve(made, **changes)

    return make


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
