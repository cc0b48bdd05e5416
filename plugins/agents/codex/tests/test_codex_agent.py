"""Codex: a graded run whose session is continued, and what its logs say of tokens."""

from __future__ import annotations

import json
from pathlib import Path

import mle_agent_codex as plugin
import pytest

from mlecore.testing import check_agent, scripted_run
from mlecore.testing.models import Answer
from mlecore.testing.models.script import Tool


def bash(command: str) -> Answer:
    return Answer(tools=(Tool(name="exec_command", arguments={"cmd": command}),))


def test_conformance() -> None:
    check_agent("codex")


def test_usage_is_that_of_the_last_turn_of_each_session(tmp_path: Path) -> None:
    lines = [
        {"type": "thread.started", "thread_id": "a"},
        {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 1}},
        {"type": "thread.started", "thread_id": "a"},
        {"type": "turn.completed", "usage": {"input_tokens": 30, "output_tokens": 3}},
        {"type": "thread.started", "thread_id": "b"},
        {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 1}},
    ]
    (tmp_path / "codex.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    usage = plugin.usage(tmp_path)
    assert (usage.input_tokens, usage.output_tokens) == (35, 4)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
def test_a_graded_run_in_two_sessions(tmp_path: Path) -> None:
    answers = (
        bash("cp data/sample_submission.csv submission/submission.csv"),
        Answer(text="That is all."),
        bash("touch logs/finished"),
        Answer(text="Now it is.", times=0),
    )
    done = scripted_run("codex", answers, tmp_path, options={"pip": ""})
    assert json.loads((done.record.folder / "grade.json").read_bytes())["valid_submission"]
    conversation = json.dumps(done.served.requests[-1]["body"]["input"])
    assert "left. Go on" in conversation and "That is all." in conversation and "WHAT COUNTS" in conversation
    assert any((done.record.folder / "logs" / "codex" / "sessions").rglob("*.jsonl"))
    assert done.leaks == ()
    assert done.record.usage.input_tokens == done.record.reported_usage.input_tokens == done.served.input
