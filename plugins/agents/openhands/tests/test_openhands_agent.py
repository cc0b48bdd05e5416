"""OpenHands: a graded run whose conversation is continued, and what its logs say of tokens."""

from __future__ import annotations

import json
from pathlib import Path

import mle_agent_openhands as plugin
import pytest

from mlecore.errors import BackendError
from mlecore.testing import check_agent, scripted_run
from mlecore.testing.models import Answer
from mlecore.testing.models.script import Tool
from mlecore.vm.pythons import find_python


def terminal(command: str) -> Answer:
    given = {"command": command, "security_risk": "LOW", "summary": "work"}
    return Answer(tools=(Tool(name="terminal", arguments=given),))


FINISH = Answer(tools=(Tool(name="finish", arguments={"message": "That is all."}),))


def test_conformance() -> None:
    check_agent("openhands")


def test_usage_is_that_of_the_whole_conversation(tmp_path: Path) -> None:
    lines = [{"usage": {"model": "m", "input": 10 * number, "output": number}} for number in (1, 2)]
    other = {"id": "an event", "usage": {"input": 5}}
    (tmp_path / "openhands.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (*lines, other)))
    usage = plugin.usage(tmp_path)
    assert (usage.models, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (("m",), 20, 2, None)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
def test_a_graded_run_in_two_sessions(tmp_path: Path) -> None:
    try:
        find_python(">=3.12", None)
    except BackendError as error:
        pytest.skip(str(error))
    copy = "cp data/sample_submission.csv submission/submission.csv"
    answers = (terminal(copy), FINISH, terminal("touch logs/finished"), FINISH)
    done = scripted_run("openhands", answers, tmp_path, options={"pip": ""}, time_limit="9m")
    assert json.loads((done.record.folder / "grade.json").read_bytes())["valid_submission"]
    conversation = json.dumps(done.served.requests[-1]["body"]["messages"])
    assert "left. Go on" in conversation and "That is all." in conversation and "WHAT COUNTS" in conversation
    assert any((done.record.folder / "logs" / "openhands").rglob("event-*.json"))
    assert done.leaks == ()
    assert done.record.usage.input_tokens == done.record.reported_usage.input_tokens == done.served.input
