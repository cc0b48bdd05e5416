"""Why a run has no valid submission, and what to do first."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import groups_on_disk
import pytest
from attrs import evolve
from mle_ext_view.verdict import verdict

from mlecore.model.calls import ModelCalls
from mlecore.model.record import RunRecord
from mlecore_testing.grades import report

NONE = report(None, status="none", submission_exists=False, reason="there is no submission")


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    record, *_ = groups_on_disk.new_group(tmp_path, "group")
    limits = evolve(record.limits, time=7200.0, memory=16 * 10**9)
    return evolve(record, state="graded", ended="finished", candidates=("submission/submission.csv",), limits=limits)


@pytest.mark.parametrize(
    ("changes", "why", "command"),
    [
        ({"ended": "timed_out"}, "time limit of 2h", "mlecore run --time-limit 4h ..."),
        ({"ended": "oom"}, "16.0 GB", "mlecore run --memory 32GB ..."),
        ({"ended": "crashed", "reason": "exit code 3"}, "exit code 3", "mlecore runs logs group/"),
        ({"ended": "crashed", "reason": "killed by signal 9"}, "killed by signal 9", "mlecore run --memory 32GB"),
        ({"ended": "finished"}, "no submission/submission.csv", "mlecore runs retry --force group/"),
        ({"relay_refused": {"models.example:443": 3}}, "no submission", "mlecore run --allow models.example ..."),
        ({"calls": ModelCalls(exhausted="5usd")}, "no submission", "mlecore run -G budgets="),
    ],
)
def test_a_run_without_a_submission(record: RunRecord, changes: dict[str, Any], why: str, command: str) -> None:
    found = verdict(evolve(record, **changes), NONE)
    assert found and why in found.why
    assert any(step.command.startswith(command) for step in found.steps)


def test_others_without_a_result(record: RunRecord) -> None:
    for state, command in (("failed", "mlecore doctor"), ("cancelled", "mlecore runs retry group/")):
        found = verdict(evolve(record, state=state, ended="lost", reason="somebody had enough"), None)
        assert found and found.why == "Somebody had enough." and found.steps[0].command.startswith(command)
    found = verdict(record, report(None, reason="it has 3 rows, not 5"))
    assert found and found.why == "It has 3 rows, not 5."
    assert any(step.command.endswith("submission.csv optical-digits") for step in found.steps)
    found = verdict(evolve(record, state="collected"), None)
    assert found and found.steps[0].command == "mlecore runs grade group"


def test_commands_find_a_folder_of_another_name(record: RunRecord) -> None:
    for made in (NONE, report(None, reason="it has 3 rows, not 5"), None):
        found = verdict(record, made, " --runs /data/runs")
        assert found
        commands = [step.command for step in found.steps if step.command]
        assert all(str(record.folder) in each or each.endswith(" --runs /data/runs") for each in commands), commands


def test_a_run_that_worked_or_works_has_none(record: RunRecord) -> None:
    assert verdict(evolve(record, ended="timed_out"), report(0.7)) is None
    for state in ("planned", "waiting", "running"):
        assert verdict(evolve(record, state=state), None) is None


def test_a_hostile_name_stays_one_word_of_a_command(record: RunRecord) -> None:
    odd = "x; rm -rf ~ \x1b"
    found = verdict(evolve(record, folder=record.folder.parent / odd), NONE)
    assert found
    (command,) = (step.command for step in found.steps if "retry" in step.command)
    assert len(shlex.split(command)) == 10 and "\x1b" not in command
