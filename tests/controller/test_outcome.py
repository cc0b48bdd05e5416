"""What an agent reports of its end is shown as its report, and decides nothing."""

from __future__ import annotations

import json

from click.testing import CliRunner

from mlecore.agents import Outcome
from mlecore.cli import main
from mlecore.controller.display import describe


def call(lab, *words: str) -> str:
    done = CliRunner().invoke(main, ["runs", *words, "--runs", str(lab.runs)])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_report_is_in_the_record_and_wherever_runs_are_shown(lab):
    lab.make(("worker", {"outcome": "no_answer: status 403\nmore", "submission": "none"}))
    assert lab.run().complete
    (record,) = lab.records().values()
    assert (record.ended, record.outcome) == ("finished", Outcome(kind="no_answer", detail="status 403"))
    assert describe(record, lab.grader.grade(None, _Data)).endswith(
        "as reported by the agent, the model did not answer (status 403)"
    )
    assert "agent: the model did not answer (status 403)" in call(lab, "list", "g")
    assert json.loads(call(lab, "list", "g", "--json"))[0]["outcome"]["kind"] == "no_answer"
    assert "outcome:     the model did not answer (status 403), as reported by the agent" in call(lab, "show", "g")
    assert "As reported by agents: 1 x the model did not answer" in call(lab, "watch", "g", "--once")
    report = CliRunner().invoke(main, ["report", "g", "--runs", str(lab.runs)]).output
    assert "as reported by the agent, the model did not answer" in " ".join(report.split())


def test_a_report_does_not_change_who_is_to_blame(lab):
    """Neither excuses it a crash, nor makes it a failure worth a retry."""
    words = "submitted", "no_answer: the endpoint is down", "lost: by the backend"
    lab.make(*(("worker", {"outcome": text, "code": "3"}) for text in words))
    lab.run()
    for record in lab.records().values():
        assert (record.state, record.ended, len(record.attempts)) == ("graded", "crashed", 1)
        assert record.outcome is not None and record.reason == "exit code 3"


class _Data:
    competition = "coins"
