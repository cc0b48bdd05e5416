"""`mlecore competitions calibrate` writes what agents scored, and nothing where humans have scores."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from mle_ext_own_data import calibrate

from mlecore.errors import DataError, PluginError, UsageError
from mlecore.model.provenance import PluginUse
from mlecore.model.record import RunRecord
from mlecore.plugins.competitions import competition
from mlecore_testing import grades
from mlecore_testing.records import a_run

OPTICAL = competition("optical-digits")  # has no leaderboard


def run(folder: Path, seed: int, score: float | None, state: str = "graded", agent: str = "baseline") -> RunRecord:
    folder /= f"{agent}--{seed}"
    folder.mkdir(parents=True)
    if score is not None:
        (folder / "grade.json").write_text(json.dumps(grades.report(score).to_json()))
    plugin = PluginUse(name=agent, version="1.0")
    return a_run(folder, competition=OPTICAL.id, agent=plugin, seed=seed, state=state, data_digest="d" * 64)


def test_thresholds_are_places_among_the_runs(tmp_path: Path) -> None:
    scores = [0.91, 0.95, 0.93, 0.97, 0.99]
    records = [run(tmp_path, seed, score) for seed, score in enumerate(scores)]
    records += [run(tmp_path, seed, score - 0.5, agent="dummy") for seed, score in enumerate(scores)]
    records.append(run(tmp_path, 9, None, "failed"))
    found = calibrate.reference_of(records, OPTICAL)
    # of ten teams, gold is the first place, silver the second, bronze the fourth, and five are above the median
    assert (found.gold, found.silver, found.bronze, found.median) == (0.99, 0.97, 0.93, pytest.approx(0.7))
    assert (found.agents, found.data, found.date) == (("baseline 1.0", "dummy 1.0"), "d" * 64, "2026-01-01")
    with pytest.raises(DataError, match="none of 1 runs"):
        calibrate.reference_of(records[-1:], OPTICAL)


def test_the_table_replaces_an_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "competition.toml"
    before = (OPTICAL.facts.folder / "competition.toml").read_text()
    path.write_text(before)
    found = calibrate.reference_of([run(tmp_path, 0, 0.5)], OPTICAL)
    calibrate.write(path, calibrate.table(found))
    once = path.read_text()
    assert once.startswith(before.rstrip()) and tomllib.loads(once)["reference"]["gold"] == 0.5
    moved = once.replace("\n[submission]", "\n[reference]\ngold = 7\n\n[submission]", 1).rpartition("\n[reference]")[0]
    path.write_text(moved)
    calibrate.write(path, calibrate.table(found))
    assert tomllib.loads(path.read_text()) == tomllib.loads(once)
    path.write_text("id = 3\n")
    with pytest.raises(PluginError):
        calibrate.write(path, calibrate.table(found))
    assert path.read_text() == "id = 3\n"


def test_only_a_package_that_its_owner_edits_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert calibrate.is_editable("mle-ext-own-data") and not calibrate.is_editable("click")
    monkeypatch.setattr(calibrate, "distribution", lambda name: SimpleNamespace(read_text=lambda file: None))
    assert not calibrate.is_editable("from-an-index")


def test_humans_come_first() -> None:
    done = CliRunner().invoke(calibrate.command, ["spaceship-titanic"])
    assert isinstance(done.exception, UsageError) and "human leaderboard" in str(done.exception)
