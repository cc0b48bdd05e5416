"""`mlecore prepare --sealed`: agents work without the answers, and runs are graded once these can be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mlecore.cli import main
from mlecore.runs.store import load_group

ID = "optical-digits"


def call(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.mark.slow
def test_from_prepare_to_a_grade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLECORE_DATA", str(tmp_path / "data"))
    assert call("prepare", ID, "--sealed", "safe").exit_code == 0
    (listed,) = json.loads(call("data", "list", "--json").output)
    assert listed["sealed"].startswith(str(tmp_path / "safe"))
    assert call("prepare", ID, "--sealed", "safe").exit_code == 0  # they are there already
    refused = call("prepare", ID, "--force")
    assert refused.exit_code == 2 and "--sealed DIR" in refused.output

    (tmp_path / "safe").rename(tmp_path / "away")
    sample = tmp_path / "data" / ID / "prepared" / "public" / "sample_submission.csv"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / f"{ID}.csv").write_bytes(sample.read_bytes())
    run = ("run", "--agent", "submissions", "-A", f"from={tmp_path / 'mine'}", "--competition", ID, "--no-detect")
    assert call(*run, "--group", "g").exit_code == 3
    (record,) = load_group(tmp_path / "runs" / "g")
    assert record.state == "collected"
    for words in (["data", "verify", ID], ["audit", ID], ["grade", str(sample), ID]):
        failed = call(*words)
        assert failed.exit_code == 3 and f"sealed in {tmp_path / 'safe'}" in failed.output

    (tmp_path / "away").rename(tmp_path / "safe")
    assert call("runs", "grade", "g").exit_code == 0
    (record,) = load_group(tmp_path / "runs" / "g")
    assert record.state == "graded" and record.report is not None and record.report.valid_submission
    assert call("data", "verify", ID).exit_code == 0
